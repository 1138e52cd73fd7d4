"""What is made of stored samples: costs, comparisons with stock, plots, verdicts."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tollfree.report.model import Cell, LineChart
from tollfree.store import Result, Run, RunCase
from tollfree.suites.presentation import Findings, failure_sentences
from tollfree.suites.sampling.charts import charts, sheets
from tollfree.suites.sampling.crossovers import (
    analyze_crossover_table,
    crossover_verdicts,
    crossovers,
)
from tollfree.suites.sampling.findings import Road, SamplingFindings
from tollfree.suites.sampling.tables import (
    QUALITY,
    analyze_table,
    cost_table,
    quality_table,
    sample_table,
    scatter_table,
)
from tollfree.suites.sampling.verdicts import verdicts

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RUN = Run(1, "sampling", "quick", 2, "", 5, "complete", NOW, NOW, {}, {}, "0.1.0")
OURS = "tollfree_postgres_fdw"
ROWS = 1_000_000
PERCENTS = (0.1, 1, 10, 100)


def sample(method: str, percent: float, road: str, link: str = "lcl:tcp") -> RunCase:
    name = f"sample:1m:{method}:{percent}:{road}:{link}"
    return case(name, None, test="sample", method=method, percent=percent, road=road, link=link)


def analyze(method: str, target: int, road: str, link: str = "lcl:tcp") -> RunCase:
    name = f"analyze:1m:{method}:t{target}:{road}:{link}"
    local = f"analyze:1m:local:t{target}:direct:lcl:ipc"
    baseline = None if method == "local" else local
    return case(name, baseline, test="analyze", method=method, target=target, road=road, link=link)


def case(
    name: str,
    baseline: str | None,
    *,
    test: str,
    method: str,
    road: str,
    link: str,
    percent: float | None = None,
    target: int | None = None,
) -> RunCase:
    dims = {
        "test": test,
        "table": "1m",
        "rows": ROWS,
        "method": method,
        "percent": percent,
        "wrapper": road,
        "link": link,
        "statistics_target": target,
        "target": "local_again" if method == "local_again" else "none",
    }
    return RunCase(name, road, baseline, "ms", "ms", False, dims)


def result(one: RunCase, round_: int, ms: float | None, figures: dict[str, float]) -> Result:
    return Result(
        testcase=one.testcase,
        iter=round_,
        ts=NOW,
        state="ok" if ms is not None else "failed",
        reason=None if ms is not None else "because",
        duration=None if ms is None else ms / 1000,
        value=ms,
        figures={} if ms is None else {"ms": ms, **figures},
        user_us=1,
        system_us=1,
        peak_kb=1,
        argv=["psql"],
        env=[],
    )


def findings(cases: list[tuple[RunCase, float | None, dict[str, float]]]) -> SamplingFindings:
    results = [result(one, round_, ms, more) for one, ms, more in cases for round_ in (1, 2)]
    published = {"sample": 0.2, "send:lcl:tcp": 1.5}
    return SamplingFindings(
        Findings(RUN, {one.testcase: one for one, _, _ in cases}, results), published
    )


def samples(slow_at: float | None = None) -> list[tuple[RunCase, float | None, dict[str, float]]]:
    """Make cases where a row costs 0.25 µs to sample and 2 µs to deliver."""
    made: list[tuple[RunCase, float | None, dict[str, float]]] = [
        (sample("full", 100, "postgres_fdw"), 2150.0, {"rows": ROWS})
    ]
    for percent in PERCENTS:
        rows = ROWS * percent / 100
        ms = 9000.0 if percent == slow_at else 0.25 * ROWS / 1000 + 2 * rows / 1000
        made.append((sample("bernoulli", percent, "postgres_fdw"), ms, {"rows": rows}))
    return made


ANALYZED: list[tuple[RunCase, float | None, dict[str, float]]] = [
    (analyze("local", 100, "direct", "lcl:ipc"), 100.0, {"rows": ROWS}),
    (analyze("local_again", 100, "direct", "lcl:ipc"), 110.0, {"rows": ROWS}),
    (analyze("auto", 100, "postgres_fdw"), 400.0, {"rows": ROWS, "distinct_clustered": 0.5}),
    (analyze("auto", 100, OURS), 120.0, {"rows": ROWS, "distinct_clustered": 0.9}),
]


def test_costs_are_the_line_through_the_cases() -> None:
    cost = findings(samples()).cost("1m", Road("postgres_fdw", "lcl:tcp"), "bernoulli")
    assert cost is not None
    assert (cost.sample_us.low, cost.sample_us.median, cost.sample_us.high) == (
        pytest.approx((0.25, 0.25, 0.25))
    )
    assert cost.send_us.median == pytest.approx(2.0)
    assert cost.cases == len(PERCENTS)
    (row,) = cost_table(findings(samples())).rows
    assert row[:3] == ("1m", "postgres_fdw", "bernoulli")
    costs = [0.25, 0.25, 0.25, 0.2, 2.0, 2.0, 2.0, 1.5, len(PERCENTS)]
    assert row[3:] == pytest.approx(costs)


def test_costs_have_intervals_that_follow_the_scatter() -> None:
    """A point off the line by 10% of its duration: the line's interval covers the true costs."""
    scattered = [
        (one, ms * (1.1 if one.dims["percent"] == 10 else 1) if ms else None, more)
        for one, ms, more in samples()
    ]
    cost = findings(scattered).cost("1m", Road("postgres_fdw", "lcl:tcp"), "bernoulli")
    assert cost is not None
    assert cost.sample_us.low < 0.25 < cost.sample_us.high
    assert cost.send_us.low < 2.0 < cost.send_us.high
    assert 0 < cost.send_us.high - cost.send_us.low < 0.5


