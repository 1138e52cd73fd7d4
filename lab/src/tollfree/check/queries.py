"""What queries wait for: the one that was given, or the most expensive ones of pg_stat_statements.

Nothing is executed here: each query is prepared and its generic plan read. That works with the
parameters that pg_stat_statements puts in place of constants, on every major.
"""

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
    SELECT s.query, s.calls, s.mean_exec_time AS mean_ms
    FROM {}.pg_stat_statements s
    WHERE s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND strpos(s.query, %s) = 0
    ORDER BY s.total_exec_time DESC
    LIMIT 100
"""


def examine(
    session: Session,
    given: str | None,
    most: int,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
) -> tuple[Query, ...]:
    """Return the query given, or up to `most` expensive ones, as far as they ask remote servers."""
    if given is not None:
        return _given(session, given, servers, tables)
    found: list[Query] = []
    refused: list[str] = []
    for row in _expensive(session) if servers else []:
        if len(found) == most:
            break
        with session.answering(EXPENSIVE):
            try:
                with session.savepoint():
                    plan = _generic_plan(session, row["query"])
                found += _counted(row["query"], plan, row, servers, tables)
            except (psycopg.errors.SyntaxError, psycopg.errors.InvalidTextRepresentation):
                continue  # a utility statement, or one that was cut short
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
    hidden = sum(row["query"] == HIDDEN for row in rows)
    if hidden:
        session.not_known(f"{hidden} queries of other users", "it takes pg_read_all_stats")
    return [row for row in rows if row["query"] != HIDDEN]


def _generic_plan(session: Session, query: str) -> Plan:
    """Return the generic plan of a statement, whose parameters are of unknown values."""
    session.run("DEALLOCATE ALL")  # a rollback does not take back a PREPARE
    session.run_given("PREPARE tollfree_check AS", query)
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
