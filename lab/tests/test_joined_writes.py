"""Random UPDATEs and DELETEs of a foreign table joined with local rows, beside stock.

Compared are the number of rows, what RETURNING returns, the remote table afterwards, what local
triggers have seen and, where rows are looked up, which remote rows are locked: no others.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from conftest import OUR_WRAPPER
from psycopg import sql

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

STOCK = "postgres_fdw"
WRAPPERS = (STOCK, OUR_WRAPPER)

SEED = 11
STATEMENTS = 120
LEAST_LOOKED_UP = 0.4
"""Share of the statements whose plan looks rows up; the others show that nothing else breaks."""

LEAST_OF_PARTITIONS = 0.0
"""The same where `t` has partitions, whose rows are not looked up."""

TABLE = """
    CREATE TABLE {name} AS SELECT i AS id, i % 97 AS k, 's' || i % 300 AS s,
        date '2024-01-01' + i % 400 AS d, i % 1000 AS v, NULL::text AS note
    FROM generate_series(1, 1500) i;
    ALTER TABLE {name} ADD PRIMARY KEY (id)
"""
LOCAL = """
    CREATE TABLE l AS SELECT i AS n, CASE WHEN i % 11 > 0 THEN i * 13 % 1700 END AS id,
        i % 120 AS k, 's' || i * 7 % 350 AS s, date '2024-01-01' + i * 5 % 450 AS d
    FROM generate_series(1, 250) i;
    INSERT INTO l SELECT n + 1000, id, k, s, d FROM l WHERE n % 4 = 0;
    CREATE TABLE seen (what text);
    CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO seen VALUES (TG_WHEN || TG_OP || to_jsonb(OLD) || coalesce(to_jsonb(NEW), '1'));
        IF TG_WHEN = 'BEFORE' AND TG_OP = 'UPDATE' THEN
            NEW.note := coalesce(NEW.note, '') || 'seen';
        END IF;
        RETURN coalesce(NEW, OLD);
    END $$;
    ANALYZE
