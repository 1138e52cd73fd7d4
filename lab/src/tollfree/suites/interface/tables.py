"""The tables of the section `interface`."""

from collections import defaultdict
from statistics import fmean

from tollfree.report.model import Cell, Column, Table
from tollfree.store import Run
from tollfree.suites.interface.findings import (
    BASELINE,
    FLOOR,
    LEAST_EXECUTIONS,
    MS_PER_S,
    US_PER_MS,
    InterfaceFindings,
    Task,
)
from tollfree.suites.interface.load import ROWS_PER_SCALE
from tollfree.suites.presentation import again_table, number, with_interval

PUBLISHED_SCALE = 10
"""t10m had ten million rows."""

Rows = list[tuple[Cell, ...]]


def all_tables(interface: InterfaceFindings) -> tuple[Table, ...]:
    """Return the tables that have rows, the experiment's summaries first."""
    tables = (
        interface_method_table(interface),
        location_transport_table(interface),
        query_connect_table(interface),
        connecting_table(interface),
        *(task_table(interface, task) for task in _shown_tasks(interface)),
        traffic_table(interface),
        roads_table(interface),
        noise_table(interface),
    )
    return tuple(table for table in tables if table.rows)


def _summary(
    interface: InterfaceFindings, view: str, summary: str, caption: str, label: str, notes: str
) -> Table:
    """Return a summary of normalised durations, the published one beside it."""
    durations: dict[str, list[float]] = defaultdict(list)
    ranges: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, list[float]] = defaultdict(list)
    for row in interface.views[view]:
        sizes[row["candidate"]].append(row["grpsz"])
        if row["nml_dur"] is not None:
            durations[row["candidate"]].append(float(row["nml_dur"]))
        if row["nml_drng"] is not None:
            ranges[row["candidate"]].append(float(row["nml_drng"]))
    published = {r["item"]: r for r in interface.summaries if r["summary"] == summary}
    held = {
        f"{case.dims['interface']}:{case.dims['method']}": f"{case.candidate} ({case.dims['held']})"
        for case in interface.run.cases.values()
    }
    rows: Rows = [
        (
            *(held.get(candidate, candidate), fmean(sizes[candidate])),
            *(fmean(durations[candidate]), fmean(ranges[candidate] or [0.0])),
            published[candidate]["nml_dur"] if candidate in published else None,
            published[candidate]["nml_drng"] if candidate in published else None,
        )
        for candidate in sorted(durations, key=lambda c: (fmean(durations[c]), c))
    ]
    return Table(
        caption,
        (
            *(Column(label), number("avg_grpsz", decimals=1)),
            *(number("avg_nml_dur", decimals=3), number("avg_nml_drng", decimals=3)),
            number("published avg_nml_dur", decimals=3),
            number("published avg_nml_drng", decimals=3),
        ),
        tuple(rows),
        (notes,),
    )


def interface_method_table(interface: InterfaceFindings) -> Table:
    """Return the experiment's summary Interface/Method."""
    return _summary(
        interface,
        "ifmeth_cat_results",
        "interface/method",
        "Interface/Method, summarized",
        "candidate",
        "In each task the fastest candidate has 0 and the slowest 1, as published: one slow "
        "candidate brings all others together. The published six stood among themselves only. "
        "What each candidate holds at the end stands beside it: holding less is less work.",
    )


def location_transport_table(interface: InterfaceFindings) -> Table:
    """Return the experiment's summary Location/Transport."""
    return _summary(
        interface,
        "loccomm_cat_results",
        "location/transport",
        "Location/Transport, summarized",
        "road",
        "`rmt` has a round trip of 0.2 ms and `rmt2ms` of 2 ms; the published `rmt` was a network.",
    )


def query_connect_table(interface: InterfaceFindings) -> Table:
    """Return the experiment's summary Query/Connect Strategy: means over the candidates."""
    durations: dict[str, list[float | None]] = defaultdict(list)
    queries: dict[str, list[float]] = defaultdict(list)
    for row in interface.views["ifmeth_cat_results"]:
        seconds = row["duration"]
        durations[row["testcase"]].append(None if seconds is None else float(seconds))
        queries[row["testcase"]].append(float(row["query_duration"]))
    published = {
        r["item"]: r["duration"] for r in interface.summaries if r["summary"] == "query/connect"
    }
    rows: Rows = [
        (
            *(task, len(durations[task]), _mean_of_all(durations[task])),
            *(published.get(task), fmean(queries[task]) * MS_PER_S),
        )
        for task in sorted(durations, key=lambda task: fmean(queries[task]))
    ]
    return Table(
        "Query/Connect Strategy, summarized",
        (
            Column("task"),
            number("candidates", decimals=0),
            *(number("avg_dur", "s", 3), number("published avg_dur", "s", 3)),
            number("a query", "ms", 3),
        ),
        tuple(rows),
        (
            "Seconds of all executions of a task, the mean over its candidates; none where a limit "
            "ended some of them early. `a query` is the mean of one execution, connecting included "
            "where each connects.",
        ),
    )


def _mean_of_all(values: list[float | None]) -> float | None:
    """Return the mean, unless one of the values is missing."""
    present = [value for value in values if value is not None]
    return fmean(present) if len(present) == len(values) else None


def connecting_table(interface: InterfaceFindings) -> Table:
    """Return what one connection takes, road by road."""
    rows: Rows = []
    for task, cases in interface.tasks.items():
        if task.strategy.split(":")[:2] != ["sql001", "0"] or task.print != "p-none:null":
            continue
        for name in cases.values():
            if interface.run.values(name):
                rows.append(
                    (
                        *(task.road, interface.label(name), interface.fewest_queries(name)),
                        interface.connecting_ms(name),
                        interface.per_execution_ms(name, "all_rows_ns"),
                    )
                )
    return Table(
        "Connecting, and one row in a new connection",
        (
            *(Column("road"), Column("candidate"), number("connections", decimals=0)),
            *(number("to connect", "ms", 3), number("the query", "ms", 3)),
        ),
        tuple(sorted(rows, key=lambda row: (row[0], row[3] or 0))),
        ("The first query in a connection also fills the server's caches of that connection.",),
    )


