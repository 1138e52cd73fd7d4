"""Asks the server what the oracle has answered, and says in what they differ."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from oracle.compare import row_difference
from oracle.minimise import minimise
from oracle.side import Outcome

from filerecords.drawing import Case
from filerecords.oracle import Answer, Oracle
from filerecords.questions import Question
from filerecords.reader import BAD_ENCODING, BAD_FORMAT, Unspecified
from filerecords.rules import Rules, Table
from filerecords.world import RecordWorld

PLACE = re.compile(r'COPY t(?:, file "[^"]*")?, line (\d+)')
NAMED_COLUMN = re.compile(r' for column ".*"')
SKIPPING = re.compile(
    r'(skipping row due to data type incompatibility at line \d+ for column "\w+"): .*', re.DOTALL
)
PATH = re.compile(r"(Fast Path|Record Index|Column Cache): .*")
"""What EXPLAIN says of how a file was read."""


@dataclass
class Tally:
    """How much has been compared."""

    cases: int = 0
    unspecified: int = 0
    """Cases that the documentation leaves open, at least in part."""
    known: Counter[str] = field(default_factory=Counter)
    """Queries that were left out, by the exception's name."""
    queries: int = 0
    rows: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """By SQLSTATE."""
    told: Counter[str] = field(default_factory=Counter)
    """Cases that an option has mattered in, by what it did."""
    paths: Counter[str] = field(default_factory=Counter)

    def add(self, answer: Answer) -> None:
        """Count a query by what it had to come to."""
        self.queries += 1
        self.rows += len(answer.rows)
        if answer.error:
            self.errors[answer.error.sqlstate] += 1
            return
        for name in ("lines_left_out", "short_records", "long_records", "skipped"):
            self.told[name] += bool(getattr(answer, name))

    def __str__(self) -> str:
        kept = sum(count for path, count in self.paths.items() if " of N " in path)
        told = ", ".join(f"{count} with {name}" for name, count in self.told.most_common())
        return (
            f"{self.cases} cases ({self.unspecified} left open), {self.queries} queries:"
            f" {self.errors.total()} errors ({len(self.errors)} codes), {self.rows} rows; {told};"
            f" {kept} times an index or kept columns in EXPLAIN"
            + "".join(f"\nknown: {count} of {name}" for name, count in self.known.items())
            + "".join(f"\npath: {count} {path}" for path, count in self.paths.most_common(8))
        )


@dataclass(frozen=True)
class Difference:
    """Where a case differs and in what."""

    case: Case
    question: Question | None
    """None when the table cannot be made."""
    reason: str

    def __str__(self) -> str:
        asked = self.question
        table = self.case.table
        settings = asked.settings.items() if asked else ()
        return "\n".join(
            (
                *(f"{x.name} ({x.compression}): {x.text[:2000]!r}" for x in table.files),
                table.create("/the/folder") + ";",
                *(f"SET {name} = {value};" for name, value in settings),
                f"{asked.sql};" if asked else "",
                self.reason,
            )
        )


Exceptions = dict[str, Callable[[Table, Question, Answer], bool]]
"""Differences that are known: what they are about, by name."""


class Checker:
    """Compares cases of a world with the oracle."""

    def __init__(self, world: RecordWorld, known: Exceptions) -> None:
        """`known` has what is not compared."""
        self._world = world
        self._known = known
        self._oracle = Oracle(world.convert, world.major)
        self.tally = Tally()

    def check(self, case: Case, twisted: Case | None = None) -> Difference | None:
        """Return the first difference of a case, None when there is none. The server may be given
        another one."""
        self.tally.cases += 1
        given = twisted or case
        made = self._world.make(given.table, given.decoys)
        if made.lost or made.results[-1].error:
            return Difference(case, None, f"not made: {made.lost or made.results[-1].error}")
        for question in case.questions:
            try:
                answer = self._oracle.answer(case.table, question, str(self._world.folder))
            except Unspecified:
                self.tally.unspecified += 1
                return None
            if name := self._exception(case.table, question, answer):
                self.tally.known[name] += 1
                continue
            for _ in range(question.times):
                self.tally.add(answer)
                outcome = self._ask(question)
                if reason := self._reason(case.table, question, answer, outcome):
                    return Difference(case, question, reason)
        return None

    def shorten(self, difference: Difference) -> Difference:
        """Return a difference that shorter files show; the same one when it does not recur."""
        last = difference
        if difference.question is None:
            return last

        def differs(case: Case) -> bool:
            nonlocal last
            found = self.check(case)
            last = found or last
            return found is not None

        if not differs(replace(difference.case, questions=(difference.question,))):
            return difference
        for number, file in enumerate(last.case.table.files):

            def differs_with(lines: tuple[bytes, ...], number: int = number) -> bool:
                return differs(_with_text(last.case, number, b"".join(lines)))

            minimise(file.text.splitlines(keepends=True), differs_with)
        return last

    def _exception(self, table: Table, question: Question, answer: Answer) -> str:
        known = self._known.items()
        return next((name for name, is_met in known if is_met(table, question, answer)), "")

    def _ask(self, question: Question) -> Outcome:
        settings = (
            f"SET {name.format(wrapper=self._world.wrapper)} = {value}"
            for name, value in question.settings.items()
        )
        return self._world.ask("; ".join((*settings, question.sql)))

    def _reason(self, table: Table, question: Question, answer: Answer, outcome: Outcome) -> str:
        if outcome.lost:
            return f"the connection was lost: {outcome.lost}"
        last = outcome.results[-1]
        error = dict(last.error.fields) if last.error else None
        # Elsewhere the files, or parts of one, are read in any order.
        is_ordered = not question.by_workers or _is_read_by_one(table.rules)
        if answer.error or error:
            return _error_difference(table, answer, error, is_ordered)
        if question.explains:
            lines = [(row[0] or b"").decode().strip() for row in last.rows]
            self.tally.paths.update(re.sub(r"\d+", "N", x) for x in lines if PATH.match(x))
            return _explained_difference(table.rules, answer, lines)
        expected = tuple(tuple(_sent(value) for value in row) for row in answer.rows)
        if found := row_difference(expected, last.rows, is_ordered):
            return found.replace("only in stock", "only of the oracle")
        told = sorted(_told(dict(notice.fields)) for notice in outcome.notices)
        wanted = sorted(_notices(table.rules, answer))
        if table.rules.by_name:
            # Of several wrong values of a row any is named: the header has another order.
            told, wanted = (
                [NAMED_COLUMN.sub("", words) for words in notices] for notices in (told, wanted)
            )
        return "" if told == wanted else f"notices:\n  expected: {wanted}\n  found:    {told}"


