"""The command line. It parses and delegates: no SQL, no timing, no statistics here.

Exit codes are those of `tollfree.errors.ExitCode`; `main` is the one place that maps errors to
them.
"""

import dataclasses
import io
import json
import logging
import math
import sys
import traceback
import webbrowser
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import psycopg
from click.shell_completion import get_completion_class
from rich.table import Table as RichTable

from tollfree import __version__, doctor
from tollfree.archive import Runs, cases_of, keep, runs_of
from tollfree.check import Report, check
from tollfree.check.text import lines
from tollfree.check.watch import watch
from tollfree.cluster import is_connection_lost
from tollfree.compare import Change, changes, comparison, only_in_one
from tollfree.console import ERR, OUT, print_section, print_table, progress_shown
from tollfree.documents import (
    Document,
    compare_document,
    doctor_document,
    list_document,
    runs_document,
    section_document,
)
from tollfree.errors import ExitCode, LabError, NotFoundError
from tollfree.export import write_csv, write_json
from tollfree.interruption import interrupt_on_signals
from tollfree.lab import Lab
from tollfree.paths import lab_home, require_checkout
from tollfree.postgres import (
    buildable_installation,
    chosen_installation,
    clear_libpq_environment,
)
from tollfree.privileges import server_user
from tollfree.publish import publish
from tollfree.report.model import CaseState
from tollfree.runner import Request, run_suite
from tollfree.sources import latest_run, latest_runs, named_runs
from tollfree.stats import LEAST_ROUNDS
from tollfree.store import Run
from tollfree.suites import all_suites, findings_of, section_of, suite_named

REPORT = Path("report/index.html")
LARGEST_SEED = 2**31 - 1
"""That the database takes."""

OF_A_WHEEL = ("check", "completion")
"""The commands that an installed package has all for; the others need a checkout."""

EXIT_CODES = f"""\b
Exit codes:
  {ExitCode.OK:>3}  all went well
  {ExitCode.CASES_FAILED:>3}  the run ended, but some of its cases failed
  {ExitCode.USAGE:>3}  the command line is wrong
  {ExitCode.ENVIRONMENT:>3}  something is missing, too old or unreadable (see `tollfree doctor`)
  {ExitCode.LAB_STATE:>3}  the lab is running already, not running, or a port is taken
  {ExitCode.FILES:>3}  a file cannot be read or written, or the disk is full
  {ExitCode.NOT_FOUND:>3}  no such suite, run or case
  {ExitCode.WORSE:>3}  a case became worse than `tollfree compare --fail-above` allows
  {ExitCode.DEFECT:>3}  a defect of tollfree itself
  {ExitCode.INTERRUPTED:>3}  interrupted; go on with `tollfree run SUITE --resume`
"""


def _lab() -> Lab:
    return Lab(buildable_installation(), lab_home(), server_user(), keep=keep)


def _lab_as_it_is() -> Lab:
    """Return a lab to read from: nothing is built if an earlier build exists."""
    return Lab(chosen_installation(), lab_home(), server_user(), builds=False, keep=keep)


def _runs() -> AbstractContextManager[Runs]:
    """Open the lab's runs for a command that only reads."""
    return runs_of(_lab_as_it_is())


