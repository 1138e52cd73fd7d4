"""What an extension's script may not do, if whoever can create objects is not to gain by it.

CREATE EXTENSION is executed by a superuser in a schema that others may have created objects in.
"""

import re
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[2] / "extensions"
SCRIPTS = sorted(EXTENSIONS.glob("tollfree_*_fdw/sql/*.sql"))


def commands(script: Path) -> str:
    """Return the script without its comments."""
    return re.sub(r"/\*.*?\*/|--[^\n]*", "", script.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_takes_over_no_object_and_gives_nobody_its_rights(script: Path) -> None:
    found = re.findall(r"OR\s+REPLACE|IF\s+NOT\s+EXISTS|SECURITY\s+DEFINER", commands(script), re.I)
    assert not found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_block_of_a_script_names_operators_in_full(script: Path) -> None:
    for block in re.findall(r"DO \$do\$(.*?)\$do\$", commands(script), re.DOTALL):
        named = re.sub(r"OPERATOR\(pg_catalog\.[^)]*\)|'[^']*'|:=", "", block)
        assert not re.search(r"[<>=~|+*/-]", named)


def test_extensions_are_created_by_superusers_alone() -> None:
    for control in EXTENSIONS.glob("tollfree_*_fdw/*.control"):
        lines = control.read_text().splitlines()
        assert "superuser = true" in lines
        assert not any(line.startswith("trusted") for line in lines)
