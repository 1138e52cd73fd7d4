"""`tollfree check` on real servers: what it finds, what it leaves alone, for whom."""

import dataclasses
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from conftest import OUR_FILE_WRAPPER, OUR_WRAPPER, start_anew
from links import link_to

from tollfree.check import findings, inventory, model, plans
from tollfree.cluster import NO_PORT, SUPERUSER, Cluster
from tollfree.errors import ExitCode
from tollfree.link import Link
from tollfree.paths import CHECKOUT
from tollfree.ports import LOOPBACK
from tollfree.privileges import ServerUser
from tollfree.stage import Stage
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

DATABASE, SOURCE, EMPTY = "checked", "checked_source", "checked_empty"
RTT_US = 20_000
ROWS = 20_000
OLD_DAYS = 30
OBJECTS_OF_SOURCE = f"""
    CREATE TABLE items (id integer PRIMARY KEY, v text);
    INSERT INTO items SELECT i, 'item ' || i FROM generate_series(1, {ROWS}) i;
    CREATE TABLE fresh AS SELECT * FROM items LIMIT 10;
    ANALYZE;
"""
OBJECTS = """
    CREATE EXTENSION postgres_fdw;
    CREATE EXTENSION file_fdw;
    CREATE EXTENSION pg_stat_statements;
    CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw
        OPTIONS (host '{host}', port '{port}', dbname '{source}', sslmode 'disable',
                 use_remote_estimate 'off');
    CREATE USER MAPPING FOR PUBLIC SERVER far
        OPTIONS (user '{user}', password '{password}');
    CREATE SERVER gone FOREIGN DATA WRAPPER postgres_fdw
        OPTIONS (host '{host}', port '{closed}', dbname '{source}', use_remote_estimate 'true');
    CREATE USER MAPPING FOR PUBLIC SERVER gone OPTIONS (user '{user}', password '{password}');
    CREATE SERVER "Files" FOREIGN DATA WRAPPER file_fdw;
    CREATE FOREIGN TABLE items (id integer, v text) SERVER far;
    CREATE FOREIGN TABLE fresh (id integer, v text) SERVER far;
    CREATE FOREIGN TABLE lost (id integer) SERVER gone;
    CREATE FOREIGN TABLE lines (line text) SERVER "Files" OPTIONS (filename '/dev/null');
    CREATE FOREIGN TABLE output (line text) SERVER "Files" OPTIONS (program 'echo a line');
    CREATE TABLE local (id integer);
    ANALYZE items;
    GRANT SELECT ON items TO checked_reader;
"""


@dataclass(frozen=True)
class Place:
    """A server with foreign servers in it, and the link to what is behind `far`."""

    server: Cluster
    link: Link

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return self.server.connect(DATABASE)

    def dsn(self, user: str = SUPERUSER, database: str = DATABASE) -> str:
        return self.server.conninfo(database).replace(f"user={SUPERUSER}", f"user={user}")

    def marks(self) -> object:
        """What changes when anything is created, dropped or written in the database."""
        with self.connect() as connection:
            return connection.execute(
                "SELECT (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_foreign_server),"
                " (SELECT count(*) FROM pg_user_mapping), (SELECT count(*) FROM pg_extension),"
                " (SELECT count(*) FROM local), (SELECT count(*) FROM items)"
            ).fetchone()


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port that nobody listens on meanwhile."""
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        yield taken.getsockname()[1]


def make_roles(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    for role in ("checked_reader", "checked_nobody"):
        connection.execute(f"DROP ROLE IF EXISTS {role}")
        connection.execute(f"CREATE ROLE {role} LOGIN")


@pytest.fixture(scope="module")
def server(stage: Stage, home: Path, user: ServerUser) -> Iterator[Cluster]:
    """A server with pg_stat_statements."""
    settings = {"shared_preload_libraries": "'pg_stat_statements'"}
    cluster = Cluster(
        *("check", home / "check", home / "run", NO_PORT, stage, user),
        listens=True,
        settings=settings,
    )
    cluster = start_anew(cluster, secrets.token_urlsafe(12))
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def place(server: Cluster) -> Iterator[Place]:
    with server.connect() as connection:
        make_roles(connection)
        for name in (DATABASE, SOURCE, EMPTY):
            recreate_database(connection, name)
    with server.connect(SOURCE) as connection:
        connection.execute(OBJECTS_OF_SOURCE)
    with (
        link_to(server, "check", RTT_US) as link,
        closed_port() as closed,
        server.connect(DATABASE) as connection,
    ):
        connection.execute(
            OBJECTS.format(
                host=LOOPBACK,
                port=link.port,
                source=SOURCE,
                closed=closed,
                user=SUPERUSER,
                password=server.password_file.read_text(),
            )
        )
        yield Place(server, link)


def run(*words: str, code: ExitCode = ExitCode.OK, **env: str) -> tuple[str, str]:
    """Run the command; check its exit code; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "tollfree.cli", "check", *words],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=os.environ | env,
        timeout=300,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def report(*words: str) -> dict[str, Any]:
    """Return what the command says as JSON."""
    found: dict[str, Any] = json.loads(run("--json", *words)[0])
    return found


def remedies(found: dict[str, Any]) -> list[str]:
    return [command for finding in found["findings"] for command in finding["remedy"]]


ADOPTED = """
    SELECT srvname FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    WHERE w.fdwname LIKE 'tollfree%'
"""


