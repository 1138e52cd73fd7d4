"""`tollfree check` on files: of which more could be kept, and what a query gains by that."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from test_check import foreign_table, report, run, undos, unknown

from tollfree.check import advice, figures, files, findings, kept, model
from tollfree.check.copies import Timed
from tollfree.cluster import SUPERUSER, Cluster
from tollfree.privileges import ServerUser
from tollfree.suites.foreign import recreate_database

DATABASE = "checked_files"
READER = "checked_files_reader"
ROWS = 40_000
MEASURED = "what can be kept"
LINES = f"""
    SELECT i, 'sensor ' || i % 50, i % 997, date '2026-01-01' + i % 365, md5(i::text)
    FROM generate_series(1, {ROWS}) AS i
"""
COLUMNS = "(id integer, sensor text, value integer, day date, mark text)"
OBJECTS = """
    CREATE EXTENSION tollfree_file_fdw CASCADE;
    COPY ({lines}) TO '{folder}/entry.csv' (FORMAT csv);
    COPY ({lines}) TO '{folder}/entry.txt';
    COPY (SELECT repeat('a long line ', 100000) FROM generate_series(1, 3)) TO '{folder}/wide.txt';
    CREATE SERVER logs FOREIGN DATA WRAPPER tollfree_file_fdw;
    CREATE FOREIGN TABLE entry {columns} SERVER logs
        OPTIONS (filename '{folder}/entry.csv', format 'csv');
    CREATE FOREIGN TABLE line {columns} SERVER logs OPTIONS (filename '{folder}/entry.txt');
    CREATE SERVER stock FOREIGN DATA WRAPPER file_fdw;
    CREATE FOREIGN TABLE "Old" {columns} SERVER stock
        OPTIONS (filename '{folder}/entry.csv', format 'csv');
    CREATE SERVER mixed FOREIGN DATA WRAPPER tollfree_file_fdw;
    CREATE FOREIGN TABLE wide (v text) SERVER mixed OPTIONS (filename '{folder}/wide.txt');
    CREATE FOREIGN TABLE printed (v text) SERVER mixed OPTIONS (program 'echo a line');
    CREATE FOREIGN TABLE decided {columns} SERVER mixed
        OPTIONS (filename '{folder}/entry.csv', format 'csv', record_index 'false');
    CREATE VIEW seen AS SELECT * FROM entry;
    CREATE FUNCTION fail_if_kept() RETURNS integer LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (SELECT FROM tollfree_file_fdw_record_indexes()) THEN
            RAISE EXCEPTION 'an index is there';
        END IF;
        RETURN 0;
    END $$;
    GRANT SELECT ON entry TO {reader};
    GRANT USAGE ON FOREIGN SERVER logs TO {reader};
"""
SWITCHED_ON = "(ADD record_index 'true', ADD column_cache 'true')"
TAIL = f"id > {ROWS - 1000}"


@dataclass(frozen=True)
class Place:
    """A server whose foreign tables read files."""

    server: Cluster

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return self.server.connect(DATABASE)

    def dsn(self, user: str = SUPERUSER) -> str:
        return self.server.conninfo(DATABASE).replace(f"user={SUPERUSER}", f"user={user}")

    def kept(self) -> set[str]:
        """Return the names of the files in the folder of what is kept."""
        folder = self.server.data / "pgsql_tmp_tollfree_file_fdw"
        return {path.name for path in folder.iterdir()} if folder.exists() else set()

    def marks(self) -> object:
        """What changes when anything is created, dropped or altered in the database."""
        with self.connect() as connection:
            return connection.execute(
                "SELECT (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_extension),"
                " (SELECT array_agg((srvname, srvfdw, srvoptions)::text ORDER BY srvname)"
                "  FROM pg_foreign_server),"
                " (SELECT array_agg((ftrelid, ftoptions)::text ORDER BY ftrelid)"
                "  FROM pg_foreign_table)"
            ).fetchone()


@pytest.fixture(scope="module")
def place(pg_instance: Cluster, home: Path, user: ServerUser) -> Iterator[Place]:
    folder = home / "check_files"
    folder.mkdir()
    user.own(folder)
    with pg_instance.connect() as connection:
        recreate_database(connection, DATABASE)
        connection.execute(f"DROP ROLE IF EXISTS {READER}")
        connection.execute(f"CREATE ROLE {READER} LOGIN")
    with pg_instance.connect(DATABASE) as connection:
        connection.execute(
            OBJECTS.format(lines=LINES, columns=COLUMNS, folder=folder, reader=READER)
        )
        # No index is made of a file that was changed less than two seconds ago.
        connection.execute("SELECT pg_sleep(2.1)")
    yield Place(pg_instance)
    with pg_instance.connect() as connection:
        connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
        connection.execute(f"DROP ROLE {READER}")


def advised(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the findings on what could be kept, by what they are about."""
    return {one["about"]: one for one in found["findings"] if "can be kept on disk" in one["text"]}


