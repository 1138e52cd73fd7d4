"""Draws cases from their numbers: a table, its files, and queries."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from filerecords.content import draw_text
from filerecords.numbers import NUMBERS, draw_options
from filerecords.packing import SUFFIXES
from filerecords.questions import Question, draw_questions
from filerecords.rules import ORDINARY, Column, File, Rules, Table

NAMES = ("a", "b", "c", "d", "e")
TYPES = (
    *("integer", "integer", "bigint", "text", "text", "text", "date", "numeric(8,2)"),
    *("timestamp", "boolean", "double precision"),
)
COMMENTS = ("#", "#", "#", "--", "//", "%%", ";", '"', "1", "a")
NULLS = ("", "\\N", "NULL", "-", "x")
DELIMITERS = {"csv": (",", ";", "|", "\t"), "text": ("\t", ",", ";", "|", ":")}
LOCATIONS = ("case/", "case", "case/*", "{case/*,none*/*,case/data-*}")
PARTED_LOCATIONS = ("case/**", "case/part=*/*", "case/*/data-*")
FURTHER_NULLS = ("NA", "NULL", "-", "", "x", "n, a", 'N"A', "\\N", "1", "none", " ")
FILES_MAX = 4


@dataclass(frozen=True)
class Case:
    """A case."""

    table: Table
    decoys: tuple[File, ...]
    """Files that the table's location does not name."""
    questions: tuple[Question, ...]


def draw_case(seed: int, number: int, codecs: Sequence[str]) -> Case:
    """Draw the case of these numbers for a wrapper that can read files of these compressions; the
    same on every machine."""
    rng = random.Random(f"{seed}:{number}:records")
    rules = draw_rules(rng)
    columns = _draw_columns(rng, rules)
    table = Table(columns, rules, ())
    if rules.by_name or rng.random() < 0.35:
        table = _with_many_files(rng, table, codecs)
    else:
        table = replace(table, files=(_draw_only_file(rng, table, codecs),))
    decoys = (File("case/.hidden", b"\0"),) if table.location else ()
    return Case(table, decoys, draw_questions(rng, table))


def draw_rules(rng: random.Random) -> Rules:
    """Draw what a table says of its files, but for its columns."""
    layout = "csv" if rng.random() < 0.65 else "text"
    delimiter, null = ORDINARY[layout]
    if rng.random() < 0.4:
        delimiter = rng.choice(DELIMITERS[layout])
    if rng.random() < 0.3:
        null = rng.choice(NULLS)
    quote = escape = '"'
    if layout == "csv" and rng.random() < 0.25:
        quote, escape = rng.choice((("'", "'"), ('"', "\\"), ("'", "\\"), ('"', "'")))
    rules = Rules(layout, delimiter, quote, escape, null)
    rules = replace(
        rules,
        header=rng.choice(("", "", "true", "true", "match")),
        encoding="LATIN1" if rng.random() < 0.05 else "UTF8",
        by_name=rng.random() < 0.15,
    )
    if rules.by_name:
        rules = replace(rules, header="true")
    if rng.random() < 0.85:
        rules = _with_record_options(rng, rules)
    return _with_error_options(rng, rules)


def _with_record_options(rng: random.Random, rules: Rules) -> Rules:
    def is_set() -> bool:
        return rng.random() < 0.4

    return replace(
        rules,
        skips_mark=is_set(),
        skip_lines=rng.choice((1, 1, 2, 3, 5, 30)) if rng.random() < 0.25 else 0,
        comment=rng.choice(COMMENTS) if is_set() else "",
        skips_blank=is_set(),
        pads_missing=is_set(),
        cuts_extra=is_set(),
        skip_last_lines=rng.choice((1, 1, 2, 3, 50)) if rng.random() < 0.2 else 0,
        null_strings=_draw_nulls(rng, rules) if rng.random() < 0.3 else (),
        skips_quote_blanks=rules.format == "csv" and rng.random() < 0.3,
    )


def _draw_nulls(rng: random.Random, rules: Rules) -> tuple[str, ...]:
    """A field with quotes is none of these, so a string with one may not be."""
    found = [null for null in FURTHER_NULLS if rules.quote not in null or rules.format == "text"]
    return tuple(rng.sample(found, rng.choice((1, 2, 2, 4))))


def _with_error_options(rng: random.Random, rules: Rules) -> Rules:
    if rng.random() < 0.25:
        limit = rng.choice((1, 2, 5)) if rng.random() < 0.3 else 0
        rules = replace(rules, skips_errors=True, reject_limit=limit)
    if rng.random() < 0.25:
        rules = replace(rules, log_verbosity=rng.choice(("default", "verbose", "silent")))
    return rules


def _draw_columns(rng: random.Random, rules: Rules) -> tuple[Column, ...]:
    names = rng.sample(NAMES, rng.choice((1, 1, 2, 2, 3, 3, 4, 5)))
    return tuple(_draw_column(rng, name, rules) for name in names)


def _draw_column(rng: random.Random, name: str, rules: Rules) -> Column:
    kind = rng.choice(TYPES)
    options: dict[str, str] = {}
    if rules.format == "csv":
        for option in ("force_not_null", "force_null"):
            if rng.random() < (0.12 if kind == "text" else 0.02):
                options[option] = "true"
    if kind in NUMBERS and rng.random() < 0.25:
        options |= draw_options(rng)
    # What a short record lacks must not become it.
    default = "given" if kind == "text" and rng.random() < 0.2 else None
    return Column(name, kind, options, default)


def _draw_only_file(rng: random.Random, table: Table, codecs: Sequence[str]) -> File:
    text = draw_text(rng, table)
    if rng.random() < 0.8:
        return File("case/one", text)
    kind = "none" if table.rules.skip_last_lines else rng.choice(codecs)
    is_cut = kind != "none" and rng.random() < 0.15
    return File("case/one", text, kind, is_cut)


def _with_many_files(rng: random.Random, table: Table, codecs: Sequence[str]) -> Table:
    """Return the table with several files, and with columns that are not in them."""
    is_parted = rng.random() < 0.4
    columns = list(table.columns)
    for column in _computed_columns(is_parted):
        if rng.random() < 0.4:
            columns.insert(rng.randint(0, len(columns)), column)
    table = replace(
        table,
        columns=tuple(columns),
        location=rng.choice(PARTED_LOCATIONS if is_parted else LOCATIONS),
    )
    files = []
    for letter in rng.sample("abcdefgh", rng.randint(1, FILES_MAX)):
        is_packed = not table.rules.skip_last_lines and rng.random() < 0.3
        kind = rng.choice(codecs) if is_packed else "none"
        folder = f"case/part={rng.randint(1, 3)}" if is_parted else "case"
        name = f"{folder}/data-{letter}{SUFFIXES[kind]}"
        files.append(File(name, draw_text(rng, table), kind))
    return replace(table, files=tuple(files))


def _computed_columns(is_parted: bool) -> list[Column]:
    found = [
        Column("file", "text", {"source": "file"}),
        Column("line", "bigint", {"source": "line"}),
        Column("letter", "text", {"source": "path", "pattern": "data-([a-z]+)"}),
    ]
    if is_parted:
        found.append(Column("part", "integer", {"source": "path"}))
    return found
