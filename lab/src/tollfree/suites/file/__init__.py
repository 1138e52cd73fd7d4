"""Suite `file`: what querying flat files in place costs, with TPC-H."""

from importlib.resources import files as resources
from typing import Any

import psycopg
from psycopg import sql

from tollfree.cluster import Cluster
from tollfree.report.model import SuiteSection
from tollfree.store import Profile, Run, Store
from tollfree.suites.base import Bench, Suite
from tollfree.suites.citus import (
    COORDINATOR,
    make_citus_database,
    set_on_workers,
    start_citus,
    why_no_citus,
)
from tollfree.suites.file.charts import charts
from tollfree.suites.file.data import (
    TextFiles,
    TpchTable,
    make_growing,
    make_text,
    scale_folder,
    text_folder,
    tpch_tables,
)
from tollfree.suites.file.findings import FileFindings
from tollfree.suites.file.forms import FORMED, PLAIN, Form, FormMaker, lacks_packer
from tollfree.suites.file.gains import gain_chart
from tollfree.suites.file.schemas import (
    LOADER,
    Schema,
    SchemaMaker,
    make_wrapper,
)
from tollfree.suites.file.tables import all_tables
from tollfree.suites.file.verdicts import verdicts
from tollfree.suites.foreign import make_page_cache_functions
from tollfree.suites.presentation import FROM_DISK, Findings, plain_section

BYTES_PER_SCALE = 90_000_000
"""Text in all forms, tables, whole and in blocks, and what is kept, at one hundredth of TPC-H's
scale factor."""
BYTES_OF_SERVERS = 2_500_000_000
"""With the log that loading leaves for a while."""

WORK_MEM = "64MB"
"""The experiment's, as the cases have it."""

TITLE = "Flat files: TPC-H on the text itself"
INTRO = (
    "TPC-H's queries on regular tables without indexes (`heap`) and on foreign tables over the "
    "text that these are loaded from, serial and with two workers. The engine `partitioned` has "
    "`lineitem` and `orders` in four blocks, as the published experiment's CitusDB had; Citus "
    "itself, where the PostgreSQL in use has it, has these blocks on two servers more. What a "
    "query scans is read before it is timed; the cases of a query follow each other, so that the "
    "page cache keeps it. A ratio says how many times slower a query is than on the regular table. "
    "The candidates `tollfree_file_fdw_first`, `_second` and `_appended` keep a record index and "
    "the columns of the files: the first execution, a later one, and one after the file has grown "
    "by a hundredth. `lineitem` is there in other forms, too: as quoted CSV, packed by gzip and by "
    "zstd, in a hundred files, in a hundred packed ones."
)


class FileSuite(Suite):
    """TPC-H on regular tables and on text files."""

    name = "file"
    in_demo = True

    def disk_bytes(self, profile: Profile) -> int:
        """Return the room for TPC-H's text and tables at the profile's scale."""
        return BYTES_OF_SERVERS + profile.scale * BYTES_PER_SCALE

    def kept_bytes(self, bench: Bench) -> int:
        """Return the size of the text and of the tables of the profile's scale."""
        text = text_folder(bench) / scale_folder(bench.profile.scale)
        tables = bench.lab.source().size_of_databases(f"^{_database(bench)}$")
        return tables + sum(path.stat().st_size for path in text.rglob("*"))

    def prepare(self, bench: Bench, *, resumed: bool) -> None:
        """Make the text, the schemas that the run's cases need, and the heap tables' answers.

        Text and loaded tables are kept from run to run; foreign tables are recreated.
        """
        source = bench.lab.source()
        tables = tpch_tables(bench.store)
        files = make_text(bench, tables, bench.profile.scale)
        source.make_database(_database(bench))
        with source.connect(_database(bench)) as connection:
            make_page_cache_functions(connection)
            connection.execute(resources(__package__).joinpath("source.sql").read_bytes())
            maker = SchemaMaker(connection, tables, files)
            former = FormMaker(files, bench.profile.scale, bench.lab.user)
            make_wrapper(connection, LOADER)
            _make_unless(maker, Schema(LOADER, "foreign", LOADER, 1), is_kept=resumed)
            schemas = _schemas(bench, source, connection)
            for schema in schemas:
                if schema.grows:
                    make_growing(files, bench.lab.user)
                if schema.form:
                    former.make(connection, schema.form, maker.records(FORMED))
                if schema.kind != "citus":
                    is_kept = resumed or schema.kind != "foreign" or schema.schema == LOADER
                    _make_unless(maker, schema, is_kept=is_kept)
            # Every case is heap's or has it as its baseline, in one engine or the other.
            heap = next(schema for schema in schemas if schema.kind == "heap")
            _ask(bench, connection, heap, is_resumed=resumed)
        for schema in schemas:
            if schema.kind == "citus":
                _make_on_citus(bench, schema, tables, files)

    def facts(self, store: Store, run: Run) -> dict[str, Any]:
        """Return how much text is behind the tables that each query reads."""
        rows = store.rows("file_scanned", run_id=run.run_id)
        return {"scanned_bytes": {row["query"]: int(row["bytes"]) for row in rows}}

    def section(self, run: Findings) -> SuiteSection:
        """Return the experiment's table beside the published one, verdicts and plots."""
        file = FileFindings.of(run)
        return plain_section(
            file.run,
            title=TITLE,
            intro=INTRO,
            verdicts=verdicts(file),
            tables=all_tables(file),
            charts=charts(file),
            gains=gain_chart(file),
            extra_columns=(FROM_DISK,),
            extra={name: {FROM_DISK.label: file.run.from_disk_mb(name)} for name in file.run.cases},
        )


