"""Random batches of rows, inserted through stock postgres_fdw and through the wrapper under test.

The wrapper sends large batches as arrays where that comes to the same. A case is a table with some
columns of local and remote types, what watches it on the remote server, rows, and a statement that
inserts them in batches of some size. Both sides must return the same error, and leave the same rows
in the same order, and the same notes of triggers and rules.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from conftest import walked_numbers
from psycopg import sql

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

STOCK = "postgres_fdw"
CASES = 60
WALK_CASES = 600
LEAST_AS_ARRAYS = 0.25
"""Share of the cases that show how they write in which batches become arrays."""


@dataclass(frozen=True)
class Column:
    """Types of a column, and an expression for its values; `{h}` is a number of the row."""

    local: str
    remote: str
    value: str
    bad: str = ""
    """A value that the remote column refuses."""


TEXTS = r"(ARRAY['', 'NULL', 'null', '{{}}', 'a,b', 'q\"uote', E'back\\slash', 'é', ' x '])"
SAME = tuple(
    Column(name, name, value)
    for name, value in (
        ("int2", "({h} % 60000 - 30000)::int2"),
        ("int4", "({h} - 500000) * 4000"),
        ("int4", "{h} % 10"),
        ("int8", "({h} - 500000)::int8 * 9000000000000"),
        ("oid", "({h} * 4000::int8)::oid"),
        ("float4", "(ARRAY[{h} / 7.0, 'NaN', '-Infinity', '-0', 1e-40])[1 + {h} % 5]::float4"),
        ("float8", "(ARRAY[{h} / 7.0, 'NaN', 'Infinity', '-0', 1e-310])[1 + {h} % 5]::float8"),
        ("numeric", "(ARRAY[{h} / 7.0, 'NaN', '-0.000', '1e40', 'Infinity'])[1 + {h} % 5]"),
        ("text", f"{TEXTS}[1 + {{h}} % 9] || {{h}} % 11"),
        ("varchar", f"{TEXTS}[1 + {{h}} % 9]"),
        ("json", "json_build_object('k', {h}, 'q', '\"')"),
        ("bool", "{h} % 2 = 0"),
        ("date", "(ARRAY['infinity', '0044-03-15 BC', '2024-02-29'])[1 + {h} % 3]::date"),
        ("time", "time '00:00' + {h} * interval '1.1 s'"),
        ("timestamp", "(ARRAY['-infinity', '294276-12-31 23:59:59.999999'])[1 + {h} % 2]"),
        ("timestamptz", "timestamptz '2000-01-01 00:00+05' + {h} * interval '1.1 s'"),
        ("interval", "make_interval(months => {h} % 9 - 4, days => {h} % 7, secs => {h} / 3.0)"),
        ("uuid", "md5({h}::text)::uuid"),
        ("bytea", "decode(md5({h}::text), 'hex')"),
    )
)
MODIFIED = (
    Column("numeric", "numeric(8, 2)", "{h} / 7.0", "'1e9'"),
    Column("varchar", "varchar(5)", "left('x' || {h}, 5)", "'longer than 5'"),
    Column("bpchar", "char(4)", "{h} % 1000", "'longer than 4'"),
    Column("timestamp", "timestamp(1)", "timestamp '2000-01-01' + {h} * interval '1.11 s'"),
    Column("numeric(6, 1)", "numeric", "{h} % 1000"),
)
"""The remote column has a modifier, or the local one."""
OTHER = (
    Column("numeric", "int4", "{h} % 100", "'1.5'"),
    Column("int4", "small", "{h} % 100", "'100'"),
    Column("int4", "text", "{h}"),
    Column("text", "int4", "({h} % 5)::text", "'x'"),
    Column("float8", "float4", "{h} / 8.0", "'1e300'"),
    Column("int4[]", "int4[]", "ARRAY[{h}, NULL, 1]"),
    Column("jsonb", "jsonb", "jsonb_build_object('k', {h})"),
    Column("inet", "inet", "'10.0.0.0'::inet + {h}"),
)
"""Of other types, or of types that are not sent as elements."""

PREPARED = """
CREATE DOMAIN small AS int4 CHECK (VALUE < 100);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notes VALUES (format('%s: %s after %s', TG_WHEN, NEW.id,
                                     (SELECT count(*) FROM base)));
    NEW.id := NEW.id + 1000;
    RETURN CASE WHEN NEW.id % 7 <> 0 THEN NEW END;
END $$;
CREATE FUNCTION insert_instead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO base SELECT NEW.*;
    RETURN CASE WHEN NEW.id % 7 <> 0 THEN NEW END;
END $$;
CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notes SELECT format('%s rows, last %s', count(*), max(id)) FROM added;
    RETURN NULL;
