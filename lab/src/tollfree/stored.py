"""The index of the runs in docs/runs, docs/runs/README.md, made from the files themselves.

Run as a module it prints the page; a test fails while the committed page differs.
"""

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from tollfree.export import read_json
from tollfree.paths import CHECKOUT

STORED = CHECKOUT / "docs" / "runs"

INTRODUCTION = """\
# Stored runs

The runs that the documents cite. `tollfree show`, `report` and `compare` take such a file wherever
they take a run. *Took* is the time of all executions together; making the data came before it. This
page is made from the files: `python -m tollfree.stored`.
"""
COLUMNS = ("run", "size", "rounds", "cases", "executions", "took", "PostgreSQL", "begun", "machine")


def page() -> str:
    """Return the whole page as Markdown."""
    heading = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    return "\n".join([INTRODUCTION, *heading, *map(_row, sorted(STORED.glob("*.json"))), ""])


def _row(path: Path) -> str:
    findings = read_json(path)
    run = findings.run
    cells = (
        f"[{path.stem}]({path.name})",
        run.size,
        str(run.rounds),
        str(len(findings.cases)),
        f"{len(findings.results)}" + ("" if run.state == "complete" else f", {run.state}"),
        str(timedelta(seconds=round(sum(x.duration or 0.0 for x in findings.results)))),
        run.postgresql,
        f"{run.started:%Y-%m-%d}",
        ", ".join(_machine(run.host)),
    )
    return f"| {' | '.join(cells)} |"


def _machine(host: dict[str, object]) -> Iterator[str]:
    """Yield the known properties of the machine, in a few words."""
    if "cpu" in host:
        yield str(host["cpu"])
    if "cores" in host:
        yield f"{host['cores']} cores"
    if "memory_kb" in host:
        yield f"{int(str(host['memory_kb'])) * 1024 / 1e9:.0f} GB"


if __name__ == "__main__":
    sys.stdout.write(page())
