"""The sentences that the section `sampling` begins with."""

from tollfree import stats
from tollfree.suites.presentation import noise_sentence, ratio_words
from tollfree.suites.sampling.crossovers import analyze_verdict, crossover_verdicts
from tollfree.suites.sampling.findings import (
    CITED_TARGET,
    DIRECT,
    EVERY_ROW,
    Road,
    SamplingFindings,
)

FEW = 0.5
"""A share of the distinct values that misleads the planner."""


def verdicts(sampling: SamplingFindings) -> tuple[str, ...]:
    """Return sentences that a person can act on."""
    sentences: list[str] = []
    for road in sampling.roads(test="sample"):
        if road.name != DIRECT:
            sentences += filter(None, (_finding(sampling, road), _cost(sampling, road)))
    sentences += crossover_verdicts(sampling)
    for road in sampling.roads(test="analyze"):
        if road.name != DIRECT:
            sentences += filter(None, (analyze_verdict(sampling, road),))
            sentences += _analyze(sampling, road)
    sentences += filter(None, (_too_few_distinct(sampling),))
    noise = sampling.run.noise
    if noise:
        sentences.append(noise_sentence(noise, "ANALYZE of the local table"))
    return tuple(sentences)


def _finding(sampling: SamplingFindings, road: Road) -> str | None:
    """Return whether sampling remotely beats transferring everything, as the experiment found."""
    slower, untold, compared = [], 0, 0
    for name in sampling.ordered(test="sample", wrapper=road.name, link=road.link):
        dims = sampling.dims(name)
        ratio = sampling.against_full(name) if dims["method"] != "full" else None
        if ratio is not None and dims["percent"] < 100:
            compared += 1
            if not stats.told_apart(ratio, sampling.run.noise):
                untold += 1
            elif ratio.median > 1:
                slower.append(f"{dims['method']} at {dims['percent']}% of {dims['table']} rows")
    if not compared:
        return None
    rest = f" In {untold} no difference is told." if untold else ""
    if slower:
        return (
            f"Through {road.label}, {len(slower)} of {compared} samples took longer than "
            f"transferring everything: {', '.join(slower)}.{rest}"
        )
    how_many = f"{compared - untold} of {compared} cases" if untold else f"all of {compared} cases"
    published = "" if untold else ", as published"
    return (
        f"Through {road.label}, sampling on the remote side took less time than transferring "
        f"everything in {how_many} below 100%{published}.{rest}"
    )


def _cost(sampling: SamplingFindings, road: Road) -> str | None:
    table = sampling.tables()[-1]
    costs = [cost for method in EVERY_ROW if (cost := sampling.cost(table, road, method))]
    if not costs:
        return None
    sample = sum(cost.sample_us.median for cost in costs) / len(costs)
    send = sum(cost.send_us.median for cost in costs) / len(costs)
    published = sampling.published.get(f"send:{road.link}")
    beside = (
        f" (published: {sampling.published['sample']:g} and {published:g} µs)" if published else ""
    )
    return (
        f"In the table of {table} rows a row costs {sample:.2f} µs to read and sample, and "
        f"{send:.2f} µs to deliver through {road.label}{beside}."
    )


def _too_few_distinct(sampling: SamplingFindings) -> str | None:
    """Return which ways of ANALYZE are misled by neighbouring rows that are alike."""
    found = []
    for name in sampling.ordered(test="analyze", statistics_target=CITED_TARGET):
        dims, share = sampling.dims(name), sampling.run.middle(name, "distinct_clustered")
        is_largest = dims["table"] == sampling.tables()[-1]
        if is_largest and share is not None and share < FEW and dims["method"] != "local_again":
            road = Road(str(dims["wrapper"]), str(dims["link"]))
            found.append(f"{road.label} by {dims['method']} ({share:.2f}x)")
    if not found:
        return None
    return (
        f"In the table of {sampling.tables()[-1]} rows, where neighbouring rows share a value, "
        "fewer than half of the distinct values are found by ANALYZE through "
        f"{', '.join(found)}."
    )


def _analyze(sampling: SamplingFindings, road: Road) -> list[str]:
    """Return how ANALYZE of the largest table compares, method by method."""
    place = {"test": "analyze", "wrapper": road.name, "link": road.link}
    sentences = []
    for name in sampling.ordered(
        **place, table=sampling.tables()[-1], statistics_target=CITED_TARGET
    ):
        ratio, dims = sampling.run.ratio(name), sampling.dims(name)
        if ratio is None or dims["method"] not in ("auto", "system", "off", "import"):
            continue
        words = ratio_words(ratio, told_apart=sampling.run.told_apart(name))
        beside = ""
        if stock := sampling.against_stock(name):
            is_told = stats.told_apart(stock, sampling.run.noise)
            times = ratio_words(stock, told_apart=is_told)
            beside = f", {times} as long as through {road.stock}"
        sentences.append(
            f"ANALYZE of {dims['table']} rows through {road.label} by the method {dims['method']} "
            f"takes {words} as long as locally{beside}."
        )
    return sentences
