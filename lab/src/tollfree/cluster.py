"""One private PostgreSQL server: made, started, stopped, found again.

A cluster's data, socket and log are in folders of mode 0700 that belong to the servers' user.
Local connections are trusted, because only that user can reach the socket; TCP connections, when
a cluster listens at all, need a password. Settings are PostgreSQL's defaults but for those in
`SERVER_SETTINGS`; durability is never turned off.
"""

import contextlib
import errno
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tollfree.errors import FileError, LabError, LabStateError
from tollfree.ports import LOOPBACK, require_socket_path
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

SUPERUSER = "postgres"
START_LIMIT_S = 60.0
STOP_LIMIT_S = 60.0
NO_PORT = 0
"""Of a server that is made before a port is chosen for it."""
STOP_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
LOG_TAIL_LINES = 15
READY = ("ready", "standby")
"""What a postmaster says of itself once it takes connections."""

SERVER_SETTINGS = {
    "log_destination": "'stderr'",
    "log_line_prefix": "'%m [%p] '",
    "log_timezone": "'UTC'",
    "timezone": "'UTC'",
    "password_encryption": "'scram-sha-256'",
}
"""Written into each cluster; none of them changes what a statement costs."""

HBA = """\
# Only the servers' user can enter the folder of the socket.
local all all trust
host all all 127.0.0.1/32 scram-sha-256
"""


def is_connection_lost(error: psycopg.Error) -> bool:
    """Return whether an error means that the server is gone, not that a statement failed."""
    return isinstance(error, psycopg.OperationalError) and (
        error.sqlstate is None or error.sqlstate.startswith("57P")
    )


