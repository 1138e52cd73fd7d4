"""Makes the report of some runs: asks their suites for sections and writes the page."""

from datetime import UTC, datetime
from pathlib import Path

from tollfree import __version__
from tollfree.report.model import Report
from tollfree.report.page import write
from tollfree.store import Run, Store
from tollfree.suites import suite_named

TITLE = "What the roads to data outside PostgreSQL cost"


def publish(store: Store, runs: list[Run], path: Path) -> None:
    """Write the report of `runs` to `path`; raises `FileError` when it cannot be written."""
    sections = tuple(suite_named(run.suite).section(store, run) for run in runs)
    write(Report(TITLE, datetime.now(UTC), __version__, sections), path)