def _suites_like(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Complete the name of a suite; the command checks whether there is one."""
    return [name for name in all_suites() if name.startswith(begun)]


def _as_share(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    """Return a percentage as a share of one."""
    if text is None:
        return None
    with suppress(ValueError):
        share = float(text.removesuffix("%")) / 100
        if 0 <= share < math.inf:
            return share
    raise click.BadParameter(f"{text!r} is no percentage such as 5%")


def _as_precision(
    context: click.Context, option: click.Parameter, text: str | None
) -> float | None:
    """Return a percentage above 0 as a share of one."""
    share = _as_share(context, option, text)
    if share == 0:
        raise click.BadParameter("no interval is so narrow")
    return share


def _as_round_trips(
    context: click.Context, option: click.Parameter, values: tuple[int, ...]
) -> tuple[int, ...]:
    """Return round trips whose half is a whole number of microseconds."""
    for value in values:
        if value % 2:
            raise click.BadParameter(f"{value} is odd: a link waits for half of it each way")
    return values


RUN = click.Path()
"""A number too; the shell completes names of files."""

_as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; docs/reference/json.md has its fields."
)


def _print_json(document: Document) -> None:
    click.echo(json.dumps(document, indent=2, default=_plain))


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


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
    command = context.invoked_subcommand
    # `check` alone connects to servers of the user's, which these variables are about.
    if command != "check":
        clear_libpq_environment()
    if command is not None and command not in OF_A_WHEEL:
        require_checkout(command)


@cli.command(name="doctor")
@_as_json
def doctor_command(as_json: bool) -> None:
    """List what is installed, what is missing and what cannot run without it.

    Exits with 3 if a requirement of all suites is missing.
    """
    findings = list(doctor.examine())
    if as_json:
        _print_json(doctor_document(findings))
    else:
        table = RichTable(box=None, pad_edge=False, show_header=False)
        for finding in findings:
            mark = "ok" if finding.found else ("MISSING" if finding.necessary else "note")
            table.add_row(mark, finding.thing, finding.detail)
        OUT.print(table, markup=False)
    if any(finding.necessary and not finding.found for finding in findings):
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
@click.option(
    "--query",
    metavar="SQL",
    help="Show what this query waits for, and which rows travel for nothing. Without --run or"
    " --execute it is not executed.",
)
@click.option(
    "--run",
    "runs",
    is_flag=True,
    help="Execute the query of --query once, in a READ ONLY transaction that is rolled back, to"
    " count the rows that travel.",
)
@click.option(
    "--top",
    "most",
    type=click.IntRange(0, 100),
    default=5,
    help="Without --query: how many of the most expensive queries in pg_stat_statements to look"
    " at.  [5]",
)
@click.option(
    "--all-users",
    is_flag=True,
    help="Plan the queries of other users too. Planning executes functions, with your rights: only"
    " where you trust whoever may create functions in the database.",
)
@click.option(
    "--execute",
    "executes",
    is_flag=True,
    help="Make temporary copies of foreign tables, in transactions that are rolled back: to execute"
    " the query of --query by both wrappers and with what can be kept of its files, and to read the"
    " remote timeouts.",
)
@click.option(
    "--watch",
    "pause_s",
    metavar="SECONDS",
    type=click.IntRange(1, 86400),
    help="Look again after so many seconds, and print what has changed, until Ctrl-C.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; docs/howto/checking.md has its fields."
)
def check_command(
    dsn: str,
    limit_s: int,
    query: str | None,
    most: int,
    all_users: bool,
    executes: bool,
    as_json: bool,
    runs: bool,
    pause_s: int | None,
) -> None:
    """Examine the foreign servers of your database; DSN is a connection string as for psql.

    Shows how long their round trips are, which statistics are missing, how many round trips your
    queries wait for, of which files an index and columns can be kept, and which commands switch a
    server to our wrappers and back. Nothing is changed: every transaction is rolled back, and
    without --execute also read-only. What the server refuses to this user is listed as not known.
    """
    if as_json and pause_s is not None:
        raise click.UsageError("--json prints one report; --watch repeats it")

    def look() -> Report:
        return check(dsn, limit_s, query, most, all_users=all_users, executes=executes, runs=runs)

    if as_json:
        _print_json(dataclasses.asdict(look()))
    elif pause_s is None:
        _print_lines(lines(look()))
    else:
        for moment, changed in watch(look, pause_s):
            _print_lines([f"== {moment:%H:%M:%S}", *changed])


def _print_lines(text: Iterable[str]) -> None:
    for line in text:
        OUT.print(line, markup=False, soft_wrap=True)


@cli.command()
@click.option("--port", type=click.IntRange(1024, 65000), help="First of the TCP ports to use.")
@click.option(
    "--rtt-us",
    type=click.IntRange(0, 40000),
    callback=_as_round_trips,
    multiple=True,
    help="Add a link with this round trip, an even number of microseconds, and the cases over it;"
    " may be repeated.",
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
    OUT.print("stopped" if _lab_as_it_is().down() else "the lab was not running")


@cli.command()
def status() -> None:
    """Show the lab's processes and its latest run."""
    lab = _lab_as_it_is()
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
    OUT.print(table, markup=False)


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
            "--precision",
            metavar="PERCENT",
            callback=_as_precision,
            help="Run each case until the interval of its ratio reaches no farther than this, such"
            f" as 3%, in at least {LEAST_ROUNDS} rounds and at most as many as --rounds says, or"
            " 50.",
        ),
        click.option(
            "--limit",
            metavar="SECONDS",
            type=click.IntRange(1, 1000000),
            help="Suite interface: a case of many queries starts no query after this time, and is"
            " compared by the query.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, LARGEST_SEED),
            help="Seed of the random order in the rounds.",
        ),
        click.option(
            "--resume",
            is_flag=True,
            help="Resume the suite's latest interrupted run, with its own options. Leave out the"
            " options that choose what is run, or repeat those of that run; others are refused.",
        ),
        click.option("--port", type=click.IntRange(1024, 65000), help="First TCP port to use."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@click.argument("suite", metavar="SUITE", shell_complete=_suites_like)
@_run_options
def run(
    suite: str,
    quick: bool | None,
    only: str,
    rounds: int | None,
    precision: float | None,
    limit: int | None,
    seed: int | None,
    resume: bool,
    port: int | None,
) -> None:
    """Run the cases of SUITE in rounds and print the results.

    Ctrl-C stops cleanly and keeps the results; the same command with --resume continues. A
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
        precision,
        resume=resume,
        first_port=port,
    )
    lab = _lab()
    with progress_shown() as observer:
        finished = run_suite(lab, request, observer)
    with runs_of(lab) as runs:
        section = section_of(runs.findings(finished.run_id))
    print_section(section)
    if any(case.state is CaseState.FAILED for case in section.cases.rows):
        raise SystemExit(ExitCode.CASES_FAILED)


@cli.command(name="list")
@click.argument("suite", metavar="[SUITE]", shell_complete=_suites_like, required=False)
@click.option(
    "--only",
    metavar="PATTERN",
    default="",
    help="Only names that match. `run --only` also takes cases that are not listed.",
)
@click.option("--commands", is_flag=True, help="Show each case's command too.")
@click.option("--quick/--full", "quick", default=False, help="Only those of that run.  [full]")
@_as_json
def list_cases(suite: str | None, only: str, commands: bool, quick: bool, as_json: bool) -> None:
    """List the suites, or the cases of SUITE."""
    if suite is None:
        names = sorted(all_suites())
        if as_json:
            _print_json(list_document(names, []))
        else:
            OUT.print("\n".join(names))
        return
    suite_named(suite)
    cases = cases_of(_lab_as_it_is(), suite, "quick" if quick else "full", only)
    if as_json:
        _print_json(list_document([suite], cases))
        return
    for case in cases:
        OUT.print(case.testcase, markup=False, soft_wrap=True)
        if commands:
            OUT.print(f"    {case.command}", markup=False, soft_wrap=True)
    ERR.print(f"{len(cases)} cases")


@cli.command()
@click.argument("run_name", metavar="[RUN]", type=RUN, required=False)
@click.option("--cases", is_flag=True, help="Show every case of the run.")
@_as_json
def show(run_name: str | None, cases: bool, as_json: bool) -> None:
    """Show the tables of RUN, a number or a file of `tollfree export`, or the runs there are."""
    if run_name is None:
        with _runs() as found:
            runs = found.runs()
        if as_json:
            _print_json(runs_document(runs))
        else:
            _print_runs(runs)
        return
    (run,) = named_runs([run_name], _runs)
    section = section_of(run)
    if as_json:
        _print_json(section_document(section))
        return
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
            *("-" if size is None else str(size) for size in (one.scale, one.seconds)),
            str(one.rounds),
            *(one.pattern, one.state, started),
        )
    OUT.print(table, markup=False)


_report_path = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=REPORT,
    help=f"Where to write it.  [{REPORT}]",
)


@cli.command()
@click.argument("run_names", metavar="[RUN]...", type=RUN, nargs=-1)
@_report_path
@click.option("--open", "opens", is_flag=True, help="Show it in the browser.")
def report(run_names: tuple[str, ...], output: Path, opens: bool) -> None:
    """Write the report of the given runs, or of each suite's latest one.

    A run is a number or a file of `tollfree export --format json`. The report is one HTML file that
    needs nothing else: tables, plots, every case to sort and filter, the raw data to download, and
    the command that repeats each run.
    """
    publish(named_runs(run_names, _runs) if run_names else latest_runs(_runs), output)
    OUT.print(f"wrote {output}", markup=False, soft_wrap=True)
    if opens and not webbrowser.open(output.resolve().as_uri()):
        ERR.print(f"no browser was found to show {output}", markup=False, soft_wrap=True)


@cli.command()
@click.argument("run_name", metavar="[RUN]", type=RUN, required=False)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "json"]),
    required=True,
    help="Format of the files; required.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for csv, file for json.  [export/run-N, export/run-N.json; the name of RUN if that"
    " is a file]",
)
def export(run_name: str | None, kind: str, output: Path | None) -> None:
    """Write RUN, or the latest one, as files: every execution, nothing summarised.

    csv: results.csv and the published experiment's own files. json: one document that `tollfree
    show`, `report` and `compare` read, also on another machine.
    """
    run = named_runs([run_name], _runs)[0] if run_name else latest_run(_runs)
    is_file = run_name is not None and not run_name.isdecimal()
    name = Path(str(run_name)).stem if is_file else f"run-{run.run.run_id}"
    if kind == "csv":
        written = write_csv(run, output or Path("export") / name)
    else:
        written = [write_json(run, output or Path("export") / f"{name}.json")]
    for path in written:
        OUT.print(str(path), markup=False, soft_wrap=True)


@cli.command()
@click.argument("before", metavar="RUN", type=RUN)
@click.argument("after", metavar="RUN", type=RUN)
@click.option(
    "--fail-above",
    "limit",
    metavar="PERCENT",
    callback=_as_share,
    help="Exit with 7 if a case's ratio to its baseline has grown by more than this, or is"
    " missing.",
)
@_as_json
def compare(before: str, after: str, limit: float | None, as_json: bool) -> None:
    """Compare two runs: numbers, or files written by `tollfree export --format json`.

    Compares ratios to the baseline, not absolute figures: those change with the day.
    """
    old, new = named_runs([before, after], _runs)
    found, unmatched = changes(old, new), only_in_one(old, new)
    if limit is not None and not found:
        raise NotFoundError(
            "the runs have no case in common that had a ratio to its baseline",
            "Compare runs of the same suite; --fail-above can say nothing of these.",
        )
    if as_json:
        _print_json(compare_document((old.run, new.run), found, unmatched, limit))
    else:
        table = comparison(old, new)
        print_table(table)
        for note in table.notes:
            OUT.print(note, markup=False)
        if unmatched:
            differing = "are in only one of the runs, or differ in size or baseline"
            OUT.print(f"{len(unmatched)} cases {differing}")
    if limit is not None:
        _judge(found, limit)


def _judge(found: list[Change], limit: float) -> None:
    """Name the cases that became worse than allowed, and exit if any did."""
    single = sum(change.after is not None and not change.has_intervals for change in found)
    if single:
        ERR.print(f"{single} of {len(found)} cases cannot be judged: one round has no interval")
    worse = [change for change in found if change.is_worse_than(limit)]
    for change in worse:
        share = change.share
        what = "it has no ratio any more" if share is None else f"its ratio grew by {share:.0%}"
        ERR.print(f"{change.testcase}: {what}", markup=False, soft_wrap=True)
    ERR.print(f"{len(worse)} of {len(found)} cases are worse by more than {limit * 100:.4g}%")
    if worse:
        raise SystemExit(ExitCode.WORSE)


SHELLS = ("bash", "fish", "zsh")


@cli.command()
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
def completion(shell: str) -> None:
    """Print the script that has SHELL (bash, fish or zsh) complete commands, options and suites.

    \b
      eval "$(tollfree completion bash)"           # in ~/.bashrc; with zsh in ~/.zshrc
      tollfree completion fish | source            # in ~/.config/fish/config.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "tollfree", "_TOLLFREE_COMPLETE").source())


@cli.command()
@_report_path
def demo(output: Path) -> None:
    """Run the quick version of every suite, print the tables, write the report, stop the lab."""
    lab = _lab()
    failed = False
    with lab.running(), lab.database() as store:
        finished = []
        for suite in (s for s in all_suites().values() if s.in_demo):
            with progress_shown() as observer:
                run = run_suite(lab, Request(suite.name, "quick"), observer)
            finished.append(findings_of(store, run))
            section = section_of(finished[-1])
            print_section(section)
            failed |= any(case.state is CaseState.FAILED for case in section.cases.rows)
        publish(finished, output)
    OUT.print(f"\nwrote {output}", markup=False, soft_wrap=True)
    if failed:
        raise SystemExit(ExitCode.CASES_FAILED)


def main() -> None:
    """Run the command line and exit with the documented code."""
    interrupt_on_signals()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An encoding may lack a dash, or a letter of a table's name.
        sys.stdout.reconfigure(errors="replace")
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
            _complain("interrupted", _after_interrupt(sys.argv[1:]))
        return ExitCode.INTERRUPTED
    except psycopg.errors.DiskFull as error:
        _complain(
            f"the disk of {lab_home()} is full: {error.diag.message_primary}",
            "Free space there, or name another folder with TOLLFREE_HOME. Nothing measured is"
            " lost: `tollfree run SUITE --resume` continues.",
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


def _after_interrupt(arguments: list[str]) -> str:
    """Describe the state that an interrupted command has left."""
    if {"run", "demo"} & set(arguments):
        return "The results are kept; `tollfree run SUITE --resume` continues."
    return "No result was changed."


def _complain(message: str, remedy: str, detail: str = "") -> None:
    ERR.print(f"tollfree: {message}", markup=False, soft_wrap=True)
    if detail:
        ERR.print("\n".join(f"    {line}" for line in detail.splitlines()), markup=False)
    ERR.print(f"  {remedy}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
