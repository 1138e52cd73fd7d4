"""Makes the sharded tables on the lab's running servers.

Which tables, servers and databases there are is in the lab's database.
"""

import re
from hashlib import sha256
from importlib.resources import files
from typing import Any

from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.suites.base import Bench
from tollfree.suites.citus import (
    COORDINATOR,
    distribute,
    make_citus_database,
    start_citus,
    why_no_citus,
)
from tollfree.suites.foreign import (
    Connection,
    analyze_foreign,
    make_extension,
    make_named_server,
    mark_database,
    mark_of_database,
    options_clause,
    recreate_database,
)
from tollfree.suites.shards.tpch import Tpch, instance_of

LOCAL = "shards_local"
SETTINGS = ("enable_partitionwise_join", "enable_partitionwise_aggregate")
"""What a sharded table needs, and is off by default."""


def prepare(bench: Bench) -> None:
    """Make what the run's cases need: the shards where they are missing, the local tables, foreign
    tables, and Citus's."""
    scale = bench.profile.scale
    bench.lab.start_others(bench.store, ("second",))
    tables = bench.store.rows("shards_tables", order="place")
    needed = bench.store.rows("shards_needed")
    for servers in sorted({row["servers"] for row in needed if row["target"] == "foreign"}):
        for n in range(servers):
            _make_shard(instance_of(bench.lab, n), tables, servers, n, scale)
    tpch = Tpch(bench) if any(row["is_tpch"] for row in needed) else None
    if tpch:
        tpch.make_shards(bench.lab)
    _make_local(bench.lab.external(), tables, scale, tpch)
    _make_foreign(bench, needed, tables, tpch)
    if not any(row["target"] == "citus" for row in needed):
        return
    if reason := why_no_citus(bench):
        for row in bench.store.rows("shards_on_citus"):
            bench.store.call("skip_candidate", row["run_id"], row["candidate"], reason)
        return
    start_citus(bench)
    for row in needed:
        if row["target"] == "citus":
            _make_on_citus(bench, row["dbname"], tables, scale, tpch if row["is_tpch"] else None)


def _make_foreign(
    bench: Bench, needed: list[dict[str, Any]], tables: list[dict[str, Any]], tpch: Tpch | None
) -> None:
    """Make the databases of foreign tables, with TPC-H's where cases ask for them."""
    external, password = bench.lab.external(), bench.lab.password()
    has_tpch = {row["dbname"]: row["is_tpch"] for row in needed}
    for row in bench.store.rows("shards_databases", order="dbname", dbname=list(has_tpch)):
        roads = _roads(bench, row["dbname"])
        _make_foreign_database(external, row, roads, tables, bench.profile.scale, password)
        if tpch and has_tpch[row["dbname"]]:
            with external.connect(row["dbname"]) as connection:
                tpch.make_front(connection, row, roads, password)


def _roads(bench: Bench, dbname: str) -> list[dict[str, Any]]:
    """Return how the servers of a database are reached: `server_host`, `server_port`, in order."""
    return [
        {"server_host": row["server_host"], "server_port": row["server_port"]}
        for row in bench.store.rows("shards_servers", dbname=dbname, order="n")
    ]


def _make_on_citus(
    bench: Bench, dbname: str, tables: list[dict[str, Any]], scale: int, tpch: Tpch | None
) -> None:
    """Make a database of Citus, unless it is there at that scale."""
    mark = f"on Citus {_mark(tables, scale)}"
    is_new = make_citus_database(bench, dbname, _roads(bench, dbname))
    with bench.lab.other(COORDINATOR).connect(dbname) as connection:
        found = connection.execute(
            "SELECT obj_description('public'::regnamespace, 'pg_namespace')"
        ).fetchone()
        if is_new or found != (mark,):
            for table in tables:
                name = sql.Identifier(table["table_name"])
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))
                _make_table(connection, table, scale, "")
                distribute(connection, table["table_name"], table["sharded_by"], None)
                connection.execute(sql.SQL("VACUUM ANALYZE {}").format(name))
        if tpch:
            tpch.make_on_citus(connection)
        connection.execute(files(__package__).joinpath("functions.sql").read_bytes())
        connection.execute(sql.SQL("COMMENT ON SCHEMA public IS {}").format(sql.Literal(mark)))


def shard_name(servers: int, n: int) -> str:
    """Return the name of the database that is one of so many servers."""
    return f"shards_{servers}_{n}"


