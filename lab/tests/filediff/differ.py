"""Runs cases on both sides and says where they differ."""

import re
import time
from collections import Counter
from dataclasses import dataclass, field, replace

from oracle.compare import ORDERED, Allowance, Comparer
from oracle.minimise import minimise
from oracle.side import Outcome, Side

from filediff.cases import Case
from filediff.statements import Rank, Statement
from filediff.tables import literal
from filediff.world import STOCK, FileWorld

SHORTENING_LIMIT_S = 60.0
SHOWN_BYTES = 2000
CLEAN_UP = (
    "DEALLOCATE ALL; RESET ALL; DROP FOREIGN TABLE IF EXISTS t CASCADE;"
    " DROP TABLE IF EXISTS parent CASCADE"
)
FAST_PATH = re.compile(rb"Fast Path: .*")

READING_CODES = ("22P04", "22021", "22P05")
"""Of errors that COPY's parser raises before it has a value: the record's form, its encoding."""
SKIPPED_VALUE = Allowance(
    "CONTEXT",
    re.compile(r"^(COPY t, line \d+)(, column |: ).*", re.DOTALL),
    r"\1",
    "Right behind a row that on_error has skipped, an error in reading the next record names the"
    " skipped row's column and value (seen in 18.6). The value's memory has been used again or"
    " freed by then, so each execution may show other bytes. The wrapper shows the record.",
)


def allowances(wrapper: str) -> tuple[Allowance, ...]:
    """Return everything that may differ between stock and `wrapper`."""
    return (
        Allowance(
            "*",
            re.compile(rf"\b{re.escape(wrapper)}\b"),
            STOCK,
            "A message that names the wrapper names the one that was asked.",
        ),
        Allowance(
            "MESSAGE_HINT",
            re.compile(r"^(Valid options in this context are:|Perhaps you meant the option).*"),
            "(the options there are)",
            "A wrapper may know options that stock does not.",
        ),
    )


@dataclass
class Tally:
    """How much has been compared, and which paths the candidate took."""

    cases: int = 0
    statements: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """By SQLSTATE."""
    rows: int = 0
    notices: int = 0
    paths: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        """Count a statement by its outcome."""
        self.statements += 1
        self.notices += len(outcome.notices)
        for result in outcome.results:
            self.rows += len(result.rows)
            if result.error:
                self.errors[dict(result.error.fields).get("SQLSTATE", "none")] += 1

    def __str__(self) -> str:
        paths = "; ".join(f"{count} {path}" for path, count in self.paths.most_common(12))
        return (
            f"{self.cases} cases, {self.statements} statements: {self.errors.total()} errors"
            f" ({len(self.errors)} codes), {self.rows} rows and {self.notices} notices compared"
            + (f"\npaths of the candidate: {paths}" if paths else "")
        )


@dataclass(frozen=True)
class Difference:
    """Where a case differs and in what."""

    case: Case
    statement: Statement | None
    """None when the table cannot even be made alike."""
    reason: str

    def __str__(self) -> str:
        return "\n".join(
            (
                f"file ({len(self.case.content)} bytes): {_shown(self.case.content)}",
                self.case.table.create("/the/file") + ";",
                "; ".join(set_all(self.case.settings + self.case.own_settings)) + ";",
                f"{self.statement.sql};" if self.statement else "",
                self.reason,
            )
        )


