"""What the statements use: a remote database, and a local one of foreign tables on it.

Each wrapper has a remote database of its own, made from one template, so that neither sees what the
other has written.
"""

from dataclasses import dataclass

import psycopg

from tollfree.cluster import Cluster
from tollfree.ports import LOOPBACK
from tollfree.suites.foreign import (
    import_tables,
    make_extension,
    make_named_server,
    recreate_database,
)

Connection = psycopg.Connection[tuple[object, ...]]

STOCK, OURS = "postgres_fdw", "tollfree_postgres_fdw"
SERVERS = ("source_server", "second_server")

ROW = (
    "'kind ' || i % 10 AS kind, i % 1000 AS n, timestamptz '2024-01-01' + i * interval '1 minute'"
    " AS ts, (i / 4.0)::numeric(12, 2) AS amount, i / 7.0::float8 AS f, 'item ' || i AS v"
)
SOURCE = f"""
    CREATE TABLE item AS SELECT i AS id, {ROW} FROM generate_series(1, 300000) i;
    ALTER TABLE item ADD PRIMARY KEY (id);
    CREATE TABLE shelf AS SELECT * FROM item WHERE id <= 60000;
    ALTER TABLE shelf ADD PRIMARY KEY (id);
    CREATE INDEX ON shelf (n);
    CREATE TABLE other AS SELECT * FROM shelf;
    ALTER TABLE other ADD PRIMARY KEY (id);
    CREATE TABLE fresh AS SELECT * FROM shelf;
    ALTER TABLE fresh ADD PRIMARY KEY (id);
    CREATE TABLE big AS SELECT i AS id, i * 7 % 100003 AS k, i % 100 AS n, repeat('x', 40) AS v
        FROM generate_series(1, 100000) i;
    CREATE TABLE wide AS SELECT i AS id, repeat('x', 4000) AS a, repeat('y', 4000) AS b
        FROM generate_series(1, 2000) i;
    ALTER TABLE wide ADD PRIMARY KEY (id);
    CREATE TABLE blob (id integer, b bytea);
    ALTER TABLE blob ALTER b SET STORAGE EXTERNAL;
    INSERT INTO blob SELECT i, convert_to(repeat('0123456789abcdef', 262144), 'UTF8')
        FROM generate_series(1, 3) i;
    CREATE TABLE nothing (id integer);
    CREATE TABLE log (n integer, v text);
    CREATE TABLE tally AS SELECT i AS id, i AS n, 'item ' || i AS v
        FROM generate_series(1, 10000) i;
    ALTER TABLE tally ADD PRIMARY KEY (id);
    CREATE VIEW slow AS SELECT id, v, pg_sleep(0.001)::text AS s FROM tally WHERE id <= 400;
    CREATE TABLE unchanged AS SELECT i AS id FROM generate_series(1, 2000) i;
    CREATE VIEW failing AS SELECT id, 100 / (id - 300) AS q FROM unchanged;
    CREATE TABLE part_1 AS SELECT * FROM item WHERE id <= 20000;
    CREATE TABLE part_2 AS SELECT * FROM item WHERE id > 20000 AND id <= 40000;
    CREATE TABLE part_3 AS SELECT * FROM item WHERE id > 40000 AND id <= 60000;
    ALTER TABLE part_1 ADD PRIMARY KEY (id);
    ALTER TABLE part_2 ADD PRIMARY KEY (id);
    ALTER TABLE part_3 ADD PRIMARY KEY (id);
    VACUUM ANALYZE;
"""
"""`pick` has 1,000 keys, of which nearly all find a row.

What fails is at the same row for every statement: nothing writes to `unchanged`.
"""

IMPORTED = (
    *("item", "shelf", "other", "fresh", "big", "wide", "blob", "nothing", "log", "tally"),
    *("slow", "failing"),
)
COLUMNS = (
    "id integer, kind text, n integer, ts timestamptz, amount numeric(12, 2), f float8, v text"
)
COPIES = {
    "by_1": (COLUMNS, "item", "fetch_size '1'"),
    "by_1000": (COLUMNS, "item", "fetch_size '1000'"),
    "slow_by_1": ("id integer, v text, s text", "slow", "fetch_size '1'"),
    "failing_by_1": ("id integer, q integer", "failing", "fetch_size '1'"),
    "log_by_100": ("n integer, v text", "log", "batch_size '100'"),
    "asked": (COLUMNS, "shelf", "use_remote_estimate 'true'"),
    "asked_too": (COLUMNS, "other", "use_remote_estimate 'true'"),
}
"""Further foreign tables: their columns, the remote table, and the option they have."""
PARTITIONED = {"part": ("source_server",) * 3, "apart": (*SERVERS, "source_server")}
"""The servers of three partitions; what is on two servers is read asynchronously."""

