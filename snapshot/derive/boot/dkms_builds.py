"""What DKMS has of a module for a kernel, and whether that kernel's headers are installed: sections dkms, packages.

dkms(8). Which module a DKMS name builds stands in the files of its builds; a name that is only added is told by itself:
nvidia, nvidia-current and nvidia-open are the driver, nvidia-fs is something else. ``dkms status`` prints no line for a
kernel that has no build.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...regexes import regex

if TYPE_CHECKING:
    from ...document import Snapshot

NAMES = {
    "nvidia": regex(r"nvidia(-(current|open|srv|server|tesla|legacy|[0-9]+(xx)?))*"),
    "zfs": regex("zfs"), "amdgpu": regex("amdgpu"), "mlx5_core": regex("mlnx-of(ed|a)[-_]kernel"),
}
TREE = "/var/lib/dkms"
STATES = ("installed", "installed-weak", "built", "missing", "added")  # best first
IMAGES = {  # package of a kernel's image -> package of its headers
    "proxmox-kernel-{}": "proxmox-headers-{}", "proxmox-kernel-{}-signed": "proxmox-headers-{}",
    "pve-kernel-{}": "pve-headers-{}", "linux-image-{}": "linux-headers-{}",
    "linux-image-unsigned-{}": "linux-headers-{}",
}
DEVEL = ("kernel-devel", "kernel-uek-devel", "kernel-default-devel")  # rpm: version and release are the kernel's


def dkms_row(snapshot: Snapshot, module: str, kernel: str) -> dict[str, Any]:
    """What DKMS says of MODULE for KERNEL; empty when it does not manage it.

    dkms              the DKMS name
    dkms_version      version that counts: the one installed for KERNEL, else the best one
    dkms_state        installed, installed-weak, built, missing (built for other kernels only), added (for none)
    dkms_autoinstall  a new kernel gets it built when it is installed
    dkms_broken       its source is gone
    dkms_left_over    [VERSION] others of the name whose source is gone: dkms may stop at their tree
    dkms_clear        commands that remove these trees, which dkms itself refuses
    dkms_failed       its last build failed, for this kernel
    dkms_gone         it is installed and its file is nowhere in the kernel's folder
    dkms_differs      the file there is not the one that was built
    dkms_limits       {BUILD_EXCLUSIVE_*: pattern} of kernels that it is not built for
    """
    rows = [*_versions(snapshot, module, kernel)]
    if not rows:
        return {}
    best = min(rows, key=lambda row: STATES.index(row["dkms_state"]))
    others = [row for row in rows if row["dkms_broken"] and row is not best]
    trees = [f"{TREE}/{row['dkms']}/{row['dkms_version']}" for row in others]
    best |= {
        "dkms_left_over": [row["dkms_version"] for row in others] or None,
        "dkms_clear": [f"rm -r {shlex.quote(tree)}" for tree in trees] or None,
    }
    return {key: value for key, value in best.items() if value is not None}


def _versions(snapshot: Snapshot, module: str, kernel: str) -> Iterator[dict[str, Any]]:
    for name, versions in snapshot.table("dkms").get("modules", {}).items():
        if not _makes(name, versions["versions"], module):
            continue
        for number, version in versions["versions"].items():
            builds = version.get("builds", {})
            build: dict[str, Any] = next(iter(builds.get(kernel, {}).values()), {})
            yield {
                "dkms": name, "dkms_version": number,
                "dkms_state": build.get("state", "missing" if builds else "added"),
                "dkms_autoinstall": version.get("autoinstall"), "dkms_broken": version.get("broken"),
                "dkms_failed": version.get("failed_for") == kernel or None, "dkms_gone": build.get("missing"),
                "dkms_differs": build.get("differs"), "dkms_limits": version.get("limits"),
            }


def _makes(name: str, versions: dict[str, Any], module: str) -> bool:
    """Whether NAME is what builds MODULE: by the files of its builds, by its name where none lists any."""
    builds = (b for v in versions.values() for by_arch in v.get("builds", {}).values() for b in by_arch.values())
    files = {file.replace("-", "_") for build in builds for file in build.get("modules", ())}
    return bool(NAMES[module].fullmatch(name)) if not files else any(_is(file, module) for file in files)


def _is(file: str, module: str) -> bool:
    return file == module or (module == "nvidia" and bool(NVIDIA_FILE.fullmatch(file)))


NVIDIA_FILE = regex(r"nvidia(_(current|tesla|legacy|open|[0-9]+(xx)?))*")  # not nvidia_uvm and the like


def headers_row(snapshot: Snapshot, kernel: str) -> dict[str, Any]:
    """headers_installed: a package of KERNEL's headers is installed; headers_package: its name. Empty when unknown.

    Without a package of the kernel's image nothing tells the name.
    """
    installed = snapshot.table("packages").get("installed")
    if installed is None:
        return {}
    names = [headers.format(kernel) for image, headers in IMAGES.items() if image.format(kernel) in installed]
    there = [name for pattern in dict.fromkeys(IMAGES.values()) if (name := pattern.format(kernel)) in installed]
    devel = [name for name in DEVEL if _of_kernel(installed.get(name, {}), kernel)]
    found = {"headers_installed": bool(there or devel)}
    return found | ({"headers_package": (there or devel or names)[0]} if there or devel or names else {})


def _of_kernel(package: dict[str, Any], kernel: str) -> bool:
    versions = [package.get("version"), *package.get("older", ())]
    return any(version and (kernel == version or kernel.startswith(f"{version}.")) for version in versions)
