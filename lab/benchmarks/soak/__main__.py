"""The command line of the soak: `tools/soak HOURS`."""

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg

from soak.harm import FAULTS
from soak.record import Summary, write_record
from soak.soak import Plan, Soak
from soak.world import started_world
from tollfree.errors import ExitCode, LabError
from tollfree.interruption import interrupt_on_signals
from tollfree.paths import BUILD
from tollfree.postgres import Installation, buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.stage import make_stage

LOG = BUILD / "soak.log"


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(
        prog="tools/soak",
        description="Work on private servers for hours while sessions, servers and links fail;"
        " check each minute that no row is lost or doubled, no value wrong, nothing left behind.",
        epilog=f"Faults: {'; '.join(FAULTS)}. Exit status: 0 nothing is wrong,"
        " 1 something is, 130 interrupted.",
    )
    parser.add_argument("hours", type=float, metavar="HOURS", help="such as 8, or 0.05")
    parser.add_argument("--seed", type=int, help="what operations and faults are drawn from")
    parser.add_argument("--workers", type=int, default=6, help="how many sessions (%(default)s)")
    parser.add_argument(
        "--without",
        action="append",
        choices=list(FAULTS),
        default=[],
        metavar="FAULT",
        help="a fault that is not to happen; may be given several times",
    )
    parser.add_argument(
        "--log", type=Path, default=LOG, help="a line for each minute (build/soak.log)"
    )
    parser.add_argument(
        "--record", action="store_true", help="put the summary into docs/runs/soak.txt"
    )
    arguments = parser.parse_args(words)
    if arguments.hours <= 0 or arguments.workers < 1:
        parser.error("HOURS and --workers are more than 0")
    if arguments.seed is None:
        arguments.seed = random.randrange(1_000_000)
    return arguments


def soak(
    installation: Installation, arguments: argparse.Namespace, report: Callable[[str], None]
) -> Summary:
    """Soak with servers of that installation, as it is asked for; return the summary, also of one
    that Ctrl-C has ended. What the servers have logged is kept if something is wrong."""
    user = server_user()
    folder = Path(tempfile.mkdtemp(prefix="tollfree-soak-"))
    user.own(folder)
    plan = Plan(arguments.seed, arguments.workers, without=frozenset(arguments.without))
    is_kept = False
    try:
        # A stage of its own: the lab's may be made anew meanwhile.
        stage = make_stage(installation, folder, user)
        with started_world(stage, user, folder, plan.workers) as world, Soak(plan, world) as run:
            report(f"PostgreSQL {installation.version}, seed {plan.seed}, files in {folder}")
            try:
                run.go_on_for(arguments.hours * 3600, report)
            except KeyboardInterrupt:
                run.summary.is_interrupted = True
            except psycopg.Error as error:
                run.summary.findings.append(f"the check: {error}")
        is_kept = run.summary.has_failed
        return run.summary
    except Exception:
        is_kept = True
        raise
    finally:
        if is_kept:
            report(f"the servers' files are kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Soak, print and record; return the exit status."""
    words = sys.argv[1:]
    arguments = parsed(words)
    interrupt_on_signals()
    clear_libpq_environment()
    arguments.log.parent.mkdir(parents=True, exist_ok=True)
    try:
        installation = buildable_installation()
        with arguments.log.open("w", encoding="utf-8") as log:

            def report(line: str) -> None:
                for file in (sys.stdout, log):
                    file.write(line + "\n")
                    file.flush()

            summary = soak(installation, arguments, report)
            for line in summary.lines():
                report(line)
        if arguments.record and not summary.has_failed and not summary.is_interrupted:
            write_record(summary, installation.version, words)
    except LabError as error:
        sys.stderr.write(f"{error.message}\n  {error.remedy}\n{error.detail}")
        return error.code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    if summary.has_failed:
        return ExitCode.CASES_FAILED
    return ExitCode.INTERRUPTED if summary.is_interrupted else ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
