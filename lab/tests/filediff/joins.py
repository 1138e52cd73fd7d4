"""Joins whose rows a scan drops before they are made, by what a hash join above tells it.

Queries are drawn: joins of files with files and tables, of every type, on keys of every type that
can be told of, with nulls, duplicates and odd spellings in them; alone, executed again and again
for an outer row, or by a cursor; with little memory, and by several processes. Each is answered by
stock, and by the candidate with join filters and without. The last two have one plan, so that rows
in order and errors must be equal. EXPLAIN says how many rows were dropped.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from oracle.compare import ORDERED, Comparer
from oracle.side import Outcome, Side

from filediff.files import render
from filediff.statements import PARALLEL
from filediff.tables import Dialect, options_clause
from filediff.workers import ALLOWANCES
from filediff.world import FileWorld

SWITCH = "tollfree_file_fdw.join_filters"
KEPT = {
    "tollfree_file_fdw.record_index": ("on", "on", "off"),
    "tollfree_file_fdw.column_cache": ("off", "off", "off", "on"),
    "tollfree_file_fdw.debug_record_index_age": ("0",),
}
"""An index is made of a file at once, and blocks are skipped by it later."""
DROPPED = "Rows Removed by Hash Join"
COLUMNS = (
    "id integer, s smallint, i integer, b bigint, d date, ts timestamp,"
    " t text, v varchar(9), c char(6), n numeric(8,2)"
)
FILES = {"f": 4000, "g": 1500, "w": 4000, "low": 2000, "high": 2000}
"""Rows of each; the last two are the partitions of `p`. One value near the end of `w` is wrong."""
PLAIN_FILES = ("f", "low")
"""Blocks can be skipped where each value is spelt plainly."""
LAZY = ("g", "high")
"""Of the candidate's. They have no wrong value, which might be passed over."""
TABLES = {"dim": 60, "mid": 1200, "none": 0}
VALUES = {"dim": 40, "mid": 90}
"""Keys of a table are below that, those of other tables below `KEYS`."""
KEYS = 300
NULLS = 0.1
ODD = 0.02

NUMBERS = ("s", "i", "b")
TEXTS = ("t", "v")
OTHERS = ("d", "ts", "c")
ORDERED_KEYS = ("id",)
"""A file has its rows by this one, so that most blocks have no row of a small table."""
KEY_COLUMNS = ("s", "i", "b", "d", "ts", "t", "v", "c")
JOINS = (*["JOIN"] * 7, "LEFT JOIN", "RIGHT JOIN", "RIGHT JOIN", "FULL JOIN")
PLAIN, AGAIN, CURSOR = "alone", "executed again", "a cursor"
KINDS = (PLAIN, PLAIN, AGAIN, CURSOR)
SETTINGS = {
    "enable_nestloop": ("off", "off", "off", "on"),
    "enable_mergejoin": ("off", "off", "off", "on"),
    "enable_hashagg": ("on", "off"),
    "enable_memoize": ("on", "off"),
    "enable_material": ("on", "off"),
    "enable_parallel_hash": ("off", "off", "on"),
    "enable_partitionwise_join": ("off", "on"),
    "work_mem": ("'4MB'", "'64kB'"),
}
SHARED = (
    "SET search_path = joins; SET DateStyle = 'ISO'; SET client_min_messages = warning;"
    " SET jit = off; SET hash_mem_multiplier = 1"
)


@dataclass(frozen=True)
class Question:
    """A query, and the settings of the candidate."""

    kind: str
    query: str
    """Without the cursor around it."""
    statement: str
    settings: tuple[tuple[str, str], ...]
    is_parallel: bool
    is_any: bool
    """Whether a LIMIT lets any rows through."""

    def __str__(self) -> str:
        made = "".join(f"SET {name} = {value};\n" for name, value in self.settings)
        return f"{made}{self.statement}"


