"""What calls itself a PostgreSQL server may answer anything: that is an error, and no crash.

Whoever may create a foreign server could otherwise end all sessions of the local one.
"""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
import pytest

from tollfree.cluster import Cluster
from tollfree.ports import LOOPBACK

pytestmark = pytest.mark.cluster

DATABASE = "odd"
NO_ENCRYPTION = (80877103, 80877104)
"""Codes of requests for TLS and GSSAPI."""
CANCEL = 80877102
"""Code of a request to cancel, which is answered by the end of the connection."""
PARAMETERS = {
    "server_version": "18.0",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
}
SETUP = """
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE SERVER odd FOREIGN DATA WRAPPER tollfree_postgres_fdw
    OPTIONS (host '{host}', port '{port}', dbname 'x', sslmode 'disable', gssencmode 'disable');
CREATE USER MAPPING FOR CURRENT_USER SERVER odd OPTIONS (user 'x', password_required 'false');
CREATE FOREIGN TABLE t (n int, x numeric) SERVER odd;
CREATE FOREIGN TABLE estimated (n int, x numeric) SERVER odd
    OPTIONS (use_remote_estimate 'true');
CREATE FOREIGN TABLE batched (n int, x numeric) SERVER odd OPTIONS (batch_size '10');
CREATE TABLE l AS SELECT g AS n FROM generate_series(1, 100) AS g;
"""
STATEMENTS = (
    "SELECT * FROM t",
    "SELECT count(*) FROM t",
    "SELECT * FROM l JOIN t USING (n)",
    "SELECT (SELECT x FROM t WHERE t.n = l.n) FROM l",
    "SELECT * FROM estimated",
    "INSERT INTO t VALUES (1, 1)",
    "INSERT INTO t VALUES (1, 1) RETURNING x",
    "UPDATE t SET x = 2",
    "UPDATE t SET x = random()",
    "DELETE FROM t WHERE n = 1",
    "TRUNCATE t",
    "ANALYZE t",
    "IMPORT FOREIGN SCHEMA public FROM SERVER odd INTO public",
)


class OddServer:
    """Speaks the protocol, and answers each command in the same way."""

    def __init__(self, answer: bytes) -> None:
        """Listen on a free port."""
        self._answer = answer
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=_serve, args=(connection, self._answer), daemon=True).start()


def _message(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


NONE = struct.pack("!H", 0)
ROW = _message(b"D", NONE) + _message(b"C", b"SELECT 1\0")
"""One row without columns."""
MANY_WRITTEN = _message(b"C", b"INSERT 0 2000000000\0")
FEWER_THAN_NONE = _message(b"C", b"INSERT 0 -2000000000\0")
READY = _message(b"Z", b"I")
COLUMNS = _message(b"T", NONE)
NO_COLUMNS = _message(b"n")
"""Of a command that returns no rows."""
ANSWERS = {
    b"P": _message(b"1"),
    b"B": _message(b"2"),
    b"C": _message(b"3"),
    b"S": READY,
}


def _answer(answer: bytes, command: bytes) -> bytes:
    """Return what is said to a command: of numbers written, only to those that write."""
    word = command.split()[0]
    return answer if answer == ROW or word == b"INSERT" else _message(b"C", word + b"\0")


def _serve(connection: socket.socket, answer: bytes) -> None:
    columns = COLUMNS if answer == ROW else NO_COLUMNS
    commands: dict[bytes, bytes] = {}
    command = b"SELECT"
    # A client may leave at any time.
    with suppress(OSError), connection, connection.makefile("rb") as messages:

        def body() -> bytes:
            size = int.from_bytes(messages.read(4), "big")
            return messages.read(max(size - 4, 0))

        while (code := int.from_bytes(body()[:4], "big")) in NO_ENCRYPTION:
            connection.sendall(b"N")
        if code == CANCEL:
            return
        parameters = (
            _message(b"S", f"{name}\0{value}\0".encode()) for name, value in PARAMETERS.items()
        )
        key = _message(b"K", struct.pack("!II", 1, 1))
        connection.sendall(_message(b"R", bytes(4)) + b"".join(parameters) + key + READY)
        while kind := messages.read(1):
            text = body()
            if kind == b"D":
                describes = text[:1] == b"S"
                connection.sendall(_message(b"t", NONE) * describes + columns)
            elif kind == b"P":
                name, text, _ = text.split(b"\0", 2)
                commands[name] = text
                connection.sendall(ANSWERS[kind])
            elif kind == b"B":
                command = commands[text.split(b"\0", 2)[1]]
                connection.sendall(ANSWERS[kind])
            elif kind == b"E":
                connection.sendall(_answer(answer, command))
            elif kind == b"Q":
                connection.sendall(columns + answer + READY)
            elif kind == b"X":
                return
            else:
                connection.sendall(ANSWERS.get(kind, b""))


@contextmanager
def foreign_tables(cluster: Cluster, database: str, answer: bytes) -> Iterator[str]:
    """Make a database with foreign tables on such a server; yield how to connect to it."""
    server = OddServer(answer)
    with cluster.connect() as connection:
        connection.execute(f"CREATE DATABASE {database}".encode())
    with cluster.connect(database) as connection:
        connection.execute(SETUP.format(host=LOOPBACK, port=server.port).encode())
    yield cluster.conninfo(database)
    server.close()


@pytest.fixture(scope="module")
def database(pg_instance: Cluster) -> Iterator[str]:
    """A database with foreign tables on a server of rows without columns."""
    with foreign_tables(pg_instance, DATABASE, ROW) as conninfo:
        yield conninfo


@pytest.mark.parametrize("statement", STATEMENTS)
def test_rows_without_columns_are_an_error(database: str, statement: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SET statement_timeout = '20s'")
        with pytest.raises(psycopg.Error) as failure:
            connection.execute(statement.encode())
        assert not isinstance(failure.value, psycopg.errors.QueryCanceled)
        assert connection.execute("SELECT count(*) FROM l").fetchone() == (100,)


@pytest.mark.parametrize("answer", [MANY_WRITTEN, FEWER_THAN_NONE], ids=["many", "negative"])
def test_a_false_number_of_written_rows_reaches_no_other_memory(
    pg_instance: Cluster, answer: bytes
) -> None:
    name = f"{DATABASE}_{'many' if answer == MANY_WRITTEN else 'negative'}"
    with (
        foreign_tables(pg_instance, name, answer) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        connection.execute("SET statement_timeout = '20s'")
        backend = connection.info.backend_pid
        for pipelined in ("off", "on"):
            connection.execute(f"SET tollfree_postgres_fdw.pipelined_writes = {pipelined}".encode())
            connection.execute("INSERT INTO batched SELECT n, n FROM l")
            connection.execute("INSERT INTO t SELECT n, n FROM l")
            with connection.cursor().copy("COPY batched FROM STDIN") as copy:
                for n in range(100):
                    copy.write_row((n, n))
        assert connection.execute("SELECT pg_backend_pid()").fetchone() == (backend,)
