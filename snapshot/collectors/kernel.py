"""The running kernel, from /proc and /sys, and the installed ones, from /boot and /lib/modules.

See proc(5), Documentation/admin-guide/tainted-kernels.rst (the taint letters) and kernel_lockdown(7). Nothing
is asked of uname(2): the machine that reads a recording is another one. /proc/sys/kernel/arch is there since
6.1; before, only the build configuration tells the machine, and it is looked at for x86_64 alone.

Installed is what can be loaded: an image or initrd in /boot, or a folder of modules that depmod(8) has been
over. What a removed kernel leaves behind (a folder without modules.dep), and copies that start no kernel of
that name (vmlinuz-R.old, initramfs-Rkdump.img, vmlinuz-0-rescue-MACHINE-ID), do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..regexes import regex
from ..sections.debversion import release_order
from ..sections.kernel import InstalledKernel, Kernel
from . import kernel_config, preempt
from .base import Reading, Reads
from .cmdline import LIMIT as CMDLINE_LIMIT

_OSRELEASE, _VERSION, _BANNER = "/proc/sys/kernel/osrelease", "/proc/sys/kernel/version", "/proc/version"
_ARCH, _TAINTED = "/proc/sys/kernel/arch", "/proc/sys/kernel/tainted"
_LOCKDOWN, _LSM = "/sys/kernel/security/lockdown", "/sys/kernel/security/lsm"
_CLOCK = "/sys/devices/system/clocksource/clocksource0"
_MODULES = "/lib/modules"
_DEBUG_PREEMPT = "/sys/kernel/debug/sched/preempt"
READS = Reads(
    paths=(
        _OSRELEASE, _VERSION, _BANNER, _ARCH, _TAINTED, "/proc/cmdline", _LOCKDOWN, _LSM, _DEBUG_PREEMPT,
        f"{_CLOCK}/current_clocksource", f"{_CLOCK}/available_clocksource",
        "/proc/config.gz", "/boot/config-*", f"{_MODULES}/*/config",
        "/boot", _MODULES, f"{_MODULES}/*/modules.dep",
    ),
    root="the preemption model that a dynamic kernel was switched to at run time",
)
_TAINTS = "PFSRMBUDAWCIOELKXTNJ"  # by bit
_RELEASE = regex(r"[0-9]+\.[0-9].*", re.DOTALL)
_IMAGE = regex(r"vmlinu[xz]-(.+)", re.DOTALL)
_INITRD = regex(r"initrd(?:\.img)?-(.+)|initramfs-(.+)(?<!kdump)\.img", re.DOTALL)
_COPY = regex(r".*(\.old|\.bak|\.sig|\.orig|\.dpkg-\w+|\.old-dkms|\.rpm(save|new)|~)", re.DOTALL)


def collect(reading: Reading) -> Kernel:
    """The section."""
    release, version = _banner(reading)
    built = _options(reading, release)
    mask = _tainted(reading)
    installed = _installed(reading)
    return Kernel(
        release=release or None,
        version=version or None,
        machine=_machine(reading, built),
        tainted=mask,
        taints=None if mask is None else taint_letters(mask),
        lockdown=_lockdown(reading),
        preempt=_preempt(reading, release, version, built),
        clocksource=_clocksource(reading, "current", "clocksource"),
        clocksources=(_clocksource(reading, "available", "clocksources") or "").split() or None,
        installed=installed,
        newest=newest(installed or {}),
    )


def _banner(reading: Reading) -> tuple[str, str]:
    release, version = reading.text(_OSRELEASE, "release"), reading.text(_VERSION, "version")
    if release and version:
        return release, version
    told = parse_banner(reading.text(_BANNER, "release") or "")
    release, version = release or told[0], version or told[1]
    reading.settle(bool(release), _OSRELEASE, "no release in it", "release")
    reading.settle(bool(version), _VERSION, "no version in it", "version")
    return release, version


def parse_banner(text: str) -> tuple[str, str]:
    """Release and version from the line of /proc/version; both empty when it is no such line."""
    line = text.strip()
    match = None if "\n" in line else re.fullmatch(r"Linux version (\S+) .* (#\S.*)", line)
    return (match[1], match[2]) if match else ("", "")


def _options(reading: Reading, release: str) -> frozenset[str]:
    if "/" in release:  # of no kernel, and it would lead out of /boot
        return frozenset()
    for path in ("/proc/config.gz", f"/boot/config-{release}", f"/lib/modules/{release}/config"):
        if built := preempt.options(reading.bytes(path, "preempt") or b""):
            return built
    return frozenset()


def _preempt(reading: Reading, release: str, version: str, built: frozenset[str]) -> str | None:
    running = preempt.running_mode(reading.text(_DEBUG_PREEMPT, "preempt") or "")
    cmdline = reading.text("/proc/cmdline", "preempt", limit=CMDLINE_LIMIT) or ""
    found = preempt.model(release, version, running, cmdline, built)
    reading.settle(found is not None, f"/boot/config-{release}", "no build configuration", "preempt")
    return found


def _machine(reading: Reading, built: frozenset[str]) -> str | None:
    found = reading.text(_ARCH, "machine") or ("x86_64" if "X86_64" in built else None)
    reading.settle(found is not None, _ARCH, "not there, and no build configuration of x86_64", "machine")
    return found


def _tainted(reading: Reading) -> int | None:
    text = reading.text(_TAINTED, "tainted") or ""
    mask = int(text) if re.fullmatch("[0-9]{1,18}", text) else None
    if mask is None:
        reading.unread_together(_TAINTED, "no number in it", "tainted", "taints")
    return mask


def taint_letters(mask: int) -> list[str]:
    """The letters of the flags that are set, in bit order; a bit without a letter is called bit N."""
    bits = (bit for bit in range(mask.bit_length()) if mask >> bit & 1)
    return [_TAINTS[bit] if bit < len(_TAINTS) else f"bit {bit}" for bit in bits]


def _lockdown(reading: Reading) -> str | None:
    """The marked word. Without the file there is no lockdown, if securityfs is mounted, which lsm shows."""
    text = reading.text(_LOCKDOWN, "lockdown")
    match = re.search(r"\[(\w+)\]", text or "")
    if match or (text is None and reading.stat(_LSM, "lockdown")):
        return match[1] if match else None
    reason = "no word is marked" if text is not None else "securityfs is not mounted"
    reading.settle(False, _LOCKDOWN, reason, "lockdown")
    return None


def _clocksource(reading: Reading, which: str, fact: str) -> str | None:
    path = f"{_CLOCK}/{which}_clocksource"
    text = (reading.text(path, fact) or "").strip()
    reading.settle(bool(text), path, "nothing in it", fact)
    return text or None


def _installed(reading: Reading) -> dict[str, InstalledKernel] | None:
    boot = reading.list("/boot", "installed")
    folders = [name for name in reading.list(_MODULES, "installed") if _RELEASE.fullmatch(name)]
    usable = [name for name in folders if reading.stat(f"{_MODULES}/{name}/modules.dep", "installed")]
    if any(u.path == ("installed",) for u in reading.unreads):
        reading.unread_together("/boot", "", "installed", "newest")
        return None
    found = installed_kernels(boot, usable)
    configs = {release: _config(reading, release) for release in found if f"config-{release}" in boot}
    return {release: kernel.copy(config=configs.get(release)) for release, kernel in found.items()}


def _config(reading: Reading, release: str) -> dict[str, str] | None:
    data = reading.bytes(f"/boot/config-{release}", "installed", release, "config", limit=kernel_config.LIMIT)
    return None if data is None else kernel_config.parse(data) or None


def installed_kernels(boot: Iterable[str], modules: Iterable[str]) -> dict[str, InstalledKernel]:
    """By release, from the names in /boot and the names of the module folders that can be used."""
    images, initrds = _releases(boot, _IMAGE), _releases(boot, _INITRD)
    folders = set(modules)
    return {
        r: InstalledKernel(image=r in images, initrd=r in initrds, modules=r in folders)
        for r in sorted(images | initrds | folders, key=release_order)
    }


def _releases(names: Iterable[str], pattern: re.Pattern[str]) -> set[str]:
    matches = (pattern.fullmatch(name) for name in names)
    releases = {match[match.lastindex or 0] for match in matches if match}
    return {r for r in releases if _RELEASE.fullmatch(r) and not _COPY.fullmatch(r)}


def newest(installed: Mapping[str, InstalledKernel]) -> str | None:
    """The newest release that has an image, by Debian's order; None when none has."""
    return max((r for r, found in installed.items() if found.image), key=release_order, default=None)
