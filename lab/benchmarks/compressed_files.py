"""What Q6 takes over a compressed text file, beside decompressing it.

lineitem is compressed with gzip and zstd, each as its own program does by default, and with zstd in
many frames. Compared in rounds, by one process each unless it says two:

    zcat, zstd -dc  these programs alone, into nothing
    text            Q6 of tollfree_file_fdw, of the text
    gzip, zstd      Q6 of tollfree_file_fdw, of the compressed file
    frames          Q6 of tollfree_file_fdw, of frames of 16 MB of text
    frames, two     the same by two processes
    program         Q6 of file_fdw, of the output of zcat, in one round
    duckdb gzip     DuckDB, which is told the types of all columns

The caches of the operating system are warm. All answers are the same. Run it on a quiet machine:
`make bench`, or `python benchmarks/compressed_files.py --scale 50` for half a scale factor.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import psycopg

from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import ServerUser, server_user
from tollfree.suites.file.data import TpchTable, make_files
from tollfree.suites.file.schemas import make_wrapper

WRAPPER, STOCK = "tollfree_file_fdw", "file_fdw"
CODECS = {"gzip": ("gz", ("gzip", "-kf"), "zcat"), "zstd": ("zst", ("zstd", "-kfq"), "zstd -dc")}
"""Suffix, the program that compresses, and the one that decompresses."""
FRAMES = ("split", "--bytes=16M", "--filter=zstd -qc")
BASES = {
    "gzip": "zcat",
    "zstd": "zstd -dc",
    "frames": "zstd -dc",
    "frames, two": "frames",
    "program": "zcat",
    "duckdb gzip": "zcat",
}
"""With what each way is compared."""

Connection = psycopg.Connection[tuple[object, ...]]
Way = Callable[[], object]


def compressed(text: Path, codec: str, user: ServerUser) -> Path:
    """Return the compressed file beside a text file, which is made if it is not there."""
    suffix, command, _ = CODECS[codec]
    path = text.with_name(f"{text.name}.{suffix}")
    if not path.exists():
        subprocess.run([*command, str(text)], check=True)
        user.own(path)
    return path


def compressed_frames(text: Path, user: ServerUser) -> Path:
    """Return the file beside a text file that has it in many frames of zstd."""
    path = text.with_name(f"{text.name}.frames.zst")
    if not path.exists():
        with path.open("wb") as file:
            subprocess.run([*FRAMES, str(text)], check=True, stdout=file)
        user.own(path)
    return path


def make_table(connection: Connection, name: str, columns: str, wrapper: str, options: str) -> None:
    """Make a foreign table of lineitem's text, whose lines end with a delimiter."""
    connection.execute(
        f'CREATE FOREIGN TABLE {name} ({columns}, "end" text) SERVER {wrapper}'
        f" OPTIONS ({options}, format 'text', delimiter '|')".encode()
    )


