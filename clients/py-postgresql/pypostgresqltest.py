"""pypostgresqltest: measures py-postgresql, a driver written in Python.

It prepares every statement. It cannot authenticate by SCRAM, the method of the lab's servers over
TCP, so that it is measured over the Unix socket only.
"""

import json
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any
from weakref import WeakKeyDictionary

import postgresql

from contract import Client, Execution, Method, main

_statements: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The statement that is kept in each connection."""


def _plain_version(connection: Any, _key: str, _value: str) -> None:
    """Take from the server's version what a packager has added, which the driver cannot read.

    Called at each setting that the server reports; the version is there when the next one comes.
    """
    settings = connection.settings.cache
    if "server_version" in settings:
        settings["server_version"] = settings["server_version"].split()[0]


async def connect(conninfo: str) -> Any:
    """Return a connection; where to is a JSON object of the driver's keyword arguments."""
    connection = postgresql.open("&", **json.loads(conninfo))()
    connection.settings.subscribe(None, _plain_version)
    connection.connect()
    return connection


async def close(connection: Any) -> None:
    """Disconnect."""
    connection.close()


async def normal(connection: Any, execution: Execution) -> None:
    """The whole result as rows."""
    execution.sent()
    rows = connection.prepare(execution.sql)()
    execution.all_rows()
    execution.reader.take_rows(rows)


def _chunks(statement: Any, execution: Execution) -> Iterable[Any]:
    for chunk in statement.chunks():
        execution.first_row()
        yield chunk


async def chunked(connection: Any, execution: Execution) -> None:
    """Some rows at a time, as many as the driver likes."""
    execution.sent()
    for rows in _chunks(connection.prepare(execution.sql), execution):
        execution.reader.take_rows(rows)
    execution.all_rows()


async def copy(connection: Any, execution: Execution) -> None:
    """COPY's lines of text."""
    execution.sent()
    for lines in _chunks(connection.prepare(execution.copy), execution):
        execution.reader.take_lines(lines)
    execution.all_rows()


async def prepared(connection: Any, execution: Execution) -> None:
    """A statement that is prepared at its first execution and kept."""
    execution.sent()
    if connection not in _statements:
        _statements[connection] = connection.prepare(execution.sql)
    rows = _statements[connection]()
    execution.all_rows()
    execution.reader.take_rows(rows)


if __name__ == "__main__":
    main(
        Client(
            driver="py-postgresql",
            driver_version=version("py-postgresql"),
            connect=connect,
            close=close,
            methods=(
                Method("normal", "rows", normal),
                Method("chunked", "nothing", chunked, letter="a", streams=True),
                Method("copy", "nothing", copy, letter="y", streams=True),
                Method("prepared", "rows", prepared),
            ),
        )
    )
