"""Queries whose answer must be exactly that of a table with the same rows.

What makes aggregates on columns go wrong elsewhere: sums of floats in another order, scales of
numerics, groups by texts that compare equal, groups of nulls, filters that are forgotten,
overflows that are not noticed. Here a table is the oracle, not another wrapper: it is loaded from
the file that the foreign table reads.
"""

import random
import re

from oracle.compare import Allowance, Comparer
from oracle.side import Outcome

from filediff.files import render
from filediff.statements import PARALLEL as PARALLEL_SETTINGS
from filediff.tables import Dialect, options_clause
from filediff.values import TYPES
from filediff.world import FileWorld

ROWS = 6000
NULLS = 0.1
COLUMNS = {
    "i2": "smallint",
    "i4": "integer",
    "i8": "bigint",
    "n": "numeric",
    "n2": "numeric(15,2)",
    "n4": "numeric(18,4)",
    "f4": "real",
    "f8": "double precision",
    "yes": "boolean",
    "d": "date",
    "ts": "timestamp",
    "x": "text",
    "v": "varchar",
    "c1": "char(1)",
    "c5": "char(5)",
    "u": "uuid",
}
NUMBERS = ("i2", "i4", "i8", "n", "n2", "n4", "f4", "f8")
SERIAL = "SET max_parallel_workers_per_gather = 0"
PARALLEL = "; ".join(f"SET {name} = {value}" for name, value in PARALLEL_SETTINGS.items())
ORDER_MATTERS = re.compile(r"\b(n|f4|f8)\b")
"""Columns whose sums, or whose one value of several equal ones, depend on the order of the rows."""
ALLOWANCES = (
    Allowance(
        "CONTEXT",
        re.compile(r"^parallel worker$"),
        "",
        "Which process meets an overflow is the plan's affair.",
    ),
)

EXPRESSIONS = (
    *("n2 * n4", "n2 * (1 - n4)", "n2 * (1 - n4) * (1 + n2)", "n + n2", "n4 - n2", "-n", "n2 * 2"),
    *("i4 * 2", "i8 + 1", "i2 + i4", "-i8", "n2 * i4", "i2 * i2", "n2 * 0.5", "n2 + 0"),
)
OVERFLOWS = ("i4 * i4", "i8 * i8", "i2 * i2 * i2 * i2", "i4 + 2147483647", "i8 - i8 * 2 - 2")
FLOATS = ("f8 * 2", "f4 + f8", "f8 * f8", "-f4", "f8 * (1 - f4)")
CONDITIONS = (
    *("n2 > 0", "n2 BETWEEN -1 AND 1", "n4 <= 0.05", "n = 1.5", "n <> 'NaN'", "n < n2", "n2 = i4"),
    *("i4 IN (1, 2, 7)", "i4 NOT IN (1, NULL)", "i8 > 3000000000", "i2 = 1::bigint", "i4 < 1.5"),
    *("f8 > 0", "f4 = 0.1", "f8 = 'NaN'", "f8 < f4", "f8 = i4", "f4 <> 'Infinity'", "f8 = -0.0"),
    *("d < date '1998-12-01'", "d >= timestamp '1995-03-15 00:00'", "d = 'infinity'", "d > ts"),
    *("ts BETWEEN '1995-01-01' AND '2000-01-01'", "ts < date '1996-01-01'", "ts = '-infinity'"),
    *("x LIKE 'a%'", "x NOT LIKE '%b'", "x LIKE 'a_c'", "x = v", "x > 'abc'", "x = 'a%b'"),
    *("x LIKE 'a\\%b'", "x IN ('a', 'abc', '')", "x ILIKE 'ab%'", "v = 'ab'", "v LIKE '% '"),
    *("c5 = 'abc'", "c5 = 'abc  '", "c5 LIKE 'abc'", "c5 LIKE 'abc  '", "c1 = 'R'", "c1 = x"),
    *("c5 = c1", "c5 < 'b'", "c1 IN ('R', 'N')", "u = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"),
    *("yes", "NOT yes", "yes IS NOT TRUE", "yes = (i4 > 0)", "yes IS NULL", "x IS NULL"),
    *("n2 > 0 AND x = 'a'", "n2 > 0 OR x IS NULL", "NOT (i4 = 1 AND x = 'a')", "n2 > 1 IS NULL"),
    *("i4 = 1 OR (i4 = 2 AND d > '1996-01-01') OR x LIKE '%b%'", "NULL", "false", "i4 = NULL"),
)
KEYS = (
    *("i2", "i4", "n", "n2", "f8", "yes", "d", "x", "v", "c1", "c5", "u", "c1, yes", "c5, v"),
    *("x, i2", "yes, d", "yes, c1, i2"),
)
OTHERS = (
    "SELECT count(*), count(x), count(DISTINCT x), count(DISTINCT c5), sum(DISTINCT n) FROM t",
    "SELECT avg(n2), sum(n2), count(n2), stddev(n2), avg(n4), variance(f8) FROM t",
    "SELECT min(x), max(x), min(v), max(v), min(c5), max(c5), min(ts), max(ts), min(d) FROM t",
    "SELECT sum(n2), sum(n2) FILTER (WHERE yes), avg(n2) FILTER (WHERE x = 'none') FROM t",
    "SELECT sum(n2), min(i4), count(*), count(i4) FROM t WHERE i4 = 5 AND i4 = 6",
    "SELECT c1, sum(n2) FROM t WHERE false GROUP BY c1",
    "SELECT c1, yes, sum(n2), count(*) FROM t GROUP BY ROLLUP (c1, yes)",
    "SELECT c1, yes, count(*) FROM t GROUP BY GROUPING SETS ((c1), (yes), ())",
    "SELECT c1, sum(n2) FROM t GROUP BY c1 HAVING sum(n2) > 0 OR count(*) > 700",
    "SELECT string_agg(x, ',' ORDER BY x, v), array_agg(i4 ORDER BY i4 DESC) FROM t WHERE i2 = 1",
    "SELECT upper(x), sum(n2) FROM t GROUP BY upper(x)",
    "SELECT i4 % 3, sum(n2), sum(i4 % 3) FROM t GROUP BY 1",
    "SELECT 1, sum(n2) FROM t GROUP BY 1 HAVING count(*) > 0",
    "SELECT sum(1), sum(NULL::integer), count(1), max(5), avg(2.50) FROM t",
    "SELECT sum(n2 * (SELECT 2)), sum(i4) FROM t WHERE i4 > (SELECT 0)",
    "SELECT sum(n2) + count(*), sum(n2) / nullif(count(n2), 0), sum(i4) % 7 FROM t",
    "SELECT sum(n2) FROM t WHERE EXISTS (SELECT FROM t WHERE i4 > 1000000)",
    "SELECT sum(CASE WHEN x = 'a' THEN n2 ELSE 0 END), sum(coalesce(n2, 1)) FROM t",
    "SELECT yes, sum(n2) OVER (PARTITION BY yes ORDER BY n2, i4, u) FROM t WHERE i2 = 2",
    "SELECT x.c1, count(*) FROM t x JOIN t y ON x.i4 = y.i4 AND x.i2 = y.i2 GROUP BY x.c1",
    "SELECT bool_and(yes), bool_or(yes), every(yes) FROM t",
    "SELECT bit_and(i4), bit_or(i4) FROM t",
    "SELECT sum((i4 + 2147483647) * i2) FROM t WHERE i2 IS NULL",
    "SELECT min(i2 * (i4 + 2147483647)) FROM t WHERE i2 IS NULL AND i4 <= 0",
    "SELECT max((i8 + 0) + 1) FROM t",
    "SELECT sum((i4 + 0) * -1) FROM t",
)
"""Where a wrapper has to see what it must not push down, and some more."""


