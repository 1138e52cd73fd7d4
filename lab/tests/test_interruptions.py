"""Every wait for the remote server, ended from outside in every way there is.

A wait is where a session stands still: a message that the proxy holds, a lock that somebody else
has, or the application's own pause between two statements. Each goes through stock postgres_fdw and
through our wrapper at the same time, over a remote database each. What ends it comes when both
have arrived there. Then the outcomes are equal, the remote rows are those of before or of after,
those of after only if COMMIT was delivered, those of before only if success was not reported, and
the session goes on, or a new one does where this one was to end.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import psycopg
import pytest
from conftest import OUR_WRAPPER
from fault_proxy import Action, Direction, Fault
from oracle.side import Outcome, Side
from oracle.world import STOCK, Instances
from remote_place import (
    CONNECTION_ERRORS,
    CONTENTS,
    QUERY_CANCELED,
    START,
    Contents,
    Remote,
    has_committed,
    rows_of,
    run,
    sqlstate,
    wait_for_none,
)

from tollfree.cluster import Cluster
from tollfree.errors import EnvironmentLacksError
from tollfree.postgres import buildable_installation

pytestmark = pytest.mark.cluster

ARRIVAL_LIMIT_S = 30.0
FIRST_TIMEOUT_MS = 150
LONGEST_TIMEOUT_MS = 5000
PAUSE = "(the application does nothing)"
NEVER = Fault(Action.STALL, Direction.CLIENT, 0)
LOST = "the session has ended: "
WRAPPERS = (STOCK, OUR_WRAPPER)
ADMIN_SHUTDOWN = "57P01"
LOCK_NOT_AVAILABLE = "55P03"
IDLE_IN_TRANSACTION = "25P03"
TRANSACTION_TIMEOUT = "25P04"

LOCAL_OBJECTS = """
    CREATE EXTENSION {wrapper} CASCADE;
    CREATE SERVER remote FOREIGN DATA WRAPPER {wrapper} OPTIONS ({options});
    CREATE USER MAPPING FOR postgres SERVER remote OPTIONS (user 'postgres');
    CREATE FOREIGN TABLE tally (id integer, v integer) SERVER remote;
    CREATE FOREIGN TABLE wide (id integer, pad text) SERVER remote OPTIONS (fetch_size '1');
    CREATE TABLE here (id integer);
