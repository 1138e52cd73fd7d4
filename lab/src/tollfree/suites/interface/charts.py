"""The plots of the section `interface`: ratios to libpq, task by task."""

from tollfree.report.model import Better, Chart, RatioChart, RatioRow
from tollfree.suites.interface.findings import BASELINE, InterfaceFindings, Task
from tollfree.suites.presentation import shown


def charts(interface: InterfaceFindings) -> tuple[Chart, ...]:
    """Return the ratio bars of the tasks that are not printed and have candidates to compare."""
    tasks = (task for task in interface.tasks if task.print == "p-none:null")
    return tuple(chart for task in tasks if (chart := _chart(interface, task)).rows)


def _chart(interface: InterfaceFindings, task: Task) -> RatioChart:
    baseline = interface.case(task, BASELINE)
    rows = []
    for name in interface.ranking(task) if baseline else []:
        if name == baseline:
            continue
        dims = interface.dims(name)
        rows.append(
            RatioRow(
                f"{interface.label(name)} ({dims['held']})",
                shown(interface.ratio(name, baseline)),
                interface.run.told_apart(name),
                _published(interface, task, f"{dims['interface']}:{dims['method']}"),
            )
        )
    return RatioChart(
        f"How many times slower than libpq, {task.published_name}",
        "time per execution",
        "libpq's normal method",
        Better.LOWER,
        tuple(rows),
        reference_label="published, printing to a file",
    )


def _published(interface: InterfaceFindings, task: Task, candidate: str) -> float | None:
    """Return the published ratio to libpq, of the same task printed to a file."""
    printed = Task(task.road, task.strategy, "p-all:file").published_name
    libpq = interface.published.get((printed, ":".join(BASELINE)))
    own = interface.published.get((printed, candidate))
    return own / libpq if own and libpq and candidate != ":".join(BASELINE) else None