def in_duckdb(path: Path, columns: str, statement: str) -> Way:
    """Return what asks DuckDB, with one thread."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    pairs = [definition.split(" ", 1) for definition in f"{columns}, end text".split(", ")]
    types = {name: "VARCHAR" if "char" in kind else kind.upper() for name, kind in pairs}
    connection.execute(
        f"CREATE VIEW lineitem AS SELECT * FROM read_csv('{path}', delim = '|', header = false,"
        f" quote = '', auto_detect = false, columns = {types})"
    )
    return lambda: connection.execute(statement).fetchall()[0][0]


def decompressing(command: str, path: Path) -> Way:
    """Return what executes a program of a file, into nothing."""

    def execute() -> None:
        subprocess.run([*command.split(), str(path)], check=True, stdout=subprocess.DEVNULL)

    return execute


def ways_of(connection: Connection, text: Path, columns: str, q6: str, lab: Lab) -> dict[str, Way]:
    """Return all ways, by their names; of decompressing alone the answer is None."""

    def ask(table: str, processes: int = 1) -> Way:
        statement = q6.replace("lineitem", table).encode()
        workers = f"SET max_parallel_workers_per_gather = {processes - 1}".encode()

        def answer() -> object:
            connection.execute(workers)
            row = connection.execute(statement).fetchone()
            return row[0] if row else None

        return answer

    for wrapper in (WRAPPER, STOCK):
        make_wrapper(connection, wrapper)
    make_table(connection, "of_text", columns, WRAPPER, f"filename '{text}'")
    ways: dict[str, Way] = {"text": ask("of_text")}
    for codec, (_, _, command) in CODECS.items():
        path = compressed(text, codec, lab.user)
        options = f"filename '{path}', compression '{codec}'"
        make_table(connection, f"of_{codec}", columns, WRAPPER, options)
        ways |= {command: decompressing(command, path), codec: ask(f"of_{codec}")}
    options = f"filename '{compressed_frames(text, lab.user)}', compression 'zstd'"
    make_table(connection, "of_frames", columns, WRAPPER, options)
    ways |= {"frames": ask("of_frames"), "frames, two": ask("of_frames", 2)}
    path = compressed(text, "gzip", lab.user)
    make_table(connection, "of_program", columns, STOCK, f"program 'zcat {path}'")
    ways |= {"program": ask("of_program"), "duckdb gzip": in_duckdb(path, columns, q6)}
    return ways


def measure(ways: dict[str, Way], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each way in each round; a first round, which warms caches, is none."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for round_ in range(rounds + 1):
        answers = set()
        for name, way in ways.items():
            if name == "program" and round_ != 1:
                continue
            started = time.monotonic_ns()
            answer = way()
            elapsed = (time.monotonic_ns() - started) / 1e9
            if answer is not None:
                answers.add(str(answer).rstrip("0"))
            if round_ > 0:
                seconds[name].append(elapsed)
        if len(answers) != 1:
            raise SystemExit(f"the answers differ: {answers}")
    return seconds


def report(seconds: dict[str, list[float]]) -> str:
    """Return medians, and ratios inside the rounds to what each way is compared with."""
    lines = ["median seconds (least to most), ratio to what it is compared with"]
    for name, samples in seconds.items():
        line = (
            f"  {name:12} {statistics.median(samples):7.3f}"
            f" ({min(samples):.3f} to {max(samples):.3f})"
        )
        if base := BASES.get(name):
            pairs = zip(samples, seconds[base], strict=False)
            line += f" {statistics.median(a / b for a, b in pairs):7.3f}x of {base}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make the data, measure and print."""
    parser = argparse.ArgumentParser(description="Measures queries of compressed files.")
    parser.add_argument("--scale", type=int, default=10, help="hundredths of a scale factor")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured")
    options = parser.parse_args()
    if missing := [name for name in ("gzip", "zcat", "zstd") if shutil.which(name) is None]:
        raise SystemExit(f"not in PATH: {', '.join(missing)}; install gzip and zstd")
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    with lab.running(), lab.database() as store:
        lab.user.make_folder(lab.folder / "tpch")
        files = make_files(lab.folder / "tpch", options.scale, ["lineitem"], 1, lab.user)
        row = store.table("SELECT columns FROM lab.file_tables WHERE name = 'lineitem'")[0]
        table = TpchTable("lineitem", row["columns"], None)
        q6 = store.table("SELECT statement FROM lab.file_queries WHERE query = 'Q6'")[0]
        text = files.whole("lineitem")
        database = f"benchmark_compressed_{options.scale}"
        lab.source().make_database(database)
        with lab.source().connect(database) as connection:
            for wrapper in (WRAPPER, STOCK):
                connection.execute(f"DROP SERVER IF EXISTS {wrapper} CASCADE".encode())
            ways = ways_of(connection, text, table.columns, q6["statement"], lab)
            sys.stdout.write(
                f"PostgreSQL {lab.installation.version}, DuckDB {duckdb.__version__}, Q6,"
                f" {text.stat().st_size / 1e6:.0f} MB of text, {options.rounds} rounds\n"
            )
            sys.stdout.write(report(measure(ways, options.rounds)))


if __name__ == "__main__":
    main()