def undos(found: dict[str, Any]) -> list[str]:
    return [command for finding in found["findings"] for command in finding["undo"]]


def unknown(found: dict[str, Any], words: str) -> list[str]:
    """Return why the questions with these words have no answer."""
    return [one["why"] for one in found["unknown"] if words in one["what"]]


def test_a_superuser_sees_servers_tables_links_and_what_to_do(place: Place) -> None:
    before = place.marks()
    found = report(place.dsn())
    assert place.marks() == before
    assert found["format"] == model.FORMAT
    assert [one["name"] for one in found["servers"]] == ["Files", "far", "gone"]
    tables = {table["name"]: table for table in found["tables"]}
    assert tables["items"]["row_estimate"] == ROWS
    assert tables["fresh"]["row_estimate"] is None
    (link,) = found["links"]
    assert (link["server"], link["table"]) in (("far", "public.fresh"), ("far", "public.items"))
    assert link["rtt_min_ms"] >= RTT_US / 1000
    commands = remedies(found)
    assert "ANALYZE public.fresh;" in commands
    assert "ANALYZE public.items;" not in commands
    assert "ALTER FOREIGN TABLE public.items OPTIONS (ADD fetch_size '10000');" in commands
    assert "ALTER SERVER \"gone\" OPTIONS (SET use_remote_estimate 'false');" in commands
    assert f"CREATE EXTENSION IF NOT EXISTS {OUR_WRAPPER} CASCADE;" in commands
    assert f"SELECT {OUR_FILE_WRAPPER}_adopt('Files');" in commands
    assert not any("superuser" in finding["text"] for finding in found["findings"])
    (why,) = unknown(found, "server gone")
    assert "could not connect" in why


def test_connecting_is_told_also_where_planning_does_it(place: Place) -> None:
    with place.connect() as connection:
        connection.execute("ALTER SERVER far OPTIONS (SET use_remote_estimate 'on')")
        try:
            (link,) = report(place.dsn())["links"]
        finally:
            connection.execute("ALTER SERVER far OPTIONS (SET use_remote_estimate 'off')")
    # The protocol's own handshake takes two round trips at least.
    assert link["connect_ms"] >= 2 * RTT_US / 1000


def test_what_it_says_as_text(place: Place) -> None:
    out, _ = run(place.dsn())
    assert "server far (postgres_fdw, owner postgres)" in out
    assert "queries for no rows of public." in out
    assert "public.fresh: never analyzed" in out
    assert "ANALYZE public.fresh;" in out
    assert "not known: the round trip to server gone (could not connect" in out


def test_a_server_of_ours_is_measured_and_told_the_way_back(place: Place) -> None:
    with place.connect() as connection:
        connection.execute(f"CREATE EXTENSION {OUR_WRAPPER}")
        connection.execute(f"SELECT {OUR_WRAPPER}_adopt('far')")
    try:
        found = report(place.dsn())
    finally:
        with place.connect() as connection:
            connection.execute(f"SELECT {OUR_WRAPPER}_release('far')")
            connection.execute(f"DROP EXTENSION {OUR_WRAPPER}")
    (link,) = found["links"]
    assert link["rtt_min_ms"] >= RTT_US / 1000
    assert f"SELECT {OUR_WRAPPER}_release('far');" in undos(found)
    assert f"SELECT {OUR_WRAPPER}_adopt('far');" not in remedies(found)


def test_a_user_with_few_rights_is_told_what_is_not_known(place: Place) -> None:
    found = report(place.dsn("checked_reader"))
    assert [link["table"] for link in found["links"]] == ["public.items"]
    assert unknown(found, "server gone") == ["this user may read none of its foreign tables"]
    nobody = report(place.dsn("checked_nobody"))
    assert nobody["links"] == []
    assert len(nobody["servers"]) == 3
    assert unknown(nobody, "server far") == ["this user may read none of its foreign tables"]
    assert any("Its owner, postgres" in finding["text"] for finding in nobody["findings"])


def test_a_user_who_may_not_read_the_catalogs_gets_a_report(place: Place) -> None:
    with place.connect() as connection:
        for name in ("pg_foreign_server", "pg_class"):
            connection.execute(f"REVOKE SELECT ON pg_catalog.{name} FROM PUBLIC")
    try:
        found = report(place.dsn("checked_nobody"))
    finally:
        with place.connect() as connection:
            for name in ("pg_foreign_server", "pg_class"):
                connection.execute(f"GRANT SELECT ON pg_catalog.{name} TO PUBLIC")
    assert found["servers"] == []
    assert len(unknown(found, "foreign servers")) == 1
    assert len(unknown(found, "foreign tables")) == 1


def test_servers_may_be_hidden_where_tables_are_not(place: Place) -> None:
    with place.connect() as connection:
        connection.execute("REVOKE SELECT ON pg_catalog.pg_user_mappings FROM PUBLIC")
    try:
        found = report(place.dsn("checked_reader"), "--query", "SELECT v FROM items")
    finally:
        with place.connect() as connection:
            connection.execute("GRANT SELECT ON pg_catalog.pg_user_mappings TO PUBLIC")
    assert found["servers"] == found["queries"] == []
    assert not any("no foreign server" in finding["text"] for finding in found["findings"])
    assert len(found["tables"]) == 5
    assert len(unknown(found, "foreign servers")) == 1
    assert unknown(found, "the query") == ["it reads no foreign table that is known"]