def test_too_few_cases_have_no_cost() -> None:
    few = [one for one in samples() if one[0].dims["percent"] != 1]
    assert findings(few).cost("1m", Road("postgres_fdw", "lcl:tcp"), "bernoulli") is not None
    fewer = [one for one in few if one[0].dims["percent"] != 10]
    assert findings(fewer).cost("1m", Road("postgres_fdw", "lcl:tcp"), "bernoulli") is None
    assert cost_table(findings(fewer)).rows == ()


def test_a_failed_sample_has_no_duration() -> None:
    cases = [(one, None if one.dims["percent"] == 10 else ms, more) for one, ms, more in samples()]
    table = sample_table(findings(cases))
    assert {row[2]: row[5] for row in table.rows}[10] is None
    (sentence,) = failure_sentences(findings(cases).run)
    assert sentence.startswith("1 of 5 cases failed")


def test_the_published_finding_is_confirmed_or_its_exceptions_named() -> None:
    (confirmed, cost) = verdicts(findings(samples()))
    assert "in all of 3 cases" in confirmed
    assert "0.25 µs to read and sample" in cost
    assert "published: 0.2 and 1.5" in cost
    (refuted, _) = verdicts(findings(samples(slow_at=10)))
    assert "1 of 3 samples took longer" in refuted
    assert "bernoulli at 10%" in refuted


def test_a_sample_that_noise_explains_took_neither_more_nor_less_time() -> None:
    def said(ms: float) -> str:
        cases = [*samples(), *ANALYZED]
        changed = [
            (one, ms if one.dims["percent"] == 10 else given, more) for one, given, more in cases
        ]
        (sentence,) = (x for x in verdicts(findings(changed)) if "transferring everything" in x)
        return sentence

    # The A/A case is 1.1x; everything takes 2150 ms.
    for ms in (2150.0, 2200.0, 2100.0):
        assert "in 2 of 3 cases" in said(ms)
        assert "In 1 no difference is told." in said(ms)
        assert "published" not in said(ms)
    assert "1 of 3 samples took longer" in said(3000.0)
    assert "in all of 3 cases" in said(1000.0)
    assert "no difference" not in said(3000.0) + said(1000.0)


