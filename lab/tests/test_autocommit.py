"""Which messages of a client's protocol make a scan a remote transaction of its own.

The first Execute of an unnamed portal does, in READ COMMITTED: whatever a client executes behind it
before a Sync may have a later snapshot. The regression tests of the extension speak the simple
protocol; here it is the extended one.
"""

from collections.abc import Iterator

import psycopg
import pytest
from conftest import OUR_WRAPPER
from psycopg import pq

from tollfree.cluster import Cluster
from tollfree.suites.foreign import import_tables, make_server, recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

LOOKUP = b"SELECT v FROM item WHERE id = $1"
SCANS = f"SELECT sum(autocommit_scans) FROM {OUR_WRAPPER}_statistics()"


@pytest.fixture
def source(pg_instance: Cluster) -> Iterator[Connection]:
    """A connection to the remote database."""
    with pg_instance.connect() as connection:
        recreate_database(connection, "autocommit_source")
    with pg_instance.connect("autocommit_source") as connection:
        connection.execute("CREATE TABLE item (id integer PRIMARY KEY, v integer)")
        connection.execute("INSERT INTO item SELECT i, i FROM generate_series(1, 9) i")
        yield connection


@pytest.fixture
def local(pg_instance: Cluster, source: Connection) -> Iterator[Connection]:
    """A connection to the local database, which knows what the remote table is."""
    with pg_instance.connect() as connection:
        recreate_database(connection, "autocommit_local")
    row = {
        "wrapper": OUR_WRAPPER,
        "server_options": None,
        "server_host": str(pg_instance.socket_folder),
        "server_port": pg_instance.port,
    }
    with pg_instance.connect("autocommit_local") as connection:
        password = pg_instance.password_file.read_text("utf-8")
        make_server(connection, row, "autocommit_source", password)
        import_tables(connection, ["item"])
        # What the server is like comes behind the first, what the relation is behind the second,
        # which has the statement prepared.
        for _ in range(3):
            connection.execute("SELECT v FROM item WHERE id = 9")
        yield connection


def scans(local: Connection) -> int:
    """Return how many scans were remote transactions of their own."""
    row = local.execute(SCANS).fetchone()
    assert row is not None
    return int(str(row[0]))


def value(result: pq.abc.PGresult | None) -> bytes | None:
    """Return the only value of a result."""
    assert result is not None
    assert result.status == pq.ExecStatus.TUPLES_OK, result.error_message
    return result.get_value(0, 0)


def pipelined_value(connection: pq.abc.PGconn) -> bytes | None:
    """Return the only value of a command's result, and read the command's end."""
    found = value(connection.get_result())
    assert connection.get_result() is None
    return found


def test_one_execute_and_its_sync_are_autocommit(local: Connection) -> None:
    before = scans(local)
    assert value(local.pgconn.exec_params(LOOKUP, [b"3"])) == b"3"
    local.pgconn.prepare(b"lookup", LOOKUP)
    for number in (b"4", b"5", b"6"):
        assert value(local.pgconn.exec_prepared(b"lookup", [number])) == number
    assert scans(local) - before == 4


def read_twice_before_a_sync(local: Connection, source: Connection) -> list[bytes | None]:
    """Return what two Executes before one Sync find, between which the row has changed."""
    local.pgconn.enter_pipeline_mode()
    local.pgconn.send_query_params(LOOKUP, [b"3"])
    local.pgconn.send_flush_request()
    local.pgconn.flush()
    found = [pipelined_value(local.pgconn)]
    source.execute("UPDATE item SET v = -3 WHERE id = 3")
    local.pgconn.send_query_params(LOOKUP, [b"3"])
    local.pgconn.pipeline_sync()
    found.append(pipelined_value(local.pgconn))
    assert local.pgconn.get_result() is not None
    local.pgconn.exit_pipeline_mode()
    return found


def test_in_read_committed_the_first_execute_is_autocommit(
    local: Connection, source: Connection
) -> None:
    before = scans(local)
    assert read_twice_before_a_sync(local, source) == [b"3", b"-3"]
    assert scans(local) - before == 1


def test_in_repeatable_read_executes_before_one_sync_share_a_snapshot(
    local: Connection, source: Connection
) -> None:
    local.execute("SET default_transaction_isolation = 'repeatable read'")
    before = scans(local)
    assert read_twice_before_a_sync(local, source) == [b"3", b"3"]
    assert scans(local) == before


def test_of_executes_sent_together_the_first_is_autocommit(local: Connection) -> None:
    before = scans(local)
    local.pgconn.enter_pipeline_mode()
    for number in (b"6", b"7", b"8"):
        local.pgconn.send_query_params(LOOKUP, [number])
    local.pgconn.pipeline_sync()
    for number in (b"6", b"7", b"8"):
        assert pipelined_value(local.pgconn) == number
    assert local.pgconn.get_result() is not None
    local.pgconn.exit_pipeline_mode()
    assert scans(local) - before == 1


def test_a_transaction_is_no_autocommit(local: Connection) -> None:
    before = scans(local)
    with local.transaction():
        assert value(local.pgconn.exec_params(LOOKUP, [b"3"])) == b"3"
    assert scans(local) == before
