"""Which column segments to remove where there is no more room: a simulation of ten queries.

Queries of lineitem come at random, some often and some seldom, from several tables. A query whose
columns are all kept reads these; any other reads text, and keeps its columns. Policies differ in
what goes first:

    longest unused    what was used longest ago
    least used        least uses for its size and the time since it was made
    cheapest          the same, times how long its values take to convert

Sizes are what segments of lineitem take; times are rounded from profiles of `file_cache.py`. Only
their proportions matter. Printed is the time of all queries, as a share of reading text always.
It needs no server: `make bench`, or `python benchmarks/cache_choice.py`.
"""

import argparse
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

BYTES = {
    **{"orderkey": 2, "partkey": 2, "suppkey": 1, "quantity": 2, "price": 4, "discount": 1},
    **{"tax": 1, "returnflag": 1, "linestatus": 1, "shipdate": 2, "commitdate": 2},
    **{"receiptdate": 2, "shipinstruct": 1, "shipmode": 1, "comment": 28},
}
"""What a value takes, kept."""
TEXTS = {"returnflag", "linestatus", "shipinstruct", "shipmode", "comment"}
TEXT_NS, NUMBER_NS = 3, 7
"""How long a value takes to convert."""
FIND_NS = 60
"""How long a record takes to be read, and its fields to be found."""
KEPT_NS = 1
"""How long a value takes that is kept."""
QUERIES = (
    ("quantity", "price", "discount", "tax", "returnflag", "linestatus", "shipdate"),
    ("orderkey", "price", "discount", "shipdate"),
    ("orderkey", "suppkey", "price", "discount"),
    ("quantity", "price", "discount", "shipdate"),
    ("orderkey", "price", "discount", "returnflag"),
    ("orderkey", "shipmode", "shipdate", "commitdate", "receiptdate"),
    ("partkey", "price", "discount", "shipdate"),
    ("partkey", "quantity", "price", "discount", "shipinstruct", "shipmode"),
    ("comment",),
    ("orderkey", "comment", "shipdate"),
)
"""The columns of the published queries, and of two that read the large one."""

Column = tuple[int, str]


@dataclass
class Kept:
    """A column of one table: when it was made and used last, counted in queries."""

    made: int
    used: int
    uses: int = 1


Worth = Callable[[str, Kept, int], float]


def rate(name: str, kept: Kept, now: int) -> float:
    """Return how often a column is used, a byte."""
    return kept.uses / (BYTES[name] * (now - kept.made + 1))


POLICIES: dict[str, Worth] = {
    "longest unused": lambda _name, kept, _now: kept.used,
    "least used": rate,
    "cheapest": lambda name, kept, now: rate(name, kept, now) * convert_ns(name),
}


def convert_ns(name: str) -> int:
    """Return how long a value of the column takes to convert."""
    return TEXT_NS if name in TEXTS else NUMBER_NS


def draw(seed: int, tables: int, skew: float, count: int) -> Iterator[tuple[Column, ...]]:
    """Yield the columns of each query."""
    source = random.Random(seed)
    queries = source.sample(QUERIES, len(QUERIES))
    weights = [1 / (rank + 1) ** skew for rank in range(len(queries))]
    of_tables = [1 / (rank + 1) ** skew for rank in range(tables)]
    for _ in range(count):
        (table,) = source.choices(range(tables), of_tables)
        (query,) = source.choices(queries, weights)
        yield tuple((table, name) for name in query)


def make_room(cache: dict[Column, Kept], room: float, now: int, worth: Worth) -> None:
    """Remove what is worth least, but nothing that the present query has used."""
    size = sum(BYTES[name] for _, name in cache)
    others = [column for column, kept in cache.items() if kept.used < now]
    for column in sorted(others, key=lambda column: worth(column[1], cache[column], now)):
        if size <= room:
            return
        size -= BYTES[column[1]]
        del cache[column]


def share_of_text(worth: Worth, room: float, queries: Iterator[tuple[Column, ...]]) -> float:
    """Return the time of all queries, as a share of the time that they take by text."""
    cache: dict[Column, Kept] = {}
    taken = by_text = 0
    for now, columns in enumerate(queries):
        text = FIND_NS + sum(convert_ns(name) for _, name in columns)
        by_text += text
        taken += KEPT_NS * len(columns) if all(c in cache for c in columns) else text
        for column in columns:
            kept = cache.setdefault(column, Kept(now, now, 0))
            kept.used = now
            kept.uses += 1
        make_room(cache, room, now, worth)
    return taken / by_text


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description="Compares what to remove where there is no room.")
    parser.add_argument("--queries", type=int, default=1500, help="how many in each simulation")
    parser.add_argument("--seeds", type=int, default=6, help="how many simulations of each kind")
    options = parser.parse_args()
    sys.stdout.write("time of all queries, as a share of reading text always\n")
    sys.stdout.write(f"tables  room  skew  {'  '.join(POLICIES)}\n")
    for tables in (4, 16):
        for share in (0.15, 0.3, 0.5):
            for skew in (0.5, 1.0):
                room = share * tables * sum(BYTES.values())
                means = {
                    name: statistics.fmean(
                        share_of_text(worth, room, draw(seed, tables, skew, options.queries))
                        for seed in range(options.seeds)
                    )
                    for name, worth in POLICIES.items()
                }
                figures = "  ".join(f"{mean:{len(name)}.3f}" for name, mean in means.items())
                sys.stdout.write(f"{tables:6}  {share:4.0%}  {skew:4}  {figures}\n")


if __name__ == "__main__":
    main()
