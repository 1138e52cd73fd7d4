"""A proxy between a client and a PostgreSQL server that does one thing wrong, at one message.

It reads the messages of the protocol on real sockets and counts those of one direction from the
moment it is armed, all of them or those of some kind. The N-th is the fault's: before it is passed
on, both connections are closed (`CUT`), or the server process behind it is terminated
(`KILL`), or it and all that follows it are held (`STALL`) until the client sends a cancel request
or the proxy is disarmed. It speaks the protocol without encryption only.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from tollfree.ports import LOOPBACK

CANCEL_REQUEST = struct.pack("!I", 80877102)
BACKEND_KEY_DATA = b"K"


class Action(Enum):
    """What goes wrong."""

    CUT = "cut"
    KILL = "kill"
    STALL = "stall"


class Direction(Enum):
    """Who sends the message."""

    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True)
class Fault:
    """One fault: what happens, before which message."""

    action: Action
    direction: Direction
    number: int
    """Of the message, from 1; of none, 0."""
    containing: bytes = b""
    """What the messages that are counted have in them."""
    kinds: bytes = b""
    """The type bytes of those that are counted; empty for all."""

    def __str__(self) -> str:
        return f"{self.action.value} at {self.direction.value} message {self.number}"


@dataclass(eq=False)
class Connection:
    """One client's connection and its own to the server."""

    client: socket.socket
    server: socket.socket
    pid: int = 0
    """The server process, 0 until it has said so."""

    def close(self) -> None:
        """Close both sockets, also under threads that read from them."""
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@dataclass
class Armed:
    """A fault that waits for its message, and what it has seen."""

    fault: Fault
    seen: int = 0
    fired: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    killed: threading.Event = field(default_factory=threading.Event)
    delivered: list[bytes] = field(default_factory=list)
    """The client's messages that the server has been sent."""


class FaultProxy:
    """The proxy. Listens until `close`; `port` is its own."""

    def __init__(self, server: Path, kill: Callable[[int], None]) -> None:
        """Listen on loopback for clients of the server at the Unix socket `server`. `kill`
        terminates one of its processes and returns when that is gone."""
        self._server = server
        self._kill = kill
        self._lock = threading.Lock()
        self._armed: Armed | None = None
        self._connections: list[Connection] = []
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, fault: Fault) -> Armed:
        """Count messages from now on, until the fault happens or `disarm` is called."""
        armed = Armed(fault)
        with self._lock:
            self._armed = armed
        return armed

    def disarm(self) -> None:
        """Pass everything on from now on, and what is held; wait for a kill that has begun."""
        with self._lock:
            armed, self._armed = self._armed, None
        if armed:
            armed.released.set()
        # It may be at a message that nobody waits for, and hit whatever is sent next.
        if armed and armed.fired.is_set() and armed.fault.action is Action.KILL:
            armed.killed.wait()

    def pids(self) -> list[int]:
        """Return the server processes of all connections there have been, less those forgotten."""
        return [connection.pid for connection in self._connections if connection.pid]

    def forget(self, pids: list[int]) -> None:
        """Forget the connections of server processes that have ended."""
        with self._lock:
            self._connections = [c for c in self._connections if c.pid not in pids]

    def close(self) -> None:
        """Stop listening and close all connections."""
        self.disarm()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            connection = Connection(client, server)
            with self._lock:
                self._connections.append(connection)
            for direction in Direction:
                threading.Thread(
                    target=self._pump, args=(connection, direction), daemon=True
                ).start()

    def _pump(self, connection: Connection, direction: Direction) -> None:
        source, target = connection.client, connection.server
        if direction is Direction.SERVER:
            source, target = target, source
        with contextlib.suppress(OSError):
            for message in messages(source, starts=direction is Direction.CLIENT):
                self._pass_on(connection, direction, message, target)
        connection.close()
        source.close()

    def _pass_on(
        self, connection: Connection, direction: Direction, message: bytes, target: socket.socket
    ) -> None:
        """Send `message` to `target`, after whatever the fault does at it."""
        armed = self._armed
        if message[4:8] == CANCEL_REQUEST:
            target.sendall(message)
            if armed:
                armed.released.set()
            return
        if direction is Direction.SERVER and message[:1] == BACKEND_KEY_DATA:
            (connection.pid,) = struct.unpack_from("!I", message, 5)
        if armed and self._is_due(armed, direction, message):
            self._fail(armed, connection)
        if armed and direction is Direction.CLIENT:
            armed.delivered.append(message)
        target.sendall(message)

    def _is_due(self, armed: Armed, direction: Direction, message: bytes) -> bool:
        fault = armed.fault
        if fault.direction is not direction or fault.containing not in message:
            return False
        if fault.kinds and message[:1] not in fault.kinds:
            return False
        with self._lock:
            armed.seen += 1
            is_due = armed.seen == armed.fault.number
            if is_due:
                armed.fired.set()
            return is_due

    def _fail(self, armed: Armed, connection: Connection) -> None:
        """Do what the fault is; raises `ConnectionAbortedError` when the message is lost by it."""
        action = armed.fault.action
        if action is Action.KILL:
            try:
                if connection.pid:
                    self._kill(connection.pid)
            finally:
                armed.killed.set()
        elif action is Action.STALL:
            armed.released.wait()
        else:
            connection.close()
            raise ConnectionAbortedError


def messages(source: socket.socket, starts: bool) -> Iterator[bytes]:
    """Yield the messages that arrive on `source`, whole, until it is closed. The first message of
    a client has no type byte."""
    while True:
        head = _read(source, 4 if starts else 5)
        if head is None:
            return
        (length,) = struct.unpack("!I", head[-4:])
        body = _read(source, length - 4)
        if body is None:
            return
        yield head + body
        starts = False


def _read(source: socket.socket, size: int) -> bytes | None:
    """Return exactly `size` bytes, None when the connection ends before."""
    data = b""
    while len(data) < size:
        chunk = source.recv(size - len(data))
        if not chunk:
            return None
        data += chunk
    return data
