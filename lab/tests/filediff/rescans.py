"""Scans that start again within a query, after what made them leave the fast path.

A scan that has left it holds more than one that has not: where COPY's parser stands, groups that
are PostgreSQL's own, chunks of a file that several processes share. So kinds of files that a
wrapper cannot read all by itself are crossed with kinds of queries that execute a part of theirs
several times; settings and the part itself are drawn. Stock is the oracle. What EXPLAIN says of the
candidate tells which scans have started again, and after what.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from oracle.compare import Comparer
from oracle.side import Outcome, Side

from filediff.statements import PARALLEL
from filediff.tables import options_clause
from filediff.workers import ALLOWANCES
from filediff.world import STOCK, FileWorld

LINES = 1500
KEYS = 7
ROUNDS = 4
"""How often each kind of file meets each kind of query, one of that read by one process."""
COLUMNS = {
    "id": "integer",
    "k": "integer",
    "a": "numeric(8,2)",
    "b": "numeric(18,4)",
    "d": "date",
    "t": "text",
}
PIPES = {"delimiter": "|", "encoding": "UTF8"}
CSV = {"format": "csv", **PIPES}


@dataclass(frozen=True)
class Fallback:
    """A kind of file, or of a table on it."""

    words: str
    """What EXPLAIN says of it, a pattern."""
    column: str = "a"
    """The one that queries must ask for."""
    odd: Mapping[str, str] = field(default_factory=dict)
    """Texts in the place of a column's usual ones, in some of the lines."""
    line: str | None = None
    """In the place of such a line."""
    lines: range = range(19, LINES, 20)
    """Which lines those are."""
    options: Mapping[str, str] = field(default_factory=lambda: PIPES)
    line_end: str = "\n"
    codec: str = "utf-8"
    types: Mapping[str, str] = field(default_factory=dict)
    """Of columns that have another one."""
    aggregate: str = ""
    """The one that it takes, if not any will do."""
    key: str = "k"
    by_program: bool = False
    is_shared: bool = True
    """Whether several processes meet it, each in a part of the file."""
    is_wrong: bool = False
    """Whether it is an error."""
    since: int = 15
    """The first major version with it."""


AT_END = range(LINES - 300, LINES - 299)
FALLBACKS = {
    "nothing odd": Fallback("scan"),
    "an input function's values": Fallback("scan", odd={"a": "1e1", "d": "Jan 5 2001"}),
    "NaN": Fallback("not finite", odd={"a": "NaN"}, lines=range(2, LINES, 3), aggregate="sum(a)"),
    "one NaN": Fallback("not finite", odd={"a": "NaN"}, lines=AT_END, aggregate="sum(a)"),
    "an overflow": Fallback(
        "an overflow", "b", {"b": "99999999999999.9999"}, aggregate="sum(b * b)"
    ),
    "many groups": Fallback("groups do not fit", key="id", is_shared=False),
    "an escaped byte": Fallback("an escaped byte", "t", {"t": "\\303\\251"}),
    "one escaped byte": Fallback("an escaped byte", "t", {"t": "\\303\\251"}, lines=AT_END),
    "another encoding": Fallback(
        "to be converted",
        "t",
        {"t": "é"},
        options={"delimiter": "|", "encoding": "LATIN1"},
        codec="latin-1",
        is_shared=False,
    ),
    "a marker": Fallback("scan", line="\\.", lines=AT_END),
    "carriage returns": Fallback("line end", options=CSV, line_end="\r"),
    "a volatile CHECK": Fallback(
        "volatile", types={"a": "volatile"}, aggregate="sum(a)", is_shared=False
    ),
    "a program": Fallback("none", by_program=True, is_shared=False),
    "skipped rows": Fallback(
        "scan", odd={"a": "x"}, options={**PIPES, "on_error": "ignore"}, is_shared=False, since=18
    ),
    "a wrong value": Fallback("", odd={"a": "x"}, lines=AT_END, is_wrong=True),
    "missing fields": Fallback("", line="1|2", lines=AT_END, is_wrong=True),
    "an open quote": Fallback("", odd={"t": '"x'}, lines=AT_END, options=CSV, is_wrong=True),
    "mixed line ends": Fallback("", odd={"t": "x\r"}, lines=AT_END, options=CSV, is_wrong=True),
}
"""All that a wrapper's scan can meet, but what takes long: a record of more than 64 MB."""

