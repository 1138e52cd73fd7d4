"""Stored files wherever a command takes a run: without a server, and without any PostgreSQL."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tollfree import summary
from tollfree.compare import changes
from tollfree.errors import ExitCode, NotFoundError
from tollfree.export import read_json
from tollfree.gains import MARGIN, WIDTH, picture
from tollfree.paths import CHECKOUT
from tollfree.savings import COMMANDS, PLANNED, SHOWN, Cases
from tollfree.scripts import written_rows
from tollfree.stored import page
from tollfree.suites import section_of

RUNS = CHECKOUT / "docs" / "runs"
STORED = sorted(RUNS.glob("*.json"))
FDW = RUNS / "fdw-kept-postgresql-18.json"
FDW_AGAIN = RUNS / "fdw-kept-again-postgresql-18.json"
LOOKUP = "RO:FDW_external:tollfree_postgres_fdw:lcl:tcp:simple:rr:c1:tps"


def tollfree(
    *words: str, code: ExitCode = ExitCode.OK, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line where there is no PostgreSQL."""
    done = subprocess.run(
        [sys.executable, "-m", "tollfree.cli", *words],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=os.environ | {"PG_CONFIG": "/nonexistent", "TOLLFREE_HOME": "/nonexistent"} | env,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def changed(tmp_path: Path, factor: float, **members: object) -> Path:
    """Write the run FDW with one case's value multiplied, or its results changed otherwise."""
    document = json.loads(FDW.read_text(encoding="utf-8"))
    for result in document["results"]:
        if result["testcase"] == LOOKUP:
            result["value"] *= factor
            result.update(members)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_stored_run_is_shown(path: Path) -> None:
    section = section_of(read_json(path))
    assert section.verdicts
    assert section.tables
    assert section.cases.rows


def test_a_file_stands_wherever_a_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Throughput" in tollfree("show", "--cases", str(FDW)).stdout
    page = tmp_path / "report.html"
    files = [
        str(RUNS / f"{name}-postgresql-18.json") for name in ("fdw", "file-queries", "sampling-1m")
    ]
    tollfree("report", "-o", str(page), *files)
    assert "Flat files" in page.read_text(encoding="utf-8")
    tollfree("export", "--format", "csv", "-o", str(tmp_path / "csv"), str(FDW))
    monkeypatch.chdir(tmp_path)
    named = tmp_path / "before-0.2.json"
    named.write_bytes(FDW.read_bytes())
    tollfree("export", "--format", "json", str(named))
    assert (tmp_path / "export" / named.name).is_file()
    assert (tmp_path / "csv" / "results.csv").exists()
    assert "in only one" in tollfree("compare", str(FDW), str(FDW_AGAIN)).stdout


def test_what_is_no_run_is_named() -> None:
    done = tollfree("show", "nonsense.json", code=ExitCode.FILES)
    assert "nonsense.json" in done.stderr
    assert "tollfree show" in done.stderr


def test_a_result_of_no_case_is_refused(tmp_path: Path) -> None:
    done = tollfree("show", str(changed(tmp_path, 1, testcase="none")), code=ExitCode.FILES)
    assert "none of its cases" in done.stderr


def test_a_report_has_one_run_of_a_suite(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = tollfree("report", "-o", str(page), str(FDW), str(FDW_AGAIN), code=ExitCode.USAGE)
    assert "suite fdw" in done.stderr
    assert not page.exists()


def test_the_report_is_opened_in_the_browser(tmp_path: Path) -> None:
    browser, seen, page = (tmp_path / name for name in ("browser", "seen", "report.html"))
    browser.write_text(f'#!/bin/sh\necho "$1" >{seen}\n')
    browser.chmod(0o755)
    tollfree("report", "--open", "-o", str(page), str(FDW), BROWSER=f"{browser} %s")
    assert seen.read_text().strip() == page.as_uri()


def test_a_case_that_became_worse_than_allowed_fails(tmp_path: Path) -> None:
    """Half of the throughput is twice the ratio: 100% more."""
    worse = str(changed(tmp_path, 0.5))
    done = tollfree("compare", "--fail-above", "5%", str(FDW), worse, code=ExitCode.WORSE)
    assert f"{LOOKUP}: its ratio grew by 100%" in done.stderr
    assert "1 of " in done.stderr
    assert "worse by more than 5%" in done.stderr
    for allowed in (
        ("--fail-above", "150", str(FDW), worse),
        ("--fail-above", "5%", worse, str(FDW)),
        ("--fail-above", "0", str(FDW), str(FDW)),
        (str(FDW), worse),
    ):
        tollfree("compare", *allowed)


def test_a_case_that_fails_now_fails_the_comparison(tmp_path: Path) -> None:
    failed = changed(tmp_path, 1, state="failed", reason="broken", value=None, duration=None)
    done = tollfree("compare", "--fail-above", "5", str(FDW), str(failed), code=ExitCode.WORSE)
    assert f"{LOOKUP}: it has no ratio any more" in done.stderr
    assert "no ratio any more" in tollfree("compare", str(FDW), str(failed)).stdout


def test_runs_that_share_no_case_cannot_pass() -> None:
    other = str(RUNS / "sampling-1m-postgresql-18.json")
    done = tollfree("compare", "--fail-above", "5", str(FDW), other, code=ExitCode.NOT_FOUND)
    assert "no case in common" in done.stderr


def test_single_rounds_are_said_to_have_no_judgement(tmp_path: Path) -> None:
    document = json.loads(FDW.read_text(encoding="utf-8"))
    document["results"] = [result for result in document["results"] if result["iter"] == 1]
    path = tmp_path / "once.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    done = tollfree("compare", "--fail-above", "5", str(FDW), str(path))
    assert "cannot be judged" in done.stderr


@pytest.mark.parametrize("text", ["five", "-1", "nan", "inf"])
def test_what_is_no_percentage_is_a_usage_error(text: str) -> None:
    done = tollfree(
        "compare", f"--fail-above={text}", str(FDW), str(FDW_AGAIN), code=ExitCode.USAGE
    )
    assert "percentage" in done.stderr


def documents(tmp_path: Path) -> dict[str, Any]:
    """Return what --json prints, by its format."""
    printed = (
        tollfree("show", "--json", str(FDW)),
        tollfree("compare", "--json", str(FDW), str(changed(tmp_path, 0.5))),
        tollfree("list", "--json"),
        tollfree("doctor", "--json", code=ExitCode.ENVIRONMENT),
    )
    found = [json.loads(done.stdout) for done in printed]
    return {document["format"]: document for document in found}


def test_json_has_what_the_terminal_has(tmp_path: Path) -> None:
    found = documents(tmp_path)
    shown = found["tollfree-show-1"]
    assert shown["suite"] == "fdw"
    assert LOOKUP in [case["testcase"] for case in shown["cases"]]
    (case,) = [x for x in found["tollfree-compare-1"]["cases"] if x["testcase"] == LOOKUP]
    assert case["share"] == pytest.approx(1.0)
    assert "sampling" in found["tollfree-list-1"]["suites"]
    finding = found["tollfree-doctor-1"]["findings"][0]
    assert (finding["thing"], finding["found"]) == ("PostgreSQL", False)


def test_the_fields_of_the_json_are_documented(tmp_path: Path) -> None:
    text = (CHECKOUT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    free = {"fingerprint", "settings", "dimensions", "extra", "host", "server"}
    """Their members go by what was measured."""

    def undocumented(value: object) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(undocumented, value))
        if not isinstance(value, dict):
            return set()
        inner = (undocumented(member) for name, member in value.items() if name not in free)
        return {name for name in value if f"`{name}`" not in text}.union(*inner)

    for name, document in documents(tmp_path).items():
        assert f"`{name}`" in text
        assert undocumented(document) - {"format"} == set()


def test_a_shell_completes_commands_suites_and_files() -> None:
    assert "_TOLLFREE_COMPLETE" in tollfree("completion", "bash").stdout

    def completed(words: str) -> str:
        count = str(len(words.split()) - 1)
        env = {"COMP_WORDS": words, "COMP_CWORD": count, "_TOLLFREE_COMPLETE": "bash_complete"}
        found: str = subprocess.run(
            [sys.executable, "-c", "import sys; sys.argv[0] = 'tollfree'; "
             "from tollfree.cli import main; main()"],
            capture_output=True, check=True, encoding="utf-8", env=os.environ | env, timeout=120,
        ).stdout  # fmt: skip
        return found

    assert completed("tollfree comp").split() == ["plain,compare", "plain,completion"]
    assert completed("tollfree run sam").split() == ["plain,sampling"]
    assert completed("tollfree show x").split() == ["file,x"]


def test_a_change_can_be_told_only_of_rounds() -> None:
    run = read_json(FDW)
    assert all(change.share is None for change in changes(run, run))


def test_published_figures_are_read_from_the_scripts() -> None:
    for table, columns in (("fdw", 7), ("file", 4), ("interface", 3), ("sampling", 2)):
        rows = written_rows(f"{table}_published")
        assert rows
        assert {len(row) for row in rows} == {columns}


def test_the_index_of_stored_runs_is_what_the_files_say() -> None:
    index = (RUNS / "README.md").read_text(encoding="utf-8")
    assert index == page(), "python -m tollfree.stored"


def test_the_chart_of_the_readme_is_what_its_run_says() -> None:
    chart = (CHECKOUT / "docs" / "gains.svg").read_text(encoding="utf-8")
    assert chart == picture() + "\n", "python -m tollfree.gains > docs/gains.svg"


def test_a_row_that_was_planned_is_shown_when_its_run_is_stored() -> None:
    stored = {path.stem for path in STORED}
    found = [saving.label for saving in PLANNED if saving.run in stored]
    assert found == [], "move these rows from PLANNED to SHOWN in savings.py"


def test_cases_of_shown_and_planned_rows_exist_and_their_commands_choose_them() -> None:
    for saving in (*SHOWN, *PLANNED):
        pattern = shlex.split(COMMANDS[saving.run])[-1]
        for name in (*saving.cases.stock, *saving.cases.ours, saving.baseline):
            if name and "--only" in COMMANDS[saving.run]:
                assert re.search(pattern, name), (saving.run, name)


def test_a_run_that_is_missing_is_an_error_that_says_what_makes_it() -> None:
    (saving, *_) = PLANNED
    with pytest.raises(NotFoundError, match=f"the run {saving.run} is not stored") as caught:
        picture([replace(saving, drawn="x")])
    assert f"tollfree {COMMANDS[saving.run]}" in caught.value.remedy
    lacking = replace(SHOWN[0], cases=Cases(("no case",), SHOWN[0].cases.ours))
    with pytest.raises(NotFoundError, match="has no ratio of stock wrapper for 'Lookup by key"):
        summary.table([lacking])


def test_labels_of_the_chart_leave_room_for_what_they_are_compared_with() -> None:
    """At about seven pixels a letter, as wide as those of a common font are."""
    for saving in (*SHOWN, *PLANNED):
        letters = len(saving.drawn) * 7.4 + len(f"of {saving.beside}") * 6.3
        assert not saving.drawn or letters < WIDTH - 2 * MARGIN, saving.drawn


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_stored_run_has_one_case_and_one_result_a_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    document, lines = json.loads(text), {line.rstrip(",") for line in text.splitlines()}
    for entry in (*document["cases"], *document["results"]):
        assert json.dumps(entry) in lines
