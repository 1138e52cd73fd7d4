"""Writes files as bytes: records, and what the options of the wrapper are about."""

import random
import re
from dataclasses import dataclass, replace

from filediff.files import Row, render
from filediff.tables import Dialect

from filerecords.numbers import written
from filerecords.reader import MARK
from filerecords.rules import Column, Rules, Table

VALUES = {
    "integer": ("0", "1", "-1", "2", "5", "42", "-7", " 7 ", "007", "2147483647"),
    "bigint": ("0", "1", "-1", "3", "6", "42", "+4", "9223372036854775807"),
    "text": (
        *("", "a", "b c", "abc", 'q"q', "'", "it's", "a,b", "a;b|c", "tab\there", "line\nbreak"),
        *("#x", "# no\n# comment", "--", "//", "1", "\\", "\\.", "\\N", "NULL", "-", "x", "äö"),
        *("\n\n", "cr\rhere", "\r\n", " ", '"', '""', "\ufeffz", "a:b", "x" * 30),
    ),
    "date": ("2024-01-02", "1995-03-15", "2000-02-29", "Jan 8, 1999", "infinity", "19990108"),
    "numeric(8,2)": ("0", "1.50", "-2.25", "1e2", "3.14159", "99.995", "NaN", ".5"),
    "timestamp": ("2024-01-02 03:04:05", "1995-03-15", "2024-01-02T03:04:05.25"),
    "boolean": ("t", "f", "true", "no", "1", "0"),
    "double precision": ("0", "1.5", "-2.25", "0.1", "1e10", "NaN"),
}
BAD_VALUES = {
    "integer": ("", "x", "1.5", "2147483648", "1 2", "# 1"),
    "bigint": ("", "x", "9223372036854775808", "--1"),
    "text": ("#", "none"),
    "date": ("", "never", "2023-02-29", "2024-13-01", "1/2/3/4"),
    "numeric(8,2)": ("", "x", "1000000", "1.2.3"),
    "timestamp": ("", "x", "2024-01-02 25:00:00"),
    "boolean": ("", "maybe", "2"),
    "double precision": ("", "x", "1e400"),
}
"""Texts that are no values of their type, but for those of text."""
LINE_ENDS = ("\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r")
COMMENTED = ("", ' it "is', " don't", ",,,", "\t|;", "x,1", " 1", "\\", "\\.", '"', " ä")
LONG_ROWS = (1100, 2000)
"""How many a long file has, so that a batch of a scan ends within it."""
INDEXED_ROWS = (2500, 3500)
"""How many one has of which an index may be kept, so that it has some blocks."""


@dataclass(frozen=True)
class Chances:
    """How often something stands in a file, of each record."""

    wrong: float
    short: float
    long: float
    comment: float
    blank: float


def draw_text(rng: random.Random, table: Table) -> bytes:
    """Draw a file of a table, as it is before it is compressed."""
    if rng.random() < 0.04:
        return b""
    dialect = table.rules.dialect(rng.choice(LINE_ENDS))
    columns = table.file_columns
    if table.rules.by_name:
        columns = tuple(rng.sample(columns, rng.randint(1, len(columns))))
    chances = _draw_chances(rng, table)
    lines = [*_preamble(rng, table, dialect, columns)]
    body = []
    for _ in range(rng.choice((0, 1, 2, 3, 5, 8, 20))):
        body += _irregular_lines(rng, table, dialect, chances)
        record = render(rng, _draw_row(rng, table.rules, columns, chances), dialect)
        body.append(_blanked(rng, table.rules, record))
    body += _irregular_lines(rng, table, dialect, chances)
    is_indexed = not table.rules.is_irregular and not table.location
    if body and rng.random() < (0.3 if is_indexed else 0.05):
        body = rng.choices(body, k=rng.randint(*(INDEXED_ROWS if is_indexed else LONG_ROWS)))
    text = b"".join((*lines, *body))
    if rng.random() < 0.12:
        text = _damaged(rng, text, dialect)
    return _ended(rng, _footed(rng, table.rules, text, dialect), dialect)


def _draw_chances(rng: random.Random, table: Table) -> Chances:
    """What the table has no option for is mostly not there: one such record, and nothing behind it
    is compared."""
    rules = table.rules

    def of(is_allowed: bool) -> float:
        return rng.choice((0.0, 0.1, 0.4)) if is_allowed else rng.choice((0.0, 0.0, 0.0, 0.02))

    return Chances(
        wrong=rng.choice((0.0, 0.1, 0.3)) if rules.skips_errors else rng.choice((0.0, 0.0, 0.02)),
        short=of(rules.pads_missing),
        long=of(rules.cuts_extra),
        comment=of(bool(rules.comment)),
        blank=of(rules.skips_blank or rules.pads_missing or len(table.file_columns) == 1),
    )


