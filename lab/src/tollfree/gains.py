"""The chart of the README, docs/gains.svg: a stock wrapper beside ours, of stored runs (`savings`).

One logarithmic axis of ratios; a bar begins at 1x, which is what its row is compared with. Labels
are above the bars, so that the picture is no wider than a phone can show. Run as a module it prints
the picture; a test fails while the committed one differs.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources

from tollfree import report
from tollfree.report import figures
from tollfree.report.axis import Axis, log_axis
from tollfree.report.markup import Markup, element
from tollfree.report.model import Gain
from tollfree.report.svg import shape, text
from tollfree.savings import OURS, SHOWN, STOCK, Saving

CLASSES = {STOCK: "published", OURS: "bar"}
"""What is drawn for each row, and the class that colours it."""
WIDTH = 480
MARGIN = 10
PLOT_START = 20
PLOT_END = WIDTH - 66
"""Behind it is room for a figure."""
BAR, ROW, TOP, FOOT = 12, 54, 46, 48
THINNEST = 1.5
"""Of a bar that ends where it begins."""
STYLE = (
    "svg { font-family: system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif;"
    " font-size: 14px; }"
    " .paper { fill: var(--paper); }"
    " rect.published { fill: var(--published); }"
    " text { fill: var(--ink); }"
    " text.beside { fill: var(--muted); font-size: 12px; }"
)


@dataclass(frozen=True)
class Bars:
    """A row of the chart: the ratio of each candidate to what it is compared with."""

    label: str
    beside: str
    gains: dict[str, Gain]


def bars(savings: Iterable[Saving] = SHOWN) -> list[Bars]:
    """Return the rows that are drawn."""
    return [Bars(x.drawn, f"of {x.beside}", x.gains()) for x in savings if x.drawn]


def picture(savings: Sequence[Saving] = SHOWN) -> str:
    """Return the chart as an SVG document."""
    rows = bars(savings)
    height = TOP + len(rows) * ROW + FOOT
    ratios = [gain.ratio.value for row in rows for gain in row.gains.values()]
    axis = log_axis([*ratios, 1.0], PLOT_START, PLOT_END)
    return element(
        "svg",
        element("title", "Time through a foreign table as a multiple of what it is compared with"),
        element("style", _style()),
        element("rect", class_="paper", width="100%", height="100%"),
        _key(),
        _grid(axis, height - FOOT),
        [_row(row, TOP + number * ROW, axis) for number, row in enumerate(rows)],
        text(_identity(savings), MARGIN, height - 8, "beside"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
        role="img",
        aria_label="Time as a multiple of what it is compared with. " + "; ".join(map(_said, rows)),
    )


def _identity(savings: Sequence[Saving]) -> str:
    """Return what was measured when, of all runs together."""
    runs = [saving.findings().run for saving in savings if saving.drawn]
    versions = ", ".join(sorted({run.postgresql for run in runs}))
    days = sorted(f"{run.started:%Y-%m-%d}" for run in runs)
    return f"PostgreSQL {versions}; runs of {days[0]} to {days[-1]}, docs/runs"


def _said(row: Bars) -> str:
    ratios = ", ".join(f"{name} {_figure(gain)}" for name, gain in row.gains.items())
    return f"{row.label}, {row.beside}: {ratios}"


def _figure(gain: Gain) -> str:
    return ("" if gain.told_apart else figures.NOISE_MARK) + figures.ratio(gain.ratio.value)


def _style() -> Markup:
    page = resources.files(report) / "assets" / "style.css"
    return Markup(page.read_text(encoding="utf-8") + STYLE)


def _key() -> Iterable[Markup]:
    x = MARGIN
    for candidate, colour in CLASSES.items():
        yield shape("rect", class_=colour, x=x, y=13, width=20, height=BAR)
        yield text(candidate, x + 26, 24, "label")
        x += 134
    yield text("1x is the time", WIDTH - MARGIN, 24, "beside end")


def _grid(axis: Axis, bottom: float) -> Iterable[Markup]:
    for tick in axis.ticks:
        x = axis.position(tick)
        line = "one" if tick == 1 else "grid"
        yield shape("line", class_=line, x1=x, x2=x, y1=TOP - 8, y2=bottom)
        yield text(f"{figures.tick(tick)}x", x, bottom + 16, "tick middle")


def _row(row: Bars, top: float, axis: Axis) -> Iterable[Markup]:
    yield text(row.label, MARGIN, top + 12, "label")
    yield text(row.beside, WIDTH - MARGIN, top + 12, "beside end")
    one = axis.position(1.0)
    for number, (candidate, gain) in enumerate(row.gains.items()):
        y = top + 19 + number * (BAR + 2)
        end = axis.position(gain.ratio.value)
        start, width = min(one, end), max(abs(end - one), THINNEST)
        yield shape("rect", class_=CLASSES[candidate], x=start, y=y, width=width, height=BAR)
        yield text(_figure(gain), max(one, end) + 6, y + BAR - 1, "figure")


if __name__ == "__main__":
    sys.stdout.write(picture() + "\n")
