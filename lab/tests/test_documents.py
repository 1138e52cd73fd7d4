"""The documents: their links lead somewhere."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tollfree.paths import CHECKOUT

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|^    [^\n]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def documents() -> list[Path]:
    """Return the Markdown files of the checkout that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "*.md"],
        capture_output=True,
        check=True,
        cwd=CHECKOUT,
        encoding="utf-8",
    ).stdout.split("\0")
    return [path for name in listed if name and (path := CHECKOUT / name).is_file()]


def anchors(text: str) -> set[str]:
    """Return the anchors that a forge makes of the headings."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in HEADING.findall(text):
        slug = re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def broken(document: Path) -> Iterator[str]:
    """Return the links of a document that lead nowhere."""
    text = document.read_text(encoding="utf-8")
    for target in LINK.findall(CODE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = document if name == "" else (document.parent / name).resolve()
        if not path.exists():
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(path.read_text(encoding="utf-8")):
            yield f"{target}: no such heading"


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_links_lead_somewhere(document: Path) -> None:
    assert list(broken(document)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n    [code](gone)\n[a](#one) [b](#two) [c](gone.md) [d](https://gone)\n`[e](gone)`\n"
    )
    assert list(broken(page)) == ["#two: no such heading", "gone.md: no such file"]


def test_benchmarks_that_documents_link_are_recorded() -> None:
    linked = {
        anchor
        for document in documents()
        for target in LINK.findall(document.read_text(encoding="utf-8"))
        for name, _, anchor in [target.partition("#")]
        if name.endswith("runs/benchmarks.md") and anchor
    }
    recorded = {path.stem for path in (CHECKOUT / "docs" / "runs" / "benchmarks").glob("*.txt")}
    assert linked
    assert linked <= recorded


def test_readmes_are_short() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in documents()}
    assert lines[CHECKOUT / "README.md"] <= 120
    for path in (CHECKOUT / "extensions").glob("*/README.md"):
        assert lines[path] <= 60, path


def test_every_document_is_in_the_index() -> None:
    docs = CHECKOUT / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    named = {(docs / target.partition("#")[0]).resolve() for target in LINK.findall(index)}
    assert [path for path in docs.rglob("*.md") if path not in {*named, docs / "README.md"}] == []
