"""The plots of the section `fdw`: ratios, raw samples, concurrent sessions, latency percentiles."""

from tollfree import stats
from tollfree.report.model import (
    AxisTitle,
    Better,
    Chart,
    LineChart,
    Point,
    RatioChart,
    RatioRow,
    SampleChart,
    SampleRow,
    Series,
    Tick,
)
from tollfree.suites.fdw.findings import (
    PERCENTILES,
    PUBLISHED_CLIENTS,
    SECOND_ARTICLE,
    SHORT_LINKS,
    FdwFindings,
)
from tollfree.suites.fdw.sessions import sessions_charts
from tollfree.suites.presentation import shown

BENCHES = ("RO", "RW")


def charts(fdw: FdwFindings) -> tuple[Chart, ...]:
    """Return the ratio bars, the raw samples and the latency curves that have rows."""
    possible: list[Chart] = [
        _ratio_chart(fdw),
        *(_sample_chart(fdw, bench) for bench in BENCHES),
        *sessions_charts(fdw),
        *(_latency_chart(fdw, bench) for bench in BENCHES),
    ]
    return tuple(
        chart
        for chart in possible
        if (chart.series if isinstance(chart, LineChart) else chart.rows)
    )


def _ratio_chart(fdw: FdwFindings) -> RatioChart:
    rows = []
    for name in fdw.ordered(measure="tps", protocol="simple", isolation="rr"):
        dims = fdw.dims(name)
        if fdw.run.cases[name].baseline is None or dims["target"] == "direct":
            continue
        if dims["clients"] not in PUBLISHED_CLIENTS:
            continue
        ok = bool(fdw.run.values(name))
        published = dims["clients"] == 1 and dims["link"] in SHORT_LINKS
        rows.append(
            RatioRow(
                fdw.label(name),
                shown(fdw.run.ratio(name)),
                fdw.run.told_apart(name) if ok else True,
                fdw.published_ratio(SECOND_ARTICLE, dims["bench"], dims["target"])
                if published
                else None,
                "no figure of its baseline" if ok else "failed",
            )
        )
    return RatioChart(
        "How many times slower than the local table",
        "time per transaction",
        "the local table, or the remote asked directly over the same link",
        Better.LOWER,
        tuple(rows),
    )


def _sample_chart(fdw: FdwFindings, bench: str) -> SampleChart:
    rows = tuple(
        SampleRow(fdw.label(name), tuple(values), shown(fdw.run.median(name)))
        for name in fdw.base(bench=bench)
        if fdw.dims(name)["clients"] in PUBLISHED_CLIENTS and (values := fdw.run.values(name))
    )
    return SampleChart(
        f"Throughput of every round, {bench}",
        "transactions per second",
        "tps",
        Better.HIGHER,
        rows,
    )


def _latency_chart(fdw: FdwFindings, bench: str) -> LineChart:
    cases = fdw.short(measure="latency", bench=bench, protocol="simple", clients=1)
    series = tuple(
        Series(fdw.label(name), points) for name in cases if (points := _percentiles(fdw, name))
    )
    ticks = tuple(Tick(_rarity(percent), f"{percent}%") for _, percent in PERCENTILES)
    return LineChart(
        f"Latency, {bench}, 1 client",
        AxisTitle("percentile of transactions", log=True, ticks=ticks),
        AxisTitle("latency", "µs", log=True),
        series,
    )


def _percentiles(fdw: FdwFindings, testcase: str) -> tuple[Point, ...]:
    if not fdw.run.values(testcase):
        return ()
    figures = {p: fdw.run.figures(testcase, f"latency_{f}_us") for f, p in PERCENTILES}
    estimates = (
        (percent, stats.median_interval(values, fdw.run.confidence))
        for percent, values in figures.items()
    )
    return tuple(Point(_rarity(percent), e.median, *e.interval) for percent, e in estimates if e)


def _rarity(percent: str) -> float:
    """Return one in how many transactions is slower; its logarithm spreads the tail out.

    >>> round(_rarity("99.9"))
    1000
    """
    return 100 / (100 - float(percent))
