"""Runs and cases are read from files while the lab is down, and these are what the database has."""

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import tollfree

from tollfree.archive import PROFILES, cases_of, keep
from tollfree.errors import ExitCode
from tollfree.export import read_json
from tollfree.lab import Lab
from tollfree.paths import CHECKOUT
from tollfree.patterns import matcher
from tollfree.store import CaseInfo
from tollfree.suites import all_suites, findings_of

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


ASKED = (
    ("fdw", "--quick"),
    ("interface", "--full", "--only", r"^(libpq|JDBC):lcl.*acc-[ny]:p-none"),
    ("shards", "--only", "TPCB:.*[48] servers"),
    ("file", "--only", "no such case"),
)


def listed(lab: Lab) -> tuple[list[str], dict[str, list[CaseInfo]]]:
    """Return what some commands list, and all cases."""
    printed = [tollfree("list", *words, "--json")[0] for words in ASKED]
    cases = {
        f"{suite} {x}": cases_of(lab, suite, x, "") for suite in all_suites() for x in PROFILES
    }
    return printed, cases


def test_cases_are_listed_without_a_server(measured: Lab) -> None:
    tollfree("up")
    running = listed(measured)
    tollfree("down")
    found = [len(json.loads(text)["cases"]) > 0 for text in running[0]]
    assert found == [*(True for _ in ASKED[:-1]), False]
    assert all(running[1].values())
    with without_a_database(measured):
        assert listed(measured) == running
        assert "true" in tollfree("list", "custom", "--commands")[0]
        assert not measured.own.is_running()


def test_the_reference_says_how_many_cases_there_are(measured: Lab) -> None:
    page = (CHECKOUT / "docs" / "reference" / "lab.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| suite `(\w+)`: cases, rounds \| (\d+), .*\| (\d+), ", page, re.MULTILINE
    )
    # Suite interface has as many as there are clients.
    assert {suite for suite, *_ in rows} == all_suites().keys() - {"interface", "custom"}
    documented = {suite: counts for suite, *counts in rows}
    if measured.installation.major < 16:
        older = re.search(r"^Before PostgreSQL 16 .* `(\w+)` has (\d+) and (\d+) cases", page, re.M)
        assert older is not None
        suite, *documented[suite] = older.groups()
    with measured.database() as store:
        assert documented == {
            suite: [str(len(store.cases(suite, size))) for size in PROFILES] for suite in documented
        }


def test_cases_are_those_of_the_database_as_it_is(measured: Lab) -> None:
    """A row that is changed in SQL is seen, and no files of before are taken for it."""
    tollfree("list", "custom")
    with measured.database() as store:
        store.connection.execute("UPDATE lab.custom_cases SET testcase = 'changed'")
    assert tollfree("list", "custom")[0].split() == ["changed"]
    with without_a_database(measured):
        assert tollfree("list", "custom")[0].split() == ["changed"]
    with measured.database() as store:
        store.connection.execute("UPDATE lab.custom_cases SET testcase = 'true'")


@pytest.mark.parametrize("name", ["tollfree_lab", "clients"])
def test_cases_of_other_scripts_or_clients_are_asked_for_anew(measured: Lab, name: str) -> None:
    tollfree("list", "custom")
    document = json.loads(measured.cases_file.read_text())
    assert name in document["made_of"]
    document["made_of"][name] = "another"
    document["suites"] = {}
    measured.user.write_text(measured.cases_file, json.dumps(document))
    assert tollfree("list", "custom")[0].split() == ["true"]
    assert json.loads(measured.cases_file.read_text())["made_of"][name] != "another"


def test_a_suite_whose_cases_fail_keeps_no_other_from_being_listed(measured: Lab) -> None:
    with measured.database() as store:
        store.connection.execute(
            "CREATE VIEW lab.broken AS SELECT 1 / (profile <> profile)::int AS seconds, profile,"
            " true AS chosen, 'x'::text AS testcase FROM lab.profiles"
        )
        store.connection.execute("INSERT INTO lab.case_views VALUES ('sampling', 'lab.broken')")
        keep(measured, store)
        store.connection.execute("DROP VIEW lab.broken")
        store.connection.execute(
            "DELETE FROM lab.case_views WHERE cases NOT IN (SELECT oid FROM pg_class)"
        )
    suites = json.loads(measured.cases_file.read_text())["suites"]
    assert "sampling" not in suites
    assert suites["fdw"]["full"]


def test_patterns_that_need_a_server_get_one(measured: Lab) -> None:
    tollfree("list", "custom")
    assert tollfree("list", "custom", "--only", r"\mtrue\M")[0].split() == ["true"]
    _, err = tollfree("list", "custom", "--only", "(", code=ExitCode.USAGE)
    assert "not a regular expression" in err


def test_patterns_match_what_postgresql_says(measured: Lab) -> None:
    """Those that have a matcher: drawn of pieces, most of which PostgreSQL takes."""
    pieces = ["a", "b", ":", "10", ".", "[ab]", "[^a:]", "[0-9]", "(", ")", "(?:", "|", "^", "$"]
    pieces += ["*", "+", "?", "{2}", "{1,}", r"\.", r"\(", " "]
    chance = random.Random(1)
    names = ["", "a", "b", "ab", "a:b", "aa10", "10:10", "a.b", "(a)", "b b", "abab:10"]
    matched = 0
    with measured.database() as store:
        for _ in range(4000):
            pattern = "".join(chance.choices(pieces, k=chance.randint(1, 6)))
            if matches := matcher(pattern):
                matched += 1
                (row,) = store.table(
                    "SELECT array_agg(n ~ %s ORDER BY i) AS found"
                    " FROM unnest(%s::text[]) WITH ORDINALITY AS x (n, i)",
                    *(pattern, names),
                )
                assert row["found"] == [matches(name) for name in names], pattern
    assert matched > 500