def executed(place: Place, query: str, *words: str) -> dict[str, Any]:
    """Return the report on a query that is executed, by which nothing must change or stay."""
    before, files_before = place.marks(), place.kept()
    found = report(place.dsn(), "--execute", "--query", query, *words)
    assert place.marks() == before
    assert place.kept() <= files_before
    return found


@pytest.mark.cluster
def test_files_of_which_more_could_be_kept_are_named_with_the_sql(place: Place) -> None:
    found = advised(report(place.dsn()))
    assert set(found) == {"server logs", "table public.wide", 'table public."Old"'}
    logs, old = found["server logs"], found['table public."Old"']
    assert logs["remedy"] == [f'ALTER SERVER "logs" OPTIONS {SWITCHED_ON};']
    assert old["remedy"] == [f'ALTER FOREIGN TABLE public."Old" OPTIONS {SWITCHED_ON};']
    assert "MB), public.line (" in logs["text"]
    assert "the files are written as docs/reference/tollfree_file_fdw.md#how" in logs["text"]
    assert "What it cannot promise is a faster first query" in logs["text"]
    assert "once its server is switched to tollfree_file_fdw" in old["text"]
    assert "tollfree check --execute --query" in old["text"]


@pytest.mark.cluster
def test_the_proposed_commands_have_all_kept_and_are_taken_back(place: Place) -> None:
    before = place.marks()
    found = report(place.dsn())
    proposed = advised(found)
    adopt = "SELECT tollfree_file_fdw_adopt('stock');"
    assert adopt in [command for one in found["findings"] for command in one["remedy"]]
    with place.connect() as connection:
        connection.execute(adopt)
        for one in proposed.values():
            for command in one["remedy"]:
                connection.execute(command.encode())
        connection.execute('SELECT count(*) FROM entry; SELECT count(*) FROM "Old"')
        made = connection.execute("SELECT count(*) FROM tollfree_file_fdw_record_indexes()")
        assert made.fetchone() == (2,)
        assert advised(report(place.dsn())) == {}
        for command in undos({"findings": [*proposed.values()]}):
            connection.execute(command.encode())
        left = connection.execute("SELECT count(*) FROM tollfree_file_fdw_record_indexes()")
        assert left.fetchone() == (0,)
        connection.execute("SELECT tollfree_file_fdw_release('stock')")
    assert place.marks() == before


@pytest.mark.cluster
@pytest.mark.parametrize("table", ["entry", "line", '"Old"'])
def test_a_query_is_measured_with_what_can_be_kept(place: Place, table: str) -> None:
    query = f"SELECT count(*), min(sensor) FROM {table} WHERE {TAIL}"
    found = executed(place, query)
    assert unknown(found, MEASURED) == []
    (one,) = found["queries"]
    assert one["file_rows"] > 0
    done = one["kept"]
    assert done["tables"] == [f"public.{table}"]
    assert (done["plain_rows"], done["later_rows"], done["executions"]) == (1, 1, kept.LATER)
    assert min(done["plain_ms"], done["first_ms"], done["later_ms"]) > 0
    assert done["kept_bytes"] > 0
    assert done["reasons"] == []
    named = [text for text in advised(found).values() if f"public.{table} (" in text["text"]]
    assert bool(named) == done["is_faster"]
    assert (one["execution"] is not None) == (table == '"Old"')


