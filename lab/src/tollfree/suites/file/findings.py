"""What the parts of the section `file` share: the run's cases in order, sizes, published figures.

The published experiment gives the mean of three executions; our tables do the same over the
rounds. Ratios are medians over the rounds, as everywhere.
"""

import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from tollfree import stats
from tollfree.scripts import written_rows
from tollfree.suites.presentation import MB, Findings, SuiteFindings

HEAP = "heap"
AGAIN = "local_again"
STOCK = "file_fdw"

OURS = "tollfree_file_fdw"
KEPT = {
    f"{OURS}_first": "first",
    f"{OURS}_second": "second",
    f"{OURS}_appended": "after 1% was appended",
}
"""Candidates that keep an index and columns of files: which execution is timed. They have a table
of their own."""

FORMS = ("csv", "gzip", "zstd", "files", "gzip_files")
"""The order in which forms are shown; others follow by name."""
FORM_WORDS = {
    "csv": "quoted CSV",
    "gzip": "gzip",
    "zstd": "zstd",
    "files": "100 files",
    "gzip_files": "100 gzip files",
}
"""What a form is called; others have their names."""

COLD_SHARE = 0.01
"""Of the text behind its tables: a case that reads more than this from the disk is cold."""

SETTINGS = (("plain", 0), ("plain", 2), ("partitioned", 2))
"""Engine and workers; each has a table of its own."""

ENGINE_NAMES = {"plain": "PostgreSQL 9.1", "partitioned": "CitusDB"}
"""What the article has for our engines."""


@dataclass(frozen=True)
class Published:
    """One row of the article's table, in seconds."""

    regular_s: float
    foreign_s: float

    @property
    def ratio(self) -> float:
        """How many times slower the foreign table was."""
        return self.foreign_s / self.regular_s


@dataclass(frozen=True)
class FileFindings(SuiteFindings):
    """A run of the suite beside the published figures."""

    published: dict[tuple[str, str], Published]
    """By query and engine."""
    scanned: dict[str, int]
    """Bytes of text behind the tables that a query reads, by query, at the run's scale: empty
    where a file does not have them."""

    @classmethod
    def of(cls, run: Findings) -> "FileFindings":
        """Put the published figures beside a run."""
        published = {
            (query, engine): Published(*seconds)
            for query, engine, *seconds in written_rows("file_published")
        }
        return cls(run, published, run.facts.get("scanned_bytes", {}))

    def candidates(self, *, of_forms: bool = False) -> list[str]:
        """Return the candidates that are compared with the heap table, stock first; with forms,
        those of cases of these, else of the text itself."""
        cases = self.run.cases.values()
        found = {str(x.dims["target"]) for x in cases if ("form" in x.dims) == of_forms}
        return sorted(found - {HEAP, AGAIN, *KEPT}, key=lambda name: (name != STOCK, name))

    def queries(self, *, form: str | None = None, **dims: object) -> list[str]:
        """Return the queries of the run's cases with these dimensions, in their own order; without
        a form, of those on the text itself."""
        found = {str(self.dims(name)["query"]) for name in self.run.find(form=form, **dims)}
        return sorted(found, key=query_order)

    def forms(self, **dims: object) -> list[str]:
        """Return the forms of the run's cases with these dimensions, in the order of their rows;
        the text itself is none of them."""
        found = {str(self.dims(name)["form"]) for name in self.run.find(**dims) if self._form(name)}
        return sorted(found, key=lambda form: (FORMS.index(form) if form in FORMS else 99, form))

    def _form(self, testcase: str) -> object:
        return self.dims(testcase).get("form")

    def case(
        self, query: str, target: str, engine: str, workers: int, form: str | None = None
    ) -> str | None:
        """Return the case's name if every execution of it succeeded and there is one."""
        names = self.run.find(query=query, target=target, engine=engine, workers=workers, form=form)
        return names[0] if names and self.run.values(names[0]) else None

    def mean_s(self, testcase: str | None) -> float | None:
        """Return the mean of a case's executions in seconds."""
        values = self.run.values(testcase) if testcase else []
        return statistics.fmean(values) / 1000 if values else None

    def ratio(self, testcase: str | None) -> stats.Estimate | None:
        """Return the ratio of a case to the heap table's."""
        return self.run.ratio(testcase) if testcase else None

    def megabytes_a_second(self, testcase: str | None) -> float | None:
        """Return how many megabytes of text a case went through in a second."""
        seconds = self.mean_s(testcase)
        scanned = self._scanned(testcase) if testcase else None
        return scanned / MB / seconds if scanned and seconds else None

    def disk_share(self, testcase: str) -> float | None:
        """Return what the worst execution of a case read from the disk, as a share of the text
        behind its tables; None where no execution could tell."""
        counted, scanned = self.run.figures(testcase, "disk_bytes"), self._scanned(testcase)
        return max(counted) / scanned if counted and scanned else None

    def _scanned(self, testcase: str) -> int | None:
        return self.scanned.get(str(self.dims(testcase)["query"]))

    def is_cold(self, testcase: str) -> bool:
        """Return whether a case is known to have waited for the disk."""
        share = self.disk_share(testcase)
        return share is not None and share > COLD_SHARE

    def tpch_cases(self, target: str, engine: str, workers: int) -> dict[str, str]:
        """Return a candidate's cases that have a ratio to the heap table, by TPC-H's query."""
        found = {
            query: self.case(query, target, engine, workers)
            for query in self.queries(target=target, engine=engine, workers=workers)
            if is_tpch(query)
        }
        return {query: case for query, case in found.items() if case and self.ratio(case)}

    def published_mean(self, engine: str, queries: Iterable[str]) -> float:
        """Return the geometric mean of the article's ratios of these queries, which it all has."""
        return statistics.geometric_mean(self.published[query, engine].ratio for query in queries)


def query_order(query: str) -> tuple[int, str]:
    """Order Q2 before Q10, and other names after TPC-H's queries.

    >>> sorted(["COUNT", "Q10", "Q2"], key=query_order)
    ['Q2', 'Q10', 'COUNT']
    """
    return (int(query[1:]), "") if is_tpch(query) else (1000, query)


def is_tpch(query: str) -> bool:
    """Return whether a query is one of TPC-H's 22."""
    return re.fullmatch(r"Q\d+", query) is not None


def is_published(engine: str, workers: int) -> bool:
    """Return whether the article has figures for such executions: PostgreSQL had one process a
    query, CitusDB one a block."""
    return engine == "partitioned" or workers == 0


def setting(engine: str, workers: int) -> str:
    """Return how the queries of a table were run, in words."""
    how = "one process" if workers == 0 else f"{workers} workers"
    return how if engine == "plain" else f"lineitem and orders in blocks, {how}"
