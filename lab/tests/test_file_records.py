"""Tables with record options, against an oracle that reads their files by the documentation."""

import bz2
import csv
import gzip
import io
import lzma
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import OUR_FILE_WRAPPER, walked_numbers
from filerecords.checker import Checker, Difference
from filerecords.drawing import Case, draw_case
from filerecords.known import EDGES, EXAMPLES, KNOWN
from filerecords.packing import PACKERS, packed
from filerecords.questions import Question
from filerecords.reader import Fault, Unspecified, read_text, split
from filerecords.rules import Column, File, Rules, Table
from filerecords.world import RecordWorld

from tollfree.cluster import Cluster

ORDINARY_CASES = 300
"""Of each run; a walk goes on behind them."""
LEFT_OPEN = 0.1
"""How large a part of the cases may at most be one that the documentation leaves open."""
ENOUGH = 100
"""So many cases that this can be said."""
NEWEST = 18


@pytest.fixture(scope="module")
def world(pg_instance: Cluster, home: Path, file_wrapper: str) -> Iterator[RecordWorld]:
    """A database with the wrapper."""
    if file_wrapper != OUR_FILE_WRAPPER:
        pytest.skip(f"{file_wrapper} has no record options")
    world = RecordWorld(pg_instance, file_wrapper, home / "records")
    yield world
    world.close()


def explanation(checker: Checker, difference: Difference, seed: int, number: int) -> str:
    """Return what a person needs to see and to repeat a difference."""
    return "\n".join(
        (
            f"seed {seed}, case {number}: {difference.reason}",
            "",
            "shortened:",
            str(checker.shorten(difference)),
            "",
            f"pytest tests/test_file_records.py --filediff-seed {seed} --filediff-case {number}",
        )
    )


def compare(
    world: RecordWorld,
    config: pytest.Config,
    capsys: pytest.CaptureFixture[str],
    numbers: Sequence[int],
) -> None:
    """Compare the cases of these numbers, or the only one that the options choose."""
    seed: int = config.getoption("--filediff-seed")
    only: int | None = config.getoption("--filediff-case")
    checker = Checker(world, KNOWN)
    for number in numbers if only is None else (only,):
        difference = checker.check(draw_case(seed, number, world.codecs))
        if difference:
            pytest.fail(explanation(checker, difference, seed, number), pytrace=False)
    tally = checker.tally
    assert tally.cases < ENOUGH or tally.unspecified <= LEFT_OPEN * tally.cases
    with capsys.disabled():
        print(f"\nfile records: seed {seed}, from {numbers[0]}: {tally}")


