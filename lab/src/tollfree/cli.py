"""The command line. It parses and delegates: no SQL, no timing, no statistics here.

Exit codes are those of `tollfree.errors.ExitCode`; `main` is the one place that maps errors to
them.
"""

import dataclasses
import json
import logging
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import psycopg
from rich.table import Table as RichTable

from tollfree import __version__, doctor
from tollfree.check import check
from tollfree.check.text import lines
from tollfree.cluster import is_connection_lost
from tollfree.compare import comparison, only_in_one
from tollfree.console import ERR, OUT, print_section, progress_shown, rich_table
from tollfree.errors import ExitCode, LabError, NotFoundError
from tollfree.export import read_json, write_csv, write_json
from tollfree.interruption import interrupt_on_signals
from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.publish import publish
from tollfree.report.model import CaseState
from tollfree.runner import Request, run_suite
from tollfree.store import Run, Store
from tollfree.suites import SUITES, suite_named
from tollfree.suites.presentation import Findings

REPORT = Path("report/index.html")
LARGEST_SEED = 2**31 - 1
"""That the database takes."""

EXIT_CODES = f"""\b
Exit codes:
  {ExitCode.OK:>3}  all went well
  {ExitCode.CASES_FAILED:>3}  the run ended, but some of its cases failed
  {ExitCode.USAGE:>3}  the command line is wrong
  {ExitCode.ENVIRONMENT:>3}  something is missing, too old or unreadable (see `tollfree doctor`)
  {ExitCode.LAB_STATE:>3}  the lab is running already, not running, or a port is taken
  {ExitCode.FILES:>3}  a file cannot be read or written, or the disk is full
  {ExitCode.NOT_FOUND:>3}  no such suite, run or case
  {ExitCode.DEFECT:>3}  a defect of tollfree itself
  {ExitCode.INTERRUPTED:>3}  interrupted; go on with `tollfree run SUITE --resume`
"""


def _lab() -> Lab:
    return Lab(buildable_installation(), lab_home(), server_user())


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, prog_name="tollfree")
@click.pass_context
def cli(context: click.Context) -> None:
    """Measure what each road to data outside PostgreSQL's own tables costs.

    The lab starts private PostgreSQL servers, runs the cases of a suite in rounds, stores every
    execution in a database of its own and says how many times slower each road is than a local
    table. The first steps:

    \b
      tollfree doctor            see what is here and what is missing
      tollfree run fdw --quick   measure (minutes); --full for figures to cite (hours)
      tollfree show              see the runs there are
      tollfree report            write report/index.html

    PG_CONFIG in the environment chooses another PostgreSQL than the newest installed one, and
    TOLLFREE_HOME another folder for the lab's servers and results.
    """
    # `check` alone connects to servers of the user's, which these variables are about.
    if context.invoked_subcommand != "check":
        clear_libpq_environment()


@cli.command(name="doctor")
def doctor_command() -> None:
    """Say what is here, what is missing and what each missing thing costs.

    Exits with 3 when something is missing without which no suite can run.
    """
    table = RichTable(box=None, pad_edge=False, show_header=False)
    lacking = False
    for finding in doctor.examine():
        mark = "ok" if finding.found else ("MISSING" if finding.necessary else "note")
        lacking |= finding.necessary and not finding.found
        table.add_row(mark, finding.thing, finding.detail)
    OUT.print(table, markup=False)
    if lacking:
        raise SystemExit(ExitCode.ENVIRONMENT)


