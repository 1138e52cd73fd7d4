"""What the client for libpq adds to a query: the same one-row loop by it and by pgbench.

Two answers. What a query costs each of them is counted: system calls by strace, instructions
outside the kernel by valgrind, each as the difference between a long and a short run, so that
starting and connecting drop out; a program that is not installed is said to be missing. Then both
are timed, in many short rounds, each in turn first, over the Unix socket and over TCP; a ratio is
taken inside its round. The client reads every cell, which pgbench does not.

Leaves the experiment's database as suite `interface` has it. Run it on a quiet machine:
`make bench`.
"""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tollfree import stats
from tollfree.clients import TIERS, clients
from tollfree.cluster import SUPERUSER, Cluster
from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.ports import LOOPBACK
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.suites.interface import load

ROUNDS = 60
QUERIES = 1000
COUNTED = (500, 1500)
"""Queries of the short and of the long run that are counted."""
LIMIT_S = 120
STATEMENT = "select * from t50k where id = 4242"
PGBENCH_TPS = re.compile(r"tps = ([0-9.]+) \(without initial connection time\)")
STRACE_CALLS = re.compile(
    r"^ *[0-9.]+ +[0-9.]+ +[0-9]+ +([0-9]+) (?:.* )?([a-z]\w+)$", re.MULTILINE
)
VALGRIND_INSTRUCTIONS = re.compile(r"Collected : ([0-9]+)")


@dataclass(frozen=True)
class Loop:
    """A program that runs the statement so many times in one connection."""

    name: str
    argv: Callable[[int], list[str]]
    """Of so many queries."""
    query_us: Callable[[str], float]
    """A query's microseconds, connecting left out, by what the program printed."""


def _client_us(printed: str) -> float:
    figures = json.loads(printed)
    return float(figures["total_ns"] - figures["connect_ns"]) / 1000 / float(figures["executions"])


def _pgbench_us(printed: str) -> float:
    (tps,) = PGBENCH_TPS.findall(printed)
    return 1e6 / float(tps)


def loops(
    source: Cluster, start: tuple[str, ...], conninfo: str, script: Path
) -> tuple[Loop, Loop]:
    """Return our client and pgbench."""
    pgbench = str(source.stage.installation.bindir / "pgbench")
    client = [*start, "-c", conninfo, "-s", STATEMENT, "-k", "1", "-n"]
    return (
        Loop("our client for libpq", lambda n: [*client, str(n)], _client_us),
        Loop(
            "pgbench",
            lambda n: [pgbench, "--no-vacuum", f"--transactions={n}", f"--file={script}", conninfo],
            _pgbench_us,
        ),
    )


@dataclass(frozen=True)
class Runner:
    """Runs a command as the servers' user."""

    source: Cluster
    env: dict[str, str]

    def run(self, *argv: str) -> tuple[str, str]:
        """Return what the command printed on standard output and error."""
        done = self.source.user.run(list(argv), timeout_s=LIMIT_S, env=self.env)
        done.check_returncode()
        return done.stdout, done.stderr


def system_calls(runner: Runner, loop: Loop) -> dict[str, float]:
    """Return the system calls of a query by name."""

    def count(queries: int) -> dict[str, int]:
        _, table = runner.run("strace", "-c", "-f", *loop.argv(queries))
        return {name: int(calls) for calls, name in STRACE_CALLS.findall(table)}

    short, long = map(count, COUNTED)
    each = {n: (long[n] - short.get(n, 0)) / (COUNTED[1] - COUNTED[0]) for n in long}
    return {name: calls for name, calls in sorted(each.items()) if abs(calls) >= 0.005}


def instructions(runner: Runner, loop: Loop) -> float:
    """Return the instructions of a query outside the kernel."""

    def count(queries: int) -> int:
        tool = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
        _, said = runner.run(*tool, *loop.argv(queries))
        (collected,) = VALGRIND_INSTRUCTIONS.findall(said)
        return int(collected)

    short, long = map(count, COUNTED)
    return (long - short) / (COUNTED[1] - COUNTED[0])


def print_counts(runner: Runner, both: tuple[Loop, Loop]) -> None:
    """Print what a query costs each loop, as far as there are programs to count it."""
    for loop in both:
        parts = []
        if shutil.which("strace"):
            calls = system_calls(runner, loop)
            parts.append(", ".join(f"{calls[n]:.2f} {n}" for n in calls if n != "total"))
        if shutil.which("valgrind"):
            parts.append(f"{instructions(runner, loop):,.0f} instructions")
        missing = [tool for tool in ("strace", "valgrind") if not shutil.which(tool)]
        parts += [f"not counted, there is no {tool}" for tool in missing]
        sys.stdout.write(f"a query by {loop.name}: {'; '.join(parts)}\n")


def print_times(runner: Runner, both: tuple[Loop, Loop], road: str) -> None:
    """Time both in turns and print the medians and their ratio."""
    times: dict[str, list[float]] = {loop.name: [] for loop in both}
    for round_ in range(ROUNDS):
        for loop in both if round_ % 2 else reversed(both):
            times[loop.name].append(loop.query_us(runner.run(*loop.argv(QUERIES))[0]))
    ours, theirs = times.values()
    ratio = stats.median_interval([a / b for a, b in zip(ours, theirs, strict=True)])
    assert ratio
    sys.stdout.write(f"one-row query over {road}, {ROUNDS} rounds of {QUERIES} queries\n")
    for name, values in times.items():
        middle = stats.median_interval(values)
        assert middle
        sys.stdout.write(f"  {name}: {middle.median:.2f} us, the fastest {min(values):.2f} us\n")
    sys.stdout.write(
        f"  ours to pgbench: {ratio.median:.3f}x ({ratio.low:.3f} to {ratio.high:.3f})\n"
    )


def main() -> None:
    """Measure and print."""
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    found = {c.interface.name: c for c in clients(lab.installation, build=TIERS)}
    with lab.running(), tempfile.TemporaryDirectory() as folder:
        source = lab.source()
        source.make_database(load.DBNAME)
        table = load.load_tables(1)[0]
        with source.connect(load.DBNAME) as connection:
            if not load.is_loaded(connection, table):
                load.load(connection, table)
        script = Path(folder) / "query.sql"
        script.write_text(f"{STATEMENT};\n")
        script.chmod(0o644)
        Path(folder).chmod(0o755)
        runner = Runner(source, {"PGPASSFILE": str(lab.passfile), "PATH": lab.stage.search_path})
        sys.stdout.write(
            f"PostgreSQL {lab.installation.version}; {STATEMENT}\n"
            "Counted for each query: system calls by name, and instructions outside the kernel.\n"
            "Timed: microseconds, and the median ratio inside a round with its 99% interval.\n"
        )
        for road, host in (("the Unix socket", source.socket_folder), ("TCP", LOOPBACK)):
            conninfo = (
                f"host={host} port={source.port} user={SUPERUSER} dbname={load.DBNAME}"
                " sslmode=disable"
            )
            both = loops(source, found["libpq"].start, conninfo, script)
            if host != LOOPBACK:
                print_counts(runner, both)
            print_times(runner, both, road)


if __name__ == "__main__":
    main()
