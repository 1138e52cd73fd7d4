"""The minutes of a soak: work under faults, then a check, until the time is over."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import psycopg

from soak import checks
from soak.faults import FaultLog
from soak.gate import Gate
from soak.harm import CANCELED, Harm
from soak.operations import OPERATIONS
from soak.record import LAST_FAULTS, Minute, Summary
from soak.worker import Worker
from soak.world import REMOTES, World
from tollfree.errors import LabError

PARK_LIMIT_S = 180.0
"""How long an operation may take: longer than a statement may."""
END_LIMIT_S = 30.0
STEADY_SHARE = 3
"""One of so many workers has a session that nobody ends."""


@dataclass(frozen=True)
class Plan:
    """How a soak goes."""

    seed: int
    workers: int = 6
    minute_s: float = 60.0
    longest_s: float = 3.0
    """The longest time for which something is stopped, stalled or cut."""
    pause_s: tuple[float, float] = (0.5, 4.0)
    """Between two faults, at least and at most."""
    without: frozenset[str] = frozenset()
    """Faults that are not to happen."""


class Soak:
    """A soak. Owns its workers as long as its context lasts, and leaves the tables empty that it
    has checked."""

    def __init__(self, plan: Plan, world: World) -> None:
        """`world` has rows and tables for as many workers as the plan, or more."""
        self.plan = plan
        self.world = world
        self.faults = FaultLog()
        self.summary = Summary(plan.seed)
        self._gate = Gate(plan.workers)
        self._begun_s = time.monotonic()
        self._done: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._events = 0
        self._balance = 0
        self.workers: list[Worker] = []
        self.harm = Harm(
            world,
            self.workers,
            self.faults,
            str(plan.seed),
            longest_s=plan.longest_s,
            without=plan.without,
        )

    def __enter__(self) -> Self:
        try:
            for number in range(1, self.plan.workers + 1):
                self.workers.append(self._worker(number))
            self._take_stock()
        except BaseException:
            self._close()
            raise
        for worker in self.workers:
            worker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gate.end()
        deadline = time.monotonic() + END_LIMIT_S
        with self.faults.event("the end", CANCELED):
            while any(map(Worker.is_alive, self.workers)) and time.monotonic() < deadline:
                for worker in self.workers:
                    worker.join(0.2)
                    if worker.is_alive():
                        _cancel(worker)
        self._close()

    def go_on_for(self, seconds: float, report: Callable[[str], None]) -> None:
        """Work and check until the time is over or something is wrong; report each minute."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self.summary.has_failed:
            minute = self.minute(min(self.plan.minute_s, deadline - time.monotonic()))
            report(str(minute))
        self.summary.findings += checks.growth_problems(self.summary.memory())

    def minute(self, seconds: float) -> Minute:
        """Work under faults for so long, or until something is wrong, and check; return what came
        of it. What is wrong is in the summary's findings."""
        deadline = time.monotonic() + seconds
        self._gate.open()
        while not self.summary.has_failed and time.monotonic() < deadline:
            self._harm(deadline)
        return self.check()

    def check(self) -> Minute:
        """Hold the workers and check; return what came of the time since the last check."""
        if self._gate.close(PARK_LIMIT_S):
            minute = self._checked(self.summary.findings)
        else:
            now_s = time.monotonic()
            self.summary.findings += [
                f"{worker.name} has been at '{worker.doing}' for {now_s - worker.since_s:.0f} s"
                for worker in self.workers
                if worker.is_alive() and now_s - worker.since_s > PARK_LIMIT_S / 2
            ] or ["not all workers have come to an end of what they did"]
            minute = self._minute({}, {}, set())
        self.summary.add(minute)
        self.summary.faults = self.harm.done
        self.summary.last_faults = self.faults.last(LAST_FAULTS)
        return minute

    def _checked(self, problems: list[str]) -> Minute:
        """Look at sessions and contents. Sessions first: once no other is left on the remote
        servers, nothing that was in doubt can still happen."""
        reports: dict[int, checks.SessionReport] = {}
        if not problems:
            problems += checks.unrest(self.world)
        if not problems:
            problems += checks.session_problems(self.world, self.workers, reports)
        expected = {
            name: {worker.number: worker.expected[name] for worker in self.workers}
            for name in REMOTES
        }
        found = {n: checks.contents(self.world, n, expected[n], problems) for n in REMOTES}
        doubtful = {
            number
            for of_workers in expected.values()
            for one in of_workers.values()
            for number, delta in one.doubtful_ledger.items()
            if delta
        }
        minute = self._minute(reports, found, doubtful)
        problems += self._balance_problems(found)
        if not problems:
            for name in REMOTES:
                checks.begin_again(self.world, name, expected[name], found[name])
        return minute

    def _balance_problems(self, found: Mapping[str, checks.Contents]) -> list[str]:
        """Return whether the sum of all accounts has changed otherwise than by transfers that one
        server alone has committed."""
        self._balance += sum(sum(one.doubtful.values()) for one in found.values())
        balance = sum(one.balance for one in found.values())
        if balance == self._balance:
            return []
        return [f"all accounts together have {balance} instead of {self._balance}"]

    def _minute(
        self,
        reports: Mapping[int, checks.SessionReport],
        found: Mapping[str, checks.Contents],
        doubtful: set[int],
    ) -> Minute:
        """Return what has happened since the last check."""
        done, errors = Counter[str](), Counter[str]()
        for worker in self.workers:
            done.update(worker.done)
            errors.update(worker.errors)
        events = self.faults.events[self._events :]
        places = [one.doubtful for one in found.values()]
        minute = Minute(
            number=len(self.summary.minutes) + 1,
            seconds=time.monotonic() - self._begun_s,
            operations=done - self._done,
            errors=errors - self._errors,
            faults=[str(event) for event in events if event.text],
            doubtful=len(doubtful),
            halves=sum(1 for number in doubtful if sum(number in one for one in places) == 1),
            balance=sum(one.balance for one in found.values()),
            connections=sum(sum(one.connections.values()) for one in reports.values()),
            memory_kib={
                worker.name: reports[worker.number].memory_kib
                for worker in self.workers
                if worker.is_steady and worker.number in reports
            },
        )
        self._done, self._errors, self._events = done, errors, self._events + len(events)
        return minute

    def _harm(self, deadline: float) -> None:
        """Inflict a fault; then wait, but not longer than to the end of the minute."""
        try:
            self.harm.inflict_next()
            self.summary.findings += checks.idle_transactions(self.world)
        except (psycopg.Error, LabError, OSError, RuntimeError) as error:
            text = error.message + error.detail if isinstance(error, LabError) else str(error)
            self.summary.findings.append(f"{self.faults.last(1)}: {text}")
        pause = self.harm.rng.uniform(*self.plan.pause_s)
        time.sleep(max(0.0, min(pause, deadline - time.monotonic())))

    def _worker(self, number: int) -> Worker:
        return Worker(
            number,
            self.world,
            OPERATIONS,
            self._gate,
            self.faults,
            self.summary.findings,
            str(self.plan.seed),
            is_steady=number % STEADY_SHARE == 0,
        )

    def _take_stock(self) -> None:
        """Have what the servers hold be what is expected."""
        self._balance = 0
        for name in REMOTES:
            expected = {worker.number: worker.expected[name] for worker in self.workers}
            found = checks.contents(self.world, name, expected, [])
            checks.begin_again(self.world, name, expected, found)
            self._balance += found.balance

    def _close(self) -> None:
        for worker in self.workers:
            worker.close()


def _cancel(worker: Worker) -> None:
    """Cancel what a worker waits for."""
    with contextlib.suppress(psycopg.Error):
        worker.session.cancel()
