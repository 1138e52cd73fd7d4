r"""Cuts a file into records, and a record into fields.

Written from the documentation: COPY's page of PostgreSQL says what a record and a field are, the
wrapper's page which lines and fields are left out. What neither says raises `Unspecified`: such a
case is not compared.

Two habits of COPY count for the lines that errors name, and are kept here. Within quotes it counts
line feeds once the first record has shown that these end lines, and carriage returns before that
and in files of another style. In text format it does not count a line end behind a backslash.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from filerecords.rules import Rules

MARK = b"\xef\xbb\xbf"
BLANKS = b" \t"
LINE_END = re.compile(rb"\r\n|\r|\n")
CSV_MARKER_MAJORS = range(18)
r"""Majors in which `\.` alone on a line ends a CSV file, too."""
BAD_FORMAT, BAD_ENCODING = "22P04", "22021"

Field = bytes | None


class FurtherNull(bytes):
    """A field that is one of `null_strings`, as it stands in the file."""


class Fault(Exception):
    """An error that the query must raise."""

    def __init__(self, sqlstate: str, line: int | None = None) -> None:
        """`line` is None where the documentation does not say which line it names."""
        super().__init__(f"{sqlstate} in line {line}")
        self.sqlstate = sqlstate
        self.line = line


class Unspecified(Exception):
    """Something that the documentation leaves open."""


@dataclass(frozen=True)
class Record:
    """A record, a header included."""

    line: int
    """The line that an error in it names."""
    raw: bytes
    """In UTF-8, without its line end."""


@dataclass(frozen=True)
class Text:
    """What a file has."""

    records: tuple[Record, ...]
    left_out: int
    """Lines."""
    end: Fault | Unspecified | None
    """What is met behind the last record, if that is not the end."""
    has_marker: bool = False
    """Whether an end-of-data marker ends it."""


@lru_cache(maxsize=100)
def read_text(content: bytes, rules: Rules, major: int) -> Text:
    """Read a file of the server's major version to its end, or to the first error."""
    records: list[Record] = []
    end: Fault | Unspecified | None = None
    reader: _Reader | None = None
    try:
        reader = _Reader(content, rules, major)
        while (record := reader.next_record()) is not None:
            records.append(record)
    except (Fault, Unspecified) as met:
        end = met
    if reader is None:
        return Text((), 0, end)
    return Text(tuple(records), reader.left_out, end, reader.has_marker)


class _Reader:
    """A place in a file."""

    def __init__(self, content: bytes, rules: Rules, major: int) -> None:
        content, self.left_out = _without_footer(content, rules.skip_last_lines)
        if rules.skips_mark:
            content = content.removeprefix(MARK)
        try:
            self._content = content.decode(rules.codec).encode()
        except UnicodeDecodeError as error:
            raise Unspecified("bytes that are no characters") from error
        self._rules = rules
        self._is_csv = rules.format == "csv"
        self._takes_marker = not self._is_csv or major in CSV_MARKER_MAJORS
        self._comment = rules.comment.encode()
        self._lines_due = rules.skip_lines
        self._place = 0
        self._line = 0
        self._style = b""
        """How lines end; empty before the first record."""
        self.has_marker = False

    def next_record(self) -> Record | None:
        """Return the next record, None at the end of the data."""
        while self._place < len(self._content) and self._is_left_out():
            self._place = self._next_line()
            self._line += 1
            self.left_out += 1
        if self._place >= len(self._content):
            return None
        self._line += 1
        start = self._place
        end = self._csv_end() if self._is_csv else self._text_end()
        if end is None:
            return None
        return Record(self._line, self._content[start:end])

    def _is_left_out(self) -> bool:
        if self._lines_due > 0:
            self._lines_due -= 1
            return True
        if self._comment and self._content.startswith(self._comment, self._place):
            return True
        if not self._rules.skips_blank:
            return False
        is_empty = self._content.startswith((b"\r", b"\n"), self._place)
        if is_empty and self._style:
            is_empty = self._content.startswith(self._style, self._place)
        return is_empty

    def _next_line(self) -> int:
        """Return where the line behind this one, which is left out, begins."""
        end = LINE_END.search(self._content, self._place)
        if end is None:
            return len(self._content)
        if not self._style or end[0] == self._style:
            return end.end()
        found = self._content.find(self._style, self._place)
        return len(self._content) if found < 0 else found + len(self._style)

    def _csv_end(self) -> int | None:
        """Find the record's end outside of quotes; None if it is a marker. Go behind it."""
        quote, escape = ord(self._rules.quote), ord(self._rules.escape)
        is_quoted = is_escaped = False
        if self._is_marker():
            return None
        for place in range(self._place, len(self._content)):
            byte = self._content[place]
            if is_quoted and byte == escape != quote:
                is_escaped = not is_escaped
            if byte == quote and not is_escaped:
                is_quoted = not is_quoted
            if byte != escape:
                is_escaped = False
            if byte in b"\r\n":
                if not is_quoted:
                    return self._end_line(place)
                self._line += byte == ord("\n" if self._style == b"\n" else "\r")
        self._place = len(self._content)
        return self._place

    def _text_end(self) -> int | None:
        """Find the record's end that no backslash precedes; None if it is a marker. Go behind."""
        if self._is_marker():
            return None
        place = self._place
        while place < len(self._content):
            byte = self._content[place : place + 1]
            if byte in b"\r\n":
                return self._end_line(place)
            if self._content.startswith(b"\\.", place):
                raise Unspecified("a marker that does not stand alone")
            place += 2 if byte == b"\\" else 1
        self._place = len(self._content)
        return self._place

    def _is_marker(self) -> bool:
        r"""Return whether here is `\.` alone on a line."""
        behind = self._place + 2
        if not self._takes_marker or not self._content.startswith(b"\\.", self._place):
            return False
        ends = (self._style,) if self._style else (b"\r", b"\n")
        if self._content.startswith(ends, behind):
            self.has_marker = True
            return True
        if not self._is_csv or self._content[behind : behind + 1] in (b"", b"\r", b"\n"):
            raise Unspecified("a marker without the line end of the file")
        return False

    def _end_line(self, place: int) -> int:
        """Go behind the line end at a place, which is returned; it must be like the first one."""
        found = self._content[place : place + 1]
        if self._content.startswith(b"\r\n", place):
            found = b"\r\n"
        if self._style == b"\r" and found == b"\r\n":
            found = b"\r"
        self._style = self._style or found
        if found != self._style:
            if self._rules.cuts_extra:
                raise Unspecified("whether line ends in fields that are left out are checked")
            raise Fault(BAD_FORMAT, self._line)
        self._place = place + len(found)
        return place


