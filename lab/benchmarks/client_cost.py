"""What the client for libpq adds to a query: the same one-row loop by it and by pgbench.

Each round runs both, in turn first, over the Unix socket and over TCP; a ratio is taken inside its
round. Leaves the experiment's database as suite `interface` has it. Run it on a quiet machine:
`make bench`.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

from tollfree import stats
from tollfree.clients import clients
from tollfree.cluster import SUPERUSER, Cluster
from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.ports import LOOPBACK
from tollfree.postgres import buildable_installation
from tollfree.privileges import server_user
from tollfree.suites.interface import load

ROUNDS = 15
QUERIES = 5000
LIMIT_S = 120
STATEMENT = "select * from t50k where id = 4242"
PGBENCH_TPS = re.compile(r"tps = ([0-9.]+) \(without initial connection time\)")


def by_client(source: Cluster, start: tuple[str, ...], conninfo: str, env: dict[str, str]) -> float:
    """Return the microseconds of one query by our client, connecting left out."""
    options = ("-c", conninfo, "-s", STATEMENT, "-k", "1", "-n", str(QUERIES))
    done = source.user.run([*start, *options], timeout_s=LIMIT_S, env=env)
    done.check_returncode()
    figures = json.loads(done.stdout)
    return float(figures["total_ns"] - figures["connect_ns"]) / 1000 / QUERIES


def by_pgbench(source: Cluster, script: Path, conninfo: str, env: dict[str, str]) -> float:
    """Return the microseconds of one query by pgbench, connecting left out."""
    pgbench = source.stage.installation.bindir / "pgbench"
    options = ("--no-vacuum", f"--transactions={QUERIES}", f"--file={script}")
    done = source.user.run([str(pgbench), *options, conninfo], timeout_s=LIMIT_S, env=env)
    done.check_returncode()
    (tps,) = PGBENCH_TPS.findall(done.stdout)
    return 1e6 / float(tps)


def measure(
    source: Cluster, start: tuple[str, ...], conninfo: str, env: dict[str, str]
) -> tuple[list[float], list[float]]:
    """Return the microseconds of a query by our client and by pgbench, round by round."""
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "query.sql"
        script.write_text(f"{STATEMENT};\n")
        script.chmod(0o644)
        Path(folder).chmod(0o755)
        for round_ in range(ROUNDS):
            if round_ % 2:
                ours.append(by_client(source, start, conninfo, env))
            theirs.append(by_pgbench(source, script, conninfo, env))
            if not round_ % 2:
                ours.append(by_client(source, start, conninfo, env))
    return ours, theirs


def main() -> None:
    """Measure and print."""
    lab = Lab(buildable_installation(), lab_home(), server_user())
    found = {c.interface.name: c for c in clients(lab.installation, build=True)}
    with lab.running():
        source = lab.source()
        load.make_database(source)
        table = load.load_tables(1)[0]
        with source.connect(load.DBNAME) as connection:
            if not load.is_loaded(connection, table):
                load.load(connection, table)
        env = {"PGPASSFILE": str(lab.passfile), "PATH": lab.stage.search_path}
        for road, host in (("Unix socket", source.socket_folder), ("TCP", LOOPBACK)):
            conninfo = (
                f"host={host} port={source.port} user={SUPERUSER} dbname={load.DBNAME}"
                " sslmode=disable"
            )
            ours, theirs = measure(source, found["libpq"].start, conninfo, env)
            ratio = stats.median_interval([a / b for a, b in zip(ours, theirs, strict=True)])
            own, other = stats.median_interval(ours), stats.median_interval(theirs)
            assert ratio and own and other
            sys.stdout.write(
                f"one-row query over {road}, {ROUNDS} rounds of {QUERIES},"
                f" PostgreSQL {lab.installation.version}\n"
                f"our client for libpq: {own.median:.2f} us\n"
                f"pgbench:              {other.median:.2f} us\n"
                f"ratio:                {ratio.median:.3f} ({ratio.low:.3f} to {ratio.high:.3f})\n"
            )


if __name__ == "__main__":
    main()
