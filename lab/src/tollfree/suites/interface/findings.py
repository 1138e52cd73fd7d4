"""What the parts of the section `interface` share: tasks, candidates, the published figures.

A *task* is what candidates compete at: a road, a statement with how often and in how many
connections it is run, and whether rows are printed. A candidate is an interface with a method.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tollfree import stats
from tollfree.store import Run, Store
from tollfree.suites.presentation import Findings, is_again

ROADS = ("lcl:ipc", "lcl:tcp", "lcl:tls", "rmt:tcp", "rmt:tls", "rmt2ms:tcp")
STATEMENTS = ("sql001", "sql50k", "sql10m")
BASELINE = ("libpq", "acc-n")
FLOOR = ("floor", "acc-n")
ALIKE = {"nothing": ("libpq", "acc-a"), "file": ("libpq", "acc-server-file")}
"""libpq's method that holds as much as one that does not hold the whole result."""
NS_PER_MS = 1e6
US_PER_MS = 1e3
LEAST_CPU_MS = 100
"""The kernel tells processor time in steps of 10 ms: less than this says too little."""
LEAST_ROUNDS = 3
"""Of fewer rounds an interval is too short to reach anything."""
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
        """Where it stands among others."""
        statement, connect, executions = self.strategy.split(":")
        road = ROADS.index(self.road) if self.road in ROADS else len(ROADS)
        return (self.print, STATEMENTS.index(statement), road, self.road, connect, executions)


@dataclass(frozen=True)
class InterfaceFindings:
    """A run of the suite beside the published figures."""

    run: Findings
    published: dict[tuple[str, str], float]
    """Seconds by published task and candidate."""
    summaries: list[dict[str, Any]]
    """The published summaries."""
    views: dict[str, list[dict[str, Any]]]
    """The run's rows of the published experiment's own views, by their names."""

    @classmethod
    def of(cls, store: Store, run: Run) -> "InterfaceFindings":
        """Read a run and the published figures."""
        published = store.table("SELECT * FROM lab.interface_published")
        return cls(
            Findings.of(store, run),
            {(r["task"], r["candidate"]): r["duration"] for r in published},
            store.table("SELECT * FROM lab.interface_published_summaries"),
            {
                "ifmeth_cat_results": store.table(
                    "SELECT * FROM lab.ifmeth_cat_results WHERE run_id = %s", run.run_id
                ),
                "loccomm_cat_results": store.table(
                    "SELECT * FROM lab.loccomm_cat_results WHERE run_id = %s", run.run_id
                ),
            },
        )

    def dims(self, testcase: str) -> dict[str, Any]:
        """Return the dimensions of a case."""
        return self.run.cases[testcase].dims

    @cached_property
    def _broken(self) -> set[str]:
        return {result.testcase for result in self.run.failures()}

    def values(self, testcase: str) -> list[float]:
        """Return a case's values, or nothing when any execution failed."""
        return [] if testcase in self._broken else self.run.values(testcase)

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
        return stats.median_interval(self.values(testcase))

    def ratio(self, testcase: str, other: str | None) -> stats.Estimate | None:
        """Return how many times longer a case takes than another one in the same round."""
        if other is None or not self.values(testcase) or not self.values(other):
            return None
        return self.run.ratio(testcase, other)

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
        return name if name and self.values(name) else None

    def middle(self, testcase: str, figure: str) -> float | None:
        """Return the median of one figure of a case over the rounds."""
        found = stats.median_interval(self.run.figures(testcase, figure))
        return found.median if found else None

    def per_execution_ms(self, testcase: str, figure: str) -> float | None:
        """Return a figure in nanoseconds as milliseconds of one execution."""
        total = self.middle(testcase, figure)
        return None if total is None else total / NS_PER_MS / self.dims(testcase)["executions"]

    def server_ms(self, testcase: str) -> float | None:
        """Return the server's processor time of one execution, connecting included.

        The mean of all rounds; None where they are too short to be told.
        """
        rounds = self.run.figures(testcase, "server_cpu_ms")
        if sum(rounds) < LEAST_CPU_MS:
            return None
        return sum(rounds) / len(rounds) / self._metered_executions(testcase)

    def link_figure(self, testcase: str, figure: str) -> float | None:
        """Return what a link counted, of one execution, connecting included."""
        counted = self.middle(testcase, f"link_{figure}")
        return None if counted is None else counted / self._metered_executions(testcase)

    def _metered_executions(self, testcase: str) -> int:
        """Return the executions that meters see: the timed ones, and the one that is checked."""
        return int(self.dims(testcase)["executions"]) + 1

    def connecting_ms(self, testcase: str) -> float | None:
        """Return how long one connection takes to be ready."""
        total, count = self.middle(testcase, "connect_ns"), self.middle(testcase, "connections")
        return total / NS_PER_MS / count if total is not None and count else None

    def peak_mb(self, testcase: str) -> float | None:
        """Return the client's peak memory."""
        found = stats.median_interval(
            [r.peak_kb / 1000 for r in self.run.by_case[testcase].values() if r.peak_kb]
        )
        return found.median if found else None