END $$;
"""
WATCHERS = {
    "nothing": "",
    "a key": "ALTER TABLE base ADD PRIMARY KEY (id)",
    "a check": "ALTER TABLE base ADD CHECK (id NOT IN (401, 677))",
    "defaults": "ALTER TABLE base ADD serial serial,"
    " ADD other int GENERATED ALWAYS AS (id + 1) STORED",
    "a row trigger": "CREATE TRIGGER t BEFORE INSERT ON base"
    " FOR EACH ROW EXECUTE FUNCTION note_row()",
    "a statement trigger": "CREATE TRIGGER t AFTER INSERT ON base REFERENCING NEW TABLE AS added"
    " FOR EACH STATEMENT EXECUTE FUNCTION note_statement()",
    "a rule": "CREATE RULE r AS ON INSERT TO base DO ALSO INSERT INTO notes VALUES (NEW.id)",
    "a view": "CREATE VIEW looked AS SELECT * FROM base WHERE id <> 677 WITH CHECK OPTION",
    "a view with a trigger": "CREATE VIEW looked AS SELECT * FROM base;"
    " CREATE TRIGGER t INSTEAD OF INSERT ON looked FOR EACH ROW EXECUTE FUNCTION insert_instead()",
    "partitions": "ALTER TABLE base RENAME TO whole;"
    " CREATE TABLE base (LIKE whole) PARTITION BY HASH (id);"
    " CREATE TABLE base_0 PARTITION OF base FOR VALUES WITH (MODULUS 2, REMAINDER 0);"
    " CREATE TABLE base_1 PARTITION OF base FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
}
FORMS = ("plain", "ON CONFLICT", "a function", "COPY", "two partitions")


@dataclass(frozen=True)
class Case:
    """What is inserted, where, and how."""

    columns: tuple[Column, ...]
    watcher: str
    form: str
    batch_size: int
    rows: int
    bad_rows: tuple[int, ...]
    duplicate: bool
    nulls: tuple[bool, ...]
    explains: bool

    @property
    def names(self) -> str:
        """The names of the columns, in a list."""
        return ", ".join(["id", *(f"c{i}" for i in range(len(self.columns)))])

    def definition(self, remote: bool) -> str:
        """Return the columns of the remote or the local table."""
        types = (c.remote if remote else c.local for c in self.columns)
        return ", ".join(["id int4", *(f"c{i} {t}" for i, t in enumerate(types))])

    def drawn(self) -> str:
        """Return the statement that makes the local table of rows."""
        values = ["i AS id"]
        for number, (column, has_nulls) in enumerate(zip(self.columns, self.nulls, strict=True)):
            hashed = f"abs(hashint4(i * {2 * number + 3}) % 1000003)"
            value = column.value.format(h=hashed)
            if has_nulls:
                value = f"CASE WHEN i % 9 > 1 THEN {value} END"
            if column.bad and self.bad_rows:
                bad = ", ".join(map(str, self.bad_rows))
                value = f"CASE WHEN i IN ({bad}) THEN {column.bad} ELSE ({value})::text END"
            values.append(f"({value})::{column.local} AS c{number}")
        row = "CASE WHEN i = 555 THEN 551 ELSE i END" if self.duplicate else "i"
        select = ", ".join(values).replace("i AS id", f"{row} AS id", 1)
        return f"CREATE TABLE drawn AS SELECT {select} FROM generate_series(1, {self.rows}) i"

    def statement(self) -> str:
        """Return the statement that inserts the rows; of COPY the one that takes them."""
        if self.form == "COPY":
            return f"COPY target ({self.names}) FROM STDIN"
        names = self.names
        source = names.replace("id", "same(id)", 1) if self.form == "a function" else names
        insert = f"INSERT INTO target ({names}) SELECT {source} FROM drawn ORDER BY drawn.ctid"
        if self.form == "ON CONFLICT":
            insert += " ON CONFLICT DO NOTHING"
        return f"EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) {insert}" if self.explains else insert


def draw(seed: int, number: int) -> Case:
    """Draw a case."""
    drawer = random.Random(f"{seed} {number}")
    kinds = drawer.choices((SAME, MODIFIED, OTHER), (12, 3, 0.5), k=drawer.randint(1, 5))
    columns = tuple(drawer.choice(kind) for kind in kinds)
    rows = drawer.randint(40, 900)
    fails = drawer.random() < 0.4
    return Case(
        columns=columns,
        watcher=drawer.choice(tuple(WATCHERS)),
        form=drawer.choices(FORMS, (5, 2, 2, 2, 2))[0],
        batch_size=drawer.choice((2, 49, 50, 50, 64, 100, 100, 128)),
        rows=rows,
        bad_rows=tuple(drawer.sample(range(1, rows + 1), drawer.randint(1, 2))) if fails else (),
        duplicate=drawer.random() < 0.3,
        nulls=tuple(drawer.random() < 0.5 for _ in columns),
        explains=drawer.random() < 0.5,
    )


@dataclass(frozen=True)
class Outcome:
    """What a case has come to."""

    error: tuple[str | None, ...] | None
    rows: list[tuple[object, ...]]
    notes: list[tuple[object, ...]]


class Side:
    """A local and a remote database. Owns a connection to each until `close`."""

    def __init__(self, cluster: Cluster, wrapper: str) -> None:
        """Make both databases."""
        name, source = f"batches_{wrapper}", f"batches_source_{wrapper}"
        with cluster.connect() as connection:
            recreate_database(connection, name)
            recreate_database(connection, source)
        self.local, self.remote = cluster.connect(name), cluster.connect(source)
        self.remote.execute(PREPARED)
        options = f"host '{cluster.socket_folder}', port '{cluster.port}', dbname '{source}'"
        self.local.execute(
            sql.SQL(
                f"CREATE EXTENSION {wrapper} CASCADE;"
                f" CREATE SERVER remote FOREIGN DATA WRAPPER {wrapper} OPTIONS ({options});"
                f" CREATE USER MAPPING FOR {SUPERUSER} SERVER remote OPTIONS (user '{SUPERUSER}');"
                " CREATE FUNCTION same(i int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN i; END'"
            )
        )
        self.method: str | None = None

    def close(self) -> None:
        """Close the connections."""
        self.local.close()
        self.remote.close()

    def run(self, case: Case) -> Outcome:
        """Make the case's tables, execute its statement; return what it has come to."""
        self._make_tables(case)
        error = self._insert(case)
        rows = self.remote.execute(
            "SELECT b::text FROM base b ORDER BY tableoid::regclass::text, ctid"
        ).fetchall()
        notes = self.remote.execute("SELECT note FROM notes ORDER BY ctid").fetchall()
        return Outcome(error, rows, notes)

    def _make_tables(self, case: Case) -> None:
        self.remote.execute(
            "DROP VIEW IF EXISTS looked; DROP TABLE IF EXISTS base, whole, notes CASCADE;"
            f"CREATE TABLE base ({case.definition(remote=True)}); CREATE TABLE notes (note text);"
            + WATCHERS[case.watcher]
        )
        table = "looked" if "looked" in WATCHERS[case.watcher] else "base"
        options = f"SERVER remote OPTIONS (table_name '{table}', batch_size '{case.batch_size}')"
        self.local.execute(
            "DROP SCHEMA IF EXISTS batches CASCADE; CREATE SCHEMA batches;"
            " SET search_path = batches, public"
        )
        self.local.execute(case.drawn())
        columns = case.definition(remote=False)
        if case.form == "two partitions":
            self.local.execute(
                f"CREATE TABLE target ({columns}) PARTITION BY LIST ((id / 150 % 2));"
                f"CREATE FOREIGN TABLE target_0 PARTITION OF target FOR VALUES IN (0) {options};"
                f"CREATE FOREIGN TABLE target_1 PARTITION OF target FOR VALUES IN (1) {options}"
            )
        else:
            self.local.execute(f"CREATE FOREIGN TABLE target ({columns}) {options}")

    def _insert(self, case: Case) -> tuple[str | None, ...] | None:
        self.method = None
        try:
            if case.form == "COPY":
                self._copy(case)
            elif case.explains:
                row = self.local.execute(case.statement()).fetchone()
                plan = json.loads(json.dumps(row))[0][0]["Plan"]
                self.method = plan.get("Write Method")
            else:
                self.local.execute(case.statement())
        except psycopg.Error as raised:
            shown = raised.diag
            context = None if case.form == "COPY" else shown.context
            return (shown.sqlstate, shown.message_primary, shown.message_detail, context)
        return None

    def _copy(self, case: Case) -> None:
        with self.local.cursor() as cursor:
            with cursor.copy(f"COPY drawn ({case.names}) TO STDOUT") as copy:
                lines = b"".join(copy)
            with cursor.copy(case.statement()) as copy:
                copy.write(lines)


