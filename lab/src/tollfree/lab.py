"""The lab: private servers and the links between them, up or down.

"source" holds the data that the roads lead to, "external" is the other server of the wrappers'
experiment, and "lab" is the lab's own database, with every result. A suite may start further
servers, with links of their own. `Lab` knows which of their processes run, starts and stops them
together, and stops what a killed command left behind.

Only one command at a time may change a lab; it holds a lock for as long as it works. Commands that
only read need just the lab's own database (`Lab.database`), or, while it is down, the files that
were written when it was stopped (archive.py).
"""

import contextlib
import fcntl
import json
import logging
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

import psycopg

from tollfree.clients import clients
from tollfree.cluster import NO_PORT, Cluster
from tollfree.errors import FileError, LabError, LabStateError
from tollfree.link import Link
from tollfree.ports import LOOPBACK, reserved_ports
from tollfree.postgres import Installation
from tollfree.privileges import ServerUser
from tollfree.stage import Stage, finished_stage, make_home, make_stage
from tollfree.store import LinkPlace, Place, Store, written_builds
from tollfree.tls import certificate_of

LOG = logging.getLogger("tollfree")

DATABASE = "lab"
LAB_PORT = 5432
"""Of the lab's own database: it has no TCP listener, so this only names its socket."""

LAB_SETTINGS = {
    # A killed command line takes the command in flight with it.
    "client_connection_check_interval": "'500ms'",
    # Compiling the view of all cases takes seconds, evaluating it milliseconds.
    "jit": "off",
}


@dataclass(frozen=True)
class ProcessStatus:
    """One server or link as `tollfree status` shows it."""

    name: str
    kind: str
    address: str
    pid: int | None


@dataclass(frozen=True)
class OtherPorts:
    """The TCP ports of a further server."""

    server: int
    links: dict[int, int]
    """Requested round trip in microseconds -> port."""


@dataclass(frozen=True)
class Ports:
    """The TCP ports of a lab that is up, as kept in its state file."""

    source: int
    external: int
    links: dict[int, int]
    """Requested round trip in microseconds -> port."""
    owner: int | None
    """The process that will stop the lab when it ends; None after `tollfree up`."""
    others: dict[str, OtherPorts] = field(default_factory=dict)
    """Those of the further servers that were started, by name."""

    def all(self) -> list[int]:
        """Return every port."""
        ports = [self.source, self.external, *self.links.values()]
        for other in self.others.values():
            ports += [other.server, *other.links.values()]
        return ports


def _by_round_trip(ports: dict[str, int]) -> dict[int, int]:
    """Return ports as they were before JSON made the numbers that name them strings."""
    return {int(rtt_us): port for rtt_us, port in ports.items()}


Keep = Callable[["Lab", Store], bool]
"""Writes the runs of a lab to its `runs_folder`, and its cases to its `cases_file`; returns whether
all of them are there."""


