"""Writes files as bytes: the rows of a table in its dialect, then what is wrong with them."""

import random
from dataclasses import dataclass
from enum import IntEnum

from filediff.tables import Dialect, Table
from filediff.values import Family

BLOCKS = (65536, 65536, 131072, 262144, 1048576)
"""Sizes of blocks that a wrapper may read a file by."""
MANY_ROWS = (1000, 1024, 2048, 4096, 5000)
"""Rows that a wrapper may put into one batch, about."""
LONG_BYTES, LONG_ROWS = 30_000, 200
"""What is too much to be shown whole and joined with itself."""

Row = tuple[str | None, ...]


class Marker(str):
    """Stands in the file as it is, neither quoted nor escaped."""


class Blame(IntEnum):
    """How much of a file is wrong."""

    NOTHING = 0
    ONE_PLACE = 1
    MANY_VALUES = 2
    ANYTHING = 3


@dataclass(frozen=True)
class DrawnFile:
    """A file and what a statement has to know of it."""

    content: bytes
    is_long: bool


def draw_file(rng: random.Random, table: Table) -> DrawnFile:
    """Draw a file for a table."""
    if rng.random() < 0.04:
        return DrawnFile(_random_bytes(rng, table.dialect), False)
    blame = rng.choice((*(Blame.NOTHING,) * 8, *(Blame.ONE_PLACE,) * 3, *Blame))
    lines = _lines(rng, table, blame, rng.choice((0, 1, 2, 5, 10, 20, 40)))
    head = _header(rng, table)
    size = rng.random()
    if lines and size < 0.06:
        content = _at_a_boundary(rng, table, head, lines)
    elif lines and size < 0.09:
        content = _many_rows(rng, table, head, lines)
    else:
        content = head + b"".join(lines)
    if blame in (Blame.ONE_PLACE, Blame.ANYTHING):
        for _ in range(1 if blame is Blame.ONE_PLACE else rng.randint(2, 6)):
            content = _damaged(rng, content, table.dialect, len(lines))
    is_long = len(content) > LONG_BYTES or len(content.splitlines()) > LONG_ROWS
    return DrawnFile(_ended(rng, content, table.dialect), is_long)


def _random_bytes(rng: random.Random, dialect: Dialect) -> bytes:
    if rng.random() < 0.3:
        return rng.randbytes(rng.randint(1, 300))
    special = f'{dialect.delimiter}{dialect.quote}{dialect.escape}\\".\n\r\n\n019 aN'.encode()
    return bytes(rng.choices(special + b"\xc3\xa4\0", k=rng.randint(1, 200)))


def _lines(rng: random.Random, table: Table, blame: Blame, count: int) -> list[bytes]:
    wrong = 0.05 if blame is Blame.MANY_VALUES else 0.0
    rows = [_row(rng, table, wrong) for _ in range(count)]
    if rows and blame is Blame.ONE_PLACE and rng.random() < 0.5:
        place = rng.randrange(len(rows))
        rows[place] = _row(rng, table, 1.0 / len(table.columns))
    return [render(rng, row, table.dialect) for row in rows]


def _row(rng: random.Random, table: Table, wrong: float) -> Row:
    values: list[str | None] = []
    marker = Marker(table.dialect.default)
    for column in table.columns:
        if marker and rng.random() < (0.2 if "DEFAULT" in column.constraint else 0.005):
            values.append(marker)
        elif rng.random() < 0.12:
            values.append(None)
        elif rng.random() < wrong:
            values.append(column.type.invalid(rng))
        else:
            values.append(column.type.valid(rng))
    return tuple(values)


def _header(rng: random.Random, table: Table) -> bytes:
    dialect = table.dialect
    if dialect.header not in ("true", "match"):
        return b""
    names: list[str | None] = [column.header for column in table.columns]
    if rng.random() < 0.15:
        place = rng.randrange(len(names))
        names[place] = rng.choice(("x", "", "A", None, f"{names[place]} "))
    if rng.random() < 0.05:
        names = rng.choice((names[:-1], [*names, "more"]))
    return render(rng, tuple(names), dialect)


def render(rng: random.Random, row: Row, dialect: Dialect) -> bytes:
    """Return a row as a line of the file; a character that its encoding lacks becomes `?`."""
    write = _csv_field if dialect.format == "csv" else _text_field
    fields = (value if isinstance(value, Marker) else write(rng, value, dialect) for value in row)
    line = dialect.delimiter.join(fields) + dialect.line_end
    return line.encode(dialect.codec, errors="replace")


