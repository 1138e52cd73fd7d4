"""The pages in docs/results, one for each suite, made from the runs in docs/runs.

A page begins with a table of all pictures (`GainChart`) of its runs, side by side. Then follow,
for each run, identity, sentences and tables. Remarks on runs are in docs/runs/remarks.toml;
nothing else is written by hand. Run as a module it writes the pages; a test compares them.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tollfree.console import cell_text
from tollfree.export import read_json
from tollfree.paths import CHECKOUT
from tollfree.report import figures
from tollfree.report.model import Gain, Kind, SuiteSection, Table
from tollfree.report.sheet import render_sheet
from tollfree.stored import STORED
from tollfree.suites import section_of, suite_named
from tollfree.suites.presentation import Findings

RESULTS = CHECKOUT / "docs" / "results"
REMARKS = STORED / "remarks.toml"
MADE_BY = "Made from the runs in [docs/runs](../runs/README.md): `python -m tollfree.results`."
READING = (
    "A ratio says how many times as long something takes; below 1x is faster. Medians over the"
    " rounds, with 99% intervals where there are two rounds or more; `~` is not told apart from"
    " noise. [How that is measured](../explanation/measuring.md)."
)
MOST_ROWS = 300
"""Of the tables of one run: the file has the rest."""
LONGEST = 100
"""Rows of one table."""
PICTURED = ("sampling-10m-postgresql-18", "sampling-10m-200us-postgresql-18")
"""Runs whose sheets of plots are set beside them."""


@dataclass(frozen=True)
class Stored:
    """A stored run as its suite presents it."""

    name: str
    findings: Findings
    section: SuiteSection
    remark: str


def stored_runs() -> dict[str, list[Stored]]:
    """Return the stored runs by suite, the newest first."""
    remarks = tomllib.loads(REMARKS.read_text(encoding="utf-8"))
    found: dict[str, list[Stored]] = defaultdict(list)
    for path in STORED.glob("*.json"):
        run = read_json(path)
        found[run.run.suite].append(
            Stored(path.stem, run, section_of(run), remarks.get(path.stem, ""))
        )
    return {
        suite: sorted(runs, key=lambda one: one.findings.run.started, reverse=True)
        for suite, runs in sorted(found.items())
    }


def pages() -> dict[str, str]:
    """Return the text of each file in docs/results, by its name."""
    found = {}
    for suite, runs in stored_runs().items():
        found[f"{suite}.md"] = "\n".join(_page(suite, runs))
        for one in runs:
            found |= _pictures(one)
    return found


def _pictures(one: Stored) -> dict[str, str]:
    if one.name not in PICTURED:
        return {}
    drawn = suite_named(one.findings.run.suite).sheets(one.findings)
    return {f"{one.name}.svg": render_sheet(sheet) + "\n" for sheet in drawn.values()}


def _page(suite: str, runs: list[Stored]) -> Iterator[str]:
    section = runs[0].section
    yield f"# Results of suite `{suite}`\n"
    yield f"{section.title}. {section.intro}\n"
    yield f"{MADE_BY} {READING}\n"
    yield from _side_by_side(runs)
    for one in runs:
        yield from _run(one)


def _side_by_side(runs: list[Stored]) -> Iterator[str]:
    """Yield all pictures of the suite as one table, with the same rows of all runs together."""
    pictures = [(one, one.section.gains) for one in runs if one.section.gains]
    candidates = list(dict.fromkeys(name for _, gains in pictures for name in gains.candidates))
    rows: dict[str, list[str]] = defaultdict(list)
    for one, gains in pictures:
        for row in gains.rows:
            found = dict(zip(gains.candidates, row.gains, strict=True))
            cells = [gain_text(found.get(name)) for name in candidates]
            reference = figures.ratio(row.reference) if row.reference is not None else ""
            where = f"[{one.name}](#{one.name}), {rounds(one.findings)}"
            rows[row.label].append(_line(row.label, where, *cells, reference))
    if rows:
        yield "## All runs side by side\n"
        yield _line("what", "run", *candidates, "published")
        yield _rule("ll" + "r" * (len(candidates) + 1))
        for lines in rows.values():
            yield from lines
        yield ""


def rounds(run: Findings) -> str:
    """Return how many rounds a run had."""
    return "1 round" if run.run.rounds == 1 else f"{run.run.rounds} rounds"


def gain_text(gain: Gain | None) -> str:
    """Return a ratio with its interval and the noise mark."""
    if gain is None:
        return ""
    mark = "" if gain.told_apart else figures.NOISE_MARK
    between = figures.ratio_interval(gain.ratio)
    return f"{mark}{figures.ratio(gain.ratio.value)}" + (f" ({between})" if between else "")


def _run(one: Stored) -> Iterator[str]:
    yield f"## {one.name}\n"
    if one.remark:
        yield f"{one.remark}\n"
    yield from _identity(one)
    for name in _pictures(one):
        yield f"![{one.name}]({name})\n"
    yield from (f"* {verdict}" for verdict in one.section.verdicts)
    yield ""
    left, omitted = MOST_ROWS, 0
    for table in one.section.tables:
        if len(table.rows) > min(LONGEST, left):
            omitted += 1
            continue
        left -= len(table.rows)
        yield from _table(table)
    if omitted:
        yield f"{omitted} longer tables: `tollfree show docs/runs/{one.name}.json`.\n"


def _identity(one: Stored) -> Iterator[str]:
    run = one.section.run
    facts = {
        "file": f"[{one.name}.json](../runs/{one.name}.json)",
        "run": f"{run.state}, {run.executions_done} of {run.executions_planned} executions in"
        f" {rounds(one.findings)}; {run.size}",
        "durability": run.durability,
        **run.fingerprint,
        "again": f"`{run.command}`",
    }
    yield _line("", "")
    yield _rule("ll")
    yield from (_line(name, str(value)) for name, value in facts.items())
    yield ""


def _table(table: Table) -> Iterator[str]:
    yield f"### {table.caption}\n"
    units = (f"{c.label}, {c.unit}" if c.unit else c.label for c in table.columns)
    yield _line(*units)
    yield _rule("".join("r" if c.kind is Kind.NUMBER else "l" for c in table.columns))
    for row in table.rows:
        yield _line(*(cell_text(x, c) for x, c in zip(row, table.columns, strict=True)))
    yield ""
    yield from (f"{note}\n" for note in table.notes)


def _line(*cells: str) -> str:
    """Return a row of a table; a bar in a cell would end it."""
    cells = tuple(cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(cells)} |"


def _rule(kinds: str) -> str:
    return "|" + "|".join("--:" if kind == "r" else "---" for kind in kinds) + "|"


def write_pages(folder: Path = RESULTS) -> None:
    """Write every page, and remove all other files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = pages()
    for path in folder.iterdir():
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
