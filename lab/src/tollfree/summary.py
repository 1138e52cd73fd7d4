"""The table of gains in README.md, between two comments, made from stored runs.

Run as a module it puts the table into the file; a test fails while it is another one.
"""

import re
from collections.abc import Iterator

from tollfree.export import read_json
from tollfree.paths import CHECKOUT
from tollfree.report.model import GainRow
from tollfree.results import gain_text, rounds
from tollfree.stored import STORED
from tollfree.suites import section_of

README = CHECKOUT / "README.md"
BEGIN = "<!-- made by python -m tollfree.summary -->\n"
END = "<!-- end -->\n"
SHOWN = (
    ("fdw-headlines-postgresql-18", "Lookup by key, simple", "a local table"),
    ("fdw-headlines-postgresql-18", "Lookup by key, prepared", "a local table"),
    ("fdw-headlines-postgresql-18", "Lookup 1 ms away, of asking directly", "the server itself"),
    ("fdw-headlines-postgresql-18", "TPC-B transaction, simple", "local tables"),
    ("fdw-transactions-postgresql-18", "TPC-B transaction, prepared", "local tables"),
    ("fdw-headlines-postgresql-18", "Scan of 1,000,000 rows", "a local table"),
    ("fdw-ablation-postgresql-18", "INSERT ... SELECT of 5,000 rows", "a local table"),
    ("sampling-auto-postgresql-18", "ANALYZE, by default", "a local table"),
    ("shards-postgresql-18", "4 TPC-H queries", "local tables"),
    ("file-queries-postgresql-18", "8 TPC-H queries, geometric mean", "regular tables"),
    ("file-sf10-rounds-postgresql-18", "8 TPC-H queries, geometric mean", "regular tables"),
)
"""Run, row of its picture, and what the ratio is to."""
WORDS = {
    "Lookup 1 ms away, of asking directly": "Lookup 1 ms away",
    "ANALYZE, by default": "ANALYZE of 10 million remote rows",
    "4 TPC-H queries": "4 TPC-H queries over 4 servers, 1 ms away",
    "file-queries-postgresql-18": "8 TPC-H queries on text files, 0.2 GB",
    "file-sf10-rounds-postgresql-18": "the same, 10 GB",
}
"""What a row is called here, where its own label needs its page to be understood."""


def table() -> str:
    """Return the table as Markdown."""
    heading = "| what | compared with | stock wrapper | tollfree | run |\n|---|---|--:|--:|---|\n"
    return heading + "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    for name, label, beside in SHOWN:
        run = read_json(STORED / f"{name}.json")
        gains = section_of(run).gains
        assert gains is not None
        row = next(row for row in gains.rows if row.label == label)
        words = WORDS.get(name) or WORDS.get(label, label)
        page = f"docs/results/{run.run.suite}.md#{name}"
        yield f"| {words} | {beside} | {_cells(row)} | [{rounds(run)}]({page}) |"


def _cells(row: GainRow) -> str:
    return " | ".join(gain_text(gain) for gain in row.gains)


def with_table(text: str) -> str:
    """Return the README with the table as it is now."""
    pattern = f"(?<={re.escape(BEGIN)}).*?(?={re.escape(END)})"
    return re.sub(pattern, lambda _: f"\n{table()}\n", text, flags=re.DOTALL)


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