"""


class Place(Enum):
    """What a session stands still at."""

    HELD = "a message that is held"
    REMOTE_LOCK = "a lock of the remote table"
    LOCAL_LOCK = "a lock of a local table"
    PAUSE = "a pause"


@dataclass(frozen=True)
class Wait:
    """Where a session stands still, the statements that bring it there and those that follow."""

    statements: tuple[str, ...]
    place: Place = Place.HELD
    held: bytes = b""
    """What the message that is held has in it."""
    direction: Direction = Direction.CLIENT
    number: int = 1
    """Of the message, among those that have it."""
    after: Contents = START
    """The remote rows when all has been done."""
    connected: bool = True
    """Whether the session has its remote connection before."""
    stock_from: int = 15
    """The first major version on which stock can be interrupted there: before 16 it connects by a
    call of libpq that cannot. On those before, ours is not compared with it."""
    timed: bool = True
    """Whether a statement_timeout is in force there; at COMMIT it is not any more."""
    cleans_up: bool = False
    """Whether it is the clean-up after an error, which nobody can interrupt. Stock waits there for
    30 s, so it is not compared."""

    @property
    def fault(self) -> Fault:
        """What the proxy is armed with."""
        if self.place is not Place.HELD:
            return NEVER
        return Fault(Action.STALL, self.direction, self.number, self.held)


ADDED = (*START, (8, 8))
WRITE = ("BEGIN", "INSERT INTO tally VALUES (8, 8)")
WAITS = {
    "connecting": Wait((CONTENTS,), number=1, connected=False, stock_from=16),
    "setting up": Wait((CONTENTS,), held=b"search_path", connected=False),
    "scan's first flight": Wait((CONTENTS,), held=b"FROM public.tally"),
    "rows on their way": Wait(
        (
            f"SET {OUR_WRAPPER}.direct_results = off",
            "SELECT sum(length(pad)) FROM (SELECT pad FROM wide OFFSET 0) x",
        ),
        held=b"xxxx",
        direction=Direction.SERVER,
        number=3,
    ),
    "second scan of a transaction": Wait(
        (*WRITE, CONTENTS, "COMMIT"), held=b"FROM public.tally", after=ADDED
    ),
    "direct write": Wait(
        ("UPDATE tally SET v = v + 1 WHERE id = 1",),
        held=b"UPDATE public.tally",
        after=((1, 11), *START[1:]),
    ),
    "write of rows": Wait(
        (*WRITE, "INSERT INTO tally VALUES (9, 9), (1000010, 10)", "COMMIT"),
        held=b"1000010",
        after=(*ADDED, (9, 9), (1000010, 10)),
    ),
    "commit": Wait((*WRITE, "COMMIT"), held=b"COMMIT", after=ADDED, timed=False),
    "commit's answer": Wait(
        (*WRITE, "COMMIT"),
        held=b"COMMIT\0",
        direction=Direction.SERVER,
        after=ADDED,
        timed=False,
    ),
    "rollback": Wait((*WRITE, "ROLLBACK"), held=b"ABORT TRANSACTION", timed=False, cleans_up=True),
    "rollback to a savepoint": Wait(
        (*WRITE, "SAVEPOINT a", "DELETE FROM tally", "ROLLBACK TO a", "COMMIT"),
        held=b"ROLLBACK TO",
        after=ADDED,
        timed=False,
        cleans_up=True,
    ),
    "remote lock, to read": Wait((f"{CONTENTS} FOR UPDATE",), Place.REMOTE_LOCK),
    "remote lock, to write": Wait(
        ("UPDATE tally SET v = v + 1 WHERE id = 1",),
        Place.REMOTE_LOCK,
        after=((1, 11), *START[1:]),
    ),
    "local lock": Wait((*WRITE, "LOCK TABLE here", "COMMIT"), Place.LOCAL_LOCK, after=ADDED),
    "between transactions": Wait((CONTENTS, PAUSE, CONTENTS), Place.PAUSE),
    "between transactions, then a write": Wait(
        (CONTENTS, PAUSE, "UPDATE tally SET v = v + 1 WHERE id = 1"),
        Place.PAUSE,
        after=((1, 11), *START[1:]),
    ),
    "within a transaction": Wait((*WRITE, PAUSE, CONTENTS, "COMMIT"), Place.PAUSE, after=ADDED),
    "within a transaction, at its end": Wait((*WRITE, PAUSE, "COMMIT"), Place.PAUSE, after=ADDED),
    "within a savepoint": Wait(
        (*WRITE, "SAVEPOINT a", "DELETE FROM tally", PAUSE, "ROLLBACK TO a", CONTENTS, "COMMIT"),
        Place.PAUSE,
        after=ADDED,
    ),
}
HOLDS = frozenset(name for name, wait in WAITS.items() if wait.place is Place.HELD)
PAUSES = frozenset(name for name, wait in WAITS.items() if wait.place is Place.PAUSE)
LOCKS = frozenset(WAITS) - HOLDS - PAUSES
REMOTE_LOCKS = frozenset(n for n, wait in WAITS.items() if wait.place is Place.REMOTE_LOCK)
IN_TRANSACTION = frozenset(name for name in PAUSES if name.startswith("within"))


@dataclass(frozen=True)
class Interruption:
    """What ends a wait, and which waits it can end."""

    waits: frozenset[str]
    call: str = ""
    """The function that is called with the local backend's process."""
    restart: signal.Signals | None = None
    """What the remote server is stopped by, to be started again."""
    setting: str = ""
    """The timeout that is short."""
    is_remote: bool = False
    """Whether it is the remote session's."""
    first_major: int = 15
    states: tuple[str, ...] = ()
    """How the SQLSTATE of the error begins."""
    ends_session: bool = False
    """Whether the local session is to end by it."""


