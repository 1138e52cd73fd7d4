"""The servers of a soak: a local one, and two remote ones behind a link each.

`World` owns them until its context ends. Three foreign servers lead to the remote ones: `one` and
`two`, whose options change, and `moved`, which goes from one wrapper to the other. What the tables
`item` and `part` hold never changes and is computed here; the other tables are the workers'.
"""

import itertools
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from tollfree.cluster import NO_PORT, Cluster
from tollfree.link import Link
from tollfree.ports import LOOPBACK, reserved_ports
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

Connection = psycopg.Connection[tuple[object, ...]]

WRAPPER = "tollfree_postgres_fdw"
STOCK = "postgres_fdw"
DATABASE = "soak"
REMOTES = ("one", "two")
SERVERS = {"one": "one", "two": "two", "moved": "one"}
"""The foreign servers, and the remote server that each leads to."""
ROLES = ("soak_a", "soak_b")
"""The remote users of the mappings, in turn."""
HOG = "soak_hog"
"""The remote user that takes all connections, but those that are kept for superusers."""
RTT_US = 200
ACCOUNTS = 50
BALANCE = 1000
ITEMS = 2000
HALF = ITEMS // 2
SHAPE_ROWS = 20
"""Of the remote table whose column a worker drops and adds again."""
STATEMENTS_KEPT = 20
"""How many statements a connection may keep prepared: fewer than there are."""
CONNECT_LIMIT_S = 20

LOCAL_SETTINGS = {"max_connections": "60"}
REMOTE_SETTINGS = {"max_connections": "40"}

SERVER_OPTIONS = {
    "fetch_size": ("100", "7", "1000"),
    "batch_size": ("1", "10", "60"),
    "use_remote_estimate": ("false", "true"),
    "async_capable": ("true", "false"),
    "parallel_commit": ("false", "true"),
    "keep_connections": ("on", "off"),
    "compatibility": ("tollfree", "stock"),
    "remote_isolation": ("repeatable read", "read committed"),
    "statement_cache_size": ("10000", "5", "0"),
    "direct_results": ("true", "false"),
    "binary_results": ("true", "false"),
    "constants_as_parameters": ("true", "false"),
    "batched_lookups": ("true", "false"),
    "partial_aggregates": ("true", "false"),
    "remote_limits": ("true", "false"),
    "autocommit_scans": ("true", "false"),
    "pipelined_writes": ("true", "false"),
    "insert_arrays": ("true", "false"),
    "unawaited_commit": ("true", "false"),
}
"""The options that change, the value to begin with first."""

