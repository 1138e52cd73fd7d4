"""Links to a test's server."""

from collections.abc import Iterator
from contextlib import contextmanager

from tollfree.cluster import Cluster
from tollfree.link import Link
from tollfree.ports import reserved_ports


@contextmanager
def link_to(server: Cluster, name: str, rtt_us: int) -> Iterator[Link]:
    """Yield a link of that name and round trip to a server; it is stopped afterwards."""
    with reserved_ports(1) as (port,):
        control = server.socket_folder / name
        link = Link(name, rtt_us, port, server.port, control, server.stage, server.user)
        link.start()
    try:
        yield link
    finally:
        link.stop()
