"""Says what a query of a foreign table must come to, by its files and the documentation.

Records and fields are the reader's; whether a text is a value of its type, and how that value is
written, PostgreSQL's own input and output functions say.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from filerecords.numbers import INVALID_TEXT, OtherFormError, plain
from filerecords.questions import COUNT, Question
from filerecords.reader import (
    BAD_ENCODING,
    BAD_FORMAT,
    Fault,
    Field,
    FurtherNull,
    Record,
    Unspecified,
    read_text,
    split,
)
from filerecords.rules import Column, File, Rules, Table

Converter = Callable[[str, str], tuple[str, str]]
"""Returns the SQLSTATE with which a type, by its name, refuses a text, or an empty string; and the
value as it is sent to a client."""
Values = dict[str, str | None]


@dataclass(frozen=True)
class Error:
    """An error: its SQLSTATE, and what of its place is known."""

    sqlstate: str
    file: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Skipped:
    """A row that `on_error` leaves out."""

    line: int
    column: str


@dataclass
class Answer:
    """What a query must come to."""

    rows: list[tuple[str | None, ...]] = field(default_factory=list)
    error: Error | None = None
    cut: str = ""
    """The compressed file that ends too early, if one does: its error may come before another."""
    lines_left_out: int = 0
    short_records: int = 0
    long_records: int = 0
    skipped: list[Skipped] = field(default_factory=list)


class Oracle:
    """Answers queries of one database's tables."""

    def __init__(self, convert: Converter, major: int) -> None:
        """`major` is the server's."""
        self._convert = convert
        self._major = major

    def answer(self, table: Table, question: Question, folder: str) -> Answer:
        """Return what the query must come to if the table's files are in `folder`. Raises
        `Unspecified`."""
        answer = Answer()
        rows: list[Values] = []
        for file in sorted(table.files, key=lambda x: f"{folder}/{x.name}".encode()):
            path = f"{folder}/{file.name}"
            if question.part and f"/part={question.part}/" not in path:
                continue
            scan = _FileScan(table, question, path, answer)
            try:
                self._read(file, scan, rows)
            except Fault as fault:
                answer.error = Error(fault.sqlstate, path, fault.line)
            if file.is_cut:
                answer.cut = path
                answer.error = answer.error or Error(BAD_FORMAT, path)
            if answer.error:
                return answer
        answer.rows = [row for values in rows for row in question.output_of(values)]
        if question.counts:
            answer.rows = [_counts(question, rows)]
        return answer

    def _read(self, file: File, scan: "_FileScan", rows: list[Values]) -> None:
        text = read_text(file.text, scan.rules, self._major)
        if file.is_cut and (text.has_marker or text.end):
            raise Unspecified("whether the file's compressed form is read to its end")
        records = iter(text.records)
        columns = scan.table.file_columns
        if scan.rules.header:
            header = next(records, None)
            if header is None and text.end is None and scan.rules.header == "match":
                raise Fault(BAD_FORMAT)
            if header is not None:
                columns = scan.columns_of(header)
        for record in records:
            values = scan.row(record, columns, self._convert)
            if values is not None:
                rows.append(values)
        if text.end:
            raise text.end.with_traceback(None)
        scan.answer.lines_left_out += text.left_out


