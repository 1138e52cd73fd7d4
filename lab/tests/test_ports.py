"""The lock that labs of one user take while they choose their ports."""

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tollfree.errors import FileError
from tollfree.paths import cache_home
from tollfree.ports import reserved_ports

CHOICE = "from tollfree.ports import reserved_ports\nwith reserved_ports(1): pass"


def test_nobody_else_can_hold_it(tmp_path: Path) -> None:
    """Where everybody may make a file, its name could be guessed."""
    with (tmp_path / f"tollfree-ports-{os.geteuid()}.lock").open("w") as others:
        fcntl.flock(others, fcntl.LOCK_EX)
        env = os.environ | {"TMPDIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", CHOICE], check=True, env=env, timeout=60)


def test_all_homes_of_a_user_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOLLFREE_HOME", str(tmp_path))
    with reserved_ports(1):
        path = cache_home() / "ports.lock"
        found = path.stat()
        assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (os.geteuid(), 0o600)
        assert not path.parent.stat().st_mode & 0o022
        with path.open() as again, pytest.raises(BlockingIOError):
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_port_that_is_somebodys_name_is_not_chosen() -> None:
    """The socket of a server that does not listen has a port's name."""
    with reserved_ports(2) as ports:
        pass
    with reserved_ports(2, taken=ports[:1]) as (first, second):
        assert ports[0] not in (first, second)


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("tollfree.ports.cache_home", lambda: tmp_path / "file" / "tollfree")
    with pytest.raises(FileError, match="Not a directory") as failure, reserved_ports(1):
        pass
    assert str(tmp_path / "file") in failure.value.message
