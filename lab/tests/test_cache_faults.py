"""What is kept of files, when whoever writes it is killed, or the disk is full, at any step.

`cache_faults.c` stands between the server and the C library. It ends a backend, a parallel worker
or the whole server at the n-th call that makes, writes, renames or removes a file in the folder of
record indexes and column segments, for every n that a query comes to; or it has the disk full from
there on. Whatever is left there, the next queries answer as stock file_fdw does, and what is
missing is made again.
"""

import contextlib
import secrets
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from conftest import start_anew
from filediff.statements import PARALLEL

from tollfree.cluster import NO_PORT, Cluster
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

pytestmark = pytest.mark.cluster

SOURCE = Path(__file__).parent / "cache_faults.c"
NOTHING, KILL_PROCESS, KILL_SERVER, DISK_FULL = range(4)
COUNTS = struct.Struct("iii")
"""The fault, the step at which it happens, the steps made."""
ROWS = 3000
ENOUGH_STEPS = 12
"""So many steps a query makes at least that keeps an index and two columns in several parts."""
LIMIT_S = 60.0
READY = "database system is ready to accept connections"

OBJECTS = """
CREATE EXTENSION {wrapper} CASCADE;
COPY (SELECT i, 'text ' || i % 50, i % 97 FROM generate_series(1, {rows}) i)
    TO '{file}' (FORMAT csv);
CREATE SERVER ours FOREIGN DATA WRAPPER {wrapper};
CREATE SERVER stock FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE kept (id integer, what text, n integer)
    SERVER ours OPTIONS (filename '{file}', format 'csv');
CREATE FOREIGN TABLE plain (id integer, what text, n integer)
    SERVER stock OPTIONS (filename '{file}', format 'csv');
"""
SERIAL = {"max_parallel_workers_per_gather": "0"}
OWN = {
    "record_index": "on",
    "column_cache": "on",
    "debug_record_index_age": "0",
    "debug_segment_size": "'32kB'",
    "debug_parallel_chunk_size": "'16kB'",
}
QUERY = "SELECT count(*), sum(id), min(what) FROM {} WHERE id > 100"


@dataclass(frozen=True)
class Faulty:
    """A server whose steps in the folder may fail, and the file that says which."""

    cluster: Cluster
    control: Path
    wrapper: str

    def order(self, fault: int, at: int) -> None:
        """Have the steps be counted from now on, and one of them fail."""
        with self.control.open("r+b") as file:
            file.write(COUNTS.pack(fault, at, 0))

    def steps(self) -> int:
        """Return how many there have been."""
        made: int = COUNTS.unpack(self.control.read_bytes())[2]
        return made

    def connect(self, settings: dict[str, str]) -> psycopg.Connection[tuple[object, ...]]:
        """Return a connection, once there is a server that takes one."""
        chosen = settings | {f"{self.wrapper}.{name}": value for name, value in OWN.items()}
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            with contextlib.suppress(psycopg.OperationalError):
                connection = self.cluster.connect()
                connection.execute(f"LOAD '{self.wrapper}'")
                for name, value in chosen.items():
                    connection.execute(f"SET {name} = {value}".encode())
                return connection
            time.sleep(0.05)
        raise AssertionError("the server takes no connection")

    def starts(self) -> int:
        """Return how often the server has become ready, by its log."""
        return self.cluster.log.read_text(errors="replace").count(READY)

    def wait_for_restart(self, starts: int) -> None:
        """Wait until the server has noticed that one of its processes was killed."""
        deadline = time.monotonic() + LIMIT_S
        while self.starts() == starts:
            if time.monotonic() > deadline:
                raise AssertionError("the server does not come back")
            time.sleep(0.02)

    def forget(self) -> None:
        """Drop all that is kept."""
        with self.connect(SERIAL) as connection:
            connection.execute(f"SELECT {self.wrapper}_drop_record_index('kept')")

    def answer(self, settings: dict[str, str], required: str = "none") -> object:
        """Return what the query says in a session of its own."""
        with self.connect(settings) as connection:
            connection.execute(f"SET {self.wrapper}.debug_require = {required}")
            return connection.execute(QUERY.format("kept").encode()).fetchone()

    def expected(self) -> object:
        """Return what stock says."""
        with self.connect(SERIAL) as connection:
            return connection.execute(QUERY.format("plain").encode()).fetchone()

    def repair(self, expected: object) -> None:
        """Query until all is kept that can be, by one process, and check each answer."""
        for _ in range(2):
            assert self.answer(SERIAL) == expected
        assert self.answer(SERIAL, "column_cache") == expected


