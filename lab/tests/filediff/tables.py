"""Draws foreign tables: columns, their types and options, and the dialect of the file."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from filediff.values import OTHER_TYPES, TYPES, UNORDERED, Family, ValueType

NAMES = ("a", "b", "c", "d", "e", "f", "g", '"Odd ""Name"')
ENCODINGS = {"UTF8": "utf-8", "LATIN1": "latin-1", "WIN1252": "cp1252", "EUC_JP": "euc_jp"}
"""PostgreSQL's name of an encoding, and Python's."""
CLIENT_ENCODINGS = ENCODINGS | {"SJIS": "shift_jis", "SQL_ASCII": "utf-8"}
"""Those that a server does not have as its own are not ASCII-safe."""


ASCII = "".join(map(chr, range(1, 128)))
VALUE_BYTES = "0123456789+-.:eEtfaA "
"""What plain values are made of."""
NO_TEXT_DELIMITERS = "\\.abcdefghijklmnopqrstuvwxyz0123456789"
"""Bytes that COPY refuses as the delimiter of text format."""


@dataclass(frozen=True)
class Column:
    """A column as CREATE FOREIGN TABLE has it."""

    name: str
    type: ValueType
    constraint: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def header(self) -> str:
        """Its name as a header line has it."""
        return self.name.strip('"').replace('""', '"')

    @property
    def not_null(self) -> str:
        """Its constraint if that is NOT NULL, which a table above must share."""
        return self.constraint if self.constraint == "NOT NULL" else ""

    @property
    def definition(self) -> str:
        """Its definition."""
        words = (self.name, self.type.sql, options_clause(self.options), self.constraint)
        return " ".join(filter(None, words))


@dataclass(frozen=True)
class Dialect:
    """How a file is written; what stands in `options` is told to the server."""

    format: str = "csv"
    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    null: str = ""
    header: str = ""
    encoding: str = "UTF8"
    default: str = ""
    line_end: str = "\n"
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def codec(self) -> str:
        """Python's name of the encoding."""
        return CLIENT_ENCODINGS[self.encoding]


@dataclass(frozen=True)
class Table:
    """A foreign table."""

    columns: tuple[Column, ...]
    dialect: Dialect
    dropped: int | None = None
    """Before which column one was dropped, so that numbers and places part."""
    by_program: bool = False
    """Whether it reads what a program prints."""
    is_partition: bool = False
    """Whether queries ask a table that it is a partition of, with the columns in another order."""

    @property
    def name(self) -> str:
        """What queries ask."""
        return "parent" if self.is_partition else "t"

    def create(self, filename: str) -> str:
        """Return the statements that make it as the table `t`."""
        definitions = [column.definition for column in self.columns]
        after = ""
        if self.dropped is not None:
            definitions.insert(self.dropped, "gone integer")
            after = "; ALTER FOREIGN TABLE t DROP COLUMN gone"
        if self.is_partition:
            columns = ", ".join(
                f"{column.name} {column.type.sql} {column.not_null}"
                for column in self.columns[::-1]
            )
            after += (
                f"; CREATE TABLE parent ({columns}) PARTITION BY LIST ((0));"
                " ALTER TABLE parent ATTACH PARTITION t DEFAULT"
            )
        source = {"program": f"cat {filename}"} if self.by_program else {"filename": filename}
        options = options_clause({**source, **self.dialect.options})
        listed = ", ".join(definitions)
        return f"CREATE FOREIGN TABLE t ({listed}) SERVER files {options}{after}"

    def of(self, *families: Family) -> list[Column]:
        """Return the columns whose types are of these families."""
        return [column for column in self.columns if column.type.family in families]


def options_clause(options: Mapping[str, str]) -> str:
    """Return OPTIONS (...), nothing when there are none."""
    pairs = ", ".join(f"{name} {literal(value)}" for name, value in options.items())
    return f"OPTIONS ({pairs})" if pairs else ""


def literal(value: str) -> str:
    """Return `value` as a string constant in ASCII, whatever the session's encoding.

    >>> literal("ä'b")
    "U&'\\\\+0000E4''b'"
    """
    if value.isascii() and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    escaped = value.replace("\\", "\\\\").replace("'", "''")
    shown = (x if x.isascii() and x.isprintable() else f"\\+{ord(x):06X}" for x in escaped)
    return "U&'" + "".join(shown) + "'"


def draw_table(rng: random.Random, major: int, *, has_icu: bool) -> Table:
    """Draw a table for servers of that major version."""
    dialect = draw_dialect(rng, major)
    count = rng.choice((1, 1, 2, 3, 3, 4, 5, 6, 8))
    names = rng.sample(NAMES, count)
    columns = tuple(_draw_column(rng, name, dialect, major, has_icu=has_icu) for name in names)
    dropped = rng.randint(0, count) if rng.random() < 0.08 else None
    by_program, is_partition = rng.random() < 0.03, rng.random() < 0.06
    return Table(columns, dialect, dropped, by_program, is_partition)


