"""The sentences that the section `fdw` begins with."""

from tollfree.suites.fdw.ablation import ablation_verdicts
from tollfree.suites.fdw.bulk import bulk_verdicts
from tollfree.suites.fdw.findings import SECOND_ARTICLE, FdwFindings, pooled_pair
from tollfree.suites.fdw.sessions import sessions_verdicts
from tollfree.suites.fdw.stops import stops_verdicts
from tollfree.suites.fdw.travels import travels_verdicts
from tollfree.suites.presentation import noise_sentence, ratio_words

STOCK = "postgres_fdw"


def verdicts(fdw: FdwFindings) -> tuple[str, ...]:
    """Return sentences that a person can act on."""
    sentences: list[str] = []
    for wrapper in _wrappers(fdw):
        sentences += filter(None, (_lookup(fdw, wrapper), _writing(fdw, wrapper)))
        sentences += filter(None, (_pooled(fdw, wrapper), _distance(fdw, wrapper)))
    sentences += sessions_verdicts(fdw)
    sentences += bulk_verdicts(fdw)
    sentences += stops_verdicts(fdw)
    sentences += travels_verdicts(fdw)
    sentences += ablation_verdicts(fdw)
    noise = fdw.run.noise
    if noise:
        sentences.append(noise_sentence(noise, "the local table"))
    return tuple(sentences)


def _wrappers(fdw: FdwFindings) -> list[str]:
    found = {str(c.dims["wrapper"]) for c in fdw.run.cases.values()} - {"none"}
    return sorted(found, key=lambda wrapper: (wrapper != STOCK, wrapper))


def _base_case(fdw: FdwFindings, bench: str, wrapper: str) -> str | None:
    names = fdw.base(bench=bench, wrapper=wrapper, target="FDW_external", clients=1)
    return names[0] if names and fdw.run.values(names[0]) else None


def _flights(fdw: FdwFindings, bench: str, wrapper: str) -> tuple[float, float] | None:
    """Return flights per transaction through the wrapper and directly."""
    found = []
    for dims in ({"wrapper": wrapper}, {"target": "direct"}):
        names = fdw.run.find(measure="flights", bench=bench, protocol="simple", **dims)
        middle = fdw.run.middle(names[0], "flights_per_tx") if names else None
        if middle is None:
            return None
        found.append(middle)
    return found[0], found[1]


def _round_trips(number: float) -> str:
    return "1 round trip" if number == 1 else f"{number:g} round trips"


def _ratio_words(fdw: FdwFindings, testcase: str) -> str | None:
    ratio = fdw.run.ratio(testcase)
    return ratio_words(ratio, told_apart=fdw.run.told_apart(testcase)) if ratio else None


def _published_words(fdw: FdwFindings, bench: str, wrapper: str) -> str:
    """Say what was published, which was for stock alone."""
    if wrapper != STOCK:
        return ""
    article = fdw.published_ratio(SECOND_ARTICLE, bench, "FDW_external")
    return f" (published, on 9.6.2: {article:.1f}x)" if article else ""


def _lookup(fdw: FdwFindings, wrapper: str) -> str | None:
    name = _base_case(fdw, "RO", wrapper)
    words = _ratio_words(fdw, name) if name else None
    if not words:
        return None
    sentence = (
        f"Looking up a row by key through {wrapper} takes {words} as long as in a local "
        f"table{_published_words(fdw, 'RO', wrapper)}."
    )
    flights = _flights(fdw, "RO", wrapper)
    if flights:
        sentence += (
            f" Each lookup waits for {_round_trips(flights[0])}; asking the remote server directly "
            f"waits for {flights[1]:g}."
        )
    return sentence


def _pooled(fdw: FdwFindings, wrapper: str) -> str | None:
    """Compare lookups with those through a pooler, which are as many hops."""
    parts = []
    for protocol in ("prepared", "simple"):
        cases = pooled_pair(fdw, wrapper, protocol)
        ratio = fdw.run.ratio(*cases) if cases else None
        if cases and ratio:
            words = ratio_words(ratio, told_apart=fdw.run.told_apart(*cases))
            parts.append(f"{words} ({protocol})")
    if not parts:
        return None
    return (
        f"Looking up a row by key through {wrapper} takes, of the time of the same lookup by the "
        f"client itself through PgBouncer, {' and '.join(parts)}."
    )


def _writing(fdw: FdwFindings, wrapper: str) -> str | None:
    name = _base_case(fdw, "RW", wrapper)
    words = _ratio_words(fdw, name) if name else None
    if not words:
        return None
    sentence = (
        f"A writing transaction through {wrapper} takes {words} as long as locally"
        f"{_published_words(fdw, 'RW', wrapper)}."
    )
    flights = _flights(fdw, "RW", wrapper)
    if flights:
        sentence += f" It waits for {_round_trips(flights[0])}; directly, for {flights[1]:g}."
    return sentence


def _distance(fdw: FdwFindings, wrapper: str) -> str | None:
    cases = fdw.distant(
        measure="tps", bench="RO", wrapper=wrapper, protocol="simple", isolation="rr", clients=1
    )
    names = [name for name in cases if fdw.run.values(name)]
    words = _ratio_words(fdw, names[0]) if names else None
    if not words:
        return None
    distance = fdw.label(names[0]).rsplit(" at ", 1)[1]
    return (
        f"With a round trip of {distance} between the servers, the lookup through {wrapper} "
        f"takes {words} as long as asking the remote server directly over that link."
    )
