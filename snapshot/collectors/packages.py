"""Packages that decide about kernel, drivers, firmware and guests, from /var/lib/dpkg/status or rpm.

dpkg(1), rpm(8); ``dpkg``, ``rpm``, ``apt_conf``, ``apt_pins`` and ``apt_history`` know the formats. Which packages
count stands in NAMES; a held or broken one counts whatever it is. apt-mark(8) keeps its holds in dpkg's status file, so
no command is needed for them. Without either database nothing is known: other package managers are not read.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping

from ..errors import ParseError
from ..host.base import Command, Result
from ..regexes import regex
from ..sections.packages import AptOption, Package, Packages, Pin, Unattended
from . import apt_history, dpkg, rpm
from .base import Reading, Reads, decode

APT, PREFERENCES = "/etc/apt/apt.conf", "/etc/apt/preferences"
READS = Reads(
    paths=(
        dpkg.STATUS, *rpm.DATABASES, *rpm.LOCKS, APT, f"{APT}.d", f"{APT}.d/*", PREFERENCES, f"{PREFERENCES}.d",
        f"{PREFERENCES}.d/*", apt_history.LOG,
    ),
    commands=(rpm.QUERY.argv,),
)
_KERNELS = (
    "linux-image*", "linux-headers-*", "linux-modules-*", "linux-kbuild-*", "linux-generic*", "linux-lowlatency*",
    "linux-cpupower", "linux-sysctl-defaults", "linux-tools-*", "kernel", "kernel-*", "pve-kernel-*", "pve-headers*",
    "proxmox-*", "initramfs-tools*", "dracut*", "grub-*", "grub2-*", "shim*", "systemd", "systemd-boot*", "kmod",
    "dkms", "*-dkms", "akmod*", "*-firmware", "firmware-*", "amd64-microcode", "intel-microcode", "microcode_ctl",
)
_DRIVERS = (
    "nvidia-*", "libnvidia-*", "kmod-nvidia*", "xserver-xorg-video-nvidia*", "libcuda*", "cuda-drivers*",
    "cuda-compat-*", "cuda-toolkit-*", "libnccl*", "libcudnn*", "datacenter-gpu-manager*", "amdgpu-*", "rocm-*",
    "zfs*", "libzfs*", "rdma-core", "libibverbs1", "mlnx-*", "mft", "doca-*",
)
_GUESTS = (
    "lxc*", "liblxc*", "pve-*", "libpve-*", "qemu-server", "qemu-kvm", "qemu-system-x86", "docker*", "containerd*",
    "runc", "crun", "podman",
)
_TUNING = (
    "irqbalance", "tuned", "cpufrequtils", "procps", "ksm-control-daemon", "ethtool", "ifupdown*",
    "unattended-upgrades", "dnf-automatic",
)
NAMES = "|".join(
    re.escape(name).replace(r"\*", r"[^\s]*") for name in (*_KERNELS, *_DRIVERS, *_GUESTS, *_TUNING)
)
PATTERN = regex(NAMES)
_AUTOMATIC = ("apt::periodic::", "unattended-upgrade::")
_MAIL = ("unattended-upgrade::mail", "unattended-upgrade::sender")


def collect(reading: Reading) -> Generator[tuple[Command, ...], Mapping[Command, Result], Packages]:
    """The section. Needs no root."""
    status = reading.bytes(dpkg.STATUS, "installed")
    if status is not None or reading.unreads:
        return _debian(reading, status)
    if not any(reading.stat(path, "installed") for path in rpm.DATABASES):
        reading.unread_together(dpkg.STATUS, "no database of dpkg or rpm", "manager", "installed")
        return Packages()
    results = yield (rpm.QUERY,)
    locks = [entry for path in rpm.LOCKS for entry in rpm.locks(reading.config(path, "locks") or "")]
    return Packages(manager="rpm", installed=_queried(reading, results[rpm.QUERY]), locks=sorted(set(locks)) or None)


def _debian(reading: Reading, status: bytes | None) -> Packages:
    installed = dpkg.packages(status or b"", NAMES)
    if installed is None:
        reading.settle(False, dpkg.STATUS, "no package in it", "installed")
    return Packages(
        manager="dpkg", installed=installed, pins=_pins(reading) or None, automatic=_automatic(reading) or None,
        unattended=_unattended(reading, installed) or None,
    )


def _unattended(reading: Reading, installed: Mapping[str, Package] | None) -> dict[str, Unattended]:
    """What unattended-upgrade changed; where it is not installed, nobody looks."""
    reading.depends(("installed",), ("unattended",))
    if installed is None or "unattended-upgrades" not in installed:
        return {}
    return apt_history.parse(reading.text(apt_history.LOG, "unattended", limit=apt_history.LIMIT) or "")


def _queried(reading: Reading, result: Result) -> dict[str, Package] | None:
    reason = result.why or (f"exit code {result.exit_code}" if result.exit_code else "")
    try:
        if not reason:
            return rpm.parse(decode(result.stdout), PATTERN)
    except ParseError as error:
        reason = str(error)
    reading.unread(("installed",), " ".join(rpm.QUERY.argv[:2]), reason)
    return None


def _pins(reading: Reading) -> list[Pin]:
    from . import apt_pins

    names = filter(apt_pins.counts, reading.list(f"{PREFERENCES}.d", "pins"))
    files = [*(f"{PREFERENCES}.d/{name}" for name in names), PREFERENCES]
    return [pin for file in files for pin in apt_pins.parse(reading.config(file, "pins") or "", file)]


def _automatic(reading: Reading) -> dict[str, AptOption]:
    from . import apt_conf

    options: dict[str, apt_conf.Option] = {}
    names = filter(apt_conf.counts, reading.list(f"{APT}.d", "automatic"))
    for file in (*(f"{APT}.d/{name}" for name in names), APT):
        apt_conf.parse(reading.config(file, "automatic") or "", file, options)
    return {
        name: AptOption(value=option.value, values=option.values or None, origins=option.origins)
        for name, option in sorted(options.items())
        if name.startswith(_AUTOMATIC) and not name.startswith(_MAIL)
    }
