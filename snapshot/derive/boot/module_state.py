"""The modules of nvidia, zfs, amdgpu and mlx5 on the disk of each installed kernel, and what they fit.

From sections modules, boot, kernel, dkms, packages, nvidia and firmware. modprobe(8) loads what modules.dep(5) names.
A module of the wrong version, flavour or signature only shows at the next boot; what is loaded now says nothing of it.

Row keys, by "KERNEL MODULE"; a key without a value is missing:
    kernel, module
    running          KERNEL runs now
    boots_next       KERNEL is what the next boot starts; missing where that is not known
    needed           MODULE is loaded now, or modules-load.d or DKMS has it
    loaded           it is loaded now, in the running kernel
    on_disk          KERNEL's modules.dep has a file of it
    builtin          it is part of KERNEL: loaded now, without a file, and not missing there
    available        on_disk or builtin; never missing
    no_modules       KERNEL has no modules at all
    file, version, flavour (open or proprietary), license, vermagic, signer   of that file
    candidates       NVIDIA files of several names, of which modprobe.d chooses; then none of the above is told
    signed           the file bears a signature
    dkms, dkms_*, headers_installed, headers_package   as in ``dkms_builds``
    loaded_version, loaded_flavour   of the loaded module
    matches_loaded   version is the loaded one's
    user_space       versions of NVIDIA's libraries, sorted
    matches_user_space   version is the one that all of these have
    wanted_flavour, wanted_by   flavour that GPUs of this host need, and their names
    flavour_fits     flavour is wanted_flavour
    secure_boot, lockdown, signatures_enforced   what decides whether an unsigned module is loaded
    unknown          {key: {source, why}} of keys above that could not be told
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...sections.debversion import release_order
from ..facts import Derived
from ..gpus.nvidia_flavour import wanted_flavour
from .dkms_builds import NAMES, NVIDIA_FILE, dkms_row, headers_row

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]
MODULES = tuple(NAMES)
OF_FILE = ("file", "version", "flavour", "license", "vermagic", "signer")
WHAT = "which modules the kernel has"


def module_state(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each installed kernel and each module that this host needs or has; BEFORE adds nothing."""
    del before
    if fact := after.unread("modules", ("kernels",)):
        return Derived({}, [{"subject": "", "what": WHAT, "source": fact.source, "why": fact.why}])
    found, host = Derived(), _host_facts(after)
    for kernel in releases(after):
        if fact := after.unread("modules", ("kernels", kernel)):
            found.unknown.append({"subject": f"{kernel} ", "what": WHAT, "source": fact.source, "why": fact.why})
            continue
        for module in MODULES:
            if row := _row(after, kernel, module, host):
                found.rows[f"{kernel} {module}"] = row
    return found


def releases(snapshot: Snapshot) -> list[str]:
    """The kernels that matter: installed, running or chosen, oldest first."""
    kernel, boot = snapshot.table("kernel"), snapshot.table("boot")
    images = (release for release, told in kernel.get("installed", {}).items() if told["image"])
    chosen = (boot.get(choice, {}).get("kernel") for choice in ("next", "default"))
    named = {*snapshot.table("modules").get("kernels", {}), *images, *chosen, kernel.get("release")}
    return sorted((release for release in named if release), key=release_order)


def loaded_module(snapshot: Snapshot, module: str) -> Table | None:
    """What section modules says of a loaded module; None when it is not loaded."""
    found: Table | None = snapshot.table("modules").get("loaded", {}).get(module)
    return found


def library_versions(snapshot: Snapshot) -> list[str]:
    """The versions of NVIDIA's libraries on the host, sorted."""
    libraries: Table = snapshot.table("nvidia").get("user_space", {}).get("libraries", {})
    return sorted(set(libraries.values()))


def disk_file(files: Table, module: str) -> tuple[str, ...]:
    """The names in FILES that stand for MODULE: one, none, or those among which modprobe.d chooses."""
    if module in files or module != "nvidia":
        return (module,) if module in files else ()
    return tuple(name for name in files if NVIDIA_FILE.fullmatch(name))


