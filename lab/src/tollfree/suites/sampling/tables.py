"""The tables of the section `sampling`."""

from tollfree.report.model import Cell, Column, Table
from tollfree.suites.presentation import number, with_interval
from tollfree.suites.sampling.crossovers import analyze_crossover_table, crossover_table
from tollfree.suites.sampling.findings import (
    CITED_TARGET,
    DIRECT,
    EVERY_ROW,
    METHODS,
    SCATTERED_SHARE,
    Road,
    SamplingFindings,
)

QUALITY = {
    "distinct_uniform": "distinct, uniform",
    "distinct_skewed": "distinct, skewed",
    "distinct_clustered": "distinct, clustered",
    "frequency_error": "frequencies",
    "histogram_error": "histogram",
    "correlation_error": "correlation",
}
"""The figures of quality, and what they are called."""


def all_tables(sampling: SamplingFindings) -> tuple[Table, ...]:
    """Return the tables that have rows."""
    tables = (
        sample_table(sampling),
        crossover_table(sampling),
        cost_table(sampling),
        analyze_table(sampling),
        analyze_crossover_table(sampling),
        quality_table(sampling),
        scatter_table(sampling),
    )
    return tuple(table for table in tables if table.rows)


def sample_table(sampling: SamplingFindings) -> Table:
    """Return the duration of every sample, methods side by side."""
    rows: list[tuple[Cell, ...]] = []
    for table in sampling.tables():
        for road in sampling.roads(test="sample", table=table):
            place = {"test": "sample", "table": table, "wrapper": road.name, "link": road.link}
            percents = {sampling.dims(name)["percent"] for name in sampling.run.find(**place)}
            for percent in sorted(percents):
                cells = []
                for method in METHODS:
                    at = 100 if method == "full" else percent
                    name = sampling.the_case(**place, method=method, percent=at)
                    cells.append(sampling.ms(name) if name else None)
                rows.append((table, road.label, percent, *cells))
    return Table(
        "Duration of a sample",
        (
            *(Column("Table"), Column("Road"), number("sampled", "%")),
            *(number(method, "ms", 1) for method in METHODS),
        ),
        tuple(rows),
        ("`full` reads and delivers everything, whatever the fraction.",),
    )


def cost_table(sampling: SamplingFindings) -> Table:
    """Return what a row costs, beside the published figures."""
    rows: list[tuple[Cell, ...]] = []
    for table in sampling.tables():
        for road in sampling.roads(test="sample", table=table):
            for method in EVERY_ROW:
                cost = sampling.cost(table, road, method)
                if cost is not None:
                    rows.append(
                        (
                            *(table, road.label, method),
                            *with_interval(cost.sample_us),
                            sampling.published.get("sample"),
                            *with_interval(cost.send_us),
                            sampling.published.get(f"send:{road.link}"),
                            cost.cases,
                        )
                    )
    return Table(
        "What a row costs",
        (
            *(Column("Table"), Column("Road"), Column("Method")),
            *(number("read and sampled", "µs", 3), number("low", "µs", 3)),
            *(number("high", "µs", 3), number("published", "µs", 2)),
            *(number("delivered", "µs", 3), number("low", "µs", 3)),
            *(number("high", "µs", 3), number("published", "µs", 2)),
            number("cases", decimals=0),
        ),
        tuple(rows),
        (
            "By least squares over the fractions of one table: what a duration grows by with each "
            "row delivered, and the rest for each row of the table; every execution is a point. "
            "Intervals are the 95% bootstrap's of the residuals. The published figures are "
            "estimates in words, of rows of the same width on other hardware.",
        ),
    )


def analyze_table(sampling: SamplingFindings) -> Table:
    """Return how long ANALYZE takes, against the local table and the stock wrapper."""
    rows: list[tuple[Cell, ...]] = []
    for name in sampling.ordered(test="analyze"):
        dims = sampling.dims(name)
        duration = sampling.ms(name)
        if duration is None or dims["method"] == "local_again":
            continue
        local = sampling.run.ratio(name)
        stock = sampling.against_stock(name)
        rows.append(
            (
                *(str(dims["table"]), int(dims["statistics_target"])),
                *(Road(str(dims["wrapper"]), str(dims["link"])).label, str(dims["method"])),
                duration,
                *with_interval(local),
                stock.median if stock else None,
            )
        )
    return Table(
        "Duration of ANALYZE",
        (
            *(Column("Table"), number("statistics target", decimals=0)),
            *(Column("Road"), Column("Method"), number("duration", "ms", 1)),
            *(number("ratio to local", "x", 2), number("low", "x", 2), number("high", "x", 2)),
            number("ratio to stock", "x", 3),
        ),
        tuple(rows),
        (
            "To stock: to `postgres_fdw` by the same method, or by its default where it has no "
            "such method; before PostgreSQL 16 it has none, and reads everything. Of a file, to "
            "`file_fdw`, which always reads everything.",
        ),
    )


def quality_table(sampling: SamplingFindings) -> Table:
    """Return how far the collected statistics are from the truth."""
    rows: list[tuple[Cell, ...]] = []
    for name in sampling.ordered(test="analyze", statistics_target=CITED_TARGET):
        dims = sampling.dims(name)
        if sampling.ms(name) is None or dims["method"] == "local_again":
            continue
        rows.append(
            (
                str(dims["table"]),
                Road(str(dims["wrapper"]), str(dims["link"])).label,
                str(dims["method"]),
                *(sampling.run.middle(name, figure) for figure in QUALITY),
            )
        )
    return Table(
        f"Quality of the statistics, statistics target {CITED_TARGET}",
        (
            *(Column("Table"), Column("Road"), Column("Method")),
            *(number(QUALITY[f"distinct_{x}"], "x", 2) for x in ("uniform", "skewed", "clustered")),
            *(number("frequencies", "", 3), number("histogram", "", 4)),
            number("correlation", "", 4),
        ),
        tuple(rows),
        (
            "Distinct values: estimated to real ones, 1 being right. Frequencies: mean relative "
            "error of the ten most common values. Histogram: how far a bound is from its "
            "quantile, at most. Correlation: the largest error.",
        ),
    )


def scatter_table(sampling: SamplingFindings) -> Table:
    """Return in which figures a method's typical statistics are not what local ANALYZE's may be."""
    rows: list[tuple[Cell, ...]] = []
    for name in sampling.ordered(test="analyze"):
        dims = sampling.dims(name)
        ranges = {
            figure: between for figure in QUALITY if (between := sampling.local_range(name, figure))
        }
        if dims["wrapper"] == DIRECT or sampling.ms(name) is None or not ranges:
            continue
        differing = [
            f"{QUALITY[figure]} {found:.3g} (locally {low:.3g} to {high:.3g})"
            for figure, (low, high) in ranges.items()
            if (found := sampling.run.middle(name, figure)) is not None and not low <= found <= high
        ]
        rows.append(
            (
                *(str(dims["table"]), int(dims["statistics_target"])),
                *(Road(str(dims["wrapper"]), str(dims["link"])).label, str(dims["method"])),
                *(len(sampling.run.values(name)), "; ".join(differing) or "nothing"),
            )
        )
    return Table(
        "Quality beside the scatter of local ANALYZE",
        (
            *(Column("Table"), number("statistics target", decimals=0)),
            *(Column("Road"), Column("Method"), number("rounds", decimals=0)),
            Column("differs in"),
        ),
        tuple(rows),
        (
            "Every ANALYZE draws another sample. A median over the rounds differs where it is "
            f"outside the middle {SCATTERED_SHARE:.0%} of single runs of ANALYZE on the local "
            "table.",
        ),
    )
