"""What workers do. Each operation knows what it must read, and says what it has changed.

A transaction that changes rows of both remote servers does so on `one` first: two that went in
opposite orders would wait for each other for ever, which no server sees.
"""

import psycopg

from soak.expected import Change
from soak.worker import Operation, Worker, WrongError
from soak.world import (
    ACCOUNTS,
    ITEMS,
    REMOTES,
    ROLES,
    SERVER_OPTIONS,
    SERVERS,
    SHAPE_ROWS,
    STOCK,
    SUMS,
    WRAPPER,
    item_n,
    shape_server,
)

NO_COLUMN = ("42703",)
KEY_TAKEN = ("23505",)
DIVISION_BY_ZERO = ("22012",)
COLUMN_TYPES = ("integer", "bigint", "smallint", "text", "numeric")
LONGEST_BATCH = 400
LONGEST_FETCH = 400
LOCK_LIMIT_S = 30


def _transfer_rows(worker: Worker) -> dict[str, Change]:
    """Begin a transaction that moves an amount from an account of one server to one of the other;
    return its changes."""
    number, amount = next(worker.world.ids), worker.rng.randint(1, 100)
    worker.execute("BEGIN", prepare=False)
    changes = {}
    for server, delta in zip(REMOTES, (-amount, amount), strict=True):
        account = worker.rng.randint(1, ACCOUNTS)
        worker.execute(
            f"UPDATE account_{server} SET balance = balance + %s WHERE id = %s", (delta, account)
        )
        worker.execute(f"INSERT INTO ledger_{server} VALUES (%s, %s, %s)", (number, account, delta))
        changes[server] = Change(ledger={number: delta})
    return changes


def transfer(worker: Worker) -> None:
    """Move an amount between the servers in one transaction."""
    worker.commit(_transfer_rows(worker))


def rolled_back_transfer(worker: Worker) -> None:
    """The same, but roll it back."""
    _transfer_rows(worker)
    worker.execute("ROLLBACK", prepare=False)


def lookup(worker: Worker) -> None:
    """Read a row by its key."""
    _look_up(worker, worker.any_server())


def _look_up(worker: Worker, server: str) -> None:
    number = worker.rng.randint(1, ITEMS)
    query = f"SELECT n, v FROM item_{server} WHERE id = %s"
    worker.expect([(item_n(number), f"item {number}")], query, (number,))


def scan(worker: Worker) -> None:
    """Read many rows, and sum them here."""
    last = worker.rng.randint(1, ITEMS)
    query = (
        "SELECT count(*), sum(n) FROM"
        f" (SELECT n FROM item_{worker.any_server()} WHERE id <= %s OFFSET 0) s"
    )
    worker.expect([(last, SUMS[last])], query, (last,))


def aggregate(worker: Worker) -> None:
    """Have the servers of two partitions sum their rows."""
    first = worker.rng.randint(1, ITEMS)
    last = worker.rng.randint(first, ITEMS)
    query = "SELECT count(*), sum(n) FROM part WHERE id BETWEEN %s AND %s"
    worker.expect([(last - first + 1, SUMS[last] - SUMS[first - 1])], query, (first, last))


def join(worker: Worker) -> None:
    """Join local with foreign rows by key."""
    last = worker.rng.randint(5, ITEMS)
    keys = range(5, last + 1, 5)
    query = (
        f"SELECT count(*), sum(n) FROM pick p JOIN item_{worker.any_server()} i ON i.id = p.k"
        " WHERE p.k <= %s"
    )
    worker.expect([(len(keys), sum(map(item_n, keys)))], query, (last,))


def insert(worker: Worker) -> None:
    """Insert a batch of rows by one statement."""
    server, batch, rows = _batch(worker)
    statement = (
        f"INSERT INTO bulk_{server}"
        " SELECT %s, g, repeat('x', g %% 50) FROM generate_series(1, %s) g"
    )
    with worker.risking({SERVERS[server]: Change(batches={batch: rows})}):
        worker.execute(statement, (batch, rows))


