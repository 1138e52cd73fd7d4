"""Suite `sampling` from end to end: run, judged, interrupted, resumed, refused."""

import json
import re
import shutil
import signal
from pathlib import Path

import pytest
from command_line import LIMIT_S, latest_run, start, tollfree, until

from tollfree.errors import ExitCode
from tollfree.lab import Lab
from tollfree.store import Result, Run, Store

pytestmark = pytest.mark.cluster


def test_the_sampling_suite_end_to_end(lab: Lab, tmp_path: Path) -> None:
    """The smallest table, by some methods of every road."""
    pattern = (
        "^(sample:10k:(full|bernoulli|system):1?0?[01]:|analyze:10k:.*:t100:).*(lcl:|200us|file)"
    )
    out, _ = tollfree("run", "sampling", "--rounds", "1", "--only", pattern)
    assert "What a row costs" not in out
    with lab.database() as store:
        run = latest_run(store, "sampling")
        results = {r.testcase: r for r in store.results(run)}
        assert all(r.state == "ok" for r in results.values())
        full = results["sample:10k:full:100:tollfree_postgres_fdw:lcl:tcp"]
        assert full.figures["rows"] == 10_000
        sampled = results["sample:10k:bernoulli:1:postgres_fdw:rmt:tcp:200us"]
        assert 0 < sampled.figures["rows"] < 200
        whole = results["analyze:10k:off:t100:tollfree_postgres_fdw:lcl:tcp"].figures
        assert (whole["rows"], whole["columns"]) == (10_000, 5)
        assert whole["distinct_clustered"] == pytest.approx(1, abs=0.02)
        assert whole["correlation_error"] < 0.1
        for file in ("off:t100:file_fdw", "auto:t100:tollfree_file_fdw"):
            of_file = results[f"analyze:10k:{file}:file"].figures
            assert (of_file["rows"], of_file["columns"]) == (10_000, 5)
            assert of_file["distinct_clustered"] == pytest.approx(1, abs=0.02)
        (analyzers,) = store.table(
            "SELECT count(*) FROM lab.sampling_analyzers WHERE wrapper = 'tollfree_postgres_fdw'"
            " AND method IN ('off', 'random', 'bernoulli', 'system', 'auto') AND rtt_us IS NULL"
        )
        assert analyzers["count"] == 5
        _sampling_judge_sees_through_wrong_samples(store)

    page = tmp_path / "page.html"
    tollfree("report", "-o", str(page))
    assert "Sampling the table of 10k rows, postgres_fdw at 200 µs" in page.read_text("utf-8")
    assert "ANALYZE of 10k rows" in page.read_text("utf-8")
    # Of all suites the latest run.
    out, _ = tollfree("export", "--format", "csv", "-o", str(tmp_path / "csv"))
    for name in ("sampling-local.svg", "sampling-200us.svg"):
        assert str(tmp_path / "csv" / name) in out.split()
        assert "10k rows, postgres_fdw" in (tmp_path / "csv" / name).read_text("utf-8")


def test_an_interrupted_sampling_run_goes_on_with_its_data(lab: Lab) -> None:
    """Nothing is lost, doubled, or made again."""

    def latest() -> tuple[Run, dict[tuple[str, int], Result]]:
        with lab.database() as store:
            run = latest_run(store, "sampling")
            results = store.results(run)
            assert len({(r.testcase, r.iter) for r in results}) == len(results)
            return run, {(r.testcase, r.iter): r for r in results}

    tollfree("up")
    earlier, _ = latest()
    pattern = "^(sample:10k:.*:10:|analyze:10k:.*:t100:).*(lcl:|file)"
    process = start("run", "sampling", "--rounds", "3", "--seed", "7", "--only", pattern)
    until(lambda: latest()[0].run_id > earlier.run_id and len(latest()[1]) >= 5)
    files = {path: path.stat() for path in (lab.folder / "sampling").iterdir()}
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.INTERRUPTED, err
    run, before = latest()
    assert run.state == "interrupted", err
    with lab.database() as store:
        planned = {(c.testcase, n) for c in store.run_cases(run) for n in (1, 2, 3)}
    assert set(before) < planned

    tollfree("run", "sampling", "--resume")
    run, after = latest()
    assert run.state == "complete"
    assert set(after) == planned
    assert all(after[key] == result for key, result in before.items())
    assert all(result.state == "ok" for result in after.values())
    tollfree("down")
    assert files == {path: path.stat() for path in (lab.folder / "sampling").iterdir()}


def test_a_table_that_the_disk_has_no_room_for_is_refused(lab: Lab) -> None:
    with lab.database() as store:
        store.connection.execute(
            "INSERT INTO lab.sampling_tables VALUES ('vast', 1e13, false, false)"
        )
    try:
        words = ("run", "sampling", "--only", "^analyze:vast:auto:t100:tollfree_file_fdw:file$")
        _, err = tollfree(*words, code=ExitCode.FILES)
        free = shutil.disk_usage(lab.folder).free
        said = re.search(r"has ([\d.]+) GB free; .* need about ([\d.]+) GB", " ".join(err.split()))
        assert said
        assert float(said[1]) == pytest.approx(free / 1e9, rel=0.2)
        assert float(said[2]) == 7_000_000
        assert str(lab.folder) in err
        assert "--only" in err
        assert "TOLLFREE_HOME" in err
        assert not list((lab.folder / "sampling").glob("*vast*"))
        with lab.database() as store:
            run = latest_run(store, "sampling")
            assert store.results(run) == []
    finally:
        with lab.database() as store:
            store.connection.execute("DELETE FROM lab.sampling_tables WHERE table_name = 'vast'")


def _sampling_judge_sees_through_wrong_samples(store: Store) -> None:
    """Ask the suite's judge about outcomes that must not count, and about good ones."""
    sample = {"test": "sample", "rows": 10_000, "method": "bernoulli", "percent": 1}
    analyze = {"test": "analyze", "rows": 10_000, "method": "auto"}
    for dims, figures, words in (
        (sample, {"rows": 100}, None),
        (sample, {"rows": 0}, "0 rows where 100"),
        (sample, {"rows": 200}, "200 rows where 100"),
        (sample | {"percent": 100}, {"rows": 9_999}, "9999 rows where 10000"),
        (sample | {"method": "full"}, {}, "no rows"),
        (analyze, {"rows": 10_100, "columns": 5}, None),
        (analyze, {"rows": 9_000, "columns": 5}, "9000 rows"),
        (analyze, {"rows": 10_000, "columns": 4}, "statistics of 4 columns"),
    ):
        (row,) = store.table(
            "SELECT lab.sampling_judge(jsonb_populate_record(NULL::lab.run_cases, %s::jsonb),"
            " %s::jsonb, NULL, NULL) AS reason",
            json.dumps({"dims": dims}),
            json.dumps(figures),
        )
        if words is None:
            assert row["reason"] is None
        else:
            assert words in row["reason"]
