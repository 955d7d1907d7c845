"""What the system runs in, from files of /run, /sys/class/dmi/id, /proc/cpuinfo and the clocksources.

The words and their order are those of systemd-detect-virt(1) (src/basic/virt.c), which asks the CPUID
instruction where this reads files: a KVM guest shows kvm-clock among its clocksources, a Hyper-V guest its
own; a KVM guest without kvm-clock is called what its DMI says, qemu for example. A container is looked for
first, as there the DMI is the host's. /proc/1/environ, systemd's last resort, is not read: environments hold
secrets, and recordings keep all that is read; /sys/fs/cgroup/cgroup.type, which only a nested cgroup has,
tells of a container too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..regexes import regex
from .base import Reading, decode

_FACT = "virtualization"
_DMI = "/sys/class/dmi/id"
_DMI_FILES = ("product_name", "sys_vendor", "board_vendor", "bios_vendor")  # product first: KVM over QEMU
_CLOCKSOURCES = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
_MANAGERS = ("/run/host/container-manager", "/run/systemd/container")
_MARKERS = {
    "/run/.containerenv": "podman", "/.dockerenv": "docker", "/sys/fs/cgroup/cgroup.type": "container-other",
}
_XEN = ("/sys/hypervisor/type", "/sys/hypervisor/properties/features", "/proc/xen/capabilities")
_RELEASE = "/proc/sys/kernel/osrelease"
PATHS = (
    _RELEASE, *_MANAGERS, *_MARKERS, *(f"{_DMI}/{name}" for name in _DMI_FILES), "/proc/cpuinfo",
    _CLOCKSOURCES, *_XEN,
)

_CONTAINERS = {"lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "proot", "pouch"}
_VENDORS = {
    "KVM": "kvm", "OpenStack": "kvm", "KubeVirt": "kvm", "QEMU": "qemu", "Bochs": "bochs", "BHYVE": "bhyve",
    "VMware": "vmware", "VMW": "vmware", "Parallels": "parallels", "Apple Virtualization": "apple",
    "Xen": "xen", "innotek GmbH": "oracle", "VirtualBox": "oracle", "Oracle Corporation": "oracle",
    "Hyper-V": "microsoft", "Amazon EC2": "amazon", "Google Compute Engine": "google",
}
_ALSO_METAL = {"Amazon EC2", "Oracle Corporation", "Google Compute Engine"}
_FLAGS = regex("^flags.*", re.MULTILINE)
_DOM0 = 1 << 11  # XENFEAT_dom0, xen/include/public/features.h


def detect(reading: Reading) -> str | None:
    """The word for this system, none on the bare machine; None (unread) when the files do not tell."""
    release = reading.text(_RELEASE, _FACT) or ""
    managers = [reading.text(path, _FACT) for path in _MANAGERS]
    markers = [path for path in _MARKERS if reading.stat(path, _FACT)]
    found = container(next(filter(None, managers), ""), markers, release) or _machine(reading)
    if found in ("none", "vm-other") and any(u.path == (_FACT,) for u in reading.unreads):
        found = None  # what could not be read may say otherwise
    reading.settle(found is not None, f"{_DMI}, /proc/cpuinfo", "neither tells", _FACT)
    return found


def container(manager: str, markers: Sequence[str], release: str) -> str | None:
    """The container's word, from how its MANAGER calls itself, the MARKERS that exist, the kernel RELEASE."""
    if "Microsoft" in release or "WSL" in release:
        return "wsl"
    if manager and manager != "oci":  # oci is no manager, but what some images call themselves
        return manager if manager in _CONTAINERS else "container-other"
    words = [word for path, word in _MARKERS.items() if path in markers]
    return words[0] if words else "container-other" if manager else None


def _machine(reading: Reading) -> str | None:
    dmi = {name: reading.text(f"{_DMI}/{name}", _FACT) or "" for name in _DMI_FILES}
    cpuinfo = decode((reading.bytes("/proc/cpuinfo", _FACT) or b"").partition(b"\n\n")[0])
    clocksources = reading.text(_CLOCKSOURCES, _FACT) or ""
    return machine(dmi, cpuinfo, clocksources, *(reading.text(path, _FACT) or "" for path in _XEN))


def machine(
    dmi: Mapping[str, str], cpu: str, clocksources: str, hypervisor: str, features: str, capabilities: str
) -> str | None:
    """The virtual machine's word, none for a machine with a known maker and a CPU without hypervisor flag.

    CPU is the first block of /proc/cpuinfo, FEATURES and CAPABILITIES are Xen's; empty text is not known.
    """
    flags = found[0].split() if (found := _FLAGS.search(cpu)) else []
    vendor = _vendor(dmi)
    if vendor == "Xen" or hypervisor == "xen":
        return "none" if _is_dom0(features, capabilities) else "xen"
    if vendor in _ALSO_METAL:
        return _VENDORS[vendor] if _is_guest(flags, cpu, dmi) else "none" if cpu else None
    clock = "kvm" if "kvm-clock" in clocksources else "microsoft" if "hyperv_" in clocksources else None
    if clock or vendor:
        return clock or _VENDORS[vendor]
    if "hypervisor" in flags or hypervisor:
        return "vm-other"
    return "none" if cpu and any(dmi.values()) else None


def _vendor(dmi: Mapping[str, str]) -> str:
    texts = (dmi.get(name, "") for name in _DMI_FILES)
    return next((vendor for text in texts for vendor in _VENDORS if text.startswith(vendor)), "")


def _is_guest(flags: Sequence[str], cpu: str, dmi: Mapping[str, str]) -> bool:
    """Whether a maker's name that both guests and real machines bear means a guest; only x86 has the flag."""
    metal = dmi.get("product_name", "").endswith(".metal")
    return "hypervisor" in flags or bool(cpu and not flags and not metal)


def _is_dom0(features: str, capabilities: str) -> bool:
    """Xen's own domain runs on the machine itself, as far as devices go."""
    try:
        return bool(int(features, 16) & _DOM0)
    except ValueError:
        return "control_d" in capabilities.split(",")
