"""The clients of suite `interface`, ready to be run or not, and why not.

A client is built into a cache by the hash of everything it is built from, so that checkouts, test
sessions and PostgreSQL versions share what is equal and never see what is not. What cannot be built
here costs only its own interfaces: their cases are skipped with the reason, or fail with it when
nothing is missing and the client itself is at fault.
"""

import argparse
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tollfree.errors import ExitCode, LabError
from tollfree.interruption import interrupt_on_signals
from tollfree.manifest import Interface, Manifest, read_manifests
from tollfree.paths import BUILD, cache_home
from tollfree.postgres import Installation, buildable_installation
from tollfree.privileges import server_user

COMMON = ("common",)
TIERS = (*COMMON, "more")

BUILD_LIMIT_S = 1200
START_LIMIT_S = 60
UNUSED_LIMIT_S = 30 * 24 * 3600
"""What nothing has used for so long is removed from the cache."""

LACKING = 77
"""The exit code of a build that misses something here."""
ERROR = re.compile(r"\berror\b|^\S+:\d+:", re.IGNORECASE)
"""In a line of a compiler: the word, or the file and line that it complains about."""

NOT_BUILT = {
    "common": "is not built yet: run `make build`",
    "more": "is not built yet: run `make build CLIENTS=--all`",
}
"""By tier."""


@dataclass(frozen=True)
class Client:
    """An interface, and whether it is ready here."""

    interface: Interface
    start: tuple[str, ...]
    """What stands before a client's options; of a client that is ready it can be run."""
    unready: str | None
    """Why it cannot be run here and what to do about it; None when it can."""
    broken: bool
    """It cannot be run although nothing that it needs is missing."""
    built_s: float | None
    """How long it took to build just now; None when nothing was built."""
    build: str
    """A hash of all that it is built from."""
    tier: str


@dataclass(frozen=True)
class _Outcome:
    """What became of building a folder."""

    out: Path
    failure: str | None
    broken: bool = False
    built_s: float | None = None
    """How long it took; None when it was built before, or not at all."""


def clients(
    installation: Installation, *, build: Collection[str] = (), again: bool = False
) -> list[Client]:
    """Return all clients as they stand; build those of the tiers in `build` that are not built.

    `again` also tries what could not be built the last time.
    """
    manifests = read_manifests()
    builder = _Builder(manifests, installation, build, again)
    return [
        builder.client(manifest, interface)
        for manifest in manifests.values()
        for interface in manifest.interfaces
    ]


class _Builder:
    """Knows how every folder stands, and builds those that it may."""

    def __init__(
        self,
        manifests: dict[str, Manifest],
        installation: Installation,
        build: Collection[str],
        again: bool,
    ) -> None:
        self._manifests = manifests
        self._installation = installation
        self._tiers = build
        self._again = again
        self._outcomes: dict[str, _Outcome] = {}
        self._hashes: dict[str, str] = {}

    def client(self, manifest: Manifest, interface: Interface) -> Client:
        """Return an interface as it stands."""
        outcome = self._outcome(manifest)
        start = _filled(interface.start, self._places(manifest, outcome.out))
        program = shutil.which(start[0])
        if outcome.failure is None and program is None:
            lost = f"has lost its program {start[0]}: remove {_stamp(outcome.out)}"
            outcome = replace(outcome, failure=lost, broken=True)
        return Client(
            interface,
            (program or start[0], *start[1:]),
            outcome.failure,
            outcome.broken,
            outcome.built_s,
            self._hash(manifest),
            manifest.tier,
        )

    def _outcome(self, manifest: Manifest) -> _Outcome:
        if manifest.name not in self._outcomes:
            self._outcomes[manifest.name] = self._look(manifest)
        return self._outcomes[manifest.name]

    def _look(self, manifest: Manifest) -> _Outcome:
        """Return where the folder is built, or why it is not; build it if that is allowed."""
        if not manifest.build:
            return _Outcome(manifest.folder, None)
        out = cache_home() / "clients" / f"{manifest.name}-{self._hash(manifest)}"
        for need in manifest.needs:
            if shutil.which(need.program) is None:
                return _Outcome(out, f"needs {need.program}: {need.remedy}")
        for other in manifest.uses:
            used = self._outcome(self._manifests[other])
            if used.failure is not None:
                return _Outcome(out, used.failure, used.broken)
        stored = _stored(out)
        if manifest.tier not in self._tiers or self._counts(stored):
            return stored or _Outcome(out, NOT_BUILT[manifest.tier])
        try:
            with _locked(out):
                stored = _stored(out)
                if stored is None or not self._counts(stored):
                    started = time.monotonic()
                    stored = self._build(manifest, out)
                    _store(stored)
                    stored = replace(stored, built_s=time.monotonic() - started)
                    _sweep(out.parent)
                return stored
        except OSError as error:
            return _Outcome(out, f"could not be built: {error}")

    def _counts(self, stored: _Outcome | None) -> bool:
        """Return whether an earlier build needs no other."""
        return stored is not None and (stored.failure is None or not self._again)

    def _hash(self, manifest: Manifest) -> str:
        """Return what tells apart builds that could differ: sources, PostgreSQL, system, Python."""
        if manifest.name not in self._hashes:
            self._hashes[manifest.name] = self._computed_hash(manifest)
        return self._hashes[manifest.name]

    def _computed_hash(self, manifest: Manifest) -> str:
        digest = hashlib.sha256(f"{platform.platform()} {sys.version}".encode())
        if manifest.per_postgresql:
            digest.update(f"{self._installation.key} {self._installation.version}".encode())
        folders = [manifest.folder, *(self._manifests[name].folder for name in manifest.uses)]
        for folder in folders:
            for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                if "__pycache__" not in path.parts:
                    executable = os.access(path, os.X_OK)
                    digest.update(f"{path.relative_to(folder)}\0{executable}\0".encode())
                    digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    def _places(self, manifest: Manifest, out: Path) -> dict[str, str]:
        used = {name: self._outcome(self._manifests[name]).out for name in manifest.uses}
        return {"out": str(out), **{name: str(folder) for name, folder in used.items()}}

    def _build(self, manifest: Manifest, out: Path) -> _Outcome:
        """Build a folder and see that its programs start."""
        places = self._places(manifest, out)
        scratch = BUILD / "clients" / manifest.name
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        scratch.mkdir(parents=True, exist_ok=True)
        build = _filled(
            manifest.build,
            {**places, "build": str(scratch), "pg_config": str(self._installation.pg_config)},
        )
        complaint = _run(build, manifest.folder, BUILD_LIMIT_S)
        if complaint is not None:
            return _Outcome(out, f"could not be built: {complaint.text}", not complaint.lacking)
        for interface in manifest.interfaces:
            complaint = _try((*_filled(interface.start, places), "--help"))
            if complaint is not None:
                return _Outcome(out, f"does not start: {complaint.text}", broken=True)
        return _Outcome(out, None)


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
        stamp = json.loads(_stamp(out).read_text(encoding="utf-8"))
        stored = _Outcome(out, stamp["failure"], stamp["broken"])
        if os.access(_stamp(out), os.W_OK):
            os.utime(_stamp(out))
    except (OSError, ValueError, KeyError):
        return None
    return stored


