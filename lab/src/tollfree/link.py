"""One running link: a proxy that delays and counts, in a process of its own.

The proxy itself is the C program `tollfree-link`; this module starts it, finds it again by its
command line, reads its counts and stops it.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollfree.errors import LabStateError
from tollfree.ports import LOOPBACK, require_socket_path
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

START_LIMIT_S = 10.0
STOP_LIMIT_S = 5.0


@dataclass(frozen=True)
class Link:
    """A link of the lab, running or not."""

    name: str
    rtt_us: int
    """The requested round trip; each direction is delayed by half of it."""
    port: int
    target_port: int
    control: Path
    """The socket on which it answers what it counted; unique to this link."""
    stage: Stage
    user: ServerUser
    server: str = "source"
    """The cluster that it leads to."""

    @property
    def title(self) -> str:
        """What tells it from every other link of the lab."""
        return self.name if self.server == "source" else f"{self.name} to {self.server}"

    def start(self) -> None:
        """Start the proxy and wait until it listens; raises `LabStateError` when it does not."""
        require_socket_path(self.control)
        self.control.unlink(missing_ok=True)
        log_path = self.control.with_suffix(".log")
        flags = os.O_WRONLY | os.O_APPEND | os.O_TRUNC
        with os.fdopen(self.user.open_file(log_path, flags), "ab") as log:
            process = subprocess.Popen(
                [
                    str(self.stage.programs / "tollfree-link"),
                    *("--listen", f"{LOOPBACK}:{self.port}"),
                    *("--connect", f"{LOOPBACK}:{self.target_port}"),
                    *("--delay-us", str(self.rtt_us // 2)),
                    *("--control", str(self.control)),
                ],
                start_new_session=True,
                stderr=log,
                stdin=subprocess.DEVNULL,
                stdout=log,
                **self.user.popen_arguments(),
            )
        deadline = time.monotonic() + START_LIMIT_S
        while not self._answers():
            if process.poll() is not None or time.monotonic() > deadline:
                raise LabStateError(
                    f"the link {self.title} on port {self.port} did not start",
                    "See what it said, free the port or choose others with --port.",
                    detail=log_path.read_text(errors="replace").strip(),
                )
            time.sleep(0.005)
        # It outlives this process on purpose; do not let Popen warn about that.
        process.returncode = 0

    def _answers(self) -> bool:
        with contextlib.suppress(OSError, ValueError):
            self.counters()
            return True
        return False

    def counters(self) -> dict[str, Any]:
        """Return the link's totals: flights, bytes each way, connections, delay accuracy."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
            control.settimeout(START_LIMIT_S)
            control.connect(str(self.control))
            control.sendall(b"stats\n")
            with control.makefile("r", encoding="utf-8") as answer:
                counters: dict[str, Any] = json.loads(answer.readline())
        return counters

    def pid(self) -> int | None:
        """Return the process id of the proxy, or None when it does not run."""
        wanted = os.fsencode(self.control)
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                with contextlib.suppress(OSError):
                    words = (process / "cmdline").read_bytes().split(b"\0")
                    if words[0].endswith(b"tollfree-link") and wanted in words:
                        return int(process.name)
        return None

    def stop(self) -> None:
        """Stop the proxy if it runs."""
        for stop_signal in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + STOP_LIMIT_S
            while (pid := self.pid()) is not None and time.monotonic() < deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, stop_signal)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
                time.sleep(0.01)
