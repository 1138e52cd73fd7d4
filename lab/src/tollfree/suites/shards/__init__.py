"""Suite `shards`: what one table on several servers costs."""

from tollfree.report.model import SuiteSection
from tollfree.store import Profile
from tollfree.suites.base import Bench, Suite
from tollfree.suites.presentation import Findings, plain_section
from tollfree.suites.shards.databases import prepare
from tollfree.suites.shards.findings import ShardsFindings
from tollfree.suites.shards.gains import gain_chart
from tollfree.suites.shards.tables import all_tables, ratio_charts
from tollfree.suites.shards.verdicts import verdicts

BYTES_OF_SERVERS = 2_000_000_000
BYTES_PER_SCALE = 800_000_000
"""At each unit of scale: the tables once for each number of servers, and the local ones, with the
log that writing them leaves for a while; TPC-H's text, whole and in blocks, and tables twice."""

TITLE = "Shards: one table on several servers"
INTRO = (
    "The same rows in local tables, and sharded by hash over several servers, where partitions that"
    " are foreign tables reach them, through each wrapper. The servers are databases of two"
    " instances in turn, on the machine's own processors. Citus, where the PostgreSQL in use has"
    " it, distributes the rows over two workers of its own. Connections are open when the clock"
    " starts, which is the server's; those of TPCB, which pgbench times, are opened by each"
    " client's first transaction. For both wrappers `enable_partitionwise_join` and"
    " `enable_partitionwise_aggregate` are on, and the servers are `async_capable` and have"
    " `parallel_commit`; ours have `parallel_modify`, too. Answers are compared."
)


class ShardsSuite(Suite):
    """Sharded tables."""

    name = "shards"
    databases = "^shards_"
    in_demo = False

    def disk_bytes(self, profile: Profile) -> int:
        """Return the room for the tables at the profile's scale."""
        return BYTES_OF_SERVERS + profile.scale * BYTES_PER_SCALE

    def prepare(self, bench: Bench, *, resumed: bool) -> None:
        """Make the shards where they are missing, the local answers, and all foreign tables."""
        prepare(bench, is_resumed=resumed)

    def section(self, run: Findings) -> SuiteSection:
        """Return times beside local tables and beside the stock wrapper."""
        shards = ShardsFindings(run)
        return plain_section(
            run,
            title=TITLE,
            intro=INTRO,
            verdicts=verdicts(shards),
            tables=all_tables(shards),
            charts=ratio_charts(shards),
            gains=gain_chart(shards),
        )


SUITE = ShardsSuite()
