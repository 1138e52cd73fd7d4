"""The tables of the section `file`."""

from tollfree.report.model import Cell, Column, Table
from tollfree.suites.file.findings import (
    AGAIN,
    ENGINE_NAMES,
    FORM_WORDS,
    HEAP,
    KEPT,
    OURS,
    SETTINGS,
    STOCK,
    FileFindings,
    is_published,
    setting,
)
from tollfree.suites.presentation import MB, again_table, number


def all_tables(file: FileFindings) -> tuple[Table, ...]:
    """Return the tables that have rows, the experiment's own first."""
    tables = (
        *(times_table(file, *each) for each in SETTINGS),
        *(kept_table(file, workers) for workers in (0, 2)),
        *(forms_table(file, workers) for workers in (0, 2)),
        *(rates_table(file, *each) for each in SETTINGS),
        noise_table(file),
    )
    return tuple(table for table in tables if table.rows)


def times_table(file: FileFindings, engine: str, workers: int) -> Table:
    """Return the experiment's table, the article's figures beside ours."""
    candidates = file.candidates()
    rows: list[tuple[Cell, ...]] = []
    cold = []
    for query in file.queries(engine=engine, workers=workers):
        cases = [file.case(query, target, engine, workers) for target in candidates]
        ratios = [file.ratio(case) for case in cases]
        row: list[Cell] = [query, file.mean_s(file.case(query, HEAP, engine, workers))]
        row += [file.mean_s(case) for case in cases]
        row += [ratio.median if ratio else None for ratio in ratios]
        rows.append((*row, *_published(file, query, engine, workers)))
        cold.append(_cold(file, query, engine, workers))
    columns = [Column("Query"), *(number(name, "s", 3) for name in (HEAP, *candidates))]
    columns += [number(f"{name}, ratio", "x", 2) for name in candidates]
    notes = ["Means over the rounds; ratios to the heap table are medians over the rounds."]
    if is_published(engine, workers):
        columns += [number("published regular", "s", 1), number("published foreign", "s", 1)]
        columns.append(number("published ratio", "x", 2))
        notes.append(
            f"Published: {ENGINE_NAMES[engine]}, 10 GB, another machine; only ratios compare."
        )
    if any(cold):
        columns.append(Column("cold"))
        rows = [(*row, case) for row, case in zip(rows, cold, strict=True)]
        notes.append("Cold: what was read from the disk, as a share of the text behind the tables.")
    caption = f"TPC-H, {setting(engine, workers)}"
    return Table(caption, tuple(columns), tuple(rows), tuple(notes))


def _published(file: FileFindings, query: str, engine: str, workers: int) -> list[Cell]:
    """Return the article's cells of a row, nothing where it has no such executions."""
    if not is_published(engine, workers):
        return []
    published = file.published.get((query, engine))
    if published is None:
        return [None, None, None]
    return [published.regular_s, published.foreign_s, published.ratio]


def _cold(file: FileFindings, query: str, engine: str, workers: int) -> str:
    """Name the cases of a row that did not find their bytes in the page cache, and how much."""
    cases = {
        target: file.case(query, target, engine, workers) for target in (HEAP, *file.candidates())
    }
    return ", ".join(
        f"{target} {file.disk_share(case):.0%}"
        for target, case in cases.items()
        if case and file.is_cold(case)
    )


def kept_table(file: FileFindings, workers: int) -> Table:
    """Return the gain of record indexes and cached columns, and their initial cost."""
    targets = (OURS, *(name for name in KEPT if file.run.find(target=name, workers=workers)))
    rows: list[tuple[Cell, ...]] = []
    for query in file.queries(engine="plain", workers=workers):
        cases = [file.case(query, target, "plain", workers) for target in targets]
        if not any(cases[1:]):
            continue
        ratios = [file.ratio(case) for case in cases]
        heap_s = file.mean_s(file.case(query, HEAP, "plain", workers))
        rows.append((query, heap_s, *(ratio.median if ratio else None for ratio in ratios)))
    return Table(
        f"TPC-H on text of which an index and columns are kept, {setting('plain', workers)}",
        (
            *(Column("Query"), number(HEAP, "s", 3), number("nothing kept", "x", 3)),
            *(number(KEPT[target], "x", 3) for target in targets[1:]),
        ),
        tuple(rows),
        (
            "Ratios to the heap table, medians over the rounds. The first execution of a query "
            "keeps what the later ones, in other sessions, read instead of text.",
            "The article expected of caching, and of indexes made by the way, that queries can be "
            "faster than on a regular table: less than 1.",
        ),
    )


def forms_table(file: FileFindings, workers: int) -> Table:
    """Return what the same records take in other forms."""
    candidates = file.candidates(of_forms=True)
    rows: list[tuple[Cell, ...]] = []
    for form in file.forms(engine="plain", workers=workers):
        for query in file.queries(form=form, engine="plain", workers=workers):
            cases = [file.case(query, name, "plain", workers, form) for name in candidates]
            ratios = [file.ratio(case) for case in cases]
            ours, stock = (file.case(query, name, "plain", workers, form) for name in (OURS, STOCK))
            beside = file.run.ratio(ours, stock) if ours and stock else None
            heap_s = file.mean_s(file.case(query, HEAP, "plain", workers))
            times = (file.mean_s(case) for case in cases)
            shown = (ratio.median if ratio else None for ratio in (*ratios, beside))
            rows.append((FORM_WORDS.get(form, form), query, heap_s, *times, *shown))
    return Table(
        f"The records of lineitem in other forms, {setting('plain', workers)}",
        (
            *(Column("Form"), Column("Query")),
            *(number(name, "s", 3) for name in (HEAP, *candidates)),
            *(number(f"{name}, ratio", "x", 2) for name in candidates),
            number(f"of {STOCK}'s time", "x", 2),
        ),
        tuple(rows),
        (
            f"{STOCK} reads a packed file through a program, as `zcat`, and several files as "
            "partitions. Means over the rounds; ratios to the heap table are medians over the "
            f"rounds, and so is the last one, of {OURS} to {STOCK}.",
        ),
    )


def rates_table(file: FileFindings, engine: str, workers: int) -> Table:
    """Return how much text is gone through in a second."""
    candidates = file.candidates()
    rows = []
    for query in file.queries(engine=engine, workers=workers):
        if query not in file.scanned:
            continue
        cases = [file.case(query, target, engine, workers) for target in candidates]
        rates = [file.megabytes_a_second(case) for case in cases]
        rows.append((query, file.scanned[query] / MB, *rates))
    unit = "MB/s a core" if workers == 0 else "MB/s"
    notes = [
        "All the text of the tables that a query reads, whether or not all of it had to be looked "
        "at, by wall-clock seconds."
    ]
    if workers == 0:
        notes.append("The article has 36 MB/s a core.")
    return Table(
        f"Text gone through in a second, {setting(engine, workers)}",
        (
            *(Column("Query"), number("text behind its tables", "MB", 0)),
            *(number(name, unit, 0) for name in candidates),
        ),
        tuple(rows),
        tuple(notes),
    )


def noise_table(file: FileFindings) -> Table:
    """Return the A/A cases: the heap table against itself."""
    names = file.run.find(target=AGAIN)
    again = ((str(file.dims(name)["query"]), file.run.ratio(name)) for name in names)
    return again_table("the heap table", "Query", again)
