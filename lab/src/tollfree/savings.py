"""What the README shows of stored runs: rows of a stock wrapper and ours, by run and cases.

The chart (`gains`) and the table (`summary`) are made from `SHOWN`, whose runs must all be stored.
`PLANNED` are rows of which the run is still to be made; when it is stored they move to `SHOWN`, and
a test says so. Each run has the command that makes it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from tollfree.errors import NotFoundError
from tollfree.export import read_json
from tollfree.report.model import Gain
from tollfree.stored import STORED
from tollfree.suites.presentation import Findings

STOCK, OURS = "stock wrapper", "tollfree"


@dataclass(frozen=True)
class Cases:
    """The cases of each wrapper."""

    stock: tuple[str, ...]
    ours: tuple[str, ...]


@dataclass(frozen=True)
class Saving:
    """A row: of several cases, the geometric mean of their ratios to their own baselines."""

    label: str
    beside: str
    """What the ratios are to."""
    run: str
    """The name of its file, without the suffix."""
    cases: Cases
    drawn: str = ""
    """What the chart calls it; empty where it is in the table alone."""
    baseline: str | None = None
    """What a single case's ratio is to, if not to its own baseline."""

    def findings(self) -> Findings:
        """Return its run; raises `NotFoundError`, which says what makes it."""
        return stored_run(self.run)

    def gains(self) -> dict[str, Gain]:
        """Return both ratios; raises `NotFoundError` when the run lacks a case, or its ratio."""
        run = self.findings()
        found = {STOCK: self._gain(run, self.cases.stock), OURS: self._gain(run, self.cases.ours)}
        for candidate, gain in found.items():
            if gain is None:
                raise NotFoundError(
                    f"the run {self.run} has no ratio of {candidate} for {self.label!r}",
                    _remedy(self.run),
                )
        return {candidate: gain for candidate, gain in found.items() if gain}

    def _gain(self, run: Findings, cases: tuple[str, ...]) -> Gain | None:
        if not run.cases.keys() >= set(filter(None, (*cases, self.baseline))):
            return None
        return run.mean_gain(cases) if len(cases) > 1 else run.gain(cases[0], self.baseline)


@cache
def stored_run(name: str) -> Findings:
    """Return a stored run; raises `NotFoundError`, which says what makes it."""
    path = STORED / f"{name}.json"
    if not path.exists():
        raise NotFoundError(f"the run {name} is not stored in {STORED}", _remedy(name))
    return read_json(path)


def _remedy(name: str) -> str:
    return (
        f"Make it with `tollfree {COMMANDS[name]}`, and store it with "
        f"`tollfree export --format json -o docs/runs/{name}.json`."
    )


def _both(case: str, cases: Iterable[str] = ("",)) -> Cases:
    """Return the same cases of both wrappers: `{fdw}` is theirs, `{case}` each of `cases`."""
    wrapper = "file_fdw" if "{fdw}:plain" in case else "postgres_fdw"
    stock, ours = (
        tuple(case.format(fdw=name, case=each) for each in cases)
        for name in (wrapper, f"tollfree_{wrapper}")
    )
    return Cases(stock, ours)


LOCAL = "a local table"
DIRECT = "the server itself"
REGULAR = "regular tables"
HEADLINES = "fdw-headlines-postgresql-18"
TRANSACTIONS = "fdw-transactions-postgresql-18"
ABLATION = "fdw-ablation-postgresql-18"
LINKS = "fdw-links-postgresql-18"
SAMPLES = "sampling-auto-postgresql-18"
SHARDS = "shards-postgresql-18"
LARGE = "file-sf10-rounds-postgresql-18"
EVERYDAY = "fdw-everyday-postgresql-18"
FORMS = "file-forms-postgresql-18"

COMMANDS = {
    HEADLINES: "run fdw --full --rounds 6 --only '^(RO:(local|local_again|FDW_external|direct):.*:"
    "(lcl:(ipc|tcp):(simple|prepared)|rmt:tcp:1000us:simple):rr:c1:tps|RW:(local|local_again|"
    "FDW_external):.*:lcl:(ipc|tcp):simple:rr:c1:tps|SCAN:FDW_external:.*:lcl:tcp:default:bulk)$'",
    TRANSACTIONS: "run fdw --full --rounds 5 --only '^R[OW]:(local|FDW_external):[a-z_]*:lcl:"
    "(ipc|tcp):(simple|prepared):rr:c1:tps$|^RO:local_again:.*c1:tps$'",
    ABLATION: "run fdw --quick --rounds 10 --only '^R[OW]:(local|FDW_external):[a-z_]*:lcl:"
    "(ipc|tcp):(simple|prepared):rr:c1:tps$|^RO:local_again:.*c1:tps$|^without:|^(SCAN|INSERT):"
    "(local|FDW_external):.*:default:bulk$|^R[OW]:FDW_external:postgres_fdw:.*2000us:.*flights$'",
    LINKS: "run fdw --full --rounds 7 --only '^(SCAN_1KB:.*:(direct:none|FDW_external:"
    "tollfree_postgres_fdw):.*|SCAN_1KB:FDW_external:(tollfree_postgres_fdw:.*:default|"
    "postgres_fdw:rmt:tcp:20000us:(10000|50000)):bulk|"
    "INSERT_1KB:FDW_external:tollfree_postgres_fdw:.*)$'",
    SAMPLES: "run sampling --full --rounds 20 --only '^analyze:10m:"
    "(system|auto|local|local_again):t100:.*(lcl:ipc|lcl:tcp)$'",
    SHARDS: "run shards --quick --rounds 3",
    LARGE: "run file --full --rounds 3 --only '^(Q1|Q3|Q5|Q6|Q10|Q12|Q14|Q19|COUNT|ANALYZE):"
    ".*:plain:w0$'",
    EVERYDAY: "run fdw --full --rounds 7 --only '^(TRAVEL:(dashboard|1_000_keys):.*|RO:(local|"
    "local_again|pooled|FDW_external):.*:lcl:(ipc|tcp):(simple|prepared):rr:c1:tps)$'",
    FORMS: "run file --quick --rounds 20 --only '^(Q1|Q6|COUNT):(.*:w[02]:.+|local_again:.*:w0)$'",
}
"""What makes each run."""

