"""A table of ten thousand files: it can be read, and in the memory that its plan needs."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import start_anew
from filediff.statements import PARALLEL

from tollfree.cluster import NO_PORT, Cluster
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

FILES, GROUPS, ROWS = 10_000, 100, 5
MOST_MB = 32
"""What executing a query may add to the peak that planning it and starting its nodes has left."""

# Partitions of partitions, since each partition costs what its table has of them already.
OBJECTS = """
CREATE EXTENSION {wrapper} CASCADE;
CREATE SERVER files FOREIGN DATA WRAPPER {wrapper};
CREATE TABLE t (part integer, n integer, x text) PARTITION BY RANGE (part);
DO $$
BEGIN
    FOR g IN 0..{groups} - 1 LOOP
        EXECUTE format('CREATE TABLE g%s PARTITION OF t FOR VALUES FROM (%s) TO (%s)'
                       ' PARTITION BY LIST (part)', g, g * {each}, (g + 1) * {each});
        FOR i IN g * {each}..(g + 1) * {each} - 1 LOOP
            EXECUTE format('COPY (SELECT %s, n, ''x'' FROM generate_series(1, {rows}) n)'
                           ' TO %L (FORMAT csv)', i, '{folder}/' || i);
            EXECUTE format('CREATE FOREIGN TABLE t%s PARTITION OF g%s FOR VALUES IN (%s)'
                           ' SERVER files OPTIONS (filename %L, format ''csv'')',
                           i, g, i, '{folder}/' || i);
        END LOOP;
        COMMIT;
    END LOOP;
END
$$;
"""
SERIAL = {"max_parallel_workers_per_gather": "0"}
SETTINGS = {
    "one process": SERIAL,
    "COPY's parser": SERIAL | {"{wrapper}.fast_scan": "off"},
    "workers": PARALLEL,
}


@pytest.fixture(scope="module")
def cluster(stage: Stage, home: Path, user: ServerUser, file_wrapper: str) -> Iterator[Cluster]:
    """A server with the table, and with the locks that so many tables take."""
    folder = home / "many-files"
    user.make_folder(folder)
    settings = {"max_locks_per_transaction": "300", "autovacuum": "off"}
    cluster = Cluster(
        "many", home / "many", home / "many-run", NO_PORT, stage, user, settings=settings
    )
    cluster = start_anew(cluster, secrets.token_urlsafe(12))
    try:
        script = OBJECTS.format(
            wrapper=file_wrapper, groups=GROUPS, each=FILES // GROUPS, rows=ROWS, folder=folder
        )
        with cluster.connect() as connection:
            connection.autocommit = True
            for statement in script.split(";\n", 3):
                connection.execute(statement.encode())
        yield cluster
    finally:
        cluster.stop()


@pytest.mark.cluster
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_ten_thousand_files_are_read_in_little_memory(
    cluster: Cluster,
    settings: dict[str, str],
    file_wrapper: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    query = b"SELECT count(*), sum(n), count(DISTINCT part) FROM t"
    with cluster.connect() as connection:
        for name, value in settings.items():
            connection.execute(
                "SELECT set_config(%s, %s, false)", (name.format(wrapper=file_wrapper), value)
            )

        def peak_mb() -> float:
            status = "SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s*(\\d+)')"
            (kilobytes,) = connection.execute(status).fetchone() or (0,)
            return int(str(kilobytes)) / 1024

        connection.execute(b"EXPLAIN " + query)
        planned_mb = peak_mb()
        row = connection.execute(query).fetchone()
        added_mb = peak_mb() - planned_mb
    assert row == (FILES * ROWS, FILES * sum(range(1, ROWS + 1)), FILES)
    assert added_mb < MOST_MB
    with capsys.disabled():
        planned, added = f"{planned_mb:.0f} MB", f"{added_mb:.0f} MB"
        print(f"\n{FILES} files: {planned} at most when planned, {added} more when read")
