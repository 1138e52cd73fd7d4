"""The stage: a private, relocated copy of a PostgreSQL installation with our parts added.

PostgreSQL finds its libraries and shared files relative to its own executable, which is how its
own test suite runs an uninstalled build. We use the same property: the stage has the real
layout, real copies of `postgres` and `initdb`, symbolic links to everything else, and our
extensions installed among them by PGXS with DESTDIR, where the installation's own copies of these
are left out. So nothing is ever written into the
system's PostgreSQL, no root is needed, several majors and checkouts live side by side, and the
checkout itself may be unreadable for the servers' user. Root's stage is root's own, in folders of
root's: the servers' user only reads it.

Run as a module it stages the chosen PostgreSQL and prints the stage's bindir.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tollfree.errors import EnvironmentLacksError, FileError, LabError
from tollfree.paths import BUILD, CHECKOUT, lab_home
from tollfree.postgres import Installation, buildable_installation
from tollfree.privileges import ServerUser, server_user
from tollfree.scripts import EXTENSION, SCRIPT_NAME, written_script

EXTENSIONS = ("tollfree_lab", "tollfree_postgres_fdw", "tollfree_file_fdw")
PROGRAMS = {"link": "tollfree-link", "clients/txprobe": "txprobe"}
"""Programs that the servers' user runs: source folder, name."""

COPIED_EXECUTABLES = ("postgres", "initdb")
STAMP = "stage.json"
LAYOUT = 2
"""Of what is linked into a stage: one that has another number is laid out anew."""


@dataclass(frozen=True)
class Stage:
    """A staged installation."""

    installation: Installation
    root: Path

    def _moved(self, path: Path) -> Path:
        return self.root / path.relative_to("/")

    @property
    def bindir(self) -> Path:
        """Holds `postgres` and `initdb`; everything else is run from the installation."""
        return self._moved(self.installation.bindir)

    @property
    def sharedir(self) -> Path:
        """The staged shared files, our extensions' scripts among them."""
        return self._moved(self.installation.sharedir)

    @property
    def pkglibdir(self) -> Path:
        """The staged loadable modules, ours among them."""
        return self._moved(self.installation.pkglibdir)

    @property
    def programs(self) -> Path:
        """The lab's own programs, where the servers' user can run them."""
        return self.root / "programs"

    @property
    def search_path(self) -> str:
        """The PATH of a case's command: our programs, then the installation's."""
        return f"{self.programs}:{self.installation.bindir}:/usr/bin:/bin"


def make_home(installation: Installation, home: Path, user: ServerUser) -> Path:
    """Make the home and the folder in it of one installation; return that folder."""
    folder = home / installation.key
    # The home itself may be a link to another disk; root's, if root is to follow it.
    user.require_guarded_way(home)
    user.make_guarded_folder(home.resolve())
    user.make_guarded_folder(folder)
    return folder


def make_stage(installation: Installation, home: Path, user: ServerUser) -> Stage:
    """Build our parts against `installation` and stage them under `home`; return the stage.

    Parts that are up to date are not changed, so that repeating it is fast. Raises
    `EnvironmentLacksError` when something does not build.
    """
    installation.require_headers()
    if not user.can_read(installation.bindir / "postgres"):
        raise EnvironmentLacksError(
            f"the user {user.name} cannot read PostgreSQL at {installation.bindir}",
            "Install it where that user can, or run tollfree as a user who can.",
        )
    stage = Stage(installation, make_home(installation, home, user) / "stage")
    _link_installation(stage)
    try:
        with building(installation):
            for extension in EXTENSIONS:
                _install_extension(stage, extension)
            for source, program in PROGRAMS.items():
                _install_program(stage, source, program)
    except (OSError, shutil.Error) as error:
        raise FileError(
            f"cannot build in {BUILD}: {error}",
            "Make the checkout writable for this user, and free space there and in the lab's home.",
        ) from error
    return stage


