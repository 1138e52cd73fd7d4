"""The suites: what each one prepares before its cases run and how it presents its results.

A suite is a package in this folder, or in one of those that TOLLFREE_SUITES names, with a `SUITE`
(`base.Suite`); nothing lists them. Its cases are rows in the lab's database; here is only what rows
cannot say.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from tollfree.errors import EnvironmentLacksError, NotFoundError
from tollfree.paths import further_suite_folders
from tollfree.report.model import SuiteSection
from tollfree.store import Run, Store
from tollfree.suites.base import Suite
from tollfree.suites.presentation import Findings

__path__.extend(map(str, further_suite_folders()))

__all__ = ["Suite", "all_suites", "findings_of", "section_of", "suite_named"]

LAST = "custom"
"""Of the suites: a user's own commands."""


@cache
def all_suites() -> dict[str, Suite]:
    """Return the suites by name; raises `EnvironmentLacksError` for a package that is none."""
    names = (module.name for module in iter_modules(__path__) if module.ispkg)
    found = (_suite_in(name) for name in sorted(names, key=lambda name: (name == LAST, name)))
    return {suite.name: suite for suite in found}


def _suite_in(name: str) -> Suite:
    """Return the suite of a package, which has its name."""
    package = import_module(f"{__name__}.{name}")
    suite = getattr(package, "SUITE", None)
    if not isinstance(suite, Suite) or suite.name != name:
        raise EnvironmentLacksError(
            f"the package {package.__file__} has no SUITE of the name {name!r}",
            "Give it one (docs/reference/lab.md), or take its folder out of TOLLFREE_SUITES.",
        )
    return suite


def suite_named(name: str) -> Suite:
    """Return the suite of that name; raises `NotFoundError` when there is none."""
    suites = all_suites()
    if name not in suites:
        raise NotFoundError(f"there is no suite {name!r}", f"The suites are: {', '.join(suites)}.")
    return suites[name]


def findings_of(store: Store, run: Run) -> Findings:
    """Read a run from the lab's database."""
    cases = {case.testcase: case for case in store.run_cases(run)}
    return Findings(run, cases, store.results(run), suite_named(run.suite).facts(store, run))


def section_of(run: Findings) -> SuiteSection:
    """Return a run as its suite presents it."""
    return suite_named(run.run.suite).section(run)