"""

WIDE = "(SELECT *, repeat('w', 30000) AS wide FROM l OFFSET 0)"
"""Outer rows so wide that there are several batches of them."""

MANY = (
    "(SELECT * FROM l UNION ALL SELECT -i, -i, -i, '', NULL FROM generate_series(1, 10000) i"
    " UNION ALL SELECT * FROM l OFFSET 0)"
)
"""More rows than a batch has, and keys in two of them."""

OUTER = ("l", "l", "(SELECT * FROM l WHERE n % 3 > 0)", "(SELECT * FROM l LIMIT 20)", WIDE, MANY)
KEYS = ("id", "id", "k", "s", "d")
MORE = (
    *(("", ""),) * 3,
    (", {}.u u", " AND u.id = l.n"),
    (", {}.apart u", " AND u.id = l.n"),
    (", l m", " AND m.n = l.n"),
)
"""Further tables, and their conditions."""


SMALL = "CREATE VIEW {0}.small AS SELECT * FROM {0}.t WHERE v < 990 WITH CHECK OPTION"


@dataclass(frozen=True)
class Outcome:
    """What a statement has done."""

    error: str
    count: int
    returned: list[str]
    remote: list[str]
    seen: list[str]


@dataclass(frozen=True)
class World:
    """The sessions."""

    local: Connection
    source: Connection
    """Sees which rows others have locked."""


def make_source(connection: Connection, *, indexed: bool) -> None:
    """Make the remote tables, of each wrapper in a schema of its own."""
    for wrapper in WRAPPERS:
        connection.execute(f"DROP SCHEMA IF EXISTS {wrapper} CASCADE; CREATE SCHEMA {wrapper}")
        for table in ("t", "u"):
            connection.execute(TABLE.format(name=f"{wrapper}.{table}"))
        if not indexed:
            connection.execute(f"ALTER TABLE {wrapper}.t DROP CONSTRAINT t_pkey")
        else:
            connection.execute(f"CREATE INDEX ON {wrapper}.t (k); CREATE INDEX ON {wrapper}.t (s)")
    connection.execute("ANALYZE")


@pytest.fixture(scope="module")
def world(pg_instance: Cluster) -> Iterator[World]:
    """A session of a database with the table `l`, and one of the remote database."""
    with pg_instance.connect() as connection:
        recreate_database(connection, "joined_source")
        recreate_database(connection, "joined_local")
    server = sql.SQL(
        "CREATE SERVER {0} FOREIGN DATA WRAPPER {5} OPTIONS (host {1}, port {2},"
        " dbname 'joined_source'); CREATE USER MAPPING FOR CURRENT_USER SERVER {0}"
        " OPTIONS (user {3}, password {4})"
    )
    with (
        pg_instance.connect("joined_source") as source,
        pg_instance.connect("joined_local") as local,
    ):
        local.prepare_threshold = None
        local.execute(f"CREATE EXTENSION {OUR_WRAPPER} CASCADE")
        local.execute(LOCAL)
        for wrapper in WRAPPERS:
            for name in (wrapper, f"{wrapper}_2"):
                local.execute(
                    server.format(
                        sql.Identifier(name),
                        sql.Literal(str(pg_instance.socket_folder)),
                        sql.Literal(str(pg_instance.port)),
                        sql.Literal(SUPERUSER),
                        sql.Literal(pg_instance.password_file.read_text("utf-8")),
                        sql.Identifier(wrapper),
                    )
                )
        for name in (OUR_WRAPPER, f"{OUR_WRAPPER}_2"):
            local.execute(f"ALTER SERVER {name} OPTIONS (ADD fdw_tuple_cost '100')")
        yield World(local, source)


def import_tables(local: Connection, *, asks: bool, analyzes: bool) -> None:
    """Make the foreign tables anew, of each wrapper in a schema of its own."""
    for wrapper in WRAPPERS:
        local.execute(f"DROP SCHEMA IF EXISTS {wrapper} CASCADE; CREATE SCHEMA {wrapper}")
        local.execute(f"IMPORT FOREIGN SCHEMA {wrapper} FROM SERVER {wrapper} INTO {wrapper}")
        local.execute(
            f"CREATE FOREIGN TABLE {wrapper}.apart (id integer, k integer)"
            f" SERVER {wrapper}_2 OPTIONS (schema_name '{wrapper}', table_name 'u')"
        )
        local.execute(SMALL.format(wrapper))
        if analyzes:
            local.execute(f"ANALYZE {wrapper}.t, {wrapper}.u, {wrapper}.apart")
    if asks:
        local.execute(f"ALTER FOREIGN TABLE {OUR_WRAPPER}.t OPTIONS (use_remote_estimate 'true')")


def divide_source(source: Connection) -> None:
    """Move remote rows of `t` to two children, of which each has rows of other `id`s."""
    for wrapper in WRAPPERS:
        for name, ids in (("low", "id <= 500"), ("middle", "id BETWEEN 501 AND 1000")):
            table = f"{wrapper}.t_{name}"
            source.execute(f"CREATE TABLE {table} (PRIMARY KEY (id)) INHERITS ({wrapper}.t)")
            source.execute(f"INSERT INTO {table} SELECT * FROM ONLY {wrapper}.t WHERE {ids}")
        source.execute(f"DELETE FROM ONLY {wrapper}.t WHERE id <= 1000")
    source.execute("ANALYZE")


def divide_target(local: Connection) -> None:
    """Make `t` a table whose partitions are foreign, of two servers, but for the last."""
    for wrapper in WRAPPERS:
        table = f"{wrapper}.t"
        local.execute(f"CREATE TABLE {wrapper}.whole AS SELECT * FROM {table}")
        local.execute(f"DROP FOREIGN TABLE {table} CASCADE")
        local.execute(f"DROP FOREIGN TABLE {table}_low, {table}_middle")
        local.execute(f"CREATE TABLE {table} (LIKE {wrapper}.whole) PARTITION BY RANGE (id)")
        for name, ids, server in (
            ("low", "(MINVALUE) TO (501)", wrapper),
            ("middle", "(501) TO (1001)", f"{wrapper}_2"),
        ):
            local.execute(
                f"CREATE FOREIGN TABLE {table}_{name} PARTITION OF {table} FOR VALUES FROM {ids}"
                f" SERVER {server} OPTIONS (schema_name '{wrapper}', table_name 't_{name}')"
            )
        local.execute(
            f"CREATE TABLE {table}_high PARTITION OF {table} FOR VALUES FROM (1001) TO (MAXVALUE)"
        )
        local.execute(f"INSERT INTO {table} SELECT * FROM {wrapper}.whole WHERE id > 1000")
        local.execute(SMALL.format(wrapper))
        local.execute(f"ANALYZE {table}_low, {table}_middle, {table}_high")


def add_triggers(local: Connection) -> None:
    """Have triggers see each row, before and after it is written."""
    for wrapper in WRAPPERS:
        for when in ("BEFORE", "AFTER"):
            local.execute(
                f"CREATE TRIGGER {when} {when} UPDATE OR DELETE ON {wrapper}.t"
                " FOR EACH ROW EXECUTE FUNCTION see()"
            )


def condition(draw: random.Random, key: str, outer: str) -> str:
    """Return how a remote row `t` and a local row `l` belong together."""
    parts = [
        f"t.{key} = l.{key} + 1" if key == "k" and draw.random() < 0.3 else f"t.{key} = l.{key}"
    ]
    if draw.random() < 0.3:
        parts.append(f"t.{draw.choice(KEYS)} = l.{draw.choice(('id', 'k'))}")
        if ".s =" in parts[-1] or ".d =" in parts[-1]:
            parts.pop()
    if draw.random() < 0.4:
        parts.append(
            draw.choice(
                (
                    "t.v > l.n",
                    "t.s LIKE '%1%'",
                    "t.id % 2 = 0",
                    "upper(t.s) <> l.s",
                    "t.v < 500",
                    "l.n % 2 = 0",
                    "t.id IN (SELECT id FROM l WHERE n < 100)",
                )
            )
        )
    if outer == WIDE:
        parts.append("length(t.s) < length(l.wide)")
    return " AND ".join(parts)


def change(draw: random.Random, key: str, *, has_local: bool) -> str:
    """Return what is set: values that do not depend on which of several local rows is taken."""
    of_local = [f"note = 'from ' || l.{key}", f"note = l.{key}::text, v = 7"] if has_local else []
    of_remote = (
        "v = t.v + 1",
        "id = t.id + 100000",
        "k = t.k + 1",
        "s = t.s || '!', v = NULL",
        "note = to_char(t.d, 'YYYY')",
    )
    return draw.choice((*of_remote, *of_local, *of_local))


def returning(draw: random.Random, key: str, *, has_local: bool) -> str:
    """Return what is returned, if anything."""
    of_local = (f"t.id, l.{key}",) if has_local else ("t.k",)
    columns = draw.choice(("", "", "", "t.id, t.v", "t", *of_local))
    return f" RETURNING {columns}" if columns else ""


def joined(draw: random.Random) -> str:
    """Return a statement whose target `t` is joined with local rows."""
    key, outer = draw.choice(KEYS), draw.choice(OUTER)
    where = condition(draw, key, outer)
    more, also = draw.choice(MORE)
    tail = f"{outer} l{more} WHERE {where}{also}{returning(draw, key, has_local=True)}"
    if draw.random() < 0.4:
        return f"DELETE FROM {{}}.t t USING {tail}"
    return f"UPDATE {{}}.t t SET {change(draw, key, has_local=True)} FROM {tail}"


def chosen(draw: random.Random) -> str:
    """Return a statement whose target `t` is chosen by a subquery."""
    key, outer = draw.choice(KEYS), draw.choice(OUTER)
    where = draw.choice(
        (
            f"t.{key} IN (SELECT l.{key} FROM {outer} l WHERE l.n % 2 = 0)",
            f"EXISTS (SELECT FROM {outer} l WHERE {condition(draw, key, outer)})",
            f"NOT EXISTS (SELECT FROM l WHERE t.{key} = l.{key})",
            "t.id IN (SELECT id FROM {}.t ORDER BY d, id LIMIT 20)",
            "t.id IN (SELECT id FROM {}.apart ORDER BY k, id LIMIT 20)",
            "t.id IN (SELECT id FROM {}.t ORDER BY d, id LIMIT 20 FOR UPDATE)",
            "t.id IN (SELECT id FROM l ORDER BY n LIMIT 20 FOR UPDATE)",
            "t.id = ANY (ARRAY(SELECT id FROM l))",
            "t.id = (SELECT max(id) FROM l)",
            "t.id IN (SELECT u.id FROM {}.u JOIN l ON l.k = u.k AND u.id < 300)",
            "(t.id, t.k) IN (SELECT id, k FROM l)",
        )
    )
    tail = f" WHERE {where}{returning(draw, key, has_local=False)}"
    if draw.random() < 0.4:
        return f"DELETE FROM {{}}.t t{tail}"
    return f"UPDATE {{}}.t t SET {change(draw, key, has_local=False)}{tail}"


def statement(draw: random.Random) -> str:
    """Return a statement with a placeholder for the schema of its foreign tables."""
    text = joined(draw) if draw.random() < 0.7 else chosen(draw)
    if " RETURNING " in text and draw.random() < 0.4:
        return f"WITH w AS ({text}) SELECT * FROM w"
    if draw.random() < 0.1:
        return text.replace("{}.t t", "{}.small t", 1)
    return text


def is_looked_up(local: Connection, text: str) -> bool:
    """Return whether the plan looks up the rows before it modifies them."""
    plan = local.execute(f"EXPLAIN {text}").fetchall()
    return any("Lookups Before Writes" in str(line[0]) for line in plan)


def locked(source: Connection, wrapper: str) -> set[object]:
    """Return the rows of `t` that another session has locked."""
    free = f"SELECT id FROM {wrapper}.t FOR UPDATE SKIP LOCKED"
    with source.transaction(force_rollback=True):
        found = {row[0] for row in source.execute(free).fetchall()}
        return {row[0] for row in source.execute(f"SELECT id FROM {wrapper}.t")} - found


def texts(connection: Connection, query: str) -> list[str]:
    """Return rows as sorted texts."""
    return sorted(map(repr, connection.execute(query).fetchall()))


def execute(world: World, text: str, wrapper: str) -> tuple[Outcome, set[object]]:
    """Execute a statement through a wrapper; return what it has done and the rows it has locked."""
    local = world.local
    with local.transaction(force_rollback=True):
        try:
            with local.transaction():
                cursor = local.execute(text.replace("{}", wrapper))
                rows = sorted(map(repr, cursor.fetchall())) if cursor.description else []
                count = cursor.rowcount
        except psycopg.Error as error:
            return Outcome(f"{error.sqlstate} {error.diag.message_primary}", 0, [], [], []), set()
        held = locked(world.source, wrapper)
        remote = texts(local, f"SELECT * FROM {wrapper}.t")
        return Outcome("", count, rows, remote, texts(local, "SELECT * FROM seen")), held


def compare(world: World, draw: random.Random, least: float) -> None:
    """Execute random statements by both wrappers; they must come to the same."""
    looked_up = 0
    for _ in range(STATEMENTS):
        text = statement(draw)
        stock, of_stock = execute(world, text, STOCK)
        ours, of_ours = execute(world, text, OUR_WRAPPER)
        assert ours == stock, text
        if is_looked_up(world.local, text.replace("{}", OUR_WRAPPER)):
            assert of_ours <= of_stock, text
            looked_up += 1
    assert looked_up >= least * STATEMENTS


@pytest.mark.walk
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("analyzes", [True, False])
def test_random_joined_writes_do_as_stock(world: World, *, asks: bool, analyzes: bool) -> None:
    make_source(world.source, indexed=True)
    import_tables(world.local, asks=asks, analyzes=analyzes)
    compare(world, random.Random(f"{SEED} {asks} {analyzes}"), LEAST_LOOKED_UP)


@pytest.mark.walk
def test_random_joined_writes_without_remote_indexes(world: World) -> None:
    make_source(world.source, indexed=False)
    import_tables(world.local, asks=False, analyzes=True)
    compare(world, random.Random(f"{SEED} unindexed"), LEAST_LOOKED_UP)


@pytest.mark.walk
def test_random_joined_writes_with_triggers(world: World) -> None:
    make_source(world.source, indexed=True)
    import_tables(world.local, asks=False, analyzes=True)
    add_triggers(world.local)
    compare(world, random.Random(f"{SEED} triggers"), LEAST_LOOKED_UP)


@pytest.mark.walk
def test_random_joined_writes_of_partitions(world: World) -> None:
    make_source(world.source, indexed=True)
    divide_source(world.source)
    import_tables(world.local, asks=False, analyzes=True)
    divide_target(world.local)
    compare(world, random.Random(f"{SEED} partitions"), LEAST_OF_PARTITIONS)
