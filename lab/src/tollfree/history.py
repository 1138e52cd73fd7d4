"""What git knows of this checkout; None wherever there is no git, no history or not all of it."""

import subprocess
from datetime import datetime

from tollfree.paths import CHECKOUT


def commit() -> str | None:
    """Return the commit that is checked out, with a `+` where files have been changed since, but
    for what is stored of runs and benchmarks: recording one does not change the next."""
    head = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/runs")
    if head is None or changed is None:
        return None
    return f"{head[:12]}+" if changed else head[:12]


def commits_after(place: datetime | str, paths: list[str]) -> int | None:
    """Return how many commits have changed some of these files after a time or a commit."""
    if _git("rev-parse", "--is-shallow-repository") != "false":
        return None
    if isinstance(place, str):
        where = [f"{place}..HEAD"]
    else:
        where = [f"--since={place.isoformat()}", "HEAD"]
    counted = _git("rev-list", "--count", *where, "--", *paths)
    return int(counted) if counted else None


def _git(*words: str) -> str | None:
    """Return what git prints; None if it fails, also because it is not there."""
    try:
        done = subprocess.run(
            ["git", "-C", str(CHECKOUT), *words],
            capture_output=True,
            check=False,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
