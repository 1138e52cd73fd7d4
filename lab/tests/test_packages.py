"""The packages of the extensions: Debian's, as debian/ and the Dockerfile have them, and PGXN's.

`make test-packages` makes Debian's in a bare system and tests them there: here is what takes no
compiler.
"""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tollfree.paths import CHECKOUT
from tollfree.postgres import MAJORS, NEWEST_MAJOR, OLDEST_MAJOR

DEBIAN = CHECKOUT / "debian"
WRAPPERS = ("tollfree_postgres_fdw", "tollfree_file_fdw")
EXTENSIONS = (*WRAPPERS, "tollfree_lab")
REQUIRED = {"name", "version", "abstract", "maintainer", "license", "provides", "meta-spec"}
"""The keys that PGXN's specification, version 1.0.0, demands of a META.json."""
SEMANTIC_VERSION = r"\d+\.\d+\.\d+"
needs_debian_tools = pytest.mark.skipif(
    not (shutil.which("pg_buildext") and shutil.which("dh")),
    reason="debhelper or postgresql-server-dev-all is not installed",
)


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        check=False,
        cwd=CHECKOUT,
        encoding="utf-8",
    )


def meta_of(text: str) -> dict[str, Any]:
    """Return a META.json of which everything that PGXN demands has been checked."""
    meta: dict[str, Any] = json.loads(text)
    assert set(meta) >= REQUIRED
    assert re.fullmatch(r"[^\s/\\]{2,}", meta["name"])
    assert re.fullmatch(SEMANTIC_VERSION, meta["version"])
    assert meta["license"] == "postgresql"
    assert meta["maintainer"]
    assert meta["meta-spec"]["version"] == "1.0.0"
    for provided in meta["provides"].values():
        assert set(provided) >= {"file", "version"}
        assert re.fullmatch(SEMANTIC_VERSION, provided["version"])
    required = meta["prereqs"]["runtime"]["requires"]
    assert required == {"PostgreSQL": f"{OLDEST_MAJOR}.0.0"}
    assert all(isinstance(tag, str) and 1 < len(tag) < 256 for tag in meta["tags"])
    return meta


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_meta_is_what_the_control_file_says(extension: str) -> None:
    folder = CHECKOUT / "extensions" / extension
    meta = meta_of((folder / "META.json").read_text(encoding="utf-8"))
    control = (folder / f"{extension}.control").read_text(encoding="utf-8")
    version = meta["version"]
    assert meta["name"] == extension
    assert f"default_version = '{version}'" in control
    assert set(meta["provides"]) == {extension}
    assert meta["provides"][extension]["version"] == version
    assert meta["provides"][extension]["file"] == f"sql/{extension}--{version}.sql"


@pytest.mark.cluster
@pytest.mark.parametrize("extension", WRAPPERS)
def test_an_archive_stands_alone(extension: str, tmp_path: Path) -> None:
    """It has the shape that PGXN takes, and what is a link in the checkout is a file there."""
    done = run("tools/make-archive", f"extensions/{extension}")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(done.stdout.splitlines()[-1]) as archive:
        names = archive.namelist()
        prefix = f"{extension}-{Path(archive.filename or '').stem.rsplit('-')[-1]}/"
        meta = meta_of(archive.read(f"{prefix}META.json").decode())
        archive.extractall(tmp_path)
    assert prefix == f"{extension}-{meta['version']}/"
    assert all(name.startswith(prefix) for name in names)
    for wanted in (meta["provides"][extension]["file"], "LICENSE", "README.md", "Makefile"):
        assert f"{prefix}{wanted}" in names
    assert not [name for name in names if name.endswith((".o", ".so", ".bc"))]
    source = CHECKOUT / "extensions" / extension
    links = [path for path in source.rglob("*") if path.is_symlink()]
    assert links
    for path in links:
        unpacked = tmp_path / prefix / path.relative_to(source)
        assert unpacked.read_bytes() == path.read_bytes()
    planned = run("make", "-n", "-C", tmp_path / prefix, "install")
    assert planned.returncode == 0, planned.stderr


def test_an_archive_of_nothing_is_refused() -> None:
    done = run("tools/make-archive", "nothing")
    assert done.returncode == 2
    assert "no extension: 'nothing'" in done.stderr


@needs_debian_tools
def test_there_is_a_package_of_each_wrapper_for_each_major(tmp_path: Path) -> None:
    shutil.copytree(DEBIAN, tmp_path / "debian")
    done = subprocess.run(
        [
            *("env", f"PG_SUPPORTED_VERSIONS={OLDEST_MAJOR}\n{NEWEST_MAJOR}"),
            *("pg_buildext", "updatecontrol"),
        ],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    control = (tmp_path / "debian" / "control").read_text(encoding="utf-8")
    assert re.findall(r"^Package: (.*)", control, re.MULTILINE) == [
        f"postgresql-{major}-{wrapper.replace('_', '-')}"
        for wrapper in WRAPPERS
        for major in (OLDEST_MAJOR, NEWEST_MAJOR)
    ]


@needs_debian_tools
@pytest.mark.parametrize(
    ("word", "code", "said"),
    [("7", 3, "there is no packaged PostgreSQL 7"), ("extensions/x", 2, "no major version")],
)
def test_what_cannot_be_packaged_is_refused(word: str, code: int, said: str) -> None:
    done = run("tools/make-package", word)
    assert done.returncode == code
    assert said in done.stderr


def test_the_dockerfile_names_majors_that_are_served() -> None:
    text = (CHECKOUT / "Dockerfile").read_text(encoding="utf-8")
    for major in re.findall(r"MAJOR=(\d+)", text):
        assert OLDEST_MAJOR <= int(major) <= NEWEST_MAJOR, f"{major} is none of {MAJORS}"
    assert not re.findall(r"\b(?:curl|wget|pip|git|add-apt)\b", text)
