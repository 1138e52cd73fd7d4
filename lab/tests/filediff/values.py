"""The types of columns and the texts that stand in files for their values.

Each type has three kinds of text: `usual` ones, `odd` ones that are unusual but valid in every
major and session, and `bad` ones that some major or session refuses. Nothing here depends on the
clock: 'now' and 'today' are left out, because the two sides do not read them at the same moment.
"""

import random
from dataclasses import dataclass, replace
from enum import Enum


class Family(Enum):
    """What can be done with a type's values."""

    INTEGER = "integer"
    NUMERIC = "numeric"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamp with time zone"
    TEXT = "text"
    OPAQUE = "opaque"
    """Compared, and nothing else."""


NUMBERS = (Family.INTEGER, Family.NUMERIC, Family.FLOAT)


@dataclass(frozen=True)
class ValueType:
    """A type as a column definition has it, and its texts."""

    sql: str
    family: Family
    usual: tuple[str, ...]
    odd: tuple[str, ...]
    bad: tuple[str, ...]
    span: int = 0
    """Numbers up to this size are drawn too."""

    def valid(self, rng: random.Random) -> str:
        """Draw a text that is valid in every major and session."""
        if self.span and rng.random() < 0.5:
            return str(rng.randint(-self.span, self.span))
        return rng.choice(self.odd if rng.random() < 0.2 else self.usual)

    def invalid(self, rng: random.Random) -> str:
        """Draw a text that may be refused."""
        return rng.choice(self.bad)


_SPACED = ("  12 ", "\t7", "3\v", "+5", "-0", "007", "0000000000000000000000012")
_NO_INTEGER = (
    *("", " ", "abc", "1 2", "--1", "+-1", "1.5", "1e3", "+", "-", "0x", "1__0", "_1", "1_"),
    *("0x1F", "1_000", "0b11", "0o17", "-0x10", "\u0661", "12a", "1,000", "99999999999999999999"),
)


def _integer(sql: str, bits: int) -> ValueType:
    most = 2 ** (bits - 1) - 1
    return ValueType(
        sql,
        Family.INTEGER,
        ("0", "1", "-1", "2", "7", "10", "42", "100"),
        (*_SPACED, str(most), str(-most - 1), str(most - 1), f" {most}\n"),
        (*_NO_INTEGER, str(most + 1), str(-most - 2), f"{most}0"),
        span=1000,
    )


_DECIMALS = ("0.00", "1.00", "1.50", "-2.25", "10.10", "0.05", "99.99", "-0.01", "3.14", "500.00")
_ODD_DECIMALS = (
    *("1.005", "0.995", "-0.005", "2.675", "0.125", "-1.995", "1e2", "1E-3", ".5", "5.", "+1.5"),
    *(" 7.25 ", "-0", "-0.00", "0.004", "0.0049999999999999999999", "000000.10", "12e0", "NaN"),
    "1.0000000000000000000000000000000000000001",
)
_NO_NUMERIC = (
    *("", " ", ".", "-", "1.2.3", "1e", "e5", "1,5", "abc", "- 1", "1 .5", "nanx", "Infinity"),
    *("-inf", "inf", "0x1F", "1_000.5", "1_0e1", "999999999999999999.99", "1e400", "1e-20"),
    *("99999999.995", "99999999.994", "123456789012345678901234567890.5", "1e131072", "9" * 45),
)


def _numeric(sql: str) -> ValueType:
    return ValueType(sql, Family.NUMERIC, _DECIMALS, _ODD_DECIMALS, _NO_NUMERIC, span=99)