WHERES = ("", "", "", " WHERE id > 100", " WHERE k <> 3", " WHERE length(t) < 9")
AGGREGATES = ("sum(a)", "max(a)", "avg(b)", "sum(b * b)", "max(d)", "count(t)", "sum(length(t))")
GROUPS = (
    "SELECT {key} AS k, count({column}) AS c, {aggregate} AS s FROM {table}{where} GROUP BY {key}",
    "SELECT {key} AS k, count({column}) AS c, {aggregate} AS s FROM {table}{where} GROUP BY {key}"
    " ORDER BY 1",
    "SELECT {key} AS k, count({column}) AS c, {aggregate} AS s FROM {table}{where} GROUP BY {key}"
    " HAVING count(*) > 0 ORDER BY 1",
)
ONE_GROUP = "SELECT 1 AS k, count({column}) AS c, {aggregate} AS s FROM {table}{where}"
AGGREGATIONS = (*GROUPS, GROUPS[1] + " LIMIT 3", ONE_GROUP)
PARTS = (
    *AGGREGATIONS,
    "SELECT DISTINCT {key} AS k, {key} % 3 AS c, d AS s FROM {table}{where}",
    "SELECT k, id AS c, {column} AS s FROM {table}{where}",
)
"""Parts of queries, each of columns k, c and s, to be executed several times."""

OUTER = "(VALUES (0), (1), (2)) x (v)"
SCALAR = f"SELECT v, (SELECT sum(c) FROM ({{part}} OFFSET 0) y WHERE c > v) FROM {OUTER}"
LIMITED = (
    "SELECT v, (SELECT count({column}) FROM (SELECT id, {column} FROM {table} LIMIT v * 480) y"
    " WHERE id > 0) FROM (VALUES (1), (3), (2), (4)) x (v)"
)
EXISTS = f"SELECT v, EXISTS (SELECT FROM ({{part}} OFFSET 0) y WHERE k > v) FROM {OUTER}"
EACH = "a nested loop of each process"
QUERIES = {
    "a subquery": SCALAR,
    "two subqueries": f"SELECT v, (SELECT sum(c) FROM ({{part}} OFFSET 0) y WHERE c > v),"
    f" (SELECT max(s::text) FROM ({{part}} OFFSET 0) y WHERE k >= v) FROM {OUTER}",
    "LATERAL": f"SELECT v, y.* FROM {OUTER} LEFT JOIN"
    " LATERAL (SELECT k + v, c, s FROM ({part} OFFSET 0) z WHERE k <> v) y ON true",
    "a nested loop": f"SELECT v, y.* FROM {OUTER} LEFT JOIN ({{part}} OFFSET 0) y ON c > v",
    "WHERE": f"SELECT v FROM {OUTER}"
    " WHERE (SELECT sum(c) FROM ({part} OFFSET 0) y WHERE k >= v) > 5",
    "EXISTS": EXISTS,
    "IN": f"SELECT v, v IN (SELECT k FROM ({{part}} OFFSET 0) y WHERE c >= v) FROM {OUTER}",
    "UNION ALL": "SELECT v, (SELECT sum(c) FROM"
    f" (({{low_part}}) UNION ALL ({{high_part}}) OFFSET 0) y WHERE c > v) FROM {OUTER}",
    "partitions": f"SELECT v, (SELECT sum(c) FROM ({{all_parts}} OFFSET 0) y WHERE c > v)"
    f" FROM {OUTER}",
    "another parameter": f"SELECT v, y.* FROM {OUTER}, LATERAL (SELECT {{key}}, count({{column}}),"
    " {aggregate} FROM {table} WHERE id % 5 <> v GROUP BY {key}) y",
    "another HAVING": f"SELECT v, y.* FROM {OUTER}, LATERAL (SELECT {{key}}, count({{column}}) + v,"
    " {aggregate} FROM {table} GROUP BY {key} HAVING count(*) > v * 214) y",
    "another LIMIT": LIMITED,
    "a recursion": "WITH RECURSIVE r (v, n) AS (SELECT 0, 0::numeric UNION ALL SELECT v + 1,"
    " (SELECT sum(c) FROM ({part} OFFSET 0) y WHERE c > r.v) FROM r WHERE v < 3) SELECT * FROM r",
    EACH: "SELECT v, k, dear(c), s FROM numbers LEFT JOIN ({group}) y ON c > v",
    "a recursive join": "WITH RECURSIVE r (v, n) AS (SELECT 1, 0::bigint UNION ALL SELECT v + 1, c"
    " FROM r JOIN ({group} OFFSET 0) y ON y.k = v WHERE v < 4) SELECT * FROM r",
}
FUNCTION = "a function that returns row by row"
CURSOR = "a cursor"
CURSORS = ("CURSOR", "SCROLL CURSOR", "NO SCROLL CURSOR", "CURSOR WITH HOLD")
MOVES = ("FETCH 1 FROM c", "MOVE 1 FROM c", "FETCH 2 FROM c", "FETCH ALL FROM c")
BACK = ("MOVE ABSOLUTE 0 FROM c", "FETCH BACKWARD 1 FROM c", "FETCH FIRST FROM c")
"""What a cursor does with any of the above, whose rows come in one order."""
KINDS = (*QUERIES, FUNCTION, CURSOR)

