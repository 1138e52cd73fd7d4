"""A wrapper whose remote server fails, at every message of the protocol.

Each walk arms the proxy for the first message, runs its statements, and goes on with the second,
until a message is never reached. After every step: the error is of the right class, the remote
rows are those of before or of after and never anything between, they are those of after if
success was reported, they are those of before if COMMIT was never delivered, and the same session
answers the next query correctly.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from conftest import OUR_WRAPPER
from fault_proxy import Action, Armed, Direction, Fault
from oracle.side import Outcome, Side
from oracle.world import STOCK, Instances
from remote_place import (
    CLEANUP_LIMIT,
    CONNECTION_ERRORS,
    CONTENTS,
    GONE_LIMIT_S,
    START,
    Contents,
    Remote,
    check_errors,
    has_committed,
    rows_of,
    run,
    run_into,
    sqlstate,
    walks,
)

pytestmark = pytest.mark.cluster

DATABASE = "faults"
UNDEFINED_TABLE = "42P01"

LOCAL_OBJECTS = """
    CREATE EXTENSION {wrapper} CASCADE;
    CREATE SERVER remote FOREIGN DATA WRAPPER {wrapper} OPTIONS ({options});
    CREATE USER MAPPING FOR postgres SERVER remote OPTIONS (user 'postgres');
    CREATE FOREIGN TABLE tally (id integer, v integer) SERVER remote
        OPTIONS (fetch_size '2');
    CREATE FOREIGN TABLE batched (id integer, v integer) SERVER remote
        OPTIONS (table_name 'tally', batch_size '2');
    CREATE FOREIGN TABLE in_arrays (id integer, v integer) SERVER remote
        OPTIONS (table_name 'tally', batch_size '50');
    CREATE FOREIGN TABLE wide (id integer, pad text) SERVER remote OPTIONS (fetch_size '1');
    ANALYZE tally;
    CREATE FUNCTION asks(wanted integer) RETURNS integer LANGUAGE plpgsql
        AS 'BEGIN RETURN (SELECT v FROM tally WHERE id = wanted); END';
