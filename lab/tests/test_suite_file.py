"""Suite `file`: what is made of its executions, and one run from end to end."""

import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from command_line import LIMIT_S, lab_of_its_own, latest_run, start, tollfree, until_executing
from page_cache import ATTEMPTS, evict

from tollfree.errors import EnvironmentLacksError, ExitCode, FileError
from tollfree.export import read_json
from tollfree.host import fingerprint
from tollfree.lab import Lab
from tollfree.postgres import Installation
from tollfree.privileges import ServerUser
from tollfree.report.model import CaseState, RatioChart
from tollfree.runner import require_disk
from tollfree.store import Result, Run, RunCase, Store
from tollfree.stored import STORED
from tollfree.suites.base import Bench
from tollfree.suites.file import FileSuite
from tollfree.suites.file.charts import charts
from tollfree.suites.file.data import TextFiles, TpchTable, make_files
from tollfree.suites.file.findings import KEPT, FileFindings, Published, query_order
from tollfree.suites.file.forms import Form, FormedFiles, lacks_packer
from tollfree.suites.file.gains import gain_chart
from tollfree.suites.file.schemas import Schema, SchemaMaker
from tollfree.suites.file.tables import (
    forms_table,
    kept_table,
    noise_table,
    rates_table,
    times_table,
)
from tollfree.suites.file.verdicts import verdicts
from tollfree.suites.presentation import Findings, case_row, failure_sentences

NOW = datetime(2026, 1, 2, tzinfo=UTC)
WRAPPERS = ("file_fdw", "tollfree_file_fdw")
RUN = Run(
    *(7, "file", "quick", 3, "", 5, "complete", NOW, NOW, {}),
    {"source": {"version": "18.1", "durable": True, "settings": {}}},
    "0.1.0",
)


def case_of(name: str) -> RunCase:
    query, target, engine, workers, *form = name.split(":")
    dims = {
        "query": query,
        "target": target,
        "engine": engine,
        "workers": int(workers[1:]),
        "scale": 10,
    }
    if form:
        dims["form"] = form[0]
    baseline = None if target == "heap" else f"{query}:heap:{engine}:{workers}"
    return RunCase(name, target, baseline, "time_ms", "ms", False, dims)


def result_of(
    name: str, round_: int, value: float | str, figures: dict[str, Any] | None = None
) -> Result:
    ok = not isinstance(value, str)
    state = "ok" if ok else str(value).split(":", maxsplit=1)[0]
    return Result(
        testcase=name,
        iter=round_,
        ts=NOW,
        state=state,
        reason=None if ok else str(value),
        duration=1.0 if ok else None,
        value=float(value) if ok else None,
        figures=figures or {},
        user_us=1,
        system_us=1,
        peak_kb=1,
        argv=["psql"],
        env=[],
    )


def findings_of(values: dict[str, list[float | str]]) -> FileFindings:
    results = [
        result_of(name, round_, value)
        for name, row in values.items()
        for round_, value in enumerate(row, start=1)
    ]
    run = Findings(RUN, {name: case_of(name) for name in values}, results)
    published = {("Q6", "plain"): Published(18.6, 218.8), ("Q1", "plain"): Published(311.3, 531.5)}
    return FileFindings(run, published, {"Q1": 75_000_000, "Q6": 75_000_000, "ANALYZE": 75_000_000})


GOOD: dict[str, list[float | str]] = {
    "Q6:heap:plain:w0": [100.0, 110.0, 90.0],
    "Q6:local_again:plain:w0": [101.0, 109.0, 91.0],
    "Q6:file_fdw:plain:w0": [800.0, 880.0, 810.0],
    "Q6:other_fdw:plain:w0": [50.0, 55.0, 45.0],
    "Q1:heap:plain:w0": [400.0, 400.0, 400.0],
    "Q1:file_fdw:plain:w0": [800.0, 800.0, 800.0],
    "ANALYZE:heap:plain:w0": [250.0, 250.0, 250.0],
    "ANALYZE:file_fdw:plain:w0": [900.0, 900.0, 900.0],
}


