"""What is made of stored executions of suite `shards`: tables, plots, verdicts."""

from datetime import UTC, datetime

import pytest

from tollfree.store import Result, Run, RunCase
from tollfree.suites.presentation import Findings, failure_sentences
from tollfree.suites.shards.findings import DOINGS, ShardsFindings
from tollfree.suites.shards.tables import noise_table, ratio_charts, times_table
from tollfree.suites.shards.verdicts import verdicts

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RUN = Run(1, "shards", "quick", 2, "", 5, "complete", NOW, NOW, {}, {}, "0.1.0")
OURS = "tollfree_postgres_fdw"
LINK = "rmt:tcp:1000us"
Execution = tuple[RunCase, float | None, dict[str, float]]


def case(
    operation: str,
    target: str,
    wrapper: str = "none",
    servers: int | None = None,
    repeats: int = 1,
    content: str = "rows",
) -> RunCase:
    link = LINK if target in ("foreign", "citus") else "lcl:ipc"
    dims = {
        "operation": operation,
        "content": content,
        "target": target,
        "wrapper": wrapper,
        "servers": servers,
        "link": link,
        "repeats": repeats,
    }
    name = f"{operation}:{target}:{wrapper}:{servers}:{link}"
    name += f":{content}" if target == "foreign" and content != "rows" else ""
    baseline = None if target == "local" else f"{operation}:local:none:None:lcl:ipc"
    return RunCase(name, target, baseline, "ms", "ms", False, dims)


def findings(executions: list[Execution]) -> ShardsFindings:
    """Return a run of two equal rounds; one without milliseconds has failed."""
    results = [
        Result(
            testcase=one.testcase,
            iter=round_,
            ts=NOW,
            state="ok" if ms is not None else "failed",
            reason=None if ms is not None else "because",
            duration=None if ms is None else ms / 1000,
            value=ms,
            figures=figures,
            user_us=1,
            system_us=1,
            peak_kb=1,
            argv=["psql"],
            env=[],
        )
        for one, ms, figures in executions
        for round_ in (1, 2)
    ]
    return ShardsFindings(Findings(RUN, {one.testcase: one for one, _, _ in executions}, results))


def link_counts(flights: int, size: int, link: int = 1) -> dict[str, float]:
    return {
        f"flights_before_{link}": 7,
        f"flights_after_{link}": 7 + flights,
        f"rows_before_{link}": 5,
        f"rows_after_{link}": 5 + size // 100,
        f"bytes_before_{link}": 100,
        f"bytes_after_{link}": 100 + size,
    }


EXECUTIONS: list[Execution] = [
    (case("AGGREGATE", "local"), 10.0, {}),
    (case("AGGREGATE", "local_again"), 11.0, {}),
    (
        case("AGGREGATE", "foreign", OURS, 4),
        20.0,
        link_counts(5, 3000) | link_counts(3, 2000, link=2),
    ),
    (case("AGGREGATE", "foreign", "postgres_fdw", 4), 400.0, link_counts(1004, 4_000_000)),
    (case("AGGREGATE", "citus", servers=2), 25.0, link_counts(9, 6000)),
    (case("AGGREGATE", "foreign", OURS, 1), 30.0, link_counts(2, 2000)),
    (case("LOOKUP", "local"), 1.0, {}),
    (case("LOOKUP", "foreign", OURS, 4, repeats=100), 3.0, link_counts(100, 20_000)),
]


def test_the_table_is_in_order_and_counts_one_execution() -> None:
    table = times_table(findings(EXECUTIONS), LINK)
    assert [row[:3] for row in table.rows] == [
        ("LOOKUP", 4, OURS),
        ("AGGREGATE", 1, OURS),
        ("AGGREGATE", 2, "Citus"),
        ("AGGREGATE", 4, "postgres_fdw"),
        ("AGGREGATE", 4, OURS),
    ]
    lookup, _, citus, stock, ours = table.rows
    assert lookup[3:] == pytest.approx((3.0, 3.0, None, 1.0, 2.0, 0.2))
    assert stock[3:] == pytest.approx((400.0, 40.0, None, 1004, 40_000, 4000))
    assert ours[3:] == pytest.approx((20.0, 2.0, 20.0, 8, 50, 5))
    assert citus[3:] == pytest.approx((25.0, 2.5, None, 9, 60, 6))


def test_what_failed_has_no_figures() -> None:
    failed = case("AGGREGATE", "foreign", OURS, 4)
    shards = findings([*EXECUTIONS[:2], (failed, None, {})])
    (row,) = times_table(shards, LINK).rows
    assert row[3:] == (None,) * 6
    assert failure_sentences(shards.run)[0].startswith("1 of 3 cases failed")
    ((bar,),) = (chart.rows for chart in ratio_charts(shards))
    assert bar.ratio is None
    assert bar.note == "no figure"


def test_the_sentences_are_of_the_most_servers() -> None:
    sentences = verdicts(findings(EXECUTIONS))
    citus, aggregate = (s for s in sentences if s.startswith(DOINGS["AGGREGATE"]))
    assert "over 2 servers" in citus
    assert "through Citus" in citus
    assert "over 4 servers" in aggregate
    assert "takes 2.0x" in aggregate
    assert "postgres_fdw takes 20.0x" in aggregate
    ((operation, ratio, *_),) = noise_table(findings(EXECUTIONS)).rows
    assert operation == "AGGREGATE"
    assert ratio == pytest.approx(1.1)


def test_queries_on_text_are_told_from_those_on_tables() -> None:
    local = case("Q1", "local", content="tables")
    executions = [
        (case("Q1", "foreign", wrapper, 4, content=content), ms, link_counts(8, size))
        for wrapper, content, ms, size in (
            (OURS, "text", 40.0, 4000),
            (OURS, "tables", 30.0, 3000),
            ("postgres_fdw", "text", 400.0, 400_000),
        )
    ]
    shards = findings([(local, 10.0, {}), *executions])
    labels = [(row[0], row[2], row[3]) for row in times_table(shards, LINK).rows]
    assert labels == [
        ("Q1", OURS, 30.0),
        ("Q1 of text", "postgres_fdw", 400.0),
        ("Q1 of text", OURS, 40.0),
    ]
    text = next(s for s in verdicts(shards) if "text files" in s)
    assert "takes 4.0x" in text
    assert "postgres_fdw takes 10.0x" in text
