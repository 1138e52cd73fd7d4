"""What is looked at between two minutes, while no worker works.

Each function returns what is wrong, in words. What is asked of a remote server does not go over its
link, but for what only a session's own connection can tell.
"""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import psycopg

from soak.expected import Expected, batch_problems, ledger_problems
from soak.processes import descriptors, memory_kib
from soak.worker import Worker, state_of
from soak.world import REMOTES, ROLES, SERVERS, STATEMENTS_KEPT, STOCK, WRAPPER, Connection, World

CALM_LIMIT_S = 30.0
"""How long a remote session may still be at work, or be left, when no worker is at work."""
IDLE_LIMIT_S = 60.0
"""How long a remote transaction may be idle."""
OWN_STATEMENTS = 12
"""How many statements of the wrapper's own a connection may have prepared, and such as will be
dropped with the next command."""
MOST_GROWTH = 0.01
"""Of the memory of a session in an hour."""
GROWTH_FROM_S = 3600.0
"""A soak that is not longer is too short to tell."""

LEDGER = "SELECT transfer, count(*), min(delta), max(delta) FROM ledger GROUP BY transfer"
BULK = """
    SELECT batch, count(*), count(DISTINCT n) = count(*) AND min(n) = 1 AND max(n) = count(*)
        AND bool_and(v = repeat('x', n % 50))
    FROM bulk GROUP BY batch
"""
ACCOUNTS = """
    SELECT id, balance, start + coalesce(sum(delta), 0)
    FROM account LEFT JOIN ledger ON account = id
    GROUP BY id HAVING balance <> start + coalesce(sum(delta), 0) ORDER BY id
"""
COUNTERS = "SELECT worker, n FROM counter"
BEGIN_AGAIN = "BEGIN; UPDATE account SET start = balance; TRUNCATE ledger, bulk; COMMIT"
AT_WORK = """
    SELECT pid, state, wait_event, query FROM pg_stat_activity
    WHERE usename = ANY (%s) AND state IS DISTINCT FROM 'idle'
"""
SESSIONS = "SELECT pid, state, backend_start, query FROM pg_stat_activity WHERE usename = ANY (%s)"
IDLE_TRANSACTIONS = """
    SELECT pid, query, now() - state_change FROM pg_stat_activity
    WHERE state LIKE 'idle in transaction%%' AND now() - state_change > make_interval(secs => %s)
"""
LOCAL_SESSIONS = """
    SELECT pid, application_name, state, query FROM pg_stat_activity
    WHERE application_name LIKE 'soak worker%%'
"""
KEPT = """
    SELECT srvname, option_value FROM pg_foreign_server, pg_options_to_table(srvoptions)
    WHERE option_name = 'statement_cache_size'
"""
CONNECTIONS = f"""
    SELECT server_name FROM {WRAPPER}_get_connections()
    UNION ALL SELECT server_name FROM {STOCK}_get_connections()
"""


@dataclass(frozen=True)
class SessionReport:
    """What one worker's session holds."""

    connections: Mapping[str, int] = field(default_factory=dict)
    """By foreign server."""
    prepared: Mapping[str, int] = field(default_factory=dict)
    """Statements that are prepared on the connection to each foreign server."""
    memory_kib: int = 0


@dataclass(frozen=True)
class Contents:
    """What a remote server's tables were found to have."""

    balance: int
    """Of all accounts."""
    doubtful: Mapping[int, int]
    """The deltas of the transfers in doubt that are there."""
    counters: Mapping[int, int]


def idle_transactions(world: World) -> list[str]:
    """Return the remote transactions that have been idle for longer than a minute."""
    found = []
    for name in REMOTES:
        with world.monitor(name) as connection:
            rows = connection.execute(IDLE_TRANSACTIONS, (IDLE_LIMIT_S,)).fetchall()
        found += [f"server {name}: idle in transaction for too long: {row}" for row in rows]
    return found


def unrest(world: World) -> list[str]:
    """Return which remote sessions are still at work, once they have had the time to end that."""
    found = []
    for name in REMOTES:
        with world.monitor(name) as connection:
            rows = _what_stays(connection, AT_WORK, (list(ROLES),), most=0)
        found += [f"server {name}: still at work: {row}" for row in rows]
    return found


def _what_stays(
    connection: Connection, query: str, parameters: Sequence[object], *, most: int
) -> list[tuple[object, ...]]:
    """Wait until a query returns no more rows than that; return none then, and else all of them."""
    deadline = time.monotonic() + CALM_LIMIT_S
    while len(rows := connection.execute(query, parameters).fetchall()) > most:
        if time.monotonic() > deadline:
            return rows
        time.sleep(0.05)
    return []


def session_report(worker: Worker) -> SessionReport:
    """Return what a worker's session holds, after it has used each server. Its first statement may
    still meet a fault; the second may not."""
    try:
        return _asked(worker)
    except psycopg.Error as error:
        if not worker.explains(error):
            raise
    return _asked(worker) if worker.is_connected else SessionReport()


def _asked(worker: Worker) -> SessionReport:
    prepared = {}
    for server in SERVERS:
        query = f"SELECT count(*) FROM prepared_{server}"
        prepared[server] = int(str(worker.execute(query, prepare=False).fetchall()[0][0]))
    names = [str(name) for (name,) in worker.execute(CONNECTIONS, prepare=False)]
    connections = {server: names.count(server) for server in SERVERS}
    return SessionReport(connections, prepared, memory_kib(worker.pid))


