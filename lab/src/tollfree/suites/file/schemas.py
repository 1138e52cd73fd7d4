"""Makes one schema a candidate and engine, with TPC-H's tables on or beside the text.

A schema's comment says from what it was made, and is written when it is complete. Tables are
loaded through stock file_fdw, whose schema is always made first.
"""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

from tollfree.suites.citus import distribute
from tollfree.suites.file.data import GROWING, TextFiles, TpchTable
from tollfree.suites.file.forms import FORMED, Form, FormedFiles
from tollfree.suites.foreign import options_clause

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
    form: Form | None = field(default=None, repr=False)
    """How the records are stored of the one table that it has then; None for the text itself. Marks
    of schemas without a form do not have it."""


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
            for table in self._tables_of(schema):
                self._make_table(schema, table)
            if schema.kind == "citus":
                self._distribute()
        verb = sql.SQL("ANALYZE" if schema.kind == "foreign" else "VACUUM (ANALYZE, FREEZE)")
        for table in self._tables_of(schema):
            self._execute(sql.SQL("{} {}").format(verb, sql.Identifier(schema.schema, table.name)))
        mark = sql.Literal(self._mark(schema))
        self._execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(name, mark))

    def _mark(self, schema: Schema) -> str:
        made_from = repr((schema, self._tables, self._files))
        if schema.form:
            made_from += repr(schema.form)
        return f"made from {hashlib.sha256(made_from.encode()).hexdigest()[:12]}"

    def records(self, table: str) -> sql.Composed:
        """Return the query of a table's rows, without the column behind the end of each line."""
        (columns,) = (x.column_names for x in self._tables if x.name == table)
        return sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(LOADER, table)
        )

    def _tables_of(self, schema: Schema) -> list[TpchTable]:
        return [x for x in self._tables if schema.form is None or x.name == FORMED]

    def _make_table(self, schema: Schema, table: TpchTable) -> None:
        name = sql.Identifier(table.name)
        columns: sql.SQL | sql.Composed = sql.SQL(table.columns)
        is_divided = schema.blocks > 1 and table.block_key is not None and schema.kind != "citus"
        if schema.kind == "foreign" and not (schema.form and schema.form.copied):
            columns += LINE_END
        if schema.form:
            self._make_formed(schema, table, columns)
        elif is_divided:
            files = self._files.in_blocks(table.name)
            parts = [_on_file(schema, file) for file in files] if schema.kind == "foreign" else None
            self._make_blocks(self._files, table, columns, parts)
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

    def _make_formed(
        self, schema: Schema, table: TpchTable, columns: sql.SQL | sql.Composed
    ) -> None:
        """Make the table of a form; a partitioned one where each file is a foreign table."""
        assert schema.form is not None
        formed = FormedFiles(schema.form, self._files)
        found = formed.tables(str(schema.extension))
        places = [_on_server(schema, options) for options in found]
        if len(places) > 1:
            self._make_blocks(formed.parts, table, columns, places)
            return
        self._execute(
            sql.SQL("CREATE FOREIGN TABLE {} ({}) {}").format(
                sql.Identifier(table.name), columns, places[0]
            )
        )

    def _make_blocks(
        self,
        files: TextFiles,
        table: TpchTable,
        columns: sql.SQL | sql.Composed,
        foreign: list[sql.Composed] | None,
    ) -> None:
        """Make a table of which each block of the text is a partition; a foreign one, or a regular
        one where `foreign` does not say where it is."""
        self._execute(
            sql.SQL("CREATE TABLE {} ({}) PARTITION BY RANGE ({})").format(
                sql.Identifier(table.name), columns, sql.Identifier(str(table.block_key))
            )
        )
        places = foreign or [sql.SQL("").format()] * files.blocks
        bounds = zip(places, block_bounds(files, table), strict=True)
        for number, (place, bound) in enumerate(bounds, 1):
            self._execute(
                sql.SQL("CREATE {} {} PARTITION OF {} {} {}").format(
                    sql.SQL("FOREIGN TABLE" if foreign else "TABLE"),
                    sql.Identifier(f"{table.name}_{number}"),
                    sql.Identifier(table.name),
                    bound,
                    place,
                )
            )

    def _load(self, table: TpchTable) -> None:
        self._execute(
            sql.SQL("INSERT INTO {} {}").format(
                sql.Identifier(table.name), self.records(table.name)
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
    return _on_server(schema, {"filename": str(file), **TEXT_OPTIONS, **more})


def _on_server(schema: Schema, options: dict[str, str]) -> sql.Composed:
    server = sql.Identifier(str(schema.extension))
    return sql.SQL("SERVER {} {}").format(server, options_clause(options))


def block_bounds(files: TextFiles, table: TpchTable) -> list[sql.Composed]:
    """Return the FOR VALUES of the partitions that are a large table's blocks."""
    keys = [sql.Literal(files.first_key(table.name, n)) for n in range(1, files.blocks)]
    bounds = [sql.SQL("MINVALUE"), *keys, sql.SQL("MAXVALUE")]
    return [
        sql.SQL("FOR VALUES FROM ({}) TO ({})").format(first, end)
        for first, end in itertools.pairwise(bounds)
    ]
