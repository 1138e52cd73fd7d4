"""Runs a suite: opens or resumes a run, prepares its data, executes case by case.

Each execution is one statement in the lab's database and is stored when it ends, so a crash of
this process or the servers loses at most the case in flight. Ctrl-C cancels that statement, which
kills its command, and marks the run as interrupted; `--resume` continues it.

A run with a precision looks at its ratios after each round and ends the cases whose are precise,
by the number of their rounds in the database: the remaining cases are then read again.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg

from tollfree.clients import clients
from tollfree.cluster import is_connection_lost
from tollfree.errors import FileError, LabStateError, NotFoundError, UsageError
from tollfree.host import fingerprint, module_hashes, server_settings
from tollfree.lab import Lab
from tollfree.stats import LEAST_ROUNDS
from tollfree.store import Result, Run, Step, Store
from tollfree.suites import suite_named
from tollfree.suites.base import Bench, Suite
from tollfree.suites.presentation import Findings, percent


@dataclass(frozen=True)
class Request:
    """What to run, from the command line."""

    suite: str
    profile: str | None
    """Quick, if it is left open."""
    rounds: int | None = None
    pattern: str = ""
    seed: int | None = None
    query_limit_s: int | None = None
    precision: float | None = None
    resume: bool = False
    first_port: int | None = None


class Observer:
    """What the runner tells while it works; this one keeps silent."""

    def preparing(self, run: Run) -> None:
        """Data are being made."""

    def begins(self, run: Run, done: int, remaining: Sequence[Step]) -> None:
        """The cases begin: this many executions are done, these remain."""

    def remains(self, remaining: Sequence[Step]) -> None:
        """A round has ended, and what remains may have become less."""

    def ended(self, step: Step, result: Result, seconds: float) -> None:
        """One execution has ended after this many seconds, probes included."""


def run_suite(lab: Lab, request: Request, observer: Observer) -> Run:
    """Carry out a request and return the run in its final state.

    Raises KeyboardInterrupt after an orderly stop when the user interrupts it.
    """
    suite = suite_named(request.suite)
    if request.precision is not None and (request.rounds or LEAST_ROUNDS) < LEAST_ROUNDS:
        raise UsageError(
            f"--rounds {request.rounds}: no ratio counts as precise in fewer than {LEAST_ROUNDS}",
            "Ask for more rounds, or leave out --precision.",
        )
    with lab.running(request.first_port), lab.database() as store:
        store.interrupt_orphans()
        lab.register(store)
        if request.resume:
            run = _resumable(store, request)
            _require_same_choice(run, request)
            _require_same_servers(lab, store, run)
            profile = store.profile_of(run)
        else:
            profile = store.profile(request.suite, request.profile or "quick")
        bench = Bench(lab, store, profile)
        require_disk(suite, bench)
        if not request.resume:
            run = store.start_run(
                request.suite,
                profile.profile,
                rounds=request.rounds,
                pattern=request.pattern,
                seed=request.seed,
                query_limit_s=request.query_limit_s,
                precision=request.precision,
            )
        with _state_kept(lab, store, run):
            observer.preparing(run)
            suite.prepare(bench, resumed=request.resume)
            store.refresh_commands(run)
            _describe(lab, store, run)
            _execute_all(lab, store, run, observer)
        return store.run(run.run_id)


@contextmanager
def _state_kept(lab: Lab, store: Store, run: Run) -> Iterator[None]:
    """Keep the run's state true: running inside, then complete or interrupted.

    When the lab's database itself is gone, the next command finds the run still marked as running
    and corrects that.
    """
    store.set_run_state(run, "running")
    state = "interrupted"
    try:
        yield
        state = "complete"
    except psycopg.OperationalError as error:
        if not is_connection_lost(error):
            raise
        raise LabStateError(
            "the connection to one of the lab's servers was lost",
            f"What was measured is kept; go on with `tollfree run {run.suite} --resume`.",
            detail=str(error).strip(),
        ) from error
    finally:
        # psycopg has closed an interrupted connection whose query does not end within seconds.
        with suppress(psycopg.OperationalError), lab.connected_store() as again:
            again.set_run_state(run, state)


def _resumable(store: Store, request: Request) -> Run:
    run = store.latest_run(request.suite, "interrupted")
    if run is None:
        raise NotFoundError(
            f"no run of the suite {request.suite} was interrupted",
            f"Start one with `tollfree run {request.suite}`.",
        )
    if run.migrated:
        raise LabStateError(
            f"run {run.run_id} was begun with another build of the lab",
            f"Begin a new run with `tollfree run {run.suite}`; what was measured is kept.",
        )
    return run


def _require_same_choice(run: Run, request: Request) -> None:
    """Raise `UsageError` if the options differ from those that the run began with."""
    chosen = (
        ("--quick or --full", request.profile, run.profile),
        ("--only", request.pattern or None, run.pattern or "every case"),
        ("--rounds", request.rounds, run.rounds),
        ("--limit", request.query_limit_s, run.query_limit_s or "none"),
        ("--precision", _percent(request.precision), _percent(run.precision) or "none"),
        ("--seed", request.seed, run.seed),
    )
    for option, asked, begun in chosen:
        if asked not in (None, begun):
            raise UsageError(
                f"{option}: run {run.run_id} was begun with {begun}, and {asked} is asked for",
                f"Go on with it by `tollfree run {run.suite} --resume` alone, or leave out --resume"
                " to begin another run.",
            )


def _percent(share: float | None) -> str | None:
    return None if share is None else percent(share)


def _servers(lab: Lab, store: Store, run: Run) -> dict[str, Any]:
    """Return what a run's figures depend on: settings, and the builds of PostgreSQL and of the
    wrappers, which are modules, and clients that its cases name."""
    named = {str(value) for case in store.run_cases(run) for value in case.dims.values()}
    builds = {
        "modules": module_hashes(lab.stage, named),
        "clients": {
            client.interface.name: client.build
            for client in clients(lab.installation)
            if client.interface.name in named
        },
    }
    clusters = (lab.source(), lab.external())
    return {cluster.name: server_settings(cluster) | builds for cluster in clusters}


def _require_same_servers(lab: Lab, store: Store, run: Run) -> None:
    """Raise `LabStateError` when the servers are other ones than what the run has measured."""
    present = _servers(lab, store, run)
    changed = dict.fromkeys(
        difference
        for name, measured in run.server.items()
        for difference in _differences(name, measured, present[name])
    )
    if changed:
        raise LabStateError(
            f"run {run.run_id} has measured {'; '.join(changed)}",
            f"Begin a new run with `tollfree run {run.suite}`; what was measured is kept.",
        )


def _differences(name: str, measured: dict[str, Any], present: dict[str, Any]) -> Iterator[str]:
    """Yield in what a server is another than when it was measured."""
    if measured["version"] != present["version"]:
        yield f"PostgreSQL {measured['version']}, and here is {present['version']}"
    before, now = measured["settings"], present["settings"]
    # Other suites have the server offer TLS; a suite that does not use it declines.
    for setting in sorted((before.keys() | now.keys()) - {"ssl"}):
        was, is_now = (values.get(setting, "its default") for values in (before, now))
        if was != is_now:
            yield f"the server {name} with {setting} at {was}, and here is {is_now}"
    for kind in ("modules", "clients"):
        for built, build in sorted(measured.get(kind, {}).items()):
            if build != present[kind].get(built):
                yield f"another build of {built}"


def require_disk(suite: Suite, bench: Bench) -> None:
    """Raise `FileError` when the disk has no room for what a run has yet to make."""
    folder, profile = bench.lab.folder, bench.profile
    needed = suite.disk_bytes(profile) - suite.kept_bytes(bench)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise FileError(
            f"the disk of {folder} has {free / 1e9:.1f} GB free; the {profile.profile} run"
            f" of the suite {profile.suite} needs about {needed / 1e9:.1f} GB",
            "Free space there, or name a folder on another disk with TOLLFREE_HOME.",
        )


def _describe(lab: Lab, store: Store, run: Run) -> None:
    """Store what the run runs on; a resumed one has been found to go on with the same."""
    store.describe_run(run, fingerprint(lab.folder), _servers(lab, store, run))


def _execute_all(lab: Lab, store: Store, run: Run, observer: Observer) -> None:
    steps = _owed(store, run)
    observer.begins(run, len(store.results(run)), steps)
    while steps:
        round_ = steps[0].iter
        for step in (step for step in steps if step.iter == round_):
            started = time.monotonic_ns()
            result = store.execute(run, step, lab.stage.search_path)
            observer.ended(step, result, (time.monotonic_ns() - started) / 1e9)
        steps = _owed(store, run)
        observer.remains(steps)


def _owed(store: Store, run: Run) -> list[Step]:
    """Return what remains, after ending the cases that the whole rounds have shown precisely.

    Of a round that was interrupted nothing is looked at, so a resumed run ends the same cases.
    """
    steps = store.remaining(run)
    whole_rounds = steps[0].iter - 1 if steps else 0
    if run.precision is None or whole_rounds < LEAST_ROUNDS:
        return steps
    cases = {case.testcase: case for case in store.run_cases(run)}
    results = [result for result in store.results(run) if result.iter <= whole_rounds]
    store.end_cases(run, precise_cases(Findings(run, cases, results)), whole_rounds)
    return store.remaining(run)


def precise_cases(findings: Findings) -> list[str]:
    """Return the cases that need no further round: their own ratio is precise, or there is none,
    and so is every ratio to them that is still looked at."""
    wide = findings.imprecise()
    needed = wide.keys() | {findings.cases[name].baseline for name in wide}
    return [
        name
        for name, case in findings.cases.items()
        if case.most_rounds is None and name not in needed
    ]
