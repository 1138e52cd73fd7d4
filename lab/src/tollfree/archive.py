"""Runs as files beside the lab's data, so that who reads them starts no server.

`runs/N.json` in the lab's folder is the export of run N. The lab has `keep` write what has changed
whenever it stops its own server, and then sets a mark, which it removes before it starts the server
(`Lab.has_files_of_runs`). So with the mark the files are what the database has; without it, as in
a lab of an earlier version, the database is asked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tollfree.errors import FileError
from tollfree.export import json_text, read_json, read_run
from tollfree.lab import Lab
from tollfree.store import Run, Store, no_such_run
from tollfree.suites import all_suites, findings_of
from tollfree.suites.presentation import Findings


class Runs(Protocol):
    """The runs of a lab."""

    def runs(self) -> list[Run]:
        """Return all runs, the newest first."""

    def findings(self, run_id: int) -> Findings:
        """Return a run whole; raises `NotFoundError` when there is none."""


class RunsInFiles:
    """The runs of a lab that is down."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def runs(self) -> list[Run]:
        """Return all runs, the newest first."""
        found = [read_run(path) for path in self._folder.glob("*.json")]
        return sorted(found, key=lambda run: (run.started, run.run_id), reverse=True)

    def findings(self, run_id: int) -> Findings:
        """Return a run whole; raises `NotFoundError` when there is none."""
        path = _file_of(self._folder, run_id)
        if not path.exists():
            raise no_such_run(run_id)
        return read_json(path)


class RunsInDatabase:
    """The runs in the lab's database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def runs(self) -> list[Run]:
        """Return all runs, the newest first."""
        return self._store.runs()

    def findings(self, run_id: int) -> Findings:
        """Return a run whole; raises `NotFoundError` when there is none."""
        return findings_of(self._store, self._store.run(run_id))


@contextmanager
def runs_of(lab: Lab) -> Iterator[Runs]:
    """Yield the runs of a lab, from files where these are up to date."""
    if lab.has_files_of_runs:
        yield RunsInFiles(lab.runs_folder)
        return
    with lab.database() as store:
        yield RunsInDatabase(store)


def keep(lab: Lab, store: Store) -> bool:
    """Write the files of runs that are not as the database has them, and remove those of runs that
    are gone. Returns whether all runs have one: those of a suite that is not here have none."""
    folder = lab.runs_folder
    lab.user.make_folder(folder)
    runs = store.runs()
    for path in set(folder.glob("*.json")) - {_file_of(folder, run.run_id) for run in runs}:
        path.unlink()
    known = [run for run in runs if run.suite in all_suites()]
    for run in known:
        path = _file_of(folder, run.run_id)
        if _run_in(path) != run:
            lab.user.write_text(path, json_text(findings_of(store, run)))
    return known == runs


def _file_of(folder: Path, run_id: int) -> Path:
    return folder / f"{run_id}.json"


def _run_in(path: Path) -> Run | None:
    try:
        return read_run(path)
    except FileError:
        return None
