"""Every client that is ready keeps the contract: same rows, same checksum, same figures.

The statement has what the contract allows in a row: both integers at their limits, texts that are
empty, null, not ASCII. What it must give is reckoned from the server's own COPY.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import until

import tollfree.clients
from tollfree.clients import COMMON, TIERS, Client, clients
from tollfree.cluster import SUPERUSER, Cluster
from tollfree.errors import EnvironmentLacksError, ExitCode, FileError
from tollfree.manifest import CLIENTS, Interface, read_manifest, read_manifests
from tollfree.paths import CHECKOUT
from tollfree.ports import LOOPBACK
from tollfree.postgres import buildable_installation
from tollfree.suites.interface.expected import Expected
from tollfree.suites.interface.load import expected
from tollfree.tls import offer_tls

LIMIT_S = 60
ROWS = 2500
STATEMENT = "SELECT * FROM contract_rows"
TABLE = f"""
CREATE TABLE contract_rows AS
SELECT n AS id, -n AS negative, n::int8 * 4000000000 AS large,
       CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE repeat('x', n % 700) END AS sometimes,
       'é€😀 ' || n AS accents
FROM generate_series(1, {ROWS}) AS n
UNION ALL SELECT 2147483647, -2147483648, 9223372036854775807, NULL, ''
"""
ENCRYPTED = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()"

INTERFACES = {i.name: i for m in read_manifests().values() for i in m.interfaces}
METHODS = [(name, method.name) for name, i in INTERFACES.items() for method in i.methods]

FIGURES = {
    *("driver", "driver_version", "method", "held", "executions", "connections", "rows", "bytes"),
    *("checksum", "connect_ns", "first_row_ns", "all_rows_ns", "materialise_ns", "total_ns"),
    *("cpu_ns", "wire_bytes", "execution_us"),
}
MAY_BE_NULL = {"materialise_ns", "cpu_ns", "wire_bytes"}


@cache
def _all_clients() -> dict[str, Client]:
    return {c.interface.name: c for c in clients(buildable_installation(), build=TIERS)}


def _ready(name: str) -> Client:
    """Return a client; skip where this machine lacks what it needs, but not where it is broken."""
    client = _all_clients()[name]
    if client.unready is not None:
        assert not client.broken, client.unready
        pytest.skip(f"{name} {client.unready}")
    return client


@dataclass(frozen=True)
class Server:
    """A server with the statement's table, and what it must give."""

    cluster: Cluster
    certificate: Path | None
    expected: Expected

    def conninfo(self, interface: Interface, transport: str, **changed: str) -> str:
        """Return where to connect to, as the interface writes it."""
        host = str(self.cluster.socket_folder) if transport == "ipc" else LOOPBACK
        places = {
            "host": host,
            "port": str(self.cluster.port),
            "dbname": "postgres",
            "user": SUPERUSER,
            "certificate": str(self.certificate),
        } | changed
        places["host_url"] = host.replace("/", "%2F")
        places["socket"] = f"{host}/.s.PGSQL.{places['port']}"
        text = interface.conninfo[transport]
        for place, value in places.items():
            text = text.replace("{" + place + "}", value)
        return text


def usual_transport(interface: Interface) -> str:
    """Return TCP, or what the interface has instead."""
    return "tcp" if "tcp" in interface.conninfo else next(iter(interface.conninfo))


@pytest.fixture(scope="module")
def server(pg_instance: Cluster) -> Server:
    """The server that all clients are tried on."""
    with pg_instance.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS contract_rows")
        connection.execute(TABLE.encode())
        wanted = expected(connection, STATEMENT)
    assert wanted.rows == ROWS + 1
    try:
        certificate = offer_tls(pg_instance)
    except EnvironmentLacksError:
        certificate = None
    return Server(pg_instance, certificate, wanted)


