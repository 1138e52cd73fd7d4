"""The load tables of the published experiment, and what its statements must return of them.

`t50k` has rows of nine texts of 99 characters, `t10m` of nine shorter ones. A table says in its
comment how it was made, so that one that is as it should be is left alone.
"""

import shutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tollfree.errors import FileError
from tollfree.suites.interface.expected import Expected

DBNAME = "iftest"
ROWS_OF_T50K = 50_000
ROWS_PER_SCALE = 1_000_000
"""Of t10m: the published experiment's ten million at scale 10."""

WIDE = (99,) * 9
NARROW = (14, 57, 15, 15, 57, 15, 15, 57, 15)
"""Lengths of the texts of a row."""


BYTES_OF_ROW = 900
"""Of either table, with its log for a while."""
BYTES_PRINTED = 300
"""Of a row of t10m in the file that it is printed to."""


@dataclass(frozen=True)
class LoadTable:
    """One of the two tables."""

    name: str
    rows: int
    widths: tuple[int, ...]

    @property
    def comment(self) -> str:
        """What tells a table that is as it should be."""
        return f"tollfree: {self.rows} rows of {', '.join(map(str, self.widths))} characters"


def load_tables(scale: int) -> tuple[LoadTable, LoadTable]:
    """Return the tables at a scale."""
    return (
        LoadTable("t50k", ROWS_OF_T50K, WIDE),
        LoadTable("t10m", scale * ROWS_PER_SCALE, NARROW),
    )


def is_loaded(connection: psycopg.Connection[tuple[object, ...]], table: LoadTable) -> bool:
    """Return whether a table is there as it should be."""
    found = connection.execute(
        "SELECT obj_description(to_regclass(%s), 'pg_class')", (table.name,)
    ).fetchone()
    return found == (table.comment,)


def require_room(folder: Path, table: LoadTable, *, loaded: bool) -> None:
    """Raise `FileError` when a table, unless it is loaded, and what is printed of it do not fit."""
    needed = table.rows * (BYTES_PRINTED + (0 if loaded else BYTES_OF_ROW))
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise FileError(
            f"the disk of {folder} has {free / 1e9:.1f} GB free; {table.name} and what is printed"
            f" of it need about {needed / 1e9:.1f} GB",
            "Free space there, name a folder on another disk with TOLLFREE_HOME, or leave its cases"
            " out with --only.",
        )


def load(connection: psycopg.Connection[tuple[object, ...]], table: LoadTable) -> None:
    """Recreate a table, whole or not at all."""
    name = sql.Identifier(table.name)
    columns = [sql.Identifier(f"x{n}") for n in range(1, len(table.widths) + 1)]
    texts = (
        sql.Literal(f"{n}{'abc'[(n - 1) % 3] * (width - 1)}")
        for n, width in enumerate(table.widths, start=1)
    )
    with connection.transaction():
        for statement in (
            sql.SQL("DROP TABLE IF EXISTS {}").format(name),
            sql.SQL("CREATE TABLE {} (id int, {})").format(
                name, sql.SQL(", ").join(sql.SQL("{} text").format(x) for x in columns)
            ),
            sql.SQL("INSERT INTO {} SELECT id, {} FROM generate_series(1, {}) AS t (id)").format(
                name, sql.SQL(", ").join(texts), sql.Literal(table.rows)
            ),
            sql.SQL("ALTER TABLE {} ADD PRIMARY KEY (id)").format(name),
        ):
            connection.execute(statement)
    connection.execute(sql.SQL("VACUUM (FREEZE, ANALYZE) {}").format(name))
    connection.execute("CHECKPOINT")
    # By this it is known as whole.
    connection.execute(
        sql.SQL("COMMENT ON TABLE {} IS {}").format(name, sql.Literal(table.comment))
    )


def expected(connection: psycopg.Connection[tuple[object, ...]], statement: str) -> Expected:
    """Return what a client must get of a statement, as the server's own COPY writes it.

    Rows, bytes and checksum are those of clients/CONTRACT.md.
    """
    rows = bytes_ = checksum = 0
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY ({statement}) TO STDOUT".encode()) as copy,
    ):
        for line in _lines(bytes(block) for block in copy):
            rows += 1
            bytes_ += len(line)
            checksum += zlib.crc32(line)
    return Expected(statement, rows, bytes_, f"{checksum % 2**32:08x}")


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the rows of a COPY, whose blocks end where they like."""
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        yield from (line + b"\n" for line in whole)
