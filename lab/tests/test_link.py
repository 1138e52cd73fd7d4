"""The link: what it carries, what it counts, what it says, against real sockets.

Nothing here asserts how fast the link is; a round trip being shorter than was asked for is an
error of the link, and is asserted.
"""

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import socket
import stat
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tollfree
from tollfree.paths import BUILD, CHECKOUT

LIMIT_S = 30.0
LOOPBACK = "127.0.0.1"
PLAIN = BUILD / "link" / "tollfree-link"
SANITIZED = BUILD / "link" / "sanitize" / "tollfree-link"
MIB = 1 << 20

Handler = Callable[[socket.socket], None]


def make_link(target: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "-s", "-C", str(CHECKOUT / "link"), target, f"BUILDDIR={PLAIN.parent}"],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=300,
    )


@pytest.fixture(scope="session")
def plain_program() -> Path:
    """The link as it is installed."""
    made = make_link("all")
    assert made.returncode == 0, made.stdout + made.stderr
    return PLAIN


@pytest.fixture(scope="session")
def sanitizer_refusal() -> str | None:
    """Why the sanitizer build cannot be had, or None."""
    made = make_link("sanitize")
    return None if made.returncode == 0 else (made.stdout + made.stderr)[-500:]


@pytest.fixture(scope="session")
def program(plain_program: Path, sanitizer_refusal: str | None) -> Path:
    """The link under test: the sanitizer build where it links."""
    return plain_program if sanitizer_refusal else SANITIZED


@pytest.fixture
def control() -> Iterator[Path]:
    """A path for a control socket, short whatever the name of the test."""
    with contextlib.ExitStack() as stack:
        folder = Path(f"/tmp/tollfree-link-{os.getpid()}-{random.randrange(1 << 40):x}")
        folder.mkdir(mode=0o700)
        stack.callback(folder.rmdir)
        path = folder / "control"
        stack.callback(path.unlink, missing_ok=True)
        yield path


def ask_on(client: socket.socket, *commands: str) -> list[Any]:
    client.sendall("".join(f"{command}\n" for command in commands).encode())
    with client.makefile("r", encoding="utf-8") as answers:
        return [json.loads(answers.readline()) for _ in commands]


def control_client(path: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(LIMIT_S)
    client.connect(str(path))
    return client


@dataclass(frozen=True)
class RunningLink:
    """A link in a process of its own."""

    process: subprocess.Popen[str]
    address: tuple[str, int]
    control: Path

    def connect(self) -> socket.socket:
        client = socket.create_connection(self.address, timeout=LIMIT_S)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def stats(self) -> dict[str, Any]:
        with control_client(self.control) as client:
            answer: dict[str, Any] = ask_on(client, "stats")[0]
        return answer

    def connections(self) -> list[dict[str, Any]]:
        with control_client(self.control) as client:
            answer: list[dict[str, Any]] = ask_on(client, "connections")[0]
        return answer

    def wait_until(self, **expected: int) -> None:
        """Wait until the totals show these values; they follow a close by a moment."""
        deadline = time.monotonic() + LIMIT_S
        while (shown := self.stats()) | expected != shown:
            assert time.monotonic() < deadline, f"{shown} never showed {expected}"
            time.sleep(0.005)


def arguments(
    program: Path, server: tuple[str, int], delay_us: int, control: Path, listen: str | None = None
) -> list[str]:
    return [
        *(str(program), "--listen", listen or f"{LOOPBACK}:0"),
        *("--connect", f"{server[0]}:{server[1]}"),
        *("--delay-us", str(delay_us), "--control", str(control)),
    ]


@contextlib.contextmanager
def running(command: list[str], stop: signal.Signals = signal.SIGTERM) -> Iterator[RunningLink]:
    """Run a link; it must end cleanly, say nothing, and leave no socket behind."""
    control = Path(command[command.index("--control") + 1])
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    with process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            announced = re.fullmatch(r"listening 127\.0\.0\.1:(\d+)\n", line)
            assert announced, line + process.communicate(timeout=LIMIT_S)[1]
            assert process.stdout.readline() == "ready\n"
            yield RunningLink(process, (LOOPBACK, int(announced[1])), control)
        finally:
            process.send_signal(stop)
            output, complaint = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, output, complaint) == (0, "", "")
    assert not control.exists()


