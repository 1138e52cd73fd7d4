"""What to do about what was found, in plain words, with the SQL that does it."""

from collections.abc import Iterator

from psycopg import sql

from tollfree.check.inventory import (
    DEFAULT_FETCH_SIZE,
    OUR_WRAPPER,
    REMOTE_WRAPPERS,
    STOCK_WRAPPER,
    fetch_size,
    is_on,
)
from tollfree.check.model import (
    Finding,
    ForeignServer,
    ForeignTable,
    Link,
    Query,
    Wrapper,
)

OLD_STATISTICS_DAYS = 30
LARGE_TABLE_ROWS = 10_000
BETTER_FETCH_SIZE = 10_000
INSTALLING = "docs/howto/installing.md"
REWRITTEN_ANALYZE = 160000
"""The version from which postgres_fdw has the remote server draw the sample."""


NO_SERVER = Finding("this database", "It has no foreign server of postgres_fdw or file_fdw.")
STANDBY = Finding("this server", "It is a standby: execute commands on its primary.")


def of_servers(
    servers: tuple[ForeignServer, ...], wrappers: tuple[Wrapper, ...], links: tuple[Link, ...]
) -> Iterator[Finding]:
    """Yield the findings on each server, with the commands to switch it over."""
    by_name = {wrapper.name: wrapper for wrapper in wrappers}
    measured = {link.server: link for link in links}
    for server in servers:
        name = f"server {server.name}"
        if server.wrapper in REMOTE_WRAPPERS and not server.mapped:
            text = "It has no user mapping for this user, who cannot use its tables."
            text += _by_owner(server.owner, allowed=server.usable)
            yield Finding(name, text, (_create_mapping(server),))
        if is_on(server.options, "use_remote_estimate"):
            yield _remote_estimate(server, measured.get(server.name))
        if server.wrapper in STOCK_WRAPPER:
            yield Finding(name, "It is ours already.", undo=(_call(server, "release"),))
        elif ours := by_name.get(OUR_WRAPPER[server.wrapper]):
            yield _switch(server, ours)


def _switch(server: ForeignServer, ours: Wrapper) -> Finding:
    name = f"server {server.name}"
    if ours.available is None and ours.installed is None:
        return Finding(
            name, f"{ours.name}, which could carry it, is not on this machine: see {INSTALLING}."
        )
    commands = () if ours.installed else (f"CREATE EXTENSION IF NOT EXISTS {ours.name} CASCADE;",)
    who = "You can"
    if not server.owned:
        who = f"Its owner, {server.owner}, can"
    elif not ours.usable:
        who = "A superuser can"
    text = (
        f"{who} switch it to {ours.name}, which waits for transactions that use its tables, and"
        f" locks them: see {INSTALLING}."
    )
    return Finding(
        name, text, (*commands, _call(server, "adopt")), undo=(_call(server, "release"),)
    )


def _call(server: ForeignServer, verb: str) -> str:
    wrapper = OUR_WRAPPER.get(server.wrapper, server.wrapper)
    return f"SELECT {wrapper}_{verb}({_text(sql.Literal(server.name))});"


def _create_mapping(server: ForeignServer) -> str:
    return _text(
        sql.SQL(
            "CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS (user '...', password '...');"
        ).format(sql.Identifier(server.name))
    )


def _remote_estimate(server: ForeignServer, link: Link | None) -> Finding:
    cost = f", {link.rtt_ms:.3g} ms each" if link else ""
    return Finding(
        f"server {server.name}",
        "use_remote_estimate is on: each planning of a query waits for round trips of its"
        f" own{cost}. With statistics of the foreign tables it can be off."
        + _by_owner(server.owner, allowed=server.owned),
        (
            _text(
                sql.SQL("ALTER SERVER {} OPTIONS (SET use_remote_estimate 'false');").format(
                    sql.Identifier(server.name)
                )
            ),
        ),
    )


def _by_owner(owner: str, *, allowed: bool) -> str:
    """Say who can execute the commands, if this user is not allowed to."""
    return "" if allowed else f" Its owner, {owner}, can execute this."


def of_tables(
    tables: tuple[ForeignTable, ...],
    servers: dict[str, ForeignServer],
    links: tuple[Link, ...],
    version: int,
) -> Iterator[Finding]:
    """Yield the findings on each table, on a server of that version, as 160003."""
    measured = {link.server: link for link in links}
    for table in tables:
        server = servers.get(table.server)
        analyze = (f"ANALYZE {table.qualified};",)
        about = f"table {table.qualified}"
        if "program" in table.options:
            continue  # nobody can analyze it
        cost = _analyze_cost(server, version) + _by_owner(table.owner, allowed=table.owned)
        if table.row_estimate is None:
            text = "It was never analyzed: the planner guesses its rows."
            yield Finding(about, text + cost, analyze)
        elif (table.analyzed_days_ago or 0) > OLD_STATISTICS_DAYS:
            text = f"Its statistics are {table.analyzed_days_ago:.0f} days old."
            yield Finding(about, text + cost, analyze)
        if server and server.wrapper == "postgres_fdw":
            yield from _fetch_size(table, server, measured.get(table.server))


def _analyze_cost(server: ForeignServer | None, version: int) -> str:
    """Say what ANALYZE reads, if that may be much."""
    if server is None:
        return ""
    if server.wrapper == "postgres_fdw" and version < REWRITTEN_ANALYZE:
        return " ANALYZE fetches all of its rows."
    return " ANALYZE reads the whole file." if server.wrapper == "file_fdw" else ""


def _fetch_size(table: ForeignTable, server: ForeignServer, link: Link | None) -> Iterator[Finding]:
    rows, size = table.row_estimate or 0, fetch_size(table, server)
    if rows < LARGE_TABLE_ROWS or size > DEFAULT_FETCH_SIZE:
        return
    trips = int(rows // size + 1)
    cost = f", {trips * link.rtt_ms:,.0f} ms" if link else ""
    verb = "SET" if "fetch_size" in table.options else "ADD"
    yield Finding(
        f"table {table.qualified}",
        f"Reading its {rows:,.0f} rows takes {trips:,} round trips of {size} rows{cost};"
        f" with {BETTER_FETCH_SIZE} rows it takes {int(rows // BETTER_FETCH_SIZE + 1):,},"
        " and more memory." + _by_owner(table.owner, allowed=table.owned),
        (
            f"ALTER FOREIGN TABLE {table.qualified}"
            f" OPTIONS ({verb} fetch_size '{BETTER_FETCH_SIZE}');",
        ),
    )


def of_executions(queries: tuple[Query, ...]) -> Iterator[Finding]:
    """Yield that a query was answered with different numbers of rows: by both wrappers, or without
    and with what is kept of its files."""
    for query in queries:
        done, kept = query.execution, query.kept
        if done and done.stock_rows != done.ours_rows:
            yield Finding(
                "the query",
                f"Stock returned {done.stock_rows:,.0f} rows, ours {done.ours_rows:,.0f}."
                " Unless the data changed meanwhile, do not switch, and report it to us.",
            )
        if kept and kept.plain_rows != kept.later_rows:
            yield Finding(
                "the query",
                f"It returned {kept.plain_rows:,.0f} rows, and {kept.later_rows:,.0f} by what was"
                " kept of its files. Unless the data changed meanwhile, have nothing kept, and"
                " report it to us.",
            )


def _text(composed: sql.Composable) -> str:
    return composed.as_string()
