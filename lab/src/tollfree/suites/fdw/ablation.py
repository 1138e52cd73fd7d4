"""Part `ablation` of suite `fdw`: what each fast path gains, and whether that is enough.

The paths, how each is switched off and which work it affects are in the driver table
`lab.fdw_ablations`; statements among that work are in `lab.fdw_path_statements`, and their tables
are made here. A path pays if without it a transaction waits for one more round trip, or some work
takes `LEAST_GAIN` times as long.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from tollfree import stats
from tollfree.cluster import Cluster
from tollfree.report.model import Column, Table
from tollfree.store import Store
from tollfree.suites.fdw.databases import SOURCE
from tollfree.suites.fdw.findings import FdwFindings
from tollfree.suites.foreign import Connection, make_named_server
from tollfree.suites.presentation import number, with_interval

LEAST_GAIN = 1.1
LEAST_ROUNDS = 3
"""Fewer have no interval worth the name."""
LEAST_ROUND_TRIPS = 0.5
"""Of a transaction, more: what is not awaited is counted in some of them."""
ALL = "all"
"""The row of `lab.fdw_ablations` that closes every path; it is no path itself."""

PARTS = 4
PATH_COLUMNS = "id int NOT NULL, other int, note text"
PATH_ROWS = f"""
    DROP TABLE IF EXISTS path_rows;
    CREATE TABLE path_rows ({PATH_COLUMNS}, PRIMARY KEY (id));
    INSERT INTO path_rows SELECT i, i * 1000, 'note on row ' || i FROM generate_series(1, 100000) i;
    ANALYZE path_rows;
"""
PATH_EVENTS = """
    DROP TABLE IF EXISTS path_events;
    DROP TYPE IF EXISTS path_state;
    CREATE TYPE path_state AS ENUM ('open', 'paid', 'lost');
    CREATE TABLE path_events AS
    SELECT i AS id, nullif(i % 50, 0) AS n, i % 400 AS tenant,
        (CASE WHEN i % 100 = 0 THEN 'lost' ELSE 'paid' END)::path_state AS state,
        timestamp '2026-02-21' - i * interval '30 minutes' AS made,
        timestamptz '2026-02-21 00:00+00' - i * interval '30 minutes' AS ts
    FROM generate_series(1, 20000) i;
    ANALYZE path_events;
"""
PATH_PART = f"""
    DROP TABLE IF EXISTS path_part_{{0}};
    CREATE TABLE path_part_{{0}} ({PATH_COLUMNS});
    INSERT INTO path_part_{{0}} SELECT * FROM path_rows WHERE id <= 20000 AND id % {PARTS} = {{0}};
    ANALYZE path_part_{{0}};
"""
FOREIGN_ROWS = f"""
    CREATE FOREIGN TABLE path_rows ({PATH_COLUMNS}) SERVER path_server_0;
    CREATE TYPE path_state AS ENUM ('open', 'paid', 'lost');
    CREATE FOREIGN TABLE path_events (id int, n int, tenant int, state path_state, made timestamp,
        ts timestamptz) SERVER path_server_0;
    ANALYZE path_rows, path_events;
    CREATE TABLE path_parts ({PATH_COLUMNS}) PARTITION BY LIST ((id % {PARTS}));
"""
FOREIGN_PART = """
    CREATE FOREIGN TABLE path_part_{0} PARTITION OF path_parts FOR VALUES IN ({0})
        SERVER path_server_{0};
    ANALYZE path_part_{0};