def test_analyze_is_compared_with_local_and_with_stock() -> None:
    sampling = findings(ANALYZED)
    rows = {(row[2], row[3]): row[4:] for row in analyze_table(sampling).rows}
    assert rows["direct", "local"] == (100.0, None, None, None, None)
    assert rows["postgres_fdw", "auto"] == (400.0, 4.0, 4.0, 4.0, None)
    assert rows[OURS, "auto"] == (120.0, 1.2, 1.2, 1.2, 0.3)
    assert ("direct", "local_again") not in rows
    words = verdicts(sampling)
    assert any(
        "1.20x (1.20–1.20, 2 rounds) as long as locally" in one  # noqa: RUF001
        and "0.300x (0.300–0.300, 2 rounds) as long as through postgres_fdw" in one  # noqa: RUF001
        for one in words
    )
    assert "1.10x" in words[-1]


def test_a_way_that_finds_too_few_distinct_values_is_named() -> None:
    system = (analyze("system", 100, OURS), 50.0, {"rows": float(ROWS), "distinct_clustered": 0.01})
    words = verdicts(findings([*ANALYZED, system]))
    (sentence,) = (one for one in words if "distinct values" in one)
    assert sentence.endswith(f"through {OURS} by system (0.01x).")
    assert not any("distinct values" in one for one in verdicts(findings(ANALYZED)))


def test_quality_stands_beside_time() -> None:
    rows = {row[1:3]: row[3:] for row in quality_table(findings(ANALYZED)).rows}
    assert rows[OURS, "auto"][2] == 0.9
    assert rows["postgres_fdw", "auto"][2] == 0.5


def test_quality_is_compared_with_the_scatter_of_local_analyze() -> None:
    """Local ANALYZE finds 0.25 to 0.34 of the distinct values; one method the same, one 0.01."""
    cases = [analyze(m, 100, "direct", "lcl:ipc") for m in ("local", "local_again")]
    cases += [analyze(m, 100, OURS) for m in ("auto", "system")]
    shares = {"auto": 0.3, "system": 0.01}

    def figures(one: RunCase, round_: int) -> dict[str, float]:
        distinct = shares.get(str(one.dims["method"]), 0.24 + round_ / 100)
        return dict.fromkeys(QUALITY, 1.0) | {"distinct_clustered": distinct}

    def table(rounds: int) -> tuple[tuple[Cell, ...], ...]:
        results = [
            result(one, n, 100.0, figures(one, n)) for one in cases for n in range(1, rounds + 1)
        ]
        run = Findings(RUN, {one.testcase: one for one in cases}, results)
        return scatter_table(SamplingFindings(run, {})).rows

    assert [row[3:] for row in table(10)] == [
        ("system", 10, "distinct, clustered 0.01 (locally 0.25 to 0.34)"),
        ("auto", 10, "nothing"),
    ]
    assert table(4) == ()


def test_the_scatter_leaves_out_what_is_farthest() -> None:
    """Of 40 local ANALYZEs that find 1 to 40, the middle 95% leave out one at either end."""
    cases = [analyze(method, 100, "direct", "lcl:ipc") for method in ("local", "local_again")]
    results = [
        result(one, round_, 100.0, {"found": first + round_})
        for one, first in zip(cases, (0.0, 20.0), strict=True)
        for round_ in range(1, 21)
    ]
    run = Findings(RUN, {one.testcase: one for one in cases}, results)
    sampling = SamplingFindings(run, {})
    assert sampling.local_range(cases[0].testcase, "found") == (2.0, 39.0)
    few = replace(run, results=[r for r in results if r.iter <= 4])
    assert SamplingFindings(few, {}).local_range(cases[0].testcase, "found") is None


