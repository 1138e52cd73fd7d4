"""The data that travels inside the page, and the links that let a reader save it."""

import json
import math
from collections.abc import Iterable

from tollfree.report.markup import Markup, element, fragment
from tollfree.report.model import CaseRow, CaseTable, Cell, Estimate, SuiteSection

ESTIMATE_COLUMNS = ("median", "median_low", "median_high", "ratio", "ratio_low", "ratio_high")

Sheet = dict[str, list[str] | list[list[Cell]]]


def data_block(suite: SuiteSection) -> Markup:
    """Return the suite's data as a JSON block that no text inside it can close."""
    document = {
        "suite": suite.name,
        "run": {
            "id": suite.run.id,
            "state": suite.run.state,
            "executions_done": suite.run.executions_done,
            "executions_planned": suite.run.executions_planned,
            "size": suite.run.size,
            "command": suite.run.command,
            "method": suite.run.method,
            "durability": suite.run.durability,
            "fingerprint": dict(suite.run.fingerprint),
            "settings": {name: dict(values) for name, values in suite.run.settings.items()},
        },
        "cases": _case_sheet(suite.cases),
        "samples": _sheet(suite.samples.columns, suite.samples.rows),
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    inert = Markup(text.replace("<", "\\u003c"))
    return element("script", inert, type="application/json", id=f"data-{suite.name}")


def download_links(suite: SuiteSection) -> Markup:
    """Return the links; the script fills them from the data block when they are followed."""
    files = {
        f"{suite.name}-cases.csv": "cases",
        f"{suite.name}-samples.csv": "samples",
        f"{suite.name}.json": None,
    }
    links = (
        fragment(
            element(
                "a", name, href="#", download=name, data_from=f"data-{suite.name}", data_sheet=sheet
            ),
            " ",
        )
        for name, sheet in files.items()
    )
    count = f"{len(suite.samples.rows)} raw samples are in this page: "
    return element("p", count, links, class_="downloads", hidden=True)


def _case_sheet(cases: CaseTable) -> Sheet:
    extra = [column.label for column in cases.extra]
    columns = [
        "testcase", *cases.dimensions, "state", "reason", "unit", "n", *ESTIMATE_COLUMNS,
        "told_apart", *extra,
    ]  # fmt: skip
    return _sheet(columns, (_case(cases.dimensions, extra, row) for row in cases.rows))


def _case(dimensions: Iterable[str], extra: Iterable[str], row: CaseRow) -> list[Cell]:
    return [
        row.testcase,
        *(row.dimensions.get(name) for name in dimensions),
        row.state,
        row.reason,
        row.unit,
        row.n,
        *_numbers(row.median),
        *_numbers(row.ratio),
        None if row.ratio is None else row.told_apart,
        *(row.extra.get(label) for label in extra),
    ]


def _numbers(estimate: Estimate | None) -> tuple[float | None, ...]:
    return (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)


def _sheet(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> Sheet:
    return {"columns": list(columns), "rows": [[_json_cell(cell) for cell in row] for row in rows]}


def _json_cell(cell: Cell) -> Cell:
    """Return the cell, or None where JSON has no such number."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
