"""A suite's picture: one row for each thing done, and on it a mark for each candidate.

The line at 1 is the baseline: left of it is faster, right of it slower. A bar joins stock and ours,
so its length is what is gained. The candidates differ in shape as well as in colour.
"""

from collections.abc import Callable, Iterable

from tollfree.report import figures
from tollfree.report.axis import Axis, drawable, log_axis
from tollfree.report.markup import Markup, element
from tollfree.report.model import Gain, GainChart, GainRow
from tollfree.report.svg import (
    LAYOUTS,
    Layout,
    RowText,
    captioned,
    columns,
    key_entry,
    row_chart,
    shape,
)

SIZE = 6
"""Half the width of a disc, in pixels."""
DIAMOND = ((0, -7), (7, 0), (0, 7), (-7, 0))
SQUARE = ((-5, -5), (5, -5), (5, 5), (-5, 5))
LAST = 2
"""The last candidate with a mark of its own."""
ARROW = " \N{RIGHTWARDS ARROW} "
SUBTITLE = "time as a multiple of that of {}: left of 1x is faster; logarithmic axis"


def gain_figure(value: GainChart, beside: Iterable[GainChart] = ()) -> Markup:
    """Return the chart as a figure; its axis is that of the charts beside it."""
    charts = (value, *beside)
    texts = [_row_text(value, row) for row in value.rows]
    all_texts = [_row_text(one, row) for one in charts for row in one.rows]
    span = [1.0, *(x for one in charts for x in _drawn_values(one))]

    def draw(layout: Layout) -> Markup:
        place = columns(layout, all_texts)
        axis = log_axis(span, place.start + SIZE, place.end - SIZE)
        marks = _marks(value, axis)
        return row_chart(layout, value.caption, texts, place, axis, _tick_label, marks)

    subtitle = SUBTITLE.format(value.baseline)
    drawn = map(draw, LAYOUTS) if texts else None
    return captioned(value.caption, subtitle, _key(value), drawn)


def gain_sentence(value: GainChart) -> str:
    """Say what the first row shows; nothing where there is none."""
    if not value.rows:
        return ""
    first = value.rows[0]
    named = [(n, gain) for n, gain in zip(value.candidates, first.gains, strict=True) if gain]
    times = [f"takes {_said(gain)} the time of {value.baseline}" for _, gain in named[:1]]
    times += [_said(gain) for _, gain in named[1:]]
    parts = [f"{name} {time}" for (name, _), time in zip(named, times, strict=True)]
    return f"{first.label}: {', '.join(parts)}."


def _said(gain: Gain) -> str:
    """Return a ratio as a sentence has it."""
    mark = "" if gain.told_apart else f" ({figures.NOISE_MEANING})"
    return f"{figures.ratio(gain.ratio.value)}{mark}"


def _drawn_values(value: GainChart) -> list[float]:
    """Return every ratio that has a mark."""
    ratios = [gain.ratio.value for row in value.rows for gain in row.gains if gain]
    references = [row.reference for row in value.rows]
    return [x for x in drawable([*ratios, *references]) if x > 0]


def _mark(number: int, x: float, y: float, class_: str = "") -> Markup:
    """Return the mark of a candidate: a diamond, a disc, squares."""
    classes = f"candidate candidate-{min(number, LAST) + 1} {class_}".strip()
    if number == 1:
        return shape("circle", class_=classes, cx=x, cy=y, r=SIZE)
    corners = DIAMOND if number == 0 else SQUARE
    points = " ".join(f"{x + dx:.2f},{y + dy:.2f}" for dx, dy in corners)
    return element("polygon", class_=classes, points=points)


def _key(value: GainChart) -> list[Markup]:
    line = shape("line", class_="one", x1=11, x2=11, y1=0, y2=14)
    key = [key_entry(line, f"1x: {value.baseline}")]
    key += (key_entry(_mark(n, 11, 7), name) for n, name in enumerate(value.candidates))
    if any(row.reference is not None for row in value.rows):
        key.append(key_entry(_mark(0, 11, 7, "reference"), value.reference_label))
    if any(gain and not gain.told_apart for row in value.rows for gain in row.gains):
        key.append(element("span", f"{figures.NOISE_MARK} {figures.NOISE_MEANING}"))
    return key


def _row_text(value: GainChart, row: GainRow) -> RowText:
    named = [(name, gain) for name, gain in zip(value.candidates, row.gains, strict=True) if gain]
    if not named:
        return RowText(row.label, "not measured", "", f"{row.label}: not measured", measured=False)
    said = [f"{name} {_figure(gain)}" for name, gain in named]
    if row.reference is not None:
        said.append(f"{value.reference_label} {figures.ratio(row.reference)}")
    written = ARROW.join(_figure(gain) for _, gain in named)
    return RowText(row.label, written, "", f"{row.label}: {', '.join(said)}")


def _figure(gain: Gain) -> str:
    mark = "" if gain.told_apart else figures.NOISE_MARK
    return mark + figures.ratio(gain.ratio.value)


def _marks(value: GainChart, axis: Axis) -> Callable[[int, float], Iterable[Markup]]:
    one = axis.position(1.0)

    def marks(number: int, y: float) -> Iterable[Markup]:
        row = value.rows[number]
        yield shape("line", class_="one", x1=one, x2=one, y1=y - 14, y2=y + 14)
        places = [
            (n, axis.position(gain.ratio.value))
            for n, gain in enumerate(row.gains)
            if gain and drawable([gain.ratio.value])
        ]
        if row.reference is not None and drawable([row.reference]):
            yield _mark(0, axis.position(row.reference), y, "reference")
        ends = [x for n, x in places if n < 2]
        if len(ends) == 2:
            yield shape("line", class_="gained", x1=ends[0], x2=ends[1], y1=y, y2=y)
        yield from (_mark(n, x, y) for n, x in places)

    return marks


def _tick_label(value: float) -> str:
    return f"{figures.tick(value)}x"
