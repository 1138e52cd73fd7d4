"""What every suite says of a run: its cases, ratios, intervals and noise marks.

`Findings` is a run read once, from the database or a file, with its statistics; the suites make
their own tables of it, and `plain_section` makes the parts that all sections share.
"""

import shlex
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tollfree import stats
from tollfree.report import figures
from tollfree.report.model import (
    Better,
    CaseRow,
    CaseState,
    CaseTable,
    Cell,
    Chart,
    Column,
    Estimate,
    Gain,
    GainChart,
    GainRow,
    Kind,
    RunState,
    Samples,
    SuiteSection,
    Table,
)
from tollfree.report.model import Run as RunPart
from tollfree.store import Result, Run, RunCase

MB = 1_000_000
COUNTED = "flights"
"""The unit of what is counted, whatever the machine does meanwhile."""

METHOD = (
    "Every round runs each case once, in a random order; a ratio is taken inside its round. "
    "Figures are medians over the rounds with 99% intervals, Student's t on the logarithms; one "
    "round has none. `~` marks a ratio that is not told apart from 1: its interval holds 1, or an "
    "A/A case, the baseline run twice, came out as far from it; of one round, also if it is not "
    "several times as far."
)
SEQUENTIAL_METHOD = (
    " This run ends a case when the interval of its ratio is narrow enough. That makes intervals "
    "fail more often, so its own are calculated at 99.5%, for at least 99% to hold."
)


def is_again(case: RunCase) -> bool:
    """Return whether a case is its baseline over again, by the name of a target or interface."""
    return any(str(value).endswith("_again") for value in case.dims.values())


def shown(estimate: stats.Estimate | None) -> Estimate | None:
    """Return a statistical estimate as the report draws it."""
    if estimate is None:
        return None
    return Estimate(estimate.median, *estimate.interval)


def with_interval(estimate: stats.Estimate | None) -> tuple[Cell, Cell, Cell]:
    """Return the cells of an estimate and of its ends, or three empty ones."""
    return (estimate.median, *estimate.interval) if estimate else (None, None, None)


@dataclass(frozen=True)
class SuiteFindings:
    """A run as its suite looks at it."""

    run: "Findings"

    def dims(self, testcase: str) -> dict[str, Any]:
        """Return the dimensions of a case."""
        return self.run.cases[testcase].dims


