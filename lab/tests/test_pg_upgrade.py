"""pg_upgrade from the newest older major version that is here, or else from the same one: servers
that were adopted go on.

From PostgreSQL 19 on a subscription can connect to one, when the wrapper has been given the
function for that, which pg_upgrade does not do.
"""

import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.ports import reserved_ports
from tollfree.postgres import Installation, other_installations
from tollfree.privileges import ServerUser
from tollfree.stage import Stage, make_stage

pytestmark = pytest.mark.cluster

KEEPS_SUBSCRIPTIONS = 17
"""The first version that pg_upgrade takes subscriptions from with what they have received."""
SERVES_SUBSCRIPTIONS = 19
HAS_CHECKSUMS = 18
"""The first version whose initdb turns checksums on."""
PROGRAMS = (
    *("pg_checksums", "pg_controldata", "pg_ctl", "pg_dump", "pg_dumpall", "pg_resetwal"),
    *("pg_restore", "pg_upgrade", "psql", "vacuumdb"),
)
"""Copied, since those among them that look for others do so where a link points to."""
VERSIONS_OF_COLUMNS = b"pg_attver"
LIMIT_S = 300.0
UPGRADE = """
    cd "$1"
    "$3/pg_upgrade" --old-bindir="$2" --new-bindir="$3" --old-datadir="$4" \
        --new-datadir="$5" --old-port="$6" --new-port="$6" --socketdir="$1" --username="$7" >&2 || {
        tail -n 20 "$5"/pg_upgrade_output.d/*/log/pg_upgrade_dump_*.log >&2
        exit 1
    }
"""
GIVE = (
    "ALTER FOREIGN DATA WRAPPER tollfree_postgres_fdw CONNECTION tollfree_postgres_fdw_connection"
)


def make(name: str, stage: Stage, home: Path, port: int, user: ServerUser) -> Cluster:
    """Run initdb for a server, with a socket in its own folder."""
    user.make_folder(home / "upgrade")
    folder = home / "upgrade" / name
    cluster = Cluster(name, folder, folder, port, stage, user, settings={"wal_level": "logical"})
    cluster.make(secrets.token_urlsafe(12))
    return cluster


def with_programs(stage: Stage) -> Stage:
    """Return a stage that has pg_upgrade and what it calls."""
    for name in PROGRAMS:
        shutil.copy(stage.installation.bindir / name, stage.bindir / name)
    return stage


def upgrade(old: Cluster, new: Cluster) -> None:
    """Bring the data of a stopped server to another, also stopped."""
    user = new.user
    if old.stage.installation.major < HAS_CHECKSUMS <= new.stage.installation.major:
        program = new.stage.bindir / "pg_checksums"
        user.run_script('"$1" --disable -D "$2" >&2', program, new.data, timeout_s=LIMIT_S)
    user.run_script(
        UPGRADE,
        *(new.socket_folder, old.stage.bindir, new.stage.bindir, old.data, new.data),
        *(str(new.port), SUPERUSER),
        timeout_s=LIMIT_S,
    )


def can_upgrade(old: Installation, new: Installation) -> bool:
    """Return whether the newer server takes what pg_dump writes of the older.

    Some minor releases write versions of columns, as 15.20 does, which earlier ones of any
    major version refuse: it takes a later one of the newer major version.
    """
    versioned = [
        VERSIONS_OF_COLUMNS in (one.bindir / "postgres").read_bytes() for one in (old, new)
    ]
    return versioned != [True, False]


@pytest.fixture
def older(installation: Installation) -> Installation:
    """The newest older major version that can be upgraded, or this one: pg_upgrade takes both."""
    found = [
        one
        for one in other_installations(installation.major)
        if one.major < installation.major and can_upgrade(one, installation)
    ]
    if not found and installation.major >= SERVES_SUBSCRIPTIONS:
        pytest.skip(f"no PostgreSQL is here that {installation.version} could upgrade")
    return found[0] if found else installation


@pytest.fixture
def publisher(stage: Stage, home: Path, user: ServerUser) -> Iterator[Cluster]:
    """A running server with a table that it publishes."""
    with reserved_ports(1) as (port,):
        cluster = make("publisher", stage, home, port, user)
        cluster.start()
    try:
        with cluster.connect() as connection:
            connection.execute("CREATE TABLE goods (id int PRIMARY KEY)")
            connection.execute("INSERT INTO goods VALUES (1)")
            connection.execute("CREATE PUBLICATION goods FOR TABLE goods")
        yield cluster
    finally:
        cluster.stop()


