"""A report made for the tests: every measured figure is invented, and the title says so.

The published figures beside them are real: throughput of PostgreSQL 9.6.2, one client. A
published ratio is the quotient of two published means.
"""

import random
from datetime import UTC, datetime

from tollfree.report.model import (
    AxisTitle,
    Better,
    CaseRow,
    CaseState,
    CaseTable,
    Cell,
    Column,
    Estimate,
    Gain,
    GainChart,
    GainRow,
    Kind,
    LineChart,
    Point,
    RatioChart,
    RatioRow,
    Report,
    Run,
    RunState,
    SampleChart,
    SampleRow,
    Samples,
    Series,
    SuiteSection,
    Table,
    Tick,
)

TARGETS = ("local", "FDW_local", "FDW_external", "FDW_ext_ro")
PUBLISHED_TPS = {
    "RO.local": (11670.959, 10981.858, 11475.249),
    "RO.FDW_local": (1570.985, 1310.034, 1476.397),
    "RO.FDW_external": (1596.900, 1413.704, 1519.091),
    "RO.FDW_ext_ro": (1637.314, 1402.255, 1507.400),
    "RW.local": (240.8039, 205.6248, 219.2062),
    "RW.FDW_local": (145.5167, 125.2096, 133.1675),
    "RW.FDW_external": (136.4827, 110.6894, 124.5781),
}
INVENTED_TPS = {"RO": 14200.0, "RW": 610.0}
INVENTED_TOLL = {"RO": 6.9, "RW": 2.6}
FAILED = "RO:FDW_ext_ro:c5:prepared"
SKIPPED = "RW:FDW_ext_ro:c1:simple"


def demo_report(state: RunState = RunState.INTERRUPTED) -> Report:
    return Report(
        title="Invented figures for the tests of the report",
        generated_at=datetime(2020, 2, 3, 4, 5, tzinfo=UTC),
        tollfree_version="0.0-test",
        suites=(demo_suite(state),),
    )


def demo_suite(state: RunState = RunState.INTERRUPTED) -> SuiteSection:
    cases = demo_cases()
    return SuiteSection(
        name="fdw",
        title="postgres_fdw beside a local table",
        intro="pgbench runs its own transactions against a local table and, through "
        "`postgres_fdw`, against foreign tables on the same machine.",
        run=demo_run(state, cases),
        verdicts=(
            "Read-only lookups through `postgres_fdw` take 6.9x as long as on a local table: "
            "do not put a foreign table behind a primary-key lookup on a hot path.",
            "Writes take 2.6x as long. `updatable 'false'` changes nothing that this run can tell "
            "from noise: leave it for safety, not for speed.",
        ),
        tables=(demo_table(),),
        charts=demo_charts(cases),
        cases=cases,
        samples=Samples(
            ("testcase", "round", "tps"),
            tuple(
                (row.testcase, number, tps)
                for row in cases.rows
                if row.state is CaseState.OK
                for number, tps in enumerate(samples_of(row), start=1)
            ),
        ),
        gains=GainChart(
            "Invented gains",
            "the local table",
            ("postgres_fdw", "tollfree_postgres_fdw"),
            (
                GainRow("Lookup", (Gain(Estimate(6.9)), Gain(Estimate(1.9))), 7.6),
                GainRow("Write", (Gain(Estimate(2.6)), Gain(Estimate(1.02), told_apart=False))),
            ),
        ),
    )


def demo_run(state: RunState, cases: CaseTable) -> Run:
    planned = len(cases.rows)
    return Run(
        id="2020-02-03T04-05-06Z-fdw",
        state=state,
        executions_done=planned if state is RunState.COMPLETE else planned - 2,
        executions_planned=planned,
        command="tollfree run fdw --quick --rounds 10",
        method="Ten rounds in an order drawn anew for each round. Ratios are taken inside a round; "
        "intervals are 95% bootstrap intervals of the median.",
        durability="durable: fsync=on, synchronous_commit=on",
        fingerprint={
            "CPU": "Invented CPU <2 cores> & friends",
            "Memory": "4 GB",
            "Kernel": "Linux 6.1.0",
            "PostgreSQL": "15.14 (Debian 15.14-0+deb12u1)",
            "File system": "ext4 on /dev/vda1, data=ordered",
            "Governor": "not readable",
        },
        settings={
            "source": {"max_connections": "50", "shared_buffers": "512MB"},
            "external": {"max_connections": "50"},
            "lab": {},
        },
        size="quick, scale 10, seconds 1",
    )


def demo_cases() -> CaseTable:
    rows = tuple(
        demo_case(bench, target, clients, protocol)
        for bench in ("RO", "RW")
        for target in TARGETS
        for clients in ("1", "5")
        for protocol in ("simple", "prepared")
    )
    flights = Column("Flights per transaction", Kind.NUMBER, decimals=1)
    return CaseTable(
        quantity="throughput of pgbench, connecting included",
        baseline="the local table",
        better=Better.HIGHER,
        dimensions=("Type", "Target", "Clients", "Protocol"),
        rows=rows,
        extra=(flights, Column("p99", Kind.NUMBER, "ms")),
    )


