"""Random joins and subqueries of a foreign table, looked up in batches, beside stock."""

import random
from collections.abc import Callable, Iterator

import psycopg
import pytest
from conftest import OUR_WRAPPER
from psycopg import sql

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

WRAPPERS = ("postgres_fdw", OUR_WRAPPER)
SECOND_SERVER = f"{OUR_WRAPPER}_2"
PARTITIONS = 4
"""Of which the last one is local, and the first and the third are on one server."""

SEED = 7
QUERIES = 140
LEAST_BATCHED = 0.3
"""Share of the queries whose plan batches its lookups; the others show that nothing else breaks."""

LEAST_OF_PARTITIONS = 0.2
"""The same where `shelf` is partitioned: each partition must be given the same values."""

NO_LIMIT = " LIMIT 1000000"
"""Stops no query of ours, but whoever reads ahead cannot know: the first batches are small."""

WIDE = "(SELECT *, repeat('w', 30000) AS wide FROM probe OFFSET 0)"
"""Outer rows so wide that there are several batches of them."""

FEW = "(SELECT * FROM probe WHERE id % 20 = 0)"

OUTER = (
    *("probe", "probe", "(SELECT * FROM probe WHERE id % 3 > 0)"),
    *("(SELECT * FROM probe LIMIT 50)", WIDE),
)

SUBQUERIES = 0.3
"""Share of the queries that have correlated subqueries; the others are joins."""

OF_OUTER = "(SELECT max(o.id) FROM probe o WHERE o.b = p.b AND o.id < p.id)"
"""What a LATERAL subquery takes from a subquery of its own, of the outer row."""

SECOND = " {} {{}}.shelf t ON t.a = s.a + 1 AND t.id < s.id"
"""Another table of the same server, of which rows may be looked up by those of `shelf`."""

COLUMNS = {
    "a": "i % 40",
    "b": "(i % 23)::int2",
    "c": "(i % 31)::int8",
    "d": "(i % 17 / 4.0)::numeric(6, 2)",
    "e": "(i % 13 / 8.0)::float8",
    "f": "CASE i % 5 WHEN 0 THEN '' WHEN 1 THEN E'q\"\\\\' ELSE 'text ' || i % 19 END",
    "g": "('v' || i % 11)::varchar(4)",
    "h": "('c' || i % 7)::char(5)",
    "i": "date '2024-02-27' + i % 9",
    "j": "timestamptz '2024-03-31 00:30+00' + i % 12 * interval '1 hour'",
    "k": "i % 3 = 0",
    "l": "('00000000-0000-0000-0000-' || lpad((i % 21)::text, 12, '0'))::uuid",
    "m": "int4range(i % 6, i % 6 + 3)",
    "n": """(ARRAY['a,b', '"', '\\', '\\"', 'NULL', ' ', 'é', '''', '$1', '{{}}'])[i % 10 + 1]""",
    "o": "decode(md5((i % 6)::text), 'hex')",
    "q": "i % 5 * interval '1 day 2 h -3 s'",
    "r": "inet '10.0.0.1' + i % 4",
    "t": """jsonb_build_object('a"', i % 4)""",
    "u": "(ARRAY['n', 'N', 'n n'])[i % 3 + 1]::name",
    "v": """(ARRAY['a', '"', '\\'])[i % 3 + 1]::"char\"""",
}
NUMBERS = ("a", "b", "c", "d", "e")

OTHER_TYPES = {
    "b": "integer",
    "c": "integer",
    "d": "numeric(6, 1)",
    "g": "text",
    "i": "text",
    "j": "date",
    "l": "text",
    "m": "text",
    "o": "text",
    "q": "text",
    "t": "text",
    "u": "text",
    "v": "text",
}
"""Local types of columns that have another one remotely."""

