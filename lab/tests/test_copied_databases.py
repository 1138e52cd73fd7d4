"""A database with servers of ours, dumped and restored, upgraded, and on replicas of both kinds.

`test_pg_upgrade.py` has pg_upgrade, `test_oracle_worlds.py` a standby as the remote server.
"""

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from conftest import OUR_FILE_WRAPPER, OUR_WRAPPER
from oracle.servers import allow_replication, follow

from tollfree.cluster import NO_PORT, SUPERUSER, Cluster
from tollfree.ports import reserved_ports
from tollfree.privileges import ServerUser
from tollfree.stage import Stage
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

LOCAL, REMOTE, RESTORED, SUBSCRIBER = "local", "remote", "restored", "subscriber"
LIMIT_S = 120.0
ROWS = 1000
NEXT = "9999.0.0"
"""A version that comes after every other, for a script that does nothing."""
REMOTE_OBJECTS = f"""
    CREATE TABLE items (id int PRIMARY KEY, v text);
    INSERT INTO items SELECT i, 'item ' || i FROM generate_series(1, {ROWS}) i;
    CREATE TABLE audit (id int);
"""
OBJECTS = f"""
    CREATE EXTENSION {OUR_WRAPPER} CASCADE;
    CREATE EXTENSION {OUR_FILE_WRAPPER} CASCADE;
    CREATE SERVER stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({{place}});
    CREATE USER MAPPING FOR CURRENT_USER SERVER stock OPTIONS (user '{SUPERUSER}');
    CREATE FOREIGN TABLE stock_items (id int, v text) SERVER stock OPTIONS (table_name 'items');
    CREATE SERVER ours FOREIGN DATA WRAPPER {OUR_WRAPPER}
        OPTIONS ({{place}}, batched_lookups 'false', collations 'same', batch_size '50');
    CREATE USER MAPPING FOR CURRENT_USER SERVER ours OPTIONS (user '{SUPERUSER}');
    CREATE FOREIGN TABLE our_items (id int, v text OPTIONS (column_name 'v')) SERVER ours
        OPTIONS (table_name 'items', direct_results 'false');
    CREATE SERVER adopted FOREIGN DATA WRAPPER postgres_fdw
        OPTIONS ({{place}}, fetch_size '77', extensions 'postgres_fdw');
    CREATE USER MAPPING FOR PUBLIC SERVER adopted OPTIONS (user '{SUPERUSER}');
    CREATE FOREIGN TABLE adopted_items (id int, v text) SERVER adopted
        OPTIONS (table_name 'items', use_remote_estimate 'true');
    CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
    CREATE FOREIGN TABLE file_items (id int, v text) SERVER files
        OPTIONS (filename '{{file}}', format 'csv');
    COPY (SELECT i, 'item ' || i FROM generate_series(1, {ROWS}) i) TO '{{file}}' (FORMAT csv);
"""
MOVES: tuple[LiteralString, ...] = (
    "SELECT tollfree_postgres_fdw_adopt('adopted')",
    "SELECT tollfree_file_fdw_adopt('files')",
)
TABLES = {"our_items": "Fetch Method", "adopted_items": "Fetch Method", "file_items": "Fast Path"}
"""And what EXPLAIN says of a scan by our wrapper."""
CATALOGS: LiteralString = """
    SELECT kind, name, of, ARRAY(SELECT unnest(options) ORDER BY 1) FROM (
    SELECT 'server', srvname::text, fdwname::text, srvoptions
    FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    UNION ALL SELECT 'table', ftrelid::regclass::text, srvname::text, ftoptions
    FROM pg_foreign_table JOIN pg_foreign_server s ON s.oid = ftserver
    UNION ALL SELECT 'mapping', usename::text, srvname::text, umoptions FROM pg_user_mappings
    UNION ALL SELECT 'extension', extname::text, extversion, extconfig::text[] FROM pg_extension
    ) objects (kind, name, of, options) ORDER BY kind, name, of
"""


class Place:
    """A primary that has everything and reads from itself, and a standby of it."""

    def __init__(self, primary: Cluster, standby: Cluster) -> None:
        self.primary, self.standby = primary, standby

    def catch_up(self) -> None:
        """Wait until the standby has what the primary has."""
        with self.primary.connect() as source, self.standby.connect() as copy:
            position = source.execute("SELECT pg_current_wal_lsn()").fetchone()
            question = "SELECT pg_last_wal_replay_lsn() >= %s"
            _wait(lambda: copy.execute(question, position).fetchone(), (True,))


def _wait(ask: Any, wanted: object) -> None:
    deadline = time.monotonic() + LIMIT_S
    while (answer := ask()) != wanted:
        assert time.monotonic() < deadline, f"{answer!r}, not {wanted!r}"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def place(stage: Stage, home: Path, user: ServerUser) -> Iterator[Place]:
    """The primary with its databases, and its standby, running."""
    folder = home / "copied"
    settings = {"wal_level": "logical"}
    primary = Cluster(
        "copied", home / "copied-data", folder, NO_PORT, stage, user, settings=settings
    )
    primary.make(secrets.token_urlsafe(12))
    allow_replication(primary)
    with ExitStack() as stack:
        with reserved_ports(1) as ports:
            primary = replace(primary, port=ports[0])
            stack.callback(primary.stop)
            primary.start()
        _fill(primary)
        standby = follow(primary, folder)
        with reserved_ports(1, taken=ports) as (port,):
            standby = replace(standby, port=port)
            stack.callback(standby.stop)
            standby.start()
        yield Place(primary, standby)


