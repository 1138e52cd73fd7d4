"""The pages with statements or commands: they are executed in order, and print what is shown."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import FOLDER, executed, normalised, steps

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.lab import Lab
from tollfree.paths import CHECKOUT
from tollfree.postgres import Installation
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

DOCUMENTS = CHECKOUT / "docs"
README = CHECKOUT / "README.md"
PAGES = sorted(
    [README, *(DOCUMENTS / "tutorials").glob("*.md"), *(DOCUMENTS / "howto").glob("*.md")]
)
READMES_FILE = "at,sensor,value\n2026-01-31 12:00:00,7,1.50\n"


def pages_with(kind: str) -> list[Path]:
    """Return the pages that have blocks of a kind."""
    return [path for path in PAGES if f"\n```{kind}" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", pages_with("sql "), ids=lambda path: path.stem)
def test_a_page_prints_what_it_shows(
    path: Path, pg_instance: Cluster, installation: Installation
) -> None:
    folder = pg_instance.data / path.stem
    pg_instance.user.make_folder(folder)
    if path == README:
        (folder / "2026.csv").write_text(READMES_FILE, encoding="utf-8")
    here = f"host '{pg_instance.socket_folder}', port '{pg_instance.port}', dbname"
    password = pg_instance.password_file.read_text("utf-8").strip()
    login = f"OPTIONS (user '{SUPERUSER}', password '{password}')"
    found = list(steps(path.read_text(encoding="utf-8")))
    assert found
    for database in {step.place for step in found}:
        with pg_instance.connect() as connection:
            recreate_database(connection, database)
    for step in found:
        sql = step.text.replace("(dbname", f"({here}").replace(FOLDER, str(folder))
        sql = re.sub(r"(USER MAPPING FOR CURRENT_USER SERVER \w+)", rf"\1 {login}", sql)
        printed = executed(sql, pg_instance, step.place, installation)
        if step.shown is not None:
            printed = printed.replace(str(folder), FOLDER)
            assert normalised(printed) == normalised(step.shown), printed


@pytest.mark.parametrize("path", pages_with("sh"), ids=lambda path: path.stem)
def test_the_commands_of_a_page_succeed(path: Path, lab: Lab, tmp_path: Path) -> None:
    """In a folder of their own, which has the documents as a checkout has them."""
    assert os.environ["TOLLFREE_HOME"] == str(lab.home)
    (tmp_path / "docs").symlink_to(DOCUMENTS)
    commands = Path(sys.executable).parent
    for step in steps(path.read_text(encoding="utf-8"), "sh"):
        done = subprocess.run(
            ["bash", "-e", "-c", step.text],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            encoding="utf-8",
            env=os.environ | {"PATH": f"{commands}:{os.environ['PATH']}"},
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        if step.shown is not None:
            assert done.stdout == step.shown