SHAPES = ("JOIN", "LEFT JOIN", "EXISTS", "NOT EXISTS", "IN", "LATERAL", "DELETE")
LOCAL_SHAPES = ("JOIN", "LEFT JOIN", "EXISTS", "NOT EXISTS", "DELETE")
"""Of which stock compares no column remotely, unless it asks for estimates."""
TABLE = (
    "CREATE TABLE {name} AS SELECT i AS id, "
    + ", ".join(
        f"CASE WHEN i % 37 <> {n} THEN {e} END AS {c}" for n, (c, e) in enumerate(COLUMNS.items())
    )
    + " FROM generate_series({first}, {last}) i"
)


@pytest.fixture(scope="module")
def local(pg_instance: Cluster) -> Iterator[Connection]:
    """A connection to a database with the table `probe`, and `shelf` by each wrapper."""
    with pg_instance.connect() as connection:
        recreate_database(connection, "lookups_source")
        recreate_database(connection, "lookups_local")
    with pg_instance.connect("lookups_source") as connection:
        connection.execute("SET timezone = 'Asia/Kathmandu'")
        connection.execute(TABLE.format(name="shelf", first=1, last=600))
        connection.execute("CREATE INDEX ON shelf (a); CREATE INDEX ON shelf (f)")
        connection.execute("CREATE TABLE parts (LIKE shelf) PARTITION BY HASH (a)")
        for n in range(PARTITIONS):
            connection.execute(
                f"CREATE TABLE parts_{n} PARTITION OF parts"
                f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {n})"
            )
        connection.execute("INSERT INTO parts SELECT * FROM shelf; CREATE INDEX ON parts (a)")
        connection.execute("ANALYZE")
    server = sql.SQL(
        "CREATE SERVER {0} FOREIGN DATA WRAPPER {5} OPTIONS (host {1}, port {2},"
        " dbname 'lookups_source'); CREATE USER MAPPING FOR CURRENT_USER SERVER {0}"
        " OPTIONS (user {3}, password {4})"
    )
    with pg_instance.connect("lookups_local") as connection:
        connection.execute(TABLE.format(name="probe", first=300, last=420))
        connection.execute("ANALYZE probe")
        connection.execute(f"CREATE EXTENSION {OUR_WRAPPER} CASCADE")
        for name in (*WRAPPERS, SECOND_SERVER):
            connection.execute(
                server.format(
                    sql.Identifier(name),
                    sql.Literal(str(pg_instance.socket_folder)),
                    sql.Literal(str(pg_instance.port)),
                    sql.Literal(SUPERUSER),
                    sql.Literal(pg_instance.password_file.read_text("utf-8")),
                    sql.Identifier(name if name in WRAPPERS else OUR_WRAPPER),
                )
            )
        connection.execute(f"ALTER SERVER {OUR_WRAPPER} OPTIONS (ADD batched_lookups 'true')")
        connection.execute(f"ALTER SERVER {SECOND_SERVER} OPTIONS (ADD async_capable 'true')")
        for setting in ("hashjoin", "mergejoin", "material", "memoize"):
            connection.execute(f"SET enable_{setting} = off")
        yield connection


def condition(draw: random.Random) -> str:
    """Return how an outer row `p` and a foreign row `s` belong together."""
    parts = []
    for _ in range(draw.choice((1, 1, 2, 3))):
        column = draw.choice(tuple(COLUMNS))
        other = draw.choice(NUMBERS) if column in NUMBERS else column
        left = f"p.{other} + 1" if column in NUMBERS and draw.random() < 0.3 else f"p.{other}"
        parts.append(f"s.{column} = {left}")
    if draw.random() < 0.4:
        parts.append(
            draw.choice(
                (
                    "s.id > p.id",
                    "p.id % 2 = 0",
                    "s.f LIKE '%1%'",
                    "s.f <> '$1'",
                    "length(s.f) < length(p.f) + 2",
                    "s.id BETWEEN p.id - 100 AND p.id",
                    "s.a = ANY (ARRAY(SELECT o.a FROM probe o WHERE o.id % 3 = 0))",
                )
            )
        )
    return " AND ".join(parts)


