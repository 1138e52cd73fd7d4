"""Faults of the wrapper that are known and not yet mended: what is not compared for them.

Each has the smallest cases that show it. When it is mended these agree, a test says so, and the
entry has to go.
"""

from filerecords.checker import Exceptions
from filerecords.drawing import Case
from filerecords.oracle import Answer
from filerecords.questions import COPYS_PARSER, Question
from filerecords.reader import (
    LEFT_OUT_BEHIND_CR,
    OPEN_BACKSLASH,
)
from filerecords.rules import Column, File, Rules, Table


def names_lines(table: Table, answer: Answer) -> bool:
    """Return whether an error, a notice or a column has the number of a line."""
    has_column = any(column.source == "line" for column in table.columns)
    return has_column or bool(answer.error or answer.skipped)


KNOWN: Exceptions = {
    # COPY's parser looks at the byte behind the CR before it returns the record. By then the lines
    # left out there, and those in fields left out of the next record, are counted already: the
    # record's number is too large by as many.
    LEFT_OUT_BEHIND_CR: lambda table, _, answer: (
        LEFT_OUT_BEHIND_CR in answer.oddities and names_lines(table, answer)
    ),
    # The record is not padded, nor cut.
    OPEN_BACKSLASH: lambda table, _, answer: (
        OPEN_BACKSLASH in answer.oddities and (table.rules.pads_missing or table.rules.cuts_extra)
    ),
}


def case_of(content: bytes, rules: Rules, *types: str, by_copy: bool = False) -> Case:
    """Return a case of one file that is read as a whole, by COPY's parser if that is wanted."""
    columns = tuple(
        Column(name, kind) for name, kind in zip("ab"[: len(types)], types, strict=True)
    )
    names = tuple(column.name for column in columns)
    question = Question("SELECT * FROM t", names, COPYS_PARSER if by_copy else {})
    return Case(Table(columns, rules, (File("case/one", content),)), (), (question,))


EXAMPLES = {
    "the line of an error before a comment of a file of CR": (
        LEFT_OUT_BEHIND_CR,
        case_of(b"x\r#c\r1\r", Rules(comment="#"), "integer"),
    ),
    "the line of an error before a field that is left out of a file of CR": (
        LEFT_OUT_BEHIND_CR,
        case_of(b'x\r1,"\r"\r', Rules(cuts_extra=True), "integer"),
    ),
    "a backslash at the end of a record that lacks a field": (
        OPEN_BACKSLASH,
        case_of(b"1\\", Rules("text", "\t", null="\\N", pads_missing=True), "text", "text"),
    ),
    "a backslash at the end of a record that has too many fields": (
        OPEN_BACKSLASH,
        case_of(b"1\t2\\", Rules("text", "\t", null="\\N", cuts_extra=True), "text"),
    ),
}
"""Cases, with the names of the entries in `KNOWN` that leave them out."""

EDGES = {
    "a line feed in a comment of a file of CR LF": case_of(
        b"1\r\n#c\n2\r\n3\r\n", Rules(comment="#"), "text"
    ),
    "a line feed alone in a file of CR LF": case_of(
        b"1\r\n\n3\r\n", Rules(skips_blank=True), "text"
    ),
    "CR LF alone in a file of line feeds": case_of(b"1\n\r\n3\n", Rules(skips_blank=True), "text"),
    "a line feed at the beginning of a line of a file of CR": case_of(
        b"1\r2\r3\r\n4\r5\r", Rules(skips_blank=True), "text"
    ),
    "an end-of-data marker, all that is left of a record": case_of(
        b'1\n\\.,"a"\n2\n', Rules(cuts_extra=True), "text", by_copy=True
    ),
    "a comment without a line end": case_of(b"1\n#x", Rules(comment="#"), "integer", by_copy=True),
    "an empty field, all that is read of the last record": case_of(
        b",", Rules(cuts_extra=True), "text", by_copy=True
    ),
}
"""Cases that were faults, or would be without a rule of their own."""
