"""A pooler between the two servers that hands server connections around.

PgBouncer in transaction mode gives a session another server connection for each transaction. What
a session has prepared or set is then missing, or was prepared or set by another session.
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
def pooler(server: Cluster, mode: str) -> Iterator[int]:
    """Run PgBouncer in a mode in front of a server; yield its port."""
    folder = server.socket_folder / "pooler"
    server.user.make_folder(folder)
    password = server.password_file.read_text("utf-8").strip()
    with reserved_ports(1) as (port,):
        settings = {
            "listen_port": port,
            "unix_socket_dir": server.socket_folder,
            "auth_type": "any",
            "pool_mode": mode,
            "default_pool_size": SERVER_CONNECTIONS if mode == "transaction" else SESSIONS,
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


@pytest.fixture(params=["transaction"])
def pooled(pg_instance: Cluster, request: pytest.FixtureRequest) -> Iterator[Pooled]:
    """A database whose foreign tables are its own tables, behind the pooler."""
    with pg_instance.connect() as connection:
        recreate_database(connection, DATABASE)
    with pooler(pg_instance, request.param) as port:
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


VALUES = """
    CREATE TABLE val (id int PRIMARY KEY, at timestamptz, day date, span interval, x float8,
        word text)
"""
FILLED = """
    INSERT INTO val SELECT i, '2024-03-04 05:06:07+00'::timestamptz + i * interval '1 hour',
        date '2024-03-04' + i, make_interval(months => 14, days => i, secs => 7.5),
        1 / (i + 0.1)::float8, 'w' || i
    FROM generate_series(1, 500) i
