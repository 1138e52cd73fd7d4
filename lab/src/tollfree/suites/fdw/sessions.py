"""Part `sessions` of suite `fdw`: lookups by more and more clients, and where their roof is.

The published experiment suspected "a roof in terms of performance for concurrent sessions". Here
the roof of a road is the fewest clients that reach `NEAR` of its highest throughput: more of them
only wait. The local table has a roof, too, where the machine's processors are busy.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tollfree.report.model import AxisTitle, Column, LineChart, Point, Series, Table, Tick
from tollfree.suites.fdw.findings import FdwFindings
from tollfree.suites.presentation import number

NEAR = 0.9
"""The share of the highest throughput that counts as the highest."""
LEAST_COUNTS = 3
"""Numbers of clients; fewer are no curve."""
TARGETS = ("local", "FDW_external")


@dataclass(frozen=True)
class Load:
    """What some clients get of a road; medians, throughput with its interval."""

    clients: int
    tps: float
    low: float | None
    high: float | None
    latency_ms: float | None
    ratio: float | None
    """How many times slower than as many clients of the local table."""


@dataclass(frozen=True)
class Curve:
    """What a road gives to more and more clients, the fewest first."""

    target: str
    wrapper: str
    loads: tuple[Load, ...]

    @property
    def label(self) -> str:
        """Return what the road is called."""
        return "local table" if self.wrapper == "none" else self.wrapper

    @property
    def roof(self) -> Load:
        """Return the load of the fewest clients that come near the highest throughput."""
        highest = max(load.tps for load in self.loads)
        return next(load for load in self.loads if load.tps >= NEAR * highest)

    @property
    def has_intervals(self) -> bool:
        """Whether each load was measured in more than one round."""
        return all(load.low is not None for load in self.loads)

    @property
    def is_reached(self) -> bool:
        """Whether more clients than the roof's were measured."""
        return self.roof is not self.loads[-1]


def curves(fdw: FdwFindings) -> list[Curve]:
    """Return the curves of lookups, the local table's first."""
    found: dict[tuple[str, str], list[Load]] = {}
    for name in fdw.base(bench="RO"):
        dims = fdw.dims(name)
        load = _load(fdw, name)
        if load and dims["target"] in TARGETS:
            found.setdefault((str(dims["target"]), str(dims["wrapper"])), []).append(load)
    return [
        Curve(target, wrapper, tuple(sorted(loads, key=lambda load: load.clients)))
        for (target, wrapper), loads in found.items()
        if len(loads) >= LEAST_COUNTS
    ]


def _load(fdw: FdwFindings, name: str) -> Load | None:
    tps = fdw.run.median(name)
    if tps is None:
        return None
    ratio = fdw.run.ratio(name)
    return Load(
        clients=int(fdw.dims(name)["clients"]),
        tps=tps.median,
        low=tps.interval[0],
        high=tps.interval[1],
        latency_ms=fdw.run.middle(name, "latency_mean_ms"),
        ratio=ratio.median if ratio else None,
    )


def sessions_table(fdw: FdwFindings) -> Table:
    """Return throughput and latency of every road and number of clients."""
    rows = tuple(
        (
            *(curve.label, load.clients, load.tps, load.low, load.high),
            load.tps / curve.loads[0].tps,
            *(load.latency_ms, load.ratio),
            "roof" if load is curve.roof and curve.is_reached else "",
        )
        for curve in curves(fdw)
        for load in curve.loads
    )
    return Table(
        "Lookups by concurrent sessions, simple protocol, REPEATABLE READ",
        (
            *(Column("Road"), number("clients", decimals=0)),
            *(number("throughput", "tps", 0), number("low", "tps", 0), number("high", "tps", 0)),
            number("of the first row's", "x", 2),
            *(number("mean latency", "ms", 3), number("slower than locally", "x", 2)),
            Column("roof"),
        ),
        rows,
        (
            f"The roof is the fewest clients with {NEAR:.0%} of a road's highest throughput. Both "
            "servers and pgbench share one machine. Each session has a remote connection of its "
            "own, which its first transaction opens.",
        ),
    )


def sessions_charts(fdw: FdwFindings) -> Iterator[LineChart]:
    """Yield throughput and latency by the number of clients."""
    found = curves(fdw)
    counts = sorted({load.clients for curve in found for load in curve.loads})
    clients = AxisTitle(
        "clients", log=True, ticks=tuple(Tick(count, str(count)) for count in counts)
    )
    yield LineChart(
        "Throughput of lookups by concurrent sessions",
        clients,
        AxisTitle("throughput", "tps", log=True),
        tuple(
            Series(c.label, tuple(Point(x.clients, x.tps, x.low, x.high) for x in c.loads))
            for c in found
        ),
    )
    yield LineChart(
        "Mean latency of lookups by concurrent sessions",
        clients,
        AxisTitle("latency", "ms", log=True),
        tuple(
            Series(
                c.label,
                tuple(Point(x.clients, x.latency_ms) for x in c.loads if x.latency_ms is not None),
            )
            for c in found
        ),
    )


def sessions_verdicts(fdw: FdwFindings) -> list[str]:
    """Return where the roof of each road is, the local table's in the sentences of wrappers. One
    round could not tell."""
    found = [curve for curve in curves(fdw) if curve.has_intervals]
    local = next((curve for curve in found if curve.wrapper == "none"), None)
    cores = fdw.run.run.host.get("cores")
    machine = f" on {cores} processors" if cores else ""
    return [_roof_sentence(curve, local, machine) for curve in found if curve.wrapper != "none"]


def _roof_sentence(curve: Curve, local: Curve | None, machine: str) -> str:
    first, roof, last = curve.loads[0], curve.roof, curve.loads[-1]
    if not curve.is_reached:
        return (
            f"Lookups through {curve.label} have no roof up to {last.clients} concurrent sessions"
            f"{machine}: they reach {last.tps:,.0f} transactions per second, "
            f"{last.tps / first.tps:.1f}x what {_clients(first)} get{_s(first)}."
        )
    sentence = (
        f"Lookups through {curve.label} reach their roof at {_sessions(roof)}{machine}: "
        f"{roof.tps:,.0f} transactions per second, {roof.tps / first.tps:.1f}x what "
        f"{_clients(first)} get{_s(first)}"
    )
    if local:
        lroof = local.roof
        where = f"at {_sessions(lroof)}" if local.is_reached else "with no roof in sight"
        sentence += f"; the local table gives {lroof.tps:,.0f} {where}"
    if roof.latency_ms and last.latency_ms:
        sentence += (
            f". With {last.clients} each lookup takes {last.latency_ms:.2f} ms, "
            f"{roof.latency_ms:.2f} at the roof"
        )
    return sentence + "."


def _sessions(load: Load) -> str:
    return "1 session" if load.clients == 1 else f"{load.clients} concurrent sessions"


def _clients(load: Load) -> str:
    return "1 client" if load.clients == 1 else f"{load.clients} clients"


def _s(load: Load) -> str:
    return "s" if load.clients == 1 else ""
