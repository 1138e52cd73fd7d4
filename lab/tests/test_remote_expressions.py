"""Random expressions that the remote server decides, beside stock and a local table.

The remote database has another time zone, date style and default collation, and functions of the
same names in its search_path. Each query is prepared once and executed with several time zones,
settings and roles, by custom and generic plans. A transaction around each keeps `now()`.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from conftest import OUR_WRAPPER
from psycopg import sql
from psycopg.types.string import TextLoader

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

PLAIN = "plain"
SIDES = (PLAIN, "postgres_fdw", OUR_WRAPPER)
"""Schemas: of the local table, and of the foreign one by each wrapper."""

SEED = 44
QUERIES = 150
WALK_QUERIES = 1500
FIRST_STATEMENTS = 60
LEAST_DECIDED = 0.5
"""Share of the scans by which no row travels for nothing; others have what cannot be sent."""

REMOTE_SETTINGS = {
    "timezone": "'Asia/Kathmandu'",
    "datestyle": "'German'",
    "intervalstyle": "'sql_standard'",
    "search_path": "shadows, pg_catalog, public",
}
SHADOWS = """
CREATE SCHEMA shadows;
CREATE FUNCTION shadows.date_trunc(text, timestamp) RETURNS timestamp IMMUTABLE
    RETURN timestamp '1999-01-01';
CREATE FUNCTION shadows.date_part(text, timestamp) RETURNS float8 IMMUTABLE RETURN -1;
CREATE FUNCTION shadows.jsonb_extract_path_text(jsonb, VARIADIC text[]) RETURNS text IMMUTABLE
    RETURN 'shadow';
"""
TABLE = """
CREATE TABLE {schema}.t (id int PRIMARY KEY, a int, b int, n numeric, f float8, d date, t timestamp,
    ts timestamptz, s text, v varchar(12), c text COLLATE "C", o text, doc jsonb, k bool);
INSERT INTO {schema}.t
SELECT i, nullif(i % 7, 3), nullif(i % 11, 4), nullif(i % 5, 2) / 4.0, nullif(i % 9, 5) / 8.0,
    CASE WHEN i % 13 > 0 THEN date '2024-02-27' + i END,
    CASE WHEN i % 17 > 0 THEN timestamp '2024-03-30 20:00' + i * interval '7 h 13 min' END,
    CASE WHEN i % 61 = 0 THEN timestamptz '-infinity' WHEN i % 59 = 0 THEN 'infinity'
        WHEN i % 19 > 0 THEN timestamptz '2024-03-30 20:00+00' + i * interval '17 h 31 min' END,
    (ARRAY['a', 'B', 'b', 'ä', 'Z', '', 'a-b', 'a b', '_', '%', NULL])[i % 11 + 1],
    (ARRAY['a', 'B', 'k1', 'ä', 'K1', NULL, 'k2 '])[i % 7 + 1],
    (ARRAY['a', 'B', 'b', 'Z', NULL])[i % 5 + 1],
    (ARRAY['postgres', 'expressions_reader', 'other', NULL])[i % 4 + 1],
    (ARRAY['{{"k": "a", "n": 1}}', '{{"k": "B", "n": 2, "o": {{"p": "a"}}}}', '{{"m": null}}',
        '{{"k": "ä", "n": 3}}', '["k", "a"]', '{{"k": null, "n": 4, "o": {{"p": "Z"}}}}',
        NULL])[i % 7 + 1]::jsonb, nullif(i % 3, 2)::bool
FROM generate_series(1, 300) i;
ANALYZE {schema}.t;
"""
SEEMS_LARGE = "UPDATE pg_class SET reltuples = 5000 WHERE oid = %s::regclass"
"""For a smaller table a connection does not ask about the rules of a time zone."""
INVALID_TEXT = "22P02"
"""The error's code of a text that is no integer, as that of a setting can be."""
READER = "expressions_reader"
NO_PARAMETER = "no parameter"

