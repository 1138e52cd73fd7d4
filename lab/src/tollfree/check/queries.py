"""What queries wait for: the one that was given, or the most expensive ones of pg_stat_statements.

Only the query given is executed, and only if that is asked for. Each other is prepared and its
generic plan read. That works with the
parameters that pg_stat_statements puts in place of constants, on every major. But planning executes
functions, those that are declared immutable or stable, with all rights of who plans. So what other
users have executed is planned only where that is allowed: anybody may have such a function, and get
a call of it into pg_stat_statements.
"""

import re
import time
from dataclasses import replace

import psycopg
from psycopg import sql

from tollfree.check.model import ForeignServer, ForeignTable, Query
from tollfree.check.plans import NotCountedError, Plan, costs, plan_of
from tollfree.check.session import MARK, Row, Session, reason
from tollfree.check.travels import travels

STATISTICS = "pg_stat_statements"
EXPENSIVE = "the most expensive queries"
HIDDEN = "<insufficient privilege>"
"""What pg_stat_statements has in place of a text that the user may not see."""
STATEMENTS = """
    SELECT s.query, s.userid = (SELECT oid FROM pg_roles WHERE rolname = session_user) AS own,
        count(*) AS entries, sum(s.calls)::int8 AS calls,
        sum(s.total_exec_time) / sum(s.calls)::float8 AS mean_ms
    FROM {}.pg_stat_statements s
    WHERE s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND strpos(s.query, %s) = 0 AND s.calls > 0
    GROUP BY s.queryid, s.query, own
    ORDER BY {}sum(s.total_exec_time) DESC
    LIMIT 100
"""
WALK_LIMIT_S = 60
"""How long to go through them: each is planned, and may take all of the statement's limit."""
OTHERS = (
    "planning executes functions, with your rights: connect as the user whose queries they are, or"
    " give --all-users where you trust whoever may create functions"
)
NO_SQL = "pg_stat_statements has it in a form that is no SQL"
IS_QUERY = re.compile(r"\s*\(*\s*(select|with|values|table|insert|update|delete|merge)\b", re.I)
TYPED = re.compile(
    r"\b(interval|date|time|timestamp|timestamptz|timestamp with time zone)\s+(\$\d+)", re.I
)
EXTRACT = re.compile(r"\bextract\s*\(\s*(\$\d+)\s+from\b", re.I)


def examine(
    session: Session,
    given: str | None,
    most: int,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
    *,
    all_users: bool = False,
    runs: bool = False,
) -> tuple[Query, ...]:
    """Return the query given, or up to `most` expensive ones, as far as they read foreign tables:
    those of this user, or of all. With `runs` the query given is executed."""
    found = (
        _most_expensive(session, most, servers, tables, all_users=all_users)
        if given is None
        else _given(session, given, servers, tables, runs=runs)
    )
    with session.answering("which statements it has prepared"):
        _deallocate(session)  # where a pooler keeps the connection
    return found


def _most_expensive(
    session: Session,
    most: int,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
    *,
    all_users: bool,
) -> tuple[Query, ...]:
    found: list[Query] = []
    refused: list[str] = []
    end = time.monotonic() + WALK_LIMIT_S
    rows = _expensive(session, all_users=all_users) if servers else []
    for n, row in enumerate(rows):
        if len(found) == most:
            break
        if time.monotonic() > end:
            what = f"what the last {len(rows) - n} of {EXPENSIVE} wait for"
            session.not_known(what, f"planning those before took {WALK_LIMIT_S} s")
            break
        with session.answering(EXPENSIVE):
            try:
                plan = _plan_of_statistics(session, row["query"])
                found += _counted(row["query"], plan, row, servers, tables)
            except psycopg.errors.SyntaxError:
                if IS_QUERY.match(row["query"]):
                    refused.append(NO_SQL)
            except (psycopg.Error, NotCountedError) as error:
                refused.append(_why(error))
    if refused:
        session.not_known(f"what {len(refused)} of {EXPENSIVE} wait for", refused[0])
    return tuple(found)


