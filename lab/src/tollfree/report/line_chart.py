"""Lines over a shared x, with an interval band where the points carry one.

Series differ in marker and dashes as well as in colour.
"""

from collections.abc import Iterable

from tollfree.report import figures
from tollfree.report.axis import Axis, drawable, linear_axis, log_axis
from tollfree.report.markup import Markup, element
from tollfree.report.model import AxisTitle, LineChart, Point, Series, Tick
from tollfree.report.svg import (
    FONT_SIZE,
    LAYOUTS,
    Layout,
    captioned,
    frame,
    key_entry,
    shape,
    text,
    text_width,
)

# Paths around the origin, all of about the same area; one per colour of the style sheet.
MARKERS = (
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    "M-3 -3h6v6h-6z",
    "M0 -4.5l4.5 4.5l-4.5 4.5l-4.5 -4.5z",
    "M0 -4.2l4.2 7.4h-8.4z",
    "M0 4.2l4.2 -7.4h-8.4z",
    "M-3.5 -3.5l7 7m0 -7l-7 7",
)

ABOVE = 30
BELOW = 44
RIGHT = 24


def line_figure(value: LineChart) -> Markup:
    """Return a line chart as a figure."""
    logarithmic = {(True, True): "both axes", (True, False): "x axis", (False, True): "y axis"}
    named = logarithmic.get((value.x.log, value.y.log))
    subtitle = f"{named} logarithmic" if named else ""
    key = [key_entry(series_mark(number), s.label) for number, s in enumerate(value.series)]
    drawn = [line_drawing(value, layout) for layout in LAYOUTS] if value.series else None
    return captioned(value.caption, subtitle, key, drawn)


def series_mark(number: int) -> Markup:
    """Return a series' mark for the key, on 22 by 14 pixels."""
    return element("g", _line("M0 7H22", number), _marker(number, 11, 7))


def line_drawing(value: LineChart, layout: Layout) -> Markup:
    """Return the `<svg>` of a line chart, without caption and key."""
    points = [point for series in value.series for point in _drawable_points(value, series)]
    ys = drawable(number for point in points for number in (point.y, point.low, point.high))
    ys += _reached(value.y)
    bottom = layout.height - BELOW
    y = (log_axis if value.y.log else linear_axis)(ys, bottom, ABOVE)
    left = max(text_width(tick.label) for tick in _ticks(value.y, y)) + 8
    xs = [point.x for point in points] + _reached(value.x)
    x = (log_axis if value.x.log else linear_axis)(xs, left, layout.width - RIGHT)
    lines = [
        _series(number, series.label, _drawable_points(value, series), x, y)
        for number, series in enumerate(value.series)
    ]
    body = [_grid(value, x, y), _titles(value, layout), lines]
    return frame(layout, layout.height, value.caption, _description(value), body)


def _drawable_points(value: LineChart, series: Series) -> list[Point]:
    def has_place(number: float, title: AxisTitle) -> bool:
        return bool(drawable([number])) and (number > 0 or not title.log)

    return [
        point
        for point in series.points
        if has_place(point.x, value.x) and has_place(point.y, value.y)
    ]


def _series(number: int, label: str, points: list[Point], x: Axis, y: Axis) -> Markup:
    places = [(x.position(point.x), y.position(point.y)) for point in points]
    drawn = [_marker(number, *place) for place in places]
    if len(places) > 1:
        drawn = [_line(_path(places), number), *drawn]
    return element("g", element("title", label), _band(number, points, x, y), drawn)


def _band(number: int, points: list[Point], x: Axis, y: Axis) -> Markup | None:
    upper, lower = [], []
    for point in points:
        if len(drawable([point.low, point.high])) == 2:
            place = x.position(point.x)
            upper.append((place, y.position(point.high or 0.0)))
            lower.append((place, y.position(point.low or 0.0)))
    if len(upper) < 2:
        return None
    path = f"{_path([*upper, *reversed(lower)])}Z"
    return element("path", d=path, class_=f"band {_colour(number)}")


def _path(places: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in places)


def _line(path: str, number: int) -> Markup:
    # Colours come round again after the last one; the dashes then differ.
    dashed = " dashed" if number // len(MARKERS) % 2 else ""
    return element("path", d=path, class_=f"line {_colour(number)}{dashed}")


def _marker(number: int, x: float, y: float) -> Markup:
    return element(
        "path",
        d=MARKERS[number % len(MARKERS)],
        transform=f"translate({x:.2f} {y:.2f})",
        class_=f"marker {_colour(number)}",
    )


def _colour(number: int) -> str:
    return f"series-{number % len(MARKERS) + 1}"


def _grid(value: LineChart, x: Axis, y: Axis) -> list[Markup]:
    drawn = []
    for tick in _ticks(value.y, y):
        at = y.position(tick.value)
        drawn.append(shape("line", class_="grid", x1=x.start, x2=x.end, y1=at, y2=at))
        drawn.append(text(tick.label, x.start - 6, at + FONT_SIZE * 0.36, "tick end"))
    for tick in _ticks(value.x, x):
        at = x.position(tick.value)
        drawn.append(shape("line", class_="grid", x1=at, x2=at, y1=y.start, y2=y.start + 4))
        drawn.append(text(tick.label, at, y.start + FONT_SIZE + 6, "tick middle"))
    return drawn


def _ticks(title: AxisTitle, axis: Axis) -> list[Tick]:
    if title.ticks:
        return list(title.ticks)
    return [Tick(value, figures.tick(value)) for value in axis.ticks]


def _titles(value: LineChart, layout: Layout) -> list[Markup]:
    return [
        text(_named(value.y), 0, FONT_SIZE, "title"),
        text(_named(value.x), layout.width - RIGHT, layout.height - 6, "title end"),
    ]


def _reached(title: AxisTitle) -> list[float]:
    """Return what the axis has to reach whatever the points are; ticks that are given, too."""
    return drawable([*(tick.value for tick in title.ticks), *title.reach])


def _named(title: AxisTitle) -> str:
    return f"{title.label}, {title.unit}" if title.unit else title.label


def _description(value: LineChart) -> str:
    said = []
    for series in value.series:
        points = _drawable_points(value, series)
        values = ", ".join(
            f"{figures.significant(point.y)} at {figures.tick(point.x)}" for point in points
        )
        said.append(f"{series.label}: {values or 'not measured'}")
    return f"{_named(value.y)} by {_named(value.x)}. {'; '.join(said)}"
