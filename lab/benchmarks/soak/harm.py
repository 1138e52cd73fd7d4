"""The faults: what happens to processes, servers and links while the workers work.

One happens after the other, and each is over before the next begins: a stopped process goes on, a
server that was stopped runs again. Each kind comes once before any comes twice. A disk is not
filled: that takes a file system of its own, which only root can mount.
"""

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from soak.faults import LOST, REFUSED, FaultLog
from soak.processes import is_child
from soak.worker import Worker
from soak.world import HOG, REMOTES, ROLES, CannotConnectError, World
from tollfree.cluster import Cluster
from tollfree.ports import reserved_ports

GONE_LIMIT_S = 90.0
MOST_HOGS = 200
ENDED_WHILE_EXHAUSTED = 4
CANCELED = frozenset({"57014"})
CONNECTION_LOST = frozenset({"08000", "08001", "08003", "08006"})
ENDED = frozenset({"57P01"})
RESTARTED = CONNECTION_LOST | ENDED | {"57P02", "57P03", LOST, REFUSED}
NOTHING: frozenset[str] = frozenset()

SESSIONS = "SELECT pid FROM pg_stat_activity WHERE usename = ANY (%s)"
AT_WORK = f"{SESSIONS} AND state <> 'idle'"


@dataclass(frozen=True)
class Fault:
    """A fault: what it does, returning whom it met, and the SQLSTATEs that it can give."""

    inflict: Callable[["Harm"], str]
    states: frozenset[str]