@cli.command(name="check")
@click.argument("dsn", metavar="DSN")
@click.option(
    "--timeout",
    "limit_s",
    metavar="SECONDS",
    type=click.IntRange(1, 3600),
    default=10,
    help="Limit of each statement.  [10]",
)
@click.option("--query", metavar="SQL", help="Say what this one waits for. It is not executed.")
@click.option(
    "--top",
    "most",
    type=click.IntRange(0, 100),
    default=5,
    help="Without --query: how many of the most expensive queries in pg_stat_statements to look"
    " at.  [5]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; docs/checking.md has its fields."
)
def check_command(dsn: str, limit_s: int, query: str | None, most: int, as_json: bool) -> None:
    """Look at the foreign servers of a database of yours, which DSN names as for psql.

    Says how long their round trips are, which statistics are missing, how many round trips your
    queries wait for, and which commands switch a server to our wrappers and back. Nothing is
    changed: every transaction is read-only and rolled back. What the server refuses to this user
    is listed as not known.
    """
    report = check(dsn, limit_s, query, most)
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(report), indent=2, default=str))
        return
    for line in lines(report):
        OUT.print(line, markup=False, soft_wrap=True)


@cli.command()
@click.option("--port", type=click.IntRange(1024, 65000), help="First of the TCP ports to use.")
@click.option(
    "--rtt-us",
    type=click.IntRange(0, 40000),
    multiple=True,
    help="Add a link with this round trip, in microseconds, and the cases over it; may be"
    " repeated.",
)
def up(port: int | None, rtt_us: tuple[int, ...]) -> None:
    """Start the lab and keep it running between commands.

    `tollfree run` starts and stops the lab by itself when it is not up.
    """
    lab = _lab()
    lab.up(port, round_trips_us=rtt_us)
    _print_status(lab)


@cli.command()
def down() -> None:
    """Stop the lab's servers and links. Results stay."""
    OUT.print("stopped" if _lab().down() else "the lab was not running")


@cli.command()
def status() -> None:
    """Show the lab's processes and its latest run."""
    lab = _lab()
    _print_status(lab)
    if lab.is_up():
        with lab.database() as store:
            latest = store.latest_run()
        if latest is not None:
            OUT.print(f"latest run: {latest.run_id}, {latest.suite} {latest.size}, {latest.state}")


def _print_status(lab: Lab) -> None:
    table = RichTable(box=None, pad_edge=False)
    for header in ("", "name", "at", "process"):
        table.add_column(header)
    for row in lab.status():
        table.add_row(row.kind, row.name, row.address, str(row.pid) if row.pid else "not running")
    OUT.print(f"PostgreSQL {lab.installation.version}, {lab.folder}", markup=False)
    OUT.print(table)


