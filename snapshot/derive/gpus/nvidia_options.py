"""Options of NVIDIA's kernel modules as they are configured, against those in effect: sections modules and nvidia.

kernel-open/nvidia/nv-procfs.c of open-gpu-kernel-modules: /proc/driver/nvidia/params shows the options of the module
nvidia without NVreg_, numbers unsigned (-1 is 4294967295), texts as they came. modprobe.d(5): the kernel's command line
wins over the files; a driver that is loaded from the initramfs has the files that were there when that was made.

Row keys, by "MODULE.PARAMETER" (- written _), of loaded modules; a key without a value is missing:
    option, module, parameter
    wanted           what is configured, as written
    live             what is in effect; missing where the driver does not show it
    agrees           the two are the same; missing where that cannot be told
    cmdline          the command line sets it
    origin           {file, line, text} of the line that counts
    initramfs        initial RAM disk of the running kernel that is older than that file
    lost_again       it is not in effect, the file is older than this boot, and the next one starts from the same
                     initial RAM disk, which is older still
    unknown          {agrees: {source, why}} where live was not read
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..boot.initramfs_state import seen_by_boot
from ..facts import Derived
from ..tunables.tunable_values import Value, agrees, number, parameter_agrees

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
Table = Mapping[str, Any]
MODULES = ("nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia_peermem")
PREFIX = "NVreg_"


def nvidia_options(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each option that something sets; BEFORE adds nothing."""
    del before
    if fact := after.unread("modules", ("options",)):
        what = "which options NVIDIA's modules are given"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    table = after.table("modules")
    rows = {}
    for module in filter(_loaded(after).__contains__, MODULES):
        for parameter, option in table.get("options", {}).get(module, {}).items():
            rows[f"{module}.{parameter}"] = _row(after, module, parameter, option)
    return Derived(rows)


def _loaded(after: Snapshot) -> set[str]:
    driver = after.table("nvidia").get("driver", {})
    return {*after.table("modules").get("loaded", {}), *driver.get("modules", ())}


def _row(after: Snapshot, module: str, parameter: str, option: Table) -> Row:
    assigned = option.get("cmdline") or option["files"]
    wanted, live, unread = assigned.get("value", ""), _live(after, module, parameter), None
    if live is None:
        unread = next(_unread(after, module, parameter), None)
    agreed = None if live is None else _agrees(live, wanted)
    row: Row = {
        "option": f"{module}.{parameter}", "module": module, "parameter": parameter, "wanted": wanted, "live": live,
        "agrees": agreed, "cmdline": "cmdline" in option,
        "origin": assigned["origin"], "initramfs": _stale(after, assigned["origin"]["file"]),
        "lost_again": (agreed is False and _again(after, assigned["origin"]["file"])) or None,
        "unknown": {"agrees": {"source": unread.source, "why": unread.why}} if unread else None,
    }
    return {key: value for key, value in row.items() if value is not None}


def _live(after: Snapshot, module: str, parameter: str) -> Value | None:
    shown: Table = after.table("modules").get("loaded", {}).get(module, {}).get("parameters", {})
    if module == "nvidia" and parameter not in shown:
        shown = after.table("nvidia").get("driver", {}).get("parameters", {})
        parameter = parameter.removeprefix(PREFIX)
    found: Value | None = shown.get(parameter)
    return found


def _unread(after: Snapshot, module: str, parameter: str) -> Iterator[UnreadFact]:
    """Why it is not known what is in effect."""
    paths: tuple[tuple[str, ...], ...] = (("modules", "loaded", module, "parameters", parameter),)
    if module == "nvidia" and parameter.startswith(PREFIX):  # these the driver shows itself
        paths = (("nvidia", "driver", "parameters", parameter.removeprefix(PREFIX)),)
    yield from filter(None, (after.unread(section, path) for section, *path in paths))


def _agrees(live: Value, wanted: str) -> bool | None:
    if isinstance(live, str):
        return parameter_agrees(live, wanted)
    asked = number(wanted)
    return agrees(live, wanted if asked is None or asked >= 0 else str(asked & 0xFFFFFFFF))


def _again(after: Snapshot, file: str) -> bool:
    """Whether the initial RAM disk of the next boot is that of this one, and older than FILE."""
    release = after.table("boot").get("next", {}).get("kernel", "")
    image: Table = after.table("modules").get("kernels", {}).get(release, {}).get("initramfs", {})
    return file in image.get("stale", ()) and seen_by_boot(after, release, file, image) is True


def _stale(after: Snapshot, file: str) -> str | None:
    kernels = after.table("modules").get("kernels", {})
    found: Table = kernels.get(after.table("kernel").get("release") or after.meta.kernel, {}).get("initramfs", {})
    return found.get("file") if file in found.get("stale", ()) else None
