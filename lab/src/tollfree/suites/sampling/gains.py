"""The picture of the suite `sampling`: ANALYZE and samples of the largest table of a run."""

from collections.abc import Iterator

from tollfree.report.model import Gain, GainChart, GainRow
from tollfree.suites.presentation import gain_row
from tollfree.suites.sampling.findings import (
    CITED_TARGET,
    FILE,
    STOCK_DEFAULTS,
    SamplingFindings,
)

WRAPPERS = ("postgres_fdw", "tollfree_postgres_fdw")
FILE_WRAPPERS = ("file_fdw", "tollfree_file_fdw")
ANALYZE_METHODS = {
    "system": "choosing blocks",
    "bernoulli": "choosing rows",
    "off": "reading all rows",
    "import": "importing statistics",
}
SAMPLES = (("full", 100), ("bernoulli", 1), ("bernoulli", 10), ("system", 1), ("system", 10))
LINKS = {
    "lcl:tcp": "",
    "rmt:tcp:100us": ", 0.1 ms away",
    "rmt:tcp:200us": ", 0.2 ms away",
}


def gain_chart(sampling: SamplingFindings) -> GainChart:
    """Return the picture."""
    return GainChart(
        f"Time of ANALYZE and of samples, {sampling.tables()[-1]} rows",
        "the instance itself",
        ("postgres_fdw or file_fdw", "tollfree"),
        (*_analyze(sampling), *_samples(sampling)),
    )


def _analyze(sampling: SamplingFindings) -> Iterator[GainRow]:
    targets = [
        int(sampling.dims(name)["statistics_target"])
        for name in sampling.ordered(test="analyze", table=sampling.tables()[-1])
    ]
    if not targets:
        return
    target = CITED_TARGET if CITED_TARGET in targets else max(targets)
    place = {"test": "analyze", "table": sampling.tables()[-1], "statistics_target": target}

    def gain(wrapper: str, link: str, *methods: str) -> Gain | None:
        names = (sampling.the_case(**place, wrapper=wrapper, link=link, method=x) for x in methods)
        return next((sampling.run.gain(name) for name in names if name), None)

    yield from gain_row(
        "ANALYZE, by default", (gain(wrapper, "lcl:tcp", *STOCK_DEFAULTS) for wrapper in WRAPPERS)
    )
    for method, words in ANALYZE_METHODS.items():
        gains = (gain(wrapper, "lcl:tcp", method) for wrapper in WRAPPERS)
        yield from gain_row(f"ANALYZE, {words}", gains)
    gains = (gain(wrapper, FILE, *STOCK_DEFAULTS) for wrapper in FILE_WRAPPERS)
    yield from gain_row("ANALYZE of a text file", gains)


def _samples(sampling: SamplingFindings) -> Iterator[GainRow]:
    """Yield samples, which are compared with the same sample without a wrapper."""
    table = sampling.tables()[-1]
    for method, percent in SAMPLES:
        place = {"test": "sample", "table": table, "method": method, "percent": percent}
        for link, away in LINKS.items():
            names = (sampling.the_case(**place, link=link, wrapper=x) for x in WRAPPERS)
            gains = (sampling.run.gain(name) if name else None for name in names)
            what = "All rows" if method == "full" else f"{percent}% of the rows, {method}"
            yield from gain_row(f"{what}{away}", gains)
