"""What ANALYZE of a foreign table costs by each method, for tables of every size.

For each size the local table is analyzed, twice a round to show what noise does, and foreign tables
on it: through `postgres_fdw` by its default, and through `tollfree_postgres_fdw` by `auto`, by the
methods that are as good statistically, and by `system`, which is not. The order is drawn anew in
each round, ratios are taken inside a round. It says which method `auto` was, and how `auto`
compares with the local ANALYZE, with `postgres_fdw` and with the fastest of the methods that are as
good. Three bounds are watched: 1.2x, 0.6x and 1.1x.

    .venv/bin/python lab/benchmarks/analyze.py [--rounds N] [--serial] [ROWS[:BYTES] ...]

BYTES is the width of the text in a row, which is 45 bytes wider. `--serial` gives the remote
session no parallel workers.
"""

import argparse
import random
import re
import statistics
import sys
import time
from dataclasses import dataclass

import psycopg
from psycopg import sql

from tollfree import stats
from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.ports import LOOPBACK
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.suites.foreign import make_server, recreate_database

ROUNDS = 15
SIZES = ("10k", "30k", "100k", "300k", "1m", "2m", "3m", "5m", "10m")
SUFFIXES = {"k": 10**3, "m": 10**6}
BYTES = 90
DATABASE = "analyze_benchmark"
OURS, STOCK = "tollfree_postgres_fdw", "postgres_fdw"
SAMPLING_MAJOR = 16
"""The first of `postgres_fdw` that has analyze_sampling."""
AS_GOOD = ("bernoulli", "random", "off")
OFF_ROWS = 300_000
"""Up to which all rows are brought, too; beyond, that takes many times as long as anything else."""

LEGEND = """\
Of each table the median of the milliseconds that ANALYZE takes: local, and again the same; stock,
by postgres_fdw; auto and the methods by their names, by tollfree_postgres_fdw. Then ratios inside
the rounds, the median with its 99% interval; behind the third, to the fastest method that is as
good, or to the one that auto is.
"""

Connection = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True)
class Table:
    """A table by its number of rows and the bytes of the text in each."""

    rows: int
    bytes: int

    @classmethod
    def parse(cls, text: str) -> "Table":
        """Read `10k`, `2m:1000`."""
        found = re.fullmatch(r"(\d+)([km]?)(?::(\d+))?", text)
        if found is None:
            raise argparse.ArgumentTypeError(f"{text} is no number of rows such as 10k or 2m:1000")
        return cls(int(found[1]) * SUFFIXES.get(found[2], 1), int(found[3] or BYTES))

    @property
    def name(self) -> str:
        """What it is called in the source."""
        return f"rows_{self.rows}_{self.bytes}"


@dataclass(frozen=True)
class Candidate:
    """Who analyzes, and by which method; local without a wrapper."""

    label: str
    wrapper: str | None = None
    method: str | None = None

    def relation(self, table: Table) -> sql.Identifier:
        """What is analyzed."""
        name = table.name if self.wrapper is None else f"{table.name}_{self.method or 'default'}"
        return sql.Identifier(name)


LOCAL, AGAIN = Candidate("local"), Candidate("again")
STOCK_AUTO = Candidate("stock", STOCK)
AUTO = Candidate("auto", OURS, "auto")


def candidates_of(table: Table) -> list[Candidate]:
    """Return who analyzes a table."""
    methods = [*AS_GOOD, "system"] if table.rows <= OFF_ROWS else ["bernoulli", "random", "system"]
    return [LOCAL, AGAIN, STOCK_AUTO, AUTO, *(Candidate(name, OURS, name) for name in methods)]


