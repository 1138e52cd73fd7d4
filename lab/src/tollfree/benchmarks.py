"""Records the output of the programs in lab/benchmarks, and makes the page of all records.

    python -m tollfree.benchmarks                       print the page, docs/runs/benchmarks.md
    python -m tollfree.benchmarks PROGRAM [ARGUMENT...] execute a program, and record what it prints

A record is a text file in docs/runs/benchmarks: a head of what it was measured on and how, an empty
line, and the output as it is. It is written when the program has ended well. A test fails while the
committed page differs from the records.
"""

import ast
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tollfree.errors import ExitCode, FileError, LabError, NotFoundError
from tollfree.history import commit
from tollfree.host import fingerprint
from tollfree.paths import CHECKOUT
from tollfree.postgres import chosen_installation

PROGRAMS = CHECKOUT / "lab" / "benchmarks"
RECORDS = CHECKOUT / "docs" / "runs" / "benchmarks"

INTRODUCTION = """\
# What the benchmarks have printed

The programs in `lab/benchmarks` answer single questions. Each one is here with what it asks, and
with what it printed when it was last recorded, word for word. A commit with a `+` had been changed.
On a quiet machine `make bench` records all programs, and `python -m tollfree.benchmarks NAME` one.
Without a name it makes this page of the records.
"""


def page(programs: Path = PROGRAMS, records: Path = RECORDS) -> str:
    """Return the whole page as Markdown."""
    sections = (_section(program, records) for program in sorted(programs.glob("*.py")))
    return "\n".join([INTRODUCTION, *sections])


def _section(program: Path, records: Path) -> str:
    path = _record_of(program, records)
    shown = "Not recorded yet.\n"
    if path.exists():
        shown = f"```text\n{path.read_text(encoding='utf-8')}```\n"
    return f"## {program.stem}\n\n{question(program)}\n\n{shown}"


def question(program: Path) -> str:
    """Return a program's question: the first paragraph of its docstring."""
    text = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def record(program: Path, words: list[str], records: Path = RECORDS) -> int:
    """Execute a program with these arguments, show what it prints, and record it if its exit
    status, which is returned, is 0."""
    text = "\n".join([*_head(program, words), "", ""])
    with subprocess.Popen(
        [sys.executable, program, *words],
        encoding="utf-8",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            text += line
    if process.returncode == 0:
        _write(_record_of(program, records), text)
    return process.returncode


def _head(program: Path, words: list[str]) -> list[str]:
    """Return the lines of what a program is measured on, and how."""
    host = fingerprint(CHECKOUT)
    return [
        f"date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"PostgreSQL: {chosen_installation().version}",
        f"processor: {host['cpu']}, {host['cores']} cores",
        f"commit: {commit() or 'unknown'}",
        f"command: {' '.join(['python', f'lab/benchmarks/{program.name}', *words])}",
    ]


def _record_of(program: Path, records: Path) -> Path:
    return records / f"{program.stem}.txt"


def _write(path: Path, text: str) -> None:
    """Write a record, whole or not at all."""
    temporary = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise FileError(
            f"cannot write {path}: {error.strerror}", "Free space there, or make it writable."
        ) from error


def _program(name: str) -> Path:
    """Return the program of that name; raises `NotFoundError` when there is none."""
    path = PROGRAMS / f"{name}.py"
    if not path.exists():
        known = ", ".join(sorted(path.stem for path in PROGRAMS.glob("*.py")))
        raise NotFoundError(f"there is no benchmark {name!r}", f"There are: {known}.")
    return path


def main() -> int:
    """Print the page, or record the program that is named; return the exit status."""
    try:
        if len(sys.argv) > 1:
            return record(_program(sys.argv[1]), sys.argv[2:])
        sys.stdout.write(page())
    except LabError as error:
        sys.stderr.write(f"{error.message}\n  {error.remedy}\n")
        return error.code
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
