"""Two runs side by side, also of different servers, machines or days.

Absolute figures of two runs say as much of the two days as of what changed. What is compared is
therefore each case's ratio to its baseline, taken inside the rounds of its own run; a change
counts only where the two intervals do not overlap.
"""

from tollfree.report.model import Cell, Column, Table
from tollfree.suites.presentation import Findings, number

SAME = "~"


def comparison(before: Findings, after: Findings) -> Table:
    """Return the cases that both runs have, with their ratios and what changed."""
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(before.cases.keys() & after.cases.keys()):
        old, new = before.ratio(name), after.ratio(name)
        if old is None or new is None:
            continue
        apart = old.high < new.low or new.high < old.low
        change = f"{(new.median / old.median - 1) * 100:+.0f}%" if apart else SAME
        rows.append((name, old.median, old.low, old.high, new.median, new.low, new.high, change))
    return Table(
        f"Ratios to the baseline: run {_name(before)} and run {_name(after)}",
        (
            Column("Case"),
            *(number("before", "x", 2), number("low", "x", 2), number("high", "x", 2)),
            *(number("after", "x", 2), number("low", "x", 2), number("high", "x", 2)),
            Column("change"),
        ),
        tuple(rows),
        (f"`{SAME}`: the intervals overlap, so that no change can be told.",),
    )


def only_in_one(before: Findings, after: Findings) -> list[str]:
    """Return the names of the cases that only one of the runs has."""
    return sorted(before.cases.keys() ^ after.cases.keys())


def _name(findings: Findings) -> str:
    versions = {server["version"] for server in findings.run.server.values()}
    version = ", ".join(sorted(versions)) or "unknown"
    return f"{findings.run.run_id} (PostgreSQL {version}; {findings.run.size})"
