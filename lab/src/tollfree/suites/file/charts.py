"""The plots of the section `file`: ratios and raw samples."""

from tollfree.report.model import Better, Chart, RatioChart, RatioRow, SampleChart, SampleRow
from tollfree.suites.file.findings import (
    AGAIN,
    HEAP,
    KEPT,
    SETTINGS,
    FileFindings,
    is_published,
    setting,
)
from tollfree.suites.presentation import shown

SAMPLED = ("Q1", "Q6")


def charts(file: FileFindings) -> tuple[Chart, ...]:
    """Return the ratio bars and the raw samples that have rows."""
    possible: list[RatioChart | SampleChart] = [
        *(_ratio_chart(file, *each) for each in SETTINGS),
        _kept_chart(file),
        *(_sample_chart(file, query) for query in SAMPLED),
    ]
    return tuple(chart for chart in possible if chart.rows)


def _ratio_chart(file: FileFindings, engine: str, workers: int) -> RatioChart:
    rows = []
    for query in file.queries(engine=engine, workers=workers):
        for target in file.candidates():
            names = file.run.find(
                query=query, target=target, engine=engine, workers=workers, form=None
            )
            if not names:
                continue
            case = file.case(query, target, engine, workers)
            published = file.published.get((query, engine))
            rows.append(
                RatioRow(
                    f"{query} {target}",
                    shown(file.ratio(case)),
                    file.run.told_apart(names[0]) if case else True,
                    published.ratio if published and is_published(engine, workers) else None,
                    "no figure of its baseline" if case else "no figure",
                )
            )
    return RatioChart(
        f"How many times slower than the heap table, {setting(engine, workers)}",
        "time of a query",
        "the regular table",
        Better.LOWER,
        tuple(rows),
    )


def _kept_chart(file: FileFindings) -> RatioChart:
    rows = []
    for query in file.queries(engine="plain", workers=0):
        for target, label in KEPT.items():
            case = file.case(query, target, "plain", 0)
            if case:
                ratio, is_told = file.ratio(case), file.run.told_apart(case)
                rows.append(RatioRow(f"{query} {label}", shown(ratio), is_told, None, "no figure"))
    return RatioChart(
        "Text of which an index and columns are kept, one process",
        "time of a query",
        "the regular table",
        Better.LOWER,
        tuple(rows),
    )


def _sample_chart(file: FileFindings, query: str) -> SampleChart:
    targets = (HEAP, AGAIN, *file.candidates())
    cases = [(target, file.case(query, target, "plain", 0)) for target in targets]
    return SampleChart(
        f"Every execution of {query}, one process",
        "wall-clock time",
        "ms",
        Better.LOWER,
        tuple(
            SampleRow(target, tuple(file.run.values(case)), shown(file.run.median(case)))
            for target, case in cases
            if case
        ),
    )