class Joins:
    """Files and tables to be joined, on both sides."""

    def __init__(self, world: FileWorld, seed: int) -> None:
        """Write the files and make the tables."""
        self._world = world
        self._seed = seed
        self._comparer = Comparer(ALLOWANCES)
        self.counts: Counter[str] = Counter()
        """Of questions, and of those in which rows were dropped, by kind and by type of join."""
        made = [f"RESET ALL; DROP SCHEMA IF EXISTS joins CASCADE; CREATE SCHEMA joins; {SHARED}"]
        rng = random.Random(seed)
        made += [self._file(rng, name, rows) for name, rows in FILES.items()]
        made += [self._table(rng, name, rows) for name, rows in TABLES.items()]
        made.append(
            f"CREATE TABLE p ({COLUMNS}) PARTITION BY RANGE (id);"
            " ALTER TABLE p ATTACH PARTITION low FOR VALUES FROM (0) TO (2000);"
            " ALTER TABLE p ATTACH PARTITION high FOR VALUES FROM (2000) TO (4000);"
            " ANALYZE dim, mid, f, g, p"
        )
        for side in world.sides():
            _execute(side, "; ".join(made))
        lazy = [f"ALTER FOREIGN TABLE {name} OPTIONS (ADD lazy 'true')" for name in LAZY]
        _execute(world.sides()[1], "; ".join(lazy))

    def questions(self, count: int) -> Iterator[Question]:
        """Draw so many questions."""
        for number in range(count):
            yield self._draw(random.Random(f"{self._seed}:{number}"))

    def difference(self, question: Question) -> str:
        """Return in what the candidate's answers differ; empty when in nothing."""
        stock, candidate = self._world.sides()
        set_ = "; ".join(f"SET {name} = {value}" for name, value in question.settings)
        _execute(stock, f"RESET ALL; {SHARED}")
        expected = _ask(stock, question.statement)
        answers = []
        for value in ("off", "on"):
            _execute(candidate, f"RESET ALL; {SHARED}; {set_}; SET {SWITCH} = {value}")
            answers.append(_ask(candidate, question.statement))
        self.counts["questions"] += 1
        without, told = answers
        has_error = [_has_error(outcome) for outcome in (expected, without, told)]
        self.counts["errors"] += all(has_error)
        # One plan, one order of rows and errors; of workers any comes first.
        if not (question.is_parallel and (question.is_any or all(has_error[1:]))):
            mark = "" if question.is_parallel else ORDERED
            if reason := self._comparer.difference(mark, without, told):
                return f"without: {reason}"
        # Another plan may come to a LIMIT, or to an error, sooner or later.
        if any(has_error):
            return ""
        self._count(question, candidate)
        return "" if question.is_any else self._comparer.difference("", expected, told)

    def missing(self) -> list[str]:
        """Return what has not been met often: kinds of queries and types of joins."""
        needed = (
            *("Inner", "Semi", "Right", PLAIN, AGAIN, CURSOR, "by workers", "several filters"),
            *("partitions", "several batches", "a shared table", "blocks skipped"),
        )
        return [what for what in needed if self.counts[what] < self.counts["questions"] / 100]

    def _file(self, rng: random.Random, name: str, rows: int) -> str:
        first = 2000 if name == "high" else 0
        wrong = 3700 if name == "w" else None
        path = self._world.file(f"joins_{name}")
        ids = range(first, first + rows)
        path.write_bytes(_content(rng, ids, KEYS, wrong, is_plain=name in PLAIN_FILES))
        options = options_clause({"filename": str(path), "format": "csv"})
        return f"CREATE FOREIGN TABLE {name} ({COLUMNS}) SERVER files {options}"

    def _table(self, rng: random.Random, name: str, rows: int) -> str:
        path = self._world.file(f"joins_{name}")
        path.write_bytes(_content(rng, range(rows), VALUES.get(name, KEYS), None))
        return f"CREATE TABLE {name} ({COLUMNS}); COPY {name} FROM '{path}' (FORMAT csv)"

    def _draw(self, rng: random.Random) -> Question:
        kind = rng.choice(KINDS)
        is_parallel = rng.random() < 0.3
        is_any = rng.random() < 0.15
        query = _query(rng, is_any=is_any)
        if kind == AGAIN:
            query = (
                "SELECT * FROM (VALUES (0), (2), (1), (2), (7)) x (w),"
                f" LATERAL ({_query(rng, is_any=is_any, outer='x.w')}) y"
            )
        statement = query
        if kind == CURSOR:
            steps = "; ".join(f"FETCH {rng.choice((1, 2, 50))} FROM c" for _ in range(4))
            statement = f"BEGIN; DECLARE c CURSOR FOR {query}; {steps}; FETCH ALL FROM c; COMMIT"
            is_any = True
        drawn = {name: rng.choice(values) for name, values in SETTINGS.items()}
        drawn |= PARALLEL if is_parallel else {"max_parallel_workers_per_gather": "0"}
        for name, values in self._world.server.own_settings:
            if name == SWITCH or name in KEPT:
                continue
            drawn[name] = values[-1] if "chunk" in name else rng.choice((*values[:1] * 12, *values))
        drawn |= {name: rng.choice(values) for name, values in KEPT.items()}
        return Question(kind, query, statement, tuple(drawn.items()), is_parallel, is_any)

    def _count(self, question: Question, candidate: Side) -> None:
        """Let the candidate tell for which joins rows were dropped."""
        outcome = _ask(candidate, f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) {question.query}")
        (row,) = outcome.results[0].rows
        (plan,) = json.loads(row[0] or b"")
        told = set(_told(plan["Plan"], []))
        self.counts.update(told)
        if not told:
            return
        self.counts["with rows dropped"] += 1
        self.counts[question.kind] += 1
        self.counts["by workers"] += question.is_parallel


