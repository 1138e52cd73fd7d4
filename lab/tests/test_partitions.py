"""Random statements for partitions on several servers, beside a local table with the same rows."""

import itertools
import math
import random
from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest
from conftest import OUR_WRAPPER
from psycopg import sql

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.suites.foreign import recreate_database

pytestmark = [pytest.mark.cluster, pytest.mark.walk]

Connection = psycopg.Connection[tuple[object, ...]]

SERVERS = 3
SEED = 11
QUERIES = 300
TRANSACTIONS = 60
LEAST_PARTIAL = LEAST_LIMITED = 0.4
"""Shares of the queries that servers aggregate partially, and of those whose LIMIT they get."""

RELATIVE_ERROR = 1e-9
"""Of floats: like workers, servers add up parts, so the last digits may differ."""

ROWS = 3000
SMALL = "(i * 37 % 2001 - 1000)"
COLUMNS = {
    "g": "i % 7",
    "k": "'kind ' || i % 5",
    "i2": f"{SMALL}::int2",
    "i4": f"{SMALL} * 1000003",
    "i8": f"{SMALL}::int8 * 9007199254740993",
    "n": f"({SMALL} / 7.0)::numeric(20, 9)",
    "m": f"CASE i % 4 WHEN 0 THEN {SMALL} ELSE {SMALL} * 1e-30 * i ^ 9::numeric END",
    "o": "CASE i % 97 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity'"
    f" ELSE {SMALL}::numeric END",
    "f4": f"({SMALL} / 3.0)::float4",
    "f8": f"{SMALL} / 11.0::float8 + 1e6",
    "x": "CASE i % 89 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity'"
    f" ELSE {SMALL}::float8 END",
    "d": "date '2024-02-27' + i % 500",
    "t": "timestamptz '2024-03-31 00:30+00' + i * interval '1 hour'",
    "q": f"{SMALL} * interval '1 day 2 h -3 s'",
    "c": f"({SMALL} / 8.0)::numeric::money",
    "b": "i % 3 = 0",
    "a": "ARRAY[i % 10, i % 3]",
}
INTEGERS = ("i2", "i4", "i8")
NUMERICS = (*INTEGERS, "n", "m", "o")
NUMBERS = (*NUMERICS, "f4", "f8", "x")
ORDERED = (*NUMBERS, "k", "d", "t", "q", "c")
MOMENTS = ("stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp")


@pytest.fixture(scope="module")
def local(pg_instance: Cluster) -> Iterator[Connection]:
    """A connection to a database with `facts`, partitioned, and `whole`, which has its rows."""
    names = [f"partials_{n}" for n in range(SERVERS)]
    with pg_instance.connect() as connection:
        for name in ("partials_local", *names):
            recreate_database(connection, name)
    columns = ", ".join(
        f"CASE WHEN i % 41 <> {n} THEN {e} END AS {c}" for n, (c, e) in enumerate(COLUMNS.items())
    )
    table = f"SELECT i AS id, {columns} FROM generate_series(1, {ROWS}) i"
    for n, name in enumerate(names):
        with pg_instance.connect(name) as connection:
            connection.execute(
                f"CREATE TABLE facts_{n} AS SELECT * FROM ({table}) f"
                f" WHERE id % {SERVERS + 2} = {n}"
            )
            connection.execute("ANALYZE")
    server = sql.SQL(
        "CREATE SERVER {0} FOREIGN DATA WRAPPER {1} OPTIONS (host {2}, port {3}, dbname {6},"
        " async_capable 'true'); CREATE USER MAPPING FOR CURRENT_USER SERVER {0}"
        " OPTIONS (user {4}, password {5})"
    )
    with pg_instance.connect("partials_local") as connection:
        connection.execute(f"CREATE EXTENSION {OUR_WRAPPER} CASCADE")
        connection.execute(f"CREATE TABLE whole AS {table}")
        connection.execute(
            f"CREATE TABLE facts (LIKE whole) PARTITION BY LIST ((id % {SERVERS + 2}))"
        )
        for n, name in enumerate(names):
            connection.execute(
                server.format(
                    sql.Identifier(name),
                    sql.Identifier(OUR_WRAPPER),
                    sql.Literal(str(pg_instance.socket_folder)),
                    sql.Literal(str(pg_instance.port)),
                    sql.Literal(SUPERUSER),
                    sql.Literal(pg_instance.password_file.read_text("utf-8")),
                    sql.Literal(name),
                )
            )
            connection.execute(
                f"CREATE FOREIGN TABLE facts_{n} PARTITION OF facts FOR VALUES IN ({n})"
                f" SERVER {name}"
            )
        # One partition is local, one is empty, and both have their place among the others.
        connection.execute(f"CREATE TABLE facts_here PARTITION OF facts FOR VALUES IN ({SERVERS})")
        connection.execute(
            f"CREATE TABLE facts_none PARTITION OF facts FOR VALUES IN ({SERVERS + 1})"
        )
        connection.execute(
            f"INSERT INTO facts_here SELECT * FROM whole WHERE id % {SERVERS + 2} = {SERVERS}"
        )
        connection.execute(f"DELETE FROM whole WHERE id % {SERVERS + 2} = {SERVERS + 1}")
        connection.execute("SET enable_partitionwise_aggregate = on")
        yield connection