def _float(sql: str) -> ValueType:
    return ValueType(
        sql,
        Family.FLOAT,
        ("0", "1.5", "-2.25", "0.1", "0.2", "0.3", "100", "1e10", "3.14159", "-0.7"),
        (
            *("NaN", "Infinity", "-Infinity", "inf", " 1.5 ", "-0", "1e-30", ".5", "5.", "+1E+5"),
            *("9007199254740993", "9007199254740992", "16777217", "16777219", "8388608.5"),
            # halfway between two neighbours, and just beside the middle
            "1.00000000000000011102230246251565404236316680908203125",
            "1.00000000000000011102230246251565404236316680908203126",
            *("1.00000005960464477539", "1.000000059604644775390625", "1.00000017881393432617187"),
            *("0.1000000000000000055511151231257827", "5e-324", "2.2250738585072011e-308"),
        )
        if sql == "double precision"
        else (
            *("NaN", "Infinity", "-Infinity", " 1.5 ", "-0", ".5", "5.", "16777217", "16777219"),
            *("1.00000005960464477539", "1.000000059604644775390625", "1.00000017881393432617187"),
            *("8388608.5", "1.1754944e-38", "1e-45", "3.4028235e38", "0.3333333333333333"),
        ),
        (
            *(
                "",
                " ",
                "abc",
                "1e309",
                "-1e309",
                "1e-400",
                "3.4028236e38",
                "1e39",
                "1e-46",
                "1e-50",
            ),
            *("0x1p3", "0x1F", "1_0", "1.5.", "infinit", "nan(1)", "1e", "1.7976931348623159e308"),
            *("1.7976931348623157e308", "4.9e-324", "2e-324", "--1", "1 5", "٣.٤"),
        ),
        span=1000,
    )


_BOOLEAN = ValueType(
    "boolean",
    Family.BOOLEAN,
    ("t", "f", "true", "false"),
    ("y", "n", "yes", "no", "on", "off", "1", "0", "TRUE", " tr ", "fals", "of", "T", "yE"),
    ("", " ", "o", "2", "truee", "nope", "10", "t f", "ja"),
)

_DATE = ValueType(
    "date",
    Family.DATE,
    ("2024-01-02", "1995-03-15", "1998-12-01", "2000-02-29", "1970-01-01", "1999-12-31"),
    (
        *("2024-02-29", "0001-01-01", "9999-12-31", "4713-01-01 BC", "5874897-12-31", "infinity"),
        *("-infinity", "epoch", "1999-1-8", "19990108", "January 8, 1999", "08-Jan-1999"),
        *("J2451187", " 2024-01-02 ", "1999.008", "2024-01-02 10:00", "1/2/2003", "2000-1-01"),
    ),
    (
        *("", " ", "2023-02-29", "2024-13-01", "0000-01-01", "2024-00-10", "2024-01-00", "abc"),
        *("2024-01-32", "24-01-02", "13/1/2003", "1/13/2003", "99-01-08", "2024-01", "2024-1-2x"),
        *("5874898-01-01", "4714-01-01 BC", "2024-04-31", "2024/01-02", "20240102x", "1900-02-29"),
    ),
)

_TIMESTAMP = ValueType(
    "timestamp",
    Family.TIMESTAMP,
    ("2024-01-02 03:04:05", "1995-03-15 00:00:00", "2000-02-29 23:59:59", "1970-01-01 00:00:00"),
    (
        *(
            "2024-01-02 03:04:05.123456",
            "2024-01-02 03:04:05.1234567",
            "2024-01-02 03:04:05.9999995",
        ),
        *("2024-01-02T03:04:05Z", "2024-01-02 24:00:00", "2024-01-02 23:59:60", "2024-01-02"),
        *(
            "2024-01-02 3:4",
            "2024-01-02 03:04 PM",
            "infinity",
            "-infinity",
            "epoch",
            "20240102 030405",
        ),
        *("2024-01-02 03:04:05+05", "294276-12-31 23:59:59.999999", "2024-01-02 03:04:05.5 BC"),
        *(" 2024-01-02  03:04:05 ", "2024-01-02 03:04:05 Europe/Berlin", "2024-01-02 03:04:05."),
    ),
    (
        *("", "abc", "2024-01-02 25:00:00", "2024-01-02 03:60:00", "2023-02-29 00:00:00", "2024"),
        *("294277-01-01 00:00:00", "2024-01-02 03:04:61", "2024-01-02 24:00:01", "13/1/2003 01:00"),
        *("2024-01-02 03:04:05 Nowhere/City", "2024-01-02 -1:00", "2024-01-02 03:04:05.x"),
    ),
)

