"""The statements that may cost no more through our wrapper than through `postgres_fdw`.

One entry of `STATEMENTS` is what somebody does every day: some statements that are sent one after
the other. The tables are in `tables.py`.
"""

from dataclasses import dataclass
from enum import Enum

MINE = "mine(id)"
"""A condition that is evaluated here."""


class Session(Enum):
    """Where a statement is executed."""

    WARM = "one session"
    NEW = "a new session each time"


@dataclass(frozen=True)
class Statement:
    """What is sent, and how."""

    group: str
    name: str
    sql: tuple[str, ...]
    """`{n}` stands for a number that no other repetition has, `{wrapper}` for the extension."""
    before: str = ""
    """Sent once, before the first repetition."""
    session: Session = Session.WARM
    asks: bool = False
    """Whether each execution is the first of something that our wrapper has questions about."""

    @property
    def title(self) -> str:
        """What tells it from every other one."""
        return f"{self.group}: {self.name}"


def _group(
    group: str,
    *statements: tuple[str, str | tuple[str, ...]],
    before: str = "",
    session: Session = Session.WARM,
    asks: bool = False,
) -> list[Statement]:
    """Return statements, each given by its name and one or several commands."""
    return [
        Statement(group, name, (sql,) if isinstance(sql, str) else sql, before, session, asks)
        for name, sql in statements
    ]


def _block(body: str, declarations: str = "r record") -> str:
    """Return a block of PL/pgSQL."""
    return f"DO $$DECLARE {declarations}; BEGIN {body} END$$"


def _cursor(query: str, *fetches: int) -> tuple[str, ...]:
    """Return a transaction that reads some rows of a query by a cursor."""
    commands = (f"FETCH {rows} FROM c" for rows in fetches)
    return ("BEGIN", f"DECLARE c CURSOR FOR {query}", *commands, "CLOSE c", "COMMIT")


LOOKUPS = _group(
    "lookups",
    ("by key", "SELECT v FROM item WHERE id = 1{n}"),
    ("by key, all columns", "SELECT * FROM item WHERE id = 1{n}"),
    ("by key, no row", "SELECT v FROM item WHERE id = -1{n}"),
    ("by 10 keys", "SELECT v FROM item WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 1{n})"),
    ("by key, in a remote join", "SELECT s.v FROM item JOIN shelf s USING (id) WHERE id = 1{n}"),
    ("by key, with a local condition", f"SELECT v FROM item WHERE id = 1{{n}} AND {MINE}"),
    ("three in a transaction", ("BEGIN", *("SELECT v FROM item WHERE id = 1{n}",) * 3, "COMMIT")),
    ("in a PL/pgSQL block", _block("SELECT v INTO r FROM item WHERE id = 1{n};")),
    ("FOR UPDATE", "SELECT v FROM item WHERE id = 1{n} FOR UPDATE"),
    ("under a savepoint", ("BEGIN", "SAVEPOINT s", "SELECT v FROM item WHERE id = 7", "COMMIT")),
    (
        "in an exception block",
        _block(
            "BEGIN SELECT v INTO r FROM item WHERE id = 7;"
            " EXCEPTION WHEN division_by_zero THEN NULL; END;"
        ),
    ),
) + _group(
    "lookups",
    ("by key, prepared", "EXECUTE by_key (1{n})"),
    before="PREPARE by_key AS SELECT v FROM item WHERE id = $1",
)

