"""The pages with statements: they are executed in order, and print what is shown."""

import re
from pathlib import Path

import pytest
from pages import FOLDER, executed, normalised, steps

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.paths import CHECKOUT
from tollfree.postgres import Installation
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

DOCUMENTS = CHECKOUT / "docs"
PAGES = [*sorted((DOCUMENTS / "tutorials").glob("*.md")), DOCUMENTS / "howto" / "many-servers.md"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_prints_what_it_shows(
    path: Path, pg_instance: Cluster, installation: Installation
) -> None:
    folder = pg_instance.data / path.stem
    pg_instance.user.make_folder(folder)
    here = f"host '{pg_instance.socket_folder}', port '{pg_instance.port}', dbname"
    password = pg_instance.password_file.read_text("utf-8").strip()
    login = f"OPTIONS (user '{SUPERUSER}', password '{password}')"
    found = list(steps(path.read_text(encoding="utf-8")))
    assert found
    for database in {step.place for step in found}:
        with pg_instance.connect() as connection:
            recreate_database(connection, database)
    for step in found:
        sql = step.sql.replace("(dbname", f"({here}").replace(FOLDER, str(folder))
        sql = re.sub(r"(USER MAPPING FOR CURRENT_USER SERVER \w+)", rf"\1 {login}", sql)
        printed = executed(sql, pg_instance, step.place, installation)
        if step.shown is not None:
            printed = printed.replace(str(folder), FOLDER)
            assert normalised(printed) == normalised(step.shown), printed
