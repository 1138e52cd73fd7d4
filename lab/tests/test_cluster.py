"""Private servers: settings, access, start and stop, and what goes wrong."""

import stat
import subprocess
from dataclasses import replace
from importlib import resources
from pathlib import Path

import psycopg
import pytest

from tollfree.cluster import Cluster
from tollfree.errors import FileError, LabStateError
from tollfree.host import server_settings
from tollfree.ports import LOOPBACK, is_free, reserved_ports

pytestmark = pytest.mark.cluster


def test_it_answers_and_is_durable(pg_instance: Cluster) -> None:
    found = server_settings(pg_instance)
    assert found["version"].startswith(str(pg_instance.stage.installation.major))
    assert found["durable"] is True
    assert not {"fsync", "full_page_writes", "synchronous_commit"} & found["settings"].keys()


def test_it_runs_from_the_stage_as_the_servers_user(pg_instance: Cluster) -> None:
    pid = pg_instance.pid()
    assert pid is not None
    assert Path(f"/proc/{pid}").stat().st_uid == pg_instance.user.uid
    assert Path(f"/proc/{pid}/exe").readlink() == pg_instance.stage.bindir / "postgres"


def test_nobody_else_can_reach_its_files(pg_instance: Cluster) -> None:
    for path in (pg_instance.folder, pg_instance.data, pg_instance.socket_folder):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in (pg_instance.password_file, pg_instance.log):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_bytes_from_the_disk_are_unknown_where_the_kernel_lists_no_children(
    pg_instance: Cluster,
) -> None:
    """Then the postmaster is the only process of the server that could be asked."""
    script = resources.files("tollfree.suites").joinpath("page_cache.sql").read_text()
    unlisted = script.replace("/children", "/not_there")
    assert unlisted != script
    with pg_instance.connect() as connection:
        for functions, known in ((script, True), (unlisted, False)):
            connection.execute(functions.encode())
            row = connection.execute("SELECT public.bytes_from_disk() IS NOT NULL").fetchone()
            assert row == (known,)


def test_tcp_needs_the_password(pg_instance: Cluster) -> None:
    address = f"host={LOOPBACK} port={pg_instance.port} user=postgres dbname=postgres"
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(address, password="wrong", passfile="/dev/null")
    password = pg_instance.password_file.read_text()
    with psycopg.connect(address, password=password) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_system_installation_is_left_alone(pg_instance: Cluster) -> None:
    installation = pg_instance.stage.installation
    assert not list(installation.pkglibdir.glob("tollfree_lab*"))
    assert not list((installation.sharedir / "extension").glob("tollfree_lab*"))


def test_stop_and_start_again(pg_instance: Cluster, home: Path) -> None:
    with reserved_ports(1) as (port,):
        other = replace(pg_instance, name="other", folder=home / "other", port=port)
        other.make("secret")
        try:
            other.start()
            first = other.pid()
            other.stop()
            assert other.pid() is None
            assert is_free(port)
            other.start()
            assert other.pid() not in (None, first)
        finally:
            other.stop()


def test_an_interruption_while_it_starts_leaves_no_server(
    pg_instance: Cluster, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that comes before the server has written its postmaster.pid."""

    def interrupted(_: Cluster) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Cluster, "_answers", interrupted)
    with reserved_ports(1) as (port,):
        early = replace(pg_instance, name="early", folder=home / "early", port=port)
        early.make("secret")
        with pytest.raises(KeyboardInterrupt):
            early.start()
    left = subprocess.run(["pgrep", "-f", str(early.data)], capture_output=True, check=False)
    assert left.stdout == b""


def test_a_taken_port_gives_one_clear_error(pg_instance: Cluster, home: Path) -> None:
    folder = home / "taken"
    clash = replace(
        pg_instance, name="clash", folder=folder, socket_folder=folder / "run", listens=True
    )
    clash.make("secret")
    with pytest.raises(LabStateError) as failure:
        clash.start()
    assert str(pg_instance.port) in failure.value.message
    assert "in use" in failure.value.detail
    assert clash.pid() is None


def test_a_log_that_is_a_symbolic_link_is_not_followed(
    pg_instance: Cluster, home: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    with reserved_ports(1) as (port,):
        linked = replace(pg_instance, name="linked", folder=home / "linked", port=port)
        linked.make("secret")
        linked.log.symlink_to(precious)
        try:
            with pytest.raises(FileError, match="symbolic link") as failure:
                linked.start()
            assert str(linked.log) in failure.value.message
            assert linked.pid() is None
            assert precious.read_text() == "precious"
        finally:
            linked.stop()


def test_a_stale_pid_file_of_another_process_is_not_believed(
    pg_instance: Cluster, home: Path
) -> None:
    stale = replace(pg_instance, folder=home / "stale")
    stale.data.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"]) as stranger:
        (stale.data / "postmaster.pid").write_text(f"{stranger.pid}\n")
        assert stale.pid() is None
        stale.stop()
        assert stranger.poll() is None
        stranger.kill()


def test_a_folder_whose_name_needs_quotes_will_do(pg_instance: Cluster, home: Path) -> None:
    folder = home / "it's a\\b"
    with reserved_ports(1) as (port,):
        odd = replace(pg_instance, folder=folder, socket_folder=folder / "run", port=port)
        odd.make("secret")
        try:
            odd.start()
            with odd.connect("template1") as connection:
                assert connection.execute("SHOW data_directory").fetchone() == (str(odd.data),)
        finally:
            odd.stop()


def test_a_socket_path_that_is_too_long_is_named(pg_instance: Cluster) -> None:
    for letter in ("x" * 100, "ü" * 50):
        long = replace(pg_instance, socket_folder=Path("/tmp") / letter)
        with pytest.raises(LabStateError, match="107"):
            long.start()


def test_a_socket_path_with_a_comma_is_named(pg_instance: Cluster) -> None:
    parted = replace(pg_instance, socket_folder=Path("/tmp/a,b"))
    with pytest.raises(LabStateError, match="comma"):
        parted.start()


def test_a_wanted_port_that_is_taken_is_named(pg_instance: Cluster) -> None:
    with (
        pytest.raises(LabStateError, match=str(pg_instance.port)),
        reserved_ports(1, pg_instance.port),
    ):
        pytest.fail("a taken port was given out")