@pytest.mark.cluster
def test_the_three_times_and_the_size_are_said(place: Place) -> None:
    out, _ = run(place.dsn(), "--execute", "--query", f"SELECT count(*) FROM line WHERE {TAIL}")
    (line,) = [text for text in out.splitlines() if "with what can be kept" in text]
    words = ("public.line: ", " ms without, ", " ms the first time, ", " ms from then on; ")
    assert all(word in line for word in (*words, " on disk."))


@pytest.mark.cluster
def test_of_a_file_of_which_nothing_is_kept_the_reason_is_said(place: Place) -> None:
    found = executed(place, "SELECT count(v) FROM wide")
    done = found["queries"][0]["kept"]
    assert (done["kept_bytes"], done["is_faster"]) == (0, False)
    assert done["reasons"] == ["the file has fewer than two blocks"]
    assert "table public.wide" not in advised(found)
    assert "server logs" in advised(found)


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"SELECT count(*) + fail_if_kept() FROM entry WHERE {TAIL}", "an index is there"),
        ("SELECT count(*), pg_sleep(30) FROM entry", "timeout: --timeout allows more"),
        ("SELECT count(*) FROM seen", "through a view"),
    ],
)
def test_a_query_that_cannot_be_measured_leaves_nothing(place: Place, query: str, why: str) -> None:
    found = executed(place, query, "--timeout", "3")
    assert found["queries"][0]["kept"] is None
    (answer,) = unknown(found, MEASURED)
    assert why in answer


@pytest.mark.cluster
@pytest.mark.parametrize("table", ["printed", "decided"])
def test_a_query_of_which_nothing_can_be_kept_is_not_measured(place: Place, table: str) -> None:
    found = executed(place, f"SELECT count(*) FROM {table}")
    assert found["queries"][0]["kept"] is None
    assert unknown(found, MEASURED) == []


@pytest.mark.cluster
def test_without_leave_a_query_is_not_measured(place: Place) -> None:
    found = report(place.dsn(), "--query", "SELECT count(*) FROM entry")
    (one,) = found["queries"]
    assert one["kept"] is None
    assert one["servers"] == ["logs"]
    assert "server logs" in advised(found)


@pytest.mark.cluster
def test_a_user_with_few_rights_sees_no_sizes_and_whose_rights_it_takes(place: Place) -> None:
    found = report(place.dsn(READER), "--execute", "--query", "SELECT count(*) FROM entry")
    assert {table["file_size"] for table in found["tables"]} == {None}
    text = advised(found)["server logs"]["text"]
    assert "Of public.entry, public.line a record index" in text
    assert text.endswith(f" It takes the rights of {SUPERUSER}.")
    assert found["queries"][0]["kept"] is None
    assert len(unknown(found, MEASURED)) == 1


AUTO = {"record_index": "auto", "column_cache": "auto"}
BOTH = ("record_index", "column_cache")


def file_server(wrapper: str = files.OURS, **options: str) -> model.ForeignServer:
    return model.ForeignServer("far", wrapper, "me", options, True, True, True, True)


def file_table(**options: str) -> model.ForeignTable:
    options = {"filename": "/data/log.csv"} | options
    return foreign_table(options=options, row_estimate=None, file_size=files.LEAST_BYTES)