def _shown_tasks(interface: InterfaceFindings) -> list[Task]:
    """Return the tasks that get a table: those not printed, and the published ones."""
    published = {task for task, _ in interface.published}
    return [
        task
        for task in interface.tasks
        if task.print == "p-none:null" or task.published_name in published
    ]


def task_table(interface: InterfaceFindings, task: Task) -> Table:
    """Return the candidates of a task beside libpq, the floor and the published seconds."""
    floor = interface.case(task, FLOOR)
    comparable = not task.strategy.startswith("sql10m") or _has_published_rows(interface)
    rows: Rows = []
    for name in interface.ranking(task):
        median = interface.median(name)
        over_floor = None if name == floor else interface.ratio(name, floor)
        over_libpq = interface.ratio_alike(task, name)
        dims = interface.dims(name)
        published = (task.published_name, f"{dims['interface']}:{dims['method']}")
        rows.append(
            (
                *(interface.label(name), str(dims["held"]), interface.queries(name)),
                interface.seconds(name),
                interface.published.get(published) if comparable else None,
                median.median / US_PER_MS if median else None,
                interface.per_execution_ms(name, "first_row_ns"),
                *(interface.per_execution_ms(name, "cpu_ns"), interface.server_ms(name)),
                *(with_interval(over_libpq) + with_interval(over_floor)),
            )
        )
    return Table(
        _caption(interface, task),
        (
            *(Column("candidate"), Column("held"), Column("queries")),
            *(number("all executions", "s", 3), number("published", "s", 3)),
            *(number("an execution", "ms", 3), number("first row", "ms", 3)),
            *(number("processor", "ms", 3), number("server", "ms", 3)),
            *(number("to libpq", "x", 2), number("low", "x", 2), number("high", "x", 2)),
            *(number("to the floor", "x", 2), number("low", "x", 2), number("high", "x", 2)),
        ),
        tuple(rows),
        (
            "`to libpq` is to its method that holds as much: the normal one where the whole result "
            "is held, row by row where nothing is. `server` is the server's processor time, "
            "connecting included.",
        ),
    )


def traffic_table(interface: InterfaceFindings) -> Table:
    """Return the links' counts, task by task."""
    rows: Rows = []
    for task in interface.tasks:
        for name in interface.ranking(task) if task.print == "p-none:null" else []:
            to_client = interface.link_figure(name, "bytes_to_client")
            if to_client is None:
                continue
            enough = interface.fewest_queries(name) >= LEAST_EXECUTIONS
            rows.append(
                (
                    *(task.published_name, interface.label(name)),
                    interface.link_figure(name, "flights") if enough else None,
                    interface.link_figure(name, "bytes_to_server"),
                    to_client,
                )
            )
    return Table(
        "Over the link, by one execution, connecting included",
        (
            *(Column("task"), Column("candidate"), number("round trips", decimals=2)),
            *(number("to the server", "bytes", 0), number("to the client", "bytes", 0)),
        ),
        tuple(rows),
        ("Counted by the link. Where many executions share a connection, it is a small part.",),
    )


def _has_published_rows(interface: InterfaceFindings) -> bool:
    """Return whether t10m had as many rows as the published experiment's."""
    return interface.run.run.scale == PUBLISHED_SCALE


def _rows_of_t10m(run: Run) -> str:
    if run.scale is None:
        return "all rows of `t10m`"
    rows = f"{run.scale * ROWS_PER_SCALE:,} rows"
    return f"{rows} (quick run)" if run.profile == "quick" else rows


def _caption(interface: InterfaceFindings, task: Task) -> str:
    """Return a task's description and its name."""
    statement, connect, _ = task.strategy.split(":")
    name = next(iter(interface.tasks[task].values()))
    executions = interface.dims(name)["executions"]
    size = {
        "sql001": "one row",
        "sql50k": "50,000 rows",
        "sql10m": _rows_of_t10m(interface.run.run),
    }[statement]
    how = "connecting once" if connect == "1" else "connecting each time"
    often = "once" if executions == 1 else f"{executions:,} times"
    return f"{task.published_name}: {size}, {often}, {how}"


def roads_table(interface: InterfaceFindings) -> Table:
    """Return the experiment's last table: each interface's normal method, road by road."""
    rows: Rows = []
    for task, cases in interface.tasks.items():
        if task.strategy != "sql50k:1:001":
            continue
        for (name, method), case in cases.items():
            seconds = interface.seconds(case) if interface.run.values(case) else None
            if method != "acc-n" or seconds is None or name.endswith("_again"):
                continue
            published = interface.published.get((task.published_name, f"{name}:{method}"))
            rows.append((f"{name} {method}", task.print, task.road, seconds, published))
    return Table(
        "Roads: 50,000 rows, once, connecting once, by the normal method",
        (
            *(Column("candidate"), Column("printed"), Column("road")),
            *(number("duration", "s", 3), number("published", "s", 3)),
        ),
        tuple(sorted(rows, key=lambda row: (str(row[1]), str(row[0])))),
    )


def noise_table(interface: InterfaceFindings) -> Table:
    """Return the A/A cases: libpq against itself."""
    again = (
        (task.published_name, interface.ratio(name, interface.case(task, BASELINE)))
        for task, cases in interface.tasks.items()
        if (name := cases.get(("libpq_again", BASELINE[1])))
    )
    return again_table("libpq", "task", again)
