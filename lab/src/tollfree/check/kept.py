"""A query executed with what tollfree_file_fdw can keep of its files, and without.

One transaction executes it on copies of the tables as they are, another one on copies that have the
options with which more is kept, `record_index` and `column_cache`. Both execute it some times in
turn, the first of which counts on its own: with the options it makes what is kept. That belongs to
the copies, not to the tables, and is removed before the transaction ends, also behind an error or a
timeout. The server's folder has it only meanwhile.
"""

from statistics import median

from psycopg import sql

from tollfree.check.copies import (
    NotExecutedError,
    Timed,
    executed,
    freeze,
    kept_bytes,
    leaving_nothing,
    make_server,
    make_table,
    require_copyable,
    schema_of_ours,
)
from tollfree.check.files import OURS, addable
from tollfree.check.inventory import OUR_WRAPPER
from tollfree.check.model import ForeignServer, ForeignTable, KeptExecution
from tollfree.check.plans import Plan, foreign_scans, tables_read
from tollfree.check.session import Session

LATER = 3
"""Executions behind the first one."""
FASTER = 0.8
"""What is proposed takes at most this share of the time."""
WHAT = "what the query gains by what can be kept of its files"

Chosen = list[tuple[ForeignTable, tuple[str, ...]]]
"""Tables, each with the options that it is to have on."""


def execute_kept(
    session: Session,
    query: str,
    real: Plan,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
    limits: dict[str, str],
) -> KeptExecution | None:
    """Return what the query gains; None if it reads no file of which more could be kept, or that
    is not known. `real` is the plan on the tables, `limits` are the settings of the options."""
    chosen = [
        (table, options)
        for table in tables_read(real, tables)
        if (options := addable(table, servers[table.server], limits))
    ]
    if not chosen:
        return None
    plain = _executions(session, query, servers, [(table, ()) for table, _ in chosen])
    if plain is None:
        return None
    kept = _executions(session, query, servers, chosen)
    if kept is None:
        return None
    return compared(tuple(table.qualified for table, _ in chosen), plain[0], *kept)


def compared(
    tables: tuple[str, ...], plain: list[Timed], kept: list[Timed], on_disk: int
) -> KeptExecution:
    """Return what executions without and with what is kept say, the first of each left out;
    `on_disk` is how much was kept, bytes."""
    plain_ms = median(one.ms for one in plain[1:])
    later_ms = median(one.ms for one in kept[1:])
    return KeptExecution(
        tables,
        plain_ms=round(plain_ms, 3),
        first_ms=round(kept[0].ms, 3),
        later_ms=round(later_ms, 3),
        executions=len(kept) - 1,
        kept_bytes=on_disk,
        plain_rows=plain[-1].rows,
        later_rows=kept[-1].rows,
        reasons=_reasons(kept[-1].plan),
        is_faster=on_disk > 0 and later_ms <= FASTER * plain_ms,
    )


def _reasons(plan: Plan) -> tuple[str, ...]:
    """Return why scans of files have kept nothing, in the words of the wrapper."""
    found = (
        scan[line].removeprefix("none (").removesuffix(")")
        for scan in foreign_scans(plan)
        for line in ("Record Index", "Column Cache")
        if scan.get(line, "").startswith("none (")
    )
    return tuple(dict.fromkeys(found))


def _executions(
    session: Session, query: str, servers: dict[str, ForeignServer], chosen: Chosen
) -> tuple[list[Timed], int] | None:
    """Execute the query on copies of the tables with these options; return the executions and the
    bytes that were kept, None if the server refuses."""
    done = None
    tables = tuple(table for table, _ in chosen)
    with session.trying(WHAT):
        try:
            require_copyable(tables)
            _make_copies(session, servers, chosen)
            if schema_of_ours(session) is None:
                raise NotExecutedError(f"this user may not call {OURS}'s functions, to remove it")
            freeze(session, query, tables)
            with leaving_nothing(session, tables):
                timed = [executed(session, query) for _ in range(1 + LATER)]
                done = timed, kept_bytes(session, tables)
        except NotExecutedError as error:
            session.not_known(WHAT, str(error))
    return done


def _make_copies(session: Session, servers: dict[str, ForeignServer], chosen: Chosen) -> None:
    """Copy the tables, those on a server of file_fdw to a copy of that of our wrapper."""
    on: dict[str, str] = {}
    for table, options in chosen:
        wrapper = OUR_WRAPPER.get(servers[table.server].wrapper)
        if wrapper and table.server not in on:
            on[table.server] = f"tollfree_check_{len(on)}"
            make_server(session, table.server, on[table.server], wrapper)
        make_table(session, table, on.get(table.server, table.server))
        if options:
            added = sql.SQL(", ").join(sql.SQL(f"ADD {option} 'true'") for option in options)
            command = sql.SQL("ALTER FOREIGN TABLE {} OPTIONS ({})")
            session.run(command.format(sql.Identifier("pg_temp", table.name), added))