def _draw_row(
    rng: random.Random, rules: Rules, columns: tuple[Column, ...], chances: Chances
) -> Row:
    row: list[str | None] = []
    for column in columns:
        if rng.random() < 0.1:
            row.append(rng.choice((None, *rules.null_strings)))
        else:
            texts = BAD_VALUES if rng.random() < chances.wrong else VALUES
            row.append(written(rng, rng.choice(texts[column.type]), column.options))
    if rng.random() < chances.short:
        return tuple(row[: rng.randint(1, len(row))])
    if rng.random() < chances.long:
        more = [rng.choice((*VALUES["text"], None)) for _ in range(rng.choice((1, 1, 2, 5)))]
        return (*row, *more)
    return tuple(row)


def _blanked(rng: random.Random, rules: Rules, record: bytes) -> bytes:
    """Return a record with blanks around some of its quotes."""
    if not rules.skips_quote_blanks or rng.random() < 0.5:
        return record
    delimiter, quote = re.escape(rules.delimiter.encode()), re.escape(rules.quote.encode())
    blank = rng.choice((b" ", b"  ", b" " if rules.delimiter == "\t" else b"\t"))
    record = re.sub(b"(^|" + delimiter + b")(?=" + quote + b")", rb"\1" + blank, record)
    if rng.random() < 0.5:
        record = re.sub(b"(?<=" + quote + b")(?=" + delimiter + b"|[\r\n])", blank, record)
    return record


def _irregular_lines(
    rng: random.Random, table: Table, dialect: Dialect, chances: Chances
) -> list[bytes]:
    lines = []
    while rng.random() < chances.comment:
        lines.append(_comment(rng, table, dialect))
    while rng.random() < chances.blank:
        lines.append(dialect.line_end.encode())
    rng.shuffle(lines)
    return lines


def _comment(rng: random.Random, table: Table, dialect: Dialect) -> bytes:
    begin = table.rules.comment or "#"
    indent = " " if rng.random() < 0.03 else ""
    line = indent + begin + rng.choice(COMMENTED) + dialect.line_end
    return line.encode(dialect.codec)


def _preamble(
    rng: random.Random, table: Table, dialect: Dialect, columns: tuple[Column, ...]
) -> list[bytes]:
    """Draw what stands before the first row: a mark, lines to be skipped, a header."""
    rules = table.rules
    lines = []
    # What is left out before the first record may end in another way.
    ends = dialect.line_end if rng.random() < 0.9 else rng.choice(LINE_ENDS)
    title = replace(dialect, line_end=ends)
    if rng.random() < (0.4 if rules.skips_mark else 0.02):
        lines.append(MARK)
    for _ in range(rules.skip_lines if rules.skip_lines < 10 or rng.random() < 0.5 else 2):
        lines.append((rng.choice(("", 'A "title', "a,b", "#", "1")) + ends).encode())
    chances = _draw_chances(rng, table)
    lines += _irregular_lines(rng, table, title, chances)
    if rules.header:
        lines.append(_header(rng, table, dialect, columns))
    return lines


def _header(
    rng: random.Random, table: Table, dialect: Dialect, columns: tuple[Column, ...]
) -> bytes:
    names: list[str | None] = [column.name for column in columns]
    kind = rng.random()
    if kind < (0.05 if table.rules.header == "match" or table.rules.by_name else 0.3):
        more: list[list[str | None]] = [[*names, "more"], [*names, names[0]]]
        names = rng.choice((names[:-1] or ["b"], *more, ["z"], ["A"]))
    return render(rng, tuple(names), dialect)


def _footed(rng: random.Random, rules: Rules, text: bytes, dialect: Dialect) -> bytes:
    """Return the text with a footer, if one is left out."""
    if rng.random() < 0.1:
        return text
    lines = (rng.choice(("", "Total: 5", 'printed "', ",,", "\\.", "a\\")) for _ in range(3))
    count = min(rules.skip_last_lines, 3)
    return text + b"".join((line + dialect.line_end).encode() for line in list(lines)[:count])


def _damaged(rng: random.Random, text: bytes, dialect: Dialect) -> bytes:
    """Return the text with one thing put in or taken out, near something that matters."""
    special = (dialect.delimiter + dialect.quote + dialect.escape + "\r\n\\#").encode()
    places = [place for place, byte in enumerate(text[:4000]) if byte in special]
    place = max(0, min(len(text), rng.choice(places or [0]) + rng.choice((-1, 0, 0, 1))))
    if rng.random() < 0.3:
        return text[:place] + text[place + 1 :]
    put = rng.choice([bytes([byte]) for byte in special] + [b"\r\n", b" ", b"\\N", b"1", b"#"])
    return text[:place] + put + text[place:]


def _ended(rng: random.Random, text: bytes, dialect: Dialect) -> bytes:
    """Return the text with the end of a file: mostly as it is."""
    end = dialect.line_end.encode()
    kind = rng.random()
    if kind < 0.15:
        return text.removesuffix(end)
    if kind < 0.2:
        return text + b"\\." + end + rng.choice((b"", b"left over" + end, end))
    return text
