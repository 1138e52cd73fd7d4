"""What the parts of the section `interface` share: tasks, candidates, the published figures.

A *task* is what candidates are compared at: a road, a statement with how often and in how many
connections it is run, and whether rows are printed. A candidate is an interface with a method.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tollfree import stats
from tollfree.scripts import written_rows
from tollfree.suites.interface.views import View, views_of
from tollfree.suites.presentation import MB, Findings, SuiteFindings, is_again

ROADS = ("lcl:ipc", "lcl:tcp", "lcl:tls", "rmt:tcp", "rmt:tls", "rmt2ms:tcp")
STATEMENTS = ("sql001", "sql50k", "sql10m")
BASELINE = ("libpq", "acc-n")
FLOOR = ("floor", "acc-n")
ALIKE = {"nothing": ("libpq", "acc-a"), "file": ("libpq", "acc-server-file")}
"""libpq's method that holds as much as one that does not hold the whole result."""
NS_PER_S = 1e9
NS_PER_MS = 1e6
US_PER_MS = 1e3
MS_PER_S = 1e3
BYTES_PER_KIB = 1024
LEAST_CPU_MS = 100
"""The kernel tells processor time in steps of 10 ms: less than this says too little."""
CHECKED = 1
"""Executions that meters see beside the timed ones."""
LEAST_EXECUTIONS = 20
"""Of fewer executions the round trips of connecting are too large a part."""

Candidate = tuple[str, str]
"""Interface and method."""


@dataclass(frozen=True)
class Task:
    """What candidates compete at, by the parts of a case's name."""

    road: str
    strategy: str
    print: str

    @property
    def published_name(self) -> str:
        """The task as the published tables write it."""
        statement, connect, executions = self.strategy.split(":")
        return f"{statement}:{executions}:{self.road}:{connect}:{self.print}"

    @property
    def rank(self) -> tuple[object, ...]:
        """Its place among others."""
        statement, connect, executions = self.strategy.split(":")
        road = ROADS.index(self.road) if self.road in ROADS else len(ROADS)
        return (self.print, STATEMENTS.index(statement), road, self.road, connect, executions)


