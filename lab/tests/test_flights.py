"""How many round trips each kind of statement waits for, counted by a link that carries them.

The link's round trip is longer than any client thinks: the COMMIT that nobody waits for is still on
its way when the next statement is sent, and shares its flight. So each unit of statements is
repeated back to back, and what is left over by the division is the end of the last one.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg
import pytest
from links import link_to

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.link import Link
from tollfree.ports import LOOPBACK
from tollfree.suites.foreign import import_tables, make_server, recreate_database

pytestmark = pytest.mark.cluster

Connection = psycopg.Connection[tuple[object, ...]]

RTT_US = 20_000
QUIET_S = 5 * RTT_US / 1e6
WARM_UP = 6
REPEATS = 5
ATTEMPTS = 3
"""A client that is kept from the processor thinks longer, which can only add flights."""

SOURCE = """
    CREATE TABLE item (id integer PRIMARY KEY, v text);
    INSERT INTO item SELECT i, 'item ' || i FROM generate_series(1, 100000) i;
    CREATE TABLE fresh AS SELECT * FROM item;
    CREATE TABLE dated AS SELECT i AS id, now() AS t FROM generate_series(1, 1000) i;
    CREATE TABLE log (n integer, v text);
    CREATE TABLE log_in_batches (n integer, v text);
    CREATE TABLE bulk (n integer, v text);
    CREATE TABLE bulk_by_rows (n integer, v text);
    VACUUM ANALYZE item, log, log_in_batches, bulk, bulk_by_rows;
"""
LOCAL = """
    ALTER FOREIGN TABLE log_in_batches OPTIONS (ADD batch_size '100');
    ANALYZE item, log;
