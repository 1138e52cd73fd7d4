"""The published experiment's views ifmeth_cat_results and loccomm_cat_results of one run.

The lab's database has them in SQL. A report of a file has no database, so they are
made here too, from the same executions; a test compares both.
"""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from tollfree.suites.presentation import Findings, is_again

NS_PER_S = 1e9
DIGITS = 5

View = list[dict[str, Any]]
"""Rows with the columns of the view."""


def views_of(run: Findings) -> dict[str, View]:
    """Return both views by their names. The A/A case is no candidate: libpq would count twice."""
    names = [name for name, case in run.cases.items() if not is_again(case)]
    cases = [row for name in names if (row := _durations(run, name))]
    task = ("sql", "numiter", "loc", "comm", "connstrat", "prnt", "dest")
    client = ("iface", "extra", "sql", "numiter", "connstrat", "prnt", "dest")
    return {
        "ifmeth_cat_results": _view(cases, task, ("iface", "extra")),
        "loccomm_cat_results": _view(cases, client, ("loc", "comm")),
    }


def _durations(run: Findings, testcase: str) -> dict[str, Any] | None:
    """Return the parts of a case's name, and mean and range of its seconds, None if it was not
    measured. Under a limit a case that was ended early has no duration, but that of a query."""
    executions = [result.figures for result in run.measured(testcase).values()]
    if not executions:
        return None
    dims = run.cases[testcase].dims
    asked = dims["executions"]
    queries = [int(figures["executions"]) for figures in executions]
    seconds = [float(figures["total_ns"]) / NS_PER_S for figures in executions]
    of_a_query = [s / q for s, q in zip(seconds, queries, strict=True)]
    is_whole = all(done == asked for done in queries)
    return {
        **{"iface": dims["interface"], "extra": dims["method"]},
        **_parts(dims["road"], "loc", "comm"),
        **_parts(dims["strategy"], "sql", "connstrat", "numiter"),
        **_parts(dims["print"], "prnt", "dest"),
        **{"grpsz": len(executions), "queries": min(queries), "asked": asked},
        "duration": round(fmean(seconds), DIGITS) if is_whole else None,
        "drange": round(_range(seconds), DIGITS) if is_whole else None,
        "query_duration": fmean(of_a_query),
        "query_drange": _range(of_a_query),
    }


def _parts(text: str, *names: str) -> dict[str, str]:
    return dict(zip(names, text.split(":"), strict=True))


def _range(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _view(cases: View, shared: Sequence[str], own: Sequence[str]) -> View:
    """Return the cases by the parts that competitors share, with normalised durations."""
    groups: dict[str, View] = defaultdict(list)
    for case in cases:
        groups[":".join(case[part] for part in shared)].append(case)
    columns = ("duration", "drange", "grpsz", "queries", "asked", "query_duration")
    return [
        {
            "testcase": testcase,
            "candidate": ":".join(case[part] for part in own),
            **{column: case[column] for column in columns},
            "nml_dur": _normalised(case, group, "query_duration"),
            "nml_drng": _normalised(case, group, "query_drange"),
        }
        for testcase, group in groups.items()
        for case in group
    ]


def _normalised(case: dict[str, Any], group: View, column: str) -> float | None:
    """Return where a value is between the group's lowest and highest, from 0 to 1; None where these
    are equal."""
    values = [one[column] for one in group]
    low, high = min(values), max(values)
    return round((case[column] - low) / (high - low), DIGITS) if high > low else None