"""
STREAM = "SELECT count(*), sum(length(pad)) FROM (SELECT id, pad FROM wide OFFSET 0) x"
LOOKUP = "SELECT v FROM tally WHERE id = 3"


@dataclass(frozen=True)
class Scenario:
    """Statements, and what they leave behind."""

    statements: tuple[str, ...]
    after: Contents = START
    connected: bool = True
    """Whether the session has its remote connection before the walk begins."""
    before: tuple[str, ...] = ()
    """What the session has done by then, and taken back."""
    stock_stalls: bool = True
    """Whether stalls are walked with stock, which rolls back to a savepoint for 30 s anyway."""
    stock_stalls_from: int = 15
    """The first major version on which they are: before 16 stock connects by a call of libpq that
    cannot be cancelled. Ours can, unless there may be a connect_timeout."""
    most_steps: int = 400
    """How many messages there are at most."""


MANY = tuple((number, number) for number in range(1001, 1351))
ADDED = ((1, 11), (2, 21), (3, 31), *START[3:])
KEPT = (
    "BEGIN",
    "UPDATE tally SET v = v + 1 WHERE id = 1",
    "SELECT v FROM tally WHERE id = 1",
    "INSERT INTO tally VALUES (8, 8)",
)
SCENARIOS = {
    "connect": Scenario((CONTENTS,), connected=False, stock_stalls_from=16),
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
    "stream": Scenario((STREAM,)),
    "stream in a transaction": Scenario(
        ("BEGIN", "INSERT INTO tally VALUES (8, 8)", STREAM, "COMMIT"), (*START, (8, 8))
    ),
    # What is left of it is read before the first row's own question.
    "stream that is read meanwhile": Scenario(
        ("SELECT id, asks(id), length(pad) FROM wide ORDER BY length(pad), id",)
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
    # The sixth batch and the seventh are arrays.
    "insert as arrays": Scenario(
        ("INSERT INTO in_arrays SELECT i, i FROM generate_series(1001, 1350) i",),
        (*START, *MANY),
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
    # The modifications are prepared.
    "kept statements": Scenario(
        (*KEPT, "COMMIT"), ((1, 11), *START[1:], (8, 8)), before=(*KEPT, "ROLLBACK") * 4
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


@dataclass(frozen=True)
class Place:
    """A local server, and the remote database behind its proxy."""

    instances: Instances
    wrapper: str
    remote: Remote

    def session(self, scenario: Scenario) -> Side:
        """Return a new local session, with its remote connection if the scenario has it."""
        side = Side(self.instances.local.conninfo(DATABASE), {})
        if scenario.connected:
            run(side, "SELECT count(*) FROM tally")
            for statement in scenario.before:
                run(side, statement)
            self.remote.wait_for_idle()
        return side


@pytest.fixture(scope="module")
def place(instances: Instances, pytestconfig: pytest.Config) -> Iterator[Place]:
    wrapper = pytestconfig.getoption("--fault-wrapper")
    remote = Remote(instances.source, DATABASE)
    with instances.local.connect() as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    with instances.local.connect(DATABASE) as connection:
        connection.execute(f"ALTER DATABASE {DATABASE} SET synchronous_commit = off")
        connection.execute(LOCAL_OBJECTS.format(wrapper=wrapper, options=remote.options))
        if wrapper != STOCK:
            connection.execute(
                f"ALTER DATABASE {DATABASE} SET {wrapper}.cleanup_timeout = '{CLEANUP_LIMIT}'"
            )
    yield Place(instances, wrapper, remote)
    remote.close()


def check_contents(place: Place, scenario: Scenario, outcomes: list[Outcome], armed: Armed) -> None:
    """Check that the remote rows are what was reported."""
    found = place.remote.contents()
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
    assert rows_of(outcome) == place.remote.contents()


def step(place: Place, scenario: Scenario, fault: Fault) -> bool:
    """Run `scenario` with `fault` and check what came of it; return whether the fault happened."""
    place.remote.reset()
    side = place.session(scenario)
    armed = place.remote.proxy.arm(fault)
    try:
        outcomes = [run_into(side, statement, armed) for statement in scenario.statements]
        place.remote.proxy.disarm()
        place.remote.wait_for_idle()
        check_errors(outcomes, fault)
        check_contents(place, scenario, outcomes, armed)
        check_usable(place, side)
    finally:
        place.remote.proxy.disarm()
        side.close()
        place.remote.wait_for_ends()
    return armed.fired.is_set()


def walk(place: Place, scenario: Scenario, action: Action, direction: Direction) -> int:
    """Run `scenario` once for every message; return how many there were."""
    for number in range(1, scenario.most_steps + 1):
        fault = Fault(action, direction, number)
        try:
            happened = step(place, scenario, fault)
        except (AssertionError, TimeoutError) as error:
            error.add_note(str(fault))
            raise
        if not happened:
            return number - 1
    pytest.fail(f"still not at the end after {scenario.most_steps} messages")


@pytest.mark.walk
@pytest.mark.parametrize(("scenario", "action", "direction"), walks(SCENARIOS))
def test_every_message(
    place: Place, scenario: Scenario, action: Action, direction: Direction
) -> None:
    major = place.instances.local.stage.installation.major
    is_cancellable = scenario.stock_stalls and major >= scenario.stock_stalls_from
    if action is Action.STALL and place.wrapper == STOCK and not is_cancellable:
        pytest.skip(f"{STOCK} of PostgreSQL {major} cannot be cancelled here")
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


def locked_out(place: Place) -> list[int]:
    """Return the remote processes that wait for a lock."""
    query = "SELECT pid FROM pg_locks WHERE NOT granted AND pid = ANY (%s)"
    return [
        int(str(pid)) for (pid,) in place.remote.direct.execute(query, [place.remote.proxy.pids()])
    ]


def terminate(place: Place, pids: list[int]) -> None:
    """Terminate remote processes and wait for their ends."""
    for pid in pids:
        place.remote.direct.execute("SELECT pg_terminate_backend(%s, 20000)", [pid])


def test_a_select_that_somebody_terminates_is_not_repeated(place: Place) -> None:
    """Neither in a transaction of its own nor without one."""
    place.remote.reset()
    side = place.session(Scenario(()))
    try:
        for _ in range(4):
            assert not sqlstate(run(side, LOOKUP))
        place.remote.direct.execute("BEGIN; LOCK TABLE tally")
        side.send(LOOKUP)
        deadline = time.monotonic() + GONE_LIMIT_S
        while not (waiting := locked_out(place)):
            assert time.monotonic() < deadline, "the SELECT has never arrived"
            time.sleep(0.002)
        terminate(place, waiting)
        place.remote.direct.execute("ROLLBACK")
        assert sqlstate(side.receive()).startswith(CONNECTION_ERRORS)
        check_usable(place, side)
    finally:
        place.remote.direct.execute("ROLLBACK")
        side.close()
        place.remote.wait_for_ends()


def test_a_connection_that_somebody_terminated_is_replaced(place: Place) -> None:
    place.remote.reset()
    side = place.session(Scenario(()))
    try:
        for _ in range(4):
            assert not sqlstate(run(side, LOOKUP))
            place.remote.wait_for_idle()
            terminate(place, place.remote.proxy.pids())
    finally:
        side.close()
        place.remote.wait_for_ends()


@pytest.mark.parametrize("method", ["off", "random", "bernoulli", "system", "auto", "import"])
def test_a_table_that_is_dropped_before_its_sample_is_read(place: Place, method: str) -> None:
    """ANALYZE has learnt how large it is, and asks for rows that are gone."""
    if place.wrapper == STOCK:
        pytest.skip(f"{STOCK} does not have every method on every version")
    remote, containing = place.remote, b"FROM public.herd"
    if method == "import":
        containing = b"most_common_vals"
    remote.direct.execute("CREATE TABLE herd AS SELECT i AS id FROM generate_series(1, 2000) i")
    remote.direct.execute("ANALYZE herd")
    side = place.session(Scenario(()))
    known = "SELECT reltuples, s.* FROM pg_class LEFT JOIN pg_stats s ON tablename = relname"
    known += " WHERE oid = 'herd'::regclass"
    try:
        run(side, "CREATE FOREIGN TABLE herd (id integer) SERVER remote")
        run(side, f"ALTER FOREIGN TABLE herd OPTIONS (ADD analyze_sampling '{method}')")
        run(side, "SET default_statistics_target = 1")
        assert not sqlstate(run(side, "ANALYZE herd"))
        before = run(side, known).results[0].rows
        armed = remote.proxy.arm(Fault(Action.STALL, Direction.CLIENT, 1, containing))
        side.send("ANALYZE herd")
        assert armed.fired.wait(GONE_LIMIT_S), "the sample has not been asked for"
        remote.direct.execute("DROP TABLE herd")
        remote.proxy.disarm()
        assert sqlstate(side.receive()) == UNDEFINED_TABLE
        assert run(side, known).results[0].rows == before
        check_usable(place, side)
    finally:
        remote.proxy.disarm()
        run(side, "DROP FOREIGN TABLE IF EXISTS herd")
        side.close()
        remote.direct.execute("DROP TABLE IF EXISTS herd")
        remote.wait_for_ends()
