"""Runs are read from files while the lab is down, and these are what the database has."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import tollfree

from tollfree.export import read_json
from tollfree.lab import Lab
from tollfree.suites import findings_of

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def measured(lab: Lab) -> Lab:
    """A lab that is down, with two runs of suite custom."""
    with lab.database() as store:
        store.connection.execute(
            "INSERT INTO lab.custom_cases (testcase, argv) VALUES ('true', '{true}')"
        )
    for _ in range(2):
        tollfree("run", "custom", "--rounds", "1")
    return lab


@contextmanager
def without_a_database(lab: Lab) -> Iterator[None]:
    """Have the lab's own server fail to start meanwhile."""
    data = lab.folder / "lab" / "data"
    moved = data.rename(data.with_name("moved"))
    try:
        yield
    finally:
        moved.rename(data)


def shown() -> list[int]:
    return [run["run_id"] for run in json.loads(tollfree("show", "--json")[0])["runs"]]


def test_runs_are_read_without_a_server(measured: Lab, tmp_path: Path) -> None:
    with without_a_database(measured):
        assert shown() == [2, 1]
        assert "true" in tollfree("show", "1", "--cases")[0]
        tollfree("compare", "1", "2")
        tollfree("report", "-o", str(tmp_path / "page.html"))
        tollfree("report", "1", "-o", str(tmp_path / "page.html"))
        tollfree("export", "2", "--format", "json", "-o", str(tmp_path / "2.json"))
        tollfree("export", "--format", "csv", "-o", str(tmp_path / "csv"))
        assert not measured.own.is_running()
    file = measured.runs_folder / "2.json"
    assert (tmp_path / "2.json").read_bytes() == file.read_bytes()
    with measured.database() as store:
        assert read_json(file) == findings_of(store, store.run(2))


def test_runs_of_a_lab_without_files_are_written_to_some(measured: Lab) -> None:
    for path in measured.runs_folder.iterdir():
        path.unlink()
    assert shown() == [2, 1]
    with without_a_database(measured):
        assert shown() == [2, 1]


def test_what_was_changed_in_the_database_is_seen(measured: Lab) -> None:
    with measured.database() as store:
        store.connection.execute("DELETE FROM lab.runs WHERE run_id = 1")
        store.connection.execute("UPDATE lab.runs SET pattern = 'changed'")
    assert shown() == [2]
    with without_a_database(measured):
        assert shown() == [2]
        assert read_json(measured.runs_folder / "2.json").run.pattern == "changed"


def test_files_that_cannot_be_written_keep_nothing_from_being_read(measured: Lab) -> None:
    for path in measured.runs_folder.iterdir():
        path.unlink()
    measured.runs_folder.rmdir()
    measured.runs_folder.touch()
    for _ in range(2):
        out, err = tollfree("show")
        assert "custom" in out
        assert str(measured.runs_folder) in err
        assert not measured.own.is_running()
    measured.runs_folder.unlink()
    assert str(measured.runs_folder) not in tollfree("show")[1]
