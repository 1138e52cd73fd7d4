"""Random semi and anti joins, and subqueries in aggregates, beside stock and local tables.

The two foreign tables are on one server, which joins them; the third one is local, and its values
are looked up. Each query is executed on the local tables, through stock and through our wrapper.
"""

import random
from collections.abc import Iterator

import psycopg
import pytest
from conftest import OUR_WRAPPER
from psycopg import sql

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

PLAIN = "plain"
SIDES = (PLAIN, "postgres_fdw", OUR_WRAPPER)
"""Schemas: of the local tables, and of the foreign ones by each wrapper."""

SEED = 44
QUERIES = 150
WALK_QUERIES = 1500
LEAST_JOINED = 0.35
"""Share of the queries of joins that the remote server joins, where it may; others have a condition
that cannot be sent, or are cheaper here."""

LEAST_LOOKED_UP = 0.5
"""Share of the queries of subqueries in aggregates whose lookups are batched."""

TABLE = """
CREATE TABLE {schema}.{name} (id int PRIMARY KEY, k int, n int8, s text, "C k" varchar(9), d date);
INSERT INTO {schema}.{name}
SELECT i, nullif(i % {keys}, 3), nullif(i % 11, 4),
    (ARRAY['a', 'B', 'b (', ''') ON (', NULL])[i % 5 + 1],
    (ARRAY['a', 'B', 'r1.k', NULL])[i % 4 + 1], date '2024-02-27' + i % 9
FROM generate_series(1, {rows}) i;
ANALYZE {schema}.{name};
"""
TABLES = {"one": (400, 90), "other": (700, 120), "third": (150, 40)}
"""Rows and different keys of each."""

EQUAL = ("k", "id", "s", '"C k"', "d")
MORE = (
    *("{i}.n > {o}.n", "{i}.n > 3", "{i}.s IS NOT NULL", "{i}.s <> 'b ('", "{o}.id % 3 = 0"),
    *("({i}.k IS NOT NULL) IS NOT NULL", "{i}.id BETWEEN {o}.id - 90 AND {o}.id", "{i}.d > now()"),
    *("random() < 2 AND {i}.n < 5", "{i}.s > {o}.s", "coalesce({i}.n, 0) < 7", "{i}.id <> {o}.id"),
)
COLUMNS = (
    *("{o}.id", "{o}.id", "{o}.*", "{o}", 'count(*), sum({o}.n), max({o}.s COLLATE "C")'),
    *("DISTINCT {o}.s", "{o}.id + 1, upper({o}.s)"),
)
SENT = ("EXISTS", "NOT EXISTS")


@pytest.fixture(scope="module")
def local(pg_instance: Cluster) -> Iterator[Connection]:
    """A connection to a database with the tables in each schema of SIDES."""
    with pg_instance.connect() as connection:
        recreate_database(connection, "joins_source")
        recreate_database(connection, "joins_local")
    with pg_instance.connect("joins_source") as connection:
        make_tables(connection, "public")
    server = sql.SQL(
        "CREATE SERVER {0} FOREIGN DATA WRAPPER {0} OPTIONS (host {1}, port {2},"
        " dbname 'joins_source'); CREATE USER MAPPING FOR CURRENT_USER SERVER {0}"
        " OPTIONS (user {3}, password {4})"
    )
    with pg_instance.connect("joins_local") as connection:
        connection.execute(f"CREATE EXTENSION {OUR_WRAPPER} CASCADE; CREATE SCHEMA {PLAIN}")
        make_tables(connection, PLAIN)
        for wrapper in SIDES[1:]:
            connection.execute(
                server.format(
                    sql.Identifier(wrapper),
                    sql.Literal(str(pg_instance.socket_folder)),
                    sql.Literal(str(pg_instance.port)),
                    sql.Literal(SUPERUSER),
                    sql.Literal(pg_instance.password_file.read_text("utf-8")),
                )
            )
        yield connection


def make_tables(connection: Connection, schema: str) -> None:
    """Make the tables in a schema."""
    for name, (rows, keys) in TABLES.items():
        connection.execute(TABLE.format(schema=schema, name=name, rows=rows, keys=keys))


def import_tables(connection: Connection, *, asks: bool, analyzes: bool) -> None:
    """Make the foreign tables anew, by each wrapper in a schema of its name."""
    for wrapper in SIDES[1:]:
        connection.execute(f"DROP SCHEMA IF EXISTS {wrapper} CASCADE; CREATE SCHEMA {wrapper}")
        connection.execute(f"IMPORT FOREIGN SCHEMA public FROM SERVER {wrapper} INTO {wrapper}")
        for name in TABLES:
            connection.execute(
                f"ALTER FOREIGN TABLE {wrapper}.{name} OPTIONS (ADD use_remote_estimate '{asks}')"
            )
            if analyzes:
                connection.execute(f"ANALYZE {wrapper}.{name}")