def run(client: Client, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a client to its end; skip the test where it says that it cannot do this here."""
    done = subprocess.run(
        [*client.start, *options],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"], "PGPASSFILE": os.environ["PGPASSFILE"]},
        stdin=subprocess.DEVNULL,
        timeout=LIMIT_S,
    )
    if done.returncode == 77:
        pytest.skip(f"{client.interface.name} {fails(done, 77).strip()}")
    return done


def figures(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the figures of a client that must have ended well."""
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    found: dict[str, Any] = json.loads(done.stdout)
    assert set(found) == FIGURES
    assert {key for key, value in found.items() if value is None} <= MAY_BE_NULL
    assert found["execution_us"] == pytest.approx(
        found["total_ns"] / 1000 / found["executions"], abs=0.001
    )
    parts = ("connect_ns", "all_rows_ns", "materialise_ns")
    assert sum(found[part] or 0 for part in parts) <= found["total_ns"]
    assert 0 < found["first_row_ns"] <= found["all_rows_ns"]
    assert found["driver_version"]
    return found


def switches(interface: Interface, method_name: str, folder: Path) -> list[str]:
    """Return the options that choose a method."""
    (method,) = (m for m in interface.methods if m.name == method_name)
    extra = ["-f", str(folder / "server-file")] if method_name == "server-file" else []
    return [*method.switch, *extra]


@pytest.mark.cluster
@pytest.mark.parametrize(("name", "method_name"), METHODS)
def test_every_method_gets_the_rows_and_reads_or_prints_them(
    name: str, method_name: str, server: Server, tmp_path: Path
) -> None:
    client = _ready(name)
    interface = client.interface
    tmp_path.chmod(0o777)
    printed = tmp_path / "printed"
    options = ["-c", server.conninfo(interface, usual_transport(interface)), "-s", STATEMENT]
    options += switches(interface, method_name, server.cluster.folder)
    (declared,) = (m for m in interface.methods if m.name == method_name)
    for executions, connections, more in (
        (3, 1, ["-k", "1", "-n", "3", "-w", "1"]),
        (2, 2, ["-n", "2", "-p", "1", "-o", str(printed)]),
    ):
        found = figures(run(client, *options, *more))
        assert (found["method"], found["held"]) == (method_name, declared.held)
        assert (found["executions"], found["connections"]) == (executions, connections)
        assert found["rows"] == executions * server.expected.rows
        assert found["bytes"] == server.expected.bytes
        assert found["checksum"] == server.expected.checksum
    lines = printed.read_bytes().splitlines(keepends=True)
    assert len(lines) == 2 * server.expected.rows
    checksum = sum(map(zlib.crc32, lines)) % 2**32
    assert f"{checksum:08x}" == f"{2 * int(server.expected.checksum, 16) % 2**32:08x}"


@pytest.mark.cluster
@pytest.mark.parametrize("name", INTERFACES)
def test_every_transport_is_what_it_says(name: str, server: Server, tmp_path: Path) -> None:
    client = _ready(name)
    interface = client.interface
    for transport in interface.conninfo:
        if transport == "tls" and server.certificate is None:
            continue
        options = ["-c", server.conninfo(interface, transport)]
        found = figures(run(client, *options, "-s", ENCRYPTED))
        truth = b"true\n" if transport == "tls" else b"false\n"
        assert found["checksum"] == f"{zlib.crc32(truth):08x}", transport
    if "tls" in interface.conninfo and server.certificate is not None:
        other = tmp_path / "other.crt"
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt"),
                *("ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost", "-days", "2"),
                *("-keyout", str(tmp_path / "other.key"), "-out", str(other)),
            ],
            capture_output=True,
            check=True,
        )
        wrong = server.conninfo(interface, "tls", certificate=str(other))
        fails(run(client, "-c", wrong, "-s", ENCRYPTED), 1)


