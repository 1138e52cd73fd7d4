"""The folders of `make build`: those that it cannot use, one that somebody else has just made, and
which of root's the servers' user could lead astray."""

import grp
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import folder_of

from tollfree.errors import ExitCode, FileError
from tollfree.postgres import Installation
from tollfree.privileges import ServerUser
from tollfree.stage import (
    STAMP,
    Stage,
    _link_installation,
    _within_quotes,
    building,
    make_home,
    make_stage,
)


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


def test_make_takes_a_home_by_its_name_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\t@printf %s '$(DESTDIR)'\n")
    home = Path("/it's/a $HOME/$(CURDIR)/\\")
    done = subprocess.run(
        ["make", "-s", "-C", str(tmp_path), f"DESTDIR={_within_quotes(home)}"],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout == str(home)


@pytest.mark.cluster
@pytest.mark.usefixtures("stage")  # by which the home is as it is in use: root's, if we are root
def test_a_folder_that_another_command_has_just_made_is_used(
    home: Path, user: ServerUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "made by another"
    folder.mkdir()
    monkeypatch.setattr(Path, "exists", lambda path: path != folder and os.path.lexists(path))
    user.make_folder(folder)
    assert folder.stat().st_uid == user.uid


@pytest.mark.cluster
def test_the_stage_has_nothing_of_our_extensions_as_they_are_installed(
    installation: Installation, home: Path, tmp_path: Path
) -> None:
    """Nor their bitcode, which JIT compiling finds by the name of the module."""
    pkglibdir, sharedir = tmp_path / "lib", tmp_path / "share"
    names = {
        pkglibdir: ["dict_int.so", "tollfree_file_fdw.so"],
        pkglibdir / "bitcode": ["dict_int.index.bc", "tollfree_file_fdw.index.bc"],
        pkglibdir / "bitcode" / "dict_int": ["dict_int.bc"],
        pkglibdir / "bitcode" / "tollfree_file_fdw": ["scan.bc"],
        sharedir / "extension": [
            *("dict_int.control", "dict_int--1.0.sql"),
            *("tollfree_file_fdw.control", "tollfree_file_fdw--0.0.sql"),
        ],
    }
    for folder, files in names.items():
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()
    stage = Stage(replace(installation, pkglibdir=pkglibdir, sharedir=sharedir), home / "of links")
    _link_installation(stage)
    for folder, files in names.items():
        for file in files:
            staged = stage.root / folder.relative_to("/") / file
            assert staged.exists() == file.startswith("dict_int"), staged
    # What is installed later is there, too, the next time.
    (sharedir / "extension" / "citext.control").touch()
    _link_installation(stage)
    assert (stage.sharedir / "extension" / "citext.control").exists()


@pytest.mark.cluster
def test_a_stage_whose_stamp_a_full_disk_has_cut_is_laid_out_anew(
    installation: Installation, home: Path
) -> None:
    stage = Stage(installation, home / "cut")
    _link_installation(stage)
    (stage.root / STAMP).write_text("")
    (stage.root / "left over").touch()
    _link_installation(stage)
    assert not (stage.root / "left over").exists()
    assert (stage.root / STAMP).read_text()


@pytest.mark.cluster
def test_builds_in_one_checkout_wait_for_each_other(
    installation: Installation, home: Path, user: ServerUser
) -> None:
    with ThreadPoolExecutor(1) as pool:
        with building(installation):
            made = pool.submit(make_stage, installation, home, user)
            assert wait([made], timeout=0.5).not_done
        assert made.result(60).programs.is_dir()


@pytest.fixture
def old_home(user: ServerUser) -> Iterator[Path]:
    """A home as earlier versions of root's made it: the servers' user's."""
    if not user.switch:
        pytest.skip("these tests are not run by root: the servers' user is who runs them")
    with folder_of(user) as folder:
        yield folder


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
def test_links_of_the_servers_user_lead_root_nowhere(
    old_home: Path, user: ServerUser, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (old_home / "link").symlink_to(tmp_path)
    os.link(secret, old_home / "log")
    with pytest.raises(FileError, match="cannot write"):
        user.write_text(old_home / "link" / "file", "text")
    with pytest.raises(FileError, match="cannot write"):
        user.append_text(old_home / "link" / "secret", "text")
    with pytest.raises(FileError, match="cannot make"):
        user.make_folder(old_home / "link" / "folder")
    with pytest.raises(FileError, match="is not a file of"):
        user.open_file(old_home / "log", os.O_WRONLY | os.O_TRUNC)
    assert list(tmp_path.iterdir()) == [secret]
    assert secret.read_text() == "secret"
    assert secret.stat().st_uid == 0


@pytest.mark.cluster
def test_a_home_below_a_folder_of_the_servers_user_is_refused(
    installation: Installation, old_home: Path, user: ServerUser
) -> None:
    with pytest.raises(FileError, match="belongs to postgres") as failure:
        make_home(installation, old_home / "inside", user)
    assert str(old_home) in failure.value.message
    group = grp.getgrgid(user.gid).gr_name
    mend = f"chown root:{group} {old_home}; chmod 750 {old_home}"
    assert mend in failure.value.remedy
    subprocess.run(["sh", "-c", mend], check=True)
    make_home(installation, old_home / "inside", user)
    user.own(old_home)
    (old_home / installation.key).symlink_to("/etc")
    with pytest.raises(FileError, match="Not a directory"):
        make_home(installation, old_home, user)
    old_home.chmod(0o777)
    with pytest.raises(FileError, match="others than root"):
        make_home(installation, old_home, user)


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("owner", "mode", "words"),
    [
        (65534, 0o755, "belongs to user id 65534"),
        (0, 0o777, "others than root"),
        (0, 0o775, "others than root"),
        (0, 0o1777, None),
    ],
)
def test_a_home_is_refused_where_others_could_replace_it(
    installation: Installation,
    old_home: Path,
    user: ServerUser,
    owner: int,
    mode: int,
    words: str | None,
) -> None:
    os.chown(old_home, owner, 0)
    old_home.chmod(mode)
    home = old_home / "between" / "home"
    if words is None:
        make_home(installation, home, user)
        assert home.stat().st_uid == 0
        return
    with pytest.raises(FileError, match=words) as failure:
        make_home(installation, home, user)
    assert f"the folder {old_home}" in failure.value.message
    assert list(old_home.iterdir()) == []


@pytest.mark.cluster
@pytest.mark.parametrize("below", [".", "below"])
def test_a_home_behind_a_link_is_used_only_if_the_link_is_roots(
    installation: Installation, old_home: Path, user: ServerUser, below: str
) -> None:
    os.chown(old_home, 0, 0)
    old_home.chmod(0o755)
    (old_home / "disk").mkdir(mode=0o755)
    target = old_home / "disk" / "target"
    target.mkdir()
    # Of two links, the second.
    first, second = old_home / "first", old_home / "second"
    first.symlink_to("second")
    second.symlink_to(target)
    user.own(second)
    if below == ".":
        user.own(target)
    owner = target.stat().st_uid
    with pytest.raises(FileError, match="not root's") as failure:
        make_home(installation, first / below, user)
    assert str(second) in failure.value.message
    assert target.stat().st_uid == owner
    assert list(target.iterdir()) == []
    os.chown(second, 0, 0, follow_symlinks=False)
    target.chmod(0o755)
    make_home(installation, first / below, user)
    assert (target / below / installation.key).is_dir()
