"""The suites: what each one prepares before its cases run and how it presents its results.

A suite's cases are rows in the lab's database; here is only what rows cannot say.
"""

from tollfree.errors import NotFoundError
from tollfree.report.model import SuiteSection
from tollfree.store import Run, Store
from tollfree.suites.base import Suite
from tollfree.suites.custom import CustomSuite
from tollfree.suites.fdw import FdwSuite
from tollfree.suites.file import FileSuite
from tollfree.suites.interface import InterfaceSuite
from tollfree.suites.presentation import Findings
from tollfree.suites.sampling import SamplingSuite
from tollfree.suites.shards import ShardsSuite

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        FdwSuite(),
        FileSuite(),
        InterfaceSuite(),
        SamplingSuite(),
        ShardsSuite(),
        CustomSuite(),
    )
}

__all__ = ["SUITES", "Suite", "findings_of", "section_of", "suite_named"]


def suite_named(name: str) -> Suite:
    """Return the suite of that name; raises `NotFoundError` when there is none."""
    try:
        return SUITES[name]
    except KeyError:
        raise NotFoundError(
            f"there is no suite {name!r}", f"The suites are: {', '.join(SUITES)}."
        ) from None


def findings_of(store: Store, run: Run) -> Findings:
    """Read a run from the lab's database."""
    cases = {case.testcase: case for case in store.run_cases(run)}
    return Findings(run, cases, store.results(run), suite_named(run.suite).facts(store, run))


def section_of(run: Findings) -> SuiteSection:
    """Return a run as its suite presents it."""
    return suite_named(run.run.suite).section(run)
