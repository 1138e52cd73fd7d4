"""A file that is changed in every way between queries, read with a record index and by stock.

An index that is used although the file has changed shows as a wrong row, a missing one, or an error
that does not come. So does a column segment, if columns are kept as well; these are also damaged,
and their parts of the file are small, so that there are several.

How long a file must have been left alone before an index is made of it is set so short that many
are made; it is still longer than the grain of the clock that files are given their times by.

A file whose table says that it is only ever appended to is appended to, also by a writer beside a
query, replaced, or begun anew under the same inode, as logs are rotated.
"""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from oracle.compare import Comparer
from oracle.side import Outcome

from filediff.differ import allowances
from filediff.statements import PARALLEL
from filediff.tables import Dialect, options_clause
from filediff.world import FileWorld

COLUMNS = "id integer, at timestamp, x varchar(9), n numeric(9,2), m smallint"
LINES = 5000
LINES_MAX = 3 * LINES
AGE_MS = 25
PAUSES_S = (0.0, 0.03, 0.06)
WORKERS = "max_parallel_workers_per_gather"
SETTINGS = (
    *(f"{name} = {value}" for name, value in PARALLEL.items()),
    f"{WORKERS} = 0",
    "tollfree_file_fdw.debug_parallel_chunk_size = '16kB'",
    "tollfree_file_fdw.record_index = on",
    f"tollfree_file_fdw.debug_record_index_age = {AGE_MS}",
)
COLUMN_SETTINGS = (
    "tollfree_file_fdw.column_cache = on",
    "tollfree_file_fdw.debug_segment_size = '64kB'",
)
REQUIRE = "SET tollfree_file_fdw.debug_require ="
REFUSED = "does not take the required fast path"

DIALECTS = {
    "text": Dialect("text", "\t", null="\\N"),
    "text, \\r\\n": Dialect("text", "\t", null="\\N", line_end="\r\n"),
    "csv": Dialect(options={"format": "csv"}),
    "csv, a header": Dialect(header="true", options={"format": "csv", "header": "true"}),
}