@pytest.fixture(scope="module")
def sides(pg_instance: Cluster, wrapper: str) -> Iterator[tuple[Side, Side]]:
    """Stock, and the wrapper under test."""
    stock, ours = Side(pg_instance, STOCK), Side(pg_instance, wrapper)
    yield stock, ours
    stock.close()
    ours.close()


def compare(sides: tuple[Side, Side], seed: int, numbers: range) -> None:
    """Run these cases on both sides; fails with the first that differs."""
    stock, ours = sides
    methods: list[str] = []
    for number in numbers:
        case = draw(seed, number)
        expected, found = stock.run(case), ours.run(case)
        assert found == expected, f"seed {seed}, case {number}: {case}"
        methods += [ours.method] if ours.method else []
    assert sum("arrays" in each for each in methods) >= LEAST_AS_ARRAYS * len(methods), methods


def test_batches_come_to_the_same(sides: tuple[Side, Side], pytestconfig: pytest.Config) -> None:
    compare(sides, pytestconfig.getoption("--oracle-seed"), range(CASES))


@pytest.mark.walk(numbered=True)
def test_more_batches_come_to_the_same(
    sides: tuple[Side, Side], pytestconfig: pytest.Config
) -> None:
    numbers = walked_numbers(pytestconfig, WALK_CASES)
    compare(sides, pytestconfig.getoption("--oracle-seed"), numbers)
