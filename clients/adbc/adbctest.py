"""adbctest: measures the ADBC driver for PostgreSQL.

The driver lets COPY send the rows in binary form and makes Arrow columns of them. To read an Arrow
column is to let a kernel go over it.
"""

from importlib.metadata import version
from typing import Any

import adbc_driver_postgresql
import pyarrow
import pyarrow.compute
from adbc_driver_postgresql import dbapi

from contract import Client, Execution, Method, main


async def connect(conninfo: str) -> Any:
    """Return a connection."""
    return dbapi.connect(conninfo, autocommit=True)


async def close(connection: Any) -> None:
    """Disconnect."""
    connection.close()


def _take_columns(execution: Execution, table: Any) -> None:
    """Take a table or batch, column by column where nobody needs its rows."""
    reader = execution.reader
    if reader.wants_text:
        reader.take_rows(zip(*(column.to_pylist() for column in table.columns), strict=True))
        return
    for column in table.columns:
        if pyarrow.types.is_integer(column.type):
            reader.seen += pyarrow.compute.max(column).as_py() or 0
        else:
            reader.seen += pyarrow.compute.sum(pyarrow.compute.binary_length(column)).as_py() or 0
    reader.rows += table.num_rows


async def normal(connection: Any, execution: Execution) -> None:
    """The whole result as an Arrow table."""
    execution.sent()
    with connection.cursor() as cursor:
        cursor.execute(execution.sql)
        table = cursor.fetch_arrow_table()
        execution.all_rows()
        _take_columns(execution, table)


async def batches(connection: Any, execution: Execution) -> None:
    """Arrow batches as they arrive."""
    execution.sent()
    with connection.cursor() as cursor:
        cursor.execute(execution.sql)
        for batch in cursor.fetch_record_batch():
            execution.first_row()
            _take_columns(execution, batch)
    execution.all_rows()


async def rows(connection: Any, execution: Execution) -> None:
    """The whole result as Python's rows."""
    execution.sent()
    with connection.cursor() as cursor:
        cursor.execute(execution.sql)
        fetched = cursor.fetchall()
        execution.all_rows()
        execution.reader.take_rows(fetched)


async def no_copy(connection: Any, execution: Execution) -> None:
    """An Arrow table of a result that does not come by COPY."""
    execution.sent()
    with connection.cursor() as cursor:
        option = adbc_driver_postgresql.StatementOptions.USE_COPY.value
        cursor.adbc_statement.set_options(**{option: "false"})
        cursor.execute(execution.sql)
        table = cursor.fetch_arrow_table()
        execution.all_rows()
        _take_columns(execution, table)


if __name__ == "__main__":
    main(
        Client(
            driver="adbc-driver-postgresql",
            driver_version=version("adbc-driver-postgresql"),
            connect=connect,
            close=close,
            methods=(
                Method("normal", "arrow", normal),
                Method("batches", "nothing", batches, letter="a", streams=True),
                Method("rows", "rows", rows),
                Method("no-copy", "arrow", no_copy),
            ),
        )
    )
