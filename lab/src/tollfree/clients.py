"""The clients of suite `interface`, ready to be run or not, and why not.

A client is built into a cache by the hash of everything it is built from, so that checkouts, test
sessions and PostgreSQL versions share what is equal and never see what is not. What cannot be built
here costs only its own interfaces: their cases are skipped with the reason.
"""

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tollfree.errors import LabError
from tollfree.manifest import Interface, Manifest, read_manifests
from tollfree.paths import BUILD, cache_home
from tollfree.postgres import Installation, buildable_installation

BUILD_LIMIT_S = 1200
START_LIMIT_S = 60
UNUSED_LIMIT_S = 30 * 24 * 3600
"""What nothing has used for so long is removed from the cache."""

NOT_BUILT = "is not built yet: run `make build`"


@dataclass(frozen=True)
class Client:
    """An interface as it stands here."""

    interface: Interface
    start: tuple[str, ...]
    """What stands before a client's options; of a client that is ready it can be run."""
    unready: str | None
    """Why it cannot be run here and what to do about it; None when it can."""


@dataclass(frozen=True)
class _Outcome:
    """What became of building a folder."""

    out: Path
    failure: str | None


def clients(
    installation: Installation, *, build: bool = False, again: bool = False
) -> list[Client]:
    """Return all clients as they stand; with `build`, build what is not built.

    `again` also tries what could not be built the last time.
    """
    manifests = read_manifests()
    outcomes: dict[str, _Outcome] = {}
    for manifest in sorted(manifests.values(), key=lambda m: bool(m.uses)):
        outcomes[manifest.name] = _built(manifests, manifest, installation, outcomes, build, again)
    return [
        _client(interface, outcomes, manifest)
        for manifest in manifests.values()
        for interface in manifest.interfaces
    ]


def _client(interface: Interface, outcomes: dict[str, _Outcome], manifest: Manifest) -> Client:
    outcome = outcomes[manifest.name]
    start = _filled(interface.start, _places(manifest, outcomes, outcome.out))
    program = shutil.which(start[0])
    failure = outcome.failure
    if failure is None and program is None:
        failure = f"there is no program {start[0]}"
    return Client(interface, (program or start[0], *start[1:]), failure)


def _built(
    manifests: dict[str, Manifest],
    manifest: Manifest,
    installation: Installation,
    outcomes: dict[str, _Outcome],
    build: bool,
    again: bool,
) -> _Outcome:
    """Return where the folder is built, or why it is not; build it if asked to."""
    out = cache_home() / "clients" / f"{manifest.name}-{_hash(manifests, manifest, installation)}"
    for need in manifest.needs:
        if shutil.which(need.program) is None:
            return _Outcome(out, f"needs {need.program}: {need.remedy}")
    for other in manifest.uses:
        if outcomes[other].failure is not None:
            return _Outcome(out, outcomes[other].failure)
    if not manifest.build:
        return _Outcome(manifest.folder, None)
    stored = _stored(out)
    if stored is None or (again and stored.failure is not None):
        if not build:
            return stored or _Outcome(out, NOT_BUILT)
        with _locked(out):
            stored = _stored(out)
            if stored is None or (again and stored.failure is not None):
                places = {
                    **_places(manifest, outcomes, out),
                    "build": str(BUILD / "clients" / manifest.name),
                    "pg_config": str(installation.pg_config),
                }
                stored = _store(out, _build(manifest, out, places))
                _sweep(out.parent)
    return stored


def _hash(manifests: dict[str, Manifest], manifest: Manifest, installation: Installation) -> str:
    """Return what tells apart builds that could differ: sources, PostgreSQL, system, Python."""
    digest = hashlib.sha256(f"{platform.platform()} {sys.version}".encode())
    if manifest.per_postgresql:
        digest.update(f"{installation.key} {installation.version}".encode())
    for folder in (manifest.folder, *(manifests[name].folder for name in manifest.uses)):
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            if "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(folder)}\0{os.access(path, os.X_OK)}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _places(manifest: Manifest, outcomes: dict[str, _Outcome], out: Path) -> dict[str, str]:
    return {"out": str(out), **{name: str(outcomes[name].out) for name in manifest.uses}}


def _filled(words: tuple[str, ...], places: dict[str, str]) -> tuple[str, ...]:
    """Return the words with the names in braces replaced; other braces stay."""
    for name, value in places.items():
        words = tuple(word.replace("{" + name + "}", value) for word in words)
    return words


# The cache


def _stamp(out: Path) -> Path:
    return out.with_name(out.name + ".json")


def _stored(out: Path) -> _Outcome | None:
    """Return what became of an earlier build, and note that it is still in use."""
    try:
        failure = json.loads(_stamp(out).read_text(encoding="utf-8"))["failure"]
        if os.access(_stamp(out), os.W_OK):
            os.utime(_stamp(out))
    except (OSError, ValueError, KeyError):
        return None
    return _Outcome(out, failure)


def _store(out: Path, failure: str | None) -> _Outcome:
    temporary = out.with_name(out.name + ".new")
    temporary.write_text(json.dumps({"failure": failure}) + "\n", encoding="utf-8")
    temporary.replace(_stamp(out))
    return _Outcome(out, failure)


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Hold the lock on one build; another process's build is waited for."""
    previous = os.umask(0o022)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.with_name(out.name + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    finally:
        os.umask(previous)


def _sweep(folder: Path) -> None:
    """Remove what nothing has used for a long time."""
    for stamp in folder.glob("*.json"):
        if time.time() - stamp.stat().st_mtime > UNUSED_LIMIT_S:
            shutil.rmtree(stamp.with_suffix(""), ignore_errors=True)
            stamp.unlink(missing_ok=True)
            stamp.with_suffix(".lock").unlink(missing_ok=True)


def _build(manifest: Manifest, out: Path, places: dict[str, str]) -> str | None:
    """Build a folder and see that its programs start; return what failed, or None."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    Path(places["build"]).mkdir(parents=True, exist_ok=True)
    failure = _run(_filled(manifest.build, places), manifest.folder, BUILD_LIMIT_S)
    if failure is not None:
        return f"could not be built: {failure}"
    for interface in manifest.interfaces:
        failure = _run((*_filled(interface.start, places), "--help"), out, START_LIMIT_S)
        if failure is not None:
            return f"does not start: {failure}"
    return None


def _run(argv: tuple[str, ...], folder: Path, limit_s: int) -> str | None:
    """Run a command; return the last line of its complaint when it fails."""
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            check=False,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=limit_s,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"{argv[0]} ended with {done.returncode}"


def main() -> int:
    """Build every client, trying anew what failed before; print how each one stands."""
    try:
        found = clients(buildable_installation(), build=True, again=True)
    except LabError as error:
        sys.stderr.write(f"{error.message}\n  {error.remedy}\n")
        return error.code
    for client in found:
        sys.stdout.write(f"client {client.interface.name}: {client.unready or 'ready'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