def test_a_database_without_foreign_servers(place: Place) -> None:
    found = report(place.dsn(database=EMPTY))
    assert found["servers"] == found["tables"] == found["links"] == []
    (finding,) = found["findings"]
    assert "no foreign server" in finding["text"]


def test_passwords_are_not_shown(place: Place) -> None:
    password = place.server.password_file.read_text()
    for output in (run(place.dsn())[0], run("--json", place.dsn())[0]):
        assert password not in output


def test_a_server_that_does_not_answer_is_a_clear_error() -> None:
    with closed_port() as closed:
        _, err = run(f"host={LOOPBACK} port={closed}", code=ExitCode.ENVIRONMENT)
    assert "cannot connect to the server to check" in err
    _, err = run("host=", "--timeout", "0", code=ExitCode.USAGE)
    _, err = run("host", "--timeout", "5", PGHOST="/nowhere", code=ExitCode.ENVIRONMENT)
    assert "connection string" in err
    _, err = run("far=away", code=ExitCode.ENVIRONMENT)
    assert 'invalid connection option "far"' in err


def test_libpq_variables_of_the_user_count(place: Place) -> None:
    server = place.server
    for database in (f"dbname={DATABASE}", DATABASE):
        out, _ = run(
            database,
            PGHOST=str(server.socket_folder),
            PGPORT=str(server.port),
            PGUSER=SUPERUSER,
        )
        assert f"database {DATABASE}, user {SUPERUSER}" in out


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_of_another_encoding(place: Place, encoding: str) -> None:
    with place.server.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS checked_encoding")
        connection.execute(
            f"CREATE DATABASE checked_encoding ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'"
        )
    with place.server.connect("checked_encoding") as connection:
        connection.execute("CREATE EXTENSION postgres_fdw; SET client_encoding = 'UTF8'")
        connection.execute('CREATE SERVER "für" FOREIGN DATA WRAPPER postgres_fdw')
        connection.execute('CREATE USER MAPPING FOR PUBLIC SERVER "für"')
        connection.execute('CREATE FOREIGN TABLE "übrige" ("Größe" integer) SERVER "für"')
    query = 'SELECT "Größe" FROM "übrige"'
    found = report(place.dsn(database="checked_encoding"), "--query", query)
    assert [table["name"] for table in found["tables"]] == ["übrige"]
    assert [one["servers"] for one in found["queries"]] == [["für"]]


