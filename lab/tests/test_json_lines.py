"""Tables of JSON Lines, compared with what PostgreSQL's own JSON functions make of each line.

The oracle has the same lines in a table of texts. A column's value is that of
`json_populate_record`, of what `->` finds at the column's path; a line is a record if PostgreSQL
takes it for a JSON object.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from conftest import OUR_FILE_WRAPPER
from filerecords.packing import SUFFIXES, packed

from tollfree.cluster import Cluster

pytestmark = pytest.mark.cluster

DATABASE = "jsonlines"
CASES = 40
BROKEN_FILES = 40
BROKEN_LINES = 60
COPIES = 20
"""Of these lines, so that a file has several chunks."""
NEWEST_WITH_ERRORS_IGNORED = 18
"""From which major on file_fdw has `on_error`."""

FILES = f"""
CREATE EXTENSION {OUR_FILE_WRAPPER} CASCADE;
CREATE SERVER files FOREIGN DATA WRAPPER {OUR_FILE_WRAPPER};
"""
OBJECTS = f"""
{FILES}
CREATE TABLE lines (number int, line text);
CREATE FUNCTION is_object(line text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN json_typeof(line::json) = 'object';
EXCEPTION WHEN invalid_text_representation THEN
    RETURN false;
END
$$;
CREATE VIEW records AS
    SELECT btrim(line, E' \\t\\r') AS line FROM lines CROSS JOIN generate_series(1, {COPIES})
    WHERE is_object(line);
"""
SLOW = f"SET {OUR_FILE_WRAPPER}.fast_scan = off"
PARALLEL = f"""
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET {OUR_FILE_WRAPPER}.debug_parallel_chunk_size = 65536
"""
SETTINGS = ("", SLOW, PARALLEL, f"{PARALLEL}; {SLOW}")

VALUES = {
    "int": ("1", "-7", "0", '"42"', '" 5 "', "2147483647"),
    "bigint": ("1", "9223372036854775807", '"-3"'),
    "text": (
        *('"x"', '""', '"a b"', r'"\n\t\r\b\f"', r'"\"\\\/"', r'"\u00e9\u20ac"', r'"\ud83d\ude00"'),
        *(r'"\\N"', r'"\\."', '"é€😀"', "1.50", "1e2", "true", '{"a": [1, "é"]}', "[ ]", "-0"),
        f'"{"long " * 30}"',
    ),
    "numeric(8,2)": ("1.5", "-0.25", "1e2", '"7.125"', "0"),
    "numeric": ("1.50", "1E-3", '"NaN"', "123456789012345678901234567890"),
    "double precision": ("1.5", "-2e10", '"Infinity"', "0.1"),
    "boolean": ("true", "false", '"yes"', '"f"', "1"),
    "date": ('"2026-01-31"', '"19990108"', '"infinity"'),
    "timestamp": ('"2026-01-31T12:00:00.25"', '"2026-01-31 12:00:00"'),
    "json": ('"x"', "1.50", '{"b": 1,  "a": [null]}', "[ 1 ]", "true", r'"\u00e9"'),
    "jsonb": ('"x"', "1.50", '{"b": 1, "a": [null], "b": 2}', "[ 1 ]", "false"),
    "int[]": ('"{1,2}"', '"{}"'),
}
WRONG = {
    "int": ("1.5", "[1]", "{}", '"x"', "3000000000"),
    "boolean": ("2", '"maybe"', "[]"),
    "date": ("20", '"2026-02-30"'),
    "numeric(8,2)": ("1e7", '"x"'),
}
OTHERS = ("1", '"x"', "null", '[{"c0": 1}]', '{"c1": 5, "a": 1}', r'"\""', '"}{"')
BLANKS = ("", "", " ", "\t", "  ")
BLANK_LINES = ("", "", " ", "\r")


@dataclass(frozen=True)
class Column:
    """A column: its name, its type and where it is: in the document, in `o` or in `a`."""

    name: str
    type: str
    place: str

    @property
    def definition(self) -> str:
        path = {"": "", "o": f" OPTIONS (path '/o/{self.name}')", "a": " OPTIONS (path '/a/1')"}
        return f"{self.name} {self.type}{path[self.place]}"

    @property
    def expected(self) -> str:
        """The oracle's expression."""
        found = {"": f"-> '{self.name}'", "o": f"-> 'o' -> '{self.name}'", "a": "-> 'a' -> 1"}
        value = f"line::json {found[self.place]}"
        if self.type == "json":
            # That writes the escapes of a string in another way.
            return f"CASE WHEN json_typeof({value}) <> 'null' THEN {value} END"
        built = f"json_build_object('{self.name}', {value})"
        return f"(json_populate_record(NULL::row_t, {built})).{self.name}"


def draw_columns(rng: random.Random) -> list[Column]:
    columns: list[Column] = []
    for number in range(rng.randint(1, 7)):
        place = rng.choice(("", "", "o", "a"))
        if place == "a" and any(column.place == "a" for column in columns):
            place = ""
        columns.append(Column(f"c{number}", rng.choice(tuple(VALUES)), place))
    return columns


def draw_value(rng: random.Random, column: Column, wrong: float) -> str:
    if rng.random() < 0.1:
        return "null"
    texts = WRONG if column.type in WRONG and rng.random() < wrong else VALUES
    return rng.choice(texts[column.type])


def draw_object(rng: random.Random, members: list[tuple[str, str]]) -> str:
    rng.shuffle(members)
    blank = rng.choice(BLANKS)
    inner = f",{blank}".join(f'"{key}"{blank}:{blank}{value}' for key, value in members)
    return f"{{{blank}{inner}{rng.choice(BLANKS)}}}"


def draw_line(rng: random.Random, columns: list[Column], wrong: float) -> str:
    """Draw a line with most columns' members, some of them twice, and others."""
    members: dict[str, list[tuple[str, str]]] = {"": [], "o": []}
    for column in columns:
        if rng.random() < 0.15:
            continue
        value = draw_value(rng, column, wrong)
        if column.place == "a":
            items = ", ".join((rng.choice(OTHERS), value, "0")[: rng.choice((1, 2, 3, 3))])
            members[""].append(("a", f"[{items}]"))
            continue
        members[column.place].append((column.name, value))
        if rng.random() < 0.05:
            members[column.place].append((column.name, draw_value(rng, column, 0.0)))
    for key in ("z", "zz"):
        if rng.random() < 0.3:
            members[rng.choice(("", "o"))].append((key, rng.choice(OTHERS)))
    if rng.random() < 0.9:
        members[""].append(("o", draw_object(rng, members["o"])))
    if rng.random() < 0.05:
        members[""].append(("o", rng.choice(("{}", "null", "7"))))
    return draw_object(rng, members[""])


class World:
    """A database and a folder of files."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.major = cluster.stage.installation.major
        self.folder = folder
        cluster.user.make_folder(folder)
        cluster.make_database(DATABASE)
        self.connection = cluster.connect(DATABASE)
        self.connection.execute(OBJECTS)

    def write(self, name: str, lines: list[str], compression: str = "none") -> None:
        path = self.folder / f"{name}{SUFFIXES[compression]}"
        path.write_bytes(packed("".join(f"{x}\n" for x in lines).encode(), compression))
        path.chmod(0o644)

    def fill(self, lines: list[str]) -> None:
        """Give the oracle the lines that are not blank."""
        self.connection.execute("TRUNCATE lines")
        with self.connection.cursor().copy("COPY lines FROM STDIN") as copy:
            for number, line in enumerate(lines, 1):
                if line.strip(" \t\r"):
                    copy.write_row((number, line))

    def make(self, definitions: str, options: str) -> None:
        self.connection.execute(
            "DROP FOREIGN TABLE IF EXISTS t;"
            f" CREATE FOREIGN TABLE t ({definitions}) SERVER files OPTIONS ({options})"
        )

    def ask(self, query: str, settings: str = "") -> list[str] | str:
        """Return the rows as sorted texts, or an error's SQLSTATE."""
        self.connection.execute(f"RESET ALL; {settings}")
        try:
            rows = self.connection.execute(query).fetchall()
        except psycopg.Error as error:
            return error.sqlstate or ""
        return sorted(str(row[0]) for row in rows)

    def close(self) -> None:
        self.connection.close()


@pytest.fixture(scope="module")
def world(pg_instance: Cluster, home: Path, file_wrapper: str) -> Iterator[World]:
    """A database with the wrapper."""
    if file_wrapper != OUR_FILE_WRAPPER:
        pytest.skip(f"{file_wrapper} does not read JSON Lines")
    world = World(pg_instance, home / "jsonlines")
    yield world
    world.close()


def queries(columns: list[Column]) -> list[str]:
    """Return queries of which `{table}` is the wrapper's table or the oracle's."""
    one = columns[-1]
    return [
        "SELECT t::text FROM {table} t",
        "SELECT count(*)::text FROM {table} t",
        f"SELECT (count({one.name}), min({one.name}::text), count(*))::text FROM {{table}} t",
        f"SELECT {columns[0].name}::text FROM {{table}} t WHERE {one.name} IS NOT NULL",
    ]


def write_files(world: World, rng: random.Random, columns: list[Column]) -> str:
    """Write files and the oracle's lines; return the table's options."""
    for old in world.folder.iterdir():
        old.unlink()
    wrong = rng.choice((0.0, 0.0, 0.0, 0.05))
    lines: list[str] = []
    nfiles = rng.choice((1, 1, 3))
    for number in range(nfiles):
        drawn = [draw_line(rng, columns, wrong) for _ in range(rng.choice((0, 1, 3, 20)))]
        if drawn and rng.random() < 0.2:
            drawn = rng.choices(drawn, k=2500)
        for _ in range(rng.choice((0, 0, 3))):
            drawn.insert(rng.randint(0, len(drawn)), rng.choice(BLANK_LINES))
        kind = rng.choice(("none", "none", "gzip")) if nfiles > 1 else "none"
        world.write(f"{number}.jsonl", drawn, kind)
        lines += drawn
    world.fill(lines)
    if nfiles == 1:
        return f"filename '{world.folder}/0.jsonl', format 'jsonl'"
    return f"filenames '{world.folder}/*', format 'jsonl'"


def check_error(world: World) -> None:
    """Which values a query converts is the wrapper's choice, but here all are; several processes
    meet any of several errors first."""
    query = "SELECT t::text FROM {} t"
    expected = world.ask(query.format("expected"))
    for settings in SETTINGS:
        found = world.ask(query.format("t"), settings)
        assert isinstance(found, str), settings
        assert settings.startswith(PARALLEL) or found == expected, settings


def test_values_are_those_of_json_populate_record(world: World) -> None:
    errors = 0
    for number in range(CASES):
        rng = random.Random(f"json lines {number}")
        columns = draw_columns(rng)
        options = write_files(world, rng, columns)
        world.make(", ".join(column.definition for column in columns), options)
        world.connection.execute(
            "DROP VIEW IF EXISTS expected; DROP TYPE IF EXISTS row_t;"
            f" CREATE TYPE row_t AS ({', '.join(f'{x.name} {x.type}' for x in columns)});"
            " CREATE VIEW expected AS SELECT"
            f" {', '.join(f'{x.expected} AS {x.name}' for x in columns)} FROM lines"
        )
        if isinstance(world.ask("SELECT t::text FROM expected t"), str):
            errors += 1
            check_error(world)
            continue
        for query in queries(columns):
            expected = world.ask(query.format(table="expected"))
            for settings in SETTINGS:
                found = world.ask(query.format(table="t"), settings)
                assert found == expected, f"case {number}: {query}; {settings}"
    assert 0 < errors < CASES / 2


def test_a_server_of_another_encoding_converts_what_it_reads(
    pg_instance: Cluster, world: World
) -> None:
    """Keys, texts and escapes; what has no such character is an error."""
    lines = ['{"n\u00e9": "\u00e9"}', r'{"n\u00e9": "\u00e9x"}', '{"n\u00e9": null, "\u00e9": 1}']
    world.write("latin1.jsonl", lines)
    world.write("euro.jsonl", [r'{"n\u00e9": "\u20ac"}'])
    world.connection.execute("CREATE DATABASE latin1 ENCODING latin1 LOCALE 'C' TEMPLATE template0")
    with pg_instance.connect("latin1") as connection:
        connection.execute(FILES)
        for name in ("latin1", "euro"):
            connection.execute(
                f"CREATE FOREIGN TABLE {name} (\"n\u00e9\" text, rest text OPTIONS (rest 'true'))"
                f" SERVER files OPTIONS (filename '{world.folder}/{name}.jsonl', format 'jsonl')"
            )
        rows = connection.execute(
            'SELECT "n\u00e9", length("n\u00e9"), rest FROM latin1'
        ).fetchall()
        assert rows == [("\u00e9", 1, "{}"), ("\u00e9x", 2, "{}"), (None, None, '{"\u00e9": 1}')]
        with pytest.raises(psycopg.errors.UntranslatableCharacter):
            connection.execute("SELECT * FROM euro")


PIECES = (
    *('"', "\\", "{", "}", "[", "]", ",", ":", " ", "\t", "0", "1", "-", ".", "e", "E", "+", "u"),
    *(
        "true",
        "false",
        "null",
        "nul",
        '"a"',
        r'"\u00e9"',
        r'"\ud800"',
        r'"\x"',
        "é",
        "\x01",
        "\x7f",
    ),
    *('"b":', "12", "01", "1.5", "-0", "1e5", "/", "'", "NaN", "\r", "\u00a0", "\ufeff"),
)


def draw_broken_line(rng: random.Random, columns: list[Column]) -> str:
    """Draw a line that may be none, or just not: pieces, or a line with a few changes."""
    if rng.random() < 0.3:
        return "{" + "".join(rng.choices(PIECES, k=rng.randint(0, 8))) + "}"
    line = draw_line(rng, columns, 0.0)
    for _ in range(rng.choice((0, 1, 1, 2))):
        at = rng.randint(0, len(line))
        length = rng.choice((0, 0, 1, 3))
        line = line[:at] + rng.choice((*PIECES, "")) + line[at + length :]
    return line


def test_a_line_is_a_record_if_it_is_an_object_to_postgresql(world: World) -> None:
    total = refused = 0
    for number in range(BROKEN_FILES):
        rng = random.Random(f"broken json {number}")
        columns = draw_columns(rng)
        lines = [draw_broken_line(rng, columns) for _ in range(BROKEN_LINES)]
        world.write("broken.jsonl", lines)
        world.fill(lines)
        world.make(
            "line json OPTIONS (path '')",
            f"filename '{world.folder}/broken.jsonl', format 'jsonl'",
        )
        expected = world.ask("SELECT number FROM lines WHERE NOT is_object(line)")
        found = world.ask("SELECT line FROM tollfree_file_fdw_rejects('t')")
        assert found == expected, f"file {number}"
        total += len(lines)
        refused += len(found)
        if world.major < NEWEST_WITH_ERRORS_IGNORED:
            continue
        # In several chunks
        world.write("broken.jsonl", lines * COPIES)
        world.connection.execute("ALTER FOREIGN TABLE t OPTIONS (ADD on_error 'ignore')")
        query = "SELECT md5(btrim(line::text, E' \\t\\r')) || count(*) FROM {} GROUP BY line::text"
        expected = world.ask(query.format("records"))
        for settings in SETTINGS:
            assert world.ask(query.format("t"), settings) == expected, f"file {number}: {settings}"
    assert 0.2 * total < refused < 0.8 * total
