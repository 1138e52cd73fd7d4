"""asyncpgtest: measures asyncpg's ways to get at the rows of a statement.

asyncpg prepares every statement, keeps it, and takes results in binary form.
"""

import asyncio
from typing import Any

import asyncpg

from contract import CHUNK_ROWS, Blocks, Client, Execution, Method, main


async def connect(conninfo: str) -> Any:
    """Return a connection."""
    return await asyncpg.connect(conninfo)


async def close(connection: Any) -> None:
    """Disconnect."""
    await connection.close()


async def normal(connection: Any, execution: Execution) -> None:
    """The whole result as records."""
    execution.sent()
    rows = await connection.fetch(execution.sql)
    execution.all_rows()
    execution.reader.take_rows(rows)


async def cursor(connection: Any, execution: Execution) -> None:
    """A thousand rows at a time, on request, in the transaction that a cursor needs."""
    execution.sent()
    async with connection.transaction():
        server_cursor = await connection.cursor(execution.sql)
        while rows := await server_cursor.fetch(CHUNK_ROWS):
            execution.first_row()
            execution.reader.take_rows(rows)
    execution.all_rows()


async def copy(connection: Any, execution: Execution) -> None:
    """COPY's blocks of text."""
    blocks = Blocks(execution.reader)

    async def take(block: bytes) -> None:
        execution.first_row()
        blocks.take(block)

    execution.sent()
    await connection.copy_from_query(execution.sql, output=take)
    execution.all_rows()


if __name__ == "__main__":
    main(
        Client(
            driver="asyncpg",
            driver_version=asyncpg.__version__,
            connect=connect,
            close=close,
            methods=(
                Method("normal", "rows", normal),
                Method("cursor", "nothing", cursor, letter="a", streams=True),
                Method("copy", "nothing", copy, letter="y", streams=True),
            ),
            run=asyncio.run,
        )
    )
