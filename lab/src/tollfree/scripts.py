"""The scripts of the extension `tollfree_lab`: what can be known of the lab's database without a
server. A suite of another folder has a script of its own, `suite.sql`."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

from tollfree import __version__
from tollfree.paths import CHECKOUT, further_suite_folders

EXTENSION = "tollfree_lab"
SCRIPT_NAME = f"{EXTENSION}--{__version__}.sql"
"""Of the whole, as it is installed."""


def _scripts() -> list[Path]:
    return sorted((CHECKOUT / "extensions" / EXTENSION / "sql").glob("[0-9][0-9]_*.sql"))


def suite_scripts() -> dict[str, str]:
    """Return the scripts of the suites in further folders, by the suite's name."""
    found = (path for folder in further_suite_folders() for path in folder.glob("*/suite.sql"))
    return {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(found)}


@cache
def written_script() -> bytes:
    """Return the whole script, as make puts it together."""
    return b"".join(path.read_bytes() for path in _scripts())


def written_rows(table: str) -> list[tuple[Any, ...]]:
    """Return the rows that the script inserts into a table, for tables of numbers, NULLs and texts
    without quotes: rows that Python reads as PostgreSQL does."""
    inserted = re.compile(rf"^INSERT INTO {table} VALUES\n(.+?);$", re.MULTILINE | re.DOTALL)
    texts = inserted.findall(written_script().decode())
    return [row for text in texts for row in ast.literal_eval(f"[{text.replace('NULL', 'None')}]")]
