"""Draws statements on the foreign table `t`.

A statement's rank says how its outcome is compared. Which of several errors comes first is the
plan's affair: a join reads one side first, a sort reads the file before anything is computed of its
rows, workers race.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from filediff.tables import Column, Table, literal
from filediff.values import NUMBERS, Family


class Rank(Enum):
    """What of an outcome has to be equal."""

    ORDERED = "rows in order, and errors"
    MULTISET = "rows in any order, and errors of the file"
    ANY_ERROR = "rows in any order, and whether there is an error"

    def any_error(self, stock: bool | None, candidate: bool | None) -> bool:
        """Return whether two errors need not be the same. Given is whether each is of the file
        (else it is of an expression), or None when it is no error."""
        if stock is None or candidate is None:
            return False
        return self is Rank.ANY_ERROR or (self is Rank.MULTISET and not (stock and candidate))


@dataclass(frozen=True)
class Statement:
    """One statement, several separated by semicolons included."""

    sql: str
    rank: Rank


PARALLEL = {
    "max_parallel_workers_per_gather": "2",
    "min_parallel_table_scan_size": "0",
    "parallel_setup_cost": "0",
    "parallel_tuple_cost": "0",
}
"""What makes a planner choose workers whatever the size."""

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
PATTERNS = (
    "a%",
    "%b",
    "%a%",
    "a_c",
    "abc",
    "%",
    "",
    "_",
    "%\\%%",
    "ab%c",
    "%  ",
    "A%",
    "ä%",
    "_%_",
)
NUMBERS_SQL = ("1.5", "2", "100000", "3000000000", "1e2::float8", "1.0::real", "NULL", "-0.0")
DATES_SQL = (
    "date '1998-12-01'",
    "timestamp '2000-01-01 12:00'",
    "date '1998-12-01' - 90",
    "current_date - 9500",
    "localtimestamp - interval '26 years'",
    "(now() - interval '320 months')::date",
    "date_trunc('year', localtimestamp - interval '9876 days 5 hours')",
)
"""What dates and timestamps are compared with; the last ones are computed when a scan begins."""
TIMES_SQL = (
    "timestamptz '2000-02-29 23:59:59.25+05:30'",
    "timestamp '2000-01-01 12:00'",
    "now() - interval '24 years'",
    "current_timestamp(0) - interval '200 months'",
)
"""The same for timestamps with a time zone."""


class Drawer:
    """Draws statements for one table."""

    def __init__(self, rng: random.Random, table: Table, *, is_long: bool) -> None:
        """`is_long`: the file has too many rows to be joined with itself."""
        self._rng = rng
        self._table = table
        self._columns = table.columns
        self._is_long = is_long
        kinds: dict[Callable[[], Statement], int] = {
            self._scan: 28,
            self._count: 10,
            self._aggregate: 16,
            self._grouped: 14,
            self._sorted: 5,
            self._system_columns: 3,
            self._prepared: 5,
            self._replanned: 3,
            self._cursor: 4,
            self._copied: 3,
            self._written: 2,
            self._combined: 3,
        }
        if not is_long:
            kinds |= {self._joined: 5, self._lateral: 5, self._barrier: 5}
            # Stock crashes when it analyses a file with a marker of defaults; a sample is random.
            kinds |= {} if table.dialect.default else {self._statistics: 3}
        self._kinds = kinds

    def draw(self) -> Statement:
        """Draw a statement."""
        (kind,) = self._rng.choices(list(self._kinds), list(self._kinds.values()))
        statement = kind()
        asked = re.sub(r"\bFROM t\b", f"FROM {self._table.name}", statement.sql)
        return replace(statement, sql=asked)

    # Kinds of statements

    def _scan(self) -> Statement:
        limit = ""
        if self._chance(0.2):
            limit = f" LIMIT {self._rng.choice((0, 1, 1, 2, 5))}"
            limit += f" OFFSET {self._rng.randint(0, 3)}" if self._chance(0.3) else ""
        query = f"SELECT {self._targets()} FROM t{self._where()}{limit}"
        if self._is_long and self._chance(0.8):
            # The rows in their order, without their way to the client.
            query = f"SELECT count(*), md5(string_agg(s::text, ';')) FROM ({query}) s"
        return self._ordered(query)

    def _count(self) -> Statement:
        counted = "*" if self._chance(0.6) else self._column().name
        return self._ordered(f"SELECT count({counted}) FROM t{self._where(0.4)}")

    def _aggregate(self) -> Statement:
        return self._ordered(f"SELECT {self._aggregates()} FROM t{self._where(0.5)}")

    def _grouped(self) -> Statement:
        keys = self._rng.sample(self._columns, min(len(self._columns), self._rng.choice((1, 1, 2))))
        names = ", ".join(key.name for key in keys)
        rows = f"FROM t{self._where(0.4)}"
        having = f" HAVING count(*) > {self._rng.randint(0, 2)}" if self._chance(0.2) else ""
        grouped = f"SELECT {names}, {self._aggregates()} {rows} GROUP BY {names}{having}"
        others = (
            f"SELECT DISTINCT {names} {rows}",
            f"SELECT {names} {rows} GROUP BY {names}{having}",
            f"SELECT {self._aggregates()} {rows} GROUP BY {names}",
            f"SELECT count(*) FROM (SELECT {names} {rows} GROUP BY {names}) s",
            f"SELECT {names} {rows} GROUP BY {names} HAVING {self._one_aggregate()} IS NULL",
            f"SELECT {names}, count(*) {rows} GROUP BY ROLLUP ({names})",
            f"SELECT 1, {self._aggregates()} {rows} GROUP BY 1",
        )
        return Statement(self._rng.choice(others) if self._chance(0.25) else grouped, Rank.MULTISET)

    def _sorted(self) -> Statement:
        columns = self._some_columns()
        names = ", ".join(c.name for c in columns)
        order = ", ".join(f"{c.name} {self._rng.choice(('', 'DESC'))}" for c in columns)
        limit = f" LIMIT {self._rng.randint(1, 5)}" if self._chance(0.4) else ""
        return self._ordered(f"SELECT {names} FROM t{self._where(0.5)} ORDER BY {order}{limit}")

    def _system_columns(self) -> Statement:
        columns = ("ctid", "tableoid::regclass", "tableoid <> 0", "xmin", "cmax")
        chosen = ", ".join(self._rng.sample(columns, 2))
        return self._ordered(f"SELECT {chosen}, {self._targets()} FROM t{self._where(0.3)}")

    def _barrier(self) -> Statement:
        """The view lets a function that tells its arguments see only what the view shows."""
        told = self._column().name
        where = self._where(1.0)
        return self._ordered(
            f"CREATE OR REPLACE VIEW v WITH (security_barrier) AS SELECT * FROM t{where};"
            f" SELECT {self._column().name} FROM v WHERE tell({told}::text)"
        )

    def _prepared(self) -> Statement:
        column = self._column()
        plain = column.type.sql.partition(" COLLATE")[0]
        runs = "; ".join(
            f"EXECUTE p({self._rng.choice((self._constant(column, typed=False), 'NULL'))})"
            for _ in range(2)
        )
        mode = self._rng.choice(("auto", "force_generic_plan", "force_custom_plan"))
        condition = f"{column.name} {self._rng.choice(COMPARISONS)} $1"
        target = self._rng.choice((self._targets(), "count(*)"))
        return self._ordered(
            f"DEALLOCATE ALL; SET plan_cache_mode = {mode}; PREPARE p({plain}) AS"
            f" SELECT {target} FROM t WHERE {condition}; {runs}"
        )

    def _replanned(self) -> Statement:
        """What a file means may change between planning and executing."""
        target = self._rng.choice((self._targets(), "count(*)", self._aggregates()))
        changes = (
            "SET client_encoding = 'SJIS'",
            "SET client_encoding = 'LATIN1'",
            "SET DateStyle = 'German'",
            "SET TimeZone = 'Asia/Kathmandu'",
            "ALTER FOREIGN TABLE t OPTIONS (ADD null 'N')",
            "ALTER FOREIGN TABLE t OPTIONS (ADD delimiter '|')",
            "ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'LATIN1')",
        )
        return self._ordered(
            f"DEALLOCATE ALL; SET plan_cache_mode = force_generic_plan; PREPARE p AS"
            f" SELECT {target} FROM t{self._where(0.5)};"
            f" EXECUTE p; {self._rng.choice(changes)}; EXECUTE p"
        )

    def _cursor(self) -> Statement:
        scroll = self._rng.choice(("", "SCROLL "))
        moves = ["FETCH 2", "FETCH 1", "MOVE 2", "FETCH 3", "FETCH ALL"]
        if scroll:
            moves += ["FETCH BACKWARD 2", "MOVE ABSOLUTE 0", "FETCH LAST"]
        chosen = "; ".join(f"{self._rng.choice(moves)} c" for _ in range(3)).replace(
            " c", " FROM c"
        )
        return self._ordered(
            f"BEGIN; DECLARE c {scroll}CURSOR FOR SELECT {self._targets()}"
            f" FROM t{self._where(0.5)}; {chosen}; CLOSE c; COMMIT"
        )

    def _copied(self) -> Statement:
        how = self._rng.choice(("", " (FORMAT csv, HEADER)"))
        return self._ordered(
            f"COPY (SELECT {self._targets()} FROM t{self._where(0.5)}) TO STDOUT{how}"
        )

    def _written(self) -> Statement:
        name = self._column().name
        return self._ordered(
            self._rng.choice(
                (
                    f"INSERT INTO t ({name}) VALUES (NULL)",
                    f"UPDATE t SET {name} = NULL",
                    "DELETE FROM t",
                    "COPY t TO STDOUT",
                    "TRUNCATE t",
                    f"DROP TABLE IF EXISTS copy; CREATE TEMP TABLE copy AS"
                    f" SELECT {self._targets()} FROM t; TABLE copy",
                    f"SELECT {name} FROM t FOR UPDATE",
                    f"SELECT {name} FROM t TABLESAMPLE system (50)",
                )
            )
        )

    def _combined(self) -> Statement:
        name, other = self._column().name, self._where(1.0)
        return self._ordered(
            self._rng.choice(
                (
                    f"SELECT {name} FROM t{self._where(0.5)} UNION ALL SELECT {name} FROM t{other}",
                    f"WITH w AS MATERIALIZED (SELECT * FROM t{other}) SELECT count(*) FROM w",
                    f"SELECT {name} FROM t WHERE EXISTS (SELECT FROM t{other})",
                    f"SELECT (SELECT count(*) FROM t{other}), {name} FROM t",
                    f"SELECT {name}, row_number() OVER () FROM t{other}",
                )
            )
        )

    def _statistics(self) -> Statement:
        return self._ordered(
            "ANALYZE t; SELECT reltuples FROM pg_class WHERE oid = 't'::regclass;"
            " SELECT attname, null_frac, n_distinct, avg_width, most_common_vals::text,"
            " most_common_freqs, histogram_bounds::text, correlation FROM pg_stats"
            " WHERE tablename = 't' ORDER BY attname"
        )

    def _joined(self) -> Statement:
        key, kind = self._column().name, self._rng.choice(("JOIN", "LEFT JOIN", "FULL JOIN"))
        shown = self._column().name
        return Statement(
            f"SELECT x.{shown}, y.{key} FROM t x {kind} t y ON x.{key} = y.{key}",
            Rank.ANY_ERROR,
        )

    def _lateral(self) -> Statement:
        column = self._column()
        constants = ", ".join(f"({self._constant(column)})" for _ in range(3))
        condition = f"{column.name} {self._rng.choice(COMPARISONS)} x.v"
        inner = self._rng.choice(
            (
                f"SELECT {self._targets()} FROM t WHERE {condition} LIMIT 2",
                f"SELECT count(*), {self._aggregates()} FROM t WHERE {condition}",
            )
        )
        return Statement(
            f"SELECT * FROM (VALUES {constants}) AS x (v), LATERAL ({inner}) s", Rank.MULTISET
        )

    # Parts of statements

    def _targets(self) -> str:
        if self._chance(0.15):
            return self._rng.choice(("*", "t", "t.*, 1", "1", "t IS NULL"))
        targets = [c.name for c in self._some_columns()]
        if self._chance(0.15):
            targets.append(self._expression() or "2")
        return ", ".join(targets)

    def _expression(self) -> str | None:
        """Return an arithmetic expression, if the table has numbers."""
        numbers = self._table.of(*NUMBERS)
        if not numbers:
            return None
        one, other = self._rng.choice(numbers).name, self._rng.choice(numbers)
        families = (Family.INTEGER, Family.NUMERIC)
        exact = [c for c in numbers if c.type.family in families]
        second = other.name if other in exact or self._chance(0.3) else "2"
        third = self._rng.choice(numbers).name
        return self._rng.choice(
            (
                f"{one} * {second}",
                f"{one} + {second}",
                f"{one} - {second}",
                f"-{one}",
                f"{one} * (1 - {second})",
                f"{one} * (1 - {second}) * (1 + {one})",
                f"({one} + {second}) * {third}",
                f"({one} - 1) * {second} - {third}",
                f"{one} + 1",
                f"{one} * 0.5",
            )
        )

    def _aggregates(self) -> str:
        found = [self._one_aggregate() for _ in range(self._rng.choice((1, 1, 2, 3)))]
        return ", ".join(found)

    def _one_aggregate(self) -> str:
        column, kind = self._column(), self._rng.random()
        family = column.type.family
        filtered = f" FILTER (WHERE {self._condition(1)})" if self._chance(0.2) else ""
        if kind < 0.25:
            return f"count({self._rng.choice(('*', column.name))}){filtered}"
        if kind < 0.6:
            argument = self._rng.choice((self._expression(), None))
            numbers = self._table.of(*NUMBERS)
            if numbers:
                argument = argument or self._rng.choice(numbers).name
                return f"{self._rng.choice(('sum', 'avg', 'min', 'max'))}({argument}){filtered}"
        if kind < 0.9 and family not in (Family.BOOLEAN, Family.OPAQUE):
            return f"{self._rng.choice(('min', 'max'))}({column.name}){filtered}"
        if family is Family.BOOLEAN:
            return f"bool_and({column.name}){filtered}"
        return self._rng.choice(
            (
                f"count(DISTINCT {column.name}){filtered}",
                f"array_agg({column.name}){filtered}",
                f"count({column.name}){filtered}",
            )
        )

    def _where(self, chance: float = 0.7) -> str:
        return (
            f" WHERE {self._condition(self._rng.choice((1, 1, 2, 3)))}"
            if self._chance(chance)
            else ""
        )

    def _condition(self, depth: int) -> str:
        if depth > 1 or self._chance(0.1):
            left, right = self._condition(depth - 1), self._condition(depth - 1)
            kind = self._rng.choice(("AND", "AND", "OR", "NOT"))
            return f"(NOT ({left}))" if kind == "NOT" else f"({left} {kind} {right})"
        return self._simple_condition(self._column())

    def _simple_condition(self, column: Column) -> str:
        name, family = column.name, column.type.family
        choices = [
            f"{name} {self._rng.choice(COMPARISONS)} {self._constant(column)}",
            f"{name} {self._rng.choice(COMPARISONS)} {self._constant(column)}",
            f"{name} {'NOT ' * self._chance(0.2)}BETWEEN {self._constant(column)}"
            f" AND {self._constant(column)}",
            f"{name} {'NOT ' * self._chance(0.3)}IN ({self._constants(column)})",
            f"{name} IS {'NOT ' * self._chance(0.5)}NULL",
            f"{name} IS DISTINCT FROM {self._constant(column)}",
            self._column_to_column(column),
        ]
        if family is Family.TEXT:
            pattern = literal(self._rng.choice(PATTERNS))
            choices += [
                f"{name} {self._rng.choice(('LIKE', 'NOT LIKE', 'ILIKE', '~~'))} {pattern}"
            ] * 2
            choices.append(f"length({name}) > {self._rng.randint(0, 6)}")
        if family is Family.BOOLEAN:
            choices += [name, f"NOT {name}", f"{name} IS NOT TRUE", f"{name} IS UNKNOWN"]
        if family in NUMBERS:
            choices += [
                f"{name} {self._rng.choice(COMPARISONS)} {self._rng.choice(NUMBERS_SQL)}"
            ] * 2
            choices.append(f"{self._expression()} > 3")
        if family in (Family.DATE, Family.TIMESTAMP):
            choices.append(f"{name} {self._rng.choice(COMPARISONS)} {self._rng.choice(DATES_SQL)}")
        if family is Family.TIMESTAMPTZ:
            choices.append(f"{name} {self._rng.choice(COMPARISONS)} {self._rng.choice(TIMES_SQL)}")
        return self._rng.choice(choices)

    def _column_to_column(self, column: Column) -> str:
        """Compare with a column of a type that has operators with this one's, or with itself."""
        family = column.type.family
        families: tuple[Family, ...] = NUMBERS if family in NUMBERS else (family,)
        if family in (Family.DATE, Family.TIMESTAMP):
            families = (Family.DATE, Family.TIMESTAMP)
        others = [column] if family is Family.OPAQUE else self._table.of(*families)
        return f"{column.name} {self._rng.choice(COMPARISONS)} {self._rng.choice(others).name}"

    def _constants(self, column: Column) -> str:
        drawn = [self._constant(column) for _ in range(self._rng.choice((1, 2, 3, 10)))]
        return ", ".join([*drawn, "NULL"] if self._chance(0.1) else drawn)

    def _constant(self, column: Column, *, typed: bool = True) -> str:
        constant = literal(column.type.valid(self._rng))
        plain = column.type.sql.partition(" COLLATE")[0].partition("(")[0]
        return f"{constant}::{plain}" if typed and self._chance(0.7) else constant

    def _column(self) -> Column:
        return self._rng.choice(self._columns)

    def _some_columns(self) -> list[Column]:
        return self._rng.sample(self._columns, self._rng.randint(1, len(self._columns)))

    def _chance(self, chance: float) -> bool:
        return self._rng.random() < chance

    def _ordered(self, sql: str) -> Statement:
        return Statement(sql, Rank.ORDERED)
