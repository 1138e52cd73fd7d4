"""Compressed files whose members say how long they are, read by several processes.

A text is cut anywhere, also within values and quotes, and each part is a member of its own. Stock
file_fdw reads the plain text: rows and errors have to be the same. Of a damaged file several
processes have to make what one process makes of it: the same rows, or an error. Only where an
end-of-data marker is shortly before the damage one may find the damage, and the other the end: how
much is decoded at once decides.
"""

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from conftest import OUR_FILE_WRAPPER, walked_numbers
from filediff.statements import PARALLEL
from filediff.tables import literal
from filerecords.packing import PACKERS, bgzf_member

from tollfree.cluster import Cluster

pytestmark = pytest.mark.cluster

ORDINARY_CASES = 80
"""Of each run; a walk goes on behind them."""
DATABASE = "members"
OBJECTS = """
CREATE EXTENSION {wrapper} CASCADE;
CREATE SERVER ours FOREIGN DATA WRAPPER {wrapper};
CREATE SERVER stock FOREIGN DATA WRAPPER file_fdw;
CREATE SCHEMA ours;
CREATE SCHEMA stock;
"""
QUERIES = ("SELECT * FROM {}.t", "SELECT count(*), count(b), sum(a) FROM {}.t WHERE a <> 7")
MEMBERS = {"gzip": bgzf_member, "zstd": PACKERS["zstd"]}
"""By the value of the option `compression`: what makes a member that says how long it is."""
ODD = ("x,1,2\n", "1\n", '"\n', "\\.\n", "1,\xe9,2\n", "1,\0,2\n", "1,2,3\r\n", "\\.x\n")
"""Records that are an error, end the data, or are for COPY's parser to judge."""
Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class Case:
    """A text, how it is read, and where it is cut."""

    text: bytes
    options: str
    compression: str
    cuts: tuple[int, ...]

    def packed(self) -> bytes:
        """Return the file."""
        ends = (*self.cuts, len(self.text))
        begins = (0, *self.cuts)
        member = MEMBERS[self.compression]
        return b"".join(
            member(self.text[begin:end]) for begin, end in zip(begins, ends, strict=True)
        )


def draw_text(rng: random.Random, is_csv: bool) -> str:
    """Draw records of two or three fields, one of them odd at times."""
    values = (
        ['"a\nb"', '"x ""y"""', '"', "", "word", '"\n\n"'] if is_csv else ["a\\\nb", "\\\\", ""]
    )
    values = [value for value in values if value != '"']
    records = [
        f"{rng.choice((1, 7, 12345))},{rng.choice(values) * rng.choice((1, 1, 1, 30))},{number}\n"
        for number in range(rng.choice((5, 100, 400)))
    ]
    if rng.random() < 0.4:
        records.insert(rng.randrange(len(records) + 1), rng.choice(ODD))
    return "".join(records).removesuffix("\n" if rng.random() < 0.2 else "")


def draw_case(seed: int, number: int) -> Case:
    """Draw the case of these numbers; the same on every machine."""
    rng = random.Random(f"{seed}:{number}:members")
    is_csv = rng.random() < 0.7
    text = draw_text(rng, is_csv)
    if rng.random() < 0.2 and '"' not in text:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    header = is_csv and rng.random() < 0.3
    options = f"format '{'csv' if is_csv else 'text'}', delimiter ',', header '{header}'"
    encoded = text.encode("latin1" if rng.random() < 0.5 else "utf8")
    cuts = sorted(rng.randrange(len(encoded) + 1) for _ in range(rng.choice((1, 10, 60))))
    return Case(encoded, options, rng.choice(list(MEMBERS)), tuple(cuts))