def fails(done: subprocess.CompletedProcess[str], code: int) -> str:
    """Check that a client ended as it must when something is wrong; return what it said."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert ": " in done.stderr
    return done.stderr


@pytest.mark.cluster
@pytest.mark.parametrize("name", INTERFACES)
def test_what_fails_says_so_in_one_line(name: str, server: Server) -> None:
    client = _ready(name)
    transport = usual_transport(client.interface)
    where = ["-c", server.conninfo(client.interface, transport)]
    assert "nothing_there" in fails(run(client, *where, "-s", "SELECT * FROM nothing_there"), 1)
    # The rows that came before the error must not be taken for the result.
    late = "SELECT 1 / (1000 - n) FROM generate_series(1, 2000) AS n"
    assert "zero" in fails(run(client, *where, "-s", late), 1)
    nowhere = ["-c", server.conninfo(client.interface, transport, port="1")]
    fails(run(client, *nowhere, "-s", "SELECT 1"), 1)
    for wrong in (
        ["-s", "SELECT 1", "-m", "nothing_there"],
        ["-s", "SELECT 1", "-n", "0"],
        ["-s", "SELECT 1", "-p", "2"],
        ["-s", "SELECT 1", "-t", "0"],
        [],
    ):
        fails(run(client, *where, *wrong), 2)


@pytest.mark.cluster
@pytest.mark.parametrize("name", INTERFACES)
def test_a_limit_ends_the_executions_after_the_one_that_passes_it(
    name: str, server: Server, tmp_path: Path
) -> None:
    client = _ready(name)
    where = ["-c", server.conninfo(client.interface, usual_transport(client.interface))]
    sleeps = "SELECT 1 FROM pg_sleep(0.3)"
    tmp_path.chmod(0o777)
    printed = tmp_path / "printed"
    for once, more in (("1", []), ("0", ["-p", "1", "-o", str(printed)])):
        options = ["-s", sleeps, "-k", once, "-n", "100", "-w", "1", "-t", "1", *more]
        found = figures(run(client, *where, *options))
        executions = found["executions"]
        # Three take 0.9 s at least, and none begins after one second.
        assert 1 <= executions <= 4
        assert found["rows"] == executions
        assert found["connections"] == (1 if once == "1" else executions)
        assert found["total_ns"] >= 1e9
    assert printed.read_text() == executions * "1\n"


@pytest.mark.cluster
@pytest.mark.parametrize("name", INTERFACES)
def test_what_ends_before_its_limit_is_whole_and_what_never_does_is_done_once(
    name: str, server: Server
) -> None:
    client = _ready(name)
    where = ["-c", server.conninfo(client.interface, usual_transport(client.interface))]
    found = figures(run(client, *where, "-s", "SELECT 1", "-k", "1", "-n", "7", "-t", "1000"))
    assert (found["executions"], found["rows"]) == (7, 7)
    sleeps = "SELECT 1 FROM pg_sleep(1.1)"
    found = figures(run(client, *where, "-s", sleeps, "-n", "2", "-t", "1"))
    assert (found["executions"], found["rows"], found["connections"]) == (1, 1, 1)


@pytest.mark.cluster
@pytest.mark.parametrize("name", [n for n, m in METHODS if m == "pipeline"])
def test_a_limit_is_passed_by_whole_batches_of_a_pipeline(name: str, server: Server) -> None:
    client = _ready(name)
    where = ["-c", server.conninfo(client.interface, usual_transport(client.interface))]
    sleeps = ["-s", "SELECT 1 FROM pg_sleep(0.015)", "-m", "pipeline"]
    found = figures(run(client, *where, *sleeps, "-k", "1", "-n", "1000", "-t", "1"))
    assert found["executions"] == found["rows"] == 100


@pytest.mark.cluster
@pytest.mark.parametrize("name", INTERFACES)
def test_no_rows_are_rows_too(name: str, server: Server) -> None:
    client = _ready(name)
    transport = usual_transport(client.interface)
    where = ["-c", server.conninfo(client.interface, transport)]
    found = figures(run(client, *where, "-s", f"{STATEMENT} WHERE id < 0"))
    assert (found["rows"], found["bytes"], found["checksum"]) == (0, 0, "00000000")


TUTORIAL = CHECKOUT / "docs" / "tutorials" / "add-a-client.md"


@pytest.mark.cluster
def test_the_client_of_the_tutorial_keeps_the_contract(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are those of the page; what clients in Python share is the real one."""
    folder = tmp_path / "psycopg-dict"
    folder.mkdir()
    files = re.findall(
        r"^```(?:toml|python) (\S+)\n(.*?)^```$",
        TUTORIAL.read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    assert sorted(name for name, _ in files) == ["client.toml", "psycopgdicttest.py"]
    for name, text in files:
        (folder / name).write_text(text, encoding="utf-8")
    (tmp_path / "python").symlink_to(CLIENTS / "python")
    monkeypatch.setattr(tollfree.clients, "read_manifests", lambda: read_manifests(tmp_path))
    (client,) = clients(buildable_installation(), build=TIERS)
    assert client.unready is None or not client.broken, client.unready
    if client.unready is not None:
        pytest.skip(client.unready)
    for transport in client.interface.conninfo:
        where = server.conninfo(client.interface, transport)
        found = figures(run(client, "-c", where, "-s", STATEMENT, "-k", "1", "-n", "2"))
        assert set(found) == FIGURES
        wanted = server.expected
        assert (found["rows"], found["bytes"]) == (2 * wanted.rows, wanted.bytes)
        assert found["checksum"] == wanted.checksum


GOOD = """
[[interface]]
name = "x"
title = "x"
language = "C"
start = ["x"]
[interface.conninfo]
tcp = "{host}"
[[interface.method]]
case = "acc-n"
switch = []
name = "normal"
held = "rows"
"""


def _manifest(folder: Path, text: str) -> Path:
    path = folder / "client.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_manifest_is_read(tmp_path: Path) -> None:
    manifest = read_manifest(_manifest(tmp_path, GOOD))
    assert manifest.interfaces[0].methods[0].held == "rows"
    assert not manifest.build


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense = 1", "nonsense"),
        (GOOD.replace('held = "rows"', 'held = "gold"'), "interface.method.held"),
        (GOOD.replace('title = "x"', ""), "interface.title"),
        (GOOD.replace('start = ["x"]', "start = [1]"), "interface.start"),
        (GOOD.replace("tcp =", "carrier-pigeon ="), "carrier-pigeon"),
        (GOOD.replace('case = "acc-n"', 'case = "normal"'), "acc-"),
        (GOOD.replace('name = "x"', 'name = "x:y"'), "interface.name"),
        (GOOD + GOOD[GOOD.index("[[interface.method]]") :], "same case"),
        ("uses = 1", "uses"),
        ("= 1", "line 1"),
    ],
)
def test_a_bad_manifest_is_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(FileError) as caught:
        read_manifest(_manifest(tmp_path, text))
    assert words in caught.value.message
    assert "client.toml" in caught.value.message


