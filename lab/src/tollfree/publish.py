"""Makes the report of some runs: has their suites make sections, and writes the page."""

from datetime import UTC, datetime
from pathlib import Path

from tollfree import __version__
from tollfree.errors import UsageError
from tollfree.report.model import Report
from tollfree.report.page import write
from tollfree.suites import section_of
from tollfree.suites.presentation import Findings

TITLE = "What the roads to data outside PostgreSQL cost"


def publish(runs: list[Findings], path: Path) -> None:
    """Write the report of `runs` to `path`; raises `UsageError` when two are of one suite, and
    `FileError` when it cannot be written."""
    suites = [run.run.suite for run in runs]
    for suite in suites:
        if suites.count(suite) > 1:
            raise UsageError(
                f"more than one of the runs is of the suite {suite}",
                "A report has one run of a suite: write one report of each, or see"
                " `tollfree compare`.",
            )
    sections = tuple(section_of(run) for run in runs)
    write(Report(TITLE, datetime.now(UTC), __version__, sections), path)