def condition(draw: random.Random, outer: str, inner: str) -> str:
    """Return how a row of the inner table matches one of the outer table."""
    columns = draw.sample(EQUAL, draw.choice((1, 1, 2)))
    parts = [f"{inner}.{column} = {outer}.{column}" for column in columns]
    if draw.random() < 0.2:
        parts[0] = f"{inner}.k = {outer}.n + 1"
    if draw.random() < 0.4:
        parts.append(draw.choice(MORE).format(o=outer, i=inner))
    draw.shuffle(parts)
    return " AND ".join(parts)


def membership(draw: random.Random, outer: str, inner: str, depth: int = 1) -> str:
    """Return a condition that an outer row has a match, or that it has none."""
    table = draw.choice(("other", "other", "third", "one"))
    where = condition(draw, outer, inner)
    if depth > 0 and draw.random() < 0.25:
        where += f" AND {membership(draw, inner, inner + 'i', depth - 1)}"
    kind = draw.choice((*SENT, *SENT, "IN", "NOT IN"))
    if kind in SENT:
        return f"{kind} (SELECT FROM {{}}.{table} {inner} WHERE {where})"
    column = draw.choice(("k", "id", "s"))
    return f"{outer}.{column} {kind} (SELECT {inner}.{column} FROM {{}}.{table} {inner})"


def joins(draw: random.Random) -> str:
    """Return a query of semi and anti joins, with placeholders for the schema."""
    kind = draw.randrange(8)
    columns = draw.choice(COLUMNS).format(o="o")
    if kind == 0:
        where = condition(draw, "o", "i")
        last = draw.choice(("", " AND o.n > 2", " AND i.s IS NULL"))
        return (
            f"SELECT {columns} FROM {{}}.one o LEFT JOIN {{}}.other i ON {where}"
            f" WHERE i.{draw.choice(('k', 'id', 'd'))} IS NULL{last}"
        )
    where = membership(draw, "o", "i")
    if draw.random() < 0.3:
        where += f" AND {membership(draw, 'o', 'j')}"
    if draw.random() < 0.3:
        where += draw.choice((" AND o.n < 8", " AND o.s <> 'a'", " AND o.d < now()"))
    if kind == 1:
        return f"SELECT o.k, count(*), min(o.n) FROM {{}}.one o WHERE {where} GROUP BY o.k"
    if kind == 2:
        return f"SELECT o.id FROM {{}}.one o WHERE {where} ORDER BY o.id LIMIT 7"
    if kind in (3, 4):
        shape = draw.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        joined = f"(SELECT * FROM {{}}.one o WHERE {where}) o {shape} {{}}.third t ON t.k = o.k"
        more = "" if "count" in columns or "DISTINCT" in columns else ", t.id"
        return f"SELECT {columns}{more} FROM {joined}"
    if kind == 5:
        return f"SELECT {columns} FROM {{}}.one o JOIN plain.third p ON p.k = o.k WHERE {where}"
    return f"SELECT {columns} FROM {{}}.one o WHERE {where}"


def local_keys(draw: random.Random) -> str:
    """Return a query of foreign rows that match local ones."""
    column = draw.choice(EQUAL)
    few = draw.choice(("", " WHERE l.id < 40", " WHERE l.n = 2", " WHERE l.id % 5 = 0"))
    columns = draw.choice(COLUMNS).format(o="o")
    if draw.random() < 0.5:
        keys = f"SELECT l.{column} FROM plain.one l{few}"
        return f"SELECT {columns} FROM {{}}.other o WHERE o.{column} IN ({keys})"
    more = draw.choice(("", " AND l.n < o.n", " AND l.s = o.s"))
    kind = draw.choice(("EXISTS", "NOT EXISTS"))
    return (
        f"SELECT {columns} FROM {{}}.other o WHERE {kind}"
        f" (SELECT FROM plain.one l WHERE l.{column} = o.{column}{more})"
    )


def subquery(draw: random.Random) -> str:
    """Return a subquery of a foreign table for the local row `l`, as a text."""
    where = condition(draw, "l", "i").replace("random() < 2 AND ", "")
    return draw.choice(
        (
            f"(SELECT max(i.n) FROM {{}}.other i WHERE {where})",
            "(SELECT i.n FROM {}.other i WHERE i.id = l.id)",
            "(SELECT i.n + l.k FROM {}.other i WHERE i.id = l.k)",
            "EXISTS (SELECT FROM {}.other i WHERE i.k = l.k)::int",
            f"(SELECT count(*) FROM {{}}.other i WHERE {where}) + l.id",
        )
    )


