"""Two runs side by side, also of different servers, machines or days.

Absolute figures of two runs say as much of the two days as of what changed. What is compared is
therefore each case's ratio to its baseline, taken inside the rounds of its own run; a change
counts only where the two intervals do not overlap. A single round has no interval, and so shows no
change.
"""

from tollfree.report.model import Cell, Column, Table
from tollfree.stats import Estimate
from tollfree.suites.presentation import Findings, number

SAME = "~"


def comparison(before: Findings, after: Findings) -> Table:
    """Return the cases that both runs have, with their ratios and what changed."""
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(before.cases.keys() & after.cases.keys()):
        old, new = before.ratio(name), after.ratio(name)
        if old is None or new is None:
            continue
        change = SAME
        if _told_apart(old, new):
            change = f"{(new.median / old.median - 1) * 100:+.0f}%"
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
        (
            f"`{SAME}`: no change can be told, because the intervals overlap or one of the ratios "
            "is of a single round.",
        ),
    )


def _told_apart(old: Estimate, new: Estimate) -> bool:
    have_intervals = min(old.samples, new.samples) > 1
    return have_intervals and (old.high < new.low or new.high < old.low)


def only_in_one(before: Findings, after: Findings) -> list[str]:
    """Return the names of the cases that only one of the runs has."""
    return sorted(before.cases.keys() ^ after.cases.keys())


def _name(findings: Findings) -> str:
    run = findings.run
    return f"{run.run_id} (PostgreSQL {run.postgresql}; {run.size})"
