"""The metrics for Prometheus in the documents: their query runs, and has what they name."""

import re
from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest
from conftest import OUR_WRAPPER

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.paths import CHECKOUT
from tollfree.suites.foreign import recreate_database

HOWTO = CHECKOUT / "docs" / "howto"
TEXT = (HOWTO / "tollfree-metrics.yaml").read_text(encoding="utf-8")
METRIC = re.compile(r'^    - (\w+): \{usage: "(LABEL|COUNTER)", description: "[^"{}]+"\}$', re.M)
DATABASE = "monitored"


def query() -> str:
    """Return the block that is indented below `query: |`."""
    match = re.search(r"^  query: \|\n((?:    .*\n)+)", TEXT, re.MULTILINE)
    assert match
    return match[1]


def test_every_line_of_a_metric_is_of_a_form_that_is_read() -> None:
    listed = TEXT[TEXT.index("  metrics:\n") :].splitlines()[1:]
    assert len(METRIC.findall(TEXT)) == len(listed)


def test_the_page_names_metrics_that_there_are() -> None:
    page = (HOWTO / "monitoring.md").read_text(encoding="utf-8")
    used = set(re.findall(r"pg_stat_tollfree_postgres_fdw_(\w+)\[", page))
    assert used
    assert used <= {name for name, usage in METRIC.findall(TEXT) if usage == "COUNTER"}


@pytest.fixture
def monitor(pg_instance: Cluster) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A user without rights, in a database in which a foreign table has been read."""
    with pg_instance.connect() as connection:
        recreate_database(connection, DATABASE)
    place = f"host '{pg_instance.socket_folder}', port '{pg_instance.port}', dbname '{DATABASE}'"
    with pg_instance.connect(DATABASE) as connection:
        connection.execute(f"""
            CREATE EXTENSION {OUR_WRAPPER} CASCADE;
            CREATE SERVER far FOREIGN DATA WRAPPER {OUR_WRAPPER} OPTIONS ({place});
            CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (user '{SUPERUSER}');
            CREATE TABLE items AS SELECT generate_series(1, 30) AS id;
            CREATE FOREIGN TABLE far_items (id int) SERVER far OPTIONS (table_name 'items');
            CREATE ROLE monitor
        """)
        connection.execute("SELECT count(id + random()) FROM far_items")
        connection.execute("SET ROLE monitor")
        yield connection
        connection.execute("RESET ROLE; DROP ROLE monitor")
    with pg_instance.connect() as connection:
        connection.execute(f"DROP DATABASE {DATABASE}")


@pytest.mark.cluster
def test_the_query_has_what_the_metrics_name(
    monitor: psycopg.Connection[tuple[object, ...]],
) -> None:
    cursor = monitor.execute(query().encode())
    assert cursor.description
    named = METRIC.findall(TEXT)
    assert [column.name for column in cursor.description] == [name for name, _ in named]
    (row,) = cursor.fetchall()
    found = dict(zip((name for name, _ in named), row, strict=True))
    assert (found["datname"], found["server_name"]) == (DATABASE, "far")
    assert found["user_name"] == SUPERUSER
    assert found["rows"] == 30
    for name, usage in named:
        wanted = str if usage == "LABEL" else (int, Decimal, type(None))
        assert isinstance(found[name], wanted), name
