"""The command line: its help, its errors and exit codes, without any server."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tollfree import manual
from tollfree.cli import cli, main
from tollfree.console import OUT
from tollfree.errors import ExitCode
from tollfree.paths import CHECKOUT
from tollfree.postgres import Installation, chosen_installation
from tollfree.reference import page

REFERENCE = CHECKOUT / "docs" / "reference" / "command-line.md"


def tollfree(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tollfree.cli", *words],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=os.environ | env,
        timeout=120,
    )


def commands() -> dict[str, click.Command]:
    return dict(cli.commands)


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_says_what_it_does(name: str) -> None:
    command = commands()[name]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.name != "help":
            assert parameter.help, f"{name} {parameter.opts[0]}"


def test_the_reference_is_what_the_commands_say() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == page(), "python -m tollfree.reference"


def test_the_man_pages_are_what_the_commands_say() -> None:
    made = manual.pages()
    committed = {path.name: path.read_text("utf-8") for path in manual.MANUAL.iterdir()}
    assert committed == made, "python -m tollfree.manual"
    for name, command in cli.commands.items():
        page = made[f"tollfree-{name}.1"]
        for option in (x for x in command.params if isinstance(x, click.Option)):
            assert manual.escaped(option.opts[-1]) in page


def test_no_line_of_a_man_page_is_taken_for_a_request() -> None:
    assert manual.escaped(".x\\n'y -z") == "\\&.x\\en'y \\-z"
    assert manual.escaped("a\n.b") == "a\n\\&.b"


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_groff_has_nothing_to_say_of_the_man_pages() -> None:
    for path in manual.MANUAL.iterdir():
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-P-cbou", "-ww", path],
            capture_output=True,
            check=True,
            text=True,
        )
        assert done.stderr == ""
        assert "EXIT STATUS" in done.stdout


def test_every_exit_code_is_documented() -> None:
    for code in ExitCode:
        assert f"| {int(code)} |" in page()
        assert f" {int(code)}  " in tollfree("--help").stdout


def test_an_unknown_suite_is_named_with_those_there_are() -> None:
    done = tollfree("run", "nonsense")
    assert done.returncode == ExitCode.NOT_FOUND
    assert "'nonsense'" in done.stderr
    assert "fdw" in done.stderr


def test_a_seed_that_the_database_does_not_take_is_a_usage_error() -> None:
    done = tollfree("run", "fdw", "--seed", "3000000000")
    assert done.returncode == ExitCode.USAGE
    assert "--seed" in done.stderr
    assert "2147483647" in done.stderr


def test_a_defect_shows_where_it_is_and_has_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setitem(cli.commands, "broken", click.Command("broken", callback=broken))
    monkeypatch.setattr(sys, "argv", ["tollfree", "broken"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == ExitCode.DEFECT
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "ZeroDivisionError: of ours" in err


STORED = str(CHECKOUT / "docs" / "runs" / "fdw-headlines-postgresql-18.json")


def test_no_figure_is_cut_where_the_terminal_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OUT, "width", 60)
    shown = CliRunner().invoke(cli, ["show", STORED]).output
    assert "Throughput" in shown
    assert "…" not in shown


def test_an_encoding_without_a_dash_is_written_to() -> None:
    done = tollfree("show", STORED, PYTHONIOENCODING="ascii")
    assert done.returncode == ExitCode.OK, done.stderr


def test_too_few_rounds_for_a_precision_are_a_usage_error() -> None:
    done = tollfree("run", "fdw", "--precision", "3%", "--rounds", "3")
    assert done.returncode == ExitCode.USAGE
    assert "--rounds 3" in done.stderr


def test_an_unknown_option_is_a_usage_error() -> None:
    done = tollfree("run", "fdw", "--quik")
    assert done.returncode == ExitCode.USAGE
    assert "--quik" in done.stderr


def test_a_bad_pg_config_is_named_with_the_remedy(tmp_path: Path) -> None:
    done = tollfree("up", PG_CONFIG=str(tmp_path / "none"))
    assert done.returncode == ExitCode.ENVIRONMENT
    assert str(tmp_path / "none") in done.stderr
    assert "PG_CONFIG" in done.stderr


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("PostgreSQL 14.20", ("14.20", "too old", "15")),
        ("PostgreSQL 20beta1", ("20beta1", "too new", "19")),
        ("MariaDB 11", ("MariaDB 11", "PG_CONFIG")),
    ],
)
def test_a_postgresql_that_will_not_do_is_refused(
    tmp_path: Path, printed: str, words: tuple[str, ...]
) -> None:
    pg_config = tmp_path / "pg_config"
    pg_config.write_text(f"#!/bin/sh\necho '{printed}'\n")
    pg_config.chmod(0o755)
    done = tollfree("up", PG_CONFIG=str(pg_config), TOLLFREE_HOME=str(tmp_path / "home"))
    assert done.returncode == ExitCode.ENVIRONMENT
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "home").exists()


def test_a_server_without_headers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "postgres").touch()
    pg_config = tmp_path / "bin" / "pg_config"
    pg_config.write_text(
        "#!/bin/sh\n"
        'for option; do case "$option" in\n'
        "--version) echo 'PostgreSQL 16.1' ;;\n"
        f"--bindir) echo {tmp_path}/bin ;;\n"
        f"*) echo {tmp_path}/nothing ;;\n"
        "esac; done\n"
    )
    pg_config.chmod(0o755)
    done = tollfree("up", PG_CONFIG=str(pg_config), TOLLFREE_HOME=str(tmp_path / "home"))
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "server headers" in done.stderr
    assert "postgresql-server-dev-16" in done.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.cluster
def test_a_relative_pg_config_is_the_same_in_any_folder(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").symlink_to(installation.pg_config.parent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PG_CONFIG", "./bin/pg_config")
    assert chosen_installation().pg_config == tmp_path / "bin" / "pg_config"
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PG_CONFIG", "pg_config")
    assert chosen_installation().pg_config == tmp_path / "bin" / "pg_config"


def test_compare_names_the_file_it_cannot_read(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"format": "something"}')
    missing = tollfree("compare", str(tmp_path / "none.json"), str(other))
    assert missing.returncode == ExitCode.FILES
    assert "none.json" in missing.stderr
    foreign = tollfree("compare", str(other), str(other))
    assert foreign.returncode == ExitCode.FILES
    assert "other.json" in foreign.stderr
    assert "tollfree export" in foreign.stderr