@contextlib.contextmanager
def serving(handler: Handler) -> Iterator[tuple[str, int]]:
    """Serve each connection with the handler in its own thread.

    An error in a handler fails the test: pytest warns of it, and warnings are errors here.
    """
    with socket.create_server((LOOPBACK, 0), backlog=1024) as listener:
        threads: list[threading.Thread] = []

        def serve(connection: socket.socket) -> None:
            with connection:
                connection.settimeout(LIMIT_S)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                handler(connection)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threads.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
                    threads[-1].start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield listener.getsockname()
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join(LIMIT_S)
            for thread in threads:
                thread.join(LIMIT_S)
                assert not thread.is_alive()


def echo(connection: socket.socket) -> None:
    while data := connection.recv(65536):
        connection.sendall(data)


def receive(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = connection.recv(length - len(data))
        assert piece, f"the stream ended after {len(data)} of {length} bytes"
        data += piece
    return bytes(data)


def receive_all(connection: socket.socket) -> bytes:
    data = bytearray()
    while piece := connection.recv(65536):
        data += piece
    return bytes(data)


def send_pieces(connection: socket.socket, data: bytes, chance: random.Random) -> None:
    """Send the data in pieces of very different sizes, and then its end."""
    sent = 0
    while sent < len(data):
        length = int(2 ** chance.uniform(0, 17))
        connection.sendall(data[sent : sent + length])
        sent += length
    connection.shutdown(socket.SHUT_WR)


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


# What it carries


def test_the_link_under_test_is_sanitized(sanitizer_refusal: str | None, program: Path) -> None:
    if sanitizer_refusal:
        pytest.skip(f"the sanitizer build does not link here: {sanitizer_refusal}")
    assert b"__asan_init" in program.read_bytes()


@pytest.mark.parametrize("delay_us", [0, 300])
@pytest.mark.parametrize("seed", [1, 2])
def test_streams_arrive_unchanged_both_ways(
    program: Path, control: Path, delay_us: int, seed: int
) -> None:
    chance = random.Random(seed)
    up, down = chance.randbytes(3 * MIB + seed), chance.randbytes(2 * MIB - seed)
    arrived: list[bytes] = []

    def exchange(connection: socket.socket) -> None:
        sender = threading.Thread(
            target=send_pieces, args=(connection, down, random.Random(seed + 10))
        )
        sender.start()
        arrived.append(receive_all(connection))
        sender.join(LIMIT_S)

    with (
        serving(exchange) as server,
        running(arguments(program, server, delay_us, control)) as link,
        link.connect() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        sending = pool.submit(send_pieces, client, up, random.Random(seed + 20))
        received = receive_all(client)
        sending.result(LIMIT_S)
        link.wait_until(connections_open=0, bytes_to_server=len(up), bytes_to_client=len(received))
    assert received == down
    assert arrived == [up]


def resident_kib(pid: int) -> int:
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.M)
    assert found
    return int(found[1])


class Flood:
    """Sends far more than every buffer on the way together holds."""

    length = 96 * MIB
    block = random.Random(7).randbytes(MIB)

    def __init__(self) -> None:
        self.sent = 0

    def send(self, connection: socket.socket) -> None:
        view = memoryview(self.block)
        while self.sent < self.length:
            offset = self.sent % MIB
            self.sent += connection.send(view[offset:])

    def wait_until_stuck(self) -> None:
        deadline = time.monotonic() + LIMIT_S
        before = -1
        while self.sent == 0 or self.sent != before:
            assert time.monotonic() < deadline
            before = self.sent
            time.sleep(0.3)

    def check(self, connection: socket.socket) -> None:
        """Read all of it and compare."""
        wanted, read = hashlib.sha256(), hashlib.sha256()
        for _ in range(self.length // MIB):
            wanted.update(self.block)
            read.update(receive(connection, MIB))
        assert read.digest() == wanted.digest()


@pytest.mark.parametrize("flooded", ["client", "server"])
def test_a_slow_reader_bounds_memory_and_loses_nothing(
    plain_program: Path, control: Path, flooded: str
) -> None:
    flood = Flood()
    released = threading.Event()

    def serve(connection: socket.socket) -> None:
        if flooded == "client":
            flood.send(connection)
        else:
            assert released.wait(LIMIT_S)
            flood.check(connection)
            connection.sendall(b"!")

    with (
        serving(serve) as server,
        running(arguments(plain_program, server, 100, control)) as link,
        link.connect() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        sending = pool.submit(flood.send, client) if flooded == "server" else None
        flood.wait_until_stuck()
        assert flood.sent < flood.length
        assert resident_kib(link.process.pid) < 16 * 1024
        assert link.stats()["connections_open"] == 1
        released.set()
        if sending:
            sending.result(LIMIT_S)
            assert client.recv(1) == b"!"
        else:
            flood.check(client)


def cpu_ticks(pid: int) -> int:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize("ended", [(), ("client",), ("server",), ("client", "server")])
@pytest.mark.parametrize("flood_mib", [0, 5, 64])
def test_waiting_is_done_asleep(
    plain_program: Path, control: Path, flood_mib: int, ended: tuple[str, ...]
) -> None:
    """Whatever a connection waits for, half-closed and full ones too, it stays without spinning.

    5 MiB are more than the client's buffers and fewer than with the queue's, so that the link has
    read everything and still has some to deliver; 64 MiB leave some unread.
    """
    done = flood_mib == 0 and len(ended) == 2
    released = threading.Event()

    def serve(connection: socket.socket) -> None:
        connection.settimeout(0.1)
        with contextlib.suppress(TimeoutError):
            connection.sendall(Flood.block * flood_mib)
        if "server" in ended:
            connection.shutdown(socket.SHUT_WR)
        assert released.wait(LIMIT_S)

    with (
        serving(serve) as server,
        running(arguments(plain_program, server, 100, control)) as link,
        link.connect() as client,
    ):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        if "client" in ended:
            client.shutdown(socket.SHUT_WR)
        time.sleep(0.3)
        begun, begun_s = cpu_ticks(link.process.pid), time.monotonic()
        time.sleep(0.3)
        used_s = (cpu_ticks(link.process.pid) - begun) / os.sysconf("SC_CLK_TCK")
        assert used_s < (time.monotonic() - begun_s) / 2
        assert link.stats()["connections_open"] == (0 if done else 1)
        released.set()


def test_each_direction_ends_by_itself(program: Path, control: Path) -> None:
    def answer_at_the_end(connection: socket.socket) -> None:
        question = receive_all(connection)
        connection.sendall(question[::-1])

    with (
        serving(answer_at_the_end) as server,
        running(arguments(program, server, 500, control)) as link,
    ):
        with link.connect() as client:
            client.sendall(b"abc")
            client.shutdown(socket.SHUT_WR)
            assert receive_all(client) == b"cba"
        link.wait_until(connections_opened=1, connections_open=0)


def test_a_client_that_ends_without_a_word_is_carried(program: Path, control: Path) -> None:
    heard: list[bytes] = []
    with (
        serving(lambda connection: heard.append(receive_all(connection))) as server,
        running(arguments(program, server, 0, control)) as link,
    ):
        link.connect().close()
        link.wait_until(connections_opened=1, connections_open=0, flights=0)
    assert heard == [b""]


@pytest.mark.parametrize("delay_us", [0, 2000])
def test_a_refused_server_closes_the_client(program: Path, control: Path, delay_us: int) -> None:
    with socket.create_server((LOOPBACK, 0)) as placeholder:
        refusing = placeholder.getsockname()
    with running(arguments(program, refusing, delay_us, control)) as link:
        # Without a delay the reset may even outrun the client's own connect call.
        with pytest.raises(ConnectionResetError), link.connect() as client:
            client.recv(1)
        link.wait_until(connections_opened=1, connections_open=0)


def test_a_further_address_of_the_server_is_tried(program: Path, control: Path) -> None:
    addresses = socket.getaddrinfo("localhost", None, type=socket.SOCK_STREAM)
    if len({address[4][0] for address in addresses}) < 2:
        pytest.skip("localhost has one address here")
    with (
        serving(echo) as (_, port),
        running(arguments(program, ("localhost", port), 0, control)) as link,
        link.connect() as client,
    ):
        client.sendall(b"x")
        assert client.recv(1) == b"x"


def test_a_client_reset_follows_its_data(program: Path, control: Path) -> None:
    heard: list[bytes] = []

    def listen(connection: socket.socket) -> None:
        connection.sendall(b"go")
        heard.append(receive(connection, 10))
        with pytest.raises(ConnectionResetError):
            connection.recv(1)

    with (
        serving(listen) as server,
        running(arguments(program, server, 5000, control)) as link,
    ):
        client = link.connect()
        receive(client, 2)
        client.sendall(b"last words")
        link.wait_until(bytes_to_server=10)
        reset(client)
        link.wait_until(connections_open=0)
    assert heard == [b"last words"]


def test_a_server_reset_reaches_the_client(program: Path, control: Path) -> None:
    def slam(connection: socket.socket) -> None:
        connection.recv(1)
        reset(connection)

    with (
        serving(slam) as server,
        running(arguments(program, server, 200, control)) as link,
    ):
        with link.connect() as client:
            client.sendall(b"x")
            with pytest.raises(ConnectionResetError):
                client.recv(1)
        link.wait_until(connections_opened=1, connections_open=0)


def test_many_connections_are_kept_apart(program: Path, control: Path) -> None:
    count, remembered = 300, 256
    with (
        serving(echo) as server,
        running(arguments(program, server, 1000, control)) as link,
        contextlib.ExitStack() as clients,
    ):
        opened = [clients.enter_context(link.connect()) for _ in range(count)]
        for number, client in enumerate(opened):
            client.sendall(f"{number:08}".encode())
        for number, client in enumerate(opened):
            assert receive(client, 8) == f"{number:08}".encode()
        link.wait_until(connections_opened=count, connections_open=count, flights=count)
        shown = link.connections()
        assert {entry["client"] for entry in shown} == {
            f"{LOOPBACK}:{client.getsockname()[1]}" for client in opened
        }
        clients.close()
        link.wait_until(connections_opened=count, connections_open=0, flights=count)
        closed = link.connections()
        assert len(closed) == remembered
        assert {entry["open"] for entry in closed} == {False}
        assert {entry["bytes_to_client"] for entry in closed} == {8}


def test_clients_beyond_the_descriptors_wait_their_turn(program: Path, control: Path) -> None:
    with (
        serving(echo) as server,
        running(["prlimit", "--nofile=24", *arguments(program, server, 0, control)]) as link,
        contextlib.ExitStack() as clients,
    ):
        opened = [clients.enter_context(link.connect()) for _ in range(10)]
        for client in opened:
            client.sendall(b"x")
        link.wait_until(connections_opened=4, connections_open=4, bytes_to_client=4)
        for client in opened:
            assert client.recv(1) == b"x"
            client.close()
        link.wait_until(connections_opened=10, connections_open=0, flights=10)


def test_too_few_descriptors_are_named(program: Path, control: Path) -> None:
    command = ["prlimit", "--nofile=17", *arguments(program, (LOOPBACK, 1), 0, control)]
    code, message = refusal(command)
    assert code == 1
    assert "too few file descriptors" in message


# What it counts


@pytest.mark.parametrize("delay_us", [0, 100])
def test_awaited_turns_are_flights(program: Path, control: Path, delay_us: int) -> None:
    turns = 25
    with (
        serving(echo) as server,
        running(arguments(program, server, delay_us, control)) as link,
        link.connect() as client,
    ):
        for turn in range(1, turns + 1):
            client.sendall(b"ab")
            receive(client, 2)
            assert link.stats()["flights"] == turn
        shown = link.stats()
        assert (shown["bytes_to_server"], shown["bytes_to_client"]) == (2 * turns, 2 * turns)
        assert shown["requested_one_way_us"] == delay_us
        assert 0 < shown["lateness_count"] <= 2 * turns
        assert 0 <= shown["lateness_mean_ns"] <= shown["lateness_max_ns"]


def test_what_is_not_awaited_shares_a_flight(program: Path, control: Path) -> None:
    with (
        serving(echo) as server,
        running(arguments(program, server, 20000, control)) as link,
        link.connect() as client,
    ):
        for turn in range(1, 6):
            for _ in range(4):
                client.sendall(b"x")
                time.sleep(0.001)
            receive(client, 4)
            assert link.stats()["flights"] == turn


def test_an_answer_in_pieces_is_one_answer(program: Path, control: Path) -> None:
    def answer_in_pieces(connection: socket.socket) -> None:
        while connection.recv(1):
            for piece in (b"a", b"b", b"c"):
                connection.sendall(piece)
                time.sleep(0.003)

    with (
        serving(answer_in_pieces) as server,
        running(arguments(program, server, 500, control)) as link,
        link.connect() as client,
    ):
        for _ in range(7):
            client.sendall(b"?")
            assert receive(client, 3) == b"abc"
        assert link.stats()["flights"] == 7


def test_a_greeting_is_not_a_flight(program: Path, control: Path) -> None:
    def greet(connection: socket.socket) -> None:
        connection.sendall(b"hello")
        echo(connection)

    with (
        serving(greet) as server,
        running(arguments(program, server, 500, control)) as link,
        link.connect() as client,
    ):
        assert receive(client, 5) == b"hello"
        assert link.stats()["flights"] == 0
        client.sendall(b"x")
        receive(client, 1)
        assert link.stats()["flights"] == 1


def message(kind: bytes, length: int) -> bytes:
    """Return a message of the server, with so many bytes behind its header."""
    return kind + struct.pack("!I", length + 4) + b"D" * length


def session_bytes(draw: random.Random) -> tuple[bytes, int]:
    """Return what a server sends in a session, and how many rows that has."""
    kinds = [draw.choice((b"D", b"D", b"T", b"C", b"N", b"S", b"d")) for _ in range(200)]
    rest = (message(kind, draw.choice((0, 1, 4, 5, 300, 70_000))) for kind in kinds)
    return message(b"R", 4) + b"".join(rest), kinds.count(b"D")


@pytest.mark.parametrize("refusals", [0, 1, 2])
def test_rows_are_counted(program: Path, control: Path, refusals: int) -> None:
    draw = random.Random(refusals)
    sent, rows = session_bytes(draw)
    sent = b"N" * refusals + sent

    def send(connection: socket.socket) -> None:
        send_pieces(connection, sent, draw)

    with (
        serving(send) as server,
        running(arguments(program, server, 0, control)) as link,
        link.connect() as client,
    ):
        assert receive(client, len(sent)) == sent
        assert link.stats()["rows_to_client"] == rows
        assert link.connections()[0]["rows_to_client"] == rows


@pytest.mark.parametrize(
    "sent", [b"S" + message(b"R", 4) + message(b"D", 9), b"HTTP/1.1", b"R\0\0\0\3D\0\0\0\4"]
)
def test_what_cannot_be_read_has_no_rows(program: Path, control: Path, sent: bytes) -> None:
    """An encrypted session, another protocol, and a message that is shorter than its length."""
    with (
        serving(lambda connection: connection.sendall(sent)) as server,
        running(arguments(program, server, 0, control)) as link,
        link.connect() as client,
    ):
        assert receive(client, len(sent)) == sent
        assert link.stats()["rows_to_client"] == 0


def test_connections_are_counted_one_by_one(program: Path, control: Path) -> None:
    with (
        serving(echo) as server,
        running(arguments(program, server, 0, control)) as link,
        link.connect() as first,
        link.connect() as second,
    ):
        for client, turns in ((first, 3), (second, 5)):
            for _ in range(turns):
                client.sendall(b"x")
                receive(client, 1)
        first.close()
        link.wait_until(connections_open=1)
        shown = {entry["id"]: entry for entry in link.connections()}
        assert {number: entry["flights"] for number, entry in shown.items()} == {1: 3, 2: 5}
        assert {number: entry["open"] for number, entry in shown.items()} == {1: False, 2: True}
        assert link.stats()["flights"] == 8


# How long it takes, at least


@pytest.mark.parametrize("delay_us", [0, 137, 2000, 20000])
def test_no_crossing_is_shorter_than_asked_for(program: Path, control: Path, delay_us: int) -> None:
    delay_ns = delay_us * 1000

    def tell_the_time(connection: socket.socket) -> None:
        while connection.recv(1):
            connection.sendall(struct.pack("q", time.monotonic_ns()))

    with (
        serving(tell_the_time) as server,
        running(arguments(program, server, delay_us, control)) as link,
    ):
        begun_ns = time.monotonic_ns()
        with link.connect() as client:
            for turn in range(15):
                sent_ns = time.monotonic_ns()
                client.sendall(b"?")
                (heard_ns,) = struct.unpack("q", receive(client, 8))
                answered_ns = time.monotonic_ns()
                assert heard_ns - sent_ns >= delay_ns
                assert answered_ns - heard_ns >= delay_ns
                if turn == 0:
                    assert heard_ns - begun_ns >= 3 * delay_ns
                    assert answered_ns - begun_ns >= 4 * delay_ns


def test_an_end_takes_the_delay_too(program: Path, control: Path) -> None:
    ended_ns: list[int] = []

    def note_the_end(connection: socket.socket) -> None:
        connection.sendall(b"!")
        assert receive_all(connection) == b""
        ended_ns.append(time.monotonic_ns())

    with (
        serving(note_the_end) as server,
        running(arguments(program, server, 20000, control)) as link,
        link.connect() as client,
    ):
        receive(client, 1)
        shut_ns = time.monotonic_ns()
        client.shutdown(socket.SHUT_WR)
        assert receive_all(client) == b""
        assert time.monotonic_ns() - shut_ns >= 2 * 20_000_000
    assert ended_ns[0] - shut_ns >= 20_000_000


# The control socket


@pytest.fixture
def echo_link(program: Path, control: Path) -> Iterator[RunningLink]:
    """A link without delay to a server that echoes."""
    with serving(echo) as server, running(arguments(program, server, 0, control)) as link:
        yield link


def check_data_path(link: RunningLink) -> None:
    with link.connect() as client:
        client.sendall(b"x")
        assert receive(client, 1) == b"x"


def test_control_is_for_its_owner(echo_link: RunningLink) -> None:
    mode = echo_link.control.stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_control_takes_commands_in_a_row(echo_link: RunningLink) -> None:
    with control_client(echo_link.control) as client:
        stats, error, connections = ask_on(client, "stats", "nonsense", "connections")
        assert stats["connections_opened"] == 0
        assert list(error) == ["error"]
        assert connections == []


def test_control_takes_a_command_in_pieces(echo_link: RunningLink) -> None:
    with control_client(echo_link.control) as client:
        client.sendall(b"sta")
        assert echo_link.stats()["flights"] == 0
        client.sendall(b"ts\n")
        client.shutdown(socket.SHUT_WR)
        assert json.loads(receive_all(client))["requested_one_way_us"] == 0


def test_control_drops_an_endless_line(echo_link: RunningLink) -> None:
    with control_client(echo_link.control) as client:
        client.sendall(b"x" * 64)
        assert client.recv(1) == b""
    check_data_path(echo_link)


def test_control_clients_never_hold_up_the_data(echo_link: RunningLink) -> None:
    with contextlib.ExitStack() as clients:
        for _ in range(60):
            clients.enter_context(echo_link.connect())
        deaf = clients.enter_context(control_client(echo_link.control))
        deaf.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                deaf.send(b"connections\n")
        for _ in range(7):
            clients.enter_context(control_client(echo_link.control))
        check_data_path(echo_link)
        waiting = clients.enter_context(control_client(echo_link.control))
        deaf.close()
        assert ask_on(waiting, "stats")[0]["connections_opened"] == 61


# Starting and stopping


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_cleanly(program: Path, control: Path, stop: signal.Signals) -> None:
    def listen(connection: socket.socket) -> None:
        with contextlib.suppress(ConnectionResetError):
            receive_all(connection)

    with (
        serving(listen) as server,
        contextlib.ExitStack() as clients,
        running(arguments(program, server, 20000, control), stop) as link,
    ):
        for _ in range(3):
            clients.enter_context(link.connect()).sendall(b"on its way")
        clients.enter_context(control_client(control))
        link.wait_until(connections_open=3, bytes_to_server=30)


def refusal(command: list[str]) -> tuple[int, str]:
    """Run a link that must not start; return its exit code and its one line."""
    done = subprocess.run(
        command, capture_output=True, check=False, encoding="utf-8", timeout=LIMIT_S
    )
    assert done.stdout == ""
    assert re.fullmatch(r"tollfree-link: .+\n", done.stderr), done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("option", "value", "remedy"),
    [
        ("--delay-us", "-1", "from 0 to 20000"),
        ("--delay-us", "20001", "from 0 to 20000"),
        ("--delay-us", "1.5", "from 0 to 20000"),
        ("--delay-us", "", "from 0 to 20000"),
        ("--delay-us", "99999999999999999999", "from 0 to 20000"),
        ("--listen", "5432", "give HOST:PORT"),
        ("--listen", "127.0.0.1:65536", "give HOST:PORT"),
        ("--listen", "127.0.0.1:", "give HOST:PORT"),
        ("--listen", "192.0.2.1:0", "an address of this machine"),
        ("--connect", ":5432", "give HOST:PORT"),
        ("--connect", "127.0.0.1:postgresql", "give HOST:PORT"),
        ("--control", "", "give a path"),
        ("--control", "/tmp/" + "x" * 103, "1 to 107 bytes"),
        ("--control", "/nonexistent/control", "a folder you may write to"),
    ],
)
def test_a_bad_value_is_named(
    program: Path, control: Path, option: str, value: str, remedy: str
) -> None:
    command = arguments(program, (LOOPBACK, 1), 0, control)
    command[command.index(option) + 1] = value
    code, message = refusal(command)
    assert code == 2
    assert f'{option} "{value}"' in message
    assert remedy in message


@pytest.mark.parametrize("option", ["--listen", "--connect", "--delay-us", "--control"])
def test_a_missing_option_is_named(program: Path, control: Path, option: str) -> None:
    command = arguments(program, (LOOPBACK, 1), 0, control)
    at = command.index(option)
    code, message = refusal(command[:at] + command[at + 2 :])
    assert code == 2
    assert f"{option} is missing" in message
    code, message = refusal([str(program), option])
    assert code == 2
    assert f"{option} has no value" in message


@pytest.mark.parametrize("surplus", ["--delay", "--nonsense", "-x", "stray"])
def test_what_is_not_an_option_is_named(program: Path, control: Path, surplus: str) -> None:
    code, message = refusal([*arguments(program, (LOOPBACK, 1), 0, control), surplus])
    assert code == 2
    assert "--help" in message


def test_a_taken_port_is_named(program: Path, control: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        listen = f"{LOOPBACK}:{taken.getsockname()[1]}"
        code, message = refusal(arguments(program, (LOOPBACK, 1), 0, control, listen))
    assert code == 3
    assert f'--listen "{listen}" is in use' in message
    assert not control.exists()


def test_a_taken_control_socket_is_named_and_kept(program: Path, control: Path) -> None:
    with running(arguments(program, (LOOPBACK, 1), 0, control)) as link:
        code, message = refusal(arguments(program, (LOOPBACK, 1), 0, control))
        assert code == 3
        assert f'--control "{control}" is in use' in message
        assert link.stats()["connections_opened"] == 0


def test_a_file_in_the_way_of_the_control_socket_is_kept(program: Path, control: Path) -> None:
    control.write_text("precious")
    code, message = refusal(arguments(program, (LOOPBACK, 1), 0, control))
    assert code == 2
    assert "is not a socket" in message
    assert control.read_text() == "precious"


def test_a_running_link_is_asked_by_the_program_too(program: Path, control: Path) -> None:
    asked = [str(program), "--control", str(control), "--ask"]
    code, message = refusal([*asked, "stats"])
    assert code == 1
    assert f'--control "{control}"' in message
    with running(arguments(program, (LOOPBACK, 1), 0, control)) as link:
        for command, answer in (
            ("stats", link.stats()),
            ("connections", link.connections()),
            ("nonsense", {"error": "unknown command: send stats or connections"}),
        ):
            done = subprocess.run(
                [*asked, command], capture_output=True, check=True, timeout=LIMIT_S
            )
            assert json.loads(done.stdout) == answer
    code, message = refusal([str(program), "--ask", "stats"])
    assert (code, "--control is missing" in message) == (2, True)


def test_a_killed_link_can_be_started_again(program: Path, control: Path) -> None:
    command = arguments(program, (LOOPBACK, 1), 0, control)
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as killed:
        assert killed.stdout
        assert killed.stdout.readline().startswith("listening ")
        assert killed.stdout.readline() == "ready\n"
        killed.kill()
    assert control.exists()
    with running(command) as link:
        assert link.stats()["flights"] == 0


def test_help_and_version_tell_what_there_is(program: Path) -> None:
    def told(option: str) -> str:
        return subprocess.run(
            [program, option], capture_output=True, check=True, encoding="utf-8", timeout=LIMIT_S
        ).stdout

    assert told("--version") == f"tollfree-link {tollfree.__version__}\n"
    for option in (
        "--listen",
        "--connect",
        "--delay-us",
        "--control",
        "--ask",
        "--version",
        "--help",
    ):
        assert f"  {option}" in told("--help")