STATES = (
    "SET timezone = 'UTC'; SET app.tenant = '3'; SET app.name = 'a'; RESET ROLE",
    "SET timezone = 'America/New_York'; SET app.tenant = '5'; SET app.name = 'B'",
    "SET timezone = 'Pacific/Kiritimati'; SET app.tenant = ''; SET app.name = 'ä'",
    "SET timezone = 'Europe/Berlin'",
    "SET timezone = 'Australia/Lord_Howe'",
    "SET timezone = '<+0330>-3:30'",
    "SET timezone = 'CET'",
    f"SET app.tenant = '3'; SET ROLE {READER}; SET datestyle = 'ISO, DMY'",
)
"""What changes between two executions of a prepared statement.

The zone CET has summer time, AT TIME ZONE 'CET' has none: the remote server has other rules.
"""

TIMES = (
    "now()",
    "current_timestamp",
    "timestamptz '2024-05-01 12:00+00'",
    "current_setting('app.moment')::timestamptz",
    "date_trunc('day', current_setting('app.moment')::timestamptz)",
    "date_trunc('month', now())",
)
SPANS = ("interval '1 day'", "interval '1 month'", "interval '36 hours'", "interval '-1 year'")
ZONE_SPANS = (*SPANS, "interval '1 month -3 days 2:30:00.5'", "interval '90 minutes'")
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute")
LOCAL_TIMES = (
    "localtimestamp",
    "timestamp '2024-05-01 12:00'",
    "current_setting('app.moment')::timestamp",
    "now()::timestamp",
)
ZONE_UNITS = (*UNITS, "dow", "isodow", "doy", "epoch", "second", "milliseconds", "century")
NAMED_ZONES = ("Asia/Tokyo", "America/New_York", "Australia/Lord_Howe", "UTC", "gmt", "CET", "EST")
"""Of these two are abbreviations, which stay here."""
FORMATS = (
    *("YYYY-MM", "YYYY-MM-DD", "HH24", "FMMonth", "Dy", "Mon DD", 'IYYY-"W"IW', "HH12:MI AM"),
    *("DDD", "Q D ID", "SS.MS", "YYYY TZ", "TMDay", "DDth"),
)
DATES = ("current_date", "date '2024-05-01'", "now()::date", "current_setting('app.moment')::date")
COMPARED = ("=", "<>", "<", "<=", ">", ">=")
EQUAL = ("=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
TEXTS = (
    *("s", "v", "c", "o", "doc->>'k'", "doc #>> '{o,p}'", "doc->'o'->>'p'"),
    *("jsonb_extract_path_text(doc, 'k')", "s || (doc->>'k')", "split_part(s, '-', 1)", "lower(s)"),
    *("left(doc->>'k', 1)", "substr(v, 2)"),
)
TEXT_VALUES = (
    *("'a'", "'B'", "'ä'", "''", "'a' || 'b'", "current_setting('app.name')"),
    *("current_setting('app.nothing', true)", "current_user", "session_user::text", "$1::text"),
)
NUMBERS = (
    *("a", "b", "n", "f", "(doc->'n')::int", "length(s)", "id % 10"),
    *("(doc->>'n')::int", "(doc->>'n')::numeric", "(a::text || b)::int", "length(doc->>'k')"),
)
NUMBER_VALUES = (
    *("3", "2.5", "current_setting('app.tenant')::int", "extract(hour FROM now())", "$1::int"),
    *("nullif(current_setting('app.tenant', true), '')::int", "jsonb_array_length('[1,2]')"),
)


@pytest.fixture(scope="module")
def local(pg_instance: Cluster) -> Iterator[Connection]:
    """A connection to a database with the table `t` in each schema of SIDES."""
    with pg_instance.connect() as connection:
        make_databases(connection)
    with pg_instance.connect("expressions_source") as connection:
        connection.execute(SHADOWS + TABLE.format(schema="public"))
    with pg_instance.connect("expressions_local") as connection:
        make_sides(connection, pg_instance)
        yield connection


def make_databases(connection: Connection) -> None:
    """Make both databases, the remote one with settings and a collation of its own."""
    recreate_database(connection, "expressions_local")
    connection.execute("DROP DATABASE IF EXISTS expressions_source WITH (FORCE)")
    connection.execute(
        "CREATE DATABASE expressions_source TEMPLATE template0 ENCODING 'UTF8'"
        " LOCALE_PROVIDER icu ICU_LOCALE 'und' LOCALE 'C.UTF-8'"
    )
    for name, value in REMOTE_SETTINGS.items():
        connection.execute(f"ALTER DATABASE expressions_source SET {name} = {value}")


def make_sides(connection: Connection, cluster: Cluster) -> None:
    """Make the local table, and the foreign ones, which a role with few rights may use, too."""
    connection.execute(f"CREATE EXTENSION {OUR_WRAPPER} CASCADE")
    connection.execute(f"DROP ROLE IF EXISTS {READER}; CREATE ROLE {READER}")
    server = sql.SQL(
        "CREATE SERVER {0} FOREIGN DATA WRAPPER {0} OPTIONS (host {1}, port {2},"
        " dbname 'expressions_source'); CREATE USER MAPPING FOR PUBLIC SERVER {0}"
        " OPTIONS (user {3}, password {4})"
    )
    for side in SIDES:
        connection.execute(f"CREATE SCHEMA {side}")
        if side == PLAIN:
            connection.execute(TABLE.format(schema=PLAIN))
        else:
            connection.execute(
                server.format(
                    sql.Identifier(side),
                    sql.Literal(str(cluster.socket_folder)),
                    sql.Literal(str(cluster.port)),
                    sql.Literal(SUPERUSER),
                    sql.Literal(cluster.password_file.read_text("utf-8")),
                )
            )
            connection.execute(f"IMPORT FOREIGN SCHEMA public FROM SERVER {side} INTO {side}")
            connection.execute(f"ANALYZE {side}.t")
            connection.execute(SEEMS_LARGE, (f"{side}.t",))
        connection.execute(
            f"GRANT USAGE ON SCHEMA {side} TO {READER}; GRANT ALL ON {side}.t TO {READER}"
        )
    connection.execute("SET app.moment = '2024-05-02 03:04:05+00'")


def time_of(draw: random.Random) -> str:
    """Return a condition on a time or a date."""
    span = f" {draw.choice('+-')} {draw.choice(SPANS)}" if draw.random() < 0.6 else ""
    compared = draw.choice(COMPARED)
    unit = draw.choice(UNITS)
    column, values = draw.choice((("ts", TIMES), ("t", LOCAL_TIMES), ("d", DATES)))
    value = f"{draw.choice(values)}{span}"
    kind = draw.randrange(5)
    if kind == 0 and column == "t":
        return f"date_trunc('{unit}', t) {compared} date_trunc('{unit}', {value})"
    if kind == 1 and column != "ts":
        part = draw.choice((f"extract({unit} FROM {column})", f"date_part('{unit}', {column})"))
        unit = "hour" if unit in ("hour", "minute") and column == "d" else unit
        if unit in ("hour", "minute") and column == "d":
            part = "extract(day FROM d)"
        return f"{part} {compared} extract({unit} FROM {draw.choice(LOCAL_TIMES)})"
    if kind == 2:
        return f"{column} BETWEEN {value} - interval '3 months' AND {value}"
    return f"{column} {compared} {value}"


def zone_time_of(draw: random.Random) -> str:
    """Return a condition on a timestamptz in the session's zone."""
    span = draw.choice(("", "", f" {draw.choice('+-')} {draw.choice(ZONE_SPANS)}"))
    compared = draw.choice(COMPARED)
    unit = draw.choice(UNITS)
    column = draw.choice((f"(ts{span})", f"(ts{span})", "(t::timestamptz)", "coalesce(ts, d)"))
    return draw.choice(
        (
            f"{column}::date {compared} {draw.choice(DATES)}",
            f"{column}::time {compared} '02:{draw.randrange(60):02}'",
            f"{column}::timestamp {compared} {draw.choice(LOCAL_TIMES)}",
            f"{column} {compared} {draw.choice((*DATES, *LOCAL_TIMES))}",
            f"{draw.choice((*DATES, *LOCAL_TIMES))} {compared} {column}",
            f"extract({draw.choice(ZONE_UNITS)} FROM {column}) {compared} {draw.randrange(31)}",
            f"date_part('{draw.choice(ZONE_UNITS)}', {column}) {compared} {draw.randrange(31)}",
            f"date_trunc('{unit}', {column}) {compared} date_trunc('{unit}', {draw.choice(TIMES)})",
            f"date_trunc('{unit}', {column})::date {compared} d",
            f"({column} AT TIME ZONE '{draw.choice(NAMED_ZONES)}')::date {compared} d",
            f"date_trunc('{unit}', {column}, '{draw.choice(NAMED_ZONES)}') {compared} ts",
            f"t AT TIME ZONE '{draw.choice(NAMED_ZONES)}' {compared} {column}",
            f"to_char({draw.choice((column, 't', 'd'))}, '{draw.choice(FORMATS)}')"
            f" {draw.choice(('=', '<>'))} to_char(timestamp '2024-07-01 11:59:30', 'YYYY-MM')",
            f"to_char({column}, '{draw.choice(FORMATS)}') = to_char(t, '{draw.choice(FORMATS)}')",
        )
    )


def text_of(draw: random.Random) -> str:
    """Return a condition on a text."""
    text = draw.choice(TEXTS)
    value = draw.choice((*TEXT_VALUES, *TEXTS))
    kind = draw.randrange(6)
    if kind == 0:
        return f"{text} IN ('a', 'B', {draw.choice(TEXT_VALUES)})"
    if kind == 1:
        pattern = draw.choice(("'a%'", "'%b'", "'_'", "current_setting('app.name') || '%'"))
        return f"{text} {draw.choice(('LIKE', 'NOT LIKE'))} {pattern}"
    if kind == 2:
        return f"{text} {draw.choice(COMPARED)} {value}"
    if kind == 3:
        return draw.choice(
            (
                *("id::text LIKE '1%'", "a::text = '3'", "n::text <> '0.25'"),
                *(
                    "concat(s, a, v) = 'a1'",
                    "s || b IN ('b2', 'a1')",
                    "concat(doc->>'k', b) = 'a1'",
                ),
                *("doc ? 'k'", "doc ?| '{a,n}'", "doc->'n' @> '1'", "doc - 'n' = '{\"k\": \"a\"}'"),
            )
        )
    return f"{text} {draw.choice(EQUAL)} {value}"


def number_of(draw: random.Random) -> str:
    """Return a condition on a number."""
    left, right = (
        draw.choice((draw.choice(NUMBERS), f"coalesce({draw.choice(NUMBERS)}, 3)")),
        draw.choice((draw.choice(NUMBERS), draw.choice(NUMBER_VALUES))),
    )
    kind = draw.randrange(6)
    if kind == 0:
        return f"({draw.choice('ab')}, id) {draw.choice(COMPARED)} (3, {draw.randrange(300)})"
    if kind == 1:
        return f"nullif(a, {draw.choice('b3')}) {draw.choice(COMPARED)} {right}"
    if kind == 2:
        choice = draw.choice(("greatest", "least"))
        return f"{choice}(a, b, {draw.choice(NUMBERS)}) {draw.choice(COMPARED)} {right}"
    return f"{left} {draw.choice(COMPARED)} {right}"


def condition(draw: random.Random, depth: int = 2) -> str:
    """Return a condition on a row of `t`."""
    if depth > 0 and draw.random() < 0.3:
        one, other = condition(draw, depth - 1), condition(draw, depth - 1)
        return draw.choice(
            (
                f"({one} OR {other})",
                f"NOT ({one} AND {other})",
                f"CASE WHEN {one} THEN {other} ELSE k END",
                f"coalesce({one}, {other})",
                f"({one}) IS NOT TRUE",
            )
        )
    return draw.choice((time_of, zone_time_of, text_of, number_of))(draw)


def where(draw: random.Random) -> str:
    """Return one to three conditions."""
    return " AND ".join(condition(draw) for _ in range(draw.choice((1, 1, 2, 3))))


GROUPS = (
    "date_trunc('month', t)",
    "extract(year FROM d)",
    "date_part('month', d)",
    "extract(hour FROM t)",
    "ts::date",
    "date_trunc('week', ts)",
    "date_trunc('hour', ts)",
    "extract(hour FROM ts)",
    "(ts AT TIME ZONE 'Asia/Tokyo')::date",
    "date_trunc('day', ts, 'America/New_York')",
    "to_char(ts, 'YYYY-MM')",
    "to_char(t, 'Mon DD')",
    "doc->>'k'",
    "coalesce(a, 0)",
    "nullif(b, 3)",
    "s",
    "coalesce(s, v)",
    "(id % 10)::text",
    "s || a",
    "concat(v, b, '-', c)",
    "CASE WHEN a > 3 THEN doc->>'k' ELSE s END",
    "CASE WHEN ts > now() - interval '900 days' THEN 'new' ELSE 'old' END",
    "d > current_date - 900",
    "localtimestamp - t > interval '900 days'",
    "current_date - d",
    "date_trunc('month', date '2026-01-01' - t)",
)
VALUES = (
    "sum(coalesce(a, 0))",
    "count(DISTINCT b)",
    "max(greatest(a, b))",
    "count(DISTINCT doc->>'k')",
    "100 * count(*) FILTER (WHERE doc->>'k' = 'a') / count(*)",
    "min(CASE WHEN doc->>'k' IN ('a', 'B') THEN id END)",
    "count(*) FILTER (WHERE ts > now() - interval '900 days')",
    "sum(a) FILTER (WHERE d >= current_date - 900 AND o <> current_user)",
    "sum(CASE WHEN t < localtimestamp THEN b ELSE 0 END)",
    "avg(extract(epoch FROM localtimestamp - t))",
    "max(date_trunc('day', now()::timestamp - t))",
)
HAVING = (
    *("", "", " HAVING count(*) > 3", " HAVING min(extract(year FROM d)) > 0"),
    *(" HAVING max(ts) > now() - interval '900 days'", " HAVING min(d) < current_date - 880"),
    " HAVING count(*) > current_setting('app.tenant')::int AND max(t) < localtimestamp",
)
SELECTED = (*GROUPS, "a", "k", "d", "c", "v", "id % 3", "lower(s)", "now() > ts")
"""What is distinct. Not `s < 'b'`: stock sorts it remotely by another value, and repeats it."""
UNORDERED = ("s", "v", "doc->>'k'", "(a, s)")
ORDERED = ("a", "b", "k", "d", "t", "ts", "c", "f")
"""Columns whose order is the same on both servers."""


def distinct_of(draw: random.Random) -> str:
    """Return a SELECT DISTINCT; where it is limited, its order decides about each row."""
    if draw.random() < 0.4:
        columns = ", ".join(draw.sample(ORDERED, draw.choice((1, 2, 3))))
        order = f" ORDER BY {columns} LIMIT {draw.choice((1, 5, 50))}"
    else:
        columns = ", ".join(draw.sample(SELECTED, draw.choice((1, 2))))
        order = draw.choice(("", " ORDER BY 1"))
    return f"SELECT DISTINCT {columns} FROM {{}}.t WHERE {where(draw)}{order}"


SETS = (
    "ROLLUP ({0}, {1})",
    "CUBE ({0}, {1})",
    "GROUPING SETS (({0}, {1}), ({1}), ())",
    "{0}, ROLLUP ({1})",
    "DISTINCT ROLLUP ({0}, {1}), ROLLUP ({0})",
)


def sets_of(draw: random.Random) -> str:
    """Return an aggregation by grouping sets; where it is limited, its order decides."""
    first, second = draw.sample((*GROUPS, *ORDERED, "id % 3"), 2)
    sets = draw.choice(SETS).format(first, second)
    value = draw.choice((*VALUES, "count(*)", "min(id)", f"GROUPING({second}, {first})"))
    having = draw.choice(("", " HAVING count(*) > 3", f" HAVING GROUPING({first}) = 0"))
    order = draw.choice(("", " ORDER BY 1, 2"))
    if {first, second} <= {*ORDERED} and draw.random() < 0.3:
        order = f" ORDER BY 1, 2, GROUPING({first}), GROUPING({second}), count(*) LIMIT 5"
    return (
        f"SELECT {first}, {second}, GROUPING({first}), {value} FROM {{}}.t"
        f" WHERE {where(draw)} GROUP BY {sets}{having}{order}"
    )


NESTED = (
    "count(*)",
    "count(*), max(m), avg(m)",
    "count(x), sum(m), count(DISTINCT y)",
    "min(m) + count(*), count(*) FILTER (WHERE m > 2)",
    "y, count(*), sum(m)",
    "DISTINCT m",
)


def nested_of(draw: random.Random) -> str:
    """Return an aggregation of a subquery that has groups, or a LIMIT."""
    first, second = draw.sample((*GROUPS, *ORDERED, "id % 3"), 2)
    outer = draw.choice(NESTED)
    group = " GROUP BY y" if outer.startswith("y") else ""
    having = draw.choice(("", "", " HAVING count(*) > 2"))
    rows = draw.choice(
        (
            f"SELECT DISTINCT {first} AS x, {second} AS y, id % 5 AS m FROM {{}}.t"
            f" WHERE {where(draw)}",
            f"SELECT {first} AS x, {second} AS y, count(*) AS m FROM {{}}.t"
            f" WHERE {where(draw)} GROUP BY 1, 2{having}",
            f"SELECT {first} AS x, {second} AS y, id AS m FROM {{}}.t"
            f" WHERE {where(draw)} ORDER BY id LIMIT {draw.choice((1, 7, 60))}",
        )
    )
    return f"SELECT {outer} FROM ({rows}) q{draw.choice(('', ' WHERE m > 1'))}{group}"


UNITED = (
    ("a", "b", "id % 3", "coalesce(a, 0)", "current_date - d", "$1::int"),
    ("s", "c", "v::text", "doc->>'k'", "lower(s)", "'a'"),
    ("d", "ts::date", "current_date", "d - 7"),
)
"""Expressions of the same type, if not of the same collation."""


def united_of(draw: random.Random) -> str:
    """Return rows of several queries, by UNION and the like."""
    columns = draw.choice(UNITED)
    parts = [
        f"(SELECT {draw.choice(columns)} AS x, {draw.choice(UNITED[0])} AS y FROM {{}}.t"
        f" WHERE {where(draw)}{draw.choice(('', '', ' ORDER BY id LIMIT 9'))})"
        for _ in range(draw.choice((2, 2, 3)))
    ]
    words = ("UNION", "UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
    text = parts[0]
    for part in parts[1:]:
        text += f" {draw.choice(words)} {part}"
    return f"SELECT * FROM ({text}) q{draw.choice(('', ' ORDER BY 1, 2', ' WHERE y > 1'))}"


def latest_of(draw: random.Random) -> str:
    """Return a query of the first rows of groups; its order decides about each row."""
    key = draw.choice((*ORDERED, *UNORDERED, "a, s", "k, c"))
    directions = ("", " DESC", " DESC NULLS LAST", " NULLS FIRST")
    order = f"{draw.choice(ORDERED)}{draw.choice(directions)}, id{draw.choice(directions)}"
    rows = f"FROM {{}}.t WHERE {where(draw)}"
    if draw.random() < 0.5:
        limit = "" if key in UNORDERED or "s" in key else draw.choice(("", " LIMIT 3"))
        return f"SELECT DISTINCT ON ({key}) * {rows} ORDER BY {key}, {order}{limit}"
    function = draw.choice(("row_number", "row_number", "rank", "dense_rank"))
    groups = draw.choice((f"PARTITION BY {key} ", ""))
    bound = draw.choice(("= 1", "<= 2", "< 4"))
    return (
        f"SELECT * FROM (SELECT *, {function}() OVER ({groups}ORDER BY {order}) AS r {rows}) q"
        f" WHERE r {bound}"
    )


MATCHED = (("a", "b"), ("id", "b"), ("s", "v"), ("d", "ts::date"), ("(a, s)", "b, v"))


def matched_of(draw: random.Random) -> str:
    """Return a statement that modifies the rows that have a match, or several, or none."""
    column, other = draw.choice(MATCHED)
    word = draw.choice(("", "", "", "NOT "))
    condition = draw.choice(
        (
            f"{column} {word}IN (SELECT {other} FROM {{}}.t u WHERE {where(draw)})",
            f"{word}EXISTS (SELECT FROM {{}}.t u WHERE u.a = t.b AND {where(draw)})",
            f"a = ANY (SELECT b FROM {{}}.t u WHERE {where(draw)} ORDER BY id LIMIT 3)",
        )
    )
    doing = draw.choice(("DELETE FROM {}.t", "UPDATE {}.t SET n = n + 1, k = NOT k"))
    more = draw.choice(("", f" AND {where(draw)}"))
    return f"{doing} WHERE {condition}{more}"


MAKERS = {
    "matched": matched_of,
    "distinct": distinct_of,
    "latest": latest_of,
    "sets": sets_of,
    "nested": nested_of,
    "united": united_of,
}


def statement(draw: random.Random) -> str:
    """Return a statement with a placeholder for the schema of `t`."""
    kind = draw.choice(
        (
            *("rows", "rows", "rows", "groups", "groups", *MAKERS),
            *("join", "update", "delete"),
        )
    )
    if kind in MAKERS:
        return MAKERS[kind](draw)
    if kind == "groups":
        group = draw.choice(GROUPS)
        value = draw.choice(VALUES)
        having = draw.choice(HAVING)
        order = draw.choice(("", " ORDER BY 1"))
        return (
            f"SELECT {group}, {value}, count(*) FILTER (WHERE {condition(draw)})"
            f" FROM {{}}.t WHERE {where(draw)} GROUP BY 1{having}{order}"
        )
    if kind == "join":
        on = draw.choice(
            (
                "l.id = r.a",
                "date_trunc('day', l.t) = date_trunc('day', r.t)",
                "extract(day FROM l.d) = r.b AND l.ts < now()",
            )
        )
        outer = draw.choice(("JOIN", "LEFT JOIN"))
        return (
            f"SELECT l.id, r.id FROM (SELECT * FROM {{}}.t WHERE {where(draw)}) l {outer}"
            f" (SELECT * FROM {{}}.t WHERE {condition(draw)}) r ON {on}"
        )
    if kind == "update":
        value = draw.choice(
            (
                "ts = now(), k = NOT k",
                "d = ts::date, t = date_trunc('day', ts)",
                "s = doc->>'k'",
                "d = current_date, a = extract(day FROM t)",
            )
        )
        return f"UPDATE {{}}.t SET {value} WHERE {where(draw)} RETURNING *"
    if kind == "delete":
        return f"DELETE FROM {{}}.t WHERE {where(draw)} RETURNING id"
    order = draw.choice(
        (
            *("", "", " ORDER BY extract(hour FROM t), id LIMIT 20"),
            *(" ORDER BY ts::date DESC, id LIMIT 20", " ORDER BY coalesce(a, b), ts::time, id"),
        )
    )
    return f"SELECT * FROM {{}}.t WHERE {where(draw)}{order}"


@dataclass
class Tally:
    """What the queries of a run were."""

    executions: int = 0
    errors: int = 0
    other_errors: int = 0
    """Executions in which only one side evaluated what raises an error."""
    plain: int = 0
    """Executions with the local table's outcome; stock sends orders of texts, which differ."""
    scans: int = 0
    decided: int = 0


def outcome(
    connection: Connection, text: str, side: str, value: str | None = NO_PARAMETER
) -> tuple[list[str], str]:
    """Return the sorted rows of a statement, perhaps with the parameter `value`, or its error's
    code; of one that returns none, the rows of the side's table behind it. What it writes is rolled
    back.

    Times are taken as texts: Python has no infinite ones, nor years before Christ.
    """
    cursor = connection.cursor()
    for type_name in ("date", "timestamp", "timestamptz"):
        cursor.adapters.register_loader(type_name, TextLoader)
    try:
        with connection.transaction(force_rollback=True):
            cursor.execute(text, None if value is NO_PARAMETER else {"value": value})
            if cursor.description is None:
                cursor.execute(f"SELECT {cursor.rowcount} AS modified, * FROM {side}.t")
            return sorted(map(repr, cursor.fetchall())), ""
    except psycopg.Error as error:
        assert error.sqlstate is not None, error
        return [], error.sqlstate


def received(plan: object) -> int:
    """Return how many rows all foreign scans of a plan received."""
    if isinstance(plan, list):
        return sum(map(received, plan))
    if isinstance(plan, dict):
        return int(plan.get("Rows Received", 0)) + sum(map(received, plan.values()))
    return 0


def count_decided(connection: Connection, text: str, needed: int, tally: Tally) -> None:
    """Note whether a statement that selects rows received no others."""
    with connection.transaction(force_rollback=True):
        plan = connection.execute(f"EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) {text}").fetchone()
    assert plan is not None
    tally.scans += 1
    tally.decided += received(plan[0]) == needed


def execute_everywhere(connection: Connection, draw: random.Random, tally: Tally) -> None:
    """Prepare one random statement by each side, and execute it in changing states."""
    text = statement(draw)
    is_generic = draw.random() < 0.5
    mode = "force_generic_plan" if is_generic else "force_custom_plan"
    connection.execute(f"SET LOCAL plan_cache_mode = {mode}")
    for side in SIDES:
        connection.execute(f"PREPARE {side}(text) AS {text.replace('{}', side)}")
    for state in draw.sample(STATES, 3):
        connection.execute(state)
        value = draw.choice(("NULL", "'3'", "'2'"))
        results = [outcome(connection, f"EXECUTE {side}({value})", side) for side in SIDES]
        plain, stock, ours = results
        if is_only_order(ours[1], stock[1], text, is_generic=is_generic):
            tally.other_errors += 1
            continue
        assert ours == stock or is_merged(text, ours, plain), f"{state}; {text}"
        tally.plain += ours == plain
        tally.executions += 1
        tally.errors += bool(ours[1])
        if text.startswith("SELECT * FROM {}") and "LIMIT" not in text and not ours[1]:
            execute = f"EXECUTE {OUR_WRAPPER}({value})"
            count_decided(connection, execute, len(ours[0]), tally)


def is_only_order(ours: str, stock: str, text: str, *, is_generic: bool) -> bool:
    """Return whether a setting's cast failed on one side alone, as it may.

    Ours evaluates it before the first row, where the plan was made with another value. Stock may
    evaluate it for a row that ours does not reach: the remote server sorts for a LIMIT, or decides
    another condition.
    """
    if {ours, stock} != {INVALID_TEXT, ""} or "::int" not in text:
        return False
    return is_generic if ours else True


def is_merged(text: str, ours: tuple[list[str], str], plain: tuple[list[str], str]) -> bool:
    """Return whether ours is right and stock may not be: rows of set operations that it has sorted
    by the remote database's collation are merged by the local one's."""
    return ("INTERSECT" in text or "EXCEPT" in text or "UNION" in text) and ours == plain


def run(connection: Connection, seed: str, queries: int) -> Tally:
    """Execute so many random statements; each outcome must be stock's."""
    draw = random.Random(seed)
    tally = Tally()
    for _ in range(queries):
        with connection.transaction(force_rollback=True):
            execute_everywhere(connection, draw, tally)
        connection.execute("DEALLOCATE ALL")
    return tally


def test_random_expressions_have_stocks_outcomes(local: Connection) -> None:
    tally = run(local, f"{SEED}", QUERIES)
    assert tally.decided >= LEAST_DECIDED * tally.scans
    assert tally.errors < tally.executions / 2


OF_THE_MOMENT = ("localtimestamp - t", "now()::timestamp - t", "SET ts", "SET d")
"""What two sessions, at two moments, have other values of."""


def first_outcome(
    cluster: Cluster, state: str, side: str, text: str, value: str | None
) -> tuple[list[str], str]:
    """Return the outcome of the first statement of a session that reads a foreign table; one with
    a parameter goes by the extended protocol."""
    with cluster.connect("expressions_local") as session:
        session.execute(f"SET app.moment = '2024-05-02 03:04:05+00'; {state}")
        if "$1" not in text:
            return outcome(session, text, side)
        text = text.replace("%", "%%").replace("$1", "%(value)s")
        return outcome(session, text, side, value)


def run_first_statements(cluster: Cluster, seed: str, statements: int) -> Tally:
    """Execute so many random statements as the first ones of sessions."""
    draw = random.Random(seed)
    tally = Tally()
    while tally.executions < statements:
        text, state, value = statement(draw), draw.choice(STATES), draw.choice((None, "3", "2"))
        if any(word in text for word in OF_THE_MOMENT):
            continue
        plain, stock, ours = (
            first_outcome(cluster, state, side, text.replace("{}", side), value) for side in SIDES
        )
        tally.executions += 1
        if is_only_order(ours[1], stock[1], text, is_generic=False):
            tally.other_errors += 1
            continue
        assert ours == stock or is_merged(text, ours, plain), f"{state}; {text}"
    return tally


@pytest.mark.usefixtures("local")
def test_first_statements_of_sessions(pg_instance: Cluster) -> None:
    tally = run_first_statements(pg_instance, f"{SEED} first", FIRST_STATEMENTS)
    assert tally.other_errors < tally.executions / 4


@pytest.mark.walk
@pytest.mark.usefixtures("local")
def test_more_first_statements(pg_instance: Cluster) -> None:
    run_first_statements(pg_instance, f"{SEED} more first", WALK_QUERIES // 2)


@pytest.mark.walk
@pytest.mark.parametrize("part", range(4))
def test_more_random_expressions(local: Connection, part: int) -> None:
    run(local, f"{SEED} {part}", WALK_QUERIES)
