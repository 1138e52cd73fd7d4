"""Fixtures that start real servers, in a home of the test session's own."""

import os
import random
import secrets
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from command_line import lab_of_its_own
from oracle.servers import started_instances
from oracle.world import Instances

from tollfree.cluster import NO_PORT, Cluster
from tollfree.lab import Lab
from tollfree.ports import reserved_ports
from tollfree.postgres import Installation, buildable_installation, clear_libpq_environment
from tollfree.privileges import ServerUser, server_user
from tollfree.stage import Stage, make_stage

T = TypeVar("T")

OUR_WRAPPER = "tollfree_postgres_fdw"
OUR_FILE_WRAPPER = "tollfree_file_fdw"

LONG = (
    *("test_lab", "test_clients", "test_archive", "test_check"),
    *("test_suite_fdw", "test_suite_shards", "test_suite_file", "test_never_more"),
)
"""The names of the files whose tests take minutes."""

OF_THE_LAB = (
    (
        *("test_archive", "test_client_messages", "test_lab", "test_new_suite"),
        *("test_suite_file", "test_suite_sampling", "test_suite_shards", "test_txprobe"),
        *("test_packages", "test_scripts", "test_watch", "test_wheel"),
    ),
    (
        *("test_check", "test_check_files", "test_cli", "test_clients", "test_cluster"),
        "test_migration",
        *("test_stage", "test_suite_fdw", "test_suite_interface", "test_tutorials"),
    ),
)
"""The names of files that test the lab, whichever major its servers are of, in two halves that
take about as long. What compares wrappers with stock, statement by statement, is in others."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the walks."""
    group = parser.getgroup("walks", "how much of the long comparisons is walked, and where")
    group.addoption(
        "--walk-share",
        type=int,
        default=1,
        help="walk one N-th: of the numbered cases so many less, and one of N other walks",
        metavar="N",
    )
    group.addoption(
        "--lab-half",
        choices=("0", "1"),
        help="of the tests of the lab itself, and of those marked halved, execute one half",
    )
    group.addoption(
        "--walk-from",
        type=int,
        default=0,
        help="chooses which part is walked (%(default)s)",
        metavar="NUMBER",
    )
    group = parser.getgroup("oracle", "comparison of a wrapper with stock postgres_fdw")
    group.addoption(
        "--oracle-seed", type=int, default=1, help="what the sessions are drawn from (%(default)s)"
    )
    group.addoption(
        "--oracle-sessions", type=int, default=400, help="how many sessions to run (%(default)s)"
    )
    group.addoption("--oracle-session", type=int, help="run only the session of this number")
    group.addoption(
        "--oracle-world-sessions",
        type=int,
        default=25,
        help="how many sessions to run in each world of test_oracle_worlds.py (%(default)s)",
    )
    group.addoption(
        "--fault-wrapper",
        default=OUR_WRAPPER,
        help="the wrapper that the fault walk goes through (%(default)s)",
    )
    group.addoption(
        "--oracle-wrapper",
        default=OUR_WRAPPER,
        help="the extension to compare with stock (%(default)s)",
    )
    group = parser.getgroup("filediff", "comparison of a wrapper with stock file_fdw")
    group.addoption(
        "--filediff-seed", type=int, default=1, help="what the cases are drawn from (%(default)s)"
    )
    group.addoption(
        "--filediff-cases", type=int, default=3000, help="how many cases to run (%(default)s)"
    )
    group.addoption(
        "--filediff-changes",
        type=int,
        default=40,
        help="how many steps the file of each record index goes through (%(default)s)",
    )
    group.addoption(
        "--filediff-joins",
        type=int,
        default=600,
        help="how many joins to draw (%(default)s)",
    )
    group.addoption("--filediff-case", type=int, help="run only the case of this number")
    group.addoption(
        "--filediff-wrapper",
        default=OUR_FILE_WRAPPER,
        help="the extension to compare with stock (%(default)s)",
    )


def walked_numbers(config: pytest.Config, count: int) -> range:
    """Return the numbers of the cases that this run walks, where a whole one walks `count`: one of
    its parts, so that what a run meets a whole one has met, or will."""
    return part_of(count, config.getoption("--walk-share"), config.getoption("--walk-from"))


