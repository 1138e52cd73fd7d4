"""A page of line charts as an SVG file of its own: small charts side by side under one key."""

from importlib import resources
from pathlib import Path

from tollfree.report.line_chart import line_drawing, series_mark
from tollfree.report.markup import Markup, element, plain
from tollfree.report.model import LineChart, Sheet
from tollfree.report.svg import Layout, text, text_width

PANEL = Layout("panel", width=430, height=290, row_height=0, labels_above=True)
MARGIN = 24
CAPTION = 26
"""The height of a chart's caption."""
HEADING = 88
"""The height of title, note and key."""
MARK = 30
STYLE = (
    "svg { font-family: system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif; }"
    " svg svg { overflow: visible; }"
    " svg .heading { font-size: 18px; font-weight: 600; }"
    " svg .caption { font-weight: 600; }"
    " .paper { fill: var(--paper); }"
)


def write_sheet(sheet: Sheet, path: Path) -> Path:
    """Write a sheet as an SVG file to `path` and return it; raises `OSError`."""
    path.write_text(render_sheet(sheet) + "\n", encoding="utf-8")
    return path


def render_sheet(sheet: Sheet) -> str:
    """Return a sheet as an SVG document; the same sheet gives the same bytes."""
    columns = max(len(row) for row in sheet.rows)
    width = MARGIN + columns * (PANEL.width + MARGIN)
    height = HEADING + len(sheet.rows) * (PANEL.height + CAPTION + MARGIN)
    charts = [
        _placed(chart, row, column)
        for row, charts_of_row in enumerate(sheet.rows)
        for column, chart in enumerate(charts_of_row)
        if chart
    ]
    return element(
        "svg",
        element("title", plain(sheet.title)),
        element("style", _style()),
        element("rect", class_="paper", width="100%", height="100%"),
        text(sheet.title, MARGIN, 32, "heading"),
        text(sheet.note, MARGIN, 54, "interval"),
        _key(sheet),
        charts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def _style() -> Markup:
    page = (resources.files(__package__) / "assets" / "style.css").read_text(encoding="utf-8")
    return Markup(page + STYLE)


def _key(sheet: Sheet) -> list[Markup]:
    labels = next([s.label for s in chart.series] for row in sheet.rows for chart in row if chart)
    drawn, x = [], float(MARGIN)
    for number, label in enumerate(labels):
        drawn.append(element("g", series_mark(number), transform=f"translate({x:.0f} 66)"))
        drawn.append(text(label, x + MARK, 78, "label"))
        x += MARK + text_width(label) + MARGIN
    return drawn


def _placed(chart: LineChart, row: int, column: int) -> Markup:
    x = MARGIN + column * (PANEL.width + MARGIN)
    y = HEADING + row * (PANEL.height + CAPTION + MARGIN)
    return element(
        "g",
        text(chart.caption, 0, CAPTION - 8, "caption"),
        element("g", line_drawing(chart, PANEL), transform=f"translate(0 {CAPTION})"),
        transform=f"translate({x} {y})",
    )
