"""The same files through stock file_fdw and through the wrapper under test."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from conftest import walked_numbers
from filediff.binary import binary_case
from filediff.cases import Case, Server, draw_case
from filediff.changes import DIALECTS, Changes
from filediff.differ import Differ, Difference
from filediff.exactness import ROWS as FACTS
from filediff.exactness import Exactness, queries
from filediff.files import draw_file
from filediff.folders import Folders
from filediff.found import FOUND
from filediff.joins import Joins
from filediff.rescans import Rescans, started_again
from filediff.statements import Drawer, Rank, Statement
from filediff.tables import (
    ASCII,
    NO_TEXT_DELIMITERS,
    Column,
    Dialect,
    Table,
    draw_dialect,
    draw_table,
    literal,
)
from filediff.values import TYPES, Family, ValueType
from filediff.workers import QUERIES, READINGS, Reading, Workers
from filediff.world import STOCK, FileWorld
from oracle.world import Instances

NEWEST = Server(18, has_icu=True)


@pytest.fixture(scope="module")
def world(instances: Instances, file_wrapper: str) -> Iterator[FileWorld]:
    """Both sides."""
    world = FileWorld(instances, file_wrapper)
    yield world
    world.close()


def explanation(differ: Differ, difference: Difference, seed: int, number: int) -> str:
    """Return what a person needs to see and to repeat a difference."""
    return "\n".join(
        (
            f"seed {seed}, case {number}: {difference.reason}",
            "",
            "shortened:",
            str(differ.shorten(difference)),
            "",
            f"pytest tests/test_filediff.py --filediff-seed {seed} --filediff-case {number}",
        )
    )


@pytest.mark.walk(numbered=True)
@pytest.mark.cluster
def test_no_case_differs(
    world: FileWorld, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    seed: int = pytestconfig.getoption("--filediff-seed")
    only: int | None = pytestconfig.getoption("--filediff-case")
    numbers = walked_numbers(pytestconfig, pytestconfig.getoption("--filediff-cases"))
    differ = Differ(world)
    for number in numbers if only is None else (only,):
        difference = differ.run(draw_case(seed, number, world.server))
        if difference:
            pytest.fail(explanation(differ, difference, seed, number), pytrace=False)
    itself = " ITSELF" if world.wrapper == STOCK else ""
    with capsys.disabled():
        where = f"seed {seed}, from {numbers.start}"
        print(f"\nfilediff: {world.wrapper} against {STOCK}{itself}, {where}: {differ.tally}")


@pytest.mark.walk(numbered=True)
@pytest.mark.cluster
def test_no_binary_file_differs(
    world: FileWorld, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a tenth of the cases, those that can be written so."""
    seed: int = pytestconfig.getoption("--filediff-seed")
    numbers = walked_numbers(pytestconfig, pytestconfig.getoption("--filediff-cases") // 10)
    differ = Differ(world)
    for number in numbers:
        case = binary_case(world, seed, number)
        difference = differ.run(case) if case else None
        assert difference is None, f"seed {seed}, case {number}:\n{difference}"
    assert differ.tally.cases > len(numbers) / 4
    with capsys.disabled():
        print(f"\nfilediff: binary files, seed {seed}: {differ.tally}")


@pytest.mark.walk(numbered=True)
@pytest.mark.cluster
def test_a_folder_is_its_files_one_after_the_other(
    world: FileWorld, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    if world.wrapper == STOCK:
        pytest.skip("stock has a table for each file")
    seed: int = pytestconfig.getoption("--filediff-seed")
    numbers = walked_numbers(pytestconfig, pytestconfig.getoption("--filediff-cases") // 4)
    folders = Folders(world, seed)
    for number in numbers:
        folder = folders.draw(number)
        found = folders.difference(folder) if folder else ""
        assert not found, f"seed {seed}, folder {number}:\n{folder}\n{found}"
    assert folders.folders > len(numbers) / 2
    with capsys.disabled():
        told = (
            f"{folders.folders} folders, {folders.statements} statements, {folders.errors} errors"
        )
        print(f"\nfilediff: {told}")


@pytest.mark.cluster
def test_filters_and_aggregates_are_exactly_those_of_a_table(
    world: FileWorld, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    exactness = Exactness(world, seed=pytestconfig.getoption("--filediff-seed"))
    wrong = {query: reason for query in queries() if (reason := exactness.difference(query))}
    assert not wrong, "\n".join(f"{query}\n  {reason}" for query, reason in wrong.items())
    with capsys.disabled():
        print(f"\nfilediff: {len(queries())} queries against a table, {FACTS} rows")


@pytest.mark.cluster
@pytest.mark.parametrize("name", FOUND)
def test_a_difference_does_not_come_back(world: FileWorld, name: str) -> None:
    since, case = FOUND[name]
    if world.server.major < since:
        pytest.skip(f"PostgreSQL {since} is the first with these options")
    difference = Differ(world).run(case)
    assert difference is None, str(difference)


@pytest.mark.cluster
@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
def test_workers_answer_what_one_process_does(world: FileWorld, reading: Reading) -> None:
    workers = Workers(world, reading)
    if world.wrapper != STOCK:
        plan = workers.explain(QUERIES[0])
        assert "Workers Planned" in plan, plan
    wrong = {query: reason for query in QUERIES if (reason := workers.difference(query))}
    assert not wrong, "\n".join(f"{query}\n  {reason}" for query, reason in wrong.items())
    assert (workers.errors > 0) is reading.is_wrong


@pytest.mark.walk
@pytest.mark.cluster
def test_a_scan_that_starts_again_answers_as_before(
    world: FileWorld, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    rescans = Rescans(world, seed=pytestconfig.getoption("--filediff-seed"))
    questions = list(rescans.questions())
    wrong = {str(q): reason for q in questions if (reason := rescans.difference(q))}
    assert not wrong, f"{len(wrong)} of {len(questions)}:\n" + "\n\n".join(
        f"{question}\n  {reason}" for question, reason in list(wrong.items())[:20]
    )
    if world.wrapper != STOCK:
        assert not rescans.missing()
    with capsys.disabled():
        print(f"\nfilediff: {len(questions)} queries with rescans: {rescans.told()}")


@pytest.mark.walk
@pytest.mark.cluster
def test_rows_that_no_join_returns_are_dropped_alone(
    world: FileWorld, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    if world.wrapper == STOCK:
        pytest.skip("stock drops no rows for a join")
    seed: int = pytestconfig.getoption("--filediff-seed")
    count: int = pytestconfig.getoption("--filediff-joins")
    joins = Joins(world, seed)
    wrong = {str(q): reason for q in joins.questions(count) if (reason := joins.difference(q))}
    assert not wrong, f"seed {seed}, {len(wrong)} of {count}:\n" + "\n\n".join(
        f"{question}\n  {reason}" for question, reason in list(wrong.items())[:10]
    )
    told = ", ".join(f"{times} {what}" for what, times in joins.counts.most_common())
    assert joins.counts["with rows dropped"] > count / 5, told
    assert not joins.missing(), told
    with capsys.disabled():
        print(f"\nfilediff: joins, seed {seed}: {told}")


@pytest.mark.walk
@pytest.mark.cluster
@pytest.mark.parametrize("columns", [False, True], ids=["index", "columns"])
@pytest.mark.parametrize("append_only", [False, True], ids=["any", "append only"])
@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_kept_of_a_file_is_never_stale(
    world: FileWorld,
    name: str,
    append_only: bool,
    columns: bool,
    pytestconfig: pytest.Config,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if world.wrapper == STOCK:
        pytest.skip("stock has no record index")
    seed: int = pytestconfig.getoption("--filediff-seed")
    steps: int = pytestconfig.getoption("--filediff-changes")
    changes = Changes(world, DIALECTS[name], seed, append_only=append_only, columns=columns)
    for number in range(steps):
        difference = changes.step()
        assert not difference, f"seed {seed}, step {number}, {changes.file()}: {difference}"
    assert changes.counts["with an index"] > changes.counts["queries"] / 20
    by_workers = changes.counts["queries by workers"]
    assert changes.counts["by workers with an index"] > by_workers / 20
    assert not columns or changes.counts["from columns"] > changes.counts["queries"] / 30
    assert not columns or changes.counts["by workers from columns"] > by_workers / 30
    with capsys.disabled():
        told = ", ".join(f"{count} {what}" for what, count in changes.counts.most_common())
        kind = "changes, append only" if append_only else "changes"
        kind += ", columns" if columns else ""
        print(f"\nfilediff: {steps} steps of {kind} ({name}), seed {seed}: {told}")


# The comparison itself: it has to see through a candidate that is wrong in one thing.


def typed(sql: str) -> ValueType:
    return next(kind for kind in TYPES if kind.sql == sql)


def plain_case(query: str, content: bytes = b"1,a\n2,b\n3,\n", rank: Rank = Rank.ORDERED) -> Case:
    columns = (Column("a", typed("integer")), Column("b", typed("text")))
    table = Table(columns, Dialect(options={"format": "csv"}))
    return Case(table, content, (), (), (Statement(query, rank),))


def with_options(case: Case, **options: str) -> Case:
    dialect = replace(case.table.dialect, options={**case.table.dialect.options, **options})
    return replace(case, table=replace(case.table, dialect=dialect))


def with_content(case: Case, content: bytes) -> Case:
    return replace(case, content=content, filename="twisted")


def with_column(case: Case, **changes: object) -> Case:
    first, *others = case.table.columns
    columns = (replace(first, **changes), *others)  # type: ignore[arg-type]
    return replace(case, table=replace(case.table, columns=columns))


@dataclass(frozen=True)
class Mutation:
    """A case and what the candidate is given in its place."""

    case: Case
    twist: Callable[[Case], Case]
    reason: str
    """How the reason that the comparison gives begins."""


ROWS, COUNT = "SELECT * FROM t", "SELECT count(*) FROM t"
MUTATIONS = {
    "a value": Mutation(
        plain_case(ROWS), lambda c: with_content(c, b"1,a\n2,B\n3,\n"), "rows only in stock"
    ),
    "a row too few": Mutation(
        plain_case(COUNT), lambda c: with_content(c, b"1,a\n2,b\n"), "rows only in stock"
    ),
    "rows in another order": Mutation(
        plain_case(ROWS), lambda c: with_content(c, b"2,b\n1,a\n3,\n"), "the order of the rows"
    ),
    "a null that is an empty text": Mutation(
        plain_case(ROWS), lambda c: with_options(c, null="x"), "rows only in stock"
    ),
    "a type": Mutation(plain_case(ROWS), lambda c: with_column(c, type=typed("bigint")), "columns"),
    "a modifier of a type": Mutation(
        plain_case("SELECT b FROM t"),
        lambda c: replace(
            c,
            table=replace(c.table, columns=(c.table.columns[0], Column("b", typed("varchar(4)")))),
        ),
        "columns",
    ),
    "an error that does not come": Mutation(
        plain_case(ROWS, b"1,a\nx,b\n"), lambda c: with_content(c, b"1,a\n2,b\n"), "error"
    ),
    "an error in another line": Mutation(
        plain_case(ROWS, b"1,a\nx,b\n"), lambda c: with_content(c, b"x,b\n"), "error"
    ),
    "another error": Mutation(
        plain_case(ROWS, b"1\n"), lambda c: with_content(c, b"1,a,b\n"), "error"
    ),
    "an option that is refused": Mutation(
        plain_case(ROWS), lambda c: with_options(c, delimiter="ab"), "error"
    ),
    "a notice too few": Mutation(
        plain_case("SELECT a FROM t WHERE tell(b)"),
        lambda c: with_content(c, b"1,a\n2,b\n3,c\n"),
        "notices",
    ),
    "a sum's scale": Mutation(
        with_column(plain_case("SELECT sum(a) FROM t"), type=typed("numeric")),
        lambda c: with_content(c, b"1,a\n2.0,b\n3,\n"),
        "rows only in stock",
    ),
    "an error where only its presence counts": Mutation(
        plain_case(ROWS, b"1,a\nx,b\n", Rank.ANY_ERROR),
        lambda c: with_content(c, b"1,a\n"),
        "error",
    ),
}


@pytest.mark.cluster
@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_a_wrong_candidate_is_found(world: FileWorld, mutation: Mutation) -> None:
    differ = Differ(world)
    assert differ.run(mutation.case) is None
    found = differ.run(mutation.case, mutation.twist(mutation.case))
    assert found is not None
    assert found.reason.startswith(mutation.reason)


@pytest.mark.cluster
def test_what_plans_decide_is_no_difference(world: FileWorld) -> None:
    differ = Differ(world)
    shuffled = plain_case(ROWS, rank=Rank.MULTISET)
    assert differ.run(shuffled, with_content(shuffled, b"3,\n1,a\n2,b\n")) is None
    failing = plain_case(ROWS, b"1,a\nx,b\n", Rank.ANY_ERROR)
    assert differ.run(failing, with_content(failing, b"1\n")) is None


@pytest.mark.cluster
def test_random_cases_find_a_wrong_candidate(world: FileWorld) -> None:
    """The candidate loses the last byte of every file."""
    differ = Differ(world)
    cases = (draw_case(1, number, world.server) for number in range(40))
    found = [c for c in cases if differ.run(c, with_content(c, c.content[:-1])) is not None]
    assert len(found) >= 5


@pytest.mark.cluster
def test_a_crash_is_the_candidates(world: FileWorld) -> None:
    query = "SELECT pg_terminate_backend(pg_backend_pid()) FROM t"
    differ = Differ(world)
    found = differ.run(plain_case("SELECT 1 FROM t"), plain_case(query))
    assert found is not None
    assert found.reason.startswith("candidate lost its connection")
    assert differ.run(plain_case(ROWS)) is None


@pytest.mark.cluster
def test_a_difference_is_shortened(world: FileWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every candidate's file lacks its x; what needs no x is left out."""
    differ = Differ(world)
    case = plain_case(ROWS, b"".join(b"%d,b\n" % n for n in range(50)) + b"7,x\n1,\n")
    case = replace(case, statements=(Statement(COUNT, Rank.ORDERED), *case.statements))
    run = Differ.run

    def without_x(self: Differ, one: Case) -> Difference | None:
        return run(self, one, with_content(one, one.content.replace(b"x", b"")))

    monkeypatch.setattr(Differ, "run", without_x)
    found = differ.run(case)
    assert found is not None
    short = differ.shorten(found)
    assert b"x" in short.case.content
    assert len(short.case.content) <= 4
    assert [statement.sql for statement in short.case.statements] == [ROWS]


def test_only_an_expressions_error_may_come_before_or_behind_a_files() -> None:
    assert Rank.MULTISET.any_error(True, False)
    assert not Rank.MULTISET.any_error(True, True)
    assert not Rank.ORDERED.any_error(True, False)
    assert Rank.ANY_ERROR.any_error(True, True)
    assert not Rank.ANY_ERROR.any_error(True, None)


@pytest.mark.parametrize(
    ("gathered", "scanned", "is_aware", "path", "counted"),
    [
        (3, 9, True, "scan, given up for NaN", ["workers"]),
        (1, 3, True, "scan, given up for NaN", []),
        (3, 9, True, "scan", []),
        (1, 12, False, "scan, given up for NaN", ["each"]),
        (3, 9, False, "scan, given up for NaN", []),
    ],
)
def test_only_scans_that_start_again_after_a_fallback_are_counted(
    gathered: int, scanned: int, is_aware: bool, path: str, counted: list[str]
) -> None:
    scan = {"Node Type": "Foreign Scan", "Fast Path": path, "Parallel Aware": is_aware}
    gather = {"Node Type": "Gather Merge", "Actual Loops": gathered, "Workers Launched": 2}
    plan = {**gather, "Plans": [{**scan, "Actual Loops": scanned}]}
    assert list(started_again(plan, re.compile("NaN"))) == counted


# What is drawn.


def test_a_case_depends_on_its_numbers_alone() -> None:
    assert draw_case(1, 7, NEWEST) == draw_case(1, 7, NEWEST)
    assert draw_case(1, 7, NEWEST) != draw_case(1, 8, NEWEST)
    assert draw_case(1, 7, NEWEST) != draw_case(2, 7, NEWEST)


def test_older_servers_are_given_no_newer_options() -> None:
    for major, newer in ((15, {"default", "on_error"}), (17, {"on_error", "log_verbosity"})):
        drawn = [draw_table(random.Random(n), major, has_icu=False) for n in range(2000)]
        refused = ("explode", "a\nb")
        options = [t.dialect.options for t in drawn]
        assert not [o for o in options if any(o.get(x, refused[0]) not in refused for x in newer)]


def test_every_trap_is_drawn() -> None:
    cases = [draw_case(1, number, NEWEST) for number in range(2500)]
    contents = [case.content for case in cases]
    for bytes_ in (
        b"\\N",
        b"\\.",
        b"\r\n",
        b"\0",
        b"\xef\xbb\xbf",
        b'""',
        b"\\x",
        b"\n\n",
        b"\xff",
    ):
        assert any(bytes_ in content for content in contents), f"never drawn: {bytes_!r}"
    assert any(content and not content.endswith((b"\n", b"\r")) for content in contents)
    for block in (65536, 131072, 262144, 1048576):
        near = [c for c in contents if block - 100 < len(c) < block + 5000]
        assert near, f"no file ends just behind {block}"
    used = {column.type.sql for case in cases for column in case.table.columns}
    assert used >= {kind.sql for kind in TYPES}
    text = "\n".join(s.sql for case in cases for s in case.statements)
    for words in ("FILTER", "LATERAL", "GROUP BY", "HAVING", "LIKE", "BETWEEN", "IN (", "ANALYZE"):
        assert words in text
    for words in ("security_barrier", "PREPARE", "CURSOR", "COPY", "ctid", "FULL JOIN", "OFFSET"):
        assert words in text


def test_every_byte_is_drawn_as_quote_escape_and_delimiter() -> None:
    dialects = [draw_dialect(random.Random(number), 18) for number in range(40000)]
    csv, text = ([d for d in dialects if d.format == name] for name in ("csv", "text"))
    assert {d.quote for d in csv} == set(ASCII)
    assert {d.escape for d in csv if d.escape != d.quote} == set(ASCII)
    assert {d.delimiter for d in csv} >= set(ASCII) - {"\r", "\n"}
    assert {d.delimiter for d in text} >= set(ASCII) - set("\r\n" + NO_TEXT_DELIMITERS)


def test_every_kind_of_statement_is_drawn_for_every_table() -> None:
    for number in range(300):
        rng = random.Random(number)
        table = draw_table(rng, 18, has_icu=True)
        drawer = Drawer(rng, table, is_long=draw_file(rng, table).is_long)
        assert all(drawer.draw().sql for _ in range(20))


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.sql)
def test_every_type_has_texts_of_all_kinds(kind: ValueType) -> None:
    assert kind.usual
    assert kind.bad
    assert kind.odd or kind.family is Family.OPAQUE


def test_a_constant_is_ascii() -> None:
    assert literal("it's") == "'it''s'"
    assert literal("ä\\'") == "U&'\\+0000E4\\\\'''"
    assert literal("😀\n").isascii()
