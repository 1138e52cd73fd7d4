"""The lab on a terminal: tables, verdicts and progress, with Rich."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, JustifyMethod
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table as RichTable

from tollfree.report.model import Cell, Column, Kind, SuiteSection, Table
from tollfree.runner import Observer
from tollfree.store import Result, Run

LOG_WIDTH = 150
"""Columns where there is no terminal to ask: a log or a pipe."""

OUT = Console(highlight=False, width=None if sys.stdout.isatty() else LOG_WIDTH)
ERR = Console(stderr=True, highlight=False)


def cell_text(cell: Cell, column: Column) -> str:
    """Return a cell as text: a dash for nothing, numbers with the column's decimals."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if column.decimals is None:
        return f"{cell:.4g}"
    return f"{cell:,.{column.decimals}f}"


def rich_table(table: Table) -> RichTable:
    """Return a table of the report as Rich draws it."""
    drawn = RichTable(
        title=table.caption, title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for column in table.columns:
        unit = f"\n{column.unit}" if column.unit else ""
        justify: JustifyMethod = "right" if column.kind is Kind.NUMBER else "left"
        drawn.add_column(column.label + unit, justify=justify, no_wrap=column.kind is Kind.TEXT)
    for row in table.rows:
        drawn.add_row(
            *(cell_text(cell, column) for cell, column in zip(row, table.columns, strict=True))
        )
    return drawn


def print_section(section: SuiteSection) -> None:
    """Print a section's tables, its failed cases and its verdicts."""
    OUT.print(f"\n[bold]{section.title}[/bold]")
    for table in section.tables:
        OUT.print()
        OUT.print(rich_table(table))
    failed = [case for case in section.cases.rows if case.reason]
    if failed:
        OUT.print("\n[bold]Cases without figures[/bold]")
        for case in failed:
            OUT.print(f"  {case.testcase}: {case.state}: {case.reason}", markup=False)
    OUT.print()
    for verdict in section.verdicts:
        OUT.print(f"* {verdict}", markup=False)
    run = section.run
    OUT.print(
        f"\nRun {run.id}, {run.state}: {run.cases_done} of {run.cases_planned} executions."
        f" Again: {run.command}",
        markup=False,
    )


class ProgressObserver(Observer):
    """Shows how far a run is and how long it will still take."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("starting", total=None, left="")
        self._spent = 0.0
        self._ended = 0
        self._seconds_each = 0.0
        self._remaining = 0

    def preparing(self, run: Run) -> None:
        """Show that data are being made."""
        self._describe(f"run {run.run_id}: making the data")

    def begins(self, run: Run, done: int, remaining: int, seconds_each: float) -> None:
        """Start counting."""
        self._seconds_each, self._remaining = seconds_each, remaining
        self._progress.update(self._task, completed=done, total=done + remaining)
        self._describe(f"run {run.run_id}")

    def ended(self, result: Result, seconds: float) -> None:
        """Count one execution; print failed ones above the bar."""
        self._spent += seconds
        self._ended += 1
        self._remaining -= 1
        self._seconds_each = self._spent / self._ended
        if result.state != "ok":
            self._progress.console.print(
                f"{result.testcase}: {result.state}: {result.reason}", markup=False
            )
        self._progress.advance(self._task)
        self._describe(result.testcase)

    def _describe(self, words: str) -> None:
        left = self._remaining * self._seconds_each
        hours, minutes = int(left // 3600), int(left % 3600 // 60)
        clock = f"{hours}:{minutes:02}:{int(left % 60):02}" if self._seconds_each else ""
        self._progress.update(self._task, description=words, left=clock)


@contextmanager
def progress_shown() -> Iterator[ProgressObserver]:
    """Yield an observer that draws a progress bar on standard error."""
    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left {task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=ERR, transient=True) as progress:
        yield ProgressObserver(progress)
