"""What queries wait for: the one that was given, or the most expensive ones of pg_stat_statements.

Nothing is executed here: each query is prepared and its generic plan read. That works with the
parameters that pg_stat_statements puts in place of constants, on every major.
"""

import re

import psycopg
from psycopg import sql

from tollfree.check.model import ForeignServer, ForeignTable, Query
from tollfree.check.plans import NotCountedError, Plan, costs, plan_of
from tollfree.check.session import MARK, Row, Session, reason

STATISTICS = "pg_stat_statements"
EXPENSIVE = "the most expensive queries"
HIDDEN = "<insufficient privilege>"
"""What pg_stat_statements has in place of a text that the user may not see."""
STATEMENTS = """
    SELECT s.query, count(*) AS entries, sum(s.calls)::int8 AS calls,
        sum(s.total_exec_time) / sum(s.calls)::float8 AS mean_ms
    FROM {}.pg_stat_statements s
    WHERE s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND strpos(s.query, %s) = 0 AND s.calls > 0
    GROUP BY s.queryid, s.query
    ORDER BY sum(s.total_exec_time) DESC
    LIMIT 100
"""
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
) -> tuple[Query, ...]:
    """Return the query given, or up to `most` expensive ones, as far as they ask remote servers."""
    found = (
        _most_expensive(session, most, servers, tables)
        if given is None
        else _given(session, given, servers, tables)
    )
    with session.answering("which statements it has prepared"):
        _deallocate(session)  # where a pooler keeps the connection
    return found


def _most_expensive(
    session: Session,
    most: int,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
) -> tuple[Query, ...]:
    found: list[Query] = []
    refused: list[str] = []
    for row in _expensive(session) if servers else []:
        if len(found) == most:
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
) -> tuple[Query, ...]:
    what = "what the query waits for"
    found: list[Query] = []
    with session.answering(what):
        try:
            found = _counted(given, _generic_plan(session, given), None, servers, tables)
            if not found:
                session.not_known(what, "it asks no remote server that is known")
        except NotCountedError as error:
            session.not_known(what, str(error))
    return tuple(found)


def _expensive(session: Session) -> list[Row]:
    """Return what pg_stat_statements shows this user."""
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
        query = sql.SQL(STATEMENTS).format(sql.Identifier(schema[0]["nspname"]))
        rows += session.run(query, MARK.decode())
    hidden = sum(row["entries"] for row in rows if row["query"] == HIDDEN)
    if hidden:
        session.not_known(f"{hidden} queries of other users", "it takes pg_read_all_stats")
    return [row for row in rows if row["query"] != HIDDEN]


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
    nulls = sql.SQL(", ").join([sql.NULL] * parameters)
    arguments = sql.SQL("({})").format(nulls) if parameters else sql.SQL("")
    command = sql.SQL("EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE tollfree_check {}")
    return plan_of(session.run(command.format(arguments)))


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
            counted.stock_round_trips,
            counted.ours_round_trips,
        )
    ]


def _why(error: Exception) -> str:
    return reason(error) if isinstance(error, psycopg.Error) else str(error)
