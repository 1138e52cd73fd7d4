"""Which rows a remote server must have, and which it may have, by what its workers were told.

A change whose COMMIT succeeded must be there once. A change whose COMMIT was sent and failed is in
doubt: it may be there, whole, or not at all, on each server by itself, for a commit on several
servers is not atomic. Any other row must not be there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Change:
    """What one transaction changes on one server."""

    ledger: Mapping[int, int] = field(default_factory=dict)
    """The delta of each transfer."""
    batches: Mapping[int, int] = field(default_factory=dict)
    """The rows of each batch."""
    increments: int = 0
    """Of the worker's counter."""


@dataclass
class Expected:
    """What one worker expects of one remote server since the last check."""

    ledger: dict[int, int] = field(default_factory=dict)
    batches: dict[int, int] = field(default_factory=dict)
    least: int = 0
    """The lowest value that the worker's counter can have; `most` is the highest."""
    most: int = 0
    doubtful_ledger: dict[int, int] = field(default_factory=dict)
    doubtful_batches: dict[int, int] = field(default_factory=dict)

    def risk(self, change: Change) -> None:
        """A command that commits the change is about to be sent."""
        self.doubtful_ledger |= change.ledger
        self.doubtful_batches |= change.batches
        self.most += change.increments

    def settle(self, change: Change) -> None:
        """It has succeeded."""
        for transfer in change.ledger:
            del self.doubtful_ledger[transfer]
        for batch in change.batches:
            del self.doubtful_batches[batch]
        self.ledger |= change.ledger
        self.batches |= change.batches
        self.least += change.increments

    def begin_again(self, counter: int) -> None:
        """All has been checked, and taken away but for the counter, which has this value."""
        for kept in (self.ledger, self.batches, self.doubtful_ledger, self.doubtful_batches):
            kept.clear()
        self.least = self.most = counter


def ledger_problems(
    found: Mapping[int, tuple[int, int, int]], must: Mapping[int, int], may: Mapping[int, int]
) -> list[str]:
    """Return what is wrong with a ledger, of which is known how often each transfer was found, and
    its lowest and highest delta."""
    problems = [f"transfer {number} is lost" for number in must if number not in found]
    for number, (count, low, high) in found.items():
        if number not in must and number not in may:
            problems.append(f"transfer {number} was rolled back, and is there")
        elif count != 1:
            problems.append(f"transfer {number} is there {count} times")
        elif {low, high} != {must[number] if number in must else may[number]}:
            problems.append(f"transfer {number} has the delta {low}")
    return problems


def batch_problems(
    found: Mapping[int, tuple[int, bool]], must: Mapping[int, int], may: Mapping[int, int]
) -> list[str]:
    """Return what is wrong with batches, of which is known how many rows each has, and whether they
    are those with which a batch of so many begins."""
    problems = [f"batch {number} is lost" for number in must if number not in found]
    for number, (rows, is_right) in found.items():
        if number not in must and number not in may:
            problems.append(f"batch {number} was not committed, and {rows} of its rows are there")
            continue
        wanted = must[number] if number in must else may[number]
        if rows != wanted:
            problems.append(f"batch {number} has {rows} rows instead of {wanted}")
        elif not is_right:
            problems.append(f"batch {number} has rows with wrong values")
    return problems
