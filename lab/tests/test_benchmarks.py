"""What benchmarks print is recorded with what they ran on, and the page shows it word for word."""

import re
from pathlib import Path

import pytest

from tollfree.benchmarks import PROGRAMS, main, page, question, record
from tollfree.paths import CHECKOUT

PROGRAM = '''"""What waiting costs,
in all.

How it is measured.
"""

import sys

print("waiting takes", sys.argv[1:])
sys.exit(len(sys.argv) > 2)
'''


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    path = folder / "waiting.py"
    path.write_text(PROGRAM, encoding="utf-8")
    (folder / "another.py").write_text('"""What else."""', encoding="utf-8")
    return path


def test_the_page_is_made_of_the_records() -> None:
    committed = (CHECKOUT / "docs" / "runs" / "benchmarks.md").read_text(encoding="utf-8")
    assert committed == page(), "python -m tollfree.benchmarks"


def test_every_program_says_what_it_asks() -> None:
    for path in PROGRAMS.glob("*.py"):
        assert question(path).startswith("W"), path
        assert question(path).endswith((".", "?")), path


def test_a_record_has_a_head_and_what_was_printed(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert record(program, ["3"], tmp_path / "records") == 0
    assert capsys.readouterr().out == "waiting takes ['3']\n"
    text = (tmp_path / "records" / "waiting.txt").read_text("utf-8")
    assert re.fullmatch(
        r"date: \d{4}-\d\d-\d\d \d\d:\d\d UTC\n"
        r"PostgreSQL: \d+\S*\n"
        r"processor: .+, \d+ cores\n"
        r"commit: (unknown|[0-9a-f]{12}\+?)\n"
        r"command: python lab/benchmarks/waiting.py 3\n"
        r"\n"
        r"waiting takes \['3'\]\n",
        text,
    )
    shown = page(program.parent, tmp_path / "records")
    assert f"## waiting\n\nWhat waiting costs, in all.\n\n```text\n{text}```\n" in shown
    assert "## another\n\nWhat else.\n\nNot recorded yet.\n" in shown


def test_what_fails_leaves_the_record_as_it_was(program: Path, tmp_path: Path) -> None:
    assert record(program, ["1"], tmp_path) == 0
    before = (tmp_path / "waiting.txt").read_text("utf-8")
    assert record(program, ["1", "2"], tmp_path) == 1
    assert (tmp_path / "waiting.txt").read_text("utf-8") == before


def test_a_name_that_no_program_has_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "nothing"])
    assert main() != 0
    assert "joins" in capsys.readouterr().err
