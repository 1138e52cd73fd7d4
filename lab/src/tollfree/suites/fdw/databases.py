"""Makes the experiment's databases on the lab's running servers.

The published experiment has four databases on two instances; a wrapper that is a further row in
`lab.wrappers` gets databases of its own on the same data. Which databases exist is a view
(`lab.fdw_databases`), so nothing here names a wrapper.
"""

import subprocess

import psycopg
from psycopg import sql

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.errors import LabStateError

SOURCE = "source"
TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers")
LOAD_LIMIT_S = 3600


def has_scale(source: Cluster, scale: int) -> bool:
    """Return whether pgbench's tables are there at that scale."""
    try:
        with source.connect(SOURCE) as connection:
            row = connection.execute("SELECT count(*) FROM pgbench_branches").fetchone()
    except psycopg.Error:
        return False
    return row == (scale,)


def load(source: Cluster, scale: int) -> None:
    """Make the source database anew with pgbench's tables; raises `LabStateError`."""
    with source.connect() as connection:
        _recreate(connection, SOURCE)
    done = source.user.run(
        [
            str(source.stage.installation.bindir / "pgbench"),
            *("--initialize", "--quiet", f"--scale={scale}"),
            source.conninfo(SOURCE),
        ],
        timeout_s=LOAD_LIMIT_S,
    )
    try:
        done.check_returncode()
    except subprocess.CalledProcessError as error:
        raise LabStateError(
            f"pgbench could not load its tables at scale {scale}",
            "Free space on the disk of the lab's home, or see the server's log.",
            detail=done.stderr.strip()[-2000:],
        ) from error
    with source.connect(SOURCE) as connection:
        connection.execute("CHECKPOINT")


def _recreate(connection: psycopg.Connection[tuple[object, ...]], dbname: str) -> None:
    name = sql.Identifier(dbname)
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
    connection.execute(sql.SQL("CREATE DATABASE {}").format(name))


def make_foreign_database(instance: Cluster, row: dict[str, object], password: str) -> None:
    """Make a database of foreign tables as the experiment describes them."""
    dbname = str(row["dbname"])
    options = {
        "host": str(row["server_host"]),
        "port": str(row["server_port"]),
        "dbname": SOURCE,
        "sslmode": "disable",  # also when another suite has made the server offer TLS
        **dict(row["server_options"] or {}),  # type: ignore[call-overload]
    }
    user = {"user": SUPERUSER, "password": password}
    wrapper = sql.Identifier(str(row["wrapper"]))
    with instance.connect() as connection:
        _recreate(connection, dbname)
    with instance.connect(dbname) as connection:
        for statement in (
            sql.SQL("CREATE EXTENSION {} CASCADE").format(wrapper),
            sql.SQL("CREATE SERVER source_server FOREIGN DATA WRAPPER {} {}").format(
                wrapper, _options(options)
            ),
            sql.SQL("CREATE USER MAPPING FOR {} SERVER source_server {}").format(
                sql.Identifier(SUPERUSER), _options(user)
            ),
            sql.SQL(
                "IMPORT FOREIGN SCHEMA public LIMIT TO ({}) FROM SERVER source_server INTO public"
            ).format(sql.SQL(", ").join(map(sql.Identifier, TABLES))),
        ):
            connection.execute(statement)
        if not row["updatable"]:
            for table in TABLES:
                connection.execute(
                    sql.SQL("ALTER FOREIGN TABLE {} OPTIONS (updatable 'false')").format(
                        sql.Identifier(table)
                    )
                )


def _options(options: dict[str, str]) -> sql.Composed:
    pairs = (
        sql.SQL("{} {}").format(sql.Identifier(name), sql.Literal(value))
        for name, value in options.items()
    )
    return sql.SQL("OPTIONS ({})").format(sql.SQL(", ").join(pairs))
