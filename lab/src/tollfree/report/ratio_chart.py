"""Ratio bars: one case a row, a whisker for the interval, a tick for the published ratio."""

from collections.abc import Callable, Iterable

from tollfree.report import figures
from tollfree.report.axis import Axis, drawable, linear_axis, log_axis, wants_log
from tollfree.report.markup import Markup
from tollfree.report.model import Estimate, RatioChart, RatioRow
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

BAR_HEIGHT = 12
WHISKER_CAP = 3
REFERENCE_HEIGHT = 20


def ratio_figure(value: RatioChart) -> Markup:
    """Return a ratio chart as a figure."""
    ratios = _ratio_values(value.rows)
    log = wants_log([*ratios, 1.0])
    subtitle = (
        f"{value.quantity} as a multiple of that of {value.baseline}; "
        f"{better_sentence(value.better)}{log_sentence(log)}"
    )
    texts = [_ratio_text(row, value.reference_label) for row in value.rows]

    def draw(layout: Layout) -> Markup:
        place = columns(layout, texts)
        axis = (log_axis if log else linear_axis)([*ratios, 1.0], place.start, place.end)
        return row_chart(
            layout, value.caption, texts, place, axis, _tick_label, _ratio_marks(value.rows, axis)
        )

    return captioned(value.caption, subtitle, _key(value), map(draw, LAYOUTS) if texts else None)


def _key(value: RatioChart) -> list[Markup]:
    def bar(class_: str) -> Markup:
        return shape("rect", class_=class_, x=0, y=2, width=22, height=10)

    key = [key_entry(bar("bar"), "ratio and interval")]
    if any(row.reference is not None for row in value.rows):
        tick = shape("line", class_="reference", x1=11, x2=11, y1=0, y2=14)
        key.append(key_entry(tick, value.reference_label))
    if any(row.ratio and not row.told_apart for row in value.rows):
        key.append(key_entry(bar("bar noise"), f"{figures.NOISE_MARK} {figures.NOISE_MEANING}"))
    return key


def _ratio_values(rows: Iterable[RatioRow]) -> list[float]:
    return drawable(
        number for row in rows for number in (row.reference, *estimate_values(row.ratio))
    )


def _ratio_text(row: RatioRow, reference_label: str) -> RowText:
    if row.ratio is None:
        note = row.note or "not measured"
        return RowText(row.label, note, "", f"{row.label}: {note}", measured=False)
    mark = "" if row.told_apart else f"{figures.NOISE_MARK} "
    figure, interval = figures.ratio(row.ratio.value), figures.ratio_interval(row.ratio)
    said = [f"{row.label}: {figure}"]
    if interval:
        said.append(f"interval {interval}")
    if row.reference is not None:
        said.append(f"{reference_label} {figures.ratio(row.reference)}")
    if not row.told_apart:
        said.append(figures.NOISE_MEANING)
    return RowText(row.label, mark + figure, interval, ", ".join(said))


def _ratio_marks(
    rows: tuple[RatioRow, ...], axis: Axis
) -> Callable[[int, float], Iterable[Markup]]:
    one = axis.position(1.0)
    base = one if axis.log else axis.position(0.0)

    def marks(number: int, y: float) -> Iterable[Markup]:
        row = rows[number]
        if row.ratio and drawable([row.ratio.value]):
            value = axis.position(row.ratio.value)
            yield shape(
                "rect",
                class_="bar" if row.told_apart else "bar noise",
                x=min(base, value),
                y=y - BAR_HEIGHT / 2,
                width=abs(value - base),
                height=BAR_HEIGHT,
            )
        # The line at 1 is drawn row by row, above the bars, so that none of them hides it.
        yield shape("line", class_="one", x1=one, x2=one, y1=y - 14, y2=y + 14)
        yield from _whisker(row.ratio, axis, y)
        if row.reference is not None and drawable([row.reference]):
            x = axis.position(row.reference)
            reach = REFERENCE_HEIGHT / 2
            yield shape("line", class_="reference", x1=x, x2=x, y1=y - reach, y2=y + reach)

    return marks


def _tick_label(value: float) -> str:
    return f"{figures.tick(value)}x"


def _whisker(estimate: Estimate | None, axis: Axis, y: float) -> Iterable[Markup]:
    if estimate is None or estimate.low is None or estimate.high is None:
        return
    if len(drawable([estimate.low, estimate.high])) < 2:
        return
    low, high = axis.position(estimate.low), axis.position(estimate.high)
    yield shape("line", class_="whisker", x1=low, x2=high, y1=y, y2=y)
    for x in (low, high):
        yield shape("line", class_="whisker", x1=x, x2=x, y1=y - WHISKER_CAP, y2=y + WHISKER_CAP)