def aggregates(draw: random.Random) -> str:
    """Return a query of local rows whose aggregates have subqueries of a foreign table."""
    made = [
        draw.choice(
            (
                "sum({})",
                "count(DISTINCT {})",
                "min({}) + max(l.k)",
                "array_agg({} ORDER BY l.id)",
                "sum({}) FILTER (WHERE l.n > 2)",
                "sum({} + l.n)",
                "string_agg(l.s, ',' ORDER BY {}, l.id)",
                "percentile_disc(0.5) WITHIN GROUP (ORDER BY {})",
            )
        ).replace("{}", subquery(draw))
        for _ in range(draw.choice((1, 1, 2)))
    ]
    group = draw.choice(("", "l.k", "l.n", "ROLLUP (l.n, l.s)", "l.id % 4"))
    source = draw.choice(("plain.one l", "plain.one l", "(SELECT * FROM plain.one LIMIT 60) l"))
    if draw.random() < 0.2:
        source = "plain.third t, LATERAL (SELECT * FROM plain.one o WHERE o.k = t.k OFFSET 0) l"
    having = f" HAVING sum({subquery(draw)}) > 5" if draw.random() < 0.3 else ""
    groups = f" GROUP BY {group}" if group else ""
    first = "" if not group or group.startswith("ROLLUP") else f"{group}, "
    return f"SELECT {first}{', '.join(made)} FROM {source}{groups}{having}"


def rows(connection: Connection, statement: str) -> list[str] | str:
    """Return the rows as sorted texts, or the error."""
    try:
        with connection.transaction(force_rollback=True):
            return sorted(map(repr, connection.execute(statement).fetchall()))
    except psycopg.Error as error:
        return f"{error.sqlstate}"


def plan(connection: Connection, statement: str) -> str:
    """Return the plan of a statement."""
    lines = connection.execute(f"EXPLAIN (COSTS OFF) {statement}").fetchall()
    return "\n".join(str(line[0]) for line in lines)


def compare(local: Connection, statement: str) -> str:
    """Execute a statement on all sides, whose rows must be the same; returns our plan."""
    found = {side: rows(local, statement.replace("{}", side)) for side in SIDES}
    ours = statement.replace("{}", OUR_WRAPPER)
    assert found[OUR_WRAPPER] == found[PLAIN] == found["postgres_fdw"], ours
    return plan(local, ours)


WORLDS = pytest.mark.parametrize(
    ("asks", "analyzes"), [(False, True), (False, False), (True, True)], ids=str
)


def compare_joins(local: Connection, count: int, *, asks: bool, analyzes: bool) -> None:
    """Compare random joins, which the remote server executes in many cases."""
    import_tables(local, asks=asks, analyzes=analyzes)
    draw = random.Random(f"{SEED} {asks} {analyzes}")
    plans = [compare(local, joins(draw)) for _ in range(count)]
    joined = sum(len(text.splitlines()) <= 3 and "Foreign Scan" in text for text in plans)
    if analyzes and not asks:
        assert joined >= LEAST_JOINED * count


@WORLDS
def test_random_semi_and_anti_joins(local: Connection, *, asks: bool, analyzes: bool) -> None:
    compare_joins(local, QUERIES, asks=asks, analyzes=analyzes)


@pytest.mark.walk
@WORLDS
def test_many_semi_and_anti_joins(local: Connection, *, asks: bool, analyzes: bool) -> None:
    compare_joins(local, WALK_QUERIES, asks=asks, analyzes=analyzes)


@WORLDS
@pytest.mark.parametrize("shape", ["hashed", "looked up"])
def test_random_foreign_rows_that_match_local_ones(
    local: Connection, shape: str, *, asks: bool, analyzes: bool
) -> None:
    import_tables(local, asks=asks, analyzes=analyzes)
    draw = random.Random(f"{SEED} keys {asks} {analyzes} {shape}")
    with local.transaction(force_rollback=True):
        if shape == "looked up":
            local.execute("SET enable_hashjoin = off; SET enable_mergejoin = off")
        for _ in range(QUERIES // 2):
            compare(local, local_keys(draw))


@WORLDS
def test_random_subqueries_in_aggregates(local: Connection, *, asks: bool, analyzes: bool) -> None:
    import_tables(local, asks=asks, analyzes=analyzes)
    draw = random.Random(f"{SEED} aggregates {asks} {analyzes}")
    plans = [compare(local, aggregates(draw)) for _ in range(QUERIES)]
    batched = sum("Batched Foreign Lookup" in text for text in plans)
    assert batched >= LEAST_LOOKED_UP * QUERIES