def _fill(primary: Cluster) -> None:
    with primary.connect() as connection:
        for name in (LOCAL, REMOTE):
            recreate_database(connection, name)
    with primary.connect(REMOTE) as connection:
        connection.execute(REMOTE_OBJECTS)
    host, port = primary.socket_folder, primary.port
    options = f"host '{host}', port '{port}', dbname '{REMOTE}'"
    with primary.connect(LOCAL) as connection:
        objects = OBJECTS.format(place=options, file=primary.folder / "items.csv")
        connection.execute(objects.encode())
        for move in MOVES:
            connection.execute(move)


def _is_ours(connection: psycopg.Connection[Any]) -> None:
    """Read each table of ours, by our wrappers."""
    for table, said in TABLES.items():
        query = f"SELECT count(*), max(v) FROM {table} WHERE id > 0"
        assert connection.execute(query.encode()).fetchone() == (ROWS, f"item {ROWS - 1}"), table
        plan = connection.execute(f"EXPLAIN (VERBOSE) SELECT id, v FROM {table}".encode())
        assert any(said in line for (line,) in plan.fetchall()), table


def _run(cluster: Cluster, program: str, database: str, *options: str | Path) -> None:
    """Run a program of PostgreSQL's on a database, as the servers' user, who may connect."""
    cluster.user.run_script(
        'program=$1; shift; exec "$program" "$@" >&2',
        cluster.stage.installation.bindir / program,
        f"--dbname={cluster.conninfo(database)}",
        *options,
        timeout_s=LIMIT_S,
    )


def test_a_dump_restores_servers_options_and_what_was_adopted(place: Place) -> None:
    with place.primary.connect() as connection:
        recreate_database(connection, RESTORED)
    dump = place.primary.folder / "dump.sql"
    _run(place.primary, "pg_dump", LOCAL, f"--file={dump}")
    restore = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={dump}")
    _run(place.primary, "psql", RESTORED, *restore)
    with place.primary.connect(LOCAL) as first, place.primary.connect(RESTORED) as second:
        assert second.execute(CATALOGS).fetchall() == first.execute(CATALOGS).fetchall()
        _is_ours(second)
        second.execute("SELECT tollfree_postgres_fdw_release('adopted')")
        second.execute("SELECT tollfree_file_fdw_release('files')")
        assert second.execute("SELECT count(*) FROM adopted_items").fetchone() == (ROWS,)
        assert second.execute("SELECT count(*) FROM file_items").fetchone() == (ROWS,)


@pytest.mark.parametrize("server", ["ours", "adopted"])
def test_a_dump_has_the_rows_of_a_server_if_asked_for(place: Place, server: str) -> None:
    dump = place.primary.folder / f"{server}.sql"
    words = ("--data-only", f"--include-foreign-data={server}", f"--file={dump}")
    _run(place.primary, "pg_dump", LOCAL, *words)
    lines = dump.read_text(encoding="utf-8").splitlines()
    assert set(lines) >= {f"{number}\titem {number}" for number in range(1, ROWS + 1)}


@pytest.mark.parametrize("wrapper", [OUR_WRAPPER, OUR_FILE_WRAPPER])
def test_an_update_keeps_servers_and_a_downgrade_is_refused(
    place: Place, wrapper: str, stage: Stage
) -> None:
    with place.primary.connect(LOCAL) as connection:
        before = connection.execute(CATALOGS).fetchall()
        (now,) = _one(connection, "SELECT extversion FROM pg_extension WHERE extname = %s", wrapper)
        with _an_update(stage, wrapper, str(now)):
            connection.execute(f"ALTER EXTENSION {wrapper} UPDATE TO '{NEXT}'".encode())
            _is_ours(connection)
            with pytest.raises(psycopg.Error) as refused:
                connection.execute(f"ALTER EXTENSION {wrapper} UPDATE TO '{now}'".encode())
        said = f'extension "{wrapper}" has no update path from version "{NEXT}" to version "{now}"'
        assert refused.value.diag.message_primary == said
        assert connection.execute(CATALOGS).fetchall() == [
            (kind, name, NEXT if (kind, name) == ("extension", wrapper) else of, options)
            for kind, name, of, options in before
        ]
        connection.execute(
            "UPDATE pg_extension SET extversion = %s WHERE extname = %s", (now, wrapper)
        )


def _one(connection: psycopg.Connection[Any], query: LiteralString, *values: str) -> Any:
    return connection.execute(query, values).fetchone()


