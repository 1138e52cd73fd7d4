"""TPC-H over several servers: each has a block of `orders` and of `lineitem`, by the order's key.

Every server has its blocks as tables, and as foreign tables on the text itself, by each wrapper of
files. Foreign tables that are partitions reach these; the small tables lie beside them, once as
tables and once as text. A schema holds the tables of one kind, here and on the servers.
"""

from typing import Any

from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.lab import Lab
from tollfree.suites.base import Bench
from tollfree.suites.file.data import (
    BlockFiles,
    TpchTable,
    make_text,
    tpch_tables,
)
from tollfree.suites.file.schemas import (
    LOADER,
    Schema,
    SchemaMaker,
    block_bounds,
    make_wrapper,
)
from tollfree.suites.foreign import (
    Connection,
    analyze_foreign,
    make_named_server,
    options_clause,
)

SCALE = 10
"""In hundredths of TPC-H's scale factor, for each unit of the suite's."""

HEAP = Schema("heap", "heap", None, 1)
FILE_WRAPPERS = {"postgres_fdw": LOADER, "tollfree_postgres_fdw": "tollfree_file_fdw"}
"""Which wrapper of files is behind and beside a wrapper of servers."""


class Tpch:
    """TPC-H's tables at the scale of a run, and the databases that they are made in."""

    def __init__(self, bench: Bench) -> None:
        """Make the text unless it is there."""
        self._tables = tpch_tables(bench.store)
        self._files = make_text(bench, self._tables, SCALE * bench.profile.scale)
        self._large = [table for table in self._tables if table.block_key]
        self._small = [table for table in self._tables if not table.block_key]

    def make_shards(self, lab: Lab) -> None:
        """Make the databases that are the servers, each with its block, where they are missing."""
        for n in range(self._files.blocks):
            instance = instance_of(lab, n)
            instance.make_database(_shard_name(n))
            with instance.connect(_shard_name(n)) as connection:
                files = BlockFiles(self._files.folder, self._files.blocks, n)
                maker = SchemaMaker(connection, self._large, files)
                for wrapper in FILE_WRAPPERS.values():
                    _make_text_schema(maker, connection, wrapper)
                _make_missing(maker, HEAP)

    def make_local(self, connection: Connection) -> None:
        """Make all tables in one database, unless they are there."""
        maker = SchemaMaker(connection, self._tables, self._files)
        _make_text_schema(maker, connection, LOADER)
        _make_missing(maker, HEAP)

    def make_on_citus(self, connection: Connection) -> None:
        """Give all tables to Citus, the large ones in blocks, unless they are there."""
        maker = SchemaMaker(connection, self._tables, self._files)
        _make_text_schema(maker, connection, LOADER)
        _make_missing(maker, Schema(HEAP.schema, "citus", None, self._files.blocks))

    def make_front(
        self,
        connection: Connection,
        row: dict[str, Any],
        roads: list[dict[str, Any]],
        password: str,
    ) -> None:
        """Make the small tables, and the large ones with a partition on each server.

        `row` says which wrapper reaches the servers, `roads` where each is.
        """
        maker = SchemaMaker(connection, self._small, self._files)
        of_files = FILE_WRAPPERS[row["wrapper"]]
        for wrapper in dict.fromkeys((LOADER, of_files)):
            _make_text_schema(maker, connection, wrapper)
        _make_missing(maker, HEAP)
        for n, road in enumerate(roads):
            make_named_server(connection, _shard_name(n), row | road, _shard_name(n), password)
        for schema in (HEAP.schema, of_files):
            for table in self._large:
                self._make_partitioned(connection, schema, table)

    def _make_partitioned(self, connection: Connection, schema: str, table: TpchTable) -> None:
        name = sql.Identifier(schema, table.name)
        connection.execute(
            sql.SQL("CREATE TABLE {} ({}) PARTITION BY RANGE ({})").format(
                name, sql.SQL(table.columns), sql.Identifier(str(table.block_key))
            )
        )
        for n, bound in enumerate(block_bounds(self._files, table)):
            partition = sql.Identifier(schema, f"{table.name}_{n}")
            connection.execute(
                sql.SQL("CREATE FOREIGN TABLE {} PARTITION OF {} {} SERVER {} {}").format(
                    partition,
                    name,
                    bound,
                    sql.Identifier(_shard_name(n)),
                    options_clause({"schema_name": schema, "table_name": table.name}),
                )
            )
            analyze_foreign(connection, partition)


def instance_of(lab: Lab, n: int) -> Cluster:
    """Return the cluster that server n, from 0 on, is a database of."""
    return lab.source() if n % 2 == 0 else lab.other("second")


def _shard_name(n: int) -> str:
    """Return the name of the database that is one of the servers, and of the server."""
    return f"shards_tpch_{n}"


def _make_text_schema(maker: SchemaMaker, connection: Connection, wrapper: str) -> None:
    make_wrapper(connection, wrapper)
    _make_missing(maker, Schema(wrapper, "foreign", wrapper, 1))


def _make_missing(maker: SchemaMaker, schema: Schema) -> None:
    if not maker.is_made(schema):
        maker.make(schema)
