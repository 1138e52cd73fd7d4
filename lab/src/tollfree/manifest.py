"""What the folders of `clients/` say of themselves: `client.toml`, read and checked.

The format is described in clients/CONTRACT.md. Nothing here builds or runs a client.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

from tollfree.errors import FileError
from tollfree.paths import CHECKOUT

CLIENTS = CHECKOUT / "clients"
FILE = "client.toml"

TRANSPORTS = ("ipc", "tcp", "tls")
HELD = ("rows", "native", "arrow", "bytes", "file", "nothing")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

T = TypeVar("T")


@dataclass(frozen=True)
class Need:
    """A program that building or running takes, and how to get it."""

    program: str
    remedy: str


@dataclass(frozen=True)
class Method:
    """One way of an interface to fetch rows."""

    case: str
    """As in case names: acc-n."""
    switch: tuple[str, ...]
    name: str
    """As the client's figures say it."""
    held: str


@dataclass(frozen=True)
class Interface:
    """One interface to PostgreSQL."""

    name: str
    title: str
    language: str
    start: tuple[str, ...]
    conninfo: Mapping[str, str]
    """Connection strings with places to fill in, by transport."""
    methods: tuple[Method, ...]


@dataclass(frozen=True)
class Manifest:
    """One folder of `clients/`."""

    folder: Path
    uses: tuple[str, ...]
    per_postgresql: bool
    build: tuple[str, ...]
    needs: tuple[Need, ...]
    interfaces: tuple[Interface, ...]

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name


def read_manifests(clients: Path = CLIENTS) -> dict[str, Manifest]:
    """Return the manifests of all folders that have one, by the folder's name.

    Raises `FileError` when one is wrong, names a folder that is not there, or when two of them
    give an interface the same name.
    """
    found = {path.parent.name: read_manifest(path) for path in sorted(clients.glob(f"*/{FILE}"))}
    owners: dict[str, str] = {}
    for name, manifest in found.items():
        for other in manifest.uses:
            if other not in found or other == name or found[other].uses:
                raise _wrong(
                    manifest.folder / FILE,
                    f"uses: {other!r} is no folder with a {FILE} that itself uses nothing",
                )
        for interface in manifest.interfaces:
            owner = owners.setdefault(interface.name, name)
            if owner != name:
                raise _wrong(
                    manifest.folder / FILE, f"the interface {interface.name} is also in {owner}/"
                )
    return found


def read_manifest(path: Path) -> Manifest:
    """Return the manifest in `path`; raises `FileError` that names the key that is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _wrong(path, str(error)) from error
    table = _Table(path, "", document)
    manifest = Manifest(
        folder=path.parent,
        uses=table.words("uses", ()),
        per_postgresql=table.take("per_postgresql", bool, False),
        build=table.words("build", ()),
        needs=tuple(_need(need) for need in table.tables("needs")),
        interfaces=tuple(_interface(interface) for interface in table.tables("interface")),
    )
    table.end()
    return manifest


def _need(table: "_Table") -> Need:
    need = Need(table.take("program", str), table.take("remedy", str))
    table.end()
    return need


def _interface(table: "_Table") -> Interface:
    conninfo = _Table(table.path, f"{table.where}conninfo.", table.take("conninfo", dict))
    interface = Interface(
        name=table.name("name"),
        title=table.take("title", str),
        language=table.take("language", str),
        start=table.words("start"),
        conninfo={x: conninfo.take(x, str) for x in TRANSPORTS if x in conninfo.members},
        methods=tuple(_method(method) for method in table.tables("method")),
    )
    conninfo.end()
    table.end()
    if not (interface.start and interface.conninfo and interface.methods):
        raise table.wrong("start", "a start, a conninfo and a method are necessary")
    cases = [method.case for method in interface.methods]
    if len(set(cases)) < len(cases):
        raise table.wrong("method", "two methods have the same case")
    return interface


def _method(table: "_Table") -> Method:
    method = Method(
        case=table.name("case"),
        switch=table.words("switch"),
        name=table.name("name"),
        held=table.take("held", str),
    )
    table.end()
    if not method.case.startswith("acc-"):
        raise table.wrong("case", f"{method.case!r} does not begin with acc-")
    if method.held not in HELD:
        raise table.wrong("held", f"{method.held!r} is none of {', '.join(HELD)}")
    return method


class _Table:
    """A table of the file whose keys are taken one by one, so that what is left is unknown."""

    def __init__(self, path: Path, where: str, members: Mapping[str, Any]) -> None:
        self.path = path
        self.where = where
        self.members = dict(members)

    @overload
    def take(self, key: str, kind: type[T]) -> T: ...
    @overload
    def take(self, key: str, kind: type[T], default: T) -> T: ...
    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """Return the value of a key, which must be of that type, or the default if there is one."""
        value = self.members.pop(key, default)
        if value is None:
            raise self.wrong(key, "is missing")
        if not isinstance(value, kind):
            raise self.wrong(key, f"must be of the type {kind.__name__}")
        return value

    def name(self, key: str) -> str:
        """Return a text that can be part of a case's name."""
        value = self.take(key, str)
        if not NAME.fullmatch(value):
            raise self.wrong(key, f"{value!r} has other characters than letters, digits, - . _")
        return value

    def words(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return a list of texts."""
        words = self.take(key, list) if default is None else self.take(key, list, list(default))
        if not all(isinstance(word, str) for word in words):
            raise self.wrong(key, "must be a list of texts")
        return tuple(words)

    def tables(self, key: str) -> list["_Table"]:
        """Return the tables of an array of tables, none if there is no such key."""
        members = self.take(key, list, [])
        if not all(isinstance(member, dict) for member in members):
            raise self.wrong(key, f"must be tables: [[{key}]]")
        return [_Table(self.path, f"{self.where}{key}.", member) for member in members]

    def end(self) -> None:
        """Raise unless every key has been taken."""
        for key in self.members:
            raise self.wrong(key, "is not a known key")

    def wrong(self, key: str, what: str) -> FileError:
        """Return the error about a key."""
        return _wrong(self.path, f"{self.where}{key}: {what}")


def _wrong(path: Path, what: str) -> FileError:
    return FileError(f"{path}: {what}", "Mend it; clients/CONTRACT.md describes the manifest.")
