"""The lab on a terminal: tables, verdicts and progress, with Rich."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, JustifyMethod
from rich.measure import Measurement
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
from tollfree.store import Result, Run, Step

LOG_WIDTH = 150
"""Columns where there is no terminal to ask: a log or a pipe."""

WIDEST = 10_000
LOG_INTERVAL_S = 30.0

OUT = Console(emoji=False, highlight=False, width=None if sys.stdout.isatty() else LOG_WIDTH)
ERR = Console(emoji=False, stderr=True, highlight=False)


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


def print_table(table: Table) -> None:
    """Print a table as wide as it has to be: a figure that is cut would be another one."""
    drawn = rich_table(table)
    needed = Measurement.get(OUT, OUT.options.update(width=WIDEST), drawn).maximum
    wide = Console(emoji=False, highlight=False, width=max(OUT.width, needed))
    wide.print(drawn, markup=False)


def print_section(section: SuiteSection) -> None:
    """Print a section's tables, its failed cases and its verdicts."""
    OUT.print(f"\n[bold]{section.title}[/bold]")
    for table in section.tables:
        OUT.print()
        print_table(table)
    failed = [case for case in section.cases.rows if case.reason]
    if failed:
        OUT.print("\n[bold]Cases without figures[/bold]")
        for case in failed:
            line = f"  {case.testcase}: {case.state}: {case.reason}"
            OUT.print(line, markup=False, soft_wrap=True)
    OUT.print()
    for verdict in section.verdicts:
        OUT.print(f"* {verdict}", markup=False)
    run = section.run
    OUT.print(
        f"\nRun {run.id} ({run.size}), {run.state}: {run.executions_done} of"
        f" {run.executions_planned} executions. Again: {run.command}",
        markup=False,
        soft_wrap=True,
    )


class Pace:
    """How many executions remain, and how long they will take at the pace so far.

    The pace is what executions have taken beside what they were expected to take. A skipped one
    takes no time and says nothing of it.
    """

    def __init__(self, remaining: Sequence[Step]) -> None:
        self.remains(remaining)
        self._spent = 0.0
        self._expected_of_spent = 0.0

    def remains(self, remaining: Sequence[Step]) -> None:
        """Begin a round before which these executions remain."""
        self.remaining = len(remaining)
        self._expected = sum(step.seconds for step in remaining)

    def one_ended(self, step: Step, result: Result, seconds: float) -> None:
        """Count one execution."""
        self.remaining -= 1
        self._expected -= step.seconds
        if result.state != "skipped":
            self._spent += seconds
            self._expected_of_spent += step.seconds

    @property
    def left(self) -> str:
        """The time left, as h:mm:ss."""
        pace = self._spent / self._expected_of_spent if self._expected_of_spent else 1.0
        seconds = round(self._expected * pace)
        return f"{seconds // 3600}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


class BarObserver(Observer):
    """Draws a progress bar with the time left."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("starting", total=None, left="")
        self._pace = Pace([])

    def preparing(self, run: Run) -> None:
        """Show that data are being made."""
        self._progress.update(self._task, description=f"run {run.run_id}: making the data")

    def begins(self, run: Run, done: int, remaining: Sequence[Step]) -> None:
        """Start counting."""
        self._pace = Pace(remaining)
        self._progress.update(
            self._task,
            completed=done,
            description=f"run {run.run_id}",
            left=self._pace.left,
            total=done + len(remaining),
        )

    def remains(self, remaining: Sequence[Step]) -> None:
        """Count anew what remains."""
        self._pace.remains(remaining)
        done = self._progress.tasks[self._task].completed
        self._progress.update(self._task, total=done + len(remaining))

    def ended(self, step: Step, result: Result, seconds: float) -> None:
        """Count one execution; print failed ones above the bar."""
        self._pace.one_ended(step, result, seconds)
        _print_failure(result)
        self._progress.update(
            self._task, advance=1, description=result.testcase, left=self._pace.left
        )


class LogObserver(Observer):
    """Prints a line now and then, for logs."""

    def __init__(self) -> None:
        self._pace = Pace([])
        self._total = 0
        self._printed = 0.0

    def preparing(self, run: Run) -> None:
        """Say that data are being made."""
        ERR.print(f"run {run.run_id}, {run.suite} {run.size}: making the data")

    def begins(self, run: Run, done: int, remaining: Sequence[Step]) -> None:
        """Start counting."""
        self._pace = Pace(remaining)
        self._total = done + len(remaining)
        self._print()

    def remains(self, remaining: Sequence[Step]) -> None:
        """Count anew what remains."""
        self._total += len(remaining) - self._pace.remaining
        self._pace.remains(remaining)

    def ended(self, step: Step, result: Result, seconds: float) -> None:
        """Count one execution; print failed ones at once, the state every half minute."""
        self._pace.one_ended(step, result, seconds)
        _print_failure(result)
        if time.monotonic() - self._printed > LOG_INTERVAL_S:
            self._print()

    def _print(self) -> None:
        self._printed = time.monotonic()
        done = self._total - self._pace.remaining
        ERR.print(f"{done} of {self._total} executions, {self._pace.left} left")


def _print_failure(result: Result) -> None:
    if result.state != "ok":
        ERR.print(
            f"{result.testcase}: {result.state}: {result.reason}", markup=False, soft_wrap=True
        )


@contextmanager
def progress_shown() -> Iterator[Observer]:
    """Yield an observer that shows progress on standard error: a bar, or lines in a log."""
    if not ERR.is_terminal:
        yield LogObserver()
        return
    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left {task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=ERR, transient=True) as progress:
        yield BarObserver(progress)
