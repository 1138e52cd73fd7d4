"""The tables of the report: small ones shown whole, and the case table that filters and sorts."""

from collections.abc import Callable, Iterable

from tollfree.report import figures
from tollfree.report.data import download_links
from tollfree.report.markup import Child, Markup, element, fragment, plain, prose
from tollfree.report.model import (
    CaseRow,
    CaseState,
    CaseTable,
    Cell,
    Column,
    Estimate,
    Kind,
    SuiteSection,
    Table,
)
from tollfree.report.svg import better_sentence

FIGURE_COLUMNS = ("n", "Median", "Interval", "Ratio", "Ratio interval")


def table(value: Table) -> Markup:
    """Return a small table with its notes."""
    head = element("tr", (_heading(column) for column in value.columns))
    body = (element("tr", map(_cell, value.columns, row)) for row in value.rows)
    return element(
        "div",
        _scrolling(
            value.caption,
            element("caption", prose(value.caption)),
            element("thead", head),
            element("tbody", body),
        ),
        (element("p", prose(note), class_="note") for note in value.notes),
        class_="table",
    )


def case_table(suite: SuiteSection) -> Markup:
    """Return the case table of a suite with its controls, which the script brings to life."""
    cases = suite.cases
    caption = f"{len(cases.rows)} cases: {cases.quantity}, and its ratio to {cases.baseline}"
    return element(
        "div",
        element("h3", "Every case"),
        _unmeasured(cases.rows),
        _controls(suite),
        _scrolling(
            caption,
            element("caption", prose(caption), f"; of the ratio {better_sentence(cases.better)}"),
            element("thead", element("tr", map(_sort_heading, case_columns(cases)))),
            element("tbody", (_case(cases, row) for row in cases.rows)),
        ),
        element(
            "p",
            f"{figures.NOISE_MARK} {figures.NOISE_MEANING}. "
            "A case that failed or was skipped has no figure.",
            class_="note",
        ),
        download_links(suite),
        class_="cases",
        data_suite=suite.name,
    )


def case_columns(cases: CaseTable) -> tuple[Column, ...]:
    """Return the columns of a case table."""
    texts = ("Case", *cases.dimensions, "State")
    numbers = (Column(label, Kind.NUMBER) for label in FIGURE_COLUMNS)
    return (*map(Column, texts), *numbers, *cases.extra)


def _scrolling(name: str, *parts: Markup) -> Markup:
    """Return a table in a box that scrolls sideways, by keyboard too, so the page need not."""
    return element(
        "div",
        element("table", *parts),
        class_="scroll",
        role="region",
        aria_label=plain(name),
        tabindex=0,
    )


def _heading(column: Column) -> Markup:
    return element("th", _label(column), scope="col", class_=column.kind)


def _sort_heading(column: Column) -> Markup:
    button = element("button", _label(column), type="button", data_sort=column.label)
    return element("th", button, scope="col", class_=column.kind, aria_sort="none")


def _label(column: Column) -> list[str | None]:
    unit = element("span", column.unit, class_="unit") if column.unit else None
    return [column.label, " " if unit else None, unit]


def _cell(column: Column, value: Cell) -> Markup:
    if isinstance(value, str):
        return element("td", prose(value), class_=column.kind)
    if column.decimals is None:
        written = str(value) if isinstance(value, int) else figures.significant(value)
    else:
        written = figures.fixed(value, column.decimals)
    return element(
        "td", written, class_=column.kind, data_value="" if value is None else repr(value)
    )


def _case(cases: CaseTable, row: CaseRow) -> Markup:
    cells = [
        element("th", row.testcase, scope="row", class_="testcase"),
        *(element("td", row.dimensions.get(name, "")) for name in cases.dimensions),
        element("td", row.state, class_=f"state {row.state}"),
    ]
    if row.state is CaseState.OK:
        cells += _case_figures(row)
        cells += (_cell(column, row.extra.get(column.label)) for column in cases.extra)
    else:
        # The reason takes the place of the figures: there is no cell that could hold one.
        span = len(FIGURE_COLUMNS) + len(cases.extra)
        cells.append(element("td", prose(row.reason), colspan=span, class_="reason"))
    return element("tr", *cells, class_=row.state)


def _case_figures(row: CaseRow) -> list[Markup]:
    unit = element("span", f" {row.unit}", class_="unit")
    noise = element("abbr", figures.NOISE_MARK, title=figures.NOISE_MEANING)
    mark = fragment(noise, " ") if row.ratio and not row.told_apart else None
    return [
        _number(row.n, str(row.n)),
        *_estimate(row.median, figures.significant, figures.interval, after=unit),
        *_estimate(row.ratio, figures.ratio, figures.ratio_interval, before=mark),
    ]


def _estimate(
    estimate: Estimate | None,
    figure: Callable[[float], str],
    interval: Callable[[Estimate], str],
    before: Markup | None = None,
    after: Markup | None = None,
) -> list[Markup]:
    """Return two cells: the figure with its prefix and suffix, and its interval."""
    if estimate is None:
        return [_number(None, figures.DASH), _number(None, figures.DASH)]
    return [
        _number(estimate.value, before, figure(estimate.value), after),
        _number(estimate.low, element("span", interval(estimate) or figures.DASH, class_="unit")),
    ]


def _number(value: float | None, *written: Child) -> Markup:
    return element("td", *written, class_="number", data_value="" if value is None else repr(value))


def _unmeasured(rows: Iterable[CaseRow]) -> Markup | None:
    """Return what was not measured, by reason: always in sight, whatever the filter hides."""
    reasons: dict[tuple[CaseState, str], list[str]] = {}
    for row in rows:
        if row.state is not CaseState.OK:
            reasons.setdefault((row.state, row.reason), []).append(row.testcase)
    if not reasons:
        return None
    items = (
        element("li", element("strong", f"{len(names)} {state}", class_=state), ": ", prose(reason))
        for (state, reason), names in reasons.items()
    )
    return element("ul", items, class_="unmeasured")


def _controls(suite: SuiteSection) -> Markup:
    rows = suite.cases.rows
    choices = {
        name: dict.fromkeys(row.dimensions.get(name, "") for row in rows)
        for name in suite.cases.dimensions
    }
    choices["State"] = dict.fromkeys(str(row.state) for row in rows)
    search = element(
        "label", "Find ", element("input", type="search", name="text", autocomplete="off")
    )
    return element(
        "form",
        search,
        (_select(name, values) for name, values in choices.items() if len(values) > 1),
        element("button", "Show all", type="reset"),
        element("output", f"{len(rows)} of {len(rows)} cases", role="status"),
        class_="controls",
        aria_label=f"Filter the cases of {suite.title}",
        hidden=True,
    )


def _select(name: str, values: Iterable[str]) -> Markup:
    options = [element("option", "any", value="")]
    options += (element("option", value, value=value) for value in values)
    return element("label", f"{name} ", element("select", options, name=f"where.{name}"))
