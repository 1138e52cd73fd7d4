"""Where the roof for concurrent sessions is: part `sessions` of suite `fdw`."""

from test_presentation import findings_of, run_of

from tollfree.report.model import LineChart, RatioChart
from tollfree.suites.fdw.charts import charts
from tollfree.suites.fdw.findings import FdwFindings
from tollfree.suites.fdw.sessions import curves, sessions_table, sessions_verdicts

LOCAL = {1: 1000.0, 2: 1900.0, 4: 2500.0, 8: 2600.0}


def measured(foreign: dict[int, float]) -> FdwFindings:
    """Return a run of lookups by so many clients, locally and through the wrapper."""
    values: dict[str, list[float | None]] = {}
    for road, throughput in (("local:none:lcl:ipc", LOCAL), ("FDW_external:ours:lcl:tcp", foreign)):
        for clients, tps in throughput.items():
            values[f"RO:{road}:simple:rr:c{clients}:tps"] = [tps] * 3
    return FdwFindings(findings_of(values, run_of(host={"cores": 2})), {})


def test_the_roof_is_the_fewest_clients_near_the_highest_throughput() -> None:
    fdw = measured({1: 100, 2: 190, 4: 185, 8: 200})
    local, foreign = curves(fdw)
    assert (local.roof.clients, foreign.roof.clients) == (4, 2)
    assert foreign.is_reached
    (sentence,) = sessions_verdicts(fdw)
    assert "through ours reach their roof at 2 concurrent sessions on 2 processors" in sentence
    assert "190 transactions per second, 1.9x what 1 client gets" in sentence
    assert "the local table gives 2,500 at 4 concurrent sessions" in sentence
    assert "With 8 each lookup takes 5.00 ms, 5.26 at the roof" in sentence
    assert [row[-1] for row in sessions_table(fdw).rows] == [
        *["", "", "roof", ""],
        *["", "roof", "", ""],
    ]


def test_throughput_that_grows_to_the_last_has_no_roof() -> None:
    (sentence,) = sessions_verdicts(measured({1: 100, 2: 200, 4: 400, 8: 800}))
    assert "have no roof up to 8 concurrent sessions on 2 processors" in sentence
    assert "8.0x what 1 client gets" in sentence


def test_two_numbers_of_clients_are_no_curve() -> None:
    fdw = measured({1: 100, 5: 200})
    assert [curve.label for curve in curves(fdw)] == ["local table"]
    assert sessions_verdicts(fdw) == []


def test_the_plots_have_every_number_of_clients_and_the_others_the_published_ones() -> None:
    drawn = {chart.caption: chart for chart in charts(measured({1: 100, 2: 190, 4: 195, 8: 200}))}
    throughput = drawn["Throughput of lookups by concurrent sessions"]
    ratios = drawn["How many times slower than the local table"]
    assert isinstance(throughput, LineChart)
    assert isinstance(ratios, RatioChart)
    assert [len(series.points) for series in throughput.series] == [4, 4]
    assert [tick.label for tick in throughput.x.ticks] == ["1", "2", "4", "8"]
    assert len(ratios.rows) == 1
    assert "Mean latency of lookups by concurrent sessions" in drawn