def make_table(source: Connection, table: Table) -> int:
    """Make a table with a key, even and uneven values, and return how many blocks it has."""
    name = sql.Identifier(table.name)
    source.execute(
        sql.SQL(
            "CREATE TABLE {} WITH (autovacuum_enabled = off) AS SELECT i::int8 AS id,"
            " floor(random() * {} / 10)::int AS uniform, floor(1000 * random() ^ 4)::int AS skewed,"
            " i / 100 AS clustered, left(repeat(md5(i::text), {}), {}) AS filler"
            " FROM generate_series(1, {}) AS i"
        ).format(name, table.rows, table.bytes // 32 + 1, table.bytes, table.rows)
    )
    source.execute(sql.SQL("VACUUM ANALYZE {}").format(name))
    found = source.execute(
        "SELECT relpages FROM pg_class WHERE relname = %s", (table.name,)
    ).fetchone()
    assert found is not None and isinstance(found[0], int)
    return found[0]


def make_foreign_database(lab: Lab, wrapper: str, *, serial: bool) -> None:
    """Make the database of one wrapper."""
    options = {"options": "-c max_parallel_workers_per_gather=0"} if serial else {}
    row = {
        "wrapper": wrapper,
        "server_options": options,
        "server_host": LOOPBACK,
        "server_port": lab.source().port,
    }
    dbname = f"{DATABASE}_{wrapper}"
    with lab.external().connect() as connection:
        recreate_database(connection, dbname)
    with lab.external().connect(dbname) as connection:
        make_server(connection, row, DATABASE, lab.password())


def make_foreign_table(connection: Connection, candidate: Candidate, table: Table) -> None:
    """Make the foreign table that a candidate analyzes."""
    method = (
        sql.SQL(", analyze_sampling {}").format(sql.Literal(candidate.method))
        if candidate.method
        else sql.SQL("")
    )
    connection.execute(
        sql.SQL(
            "CREATE FOREIGN TABLE {} (id int8, uniform int, skewed int, clustered int, filler text)"
            " SERVER source_server OPTIONS (schema_name 'public', table_name {}{})"
        ).format(candidate.relation(table), sql.Literal(table.name), method)
    )


def analyze(connection: Connection, candidate: Candidate, table: Table) -> float:
    """Return the milliseconds that an ANALYZE takes."""
    command = sql.SQL("ANALYZE {}").format(candidate.relation(table))
    start = time.monotonic_ns()
    connection.execute(command)
    return (time.monotonic_ns() - start) / 1e6


def chosen_method(connection: Connection, table: Table) -> str:
    """Return which method `auto` was."""
    details: list[str] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        details.append(diagnostic.message_detail or "")

    connection.add_notice_handler(note)
    connection.execute(sql.SQL("ANALYZE VERBOSE {}").format(AUTO.relation(table)))
    connection.remove_notice_handler(note)
    found = re.search(r'method was "(\w+)"(, by a hash)?', "\n".join(details))
    assert found is not None
    return found[1] + (" (hash)" if found[2] else "")


def measure(
    connections: dict[str | None, Connection], table: Table, rounds: int
) -> dict[Candidate, list[float]]:
    """Return each candidate's milliseconds, round by round."""
    candidates = candidates_of(table)
    times: dict[Candidate, list[float]] = {candidate: [] for candidate in candidates}
    for round_ in range(rounds + 1):
        for candidate in random.sample(candidates, len(candidates)):
            ms = analyze(connections[candidate.wrapper], candidate, table)
            if round_ > 0:  # the first one connects
                times[candidate].append(ms)
    return times


def ratio(times: dict[Candidate, list[float]], above: Candidate, below: Candidate) -> str:
    """Return the median of the rounds' ratios with its interval, as text."""
    found = stats.median_interval([a / b for a, b in zip(times[above], times[below], strict=True)])
    assert found is not None
    return f"{found.median:.2f} ({found.low:.2f}-{found.high:.2f})"


def print_table(
    table: Table, blocks: int, method: str, times: dict[Candidate, list[float]]
) -> None:
    """Print what was measured of one table."""
    medians = {candidate: statistics.median(values) for candidate, values in times.items()}
    best = min(
        (candidate for candidate in times if candidate.label in AS_GOOD), key=medians.__getitem__
    )
    sys.stdout.write(
        f"{table.rows:,} rows, {blocks:,} blocks; auto is {method}\n  "
        + "  ".join(f"{candidate.label} {ms:.1f} ms" for candidate, ms in medians.items())
        + f"\n  again/local {ratio(times, AGAIN, LOCAL)}"
        f"  auto/local {ratio(times, AUTO, LOCAL)}"
        f"  auto/stock {ratio(times, AUTO, STOCK_AUTO)}"
        f"  auto/{best.label} {ratio(times, AUTO, best)}"
        f"  local/stock {ratio(times, LOCAL, STOCK_AUTO)}\n"
    )
    sys.stdout.flush()


def benchmark(lab: Lab, tables: list[Table], rounds: int, *, serial: bool) -> None:
    """Measure table by table, and drop each before the next one is made."""
    source, external = lab.source(), lab.external()
    with source.connect() as connection:
        recreate_database(connection, DATABASE)
    for wrapper in (STOCK, OURS):
        make_foreign_database(lab, wrapper, serial=serial)
    with (
        source.connect(DATABASE) as local,
        external.connect(f"{DATABASE}_{STOCK}") as stock,
        external.connect(f"{DATABASE}_{OURS}") as ours,
    ):
        connections: dict[str | None, Connection] = {None: local, STOCK: stock, OURS: ours}
        for table in tables:
            blocks = make_table(local, table)
            for candidate in candidates_of(table):
                if candidate.wrapper:
                    make_foreign_table(connections[candidate.wrapper], candidate, table)
            times = measure(connections, table, rounds)
            print_table(table, blocks, chosen_method(ours, table), times)
            local.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(table.name)))
    for cluster, dbname in (
        (source, DATABASE),
        (external, f"{DATABASE}_{STOCK}"),
        (external, f"{DATABASE}_{OURS}"),
    ):
        with cluster.connect() as connection:
            connection.execute(
                sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(dbname))
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--serial", action="store_true")
    parser.add_argument("tables", nargs="*", type=Table.parse, metavar="ROWS[:BYTES]")
    arguments = parser.parse_args()
    tables = arguments.tables or [Table.parse(size) for size in SIZES]
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    sys.stdout.write(
        f"PostgreSQL {lab.installation.version}, {arguments.rounds} rounds,"
        f" {'no' if arguments.serial else 'with'} remote workers\n{LEGEND}"
    )
    if lab.installation.major < SAMPLING_MAJOR:
        sys.stdout.write("postgres_fdw cannot sample on this version: it brings all rows\n")
    with lab.running():
        benchmark(lab, tables, arguments.rounds, serial=arguments.serial)


if __name__ == "__main__":
    main()
