"""Q6 and Q1 of TPC-H over text that is read again: without a cache, filling one, and from it.

One process, caches of the operating system warm, rounds interleaved: what the machine does in a
minute it does to all. A run that fills the column cache begins without a record index and columns;
it also pays for writing both. Every answer is checked against the regular table's. Then all columns
are kept, and their size compared with the text's. Run it on a quiet machine: `make bench`, or
`python benchmarks/file_cache.py --scale 100` for SF 1.
"""

import argparse
import statistics
import sys
import time

import psycopg

from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.store import Store
from tollfree.suites.file.data import TextFiles, TpchTable, make_files
from tollfree.suites.file.schemas import LOADER, Schema, SchemaMaker, make_database, make_wrapper

QUERIES = ("Q6", "Q1")
WRAPPER = "tollfree_file_fdw"
TABLE = f"{WRAPPER}.lineitem"
AGE_S = 3
"""How long a file has to be left alone before anything is kept of it, and some more."""

Connection = psycopg.Connection[tuple[object, ...]]


def make_tables(store: Store, connection: Connection, files: TextFiles) -> None:
    """Make the regular table and the foreign one."""
    rows = store.table("SELECT * FROM lab.file_tables WHERE name = 'lineitem'")
    tables = [TpchTable(row["name"], row["columns"], row["block_key"]) for row in rows]
    maker = SchemaMaker(connection, tables, files)
    for schema in (
        Schema(LOADER, "foreign", LOADER, 1),
        Schema("heap", "heap", None, 1),
        Schema(WRAPPER, "foreign", WRAPPER, 1),
    ):
        if schema.extension:
            make_wrapper(connection, schema.extension)
        maker.make(schema)


def prepare(connection: Connection, way: str) -> None:
    """Set what a way of asking needs."""
    connection.execute(f"SET search_path = {'heap' if way == 'heap' else WRAPPER}, public")
    state = "off" if way == "without" else "on"
    connection.execute(f"SET tollfree_file_fdw.record_index = {state}")
    connection.execute(f"SET tollfree_file_fdw.column_cache = {state}")
    required = "column_cache" if way == "second" else "none"
    connection.execute(f"SET tollfree_file_fdw.debug_require = {required}")
    if way == "first":
        connection.execute(f"SELECT public.tollfree_file_fdw_drop_record_index('{TABLE}')")


def measure(connection: Connection, statement: str, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of every execution, after a round that is not counted."""
    seconds: dict[str, list[float]] = {way: [] for way in ("heap", "without", "first", "second")}
    expected = None
    for round_ in range(rounds + 1):
        for way, samples in seconds.items():
            prepare(connection, way)
            started = time.monotonic_ns()
            answer = connection.execute(statement.encode()).fetchall()
            elapsed = (time.monotonic_ns() - started) / 1e9
            expected = expected or answer
            if answer != expected:
                raise SystemExit(f"{way} answers {answer[-1]}, the table {expected[-1]}")
            if round_ > 0:
                samples.append(elapsed)
    return seconds


def ratio(seconds: dict[str, list[float]], way: str, base: str) -> float:
    """Return the median of the ratios inside the rounds."""
    pairs = zip(seconds[way], seconds[base], strict=True)
    return statistics.median(sample / other for sample, other in pairs)


def report(query: str, seconds: dict[str, list[float]]) -> str:
    """Return medians, and ratios to the regular table and to reading text."""
    lines = [f"{query}: seconds, ratio to the table, ratio to text without a cache"]
    for way, samples in seconds.items():
        spread = f"({min(samples):.3f} to {max(samples):.3f})"
        lines.append(
            f"  {way:8} {statistics.median(samples):7.3f} {spread:18}"
            f" {ratio(seconds, way, 'heap'):7.3f}x {ratio(seconds, way, 'without'):7.3f}x"
        )
    return "\n".join(lines) + "\n"


def kept_bytes(connection: Connection) -> int:
    """Keep all columns of the file, and return their size."""
    prepare(connection, "first")
    connection.execute("SELECT count(*) FROM lineitem")
    row = connection.execute("SELECT sum(size) FROM tollfree_file_fdw_cached_columns()").fetchone()
    return int(str(row[0])) if row else 0


def main() -> None:
    """Make the data, measure and print."""
    parser = argparse.ArgumentParser(description="Compares scans of text that is read again.")
    parser.add_argument("--scale", type=int, default=10, help="hundredths of a scale factor")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured")
    options = parser.parse_args()
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    with lab.running(), lab.database() as store:
        lab.user.make_folder(lab.folder / "tpch")
        files = make_files(lab.folder / "tpch", options.scale, ["lineitem", "orders"], 4, lab.user)
        make_database(lab.source(), "benchmark")
        with lab.source().connect("benchmark") as connection:
            make_tables(store, connection, files)
            connection.execute("SET max_parallel_workers_per_gather = 0")
            time.sleep(AGE_S)
            size = files.whole("lineitem").stat().st_size
            sys.stdout.write(
                f"PostgreSQL {lab.installation.version}, {size / 1e6:.0f} MB of text\n"
            )
            for query in QUERIES:
                (row,) = store.table(
                    "SELECT statement FROM lab.file_queries WHERE query = %s", query
                )
                sys.stdout.write(
                    report(query, measure(connection, row["statement"], options.rounds))
                )
            kept = kept_bytes(connection)
            sys.stdout.write(f"all columns: {kept / 1e6:.0f} MB, {kept / size:.3f}x the text\n")


if __name__ == "__main__":
    main()
