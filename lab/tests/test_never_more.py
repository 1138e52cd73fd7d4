"""Never more than stock: what everyday statements cost through our wrapper, and through stock.

Each statement of `beside_stock` is executed through both, over a link and without a delay. It comes
to the same, and its round trips, the rows that the remote server sends and the bytes are at most a
tenth more than stock's. Times are in the benchmark `never_more.py`.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from beside_stock.figures import ROUND_TRIPS, Road, excess
from beside_stock.statements import STATEMENTS, Statement
from beside_stock.tables import OURS, STOCK, copy_place, make_place, make_sources
from links import link_to

from tollfree.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.halved]

NEAR_US, FAR_US = 0, 2000
ATTEMPTS = 3
"""A client that is kept from the processor thinks longer, which can only add flights."""


@dataclass(frozen=True)
class Roads:
    """Both wrappers' roads of one length."""

    stock: Road
    ours: Road
    judges_flights: bool

    def compare(self, statement: Statement) -> list[str]:
        """Return what is not as stock's, or more. Of what fails only the error is compared."""
        with self.stock.prepared(statement) as (expected, repeats):
            stock = self.stock.count(statement, repeats)
        with self.ours.prepared(statement) as (outcome, repeats):
            for _ in range(ATTEMPTS):
                ours = self.ours.count(statement, repeats)
                found = excess(statement, ours, stock, self.judges_flights)
                if not any(ROUND_TRIPS in words for words in found):
                    break
        if expected.error is not None:
            found = []
        if outcome != expected:
            found.append(f"{outcome}, stock {expected}")
        return found


@pytest.fixture(scope="module")
def roads(pg_instance: Cluster) -> Iterator[dict[str, Roads]]:
    """The roads: without a delay, and over a link."""
    make_sources(pg_instance, "never")
    with ExitStack() as stack:
        near = stack.enter_context(link_to(pg_instance, "never_near", NEAR_US))
        far = stack.enter_context(link_to(pg_instance, "never_far", FAR_US))
        places = {
            wrapper: make_place(pg_instance, pg_instance, "never", wrapper, near.port)
            for wrapper in (STOCK, OURS)
        }
        copies = {wrapper: copy_place(place, "far", far.port) for wrapper, place in places.items()}

        def roads_by(wrapper: str) -> tuple[Road, Road]:
            made = Road(places[wrapper], near), Road(copies[wrapper], far)
            for road in made:
                stack.callback(road.close)
            return made

        stock, ours = roads_by(STOCK), roads_by(OURS)
        yield {
            "near": Roads(stock[0], ours[0], judges_flights=False),
            "far": Roads(stock[1], ours[1], judges_flights=True),
        }


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.title)
def test_a_statement_costs_no_more_than_through_stock(
    statement: Statement,
    roads: dict[str, Roads],
) -> None:
    found = {name: pair.compare(statement) for name, pair in roads.items()}
    assert not any(found.values()), found