def demo_case(bench: str, target: str, clients: str, protocol: str) -> CaseRow:
    testcase = f"{bench}:{target}:c{clients}:{protocol}"
    dimensions = {"Type": bench, "Target": target, "Clients": clients, "Protocol": protocol}
    if testcase == FAILED:
        reason = "pgbench exited with 1: could not connect to server <external>"
        return CaseRow(testcase, dimensions, CaseState.FAILED, "TPS", reason)
    if bench == "RW" and target == "FDW_ext_ro":
        reason = "the foreign tables of external_ro are not updatable"
        return CaseRow(testcase, dimensions, CaseState.SKIPPED, "TPS", reason)
    toll = 1.0 if target == "local" else INVENTED_TOLL[bench]
    tps = INVENTED_TPS[bench] * (2.4 if clients == "5" else 1.0) / toll
    tps *= 1.12 if protocol == "prepared" else 1.0
    extra: dict[str, Cell] = {
        "Flights per transaction": 1.0 if target == "local" else 5.0,
        "p99": 1900 / tps,
    }
    return CaseRow(
        testcase=testcase,
        dimensions=dimensions,
        state=CaseState.OK,
        unit="TPS",
        n=10,
        median=Estimate(tps, tps * 0.985, tps * 1.012),
        ratio=Estimate(1 / toll, 0.98 / toll, 1.02 / toll),
        told_apart=target != "local",
        extra=extra,
    )


def samples_of(row: CaseRow) -> tuple[float, ...]:
    if row.median is None:
        return ()
    noise = random.Random(row.testcase)
    return tuple(
        round(noise.gauss(row.median.value, row.median.value * 0.02), 3) for _ in range(10)
    )


def demo_table() -> Table:
    columns = (
        Column("Bench"),
        Column("Type"),
        Column("Target"),
        *(Column(label, Kind.NUMBER, "TPS", 2) for label in ("Max", "Min", "Mean")),
        *(Column(f"9.6.2 {label}", Kind.NUMBER, "TPS", 2) for label in ("Max", "Min", "Mean")),
    )
    rows = []
    for bench, published in PUBLISHED_TPS.items():
        kind, target = bench.split(".")
        tps = INVENTED_TPS[kind] / (1 if target == "local" else INVENTED_TOLL[kind])
        rows.append((bench, kind, target, tps * 1.04, tps * 0.95, tps, *published))
    return Table(
        caption="Throughput by bench, beside the published experiment",
        columns=columns,
        rows=tuple(rows),
        notes=("Published: PostgreSQL 9.6.2, scale 100, ten runs of ten seconds, one client.",),
    )


def demo_charts(cases: CaseTable) -> tuple[RatioChart, SampleChart, LineChart]:
    published = {
        f"{kind}:{target}:c1:simple": PUBLISHED_TPS[f"{kind}.local"][2] / mean
        for bench, (_, _, mean) in PUBLISHED_TPS.items()
        for kind, target in [bench.split(".")]
        if target != "local"
    }
    shown = [row for row in cases.rows if row.testcase.endswith("simple")]
    return (
        RatioChart(
            caption="What a transaction costs through `postgres_fdw`",
            quantity="time per transaction",
            baseline="the local table",
            better=Better.LOWER,
            rows=tuple(ratio_row(row, published.get(row.testcase)) for row in shown),
            reference_label="published, 9.6.2",
        ),
        SampleChart(
            caption="Every round",
            quantity="throughput",
            unit="TPS",
            better=Better.HIGHER,
            rows=tuple(SampleRow(row.testcase, samples_of(row), row.median) for row in shown),
        ),
        LineChart(
            caption="Latency by percentile, read-only, one client",
            x=AxisTitle(
                "transactions that were at least as fast",
                log=True,
                ticks=tuple(Tick(1 / (1 - p / 100), f"{p:g}%") for p in (50, 90, 99, 99.9)),
            ),
            y=AxisTitle("latency", "ms", log=True),
            series=(latencies("local", 0.07), latencies("FDW_local", 0.49)),
        ),
    )


def ratio_row(row: CaseRow, published: float | None) -> RatioRow:
    if row.ratio is None:
        return RatioRow(row.testcase, None, reference=published, note=row.state)
    toll = 1 / row.ratio.value
    return RatioRow(
        row.testcase, Estimate(toll, toll * 0.97, toll * 1.04), row.told_apart, published
    )


def latencies(label: str, median: float) -> Series:
    growth = {2.0: 1.0, 10.0: 1.3, 100.0: 2.4, 1000.0: 9.0}
    return Series(
        label,
        tuple(
            Point(x, median * factor, median * factor * 0.9, median * factor * (1.05 + x / 2000))
            for x, factor in growth.items()
        ),
    )