@dataclass(frozen=True)
class Findings:
    """A run, its cases and its executions."""

    run: Run
    cases: dict[str, RunCase]
    results: list[Result]
    facts: dict[str, Any] = field(default_factory=dict)
    """What its suite has to know beside the executions (`Suite.facts`)."""

    @cached_property
    def by_case(self) -> dict[str, dict[int, Result]]:
        """The executions of each case by round."""
        by_case: dict[str, dict[int, Result]] = defaultdict(dict)
        for result in self.results:
            by_case[result.testcase][result.iter] = result
        return by_case

    def measured(self, testcase: str) -> dict[int, Result]:
        """Return the executions of a case by round, in order: none if one of them failed or was
        skipped, for the others would be those of the lucky rounds.

        Every figure, ratio and sentence is of these.
        """
        executions = self.by_case.get(testcase, {})
        if any(result.state != "ok" for result in executions.values()):
            return {}
        return dict(sorted(executions.items()))

    def values(self, testcase: str) -> list[float]:
        """Return the values of a measured case, in its unit."""
        return [r.value for r in self.measured(testcase).values() if r.value is not None]

    def figures(self, testcase: str, figure: str) -> list[float]:
        """Return one figure of every execution of a measured case that has it."""
        return [
            float(r.figures[figure])
            for r in self.measured(testcase).values()
            if r.figures.get(figure) is not None
        ]

    def middle(self, testcase: str, figure: str) -> float | None:
        """Return the median of one figure of a measured case over the rounds."""
        found = self.figures(testcase, figure)
        return statistics.median(found) if found else None

    def from_disk_mb(self, testcase: str) -> float | None:
        """Return the most that an execution of a measured case read from the disk, in MB; None
        where that was not counted."""
        counted = self.figures(testcase, "disk_bytes")
        return max(counted) / MB if counted else None

    def ratios(self, testcase: str, baseline: str | None = None) -> dict[int, float]:
        """Return, by round, how many times slower a case is than its baseline; nothing if an
        execution of either failed."""
        case = self.cases[testcase]
        base = baseline or case.baseline
        if base is None:
            return {}
        others = self.measured(base)
        pairs = {
            round_: (result.value, others[round_].value)
            for round_, result in self.measured(testcase).items()
            if round_ in others
        }
        if case.higher_is_better:
            return {round_: b / a for round_, (a, b) in pairs.items() if a and b}
        return {round_: a / b for round_, (a, b) in pairs.items() if a and b}

    def ratio(self, testcase: str, baseline: str | None = None) -> stats.Estimate | None:
        """Return the median ratio of a case to its baseline with its interval."""
        ratios = self.ratios(testcase, baseline)
        return stats.median_interval(list(ratios.values()), self.confidence)

    def mean_ratio(self, testcases: Iterable[str]) -> stats.Estimate | None:
        """Return the geometric mean of cases' ratios to their baselines, taken inside each round
        that has all of them, as the median of such rounds; None without one."""
        by_case = [self.ratios(name) for name in testcases]
        rounds = set[int].intersection(*map(set, by_case)) if by_case else set()
        means = [
            statistics.geometric_mean(ratios[round_] for ratios in by_case)
            for round_ in sorted(rounds)
        ]
        return stats.median_interval(means, self.confidence)

    def median(self, testcase: str) -> stats.Estimate | None:
        """Return the median of a case with its interval."""
        return stats.median_interval(self.values(testcase), self.confidence)

    @property
    def confidence(self) -> float:
        """The confidence of the run's intervals."""
        return stats.SEQUENTIAL_CONFIDENCE if self.run.precision else stats.CONFIDENCE

    def imprecise(self) -> dict[str, stats.Estimate]:
        """Return the ratios that are not yet as precise as the run is to be. Those of cases that
        were ended, or that failed, are none of them."""
        precision = self.run.precision
        if precision is None:
            return {}
        return {
            name: ratio
            for name, case in self.cases.items()
            if case.most_rounds is None
            and (ratio := self.ratio(name))
            and not ratio.is_within(precision)
        }

    @cached_property
    def noise(self) -> stats.Noise | None:
        """What the A/A cases show."""
        return stats.noise_of(
            list(self.ratios(name).values()) for name, case in self.cases.items() if is_again(case)
        )

    def told_apart(self, testcase: str, baseline: str | None = None) -> bool:
        """Return whether the case's ratio to its baseline is clear of the noise. Round trips are
        counted, so any difference of theirs is."""
        ratio = self.ratio(testcase, baseline)
        if ratio is not None and self.cases[testcase].unit == COUNTED:
            return ratio.median != 1
        return ratio is None or stats.told_apart(ratio, self.noise)

    def gain(self, testcase: str, baseline: str | None = None) -> Gain | None:
        """Return the ratio of a case to its baseline as a picture shows it."""
        ratio = shown(self.ratio(testcase, baseline))
        return Gain(ratio, self.told_apart(testcase, baseline)) if ratio else None

    def mean_gain(self, testcases: Iterable[str]) -> Gain | None:
        """Return the geometric mean of cases' ratios as a picture shows it."""
        mean = self.mean_ratio(testcases)
        value = shown(mean)
        return Gain(value, stats.told_apart(mean, self.noise)) if mean and value else None

    def find(self, **dims: object) -> list[str]:
        """Return the names of the cases with these dimensions."""
        return [
            name
            for name, case in self.cases.items()
            if all(case.dims.get(key) == value for key, value in dims.items())
        ]

    def failures(self) -> list[Result]:
        """Return the executions that failed or were skipped."""
        return [result for result in self.results if result.state != "ok"]


def case_row(findings: Findings, testcase: str, extra: dict[str, Cell]) -> CaseRow:
    """Return the case as a row of the case table; one failed execution makes it a failed one."""
    case = findings.cases[testcase]
    executions = list(findings.by_case.get(testcase, {}).values())
    bad = [r for r in executions if r.state != "ok"]
    state, reason = CaseState.OK, ""
    if bad:
        state = CaseState(bad[0].state)
        reason = f"{len(bad)} of {len(executions)} executions: {bad[0].reason}"
    elif not executions:
        state, reason = CaseState.SKIPPED, f"not run: the run is {findings.run.state}"
    ok = state is CaseState.OK
    return CaseRow(
        testcase=testcase,
        dimensions={key: str(value) for key, value in case.dims.items()},
        state=state,
        unit=case.unit,
        reason=reason,
        n=len(executions) - len(bad),
        median=shown(findings.median(testcase)) if ok else None,
        ratio=shown(findings.ratio(testcase)) if ok else None,
        told_apart=findings.told_apart(testcase) if ok else True,
        extra=extra if ok else {},
    )


def samples(findings: Findings) -> Samples:
    """Return every execution as a raw row."""
    columns = (
        *("testcase", "round", "started", "state", "reason", "value", "unit", "duration_s"),
        *("user_us", "system_us", "peak_kb", "figures", "command"),
    )
    return Samples(
        columns,
        tuple(
            (
                r.testcase,
                r.iter,
                r.ts.isoformat(),
                r.state,
                r.reason,
                r.value,
                findings.cases[r.testcase].unit,
                r.duration,
                r.user_us,
                r.system_us,
                r.peak_kb,
                ", ".join(f"{key}={value}" for key, value in r.figures.items()),
                shlex.join(r.argv),
            )
            for r in findings.results
        ),
    )


