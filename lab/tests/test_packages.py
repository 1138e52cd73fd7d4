"""Debian packages of the extensions, as tools/make-package makes them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tollfree.paths import CHECKOUT
from tollfree.postgres import Installation

TOOL = CHECKOUT / "tools" / "make-package"
EXTENSIONS = ("tollfree_postgres_fdw", "tollfree_file_fdw")
pytestmark = pytest.mark.skipif(
    not shutil.which("dpkg-shlibdeps"), reason="dpkg-dev is not installed"
)
PACKAGED = Path("/usr/lib/postgresql")


def make_package(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOOL, *words],
        capture_output=True,
        check=False,
        cwd=CHECKOUT,
        encoding="utf-8",
        env=os.environ | {"COPT": "-O0"},  # The code is not what is looked at.
    )


def said_of(package: str, *words: str) -> str:
    return subprocess.run(
        ["dpkg-deb", *words, package], capture_output=True, check=True, encoding="utf-8"
    ).stdout


@pytest.mark.cluster
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_package_has_what_make_install_installs(
    extension: str, installation: Installation
) -> None:
    pg_config = installation.pg_config
    if not pg_config.is_relative_to(PACKAGED):
        pytest.skip(f"the PostgreSQL of {pg_config} is from no package")
    done = make_package(f"extensions/{extension}", str(pg_config))
    assert done.returncode == 0, done.stderr
    package = done.stdout.splitlines()[-1]
    major = pg_config.parts[-3]
    files = said_of(package, "--contents")
    assert f"./usr/lib/postgresql/{major}/lib/{extension}.so\n" in files
    for name in (f"{extension}.control", f"{extension}--0.2.0.sql"):
        assert f"./usr/share/postgresql/{major}/extension/{name}\n" in files
    control = said_of(package, "--info")
    assert f"Depends: postgresql-{major}, libc6" in control
    assert ("libpq5" in control) == (extension == "tollfree_postgres_fdw")


def test_what_cannot_be_packaged_is_refused(tmp_path: Path) -> None:
    done = make_package("nothing")
    assert done.returncode == 2
    assert "no extension: 'nothing'" in done.stderr
    built = tmp_path / "pg_config"
    built.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "PostgreSQL 18.1" || echo /opt\n')
    built.chmod(0o755)
    done = make_package("extensions/tollfree_postgres_fdw", str(built))
    assert done.returncode == 3
    assert "is of no packaged PostgreSQL" in done.stderr
