"""The text of TPC-H's tables, made once a scale by `tpchgen-cli` and kept.

A line of TPC-H's own format ends with a delimiter, which a foreign table needs one more column
for. The large tables are there twice: whole, and in blocks.
"""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tollfree.errors import EnvironmentLacksError, FileError
from tollfree.privileges import ServerUser

GENERATOR = "tpchgen-cli"
LIMIT_S = 12 * 3600
"""Only what hangs takes so long."""


@dataclass(frozen=True)
class TextFiles:
    """The files of one scale."""

    folder: Path
    blocks: int

    def whole(self, table: str) -> Path:
        """Return the file of a table."""
        return self.folder / f"{table}.tbl"

    def in_blocks(self, table: str) -> list[Path]:
        """Return the files of a large table's blocks, in the order of its key."""
        numbers = range(1, self.blocks + 1)
        return [self.folder / table / f"{table}.{number}.tbl" for number in numbers]


def scale_folder(scale: int) -> str:
    """Return the name of the folder of a scale's files."""
    return f"scale-{scale}"


def make_files(
    folder: Path, scale: int, large: list[str], blocks: int, user: ServerUser
) -> TextFiles:
    """Make the files of a scale (in hundredths of TPC-H's) in `folder` unless they are there.

    They belong to `user`. Raises `FileError` when they cannot be written; what is there is whole.
    """
    files = TextFiles(folder / scale_folder(scale), blocks)
    if files.folder.exists():
        return files
    unfinished = folder / f"{scale_folder(scale)}.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    user.make_folder(unfinished)
    _generate(user, unfinished, scale)
    _generate(user, unfinished, scale, f"--tables={','.join(large)}", f"--parts={blocks}")
    unfinished.rename(files.folder)
    return files


def _generate(user: ServerUser, folder: Path, scale: int, *options: str) -> None:
    """Run the generator as `user`, through a descriptor: it may be where that user cannot reach."""
    generator = Path(sys.executable).parent / GENERATOR
    if not generator.exists():
        raise EnvironmentLacksError(
            f"there is no {GENERATOR} beside {sys.executable}",
            "Make the Python environment anew: tools/make-venv run.",
        )
    with generator.open("rb") as program:
        done = user.run(
            [
                *(f"/proc/self/fd/{program.fileno()}", "tbl", f"--scale-factor={scale / 100}"),
                *("--quiet", f"--output-dir={folder}", *options),
            ],
            timeout_s=LIMIT_S,
            pass_fds=(program.fileno(),),
        )
    if done.returncode != 0:
        raise FileError(
            f"{GENERATOR} could not write TPC-H's tables to {folder}",
            "Free space there, or name a folder on another disk with TOLLFREE_HOME.",
            detail=done.stderr.strip()[-2000:],
        )
