"""The records of one table stored in other forms than TPC-H's own text, made once and kept.

The forms are rows of `lab.file_forms`. A form of several files packs, or has as they are, the parts
that the generator divides the table into.
"""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from tollfree.errors import FileError
from tollfree.privileges import ServerUser
from tollfree.suites.file.data import LIMIT_S, TextFiles, make_parts
from tollfree.suites.foreign import Connection

FORMED = "lineitem"
"""The table that there is in forms."""
PLAIN = "plain"
"""The form that is the text itself."""
PACK_SCRIPT = """
packer=$1 suffix=$2 folder=$3
shift 3
for text; do
    name=${text##*/}
    sh -c "$packer" <"$text" >"$folder/${name%.tbl}.$suffix"
done
"""


@dataclass(frozen=True)
class Form:
    """A row of `lab.file_forms`; options are pairs of name and value, with places to fill."""

    form: str
    files: int
    suffix: str
    records: str | None
    copied: str | None
    packer: str | None
    options: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Of foreign tables, by extension."""

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Form":
        """Return the form that a row describes."""
        names = ("form", "files", "suffix", "records", "copied", "packer")
        options = ((name, tuple(found.items())) for name, found in row["options"].items())
        return cls(**{name: row[name] for name in names}, options=tuple(options))

    @property
    def is_as_generated(self) -> bool:
        """Whether its files are the generator's own."""
        return self.copied is None and self.packer is None


@dataclass(frozen=True)
class FormedFiles:
    """The files of a form, and the text that they are made from."""

    form: Form
    texts: TextFiles

    @property
    def parts(self) -> TextFiles:
        """The text in as many files as the form has."""
        return self.texts.in_parts(self.form.files)

    @property
    def folder(self) -> Path:
        """The folder that has the files of the form, and no others."""
        if self.form.is_as_generated:
            return self.parts.in_blocks(FORMED)[0].parent
        return self.texts.folder / "forms" / self.form.form

    @property
    def sources(self) -> list[Path]:
        """The files of the text, in the order of the keys."""
        return self.parts.in_blocks(FORMED) if self.form.files > 1 else [self.texts.whole(FORMED)]

    @property
    def files(self) -> list[Path]:
        """The files of the form, in the same order."""
        names = (path.name.removesuffix(".tbl") for path in self.sources)
        return [self.folder / f"{name}.{self.form.suffix}" for name in names]

    def tables(self, extension: str) -> list[dict[str, str]]:
        """Return the options of the foreign tables that an extension reads the form with: one, or
        one for each file."""
        options = dict(dict(self.form.options)[extension])
        found = [_filled(options, file) for file in self.files]
        return found[:1] if any("{folder}" in value for value in options.values()) else found


def _filled(options: dict[str, str], file: Path) -> dict[str, str]:
    """Return options with the places of a file's path, and of its folder's, filled in."""
    places = {"{file}": str(file), "{word}": shlex.quote(str(file)), "{folder}": str(file.parent)}
    found = options
    for place, path in places.items():
        found = {name: value.replace(place, path) for name, value in found.items()}
    return found


def lacks_packer(form: Form | None, user: ServerUser) -> str | None:
    """Return what is missing to pack the files of a form, None when nothing."""
    if form is None or form.packer is None:
        return None
    program = form.packer.split()[0]
    if user.run(["sh", "-c", f"command -v {program}"], timeout_s=10).returncode == 0:
        return None
    return f"the program {program} is not installed"


class FormMaker:
    """Makes the files of forms at one scale."""

    def __init__(self, texts: TextFiles, scale: int, user: ServerUser) -> None:
        self._texts = texts
        self._scale = scale
        self._user = user

    def make(self, connection: Connection, form: Form, records: sql.Composed) -> None:
        """Make the files of a form unless they are there; they are whole.

        `records` is a query of the table's rows. Raises `FileError` when they cannot be written.
        """
        formed = FormedFiles(form, self._texts)
        if form.files > 1:
            make_parts(formed.parts, self._scale, [FORMED], self._user)
        if formed.folder.exists():
            return
        try:
            with self._unfinished(formed) as folder:
                if form.copied is not None:
                    _copy(connection, formed, records, folder)
                else:
                    to = (str(form.packer), form.suffix, str(folder))
                    self._user.run_script(PACK_SCRIPT, *to, *formed.sources, timeout_s=LIMIT_S)
        except (OSError, psycopg.OperationalError) as error:
            raise FileError(
                f"the form {form.form} of {FORMED} could not be written to {formed.folder}",
                "Free space there, or name a folder on another disk with TOLLFREE_HOME.",
                detail=str(error).strip(),
            ) from error

    @contextmanager
    def _unfinished(self, formed: FormedFiles) -> Iterator[Path]:
        """Yield an empty folder, which becomes that of the form when it is full."""
        folder = formed.folder.with_suffix(".new")
        self._user.make_folder(folder.parent)
        self._user.run_script('rm -rf -- "$1"; mkdir -- "$1"', folder, timeout_s=LIMIT_S)
        yield folder
        self._user.run_script('mv -T -- "$1" "$2"', folder, formed.folder, timeout_s=LIMIT_S)


def _copy(connection: Connection, formed: FormedFiles, records: sql.Composed, folder: Path) -> None:
    """Have the server write the records as its COPY writes them."""
    statement = sql.SQL("COPY (WITH records AS ({}) {}) TO {} WITH ({})").format(
        records,
        _as_written(formed.form.records or "TABLE records"),
        sql.Literal(str(folder / formed.files[0].name)),
        _as_written(formed.form.copied or ""),
    )
    connection.execute(statement)


def _as_written(text: str) -> sql.SQL:
    """Return a part of a statement that is in the table of forms."""
    return sql.SQL(text)
