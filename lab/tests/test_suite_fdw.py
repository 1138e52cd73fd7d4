"""Suite `fdw` from end to end: run, judged, resumed or not, and every kind of output."""

import json
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from command_line import LIMIT_S, latest_run, tollfree
from page_cache import ATTEMPTS, evict

from tollfree.errors import ExitCode
from tollfree.host import fingerprint
from tollfree.lab import Lab
from tollfree.store import Result, Store
from tollfree.suites.fdw.databases import SOURCE, has_scale
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster


def test_the_fdw_suite_end_to_end(lab: Lab, tmp_path: Path) -> None:
    """A few cases of every kind, from the command line to every kind of output."""
    pattern = (
        "^(RO|RW):(local|direct|FDW_external):.*:simple:rr:c1:flights$"
        "|^R[OW]:(local|local_again|FDW_ext.*):.*:lcl:.*:simple:rr:c1:tps$"
        "|^(SCAN|INSERT|COPY):.*:(default|1000):bulk$"
        "|^SCAN_1KB:.*:2000us:default:bulk$"
        "|^INSERT_1KB:.*:1000:bulk$"
        "|^STOP:(LIMIT|FETCH_5|INTO):.*:stops$"
        "|^RO:pooled:.*:simple:rr:c1:tps$"
        "|^TRAVEL:(recent|by_month|dashboard):.*:travels$"
        "|^without:(all|direct_results):RO:.*:simple:|^without:insert_arrays:"
        "|^without:(all|batched_lookups|parallel_modify|remote_expressions):.*:paths$"
    )
    out, _ = tollfree("run", "fdw", "--rounds", "1", "--only", pattern)
    assert "RO.FDW_external" in out
    said = " ".join(out.split())
    assert "Reading 100,000 rows through tollfree_postgres_fdw: postgres_fdw takes" in said
    assert "Reading 20,000 rows of 1 kB through tollfree_postgres_fdw with a round trip" in said
    assert "3 statements that stop early" in said
    assert "Of 3 everyday statements through tollfree_postgres_fdw, none had more rows" in said
    assert "Fast paths that " in said
    with lab.database() as store:
        run = latest_run(store, "fdw")
        results = {r.testcase: r for r in store.results(run)}
        pooled = results.pop("RO:pooled:none:lcl:tcp:simple:rr:c1:tps")
        places = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
        has_pooler = shutil.which("pgbouncer", path=places) is not None
        no_pooler = ("skipped", "pgbouncer is not installed")
        assert (pooled.state, pooled.reason) == (("ok", None) if has_pooler else no_pooler)
        assert all(r.state == "ok" for r in results.values())
        assert _flights(results, "RO:FDW_external:postgres_fdw") == 5
        assert _flights(results, "RO:FDW_external:tollfree_postgres_fdw") == 1
        assert _flights(results, "RO:direct:none") == 1
        assert _flights(results, "RW:direct:none") == 7
        closed = results["without:all:RO:rmt:tcp:2000us:simple:flights"]
        assert closed.figures["flights_per_tx"] == 2
        copied = results["SCAN_1KB:direct:none:rmt:tcp:2000us:default:bulk"].figures
        assert (copied["rows"], copied["bytes"] // 20_000) == (20_000, 998)
        for stop in ("LIMIT", "FETCH_5", "INTO"):
            counted = results[f"STOP:{stop}:FDW_external:postgres_fdw:rmt:tcp:2000us:stops"].figures
            # what fetch_size says, in each of the executions that count
            assert counted["rows_to_client_after"] - counted["rows_to_client_before"] == 20 * 100
        _judge_sees_through_wrong_rows(store)

    page, document = tmp_path / "page.html", tmp_path / "run.json"
    tollfree("report", "-o", str(page))
    assert "RO.FDW_external" in page.read_text(encoding="utf-8")
    tollfree("export", "--format", "json", "-o", str(document), str(run.run_id))
    assert len(json.loads(document.read_text())["results"]) == len(results) + 1
    tollfree("export", "--format", "csv", "-o", str(tmp_path / "csv"), str(run.run_id))
    lines = (tmp_path / "csv" / "benchRO.FDW_external").read_text().splitlines()
    assert len(lines) == 1
    mean_ms, including, excluding = map(float, lines[0].split(","))
    assert 0 < including < excluding
    assert mean_ms == pytest.approx(1000 / excluding, rel=0.05)
    out, _ = tollfree("compare", str(run.run_id), str(document))
    assert "RO:FDW_external" in out
    assert "~" in out


def test_a_lookup_through_a_pooler_is_skipped_where_there_is_none(lab: Lab) -> None:
    with lab.database() as store:
        (row,) = store.table("SELECT lab.fdw_pooled_script() AS script")
    script = row["script"].replace("pgbouncer", "no-pgbouncer")
    done = subprocess.run(
        ["sh", "-c", script, "sh", "host", "1", "db", "SELECT", "session", "pgbench"],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=LIMIT_S,
    )
    assert (done.returncode, done.stderr) == (77, "no-pgbouncer is not installed\n")


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
    tollfree("up")
    tollfree("run", "fdw", "--rounds", "1", "--only", pattern)
    with lab.database() as store:
        run = latest_run(store, "fdw")
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
    tollfree("down")


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