def aggregate(draw: random.Random) -> str:
    """Return an aggregate of a column, or of an expression of several."""
    kind = draw.choice(("count", "sum", "avg", "moment", "moment", "least", "logic", "rare"))
    number = draw.choice(NUMBERS)
    if draw.random() < 0.2:
        number = draw.choice(("i4 + i2", "n * 2", "f8 - 1", "-i8", "abs(m)"))
    match kind:
        case "count":
            call = draw.choice(("count(*)", f"count({draw.choice(tuple(COLUMNS))})"))
        case "sum":
            # A sum of float4 has 6 digits, of which the last ones depend on the order.
            call = f"sum({draw.choice((number.replace('f4', 'f8'), 'q', 'c'))})"
        case "avg":
            call = f"avg({draw.choice((number, number, 'q'))})"
        case "moment":
            call = f"{draw.choice(MOMENTS)}({number})"
        case "least":
            call = f"{draw.choice(('min', 'max'))}({draw.choice(ORDERED)})"
        case "logic":
            bits = draw.choice(("bit_and", "bit_or")), draw.choice(INTEGERS)
            call = draw.choice(("bool_and(b)", "bool_or(b)", "every(b)", f"{bits[0]}({bits[1]})"))
        case _:
            call = draw.choice(
                (
                    "corr(f8, i4::float8)",
                    "regr_count(f8, f4)",
                    "count(DISTINCT g)",
                    "array_agg(i4 ORDER BY id)",
                    "max(a)",
                    "string_agg(k, ',' ORDER BY id)",
                )
            )
    if draw.random() < 0.3:
        call += f" FILTER (WHERE {condition(draw)})"
    return call


def condition(draw: random.Random) -> str:
    """Return a condition on a row."""
    return draw.choice(
        (
            *("b", "i4 > 0", "k <> 'kind 2'", "g < 0", "id % 2 = 1", "d IS NULL", "f8 < 1e6"),
            *("g = 3", "k = 'kind 1'", "g = 2 AND k = 'kind 3'"),
        )
    )


def query(draw: random.Random) -> str:
    """Return a query with a placeholder for the table; the groups come first, in their order."""
    groups = draw.choice(
        (
            *((), ("g",), ("k",), ("g", "k"), ("g % 2", "b"), ("d", "g"), ("i4 / 99", "k")),
            *(("g", "k"), ("g", "'all'", "k"), ("k", "k", "g")),
        )
    )
    calls = [aggregate(draw) for _ in range(draw.choice((1, 1, 2, 4)))]
    text = f"SELECT {', '.join((*groups, *calls))} FROM {{}}"
    if draw.random() < 0.5:
        text += f" WHERE {condition(draw)}"
    if groups:
        text += f" GROUP BY {', '.join(map(str, range(1, len(groups) + 1)))}"
    if "g % 2" in groups and draw.random() < 0.3:
        text += " HAVING g % 2 + count(*) > 1"
    elif draw.random() < 0.2:
        text += draw.choice((" HAVING count(*) > 3", " HAVING avg(i4) > 0", " HAVING sum(n) < 1"))
    if groups:
        text += f" ORDER BY {', '.join(map(str, range(1, len(groups) + 1)))}"
    return text


