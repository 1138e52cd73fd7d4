"""Makes the tables to be sampled, and the databases of foreign tables on them.

Which tables, views and foreign databases there are is in the lab's database; their contents are in
the SQL beside this file. The tables never change, so they are kept from run to run.
"""

import hashlib
import shutil
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.errors import FileError
from tollfree.suites.base import Bench
from tollfree.suites.foreign import (
    Connection,
    import_tables,
    make_server,
    mark_database,
    mark_of_database,
    options_clause,
    recreate_database,
)
from tollfree.suites.sampling import text

SOURCE = "sampling"
TRUTH = ["truth", "truth_frequencies"]
BYTES_PER_ROW = 500
"""With what loading leaves in the log for a while."""


@dataclass(frozen=True)
class SampledTable:
    """A table that the cases of a run need."""

    name: str
    rows: int
    in_file: bool
    """Whether its rows are needed as a file, too."""


def prepare(bench: Bench, tables: list[SampledTable]) -> None:
    """Make what is missing in the source, and all foreign databases and tables."""
    source = bench.lab.source()
    _require_room(bench, source, tables)
    if _make_source(source):
        text.remove_files(bench)
    in_files = [table.name for table in tables if table.in_file]
    with source.connect(SOURCE) as connection:
        for table in tables:
            _make_table(connection, table)
            if table.in_file:
                text.make_file(bench, connection, table.name)
            for row in bench.store.rows("sampling_samples", table_name=table.name):
                _make_view(connection, row)
        text.make_file_tables(bench, connection, in_files)
    instances = {"source": source, "external": bench.lab.external()}
    password = bench.lab.password()
    for row in bench.store.rows("sampling_databases", order="dbname"):
        _make_foreign_database(bench, instances[row["instance"]], row, tables, password)


def _script(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _execute_script(connection: Connection, name: str) -> None:
    connection.execute(_script(name).encode())


def _make_source(source: Cluster) -> bool:
    """Make the database of the tables, unless it is there as these scripts would make it.

    Returns whether it was made.
    """
    scripts = ("source.sql", "measured.sql")
    build = hashlib.sha256("".join(map(_script, scripts)).encode()).hexdigest()[:12]
    with source.connect() as connection:
        if mark_of_database(connection, SOURCE) == build:
            return False
        recreate_database(connection, SOURCE)
    with source.connect(SOURCE) as connection:
        for script in scripts:
            _execute_script(connection, script)
        mark_database(connection, SOURCE, build)
    return True


def _missing(source: Cluster, tables: list[SampledTable]) -> list[SampledTable]:
    try:
        with source.connect(SOURCE) as connection:
            there = {
                str(name)
                for (name,) in connection.execute("SELECT table_name FROM truth").fetchall()
            }
    except psycopg.Error:
        there = set()
    return [table for table in tables if table.name not in there]


def _require_room(bench: Bench, source: Cluster, tables: list[SampledTable]) -> None:
    """Raise `FileError` when what has to be made does not fit on the disk."""
    files = [
        table for table in tables if table.in_file and not text.path_of(bench, table.name).exists()
    ]
    needed = BYTES_PER_ROW * sum(table.rows for table in _missing(source, tables))
    needed += text.BYTES_PER_ROW * sum(table.rows for table in files)
    free = shutil.disk_usage(bench.lab.folder).free
    if free < needed:
        raise FileError(
            f"the disk of {bench.lab.folder} has {free / 1e9:.1f} GB free; the tables to be sampled"
            f" and their files need about {needed / 1e9:.1f} GB",
            "Leave out the largest with --only, free space there, or name a folder on another"
            " disk with TOLLFREE_HOME.",
        )


def _make_table(connection: Connection, table: SampledTable) -> None:
    known = connection.execute("SELECT FROM truth WHERE table_name = %s", (table.name,))
    if known.fetchone() is None:
        connection.execute("CALL make_rows(%s, %s)", (table.name, table.rows))
    name = sql.Identifier(f"rows_{table.name}")
    connection.execute(sql.SQL("VACUUM (FREEZE, ANALYZE) {}").format(name))


def _make_view(connection: Connection, row: dict[str, Any]) -> None:
    connection.execute(
        sql.SQL("CREATE OR REPLACE VIEW {} AS {}").format(
            sql.Identifier(row["view_name"]), sql.SQL(row["definition"])
        )
    )


def _make_foreign_database(
    bench: Bench,
    instance: Cluster,
    row: dict[str, Any],
    tables: list[SampledTable],
    password: str,
) -> None:
    names = [table.name for table in tables]
    views = bench.store.rows("sampling_samples", table_name=names)
    analyzed = bench.store.rows("sampling_foreign_tables", dbname=row["dbname"], table_name=names)
    with instance.connect() as connection:
        recreate_database(connection, row["dbname"])
    with instance.connect(row["dbname"]) as connection:
        make_server(connection, row, SOURCE, password)
        import_tables(connection, TRUTH + [view["view_name"] for view in views])
        for table in analyzed:
            _make_analyzed_table(connection, table)
        _execute_script(connection, "measured.sql")


def _make_analyzed_table(connection: Connection, row: dict[str, Any]) -> None:
    """Make a foreign table for one method of `ANALYZE`."""
    options = {"table_name": f"rows_{row['table_name']}"}
    if row["has_option"]:
        options["analyze_sampling"] = row["method"]
    connection.execute(
        sql.SQL("CREATE FOREIGN TABLE {} {} SERVER source_server {}").format(
            sql.Identifier(row["relation"]), text.COLUMNS, options_clause(options)
        )
    )
