"""The tables of the section `fdw`."""

from tollfree import stats
from tollfree.report.model import Column, Table
from tollfree.suites.fdw.ablation import ablation_table
from tollfree.suites.fdw.bulk import bulk_tables
from tollfree.suites.fdw.findings import (
    FIRST_ARTICLE,
    PERCENTILES,
    PUBLISHED_CLIENTS,
    PUBLISHED_OVERHEAD,
    SECOND_ARTICLE,
    FdwFindings,
    max_min_mean,
)
from tollfree.suites.fdw.sessions import sessions_table
from tollfree.suites.fdw.stops import stops_table
from tollfree.suites.fdw.travels import travels_table
from tollfree.suites.presentation import again_table, number, with_interval


def all_tables(fdw: FdwFindings) -> tuple[Table, ...]:
    """Return the tables that have rows, the experiment's own first."""
    tables = (
        throughput_table(fdw, 1),
        throughput_table(fdw, 5),
        overhead_table(fdw),
        sessions_table(fdw),
        flights_table(fdw),
        latency_table(fdw),
        mean_latency_table(fdw),
        *bulk_tables(fdw),
        stops_table(fdw),
        travels_table(fdw),
        ablation_table(fdw),
        links_table(fdw),
        noise_table(fdw),
    )
    return tuple(table for table in tables if table.rows)


def throughput_table(fdw: FdwFindings, clients: int) -> Table:
    """Return the experiment's main table, the articles' figures beside ours."""
    rows = []
    for name in fdw.base(clients=clients):
        dims = fdw.dims(name)
        if dims["target"] == "local_again":
            continue
        key = ("tps", dims["bench"], dims["target"])
        second = fdw.published.get((SECOND_ARTICLE, *key)) if clients == 1 else None
        first = fdw.published.get((FIRST_ARTICLE, *key)) if clients == 1 else None
        rows.append(
            (
                fdw.label(name),
                str(dims["bench"]),
                str(dims["target"]),
                *max_min_mean(fdw.run.values(name)),
                *((second.max, second.min, second.mean) if second else (None, None, None)),
                first.mean if first else None,
            )
        )
    notes = ["Transactions per second including the time it takes to connect."]
    if clients > 1:
        notes.append("The articles show these cases as a picture only, without figures.")
    columns: tuple[Column, ...] = (
        *(Column("Bench"), Column("Type"), Column("Target")),
        *(number("Max", "tps", 1), number("Min", "tps", 1), number("Mean", "tps", 1)),
    )
    if clients == 1:
        columns += (
            *(number(f"published {x}", "tps", 1) for x in ("Max", "Min", "Mean")),
            number("first article's Mean", "tps", 1),
        )
    width = len(columns)
    who = "1 client" if clients == 1 else f"{clients} clients"
    return Table(
        f"Throughput, {who}, simple protocol, REPEATABLE READ",
        columns,
        tuple(row[:width] for row in rows),
        tuple(notes),
    )


def overhead_table(fdw: FdwFindings) -> Table:
    """Return ratio and overhead of every foreign target, beside the published overhead."""
    rows = []
    for clients in PUBLISHED_CLIENTS:
        for name in fdw.base(clients=clients):
            dims = fdw.dims(name)
            ratio = fdw.run.ratio(name)
            if dims["wrapper"] == "none" or ratio is None:
                continue
            bench, target = str(dims["bench"]), str(dims["target"])
            article = fdw.published_ratio(SECOND_ARTICLE, bench, target)
            rows.append(
                (
                    fdw.label(name),
                    clients,
                    *(*with_interval(ratio), ratio.median - 1),
                    article if clients == 1 else None,
                    article - 1 if article and clients == 1 else None,
                    PUBLISHED_OVERHEAD[bench] if clients == 1 else "picture only",
                )
            )
    return Table(
        "Overhead against the local table",
        (
            *(Column("Bench"), number("clients", decimals=0)),
            *(number("ratio", "x", 2), number("low", "x", 2), number("high", "x", 2)),
            number("overhead", "x", 2),
            *(number("published ratio", "x", 2), number("published overhead", "x", 2)),
            Column("as the articles state it"),
        ),
        tuple(rows),
        ("The articles state one overhead for each kind of transaction, over all targets.",),
    )


