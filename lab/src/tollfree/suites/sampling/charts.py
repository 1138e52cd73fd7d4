"""The plots of the section `sampling`: the experiment's two pages, and ANALYZE by target."""

from tollfree.report.model import AxisTitle, Chart, LineChart, Point, Series
from tollfree.suites.presentation import shown
from tollfree.suites.sampling.findings import METHODS, Road, SamplingFindings


def charts(sampling: SamplingFindings) -> tuple[Chart, ...]:
    """Return a plot for each table and road, near ones first, and one of ANALYZE for each table."""
    possible = [
        _sample_chart(sampling, table, road)
        for far in (False, True)
        for table in sampling.tables()
        for road in sampling.roads(test="sample", table=table)
        if road.is_far == far
    ]
    possible += [_analyze_chart(sampling, table) for table in sampling.tables()]
    return tuple(chart for chart in possible if chart.series)


def _sample_chart(sampling: SamplingFindings, table: str, road: Road) -> LineChart:
    place = {"test": "sample", "table": table, "wrapper": road.name, "link": road.link}
    series = []
    for method in METHODS:
        points = _points(sampling, sampling.ordered(**place, method=method), "percent")
        if method == "full" and points:
            points = _everywhere(sampling, sampling.ordered(**place), points[0])
        if points:
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
        estimate = shown(sampling.estimate(name))
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
