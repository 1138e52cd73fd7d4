"""The suites: what each one prepares before its cases run and how it presents its results.

A suite's cases are rows in the lab's database; here is only what rows cannot say.
"""

from tollfree.errors import NotFoundError
from tollfree.suites.base import Suite
from tollfree.suites.custom import CustomSuite
from tollfree.suites.fdw import FdwSuite
from tollfree.suites.file import FileSuite
from tollfree.suites.interface import InterfaceSuite
from tollfree.suites.sampling import SamplingSuite

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (FdwSuite(), FileSuite(), InterfaceSuite(), SamplingSuite(), CustomSuite())
}

__all__ = ["SUITES", "Suite", "suite_named"]


def suite_named(name: str) -> Suite:
    """Return the suite of that name; raises `NotFoundError` when there is none."""
    try:
        return SUITES[name]
    except KeyError:
        raise NotFoundError(
            f"there is no suite {name!r}", f"The suites are: {', '.join(SUITES)}."
        ) from None