@pytest.fixture(scope="module")
def faulty(stage: Stage, home: Path, user: ServerUser, file_wrapper: str) -> Iterator[Faulty]:
    """A server with a file that two wrappers read."""
    folder = home / "faults"
    user.make_folder(folder)
    library = folder / "cache_faults.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True
    )
    control = folder / "control"
    user.write_text(control, "\0" * COUNTS.size)
    cluster = Cluster(
        *("faults", folder / "server", home / "run", NO_PORT, stage, user),
        settings={"autovacuum": "off", "restart_after_crash": "on"},
        environment={"LD_PRELOAD": str(library), "CACHE_FAULTS": str(control)},
    )
    # initdb is not to have the library: the environment is that of the server alone.
    cluster = start_anew(cluster, secrets.token_urlsafe(12))
    try:
        with cluster.connect() as connection:
            file = folder / "rows.csv"
            for statement in OBJECTS.format(wrapper=file_wrapper, rows=ROWS, file=file).split(";"):
                connection.execute(statement.encode())
        yield Faulty(cluster, control, file_wrapper)
    finally:
        cluster.stop()


def count_steps(faulty: Faulty, settings: dict[str, str]) -> int:
    """Return how many steps a first query makes, and a second one that keeps what is missing."""
    faulty.forget()
    faulty.order(NOTHING, 0)
    for _ in range(2):
        faulty.answer(settings)
    steps = faulty.steps()
    assert steps >= ENOUGH_STEPS
    return steps


@pytest.mark.parametrize("settings", [SERIAL, PARALLEL], ids=["one process", "workers"])
def test_a_process_that_is_killed_leaves_nothing_wrong(
    faulty: Faulty, settings: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    expected = faulty.expected()
    killed = 0
    for step in range(1, count_steps(faulty, settings) + 1):
        faulty.forget()
        starts = faulty.starts()
        faulty.order(KILL_PROCESS, step)
        with contextlib.suppress(psycopg.OperationalError):
            for _ in range(2):
                assert faulty.answer(settings) == expected
        was_killed = faulty.steps() >= step
        faulty.order(NOTHING, 0)
        if was_killed:
            faulty.wait_for_restart(starts)
        killed += was_killed
        faulty.repair(expected)
    assert killed >= ENOUGH_STEPS
    with capsys.disabled():
        print(f"\ncache faults: a process killed at {killed} steps")


def test_a_server_that_is_killed_leaves_nothing_wrong(
    faulty: Faulty, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = faulty.expected()
    killed = 0
    for step in range(1, count_steps(faulty, SERIAL) + 1, 2):
        faulty.forget()
        faulty.order(KILL_SERVER, step)
        with contextlib.suppress(psycopg.OperationalError):
            for _ in range(2):
                faulty.answer(SERIAL)
        killed += faulty.steps() >= step
        faulty.order(NOTHING, 0)
        faulty.cluster.stop()
        faulty.cluster.start()
        faulty.repair(expected)
    assert killed >= ENOUGH_STEPS / 2
    with capsys.disabled():
        print(f"\ncache faults: the server killed at {killed} steps")


@pytest.mark.parametrize("settings", [SERIAL, PARALLEL], ids=["one process", "workers"])
def test_a_full_disk_costs_a_warning(faulty: Faulty, settings: dict[str, str]) -> None:
    expected = faulty.expected()
    steps = count_steps(faulty, settings)
    told = 0
    for step in range(1, steps + 1):
        faulty.forget()
        notices: list[str] = []

        def keep(notice: psycopg.errors.Diagnostic, to: list[str] = notices) -> None:
            to.append(notice.message_primary or "")

        with faulty.connect(settings) as connection:
            connection.add_notice_handler(keep)
            faulty.order(DISK_FULL, step)
            for _ in range(3):
                found = connection.execute(QUERY.format("kept").encode()).fetchone()
                assert found == expected
        # Each process tells once of an index, and once of segments.
        assert all("could not write" in notice for notice in notices)
        assert len(notices) <= (2 if settings == SERIAL else 2 * 2 * 3 + 2)
        told += bool(notices)
        faulty.order(NOTHING, 0)
        faulty.repair(expected)
    assert told > steps / 4
