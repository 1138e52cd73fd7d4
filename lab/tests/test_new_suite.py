"""A suite of one's own: a folder with a package and a script, and nothing else that names it.

`PACKAGE` and `SCRIPT` are all of it. docs/reference/lab.md says what a suite needs; what it says is
what these have.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import tollfree

from tollfree.errors import ExitCode
from tollfree.lab import Lab
from tollfree.paths import SUITES_VARIABLE

pytestmark = pytest.mark.cluster

PACKAGE = '''\
"""Suite `sleeping`: what it costs to sleep."""

from tollfree.suites.base import Suite
from tollfree.suites.presentation import plain_section


class SleepingSuite(Suite):
    name = "sleeping"
    in_demo = True

    def disk_bytes(self, profile):
        return 0

    def prepare(self, bench, *, resumed):
        pass

    def section(self, run):
        return plain_section(run, title="Sleeping", intro="Seconds of sleep.")


SUITE = SleepingSuite()
'''

SCRIPT = """\
CREATE TABLE sleeps (testcase text PRIMARY KEY, seconds float8);
INSERT INTO sleeps VALUES ('short', 0.01), ('long', 0.02);

CREATE VIEW cases AS
SELECT 'sleeping' AS suite, profile, testcase, testcase AS candidate,
       CASE testcase WHEN 'long' THEN 'short' END AS baseline,
       'duration' AS figure, 's' AS unit, false AS higher_is_better, '{}'::jsonb AS dims,
       ARRAY['sleep', sleeps.seconds::text] AS argv, '{}'::text[] AS env,
       interval '1 minute' AS time_limit, 'none' AS format, true AS chosen
FROM sleeps CROSS JOIN profiles
WHERE suite = 'sleeping';

SELECT register_suite('sleeping', 'What it costs to sleep', 'cases');
SELECT register_profile('sleeping', 'quick', 2, 1, 1);
SELECT register_profile('sleeping', 'full', 5, 1, 1);
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of a suite, in one of suites."""
    suite = tmp_path / "suites" / "sleeping"
    suite.mkdir(parents=True)
    (suite / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    (suite / "suite.sql").write_text(SCRIPT, encoding="utf-8")
    os.environ[SUITES_VARIABLE] = str(suite.parent)
    yield suite
    os.environ.pop(SUITES_VARIABLE, None)


def test_a_folder_is_a_suite_from_end_to_end(lab: Lab, folder: Path, tmp_path: Path) -> None:
    assert "sleeping" in tollfree("list")[0].split()
    assert tollfree("list", "sleeping")[0].split() == ["long", "short"]
    assert "home" in tollfree("doctor")[0]
    assert "Sleeping" in tollfree("run", "sleeping")[0]
    shown = json.loads(tollfree("show", "1", "--json")[0])
    assert {case["testcase"]: case["n"] for case in shown["cases"]} == {"long": 2, "short": 2}
    page = tmp_path / "page.html"
    tollfree("report", "-o", str(page))
    assert "Seconds of sleep." in page.read_text("utf-8")
    # A script that has changed is executed anew, and runs stay.
    script = folder / "suite.sql"
    script.write_text(script.read_text("utf-8").replace("'long'", "'longer'"), encoding="utf-8")
    assert tollfree("list", "sleeping")[0].split() == ["longer", "short"]
    assert "Sleeping" in tollfree("run", "sleeping", "--rounds", "1")[0]
    assert len(json.loads(tollfree("show", "--json")[0])["runs"]) == 2
    # Without its folder there is no such suite; its runs are there, and come back with it.
    named = os.environ.pop(SUITES_VARIABLE)
    assert "sleeping" not in tollfree("list")[0]
    tollfree("show", "1", code=ExitCode.NOT_FOUND)
    assert len(json.loads(tollfree("show", "--json")[0])["runs"]) == 2
    os.environ[SUITES_VARIABLE] = named
    assert "Sleeping" in tollfree("show", "1")[0]


def test_runs_of_a_suite_stay_through_an_upgrade_without_it(lab: Lab) -> None:
    tollfree("run", "sleeping", "--rounds", "1")
    named = os.environ.pop(SUITES_VARIABLE)
    with lab.database() as store:
        store.connection.execute("COMMENT ON EXTENSION tollfree_lab IS 'another build'")
        before = len(store.runs())
    with lab.database() as store:
        assert [run.migrated for run in store.runs()] == [True] * before
    os.environ[SUITES_VARIABLE] = named
    assert "Sleeping" in tollfree("show", "1")[0]
    assert "Sleeping" in tollfree("run", "sleeping")[0]


def test_a_package_that_is_no_suite_is_named(folder: Path) -> None:
    (folder / "__init__.py").write_text("", encoding="utf-8")
    _, err = tollfree("list", code=ExitCode.ENVIRONMENT)
    assert str(folder) in err
    assert SUITES_VARIABLE in err