SCANS = _group(
    "scans",
    ("10 rows", "SELECT * FROM item WHERE id <= 10"),
    ("100 rows", "SELECT * FROM item WHERE id <= 100"),
    ("1,000 rows", "SELECT * FROM item WHERE id <= 1000"),
    ("100,000 rows", "SELECT id, v FROM item WHERE id <= 100000"),
    ("60,000 rows, small numbers", "SELECT n, amount FROM shelf"),
    ("60,000 rows, dates and numbers", "SELECT id, ts, amount, f FROM shelf"),
    ("count(*)", "SELECT count(*) FROM item"),
    ("count(*) with a local condition", f"SELECT count(*) FROM shelf WHERE {MINE}"),
    ("GROUP BY", "SELECT kind, count(*), sum(n) FROM shelf GROUP BY kind"),
    ("ORDER BY ... LIMIT 10", "SELECT * FROM item ORDER BY id LIMIT 10"),
    ("ORDER BY without an index, LIMIT 10", "SELECT * FROM item ORDER BY n, id LIMIT 10"),
    ("LIMIT 10", "SELECT * FROM item LIMIT 10"),
    ("LIMIT 10 OFFSET 5000", "SELECT * FROM item ORDER BY id LIMIT 10 OFFSET 5000"),
    ("wide rows, 100 of 2,000", "SELECT * FROM wide WHERE id <= 100"),
    ("wide rows, all", "SELECT * FROM wide"),
    ("a bytea of 4 MB", "SELECT b FROM blob WHERE id = 1"),
    ("three of 4 MB", "SELECT b FROM blob"),
    ("fetch_size 1, 20 rows", "SELECT * FROM by_1 WHERE id <= 20"),
    ("fetch_size 1000, 5,000 rows", "SELECT * FROM by_1000 WHERE id <= 5000"),
    ("a remote join", "SELECT o.v, s.v FROM other o JOIN shelf s USING (id) WHERE s.n = 7"),
)

