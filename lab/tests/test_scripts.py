"""make and the scripts that it and CI call: where they cannot work, and what they leave behind when
a signal ends them."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import LIMIT_S, until

from tollfree.paths import CHECKOUT
from tollfree.postgres import Installation

PATIENCE_S = 20.0
"""How long a process may take to end itself; then it is killed."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder for temporary files of every user's. What a failed test has left running there is
    ended before the folder goes."""
    folder = Path(tempfile.mkdtemp(prefix="tollfree-scratch-"))
    folder.chmod(0o1777)
    try:
        yield folder
    finally:
        end_all_in(folder)
        shutil.rmtree(folder)


def end_all_in(folder: Path) -> None:
    """End the scripts whose temporary folders are in a folder, and whatever they have started."""
    mark = f"TMPDIR={folder}".encode()
    for how in (signal.SIGTERM, signal.SIGKILL):
        until_s = time.monotonic() + PATIENCE_S
        while left := [pid for pid in processes() if mark in environment(pid)]:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, how)
            if time.monotonic() > until_s:
                break
            time.sleep(0.02)


def processes() -> list[int]:
    """Return the processes of this machine."""
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def environment(pid: int) -> list[bytes]:
    """Return a process's environment; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def started(
    script: Path, *words: str, scratch: Path, ignored: bool = False
) -> subprocess.Popen[str]:
    """Start a script as a terminal would, with its temporary folders in `scratch`; or with SIGINT
    ignored, as a script would in the background."""
    interrupt = "--ignore-signal=INT" if ignored else "--default-signal=INT"
    return subprocess.Popen(
        ["env", interrupt, str(script), *words],
        encoding="utf-8",
        env=os.environ | {"TMPDIR": str(scratch)},
        start_new_session=True,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )


