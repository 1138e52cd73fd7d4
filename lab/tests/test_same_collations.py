"""Random conditions on the order and the case of texts, where the option collations is 'same'.

Worlds: pairs of databases of one collation, by each provider, in which the word is true; and pairs
in which it is not. Everywhere each outcome must be stock's. Where the word is true it must also be
the local table's, and hardly a row may travel for nothing.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from conftest import OUR_WRAPPER
from psycopg import sql
from test_remote_expressions import COMPARED, INVALID_TEXT, PLAIN, SIDES, TABLE, outcome, received

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

SEED = 44
QUERIES = 80
LEAST_DECIDED = 0.9
"""Share of the scans by which no row travels for nothing, where the word is true."""

BYTES = "LOCALE_PROVIDER libc LOCALE 'C'"
LIBC = "LOCALE_PROVIDER libc LOCALE 'C.UTF-8'"
ICU = "LOCALE_PROVIDER icu ICU_LOCALE 'und' LOCALE 'C.UTF-8'"
GERMAN = "LOCALE_PROVIDER icu ICU_LOCALE 'de-u-co-phonebk' LOCALE 'C.UTF-8'"


@dataclass(frozen=True)
class World:
    """How both databases are made."""

    local: str
    remote: str

    @property
    def is_true(self) -> bool:
        """Whether they have the same collations, as is said."""
        return self.local == self.remote


WORLDS = {
    "bytes": World(BYTES, BYTES),
    "libc": World(LIBC, LIBC),
    "icu": World(ICU, ICU),
    "icu there": World(BYTES, ICU),
    "icu here": World(ICU, LIBC),
    "another icu": World(ICU, GERMAN),
}

TEXTS = (
    *("s", "v", "doc->>'k'", "doc #>> '{o,p}'", "coalesce(s, 'm')", "s || (doc->>'k')"),
    *("lower(doc->>'k')", "upper(coalesce(v, s))", "initcap(doc->>'k')", "nullif(s, 'B')"),
)
VALUES = ("'a'", "'B'", "'ä'", "'Z'", "current_setting('app.name')", "lower('Ä')", "$1::text")
PATTERNS = ("'[[:upper:]]'", "'^[a-z]'", "'ä|Z'")


def condition(draw: random.Random, depth: int = 1) -> str:
    """Return a condition that depends on the default collation."""
    if depth > 0 and draw.random() < 0.3:
        one, other = condition(draw, depth - 1), condition(draw, depth - 1)
        return draw.choice((f"({one} OR {other})", f"NOT ({one} AND {other})"))
    text, value = draw.choice(TEXTS), draw.choice((*VALUES, *TEXTS))
    kind = draw.randrange(5)
    if kind == 0:
        return f"{text} {draw.choice(('ILIKE', 'NOT ILIKE'))} {draw.choice(VALUES)}"
    if kind == 1:
        return f"{text} {draw.choice(('~', '!~', '~*'))} {draw.choice(PATTERNS)}"
    if kind == 2:
        return f"{text} BETWEEN 'B' AND {value}"
    return f"{text} {draw.choice(COMPARED)} {value}"


def statement(draw: random.Random, *, is_true: bool) -> str:
    """Return a statement with a placeholder for the schema of `t`.

    An order that postgres_fdw sends as it is has the answer of the server that it is planned for:
    unless both have the same, a join has none.
    """
    kind = draw.randrange(4)
    if kind == 0:
        group = draw.choice(("s", "coalesce(a, 0)"))
        return (
            f"SELECT {group}, max(s), min(v), count(*) FROM {{}}.t"
            f" WHERE {condition(draw)} GROUP BY 1 ORDER BY 1"
        )
    if kind == 1:
        order = " AND l.s < r.s" if is_true else ""
        return (
            f"SELECT l.id, r.id FROM {{}}.t l JOIN {{}}.t r ON l.id = r.a{order}"
            f" WHERE l.id IN (SELECT id FROM {{}}.t WHERE {condition(draw)})"
        )
    return f"SELECT * FROM {{}}.t WHERE {condition(draw)}"


@pytest.fixture(scope="module", params=WORLDS)
def place(pg_instance: Cluster, request: pytest.FixtureRequest) -> Iterator[tuple[World, Cluster]]:
    """Both databases of a world, with the table `t` in each schema of SIDES."""
    world = WORLDS[request.param]
    with pg_instance.connect() as connection:
        for name, how in (("same_source", world.remote), ("same_local", world.local)):
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' {how}")
    with pg_instance.connect("same_source") as connection:
        connection.execute(TABLE.format(schema="public"))
    with pg_instance.connect("same_local") as connection:
        make_sides(connection, pg_instance)
    yield world, pg_instance
    with pg_instance.connect() as connection:
        for name in ("same_source", "same_local"):
            recreate_database(connection, name)
            connection.execute(f"DROP DATABASE {name}")


def make_sides(connection: Connection, cluster: Cluster) -> None:
    """Make the local table and the foreign ones; our server has the option."""
    connection.execute(f"CREATE EXTENSION {OUR_WRAPPER} CASCADE")
    server = sql.SQL(
        "CREATE SERVER {0} FOREIGN DATA WRAPPER {0} OPTIONS (host {1}, port {2},"
        " dbname 'same_source'); CREATE USER MAPPING FOR PUBLIC SERVER {0}"
        " OPTIONS (user {3}, password {4})"
    )
    for side in SIDES:
        connection.execute(f"CREATE SCHEMA {side}")
        if side == PLAIN:
            connection.execute(TABLE.format(schema=PLAIN))
            continue
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
    connection.execute(f"ALTER SERVER {OUR_WRAPPER} OPTIONS (ADD collations 'same')")


def rows_without_need(connection: Connection, text: str, needed: int) -> int:
    """Return how many rows a statement received beyond those that it returns."""
    with connection.transaction(force_rollback=True):
        plan = connection.execute(f"EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) {text}").fetchone()
    assert plan is not None
    return received(plan[0]) - needed


def test_random_conditions_on_texts_have_stocks_outcomes(place: tuple[World, Cluster]) -> None:
    world, cluster = place
    draw = random.Random(SEED)
    decided: list[bool] = []
    warnings: list[str] = []
    with cluster.connect("same_local") as connection:
        connection.add_notice_handler(lambda one: warnings.append(str(one.message_primary)))
        for _ in range(QUERIES):
            text = statement(draw, is_true=world.is_true)
            connection.execute(
                f"SET plan_cache_mode = {draw.choice(('auto', 'force_generic_plan'))}"
            )
            connection.execute(f"SET app.name = '{draw.choice(('a', 'B', 'ä'))}'")
            for side in SIDES:
                connection.execute(f"PREPARE {side}(text) AS {text.replace('{}', side)}")
            value = draw.choice(("NULL", "'m'", "'Ä'"))
            plain, stock, ours = (
                outcome(connection, f"EXECUTE {side}({value})", side) for side in SIDES
            )
            assert ours == stock, text
            assert ours[1] != INVALID_TEXT
            if world.is_true:
                assert ours == plain, text
                if text.startswith("SELECT *"):
                    execute = f"EXECUTE {OUR_WRAPPER}({value})"
                    decided.append(rows_without_need(connection, execute, len(ours[0])) == 0)
            connection.execute("DEALLOCATE ALL")
    told = [one for one in warnings if "are not those of this database" in one]
    assert len(told) == (0 if world.is_true else 1)
    if world.is_true:
        assert sum(decided) >= LEAST_DECIDED * len(decided)