@pytest.mark.parametrize(
    ("query", "stock", "ours"),
    [
        ("SELECT v FROM items WHERE id = 7", 5, 1),
        ("SELECT v FROM items", 2 + 2 + ROWS // 100 + 1, 1),
        ("UPDATE items SET v = 'changed' WHERE id = 7;", 3, 2),
        ("SELECT count(*) FROM items a JOIN items b USING (id) WHERE a.id = 7", 5, 1),
    ],
)
def test_the_round_trips_of_a_query(place: Place, query: str, stock: int, ours: int) -> None:
    before = place.marks()
    found = report(place.dsn(), "--query", query)
    assert place.marks() == before
    (one,) = found["queries"]
    assert one["servers"] == ["far"]
    assert (one["stock_round_trips"], one["ours_round_trips"]) == (stock, ours)


def test_a_lookup_waits_for_as_many_round_trips_as_is_said(place: Place) -> None:
    query = "SELECT v FROM items WHERE id = 7"
    (one,) = report(place.dsn(), "--query", query)["queries"]
    with place.connect() as connection:
        connection.execute(query)
        before = place.link.counters()["flights"]
        connection.execute(query)
        assert place.link.counters()["flights"] - before == one["stock_round_trips"]


LOOKUP = "SELECT v FROM items WHERE id = 7"


def test_a_query_is_executed_by_both_on_copies(place: Place) -> None:
    """Nothing is left, though the extension was not in the database."""
    before = place.marks()
    found = report(place.dsn(), "--execute", "--query", LOOKUP)
    assert place.marks() == before
    (one,) = found["queries"]
    assert unknown(found, "both wrappers") == []
    done = one["execution"]
    assert (done["stock_rows"], done["ours_rows"], done["executions"]) == (1, 1, 3)
    assert done["ours_round_trips"] == 1
    assert RTT_US / 1000 <= done["ours_ms"] < done["stock_ms"]
    out, _ = run(place.dsn(), "--execute", "--query", LOOKUP)
    assert "executed: by stock" in out
    assert "1 round trip; 1 row." in out
    assert place.server.password_file.read_text() not in out


@contextmanager
def function_of_ours(place: Place, *, adopted: bool) -> Iterator[None]:
    """Make a function that no remote server knows; hand `far` to our wrapper meanwhile."""
    with place.connect() as connection:
        connection.execute(
            "CREATE FUNCTION is_even(id int) RETURNS bool IMMUTABLE LANGUAGE plpgsql"
            " AS 'BEGIN RETURN id % 2 = 0; END'"
        )
        if adopted:
            connection.execute(f"CREATE EXTENSION {OUR_WRAPPER}")
            connection.execute(f"SELECT {OUR_WRAPPER}_adopt('far')")
    try:
        yield
    finally:
        with place.connect() as connection:
            connection.execute("DROP FUNCTION is_even")
            if adopted:
                connection.execute(f"SELECT {OUR_WRAPPER}_release('far')")
                connection.execute(f"DROP EXTENSION {OUR_WRAPPER}")


@pytest.mark.parametrize("adopted", [False, True])
def test_what_travels_for_nothing_is_said_and_why(place: Place, *, adopted: bool) -> None:
    query = "SELECT count(*) FROM items WHERE is_even(id) AND id > 19000"
    with function_of_ours(place, adopted=adopted):
        before = place.marks()
        (planned,) = report(place.dsn(), "--query", query)["queries"]
        (executed,) = report(place.dsn(), "--run", "--query", query)["queries"]
        out, _ = run(place.dsn(), "--run", "--query", query)
        assert place.marks() == before
    for one, measured in ((planned, False), (executed, True)):
        (travel,) = one["travels"]
        assert (travel["relation"], travel["server"]) == ("public.items", "far")
        assert (travel["rows_needed"], travel["is_measured"]) == (1, measured)
        condition, groups = travel["evaluated"]
        assert condition["expression"].endswith("is_even(items.id)")
        assert condition["reason"] == "is_even is not known to be the same on the remote server"
        assert "extensions" in condition["advice"]
        assert groups["expression"] == "count(*)"
        assert "the condition" in groups["reason"]
    assert planned["travels"][0]["rows_sent"] is None
    assert executed["travels"][0]["rows_sent"] == 1000
    assert "public.items: 1,000 rows travel, 1 needed\n" in out
    assert "because is_even is not known" in out


def test_a_query_of_which_all_is_decided_there_has_nothing_that_travels(place: Place) -> None:
    (one,) = report(place.dsn(), "--query", "SELECT count(*) FROM items WHERE id = 7")["queries"]
    assert one["travels"] == []


@pytest.mark.parametrize(
    ("condition", "reason", "advice"),
    [
        ("random() < id", "random is volatile", "Call it once"),
        ("v = current_user", "CURRENT_USER may have another value", "Through tollfree"),
        ("coalesce(id, 3) = 3", "COALESCE is not sent", "Through tollfree"),
        ("v COLLATE \"C\" < 'x'", "postgres_fdw does not say why", "Through tollfree"),
        ("id > (SELECT 1 + random() * id)", "a subquery", "Write it as a join"),
    ],
)
def test_of_stock_the_reason_is_guessed(
    place: Place, condition: str, reason: str, advice: str
) -> None:
    query = f"SELECT id FROM items WHERE {condition}"
    (one,) = report(place.dsn(), "--query", query)["queries"]
    (travel,) = one["travels"]
    (part,) = travel["evaluated"]
    assert part["reason"].startswith(reason)
    assert part["advice"].startswith(advice)


def test_an_extension_that_the_server_may_have_is_named_in_a_command(place: Place) -> None:
    with place.connect() as connection:
        connection.execute("CREATE EXTENSION hstore")
    try:
        query = "SELECT id FROM items WHERE hstore('k', v) ? 'k'"
        (one,) = report(place.dsn(), "--query", query)["queries"]
    finally:
        with place.connect() as connection:
            connection.execute("DROP EXTENSION hstore")
    (part,) = one["travels"][0]["evaluated"]
    assert part["commands"] == ['ALTER SERVER "far" OPTIONS (ADD "extensions" \'hstore\');']


def test_the_default_collation_has_a_command(place: Place) -> None:
    with function_of_ours(place, adopted=True):
        query = "SELECT id FROM items WHERE coalesce(v, '') < 'b'"
        (one,) = report(place.dsn(), "--query", query)["queries"]
    (part,) = one["travels"][0]["evaluated"]
    assert "the default collation" in part["reason"]
    assert part["commands"] == ['ALTER SERVER "far" OPTIONS (ADD "collations" \'same\');']


def test_a_query_that_writes_is_not_run(place: Place) -> None:
    before = place.marks()
    found = report(place.dsn(), "--run", "--query", "UPDATE items SET v = 'new' WHERE id = 7")
    assert place.marks() == before
    assert found["queries"] == []
    assert "read-only" in unknown(found, "the query")[0]


@pytest.mark.parametrize(
    ("query", "servers", "trips"),
    [
        ("SELECT line FROM version", ["Files"], 0),
        ("SELECT line, v FROM version, items WHERE id = 7", ["Files", "far"], 1),
    ],
)
def test_a_query_of_a_file_is_executed_by_both(
    place: Place, query: str, servers: list[str], trips: int
) -> None:
    with place.connect() as connection:
        connection.execute(
            'CREATE FOREIGN TABLE version (line text) SERVER "Files"'
            " OPTIONS (filename 'PG_VERSION')"
        )
    try:
        before = place.marks()
        found = report(place.dsn(), "--execute", "--query", query)
        out, _ = run(place.dsn(), "--query", query)
        assert place.marks() == before
    finally:
        with place.connect() as connection:
            connection.execute("DROP FOREIGN TABLE version")
    (one,) = found["queries"]
    assert one["servers"] == servers
    assert one["file_rows"] >= 1
    assert (one["stock_round_trips"], one["ours_round_trips"]) == (5 * trips, trips)
    assert unknown(found, "both wrappers") == []
    done = one["execution"]
    assert (done["stock_rows"], done["ours_rows"], done["ours_round_trips"]) == (1, 1, trips)
    assert "of files, as the planner expects" in out
    assert ("round trip" in out.partition("query ")[2].partition("What to do")[0]) == bool(trips)


def test_copies_have_the_columns_and_options_of_their_tables(place: Place) -> None:
    """Also of a table that has another name here, and other columns in another order."""
    with place.connect() as connection:
        connection.execute(
            'CREATE FOREIGN TABLE "Renamed"'
            """ ("The Text" text OPTIONS (column_name 'v') COLLATE "C","""
            " gone integer, id integer NOT NULL)"
            " SERVER far OPTIONS (schema_name 'public', table_name 'items')"
        )
        connection.execute('ALTER FOREIGN TABLE "Renamed" DROP COLUMN gone')
    try:
        query = 'SELECT "The Text" FROM "Renamed" WHERE id < 4 ORDER BY "The Text"'
        (one,) = report(place.dsn(), "--execute", "--query", query)["queries"]
    finally:
        with place.connect() as connection:
            connection.execute('DROP FOREIGN TABLE "Renamed"')
    assert (one["execution"]["stock_rows"], one["execution"]["ours_rows"]) == (3, 3)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("UPDATE items SET v = 'changed' WHERE id = 7", "only reads"),
        ("WITH gone AS (DELETE FROM items RETURNING id) SELECT id FROM gone", "only reads"),
        ("SELECT v FROM items WHERE id = 7 FOR UPDATE", "only reads"),
        ("SELECT v FROM items WHERE id = change()", "does not allow updates"),
        ("SELECT v FROM public.items WHERE id = 7", "by a name with a schema"),
        ("SELECT v FROM seen WHERE id = 7", "through a view"),
        ("SELECT v, pg_sleep(30) FROM items WHERE id = 7", "timeout: --timeout allows more"),
        ("SELECT v FROM items, output WHERE id = 7", "public.output runs a program"),
    ],
)
def test_a_query_that_copies_do_not_serve_is_not_timed(place: Place, query: str, why: str) -> None:
    with place.connect() as connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM items")
        connection.execute(
            "CREATE FUNCTION change() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN"
            " UPDATE items SET v = 'changed' WHERE id = 7; RETURN 7; END $$"
        )
    try:
        before = place.marks()
        found = report(place.dsn(), "--timeout", "3", "--execute", "--query", query)
        assert place.marks() == before
    finally:
        with place.connect() as connection:
            connection.execute("DROP VIEW seen; DROP FUNCTION change()")
    (one,) = found["queries"]
    assert one["execution"] is None
    (answer,) = unknown(found, "both wrappers")
    assert why in answer


