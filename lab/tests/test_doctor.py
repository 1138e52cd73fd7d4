"""`tollfree doctor`: what it says of the room on the disk."""

import shutil
from typing import NamedTuple

import pytest

from tollfree import doctor
from tollfree.store import written_profiles
from tollfree.suites import all_suites


class Usage(NamedTuple):
    """What `shutil.disk_usage` returns."""

    total: int
    used: int
    free: int


def findings_with(free: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, doctor.Finding]:
    """Return what is found where a disk has so much room."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 10**12 - free, free))
    return {finding.thing: finding for finding in doctor.examine()}


def test_a_disk_without_room_for_a_suite_of_the_demo_is_too_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profiles = written_profiles()
    needs = {
        suite.name: suite.disk_bytes(profiles[suite.name, "quick"])
        for suite in all_suites().values()
        if suite.in_demo
    }
    assert needs["file"] == max(needs.values())
    found = findings_with(max(needs.values()) - 1, monkeypatch)["home"]
    assert not found.found
    assert f"needs {max(needs.values()) / 1e9:.1f} GB" in found.detail
    some = findings_with(max(needs.values()), monkeypatch)
    assert some["home"].found
    assert not some["room for all suites"].necessary
    assert "room for all suites" not in findings_with(sum(needs.values()), monkeypatch)
