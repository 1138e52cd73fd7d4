"""What travels though the query does not need it, why, and what to do: from a plan in JSON.

Our wrapper says in its plans what is evaluated here, and the reason. postgres_fdw says only what,
as a Filter: the reason is guessed from its text and what the catalogs know of the functions in it.
"""

import re
from collections.abc import Iterator

from psycopg import sql

from tollfree.check.inventory import REMOTE_WRAPPERS, STOCK_WRAPPER
from tollfree.check.model import Evaluation, ForeignServer, ForeignTable, Travel
from tollfree.check.plans import Plan, reads
from tollfree.check.session import Session

SORTS = ("Sort", "Incremental Sort")
CALL = re.compile(r'([A-Za-z_]\w*|"(?:[^"]|"")+")\(')
SESSION_VALUE = re.compile(
    r"\b(CURRENT_(?:DATE|TIME|TIMESTAMP|USER|ROLE|CATALOG|SCHEMA)|LOCALTIME(?:STAMP)?"
    r"|SESSION_USER|USER)\b"
)
NO_WORDS = re.compile(
    r"\b(COALESCE|NULLIF|GREATEST|LEAST|COLLATE|ROW)\b|\bIS (?:NOT )?(?:TRUE|FALSE|UNKNOWN)\b"
)
SUBQUERY = re.compile(r"\b(SubPlan|InitPlan|EXISTS)\b")
BY_OURS = "Through tollfree_postgres_fdw the remote server decides many of these: see below."
REFERENCE = "docs/reference/tollfree_postgres_fdw.md#conditions-that-the-remote-server-decides"
NEEDS_CONDITION = "it needs the rows that meet the condition evaluated here"
SAME_BY_OURS = re.compile(r"is not known|is volatile|subquery|needs the rows")
"""Reasons that our wrapper has, too."""
NOT_SAID = "postgres_fdw does not say why; often it is a collation or a type"

REMEDIES = (
    (
        r"^operator .* is not known",
        "Write it with PostgreSQL's own operators.",
    ),
    (
        r"the default collation",
        "If tollfree_postgres_fdw_compare_collations says that both databases have the same, say"
        " so:",
    ),
    (
        r"^type .* is not known",
        "Declare the foreign column with a type of PostgreSQL's own, such as text.",
    ),
    (
        r"is not known to be the same",
        "Write it with PostgreSQL's own functions; or make it a part of an extension that both"
        " servers have, and name that in the server's option extensions.",
    ),
    (
        r"is volatile$",
        "Call it once: WHERE column = (SELECT call).",
    ),
    (
        r"depends on this session|depends on settings",
        "Compare the column itself with values that are computed without columns, as in"
        " WHERE ts >= date_trunc('day', now()).",
    ),
    (
        r"depends on collation|depends on a collation|COLLATE is not sent",
        "Declare the foreign column with the collation: COLLATE in a query is not sent.",
    ),
    (
        r"subquery",
        "Write it as a join, or compute it first and give it as a parameter.",
    ),
    (
        r"^a cast of",
        "Compare in the column's own type, without the cast.",
    ),
    (
        r"column of another table|a whole row|a system column",
        "Name only columns of the foreign table.",
    ),
    (
        r"remote_expressions is off",
        "Switch it on: the setting, and the options of the table and the server.",
    ),
    (
        r"one side of a comparison",
        "Put the value alone on one side of =, <, > or LIKE, at the top of WHERE.",
    ),
    (
        r"needs the rows that meet the condition",
        "Have the condition sent; then the groups are, too.",
    ),
    (
        r"estimated to cost less",
        "ANALYZE the foreign table; for a SELECT DISTINCT write GROUP BY.",
    ),
    (
        r"GROUPING SETS",
        "Group by columns, with deterministic collations.",
    ),
    (
        r"of a subquery's rows",
        "Aggregate plain columns of the subquery by count, sum, avg, min or max, without FILTER.",
    ),
)
"""What helps against a reason, the first that fits."""


def travels(
    session: Session,
    plan: Plan,
    servers: dict[str, ForeignServer],
    tables: tuple[ForeignTable, ...],
) -> tuple[Travel, ...]:
    """Return the scans of other servers whose rows are evaluated here, in the plan's order."""
    return tuple(
        travel
        for scan, above in _scans(plan, ())
        if (read := [table for table in tables if reads(scan, table)])
        and servers[read[0].server].wrapper in REMOTE_WRAPPERS
        and (travel := _travel(session, scan, above, servers[read[0].server], read))
    )


def _scans(plan: Plan, above: tuple[Plan, ...]) -> Iterator[tuple[Plan, tuple[Plan, ...]]]:
    """Yield the foreign scans, each with the nodes above it, the nearest first."""
    if plan["Node Type"] == "Foreign Scan" and plan.get("Operation", "Select") == "Select":
        yield plan, above
    for child in plan.get("Plans", []):
        yield from _scans(child, (plan, *above))