RESTARTS = frozenset(
    {
        "connecting",
        "scan's first flight",
        "second scan of a transaction",
        "write of rows",
        "commit",
        "rollback",
        "remote lock, to read",
        "between transactions",
        "between transactions, then a write",
        "within a transaction",
        "within a savepoint",
    }
)
IMMEDIATE_RESTARTS = RESTARTS - {"connecting", "scan's first flight", "between transactions"}
TIMED = frozenset(name for name in HOLDS | LOCKS if WAITS[name].timed)
INTERRUPTIONS = {
    "pg_cancel_backend": Interruption(
        frozenset(WAITS), call="pg_cancel_backend", states=(QUERY_CANCELED,)
    ),
    "pg_terminate_backend": Interruption(
        frozenset(WAITS),
        call="pg_terminate_backend",
        states=(ADMIN_SHUTDOWN,),
        ends_session=True,
    ),
    "statement_timeout": Interruption(TIMED, setting="statement_timeout", states=(QUERY_CANCELED,)),
    "lock_timeout": Interruption(
        frozenset({"local lock"}), setting="lock_timeout", states=(LOCK_NOT_AVAILABLE,)
    ),
    "idle_in_transaction_session_timeout": Interruption(
        IN_TRANSACTION,
        setting="idle_in_transaction_session_timeout",
        states=(IDLE_IN_TRANSACTION,),
        ends_session=True,
    ),
    "transaction_timeout": Interruption(
        TIMED | IN_TRANSACTION | {"commit", "commit's answer"},
        setting="transaction_timeout",
        first_major=17,
        states=(TRANSACTION_TIMEOUT,),
        ends_session=True,
    ),
    "remote statement_timeout": Interruption(
        REMOTE_LOCKS, setting="statement_timeout", is_remote=True, states=(QUERY_CANCELED,)
    ),
    "remote lock_timeout": Interruption(
        REMOTE_LOCKS, setting="lock_timeout", is_remote=True, states=(LOCK_NOT_AVAILABLE,)
    ),
    "remote idle_in_transaction_session_timeout": Interruption(
        IN_TRANSACTION,
        setting="idle_in_transaction_session_timeout",
        is_remote=True,
        states=(*CONNECTION_ERRORS, IDLE_IN_TRANSACTION),
    ),
    "remote transaction_timeout": Interruption(
        IN_TRANSACTION | REMOTE_LOCKS,
        setting="transaction_timeout",
        is_remote=True,
        first_major=17,
        states=(*CONNECTION_ERRORS, TRANSACTION_TIMEOUT),
    ),
    "remote restart, fast": Interruption(RESTARTS, restart=signal.SIGINT, states=CONNECTION_ERRORS),
    "remote restart, immediate": Interruption(
        IMMEDIATE_RESTARTS, restart=signal.SIGQUIT, states=CONNECTION_ERRORS
    ),
}


