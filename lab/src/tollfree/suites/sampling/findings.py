"""What the parts of the section `sampling` share: its cases in order, and costs fitted to them."""

from dataclasses import dataclass
from typing import Any

from tollfree import stats
from tollfree.scripts import written_rows
from tollfree.suites.presentation import Findings, SuiteFindings

METHODS = ("full", "random", "bernoulli", "system")
ANALYZE_METHODS = ("local", "local_again", "off", "random", "bernoulli", "system", "auto", "import")
DIRECT = "direct"
FILE = "file"
"""The link of roads that lead to a file."""
STOCK = {"table": "postgres_fdw", FILE: "file_fdw"}
"""PostgreSQL's own wrapper of what is at the end of a road."""
STOCK_DEFAULTS = ("auto", "off")
"""What the stock wrapper does unless it is told: reading everything before 16."""
EVERY_ROW = ("random", "bernoulli")
"""The methods that read every row, whatever the fraction."""
FITTED_CASES = 3
"""The fewest fractions that a cost is fitted to."""
FITTED_ROWS = 100_000
"""The smallest table that a cost is fitted to: below, what a statement costs at all hides it."""
SCATTERED_ROUNDS = 10
"""The fewest local ANALYZEs that a scatter is told from."""
SCATTERED_SHARE = 0.95
"""Of the local ANALYZEs, those that the scatter holds: the ones in the middle."""
CITED_TARGET = 100
"""The default of default_statistics_target."""


@dataclass(frozen=True)
class Road:
    """A way to a table: in the instance itself, or through a wrapper over a link."""

    name: str
    link: str

    @property
    def is_far(self) -> bool:
        """Whether the link has a round trip of its own."""
        return self.link.startswith("rmt:")

    @property
    def stock(self) -> str:
        """Return PostgreSQL's own wrapper of what this road leads to."""
        return STOCK[FILE if self.link == FILE else "table"]

    @property
    def round_trip(self) -> str:
        """Return the link's round trip, empty if it has none of its own."""
        return self.link.rsplit(":", 1)[1].replace("us", " µs") if self.is_far else ""

    @property
    def label(self) -> str:
        """Return the name, with the link's round trip if it has one."""
        return f"{self.name} at {self.round_trip}" if self.is_far else self.name


@dataclass(frozen=True)
class Cost:
    """Microseconds a row costs, by least squares over `cases` fractions of one table."""

    sample_us: stats.Estimate
    """Reading a row of the table and deciding about it."""
    send_us: stats.Estimate
    """Delivering a row that was chosen."""
    cases: int


@dataclass(frozen=True)
class SamplingFindings(SuiteFindings):
    """A run of the suite beside the published figures."""

    published: dict[str, float]

    @classmethod
    def of(cls, run: Findings) -> "SamplingFindings":
        """Put the published figures beside a run."""
        costs = dict(written_rows("sampling_published"))
        losses = written_rows("sampling_published_losses")
        return cls(run, costs | {f"loses:{method}": percent for method, percent in losses})

    def ordered(self, **dims: object) -> list[str]:
        """Return the cases with these dimensions in the order in which tables show them."""
        return sorted(self.run.find(**dims), key=lambda name: _rank(self.dims(name)))

    def tables(self) -> list[str]:
        """Return the tables of the run, the smallest first."""
        rows = {str(c.dims["table"]): int(c.dims["rows"]) for c in self.run.cases.values()}
        return sorted(rows, key=lambda table: rows[table])

    def roads(self, **dims: object) -> list[Road]:
        """Return the roads of the cases with these dimensions, direct ones first."""
        found = (self.dims(name) for name in self.ordered(**dims))
        return list(dict.fromkeys(Road(str(d["wrapper"]), str(d["link"])) for d in found))

    def ms(self, testcase: str) -> float | None:
        """Return the median duration of a case, or None when an execution failed."""
        estimate = self.run.median(testcase)
        return estimate.median if estimate else None

    def the_case(self, **dims: object) -> str | None:
        """Return the one case with these dimensions, if it is part of the run."""
        found = self.run.find(**dims)
        return found[0] if len(found) == 1 else None

    def local_range(self, testcase: str, figure: str) -> tuple[float, float] | None:
        """Return between what SCATTERED_SHARE of a figure lie after single local ANALYZEs.

        Those of the same table with the same statistics target; None when there are too few.
        """
        dims = self.dims(testcase)
        same = {key: dims[key] for key in ("test", "table", "statistics_target")}
        found = sorted(
            value
            for name in self.run.find(**same, wrapper=DIRECT)
            for value in self.run.figures(name, figure)
        )
        if len(found) < SCATTERED_ROUNDS:
            return None
        tail = round((1 - SCATTERED_SHARE) / 2 * len(found))
        return found[tail], found[-tail - 1]

    def against_full(self, testcase: str) -> stats.Estimate | None:
        """Return how long a sample takes relative to everything, on the same road."""
        dims = self.dims(testcase)
        same = {key: dims[key] for key in ("test", "table", "wrapper", "link")}
        full = self.the_case(**same, method="full")
        return self.run.ratio(testcase, full) if full else None

    def cost(self, table: str, road: Road, method: str) -> Cost | None:
        """Fit the duration of a method's cases to the number of rows delivered.

        The method reads every row of the table each time: what does not depend on the rows
        delivered is the cost of that. Every execution is a point of the line.
        """
        names = [
            name
            for name in self.run.find(
                test="sample", table=table, wrapper=road.name, link=road.link, method=method
            )
            if self.ms(name) is not None
        ]
        if len(names) < FITTED_CASES or int(self.dims(names[0])["rows"]) < FITTED_ROWS:
            return None
        points = [
            point
            for name in names
            for point in zip(self.run.figures(name, "rows"), self.run.values(name), strict=True)
        ]
        line = stats.fitted_line(points)
        us_per_row = 1000 / int(self.dims(names[0])["rows"])
        return Cost(line.intercept.scaled(us_per_row), line.slope.scaled(1000), len(names))

    def against_stock(self, testcase: str) -> stats.Estimate | None:
        """Return how long an ANALYZE takes relative to the stock wrapper's.

        That is by the same method; if it has no such method, by its default.
        """
        dims = self.dims(testcase)
        stock_wrapper = Road(str(dims["wrapper"]), str(dims["link"])).stock
        if dims["wrapper"] in (DIRECT, stock_wrapper):
            return None
        same = {key: dims[key] for key in ("test", "table", "link", "statistics_target")}
        for method in (dims["method"], *STOCK_DEFAULTS):
            stock = self.the_case(**same, wrapper=stock_wrapper, method=method)
            if stock:
                return self.run.ratio(testcase, stock)
        return None


def _rank(dims: dict[str, Any]) -> tuple[object, ...]:
    methods = METHODS if dims["test"] == "sample" else ANALYZE_METHODS
    method = str(dims["method"])
    return (
        dims["rows"],
        dims["statistics_target"] or 0,
        *(dims["wrapper"] != DIRECT, dims["link"] == FILE),
        *(dims["wrapper"] not in STOCK.values(), dims["wrapper"], dims["link"]),
        methods.index(method) if method in methods else len(methods),
        dims["percent"] or 0,
    )