_TIMESTAMPTZ = ValueType(
    "timestamptz",
    Family.TIMESTAMPTZ,
    (
        *("2024-01-02 03:04:05+00", "1995-03-15 00:00:00-05", "2000-02-29 23:59:59.25+05:30"),
        *("1970-01-01 00:00:00+00", "2000-02-29T23:59:59+0000", "2024-03-31 02:30:00+01"),
        *("2024-01-02T03:04:05.25Z", "2024-01-02 03:04:05z"),
    ),
    (
        *("2024-03-31 02:30:00", "2024-10-27 02:30:00", "2024-01-02 03:04:05 Z", "2024-01-02"),
        *("2024-01-02 03:04:05.1234567+00", "2024-01-02 24:00:00+00", "2024-01-02 23:59:60-15:59"),
        *("infinity", "-infinity", "2024-01-02 03:04:05 Europe/Berlin", "0001-01-01 00:00:00+15"),
        *("1883-11-18 12:00:00-04:56:02", "2024-01-02 03:04:05 +5", "9999-12-31 23:59:59.9-12"),
        *("2024-01-02 03:04:05+05:30:07", "2024-01-02 03:04:05.5 BC", "20240102 030405+00"),
    ),
    (
        *("", "abc", "2024-01-02 03:04:05+16", "2024-01-02 03:04:05+00:60", "2024-01-02 25:00+00"),
        *("294277-01-01 00:00:00+00", "2024-01-02 03:04:05 Nowhere/City", "2024-01-02 03:04:05++1"),
    ),
)

_TEXTS = ("", "a", "b", "abc", "R", "N", "MAIL", "SHIP", "zz", "abcd", "green", "AIR")
_ODD_TEXTS = (
    *("abc  ", "  a", " ", "äöü", "日本語", "😀", "a%b", "_", "a_c", "x\\y", 'q"q', '"', "'", "''"),
    *("a,b", "a|b", "a\tb", "a;b", "line\nbreak", "cr\rhere", "crlf\r\nhere", "\\N", "\\.", "NULL"),
    *(
        "null",
        "\\",
        "\\\\",
        'a""b',
        "~",
        "a\x01b",
        "\x7f",
        "é",
        "e\u0301",
        "A",
        "ABC",
        "\\D",
        "x" * 40,
    ),
)
_BAD_TEXTS = (
    "abcdefgh",
    "toolongforit",
    "äöüäöü",
    "日本語日本語",
    "abcd    x",
    "\\x41",
    "\\101",
    "\\q",
)


def _text(sql: str, limit: int | None = None) -> ValueType:
    fitting = tuple(x for x in _ODD_TEXTS if limit is None or len(x.rstrip(" ")) <= limit)
    usual = tuple(x for x in _TEXTS if limit is None or len(x) <= limit)
    padded = () if limit is None else ("a" * limit + " " * 20, "a" * limit, "ä" * limit)
    return ValueType(sql, Family.TEXT, usual, fitting + padded, _BAD_TEXTS)


_CANONICAL = ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000")
_UUID = ValueType(
    "uuid",
    Family.OPAQUE,
    (*_CANONICAL, "ffffffff-ffff-ffff-ffff-ffffffffffff", "11111111-2222-3333-4444-555555555555"),
    (
        *(_CANONICAL[0].upper(), _CANONICAL[0].replace("-", ""), "{" + _CANONICAL[0] + "}"),
        "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
    ),
    (
        "",
        _CANONICAL[0] + "0",
        _CANONICAL[0][:-1],
        "{" + _CANONICAL[0],
        " " + _CANONICAL[0],
        "g" * 32,
    ),
)

