"""The scripts of the extension `tollfree_lab`: what can be known of the lab's database without a
server."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

from tollfree import __version__
from tollfree.paths import CHECKOUT

EXTENSION = "tollfree_lab"
SCRIPT_NAME = f"{EXTENSION}--{__version__}.sql"
"""Of the whole, as it is installed."""


def _scripts() -> list[Path]:
    return sorted((CHECKOUT / "extensions" / EXTENSION / "sql").glob("[0-9][0-9]_*.sql"))


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
