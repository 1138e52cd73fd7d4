"""The probe: what it runs, checks, retries and reports, against a real server and link."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from links import link_to

import tollfree
from tollfree.cluster import Cluster
from tollfree.link import Link
from tollfree.ports import LOOPBACK
from tollfree.stage import Stage

pytestmark = pytest.mark.cluster

DATABASE = "txprobe"
LIMIT_S = 60.0

MEMBERS = [
    *("program", "version", "script", "clients", "protocol", "transactions"),
    *("committed", "retries"),
    *("seconds", "connect_us", "tps", "latency_mean_us", "latency_stddev_us", "latency_min_us"),
    *("latency_p50_us", "latency_p90_us", "latency_p95_us", "latency_p99_us"),
    *("latency_p999_us", "latency_max_us", "rows", "server_version", "libpq_version"),
]
LINK_MEMBERS = [
    *("flights_connect", "flights_first_tx", "flights_per_tx"),
    *("bytes_to_server_per_tx", "bytes_to_client_per_tx"),
]

Settings = dict[str, str]


@pytest.fixture(scope="module")
def probe(stage: Stage) -> Path:
    """The program under test."""
    return stage.programs / "txprobe"


@pytest.fixture(scope="module")
def conninfo(pg_instance: Cluster) -> Iterator[str]:
    """A database with pgbench's tables at scale 1, over the Unix socket."""
    with pg_instance.connect() as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    subprocess.run(
        [
            *(str(pg_instance.stage.installation.bindir / "pgbench"), "--initialize", "--quiet"),
            *("--scale=1", pg_instance.conninfo(DATABASE)),
        ],
        capture_output=True,
        check=True,
        timeout=LIMIT_S,
    )
    yield pg_instance.conninfo(DATABASE)
    with pg_instance.connect() as connection:
        connection.execute(f"DROP DATABASE {DATABASE} (FORCE)")


@pytest.fixture
def database(conninfo: str) -> Iterator[psycopg.Connection[Any]]:
    """A session in that database, with an empty history."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("TRUNCATE pgbench_history")
        connection.execute("UPDATE pgbench_accounts SET abalance = 0 WHERE abalance <> 0")
        connection.execute("UPDATE pgbench_tellers SET tbalance = 0")
        connection.execute("UPDATE pgbench_branches SET bbalance = 0")
        yield connection


@pytest.fixture
def link(pg_instance: Cluster, conninfo: str) -> Iterator[Link]:
    """A link to the server, 50 us each way, in nobody else's use."""
    with link_to(pg_instance, "test", 100) as link:
        yield link