def subquery(draw: random.Random) -> str:
    """Return an expression, perhaps null, with a subquery for the outer row `p`."""
    where = condition(draw)
    return draw.choice(
        (
            f"(SELECT s.f FROM {{}}.shelf s WHERE {where} ORDER BY s.id LIMIT 1)",
            f"(SELECT s FROM {{}}.shelf s WHERE {where} ORDER BY s.id DESC LIMIT 1)",
            f"(SELECT count(*) FROM {{}}.shelf s WHERE {where})",
            f"upper((SELECT max(s.f) || min(s.d) FROM {{}}.shelf s WHERE {where}))",
            f"EXISTS (SELECT FROM {{}}.shelf s WHERE {where})",
            f"NOT p.id + 100 IN (SELECT s.id FROM {{}}.shelf s WHERE {where})",
            f"ARRAY(SELECT s.j FROM {{}}.shelf s WHERE {where} ORDER BY s.id)",
            f"CASE WHEN p.id % 2 = 0 THEN (SELECT sum(s.c) FROM {{}}.shelf s WHERE {where}) END",
            f"(SELECT count(*) FROM {{}}.shelf s JOIN probe o ON o.id = s.id WHERE {where})",
            f"(p.b, (SELECT max(s.c) FROM {{}}.shelf s WHERE {where})) < (9, 20)",
            f"(ARRAY[p.a, p.b])[(SELECT count(*) FROM {{}}.shelf s WHERE {where}) % 4]",
        )
    )


def with_subqueries(draw: random.Random, outer: str) -> str:
    """Return a query of `outer` with a placeholder for the schema of `shelf` in subqueries."""
    wheres = [
        f"({subquery(draw)}) {draw.choice(('IS NULL', 'IS NOT NULL'))}"
        for _ in range(draw.choice((0, 0, 1, 2)))
    ]
    if draw.random() < 0.3:
        wheres.insert(draw.randrange(len(wheres) + 1), "p.id % 4 > 0")
    where = f" WHERE {' AND '.join(wheres)}" if wheres else ""
    kind = draw.choice(("SELECT", "SELECT", "GROUP", "JOIN", "UPDATE"))
    if kind == "UPDATE":
        column = f"(SELECT max(s.c) FROM {{}}.shelf s WHERE {condition(draw)})"
        return f"UPDATE probe p SET c = {column}, f = p.id{where} RETURNING p.id, p.c, p.f"
    if kind == "GROUP":
        look = "(SELECT min(s.f) FROM {}.shelf s WHERE s.a = max(p.a))"
        return f"SELECT p.b, count(*), {look} FROM {outer} p{where} GROUP BY p.b"
    if kind == "JOIN":
        outer = f"{FEW} o LEFT JOIN {outer}"
        where = f" ON o.a = p.b{where}"
    columns = ", ".join(subquery(draw) for _ in range(draw.choice((0, 1, 2)))) or "p.f"
    return f"SELECT p.id, {columns} FROM {outer} p{where}"


def query(draw: random.Random) -> str:
    """Return a query with a placeholder for the schema of `shelf`."""
    outer = draw.choice(OUTER)
    return with_subqueries(draw, outer) if draw.random() < SUBQUERIES else with_join(draw, outer)


def local_join(draw: random.Random) -> str:
    """Return a query that stock joins here, with a placeholder for the schema of `shelf`."""
    return with_join(draw, draw.choice(OUTER), LOCAL_SHAPES)


