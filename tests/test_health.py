"""No alarm on health: of a recorded host nothing above info is said but what is wrong with it.

That holds of it alone, and of it beside itself, where nothing is new. Where all was read, nothing is in question.
"""

from __future__ import annotations

import pytest

from snapshot.report.review import review

from .recordings import HOSTS, taken

MOVED = "lxc.device-major-stale"  # after the kernel upgrade containers name the major that nvidia-uvm had before
FAULTS: dict[str, set[str]] = {
    "gpu-lost.tar.xz": {MOVED, "nvidia.gpu-missing", "nvidia.xid"},  # Xid 79, and the GPU answers no more
    "nvidia-smi-hangs.tar.xz": {MOVED},
    "pve-epyc-after.tar.xz": {MOVED},
    "pve-small": {
        "lxc.append-unparsed",  # a line of 100.conf begins with a blank
        "sysctl.overridden",  # 80-lower.conf takes back what 10-pve.conf sets
        "systemd.failed-units",  # smartmontools.service
    },
    "vm-rebooted.tar.xz": {MOVED},
    # what was set by hand: a slow clock source, and values that files set otherwise
    "vm-tuned.tar.xz": {"clocksource.changed", "modprobe.option-not-applied", "sysctl.overwritten-by-daemon"},
    "vm-full-after.tar.xz": {MOVED},
    "vm-full-before.tar.xz": {"modprobe.option-not-applied"},  # fake_nvidia has 7 where rig.conf says 2
}
UNREAD = {
    "gpu-lost.tar.xz",  # the registers of the GPU, and its values
    "microvm-no-root.tar.xz",  # PCI registers beyond the first 64 bytes, which matter beside another snapshot
    "nvidia-smi-hangs.tar.xz",  # whatever nvidia-smi says
    # the same: the drivers are stand-ins, nvidia-smi is not there
    "vm-boot.tar.xz", "vm-full-after.tar.xz", "vm-full-before.tar.xz", "vm-rebooted.tar.xz", "vm-tuned.tar.xz",
}


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside itself"])
@pytest.mark.parametrize("host", HOSTS)
def test_only_what_is_wrong_is_said(host: str, beside: bool) -> None:
    side = taken(host)
    found = review(side, side) if beside else review(None, side, scopes=("state",))
    loud = {(finding.rule, finding.class_) for finding in found.judgement.findings if finding.severity != "info"}
    assert loud == {(rule, "existing") for rule in FAULTS.get(host, ())}
    if host not in UNREAD:
        assert [f"{question.rule} {question.subject}" for question in found.judgement.unknown] == []


def test_what_is_listed_is_recorded() -> None:
    assert FAULTS.keys() | UNREAD < {*HOSTS}