@dataclass
class _FileScan:
    """One file, as a query reads it."""

    table: Table
    question: Question
    path: str
    answer: Answer
    skipped: int = 0

    @property
    def rules(self) -> Rules:
        return self.table.rules

    def columns_of(self, header: Record) -> tuple[Column, ...]:
        """Return the columns of the file; check its header if that says which there are."""
        columns = self.table.file_columns
        if self.rules.header != "match" and not self.rules.by_name:
            return columns
        try:
            names = [_decoded(value) for value in split(header.raw, self.rules)]
        except Fault as fault:
            raise Fault(fault.sqlstate) from fault
        if not self.rules.by_name:
            if names != [column.name for column in columns]:
                raise Fault(BAD_FORMAT, header.line)
            return columns
        known = {column.name: column for column in columns}
        if len(set(names)) < len(names) or not set(names) <= set(known):
            raise Fault(BAD_FORMAT)
        return tuple(known[name] for name in names if name is not None)

    def row(self, record: Record, columns: tuple[Column, ...], convert: Converter) -> Values | None:
        """Return the values of a row by their columns' names, None if it is left out."""
        fields = self._fields(record, len(columns))
        values = {column.name: column.default for column in self.table.file_columns}
        for number, column in enumerate(columns):
            if number >= len(fields) and not self.rules.pads_missing:
                raise Fault(BAD_FORMAT, record.line)
            if not self.question.needs(column.name):
                continue
            text = _forced(fields[number] if number < len(fields) else None, column, self.rules)
            if text is None:
                values[column.name] = None
                continue
            sqlstate, value = _converted(text, column, convert)
            if sqlstate:
                self._refuse(sqlstate, record, column)
                return None
            values[column.name] = value
        for column in self.table.columns:
            if column.source:
                values[column.name] = self._computed(column, record)
        return values

    def _fields(self, record: Record, wanted: int) -> tuple[Field, ...]:
        """Return a record's fields, no more than wanted."""
        try:
            fields = split(record.raw, self.rules)
        except Fault as fault:
            raise Fault(fault.sqlstate, record.line) from fault
        for number, value in enumerate(fields):
            if value is not None and not _is_text(value):
                if number >= wanted and self.rules.cuts_extra:
                    raise Unspecified("whether fields that are left out are checked")
                raise Fault(BAD_ENCODING, record.line)
        if len(fields) > wanted:
            if not self.rules.cuts_extra:
                raise Fault(BAD_FORMAT, record.line)
            self.answer.long_records += 1
        elif len(fields) < wanted and self.rules.pads_missing:
            self.answer.short_records += 1
        return fields[:wanted]

    def _refuse(self, sqlstate: str, record: Record, column: Column) -> None:
        """Leave a row out for a value; raise its error if that must not be."""
        if not self.rules.skips_errors:
            raise Fault(sqlstate, record.line)
        self.answer.skipped.append(Skipped(record.line, column.name))
        self.skipped += 1
        if 0 < self.rules.reject_limit < self.skipped:
            raise Fault(INVALID_TEXT, record.line)

    def _computed(self, column: Column, record: Record) -> str | None:
        """Return the value of a column that is not in the file."""
        if column.source == "file":
            return self.path
        if column.source == "line":
            return str(record.line)
        if pattern := column.options.get("pattern"):
            found = re.search(pattern, self.path)
            return found[1] if found else None
        parts = PurePosixPath(self.path).parts
        return next((x.partition("=")[2] for x in parts if x.startswith(f"{column.name}=")), None)


def _forced(value: Field, column: Column, rules: Rules) -> str | None:
    """Return the text that the input function is given, None for a null."""
    if value is None:
        return rules.null if column.options.get("force_not_null") == "true" else None
    if isinstance(value, FurtherNull):
        return value.decode() if column.options.get("force_not_null") == "true" else None
    nulls = (rules.null, *rules.null_strings)
    if value.decode() in nulls and column.options.get("force_null") == "true":
        return None
    return value.decode()


def _converted(text: str, column: Column, convert: Converter) -> tuple[str, str]:
    """Return what a converter does, of a number in the form of its column."""
    try:
        return convert(column.type, plain(text, column.options))
    except OtherFormError:
        return INVALID_TEXT, ""


def _decoded(value: Field) -> str | None:
    is_null = value is None or isinstance(value, FurtherNull)
    return None if value is None or is_null else value.decode(errors="replace")


def _is_text(value: bytes) -> bool:
    try:
        return "\0" not in value.decode()
    except UnicodeDecodeError:
        return False


def _counts(question: Question, rows: list[Values]) -> tuple[str | None, ...]:
    return tuple(
        str(sum(name == COUNT or row[name] is not None for row in rows)) for name in question.output
    )
