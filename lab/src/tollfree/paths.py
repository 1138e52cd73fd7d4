"""Where things are: the checkout that is being run, the home of the lab's data, and the cache.

Home and cache hold what the servers' user reads and must be readable by it; the checkout need not
be.
"""

import os
from pathlib import Path

from tollfree.errors import EnvironmentLacksError

CHECKOUT = Path(__file__).resolve().parents[3]
"""The root of the source tree. An installed wheel has none: see `require_checkout`."""

BUILD = CHECKOUT / "build"

HOME_VARIABLE = "TOLLFREE_HOME"
SUITES_VARIABLE = "TOLLFREE_SUITES"


def lab_home() -> Path:
    """Return the folder that holds everything the lab keeps, from TOLLFREE_HOME or the default.

    Root's is /var/lib/tollfree, an ordinary user's is under XDG_STATE_HOME.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/tollfree")
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "tollfree"


def require_checkout(command: str) -> None:
    """Raise unless this is run from a checkout: a wheel has no extensions, clients and link."""
    if not (CHECKOUT / "extensions").is_dir():
        raise EnvironmentLacksError(
            f"`tollfree {command}` needs a checkout of tollfree, and this is an installed package",
            "Run tools/make-venv run in a checkout, then"
            f" .venv/bin/tollfree {command} there. `tollfree check` works from here.",
        )


def cache_home() -> Path:
    """Return the folder of what is built once and shared, as `cache_dir` of tools/common.sh."""
    if os.geteuid() == 0:
        return Path("/var/cache/tollfree")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tollfree"


def further_suite_folders() -> list[Path]:
    """Return the folders of suites beside our own, from TOLLFREE_SUITES; a colon is between two."""
    named = os.environ.get(SUITES_VARIABLE, "").split(os.pathsep)
    return [Path(folder).absolute() for folder in named if folder]