class Differ:
    """Compares a world's two sides."""

    def __init__(self, world: FileWorld) -> None:
        self._world = world
        self._comparer = Comparer(allowances(world.wrapper))
        self._skipping_comparer = Comparer((*allowances(world.wrapper), SKIPPED_VALUE))
        self.tally = Tally()

    def run(self, case: Case, twisted: Case | None = None) -> Difference | None:
        """Run `case` on both sides, or another one on the candidate's; return the first
        difference, None when there is none."""
        self.tally.cases += 1
        cases = (case, twisted or case)
        for one in cases:
            self._world.file(one.filename).write_bytes(one.content)
        sides = self._world.sides()
        _ask(sides, CLEAN_UP, "; ".join((CLEAN_UP, *set_all(cases[1].own_settings))))
        scripts = [self._script(one) for one in cases]
        steps: list[Statement | None] = [None, *case.statements]
        for step, stock_sql, candidate_sql in zip(steps, *scripts, strict=True):
            expected, actual = _ask(sides, stock_sql, candidate_sql)
            self.tally.add(expected)
            reason = self._difference(case, step, expected, actual)
            if reason:
                return Difference(case, step, reason)
            if step is None and expected.results[-1].error:
                return None
        return self._explained(case, sides[1])

    def _script(self, case: Case) -> list[str]:
        """Return what a side does: the set-up, then the statements."""
        path = str(self._world.file(case.filename))
        # The settings come first: a default is read when the table is made.
        setup = "; ".join((*set_all(case.settings), case.table.create(path)))
        return [setup, *(statement.sql for statement in case.statements)]

    def _difference(
        self, case: Case, step: Statement | None, stock: Outcome, candidate: Outcome
    ) -> str:
        rank = step.rank if step else Rank.ORDERED
        if rank.any_error(_is_the_files(stock), _is_the_files(candidate)):
            return ""
        mark = ORDERED if rank is Rank.ORDERED else ""
        reason = self._comparer.difference(mark, stock, candidate)
        if reason and case.table.dialect.options.get("on_error") == "ignore":
            return self._difference_but_skipped_values(mark, stock, candidate)
        return reason

    def _difference_but_skipped_values(self, mark: str, stock: Outcome, candidate: Outcome) -> str:
        """Compare errors in reading a record, but for the value that `SKIPPED_VALUE` is about.

        Bytes of it that the client's encoding lacks make another error in the place of the first,
        which lacks the context; of this one nothing but its kind can be compared.
        """
        errors = [_error(outcome) for outcome in (stock, candidate)]
        comparer = self._comparer
        if all(error.get("SQLSTATE") in READING_CODES for error in errors):
            if any(_is_unreportable(error) for error in errors):
                return ""
            comparer = self._skipping_comparer
        return comparer.difference(mark, stock, candidate)

    def _explained(self, case: Case, candidate: Side) -> Difference | None:
        """Let the candidate explain one query, and count which path it takes; what it says is its
        own affair, as long as it lives."""
        queries = [s for s in case.statements if s.sql.startswith("SELECT")]
        if self._world.wrapper == STOCK or not queries:
            return None
        candidate.send(f"EXPLAIN (ANALYZE, VERBOSE) {queries[0].sql}")
        outcome = candidate.receive()
        for line in (row[0] for result in outcome.results for row in result.rows):
            if line is not None and (found := FAST_PATH.search(line)):
                self.tally.paths[found[0].decode(errors="replace")] += 1
        return Difference(case, queries[0], f"EXPLAIN: {outcome.lost}") if outcome.lost else None

    def shorten(self, difference: Difference) -> Difference:
        """Return a difference that a shorter case shows; the same one when it does not recur."""
        last = difference
        deadline = time.monotonic() + SHORTENING_LIMIT_S

        def differs(case: Case) -> bool:
            nonlocal last
            if time.monotonic() > deadline:
                return False
            found = self.run(case)
            last = found or last
            return found is not None

        statements = (difference.statement,) if difference.statement else ()
        if not differs(replace(difference.case, statements=statements)):
            return difference
        lines = last.case.content.splitlines(keepends=True)
        minimise(lines, lambda x: differs(replace(last.case, content=b"".join(x))))
        if len(last.case.content) <= SHOWN_BYTES:
            units = [bytes([byte]) for byte in last.case.content]
            minimise(units, lambda x: differs(replace(last.case, content=b"".join(x))))
        return last


def set_all(settings: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the statements that set settings."""
    return [f"SET {name} = {literal(value)}" for name, value in settings]


def _ask(sides: tuple[Side, Side], stock: str, candidate: str) -> tuple[Outcome, Outcome]:
    """Ask both sides at once; leave neither in a transaction."""
    for side, statement in zip(sides, (stock, candidate), strict=True):
        side.send(statement)
    expected, actual = (side.receive() for side in sides)
    if stock.startswith("BEGIN"):
        for side in sides:
            side.send("ROLLBACK")
        for side in sides:
            side.receive()
    return expected, actual


def _is_the_files(outcome: Outcome) -> bool | None:
    """Return whether an outcome is an error in the file, and not in an expression; None when it is
    no error."""
    error = _error(outcome)
    return "COPY t" in error.get("CONTEXT", "") if error else None


def _error(outcome: Outcome) -> dict[str, str]:
    """Return the fields of a statement's error, none if it has none or its session is gone."""
    errors = [dict(result.error.fields) for result in outcome.results if result.error]
    return errors[0] if errors and not outcome.lost else {}


def _is_unreportable(error: dict[str, str]) -> bool:
    return error["SQLSTATE"] in ("22021", "22P05") and "CONTEXT" not in error


def _shown(content: bytes) -> str:
    if len(content) <= SHOWN_BYTES:
        return repr(content)
    return f"{content[: SHOWN_BYTES // 2]!r} ... {content[-SHOWN_BYTES // 2 :]!r}"