def test_folders_that_do_not_fit_together_are_named(tmp_path: Path) -> None:
    _manifest(tmp_path / "one", GOOD)
    _manifest(tmp_path / "two", GOOD)
    with pytest.raises(FileError, match="also in one/"):
        read_manifests(tmp_path)
    _manifest(tmp_path / "two", 'uses = ["three"]')
    with pytest.raises(FileError, match="three"):
        read_manifests(tmp_path)


@pytest.fixture
def workshop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of clients and a cache, both empty, in the place of the real ones.

    The servers' user can read it, unlike pytest's own temporary folders.
    """
    with tempfile.TemporaryDirectory(prefix="tollfree-clients-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "clients").mkdir()
        monkeypatch.setattr(tollfree.clients, "cache_home", lambda: folder / "cache")
        monkeypatch.setattr(tollfree.clients, "BUILD", folder / "build")
        monkeypatch.setattr(
            tollfree.clients, "read_manifests", lambda: read_manifests(folder / "clients")
        )
        yield folder


def _one(**how: Any) -> Client:
    (client,) = clients(buildable_installation(), **how)
    return client


def _shell_client(workshop: Path, script: str, tier: str = "common") -> None:
    """Write a client whose build is a shell script that counts how often it ran."""
    text = GOOD.replace('start = ["x"]', 'start = ["{out}/x"]')
    build = json.dumps(["sh", "-c", f"echo >>{workshop}/builds; {script}"])
    _manifest(workshop / "clients" / "x", f'build = {build}\ntier = "{tier}"\n{text}')


def _builds(workshop: Path) -> int:
    return len((workshop / "builds").read_text().splitlines())


def _long_client(workshop: Path) -> None:
    """Write a client whose build takes long, and says in `child` which process it has started."""
    child = workshop / "child"
    _shell_client(
        workshop,
        f"sleep 60 >/dev/null 2>&1 & echo $! >{child}.new; mv {child}.new {child}; wait",
    )


def _child(workshop: Path) -> str | None:
    child = workshop / "child"
    return child.read_text().strip() if child.exists() else None


def _has_ended(pid: str | None) -> bool:
    """Return whether a process is gone, or nobody has waited for it yet."""
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


STARTS = r"printf '#!/bin/sh\n' >{out}/x; chmod +x {out}/x"


def test_a_client_is_built_once_and_anew_when_it_changes(workshop: Path) -> None:
    _shell_client(workshop, STARTS)
    assert "not built" in str(_one().unready)
    for again in (False, True):
        client = _one(build=TIERS)
        assert client.unready is None
        assert Path(client.start[0]).is_file()
        assert _builds(workshop) == 1
        assert (client.built_s is None) == again
    lock = Path(client.start[0]).parent.with_suffix(".lock")
    assert lock.stat().st_mode & 0o777 == 0o600
    assert _one().unready is None
    (workshop / "clients" / "x" / "source").write_text("changed")
    assert "not built" in str(_one().unready)
    assert _one(build=TIERS).start != client.start
    assert _builds(workshop) == 2


def test_a_client_of_the_second_tier_is_built_when_that_is_asked_for(workshop: Path) -> None:
    _shell_client(workshop, STARTS, "more")
    assert _one(build=COMMON).unready == "is not built yet: run `make build CLIENTS=--all`"
    assert _one(build=TIERS).unready is None
    assert _one(build=COMMON).unready is None


def test_a_build_that_exceeds_its_limit_leaves_no_process(
    workshop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _long_client(workshop)
    communicate = subprocess.Popen.communicate

    def once_it_has_begun(
        process: subprocess.Popen[str], *words: Any, **named: Any
    ) -> tuple[str, str]:
        if "child.new" in str(process.args):
            until(lambda: _child(workshop) is not None)
        return communicate(process, *words, **named)

    monkeypatch.setattr("tollfree.clients.BUILD_LIMIT_S", 1)
    monkeypatch.setattr(subprocess.Popen, "communicate", once_it_has_begun)
    assert "timed out" in str(_one(build=TIERS).unready)
    child = _child(workshop)
    until(lambda: _has_ended(child))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_build_of_all_clients_that_is_ended_leaves_no_process(
    workshop: Path, how: signal.Signals
) -> None:
    _long_client(workshop)
    script = (
        "import pathlib, sys, tollfree.clients as c; from tollfree.manifest import read_manifests;"
        "f = pathlib.Path(sys.argv[1]); c.cache_home = lambda: f / 'cache'; c.BUILD = f / 'build';"
        "c.read_manifests = lambda: read_manifests(f / 'clients'); sys.exit(c.main([]))"
    )
    process = subprocess.Popen(
        ["env", f"--default-signal={how.name[3:]}", sys.executable, "-c", script, str(workshop)]
    )
    until(lambda: _child(workshop) is not None)
    child = _child(workshop)
    process.send_signal(how)
    assert process.wait(LIMIT_S) == ExitCode.INTERRUPTED
    until(lambda: _has_ended(child))


@pytest.mark.parametrize(("status", "broken"), [(1, True), (77, False)])
def test_what_cannot_be_built_says_why_and_is_tried_again_only_when_asked(
    workshop: Path, status: int, broken: bool
) -> None:
    _shell_client(workshop, f"echo noise >&2; echo the reason >&2; exit {status}")
    for _ in range(2):
        client = _one(build=TIERS)
        assert (client.unready, client.broken) == ("could not be built: the reason", broken)
        assert _builds(workshop) == 1
    assert _one(build=TIERS, again=True).unready == "could not be built: the reason"
    assert _builds(workshop) == 2


def test_a_client_that_does_not_start_is_not_ready(workshop: Path) -> None:
    _shell_client(workshop, STARTS + "; echo 'echo no library >&2; exit 1' >>{out}/x")
    client = _one(build=TIERS)
    assert (client.unready, client.broken) == ("does not start: no library", True)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("cc: note; x.c:3:5: error: no such thing; make: *** [x] Error 1", "x.c:3:5: error:"),
        ("# module; ./main.go:10:2: undefined: nothing", "./main.go:10:2: undefined"),
        ("error[E0425]: cannot find value; error: aborting", "error[E0425]: cannot"),
        ("Main.java:7: cannot find symbol; 1 error", "Main.java:7: cannot find"),
    ],
)
def test_the_reason_is_the_compilers_first_error(workshop: Path, said: str, reason: str) -> None:
    lines = "; ".join(f"echo '{line.strip()}' >&2" for line in said.split(";"))
    _shell_client(workshop, f"{lines}; exit 2")
    assert str(_one(build=TIERS).unready).startswith(f"could not be built: {reason}")


def test_a_client_in_c_that_does_not_compile_is_broken(workshop: Path) -> None:
    shutil.copytree(CLIENTS / "c", workshop / "clients" / "c")
    shutil.copytree(CLIENTS / "floor", workshop / "clients" / "floor")
    source = workshop / "clients" / "floor" / "src" / "main.c"
    source.write_text(source.read_text().replace("main_close(", "main_shut(", 1))
    (client,) = (c for c in clients(buildable_installation(), build=TIERS))
    assert client.broken
    assert "main.c:" in str(client.unready)
    assert "error" in str(client.unready)


def test_a_client_whose_needed_folder_is_broken_is_broken_too(workshop: Path) -> None:
    _manifest(workshop / "clients" / "base", 'build = ["false"]')
    _manifest(workshop / "clients" / "x", f'uses = ["base"]\nbuild = ["true"]\n{GOOD}')
    assert _one(build=TIERS).broken


def test_a_missing_toolchain_costs_only_its_clients(workshop: Path) -> None:
    _shell_client(workshop, STARTS)
    needs = '[[needs]]\nprogram = "no-such-tool"\nremedy = "get it"\n'
    text = GOOD.replace('"x"', '"y"')
    _manifest(workshop / "clients" / "y", f'build = ["true"]\n{needs}{text}')
    found = {c.interface.name: c for c in clients(buildable_installation(), build=TIERS)}
    assert found["x"].unready is None
    assert found["y"].unready == "needs no-such-tool: get it"
    assert not found["y"].broken
