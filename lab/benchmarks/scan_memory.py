"""What a scan through a wrapper holds in memory, whatever the size of the result.

For each wrapper, stock also with a large fetch_size, and each shape of result: the time of a scan
that reads every row, and how much the peak of the local backend's resident memory (VmHWM) rose over
it. The results are computed by views of the remote server, so they need no room there. Run it on a
quiet machine:

    .venv/bin/python lab/benchmarks/scan_memory.py [ROWS:BYTES ...]
"""

import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.suites.foreign import make_server, recreate_database

SHAPES = ("10000000:1", "1000000:100", "10000000:100", "200:1000000", "2000:1000000")
DATABASE = "scan_memory"


@dataclass(frozen=True)
class Candidate:
    """A wrapper with its server's options."""

    wrapper: str
    fetch_size: int | None = None

    @property
    def label(self) -> str:
        """What a person calls it."""
        return f"{self.wrapper}, {self.fetch_size}" if self.fetch_size else self.wrapper

    @property
    def database(self) -> str:
        """The database of its foreign tables."""
        return f"{DATABASE}_{self.wrapper}_{self.fetch_size or 'default'}"

    @property
    def server_options(self) -> dict[str, str]:
        """The options of its foreign server."""
        return {"fetch_size": str(self.fetch_size)} if self.fetch_size else {}


CANDIDATES = (
    Candidate("postgres_fdw"),
    Candidate("postgres_fdw", fetch_size=10000),
    Candidate("tollfree_postgres_fdw"),
)


@dataclass(frozen=True)
class Shape:
    """A result: rows, and bytes of the text in each."""

    rows: int
    bytes: int

    @property
    def view(self) -> sql.Identifier:
        """The view that computes it, and the foreign tables on it."""
        return sql.Identifier(f"rows_{self.rows}_{self.bytes}")


def peak_kib(pid: int) -> int:
    """Return the peak of a process's resident memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1])


def make_databases(lab: Lab, shapes: list[Shape]) -> None:
    """Make the views, and for each wrapper a database of foreign tables on them."""
    source, external = lab.source(), lab.external()
    password = lab.password()
    with source.connect() as connection:
        recreate_database(connection, DATABASE)
    with source.connect(DATABASE) as connection:
        for shape in shapes:
            connection.execute(
                sql.SQL(
                    "CREATE VIEW {} AS SELECT i, repeat('x', {}) AS filler"
                    " FROM generate_series(1, {}) i"
                ).format(shape.view, shape.bytes, shape.rows)
            )
    for candidate in CANDIDATES:
        make_foreign_tables(source, external, candidate, shapes, password)


def make_foreign_tables(
    source: Cluster, external: Cluster, candidate: Candidate, shapes: list[Shape], password: str
) -> None:
    """Make the database of one candidate."""
    row = {
        "wrapper": candidate.wrapper,
        "server_options": candidate.server_options,
        "server_host": "127.0.0.1",
        "server_port": source.port,
    }
    with external.connect() as connection:
        recreate_database(connection, candidate.database)
    with external.connect(candidate.database) as connection:
        make_server(connection, row, DATABASE, password)
        for shape in shapes:
            connection.execute(
                sql.SQL("CREATE FOREIGN TABLE {} (i int, filler text) SERVER source_server").format(
                    shape.view
                )
            )


def measure(connection: psycopg.Connection[tuple[object, ...]], shape: Shape) -> tuple[float, int]:
    """Return the seconds of a scan and by how many KiB it raised the backend's peak."""
    pid = connection.info.backend_pid
    connection.execute("SET jit = off")
    connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(shape.view))
    before, start = peak_kib(pid), time.monotonic_ns()
    query = sql.SQL(
        "SELECT count(*), sum(length(filler)) FROM (SELECT i, filler FROM {} OFFSET 0) x"
    )
    row = connection.execute(query.format(shape.view)).fetchone()
    seconds = (time.monotonic_ns() - start) / 1e9
    if row != (shape.rows, shape.rows * shape.bytes):
        sys.exit(f"wrong answer: {row}")
    return seconds, peak_kib(pid) - before


def main() -> None:
    """Measure and print."""
    shapes = [Shape(*map(int, text.split(":"))) for text in sys.argv[1:] or SHAPES]
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    with lab.running():
        make_databases(lab, shapes)
        sys.stdout.write(
            f"PostgreSQL {lab.installation.version}; a number behind a wrapper is its fetch_size\n"
            "Of each result and wrapper: the time of a scan that reads all of it, and by how much"
            " the peak of the local backend's resident memory rose.\n"
        )
        for shape in shapes:
            for candidate in CANDIDATES:
                with lab.external().connect(candidate.database) as connection:
                    seconds, kib = measure(connection, shape)
                sys.stdout.write(
                    f"{shape.rows:>10,} rows of {shape.bytes:>9,} bytes  {candidate.label:<22}"
                    f" {seconds:8.2f} s {kib / 1024:8.1f} MiB\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