def _host_facts(snapshot: Snapshot) -> Row:
    """Keys that are the same in all rows."""
    builtin = snapshot.table("modules").get("builtin", {}).get("module", {}).get("parameters", {})
    found = {
        "secure_boot": snapshot.table("firmware").get("secure_boot"),
        "lockdown": snapshot.table("kernel").get("lockdown"),
        "signatures_enforced": {"Y": True, "N": False}.get(builtin.get("sig_enforce", "")),
    }
    return {key: value for key, value in found.items() if value is not None}


def _row(snapshot: Snapshot, kernel: str, module: str, host: Row) -> Row:
    """The row, empty when neither the host nor KERNEL has to do with MODULE."""
    section, loaded = snapshot.table("modules"), loaded_module(snapshot, module)
    disk: Table | None = section.get("kernels", {}).get(kernel)
    names = disk_file(disk["files"], module) if disk else ()
    dkms = dkms_row(snapshot, module, kernel)
    needed = loaded is not None or module in section.get("load", {}) or bool(dkms)
    if not needed and not names:
        return {}
    running = snapshot.table("kernel").get("release") == kernel
    builtin = loaded is not None and disk is not None and not names and module not in disk["missing"]
    row: Row = {
        "kernel": kernel, "module": module, "running": running, "needed": needed,
        "loaded": running and loaded is not None, "on_disk": bool(names), "builtin": builtin,
        "available": bool(names) or builtin, "no_modules": disk is None, **_file(disk, names), **dkms,
        **headers_row(snapshot, kernel), **host,
    }
    row |= _fits(snapshot, module, row, loaded)
    return row | _decided(snapshot, kernel, names, row)


def _file(disk: Table | None, names: tuple[str, ...]) -> Row:
    """What the file says of itself. One that was not opened has neither license nor vermagic, and no known signer."""
    if disk is None or len(names) != 1:
        return {"candidates": list(names)} if names else {}
    file = disk["files"][names[0]]
    found = {key: file[key] for key in OF_FILE if key in file}
    return found | ({"signed": "signer" in file} if "vermagic" in file or "license" in file else {})


def _fits(snapshot: Snapshot, module: str, row: Row, loaded: Table | None) -> Row:
    """How the file goes with what is loaded, with the libraries and with the GPUs."""
    driver: Table = snapshot.table("nvidia").get("driver", {}) if module == "nvidia" else {}
    version = driver.get("version") or (loaded or {}).get("version")
    found: Row = {"loaded_version": version, "loaded_flavour": driver.get("flavour")}
    if version and "version" in row:
        found["matches_loaded"] = row["version"] == version
    if module == "nvidia":
        libraries, wanted = library_versions(snapshot), wanted_flavour(snapshot)
        if libraries:
            found["user_space"] = libraries
            found |= {"matches_user_space": libraries == [row["version"]]} if "version" in row else {}
        if wanted:
            found |= {"wanted_flavour": wanted[0], "wanted_by": wanted[1]}
            found |= {"flavour_fits": row["flavour"] == wanted[0]} if "flavour" in row else {}
    return {key: value for key, value in found.items() if value is not None}


def _decided(snapshot: Snapshot, kernel: str, names: Iterable[str], row: Row) -> Row:
    """Whether KERNEL boots next, and what of the row is unknown."""
    following = snapshot.table("boot").get("next", {}).get("kernel")
    found: Row = {} if following is None else {"boots_next": following == kernel}
    facts: list[tuple[str, str, tuple[str, ...]]] = [
        ("boots_next", "boot", ("next",)), ("dkms_state", "dkms", ("modules",)),
        ("headers_installed", "packages", ("installed",)), ("secure_boot", "firmware", ("secure_boot",)),
    ]
    facts += [(key, "modules", ("kernels", kernel, "files", name, key)) for name in names for key in OF_FILE]
    facts += [("user_space", "nvidia", ("user_space", "libraries"))] if row["module"] == "nvidia" else []
    gaps = {key: fact for key, section, path in facts
            if key not in row and key not in found and (fact := snapshot.unread(section, path))}
    unknown = {key: {"source": fact.source, "why": fact.why} for key, fact in gaps.items()}
    return found | ({"unknown": unknown} if unknown else {})