def is_same(here: object, there: object) -> bool:
    """Return whether two values are the same, floats but for their last digits."""
    if isinstance(here, float) and isinstance(there, float):
        if math.isnan(here) or math.isnan(there):
            return math.isnan(here) and math.isnan(there)
        return math.isclose(here, there, rel_tol=RELATIVE_ERROR, abs_tol=RELATIVE_ERROR)
    if isinstance(here, Decimal):
        # 1.0 and 1.00 are equal, but not to the last digit.
        return str(here) == str(there)
    return here == there


def result(connection: Connection, statement: str) -> list[tuple[object, ...]] | str | None:
    """Return the rows, or the SQLSTATE of the error."""
    try:
        with connection.transaction():
            return connection.execute(statement).fetchall()
    except psycopg.Error as error:
        return error.sqlstate


def is_partial(connection: Connection, statement: str) -> bool:
    """Return whether a server aggregates partially."""
    plan = str(connection.execute(f"EXPLAIN (VERBOSE) {statement}").fetchall())
    return "Finalize" in plan and "Aggregate on" in plan


def analyze(connection: Connection) -> None:
    """Gather statistics of the foreign partitions."""
    for n in range(SERVERS):
        connection.execute(f"ANALYZE facts_{n}")


@pytest.mark.parametrize("analyzes", [False, True])
def test_random_aggregates_are_those_of_a_local_table(local: Connection, *, analyzes: bool) -> None:
    if analyzes:
        analyze(local)
    draw = random.Random(f"{SEED} {analyzes}")
    partial = 0
    for _ in range(QUERIES):
        text = query(draw)
        here, there = result(local, text.format("facts")), result(local, text.format("whole"))
        assert isinstance(here, list) == isinstance(there, list), (text, here, there)
        if not isinstance(here, list) or not isinstance(there, list):
            assert here == there, text
            continue
        assert len(here) == len(there), text
        for row, expected in zip(here, there, strict=True):
            assert all(map(is_same, row, expected)), (text, row, expected)
        partial += is_partial(local, text.format("facts"))
    assert partial >= LEAST_PARTIAL * QUERIES


def first_rows(draw: random.Random) -> str:
    """Return a query, with a placeholder for the table, for its first rows in a unique order."""
    keys = draw.sample(
        ("g", "k", "i4", "n", "o", "f8", "x", "d", "t", "b"), draw.choice((0, 1, 1, 2))
    )
    order = [
        f"{key}{draw.choice(('', ' DESC'))}{draw.choice(('', '', ' NULLS FIRST', ' NULLS LAST'))}"
        for key in (*keys, "id")
    ]
    text = f"SELECT {draw.choice(('id, k', '*', 'i4 + i2, f8', 'count(*) OVER ()'))} FROM {{}}"
    is_lateral = draw.random() < 0.2
    if is_lateral:
        text += " WHERE id > 100 * s"
    elif draw.random() < 0.5:
        text += f" WHERE {draw.choice((condition(draw), condition(draw), 'id % 5 IN (0, 2)'))}"
        if draw.random() < 0.2:
            text += " AND random() >= 0"
    text += f" ORDER BY {', '.join(order)} LIMIT {draw.choice((0, 1, 3, 20, 150, 2500))}"
    if draw.random() < 0.3:
        text += f" OFFSET {draw.choice((0, 1, 40, 2600))}"
    return f"SELECT * FROM generate_series(1, 3) s, LATERAL ({text}) q" if is_lateral else text


@pytest.mark.parametrize("analyzes", [False, True])
def test_first_rows_are_those_of_a_local_table(local: Connection, *, analyzes: bool) -> None:
    if analyzes:
        analyze(local)
    draw = random.Random(f"{SEED} {analyzes}")
    limited = 0
    for _ in range(QUERIES):
        text = first_rows(draw)
        here, there = local.execute(text.format("facts")), local.execute(text.format("whole"))
        assert list(map(repr, here.fetchall())) == list(map(repr, there.fetchall())), text
        plan = str(local.execute(f"EXPLAIN (VERBOSE) {text.format('facts')}").fetchall())
        limited += "Remote Limit" in plan
    assert limited >= LEAST_LIMITED * QUERIES