@dataclass(frozen=True)
class InterfaceFindings(SuiteFindings):
    """A run of the suite beside the published figures."""

    published: dict[tuple[str, str], float]
    """Seconds by published task and candidate."""
    summaries: list[dict[str, Any]]
    """The published summaries."""
    views: dict[str, View]
    """The run's rows of the published experiment's own views, by their names."""

    @classmethod
    def of(cls, run: Findings) -> "InterfaceFindings":
        """Put the published figures beside a run."""
        columns = ("summary", "item", "nml_dur", "nml_drng", "duration")
        return cls(
            run,
            {(task, name): seconds for task, name, seconds in written_rows("interface_published")},
            [
                dict(zip(columns, row, strict=True))
                for row in written_rows("interface_published_summaries")
            ],
            views_of(run),
        )

    @cached_property
    def tasks(self) -> dict[Task, dict[Candidate, str]]:
        """The cases of each task by candidate, in the order in which tables show them."""
        tasks: dict[Task, dict[Candidate, str]] = {}
        for name, case in self.run.cases.items():
            dims = case.dims
            task = Task(dims["road"], dims["strategy"], dims["print"])
            tasks.setdefault(task, {})[dims["interface"], dims["method"]] = name
        return {task: tasks[task] for task in sorted(tasks, key=lambda task: task.rank)}

    def ranking(self, task: Task) -> list[str]:
        """Return the measured cases of a task, the fastest first."""
        cases = self.tasks[task].values()
        medians = {name: m.median for name in cases if (m := self.median(name))}
        return sorted(medians, key=lambda name: medians[name])

    def label(self, testcase: str) -> str:
        """Return a case's candidate as a person reads it."""
        dims = self.dims(testcase)
        again = " (A/A)" if is_again(self.run.cases[testcase]) else ""
        return f"{dims['interface'].removesuffix('_again')} {dims['method']}{again}"

    def median(self, testcase: str) -> stats.Estimate | None:
        """Return the median time of an execution in microseconds."""
        return self.run.median(testcase)

    def ratio(self, testcase: str, other: str | None) -> stats.Estimate | None:
        """Return how many times longer a case takes than another one in the same round."""
        return None if other is None else self.run.ratio(testcase, other)

    def alike(self, task: Task, testcase: str) -> str | None:
        """Return libpq's case of a task that holds as much as this one, if it was measured."""
        return self.case(task, ALIKE.get(self.dims(testcase)["held"], BASELINE))

    def ratio_alike(self, task: Task, testcase: str) -> stats.Estimate | None:
        """Return how many times longer a case takes than libpq holding as much."""
        alike = self.alike(task, testcase)
        return None if alike == testcase else self.ratio(testcase, alike)

    def case(self, task: Task, candidate: Candidate) -> str | None:
        """Return a candidate's case of a task if it was measured."""
        name = self.tasks.get(task, {}).get(candidate)
        return name if name and self.run.values(name) else None

    def per_execution_ms(self, testcase: str, figure: str) -> float | None:
        """Return a figure in nanoseconds as milliseconds of one execution."""
        found = stats.median_interval(
            [
                float(total) / NS_PER_MS / queries
                for queries, total in self._per_queries(testcase, figure)
            ]
        )
        return found.median if found else None

    def server_ms(self, testcase: str) -> float | None:
        """Return the server's processor time of one execution, connecting included.

        The mean of all rounds; None if they are too short to be measured.
        """
        rounds = self._per_queries(testcase, "server_cpu_ms")
        used = sum(cpu_ms for _, cpu_ms in rounds)
        if used < LEAST_CPU_MS:
            return None
        return used / sum(queries + CHECKED for queries, _ in rounds)

    def link_figure(self, testcase: str, figure: str) -> float | None:
        """Return what a link counted, of one execution, connecting included."""
        found = stats.median_interval(
            [
                counted / (queries + CHECKED)
                for queries, counted in self._per_queries(testcase, f"link_{figure}")
            ]
        )
        return found.median if found else None

    def _per_queries(self, testcase: str, figure: str) -> list[tuple[int, float]]:
        """Return, round by round, how many queries were timed and a figure of all of them."""
        return [
            (int(r.figures["executions"]), float(r.figures[figure]))
            for r in self.run.measured(testcase).values()
            if r.figures.get(figure) is not None
        ]

    def fewest_queries(self, testcase: str) -> int:
        """Return how many queries were timed, in the round with the fewest."""
        return min(queries for queries, _ in self._per_queries(testcase, "total_ns"))

    def queries(self, testcase: str) -> str:
        """Return how many queries were timed of those asked for, in the round with the fewest."""
        return f"{self.fewest_queries(testcase):,} of {self.dims(testcase)['executions']:,}"

    def seconds(self, testcase: str) -> float | None:
        """Return how long all queries took together; None where a limit ended some round."""
        if self.fewest_queries(testcase) < self.dims(testcase)["executions"]:
            return None
        total_ns = self.run.middle(testcase, "total_ns")
        return None if total_ns is None else total_ns / NS_PER_S

    def connecting_ms(self, testcase: str) -> float | None:
        """Return how long one connection takes to be ready."""
        total = self.run.middle(testcase, "connect_ns")
        count = self.run.middle(testcase, "connections")
        return total / NS_PER_MS / count if total is not None and count else None

    def peak_mb(self, testcase: str) -> float | None:
        """Return the client's peak memory; Linux counts it in KiB."""
        found = stats.median_interval(
            [
                r.peak_kb * BYTES_PER_KIB / MB
                for r in self.run.measured(testcase).values()
                if r.peak_kb
            ]
        )
        return found.median if found else None