def _run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option(
            "--quick/--full",
            "quick",
            default=None,
            help="Minutes, to see the shape; or all cases at full length, to cite.  [quick]",
        ),
        click.option(
            "--only",
            metavar="PATTERN",
            default="",
            help="Only the cases whose name matches this regular expression, and their baselines;"
            " also those that a quick run leaves out.",
        ),
        click.option("--rounds", type=click.IntRange(1, 1000), help="How often each case is run."),
        click.option(
            "--limit",
            metavar="SECONDS",
            type=click.IntRange(1, 1000000),
            help="Suite interface: a case of many queries begins none after so long, and is"
            " compared by the query.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, LARGEST_SEED),
            help="Of the random order in the rounds.",
        ),
        click.option(
            "--resume",
            is_flag=True,
            help="Go on with the suite's latest interrupted run, as it was begun: the options that"
            " choose what is run are those of that run, or are left out.",
        ),
        click.option("--port", type=click.IntRange(1024, 65000), help="First TCP port to use."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@click.argument("suite", metavar="SUITE")
@_run_options
def run(
    suite: str,
    quick: bool | None,
    only: str,
    rounds: int | None,
    limit: int | None,
    seed: int | None,
    resume: bool,
    port: int | None,
) -> None:
    """Run the cases of SUITE in rounds and print what came out.

    Ctrl-C stops cleanly and keeps what was measured; the same command with --resume goes on. A
    case whose command fails, exceeds its limit or gives wrong rows is stored as failed and has no
    figure; the command then exits with 1.
    """
    suite_named(suite)
    request = Request(
        suite,
        None if quick is None else "quick" if quick else "full",
        rounds,
        only,
        seed,
        limit,
        resume=resume,
        first_port=port,
    )
    lab = _lab()
    with progress_shown() as observer:
        finished = run_suite(lab, request, observer)
    with lab.database() as store:
        section = suite_named(suite).section(store, finished)
    print_section(section)
    if any(case.state is CaseState.FAILED for case in section.cases.rows):
        raise SystemExit(ExitCode.CASES_FAILED)


@cli.command(name="list")
@click.argument("suite", metavar="[SUITE]", required=False)
@click.option("--only", metavar="PATTERN", default="", help="Only names that match.")
@click.option("--commands", is_flag=True, help="Show each case's command too.")
@click.option("--quick/--full", "quick", default=False, help="Only those of that run.  [full]")
def list_cases(suite: str | None, only: str, commands: bool, quick: bool) -> None:
    """List the suites, or the cases of SUITE."""
    with _lab().database() as store:
        if suite is None:
            for name in store.suites():
                OUT.print(name)
            return
        suite_named(suite)
        cases = [
            case for case in store.cases(suite, "quick" if quick else "full", only) if case.chosen
        ]
    for case in cases:
        OUT.print(case.testcase, markup=False, soft_wrap=True)
        if commands:
            OUT.print(f"    {case.command}", markup=False, soft_wrap=True)
    ERR.print(f"{len(cases)} cases")


@cli.command()
@click.argument("run_id", metavar="[RUN]", type=int, required=False)
@click.option("--cases", is_flag=True, help="Show every case of the run.")
def show(run_id: int | None, cases: bool) -> None:
    """Show the tables of RUN, or the runs there are."""
    with _lab().database() as store:
        if run_id is None:
            _print_runs(store.runs())
            return
        chosen = store.run(run_id)
        section = suite_named(chosen.suite).section(store, chosen)
    print_section(section)
    if cases:
        for row in section.cases.rows:
            median = f"{row.median.value:.6g} {row.unit}" if row.median else f"{row.state}"
            ratio = f"{row.ratio.value:.2f}x" if row.ratio else ""
            mark = "" if row.told_apart else "~"
            OUT.print(row.testcase, median, ratio, mark, markup=False, soft_wrap=True)


def _print_runs(runs: list[Run]) -> None:
    table = RichTable(box=None, pad_edge=False)
    sizes = ("profile", "scale", "seconds", "rounds")
    for header in ("run", "suite", *sizes, "only", "state", "started"):
        table.add_column(header)
    for one in runs:
        started = f"{one.started:%Y-%m-%d %H:%M}"
        table.add_row(
            *(str(one.run_id), one.suite, one.profile),
            *(str(one.scale), str(one.seconds), str(one.rounds)),
            *(one.pattern, one.state, started),
        )
    OUT.print(table)


_report_path = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=REPORT,
    help=f"Where to write it.  [{REPORT}]",
)


@cli.command()
@click.argument("run_ids", metavar="[RUN]...", type=int, nargs=-1)
@_report_path
def report(run_ids: tuple[int, ...], output: Path) -> None:
    """Write the report of the given runs, or of each suite's latest one.

    It is one HTML file that needs nothing else: tables, plots, every case to sort and filter, the
    raw data to download, and the command that repeats each run.
    """
    with _lab().database() as store:
        runs = [store.run(run_id) for run_id in run_ids] or _latest_runs(store)
        publish(store, runs, output)
    OUT.print(f"wrote {output}", markup=False, soft_wrap=True)


def _latest_runs(store: Store) -> list[Run]:
    found = [store.latest_run(suite) for suite in SUITES]
    runs = [run for run in found if run is not None]
    if not runs:
        raise _no_run()
    return runs


def _no_run() -> NotFoundError:
    return NotFoundError("there is no run yet", "Measure with `tollfree run fdw --quick`.")