REMOTE_ROLES = """
    CREATE ROLE soak_a LOGIN PASSWORD '{password}';
    CREATE ROLE soak_b LOGIN PASSWORD '{password}';
    CREATE ROLE soak_hog LOGIN;
"""
# No unique key but of tables where a doubled row would be an error of its own: it is to be found.
REMOTE_TABLES = """
    CREATE TABLE account (id integer PRIMARY KEY, balance bigint NOT NULL, start bigint NOT NULL);
    INSERT INTO account SELECT i, {balance}, {balance} FROM generate_series(1, {accounts}) i;
    CREATE TABLE ledger (transfer bigint NOT NULL, account integer NOT NULL, delta bigint NOT NULL);
    CREATE TABLE counter (worker integer PRIMARY KEY, n bigint NOT NULL);
    INSERT INTO counter SELECT i, 0 FROM generate_series(1, {workers}) i;
    CREATE TABLE bulk (batch bigint NOT NULL, n integer NOT NULL, v text NOT NULL);
    CREATE TABLE item AS SELECT i AS id, i * 7 % 1000 AS n, 'item ' || i AS v
        FROM generate_series(1, {items}) i;
    ALTER TABLE item ADD PRIMARY KEY (id);
    CREATE TABLE part AS SELECT * FROM item WHERE id BETWEEN {first} AND {last};
    ALTER TABLE part ADD PRIMARY KEY (id);
"""
REMOTE_SHAPE = """
    CREATE TABLE shape_{worker} (id integer PRIMARY KEY, a integer, b integer);
    INSERT INTO shape_{worker} SELECT i, i * 3, 0 FROM generate_series(1, {rows}) i;
"""
REMOTE_RIGHTS = """
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO soak_a, soak_b;
    ANALYZE;
"""
LOCAL_TABLES = """
    CREATE USER MAPPING FOR postgres SERVER {name}
        OPTIONS (user 'soak_a', password '{password}');
    CREATE FOREIGN TABLE account_{name} (id integer, balance bigint) SERVER {name}
        OPTIONS (table_name 'account');
    CREATE FOREIGN TABLE ledger_{name} (transfer bigint, account integer, delta bigint)
        SERVER {name} OPTIONS (table_name 'ledger');
    CREATE FOREIGN TABLE counter_{name} (worker integer, n bigint) SERVER {name}
        OPTIONS (table_name 'counter');
    CREATE FOREIGN TABLE bulk_{name} (batch bigint, n integer, v text) SERVER {name}
        OPTIONS (table_name 'bulk');
    CREATE FOREIGN TABLE item_{name} (id integer, n integer, v text) SERVER {name}
        OPTIONS (table_name 'item');
    CREATE FOREIGN TABLE prepared_{name} (name text) SERVER {name}
        OPTIONS (schema_name 'pg_catalog', table_name 'pg_prepared_statements');
    CREATE FUNCTION guarded_{name}(before bigint, lost bigint, later bigint, key integer)
        RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO ledger_{name} VALUES (before, 0, 0);
        BEGIN
            INSERT INTO ledger_{name} VALUES (lost, 0, 0);
            INSERT INTO counter_{name} VALUES (key, 0);
            RAISE 'the remote server has taken a key twice';
        EXCEPTION WHEN unique_violation THEN
            NULL;
        END;
        INSERT INTO ledger_{name} VALUES (later, 0, 0);
    END $$;
"""
LOCAL_SHAPE = """
    CREATE FOREIGN TABLE shape_{worker} (id integer, a integer, b integer) SERVER {name};
"""
LOCAL_OTHERS = """
    CREATE TABLE part (id integer, n integer, v text) PARTITION BY RANGE (id);
    CREATE FOREIGN TABLE part_one PARTITION OF part FOR VALUES FROM (1) TO ({half} + 1)
        SERVER one OPTIONS (table_name 'part');
    CREATE FOREIGN TABLE part_two PARTITION OF part FOR VALUES FROM ({half} + 1) TO ({items} + 1)
        SERVER two OPTIONS (table_name 'part');
    CREATE TABLE pick AS SELECT i * 5 AS k FROM generate_series(1, {items} / 5) i;
    ANALYZE pick;
"""


class CannotConnectError(psycopg.OperationalError):
    """A server has refused a connection, or there is none."""


def item_n(number: int) -> int:
    """Return the column `n` of an item."""
    return number * 7 % 1000


SUMS = tuple(itertools.accumulate(map(item_n, range(ITEMS + 1))))
"""The sum of `n` of the items up to each number."""


def shape_server(worker: int) -> str:
    """Return the remote server that has the table whose column a worker drops."""
    return REMOTES[worker % len(REMOTES)]


@dataclass
class World:
    """The running servers of a soak, and their links."""

    local: Cluster
    remotes: dict[str, Cluster]
    links: dict[str, Link]
    workers: int
    """How many workers there are rows and tables for; their numbers begin with 1."""
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    """Of transfers and batches; no number is given twice."""
    definitions: threading.Lock = field(default_factory=threading.Lock)
    """Held by who changes servers and mappings: PostgreSQL refuses two at the same time."""
    changed: dict[str, str] = field(default_factory=dict)
    """The option of each server that has another value than at first."""

    def session(self, title: str) -> Connection:
        """Return a new local session of that application_name."""
        return _connect(make_conninfo(self.local.conninfo(DATABASE), application_name=title))

    def remote(self, name: str, user: str = "") -> Connection:
        """Return a new session on a remote server that goes over no link; a superuser's if no
        user is named."""
        conninfo = self.remotes[name].conninfo(DATABASE)
        return _connect(make_conninfo(conninfo, user=user) if user else conninfo)

    def monitor(self, name: str) -> Connection:
        """Return a superuser's session on a remote server that runs; wait for a place if others
        have taken those that are kept for superusers."""
        deadline = time.monotonic() + CONNECT_LIMIT_S
        while True:
            try:
                return self.remote(name)
            except CannotConnectError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


