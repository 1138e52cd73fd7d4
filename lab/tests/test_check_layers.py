"""tools/check-layers finds what points the wrong way, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from tollfree.paths import CHECKOUT

CHECKER = CHECKOUT / "tools" / "check-layers"

CLEAN_TREE = {
    "lab/src/tollfree/__init__.py": "__version__ = '0'\n",
    "lab/src/tollfree/errors.py": "import os\n",
    "lab/src/tollfree/store.py": "from . import errors\nQUERY = 'SELECT FROM lab.runs'\n",
    "lab/src/tollfree/suites/__init__.py": "from tollfree.suites.fdw import Suite\n",
    "lab/src/tollfree/suites/fdw.py": "from ..store import Store\nROWS = Store.rows\n",
    "lab/src/tollfree/cli.py": "import tollfree.suites\n",
    "link/src/queue.h": "",
    "link/src/main.c": '#include <stdio.h>\n#include "queue.h"\n',
    "clients/probe/main.c": "#include <libpq-fe.h>\n",
    "extensions/one/core/scan.h": "#include <stdint.h>\n",
    "extensions/one/vector/batch.c": '#include "../core/scan.h"\n#include <string.h>\n',
    "extensions/one/glue/plan.c": '#include "postgres.h"\n#include "core/scan.h"\n',
    "extensions/two/src/plan.c": '#include "postgres.h"\n#include "nodes/nodes.h"\n',
    "extensions/two/src/base/options.h": "",
    "extensions/two/src/base/values.h": "extern int value(void);\nextern int check(int of);\n",
    "extensions/two/src/base/values.c": (
        "int\nvalue(void)\n{\n\treturn use(check);\t/* check() calls it */\n}\n"
    ),
    "extensions/two/src/base/checks.c": (
        "static int\nvalue_of(int of)\n{\n\treturn of;\n}\n\n"
        "int\ncheck(int of)\n{\n\treturn value_of(value());\n}\n"
    ),
    "extensions/two/src/scan/cursor.c": '#include "base/options.h"\n',
    "extensions/two/src/handler.c": '#include "base/options.h"\n',
}

BREACHES = {
    "SQL on the lab's database": (
        "lab/src/tollfree/suites/fdw.py",
        'QUERY = "SELECT a FROM lab.runs"\n',
        "SQL on the schema lab",
    ),
    "the store's connection": (
        "lab/src/tollfree/suites/fdw.py",
        "def f(bench): bench.store.connection.execute('SELECT 1')\n",
        "takes store.connection",
    ),
    "a query through the store": (
        "lab/src/tollfree/suites/fdw.py",
        "def f(store): store.table('SELECT 1')\n",
        "takes store.table",
    ),
    "upward": ("lab/src/tollfree/store.py", "from tollfree.cli import main\n", "above"),
    "upward in the package's own name": (
        "lab/src/tollfree/store.py",
        "from tollfree import suites\n",
        "above",
    ),
    "upward, relative": ("lab/src/tollfree/suites/fdw.py", "from .. import cli\n", "above"),
    "upward, late": (
        "lab/src/tollfree/errors.py",
        "def late() -> None:\n    import tollfree.store\n",
        "above",
    ),
    "no layer": ("lab/src/tollfree/novel.py", "", "has no layer"),
    "core sees PostgreSQL": ("extensions/one/core/scan.c", '#include "postgres.h"\n', "only glue"),
    "core sees PostgreSQL, in brackets": (
        "extensions/one/core/scan.c",
        "#  include <utils/numeric.h>\n",
        "only glue",
    ),
    "vector sees PostgreSQL": ("extensions/one/vector/sum.c", '#include "fmgr.h"\n', "only glue"),
    "core includes vector": (
        "extensions/one/core/scan.c",
        '#include "../vector/batch.h"\n',
        "above",
    ),
    "core includes glue by name": ("extensions/one/core/scan.c", '#include "plan.h"\n', "above"),
    "vector includes glue": ("extensions/one/vector/sum.c", '#include "glue/plan.h"\n', "above"),
    "a room includes one above": (
        "extensions/two/src/base/options.c",
        '#include "scan/scan.h"\n',
        "above",
    ),
    "a room includes one beside": (
        "extensions/two/src/modify/modify.c",
        '#include "scan/scan.h"\n',
        "beside",
    ),
    "a room includes what is outside of all": (
        "extensions/two/src/scan/scan.c",
        '#include "handler.h"\n',
        "above",
    ),
    "an extension includes another": (
        "extensions/two/src/plan.c",
        '#include "extensions/one/core/scan.h"\n',
        "outside",
    ),
    "the link includes the lab": (
        "link/src/main.c",
        '#include "../../lab/native.h"\n',
        "outside",
    ),
    "a client imports the lab": ("clients/psycopg/client.py", "import tollfree.store\n", "outside"),
}

CIRCLES = {
    "two files": (
        {"values.c": "int\nvalue(void)\n{\n\treturn check(1);\n}\n"},
        "checks calls values (value), values calls checks (check)",
    ),
    "a function in a header": (
        {
            "values.c": "int\nvalue(void)\n{\n\treturn first(1);\n}\n",
            "checks.h": "static inline int\nfirst(int of)\n{\n\treturn of;\n}\n",
        },
        "checks calls values (value), values calls checks (first)",
    ),
    "three files": (
        {
            "values.c": "int\nvalue(void)\n{\n\treturn third();\n}\n",
            "third.c": "int\nthird(void)\n{\n\treturn check(1);\n}\n",
        },
        "checks calls values (value), values calls third (third), third calls checks (check)",
    ),
}

TARGETS = (
    "extensions/one/vector/batch.h",
    "extensions/one/glue/plan.h",
    "extensions/two/src/scan/scan.h",
    "extensions/two/src/handler.h",
    "lab/native.h",
)
"""What breaching files include: it must exist, since what does not is not ours."""


def build_tree(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run_checker(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, CHECKER, "--root", root],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=60,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    build_tree(tmp_path, CLEAN_TREE | dict.fromkeys(TARGETS, ""))
    return tmp_path


def test_clean_tree_passes(tree: Path) -> None:
    done = run_checker(tree)
    assert (done.returncode, done.stdout, done.stderr) == (0, "check-layers: 0 breaches\n", "")


def test_a_link_to_what_extensions_share_is_the_extensions_own(tree: Path) -> None:
    build_tree(
        tree,
        {
            "extensions/common/move.h": '#include "postgres.h"\n',
            "extensions/one/glue/plan.c": '#include "postgres.h"\n#include "move.h"\n',
        },
    )
    (tree / "extensions/one/glue/move.h").symlink_to("../../common/move.h")
    assert run_checker(tree).stdout == "check-layers: 0 breaches\n"
    build_tree(tree, {"extensions/one/core/scan.h": '#include "../glue/move.h"\n'})
    assert "core/ includes ../glue/move.h, which is above it" in run_checker(tree).stdout


def test_a_link_to_another_part_is_a_breach(tree: Path) -> None:
    (tree / "extensions/two/src/scan.h").symlink_to("../../one/core/scan.h")
    done = run_checker(tree)
    assert done.returncode == 1
    assert "extensions/two/src/scan.h:1: is a link to outside extensions/common" in done.stdout


@pytest.mark.parametrize("name", BREACHES)
def test_breach_is_named(tree: Path, name: str) -> None:
    path, text, reason = BREACHES[name]
    line = len(text.splitlines()) or 1
    build_tree(tree, {path: text})
    done = run_checker(tree)
    assert done.returncode == 1
    first, last = done.stdout.splitlines()
    assert first.startswith(f"{path}:{line}: ")
    assert reason in first
    assert last == "check-layers: 1 breaches"


@pytest.mark.parametrize("name", CIRCLES)
def test_circle_of_calls_in_a_room_is_named(tree: Path, name: str) -> None:
    files, steps = CIRCLES[name]
    build_tree(tree, {f"extensions/two/src/base/{file}": text for file, text in files.items()})
    done = run_checker(tree)
    assert done.returncode == 1
    first, last = done.stdout.splitlines()
    assert first == (
        f"extensions/two/src/base/checks.c:1: files call one another in a circle: {steps}"
    )
    assert last == "check-layers: 1 breaches"


def test_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    done = run_checker(tmp_path)
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr
