"""What a join of local rows with a remote table takes, beside the best plan of `postgres_fdw`.

A local table of 1,000 rows, and one of 100,000, are joined with a remote table of 500,000 over a
link. Each join is executed through `tollfree_postgres_fdw` as it comes, and through `postgres_fdw`
by each of four plans: as it comes, with `use_remote_estimate`, as a hash join and as a nested loop
of lookups. A plan that takes longer than a limit is stopped, and not executed again. The order is
drawn anew in each round, and ratios are taken inside a round.

    .venv/bin/python lab/benchmarks/joins.py [--rounds N] [--rtt-us N] [--limit SECONDS] [ROWS ...]
"""

import argparse
import random
import statistics
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass

import psycopg

from tollfree import stats
from tollfree.lab import Lab
from tollfree.link import Link
from tollfree.paths import lab_home
from tollfree.ports import LOOPBACK, reserved_ports
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.suites.foreign import import_tables, make_server, recreate_database

ROUNDS = 5
RTT_US = 1000
LIMIT_S = 20.0
DATABASE = "joins_benchmark"
OURS, STOCK = "tollfree_postgres_fdw", "postgres_fdw"
SOURCE = """
CREATE TABLE shelf AS SELECT i AS id, i % 5000 AS k, i / 5000 AS part, 'name ' || i AS name,
    (i / 4.0)::numeric(12, 2) AS amount FROM generate_series(1, 500000) i;
ALTER TABLE shelf ADD PRIMARY KEY (id);
CREATE INDEX ON shelf (k, part);
"""
PICKS = (
    "CREATE TABLE picks_{count} AS SELECT i AS n, i * 7919 % 520000 AS id, i % 5000 AS k,"
    " i % 100 AS part FROM generate_series(1, {count}) i"
)
COUNTS = [1_000, 100_000]
JOINS = {
    "inner": "SELECT count(*), sum(length(s.name)) FROM {p} p JOIN shelf s USING (id)",
    "left": "SELECT count(*), sum(length(s.name)) FROM {p} p LEFT JOIN shelf s USING (id)",
    "semi": "SELECT count(*) FROM {p} p WHERE EXISTS (SELECT FROM shelf s WHERE s.id = p.id)",
    "anti": "SELECT count(*) FROM {p} p WHERE NOT EXISTS (SELECT FROM shelf s WHERE s.id = p.id)",
    "two keys": "SELECT count(*), sum(s.id) FROM {p} p JOIN shelf s USING (k, part)",
    "expression": "SELECT count(*), sum(length(s.name)) FROM {p} p JOIN shelf s ON s.id = p.id + 1",
    "LATERAL": "SELECT count(*), sum(s.id) FROM {p} p, LATERAL (SELECT id FROM shelf WHERE k = p.k"
    " ORDER BY id DESC LIMIT 2) s",
}

Connection = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True)
class Plan:
    """A way to have a query planned."""

    label: str
    wrapper: str
    asks: bool = False
    settings: tuple[str, ...] = ()


PLANS = (
    Plan("ours", OURS),
    Plan("stock", STOCK),
    Plan("stock, use_remote_estimate", STOCK, asks=True),
    Plan("stock, hash join", STOCK, asks=True, settings=("nestloop", "mergejoin")),
    Plan("stock, lookups", STOCK, asks=True, settings=("hashjoin", "mergejoin", "material")),
)
ALL_SETTINGS = ("nestloop", "mergejoin", "hashjoin", "material")


def make_local(lab: Lab, wrapper: str, link: Link, counts: list[int]) -> Connection:
    """Make the database of one wrapper, and return a connection to it."""
    dbname = f"{DATABASE}_{wrapper}"
    with lab.external().connect() as connection:
        recreate_database(connection, dbname)
    connection = lab.external().connect(dbname)
    row = {
        "wrapper": wrapper,
        "server_options": None,
        "server_host": LOOPBACK,
        "server_port": link.port,
    }
    make_server(connection, row, DATABASE, lab.password())
    import_tables(connection, ["shelf"])
    for count in counts:
        connection.execute(PICKS.format(count=count))
    connection.execute("ANALYZE; ANALYZE shelf")
    connection.execute("ALTER FOREIGN TABLE shelf OPTIONS (ADD use_remote_estimate 'off')")
    return connection