OBJECTS = """
CREATE TABLE numbers (v integer, filler text);
ALTER TABLE numbers ALTER filler SET STORAGE PLAIN;
INSERT INTO numbers SELECT i % 3, repeat('x', 4000) FROM generate_series(0, 11) i;
ANALYZE numbers;
CREATE FUNCTION dear(bigint) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE COST 100000
    AS 'BEGIN RETURN $1; END'
"""
"""A table of several blocks, to be scanned in parallel, and what makes that worth it."""
SHARED = (
    "SET search_path = rescans; SET DateStyle = 'ISO'; SET client_encoding = 'UTF8';"
    " SET client_min_messages = warning; SET work_mem = '64kB'; SET hash_mem_multiplier = 1;"
    " SET jit = off"
)
"""Of both sides. How often skipped rows are told depends on the plan. Memory is for few groups. A
node that is switched off makes plans look expensive up to 17: to compile them takes long."""
SETTINGS = {
    # A node that has all rows of a part, hashed or sorted, need not ask for them again.
    "enable_hashagg": ("off", "off", "off", "on"),
    "enable_sort": ("on", "on", "on", "off"),
    "enable_parallel_append": ("on", "off"),
    "enable_partitionwise_aggregate": ("on", "off"),
    "parallel_leader_participation": ("on", "on", "off"),
    "max_parallel_workers": ("8", "8", "8", "0"),
    # What keeps the rows of a part would keep it from being executed again.
    "enable_material": ("off",),
    "enable_memoize": ("off",),
}


@dataclass(frozen=True)
class Question:
    """A query about a kind of file, and the settings of the candidate."""

    fallback: str
    kind: str
    query: str
    """Without the cursor or function around it."""
    statement: str
    settings: tuple[tuple[str, str], ...]
    is_ordered: bool
    """Whether the file is read by one process, in its order."""

    def __str__(self) -> str:
        made = "".join(f"SET {name} = {value};\n" for name, value in self.settings)
        return f"{self.fallback}, {self.kind}:\n{made}{self.statement}"


