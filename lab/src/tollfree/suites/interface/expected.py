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
    return [row["sql"] for row in store.rows("interface_statements", order="sql")]


def unexpected(store: Store, asked: Sequence[str]) -> list[str]:
    """Return the statements whose expected rows are not known."""
    known = {row["sql"] for row in store.rows("interface_expected", sql=list(asked))}
    return [statement for statement in asked if statement not in known]


def expect(store: Store, expected: Expected) -> None:
    """Store what a statement must return."""
    store.call("interface_expect", expected.sql, expected.rows, expected.bytes, expected.checksum)


def forget(store: Store, table: str) -> None:
    """Forget the expected rows of a table's statements: it will be loaded again."""
    store.call("interface_forget", table)
