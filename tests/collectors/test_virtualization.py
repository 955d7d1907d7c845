"""What the system runs in."""

from __future__ import annotations

import errno

import pytest

from snapshot.collectors.base import Reading, Reads
from snapshot.collectors.virtualization import PATHS, detect

from .fake import Content, MemoryHost

DMI = "/sys/class/dmi/id"
CLOCK = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
GUEST, BARE, ARM = "flags\t\t: fpu hypervisor\n", "flags\t\t: fpu de\n", "Features\t: fp asimd\n"
DOM0 = {"/sys/hypervisor/type": "xen", "/proc/xen/capabilities": "control_d\n"}
DENIED = PermissionError(errno.EACCES, "denied")


def virtualization(files: dict[str, Content]) -> tuple[str | None, list[str]]:
    reading = Reading(MemoryHost(files), Reads(PATHS))
    return detect(reading), [u.why for u in reading.unreads]


def box(cpu: str, vendor: str = "", product: str = "", clock: str = "tsc") -> dict[str, Content]:
    return {
        "/proc/cpuinfo": f"processor\t: 0\n{cpu}\nprocessor\t: 1\nflags\t\t: hypervisor\n\n",
        f"{DMI}/sys_vendor": vendor, f"{DMI}/product_name": product, CLOCK: clock,
    }


@pytest.mark.parametrize(("files", "word"), [
    ({"/run/systemd/container": "lxc"}, "lxc"),
    ({"/run/host/container-manager": "systemd-nspawn", "/run/systemd/container": "lxc"}, "systemd-nspawn"),
    ({"/run/systemd/container": "incus"}, "container-other"),
    ({"/run/systemd/container": "oci", "/.dockerenv": ""}, "docker"),
    ({"/run/systemd/container": "oci"}, "container-other"),
    ({"/.dockerenv": "", "/run/.containerenv": ""}, "podman"),
    ({"/sys/fs/cgroup/cgroup.type": "domain"}, "container-other"),
    ({"/proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2"}, "wsl"),
])
def test_a_container_counts_before_the_machine(files: dict[str, Content], word: str) -> None:
    assert virtualization({**box(GUEST, "QEMU", clock="kvm-clock"), **files}) == (word, [])


@pytest.mark.parametrize(("files", "word"), [
    (box(BARE, "Supermicro", "AS -8125GS"), "none"),
    (box(ARM, "NVIDIA", "Grace CPU P3880"), "none"),
    (box(GUEST, "QEMU", "Standard PC", clock="kvm-clock tsc"), "kvm"),
    (box(GUEST, "QEMU", "Standard PC"), "qemu"),
    (box(BARE, "QEMU", "Standard PC"), "qemu"),  # a guest whose flag is hidden
    (box(ARM, "QEMU", "KVM Virtual Machine"), "kvm"),
    (box(GUEST, "VMware, Inc.", "VMware7,1"), "vmware"),
    (box(GUEST, "innotek GmbH", "VirtualBox"), "oracle"),
    (box(GUEST, "Microsoft Corporation", "Virtual Machine", "hyperv_clocksource_tsc_page"), "microsoft"),
    (box(GUEST, "Amazon EC2", "p5.48xlarge", "kvm-clock"), "amazon"),
    (box(BARE, "Amazon EC2", "p5.metal"), "none"),
    (box(ARM, "Amazon EC2", "c7g.metal"), "none"),
    (box(ARM, "Amazon EC2", "c7g.large"), "amazon"),
    (box(BARE, "Oracle Corporation", "ORACLE SERVER X9-2L"), "none"),
    (box(GUEST, "Somebody", "Something"), "vm-other"),
    (box(GUEST, clock="tsc kvm-clock"), "kvm"),
    ({**box(GUEST, "Dell Inc."), "/sys/hypervisor/type": "xen"}, "xen"),
    ({**box(GUEST, "Dell Inc."), **DOM0}, "none"),
    ({**box(GUEST, "Xen"), "/sys/hypervisor/properties/features": "00002705"}, "xen"),
    ({**box(BARE, "Xen"), "/sys/hypervisor/properties/features": "00000ffd"}, "none"),
])
def test_machines(files: dict[str, Content], word: str) -> None:
    assert virtualization(files) == (word, [])


@pytest.mark.parametrize("files", [
    {}, {"/proc/cpuinfo": BARE + "\n"}, {f"{DMI}/sys_vendor": "Dell Inc."},
    {f"{DMI}/sys_vendor": "Amazon EC2"}, {"/proc/cpuinfo": b"", f"{DMI}/sys_vendor": "Dell Inc."},
])
def test_the_bare_machine_needs_evidence(files: dict[str, Content]) -> None:
    assert virtualization(files) == (None, ["neither tells"])


@pytest.mark.parametrize("path", ["/proc/cpuinfo", "/run/systemd/container", "/sys/hypervisor/type"])
def test_what_cannot_be_read_may_say_otherwise(path: str) -> None:
    assert virtualization({**box(BARE, "Dell Inc."), path: DENIED}) == (None, ["EACCES"])
    assert virtualization({**box(BARE, "QEMU"), path: DENIED}) == ("qemu", [])
    assert virtualization({**box(GUEST, "Dell Inc."), f"{DMI}/product_name": DENIED}) == (None, ["EACCES"])
