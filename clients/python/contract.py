"""What the clients in Python share: the command line, the measuring loop and the figures.

CONTRACT.md says what they mean. A client describes its driver in a `Client` and calls `main`. The
loop is written once, as a coroutine, for drivers that block and drivers that do not; where nothing
awaits, `Client.run` drives it without an event loop.
"""

import argparse
import json
import os
import sys
import time
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar

EXIT_FAILURE = 1
EXIT_USAGE = 2

CHUNK_ROWS = 1000
PIPELINE_BATCH = 100
OUTPUT_BUFFER = 1024 * 1024
NS_PER_S = 1_000_000_000

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """The command line."""

    conninfo: str
    sql: str
    output: str | None
    connect_once: bool
    executions: int
    warmup: int
    limit_ns: int | None
    """No execution begins later."""
    method: "Method"


@dataclass(frozen=True)
class Method:
    """One way to get at the rows."""

    name: str
    held: str
    execute: Callable[[Any, "Execution"], Awaitable[None]]
    """Runs the statement `count` times on a connection and takes the rows."""
    letter: str = ""
    """The switch that means it too: a or y."""
    streams: bool = False
    """Cells are read while rows arrive."""
    batch: int = 1
    """How many executions are sent together."""


def run_blocking(loop: Coroutine[Any, Any, T]) -> T:
    """Drive a coroutine that never waits to its end."""
    try:
        loop.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    raise RuntimeError("a client that blocks has awaited something")


@dataclass(frozen=True)
class Client:
    """A driver."""

    driver: str
    driver_version: str
    connect: Callable[[str], Awaitable[Any]]
    close: Callable[[Any], Awaitable[None]]
    methods: Sequence[Method]
    """The normal one first."""
    run: Callable[[Coroutine[Any, Any, None]], None] = run_blocking


def cell_text(cell: object) -> str:
    """Return a value as PostgreSQL would write it in COPY."""
    return cell if type(cell) is str else "\\N" if cell is None else str(cell)


def row_text(row: Iterable[object]) -> bytes:
    """Return a row as COPY writes it."""
    return ("\t".join(map(cell_text, row)) + "\n").encode()


class Reader:
    """Takes rows and looks at every cell of them."""

    wants_text = False
    """Whether the text of rows is needed, so that looking at columns is not enough."""
    rows = 0
    seen = 0

    def take_rows(self, rows: Iterable[Iterable[object]]) -> None:
        """Take rows as the driver gives them."""
        taken = seen = 0
        for row in rows:
            taken += 1
            for cell in row:
                seen += cell is not None
        self.rows += taken
        self.seen += seen

    def take_lines(self, lines: Iterable[bytes]) -> None:
        """Take rows as COPY writes them, and find where their cells end."""
        taken = seen = 0
        for line in lines:
            taken += 1
            seen += len(line.split(b"\t"))
        self.rows += taken
        self.seen += seen


class Printer(Reader):
    """Writes every row to a file."""

    wants_text = True

    def __init__(self, output: BinaryIO) -> None:
        self._write = output.write

    def take_rows(self, rows: Iterable[Iterable[object]]) -> None:
        """Take rows as the driver gives them."""
        self.take_lines(map(row_text, rows))

    def take_lines(self, lines: Iterable[bytes]) -> None:
        """Take rows as COPY writes them."""
        for line in lines:
            self._write(line)
            self.rows += 1


class Checker(Reader):
    """Adds every row to the checksum."""

    wants_text = True
    length = 0
    checksum = 0

    def take_rows(self, rows: Iterable[Iterable[object]]) -> None:
        """Take rows as the driver gives them."""
        self.take_lines(map(row_text, rows))

    def take_lines(self, lines: Iterable[bytes]) -> None:
        """Take rows as COPY writes them."""
        for line in lines:
            self.rows += 1
            self.length += len(line)
            self.checksum = (self.checksum + zlib.crc32(line)) % 2**32


