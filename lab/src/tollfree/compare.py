"""Two runs side by side, also of different servers, machines or days.

Absolute figures of two runs say as much of the two days as of what changed. What is compared is
therefore each case's ratio to its baseline, taken inside the rounds of its own run; a change
counts only where the two intervals do not overlap. A single round has no interval, and so shows no
change.
"""

from dataclasses import dataclass

from tollfree.report.model import Cell, Column, Table
from tollfree.stats import Estimate
from tollfree.store import RunCase
from tollfree.suites.presentation import Findings, number, with_interval

SAME = "~"


@dataclass(frozen=True)
class Change:
    """A case that both runs have, with its ratios to its baseline. It had one before."""

    testcase: str
    before: Estimate
    after: Estimate | None
    """None: it failed, or its baseline did, or it was not run yet."""

    @property
    def share(self) -> float | None:
        """The growth of the ratio, as a share of the old one; None if it is within the noise."""
        old, new = self.before, self.after
        if new is None or not self.has_intervals or not (old.high < new.low or new.high < old.low):
            return None
        return new.median / old.median - 1

    @property
    def has_intervals(self) -> bool:
        """Whether the change is beyond the noise."""
        return self.after is not None and min(self.before.samples, self.after.samples) > 1

    def is_worse_than(self, limit: float) -> bool:
        """Return whether its ratio is known to have grown by more than a share, or is gone."""
        return self.after is None or (self.share or 0.0) > limit


def changes(before: Findings, after: Findings) -> list[Change]:
    """Return the cases that both runs have and that had a ratio before."""
    names = sorted(_common(before, after))
    return [Change(n, ratio, after.ratio(n)) for n in names if (ratio := before.ratio(n))]


def _common(before: Findings, after: Findings) -> set[str]:
    """Return the cases that both runs have: of one size, in what dimensions both tell, and with one
    baseline. A name does not tell the number of rows."""
    return {
        name
        for name in before.cases.keys() & after.cases.keys()
        if _is_same(before.cases[name], after.cases[name])
    }


def _is_same(one: RunCase, other: RunCase) -> bool:
    told = one.dims.keys() & other.dims.keys()
    return (one.baseline, one.figure) == (other.baseline, other.figure) and all(
        one.dims[key] == other.dims[key] for key in told
    )


def comparison(before: Findings, after: Findings) -> Table:
    """Return the cases that both runs have, with their ratios and what changed."""
    return Table(
        f"Ratios to the baseline: run {_name(before)} and run {_name(after)}",
        (
            Column("Case"),
            *(number("before", "x", 3), number("low", "x", 3), number("high", "x", 3)),
            *(number("after", "x", 3), number("low", "x", 3), number("high", "x", 3)),
            Column("change"),
        ),
        tuple(_row(change) for change in changes(before, after)),
        (
            f"`{SAME}`: no change can be told, because the intervals overlap or one of the ratios "
            "is of a single round.",
        ),
    )


def _row(change: Change) -> tuple[Cell, ...]:
    old, new = change.before, change.after
    row = (change.testcase, *with_interval(old))
    if new is None:
        return (*row, *with_interval(None), "no ratio any more")
    share = change.share
    text = SAME if share is None else f"{share * 100:+.0f}%"
    return (*row, *with_interval(new), text)


def only_in_one(before: Findings, after: Findings) -> list[str]:
    """Return the names of the cases that only one of the runs has, or that are of another size or
    baseline in the other one."""
    return sorted((before.cases.keys() | after.cases.keys()) - _common(before, after))


def _name(findings: Findings) -> str:
    run = findings.run
    return f"{run.run_id} (PostgreSQL {run.postgresql}; {run.size})"
