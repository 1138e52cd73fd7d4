"""What the eight published queries take over text that is read again, by one process.

What is compared, in rounds, so that what the machine does in a minute it does to all:

    heap            regular tables
    file_fdw        stock, in one round
    without         tollfree_file_fdw, nothing kept
    first           the query that keeps a record index and columns, of foreign tables of its own,
                    of which nothing has been kept before
    second          the same query again
    duckdb text     DuckDB, which is told the types of all columns, reading the same files
    duckdb native   DuckDB's own tables, in a file

One process or thread each, caches of the operating system warm. Every answer is compared with the
regular tables'. Then one query keeps all columns of lineitem, and their size is compared with the
text's. Run it on a quiet machine: `make bench`, or `python benchmarks/file_cache.py --scale 100`
for SF 1.
"""

import argparse
import datetime
import decimal
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import duckdb
import psycopg

from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.store import Store
from tollfree.suites.file.data import TextFiles, TpchTable, make_files
from tollfree.suites.file.schemas import LOADER, Schema, SchemaMaker, make_wrapper

WRAPPER = "tollfree_file_fdw"
SCANS = ("Q1", "Q6")
"""The queries without a join."""
LEGEND = """\
heap is regular tables; file_fdw was measured once; without is tollfree_file_fdw that keeps nothing,
first the query that keeps a record index and columns, second the same query again; DuckDB reads the
same text, or its own tables. One process or thread each. Ratios are medians inside a round.
"""
AGE_S = 3
"""How long a file has to be left alone before anything is kept of it, and some more."""

Connection = psycopg.Connection[tuple[object, ...]]
Answer = list[tuple[object, ...]]
Way = Callable[[str], Answer]
Seconds = dict[str, list[float]]


class Tables:
    """Makes the tables of each way, and asks them. The connection is the caller's."""

    def __init__(self, connection: Connection, tables: list[TpchTable], files: TextFiles) -> None:
        self._connection = connection
        self._maker = SchemaMaker(connection, tables, files)
        for schema in (
            Schema(LOADER, "foreign", LOADER, 1),
            Schema("heap", "heap", None, 1),
            Schema(WRAPPER, "foreign", WRAPPER, 1),
        ):
            if schema.extension:
                make_wrapper(connection, schema.extension)
            if not self._maker.is_made(schema):
                self._maker.make(schema)

    def of(self, schema: str, *, keeps: bool, needs: str = "none") -> Way:
        """Return what asks the tables of a schema, with or without a record index and columns."""

        def ask(statement: str) -> Answer:
            self._connection.execute(f"SET search_path = {schema}, public")
            self._connection.execute(f"SET {WRAPPER}.debug_require = {needs}")
            self._keep(keeps)
            return self._connection.execute(statement.encode()).fetchall()

        return ask

    def fresh(self, name: str) -> str:
        """Make foreign tables of which nothing has been kept; return their schema."""
        self._keep(False)
        self._maker.make(Schema(name, "foreign", WRAPPER, 1))
        return name

    def load_all(self, schema: str, table: str) -> int:
        """Keep all columns of a table of that schema; return how large they are."""
        self._keep(True)
        row = self._connection.execute(
            f"SELECT sum(size) FROM {WRAPPER}_load_columns(%s::regclass)", (f"{schema}.{table}",)
        ).fetchone()
        return int(str(row[0])) if row else 0

    def _keep(self, keeps: bool) -> None:
        for setting in ("record_index", "column_cache"):
            self._connection.execute(f"SET {WRAPPER}.{setting} = {'on' if keeps else 'off'}")


def duckdb_ways(files: TextFiles, tables: list[TpchTable]) -> dict[str, Way]:
    """Return what asks DuckDB, with one thread: text, and tables loaded from it."""
    native = files.folder / "native.duckdb"
    text, own = duckdb.connect(), duckdb.connect(native)
    known = {row[0] for row in own.execute("SHOW TABLES").fetchall()}
    for connection in (text, own):
        connection.execute("SET threads = 1")
    for table in tables:
        pairs = [
            definition.split(" ", 1) for definition in f"{table.columns}, end text".split(", ")
        ]
        # Its DECIMAL and VARCHAR are exact too; a fixed length it does not know.
        types = {name: "VARCHAR" if "char" in kind else kind.upper() for name, kind in pairs}
        reading = (
            f"read_csv('{files.whole(table.name)}', delim = '|', header = false, quote = '',"
            f" auto_detect = false, columns = {types})"
        )
        text.execute(f"CREATE VIEW {table.name} AS SELECT * FROM {reading}")
        if table.name not in known:
            own.execute(f'CREATE TABLE {table.name} AS SELECT * EXCLUDE ("end") FROM {reading}')
    own.execute("CHECKPOINT")
    return {
        "duckdb text": lambda statement: text.execute(statement).fetchall(),
        "duckdb native": lambda statement: own.execute(statement).fetchall(),
    }


