"""A remote database behind a proxy that fails at a chosen message, for the tests of faults.

`Remote` owns the database and the proxy; the functions run a session's statements and say what
became of them. What is wrong, and what must follow, is the tests' business.
"""

import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

import psycopg
import pytest
from fault_proxy import Action, Armed, Direction, Fault, FaultProxy
from oracle.side import Outcome, Side

from tollfree.cluster import Cluster
from tollfree.ports import LOOPBACK

GONE_LIMIT_S = 20.0
FIRST_CANCEL_PAUSE_S = 0.01
CLEANUP_LIMIT = "500ms"
"""How long a stalled clean-up is waited for, in each step that stalls one."""
CONNECTION_ERRORS = ("08", "57P01")
QUERY_CANCELED = "57014"
NOT_CLEANED_UP = "08000"
"""The connection may not be used, for nobody knows what a rollback has come to."""
CONSEQUENCES = ("25P02", "3B001")
"""The transaction is aborted; the savepoint was never made."""

Contents = tuple[tuple[int, int], ...]
START: Contents = tuple((number, number * 10) for number in range(1, 6))
CONTENTS = "SELECT id, v FROM tally ORDER BY id"

SOURCE_OBJECTS = """
    CREATE TABLE tally (id integer PRIMARY KEY, v integer);
    CREATE VIEW wide AS SELECT id, repeat('x', 600000) AS pad FROM tally;
    CREATE VIEW tardy AS SELECT id FROM (SELECT 0 AS id FROM pg_sleep(0.1) OFFSET 0) s WHERE id > 0;
    INSERT INTO tally SELECT i, i * 10 FROM generate_series(1, 5) i;
"""


class Remote:
    """A remote database of its own with the rows `START`, and the proxy before it."""

    def __init__(self, source: Cluster, database: str) -> None:
        """Make the database, which `source` does not hold yet, and listen."""
        self.source = source
        self.database = database
        with source.connect() as connection:
            connection.execute(f"CREATE DATABASE {database}")
            connection.execute(f"ALTER DATABASE {database} SET synchronous_commit = off")
        self.direct, self._terminator = source.connect(database), source.connect()
        self.direct.execute(SOURCE_OBJECTS)
        self.proxy = FaultProxy(source.socket_folder / f".s.PGSQL.{source.port}", self._terminate)

    def reconnect(self) -> None:
        """Replace the connections that do not go through the proxy, after a restart."""
        self.direct.close()
        self._terminator.close()
        self.direct, self._terminator = self.source.connect(self.database), self.source.connect()

    @property
    def options(self) -> str:
        """What a foreign server's OPTIONS say of it."""
        return (
            f"host '{LOOPBACK}', port '{self.proxy.port}', dbname '{self.database}',"
            " sslmode 'disable', gssencmode 'disable'"
        )

    def reset(self) -> None:
        """Put the rows back."""
        if self.contents() != START:
            rows = ", ".join(map(str, START))
            self.direct.execute(f"TRUNCATE tally; INSERT INTO tally VALUES {rows}")

    def contents(self) -> Contents:
        """Return the rows, read directly."""
        return tuple((int(str(id_)), int(str(v))) for id_, v in self.direct.execute(CONTENTS))

    def wait_for_idle(self) -> None:
        """Wait until no proxied server process is at work; raises `TimeoutError`."""
        self._wait_for_none("state IS DISTINCT FROM 'idle'")

    def wait_for_ends(self) -> None:
        """Wait until no proxied server process is left, whose farewell would be counted next
        time; raises `TimeoutError`."""
        pids = self.proxy.pids()
        self._wait_for_none("true")
        self.proxy.forget(pids)

    def close(self) -> None:
        """Close the proxy and the connections of its own."""
        self.proxy.close()
        self.direct.close()
        self._terminator.close()

    def _wait_for_none(self, condition: str) -> None:
        query = (
            "SELECT pid, state, wait_event, query FROM pg_stat_activity"
            f" WHERE pid = ANY (%s) AND datname = current_database() AND {condition}"
        )
        wait_for_none(self.direct, query, self.proxy.pids())

    def _terminate(self, pid: int) -> None:
        """Terminate a process of the server and wait for its end."""
        self._terminator.execute("SELECT pg_terminate_backend(%s)", [pid])
        query = "SELECT FROM pg_stat_activity WHERE pid = ANY (%s)"
        wait_for_none(self._terminator, query, [pid])


