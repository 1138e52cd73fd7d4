"""Draws a case from its numbers: a table, a file, the session's settings and statements."""

import random
from dataclasses import dataclass, replace

from filediff.files import draw_file
from filediff.statements import PARALLEL, Drawer, Rank, Statement
from filediff.tables import CLIENT_ENCODINGS, Table, draw_table

STATEMENTS = 6
"""Of a case."""

SETTINGS = {
    "DateStyle": ("ISO, MDY", "ISO, MDY", "ISO, DMY", "SQL, MDY", "German", "Postgres, DMY"),
    "IntervalStyle": ("postgres", "postgres", "sql_standard", "iso_8601"),
    "TimeZone": ("UTC", "UTC", "America/New_York", "Asia/Kathmandu"),
    "client_encoding": ("UTF8", "UTF8", "UTF8", *CLIENT_ENCODINGS),
    "extra_float_digits": ("1", "1", "0", "3", "-3"),
    "enable_partitionwise_aggregate": ("off", "on"),
}
"""What of a session decides how values are read and written, and what may be pushed down."""


Setting = tuple[str, tuple[str, ...]]
"""A setting and its values, the default first."""


@dataclass(frozen=True)
class Server:
    """What a case has to know of the servers."""

    major: int
    has_icu: bool
    own_settings: tuple[Setting, ...] = ()
    """Of the wrapper under test."""


@dataclass(frozen=True)
class Case:
    """A case: all that a side does."""

    table: Table
    content: bytes
    settings: tuple[tuple[str, str], ...]
    own_settings: tuple[tuple[str, str], ...]
    """For the candidate alone."""
    statements: tuple[Statement, ...]
    filename: str = "case"


def draw_case(seed: int, number: int, server: Server) -> Case:
    """Draw the case of these numbers; the same on every machine."""
    rng = random.Random(f"{seed}:{number}")
    table = draw_table(rng, server.major, has_icu=server.has_icu)
    settings = {name: rng.choice(values) for name, values in SETTINGS.items()}
    # Groups are hashed: a sort may leave the rows of a group in another order.
    settings["enable_sort"] = "off"
    if "encoding" not in table.dialect.options:
        dialect = replace(table.dialect, encoding=settings["client_encoding"])
        table = replace(table, dialect=dialect)
    file = draw_file(rng, table)
    drawer = Drawer(rng, table, is_long=file.is_long)
    statements = tuple(drawer.draw() for _ in range(STATEMENTS))
    if rng.random() < (0.3 if file.is_long else 0.03):
        settings |= PARALLEL
        statements = tuple(replace(s, rank=Rank.ANY_ERROR) for s in statements if _whole(s))
    # Mostly as they are by default: with a path switched off nothing is compared of it.
    own = tuple(
        (name, rng.choice((*values[:1] * 6, *values))) for name, values in server.own_settings
    )
    return Case(table, file.content, tuple(settings.items()), own, statements)


def _whole(statement: Statement) -> bool:
    """Return whether a statement has one answer however its rows are ordered."""
    words = ("LIMIT", "DECLARE", "_agg", "row_number", "ANALYZE", "EXISTS")
    return not any(word in statement.sql for word in words)