def begun(process: subprocess.Popen[str], condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, while the script runs."""
    until(lambda: condition() or process.poll() is not None)
    assert process.poll() is None, process.communicate()[0]


def ended(process: subprocess.Popen[str], how: signal.Signals) -> None:
    """End a script by a signal to itself alone, and wait for it."""
    process.send_signal(how)
    out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode != 0, out


def working_in(folder: Path) -> list[str]:
    """Return the command lines of the processes that name a folder or are in it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().decode(errors="replace")
            place = str((process / "cwd").readlink())
        except OSError:
            continue
        if str(folder) in line + place:
            found.append(line)
    return found


def has_ready_server(folder: Path) -> bool:
    """Whether a private server in a folder takes connections. Those that initdb runs remove their
    file again, maybe between its being found and its being read."""
    for file in folder.glob("*/instance/data/postmaster.pid"):
        try:
            if "ready" in file.read_text():
                return True
        except FileNotFoundError:
            continue
    return False


def test_what_a_failed_test_leaves_running_is_ended(scratch: Path) -> None:
    """Also what has a process group of its own."""
    (scratch / "script").write_text("#!/bin/sh\nsetsid tail -f $0 &\nwait\n")
    (scratch / "script").chmod(0o755)
    with started(scratch / "script", scratch=scratch) as process:
        begun(process, lambda: any(x.startswith("tail\0") for x in working_in(scratch)))
        end_all_in(scratch)
        assert working_in(scratch) == []


def test_make_names_a_checkout_in_whose_path_it_cannot_work(tmp_path: Path) -> None:
    folder = tmp_path / "a checkout"
    folder.mkdir()
    shutil.copy(CHECKOUT / "Makefile", folder)
    done = subprocess.run(
        ["make", "-C", str(folder), "help"], capture_output=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 2
    assert f'has a space, with which make cannot work: "{folder}"' in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_environment_that_is_a_link_is_not_emptied(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "tools", tmp_path / "checkout" / "tools")
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    (tmp_path / "checkout" / ".venv").symlink_to(other)
    said = subprocess.run(
        [tmp_path / "checkout" / "tools" / "make-venv", "run"],
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert "is a symbolic link" in said.stderr
    assert (other / "kept").exists()


@pytest.mark.parametrize(
    ("how", "ignored"), [*((how, False) for how in SIGNALS), (signal.SIGTERM, True)]
)
def test_ci_ends_both_of_its_runs(
    tmp_path: Path, scratch: Path, how: signal.Signals, ignored: bool
) -> None:
    """A checkout that has nothing but the script, and targets that only wait."""
    for name in (".ci", "tools"):
        (tmp_path / name).mkdir()
    shutil.copy(CHECKOUT / ".ci" / "run", tmp_path / ".ci" / "run")
    for tool in ("install-packages", "build-postgres"):
        (tmp_path / "tools" / tool).write_text("#!/bin/sh\necho pg_config\n")
        (tmp_path / "tools" / tool).chmod(0o755)
    # Not before both wait: a shell loses the signal while it is about to execute a command.
    (tmp_path / "Makefile").write_text(
        f"test test-db:\n\ttouch {scratch}/$@.begun; tail -f {scratch}/$@.begun\n"
    )
    process = started(tmp_path / ".ci" / "run", scratch=scratch, ignored=ignored)
    begun(process, lambda: sum(x.startswith("tail\0") for x in working_in(scratch)) == 2)
    ended(process, how)
    assert [p.name for p in scratch.iterdir() if p.suffix != ".begun"] == []
    assert working_in(scratch) == []


@pytest.mark.cluster
@pytest.mark.parametrize("how", SIGNALS)
def test_private_tests_leave_neither_folder_nor_server(
    installation: Installation, tmp_path: Path, scratch: Path, how: signal.Signals
) -> None:
    extension = tmp_path / "waits"
    (extension / "sql").mkdir(parents=True)
    (extension / "sql" / "waits.sql").write_text("SELECT pg_sleep(300);\n")
    (extension / "Makefile").write_text(
        "REGRESS = waits\nREGRESS_OPTS = $(EXTRA_REGRESS_OPTS)\n"
        "PGXS := $(shell $(PG_CONFIG) --pgxs)\ninclude $(PGXS)\n"
    )
    script = CHECKOUT / "tools" / "check-private"
    process = started(script, str(extension), str(installation.pg_config), scratch=scratch)
    begun(process, lambda: has_ready_server(scratch))
    ended(process, how)
    assert list(scratch.iterdir()) == []
    assert working_in(scratch) == []


def test_private_tests_end_no_process_but_their_own(
    installation: Installation, tmp_path: Path, scratch: Path
) -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        try:
            (tmp_path / "Makefile").write_text(
                f"clean install:\ninstallcheck:\n\techo {stranger.pid} >postmaster.pid\n"
            )
            script = CHECKOUT / "tools" / "check-private"
            process = started(script, str(tmp_path), str(installation.pg_config), scratch=scratch)
            out, _ = process.communicate(timeout=LIMIT_S)
            assert process.returncode == 0, out
            assert stranger.poll() is None
        finally:
            stranger.kill()
    assert list(scratch.iterdir()) == []


@pytest.mark.cluster
def test_private_tests_write_nothing_into_an_installation_that_has_the_extension(
    installation: Installation, tmp_path: Path, scratch: Path
) -> None:
    """As llvm-lto writes the index of a module's bitcode: into the file that is there."""
    bindir = scratch / "system" / installation.bindir.relative_to("/")
    bindir.mkdir(parents=True)
    shutil.copy(installation.pg_config, bindir)
    pg_config = bindir / installation.pg_config.name
    kinds = ("pkglibdir", "sharedir", "includedir", "pkgincludedir", "includedir-server")
    done = subprocess.run(
        [pg_config, *(f"--{kind}" for kind in kinds)],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    folders = list(map(Path, done.stdout.splitlines()))
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    index = folders[0] / "bitcode" / "waits.index.bc"
    index.parent.mkdir()
    index.write_text("old")
    (tmp_path / "Makefile").write_text(
        "clean installcheck:\n"
        "install:\n\tprintf new >$$($(PG_CONFIG) --pkglibdir)/bitcode/waits.index.bc\n"
    )
    script = CHECKOUT / "tools" / "check-private"
    process = started(script, str(tmp_path), str(pg_config), scratch=scratch)
    out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, out
    assert index.read_text() == "old"