EARLY = _group(
    "early stops",
    ("LIMIT 1 behind a local condition", f"SELECT id, v FROM shelf WHERE {MINE} LIMIT 1"),
    ("LIMIT 10 behind a local condition", f"SELECT id, v FROM shelf WHERE {MINE} LIMIT 10"),
    ("LIMIT 200 behind a local condition", f"SELECT id, v FROM item WHERE {MINE} LIMIT 200"),
    ("LIMIT 10, all columns", f"SELECT * FROM item WHERE {MINE} LIMIT 10"),
    ("LIMIT 10 of few columns of 60,000", f"SELECT id FROM shelf WHERE {MINE} LIMIT 10"),
    ("ORDER BY, LIMIT 10", f"SELECT id, v FROM item WHERE {MINE} ORDER BY id LIMIT 10"),
    (
        "FETCH FIRST 3 ROWS WITH TIES",
        f"SELECT id FROM shelf WHERE {MINE} ORDER BY id FETCH FIRST 3 ROWS WITH TIES",
    ),
    ("EXISTS", "SELECT EXISTS (SELECT 1 FROM item WHERE kind = 'kind 1')"),
    ("EXISTS with a local condition", f"SELECT EXISTS (SELECT 1 FROM shelf WHERE {MINE})"),
    ("NOT EXISTS", "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM item WHERE n > 5)"),
    ("= ANY (SELECT)", "SELECT 7 = ANY (SELECT n FROM shelf)"),
    ("IN (SELECT)", "SELECT 7 IN (SELECT id FROM shelf WHERE n > 5)"),
    ("max() of an indexed column", "SELECT max(id) FROM shelf"),
    ("max() with a condition", "SELECT max(ts) FROM item WHERE kind = 'kind 1'"),
    ("min() with a local condition", f"SELECT min(id) FROM shelf WHERE {MINE}"),
    ("min() and max()", "SELECT min(id), max(id) FROM item WHERE kind = 'kind 1'"),
    (
        "rank() <= 3",
        "SELECT * FROM (SELECT id, rank() OVER (ORDER BY id) AS r FROM shelf) s WHERE r <= 3",
    ),
    (
        "row_number() <= 10",
        "SELECT * FROM (SELECT id, row_number() OVER (ORDER BY n, id) AS r FROM shelf) s"
        " WHERE r <= 10",
    ),
    ("WITH ... LIMIT", "WITH w AS MATERIALIZED (SELECT id, v FROM shelf) SELECT * FROM w LIMIT 10"),
    (
        "UNION ALL ... LIMIT",
        "SELECT id FROM shelf UNION ALL SELECT id FROM other LIMIT 10",
    ),
    (
        "UNION ALL behind local conditions",
        f"SELECT id FROM shelf WHERE {MINE} UNION ALL SELECT id FROM other WHERE {MINE} LIMIT 10",
    ),
    (
        "LATERAL ... LIMIT",
        "SELECT * FROM generate_series(1, 5) g, LATERAL"
        f" (SELECT id FROM shelf WHERE {MINE} AND id > g LIMIT 2) s",
    ),
    (
        "LATERAL ... ORDER BY ... LIMIT",
        "SELECT * FROM generate_series(1, 5) g, LATERAL"
        " (SELECT id FROM shelf WHERE n = g ORDER BY id LIMIT 2) s",
    ),
    ("DISTINCT ON ... LIMIT", "SELECT DISTINCT ON (id) id, v FROM shelf ORDER BY id LIMIT 10"),
    ("DISTINCT ... LIMIT", f"SELECT DISTINCT id FROM shelf WHERE {MINE} ORDER BY id LIMIT 10"),
    ("a subquery's LIMIT", f"SELECT (SELECT id FROM shelf WHERE {MINE} LIMIT 1)"),
    (
        "a merge join that ends early",
        "SELECT count(*) FROM (SELECT i AS id FROM generate_series(1, 10) i ORDER BY 1) g"
        " JOIN shelf USING (id)",
    ),
    ("GROUP BY ... LIMIT", f"SELECT id, count(*) FROM shelf WHERE {MINE} GROUP BY id LIMIT 5"),
    ("an ordered LIMIT in IN", "SELECT 1 WHERE 5 IN (SELECT id FROM shelf ORDER BY id LIMIT 5)"),
    ("a view that takes 1 ms a row, LIMIT 1", f"SELECT id, s FROM slow WHERE {MINE} LIMIT 1"),
    ("the same with fetch_size 1", f"SELECT id, s FROM slow_by_1 WHERE {MINE} LIMIT 1"),
    ("fetch_size 1, LIMIT 5", f"SELECT id FROM by_1 WHERE {MINE} LIMIT 5"),
    ("fetch_size 1000, LIMIT 5", f"SELECT id FROM by_1000 WHERE {MINE} LIMIT 5"),
    ("wide rows, LIMIT 5", f"SELECT * FROM wide WHERE {MINE} LIMIT 5"),
) + _group(
    "early stops",
    (
        "a merge join, LIMIT 10",
        "SELECT i.id, s.v FROM item i JOIN other s USING (id) LIMIT 10",
    ),
    (
        "a merge join with a short table",
        "SELECT i.id FROM shelf i JOIN pick p ON p.k = i.id WHERE p.k < 20",
    ),
    before="SET enable_hashjoin = off; SET enable_nestloop = off",
)

CURSORS = _group(
    "cursors",
    ("FETCH 1", _cursor("SELECT id, v FROM item", 1)),
    ("FETCH 5", _cursor("SELECT id FROM shelf", 5)),
    ("FETCH 5, all columns", _cursor("SELECT * FROM item", 5)),
    ("FETCH 100", _cursor("SELECT id, v FROM item", 100)),
    ("FETCH 200", _cursor("SELECT id, v FROM item", 200)),
    ("FETCH 50, 50, 50", _cursor("SELECT id, v FROM shelf", 50, 50, 50)),
    ("FETCH 1000 of 60,000", _cursor("SELECT id FROM shelf", 1000)),
    ("with ORDER BY, FETCH 5", _cursor("SELECT id, v FROM shelf ORDER BY id", 5)),
    ("SELECT INTO", _block("SELECT id, v INTO r FROM shelf;")),
    ("SELECT INTO with a condition", _block("SELECT id INTO r FROM item WHERE kind = 'kind 1';")),
    ("FOR ... EXIT", _block("FOR r IN SELECT id, v FROM shelf LOOP EXIT; END LOOP;")),
    (
        "FOR ... EXIT behind 150 rows",
        _block(
            "FOR r IN SELECT id, v FROM shelf LOOP n := n + 1; EXIT WHEN n = 150; END LOOP;",
            "r record; n int := 0",
        ),
    ),
    (
        "FOR over 1,000 rows",
        _block("FOR r IN SELECT id FROM shelf WHERE id <= 1000 LOOP END LOOP;"),
    ),
    ("IF EXISTS", _block("IF EXISTS (SELECT FROM shelf WHERE n = 7) THEN RETURN; END IF;")),
    ("FOUND", _block("PERFORM 1 FROM shelf WHERE n = 7 LIMIT 1;")),
    ("a function that returns the first row", "SELECT first_item()"),
)

