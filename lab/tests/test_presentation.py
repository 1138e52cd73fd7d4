"""What is made of stored executions: ratios, noise marks, failed cases, comparisons, files."""

import json
import re
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tollfree import stats
from tollfree.compare import SAME, changes, comparison, only_in_one
from tollfree.console import Pace
from tollfree.export import read_json, write_json
from tollfree.paths import CHECKOUT
from tollfree.report.model import CaseState, Estimate
from tollfree.runner import precise_cases
from tollfree.store import Result, Run, RunCase, Step
from tollfree.suites.fdw.bulk import bulk_tables, bulk_verdicts
from tollfree.suites.fdw.findings import FdwFindings, round_trip_us
from tollfree.suites.fdw.tables import overhead_table, throughput_table
from tollfree.suites.fdw.verdicts import verdicts
from tollfree.suites.presentation import (
    Findings,
    case_row,
    failure_sentences,
    is_again,
    plain_section,
    precision_sentences,
    repeat_command,
    run_part,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SLOW = "RO:FDW_external:postgres_fdw:lcl:tcp:simple:rr:c1:tps"
BASE = "RO:local:none:lcl:ipc:simple:rr:c1:tps"
AGAIN = "RO:local_again:none:lcl:ipc:simple:rr:c1:tps"


def run_of(**changes: object) -> Run:
    values: dict[str, object] = {
        "run_id": 7,
        "suite": "fdw",
        "profile": "quick",
        "rounds": 3,
        "pattern": "",
        "seed": 5,
        "state": "complete",
        "started": NOW,
        "ended": NOW,
        "host": {},
        "server": {"source": {"version": "18.1", "durable": True, "settings": {}}},
        "version": "0.1.0",
    }
    return Run(**(values | changes))  # type: ignore[arg-type]


def case_of(name: str) -> RunCase:
    bench, target, wrapper, loc, comm, protocol, isolation, clients, measure = name.split(":")
    dims = {
        "bench": bench,
        "target": target,
        "wrapper": wrapper,
        "link": f"{loc}:{comm}",
        "protocol": protocol,
        "isolation": isolation,
        "clients": int(clients[1:]),
        "measure": measure,
    }
    baseline = None if target == "local" else BASE
    return RunCase(name, target, baseline, "tps_including", "tps", True, dims)


def result_of(name: str, round_: int, value: float | None, reason: str | None = None) -> Result:
    return Result(
        testcase=name,
        iter=round_,
        ts=NOW,
        state="ok" if value is not None else "failed",
        reason=reason,
        duration=1.0 if value is not None else None,
        value=value,
        figures={"latency_mean_ms": 1000 / value} if value else {},
        user_us=1,
        system_us=1,
        peak_kb=1,
        argv=["pgbench", "a b"],
        env=[],
    )


def findings_of(values: dict[str, list[float | None]], run: Run | None = None) -> Findings:
    results = [
        result_of(name, round_, value, None if value is not None else "exit status 1: because")
        for name, row in values.items()
        for round_, value in enumerate(row, start=1)
    ]
    return Findings(run or run_of(), {name: case_of(name) for name in values}, results)


GOOD: dict[str, list[float | None]] = {
    BASE: [1000.0, 1100.0, 500.0],
    AGAIN: [1010.0, 1090.0, 505.0],
    SLOW: [200.0, 200.0, 100.0],
}


def test_a_ratio_is_taken_inside_its_round_and_above_one_is_slower() -> None:
    findings = findings_of(GOOD)
    assert [*findings.ratios(SLOW).values()] == [5.0, 5.5, 5.0]
    ratio = findings.ratio(SLOW)
    assert ratio is not None
    assert (ratio.median, ratio.samples) == (5.0, 3)
    assert findings.told_apart(SLOW)
    assert not findings.told_apart(AGAIN)


def test_a_round_without_its_baseline_has_no_ratio() -> None:
    findings = findings_of({BASE: [1000.0], SLOW: [200.0, 100.0]})
    assert findings.ratios(SLOW) == {1: 5.0}


def test_one_failed_execution_of_either_takes_all_ratios() -> None:
    for broken in (BASE, SLOW):
        values = GOOD | {broken: [*GOOD[broken][:2], None]}
        findings = findings_of(values)
        assert findings.ratios(SLOW) == {}
        assert findings.ratio(SLOW) is None
        assert findings.values(broken) == findings.figures(broken, "latency_mean_ms") == []
        said = " ".join((*failure_sentences(findings), *verdicts(FdwFindings(findings, {}))))
        assert "1 of 3 cases failed" in said
        assert "Looking up a row" not in said
        compared = {row[0] for row in comparison(findings, findings_of(GOOD)).rows}
        assert SLOW not in compared
        assert (AGAIN in compared) == (broken == SLOW)
    assert findings_of(GOOD | {AGAIN: [1010.0, None, 505.0]}).noise is None


def test_round_trips_of_a_case_that_failed_are_not_cited() -> None:
    through, direct = (
        f"RO:{target}:rmt:tcp:1000us:simple:rr:c1:flights"
        for target in ("FDW_external:postgres_fdw", "direct:none")
    )
    for broken, sentence in ((None, "waits for 5 round trips"), (through, ""), (direct, "")):
        findings = findings_of(GOOD)
        flights = {through: 5.0, direct: 1.0}
        cases = {
            name: replace(
                findings.cases[SLOW],
                testcase=name,
                dims={
                    **findings.cases[SLOW].dims,
                    "target": name.split(":")[1],
                    "wrapper": name.split(":")[2],
                    "measure": "flights",
                },
            )
            for name in flights
        }
        executions = [
            replace(result_of(name, round_, counted), figures={"flights_per_tx": counted})
            for name, counted in flights.items()
            for round_ in (1, 2)
        ]
        if broken:
            executions[-1 if broken == direct else 1] = result_of(broken, 2, None, "because")
        findings = replace(
            findings, cases=findings.cases | cases, results=findings.results + executions
        )
        said = " ".join(verdicts(FdwFindings(findings, {})))
        assert "Looking up a row" in said
        assert ("Each lookup waits" in said) == (not broken)
        assert sentence in said


def test_one_failed_execution_takes_the_cases_figures() -> None:
    findings = findings_of(GOOD | {SLOW: [200.0, None, 100.0]})
    row = case_row(findings, SLOW, {"mean latency": 1.0})
    assert row.state is CaseState.FAILED
    assert row.median is None
    assert row.ratio is None
    assert not row.extra
    assert "1 of 3" in row.reason
    assert "because" in row.reason
    fdw = FdwFindings(findings, {})
    (line,) = [r for r in throughput_table(fdw, 1).rows if r[0] == "RO.FDW_external"]
    assert line[3:6] == (None, None, None)
    assert overhead_table(fdw).rows == ()
    section = plain_section(findings, title="", intro="", verdicts=("good news",))
    assert section.verdicts[0].startswith("1 of 3 cases failed")
    assert section.verdicts[1:] == ("good news",)


def test_a_case_that_was_not_reached_is_shown_as_skipped() -> None:
    findings = findings_of(GOOD | {SLOW: []}, run_of(state="interrupted"))
    row = case_row(findings, SLOW, {})
    assert row.state is CaseState.SKIPPED
    assert "interrupted" in row.reason
    section = plain_section(findings, title="t", intro="i")
    assert (section.run.executions_done, section.run.executions_planned) == (6, 9)


def test_the_throughput_table_has_the_experiments_columns() -> None:
    table = throughput_table(FdwFindings(findings_of(GOOD), {}), 1)
    assert [c.label for c in table.columns[:6]] == ["Bench", "Type", "Target", "Max", "Min", "Mean"]
    rows = {row[0]: row for row in table.rows}
    maximum, minimum, mean = rows["RO.FDW_external"][3:6]
    assert (maximum, minimum) == (200.0, 100.0)
    assert mean == pytest.approx(500 / 3)
    assert "RO.local_again" not in rows


def test_overhead_is_the_ratio_minus_one() -> None:
    (row,) = overhead_table(FdwFindings(findings_of(GOOD), {})).rows
    assert row[2] == 5.0
    assert row[5] == 4.0


def test_the_verdict_names_ratio_interval_and_rounds() -> None:
    (lookup, noise) = verdicts(FdwFindings(findings_of(GOOD), {}))
    assert "5.0x (3.8–7.1, 3 rounds)" in lookup  # noqa: RUF001
    assert "A/A" in noise


def bulk_of(
    values: dict[str, list[float | None]], operation: str = "SCAN", link: str = "lcl:tcp"
) -> Findings:
    """Return findings of scans beside A/A cases; a name is a wrapper's, or a wrapper's and a size,
    and `none` is what the others are compared with."""
    findings = findings_of(GOOD)
    cases, results = dict(findings.cases), list(findings.results)
    for name, seconds in values.items():
        wrapper, _, size = name.partition(" ")
        dims = {"bench": operation, "rows": 1000, "wrapper": wrapper, "link": link}
        dims |= {"size": int(size) if size else None, "measure": "bulk", "target": "any"}
        baseline = None if wrapper == "none" else "none"
        cases[name] = RunCase(name, name, baseline, "duration", "s", False, dims)
        results += [result_of(name, n, value) for n, value in enumerate(seconds, start=1)]
    return replace(findings, cases=cases, results=results)


def test_one_round_has_no_interval() -> None:
    fdw = FdwFindings(findings_of({name: values[:1] for name, values in GOOD.items()}), {})
    assert "5.0x (1 round" in verdicts(fdw)[0]
    (row,) = overhead_table(fdw).rows
    assert row[2:5] == (5.0, None, None)
    assert case_row(fdw.run, SLOW, {}).ratio == Estimate(5.0)


STOCK_SCAN: dict[str, list[float | None]] = {"postgres_fdw": [1.0, 1.2, 0.9]}


def test_bulk_sentences_have_intervals_rounds_and_the_noise_mark() -> None:
    ours = "tollfree_postgres_fdw"
    (faster,) = bulk_verdicts(FdwFindings(bulk_of(STOCK_SCAN | {ours: [0.25, 0.3, 0.225]}), {}))
    assert faster.count("4.0x (4.0–4.0, 3 rounds) as long") == 2  # noqa: RUF001
    assert "through tollfree_postgres_fdw: postgres_fdw takes" in faster
    (same,) = bulk_verdicts(FdwFindings(bulk_of(STOCK_SCAN | {ours: [1.01, 1.15, 0.92]}), {}))
    assert same.count("3 rounds, not told apart from noise)") == 2


def test_what_goes_over_a_link_is_beside_copy_over_that_link() -> None:
    scans: dict[str, list[float | None]] = STOCK_SCAN | {
        "postgres_fdw 50000": [0.5, 0.6, 0.45],
        "none": [0.25, 0.3, 0.225],
        "tollfree_postgres_fdw": [0.75, 0.9, 0.675],
    }
    fdw = FdwFindings(bulk_of(scans, "SCAN_1KB", "rmt:tcp:20000us"), {})
    (sentence,) = bulk_verdicts(fdw)
    assert "with a round trip of 20 ms takes 3.0x" in sentence
    assert "as long as COPY over that link" in sentence
    assert "with its best size of batches, 50000, takes 0.67x" in sentence
    short, distant = bulk_tables(fdw)
    assert not short.rows
    assert [row[2:5] for row in distant.rows] == [
        (20, "none: COPY", "default"),
        (20, "postgres_fdw", "default"),
        (20, "postgres_fdw", "50000"),
        (20, "tollfree_postgres_fdw", "default"),
    ]
    assert [row[6] for row in distant.rows] == [None, 4, 2, 3]


def test_what_the_stock_wrapper_does_only_with_a_size_is_compared_with_that() -> None:
    inserts: dict[str, list[float | None]] = {
        "postgres_fdw 1000": [1.0, 1.2, 0.9],
        "none": [0.25, 0.3, 0.225],
        "tollfree_postgres_fdw": [0.5, 0.6, 0.45],
    }
    fdw = FdwFindings(bulk_of(inserts, "INSERT_1KB", "rmt:tcp:20000us"), {})
    (sentence,) = bulk_verdicts(fdw)
    assert "1000, takes 2.0x (2.0–2.0, 3 rounds) as long as that." in sentence  # noqa: RUF001
    assert [row[7] for row in bulk_tables(fdw)[1].rows] == [None] * 3


def test_a_run_is_repeated_by_the_same_words() -> None:
    run = run_of(pattern="^RO:.*'x", profile="full")
    words = "--only '^RO:.*'\"'\"'x' --seed 5"
    findings = replace(findings_of(GOOD), run=run)
    assert repeat_command(findings) == f"tollfree run fdw --full --rounds 3 {words}"


def test_cases_of_fewer_rounds_are_planned_and_repeated_as_such() -> None:
    findings = findings_of(GOOD)
    once = {SLOW: replace(findings.cases[SLOW], most_rounds=1)}
    findings = replace(findings, cases=findings.cases | once)
    assert "--rounds" not in repeat_command(findings)
    assert run_part(findings).executions_planned == 3 * len(GOOD) - 2
    # A quick run of named cases has no precision unless it is asked for.
    named = run_of(rounds=50, precision=0.03, profile="quick", pattern="^RO")
    command = repeat_command(replace(findings, run=named))
    assert "--rounds 50 --precision 3%" in command


EVEN = [100.0, 101.0, 99.0, 100.0, 100.5, 99.5, 100.0]
UNEVEN = [200.0, 100.0, 400.0, 200.0, 100.0, 400.0, 200.0]


def precise_run(**changes: object) -> Run:
    return run_of(rounds=20, precision=0.15, profile="full", **changes)


def test_a_case_ends_when_its_ratio_and_those_to_it_are_precise() -> None:
    run = precise_run()
    values: dict[str, list[float | None]] = {BASE: [*EVEN], AGAIN: [*EVEN], SLOW: [*UNEVEN]}
    findings = findings_of(values, run)
    assert findings.imprecise().keys() == {SLOW}
    assert precise_cases(findings) == [AGAIN]
    assert precise_cases(findings_of(values | {SLOW: [*EVEN]}, run)) == [BASE, AGAIN, SLOW]
    # What failed gets no figure by more rounds either, and what has ended is not looked at.
    assert precise_cases(findings_of(values | {SLOW: [*UNEVEN[1:], None]}, run)) == [*values]
    ended = {SLOW: replace(findings.cases[SLOW], most_rounds=1)}
    assert precise_cases(replace(findings, cases=findings.cases | ended)) == [BASE, AGAIN]
    few = {name: row[: stats.LEAST_ROUNDS - 1] for name, row in values.items()}
    assert precise_cases(findings_of(few, run)) == []


def test_a_run_with_a_precision_has_wider_intervals_and_says_which_are_too_wide() -> None:
    values: dict[str, list[float | None]] = {BASE: [*EVEN], AGAIN: [*EVEN], SLOW: [*UNEVEN]}
    plain, precise = (findings_of(values, run) for run in (run_of(), precise_run()))
    narrow, wide = plain.ratio(SLOW), precise.ratio(SLOW)
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low <= narrow.median == wide.median <= narrow.high < wide.high
    (sentence,) = precision_sentences(precise)
    assert sentence.startswith(
        "NOT PRECISE: after 7 rounds the intervals of 1 of the ratios reach farther"
    )
    assert f"±15%, for this machine is too busy or too uneven: {SLOW} (±" in sentence
    assert plain_section(precise, title="", intro="").verdicts == (sentence,)
    assert precision_sentences(plain) == []
    young = {name: row[:3] for name, row in (values | {SLOW: [*EVEN]}).items()}
    (sentence,) = precision_sentences(findings_of(young, precise_run(state="interrupted")))
    assert "of 2 of the ratios fewer than 7 rounds" in sentence
    assert sentence.endswith("the run is interrupted.")
    assert "machine" not in sentence
    assert precision_sentences(findings_of(values | {SLOW: [*EVEN]}, precise_run())) == []


def test_a_run_with_a_precision_is_repeated_with_it() -> None:
    findings = findings_of(GOOD, precise_run())
    assert "--full --rounds 20 --precision 15% --seed" in repeat_command(findings)
    # In a whole quick run others than the headlines are executed once, by its profile.
    quick = replace(findings, run=replace(findings.run, profile="quick"))
    assert "--quick --rounds 20 --precision 15% --seed" in repeat_command(quick)
    once = {SLOW: replace(findings.cases[SLOW], most_rounds=1)}
    whole = replace(quick, cases=findings.cases | once)
    assert "run fdw --quick --seed" in repeat_command(whole)


def test_the_time_left_is_what_is_expected_at_the_pace_so_far() -> None:
    steps = [Step(1, "short", 10.0), Step(1, "skipped", 500.0), Step(1, "long", 3600.0)]
    pace = Pace(steps)
    assert (pace.remaining, pace.left) == (3, "1:08:30")
    done = findings_of(GOOD).results[0]
    pace.one_ended(steps[0], done, 20.0)
    assert pace.left == "2:16:40"
    pace.one_ended(steps[1], replace(done, state="skipped"), 0.01)
    assert (pace.remaining, pace.left) == (1, "2:00:00")
    pace.remains(steps[:1])
    assert (pace.remaining, pace.left) == (1, "0:00:20")


def test_comparing_runs_tells_only_changes_that_the_intervals_show() -> None:
    before = findings_of(GOOD)
    after = findings_of(GOOD | {SLOW: [500.0, 550.0, 250.0], AGAIN: [1000.0, 1100.0, 500.0]})
    rows = {row[0]: row for row in comparison(before, after).rows}
    assert rows[SLOW][-1] == "-60%"
    assert rows[AGAIN][-1] == SAME
    assert BASE not in rows
    assert only_in_one(before, findings_of({BASE: [1.0]})) == sorted([AGAIN, SLOW])


def test_cases_of_one_name_and_another_size_are_not_compared() -> None:
    before, after = findings_of(GOOD), findings_of(GOOD)
    larger = replace(after.cases[SLOW], dims=after.cases[SLOW].dims | {"clients": 99})
    after = replace(after, cases=after.cases | {SLOW: larger})
    assert SLOW in [change.testcase for change in changes(before, findings_of(GOOD))]
    assert SLOW not in [change.testcase for change in changes(before, after)]
    assert only_in_one(before, after) == [SLOW]


def test_what_is_counted_is_told_apart_whatever_the_noise() -> None:
    findings = findings_of(
        {BASE: [5.0, 5.0], AGAIN: [2.0, 9.0], SLOW: [4.0, 4.0]},
    )
    assert not findings.told_apart(SLOW)
    counted = {name: replace(case, unit="flights") for name, case in findings.cases.items()}
    findings = replace(findings, cases=counted)
    assert findings.told_apart(SLOW)
    assert not findings.told_apart(BASE, BASE)


def test_comparing_runs_of_one_round_tells_no_change() -> None:
    """One ratio has no interval."""
    once = findings_of({name: values[:1] for name, values in GOOD.items()})
    slower = GOOD | {SLOW: [100.0, 110.0, 50.0]}
    for after in (findings_of({SLOW: [100.0], BASE: [1000.0]}), findings_of(slower)):
        for pair in ((once, after), (after, once)):
            changes = {row[0]: row[-1] for row in comparison(*pair).rows}
            assert changes[SLOW] == SAME
    assert {row[0]: row[2:4] for row in comparison(once, once).rows}[SLOW] == (None, None)
    (note,) = comparison(once, once).notes
    assert "single round" in note
    several = comparison(findings_of(GOOD), findings_of(slower))
    assert {row[0]: row[-1] for row in several.rows}[SLOW] == "+100%"


def test_a_run_survives_the_way_through_a_file(tmp_path: Path) -> None:
    findings = findings_of(GOOD)
    assert read_json(write_json(findings, tmp_path / "new" / "run.json")) == findings


def test_a_file_does_not_repeat_how_a_case_is_executed(tmp_path: Path) -> None:
    """Unless another round has executed it otherwise."""
    findings = findings_of(GOOD)
    first, second = findings.results[:2]
    path = write_json(replace(findings, results=[first, second]), tmp_path / "run.json")
    said, unsaid = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert said["argv"] == first.argv
    assert not {"argv", "env"} & unsaid.keys()
    changed = replace(second, argv=[*second.argv, "--more"], env=[*second.env, "MORE=1"])
    for results in ([first, changed, first], [changed, first]):
        again = replace(findings, results=results)
        assert read_json(write_json(again, path)) == again


def test_files_of_version_1_are_read(tmp_path: Path) -> None:
    findings = findings_of(GOOD)
    path = write_json(findings, tmp_path / "run.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    document |= {"version": 1, "results": [asdict(result) for result in findings.results]}
    path.write_text(json.dumps(document, default=datetime.isoformat), encoding="utf-8")
    assert read_json(path) == findings


def test_a_run_says_how_large_it_was() -> None:
    findings = findings_of(GOOD, run_of(scale=20, seconds=4))
    assert run_part(findings).size == "quick, scale 20, seconds 4"
    other = findings_of(GOOD, run_of(scale=3, seconds=4))
    caption = comparison(findings, other).caption
    assert re.search("scale 20.* and .*scale 3", caption)


def test_the_build_of_a_wrapper_is_said_where_it_is_known() -> None:
    server = {"version": "18.1", "durable": True, "settings": {}}
    known = run_of(server={"source": server | {"modules": {"postgres_fdw": "0badcafe"}}})
    assert (
        run_part(findings_of(GOOD, known)).fingerprint["module postgres_fdw"].endswith("0badcafe")
    )
    assert not [x for x in run_part(findings_of(GOOD)).fingerprint if x.startswith("module")]


def test_a_run_that_has_not_stored_what_it_ran_on_is_not_said_to_be_without_durability() -> None:
    """It was made in one SQL call, or was interrupted before its cases began."""
    found = run_part(findings_of(GOOD, run_of(server={})))
    assert found.durability.startswith("unknown")
    assert found.fingerprint["PostgreSQL"] == "unknown"
    lazy = {"source": {"version": "18.1", "durable": False, "settings": {}}}
    assert run_part(findings_of(GOOD, run_of(server=lazy))).durability.startswith("NOT durable")
    assert run_part(findings_of(GOOD)).durability.startswith("durable")


def test_a_run_stored_before_its_size_was_is_read_without(tmp_path: Path) -> None:
    path = write_json(findings_of(GOOD), tmp_path / "run.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["run"]["scale"], document["run"]["seconds"]
    path.write_text(json.dumps(document), encoding="utf-8")
    findings = read_json(path)
    assert run_part(findings).size == "quick"
    assert findings.ratio(SLOW) == findings_of(GOOD).ratio(SLOW)


def test_a_links_round_trip_is_in_its_name() -> None:
    assert round_trip_us("rmt:tcp:1000us") == 1000


def test_equal_candidates_are_not_told_apart_in_the_stored_aa_runs() -> None:
    """libpq against itself, ten rounds of 18 tasks, twice, on a busy machine."""
    of_three = of_three_by_range = of_ten = told_apart = 0
    for number in (1, 2):
        run = read_json(CHECKOUT / "docs" / "runs" / f"interface-aa-{number}-postgresql-18.json")
        again = [name for name, case in run.cases.items() if is_again(case)]
        assert len(again) == 18
        for name in again:
            ratios = [*run.ratios(name).values()]
            assert len(ratios) == 10
            for first in (0, 3, 6):
                three = ratios[first : first + 3]
                found = stats.median_interval(three)
                assert found is not None
                of_three += found.low <= 1 <= found.high
                of_three_by_range += min(three) <= 1 <= max(three)
            found = run.ratio(name)
            assert found is not None
            of_ten += found.low <= 1 <= found.high
            told_apart += run.told_apart(name)
    assert (of_three, of_three_by_range, of_ten, told_apart) == (108, 77, 34, 0)
