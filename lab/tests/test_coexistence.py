"""Both wrappers, the lab's extension, stock's wrappers and other modules in one session.

A server loads every library into one namespace, in whichever order a session comes to need them. So
a library of ours may export only what the server looks up in it: two with a function of one name
would call each other's.
"""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from conftest import OUR_FILE_WRAPPER, OUR_WRAPPER, start_anew

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.stage import EXTENSIONS, Stage
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

DATABASE = "coexistence"
OBSERVERS = ("auto_explain", "pg_stat_statements")
STOCK = ("postgres_fdw", "file_fdw")
LIBRARIES = (*EXTENSIONS, *STOCK, *OBSERVERS)
WRAPPERS = (OUR_WRAPPER, OUR_FILE_WRAPPER, *STOCK)

LOOKED_UP = {"Pg_magic_func", "_PG_init"}
"""What the server looks up in a library, besides functions of SQL."""
WITHOUT_INIT = {"tollfree_lab"}
REPEATS = 3
ROWS = 1000
SUM = 10 * ROWS * (ROWS + 1) // 2
ITEMS = f"""
    CREATE TABLE items AS SELECT i, i * 10 AS v FROM generate_series(1, {ROWS}) i;
    ANALYZE items
"""


@contextmanager
def objects(server: Cluster) -> Iterator[None]:
    """Make a database with a foreign table `NAME_items` of each wrapper, all with the same rows.

    Each wrapper's are made in a session of their own.
    """
    with server.connect() as connection:
        recreate_database(connection, DATABASE)
    file = server.data / "items"
    with server.connect(DATABASE) as connection:
        connection.execute(ITEMS)
        connection.execute(f"COPY items TO '{file}'")
    for extension in (*STOCK, *EXTENSIONS, "pg_stat_statements"):
        with server.connect(DATABASE) as connection:
            connection.execute(f"CREATE EXTENSION {extension}")
    remote = f"host '{server.socket_folder}', port '{server.port}', dbname '{DATABASE}'"
    for name in WRAPPERS:
        is_remote = name.endswith("postgres_fdw")
        options = "schema_name 'public', table_name 'items'" if is_remote else f"filename '{file}'"
        with server.connect(DATABASE) as connection:
            connection.execute(f"""
                CREATE SERVER {name} FOREIGN DATA WRAPPER {name}
                    {f"OPTIONS ({remote})" if is_remote else ""};
                CREATE USER MAPPING FOR {SUPERUSER} SERVER {name};
                CREATE FOREIGN TABLE {name}_items (i integer, v integer) SERVER {name}
                    OPTIONS ({options})
            """)
    yield
    with server.connect() as connection:
        connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


@pytest.fixture(scope="module")
def server(pg_instance: Cluster) -> Iterator[Cluster]:
    """The instance, which preloads nothing, with the database."""
    with objects(pg_instance):
        yield pg_instance


def exported(stage: Stage, library: str) -> set[str]:
    """Return the symbols that a library of the stage defines for others."""
    done = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--format=posix", f"{stage.pkglibdir}/{library}.so"],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return {line.split()[0] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("library", EXTENSIONS)
def test_a_library_exports_its_entry_points_alone(
    server: Cluster, stage: Stage, library: str
) -> None:
    with server.connect(DATABASE) as connection:
        found = connection.execute(
            "SELECT prosrc FROM pg_proc WHERE probin = %s", [f"$libdir/{library}"]
        ).fetchall()
    functions = {str(name) for (name,) in found}
    expected = functions | {f"pg_finfo_{name}" for name in functions} | LOOKED_UP
    if library in WITHOUT_INIT:
        expected.remove("_PG_init")
    assert functions
    assert exported(stage, library) == expected


def use_everything(connection: Connection, wrappers: tuple[str, ...]) -> None:
    """Read the tables of these wrappers one by one, join them in this order, and check the rows;
    run a command by the lab's extension."""
    for name in wrappers:
        row = connection.execute(f"SELECT sum(v), count(*) FROM {name}_items").fetchone()
        assert row == (SUM, ROWS)
    first, *others = (f"{name}_items" for name in wrappers)
    joins = " ".join(f"JOIN {table} USING (i)" for table in others)
    values = " + ".join(f"{name}_items.v" for name in wrappers)
    query = f"SELECT sum({values}), count(*) FROM {first} {joins}"
    for _ in range(REPEATS):
        assert connection.execute(query).fetchone() == (len(wrappers) * SUM, ROWS)
    assert connection.execute(
        "SELECT exit_status FROM lab.run_command('{/bin/true}')"
    ).fetchone() == (0,)


