"""The picture of the suite `interface`: what drivers take beside libpq.

There is no stock and no ours here: each row is a driver, by its normal method.
"""

from collections.abc import Iterator

from tollfree import stats
from tollfree.report.model import Gain, GainChart, GainRow
from tollfree.suites.interface.charts import published_ratio
from tollfree.suites.interface.findings import ALIKE, BASELINE, InterfaceFindings, Task
from tollfree.suites.presentation import shown

PICTURED = {
    "sql50k:1:001": "Time to get 50,000 rows",
    "sql10m:1:001": "Time to get the rows of t10m",
    "sql001:1:1k": "Time to get one row",
}
"""The tasks that a picture may be of, the first that was measured."""
ROADS = ("lcl:tcp", "lcl:ipc")
NORMAL = "acc-n"


def gain_chart(interface: InterfaceFindings) -> GainChart | None:
    """Return the picture of one task, None where none of them was measured."""
    for strategy, caption in PICTURED.items():
        for road in ROADS:
            task = Task(road, strategy, "p-none:null")
            if task in interface.tasks and (rows := tuple(_rows(interface, task))):
                return GainChart(
                    f"{caption}, {road}",
                    "libpq holding as much",
                    ("the driver's normal method",),
                    rows,
                    "published, printing to a file",
                )
    return None


def _rows(interface: InterfaceFindings, task: Task) -> Iterator[GainRow]:
    normal = [x for x in interface.ranking(task) if interface.dims(x)["method"] == NORMAL]
    ratios = {x: ratio for x in normal if (ratio := interface.ratio_alike(task, x))}
    for name, ratio in sorted(ratios.items(), key=lambda item: item[1].median):
        dims = interface.dims(name)
        told_apart = stats.told_apart(ratio, interface.run.noise)
        estimate = shown(ratio)
        assert estimate is not None
        yield GainRow(
            f"{interface.label(name).removesuffix(f' {NORMAL}')} ({dims['held']})",
            (Gain(estimate, told_apart),),
            published_ratio(
                interface,
                task,
                (dims["interface"], NORMAL),
                ALIKE.get(dims["held"], BASELINE),
            ),
        )