def test_without_leave_nothing_is_executed_nor_made(place: Place) -> None:
    found = report(place.dsn(), "--query", LOOKUP)
    assert found["queries"][0]["execution"] is None
    assert found["timeouts"] == []
    (why,) = unknown(found, "the remote timeouts")
    assert "--execute" in why


def test_the_remote_timeouts_are_shown(place: Place) -> None:
    with place.server.connect() as connection:
        connection.execute(
            f"ALTER DATABASE {SOURCE} SET idle_in_transaction_session_timeout = '7s'"
        )
    try:
        before = place.marks()
        found = report(place.dsn(), "--execute")
        out, _ = run(place.dsn(), "--execute")
        assert place.marks() == before
    finally:
        with place.server.connect() as connection:
            connection.execute(f"ALTER DATABASE {SOURCE} RESET idle_in_transaction_session_timeout")
    (far,) = found["timeouts"]
    assert far["server"] == "far"
    assert far["settings_ms"]["idle_in_transaction_session_timeout"] == 7000
    assert far["settings_ms"]["statement_timeout"] == 0
    assert "remote timeouts: idle_in_transaction_session_timeout 7000 ms" in out
    (why,) = unknown(found, "the timeouts of server gone")
    assert "could not connect" in why


def test_a_user_with_few_rights_is_told_what_cannot_be_executed(place: Place) -> None:
    found = report(place.dsn("checked_reader"), "--execute", "--query", LOOKUP)
    assert found["queries"][0]["execution"] is None
    assert found["timeouts"] == []
    assert unknown(found, "both wrappers") == ["permission denied for foreign server far"]
    assert unknown(found, "timeouts of server far") == ["permission denied for foreign server far"]


def test_a_user_who_may_make_servers_executes_without_being_superuser(place: Place) -> None:
    """With a mapping of the user's own, whose password is copied and not shown."""
    password = secrets.token_urlsafe(12)
    with place.connect() as connection:
        connection.execute(f"CREATE EXTENSION {OUR_WRAPPER}")
        for wrapper in ("postgres_fdw", OUR_WRAPPER):
            connection.execute(f"GRANT USAGE ON FOREIGN DATA WRAPPER {wrapper} TO checked_reader")
        connection.execute("GRANT USAGE ON FOREIGN SERVER far TO checked_reader")
        connection.execute(f"ALTER ROLE checked_reader PASSWORD '{password}'")
        connection.execute(
            "CREATE USER MAPPING FOR checked_reader SERVER far"
            f" OPTIONS (user 'checked_reader', password '{password}')"
        )
    with place.server.connect(SOURCE) as connection:
        connection.execute("GRANT SELECT ON items TO checked_reader")
    try:
        outputs = run("--json", "--execute", "--query", LOOKUP, place.dsn("checked_reader"))
    finally:
        with place.connect() as connection:
            connection.execute("DROP USER MAPPING FOR checked_reader SERVER far")
            connection.execute("REVOKE USAGE ON FOREIGN SERVER far FROM checked_reader")
            connection.execute(
                "REVOKE USAGE ON FOREIGN DATA WRAPPER postgres_fdw FROM checked_reader"
            )
            connection.execute(f"DROP EXTENSION {OUR_WRAPPER}")
        with place.server.connect(SOURCE) as connection:
            connection.execute("REVOKE SELECT ON items FROM checked_reader")
    found = json.loads(outputs[0])
    assert unknown(found, "both wrappers") == []
    assert found["queries"][0]["execution"]["ours_rows"] == 1
    assert password not in "".join(outputs)


