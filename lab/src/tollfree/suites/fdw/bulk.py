"""Part `bulk` of suite `fdw`: its tables on the servers, and its share of the report.

The cases are in the driver tables `lab.fdw_bulk_*`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.report.model import Column, Table
from tollfree.store import Profile, Store
from tollfree.suites.fdw.findings import FdwFindings, is_distant, round_trip_us
from tollfree.suites.foreign import Connection, options_clause
from tollfree.suites.presentation import number, ratio_words

STOCK = "postgres_fdw"
DOINGS = {
    "SCAN": "Reading {rows:,} rows",
    "INSERT": "INSERT ... SELECT of {rows:,} rows",
    "COPY": "COPY of {rows:,} rows",
    "SCAN_1KB": "Reading {rows:,} rows of 1 kB",
    "INSERT_1KB": "INSERT ... SELECT of {rows:,} rows of 1 kB",
}
"""What an operation is called in a sentence."""


def load_bulk(source: Cluster, store: Store, profile: Profile) -> None:
    """Make the tables that are read, with all their rows, and those that are filled."""
    tables = store.rows("fdw_bulk_sources", profile=profile.profile, order="source")
    with source.connect("source") as connection:
        for row in tables:
            read, filled = sql.Identifier(row["source"]), sql.Identifier(row["target"])
            columns, content = sql.SQL(row["columns"]), sql.SQL(row["content"])
            for statement in (
                sql.SQL("DROP TABLE IF EXISTS {}, {}").format(read, filled),
                sql.SQL("CREATE TABLE {} ({})").format(read, columns),
                sql.SQL("CREATE TABLE {} ({})").format(filled, columns),
                sql.SQL("INSERT INTO {} SELECT {} FROM generate_series(1, {}) i").format(
                    read, content, row["rows"]
                ),
                sql.SQL("VACUUM (ANALYZE) {}").format(read),
            ):
                connection.execute(statement)


def make_bulk_tables(instances: Mapping[str, Cluster], store: Store) -> None:
    """Make a foreign table for each size of batches, in every database that is measured."""
    found = defaultdict(list)
    for row in store.rows("fdw_bulk_places"):
        found[row["instance"], row["dbname"]].append(row)
    for (instance, dbname), tables in found.items():
        with instances[instance].connect(dbname) as connection:
            for table in tables:
                _make_bulk_table(connection, table)
            # How many rows there are, and how wide: nothing more is asked of the statistics.
            connection.execute("SET default_statistics_target = 1")
            with without_the_link(connection, instances["source"].port):
                for table in tables:
                    if not table["writes"]:
                        name = sql.Identifier(table["table_name"])
                        connection.execute(sql.SQL("ANALYZE {}").format(name))


def _make_bulk_table(connection: Connection, table: dict[str, Any]) -> None:
    options = {"table_name": table["relation"]}
    if table["size"]:
        options[table["option"]] = str(table["size"])
    connection.execute(
        sql.SQL("CREATE FOREIGN TABLE {} ({}) SERVER source_server {}").format(
            sql.Identifier(table["table_name"]),
            sql.SQL(table["columns"]),
            options_clause(options),
        )
    )


@contextmanager
def without_the_link(connection: Connection, port: int) -> Iterator[None]:
    """Have the foreign server at the source's own port meanwhile: what ANALYZE reads would take a
    minute over a long link."""
    found = connection.execute(
        "SELECT option_value FROM pg_foreign_server, pg_options_to_table(srvoptions)"
        " WHERE srvname = 'source_server' AND option_name = 'port'"
    ).fetchone()
    assert found is not None
    statement = sql.SQL("ALTER SERVER source_server OPTIONS (SET port {})")
    connection.execute(statement.format(sql.Literal(str(port))))
    yield
    connection.execute(statement.format(sql.Literal(found[0])))


def bulk_tables(fdw: FdwFindings) -> tuple[Table, Table]:
    """Return the times by wrapper and size: of local operations, and of those over a link."""
    short, distant = (
        [x for x in _cases(fdw) if is_distant(fdw.dims(x)["link"]) == far] for far in (False, True)
    )
    return _short_table(fdw, short), _distant_table(fdw, distant)


def _short_table(fdw: FdwFindings, names: list[str]) -> Table:
    rows = []
    for name in names:
        dims = fdw.dims(name)
        rows.append(
            (
                *(str(dims["bench"]), int(dims["rows"]), str(dims["wrapper"])),
                str(dims["size"] or "default"),
                *_figures(fdw, name),
            )
        )
    return Table(
        "Bulk: large results and many rows written",
        (
            *(Column("Operation"), number("rows", decimals=0), Column("Wrapper")),
            Column("fetch_size or batch_size"),
            *(number("time", "s", 3), number("of the local time", "x", 2)),
            number("postgres_fdw's default takes", "x", 2),
        ),
        tuple(rows),
        (
            "Medians over the rounds of the whole command, psql's start included. A scan sums up "
            "every column locally; what was read, or written, is compared with the source.",
        ),
    )


def _distant_table(fdw: FdwFindings, names: list[str]) -> Table:
    rows = []
    for name in names:
        dims = fdw.dims(name)
        wrapper = str(dims["wrapper"])
        rows.append(
            (
                *(str(dims["bench"]), int(dims["rows"])),
                round_trip_us(dims["link"]) / 1000,
                wrapper if wrapper != "none" else "none: COPY",
                str(dims["size"] or "default"),
                *_figures(fdw, name),
            )
        )
    return Table(
        "Bulk over a link: rows of 1 kB",
        (
            *(Column("Operation"), number("rows", decimals=0), number("round trip", "ms", 0)),
            *(Column("Wrapper"), Column("fetch_size or batch_size")),
            *(number("time", "s", 3), number("of COPY's time", "x", 2)),
            number("postgres_fdw's default takes", "x", 2),
        ),
        tuple(rows),
        (
            "As above. The floor is COPY of the same rows over the same link, without a wrapper; "
            "every command connects over the link, too.",
        ),
    )


def _figures(fdw: FdwFindings, name: str) -> tuple[float | None, ...]:
    """Return time, ratio to the baseline, and what the stock default takes of that time."""
    default = _default(fdw, name)
    faster = fdw.run.ratio(default, name) if default else None
    found = (fdw.run.median(name), fdw.run.ratio(name), faster)
    return tuple(x.median if x else None for x in found)


def bulk_verdicts(fdw: FdwFindings) -> list[str]:
    """Return a sentence for each operation, link and wrapper beside the stock one."""
    sentences: list[str] = []
    for operation, doing in DOINGS.items():
        for name in _cases(fdw):
            dims = fdw.dims(name)
            ours = (dims["bench"], dims["size"]) == (operation, None)
            if not ours or dims["wrapper"] in ("none", STOCK):
                continue
            subject = f"{doing.format(rows=dims['rows'])} through {dims['wrapper']}"
            sentence = _distant_sentence if is_distant(dims["link"]) else _short_sentence
            sentences += filter(None, (sentence(fdw, name, subject),))
    return sentences


def _short_sentence(fdw: FdwFindings, name: str, subject: str) -> str | None:
    default, best = _default(fdw, name), _best(fdw, name)
    by_default, by_best = _stock_takes(fdw, name, default), _stock_takes(fdw, name, best)
    if not (best and by_default and by_best):
        return None
    return (
        f"{subject}: {STOCK} takes {by_default} as long, and with its best size of batches, "
        f"{_size(fdw, best)}, {by_best} as long."
    )


def _distant_sentence(fdw: FdwFindings, name: str, subject: str) -> str | None:
    best = _best(fdw, name)
    by_best, ratio = _stock_takes(fdw, name, best), fdw.run.ratio(name)
    if not (best and by_best and ratio):
        return None
    words = ratio_words(ratio, told_apart=fdw.run.told_apart(name))
    milliseconds = round_trip_us(fdw.dims(name)["link"]) / 1000
    return (
        f"{subject} with a round trip of {milliseconds:g} ms takes {words} as long as COPY over "
        f"that link; {STOCK} with its best size of batches, {_size(fdw, best)}, takes {by_best} as "
        "long as that."
    )


def _size(fdw: FdwFindings, name: str) -> str:
    return str(fdw.dims(name)["size"] or "the default")


def _stock_takes(fdw: FdwFindings, name: str, other: str | None) -> str | None:
    """Return how many times as long as a case another one takes, in words."""
    ratio = fdw.run.ratio(other, name) if other else None
    if other is None or ratio is None:
        return None
    return ratio_words(ratio, told_apart=fdw.run.told_apart(other, name))


def _cases(fdw: FdwFindings) -> list[str]:
    """Return the cases that have figures, by operation, link, wrapper and size."""
    names = [name for name in fdw.run.find(measure="bulk") if fdw.run.values(name)]
    wrappers = ("none", STOCK)

    def rank(name: str) -> tuple[object, ...]:
        dims = fdw.dims(name)
        wrapper = str(dims["wrapper"])
        place = wrappers.index(wrapper) if wrapper in wrappers else len(wrappers)
        return dims["bench"], _distance(dims), place, wrapper, dims["size"] or 0

    return sorted(names, key=rank)


def _distance(dims: dict[str, Any]) -> int:
    return round_trip_us(dims["link"]) if is_distant(dims["link"]) else 0


def _stock(fdw: FdwFindings, name: str) -> list[str]:
    """Return the stock wrapper's cases of the same operation over as long a link."""
    dims = fdw.dims(name)
    names = fdw.run.find(measure="bulk", bench=dims["bench"], wrapper=STOCK)
    return [x for x in names if fdw.run.values(x) and _distance(fdw.dims(x)) == _distance(dims)]


def _default(fdw: FdwFindings, name: str) -> str | None:
    """Return the stock wrapper's case without a size."""
    return next((x for x in _stock(fdw, name) if fdw.dims(x)["size"] is None), None)


def _best(fdw: FdwFindings, name: str) -> str | None:
    """Return the fastest case of the stock wrapper."""
    times = {x: median.median for x in _stock(fdw, name) if (median := fdw.run.median(x))}
    return min(times, key=lambda x: times[x]) if times else None