class Rescans:
    """Foreign tables of all kinds, on both sides."""

    def __init__(self, world: FileWorld, seed: int) -> None:
        """Write the files and make the tables."""
        self._world = world
        self._seed = seed
        self._comparer = Comparer(ALLOWANCES)
        self.seen: Counter[tuple[str, str]] = Counter()
        """How often a scan has started again, after each fallback and in each kind of query, and
        who has read: `workers`, a `leader` who got no workers, or `one`, whose plan has none."""
        self.fallbacks = {
            name: fallback
            for name, fallback in FALLBACKS.items()
            if world.server.major >= fallback.since
        }
        made = [
            "RESET ALL; DROP SCHEMA IF EXISTS rescans CASCADE; CREATE SCHEMA rescans;"
            f" {SHARED};"
            " CREATE DOMAIN volatile AS numeric(8,2) CHECK (VALUE > random() - 1e6)",
            OBJECTS,
        ]
        for number, fallback in enumerate(self.fallbacks.values()):
            made += self._tables(f"t{number}", fallback)
        for side in world.sides():
            _execute(side, "; ".join(made))

    def questions(self) -> Iterator[Question]:
        """Draw the questions."""
        for name in self.fallbacks:
            for kind in KINDS:
                for drawn in range(ROUNDS):
                    rng = random.Random(f"{self._seed}:{name}:{kind}:{drawn}")
                    yield self._draw(rng, name, kind, drawn)

    def difference(self, question: Question) -> str:
        """Return in what the candidate's answer is not stock's; empty when in nothing."""
        stock, candidate = self._world.sides()
        base = f"RESET ALL; {SHARED}"
        set_ = "; ".join(f"SET {name} = {value}" for name, value in question.settings)
        _execute(stock, base)
        _execute(candidate, f"{base}; {set_}")
        expected, actual = (_ask(side, question.statement) for side in (stock, candidate))
        errors = [any(result.error for result in o.results) for o in (expected, actual)]
        if all(errors) and not question.is_ordered and not actual.lost:
            return ""
        if reason := self._comparer.difference("", expected, actual):
            return reason
        if self._world.wrapper != STOCK and not any(errors):
            self._count(question, candidate)
        return ""

    def missing(self) -> list[str]:
        """Return after which fallbacks, and in which queries, no scan has started again: one of
        several processes, and one of one."""
        several = Counter[str]()
        for (name, who), times in self.seen.items():
            several[name] += times if who in ("workers", "leader") else 0
        right = {name: one for name, one in self.fallbacks.items() if not one.is_wrong}
        return [
            *(name for name in (*right, *KINDS) if not self.seen[name, "one"]),
            *(() if self.seen[EACH, "each"] else (f"{EACH}, in parallel",)),
            *(
                f"{name}, in parallel"
                for name in right
                if right[name].is_shared and not several[name]
            ),
        ]

    def told(self) -> str:
        """Return how many scans have started again, and who has read."""
        readers = Counter[str]()
        for (name, who), times in self.seen.items():
            readers[who] += times if name in self.fallbacks else 0
        return ", ".join(f"{times} by {who}" for who, times in readers.most_common())

    def _tables(self, name: str, fallback: Fallback) -> list[str]:
        """Write three files, of all keys, of the lower and of the higher ones; return what makes
        their tables."""
        types = COLUMNS | dict(fallback.types)
        columns = ", ".join(f"{column} {kind}" for column, kind in types.items())
        made = []
        parts = {"": range(KEYS), "_low": range(3), "_high": range(3, KEYS)}
        for part, keys in parts.items():
            path = self._world.file(f"rescans_{name}{part}")
            path.write_bytes(_content(fallback, keys))
            source = {"program": f"cat {path}"} if fallback.by_program else {"filename": str(path)}
            options = options_clause({**source, **fallback.options})
            made.append(f"CREATE FOREIGN TABLE {name}{part} ({columns}) SERVER files {options}")
            if not fallback.is_wrong and not fallback.by_program:
                made.append(f"ANALYZE {name}{part}")
        made.append(f"CREATE TABLE {name}_parts ({columns}) PARTITION BY LIST (k)")
        for part, keys in list(parts.items())[1:]:
            values = ", ".join(map(str, keys))
            made.append(
                f"ALTER TABLE {name}_parts ATTACH PARTITION {name}{part} FOR VALUES IN ({values})"
            )
        return made

    def _draw(self, rng: random.Random, name: str, kind: str, drawn: int) -> Question:
        fallback = self.fallbacks[name]
        is_parallel = drawn % 3 != 1
        table = f"t{list(self.fallbacks).index(name)}"
        query = _query(rng, fallback, table, kind)
        statement = {CURSOR: _cursor, FUNCTION: _function}.get(kind, _itself)(rng, query)
        settings = self._settings(rng, is_parallel, shares_file=kind != EACH)
        return Question(name, kind, query, statement, settings, not is_parallel)

    def _settings(
        self, rng: random.Random, is_parallel: bool, shares_file: bool
    ) -> tuple[tuple[str, str], ...]:
        drawn = {name: rng.choice(values) for name, values in SETTINGS.items()}
        drawn |= PARALLEL if is_parallel else {"max_parallel_workers_per_gather": "0"}
        for name, values in self._world.server.own_settings:
            # Mostly as by default; a file that is shared out is so in the smallest chunks.
            is_set = "chunk" in name or ("parallel_scan" in name and not shares_file)
            drawn[name] = values[-1] if is_set else rng.choice((*values[:1] * 12, *values))
        return tuple(drawn.items())

    def _count(self, question: Question, candidate: Side) -> None:
        """Let the candidate tell which scans have started again."""
        words = re.compile(self.fallbacks[question.fallback].words)
        explained = question.query
        if question.kind == CURSOR:
            explained = f"DECLARE c CURSOR FOR {explained}"
        outcome = _ask(candidate, f"EXPLAIN (ANALYZE, FORMAT json) {explained}")
        (row,) = outcome.results[0].rows
        (plan,) = json.loads(row[0] or b"")
        for who in started_again(plan["Plan"], words):
            self.seen[question.fallback, who] += 1
            self.seen[question.kind, who] += 1