def _make_table(connection: Connection, table: dict[str, Any], scale: int, where: str) -> None:
    """Make a table with its rows, or with those that a condition chooses."""
    name = sql.Identifier(table["table_name"])
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(name, sql.SQL(table["columns"])))
    if table["rows"]:
        # The local tables have as many rows at any scale.
        rows = table["rows"] * (scale if table["sharded_by"] else 1)
        names = sql.SQL(", ").join(map(sql.Identifier, _column_names(table)))
        connection.execute(
            sql.SQL(
                "INSERT INTO {} SELECT * FROM (SELECT {} FROM generate_series(1, {}) i) f ({}) {}"
            ).format(name, sql.SQL(table["content"]), rows, names, sql.SQL(where))
        )
    if table["key"]:
        connection.execute(
            sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(name, sql.SQL(table["key"]))
        )
    connection.execute(sql.SQL("VACUUM ANALYZE {}").format(name))


def _mark(tables: list[dict[str, Any]], scale: int) -> str:
    """Return what says how tables were made."""
    return f"{sha256(repr(tables).encode()).hexdigest()[:12]} at scale {scale}"


def _column_names(table: dict[str, Any]) -> list[str]:
    """Return the names of a table's columns; a comma within parentheses ends no definition."""
    definitions = re.split(r",(?![^(]*\))", table["columns"])
    return [definition.split()[0] for definition in definitions]


def _make_shard(
    source: Cluster, tables: list[dict[str, Any]], servers: int, n: int, scale: int
) -> None:
    """Make the database of one server anew, unless it is there at that scale."""
    name, mark = shard_name(servers, n), f"shard {_mark(tables, scale)}"
    with source.connect() as connection:
        if mark_of_database(connection, name) == mark:
            return
        recreate_database(connection, name)
    with source.connect(name) as connection:
        # PostgreSQL tells which rows are those of a partition by a partitioned table.
        connection.execute("CREATE TABLE frame (key int) PARTITION BY HASH (key)")
        for table in tables:
            if key := table["sharded_by"]:
                where = f"WHERE satisfies_hash_partition('frame'::regclass, {servers}, {n}, {key})"
                _make_table(connection, table, scale, where)
    with source.connect() as connection:
        mark_database(connection, name, mark)


def _finish(connection: Connection, dbname: str) -> None:
    """Make the functions, and have later sessions plan as the owner of shards would."""
    connection.execute(files(__package__).joinpath("functions.sql").read_bytes())
    for setting in SETTINGS:
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET {} = on").format(
                sql.Identifier(dbname), sql.Identifier(setting)
            )
        )


def _make_local(
    instance: Cluster, tables: list[dict[str, Any]], scale: int, tpch: Tpch | None
) -> None:
    """Make the database of the local tables anew, unless it is there at that scale."""
    mark = f"whole tables {_mark(tables, scale)}"
    with instance.connect() as connection:
        is_there = mark_of_database(connection, LOCAL) == mark
        if not is_there:
            recreate_database(connection, LOCAL)
    with instance.connect(LOCAL) as connection:
        if not is_there:
            for table in tables:
                _make_table(connection, table, scale, "")
        if tpch:
            tpch.make_local(connection)
        _finish(connection, LOCAL)
    with instance.connect() as connection:
        mark_database(connection, LOCAL, mark)


def _make_foreign_database(
    instance: Cluster,
    row: dict[str, Any],
    roads: list[dict[str, Any]],
    tables: list[dict[str, Any]],
    scale: int,
    password: str,
) -> None:
    """Make the servers, the local tables, and the sharded ones with a partition on each server."""
    with instance.connect() as connection:
        recreate_database(connection, row["dbname"])
    with instance.connect(row["dbname"]) as connection:
        make_extension(connection, row["wrapper"])
        for n, road in enumerate(roads):
            dbname = shard_name(row["servers"], n)
            make_named_server(connection, f"server_{n}", row | road, dbname, password)
        for table in tables:
            if table["sharded_by"]:
                _make_sharded(connection, table, row["servers"])
            else:
                _make_table(connection, table, scale, "")
        _finish(connection, row["dbname"])


def _make_sharded(connection: Connection, table: dict[str, Any], servers: int) -> None:
    name = table["table_name"]
    connection.execute(
        sql.SQL("CREATE TABLE {} ({}) PARTITION BY HASH ({})").format(
            sql.Identifier(name), sql.SQL(table["columns"]), sql.Identifier(table["sharded_by"])
        )
    )
    for n in range(servers):
        partition = sql.Identifier(f"{name}_{n}")
        connection.execute(
            sql.SQL(
                "CREATE FOREIGN TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {})"
                " SERVER {} {}"
            ).format(
                partition,
                sql.Identifier(name),
                servers,
                n,
                sql.Identifier(f"server_{n}"),
                options_clause({"table_name": name}),
            )
        )
        analyze_foreign(connection, partition)
