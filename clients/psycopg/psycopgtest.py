"""psycopgtest: measures psycopg 3's ways to get at the rows of a statement.

Connections are in autocommit mode, as everywhere here: a statement is not preceded by BEGIN.
"""

from typing import Any

import psycopg

from contract import CHUNK_ROWS, PIPELINE_BATCH, Blocks, Client, Execution, Method, main

Connection = psycopg.Connection[Any]


async def connect(conninfo: str) -> Connection:
    """Return a connection."""
    return psycopg.connect(conninfo, autocommit=True)


async def close(connection: Connection) -> None:
    """Disconnect."""
    connection.close()


def _fetch(
    connection: Connection,
    execution: Execution,
    *,
    binary: bool = False,
    prepare: bool | None = None,
) -> None:
    sql = execution.sql.encode()
    execution.sent()
    rows = connection.execute(sql, prepare=prepare, binary=binary).fetchall()
    execution.all_rows()
    execution.reader.take_rows(rows)


async def normal(connection: Connection, execution: Execution) -> None:
    """The whole result as rows."""
    _fetch(connection, execution)


async def binary(connection: Connection, execution: Execution) -> None:
    """The same of a binary result."""
    _fetch(connection, execution, binary=True)


async def prepared(connection: Connection, execution: Execution) -> None:
    """The same of a statement that is prepared at its first execution."""
    _fetch(connection, execution, prepare=True)


def _stream(connection: Connection, execution: Execution, size: int) -> None:
    def arriving(rows: Any) -> Any:
        for row in rows:
            execution.first_row()
            yield row

    execution.sent()
    with connection.cursor() as cursor:
        execution.reader.take_rows(arriving(cursor.stream(execution.sql.encode(), size=size)))
    execution.all_rows()


async def single_row(connection: Connection, execution: Execution) -> None:
    """Row by row as they arrive."""
    _stream(connection, execution, 1)


async def chunked(connection: Connection, execution: Execution) -> None:
    """A thousand rows at a time as they arrive."""
    _stream(connection, execution, CHUNK_ROWS)


async def cursor(connection: Connection, execution: Execution) -> None:
    """A thousand rows at a time, on request, in the transaction that a cursor needs."""
    execution.sent()
    with connection.transaction(), connection.cursor(name="rows") as server_cursor:
        server_cursor.execute(execution.sql.encode())
        while rows := server_cursor.fetchmany(CHUNK_ROWS):
            execution.first_row()
            execution.reader.take_rows(rows)
    execution.all_rows()


async def copy(connection: Connection, execution: Execution) -> None:
    """COPY's blocks of text."""
    blocks = Blocks(execution.reader)
    execution.sent()
    with connection.cursor() as copying, copying.copy(execution.copy.encode()) as data:
        for block in data:
            execution.first_row()
            blocks.take(bytes(block))
    execution.all_rows()


async def pipeline(connection: Connection, execution: Execution) -> None:
    """Several executions sent without waiting."""
    execution.sent()
    with connection.pipeline():
        cursors = [connection.execute(execution.sql.encode()) for _ in range(execution.count)]
        for answered in cursors:
            rows = answered.fetchall()
            execution.first_row()
            execution.reader.take_rows(rows)
    execution.all_rows()


if __name__ == "__main__":
    main(
        Client(
            driver="psycopg",
            driver_version=f"{psycopg.__version__} ({psycopg.pq.__impl__},"
            f" libpq {psycopg.pq.version() // 10000}.{psycopg.pq.version() % 10000})",
            connect=connect,
            close=close,
            methods=(
                Method("normal", "rows", normal),
                Method("single-row", "nothing", single_row, letter="a", streams=True),
                Method("copy", "nothing", copy, letter="y", streams=True),
                Method("binary", "rows", binary),
                Method("prepared", "rows", prepared),
                Method("chunked", "nothing", chunked, streams=True),
                Method("cursor", "nothing", cursor, streams=True),
                Method("pipeline", "nothing", pipeline, streams=True, batch=PIPELINE_BATCH),
            ),
        )
    )