def test_the_table_has_means_and_the_articles_figures() -> None:
    table = times_table(findings_of(GOOD), "plain", 0)
    labels = [column.label for column in table.columns]
    rows = {row[0]: dict(zip(labels, row, strict=True)) for row in table.rows}
    assert [row[0] for row in table.rows] == ["Q1", "Q6", "ANALYZE"]
    assert rows["Q6"]["heap"] == pytest.approx(0.1)
    assert rows["Q6"]["file_fdw, ratio"] == 8.0
    assert rows["Q6"]["published ratio"] == pytest.approx(11.76, abs=0.01)
    assert rows["Q1"]["other_fdw"] is None
    assert rows["ANALYZE"]["published regular"] is None
    assert "local_again" not in " ".join(labels)


def test_workers_of_one_table_are_not_beside_the_articles_single_process() -> None:
    values = {name.replace(":w0", ":w2"): row for name, row in GOOD.items()}
    table = times_table(findings_of(values), "plain", 2)
    assert not [column for column in table.columns if "published" in column.label]


KEEPING: dict[str, list[float | str]] = GOOD | {
    "Q6:tollfree_file_fdw:plain:w0": [50.0, 55.0, 45.0],
    "Q6:tollfree_file_fdw_first:plain:w0": [60.0, 66.0, 54.0],
    "Q6:tollfree_file_fdw_second:plain:w0": [10.0, 11.0, 9.0],
    "Q6:tollfree_file_fdw_appended:plain:w0": [20.0, 22.0, 18.0],
}


def test_what_is_kept_has_a_table_and_a_sentence_of_its_own() -> None:
    findings = findings_of(KEEPING)
    table = kept_table(findings, 0)
    labels = [column.label for column in table.columns]
    assert labels[2:] == ["nothing kept", "first", "second", "after 1% was appended"]
    assert [row[0] for row in table.rows] == ["Q6"]
    assert table.rows[0][2:] == pytest.approx((0.5, 0.6, 0.1, 0.2))
    assert not set(KEPT) & set(findings.candidates())
    (sentence,) = [each for each in verdicts(findings) if "keeps an index" in each]
    assert "1 queries take 0.100x (" in sentence
    assert "; 0.60x (" in sentence
    assert "the first time; 0.200x (" in sentence
    assert not kept_table(findings_of(GOOD), 0).rows
    assert not kept_table(findings, 2).rows


FORMED: dict[str, list[float | str]] = GOOD | {
    "Q6:file_fdw:plain:w0:gzip": [1000.0, 1100.0, 900.0],
    "Q6:tollfree_file_fdw:plain:w0:gzip": [200.0, 220.0, 180.0],
    "Q6:tollfree_file_fdw:plain:w0:csv": [50.0, 55.0, 45.0],
}


def test_forms_have_a_table_a_sentence_and_rows_of_the_picture_of_their_own() -> None:
    findings = findings_of(FORMED)
    table = forms_table(findings, 0)
    assert [row[:2] for row in table.rows] == [("quoted CSV", "Q6"), ("gzip", "Q6")]
    assert table.rows[1][2:5] == pytest.approx((0.1, 1.0, 0.2))
    assert table.rows[1][5:] == pytest.approx((10.0, 2.0, 0.2))
    assert table.rows[0][3] is None
    (sentence,) = [each for each in verdicts(findings) if each.startswith("Q6 through")]
    assert "gzip 0.200x" in sentence
    assert "csv" not in sentence
    rows = {row.label: row.gains for row in gain_chart(findings).rows}
    assert [gain and gain.ratio.value for gain in rows["TPC-H Q6, gzip"]] == [10.0, 2.0]
    assert not forms_table(findings_of(GOOD), 0).rows


def test_the_tables_of_the_text_itself_are_the_same_beside_forms() -> None:
    plain, formed = (times_table(findings_of(values), "plain", 0) for values in (GOOD, FORMED))
    assert formed == plain
    assert gain_chart(findings_of(GOOD)).rows == gain_chart(findings_of(FORMED)).rows[:-2]


def form_of(**row: Any) -> Form:
    nothing = dict.fromkeys(("records", "copied", "packer"))
    return Form.of({"form": "f", "files": 1, "suffix": "tbl", "options": {}} | nothing | row)


