"""The picture of the suite `shards`: what an operation takes on the most servers of a run."""

from collections.abc import Iterator, Mapping

from tollfree.report.model import GainChart, GainRow
from tollfree.suites.presentation import Findings, gain_row
from tollfree.suites.shards.findings import DOINGS, STOCK, ShardsFindings

CANDIDATES = (STOCK, "tollfree_postgres_fdw", "Citus")
CITUS = "Citus"

Place = tuple[str, str, str]
"""Operation, content and link."""


def gain_chart(shards: ShardsFindings) -> GainChart:
    """Return the picture."""
    found, servers = _found(shards)
    most = max(servers.values(), default=0)
    candidates = tuple(x for x in CANDIDATES if any(x in cases for cases in found.values()))
    # Of what has fewer servers than the others the label says how many.
    fewer = {place: f", {n} servers" for place, n in servers.items() if n < most}
    rows = (
        *_operations(shards.run, found, candidates, fewer),
        *_queries(shards.run, found, candidates, fewer),
    )
    links = dict.fromkeys(link for _, _, link in found)
    over = f", over {next(iter(links))}" if len(links) == 1 else ""
    return GainChart(f"Time on {most} servers{over}", "local tables", candidates, rows)


def _found(shards: ShardsFindings) -> tuple[dict[Place, dict[str, str]], dict[Place, int]]:
    """Return the cases that have a ratio by place and candidate, each on the most servers that the
    place has, and how many these are; those of Citus are on the servers that it has."""
    found: dict[Place, dict[str, str]] = {}
    most: dict[Place, int] = {}
    for name in shards.ordered():
        place = _place(shards.dims(name))
        most[place] = max(most.get(place, 0), int(shards.dims(name)["servers"]))
    for name in shards.ordered():
        dims = shards.dims(name)
        place = _place(dims)
        is_drawn = dims["servers"] == most[place] or shards.means(name) == CITUS
        if is_drawn and shards.run.ratio(name):
            found.setdefault(place, {})[shards.means(name)] = name
    return found, most


def _place(dims: Mapping[str, object]) -> Place:
    return (str(dims["operation"]), str(dims["content"]), str(dims["link"]))


def _is_tpch(place: Place) -> bool:
    return place[0].startswith("Q")


def _several(found: dict[Place, dict[str, str]]) -> bool:
    return len({link for _, _, link in found}) > 1


def _operations(
    run: Findings,
    found: dict[Place, dict[str, str]],
    candidates: tuple[str, ...],
    fewer: dict[Place, str],
) -> Iterator[GainRow]:
    for place, cases in found.items():
        if not _is_tpch(place):
            over = (f", {place[2]}" if _several(found) else "") + fewer.get(place, "")
            gains = (run.gain(cases[x]) if x in cases else None for x in candidates)
            yield from gain_row(f"{DOINGS[place[0]]}{over}", gains)


def _queries(
    run: Findings,
    found: dict[Place, dict[str, str]],
    candidates: tuple[str, ...],
    fewer: dict[Place, str],
) -> Iterator[GainRow]:
    """Yield geometric means of TPC-H's queries that all candidates of a place have executed."""
    for content, link in dict.fromkeys(place[1:] for place in found if _is_tpch(place)):
        places = [place for place in found if _is_tpch(place) and place[1:] == (content, link)]
        asked = [found[place] for place in places]
        means = [
            run.mean_gain(cases[candidate] for cases in asked)
            if all(candidate in cases for cases in asked)
            else None
            for candidate in candidates
        ]
        text = " on text files" if content == "text" else ""
        over = (f", {link}" if _several(found) else "") + fewer.get(places[0], "")
        yield from gain_row(f"{len(asked)} TPC-H queries{text}{over}", means)
