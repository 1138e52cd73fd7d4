"""Which PostgreSQL: finds an installation by its pg_config and knows where its parts are.

PG_CONFIG in the environment chooses; `tools/find-pg-config` chooses otherwise (the newest
installed of 15 to 19). What libpq would read from the environment is taken out of it. Nothing here
starts a server.
"""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tollfree.errors import EnvironmentLacksError
from tollfree.paths import CHECKOUT

OLDEST_MAJOR = 15
NEWEST_MAJOR = 19
MAJORS = f"{OLDEST_MAJOR} to {NEWEST_MAJOR}"
FINDER = CHECKOUT / "tools" / "find-pg-config"


@dataclass(frozen=True)
class Installation:
    """One installed PostgreSQL."""

    pg_config: Path
    version: str
    """As a person writes it: `15.20`, `18.1`, `19beta1`."""
    major: int
    bindir: Path
    sharedir: Path
    pkglibdir: Path
    localedir: Path
    pgxs: Path

    @property
    def key(self) -> str:
        """A short name that no other installation shares: the major version and a hash of
        the place, so that data of a plain and an assertion-enabled build stay apart."""
        place = hashlib.sha256(str(self.bindir).encode()).hexdigest()[:6]
        return f"{self.major}-{place}"

    def require_headers(self) -> None:
        """Raise unless extensions can be built against this installation."""
        if not self.pgxs.exists():
            raise EnvironmentLacksError(
                f"PostgreSQL {self.version} at {self.bindir} has no server headers"
                f" ({self.pgxs} is missing)",
                f"Install them (Debian: apt-get install postgresql-server-dev-{self.major}),"
                " or choose another PostgreSQL with PG_CONFIG.",
            )


def parse_version(line: str) -> tuple[str, int]:
    """Return version and major of what `pg_config --version` printed.

    >>> parse_version("PostgreSQL 15.20 (Debian 15.20-0+deb12u1)")
    ('15.20', 15)
    """
    match = re.match(r"PostgreSQL ((\d+)\S*)", line)
    if not match:
        raise EnvironmentLacksError(
            f"cannot read a PostgreSQL version from {line.strip()!r}",
            f"Set PG_CONFIG to the pg_config of a PostgreSQL server, {MAJORS}.",
        )
    return match[1], int(match[2])


def _ask(pg_config: Path, *options: str) -> list[str]:
    try:
        done = subprocess.run(
            [pg_config, *options], capture_output=True, check=True, encoding="utf-8", timeout=30
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentLacksError(
            f"cannot run {pg_config}: {error}",
            f"Set PG_CONFIG to the pg_config of a PostgreSQL server, {MAJORS}.",
        ) from error
    return done.stdout.splitlines()


def installation(pg_config: Path) -> Installation:
    """Return the installation that `pg_config` speaks for.

    Raises `EnvironmentLacksError` when it is older than 15, newer than 19, or has no server.
    """
    version, major = parse_version(_ask(pg_config, "--version")[0])
    if not OLDEST_MAJOR <= major <= NEWEST_MAJOR:
        raise EnvironmentLacksError(
            f"PostgreSQL {version} (from {pg_config}) is too"
            f" {'old' if major < OLDEST_MAJOR else 'new'}",
            f"tollfree is for {MAJORS}: choose one with PG_CONFIG,"
            " or build one with tools/build-postgres.",
        )
    options = ("--bindir", "--sharedir", "--pkglibdir", "--localedir", "--pgxs")
    bindir, sharedir, pkglibdir, localedir, pgxs = map(Path, _ask(pg_config, *options))
    if not (bindir / "postgres").exists():
        raise EnvironmentLacksError(
            f"{pg_config} belongs to PostgreSQL {version}, but there is no server in {bindir}",
            f"Install it (Debian: apt-get install postgresql-{major}), or set PG_CONFIG.",
        )
    return Installation(pg_config, version, major, bindir, sharedir, pkglibdir, localedir, pgxs)


def chosen_installation() -> Installation:
    """Return the installation that PG_CONFIG names, or the newest there is."""
    named = os.environ.get("PG_CONFIG")
    if named:
        # As the shell finds it; absolute, since make builds in other folders.
        return installation(Path(shutil.which(named) or named).absolute())
    done = subprocess.run([FINDER], capture_output=True, check=False, encoding="utf-8", timeout=60)
    if done.returncode != 0:
        raise EnvironmentLacksError(
            f"no PostgreSQL server, {MAJORS}, is installed here",
            "Run `make demo` (it installs one), or set PG_CONFIG to its pg_config.",
            detail=done.stderr.strip(),
        )
    return installation(Path(done.stdout.splitlines()[-1]))


def other_installations(major: int) -> list[Installation]:
    """Return an installation of each other major version that is here, the newest first."""
    done = subprocess.run(
        [FINDER, "--all"], capture_output=True, check=True, encoding="utf-8", timeout=60
    )
    found = {one.major: one for one in map(installation, map(Path, done.stdout.splitlines()))}
    return [found[other] for other in sorted(found, reverse=True) if other != major]


def clear_libpq_environment() -> None:
    """Take libpq's variables out of the environment of this process and of those it will start.

    The lab says of each connection where it goes, and gives the commands that it measures an
    environment of their own. What a connection string leaves out libpq takes from these variables,
    and they are of the user's servers, not of ours: with PGSERVICE nothing would connect, with
    PGOPTIONS something else would be measured. All of them, and none of ours, are PG and letters.
    """
    for name in [name for name in os.environ if re.fullmatch("PG[A-Z]+", name)]:
        del os.environ[name]


def buildable_installation() -> Installation:
    """Return the chosen installation; raises unless extensions can be built against it."""
    chosen = chosen_installation()
    chosen.require_headers()
    return chosen
