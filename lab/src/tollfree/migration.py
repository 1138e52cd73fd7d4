"""Results from one build of the lab's database to the next.

Cases, views and functions belong to a build; results and what a person added belong to the user.
So an upgrade copies these to a schema `lab_<n>`, creates the extension again and inserts the rows:
columns by their names, since builds add some. Rows that cannot be inserted stay in their schema,
and the next upgrade tries again.
"""

import logging
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.rows import scalar_row

from tollfree.errors import LabStateError

Connection = psycopg.Connection[Any]

LOG = logging.getLogger("tollfree")

RESULTS = ("runs", "run_cases", "testresults")
SUITE_SCHEMAS = "suite_"
"""What the names of the schemas begin with that further suites have; scripts make them anew."""
FURTHER = ("custom_cases", "file_sizes")
"""What a person wrote, and what is known of data that are still there."""


def set_aside(connection: Connection) -> None:
    """Copy what belongs to the user from the schema `lab` to a new one, and drop the extension.

    Raises `LabStateError` where something of the user's depends on it.
    """
    taken = [int(name.removeprefix("lab_")) for name in _set_aside_schemas(connection)]
    schema = f"lab_{max(taken, default=0) + 1}"
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    for table in (*RESULTS, *FURTHER):
        if _columns(connection, "lab", table):
            connection.execute(
                sql.SQL("CREATE TABLE {} AS TABLE {}").format(
                    sql.Identifier(schema, table), sql.Identifier("lab", table)
                )
            )
    for schema in _schemas_like(connection, f"^{SUITE_SCHEMAS}"):
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))
    try:
        connection.execute("DROP EXTENSION tollfree_lab; DROP SCHEMA IF EXISTS lab")
    except psycopg.errors.DependentObjectsStillExist as error:
        raise LabStateError(
            "this version makes the lab's schema anew, on which something of yours depends",
            "With the version before, keep its definition and drop it; then come again.",
            detail=error.diag.message_detail or "",
        ) from error


def take_in(connection: Connection) -> None:
    """Move the rows of every schema that was set aside to the schema `lab`, the newest first.

    Runs keep their numbers unless one of them is taken; then all of that schema get new ones.
    """
    for schema in _set_aside_schemas(connection):
        try:
            with connection.transaction():
                _take_in(connection, schema)
        except psycopg.DatabaseError as error:
            LOG.warning(
                "results of an earlier build of the lab stay in its schema %s: %s", schema, error
            )


def _take_in(connection: Connection, schema: str) -> None:
    is_taken = connection.execute(
        sql.SQL("SELECT FROM {} JOIN lab.runs USING (run_id)").format(
            sql.Identifier(schema, "runs")
        )
    ).fetchone()
    (highest,) = _column(connection, "SELECT coalesce(max(run_id), 0) FROM lab.runs")
    shift = highest if is_taken is not None else 0
    run_id = sql.SQL("run_id + {}").format(sql.Literal(shift))
    _keep_suites(connection, schema)
    _copy(connection, schema, "runs", {"run_id": run_id, "migrated": sql.SQL("true")})
    _copy(connection, schema, "run_cases", {"run_id": run_id}, {"seconds": sql.SQL("0")})
    _copy(connection, schema, "testresults", {"run_id": run_id})
    for table in FURTHER:
        _copy(connection, schema, table, {})
    connection.execute(
        "SELECT setval(pg_get_serial_sequence('lab.runs', 'run_id'), max(run_id))"
        " FROM lab.runs HAVING count(*) > 0"
    )
    connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))


def _keep_suites(connection: Connection, schema: str) -> None:
    """Have rows for suites and profiles of the schema's runs that the lab no longer has, or that a
    folder has that is not named now: nothing is run of them."""
    for statement in (
        "INSERT INTO lab.suites (suite, title) SELECT DISTINCT suite, suite FROM {}"
        " ON CONFLICT DO NOTHING",
        "INSERT INTO lab.profiles (suite, profile, rounds, seconds, scale)"
        " SELECT DISTINCT suite, profile, 1, 1, 1 FROM {} ON CONFLICT DO NOTHING",
    ):
        connection.execute(sql.SQL(statement).format(sql.Identifier(schema, "runs")))


def _copy(
    connection: Connection,
    schema: str,
    table: str,
    values: dict[str, sql.Composable],
    defaults: dict[str, sql.Composable] | None = None,
) -> None:
    """Insert the rows of a table, with `values` in place of what they have, and with `defaults` in
    columns that their build did not have. Of a table without run_id rows that are there stay."""
    found = _columns(connection, schema, table)
    if not found:
        return
    known = (defaults or {}) | {name: sql.Identifier(name) for name in found} | values
    columns = [name for name in _columns(connection, "lab", table) if name in known]
    connection.execute(
        sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {} {}").format(
            sql.Identifier("lab", table),
            sql.SQL(", ").join(map(sql.Identifier, columns)),
            sql.SQL(", ").join(known[name] for name in columns),
            sql.Identifier(schema, table),
            sql.SQL("" if "run_id" in known else "ON CONFLICT DO NOTHING"),
        )
    )


def _set_aside_schemas(connection: Connection) -> list[str]:
    """Return the schemas, the newest first."""
    found = _schemas_like(connection, "^lab_[0-9]+$")
    return sorted(found, key=lambda name: int(name.removeprefix("lab_")), reverse=True)


def _schemas_like(connection: Connection, pattern: str) -> list[str]:
    return _column(connection, "SELECT nspname FROM pg_namespace WHERE nspname ~ %s", pattern)


def _columns(connection: Connection, schema: str, table: str) -> list[str]:
    """Return the columns of a table, none if there is no such table."""
    return _column(
        connection,
        "SELECT attname FROM pg_attribute"
        " WHERE attrelid = to_regclass(format('%%I.%%I', %s::text, %s::text))"
        " AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        schema,
        table,
    )


def _column(connection: Connection, query: LiteralString, *parameters: object) -> list[Any]:
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(query, parameters).fetchall()