def _connect(conninfo: str) -> Connection:
    """Connect; raises `CannotConnectError`."""
    try:
        return psycopg.connect(
            make_conninfo(conninfo, connect_timeout=CONNECT_LIMIT_S), autocommit=True
        )
    except psycopg.OperationalError as error:
        raise CannotConnectError(str(error)) from error


@contextmanager
def started_world(stage: Stage, user: ServerUser, folder: Path, workers: int) -> Iterator[World]:
    """Start the servers and links, whose files are in a folder of that user's; stop them in the
    end."""
    password = secrets.token_urlsafe(12)
    with ExitStack() as stack:
        made = {name: _made(name, folder, stage, user, password) for name in ("local", *REMOTES)}
        # Whoever chooses ports keeps all others waiting: not while data are made.
        with reserved_ports(len(made) + len(REMOTES)) as ports:
            free = iter(ports)
            clusters = {name: replace(one, port=next(free)) for name, one in made.items()}
            for cluster in clusters.values():
                stack.callback(cluster.stop)
                cluster.start()
            links = {}
            for name in REMOTES:
                links[name] = _link(name, next(free), clusters[name])
                stack.callback(links[name].stop)
                links[name].start()
        local = clusters.pop("local")
        world = World(local, clusters, links, workers)
        _make_remote_objects(world, password)
        _make_local_objects(world, password)
        yield world


def _made(name: str, folder: Path, stage: Stage, user: ServerUser, password: str) -> Cluster:
    cluster = Cluster(
        name,
        folder / name,
        folder / "run",
        NO_PORT,
        stage,
        user,
        listens=name in REMOTES,
        settings=REMOTE_SETTINGS if name in REMOTES else LOCAL_SETTINGS,
    )
    cluster.make(password)
    return cluster


def _link(name: str, port: int, server: Cluster) -> Link:
    control = server.socket_folder / f"link_{name}"
    return Link(f"soak {name}", RTT_US, port, server.port, control, server.stage, server.user, name)


def _make_remote_objects(world: World, password: str) -> None:
    for name, cluster in world.remotes.items():
        cluster.make_database(DATABASE)
        first, last = (1, HALF) if name == REMOTES[0] else (HALF + 1, ITEMS)
        with world.remote(name) as connection:
            connection.execute(REMOTE_ROLES.format(password=password))
            connection.execute(
                REMOTE_TABLES.format(
                    balance=BALANCE,
                    accounts=ACCOUNTS,
                    workers=world.workers,
                    items=ITEMS,
                    first=first,
                    last=last,
                )
            )
            for worker in range(1, world.workers + 1):
                if shape_server(worker) == name:
                    connection.execute(REMOTE_SHAPE.format(worker=worker, rows=SHAPE_ROWS))
            connection.execute(REMOTE_RIGHTS)


def _make_local_objects(world: World, password: str) -> None:
    world.local.make_database(DATABASE)
    with world.session("soak") as connection:
        connection.execute(f"CREATE EXTENSION {WRAPPER} CASCADE")
        connection.execute(
            f"ALTER DATABASE {DATABASE} SET {WRAPPER}.statement_cache_size = {STATEMENTS_KEPT}"
        )
        for name, remote in SERVERS.items():
            connection.execute(_server_object(name, world.links[remote].port))
            connection.execute(LOCAL_TABLES.format(name=name, password=password))
        for worker in range(1, world.workers + 1):
            connection.execute(LOCAL_SHAPE.format(worker=worker, name=shape_server(worker)))
        connection.execute(LOCAL_OTHERS.format(half=HALF, items=ITEMS))


def _server_object(name: str, port: int) -> str:
    """Return CREATE SERVER; what is moved has no option that the other wrapper does not know."""
    options = {
        "host": LOOPBACK,
        "port": str(port),
        "dbname": DATABASE,
        "sslmode": "disable",
        "gssencmode": "disable",
    }
    if name in REMOTES:
        options |= {option: values[0] for option, values in SERVER_OPTIONS.items()}
    listed = ", ".join(f"{option} '{value}'" for option, value in options.items())
    return f"CREATE SERVER {name} FOREIGN DATA WRAPPER {WRAPPER} OPTIONS ({listed})"
