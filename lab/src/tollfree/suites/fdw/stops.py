"""Part `stops` of suite `fdw`: statements that stop before they have read their whole input.

The cases are in the driver tables `lab.fdw_stops` and `lab.fdw_stop_links`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tollfree.cluster import Cluster
from tollfree.report.model import Column, Table
from tollfree.store import Store
from tollfree.suites.fdw.findings import FdwFindings, is_distant, round_trip_us
from tollfree.suites.presentation import number

STOCK = "postgres_fdw"
MORE = 1.1
"""More than so many times stock's rows are more."""
LOCAL_CONDITION = """
    CREATE OR REPLACE FUNCTION is_mine(integer) RETURNS boolean LANGUAGE plpgsql
        AS 'BEGIN RETURN $1 > 0; END'
"""
"""What no wrapper sends to the remote server."""


def make_stop_functions(instances: Mapping[str, Cluster], store: Store) -> None:
    """Make the function of the conditions in every database that is measured."""
    places = {(row["instance"], row["dbname"]) for row in store.rows("fdw_stop_roads")}
    for instance, dbname in sorted(places):
        with instances[instance].connect(dbname) as connection:
            connection.execute(LOCAL_CONDITION)


@dataclass(frozen=True)
class Stop:
    """What one execution of a statement takes on a road; medians. Counts are None where there is
    no link that counts."""

    stop: str
    wrapper: str
    link: str
    ms: float | None
    of_stock: float | None
    """How many times the time through the stock wrapper."""
    rows: float | None
    """That the remote server has sent."""
    bytes: float | None
    round_trips: float | None


def stops(fdw: FdwFindings) -> list[Stop]:
    """Return the statements through each wrapper."""
    return [
        _stop(fdw, name)
        for name in fdw.ordered(measure="stops")
        if fdw.dims(name)["wrapper"] != "none" and fdw.run.values(name)
    ]


def _stop(fdw: FdwFindings, name: str) -> Stop:
    dims = fdw.dims(name)
    place = {x: dims[x] for x in ("measure", "bench", "target", "link")}
    stock = fdw.run.find(wrapper=STOCK, **place)
    ratio = fdw.run.ratio(name, stock[0]) if stock else None
    received, sent = (fdw.counted(name, f"bytes_to_{end}") for end in ("client", "server"))
    return Stop(
        stop=str(dims["bench"]),
        wrapper=str(dims["wrapper"]),
        link=str(dims["link"]),
        ms=fdw.run.middle(name, "ms"),
        of_stock=ratio.median if ratio else None,
        rows=fdw.counted(name, "rows_to_client"),
        bytes=None if received is None or sent is None else received + sent,
        round_trips=fdw.counted(name, "flights"),
    )


def stops_table(fdw: FdwFindings) -> Table:
    """Return time, rows, bytes and round trips of each statement, stock's first."""
    rows = tuple(
        (
            *(x.stop, round_trip_us(x.link) / 1000 if is_distant(x.link) else 0.0, x.wrapper),
            *(x.rows, x.bytes, x.round_trips, x.ms, x.of_stock),
        )
        for x in sorted(stops(fdw), key=lambda x: (x.stop, x.link, x.wrapper != STOCK, x.wrapper))
    )
    return Table(
        "Statements that stop early",
        (
            *(Column("Statement"), number("round trip", "ms", 0), Column("Wrapper")),
            *(number("rows sent", decimals=0), number("bytes", "B", 0)),
            *(number("round trips", decimals=2), number("time", "ms", 3)),
            number("of postgres_fdw's time", "x", 2),
        ),
        rows,
        (
            "Of one execution. Rows are those that the remote server has sent, bytes those of both "
            "directions; they are counted by the link, so where there is none they are not known. "
            "The last unawaited COMMIT counts as a round trip.",
        ),
    )


def stops_verdicts(fdw: FdwFindings) -> list[str]:
    """Return a sentence for each wrapper beside the stock one: whether more rows were sent."""
    found = [x for x in stops(fdw) if x.rows is not None]
    stock = {(x.stop, x.link): x.rows for x in found if x.wrapper == STOCK}
    sentences = []
    for wrapper in sorted({x.wrapper for x in found} - {STOCK}):
        compared = [x for x in found if x.wrapper == wrapper and (x.stop, x.link) in stock]
        more = [x.stop for x in compared if _is_more(x.rows, stock[x.stop, x.link])]
        if compared:
            which = f": {', '.join(sorted(set(more)))}" if more else ""
            sentences.append(
                f"Of {len(compared)} statements that stop early, {len(more) or 'none'} had a tenth"
                f" more rows sent through {wrapper} than through {STOCK}{which}."
            )
    return sentences


def _is_more(ours: float | None, stock: float | None) -> bool:
    """Return whether there are a tenth more rows, and more than the answers to a wrapper's own
    questions, which are one or two rows."""
    return ours is not None and stock is not None and ours > max(stock * MORE, stock + 2)
