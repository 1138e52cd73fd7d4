"""What the kernel says of a server's processes: descriptors, memory, whose they are."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Descriptors:
    """What a process has open, but for files."""

    sockets: int
    polls: int
    """Descriptors of epoll, of which each connection of a session may have one."""


def descriptors(pid: int) -> Descriptors:
    """Return what a process has open; raises `OSError` when it has ended."""
    names = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            names.append(str(entry.readlink()))
    return Descriptors(
        sum(name.startswith("socket:") for name in names), names.count("anon_inode:[eventpoll]")
    )


def memory_kib(pid: int) -> int:
    """Return the resident memory of a process that is no file and not shared; raises `OSError` when
    it has ended."""
    for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == "RssAnon":
            return int(value.split()[0])
    raise ProcessLookupError(f"process {pid} has no memory any more")


def is_child(pid: int, parent: int | None) -> bool:
    """Return whether a process runs and is a child of another one: no stranger that has been given
    the number."""
    try:
        # The name, which may have any character, is in brackets.
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except (OSError, UnicodeDecodeError):
        return False
    return fields[0] != "Z" and int(fields[1]) == parent
