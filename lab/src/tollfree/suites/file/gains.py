"""The picture of the suite `file`: what both wrappers take beside a regular table."""

from collections.abc import Iterable, Iterator
from typing import Any

from tollfree.report.model import Gain, GainChart, GainRow
from tollfree.suites.file.findings import FORM_WORDS, FileFindings, is_tpch
from tollfree.suites.presentation import gain_row

CANDIDATES = ("file_fdw", "tollfree_file_fdw")
PLAIN: dict[str, Any] = {"engine": "plain", "workers": 0}


def gain_chart(file: FileFindings) -> GainChart:
    """Return the picture: queries in one process."""
    return GainChart(
        "Time of a query on a text file, one process",
        "a regular table",
        CANDIDATES,
        (*_means(file), *_queries(file), *_forms(file)),
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
        gains = _gains(file, query)
        published = file.published.get((query, "plain"))
        yield from gain_row(_label(query), gains, published.ratio if published else None)


def _forms(file: FileFindings) -> Iterator[GainRow]:
    for form in file.forms(**PLAIN):
        for query in file.queries(form=form, **PLAIN):
            label = f"{_label(query)}, {FORM_WORDS.get(form, form)}"
            yield from gain_row(label, _gains(file, query, form), None)


def _gains(file: FileFindings, query: str, form: str | None = None) -> Iterable[Gain | None]:
    cases = (file.case(query, name, "plain", 0, form) for name in CANDIDATES)
    return (file.run.gain(case) if case else None for case in cases)


def _label(query: str) -> str:
    return f"TPC-H {query}" if is_tpch(query) else WHAT.get(query, query)


WHAT = {"COUNT": "count(*) of lineitem", "ANALYZE": "ANALYZE of lineitem"}