def _csv_field(rng: random.Random, value: str | None, dialect: Dialect) -> str:
    if value is None:
        return dialect.null
    special = {dialect.delimiter, dialect.quote, dialect.escape, "\n", "\r"}
    is_plain = value != dialect.null and not special & set(value)
    if is_plain and rng.random() < 0.85:
        return value
    if is_plain and rng.random() < 0.2:
        # Quotes may begin and end in the middle of a value.
        middle = rng.randint(0, len(value))
        return value[:middle] + dialect.quote * 2 + value[middle:]
    for character in dict.fromkeys((dialect.escape, dialect.quote)):
        value = value.replace(character, dialect.escape + character)
    return dialect.quote + value + dialect.quote


_TEXT_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", "\\": "\\"}


def _text_field(rng: random.Random, value: str | None, dialect: Dialect) -> str:
    if value is None:
        return dialect.null
    escapes = _TEXT_ESCAPES | {dialect.delimiter: dialect.delimiter}
    written = []
    for character in value:
        code = ord(character)
        if character in escapes:
            written.append("\\" + escapes[character])
        elif code < 128 and rng.random() < 0.02:
            # A short form takes in what comes after it, and may make a byte that is no character.
            short = rng.random() < 0.05
            forms = (
                (f"\\{code:o}", f"\\x{code:X}") if short else (f"\\{code:03o}", f"\\x{code:02x}")
            )
            written.append(rng.choice(forms))
        elif rng.random() < 0.01 and character not in "bfnrtvxN.01234567":
            written.append("\\" + character)
        else:
            written.append(character)
    return "".join(written)


def _damaged(rng: random.Random, content: bytes, dialect: Dialect, rows: int) -> bytes:
    """Return `content` with one thing wrong, at a place where something stands if there is one."""
    end = dialect.line_end.encode()
    special = (dialect.delimiter + dialect.quote + dialect.escape).encode(errors="replace")
    inserted: tuple[bytes, ...] = (
        *(b'"', b"\\", b"\n", b"\r", b"\r\n", b"\\.", b"\\N", b"\\x", b"\\1", b" ", end, end * 2),
        *(end + b"\\." + end, *(bytes([byte]) for byte in special)),
    )
    if rng.random() < 0.1:
        inserted = (b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe2\x82", b"\xef\xbb\xbf")
    places = [n for n, byte in enumerate(content[-4000:]) if byte in special or byte in end]
    place = max(0, len(content) - 4000) + rng.choice(places) if places else 0
    place = max(0, min(len(content), place + rng.choice((-1, 0, 0, 1, 2))))
    kind = rng.random()
    if kind < 0.55:
        return content[:place] + rng.choice(inserted) + content[place:]
    if kind < 0.7:
        return content[:place] + content[place + 1 :]
    if kind < 0.8:
        return content[:place] + rng.choice(inserted) + content[place + 1 :]
    if kind < 0.85:
        return content[:place]
    if kind < 0.9:
        return b"\xef\xbb\xbf" + content
    other = rng.choice((b"\n", b"\r", b"\r\n"))
    return content[:place] + content[place:].replace(end, other, rng.choice((1, 1, -1)))


def _ended(rng: random.Random, content: bytes, dialect: Dialect) -> bytes:
    """Return `content` with the end of a file: mostly as it is."""
    end = dialect.line_end.encode()
    kind = rng.random()
    if kind < 0.12:
        return content.removesuffix(end)
    if kind < 0.18:
        return content + b"\\." + end + rng.choice((b"", b"left over" + end, end))
    if kind < 0.2:
        return content + rng.choice((b"\\.", b"\\", b'"', b"\r", end, b"\x1a", b"\\.\n", b" "))
    return content


def _at_a_boundary(rng: random.Random, table: Table, head: bytes, lines: list[bytes]) -> bytes:
    """Return the lines so that something that matters stands near the end of a block.

    A long value in front moves them there, or where no column takes one many lines.
    """
    block, dialect = rng.choice(BLOCKS), table.dialect
    tail = b"".join(lines)
    special = (dialect.delimiter + dialect.quote + "\\\r\n").encode(errors="replace")
    places = [n for n, byte in enumerate(tail[:2000]) if byte in special]
    wanted = block + rng.choice((0, -1, 1, rng.randint(-64, 64)))
    missing = wanted - len(head) - (rng.choice(places) if places else 0)
    unlimited = [c for c in table.of(Family.TEXT) if c.type.sql in ("text", "varchar")]
    if not unlimited or rng.random() < 0.3:
        line = rng.choice(lines)
        return head + line * (missing // len(line)) + tail
    long = rng.choice(unlimited)
    row = [None if c is not long else "p" for c in table.columns]
    shortest = render(random.Random(0), tuple(row), dialect)
    body = shortest.replace(b"p", b"p" * max(1, missing - len(shortest) + 1), 1)
    return head + body + tail


def _many_rows(rng: random.Random, table: Table, head: bytes, lines: list[bytes]) -> bytes:
    rows = rng.choice(MANY_ROWS) + rng.randint(-2, 2)
    short = [line for line in lines if len(line) < 60] or lines[:1]
    return head + b"".join(rng.choices(short, k=rows)) + b"".join(lines)