def _draw_column(
    rng: random.Random, name: str, dialect: Dialect, major: int, *, has_icu: bool
) -> Column:
    kind = rng.choice(TYPES)
    if rng.random() < 0.12:
        kind = rng.choice((*OTHER_TYPES, UNORDERED) if has_icu else OTHER_TYPES)
    options = {}
    for option in ("force_not_null", "force_null"):
        if dialect.format == "csv" and rng.random() < 0.08:
            options[option] = rng.choice(("true", "true", "false"))
    constraint = ""
    if rng.random() < 0.04:
        constraint = "NOT NULL"
    elif rng.random() < (0.4 if dialect.default else 0.03):
        constraint = f"DEFAULT {literal(kind.valid(rng))}"
    return Column(name, kind, constraint, options)


def draw_dialect(rng: random.Random, major: int) -> Dialect:
    """Draw how the file is written, and the options that say so."""
    is_csv = rng.random() < 0.55
    fields = {
        "format": "csv" if is_csv else "text",
        "delimiter": "," if is_csv else "\t",
        "null": "" if is_csv else "\\N",
    }
    options = {"format": fields["format"]} if is_csv or rng.random() < 0.3 else {}
    drawn = {
        "delimiter": (0.5, ("|", ",", ";", "\t", "~", " ", ":")),
        "null": (0.25, ("", "\\N", "NULL", "x", "-", "0")),
        "encoding": (0.2, tuple(CLIENT_ENCODINGS)),
        "header": (0.2, ("true", "true", "false", "match")),
    }
    if is_csv:
        drawn["quote"] = (0.15, ("'", "~", '"', "|"))
        drawn["escape"] = (0.15, ("\\", "'", '"', "~"))
    if major >= 16:
        drawn["default"] = (0.08, ("\\D", "DEF", "-"))
    if major >= 18:
        drawn["on_error"] = (0.1, ("ignore", "ignore", "stop"))
        drawn["log_verbosity"] = (0.05, ("verbose", "silent", "default"))
        if rng.random() < 0.03:
            options |= {"on_error": "ignore", "reject_limit": rng.choice(("1", "2", "10"))}
    for name, (chance, choices) in drawn.items():
        if rng.random() < chance:
            options[name] = rng.choice(choices)
            fields[name] = options[name]
    if rng.random() < 0.15:
        odd = _draw_odd_bytes(rng, fields)
        options |= odd
        fields |= odd
    if "quote" in fields and "escape" not in fields:
        fields["escape"] = fields["quote"]
    if rng.random() < 0.02:
        refused = [x for x in _REFUSED if major >= 18 or x[0] not in _OURS_BEFORE_18]
        options |= dict([rng.choice(refused)])
    line_end = rng.choice(("\n", "\n", "\n", "\r\n", "\r"))
    known = {x: fields[x] for x in Dialect.__dataclass_fields__ if x in fields}
    return Dialect(**known, line_end=line_end, options=options)


def _draw_odd_bytes(rng: random.Random, fields: Mapping[str, str]) -> dict[str, str]:
    """Draw a delimiter, a quote or an escape of any byte that COPY allows there."""
    taken = fields["null"] + fields.get("default", "")
    if fields["format"] == "text":
        return {"delimiter": _draw_byte(rng, taken + "\r\n" + NO_TEXT_DELIMITERS)}
    quote = fields.get("quote", '"')
    odd = {}
    if rng.random() < 0.6:
        odd["quote"] = quote = _draw_byte(rng, taken + fields["delimiter"])
    if not odd or rng.random() < 0.3:
        odd["delimiter"] = _draw_byte(rng, taken + quote + "\r\n")
    if rng.random() < 0.4:
        odd["escape"] = _draw_byte(rng, "")
    return odd


def _draw_byte(rng: random.Random, refused: str) -> str:
    """Draw a byte, often one that values are made of."""
    return rng.choice([x for x in rng.choice((ASCII, VALUE_BYTES)) if x not in refused])


_REFUSED = (
    *(("delimiter", ""), ("delimiter", "ab"), ("delimiter", "\n"), ("delimiter", "\\")),
    *(("delimiter", "a"), ("null", "a\rb"), ("quote", "ab"), ("quote", ""), ("escape", "xy")),
    *(("header", "maybe"), ("header", "2"), ("format", "binary"), ("format", "parquet")),
    *(("encoding", "klingon"), ("force_quote", "a"), ("freeze", "true"), ("nul", "x")),
    *(("on_error", "explode"), ("reject_limit", "0"), ("default", "a\nb"), ("filenam", "x")),
)
"""Options that a server refuses, or some major does."""
_OURS_BEFORE_18 = ("on_error", "reject_limit")
"""Of these our wrapper has its own, so that it refuses other values than all."""