GROUPS = _group(
    "groups",
    ("DISTINCT", "SELECT DISTINCT kind FROM shelf"),
    ("DISTINCT by a key, LIMIT 10", "SELECT DISTINCT id FROM item ORDER BY id LIMIT 10"),
    ("DISTINCT by a text, LIMIT 10", "SELECT DISTINCT v FROM shelf ORDER BY v LIMIT 10"),
    ("DISTINCT rows, LIMIT 10", "SELECT DISTINCT * FROM shelf LIMIT 10"),
    ("DISTINCT, all different", "SELECT DISTINCT id, v FROM shelf"),
    ("DISTINCT of a constant", "SELECT DISTINCT n FROM shelf WHERE n = 7"),
    ("DISTINCT in EXISTS", "SELECT EXISTS (SELECT DISTINCT n FROM shelf)"),
    ("DISTINCT, FETCH 5", _cursor("SELECT DISTINCT id FROM shelf", 5)),
    ("DISTINCT in order, FETCH 5", _cursor("SELECT DISTINCT n, id FROM shelf ORDER BY n, id", 5)),
    ("by COALESCE", "SELECT coalesce(n, 0), count(*) FROM shelf GROUP BY 1"),
    ("by COALESCE of a key, LIMIT 5", "SELECT coalesce(id, 0) FROM shelf GROUP BY 1 LIMIT 5"),
    ("DISTINCT ON", "SELECT DISTINCT ON (kind) kind, id, v FROM shelf ORDER BY kind, ts DESC"),
    (
        "DISTINCT ON a key, LIMIT 5",
        "SELECT DISTINCT ON (id) id, v FROM item ORDER BY id, ts DESC LIMIT 5",
    ),
    (
        "DISTINCT ON an indexed column, LIMIT 5",
        "SELECT DISTINCT ON (n) n, id FROM shelf ORDER BY n, id LIMIT 5",
    ),
    (
        "DISTINCT ON, FETCH 5",
        _cursor("SELECT DISTINCT ON (n) n, id FROM shelf ORDER BY n, id", 5),
    ),
    (
        "row_number() of groups",
        "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY n ORDER BY ts DESC) AS r"
        " FROM shelf) q WHERE r <= 2",
    ),
    (
        "row_number() of all rows",
        "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS r FROM item) q"
        " WHERE r <= 10",
    ),
    (
        "rank() of all rows",
        "SELECT id FROM (SELECT id, rank() OVER (ORDER BY n) AS r FROM shelf) q WHERE r <= 10",
    ),
    (
        "row_number() of a key, LIMIT 5",
        "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY id ORDER BY ts) AS r"
        " FROM shelf) q WHERE r = 1 LIMIT 5",
    ),
)

