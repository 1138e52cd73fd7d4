"""The soak: a short one does everything and finds nothing, and what is spoilt is found."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import folder_of
from soak import checks
from soak.__main__ import parsed
from soak.expected import Change, Expected, batch_problems, ledger_problems
from soak.faults import EXPLAINS_S, FaultLog
from soak.gate import Gate
from soak.harm import FAULTS
from soak.operations import OPERATIONS
from soak.record import Summary, write_record
from soak.soak import Plan, Soak
from soak.world import World, started_world

from tollfree.errors import ExitCode
from tollfree.paths import CHECKOUT
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

WORKERS = 4
SHORT = Plan(seed=7, workers=WORKERS, longest_s=0.5, pause_s=(0.05, 0.3))
MINUTE_S = 8.0
MOST_MINUTES = 12
LIMIT_S = 300.0


@pytest.fixture(scope="module")
def world(stage: Stage, user: ServerUser) -> Iterator[World]:
    with folder_of(user) as folder, started_world(stage, user, folder, WORKERS) as world:
        yield world


@pytest.mark.cluster
def test_all_operations_under_all_faults_lose_nothing(world: World) -> None:
    with Soak(SHORT, world) as soak:
        for _ in range(MOST_MINUTES):
            soak.minute(MINUTE_S)
            is_complete = OPERATIONS.keys() == soak.summary.operations.keys()
            if soak.summary.has_failed or (is_complete and FAULTS.keys() == soak.harm.done.keys()):
                break
    assert soak.summary.findings == [], "\n".join(soak.summary.lines())
    assert soak.summary.operations.keys() == OPERATIONS.keys()
    assert soak.summary.faults.keys() == FAULTS.keys()
    assert all(minute.connections > 0 for minute in soak.summary.minutes)


@pytest.mark.cluster
def test_what_was_changed_behind_its_back_is_found(world: World) -> None:
    with Soak(SHORT, world) as soak:
        assert soak.check().operations == {}
        assert soak.summary.findings == []
        with world.remote("one") as connection:
            connection.execute("UPDATE account SET balance = balance + 1 WHERE id = 1")
            connection.execute("INSERT INTO ledger VALUES (0, 2, 0)")
            connection.execute("INSERT INTO bulk VALUES (0, 1, 'x')")
            connection.execute("UPDATE counter SET n = n + 5 WHERE worker = 1")
        soak.check()
        with world.remote("one") as connection:
            connection.execute("UPDATE account SET balance = balance - 1 WHERE id = 1")
            connection.execute("TRUNCATE ledger, bulk")
    found = "\n".join(soak.summary.findings)
    assert "server one: account 1 has" in found
    assert "server one: transfer 0 was rolled back, and is there" in found
    assert "server one: batch 0 was not committed, and 1 of its rows are there" in found
    assert "server one: the counter of worker 1 is" in found
    assert "all accounts together have" in found
    assert "server two" not in found


@pytest.mark.cluster
def test_what_is_left_on_a_server_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CALM_LIMIT_S", 0.5)
    monkeypatch.setattr(checks, "IDLE_LIMIT_S", 0.0)
    with Soak(SHORT, world) as soak, world.remote("two", "soak_a") as left:
        soak.check()
        assert "server two: " in soak.summary.findings[0]
        assert "sessions instead of" in soak.summary.findings[0]
        left.execute("BEGIN")
        time.sleep(0.1)
        assert "idle in transaction" in checks.unrest(world)[0]
        assert "idle in transaction for too long" in checks.idle_transactions(world)[0]
        left.execute("ROLLBACK")


@pytest.mark.cluster
def test_an_error_that_no_fault_explains_is_found(world: World) -> None:
    with Soak(SHORT, world) as soak:
        with world.session("stranger") as connection:
            connection.execute("ALTER FOREIGN TABLE item_one RENAME TO nothing")
        soak.minute(MINUTE_S)
        with world.session("stranger") as connection:
            connection.execute("ALTER FOREIGN TABLE nothing RENAME TO item_one")
    found = "\n".join(soak.summary.lines())
    assert "42P01" in found
    assert "seed 7" in found
    assert "the last faults:" in found


@pytest.mark.cluster
def test_ctrl_c_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix="tollfree-soak-test-"))
    scratch.chmod(0o1777)
    try:
        with started(scratch, "1", "--workers", "2", "--log", str(tmp_path / "log")) as process:
            assert process.stdout is not None
            first = process.stdout.readline()
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=LIMIT_S)
        assert "PostgreSQL" in first
        assert process.returncode == ExitCode.INTERRUPTED, rest
        assert "nothing wrong, interrupted" in rest
        assert (tmp_path / "log").read_text("utf-8") == first + rest
        assert list(scratch.iterdir()) == []
        assert working_in(scratch) == []
    finally:
        shutil.rmtree(scratch)


def started(scratch: Path, *words: str) -> subprocess.Popen[str]:
    """Start the command line as a terminal would, with its folders in `scratch`."""
    return subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, "-m", "soak", *words],
        encoding="utf-8",
        env=os.environ
        | {"PYTHONPATH": str(CHECKOUT / "lab" / "benchmarks"), "TMPDIR": str(scratch)},
        start_new_session=True,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )


def working_in(folder: Path) -> list[str]:
    """Return the command lines of the processes that name a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found.append((process / "cmdline").read_bytes().decode(errors="replace"))
    return [line for line in found if str(folder) in line]


