"""Pages of the documents with statements: what they execute, and what that prints."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.postgres import Installation

BLOCK = re.compile(r"^```(\w+) ?(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FOLDER = "/data/measurements"
"""Where the pages have files."""


@dataclass(frozen=True)
class Step:
    """What is to be executed in a place, and what that prints, if it is shown."""

    place: str
    text: str
    shown: str | None


def steps(page: str, kind: str = "sql") -> Iterator[Step]:
    """Return the steps of a page: statements, or commands of a shell (`sh`)."""
    blocks = BLOCK.findall(page)
    for (found, place, text), (next_kind, _, shown) in zip(
        blocks, [*blocks[1:], ("", "", "")], strict=True
    ):
        if found == kind:
            yield Step(place, text, shown if next_kind == "text" else None)


def executed(sql: str, cluster: Cluster, database: str, installation: Installation) -> str:
    """Return what psql prints when it executes statements."""
    done = subprocess.run(
        [
            installation.bindir / "psql",
            *("-X", "-q", "-v", "ON_ERROR_STOP=1"),
            *("-h", cluster.socket_folder, "-p", str(cluster.port)),
            *("-U", SUPERUSER, "-d", database),
        ],
        capture_output=True,
        check=False,
        encoding="utf-8",
        input=sql,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def normalised(text: str) -> str:
    """Return what psql printed without what depends on the server's version and kind."""
    text = re.sub(r"rows=(\d+)\.00", r"rows=\1", text)
    text = re.sub(r"avx\w+|scalar", "avx512", text)
    text = re.sub(r"(Fast Path Read:) \d+", r"\1 0", text)
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(
        "-" if re.fullmatch(r"[-+]+", line) else re.sub(r"^ +(?=QUERY PLAN)", " ", line)
        for line in lines
        if line and not re.fullmatch(r"\(\d+ rows?\)", line)
    )