def with_join(draw: random.Random, outer: str, shapes: tuple[str, ...] = SHAPES) -> str:
    """Return a query that joins `outer`, with a placeholder for the schema of `shelf`."""
    where = condition(draw)
    shape = draw.choice(shapes)
    if shape == "DELETE":
        return f"DELETE FROM probe p USING {{}}.shelf s WHERE {where} RETURNING p.id"
    if outer == WIDE:
        where += " AND length(s.f) < length(p.wide)"
    if shape in ("JOIN", "LEFT JOIN"):
        columns = draw.choice(
            ("p.id, s.id", "s.*, p.id", "p.id, s", "count(*), max(s.d), sum(p.id)")
        )
        if draw.random() < 0.3 and outer != WIDE:
            # Stock asks for the rows of `t` one by one.
            second = SECOND.format(draw.choice(("JOIN", "LEFT JOIN")))
            return f"SELECT {columns} FROM {FEW} p {shape} {{}}.shelf s ON {where}{second}"
        return f"SELECT {columns} FROM {outer} p {shape} {{}}.shelf s ON {where}"
    if shape == "LATERAL":
        inner = draw.choice(
            (
                f"SELECT s.id, s.f FROM {{}}.shelf s WHERE {where} ORDER BY s.id DESC LIMIT 2",
                f"SELECT count(*), min(s.j) FROM {{}}.shelf s WHERE {where}",
                f"SELECT s.d, sum(s.c) FROM {{}}.shelf s WHERE {where} GROUP BY s.d",
                f"SELECT s.id, {OF_OUTER} FROM {{}}.shelf s WHERE {where} ORDER BY s.id LIMIT 2",
                f"SELECT count(*) FROM {{}}.shelf s WHERE {where} AND s.id > {OF_OUTER}",
            )
        )
        return f"SELECT p.id, x.* FROM {outer} p LEFT JOIN LATERAL ({inner}) x ON true"
    if shape == "IN":
        return (
            f"SELECT p.id FROM {outer} p WHERE p.a IN (SELECT s.a FROM {{}}.shelf s WHERE s.id > 5)"
        )
    return f"SELECT p.id, p.f FROM {outer} p WHERE {shape} (SELECT FROM {{}}.shelf s WHERE {where})"


def rows(connection: Connection, statement: str) -> list[str]:
    """Return the rows as sorted texts; what the statement writes is rolled back."""
    with connection.transaction(force_rollback=True):
        return sorted(map(repr, connection.execute(statement).fetchall()))


def is_batched(connection: Connection, statement: str) -> bool:
    """Return whether the plan has batched lookups."""
    plan = connection.execute(f"EXPLAIN {statement}").fetchall()
    return any("Batched Foreign Lookup" in str(line[0]) for line in plan)


def import_shelf(connection: Connection, *, asks: bool, analyzes: bool) -> None:
    """Make the foreign table `shelf` anew, by each wrapper in a schema of its name."""
    for wrapper in WRAPPERS:
        connection.execute(f"DROP SCHEMA IF EXISTS {wrapper} CASCADE; CREATE SCHEMA {wrapper}")
        connection.execute(f"IMPORT FOREIGN SCHEMA public FROM SERVER {wrapper} INTO {wrapper}")
        connection.execute(
            f"ALTER FOREIGN TABLE {wrapper}.shelf OPTIONS (ADD use_remote_estimate '{asks}')"
        )
        if analyzes:
            connection.execute(f"ANALYZE {wrapper}.shelf")


def partition_shelf(connection: Connection, *, asks: bool, analyzes: bool) -> None:
    """Make our `shelf` a table of the same rows whose partitions are foreign, but for the last."""
    connection.execute(f"DROP FOREIGN TABLE {OUR_WRAPPER}.shelf")
    connection.execute(
        f"CREATE TABLE {OUR_WRAPPER}.shelf (LIKE postgres_fdw.shelf) PARTITION BY HASH (a)"
    )
    partition = f"PARTITION OF {{}}.shelf FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {{}})"
    for n in range(PARTITIONS):
        make_member(connection, n, partition.format(OUR_WRAPPER, n), asks=asks, analyzes=analyzes)


def branch_shelf(connection: Connection, *, asks: bool, analyzes: bool) -> None:
    """Make our `shelf` a foreign table whose children, of which the last is local, have most of
    the same rows."""
    connection.execute(
        f"ALTER FOREIGN TABLE {OUR_WRAPPER}.shelf OPTIONS (SET table_name 'parts_0')"
    )
    for n in range(1, PARTITIONS):
        child = f"() INHERITS ({OUR_WRAPPER}.shelf)"
        make_member(connection, n, child, asks=asks, analyzes=analyzes)
    if analyzes:
        connection.execute(f"ANALYZE {OUR_WRAPPER}.shelf")