def run(
    probe: Path, *arguments: str, settings: Settings | None = None
) -> subprocess.CompletedProcess[str]:
    options = " ".join(f"-c {name}={value}" for name, value in (settings or {}).items())
    return subprocess.run(
        [probe, *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=os.environ | {"PGOPTIONS": options},
        timeout=LIMIT_S,
    )


def measure(probe: Path, *arguments: str, settings: Settings | None = None) -> dict[str, Any]:
    """Run the probe, which must succeed; return its one line."""
    done = run(probe, *arguments, settings=settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def complaint(probe: Path, code: int, *arguments: str) -> str:
    """Run the probe, which must refuse or fail; return its one line."""
    done = run(probe, *arguments)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("txprobe: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def single(database: psycopg.Connection[Any], query: str) -> Any:
    row = database.execute(query).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row


BALANCES = """
SELECT coalesce(sum(delta), 0),
       (SELECT sum(abalance) FROM pgbench_accounts),
       (SELECT sum(tbalance) FROM pgbench_tellers),
       (SELECT sum(bbalance) FROM pgbench_branches)
FROM pgbench_history
"""


# What it runs and reports


@pytest.mark.parametrize("protocol", ["simple", "extended", "prepared"])
@pytest.mark.parametrize(("script", "reads"), [("ro", 1), ("rw", 1), ("ping", 0)])
def test_every_script_over_every_protocol(
    probe: Path, conninfo: str, script: str, reads: int, protocol: str
) -> None:
    result = measure(
        *(probe, "-c", conninfo, "--script", script, "--protocol", protocol),
        *("--clients", "2", "--warmup", "3", "--transactions", "20"),
    )
    assert list(result) == MEMBERS
    assert result["program"] == "txprobe"
    assert result["version"] == tollfree.__version__
    assert (result["script"], result["protocol"], result["clients"]) == (script, protocol, 2)
    assert (result["transactions"], result["rows"]) == (40, 40 * reads)
    assert result["committed"] == 2 * (3 + 20)
    with psycopg.connect(conninfo) as connection:
        assert result["server_version"] == connection.info.server_version


def test_the_latencies_agree_with_each_other(probe: Path, conninfo: str) -> None:
    result = measure(probe, "-c", conninfo, "--script", "ro", "--transactions", "200")
    names = ("min", "p50", "p90", "p95", "p99", "p999", "max")
    ordered = [result[f"latency_{name}_us"] for name in names]
    assert ordered == sorted(ordered)
    assert 0 < ordered[0] <= result["latency_mean_us"] <= ordered[-1]
    assert 0 < result["latency_stddev_us"] <= ordered[-1] - ordered[0]
    assert result["latency_mean_us"] * 200 <= result["seconds"] * 1e6
    assert result["tps"] == pytest.approx(200 / result["seconds"], rel=1e-3)
    assert result["connect_us"] > 0


def test_seconds_limit_the_run(probe: Path, conninfo: str) -> None:
    result = measure(probe, "-c", conninfo, "--script", "ping", "--clients", "2", "--seconds", "1")
    assert result["seconds"] >= 1
    assert result["transactions"] >= 2


@pytest.mark.parametrize("protocol", ["simple", "extended", "prepared"])
def test_history_holds_the_transactions(
    probe: Path, conninfo: str, database: psycopg.Connection[Any], protocol: str
) -> None:
    result = measure(
        *(probe, "-c", conninfo, "--script", "rw", "--protocol", protocol),
        *("--warmup", "0", "--transactions", "50"),
    )
    assert single(database, "SELECT count(*) FROM pgbench_history") == 50
    assert (result["transactions"], result["retries"]) == (50, 0)
    assert len(set(single(database, BALANCES))) == 1
    assert single(
        database,
        "SELECT bool_and(aid BETWEEN 1 AND 100000 AND tid BETWEEN 1 AND 10 AND bid = 1"
        " AND delta BETWEEN -5000 AND 5000) FROM pgbench_history",
    )


def test_a_seed_repeats_the_values(
    probe: Path, conninfo: str, database: psycopg.Connection[Any]
) -> None:
    drawn = []
    for seed in ("17", "17", "18"):
        database.execute("TRUNCATE pgbench_history")
        measure(
            *(probe, "-c", conninfo, "--script", "rw", "--warmup", "0"),
            *("--transactions", "10", "--seed", seed),
        )
        drawn.append(database.execute("SELECT aid, tid, delta FROM pgbench_history").fetchall())
    assert drawn[0] == drawn[1] != drawn[2]


def test_keys_spread_over_the_whole_table(
    probe: Path, conninfo: str, database: psycopg.Connection[Any]
) -> None:
    measure(
        *(probe, "-c", conninfo, "--script", "rw", "--warmup", "0"),
        *("--transactions", "400", "--seed", "3"),
    )
    tenths = "SELECT count(DISTINCT (aid - 1) / 10000) FROM pgbench_history"
    assert single(database, tenths) == 10
    assert single(database, "SELECT count(DISTINCT tid) FROM pgbench_history") == 10


def test_writers_under_repeatable_read_retry_and_stay_consistent(
    probe: Path, conninfo: str, database: psycopg.Connection[Any]
) -> None:
    result = measure(
        *(probe, "-c", conninfo, "--script", "rw", "--clients", "4"),
        *("--warmup", "0", "--transactions", "60"),
        settings={"default_transaction_isolation": r"repeatable\ read"},
    )
    assert result["transactions"] == 240
    assert result["retries"] > 0
    assert result["rows"] == 240
    assert single(database, "SELECT count(*) FROM pgbench_history") == 240
    assert len(set(single(database, BALANCES))) == 1


# Flights, which the link counts


def through(link: Link) -> str:
    """Return a connection string for the link; the password comes from PGPASSFILE."""
    return (
        f"host={LOOPBACK} port={link.port} user=postgres dbname={DATABASE}"
        " sslmode=disable gssencmode=disable"
    )


@pytest.mark.parametrize(
    ("script", "protocol", "first", "each"),
    [
        ("ro", "simple", 1, 1),
        ("ro", "extended", 1, 1),
        ("ro", "prepared", 2, 1),
        ("rw", "simple", 7, 7),
        ("rw", "prepared", 14, 7),
        ("ping", "simple", 1, 1),
    ],
)
def test_flights_of_a_plain_server_are_exact(
    probe: Path, link: Link, script: str, protocol: str, first: int, each: int
) -> None:
    result = measure(
        *(probe, "-c", through(link), "--script", script, "--protocol", protocol),
        *("--warmup", "5", "--transactions", "40", "--control", str(link.control)),
    )
    assert list(result) == MEMBERS + LINK_MEMBERS
    # The start-up packet and the two answers that SCRAM asks for.
    assert result["flights_connect"] == 3
    assert (result["flights_first_tx"], result["flights_per_tx"]) == (first, each)
    assert result["latency_min_us"] >= each * link.rtt_us


def test_bytes_of_an_empty_query_are_exact(probe: Path, link: Link) -> None:
    result = measure(
        *(probe, "-c", through(link), "--script", "ping", "--transactions", "10"),
        *("--control", str(link.control)),
    )
    # Query: type, length, ";" and its end. EmptyQueryResponse, then ReadyForQuery.
    assert result["bytes_to_server_per_tx"] == 1 + 4 + 2
    assert result["bytes_to_client_per_tx"] == 1 + 4 + 1 + 4 + 1


def test_a_link_elsewhere_counts_nothing(probe: Path, conninfo: str, link: Link) -> None:
    result = measure(
        *(probe, "-c", conninfo, "--script", "ro", "--transactions", "5"),
        *("--control", str(link.control)),
    )
    assert [result[name] for name in LINK_MEMBERS] == [0] * 5


# What must not become a figure


@pytest.mark.parametrize("protocol", ["simple", "prepared"])
def test_missing_rows_fail(
    probe: Path, conninfo: str, database: psycopg.Connection[Any], protocol: str
) -> None:
    arguments = ("-c", conninfo, "--protocol", protocol, "--transactions", "500")
    database.execute("UPDATE pgbench_accounts SET aid = -aid WHERE aid % 10 = 0")
    try:
        message = complaint(probe, 1, *arguments, "--script", "ro")
        assert '"SELECT 0" instead of "SELECT 1"' in message
        message = complaint(probe, 1, *arguments, "--script", "rw")
        assert '"UPDATE 0" instead of "UPDATE 1"' in message
    finally:
        database.execute("UPDATE pgbench_accounts SET aid = -aid WHERE aid < 0")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT aid, NULL::int AS abalance FROM public.pgbench_accounts", "one integer"),
        ("SELECT aid, 'zero' AS abalance FROM public.pgbench_accounts", "one integer"),
        ("SELECT aid, 2147483648 AS abalance FROM public.pgbench_accounts", "one integer"),
        (
            "SELECT aid, abalance FROM public.pgbench_accounts, generate_series(1, 2)",
            'gave "SELECT 2"',
        ),
    ],
)
def test_wrong_answers_fail(
    probe: Path, conninfo: str, database: psycopg.Connection[Any], query: str, expected: str
) -> None:
    database.execute("CREATE SCHEMA wrong")
    try:
        database.execute(f"CREATE VIEW wrong.pgbench_accounts AS {query}")
        done = run(
            *(probe, "-c", conninfo, "--script", "ro", "--transactions", "5"),
            settings={"search_path": "wrong"},
        )
    finally:
        database.execute("DROP SCHEMA wrong CASCADE")
    assert (done.returncode, done.stdout) == (1, "")
    assert expected in done.stderr


@pytest.mark.parametrize("deferred", ["", "DEFERRABLE INITIALLY DEFERRED"])
def test_endless_conflicts_fail(
    probe: Path, conninfo: str, database: psycopg.Connection[Any], deferred: str
) -> None:
    database.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN RAISE 'no' USING ERRCODE = 'serialization_failure'; END$$"
    )
    try:
        database.execute(
            f"CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON pgbench_history {deferred}"
            " FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
        message = complaint(probe, 1, "-c", conninfo, "--script", "rw", "--transactions", "1")
    finally:
        database.execute("DROP FUNCTION refuse CASCADE")
    assert "still failed after 1000 retries" in message
    assert single(database, "SELECT count(*) FROM pgbench_history") == 0


def test_a_missing_table_fails(probe: Path, pg_instance: Cluster) -> None:
    for protocol in ("simple", "prepared"):
        message = complaint(
            *(probe, 1, "-c", pg_instance.conninfo(), "--script", "ro"),
            *("--protocol", protocol, "--transactions", "1"),
        )
        assert 'relation "pgbench_accounts" does not exist (SQLSTATE 42P01)' in message


@pytest.mark.parametrize("clients", [1, 3])
def test_a_killed_backend_fails(
    probe: Path, conninfo: str, database: psycopg.Connection[Any], clients: int
) -> None:
    with subprocess.Popen(
        [
            *(probe, "-c", conninfo, "--script", "rw"),
            *("--clients", str(clients), "--seconds", "60"),
        ],
        encoding="utf-8",
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        deadline = time.monotonic() + LIMIT_S
        while single(database, "SELECT count(*) FROM pgbench_history") < 10 * clients:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'txprobe'"
        )
        output, message = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, output) == (1, "")
    assert message.startswith("txprobe: ")
    assert "terminating connection due to administrator command" in message
    assert message.count("\n") == 1