class Party:
    """One wrapper: its remote database, and in turn its sessions that are interrupted."""

    def __init__(self, instances: Instances, wrapper: str) -> None:
        """Make its databases, which the servers do not hold yet."""
        self.local = instances.local
        self.wrapper = wrapper
        self.database = f"interrupted_{wrapper}"
        self.remote = Remote(instances.source, self.database)
        with self.local.connect() as connection:
            connection.execute(f"CREATE DATABASE {self.database}")
            connection.execute(f"ALTER DATABASE {self.database} SET synchronous_commit = off")
            connection.execute(
                f"ALTER DATABASE {self.database} SET {OUR_WRAPPER}.cleanup_timeout = '300ms'"
            )
        self.monitor = self.local.connect(self.database)
        self.monitor.execute(LOCAL_OBJECTS.format(wrapper=wrapper, options=self.remote.options))

    def begin(self, wait: Wait, setting: str, remote_setting: str) -> None:
        """Begin with the statements, with these settings in the two sessions."""
        self.wait = wait
        self.remote.reset()
        self.outcomes: list[Outcome] = []
        self.has_paused, self.goes_on, self.has_ended = (threading.Event() for _ in range(3))
        self._set_remotely(remote_setting)
        self.side = Side(self.local.conninfo(self.database), {})
        self.pid = int(run(self.side, "SELECT pg_backend_pid()").results[0].rows[0][0] or 0)
        if wait.connected:
            run(self.side, "SELECT count(*) FROM tally")
            self.remote.wait_for_idle()
        if setting:
            run(self.side, f"SET {setting}")
        self.locker = self._lock()
        self.armed = self.remote.proxy.arm(wait.fault)
        self._thread = threading.Thread(target=self._run_statements)
        self._thread.start()

    def has_arrived(self) -> bool:
        """Return whether the session stands where it is to be interrupted."""
        match self.wait.place:
            case Place.HELD:
                return self.armed.fired.is_set()
            case Place.PAUSE:
                return self.has_paused.is_set()
            case Place.REMOTE_LOCK:
                connection, pids = self.remote.direct, self.remote.proxy.pids()
            case Place.LOCAL_LOCK:
                connection, pids = self.monitor, [self.pid]
        query = "SELECT FROM pg_locks WHERE NOT granted AND pid = ANY (%s)"
        return connection.execute(query, [pids]).rowcount > 0

    def call(self, function: str) -> None:
        """Call a function with the session's process."""
        self.monitor.execute(f"SELECT {function}(%s)", [self.pid])

    def wait_until_gone(self) -> None:
        """Wait for the end of the local session; raises `TimeoutError`."""
        query = "SELECT FROM pg_stat_activity WHERE pid = ANY (%s)"
        wait_for_none(self.monitor, query, [self.pid])

    def finish(self) -> None:
        """Go on after a pause, wait for the end of the statements, take the obstacles away."""
        self.goes_on.set()
        self._thread.join()
        self.armed.released.set()
        self.locker.close()
        self.remote.wait_for_idle()
        self.remote.proxy.disarm()

    def close_session(self) -> None:
        """End what is left of the session, here and there."""
        self.side.close()
        self.remote.wait_for_ends()
        self._set_remotely("")

    def close(self) -> None:
        """Close the connections of its own."""
        self.remote.close()
        self.monitor.close()

    def states(self) -> tuple[str, ...]:
        """Return the SQLSTATE of each statement that has been run, and how it ended."""
        ends = (LOST if outcome.lost else "" for outcome in self.outcomes)
        return tuple(end + sqlstate(o) for end, o in zip(ends, self.outcomes, strict=True))

    def _run_statements(self) -> None:
        for statement in self.wait.statements:
            if statement == PAUSE:
                self.has_paused.set()
                self.goes_on.wait()
                continue
            self.outcomes.append(run(self.side, statement))
            if self.outcomes[-1].lost:
                break
        self.has_ended.set()

    def _lock(self) -> psycopg.Connection[tuple[object, ...]]:
        """Lock what the session is to wait for, if anything, until the connection returned ends."""
        if self.wait.place is Place.LOCAL_LOCK:
            connection = self.local.connect(self.database)
            connection.execute("BEGIN; LOCK TABLE here")
        else:
            # The remote database's timeouts are not meant for this connection.
            connection = self.remote.source.connect(self.database)
            connection.execute(
                "SELECT set_config(name, '0', false) FROM pg_settings"
                " WHERE name = 'transaction_timeout'"
            )
            if self.wait.place is Place.REMOTE_LOCK:
                connection.execute("BEGIN; LOCK TABLE tally")
        return connection

    def _set_remotely(self, setting: str) -> None:
        self.remote.direct.execute(f"ALTER DATABASE {self.database} RESET ALL")
        self.remote.direct.execute(f"ALTER DATABASE {self.database} SET synchronous_commit = off")
        if setting:
            self.remote.direct.execute(f"ALTER DATABASE {self.database} SET {setting}")


@pytest.fixture(scope="module")
def parties(instances: Instances) -> Iterator[list[Party]]:
    parties = [Party(instances, wrapper) for wrapper in WRAPPERS]
    yield parties
    for party in parties:
        party.close()


def restart(cluster: Cluster, how: signal.Signals) -> None:
    """Stop a server by this signal, and start it again."""
    pid = cluster.pid()
    assert pid is not None
    os.kill(pid, how)
    deadline = time.monotonic() + ARRIVAL_LIMIT_S
    while cluster.pid() is not None:
        assert time.monotonic() < deadline, "the server does not stop"
        time.sleep(0.01)
    cluster.start()


def have_arrived(parties: list[Party]) -> bool:
    """Wait until every session stands where it is to be; return false if one has ended."""
    deadline = time.monotonic() + ARRIVAL_LIMIT_S
    while not all(party.has_arrived() for party in parties):
        if any(party.has_ended.is_set() for party in parties):
            return False
        assert time.monotonic() < deadline, "a session is not where it should be"
        time.sleep(0.002)
    return True