@pytest.mark.parametrize(
    ("of_table", "of_server", "limits", "options"),
    [
        ({}, {}, {}, BOTH),
        ({"format": "csv", "header": "true", "append_only": "true"}, {}, {}, BOTH),
        ({"compression": "auto"}, {}, {}, BOTH),
        ({"record_index": "true"}, {}, {}, ("column_cache",)),
        ({"record_index": "off"}, {}, {}, ()),
        ({"column_cache": "on"}, {}, {}, ()),
        ({"column_cache": "false"}, {}, {}, ("record_index",)),
        ({}, {"column_cache": "true"}, {}, ()),
        ({"column_cache": "false"}, {"column_cache": "true"}, {}, ("record_index",)),
        ({}, {}, {"column_cache": "off"}, ("record_index",)),
        ({}, {}, {"record_index": "on"}, ("column_cache",)),
        ({}, {}, {"column_cache": "on"}, ()),
        ({}, {}, {"record_index": "off", "column_cache": "off"}, ()),
        ({"compression": "gzip"}, {}, {}, ()),
        ({"compression": "auto", "filename": "/data/log.csv.zst"}, {}, {}, ()),
        ({"filenames": "/data/*.csv"}, {}, {}, ()),
        ({"program": "cat /data/log.csv"}, {}, {}, ()),
        ({"format": "binary"}, {}, {}, ()),
        ({"on_error": "IGNORE"}, {}, {}, ()),
        ({"header": "Match"}, {}, {}, ()),
        ({"comment": "#"}, {}, {}, ()),
        ({"skip_lines": "2"}, {}, {}, ()),
        ({"missing_fields": "null"}, {}, {}, ()),
        ({"encoding": "Shift_JIS_2004"}, {}, {}, ()),
    ],
)
def test_which_options_have_more_kept_of_a_file(
    of_table: dict[str, str],
    of_server: dict[str, str],
    limits: dict[str, str],
    options: tuple[str, ...],
) -> None:
    server = file_server(**of_server)
    assert files.addable(file_table(**of_table), server, AUTO | limits) == options


@pytest.mark.parametrize(
    ("size", "rows", "small"),
    [
        (files.LEAST_BYTES - 1, None, True),
        (files.LEAST_BYTES, 5.0, False),
        (None, 5.0, True),
        (None, files.LEAST_ROWS + 1.0, False),
        (None, None, False),
    ],
)
def test_small_files_are_left_alone(size: int | None, rows: float | None, *, small: bool) -> None:
    table = dataclasses.replace(file_table(), file_size=size, row_estimate=rows)
    assert files.is_small(table) == small
    assert (files.addable(table, file_server(), AUTO) == ()) == small


def test_of_a_wrapper_that_is_not_on_the_machine_nothing_is_proposed() -> None:
    absent = model.Wrapper(files.OURS, None, None, usable=False)
    server = file_server("file_fdw")
    assert list(advice.of_files((server,), (file_table(),), AUTO, (absent,), ())) == []


def query_of(done: model.KeptExecution) -> model.Query:
    return model.Query("SELECT", None, None, ("far",), 0, 5, 0, 0, kept=done)


@pytest.mark.parametrize(
    ("later_ms", "on_disk", "faster"), [(7.0, 10, True), (9.0, 10, False), (7.0, 0, False)]
)
def test_only_what_makes_the_query_faster_is_proposed(
    later_ms: float, on_disk: int, *, faster: bool
) -> None:
    plain = [Timed(ms, 1, {"Node Type": "Result"}) for ms in (99.0, 10.0, 10.0, 10.0)]
    later = [Timed(ms, 1, {"Node Type": "Result"}) for ms in (20.0, later_ms, later_ms, 1.0)]
    done = kept.compared(("s.t",), plain, later, on_disk)
    assert (done.plain_ms, done.first_ms, done.later_ms) == (10.0, 20.0, later_ms)
    assert done.is_faster == faster
    found = advice.of_files((file_server(),), (file_table(),), AUTO, (), (query_of(done),))
    texts = [one.text for one in found]
    assert len(texts) == int(faster)
    assert all("takes 7 ms then, and 10 ms without." in text for text in texts)


def test_other_rows_by_what_is_kept_are_a_finding() -> None:
    done = model.KeptExecution(("s.t",), 2.0, 2.0, 1.0, 3, 10, 5, 4, (), is_faster=True)
    (finding,) = findings.of_executions((query_of(done),))
    assert "5 rows, and 4 by what was kept" in finding.text


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1023, "1,023 bytes"),
        (1536, "1.5 kB"),
        (5 << 30, "5 GB"),
        (1 << 60, "1,048,576 TB"),
    ],
)
def test_sizes_are_said_in_their_largest_unit(count: int, words: str) -> None:
    assert figures.size(count) == words
