"""What the parts of the section `shards` share: its cases in order, and exact counts."""

import statistics
from dataclasses import dataclass

from tollfree.suites.presentation import SuiteFindings

STOCK = "postgres_fdw"
LINKS = (1, 2)
"""The most roads that a case counts on."""
DOINGS = {
    "LOOKUP": "Looking up the rows of a key",
    "AGGREGATE": "Aggregating all rows in 41 groups",
    "TOPN": "Finding the first 10 rows of an order",
    "JOIN_LOCAL": "Joining 1,000 local rows by key",
    "SUBQUERY": "A subquery for each of 1,000 local rows",
    "JOIN_COLOCATED": "Joining two tables that are sharded alike",
    "JOIN_BROADCAST": "Joining a small local table with all rows",
    "INSERT": "INSERT of 5,000 rows",
    "COPY": "COPY of 5,000 rows",
    "TPCB": "A TPC-B-like transaction of 4 clients",
    "UPDATE": "UPDATE of rows on every server",
    **{f"Q{n}": f"TPC-H's query {n}" for n in range(1, 23)},
}
"""What an operation is called in a sentence, in the order of the report."""


@dataclass(frozen=True)
class ShardsFindings(SuiteFindings):
    """A run of the suite."""

    def ordered(self, **dims: object) -> list[str]:
        """Return the cases on servers: by operation, content, link, servers and wrapper; Citus's
        come last."""

        def place(name: str) -> tuple[object, ...]:
            found = self.dims(name)
            return (
                list(DOINGS).index(found["operation"]),
                found["content"],
                found["link"],
                found["servers"],
                found["target"] != "foreign",
                found["wrapper"] != STOCK,
                found["wrapper"],
            )

        names = (
            *self.run.find(target="foreign", **dims),
            *self.run.find(target="citus", **dims),
        )
        return sorted(names, key=place)

    def means(self, testcase: str) -> str:
        """Return what the servers are reached through."""
        dims = self.dims(testcase)
        return "Citus" if dims["target"] == "citus" else str(dims["wrapper"])

    def beside(self, testcase: str, wrapper: str) -> str | None:
        """Return the same case through another wrapper."""
        dims = self.dims(testcase)
        same = {key: dims[key] for key in ("operation", "content", "servers", "link")}
        names = self.run.find(**same, target="foreign", wrapper=wrapper)
        return names[0] if names else None

    def label(self, testcase: str) -> str:
        """Return what is done, and whether to text."""
        dims = self.dims(testcase)
        return f"{dims['operation']} of text" if dims["content"] == "text" else dims["operation"]

    def counted(self, testcase: str, what: str) -> float | None:
        """Return how much the links counted for one execution of the command: `flights`, `bytes`
        or `rows`, the median over the rounds; None over a link that does not count."""
        counted = [
            moved for link in LINKS if (moved := self._counted_on(link, testcase, what)) is not None
        ]
        if not counted:
            return None
        together = [sum(one) for one in zip(*counted, strict=True)]
        return float(statistics.median(together)) / float(self.dims(testcase)["repeats"])

    def _counted_on(self, link: int, testcase: str, what: str) -> list[float] | None:
        """Return, round by round, how much one of the links counted."""
        after = self.run.figures(testcase, f"{what}_after_{link}")
        before = self.run.figures(testcase, f"{what}_before_{link}")
        if not after or len(after) != len(before):
            return None
        return [b - a for a, b in zip(before, after, strict=True)]
