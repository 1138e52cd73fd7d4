"""What a report says: the contract between the suites and the page.

A suite fills these values; the page draws them and knows nothing of a suite. Nothing here knows
of HTML, SVG or SQL. Text is plain text; a word between backquotes is set as code. What would make
a report lie is refused when the value is made: a case that was not measured carries no figure.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

Cell = str | int | float | None


class CaseState(StrEnum):
    """Whether a case was measured."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


class RunState(StrEnum):
    """Whether a run measured everything it planned."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    RUNNING = "running"


class Better(StrEnum):
    """Which way a quantity improves."""

    LOWER = "lower"
    HIGHER = "higher"


class Kind(StrEnum):
    """How the cells of a column are set and sorted."""

    TEXT = "text"
    NUMBER = "number"


@dataclass(frozen=True)
class Estimate:
    """A median and the interval around it, in the unit of its owner."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Column:
    """A column of a table; `decimals` None gives four significant digits."""

    label: str
    kind: Kind = Kind.TEXT
    unit: str = ""
    decimals: int | None = None


@dataclass(frozen=True)
class Table:
    """A small table, shown whole and in the order given; a None cell is shown as a dash."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.caption!r}: a row has {len(row)} cells, "
                    f"the table has {len(self.columns)} columns"
                )


@dataclass(frozen=True)
class RatioRow:
    """One bar; `reference` is a published ratio, defined as `ratio` is.

    `ratio` None is a case that was not measured; `note`, shown only then, says why in a few words.
    """

    label: str
    ratio: Estimate | None
    told_apart: bool = True
    reference: float | None = None
    note: str = ""


@dataclass(frozen=True)
class RatioChart:
    """Ratios of `quantity` to that of `baseline`; the axis is logarithmic for a large span."""

    caption: str
    quantity: str
    baseline: str
    better: Better
    rows: tuple[RatioRow, ...]
    reference_label: str = "published"


@dataclass(frozen=True)
class Gain:
    """How many times as long as its baseline one candidate takes."""

    ratio: Estimate
    told_apart: bool = True


@dataclass(frozen=True)
class GainRow:
    """What is done, and the candidates' times; `gains` goes by the candidates of the chart.

    `reference` is a published ratio, defined as the first candidate's is.
    """

    label: str
    gains: tuple[Gain | None, ...]
    reference: float | None = None


@dataclass(frozen=True)
class GainChart:
    """A suite's picture: what stock and ours take, as multiples of what `baseline` takes.

    All such charts of a page are drawn on one logarithmic axis.
    """

    caption: str
    baseline: str
    candidates: tuple[str, ...]
    rows: tuple[GainRow, ...]
    reference_label: str = "published"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.gains) != len(self.candidates):
                raise ValueError(
                    f"row {row.label!r} of chart {self.caption!r} has {len(row.gains)} gains, "
                    f"the chart has {len(self.candidates)} candidates"
                )


@dataclass(frozen=True)
class SampleRow:
    """The raw samples of one case, in the order of the rounds."""

    label: str
    samples: tuple[float, ...]
    median: Estimate | None


@dataclass(frozen=True)
class SampleChart:
    """One dot per round and the median with its interval, case by case on one axis."""

    caption: str
    quantity: str
    unit: str
    better: Better
    rows: tuple[SampleRow, ...]


@dataclass(frozen=True)
class Point:
    """A point of a line; with both `low` and `high` the interval is drawn as a band."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """One line."""

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Tick:
    """A place on an axis and what is written there."""

    value: float
    label: str


@dataclass(frozen=True)
class AxisTitle:
    """What an axis shows; `ticks` replaces the computed ones (percentiles are set so).

    The axis reaches `reach` at least, so that charts side by side can have the same one.
    """

    label: str
    unit: str = ""
    log: bool = False
    ticks: tuple[Tick, ...] = ()
    reach: tuple[float, ...] = ()


@dataclass(frozen=True)
class LineChart:
    """Lines over a shared x: percentiles of latency, cost by fraction sampled."""

    caption: str
    x: AxisTitle
    y: AxisTitle
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Sheet:
    """A page of line charts in rows and columns, all with the same series; None leaves a gap."""

    title: str
    rows: tuple[tuple[LineChart | None, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        charts = [chart for row in self.rows for chart in row if chart]
        labels = {tuple(series.label for series in chart.series) for chart in charts}
        if len(labels) != 1:
            raise ValueError(f"the charts of sheet {self.title!r} have no or different series")


Chart = GainChart | RatioChart | SampleChart | LineChart


@dataclass(frozen=True)
class CaseRow:
    """One test case; `dimensions` and `extra` go by the labels that the case table names.

    `told_apart` False marks a ratio that noise could explain.
    """

    testcase: str
    dimensions: Mapping[str, str]
    state: CaseState
    unit: str
    reason: str = ""
    n: int = 0
    median: Estimate | None = None
    ratio: Estimate | None = None
    told_apart: bool = True
    extra: Mapping[str, Cell] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state is CaseState.OK:
            return
        if self.median or self.ratio or any(value is not None for value in self.extra.values()):
            raise ValueError(f"case {self.testcase!r} is {self.state} and must not carry a figure")
        if not self.reason:
            raise ValueError(f"case {self.testcase!r} is {self.state} and must say why")


@dataclass(frozen=True)
class CaseTable:
    """Every case of a suite: the large table that is filtered and sorted.

    `quantity` names what `CaseRow.median` measures; `baseline` what ratios are relative to.
    """

    quantity: str
    baseline: str
    better: Better
    dimensions: tuple[str, ...]
    rows: tuple[CaseRow, ...]
    extra: tuple[Column, ...] = ()


@dataclass(frozen=True)
class Samples:
    """Raw rows for the download, one per run of a case; never shown on the page."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Run:
    """Where, when and how the figures were made.

    `size` says how large its cases and their data are, as its profile has them.
    `method` says in a sentence or two how samples were taken and what the intervals are.
    `settings` has the non-default settings of each server, by the server's name.
    """

    id: str
    state: RunState
    executions_done: int
    executions_planned: int
    command: str
    method: str
    durability: str
    fingerprint: Mapping[str, str]
    settings: Mapping[str, Mapping[str, str]]
    size: str = ""


@dataclass(frozen=True)
class SuiteSection:
    """One suite's part of the report; `name` is its anchor and begins its downloads' names."""

    name: str
    title: str
    intro: str
    run: Run
    verdicts: tuple[str, ...]
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]
    cases: CaseTable
    samples: Samples
    gains: GainChart | None = None
    """The picture that the page begins with."""
    warnings: tuple[str, ...] = ()
    """What who looks at the picture has to know; among the verdicts, too."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", self.name):
            raise ValueError(f"suite name {self.name!r} cannot be an anchor: use a-z, 0-9, - and _")


@dataclass(frozen=True)
class Report:
    """A whole report; `verdicts` are those that no single suite can give."""

    title: str
    generated_at: datetime
    tollfree_version: str
    suites: tuple[SuiteSection, ...]
    verdicts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.generated_at.tzinfo is None:
            raise ValueError("generated_at needs a time zone")
        names = [suite.name for suite in self.suites]
        if len(set(names)) < len(names):
            raise ValueError(f"suite names are not distinct: {', '.join(names)}")
