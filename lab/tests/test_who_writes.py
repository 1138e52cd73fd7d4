"""tools/who-writes finds each write of a struct, and refuses a second writer."""

import subprocess
import sys
from pathlib import Path

import pytest

from tollfree.paths import CHECKOUT

TOOL = CHECKOUT / "tools" / "who-writes"

HEADER = """\
/* Depths of a transaction.  Written by depth.c. */
typedef struct Depths
{
\tint\t\t\tlocal;\t\t/* level */
\tint\t\t\tremote;
} Depths;

/* Counted by everybody. */
typedef struct Counters
{
\tlong\t\trows;
} Counters;

/* Written by sessions.c (mapping) and
 * connection.c.
 */
typedef struct Session
{
\tconst int\tmapping;
\tchar\t   *const conn;
\tconst Depths depths;
\tCounters\tcounters;
} Session;
"""

FILES = {
    "depth.c": """\
static Depths *
depth_own(Session *session)
{
\treturn session_own(Depths, session, depths);
}

void
depth_confirm(Session *session, int depth)
{
\tDepths\t   *depths = depth_own(session);

\tdepths->remote = depth;
\tdepth_own(session)->local++;
\tsession->counters.rows += 1;
}
""",
    "sessions.c": """\
void
sessions_add(Session *session)
{
\t*session_own(int, session, mapping) = 1;
\tif (session->depths.local == 1 && session->depths.remote <= 2)
\t\tsession->counters.rows++;
}
""",
    "connection.c": """\
void
connection_begin(Session *session)
{
\t*session_own(char *, session, conn) = open("depths->local = 1");
}
""",
}

TABLE = """\
  Depths.local                             depth.c
  Depths.remote                            depth.c
* Counters.rows                            depth.c, sessions.c
  Session.mapping                          sessions.c
  Session.conn                             connection.c
who-writes: 0 breaches
"""

BREACHES = {
    "an assignment": ("session->depths.local = 1;", "writes Depths.local, which is depth.c's"),
    "an increment": ("--session->depths.local;", "writes Depths.local, which is depth.c's"),
    "an assignment to all": (
        "Depths *depths = find();\n\t*depths = (Depths) {0};",
        "writes Depths.(all), which is depth.c's",
    ),
    "memset": ("memset(&session->depths, 0, 1);", "writes Session.depths, which is connection.c's"),
    "another node's session": (
        "scan->session->depths.remote |= 1;",
        "writes Depths.remote, which is depth.c's",
    ),
    "taking what others own": (
        "Depths *depths = session_own(Depths, session, depths);",
        "writes Depths, which is depth.c's",
    ),
    "taking a field that others own": (
        "*session_own(int, session, mapping) = 2;",
        "writes Session.mapping, which is sessions.c's",
    ),
}


def run_tool(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOOL, *options, folder / "src" / "session" / "state.h"],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=60,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    room = tmp_path / "src" / "session"
    room.mkdir(parents=True)
    (room / "state.h").write_text(HEADER, encoding="utf-8")
    for name, text in FILES.items():
        (room / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_table_names_the_writers(tree: Path) -> None:
    done = run_tool(tree)
    assert (done.returncode, done.stdout, done.stderr) == (0, TABLE, "")


@pytest.mark.parametrize("name", BREACHES)
def test_second_writer_is_refused(tree: Path, name: str) -> None:
    statement, reason = BREACHES[name]
    path = tree / "src" / "scan" / "depth.c"
    path.parent.mkdir()
    path.write_text(f"void\nscan(Session *session)\n{{\n\t{statement}\n}}\n", encoding="utf-8")
    done = run_tool(tree, "--check")
    assert done.returncode == 1
    first, last = done.stdout.splitlines()
    assert first.startswith(f"{path}:")
    assert first.endswith(reason)
    assert last == "who-writes: 1 breaches"


def test_comment_that_is_not_true_is_refused(tree: Path) -> None:
    (tree / "src" / "session" / "depth.c").write_text("", encoding="utf-8")
    done = run_tool(tree, "--check")
    assert done.returncode == 1
    assert "Depths: said to be written by depth.c, which does not write it" in done.stdout


def test_sessions_have_an_owner_for_each_part() -> None:
    done = subprocess.run(
        [sys.executable, TOOL], capture_output=True, check=False, encoding="utf-8", timeout=60
    )
    assert done.returncode == 0
    shared = {
        line.split()[1].split(".")[0] for line in done.stdout.splitlines() if line.startswith("*")
    }
    assert shared == {"PendingAction", "SessionCounters", "StatementCounters"}


def test_header_that_is_missing_is_refused(tmp_path: Path) -> None:
    done = run_tool(tmp_path)
    assert done.returncode == 2
    assert "state.h is no file" in done.stderr