def repeat_command(findings: Findings) -> str:
    """Return the command that makes such a run again.

    A number of rounds holds for all cases, so there is none where some were run less often; with a
    precision it is the most.
    """
    run = findings.run
    words = ["tollfree", "run", run.suite, f"--{run.profile}"]
    most_rounds = {case.most_rounds for case in findings.cases.values()}
    is_whole_quick = run.profile == "quick" and not run.pattern and 1 in most_rounds
    if run.precision is not None and not is_whole_quick:
        words += ["--rounds", str(run.rounds), "--precision", percent(run.precision)]
    elif most_rounds == {None}:
        words += ["--rounds", str(run.rounds)]
    if run.query_limit_s is not None:
        words += ["--limit", str(run.query_limit_s)]
    if run.pattern:
        words += ["--only", run.pattern]
    return shlex.join([*words, "--seed", str(run.seed)])


def run_part(findings: Findings) -> RunPart:
    """Return where, when and how a run was made."""
    run = findings.run
    fingerprint = {key.replace("_", " "): str(value) for key, value in run.host.items()}
    return RunPart(
        id=str(run.run_id),
        state=RunState(run.state),
        executions_done=len(findings.results),
        executions_planned=sum(c.most_rounds or run.rounds for c in findings.cases.values()),
        command=repeat_command(findings),
        method=METHOD + (SEQUENTIAL_METHOD if run.precision else ""),
        durability=_durability(run),
        fingerprint={
            "PostgreSQL": run.postgresql,
            "started": run.started.isoformat(timespec="seconds"),
            **_module_part(run),
            **_tls_part(run),
            **fingerprint,
        },
        settings={name: server["settings"] for name, server in run.server.items()},
        size=run.size,
    )


def _durability(run: Run) -> str:
    """Return whether a crash would have lost nothing, as far as that was stored."""
    if not run.server:
        return "unknown: the run has not stored what it ran on"
    if all(server["durable"] for server in run.server.values()):
        return "durable: fsync, full_page_writes and synchronous_commit are on"
    return "NOT durable: fsync, full_page_writes or synchronous_commit is off"


def _module_part(run: Run) -> dict[str, str]:
    """Return which builds of wrappers were measured, as far as that was stored."""
    modules = run.server.get("source", {}).get("modules", {})
    return {f"module {name}": f"SHA-256 {digest}" for name, digest in modules.items()}


def _tls_part(run: Run) -> dict[str, str]:
    """Return what the servers that offer TLS agree on, and whose certificate they show."""
    return {
        f"TLS of {name}": f"{tls['version']}, {tls['cipher']}, key {tls['key']},"
        f" certificate SHA-256 {tls['certificate_sha256']}"
        for name, server in run.server.items()
        if (tls := server.get("tls"))
    }


def plain_section(
    findings: Findings,
    *,
    title: str,
    intro: str,
    verdicts: tuple[str, ...] = (),
    tables: tuple[Table, ...] = (),
    charts: tuple[Chart, ...] = (),
    gains: GainChart | None = None,
    extra_columns: tuple[Column, ...] = (),
    extra: dict[str, dict[str, Cell]] | None = None,
) -> SuiteSection:
    """Return a section with the parts that every suite has, and those given: its sentences begin
    with the failures."""
    dimensions = dict.fromkeys(key for c in findings.cases.values() for key in c.dims)
    warnings = tuple(precision_sentences(findings))
    return SuiteSection(
        name=findings.run.suite,
        title=title,
        intro=intro,
        run=run_part(findings),
        verdicts=(*failure_sentences(findings), *verdicts, *warnings),
        tables=tables,
        charts=charts,
        cases=CaseTable(
            quantity="value",
            baseline="its baseline",
            better=Better.LOWER,
            dimensions=tuple(dimensions),
            rows=tuple(
                case_row(findings, name, (extra or {}).get(name, {})) for name in findings.cases
            ),
            extra=extra_columns,
        ),
        samples=samples(findings),
        gains=gains if gains and gains.rows else None,
        warnings=warnings,
    )


def gain_row(
    label: str, gains: Iterable[Gain | None], reference: float | None = None
) -> Iterator[GainRow]:
    """Yield a row of a picture if any of its candidates was measured."""
    found = tuple(gains)
    if any(found):
        yield GainRow(label, found, reference)


NOT_TOLD_APART = "not told apart from noise"
MOST_NAMED = 5
"""Cases in a sentence."""