def copy(worker: Worker) -> None:
    """Load a batch of rows by COPY."""
    server, batch, rows = _batch(worker)
    with (
        worker.risking({SERVERS[server]: Change(batches={batch: rows})}),
        worker.session.cursor() as cursor,
        cursor.copy(f"COPY bulk_{server} (batch, n, v) FROM STDIN") as load,
    ):
        for n in range(1, rows + 1):
            load.write_row((batch, n, "x" * (n % 50)))


def _batch(worker: Worker) -> tuple[str, int, int]:
    """Return the server of a batch, its number and how many rows it has."""
    return worker.any_server(), next(worker.world.ids), worker.rng.randint(1, LONGEST_BATCH)


def cursor(worker: Worker) -> None:
    """Fetch from a cursor in parts, look rows up in between, and perhaps stop early."""
    server = worker.any_server()
    worker.execute("BEGIN", prepare=False)
    worker.execute(f"DECLARE c CURSOR FOR SELECT id, n FROM item_{server} ORDER BY id")
    first = 1
    for _ in range(worker.rng.randint(1, 6)):
        count = worker.rng.randint(1, LONGEST_FETCH)
        behind = min(first + count, ITEMS + 1)
        wanted = [(number, item_n(number)) for number in range(first, behind)]
        worker.expect(wanted, f"FETCH {count} FROM c", prepare=False)
        first = behind
        if worker.rng.random() < 0.3:
            _look_up(worker, server)
    worker.execute("CLOSE c", prepare=False)
    worker.commit({})


def savepoint(worker: Worker) -> None:
    """Go on after a remote error under a savepoint, without what was done under it."""
    server = worker.any_server()
    before, lost, later = (next(worker.world.ids) for _ in range(3))
    insertion = f"INSERT INTO ledger_{server} VALUES (%s, 0, 0)"
    worker.execute("BEGIN", prepare=False)
    worker.execute(insertion, (before,))
    worker.execute("SAVEPOINT a", prepare=False)
    worker.execute(insertion, (lost,))
    if worker.rng.random() < 0.5:
        taken = f"INSERT INTO counter_{server} VALUES (%s, 0)"
        worker.expect_error(KEY_TAKEN, taken, (worker.number,))
    else:
        query = f"SELECT v FROM item_{server} WHERE 10 / (id - %s) > 20"
        worker.expect_error(DIVISION_BY_ZERO, query, (worker.rng.randint(1, ITEMS),))
    worker.execute("ROLLBACK TO SAVEPOINT a", prepare=False)
    _look_up(worker, server)
    worker.execute(insertion, (later,))
    worker.commit({SERVERS[server]: Change(ledger={before: 0, later: 0})})


def exception_block(worker: Worker) -> None:
    """The same in PL/pgSQL, as one statement."""
    server = worker.any_server()
    before, lost, later = (next(worker.world.ids) for _ in range(3))
    with worker.risking({SERVERS[server]: Change(ledger={before: 0, later: 0})}):
        worker.execute(
            f"SELECT guarded_{server}(%s, %s, %s, %s)", (before, lost, later, worker.number)
        )


def counter(worker: Worker) -> None:
    """Increment the worker's own counter by one command, and read it: neither lost nor doubled."""
    server = worker.any_server()
    expected = worker.expected[SERVERS[server]]
    with worker.risking({SERVERS[server]: Change(increments=1)}):
        statement = f"UPDATE counter_{server} SET n = n + 1 WHERE worker = %s"
        if (rows := worker.execute(statement, (worker.number,)).rowcount) != 1:
            raise WrongError(f"{statement} has changed {rows} rows")
    query = f"SELECT n BETWEEN %s AND %s, n FROM counter_{server} WHERE worker = %s"
    found = worker.execute(query, (expected.least, expected.most, worker.number)).fetchall()
    if len(found) != 1 or found[0][0] is not True:
        raise WrongError(
            f"the counter of server {SERVERS[server]} is {found}, not between {expected.least} and"
            f" {expected.most}"
        )


def analyze(worker: Worker) -> None:
    """Collect the statistics of a foreign table."""
    table = f"item_{worker.any_server()}"
    worker.execute(f"ANALYZE {table}", prepare=False)
    query = "SELECT reltuples BETWEEN %s AND %s FROM pg_class WHERE oid = %s::regclass"
    worker.expect([(True,)], query, (ITEMS * 0.9, ITEMS * 1.1, table))