def _store(outcome: _Outcome) -> None:
    temporary = outcome.out.with_name(outcome.out.name + ".new")
    stamp = {"failure": outcome.failure, "broken": outcome.broken}
    temporary.write_text(json.dumps(stamp) + "\n", encoding="utf-8")
    temporary.replace(_stamp(outcome.out))


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Hold the lock on one build, which nobody else can; another build of it is waited for."""
    previous = os.umask(0o022)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(f"{out}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w") as lock:
            os.fchmod(descriptor, 0o600)
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


@dataclass(frozen=True)
class _Complaint:
    """What a command that failed has said, and whether it only lacked something."""

    text: str
    lacking: bool = False


def _run(argv: tuple[str, ...], folder: Path, limit_s: int) -> _Complaint | None:
    """Run a command; return its complaint when it fails. At the limit, and when we are interrupted,
    all that it has started ends with it."""
    try:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
    except OSError as error:
        return _Complaint(str(error))
    with process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return _Complaint(str(error))
            raise
    return _complaint(subprocess.CompletedProcess(argv, process.returncode, out, err))


def _try(argv: tuple[str, ...]) -> _Complaint | None:
    """Run a client as the user who will run it; return its error."""
    try:
        done = server_user().run(argv, timeout_s=START_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return _Complaint(str(error))
    return _complaint(done)


def _complaint(done: subprocess.CompletedProcess[str]) -> _Complaint | None:
    """Return what a failed command said: a compiler's first error, or the last line."""
    if done.returncode == 0:
        return None
    lines = [x.strip() for x in (done.stdout + done.stderr).splitlines() if x.strip()]
    lacking = done.returncode == LACKING
    if not lines:
        return _Complaint(f"{done.args[0]} ended with {done.returncode}", lacking)
    errors = [] if lacking else [line for line in lines if ERROR.search(line)]
    return _Complaint(errors[0] if errors else lines[-1], lacking)


def main(words: Sequence[str] | None = None) -> int:
    """Build the clients, retrying failed builds; print the state of each."""
    parser = argparse.ArgumentParser(prog="python -m tollfree.clients", description=main.__doc__)
    parser.add_argument("--all", action="store_true", help="those of tier `more` too")
    tiers = TIERS if parser.parse_args(words).all else COMMON
    # A build is in a session of its own, so that no signal to ours ends it.
    interrupt_on_signals()
    try:
        found = clients(buildable_installation(), build=tiers, again=True)
    except LabError as error:
        sys.stderr.write(f"{error.message}\n  {error.remedy}\n")
        return error.code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    left = [client for client in found if client.tier not in tiers and client.unready]
    for client in (client for client in found if client not in left):
        took = "" if client.built_s is None else f", after {client.built_s:.0f} s of building"
        sys.stdout.write(f"client {client.interface.name}: {client.unready or 'ready'}{took}\n")
    if left:
        names = ", ".join(client.interface.name for client in left)
        sys.stdout.write(f"{len(left)} more clients by make build CLIENTS=--all: {names}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