def _without_footer(content: bytes, count: int) -> tuple[bytes, int]:
    """Return a file without its last lines, and how many these are. Its last line end says how
    lines end."""
    found = list(LINE_END.finditer(content))
    if not count or not found:
        return (content, 0) if not count or not content else (b"", 1)
    end = found[-1][0]
    lines = content.split(end)
    if not lines[-1]:
        lines.pop()
    kept = lines[:-count]
    return b"".join(line + end for line in kept), len(lines) - len(kept)


def _null_or(value: bytes, raw: bytes, rules: Rules) -> Field:
    """Return the value of a field without quotes or of text format, or what stands for null."""
    if raw == rules.null.encode():
        return None
    return FurtherNull(raw) if raw.decode(errors="replace") in rules.null_strings else value


@lru_cache(maxsize=20_000)
def split(raw: bytes, rules: Rules) -> tuple[Field, ...]:
    """Return a record's fields: None for the null string. Raises `Fault` without a line."""
    if rules.format == "csv":
        return _csv_fields(raw, rules)
    return _text_fields(raw, rules)


def _csv_fields(raw: bytes, rules: Rules) -> tuple[Field, ...]:
    delimiter, quote, escape = (
        ord(character) for character in (rules.delimiter, rules.quote, rules.escape)
    )
    fields: list[Field] = []
    value = bytearray()
    is_quoted = was_quoted = is_trimmed = False
    start = place = closed = 0

    def field() -> Field:
        if not was_quoted:
            return _null_or(bytes(value), raw[start:place], rules)
        ends_so = is_trimmed and not value[closed:].strip(BLANKS)
        return bytes(value[:closed] if ends_so else value)

    while place < len(raw) or is_quoted:
        if place >= len(raw):
            raise Fault(BAD_FORMAT)
        byte = raw[place]
        following = raw[place + 1] if place + 1 < len(raw) else None
        if is_quoted and byte == escape and following in (escape, quote):
            value.append(raw[place + 1])
            place += 1
        elif byte == quote:
            is_quoted = not is_quoted
            if not was_quoted:
                is_trimmed = rules.skips_quote_blanks and not value.strip(BLANKS)
                if is_trimmed:
                    value.clear()
            was_quoted, closed = True, len(value)
        elif byte == delimiter and not is_quoted:
            fields.append(field())
            value.clear()
            was_quoted, start = False, place + 1
        else:
            value.append(byte)
        place += 1
    return (*fields, field())


ESCAPED = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
CONTROLS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def _text_fields(raw: bytes, rules: Rules) -> tuple[Field, ...]:
    delimiter = re.escape(rules.delimiter.encode())
    whole = re.compile(rb"((?:\\.|[^\\" + delimiter + rb"])*)(\\?\Z)?", re.DOTALL)
    fields: list[Field] = []
    place = 0
    while True:
        found = whole.match(raw, place)
        assert found is not None
        fields.append(_null_or(ESCAPED.sub(_unescaped, found[1]), found[1], rules))
        place = found.end()
        if place >= len(raw):
            return tuple(fields)
        # Behind the delimiter, where a last field may be empty.
        place += 1


def _unescaped(found: re.Match[bytes]) -> bytes:
    octal, hexadecimal, character = found.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    return CONTROLS.get(character, character)