def interrupt(parties: list[Party], interruption: Interruption) -> None:
    """Do what ends the wait, or wait until a timeout has ended a session that pauses."""
    is_pause = parties[0].wait.place is Place.PAUSE
    if interruption.restart:
        restart(parties[0].remote.source, interruption.restart)
        for party in parties:
            party.remote.reconnect()
    for party in parties:
        if interruption.call:
            party.call(interruption.call)
        if is_pause and interruption.ends_session:
            party.wait_until_gone()
        elif is_pause and interruption.is_remote:
            party.remote.wait_for_ends()


def meet(parties: list[Party], wait: Wait, interruption: Interruption, timeout_ms: int) -> bool:
    """Let both sessions run into the wait and end it; return false if one never came there."""
    setting = interruption.setting and f"{interruption.setting} = {timeout_ms}"
    settings = ("", setting) if interruption.is_remote else (setting, "")
    try:
        for party in parties:
            party.begin(wait, *settings)
        arrived = have_arrived(parties)
        if arrived:
            interrupt(parties, interruption)
    finally:
        for party in parties:
            party.finish()
    return arrived


def check_outcome(party: Party, wait: Wait, interruption: Interruption) -> None:
    """Check that what was reported is what was done to the session, and what became of the rows."""
    states = party.states()
    failures = [state for state in (each.removeprefix(LOST) for each in states) if state]
    is_lost = any(state.startswith(LOST) for state in states)
    is_certain = wait.place is not Place.PAUSE and not wait.cleans_up
    if is_certain and not interruption.restart:
        assert failures, f"{party.wrapper}: nothing was interrupted"
    if failures:
        expected = interruption.states
        if wait.cleans_up or interruption.restart:
            expected += ("08", "57P03")
        assert failures[0].startswith(expected), f"{party.wrapper}: {states}"
    if is_certain or not interruption.ends_session:
        assert is_lost == interruption.ends_session
    found = party.remote.contents()
    assert found in (START, wait.after)
    if not failures and not is_lost and party.outcomes[-1].results[-1].tag != "ROLLBACK":
        assert found == wait.after
    elif not has_committed(party.armed.delivered):
        assert found == START


def check_usable(party: Party, interruption: Interruption) -> None:
    """Check that the session finds the rows that there are; a new one, if it was to end."""
    side = party.side
    if interruption.ends_session:
        side = Side(party.local.conninfo(party.database), {})
    try:
        run(side, "ROLLBACK; RESET ALL")
        before = party.remote.contents()
        outcome = run(side, CONTENTS)
        assert not sqlstate(outcome)
        # A COMMIT of a connection that was given up may take effect now.
        assert rows_of(outcome) in (before, party.remote.contents())
    finally:
        side.close()


def interrupted(parties: list[Party], wait: Wait, interruption: Interruption) -> bool:
    """Run one combination with timeouts that become longer until both sessions reach the wait
    before; check what becomes of them; return whether they got there."""
    timeout_ms = FIRST_TIMEOUT_MS
    while timeout_ms < LONGEST_TIMEOUT_MS:
        try:
            if meet(parties, wait, interruption, timeout_ms):
                for party in parties:
                    check_outcome(party, wait, interruption)
                    check_usable(party, interruption)
                return True
            timeout_ms *= 2 if interruption.setting else LONGEST_TIMEOUT_MS
        finally:
            for party in parties:
                party.close_session()
    return False


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Draw the cases of the interruptions that the PostgreSQL under test has."""
    try:
        major = buildable_installation().major
    except EnvironmentLacksError:
        major = sys.maxsize
    cases = [
        pytest.param(WAITS[name], interruption, id=f"{name}-{what}")
        for what, interruption in INTERRUPTIONS.items()
        for name in WAITS
        if name in interruption.waits and major >= interruption.first_major
    ]
    metafunc.parametrize(("wait", "interruption"), cases)


def test_every_wait_can_be_interrupted(
    parties: list[Party], wait: Wait, interruption: Interruption
) -> None:
    major = parties[0].local.stage.installation.major
    is_in_stock = not wait.cleans_up and (major >= wait.stock_from or bool(interruption.restart))
    compared = [party for party in parties if is_in_stock or party.wrapper != STOCK]
    try:
        assert interrupted(compared, wait, interruption), "the wait was never reached"
    finally:
        if interruption.restart:
            for party in parties:
                party.remote.reconnect()
    if len(compared) > 1 and not interruption.restart:
        assert compared[0].states() == compared[1].states()
