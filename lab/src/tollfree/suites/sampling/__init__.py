"""Suite `sampling`: the cost of sampling a remote table, and of ANALYZE."""

from pathlib import Path

from tollfree.report.model import Sheet, SuiteSection
from tollfree.report.sheet import write_sheet
from tollfree.store import Profile
from tollfree.suites.base import Bench, Suite
from tollfree.suites.presentation import Findings, plain_section
from tollfree.suites.sampling.charts import charts, sheets
from tollfree.suites.sampling.databases import SampledTable, prepare
from tollfree.suites.sampling.findings import SamplingFindings
from tollfree.suites.sampling.gains import gain_chart
from tollfree.suites.sampling.tables import all_tables
from tollfree.suites.sampling.verdicts import verdicts

BYTES_OF_PROFILE = {"quick": 2_000_000_000, "full": 10_000_000_000}
"""The servers, tables and files of the profile; further ones are checked when they are made."""

TITLE = "Sampling: reading a part of a remote table, and ANALYZE"
INTRO = (
    "A share of a table's rows, chosen on the remote side by four methods, in the instance itself "
    "(`direct`) and through each wrapper; and ANALYZE of the same table, locally and through each "
    "wrapper by each of its methods, and of a file with the same rows, with how good the "
    "statistics are beside how long it takes. "
    "The clock is the server's; connections are open when it starts."
)


class SamplingSuite(Suite):
    """Samples of tables, and ANALYZE."""

    name = "sampling"
    databases = "^sampling"
    in_demo = True

    def disk_bytes(self, profile: Profile) -> int:
        """Return the room for the tables of the profile."""
        return BYTES_OF_PROFILE[profile.profile]

    def prepare(self, bench: Bench, *, resumed: bool) -> None:
        """Make what the run's cases need: tables and files where missing, foreign tables."""
        run = bench.store.latest_run(self.name, "running")
        cases = bench.store.run_cases(run) if run else []
        rows = {str(case.dims["table"]): int(case.dims["rows"]) for case in cases}
        in_file = {str(case.dims["table"]) for case in cases if case.dims["link"] == "file"}
        prepare(
            bench,
            [
                SampledTable(name, count, name in in_file)
                for name, count in sorted(rows.items(), key=lambda item: item[1])
            ],
        )

    def section(self, run: Findings) -> SuiteSection:
        """Return the experiment's plots and tables, with quality beside time."""
        sampling = SamplingFindings.of(run)
        return plain_section(
            sampling.run,
            title=TITLE,
            intro=INTRO,
            verdicts=verdicts(sampling),
            tables=all_tables(sampling),
            charts=charts(sampling),
            gains=gain_chart(sampling),
        )

    def sheets(self, run: Findings) -> dict[str, Sheet]:
        """Return the experiment's pages of plots, those that the run has the samples for."""
        return sheets(SamplingFindings.of(run))

    def export_files(self, run: Findings, folder: Path) -> list[Path]:
        """Write the pages of plots."""
        pages = self.sheets(run)
        return [write_sheet(sheet, folder / f"{name}.svg") for name, sheet in pages.items()]


SUITE = SamplingSuite()
