"""The rows of sampled tables as text files, and the foreign tables on these.

The server writes a file from its table, so both have the same rows in the same order. Files are
kept from run to run; foreign tables are recreated.
"""

import shutil
from pathlib import Path

from psycopg import sql

from tollfree.errors import FileError
from tollfree.suites.base import Bench
from tollfree.suites.foreign import Connection, options_clause

BYTES_PER_ROW = 200
COLUMNS = sql.SQL("(id int8, uniform int, skewed int, clustered int, filler text)")


def path_of(bench: Bench, table: str) -> Path:
    """Return where the file of a table is, or will be."""
    return bench.lab.folder / "sampling" / f"rows_{table}.txt"


def remove_files(bench: Bench) -> None:
    """Remove all files: their tables are recreated."""
    shutil.rmtree(path_of(bench, "any").parent, ignore_errors=True)


def make_file(bench: Bench, connection: Connection, table: str) -> None:
    """Write the file of a table unless it is there; what is there is whole."""
    path = path_of(bench, table)
    if path.exists():
        return
    bench.lab.user.make_folder(path.parent)
    unfinished = path.with_suffix(".new")
    connection.execute(
        sql.SQL("COPY {} TO {}").format(
            sql.Identifier(f"rows_{table}"), sql.Literal(str(unfinished))
        )
    )
    try:
        unfinished.rename(path)
    except OSError as error:
        raise FileError(
            f"cannot write {path}: {error.strerror}",
            "Make its folder writable, then run the suite again.",
        ) from error


def make_file_tables(bench: Bench, connection: Connection, tables: list[str]) -> None:
    """Make the foreign tables of every wrapper of files, in place of older ones."""
    wrappers = bench.store.rows("sampling_file_wrappers")
    for wrapper in (sql.Identifier(row["wrapper"]) for row in wrappers):
        for statement in (
            "DROP EXTENSION IF EXISTS {0} CASCADE",
            "CREATE EXTENSION {0} CASCADE",
            "CREATE SERVER {0} FOREIGN DATA WRAPPER {0}",
        ):
            connection.execute(sql.SQL(statement).format(wrapper))
    for row in bench.store.rows("sampling_file_tables", table_name=tables):
        connection.execute(
            sql.SQL("CREATE FOREIGN TABLE {} {} SERVER {} {}").format(
                sql.Identifier(row["relation"]),
                COLUMNS,
                sql.Identifier(row["wrapper"]),
                options_clause({"filename": str(path_of(bench, row["table_name"]))}),
            )
        )