def _told(node: Mapping[str, Any], joins: list[Mapping[str, Any]]) -> Iterator[str]:
    """Tell of the scans in a plan that have dropped rows, and of the joins that they do it for."""
    if node.get(DROPPED, 0) > 0:
        yield str(joins[-1]["Join Type"])
        if len(joins) == 1 or "join filters" not in node["Fast Path"]:
            yield from _told_of_table(joins[-1])
        if "join filters" in node["Fast Path"]:
            yield "several filters"
        if node["Relation Name"] in ("low", "high"):
            yield "partitions"
        if "for joins" in node.get("Record Index", ""):
            yield "blocks skipped"
    if node["Node Type"] == "Hash Join":
        joins = [*joins, node]
    for child in node.get("Plans", ()):
        yield from _told(child, joins)


def _told_of_table(join: Mapping[str, Any]) -> Iterator[str]:
    (table,) = (child for child in join["Plans"] if child["Node Type"] == "Hash")
    if table.get("Hash Batches", 1) > 1:
        yield "several batches"
    if join["Parallel Aware"]:
        yield "a shared table"


def _query(rng: random.Random, *, is_any: bool, outer: str | None = None) -> str:
    """Draw a query; `outer` is a value of an outer row that it has to use."""
    source = [rng.choice(("f a",) * 4 + ("g a", "p a", "p a", "w a"))]
    names = ["a"]
    for name in "bcd"[: rng.choice((0, 1, 1, 1, 2, 2, 3))]:
        source.append(_join(rng, name, rng.choice(names)))
        names.append(name)
    where = [_condition(rng, names) for _ in range(rng.choice((0, 0, 1, 2)))]
    if len(names) == 1 or rng.random() < 0.25:
        where.append(_subquery(rng, rng.choice(names)))
    if outer is not None:
        name = rng.choice(names)
        where.append(
            rng.choice(
                (
                    f"{name}.id % 8 > {outer}",
                    f"{name}.i > {outer} * 10",
                    f"{name}.id > 10 / ({outer} - {rng.choice((3, *[9999] * 4))})",
                )
            )
        )
    clause = f" WHERE {' AND '.join(where)}" if where else ""
    if is_any:
        columns = ", ".join(f"{name}.id" for name in names)
        return f"SELECT {columns}, a.t, a.n FROM {' '.join(source)}{clause} LIMIT 7"
    columns = ", ".join(f"sum({name}.id), count({name}.t), max({name}.v)" for name in names)
    return f"SELECT count(*), {columns}, sum(a.n) FROM {' '.join(source)}{clause}"


