"""Two remote servers, of which one fails, at every message that says or does something.

Those are the executions of commands and the ends of flights; rows, outcomes and readiness in the
other direction. Otherwise as in test_faults.py, for what a session does with both servers at the
same time: scans under one Append, the ends of transactions and of subtransactions, with
parallel_commit and parallel_abort. Each server's rows are those of before or of after; one that
COMMIT was not delivered to has those of before; reported success means that both have those of
after. Nothing makes both commit or none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from fault_proxy import Action, Armed, Direction, Fault
from oracle.side import Outcome, Side
from oracle.world import STOCK, Instances
from remote_place import (
    CLEANUP_LIMIT,
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

DATABASE = "two_servers"
NAMES = ("one", "two")
NEVER = Fault(Action.CUT, Direction.CLIENT, 0)
MOST_STEPS = 200
KINDS = {Direction.CLIENT: b"EQS", Direction.SERVER: b"CDEZ"}
BOTH = "SELECT id, v FROM one UNION ALL SELECT id, v FROM two"
SERVER_OBJECTS = """
    CREATE SERVER {name} FOREIGN DATA WRAPPER {wrapper}
        OPTIONS ({options}, async_capable 'true', parallel_commit 'true');
    CREATE USER MAPPING FOR postgres SERVER {name} OPTIONS (user 'postgres');
    CREATE FOREIGN TABLE {name} (id integer, v integer) SERVER {name}
        OPTIONS (table_name 'tally', fetch_size '2');
    CREATE FOREIGN TABLE tardy_{name} (id integer) SERVER {name} OPTIONS (table_name 'tardy');
    ANALYZE {name};
"""
WRITE_BOTH = ("INSERT INTO one VALUES (8, 8)", "INSERT INTO two VALUES (8, 8)")
WRITE_WHILE_WAITING = tuple(
    f"INSERT INTO {here} SELECT 8, 8 FROM (SELECT id FROM tardy_{here}"
    f" UNION ALL SELECT id FROM {there} WHERE id = 1) u"
    for here, there in (NAMES, reversed(NAMES))
)
"""A row is held back for a server that has not begun to answer a scan."""
ADDED: Contents = (*START, (8, 8))
BY_CURSORS = "SET tollfree_postgres_fdw.direct_results = off"


@dataclass(frozen=True)
class Scenario:
    """Statements, and what they leave behind on each server."""

    statements: tuple[str, ...]
    after: Contents = START
    seen: Contents = (*START, *START)
    """What a query for both servers' rows finds."""
    stock_stalls: bool = True
    """Whether stalls are walked with stock: it waits 30 s for a rollback, come what may."""


SCENARIOS = {
    "Append": Scenario((BOTH,)),
    "Append of cursors": Scenario(
        (BY_CURSORS, "BEGIN", *WRITE_BOTH, BOTH, "COMMIT"), ADDED, (*ADDED, *ADDED)
    ),
    "savepoint while rows are on their way": Scenario(
        (
            BY_CURSORS,
            "BEGIN",
            f"DECLARE c CURSOR FOR {BOTH}",
            "MOVE 3 FROM c",
            "SAVEPOINT a",
            *WRITE_BOTH,
            "RELEASE a",
            "MOVE ALL FROM c",
            "COMMIT",
        ),
        ADDED,
        stock_stalls=False,
    ),
    "writes while an answer is awaited": Scenario(WRITE_WHILE_WAITING, ADDED, stock_stalls=False),
    "rollbacks": Scenario(
        (
            "BEGIN",
            *WRITE_BOTH,
            "SAVEPOINT a",
            "DELETE FROM one",
            "DELETE FROM two",
            "ROLLBACK TO a",
            BOTH,
            "ROLLBACK",
        ),
        seen=(*ADDED, *ADDED),
        stock_stalls=False,
    ),
}
# A connection that is cut and a server process that is killed differ in what the server says last.
WALKS = walks(SCENARIOS, kills=(Direction.SERVER,))


@dataclass(frozen=True)
class Place:
    """A local server, and two remote databases behind a proxy each."""

    instances: Instances
    wrapper: str
    remotes: tuple[Remote, ...]

    def session(self) -> Side:
        """Return a new local session with its remote connections."""
        side = Side(self.instances.local.conninfo(DATABASE), {})
        run(side, BOTH)
        for remote in self.remotes:
            remote.wait_for_idle()
        return side

    def disarm(self) -> None:
        """Let everything pass from now on, and what is held."""
        for remote in self.remotes:
            remote.proxy.disarm()


