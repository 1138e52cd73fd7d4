"""What `--json` prints: docs/reference/json.md lists the fields. They are only added to a format,
never renamed: scripts read them."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from tollfree.compare import Change
from tollfree.doctor import Finding
from tollfree.report.model import SuiteSection, Table
from tollfree.store import CaseInfo, Run

Document = dict[str, Any]


def doctor_document(findings: Iterable[Finding]) -> Document:
    """Return what `tollfree doctor` found."""
    return {"format": "tollfree-doctor-1", "findings": [asdict(one) for one in findings]}


def list_document(suites: Sequence[str], cases: Sequence[CaseInfo]) -> Document:
    """Return the names of suites, and of cases with their commands."""
    shown = [
        {"suite": x.suite, "testcase": x.testcase, "argv": x.argv, "env": x.env} for x in cases
    ]
    return {"format": "tollfree-list-1", "suites": list(suites), "cases": shown}


def runs_document(runs: Iterable[Run]) -> Document:
    """Return the runs there are."""
    return {"format": "tollfree-runs-1", "runs": [asdict(run) for run in runs]}


def section_document(section: SuiteSection) -> Document:
    """Return what the terminal shows of a run, and all of its cases."""
    return {
        "format": "tollfree-show-1",
        "suite": section.name,
        "title": section.title,
        "run": asdict(section.run),
        "gains": asdict(section.gains) if section.gains else None,
        "verdicts": section.verdicts,
        "tables": [_table(table) for table in section.tables],
        "cases": [asdict(row) for row in section.cases.rows],
    }


def _table(table: Table) -> Document:
    columns = [{"label": column.label, "unit": column.unit} for column in table.columns]
    return {
        "caption": table.caption,
        "columns": columns,
        "rows": table.rows,
        "notes": table.notes,
    }


def compare_document(
    pair: Sequence[Run], changes: Sequence[Change], unmatched: Sequence[str], limit: float | None
) -> Document:
    """Return a comparison; `limit` is the share that --fail-above allows."""
    before, after = (asdict(run) for run in pair)
    cases = [
        asdict(change)
        | {"share": change.share, "fails": limit is not None and change.is_worse_than(limit)}
        for change in changes
    ]
    return {
        "format": "tollfree-compare-1",
        "before": before,
        "after": after,
        "fail_above": limit,
        "cases": cases,
        "only_in_one": list(unmatched),
    }
