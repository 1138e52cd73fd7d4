"""The same statements through stock and through the wrapper under test, to other remote servers.

What a wrapper asks for purposes of its own has no answer everywhere: the remote user may not read
the catalogs, the server may be a hot standby, or of another major version. Errors are compared like
rows: a standby refuses what writes, and has to refuse it in the same words.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle.oracle import Oracle
from oracle.servers import started_instances
from oracle.sessions import run_sessions
from oracle.world import World

from tollfree.postgres import other_installations
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

pytestmark = [pytest.mark.cluster, pytest.mark.walk]

WORLDS = ("hardened", "standby", "major")
SERIALIZABLE = (
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
    "SELECT * FROM bag",
    "ROLLBACK",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
    "SAVEPOINT a",
    "UPDATE bag SET k = 1",
    "ROLLBACK TO a",
    "SELECT count(*) FROM bag",
    "ROLLBACK",
    "SELECT count(*) FROM bag",
)
"""To a standby: refused, and then the same connection does for other transactions."""


@pytest.fixture(params=WORLDS)
def world(
    request: pytest.FixtureRequest, stage: Stage, home: Path, user: ServerUser, wrapper: str
) -> Iterator[World]:
    """Both sides of one world."""
    kind: str = request.param
    source_stage = stage
    if kind == "major":
        major = stage.installation.major
        others = other_installations(major)
        if not others:
            pytest.skip(f"no PostgreSQL but {major} is installed here")
        # The source has nothing of ours: the installation as it is.
        source_stage = Stage(others[0], Path("/"))
    with started_instances(
        home / kind, source_stage, stage, user, standby=kind == "standby"
    ) as instances:
        world = World(instances, wrapper, is_hardened=kind == "hardened")
        yield world
        world.close()


def test_no_session_differs(
    world: World,
    request: pytest.FixtureRequest,
    pytestconfig: pytest.Config,
    capsys: pytest.CaptureFixture[str],
) -> None:
    count: int = pytestconfig.getoption("--oracle-world-sessions")
    kind = request.node.callspec.id
    test = f"tests/test_oracle_worlds.py -k {kind}"
    first: int = pytestconfig.getoption("--walk-from")
    tally = run_sessions(world, pytestconfig, range(first, first + count), test)
    difference = Oracle(world).run(SERIALIZABLE)
    assert difference is None, str(difference)
    with capsys.disabled():
        print(f"\noracle, {kind}, PostgreSQL {world.major} to {world.remote_major}: {tally}")
