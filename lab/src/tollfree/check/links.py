"""What a round trip to each remote server takes, measured by queries for no rows.

`SELECT FROM t LIMIT 0` reads nothing, but is sent: the wrapper has the remote server do the LIMIT.
EXPLAIN says so beforehand; what it would not send so is not executed. Stock waits for two round
trips in the scan's own time, DECLARE and FETCH; our wrapper says in EXPLAIN for how many it waited.
The times are those of the local server's clock, so the way to this client does not count.
"""

from statistics import median

import psycopg
from psycopg import sql

from tollfree.check.inventory import REMOTE_WRAPPERS, is_on
from tollfree.check.model import ForeignServer, ForeignTable, Link
from tollfree.check.plans import Plan, foreign_scans, plan_of
from tollfree.check.session import Session, reason

QUERIES = 6
"""The first one connects."""
TABLES_TRIED = 3
STOCK_SCAN_ROUND_TRIPS = 2


def measure(
    session: Session, servers: tuple[ForeignServer, ...], tables: tuple[ForeignTable, ...]
) -> tuple[Link, ...]:
    """Return the links that could be measured."""
    links = []
    for server in servers:
        if server.wrapper in REMOTE_WRAPPERS:
            own = [table for table in tables if table.server == server.name]
            links += _measure(session, server, own)
    return tuple(links)


def _measure(session: Session, server: ForeignServer, tables: list[ForeignTable]) -> list[Link]:
    what = f"the round trip to server {server.name}"
    if not server.mapped:
        session.not_known(what, "it has no user mapping for this user")
        return []
    readable = [table for table in tables if table.readable][:TABLES_TRIED]
    if not readable:
        why = "this user may read none of its foreign tables" if tables else "no foreign table"
        session.not_known(what, why)
        return []
    why = ""
    for table in readable:
        with session.answering(what):
            try:
                with session.savepoint():
                    if link := _link(session, server, table):
                        return [link]
                why = f"LIMIT is not sent for {table.qualified}"
            except psycopg.Error as error:
                why = reason(error)
    session.not_known(what, why)
    return []


def _link(session: Session, server: ForeignServer, table: ForeignTable) -> Link | None:
    """Return the link of a table's rows, None if a query for no rows would not go there."""
    probe = sql.SQL("SELECT FROM {} LIMIT 0").format(sql.Identifier(table.schema, table.name))
    explained = session.run(sql.SQL("EXPLAIN (VERBOSE, SUMMARY, FORMAT JSON) ") + probe)
    scans = foreign_scans(plan_of(explained))
    if not any("LIMIT 0" in scan.get("Remote SQL", "") for scan in scans):
        return None
    command = sql.SQL("EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ") + probe
    answers = [session.run(command)[0]["QUERY PLAN"][0] for _ in range(QUERIES)]
    round_trips = [_round_trip_ms(foreign_scans(answer["Plan"])[0]) for answer in answers[1:]]
    first, *others = (answer["Planning Time"] + answer["Execution Time"] for answer in answers)
    in_planning = 0.0
    if is_on(server.options, "use_remote_estimate"):
        # The connection is made by the one who plans first.
        planning = explained[0]["QUERY PLAN"][0]["Planning Time"]
        in_planning = planning - median(answer["Planning Time"] for answer in answers)
    return Link(
        server.name,
        table.qualified,
        rtt_ms=round(median(round_trips), 3),
        rtt_min_ms=round(min(round_trips), 3),
        queries=len(round_trips),
        connect_ms=round(max(first - median(others), in_planning, 0.0), 3),
    )


def _round_trip_ms(scan: Plan) -> float:
    total_ms: float = scan["Actual Total Time"]
    return total_ms / (scan.get("Round Trips") or STOCK_SCAN_ROUND_TRIPS)