def queries() -> list[str]:
    """Return all the queries; each reads a table `t`."""
    found = list(OTHERS)
    for number in NUMBERS:
        aggregates = ", ".join(f"{name}({number})" for name in ("sum", "avg", "min", "max"))
        found.append(f"SELECT {aggregates}, count({number}) FROM t")
    for expression in (*EXPRESSIONS, *OVERFLOWS, *FLOATS):
        found.append(f"SELECT sum({expression}), avg({expression}), max({expression}) FROM t")
        found.append(f"SELECT c1, sum({expression}) FROM t GROUP BY c1")
    for condition in CONDITIONS:
        found.append(f"SELECT count(*), sum(n2), min(x), max(d) FROM t WHERE {condition}")
        found.append(f"SELECT i4, x, c5 FROM t WHERE {condition}")
        found.append(f"SELECT count(*) FILTER (WHERE {condition}), count(*) FROM t")
    for key in KEYS:
        found.append(f"SELECT {key}, count(*), sum(n2), avg(n), min(ts) FROM t GROUP BY {key}")
        found.append(f"SELECT {key}, sum(f8), avg(f4), count(x) FROM t WHERE n2 > 0 GROUP BY {key}")
    return found


class Exactness:
    """A foreign table and a table with the rows of one file, in the candidate's database."""

    def __init__(self, world: FileWorld, seed: int) -> None:
        """Write the file and make both."""
        self._world = world
        self._comparer = Comparer(ALLOWANCES)
        dialect = Dialect(options={"format": "csv"}, delimiter="|", null="\\N")
        path = world.file("facts")
        path.write_bytes(_content(random.Random(seed), dialect))
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        filename = str(path)
        options = {"format": "csv", "delimiter": "|", "null": "\\N"}
        self._execute(
            "RESET ALL; DROP SCHEMA IF EXISTS heap, raw CASCADE;"
            " CREATE SCHEMA heap; CREATE SCHEMA raw;"
            f" CREATE TABLE heap.t ({columns}); COPY heap.t FROM '{filename}'"
            " (FORMAT csv, DELIMITER '|', NULL '\\N'); ANALYZE heap.t;"
            f" CREATE FOREIGN TABLE raw.t ({columns}) SERVER files"
            f" {options_clause({'filename': filename, **options})}; ANALYZE raw.t"
        )

    def difference(self, query: str) -> str:
        """Return in what the foreign table's answer is not the table's; empty when in nothing."""
        self._execute(f"RESET ALL; {SERIAL}")
        expected = self._ask(f"SET search_path = heap; {query}")
        for settings in (SERIAL,) if ORDER_MATTERS.search(query) else (SERIAL, PARALLEL):
            self._execute(settings)
            actual = self._ask(f"SET search_path = raw; {query}")
            if reason := self._comparer.difference("", expected, actual):
                return f"{settings}: {reason}"
        return ""

    def _ask(self, statement: str) -> Outcome:
        _, candidate = self._world.sides()
        candidate.send(statement)
        return candidate.receive()

    def _execute(self, statement: str) -> None:
        outcome = self._ask(statement)
        if outcome.lost or any(result.error for result in outcome.results):
            raise RuntimeError(f"{statement} failed: {outcome}")


def _content(rng: random.Random, dialect: Dialect) -> bytes:
    kinds = {kind.sql: kind for kind in TYPES}
    lines = []
    for _ in range(ROWS):
        row = (
            kinds[name].valid(rng) if rng.random() > NULLS else None for name in COLUMNS.values()
        )
        lines.append(render(rng, tuple(row), dialect))
    return b"".join(lines)
