"""What the statements that a connection keeps prepared hold in the memory of the remote backend.

A local session executes 100 different commands through `tollfree_postgres_fdw`, each ten times, so
that the remote server has prepared all of them and made the plan for any parameter. Before and
after, a foreign table on a view of the remote server shows the memory contexts of that very
backend. Printed are, for each kind of command: how many statements are kept; by how much the
contexts of kept statements have grown (texts, queries, plans), and all contexts, with what the
backend remembers of catalogs; and the private memory of the backend before, as the kernel counts
it, which is what an idle connection holds. How busy the machine is does not matter:

    .venv/bin/python lab/benchmarks/statement_memory.py
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.suites.foreign import import_tables, make_server, recreate_database

DATABASE = "statement_memory"
WRAPPER = "tollfree_postgres_fdw"
STATEMENTS = 100
EXECUTIONS = 10
COLUMNS = 7
"""Each subset of so many columns makes another text."""

REMOTE = """
CREATE TABLE items (id int PRIMARY KEY, c0 int, c1 int, c2 int, c3 int, c4 int, c5 int, c6 int);
INSERT INTO items SELECT i, i, i, i, i, i, i, i FROM generate_series(1, 10000) i;
CREATE TABLE orders (id int PRIMARY KEY, item int);
INSERT INTO orders SELECT i, i FROM generate_series(1, 10000) i;
CREATE INDEX ON orders (item);
ANALYZE items, orders;
CREATE TABLE parts (LIKE items) PARTITION BY HASH (id);
DO $$ BEGIN
    FOR n IN 0..15 LOOP
        EXECUTE format('CREATE TABLE parts_%s PARTITION OF parts (PRIMARY KEY (id))'
            ' FOR VALUES WITH (MODULUS 16, REMAINDER %s)', n, n);
    END LOOP;
END $$;
INSERT INTO parts SELECT * FROM items;
ANALYZE parts;
CREATE VIEW own_memory AS
    SELECT (SELECT count(*) FROM pg_prepared_statements
            WHERE name ~ '^tollfree_.*s[0-9]+$') AS kept,
        coalesce(sum(total_bytes) FILTER (WHERE name ~ '^CachedPlan'), 0) AS plans,
        sum(total_bytes) AS everything
    FROM pg_backend_memory_contexts;
"""


@dataclass(frozen=True)
class Memory:
    """What a backend holds: kept statements, bytes of their contexts, bytes of all contexts."""

    kept: int
    plans: int
    everything: int


@dataclass(frozen=True)
class Kind:
    """Commands of one shape, which differ in the columns they ask for."""

    label: str
    text: LiteralString


KINDS = (
    Kind("lookups by key", "SELECT {columns} FROM items i WHERE i.id = {key}"),
    Kind("of 16 partitions", "SELECT {columns} FROM parts i WHERE i.id = {key}"),
    Kind(
        "joins",
        "SELECT {columns}, o.id FROM items i JOIN orders o ON o.item = i.id WHERE i.id = 7",
    ),
)


def make_databases(source: Cluster, external: Cluster, password: str) -> None:
    """Make the remote tables and the foreign ones."""
    with source.connect() as connection:
        recreate_database(connection, DATABASE)
    with source.connect(DATABASE) as connection:
        connection.execute(REMOTE)
    row = {
        "wrapper": WRAPPER,
        "server_options": {},
        "server_host": "127.0.0.1",
        "server_port": source.port,
    }
    with external.connect() as connection:
        recreate_database(connection, DATABASE)
    with external.connect(DATABASE) as connection:
        make_server(connection, row, DATABASE, password)
        import_tables(connection, ["items", "orders", "parts", "own_memory"])
        connection.execute("ANALYZE items, orders, parts")


def remote_memory(connection: psycopg.Connection[tuple[object, ...]]) -> Memory:
    """Return what the remote backend of this session holds."""
    row: Any = connection.execute(
        "SELECT kept, plans::int8, everything::int8 FROM own_memory"
    ).fetchone()
    return Memory(*row)


def private_kib(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    """Return the memory that the remote backend of this session shares with no process."""
    row = connection.execute(
        f"SELECT remote_backend_pid FROM {WRAPPER}_get_connections()"
    ).fetchone()
    assert row is not None
    found = re.search(
        r"Private_Dirty:\s+(\d+) kB", Path(f"/proc/{row[0]}/smaps_rollup").read_text()
    )
    assert found is not None
    return int(found[1])


def execute_all(connection: psycopg.Connection[tuple[object, ...]], kind: Kind, size: int) -> None:
    """Execute each command of a kind, with so many statements kept."""
    connection.execute(f"SET {WRAPPER}.statement_cache_size = {size}")
    for number in range(1, STATEMENTS + 1):
        columns = sql.SQL(", ").join(
            sql.Identifier("i", f"c{bit}") for bit in range(COLUMNS) if number >> bit & 1
        )
        for key in range(EXECUTIONS):
            connection.execute(sql.SQL(kind.text).format(columns=columns, key=sql.Literal(key)))


def measure(
    connection: psycopg.Connection[tuple[object, ...]], kind: Kind
) -> tuple[Memory, Memory, int]:
    """Return what the remote backend holds before and after a kind's statements are kept.

    What it remembers of catalogs is there before: all are executed without being kept. The third is
    its private memory before, in KiB.
    """
    execute_all(connection, kind, 0)
    before, idle_kib = remote_memory(connection), private_kib(connection)
    execute_all(connection, kind, STATEMENTS)
    return before, remote_memory(connection), idle_kib


def main() -> None:
    """Measure and print."""
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    with lab.running():
        make_databases(lab.source(), lab.external(), lab.password())
        sys.stdout.write(
            f"PostgreSQL {lab.installation.version}, {STATEMENTS} commands of each kind, each"
            f" executed {EXECUTIONS} times\n"
        )
        for kind in KINDS:
            with lab.external().connect(DATABASE) as connection:
                before, after, idle_kib = measure(connection, kind)
            kept = after.kept - before.kept
            if kept < STATEMENTS - 1:
                sys.exit(f"{kind.label}: only {kept} statements are kept")
            sys.stdout.write(
                f"{kind.label:<16} {kept:4} kept, each"
                f" {(after.plans - before.plans) / kept / 1024:6.1f} KiB of plans,"
                f" {(after.everything - before.everything) / kept / 1024:6.1f} KiB in all;"
                f" the backend without them has {idle_kib / 1024:4.1f} MiB\n"
            )


if __name__ == "__main__":
    main()