def flights_table(fdw: FdwFindings) -> Table:
    """Return the awaited round trips of a transaction, counted by the link."""
    figures = (
        *("flights_per_tx", "flights_connect", "flights_first_tx"),
        *("bytes_to_server_per_tx", "bytes_to_client_per_tx"),
    )
    rows = []
    for name in fdw.ordered(measure="flights"):
        dims = fdw.dims(name)
        if not fdw.run.values(name):
            continue
        medians = [stats.median_interval(fdw.run.figures(name, x)) for x in figures]
        rows.append(
            (
                *(str(dims["bench"]), str(dims["target"])),
                *(str(dims["wrapper"]), str(dims["protocol"])),
                *(m.median if m else None for m in medians),
            )
        )
    return Table(
        "Flights: round trips that somebody waits for",
        (
            *(Column("Type"), Column("Target"), Column("Wrapper"), Column("Protocol")),
            number("per transaction", decimals=2),
            *(number("to connect", decimals=0), number("first transaction", decimals=0)),
            *(number("sent per transaction", "B", 0), number("received", "B", 0)),
        ),
        tuple(rows),
        (
            "Counted by the link at its client's end, after 10 transactions to warm up. "
            "`direct` asks the remote server without a wrapper. Through a wrapper the "
            "connection over the link is opened by the first transaction.",
        ),
    )


def latency_table(fdw: FdwFindings) -> Table:
    """Return latency percentiles, measured around each transaction by our own client."""
    rows = []
    for name in fdw.short(measure="latency"):
        dims = fdw.dims(name)
        if dims["bench"] == "PING" or not fdw.run.values(name):
            continue
        cells = []
        for figure in ("mean", *(p for p, _ in PERCENTILES), "max"):
            found = stats.median_interval(fdw.run.figures(name, f"latency_{figure}_us"))
            cells.append(found.median if found else None)
        rows.append((fdw.label(name), str(dims["protocol"]), *cells))
    return Table(
        "Latency of a transaction",
        (
            *(Column("Bench"), Column("Protocol"), number("mean", "µs", 0)),
            *(number(f"{p}%", "µs", 0) for _, p in PERCENTILES),
            number("max", "µs", 0),
        ),
        tuple(rows),
        (
            "Timed by `txprobe` around each transaction, medians over the rounds: pgbench's "
            "own log records 0 µs for some transactions.",
        ),
    )


def mean_latency_table(fdw: FdwFindings) -> Table:
    """Return the first article's latency table."""
    rows = []
    for name in fdw.base(clients=1):
        dims = fdw.dims(name)
        if dims["target"] == "local_again" or not fdw.run.values(name):
            continue
        key = (FIRST_ARTICLE, "latency_ms", str(dims["bench"]), str(dims["target"]))
        article = fdw.published.get(key)
        rows.append(
            (
                *(fdw.label(name), str(dims["bench"]), str(dims["target"])),
                *max_min_mean(fdw.run.figures(name, "latency_mean_ms")),
                *((article.max, article.min, article.mean) if article else (None,) * 3),
            )
        )
    return Table(
        "pgbench's average latency, 1 client, simple protocol, REPEATABLE READ",
        (
            *(Column("Bench"), Column("Type"), Column("Target")),
            *(number(x, "ms", 3) for x in ("Max", "Min", "Mean")),
            *(number(f"published {x}", "ms", 3) for x in ("Max", "Min", "Mean")),
        ),
        tuple(rows),
    )


def links_table(fdw: FdwFindings) -> Table:
    """Return each link's measured round trip, beside its setting."""
    medians = {
        str(fdw.dims(name)["link"]): fdw.run.median(name) for name in fdw.ordered(bench="PING")
    }
    loopback = medians.get("lcl:tcp")
    rows = []
    for link, median in medians.items():
        requested = float(link.split(":")[2].removesuffix("us")) if link.count(":") > 1 else None
        if median is not None:
            added = median.median - loopback.median if loopback and requested else None
            rows.append((link, requested, median.median, added))
    return Table(
        "Links: the round trip of an empty query",
        (
            Column("Link"),
            number("requested", "µs", 0),
            number("achieved", "µs", 0),
            number("more than lcl:tcp", "µs", 0),
        ),
        tuple(rows),
    )


def noise_table(fdw: FdwFindings) -> Table:
    """Return the A/A cases: the local table against itself."""
    again = ((fdw.label(name), fdw.run.ratio(name)) for name in fdw.ordered(target="local_again"))
    return again_table("the local table", "Bench", again)
