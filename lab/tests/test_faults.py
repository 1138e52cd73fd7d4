"""A wrapper whose remote server fails, at every message of the protocol.

Each walk arms the proxy for the first message, runs its statements, and goes on with the second,
until a message is never reached. After every step: the error is of the right class, the remote
rows are those of before or of after and never anything between, they are those of after if
success was reported, they are those of before if COMMIT was never delivered, and the same session
answers the next query correctly.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import psycopg
import pytest
from conftest import OUR_WRAPPER
from fault_proxy import Action, Armed, Direction, Fault, FaultProxy
from oracle.side import Outcome, Side
from oracle.world import STOCK, Instances

from tollfree.ports import LOOPBACK

pytestmark = pytest.mark.cluster

DATABASE = "faults"
GONE_LIMIT_S = 20.0
CANCEL_PAUSE_S = 1.0
CLEANUP_LIMIT = "500ms"
QUERY_CANCELED = "57014"
CONNECTION_ERRORS = ("08", "57P01")
NOT_CLEANED_UP = "08000"
"""The connection may not be used, for nobody knows what a rollback has come to."""
CONSEQUENCES = ("25P02", "3B001")
"""The transaction is aborted; the savepoint was never made."""

SOURCE_OBJECTS = """
    CREATE TABLE tally (id integer PRIMARY KEY, v integer);
    CREATE VIEW wide AS SELECT id, repeat('x', 600000) AS pad FROM tally;
    INSERT INTO tally SELECT i, i * 10 FROM generate_series(1, 5) i;
"""
LOCAL_OBJECTS = """
    CREATE EXTENSION {wrapper} CASCADE;
    CREATE SERVER remote FOREIGN DATA WRAPPER {wrapper} OPTIONS (
        host '{host}', port '{port}', dbname '{database}', sslmode 'disable', gssencmode 'disable');
    CREATE USER MAPPING FOR postgres SERVER remote OPTIONS (user 'postgres');
    CREATE FOREIGN TABLE tally (id integer, v integer) SERVER remote OPTIONS (fetch_size '2');
    CREATE FOREIGN TABLE batched (id integer, v integer) SERVER remote
        OPTIONS (table_name 'tally', batch_size '2');
    CREATE FOREIGN TABLE wide (id integer, pad text) SERVER remote OPTIONS (fetch_size '1');
    ANALYZE tally;