JOINS = _group(
    "joins",
    ("10 local rows by key", "SELECT i.v FROM pick p JOIN shelf i ON i.id = p.k WHERE p.k <= 70"),
    ("1,000 local rows by key", "SELECT count(i.v) FROM pick p JOIN shelf i ON i.id = p.k"),
    ("1,000 local rows, no index", "SELECT count(b.v) FROM pick p JOIN big b USING (k)"),
    ("by key, LIMIT 10", "SELECT p.k, i.v FROM pick p JOIN shelf i ON i.id = p.k LIMIT 10"),
    ("no index, LIMIT 10", "SELECT p.k, b.v FROM pick p JOIN big b USING (k) LIMIT 10"),
    ("no index, LIMIT 300", "SELECT p.k, b.v FROM pick p JOIN big b USING (k) LIMIT 300"),
    (
        "no index, EXISTS",
        "SELECT EXISTS (SELECT 1 FROM pick p JOIN big b USING (k) WHERE b.n = 7)",
    ),
    (
        "semi join",
        "SELECT count(*) FROM pick p WHERE EXISTS (SELECT FROM shelf i WHERE i.id = p.k)",
    ),
    (
        "semi join, LIMIT 5",
        "SELECT k FROM pick p WHERE EXISTS (SELECT FROM shelf i WHERE i.id = p.k) LIMIT 5",
    ),
    (
        "anti join",
        "SELECT count(*) FROM pick p WHERE NOT EXISTS (SELECT FROM shelf i WHERE i.id = p.k)",
    ),
    ("NOT IN", "SELECT count(*) FROM pick WHERE k NOT IN (SELECT id FROM shelf WHERE n = 7)"),
    ("left join", "SELECT count(i.v) FROM pick p LEFT JOIN shelf i ON i.id = p.k"),
    (
        "correlated subquery",
        "SELECT p.k, (SELECT v FROM shelf i WHERE i.id = p.k) FROM pick p WHERE p.k <= 700",
    ),
    (
        "correlated subquery, LIMIT 3",
        "SELECT p.k, (SELECT v FROM shelf i WHERE i.id = p.k) FROM pick p LIMIT 3",
    ),
    (
        "correlated count(*)",
        "SELECT p.k, (SELECT count(*) FROM shelf i WHERE i.n = p.k) FROM pick p WHERE p.k <= 35",
    ),
    (
        "semi join of foreign tables",
        "SELECT count(*) FROM shelf s WHERE EXISTS (SELECT FROM other o WHERE o.n = s.id)",
    ),
    (
        "anti join of foreign tables",
        "SELECT count(*) FROM shelf s"
        " WHERE NOT EXISTS (SELECT FROM other o WHERE o.id = s.id AND o.n < 900)",
    ),
    (
        "anti join of foreign tables, LIMIT 5",
        "SELECT s.id FROM shelf s"
        " WHERE NOT EXISTS (SELECT FROM other o WHERE o.id = s.id AND o.n < 900) LIMIT 5",
    ),
    ("IN of local keys", "SELECT count(i.v) FROM shelf i WHERE i.id IN (SELECT k FROM pick)"),
    (
        "IN of local keys, LIMIT 5",
        "SELECT v FROM shelf i WHERE i.id IN (SELECT k FROM pick) LIMIT 5",
    ),
    (
        "5,000 local rows by key",
        "SELECT count(i.v) FROM generate_series(1, 5000) g JOIN shelf i ON i.id = g * 11",
    ),
    (
        "subquery in an aggregate",
        "SELECT sum((SELECT n FROM shelf i WHERE i.id = p.k)) FROM pick p WHERE p.k <= 700",
    ),
    (
        "foreign tables joined here",
        "SELECT count(*) FROM shelf s JOIN other o USING (id) WHERE s.n < 5 AND mine(s.id)",
    ),
)

PARTITIONS = _group(
    "partitions",
    ("all rows", "SELECT count(*), sum(n) FROM part WHERE mine(id)"),
    ("by key", "SELECT v FROM part WHERE id = 7"),
    ("LIMIT 10", "SELECT id, v FROM part LIMIT 10"),
    ("LIMIT 10 behind a local condition", f"SELECT id, v FROM part WHERE {MINE} LIMIT 10"),
    ("ORDER BY ... LIMIT 10", "SELECT id, v FROM part ORDER BY id LIMIT 10"),
    ("max()", "SELECT max(id) FROM part"),
    ("cursor, FETCH 5", _cursor("SELECT id, v FROM part", 5)),
    ("asynchronous, all rows", "SELECT count(*), sum(n) FROM apart WHERE mine(id)"),
    ("asynchronous, LIMIT 10", "SELECT id, v FROM apart LIMIT 10"),
    ("asynchronous, local condition", f"SELECT id, v FROM apart WHERE {MINE} LIMIT 10"),
    ("asynchronous, cursor, FETCH 5", _cursor("SELECT id, v FROM apart", 5)),
)

