"""An upgrade of the lab's database: results of an earlier build are shown by the next."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import tollfree
from psycopg.types.json import Jsonb

from tollfree import migration
from tollfree.errors import ExitCode, LabStateError
from tollfree.export import read_json
from tollfree.lab import Lab
from tollfree.paths import CHECKOUT
from tollfree.store import Store
from tollfree.suites import findings_of
from tollfree.suites.presentation import Findings

pytestmark = pytest.mark.cluster

OLDER = Path(__file__).with_name("older_store.sql")
PATH = CHECKOUT / "docs" / "runs" / "fdw-kept-postgresql-18.json"
STORED = read_json(PATH)


@contextmanager
def older_store(lab: Lab) -> Iterator[Store]:
    """Yield the database of a lab that is down as an earlier build had it, without any run."""
    script = lab.stage.sharedir / "extension" / "tollfree_lab--0.0.1.sql"
    script.write_text(OLDER.read_text(encoding="utf-8"), encoding="utf-8")
    with lab.database() as store:
        store.connection.execute("DROP EXTENSION tollfree_lab; DROP SCHEMA IF EXISTS lab CASCADE")
        create_older(store)
        yield store


def create_older(store: Store) -> None:
    store.connection.execute("CREATE EXTENSION tollfree_lab VERSION '0.0.1'")


def set_aside_schemas(lab: Lab) -> list[str]:
    with lab.database() as store:
        rows = store.table("SELECT nspname FROM pg_namespace WHERE nspname ~ '^lab_' ORDER BY 1")
    return [str(row["nspname"]) for row in rows]


def add_run(store: Store, run_id: int, findings: Findings) -> None:
    """Store a run as the first build did."""
    run = findings.run
    cursor = store.connection.cursor()
    cursor.execute(
        "INSERT INTO lab.runs OVERRIDING SYSTEM VALUE VALUES"
        " (%s, %s, 'full', %s, %s, %s, %s, %s, %s, %s, %s, '0.0.1')",
        (
            *(run_id, run.suite, run.rounds, run.pattern, run.seed, run.state),
            *(run.started, run.ended, Jsonb(run.host), Jsonb(run.server)),
        ),
    )
    cursor.executemany(
        "INSERT INTO lab.run_cases VALUES"
        " (%s, %s, %s, %s, %s, %s, %s, %s, '{}', '{}', '1 minute', 'none', NULL)",
        [
            (
                *(run_id, c.testcase, c.candidate, c.baseline, c.figure, c.unit),
                *(c.higher_is_better, Jsonb(c.dims)),
            )
            for c in findings.cases.values()
        ],
    )
    cursor.executemany(
        "INSERT INTO lab.testresults VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s,"
        " NULL, NULL, %s, %s, NULL, NULL)",
        [
            (
                *(run_id, r.testcase, r.iter, r.ts, r.state, r.reason, r.duration, r.value),
                *(Jsonb(r.figures), r.user_us, r.system_us, r.peak_kb, r.argv, r.env),
            )
            for r in findings.results
        ],
    )


def in_state(state: str, day: int) -> Findings:
    """Return the stored run in a state, begun that day."""
    started = STORED.run.started.replace(year=2025, month=1, day=day)
    return replace(STORED, run=replace(STORED.run, state=state, started=started))


def shown() -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads(tollfree("show", "--json")[0])["runs"]
    return runs


def test_results_of_an_earlier_build_are_shown(lab: Lab) -> None:
    with older_store(lab) as store:
        add_run(store, 3, STORED)
        add_run(store, 4, in_state("interrupted", 2))
        store.connection.execute(
            "INSERT INTO lab.custom_cases (testcase, argv) VALUES ('mine', '{true}')"
        )
    runs = shown()
    assert [(run["run_id"], run["state"]) for run in runs] == [(3, "complete"), (4, "interrupted")]
    assert all(run["migrated"] and run["version"] == "0.0.1" for run in runs)
    assert set_aside_schemas(lab) == []
    assert "Throughput" in tollfree("show", "3")[0]
    with lab.database() as store:
        found = findings_of(store, store.run(3))
    assert found.results == STORED.results
    assert found.cases == {name: replace(c, most_rounds=None) for name, c in STORED.cases.items()}
    tollfree("compare", "--fail-above", "0", "3", str(PATH))

    assert "mine" in tollfree("list", "custom")[0]
    _, err = tollfree("run", "fdw", "--resume", code=ExitCode.LAB_STATE)
    assert "another build" in err
    tollfree("run", "custom", "--rounds", "1")
    assert [run["run_id"] for run in shown()] == [5, 3, 4]
    assert "mine" in tollfree("show", "5", "--cases")[0]


def test_a_view_of_the_users_is_named_and_stays(lab: Lab) -> None:
    with older_store(lab) as store:
        store.connection.execute("CREATE VIEW public.mine AS SELECT * FROM lab.runs")
        with pytest.raises(LabStateError) as failure, store.connection.transaction():
            migration.set_aside(store.connection)
        assert "view mine depends on" in failure.value.detail
        store.connection.execute("DROP VIEW public.mine")


def test_what_earlier_upgrades_set_aside_is_taken_in(lab: Lab) -> None:
    """A number that is taken is replaced; what the new build refuses stays, and is named."""
    with older_store(lab) as store:
        add_run(store, 7, in_state("complete", 3))
        migration.set_aside(store.connection)
        create_older(store)
        add_run(store, 1, in_state("complete", 4))
        migration.set_aside(store.connection)
        store.connection.execute("UPDATE lab_2.runs SET state = 'unheard of'")
        create_older(store)
        add_run(store, 7, in_state("complete", 5))
    out, err = tollfree("show", "--json")
    runs = json.loads(out)["runs"]
    assert [(run["run_id"], run["started"][:10]) for run in runs] == [
        (7, "2025-01-05"),
        (14, "2025-01-03"),
    ]
    assert "lab_2" in err
    assert set_aside_schemas(lab) == ["lab_2"]
    assert "Throughput" in tollfree("show", "14")[0]
    assert tollfree("show")[1] == ""
