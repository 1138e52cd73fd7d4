"""Holds all workers between two operations while is checked, and ends them."""

import threading


class Gate:
    """A gate that each worker passes before each operation. It is closed at first."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._waiting = 0
        self._is_open = self._is_ended = False
        self._changed = threading.Condition()

    def pass_through(self) -> bool:
        """Wait while the gate is closed; return False when the worker is to end."""
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_open or self._is_ended)
            self._waiting -= 1
            return not self._is_ended

    def leave(self) -> None:
        """A worker has ended, for whatever reason, and is not waited for any more."""
        with self._changed:
            self._workers -= 1
            self._changed.notify_all()

    def open(self) -> None:
        """Let all workers pass from now on."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()

    def close(self, limit_s: float) -> bool:
        """Close the gate and wait until all workers have come to it; return whether they have."""
        with self._changed:
            self._is_open = False
            return self._changed.wait_for(lambda: self._waiting >= self._workers, limit_s)

    def end(self) -> None:
        """Have every worker end when it comes to the gate."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