WRITES = _group(
    "writes",
    ("INSERT of 1 row", "INSERT INTO log VALUES ({n}, 'x')"),
    ("INSERT of 10 rows", "INSERT INTO log SELECT i, 'x' FROM generate_series(1, 10) i"),
    ("INSERT of 1,000 rows", "INSERT INTO log SELECT i, 'x' FROM generate_series(1, 1000) i"),
    (
        "INSERT of 1,000 rows, batch_size 100",
        "INSERT INTO log_by_100 SELECT i, 'x' FROM generate_series(1, 1000) i",
    ),
    ("INSERT ... RETURNING", "INSERT INTO log VALUES ({n}, 'x') RETURNING n"),
    ("INSERT ... ON CONFLICT", "INSERT INTO tally VALUES (1, 1, 'x') ON CONFLICT DO NOTHING"),
    ("INSERT ... SELECT of remote rows", "INSERT INTO log SELECT id, v FROM shelf WHERE id <= 500"),
    ("remote rows into a local table", "INSERT INTO here SELECT id, v FROM shelf WHERE id <= 500"),
    ("COPY of 1,000 rows", "COPY log FROM PROGRAM 'seq -f \"%g\tx\" 1 1000'"),
    ("UPDATE by key", "UPDATE tally SET n = n + 1 WHERE id = 7"),
    ("UPDATE by key, RETURNING", "UPDATE tally SET n = n + 1 WHERE id = 7 RETURNING n"),
    ("UPDATE by key, row by row", "UPDATE tally SET v = 'item ' || random() WHERE id = 8"),
    ("UPDATE of 10 rows, row by row", f"UPDATE tally SET n = n + 1 WHERE id <= 10 AND {MINE}"),
    ("UPDATE of 500 rows, row by row", f"UPDATE tally SET n = n + 1 WHERE id <= 500 AND {MINE}"),
    ("DELETE by key", "DELETE FROM tally WHERE id = 20000{n}"),
    ("DELETE of 10 rows, row by row", f"DELETE FROM tally WHERE id < 0 AND {MINE}"),
    (
        "UPDATE joined with 200 local rows",
        "UPDATE tally t SET n = t.n FROM few f WHERE t.id = f.k",
    ),
    (
        "DELETE joined with 200 local rows",
        "DELETE FROM tally t USING few f WHERE t.id = -f.k",
    ),
    (
        "UPDATE of a table of 60,000 rows joined with 200 local ones",
        "UPDATE other o SET n = o.n FROM few f WHERE o.id = f.k",
    ),
    (
        "DELETE from it of rows that a subquery chooses",
        "DELETE FROM other WHERE id IN (SELECT -k FROM few)",
    ),
    ("a transaction of 5", ("BEGIN", *("UPDATE tally SET n = n + 1 WHERE id = 9",) * 4, "COMMIT")),
    (
        "INSERT, UPDATE, SELECT in a transaction",
        (
            "BEGIN",
            "INSERT INTO log VALUES ({n}, 'x')",
            "UPDATE tally SET n = n + 1 WHERE id = 9",
            "SELECT n FROM tally WHERE id = 9",
            "COMMIT",
        ),
    ),
    (
        "a transaction that is rolled back",
        ("BEGIN", "UPDATE tally SET n = 0 WHERE id > 3000", "ROLLBACK"),
    ),
    (
        "a savepoint that is rolled back to",
        (
            "BEGIN",
            "INSERT INTO log VALUES (1, 'x')",
            "SAVEPOINT s",
            "INSERT INTO log VALUES (2, 'x')",
            "ROLLBACK TO s",
            "COMMIT",
        ),
    ),
    ("TRUNCATE", "TRUNCATE log"),
)