def copied_rows(draw: random.Random, first: int) -> str:
    """Return a COPY with a placeholder for the table and, from its second line on, the rows."""
    number = draw.choice((1, 30, 99))
    bad = draw.choice((-1, -1, -1, draw.randrange(number)))
    rows = (
        f"{first + i}\t{i % 7}\tcopied {i}\t{'none' if i == bad else i}\t{i}.5"
        for i in range(number)
    )
    return "\n".join(("COPY {} (id, g, k, i4, n) FROM STDIN", *rows))


def change(draw: random.Random, ids: Iterator[int]) -> str:
    """Return a statement that changes rows, with a placeholder for the table."""
    where = f"{condition(draw)} AND id % 11 = {draw.randrange(11)}"
    if draw.random() < 0.7:
        # Only partitions that other servers have.
        where += f" AND id % {SERVERS + 2} IN (0, 1, 2)"
    kind = draw.choice(("insert", "insert", "copy", "update", "update", "delete"))
    if kind == "copy":
        return copied_rows(draw, next(ids))
    if kind == "insert":
        first = next(ids)
        bad = draw.choice((0, 0, 0, first + 20))
        text = (
            "INSERT INTO {} (id, g, k, i4, n)"
            f" SELECT i, i % 7, 'new', 1000 / (i - {bad}), i / 7.0"
            f" FROM generate_series({first}, {first + draw.choice((1, 30))}) i"
        )
    elif kind == "update":
        value = draw.choice(
            (
                "i4 = i4 / 2 + 1",
                "k = k || 'x', n = n + i2",
                "n = (SELECT max(i2) FROM {})",
                "i4 = (SELECT count(*) FROM {} WHERE b), d = d + 1",
                "i4 = 10000 / (g - 3)",
            )
        )
        text = f"UPDATE {{}} SET {value} WHERE {where}"
    else:
        text = f"DELETE FROM {{}} WHERE {where} AND id % 7 = 3"
    if draw.random() < 0.2:
        return f"WITH changed AS ({text} RETURNING id, n) SELECT * FROM changed ORDER BY id"
    return text


def outcome(connection: Connection, statement: str) -> object:
    """Return the rows, or how many were changed, or the SQLSTATE of the error."""
    try:
        with connection.transaction(), connection.cursor() as cursor:
            if statement.startswith("COPY"):
                command, rows = statement.split("\n", 1)
                with cursor.copy(command) as copy:
                    copy.write(rows)
            else:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else cursor.rowcount
    except psycopg.Error as error:
        return error.sqlstate


def contents(connection: Connection, table: str) -> object:
    """Return how many rows a table has, and a hash of them."""
    query = f"SELECT count(*), md5(string_agg(t::text, ',' ORDER BY id)) FROM {table} t"
    return connection.execute(query).fetchone()


def change_both(connection: Connection, draw: random.Random, ids: Iterator[int]) -> None:
    """Change both tables in one transaction, in savepoints of which some are rolled back."""
    with connection.transaction(force_rollback=draw.random() < 0.2):
        for _ in range(draw.randint(1, 4)):
            with connection.transaction(force_rollback=draw.random() < 0.2):
                text = change(draw, ids)
                here = outcome(connection, text.replace("{}", "facts"))
                there = outcome(connection, text.replace("{}", "whole"))
                assert here == there, text
                if draw.random() < 0.5:
                    assert contents(connection, "facts") == contents(connection, "whole"), text


@pytest.mark.parametrize("is_parallel", [False, True])
def test_random_changes_are_those_of_a_local_table(local: Connection, *, is_parallel: bool) -> None:
    for n in range(SERVERS):
        local.execute(f"ALTER SERVER partials_{n} OPTIONS (ADD parallel_modify '{is_parallel}')")
    draw = random.Random(f"{SEED} {is_parallel}")
    ids = itertools.count(ROWS + 1000 + 1_000_000 * is_parallel, 100)
    for _ in range(TRANSACTIONS):
        change_both(local, draw, ids)
        assert contents(local, "facts") == contents(local, "whole")
    for n in range(SERVERS):
        local.execute(f"ALTER SERVER partials_{n} OPTIONS (DROP parallel_modify)")
