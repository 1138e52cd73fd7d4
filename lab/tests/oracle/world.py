"""Two copies of a remote database and two of a local one, equal but for the wrapper between them.

`stock` reaches its remote copy through postgres_fdw, `candidate` reaches its own through the
wrapper under test. The copies are made from templates, so object identifiers and row locations
are the same on both sides. The source's settings are not the local server's, and not those that
values must travel in, so that a wrapper which forgets to set up its session is found out.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from psycopg import sql

from oracle.side import Outcome, Row, Side
from tollfree.cluster import SUPERUSER, Cluster

STOCK = "postgres_fdw"
SIDES = ("stock", "candidate")
TEMPLATE = "oracle_template"
ROLES = ("reader", "passwordless", "unmapped")
FOLDER = Path(__file__).parent
RESTART_LIMIT_S = 60.0
REPLAY_LIMIT_S = 60.0
HARDENED_USER = "hardened"

# A vacuum would move the rows of one side and not of the other.
_SETTINGS = {"autovacuum": "off"}
LOCAL_SETTINGS = _SETTINGS | {"statement_timeout": "'30s'"}
_SERVERS = ("remote", "remote_high")
# What reset() puts the servers' options back to.
_KEEP_OPTIONS = (
    "UPDATE options_baseline o SET options = srvoptions FROM pg_foreign_server s"
    " WHERE s.oid = o.server"
)
# With a timeout the wrapper would not fetch ahead.
SOURCE_SETTINGS = _SETTINGS | {
    "datestyle": "'SQL, DMY'",
    "extra_float_digits": "0",
    "intervalstyle": "'sql_standard'",
    "timezone": "'Asia/Kathmandu'",
}


@dataclass(frozen=True)
class Instances:
    """The servers that a wrapper is tested with, running."""

    source: Cluster
    local: Cluster
    standby: Cluster | None = None
    """Follows the source, when the wrappers are to reach that instead."""


@dataclass(frozen=True)
class Contents:
    """All rows of one side's tables after a session."""

    remote: tuple[Row, ...]
    local: tuple[Row, ...]


class World:
    """The two sides. Owns a connection to each of the four databases until `close`."""

    def __init__(self, instances: Instances, wrapper: str, *, is_hardened: bool = False) -> None:
        """Make the databases; the clusters run and hold none of them yet.

        In a hardened world the remote user may not read the catalogs, nor call what arrays need.
        """
        source, local = instances.source, instances.local
        self._clusters = {"remote": source, "local": local}
        self._standby = Standby(source, instances.standby) if instances.standby else None
        self.is_standby = instances.standby is not None
        self.wrapper = wrapper
        self.major = local.stage.installation.major
        self.remote_major = source.stage.installation.major
        _make_copies(source, ["remote.sql", "hardened.sql"] if is_hardened else ["remote.sql"])
        _make_copies(local, ["local.sql"], *(f"CREATE ROLE {role}" for role in ROLES))
        for name, of_side in zip(SIDES, (STOCK, wrapper), strict=True):
            reached = instances.standby or source
            user = HARDENED_USER if is_hardened else SUPERUSER
            _run(local, name, _foreign_objects(reached, name, of_side, user))
        if wrapper != STOCK and self.is_standby:
            # What a standby refuses names the query, which depends on where a join is executed.
            self._change_servers("ADD join_estimates 'false'")
        if self._standby:
            self._standby.catch_up()
        self._types = {name: self._type_names(name) for name in SIDES}
        self._keepers: dict[tuple[str, str], Side] = {}

    def execute(self, where: str, name: str, statement: str) -> None:
        """Execute `statement` in the `remote` or `local` database of one side."""
        _run(self._clusters[where], name, statement)

    def connect(self) -> tuple[Side, Side]:
        """Return a new session on each side."""
        stock, candidate = (
            Side(self._clusters["local"].conninfo(name), self._types[name]) for name in SIDES
        )
        return stock, candidate

    def reset(self) -> None:
        """Put all four databases back to where a session starts."""
        self._ask_all("SELECT reset()")
        if self._standby:
            self._standby.catch_up()

    def contents(self) -> tuple[Contents, Contents]:
        """Return what both sides' tables hold."""
        found = self._ask_all("SELECT * FROM contents()")
        stock, candidate = (
            Contents(found["remote", name].results[0].rows, found["local", name].results[0].rows)
            for name in SIDES
        )
        return stock, candidate

    def close(self) -> None:
        """Close the connections of its own."""
        for keeper in self._keepers.values():
            keeper.close()
        if self._standby:
            self._standby.close()

    def _change_servers(self, option: str) -> None:
        """Change an option of the candidate's servers, for this session and those after it."""
        self.execute("local", SIDES[1], "SELECT reset()")
        for server in _SERVERS:
            self.execute("local", SIDES[1], f"ALTER SERVER {server} OPTIONS ({option})")
        self.execute("local", SIDES[1], _KEEP_OPTIONS)

    def _ask_all(self, statement: str) -> dict[tuple[str, str], Outcome]:
        """Run `statement` in all four databases at once; raises `RuntimeError` when it fails."""
        keys = [(where, name) for where in self._clusters for name in SIDES]
        for key in keys:
            self._keeper(key).send(statement)
        answers = {key: self._keepers[key].receive() for key in keys}
        for key, answer in answers.items():
            # A crash that ended a session may reach this connection only now.
            last = self._ask_again(key, statement) if answer.lost else answer
            if last.lost or not last.results or last.results[0].error:
                raise RuntimeError(f"{statement} failed in {' '.join(key)}: {last}")
            answers[key] = last
        return answers

    def _ask_again(self, key: tuple[str, str], statement: str) -> Outcome:
        keeper = self._keeper(key)
        keeper.send(statement)
        return keeper.receive()

    def _keeper(self, key: tuple[str, str]) -> Side:
        """Return the connection of our own to one database: a new one when there is none or when
        a crash of its server has closed it."""
        where, name = key
        if key not in self._keepers or not self._keepers[key].is_usable():
            self._keepers[key] = _connect_patiently(self._clusters[where].conninfo(name))
        return self._keepers[key]

    def _type_names(self, name: str) -> dict[int, str]:
        with self._clusters["local"].connect(name) as connection:
            rows = connection.execute("SELECT oid::integer, oid::regtype::text FROM pg_type")
            return {int(str(oid)): str(type_name) for oid, type_name in rows}


