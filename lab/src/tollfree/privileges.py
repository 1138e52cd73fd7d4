"""Whose processes the servers are.

PostgreSQL refuses to run as root. An ordinary user's servers run as that user; root's run as
`postgres`. This module decides which, starts processes as that user and makes folders: those that
belong to it, and those above them, in which root alone writes. Below a folder of that user's, who
could put a link anywhere, root writes nothing itself: a process of that user's does. It never
widens the permissions of anything that exists.
"""

import errno
import grp
import os
import pwd
import shlex
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollfree.errors import EnvironmentLacksError, FileError

ROOT_SERVER_USER = "postgres"
WRITING_LIMIT_S = 120
MAKE_WRITABLE = "Free space on that disk or make the folder writable, then try again."
OTHER_FOLDER = "Name a folder that you may write with the environment variable TOLLFREE_HOME."
ELSEWHERE = "Name a folder elsewhere with the environment variable TOLLFREE_HOME."


@dataclass(frozen=True)
class ServerUser:
    """The operating-system user that runs the lab's processes and owns their data."""

    name: str
    uid: int
    gid: int
    switch: bool
    """True when this process is root and must become the user to start something."""

    def popen_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments that make `subprocess` start a process as this user."""
        arguments: dict[str, Any] = {"umask": 0o077, "cwd": "/"}
        if self.switch:
            arguments |= {
                "user": self.uid,
                "group": self.gid,
                "extra_groups": os.getgrouplist(self.name, self.gid),
            }
        return arguments

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        text: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run `argv` as this user to its end and return it, output captured; never raises on
        the command's own exit status. It inherits the descriptors `pass_fds`, and reads `text`."""
        return subprocess.run(
            list(argv),
            capture_output=True,
            check=False,
            encoding="utf-8",
            env=dict(env) if env is not None else None,
            errors="replace",
            input=text,
            pass_fds=pass_fds,
            timeout=timeout_s,
            **self.popen_arguments(),
        )

    def run_script(self, script: str, *words: str | Path, timeout_s: float, text: str = "") -> None:
        """Run a shell script as this user, with `words` as $1 and on, `text` to read, and C's
        messages; raises `OSError` with what it said when a command of it fails."""
        done = self.run(
            ["sh", "-ec", script, "sh", *map(str, words)],
            timeout_s=timeout_s,
            env=dict(os.environ) | {"LC_ALL": "C"},
            text=text,
        )
        if done.returncode != 0:
            raise OSError(errno.EIO, done.stderr.strip()[-2000:])

    def can_read(self, path: Path) -> bool:
        """Return whether this user can read `path`, every folder above it included."""
        if not self.switch:
            return os.access(path, os.R_OK)
        return self.run(["test", "-r", str(path)], timeout_s=10).returncode == 0

    def make_folder(self, path: Path) -> None:
        """Make `path` (mode 0700) and its missing parents, owned by this user.

        Raises `FileError` when it cannot be made, or exists and belongs to somebody else.
        """
        with _named(f"make the folder {path}", OTHER_FOLDER):
            for folder in _missing(path):
                if self._is_own_above(folder):
                    # Another command may have made it in the meantime.
                    self.run_script('[ -d "$1" ] || mkdir -m 700 -- "$1"', folder, timeout_s=10)
                else:
                    folder.mkdir(mode=0o700, exist_ok=True)
                    self.own(folder)
        owner = path.stat().st_uid
        if owner != self.uid:
            raise FileError(
                f"the folder {path} belongs to user id {owner}, not to {self.name}",
                "Name another folder with the environment variable TOLLFREE_HOME, or remove it.",
            )
        self._require_reach(path)

    def make_guarded_folder(self, path: Path) -> None:
        """Make `path` and its missing parents for what root writes and this user reads: they belong
        to root, and this user's group may enter them (mode 0750). `path` is taken over if it
        belonged to this user, as in earlier versions; what stands above it is left as it is.
        Not root, it makes them as `make_folder`.

        Raises `FileError` when somebody else could put a link into the way of what is written.
        """
        if not self.switch:
            self.make_folder(path)
            return
        self.require_guarded_way(path)
        with _named(f"make the folder {path}", OTHER_FOLDER):
            for folder in _missing(path):
                folder.mkdir(mode=0o700, exist_ok=True)
                self._guard(folder, is_new=True)
            self._guard(path, is_new=False)
        self._require_reach(path)

    def require_guarded_way(self, path: Path) -> None:
        """Require of what exists on the way to `path`, for root, that nobody else can make it lead
        elsewhere: links are root's, `path` included if it is one, and so are folders, in which only
        root may replace what is root's. Raises `FileError`."""
        if not self.switch:
            return
        for place in reversed((path, *path.parents)):
            if place.is_symlink():
                if place.lstat().st_uid != 0:
                    raise FileError(
                        f"the symbolic link {place} is not root's; its owner could lead astray what"
                        " root writes there",
                        ELSEWHERE,
                    )
                if place.exists():
                    self.require_guarded_way(place.parent / place.readlink())
            if place != path and place.exists():
                self._require_roots_alone(place, path)

    def _require_roots_alone(self, parent: Path, path: Path) -> None:
        found = parent.stat()
        quoted = shlex.quote(str(parent))
        if found.st_uid == self.uid:
            group = grp.getgrgid(self.gid).gr_name
            raise FileError(
                f"the folder {parent} belongs to {self.name}, who could lead astray what root"
                f" writes into {path}",
                f"{ELSEWHERE} If an earlier version of tollfree made {parent}, give it to root"
                f" instead: chown root:{group} {quoted}; chmod 750 {quoted}",
            )
        if found.st_uid != 0:
            raise FileError(
                f"the folder {parent} belongs to user id {found.st_uid}, who could lead astray what"
                f" root writes into {path}",
                ELSEWHERE,
            )
        # In a sticky folder, such as /tmp, only its owner replaces what stands there.
        if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
            raise FileError(
                f"others than root may write into the folder {parent}, and could lead astray what"
                f" root writes into {path}",
                f"{ELSEWHERE} If nobody needs to write there, forbid it: chmod go-w {quoted}",
            )

    def _guard(self, folder: Path, *, is_new: bool) -> None:
        # By a descriptor, so that what is looked at is what is changed.
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = os.fstat(descriptor)
            if found.st_uid == self.uid or (is_new and found.st_uid == 0):
                os.fchown(descriptor, 0, self.gid)
                os.fchmod(descriptor, 0o750)
            elif found.st_uid != 0 or found.st_mode & 0o022:
                raise FileError(
                    f"root writes into the folder {folder}, and others than root may do so too",
                    ELSEWHERE,
                )
        finally:
            os.close(descriptor)

    def _require_reach(self, path: Path) -> None:
        if not self.can_read(path):
            raise FileError(
                f"the user {self.name}, whose servers keep their data in {path}, cannot reach it",
                "Name a folder outside private homes with the environment variable TOLLFREE_HOME.",
            )

    def _is_own_above(self, path: Path) -> bool:
        """Whether, for root, a folder above `path` is this user's, who could make `path` lead
        elsewhere."""
        return self.switch and any(
            parent.lstat().st_uid == self.uid for parent in path.parents if os.path.lexists(parent)
        )

    def own(self, path: Path) -> None:
        """Give `path`, above which nothing is this user's, to this user when we are root."""
        if self.switch:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def open_file(self, path: Path, flags: int) -> int:
        """Open a file and return its descriptor; one that is not there is made, with mode 0600,
        owned by this user. Of the folders above it no more than the innermost may be this user's.

        A symbolic link, and for root what is not a file of this user's, is refused with a
        `FileError`: root could be led to any file with it.
        """
        # Nor does it wait for who reads a pipe.
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            try:
                descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                descriptor = os.open(path, flags & ~os.O_TRUNC)
                self._require_own_file(descriptor, path)
                if flags & os.O_TRUNC:
                    os.ftruncate(descriptor, 0)
            else:
                if self.switch:
                    os.fchown(descriptor, self.uid, self.gid)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise FileError(
                    f"{path} is a symbolic link, which tollfree does not follow",
                    "Remove the link; tollfree makes a file of its own in its place.",
                ) from error
            raise FileError(
                f"cannot open {path}: {error.strerror}",
                MAKE_WRITABLE,
            ) from error
        return descriptor

    def _require_own_file(self, descriptor: int, path: Path) -> None:
        """Raise `FileError`, and close the descriptor, unless root has opened a file of this
        user's: another's may have been linked to."""
        found = os.fstat(descriptor)
        if self.switch and not (stat.S_ISREG(found.st_mode) and found.st_uid == self.uid):
            os.close(descriptor)
            raise FileError(
                f"{path} is not a file of {self.name}'s",
                "Remove it; tollfree makes a file of its own in its place.",
            )

    def write_text(self, path: Path, text: str) -> None:
        """Write `text` to `path`, owned by this user, with mode 0600, whole or not at all."""
        temporary = path.with_name(path.name + ".new")
        with _named(f"write {path}", MAKE_WRITABLE):
            if self._is_own_above(path):
                script = 'rm -f -- "$1"; cat >"$1"; mv -T -- "$1" "$2"'
                self.run_script(script, temporary, path, timeout_s=WRITING_LIMIT_S, text=text)
                return
            temporary.unlink(missing_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            self.own(temporary)
            temporary.replace(path)

    def copy_file(self, source: Path, path: Path) -> None:
        """Copy a file that this user may read, whole or not at all."""
        with _named(f"write {path}", MAKE_WRITABLE):
            script = 'cp -- "$1" "$2.new"; mv -T -- "$2.new" "$2"'
            self.run_script(script, source, path, timeout_s=WRITING_LIMIT_S)

    def append_text(self, path: Path, text: str) -> None:
        """Append `text` to a file that this user may write."""
        with _named(f"write {path}", MAKE_WRITABLE):
            self.run_script('cat >>"$1"', path, timeout_s=WRITING_LIMIT_S, text=text)


def _missing(path: Path) -> list[Path]:
    """Return what has to be made for `path`, the outermost first."""
    return [p for p in reversed((path, *path.parents)) if not p.exists()]


@contextmanager
def _named(action: str, remedy: str) -> Iterator[None]:
    """Turn an error into one that says what cannot be done."""
    try:
        yield
    except OSError as error:
        raise FileError(f"cannot {action}: {error.strerror}", remedy) from error


def server_user() -> ServerUser:
    """Return the user the servers run as: ourselves, or `postgres` when we are root."""
    uid = os.geteuid()
    if uid != 0:
        entry = pwd.getpwuid(uid)
        return ServerUser(entry.pw_name, uid, os.getegid(), switch=False)
    try:
        entry = pwd.getpwnam(ROOT_SERVER_USER)
    except KeyError:
        raise EnvironmentLacksError(
            f"there is no user {ROOT_SERVER_USER}, and PostgreSQL refuses to run as root",
            f"Make it (adduser --system {ROOT_SERVER_USER}), or run tollfree as another user.",
        ) from None
    return ServerUser(entry.pw_name, entry.pw_uid, entry.pw_gid, switch=True)