"""
BY_KEY = "SELECT v FROM item WHERE id = 7"
UPDATE = "UPDATE item SET v = 'changed' WHERE id = 7"
BULK_TABLES = ("bulk", "bulk_by_rows")
"""The owner of the second forbids arrays."""
BULK_ROWS, BULK_ROW_BYTES = 20_000, 1_000
BULK_INSERT = "INSERT INTO {table} SELECT i, repeat('x', {bytes}) FROM generate_series(1, {rows}) i"
FLIGHT_BYTES = 512 * 1024
COPY_OF_1000 = "COPY bulk FROM PROGRAM 'seq -f \"%g\tx\" 1 1000'"
NESTED_LOOP = "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off"
IN_A_BLOCK = f"DO $$ BEGIN PERFORM v FROM ({BY_KEY}) x; EXCEPTION WHEN division_by_zero THEN END $$"


@dataclass(frozen=True)
class Unit:
    """Statements that are sent one after the other, and what they need to wait for."""

    name: str
    statements: tuple[str, ...]
    """`{n}` stands for a number that no other repetition has."""
    flights: int
    before: str = ""
    """Sent once, before the first repetition."""
    stock: int | None = None
    """What they wait for through postgres_fdw, if that is counted, too."""


UNITS = (
    Unit("SELECT by key", (BY_KEY,), 1, stock=5),
    Unit("SELECT that comes twice", ("SELECT v FROM item WHERE id = 1{n}",) * 2, 2),
    Unit("SELECT that comes four times", ("SELECT v FROM item WHERE id = 2{n}",) * 4, 4),
    Unit("SELECT of 100 rows", ("SELECT v FROM item WHERE id <= 100",), 1, stock=6),
    Unit("SELECT of 1000 rows", ("SELECT v FROM item WHERE id <= 1000",), 1, stock=15),
    Unit("SELECT of 100 rows, never analyzed", ("SELECT v FROM fresh WHERE id <= 100",), 1),
    Unit("SELECT of 1000 rows, never analyzed", ("SELECT v FROM fresh WHERE id <= 1000",), 1),
    Unit("SELECT of 100,000 rows, never analyzed", ("SELECT v FROM fresh",), 1),
    Unit("SELECT of 100,000 rows", ("SELECT v FROM item",), 1),
    Unit("SELECT of 1000 dates, never analyzed", ("SELECT * FROM dated",), 1),
    Unit(
        "three SELECTs in a transaction", ("BEGIN", BY_KEY, BY_KEY, BY_KEY, "COMMIT"), 3, stock=11
    ),
    Unit("UPDATE, direct", (UPDATE,), 2, stock=3),
    Unit("DELETE, direct", ("DELETE FROM log WHERE n < 0",), 2, stock=3),
    Unit("two UPDATEs in a transaction", ("BEGIN", UPDATE, UPDATE, "COMMIT"), 3, stock=4),
    Unit("UPDATE and SELECT by its key", ("BEGIN", UPDATE, BY_KEY, "COMMIT"), 3),
    Unit(
        "UPDATE of 1 row, not direct",
        ("UPDATE item SET v = v || random() WHERE id = 8",),
        3,
        stock=8,
    ),
    Unit(
        "UPDATE of 10 rows, not direct",
        ("UPDATE item SET v = v || random() WHERE id <= 10",),
        3,
        stock=17,
    ),
    Unit("INSERT of 1 row", ("INSERT INTO log VALUES (1, 'x')",), 2, stock=5),
    Unit(
        "INSERT of 10 rows",
        ("INSERT INTO log SELECT i, 'x' FROM generate_series(1, 10) i",),
        2,
        stock=14,
    ),
    Unit(
        "INSERT of 10 rows, batch_size 100",
        ("INSERT INTO log_in_batches SELECT i, 'x' FROM generate_series(1, 10) i",),
        2,
        stock=5,
    ),
    Unit(
        "INSERT of 250 rows, batch_size 100",
        ("INSERT INTO log_in_batches SELECT i, 'x' FROM generate_series(1, 250) i",),
        2,
        stock=9,
    ),
    Unit(
        "parameterised rescan, 10 outer rows, no batches",
        (
            "SELECT o.id, x.v FROM item o CROSS JOIN LATERAL"
            " (SELECT v FROM item i WHERE i.id = o.id + 1 OFFSET 0) x WHERE o.id < 11",
        ),
        11,
        before=f"{NESTED_LOOP}; SET tollfree_postgres_fdw.batched_lookups = off",
    ),
    Unit(
        "parameterised rescan, 10 outer rows",
        (
            "SELECT o.id, x.v FROM item o CROSS JOIN LATERAL"
            " (SELECT v FROM item i WHERE i.id = o.id + 1 OFFSET 0) x WHERE o.id <= 10",
        ),
        2,
        stock=35,
        before=NESTED_LOOP,
    ),
    Unit(
        "join of 1,000 local rows by key",
        ("SELECT count(v) FROM generate_series(1, 1000) n JOIN item i ON i.id = n",),
        1,
        before=NESTED_LOOP,
    ),
    Unit("first SELECT under a savepoint", ("BEGIN", "SAVEPOINT s", BY_KEY, "COMMIT"), 1, stock=7),
    Unit("SELECT in a PL/pgSQL exception block", (IN_A_BLOCK,), 1, stock=7),
    Unit("ANALYZE of 100,000 rows", ("ANALYZE item",), 2),
)


ESTIMATED = (
    Unit("EXPLAIN of a lookup", (f"EXPLAIN {BY_KEY}",), 1, stock=3),
    Unit("SELECT by key", (BY_KEY,), 2, stock=6),
    Unit("first rows", ("SELECT v FROM item ORDER BY id LIMIT 3",), 3, stock=8),
    Unit(
        "join of two tables",
        ("SELECT i.v, f.v FROM item i JOIN fresh f USING (id) WHERE i.id < 10",),
        3,
        stock=12,
    ),
    Unit(
        "join of three tables",
        (
            "SELECT i.v, f.v, d.t FROM item i JOIN fresh f USING (id) JOIN dated d USING (id)"
            " WHERE i.id < 10",
        ),
        6,
        stock=24,
    ),
    Unit("UPDATE by key", (UPDATE,), 3, stock=4),
)
"""With `use_remote_estimate`."""


@pytest.fixture(scope="module")
def link(pg_instance: Cluster) -> Iterator[Link]:
    """A link to the instance."""
    with link_to(pg_instance, "flights", RTT_US) as link:
        yield link


@pytest.fixture(scope="module")
def make_local(pg_instance: Cluster, link: Link) -> Iterator[Callable[[str], Connection]]:
    """Makes a database of foreign tables behind the link; returns a connection to it."""
    opened: list[Connection] = []
    with pg_instance.connect() as connection:
        recreate_database(connection, "flights_source")
    with pg_instance.connect("flights_source") as source:
        for statement in filter(str.strip, SOURCE.split(";")):
            source.execute(statement)

    def make(wrapper: str) -> Connection:
        dbname = f"flights_{wrapper}"
        with pg_instance.connect() as connection:
            recreate_database(connection, dbname)
        local = pg_instance.connect(dbname)
        opened.append(local)
        row = {
            "wrapper": wrapper,
            "server_options": None,
            "server_host": LOOPBACK,
            "server_port": link.port,
        }
        make_server(local, row, "flights_source", pg_instance.password_file.read_text("utf-8"))
        import_tables(local, ["item", "fresh", "dated", "log", "log_in_batches", *BULK_TABLES])
        local.execute(LOCAL)
        return local

    yield make
    for local in opened:
        local.close()


@pytest.fixture(scope="module")
def local(make_local: Callable[[str], Connection], wrapper: str) -> Connection:
    """A connection to the local database of the wrapper under test."""
    connection = make_local(wrapper)
    connection.execute("ALTER FOREIGN TABLE bulk_by_rows OPTIONS (ADD insert_arrays 'false')")
    return connection


def settled(link: Link) -> int:
    """Wait until nothing is on its way; return how many flights the link has counted."""
    time.sleep(QUIET_S)
    return int(link.counters()["flights"])


def flights_of(
    unit: Unit, local: Connection, link: Link, warm_up: int = WARM_UP, repeats: int = REPEATS
) -> int:
    """Return how many flights one repetition of `unit` waits for."""
    if unit.before:
        local.execute(unit.before)
    for number in range(warm_up):
        run(unit, local, number)
    before = settled(link)
    for number in range(warm_up, warm_up + repeats):
        run(unit, local, number)
    return (settled(link) - before) // repeats


def fewest(count: Callable[[], int], expected: int = 0) -> int:
    """Return the least of some counts, the first that is as expected if there is one."""
    counted = count()
    for _ in range(1, ATTEMPTS):
        if counted <= expected:
            break
        counted = min(counted, count())
    return counted


def run(unit: Unit, local: Connection, number: int) -> None:
    for statement in unit.statements:
        local.execute(statement.replace("{n}", str(number)))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_statement_waits_for_no_more_than_it_must(
    unit: Unit, local: Connection, link: Link
) -> None:
    try:
        counted = fewest(lambda: flights_of(unit, local, link), unit.flights)
    finally:
        local.execute("RESET ALL")
    assert counted == unit.flights


def most_flights(rows: int) -> int:
    """Return how many flights that many rows fill; beyond their bytes some room is counted, and
    setting out, the columns' types and COMMIT are flights, too."""
    return rows * BULK_ROW_BYTES * 5 // (4 * FLIGHT_BYTES) + 6