def test_an_unreachable_server_fails(probe: Path) -> None:
    message = complaint(
        *(probe, 1, "-c", "host=/nonexistent dbname=nobody"),
        *("--script", "ping", "--transactions", "1"),
    )
    assert 'could not connect to "host=/nonexistent dbname=nobody"' in message


def test_an_unreachable_link_fails(probe: Path, conninfo: str) -> None:
    message = complaint(
        *(probe, 1, "-c", conninfo, "--script", "ping", "--transactions", "1"),
        *("--control", "/nonexistent/link"),
    )
    assert '--control "/nonexistent/link"' in message


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--script", "tpcc"], '--script "tpcc" is not known: give ro, rw or ping'),
        (["--protocol", "fast"], '--protocol "fast" is not known'),
        (["--clients", "0"], '--clients "0" is not valid'),
        (["--clients", "1001"], '--clients "1001" is not valid'),
        (["--scale", "21475"], '--scale "21475" is not valid'),
        (["--warmup", "-1"], '--warmup "-1" is not valid'),
        (["--transactions", "1e3"], '--transactions "1e3" is not valid'),
        (["--transactions", ""], '--transactions "" is not valid'),
        (["--seed", "9223372036854775808"], '--seed "9223372036854775808" is not valid'),
        (["--seconds", "1"], "given twice"),
        (["--control", "x", "--clients", "2"], "give --clients 1"),
        (["--control", "x", "--warmup", "0"], "give --warmup 1 or more"),
        (["--control", "x" * 200], "longer than 107 bytes"),
        (["--nonsense"], 'unknown option "--nonsense"'),
        (["stray"], 'unexpected argument "stray"'),
        (["--seed"], "--seed has no value"),
    ],
)
def test_bad_options_are_named(probe: Path, arguments: list[str], expected: str) -> None:
    valid = ("-c", "", "--script", "ping", "--transactions", "1")
    assert expected in complaint(probe, 2, *valid, *arguments)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--script", "ro", "--transactions", "1"], "-c is missing"),
        (["-c", "", "--transactions", "1"], "--script is missing"),
        (["-c", "", "--script", "ro"], "give either --transactions or --seconds"),
    ],
)
def test_missing_options_are_named(probe: Path, given: list[str], expected: str) -> None:
    assert expected in complaint(probe, 2, *given)


def test_help_and_version_tell_what_there_is(probe: Path) -> None:
    assert run(probe, "--version").stdout == f"txprobe {tollfree.__version__}\n"
    told = run(probe, "--help").stdout
    for option in (
        *("-c", "--script", "--transactions", "--seconds", "--protocol", "--clients", "--scale"),
        *("--warmup", "--control", "--seed", "--version", "--help"),
    ):
        assert f"  {option}" in told
