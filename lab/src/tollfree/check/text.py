"""A report of `tollfree check` as lines of text."""

from collections.abc import Iterator

from tollfree.check.figures import many, ms, size
from tollfree.check.model import (
    Execution,
    ForeignServer,
    KeptExecution,
    Link,
    Query,
    Report,
    Travel,
)


def lines(report: Report) -> Iterator[str]:
    """Yield the report's lines: inventory, what queries wait for, remedies."""
    yield f"PostgreSQL {report.server_version}, database {report.database}, user {report.user}"
    for wrapper in report.wrappers:
        state = (
            f"version {wrapper.installed} is in this database"
            if wrapper.installed
            else ("can be created" if wrapper.available else "is not installed")
        )
        yield f"  {wrapper.name} {state}"
    links = {link.server: link for link in report.links}
    for server in report.servers:
        yield ""
        yield from _server(report, server, links.get(server.name))
    for query in report.queries:
        yield ""
        yield from _query(query, links)
    if report.findings:
        yield from ("", "What to do:")
        for finding in report.findings:
            yield f"* {finding.about}: {finding.text}"
            yield from (f"    {command}" for command in finding.remedy)
            yield from (f"    back: {command}" for command in finding.undo)
    if report.unknown:
        yield ""
        yield from (f"not known: {unknown.what} ({unknown.why})" for unknown in report.unknown)


def _server(report: Report, server: ForeignServer, link: Link | None) -> Iterator[str]:
    yield f"server {server.name} ({server.wrapper}, owner {server.owner}){_options(server.options)}"
    if link:
        yield (
            f"  round trip {link.rtt_ms:.3g} ms (least {link.rtt_min_ms:.3g}), connecting"
            f" {link.connect_ms:.3g} ms: {link.queries} queries for no rows of {link.table}"
        )
    for one in report.timeouts:
        if one.server == server.name:
            limits = [f"{name} {ms:g} ms" for name, ms in one.settings_ms.items() if ms]
            yield f"  remote timeouts: {', '.join(limits) or 'none'}"
    for table in report.tables:
        if table.server == server.name:
            rows = (
                "never analyzed"
                if table.row_estimate is None
                else f"about {table.row_estimate:,.0f} rows"
            )
            if table.analyzed:
                rows += f", analyzed {table.analyzed:%Y-%m-%d}"
            yield f"  {table.qualified}: {rows}{_options(table.options)}"


def _options(options: dict[str, str]) -> str:
    return "".join(f", {name} '{value}'" for name, value in options.items())


def _query(query: Query, links: dict[str, Link]) -> Iterator[str]:
    yield f"query {' '.join(query.query.split())}"
    if query.calls is not None:
        yield f"  {many(query.calls, 'call')}, {query.mean_ms:.3g} ms each"
    if query.file_rows:
        yield f"  {many(query.file_rows, 'row')} of files, as the planner expects"
    if query.stock_round_trips:
        yield (
            f"  by postgres_fdw {many(query.stock_round_trips, 'round trip')}, by ours"
            f" {query.ours_round_trips:,.0f} or more; {many(query.remote_rows, 'remote row')},"
            " as the planner expects"
        )
    slowest = max((links[s].rtt_ms for s in query.servers if s in links), default=None)
    if slowest is not None:
        yield (
            f"  that is {ms(query.stock_round_trips * slowest)} of waiting for the link, or"
            f" {ms(query.ours_round_trips * slowest)}"
        )
    for travel in query.travels:
        yield from _travel(travel)
    if query.execution:
        yield from _execution(query.execution)
    if query.kept:
        yield from _kept(query.kept)


def _travel(travel: Travel) -> Iterator[str]:
    sent = "more rows" if travel.rows_sent is None else many(travel.rows_sent, "row")
    expected = "" if travel.is_measured else ", as the planner expects"
    verb = "travels" if sent == "1 row" else "travel"
    yield f"  {travel.relation}: {sent} {verb}, {travel.rows_needed:,.0f} needed{expected}"
    for part in travel.evaluated:
        yield f"    evaluated here: {part.expression}"
        yield f"      because {part.reason}"
        yield f"      {part.advice}"
        yield from (f"        {command}" for command in part.commands)


def _execution(done: Execution) -> Iterator[str]:
    trips = done.ours_round_trips
    waited = f" and {many(trips, 'round trip')}" if trips else ""
    yield (
        f"  executed: by stock {ms(done.stock_ms)}, by ours {ms(done.ours_ms)}{waited};"
        f" {many(done.stock_rows, 'row')}."
        f" Medians of {done.executions}, without the begin and end of the transaction"
    )
    if not done.same_plan:
        yield "  the copies that were read have no statistics: the plan of your tables is another"


def _kept(done: KeptExecution) -> Iterator[str]:
    yield (
        f"  with what can be kept of {', '.join(done.tables)}: {ms(done.plain_ms)} without,"
        f" {ms(done.first_ms)} the first time, {ms(done.later_ms)} from then on;"
        f" {size(done.kept_bytes)} on disk. Medians of {done.executions}, but the first time"
    )
    yield from (f"  nothing is kept of a file: {why}" for why in done.reasons)
    if not done.is_faster:
        yield "  this query gains too little by that: it is not proposed"