def plain(value: object) -> object:
    """Return a value as both databases have it: numbers as floats, texts without padding."""
    if isinstance(value, int | float | decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.date()
    return value.rstrip() if isinstance(value, str) else value


def is_same(answer: Answer, expected: Answer) -> bool:
    """Return whether all values are equal; of numbers, whether twelve digits are."""
    if len(answer) != len(expected):
        return False
    for row, wanted in zip(answer, expected, strict=True):
        for a, b in zip(map(plain, row), map(plain, wanted), strict=True):
            if isinstance(a, float) and isinstance(b, float):
                if not math.isclose(a, b, rel_tol=1e-12):
                    return False
            elif a != b:
                return False
    return True


def ways_of(
    tables: Tables, others: dict[str, Way], query: str, rounds: int
) -> Iterator[dict[str, Way]]:
    """Yield the ways of each round; the first round warms the caches.

    A join may read a small table not at all, or not to its end; then nothing is kept of it.
    """
    needs = "column_cache" if query in SCANS else "none"
    for round_ in range(rounds + 1):
        schema = tables.fresh(f"kept_{query.lower()}_{round_}")
        stock = {"file_fdw": tables.of(LOADER, keeps=False)} if round_ == rounds > 0 else {}
        yield {
            "heap": tables.of("heap", keeps=False),
            **stock,
            "without": tables.of(WRAPPER, keeps=False),
            "first": tables.of(schema, keeps=True),
            "second": tables.of(schema, keeps=True, needs=needs),
            **others,
        }


def measure(tables: Tables, others: dict[str, Way], query: str, text: str, rounds: int) -> Seconds:
    """Return the seconds of every execution but those of the first round, if there is another."""
    seconds: Seconds = {}
    for round_, ways in enumerate(ways_of(tables, others, query, rounds)):
        expected: Answer = []
        for name, ask in ways.items():
            started = time.monotonic_ns()
            answer = ask(text)
            elapsed = (time.monotonic_ns() - started) / 1e9
            if name == "heap":
                expected = answer
            elif not is_same(answer, expected):
                raise SystemExit(f"{query}: {name} answers {answer[:3]}, the table {expected[:3]}")
            if round_ > 0 or rounds == 0:
                seconds.setdefault(name, []).append(elapsed)
    return seconds


def ratio(seconds: Seconds, way: str, base: str) -> float:
    """Return the median of the ratios inside the rounds, the last of them if there are fewer."""
    pairs = zip(reversed(seconds[way]), reversed(seconds[base]), strict=False)
    return statistics.median(sample / other for sample, other in pairs)


def report(query: str, seconds: Seconds) -> str:
    """Return medians, and ratios to the regular tables and to reading text."""
    lines = [f"{query}: median seconds (least to most), ratio to heap, ratio to without"]
    for way, samples in seconds.items():
        spread = f"({min(samples):.3f} to {max(samples):.3f})"
        lines.append(
            f"  {way:14} {statistics.median(samples):8.3f} {spread:20}"
            f" {ratio(seconds, way, 'heap'):7.3f}x {ratio(seconds, way, 'without'):7.3f}x"
        )
    return "\n".join(lines) + "\n"


def summary(ratios: dict[str, list[float]]) -> str:
    """Return the geometric means of all queries' ratios to the regular tables."""
    means = {way: statistics.geometric_mean(values) for way, values in ratios.items()}
    return "geometric means of the ratios to heap: " + ", ".join(
        f"{way} {mean:.3f}x" for way, mean in means.items()
    )


def run(store: Store, tables: Tables, others: dict[str, Way], rounds: int) -> None:
    """Measure and print each query, then all together."""
    ratios: dict[str, list[float]] = {}
    for row in store.table(
        "SELECT query, statement FROM lab.file_queries WHERE published AND kind = 'query'"
        " ORDER BY length(query), query"
    ):
        seconds = measure(tables, others, row["query"], row["statement"], rounds)
        sys.stdout.write(report(row["query"], seconds))
        sys.stdout.flush()
        for way in seconds:
            ratios.setdefault(way, []).append(ratio(seconds, way, "heap"))
    sys.stdout.write(f"{summary(ratios)}\n")


def main() -> None:
    """Make the data, measure and print."""
    parser = argparse.ArgumentParser(description="Compares queries of text that is read again.")
    parser.add_argument("--scale", type=int, default=10, help="hundredths of a scale factor")
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="how often each is measured, after a round that is not; 0: once, and stock not at all",
    )
    options = parser.parse_args()
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    with lab.running(), lab.database() as store:
        lab.user.make_folder(lab.folder / "tpch")
        files = make_files(lab.folder / "tpch", options.scale, ["lineitem", "orders"], 1, lab.user)
        names = {
            name
            for row in store.table("SELECT reads FROM lab.file_queries WHERE published")
            for name in row["reads"]
        }
        tables = [
            TpchTable(row["name"], row["columns"], row["block_key"])
            for row in store.table("SELECT * FROM lab.file_tables")
            if row["name"] in names
        ]
        database = f"benchmark_{options.scale}"
        lab.source().make_database(database)
        with lab.source().connect(database) as connection:
            connection.execute("SET max_parallel_workers_per_gather = 0")
            connection.execute(f"SET {WRAPPER}.column_cache_size = '20GB'")
            made = Tables(connection, tables, files)
            time.sleep(AGE_S)
            size = files.whole("lineitem").stat().st_size
            sys.stdout.write(
                f"PostgreSQL {lab.installation.version}, DuckDB {duckdb.__version__},"
                f" SF {options.scale / 100:g}, {size / 1e6:.0f} MB of text in lineitem,"
                f" {options.rounds} rounds\n{LEGEND}"
            )
            run(store, made, duckdb_ways(files, tables), options.rounds)
            kept = made.load_all(made.fresh("kept_all"), "lineitem")
            sys.stdout.write(
                f"all columns of lineitem: {kept / 1e6:.0f} MB, {kept / size:.3f}x of its text\n"
            )


if __name__ == "__main__":
    main()