def part_of(count: int, share: int, number: int) -> range:
    """Return one of `share` parts of as many numbers, which one depends on the number alone."""
    first, behind = (count * part // share for part in (number % share, number % share + 1))
    return range(first, max(behind, first + 1))


def chosen(walks: Sequence[T], share: int, number: int) -> set[T]:
    """Return one of `share` walks, which ones depends on the number alone."""
    return set(random.Random(number).sample(walks, -(-len(walks) // share)))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Tell which part is walked: what is to be repeated after a failure."""
    share, first = config.getoption("--walk-share"), config.getoption("--walk-from")
    return f"walks: --walk-share={share} --walk-from={first}" if share > 1 or first else None


def other_half(items: Sequence[pytest.Item], half: int) -> set[pytest.Item]:
    """Return the tests that are executed with the servers of another major."""
    on_servers = [item for item in items if item.get_closest_marker("cluster")]
    halved = [item for item in on_servers if item.get_closest_marker("halved")]
    return set(halved[1 - half :: 2]).union(
        item for item in on_servers if item.path.stem in OF_THE_LAB[1 - half]
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take minutes, so that no process of several ends with one. Of each
    file's walks that have no numbers take as many as are to be walked."""
    items.sort(key=lambda item: item.path.stem not in LONG)
    whole: dict[Path, list[pytest.Item]] = {}
    for item in items:
        mark = item.get_closest_marker("walk")
        if mark and not mark.kwargs.get("numbered"):
            whole.setdefault(item.path, []).append(item)
    share, first = config.getoption("--walk-share"), config.getoption("--walk-from")
    left = {walk for walks in whole.values() for walk in set(walks) - chosen(walks, share, first)}
    if half := config.getoption("--lab-half"):
        left |= other_half(items, int(half))
    if left:
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]


def pytest_configure() -> None:
    """Have tests connect as the command line does, whatever servers their user has."""
    clear_libpq_environment()
    # Under nohup SIGHUP is ignored, also by what the tests start; a handler is not passed on.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture(scope="session")
def installation() -> Installation:
    """The PostgreSQL under test."""
    return buildable_installation()


@pytest.fixture(scope="session")
def user() -> ServerUser:
    """The user the servers run as."""
    return server_user()


@pytest.fixture(scope="module")
def lab(installation: Installation, user: ServerUser) -> Iterator[Lab]:
    """A lab in a home of its own, down."""
    with lab_of_its_own(installation, user) as lab:
        yield lab


@contextmanager
def folder_of(user: ServerUser) -> Iterator[Path]:
    """Make a folder of the servers' user with a short path, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="tollfree-test-"))
    user.own(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def home(user: ServerUser) -> Iterator[Path]:
    """A home for the session's servers."""
    with folder_of(user) as folder:
        yield folder


@pytest.fixture(scope="session")
def stage(installation: Installation, home: Path, user: ServerUser) -> Stage:
    """The staged installation."""
    return make_stage(installation, home, user)


def start_anew(cluster: Cluster, password: str) -> Cluster:
    """Make a server, and then start it on a port that is chosen only now: whoever chooses one keeps
    all others waiting. Returns the server with its port."""
    cluster.make(password)
    with reserved_ports(1) as (port,):
        started = replace(cluster, port=port)
        started.start()
    return started


@pytest.fixture(scope="session")
def pg_instance(stage: Stage, home: Path, user: ServerUser) -> Iterator[Cluster]:
    """A running server that listens on TCP too; PGPASSFILE is set for it."""
    folder = home / "instance"
    password = secrets.token_urlsafe(12)
    cluster = Cluster("instance", folder, home / "run", NO_PORT, stage, user, listens=True)
    cluster = start_anew(cluster, password)
    passfile = home / "passfile"
    passfile.touch(mode=0o600)
    passfile.write_text(f"*:*:*:*:{password}\n")
    os.environ["PGPASSFILE"] = str(passfile)
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def wrapper(pytestconfig: pytest.Config) -> str:
    """The extension that is compared with stock."""
    chosen: str = pytestconfig.getoption("--oracle-wrapper")
    return chosen


@pytest.fixture(scope="session")
def file_wrapper(pytestconfig: pytest.Config) -> str:
    """The extension that is compared with stock file_fdw."""
    chosen: str = pytestconfig.getoption("--filediff-wrapper")
    return chosen


@pytest.fixture(scope="session")
def instances(stage: Stage, home: Path, user: ServerUser) -> Iterator[Instances]:
    """A source and a local server for tests of a wrapper."""
    with started_instances(home / "fdw", stage, stage, user) as instances:
        yield instances
