"""What a scan of a file holds in memory, whatever the size of the file and of its fields.

For each wrapper and each file, in text and in CSV format: the time of a query that reads all of it,
the processor time of its backend, and how much the peak of the backend's resident memory (VmHWM)
rose over it. Every answer is checked. Files are given by how long they are and how long the field
in each row is, both in MB. Run it on a quiet machine:

    .venv/bin/python lab/benchmarks/file_memory.py [MB:FIELD_MB ...]

`10000:0` is a file of 10 GB with rows of about 100 bytes, `200:200` one of a single field.
"""

import os
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.suites.file.schemas import make_wrapper

WRAPPERS = ("file_fdw", "tollfree_file_fdw")
SHAPES = ("10:0", "1000:0", "60:20", "200:200")
DELIMITERS = {"text": "\t", "csv": ","}
"""Of each format, the default."""
QUERIES = {
    "rows": "SELECT count(*), sum(length(filler)) FROM (SELECT * FROM {} OFFSET 0) x",
    "aggregate": "SELECT count(*), sum(id) FROM {}",
}
MB = 1_000_000
SHORT_FIELD = 90
ROWS_A_BLOCK = 10_000
DATABASE = "file_memory"
Connection = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True)
class TextFile:
    """A file of rows (1, filler)."""

    path: Path
    format: str
    rows: int
    field_bytes: int

    def answer(self, query: str) -> tuple[int, int]:
        """Return what a query must answer."""
        return self.rows, self.rows * (self.field_bytes if query == "rows" else 1)


def make_file(folder: Path, shape: str, file_format: str) -> TextFile:
    """Write the file of a shape, a block of rows at a time."""
    length, field = (int(part) * MB for part in shape.split(":"))
    field = field or SHORT_FIELD
    block = min(ROWS_A_BLOCK, max(1, MB // field))
    nblocks = max(1, length // (field * block))
    path = folder / f"{shape.replace(':', '_')}.{file_format}"
    file = TextFile(path, file_format, nblocks * block, field)
    rows = b"1%s%s\n" % (DELIMITERS[file_format].encode(), b"x" * field) * block
    with file.path.open("wb") as out:
        for _ in range(nblocks):
            out.write(rows)
    file.path.chmod(0o644)
    return file


def make_table(connection: Connection, wrapper: str, file: TextFile) -> sql.Identifier:
    """Make the foreign table of one wrapper; return its name."""
    table = sql.Identifier(f"{wrapper}_{file.path.name}")
    connection.execute(
        sql.SQL(
            "CREATE FOREIGN TABLE {} (id int, filler text) SERVER {}"
            " OPTIONS (filename {}, format {})"
        ).format(
            table,
            sql.Identifier(wrapper),
            sql.Literal(str(file.path)),
            sql.Literal(file.format),
        )
    )
    return table


def peak_kib(pid: int) -> int:
    """Return the peak of a process's resident memory."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken."""
    behind_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(behind_name[11]) + int(behind_name[12])) / os.sysconf("SC_CLK_TCK")


def measure(lab: Lab, table: sql.Identifier, query: str, file: TextFile) -> str:
    """Return the seconds of a query, those of the processor, and by how much it raised the peak of
    a fresh backend."""
    with lab.source().connect(DATABASE) as connection:
        pid = connection.info.backend_pid
        connection.execute("SET jit = off")
        connection.execute("SET max_parallel_workers_per_gather = 0")
        statement = sql.SQL(QUERIES[query]).format(table)
        connection.execute(sql.SQL("EXPLAIN ") + statement)
        before, taken = peak_kib(pid), processor_seconds(pid)
        start = time.monotonic_ns()
        row = connection.execute(statement).fetchone()
        seconds = (time.monotonic_ns() - start) / 1e9
        if row != file.answer(query):
            sys.exit(f"wrong answer: {row} instead of {file.answer(query)}")
        taken = processor_seconds(pid) - taken
        rose = (peak_kib(pid) - before) / 1024
        return f"{seconds:8.2f} s {taken:8.2f} s of CPU {rose:8.1f} MiB"


def measure_file(lab: Lab, file: TextFile) -> None:
    """Print a line for each wrapper and query."""
    for wrapper in WRAPPERS:
        with lab.source().connect(DATABASE) as connection:
            table = make_table(connection, wrapper, file)
        for query in QUERIES:
            sys.stdout.write(
                f"{file.format:<4} {file.rows:>12,} rows of {file.field_bytes:>11,} bytes"
                f"  {query:<10} {wrapper:<18} {measure(lab, table, query, file)}\n"
            )
            sys.stdout.flush()


def main() -> None:
    """Make the files one after the other, measure and print."""
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    with lab.running():
        folder = lab.folder / DATABASE
        lab.user.make_folder(folder)
        lab.source().make_database(DATABASE)
        with lab.source().connect(DATABASE) as connection:
            for wrapper in WRAPPERS:
                make_wrapper(connection, wrapper)
        sys.stdout.write(
            f"PostgreSQL {lab.installation.version}\n"
            "Of each file, query and wrapper: the time, the processor time of the backend, and by"
            " how much the peak of its resident memory rose.\n"
        )
        for shape in sys.argv[1:] or SHAPES:
            for file_format in DELIMITERS:
                file = make_file(folder, shape, file_format)
                measure_file(lab, file)
                file.path.unlink()


if __name__ == "__main__":
    main()
