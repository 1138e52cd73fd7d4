"""The suites `fdw`, `sampling`, `shards` and `interface` from end to end, on real servers.

They run, are judged, interrupted, resumed, limited and refused, from the command line to every kind
of output. Suite `file` is in test_file_suite.py.
"""

import json
import re
import shutil
import signal
from hashlib import sha256
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from command_line import LIMIT_S, start, tollfree, until, until_executing
from page_cache import ATTEMPTS, evict

from tollfree.errors import ExitCode
from tollfree.host import fingerprint
from tollfree.lab import DATABASE, LAB_PORT, Lab
from tollfree.store import Result, Run, Store
from tollfree.suites import findings_of
from tollfree.suites.fdw.databases import SOURCE, has_scale
from tollfree.suites.foreign import recreate_database
from tollfree.suites.interface.views import views_of
from tollfree.suites.shards.findings import ShardsFindings

pytestmark = pytest.mark.cluster


def test_the_fdw_suite_end_to_end(lab: Lab, tmp_path: Path) -> None:
    """A few cases of every kind, from the command line to every kind of output."""
    pattern = (
        "^(RO|RW):(local|direct|FDW_external):.*:simple:rr:c1:flights$"
        "|^R[OW]:(local|local_again|FDW_ext.*):.*:lcl:.*:simple:rr:c1:tps$"
        "|^(SCAN|INSERT|COPY):.*:(default|1000):bulk$"
        "|^SCAN_1KB:.*:2000us:default:bulk$"
        "|^INSERT_1KB:.*:1000:bulk$"
        "|^without:(all|direct_results):RO:.*:simple:|^without:insert_arrays:"
    )
    out, _ = tollfree("run", "fdw", "--rounds", "1", "--only", pattern)
    assert "RO.FDW_external" in out
    said = " ".join(out.split())
    assert "Reading 100,000 rows through tollfree_postgres_fdw: postgres_fdw takes" in said
    assert "Reading 20,000 rows of 1 kB through tollfree_postgres_fdw with a round trip" in said
    assert "Fast paths that " in said
    with lab.database() as store:
        run = store.latest_run("fdw")
        assert run is not None
        results = {r.testcase: r for r in store.results(run)}
        assert all(r.state == "ok" for r in results.values())
        assert _flights(results, "RO:FDW_external:postgres_fdw") == 5
        assert _flights(results, "RO:FDW_external:tollfree_postgres_fdw") == 1
        assert _flights(results, "RO:direct:none") == 1
        assert _flights(results, "RW:direct:none") == 7
        closed = results["without:all:RO:rmt:tcp:2000us:simple:flights"]
        assert closed.figures["flights_per_tx"] == 2
        copied = results["SCAN_1KB:direct:none:rmt:tcp:2000us:default:bulk"].figures
        assert (copied["rows"], copied["bytes"] // 20_000) == (20_000, 998)
        _judge_sees_through_wrong_rows(store)

    page, document = tmp_path / "page.html", tmp_path / "run.json"
    tollfree("report", "-o", str(page))
    assert "RO.FDW_external" in page.read_text(encoding="utf-8")
    tollfree("export", "--format", "json", "-o", str(document), str(run.run_id))
    assert len(json.loads(document.read_text())["results"]) == len(results)
    tollfree("export", "--format", "csv", "-o", str(tmp_path / "csv"), str(run.run_id))
    lines = (tmp_path / "csv" / "benchRO.FDW_external").read_text().splitlines()
    assert len(lines) == 1
    mean_ms, including, excluding = map(float, lines[0].split(","))
    assert 0 < including < excluding
    assert mean_ms == pytest.approx(1000 / excluding, rel=0.05)
    out, _ = tollfree("compare", str(run.run_id), str(document))
    assert "RO:FDW_external" in out
    assert "~" in out


def test_lookups_find_their_rows_in_the_page_cache(lab: Lab) -> None:
    """Evicted, what they read comes from the disk; what begins an execution reads it before."""
    case = "RO:local:none:lcl:ipc:simple:rr:c1:tps"
    relations = "public.files_of_tables('{pgbench_accounts,pgbench_accounts_pkey}') AS path"
    if fingerprint(lab.folder)["file_system"] == "tmpfs":
        pytest.skip(f"{lab.folder} is in memory: there is no disk to read from")
    tollfree("up")
    tollfree("run", "fdw", "--rounds", "1", "--only", f"^{case}$")
    with lab.source().connect("source") as connection, lab.database() as store:

        def from_disk() -> int:
            """Read all of it and return how many bytes were not in the page cache."""
            counted = []
            for statement in (
                "SELECT public.bytes_from_disk()",
                f"SELECT count(public.read_file(path)) FROM {relations}",
                "SELECT public.bytes_from_disk()",
            ):
                row = connection.execute(statement).fetchone()
                assert row is not None
                counted.append(int(str(row[0])))
            return counted[2] - counted[0]

        connection.execute("CHECKPOINT")
        paths = connection.execute(f"SELECT path FROM {relations}").fetchall()
        assert len(paths) == 2
        files = [lab.source().data / str(path) for (path,) in paths]
        size = sum(map(evict, files))
        assert from_disk() >= size / 2

        def is_found_in_the_page_cache() -> bool:
            sum(map(evict, files))
            store.table(
                "SELECT * FROM lab.exectestcases(%s, '', '', 1, 'fdw', 'quick', %s)",
                lab.stage.search_path,
                f"^{case}$",
            )
            (row,) = store.table(
                "SELECT state, figures FROM lab.testresults ORDER BY ts DESC LIMIT 1"
            )
            assert row["state"] == "ok"
            found: bool = max(row["figures"]["disk_bytes"], from_disk()) < size / 100
            return found

        assert any(is_found_in_the_page_cache() for _ in range(ATTEMPTS))
    tollfree("down")


def test_a_resumed_run_loads_again_what_was_interrupted_before_its_keys(lab: Lab) -> None:
    """All rows are there then, but neither keys nor what the suite adds to the database."""
    case = "RO:local:none:lcl:ipc:simple:rr:c1:tps"
    tollfree("up")
    with lab.database() as store:
        scale = store.profile("fdw", "quick").scale
        run = store.start_run(
            "fdw", "quick", rounds=1, pattern=f"^{case}$", seed=1, query_limit_s=None
        )
        store.set_run_state(run, "interrupted")
    source = lab.source()
    with source.connect() as connection:
        recreate_database(connection, SOURCE)
    source.user.run(
        [
            str(lab.installation.bindir / "pgbench"),
            *("--initialize", "--init-steps=dtg", "--quiet", f"--scale={scale}"),
            source.conninfo(SOURCE),
        ],
        timeout_s=LIMIT_S,
    ).check_returncode()
    assert not has_scale(source, scale)

    tollfree("run", "fdw", "--resume")
    assert has_scale(source, scale)
    assert not has_scale(source, scale + 1)
    with lab.database() as store:
        assert {r.state for r in store.results(run)} == {"ok"}
    tollfree("down")


def test_a_resumed_run_goes_on_at_the_scale_that_it_began_with(lab: Lab) -> None:
    case = "RO:local:none:lcl:ipc:simple:rr:c1:latency"
    tollfree("up")
    with lab.database() as store:

        def set_quick(scale: int, seconds: int) -> None:
            store.connection.execute(
                "UPDATE lab.profiles SET scale = %s, seconds = %s"
                " WHERE suite = 'fdw' AND profile = 'quick'",
                (scale, seconds),
            )

        before = store.profile("fdw", "quick")
        set_quick(2, 1)
        run = store.start_run(
            "fdw", "quick", rounds=1, pattern=f"^{case}$", seed=1, query_limit_s=None
        )
        store.set_run_state(run, "interrupted")
        set_quick(3, 2)
        tollfree("run", "fdw", "--resume")
        assert has_scale(lab.source(), 2)
        (result,) = store.results(run)
        assert result.state == "ok"
        assert "--scale 2" in " ".join(result.argv)
        assert "--seconds 1" in " ".join(result.argv)
        assert store.run(run.run_id).size == "quick, scale 2, seconds 1"
        present = store.profile("fdw", "quick")
        assert (present.scale, present.seconds) == (3, 2)
        set_quick(before.scale, before.seconds)
    tollfree("down")


def test_a_run_is_not_resumed_on_other_servers(lab: Lab) -> None:
    """Nor with another build of a wrapper; that the server offers TLS by now is no difference."""
    wrapper = "tollfree_postgres_fdw"
    pattern = f"^RO:FDW_external:{wrapper}:lcl:tcp:simple:rr:c1:tps$"
    tollfree("run", "fdw", "--rounds", "1", "--only", pattern)
    with lab.database() as store:
        run = store.latest_run("fdw")
        assert run is not None
        module = (lab.stage.pkglibdir / f"{wrapper}.so").read_bytes()
        assert run.server["source"]["modules"] == {wrapper: sha256(module).hexdigest()}
        before = store.results(run)
    version = run.server["source"]["version"]
    for changed, words in (
        (("source", "modules", wrapper), f"has measured another build of {wrapper}"),
        (("external", "version"), f"has measured PostgreSQL another, and here is {version}"),
        (("source", "settings", "max_connections"), "at another, and here is 100"),
        (("external", "settings", "work_mem"), "work_mem at another, and here is its default"),
    ):
        with lab.database() as store:
            store.describe_run(run, run.host, run.server)
            store.set_run_state(run, "interrupted")
            store.connection.execute(
                "UPDATE lab.runs SET server = jsonb_set(server, %s, '\"another\"')"
                " WHERE run_id = %s",
                (list(changed), run.run_id),
            )
        _, err = tollfree("run", "fdw", "--resume", code=ExitCode.LAB_STATE)
        assert f"run {run.run_id} has measured" in err
        assert words in err.replace("\n", " ")
        assert "Begin a new run" in err
        with lab.database() as store:
            assert store.run(run.run_id).state == "interrupted"
            assert store.results(run) == before
    run.server["source"]["settings"]["ssl"] = "on"
    with lab.database() as store:
        store.describe_run(run, run.host, run.server)
    tollfree("run", "fdw", "--resume")


def _flights(results: dict[str, Result], prefix: str) -> float | None:
    (found,) = (
        r for name, r in results.items() if name.startswith(prefix) and name.endswith("flights")
    )
    return found.value


def _judge_sees_through_wrong_rows(store: Store) -> None:
    """Ask the suite's judge about outcomes that must not count."""
    cases = {
        ("RO", "0|0|0|0|9|9\n0|0|0|0|9|9\n", "0|0|0|0|9|8\n0|0|0|0|9|9\n"): "the target answers",
        ("RO", "0|0|0|0|9|9\n0|0|0|0|9|9\n", "1|0|0|0|9|9\n1|0|0|0|9|9\n"): "changed the data",
        ("RW", "0|0|0|0|9|9\n0|0|0|0|9|9\n", "4|7|7|7|9|9\n4|7|7|7|9|9\n"): "4 were written",
        ("RW", "0|0|0|0|9|9\n0|0|0|0|9|9\n", "5|7|8|7|9|9\n5|7|8|7|9|9\n"): "the sums",
    }
    for (bench, before, after), words in cases.items():
        (row,) = store.table(
            "SELECT lab.fdw_judge(jsonb_populate_record(NULL::lab.run_cases, %s::jsonb),"
            ' \'{"transactions": 5, "failed": 0}\', %s, %s) AS reason',
            json.dumps({"dims": {"bench": bench}}),
            before,
            after,
        )
        assert words in row["reason"]
    _bulk_judge_sees_through_wrong_rows(store)


def _bulk_judge_sees_through_wrong_rows(store: Store) -> None:
    """The same for large results and many rows written: each by how its figures are read."""
    right, short, wrong = (
        json.dumps({"rows": rows, "sums": sums}) for rows, sums in ((5, "1"), (4, "1"), (5, "2"))
    )
    copied, other, cut = (
        json.dumps({"rows": rows, "checksum": checksum, "bytes": 50})
        for rows, checksum in ((5, 1), (5, 2), (4, 1))
    )
    for format_, figures, probed, words in (
        ("json", right, f"{short}\n{right}\n", None),
        ("json", short, f"{right}\n{right}\n", "where the source has"),
        ("json", wrong, f"{right}\n{right}\n", "where the source has"),
        ("none", "{}", f"{right}\n{right}\n", None),
        ("none", "{}", f"{wrong}\n{right}\n", "where the source has"),
        ("none", "{}", f"{short}\n{short}\n", "the source has 4 rows where 5 are needed"),
        ("fdw_copy", copied, "1 50\nrows=5\n", None),
        ("fdw_copy", other, "1 50\nrows=5\n", "where the source has"),
        ("fdw_copy", cut, "1 50\nrows=5\n", "where the source has"),
        ("fdw_copy", cut, "1 50\nrows=4\n", "the source has 4 rows where 5 are needed"),
        ("fdw_copy", "{}", "", "the source has  rows where 5 are needed"),
    ):
        (row,) = store.table(
            "SELECT lab.fdw_judge(jsonb_populate_record(NULL::lab.run_cases, %s::jsonb),"
            " %s, NULL, %s) AS reason",
            json.dumps({"format": format_, "dims": {"measure": "bulk", "rows": 5}}),
            figures,
            probed,
        )
        assert row["reason"] is None if words is None else words in row["reason"]


def test_the_sampling_suite_end_to_end(lab: Lab, tmp_path: Path) -> None:
    """The smallest table, by some methods of every road."""
    pattern = (
        "^(sample:10k:(full|bernoulli|system):1?0?[01]:|analyze:10k:.*:t100:).*(lcl:|200us|file)"
    )
    out, _ = tollfree("run", "sampling", "--rounds", "1", "--only", pattern)
    assert "What a row costs" not in out
    with lab.database() as store:
        run = store.latest_run("sampling")
        assert run is not None
        results = {r.testcase: r for r in store.results(run)}
        assert all(r.state == "ok" for r in results.values())
        full = results["sample:10k:full:100:tollfree_postgres_fdw:lcl:tcp"]
        assert full.figures["rows"] == 10_000
        sampled = results["sample:10k:bernoulli:1:postgres_fdw:rmt:tcp:200us"]
        assert 0 < sampled.figures["rows"] < 200
        whole = results["analyze:10k:off:t100:tollfree_postgres_fdw:lcl:tcp"].figures
        assert (whole["rows"], whole["columns"]) == (10_000, 5)
        assert whole["distinct_clustered"] == pytest.approx(1, abs=0.02)
        assert whole["correlation_error"] < 0.1
        for file in ("off:t100:file_fdw", "auto:t100:tollfree_file_fdw"):
            of_file = results[f"analyze:10k:{file}:file"].figures
            assert (of_file["rows"], of_file["columns"]) == (10_000, 5)
            assert of_file["distinct_clustered"] == pytest.approx(1, abs=0.02)
        (analyzers,) = store.table(
            "SELECT count(*) FROM lab.sampling_analyzers WHERE wrapper = 'tollfree_postgres_fdw'"
            " AND method IN ('off', 'random', 'bernoulli', 'system', 'auto') AND rtt_us IS NULL"
        )
        assert analyzers["count"] == 5
        _sampling_judge_sees_through_wrong_samples(store)

    page = tmp_path / "page.html"
    tollfree("report", "-o", str(page))
    assert "Sampling the table of 10k rows, postgres_fdw at 200 µs" in page.read_text("utf-8")
    assert "ANALYZE of 10k rows" in page.read_text("utf-8")
    # Of all suites the latest run.
    out, _ = tollfree("export", "--format", "csv", "-o", str(tmp_path / "csv"))
    for name in ("sampling-local.svg", "sampling-200us.svg"):
        assert str(tmp_path / "csv" / name) in out.split()
        assert "10k rows, postgres_fdw" in (tmp_path / "csv" / name).read_text("utf-8")


def test_the_shards_suite_end_to_end(lab: Lab, tmp_path: Path) -> None:
    """Aggregates, first rows, joins and writes, over four servers."""
    operations = (
        *("AGGREGATE", "TOPN", "JOIN_LOCAL", "SUBQUERY", "JOIN_COLOCATED"),
        *("COPY", "UPDATE", "TPCB", "Q6"),
    )
    mixed = "AGGREGATE:foreign:tollfree_postgres_fdw:2 servers:rmt:tcp:200us and 2000us"
    chosen = f"local|4 servers:rmt:tcp:1000us|citus:2 servers:rmt:tcp:1000us|{mixed}$"
    pattern = f"^(?=({'|'.join(operations)}):).*({chosen})"
    out, _ = tollfree("run", "shards", "--rounds", "1", "--only", pattern)
    assert "Sharded tables over rmt:tcp:1000us" in out
    with lab.database() as store:
        run = store.latest_run("shards")
        assert run is not None
        results = {r.testcase: r for r in store.results(run)}
        citus = {name: r for name, r in results.items() if ":citus:" in name}
        assert len(citus) == len(operations) - 1  # it refuses the subquery
        no_citus = "the extension citus is not installed in this PostgreSQL"
        assert {r.reason for r in citus.values()} <= {None, no_citus}
        assert all(r.state == "ok" for name, r in results.items() if name not in citus)
        assert mixed in results
        shards = ShardsFindings(findings_of(store, run))
    for operation in set(operations) - {"TPCB"}:
        same = {
            r.figures["answer"]
            for name, r in results.items()
            if name.startswith(f"{operation}:") and r.state == "ok"
        }
        assert len(same) == 1

    def counted(operation: str, wrapper: str, what: str, content: str = "") -> float:
        name = f"{operation}:foreign:{wrapper}:4 servers:rmt:tcp:1000us{content}"
        found = shards.counted(name, what)
        assert found is not None
        return found

    # Databases are made for the cases alone.
    with lab.running(), lab.external().connect() as connection:
        made = connection.execute("SELECT datname FROM pg_database WHERE datname ~ '^shards_'")
        assert {name for (name,) in made} == {
            "shards_local",
            "shards_4_rmt_tcp_1000us",
            "shards_tollfree_4_rmt_tcp_1000us",
            "shards_tollfree_2_rmt_tcp_200us_and_2000us",
        }
    # Groups and first rows travel, from each of four servers, not all rows, fetched 100 at a time.
    assert counted("AGGREGATE", "postgres_fdw", "rows") == 100_000
    assert (shards.counted(mixed, "rows") or 1e9) <= 2 * (41 + 1)
    # One row more tells whether the remote transaction has written.
    assert counted("AGGREGATE", "tollfree_postgres_fdw", "rows") <= 4 * (41 + 1)
    assert counted("TOPN", "tollfree_postgres_fdw", "rows") <= 4 * (10 + 1)
    assert counted("AGGREGATE", "postgres_fdw", "flights") > 1000
    assert counted("AGGREGATE", "tollfree_postgres_fdw", "flights") <= 8
    assert counted("AGGREGATE", "tollfree_postgres_fdw", "bytes") < 20_000
    assert counted("TOPN", "tollfree_postgres_fdw", "bytes") < 5_000
    assert counted("JOIN_LOCAL", "tollfree_postgres_fdw", "flights") <= 8
    assert counted("SUBQUERY", "postgres_fdw", "flights") > 1000
    assert counted("SUBQUERY", "tollfree_postgres_fdw", "flights") <= 8
    assert counted("JOIN_COLOCATED", "tollfree_postgres_fdw", "bytes") < 5_000
    # A sum of each server, whether of tables or of text files.
    for content in (":tables", ":text"):
        assert counted("Q6", "tollfree_postgres_fdw", "bytes", content) < 2_000
        assert counted("Q6", "postgres_fdw", "bytes", content) > 100_000
    assert counted("COPY", "postgres_fdw", "flights") > 5000
    # Before 16 PostgreSQL gives COPY's rows one by one.
    if lab.installation.major >= 16:
        assert counted("COPY", "tollfree_postgres_fdw", "flights") <= 30
    page = tmp_path / "page.html"
    tollfree("report", "-o", str(page))
    assert "Sharded tables over rmt:tcp:1000us" in page.read_text("utf-8")


def test_an_interrupted_sampling_run_goes_on_with_its_data(lab: Lab) -> None:
    """Nothing is lost, doubled, or made again."""

    def latest() -> tuple[Run, dict[tuple[str, int], Result]]:
        with lab.database() as store:
            run = store.latest_run("sampling")
            assert run is not None
            results = store.results(run)
            assert len({(r.testcase, r.iter) for r in results}) == len(results)
            return run, {(r.testcase, r.iter): r for r in results}

    tollfree("up")
    earlier, _ = latest()
    pattern = "^(sample:10k:.*:10:|analyze:10k:.*:t100:).*(lcl:|file)"
    process = start("run", "sampling", "--rounds", "3", "--seed", "7", "--only", pattern)
    until(lambda: latest()[0].run_id > earlier.run_id and len(latest()[1]) >= 5)
    files = {path: path.stat() for path in (lab.folder / "sampling").iterdir()}
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.INTERRUPTED, err
    run, before = latest()
    assert run.state == "interrupted"
    with lab.database() as store:
        planned = {(c.testcase, n) for c in store.run_cases(run) for n in (1, 2, 3)}
    assert set(before) < planned

    tollfree("run", "sampling", "--resume")
    run, after = latest()
    assert run.state == "complete"
    assert set(after) == planned
    assert all(after[key] == result for key, result in before.items())
    assert all(result.state == "ok" for result in after.values())
    tollfree("down")
    assert files == {path: path.stat() for path in (lab.folder / "sampling").iterdir()}


def test_a_table_that_the_disk_has_no_room_for_is_refused(lab: Lab) -> None:
    with lab.database() as store:
        store.connection.execute(
            "INSERT INTO lab.sampling_tables VALUES ('vast', 1e13, false, false)"
        )
    try:
        words = ("run", "sampling", "--only", "^analyze:vast:auto:t100:tollfree_file_fdw:file$")
        _, err = tollfree(*words, code=ExitCode.FILES)
        free = shutil.disk_usage(lab.folder).free
        said = re.search(r"has ([\d.]+) GB free; .* need about ([\d.]+) GB", " ".join(err.split()))
        assert said
        assert float(said[1]) == pytest.approx(free / 1e9, rel=0.2)
        assert float(said[2]) == 7_000_000
        assert str(lab.folder) in err
        assert "--only" in err
        assert "TOLLFREE_HOME" in err
        assert not list((lab.folder / "sampling").glob("*vast*"))
        with lab.database() as store:
            run = store.latest_run("sampling")
            assert run is not None
            assert store.results(run) == []
    finally:
        with lab.database() as store:
            store.connection.execute("DELETE FROM lab.sampling_tables WHERE table_name = 'vast'")


def _sampling_judge_sees_through_wrong_samples(store: Store) -> None:
    """Ask the suite's judge about outcomes that must not count, and about good ones."""
    sample = {"test": "sample", "rows": 10_000, "method": "bernoulli", "percent": 1}
    analyze = {"test": "analyze", "rows": 10_000, "method": "auto"}
    for dims, figures, words in (
        (sample, {"rows": 100}, None),
        (sample, {"rows": 0}, "0 rows where 100"),
        (sample, {"rows": 200}, "200 rows where 100"),
        (sample | {"percent": 100}, {"rows": 9_999}, "9999 rows where 10000"),
        (sample | {"method": "full"}, {}, "no rows"),
        (analyze, {"rows": 10_100, "columns": 5}, None),
        (analyze, {"rows": 9_000, "columns": 5}, "9000 rows"),
        (analyze, {"rows": 10_000, "columns": 4}, "statistics of 4 columns"),
    ):
        (row,) = store.table(
            "SELECT lab.sampling_judge(jsonb_populate_record(NULL::lab.run_cases, %s::jsonb),"
            " %s::jsonb, NULL, NULL) AS reason",
            json.dumps({"dims": dims}),
            json.dumps(figures),
        )
        if words is None:
            assert row["reason"] is None
        else:
            assert words in row["reason"]


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
        run = store.latest_run("interface")
        assert run is not None
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
        run = store.latest_run("interface")
        assert run is not None
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
            "UPDATE lab.runs SET rounds = %s WHERE run_id = %s", (rounds, run.run_id)
        )
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
    assert "fdw" in tollfree("show")[0]
    assert not lab.own.is_running()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"host={lab.folder / 'run'} port={LAB_PORT} dbname={DATABASE}")
