"""Raw samples: one case a row, one dot per round, the median and its interval."""

from collections.abc import Callable, Iterable

from tollfree.report import figures
from tollfree.report.axis import Axis, drawable, linear_axis, log_axis, wants_log
from tollfree.report.markup import Markup
from tollfree.report.model import SampleChart, SampleRow
from tollfree.report.svg import (
    LAYOUTS,
    Layout,
    RowText,
    better_sentence,
    captioned,
    columns,
    estimate_values,
    key_entry,
    log_sentence,
    row_chart,
    shape,
)

SAMPLE_SPREAD = 18


def sample_figure(value: SampleChart) -> Markup:
    """Return a sample chart as a figure."""
    numbers = drawable(
        number for row in value.rows for number in (*row.samples, *estimate_values(row.median))
    )
    log = wants_log(numbers)
    subtitle = (
        f"{value.quantity}, {value.unit}; {better_sentence(value.better)}{log_sentence(log)}; "
        "one dot per round, the first round uppermost"
    )
    texts = [_sample_text(row, value.unit) for row in value.rows]

    def draw(layout: Layout) -> Markup:
        place = columns(layout, texts)
        axis = (log_axis if log else linear_axis)(numbers, place.start, place.end)
        return row_chart(
            layout, value.caption, texts, place, axis, figures.tick, _sample_marks(value.rows, axis)
        )

    return captioned(value.caption, subtitle, _key(), map(draw, LAYOUTS) if texts else None)


def _key() -> list[Markup]:
    return [
        key_entry(shape("circle", class_="dot", cx=11, cy=7, r=2.5), "one round"),
        key_entry(shape("line", class_="median", x1=11, x2=11, y1=0, y2=14), "median"),
        key_entry(shape("rect", class_="range", x=2, y=0, width=18, height=14), "its interval"),
    ]


def _sample_text(row: SampleRow, unit: str) -> RowText:
    if row.median is None:
        note = "not measured"
        return RowText(row.label, note, "", f"{row.label}: {note}", measured=False)
    figure, interval = figures.significant(row.median.value), figures.interval(row.median)
    said = f"{row.label}: median {figure} {unit}, {len(row.samples)} rounds"
    return RowText(
        row.label, figure, interval, f"{said}, interval {interval}" if interval else said
    )


def _sample_marks(
    rows: tuple[SampleRow, ...], axis: Axis
) -> Callable[[int, float], Iterable[Markup]]:
    def marks(number: int, y: float) -> Iterable[Markup]:
        row = rows[number]
        top = y - SAMPLE_SPREAD / 2
        bounds = drawable([row.median.low, row.median.high]) if row.median else []
        if len(bounds) == 2:
            low, high = (axis.position(bound) for bound in bounds)
            yield shape(
                "rect", class_="range", x=low, y=top, width=abs(high - low), height=SAMPLE_SPREAD
            )
        samples = drawable(row.samples)
        for round_number, sample in enumerate(samples):
            below = SAMPLE_SPREAD * (round_number + 0.5) / len(samples)
            yield shape("circle", class_="dot", cx=axis.position(sample), cy=top + below, r=2.5)
        if row.median and drawable([row.median.value]):
            x = axis.position(row.median.value)
            yield shape("line", class_="median", x1=x, x2=x, y1=top, y2=top + SAMPLE_SPREAD)

    return marks