class Lab:
    """The lab of one PostgreSQL installation in one home."""

    def __init__(
        self,
        installation: Installation,
        home: Path,
        user: ServerUser,
        *,
        builds: bool = True,
        keep: Keep | None = None,
    ) -> None:
        """`builds` False takes what was built before, where that will do to read results. `keep`
        writes runs and cases to files before the lab's own server is stopped."""
        self._builds = builds
        self._keep = keep
        self.installation = installation
        self.home = home
        self.user = user
        self.folder = home / installation.key
        self._locked = False
        self._owns = False

    @cached_property
    def stage(self) -> Stage:
        """The staged installation; made or brought up to date on first use."""
        found = None if self._builds else finished_stage(self.installation, self.home)
        return found or make_stage(self.installation, self.home, self.user)

    @property
    def passfile(self) -> Path:
        """What libpq reads the superuser's password for TCP from."""
        return self.folder / "passfile"

    @property
    def _state_file(self) -> Path:
        return self.folder / "lab.json"

    @property
    def runs_folder(self) -> Path:
        """The folder of a file for each run."""
        return self.folder / "runs"

    @property
    def cases_file(self) -> Path:
        """The file of the cases of all suites."""
        return self.folder / "cases.json"

    @property
    def _mark_of_files(self) -> Path:
        return self.runs_folder / "up-to-date"

    @property
    def has_files(self) -> bool:
        """Whether runs and cases are in files as the database has them. Then the lab is down."""
        try:
            return self._mark_of_files.exists()
        except PermissionError as error:
            raise FileError(
                f"cannot enter {self.folder}: it belongs to another user",
                "Run as that user, or name another folder with TOLLFREE_HOME.",
            ) from error

    @property
    def sockets(self) -> Path:
        """The folder of all servers' Unix sockets."""
        return self.folder / "run"

    def _cluster(
        self,
        name: str,
        port: int,
        *,
        listens: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> Cluster:
        return Cluster(
            name,
            self.folder / name,
            self.sockets,
            port,
            self.stage,
            self.user,
            listens,
            dict(settings or {}),
        )

    @cached_property
    def own(self) -> Cluster:
        """The cluster of the lab's own database."""
        return self._cluster("lab", LAB_PORT, settings=LAB_SETTINGS)

    def _ports(self) -> Ports | None:
        try:
            state = json.loads(self._state_file.read_text())
        except FileNotFoundError:
            return None
        others = {
            name: OtherPorts(other["server"], _by_round_trip(other["links"]))
            for name, other in state.get("others", {}).items()
        }
        links = _by_round_trip(state["links"])
        return Ports(state["source"], state["external"], links, state["owner"], others)

    def source(self) -> Cluster:
        """Return the cluster that holds the data; raises when the lab is down."""
        return self._source(self._up_ports().source)

    def _source(self, port: int = NO_PORT) -> Cluster:
        return self._cluster("source", port, listens=True)

    def external(self) -> Cluster:
        """Return the other cluster; raises when the lab is down."""
        return self._external(self._up_ports().external)

    def _external(self, port: int = NO_PORT) -> Cluster:
        return self._cluster("external", port)

    def other(self, name: str) -> Cluster:
        """Return a further cluster that was started; raises when the lab is down."""
        return self._cluster(name, self._up_ports().others[name].server, listens=True)

    def _others(self) -> list[Cluster]:
        return [self.other(name) for name in self._up_ports().others]

    def links(self) -> list[Link]:
        """Return the links to all servers; raises when the lab is down."""
        ports = self._up_ports()
        found = self._links_to("source", ports.source, ports.links)
        for name, other in ports.others.items():
            found += self._links_to(name, other.server, other.links)
        return found

    def _links_to(self, server: str, server_port: int, ports: dict[int, int]) -> list[Link]:
        prefix = "link" if server == "source" else f"link-{server}"
        return [
            Link(
                f"rmt:tcp:{rtt_us}us",
                rtt_us,
                port,
                server_port,
                self.sockets / f"{prefix}-{rtt_us}.control",
                self.stage,
                self.user,
                server,
            )
            for rtt_us, port in sorted(ports.items())
        ]

    def _up_ports(self) -> Ports:
        ports = self._ports()
        if ports is None:
            raise LabStateError("the lab is not running", "Start it with `tollfree up`.")
        return ports

    # Locking

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lab's lock; raises `LabStateError` at once when another command holds it."""
        if self._locked:
            yield
            return
        make_home(self.installation, self.home, self.user)
        descriptor = self.user.open_file(self.folder / "lock", os.O_RDWR)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 32, 0).decode().strip() or "unknown"
                raise LabStateError(
                    f"another tollfree command (process {holder}) is using the lab"
                    f" of PostgreSQL {self.installation.version}",
                    "Wait until it has ended, or stop it with Ctrl-C.",
                ) from None
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            self._locked = True
            yield
        finally:
            self._locked = False
            os.close(descriptor)

    # Up and down

    def is_up(self) -> bool:
        """Whether all of the lab's processes run."""
        return self._ports() is not None and all(s.pid is not None for s in self.status())

    def up(
        self,
        first_port: int | None = None,
        *,
        keep: bool = True,
        round_trips_us: Sequence[int] = (),
    ) -> None:
        """Start everything, with a link for each further round trip in microseconds.

        `keep` leaves it running when this process ends.

        Raises `LabStateError` when it is up already. When it fails, it stops what it started.
        """
        with self.lock():
            if self.is_up() and not self._is_orphaned():
                raise LabStateError(
                    f"the lab of PostgreSQL {self.installation.version} is already running",
                    "Use it as it is (`tollfree status`), or stop it with `tollfree down`.",
                )
            self.down()
            try:
                self._start_all(first_port, None if keep else os.getpid(), round_trips_us)
                self._owns = not keep
            except BaseException:
                self.down()
                raise

    def _is_orphaned(self) -> bool:
        """Whether its owner is gone. Ask under the lock, which an owner holds as long as it lives:
        its process id may be another's by now."""
        ports = self._ports()
        return ports is not None and ports.owner is not None and not self._owns

    def _start_all(
        self, first_port: int | None, owner: int | None, further_us: Sequence[int]
    ) -> None:
        self._start_own()
        with self.connected_store() as store:
            for rtt_us in further_us:
                store.add_link(rtt_us)
            round_trips = store.link_round_trips()
            for cluster in (self._source(), self._external()):
                self._make_cluster(cluster)
            with reserved_ports(2 + len(round_trips), first_port) as free:
                links = dict(zip(round_trips, free[2:], strict=True))
                self._write_state(Ports(free[0], free[1], links, owner))
                for cluster in (self.source(), self.external()):
                    cluster.start()
                for link in self.links():
                    link.start()
            self.register(store)

    def start_others(
        self, store: Store, names: Sequence[str], settings: Mapping[str, str] | None = None
    ) -> None:
        """Start further servers, with the links to them, unless they run; hold the lock.

        They stop with the lab. `settings` are written into those that are made now. When it fails,
        it stops what it started.
        """
        before = self._up_ports()
        round_trips = {
            name: store.link_round_trips(name) for name in names if name not in before.others
        }
        if not round_trips:
            return
        for name in round_trips:
            self._make_cluster(self._cluster(name, NO_PORT, settings=settings))
        count = sum(1 + len(found) for found in round_trips.values())
        with reserved_ports(count, taken=before.all()) as free:
            others = dict(before.others)
            for name, found in round_trips.items():
                port, *links = (free.pop(0) for _ in range(1 + len(found)))
                others[name] = OtherPorts(port, dict(zip(found, links, strict=True)))
            self._write_state(replace(before, others=others))
            try:
                for name in round_trips:
                    self._cluster(name, others[name].server, listens=True).start()
                for link in self.links():
                    if link.server in round_trips:
                        link.start()
            except BaseException:
                self._stop([x for x in self.links() if x.server in round_trips])
                self._stop([self.other(name) for name in round_trips])
                self._write_state(before)
                raise
        self.register(store)

    @staticmethod
    def _stop(processes: Sequence[Cluster | Link]) -> bool:
        """Stop processes; return whether any ran."""
        ran = False
        for process in processes:
            ran = process.pid() is not None or ran
            process.stop()
        return ran

    def _start_own(self) -> None:
        if not self.own.is_running():
            if self.has_files:
                self._mark_of_files.unlink()
            self._make_cluster(self.own)
            self.own.start()
        self.own.make_database(DATABASE)
        with self.connected_store() as store:
            store.install(self.stage.sharedir / "extension")
            store.register_clients(clients(self.installation))

    def _stop_own(self) -> bool:
        """Stop the lab's own server, and have runs and cases in files; return whether it
        ran.

        What cannot be written does not keep it from stopping: the next look starts it again.
        """
        are_kept = False
        ran = self.own.pid() is not None
        try:
            if self._keep and self.own.is_running():
                with self.connected_store() as store:
                    are_kept = self._keep(self, store)
        except (psycopg.Error, LabError) as error:
            LOG.warning("the runs could not be written to %s: %s", self.runs_folder, error)
        finally:
            self.own.stop()
        if are_kept:
            self.user.write_text(self._mark_of_files, "")
        return ran

    def _make_cluster(self, cluster: Cluster) -> None:
        """Make the data of a server that has none, without keeping others from choosing ports."""
        if not cluster.is_made:
            cluster.make(self.password())

    def password(self) -> str:
        """Return the superuser's password on all servers, made when there is none yet."""
        if self.passfile.exists():
            return self.passfile.read_text().strip().rsplit(":", 1)[1]
        password = secrets.token_urlsafe(24)
        self.user.write_text(self.passfile, f"*:*:*:*:{password}\n")
        return password

    def _write_state(self, ports: Ports) -> None:
        self.user.write_text(self._state_file, json.dumps(asdict(ports)))

    def register(self, store: Store) -> None:
        """Tell the lab's database where everything is and which clients are ready."""
        source, external = self.source(), self.external()
        certificate = certificate_of(source)
        places = [
            Place(
                *("source", str(source.socket_folder), LOOPBACK, source.port, str(self.passfile)),
                str(certificate) if certificate else None,
                source.pid(),
            ),
            Place("external", str(external.socket_folder), None, external.port, None),
            *(
                Place(x.name, str(x.socket_folder), LOOPBACK, x.port, str(self.passfile))
                for x in self._others()
            ),
        ]
        links = [LinkPlace(x.name, x.server, x.port, str(x.control)) for x in self.links()]
        store.register(places, links)
        store.register_clients(clients(self.installation))

    def down(self) -> bool:
        """Stop everything, also what a killed command left behind; return whether any ran."""
        with self.lock():
            self._owns = ran = False
            if self._ports() is not None:
                ran = self._stop([*self.links(), *self._others(), self.external(), self.source()])
            ran = self._stop_own() or ran
            self._state_file.unlink(missing_ok=True)
            return ran

    def status(self) -> list[ProcessStatus]:
        """Return every server and link of the lab with its process id, or None if it is down."""
        own = self.own
        rows = [ProcessStatus("lab", "server", str(own.socket_folder), own.pid())]
        if self._ports() is not None:
            source, external = self.source(), self.external()
            rows += [
                ProcessStatus("source", "server", f"{LOOPBACK}:{source.port}", source.pid()),
                ProcessStatus(
                    "external",
                    "server",
                    f"{external.socket_folder}:{external.port}",
                    external.pid(),
                ),
            ]
            rows += [
                ProcessStatus(x.name, "server", f"{LOOPBACK}:{x.port}", x.pid())
                for x in self._others()
            ]
            rows += [
                ProcessStatus(x.title, "link", f"{LOOPBACK}:{x.port}", x.pid())
                for x in self.links()
            ]
        return rows

    @contextmanager
    def running(self, first_port: int | None = None) -> Iterator[None]:
        """Have the lab up inside the context; stop it afterwards if it was not up before."""
        with self.lock():
            if self.is_up() and not self._is_orphaned():
                if first_port not in (None, self._up_ports().source):
                    raise LabStateError(
                        f"the lab is running already, with ports from {self._up_ports().source}",
                        "Leave out --port, or stop it first with `tollfree down`.",
                    )
                self._require_this_build()
                yield
                return
            kept = (ports := self._ports()) is not None and ports.owner is None
            self.up(first_port, keep=kept)
            try:
                yield
            finally:
                if not kept:
                    self.down()

    # The lab's own database

    def _require_this_build(self) -> None:
        """Raise `LabStateError` if the running lab has other cases and views than this checkout."""
        with self.connected_store() as store:
            if not written_builds().items() <= store.builds().items():
                raise LabStateError(
                    "the lab that is running lacks scripts of this checkout, or of TOLLFREE_SUITES",
                    "Stop it with `tollfree down`, then start again; results stay.",
                )

    @contextmanager
    def connected_store(self) -> Iterator[Store]:
        """Yield the store of the lab's own server, which must be running."""
        with self.own.connect(DATABASE) as connection:
            yield Store(connection)

    @contextmanager
    def database(self) -> Iterator[Store]:
        """Yield the store; start the lab's own server for it when it is not running."""
        if self.own.is_running():
            with self.connected_store() as store:
                yield store
            return
        with self.lock():
            try:
                self._start_own()
                with self.connected_store() as store:
                    yield store
            finally:
                with contextlib.suppress(LabStateError):
                    self._stop_own()