def test_a_form_is_one_foreign_table_or_one_for_each_file() -> None:
    options = {"stock": {"program": "zcat {word}"}, "ours": {"filenames": "{folder}", "null": "x"}}
    form = form_of(files=3, suffix="tbl.gz", packer="gzip -c", options=options)
    files = FormedFiles(form, TextFiles(Path("/data of it/scale-1"), 4))
    assert files.tables("stock") == [
        {"program": f"zcat '/data of it/scale-1/forms/f/lineitem.{n}.tbl.gz'"} for n in (1, 2, 3)
    ]
    assert files.tables("ours") == [{"filenames": "/data of it/scale-1/forms/f", "null": "x"}]
    as_generated = FormedFiles(form_of(files=3), TextFiles(Path("/data"), 4))
    assert as_generated.files == as_generated.sources


def test_what_packs_is_looked_for(user: ServerUser) -> None:
    assert lacks_packer(form_of(packer="gzip -c"), user) is None
    assert lacks_packer(form_of(), user) is None
    lacking = "the program no-such-packer is not installed"
    assert lacks_packer(form_of(packer="no-such-packer -c"), user) == lacking


def test_a_mean_is_of_rounds_that_have_all_queries_and_has_an_interval() -> None:
    values = GOOD | {"Q1:file_fdw:plain:w0": [800.0, 800.0, 800.0, 100.0]}
    run = findings_of(values).run
    both = ["Q6:file_fdw:plain:w0", "Q1:file_fdw:plain:w0"]
    mean = run.mean_ratio(both)
    assert mean is not None
    assert mean.median == pytest.approx(4.0)
    assert mean.samples == 3
    assert mean.low < 4 < mean.high
    gain = run.mean_gain(both)
    assert gain is not None
    assert (gain.ratio.low, gain.told_apart) == (mean.low, True)
    assert run.mean_ratio([]) is None
    assert run.mean_ratio([*both, "ANALYZE:heap:plain:w0"]) is None


def test_a_rate_is_text_by_seconds() -> None:
    rows = {row[0]: row for row in rates_table(findings_of(GOOD), "plain", 0).rows}
    assert rows["Q6"][1] == 75
    assert rows["Q6"][3] == pytest.approx(75 / 0.05)


def test_one_wrong_answer_takes_the_cases_figures() -> None:
    wrong = GOOD | {"Q6:other_fdw:plain:w0": [50.0, "failed: answers 2 rows", 45.0]}
    file = findings_of(wrong)
    row = case_row(file.run, "Q6:other_fdw:plain:w0", {})
    assert row.state is CaseState.FAILED
    assert "answers 2 rows" in row.reason
    assert times_table(file, "plain", 0).rows[1][3] is None
    assert failure_sentences(file.run)[0].startswith("1 of 8 cases failed")
    ratios = charts(file)[0]
    assert isinstance(ratios, RatioChart)
    (bar,) = (row for row in ratios.rows if row.label == "Q6 other_fdw")
    assert bar.ratio is None


def from_disk(counted: dict[str, list[int]]) -> FileFindings:
    """Return findings of cases that read so many bytes from the disk, round by round."""
    file = findings_of(GOOD)
    results = [
        result_of(
            *(r.testcase, r.iter, r.value or 0.0),
            {"disk_bytes": counted[r.testcase][r.iter - 1]} if r.testcase in counted else {},
        )
        for r in file.run.results
    ]
    return replace(file, run=replace(file.run, results=results))


def test_a_case_that_waited_for_the_disk_is_marked_cold() -> None:
    file = from_disk(
        {"Q6:heap:plain:w0": [0, 0, 600_000], "Q6:file_fdw:plain:w0": [0, 30_000_000, 0]}
    )
    rows = {row[0]: row for row in times_table(file, "plain", 0).rows}
    assert rows["Q6"][-1] == "file_fdw 40%"
    assert rows["Q1"][-1] == ""
    assert not file.is_cold("Q6:heap:plain:w0")
    assert file.disk_share("Q1:heap:plain:w0") is None
    assert any(sentence.startswith("1 of 2 cases are cold") for sentence in verdicts(file))
    warm = from_disk({"Q6:heap:plain:w0": [0, 0, 0]})
    assert "cold" not in {column.label for column in times_table(warm, "plain", 0).columns}
    words = "What was scanned came from the page cache, in every execution"
    assert f"{words} that tells, 3 of 24." in verdicts(warm)
    some = from_disk({name: [0, 0, 0] for name in GOOD})
    assert f"{words}." in verdicts(some)
    assert not [sentence for sentence in verdicts(findings_of(GOOD)) if "page cache" in sentence]


