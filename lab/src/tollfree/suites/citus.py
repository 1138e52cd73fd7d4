"""Citus on servers of the lab: a coordinator and two workers, started while a suite needs them.

The lab installs nothing: where the PostgreSQL in use lacks the extension, cases are skipped.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import sql

from tollfree.cluster import SUPERUSER
from tollfree.suites.base import Bench
from tollfree.suites.foreign import (
    Connection,
    mark_database,
    mark_of_database,
    recreate_database,
)

COORDINATOR = "coordinator"
WORKERS = ("worker_1", "worker_2")
SETTINGS = {"shared_preload_libraries": "'citus'", "citus.node_conninfo": "'sslmode=disable'"}


def why_no_citus(bench: Bench) -> str | None:
    """Return why there is no Citus in the PostgreSQL in use, None where there is."""
    with bench.lab.source().connect() as connection:
        found = connection.execute(
            "SELECT FROM pg_available_extensions WHERE name = 'citus'"
        ).fetchone()
    if found is None:
        return "the extension citus is not installed in this PostgreSQL"
    return None


def start_citus(bench: Bench) -> None:
    """Start the coordinator and the workers unless they run."""
    # It connects to itself, over the socket: over TCP it would need the password.
    folder = str(bench.lab.sockets).replace("'", "''")
    settings = SETTINGS | {"citus.local_hostname": f"'{folder}'"}
    bench.lab.start_others(bench.store, (COORDINATOR, *WORKERS), settings)


def make_citus_database(bench: Bench, name: str, roads: Sequence[Mapping[str, Any]]) -> bool:
    """Make a database whose tables Citus can distribute; return whether it was created again.

    `roads` says how the coordinator reaches the workers, `server_host` and `server_port` of each.
    Citus keeps them; so if these have changed the database, with its contents, is created again.
    """
    lab = bench.lab
    coordinator = lab.other(COORDINATOR)
    nodes = [(str(road["server_host"]), int(road["server_port"])) for road in roads]
    mark = f"of the coordinator at {coordinator.port} and the workers at {nodes}"
    with coordinator.connect() as connection:
        if mark_of_database(connection, name) == mark:
            return False
    authentication = f"password={lab.password()}"
    for cluster in (*map(lab.other, WORKERS), coordinator):
        with cluster.connect() as connection:
            recreate_database(connection, name)
        with cluster.connect(name) as connection:
            connection.execute("CREATE EXTENSION citus")
            connection.execute(
                "INSERT INTO pg_dist_authinfo VALUES (0, %s, %s)", (SUPERUSER, authentication)
            )
    with coordinator.connect(name) as connection:
        connection.execute(
            "SELECT citus_set_coordinator_host(%s, %s)", (str(lab.sockets), coordinator.port)
        )
        for node in nodes:
            connection.execute("SELECT citus_add_node(%s, %s)", node)
    with coordinator.connect() as connection:
        mark_database(connection, name, mark)
    return True


def set_on_workers(bench: Bench, dbname: str, settings: Mapping[str, str]) -> None:
    """Have later sessions on the workers use settings; those of the client do not get there."""
    for cluster in map(bench.lab.other, WORKERS):
        with cluster.connect() as connection:
            for name, value in settings.items():
                connection.execute(
                    sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                        sql.Identifier(dbname), sql.Identifier(name), sql.Literal(value)
                    )
                )


def distribute(connection: Connection, table: str, key: str | None, shards: int | None) -> None:
    """Give a table of the search path to Citus: in shards by a key, or whole to every worker.

    `shards` None leaves their number to Citus.
    """
    if key is None:
        connection.execute("SELECT create_reference_table(%s)", (table,))
    elif shards is None:
        connection.execute("SELECT create_distributed_table(%s, %s)", (table, key))
    else:
        connection.execute(
            "SELECT create_distributed_table(%s, %s, shard_count => %s)", (table, key, shards)
        )
