"""Queries of a drawn table, and what of its rows each of them returns."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from filediff.statements import PARALLEL

from filerecords.rules import Table

COUNT = "*"
"""Stands for count(*) among the columns that are counted."""
OWN = "{wrapper}."
KEPT = {
    OWN + "record_index": "on",
    OWN + "column_cache": "on",
    OWN + "debug_record_index_age": "0",
}
"""Keeps an index and the converted columns, of a file that has only just been written, too."""
WORKERS = PARALLEL | {OWN + "debug_parallel_chunk_size": "'1kB'"}
COPYS_PARSER = {OWN + "fast_scan": "off"}
SCALAR = {OWN + "debug_kernel": "scalar"}
EXPLAIN = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "


@dataclass(frozen=True)
class Question:
    """A query of the table `t`, and the session's settings."""

    sql: str
    output: tuple[str, ...]
    """The columns of the result; those that are counted, if it counts."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """`{wrapper}` stands for the wrapper's name."""
    needed: frozenset[str] = frozenset()
    """The columns that it uses, all if none is named."""
    counts: bool = False
    at_least: tuple[str, int] | None = None
    """A column, and which value it must have at least."""
    part: str = ""
    """The value of the column `part` that a file's path must have."""
    by_workers: bool = False
    explains: bool = False
    times: int = 1
    """How often it is asked: what the first one keeps the next one uses."""

    def needs(self, column: str) -> bool:
        """Return whether the query uses a column, so that its values are checked."""
        return not self.needed or column in self.needed

    def output_of(self, values: Mapping[str, str | None]) -> list[tuple[str | None, ...]]:
        """Return the row that the query makes of one of the table, or none."""
        if self.counts:
            return []
        if self.at_least:
            name, least = self.at_least
            value = values[name]
            if value is None or int(value) < least:
                return []
        return [tuple(values[name] for name in self.output)]


def draw_questions(rng: random.Random, table: Table) -> tuple[Question, ...]:
    """Draw queries of a table: all of its rows first, and some of the others."""
    names = tuple(column.name for column in table.columns)
    whole = Question("SELECT * FROM t", names)
    counted = ", ".join(f"count({name})" for name in names)
    others = [
        Question(whole.sql, names, COPYS_PARSER),
        Question(whole.sql, names, KEPT, times=2),
        Question(whole.sql, names, WORKERS, by_workers=True),
        Question("SELECT count(*) FROM t", (COUNT,), counts=True),
        Question(f"SELECT count(*), {counted} FROM t", (COUNT, *names), counts=True),
        Question(EXPLAIN + whole.sql, names, explains=True),
        Question(EXPLAIN + whole.sql, names, KEPT, explains=True, times=2),
        *_of_some_columns(rng, table),
        *_of_some_rows(rng, table, names),
    ]
    chosen = rng.sample(others, min(4, len(others)))
    return (whole, *(_with_settings(rng, question) for question in chosen))


def _of_some_columns(rng: random.Random, table: Table) -> list[Question]:
    """Return a query of some columns. Of a file that has none of them it would be left open which
    values are checked."""
    if table.rules.by_name:
        return []
    in_files = [column.name for column in table.file_columns]
    some = rng.sample(in_files, rng.randint(1, len(in_files)))
    listed = ", ".join(some)
    return [
        Question(f"SELECT {listed} FROM t", tuple(some), needed=frozenset(some)),
        Question(
            f"SELECT {', '.join(f'count({name})' for name in some)} FROM t",
            tuple(some),
            needed=frozenset(some),
            counts=True,
        ),
    ]


def _of_some_rows(rng: random.Random, table: Table, names: tuple[str, ...]) -> list[Question]:
    found = []
    integers = [c.name for c in table.file_columns if c.type in ("integer", "bigint")]
    if integers:
        name, least = rng.choice(integers), rng.randint(-3, 6)
        query = f"SELECT * FROM t WHERE {name} >= {least}"
        found.append(Question(query, names, at_least=(name, least)))
    if "part" in names:
        part = str(rng.randint(1, 3))
        query = f"SELECT * FROM t WHERE part = {part}"
        found.append(Question(query, names, part=part))
    return found


def _with_settings(rng: random.Random, question: Question) -> Question:
    """Have some questions answered another way."""
    if question.settings or rng.random() < 0.5:
        return question
    return replace(question, settings=rng.choice((COPYS_PARSER, SCALAR, KEPT)))