def test_what_is_skipped_is_said_and_does_not_count_as_failed() -> None:
    skipped = GOOD | {"Q6:other_fdw:plain:w0": ["skipped: other_fdw is not installed"] * 3}
    (said,) = failure_sentences(findings_of(skipped).run)
    assert said == "1 of 8 cases were skipped: skipped: other_fdw is not installed."


def test_the_verdicts_say_what_to_do() -> None:
    text = "\n".join(verdicts(findings_of(GOOD)))
    assert "2 queries take 4.0x (" in text
    assert "Q1 2.00x to Q6 8.00x" in text
    assert "file_fdw goes through 90 MB" in text
    assert "loading the file pays" in text
    assert "other_fdw goes through 1500 MB" in text
    assert "no need to load the file" in text
    assert "ANALYZE of lineitem takes 0.90 s through file_fdw, 0.25 s on the table" in text
    assert "A/A" in text
    assert noise_table(findings_of(GOOD)).rows[0][0] == "Q6"


@pytest.mark.parametrize(
    "milliseconds", [[101.0, 109.0, 91.0], [99.0, 111.0, 89.0], [90.0, 150.0, 91.0]]
)
def test_loading_is_not_advised_for_or_against_by_what_noise_explains(
    milliseconds: list[float | str],
) -> None:
    said = verdicts(findings_of(GOOD | {"Q6:other_fdw:plain:w0": milliseconds}))
    (sentence,) = (x for x in said if x.startswith("other_fdw goes through"))
    assert "not told apart from noise" in sentence
    assert "loading the file pays when" not in sentence
    assert "no need to load" not in sentence


def test_queries_that_the_article_lacks_are_in_a_mean_of_their_own() -> None:
    more = GOOD | {"Q2:heap:plain:w0": [100.0] * 3, "Q2:file_fdw:plain:w0": [400.0] * 3}
    text = "\n".join(verdicts(findings_of(more)))
    assert "2 queries take 4.0x (" in text
    assert "all 3 that were measured: 4.0x (" in text
    assert "all 2 that" not in "\n".join(verdicts(findings_of(GOOD)))


def test_queries_are_in_their_own_order() -> None:
    assert sorted(["COUNT", "Q10", "Q2", "ANALYZE"], key=query_order) == [
        *("Q2", "Q10", "ANALYZE", "COUNT"),
    ]


def test_the_names_of_columns_are_read_out_of_their_definitions() -> None:
    table = TpchTable("t", "a integer, b numeric(15,2), c char(1)", None)
    assert table.column_names == ["a", "b", "c"]