SUITE = FileSuite()


def _database(bench: Bench) -> str:
    return f"tpch_{bench.profile.scale}"


def _make_on_citus(bench: Bench, schema: Schema, tables: list[TpchTable], files: TextFiles) -> None:
    """Make a schema on the coordinator, and of its large tables one shard a block on workers."""
    start_citus(bench)
    name = _database(bench)
    make_citus_database(bench, name, bench.store.rows("file_citus_workers"))
    set_on_workers(bench, name, {"work_mem": WORK_MEM})
    with bench.lab.other(COORDINATOR).connect(name) as connection:
        maker = SchemaMaker(connection, tables, files)
        make_wrapper(connection, LOADER)
        for found in (Schema(LOADER, "foreign", LOADER, 1), schema):
            _make_unless(maker, found, is_kept=True)


def _make_unless(maker: SchemaMaker, schema: Schema, *, is_kept: bool) -> None:
    if not (is_kept and maker.is_made(schema)):
        maker.make(schema)


def _schemas(
    bench: Bench, source: Cluster, connection: psycopg.Connection[tuple[object, ...]]
) -> list[Schema]:
    """Return the schemas that the run needs and this server supports; skip the others."""
    found = []
    run = bench.store.latest_run(FileSuite.name, "running")
    rows = bench.store.rows("file_forms")
    forms = {row["form"]: Form.of(row) for row in rows if row["form"] != PLAIN}
    for row in bench.store.rows("file_needed", order="schema"):
        form = forms.get(row["form"])
        why_not = (
            why_no_citus(bench)
            if row["kind"] == "citus"
            else _lacks(connection, row["extension"]) or lacks_packer(form, bench.lab.user)
        )
        if why_not and run:
            bench.store.call("skip_candidate", run.run_id, row["candidate"], why_not)
            continue
        if row["kind"] == "foreign":
            make_wrapper(connection, row["extension"])
        found.append(
            Schema(row["schema"], row["kind"], row["extension"], row["blocks"], row["grows"], form)
        )
    return list(dict.fromkeys(found))


def _lacks(connection: psycopg.Connection[tuple[object, ...]], extension: str | None) -> str | None:
    """Return what the server lacks for an extension, None when nothing."""
    if extension is None:
        return None
    known = connection.execute(
        "SELECT FROM pg_available_extensions WHERE name = %s", (extension,)
    ).fetchone()
    if known is None:
        return f"the extension {extension} is not installed in this PostgreSQL"
    return None


def _ask(
    bench: Bench,
    connection: psycopg.Connection[tuple[object, ...]],
    heap: Schema,
    *,
    is_resumed: bool,
) -> None:
    """Read the expected answers of all candidates from the heap tables of a schema.

    A resumed run keeps its answers: its tables are the same.
    """
    connection.execute(
        sql.SQL("SET search_path = {}; SET work_mem = {}").format(
            sql.Identifier(heap.schema), sql.Literal(WORK_MEM)
        )
    )
    for row in bench.store.rows("file_questions", order="query"):
        if is_resumed and row["is_answered"]:
            continue
        answer = connection.execute(row["statement"]).fetchone()
        bench.store.call(
            "file_keep_answer", bench.profile.scale, row["query"], answer[0] if answer else ""
        )
