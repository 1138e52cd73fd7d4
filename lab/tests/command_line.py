"""The command line as a person runs it, and a lab in a home of its own for it."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tollfree.errors import ExitCode
from tollfree.lab import Lab
from tollfree.postgres import Installation
from tollfree.privileges import ServerUser
from tollfree.store import Run, Store

LIMIT_S = 900.0
"""Only what hangs takes so long, also on a busy machine that has clients to build."""


@contextmanager
def lab_of_its_own(installation: Installation, user: ServerUser) -> Iterator[Lab]:
    """Yield a lab that is down, in a new home that the command line uses while this lasts.

    Whatever is left running is stopped, and the home removed.
    """
    home = Path(tempfile.mkdtemp(prefix="tollfree-lab-"))
    user.own(home)
    lab = Lab(installation, home, user)
    os.environ["TOLLFREE_HOME"] = str(home)
    os.environ["PG_CONFIG"] = str(installation.pg_config)
    try:
        yield lab
    finally:
        lab.down()
        del os.environ["TOLLFREE_HOME"]
        shutil.rmtree(home, ignore_errors=True)


def start(*words: str) -> subprocess.Popen[str]:
    """Start the command line as a terminal would: Ctrl-C reaches it, even if these tests run in
    the background of a shell, where it is ignored."""
    return subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, "-m", "tollfree.cli", *words],
        encoding="utf-8",
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )


def tollfree(*words: str, code: ExitCode = ExitCode.OK) -> tuple[str, str]:
    """Run the command line to its end; check its exit code; return what it printed."""
    process = start(*words)
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    assert process.returncode == code, out + err
    return out, err


def latest_run(store: Store, suite: str) -> Run:
    """Return the newest run of a suite that has been run."""
    run = store.latest_run(suite)
    assert run is not None
    return run


def until_executing(process: subprocess.Popen[str]) -> None:
    """Wait until a run says how many executions are before it."""
    assert process.stderr is not None
    while "executions" not in process.stderr.readline():
        assert process.poll() is None


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