"""
OTHER_SETTINGS = (
    "SET search_path = nowhere",
    "SET datestyle = 'German, DMY'",
    "SET timezone = 'Asia/Kolkata'",
    "SET intervalstyle = sql_standard",
    "SET extra_float_digits = -9",
)
FAR_VALUES = "id int, at timestamptz, day date, span interval, x float8, word text"


def make_values(owner: Connection) -> None:
    """Make a table whose values are printed in many ways, and its foreign tables."""
    owner.execute(VALUES)
    owner.execute(FILLED)
    for name, options in (("far_val", ""), ("far_val_by_cursor", ", fetch_size '50'")):
        owner.execute(
            f"CREATE FOREIGN TABLE {name} ({FAR_VALUES}) SERVER pooler"
            f" OPTIONS (table_name 'val'{options})"
        )
    owner.execute("ALTER FOREIGN TABLE far_val_by_cursor OPTIONS (ADD direct_results 'false')")


@contextmanager
def clients(pooled: Pooled) -> Iterator[list[Connection]]:
    """Clients of the pooler that are no foreign data wrapper, one for each server connection."""
    password = pooled.server.password_file.read_text("utf-8").strip()
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                psycopg.connect(
                    host=str(pooled.server.socket_folder),
                    port=pooled.port,
                    dbname=DATABASE,
                    user=SUPERUSER,
                    password=password,
                    autocommit=True,
                    prepare_threshold=None,
                )
            )
            for _ in range(SERVER_CONNECTIONS)
        ]


def on_each(found: list[Connection], command: str) -> list[object]:
    """Execute a command on each server connection; return the first values of the answers."""
    values: list[object] = []
    with ExitStack() as stack:
        for client in found:
            stack.enter_context(client.transaction())
            client.execute("SELECT 1")
        for client in found:
            answer = client.execute(command)
            values += [row[0] for row in answer.fetchall()] if answer.description else []
    return values


def difference(session: Connection, table: str) -> object:
    """Return how many rows of a foreign table are not those of the local one."""
    row = session.execute(
        f"SELECT count(*) FROM (TABLE val EXCEPT ALL SELECT * FROM {table}) d"
    ).fetchone()
    assert row is not None
    return row[0]


def test_values_are_right_whatever_others_have_set(pooled: Pooled) -> None:
    with ExitStack() as stack:
        owner = stack.enter_context(pooled.server.connect(DATABASE))
        make_values(owner)
        found = stack.enter_context(clients(pooled))
        sessions = [stack.enter_context(pooled.server.connect(DATABASE)) for _ in range(2)]
        for _ in range(3):
            for setting in OTHER_SETTINGS:
                on_each(found, setting)
            for session in sessions:
                assert difference(session, "far_val") == 0
                assert difference(session, "far_val_by_cursor") == 0
                key = "SELECT x::text || at || span || day FROM {} WHERE id = 7"
                assert (
                    session.execute(key.format("far_val")).fetchone()
                    == session.execute(key.format("val")).fetchone()
                )


def test_nothing_is_left_on_a_server_connection(pooled: Pooled) -> None:
    with ExitStack() as stack:
        owner = stack.enter_context(pooled.server.connect(DATABASE))
        make_values(owner)
        found = stack.enter_context(clients(pooled))
        names = ("search_path", "intervalstyle", "extra_float_digits", "timezone", "datestyle")
        before = {name: on_each(found, f"SHOW {name}") for name in names}
        session = stack.enter_context(pooled.server.connect(DATABASE))
        write(session)
        with pytest.raises(psycopg.errors.UniqueViolation):
            session.execute(
                "INSERT INTO far_val SELECT i, now(), now() FROM generate_series(1, 9) i"
            )
        assert {name: on_each(found, f"SHOW {name}") for name in names} == before
        assert on_each(found, "SELECT name FROM pg_prepared_statements") == []
        assert on_each(found, "SELECT name FROM pg_cursors WHERE name <> ''") == []


def write(session: Connection) -> None:
    """Write rows in the ways that a session has for them, some behind savepoints."""
    session.execute(
        "INSERT INTO far_val SELECT i, now(), now(), '1 day', i, 'n'"
        " FROM generate_series(1001, 1300) i"
    )
    with session.transaction():
        session.execute("INSERT INTO far_val (id, word) VALUES (2001, 'a'), (2002, 'b')")
        with pytest.raises(psycopg.errors.UniqueViolation), session.transaction():
            session.execute("INSERT INTO far_val (id) SELECT generate_series(2003, 1999, -1)")
        session.execute("UPDATE far_val SET word = word || random()::int WHERE id BETWEEN 1 AND 20")
        session.execute("DELETE FROM far_val WHERE id BETWEEN 1201 AND 1300 AND random() >= 0")
        session.execute("UPDATE far_val SET word = 'same' WHERE id = 3")


def test_writes_and_savepoints(pooled: Pooled) -> None:
    with ExitStack() as stack:
        owner = stack.enter_context(pooled.server.connect(DATABASE))
        make_values(owner)
        found = stack.enter_context(clients(pooled))
        for setting in OTHER_SETTINGS:
            on_each(found, setting)
        for table in ("val", "far_val"):
            session = stack.enter_context(pooled.server.connect(DATABASE))
            write(session)
            assert difference(session, "far_val") == 0
            kept = owner.execute(
                "SELECT count(*), count(*) FILTER (WHERE id > 2000), max(at) IS NOT NULL FROM val"
            ).fetchone()
            assert kept == (702, 2, True), table
            assert owner.execute("SELECT word FROM val WHERE id = 3").fetchone() == ("same",)
            owner.execute("DELETE FROM val WHERE id > 500")


@pytest.mark.parametrize("pooled", ["session"], indirect=True)
@pytest.mark.parametrize(("pool_mode", "is_kept"), [("", False), ("session", True)])
def test_statements_are_kept_in_session_mode_if_the_option_says_so(
    pooled: Pooled, pool_mode: str, is_kept: bool
) -> None:
    with ExitStack() as stack:
        owner = stack.enter_context(pooled.server.connect(DATABASE))
        if pool_mode:
            owner.execute(f"ALTER SERVER pooler OPTIONS (ADD pool_mode '{pool_mode}')")
        session = stack.enter_context(pooled.server.connect(DATABASE))
        for key in range(1, 20):
            query = f"SELECT v FROM far_double WHERE id = {key}"
            assert session.execute(query).fetchone() == (2 * key,)
        counted = session.execute(
            "SELECT statement_hits FROM pg_stat_tollfree_postgres_fdw WHERE server_name = 'pooler'"
        ).fetchone()
        assert counted is not None and (counted[0] != 0) is is_kept
