"""Temporary copies of foreign tables, and the user's query on them.

A copy is in the temporary schema, where a name without a schema finds it first: on the table's own
server, or on a copy of that of another wrapper. Of a file there is no copy. All is made in a
transaction that is rolled back, and becomes READ ONLY before the query is executed. What
tollfree_file_fdw keeps on disk of the copies' files is no part of a transaction: it is removed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql

from tollfree.check.files import OURS
from tollfree.check.model import ForeignTable
from tollfree.check.plans import Plan, plan_of, tables_read
from tollfree.check.session import Session, reason

EXPLAIN = "EXPLAIN (VERBOSE, FORMAT JSON)"
EXECUTE = "EXPLAIN (ANALYZE, TIMING OFF, VERBOSE, FORMAT JSON)"
KEEPS_NESTED = """
    SELECT coalesce(current_setting('pg_stat_statements.track', true) = 'all'
                    AND current_setting('pg_stat_statements.track_utility', true)::bool, false)
           AS keeps
"""
"""Whether pg_stat_statements keeps commands that a DO block executes."""
NOT_READING = (
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.SyntaxError,
    psycopg.errors.FeatureNotSupported,
)
"""What DECLARE says of a statement that is no query, or that writes."""
SCHEMA = """
    SELECT n.nspname::text AS schema FROM pg_extension e JOIN pg_namespace n
    ON n.oid = e.extnamespace
    WHERE e.extname = %s AND has_schema_privilege(n.oid, 'USAGE')
"""
COPIES = """
    SELECT oid FROM pg_class
    WHERE relnamespace = pg_my_temp_schema() AND relkind = 'f' AND relname = ANY (%s)
"""
FORGET = sql.SQL(f"SELECT {{}}(oid::regclass) FROM ({COPIES}) AS copies")
KEPT_BYTES = sql.SQL(f"""
    SELECT (SELECT coalesce(sum(index_size), 0) FROM {{}}() WHERE relation::oid IN ({COPIES}))
        + (SELECT coalesce(sum(size), 0) FROM {{}}() WHERE relation::oid IN ({COPIES})) AS bytes
""")


class NotExecutedError(Exception):
    """A query that the copies do not serve; says why."""


@dataclass(frozen=True)
class Timed:
    """One execution."""

    ms: float
    rows: float
    plan: Plan


def plan_if_only_read(session: Session, what: str, query: str) -> Plan | None:
    """Return the plan on the tables themselves, None unless the query only reads; then `what` is
    not known.

    That is so if a READ ONLY transaction opens a cursor for it, which executes nothing. The copies
    could not tell: a READ ONLY transaction may write and lock what is temporary.
    """
    with session.answering(what):
        try:
            with session.savepoint():
                session.run_given("DECLARE tollfree_check NO SCROLL CURSOR FOR", query)
            return plan_of(session.run_given(EXPLAIN, query))
        except NOT_READING as error:
            session.not_known(what, f"it has to be a query that only reads: {reason(error)}")
    return None


def require_copyable(tables: Sequence[ForeignTable]) -> None:
    """Raise `NotExecutedError` unless each can have a copy, beside the others."""
    if len({table.name for table in tables}) < len(tables):
        raise NotExecutedError("two of its tables have the same name")
    for table in tables:
        if "program" in table.options:
            raise NotExecutedError(f"{table.qualified} runs a program")
        if not table.readable:
            raise NotExecutedError(f"this user may not read {table.qualified}")


def make_server(session: Session, server: str, copy: str, wrapper: str) -> None:
    """Copy a server, with the user mapping that this user has there, to another wrapper, whose
    extension is created if it is missing."""
    session.run_given("CREATE EXTENSION IF NOT EXISTS", f"{wrapper} CASCADE")
    _keep_from_statistics(session)
    session.run(
        "SELECT set_config('tollfree_check.server', %s, true),"
        " set_config('tollfree_check.copy', %s, true),"
        " set_config('tollfree_check.wrapper', %s, true)",
        *(server, copy, wrapper),
    )
    session.query("temporary_server.sql")


def _keep_from_statistics(session: Session) -> None:
    """Have pg_stat_statements not keep the copy of a user mapping, with the password in it."""
    (row,) = session.run(KEEPS_NESTED)
    if not row["keeps"]:
        return
    try:
        with session.savepoint():
            session.run("SET LOCAL pg_stat_statements.track_utility = off")
    except psycopg.errors.InsufficientPrivilege as error:
        raise NotExecutedError(
            "pg_stat_statements.track is all: it would keep the password of the copied user"
            " mapping. A superuser's session does not have it kept"
        ) from error


def make_table(session: Session, table: ForeignTable, server: str) -> None:
    """Copy a foreign table to a server."""
    (row,) = session.query("temporary_table.sql", server, table.schema, table.name)
    session.run(row["command"].encode())


def freeze(session: Session, query: str, copied: tuple[ForeignTable, ...]) -> None:
    """Make the transaction READ ONLY; raise `NotExecutedError` if the query still reads one of the
    tables that have copies."""
    session.freeze()
    left = tables_read(plan_of(session.run_given(EXPLAIN, query)), copied)
    if left:
        raise NotExecutedError(
            f"it reads {left[0].qualified} by a name with a schema, through a view or as a"
            " partition, where a temporary copy does not stand in for it"
        )


def executed(session: Session, query: str) -> Timed:
    """Execute the query, once."""
    answer = session.run_given(EXECUTE, query)[0]["QUERY PLAN"][0]
    return Timed(answer["Execution Time"], answer["Plan"]["Actual Rows"], answer["Plan"])


@contextmanager
def leaving_nothing(session: Session, copied: Sequence[ForeignTable]) -> Iterator[None]:
    """Run the body in a subtransaction, and then remove what is kept of the files of copies, also
    behind an error."""
    names = [table.name for table in copied if "filename" in table.options]
    try:
        with session.savepoint():
            yield
    finally:
        schema = schema_of_ours(session) if names else None
        if schema is not None:
            session.run(FORGET.format(_function(schema, "drop_record_index")), names)


def kept_bytes(session: Session, copied: Sequence[ForeignTable]) -> int:
    """Return how large what is kept of the files of copies is on disk."""
    names, schema = [table.name for table in copied], schema_of_ours(session)
    if schema is None:
        return 0
    functions = (_function(schema, name) for name in ("record_indexes", "cached_columns"))
    return int(session.run(KEPT_BYTES.format(*functions), names, names)[0]["bytes"])


def schema_of_ours(session: Session) -> str | None:
    """Return where the functions of tollfree_file_fdw are; None if it is not in the database, or
    this user may not call them."""
    return next((row["schema"] for row in session.run(SCHEMA, OURS)), None)


def _function(schema: str, name: str) -> sql.Identifier:
    return sql.Identifier(schema, f"{OURS}_{name}")