def started_again(
    node: Mapping[str, Any], words: re.Pattern[str], gather: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Tell of each scan in a plan that has started again, and has met such words, who reads."""
    if node["Node Type"] in ("Gather", "Gather Merge"):
        gather = node
    if words.search(node.get("Fast Path", "")):
        loops = node["Actual Loops"]
        if gather is None:
            who, again = "one", loops > 1
        elif node["Parallel Aware"]:
            who = "workers" if gather["Workers Launched"] else "leader"
            again = gather["Actual Loops"] > 1
        else:
            processes = gather["Workers Launched"] + 1
            who, again = "each", loops > gather["Actual Loops"] * processes
        if again:
            yield who
        return
    for child in node.get("Plans", ()):
        yield from started_again(child, words, gather)


def _query(rng: random.Random, fallback: Fallback, table: str, kind: str) -> str:
    """Draw a query of a kind; a cursor's has its rows in one order."""
    templates = {CURSOR: (SCALAR, EXISTS, LIMITED), FUNCTION: tuple(QUERIES.values())}
    template = rng.choice(templates.get(kind) or (QUERIES[kind],))
    # Rows that are returned one by one may end before an error.
    part = rng.choice(AGGREGATIONS if fallback.is_wrong or fallback.aggregate else PARTS)
    # The join of a recursion counts on one row for each key.
    group = rng.choice(GROUPS)
    common = {
        "column": fallback.column,
        "aggregate": fallback.aggregate or rng.choice(AGGREGATES),
        "key": fallback.key,
        "where": "" if fallback.is_wrong else rng.choice(WHERES),
    }

    def on(suffix: str, of: str) -> str:
        return of.format(table=table + suffix, **common)

    return template.format(
        table=table,
        part=on("", part),
        group=on("", group),
        low_part=on("_low", part),
        high_part=on("_high", part),
        all_parts=on("_parts", part),
        **common,
    )


def _itself(_: random.Random, query: str) -> str:
    return query


def _function(_: random.Random, query: str) -> str:
    """Let a function ask that is executed row by row: by a parallel plan, but without workers."""
    return (
        "CREATE OR REPLACE FUNCTION rows_told() RETURNS SETOF text LANGUAGE sql STABLE AS"
        f" $$ SELECT q::text FROM ({query}) q $$; SELECT rows_told()"
    )


def _cursor(rng: random.Random, query: str) -> str:
    kind = rng.choice(CURSORS)
    moves = (*MOVES, *BACK) if kind == "SCROLL CURSOR" else MOVES
    declared = f"BEGIN; DECLARE c {kind} FOR {query}; "
    steps = [rng.choice(moves) for _ in range(4)]
    if "HOLD" in kind:
        steps.insert(rng.randint(0, 2), "COMMIT")
        return declared + "; ".join((*steps, "CLOSE c"))
    return declared + "; ".join((*steps, "CLOSE c", "COMMIT"))


def _content(fallback: Fallback, keys: range) -> bytes:
    lines = []
    for number in range(LINES):
        texts = {
            "id": str(number),
            "k": str(keys[number % len(keys)]),
            "a": f"{number % 1000}.25",
            "b": f"{number}.5",
            "d": f"200{number % 10}-01-05",
            "t": "x" * (number % 12),
        }
        line = "|".join(
            (texts | dict(fallback.odd) if number in fallback.lines else texts).values()
        )
        if fallback.line is not None and number in fallback.lines:
            line = fallback.line
        lines.append(line + fallback.line_end)
    return "".join(lines).encode(fallback.codec)


def _ask(side: Side, statement: str) -> Outcome:
    """Ask, and leave no transaction and no cursor."""
    side.send(statement)
    outcome = side.receive()
    if "DECLARE" in statement and not outcome.lost:
        side.send("ROLLBACK; CLOSE ALL")
        side.receive()
    return outcome


def _execute(side: Side, statement: str) -> None:
    side.send(statement)
    outcome = side.receive()
    if outcome.lost or any(result.error for result in outcome.results):
        raise RuntimeError(f"{statement} failed: {outcome}")
