"""Makes one schema a candidate and engine, with TPC-H's tables on or beside the text.

A schema's comment says from what it was made, and is written when it is complete. Tables are
loaded through stock file_fdw, whose schema is always made first.
"""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tollfree.suites.citus import distribute
from tollfree.suites.file.data import GROWING, TextFiles, TpchTable

LOADER = "file_fdw"
TEXT_OPTIONS = {"format": "text", "delimiter": "|"}
LINE_END = sql.SQL(", line_end text")
"""The column behind the delimiter that ends each line."""


@dataclass(frozen=True)
class Schema:
    """One schema that cases need."""

    schema: str
    kind: str
    """heap, foreign or citus."""
    extension: str | None
    blocks: int
    grows: bool = False
    """Is the text of one table appended to?"""


class SchemaMaker:
    """Makes schemas in one database. Owns nothing: the connection is the caller's."""

    def __init__(
        self,
        connection: psycopg.Connection[tuple[object, ...]],
        tables: Sequence[TpchTable],
        files: TextFiles,
    ) -> None:
        self._connection = connection
        self._tables = tables
        self._files = files

    def is_made(self, schema: Schema) -> bool:
        """Return whether the schema is there and whole."""
        found = self._connection.execute(
            "SELECT obj_description(to_regnamespace(%s), 'pg_namespace')", (schema.schema,)
        ).fetchone()
        return found == (self._mark(schema),)

    def make(self, schema: Schema) -> None:
        """Recreate the schema, analysed. Its comment, which marks it as complete, is written
        last."""
        name = sql.Identifier(schema.schema)
        with self._connection.transaction():
            self._execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))
            self._execute(sql.SQL("CREATE SCHEMA {}").format(name))
            self._execute(sql.SQL("SET LOCAL search_path = {}, public").format(name))
            for table in self._tables:
                self._make_table(schema, table)
            if schema.kind == "citus":
                self._distribute()
        verb = sql.SQL("ANALYZE" if schema.kind == "foreign" else "VACUUM (ANALYZE, FREEZE)")
        for table in self._tables:
            self._execute(sql.SQL("{} {}").format(verb, sql.Identifier(schema.schema, table.name)))
        mark = sql.Literal(self._mark(schema))
        self._execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(name, mark))

    def _mark(self, schema: Schema) -> str:
        made_from = repr((schema, self._tables, self._files))
        return f"made from {hashlib.sha256(made_from.encode()).hexdigest()[:12]}"

    def _make_table(self, schema: Schema, table: TpchTable) -> None:
        name = sql.Identifier(table.name)
        columns: sql.SQL | sql.Composed = sql.SQL(table.columns)
        is_divided = schema.blocks > 1 and table.block_key is not None and schema.kind != "citus"
        if schema.kind == "foreign":
            columns += LINE_END
        if is_divided:
            self._make_blocks(schema, table, columns)
        elif schema.kind == "foreign":
            self._execute(
                sql.SQL("CREATE FOREIGN TABLE {} ({}) {}").format(
                    name, columns, self._on_text(schema, table)
                )
            )
        else:
            self._execute(sql.SQL("CREATE TABLE {} ({})").format(name, columns))
        if schema.kind == "heap":
            self._load(table)

    def _on_text(self, schema: Schema, table: TpchTable) -> sql.Composed:
        if schema.grows and table.name == GROWING:
            return _on_file(schema, self._files.growing(table.name), append_only="true")
        return _on_file(schema, self._files.whole(table.name))

    def _make_blocks(
        self, schema: Schema, table: TpchTable, columns: sql.SQL | sql.Composed
    ) -> None:
        self._execute(
            sql.SQL("CREATE TABLE {} ({}) PARTITION BY RANGE ({})").format(
                sql.Identifier(table.name), columns, sql.Identifier(str(table.block_key))
            )
        )
        files = self._files.in_blocks(table.name)
        bounds = zip(files, block_bounds(self._files, table), strict=True)
        for number, (file, bound) in enumerate(bounds, 1):
            is_foreign = schema.kind == "foreign"
            self._execute(
                sql.SQL("CREATE {} {} PARTITION OF {} {} {}").format(
                    sql.SQL("FOREIGN TABLE" if is_foreign else "TABLE"),
                    sql.Identifier(f"{table.name}_{number}"),
                    sql.Identifier(table.name),
                    bound,
                    _on_file(schema, file) if is_foreign else sql.SQL(""),
                )
            )

    def _load(self, table: TpchTable) -> None:
        columns = sql.SQL(", ").join(map(sql.Identifier, table.column_names))
        self._execute(
            sql.SQL("INSERT INTO {} SELECT {} FROM {}").format(
                sql.Identifier(table.name), columns, sql.Identifier(LOADER, table.name)
            )
        )

    def _distribute(self) -> None:
        """Give the large tables to Citus as one shard a block, and the small ones whole."""
        for table in self._tables:
            distribute(self._connection, table.name, table.block_key, self._files.blocks)
            self._load(table)

    def _execute(self, statement: sql.SQL | sql.Composed) -> None:
        self._connection.execute(statement)


def make_wrapper(connection: psycopg.Connection[tuple[object, ...]], wrapper: str) -> None:
    """Make the extension of a foreign-data wrapper and its one server, of the same name."""
    for statement in (
        "CREATE EXTENSION IF NOT EXISTS {0} SCHEMA public CASCADE",
        "CREATE SERVER IF NOT EXISTS {0} FOREIGN DATA WRAPPER {0}",
    ):
        connection.execute(sql.SQL(statement).format(sql.Identifier(wrapper)))


def _on_file(schema: Schema, file: Path, **more: str) -> sql.Composed:
    options = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.Literal(value))
        for name, value in {"filename": str(file), **TEXT_OPTIONS, **more}.items()
    )
    server = sql.Identifier(str(schema.extension))
    return sql.SQL("SERVER {} OPTIONS ({})").format(server, options)


def block_bounds(files: TextFiles, table: TpchTable) -> list[sql.Composed]:
    """Return the FOR VALUES of the partitions that are a large table's blocks."""
    keys = [sql.Literal(files.first_key(table.name, n)) for n in range(1, files.blocks)]
    bounds = [sql.SQL("MINVALUE"), *keys, sql.SQL("MAXVALUE")]
    return [
        sql.SQL("FOR VALUES FROM ({}) TO ({})").format(first, end)
        for first, end in itertools.pairwise(bounds)
    ]
