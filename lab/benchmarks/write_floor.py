"""What a wrapper could gain at most on pgbench's read-write transaction, and what ours gains.

Whoever carries that transaction to another server has to wait five times: for four writes, each of
which the client is told about, and for the commit. The query, by the key of the first write, can be
answered along with that. The floor is those five flights alone, by pgbench itself, of prepared
statements, with BEGIN in the first one; and, beside it, the client's own conversation with its
server, of seven commands that do nothing. No wrapper that answers each command truthfully can take
less, even one that plans and converts in no time. All loops run in turn, each round begins with
another one, and ratios are taken inside a round.

Makes databases of its own on the lab's servers. Run it on a quiet machine:

    .venv/bin/python lab/benchmarks/write_floor.py [ROUNDS [SECONDS]]
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tollfree import stats
from tollfree.cluster import SUPERUSER, Cluster
from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.ports import LOOPBACK
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.suites.fdw.databases import SOURCE, has_scale, load, make_foreign_database

ROUNDS = 9
SECONDS = 5
SCALE = 10
WRAPPERS = ("postgres_fdw", "tollfree_postgres_fdw")
VARIABLES = f"""\\set aid random(1, {100000 * SCALE})
\\set bid random(1, {SCALE})
\\set tid random(1, {10 * SCALE})
\\set delta random(-5000, 5000)
"""
FLIGHTS = (
    VARIABLES
    + """\\startpipeline
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
\\endpipeline
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
	VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""
)
CONVERSATION = VARIABLES + "BEGIN;\n" + "SELECT;\n" * 5 + "END;\n"
LATENCY = re.compile(r"latency average = ([0-9.]+) ms")


@dataclass(frozen=True)
class Loop:
    """A pgbench run of one client."""

    name: str
    argv: tuple[str, ...]

    def milliseconds(self, lab: Lab, seconds: int) -> float:
        """Run it and return the mean duration of a transaction."""
        source = lab.source()
        done = source.user.run(
            [
                str(lab.installation.bindir / "pgbench"),
                *("--no-vacuum", f"--time={seconds}", *self.argv),
            ],
            timeout_s=seconds + 60,
            env={"PGPASSFILE": str(lab.passfile), "PATH": lab.stage.search_path},
        )
        done.check_returncode()
        latency = LATENCY.search(done.stdout)
        if latency is None:
            sys.exit(f"{self.name}: no transaction ended within {seconds} s; give it longer")
        return float(latency[1])


def make_databases(lab: Lab) -> None:
    """Load pgbench's tables if need be, and make a database for each wrapper."""
    source, external = lab.source(), lab.external()
    if not has_scale(source, SCALE):
        load(source, SCALE)
    for wrapper in WRAPPERS:
        row: dict[str, object] = {
            "dbname": _dbname(wrapper),
            "wrapper": wrapper,
            "server_options": {},
            "server_host": LOOPBACK,
            "server_port": source.port,
            "updatable": True,
        }
        password = lab.password()
        make_foreign_database(external, row, password)


def make_loops(lab: Lab, folder: Path) -> list[Loop]:
    """Return what is compared."""
    for name, script in (("flights", FLIGHTS), ("conversation", CONVERSATION)):
        (folder / f"{name}.sql").write_text(script)
        (folder / f"{name}.sql").chmod(0o644)
    socket, tcp = lab.external(), lab.source()
    foreign = [
        Loop(wrapper, ("--builtin=tpcb-like", _conninfo(socket, _dbname(wrapper), None)))
        for wrapper in WRAPPERS
    ]
    return [
        Loop("local", ("--builtin=tpcb-like", _conninfo(tcp, SOURCE, None))),
        *foreign,
        Loop(
            "flights",
            (
                "--protocol=prepared",
                f"--file={folder}/flights.sql",
                _conninfo(tcp, SOURCE, LOOPBACK),
            ),
        ),
        Loop(
            "conversation",
            (f"--file={folder}/conversation.sql", _conninfo(socket, _dbname(WRAPPERS[0]), None)),
        ),
    ]


def _dbname(wrapper: str) -> str:
    return f"write_floor_{wrapper}"


def _conninfo(instance: Cluster, dbname: str, host: str | None) -> str:
    return (
        f"host={host or instance.socket_folder} port={instance.port} user={SUPERUSER}"
        f" dbname={dbname} sslmode=disable"
    )


def print_line(name: str, values: list[float], unit: str) -> None:
    """Print a median with its interval."""
    middle = stats.median_interval(values)
    assert middle
    sys.stdout.write(
        f"{name:<44} {middle.median:7.3f} {unit} ({middle.low:.3f} to {middle.high:.3f})\n"
    )


def main() -> None:
    """Measure and print."""
    rounds, seconds = [*map(int, sys.argv[1:]), *(ROUNDS, SECONDS)[len(sys.argv) - 1 :]]
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    with lab.running(), tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        make_databases(lab)
        loops = make_loops(lab, Path(folder))
        times: dict[str, list[float]] = {loop.name: [] for loop in loops}
        for round_ in range(rounds):
            for turn in range(len(loops)):
                loop = loops[(round_ + turn) % len(loops)]
                times[loop.name].append(loop.milliseconds(lab, seconds))
    sys.stdout.write(
        f"PostgreSQL {lab.installation.version}, {rounds} rounds of {seconds} s, scale {SCALE}\n"
        "Of a transaction the mean duration: the median of the rounds with its 99% interval."
        " Flights are the five waits for the remote server, conversation is that with the local"
        " server; the floor is both.\n"
    )
    for name, values in times.items():
        print_line(name, values, "ms")
    stock, ours = (times[wrapper] for wrapper in WRAPPERS)
    floor = [a + b for a, b in zip(times["flights"], times["conversation"], strict=True)]
    for name, above, below in (
        ("postgres_fdw / tollfree_postgres_fdw", stock, ours),
        ("postgres_fdw / floor, what could be gained", stock, floor),
        ("tollfree_postgres_fdw / floor", ours, floor),
    ):
        print_line(name, [a / b for a, b in zip(above, below, strict=True)], "x ")


if __name__ == "__main__":
    main()