TYPES = (
    _integer("smallint", 16),
    _integer("integer", 32),
    _integer("bigint", 64),
    *map(_numeric, ("numeric", "numeric(10,2)", "numeric(15,2)", "numeric(18,4)", "numeric(5,0)")),
    *map(_numeric, ("numeric(4,-1)", "numeric(30,10)")),
    *map(_float, ("real", "double precision")),
    _BOOLEAN,
    _DATE,
    _TIMESTAMP,
    replace(_TIMESTAMP, sql="timestamp(0)"),
    _TIMESTAMPTZ,
    replace(_TIMESTAMPTZ, sql="timestamptz(3)"),
    _text("text"),
    _text('text COLLATE "C"'),
    _text("varchar"),
    _text("varchar(4)", 4),
    _text("char(5)", 5),
    _text("char(1)", 1),
    _UUID,
)
"""The types that a wrapper may convert itself."""

OTHER_TYPES = (
    ValueType(
        "interval",
        Family.OPAQUE,
        ("1 day", "02:03:04", "1 year 2 mons", "3 days 04:05:06.789", "2 mons", "00:00:00"),
        ("P1Y2M3DT4H5M6S", "1-2", "-1 day +02:03", "@ 1 hour ago", "1.5 days", "99:59:59"),
        ("", "1 fortnight", "abc", "99999999999 years", "1 day 2 days", "01:60:00", "1 day "),
    ),
    *(
        ValueType(
            sql,
            Family.OPAQUE,
            ("03:04:05", "00:00:00", "23:59:59.999999", "12:30:00.5"),
            ("24:00:00", "3:04 PM", "030405", "03:04:05.9999999", "03:04", "23:59:60"),
            ("", "25:00", "abc", "24:00:01", "12:60:00", "12:30:00."),
        )
        for sql in ("time", "time(2)")
    ),
    ValueType(
        "inet",
        Family.OPAQUE,
        ("10.0.0.1", "192.168.1.17/24", "255.255.255.255"),
        ("::1", "fe80::1/64", "10.0.0.1/32", "0.0.0.0/0"),
        ("", "256.1.1.1", "1.2.3", "1.2.3.4/33", "1.2.3.4.5", " 1.2.3.4"),
    ),
    ValueType("mood", Family.OPAQUE, ("sad", "ok", "happy"), ("sad",), ("", "SAD", "glad")),
    replace(_integer("positive", 32), usual=("1", "2", "3"), odd=(" 9 ",), bad=("0", "-1"), span=0),
    replace(_text("short_text", 3), family=Family.OPAQUE),
    ValueType(
        "integer[]",
        Family.OPAQUE,
        ("{}", "{1,2,3}", "{NULL,4}"),
        ("{{1,2},{3,4}}", " { 1 , 2 } ", "[0:1]={1,2}"),
        ("", "{1,", "{a}", "{{1},{2,3}}", "1,2"),
    ),
    ValueType(
        "bytea",
        Family.OPAQUE,
        ("\\x00ff", "abc", ""),
        ("\\x", "\\001", "\\\\"),
        ("\\x0", "\\9", "\\xzz"),
    ),
    *(
        ValueType(
            sql,
            Family.OPAQUE,
            ("1", '{"a": 1}', "null", '{"a": ["x", {"b": -1.5e3}], "c": ""}'),
            ('["x", "y"]', ' {"a":{"b":2}, "a":3} ', '"\\u00e9\\n"', "1e300", '"\\ud83d\\ude00"'),
            ("", "{", "'a'", '{"a"}', "[1,]", "01", '"\\u0000"', '"\\x"', "1 2", "1e999999"),
        )
        for sql in ("json", "jsonb")
    ),
)
"""Types for which PostgreSQL's own input functions have to be asked."""

UNORDERED = ValueType(
    "text COLLATE caseless", Family.TEXT, ("a", "A", "b", "B", "abc", "ABC"), ("ä", "Ä"), ("",)
)
"""Equal values need not be the same bytes; there only where PostgreSQL has ICU."""
