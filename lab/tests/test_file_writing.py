"""Sessions that append to one file at the same time, and some that are ended while they do."""

import secrets
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import psycopg
import pytest
from conftest import OUR_FILE_WRAPPER, start_anew

from tollfree.cluster import NO_PORT, Cluster
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

pytestmark = pytest.mark.cluster

SESSIONS, STATEMENTS, ROWS = 6, 25, 40
LARGE = 300_000
"""Rows of a statement that is ended, some megabytes."""
DELAYS_S = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


@pytest.fixture(scope="module")
def folder(home: Path, user: ServerUser) -> Path:
    """A folder of the servers' user."""
    folder = home / "written"
    user.make_folder(folder)
    return folder


@pytest.fixture(scope="module")
def cluster(stage: Stage, home: Path, user: ServerUser, folder: Path) -> Iterator[Cluster]:
    """A server with a foreign table `t` of a file that does not exist yet."""
    cluster = Cluster("writing", home / "writing", home / "writing-run", NO_PORT, stage, user)
    cluster = start_anew(cluster, secrets.token_urlsafe(12))
    try:
        with cluster.connect() as connection:
            connection.execute(
                f"CREATE EXTENSION {OUR_FILE_WRAPPER} CASCADE;"
                f" CREATE SERVER files FOREIGN DATA WRAPPER {OUR_FILE_WRAPPER};"
                " CREATE FOREIGN TABLE t (session int, statement int, n int, x text) SERVER files"
                f" OPTIONS (filename '{folder / 't.csv'}', format 'csv', header 'true',"
                " writable 'true')"
            )
        yield cluster
    finally:
        cluster.stop()


def count(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    """Return how many rows the file has."""
    row = connection.execute("SELECT count(*) FROM t").fetchone()
    assert row is not None
    return int(str(row[0]))


def insert(cluster: Cluster, session: int) -> None:
    """Execute all statements of a session."""
    with cluster.connect() as connection:
        for statement in range(STATEMENTS):
            connection.execute(
                "INSERT INTO t SELECT %s, %s, n, repeat('x', 100) FROM generate_series(1, %s) n",
                (session, statement, ROWS),
            )


def test_sessions_append_whole_statements(cluster: Cluster) -> None:
    with ThreadPoolExecutor(SESSIONS) as pool:
        list(pool.map(lambda session: insert(cluster, session), range(SESSIONS)))
    with cluster.connect() as connection:
        rows = connection.execute("SELECT session, statement, n FROM t").fetchall()
    assert len(rows) == SESSIONS * STATEMENTS * ROWS
    blocks = [rows[first : first + ROWS] for first in range(0, len(rows), ROWS)]
    for block in blocks:
        assert len({(session, statement) for session, statement, _ in block}) == 1
        assert [n for _, _, n in block] == list(range(1, ROWS + 1))
    for session in range(SESSIONS):
        order = [block[0][1] for block in blocks if block[0][0] == session]
        assert order == list(range(STATEMENTS))


@pytest.mark.parametrize("how", ["pg_cancel_backend", "pg_terminate_backend"])
def test_a_statement_that_is_ended_writes_all_or_nothing(cluster: Cluster, how: str) -> None:
    ended: Counter[bool] = Counter()
    for delay in DELAYS_S:
        with cluster.connect() as connection, cluster.connect() as other:
            connection.execute("SET work_mem = '64kB'")
            before = count(other)
            with ThreadPoolExecutor(1) as pool:
                doing = pool.submit(
                    connection.execute,
                    f"INSERT INTO t SELECT -1, 0, n, 'x' FROM generate_series(1, {LARGE}) n",
                )
                sleep(delay)
                other.execute(f"SELECT {how}(%s)", (connection.info.backend_pid,))
                failed = isinstance(doing.exception(), psycopg.Error)
            written = count(other) - before
            # A session can be ended between its last write and its answer.
            assert written == LARGE or (failed and written == 0)
            ended[failed] += 1
    assert ended[True] > 0
