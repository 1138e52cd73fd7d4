"""tools/release, on a small copy of the checkout with a history of its own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tollfree import __version__
from tollfree.paths import CHECKOUT

COPIED = (
    *("tools/common.sh", "tools/release", "CHANGELOG.md", "debian/changelog", "link/Makefile"),
    *("clients/txprobe/Makefile", "lab/src/tollfree/__init__.py"),
)
AUTHOR = {
    f"GIT_{who}_{what}": "nobody@localhost"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        capture_output=True,
        check=False,
        cwd=folder,
        encoding="utf-8",
        env=os.environ | AUTHOR,
    )


def git(folder: Path, *words: str) -> str:
    done = run(folder, "git", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "a commit")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout in which nothing is against a release but that no test has passed."""
    extensions = (CHECKOUT / "extensions").glob("*/*")
    parts = [path for path in extensions if path.name in ("META.json", "Makefile")]
    parts += (CHECKOUT / "extensions").glob("*/*.control")
    for path in [*(CHECKOUT / name for name in COPIED), *parts]:
        target = tmp_path / path.relative_to(CHECKOUT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    (tmp_path / ".gitignore").write_text("/build/\n", encoding="utf-8")
    changes = f"# Changelog\n\n## {__version__}, 2026-12-01\n"
    (tmp_path / "CHANGELOG.md").write_text(changes, encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def passed(tree: Path, *names: str) -> None:
    """Note that the commit has passed, as the scripts of the tests do."""
    for name in names:
        done = run(tree, "bash", "-c", f". tools/common.sh; record_pass {name}")
        assert done.returncode == 0, done.stderr


def refused(tree: Path) -> str:
    """Try a release that must be refused; return what was said."""
    done = run(tree, "tools/release", __version__)
    assert done.returncode == 1, done.stdout + done.stderr
    assert git(tree, "tag") in ("", "v" + __version__)
    return done.stderr


def test_all_parts_have_the_same_version() -> None:
    done = run(CHECKOUT, "tools/release", "--check")
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in done.stdout.splitlines()} == {__version__}


def test_what_has_passed_is_tagged_once(tree: Path) -> None:
    passed(tree, "ci", "packages")
    done = run(tree, "tools/release", __version__)
    assert done.returncode == 0, done.stderr
    assert git(tree, "rev-parse", f"v{__version__}^{{commit}}") == git(tree, "rev-parse", "HEAD")
    assert f"there is a tag v{__version__}" in refused(tree)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), ".ci/run has not passed"),
        (("packages",), ".ci/run has not passed"),
        (("ci",), "tools/test-packages has not passed"),
    ],
)
def test_an_untested_commit_is_refused(tree: Path, names: tuple[str, ...], said: str) -> None:
    passed(tree, *names)
    assert said in refused(tree)


def test_a_pass_is_of_its_commit(tree: Path) -> None:
    passed(tree, "ci", "packages")
    commit(tree)
    assert ".ci/run has not passed" in refused(tree)


def test_changed_files_are_refused_and_pass_nothing(tree: Path) -> None:
    (tree / "new").touch()
    passed(tree, "ci", "packages")
    assert not (tree / "build").exists()
    assert "files differ from the last commit" in refused(tree)


@pytest.mark.parametrize("name", [*COPIED[3:], "extensions/tollfree_file_fdw/META.json"])
def test_another_version_of_a_part_is_refused(tree: Path, name: str) -> None:
    path = tree / name
    path.write_text(path.read_text("utf-8").replace(__version__, "7.7.7", 1), encoding="utf-8")
    commit(tree)
    passed(tree, "ci", "packages")
    said = refused(tree)
    assert f"7.7.7 {name}" in said


def test_a_changelog_without_a_date_is_refused(tree: Path) -> None:
    text = f"# Changelog\n\n## Unreleased: {__version__}\n"
    (tree / "CHANGELOG.md").write_text(text, encoding="utf-8")
    commit(tree)
    passed(tree, "ci", "packages")
    assert f"the first heading of CHANGELOG.md is '## Unreleased: {__version__}'" in refused(tree)


def test_no_version_is_a_usage_error(tree: Path) -> None:
    assert run(tree, "tools/release", "newest").returncode == 2