def prepare(old: Cluster, publisher: Cluster) -> None:
    """Adopt a server, in a running server that is to be upgraded, and subscribe."""
    place = f"host={publisher.socket_folder} port={publisher.port} dbname=postgres"
    host, port = publisher.socket_folder, publisher.port
    with old.connect() as connection:
        connection.execute(f"""
            CREATE EXTENSION tollfree_postgres_fdw CASCADE;
            CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw
                OPTIONS (host '{host}', port '{port}', dbname 'postgres');
            CREATE USER MAPPING FOR {SUPERUSER} SERVER far;
            CREATE FOREIGN TABLE far_goods (id int) SERVER far OPTIONS (table_name 'goods');
            CREATE TABLE goods (id int PRIMARY KEY)
        """)
        connection.execute("SELECT tollfree_postgres_fdw_adopt('far')")
        connection.execute(f"""
            CREATE EXTENSION tollfree_file_fdw CASCADE;
            COPY (VALUES (1), (2)) TO '{old.socket_folder}/goods.csv' (FORMAT csv);
            CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
            CREATE FOREIGN TABLE file_goods (id int) SERVER files
                OPTIONS (filename '{old.socket_folder}/goods.csv', format 'csv')
        """)
        connection.execute("SELECT tollfree_file_fdw_adopt('files')")
        assert connection.execute("SELECT id FROM far_goods").fetchall() == [(1,)]
        if old.stage.installation.major >= KEEPS_SUBSCRIPTIONS:
            connection.execute(f"CREATE SUBSCRIPTION goods CONNECTION '{place}' PUBLICATION goods")
            wait_for(connection, 1)


def wait_for(connection: psycopg.Connection[tuple[object, ...]], goods: int) -> None:
    """Wait until a subscription has brought so many rows and copied what there was."""
    deadline = time.monotonic() + LIMIT_S
    query = """
        SELECT (SELECT count(*) FROM goods),
            (SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r')
    """
    while (seen := connection.execute(query).fetchone()) != (goods, 0):
        assert time.monotonic() < deadline, f"rows, tables not ready: {seen}"
        time.sleep(0.1)


def replicates(
    connection: psycopg.Connection[tuple[object, ...]], publisher: Cluster, goods: int
) -> None:
    """Publish one row more, so that there are so many, and wait for it."""
    with publisher.connect() as remote:
        remote.execute("INSERT INTO goods VALUES (%s)", (goods,))
    wait_for(connection, goods)
    assert connection.execute("SELECT count(*) FROM far_goods").fetchone() == (goods,)


def check_files(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Read a file after the upgrade, through either wrapper."""
    explained = connection.execute("EXPLAIN SELECT id FROM file_goods").fetchall()
    assert any("Fast Path" in str(line) for (line,) in explained)
    assert connection.execute("SELECT sum(id) FROM file_goods").fetchone() == (3,)
    connection.execute("SELECT tollfree_file_fdw_release('files')")
    assert connection.execute("SELECT sum(id) FROM file_goods").fetchone() == (3,)


def test_adopted_servers_and_subscriptions(
    older: Installation, stage: Stage, home: Path, user: ServerUser, publisher: Cluster
) -> None:
    """An adopted server stays adopted, and a subscription can be switched over to it."""
    with reserved_ports(1) as (port,):
        old = make("old", with_programs(make_stage(older, home, user)), home, port, user)
        new = make("new", with_programs(stage), home, port, user)
        old.start()
        try:
            prepare(old, publisher)
        finally:
            old.stop()
        upgrade(old, new)
        new.start()
    try:
        with new.connect() as connection:
            check(connection, publisher, older.major, stage.installation.major)
            check_files(connection)
    finally:
        new.stop()


def check(
    connection: psycopg.Connection[tuple[object, ...]], publisher: Cluster, old: int, new: int
) -> None:
    """Use the server after the upgrade, through either wrapper, and have rows replicated."""
    explained = connection.execute("EXPLAIN VERBOSE SELECT id FROM far_goods").fetchall()
    assert any("Fetch Method" in str(line) for (line,) in explained)
    assert connection.execute("SELECT id FROM far_goods").fetchall() == [(1,)]
    subscribes = old >= KEEPS_SUBSCRIPTIONS
    if subscribes:
        replicates(connection, publisher, 2)
    if subscribes and new >= SERVES_SUBSCRIPTIONS:
        with pytest.raises(psycopg.Error, match="does not support subscription connections"):
            connection.execute("ALTER SUBSCRIPTION goods SERVER far")
        connection.execute(GIVE)
        connection.execute("ALTER SUBSCRIPTION goods SERVER far")
        replicates(connection, publisher, 3)
        with pytest.raises(psycopg.Error, match="could not connect to server") as refused:
            connection.execute("SELECT tollfree_postgres_fdw_release('far')")
        assert "ALTER EXTENSION postgres_fdw UPDATE;" in str(refused.value.diag.message_hint)
        connection.execute("ALTER EXTENSION postgres_fdw UPDATE")
    connection.execute("SELECT tollfree_postgres_fdw_release('far')")
    assert connection.execute("SELECT min(id) FROM far_goods").fetchone() == (1,)
    if subscribes:
        replicates(connection, publisher, 4 if new >= SERVES_SUBSCRIPTIONS else 3)
        connection.execute("DROP SUBSCRIPTION goods")
