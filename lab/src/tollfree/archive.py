"""Runs and cases as files beside the lab's data, so that reading them starts no server.

`runs/N.json` in the lab's folder is the export of run N, and `cases.json` has what `tollfree list`
prints of every suite. The lab has `keep` write them whenever it stops its own server, and then sets
a mark, which it removes before it starts the server (`Lab.has_files`). So with the mark the files
equal the database; without it, as in a lab of an earlier version, the database is read.

Cases also change with the scripts and the clients of the checkout, which the database takes in when
the lab starts. So their file says what it was made of, and counts only while that is the same.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import psycopg

from tollfree.clients import Client, clients
from tollfree.errors import FileError
from tollfree.export import json_text, read_json, read_run
from tollfree.lab import Lab
from tollfree.patterns import matcher
from tollfree.store import CaseInfo, Run, Store, no_such_run, written_builds
from tollfree.suites import all_suites, findings_of
from tollfree.suites.presentation import Findings

PROFILES = ("quick", "full")
Listed = dict[str, dict[str, list[dict[str, Any]]]]
"""The cases by suite and profile, with the members of `CaseInfo`."""


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
    if lab.has_files:
        yield RunsInFiles(lab.runs_folder)
        return
    with lab.database() as store:
        yield RunsInDatabase(store)


def cases_of(lab: Lab, suite: str, profile: str, pattern: str) -> list[CaseInfo]:
    """Return the cases that a profile runs and whose names match, from the file where that is up to
    date and the pattern needs no server."""
    matches = matcher(pattern)
    if matches and lab.has_files:
        listed = _listed(lab)
        if suite in listed:
            cases = [CaseInfo(**case) for case in listed[suite][profile]]
            return [case for case in cases if matches(case.testcase)]
    with lab.database() as store:
        return store.cases(suite, profile, pattern)


def _listed(lab: Lab) -> Listed:
    """Return the cases in the file; nothing if starting the lab would change them."""
    made_of = written_builds() | _build_of_clients(clients(lab.installation))
    with suppress(OSError, ValueError):
        document = json.loads(lab.cases_file.read_text(encoding="utf-8"))
        # Of suites that are not here now the database knows more.
        if document["made_of"].items() >= made_of.items():
            return dict(document["suites"])
    return {}


def _build_of_clients(found: list[Client]) -> dict[str, str]:
    """Return what tells apart clients that cases could tell apart."""
    text = repr([replace(client, built_s=None) for client in found])
    return {"clients": hashlib.sha256(text.encode()).hexdigest()[:12]}


def _keep_cases(lab: Lab, store: Store) -> None:
    """Write the file of cases. A suite whose cases cannot be evaluated is omitted, so that listing
    them shows the error."""
    found = clients(lab.installation)
    store.register_clients(found)
    suites: Listed = {}
    for suite in all_suites():
        with suppress(psycopg.Error):
            suites[suite] = {x: [vars(c) for c in store.cases(suite, x)] for x in PROFILES}
    document = {"made_of": store.builds() | _build_of_clients(found), "suites": suites}
    lab.user.write_text(lab.cases_file, json.dumps(document))


def keep(lab: Lab, store: Store) -> bool:
    """Write the file of cases and those of runs that are not as the database has them, and remove
    those of runs that are gone. Returns whether all runs have one: those of a suite that is not
    here have none."""
    _keep_cases(lab, store)
    folder = lab.runs_folder
    lab.user.make_folder(folder)
    runs = store.runs()
    for path in set(folder.glob("*.json")) - {_file_of(folder, run.run_id) for run in runs}:
        path.unlink()
    known = [run for run in runs if run.suite in all_suites()]
    for run in known:
        path = _file_of(folder, run.run_id)
        # One that was cancelled in SQL says that it is running, however many results it has.
        if run.state == "running" or _run_in(path) != run:
            lab.user.write_text(path, json_text(findings_of(store, run)))
    return known == runs


def _file_of(folder: Path, run_id: int) -> Path:
    return folder / f"{run_id}.json"


def _run_in(path: Path) -> Run | None:
    try:
        return read_run(path)
    except FileError:
        return None
