"""Folders as one table, against stock's tables of their files, one after the other.

A folder has one to four files of one drawn table, each drawn anew: with its own errors, line ends
and last line. Stock's side is a view, UNION ALL of a table for each file in the order of their
names. Errors name the file, so the same file must fail at the same place.
"""

import random
import re
from dataclasses import dataclass, replace
from pathlib import Path

from oracle.compare import ORDERED, Allowance, Comparer
from oracle.side import Outcome

from filediff.cases import Case, draw_case
from filediff.differ import CLEAN_UP, allowances, set_all
from filediff.files import draw_file
from filediff.statements import Rank, Statement
from filediff.world import FileWorld

FILES_MAX = 4
STOPS_EARLY = re.compile(r"\b(min|max)\(")
"""Of a view of several tables stock may read one row for these, as of a table with an index, and
does not meet the error of a later row."""
NO_ORDER = re.compile(r"GROUP BY|DISTINCT|JOIN|UNION|INTERSECT|EXCEPT|_agg\(|row_number| t \w+, t ")
"""What may come in another order where the plan is another one."""
OF_NO_VIEW = re.compile(r"tableoid|ctid|xmin|TABLESAMPLE|FOR UPDATE|FOR SHARE|ONLY|parent")
VIEW_CLEAN_UP = "DEALLOCATE ALL; RESET ALL; DROP VIEW IF EXISTS t; " + "; ".join(
    f"DROP FOREIGN TABLE IF EXISTS t{number}" for number in range(FILES_MAX)
)
FOLDER_ALLOWANCES = (
    Allowance(
        "CONTEXT",
        re.compile(r'COPY t, file "[^"]*/(\d)"'),
        r"COPY t\1",
        "A table of many files names the file, as stock names the table of that file.",
    ),
    Allowance(
        "CONTEXT",
        re.compile(r'\n?file "[^"]*"$'),
        "",
        "It names the file whose opening failed, too.",
    ),
)


@dataclass(frozen=True)
class Folder:
    """A case whose table has several files."""

    case: Case
    contents: tuple[bytes, ...]

    def __str__(self) -> str:
        return "\n".join(
            (
                *(f"file {i}: {content[:2000]!r}" for i, content in enumerate(self.contents)),
                self.case.table.create("/the/folder") + ";",
                "; ".join(set_all(self.case.settings + self.case.own_settings)) + ";",
            )
        )


class Folders:
    """Runs folders through both sides of a world."""

    def __init__(self, world: FileWorld, seed: int) -> None:
        self._world = world
        self._seed = seed
        self._comparer = Comparer((*allowances(world.wrapper), *FOLDER_ALLOWANCES))
        self.folders = self.statements = self.errors = 0

    def draw(self, number: int) -> Folder | None:
        """Draw the folder of this number; None where rows are skipped: stock tells how many for
        each of its tables."""
        case = draw_case(self._seed, number, self._world.server)
        if case.table.dialect.options.get("on_error") == "ignore":
            return None
        rng = random.Random(f"{self._seed}:{number}:folder")
        table = replace(case.table, dropped=None, by_program=False, is_partition=False)
        short = [draw_file(rng, table) for _ in range(rng.randint(0, FILES_MAX - 1))]
        contents = [case.content, *(file.content for file in short if not file.is_long)]
        rng.shuffle(contents)
        statements = tuple(s for s in case.statements if _is_asked(s))
        return Folder(replace(case, table=table, statements=statements), tuple(contents))

    def difference(self, folder: Folder) -> str:
        """Return in what the sides differ, an empty string when in nothing."""
        self.folders += 1
        path = self._write(folder)
        self._ask(CLEAN_UP, CLEAN_UP)
        try:
            return self._difference(folder, path)
        finally:
            self._ask(VIEW_CLEAN_UP, CLEAN_UP)

    def _difference(self, folder: Folder, path: Path) -> str:
        case = folder.case
        made = (_of_stock(case, path, len(folder.contents)), _of_ours(case, path))
        expected, actual = self._ask(*made)
        if expected.results[-1].error or actual.results[-1].error:
            # What a validator refuses it refuses with every name; the words are stock's.
            both = bool(expected.results[-1].error) and bool(actual.results[-1].error)
            return "" if both else f"made by one side only: {expected} {actual}"
        for statement in case.statements:
            expected, actual = self._ask(statement.sql, statement.sql)
            self.statements += 1
            self.errors += any(result.error for result in expected.results)
            if found := self._compare(statement, expected, actual):
                return f"{statement.sql}\n{found}"
        return ""

    def _write(self, folder: Folder) -> Path:
        path = self._world.folder / "folder"
        if not path.exists():
            self._world.own_folder(path)
        for old in path.iterdir():
            old.unlink()
        for number, content in enumerate(folder.contents):
            self._world.file(f"folder/{number}").write_bytes(content)
        return path

    def _ask(self, stock: str, ours: str) -> tuple[Outcome, Outcome]:
        sides = self._world.sides()
        for side, text in zip(sides, (stock, ours), strict=True):
            side.send(text)
        return sides[0].receive(), sides[1].receive()

    def _compare(self, statement: Statement, expected: Outcome, actual: Outcome) -> str:
        has_error = [any(result.error for result in x.results) for x in (expected, actual)]
        if STOPS_EARLY.search(statement.sql) and has_error == [False, True] and not actual.lost:
            return ""
        is_loose = NO_ORDER.search(statement.sql) or statement.rank is not Rank.ORDERED
        if is_loose and all(has_error) and not (expected.lost or actual.lost):
            return ""
        mark = "" if is_loose else ORDERED
        return self._comparer.difference(mark, expected, actual)


def _is_asked(statement: Statement) -> bool:
    """Return whether a statement can be asked of a view as of a table."""
    return statement.sql.startswith("SELECT") and not OF_NO_VIEW.search(statement.sql)


def _of_stock(case: Case, path: Path, count: int) -> str:
    """Return what makes a view of a table for each file."""
    tables = [
        case.table.create(f"{path}/{number}").replace(" TABLE t (", f" TABLE t{number} (", 1)
        for number in range(count)
    ]
    # Of a view's tables alone stock looks for conditions that contradict each other.
    tables.insert(0, "SET constraint_exclusion = off")
    union = " UNION ALL ".join(f"SELECT * FROM t{number}" for number in range(count))
    return "; ".join((*set_all(case.settings), *tables, f"CREATE VIEW t AS {union}"))


def _of_ours(case: Case, path: Path) -> str:
    """Return what makes a table of the folder."""
    table = case.table.create(str(path)).replace("OPTIONS (filename ", "OPTIONS (filenames ", 1)
    return "; ".join((*set_all(case.settings + case.own_settings), table))