@dataclass(frozen=True)
class Cluster:
    """A server of the lab, running or not."""

    name: str
    folder: Path
    """Holds `data`, `log` and, for TCP, `password`."""
    socket_folder: Path
    port: int
    stage: Stage
    user: ServerUser
    listens: bool = False
    settings: dict[str, str] = field(default_factory=dict)
    """Further settings, as they are written in postgresql.conf."""
    environment: dict[str, str] = field(default_factory=dict)
    """Further variables in the environment of the server."""

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.folder / "log"

    @property
    def password_file(self) -> Path:
        """The superuser's password for TCP connections."""
        return self.folder / "password"

    @property
    def is_made(self) -> bool:
        """Whether initdb has finished for it."""
        return (self.data / "tollfree.conf").exists()

    def conninfo(self, dbname: str = "postgres") -> str:
        """Return the connection string over the Unix socket."""
        return make_conninfo(
            host=str(self.socket_folder),
            port=self.port,
            user=SUPERUSER,
            dbname=dbname,
            connect_timeout=10,
        )

    def connect(self, dbname: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """Return a new autocommit connection over the Unix socket."""
        return psycopg.connect(self.conninfo(dbname), autocommit=True)

    def make_database(self, dbname: str) -> None:
        """Make a database of the running server unless it is there."""
        with self.connect() as connection:
            known = connection.execute("SELECT FROM pg_database WHERE datname = %s", (dbname,))
            if known.fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(dbname)))

    def size_of_databases(self, pattern: str) -> int:
        """Return the bytes of those databases of the running server whose names match."""
        with self.connect() as connection:
            sizes = connection.execute(
                "SELECT pg_database_size(oid) FROM pg_database WHERE datname ~ %s", (pattern,)
            )
            return sum(int(str(size)) for (size,) in sizes)

    def make(self, password: str) -> None:
        """Run initdb. Leaves nothing behind when it fails."""
        self.user.make_folder(self.folder)
        unfinished = self.folder / "data.new"
        self._remove(unfinished)
        self.user.write_text(self.password_file, password)
        done = self.user.run(
            [
                str(self.stage.bindir / "initdb"),
                f"--pgdata={unfinished}",
                f"--username={SUPERUSER}",
                f"--pwfile={self.password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-instructions",
            ],
            timeout_s=START_LIMIT_S * 2,
            env={"PATH": self.stage.search_path, "LC_ALL": "C.UTF-8"},
        )
        if done.returncode != 0:
            self._remove(unfinished)
            raise FileError(
                f"initdb failed for the cluster {self.name} in {self.folder}",
                "Free space on that disk, or name another folder with TOLLFREE_HOME.",
                detail=_tail(done.stdout + done.stderr),
            )
        self.user.write_text(unfinished / "pg_hba.conf", HBA)
        self.user.append_text(unfinished / "postgresql.conf", "include 'tollfree.conf'\n")
        lines = [f"{name} = {value}" for name, value in (SERVER_SETTINGS | self.settings).items()]
        self.user.write_text(unfinished / "tollfree.conf", "\n".join(lines) + "\n")
        unfinished.rename(self.data)

    def _remove(self, folder: Path) -> None:
        if folder.exists():
            self.user.run(["rm", "-rf", "--", str(folder)], timeout_s=STOP_LIMIT_S)

    def start(self) -> None:
        """Start the server and wait until it answers a query.

        Raises `LabStateError`, with the tail of the log, when it does not come up.
        """
        socket = self.socket_folder / f".s.PGSQL.{self.port}"
        require_socket_path(socket)
        if "," in str(socket):
            raise LabStateError(
                f"the socket path {socket} has a comma, at which libpq takes it apart",
                "Name another folder with the environment variable TOLLFREE_HOME.",
            )
        self.user.make_folder(self.socket_folder)
        if self._is_exiting():
            self._wait_until_gone(STOP_LIMIT_S)
        with os.fdopen(self.user.open_file(self.log, os.O_WRONLY | os.O_APPEND), "ab") as log:
            log_start = log.seek(0, os.SEEK_END)
            server = subprocess.Popen(
                [
                    str(self.stage.bindir / "postgres"),
                    *("-D", str(self.data)),
                    *("-k", str(self.socket_folder)),
                    *("-p", str(self.port)),
                    *("-c", f"listen_addresses={LOOPBACK if self.listens else ''}"),
                ],
                env={"PATH": self.stage.search_path, "LC_ALL": "C.UTF-8"} | self.environment,
                start_new_session=True,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                **self.user.popen_arguments(),
            )
        try:
            deadline = time.monotonic() + START_LIMIT_S
            while not self._answers():
                if server.poll() is not None or time.monotonic() > deadline:
                    raise self._start_failure(_tail(self._logged_since(log_start)))
                time.sleep(0.02)
        except BaseException:
            # Before it has written its postmaster.pid, `stop` would not find it.
            _end(server)
            raise
        # The server outlives this process on purpose; do not let Popen warn about that.
        server.returncode = 0

    def _logged_since(self, place: int) -> str:
        with os.fdopen(self.user.open_file(self.log, os.O_RDONLY), "rb") as log:
            log.seek(place)
            return log.read().decode(errors="replace")

    def _start_failure(self, tail: str) -> LabError:
        message = f"the server {self.name} on port {self.port} did not start"
        if os.strerror(errno.ENOSPC) in tail:
            return FileError(
                f"{message}: the disk of {self.folder} is full",
                "Free space on that disk, or name another folder with TOLLFREE_HOME.",
            )
        return LabStateError(
            message, f"See the last lines of its log; the whole log is {self.log}.", detail=tail
        )

    def _answers(self) -> bool:
        if self._postmaster_status() not in READY:
            return False
        with contextlib.suppress(psycopg.OperationalError), self.connect() as connection:
            connection.execute("SELECT 1")
            return True
        return False

    def _postmaster_file(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def _postmaster_status(self) -> str:
        lines = self._postmaster_file()
        return lines[7].strip() if len(lines) > 7 else ""

    def _written_pid(self) -> int | None:
        lines = self._postmaster_file()
        return int(lines[0]) if lines and lines[0].strip().isdigit() else None

    def pid(self) -> int | None:
        """Return the postmaster's process id, or None when it does not run.

        The process's command line shows whether its id was recycled.
        """
        pid = self._written_pid()
        return pid if pid and os.fsencode(self.data) in _command_line(pid) else None

    def _is_exiting(self) -> bool:
        """Whether the last postmaster is dead but not gone: killed, and its memory still being
        freed or its parent still to notice. PostgreSQL would refuse to start beside it."""
        pid = self._written_pid()
        if pid is None:
            return False
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        return Path(f"/proc/{pid}").exists() and _command_line(pid) == [b""]

    def is_running(self) -> bool:
        """Whether the server runs and says that it is ready."""
        return self.pid() is not None and self._postmaster_status() in READY

    def stop(self) -> None:
        """Stop the server if it runs: a fast shutdown, then an immediate one."""
        for stop_signal in STOP_SIGNALS:
            pid = self.pid()
            if pid is None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, stop_signal)
            if self._wait_until_gone(STOP_LIMIT_S):
                return

    def _wait_until_gone(self, limit_s: float) -> bool:
        deadline = time.monotonic() + limit_s
        while self.pid() is not None or self._is_exiting():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def _end(server: subprocess.Popen[bytes]) -> None:
    """End a server that we have started, unless it has ended, and wait for it."""
    for stop_signal in STOP_SIGNALS:
        server.send_signal(stop_signal)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(STOP_LIMIT_S)
            return


def _command_line(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-LOG_TAIL_LINES:])