class Harm:
    """Draws faults, and inflicts them."""

    def __init__(
        self,
        world: World,
        workers: Sequence[Worker],
        log: FaultLog,
        seed: str,
        *,
        longest_s: float,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """`longest_s` is how long something is stopped, cut or stalled at most. The faults
        `without` do not happen."""
        self.world = world
        self.workers = workers
        self.rng = random.Random(f"{seed} harm")
        self.done: Counter[str] = Counter()
        self._log = log
        self._longest_s = longest_s
        self._names = [name for name in FAULTS if name not in without]
        self._deck: list[str] = []

    def inflict_next(self) -> None:
        """Draw a fault, inflict it, and wait until it is over."""
        if not self._deck:
            self._deck = self.rng.sample(self._names, len(self._names))
        name = self._deck.pop()
        fault = FAULTS[name]
        with self._log.event(name, fault.states) as event:
            event.text = fault.inflict(self)
        if event.text:
            self.done[name] += 1

    def duration_s(self) -> float:
        """Return how long a fault is to last."""
        return self.rng.uniform(0.1, 1.0) * self._longest_s

    def any_remote(self) -> str:
        """Return a drawn remote server."""
        return self.rng.choice(REMOTES)

    def local_pid(self, *, is_steady: bool) -> int | None:
        """Return the process of a drawn worker's session, a steady one's only if that is said."""
        chosen = [w for w in self.workers if w.is_connected and (is_steady or not w.is_steady)]
        return self.rng.choice(chosen).pid if chosen else None

    def remote_pid(self, name: str, query: str = SESSIONS) -> int | None:
        """Return the process of a drawn session of the wrappers on a remote server."""
        with self.world.monitor(name) as connection:
            pids = [int(str(pid)) for (pid,) in connection.execute(query, (list(ROLES),))]
        return self.rng.choice(sorted(pids)) if pids else None


@contextmanager
def stopped(pid: int, parent: int | None) -> Iterator[bool]:
    """Stop a process, if it is still a child of that one, as long as the context lasts."""
    is_there = is_child(pid, parent)
    if is_there:
        _send(pid, signal.SIGSTOP)
    try:
        yield is_there
    finally:
        if is_there:
            _send(pid, signal.SIGCONT)


def _send(pid: int, what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, what)


def _end(pid: int, how: signal.Signals) -> None:
    """End a process that we have started, and wait for it; raises `TimeoutError`."""
    _send(pid, how)
    deadline = time.monotonic() + GONE_LIMIT_S
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {pid} has not ended by {how.name}")
            time.sleep(0.01)


def _call_locally(harm: Harm, function: str, pid: int | None) -> str:
    if pid is None:
        return ""
    with harm.world.session("soak harm") as connection:
        connection.execute(f"SELECT {function}(%s)", (pid,))
    return f"process {pid}"


def _call_remotely(harm: Harm, function: str, query: str) -> str:
    name = harm.any_remote()
    pid = harm.remote_pid(name, query)
    if pid is None:
        return ""
    with harm.world.monitor(name) as connection:
        connection.execute(f"SELECT {function}(%s)", (pid,))
    return f"server {name}, process {pid}"


def terminate_locally(harm: Harm) -> str:
    """End a local session."""
    return _call_locally(harm, "pg_terminate_backend", harm.local_pid(is_steady=False))


def cancel_locally(harm: Harm) -> str:
    """Cancel what a local session does."""
    return _call_locally(harm, "pg_cancel_backend", harm.local_pid(is_steady=True))


def terminate_remotely(harm: Harm) -> str:
    """End a remote session."""
    return _call_remotely(harm, "pg_terminate_backend", SESSIONS)


def cancel_remotely(harm: Harm) -> str:
    """Cancel what a remote session does."""
    return _call_remotely(harm, "pg_cancel_backend", AT_WORK)


def stop_locally(harm: Harm) -> str:
    """Stop the process of a local session for a while."""
    return _stop(harm, harm.world.local, harm.local_pid(is_steady=True))


def stop_remotely(harm: Harm) -> str:
    """Stop the process of a remote session for a while."""
    name = harm.any_remote()
    return _stop(harm, harm.world.remotes[name], harm.remote_pid(name, AT_WORK))


def _stop(harm: Harm, cluster: Cluster, pid: int | None) -> str:
    if pid is None:
        return ""
    seconds = harm.duration_s()
    with stopped(pid, cluster.pid()) as is_stopped:
        if not is_stopped:
            return ""
        time.sleep(seconds)
    return f"server {cluster.name}, process {pid}, {seconds:.1f} s"


def stall_link(harm: Harm) -> str:
    """Let nothing through a link for a while."""
    name, seconds = harm.any_remote(), harm.duration_s()
    pid = harm.world.links[name].pid()
    if pid is None:
        raise RuntimeError(f"the link {name} has ended")
    with stopped(pid, os.getpid()):
        time.sleep(seconds)
    return f"{name}, {seconds:.1f} s"


def cut_link(harm: Harm) -> str:
    """Cut a link, whose connections are lost, for a while."""
    name, seconds = harm.any_remote(), harm.duration_s() / 2
    how = harm.rng.choice((signal.SIGTERM, signal.SIGKILL))
    link = harm.world.links[name]
    pid = link.pid()
    if pid is None:
        raise RuntimeError(f"the link {name} has ended")
    # Nobody else is given its port meanwhile.
    with reserved_ports(1):
        _end(pid, how)
        try:
            time.sleep(seconds)
        finally:
            link.start()
    return f"{name}, {how.name}, {seconds:.1f} s"


def restart_fast(harm: Harm) -> str:
    """Restart a remote server, whose sessions are ended."""
    return _restart(harm, signal.SIGINT)


def restart_immediate(harm: Harm) -> str:
    """Restart a remote server as after a crash."""
    return _restart(harm, signal.SIGQUIT)


def _restart(harm: Harm, how: signal.Signals) -> str:
    name = harm.any_remote()
    cluster = harm.world.remotes[name]
    pid = cluster.pid()
    if pid is None:
        raise RuntimeError(f"the server {name} has ended")
    with reserved_ports(1):
        _end(pid, how)
        cluster.start()
    return f"server {name}"


def exhaust_connections(harm: Harm) -> str:
    """Take all connections of a remote server, and end some of the wrappers'."""
    name, seconds = harm.any_remote(), harm.duration_s()
    with ExitStack() as stack:
        # It would not be let in later.
        connection = stack.enter_context(harm.world.monitor(name))
        pids = [pid for (pid,) in connection.execute(SESSIONS, (list(ROLES),))]
        taken = 0
        with contextlib.suppress(CannotConnectError):
            while taken < MOST_HOGS:
                stack.enter_context(harm.world.remote(name, HOG))
                taken += 1
        ended = harm.rng.sample(pids, min(len(pids), ENDED_WHILE_EXHAUSTED))
        for pid in ended:
            connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
        _take_what_is_free(harm, name, stack)
        time.sleep(seconds)
    return f"server {name}, {taken} taken, {len(ended)} ended, {seconds:.1f} s"


def _take_what_is_free(harm: Harm, name: str, stack: ExitStack) -> None:
    """Take the places of the sessions that were ended, unless they have been taken again."""
    with contextlib.suppress(CannotConnectError):
        for _ in range(ENDED_WHILE_EXHAUSTED):
            stack.enter_context(harm.world.remote(name, HOG))


FAULTS: dict[str, Fault] = {
    "terminate local session": Fault(terminate_locally, ENDED | {LOST, REFUSED}),
    "cancel local session": Fault(cancel_locally, CANCELED),
    "terminate remote session": Fault(terminate_remotely, CONNECTION_LOST | ENDED),
    "cancel remote session": Fault(cancel_remotely, CANCELED),
    "stop local session": Fault(stop_locally, NOTHING),
    "stop remote session": Fault(stop_remotely, NOTHING),
    "stall link": Fault(stall_link, NOTHING),
    "cut link": Fault(cut_link, CONNECTION_LOST),
    "restart, fast": Fault(restart_fast, RESTARTED),
    "restart, immediate": Fault(restart_immediate, RESTARTED),
    "exhaust connections": Fault(exhaust_connections, CONNECTION_LOST | ENDED | {"53300", REFUSED}),
}
