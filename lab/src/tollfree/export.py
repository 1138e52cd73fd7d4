"""Runs as files: one JSON document that can be read back, or CSV tables for other programs.

The JSON format has a version. Version 1: an object with `format`, `version`, `run`, `cases`
and `results`, whose members are those of the dataclasses in `tollfree.store`, and `facts`, what the
suite has to know beside them (`Suite.facts`), which files of an early version lack. Version 2: a
result lacks members that are null, `argv` if the case's result before has the same, and `env` if
the result before has.
"""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from tollfree.errors import FileError
from tollfree.store import Result, Run, RunCase
from tollfree.suites import suite_named
from tollfree.suites.presentation import Findings, samples

FORMAT = "tollfree-run"
FORMAT_VERSION = 2
READ_VERSIONS = (1, 2)
NOTHING = dict.fromkeys(member.name for member in fields(Result))


def write_json(findings: Findings, path: Path) -> Path:
    """Write a run as one JSON document to `path` and return it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json_text(findings), encoding="utf-8")
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def json_text(findings: Findings) -> str:
    """Return a run as one JSON document."""
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "run": asdict(findings.run),
        "cases": [asdict(case) for case in findings.cases.values()],
        "results": list(_without_repetition(findings.results)),
        "facts": findings.facts,
    }
    return _text(document)


def _without_repetition(results: list[Result]) -> Iterator[dict[str, Any]]:
    argv: dict[str, list[str]] = {}
    env: list[str] | None = None
    for result in results:
        members = {name: value for name, value in asdict(result).items() if value is not None}
        if argv.get(result.testcase) == result.argv:
            del members["argv"]
        if env == result.env:
            del members["env"]
        argv[result.testcase], env = result.argv, result.env
        yield members


def _with_repetition(entries: list[dict[str, Any]]) -> Iterator[Result]:
    argv: dict[str, list[str]] = {}
    env: list[str] | None = None
    for entry in entries:
        testcase = entry["testcase"]
        argv[testcase] = entry["argv"] if "argv" in entry else argv[testcase]
        env = entry.get("env", env)
        members = {**NOTHING, **entry, "argv": argv[testcase], "env": env}
        yield Result(**_with_times(members, "ts"))


def _text(document: dict[str, Any]) -> str:
    """Return the document as JSON with one case and one result a line, which diffs can show."""
    members = []
    for name, value in document.items():
        if isinstance(value, list):
            entries = ",\n".join(json.dumps(entry, default=_plain) for entry in value)
            text = f"[\n{entries}\n]"
        else:
            text = json.dumps(value, default=_plain, indent=1)
        members.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def read_run(path: Path) -> Run:
    """Return what a file that `write_json` wrote says of the run alone: of a large one only the
    first lines are read. Raises as `read_json` does."""
    with _read_errors(path):
        with path.open(encoding="utf-8") as file:
            head = "".join(takewhile(lambda line: not line.startswith('"cases": '), file))
        return _run_in(json.loads(head.rstrip().removesuffix(",") + "}"))


def read_json(path: Path) -> Findings:
    """Return the run in a file that `write_json` wrote; raises `FileError` when it is none."""
    with _read_errors(path):
        document = json.loads(path.read_text(encoding="utf-8"))
        run = _run_in(document)
        cases = [RunCase(**case) for case in document["cases"]]
        results = list(_with_repetition(document["results"]))
        unknown = {result.testcase for result in results} - {case.testcase for case in cases}
        if unknown:
            raise ValueError(f"it has results of {unknown.pop()}, which is none of its cases")
        facts = document.get("facts", {})
    return Findings(run, {case.testcase: case for case in cases}, results, facts)


def _run_in(document: dict[str, Any]) -> Run:
    if document["format"] != FORMAT or document["version"] not in READ_VERSIONS:
        raise ValueError(f"its format is {document['format']} {document['version']}")
    return Run(**_with_times(document["run"], "started", "ended"))


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    """Turn a defect of a file into an error that names it."""
    try:
        yield
    except OSError as error:
        raise FileError(
            f"cannot read {path}: {error.strerror}",
            "A run is a number that `tollfree show` lists, or a file that `tollfree export --format"
            " json` wrote.",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"{path} is no run exported by tollfree: {error}",
            f"Export one with `tollfree export --format json` (format version {FORMAT_VERSION}).",
        ) from error


def _with_times(members: dict[str, Any], *names: str) -> dict[str, Any]:
    times = {x: datetime.fromisoformat(members[x]) for x in names if members[x] is not None}
    return members | times


def write_csv(run: Findings, folder: Path) -> list[Path]:
    """Write every execution to results.csv in `folder`, and the suite's own files beside it."""
    raw = samples(run)
    path = folder / "results.csv"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(raw.columns)
            writer.writerows(raw.rows)
        return [path, *suite_named(run.run.suite).export_files(run, folder)]
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> FileError:
    return FileError(
        f"cannot write {path}: {error.strerror}", "Name another place with --output, or free space."
    )