def make_member(
    connection: Connection, n: int, belongs: str, *, asks: bool, analyzes: bool
) -> None:
    """Make the partition or child of our `shelf` that has the rows of the remote `parts_N`."""
    name = f"{OUR_WRAPPER}.shelf_{n}"
    if n == PARTITIONS - 1:
        connection.execute(f"CREATE TABLE {name} {belongs}")
        connection.execute(
            f"IMPORT FOREIGN SCHEMA public LIMIT TO (parts_{n})"
            " FROM SERVER postgres_fdw INTO postgres_fdw"
        )
        connection.execute(f"INSERT INTO {name} SELECT * FROM postgres_fdw.parts_{n}")
        connection.execute(f"CREATE INDEX ON {name} (a); ANALYZE {name}")
        return
    connection.execute(
        f"CREATE FOREIGN TABLE {name} {belongs}"
        f" SERVER {SECOND_SERVER if n == 1 else OUR_WRAPPER}"
        f" OPTIONS (schema_name 'public', table_name 'parts_{n}', use_remote_estimate '{asks}')"
    )
    if analyzes:
        connection.execute(f"ANALYZE {name}")


def declare_other_types(connection: Connection, *, analyzes: bool) -> None:
    """Give columns of `shelf`, by each wrapper, other types than they have remotely."""
    types = ", ".join(f"ALTER {column} TYPE {kind}" for column, kind in OTHER_TYPES.items())
    for wrapper in WRAPPERS:
        connection.execute(f"ALTER FOREIGN TABLE {wrapper}.shelf {types}")
        if analyzes:
            connection.execute(f"ANALYZE {wrapper}.shelf")


def compare(
    local: Connection,
    draw: random.Random,
    least_batched: float,
    draws: Callable[[random.Random], str] = query,
) -> None:
    """Execute random queries by both wrappers; their rows must be the same."""
    batched = 0
    for _ in range(QUERIES):
        text = draws(draw)
        if text.startswith("SELECT") and draw.random() < 0.5:
            text += NO_LIMIT
        ours, stock = (text.replace("{}", wrapper) for wrapper in (OUR_WRAPPER, "postgres_fdw"))
        assert rows(local, ours) == rows(local, stock), ours
        batched += is_batched(local, ours)
    assert batched >= least_batched * QUERIES


@pytest.mark.walk
@pytest.mark.parametrize(("asks", "analyzes"), [(True, True), (False, True), (False, False)])
def test_random_joins_have_stocks_rows(local: Connection, *, asks: bool, analyzes: bool) -> None:
    import_shelf(local, asks=asks, analyzes=analyzes)
    compare(local, random.Random(f"{SEED} {asks} {analyzes}"), LEAST_BATCHED)


@pytest.mark.walk
@pytest.mark.parametrize(("asks", "analyzes"), [(True, True), (False, True), (False, False)])
@pytest.mark.parametrize("members", ["partitions", "children"])
def test_random_joins_with_members(
    local: Connection, members: str, *, asks: bool, analyzes: bool
) -> None:
    import_shelf(local, asks=asks, analyzes=analyzes)
    divide_shelf = partition_shelf if members == "partitions" else branch_shelf
    divide_shelf(local, asks=asks, analyzes=analyzes)
    compare(local, random.Random(f"{SEED} {members} {asks} {analyzes}"), LEAST_OF_PARTITIONS)


@pytest.mark.walk
@pytest.mark.parametrize("analyzes", [True, False])
def test_random_joins_of_columns_of_other_types(local: Connection, *, analyzes: bool) -> None:
    import_shelf(local, asks=False, analyzes=False)
    declare_other_types(local, analyzes=analyzes)
    columns = ", ".join(f"{c}::{OTHER_TYPES[c]}" if c in OTHER_TYPES else c for c in COLUMNS)
    with local.transaction(force_rollback=True):
        local.execute("ALTER TABLE probe RENAME TO plain")
        local.execute(f"CREATE TABLE probe AS SELECT id, {columns} FROM plain; ANALYZE probe")
        compare(local, random.Random(f"{SEED} types {analyzes}"), LEAST_BATCHED, local_join)
