"""What `tollfree check` says of a server, as data. `--json` prints these classes, field by field.

Fields are only added to a format, never renamed: scripts read them. docs/howto/checking.md lists
them.
"""

from dataclasses import dataclass
from datetime import datetime

FORMAT = "tollfree-check-1"


@dataclass(frozen=True)
class Wrapper:
    """One of our wrappers, as the server knows it."""

    name: str
    available: str | None
    """The version that CREATE EXTENSION would create."""
    installed: str | None
    """The version in this database."""
    usable: bool
    """Whether this user has USAGE on the wrapper, or is superuser while it is not created."""


@dataclass(frozen=True)
class ForeignServer:
    """A foreign server of one of the four wrappers."""

    name: str
    wrapper: str
    owner: str
    options: dict[str, str]
    usable: bool
    """Whether this user has USAGE on it."""
    owned: bool
    """Whether this user has the rights of its owner."""
    wrapper_usable: bool
    """Whether this user has USAGE on its wrapper."""
    mapped: bool
    """Whether it has a user mapping for this user or for PUBLIC."""


@dataclass(frozen=True)
class ForeignTable:
    """A foreign table of one of these servers."""

    schema: str
    name: str
    qualified: str
    """Schema and name, quoted as PostgreSQL does."""
    server: str
    options: dict[str, str]
    row_estimate: float | None
    """None until it has been analyzed."""
    analyzed: datetime | None
    analyzed_days_ago: float | None
    readable: bool
    """Whether this user may select any column."""
    owner: str
    owned: bool
    """Whether this user has the rights of its owner."""
    file_size: int | None = None
    """Bytes of its file; None if it has not one, or the server does not tell this user."""


@dataclass(frozen=True)
class Link:
    """What one round trip to a remote server takes, as measured by empty queries."""

    server: str
    table: str
    """The foreign table that was asked for no rows."""
    rtt_ms: float
    """The median."""
    rtt_min_ms: float
    queries: int
    connect_ms: float
    """What the first query took longer than the others: connecting, above all."""


@dataclass(frozen=True)
class Timeouts:
    """What a remote server sets for the sessions of its foreign server."""

    server: str
    settings_ms: dict[str, float]
    """Milliseconds by setting; 0 is none."""


@dataclass(frozen=True)
class Execution:
    """A query executed by both wrappers on copies of its tables: medians of the times inside one
    transaction, which leave out its begin and end."""

    stock_ms: float
    ours_ms: float
    executions: int
    """How many were timed, of each."""
    stock_rows: float
    ours_rows: float
    ours_round_trips: int
    same_plan: bool
    """Whether the copies, which have no statistics, are read by a plan of the same shape."""


@dataclass(frozen=True)
class KeptExecution:
    """A query executed on copies of tables of files, as they are and with record indexes and kept
    columns: medians of the times inside one transaction, which leave out its begin and end."""

    tables: tuple[str, ...]
    """Those that were copied: more could be kept of their files."""
    plain_ms: float
    """On copies with the tables' own options."""
    first_ms: float
    """The first time with more kept, which makes it; no median."""
    later_ms: float
    """From the second time on."""
    executions: int
    """How many were timed, but for the first time."""
    kept_bytes: int
    """What was kept on disk."""
    plain_rows: float
    later_rows: float
    reasons: tuple[str, ...]
    """Why nothing was kept of a file, as the plan says."""
    is_faster: bool
    """Whether it gains enough to be proposed."""


@dataclass(frozen=True)
class Evaluation:
    """A part of a query that is evaluated here, the reason, and what to do about it."""

    expression: str
    reason: str
    """Of postgres_fdw a guess: it does not say."""
    advice: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Travel:
    """A scan whose rows all travel to be evaluated here."""

    relation: str
    server: str
    rows_sent: float | None
    """How many travel; None if the plan does not say."""
    rows_needed: float
    """How many are left of them: rows, or groups of them."""
    is_measured: bool
    """Whether the query has been executed; otherwise the planner expects so."""
    evaluated: tuple[Evaluation, ...]


@dataclass(frozen=True)
class Query:
    """A query, the round trips it waits for, and what ours would wait for."""

    query: str
    calls: int | None
    """Of pg_stat_statements, as is the next one; None of a query that was given."""
    mean_ms: float | None
    servers: tuple[str, ...]
    remote_rows: float
    """How many rows the remote servers send, as the planner expects."""
    file_rows: float
    """How many rows the scans of files return, as the planner expects."""
    stock_round_trips: float
    ours_round_trips: float
    """At least so many: lookups in loops are taken to be sent in batches."""
    execution: Execution | None = None
    """None unless it was asked for, and could be."""
    travels: tuple[Travel, ...] = ()
    """Of the query that was given."""
    kept: KeptExecution | None = None
    """As `execution`; None, too, if it reads no file of which more could be kept."""


@dataclass(frozen=True)
class Finding:
    """Something to do or to know, the SQL that does it, and the SQL that takes it back."""

    about: str
    text: str
    remedy: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unknown:
    """A question that has no answer, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class Report:
    """All that was found."""

    server_version: str
    database: str
    user: str
    wrappers: tuple[Wrapper, ...]
    servers: tuple[ForeignServer, ...]
    tables: tuple[ForeignTable, ...]
    links: tuple[Link, ...]
    queries: tuple[Query, ...]
    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    timeouts: tuple[Timeouts, ...] = ()
    format: str = FORMAT
