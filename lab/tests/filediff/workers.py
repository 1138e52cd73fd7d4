"""A large file read by several processes, against the same file read by one.

Workers begin in the middle of a file: at a line that may be within quotes, at a line whose number
nobody has counted. So quoted values hold line ends, and the one error stands near the end.
"""

import random
import re
from dataclasses import dataclass

from oracle.compare import Allowance, Comparer
from oracle.side import Outcome

from filediff.files import render
from filediff.statements import PARALLEL
from filediff.tables import Dialect, options_clause
from filediff.world import FileWorld

LINES = 60_000
COLUMNS = "id integer, x text, n numeric(15,2), d date, c char(3)"
QUERIES = (
    "SELECT count(*), sum(hashtextextended(t::text, 0)) FROM t",
    "SELECT count(*) FROM t",
    "SELECT count(x), sum(id), min(id), max(id), sum(n), avg(n), min(d), max(x) FROM t",
    "SELECT c, count(*), sum(n), avg(id), sum(n * (1 - n)) FROM t GROUP BY c",
    "SELECT d, c, min(n), max(x), count(x) FROM t WHERE n > 0 GROUP BY d, c",
    "SELECT id, x, n FROM t WHERE id % 1000 = 7",
    "SELECT id FROM t WHERE n BETWEEN 99.90 AND 99.99 AND c = 'abc'",
    "SELECT count(*) FROM t WHERE x LIKE '%end%' OR x IS NULL",
    "SELECT count(*) FROM t x JOIN t y ON x.id = y.id + 1 WHERE x.c = 'abc'",
    "SELECT c, count(*) FILTER (WHERE n > 50) FROM t GROUP BY c HAVING sum(n) > 0",
    "SELECT (SELECT count(*) FROM t), (SELECT max(id) FROM t WHERE c = 'z')",
)
ALLOWANCES = (
    Allowance(
        "CONTEXT",
        re.compile(r"\nparallel worker$"),
        "",
        "Whether the leader or a worker meets the error is a matter of chance.",
    ),
)


@dataclass(frozen=True)
class Reading:
    """A file and how a table reads it."""

    dialect: Dialect
    is_wrong: bool
    """Whether one value near the end is none of its type."""


READINGS = {
    "text": Reading(Dialect("text", "\t", null="\\N"), False),
    "text, wrong": Reading(Dialect("text", "\t", null="\\N"), True),
    "text, \\r\\n, wrong": Reading(Dialect("text", "\t", null="\\N", line_end="\r\n"), True),
    "csv": Reading(Dialect(options={"format": "csv"}), False),
    "csv, wrong": Reading(Dialect(options={"format": "csv"}), True),
    "csv, \\r\\n, a header": Reading(
        Dialect(line_end="\r\n", header="true", options={"format": "csv", "header": "true"}), True
    ),
    "csv, another escape": Reading(
        Dialect(escape="\\", options={"format": "csv", "escape": "\\"}), False
    ),
    "csv, another escape, \\r\\n, wrong": Reading(
        Dialect(escape="\\", line_end="\r\n", options={"format": "csv", "escape": "\\"}), True
    ),
}


class Workers:
    """A foreign table on one large file, on both sides; the candidate's is read by workers."""

    def __init__(self, world: FileWorld, reading: Reading) -> None:
        """Write the file and make the table."""
        self._world = world
        self._comparer = Comparer(ALLOWANCES)
        self.errors = 0
        """Of stock, so far."""
        path = world.file("large")
        path.write_bytes(_content(random.Random(1), reading))
        options = options_clause({"filename": str(path), **reading.dialect.options})
        # A wrapper that shares out a file in chunks is made to share it out finely.
        small = [
            f"SET {name} = {v[-1]}" for name, v in world.server.own_settings if "chunk" in name
        ]
        many = [f"SET {name} = {value}" for name, value in PARALLEL.items()]
        made = (
            "RESET ALL; SET DateStyle = 'ISO'; DROP FOREIGN TABLE IF EXISTS t CASCADE;"
            f" CREATE FOREIGN TABLE t ({COLUMNS}) SERVER files {options};"
        )
        serial = "SET max_parallel_workers_per_gather = 0"
        for side, settings in zip(world.sides(), ([serial], many + small), strict=True):
            side.send(made + "; ".join(settings))
            outcome = side.receive()
            if any(result.error for result in outcome.results):
                raise RuntimeError(f"the table cannot be made: {outcome}")

    def difference(self, query: str) -> str:
        """Return in what the workers' answer differs from stock's; empty when in nothing."""
        stock, candidate = self._world.sides()
        stock.send(query)
        candidate.send(query)
        expected = stock.receive()
        self.errors += sum(result.error is not None for result in expected.results)
        return self._comparer.difference("", expected, candidate.receive())

    def explain(self, query: str) -> str:
        """Return the candidate's plan."""
        _, candidate = self._world.sides()
        candidate.send(f"EXPLAIN {query}")
        outcome: Outcome = candidate.receive()
        return "\n".join(
            (row[0] or b"").decode() for result in outcome.results for row in result.rows
        )


class _NoEscapes(random.Random):
    """Lets text be written without escapes that it does not need: one may be no character."""

    def random(self) -> float:
        return 1.0


def _content(rng: random.Random, reading: Reading) -> bytes:
    writer = rng if reading.dialect.format == "csv" else _NoEscapes()
    texts = (
        "plain",
        'a "quoted" one',
        "two\nlines",
        "comma, tab\t",
        "'",
        "end",
        "\n\n\n",
        "ä" * 30,
    )
    header = [b"id,x,n,d,c" + reading.dialect.line_end.encode()] if reading.dialect.header else []
    lines = [
        render(
            writer,
            (
                str(number) if number != LINES - 500 or not reading.is_wrong else "wrong",
                rng.choice((*texts, None)),
                f"{rng.randint(-9999, 9999) / 100:.2f}",
                f"{rng.randint(1990, 1999)}-0{rng.randint(1, 9)}-15",
                rng.choice(("abc", "z", "", None)),
            ),
            reading.dialect,
        )
        for number in range(LINES)
    ]
    return b"".join(header + lines)