@contextlib.contextmanager
def building(installation: Installation) -> Iterator[None]:
    """Lock the builds in the checkout for `installation`, waiting for another one.

    Two commands with homes of their own build in the same folder. At the same time they would mix
    their libraries.
    """
    BUILD.mkdir(exist_ok=True)
    lock = os.open(BUILD / f"{installation.key}.lock", os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def finished_stage(installation: Installation, home: Path) -> Stage | None:
    """Return the stage as it is, None unless it was made of this very build and serves the lab's
    database of this checkout: enough to read results, also where nothing can be built."""
    stage = Stage(installation, home / installation.key / "stage")
    try:
        built = (stage.sharedir / "extension" / SCRIPT_NAME).read_bytes()
        library = stage.pkglibdir / f"{EXTENSION}.so"
        is_ready = _is_laid_out(stage) and library.exists() and built == written_script()
    except OSError:
        return None
    return stage if is_ready else None


def _stamp_of(installation: Installation) -> dict[str, object]:
    built_ns = (installation.bindir / "postgres").stat().st_mtime_ns
    return {"version": installation.version, "built_ns": built_ns, "layout": LAYOUT}


def _is_laid_out(stage: Stage) -> bool:
    # Earlier versions gave root's to the servers' user, who may have put anything there.
    is_ours = stage.root.lstat().st_uid == os.geteuid()
    try:
        stamp = json.loads((stage.root / STAMP).read_text())
    except (FileNotFoundError, ValueError):
        # The disk was full, or the machine stopped.
        return False
    return is_ours and stamp == _stamp_of(stage.installation)


def _link_installation(stage: Stage) -> None:
    """Lay out copies and links, unless they exist for this very build."""
    installation = stage.installation
    try:
        if os.path.lexists(stage.root):
            if _is_laid_out(stage):
                # An extension may have been added to the installation since.
                _link_shared_files(stage)
                return
            shutil.rmtree(stage.root)
        stage.root.mkdir()
        stage.root.chmod(0o755)
        for folder in (stage.bindir, stage.sharedir, stage.pkglibdir, stage.programs):
            _make_folders(folder)
        for name in COPIED_EXECUTABLES:
            shutil.copy(installation.bindir / name, stage.bindir / name)
        _link_shared_files(stage)
        if not stage._moved(installation.localedir).exists():
            _make_folders(stage._moved(installation.localedir).parent)
            stage._moved(installation.localedir).symlink_to(installation.localedir)
        (stage.root / STAMP).write_text(json.dumps(_stamp_of(installation)))
    except OSError as error:
        raise FileError(
            f"cannot lay out the private PostgreSQL in {stage.root}: {error}",
            "Free space on that disk, or name another folder with TOLLFREE_HOME.",
        ) from error


def _link_shared_files(stage: Stage) -> None:
    _link_entries(stage.installation.sharedir, stage.sharedir, inside=("extension",))
    _link_entries(stage.installation.pkglibdir, stage.pkglibdir, inside=("bitcode",))


def _make_folders(path: Path) -> None:
    """Make `path` and its parents readable for the servers' user whatever our umask is."""
    previous = os.umask(0o022)
    try:
        path.mkdir(parents=True, exist_ok=True)
    finally:
        os.umask(previous)


def _link_entries(real: Path, staged: Path, inside: tuple[str, ...]) -> None:
    """Link every entry of `real` into `staged`; folders named in `inside` become real folders
    of links. Our extensions, if they are installed there, are left out: code of theirs, which
    JIT compiling would take from their bitcode, may be of another version than ours."""
    for entry in real.iterdir():
        if re.split(r"\.|--", entry.name)[0] in EXTENSIONS:
            continue
        if entry.name in inside:
            _make_folders(staged / entry.name)
            _link_entries(entry, staged / entry.name, ())
        elif not (staged / entry.name).exists():
            with contextlib.suppress(FileExistsError):  # another process has made it
                (staged / entry.name).symlink_to(entry)


def _install_extension(stage: Stage, extension: str) -> None:
    """Build `extension` in a folder of this installation's own and install it in the stage."""
    source = CHECKOUT / "extensions" / extension
    folder = BUILD / stage.installation.key / extension
    _copy_sources(source, folder)
    _make(
        folder,
        "install",
        f"PG_CONFIG={stage.installation.pg_config}",
        f"DESTDIR={_within_quotes(stage.root)}",
        "with_llvm=no",
    )


def _within_quotes(path: Path) -> str:
    """Return a path, for make's command line, that stands in single quotes of the shell in a
    makefile."""
    return str(path).replace("'", r"'\''").replace("$", "$$")


def _copy_sources(source: Path, folder: Path) -> None:
    """Mirror `source` into `folder`, times kept, so that make rebuilds only what changed.

    PGXS builds beside its sources; objects of two majors must not meet.
    """
    ignored = shutil.ignore_patterns("*.o", "*.so", "*.bc", "results", "tmp_check")
    shutil.copytree(source, folder, ignore=ignored, dirs_exist_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        ours = path.suffix in {".c", ".h", ".sql"} and "--" not in path.name
        if ours and not (source / path.relative_to(folder)).exists():
            path.unlink()


def _install_program(stage: Stage, source: str, program: str) -> None:
    """Build `program` in a folder of this installation's own (it may use its libpq) and copy it.

    A copy that is in use is replaced, not overwritten.
    """
    folder = BUILD / stage.installation.key / Path(source).name
    _make(
        CHECKOUT / source,
        "all",
        f"PG_CONFIG={stage.installation.pg_config}",
        f"BUILDDIR={folder}",
    )
    built, staged = folder / program, stage.programs / program
    if not staged.exists() or staged.stat().st_mtime_ns != built.stat().st_mtime_ns:
        temporary = staged.with_suffix(".new")
        shutil.copy2(built, temporary)
        temporary.chmod(0o755)
        temporary.replace(staged)


def _make(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["make", "-s", "-C", str(folder), *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
        umask=0o022,
    )
    if done.returncode != 0:
        raise EnvironmentLacksError(
            f"{folder.name} does not build (make exit status {done.returncode})",
            "Install what the last lines name (`make demo` installs the usual packages).",
            detail="\n".join((done.stdout + done.stderr).splitlines()[-20:]),
        )


def main() -> int:
    """Make the stage of the chosen PostgreSQL; print where its programs are."""
    try:
        stage = make_stage(buildable_installation(), lab_home(), server_user())
    except LabError as error:
        sys.stderr.write(f"{error.message}\n  {error.remedy}\n{error.detail}")
        return error.code
    sys.stdout.write(f"{stage.bindir}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
