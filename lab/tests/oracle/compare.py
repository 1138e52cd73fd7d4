"""Decides whether two outcomes of one statement differ.

Rows are compared in order when the statement says so, as multisets otherwise. What the two sides
may legitimately do differently is rewritten first: `allowances` is the whole list. Three things
more may differ, which are no matter of rewriting: `is_other_error`; which key is a duplicate first
where rows of a join are inserted in no order (`INSERT_OF_A_JOIN`); and which remote command EXPLAIN
shows, or fails, where the wrapper sends a condition that stock does not (`SENT_IN_ANOTHER_FORM`).
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from oracle.side import Outcome, Report, Result, Row

ORDERED = "/* ordered */"

EXPLAIN_COLUMN = "QUERY PLAN"
EXPLAIN_OF_WRAPPER = re.compile(
    rb"\s*(((Fetch|Write) Method|Remote Limit|Autocommit|Lookups): [\w ]+"
    rb"|(Evaluated Here|Reason): .*)",
    re.DOTALL,
)
"""What a wrapper says of itself in EXPLAIN (VERBOSE), beyond stock."""

INSERT_OF_A_JOIN = re.compile(r"INSERT INTO (?!.*\bORDER BY\b).*\bSELECT\b.*\bJOIN\b", re.DOTALL)
DUPLICATE_KEY = re.compile(r"Key (\([^()]*\))=\(.*\) already exists\.")

SENT_IN_ANOTHER_FORM = re.compile(
    r"\b(coalesce|extract|now|concat|row_number)\(|\bIS (NOT )?(TRUE|FALSE|UNKNOWN)\b|::\w"
    r"|\bDISTINCT\b|\bEXISTS\b|\bIN \(SELECT\b|^UPDATE\b.* FROM |^DELETE\b.* USING "
    r"|\b(tz|m|pos)\b",
    re.IGNORECASE | re.DOTALL,
)
"""What the wrapper may send in another form: expressions, columns of some types (a timestamptz, an
enum, a domain), joins; and modifications whose rows it may look up."""
READ_ONLY = re.compile(r"^cannot execute (SELECT FOR UPDATE|UPDATE|DELETE) in")

OF_A_ROW = re.compile(r"remote SQL command: (INSERT|UPDATE|DELETE)\b.*\$1", re.DOTALL)
REMOTE = "remote SQL command:"


@dataclass(frozen=True)
class Allowance:
    """Something that may differ: what of a report is rewritten, and why that is right."""

    field: str
    """The field of an error or notice, or `*` for all."""
    pattern: re.Pattern[str]
    replacement: str
    reason: str


def allowances(wrapper: str) -> tuple[Allowance, ...]:
    """Return everything that may differ between stock and `wrapper`."""
    return (
        Allowance(
            "*",
            re.compile(rf"\b{re.escape(wrapper)}\b"),
            "postgres_fdw",
            "A message that names the wrapper names the one that was asked.",
        ),
        Allowance(
            "MESSAGE_HINT",
            re.compile(r"^(Valid options in this context are:|Perhaps you meant the option).*"),
            "(the options there are)",
            "A wrapper may know options that stock does not.",
        ),
        Allowance(
            "CONTEXT",
            re.compile(r"remote SQL command: (DECLARE c\d+ CURSOR FOR\s+|CLOSE c\d+)"),
            "remote SQL command: ",
            "Which cursor carries the rows, if one does, is the wrapper's own affair.",
        ),
        Allowance(
            "CONTEXT",
            re.compile(r"(remote SQL command: [^\n]*\nCOPY \w+), line \d+[^\n]*"),
            r"\1",
            "COPY in batches does not know the line of a remote error, as stock with batch_size.",
        ),
        Allowance(
            "CONTEXT",
            re.compile(r"(remote SQL command: [^\n]*public\.part_)(?:low|high)\b"),
            r"\1one of two",
            "These are on two servers. Where both refuse, the one that is asked or answers first"
            " is named: the servers of a TRUNCATE are in the order of a hash of their OIDs, and"
            " asynchronous scans in that of their answers.",
        ),
    )


class Comparer:
    """Compares outcomes of stock with outcomes of one wrapper."""

    def __init__(self, allowances: tuple[Allowance, ...]) -> None:
        """`allowances` has everything that may differ."""
        self._allowances = allowances

    def difference(self, statement: str, stock: Outcome, candidate: Outcome) -> str:
        """Return in what the two outcomes differ, an empty string when in nothing.

        A lost connection is a difference even when both sides lose theirs: the sides share a
        server, so one side's crash takes the other one's session along.
        """
        for name, outcome in (("stock", stock), ("candidate", candidate)):
            if outcome.lost:
                return f"{name} lost its connection: {outcome.lost}"
        if len(stock.results) != len(candidate.results):
            return f"{len(stock.results)} results and {len(candidate.results)}"
        ordered = statement.startswith(ORDERED)
        if INSERT_OF_A_JOIN.match(statement):
            stock, candidate = _without_key(stock), _without_key(candidate)
        if SENT_IN_ANOTHER_FORM.search(statement):
            stock, candidate = _without_form(stock), _without_form(candidate)
        for ours, theirs in zip(stock.results, candidate.results, strict=True):
            found = self._result_difference(ours, theirs, ordered)
            if found:
                return found
        expected = [self.allow(notice) for notice in stock.notices]
        actual = [self.allow(notice) for notice in candidate.notices]
        return "" if expected == actual else f"notices: {_both(expected, actual)}"

    def _result_difference(self, stock: Result, candidate: Result, ordered: bool) -> str:
        expected, actual = self.allow(stock.error), self.allow(candidate.error)
        if expected != actual:
            return f"error: {_both(expected, actual)}"
        if stock.tag != candidate.tag:
            return f"command tag: {_both(stock.tag, candidate.tag)}"
        if stock.columns != candidate.columns:
            return f"columns: {_both(stock.columns, candidate.columns)}"
        return row_difference(stock.rows, _without_own_lines(candidate), ordered)

    def allow(self, report: Report | None) -> Report | None:
        """Return `report` with everything rewritten that may differ.

        A field of which nothing is left is one that the other side need not have.
        """
        if report is None:
            return None
        fields = (self._allow_field(*pair) for pair in report.fields)
        return replace(report, fields=tuple(pair for pair in fields if pair[1]))

    def _allow_field(self, name: str, value: str) -> tuple[str, str]:
        for allowance in self._allowances:
            if allowance.field in ("*", name):
                value = allowance.pattern.sub(allowance.replacement, value)
        return name, value


def is_other_error(stock: Outcome, candidate: Outcome) -> bool:
    """Return whether the two can be different errors of one statement: stock's a row that the
    remote server refused, the candidate's a later row that could not be computed.

    Rows that are not waited for one by one meet the second first. That the statement has stock's
    error, too, is for the caller to find out, by waiting for them.
    """
    expected, actual = _context_of_error(stock), _context_of_error(candidate)
    if expected is None or actual is None:
        return False
    return OF_A_ROW.search(expected) is not None and REMOTE not in actual


def _without_key(outcome: Outcome) -> Outcome:
    """Return an outcome whose error does not say which key was a duplicate."""
    return _with_error(
        outcome, lambda _, value: DUPLICATE_KEY.sub(r"Key \1 already exists.", value)
    )


def _without_form(outcome: Outcome) -> Outcome:
    """Return an outcome that does not say which remote command there is, or has failed, nor whether
    one has: stock evaluates some of it here.
    """
    results = tuple(
        replace(result, rows=()) if _is_plan(result) else result for result in outcome.results
    )
    return _with_error(
        replace(outcome, results=results),
        lambda name, value: ""
        if name == "CONTEXT" and value.startswith(REMOTE)
        else READ_ONLY.sub("cannot be executed in", value),
    )


def _with_error(outcome: Outcome, change: Callable[[str, str], str]) -> Outcome:
    """Return an outcome with each field of its error changed."""
    error = outcome.results[-1].error if outcome.results else None
    if error is None:
        return outcome
    fields = tuple((name, change(name, value)) for name, value in error.fields)
    last = replace(outcome.results[-1], error=replace(error, fields=fields))
    return replace(outcome, results=(*outcome.results[:-1], last))


def _context_of_error(outcome: Outcome) -> str | None:
    error = outcome.results[-1].error if outcome.results else None
    return None if error is None else dict(error.fields).get("CONTEXT", "")


def _is_plan(result: Result) -> bool:
    return [column[0] for column in result.columns] == [EXPLAIN_COLUMN]


def _without_own_lines(candidate: Result) -> tuple[Row, ...]:
    """Return the rows, without those in which EXPLAIN says how the wrapper carries rows."""
    if not _is_plan(candidate):
        return candidate.rows
    return tuple(row for row in candidate.rows if not EXPLAIN_OF_WRAPPER.fullmatch(row[0] or b""))


def row_difference(stock: tuple[Row, ...], candidate: tuple[Row, ...], ordered: bool) -> str:
    """Return in what two sets of rows differ, an empty string when in nothing."""
    if stock == candidate:
        return ""
    missing, extra = Counter(stock) - Counter(candidate), Counter(candidate) - Counter(stock)
    if missing or extra:
        return f"rows only in stock: {_some(missing)}; rows only in the candidate: {_some(extra)}"
    return "the order of the rows" if ordered else ""


def _both(stock: object, candidate: object) -> str:
    return f"\n  stock:     {_shown(stock)}\n  candidate: {_shown(candidate)}"


def _shown(value: object) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)


def _some(rows: Counter[Row]) -> str:
    shown = [str(row) for row in list(rows.elements())[:3]]
    return f"{rows.total()} ({', '.join(shown)})" if shown else "none"
