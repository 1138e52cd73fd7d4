"""Part `bulk` of suite `fdw`: its tables on the servers, and its share of the report.

What is measured stands in `lab.fdw_bulk_operations` and `lab.fdw_bulk_sizes`.
"""

from collections.abc import Mapping

from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.report.model import Column, Table
from tollfree.store import Profile, Store
from tollfree.suites.fdw.findings import FdwFindings
from tollfree.suites.presentation import number, ratio_words

STOCK = "postgres_fdw"
DOINGS = {
    "SCAN": "Reading {rows:,} rows",
    "INSERT": "INSERT ... SELECT of {rows:,} rows",
    "COPY": "COPY of {rows:,} rows",
}
"""What an operation is called in a sentence."""


def load_bulk(source: Cluster, store: Store, profile: Profile) -> None:
    """Make the table that is read, with all its rows, and the one that is filled."""
    (row,) = store.table(
        "SELECT lab.fdw_bulk_row() AS row,"
        " max(CASE %s WHEN 'quick' THEN quick_rows ELSE full_rows END) AS rows"
        " FROM lab.fdw_bulk_operations",
        profile.profile,
    )
    rows = sql.SQL(row["row"])
    with source.connect("source") as connection:
        for statement in (
            sql.SQL("DROP TABLE IF EXISTS bulk_rows, bulk_target"),
            sql.SQL("CREATE TABLE bulk_rows AS SELECT {} FROM generate_series(1, {}) i").format(
                rows, row["rows"]
            ),
            sql.SQL("CREATE TABLE bulk_target (LIKE bulk_rows)"),
            sql.SQL("VACUUM (ANALYZE) bulk_rows"),
        ):
            connection.execute(statement)


def make_bulk_tables(instances: Mapping[str, Cluster], store: Store) -> None:
    """Make a foreign table for each size of batches, in every database that is measured."""
    for row in store.table(
        "SELECT DISTINCT instance, dbname, table_name, relation, option, size"
        " FROM lab.fdw_bulk_roads WHERE wrapper IS NOT NULL"
    ):
        size = (
            sql.SQL(", {} {}").format(sql.Identifier(row["option"]), sql.Literal(str(row["size"])))
            if row["size"]
            else sql.SQL("")
        )
        with instances[row["instance"]].connect(row["dbname"]) as connection:
            connection.execute(
                sql.SQL(
                    "CREATE FOREIGN TABLE {} (id int, number int8, price numeric(12, 2),"
                    " ratio float8, note text, made timestamptz)"
                    " SERVER source_server OPTIONS (table_name {}{})"
                ).format(sql.Identifier(row["table_name"]), sql.Literal(row["relation"]), size)
            )
            if row["relation"] == "bulk_rows":
                connection.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(row["table_name"])))


def bulk_table(fdw: FdwFindings) -> Table:
    """Return the time of each operation by wrapper and size, beside the stock default."""
    rows = []
    for name in _cases(fdw):
        dims = fdw.dims(name)
        seconds, slower = fdw.run.median(name), fdw.run.ratio(name)
        default = _case(fdw, dims["bench"], STOCK, None)
        faster = fdw.run.ratio(default, name) if default else None
        rows.append(
            (
                *(str(dims["bench"]), int(dims["rows"]), str(dims["wrapper"])),
                str(dims["size"] or "default"),
                *((x.median if x else None) for x in (seconds, slower, faster)),
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


def bulk_verdicts(fdw: FdwFindings) -> list[str]:
    """Return a sentence for each operation and each wrapper beside the stock one."""
    sentences = []
    for operation, doing in DOINGS.items():
        default = _case(fdw, operation, STOCK, None)
        best = _best(fdw, operation)
        for name in _cases(fdw):
            dims = fdw.dims(name)
            ours = (dims["bench"], dims["size"]) == (operation, None)
            if not ours or dims["wrapper"] in ("none", STOCK) or not default or not best:
                continue
            by_default, by_best = _faster(fdw, name, default), _faster(fdw, name, best)
            if by_default and by_best:
                sentences.append(
                    f"{doing.format(rows=dims['rows'])} through {dims['wrapper']} is "
                    f"{by_default} as fast as through {STOCK}, and {by_best} as fast as through "
                    f"{STOCK} with its best size of batches, "
                    f"{fdw.dims(best)['size'] or 'the default'}."
                )
    return sentences


def _faster(fdw: FdwFindings, name: str, other: str) -> str | None:
    """Return how many times faster a case is than another one, in words."""
    ratio = fdw.run.ratio(other, name)
    return ratio_words(ratio, told_apart=fdw.run.told_apart(other, name)) if ratio else None


def _cases(fdw: FdwFindings) -> list[str]:
    """Return the cases that have figures, by operation, wrapper and size."""
    names = [name for name in fdw.run.find(measure="bulk") if fdw.run.values(name)]
    wrappers = ("none", STOCK)

    def rank(name: str) -> tuple[object, ...]:
        dims = fdw.dims(name)
        wrapper = str(dims["wrapper"])
        place = wrappers.index(wrapper) if wrapper in wrappers else len(wrappers)
        return dims["bench"], place, wrapper, dims["size"] or 0

    return sorted(names, key=rank)


def _case(fdw: FdwFindings, operation: str, wrapper: str, size: int | None) -> str | None:
    names = fdw.run.find(measure="bulk", bench=operation, wrapper=wrapper, size=size)
    return names[0] if names and fdw.run.values(names[0]) else None


def _best(fdw: FdwFindings, operation: str) -> str | None:
    """Return the fastest case of the stock wrapper."""
    times = {
        name: median.median
        for name in fdw.run.find(measure="bulk", bench=operation, wrapper=STOCK)
        if fdw.run.values(name) and (median := fdw.run.median(name))
    }
    return min(times, key=lambda name: times[name]) if times else None
