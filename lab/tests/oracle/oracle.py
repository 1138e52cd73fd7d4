"""Runs sessions through both sides and says where they differ."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from oracle.compare import Comparer, allowances, is_other_error, row_difference
from oracle.minimise import minimise
from oracle.side import Outcome
from oracle.world import World

SHORTENING_LIMIT_S = 120.0


@dataclass
class Tally:
    """How much has been compared."""

    sessions: int = 0
    statements: int = 0
    errors: int = 0
    rows: int = 0
    notices: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count a statement by its outcome."""
        self.statements += 1
        self.errors += sum(result.error is not None for result in outcome.results)
        self.rows += sum(len(result.rows) for result in outcome.results)
        self.notices += len(outcome.notices)

    def __str__(self) -> str:
        return (
            f"{self.sessions} sessions, {self.statements} statements: {self.errors} errors,"
            f" {self.rows} rows and {self.notices} notices compared"
        )


@dataclass(frozen=True)
class Difference:
    """Where a session differs and in what."""

    session: tuple[str, ...]
    position: int
    """Of the statement in the session; the session's length for the tables' contents."""
    reason: str

    def __str__(self) -> str:
        lines = [*self.session, "(the contents of the tables after the session)"]
        shown = [f"{'>' if n == self.position else ' '} {line}" for n, line in enumerate(lines)]
        return "\n".join((*shown[: self.position + 1], self.reason))


class Oracle:
    """Compares a world's two sides."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._comparer = Comparer(allowances(world.wrapper))
        self._waiting = f"SET {world.wrapper}.pipelined_writes = off"
        self.tally = Tally()

    def run(self, session: Sequence[str]) -> Difference | None:
        """Run `session` on both sides and return the first difference, None when there is none."""
        doubtful: list[Difference] = []
        difference = self._run(session, doubtful)
        return difference or next(filter(self._is_real, doubtful), None)

    def _is_real(self, doubtful: Difference) -> bool:
        """Return whether the statement differs even where each row is waited for."""
        session = (self._waiting, *doubtful.session[: doubtful.position + 1])
        return self._run(session) is not None

    def _run(
        self, session: Sequence[str], doubtful: list[Difference] | None = None
    ) -> Difference | None:
        """Return the first difference, but for those which may be two errors of one statement:
        these are added to `doubtful`, if it is given."""
        self._world.reset()
        self.tally.sessions += 1
        stock, candidate = sides = self._world.connect()
        try:
            for position, statement in enumerate(session):
                for side in sides:
                    side.send(statement)
                expected, actual = stock.receive(), candidate.receive()
                self.tally.add(expected)
                reason = self._comparer.difference(statement, expected, actual)
                if not reason:
                    continue
                difference = Difference(tuple(session), position, reason)
                if doubtful is None or not is_other_error(expected, actual):
                    return difference
                doubtful.append(difference)
        finally:
            stock.close()
            candidate.close()
        reason = self._contents_difference()
        return Difference(tuple(session), len(session), reason) if reason else None

    def shorten(self, difference: Difference) -> Difference:
        """Return a difference that a shorter session shows; the same one when it does not recur
        or when each attempt takes very long."""
        last = difference
        deadline = time.monotonic() + SHORTENING_LIMIT_S

        def differs(session: tuple[str, ...]) -> bool:
            nonlocal last
            if time.monotonic() > deadline:
                return False
            found = self.run(session)
            last = found or last
            return found is not None

        minimise(difference.session[: difference.position + 1], differs)
        return last

    def _contents_difference(self) -> str:
        stock, candidate = self._world.contents()
        remote = row_difference(stock.remote, candidate.remote, ordered=False)
        local = row_difference(stock.local, candidate.local, ordered=False)
        return "; ".join(
            f"{place} tables: {reason}"
            for place, reason in (("remote", remote), ("local", local))
            if reason
        )
