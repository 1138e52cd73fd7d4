"""Makes the experiment's databases on the lab's running servers.

The published experiment has four databases on two instances; a wrapper that is a further row in
`lab.wrappers` gets databases of its own on the same data. Which databases exist is a view
(`lab.fdw_databases`), so nothing here names a wrapper.
"""

import subprocess

from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.errors import LabStateError
from tollfree.suites.foreign import (
    import_tables,
    make_server,
    mark_database,
    mark_of_database,
    recreate_database,
)

SOURCE = "source"
TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers")
LOAD_LIMIT_S = 3600


def has_scale(source: Cluster, scale: int) -> bool:
    """Return whether pgbench's tables are there at that scale, with their keys and vacuumed.

    pgbench fills the tables before it makes the keys, so the rows of a load that was interrupted
    may all be there.
    """
    with source.connect() as connection:
        return mark_of_database(connection, SOURCE) == _mark(scale)


def load(source: Cluster, scale: int) -> None:
    """Recreate the source database with pgbench's tables; raises `LabStateError`."""
    with source.connect() as connection:
        recreate_database(connection, SOURCE)
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
        mark_database(connection, SOURCE, _mark(scale))


def _mark(scale: int) -> str:
    return f"pgbench at scale {scale}"


def make_foreign_database(instance: Cluster, row: dict[str, object], password: str) -> None:
    """Make a database of foreign tables as the experiment describes them."""
    dbname = str(row["dbname"])
    with instance.connect() as connection:
        recreate_database(connection, dbname)
    with instance.connect(dbname) as connection:
        make_server(connection, row, SOURCE, password)
        import_tables(connection, list(TABLES))
        if not row["updatable"]:
            for table in TABLES:
                connection.execute(
                    sql.SQL("ALTER FOREIGN TABLE {} OPTIONS (updatable 'false')").format(
                        sql.Identifier(table)
                    )
                )
