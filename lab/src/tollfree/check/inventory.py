"""What is there: wrappers, foreign servers, foreign tables, as the catalogs tell this user."""

from tollfree.check.model import ForeignServer, ForeignTable, Wrapper
from tollfree.check.session import Session

OUR_WRAPPER = {
    "postgres_fdw": "tollfree_postgres_fdw",
    "file_fdw": "tollfree_file_fdw",
}
"""Of each stock wrapper."""
STOCK_WRAPPER = {ours: stock for stock, ours in OUR_WRAPPER.items()}
WRAPPERS = [*OUR_WRAPPER, *STOCK_WRAPPER]
REMOTE_WRAPPERS = ("postgres_fdw", "tollfree_postgres_fdw")

DEFAULT_FETCH_SIZE = 100
SERVERS = "the foreign servers"
"""The question for them."""


def wrappers(session: Session) -> tuple[Wrapper, ...]:
    """Return what the server knows of our wrappers."""
    rows = session.ask("which wrappers are installed", "wrappers.sql", [*STOCK_WRAPPER])
    return tuple(Wrapper(**row) for row in rows)


def servers(session: Session) -> tuple[ForeignServer, ...]:
    """Return the foreign servers; values of options that are secrets are not shown."""
    rows = session.ask(SERVERS, "servers.sql", WRAPPERS)
    return tuple(
        ForeignServer(**(row | {"options": without_secrets(row["options"])})) for row in rows
    )


def tables(session: Session) -> tuple[ForeignTable, ...]:
    """Return the foreign tables of these servers."""
    rows = session.ask("the foreign tables", "tables.sql", WRAPPERS)
    return tuple(
        ForeignTable(**(row | {"options": without_secrets(row["options"])})) for row in rows
    )


def without_secrets(options: dict[str, str]) -> dict[str, str]:
    """Return options with the values of passwords replaced, and without a program's arguments,
    which often have one."""
    shown = {name: "(hidden)" if "password" in name else value for name, value in options.items()}
    if "program" in options:
        word = options["program"].partition(" ")[0]
        shown["program"] = "(hidden)" if "=" in word else f"{word} (arguments hidden)"
    return shown


def fetch_size(table: ForeignTable, server: ForeignServer) -> int:
    """Return how many rows stock fetches at a time, read as PostgreSQL reads an integer."""
    text = (server.options | table.options).get("fetch_size", str(DEFAULT_FETCH_SIZE))
    try:
        return round(float(text))
    except ValueError:
        return int(text, 0)


def is_on(options: dict[str, str], name: str) -> bool:
    """Return whether a Boolean option is set to a true value."""
    value = options.get(name, "").lower()
    return value in ("on", "true")
