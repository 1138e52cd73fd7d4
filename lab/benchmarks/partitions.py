"""What a query for partitions on several servers takes, beside the servers' own work.

Four databases hold 100,000 rows each, in 37 groups, hash partitions by a column that is not grouped
by. Each query is executed through `postgres_fdw` and through `tollfree_postgres_fdw`, over a link,
with `enable_partitionwise_aggregate` and `async_capable`. For each it says how many rows and bytes
came from the servers, and the milliseconds; of ours also times what the slowest server takes for
its own part and one round trip, when all are asked directly at the same time. `postgres_fdw` takes
part in the first rounds only. The order is drawn anew in each round, and ratios are taken inside a
round.

    .venv/bin/python lab/benchmarks/partitions.py [--rounds N] [--rtt-us N]
"""

import argparse
import random
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import psycopg
from psycopg import sql

from tollfree import stats
from tollfree.cluster import SUPERUSER
from tollfree.lab import Lab
from tollfree.link import Link
from tollfree.paths import lab_home
from tollfree.ports import LOOPBACK, reserved_ports
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.suites.foreign import options_clause, recreate_database

ROUNDS = 15
STOCK_ROUNDS = 3
RTT_US = 1000
SERVERS = 4
ROWS = 100_000
DATABASE = "partitions_benchmark"
OURS, STOCK = "tollfree_postgres_fdw", "postgres_fdw"
TABLE = (
    "CREATE TABLE facts AS SELECT i * {servers} + {n} AS id, i % 37 AS g,"
    " (i * 7 % 1000)::int2 AS i2, i * 31 % 100000 AS i4, i::int8 * 922337203 AS i8,"
    " (i % 9999 / 7.0)::numeric(14, 4) AS n, i * 17 % 10007 / 11.0::float8 AS f,"
    " i % 5 <> 0 AS b, 'name ' || i AS name FROM generate_series(1, {rows}) i"
)
AGGREGATES = (
    "count(*)",
    "sum(i4), avg(i4)",
    "sum(i8), avg(i8)",
    "sum(n), avg(n)",
    "sum(f), avg(f)",
    "min(n), max(name)",
    "bool_and(b), every(b), bool_or(b)",
    "stddev(i2), variance(i4), stddev_pop(i8)",
    "stddev(n), variance(n)",
    "stddev(f), var_pop(f)",
    "count(*) FILTER (WHERE b), avg(n) FILTER (WHERE i4 > 50000)",
)
QUERIES = (
    *(f"SELECT g, {aggregate} FROM facts GROUP BY g" for aggregate in AGGREGATES),
    "SELECT g % 3, avg(i4) FROM facts GROUP BY g % 3 HAVING count(*) > 5",
    "SELECT g FROM facts GROUP BY g",
    "SELECT avg(n) FROM facts",
    "SELECT name FROM facts ORDER BY i4, id LIMIT 10",
)

Connection = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True)
class Received:
    """What came from the servers for one query."""

    rows: int
    bytes: int


def make_servers(lab: Lab) -> None:
    """Make a database for each server."""
    for n in range(SERVERS):
        with lab.source().connect() as connection:
            recreate_database(connection, f"{DATABASE}_{n}")
        with lab.source().connect(f"{DATABASE}_{n}") as connection:
            connection.execute(TABLE.format(servers=SERVERS, n=n, rows=ROWS))
            connection.execute("VACUUM ANALYZE facts")


def make_partitioned_table(lab: Lab, wrapper: str, link: Link) -> Connection:
    """Make the database of one wrapper, and return a connection to it."""
    dbname = f"{DATABASE}_{wrapper}"
    with lab.external().connect() as connection:
        recreate_database(connection, dbname)
    connection = lab.external().connect(dbname)
    connection.execute(f"CREATE EXTENSION {wrapper} CASCADE")
    user = options_clause({"user": SUPERUSER, "password": lab.password()})
    connection.execute(
        "CREATE TABLE facts (id int, g int, i2 int2, i4 int, i8 int8, n numeric(14, 4), f float8,"
        " b bool, name text) PARTITION BY HASH (id)"
    )
    for n in range(SERVERS):
        options = options_clause(
            {
                "host": LOOPBACK,
                "port": str(link.port),
                "dbname": f"{DATABASE}_{n}",
                "sslmode": "disable",
                "async_capable": "true",
            }
        )
        connection.execute(
            sql.SQL("CREATE SERVER {0} FOREIGN DATA WRAPPER {1} {2}").format(
                sql.Identifier(f"server_{n}"), sql.Identifier(wrapper), options
            )
        )
        connection.execute(
            sql.SQL("CREATE USER MAPPING FOR CURRENT_USER SERVER {} {}").format(
                sql.Identifier(f"server_{n}"), user
            )
        )
        connection.execute(
            f"CREATE FOREIGN TABLE facts_{n} PARTITION OF facts"
            f" FOR VALUES WITH (MODULUS {SERVERS}, REMAINDER {n})"
            f" SERVER server_{n} OPTIONS (table_name 'facts')"
        )
        connection.execute(f"ANALYZE facts_{n}")
    connection.execute("SET enable_partitionwise_aggregate = on")
    return connection


