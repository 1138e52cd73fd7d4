"""The package of Python as `pip install` takes it: `tollfree check` without a checkout."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tollfree import __version__
from tollfree.cluster import Cluster
from tollfree.errors import ExitCode
from tollfree.paths import CHECKOUT
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

LAB = CHECKOUT / "lab"
DATABASE = "checked_by_wheel"
LIMIT_S = 600.0


def run(cwd: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command away from the checkout, with nothing of this environment's Python."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        words,
        capture_output=True,
        check=False,
        cwd=cwd,
        encoding="utf-8",
        env=kept,
        timeout=LIMIT_S,
    )


def pinned() -> str:
    """Return the versions of lab/requirements-run.txt, without the hashes."""
    text = (LAB / "requirements-run.txt").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^[\w.-]+==\S+", text, re.MULTILINE))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has a virtual environment, in `venv`, with the wheel installed."""
    made = tmp_path_factory.mktemp("wheel")
    (made / "pins.txt").write_text(pinned(), encoding="utf-8")
    pip = (made / "venv" / "bin" / "python", "-m", "pip", "--quiet")
    install = (*pip, "install", "--find-links", made, "--constraint", made / "pins.txt")
    for command in (
        (sys.executable, "-m", "venv", made / "venv"),
        (*pip, "wheel", "--no-deps", "--wheel-dir", made, LAB),
        (*install, f"tollfree=={__version__}"),
    ):
        done = run(made, *command)
        assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def database(pg_instance: Cluster) -> Iterator[str]:
    """A database with a foreign server, by its connection string."""
    with pg_instance.connect() as connection:
        recreate_database(connection, DATABASE)
    with pg_instance.connect(DATABASE) as connection:
        connection.execute("CREATE EXTENSION postgres_fdw")
        connection.execute("CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw")
    yield pg_instance.conninfo(DATABASE)
    with pg_instance.connect() as connection:
        connection.execute(f"DROP DATABASE {DATABASE}")


def test_a_server_is_checked_from_the_wheel(folder: Path, database: str) -> None:
    tollfree = folder / "venv" / "bin" / "tollfree"
    said = run(folder, tollfree, "check", database)
    assert said.returncode == ExitCode.OK, said.stderr
    assert f"database {DATABASE}" in said.stdout
    assert "server far (postgres_fdw" in said.stdout
    document = json.loads(run(folder, tollfree, "check", "--json", database).stdout)
    assert [server["name"] for server in document["servers"]] == ["far"]
    assert run(folder, tollfree, "--version").stdout == f"tollfree, version {__version__}\n"


@pytest.mark.parametrize("command", ["run fdw", "demo", "doctor", "up", "report"])
def test_the_lab_needs_a_checkout(folder: Path, command: str) -> None:
    words = command.split()
    said = run(folder, folder / "venv" / "bin" / "tollfree", *words)
    assert said.returncode == ExitCode.ENVIRONMENT
    assert f"`tollfree {words[0]}` needs a checkout of tollfree" in said.stderr
    assert "tools/make-venv run" in said.stderr
    assert "Traceback" not in said.stderr
