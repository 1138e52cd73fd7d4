"""A query executed by the stock wrappers and by ours, on copies of its foreign tables.

Each transaction makes copies of the tables in the temporary schema: on the server itself for stock,
on a copy of the server for ours. Of a file there is no copy: both read it. Then the transaction is
made READ ONLY, the query is executed twice, of which the second time counts, and all of it is
rolled back. Transactions of both alternate, so that both see the same minutes. The times exclude
the begin and end of a transaction.
"""

from dataclasses import dataclass
from statistics import median

import psycopg

from tollfree.check.inventory import OUR_WRAPPER
from tollfree.check.model import Execution, ForeignServer, ForeignTable
from tollfree.check.plans import Plan, foreign_scans, nodes, plan_of, tables_read
from tollfree.check.session import Session, reason

STOCK, OURS = "stock", "ours"
ROUNDS = 3
EXPLAIN = "EXPLAIN (VERBOSE, FORMAT JSON)"
EXECUTE = "EXPLAIN (ANALYZE, TIMING OFF, VERBOSE, FORMAT JSON)"
WHAT = "how long the query takes by both wrappers"
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


class NotExecutedError(Exception):
    """A query that the copies do not serve; says why."""


@dataclass(frozen=True)
class Timed:
    """One execution."""

    ms: float
    rows: float
    plan: Plan


def execute(
    session: Session,
    query: str,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
) -> Execution | None:
    """Return how both did, None if that is not known."""
    real = _plan_if_only_read(session, query)
    if real is None:
        return None
    by: dict[str, list[Timed]] = {STOCK: [], OURS: []}
    for side in (STOCK, OURS) * ROUNDS:
        done = None
        with session.trying(WHAT):
            try:
                _make_copies(session, side, real, servers, tables)
                done = _timed(session, query, tables)
            except NotExecutedError as error:
                session.not_known(WHAT, str(error))
        if done is None:
            return None
        by[side].append(done)
    stock, ours = by[STOCK], by[OURS]
    return Execution(
        stock_ms=round(median(one.ms for one in stock), 3),
        ours_ms=round(median(one.ms for one in ours), 3),
        executions=ROUNDS,
        stock_rows=stock[-1].rows,
        ours_rows=ours[-1].rows,
        ours_round_trips=sum(scan.get("Round Trips", 0) for scan in foreign_scans(ours[-1].plan)),
        same_plan=_shape(stock[-1].plan) == _shape(real),
    )


def _plan_if_only_read(session: Session, query: str) -> Plan | None:
    """Return the plan on the tables themselves, None unless the query only reads.

    That is so if a READ ONLY transaction opens a cursor for it, which executes nothing. The copies
    could not tell: a READ ONLY transaction may write and lock what is temporary.
    """
    with session.answering(WHAT):
        try:
            with session.savepoint():
                session.run_given("DECLARE tollfree_check NO SCROLL CURSOR FOR", query)
            return plan_of(session.run_given(EXPLAIN, query))
        except NOT_READING as error:
            session.not_known(WHAT, f"it has to be a query that only reads: {reason(error)}")
    return None


def _make_copies(
    session: Session,
    side: str,
    real: Plan,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
) -> None:
    """Copy the foreign tables that a plan reads, for the stock wrappers or for ours."""
    read = tables_read(real, tables)
    if not read:
        raise NotExecutedError("with the values in it, it reads no foreign table")
    if len({table.name for table in read}) < len(read):
        raise NotExecutedError("two of its tables have the same name")
    for table in read:
        if servers[table.server].wrapper not in OUR_WRAPPER:
            raise NotExecutedError(f"server {table.server} is not of a stock wrapper")
        if "program" in table.options:
            raise NotExecutedError(f"{table.qualified} runs a program")
        if not table.readable:
            raise NotExecutedError(f"this user may not read {table.qualified}")
    on = {table.server: table.server for table in read}
    if side == OURS:
        on = {server: f"tollfree_check_{n}" for n, server in enumerate(on)}
        for server, copy in on.items():
            wrapper = OUR_WRAPPER[servers[server].wrapper]
            session.run_given("CREATE EXTENSION IF NOT EXISTS", f"{wrapper} CASCADE")
            _make_server(session, server, copy, wrapper)
    for table in read:
        (row,) = session.query("temporary_table.sql", on[table.server], table.schema, table.name)
        session.run(row["command"].encode())


def _make_server(session: Session, server: str, copy: str, wrapper: str) -> None:
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


def _timed(session: Session, query: str, tables: tuple[ForeignTable, ...]) -> Timed:
    """Execute the query, once to connect and once for its figures."""
    session.freeze()
    plan = plan_of(session.run_given(EXPLAIN, query))
    left = tables_read(plan, tables)
    if left:
        raise NotExecutedError(
            f"it reads {left[0].qualified} by a name with a schema, through a view or as a"
            " partition, where a temporary copy does not stand in for it"
        )
    session.run_given(EXECUTE, query)
    answer = session.run_given(EXECUTE, query)[0]["QUERY PLAN"][0]
    return Timed(answer["Execution Time"], answer["Plan"]["Actual Rows"], answer["Plan"])


def _shape(plan: Plan) -> list[str]:
    return [node["Node Type"] for node, _ in nodes(plan)]