@cli.command()
@click.argument("run_id", metavar="[RUN]", type=int, required=False)
@click.option(
    "--format", "kind", type=click.Choice(["csv", "json"]), required=True, help="Of the files."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for csv, file for json.  [export/run-N, export/run-N.json]",
)
def export(run_id: int | None, kind: str, output: Path | None) -> None:
    """Write RUN, or the latest one, as files: every execution, nothing summarised.

    csv: results.csv and the published experiment's own files. json: one document that `tollfree
    compare` reads, also on another machine.
    """
    with _lab().database() as store:
        chosen = store.run(run_id) if run_id is not None else store.latest_run()
        if chosen is None:
            raise _no_run()
        folder = Path("export") / f"run-{chosen.run_id}"
        if kind == "csv":
            written = write_csv(store, chosen, output or folder)
        else:
            path = output or folder.with_suffix(".json")
            written = [write_json(Findings.of(store, chosen), path)]
    for path in written:
        OUT.print(str(path), markup=False, soft_wrap=True)


@cli.command()
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN")
def compare(before: str, after: str) -> None:
    """Compare two runs: numbers, or files written by `tollfree export --format json`.

    Compares ratios to the baseline, not absolute figures: those change with the day.
    """
    if before.isdigit() or after.isdigit():
        with _lab().database() as store:
            pair = [_findings(store, name) for name in (before, after)]
    else:
        pair = [read_json(Path(name)) for name in (before, after)]
    table = comparison(*pair)
    OUT.print(rich_table(table))
    for note in table.notes:
        OUT.print(note, markup=False)
    unmatched = only_in_one(*pair)
    if unmatched:
        OUT.print(f"{len(unmatched)} cases are in only one of the runs")


def _findings(store: Store, name: str) -> Findings:
    if name.isdigit():
        return Findings.of(store, store.run(int(name)))
    return read_json(Path(name))


@cli.command()
@_report_path
def demo(output: Path) -> None:
    """Run the quick version of every suite, print the tables, write the report, stop the lab."""
    lab = _lab()
    failed = False
    with lab.running(), lab.database() as store:
        finished = []
        for suite in (s for s in SUITES.values() if s.in_demo):
            with progress_shown() as observer:
                finished.append(run_suite(lab, Request(suite.name, "quick"), observer))
            section = suite.section(store, finished[-1])
            print_section(section)
            failed |= any(case.state is CaseState.FAILED for case in section.cases.rows)
        publish(store, finished, output)
    OUT.print(f"\nwrote {output}", markup=False, soft_wrap=True)
    if failed:
        raise SystemExit(ExitCode.CASES_FAILED)


def main() -> None:
    """Run the command line and exit with the documented code."""
    interrupt_on_signals()
    logging.basicConfig(format="%(name)s: %(message)s", level=logging.WARNING)
    try:
        code = _exit_code()
    except Exception:
        traceback.print_exc()
        code = ExitCode.DEFECT
    sys.exit(code)


def _exit_code() -> int:
    """Run the command line and return its exit code, after one clear message if it failed.

    What it lets through is a defect.
    """
    try:
        code = cli(standalone_mode=False)
        return code if isinstance(code, int) else ExitCode.OK
    except LabError as error:
        _complain(error.message, error.remedy, error.detail)
        return error.code
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        # There may be nobody left to tell: a terminal that is closed interrupts too.
        with suppress(OSError):
            _complain(
                "interrupted", "What was measured is kept; `tollfree run SUITE --resume` goes on."
            )
        return ExitCode.INTERRUPTED
    except psycopg.errors.DiskFull as error:
        _complain(
            f"the disk of {lab_home()} is full: {error.diag.message_primary}",
            "Free space there, or name another folder with TOLLFREE_HOME. Nothing measured is"
            " lost: `tollfree run SUITE --resume` goes on.",
        )
        return ExitCode.FILES
    except psycopg.OperationalError as error:
        if not is_connection_lost(error):
            raise
        _complain(
            "the lab's own database does not answer",
            "Stop what is left of the lab with `tollfree down`, then try again.",
            str(error).strip(),
        )
        return ExitCode.LAB_STATE


def _complain(message: str, remedy: str, detail: str = "") -> None:
    ERR.print(f"tollfree: {message}", markup=False, soft_wrap=True)
    if detail:
        ERR.print("\n".join(f"    {line}" for line in detail.splitlines()), markup=False)
    ERR.print(f"  {remedy}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
