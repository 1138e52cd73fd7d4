"""The lab as a whole: up, run, interrupted, killed, resumed, down. All on real servers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import psycopg
import pytest
from command_line import LIMIT_S, latest_run, start, tollfree, until, until_executing
from psycopg.conninfo import make_conninfo

from tollfree.cluster import Cluster
from tollfree.errors import ExitCode, LabStateError
from tollfree.lab import Lab
from tollfree.postgres import Installation
from tollfree.privileges import ServerUser
from tollfree.scripts import written_rows
from tollfree.stats import LEAST_ROUNDS
from tollfree.store import Profile, written_profiles

pytestmark = pytest.mark.cluster

MARK = f"4242.{os.getpid()}"
"""An argument of `sleep` that no other process on the machine has."""


def commands_in_flight() -> list[int]:
    """Return the processes that the custom cases started and that still live."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if MARK.encode() in words:
                found.append(int(process.name))
    return found


def is_alive(pid: int | None) -> bool:
    """Return whether a process runs; one that its parent has yet to notice does not."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


def add_cases(lab: Lab, cases: dict[str, list[str]]) -> None:
    """Put cases into the suite `custom`, in place of those there are."""
    with lab.database() as store, store.connection.cursor() as cursor:
        cursor.execute("DELETE FROM lab.custom_cases")
        cursor.executemany(
            "INSERT INTO lab.custom_cases (testcase, argv, time_limit) VALUES (%s, %s, '30 s')",
            list(cases.items()),
        )


def stored(lab: Lab) -> list[tuple[str, int, str, float | None, str | None]]:
    """Return what the latest run of the suite `custom` has stored."""
    with lab.database() as store:
        run = latest_run(store, "custom")
        return [(r.testcase, r.iter, r.state, r.duration, r.reason) for r in store.results(run)]


def run_state(lab: Lab) -> str:
    with lab.database() as store:
        run = latest_run(store, "custom")
        return run.state


@contextmanager
def ignored(which: signal.Signals) -> Iterator[None]:
    """Have a signal ignored, also by what is started meanwhile."""
    previous = signal.signal(which, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(which, previous)


SHORT = {f"short {n}": ["sleep", "0.05"] for n in range(8)}
WITH_A_LONG_ONE = {**SHORT, "long": ["sleep", MARK]}


def test_up_status_down(lab: Lab) -> None:
    out, _ = tollfree("up")
    for name in ("lab", "source", "external", "rmt:tcp:1000us"):
        assert name in out
    assert "not running" not in out
    _, err = tollfree("up", code=ExitCode.LAB_STATE)
    assert "already running" in err
    assert "tollfree down" in err
    assert tollfree("status")[0].count("not running") == 0
    pids = [row.pid for row in lab.status()]
    tollfree("down")
    assert "not running" in tollfree("status")[0]
    assert not any(is_alive(pid) for pid in pids)
    assert not (lab.folder / "lab.json").exists()
    assert "was not running" in tollfree("down")[0]


def chooses_ports() -> bool:
    """Whether this process keeps others from choosing ports."""
    files = [path.readlink().name for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    return "ports.lock" in files


def test_nobody_waits_for_ports_while_data_are_made(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, start = Cluster.make, Cluster.start
    waited: list[tuple[str, str, bool]] = []

    def make_and_tell(self: Cluster, password: str) -> None:
        waited.append(("make", self.name, chooses_ports()))
        make(self, password)

    def start_and_tell(self: Cluster) -> None:
        waited.append(("start", self.name, chooses_ports()))
        start(self)

    monkeypatch.setattr(Cluster, "make", make_and_tell)
    monkeypatch.setattr(Cluster, "start", start_and_tell)
    lab.up()
    try:
        with lab.lock(), lab.database() as store:
            lab.start_others(store, ["worker_2"])
    finally:
        lab.down()
    further = ("source", "external", "worker_2")
    assert {name: told for what, name, told in waited if what == "start" and name in further} == (
        dict.fromkeys(further, True)
    )
    assert [name for what, name, told in waited if what == "make" and told] == []
    assert ("make", "worker_2", False) in waited


def test_a_suite_starts_further_servers_which_stop_with_the_lab(lab: Lab) -> None:
    tollfree("up")
    with lab.lock(), lab.database() as store:
        before = [row.name for row in lab.status()]
        for _ in range(2):  # again it is there already
            lab.start_others(store, ["second"])
        rows = lab.status()
        names = ["second", "rmt:tcp:1000us to second", "rmt:tcp:2000us to second"]
        assert [row.name for row in rows if row.name not in before] == names
        assert all(row.pid for row in rows)
        assert "rmt:tcp:1000us to second" in tollfree("status")[0]
        # Each link to it leads there, and counts for itself.
        found = store.table("SELECT * FROM lab.roads WHERE instance = 'second' ORDER BY link")
        for row in found:
            conninfo = make_conninfo(
                host=row["tcp_host"],
                port=row["port"],
                user="postgres",
                dbname="postgres",
                password=lab.password(),
            )
            with psycopg.connect(conninfo) as connection:
                port = connection.execute("SHOW port").fetchone()
                assert port == (str(lab.other("second").port),)
        assert [row["link"] for row in found] == ["lcl:tcp", "rmt:tcp:1000us", "rmt:tcp:2000us"]
        counted = {x.title: x.counters()["flights"] for x in lab.links()}
        assert counted["rmt:tcp:1000us to second"] > 0
        assert counted["rmt:tcp:1000us"] == 0
        # One that does not start leaves what there was.
        with pytest.raises(LabStateError, match="worker_1"):
            lab.start_others(store, ["worker_1"], {"no_such_setting": "1"})
        shutil.rmtree(lab.folder / "worker_1")
        assert lab.status() == rows
    tollfree("down")
    assert not any(is_alive(row.pid) for row in rows)


def test_transactions_are_timed_over_a_link_that_is_asked_for(lab: Lab) -> None:
    """Also if it is there already, for large results alone."""
    asked = ("rmt:tcp:500us", "rmt:tcp:20000us")
    tollfree("up", "--rtt-us", "500", "--rtt-us", "20000")
    with lab.database() as store:
        found = store.table(
            "SELECT link, bool_or(dims->>'measure' = 'tps') AS is_timed FROM lab.links"
            " JOIN lab.fdw_testcases ON dims->>'link' = link WHERE rtt_us IS NOT NULL"
            " AND of_run = 0 GROUP BY link"
        )
        timed = {row["link"] for row in found if row["is_timed"]}
        assert timed.issuperset(asked)
        assert "rmt:tcp:40000us" not in timed
        store.connection.execute("DELETE FROM lab.links WHERE link = %s", asked[:1])
        store.connection.execute(
            "UPDATE lab.links SET for_transactions = false WHERE link = %s", asked[1:]
        )
    tollfree("down")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PGSERVICE", "nonexistent"), ("PGOPTIONS", "-c default_transaction_read_only=on")],
)
def test_where_the_user_connects_otherwise_and_how_is_not_heeded(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    tollfree("up")
    assert tollfree("status")[0].count("not running") == 0
    tollfree("down")


def test_a_lab_that_another_checkout_has_started_is_not_used(lab: Lab) -> None:
    """Its cases and judges are others than those of the commands."""
    tollfree("up")
    try:
        with lab.database() as store:
            build = store.builds()["tollfree_lab"]
            store.connection.execute("COMMENT ON EXTENSION tollfree_lab IS 'another'")
        _, err = tollfree("run", "custom", code=ExitCode.LAB_STATE)
        assert "tollfree down" in err
        with lab.database() as store:
            store.connection.execute(f"COMMENT ON EXTENSION tollfree_lab IS '{build}'".encode())
    finally:
        tollfree("down")


def test_room_that_a_suites_databases_take_is_not_asked_for_again(lab: Lab) -> None:
    tollfree("up")
    try:
        with lab.source().connect() as connection:
            connection.execute("CREATE DATABASE sampling_room")
            size = connection.execute("SELECT pg_database_size('sampling_room')").fetchone()
        assert size is not None
        assert lab.source().size_of_databases("^sampling_room$") == size[0]
        assert lab.source().size_of_databases("^$") == 0
    finally:
        with lab.source().connect() as connection:
            connection.execute("DROP DATABASE IF EXISTS sampling_room")
        tollfree("down")


def test_an_interrupted_look_at_the_results_leaves_no_server(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Cluster, "make_database", interrupted)
    with pytest.raises(KeyboardInterrupt), lab.database():
        pass
    assert lab.own.pid() is None


def test_a_taken_port_is_named_and_nothing_is_left(lab: Lab) -> None:
    tollfree("up")
    port = str(lab.source().port)
    other_home = Path(tempfile.mkdtemp(prefix="tollfree-lab-"))
    try:
        lab.user.own(other_home)
        process = subprocess.run(
            [sys.executable, "-m", "tollfree.cli", "up", "--port", port],
            capture_output=True,
            check=False,
            encoding="utf-8",
            env=os.environ | {"TOLLFREE_HOME": str(other_home)},
            timeout=LIMIT_S,
        )
        assert process.returncode == ExitCode.LAB_STATE
        assert f"port {port}" in process.stderr
        assert "--port" in process.stderr
        other = Lab(lab.installation, other_home, lab.user)
        assert all(row.pid is None for row in other.status())
        assert not (other.folder / "lab.json").exists()
    finally:
        shutil.rmtree(other_home, ignore_errors=True)
        tollfree("down")


@pytest.fixture
def small_disk(user: ServerUser) -> Iterator[Path]:
    """A file system with room for one cluster and hardly more; only root can make one."""
    folder = Path(tempfile.mkdtemp(prefix="tollfree-small-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=110m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    if mounted.returncode != 0:
        folder.rmdir()
        pytest.skip(f"no small file system can be mounted: {mounted.stderr.strip()}")
    user.own(folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def test_a_full_disk_is_named_and_nothing_is_left(lab: Lab, small_disk: Path) -> None:
    for words in (("up",), ("run", "fdw")):
        process = subprocess.run(
            [sys.executable, "-m", "tollfree.cli", *words],
            capture_output=True,
            check=False,
            encoding="utf-8",
            env=os.environ | {"TOLLFREE_HOME": str(small_disk)},
            timeout=LIMIT_S,
        )
        assert process.returncode == ExitCode.FILES, process.stderr
        assert str(small_disk) in process.stderr
        assert "TOLLFREE_HOME" in process.stderr
        other = Lab(lab.installation, small_disk, lab.user)
        assert all(row.pid is None for row in other.status())
        assert not list(small_disk.glob("*/*/data.new"))


def test_a_failing_case_has_no_duration(lab: Lab) -> None:
    add_cases(
        lab,
        {
            "fails": ["sh", "-c", "echo because >&2; exit 3"],
            "killed": ["sh", "-c", "kill -9 $$"],
            "missing": ["no-such-program"],
            "works": ["true"],
        },
    )
    with lab.database() as store:
        store.connection.execute(
            "INSERT INTO lab.custom_cases (testcase, argv, time_limit)"
            " VALUES ('slow', '{sleep,30}', '200 ms')"
        )
    out, err = tollfree("run", "custom", "--rounds", "1", code=ExitCode.CASES_FAILED)
    found = {name: (state, duration, reason) for name, _, state, duration, reason in stored(lab)}
    assert found["works"][0] == "ok"
    assert found["works"][1] is not None
    for name, words in {
        "fails": "exit status 3: because",
        "killed": "signal 9",
        "missing": "no-such-program",
        "slow": "exceeded its limit",
    }.items():
        state, duration, reason = found[name]
        assert (state, duration) == ("failed", None)
        assert reason is not None
        assert words in reason
        assert words in out
        assert name in err


def test_ctrl_c_keeps_what_was_measured_and_resume_goes_on(lab: Lab) -> None:
    add_cases(lab, WITH_A_LONG_ONE)
    process = start("run", "custom", "--rounds", "2", "--seed", "1")
    until(lambda: bool(commands_in_flight()))
    before = stored(lab)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "--resume" in err
    assert commands_in_flight() == []
    assert stored(lab) == before
    assert run_state(lab) == "interrupted"
    assert all(row.pid is None for row in lab.status())

    with lab.database() as store:
        store.connection.execute("UPDATE lab.custom_cases SET argv = '{true}'")
    tollfree("run", "custom", "--resume")
    after = stored(lab)
    assert run_state(lab) == "complete"
    assert len(after) == 2 * len(WITH_A_LONG_ONE)
    assert set(before) <= set(after)


def test_the_profiles_are_what_the_scripts_say(lab: Lab) -> None:
    with lab.database() as store:
        found = store.table(
            "SELECT suite, profile, rounds, seconds, scale, precision FROM lab.profiles"
        )
    assert {Profile(**row) for row in found} == set(written_profiles().values())


def test_the_published_figures_are_what_the_scripts_say(lab: Lab) -> None:
    with lab.database() as store:
        for table in (
            *("fdw_published", "file_published", "sampling_published"),
            *("interface_published", "interface_published_summaries"),
        ):
            found = store.table("SELECT * FROM lab." + table)
            assert {tuple(row.values()) for row in found} == set(written_rows(table))


def test_results_are_read_without_the_servers_headers(lab: Lab, tmp_path: Path) -> None:
    """What was built before will do; a run needs them."""
    add_cases(lab, {"true": ["true"]})
    tollfree("run", "custom", "--rounds", "1")
    pg_config = tmp_path / "pg_config"
    real = lab.installation.pg_config
    pg_config.write_text(
        f'#!/bin/sh\nexec {real} "$@" | sed "s|^{lab.installation.pgxs}$|/nonexistent|"\n'
    )
    pg_config.chmod(0o755)
    os.environ["PG_CONFIG"] = str(pg_config)
    try:
        assert "custom" in tollfree("show")[0]
        assert "true" in tollfree("list", "custom")[0]
        assert json.loads(tollfree("show", "--json")[0])["runs"][0]["suite"] == "custom"
        _, err = tollfree("run", "custom", code=ExitCode.ENVIRONMENT)
        assert "server headers" in err
    finally:
        os.environ["PG_CONFIG"] = str(real)
    assert "not running" in tollfree("status")[0]


def test_the_same_command_with_resume_goes_on_and_another_is_refused(lab: Lab) -> None:
    tollfree("up")
    add_cases(lab, WITH_A_LONG_ONE)
    begun = ("run", "custom", "--full", "--rounds", "2", "--seed", "0", "--only", "[a-z]")
    process = start(*begun)
    until(lambda: bool(commands_in_flight()))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    before = stored(lab)

    add_cases(lab, {name: ["true"] for name in WITH_A_LONG_ONE})
    for option, value, stands in (
        ("--rounds", "3", "2"),
        ("--seed", "1", "0"),
        ("--only", "long", "[a-z]"),
        ("--limit", "5", "none"),
        ("--quick", None, "full"),
    ):
        words = [option] if value is None else [option, value]
        _, err = tollfree("run", "custom", "--resume", *words, code=ExitCode.USAGE)
        assert option in err
        assert f"begun with {stands}" in err
        assert stored(lab) == before
    tollfree(*begun, "--resume")
    assert set(before) <= set(stored(lab))
    assert len(stored(lab)) == 2 * len(WITH_A_LONG_ONE)
    tollfree("down")


def test_a_run_with_a_precision_ends_its_cases_and_resumes_alike(lab: Lab) -> None:
    add_cases(lab, {"base": ["true"], "other": ["true"]})
    with lab.database() as store:
        store.connection.execute(
            "UPDATE lab.custom_cases SET baseline = 'base' WHERE testcase = 'other'"
        )
    begun = ("run", "custom", "--precision", "100000%", "--rounds", "9", "--seed", "0")
    out, err = tollfree(*begun)
    assert "of 14 executions" in out
    assert "18 executions" in err
    assert len(stored(lab)) == 2 * LEAST_ROUNDS

    # As if it had been interrupted in the last round.
    with lab.database() as store:
        run = latest_run(store, "custom")
        store.connection.execute(
            "DELETE FROM lab.testresults WHERE run_id = %s AND iter = %s AND testcase = 'other'",
            (run.run_id, LEAST_ROUNDS),
        )
        store.connection.execute(
            "UPDATE lab.run_cases SET most_rounds = NULL WHERE run_id = %s", (run.run_id,)
        )
        store.set_run_state(run, "interrupted")
    _, err = tollfree("run", "custom", "--resume", "--precision", "5%", code=ExitCode.USAGE)
    assert "--precision" in err
    tollfree(*begun, "--resume")
    assert run_state(lab) == "complete"
    assert len(stored(lab)) == 2 * LEAST_ROUNDS


def test_what_is_executed_in_sql_is_no_orphan(lab: Lab) -> None:
    """The command line begins nothing beside it, and calls it interrupted only when it is."""
    add_cases(lab, WITH_A_LONG_ONE)
    tollfree("up")
    with lab.database() as caller, lab.database() as store:

        def call() -> None:
            with pytest.raises(psycopg.errors.QueryCanceled):
                caller.connection.execute(
                    "CALL lab.executestcases('/usr/bin:/bin', suite_name => 'custom')"
                )

        calling = Thread(target=call)
        calling.start()
        until(lambda: bool(commands_in_flight()))
        _, err = tollfree("run", "custom", code=ExitCode.LAB_STATE)
        assert "executestcases()" in err
        assert run_state(lab) == "running"
        caller.connection.cancel_safe()
        calling.join()
        store.interrupt_orphans()
        assert run_state(lab) == "interrupted"
    tollfree("down")


def test_an_interruption_that_the_server_does_not_hear_is_recorded(lab: Lab) -> None:
    add_cases(lab, WITH_A_LONG_ONE)
    tollfree("up")
    process = start("run", "custom", "--rounds", "1", "--seed", "4")
    until(lambda: bool(commands_in_flight()))
    with lab.database() as store:
        (row,) = store.table(
            "SELECT pid FROM pg_stat_activity"
            " WHERE state = 'active' AND query ~ 'exectestcase' AND pid <> pg_backend_pid()"
        )
        os.kill(row["pid"], signal.SIGSTOP)
        try:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LIMIT_S)
            assert process.returncode == ExitCode.INTERRUPTED, err
            assert run_state(lab) == "interrupted"
        finally:
            os.kill(row["pid"], signal.SIGCONT)
    until(lambda: not commands_in_flight())
    tollfree("down")


def test_a_closed_terminal_leaves_no_server(lab: Lab) -> None:
    add_cases(lab, WITH_A_LONG_ONE)
    process = start("run", "custom", "--rounds", "1", "--seed", "4")
    until(lambda: bool(commands_in_flight()))
    for _ in range(2):
        process.send_signal(signal.SIGHUP)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.INTERRUPTED
    assert commands_in_flight() == []
    assert run_state(lab) == "interrupted"
    assert all(row.pid is None for row in lab.status())


def test_nohup_keeps_a_run_going(lab: Lab) -> None:
    add_cases(lab, {"short": ["sleep", "1"]})
    with ignored(signal.SIGHUP):
        process = start("run", "custom", "--rounds", "1")
    until_executing(process)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.OK


def test_killing_the_command_line_loses_only_the_case_in_flight(lab: Lab) -> None:
    add_cases(lab, WITH_A_LONG_ONE)
    process = start("run", "custom", "--rounds", "1", "--seed", "2")
    until(lambda: bool(commands_in_flight()))
    before = stored(lab)
    process.kill()
    process.communicate()
    # The server notices that nobody waits for the command any more.
    until(lambda: not commands_in_flight())

    add_cases(lab, {name: ["true"] for name in WITH_A_LONG_ONE})
    tollfree("run", "custom", "--resume")
    assert set(before) <= set(stored(lab))
    assert len(stored(lab)) == len(WITH_A_LONG_ONE)
    assert all(row.pid is None for row in lab.status())


def test_killing_the_labs_server_loses_only_the_case_in_flight(lab: Lab) -> None:
    add_cases(lab, WITH_A_LONG_ONE)
    process = start("run", "custom", "--rounds", "1", "--seed", "3")
    until(lambda: bool(commands_in_flight()))
    before = stored(lab)
    pid = lab.own.pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.LAB_STATE
    assert "--resume" in err
    until(lambda: not commands_in_flight())

    add_cases(lab, {name: ["true"] for name in WITH_A_LONG_ONE})
    tollfree("run", "custom", "--resume")
    assert set(before) <= set(stored(lab))
    assert len(stored(lab)) == len(WITH_A_LONG_ONE)


def test_a_killed_owner_whose_process_id_is_anothers_by_now_is_gone(lab: Lab) -> None:
    lab.up()
    state = lab.folder / "lab.json"
    lab.user.write_text(state, json.dumps(json.loads(state.read_text()) | {"owner": 1}))
    before = [row.pid for row in lab.status()]
    tollfree("up")
    after = [row.pid for row in lab.status()]
    assert None not in after
    assert not set(before) & set(after)
    tollfree("down")


def test_two_commands_cannot_change_the_lab_at_once(lab: Lab) -> None:
    add_cases(lab, {"long": ["sleep", MARK]})
    process = start("run", "custom", "--rounds", "1")
    until(lambda: bool(commands_in_flight()))
    _, err = tollfree("run", "custom", code=ExitCode.LAB_STATE)
    assert f"process {process.pid}" in err
    # Reading is always possible.
    assert "custom" in tollfree("show")[0]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.INTERRUPTED
    assert commands_in_flight() == []


def test_a_lock_that_is_a_symbolic_link_is_not_followed(lab: Lab, tmp_path: Path) -> None:
    """In earlier versions the folder was the servers' user's, who could name any file of root's in
    that way; such a link may still be there."""
    precious, lock = tmp_path / "precious", lab.folder / "lock"
    precious.write_text("precious")
    with lab.lock():
        pass
    lock.unlink()
    lock.symlink_to(precious)
    try:
        _, err = tollfree("up", code=ExitCode.FILES)
        assert f"{lock} is a symbolic link" in err
        assert "Remove the link" in err
        assert precious.read_text() == "precious"
    finally:
        lock.unlink()
    with lab.lock():
        assert lock.stat().st_uid == lab.user.uid


def test_a_home_whose_name_needs_quotes_will_do(
    installation: Installation, user: ServerUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name goes through connection strings, a shell, psql's own commands and make."""
    home = Path(tempfile.mkdtemp(prefix="tollfree it's a "))
    user.own(home)
    monkeypatch.setenv("TOLLFREE_HOME", str(home))
    lab = Lab(installation, home, user)
    try:
        with lab.database() as store:
            store.connection.execute("UPDATE lab.profiles SET scale = 1 WHERE suite = 'fdw'")
        cases = "^(RO:(local|FDW_external):.*:lcl:ipc:simple:.*:c1:tps|COPY:local:.*:lcl:ipc:.*)$"
        out, _ = tollfree("run", "fdw", "--only", cases, "--rounds", "1")
        assert "COPY" in out
    finally:
        lab.down()
        shutil.rmtree(home, ignore_errors=True)
