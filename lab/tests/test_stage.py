"""The folders of `make build`: one that it cannot use, one that somebody else has just made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tollfree.errors import ExitCode
from tollfree.privileges import ServerUser


def test_a_home_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    done = subprocess.run(
        [sys.executable, "-m", "tollfree.stage"],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "TOLLFREE_HOME": str(file / "home")},
    )
    assert done.returncode == ExitCode.FILES
    assert done.stderr.splitlines() == [
        f"cannot make the folder {file / 'home'}: Not a directory",
        "  Name a folder that you may write with the environment variable TOLLFREE_HOME.",
    ]
    assert not done.stdout


@pytest.mark.cluster
def test_a_folder_that_another_command_has_just_made_is_used(
    home: Path, user: ServerUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "made by another"
    folder.mkdir()
    monkeypatch.setattr(Path, "exists", lambda path: path != folder and os.path.lexists(path))
    user.make_folder(folder)
    assert folder.stat().st_uid == user.uid
