"""What the documents say of Citus, where the PostgreSQL in use has it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from pages import FOLDER, executed, normalised, steps

from tollfree.cluster import Cluster
from tollfree.paths import CHECKOUT
from tollfree.ports import reserved_ports
from tollfree.postgres import Installation
from tollfree.privileges import ServerUser
from tollfree.stage import Stage
from tollfree.suites.citus import SETTINGS

pytestmark = pytest.mark.cluster

PAGE = CHECKOUT / "docs" / "howto" / "text-files-under-citus.md"
DATABASE = "postgres"
ROWS = 700
"""Of each file."""


@pytest.fixture
def nodes(stage: Stage, home: Path, user: ServerUser) -> Iterator[list[Cluster]]:
    """A coordinator and two workers, with Citus in their database."""
    if not (stage.sharedir / "extension" / "citus.control").exists():
        pytest.skip("the extension citus is not installed in this PostgreSQL")
    sockets = home / "run"
    settings = SETTINGS | {"citus.local_hostname": f"'{sockets}'"}
    with ExitStack() as stack:
        found = []
        with reserved_ports(3) as ports:
            for n, port in enumerate(ports):
                folder = home / f"citus_{n}"
                node = Cluster(f"citus_{n}", folder, sockets, port, stage, user, settings=settings)
                node.make("unused")
                node.start()
                stack.callback(node.stop)
                found.append(node)
        for node in found:
            with node.connect() as connection:
                connection.execute("CREATE EXTENSION citus")
        with found[0].connect() as connection:
            connection.execute(
                "SELECT citus_set_coordinator_host(%s, %s)", (str(sockets), found[0].port)
            )
            for worker in found[1:]:
                connection.execute("SELECT citus_add_node(%s, %s)", (str(sockets), worker.port))
        yield found


def make_files(coordinator: Cluster, folder: Path) -> int:
    """Give each shard a file of its name; return how many there are."""
    with coordinator.connect() as connection:
        shards = connection.execute("SELECT shardid FROM pg_dist_shard").fetchall()
    lines = "".join(f"2026-01-01,{i % 7},{i / 4:.2f}\n" for i in range(ROWS))
    for (shard,) in shards:
        coordinator.user.write_text(folder / f"readings_{shard}.csv", lines)
    return len(shards)


def test_text_files_are_the_shards_of_a_table(
    nodes: list[Cluster], installation: Installation, user: ServerUser
) -> None:
    coordinator = nodes[0]
    folder = coordinator.folder / "files"
    user.make_folder(folder)
    *first, last = steps(PAGE.read_text(encoding="utf-8"))
    files = 0
    for step in first:
        if "CREATE FOREIGN TABLE" in step.text:
            files = make_files(coordinator, folder)
        sql = step.text.replace(FOLDER, str(folder))
        printed = executed(sql, coordinator, DATABASE, installation)
        if step.shown is not None:
            assert normalised(printed) == normalised(step.shown), printed
    assert "scan, aggregate" in printed
    with coordinator.connect() as connection:
        check_table(connection, files)
    executed(last.text, coordinator, DATABASE, installation)
    assert len(list(folder.iterdir())) == files


def check_table(connection: psycopg.Connection[tuple[object, ...]], files: int) -> None:
    """Ask what the page says of the table."""
    assert files == 2
    assert connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE sensor = 3), sum(value) FROM readings"
    ).fetchall() == [(files * ROWS, files * ROWS // 7, files * sum(range(ROWS)) / 4)]
    connection.execute("CREATE TABLE names AS SELECT n AS sensor FROM generate_series(0, 3) n")
    connection.execute("SELECT create_reference_table('names')")
    assert connection.execute("SELECT count(*) FROM readings JOIN names USING (sensor)").fetchone()
    for refused in (
        "INSERT INTO readings VALUES ('2026-01-01', 1, 1)",
        "UPDATE readings SET value = 1",
        "TRUNCATE readings",
        "CREATE INDEX ON readings (day)",
        "SELECT count(*) FROM readings a JOIN readings b USING (day, sensor, value)",
        "DROP TABLE readings",
    ):
        with pytest.raises(psycopg.Error):
            connection.execute(refused)
    connection.execute("ANALYZE readings")
    assert connection.execute(
        "SELECT bool_and(success) FROM run_command_on_shards('readings', 'ANALYZE %s')"
    ).fetchone() == (True,)
    assert connection.execute(
        "SELECT reltuples FROM pg_class WHERE oid = 'readings'::regclass"
    ).fetchone() in ((-1,), (0,))
