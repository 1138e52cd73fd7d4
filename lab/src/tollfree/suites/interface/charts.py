"""The plots of the section `interface`: ratios to libpq holding as much, task by task."""

from tollfree import stats
from tollfree.report.model import Better, Chart, RatioChart, RatioRow
from tollfree.suites.interface.findings import (
    ALIKE,
    BASELINE,
    Candidate,
    InterfaceFindings,
    Task,
)
from tollfree.suites.presentation import shown


def charts(interface: InterfaceFindings) -> tuple[Chart, ...]:
    """Return the ratio bars of the tasks that are not printed and have candidates to compare."""
    tasks = (task for task in interface.tasks if task.print == "p-none:null")
    return tuple(chart for task in tasks if (chart := _chart(interface, task)).rows)


def _chart(interface: InterfaceFindings, task: Task) -> RatioChart:
    rows = []
    for name in interface.ranking(task):
        ratio = interface.ratio_alike(task, name)
        if ratio is None:
            continue
        dims = interface.dims(name)
        rows.append(
            RatioRow(
                f"{interface.label(name)} ({dims['held']})",
                shown(ratio),
                stats.told_apart(ratio, interface.run.noise),
                published_ratio(
                    interface,
                    task,
                    (dims["interface"], dims["method"]),
                    ALIKE.get(dims["held"], BASELINE),
                ),
            )
        )
    return RatioChart(
        f"How many times slower than libpq holding as much, {task.published_name}",
        "time per execution",
        "libpq's normal method, or row by row where nothing is held",
        Better.LOWER,
        tuple(rows),
        reference_label="published, printing to a file",
    )


def published_ratio(
    interface: InterfaceFindings, task: Task, candidate: Candidate, alike: Candidate
) -> float | None:
    """Return the published ratio to libpq holding as much, of the same task printed to a file."""
    printed = Task(task.road, task.strategy, "p-all:file").published_name
    libpq = interface.published.get((printed, ":".join(alike)))
    own = interface.published.get((printed, ":".join(candidate)))
    return own / libpq if own and libpq else None