@pytest.mark.parametrize("name", [SUPERUSER, "checked_reader"])
def test_no_password_stays_in_pg_stat_statements(place: Place, name: str) -> None:
    """Who keeps commands in functions, too, would keep the copy of the user mapping."""
    password = place.server.password_file.read_text()
    with place.connect() as connection:
        connection.execute("SELECT pg_stat_statements_reset()")
        connection.execute("ALTER DATABASE checked SET pg_stat_statements.track = 'all'")
        connection.execute(f"CREATE EXTENSION {OUR_WRAPPER}")
        for wrapper in ("postgres_fdw", OUR_WRAPPER):
            connection.execute(f"GRANT USAGE ON FOREIGN DATA WRAPPER {wrapper} TO checked_reader")
        connection.execute("GRANT USAGE ON FOREIGN SERVER far TO checked_reader")
    try:
        found = report(place.dsn(name), "--execute", "--query", LOOKUP)
        with place.connect() as connection:
            kept = connection.execute("SELECT query FROM pg_stat_statements").fetchall()
    finally:
        with place.connect() as connection:
            connection.execute("ALTER DATABASE checked RESET pg_stat_statements.track")
            connection.execute("REVOKE USAGE ON FOREIGN SERVER far FROM checked_reader")
            connection.execute(
                "REVOKE USAGE ON FOREIGN DATA WRAPPER postgres_fdw FROM checked_reader"
            )
            connection.execute(f"DROP EXTENSION {OUR_WRAPPER}")
    assert not [text for (text,) in kept if password in str(text)]
    if name == SUPERUSER:
        assert found["queries"][0]["execution"]["ours_rows"] == 1
    else:
        assert "pg_stat_statements.track is all" in unknown(found, "both wrappers")[0]


def test_different_numbers_of_rows_are_a_finding() -> None:
    execution = model.Execution(2.0, 1.0, 3, 5, 4, 1, same_plan=True)
    query = model.Query("SELECT", None, None, ("far",), 5, 0, 5, 1, execution)
    (finding,) = findings.of_executions((query,))
    assert "5 rows, ours 4" in finding.text


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT 1", "no foreign table"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("DROP TABLE local", "syntax error"),
        ("SELECT 1; COMMIT; DROP TABLE local", "multiple commands"),
        ("INSERT INTO items VALUES (0, 'new')", "writes foreign rows"),
    ],
)
def test_a_query_without_an_answer_does_nothing(place: Place, query: str, why: str) -> None:
    before = place.marks()
    found = report(place.dsn(), "--query", query)
    assert place.marks() == before
    assert found["queries"] == []
    (answer,) = unknown(found, "the query")
    assert why in answer


def test_the_most_expensive_queries_are_those_of_foreign_tables(place: Place) -> None:
    with place.connect() as connection:
        connection.execute("SELECT pg_stat_statements_reset()")
        for key in (7, 8):
            connection.execute(f"SELECT v FROM items WHERE id = {key}")
        connection.execute("SELECT count(*) FROM local")
        connection.execute("SELECT v FROM items WHERE id > 19000")
    found = report(place.dsn())
    lookup = next(one for one in found["queries"] if "id = $1" in one["query"])
    assert (lookup["calls"], lookup["stock_round_trips"], lookup["ours_round_trips"]) == (2, 5, 1)
    assert not [one for one in found["queries"] if "local" in one["query"]]
    assert len(report(place.dsn(), "--top", "1")["queries"]) == 1
    assert "2 calls" in run(place.dsn())[0]
    few = report(place.dsn("checked_nobody"))
    assert few["queries"] == []
    assert unknown(few, "queries of other users") == ["it takes pg_read_all_stats"]
    (hidden,) = [one["what"] for one in few["unknown"] if "of other users" in one["what"]]
    assert int(hidden.split()[0]) > 2


def test_expensive_queries_with_typed_constants_are_counted(place: Place) -> None:
    """pg_stat_statements writes `interval $1`, which is no SQL."""
    conditions = (
        "at > now() - interval '1 day'",
        "at > date '2020-02-02'",
        "extract(year from at) = 2020",
        "at < timestamp '2020-02-02' + interval '1' day",
    )
    with place.server.connect(SOURCE) as connection:
        connection.execute("CREATE TABLE times (at timestamptz)")
    with place.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE times (at timestamptz) SERVER far")
        connection.execute("SELECT pg_stat_statements_reset()")
        for condition in conditions:
            connection.execute(f"SELECT count(*) FROM times WHERE {condition}".encode())
    try:
        found = report(place.dsn(), "--top", "100")
    finally:
        with place.connect() as connection:
            connection.execute("DROP FOREIGN TABLE times")
        with place.server.connect(SOURCE) as connection:
            connection.execute("DROP TABLE times")
    assert len([one for one in found["queries"] if "times" in one["query"]]) == len(conditions)
    assert unknown(found, "most expensive") == []


