"""The interface of a suite to the runner and the report.

A package of `tollfree.suites` has one, as `SUITE`. It has all members that a suite must provide.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from tollfree.lab import Lab
from tollfree.report.model import Sheet, SuiteSection
from tollfree.store import Profile, Run, Store
from tollfree.suites.presentation import Findings


@dataclass(frozen=True)
class Bench:
    """What a suite has to work with while it runs."""

    lab: Lab
    store: Store
    profile: Profile


@runtime_checkable
class Suite(Protocol):
    """One suite. Its cases are in the database; this is what surrounds them."""

    name: str
    """That of its package."""
    in_demo: bool
    """Whether `tollfree demo` runs its quick version."""
    databases: str = "^$"
    """The names of the lab's databases that hold its data alone, as a regular expression."""

    def disk_bytes(self, profile: Profile) -> int:
        """Return about how much room its data need."""

    def kept_bytes(self, bench: Bench) -> int:
        """Return how much of that its data take already: that of its databases."""
        servers = (bench.lab.source(), bench.lab.external())
        return sum(server.size_of_databases(self.databases) for server in servers)

    def prepare(self, bench: Bench, *, resumed: bool) -> None:
        """Make the data and the objects that the cases need, on the lab's running servers.

        A resumed run keeps the data it has where they are whole.
        """

    def facts(self, store: Store, run: Run) -> dict[str, Any]:
        """Return what `section` has to know of the lab beside a run's executions, as JSON has it:
        nothing, unless it says so. Files written before there was such a fact do not have it."""
        return {}

    def section(self, run: Findings) -> SuiteSection:
        """Return a run as a section of the report; the terminal shows its tables too."""

    def sheets(self, run: Findings) -> dict[str, Sheet]:
        """Return pages of plots by their names: none, unless it says so."""
        return {}

    def export_files(self, run: Findings, folder: Path) -> list[Path]:
        """Write the suite's own files into `folder` and return them: none, unless it says so."""
        return []
