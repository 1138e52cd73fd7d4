"""Which stored runs are older than the wrapper that they measured.

A run says at which commit it was made, or only when; git says how many commits have changed the
sources of its wrappers since. Run as a module it prints a line for each page of results that has
such runs: a warning, no error, for a new run takes hours on a quiet machine.
"""

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
            f"docs/results/{suite}.md has runs older than {wrapper}, with so many commits to it"
            f" since: {', '.join(runs)}"
        )
    if untold:
        yield (
            f"whether {len(untold)} stored runs are older than their wrapper cannot be told: this"
            " checkout has no whole git history"
        )


if __name__ == "__main__":
    found = list(warnings())
    sys.stdout.write("".join(f"warning: {line}\n" for line in found))