class MemberWorld:
    """A database and a session. Owns it until `close`."""

    def __init__(self, cluster: Cluster, wrapper: str, folder: Path) -> None:
        """Make the database in a running server, and the folder."""
        self._folder = folder
        cluster.user.make_folder(folder)
        cluster.make_database(DATABASE)
        self._connection = cluster.connect(DATABASE)
        self._connection.autocommit = True
        self._connection.execute(OBJECTS.format(wrapper=wrapper).encode())
        for name, value in {**PARALLEL, f"{wrapper}.debug_parallel_chunk_size": "1kB"}.items():
            self._connection.execute("SELECT set_config(%s, %s, false)", (name, value))

    def make(self, case: Case, content: bytes) -> None:
        """Make the table of a case in both schemas, in place of the last one."""
        for name, data, more in (
            ("stock", case.text, ""),
            ("ours", content, f", compression '{case.compression}'"),
        ):
            path = self._folder / name
            path.write_bytes(data)
            path.chmod(0o644)
            self._connection.execute(
                f"DROP FOREIGN TABLE IF EXISTS {name}.t; CREATE FOREIGN TABLE {name}.t"
                f" (a integer, b text, c text) SERVER {name}"
                f" OPTIONS (filename {literal(str(path))}, {case.options}{more})".encode()
            )

    def plan(self) -> str:
        """Return the plan of a query of ours."""
        return "\n".join(str(row[0]) for row in self._execute("EXPLAIN SELECT * FROM ours.t"))

    def answer(self, query: str, workers: int) -> tuple[str, Rows]:
        """Return the error of a query, or an empty string, and its rows in a defined order."""
        self._execute(f"SET max_parallel_workers_per_gather = {workers}")
        try:
            return "", sorted(self._execute(query), key=repr)
        except psycopg.Error as error:
            place = (error.diag.context or "").removesuffix("\nparallel worker")
            return f"{error.sqlstate} {error.diag.message_primary} {place}", []

    def close(self) -> None:
        """End the session."""
        self._connection.close()

    def _execute(self, query: str) -> Rows:
        cursor = self._connection.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="module")
def world(pg_instance: Cluster, home: Path, file_wrapper: str) -> Iterator[MemberWorld]:
    """A database with the wrapper."""
    if file_wrapper != OUR_FILE_WRAPPER:
        pytest.skip(f"{file_wrapper} reads no compressed files")
    world = MemberWorld(pg_instance, file_wrapper, home / "members")
    yield world
    world.close()


def check_whole(world: MemberWorld, case: Case) -> None:
    """Compare the answers of several processes with stock's of the plain text."""
    world.make(case, case.packed())
    for query in QUERIES:
        wanted = world.answer(query.format("stock"), 0)
        assert world.answer(query.format("ours"), 2) == wanted


def check_damaged(world: MemberWorld, case: Case, rng: random.Random) -> None:
    """Compare what several processes make of a damaged file with what one does."""
    content = bytearray(case.packed())
    for _ in range(rng.choice((1, 1, 2))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.2:
        del content[rng.randrange(len(content)) :]
    world.make(case, bytes(content))
    for query in QUERIES:
        error, rows = world.answer(query.format("ours"), 0)
        found, found_rows = world.answer(query.format("ours"), 2)
        if bool(found) != bool(error) and b"\\." in case.text:
            assert found_rows + rows == world.answer(query.format("stock"), 0)[1]
        else:
            assert (bool(found), found_rows) == (bool(error), rows), f"{error}\n{found}"


def compare(world: MemberWorld, config: pytest.Config, numbers: Sequence[int]) -> None:
    """Compare the cases of these numbers, or the only one that the options choose."""
    seed: int = config.getoption("--filediff-seed")
    only: int | None = config.getoption("--filediff-case")
    for number in numbers if only is None else (only,):
        case = draw_case(seed, number)
        try:
            check_whole(world, case)
            check_damaged(world, case, random.Random(f"{seed}:{number}:damages"))
        except AssertionError as error:
            pytest.fail(f"seed {seed}, case {number}: {error}", pytrace=False)


def test_many_members_are_read_as_their_text_is(
    world: MemberWorld, pytestconfig: pytest.Config
) -> None:
    compare(world, pytestconfig, range(ORDINARY_CASES))


@pytest.mark.walk(numbered=True)
def test_more_of_them_are(world: MemberWorld, pytestconfig: pytest.Config) -> None:
    numbers = walked_numbers(pytestconfig, pytestconfig.getoption("--filediff-cases"))
    compare(world, pytestconfig, [ORDINARY_CASES + number for number in numbers])


def test_several_processes_read_one_file(world: MemberWorld) -> None:
    text = b"1,word,2\n" * 2000
    cuts = tuple(range(500, len(text), 500))
    for compression in MEMBERS:
        case = Case(text, "format 'csv'", compression, cuts)
        world.make(case, case.packed())
        assert "Parallel Foreign Scan" in world.plan()


def test_a_member_is_gzip() -> None:
    text = random.Random(1).randbytes(1000)
    assert zlib.decompress(bgzf_member(text), 31) == text