def test_every_road_has_a_plot_with_the_whole_table_as_a_level_line() -> None:
    (chart,) = charts(findings(samples()))
    assert isinstance(chart, LineChart)
    lines = {series.label: series.points for series in chart.series}
    assert [point.x for point in lines["full"]] == list(PERCENTS)
    assert {point.y for point in lines["full"]} == {2150.0}
    assert [point.y for point in lines["bernoulli"]] == [252.0, 270.0, 450.0, 2250.0]


def page_samples() -> list[tuple[RunCase, float | None, dict[str, float]]]:
    """Make the samples of two methods, directly and through two wrappers, near and far."""
    roads = [("direct", "lcl:ipc")]
    roads += [(w, link) for w in ("postgres_fdw", OURS) for link in ("lcl:tcp", "rmt:tcp:200us")]
    made: list[tuple[RunCase, float | None, dict[str, float]]] = []
    for number, (road, link) in enumerate(roads, 1):
        made.append((sample("full", 100, road, link), 900.0 * number, {"rows": ROWS}))
        for percent in PERCENTS:
            ms = number * (100 + percent)
            made.append((sample("system", percent, road, link), ms, {"rows": ROWS * percent}))
    return made


def test_each_link_has_a_page_with_direct_reading_to_the_left() -> None:
    pages = sheets(findings(page_samples()))
    assert list(pages) == ["sampling-local", "sampling-200us"]
    (row,) = pages["sampling-200us"].rows
    charts_of_row = [chart for chart in row if chart]
    assert [chart.caption for chart in charts_of_row] == [
        "1m rows, direct",
        "1m rows, postgres_fdw at 200 µs",
        f"1m rows, {OURS} at 200 µs",
    ]
    for chart in charts_of_row:
        assert [series.label for series in chart.series] == ["full", "system"]
        assert (chart.x.unit, chart.x.log, chart.y.unit, chart.y.log) == ("%", True, "ms", True)
    assert len({chart.y.reach for chart in charts_of_row}) == 1
    assert max(charts_of_row[0].y.reach) == 900.0 * 5


def test_a_road_without_samples_has_no_page() -> None:
    assert sheets(findings([one for one in page_samples() if one[0].candidate != "direct"])) == {}
    assert sheets(findings(ANALYZED)) == {}


def test_a_file_is_compared_with_file_fdw() -> None:
    files: list[tuple[RunCase, float | None, dict[str, float]]] = [
        (analyze("off", 100, "file_fdw", "file"), 800.0, {"rows": ROWS}),
        (analyze("auto", 100, "tollfree_file_fdw", "file"), 40.0, {"rows": ROWS}),
    ]
    sampling = findings([*files, *ANALYZED])
    rows = {(row[2], row[3]): row[4:] for row in analyze_table(sampling).rows}
    assert rows["file_fdw", "off"] == (800.0, 8.0, 8.0, 8.0, None)
    assert rows["tollfree_file_fdw", "auto"] == (40.0, 0.4, 0.4, 0.4, 0.05)
    assert rows[OURS, "auto"][-1] == 0.3
    assert list(rows)[-2:] == [("file_fdw", "off"), ("tollfree_file_fdw", "auto")]
    assert any(
        "0.050x (" in one and "as long as through file_fdw" in one for one in verdicts(sampling)
    )


def test_a_far_road_says_so() -> None:
    assert Road(OURS, "rmt:tcp:200us").label == f"{OURS} at 200 µs"
    assert Road(OURS, "lcl:tcp").label == OURS


def test_where_stock_has_no_such_method_its_default_is_what_is_compared() -> None:
    cases = [*ANALYZED, (analyze("import", 100, OURS), 20.0, {"rows": float(ROWS)})]
    ratio = findings(cases).against_stock(cases[-1][0].testcase)
    assert ratio is not None
    assert ratio.median == pytest.approx(20 / 400)
    off = [
        (analyze("off", 100, "postgres_fdw"), 1000.0, {"rows": float(ROWS)}),
        (analyze("auto", 100, OURS), 100.0, {"rows": float(ROWS)}),
    ]
    ratio = findings(list(off)).against_stock(off[1][0].testcase)
    assert ratio is not None
    assert ratio.median == pytest.approx(0.1)