def test_a_change_is_in_doubt_until_it_has_succeeded() -> None:
    expected = Expected()
    change = Change(ledger={1: 5}, batches={2: 3}, increments=1)
    expected.risk(change)
    assert (expected.ledger, expected.doubtful_ledger) == ({}, {1: 5})
    assert (expected.least, expected.most) == (0, 1)
    expected.settle(change)
    assert (expected.ledger, expected.doubtful_ledger) == ({1: 5}, {})
    assert (expected.batches, expected.doubtful_batches) == ({2: 3}, {})
    assert (expected.least, expected.most) == (1, 1)


def test_rows_that_are_lost_doubled_or_too_many_are_told_apart() -> None:
    must, may = {1: 5, 2: 6, 3: 7}, {4: 8}
    assert ledger_problems({n: (1, n + 4, n + 4) for n in (1, 2, 3, 4)}, must, may) == []
    assert ledger_problems({n: (1, n + 4, n + 4) for n in (1, 2, 3)}, must, may) == []
    assert ledger_problems({1: (2, 5, 5), 2: (1, 9, 9), 5: (1, 0, 0)}, must, may) == [
        "transfer 3 is lost",
        "transfer 1 is there 2 times",
        "transfer 2 has the delta 9",
        "transfer 5 was rolled back, and is there",
    ]
    assert batch_problems({1: (4, True), 2: (6, False), 4: (1, True)}, must, may) == [
        "batch 3 is lost",
        "batch 1 has 4 rows instead of 5",
        "batch 2 has rows with wrong values",
        "batch 4 has 1 rows instead of 8",
    ]


def test_a_fault_explains_its_own_errors_for_a_while() -> None:
    log = FaultLog()
    assert log.explains("40001")
    assert not log.explains("08006")
    with log.event("cut", frozenset({"08006"})) as event:
        assert log.explains("08006")
    assert event.ended_s is not None
    assert log.explains("08006", event.ended_s + EXPLAINS_S - 1)
    assert not log.explains("08006", event.ended_s + EXPLAINS_S + 1)
    assert not log.explains("XX000")
    assert log.last(3) == ["cut"]


def test_the_gate_holds_those_that_come_and_waits_for_no_other() -> None:
    gate, passed = Gate(2), threading.Event()

    def work() -> None:
        while gate.pass_through():
            passed.set()
        gate.leave()

    worker = threading.Thread(target=work)
    worker.start()
    assert not gate.close(0.05), "the second has not come"
    gate.leave()
    assert gate.close(5)
    assert not passed.is_set()
    gate.open()
    assert passed.wait(5)
    assert gate.close(5)
    gate.end()
    worker.join(5)
    assert not worker.is_alive()


def test_growth_of_memory_is_told_after_an_hour() -> None:
    minutes = [(60.0 * n, 10_000) for n in range(1, 241)]
    assert checks.growth(minutes[:30]) is None
    assert checks.growth(minutes) == 0
    growing = [(at, int(10_000 + at / 36)) for at, _ in minutes]
    part = checks.growth(growing)
    assert part is not None
    assert 0.005 < part < 0.011
    jumping = [(at, kib * 2 if at > 7200 else kib) for at, kib in minutes]
    assert "worker 3: its memory has grown" in checks.growth_problems({"worker 3": jumping})[0]


def test_a_record_has_a_head_and_the_summary(tmp_path: Path) -> None:
    write_record(Summary(7), "18.1", ["8", "--seed", "7"], tmp_path / "soak.txt")
    lines = (tmp_path / "soak.txt").read_text("utf-8").splitlines()
    assert lines[1] == "PostgreSQL: 18.1"
    assert lines[4] == "command: tools/soak 8 --seed 7"
    assert lines[6] == "seed 7, 0.00 hours, 0 checks: nothing wrong"


def test_the_command_line_takes_a_seed_or_draws_one(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = parsed(["0.05", "--seed", "7", "--without", "cut link"])
    assert (arguments.hours, arguments.seed, arguments.without) == (0.05, 7, ["cut link"])
    assert parsed(["8"]).seed >= 0
    with pytest.raises(SystemExit):
        parsed(["0"])
    assert "more than 0" in capsys.readouterr().err
