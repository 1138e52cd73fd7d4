"""What the client for libpq sends and receives is what psql does, to the byte and the flight.

So a query takes it no more of the network or of the server than the same query from psql; what it
adds inside its own process is counted by benchmarks/client_cost.py.
"""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from links import link_to

from tollfree.clients import COMMON, clients
from tollfree.cluster import SUPERUSER, Cluster
from tollfree.link import Link
from tollfree.ports import LOOPBACK
from tollfree.postgres import Installation

pytestmark = pytest.mark.cluster

RTT_US = 2000
"""Longer than either program thinks between two queries."""
LIMIT_S = 60
STATEMENT = "SELECT 42 AS id, repeat('x', 99) AS a, NULL AS b;"
COUNTED = (10, 110)


@dataclass(frozen=True)
class Traffic:
    """What went through the link."""

    flights: int
    bytes_to_server: int
    bytes_to_client: int

    @classmethod
    def until_now(cls, link: Link) -> "Traffic":
        """Return the link's totals."""
        counters = link.counters()
        return cls(*(counters[n] for n in ("flights", "bytes_to_server", "bytes_to_client")))

    def since(self, before: "Traffic") -> "Traffic":
        """Return what came after an earlier total."""
        return Traffic(
            self.flights - before.flights,
            self.bytes_to_server - before.bytes_to_server,
            self.bytes_to_client - before.bytes_to_client,
        )


@pytest.fixture(scope="module")
def link(pg_instance: Cluster) -> Iterator[Link]:
    """A link to the instance."""
    with link_to(pg_instance, "messages", RTT_US) as link:
        yield link


def traffic(link: Link, argv: list[str], typed: str | None = None) -> Traffic:
    """Return what a program sends and receives from its start to its end."""
    before = Traffic.until_now(link)
    done = subprocess.run(
        argv,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"], "PGPASSFILE": os.environ["PGPASSFILE"]},
        input=typed or "",
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    return Traffic.until_now(link).since(before)


def test_a_query_is_the_same_messages_as_from_psql(link: Link, installation: Installation) -> None:
    (client,) = (c for c in clients(installation, build=COMMON) if c.interface.name == "libpq")
    assert client.unready is None
    conninfo = f"host={LOOPBACK} port={link.port} user={SUPERUSER} dbname=postgres sslmode=disable"
    psql = [str(Path(installation.bindir) / "psql"), "--no-psqlrc", "--quiet", conninfo]
    ours, theirs = [], []
    for queries in COUNTED:
        ours.append(
            traffic(
                link,
                [*client.start, "-c", conninfo, "-s", STATEMENT, "-k", "1", "-n", str(queries)],
            )
        )
        theirs.append(traffic(link, psql, f"{STATEMENT}\n" * queries))
    added = [long.since(short) for short, long in (ours, theirs)]
    assert added[0] == added[1]
    assert added[0].flights == COUNTED[1] - COUNTED[0]
