"""Suite `shards` from end to end, from the command line to every kind of output."""

from pathlib import Path

import pytest
from command_line import latest_run, tollfree

from tollfree.lab import Lab
from tollfree.suites import findings_of
from tollfree.suites.shards.findings import ShardsFindings

pytestmark = pytest.mark.cluster


def fronts(lab: Lab) -> set[str]:
    """Return the databases of the instance that cases are executed on."""
    with lab.running(), lab.external().connect() as connection:
        made = connection.execute("SELECT datname FROM pg_database WHERE datname ~ '^shards_'")
        return {str(name) for (name,) in made}


def test_the_shards_suite_end_to_end(lab: Lab, tmp_path: Path) -> None:
    """Aggregates, first rows, joins and writes, over four servers."""
    operations = (
        *("AGGREGATE", "TOPN", "JOIN_LOCAL", "SUBQUERY", "JOIN_COLOCATED"),
        *("COPY", "UPDATE", "TPCB", "Q6"),
    )
    mixed = "AGGREGATE:foreign:tollfree_postgres_fdw:2 servers:rmt:tcp:200us and 2000us"
    aggregate = "AGGREGATE:foreign:tollfree_postgres_fdw:4 servers:rmt:tcp:1000us"
    chosen = f"local|4 servers:rmt:tcp:1000us|citus:2 servers:rmt:tcp:1000us|{mixed}$"
    pattern = f"^(?=({'|'.join(operations)}):).*({chosen})"
    out, _ = tollfree("run", "shards", "--rounds", "1", "--only", pattern)
    assert "Sharded tables over rmt:tcp:1000us" in out
    with lab.database() as store:
        run = latest_run(store, "shards")
        results = {r.testcase: r for r in store.results(run)}
        citus = {name: r for name, r in results.items() if ":citus:" in name}
        assert len(citus) == len(operations) - 1  # it refuses the subquery
        no_citus = "the extension citus is not installed in this PostgreSQL"
        assert {r.reason for r in citus.values()} <= {None, no_citus}
        assert all(r.state == "ok" for name, r in results.items() if name not in citus)
        assert mixed in results
        shards = ShardsFindings(findings_of(store, run))
        expected = {row["operation"]: row["answer"] for row in store.rows("shards_answers")}
    assert expected.keys() == set(operations) - {"TPCB"}
    for operation, answer in expected.items():
        assert {
            r.figures["answer"]
            for name, r in results.items()
            if name.startswith(f"{operation}:") and r.state == "ok"
        } == {answer}

    def counted(operation: str, wrapper: str, what: str, content: str = "") -> float:
        name = f"{operation}:foreign:{wrapper}:4 servers:rmt:tcp:1000us{content}"
        found = shards.counted(name, what)
        assert found is not None
        return found

    assert fronts(lab) == {
        "shards_local",
        "shards_4_rmt_tcp_1000us",
        "shards_tollfree_4_rmt_tcp_1000us",
        "shards_tollfree_2_rmt_tcp_200us_and_2000us",
    }, "Databases are made for the cases alone."
    # Groups and first rows travel, from each of four servers, not all rows, fetched 100 at a time.
    assert counted("AGGREGATE", "postgres_fdw", "rows") == 100_000
    assert (shards.counted(mixed, "rows") or 1e9) <= 2 * (41 + 1)
    # One row more tells whether the remote transaction has written.
    assert counted("AGGREGATE", "tollfree_postgres_fdw", "rows") <= 4 * (41 + 1)
    assert counted("TOPN", "tollfree_postgres_fdw", "rows") <= 4 * (10 + 1)
    assert counted("AGGREGATE", "postgres_fdw", "flights") > 1000
    assert counted("AGGREGATE", "tollfree_postgres_fdw", "flights") <= 8
    assert counted("AGGREGATE", "tollfree_postgres_fdw", "bytes") < 20_000
    assert counted("TOPN", "tollfree_postgres_fdw", "bytes") < 5_000
    assert counted("JOIN_LOCAL", "tollfree_postgres_fdw", "flights") <= 8
    assert counted("SUBQUERY", "postgres_fdw", "flights") > 1000
    assert counted("SUBQUERY", "tollfree_postgres_fdw", "flights") <= 8
    assert counted("JOIN_COLOCATED", "tollfree_postgres_fdw", "bytes") < 5_000
    # A sum of each server, whether of tables or of text files.
    for content in (":tables", ":text"):
        assert counted("Q6", "tollfree_postgres_fdw", "bytes", content) < 2_000
        assert counted("Q6", "postgres_fdw", "bytes", content) > 100_000
    assert counted("COPY", "postgres_fdw", "flights") > 5000
    # Before 16 PostgreSQL gives COPY's rows one by one.
    if lab.installation.major >= 16:
        assert counted("COPY", "tollfree_postgres_fdw", "flights") <= 30

    # What an execution that was ended has left is undone before the next run.
    with lab.running(), lab.source().connect("shards_4_0") as connection:
        connection.execute("UPDATE orders SET pieces = pieces + 1000 WHERE placed = '2020-01-17'")
    tollfree("run", "shards", "--rounds", "1", "--only", f"^{aggregate}$")
    page = tmp_path / "page.html"
    tollfree("report", "-o", str(page))
    assert "Sharded tables over rmt:tcp:1000us" in page.read_text("utf-8")
