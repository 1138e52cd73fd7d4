"""Files of foreign tables: how large they are, and of which more could be kept.

tollfree_file_fdw keeps a record index and converted columns of a file where an option of the table,
or of its server, says so. Of some files nothing can be kept, whatever the options: the catalogs say
of which, as far as the tables' other options are the reason.
"""

from dataclasses import replace

import psycopg

from tollfree.check.inventory import STOCK_WRAPPER, is_on
from tollfree.check.model import ForeignServer, ForeignTable
from tollfree.check.session import Session

OURS = "tollfree_file_fdw"
FILE_WRAPPERS = (STOCK_WRAPPER[OURS], OURS)
INDEX, COLUMNS = "record_index", "column_cache"
KEPT = (INDEX, COLUMNS)
"""The options; the second keeps an index, too. Settings of these names limit them."""
LEAST_BYTES = 1024 * 1024
"""A smaller file is read so soon that little is gained."""
LEAST_ROWS = 10_000
"""Where the size is not known."""

SETTINGS = """
    SELECT lower(current_setting('tollfree_file_fdw.record_index', true)) AS record_index,
           lower(current_setting('tollfree_file_fdw.column_cache', true)) AS column_cache
"""
MAY_ASK = "SELECT has_function_privilege('pg_stat_file(text, boolean)', 'EXECUTE') AS may"
SIZES = """
    SELECT name, (pg_stat_file(name, true)).size AS size FROM unnest(%s::text[]) AS name
"""
OFF = ("off", "false", "no", "0")
ON = ("on", "true", "yes", "1")

READ_PLAINLY = {
    "format": ("text", "csv"),
    "on_error": ("stop",),
    "byte_order_mark": ("keep",),
    "skip_lines": ("0",),
    "skip_last_lines": ("0",),
    "quote_blanks": ("keep",),
    "blank_lines": ("keep",),
    "missing_fields": ("error",),
    "extra_fields": ("error",),
}
"""The values of options with which something can be kept; others leave something out, or have
COPY's parser read the file."""
EXCLUDING = ("program", "filenames", "comment", "null_strings", "default")
"""Options with which nothing can, whatever their value."""
SUFFIXES = (".gz", ".zst", ".lz4", ".bz2", ".xz")
"""Of files that are compressed where the option `compression` is auto."""
CLIENT_ENCODINGS = ("sjis", "big5", "gbk", "uhc", "gb18030", "johab", "shiftjis2004")
"""Those that no server has: COPY's parser reads such a file. Without hyphens and underscores."""


def with_sizes(session: Session, tables: tuple[ForeignTable, ...]) -> tuple[ForeignTable, ...]:
    """Return the tables, those of one file with its size if the server tells this user."""
    names = sorted({table.options["filename"] for table in tables if "filename" in table.options})
    found: dict[str, int] = {}
    if names:
        with session.answering("how large the files are"):
            if session.run(MAY_ASK)[0]["may"]:
                found |= _sizes(session, names)
    return tuple(
        replace(table, file_size=found.get(table.options.get("filename", ""))) for table in tables
    )


def _sizes(session: Session, names: list[str]) -> dict[str, int]:
    """Return the bytes of these files, of those that the server tells: if it refuses one, the
    others are asked for again, half by half."""
    try:
        with session.savepoint():
            rows = session.run(SIZES, names)
            return {row["name"]: row["size"] for row in rows if row["size"] is not None}
    except psycopg.Error:
        half = len(names) // 2
        if half == 0:
            return {}
    return _sizes(session, names[:half]) | _sizes(session, names[half:])


def settings(session: Session) -> dict[str, str]:
    """Return the settings that limit what is kept: `off`, `auto` or `on` by the option's name."""
    found = dict.fromkeys(KEPT, "auto")
    with session.answering("what is kept of files"):
        (row,) = session.run(SETTINGS)
        for name, value in row.items():
            found[name] = "off" if value in OFF else "on" if value in ON else "auto"
    return found


def addable(table: ForeignTable, server: ForeignServer, limits: dict[str, str]) -> tuple[str, ...]:
    """Return the options that would have more be kept of a table's file: none where it is kept
    already, where an option or a setting says that it is not to be, where nothing can be kept, and
    where the file is small."""
    if server.wrapper not in FILE_WRAPPERS or not can_be_kept(table) or is_small(table):
        return ()
    given = {
        name: is_on(options, name)
        for options in (server.options, table.options)
        for name in KEPT
        if name in options
    }
    if given.get(INDEX) is False or given.get(COLUMNS, limits[COLUMNS] == "on"):
        return ()
    return tuple(name for name in KEPT if name not in given and limits[name] == "auto")


def can_be_kept(table: ForeignTable) -> bool:
    """Return whether the options of a table let something be kept of its file."""
    options = {name: value.lower() for name, value in table.options.items()}
    encoding = options.get("encoding", "").replace("_", "").replace("-", "")
    return (
        "filename" in options
        and not any(name in options for name in EXCLUDING)
        and all(options.get(name, plain[0]) in plain for name, plain in READ_PLAINLY.items())
        and not _is_compressed(options["filename"], options.get("compression", "none"))
        and options.get("header") != "match"
        and encoding not in CLIENT_ENCODINGS
    )


def _is_compressed(filename: str, compression: str) -> bool:
    return filename.endswith(SUFFIXES) if compression == "auto" else compression != "none"


def is_small(table: ForeignTable) -> bool:
    """Return whether little can be gained by an index, by the file's size or else its rows."""
    if table.file_size is not None:
        return table.file_size < LEAST_BYTES
    return table.row_estimate is not None and table.row_estimate < LEAST_ROWS