class Changes:
    """A foreign table on one file, on both sides, and what may become of the file."""

    def __init__(
        self,
        world: FileWorld,
        dialect: Dialect,
        seed: int,
        *,
        append_only: bool = False,
        columns: bool = False,
    ) -> None:
        """Make the file and the table, whose columns may be kept."""
        self._world = world
        self._append_only = append_only
        self._columns = columns
        self._rest = b""  # of the last record, if only a part of it was appended
        self._dialect = dialect
        self._rng = random.Random(seed)
        self._comparer = Comparer(allowances(world.wrapper))
        self._path = world.file("changing")
        self._next = 0
        self.counts: Counter[str] = Counter()
        """Of queries compared, of those that used an index, of errors, and of each change."""
        self._replace()
        options = options_clause({"filename": str(self._path), **dialect.options})
        made = (
            "RESET ALL; SET DateStyle = 'ISO'; DROP FOREIGN TABLE IF EXISTS t CASCADE;"
            f" CREATE FOREIGN TABLE t ({COLUMNS}) SERVER files {options};"
        )
        chosen = SETTINGS + (COLUMN_SETTINGS if columns else ())
        settings = "; ".join(f"SET {setting}" for setting in chosen)
        if append_only:
            settings += "; ALTER FOREIGN TABLE t OPTIONS (ADD append_only 'true')"
        for side, more in zip(world.sides(), ("", settings), strict=True):
            side.send(made + more)
            outcome = side.receive()
            if any(result.error for result in outcome.results):
                raise RuntimeError(f"the table cannot be made: {outcome}")

    def step(self) -> str:
        """Change the file or leave it alone, and query it; return what differs, or nothing."""
        changes = [self._change() for _ in range(self._rng.choice((0, 0, 1, 2)))]
        time.sleep(self._rng.choice(PAUSES_S))
        if self._rng.random() < 0.03:
            self._query_beside_a_writer()
        queries = [self._query() for _ in range(self._rng.randint(1, 3))]
        if not self._append_only and self._rng.random() < 0.05:
            queries.insert(0, self._query_between_writes())
        for query in queries:
            found = self._difference(query)
            if found:
                return f"after {', '.join(changes) or 'nothing'}: {query}\n{found}"
        return ""

    def _difference(self, query: str) -> str:
        stock, candidate = self._world.sides()
        stock.send(query)
        expected = stock.receive()
        # Workers return any rows, and of several errors any.
        by_workers = "LIMIT" not in query and self._rng.random() < 0.3
        self.counts["queries"] += 1
        self.counts["queries by workers"] += by_workers
        path = "column_cache" if self._columns else "record_index"
        candidate.send(f"SET {WORKERS} = {2 * by_workers}; {REQUIRE} {path}")
        candidate.receive()
        candidate.send(query)
        found = candidate.receive()
        candidate.send("RESET tollfree_file_fdw.debug_require")
        candidate.receive()
        if _is_refused(found):
            candidate.send(query)
            found = candidate.receive()
        else:
            self.counts["with an index"] += 1
            self.counts["by workers with an index"] += by_workers
            self.counts["from columns"] += self._columns
            self.counts["by workers from columns"] += self._columns and by_workers
        candidate.send(f"SET {WORKERS} = 0")
        candidate.receive()
        self.counts["errors"] += _is_error(expected)
        if by_workers and _is_error(expected) and _is_error(found) and not found.lost:
            return ""
        return self._comparer.difference(query, expected, found)

    def _query_between_writes(self) -> str:
        """Let the candidate read between two writes that may have the same time; return a query
        for the row that the second one has made."""
        _, candidate = self._world.sides()
        content = self._path.read_bytes()
        begin = content.find(b"\n", len(content) // 2) + 1
        record = content[begin : begin + 6]
        self.counts["queries between writes"] += 1
        if not record[:4].isdigit():
            return "SELECT count(*) FROM t"
        with self._path.open("r+b", buffering=0) as file:
            for digit in (b"2", b"9"):
                os.pwrite(file.fileno(), digit, begin)
                if digit == b"2":
                    candidate.send("SELECT max(id) FROM t")
                    candidate.receive()
        ident = b"9" + record[1:].split(self._dialect.delimiter.encode())[0]
        return f"SELECT * FROM t WHERE id = {ident.decode()}"

    def _query_beside_a_writer(self) -> None:
        """Let the candidate read, and maybe make an index, while somebody writes; whatever it
        answers, no later answer may come of it."""
        _, candidate = self._world.sides()
        seed = self._rng.random()
        writer = threading.Thread(target=self._write_often, args=(random.Random(seed),))
        writer.start()
        for _ in range(4):
            candidate.send("SELECT count(*), sum(id), max(n) FROM t")
            candidate.receive()
        writer.join()
        self.counts["queries beside a writer"] += 4

    def _write_often(self, rng: random.Random) -> None:
        for _ in range(8):
            if self._append_only:
                self._append_in_parts(rng)
            else:
                self._overwrite(rng)
            time.sleep(rng.random() * 0.01)

    def _append_up_to_anywhere(self) -> None:
        """Append the rest of the last record, and others, the last of which may lack its end."""
        lines = self._rest + self._lines(self._rng.choice((1, 20, 1500)))
        length = len(lines) - (self._rng.randint(1, 20) if self._rng.random() < 0.2 else 0)
        self._rest = lines[length:]
        with self._path.open("ab") as file:
            file.write(lines[:length])

    def _append_in_parts(self, rng: random.Random) -> None:
        """Append some records by writes that do not end where these do."""
        lines = self._rest + self._lines(rng.choice((1, 50)))
        self._rest = b""
        with self._path.open("ab", buffering=0) as file:
            while lines:
                length = rng.randint(1, 500)
                file.write(lines[:length])
                lines = lines[length:]

    def _query(self) -> str:
        rng = self._rng
        low = rng.randint(max(0, self._next - LINES_MAX), self._next)
        high = low + rng.choice((0, 10, 500, 3000))
        at = f"timestamp '2020-01-01' + {low} * interval '1 second'"
        literal_at = f"'2020-01-0{rng.randint(1, 4)} 0{rng.randint(0, 9)}:00:00'"
        return rng.choice(
            (
                "SELECT count(*) FROM t",
                f"SELECT count(*) FROM t WHERE id BETWEEN {low} AND {high}",
                f"SELECT * FROM t WHERE id BETWEEN {low} AND {high}",
                f"SELECT id, x FROM t WHERE id = {low}",
                f"SELECT sum(n), min(id), max(id), count(m) FROM t WHERE id >= {low}",
                f"SELECT count(*), sum(id) FROM t WHERE id < {low} OR id > {high}",
                f"SELECT count(*) FROM t WHERE NOT (id < {low})",
                f"SELECT id, n FROM t WHERE at > {literal_at} LIMIT 3",
                f"SELECT count(*), min(x) FROM t WHERE at = {at}",
                f"SELECT id FROM t WHERE id IN ({low}, {high}, {low + 7})",
                f"SELECT m, count(*) FROM t WHERE m IS NULL AND id > {low} GROUP BY m",
                f"SELECT x, count(*) FROM t WHERE n < {rng.randint(-9, 9)}.5 GROUP BY x ORDER BY x",
                f"SELECT count(*) FROM t WHERE id IS NULL OR m = {rng.randint(0, 5)}",
                f"SELECT (SELECT count(*) FROM t WHERE id < {low}), (SELECT count(*) FROM t)",
                f"SELECT id FROM t WHERE x = 'a' AND id > {low}",
                f"SELECT count(*) FROM t WHERE m BETWEEN 2 AND 3 AND n >= {rng.randint(0, 90)}",
            )
        )

    def _change(self) -> str:
        appending: tuple[tuple[int, Callable[[], None]], ...] = (
            (30, self._append_up_to_anywhere),
            (3, self._truncate),
            (2, self._replace),
            (2, self._begin_anew),
            (2, self._set_time_ahead),
            (2, self._set_time_back),
        )
        all_ways: tuple[tuple[int, Callable[[], None]], ...] = (
            (6, self._append),
            (2, self._truncate),
            (3, self._replace),
            (8, lambda: self._overwrite(self._rng)),
            (6, self._overwrite_and_set_time_back),
            (2, self._set_time_ahead),
            (2, self._set_time_back),
            (3, self._write_the_same_again),
            (2, self._append_and_overwrite),
        )
        ways = appending if self._append_only else all_ways
        if self._columns:
            ways = (*ways, (4, self._damage_segments))
        (way,) = self._rng.choices([w for _, w in ways], [weight for weight, _ in ways])
        way()
        name = way.__name__.strip("_").replace("_", " ").replace("<lambda>", "overwrite")
        self.counts[name] += 1
        if len(self._path.read_bytes().splitlines()) > LINES_MAX:
            self._replace()
        return name

    def _line(self) -> bytes:
        rng = self._rng
        number = self._next
        self._next = max(0, number + rng.choice((1, 1, 1, 1, 1, 2, -1)))
        null = self._dialect.null
        second = f"2020-01-{1 + number // 86400:02} "
        second += f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"
        values = [
            str(number) if rng.random() > 0.002 else null,
            second,
            rng.choice(("a", "bc", "ä", null)),
            f"{rng.randint(-999, 9999) / 100:.2f}",
            str(rng.randint(0, 5)) if rng.random() > 0.1 else null,
        ]
        odd = rng.random()
        if odd < 0.0002:
            values[3] = "1e1"
        elif odd < 0.00023:
            values[rng.choice((0, 3, 4))] = "wrong"
        elif odd < 0.00025:
            values.pop()
        elif odd < 0.01 and self._dialect.format == "csv":
            values[2] = '"b\nc"'
        return (self._dialect.delimiter.join(values) + self._dialect.line_end).encode()

    def _lines(self, count: int) -> bytes:
        return b"".join(self._line() for _ in range(count))

    def _append(self) -> None:
        lines = self._lines(self._rng.choice((1, 20, 1500)))
        with self._path.open("ab") as file:
            file.write(lines if self._rng.random() > 0.05 else lines[:-3])

    def _truncate(self) -> None:
        content = self._path.read_bytes()
        at = content.rfind(b"\n", 0, self._rng.randint(0, len(content))) + 1
        # Within the number that a record begins with: part of a time is no fixed error before 16.
        within = self._rng.choice((0, 0, 0, 2))
        os.truncate(self._path, min(at + within, len(content)))
        self._rest = b""

    def _replace(self) -> None:
        if self._next > 10 * LINES_MAX:
            self._next = 0
        new = self._world.file("new")
        head = b"id,at,x,n,m\n" if self._dialect.header else b""
        new.write_bytes(head + self._lines(self._rng.choice((1, LINES, LINES, LINES))))
        new.rename(self._path)
        self._rest = b""

    def _begin_anew(self) -> None:
        """Write other records to the same inode, mostly more than there were."""
        size = self._path.stat().st_size
        content = b"id,at,x,n,m\n" if self._dialect.header else b""
        while len(content) <= size:
            content += self._lines(LINES // 5)
        self._path.write_bytes(content)
        self._rest = b""

    def _overwrite(self, rng: random.Random) -> None:
        """Change digits of some records in place: the file stays as long as it was."""
        content = self._path.read_bytes()
        with self._path.open("r+b") as file:
            for _ in range(rng.choice((1, 3))):
                begin = content.find(b"\n", rng.randint(0, len(content))) + 1
                record = content[begin : begin + 6]
                digits = [i for i, byte in enumerate(record) if byte in b"123456789"]
                if digits:
                    file.seek(begin + rng.choice(digits))
                    file.write(str(rng.randint(1, 9)).encode())

    def _damage_segments(self) -> None:
        """Change a byte of some column segments, cut them short, or take one for another."""
        rng = self._rng
        # One that was cut to nothing before has no byte to change.
        kept = sorted(self._world.kept_files("*_*_*_*_*_*"))
        segments = [segment for segment in kept if segment.stat().st_size > 0]
        for segment in rng.sample(segments, min(3, len(segments))):
            content = bytearray(segment.read_bytes())
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            new = rng.choice(
                (
                    bytes(content),
                    bytes(content[: rng.randrange(len(content))]),
                    rng.choice(segments).read_bytes(),
                )
            )
            segment.write_bytes(new)

    def _overwrite_and_set_time_back(self) -> None:
        was = self._path.stat()
        self._overwrite(self._rng)
        os.utime(self._path, ns=(was.st_atime_ns, was.st_mtime_ns))

    def _set_time_ahead(self) -> None:
        ahead = time.time_ns() + self._rng.choice((10**6, 10**8, 10**12))
        os.utime(self._path, ns=(ahead, ahead))

    def _set_time_back(self) -> None:
        os.utime(self._path, ns=(10**18, 10**18))

    def _write_the_same_again(self) -> None:
        self._path.write_bytes(self._path.read_bytes())

    def _append_and_overwrite(self) -> None:
        self._append()
        self._overwrite(self._rng)

    def file(self) -> Path:
        """Return the path of the file, as the last step has left it."""
        return self._path


def _is_error(outcome: Outcome) -> bool:
    return any(result.error for result in outcome.results)


def _is_refused(outcome: Outcome) -> bool:
    return any(
        result.error and REFUSED in dict(result.error.fields).get("MESSAGE_PRIMARY", "")
        for result in outcome.results
    )