def direct(
    method: str, percent: float, ms: float
) -> tuple[RunCase, float | None, dict[str, float]]:
    return sample(method, percent, "direct", "lcl:ipc"), ms, {"rows": ROWS * percent / 100}


DIRECT_SAMPLES = [
    direct("full", 100, 100.0),
    *(direct("bernoulli", percent, 50.0 + percent) for percent in (1, 10, 60, 95)),
    *(direct("system", percent, 1.0 + percent) for percent in (1, 10, 60, 95)),
    *(direct("random", percent, 120.0) for percent in (1, 10, 60, 95)),
]


def test_where_a_method_begins_to_lose_is_told_from_the_figures() -> None:
    sampling = findings(DIRECT_SAMPLES)
    found = {(x.method, x.other): (x.wins_to, x.loses_from) for x in crossovers(sampling)}
    assert found == {
        ("bernoulli", "full"): (10.0, 60.0),
        ("system", "full"): (95.0, None),
        ("random", "full"): (None, 1.0),
        ("system", "bernoulli"): (95.0, None),
    }
    published = {"loses:bernoulli": 30.0, "loses:random": 0.0}
    (sentence,) = crossover_verdicts(replace(sampling, published=published))
    assert (
        "bernoulli less time up to 10%, more from 60% on (published: more from about 30% on)"
        in (sentence)
    )
    assert "random more from 1% on (published: always more)" in sentence
    assert "system less time up to 95%." in sentence


def test_a_share_at_which_noise_explains_the_difference_is_on_neither_side() -> None:
    sampling = findings([*DIRECT_SAMPLES[:3], direct("bernoulli", 60, 105.0), *ANALYZED])
    (found,) = (x for x in crossovers(sampling) if x.method == "bernoulli")
    assert (found.wins_to, found.loses_from) == (10.0, None)


def test_whether_every_method_beats_the_local_analyze_is_said_from_the_figures() -> None:
    def said(target: int = 100, **durations: float) -> str:
        """Return the sentence; at target 100 three percent of the rows are sampled."""
        cases = list(ANALYZED)
        if target != 100:
            cases.append((analyze("local", target, "direct", "lcl:ipc"), 100.0, {"rows": ROWS}))
        cases += [(analyze(x, target, OURS), ms, {"rows": ROWS}) for x, ms in durations.items()]
        found = [
            x for x in verdicts(findings(cases)) if "every method" in x or "smaller samples" in x
        ]
        assert len(found) == 1
        return found[0]

    holds = said(system=50.0, bernoulli=60.0, random=70.0)
    assert f"holds through {OURS}: 3 of 3 take less time." in holds
    refuted = said(system=50.0, bernoulli=300.0, random=105.0)
    assert f"does not hold through {OURS}: 1 of 3 take less time, 1 longer (bernoulli" in refuted
    assert "bernoulli at target 100 3.0x as long); in 1 no difference is told." in refuted
    assert "is not shown" in said(system=50.0, bernoulli=60.0, random=105.0)
    few = said(system=50.0)
    assert f"is not shown through {OURS}: 1 of 1 take less time; none by bernoulli and" in few
    # What reads every row was published to win from one percent on.
    smaller = said(target=10, system=50.0, bernoulli=300.0, random=60.0)
    assert "1 of 1 take less time; none by bernoulli and random." in smaller
    assert f"Of the 2 by smaller samples of these two through {OURS}, 1 take longer" in smaller
    table = analyze_crossover_table(findings(ANALYZED))
    assert table.rows[0] == ("postgres_fdw", "auto", 100, "", "", "1m")