def timed(connection: Connection, query: str) -> float:
    """Return the milliseconds that a query takes."""
    start = time.monotonic_ns()
    connection.execute(query).fetchall()
    return (time.monotonic_ns() - start) / 1e6


def received(connection: Connection, query: str, link: Link) -> Received:
    """Return what comes from the servers."""
    before = link.counters()["bytes_to_client"]
    connection.execute(query).fetchall()
    moved = link.counters()["bytes_to_client"] - before
    found = connection.execute(f"EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) {query}").fetchone()
    assert found is not None
    return Received(round(rows_of(found[0])), moved)


def rows_of(plan: object) -> float:
    """Return how many rows the foreign scans of a plan return."""
    if isinstance(plan, list):
        return sum(map(rows_of, plan))
    if not isinstance(plan, dict):
        return 0
    if plan.get("Node Type") == "Foreign Scan":
        return float(plan["Actual Rows"] * plan["Actual Loops"])
    return sum(map(rows_of, plan.values()))


def answers(connection: Connection, query: str) -> list[str]:
    """Return the rows in an order, floats with the digits that do not depend on who adds."""
    cursor = connection.execute(query)
    return sorted(
        repr([f"{value:.9g}" if isinstance(value, float) else value for value in row])
        for row in cursor.fetchall()
    )


def measure(
    query: str, through: dict[str, Connection], servers: list[Connection], rounds: int
) -> tuple[dict[str, list[float]], list[float]]:
    """Return the milliseconds through each wrapper, and of the slowest server, round by round."""
    times: dict[str, list[float]] = {wrapper: [] for wrapper in through}
    slowest: list[float] = []
    with ThreadPoolExecutor(len(servers)) as pool:
        for round_ in range(rounds):
            wrappers = list(through) if round_ < STOCK_ROUNDS else [OURS]
            for wrapper in random.sample(wrappers, len(wrappers)):
                times[wrapper].append(timed(through[wrapper], query))
            slowest.append(max(pool.map(timed, servers, [query] * len(servers))))
    return times, slowest


def interval(above: list[float], below: list[float]) -> str:
    """Return the median of the rounds' ratios with its interval, as text."""
    found = stats.median_interval([a / b for a, b in zip(above, below, strict=False)])
    assert found is not None
    return f"{found.median:.2f} ({found.low:.2f}-{found.high:.2f})"


def benchmark(lab: Lab, rounds: int, rtt_us: int) -> None:
    """Measure query by query."""
    make_servers(lab)
    with ExitStack() as stack:
        control = lab.source().socket_folder / "partitions.control"
        with reserved_ports(1) as (port,):
            link = Link("partitions", rtt_us, port, lab.source().port, control, lab.stage, lab.user)
            link.start()
        stack.callback(link.stop)
        through = {
            wrapper: stack.enter_context(make_partitioned_table(lab, wrapper, link))
            for wrapper in (STOCK, OURS)
        }
        servers = [
            stack.enter_context(lab.source().connect(f"{DATABASE}_{n}")) for n in range(SERVERS)
        ]
        for query in QUERIES:
            assert answers(through[STOCK], query) == answers(through[OURS], query), query
            brought = {
                wrapper: received(connection, query, link)
                for wrapper, connection in through.items()
            }
            times, slowest = measure(query, through, servers, rounds)
            own = [ms + rtt_us / 1000 for ms in slowest]
            sys.stdout.write(f"{query}\n")
            for wrapper, what in brought.items():
                sys.stdout.write(
                    f"  {wrapper}: {what.rows:,} rows, {what.bytes:,} bytes,"
                    f" {statistics.median(times[wrapper]):.1f} ms\n"
                )
            sys.stdout.write(
                f"  stock/ours {interval(times[STOCK], times[OURS])}  ours/(slowest server + a"
                f" round trip) {interval(times[OURS], own)}\n"
            )
            sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--rtt-us", type=int, default=RTT_US)
    arguments = parser.parse_args()
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    sys.stdout.write(
        f"PostgreSQL {lab.installation.version}, {arguments.rounds} rounds, {SERVERS} servers,"
        f" of {ROWS:,} rows, links with a round trip of {arguments.rtt_us} us\n"
        "Of each query what comes from the servers, and the median time. Then ratios inside the"
        " rounds, the median with its 99% interval: postgres_fdw (stock) to tollfree_postgres_fdw"
        " (ours), and ours to what the slowest server takes for its own part and one round trip.\n"
    )
    with lab.running():
        benchmark(lab, arguments.rounds, arguments.rtt_us)


if __name__ == "__main__":
    main()