"""
START = tuple((number, number * 10) for number in range(1, 6))
CONTENTS = "SELECT id, v FROM tally ORDER BY id"
LOOKUP = "SELECT v FROM tally WHERE id = 3"
Contents = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Scenario:
    """Statements, and what they leave behind."""

    statements: tuple[str, ...]
    after: Contents = START
    connected: bool = True
    """Whether the session has its remote connection before the walk begins."""
    stalls_from: int = 15
    """The first major version on which stalls are walked: nobody can be cancelled while he
    connects before 16."""
    stock_stalls: bool = True
    """Whether they are walked with stock: it rolls back to a savepoint for 30 s, come what may."""
    first: int = 1
    """The message that the walk begins with."""
    most_steps: int = 400
    """How many there are at most from there on."""


MANY = tuple((number, number) for number in range(1001, 1301))
ADDED = ((1, 11), (2, 21), (3, 31), *START[3:])
SCENARIOS = {
    "connect": Scenario((CONTENTS,), connected=False, stalls_from=16),
    "select": Scenario((CONTENTS,)),
    # It asks what the table is, prepares the statement, and goes without a transaction, twice.
    "autocommit select": Scenario((LOOKUP,) * 4),
    "select by cursor": Scenario(
        (
            f"SET {OUR_WRAPPER}.direct_results = off",
            "BEGIN",
            f"DECLARE c CURSOR FOR {CONTENTS}",
            "FETCH 2 FROM c",
            "FETCH 2 FROM c",
            "COMMIT",
        )
    ),
    "direct update": Scenario(("UPDATE tally SET v = v + 1 WHERE id <= 3",), ADDED),
    "update row by row": Scenario(
        ("UPDATE tally SET v = v + 1 + (random() > 2)::integer WHERE id <= 3",), ADDED
    ),
    "insert": Scenario(("INSERT INTO tally VALUES (8, 8), (9, 9)",), (*START, (8, 8), (9, 9))),
    "analyze": Scenario(("ANALYZE tally",)),
    "batch": Scenario(
        ("INSERT INTO batched SELECT i, i FROM generate_series(7, 9) i",),
        (*START, (7, 7), (8, 8), (9, 9)),
    ),
    "copy": Scenario(
        ("COPY batched FROM STDIN\n7\t7\n8\t8\n9\t9",), (*START, (7, 7), (8, 8), (9, 9))
    ),
    # A row is three messages in both directions; after 256 rows the others are sent together.
    "insert as arrays": Scenario(
        ("INSERT INTO tally SELECT i, i FROM generate_series(1001, 1300) i",),
        (*START, *MANY),
        first=760,
        most_steps=100,
    ),
    "truncate": Scenario(("TRUNCATE tally",), ()),
    "transaction": Scenario(
        (
            "BEGIN",
            "INSERT INTO tally VALUES (8, 8)",
            "SAVEPOINT a",
            "DELETE FROM tally WHERE id <= 3",
            "RELEASE a",
            "SELECT count(*) FROM tally",
            "COMMIT",
        ),
        (*START[3:], (8, 8)),
    ),
    "rolled-back savepoint": Scenario(
        (
            "BEGIN",
            "INSERT INTO tally VALUES (8, 8)",
            "SAVEPOINT a",
            "DELETE FROM tally",
            "ROLLBACK TO a",
            "INSERT INTO tally VALUES (9, 9)",
            "COMMIT",
        ),
        (*START, (8, 8), (9, 9)),
        stock_stalls=False,
    ),
    "savepoint while rows are read ahead": Scenario(
        (
            f"SET {OUR_WRAPPER}.direct_results = off",
            "BEGIN",
            "INSERT INTO tally VALUES (8, 8)",
            "DECLARE c CURSOR FOR SELECT id, pad FROM wide",
            "MOVE 2 FROM c",
            "SAVEPOINT a",
            "INSERT INTO tally VALUES (9, 9)",
            "RELEASE a",
            "COMMIT",
        ),
        (*START, (8, 8), (9, 9)),
        stock_stalls=False,
    ),
    "exception block": Scenario(
        (
            "DO $$BEGIN INSERT INTO tally VALUES (8, 8);"
            " BEGIN INSERT INTO tally VALUES (9, 9), (1, 1);"
            " EXCEPTION WHEN unique_violation THEN NULL; END; END$$",
        ),
        (*START, (8, 8)),
        stock_stalls=False,
    ),
}
WALKS = [
    pytest.param(scenario, action, direction, id=f"{name}-{action.value}-{direction.value}")
    for name, scenario in SCENARIOS.items()
    for action in Action
    for direction in Direction
]


@dataclass(frozen=True)
class Place:
    """A local server, the proxy behind it, the source behind that."""

    instances: Instances
    wrapper: str
    proxy: FaultProxy
    source: psycopg.Connection[tuple[object, ...]]
    """To the remote database, not through the proxy."""

    def session(self, scenario: Scenario) -> Side:
        """Return a new local session, with its remote connection if the scenario has it."""
        side = Side(self.instances.local.conninfo(DATABASE), {})
        if scenario.connected:
            run(side, "SELECT count(*) FROM tally")
            self.wait_for_idle()
        return side

    def reset(self) -> None:
        """Put the remote rows back."""
        if self.contents() != START:
            rows = ", ".join(map(str, START))
            self.source.execute(f"TRUNCATE tally; INSERT INTO tally VALUES {rows}")

    def contents(self) -> Contents:
        """Return the remote rows, read directly."""
        return tuple((int(str(id_)), int(str(v))) for id_, v in self.source.execute(CONTENTS))

    def wait_for_idle(self) -> None:
        """Wait until no proxied server process is at work; raises `TimeoutError`."""
        self._wait_for_none("state IS DISTINCT FROM 'idle'")

    def wait_for_ends(self) -> None:
        """Wait until no proxied server process is left, whose farewell would be counted next
        time; raises `TimeoutError`."""
        self._wait_for_none("true")

    def _wait_for_none(self, condition: str) -> None:
        query = (
            "SELECT pid, state, wait_event, query FROM pg_stat_activity"
            f" WHERE pid = ANY (%s) AND {condition}"
        )
        wait_for_none(self.source, query, self.proxy.pids())


@pytest.fixture(scope="module")
def place(instances: Instances, pytestconfig: pytest.Config) -> Iterator[Place]:
    source, local = instances.source, instances.local
    wrapper = pytestconfig.getoption("--fault-wrapper")
    for cluster in (source, local):
        with cluster.connect() as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
            connection.execute(f"ALTER DATABASE {DATABASE} SET synchronous_commit = off")
    with source.connect(DATABASE) as direct, source.connect() as other:
        direct.execute(SOURCE_OBJECTS)
        proxy = FaultProxy(source.socket_folder / f".s.PGSQL.{source.port}", terminator(other))
        with local.connect(DATABASE) as connection:
            connection.execute(
                LOCAL_OBJECTS.format(
                    wrapper=wrapper, host=LOOPBACK, port=proxy.port, database=DATABASE
                )
            )
            if wrapper != STOCK:
                connection.execute(
                    f"ALTER DATABASE {DATABASE} SET {wrapper}.cleanup_timeout = '{CLEANUP_LIMIT}'"
                )
        yield Place(instances, wrapper, proxy, direct)
        proxy.close()


def terminator(connection: psycopg.Connection[tuple[object, ...]]) -> Callable[[int], None]:
    """Return what terminates a process of the server at the other end of `connection` and waits
    for its end."""

    def terminate(pid: int) -> None:
        connection.execute("SELECT pg_terminate_backend(%s)", [pid])
        wait_for_none(connection, "SELECT FROM pg_stat_activity WHERE pid = ANY (%s)", [pid])

    return terminate


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
    the server has begun with it is for nothing, so it is repeated.
    """
    if armed.fault.action is not Action.STALL:
        return run(side, statement)
    ended = threading.Event()

    def cancel_when_stalled() -> None:
        pause_s = 0.002
        while not ended.wait(pause_s):
            if armed.fired.is_set() and not armed.released.is_set():
                side.cancel()
                pause_s = CANCEL_PAUSE_S

    watcher = threading.Thread(target=cancel_when_stalled)
    watcher.start()
    try:
        return run(side, statement)
    finally:
        ended.set()
        watcher.join()