def _travel(
    session: Session,
    scan: Plan,
    above: tuple[Plan, ...],
    server: ForeignServer,
    read: list[ForeignTable],
) -> Travel | None:
    groups = _groups(above)
    if server.wrapper in STOCK_WRAPPER:
        found = [(one["Expression"], one["Reason"]) for one in scan.get("Evaluated Here", [])]
    else:
        found = list(_of_stock(session, scan.get("Filter"), _words(groups)))
    if not found:
        return None
    return Travel(
        " and ".join(table.qualified for table in read),
        server.name,
        _sent(scan, read),
        _rows(groups or scan),
        "Actual Rows" in scan,
        tuple(
            Evaluation(what, why, _advice(why, server), _commands(why, server))
            for what, why in found
        ),
    )


def _of_stock(
    session: Session, condition: str | None, groups: str | None
) -> Iterator[tuple[str, str]]:
    """Yield what stock's plan evaluates here of a scan, and why that may be."""
    if condition:
        yield condition, _guess(session, condition)
    if groups:
        yield groups, NEEDS_CONDITION if condition else _guess(session, groups)


def _groups(above: tuple[Plan, ...]) -> Plan | None:
    """Return the aggregation that all rows of a scan go into, sorted or not."""
    for node in above:
        if node["Node Type"] == "Aggregate" and node.get("Partial Mode", "Simple") == "Simple":
            return node
        if node["Node Type"] not in SORTS:
            return None
    return None


def _words(groups: Plan | None) -> str | None:
    """Return what an aggregation of stock's plan does."""
    if groups is None:
        return None
    if "Group Key" in groups:
        return f"GROUP BY {', '.join(groups['Group Key'])}"
    return ", ".join(groups.get("Output", [])) or "an aggregate"


def _rows(node: Plan) -> float:
    rows: float = node["Actual Rows"] if "Actual Rows" in node else node["Plan Rows"]
    loops: float = node.get("Actual Loops", 1)
    return rows * loops


def _sent(scan: Plan, read: list[ForeignTable]) -> float | None:
    """Return how many rows the remote server sends; None if the plan does not say."""
    if "Rows Received" in scan:
        received: float = scan["Rows Received"]
        return received
    if "Actual Rows" in scan:
        removed: float = scan.get("Rows Removed by Filter", 0)
        loops: float = scan["Actual Loops"]
        return _rows(scan) + removed * loops
    if "Filter" not in scan:
        return _rows(scan)
    if len(read) == 1 and " WHERE " not in scan.get("Remote SQL", ""):
        return read[0].row_estimate
    return None


def _guess(session: Session, text: str) -> str:
    """Return why postgres_fdw does not send an expression, as far as its text tells."""
    names = [name.strip('"').replace('""', '"') for name in CALL.findall(text)]
    functions = session.query("functions.sql", names) if names else []
    for row in functions:
        if row["is_other"]:
            of = f" of extension {row['extension']}" if row["extension"] else ""
            return f"{row['name']}{of} is not known to be the same on the remote server"
        if row["is_volatile"] and row["is_changing"]:
            return f"{row['name']} is volatile"
    if SUBQUERY.search(text):
        return "a subquery is evaluated here"
    changing = [row["name"] for row in functions if row["is_changing"]]
    changing += SESSION_VALUE.findall(text)
    if changing:
        return f"{changing[0]} may have another value on the remote server"
    if kind := NO_WORDS.search(text):
        return f"{kind.group()} is not sent"
    return NOT_SAID


def _advice(reason: str, server: ForeignServer) -> str:
    if of := _extension(reason):
        return f"If the remote server has extension {of}, too, in the same version, say so:"
    if server.wrapper not in STOCK_WRAPPER and not SAME_BY_OURS.search(reason):
        return BY_OURS
    found = (text for pattern, text in REMEDIES if re.search(pattern, reason))
    return next(found, f"See {REFERENCE}.")


def _extension(reason: str) -> str | None:
    found = re.search(r" of extension (\S+) is not known", reason)
    return found.group(1).strip('"') if found else None


def _commands(reason: str, server: ForeignServer) -> tuple[str, ...]:
    """Return the SQL that helps against a reason."""
    of = _extension(reason)
    named = server.options.get("extensions")
    if of:
        return (_option(server, "extensions", f"{named}, {of}" if named else of),)
    if server.wrapper in STOCK_WRAPPER and "the default collation" in reason:
        return (_option(server, "collations", "same"),)
    return ()


def _option(server: ForeignServer, name: str, value: str) -> str:
    """Return the command that gives a server an option."""
    verb = sql.SQL("SET" if name in server.options else "ADD")
    command = sql.SQL("ALTER SERVER {} OPTIONS ({} {} {});")
    return command.format(
        sql.Identifier(server.name), verb, sql.Identifier(name), sql.Literal(value)
    ).as_string()
