"""A worker: a local session in a thread of its own that carries out drawn operations.

An error that a fault explains is counted, and the worker goes on, in a new session if this one is
lost. Any other error, and any value that is not the known one, is a finding, with which the soak
ends.
"""

import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import pq

from soak.expected import Change, Expected
from soak.faults import LOST, REFUSED, FaultLog
from soak.gate import Gate
from soak.processes import Descriptors, descriptors
from soak.world import REMOTES, SERVERS, CannotConnectError, World

STATEMENT_LIMIT_S = 90
"""Longer than all stalls together: what takes so long hangs."""
AFTER_ERROR_S = 0.05
PREPARE_AFTER = 5
"""Executions after which the driver prepares a statement, for every second worker."""
LONGEST_SHOWN = 300

Rows = Sequence[tuple[object, ...]]
Row = tuple[object, ...]


class WrongError(Exception):
    """A value is not the known one, or something failed that nothing explains."""


@dataclass(frozen=True)
class Operation:
    """Something that a worker does, and how often it is drawn beside the others."""

    carry_out: Callable[["Worker"], None]
    weight: int


def state_of(error: psycopg.Error) -> str:
    """Return the SQLSTATE of an error, or what stands in its place."""
    if isinstance(error, CannotConnectError):
        return REFUSED
    return error.sqlstate or LOST


class Worker(threading.Thread):
    """One worker. Owns its session from its making until `close`.

    `pid` is the session's process, `opened` what it had open before it did anything.
    """

    def __init__(
        self,
        number: int,
        world: World,
        operations: Mapping[str, Operation],
        gate: Gate,
        faults: FaultLog,
        findings: list[str],
        seed: str,
        *,
        is_steady: bool,
    ) -> None:
        """Connect. A steady one's session is not to be ended, and lives as long as the soak."""
        super().__init__(name=f"worker {number}", daemon=True)
        self.number = number
        self.world = world
        self.is_steady = is_steady
        self.rng = random.Random(f"{seed} {self.name}")
        self.expected = {remote: Expected() for remote in REMOTES}
        self.done: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.doing, self.since_s = "nothing", time.monotonic()
        self._operations = operations
        self._gate = gate
        self._faults = faults
        self._findings = findings
        self._connect()

    def run(self) -> None:
        """Carry out operations until the gate ends that, or something is wrong."""
        names = list(self._operations)
        weights = [operation.weight for operation in self._operations.values()]
        try:
            while self._gate.pass_through():
                self._carry_out(self.rng.choices(names, weights)[0])
        except WrongError as error:
            self._findings.append(f"{self.name}, {self.doing}: {error}")
        except Exception:  # a defect of the soak itself is a finding, too
            self._findings.append(f"{self.name}, {self.doing}: {traceback.format_exc()}")
        finally:
            self._gate.leave()

    def close(self) -> None:
        """End the session."""
        self.session.close()

    @property
    def is_connected(self) -> bool:
        """Whether the session lives, as far as is known."""
        return not self.session.closed

    def any_server(self) -> str:
        """Return a drawn foreign server."""
        return self.rng.choice(list(SERVERS))

    def execute(
        self, query: str, parameters: Sequence[object] = (), *, prepare: bool | None = None
    ) -> psycopg.Cursor[Row]:
        """Execute a statement; `prepare` False leaves it unprepared."""
        return self.session.execute(query, parameters or None, prepare=prepare)

    def expect(
        self,
        wanted: Rows,
        query: str,
        parameters: Sequence[object] = (),
        *,
        prepare: bool | None = None,
    ) -> None:
        """Execute a query; raises `WrongError` unless it returns these rows."""
        found = self.execute(query, parameters, prepare=prepare).fetchall()
        if found != list(wanted):
            raise WrongError(
                f"{query} with {list(parameters)} returned {shown(found)} instead of"
                f" {shown(wanted)}"
            )

    def expect_error(
        self, states: Sequence[str], query: str, parameters: Sequence[object] = ()
    ) -> None:
        """Execute a statement; raises `WrongError` if it succeeds, and the error itself unless it
        is one of these."""
        try:
            self.execute(query, parameters)
        except psycopg.Error as error:
            if error.sqlstate not in states:
                raise
        else:
            raise WrongError(f"{query} with {list(parameters)} did not fail")

    @contextmanager
    def risking(self, changes: Mapping[str, Change]) -> Iterator[None]:
        """Have the changes of the command inside, which commits them, expected on these remote
        servers: in doubt if it fails."""
        for remote, change in changes.items():
            self.expected[remote].risk(change)
        yield
        for remote, change in changes.items():
            self.expected[remote].settle(change)

    def commit(self, changes: Mapping[str, Change]) -> None:
        """Commit the transaction that has made these changes."""
        with self.risking(changes):
            tag = self.execute("COMMIT", prepare=False).statusmessage
            if tag != "COMMIT":
                raise WrongError(f"COMMIT has returned {tag}")

    def explains(self, error: psycopg.Error) -> bool:
        """Return whether a fault explains an error."""
        has_hung = "due to statement timeout" in str(error)
        return not has_hung and self._faults.explains(state_of(error))

    def _connect(self) -> None:
        self.session = self.world.session(f"soak {self.name}")
        self.session.prepare_threshold = PREPARE_AFTER if self.number % 2 else None
        # Asked here, for others may ask while the session is being lost.
        self.pid = self.session.info.backend_pid
        self.opened: Descriptors = descriptors(self.pid)
        self.execute(f"SET statement_timeout = '{STATEMENT_LIMIT_S}s'")

    def _carry_out(self, name: str) -> None:
        self.doing, self.since_s = name, time.monotonic()
        try:
            if self.session.closed:
                self._connect()
            self._operations[name].carry_out(self)
            self.done[name] += 1
        except psycopg.Error as error:
            self._count(error)
            self._roll_back()
            time.sleep(AFTER_ERROR_S)
        except (FileNotFoundError, ProcessLookupError):
            # The session was ended as soon as it was there.
            self.session.close()

    def _count(self, error: psycopg.Error) -> None:
        """Count an error; raises `WrongError` unless a fault explains it."""
        state = state_of(error)
        self.errors[state] += 1
        if not self.explains(error):
            raise WrongError(f"{state} {error}") from error

    def _roll_back(self) -> None:
        """Bring the session to where it has no transaction, or close it."""
        if self.session.closed:
            return
        try:
            if self.session.info.transaction_status is not pq.TransactionStatus.IDLE:
                self.execute("ROLLBACK", prepare=False)
        except psycopg.Error as error:
            self._count(error)
            self.session.close()


def shown(rows: Rows) -> str:
    """Return rows as a message can show them."""
    text = str(list(rows))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}... ({len(rows)} rows)"
