"""Of which files of the user's tollfree_file_fdw could keep more, and the SQL that has it do so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from psycopg import sql

from tollfree.check.figures import ms, size
from tollfree.check.files import COLUMNS, INDEX, OURS, addable
from tollfree.check.inventory import OUR_WRAPPER
from tollfree.check.model import Finding, ForeignServer, ForeignTable, Query, Wrapper

HOW_WRITTEN = "docs/reference/tollfree_file_fdw.md#how-a-file-must-be-written"
WORDS = {INDEX: "a record index", COLUMNS: "the columns that queries convert"}
PROMISE = (
    "Whoever sets this says that {files} written as {how} says; answers are then those without it."
    " What it cannot promise is a faster first query: that one makes what is kept."
)
MEASURING = " `tollfree check --execute --query SQL` says what a query of yours gains."


@dataclass(frozen=True)
class _Advice:
    """Tables of one server that lack the same options."""

    server: ForeignServer
    tables: Sequence[ForeignTable]
    options: tuple[str, ...]
    is_whole: bool
    """Whether the server has several tables, and these are all."""


def of_files(
    servers: tuple[ForeignServer, ...],
    tables: tuple[ForeignTable, ...],
    limits: dict[str, str],
    wrappers: tuple[Wrapper, ...],
    queries: tuple[Query, ...],
) -> Iterator[Finding]:
    """Yield of which files more could be kept, server by server; `limits` are the settings of the
    options. Of tables of a query that was executed so, only if that was faster."""
    kept = [query.kept for query in queries if query.kept]
    useless = {name for done in kept if not done.is_faster for name in done.tables}
    gains = {
        name: f" The query given takes {ms(done.later_ms)} then, and {ms(done.plain_ms)} without."
        for done in kept
        if done.is_faster
        for name in done.tables
    }
    absent = {one.name for one in wrappers if one.available is None and one.installed is None}
    for server in servers:
        if OUR_WRAPPER.get(server.wrapper) not in absent:
            own = [table for table in tables if table.server == server.name]
            for one in _advice(server, own, limits, useless):
                names = [table.qualified for table in one.tables]
                gained = {gains[name] for name in names if name in gains}
                yield _finding(one, "".join(sorted(gained)) or MEASURING)


def _advice(
    server: ForeignServer, tables: list[ForeignTable], limits: dict[str, str], useless: set[str]
) -> Iterator[_Advice]:
    """Yield the tables of a server that lack options, those together that lack the same."""
    by_options: dict[tuple[str, ...], list[ForeignTable]] = {}
    for table in tables:
        options = addable(table, server, limits) if table.qualified not in useless else ()
        if options:
            by_options.setdefault(options, []).append(table)
    for options, lacking in by_options.items():
        may_alter = server.owned or not any(table.owned for table in tables)
        yield _Advice(server, lacking, options, 1 < len(tables) == len(lacking) and may_alter)


def _finding(advice: _Advice, gained: str) -> Finding:
    tables, several = advice.tables, len(advice.tables) > 1
    words = " and ".join(WORDS[option] for option in advice.options)
    is_stock = advice.server.wrapper in OUR_WRAPPER
    once = f", once {'it' if several else 'its server'} is switched to {OURS}" if is_stock else ""
    text = (
        f"Of {', '.join(_named(table) for table in tables)} {words} can be kept on disk{once}:"
        " later queries then read less. "
        + PROMISE.format(files="the files are" if several else "the file is", how=HOW_WRITTEN)
        + gained
        + _by_owners(advice)
    )
    about = f"server {advice.server.name}" if several else f"table {tables[0].qualified}"
    return Finding(about, text, _remedy(advice), _undo(advice))


def _named(table: ForeignTable) -> str:
    known = f" ({size(table.file_size)})" if table.file_size is not None else ""
    return f"{table.qualified}{known}"


def _by_owners(advice: _Advice) -> str:
    """Say whose rights the commands take, if this user has not all of them."""
    altered: Sequence[ForeignServer | ForeignTable] = (
        [advice.server] if advice.is_whole else advice.tables
    )
    owners = sorted({one.owner for one in altered if not one.owned})
    return f" It takes the rights of {' and '.join(owners)}." if owners else ""


def _remedy(advice: _Advice) -> tuple[str, ...]:
    return _altered(advice, ", ".join(f"ADD {option} 'true'" for option in advice.options))


def _undo(advice: _Advice) -> tuple[str, ...]:
    """Return the commands that take the options back and remove what is kept."""
    return (
        *_altered(advice, ", ".join(f"DROP {option}" for option in advice.options)),
        *(
            f"SELECT {OURS}_drop_record_index({sql.Literal(table.qualified).as_string()});"
            for table in advice.tables
        ),
    )


def _altered(advice: _Advice, options: str) -> tuple[str, ...]:
    """Return the commands that alter options: of the server, if all its tables lack them."""
    if advice.is_whole:
        return (f"ALTER SERVER {_quoted(advice.server.name)} OPTIONS ({options});",)
    return tuple(
        f"ALTER FOREIGN TABLE {table.qualified} OPTIONS ({options});" for table in advice.tables
    )


def _quoted(name: str) -> str:
    return sql.Identifier(name).as_string()