@pytest.mark.parametrize("batch_size", [1, 10, 100, 1000])
@pytest.mark.parametrize("table", BULK_TABLES)
def test_a_batch_size_costs_no_more_than_none(
    local: Connection, link: Link, table: str, batch_size: int
) -> None:
    insert = BULK_INSERT.format(table=table, bytes=BULK_ROW_BYTES, rows=BULK_ROWS)
    local.execute(f"ALTER FOREIGN TABLE {table} OPTIONS (ADD batch_size '{batch_size}')")

    def inserting() -> int:
        before = settled(link)
        local.execute(insert)
        return settled(link) - before

    try:
        assert fewest(inserting, most_flights(BULK_ROWS)) <= most_flights(BULK_ROWS)
    finally:
        local.execute(f"ALTER FOREIGN TABLE {table} OPTIONS (DROP batch_size)")


def test_copy_does_not_wait_for_each_row(local: Connection, link: Link) -> None:
    if local.info.server_version < 160000:
        pytest.skip("before PostgreSQL 16 COPY gives rows one by one, and each is waited for")

    def copying() -> int:
        before = settled(link)
        local.execute(COPY_OF_1000)
        return settled(link) - before

    assert fewest(copying, 25) <= 25


@pytest.mark.parametrize(
    ("carrier", "setup", "select"),
    [
        ("postgres_fdw", 5, 5),
        # all that sets up a session travels with the SELECT; its first COMMIT is waited for
        ("tollfree_postgres_fdw", 0, 1 + 1),
    ],
)
def test_setting_up_a_session(
    pg_instance: Cluster,
    make_local: Callable[[str], Connection],
    link: Link,
    carrier: str,
    setup: int,
    select: int,
) -> None:
    local = make_local(carrier)
    conninfo = psycopg.conninfo.make_conninfo(
        host=LOOPBACK,
        port=link.port,
        dbname="flights_source",
        user=SUPERUSER,
        password=pg_instance.password_file.read_text("utf-8"),
        sslmode="disable",
    )

    def connecting() -> int:
        before = settled(link)
        with psycopg.connect(conninfo):
            return settled(link) - before

    def first_select() -> int:
        local.execute(BY_KEY)
        local.execute(f"SELECT {carrier}_disconnect_all()")
        before = settled(link)
        local.execute(BY_KEY)
        return settled(link) - before

    expected = fewest(connecting) + setup + select
    assert fewest(first_select, expected) == expected


