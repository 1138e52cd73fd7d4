"""A session that changes nothing: each transaction is rolled back, and has limits on time and on
waits for locks. It is READ ONLY, but for what is made in it first where that was allowed.

A query that the server refuses is reported as unknown; only a lost connection is an error. SQL
that comes from the user is sent by the extended protocol, which takes one statement only, so that
no COMMIT can come in by it. It has the user's search_path. The command's own SQL finds names in
pg_catalog alone, and so no function that somebody has made elsewhere.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from tollfree.check.model import Unknown
from tollfree.errors import EnvironmentLacksError

CONNECT_LIMIT_S = 10
"""Where neither the connection string nor libpq's environment has another one."""
LOCK_LIMIT_MS = 1000
OWN_PATH = "pg_catalog, pg_temp"
MARK = b"\n/* tollfree check */"
"""What statements end with, so that pg_stat_statements tells them from the user's: it leaves out
comments in front."""

Row = dict[str, Any]


class Session:
    """A connection to the user's server, and the queries that it refused."""

    def __init__(self, connection: psycopg.Connection[Row], statement_limit_s: int) -> None:
        self.unknown: list[Unknown] = []
        self._connection = connection
        self._statement_limit_ms = statement_limit_s * 1000

    @property
    def info(self) -> psycopg.ConnectionInfo:
        """What the server said of itself when the connection was made."""
        return self._connection.info

    @contextmanager
    def answering(self, what: str) -> Iterator[None]:
        """Run the body in a read-only transaction, rolled back in the end; if the server refuses
        something in it, `what` is not known."""
        try:
            with self._transaction():
                yield
        except psycopg.Error as error:
            self._note(what, error)
        except UnicodeDecodeError:
            self.not_known(what, "a text in the answer is not in UTF-8")

    @contextmanager
    def trying(self, what: str) -> Iterator[None]:
        """As `answering`, but the body may write, until it calls `freeze`."""
        self._connection.read_only = False
        try:
            with self.answering(what):
                yield
        finally:
            if not self._connection.closed:
                self._connection.read_only = True

    def freeze(self) -> None:
        """Make the present transaction READ ONLY; nothing in it can take that back."""
        self._connection.execute("SET TRANSACTION READ ONLY")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._connection.transaction(force_rollback=True):
            self._connection.execute(
                "SELECT pg_catalog.set_config('statement_timeout', %s, true),"
                " pg_catalog.set_config('lock_timeout', %s, true),"
                " pg_catalog.set_config('search_path', %s, true)",
                (str(self._statement_limit_ms), str(LOCK_LIMIT_MS), OWN_PATH),
            )
            yield

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Run the body in a subtransaction, which an error rolls back."""
        with self._connection.transaction():
            yield

    def _note(self, what: str, error: psycopg.Error) -> None:
        if self._connection.closed:
            raise EnvironmentLacksError(
                f"the server ended the connection while it was asked for {what}",
                "See the server's log, then try again.",
                detail=str(error).strip(),
            ) from error
        self.not_known(what, reason(error))

    def not_known(self, what: str, why: str) -> None:
        """Note a question without an answer."""
        self.unknown.append(Unknown(what, why))

    def run(
        self, query: LiteralString | bytes | sql.SQL | sql.Composed, *values: object
    ) -> list[Row]:
        """Execute a statement of ours in the present transaction; return its rows."""
        if isinstance(query, sql.Composable):
            text = query.as_bytes(self._connection)
        else:
            text = query if isinstance(query, bytes) else query.encode()
        cursor = self._connection.execute(text + MARK, values or None)
        return cursor.fetchall() if cursor.description else []

    def run_given(self, command: str, query: str) -> list[Row]:
        """Execute `command` with SQL of the user's behind it: one statement, or none. Its names are
        found as in the user's own sessions."""
        text = f"{command} {query.strip().rstrip(';')}".encode()
        self.run("SET LOCAL search_path TO DEFAULT")
        cursor = self._connection.execute(text + MARK, binary=True)
        rows = cursor.fetchall() if cursor.description else []
        # An error rolls the setting back.
        self.run(f"SET LOCAL search_path TO {OWN_PATH}".encode())
        return rows

    def ask(self, what: str, file: str, *values: object) -> list[Row]:
        """Return the rows of the query in a file of this folder, none if the server refuses."""
        rows: list[Row] = []
        with self.answering(what):
            rows += self.query(file, *values)
        return rows

    def query(self, file: str, *values: object) -> list[Row]:
        """Execute a file of this folder in the present transaction; return its rows."""
        return self.run(files(__package__).joinpath(file).read_bytes(), *values)


def reason(error: psycopg.Error) -> str:
    """Return what an error says, and what helps, on one line."""
    remedy = "--timeout allows more" if isinstance(error, psycopg.errors.QueryCanceled) else ""
    parts = (error.diag.message_primary or str(error), error.diag.message_detail, remedy)
    return " ".join(": ".join(filter(None, parts)).split())


def _settings(dsn: str) -> dict[str, Any]:
    """Return how to connect: a connection string, or the name of a database as psql takes it.

    All is sent and read in UTF-8, whatever the encoding of the database is.
    """
    is_name = dsn != "" and "=" not in dsn and "://" not in dsn
    given: dict[str, Any] = {"dbname": dsn} if is_name else conninfo_to_dict(dsn)
    settings: dict[str, Any] = {"fallback_application_name": "tollfree check"}
    if not os.environ.keys() & {"PGCONNECT_TIMEOUT", "PGSERVICE"} and "service" not in given:
        settings["connect_timeout"] = CONNECT_LIMIT_S
    return settings | given | {"client_encoding": "UTF8"}


@contextmanager
def connected(dsn: str, statement_limit_s: int) -> Iterator[Session]:
    """Yield a session with the server that a connection string names."""
    try:
        connection = psycopg.Connection[Row].connect(
            **_settings(dsn), autocommit=True, row_factory=dict_row
        )
    except psycopg.Error as error:
        raise EnvironmentLacksError(
            "cannot connect to the server to check",
            "Give a connection string as psql takes it, such as"
            " 'host=db.example dbname=shop user=me'.",
            detail=str(error).strip(),
        ) from error
    with connection:
        connection.read_only = True
        connection.prepare_threshold = None
        yield Session(connection, statement_limit_s)