def columns(worker: Worker) -> None:
    """Drop a remote column, and read what its successor of another type and value has."""
    table, value = f"shape_{worker.number}", worker.rng.randrange(1000)
    kind = worker.rng.choice(COLUMN_TYPES)
    number = worker.rng.randint(1, SHAPE_ROWS)
    query = f"SELECT a, b FROM {table} WHERE id = %s"
    with worker.world.remote(shape_server(worker.number)) as direct:
        direct.execute(f"SET lock_timeout = '{LOCK_LIMIT_S}s'")
        direct.execute(f"DELETE FROM {table} WHERE id > {SHAPE_ROWS}")
        direct.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS b")
        worker.expect_error(NO_COLUMN, query, (number,))
        direct.execute(f"ALTER TABLE {table} ADD COLUMN b {kind} DEFAULT '{value}'")
    worker.expect([(number * 3, value)], query, (number,))
    wanted = [(i, i * 3, value) for i in range(1, SHAPE_ROWS + 1)]
    worker.expect(wanted, f"SELECT id, a, b FROM {table} WHERE id <= {SHAPE_ROWS} ORDER BY id")
    added = next(worker.world.ids) + SHAPE_ROWS
    _insert_shape(worker, (added, value, value + 1))
    worker.expect([(value, value + 1)], query, (added,))


def _insert_shape(worker: Worker, row: tuple[int, int, int]) -> None:
    """Insert a row into the table whose column has been added. The statement may be prepared for a
    text, which no assignment casts to a number: one INSERT fails then, as is documented, and the
    next one may not."""
    statement = f"INSERT INTO shape_{worker.number} VALUES (%s, %s, %s)"
    try:
        worker.execute(statement, row)
    except psycopg.errors.DatatypeMismatch:
        worker.execute(statement, row)


def options(worker: Worker) -> None:
    """Give an option of a server another value, and the one that had one its first."""
    server = worker.rng.choice(REMOTES)
    option = worker.rng.choice(list(SERVER_OPTIONS))
    value = worker.rng.choice(SERVER_OPTIONS[option][1:])
    with worker.world.definitions:
        changes = [f"SET {option} '{value}'"]
        former = worker.world.changed.get(server, option)
        if former != option:
            changes.append(f"SET {former} '{SERVER_OPTIONS[former][0]}'")
        worker.execute(f"ALTER SERVER {server} OPTIONS ({', '.join(changes)})", prepare=False)
        worker.world.changed[server] = option


def mapping(worker: Worker) -> None:
    """Have a server's connections be those of another remote user."""
    server, role = worker.any_server(), worker.rng.choice(ROLES)
    with worker.world.definitions:
        worker.execute(
            f"ALTER USER MAPPING FOR postgres SERVER {server} OPTIONS (SET user '{role}')",
            prepare=False,
        )


def move(worker: Worker) -> None:
    """Move a server to the wrapper that it is not of."""
    query = (
        "SELECT fdwname FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw"
        " WHERE srvname = 'moved'"
    )
    with worker.world.definitions:
        is_stock = worker.execute(query).fetchall() == [(STOCK,)]
        function = f"{WRAPPER}_{'adopt' if is_stock else 'release'}"
        worker.execute(f"SELECT {function}('moved')", prepare=False)


def disconnect(worker: Worker) -> None:
    """Close the session's connections."""
    worker.execute(f"SELECT {WRAPPER}_disconnect_all()")


OPERATIONS = {
    "transfer": Operation(transfer, 20),
    "rolled back transfer": Operation(rolled_back_transfer, 4),
    "lookup": Operation(lookup, 20),
    "scan": Operation(scan, 6),
    "aggregate": Operation(aggregate, 4),
    "join": Operation(join, 6),
    "insert": Operation(insert, 6),
    "copy": Operation(copy, 6),
    "cursor": Operation(cursor, 6),
    "savepoint": Operation(savepoint, 6),
    "exception block": Operation(exception_block, 6),
    "counter": Operation(counter, 10),
    "analyze": Operation(analyze, 2),
    "columns": Operation(columns, 3),
    "options": Operation(options, 2),
    "mapping": Operation(mapping, 1),
    "move": Operation(move, 1),
    "disconnect": Operation(disconnect, 1),
}
