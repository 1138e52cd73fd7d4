"""Runs as a person names them: by their number in the lab, or by a file that
`tollfree export --format json` wrote."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tollfree.archive import Runs
from tollfree.errors import NotFoundError
from tollfree.export import read_json
from tollfree.suites import all_suites
from tollfree.suites.presentation import Findings

OpenRuns = Callable[[], AbstractContextManager[Runs]]
"""Opens the lab's runs; called only where a number needs them."""


def named_runs(names: Sequence[str], open_runs: OpenRuns) -> list[Findings]:
    """Return the runs of these names; raises `NotFoundError` or `FileError` when there is none."""
    if not any(name.isdecimal() for name in names):
        return [read_json(Path(name)) for name in names]
    with open_runs() as runs:
        return [
            runs.findings(int(name)) if name.isdecimal() else read_json(Path(name))
            for name in names
        ]


def latest_runs(open_runs: OpenRuns) -> list[Findings]:
    """Return the newest run of every suite that has one; raises `NotFoundError` if none has."""
    with open_runs() as runs:
        newest = {run.suite: run.run_id for run in reversed(runs.runs())}
        return [runs.findings(newest[x]) for x in all_suites() if x in newest] or _none()


def latest_run(open_runs: OpenRuns) -> Findings:
    """Return the newest run of all; raises `NotFoundError` if there is none."""
    with open_runs() as runs:
        found = runs.runs()
        return runs.findings(found[0].run_id) if found else _none()[0]


def _none() -> list[Findings]:
    raise NotFoundError("there is no run yet", "Measure with `tollfree run fdw --quick`.")
