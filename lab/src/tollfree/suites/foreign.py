"""Databases of foreign tables: what every suite of a wrapper makes on the lab's servers."""

from importlib.resources import files
from typing import Any

import psycopg
from psycopg import sql

from tollfree.cluster import SUPERUSER

Connection = psycopg.Connection[tuple[object, ...]]


def recreate_database(connection: Connection, dbname: str) -> None:
    """Recreate a database, over a connection to another one."""
    name = sql.Identifier(dbname)
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
    connection.execute(sql.SQL("CREATE DATABASE {}").format(name))


def mark_of_database(connection: Connection, dbname: str) -> str | None:
    """Return the mark of a database, None without one or without the database."""
    found = connection.execute(
        "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s",
        (dbname,),
    ).fetchone()
    return None if found is None or found[0] is None else str(found[0])


def mark_database(connection: Connection, dbname: str, mark: str) -> None:
    """Mark a database, as its comment. What makes one does so last: then it is whole."""
    connection.execute(
        sql.SQL("COMMENT ON DATABASE {} IS {}").format(sql.Identifier(dbname), sql.Literal(mark))
    )


def make_page_cache_functions(connection: Connection) -> None:
    """Make, in its database, the functions that read files into the page cache and count that."""
    connection.execute(files(__package__).joinpath("page_cache.sql").read_bytes())


def make_server(connection: Connection, row: dict[str, Any], dbname: str, password: str) -> None:
    """Make `source_server`, on a database of the source, with its wrapper and user mapping.

    `row` says which wrapper, `server_options`, `server_host` and `server_port`.
    """
    make_extension(connection, row["wrapper"])
    make_named_server(connection, "source_server", row, dbname, password)


def make_extension(connection: Connection, wrapper: str) -> None:
    """Create a wrapper's extension, with those it requires."""
    connection.execute(sql.SQL("CREATE EXTENSION {} CASCADE").format(sql.Identifier(wrapper)))


def make_named_server(
    connection: Connection, name: str, row: dict[str, Any], dbname: str, password: str
) -> None:
    """Make a server of that name as `make_server` does, where the wrapper is available."""
    options = {
        "host": str(row["server_host"]),
        "port": str(row["server_port"]),
        "dbname": dbname,
        "sslmode": "disable",  # also when another suite has made the server offer TLS
        **(row["server_options"] or {}),
    }
    connection.execute(
        sql.SQL("CREATE SERVER {} FOREIGN DATA WRAPPER {} {}").format(
            sql.Identifier(name), sql.Identifier(row["wrapper"]), options_clause(options)
        )
    )
    connection.execute(
        sql.SQL("CREATE USER MAPPING FOR {} SERVER {} {}").format(
            sql.Identifier(SUPERUSER),
            sql.Identifier(name),
            options_clause({"user": SUPERUSER, "password": password}),
        )
    )


def options_clause(options: dict[str, str]) -> sql.Composed:
    """Return `OPTIONS (...)`."""
    pairs = (
        sql.SQL("{} {}").format(sql.Identifier(name), sql.Literal(value))
        for name, value in options.items()
    )
    return sql.SQL("OPTIONS ({})").format(sql.SQL(", ").join(pairs))


def import_tables(connection: Connection, tables: list[str]) -> None:
    """Make foreign tables of `source_server` on these of its schema `public`."""
    names = sql.SQL(", ").join(map(sql.Identifier, tables))
    connection.execute(
        sql.SQL(
            "IMPORT FOREIGN SCHEMA public LIMIT TO ({}) FROM SERVER source_server INTO public"
        ).format(names)
    )


def analyze_foreign(connection: Connection, table: sql.Identifier) -> None:
    """Collect the statistics of a foreign table. Its fetch size is larger meanwhile: over a link a
    sample takes many round trips by the default."""
    for statement in (
        "ALTER FOREIGN TABLE {} OPTIONS (ADD fetch_size '10000')",
        "ANALYZE {}",
        "ALTER FOREIGN TABLE {} OPTIONS (DROP fetch_size)",
    ):
        connection.execute(sql.SQL(statement).format(table))
