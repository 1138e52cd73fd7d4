"""Access to the lab's own database.

Queries that all suites share are here, and return frozen dataclasses. A suite reads its own views
by `Store.rows` and calls its own functions by `Store.call`: no SQL on the lab's schema stands
outside this module and `migration` (tools/check-layers). Cases and their checks are defined in the
database (extensions/tollfree_lab).
"""

import hashlib
import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import sql
from psycopg.rows import class_row, dict_row, scalar_row, tuple_row
from psycopg.types.json import Jsonb

from tollfree import __version__, migration
from tollfree.clients import Client
from tollfree.errors import LabStateError, NotFoundError, UsageError
from tollfree.scripts import (
    EXTENSION,
    SCRIPT_NAME,
    suite_scripts,
    written_rows,
    written_script,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where an instance is."""

    instance: str
    socket_host: str
    tcp_host: str | None
    port: int
    passfile: str | None
    certificate: str | None = None
    """Of a server that offers TLS."""
    pid: int | None = None


@dataclass(frozen=True)
class LinkPlace:
    """Where a link listens and answers."""

    link: str
    instance: str
    port: int
    control: str


@dataclass(frozen=True)
class Profile:
    """How large a run of a suite is."""

    suite: str
    profile: str
    rounds: int
    seconds: int
    scale: int
    precision: float | None = None
    """How far the intervals of its headlines may reach; None if it has none."""


def written_profiles() -> dict[tuple[str, str], Profile]:
    """Return the profiles by suite and name."""
    return {(row[0], row[1]): Profile(*row) for row in written_rows("profiles")}


@dataclass(frozen=True)
class Run:
    """One run of a suite; `state` is running, interrupted or complete."""

    run_id: int
    suite: str
    profile: str
    rounds: int
    pattern: str
    seed: int
    state: str
    started: datetime
    ended: datetime | None
    host: dict[str, Any]
    server: dict[str, Any]
    version: str
    query_limit_s: int | None = None
    """Seconds after which a case begins no further query; None for all of its queries."""
    seconds: int | None = None
    """Of its profile when it began; None in files written before it was stored, as the scale."""
    scale: int | None = None
    migrated: bool = False
    """Whether another build of the lab made it: it is shown, and not gone on with."""
    precision: float | None = None
    """How far the interval of a ratio may reach, as a share; its case is executed until it does."""

    @property
    def size(self) -> str:
        """Its profile, with what this said when the run began as far as that is known."""
        known = {"scale": self.scale, "seconds": self.seconds}
        words = (f"{name} {value}" for name, value in known.items() if value is not None)
        return ", ".join((self.profile, *words))

    @property
    def postgresql(self) -> str:
        """The version of the servers; not every run has stored what it ran on."""
        versions = {server["version"] for server in self.server.values()}
        return ", ".join(sorted(versions)) or "unknown"


def no_such_run(run_id: int) -> NotFoundError:
    """Return the error about a number that no run has."""
    return NotFoundError(
        f"there is no run {run_id}", "See the runs there are with `tollfree show`."
    )


@dataclass(frozen=True)
class Step:
    """One execution that a run still owes."""

    iter: int
    testcase: str
    seconds: float
    """How long it is expected to take."""


@dataclass(frozen=True)
class CaseInfo:
    """One case as `tollfree list` shows it."""

    suite: str
    testcase: str
    argv: list[str]
    env: list[str]

    @property
    def command(self) -> str:
        """The command as a person would type it."""
        return shlex.join(["env", *self.env, *self.argv] if self.env else self.argv)


@dataclass(frozen=True)
class RunCase:
    """One case of a run."""

    testcase: str
    candidate: str
    baseline: str | None
    figure: str
    unit: str
    higher_is_better: bool
    dims: dict[str, Any]
    most_rounds: int | None = None
    """The first rounds, in which alone it is executed; None for all, or until it is precise."""


@dataclass(frozen=True)
class Result:
    """One execution of a case. `duration` (seconds) and `value` (in the case's unit) are None
    unless `state` is ok; `reason` is None if it is."""

    testcase: str
    iter: int
    ts: datetime
    state: str
    reason: str | None
    duration: float | None
    value: float | None
    figures: dict[str, Any]
    user_us: int | None
    system_us: int | None
    peak_kb: int | None
    argv: list[str]
    env: list[str]


class Store:
    """A connection to the lab's own database, in autocommit mode."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection

    # Installation

    def install(self, scripts: Path) -> None:
        """Create the extension unless it is there, and what further suites have in SQL.

        `scripts` holds the extension's. In place of a schema that another build made a new one is
        made, and takes its results over.
        """
        with self.connection.transaction():
            is_new = self._install_extension(scripts)
            for suite, text in suite_scripts().items():
                self._install_suite(suite, text)
            if is_new:
                migration.take_in(self.connection)

    def _install_extension(self, scripts: Path) -> bool:
        """Create the extension unless it is there as this build has it; return whether it did."""
        script = scripts / SCRIPT_NAME
        build = _build(script.read_bytes())
        found = self._scalar(
            "SELECT obj_description(oid) FROM pg_extension WHERE extname = %s", EXTENSION
        )
        if found == build:
            return False
        if self._scalar("SELECT count(*) FROM pg_extension WHERE extname = %s", EXTENSION):
            migration.set_aside(self.connection)
        extension = sql.Identifier(EXTENSION)
        self.connection.execute(sql.SQL("CREATE EXTENSION {}").format(extension))
        self.connection.execute(
            sql.SQL("COMMENT ON EXTENSION {} IS {}").format(extension, sql.Literal(build))
        )
        return True

    def _install_suite(self, suite: str, text: str) -> None:
        """Execute a further suite's script in a schema of its own, unless that was done."""
        build = _build(text.encode())
        name = f"{migration.SUITE_SCHEMAS}{suite}"
        schema = sql.Identifier(name)
        found = self._scalar("SELECT obj_description(to_regnamespace(%s))", name)
        if found == build:
            return
        for statement in (
            sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(schema),
            sql.SQL("CREATE SCHEMA {}").format(schema),
            sql.SQL("SET LOCAL search_path = {}, lab").format(schema),
            text.encode(),
            sql.SQL("COMMENT ON SCHEMA {} IS {}").format(schema, sql.Literal(build)),
            sql.SQL("RESET search_path"),
        ):
            self.connection.execute(statement)

    def builds(self) -> dict[str, str]:
        """Return which scripts the database has executed, as `written_builds` names them."""
        rows = self.table(
            "SELECT extname AS name, obj_description(oid) AS build FROM pg_extension"
            " WHERE extname = %s UNION ALL"
            " SELECT substr(nspname, length(%s) + 1), obj_description(oid) FROM pg_namespace"
            " WHERE starts_with(nspname, %s)",
            *(EXTENSION, migration.SUITE_SCHEMAS, migration.SUITE_SCHEMAS),
        )
        return {row["name"]: row["build"] for row in rows}

    # Places

    def link_round_trips(self, instance: str = "source") -> list[int]:
        """Return the requested round trips, in microseconds, of the links with a proxy."""
        return self._column(
            "SELECT rtt_us FROM lab.roads JOIN lab.links USING (link)"
            " WHERE instance = %s AND rtt_us IS NOT NULL ORDER BY rtt_us",
            instance,
        )

    def add_link(self, rtt_us: int) -> None:
        """Add a link with that round trip for transactions, unless there is one."""
        self.connection.execute(
            "INSERT INTO lab.links (link, transport, rtt_us) VALUES (%s, 'tcp', %s)"
            " ON CONFLICT (link) DO UPDATE SET for_transactions = true",
            (f"rmt:tcp:{rtt_us}us", rtt_us),
        )

    def register(self, places: Sequence[Place], links: Sequence[LinkPlace]) -> None:
        """Tell the database where everything is, so that its cases have addresses."""
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE lab.instances SET socket_host = %s, tcp_host = %s, port = %s,"
                " passfile = %s, certificate = %s, pid = %s WHERE instance = %s",
                [
                    (
                        *(p.socket_host, p.tcp_host, p.port, p.passfile, p.certificate, p.pid),
                        p.instance,
                    )
                    for p in places
                ],
            )
            cursor.executemany(
                "UPDATE lab.links SET port = %s, control = %s WHERE link = %s AND %s = 'source'",
                [(x.port, x.control, x.link, x.instance) for x in links],
            )
            cursor.executemany(
                "UPDATE lab.other_links SET port = %s, control = %s"
                " WHERE link = %s AND instance = %s",
                [(x.port, x.control, x.link, x.instance) for x in links],
            )

    def register_clients(self, clients: Sequence[Client]) -> None:
        """Tell the database which interfaces there are and which can be measured here."""
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute("DELETE FROM lab.interfaces")
            for client in clients:
                interface = client.interface
                cursor.execute(
                    "INSERT INTO lab.interfaces (ifname, testprog, title, language, unready,"
                    " broken) VALUES (%s, %s, %s, %s, %s, %s)",
                    (
                        *(interface.name, list(client.start), interface.title),
                        *(interface.language, client.unready, client.broken),
                    ),
                )
                cursor.executemany(
                    "INSERT INTO lab.interface_conninfos (ifname, comm, template)"
                    " VALUES (%s, %s, %s)",
                    [(interface.name, *item) for item in interface.conninfo.items()],
                )
                cursor.executemany(
                    "INSERT INTO lab.alternateclientcopy (ifname, accdesc, sw, method, held)"
                    " VALUES (%s, %s, %s, %s, %s)",
                    [
                        (interface.name, m.case, list(m.switch), m.name, m.held)
                        for m in interface.methods
                    ],
                )

    # Cases and runs

    def suites(self) -> list[str]:
        """Return the names of the suites."""
        return self._column("SELECT suite FROM lab.suites ORDER BY suite")

    def profile(self, suite: str, profile: str) -> Profile:
        """Return a profile; raises `NotFoundError` when there is no such suite."""
        with self.connection.cursor(row_factory=class_row(Profile)) as cursor:
            cursor.execute(
                "SELECT * FROM lab.profiles WHERE suite = %s AND profile = %s", (suite, profile)
            )
            found = cursor.fetchone()
        if found is None:
            raise NotFoundError(
                f"there is no suite {suite!r}",
                f"The suites are: {', '.join(self.suites())}.",
            )
        return found

    def profile_of(self, run: Run) -> Profile:
        """Return the profile of a run as it was when the run began."""
        return self._rows(
            Profile,
            "SELECT suite, profile, rounds, seconds, scale, precision FROM lab.runs"
            " WHERE run_id = %s",
            run.run_id,
        )[0]

    def cases(self, suite: str, profile: str, pattern: str = "") -> list[CaseInfo]:
        """Return the cases that a profile of a suite runs and whose names match."""
        with _pattern_errors(pattern):
            return self._rows(
                CaseInfo,
                "SELECT suite, testcase, argv, env FROM lab.chosen_cases(%s, %s, %s)"
                " ORDER BY testcase",
                suite,
                profile,
                pattern,
            )

    def start_run(
        self,
        suite: str,
        profile: str,
        *,
        rounds: int | None,
        pattern: str,
        seed: int | None,
        query_limit_s: int | None,
        precision: float | None = None,
    ) -> Run:
        """Open a run with its cases; raises when nothing matches or the pattern is no regex."""
        try:
            with _pattern_errors(pattern):
                run_id = self._scalar(
                    "SELECT lab.start_run(%s, %s, %s, %s, %s, %s, %s)",
                    *(suite, profile, rounds, pattern, seed, query_limit_s, precision),
                )
        except psycopg.errors.FeatureNotSupported as error:
            raise UsageError(
                f"the suite {suite} has no cases that a limit could end",
                "Leave out --limit; --only picks cases, --rounds says how often each is run.",
            ) from error
        except psycopg.errors.NoDataFound as error:
            raise NotFoundError(
                f"no case of the suite {suite} matches {pattern!r}",
                f"See their names with `tollfree list {suite}`.",
            ) from error
        return self.run(run_id)

    def refresh_commands(self, run: Run) -> None:
        """Give the cases of a run the addresses of now."""
        self.connection.execute("SELECT lab.refresh_commands(%s)", (run.run_id,))

    def describe_run(self, run: Run, host: dict[str, Any], server: dict[str, Any]) -> None:
        """Store what a run ran on."""
        self.connection.execute(
            "UPDATE lab.runs SET host = %s, server = %s, version = %s WHERE run_id = %s",
            (Jsonb(host), Jsonb(server), __version__, run.run_id),
        )

    def set_run_state(self, run: Run, state: str) -> None:
        """Set a run's state; complete and interrupted runs get their end."""
        self.connection.execute(
            "UPDATE lab.runs SET state = %s::text,"
            " ended = CASE WHEN %s::text = 'running' THEN NULL ELSE clock_timestamp() END"
            " WHERE run_id = %s",
            (state, state, run.run_id),
        )

    def interrupt_orphans(self) -> None:
        """Mark runs whose command was killed as interrupted. Call while holding the lock.

        Raises `LabStateError` when cases are being executed in SQL, which does not take that lock.
        From here on SQL waits to do so until this connection ends.
        """
        (row,) = self.table("SELECT pg_try_advisory_lock(hashtext('lab.execremaining')) AS free")
        if not row["free"]:
            raise LabStateError(
                "a session in the lab's database is executing cases",
                "Wait until its exectestcases() or executestcases() has ended, or cancel it.",
            )
        self.connection.execute(
            "UPDATE lab.runs SET state = 'interrupted', ended = clock_timestamp()"
            " WHERE state = 'running'"
        )

    def run(self, run_id: int) -> Run:
        """Return a run; raises `NotFoundError` when there is none."""
        runs = self._rows(Run, "SELECT * FROM lab.runs WHERE run_id = %s", run_id)
        if not runs:
            raise no_such_run(run_id)
        return runs[0]

    def runs(self) -> list[Run]:
        """Return all runs, the newest first."""
        return self._rows(Run, "SELECT * FROM lab.runs ORDER BY started DESC, run_id DESC")

    def latest_run(self, suite: str | None = None, state: str | None = None) -> Run | None:
        """Return the newest run, of that suite and in that state if given."""
        runs = [
            run for run in self.runs() if suite in (None, run.suite) and state in (None, run.state)
        ]
        return runs[0] if runs else None

    def remaining(self, run: Run) -> list[Step]:
        """Return what a run still has to execute, in order."""
        return self._rows(
            Step,
            "SELECT iter, testcase, seconds FROM lab.remaining WHERE run_id = %s ORDER BY place",
            run.run_id,
        )

    def end_cases(self, run: Run, testcases: Collection[str], round_: int) -> None:
        """Have a run execute these cases in no round after that one."""
        self.connection.execute(
            "UPDATE lab.run_cases SET most_rounds = %s WHERE run_id = %s AND testcase = ANY (%s)",
            (round_, run.run_id, list(testcases)),
        )

    def execute(self, run: Run, step: Step, search_path: str) -> Result:
        """Execute one case once and return its stored row. Blocks until the command has ended."""
        return self._rows(
            Result,
            "SELECT testcase, iter, ts, state, reason, duration, value, figures, user_us,"
            " system_us, peak_kb, argv, env FROM lab.exectestcase(%s, %s, %s, %s)",
            run.run_id,
            step.testcase,
            step.iter,
            search_path,
        )[0]

    # Results

    def run_cases(self, run: Run) -> list[RunCase]:
        """Return the cases of a run."""
        return self._rows(
            RunCase,
            "SELECT testcase, candidate, baseline, figure, unit, higher_is_better, dims,"
            " most_rounds FROM lab.run_cases WHERE run_id = %s ORDER BY testcase",
            run.run_id,
        )

    def results(self, run: Run) -> list[Result]:
        """Return every execution of a run, in the order of execution."""
        return self._rows(
            Result,
            "SELECT testcase, iter, ts, state, reason, duration, value, figures, user_us,"
            " system_us, peak_kb, argv, env FROM lab.testresults WHERE run_id = %s"
            " ORDER BY iter, ts",
            run.run_id,
        )

    # What is a suite's own

    def rows(self, view: str, *, order: str = "", **values: object) -> list[dict[str, Any]]:
        """Return the rows of a view or table that have these values in these columns, sorted by the
        column `order`. A list stands for any of its values."""
        query = sql.SQL("SELECT * FROM {}").format(_name(view))
        for n, (column, value) in enumerate(values.items()):
            condition = "{} {} = ANY ({})" if isinstance(value, list) else "{} {} = {}"
            query += sql.SQL(" ") + sql.SQL(condition).format(
                sql.SQL("AND" if n else "WHERE"), sql.Identifier(column), sql.Placeholder()
            )
        if order:
            query += sql.SQL(" ORDER BY {}").format(sql.Identifier(order))
        return self.table(query, *values.values())

    def call(self, function: str, *arguments: object) -> list[dict[str, Any]]:
        """Call a function and return its rows."""
        places = sql.SQL(", ").join([sql.Placeholder()] * len(arguments))
        return self.table(
            sql.SQL("SELECT * FROM {}({})").format(_name(function), places), *arguments
        )

    def table(
        self, query: LiteralString | sql.Composed, *parameters: object
    ) -> list[dict[str, Any]]:
        """Return the rows of a query: of those above, and of tests."""
        with self.connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query, parameters).fetchall()

    # Row shapes

    def _rows(self, shape: type[T], query: LiteralString, *parameters: object) -> list[T]:
        with self.connection.cursor(row_factory=class_row(shape)) as cursor:
            return cursor.execute(query, parameters).fetchall()

    def _column(self, query: LiteralString, *parameters: object) -> list[Any]:
        with self.connection.cursor(row_factory=scalar_row) as cursor:
            return cursor.execute(query, parameters).fetchall()

    def _scalar(self, query: LiteralString, *parameters: object) -> Any:
        with self.connection.cursor(row_factory=tuple_row) as cursor:
            row = cursor.execute(query, parameters).fetchone()
        return None if row is None else row[0]


def written_builds() -> dict[str, str]:
    """Return which scripts the database has executed once the lab has started from this checkout:
    that of the extension and those of further suites."""
    scripts = {suite: text.encode() for suite, text in suite_scripts().items()}
    return {name: _build(text) for name, text in {EXTENSION: written_script(), **scripts}.items()}


def _build(script: bytes) -> str:
    """Return what tells apart scripts."""
    return hashlib.sha256(script).hexdigest()[:12]


def _name(name: str) -> sql.Identifier:
    """Return what has this name in the schema `lab`, or in the schema that it is qualified by."""
    return sql.Identifier(*(name.split(".") if "." in name else ("lab", name)))


@contextmanager
def _pattern_errors(pattern: str) -> Iterator[None]:
    """Turn the server's complaint about a regular expression into one about the option."""
    try:
        yield
    except psycopg.errors.InvalidRegularExpression as error:
        raise UsageError(
            f"{pattern!r} is not a regular expression: {error.diag.message_primary}",
            "Quote its special characters with a backslash.",
        ) from error
