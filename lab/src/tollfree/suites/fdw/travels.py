"""Part `travels` of suite `fdw`: everyday statements, and the rows that travel for them.

The statements and their tables are in the driver tables `lab.fdw_travels` and
`lab.fdw_travel_scripts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tollfree.cluster import Cluster
from tollfree.report.model import Column, Table
from tollfree.store import Store
from tollfree.suites.fdw.bulk import without_the_link
from tollfree.suites.fdw.databases import SOURCE
from tollfree.suites.fdw.findings import FdwFindings
from tollfree.suites.foreign import Connection
from tollfree.suites.presentation import number

STOCK = "postgres_fdw"
MORE, QUESTIONS = 1.1, 5
"""More than needed are a tenth more rows, and more than the answers to a wrapper's questions."""


def make_travel_tables(instances: Mapping[str, Cluster], store: Store) -> None:
    """Make the tables that statements of the present run use, on the source and in each database
    that it measures; none if it has no such statement."""
    places = store.rows("fdw_travel_places", order="dbname")
    if not places:
        return
    scripts = {row["place"]: row["script"] for row in store.rows("fdw_travel_scripts")}
    with instances[SOURCE].connect(SOURCE) as connection:
        connection.execute(scripts["source"])
        connection.execute("VACUUM (ANALYZE) event, client, metric_1, metric_2")
        connection.execute(scripts["local"])
    for place in places:
        if place["dbname"] == SOURCE:
            continue
        with instances[place["instance"]].connect(place["dbname"]) as connection:
            _make_travel_place(connection, scripts, instances[SOURCE].port)


def _make_travel_place(connection: Connection, scripts: dict[str, str], port: int) -> None:
    """Make the foreign tables; what ANALYZE reads does not go over the link."""
    with without_the_link(connection, port):
        connection.execute(scripts["foreign"])
        connection.execute(scripts["local"])


@dataclass(frozen=True)
class Travel:
    """One execution of a statement through a wrapper."""

    travel: str
    kind: str
    wrapper: str
    needed: float
    """Rows that have to travel."""
    rows: float
    """That the remote server has sent."""
    bytes: float
    """Of both directions."""
    round_trips: float
    ms: float | None
    of_stock: float | None
    """How many times the time through the stock wrapper."""

    @property
    def is_more(self) -> bool:
        """Return whether rows have travelled for nothing."""
        return self.rows > max(self.needed * MORE, self.needed + QUESTIONS)


def travels(fdw: FdwFindings) -> list[Travel]:
    """Return the statements through each wrapper."""
    names = [x for x in fdw.ordered(measure="travels") if fdw.run.values(x)]
    found = [_travel(fdw, x) for x in names if fdw.dims(x)["wrapper"] != "none"]
    return [x for x in found if x is not None]


def _travel(fdw: FdwFindings, name: str) -> Travel | None:
    dims = fdw.dims(name)
    counters = ("rows_to_client", "bytes_to_client", "bytes_to_server", "flights")
    rows, received, sent, flights = (fdw.counted(name, x) for x in counters)
    if rows is None or received is None or sent is None or flights is None:
        return None
    stock = fdw.run.find(
        measure="travels", bench=dims["bench"], wrapper=STOCK, target=dims["target"]
    )
    ratio = fdw.run.ratio(name, stock[0]) if stock else None
    needed = dims["needed"]
    return Travel(
        travel=str(dims["bench"]),
        kind=str(dims["class"]),
        wrapper=str(dims["wrapper"]),
        needed=float(fdw.run.middle(name, "rows") or 0) if needed is None else float(needed),
        rows=rows,
        bytes=received + sent,
        round_trips=flights,
        ms=fdw.run.middle(name, "ms"),
        of_stock=ratio.median if ratio else None,
    )


def travels_table(fdw: FdwFindings) -> Table:
    """Return rows needed and sent, bytes, round trips and time of each statement, stock's first."""
    found = sorted(travels(fdw), key=lambda x: (x.kind, x.travel, x.wrapper != STOCK, x.wrapper))
    rows = tuple(
        (
            *(x.kind, x.travel, x.wrapper, x.needed, x.rows, x.bytes, x.round_trips),
            *(x.ms, x.of_stock),
        )
        for x in found
    )
    return Table(
        "What travels for everyday statements",
        (
            *(Column("Class"), Column("Statement"), Column("Wrapper")),
            *(number("rows needed", decimals=0), number("rows sent", decimals=0)),
            *(number("bytes", "B", 0), number("round trips", decimals=1)),
            *(number("time", "ms", 2), number("of postgres_fdw's time", "x", 2)),
        ),
        rows,
        (
            "Of one execution, on a foreign table of 60,000 rows with a round trip of 2 ms. Rows "
            "needed are those that the statement returns, or that local rows are joined with. "
            "Bytes are those of both directions.",
        ),
    )


def travels_verdicts(fdw: FdwFindings) -> list[str]:
    """Return a sentence for each wrapper: how many statements have had more rows sent than they
    need."""
    found = travels(fdw)
    sentences = []
    for wrapper in sorted({x.wrapper for x in found}, key=lambda x: (x != STOCK, x)):
        of_wrapper = [x for x in found if x.wrapper == wrapper]
        more = [x.travel for x in of_wrapper if x.is_more]
        named = f": {', '.join(more)}" if more and wrapper != STOCK else ""
        sentences.append(
            f"Of {len(of_wrapper)} everyday statements through {wrapper}, {len(more) or 'none'} had"
            f" more rows sent than they need{named}."
        )
    return sentences
