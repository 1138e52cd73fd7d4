"""Plans as EXPLAIN (VERBOSE, FORMAT JSON) prints them, and the round trips that they stand for.

The arithmetic is that of an autocommit statement. Stock waits for START TRANSACTION and COMMIT once
for each server, and for DECLARE, each FETCH and CLOSE each time that a scan is executed; a scan
that takes no parameter from outside is executed once. Ours waits for one round trip each time, if
the result is expected to be small or is read to its end, in a loop at best for one for many outer
rows, and for COMMIT after a modification. What `use_remote_estimate` asks for comes on top. A scan
of a file waits for none.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tollfree.check.inventory import REMOTE_WRAPPERS, fetch_size
from tollfree.check.model import ForeignServer, ForeignTable
from tollfree.check.session import Row

Plan = dict[str, Any]

BATCH = 10_000
"""Outer rows for which ours asks at once."""

MAKES_ROWS = ("Nested Loop", "Hash Join", "Merge Join", "Aggregate")
"""Nodes that have other rows than their outer side; subqueries are executed for theirs."""

REMOTE_PARAMETER = re.compile(r"\$\d+::|\(SELECT null::")


@dataclass(frozen=True)
class Costs:
    """What a plan waits for and transfers."""

    servers: tuple[str, ...]
    remote_rows: float
    file_rows: float
    stock_round_trips: float
    ours_round_trips: float


class NotCountedError(Exception):
    """A plan whose round trips are not known beforehand; says why."""


def plan_of(rows: list[Row]) -> Plan:
    """Return the topmost node of what EXPLAIN returned."""
    plan: Plan = rows[0]["QUERY PLAN"][0]["Plan"]
    return plan


def nodes(plan: Plan, executions: float = 1.0) -> Iterator[tuple[Plan, float]]:
    """Yield each node and how often the planner expects it to be executed."""
    yield plan, executions
    for child in plan.get("Plans", []):
        yield from nodes(child, executions * max(_repeats(plan, child), 1))


def _repeats(plan: Plan, child: Plan) -> float:
    """Return how often an execution of a node executes a child: once, or for each row."""
    kind, relation = plan["Node Type"], child["Parent Relationship"]
    outer = next((x for x in plan["Plans"] if x["Parent Relationship"] == "Outer"), plan)
    is_looped = (
        relation == "Inner" and kind == "Nested Loop" and child["Node Type"] != "Materialize"
    )
    if not (is_looped or (relation == "SubPlan" and not _is_hashed(plan, child))):
        return 1
    rows: float = (plan if relation == "SubPlan" and kind in MAKES_ROWS else outer)["Plan Rows"]
    return rows


def _is_hashed(plan: Plan, subplan: Plan) -> bool:
    """Return whether a subquery is executed once, into a hash table."""
    expressions = {name: value for name, value in plan.items() if name != "Plans"}
    return f"hashed {subplan['Subplan Name']})" in json.dumps(expressions)


def foreign_scans(plan: Plan) -> list[Plan]:
    """Return the nodes that read or modify by a wrapper."""
    return [node for node, _ in nodes(plan) if node["Node Type"] == "Foreign Scan"]


def costs(
    plan: Plan, servers: dict[str, ForeignServer], tables: tuple[ForeignTable, ...]
) -> Costs | None:
    """Return what a plan waits for, None if it reads no foreign table.

    Raises `NotCountedError` where rows are written one by one.
    """
    used: dict[str, bool] = {}
    files: set[str] = set()
    rows = file_rows = stock = ours = 0.0
    for node, executions in nodes(plan):
        if node["Node Type"] == "ModifyTable" and _writes_remotely(node, servers, tables):
            raise NotCountedError("it writes foreign rows one by one or in batches")
        if node["Node Type"] != "Foreign Scan":
            continue
        read = [table for table in tables if reads(node, table)]
        remote = [t for t in read if servers[t.server].wrapper in REMOTE_WRAPPERS]
        if not remote:
            files.update(table.server for table in read)
            file_rows += executions * node["Plan Rows"] if read else 0
            continue
        server = remote[0].server
        is_read = node.get("Operation", "Select") == "Select"
        used[server] = used.get(server, False) or not is_read
        times = executions if REMOTE_PARAMETER.search(node.get("Remote SQL", "")) else 1.0
        fetched: float = node["Plan Rows"]
        size = max(fetch_size(table, servers[server]) for table in remote)
        stock += times * ((3 + fetched // size) if is_read else 1)
        ours += math.ceil(times / BATCH) if is_read else times
        rows += times * (fetched if is_read else 0)
    if not used and not files:
        return None
    ends = sum(used.values())
    names = tuple(sorted({*used, *files}))
    return Costs(names, rows, file_rows, stock + 2 * len(used), ours + ends)


def tables_read(plan: Plan, tables: tuple[ForeignTable, ...]) -> list[ForeignTable]:
    """Return those of the tables that a plan reads or writes."""
    found = [node for node, _ in nodes(plan)]
    return [table for table in tables if any(reads(node, table) for node in found)]


def reads(node: Plan, table: ForeignTable) -> bool:
    """Return whether a node reads or writes a foreign table."""
    if "Relations" in node:
        return bool(
            re.search(rf"(?<![\w.\"]){re.escape(table.qualified)}(?=[\s)])", node["Relations"])
        )
    return (node.get("Schema"), node.get("Relation Name")) == (table.schema, table.name)


def _writes_remotely(
    node: Plan, servers: dict[str, ForeignServer], tables: tuple[ForeignTable, ...]
) -> bool:
    """Return whether a ModifyTable node has a foreign table as its target and no Foreign Scan that
    modifies it by one remote command."""
    targets = [node, *node.get("Target Tables", [])]
    is_foreign = any(
        reads(target, table) and servers[table.server].wrapper in REMOTE_WRAPPERS
        for target in targets
        for table in tables
    )
    children = node.get("Plans", [])
    is_direct = bool(children) and all(
        child.get("Operation", "Select") != "Select" for child in children
    )
    return is_foreign and not is_direct