class Standby:
    """Waits until a standby has what its primary has. Owns a connection to each until `close`."""

    def __init__(self, primary: Cluster, standby: Cluster) -> None:
        """Connect; both clusters run."""
        self._primary, self._standby = primary.connect(), standby.connect()

    def catch_up(self) -> None:
        """Wait; raises `TimeoutError` when that takes too long."""
        row = self._primary.execute("SELECT pg_current_wal_flush_lsn()").fetchone()
        question = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        deadline = time.monotonic() + REPLAY_LIMIT_S
        while self._standby.execute(question, row).fetchone() != (True,):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the standby has not replayed {row} in {REPLAY_LIMIT_S:g} s")
            time.sleep(0.002)

    def close(self) -> None:
        """Close the connections."""
        self._primary.close()
        self._standby.close()


def _make_copies(cluster: Cluster, files: list[str], *before: str) -> None:
    with cluster.connect() as connection:
        for statement in (*before, f"CREATE DATABASE {TEMPLATE}"):
            connection.execute(statement)
        for file in files:
            _run(cluster, TEMPLATE, (FOLDER / file).read_text("utf-8"))
        for name in SIDES:
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                    sql.Identifier(name), sql.Identifier(TEMPLATE)
                )
            )


def _foreign_objects(source: Cluster, name: str, wrapper: str, user: str) -> sql.Composed:
    text = (FOLDER / "foreign.sql").read_text("utf-8")
    return sql.SQL(text).format(
        wrapper=sql.Identifier(wrapper),
        host=sql.Literal(str(source.socket_folder)),
        port=sql.Literal(str(source.port)),
        dbname=sql.Literal(name),
        user=sql.Literal(user),
    )


def _run(cluster: Cluster, dbname: str, statements: str | sql.Composed) -> None:
    with cluster.connect(dbname) as connection:
        connection.execute(statements)


def _connect_patiently(conninfo: str) -> Side:
    """Connect, and wait for a server that recovers from a crash."""
    deadline = time.monotonic() + RESTART_LIMIT_S
    while True:
        try:
            return Side(conninfo, {})
        except ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