def sqlstate(outcome: Outcome) -> str:
    """Return the SQLSTATE of a statement that failed, an empty string for one that did not."""
    error = outcome.results[-1].error
    return dict(error.fields)["SQLSTATE"] if error else ""


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


def check_contents(place: Place, scenario: Scenario, outcomes: list[Outcome], armed: Armed) -> None:
    """Check that the remote rows are what was reported."""
    found = place.contents()
    assert found in (START, scenario.after)
    last = outcomes[-1]
    if not sqlstate(last) and last.results[-1].tag != "ROLLBACK":
        assert found == scenario.after
    elif not has_committed(armed.delivered):
        assert found == START


def check_usable(place: Place, side: Side) -> None:
    """Check that the session works: that its next query returns the rows that there are."""
    run(side, "ROLLBACK")
    outcome = run(side, CONTENTS)
    assert not sqlstate(outcome)
    rows = tuple((int(id_ or 0), int(v or 0)) for id_, v in outcome.results[0].rows)
    assert rows == place.contents()


def step(place: Place, scenario: Scenario, fault: Fault) -> bool:
    """Run `scenario` with `fault` and check what came of it; return whether the fault happened."""
    place.reset()
    side = place.session(scenario)
    armed = place.proxy.arm(fault)
    try:
        outcomes = [run_into(side, statement, armed) for statement in scenario.statements]
        place.proxy.disarm()
        place.wait_for_idle()
        check_errors(outcomes, fault)
        check_contents(place, scenario, outcomes, armed)
        check_usable(place, side)
    finally:
        place.proxy.disarm()
        side.close()
        place.wait_for_ends()
    return armed.fired.is_set()


def walk(place: Place, scenario: Scenario, action: Action, direction: Direction) -> int:
    """Run `scenario` once for every message; return how many there were."""
    for number in range(scenario.first, scenario.first + scenario.most_steps):
        fault = Fault(action, direction, number)
        try:
            happened = step(place, scenario, fault)
        except (AssertionError, TimeoutError) as error:
            error.add_note(str(fault))
            raise
        if not happened:
            return number - scenario.first
    pytest.fail(f"still not at the end after {scenario.most_steps} messages")


@pytest.mark.parametrize(("scenario", "action", "direction"), WALKS)
def test_every_message(
    place: Place, scenario: Scenario, action: Action, direction: Direction
) -> None:
    major = place.instances.local.stage.installation.major
    if action is Action.STALL and major < scenario.stalls_from:
        pytest.skip(f"PostgreSQL {major} cannot be cancelled here")
    if action is Action.STALL and place.wrapper == STOCK and not scenario.stock_stalls:
        pytest.skip(f"{STOCK} cannot be cancelled here")
    assert walk(place, scenario, action, direction) > 0


def test_a_half_done_write_is_found(place: Place) -> None:
    halves = ("INSERT INTO tally VALUES (8, 8)", "INSERT INTO tally VALUES (9, 9)")
    scenario = Scenario(halves, (*START, (8, 8), (9, 9)))
    with pytest.raises(AssertionError, match="assert "):
        walk(place, scenario, Action.CUT, Direction.CLIENT)


def test_a_write_that_is_reported_and_lost_is_found(place: Place) -> None:
    lost = "INSERT INTO tally SELECT 8, 8 WHERE false"
    scenario = Scenario((lost,), (*START, (8, 8)))
    with pytest.raises(AssertionError, match="assert "):
        step(place, scenario, Fault(Action.CUT, Direction.CLIENT, scenario.most_steps))