def test_a_missing_generator_is_named(
    tmp_path: Path, user: ServerUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    home = Path(tempfile.mkdtemp(prefix="tollfree-data-"))
    user.own(home)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    try:
        with pytest.raises(EnvironmentLacksError, match="tpchgen-cli"):
            make_files(home / "tpch", 1, ["lineitem"], 4, user)
        assert not (home / "tpch" / "scale-1").exists()
    finally:
        shutil.rmtree(home)


def test_the_generator_runs_as_the_servers_user_from_where_that_cannot_reach(
    tmp_path: Path, user: ServerUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script in its place says who runs it: files could have been given away afterwards."""
    home = Path(tempfile.mkdtemp(prefix="tollfree-data-"))
    user.own(home)
    tmp_path.chmod(0o700)
    generator = tmp_path / "tpchgen-cli"
    generator.write_text(
        "#!/bin/sh\nfor word; do folder=${word#--output-dir=}; "
        '[ "$folder" = "$word" ] || id -un >"$folder/who"; done\n'
    )
    generator.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    try:
        files = make_files(home / "tpch", 1, ["lineitem"], 4, user)
        who = files.folder / "who"
        assert who.read_text().strip() == user.name
        assert who.stat().st_uid == user.uid
    finally:
        shutil.rmtree(home)


@pytest.fixture(scope="module")
def lab(installation: Installation, user: ServerUser) -> Iterator[Lab]:
    """A lab in a home of its own, up, whose quick runs are of the smallest scale."""
    with lab_of_its_own(installation, user) as lab:
        lab.up()
        with lab.database() as store:
            store.connection.execute("UPDATE lab.profiles SET scale = 1 WHERE suite = 'file'")
        yield lab


def latest(store: Store) -> dict[str, Result]:
    run = latest_run(store, "file")
    return {result.testcase: result for result in store.results(run)}


@pytest.mark.cluster
def test_every_query_has_the_same_answer_on_tables_and_on_text(lab: Lab, tmp_path: Path) -> None:
    """All 22 queries and both engines; what this PostgreSQL has no extension for is skipped."""
    out, _ = tollfree("run", "file", "--rounds", "1", "--only", ":(w0|partitioned:w2)$")
    with lab.database() as store:
        results = latest(store)
        bad = {r.testcase: r.reason for r in results.values() if r.state == "failed"}
        assert not bad
        foreign = [r for r in results.values() if ":file_fdw:" in r.testcase]
        assert len(foreign) == 2 * 23 + 1
        assert all(r.state == "ok" for r in foreign)
        citus = [r for r in results.values() if ":citus:" in r.testcase]
        assert len(citus) == 22  # it refuses one of the 23 of each other candidate
        no_citus = "the extension citus is not installed in this PostgreSQL"
        assert {r.reason if r.state == "skipped" else None for r in citus} <= {None, no_citus}
        assert len({r.state for r in citus}) == 1
        assert all(r.figures["disk_bytes"] >= 0 for r in foreign)
        assert_neighbours(store)
        # An answer without rows compares nothing: at this scale one query has none.
        answers = store.table("SELECT query FROM lab.file_answers WHERE row_count = 0")
        assert {row["query"] for row in answers} <= {"Q18", "Q20", "Q2", "Q21"}
    assert "TPC-H, one process" in out
    page = tmp_path / "page.html"
    tollfree("report", "-o", str(page))
    # Not in what is printed: the header wraps where cases were cold, which takes a column more.
    for words in ("TPC-H on the text itself", "published regular"):
        assert words in page.read_text(encoding="utf-8")


def assert_neighbours(store: Store) -> None:
    """The cases of a query followed each other, and among them those that scan the same bytes."""
    run = latest_run(store, "file")
    order = store.table(
        "SELECT neighbours FROM lab.run_cases JOIN lab.testresults USING (run_id, testcase)"
        " WHERE run_id = %s AND state = 'ok' ORDER BY ts",
        run.run_id,
    )
    for depth in (1, 2):
        keys = [tuple(row["neighbours"][:depth]) for row in order]
        changes = sum(a != b for a, b in pairwise(keys))
        assert changes == len(set(keys)) - 1
    assert len({tuple(row["neighbours"]) for row in order}) > len(order) / 3


@pytest.mark.cluster
def test_every_form_has_the_answer_of_the_regular_table(lab: Lab) -> None:
    """Each is made, and read by every wrapper that has options for it; the names of cases without a
    form are those of the stored runs."""
    tollfree("run", "file", "--rounds", "1", "--only", "^Q6:.*:(w0:.+|w2:.*files)$")
    with lab.database() as store:
        results = latest(store)
        formed = [r for name, r in results.items() if ":heap:" not in name]
        assert {r.state for r in formed} == {"ok"}
        forms = {name.split(":")[4] for name in results if ":heap:" not in name}
        assert forms == {row["form"] for row in store.rows("file_forms")} - {"plain"}
        roads = sum(len(row["options"]) for row in store.rows("file_forms"))
        assert len(formed) == roads + 2 * 2
        made = {path.name for path in (lab.folder / "tpch" / "scale-1" / "forms").iterdir()}
        assert made == forms - {"files"}
        known = store.table("SELECT testcase FROM lab.testcases WHERE suite = 'file'")
        stored = read_json(STORED / "file-sf10-rounds-postgresql-18.json").cases
        assert stored.keys() <= {row["testcase"] for row in known}


READ_FILES = "SELECT public.read_file(path) FROM public.files_of_tables('{lineitem}') AS path"


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("schema", "scan"),
    [
        ("heap", READ_FILES),  # a query would find it in the server's own buffers
        ("file_fdw", "SELECT count(*) FROM lineitem"),
        ("tollfree_file_fdw_partitioned", "SELECT count(*) FROM lineitem"),
        ("file_fdw_gzip", "SELECT count(*) FROM lineitem"),
        ("tollfree_file_fdw_gzip_files", "SELECT count(*) FROM lineitem"),
    ],
)
def test_what_is_not_in_the_page_cache_is_counted(lab: Lab, schema: str, scan: str) -> None:
    """Evicted, a table comes from the disk; what begins an execution reads it beforehand."""
    pattern = "^Q6:(heap|.*file_fdw):p.*:w.(:gzip.*)?$"
    tollfree("run", "file", "--rounds", "1", "--only", pattern)
    if fingerprint(lab.folder)["file_system"] == "tmpfs":
        pytest.skip(f"{lab.folder} is in memory: there is no disk to read from")
    source = lab.source()
    with source.connect("tpch_1") as connection:
        connection.execute("CHECKPOINT")
        connection.execute(f"SET search_path = {schema}")
        found = connection.execute("SELECT public.files_of_tables('{lineitem}')")
        files = [source.data / str(name) for (name,) in found]
        assert len(files) == {"partitioned": 4, "files": 100}.get(schema.split("_")[-1], 1)
        size = sum(map(evict, files))
        connection.execute("SELECT public.count_from_here()")
        connection.execute(scan)
        assert from_disk_since(connection) >= size / 2

        def is_found_in_the_page_cache() -> bool:
            sum(map(evict, files))
            connection.execute("SELECT public.begin_execution('{lineitem}')")
            connection.execute(scan)
            return from_disk_since(connection) < size / 100

        assert any(is_found_in_the_page_cache() for _ in range(ATTEMPTS))
        connection.execute("SELECT public.evict_all_but('{file_fdw.region}')")
        connection.execute(scan)
        assert from_disk_since(connection) >= size / 2


def from_disk_since(connection: psycopg.Connection[tuple[Any, ...]]) -> int:
    row = connection.execute("SELECT public.read_since()").fetchone()
    assert row is not None
    return int(str(row[0]).removeprefix("disk_bytes="))


@pytest.mark.cluster
def test_the_judge_sees_through_wrong_answers(lab: Lab) -> None:
    wrong = {
        ("Q1", '{"rows": 3, "checksum": 5}'): "answers 3 rows with checksum 5",
        ("Q1", '{"rows": 4}'): "answers 4 rows with checksum <NULL>",
        ("ANALYZE", '{"rows": 50000}'): "ANALYZE estimates 50000 rows",
        ("Q99", '{"rows": 1, "checksum": 1}'): "not known",
    }
    with lab.database() as store:
        tollfree("run", "file", "--rounds", "1", "--only", "^(Q1|ANALYZE):heap:plain:w0")
        for (query, figures), words in wrong.items():
            (row,) = store.table(
                "SELECT lab.file_judge(jsonb_populate_record(NULL::lab.run_cases, %s::jsonb),"
                " %s::jsonb, NULL, NULL) AS reason",
                json.dumps({"dims": {"query": query, "scale": 1}}),
                figures,
            )
            assert words.replace("<NULL>", "") in row["reason"]


@pytest.mark.cluster
@pytest.mark.parametrize(
    "layout",
    [
        *("heap:plain", "heap:partitioned", "local_again:plain"),
        *(f"{wrapper}:{x}" for wrapper in WRAPPERS for x in ("plain", "partitioned")),
        *(f"{target}:plain" for target in KEPT),
        "citus:partitioned",
        "tollfree_file_fdw:plain:w2:gzip_files",
    ],
)
def test_each_layout_is_measured_alone_where_nothing_was_made(lab: Lab, layout: str) -> None:
    """Only what its cases need is made anew, and that is all that they need."""
    with lab.source().connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS tpch_1 WITH (FORCE)")
    shutil.rmtree(lab.folder / "tpch", ignore_errors=True)
    with lab.database() as store:
        store.connection.execute("TRUNCATE lab.file_answers, lab.file_sizes")
        tollfree("run", "file", "--rounds", "1", "--only", f"^(Q6|ANALYZE):{layout}(:w[02])?$")
        results = latest(store)
        assert any(f":{layout}" in name for name in results)
        # Citus is an extension that this PostgreSQL need not have.
        bad = [r for r in results.values() if r.state != "ok" and ":citus:" not in r.testcase]
        assert not bad


@pytest.mark.cluster
def test_a_wrong_row_fails_the_case(lab: Lab) -> None:
    """A text that changes behind the run's back is found, and the next run heals."""
    file = lab.folder / "tpch" / "scale-1" / "region.tbl"
    content = file.read_bytes()
    pattern = "^Q2:(heap|file_fdw):plain:w0$"
    tollfree("run", "file", "--rounds", "1", "--only", pattern)
    file.write_bytes(content.replace(b"EUROPE", b"EUROPA"))
    try:
        out, _ = tollfree(
            *("run", "file", "--rounds", "1", "--only", pattern), code=ExitCode.CASES_FAILED
        )
    finally:
        file.write_bytes(content)
    assert "where the heap table answers" in " ".join(out.split())
    tollfree("run", "file", "--rounds", "1", "--only", pattern)


@pytest.mark.cluster
def test_an_interrupted_run_goes_on_without_making_its_data_again(lab: Lab) -> None:
    text = lab.folder / "tpch" / "scale-1" / "lineitem.tbl"
    made = text.stat().st_mtime_ns
    process = start("run", "file", "--rounds", "30")
    until_executing(process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.INTERRUPTED
    with lab.database() as store:
        before = _q6(store)
        answer = _answer_of_q6(store)
        store.connection.execute(
            "DELETE FROM lab.run_cases WHERE run_id = (SELECT max(run_id) FROM lab.runs)"
            " AND testcase !~ '^Q6:'"
        )
        store.connection.execute("UPDATE lab.runs SET rounds = 2")
    tollfree("run", "file", "--resume")
    with lab.database() as store:
        run = store.runs()[0]
        assert run.state == "complete"
        after = _q6(store)
        assert before.items() <= after.items()
        assert {round_ for name, round_ in after if ":heap:" in name} == {1, 2}
        assert len(after) == len(store.results(run))
        assert _answer_of_q6(store) == answer
    assert text.stat().st_mtime_ns == made


def _q6(store: Store) -> dict[tuple[str, int], datetime]:
    """Return when each execution of Q6 in the latest run was."""
    results = store.results(store.runs()[0])
    return {(r.testcase, r.iter): r.ts for r in results if r.testcase.startswith("Q6:")}


def _answer_of_q6(store: Store) -> list[dict[str, Any]]:
    """Return the heap table's answer with the transaction that wrote it."""
    answers = store.table("SELECT *, xmin::text FROM lab.file_answers WHERE query = 'Q6'")
    assert answers
    return answers


@pytest.mark.cluster
def test_a_schema_is_not_whole_before_it_is_analysed(lab: Lab) -> None:
    """What an interruption leaves unanalysed is made again, or its plans would be others."""
    tollfree("run", "file", "--rounds", "1", "--only", "^Q6:file_fdw:plain:w0$")
    table = TpchTable("region", "r_regionkey integer, r_name char(25), r_comment text", None)
    schema = Schema("half_made", "foreign", "file_fdw", 1)
    with lab.source().connect("tpch_1") as connection:
        maker = SchemaMaker(connection, [table], TextFiles(lab.folder / "nowhere", 1))
        with pytest.raises(psycopg.errors.UndefinedFile):
            maker.make(schema)
        made = connection.execute("SELECT to_regclass('half_made.region')").fetchone()
        assert made is not None
        assert made[0] is not None
        assert not maker.is_made(schema)
        # A file that is missing is nothing to the tables that are measured.
        connection.execute("SET search_path = file_fdw")
        connection.execute("SELECT public.evict_all_but('{region}')")
        connection.execute("SELECT public.begin_execution('{region}')")
        connection.execute("DROP SCHEMA half_made CASCADE")


@pytest.mark.cluster
def test_data_that_are_there_need_no_more_room(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    tollfree("run", "file", "--rounds", "1", "--only", "^Q6:file_fdw:plain:w0$")
    suite = FileSuite()
    with lab.database() as store:
        bench = Bench(lab, store, store.profile("file", "quick"))
        kept = suite.kept_bytes(bench)
        # What tables are loaded from; of forms there is text that is in no table.
        folder = lab.folder / "tpch" / "scale-1"
        texts = (
            path for x in ("*.tbl", "lineitem/*.tbl", "orders/*.tbl") for path in folder.glob(x)
        )
        text = sum(path.stat().st_size for path in texts)
        assert kept > 2 * text
        never_run = Bench(lab, store, replace(bench.profile, scale=10))
        assert suite.kept_bytes(never_run) == 0
        enough = shutil.disk_usage(lab.folder)._replace(free=suite.disk_bytes(bench.profile) - kept)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: enough)
        require_disk(suite, bench)
        with pytest.raises(FileError, match=r"needs about 3\.4 GB"):
            require_disk(suite, never_run)