@pytest.fixture(scope="module")
def place(instances: Instances, pytestconfig: pytest.Config) -> Iterator[Place]:
    wrapper = pytestconfig.getoption("--fault-wrapper")
    remotes = tuple(Remote(instances.source, f"{DATABASE}_{name}") for name in NAMES)
    with instances.local.connect() as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    with instances.local.connect(DATABASE) as connection:
        connection.execute(f"ALTER DATABASE {DATABASE} SET synchronous_commit = off")
        connection.execute(f"CREATE EXTENSION {wrapper} CASCADE")
        for name, remote in zip(NAMES, remotes, strict=True):
            connection.execute(
                SERVER_OBJECTS.format(name=name, wrapper=wrapper, options=remote.options)
            )
            if instances.local.stage.installation.major >= 16:
                connection.execute(f"ALTER SERVER {name} OPTIONS (parallel_abort 'true')")
        if wrapper != STOCK:
            connection.execute(
                f"ALTER DATABASE {DATABASE} SET {wrapper}.cleanup_timeout = '{CLEANUP_LIMIT}'"
            )
    yield Place(instances, wrapper, remotes)
    for remote in remotes:
        remote.close()


def check_contents(
    place: Place, scenario: Scenario, outcomes: list[Outcome], armed: list[Armed]
) -> None:
    """Check that both servers' rows are what was reported."""
    has_succeeded = not any(map(sqlstate, outcomes))
    for remote, messages in zip(place.remotes, armed, strict=True):
        found = remote.contents()
        assert found in (START, scenario.after)
        if has_succeeded:
            assert found == scenario.after
        elif not has_committed(messages.delivered):
            assert found == START


def check_answers(scenario: Scenario, outcomes: list[Outcome]) -> None:
    """Check that a query for both servers' rows has found all of them, or failed."""
    for statement, outcome in zip(scenario.statements, outcomes, strict=True):
        if statement == BOTH and not sqlstate(outcome):
            assert sorted(rows_of(outcome)) == sorted(scenario.seen)
        if statement.startswith("MOVE ALL") and not sqlstate(outcome):
            assert outcome.results[0].tag == f"MOVE {len(scenario.seen) - 3}"


def check_usable(place: Place, side: Side) -> None:
    """Check that the session finds the rows that there are."""
    run(side, "ROLLBACK")
    outcome = run(side, BOTH)
    assert not sqlstate(outcome)
    expected = [row for remote in place.remotes for row in remote.contents()]
    assert sorted(rows_of(outcome)) == sorted(expected)


def step(place: Place, scenario: Scenario, failing: int, fault: Fault) -> bool:
    """Run `scenario` with `fault` at one server and check what came of it; return whether the
    fault happened."""
    for remote in place.remotes:
        remote.reset()
    side = place.session()
    armed = [remote.proxy.arm(NEVER) for remote in place.remotes]
    armed[failing] = place.remotes[failing].proxy.arm(fault)
    try:
        outcomes = [run_into(side, each, armed[failing]) for each in scenario.statements]
        place.disarm()
        for remote in place.remotes:
            remote.wait_for_idle()
        check_errors(outcomes, fault)
        check_answers(scenario, outcomes)
        check_contents(place, scenario, outcomes, armed)
        check_usable(place, side)
    finally:
        side.close()
        place.disarm()
        for remote in place.remotes:
            remote.wait_for_ends()
    return armed[failing].fired.is_set()


def walk(
    place: Place, scenario: Scenario, failing: int, action: Action, direction: Direction
) -> int:
    """Run `scenario` once for every message of one server; return how many there were."""
    for number in range(1, MOST_STEPS):
        fault = Fault(action, direction, number, kinds=KINDS[direction])
        try:
            happened = step(place, scenario, failing, fault)
        except (AssertionError, TimeoutError) as error:
            error.add_note(f"{fault} of server {NAMES[failing]}")
            raise
        if not happened:
            return number - 1
    pytest.fail(f"still not at the end after {MOST_STEPS} messages")


@pytest.mark.walk
@pytest.mark.parametrize(("scenario", "action", "direction"), WALKS)
@pytest.mark.parametrize("failing", range(len(NAMES)), ids=NAMES)
def test_every_message_that_counts(
    place: Place, scenario: Scenario, action: Action, direction: Direction, failing: int
) -> None:
    if action is Action.STALL and place.wrapper == STOCK and not scenario.stock_stalls:
        pytest.skip(f"{STOCK} cannot be cancelled here")
    assert walk(place, scenario, failing, action, direction) > 0


def test_the_scans_are_asynchronous(place: Place) -> None:
    side = place.session()
    try:
        plan = run(side, f"EXPLAIN (COSTS OFF) {BOTH}").results[0].rows
        lines = [(row[0] or b"").decode().strip() for row in plan]
    finally:
        side.close()
    assert [line for line in lines if "Async" in line] == [
        f"->  Async Foreign Scan on {name}" for name in NAMES
    ]


def test_a_lost_half_is_found(place: Place) -> None:
    half = Scenario((WRITE_BOTH[0],), ADDED)
    with pytest.raises(AssertionError, match="assert "):
        step(place, half, 0, NEVER)
