"""Runs as a person names them: by their number in the lab's database, or by a file that
`tollfree export --format json` wrote."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tollfree.errors import NotFoundError
from tollfree.export import read_json
from tollfree.store import Run, Store
from tollfree.suites import all_suites, findings_of
from tollfree.suites.presentation import Findings

OpenStore = Callable[[], AbstractContextManager[Store]]
"""Opens the lab's database; called only where a number needs it."""


def named_runs(names: Sequence[str], open_store: OpenStore) -> list[Findings]:
    """Return the runs of these names; raises `NotFoundError` or `FileError` when there is none."""
    if not any(name.isdecimal() for name in names):
        return [read_json(Path(name)) for name in names]
    with open_store() as store:
        return [
            findings_of(store, store.run(int(name))) if name.isdecimal() else read_json(Path(name))
            for name in names
        ]


def latest_runs(open_store: OpenStore) -> list[Findings]:
    """Return the newest run of every suite that has one; raises `NotFoundError` if none has."""
    with open_store() as store:
        found = [store.latest_run(suite) for suite in all_suites()]
        return [findings_of(store, run) for run in found if run] or _none()


def latest_run(open_store: OpenStore) -> Findings:
    """Return the newest run of all; raises `NotFoundError` if there is none."""
    with open_store() as store:
        run: Run | None = store.latest_run()
        return findings_of(store, run) if run else _none()[0]


def _none() -> list[Findings]:
    raise NotFoundError("there is no run yet", "Measure with `tollfree run fdw --quick`.")
