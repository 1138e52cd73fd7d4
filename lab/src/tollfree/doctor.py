"""`tollfree doctor`: what is installed, what is missing, and what cannot run without it."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tollfree.clients import clients
from tollfree.errors import LabError
from tollfree.host import fingerprint
from tollfree.paths import lab_home
from tollfree.postgres import Installation, chosen_installation
from tollfree.privileges import server_user
from tollfree.store import written_profiles
from tollfree.suites import all_suites

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIFT = "speed drifts between minutes; trust ratios, not absolute figures"
HYPERVISOR = {
    False: "no hypervisor",
    True: f"a virtual machine: {DRIFT}",
    "unknown": f"unknown: this kind of processor does not say. On a virtual machine {DRIFT}",
}


@dataclass(frozen=True)
class Finding:
    """One requirement, found or missing."""

    thing: str
    found: bool
    detail: str
    """What was found, or what its absence costs and how to mend it."""
    necessary: bool = True


def examine() -> Iterator[Finding]:
    """Look for everything the lab uses, the necessary first; never raises a `LabError`."""
    try:
        installation = chosen_installation()
    except LabError as error:
        yield Finding("PostgreSQL", False, f"no suite can run. {error.message}: {error.remedy}")
    else:
        yield Finding(
            "PostgreSQL", True, f"{installation.version} (chosen by {installation.pg_config})"
        )
        yield from _server_parts(installation)
        yield from _clients(installation)
    yield _finding("servers' user", lambda: server_user().name, "no server can be started")
    yield from _compilers()
    yield from _home()
    yield from _machine()
    yield from _browser()


def _finding(thing: str, look: Callable[[], str], cost: str) -> Finding:
    try:
        return Finding(thing, True, look())
    except LabError as error:
        return Finding(thing, False, f"{cost}. {error.message}: {error.remedy}")


def _server_parts(installation: Installation) -> Iterator[Finding]:
    def headers() -> str:
        installation.require_headers()
        return str(installation.pgxs.parents[2])

    yield _finding("server headers", headers, "the lab's extension cannot be built")
    for program in ("pgbench", "psql", "initdb"):
        path = installation.bindir / program
        yield Finding(
            program,
            path.exists(),
            str(path)
            if path.exists()
            else f"no suite can run. Install PostgreSQL {installation.major}'s client programs",
        )
    for wrapper in ("postgres_fdw", "file_fdw"):
        control = installation.sharedir / "extension" / f"{wrapper}.control"
        yield Finding(
            wrapper,
            control.exists(),
            "PostgreSQL's own"
            if control.exists()
            else "nothing can be compared with it. Install PostgreSQL's contrib modules",
        )


def _clients(installation: Installation) -> Iterator[Finding]:
    """One finding for each interface of the suite `interface`, and one for its TLS."""
    try:
        found = clients(installation)
    except LabError as error:
        yield Finding("clients", False, f"no suite can run. {error.message}: {error.remedy}")
        return
    for client in found:
        yield Finding(
            f"client {client.interface.name}",
            client.unready is None,
            client.unready or f"ready: {client.interface.title}",
            necessary=False,
        )
    openssl = shutil.which("openssl")
    yield Finding(
        "openssl",
        openssl is not None,
        openssl or "cases over TLS are skipped. Install openssl",
        necessary=False,
    )


def _compilers() -> Iterator[Finding]:
    for tool in ("cc", "make"):
        path = shutil.which(tool)
        missing = "the lab cannot be built. Install gcc and make, or run `make demo`"
        yield Finding(tool, path is not None, path or missing)


def _home() -> Iterator[Finding]:
    home = lab_home()
    existing = next(p for p in (home, *home.parents) if os.access(p, os.F_OK))
    free = shutil.disk_usage(existing).free
    profiles = written_profiles()
    needs = [
        suite.disk_bytes(profiles[suite.name, "quick"])
        for suite in all_suites().values()
        # The profiles of further suites are in the lab's database alone.
        if suite.in_demo and (suite.name, "quick") in profiles
    ]
    enough = free >= max(needs)
    cost = (
        ""
        if enough
        else f": a quick run needs {max(needs) / 1e9:.1f} GB. Free space, or set TOLLFREE_HOME"
    )
    yield Finding("home", enough, f"{home}, {free / 1e9:.1f} GB free{cost}")
    if enough and free < sum(needs):
        yield Finding(
            "room for all suites",
            False,
            f"the demo may be refused after the first: all need up to {sum(needs) / 1e9:.1f} GB",
            necessary=False,
        )
    writable = os.access(existing, os.W_OK)
    if not writable:
        yield Finding(
            "home", False, f"{existing} cannot be written: no lab can be made. Set TOLLFREE_HOME"
        )


def _machine() -> Iterator[Finding]:
    host = fingerprint(Path("/"))
    enough = host["cores"] >= 2
    yield Finding(
        "processor",
        enough,
        f"{host['cores']} cores of {host['cpu']}"
        + ("" if enough else ": client and servers share it, and every ratio shrinks"),
        necessary=False,
    )
    quiet = host["load_average"] < host["cores"] / 2
    yield Finding(
        "quiet machine",
        quiet,
        f"load average {host['load_average']}"
        + ("" if quiet else ": intervals will be wide. Stop what else runs"),
        necessary=False,
    )
    yield Finding(
        "real hardware", host["virtual"] is False, HYPERVISOR[host["virtual"]], necessary=False
    )


def _browser() -> Iterator[Finding]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    yield Finding(
        "Chromium",
        path is not None,
        path or "only the report's browser tests are skipped. Install chromium, chromium-driver",
        necessary=False,
    )
