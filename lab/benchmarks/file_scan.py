"""What Q6 and Q1 of TPC-H over text take: wrappers, the regular table, DuckDB's CSV reader.

One process and one thread each, caches warm, rounds interleaved: what the machine does in a minute
it does to all. DuckDB is told the types of all columns, so that it detects nothing; like the others
it reads the text anew for each query. Every answer is checked against the regular table's. Run it
on a quiet machine: `make bench`, or `python benchmarks/file_scan.py --scale 100` for SF 1.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import duckdb
import psycopg

from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.store import Store
from tollfree.suites.file.data import TextFiles, TpchTable, make_files
from tollfree.suites.file.schemas import (
    LOADER,
    Schema,
    SchemaMaker,
    make_database,
    make_wrapper,
)

QUERIES = ("Q6", "Q1")
Connection = psycopg.Connection[tuple[object, ...]]
Query = Callable[[str], list[tuple[object, ...]]]


def postgres_query(connection: Connection, schema: str) -> Query:
    """Return what asks the tables of one schema, in one process."""

    def ask(statement: str) -> list[tuple[object, ...]]:
        connection.execute(f"SET search_path = {schema}")
        return connection.execute(statement.encode()).fetchall()

    return ask


def duckdb_query(files: TextFiles, table: TpchTable) -> Query:
    """Return what asks DuckDB, with one thread."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    names = [definition.split(" ", 1) for definition in f"{table.columns}, end text".split(", ")]
    # Its DECIMAL and VARCHAR are exact too; a fixed length it does not know.
    types = {name: "VARCHAR" if "char" in kind else kind.upper() for name, kind in names}
    connection.execute(
        f"CREATE VIEW {table.name} AS SELECT * FROM read_csv('{files.whole(table.name)}',"
        f" delim = '|', header = false, quote = '', auto_detect = false, columns = {types})"
    )
    return lambda statement: connection.execute(statement).fetchall()


def candidates(store: Store, connection: Connection, files: TextFiles) -> dict[str, Query]:
    """Make what is measured; return how each is asked, the regular table first."""
    rows = store.table("SELECT * FROM lab.file_tables WHERE name = 'lineitem'")
    tables = [TpchTable(row["name"], row["columns"], row["block_key"]) for row in rows]
    maker = SchemaMaker(connection, tables, files)
    schemas = [Schema(LOADER, "foreign", LOADER, 1), Schema("heap", "heap", None, 1)]
    for row in store.table("SELECT extension FROM lab.file_candidates WHERE kind = 'foreign'"):
        known = connection.execute(
            "SELECT FROM pg_available_extensions WHERE name = %s", (row["extension"],)
        )
        if row["extension"] != LOADER and known.fetchone() is not None:
            schemas.append(Schema(row["extension"], "foreign", row["extension"], 1))
    for schema in schemas:
        if schema.extension:
            make_wrapper(connection, schema.extension)
        maker.make(schema)
    names = sorted((schema.schema for schema in schemas), key=lambda name: name != "heap")
    found = {name: postgres_query(connection, name) for name in names}
    return found | {"duckdb": duckdb_query(files, tables[0])}


def measure(asked: dict[str, Query], statement: str, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of every execution, after one that is not counted."""
    expected = asked["heap"](statement)[-1][-1]
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for round_ in range(rounds + 1):
        for name, ask in asked.items():
            started = time.monotonic_ns()
            answer = ask(statement)
            elapsed = (time.monotonic_ns() - started) / 1e9
            if answer[-1][-1] != expected:
                raise SystemExit(f"{name} answers {answer[-1][-1]}, the table {expected}")
            if round_ > 0:
                seconds[name].append(elapsed)
    return seconds


def report(query: str, seconds: dict[str, list[float]], text_bytes: int) -> str:
    """Return medians, rates and ratios to the regular table inside the rounds."""
    lines = [
        f"{query} over {text_bytes / 1e6:.0f} MB of text: median seconds (least to most), MB/s,"
        " median ratio to the regular table inside a round"
    ]
    for name, samples in seconds.items():
        pairs = zip(samples, seconds["heap"], strict=True)
        ratio = statistics.median(sample / base for sample, base in pairs)
        median = statistics.median(samples)
        rate = "" if name == "heap" else f"{text_bytes / 1e6 / median:6.0f}"
        spread = f"({min(samples):.3f} to {max(samples):.3f})"
        lines.append(f"  {name:20} {median:7.3f} {spread:18} {rate:>6} {ratio:6.2f}x")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make the data, measure and print."""
    parser = argparse.ArgumentParser(description="Compares scans of text, one thread each.")
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
            connection.execute("SET max_parallel_workers_per_gather = 0")
            asked = candidates(store, connection, files)
            size = files.whole("lineitem").stat().st_size
            sys.stdout.write(
                f"PostgreSQL {lab.installation.version}, DuckDB {duckdb.__version__},"
                f" SF {options.scale / 100:g}, {options.rounds} rounds, one process or thread\n"
            )
            for query in QUERIES:
                (row,) = store.table(
                    "SELECT statement FROM lab.file_queries WHERE query = %s", query
                )
                seconds = measure(asked, row["statement"], options.rounds)
                sys.stdout.write(report(query, seconds, size))


if __name__ == "__main__":
    main()
