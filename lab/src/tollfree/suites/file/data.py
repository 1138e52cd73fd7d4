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
from tollfree.store import Store
from tollfree.suites.base import Bench

GENERATOR = "tpchgen-cli"
GROWING = "lineitem"
"""The table whose file grows."""
GROWTH = 100
"""By one in so many of its bytes."""
GROWING_SCRIPT = """
text=$1 unfinished=$2 folder=$3 name=$4 growth=$5
rm -rf -- "$unfinished"
mkdir -- "$unfinished"
cp -- "$text" "$unfinished/$name.tbl"
size=$(wc -c <"$text")
tail -c $((size / growth)) -- "$text" | tail -n +2 >"$unfinished/$name.rest"
printf %s $((size - $(wc -c <"$unfinished/$name.rest"))) >"$unfinished/$name.length"
mv -T -- "$unfinished" "$folder"
"""
"""Makes the folder of the file that grows."""
LIMIT_S = 12 * 3600
"""Only what hangs takes so long."""


@dataclass(frozen=True)
class TpchTable:
    """A table of TPC-H; a large one has the key by which it is divided into blocks."""

    name: str
    columns: str
    block_key: str | None

    @property
    def column_names(self) -> list[str]:
        """The names of its columns, in order."""
        return [definition.split()[0] for definition in self.columns.split(", ")]


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

    def growing(self, table: str) -> Path:
        """Return the file of a table that grows. Beside it are the bytes that are appended,
        `.rest`, and the length before, `.length`."""
        return self.folder / "growing" / f"{table}.tbl"

    def in_parts(self, parts: int) -> "TextFiles":
        """Return the files of large tables in so many blocks, which are in a folder of this one."""
        return TextFiles(self.folder / f"in-{parts}", parts)

    def first_key(self, table: str, block: int) -> int:
        """Return the key of the first row of a block, from 0 on: its first field."""
        with self.in_blocks(table)[block].open(encoding="utf-8") as lines:
            return int(lines.readline().split("|", 1)[0])


def scale_folder(scale: int) -> str:
    """Return the name of the folder of a scale's files."""
    return f"scale-{scale}"


@dataclass(frozen=True)
class BlockFiles(TextFiles):
    """The files of one scale with only one block of each large table."""

    block: int
    """Counted from 0."""

    def whole(self, table: str) -> Path:
        """Return the file of a table, of a large one the block's."""
        return self.in_blocks(table)[self.block]


def tpch_tables(store: Store) -> list[TpchTable]:
    """Return the tables, by name."""
    return [
        TpchTable(row["name"], row["columns"], row["block_key"])
        for row in store.rows("file_tables", order="name")
    ]


def text_folder(bench: Bench) -> Path:
    """Return the folder of the files of all scales."""
    return bench.lab.folder / "tpch"


def make_text(bench: Bench, tables: list[TpchTable], scale: int) -> TextFiles:
    """Make the text of a scale unless it is there, and let the database know how large it is."""
    folder, store = text_folder(bench), bench.store
    bench.lab.user.make_folder(folder)
    blocks = max(row["blocks"] for row in store.rows("file_engines"))
    large = [table.name for table in tables if table.block_key]
    files = make_files(folder, scale, large, blocks, bench.lab.user)
    for table in tables:
        size = files.whole(table.name).stat().st_size
        store.call("file_keep_size", scale, table.name, size)
    return files


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


def make_parts(parts: TextFiles, scale: int, tables: list[str], user: ServerUser) -> None:
    """Make the files of the blocks of some tables unless they are there."""
    if parts.folder.exists():
        return
    unfinished = parts.folder.with_suffix(".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    user.make_folder(unfinished)
    _generate(user, unfinished, scale, f"--tables={','.join(tables)}", f"--parts={parts.blocks}")
    unfinished.rename(parts.folder)


def make_growing(files: TextFiles, user: ServerUser) -> None:
    """Make the file that grows unless it is there; it is whole."""
    growing = files.growing(GROWING)
    if growing.parent.exists():
        return
    unfinished = growing.parent.with_suffix(".new")
    try:
        user.run_script(
            GROWING_SCRIPT,
            *(files.whole(GROWING), unfinished, growing.parent, GROWING, str(GROWTH)),
            timeout_s=LIMIT_S,
        )
    except OSError as error:
        raise FileError(
            f"the text of {GROWING} could not be copied to {unfinished}",
            "Free space there, or name a folder on another disk with TOLLFREE_HOME.",
            detail=str(error.strerror),
        ) from error


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
