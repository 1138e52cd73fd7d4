"""Suite `interface` from end to end: run, limited, resumed, and every kind of output."""

import re
import signal
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from command_line import LIMIT_S, latest_run, start, tollfree, until_executing

from tollfree.errors import ExitCode
from tollfree.lab import DATABASE, LAB_PORT, Lab
from tollfree.store import Result, Run, Store
from tollfree.suites import findings_of
from tollfree.suites.interface.views import views_of

pytestmark = pytest.mark.cluster


INTERFACE_CASES = (
    "^(libpq|floor):(lcl:(ipc|tls):sql50k:1:001|rmt:tcp:sql001:0:20)"
    ":acc-(n|chunked|server-file):p-(none:null|all:file)$"
)


def test_the_interface_suite_end_to_end(lab: Lab, tmp_path: Path) -> None:
    """libpq and the floor on every kind of road, from the command line to the report."""
    tollfree("up")
    out, _ = tollfree("run", "interface", "--rounds", "1", "--only", INTERFACE_CASES)
    assert "Interface/Method, summarized" in out
    assert "Connecting, and one row" in out
    with lab.database() as store:
        run = latest_run(store, "interface")
        states = {r.testcase: r for r in store.results(run)}
        assert len(states) == len(store.run_cases(run)) > 15
        for name, result in states.items():
            lacks_chunks = ":acc-chunked:" in name and lab.installation.major < 17
            assert result.state == ("skipped" if lacks_chunks else "ok"), result.reason
            assert not lacks_chunks or "chunked rows" in str(result.reason)
        assert run.server["source"]["tls"]["version"].startswith("TLS")
        _what_the_server_and_the_link_did_is_counted(states)
        assert not list((lab.folder / "run").glob("ifttest*"))
        _changed_values_are_found(lab, store)
        _the_views_are_the_databases(store, run)

    page = tmp_path / "page.html"
    tollfree("report", "-o", str(page), str(run.run_id))
    assert "Location/Transport, summarized" in page.read_text(encoding="utf-8")
    tollfree("down")


def _the_views_are_the_databases(store: Store, run: Run) -> None:
    """A file's report has the same rows as the published experiment's views."""
    views = views_of(findings_of(store, run))
    queries: tuple[tuple[str, LiteralString], ...] = (
        ("ifmeth_cat_results", "SELECT * FROM lab.ifmeth_cat_results WHERE run_id = %s"),
        ("loccomm_cat_results", "SELECT * FROM lab.loccomm_cat_results WHERE run_id = %s"),
    )
    for view, query in queries:
        expected = {(r["testcase"], r["candidate"]): r for r in store.table(query, run.run_id)}
        assert len(expected) == len(views[view]) > 0
        for row in views[view]:
            of_database = expected[row["testcase"], row["candidate"]]
            for column, value in row.items():
                stored = of_database[column]
                if isinstance(value, float):
                    assert float(stored) == pytest.approx(value, abs=2e-5)
                else:
                    assert stored == value


def test_a_limit_ends_a_case_of_many_queries_and_shows_how_many(lab: Lab) -> None:
    tollfree("up")
    pattern = "^libpq:lcl:ipc:sql(001:0:50k|50k:1:001):acc-n:p-none:null$"
    options = ("--full", "--rounds", "1", "--limit", "1", "--only", pattern)
    out, _ = tollfree("run", "interface", *options)
    assert " of 50,000" in out
    assert "1 of 1 " in out
    assert "--limit 1" in out
    with lab.database() as store:
        run = latest_run(store, "interface")
        assert run.query_limit_s == 1
        many, one = sorted(store.results(run), key=lambda result: result.testcase)
        assert (many.state, one.state) == ("ok", "ok"), (many.reason, one.reason)
        assert many.argv[-2:] == one.argv[-2:] == ["-t", "1"]
        done = many.figures["executions"]
        assert 1 <= done < 50000
        assert many.figures["rows"] == many.figures["connections"] == done
        durations = store.table(
            "SELECT testcase, duration FROM lab.ifmeth_cat_results WHERE run_id = %s", run.run_id
        )
        assert {row["testcase"][:6] for row in durations if row["duration"] is None} == {"sql001"}
        _the_views_are_the_databases(store, run)
    _, err = tollfree("run", "fdw", "--limit", "1", code=ExitCode.USAGE)
    assert "--limit" in err
    tollfree("down")