def walks(
    scenarios: Mapping[str, object], kills: tuple[Direction, ...] = tuple(Direction)
) -> list[Any]:
    """Return the parameters of a test: each scenario with each action in each direction. Server
    processes are killed at messages of the directions `kills`."""
    return [
        pytest.param(scenario, action, direction, id=f"{name}-{action.value}-{direction.value}")
        for name, scenario in scenarios.items()
        for action in Action
        for direction in Direction
        if action is not Action.KILL or direction in kills
    ]


def wait_for_none(
    connection: psycopg.Connection[tuple[object, ...]], query: str, pids: list[int]
) -> None:
    """Wait until `query` finds none of these processes; raises `TimeoutError`."""
    deadline = time.monotonic() + GONE_LIMIT_S
    while connection.execute(query, [pids]).rowcount:
        if time.monotonic() > deadline:
            raise TimeoutError(f"still at work: {connection.execute(query, [pids]).fetchall()}")
        time.sleep(0.002)


def run(side: Side, statement: str) -> Outcome:
    """Run `statement` to its end."""
    side.send(statement)
    return side.receive()


def run_into(side: Side, statement: str, armed: Armed) -> Outcome:
    """Run `statement`; cancel it when it meets a stall, and wait for its end.

    What is read ahead can stall before the statement begins. A cancel request that arrives before
    the server has begun with it is for nothing, so it is repeated, after ever longer pauses.
    """
    if armed.fault.action is not Action.STALL:
        return run(side, statement)
    ended = threading.Event()

    def cancel_when_stalled() -> None:
        poll_s, pause_s = 0.002, FIRST_CANCEL_PAUSE_S
        while not ended.wait(poll_s):
            if armed.fired.is_set() and not armed.released.is_set():
                side.cancel()
                poll_s, pause_s = pause_s, 2 * pause_s

    watcher = threading.Thread(target=cancel_when_stalled)
    watcher.start()
    try:
        return run(side, statement)
    finally:
        ended.set()
        watcher.join()


def sqlstate(outcome: Outcome) -> str:
    """Return the SQLSTATE of a statement that failed, an empty string for one that did not."""
    error = outcome.results[-1].error if outcome.results else None
    return dict(error.fields)["SQLSTATE"] if error else ""


def rows_of(outcome: Outcome) -> Contents:
    """Return what a query for `CONTENTS` has found."""
    return tuple((int(id_ or 0), int(v or 0)) for id_, v in outcome.results[0].rows)


def has_committed(messages: Iterable[bytes]) -> bool:
    """Return whether the messages have a server commit: as a simple query, or by an Execute of what
    the last Bind named, a prepared statement or the text of the last Parse."""
    is_bound = False
    for message in messages:
        kind, names_commit = message[:1], b"commit" in message.lower()
        if kind == b"P":
            is_bound = names_commit
        elif kind == b"B":
            is_unnamed = message[5:7] == b"\0\0"
            is_bound = names_commit or (is_unnamed and is_bound)
        if (kind == b"Q" and names_commit) or (kind == b"E" and is_bound):
            return True
    return False


def check_errors(outcomes: list[Outcome], fault: Fault) -> None:
    """Check that the first error is the fault's, and that later ones follow from it."""
    assert not any(outcome.lost for outcome in outcomes), "the local session is lost"
    failures = [state for state in map(sqlstate, outcomes) if state]
    expected = CONNECTION_ERRORS
    if fault.action is Action.STALL:
        expected = (QUERY_CANCELED, NOT_CLEANED_UP)
    if failures:
        assert failures[0].startswith(expected)
    for state in failures[1:]:
        assert state.startswith((*expected, *CONNECTION_ERRORS, *CONSEQUENCES))
