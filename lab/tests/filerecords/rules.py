"""What a foreign table says of its files: columns, and the options of the table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from filediff.tables import CLIENT_ENCODINGS, Dialect, literal, options_clause

ORDINARY = {"csv": (",", ""), "text": ("\t", "\\N")}
"""The delimiter and the null string of each format, where no option says another."""


def _quoted(null: str) -> str:
    """Return a null string as it stands in the option's list."""
    is_plain = null and null == null.strip() and not set(null) & {",", '"'}
    return null if is_plain else '"' + null.replace('"', '""') + '"'


@dataclass(frozen=True)
class Rules:
    """The options of a table but for where its files are; the defaults are the server's."""

    format: str = "csv"
    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    null: str = ""
    header: str = ""
    """Empty, `true` or `match`."""
    encoding: str = "UTF8"
    skips_mark: bool = False
    skip_lines: int = 0
    comment: str = ""
    skips_blank: bool = False
    skip_last_lines: int = 0
    null_strings: tuple[str, ...] = ()
    skips_quote_blanks: bool = False
    pads_missing: bool = False
    cuts_extra: bool = False
    by_name: bool = False
    skips_errors: bool = False
    reject_limit: int = 0
    log_verbosity: str = ""

    @property
    def is_irregular(self) -> bool:
        """Whether an option leaves out lines or fields, adds fields, or changes them."""
        return bool(
            self.skips_mark
            or self.skip_lines
            or self.comment
            or self.skips_blank
            or self.skip_last_lines
            or self.null_strings
            or self.skips_quote_blanks
            or self.pads_missing
            or self.cuts_extra
        )

    @property
    def codec(self) -> str:
        """Python's name of the files' encoding."""
        return CLIENT_ENCODINGS[self.encoding]

    def dialect(self, line_end: str) -> Dialect:
        """Return how a record of these rules is written."""
        return Dialect(
            self.format,
            self.delimiter,
            self.quote,
            self.escape,
            self.null,
            encoding=self.encoding,
            line_end=line_end,
        )

    def options(self) -> dict[str, str]:
        """Return the options that say so."""
        delimiter, null = ORDINARY[self.format]
        said = {
            "format": (self.format, "text"),
            "delimiter": (self.delimiter, delimiter),
            "null": (self.null, null),
            "header": (self.header, ""),
            "encoding": (self.encoding, ""),
            "byte_order_mark": ("skip" if self.skips_mark else "", ""),
            "skip_lines": (str(self.skip_lines), "0"),
            "comment": (self.comment, ""),
            "blank_lines": ("skip" if self.skips_blank else "", ""),
            "missing_fields": ("null" if self.pads_missing else "", ""),
            "extra_fields": ("ignore" if self.cuts_extra else "", ""),
            "skip_last_lines": (str(self.skip_last_lines), "0"),
            "null_strings": (", ".join(_quoted(x) for x in self.null_strings), ""),
            "quote_blanks": ("skip" if self.skips_quote_blanks else "", ""),
            "columns": ("by name" if self.by_name else "", ""),
            "on_error": ("ignore" if self.skips_errors else "", ""),
            "reject_limit": (str(self.reject_limit), "0"),
            "log_verbosity": (self.log_verbosity, ""),
        }
        if self.format == "csv":
            said |= {"quote": (self.quote, '"'), "escape": (self.escape, self.quote)}
        return {name: value for name, (value, default) in said.items() if value != default}


@dataclass(frozen=True)
class Column:
    """A column of the table."""

    name: str
    type: str
    options: Mapping[str, str] = field(default_factory=dict)
    default: str | None = None

    @property
    def source(self) -> str:
        """`file`, `line` or `path` if it is not in the files, else empty."""
        return self.options.get("source", "")

    @property
    def definition(self) -> str:
        """Its definition in CREATE FOREIGN TABLE."""
        default = "" if self.default is None else f"DEFAULT {literal(self.default)}"
        return " ".join(filter(None, (self.name, self.type, options_clause(self.options), default)))


@dataclass(frozen=True)
class File:
    """A file of a table."""

    name: str
    """Its path below the case's folder."""
    text: bytes
    compression: str = "none"
    is_cut: bool = False
    """Whether the last bytes of its compressed form are missing."""


@dataclass(frozen=True)
class Table:
    """A foreign table and its files."""

    columns: tuple[Column, ...]
    rules: Rules
    files: tuple[File, ...]
    location: str = ""
    """Below the case's folder, where the option `filenames` looks; empty: `filename` is the only
    file."""

    @property
    def file_columns(self) -> tuple[Column, ...]:
        """The columns that are in the files."""
        return tuple(column for column in self.columns if not column.source)

    def create(self, folder: str) -> str:
        """Return the statement that makes it as `t`."""
        options = self.rules.options()
        if self.location:
            where = {"filenames": f"{folder}/{self.location}"}
        else:
            where = {"filename": f"{folder}/{self.files[0].name}"}
            if self.files[0].compression != "none":
                where["compression"] = self.files[0].compression
        columns = ", ".join(column.definition for column in self.columns)
        clause = options_clause({**where, **options})
        return f"CREATE FOREIGN TABLE t ({columns}) SERVER files {clause}"