def prepare(connection: Connection, plan: Plan, limit_s: float) -> None:
    """Have the next queries planned so, and stopped after so long."""
    connection.execute(f"SET statement_timeout = '{limit_s}s'")
    connection.execute(f"ALTER FOREIGN TABLE shelf OPTIONS (SET use_remote_estimate '{plan.asks}')")
    for setting in ALL_SETTINGS:
        connection.execute(f"SET enable_{setting} = {'off' if setting in plan.settings else 'on'}")


def timed(connection: Connection, query: str) -> tuple[float, object]:
    """Return the milliseconds that a query takes, and its answer; None if it was stopped."""
    start = time.monotonic_ns()
    try:
        answer = connection.execute(query).fetchall()
    except psycopg.errors.QueryCanceled:
        answer = None
    return (time.monotonic_ns() - start) / 1e6, answer


def measure(
    query: str, through: dict[str, Connection], rounds: int, limit_s: float
) -> dict[Plan, list[float]]:
    """Return each plan's milliseconds, round by round, up to the one in which it was stopped."""
    times: dict[Plan, list[float]] = {plan: [] for plan in PLANS}
    answers: set[str] = set()
    for _ in range(rounds):
        for plan in random.sample(PLANS, len(PLANS)):
            if times[plan] and times[plan][-1] > limit_s * 1000:
                continue
            prepare(through[plan.wrapper], plan, limit_s)
            ms, answer = timed(through[plan.wrapper], query)
            times[plan].append(ms)
            if answer is not None:
                answers.add(repr(answer))
    assert len(answers) == 1, (query, answers)
    return times


def print_times(times: dict[Plan, list[float]]) -> None:
    """Print the medians, and how the others compare with ours."""
    ours = times[PLANS[0]]
    sys.stdout.write(f"  ours {statistics.median(ours):.1f} ms")
    for plan in PLANS[1:]:
        ratios = [other / own for other, own in zip(times[plan], ours, strict=False)]
        found = stats.median_interval(ratios)
        shown = (
            f"{found.median:.1f} ({found.low:.1f}-{found.high:.1f})"
            if found is not None and len(ratios) > 1
            else f"{ratios[0]:.1f}, once"
        )
        sys.stdout.write(f"; {plan.label} {statistics.median(times[plan]):.1f} ms, {shown}")
    sys.stdout.write("\n")
    sys.stdout.flush()


def benchmark(lab: Lab, counts: list[int], rounds: int, rtt_us: int, limit_s: float) -> None:
    """Measure join by join."""
    with lab.source().connect() as connection:
        recreate_database(connection, DATABASE)
    with lab.source().connect(DATABASE) as connection:
        for statement in filter(str.strip, SOURCE.split(";")):
            connection.execute(statement)
        connection.execute("VACUUM ANALYZE shelf")
    with ExitStack() as stack:
        control = lab.source().socket_folder / "joins.control"
        with reserved_ports(1) as (port,):
            link = Link("joins", rtt_us, port, lab.source().port, control, lab.stage, lab.user)
            link.start()
        stack.callback(link.stop)
        through = {
            wrapper: stack.enter_context(make_local(lab, wrapper, link, counts))
            for wrapper in (STOCK, OURS)
        }
        for count in counts:
            for name, join in JOINS.items():
                query = join.format(p=f"picks_{count}")
                sys.stdout.write(f"{count:,} local rows, {name}\n")
                print_times(measure(query, through, rounds, limit_s))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--rtt-us", type=int, default=RTT_US)
    parser.add_argument("--limit", type=float, default=LIMIT_S)
    parser.add_argument("counts", nargs="*", type=int, metavar="ROWS", default=COUNTS)
    arguments = parser.parse_args()
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    sys.stdout.write(
        f"PostgreSQL {lab.installation.version}, {arguments.rounds} rounds, a link with a round"
        f" trip of {arguments.rtt_us} us\n"
        "Of each join the median time through tollfree_postgres_fdw (ours), then by each plan of"
        " postgres_fdw (stock): the median time, and how many times ours it is, the median inside"
        f" the rounds with its 99% interval. A plan is stopped after {arguments.limit:g} s.\n"
    )
    with lab.running():
        benchmark(lab, arguments.counts, arguments.rounds, arguments.rtt_us, arguments.limit)


if __name__ == "__main__":
    main()
