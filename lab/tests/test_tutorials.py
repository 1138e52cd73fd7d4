"""The pages with statements: they are executed in order, and print what is shown."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.paths import CHECKOUT
from tollfree.postgres import Installation
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

DOCUMENTS = CHECKOUT / "docs"
PAGES = [*sorted((DOCUMENTS / "tutorials").glob("*.md")), DOCUMENTS / "howto" / "many-servers.md"]
BLOCK = re.compile(r"^```(\w+) ?(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FOLDER = "/data/measurements"
"""Where the pages have files."""


@dataclass(frozen=True)
class Step:
    """Statements to be executed in a database, and what they print, if it is shown."""

    database: str
    sql: str
    shown: str | None


def steps(page: str) -> Iterator[Step]:
    """Return the steps of a page."""
    blocks = BLOCK.findall(page)
    for (kind, database, sql), (next_kind, _, shown) in zip(
        blocks, [*blocks[1:], ("", "", "")], strict=True
    ):
        if kind == "sql":
            yield Step(database, sql, shown if next_kind == "text" else None)


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


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_prints_what_it_shows(
    path: Path, pg_instance: Cluster, installation: Installation
) -> None:
    folder = pg_instance.data / path.stem
    pg_instance.user.make_folder(folder)
    here = f"host '{pg_instance.socket_folder}', port '{pg_instance.port}', dbname"
    password = pg_instance.password_file.read_text("utf-8").strip()
    login = f"OPTIONS (user '{SUPERUSER}', password '{password}')"
    found = list(steps(path.read_text(encoding="utf-8")))
    assert found
    for database in {step.database for step in found}:
        with pg_instance.connect() as connection:
            recreate_database(connection, database)
    for step in found:
        sql = step.sql.replace("(dbname", f"({here}").replace(FOLDER, str(folder))
        sql = re.sub(r"(USER MAPPING FOR CURRENT_USER SERVER \w+)", rf"\1 {login}", sql)
        done = subprocess.run(
            [
                installation.bindir / "psql",
                *("-X", "-q", "-v", "ON_ERROR_STOP=1"),
                *("-h", pg_instance.socket_folder, "-p", str(pg_instance.port)),
                *("-U", SUPERUSER, "-d", step.database),
            ],
            capture_output=True,
            check=False,
            encoding="utf-8",
            input=sql,
        )
        assert done.returncode == 0, done.stderr
        if step.shown is not None:
            printed = done.stdout.replace(str(folder), FOLDER)
            assert normalised(printed) == normalised(step.shown), printed
