"""The picture of the suite `fdw`: what both wrappers take beside the local table."""

from collections.abc import Iterator

from tollfree.report.model import Gain, GainChart, GainRow
from tollfree.suites.fdw.findings import (
    SECOND_ARTICLE,
    FdwFindings,
    is_distant,
    pooled_pair,
    round_trip_us,
)
from tollfree.suites.presentation import gain_row

WRAPPERS = ("postgres_fdw", "tollfree_postgres_fdw")
BENCHES = {"RO": "Lookup by key", "RW": "TPC-B transaction"}
BULK = {"SCAN": "Scan of {:,} rows", "INSERT": "INSERT ... SELECT of {:,} rows"}


def gain_chart(fdw: FdwFindings) -> GainChart:
    """Return the picture."""
    rows = (*_transactions(fdw), *_pooled_lookups(fdw), *_distant_lookups(fdw), *_bulk(fdw))
    return GainChart(
        "Time through a foreign table",
        "a local table",
        WRAPPERS,
        rows,
        "published for postgres_fdw 9.6",
    )


def _gain(fdw: FdwFindings, **dims: object) -> Gain | None:
    names = fdw.run.find(**dims)
    return fdw.run.gain(names[0]) if names else None


def _transactions(fdw: FdwFindings) -> Iterator[GainRow]:
    for bench, what in BENCHES.items():
        for protocol in ("simple", "prepared"):
            dims = {"bench": bench, "protocol": protocol, "link": "lcl:tcp", "measure": "tps"}
            place = {"target": "FDW_external", "isolation": "rr", "clients": 1}
            gains = (_gain(fdw, **dims, **place, wrapper=wrapper) for wrapper in WRAPPERS)
            published = fdw.published_ratio(SECOND_ARTICLE, bench, "FDW_external")
            yield from gain_row(
                f"{what}, {protocol}", gains, published if protocol == "simple" else None
            )


def _pooled_lookups(fdw: FdwFindings) -> Iterator[GainRow]:
    """Yield lookups beside the same ones by the client itself, through a pooler."""
    for protocol in ("simple", "prepared"):
        gains = []
        for wrapper in WRAPPERS:
            cases = pooled_pair(fdw, wrapper, protocol)
            gains.append(fdw.run.gain(*cases) if cases else None)
        yield from gain_row(f"Lookup by key, {protocol}, of one through PgBouncer", gains)


def _distant_lookups(fdw: FdwFindings) -> Iterator[GainRow]:
    """Yield lookups over links, which are compared with querying the remote server directly."""
    place = {"target": "FDW_external", "isolation": "rr", "clients": 1, "bench": "RO"}
    found = fdw.distant(measure="tps", protocol="simple", **place)
    for link in dict.fromkeys(str(fdw.dims(name)["link"]) for name in found):
        dims = {"measure": "tps", "protocol": "simple", "link": link, **place}
        gains = (_gain(fdw, **dims, wrapper=wrapper) for wrapper in WRAPPERS)
        milliseconds = round_trip_us(link) / 1000
        yield from gain_row(f"Lookup {milliseconds:g} ms away, of asking directly", gains)


def _bulk(fdw: FdwFindings) -> Iterator[GainRow]:
    """Yield large results and many rows written, without a size of batches."""
    for bench, what in BULK.items():
        dims = {"bench": bench, "measure": "bulk", "target": "FDW_external", "size": None}
        names = [x for x in fdw.run.find(**dims) if not is_distant(fdw.dims(x)["link"])]
        by_wrapper = {str(fdw.dims(name)["wrapper"]): name for name in names}
        gains = (
            fdw.run.gain(by_wrapper[wrapper]) if wrapper in by_wrapper else None
            for wrapper in WRAPPERS
        )
        if names:
            yield from gain_row(what.format(int(fdw.dims(names[0])["rows"])), gains)
