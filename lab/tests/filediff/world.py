"""Two servers that read the same files: one with stock file_fdw, one with the wrapper under test.

Each has a database of its own with the same types and functions. They are two servers, and not two
databases of one, so that a crash tells which side crashed.
"""

import time
from contextlib import suppress
from pathlib import Path

import psycopg
from oracle.side import Side
from oracle.world import Instances
from psycopg import sql

from filediff.cases import Server, Setting
from tollfree.cluster import Cluster

STOCK = "file_fdw"
DATABASE = "filediff"
RESTART_LIMIT_S = 60.0

OBJECTS = """
CREATE EXTENSION {wrapper} CASCADE;
CREATE SERVER files FOREIGN DATA WRAPPER {wrapper};
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN short_text AS varchar(3);
CREATE FUNCTION tell(what text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
$$ BEGIN RAISE NOTICE 'told %', what; RETURN true; END $$;
"""
COLLATION = """
CREATE COLLATION caseless
    (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
"""

OWN_SETTINGS = """
SELECT name, value
FROM pg_settings,
    unnest(CASE vartype
               WHEN 'bool' THEN '{{on,off}}'
               WHEN 'integer' THEN ARRAY[boot_val, min_val]
               ELSE enumvals
           END) AS value
WHERE starts_with(name, {prefix}) AND name !~ 'debug_(require|record_index_age|segment_size)$'
ORDER BY name, value <> boot_val, value
"""


class FileWorld:
    """The two sides and the folder of their files. Owns a connection to each until `close`."""

    def __init__(self, instances: Instances, wrapper: str) -> None:
        """Make the databases; both servers run, under one user, and hold none of them yet."""
        self.wrapper = wrapper
        self.folder = instances.local.folder.parent / "files"
        instances.local.user.make_folder(self.folder)
        self._clusters = (instances.source, instances.local)
        has_icu = [
            _make_database(cluster, name)
            for cluster, name in zip(self._clusters, (STOCK, wrapper), strict=True)
        ]
        major = instances.local.stage.installation.major
        self.server = Server(major, all(has_icu), _own_settings(instances.local, wrapper))
        self._types = [_type_names(cluster) for cluster in self._clusters]
        self._sides: list[Side] = []

    def sides(self) -> tuple[Side, Side]:
        """Return the sessions with stock and with the candidate, new ones after a crash."""
        if not all(side.is_usable() for side in self._sides):
            self.close()
        if not self._sides:
            pairs = zip(self._clusters, self._types, strict=True)
            self._sides = [_connect_patiently(cluster, types) for cluster, types in pairs]
        stock, candidate = self._sides
        return stock, candidate

    def file(self, name: str) -> Path:
        """Return the path of a file of that name, readable by both servers."""
        path = self.folder / name
        if not path.exists():
            path.touch()
            self._clusters[1].user.own(path)
        return path

    def own_folder(self, path: Path) -> None:
        """Make a folder that both servers can read."""
        self._clusters[1].user.make_folder(path)

    def kept_files(self, pattern: str) -> list[Path]:
        """Return what the candidate keeps of files, by the names that match."""
        folder = self._clusters[1].data / f"pgsql_tmp_{self.wrapper}"
        return list(folder.glob(pattern))

    def close(self) -> None:
        """End the sessions."""
        for side in self._sides:
            side.close()
        self._sides = []


def _make_database(cluster: Cluster, wrapper: str) -> bool:
    """Make the database; return whether there is a collation that is not deterministic."""
    with cluster.connect() as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    with cluster.connect(DATABASE) as connection:
        connection.execute(sql.SQL(OBJECTS).format(wrapper=sql.Identifier(wrapper)))
        # Its collations are in the catalog whether the server has ICU or not.
        with suppress(psycopg.errors.FeatureNotSupported):
            connection.execute(COLLATION)
            return True
    return False


def _own_settings(cluster: Cluster, wrapper: str) -> tuple[Setting, ...]:
    """Return the settings of the wrapper itself with the values that this machine takes, the
    default first."""
    with cluster.connect(DATABASE) as connection:
        connection.execute(sql.SQL("LOAD {}").format(sql.Literal(wrapper)))
        query = sql.SQL(OWN_SETTINGS).format(prefix=sql.Literal(f"{wrapper}."))
        accepted: dict[str, list[str]] = {}
        for name, value in connection.execute(query).fetchall():
            with suppress(psycopg.Error):
                connection.execute("SELECT set_config(%s, %s, false)", (name, value))
                accepted.setdefault(str(name), []).append(str(value))
    return tuple((name, tuple(values)) for name, values in accepted.items())


def _type_names(cluster: Cluster) -> dict[int, str]:
    with cluster.connect(DATABASE) as connection:
        rows = connection.execute("SELECT oid::integer, oid::regtype::text FROM pg_type")
        return {int(str(oid)): str(type_name) for oid, type_name in rows}


def _connect_patiently(cluster: Cluster, types: dict[int, str]) -> Side:
    """Connect, and wait for a server that recovers from a crash."""
    conninfo = f"{cluster.conninfo(DATABASE)} options='-c synchronous_commit=off'"
    deadline = time.monotonic() + RESTART_LIMIT_S
    while True:
        try:
            return Side(conninfo, types)
        except ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