OTHERS = (
    _group(
        "never analyzed",
        ("by key", "SELECT v FROM fresh WHERE id = 1{n}"),
        ("100 rows", "SELECT * FROM fresh WHERE id <= 100"),
        ("all rows", "SELECT count(*) FROM fresh WHERE mine(id)"),
        ("LIMIT 10 behind a local condition", f"SELECT id FROM fresh WHERE {MINE} LIMIT 10"),
        ("EXISTS", "SELECT EXISTS (SELECT 1 FROM fresh WHERE n = 7)"),
        ("FETCH 5", _cursor("SELECT id FROM fresh", 5)),
        ("joined with 1,000 local rows", "SELECT count(*) FROM pick p JOIN fresh f ON f.id = p.k"),
    )
    + _group(
        "use_remote_estimate",
        ("by key", "SELECT v FROM asked WHERE id = 1{n}"),
        ("ORDER BY ... LIMIT 3", "SELECT id, v FROM asked ORDER BY id LIMIT 3"),
        ("LIMIT 10 behind a local condition", f"SELECT id FROM asked WHERE {MINE} LIMIT 10"),
        ("a join with a local table", "SELECT count(a.v) FROM pick p JOIN asked a ON a.id = p.k"),
        ("a remote join", "SELECT count(*) FROM asked a JOIN asked_too b USING (id) WHERE a.n = 7"),
        ("UPDATE by key", "UPDATE asked SET n = n WHERE id = 7"),
        ("EXPLAIN of a lookup", "EXPLAIN SELECT v FROM asked WHERE id = 7"),
    )
    + _group(
        "planning",
        ("EXPLAIN of a lookup", "EXPLAIN SELECT v FROM item WHERE id = 7"),
        ("EXPLAIN of a join", "EXPLAIN SELECT i.v FROM pick p JOIN item i ON i.id = p.k"),
        ("EXPLAIN ANALYZE of a lookup", "EXPLAIN ANALYZE SELECT v FROM item WHERE id = 7"),
    )
    + _group(
        "planning",
        ("ANALYZE of 60,000 rows", "ANALYZE shelf"),
        ("ANALYZE of 2,000 wide rows", "ANALYZE wide"),
        ("ANALYZE of an empty table", "ANALYZE nothing"),
        asks=True,
    )
    + _group(
        "a row that fails remotely, later",
        ("LIMIT 1", f"SELECT id, q FROM failing WHERE {MINE} LIMIT 1"),
        ("LIMIT 1, fetch_size 1", f"SELECT id, q FROM failing_by_1 WHERE {MINE} LIMIT 1"),
        ("EXISTS", f"SELECT EXISTS (SELECT 1 FROM failing WHERE {MINE} AND q <> 0)"),
        ("FETCH 2", _cursor("SELECT id, q FROM failing", 2)),
        ("FETCH 200", _cursor("SELECT id, q FROM failing", 200)),
        ("FOR ... EXIT", _block("FOR r IN SELECT id, q FROM failing LOOP EXIT; END LOOP;")),
        ("SELECT INTO", _block("SELECT id, q INTO r FROM failing;")),
        ("all rows", "SELECT count(q) FROM failing WHERE mine(id)"),
    )
)

CONNECTING = _group(
    "connecting",
    ("and looking up", ("SELECT {wrapper}_disconnect_all()", "SELECT v FROM item WHERE id = 7")),
    ("and inserting", ("SELECT {wrapper}_disconnect_all()", "INSERT INTO log VALUES (1, 'x')")),
    asks=True,
) + _group(
    "connecting",
    ("a session for a lookup", "SELECT v FROM item WHERE id = 7"),
    ("a session for an INSERT", "INSERT INTO log VALUES (1, 'x')"),
    session=Session.NEW,
    asks=True,
)

STATEMENTS: tuple[Statement, ...] = (
    *LOOKUPS,
    *SCANS,
    *EARLY,
    *CURSORS,
    *GROUPS,
    *JOINS,
    *PARTITIONS,
    *WRITES,
    *OTHERS,
    *CONNECTING,
)
