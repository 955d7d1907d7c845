"""Each driver as it is loaded now, against its libraries, tools, fabric manager and the file on the disk.

From sections nvidia, modules, packages and pci. NVIDIA's libraries, nvidia-smi and fabric manager have to be of the
loaded module's very version; an upgrade replaces all but that. ZFS's tools work with modules of other versions.

Row keys, by driver (nvidia, zfs, amdgpu, mlx5_core); a key without a value is missing:
    driver           the row's key
    loaded           its module is loaded
    version, flavour of the loaded module; most of the kernel's own have no version
    user_space       versions of NVIDIA's libraries, sorted; of ZFS the version of zfsutils-linux
    matches_user_space   all libraries are of the loaded version
    other_libraries  paths of those that are not
    packages         versions that NVIDIA's installed packages are of, sorted
    fabric_manager   version of nv-fabricmanager
    matches_fabric_manager   it is the loaded version
    fabric_manager_next  it is the version of the file that the next boot loads
    nvswitches       how many NVSwitches are on the PCI bus; only these need a fabric manager
    disk_version, disk_flavour   of the file that the running kernel would load now
    changed_on_disk  disk_version or disk_flavour is not the loaded one
    wanted_flavour, wanted_by, flavour_fits   as in module_state, for the loaded module
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..boot.module_state import MODULES, disk_file, library_versions, loaded_module
from ..facts import Derived
from ..pci.pci_tree import functions_of
from .gpu_layers import NVIDIA
from .nvidia_flavour import wanted_flavour

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
PACKAGE = regex(
    r"libcuda1|libnvidia-(?:ml1|compute|gl|cfg1?)\b.*|nvidia-(?:driver|utils|smi|kernel|dkms|fabricmanager|compute)\b.*"
)
UPSTREAM = regex(r"(?:[0-9]+:)?([0-9]{3}\.[0-9]+(?:\.[0-9]+)?)\b")
NVSWITCH = "0680"  # NVSwitches are "other bridges" of pci.ids


def driver_versions(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each driver that is loaded or, of NVIDIA, has libraries; BEFORE adds nothing."""
    del before
    found = Derived()
    for driver in MODULES:
        gap = next(_unread(after, driver), None)
        row = _row(after, driver) if gap is None else None
        if gap:
            found.unknown.append(gap)
        elif row and (row["loaded"] or row.get("user_space")):
            found.rows[driver] = {key: value for key, value in row.items() if value is not None}
    return found


def _unread(snapshot: Snapshot, driver: str) -> Iterator[dict[str, Any]]:
    """Why the versions of DRIVER cannot be compared."""
    paths: tuple[tuple[str, ...], ...] = (("modules", "loaded"),)
    if driver == "nvidia":
        paths = (("nvidia", "loaded"), ("nvidia", "driver", "version"), ("nvidia", "user_space", "libraries"))
    for section, *path in paths:
        if fact := snapshot.unread(section, path):
            what = f"versions of the driver {driver}"
            yield {"subject": driver, "what": what, "source": fact.source, "why": fact.why}


def _row(snapshot: Snapshot, driver: str) -> Row:
    loaded = loaded_module(snapshot, driver)
    row: Row = {"driver": driver, "loaded": loaded is not None, "version": (loaded or {}).get("version")}
    if driver == "nvidia":
        row |= _nvidia(snapshot)
    elif driver == "zfs":
        tools = snapshot.table("packages").get("installed", {}).get("zfsutils-linux")
        row |= {"user_space": [tools["version"]]} if tools and loaded else {}
    return row | _on_disk(snapshot, row)


def _nvidia(snapshot: Snapshot) -> Row:
    section = snapshot.table("nvidia")
    driver, user = section.get("driver", {}), section.get("user_space", {})
    version, manager = driver.get("version"), user.get("fabric_manager")
    row: Row = {
        "loaded": section.get("loaded", False), "version": version, "flavour": driver.get("flavour"),
        "user_space": library_versions(snapshot) or None, "fabric_manager": manager,
        "packages": _packages(snapshot) or None, "nvswitches": nvswitches(snapshot) or None,
    }
    if version and row["user_space"]:
        others = sorted(path for path, told in user["libraries"].items() if told != version)
        row |= {"matches_user_space": not others, "other_libraries": others or None}
    if version and manager:
        row["matches_fabric_manager"] = manager == version
    if manager and (following := _next_version(snapshot)):
        row["fabric_manager_next"] = manager == following
    if wanted := wanted_flavour(snapshot):
        row |= {"wanted_flavour": wanted[0], "wanted_by": wanted[1]}
        row |= {"flavour_fits": driver["flavour"] == wanted[0]} if "flavour" in driver else {}
    return row


def _packages(snapshot: Snapshot) -> list[str]:
    """The driver's versions that its packages are named for."""
    installed: Mapping[str, Row] = snapshot.table("packages").get("installed", {})
    versions = (UPSTREAM.match(told["version"]) for name, told in installed.items() if PACKAGE.fullmatch(name))
    return sorted({found[1] for found in versions if found})


def nvswitches(snapshot: Snapshot) -> int:
    """How many NVSwitches are on the PCI bus."""
    functions = functions_of(snapshot).values()
    return sum(f.get("vendor") == NVIDIA and f.get("class_code", "").startswith(NVSWITCH) for f in functions)


def _next_version(snapshot: Snapshot) -> str | None:
    found: str | None = _file(snapshot, snapshot.table("boot").get("next", {}).get("kernel"), "nvidia").get("version")
    return found


def _file(snapshot: Snapshot, kernel: str | None, driver: str) -> Row:
    """The file that KERNEL loads for a driver; empty where there is none, or modprobe.d chooses among several."""
    files = snapshot.table("modules").get("kernels", {}).get(kernel, {}).get("files", {})
    names = disk_file(files, driver)
    found: Row = files[names[0]] if len(names) == 1 else {}
    return found


def _on_disk(snapshot: Snapshot, row: Row) -> Row:
    file = _file(snapshot, snapshot.table("kernel").get("release"), row["driver"])
    pairs = [(row.get(key), file.get(key)) for key in ("version", "flavour")]
    known = [(now, disk) for now, disk in pairs if now and disk]
    changed = any(now != disk for now, disk in known) if known else None
    return {"disk_version": file.get("version"), "disk_flavour": file.get("flavour"), "changed_on_disk": changed}
