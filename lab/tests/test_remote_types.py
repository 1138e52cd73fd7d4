"""Random statements on enums and domains, beside stock and a local table.

The remote server has them in several worlds: with the same types, with a label more or less or in
another order, with texts in their place, with domains whose checks are stricter. Each statement is
prepared once, and executed by custom and generic plans.
"""

import random
from collections.abc import Iterator

import pytest
from conftest import OUR_WRAPPER
from psycopg import sql
from test_remote_expressions import Connection, Tally, count_decided, outcome

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

PLAIN = "plain"
SIDES = (PLAIN, "postgres_fdw", OUR_WRAPPER)
"""Schemas: of the local table, and of the foreign one by each wrapper."""

SEED = 45
QUERIES = 60
WALK_QUERIES = 800
LEAST_DECIDED = 0.6
"""Share of the scans by which no row travels for nothing; the others compare an order."""

LABELS = ("new", "open", "done", "Open", "two words", "NULL", 'q"t')
DOMAINS = """
CREATE DOMAIN {schema}.small AS int{small};
CREATE DOMAIN {schema}.mail AS text{mail};
CREATE DOMAIN {schema}.state AS {schema}.mood;
CREATE DOMAIN {schema}.num AS int;
"""
CHECKS = {"small": " CHECK (value > 0)", "mail": " CHECK (value <> 'none')"}
STRICT = {"small": " CHECK (value BETWEEN 1 AND 9)", "mail": " NOT NULL CHECK (value LIKE '%@%')"}


def enum_of(*labels: str) -> str:
    """Return the definition of an enum."""
    return "AS ENUM (" + ", ".join(f"'{label}'" for label in labels) + ")"


WORLDS = {
    "same": (LABELS, "{schema}.mood", CHECKS),
    "more": ((*LABELS, "other"), "{schema}.mood", CHECKS),
    "less": (tuple(label for label in LABELS if label != "done"), "{schema}.mood", CHECKS),
    "turned": (tuple(reversed(LABELS)), "{schema}.mood", STRICT),
    "texts": (LABELS, "text", STRICT),
    "varchars": (LABELS, "varchar(20)", {"small": "", "mail": ""}),
}
"""Of each world: the labels of the remote enum, the type of the remote columns, remote checks."""

TABLE = """
CREATE TABLE {schema}.t (id int PRIMARY KEY, m {mood}, o {mood}, ms {mood}[], q {small}, r int,
    e {mail}, s text, st {state}, n {num});
INSERT INTO {schema}.t
SELECT i, l[i % 8 + 1]::{mood}, l[i % 5 + 1]::{mood}, ARRAY[l[i % 8 + 1], l[i % 3 + 1]]::{mood}[],
    nullif(i % 7, 0) + 0, nullif(i % 5, 0), 'a' || i % 6 || '@b', l[i % 5 + 1],
    l[i % 8 + 1]::{state}, nullif(i % 4, 0)
FROM generate_series(1, 200) i, CAST({labels} AS text[]) l;
ANALYZE {schema}.t;
"""
KEYS = """
CREATE TABLE keys (m mood, q small, e mail);
INSERT INTO keys VALUES ('open', 3, 'a1@b'), ('done', 5, 'a2@b'), ('NULL', NULL, NULL),
    (NULL, 2, 'x');
ANALYZE keys;
"""
USED = ("new", "open", "Open", "two words", "NULL", 'q"t', None)
"""Labels of rows: those that all worlds have."""


def array_of(labels: tuple[str | None, ...]) -> str:
    """Return an array of labels in SQL."""
    return "ARRAY[" + ", ".join("NULL" if x is None else f"'{x}'" for x in labels) + "]"