LOOKUP = "RO:FDW_external:{fdw}:"
TPCB = "RW:FDW_external:{fdw}:lcl:tcp:"
FAR = "FDW_external:{fdw}:rmt:tcp:2000us:travels"
EIGHT = ("Q1", "Q3", "Q5", "Q6", "Q10", "Q12", "Q14", "Q19")
FOUR = ("Q1", "Q3", "Q5", "Q6")
ON_FILES = _both("{case}:{fdw}:plain:w0", EIGHT)

SHOWN = (
    Saving(
        "Lookup by key, prepared", LOCAL, HEADLINES, _both(LOOKUP + "lcl:tcp:prepared:rr:c1:tps")
    ),
    Saving(
        *("Lookup 1 ms away", DIRECT, HEADLINES),
        _both(LOOKUP + "rmt:tcp:1000us:simple:rr:c1:tps"),
        drawn="Lookup by key, 1 ms away",
    ),
    Saving(
        *("TPC-B transaction, prepared", "local tables", TRANSACTIONS),
        _both(TPCB + "prepared:rr:c1:tps"),
    ),
    Saving(
        *("Scan of 1,000,000 rows", LOCAL, HEADLINES),
        _both("SCAN:FDW_external:{fdw}:lcl:tcp:default:bulk"),
    ),
    Saving(
        *("Scan 20 ms away, stock with fetch_size 10000", "COPY there", LINKS),
        Cases(
            ("SCAN_1KB:FDW_external:postgres_fdw:rmt:tcp:20000us:10000:bulk",),
            ("SCAN_1KB:FDW_external:tollfree_postgres_fdw:rmt:tcp:20000us:default:bulk",),
        ),
        drawn="Scan 20 ms away, stock with fetch_size 10000",
    ),
    Saving(
        *("INSERT ... SELECT of 5,000 rows", LOCAL, ABLATION),
        _both("INSERT:FDW_external:{fdw}:lcl:tcp:default:bulk"),
    ),
    Saving(
        *("ANALYZE of 10 million remote rows", LOCAL, SAMPLES),
        _both("analyze:10m:auto:t100:{fdw}:lcl:tcp"),
    ),
    Saving(
        *("Aggregate over 4 servers, 1 ms away", LOCAL, SHARDS),
        _both("AGGREGATE:foreign:{fdw}:4 servers:rmt:tcp:1000us"),
        drawn="Aggregate over 4 servers, 1 ms away",
    ),
    Saving(
        *("4 TPC-H queries over 4 servers, 1 ms away", "local tables", SHARDS),
        _both("{case}:foreign:{fdw}:4 servers:rmt:tcp:1000us:tables", FOUR),
    ),
    Saving(
        *("8 TPC-H queries on text files, 10 GB", REGULAR, LARGE),
        ON_FILES,
        drawn="8 TPC-H queries on text files, 10 GB",
    ),
    Saving(
        *("the same, columns remembered", REGULAR, LARGE),
        Cases(
            ON_FILES.stock,
            tuple(f"{query}:tollfree_file_fdw_second:plain:w0" for query in EIGHT),
        ),
        drawn="the same, columns remembered",
    ),
)
"""In the order of the table."""

PLANNED = (
    *(
        Saving(
            *(f"Lookup by key, {protocol}", "one through PgBouncer", EVERYDAY),
            _both(f"{LOOKUP}lcl:tcp:{protocol}:rr:c1:tps"),
            baseline=f"RO:pooled:none:lcl:tcp:{protocol}:rr:c1:tps",
        )
        for protocol in ("simple", "prepared")
    ),
    Saving(
        *("Join of 1,000 local rows, 2 ms away", DIRECT, EVERYDAY),
        _both(f"TRAVEL:1_000_keys:{FAR}"),
        drawn="Join of 1,000 local rows, 2 ms away",
    ),
    Saving(
        *("Dashboard: a day by hours, 2 ms away", DIRECT, EVERYDAY),
        _both(f"TRAVEL:dashboard:{FAR}"),
        drawn="Dashboard: a day by hours, 2 ms away",
    ),
    Saving(
        *("TPC-H Q6 on 100 gzip files", "a regular table", FORMS),
        _both("Q6:{fdw}:plain:w0:gzip_files"),
        drawn="TPC-H Q6 on a folder of 100 .gz files",
    ),
)