"""


def make_path_tables(instances: Mapping[str, Cluster], store: Store, password: str) -> None:
    """Make the tables that statements of the present run use, on the source and in each database
    that it measures; none if it has no such statement."""
    places = store.rows("fdw_path_places", order="dbname")
    if not places:
        return
    with instances[SOURCE].connect(SOURCE) as connection:
        connection.execute(PATH_ROWS)
        connection.execute(PATH_EVENTS)
        for part in range(PARTS):
            connection.execute(PATH_PART.format(part))
    for place in places:
        with instances[place["instance"]].connect(place["dbname"]) as connection:
            _make_path_place(connection, place, instances[SOURCE], password)


def _make_path_place(
    connection: Connection, place: dict[str, Any], source: Cluster, password: str
) -> None:
    """Make the servers and foreign tables; what ANALYZE reads does not go over the link."""
    near = {**place, "server_port": source.port}
    for part in range(PARTS):
        make_named_server(connection, f"path_server_{part}", near, SOURCE, password)
    connection.execute(FOREIGN_ROWS)
    port = sql.Literal(str(place["server_port"]))
    for part in range(PARTS):
        connection.execute(FOREIGN_PART.format(part))
    for part in range(PARTS):
        name = sql.Identifier(f"path_server_{part}")
        connection.execute(sql.SQL("ALTER SERVER {} OPTIONS (SET port {})").format(name, port))


@dataclass(frozen=True)
class PathGain:
    """One work with a path and without it; `ratio` is how many times longer it takes without."""

    path: str
    work: str
    protocol: str
    with_path: float | None
    without_path: float | None
    unit: str
    ratio: stats.Estimate
    is_told_apart: bool
    counts_round_trips: bool

    @property
    def pays(self) -> bool:
        """Return whether this work alone justifies the path."""
        if self.counts_round_trips:
            saved = (self.without_path or 0) - (self.with_path or 0)
            return saved >= LEAST_ROUND_TRIPS
        is_told = self.ratio.samples >= LEAST_ROUNDS and self.is_told_apart
        return is_told and self.ratio.median >= LEAST_GAIN


def path_gains(fdw: FdwFindings) -> list[PathGain]:
    """Return what was measured of each path, by path and work."""
    names = [name for name, case in fdw.run.cases.items() if "path" in case.dims]
    found = (_gain(fdw, name) for name in names)
    return sorted(
        (gain for gain in found if gain),
        key=lambda gain: (gain.path != ALL, gain.path, gain.work, gain.unit, gain.protocol),
    )


def _gain(fdw: FdwFindings, name: str) -> PathGain | None:
    case, dims = fdw.run.cases[name], fdw.dims(name)
    if case.baseline not in fdw.run.cases:
        return None
    # Most paths are closed by their option; one is opened by it.
    off, on = (case.baseline, name) if dims["opens"] else (name, case.baseline)
    ratio = stats.median_interval(
        _inverted([*fdw.run.ratios(name).values()], invert=bool(dims["opens"])), fdw.run.confidence
    )
    middles = [fdw.run.median(x) for x in (on, off)]
    if ratio is None or None in middles:
        return None
    with_path, without_path = (m.median if m else None for m in middles)
    return PathGain(
        path=str(dims["path"]),
        work=str(dims["bench"]),
        protocol=str(dims["protocol"]),
        with_path=with_path,
        without_path=without_path,
        unit=case.unit,
        ratio=ratio,
        is_told_apart=stats.told_apart(ratio, fdw.run.noise),
        counts_round_trips=str(dims["measure"]).endswith("flights"),
    )


def _inverted(ratios: list[float], *, invert: bool) -> list[float]:
    return [1 / ratio for ratio in ratios] if invert else ratios


def ablation_table(fdw: FdwFindings) -> Table:
    """Return a row for each path and work: with it, without it, and whether that pays."""
    rows = tuple(
        (
            gain.path,
            gain.work,
            gain.protocol,
            gain.unit,
            gain.with_path,
            gain.without_path,
            *with_interval(gain.ratio),
            "yes" if gain.pays else "no",
        )
        for gain in path_gains(fdw)
    )
    return Table(
        "Ablation: what each fast path gains",
        (
            *(Column("Path closed"), Column("Work"), Column("Protocol"), Column("unit")),
            *(number("with it", decimals=2), number("without it", decimals=2)),
            number("takes without it", "x", 2),
            *(number("low", "x", 2), number("high", "x", 2)),
            Column("pays"),
        ),
        rows,
        (
            "`tollfree_postgres_fdw` as it is, beside itself with one path closed by the option of "
            f"its server; `{ALL}` closes every one. A path pays if closing it makes a transaction "
            "wait for a round trip more, or makes some work take a tenth longer.",
        ),
    )


def ablation_verdicts(fdw: FdwFindings) -> list[str]:
    """Return one sentence on the paths that pay, with the work that shows it, and one on those of
    which this run does not show it."""
    found: dict[str, list[PathGain]] = {}
    for gain in path_gains(fdw):
        if gain.path != ALL:
            found.setdefault(gain.path, []).append(gain)
    works = {
        path: sorted({gain.work for gain in seen if gain.pays}) for path, seen in found.items()
    }
    paying = [f"{path} ({', '.join(by)})" for path, by in works.items() if by]
    others = [path for path, by in works.items() if not by]
    sentences = []
    if paying:
        sentences.append(f"Fast paths that pay, and for which work: {', '.join(paying)}.")
    if others:
        sentences.append(f"Fast paths that this run does not show to pay: {', '.join(others)}.")
    return sentences
