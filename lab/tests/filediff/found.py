"""Cases in which a wrapper once differed from stock, shortened; each stays a test."""

from filediff.cases import Case
from filediff.statements import PARALLEL, Rank, Statement
from filediff.tables import Column, Dialect, Table
from filediff.values import TYPES

_TYPES = {kind.sql: kind for kind in TYPES}


def case(
    query: str,
    content: bytes,
    *columns: str,
    since: int = 15,
    settings: dict[str, str] | None = None,
    column_options: dict[str, str] | None = None,
    **options: str,
) -> tuple[int, Case]:
    """Return a case and the major version that it is for at the earliest; columns are types."""
    names = "abcdefgh"
    made = tuple(
        Column(names[n], _TYPES[kind], options=column_options or {})
        for n, kind in enumerate(columns)
    )
    table = Table(made, Dialect(options=options))
    statement = Statement(query, Rank.ORDERED)
    return since, Case(table, content, tuple((settings or {}).items()), (), (statement,))


FOUND = {
    "rows skipped in every pass but told of once": case(
        "SELECT * FROM (VALUES (1), (2)) x (v), LATERAL (SELECT a FROM t WHERE a > x.v LIMIT 2) s",
        b"0\n",
        *("integer", "text"),
        since=18,
        format="csv",
        on_error="ignore",
    ),
    "a pattern and bytes that are no character": case(
        "SELECT a FROM t WHERE a LIKE '_'",
        b"\x98\x80",
        "text",
        settings={"client_encoding": "SQL_ASCII"},
        format="csv",
    ),
    "an invalid byte behind the first end of a line": case(
        "SELECT * FROM t", b"~~~~\r\x82", *("numeric", *["text"] * 4), delimiter="~"
    ),
    "a quoted value that is forced both ways": case(
        "SELECT a IS NULL, b FROM t",
        b'"",\n,""\n',
        *("text", "text"),
        column_options={"force_null": "true", "force_not_null": "true"},
        format="csv",
    ),
    "rows behind an end marker and workers": case(
        "SELECT a FROM t", b"1\n2\n\\.\nx\n", "text", settings=PARALLEL
    ),
    "a group that can have but one key, and no rows": case(
        "SELECT d, min(c) FILTER (WHERE c > 2), avg(a), count(*) FROM t"
        " WHERE c IS NOT NULL AND d = '-66'::numeric GROUP BY d",
        b"3\t\t6\t9\r",
        *("numeric(10,2)", "numeric(4,-1)", "numeric(18,4)", "numeric(5,0)"),
    ),
    "a header that must match, of a file without any": case(
        "SELECT a FROM t", b"", "integer", format="csv", header="match"
    ),
    "an error behind a skipped row, whose value's memory is freed by then": case(
        "SELECT count(a) FROM t",
        b'1\nabc\n"' + b"q" * 3000 + b"\n",
        "integer",
        since=18,
        settings={"client_encoding": "WIN1252"},
        format="csv",
        on_error="ignore",
    ),
    "more rows skipped by ANALYZE than the limit": case(
        "ANALYZE t; SELECT reltuples FROM pg_class WHERE oid = 't'::regclass",
        b"x\nx\n3\n",
        "integer",
        since=18,
        on_error="ignore",
        reject_limit="1",
    ),
    "a quote that is a digit": case(
        "SELECT a FROM t WHERE a < 100", b"1231\n", "integer", format="csv", quote="1"
    ),
}
