"""The tables and the chart of the section `shards`."""

from tollfree.report.model import Better, Cell, Column, RatioChart, RatioRow, Table
from tollfree.suites.presentation import again_table, number, shown
from tollfree.suites.shards.findings import STOCK, ShardsFindings


def all_tables(shards: ShardsFindings) -> tuple[Table, ...]:
    """Return the tables that have rows."""
    links = dict.fromkeys(shards.dims(name)["link"] for name in shards.ordered())
    tables = (*(times_table(shards, link) for link in links), noise_table(shards))
    return tuple(table for table in tables if table.rows)


def times_table(shards: ShardsFindings, link: str) -> Table:
    """Return times, and what travels, over a link."""
    rows: list[tuple[Cell, ...]] = []
    for name in shards.ordered(link=link):
        dims = shards.dims(name)
        stock = shards.beside(name, STOCK) if shards.means(name) != STOCK else None
        figures = (
            shards.run.median(name),
            shards.run.ratio(name),
            shards.run.ratio(stock, name) if stock else None,
        )
        received = shards.counted(name, "bytes")
        rows.append(
            (
                *(shards.label(name), int(dims["servers"]), shards.means(name)),
                *(figure.median if figure else None for figure in figures),
                shards.counted(name, "flights"),
                shards.counted(name, "rows"),
                received / 1000 if received is not None else None,
            )
        )
    return Table(
        f"Sharded tables over {link}",
        (
            *(Column("Operation"), number("servers", decimals=0), Column("through")),
            *(number("time", "ms", 2), number("of the local time", "x", 2)),
            number(f"{STOCK} takes", "x", 2),
            *(number("flights", decimals=1), number("rows received", decimals=1)),
            number("received", "kB", 1),
        ),
        tuple(rows),
        (
            "Medians over the rounds. Flights, rows and bytes are the links' counts for one"
            " execution of the command, of all servers together: what travels at the same time on"
            " several connections counts for each. Those of Citus are of its coordinator and its"
            " workers.",
        ),
    )


def noise_table(shards: ShardsFindings) -> Table:
    """Return the A/A cases: local tables against themselves."""
    names = shards.run.find(target="local_again")
    again = ((str(shards.dims(name)["operation"]), shards.run.ratio(name)) for name in names)
    return again_table("the local table", "Operation", again)


def ratio_charts(shards: ShardsFindings) -> tuple[RatioChart, ...]:
    """Return, link by link, how many times longer each operation takes than on local tables."""
    links = dict.fromkeys(shards.dims(name)["link"] for name in shards.ordered())
    return tuple(_ratio_chart(shards, link) for link in links)


def _ratio_chart(shards: ShardsFindings, link: str) -> RatioChart:
    rows = []
    for name in shards.ordered(link=link):
        dims = shards.dims(name)
        servers = "1 server" if dims["servers"] == 1 else f"{dims['servers']} servers"
        rows.append(
            RatioRow(
                f"{shards.label(name)} {shards.means(name)}, {servers}",
                shown(shards.run.ratio(name)),
                shards.run.told_apart(name),
                None,
                "no figure" if not shards.run.values(name) else "no figure of its baseline",
            )
        )
    return RatioChart(
        f"How many times longer than on local tables, over {link}",
        "time of the command",
        "local tables",
        Better.LOWER,
        tuple(rows),
    )