def _what_the_server_and_the_link_did_is_counted(results: dict[str, Result]) -> None:
    """Of 20 executions and the one that is checked, each in a connection of its own."""
    figures = results["libpq:rmt:tcp:sql001:0:20:acc-n:p-none:null"].figures
    assert figures["server_cpu_ms"] > 0
    # In each: connecting, a user's name, a password in two turns, the statement.
    assert figures["link_flights"] >= 21 * 5
    assert figures["link_bytes_to_client"] % 21 == 0
    assert figures["link_bytes_to_client"] > 21 * figures["bytes"]
    local = results["libpq:lcl:ipc:sql50k:1:001:acc-n:p-none:null"].figures
    assert local["server_cpu_ms"] > 0
    assert "link_flights" not in local


def _changed_values_are_found(lab: Lab, store: Store) -> None:
    """One value is another than when the table was loaded: by the launcher of one SQL call."""
    case = "libpq:lcl:tcp:sql50k:1:001:acc-n:p-none:null"
    call = "SELECT * FROM lab.exectestcases(%s, '', '', 1, 'interface', 'quick', %s)"
    with lab.source().connect("iftest") as connection:
        assert store.table(call, lab.stage.search_path, f"^{case}$")[0]["dur"] is not None
        connection.execute("UPDATE t50k SET x1 = 'another' WHERE id = 7")
        assert store.table(call, lab.stage.search_path, f"^{case}$")[0]["dur"] is None
        connection.execute("DROP TABLE t50k")
    (row,) = store.table("SELECT reason FROM lab.testresults ORDER BY ts DESC LIMIT 1")
    assert "checksum" in row["reason"]


def test_an_interrupted_interface_run_goes_on_with_its_tables(lab: Lab) -> None:
    def table_file() -> object:
        with lab.source().connect("iftest") as connection:
            return connection.execute("SELECT pg_relation_filenode('t50k')").fetchone()

    tollfree("up")
    pattern = "^libpq:lcl:ipc:sql001:.:(20|1k):acc-n:p-none:null$"
    process = start("run", "interface", "--rounds", "200", "--only", pattern)
    until_executing(process)
    made = table_file()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.INTERRUPTED
    with lab.database() as store:
        run = store.runs()[0]
        before = {(r.testcase, r.iter): r.ts for r in store.results(run)}
        rounds = 1 + max((r.iter for r in store.results(run)), default=0)
        store.connection.execute(
            "UPDATE lab.runs SET rounds = %s,"
            " server = jsonb_set(server, '{source,clients,libpq}', '\"another\"')"
            " WHERE run_id = %s",
            (rounds, run.run_id),
        )
    _, err = tollfree("run", "interface", "--resume", code=ExitCode.LAB_STATE)
    assert "has measured another build of libpq" in err.replace("\n", " ")
    with lab.database() as store:
        store.describe_run(run, run.host, run.server)
    _, err = tollfree("run", "interface", "--resume")
    assert re.search(r"\d+ of \d+ executions, 0:00:\d\d left", err)
    with lab.database() as store:
        run = store.runs()[0]
        results = store.results(run)
        assert (run.state, len(results)) == ("complete", rounds * 2)
        assert before.items() <= {(r.testcase, r.iter): r.ts for r in results}.items()
        assert all(r.state == "ok" for r in results)
    assert table_file() == made
    tollfree("down")


def test_reading_needs_no_lab(lab: Lab) -> None:
    assert not lab.own.is_running()
    assert "interface" in tollfree("show")[0]
    assert not lab.own.is_running()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"host={lab.folder / 'run'} port={LAB_PORT} dbname={DATABASE}")
