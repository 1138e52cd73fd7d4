"""What everyday statements cost beside `postgres_fdw`: round trips, rows, bytes and time.

Each statement of `beside_stock` is executed through both wrappers. Round trips, rows and bytes are
counted on a link with a round trip; the time is taken over that link and without one. The wrappers
take turns, in an order that is drawn anew in each round, and ratios are taken inside a round.

    .venv/bin/python lab/benchmarks/never_more.py [--rounds N] [--rtt-us N] [--only PATTERN]
"""

import argparse
import random
import re
import statistics
import sys
from contextlib import ExitStack
from dataclasses import dataclass

from beside_stock.figures import MOST_RATIO, Counts, Road, excess
from beside_stock.statements import STATEMENTS, Statement
from beside_stock.tables import OURS, STOCK, copy_place, make_place, make_sources

from tollfree import stats
from tollfree.lab import Lab
from tollfree.link import Link
from tollfree.paths import lab_home
from tollfree.ports import reserved_ports
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user

ROUNDS = 5
RTT_US = 2000
BUDGET_S = 0.05
"""How long a statement is repeated in one round, through one wrapper."""
PREFIX = "never_more"
WRAPPERS = (STOCK, OURS)
HEAD = (
    "round trips",
    "rows",
    "bytes",
    "ms",
    "ratio",
    "ms, link",
    "ratio",
)


@dataclass(frozen=True)
class Times:
    """What a statement takes through each wrapper, in milliseconds, round by round."""

    stock: list[float]
    ours: list[float]

    @property
    def ratio(self) -> float:
        """How many times stock's time ours is, the median inside the rounds."""
        return statistics.median(o / s for o, s in zip(self.ours, self.stock, strict=True))

    @property
    def excess(self) -> list[str]:
        """Return by how much ours takes more than stock allows, if the rounds tell that apart."""
        found = stats.median_interval([o / s for o, s in zip(self.ours, self.stock, strict=True)])
        if found is None or len(self.ours) == 1 or found.low < MOST_RATIO:
            return []
        return [f"{found.median:.2f} times the time ({found.low:.2f}-{found.high:.2f})"]

    def __str__(self) -> str:
        return f"{statistics.median(self.stock):.2f} / {statistics.median(self.ours):.2f}"


def counted(roads: dict[str, Road], statement: Statement) -> dict[str, Counts]:
    """Return what a link carries for a statement through each wrapper."""
    counts = {}
    for wrapper, road in roads.items():
        with road.prepared(statement) as (_, repeats):
            counts[wrapper] = road.count(statement, repeats)
    return counts


def timed(roads: dict[str, Road], statement: Statement, rounds: int) -> Times:
    """Return what a statement takes through each wrapper."""
    times: dict[str, list[float]] = {wrapper: [] for wrapper in WRAPPERS}
    with ExitStack() as stack:
        for road in roads.values():
            stack.enter_context(road.prepared(statement))
        for _ in range(rounds):
            for wrapper in random.sample(WRAPPERS, len(WRAPPERS)):
                times[wrapper].append(roads[wrapper].time_ms(statement, BUDGET_S))
    return Times(times[STOCK], times[OURS])


def row(statement: Statement, near: dict[str, Road], far: dict[str, Road], rounds: int) -> str:
    """Return the line of a statement."""
    counts = counted(far, statement)
    stock, ours = counts[STOCK], counts[OURS]
    without, over = timed(near, statement, rounds), timed(far, statement, rounds)
    cells = (
        f"{stock.flights} / {ours.flights}",
        f"{stock.rows:.0f} / {ours.rows:.0f}",
        f"{stock.bytes:.0f} / {ours.bytes:.0f}",
        str(without),
        f"{without.ratio:.2f}",
        str(over),
        f"{over.ratio:.2f}",
    )
    more = "; ".join([*excess(statement, ours, stock), *without.excess, *over.excess])
    return line(statement.title, cells) + (f"  MORE: {more}" if more else "")


def line(title: str, cells: tuple[str, ...]) -> str:
    """Return a line of the table."""
    widths = (15, 17, 21, 20, 8, 20, 8)
    return f"{title:56}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True))


def benchmark(lab: Lab, statements: list[Statement], rounds: int, rtt_us: int) -> None:
    """Measure statement by statement."""
    source, local = lab.source(), lab.external()
    make_sources(source, PREFIX)
    with ExitStack() as stack:
        control = source.socket_folder / f"{PREFIX}.control"
        with reserved_ports(1) as (port,):
            link = Link(PREFIX, rtt_us, port, source.port, control, lab.stage, lab.user)
            link.start()
        stack.callback(link.stop)
        near, far = {}, {}
        for wrapper in WRAPPERS:
            place = make_place(local, source, PREFIX, wrapper, source.port)
            far[wrapper] = Road(copy_place(place, "far", link.port), link)
            near[wrapper] = Road(place, None)
            stack.callback(far[wrapper].close)
            stack.callback(near[wrapper].close)
        sys.stdout.write(line("stock / ours", HEAD) + "\n")
        for statement in statements:
            sys.stdout.write(row(statement, near, far, rounds) + "\n")
            sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--rtt-us", type=int, default=RTT_US)
    parser.add_argument("--only", default="", metavar="PATTERN")
    arguments = parser.parse_args()
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    sys.stdout.write(
        f"PostgreSQL {lab.installation.version}, {arguments.rounds} rounds, a link with a round"
        f" trip of {arguments.rtt_us} us\n"
        "Of each statement: round trips that are waited for, rows that the remote server sends and"
        " bytes of both directions, counted on the link, and the median time without the link and"
        " over it, each through postgres_fdw (stock) and tollfree_postgres_fdw (ours); ratio is how"
        " many times stock's time ours is, the median inside the rounds. MORE: what is more than a"
        " tenth above stock's, and more than a statement's own headers and questions.\n"
    )
    chosen = [s for s in STATEMENTS if re.search(arguments.only, s.title)]
    with lab.running():
        benchmark(lab, chosen, arguments.rounds, arguments.rtt_us)


if __name__ == "__main__":
    main()