@contextmanager
def _an_update(stage: Stage, wrapper: str, version: str) -> Iterator[None]:
    """Have a script that brings a version of the extension to the next."""
    script = stage.sharedir / "extension" / f"{wrapper}--{version}--{NEXT}.sql"
    script.write_text("-- nothing\n", encoding="utf-8")
    script.chmod(0o644)
    try:
        yield
    finally:
        script.unlink()


def test_a_standby_reads_as_the_primary_does(place: Place) -> None:
    place.catch_up()
    with place.standby.connect(LOCAL) as connection:
        _is_ours(connection)
        _is_ours(connection)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO {} VALUES (0, 'x')",
        "UPDATE {} SET v = 'x' WHERE id = 1",
        "DELETE FROM {} WHERE id = 1",
        "TRUNCATE {}",
        "SELECT * FROM {} WHERE id = 1 FOR UPDATE",
        "SELECT count(*) FROM {}",
    ],
)
def test_a_standby_refuses_what_it_refuses_with_stock(place: Place, statement: str) -> None:
    place.catch_up()
    with place.standby.connect(LOCAL) as connection:
        assert _answer(connection, statement.format("our_items")) == _answer(
            connection, statement.format("stock_items")
        )
    with place.primary.connect(REMOTE) as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (ROWS,)


def _answer(connection: psycopg.Connection[Any], statement: str) -> object:
    try:
        return connection.execute(statement.encode()).fetchall()
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary


@pytest.mark.parametrize("move", MOVES)
def test_no_server_is_moved_on_a_standby(place: Place, move: LiteralString) -> None:
    place.catch_up()
    with (
        place.standby.connect(LOCAL) as connection,
        pytest.raises(psycopg.errors.Error, match=r"recovery|read-only"),
    ):
        connection.execute(move)


WRITES: tuple[LiteralString, ...] = (
    "INSERT INTO our_items SELECT i, 'new' FROM generate_series(2001, 2300) i",
    "INSERT INTO adopted_items VALUES (3000, 'one')",
    "UPDATE our_items SET v = v || ' again' WHERE id BETWEEN 2001 AND 2100",
    "DELETE FROM adopted_items WHERE id BETWEEN 2101 AND 2200",
)
SLOT = "copied"
ITEMS: LiteralString = "SELECT id, v FROM items ORDER BY id"
AUDIT: LiteralString = "SELECT count(*), count(DISTINCT id) FROM audit"
TRIGGER: LiteralString = """
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.audit VALUES (coalesce(NEW.id, OLD.id)); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON items
        FOR EACH ROW EXECUTE FUNCTION note();
    ALTER TABLE items ENABLE ALWAYS TRIGGER note;
"""
"""Executed in the worker that applies changes, which has no client."""


def test_what_is_written_reaches_a_subscriber_whose_trigger_writes_back(place: Place) -> None:
    """Rows written through our wrapper are published; the subscriber writes through it, too."""
    primary = place.primary
    with primary.connect() as connection:
        recreate_database(connection, SUBSCRIBER)
    with primary.connect(REMOTE) as remote, primary.connect(SUBSCRIBER) as subscriber:
        remote.execute("CREATE PUBLICATION copied FOR TABLE items")
        remote.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (SLOT,))
        _subscribe(subscriber, primary)
        try:
            with primary.connect(LOCAL) as local:
                for statement in WRITES:
                    local.execute(statement)
            written = remote.execute(ITEMS).fetchall()
            assert len(written) == ROWS + 201
            _wait(lambda: subscriber.execute(ITEMS).fetchall(), written)
            _wait(lambda: remote.execute(AUDIT).fetchone(), (501, 301))
        finally:
            subscriber.execute("DROP SUBSCRIPTION copied")
            remote.execute("DROP PUBLICATION copied; TRUNCATE audit")
            remote.execute("DELETE FROM items WHERE id > 2000")


def _subscribe(subscriber: psycopg.Connection[Any], primary: Cluster) -> None:
    """Copy the table as it is, then subscribe by the slot: a server that subscribes to itself
    would wait for its own transaction to make one."""
    options = f"host '{primary.socket_folder}', port '{primary.port}', dbname '{REMOTE}'"
    subscriber.execute(
        f"""
        CREATE EXTENSION {OUR_WRAPPER} CASCADE;
        CREATE SERVER back FOREIGN DATA WRAPPER {OUR_WRAPPER} OPTIONS ({options});
        CREATE USER MAPPING FOR PUBLIC SERVER back OPTIONS (user '{SUPERUSER}');
        CREATE FOREIGN TABLE audit (id int) SERVER back;
        CREATE FOREIGN TABLE source (id int, v text) SERVER back OPTIONS (table_name 'items');
        CREATE TABLE items (id int PRIMARY KEY, v text);
        INSERT INTO items SELECT * FROM source;
    """.encode()
    )
    subscriber.execute(TRIGGER)
    subscriber.execute(
        f"CREATE SUBSCRIPTION copied CONNECTION '{primary.conninfo(REMOTE)}' PUBLICATION copied"
        f" WITH (create_slot = false, slot_name = '{SLOT}', copy_data = false)".encode()
    )