def test_what_the_command_executes_is_no_query_of_the_users(place: Place) -> None:
    with place.connect() as connection:
        connection.execute("SELECT pg_stat_statements_reset()")
    report(place.dsn(), "--execute", "--query", LOOKUP)
    report(place.dsn(), "--execute")
    found = report(place.dsn(), "--top", "100")
    assert found["queries"] == []
    assert unknown(found, "most expensive") == []


def test_without_pg_stat_statements_the_expensive_queries_are_not_known(place: Place) -> None:
    with place.connect() as connection:
        connection.execute("DROP EXTENSION pg_stat_statements")
    try:
        (why,) = unknown(report(place.dsn()), "most expensive")
    finally:
        with place.connect() as connection:
            connection.execute("CREATE EXTENSION pg_stat_statements")
    assert "not in this database" in why


def test_the_proposed_commands_work(place: Place) -> None:
    found = report(place.dsn())
    try:
        with place.connect() as connection:
            for command in remedies(found):
                if "lost" not in command:
                    connection.execute(command.encode())
            adopted = connection.execute(ADOPTED).fetchall()
            for command in undos(found):
                connection.execute(command.encode())
            assert len(adopted) == len(found["servers"])
            assert connection.execute(ADOPTED).fetchall() == []
    finally:
        with place.connect() as connection:
            connection.execute(f"DROP EXTENSION IF EXISTS {OUR_WRAPPER}, {OUR_FILE_WRAPPER}")


def test_other_users_queries_are_planned_only_where_that_is_allowed(place: Place) -> None:
    """Planning calls functions that are declared immutable, with the rights of who plans."""
    with place.connect() as connection:
        connection.execute("SELECT pg_stat_statements_reset()")
        connection.execute("CREATE SCHEMA trap AUTHORIZATION checked_reader")
    try:
        with psycopg.connect(place.dsn("checked_reader"), autocommit=True) as connection:
            connection.execute(
                "CREATE FUNCTION trap.f() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN"
                " IF current_user <> 'checked_reader' THEN"
                " RAISE EXCEPTION 'executed by %', current_user; END IF; RETURN 1; END $$"
            )
            connection.execute("SELECT trap.f()")
        found = report(place.dsn())
        allowed = report(place.dsn(), "--all-users", "--top", "100")
    finally:
        with place.connect() as connection:
            connection.execute("DROP SCHEMA trap CASCADE")
    assert unknown(found, "most expensive") == []
    (why,) = unknown(found, "of other users")
    assert "--all-users" in why
    assert unknown(allowed, "most expensive") == [f"executed by {SUPERUSER}"]
    assert unknown(allowed, "of other users") == []


def test_own_queries_are_found_behind_a_hundred_of_others(place: Place) -> None:
    with place.connect() as connection:
        connection.execute("SELECT pg_stat_statements_reset()")
        connection.execute("SELECT v FROM items WHERE id = 7")
    with psycopg.connect(place.dsn("checked_reader"), autocommit=True) as connection:
        for n in range(101):
            connection.execute(f"SELECT pg_sleep(0.001) AS c{n}".encode())
    found = report(place.dsn())
    assert [one for one in found["queries"] if "id = $1" in one["query"]]


def test_no_function_of_the_users_is_called_in_place_of_postgresqls(place: Place) -> None:
    """With other names before pg_catalog, or of a better fit: `format` takes any types there."""
    trap = "CREATE FUNCTION {} LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a trap'; END $$"
    with place.connect() as connection:
        connection.execute("CREATE SCHEMA trap")
        for function in (
            *("trap.format(text, name, name) RETURNS text", "trap.now() RETURNS timestamptz"),
            *("trap.pg_get_userbyid(oid) RETURNS name", "trap.cardinality(regtype[]) RETURNS int"),
        ):
            connection.execute(trap.format(function).encode())
        connection.execute("ALTER DATABASE checked SET search_path TO trap, pg_catalog, public")
    try:
        found = report(place.dsn(), "--execute", "--query", LOOKUP)
    finally:
        with place.connect() as connection:
            connection.execute("ALTER DATABASE checked RESET search_path")
            connection.execute("DROP SCHEMA trap CASCADE")
    assert not [one for one in found["unknown"] if "a trap" in one["why"]]
    assert found["tables"]
    assert found["queries"][0]["execution"]["ours_rows"] == 1


def test_a_wrapper_that_is_not_on_the_machine_has_no_commands() -> None:
    absent = model.Wrapper(OUR_WRAPPER, None, None, usable=False)
    far = model.ForeignServer("far", "postgres_fdw", "me", {}, True, True, True, True)
    (finding,) = findings.of_servers((far,), (absent,), ())
    assert "docs/howto/installing.md" in finding.text
    assert finding.remedy == ()


def foreign_table(**changes: Any) -> model.ForeignTable:
    """Return a table of the server `far` that needs nothing."""
    table = model.ForeignTable(
        *("s", "t", "s.t", "far"), {}, 5.0, None, 1.0, readable=True, owner="me", owned=True
    )
    return dataclasses.replace(table, **changes)


