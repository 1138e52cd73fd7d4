"""What every chart is drawn with: shapes, text, the figure around it, a chart made of rows.

Each chart is drawn twice, `WIDE` and `NARROW`, so that its text keeps the size of the page's; the
style sheet shows the one that fits. Colours are the style sheet's too: a shape has only a class.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tollfree.report.axis import Axis
from tollfree.report.markup import Child, Markup, element, fragment, plain, prose
from tollfree.report.model import Better, Estimate

FONT_SIZE = 13
AXIS_HEIGHT = 30
TOP = 8
GAP = 12


@dataclass(frozen=True)
class Layout:
    """The width of a drawing, and whether the labels of its rows are above the marks."""

    name: str
    width: int
    height: int
    row_height: int
    labels_above: bool


WIDE = Layout("wide", width=860, height=320, row_height=28, labels_above=False)
NARROW = Layout("narrow", width=352, height=260, row_height=46, labels_above=True)
LAYOUTS = (WIDE, NARROW)


@dataclass(frozen=True)
class RowText:
    """The label of a row; without `measured`, `figure` is the word in its place."""

    label: str
    figure: str
    interval: str
    tooltip: str
    measured: bool = True


@dataclass(frozen=True)
class Columns:
    """Where the plot of a row chart begins and ends, and the right edge of its figures."""

    start: float
    end: float
    figure: float


def shape(name: str, *children: Child, class_: str, **geometry: float) -> Markup:
    """Return an SVG element at a finite place, rounded to a hundredth of a pixel."""
    for key, value in geometry.items():
        if not math.isfinite(value):
            raise ValueError(f"<{name}> cannot have {key}={value}")
    placed = {key: f"{value:.2f}".rstrip("0").rstrip(".") for key, value in geometry.items()}
    return element(name, *children, class_=class_, **placed)


def text(content: Child, x: float, y: float, class_: str) -> Markup:
    """Return text whose baseline is at (x, y); its class sets the anchor."""
    return shape("text", content, class_=class_, x=x, y=y)


def frame(layout: Layout, height: float, title: str, description: str, *body: Child) -> Markup:
    """Return the `<svg>` of one layout, with its accessible name."""
    return element(
        "svg",
        element("title", plain(title)),
        *body,
        class_=layout.name,
        role="img",
        aria_label=f"{plain(title)}. {description}",
        viewBox=f"0 0 {layout.width} {height:.0f}",
        width=layout.width,
        height=f"{height:.0f}",
    )


def text_width(content: str) -> float:
    """Return how wide text is in pixels, at most: the widest common system font decides."""
    return len(content) * FONT_SIZE * 0.62


def fitted(content: str, width: float) -> str:
    """Return the text, shortened by an ellipsis where it would not fit."""
    if text_width(content) <= width:
        return content
    return content[: max(1, int(width / text_width("n")) - 1)] + "\N{HORIZONTAL ELLIPSIS}"


def columns(layout: Layout, rows: Sequence[RowText]) -> Columns:
    """Return the columns that the texts of the rows leave to the plot."""
    if layout.labels_above:
        return Columns(start=14, end=layout.width - 14, figure=layout.width)
    label = min(max(text_width(row.label) for row in rows), 0.38 * layout.width)
    figure = max(text_width(row.figure) for row in rows)
    interval = max(text_width(row.interval) for row in rows)
    end = layout.width - interval - figure - 2 * GAP
    return Columns(start=label + GAP, end=end, figure=end + GAP + figure)


def row_chart(
    layout: Layout,
    title: str,
    rows: Sequence[RowText],
    place: Columns,
    axis: Axis,
    tick_label: Callable[[float], str],
    marks: Callable[[int, float], Iterable[Markup]],
) -> Markup:
    """Return a chart with one row per case; `marks(row, y)` draws the marks at height y."""
    bottom = TOP + len(rows) * layout.row_height
    body = _vertical_grid(axis, bottom, tick_label)
    for number, row in enumerate(rows):
        top = TOP + number * layout.row_height
        middle = top + (32 if layout.labels_above else layout.row_height / 2)
        body.append(
            shape(
                "g",
                element("title", row.tooltip),
                _row_texts(layout, place, row, top, middle),
                marks(number, middle),
                class_="row",
            )
        )
    description = "; ".join(row.tooltip for row in rows)
    return frame(layout, bottom + AXIS_HEIGHT, title, description, body)


def _row_texts(
    layout: Layout, place: Columns, row: RowText, top: float, middle: float
) -> list[Markup]:
    figure_class = "figure" if row.measured else "absent"
    if not layout.labels_above:
        baseline = middle + FONT_SIZE * 0.36
        return [
            text(fitted(row.label, place.start - GAP), 0, baseline, "label"),
            text(row.figure, place.figure, baseline, f"{figure_class} end"),
            text(row.interval, place.figure + GAP, baseline, "interval"),
        ]
    baseline = top + FONT_SIZE + 1
    figure = element("tspan", row.figure, class_=figure_class)
    interval = element("tspan", f"  {row.interval}", class_="interval") if row.interval else None
    room = layout.width - text_width(f"{row.figure}  {row.interval}") - GAP
    return [
        text(fitted(row.label, room), 0, baseline, "label"),
        text([figure, interval], place.figure, baseline, "end"),
    ]


def _vertical_grid(axis: Axis, bottom: float, tick_label: Callable[[float], str]) -> list[Markup]:
    drawn = []
    for tick in axis.ticks:
        x = axis.position(tick)
        drawn.append(shape("line", class_="grid", x1=x, x2=x, y1=TOP, y2=bottom))
        drawn.append(text(tick_label(tick), x, bottom + FONT_SIZE + 6, "tick middle"))
    return drawn


def captioned(
    caption: str, subtitle: str, key: Iterable[Markup], drawn: Iterable[Markup] | None
) -> Markup:
    """Return a chart's drawings under its caption and key; `drawn` None says nothing was measured.

    The caption is set in bold, the subtitle after it.
    """
    heading = element("figcaption", element("strong", prose(caption)), " ", prose(subtitle))
    if drawn is None:
        return element("figure", heading, element("p", "Nothing was measured.", class_="empty"))
    return element("figure", heading, element("p", *key, class_="key"), drawn)


def key_entry(mark: Markup, meaning: str) -> Markup:
    """Return an entry of a key: a mark, drawn on 22 by 14 pixels, beside its meaning."""
    swatch = element("svg", mark, class_="swatch", width=22, height=14, aria_hidden="true")
    return fragment(element("span", swatch, meaning), " ")


def better_sentence(better: Better) -> str:
    """Say which way is better."""
    return "less is better" if better is Better.LOWER else "more is better"


def log_sentence(log: bool) -> str:
    """Say that an axis is logarithmic, where it is."""
    return "; logarithmic axis" if log else ""


def estimate_values(estimate: Estimate | None) -> tuple[float | None, ...]:
    """Return every number of an estimate."""
    return (estimate.value, estimate.low, estimate.high) if estimate else ()
