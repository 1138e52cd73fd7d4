"""The pages of results, and which runs are older than what they measured."""

import re
import subprocess
import tomllib
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tollfree import history, results, stale, summary
from tollfree.export import read_json
from tollfree.paths import CHECKOUT
from tollfree.report.model import Estimate, Gain
from tollfree.store import Result, Run, RunCase
from tollfree.stored import STORED


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return results.pages()


def test_the_pages_of_results_are_what_the_command_writes(made: dict[str, str]) -> None:
    committed = {path.name: path.read_text("utf-8") for path in results.RESULTS.iterdir()}
    assert sorted(committed) == sorted(made), "python -m tollfree.results"
    for name, text in made.items():
        assert committed[name] == text, f"{name}: python -m tollfree.results"


def test_every_stored_run_has_its_identity_on_a_page(made: dict[str, str]) -> None:
    for path in STORED.glob("*.json"):
        run = read_json(path).run
        page = made[f"{run.suite}.md"]
        own = page.split(f"## {path.stem}\n")[1].split("\n## ")[0]
        for fact in (f"| PostgreSQL | {run.postgresql} |", "| cpu |", "| started |", "| again |"):
            assert fact in own


def test_a_remark_belongs_to_a_run_and_has_no_figure_with_a_unit() -> None:
    remarks = tomllib.loads(results.REMARKS.read_text(encoding="utf-8"))
    assert set(remarks) == {path.stem for path in STORED.glob("*.json")}
    measured = re.compile(r"\d(\.\d+)?( ?(x|ms|µs|s|MB|GB|tps)\b|%)")
    assert [words for words in remarks.values() if measured.search(words)] == []


def test_the_table_of_the_readme_is_what_its_runs_say() -> None:
    text = summary.README.read_text(encoding="utf-8")
    assert summary.BEGIN in text
    assert text == summary.with_table(text), "python -m tollfree.summary"


def test_the_reference_has_every_member_of_the_export_format() -> None:
    text = (CHECKOUT / "docs" / "reference" / "lab.md").read_text(encoding="utf-8")
    table = text.split("## The export format")[1].split("\n## ")[0]
    members = {field.name for kind in (Run, RunCase, Result) for field in fields(kind)}
    assert [name for name in sorted(members) if f"`{name}`" not in table] == []


def test_a_gain_is_written_with_its_interval_and_the_noise_mark() -> None:
    assert results.gain_text(None) == ""
    assert results.gain_text(Gain(Estimate(4.56, 4.1, 5.0))) == "4.6x (4.1–5.0)"  # noqa: RUF001
    assert results.gain_text(Gain(Estimate(1.5), told_apart=False)) == "~1.50x"


def test_commits_after_a_time_and_a_commit_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str, **env: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e", *words]
        return subprocess.run(
            command, capture_output=True, check=True, encoding="utf-8", env=env or None
        ).stdout.strip()

    monkeypatch.setattr(history, "CHECKOUT", tmp_path)
    assert history.commit() is None
    assert history.commits_after("HEAD", ["a"]) is None
    git("init", "-q")
    began = datetime(2026, 1, 1, tzinfo=UTC)
    for day, name in enumerate(("a", "b", "a")):
        (tmp_path / name).write_text(f"{day}\n", encoding="utf-8")
        git("add", ".")
        when = (began + timedelta(days=day)).isoformat()
        git("commit", "-q", "-m", "m", GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
    first = git("rev-list", "--max-parents=0", "HEAD")
    assert history.commits_after(first, ["a"]) == 1
    assert history.commits_after(began + timedelta(hours=1), ["a", "b"]) == 2
    assert history.commits_after(began + timedelta(days=9), ["a"]) == 0
    assert history.commit() == git("rev-parse", "HEAD")[:12]
    (tmp_path / "a").write_text("changed\n", encoding="utf-8")
    assert (history.commit() or "").endswith("+")


def test_a_run_older_than_its_wrapper_is_named_with_its_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stale, "commits_after", lambda *_: 3)
    found = "\n".join(stale.warnings())
    assert "docs/results/fdw.md has runs older than tollfree_postgres_fdw" in found
    assert "fdw-headlines-postgresql-18 (3)" in found
    assert "fdw-postgresql-18 (3)" not in found, "it measured postgres_fdw alone"
    monkeypatch.setattr(stale, "commits_after", lambda *_: 0)
    assert list(stale.warnings()) == []


def test_without_history_nothing_is_told_of_a_runs_age(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale, "commits_after", lambda *_: None)
    (line,) = stale.warnings()
    assert "cannot be told" in line


def test_walks_older_than_the_wrappers_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stale, "WALKS", tmp_path / "walks.txt")
    assert "make walks" in next(stale.walk_warnings())
    lines = (
        "PostgreSQL 15.18 (Debian 15.18-0), commit 0123456789ab, 2026-11-28: 9 passed in 5.00s",
        "PostgreSQL 19beta3, commit ba9876543210+, 2026-11-28: 9 passed, 1 skipped in 5.00s",
    )
    stale.WALKS.write_text("".join(f"{line}\n" for line in lines))
    counts = {"0123456789ab": 0, "ba9876543210": 3}
    monkeypatch.setattr(stale, "commits_after", lambda place, _: counts[place])
    (told,) = stale.walk_warnings()
    assert told == "3 commits to the wrappers since the last walks of PostgreSQL 19beta3"


def test_the_sources_of_wrappers_are_where_they_are_looked_for() -> None:
    for wrapper, folders in stale.SOURCES.items():
        for folder in folders:
            assert (CHECKOUT / "extensions" / wrapper / folder).is_dir()
