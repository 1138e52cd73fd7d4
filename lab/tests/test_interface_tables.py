"""What the section `interface` makes of stored executions: tasks, ratios, sentences."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tollfree.errors import FileError
from tollfree.report.model import Cell, Estimate, Table
from tollfree.store import Result, Run, RunCase
from tollfree.suites.interface.charts import charts
from tollfree.suites.interface.findings import InterfaceFindings, Task
from tollfree.suites.interface.load import WIDE, LoadTable, require_room
from tollfree.suites.interface.tables import (
    noise_table,
    query_connect_table,
    roads_table,
    task_table,
    traffic_table,
)
from tollfree.suites.interface.verdicts import verdicts
from tollfree.suites.presentation import Findings, failure_sentences

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MANY = Task("rmt:tcp", "sql50k:1:001", "p-none:null")
PRINTED = Task("rmt:tcp", "sql50k:1:001", "p-all:file")
EACH = Task("lcl:tcp", "sql001:0:20", "p-none:null")
ONCE = Task("lcl:tcp", "sql001:1:1k", "p-none:null")
EXECUTIONS = {"001": 1, "20": 20, "1k": 1000}


def name_of(task: Task, candidate: str) -> str:
    interface, method = candidate.split(":")
    return f"{interface}:{task.road}:{task.strategy}:{method}:{task.print}"


def held_by(interface: str, method: str) -> str:
    if interface == "floor" or method in ("acc-a", "acc-y"):
        return "nothing"
    return "native" if interface.startswith("libpq") else "rows"


def case_of(task: Task, candidate: str) -> RunCase:
    interface, method = candidate.split(":")
    dims = {
        "interface": interface,
        "method": method,
        "held": held_by(interface, method),
        "road": task.road,
        "strategy": task.strategy,
        "print": task.print,
        "executions": EXECUTIONS[task.strategy.split(":")[2]],
    }
    baseline = None if candidate == "libpq:acc-n" else name_of(task, "libpq:acc-n")
    name = name_of(task, candidate)
    return RunCase(name, candidate, baseline, "execution_us", "us", False, dims)


def result_of(case: RunCase, round_: int, value: float | str) -> Result:
    """A result in microseconds an execution, or why there is none."""
    executions = case.dims["executions"]
    ok = not isinstance(value, str)
    figures = {
        "server_cpu_ms": 40 * (executions + 1),
        "link_flights": 5 * (executions + 1),
        "link_bytes_to_server": 100 * (executions + 1),
        "link_bytes_to_client": 900 * (executions + 1),
        "total_ns": value * 1000 * executions if ok else None,
        "first_row_ns": 500_000 * executions,
        "cpu_ns": 100_000 * executions,
        "connect_ns": 2_000_000 * executions,
        "executions": executions,
        "connections": executions,
    }
    return Result(
        testcase=case.testcase,
        iter=round_,
        ts=NOW,
        state="ok" if ok else "failed",
        reason=None if ok else str(value),
        duration=1.0 if ok else None,
        value=float(value) if ok else None,
        figures=figures if ok else {},
        user_us=1,
        system_us=1,
        peak_kb=2000,
        argv=[],
        env=[],
    )


def findings_of(
    values: dict[tuple[Task, str], list[float | str]], profile: str = "full", scale: int = 10
) -> InterfaceFindings:
    run = Run(
        *(7, "interface", profile, 3, "", 5, "complete", NOW, NOW, {}),
        *({"source": {"version": "18.1", "durable": True, "settings": {}}}, "0.1.0"),
        scale=scale,
    )
    cases = [case_of(*key) for key in values]
    results = [
        result_of(case, round_, value)
        for case, given in zip(cases, values.values(), strict=True)
        for round_, value in enumerate(given, start=1)
    ]
    published = {
        (PRINTED.published_name, "libpq:acc-n"): 0.6,
        (PRINTED.published_name, "JDBC:acc-n"): 3.0,
    }
    views: dict[str, list[dict[str, object]]] = {
        "ifmeth_cat_results": [
            {"testcase": "t", "candidate": "a", "duration": 1.0, "query_duration": 0.1},
            {"testcase": "t", "candidate": "b", "duration": 2.0, "query_duration": 0.2},
            {"testcase": "u", "candidate": "a", "duration": 9.0, "query_duration": 0.009},
            {"testcase": "u", "candidate": "b", "duration": None, "query_duration": 0.011},
        ],
        "loccomm_cat_results": [],
    }
    findings = Findings(run, {case.testcase: case for case in cases}, results)
    return InterfaceFindings(findings, published, [], views)


def column(table: Table, label: str) -> list[Cell]:
    index = [c.label for c in table.columns].index(label)
    return [row[index] for row in table.rows]


MANY_VALUES: dict[tuple[Task, str], list[float | str]] = {
    (MANY, "libpq:acc-n"): [100_000, 200_000, 100_000],
    (MANY, "libpq_again:acc-n"): [110_000, 200_000, 90_000],
    (MANY, "floor:acc-n"): [50_000, 100_000, 50_000],
    (MANY, "JDBC:acc-n"): [140_000, 280_000, 140_000],
    (MANY, "JDBC:acc-y"): [70_000, 140_000, 70_000],
    (MANY, "broken:acc-n"): [10, "49999 rows came, of 50000", 10],
}


def test_peak_memory_is_in_decimal_megabytes_though_linux_counts_by_1024_bytes() -> None:
    interface = findings_of(MANY_VALUES)
    assert interface.peak_mb(name_of(MANY, "libpq:acc-n")) == 2.048


def test_ratios_are_taken_inside_rounds_and_what_failed_has_none() -> None:
    interface = findings_of(MANY_VALUES)
    table = task_table(interface, MANY)
    assert column(table, "candidate") == [
        *("floor acc-n", "JDBC acc-y", "libpq acc-n", "libpq acc-n (A/A)", "JDBC acc-n")
    ]
    # The floor and COPY hold nothing, and there is no libpq that does so.
    assert column(table, "to libpq") == [None, None, None, 1.0, 1.4]
    assert column(table, "to the floor") == [None, 1.4, 2.0, 2.0, 2.8]
    assert column(table, "an execution")[-1] == 140.0
    assert column(table, "processor")[-1] == 0.1
    ((_, ratio, low, high, rounds, reaches),) = noise_table(interface).rows
    assert (ratio, rounds, reaches) == (1.0, 3, "yes")
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < 0.9
    assert high > 1.1


def test_published_seconds_stand_beside_their_task_only() -> None:
    values = {(PRINTED, who): given for (_, who), given in MANY_VALUES.items()}
    table = task_table(findings_of(values), PRINTED)
    assert column(table, "published") == [None, None, 0.6, None, 3.0]
    assert column(task_table(findings_of(MANY_VALUES), MANY), "published") == [None] * 5


def test_a_quick_million_rows_is_not_set_beside_ten_million() -> None:
    task = Task("rmt:tcp", "sql10m:1:001", "p-none:null")
    values: dict[tuple[Task, str], list[float | str]] = {(task, "libpq:acc-n"): [1.0]}
    published = {(task.published_name, "libpq:acc-n"): 9.0}
    quick, small, whole = (
        task_table(replace(findings_of(values, *size), published=published), task)
        for size in (("quick", 1), ("full", 2), ("full", 10))
    )
    assert "1,000,000 rows (quick run)" in quick.caption
    assert " 2,000,000 rows" in small.caption
    assert "10,000,000 rows" in whole.caption
    beside = [column(table, "published") for table in (quick, small, whole)]
    assert beside == [[None], [None], [9.0]]


def test_the_sentences_say_what_one_would_act_on() -> None:
    values: dict[tuple[Task, str], list[float | str]] = {
        **MANY_VALUES,
        (EACH, "libpq:acc-n"): [3000, 3000, 3000],
        (ONCE, "libpq:acc-n"): [30, 30, 30],
    }
    interface = findings_of(values)
    said = "\n".join((*failure_sentences(interface.run), *verdicts(interface)))
    assert "1 of 8 cases failed" in said
    assert "Connecting for each of 20 one-row queries over loopback TCP" in said
    assert "over loopback TCP costs libpq 100x (100–100, 3 rounds)" in said  # noqa: RUF001
    assert "For 50,000 rows over a 0.2 ms link, by the normal methods" in said
    assert "beside libpq's time: JDBC 1.40x (rows)" in said
    assert "the floor, which looks at nothing, 0.50x" in said
    assert "JDBC over a 0.2 ms link: COPY takes 0.50x" in said
    assert "and holds nothing instead of rows" in said
    assert "does not reach 1" not in said
    assert "from 1.00x to 1.00x in this run: smaller differences are noise" in said
    assert "broken" not in said


def test_what_is_inside_the_noise_is_said_to_be_no_difference() -> None:
    tls = Task("lcl:tls", EACH.strategy, EACH.print)
    values: dict[tuple[Task, str], list[float | str]] = {
        (MANY, "libpq:acc-n"): [100_000, 200_000, 100_000],
        (MANY, "libpq_again:acc-n"): [160_000, 200_000, 70_000],
        (MANY, "JDBC:acc-n"): [105_000, 190_000, 112_000],
        (MANY, "floor:acc-n"): [90_000, 190_000, 105_000],
        (EACH, "libpq:acc-n"): [3000, 3000, 3000],
        (ONCE, "libpq:acc-n"): [2900, 3100, 2800],
        (tls, "libpq:acc-n"): [3100, 2900, 3300],
    }
    said = "\n".join(verdicts(findings_of(values)))
    assert "beside libpq's time: JDBC no difference told (rows)." in said
    assert "loopback TCP shows no difference to a connection that is kept" in said
    assert "TLS over loopback TCP: libpq's connecting and querying show no difference" in said


def test_connecting_is_told_of_what_is_printed_only_where_nothing_else_is() -> None:
    printed = replace(EACH, print="p-all:null")
    values: dict[tuple[Task, str], list[float | str]] = {
        (printed, "libpq:acc-n"): [3000],
        (printed, "JDBC:acc-n"): [4000],
    }
    (said,) = verdicts(findings_of(values))
    assert "one-row queries over loopback TCP, and printing them, takes libpq" in said
    assert "printing" not in "".join(
        verdicts(findings_of({(EACH, "libpq:acc-n"): [3000], **values}))
    )


def test_what_holds_nothing_is_compared_with_libpq_holding_nothing() -> None:
    interface = findings_of(MANY_VALUES | {(MANY, "libpq:acc-a"): [35_000, 70_000, 35_000]})
    alike = dict(
        zip(
            *(column(task_table(interface, MANY), label) for label in ("candidate", "to libpq")),
            strict=True,
        )
    )
    assert alike["JDBC acc-n"] == 1.4
    assert alike["JDBC acc-y"] == 2.0
    assert (alike["libpq acc-n"], alike["libpq acc-a"]) == (None, None)
    (chart,) = charts(interface)
    ratios = {row.label: row.ratio for row in chart.rows}  # type: ignore[union-attr]
    assert ratios["JDBC acc-y (nothing)"] == Estimate(2.0, 2.0, 2.0)
    assert "libpq acc-a (nothing)" not in ratios


def test_what_the_server_and_the_link_did_is_told_where_it_can_be() -> None:
    interface = findings_of({(EACH, "libpq:acc-n"): [3000], (MANY, "libpq:acc-n"): [100_000]})
    rows = {row[0]: row[2:] for row in traffic_table(interface).rows}
    assert rows[EACH.published_name] == (5, 100, 900)
    assert rows[MANY.published_name] == (None, 100, 900)
    assert column(task_table(interface, EACH), "server") == [40]
    # Eighty milliseconds in all are too few steps of ten.
    assert column(task_table(interface, MANY), "server") == [None]


def test_an_interval_that_does_not_reach_1_is_said() -> None:
    unlike = MANY_VALUES | {(MANY, "libpq_again:acc-n"): [110_000.0, 222_000.0, 110_000.0]}
    interface = findings_of(unlike)
    assert column(noise_table(interface), "reaches 1") == ["no"]
    assert "In 1 of 1 tasks the A/A interval does not reach 1" in "\n".join(verdicts(interface))
    of_one_round = findings_of({key: values[:1] for key, values in unlike.items()})
    assert column(noise_table(of_one_round), "reaches 1") == [None]
    assert "does not reach 1" not in "\n".join(verdicts(of_one_round))


def test_a_chart_has_no_bar_for_the_baseline_or_for_what_failed() -> None:
    (chart,) = charts(findings_of(MANY_VALUES))
    labels = [row.label for row in chart.rows]  # type: ignore[union-attr]
    # The A/A case and JDBC: there is no libpq that holds nothing, as the floor and COPY do.
    assert len(labels) == 2
    assert not any("broken" in label for label in labels)
    references = {row.label: row.reference for row in chart.rows}  # type: ignore[union-attr]
    assert references["JDBC acc-n (rows)"] == 5.0


def test_the_strategy_summary_is_a_mean_over_candidates() -> None:
    limited, whole = query_connect_table(findings_of(MANY_VALUES)).rows
    assert whole[:4] == ("t", 2, 1.5, None)
    assert whole[4] == pytest.approx(150)
    # One of its candidates was ended by a limit: what it did in all is no mean of the whole.
    assert limited[:4] == ("u", 2, None, None)
    assert limited[4] == pytest.approx(10)


def test_what_a_limit_ended_has_queries_and_no_duration_of_the_whole() -> None:
    interface = findings_of(
        {(ONCE, "libpq:acc-n"): [1000.0, 1000.0], (ONCE, "slow:acc-n"): [4000.0, 4000.0]}
    )
    for result in interface.run.results:
        if result.testcase.startswith("slow") and result.iter == 2:
            # A quarter of the queries in as much time: the same time for each.
            result.figures["executions"] = result.figures["connections"] = 250
            for figure in ("total_ns", "first_row_ns", "cpu_ns"):
                result.figures[figure] /= 4
            for figure in ("server_cpu_ms", "link_flights", "link_bytes_to_client"):
                result.figures[figure] *= 251 / 1001
    table = task_table(interface, ONCE)
    assert column(table, "candidate") == ["libpq acc-n", "slow acc-n"]
    assert column(table, "queries") == ["1,000 of 1,000", "250 of 1,000"]
    assert column(table, "all executions") == [1.0, None]
    assert column(table, "an execution") == [1.0, 4.0]
    assert column(table, "to libpq") == [None, 4.0]
    for label in ("first row", "processor", "server"):
        assert column(table, label)[0] == pytest.approx(column(table, label)[1]), label
    assert [row[2] for row in traffic_table(interface).rows] == pytest.approx([5, 5])


def test_roads_stand_beside_one_another() -> None:
    near = Task("lcl:tcp", MANY.strategy, MANY.print)
    values: dict[tuple[Task, str], list[float | str]] = {
        **MANY_VALUES,
        (near, "JDBC:acc-n"): [70_000],
    }
    rows = roads_table(findings_of(values)).rows
    assert [row[:4] for row in rows if row[0] == "JDBC acc-n"] == [
        ("JDBC acc-n", "p-none:null", "lcl:tcp", 0.07),
        ("JDBC acc-n", "p-none:null", "rmt:tcp", 0.14),
    ]
    assert {row[0] for row in rows} == {"JDBC acc-n", "libpq acc-n", "floor acc-n"}


def test_a_table_that_the_disk_has_no_room_for_is_refused(tmp_path: Path) -> None:
    small, huge = LoadTable("t10m", 1, WIDE), LoadTable("t10m", 10**12, WIDE)
    require_room(tmp_path, small, loaded=False)
    for loaded in (True, False):
        with pytest.raises(FileError, match="t10m") as caught:
            require_room(tmp_path, huge, loaded=loaded)
        assert "--only" in caught.value.remedy