def _given(
    session: Session,
    given: str,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
    *,
    runs: bool,
) -> tuple[Query, ...]:
    what = "what the query waits for"
    found: list[Query] = []
    with session.answering(what):
        try:
            plan = _executed(session, given) if runs else _generic_plan(session, given)
            moved = travels(session, plan, servers, tables)
            counted = _counted(given, plan, None, servers, tables)
            found = [replace(one, travels=moved) for one in counted]
            if not found:
                session.not_known(what, "it reads no foreign table that is known")
        except NotCountedError as error:
            session.not_known(what, str(error))
    return tuple(found)


def _expensive(session: Session, *, all_users: bool) -> list[Row]:
    """Return what pg_stat_statements shows this user of the queries that may be planned."""
    rows: list[Row] = []
    with session.answering(EXPENSIVE):
        schema = session.run(
            "SELECT n.nspname::text FROM pg_extension e JOIN pg_namespace n"
            " ON n.oid = e.extnamespace WHERE e.extname = %s",
            STATISTICS,
        )
        if not schema:
            session.not_known(EXPENSIVE, f"{STATISTICS} is not in this database; give a --query")
            return []
        first = sql.SQL("" if all_users else "own DESC, ")
        query = sql.SQL(STATEMENTS).format(sql.Identifier(schema[0]["nspname"]), first)
        rows += session.run(query, MARK.decode())
    hidden = [row for row in rows if row["query"] == HIDDEN]
    shown = [row for row in rows if row["query"] != HIDDEN]
    others = [row for row in shown if not row["own"]]
    _not_planned(session, hidden, "it takes pg_read_all_stats")
    if all_users:
        return shown
    _not_planned(session, others, OTHERS)
    return [row for row in shown if row["own"]]


def _not_planned(session: Session, rows: list[Row], why: str) -> None:
    if rows:
        known = sum(row["entries"] for row in rows)
        session.not_known(f"{known} or more queries of other users", why)


def _plan_of_statistics(session: Session, query: str) -> Plan:
    """Return the generic plan of a text of pg_stat_statements, in a subtransaction.

    Where that has put a parameter into a constant with a type, as in `interval $1`, the text is no
    SQL.
    """
    text = EXTRACT.sub(r"pg_catalog.extract(\1,", TYPED.sub(r"\2::\1", query))
    try:
        with session.savepoint():
            return _generic_plan(session, query)
    except psycopg.errors.SyntaxError:
        if text == query:
            raise
    with session.savepoint():
        return _generic_plan(session, text)


def _generic_plan(session: Session, query: str) -> Plan:
    """Return the generic plan of a statement, whose parameters are of unknown values."""
    _deallocate(session)
    session.run_given("PREPARE tollfree_check AS", query)
    plan = _explained(session)
    _deallocate(session)
    return plan


def _executed(session: Session, query: str) -> Plan:
    """Return the plan of a statement with what executing it has counted.

    The transaction is READ ONLY and rolled back, as all of them.
    """
    return plan_of(session.run_given("EXPLAIN (ANALYZE, TIMING OFF, VERBOSE, FORMAT JSON)", query))


def _deallocate(session: Session) -> None:
    """Drop the statement, if there is one: a rollback does not take back a PREPARE."""
    if session.run("SELECT name FROM pg_prepared_statements WHERE name = 'tollfree_check'"):
        session.run("DEALLOCATE tollfree_check")


def _explained(session: Session) -> Plan:
    """Return the generic plan of the prepared statement."""
    parameters = session.run(
        "SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements"
        " WHERE name = 'tollfree_check'"
    )[0]["count"]
    session.run("SET LOCAL plan_cache_mode = force_generic_plan")
    arguments = f"({', '.join(['NULL'] * parameters)})" if parameters else ""
    command = "EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE tollfree_check"
    return plan_of(session.run_given(command, arguments))


def _counted(
    query: str,
    plan: Plan,
    row: Row | None,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
) -> list[Query]:
    counted = costs(plan, servers, tables)
    if counted is None:
        return []
    return [
        Query(
            query,
            row["calls"] if row else None,
            row["mean_ms"] if row else None,
            counted.servers,
            counted.remote_rows,
            counted.file_rows,
            counted.stock_round_trips,
            counted.ours_round_trips,
        )
    ]


def _why(error: Exception) -> str:
    return reason(error) if isinstance(error, psycopg.Error) else str(error)
