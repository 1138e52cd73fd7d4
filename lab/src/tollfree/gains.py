"""The chart of the README, docs/gains.svg: what the wrappers save, of one stored run.

Run as a module it prints the picture; a test fails while the committed one differs.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from tollfree import report
from tollfree.export import read_json
from tollfree.paths import CHECKOUT
from tollfree.report import figures
from tollfree.report.axis import Axis, linear_axis
from tollfree.report.markup import Markup, element
from tollfree.report.svg import shape, text
from tollfree.suites.presentation import Findings

STORED = CHECKOUT / "docs" / "runs" / "fdw-headlines-postgresql-18.json"
WRAPPERS = {"postgres_fdw": "published", "tollfree_postgres_fdw": "bar"}
"""What is drawn for each case, and the class that colours it."""
CASES = {
    "lookup by key, prepared": "RO:{}:lcl:tcp:prepared:rr:c1:tps",
    "lookup by key, simple": "RO:{}:lcl:tcp:simple:rr:c1:tps",
    "TPC-B transaction, simple": "RW:{}:lcl:tcp:simple:rr:c1:tps",
    "scan of a million rows": "SCAN:{}:lcl:tcp:default:bulk",
}
WIDTH = 760
MARGIN = 12
LABELS = 200
"""Where the plot begins."""
PLOT_END = WIDTH - 70
BAR, ROW, TOP, FOOT = 13, 40, 46, 44
STYLE = (
    "svg { font-family: system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif;"
    " font-size: 13px; }"
    " .paper { fill: var(--paper); }"
    " rect.published { fill: var(--published); }"
    " text { fill: var(--ink); }"
)


@dataclass(frozen=True)
class Bar:
    """How many times the local time a case takes, by wrapper."""

    label: str
    ratios: dict[str, float]


def gains(run: Findings) -> list[Bar]:
    """Return the cases that were measured with both wrappers."""
    found = []
    for label, name in CASES.items():
        ratios = {
            wrapper: ratio.median
            for wrapper in WRAPPERS
            if (case := name.format(f"FDW_external:{wrapper}")) in run.cases
            and (ratio := run.ratio(case))
        }
        if len(ratios) == len(WRAPPERS):
            found.append(Bar(label, ratios))
    return found


def picture(path: Path = STORED) -> str:
    """Return the chart of a stored run as an SVG document."""
    run = read_json(path)
    drawn = gains(run)
    height = TOP + len(drawn) * ROW + FOOT
    ratios = [ratio for gain in drawn for ratio in gain.ratios.values()]
    axis = linear_axis([*ratios, 1.0], LABELS, PLOT_END)
    identity = (
        f"PostgreSQL {run.run.postgresql}, {run.run.rounds} rounds,"
        f" {run.run.started:%Y-%m-%d}, docs/runs/{path.name}"
    )
    said = "; ".join(
        f"{gain.label}: " + ", ".join(f"{w} {figures.ratio(r)}" for w, r in gain.ratios.items())
        for gain in drawn
    )
    return element(
        "svg",
        element("title", "Time through a foreign table as a multiple of a local table's"),
        element("style", _style()),
        element("rect", class_="paper", width="100%", height="100%"),
        _key(),
        _grid(axis, height - FOOT),
        [_row(gain, TOP + number * ROW, axis) for number, gain in enumerate(drawn)],
        text(identity, LABELS, height - 6, "tick"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
        role="img",
        aria_label=f"Time as a multiple of a local table's. {said}",
    )


def _style() -> Markup:
    page = resources.files(report) / "assets" / "style.css"
    return Markup(page.read_text(encoding="utf-8") + STYLE)


def _key() -> Iterable[Markup]:
    x = LABELS
    yield text("time, local table: 1x", MARGIN, 24, "label")
    for wrapper, colour in WRAPPERS.items():
        yield shape("rect", class_=colour, x=x, y=14, width=22, height=BAR)
        yield text(wrapper, x + 28, 25, "label")
        x += 150


def _grid(axis: Axis, bottom: float) -> Iterable[Markup]:
    for tick in axis.ticks:
        x = axis.position(tick)
        yield shape("line", class_="grid", x1=x, x2=x, y1=TOP - 6, y2=bottom)
        yield text(f"{figures.tick(tick)}x", x, bottom + 16, "tick middle")
    local = axis.position(1.0)
    yield shape("line", class_="one", x1=local, x2=local, y1=TOP - 6, y2=bottom)
    yield text("local", local, bottom + 16, "tick middle")


def _row(gain: Bar, top: float, axis: Axis) -> Iterable[Markup]:
    yield text(gain.label, MARGIN, top + BAR + 5, "label")
    for number, (wrapper, ratio) in enumerate(gain.ratios.items()):
        y = top + number * (BAR + 2)
        end = axis.position(ratio)
        yield shape("rect", class_=WRAPPERS[wrapper], x=LABELS, y=y, width=end - LABELS, height=BAR)
        yield text(figures.ratio(ratio), end + 6, y + BAR - 2, "figure")


if __name__ == "__main__":
    sys.stdout.write(picture() + "\n")
