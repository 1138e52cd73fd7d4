"""Suite `interface`: what fetching rows through an interface to PostgreSQL costs."""

import logging

from tollfree.clients import COMMON, clients
from tollfree.errors import EnvironmentLacksError
from tollfree.report.model import Cell, Column, SuiteSection
from tollfree.store import Profile
from tollfree.suites.base import Bench, Suite
from tollfree.suites.foreign import make_page_cache_functions
from tollfree.suites.interface import expected, load
from tollfree.suites.interface.charts import charts
from tollfree.suites.interface.findings import InterfaceFindings
from tollfree.suites.interface.gains import gain_chart
from tollfree.suites.interface.tables import all_tables
from tollfree.suites.interface.verdicts import verdicts
from tollfree.suites.presentation import FROM_DISK, Findings, number, plain_section
from tollfree.tls import offer_tls

LOG = logging.getLogger("tollfree")

BYTES_OF_SERVERS = 1_500_000_000

TITLE = "Interfaces: the same rows through every driver"
INTRO = (
    "Each client runs one statement through its interface and reads every cell; times are taken "
    "inside it. A ratio says how many times longer an execution takes than through libpq at the "
    "same task; `floor` is the protocol's bytes, drained unread. What is held at the end is a "
    "dimension, for holding less is less work: tables and plots of a task divide by the method of "
    "libpq that holds as much. Rows and checksum of every execution are compared with what the "
    "server itself writes."
)

EXTRA_COLUMNS = (
    Column("queries"),
    number("to connect", "ms", 3),
    number("first row", "ms", 3),
    number("processor", "ms", 3),
    number("server's processor", "ms", 3),
    number("round trips", decimals=2),
    number("to the client", "bytes", 0),
    number("peak memory", "MB", 1),
    FROM_DISK,
)


class InterfaceSuite(Suite):
    """Rows through every driver, method and road."""

    name = "interface"
    in_demo = True

    def disk_bytes(self, profile: Profile) -> int:
        """Return the room for the servers; that for a load table is asked for with its cases."""
        return BYTES_OF_SERVERS

    def prepare(self, bench: Bench, *, resumed: bool) -> None:
        """Build the common clients, if they are not built, offer TLS, load the tables of cases."""
        clients(bench.lab.installation, build=COMMON)
        source = bench.lab.source()
        try:
            offer_tls(source)
        except EnvironmentLacksError as error:
            LOG.warning("cases over TLS are skipped: %s. %s", error.message, error.remedy)
        bench.lab.register(bench.store)
        source.make_database(load.DBNAME)
        statements = expected.statements(bench.store)
        with source.connect(load.DBNAME) as connection:
            make_page_cache_functions(connection)
            for table in load.load_tables(bench.profile.scale):
                asked = [x for x in statements if table.name in x]
                if not asked:
                    continue
                loaded = load.is_loaded(connection, table)
                load.require_room(bench.lab.folder, table, loaded=loaded)
                if not loaded:
                    expected.forget(bench.store, table.name)
                    load.load(connection, table)
                for statement in expected.unexpected(bench.store, asked):
                    expected.expect(bench.store, load.expected(connection, statement))

    def section(self, run: Findings) -> SuiteSection:
        """Return the experiment's summaries beside the published ones, tasks and verdicts."""
        interface = InterfaceFindings.of(run)
        return plain_section(
            interface.run,
            title=TITLE,
            intro=INTRO,
            verdicts=verdicts(interface),
            tables=all_tables(interface),
            charts=charts(interface),
            gains=gain_chart(interface),
            extra_columns=EXTRA_COLUMNS,
            extra=_extra_cells(interface),
        )


SUITE = InterfaceSuite()


def _extra_cells(interface: InterfaceFindings) -> dict[str, dict[str, Cell]]:
    return {
        name: {
            "queries": interface.queries(name),
            "to connect": interface.connecting_ms(name),
            "first row": interface.per_execution_ms(name, "first_row_ns"),
            "processor": interface.per_execution_ms(name, "cpu_ns"),
            "server's processor": interface.server_ms(name),
            "round trips": interface.link_figure(name, "flights"),
            "to the client": interface.link_figure(name, "bytes_to_client"),
            "peak memory": interface.peak_mb(name),
            FROM_DISK.label: interface.run.from_disk_mb(name),
        }
        for name in interface.run.cases
        if interface.run.values(name)
    }
