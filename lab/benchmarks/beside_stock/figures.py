"""Counting what a statement costs on a link, timing it, and judging ours by stock's.

A round trip is what a link calls a flight: what a client sends without waiting for an answer joins
the one under way. That is exact where the link's round trip is longer than any client thinks, so
over a shorter one only rows and bytes are judged. Rows are those that the remote server sent
(DataRow messages), answers to questions of our own among them; bytes are those of both directions.
"""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from beside_stock.statements import Session, Statement
from beside_stock.tables import Connection, Place
from tollfree.link import Link

SETTLE_ROUND_TRIPS = 5
LEAST_SETTLE_S = 0.02
WARM_UP = 6
"""Executions until a statement is prepared and has its generic plan, on both servers."""
REPEATS = 4
SLOW_S = 0.2
"""A statement that takes longer is warmed up, and executed, fewer times."""
SLOW_WARM_UP, SLOW_REPEATS = 1, 1

ROUND_TRIPS = "round trips"

MOST_RATIO = 1.1
MOST_FLIGHTS = 1
"""What may come on top: a COMMIT that nobody waits for, if the next statement comes too late to
share its flight."""
MOST_ROWS, MOST_BYTES = 1, 250
"""What may come on top for each command, or else for each round trip, and once more: the answer
whether the transaction has written, or about a relation; the question, and the headers of messages
for a prepared statement. The headers of packets are not counted: 130 bytes or more for a round
trip, of which stock has more."""


MOST_ROWS_ONCE, MOST_BYTES_ONCE = 5, 2500
"""What may come on top where our wrapper asks what it needs to know once: of the remote server when
it connects, of a table before it is sampled."""


@dataclass(frozen=True)
class Counts:
    """What a link carries for one execution."""

    flights: int
    rows: float
    bytes: float


@dataclass(frozen=True)
class Outcome:
    """What one execution has come to."""

    rows: tuple[int, ...]
    """Of each command, but for EXPLAIN: plans may differ."""
    error: str | None = None
    """The SQLSTATE that ended it."""


def excess(
    statement: Statement, ours: Counts, stock: Counts, judges_flights: bool = True
) -> list[str]:
    """Return in what ours costs more than stock allows."""
    batches = max(len(statement.sql), ours.flights) + 1
    most_rows, most_bytes = MOST_ROWS * batches, MOST_BYTES * batches
    if statement.asks:
        most_rows, most_bytes = most_rows + MOST_ROWS_ONCE, most_bytes + MOST_BYTES_ONCE
    judged = [
        ("rows", ours.rows, stock.rows, most_rows),
        ("bytes", ours.bytes, stock.bytes, most_bytes),
    ]
    if judges_flights:
        judged.append((ROUND_TRIPS, ours.flights, stock.flights, MOST_FLIGHTS))
    return [
        f"{ours_has:,.0f} {name}, stock {stock_has:,.0f}"
        for name, ours_has, stock_has, more in judged
        if ours_has > max(stock_has * MOST_RATIO, stock_has + more)
    ]


class Road:
    """One way to the remote server: a local database, and the link that its servers are behind."""

    def __init__(self, place: Place, link: Link | None) -> None:
        """Open the session in which statements are executed; without a link nothing is counted."""
        self.place = place
        self.link = link
        self._connection = place.connect()
        self._number = 0

    def close(self) -> None:
        """Close the session."""
        self._connection.close()

    @contextmanager
    def prepared(self, statement: Statement) -> Iterator[tuple[Outcome, int]]:
        """Have the session ready for a statement. Yields what it came to while it was warmed up,
        and how often it is worth repeating."""
        outcome, repeats = Outcome(()), REPEATS
        if statement.before:
            self._connection.execute(statement.before)
        try:
            for done in range(WARM_UP):
                seconds, outcome = self._timed(statement)
                if seconds > SLOW_S and done + 1 >= SLOW_WARM_UP:
                    repeats = SLOW_REPEATS
                    break
            yield outcome, repeats
        finally:
            self._connection.execute("RESET ALL; DEALLOCATE ALL")

    def count(self, statement: Statement, repeats: int) -> Counts:
        """Return what one execution costs, where the session is ready for it.

        Repetitions follow one another at once: the COMMIT that nobody waits for shares the flight
        of the next one, and what is left over by the division is that of the last.
        """
        before = self._settled()
        for _ in range(repeats):
            self._timed(statement)
        flights, rows, size = (b - a for a, b in zip(before, self._settled(), strict=True))
        return Counts(flights // repeats, rows / repeats, size / repeats)

    def time_ms(self, statement: Statement, budget_s: float) -> float:
        """Return the median of the times that fit into a budget, at least one."""
        times = [self._timed(statement)[0]]
        while sum(times) < budget_s:
            times.append(self._timed(statement)[0])
        return statistics.median(times) * 1000

    def _settled(self) -> tuple[int, int, int]:
        """Wait until nothing is on its way; return flights, rows and bytes so far."""
        assert self.link is not None
        time.sleep(max(LEAST_SETTLE_S, SETTLE_ROUND_TRIPS * self.link.rtt_us / 1e6))
        counters = self.link.counters()
        size = int(counters["bytes_to_client"]) + int(counters["bytes_to_server"])
        return int(counters["flights"]), int(counters["rows_to_client"]), size

    def _timed(self, statement: Statement) -> tuple[float, Outcome]:
        """Execute a statement once; return the seconds that it took, and its outcome."""
        self._number += 1
        start = time.monotonic()
        if statement.session is Session.NEW:
            with self.place.connect() as connection:
                outcome = self._execute(connection, statement)
        else:
            outcome = self._execute(self._connection, statement)
        return time.monotonic() - start, outcome

    def _execute(self, connection: Connection, statement: Statement) -> Outcome:
        rows: list[int] = []
        for command in statement.sql:
            text = command.replace("{n}", str(self._number))
            try:
                done = connection.execute(text.replace("{wrapper}", self.place.wrapper))
            except psycopg.Error as error:
                if connection.info.transaction_status is psycopg.pq.TransactionStatus.INERROR:
                    connection.execute("ROLLBACK")
                return Outcome(tuple(rows), error.sqlstate)
            rows.append(0 if text.startswith("EXPLAIN") else done.rowcount)
        return Outcome(tuple(rows))
