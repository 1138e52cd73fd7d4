"""A pooler between the two servers that hands server connections around.

PgBouncer in transaction mode gives a session another server connection for each transaction. What
a session has prepared is then missing, or was prepared by another session under the same name.
"""

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg
import pytest
from conftest import OUR_WRAPPER
from psycopg import sql

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.ports import reserved_ports
from tollfree.suites.foreign import options_clause, recreate_database

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="pgbouncer is not installed"),
]

Connection = psycopg.Connection[tuple[object, ...]]

DATABASE = "pooled"
SESSIONS = 5
SERVER_CONNECTIONS = 2
"""Fewer than sessions, so that these get one another's."""
LOOKUPS = 300
ROWS = 1000
START_LIMIT_S = 20


@dataclass(frozen=True)
class Pooled:
    """Where the foreign tables are."""

    server: Cluster
    port: int

    def options(self) -> dict[str, str]:
        """Return the options of a server behind the pooler. Without the last one libpq of 19 asks
        for a protocol that PgBouncer 1.18 refuses."""
        options = {
            "host": str(self.server.socket_folder),
            "port": str(self.port),
            "dbname": DATABASE,
        }
        if self.server.stage.installation.major >= 19:
            options["max_protocol_version"] = "3.0"
        return options


@contextmanager
def pooler(server: Cluster) -> Iterator[int]:
    """Run PgBouncer in transaction mode in front of a server; yield its port."""
    folder = server.socket_folder / "pooler"
    server.user.make_folder(folder)
    password = server.password_file.read_text("utf-8").strip()
    with reserved_ports(1) as (port,):
        settings = {
            "listen_port": port,
            "unix_socket_dir": server.socket_folder,
            "auth_type": "any",
            "pool_mode": "transaction",
            "default_pool_size": SERVER_CONNECTIONS,
            "pidfile": folder / "pid",
            "logfile": folder / "log",
        }
        lines = [
            "[databases]",
            f"{DATABASE} = host={server.socket_folder} port={server.port} dbname={DATABASE}"
            f" user={SUPERUSER} password={password}",
            "[pgbouncer]",
            *(f"{name} = {value}" for name, value in settings.items()),
        ]
        file = os.open(folder / "ini", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        server.user.own(folder / "ini")
        program = shutil.which("pgbouncer")
        assert program is not None
        done = server.user.run([program, "--daemon", str(folder / "ini")], timeout_s=START_LIMIT_S)
        assert done.returncode == 0, done.stderr
        until = time.monotonic() + START_LIMIT_S
        while not (server.socket_folder / f".s.PGSQL.{port}").exists():
            assert time.monotonic() < until, (folder / "log").read_text("utf-8")
            time.sleep(0.05)
    try:
        yield port
    finally:
        os.kill(int((folder / "pid").read_text("ascii")), signal.SIGTERM)
        while (folder / "pid").exists():
            time.sleep(0.05)


@pytest.fixture
def pooled(pg_instance: Cluster) -> Iterator[Pooled]:
    """A database whose foreign tables are its own tables, behind the pooler."""
    with pg_instance.connect() as connection:
        recreate_database(connection, DATABASE)
    with pooler(pg_instance) as port:
        found = Pooled(pg_instance, port)
        with pg_instance.connect(DATABASE) as connection:
            connection.execute(f"CREATE EXTENSION {OUR_WRAPPER} CASCADE")
            connection.execute(
                sql.SQL("CREATE SERVER pooler FOREIGN DATA WRAPPER {} {}").format(
                    sql.Identifier(OUR_WRAPPER), options_clause(found.options())
                )
            )
            connection.execute(
                sql.SQL("CREATE USER MAPPING FOR {} SERVER pooler {}").format(
                    sql.Identifier(SUPERUSER), options_clause({"user": SUPERUSER, "password": "x"})
                )
            )
            for name, value in (("plain", "i"), ("double", "2 * i")):
                connection.execute(
                    f"CREATE TABLE {name} AS SELECT i AS id, {value} AS v"
                    f" FROM generate_series(1, {ROWS}) i"
                )
                connection.execute(f"ALTER TABLE {name} ADD PRIMARY KEY (id)")
                connection.execute(
                    f"CREATE FOREIGN TABLE far_{name} (id int, v int) SERVER pooler"
                    f" OPTIONS (table_name '{name}')"
                )
        yield found


def look_up(session: Connection, draw: random.Random) -> bool:
    """Look a row up, alone or with another one in a transaction; return whether all is right."""
    key = draw.randint(1, ROWS)
    expected = {"plain": key, "double": 2 * key}
    tables = draw.choice((("plain",), ("double",), ("double", "plain")))
    with session.transaction() if len(tables) > 1 else ExitStack():
        return all(
            session.execute(f"SELECT v FROM far_{table} WHERE id = {key}").fetchall()
            == [(expected[table],)]
            for table in tables
        )


@pytest.mark.parametrize("kept", ["100", "0"])
def test_no_session_gets_the_rows_of_another_ones_statement(pooled: Pooled, kept: str) -> None:
    draw = random.Random(1)
    with ExitStack() as stack:
        owner = stack.enter_context(pooled.server.connect(DATABASE))
        owner.execute(f"ALTER SERVER pooler OPTIONS (ADD statement_cache_size '{kept}')")
        sessions = [stack.enter_context(pooled.server.connect(DATABASE)) for _ in range(SESSIONS)]
        right = [look_up(draw.choice(sessions), draw) for _ in range(LOOKUPS)]
        assert all(right), f"{right.count(False)} of {LOOKUPS} lookups are wrong"


def test_what_a_failed_write_has_prepared_may_be_another_connections(pooled: Pooled) -> None:
    """Without kept statements, as the runbook has it for such a pooler."""
    with ExitStack() as stack:
        owner = stack.enter_context(pooled.server.connect(DATABASE))
        owner.execute("ALTER SERVER pooler OPTIONS (ADD statement_cache_size '0')")
        writer, other = (stack.enter_context(pooled.server.connect(DATABASE)) for _ in range(2))
        assert writer.execute("SELECT v FROM far_plain WHERE id = 1").fetchone() == (1,)
        for key in range(ROWS + 1, ROWS + 20):
            with pytest.raises(psycopg.errors.UniqueViolation):
                writer.execute(
                    f"INSERT INTO far_plain VALUES ({key}, 1), ({key + 100}, 1), (1, 1), (2, 2)"
                )
            with other.transaction():
                other.execute("SELECT v FROM far_plain WHERE id = 1")
                assert writer.execute("SELECT v FROM far_plain WHERE id = 2").fetchone() == (2,)
