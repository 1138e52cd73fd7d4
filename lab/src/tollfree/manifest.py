"""What the folders of `clients/` say of themselves: `client.toml`, read and checked.

The format is described in clients/CONTRACT.md; its types are these structures, which msgspec reads.
Nothing here builds or runs a client.
"""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from tollfree.errors import FileError
from tollfree.paths import CHECKOUT

CLIENTS = CHECKOUT / "clients"
FILE = "client.toml"

TRANSPORTS = ("ipc", "tcp", "tls")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _require_name(key: str, value: str, beginning: str = "") -> None:
    """Raise `ValueError`, about the field `key`, for what cannot be part of a case's name."""
    if not NAME.fullmatch(value):
        raise ValueError(
            f"field `{key}`: {value!r} has other characters than letters, digits, - . _"
        )
    if not value.startswith(beginning):
        raise ValueError(f"field `{key}`: {value!r} does not begin with {beginning}")


class Need(Struct, frozen=True, forbid_unknown_fields=True):
    """A program that building or running takes, and how to get it."""

    program: str
    remedy: str


class Method(Struct, frozen=True, forbid_unknown_fields=True):
    """One way of an interface to fetch rows."""

    case: str
    """As in case names: acc-n."""
    switch: tuple[str, ...]
    name: str
    """As the client's figures say it."""
    held: Literal["rows", "native", "arrow", "bytes", "file", "nothing"]

    def __post_init__(self) -> None:
        """Check the names."""
        _require_name("case", self.case, "acc-")
        _require_name("name", self.name)


class Interface(Struct, frozen=True, forbid_unknown_fields=True, rename={"methods": "method"}):
    """One interface to PostgreSQL."""

    name: str
    title: str
    language: str
    start: Annotated[tuple[str, ...], Meta(min_length=1)]
    conninfo: Annotated[dict[str, str], Meta(min_length=1)]
    """Connection strings with places to fill in, by transport."""
    methods: Annotated[tuple[Method, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Check the names."""
        _require_name("name", self.name)
        for key in self.conninfo.keys() - set(TRANSPORTS):
            raise ValueError(f"field `conninfo`: {key!r} is none of {', '.join(TRANSPORTS)}")
        cases = [method.case for method in self.methods]
        if len(set(cases)) < len(cases):
            raise ValueError("field `method`: two methods have the same case")


class Document(Struct, frozen=True, forbid_unknown_fields=True, rename={"interfaces": "interface"}):
    """The file of one folder of `clients/`."""

    tier: Literal["common", "more"] = "common"
    """`more`: built only when it is asked for."""
    uses: tuple[str, ...] = ()
    per_postgresql: bool = False
    build: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    interfaces: tuple[Interface, ...] = ()


class Manifest(Document, frozen=True, kw_only=True):
    """One folder of `clients/`."""

    folder: Path

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
        document = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Document)
    except msgspec.ValidationError as error:
        raise _wrong(path, _by_key(str(error))) from error
    except (OSError, ValueError) as error:
        raise _wrong(path, str(error)) from error
    return Manifest(folder=path.parent, **msgspec.structs.asdict(document))


def _by_key(complaint: str) -> str:
    """Return what msgspec complains of, behind the key that it is about.

    >>> _by_key("Object missing required field `title` - at `$.interface[...]`")
    'interface.title: Object missing required field `title`'
    """
    what, _, place = complaint.partition(" - at `")
    keys = re.findall(r"[.](\w+)", place)
    field = re.search(r"field `([^`]+)`", what)
    if field:
        keys.append(field[1])
    return f"{'.'.join(keys)}: {what.removeprefix(f'field `{keys[-1]}`: ')}"


def _wrong(path: Path, what: str) -> FileError:
    return FileError(f"{path}: {what}", "Mend it; clients/CONTRACT.md describes the manifest.")
