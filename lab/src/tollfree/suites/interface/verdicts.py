"""The sentences that the section `interface` begins with."""

from tollfree import stats
from tollfree.report import figures
from tollfree.suites.interface.findings import BASELINE, FLOOR, InterfaceFindings, Task
from tollfree.suites.interface.tables import noise_table
from tollfree.suites.presentation import noise_sentence, ratio_words

ROAD_WORDS = {
    "lcl:ipc": "over a Unix socket",
    "lcl:tcp": "over loopback TCP",
    "lcl:tls": "over loopback TLS",
    "rmt:tcp": "over a 0.2 ms link",
    "rmt:tls": "over a 0.2 ms link with TLS",
    "rmt2ms:tcp": "over a 2 ms link",
}
MANY_ROWS = ("sql50k:1:001", "sql10m:1:001")
ONE_ROW = (("sql001:0:20", "sql001:1:1k"), ("sql001:0:50k", "sql001:1:50k"))
"""Strategies that connect each time and once."""
PRINTS_NOTHING = "p-none:null"


def verdicts(interface: InterfaceFindings) -> tuple[str, ...]:
    """Return sentences that a person can act on."""
    sentences: list[str] = []
    for task in interface.tasks:
        sentences += filter(None, (_connecting(interface, task), _tls(interface, task)))
    for task in interface.tasks:
        sentences += filter(None, (_drivers(interface, task),))
        sentences += _copy(interface, task)
    noise = interface.run.noise
    if noise:
        sentences.append(noise_sentence(noise, "libpq"))
        sentences += filter(None, (_doubt(interface),))
    return tuple(sentences)


def _doubt(interface: InterfaceFindings) -> str | None:
    """Say in how many tasks libpq came out unlike itself."""
    equal = [row[-1] == "yes" for row in noise_table(interface).rows if row[-1] is not None]
    if all(equal):
        return None
    return (
        f"In {equal.count(False)} of {len(equal)} tasks the A/A interval does not reach 1: one of "
        "a hundred does not by chance; another run would tell."
    )


def _holding(interface: InterfaceFindings, testcase: str, other: str) -> str:
    """Say what a case holds in the end, if another one holds something else."""
    held, before = (
        "native records" if held == "native" else held
        for held in (str(interface.dims(name)["held"]) for name in (testcase, other))
    )
    return "" if held == before else f", and holds {held} instead of {before}"


def _road(task: Task) -> str:
    return ROAD_WORDS.get(task.road, f"over {task.road}")


def _stands_for(interface: InterfaceFindings, task: Task) -> bool:
    """Whether a task stands for those that print something else: the one that prints nothing, or
    where there is none the first."""
    alike = [x for x in interface.tasks if (x.road, x.strategy) == (task.road, task.strategy)]
    plain = [x for x in alike if x.print == PRINTS_NOTHING]
    return task == (plain or alike)[0]


def _connecting(interface: InterfaceFindings, task: Task) -> str | None:
    """Say what connecting for each query costs libpq."""
    once = next((o for each, o in ONE_ROW if task.strategy == each), None)
    if once is None or not _stands_for(interface, task):
        return None
    each = interface.case(task, BASELINE)
    other = interface.case(Task(task.road, once, task.print), BASELINE)
    ratio = interface.ratio(each, other) if each else None
    if each is None:
        return None
    queries = interface.fewest_queries(each)
    connecting = f"Connecting for each of {queries:,} one-row queries {_road(task)}"
    if task.print != PRINTS_NOTHING:
        connecting += ", and printing them,"
    if ratio is None:
        return connecting + _taking(interface, task, each)
    if not stats.told_apart(ratio, interface.run.noise):
        return (
            f"{connecting} shows no difference to a connection that is kept which this run can "
            "tell from noise."
        )
    return (
        f"{connecting} costs libpq {ratio_words(ratio)} the time of such a query in a connection "
        "that is kept."
    )


def _taking(interface: InterfaceFindings, task: Task, each: str) -> str:
    """Say how long a query with its connection takes libpq, and how the others compare."""
    whole = interface.per_execution_ms(each, "total_ns")
    connecting = interface.connecting_ms(each)
    text = f" takes libpq {whole:.3g} ms a query, {connecting:.3g} ms of it to connect"
    parts = _beside_libpq(interface, task, each)
    return f"{text}; beside that time: {', '.join(parts)}." if parts else f"{text}."


def _tls(interface: InterfaceFindings, task: Task) -> str | None:
    """Say what TLS adds to libpq's connecting."""
    if not task.road.endswith(":tls") or task.strategy != ONE_ROW[0][0]:
        return None
    plain = Task(task.road.replace(":tls", ":tcp"), task.strategy, task.print)
    with_tls, without = interface.case(task, BASELINE), interface.case(plain, BASELINE)
    ratio = interface.ratio(with_tls, without) if with_tls else None
    if ratio is None:
        return None
    if not stats.told_apart(ratio, interface.run.noise):
        return (
            f"TLS {_road(plain)}: libpq's connecting and querying show no difference which this "
            "run can tell from noise."
        )
    return f"TLS {_road(plain)}: libpq's connecting and querying take {ratio_words(ratio)} as long."


def _drivers(interface: InterfaceFindings, task: Task) -> str | None:
    """Say how the interfaces' normal methods compare where many rows come."""
    if task.strategy not in MANY_ROWS or task.print != PRINTS_NOTHING:
        return None
    baseline = interface.case(task, BASELINE)
    if baseline is None:
        return None
    rows = {"sql50k": "50,000 rows", "sql10m": "the rows of t10m"}[task.strategy.split(":")[0]]
    parts = _beside_libpq(interface, task, baseline)
    floor = interface.case(task, FLOOR)
    ratio = interface.ratio(floor, baseline) if floor else None
    if ratio and stats.told_apart(ratio, interface.run.noise):
        parts.append(f"the floor, which looks at nothing, {figures.ratio(ratio.median)}")
    if not parts:
        return None
    return (
        f"For {rows} {_road(task)}, by the normal methods, beside libpq's time: {', '.join(parts)}."
    )


def _beside_libpq(interface: InterfaceFindings, task: Task, baseline: str) -> list[str]:
    """Say how many times libpq's time the normal methods of the other interfaces take."""
    parts = []
    for name in interface.ranking(task):
        dims = interface.dims(name)
        candidate = (dims["interface"], dims["method"])
        ratio = interface.ratio(name, baseline)
        usual = dims["method"] == "acc-n" and candidate not in (BASELINE, FLOOR)
        if ratio and usual and not dims["interface"].endswith("_again"):
            told = stats.told_apart(ratio, interface.run.noise)
            words = figures.ratio(ratio.median) if told else "no difference told"
            parts.append(f"{dims['interface']} {words} ({dims['held']})")
    return parts


def _copy(interface: InterfaceFindings, task: Task) -> list[str]:
    """Say what COPY gains each interface that has it, where many rows come."""
    if task.strategy not in MANY_ROWS or task.print != "p-none:null":
        return []
    sentences = []
    for candidate in interface.tasks[task]:
        normal = interface.case(task, (candidate[0], "acc-n"))
        copy = interface.case(task, candidate) if candidate[1] == "acc-y" else None
        ratio = interface.ratio(copy, normal) if copy else None
        if copy and normal and ratio and stats.told_apart(ratio, interface.run.noise):
            sentences.append(
                f"{candidate[0]} {_road(task)}: COPY takes {ratio_words(ratio)} the time of its "
                f"normal method{_holding(interface, copy, normal)}."
            )
    return sentences
