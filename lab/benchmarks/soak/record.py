"""What a person reads of a soak: a line for each minute, the summary, the record of a long one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from soak.checks import growth
from tollfree.errors import FileError
from tollfree.history import commit
from tollfree.host import fingerprint
from tollfree.paths import CHECKOUT

RECORD = CHECKOUT / "docs" / "runs" / "soak.txt"
LAST_FAULTS = 8


@dataclass(frozen=True)
class Minute:
    """What came of a minute and its check."""

    number: int
    seconds: float
    """Since the beginning."""
    operations: Mapping[str, int]
    errors: Mapping[str, int]
    """By SQLSTATE; all of them are explained."""
    faults: Sequence[str]
    doubtful: int
    """Transfers in doubt, and `halves` of them that were committed by one server only."""
    halves: int
    balance: int
    """Of all accounts."""
    connections: int
    memory_kib: Mapping[str, int]
    """Of the steady workers' sessions."""

    def __str__(self) -> str:
        memory = " ".join(f"{kib:,}" for kib in self.memory_kib.values()) or "unknown"
        return (
            f"minute {self.number} ({self.seconds:.0f} s): {sum(self.operations.values()):,}"
            f" operations, {_counted(self.errors)} errors, {len(self.faults)} faults;"
            f" {self.doubtful} transfers in doubt, {self.halves} on one server only; balance"
            f" {self.balance:,}; {self.connections} connections; memory {memory} KiB"
        )


@dataclass
class Summary:
    """What has come of a soak so far."""

    seed: int
    minutes: list[Minute] = field(default_factory=list)
    operations: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    last_faults: Sequence[str] = ()
    is_interrupted: bool = False
    """Whether it has been ended before its time, and what came after the last check is unknown."""

    @property
    def has_failed(self) -> bool:
        """Whether anything was wrong."""
        return bool(self.findings)

    def add(self, minute: Minute) -> None:
        """A minute is over."""
        self.minutes.append(minute)
        self.operations.update(minute.operations)
        self.errors.update(minute.errors)

    def memory(self) -> dict[str, list[tuple[float, int]]]:
        """Return seconds and KiB of each steady worker's session, minute by minute."""
        histories: dict[str, list[tuple[float, int]]] = {}
        for minute in self.minutes:
            for name, kib in minute.memory_kib.items():
                histories.setdefault(name, []).append((minute.seconds, kib))
        return histories

    def lines(self) -> list[str]:
        """Return the summary."""
        seconds = self.minutes[-1].seconds if self.minutes else 0
        outcome = "FAILED" if self.has_failed else "nothing wrong"
        found = [
            f"seed {self.seed}, {seconds / 3600:.2f} hours, {len(self.minutes)} checks: {outcome}"
            f"{', interrupted' if self.is_interrupted else ''}",
            f"operations: {_counted(self.operations)}",
            f"errors, each explained by a fault or a conflict: {_counted(self.errors)}",
            f"faults: {_counted(self.faults)}",
            f"transfers in doubt: {sum(m.doubtful for m in self.minutes)},"
            f" {sum(m.halves for m in self.minutes)} of them on one server only",
            *self._memory_lines(),
        ]
        if self.has_failed:
            place = f"minute {len(self.minutes) + 1}, seed {self.seed}"
            found += [f"{place}: {text}" for text in self.findings]
            found += ["the last faults:", *(f"  {text}" for text in self.last_faults)]
        return found

    def _memory_lines(self) -> list[str]:
        found = []
        for name, history in self.memory().items():
            part = growth(history)
            told = "too short to tell" if part is None else f"{part:+.2%} in an hour"
            found.append(
                f"memory of {name}: {history[0][1]:,} KiB at first, {history[-1][1]:,} at last:"
                f" {told}"
            )
        return found


def _counted(counts: Mapping[str, int]) -> str:
    """Return a sum, and what it is of."""
    listed = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    total = f"{sum(counts.values()):,}"
    return f"{total} ({listed})" if listed else total


def write_record(summary: Summary, version: str, words: Sequence[str], path: Path = RECORD) -> None:
    """Record a soak that has ended well, with what it ran on; raises `FileError`."""
    host = fingerprint(CHECKOUT)
    text = "\n".join(
        [
            f"date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            f"PostgreSQL: {version}",
            f"processor: {host['cpu']}, {host['cores']} cores",
            f"commit: {commit() or 'unknown'}",
            f"command: {' '.join(['tools/soak', *words])}",
            "",
            *summary.lines(),
            "",
        ]
    )
    temporary = path.with_suffix(".new")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise FileError(
            f"cannot write {path}: {error.strerror}", "Free space there, or make it writable."
        ) from error