@pytest.mark.cluster
def test_rows_errors_and_counts_are_the_oracles(
    world: RecordWorld, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(world, pytestconfig, capsys, range(ORDINARY_CASES))


@pytest.mark.walk(numbered=True)
@pytest.mark.cluster
def test_more_of_them_are_the_oracles(
    world: RecordWorld, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = walked_numbers(pytestconfig, pytestconfig.getoption("--filediff-cases"))
    compare(world, pytestconfig, capsys, [ORDINARY_CASES + number for number in numbers])


# The comparison itself: it has to see through a server that is wrong in one thing.

RULES = Rules(comment="#", skips_blank=True, pads_missing=True, cuts_extra=True)
TEXT = b"# one\n1,a\n\n2\n3,c,d\n"
ROWS = Question("SELECT * FROM t", ("a", "b"))


def plain_case(text: bytes = TEXT, rules: Rules = RULES, question: Question = ROWS) -> Case:
    columns = (Column("a", "integer"), Column("b", "text"))
    return Case(Table(columns, rules, (File("case/one", text),)), (), (question,))


TWISTED = {
    "a value": (plain_case(), plain_case(TEXT.replace(b"a", b"b")), "rows only"),
    "the order": (plain_case(), plain_case(b"# one\n2\n\n1,a\n3,c,d\n"), "the order"),
    "a comment more": (plain_case(), plain_case(b"#\n" + TEXT), "notices"),
    "no missing field": (plain_case(), plain_case(TEXT.replace(b"2\n", b"2,\n")), "notices"),
    "no extra field": (plain_case(), plain_case(TEXT.replace(b",d", b"")), "notices"),
    "an error": (plain_case(), plain_case(TEXT.replace(b"2\n", b"x\n")), "error"),
    "no error": (plain_case(b"x\n"), plain_case(b"1\n"), "error"),
    "an error's line": (plain_case(b"\nx\n"), plain_case(b"x\n"), "error"),
    "an error's code": (plain_case(b"x\n"), plain_case(b'"1\n'), "error"),
    "counts in EXPLAIN": (
        plain_case(question=Question("EXPLAIN (ANALYZE) SELECT * FROM t", (), explains=True)),
        plain_case(TEXT + b"#\n"),
        "EXPLAIN",
    ),
    "a table": (plain_case(), plain_case(rules=replace(RULES, delimiter='"')), "not made"),
}


@pytest.mark.cluster
@pytest.mark.parametrize(("case", "given", "reason"), TWISTED.values(), ids=TWISTED)
def test_a_wrong_answer_is_found(world: RecordWorld, case: Case, given: Case, reason: str) -> None:
    checker = Checker(world, {})
    assert checker.check(case) is None
    found = checker.check(case, given)
    assert found is not None
    assert found.reason.startswith(reason)


@pytest.mark.cluster
@pytest.mark.parametrize(("fault", "case"), EXAMPLES.values(), ids=EXAMPLES)
def test_a_known_fault_is_not_mended(world: RecordWorld, fault: str, case: Case) -> None:
    """If this fails for a mended fault, its entry in KNOWN has to go, and this example of it into
    the core's tests or the regression tests."""
    assert Checker(world, {}).check(case) is not None
    checker = Checker(world, {fault: KNOWN[fault]})
    assert checker.check(case) is None
    assert checker.tally.known[fault] == 1


@pytest.mark.cluster
@pytest.mark.parametrize("case", EDGES.values(), ids=EDGES)
def test_an_edge_is_read_as_documented(world: RecordWorld, case: Case) -> None:
    assert Checker(world, {}).check(case) is None


@pytest.mark.cluster
def test_random_cases_find_a_lost_line(world: RecordWorld) -> None:
    """The server is given every file without its first line."""
    checker = Checker(world, KNOWN)
    found = 0
    for number in range(40):
        case = draw_case(1, number, ("none",))
        files = tuple(
            replace(file, text=file.text.partition(b"\n")[2]) for file in case.table.files
        )
        given = replace(case, table=replace(case.table, files=files))
        found += checker.check(case, given) is not None
    assert found >= 20


# The oracle's reader, by examples of the documentation.


def records(
    text: bytes, rules: Rules, major: int = NEWEST
) -> list[tuple[int, tuple[bytes | None, ...]]]:
    """Return lines and fields of a file without an error."""
    found = read_text(text, rules, major)
    assert found.end is None
    return [(record.line, split(record.raw, rules)) for record in found.records]


def test_quotes_in_a_line_that_is_left_out_mean_nothing() -> None:
    text = b'# don\'t "\n1,"\n# no comment"\n\n2\n'
    rules = Rules(comment="#", skips_blank=True)
    assert [fields for _, fields in records(text, rules)] == [
        (b"1", b"\n# no comment"),
        (b"2",),
    ]
    assert read_text(text, rules, NEWEST).left_out == 2


def test_each_style_ends_a_line_before_the_first_record() -> None:
    rules = Rules(skip_lines=2, comment="#", skips_mark=True)
    text = b"\xef\xbb\xbfTitle\ra,b\r\n# one\n1\r\n# two\nx\r\n2\r\n"
    assert records(text, rules) == [(4, (b"1",)), (6, (b"2",))]


def test_another_line_end_is_an_error_in_its_line() -> None:
    end = read_text(b"1\n2\r\n", Rules(), NEWEST).end
    assert isinstance(end, Fault)
    assert end.line == 2


def test_a_line_feed_in_quotes_counts_once_the_style_is_known() -> None:
    assert [line for line, _ in records(b'"\n",1\n"\n\n",2\n3\n', Rules())] == [1, 4, 5]


def test_fields_of_text_format() -> None:
    rules = Rules("text", "\t", null="\\N")
    assert split(b"\\N\t\\\\N\t\\x41\\102\\n\\q\\\t\t", rules) == (None, b"\\N", b"AB\nq\t", b"")
    assert records(b"1\\\n2\n\\.\nleft\n", rules) == [(1, (b"1\n2",))]


def test_a_null_string_in_quotes_is_no_null() -> None:
    assert split(b',"",x"",""', Rules()) == (None, b"", b"x", b"")
    rules = Rules(null="-", escape="\\")
    assert split(b'-,"-","a\\"\\b"', rules) == (None, b"-", b'a"\\b')


def test_quotes_that_do_not_close_are_an_error() -> None:
    with pytest.raises(Fault):
        split(b'1,"', Rules())


def test_a_marker_ends_a_csv_file_of_older_servers_only() -> None:
    assert records(b"1\n\\.\n2\n", Rules(), 17) == [(1, (b"1",))]
    assert len(records(b"1\n\\.\n2\n", Rules(), 18)) == 3
    assert isinstance(read_text(b"1\n\\.", Rules("text", "\t"), 18).end, Unspecified)


def test_a_record_is_split_as_pythons_csv_does() -> None:
    rng = random.Random(1)
    for _ in range(500):
        values = ["".join(rng.choices('a,"\n\r ', k=rng.randint(0, 6))) for _ in range(3)]
        written = io.StringIO()
        csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="").writerow(values)
        assert split(written.getvalue().encode(), Rules()) == tuple(x.encode() for x in values)


@pytest.mark.parametrize(
    ("kind", "unpack"),
    [("gzip", gzip.decompress), ("bz2", bz2.decompress), ("xz", lzma.decompress)],
)
def test_a_long_text_is_compressed_in_two_members(
    kind: str, unpack: Callable[[bytes], bytes]
) -> None:
    text = random.Random(1).randbytes(1000)
    assert packed(text, kind).startswith(packed(text[:500], kind))
    assert unpack(packed(text, kind)) == text


def test_a_case_depends_on_its_numbers_alone() -> None:
    assert draw_case(1, 7, ("gzip",)) == draw_case(1, 7, ("gzip",))
    assert draw_case(1, 7, ("gzip",)) != draw_case(1, 8, ("gzip",))
    assert draw_case(1, 7, ("gzip",)) != draw_case(2, 7, ("gzip",))


def test_every_option_is_drawn() -> None:
    tables = [draw_case(1, number, tuple(PACKERS)).table for number in range(600)]
    options = {name for table in tables for name in table.rules.options()}
    assert options >= {
        *("byte_order_mark", "skip_lines", "comment", "blank_lines", "missing_fields"),
        *("extra_fields", "columns", "on_error", "reject_limit", "log_verbosity", "encoding"),
    }
    assert {file.compression for table in tables for file in table.files} == set(PACKERS)
    assert {column.source for table in tables for column in table.columns} == {
        *("", "file", "line", "path")
    }
