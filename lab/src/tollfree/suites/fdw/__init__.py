"""Suite `fdw`: what reaching a pgbench database through a foreign-data wrapper costs."""

from pathlib import Path

from tollfree.report.model import Cell, SuiteSection
from tollfree.store import Profile
from tollfree.suites.base import Bench, Suite
from tollfree.suites.fdw.ablation import make_path_tables
from tollfree.suites.fdw.bulk import load_bulk, make_bulk_tables
from tollfree.suites.fdw.charts import charts
from tollfree.suites.fdw.databases import SOURCE, has_scale, load, make_foreign_database
from tollfree.suites.fdw.export import write_published_files
from tollfree.suites.fdw.findings import FdwFindings
from tollfree.suites.fdw.gains import gain_chart
from tollfree.suites.fdw.stops import make_stop_functions
from tollfree.suites.fdw.tables import all_tables
from tollfree.suites.fdw.travels import make_travel_tables
from tollfree.suites.fdw.verdicts import verdicts
from tollfree.suites.foreign import make_page_cache_functions
from tollfree.suites.presentation import FROM_DISK, Findings, number, plain_section

BYTES_PER_SCALE = 40_000_000
"""Tables and indexes at one unit of scale, and the log that writing them leaves for a while."""
BYTES_OF_SERVERS = 1_500_000_000

DATABASES = ("fdw_databases", "fdw_ablation_databases_needed")
"""The views of foreign databases: of the experiment, and with a fast path closed."""

TITLE = "Foreign-data wrappers: pgbench through a foreign table"
INTRO = (
    "pgbench's two built-in transactions on a local table, through foreign tables in the same "
    "instance (`FDW_local`), through foreign tables in another instance on the same machine "
    "(`FDW_external`), and through ones that are not updatable (`FDW_ext_ro`). A ratio says how "
    "many times slower a road is than the local table; overhead, the articles' word, is the ratio "
    "minus one."
)

EXTRA_COLUMNS = (
    number("mean latency", "ms", 3),
    number("retries per transaction", "", 3),
    number("without connecting", "tps", 1),
    FROM_DISK,
)


class FdwSuite(Suite):
    """pgbench on a local table and through foreign tables."""

    name = "fdw"
    databases = "^source$"
    in_demo = True

    def disk_bytes(self, profile: Profile) -> int:
        """Return the room for pgbench's tables at the profile's scale."""
        return BYTES_OF_SERVERS + profile.scale * BYTES_PER_SCALE

    def prepare(self, bench: Bench, *, resumed: bool) -> None:
        """Load the source's tables and recreate every foreign database."""
        source = bench.lab.source()
        instances = {SOURCE: source, "external": bench.lab.external()}
        if not (resumed and has_scale(source, bench.profile.scale)):
            load(source, bench.profile.scale)
        with source.connect(SOURCE) as connection:
            make_page_cache_functions(connection)
        password = bench.lab.password()
        for view in DATABASES:
            for row in bench.store.rows(view, order="dbname"):
                make_foreign_database(instances[row["instance"]], row, password)
        load_bulk(source, bench.store, bench.profile)
        make_bulk_tables(instances, bench.store)
        make_stop_functions(instances, bench.store)
        make_travel_tables(instances, bench.store)
        make_path_tables(instances, bench.store, password)

    def section(self, run: Findings) -> SuiteSection:
        """Return the experiment's tables beside the published ones, verdicts and plots."""
        fdw = FdwFindings.of(run)
        return plain_section(
            fdw.run,
            title=TITLE,
            intro=INTRO,
            verdicts=verdicts(fdw),
            tables=all_tables(fdw),
            charts=charts(fdw),
            gains=gain_chart(fdw),
            extra_columns=EXTRA_COLUMNS,
            extra=_extra_cells(fdw),
        )

    def export_files(self, run: Findings, folder: Path) -> list[Path]:
        """Write the experiment's own CSV files (benchRO.local, ...)."""
        return write_published_files(run, folder)


SUITE = FdwSuite()


def _extra_cells(fdw: FdwFindings) -> dict[str, dict[str, Cell]]:
    """Return mean latency, retries, throughput without connecting and megabytes from the disk,
    where there are any.
    """
    rows: dict[str, dict[str, Cell]] = {}
    for name, case in fdw.run.cases.items():
        if not fdw.run.values(name):
            continue
        cells: dict[str, Cell] = {}
        if case.dims["measure"] == "tps":
            cells["mean latency"] = fdw.run.middle(name, "latency_mean_ms")
            cells["without connecting"] = fdw.run.middle(name, "tps")
            done = sum(fdw.run.figures(name, "transactions"))
            retries = sum(fdw.run.figures(name, "retries"))
            cells["retries per transaction"] = retries / done if done else None
        elif case.dims["measure"] == "latency":
            mean = fdw.run.middle(name, "latency_mean_us")
            cells["mean latency"] = mean / 1000 if mean is not None else None
        cells[FROM_DISK.label] = fdw.run.from_disk_mb(name)
        rows[name] = cells
    return rows