LOCAL = """
    CREATE TABLE pick AS SELECT i * 7 AS k FROM generate_series(1, 1000) i;
    CREATE TABLE few AS SELECT i * 49 AS k FROM generate_series(1, 200) i;
    CREATE TABLE here (id integer, v text);
    CREATE FUNCTION mine(integer) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN $1 > 0; END';
    CREATE FUNCTION first_item() RETURNS text LANGUAGE sql
        AS 'SELECT v FROM item WHERE n = 7 ORDER BY id';
    ANALYZE pick, few;
    ANALYZE item, shelf, other, big, wide, blob, tally, slow, slow_by_1, by_1, by_1000, asked,
        asked_too, part, apart;
    UPDATE pg_class SET reltuples = 2000, relpages = 20 WHERE relname LIKE 'failing%';
"""


@dataclass(frozen=True)
class Place:
    """A local database of foreign tables."""

    wrapper: str
    cluster: Cluster
    dbname: str

    def connect(self) -> Connection:
        """Return a new session in it, in which each execution is planned."""
        connection = self.cluster.connect(self.dbname)
        connection.prepare_threshold = None
        return connection


def make_sources(source: Cluster, prefix: str, wrappers: tuple[str, ...] = (STOCK, OURS)) -> None:
    """Make the remote database of each wrapper."""
    template = f"{prefix}_template"
    with source.connect() as connection:
        recreate_database(connection, template)
    with source.connect(template) as connection:
        for statement in filter(str.strip, SOURCE.split(";")):
            connection.execute(statement)
    with source.connect() as connection:
        for wrapper in wrappers:
            name = f"{prefix}_remote_{wrapper}"
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        connection.execute(f"DROP DATABASE {template} WITH (FORCE)")


def make_place(local: Cluster, source: Cluster, prefix: str, wrapper: str, port: int) -> Place:
    """Make a local database whose servers are reached at a port."""
    place = Place(wrapper, local, f"{prefix}_{wrapper}")
    with local.connect() as connection:
        recreate_database(connection, place.dbname)
    row = {
        "wrapper": wrapper,
        "server_options": None,
        "server_host": LOOPBACK,
        "server_port": port,
    }
    with place.connect() as connection:
        make_extension(connection, wrapper)
        password = source.password_file.read_text("utf-8")
        for server in SERVERS:
            make_named_server(connection, server, row, f"{prefix}_remote_{wrapper}", password)
        import_tables(connection, list(IMPORTED))
        _make_tables(connection)
    return place


def copy_place(place: Place, name: str, port: int) -> Place:
    """Make a copy, with its statistics, whose servers are reached at another port."""
    copy = Place(place.wrapper, place.cluster, f"{place.dbname}_{name}")
    with place.cluster.connect() as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {copy.dbname} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {copy.dbname} TEMPLATE {place.dbname}")
    with copy.connect() as connection:
        for server in SERVERS:
            connection.execute(f"ALTER SERVER {server} OPTIONS (SET port '{port}')")
    return copy


def _make_tables(connection: Connection) -> None:
    for name, (columns, remote, _) in COPIES.items():
        connection.execute(
            f"CREATE FOREIGN TABLE {name} ({columns}) SERVER source_server"
            f" OPTIONS (table_name '{remote}')"
        )
    for name, servers in PARTITIONED.items():
        connection.execute(f"CREATE TABLE {name} ({COLUMNS}) PARTITION BY RANGE (id)")
        for n, server in enumerate(servers):
            connection.execute(
                f"CREATE FOREIGN TABLE {name}_{n + 1} PARTITION OF {name}"
                f" FOR VALUES FROM ({n * 20000 + 1}) TO ({(n + 1) * 20000 + 1}) SERVER {server}"
                f" OPTIONS (table_name 'part_{n + 1}', async_capable '{name == 'apart'}')"
            )
    # Row by row, and on PostgreSQL 15 of all rows, ANALYZE would take minutes.
    connection.execute("ALTER SERVER source_server OPTIONS (ADD fetch_size '10000')")
    connection.execute(LOCAL)
    connection.execute("ALTER SERVER source_server OPTIONS (DROP fetch_size)")
    for name, (_, _, option) in COPIES.items():
        connection.execute(f"ALTER FOREIGN TABLE {name} OPTIONS (ADD {option})")
