"""Makes the sharded tables on the lab's running servers.

Which tables, servers and databases there are is in the lab's database.
"""

import re
from dataclasses import dataclass
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


@dataclass(frozen=True)
class _Content:
    """The suite's own tables at the scale of a run."""

    tables: list[dict[str, Any]]
    scale: int
    cleanups: list[str]
    """Statements that undo what commands have written."""

    @property
    def mark(self) -> str:
        """What says how the tables were made."""
        return f"{sha256(repr(self.tables).encode()).hexdigest()[:12]} at scale {self.scale}"

    def clean(self, connection: Connection) -> None:
        """Undo what executions that were ended have left in tables that are kept."""
        for statement in self.cleanups:
            connection.execute(statement.encode())


def prepare(bench: Bench, *, is_resumed: bool) -> None:
    """Make what the run's cases need: the shards where they are missing, the local tables with
    their answers, foreign tables, and Citus's."""
    store = bench.store
    bench.lab.start_others(store, ("second",))
    operations = store.rows("shards_operations", order="operation")
    content = _Content(
        store.rows("shards_tables", order="place"),
        bench.profile.scale,
        [row["cleanup"] for row in operations if row["cleanup"]],
    )
    needed = store.rows("shards_needed")
    for servers in sorted({row["servers"] for row in needed if row["target"] == "foreign"}):
        for n in range(servers):
            _make_shard(instance_of(bench.lab, n), content, servers, n)
    tpch = Tpch(bench) if any(row["is_tpch"] for row in needed) else None
    if tpch:
        tpch.make_shards(bench.lab)
    _make_local(bench.lab.external(), content, tpch)
    _ask(bench, is_resumed=is_resumed)
    _make_foreign(bench, needed, content, tpch)
    if not any(row["target"] == "citus" for row in needed):
        return
    if reason := why_no_citus(bench):
        for row in store.rows("shards_on_citus"):
            store.call("skip_candidate", row["run_id"], row["candidate"], reason)
        return
    start_citus(bench)
    for row in needed:
        if row["target"] == "citus":
            _make_on_citus(bench, row["dbname"], content, tpch if row["is_tpch"] else None)


def _ask(bench: Bench, *, is_resumed: bool) -> None:
    """Read the expected answers of all candidates from the local tables. A resumed run keeps its
    answers: its tables are the same."""
    with bench.lab.external().connect(LOCAL) as connection:
        for row in bench.store.rows("shards_questions", order="operation"):
            if is_resumed and row["is_answered"]:
                continue
            connection.execute(
                sql.SQL("SET search_path = {}, public").format(sql.Identifier(row["schema"]))
            )
            for statement in row["statements"]:
                connection.execute(statement.encode())
            answer = connection.execute("SELECT current_setting('shards.answer')::int8").fetchone()
            bench.store.call(
                "shards_keep_answer", row["scale"], row["operation"], answer[0] if answer else None
            )


def _make_foreign(
    bench: Bench, needed: list[dict[str, Any]], content: _Content, tpch: Tpch | None
) -> None:
    """Make the databases of foreign tables, with TPC-H's if cases need them."""
    external, password = bench.lab.external(), bench.lab.password()
    has_tpch = {row["dbname"]: row["is_tpch"] for row in needed}
    for row in bench.store.rows("shards_databases", order="dbname", dbname=list(has_tpch)):
        roads = _roads(bench, row["dbname"])
        _make_foreign_database(external, row, roads, content, password)
        if tpch and has_tpch[row["dbname"]]:
            with external.connect(row["dbname"]) as connection:
                tpch.make_front(connection, row, roads, password)


def _roads(bench: Bench, dbname: str) -> list[dict[str, Any]]:
    """Return how the servers of a database are reached: `server_host`, `server_port`, in order."""
    return [
        {"server_host": row["server_host"], "server_port": row["server_port"]}
        for row in bench.store.rows("shards_servers", dbname=dbname, order="n")
    ]


def _make_on_citus(bench: Bench, dbname: str, content: _Content, tpch: Tpch | None) -> None:
    """Make a database of Citus, unless it is there at that scale."""
    mark = f"on Citus {content.mark}"
    is_new = make_citus_database(bench, dbname, _roads(bench, dbname))
    with bench.lab.other(COORDINATOR).connect(dbname) as connection:
        found = connection.execute(
            "SELECT obj_description('public'::regnamespace, 'pg_namespace')"
        ).fetchone()
        if is_new or found != (mark,):
            for table in content.tables:
                name = sql.Identifier(table["table_name"])
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))
                _make_table(connection, table, content.scale, "")
                distribute(connection, table["table_name"], table["sharded_by"], None)
                connection.execute(sql.SQL("VACUUM ANALYZE {}").format(name))
        else:
            content.clean(connection)
        if tpch:
            tpch.make_on_citus(connection)
        connection.execute(files(__package__).joinpath("functions.sql").read_bytes())
        connection.execute(sql.SQL("COMMENT ON SCHEMA public IS {}").format(sql.Literal(mark)))


def shard_name(servers: int, n: int) -> str:
    """Return the name of the database of one of this many servers."""
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


def _column_names(table: dict[str, Any]) -> list[str]:
    """Return the names of a table's columns; a comma within parentheses ends no definition."""
    definitions = re.split(r",(?![^(]*\))", table["columns"])
    return [definition.split()[0] for definition in definitions]


def _make_shard(source: Cluster, content: _Content, servers: int, n: int) -> None:
    """Recreate the database of one server, unless it exists at that scale."""
    name, mark = shard_name(servers, n), f"shard {content.mark}"
    with source.connect() as connection:
        is_there = mark_of_database(connection, name) == mark
        if not is_there:
            recreate_database(connection, name)
    with source.connect(name) as connection:
        if is_there:
            content.clean(connection)
            return
        # PostgreSQL tells which rows are those of a partition by a partitioned table.
        connection.execute("CREATE TABLE frame (key int) PARTITION BY HASH (key)")
        for table in content.tables:
            if key := table["sharded_by"]:
                where = f"WHERE satisfies_hash_partition('frame'::regclass, {servers}, {n}, {key})"
                _make_table(connection, table, content.scale, where)
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


def _make_local(instance: Cluster, content: _Content, tpch: Tpch | None) -> None:
    """Recreate the database of the local tables, unless it exists at that scale."""
    mark = f"whole tables {content.mark}"
    with instance.connect() as connection:
        is_there = mark_of_database(connection, LOCAL) == mark
        if not is_there:
            recreate_database(connection, LOCAL)
    with instance.connect(LOCAL) as connection:
        if is_there:
            content.clean(connection)
        else:
            for table in content.tables:
                _make_table(connection, table, content.scale, "")
        if tpch:
            tpch.make_local(connection)
        _finish(connection, LOCAL)
    with instance.connect() as connection:
        mark_database(connection, LOCAL, mark)


def _make_foreign_database(
    instance: Cluster,
    row: dict[str, Any],
    roads: list[dict[str, Any]],
    content: _Content,
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
        for table in content.tables:
            if table["sharded_by"]:
                _make_sharded(connection, table, row["servers"])
            else:
                _make_table(connection, table, content.scale, "")
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
