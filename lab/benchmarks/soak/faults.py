"""Which faults there have been, and whether one of them explains an error."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

EXPLAINS_S = 120.0
"""How long after a fault a session may meet it: at its next use of the connection."""
LOST = "lost"
"""In place of an SQLSTATE: the server has closed the connection without saying why."""
REFUSED = "refused"
"""In place of an SQLSTATE: no connection could be made."""
UNAVOIDABLE = frozenset({"40001", "40P01"})
"""Sessions that change the same rows, or use tables that are being moved, get these by
themselves."""


@dataclass
class Event:
    """A fault that has happened, or is happening."""

    name: str
    states: frozenset[str]
    """The SQLSTATEs of the errors that it explains."""
    began_s: float
    ended_s: float | None = None
    text: str = ""
    """Whom it met, and for how long."""

    def __str__(self) -> str:
        return f"{self.name} ({self.text})" if self.text else self.name


class FaultLog:
    """The faults of a soak, in their order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._lock = threading.Lock()

    @contextmanager
    def event(self, name: str, states: frozenset[str]) -> Iterator[Event]:
        """Note a fault that lasts as long as the context."""
        event = Event(name, states, time.monotonic())
        with self._lock:
            self.events.append(event)
        try:
            yield event
        finally:
            event.ended_s = time.monotonic()

    def explains(self, state: str, now_s: float | None = None) -> bool:
        """Return whether an error of that SQLSTATE, at that time, is one that a fault can give, or
        one that is nobody's fault."""
        if state in UNAVOIDABLE:
            return True
        now_s = time.monotonic() if now_s is None else now_s
        with self._lock:
            events = list(self.events)
        for event in reversed(events):
            if event.ended_s is not None and event.ended_s < now_s - EXPLAINS_S:
                return False
            if state in event.states:
                return True
        return False

    def last(self, count: int) -> list[str]:
        """Return the last faults in words, the latest last."""
        with self._lock:
            return list(map(str, self.events[-count:]))
