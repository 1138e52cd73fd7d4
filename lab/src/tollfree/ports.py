"""TCP ports on loopback, and names of Unix sockets.

Finds free ports, and reports a requested one that is taken.

A port is only ours once a server has bound it. Between the choice and the bind, `reserved_ports`
holds a lock that every tollfree of this user takes, so two labs that start together do not choose
the same ones; a stranger can still be faster, and then the server's own error says so.
"""

import fcntl
import os
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tollfree.errors import FileError, LabStateError
from tollfree.paths import cache_home

LOOPBACK = "127.0.0.1"
FIRST_PORT = 25430
LAST_PORT = 26429
"""Below the range that the kernel takes the ports of outgoing connections from."""
LONGEST_SOCKET_PATH = 107
"""Bytes, on Linux."""


def require_socket_path(path: Path) -> None:
    """Raise `LabStateError` for the path of a Unix socket that is too long for the system."""
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        raise LabStateError(
            f"the socket path {path} is longer than {LONGEST_SOCKET_PATH} bytes",
            "Name a shorter folder with the environment variable TOLLFREE_HOME.",
        )


def is_free(port: int) -> bool:
    """Return whether `port` on loopback can be bound now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


@contextmanager
def reserved_ports(
    count: int, first: int | None = None, *, taken: Collection[int] = ()
) -> Iterator[list[int]]:
    """Yield `count` free ports: `first` and those after it when given, else any but those `taken`,
    which also name the sockets of servers that do not listen.

    Start the servers before leaving the context. Raises `LabStateError` when a wanted port is
    taken or none are left.
    """
    lock = _open_lock()
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _choose(count, first, taken)
    finally:
        os.close(lock)


def _open_lock() -> int:
    """Open the lock's file, which no other user can create or hold, the same for all homes."""
    path = cache_home() / "ports.lock"
    try:
        # The cache is for the servers' user to read, whatever our umask is.
        previous = os.umask(0o022)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        finally:
            os.umask(previous)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise FileError(
            f"cannot open {path}, the lock on the choice of ports: {error.strerror}",
            "Make that folder writable; an ordinary user's is where XDG_CACHE_HOME says.",
        ) from error


def _choose(count: int, first: int | None, taken: Collection[int]) -> list[int]:
    if first is not None:
        wanted = list(range(first, first + count))
        for port in wanted:
            if not is_free(port):
                raise LabStateError(
                    f"port {port} on {LOOPBACK} is taken",
                    f"Stop what listens there, or choose {count} free ports in a row with --port.",
                )
        return wanted
    ports: list[int] = []
    for port in range(FIRST_PORT, LAST_PORT + 1):
        if port not in taken and is_free(port):
            ports.append(port)
        if len(ports) == count:
            return ports
    raise LabStateError(
        f"fewer than {count} ports between {FIRST_PORT} and {LAST_PORT} are free on {LOOPBACK}",
        "Stop what listens there, or choose a first port with --port.",
    )
