"""One side of the comparison: sends a statement and keeps all that the server answers.

It works on libpq's own results, in text format, because a driver's conversions would hide
differences. It never waits for ever: a side that has not answered by `ANSWER_LIMIT_S` is lost, as
is one whose server closes the connection.
"""

import contextlib
import select
import time
from dataclasses import dataclass

from psycopg import OperationalError, pq

ANSWER_LIMIT_S = 60.0

REPORT_FIELDS = (
    pq.DiagnosticField.SEVERITY_NONLOCALIZED,
    pq.DiagnosticField.SQLSTATE,
    pq.DiagnosticField.MESSAGE_PRIMARY,
    pq.DiagnosticField.MESSAGE_DETAIL,
    pq.DiagnosticField.MESSAGE_HINT,
    pq.DiagnosticField.CONTEXT,
    pq.DiagnosticField.SCHEMA_NAME,
    pq.DiagnosticField.TABLE_NAME,
    pq.DiagnosticField.COLUMN_NAME,
    pq.DiagnosticField.DATATYPE_NAME,
    pq.DiagnosticField.CONSTRAINT_NAME,
)
"""What of an error or a notice is compared."""

Row = tuple[bytes | None, ...]


@dataclass(frozen=True)
class Report:
    """An error or a notice: its fields, by name, without those that are not set."""

    fields: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "; ".join(f"{name}: {value}" for name, value in self.fields)


@dataclass(frozen=True)
class Result:
    """What one command of a statement came to."""

    tag: str
    """The command tag, with the row count; the status's name when there is none."""
    columns: tuple[tuple[str, str, int], ...] = ()
    """Name, type and type modifier."""
    rows: tuple[Row, ...] = ()
    error: Report | None = None


@dataclass(frozen=True)
class Outcome:
    """What one statement came to on one side."""

    results: tuple[Result, ...]
    notices: tuple[Report, ...] = ()
    lost: str = ""
    """Why the connection cannot be used any more."""


class Side:
    """A session on one side. Owns its connection; `close` ends it."""

    def __init__(self, conninfo: str, types: dict[int, str]) -> None:
        """Connect. `types` has the names of the database's types by their object identifier,
        which the two sides need not share."""
        self._types = types
        self._notices: list[Report] = []
        self._data = ""
        self._connection = pq.PGconn.connect(conninfo.encode())
        if self._connection.status != pq.ConnStatus.OK:
            raise ConnectionError(self._connection.get_error_message())
        self._connection.notice_handler = lambda notice: self._notices.append(_report(notice))

    def send(self, statement: str) -> None:
        """Send `statement`, together with its data when it is a COPY FROM STDIN."""
        self._notices.clear()
        command, data = _split_copy(statement)
        self._data = data
        if self._connection.status == pq.ConnStatus.OK:
            self._connection.send_query(command.encode())

    def receive(self) -> Outcome:
        """Wait for the answer to what was sent last, and return it."""
        results: list[Result] = []
        try:
            while (answer := self._next_answer()) is not None:
                results.append(self._result(answer))
        except (TimeoutError, OperationalError) as error:
            self._connection.finish()
            return Outcome(tuple(results), tuple(self._notices), str(error))
        lost = ""
        if self._connection.status != pq.ConnStatus.OK:
            lost = self._connection.get_error_message() or "the connection is closed"
        return Outcome(tuple(results), tuple(self._notices), lost)

    def cancel(self) -> None:
        """Ask the server to cancel what was sent last."""
        self._connection.get_cancel().cancel()

    def is_usable(self) -> bool:
        """Return whether the connection was open at the last answer and is not closed since."""
        if self._connection.status == pq.ConnStatus.OK and self._readable(0):
            with contextlib.suppress(OperationalError):
                self._connection.consume_input()
        return self._connection.status == pq.ConnStatus.OK

    def close(self) -> None:
        """End the session, whatever state it is in."""
        if self._connection.status == pq.ConnStatus.OK:
            self._connection.finish()

    def _next_answer(self) -> pq.abc.PGresult | None:
        if self._connection.status != pq.ConnStatus.OK:
            return None
        deadline = time.monotonic() + ANSWER_LIMIT_S
        self._connection.flush()
        while self._connection.is_busy():
            if not self._readable(deadline - time.monotonic()):
                raise TimeoutError(f"no answer within {ANSWER_LIMIT_S:g} s")
            self._connection.consume_input()
        return self._connection.get_result()

    def _readable(self, limit_s: float) -> bool:
        return bool(select.select([self._connection.socket], [], [], max(0.0, limit_s))[0])

    def _result(self, answer: pq.abc.PGresult) -> Result:
        status = pq.ExecStatus(answer.status)
        if status == pq.ExecStatus.COPY_IN:
            if self._data:
                self._connection.put_copy_data(self._data.encode())
            self._connection.put_copy_end()
            return Result(status.name)
        if status == pq.ExecStatus.COPY_OUT:
            return Result(status.name, rows=self._copied())
        if status == pq.ExecStatus.FATAL_ERROR:
            return Result(status.name, error=_report(answer))
        columns = tuple(self._column(answer, i) for i in range(answer.nfields))
        rows = tuple(
            tuple(answer.get_value(row, column) for column in range(answer.nfields))
            for row in range(answer.ntuples)
        )
        return Result((answer.command_status or status.name.encode()).decode(), columns, rows)

    def _copied(self) -> tuple[Row, ...]:
        rows: list[Row] = []
        while True:
            size, data = self._connection.get_copy_data(0)
            if size < 0:
                return tuple(rows)
            rows.append((bytes(data),))

    def _column(self, answer: pq.abc.PGresult, number: int) -> tuple[str, str, int]:
        name = (answer.fname(number) or b"").decode(errors="replace")
        oid = answer.ftype(number)
        return name, self._types.get(oid, "a type of the session"), answer.fmod(number)


def _split_copy(statement: str) -> tuple[str, str]:
    """Return command and data; the data begin on the line after COPY FROM STDIN."""
    if not statement.startswith("COPY ") or "FROM STDIN" not in statement:
        return statement, ""
    command, _, data = statement.partition("\n")
    return command, data and data + "\n"


def _report(answer: pq.abc.PGresult) -> Report:
    found = ((field.name, answer.error_field(field)) for field in REPORT_FIELDS)
    return Report(tuple((name, value.decode(errors="replace")) for name, value in found if value))
