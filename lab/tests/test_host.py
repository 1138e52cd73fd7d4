"""What is said of the machine that is measured on."""

from pathlib import Path

import pytest

from tollfree import doctor, host

X86 = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu vme{}\nbugs\t\t: spectre_v1\n"
ARM = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm\nCPU part\t: 0xd0c\n"


@pytest.mark.parametrize(
    ("cpuinfo", "virtual"),
    [(X86.format(""), False), (X86.format(" hypervisor"), True), (ARM, None)],
)
def test_a_hypervisor_is_unknown_where_the_processor_has_no_flags(
    cpuinfo: str, virtual: bool | None
) -> None:
    assert host.is_virtual(cpuinfo) is virtual


@pytest.mark.parametrize(
    ("virtual", "found", "words"),
    [(False, True, "no hypervisor"), (True, False, "a virtual machine"), (None, False, "unknown")],
)
def test_doctor_calls_hardware_real_only_where_that_is_known(
    monkeypatch: pytest.MonkeyPatch, virtual: bool | None, found: bool, words: str
) -> None:
    monkeypatch.setattr(host, "is_virtual", lambda cpuinfo: virtual)
    assert host.fingerprint(Path("/"))["virtual"] == ("unknown" if virtual is None else virtual)
    (finding,) = (f for f in doctor.examine() if f.thing == "real hardware")
    assert finding.found is found
    assert finding.detail.startswith(words)