@pytest.fixture(scope="module")
def local(pg_instance: Cluster) -> Iterator[Connection]:
    """A connection to a database with a schema for each side and world."""
    with pg_instance.connect() as connection:
        recreate_database(connection, "types_local")
        recreate_database(connection, "types_source")
    with pg_instance.connect("types_source") as connection:
        for world, (labels, column, checks) in WORLDS.items():
            connection.execute(f"CREATE SCHEMA {world}")
            connection.execute(f"CREATE TYPE {world}.mood {enum_of(*labels)}")
            connection.execute(DOMAINS.format(schema=world, **checks))
            mood = column.format(schema=world)
            state = f"{world}.state" if mood.endswith("mood") else "text"
            connection.execute(
                TABLE.format(
                    schema=world,
                    mood=mood,
                    labels=array_of(USED),
                    small=f"{world}.small",
                    mail=f"{world}.mail",
                    num=f"{world}.num",
                    state=state,
                )
            )
    with pg_instance.connect("types_local") as connection:
        make_sides(connection, pg_instance)
        yield connection


def make_sides(connection: Connection, cluster: Cluster) -> None:
    """Make the local table, and the foreign ones of each world."""
    connection.execute(f"CREATE EXTENSION {OUR_WRAPPER} CASCADE")
    connection.execute(f"CREATE TYPE mood {enum_of(*LABELS)}")
    connection.execute(DOMAINS.format(schema="public", **CHECKS) + KEYS)
    connection.execute(f"CREATE SCHEMA {PLAIN}")
    names = {"mood": "mood", "small": "small", "mail": "mail", "state": "state", "num": "num"}
    connection.execute(TABLE.format(schema=PLAIN, labels=array_of(USED), **names))
    for side in SIDES[1:]:
        connection.execute(
            sql.SQL(
                "CREATE SERVER {0} FOREIGN DATA WRAPPER {0} OPTIONS (host {1}, port {2},"
                " dbname 'types_source'); CREATE USER MAPPING FOR PUBLIC SERVER {0}"
                " OPTIONS (user {3}, password {4})"
            ).format(
                sql.Identifier(side),
                sql.Literal(str(cluster.socket_folder)),
                sql.Literal(str(cluster.port)),
                sql.Literal(SUPERUSER),
                sql.Literal(cluster.password_file.read_text("utf-8")),
            )
        )
        for world in WORLDS:
            connection.execute(
                f"CREATE SCHEMA {side}_{world}; CREATE FOREIGN TABLE {side}_{world}.t (id int,"
                f" m mood, o mood, ms mood[], q small, r int, e mail, s text, st state, n num)"
                f" SERVER {side} OPTIONS (schema_name '{world}'); ANALYZE {side}_{world}.t"
            )


def label(draw: random.Random) -> str:
    """Return a label, as a constant or a parameter."""
    return draw.choice((*(f"'{x}'" for x in LABELS), "$1::mood", "$2", "'open'::text::mood"))


