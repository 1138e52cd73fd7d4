"""What the parts of the section `shards` share: its cases in order, and exact counts."""

import statistics
from dataclasses import dataclass
from typing import Any

from tollfree.suites.presentation import Findings

STOCK = "postgres_fdw"
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
class ShardsFindings:
    """A run of the suite."""

    run: Findings

    def dims(self, testcase: str) -> dict[str, Any]:
        """Return the dimensions of a case."""
        return self.run.cases[testcase].dims

    def ordered(self, **dims: object) -> list[str]:
        """Return the cases through a wrapper: by operation, content, link, servers and wrapper."""

        def place(name: str) -> tuple[object, ...]:
            found = self.dims(name)
            return (
                list(DOINGS).index(found["operation"]),
                found["content"],
                found["link"],
                found["servers"],
                found["wrapper"] != STOCK,
                found["wrapper"],
            )

        return sorted(self.run.find(target="foreign", **dims), key=place)

    def beside(self, testcase: str, wrapper: str) -> str | None:
        """Return the same case through another wrapper."""
        dims = self.dims(testcase)
        same = {key: dims[key] for key in ("operation", "content", "servers", "link", "target")}
        names = self.run.find(**same, wrapper=wrapper)
        return names[0] if names else None

    def label(self, testcase: str) -> str:
        """Return what is done, and whether to text."""
        dims = self.dims(testcase)
        return f"{dims['operation']} of text" if dims["content"] == "text" else dims["operation"]

    def local(self, testcase: str) -> str | None:
        """Return the same operation on local tables."""
        names = self.run.find(operation=self.dims(testcase)["operation"], target="local")
        return names[0] if names else None

    def counted(self, testcase: str, what: str) -> float | None:
        """Return how much the link counted for one execution of the command: `flights`, `bytes`
        or `rows`, the median over the rounds; None over a link that does not count."""
        after = self.run.figures(testcase, f"{what}_after")
        before = self.run.figures(testcase, f"{what}_before")
        if not after or len(after) != len(before):
            return None
        moved = (b - a for a, b in zip(before, after, strict=True))
        return statistics.median(moved) / float(self.dims(testcase)["repeats"])
