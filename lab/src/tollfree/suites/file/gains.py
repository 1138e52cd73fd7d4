"""The picture of the suite `file`: what both wrappers take beside a regular table."""

from collections.abc import Iterator

from tollfree.report.model import GainChart, GainRow
from tollfree.suites.file.findings import FileFindings, is_tpch
from tollfree.suites.presentation import gain_row

CANDIDATES = ("file_fdw", "tollfree_file_fdw")
PLAIN = {"engine": "plain", "workers": 0}


def gain_chart(file: FileFindings) -> GainChart:
    """Return the picture: queries in one process."""
    return GainChart(
        "Time of a query on a text file, one process",
        "a regular table",
        CANDIDATES,
        (*_means(file), *_queries(file)),
        "published for file_fdw 9.1",
    )


def _means(file: FileFindings) -> Iterator[GainRow]:
    """Yield the geometric mean of the queries that both have executed."""
    cases = [file.tpch_cases(name, "plain", 0) for name in CANDIDATES]
    common = set.intersection(*map(set, cases))
    if len(common) > 1:
        gains = [file.run.mean_gain(by_query[query] for query in common) for by_query in cases]
        published = all((query, "plain") in file.published for query in common)
        reference = file.published_mean("plain", common) if published else None
        yield from gain_row(f"{len(common)} TPC-H queries, geometric mean", gains, reference)


def _queries(file: FileFindings) -> Iterator[GainRow]:
    for query in file.queries(**PLAIN):
        cases = (file.case(query, name, "plain", 0) for name in CANDIDATES)
        gains = (file.run.gain(case) if case else None for case in cases)
        published = file.published.get((query, "plain"))
        label = f"TPC-H {query}" if is_tpch(query) else WHAT.get(query, query)
        yield from gain_row(label, gains, published.ratio if published else None)


WHAT = {"COUNT": "count(*) of lineitem", "ANALYZE": "ANALYZE of lineitem"}
