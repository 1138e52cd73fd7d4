"""What the statements of the run in progress must return, as the lab's database keeps it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tollfree.store import Store


@dataclass(frozen=True)
class Expected:
    """What a client must get of a statement."""

    sql: str
    rows: int
    bytes: int
    checksum: str


def statements(store: Store) -> list[str]:
    """Return the statements that the run in progress has cases for."""
    rows = store.table(
        "SELECT DISTINCT s.sql FROM lab.runs JOIN lab.run_cases c USING (run_id)"
        " JOIN lab.sqlstratiter s ON s.sqlstratiterdesc = c.dims->>'strategy'"
        " WHERE suite = 'interface' AND state = 'running' ORDER BY s.sql"
    )
    return [row["sql"] for row in rows]


def unexpected(store: Store, asked: Sequence[str]) -> list[str]:
    """Return those of the statements of which it is not known what they must return."""
    rows = store.table(
        "SELECT s AS sql FROM unnest(%s::text[]) AS s"
        " WHERE NOT EXISTS (SELECT FROM lab.interface_expected WHERE sql = s)",
        list(asked),
    )
    return [row["sql"] for row in rows]


def expect(store: Store, expected: Expected) -> None:
    """Store what a statement must return."""
    store.connection.execute(
        "INSERT INTO lab.interface_expected (sql, rows, bytes, checksum) VALUES (%s, %s, %s, %s)",
        (expected.sql, expected.rows, expected.bytes, expected.checksum),
    )


def forget(store: Store, table: str) -> None:
    """Forget what statements about a table must return: it is to be loaded anew."""
    store.connection.execute(
        "DELETE FROM lab.interface_expected WHERE sql ~ ('\\m' || %s || '\\M')", (table,)
    )
