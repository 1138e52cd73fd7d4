"""The plots of the suite: for the section, a chart a road; as files, the experiment's two pages."""

from collections.abc import Sequence
from dataclasses import replace

from tollfree.report.model import AxisTitle, Chart, LineChart, Point, Series, Sheet
from tollfree.suites.presentation import shown
from tollfree.suites.sampling.findings import DIRECT, METHODS, Road, SamplingFindings


def charts(sampling: SamplingFindings) -> tuple[Chart, ...]:
    """Return a plot for each table and road, near ones first, and one of ANALYZE for each table."""
    possible = [
        _measured(_sample_chart(sampling, table, road))
        for far in (False, True)
        for table in sampling.tables()
        for road in sampling.roads(test="sample", table=table)
        if road.is_far == far
    ]
    possible += [_analyze_chart(sampling, table) for table in sampling.tables()]
    return tuple(chart for chart in possible if chart.series)


def sheets(sampling: SamplingFindings) -> dict[str, Sheet]:
    """Return the pages by name, one for each link: a row a table, direct reading to the left."""
    links = {
        road.link: road.round_trip for road in sampling.roads(test="sample") if road.name != DIRECT
    }
    return {
        f"sampling-{round_trip or 'local'}".replace(" µs", "us"): sheet
        for link, round_trip in links.items()
        if (sheet := _sheet(sampling, link, round_trip))
    }


def _sheet(sampling: SamplingFindings, link: str, round_trip: str) -> Sheet | None:
    """Return the page of a link: the tables that were sampled directly and by all over it."""
    wrappers = [road for road in sampling.roads(test="sample") if road.link == link]
    direct = [road for road in sampling.roads(test="sample") if road.name == DIRECT]
    rows = []
    for table in sampling.tables():
        row = [
            replace(_sample_chart(sampling, table, road), caption=f"{table} rows, {road.label}")
            for road in (*direct, *wrappers)
        ]
        if direct and all(_measured(chart).series for chart in row):
            rows.append(row)
    if not rows:
        return None
    used = {
        series.label for row in rows for chart in row for series in chart.series if series.points
    }
    rows = [[_only(chart, used) for chart in _on_same_axes(row)] for row in rows]
    where = f"over a link with a round trip of {round_trip}" if round_trip else "on this machine"
    return Sheet(
        f"Sampling a table directly and through a wrapper {where}",
        tuple(map(tuple, rows)),
        "full reads and delivers everything, whatever the share; both axes logarithmic",
    )


def _on_same_axes(row: Sequence[LineChart]) -> list[LineChart]:
    points = [point for chart in row for series in chart.series for point in series.points]
    xs, ys = tuple(point.x for point in points), tuple(point.y for point in points)
    return [replace(c, x=replace(c.x, reach=xs), y=replace(c.y, reach=ys)) for c in row]


def _measured(chart: LineChart) -> LineChart:
    """Return the chart without the series that have no points."""
    return _only(chart, {series.label for series in chart.series if series.points})


def _only(chart: LineChart, labels: set[str]) -> LineChart:
    return replace(chart, series=tuple(s for s in chart.series if s.label in labels))


def _sample_chart(sampling: SamplingFindings, table: str, road: Road) -> LineChart:
    place = {"test": "sample", "table": table, "wrapper": road.name, "link": road.link}
    series = []
    for method in METHODS:
        points = _points(sampling, sampling.ordered(**place, method=method), "percent")
        if method == "full" and points:
            points = _everywhere(sampling, sampling.ordered(**place), points[0])
        series.append(Series(method, points))
    return LineChart(
        f"Sampling the table of {table} rows, {road.label}",
        AxisTitle("share of the table", "%", log=True),
        AxisTitle("duration", "ms", log=True),
        tuple(series),
    )


def _everywhere(sampling: SamplingFindings, names: list[str], full: Point) -> tuple[Point, ...]:
    """Return the same duration at each of the fractions."""
    percents = sorted({float(sampling.dims(name)["percent"]) for name in names})
    return tuple(Point(percent, full.y, full.low, full.high) for percent in percents)


def _points(sampling: SamplingFindings, names: list[str], dimension: str) -> tuple[Point, ...]:
    points = []
    for name in names:
        estimate = shown(sampling.run.median(name))
        if estimate is not None:
            x = float(sampling.dims(name)[dimension])
            points.append(Point(x, estimate.value, estimate.low, estimate.high))
    return tuple(sorted(points, key=lambda point: point.x))


def _analyze_chart(sampling: SamplingFindings, table: str) -> LineChart:
    series: dict[str, list[str]] = {}
    for name in sampling.ordered(test="analyze", table=table):
        dims = sampling.dims(name)
        if dims["method"] != "local_again":
            road = Road(str(dims["wrapper"]), str(dims["link"]))
            label = "local" if dims["method"] == "local" else f"{road.label}, {dims['method']}"
            series.setdefault(label, []).append(name)
    drawn = {
        label: _points(sampling, names, "statistics_target") for label, names in series.items()
    }
    return LineChart(
        f"ANALYZE of the table of {table} rows",
        AxisTitle("statistics target", log=True),
        AxisTitle("duration", "ms", log=True),
        tuple(Series(label, points) for label, points in drawn.items() if len(points) > 1),
    )
