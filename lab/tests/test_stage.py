"""What `make build` says of a folder that it cannot use."""

import os
import subprocess
import sys
from pathlib import Path

from tollfree.errors import ExitCode


def test_a_home_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    done = subprocess.run(
        [sys.executable, "-m", "tollfree.stage"],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "TOLLFREE_HOME": str(file / "home")},
    )
    assert done.returncode == ExitCode.FILES
    assert done.stderr.splitlines() == [
        f"cannot make the folder {file / 'home'}: Not a directory",
        "  Name a folder that you may write with the environment variable TOLLFREE_HOME.",
    ]
    assert not done.stdout