def _with_text(case: Case, number: int, text: bytes) -> Case:
    """Return a case with another text in one of its files."""
    files = list(case.table.files)
    files[number] = replace(files[number], text=text)
    return replace(case, table=replace(case.table, files=tuple(files)))


def _is_read_by_one(rules: Rules) -> bool:
    return rules.is_irregular or rules.skips_errors


def _sent(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


def _error_difference(
    table: Table, answer: Answer, error: dict[str, str] | None, is_ordered: bool
) -> str:
    wanted = answer.error
    if wanted is None or error is None:
        return f"error:\n  expected: {wanted}\n  found:    {error}"
    if not is_ordered or (answer.cut and error["SQLSTATE"] == BAD_FORMAT):
        return ""
    place = PLACE.search(error.get("CONTEXT", ""))
    line = int(place[1]) if place else None
    is_same = (
        _is_same_code(table.rules, error["SQLSTATE"], wanted.sqlstate)
        and (wanted.line is None or wanted.line == line)
        and (not table.location or any(wanted.file in text for text in error.values()))
    )
    return "" if is_same else f"error:\n  expected: {wanted}\n  found:    {error}"


def _is_same_code(rules: Rules, found: str, wanted: str) -> bool:
    """Return whether an error is the one wanted. Of several wrong values of a row any may raise it
    if the header has another order."""
    is_of_value = rules.by_name and not {found, wanted} & {BAD_FORMAT, BAD_ENCODING}
    return found == wanted or is_of_value


def _told(notice: dict[str, str]) -> str:
    """Return a notice's message, without the value of a skipped row."""
    return SKIPPING.sub(r"\1", notice["MESSAGE_PRIMARY"])


def _irregularities(answer: Answer) -> str:
    """Return the wrapper's words for what the record options have led to."""
    counted = (
        (answer.lines_left_out, "line", "left out"),
        (answer.short_records, "row", "with missing fields"),
        (answer.long_records, "row", "with extra fields"),
    )
    return ", ".join(
        f"{count} {noun}{'' if count == 1 else 's'} {what}"
        for count, noun, what in counted
        if count
    )


def _notices(rules: Rules, answer: Answer) -> list[str]:
    """Return the messages of the notices of a query without an error."""
    if rules.log_verbosity == "silent":
        return []
    notices = []
    if words := _irregularities(answer):
        notices.append(f'foreign table "t": {words}')
    if rules.log_verbosity == "verbose":
        begin = "skipping row due to data type incompatibility at line"
        notices += [f'{begin} {x.line} for column "{x.column}"' for x in answer.skipped]
    if skipped := len(answer.skipped):
        words = "1 row was" if skipped == 1 else f"{skipped} rows were"
        notices.append(f"{words} skipped due to data type incompatibility")
    return notices


def _explained_difference(rules: Rules, answer: Answer, lines: list[str]) -> str:
    wanted = []
    if rules.is_irregular:
        wanted.append(f"Irregular Records: {_irregularities(answer) or 'none'}")
    if rules.skips_errors:
        wanted.append(f"Rows Left Out: {len(answer.skipped)}")
    missing = [line for line in wanted if line not in lines]
    return f"EXPLAIN lacks {missing}:\n" + "\n".join(lines) if missing else ""
