"""The folders of `make build`: those that it cannot use, one that somebody else has just made, and
which of root's the servers' user could lead astray."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tollfree.errors import ExitCode, FileError
from tollfree.postgres import Installation
from tollfree.privileges import ServerUser
from tollfree.stage import Stage, make_home, make_stage


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


@pytest.fixture
def old_home(user: ServerUser) -> Iterator[Path]:
    """A home as earlier versions of root's made it: the servers' user's."""
    if not user.switch:
        pytest.skip("these tests are not run by root: the servers' user is who runs them")
    folder = Path(tempfile.mkdtemp(prefix="tollfree-home-"))
    user.own(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.cluster
def test_root_writes_the_stage_where_nobody_else_can_put_a_link(
    installation: Installation, old_home: Path, user: ServerUser, tmp_path: Path
) -> None:
    def stage_owners(stage: Stage) -> set[int]:
        folders = (old_home, stage.root.parent, stage.root, stage.bindir, stage.programs)
        return {folder.stat().st_uid for folder in folders}

    stage = make_stage(installation, old_home, user)
    assert stage_owners(stage) == {0}
    assert stat.S_IMODE(old_home.stat().st_mode) == stat.S_IMODE(stage.root.parent.stat().st_mode)
    assert stat.S_IMODE(old_home.stat().st_mode) == 0o750
    assert user.can_read(stage.bindir / "postgres")

    precious = tmp_path / "precious"
    precious.write_text("precious")
    for folder in (old_home, stage.root.parent, stage.root, stage.programs):
        user.own(folder)
    (stage.programs / "txprobe").unlink()
    (stage.programs / "txprobe.new").symlink_to(precious)
    make_stage(installation, old_home, user)
    assert precious.read_bytes() == b"precious"
    assert stage_owners(stage) == {0}
    assert not (stage.programs / "txprobe.new").is_symlink()


@pytest.mark.cluster
def test_a_home_below_a_folder_of_the_servers_user_is_refused(
    installation: Installation, old_home: Path, user: ServerUser
) -> None:
    with pytest.raises(FileError, match="belongs to postgres") as failure:
        make_home(installation, old_home / "inside", user)
    assert str(old_home) in failure.value.message
    (old_home / installation.key).symlink_to("/etc")
    with pytest.raises(FileError, match="Not a directory"):
        make_home(installation, old_home, user)
    old_home.chmod(0o777)
    with pytest.raises(FileError, match="others than root"):
        make_home(installation, old_home, user)