class Blocks:
    """Makes rows of the blocks of a COPY, which end where they like."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._rest = b""

    def take(self, block: bytes) -> None:
        """Take a block."""
        block = self._rest + block
        end = block.rfind(b"\n") + 1
        self._rest = block[end:]
        self._reader.take_lines(block[:end].splitlines(keepends=True))


@dataclass
class Execution:
    """What a method is to do, and when it did what."""

    request: Request
    reader: Reader
    count: int
    sent_ns: int = 0
    first_row_ns: int = 0
    all_rows_ns: int = 0

    @property
    def sql(self) -> str:
        """The statement."""
        return self.request.sql

    @property
    def copy(self) -> str:
        """The statement inside a COPY."""
        return f"COPY ({self.request.sql}) TO STDOUT"

    def sent(self) -> None:
        """To be called when the statement is about to be sent."""
        self.sent_ns = time.monotonic_ns()

    def first_row(self) -> None:
        """To be called, as often as is convenient, when a row is there."""
        if not self.first_row_ns:
            self.first_row_ns = time.monotonic_ns()

    def all_rows(self) -> None:
        """To be called when all rows are there."""
        self.all_rows_ns = time.monotonic_ns()
        self.first_row_ns = self.first_row_ns or self.all_rows_ns


@dataclass
class Times:
    """What executions have taken together."""

    executions: int = 0
    connect_ns: int = 0
    first_row_ns: int = 0
    all_rows_ns: int = 0
    materialise_ns: int = 0
    total_ns: int = 0
    cpu_ns: int = 0
    connections: int = 0


@dataclass
class Measurement:
    """The loop: connects, executes, disconnects, and keeps the times."""

    client: Client
    request: Request
    limit_ns: int | None = None
    times: Times = field(default_factory=Times)

    async def run(self, reader: Reader, executions: int, connection: Any = None) -> Any:
        """Run the statement so often, or until the limit; return the connection if it is open."""
        once, method = self.request.connect_once, self.request.method
        start_ns = time.monotonic_ns()
        while executions > 0 and not self._is_over(start_ns):
            count = min(method.batch if once else 1, executions)
            if connection is None:
                connection = await self._connect()
            await self._execute(connection, reader, count)
            executions -= count
            if not once:
                await self.client.close(connection)
                connection = None
        return connection

    def _is_over(self, start_ns: int) -> bool:
        """Return whether the limit has passed; the first execution is always done."""
        if self.limit_ns is None or not self.times.executions:
            return False
        return time.monotonic_ns() - start_ns >= self.limit_ns

    async def _connect(self) -> Any:
        start_ns = time.monotonic_ns()
        connection = await self.client.connect(self.request.conninfo)
        self.times.connect_ns += time.monotonic_ns() - start_ns
        self.times.connections += 1
        return connection

    async def _execute(self, connection: Any, reader: Reader, count: int) -> None:
        execution = Execution(self.request, reader, count)
        await self.request.method.execute(connection, execution)
        self.times.executions += count
        self.times.first_row_ns += execution.first_row_ns - execution.sent_ns
        self.times.all_rows_ns += execution.all_rows_ns - execution.sent_ns
        if not self.request.method.streams:
            self.times.materialise_ns += time.monotonic_ns() - execution.all_rows_ns


async def _timed(client: Client, request: Request) -> tuple[Measurement, Reader, Any]:
    """Do the executions that count; return what they took and the connection if it is open."""
    measurement = Measurement(client, request, request.limit_ns)
    with Path(request.output or os.devnull).open("wb", OUTPUT_BUFFER) as output:
        reader = Printer(output) if request.output else Reader()
        start_cpu_ns, start_ns = time.process_time_ns(), time.monotonic_ns()
        connection = await measurement.run(reader, request.executions)
        output.flush()
        measurement.times.total_ns = time.monotonic_ns() - start_ns
        measurement.times.cpu_ns = time.process_time_ns() - start_cpu_ns
    return measurement, reader, connection


async def _measure(client: Client, request: Request) -> None:
    warm = await Measurement(client, request).run(Reader(), request.warmup)
    if warm is not None:
        await client.close(warm)
    measurement, reader, connection = await _timed(client, request)
    checker = Checker()
    connection = await Measurement(client, request).run(checker, 1, connection)
    if connection is not None:
        await client.close(connection)
    _print(client, request, measurement.times, reader.rows, checker)


def _print(client: Client, request: Request, times: Times, rows: int, checker: Checker) -> None:
    method = request.method
    figures = {
        "driver": client.driver,
        "driver_version": client.driver_version,
        "method": method.name,
        "held": method.held,
        "executions": times.executions,
        "connections": times.connections,
        "rows": rows,
        "bytes": checker.length,
        "checksum": f"{checker.checksum:08x}",
        "connect_ns": times.connect_ns,
        "first_row_ns": times.first_row_ns,
        "all_rows_ns": times.all_rows_ns,
        "materialise_ns": None if method.streams else times.materialise_ns,
        "total_ns": times.total_ns,
        "cpu_ns": times.cpu_ns,
        "wire_bytes": None,
        "execution_us": round(times.total_ns / 1000 / times.executions, 3),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit."""
        _fail(EXIT_USAGE, message)


def _fail(code: int, message: str) -> NoReturn:
    line = " ".join(message.split())
    sys.stderr.write(f"{Path(sys.argv[0]).name}: {line}\n")
    sys.stderr.flush()
    # Past the clean-up of a driver that is in the middle of something.
    os._exit(code)


def _count(low: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isdigit() or not low <= int(text) <= 1_000_000_000:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {low} on")
        return int(text)

    return parse


def _parse(client: Client) -> Request:
    parser = _Parser(
        description=f"Runs a statement through {client.driver}; see CONTRACT.md.",
        epilog="Methods: " + ", ".join(method.name for method in client.methods),
        allow_abbrev=False,
    )
    parser.add_argument("-c", metavar="CONNINFO", required=True)
    parser.add_argument("-s", metavar="SQL", required=True)
    parser.add_argument("-p", choices=("0", "1"), default="0")
    parser.add_argument("-o", metavar="FILE", default="/dev/null")
    parser.add_argument("-k", choices=("0", "1"), default="0")
    parser.add_argument("-n", type=_count(1), default=1)
    parser.add_argument("-w", type=_count(0), default=0)
    parser.add_argument("-t", metavar="SECONDS", type=_count(1))
    parser.add_argument("-f", metavar="FILE")
    method = parser.add_mutually_exclusive_group()
    method.add_argument("-m", choices=[method.name for method in client.methods])
    for letter in "ay":
        named = [m.name for m in client.methods if m.letter == letter]
        if named:
            method.add_argument(f"-{letter}", dest="m", action="store_const", const=named[0])
    given = parser.parse_args()
    chosen = next(m for m in client.methods if given.m in (None, m.name))
    output = given.o if given.p == "1" else None
    limit_ns = given.t and given.t * NS_PER_S
    return Request(given.c, given.s, output, given.k == "1", given.n, given.w, limit_ns, chosen)


def main(client: Client) -> NoReturn:
    """Execute the command line and exit."""
    request = _parse(client)
    try:
        client.run(_measure(client, request))
        sys.stdout.flush()
    except Exception as error:
        _fail(EXIT_FAILURE, f"{type(error).__name__}: {error}")
    sys.exit(0)
