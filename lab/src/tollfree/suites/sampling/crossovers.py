"""Where a method begins to win or lose: samples against reading everything, by share; ANALYZE
through a wrapper against the local table, by table and statistics target.

Only what is told apart from noise counts, so between the last share at which a method wins and the
first at which it loses there may be some at which neither is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tollfree import stats
from tollfree.report.model import Cell, Column, Table
from tollfree.suites.presentation import number
from tollfree.suites.sampling.findings import DIRECT, METHODS, Road, SamplingFindings

SAMPLING = tuple(method for method in METHODS if method != "full")
RIVALS = (*((method, "full") for method in SAMPLING), ("system", "bernoulli"))
"""Who is compared with whom."""
LARGEST_NAMED = 3
"""Comparisons in a sentence."""
ROWS_OF_TARGET = 300
"""Rows that ANALYZE samples for each unit of the statistics target."""
CLAIMED_SHARE = 0.01
"""Of a table: from there on, it was published, methods that read every row beat local ANALYZE."""


@dataclass(frozen=True)
class Crossover:
    """At which shares of a table a method takes less time than another, and at which more."""

    table: str
    road: Road
    method: str
    other: str
    wins_to: float | None
    """The largest share up to which the method wins at every share measured; None if at none."""
    loses_from: float | None
    """The smallest share from which on it loses at every share measured; None if at none."""
    shares: int


def crossovers(sampling: SamplingFindings) -> list[Crossover]:
    """Return what can be said of each table and road, rivals in their order."""
    found = (
        _crossover(sampling, table, road, *rivals)
        for table in sampling.tables()
        for road in sampling.roads(test="sample", table=table)
        for rivals in RIVALS
    )
    return [crossover for crossover in found if crossover]


def _crossover(
    sampling: SamplingFindings, table: str, road: Road, method: str, other: str
) -> Crossover | None:
    place = {"test": "sample", "table": table, "wrapper": road.name, "link": road.link}
    told: list[tuple[float, int]] = []
    for name in sampling.ordered(**place, method=method):
        share = sampling.dims(name)["percent"]
        rival = sampling.the_case(
            **place, method=other, **({} if other == "full" else {"percent": share})
        )
        ratio = sampling.run.ratio(name, rival) if rival else None
        if ratio:
            told.append((float(share), _direction(sampling, ratio)))
    if not told:
        return None
    wins = _leading(told, -1)
    loses = _leading(list(reversed(told)), 1)
    return Crossover(
        *(table, road, method, other),
        wins_to=wins[-1] if wins else None,
        loses_from=loses[-1] if loses else None,
        shares=len(told),
    )


def _direction(sampling: SamplingFindings, ratio: stats.Estimate) -> int:
    """Return -1 for less time, 1 for more, 0 where noise explains it."""
    if not stats.told_apart(ratio, sampling.run.noise):
        return 0
    return 1 if ratio.median > 1 else -1


def _leading(told: list[tuple[float, int]], direction: int) -> list[float]:
    """Return the shares that begin the list and have that direction."""
    shares = []
    for share, said in told:
        if said != direction:
            break
        shares.append(share)
    return shares


def crossover_table(sampling: SamplingFindings) -> Table:
    """Return where each method begins to lose, beside what was published."""
    rows: list[tuple[Cell, ...]] = []
    for found in crossovers(sampling):
        is_published = found.road.name == DIRECT and found.other == "full"
        rows.append(
            (
                *(found.table, found.road.label, found.method),
                "everything" if found.other == "full" else found.other,
                *(found.wins_to, found.loses_from),
                sampling.published.get(f"loses:{found.method}") if is_published else None,
                found.shares,
            )
        )
    return Table(
        "Where a sample begins to take longer",
        (
            *(Column("Table"), Column("Road"), Column("Method"), Column("against")),
            *(number("less time up to", "%"), number("more time from", "%")),
            *(number("published, more from", "%"), number("shares", decimals=0)),
        ),
        tuple(rows),
        (
            "A share counts if the difference is told apart from noise at it and at every smaller "
            "(larger) one that was measured. The published shares are estimates in words, of "
            "reading in the instance itself; 0 is every share.",
        ),
    )


def crossover_verdicts(sampling: SamplingFindings) -> Iterator[str]:
    """Yield, for each table, from which share on a sample in the instance itself is no gain."""
    found = [x for x in crossovers(sampling) if x.road.name == DIRECT and x.other == "full"]
    for table in sampling.tables():
        said = [_crossover_words(sampling, x) for x in found if x.table == table]
        if said:
            yield (
                f"In the table of {table} rows itself, against reading everything: "
                f"{'; '.join(said)}."
            )


def _crossover_words(sampling: SamplingFindings, found: Crossover) -> str:
    less = f"less time up to {found.wins_to:g}%" if found.wins_to is not None else ""
    more = f"more from {found.loses_from:g}% on" if found.loses_from is not None else ""
    words = ", ".join(filter(None, (less, more))) or "no difference is told at either end"
    published = sampling.published.get(f"loses:{found.method}")
    if published is None:
        return f"{found.method} {words}"
    beside = f"more from about {published:g}% on" if published else "always more"
    return f"{found.method} {words} (published: {beside})"


def analyze_verdict(sampling: SamplingFindings, road: Road) -> str | None:
    """Return whether ANALYZE by every method of sampling beats that of the local table, which was
    published of ten million rows: `system` always, the others from CLAIMED_SHARE on. Of the largest
    table, at every statistics target; smaller samples by the others are told beside it."""
    table = sampling.tables()[-1]
    place = {"test": "analyze", "table": table, "wrapper": road.name, "link": road.link}
    ratios = {
        name: ratio
        for method in SAMPLING
        for name in sampling.ordered(**place, method=method)
        if (ratio := sampling.run.ratio(name))
    }
    claimed = {x: ratio for x, ratio in ratios.items() if _is_claimed(sampling.dims(x))}
    others = {x: ratio for x, ratio in ratios.items() if x not in claimed}
    sentences = []
    if claimed:
        missing = set(SAMPLING) - {str(sampling.dims(name)["method"]) for name in claimed}
        sentences.append(
            f"That ANALYZE by every method of sampling beats that of the local table of {table} "
            f"rows, random and bernoulli from samples of {CLAIMED_SHARE:.0%} on (published of 10m "
            f"rows), {_outcome(sampling, road, claimed, missing)}."
        )
    if others:
        slower, faster, _ = _sorted(sampling, others)
        sentences.append(
            f"Of the {len(others)} by smaller samples of these two through {road.label}, "
            f"{len(slower)} take longer than locally{_named(sampling, slower, others)} and "
            f"{faster} less time."
        )
    return " ".join(sentences) or None


def _is_claimed(dims: dict[str, Any]) -> bool:
    sampled = ROWS_OF_TARGET * int(dims["statistics_target"]) / int(dims["rows"])
    return dims["method"] == "system" or sampled >= CLAIMED_SHARE


def _outcome(
    sampling: SamplingFindings,
    road: Road,
    ratios: dict[str, stats.Estimate],
    missing: set[str],
) -> str:
    slower, faster, untold = _sorted(sampling, ratios)
    if slower:
        verb, beside = "does not hold", f", {len(slower)} longer{_named(sampling, slower, ratios)}"
    else:
        verb, beside = ("is not shown" if untold or missing else "holds"), ""
    rest = f"; in {untold} no difference is told" if untold else ""
    absent = f"; none by {' and '.join(sorted(missing))}" if missing else ""
    return (
        f"{verb} through {road.label}: {faster} of {len(ratios)} take less time"
        f"{beside}{rest}{absent}"
    )


def _sorted(
    sampling: SamplingFindings, ratios: dict[str, stats.Estimate]
) -> tuple[list[str], int, int]:
    """Return the cases that take longer, the worst first, and how many take less time, and how
    many neither."""
    told = {name: _direction(sampling, ratio) for name, ratio in ratios.items()}
    slower = sorted((x for x in ratios if told[x] > 0), key=lambda x: -ratios[x].median)
    return slower, sum(x < 0 for x in told.values()), sum(x == 0 for x in told.values())


def _named(sampling: SamplingFindings, names: list[str], ratios: dict[str, stats.Estimate]) -> str:
    """Return the worst cases in parentheses."""
    words = (
        f"{sampling.dims(name)['method']} at target {sampling.dims(name)['statistics_target']} "
        f"{ratios[name].median:.1f}x as long"
        for name in names[:LARGEST_NAMED]
    )
    return f" ({', '.join(words)})" if names else ""


def analyze_crossover_table(sampling: SamplingFindings) -> Table:
    """Return of which tables ANALYZE through a wrapper takes less time than of the local one."""
    rows: list[tuple[Cell, ...]] = []
    for road in sampling.roads(test="analyze"):
        place = {"test": "analyze", "wrapper": road.name, "link": road.link}
        names = sampling.ordered(**place) if road.name != DIRECT else []
        keys = dict.fromkeys(
            (str(d["method"]), int(d["statistics_target"])) for d in map(sampling.dims, names)
        )
        for method, target in keys:
            told: dict[int, list[str]] = {-1: [], 0: [], 1: []}
            for name in sampling.ordered(**place, method=method, statistics_target=target):
                ratio = sampling.run.ratio(name)
                if ratio:
                    told[_direction(sampling, ratio)].append(str(sampling.dims(name)["table"]))
            if any(told.values()):
                rows.append((road.label, method, target, *(", ".join(told[x]) for x in (-1, 0, 1))))
    return Table(
        "Which tables' ANALYZE beats the local one",
        (
            *(Column("Road"), Column("Method"), number("statistics target", decimals=0)),
            *(Column("less time"), Column("not told apart"), Column("more time")),
        ),
        tuple(rows),
        (
            "The published experiment found that ANALYZE of 10m rows takes less time than locally "
            "by `system`, and by `random` and `bernoulli` from samples of 1% of the rows on.",
        ),
    )