@pytest.mark.parametrize(
    ("wrapper", "version", "owner", "words"),
    [
        ("postgres_fdw", 150000, "me", "guesses its rows. ANALYZE fetches all of its rows."),
        ("postgres_fdw", 160000, "me", "guesses its rows."),
        ("file_fdw", 180000, "me", "ANALYZE reads the whole file."),
        ("tollfree_file_fdw", 180000, "her", "rows. Its owner, her, can execute this."),
    ],
)
def test_what_analyze_costs_and_who_can_execute_it(
    wrapper: str, version: int, owner: str, words: str
) -> None:
    far = model.ForeignServer("far", wrapper, "me", {}, True, True, True, True)
    table = foreign_table(row_estimate=None, owner=owner, owned=owner == "me")
    (finding,) = findings.of_tables((table,), {"far": far}, (), version)
    assert finding.text.endswith(words)


def test_what_nobody_can_analyze_is_not_proposed() -> None:
    options = {"program": "cat /nowhere"}
    table = foreign_table(options=options, row_estimate=None)
    assert list(findings.of_tables((table,), {}, (), 180000)) == []


@pytest.mark.parametrize(("text", "size"), [("50", 50), ("1e3", 1000), ("0x64", 100)])
def test_a_fetch_size_is_read_as_postgresql_does(text: str, size: int) -> None:
    far = model.ForeignServer("far", "postgres_fdw", "me", {}, True, True, True, True)
    table = foreign_table(options={"fetch_size": text})
    assert inventory.fetch_size(table, far) == size


def test_secrets_of_options_are_not_shown() -> None:
    options = {"program": "curl -u me:secret x", "password": "secret", "user": "me"}
    shown = inventory.without_secrets(options)
    assert "secret" not in str(shown)
    assert shown["program"].startswith("curl ")
    assert inventory.without_secrets({"program": "PGPASSWORD=secret psql"}) == {
        "program": "(hidden)"
    }
    assert shown["user"] == "me"


SCAN = {"Node Type": "Foreign Scan", "Parent Relationship": "Inner", "Plan Rows": 1}
OUTER = {"Node Type": "Seq Scan", "Parent Relationship": "Outer", "Plan Rows": 30_000}
INIT = {"Node Type": "Result", "Parent Relationship": "InitPlan", "Plan Rows": 1}


@pytest.mark.parametrize(
    ("node", "children", "times"),
    [
        ({"Node Type": "Nested Loop"}, [OUTER, SCAN], 30_000),
        ({"Node Type": "Nested Loop"}, [INIT, OUTER, SCAN], 30_000),
        ({"Node Type": "Hash Join"}, [OUTER, SCAN], 1),
        (
            {"Node Type": "Nested Loop"},
            [OUTER, {**OUTER, **SCAN, "Node Type": "Materialize", "Plans": [SCAN]}],
            1,
        ),
        (
            {"Node Type": "Seq Scan", "Plan Rows": 50, "Filter": "(SubPlan 1)"},
            [{**SCAN, "Parent Relationship": "SubPlan", "Subplan Name": "SubPlan 1"}],
            50,
        ),
        (
            {"Node Type": "Hash Join", "Plan Rows": 70, "Output": ["(SubPlan 1)"]},
            [OUTER, {**SCAN, "Parent Relationship": "SubPlan", "Subplan Name": "SubPlan 1"}],
            70,
        ),
        (
            {"Node Type": "Seq Scan", "Plan Rows": 50, "Filter": "(hashed SubPlan 1)"},
            [{**SCAN, "Parent Relationship": "SubPlan", "Subplan Name": "SubPlan 1"}],
            1,
        ),
    ],
)
def test_a_node_in_a_loop_is_counted_for_each_row(
    node: plans.Plan, children: list[plans.Plan], times: float
) -> None:
    plan = {**node, "Plans": children}
    (found,) = [n for one, n in plans.nodes(plan) if one["Node Type"] == "Foreign Scan"]
    assert found == times


def test_lookups_of_ours_in_a_loop_wait_at_least_once_a_batch() -> None:
    far = model.ForeignServer("far", "postgres_fdw", "me", {}, True, True, True, True)
    table = foreign_table()
    scan = {
        **SCAN,
        "Schema": "s",
        "Relation Name": "t",
        "Remote SQL": "SELECT v WHERE id = $1::int",
    }
    found = plans.costs(
        {"Node Type": "Nested Loop", "Plans": [OUTER, scan]}, {"far": far}, (table,)
    )
    assert found is not None
    assert (found.stock_round_trips, found.ours_round_trips) == (2 + 3 * 30_000, 3)


def test_old_statistics_are_named_with_their_age() -> None:
    then = datetime.now(UTC) - timedelta(days=OLD_DAYS + 1)
    table = foreign_table(analyzed=then, analyzed_days_ago=OLD_DAYS + 1.0)
    (finding,) = findings.of_tables((table,), {}, (), 180000)
    assert "31 days old" in finding.text
    assert finding.remedy == ("ANALYZE s.t;",)


def test_the_fields_of_the_json_are_documented() -> None:
    text = (CHECKOUT / "docs" / "howto" / "checking.md").read_text(encoding="utf-8")
    for part in vars(model).values():
        if dataclasses.is_dataclass(part):
            for field in dataclasses.fields(part):
                assert f"`{field.name}`" in text, f"{part} {field.name}"
