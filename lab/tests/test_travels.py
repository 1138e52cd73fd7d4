"""Everyday statements: the same answer as stock's, no more rows than they need, and never more than
through stock.

The statements are those of suite `fdw` (`lab.fdw_travels`), which counts their round trips, too.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from conftest import OUR_WRAPPER
from links import link_to

from tollfree.cluster import Cluster
from tollfree.link import Link
from tollfree.ports import LOOPBACK
from tollfree.suites.fdw.travels import MORE, QUESTIONS
from tollfree.suites.foreign import make_server, recreate_database

pytestmark = pytest.mark.cluster

STOCK = "postgres_fdw"
SOURCE = "travels_source"
SETTINGS = "-c TimeZone=Europe/Berlin -c app.tenant=7"
MORE_BYTES = 2500
"""For what our wrapper asks once."""


@dataclass(frozen=True)
class Travelled:
    """What a statement has come to, and what has crossed the link for it."""

    answer: list[str]
    rows: int
    bytes: int


class Road:
    """A local database whose foreign tables are on the source, behind a link."""

    def __init__(self, cluster: Cluster, dbname: str, link: Link) -> None:
        """Open its session."""
        self.connection = psycopg.connect(
            cluster.conninfo(dbname), autocommit=True, options=SETTINGS, prepare_threshold=None
        )
        self.link = link

    def run(self, command: str) -> Travelled:
        """Execute a statement twice, and roll it back; the second time counts."""
        self._answer(command)
        before = self._counters()
        answer = self._answer(command)
        rows, size = (b - a for a, b in zip(before, self._counters(), strict=True))
        return Travelled(answer, rows, size)

    def _answer(self, command: str) -> list[str]:
        with self.connection.transaction(force_rollback=True):
            done = self.connection.execute(command.encode())
            return sorted(map(str, done.fetchall())) if done.description else [str(done.rowcount)]

    def _counters(self) -> tuple[int, int]:
        counters = self.link.counters()
        size = int(counters["bytes_to_client"]) + int(counters["bytes_to_server"])
        return int(counters["rows_to_client"]), size


@pytest.fixture(scope="module")
def scripts(pg_instance: Cluster) -> Mapping[str, Any]:
    """The statements, and what makes their tables."""
    with pg_instance.connect() as connection:
        recreate_database(connection, "travels_scripts")
    with pg_instance.connect("travels_scripts") as connection:
        connection.execute("CREATE EXTENSION tollfree_lab")
        found = connection.execute(
            "SELECT travel, command, needed, reason FROM lab.fdw_travels ORDER BY class, travel"
        ).fetchall()
        made = connection.execute("SELECT place, script FROM lab.fdw_travel_scripts").fetchall()
    return {"statements": found, **{str(place): script for place, script in made}}


@pytest.fixture(scope="module")
def roads(pg_instance: Cluster, scripts: Mapping[str, Any]) -> Iterator[dict[str, Road]]:
    """The roads: to the source's own tables, through stock, and through our wrapper."""
    with pg_instance.connect() as connection:
        for dbname in (SOURCE, *(f"travels_{x}" for x in (STOCK, OUR_WRAPPER))):
            recreate_database(connection, dbname)
    with pg_instance.connect(SOURCE) as connection:
        connection.execute(scripts["source"])
        connection.execute("VACUUM (ANALYZE)")
        connection.execute(scripts["local"])
    with ExitStack() as stack:
        link = stack.enter_context(link_to(pg_instance, "travels", 0))
        made = {"direct": Road(pg_instance, SOURCE, link)}
        for wrapper in (STOCK, OUR_WRAPPER):
            row = {
                "wrapper": wrapper,
                "server_options": {"fetch_size": "10000"},
                "server_host": LOOPBACK,
                "server_port": link.port,
            }
            password = pg_instance.password_file.read_text("utf-8")
            with pg_instance.connect(f"travels_{wrapper}") as connection:
                make_server(connection, row, SOURCE, password)
                connection.execute(scripts["foreign"])
                connection.execute(scripts["local"])
                connection.execute("ALTER SERVER source_server OPTIONS (DROP fetch_size)")
            made[wrapper] = Road(pg_instance, f"travels_{wrapper}", link)
        for road in made.values():
            stack.callback(road.connection.close)
        yield made


def test_no_more_rows_travel_than_everyday_statements_need(
    roads: dict[str, Road], scripts: Mapping[str, Any]
) -> None:
    wrong, more, unexplained = [], [], []
    for travel, command, needed, reason in scripts["statements"]:
        expected = roads["direct"].run(command)
        stock, ours = roads[STOCK].run(command), roads[OUR_WRAPPER].run(command)
        if not expected.answer == stock.answer == ours.answer:
            wrong.append(f"{travel}: {ours.answer[:5]}, stock {stock.answer[:5]}")
        if ours.rows > max(stock.rows * MORE, stock.rows + QUESTIONS):
            wrong.append(f"{travel}: {ours.rows} rows, stock {stock.rows}")
        if ours.bytes > max(stock.bytes * MORE, stock.bytes + MORE_BYTES):
            wrong.append(f"{travel}: {ours.bytes} bytes, stock {stock.bytes}")
        least = len(expected.answer) if needed is None else needed
        if ours.rows > max(least * MORE, least + QUESTIONS):
            more.append(f"{travel}: {ours.rows} rows of {least}, stock {stock.rows}")
            if reason is None:
                unexplained.append(travel)
        elif reason is not None:
            wrong.append(f"{travel}: nothing travels for nothing, in spite of: {reason}")
    assert not wrong, "\n".join(wrong)
    assert not unexplained, "\n".join(more)