@pytest.mark.parametrize("order", [WRAPPERS, WRAPPERS[::-1]], ids=["forwards", "backwards"])
def test_a_session_loads_wrappers_as_it_needs_them(server: Cluster, order: tuple[str, ...]) -> None:
    with server.connect(DATABASE) as connection:
        use_everything(connection, order)


@pytest.mark.parametrize("order", [LIBRARIES, LIBRARIES[::-1]], ids=["forwards", "backwards"])
def test_a_session_loads_all_libraries(server: Cluster, order: tuple[str, ...]) -> None:
    with server.connect(DATABASE) as connection:
        for library in order:
            connection.execute(f"LOAD '{library}'")
        use_everything(connection, WRAPPERS)


@pytest.mark.parametrize("order", [LIBRARIES, LIBRARIES[::-1]], ids=["forwards", "backwards"])
def test_a_server_preloads_all_libraries(
    pg_instance: Cluster, home: Path, order: tuple[str, ...]
) -> None:
    preloading = replace(
        pg_instance,
        name="preloading",
        folder=home / f"preloading-{order[0]}",
        listens=False,
        settings={
            "shared_preload_libraries": f"'{','.join(order)}'",
            "auto_explain.log_min_duration": "0",
            "auto_explain.log_level": "notice",
        },
    )
    preloading = start_anew(preloading, "unused")
    try:
        with objects(preloading), preloading.connect(DATABASE) as connection:
            plans: list[str] = []
            connection.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
            use_everything(connection, WRAPPERS)
            assert any("Foreign File" in plan for plan in plans)
            row = connection.execute(
                "SELECT calls FROM pg_stat_statements WHERE query ~ 'JOIN .*_items'"
            ).fetchone()
            assert row == (REPEATS,)
    finally:
        preloading.stop()


BUILD = re.compile(rb"\0(\d+-\d{5,})\0")
"""What tollfree_file_fdw has in its library to tell its builds apart."""
PARALLEL = """
    SET max_parallel_workers_per_gather = 2;
    SET min_parallel_table_scan_size = 0;
    SET parallel_setup_cost = 0;
    SET parallel_tuple_cost = 0
"""


def test_a_worker_of_another_build_refuses_its_leaders_plan(
    server: Cluster, stage: Stage, home: Path
) -> None:
    """As after an upgrade: an open session keeps its library, its workers load the new one."""
    library = home / "rebuilt" / f"{OUR_FILE_WRAPPER}.so"
    library.parent.mkdir(mode=0o755)
    library.write_bytes((stage.pkglibdir / library.name).read_bytes())
    query = f"SELECT count(*) FROM {OUR_FILE_WRAPPER}_items WHERE v > 0"
    with server.connect(DATABASE) as connection:
        for function, signature in (("handler", "() RETURNS fdw_handler"),
                                    ("validator", "(text[], oid) RETURNS void")):  # fmt: skip
            connection.execute(
                f"CREATE OR REPLACE FUNCTION {OUR_FILE_WRAPPER}_{function}{signature}"
                f" LANGUAGE c STRICT AS '{library}'"
            )
    try:
        with server.connect(DATABASE) as connection:
            connection.execute(PARALLEL)
            plan = "".join(str(row) for row in connection.execute(f"EXPLAIN {query}"))
            assert "Workers Planned" in plan
            assert connection.execute(query).fetchone() == (ROWS,)
            (build,) = BUILD.findall(library.read_bytes())
            other = library.with_suffix(".new")
            other.write_bytes(library.read_bytes().replace(build, b"1" * len(build)))
            other.replace(library)
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="was replaced"):
                connection.execute(query)
            connection.execute("SET max_parallel_workers_per_gather = 0")
            assert connection.execute(query).fetchone() == (ROWS,)
        with server.connect(DATABASE) as connection:
            connection.execute(PARALLEL)
            assert connection.execute(query).fetchone() == (ROWS,)
    finally:
        with server.connect(DATABASE) as connection:
            connection.execute(
                "UPDATE pg_proc SET probin = %s WHERE probin = %s",
                (f"$libdir/{OUR_FILE_WRAPPER}", str(library)),
            )