def _join(rng: random.Random, name: str, other: str) -> str:
    table = rng.choice(("dim", "dim", "dim", "mid", "mid", "g", "none"))
    kind = rng.choice(JOINS)
    conditions = [_equality(rng, other, name)]
    if rng.random() < 0.25:
        conditions.append(_equality(rng, other, name))
    if kind != "FULL JOIN" and rng.random() < 0.2:
        conditions.append(
            rng.choice(
                (
                    f"{other}.id > {name}.id",
                    f"{other}.id / ({name}.id + 1) >= 0",
                    f"{other}.id > (SELECT 10 / count(*) FROM {rng.choice(('dim', 'none'))})",
                )
            )
        )
    return f"{kind} {table} {name} ON {' AND '.join(conditions)}"


def _equality(rng: random.Random, one: str, other: str) -> str:
    keys = rng.choice((NUMBERS, TEXTS, OTHERS, ORDERED_KEYS))
    left = rng.choice(keys)
    right = left if keys is OTHERS else rng.choice(keys)
    if keys is ORDERED_KEYS:
        right = rng.choice(("id", "id", "id", *NUMBERS))
    if rng.random() < 0.05:
        left = right = "n"
    return f"{one}.{left} = {other}.{right}"


def _condition(rng: random.Random, names: list[str]) -> str:
    name = rng.choice(names)
    return rng.choice(
        (
            f"{name}.n > {rng.randint(0, 60)}",
            f"{name}.t LIKE 'k1%'",
            f"{name}.id % 3 = 1",
            f"{name}.i IS NOT NULL",
            f"10 / ({name}.id - {rng.choice((3, *[9999] * 4))}) < 2",
        )
    )


def _subquery(rng: random.Random, name: str) -> str:
    table = rng.choice(("dim", "dim", "mid", "g"))
    key = rng.choice((*NUMBERS, "t", "d"))
    other = rng.choice(NUMBERS) if key in NUMBERS else key
    more = rng.choice(("", "", f" AND e.id < {name}.id"))
    return rng.choice(
        (
            f"EXISTS (SELECT FROM {table} e WHERE e.{other} = {name}.{key}{more})",
            f"{name}.{key} IN (SELECT {other} FROM {table})",
            f"NOT EXISTS (SELECT FROM {table} e WHERE e.{other} = {name}.{key}{more})",
        )
    )


def _content(
    rng: random.Random, ids: range, keys: int, wrong: int | None, *, is_plain: bool = False
) -> bytes:
    """Draw the rows of a file, with all spellings of CSV unless it is plain."""
    dialect = Dialect(options={"format": "csv"})
    lines = []
    for number in ids:
        row = [str(number), *(_key(rng, column, keys) for column in KEY_COLUMNS)]
        row.append("wrong" if number == wrong else f"{rng.randint(0, 9900) / 100:.2f}")
        if is_plain:
            lines.append(",".join(value or "" for value in row).encode() + b"\n")
        else:
            lines.append(render(rng, tuple(row), dialect))
    return b"".join(lines)


def _key(rng: random.Random, column: str, keys: int) -> str | None:
    """Draw a key, often one that is in all tables."""
    value = rng.randrange(keys if rng.random() < 0.8 else min(keys, 30))
    if rng.random() < NULLS:
        return None
    if column in NUMBERS:
        number = value - 20 if column == "s" or rng.random() < 0.9 else value * 4_000_000
        return f" {number}" if rng.random() < ODD else str(number)
    if column in ("d", "ts"):
        return f"2001-{1 + value % 12:02}-{1 + value // 12:02}" + " 10:00:00" * (column == "ts")
    return f"k{value}" + " " * (column == "c" and value % 3)


def _has_error(outcome: Outcome) -> bool:
    return bool(outcome.lost) or any(result.error for result in outcome.results)


def _ask(side: Side, statement: str) -> Outcome:
    """Ask, and leave no transaction."""
    side.send(statement)
    outcome = side.receive()
    if "DECLARE" in statement and not outcome.lost:
        side.send("ROLLBACK")
        side.receive()
    return outcome


def _execute(side: Side, statement: str) -> None:
    outcome = _ask(side, statement)
    if _has_error(outcome):
        raise RuntimeError(f"{statement} failed: {outcome}")
