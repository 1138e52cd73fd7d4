"""Which stored runs, and which whole walks, are older than the wrappers that they are of.

A run says at which commit it was made, or only when; git says how many commits have changed the
sources of its wrappers since. Run as a module it prints a line for each page of results that has
such runs, and one for the walks of each major: a warning, no error, for these take hours on a quiet
machine.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator

from tollfree.export import read_json
from tollfree.history import commits_after
from tollfree.stored import STORED
from tollfree.suites.presentation import Findings

SOURCES = {
    "tollfree_postgres_fdw": ("src", "../common"),
    "tollfree_file_fdw": ("core", "glue", "vector", "../common"),
}
"""Where the sources of our wrappers are, in the folder of each in `extensions`."""
WALKS = STORED / "walks.txt"
"""A line for the last whole walks of each major, as `tools/run-tests` writes it."""
WALKED = re.compile(r"(?P<version>PostgreSQL \w+).*, commit (?P<commit>\w+)\+?, .*")


def measured(run: Findings) -> list[str]:
    """Return which of our wrappers a run has measured."""
    named = {str(value) for case in run.cases.values() for value in case.dims.values()}
    return [wrapper for wrapper in SOURCES if wrapper in named]


def commits_since(run: Findings, wrapper: str) -> int | None:
    """Return how many commits have changed a wrapper since a run; None if that is not known."""
    paths = [f"extensions/{wrapper}/{folder}" for folder in SOURCES[wrapper]]
    made_at = str(run.run.host.get("commit", "")).removesuffix("+")
    known = commits_after(made_at, paths) if made_at else None
    return commits_after(run.run.started, paths) if known is None else known


def warnings() -> Iterator[str]:
    """Yield a line for each page that has runs older than their wrappers."""
    pages: dict[tuple[str, str], list[str]] = defaultdict(list)
    untold = set()
    for path in sorted(STORED.glob("*.json")):
        run = read_json(path)
        for wrapper in measured(run):
            commits = commits_since(run, wrapper)
            if commits is None:
                untold.add(path)
            if commits:
                pages[run.run.suite, wrapper].append(f"{path.stem} ({commits})")
    for (suite, wrapper), runs in pages.items():
        yield (
            f"docs/results/{suite}.md has runs older than {wrapper} (the commits to it since):"
            f" {', '.join(runs)}"
        )
    if untold:
        yield (
            f"whether {len(untold)} stored runs are older than their wrapper cannot be told: this"
            " checkout has no whole git history"
        )


def walk_warnings() -> Iterator[str]:
    """Yield a line for each record of whole walks that is older than the wrappers."""
    paths = [f"extensions/{wrapper}/{part}" for wrapper in SOURCES for part in SOURCES[wrapper]]
    if not WALKS.exists():
        yield "docs/runs/walks.txt is missing: no whole run of the walks is recorded (make walks)"
        return
    for line in WALKS.read_text("utf-8").splitlines():
        walked = WALKED.fullmatch(line)
        commits = commits_after(walked["commit"], paths) if walked else None
        if walked and commits != 0:
            since = "an unknown number of" if commits is None else commits
            yield f"{since} commits to the wrappers since the last walks of {walked['version']}"


if __name__ == "__main__":
    found = [*warnings(), *walk_warnings()]
    sys.stdout.write("".join(f"warning: {line}\n" for line in found))
