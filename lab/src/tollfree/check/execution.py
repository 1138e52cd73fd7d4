"""A query executed by the stock wrappers and by ours, on copies of its foreign tables.

Each transaction makes copies of the tables: on the server itself for stock, on a copy of the server
for ours. Of a file there is no copy: both read it. Then the query is executed twice, of which the
second time counts. Transactions of both alternate, so that both see the same minutes. The times
exclude the begin and end of a transaction.
"""

from statistics import median

from tollfree.check.copies import (
    NotExecutedError,
    Timed,
    executed,
    freeze,
    leaving_nothing,
    make_server,
    make_table,
    require_copyable,
)
from tollfree.check.inventory import OUR_WRAPPER
from tollfree.check.model import Execution, ForeignServer, ForeignTable
from tollfree.check.plans import Plan, foreign_scans, nodes, tables_read
from tollfree.check.session import Session

STOCK, OURS = "stock", "ours"
ROUNDS = 3
WHAT = "how long the query takes by both wrappers"


def execute(
    session: Session,
    query: str,
    real: Plan,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
) -> Execution | None:
    """Return how both did, None if that is not known; `real` is the plan on the tables."""
    by: dict[str, list[Timed]] = {STOCK: [], OURS: []}
    for side in (STOCK, OURS) * ROUNDS:
        done = None
        with session.trying(WHAT):
            try:
                copied = _make_copies(session, side, real, servers, tables)
                freeze(session, query, tables)
                with leaving_nothing(session, copied):
                    executed(session, query)  # connects
                    done = executed(session, query)
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


def _make_copies(
    session: Session,
    side: str,
    real: Plan,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
) -> list[ForeignTable]:
    """Copy the foreign tables that a plan reads, for the stock wrappers or for ours; return
    them."""
    read = tables_read(real, tables)
    if not read:
        raise NotExecutedError("with the values in it, it reads no foreign table")
    for table in read:
        if servers[table.server].wrapper not in OUR_WRAPPER:
            raise NotExecutedError(f"server {table.server} is not of a stock wrapper")
    require_copyable(read)
    on = {table.server: table.server for table in read}
    if side == OURS:
        on = {server: f"tollfree_check_{n}" for n, server in enumerate(on)}
        for server, copy in on.items():
            make_server(session, server, copy, OUR_WRAPPER[servers[server].wrapper])
    for table in read:
        make_table(session, table, on[table.server])
    return read


def _shape(plan: Plan) -> list[str]:
    return [node["Node Type"] for node, _ in nodes(plan)]