def session_problems(
    world: World, workers: Sequence[Worker], reports: dict[int, SessionReport]
) -> list[str]:
    """Ask each session what it holds, which goes into `reports` by the worker's number; return
    what is too much."""
    problems = []
    kept = _statements_kept(world)
    for worker in workers:
        if not worker.is_connected:
            continue
        try:
            report = session_report(worker)
        except psycopg.Error as error:
            problems.append(f"{worker.name}, after the faults: {state_of(error)} {error}")
            continue
        if worker.is_connected:
            reports[worker.number] = report
            problems += [f"{worker.name}: {text}" for text in _excess(worker, report, kept)]
    return problems + _left_sessions(world, workers, reports)


def _statements_kept(world: World) -> dict[str, int]:
    """Return how many statements a connection to each foreign server may keep prepared."""
    with world.session("soak check") as connection:
        options = {str(name): int(str(value)) for name, value in connection.execute(KEPT)}
    return {name: min(options.get(name, STATEMENTS_KEPT), STATEMENTS_KEPT) for name in SERVERS}


def _excess(worker: Worker, report: SessionReport, kept: Mapping[str, int]) -> list[str]:
    """Return what a session has too much of: descriptors, prepared statements."""
    found, at_first = descriptors(worker.pid), worker.opened
    connections = sum(report.connections.values())
    problems = [
        f"{count} statements are prepared on the connection to {server}"
        for server, count in report.prepared.items()
        if count > kept[server] + OWN_STATEMENTS
    ]
    for kind, had, has in (
        ("sockets", at_first.sockets, found.sockets),
        ("epoll descriptors", at_first.polls, found.polls),
    ):
        if has > had + connections:
            problems.append(f"{has} {kind}, {had} at first, and {connections} connections")
    return problems


def _left_sessions(
    world: World, workers: Sequence[Worker], reports: Mapping[int, SessionReport]
) -> list[str]:
    """Return the sessions, there and here, that are none of the workers'."""
    problems = []
    for name in REMOTES:
        most = sum(
            count
            for report in reports.values()
            for server, count in report.connections.items()
            if SERVERS[server] == name
        )
        with world.monitor(name) as connection:
            rows = _what_stays(connection, SESSIONS, (list(ROLES),), most=most)
        if rows:
            problems.append(f"server {name}: {len(rows)} sessions instead of {most}: {rows}")
    with world.session("soak check") as connection:
        rows = _what_stays(connection, LOCAL_SESSIONS, (), most=len(workers))
    if rows:
        problems.append(f"{len(rows)} local sessions instead of {len(workers)}: {rows}")
    return problems


def contents(
    world: World, name: str, expected: Mapping[int, Expected], problems: list[str]
) -> Contents:
    """Compare the tables of a remote server with what the workers, by number, expect; what is wrong
    goes into `problems`."""
    must, may = _together(expected, "ledger"), _together(expected, "doubtful_ledger")
    with world.monitor(name) as connection:
        ledger = {
            int(str(n)): (int(str(count)), int(str(low)), int(str(high)))
            for n, count, low, high in connection.execute(LEDGER)
        }
        batches = {
            int(str(n)): (int(str(rows)), bool(right))
            for n, rows, right in connection.execute(BULK)
        }
        counters = {int(str(n)): int(str(value)) for n, value in connection.execute(COUNTERS)}
        accounts = connection.execute(ACCOUNTS).fetchall()
        (balance,) = connection.execute("SELECT sum(balance) FROM account").fetchall()[0]
    found = ledger_problems(ledger, must, may)
    found += batch_problems(
        batches, _together(expected, "batches"), _together(expected, "doubtful_batches")
    )
    found += [f"account {number} has {has} instead of {wanted}" for number, has, wanted in accounts]
    found += [
        f"the counter of worker {number} is {counters.get(number)}, not between {one.least} and"
        f" {one.most}"
        for number, one in expected.items()
        if not one.least <= counters.get(number, -1) <= one.most
    ]
    problems += [f"server {name}: {text}" for text in found]
    there = {number: delta for number, delta in may.items() if number in ledger}
    return Contents(int(str(balance)), there, counters)


def _together(expected: Mapping[int, Expected], what: str) -> dict[int, int]:
    """Return what all workers expect of one kind."""
    together: dict[int, int] = {}
    for one in expected.values():
        together |= getattr(one, what)
    return together


def begin_again(world: World, name: str, expected: Mapping[int, Expected], found: Contents) -> None:
    """Take away what has been checked, so that the next check has only what comes until then."""
    with world.monitor(name) as connection:
        connection.execute(BEGIN_AGAIN)
    for number, one in expected.items():
        one.begin_again(found.counters[number])


def growth(history: Sequence[tuple[float, int]]) -> float | None:
    """Return by which part a session's memory has grown in an hour, of pairs of seconds since the
    beginning and KiB; None if they are of less than an hour.

    The first fifth is left out, in which the session meets all statements for the first time.
    """
    if not history or history[-1][0] < GROWTH_FROM_S:
        return None
    behind = [(at, kib) for at, kib in history if at >= history[-1][0] / 5]
    part = max(1, len(behind) // 4)
    first, last = behind[:part], behind[-part:]
    at_first, at_last = (_middle(rows, 1) for rows in (first, last))
    hours = (_middle(last, 0) - _middle(first, 0)) / 3600
    return (at_last / at_first - 1) / hours if hours > 0 else None


def _middle(rows: Sequence[tuple[float, int]], column: int) -> float:
    return statistics.median(row[column] for row in rows)


def growth_problems(histories: Mapping[str, Sequence[tuple[float, int]]]) -> list[str]:
    """Return whose memory has grown too much, of the histories of steady workers by name."""
    parts = {name: growth(history) for name, history in histories.items()}
    return [
        f"{name}: its memory has grown by {part:.1%} in an hour"
        for name, part in parts.items()
        if part is not None and part > MOST_GROWTH
    ]
