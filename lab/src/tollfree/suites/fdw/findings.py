"""What the parts of the section `fdw` share: the run's cases in order, and the published figures.

The articles express cost as overhead, the extra time in units of the local one: 6.5x there is a
ratio of 7.5 here. Tables show both, under those names.
"""

import statistics
from dataclasses import dataclass
from typing import Any

from tollfree.scripts import written_rows
from tollfree.suites.presentation import Findings, SuiteFindings

FIRST_ARTICLE = "FDW overhead (2017)"
SECOND_ARTICLE = "postgres_fdw estimated overhead"
PUBLISHED_OVERHEAD = {"RW": "0.65x, 0.70x", "RO": "6.7x, 6.5x"}
"""Per bench, as the first and the second article state it, for one client."""

PERCENTILES = (
    ("p50", "50"),
    ("p90", "90"),
    ("p95", "95"),
    ("p99", "99"),
    ("p999", "99.9"),
)
"""The suffix of the figure and how the percentile is written."""

PUBLISHED_CLIENTS = (1, 5)
"""The articles' numbers of concurrent sessions; more of them are in part `sessions`."""
TARGETS = ("local", "local_again", "FDW_local", "FDW_external", "FDW_ext_ro", "direct", "pooled")
SHORT_LINKS = ("lcl:ipc", "lcl:tcp")
PublishedKey = tuple[str, str, str, str]
"""Article, figure, bench, target."""


@dataclass(frozen=True)
class Published:
    """One row of an article's tables."""

    max: float
    min: float
    mean: float


@dataclass(frozen=True)
class FdwFindings(SuiteFindings):
    """A run of the suite beside the published figures."""

    published: dict[PublishedKey, Published]

    @classmethod
    def of(cls, run: Findings) -> "FdwFindings":
        """Put the published figures beside a run."""
        published = {
            (article, figure, bench, target): Published(*figures)
            for article, bench, target, figure, *figures in written_rows("fdw_published")
        }
        return cls(run, published)

    def ordered(self, **dims: object) -> list[str]:
        """Return the cases with these dimensions in the order in which tables show them."""
        return sorted(self.run.find(**dims), key=lambda name: _rank(self.dims(name)))

    def short(self, **dims: object) -> list[str]:
        """Return the cases of the experiment itself: no link with a delay."""
        return [x for x in self.ordered(**dims) if not is_distant(self.dims(x)["link"])]

    def distant(self, **dims: object) -> list[str]:
        """Return the cases over a link with a delay."""
        return [x for x in self.ordered(**dims) if is_distant(self.dims(x)["link"])]

    def base(self, **dims: object) -> list[str]:
        """Return the experiment's own throughput cases: simple protocol, REPEATABLE READ."""
        return self.short(measure="tps", protocol="simple", isolation="rr", **dims)

    def label(self, testcase: str) -> str:
        """Return `RO.FDW_external` and what else tells the case from its neighbours."""
        dims = self.dims(testcase)
        label = f"{dims['bench']}.{dims['target']}"
        if dims["clients"] > 1:
            label += f"_{dims['clients']}"
        if dims["wrapper"] not in ("none", "postgres_fdw"):
            label += f" {dims['wrapper']}"
        if dims.get("size"):
            label += f" by {dims['size']}"
        if is_distant(dims["link"]):
            label += f" at {round_trip_us(dims['link']) / 1000:g} ms"
        return label

    def counted(self, testcase: str, counter: str) -> float | None:
        """Return what a link has counted for one execution, the median over the rounds; None
        without a link that counts."""
        before, after = (self.run.figures(testcase, f"{counter}_{x}") for x in ("before", "after"))
        found = [b - a for a, b in zip(before, after, strict=True)]
        return statistics.median(found) / int(self.dims(testcase)["repeats"]) if found else None

    def published_ratio(self, article: str, bench: str, target: str) -> float | None:
        """Return how many times slower an article found a target than the local table."""
        local = self.published.get((article, "tps", bench, "local"))
        foreign = self.published.get((article, "tps", bench, target))
        return local.mean / foreign.mean if local and foreign and target != "local" else None


def pooled_pair(fdw: FdwFindings, wrapper: str, protocol: str) -> tuple[str, str] | None:
    """Return the case of lookups through a wrapper, and that of the same ones by the client itself
    through a pooler; None where the run does not have both."""
    same = {"bench": "RO", "protocol": protocol, "link": "lcl:tcp", "isolation": "rr"}
    roads = ({"target": "FDW_external", "wrapper": wrapper}, {"target": "pooled"})
    found = [fdw.run.find(**same, **road, clients=1, measure="tps") for road in roads]
    return (found[0][0], found[1][0]) if all(found) else None


def is_distant(link: str) -> bool:
    """Return whether a link has a delay.

    >>> is_distant("lcl:tcp"), is_distant("rmt:tcp:200us")
    (False, True)
    """
    return link not in SHORT_LINKS


def round_trip_us(link: str) -> int:
    """Return the requested round trip of a link with a delay, from its name.

    >>> round_trip_us("rmt:tcp:200us")
    200
    """
    return int(link.split(":")[2].removesuffix("us"))


def max_min_mean(values: list[float]) -> tuple[float | None, float | None, float | None]:
    """Return the three figures of the experiment's tables, or three times None."""
    if not values:
        return None, None, None
    return max(values), min(values), sum(values) / len(values)


def _rank(dims: dict[str, Any]) -> tuple[object, ...]:
    target = str(dims["target"])
    return (
        dims["bench"],
        TARGETS.index(target) if target in TARGETS else len(TARGETS),
        *(dims["wrapper"], dims["link"], dims["protocol"], dims["isolation"], dims["clients"]),
    )