@pytest.fixture(scope="module")
def stock(make_local: Callable[[str], Connection]) -> Connection:
    """A connection to the local database of postgres_fdw."""
    return make_local("postgres_fdw")


@pytest.mark.parametrize(
    "unit", [unit for unit in UNITS if unit.stock is not None], ids=lambda unit: unit.name
)
def test_stock_waits_for_each_command(unit: Unit, stock: Connection, link: Link) -> None:
    """Its second execution is as its first: START, DECLARE, each FETCH, CLOSE and COMMIT."""
    expected = unit.stock or 0
    try:
        counted = fewest(lambda: flights_of(unit, stock, link, warm_up=1, repeats=1), expected)
    finally:
        stock.execute("RESET ALL")
    assert counted == expected


@pytest.fixture(scope="module")
def estimated(
    make_local: Callable[[str], Connection], wrapper: str, stock: Connection
) -> Iterator[tuple[Connection, Connection]]:
    """Both connections, to tables whose server is asked for estimates, each time."""
    option = "ALTER SERVER source_server OPTIONS ({} use_remote_estimate{})"
    ours = make_local(wrapper)
    for connection in (ours, stock):
        connection.execute(option.format("ADD", " 'true'"))
        connection.prepare_threshold = None
    yield ours, stock
    for connection in (ours, stock):
        connection.execute(option.format("DROP", ""))
        connection.prepare_threshold = 5


@pytest.mark.parametrize("unit", ESTIMATED, ids=lambda unit: unit.name)
def test_remote_estimates_share_round_trips(
    unit: Unit, estimated: tuple[Connection, Connection], link: Link
) -> None:
    """Each batch of questions is awaited; through stock each path is."""
    ours, stock = estimated
    counted = fewest(lambda: flights_of(unit, ours, link, warm_up=1), unit.flights)
    assert counted == unit.flights
    expected = unit.stock or 0
    counted = fewest(lambda: flights_of(unit, stock, link, warm_up=1, repeats=1), expected)
    assert counted == expected