def of_enum(draw: random.Random) -> str:
    """Return a condition on an enum."""
    column = draw.choice(("m", "m", "m", "o", "st::mood", "coalesce(m, 'new')", "coalesce(m, o)"))
    equal = draw.choice(("=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
    return draw.choice(
        (
            f"{column} {equal} {label(draw)}",
            f"{column} {equal} {label(draw)}",
            f"{column} {equal} o",
            f"{column} {draw.choice(('IN', 'NOT IN'))} ({label(draw)}, {label(draw)})",
            f"{column} {draw.choice(('IN', 'NOT IN'))} ('open', 'done', NULL)",
            f"{column} = ANY ($3)",
            f"{column} <> ALL ($3::mood[])",
            f"{label(draw)} = ANY (ms)",
            f"ms {draw.choice(('@>', '<@', '&&', '=', '<>'))} {draw.choice(ARRAYS)}",
            f"{column} IS {draw.choice(('', 'NOT '))}NULL",
            f"{column}::text {draw.choice(('=', '<>', 'LIKE'))} {draw.choice(LABEL_TEXTS)}",
            f"CASE {column} WHEN 'open' THEN r = 1 WHEN {label(draw)} THEN q > 2 ELSE true END",
            f"m {draw.choice('<>')} {label(draw)}",
        )
    )


ARRAYS = ("$3", "'{open,new}'", "ARRAY[]::mood[]", "ARRAY[m, o]", "ARRAY['done', m]", "NULL")
LABEL_TEXTS = ("'open'", "'Open'", "'nothing'", "'o%'", "s")


def of_domain(draw: random.Random) -> str:
    """Return a condition on a domain."""
    compared = draw.choice(("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM"))
    number = draw.choice(("3", "0", "20", "r", "$4", "$4::int + 1", "q", "length(e)"))
    text = draw.choice(("'a1@b'", "'none'", "''", "s", "$5", "e || ''"))
    return draw.choice(
        (
            f"q {compared} {number}",
            f"{draw.choice(('q + 1', 'n', '-n'))} {compared} {number}",
            f"coalesce(q, 0) {compared} {number}",
            f"q {draw.choice(('IN', 'NOT IN'))} (1, 2, {number})",
            f"q BETWEEN {number} AND 5",
            f"{draw.choice('qe')} IS {draw.choice(('', 'NOT '))}NULL",
            f"e {draw.choice(('=', '<>', 'LIKE', 'IS DISTINCT FROM'))} {text}",
            f"e IN ('a1@b', 'a2@b', {text})",
            f"CASE q WHEN 1 THEN m = 'open' WHEN {number} THEN true END",
        )
    )


def condition(draw: random.Random, depth: int = 2) -> str:
    """Return a condition on a row of `t`."""
    if depth > 0 and draw.random() < 0.3:
        one, other = condition(draw, depth - 1), condition(draw, depth - 1)
        return draw.choice((f"({one} OR {other})", f"NOT ({one} AND {other})"))
    return draw.choice((of_enum, of_domain))(draw)


def where(draw: random.Random) -> str:
    """Return one or two conditions."""
    return " AND ".join(condition(draw) for _ in range(draw.choice((1, 1, 2))))


def grouped(draw: random.Random) -> str:
    """Return a query that aggregates."""
    group = draw.choice(
        ("m", "o", "q", "e", "m::text", "m = 'open'", "coalesce(q, 0)", "m, q", "st")
    )
    value = draw.choice(
        (
            *("count(m)", "count(DISTINCT m)", "sum(q)", "max(q)", "count(DISTINCT q)", "min(e)"),
            *("max(m)", "count(*) FILTER (WHERE {})", "sum(CASE WHEN {} THEN q ELSE 0 END)"),
        )
    ).format(condition(draw))
    first = "m" if group == "m, q" else group
    having = draw.choice(
        (
            *("", "", " HAVING count(m) > 3", f" HAVING max(q) > {draw.choice('25')}"),
            f" HAVING count(*) > 20 OR ({first})::text {draw.choice(('=', 'LIKE'))} 'o'",
        )
    )
    order = draw.choice(("", " ORDER BY 1", " ORDER BY count(*), 1"))
    return (
        f"SELECT {group}, {value}, count(*) FROM {{}}.t WHERE {where(draw)}"
        f" GROUP BY {group}{having}{order}"
    )


def joined(draw: random.Random) -> str:
    """Return a join of two tables of a server, or with local keys."""
    outer = draw.choice(("JOIN", "LEFT JOIN"))
    key = draw.choice(("m", "q", "e"))
    if draw.random() < 0.5:
        return f"SELECT k.*, t.id FROM keys k {outer} {{}}.t t ON t.{key} = k.{key} AND t.id < 90"
    on = draw.choice(
        ("l.m = r.m AND l.id = r.r", "l.q = r.q", "l.e = r.e", "l.m = r.o", "l.q = r.r")
    )
    return (
        f"SELECT l.id, r.id, l.m, r.q FROM (SELECT * FROM {{}}.t WHERE {where(draw)}) l {outer}"
        f" (SELECT * FROM {{}}.t WHERE id < 20 AND {condition(draw)}) r ON {on}"
    )


def statement(draw: random.Random) -> str:
    """Return a statement with a placeholder for the schema of `t`."""
    kind = draw.choice(("rows", "rows", "rows", "groups", "groups", "join", "write", "correlated"))
    if kind == "groups":
        return grouped(draw)
    if kind == "join":
        return joined(draw)
    if kind == "write":
        value = draw.choice(
            (
                "r = 3",
                "m = 'open', r = q",
                "q = q + 1",
                "e = 'c@d'",
                "m = $2",
                "o = m",
                "n = 5, o = $2",
                "n = n + 1, o = NULL",
                "n = $4",
                "m = 'open'",
            )
        )
        return draw.choice(
            (
                f"UPDATE {{}}.t SET {value} WHERE {where(draw)} RETURNING *",
                f"DELETE FROM {{}}.t WHERE {where(draw)} RETURNING id, m, q",
            )
        )
    if kind == "correlated":
        key = draw.choice(("m", "q", "e"))
        return (
            f"SELECT k.{key}, (SELECT count(*) FROM {{}}.t t WHERE t.{key} = k.{key} AND t.id < 90)"
            " FROM keys k"
        )
    order = draw.choice(("", "", " ORDER BY m, id LIMIT 20"))
    return f"SELECT * FROM {{}}.t WHERE {where(draw)}{order}"


PARAMETERS = (
    ("'open'", "'done'", "'{open,done}'", "3", "'a1@b'"),
    ("'done'", "NULL", '\'{"NULL",NULL,"two words","q\\"t"}\'', "NULL", "'x'"),
    ("NULL", "'two words'", "NULL", "20", "NULL"),
    ("'NULL'", "'Open'", "'{}'", "1", "'a5@b'"),
)


def execute_everywhere(connection: Connection, draw: random.Random, tally: Tally) -> None:
    """Prepare one random statement by each side and world, and execute it."""
    text = statement(draw)
    world = draw.choice(tuple(WORLDS))
    schemas = (PLAIN, *(f"{side}_{world}" for side in SIDES[1:]))
    mode = draw.choice(("force_generic_plan", "force_custom_plan"))
    connection.execute(f"SET LOCAL plan_cache_mode = {mode}")
    for side, schema in zip(SIDES, schemas, strict=True):
        connection.execute(
            f"PREPARE {side}(text, mood, mood[], small, mail) AS {text.replace('{}', schema)}"
        )
    for values in draw.sample(PARAMETERS, 3):
        given = ", ".join(values)
        plain, stock, ours = (
            outcome(connection, f"EXECUTE {side}({given})", side) for side in SIDES
        )
        assert ours == stock, f"{world}, {mode}, {given}: {text}"
        tally.plain += ours == plain
        tally.executions += 1
        tally.errors += bool(ours[1])
        if text.startswith("SELECT *") and "LIMIT" not in text and not ours[1]:
            count_decided(connection, f"EXECUTE {OUR_WRAPPER}({given})", len(ours[0]), tally)


def run(connection: Connection, seed: str, queries: int) -> Tally:
    """Execute so many random statements; each outcome must be stock's."""
    draw = random.Random(seed)
    tally = Tally()
    for _ in range(queries):
        with connection.transaction(force_rollback=True):
            execute_everywhere(connection, draw, tally)
        connection.execute("DEALLOCATE ALL")
    return tally


def test_random_statements_on_enums_and_domains_have_stocks_outcomes(local: Connection) -> None:
    tally = run(local, f"{SEED}", QUERIES)
    assert tally.decided >= LEAST_DECIDED * tally.scans
    assert tally.errors < tally.executions / 4


@pytest.mark.walk
@pytest.mark.parametrize("part", range(2))
def test_more_random_statements_on_enums_and_domains(local: Connection, part: int) -> None:
    run(local, f"{SEED} {part}", WALK_QUERIES)