def ratio_words(ratio: stats.Estimate, *, told_apart: bool = True) -> str:
    """Return a ratio as sentences have it: with its interval, its rounds and the noise mark."""
    between = figures.ratio_interval(Estimate(ratio.median, *ratio.interval))
    rounds = "1 round" if ratio.samples == 1 else f"{ratio.samples} rounds"
    words = filter(None, (between, rounds, None if told_apart else NOT_TOLD_APART))
    return f"{figures.ratio(ratio.median)} ({', '.join(words)})"


NOISE_NOTE = (
    "A ratio that is no farther from 1 than these, or whose interval holds 1, is noise; so is one "
    "of a single round that is not several times as far."
)
FARTHEST_TOLD = 100
"""A ratio of a single round that is no use to be named: none is as far."""


def _single_round(noise: stats.Noise) -> str:
    if noise.single >= FARTHEST_TOLD:
        return "No ratio of a single round is told apart: there are too few A/A rounds."
    return f"A ratio of a single round is told apart from {figures.ratio(noise.single)} on."


def noise_sentence(noise: stats.Noise, what: str) -> str:
    """Report the noise: the ratios of `what` measured against itself."""
    return (
        f"The A/A case, {what} against itself, comes out from {noise.low:.2f}x to {noise.high:.2f}x"
        f" in this run: smaller differences are noise. {_single_round(noise)}"
    )


def failure_sentences(findings: Findings) -> list[str]:
    """Say how many cases failed, and how many were skipped and why; nothing if none were."""
    failed, skipped = (
        {r.testcase: str(r.reason).rstrip(".") for r in findings.failures() if r.state == state}
        for state in ("failed", "skipped")
    )
    sentences = []
    if failed:
        sentences.append(
            f"{len(failed)} of {len(findings.cases)} cases failed and have no figures: see the"
            " table of cases for the reasons."
        )
    if skipped:
        reasons = sorted(set(skipped.values()))
        more = f"; and {len(reasons) - MOST_NAMED} more" if len(reasons) > MOST_NAMED else ""
        sentences.append(
            f"{len(skipped)} of {len(findings.cases)} cases were skipped:"
            f" {'; '.join(reasons[:MOST_NAMED])}{more}."
        )
    return sentences


def percent(share: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.15), percent(0.005)
    ('15%', '0.5%')
    """
    return f"{share * 100:.4g}%"


def precision_sentences(findings: Findings) -> list[str]:
    """Say which ratios are not as precise as the run is to be, the worst first; nothing if all
    are."""
    run, wide = findings.run, findings.imprecise()
    if run.precision is None or not wide:
        return []
    young = sum(ratio.samples < stats.LEAST_ROUNDS for ratio in wide.values())
    told = {name: ratio for name, ratio in wide.items() if ratio.samples >= stats.LEAST_ROUNDS}
    sentences = []
    if young:
        sentences.append(
            f"NOT PRECISE: of {young} of the ratios fewer than {stats.LEAST_ROUNDS} rounds are"
            f" there, by which no ratio counts as precise; the run is {run.state}."
        )
    if told:
        worst = sorted(told, key=lambda name: told[name].reach, reverse=True)
        shown = [f"{x} (±{percent(float(f'{told[x].reach:.2g}'))})" for x in worst[:MOST_NAMED]]
        more = f" and {len(worst) - len(shown)} more" if len(worst) > len(shown) else ""
        rounds = max(ratio.samples for ratio in told.values())
        sentences.append(
            f"NOT PRECISE: after {rounds} rounds the intervals of {len(told)} of the ratios reach"
            f" farther than ±{percent(run.precision)}, for this machine is too busy or too uneven:"
            f" {', '.join(shown)}{more}."
        )
    return sentences


def number(label: str, unit: str = "", decimals: int | None = None) -> Column:
    """Return a numeric column."""
    return Column(label, Kind.NUMBER, unit, decimals)


def again_table(what: str, label: str, again: Iterable[tuple[str, stats.Estimate | None]]) -> Table:
    """Return the A/A cases, `what` against itself, by their names in the column `label`. One round
    has no interval that could reach 1."""
    rows = []
    for name, ratio in again:
        if ratio is not None:
            reaches = "yes" if ratio.low <= 1 <= ratio.high else "no"
            numbers = (*with_interval(ratio), ratio.samples)
            rows.append((name, *numbers, reaches if ratio.samples > 1 else None))
    return Table(
        f"A/A: {what} measured against itself",
        (
            Column(label),
            *(number("ratio", "x", 3), number("low", "x", 3), number("high", "x", 3)),
            number("rounds", decimals=0),
            Column("reaches 1"),
        ),
        tuple(rows),
        (NOISE_NOTE,),
    )


FROM_DISK = number("from the disk", "MB", 0)
