"""`tollfree check`: a read-only look at a server of the user's.

`check` asks, `text.lines` prints. `inventory` has what is there, `links` what a round trip costs,
`queries` and `plans` what queries wait for, `travels` which rows come for nothing and why,
`execution` how long one takes by both wrappers, on `copies` of its tables, `files` of which files
more could be kept, `kept` what a query gains by that, `timeouts` what the remote servers allow,
`findings` and `advice` what to do about it.
Nothing here knows the lab.
"""

from dataclasses import replace

from tollfree.check import advice, copies, execution, files, findings, inventory, links, queries
from tollfree.check.kept import execute_kept
from tollfree.check.model import ForeignServer, ForeignTable, Query, Report
from tollfree.check.session import Session, connected
from tollfree.check.timeouts import timeouts

__all__ = ["Report", "check"]


def check(
    dsn: str,
    limit_s: int,
    query: str | None = None,
    most: int = 5,
    *,
    all_users: bool = False,
    executes: bool = False,
    runs: bool = False,
) -> Report:
    """Look at the server that `dsn` names; raises `LabError` only if it cannot be reached.

    `query` is explained, or else up to `most` of those in pg_stat_statements: of the session's
    user, or of all. No statement takes longer than `limit_s`. With `runs` the query given is
    executed once, to count its rows. With `executes` it makes temporary copies, to time the query
    given, by both wrappers and with what can be kept of its files, and to read the remote timeouts.
    """
    with connected(dsn, limit_s) as session:
        wrappers = inventory.wrappers(session)
        servers = inventory.servers(session)
        tables = files.with_sizes(session, inventory.tables(session))
        limits = files.settings(session)
        measured = links.measure(session, servers, tables)
        by_name = {server.name: server for server in servers}
        known = tuple(table for table in tables if table.server in by_name)
        examined = queries.examine(
            session, query, most, by_name, known, all_users=all_users, runs=runs
        )
        if executes and query is not None:
            examined = tuple(_executed(session, one, by_name, known, limits) for one in examined)
        waits = timeouts(session, servers, is_allowed=executes)
        is_standby = session.info.parameter_status("in_hot_standby") == "on"
        is_refused = any(one.what == inventory.SERVERS for one in session.unknown)
        found = (
            *((findings.STANDBY,) if is_standby else ()),
            *(() if servers or is_refused else (findings.NO_SERVER,)),
            *findings.of_servers(servers, wrappers, measured),
            *findings.of_tables(tables, by_name, measured, session.info.server_version),
            *advice.of_files(servers, known, limits, wrappers, examined),
            *findings.of_executions(examined),
        )
        return Report(
            session.info.parameter_status("server_version") or "",
            session.info.dbname,
            session.info.user,
            wrappers,
            servers,
            tables,
            measured,
            examined,
            found,
            tuple(session.unknown),
            waits,
        )


def _executed(
    session: Session,
    query: Query,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
    limits: dict[str, str],
) -> Query:
    """Return a query with what executing it on copies has told."""
    plan = copies.plan_if_only_read(session, execution.WHAT, query.query)
    if plan is None:
        return query
    known = (session, query.query, plan, servers, tables)
    return replace(query, execution=execution.execute(*known), kept=execute_kept(*known, limits))
