"""Settings of each AMD GPU that only its driver holds: what they are, were, and what sets them again: amdgpu, units.

Documentation/gpu/amdgpu/thermal.rst and driver-misc.rst, Documentation/ABI/testing/sysfs-driver-amdgpu;
Documentation/hwmon/sysfs-interface.rst: power1_cap is in microwatts. The driver starts with the level auto, the profile
BOOTUP_DEFAULT and its default power cap. A profile is set by its number, which differs between GPUs.

Row keys, by "GPU NAME", GPU being the key of section amdgpu's gpus; a key without a value is missing:
    gpu, address
    name         file of the setting: power_dpm_force_performance_level, pp_power_profile_mode, power1_cap,
                 current_compute_partition, current_memory_partition
    value        now
    before       of the same GPU before
    was_set      before is not what the driver starts with; true of partitions
    file         path of the file (a glob for power1_cap), and show: the command that shows it
    restore      command that sets it as before; missing for a profile
    keep         commands that install a unit which does so at each boot
    asked        FILE:LINE of what sets it at boot to what it is now
    not_taken    FILE:LINE of what sets it at boot to something that it is not
    unknown      {value, before, was_set: {source, why}} where it was not read
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...records import record
from ...regexes import regex
from ...sections.amdgpu import Gpu
from ...sections.shape import of_model
from ..actions.boot_unit import install
from ..facts import Derived
from ..pci.pci_tree import moves
from ..tunables.tunable_gpus import amdgpu
from .gpu_boot import boot_lines

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]
DEVICES = "/sys/bus/pci/devices"
_ADDRESS = regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_WORD = regex(r"\w{1,40}", re.ASCII)


@record(frozen=True)
class Setting:
    """A fact of a GPU, its file, and the value that the driver starts with."""

    fact: str
    file: str
    default: str | None = None


SETTINGS = (
    Setting("performance_level", "power_dpm_force_performance_level", "auto"),
    Setting("power_profile", "pp_power_profile_mode", "BOOTUP_DEFAULT"),
    Setting("power_cap_mw", "power1_cap"),
    Setting("compute_partition", "current_compute_partition"),
    Setting("memory_partition", "current_memory_partition"),
)


def amdgpu_settings(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each setting that a GPU of AFTER has; unknown as a whole where the GPUs were not read."""
    if fact := after.unread("amdgpu", ("gpus",)):
        gap = {"subject": "", "what": "settings of AMD GPUs", "source": fact.source, "why": fact.why}
        return Derived({}, [gap])
    now, then = _gpus(after), _gpus(before) if before else {}
    rows = {f"{key} {setting.file}": row for key, gpu in now.items() for setting in SETTINGS
            if (row := _row(after, key, gpu, setting))}
    for key, old in pair(then, now, of_model(Gpu), moves(before, after)).before_of.items():
        for setting in SETTINGS:
            if before and (row := rows.get(f"{key} {setting.file}")):
                _compare(row, before, old, then[old], setting)
    for (key, name), line in boot_lines(after, amdgpu).items() if rows else ():
        if row := rows.get(f"{key} {name}"):
            row["asked" if line.holds else "not_taken"] = line.place
    _keep(rows)
    return Derived(rows)


def _gpus(snapshot: Snapshot) -> dict[str, Any]:
    found: dict[str, Any] = snapshot.table("amdgpu").get("gpus", {})
    return found


def _row(after: Snapshot, key: str, gpu: Table, setting: Setting) -> Row | None:
    value, gap = _value(after, key, gpu, setting)
    if value is None and gap is None:
        return None
    place = "hwmon/hwmon*/" if setting.fact == "power_cap_mw" else ""
    row: Row = {"gpu": key, "address": gpu.get("address"), "name": setting.file, "value": value}
    if _ADDRESS.fullmatch(gpu.get("address", "")):
        row["file"] = f"{DEVICES}/{gpu['address']}/{place}{setting.file}"
        row["show"] = f"cat {row['file']}"
    return {k: v for k, v in row.items() if v is not None} | ({"unknown": {"value": gap}} if gap else {})


def _value(snapshot: Snapshot, key: str, gpu: Table, setting: Setting) -> tuple[str | None, Row | None]:
    """The value in words, and why it is unknown."""
    value = gpu.get(setting.fact)
    if value is None:
        fact = snapshot.unread("amdgpu", ("gpus", key, setting.fact))
        return None, {"source": fact.source, "why": fact.why} if fact else None
    return (f"{value / 1000:g} W" if setting.fact == "power_cap_mw" else value), None


def _compare(row: Row, before: Snapshot, key: str, gpu: Table, setting: Setting) -> None:
    value, gap = _value(before, key, gpu, setting)
    if gap:
        row["unknown"] = {**row.get("unknown", {}), "before": gap, "was_set": gap}
    if value is None:
        return
    default = setting.default
    if setting.fact == "power_cap_mw" and "power_cap_default_mw" in gpu:
        default = f"{gpu['power_cap_default_mw'] / 1000:g} W"
    row |= {"before": value, "was_set": value != default}
    written = str(gpu[setting.fact] * 1000) if setting.fact == "power_cap_mw" else value
    if setting.fact != "power_profile" and "show" in row and _WORD.fullmatch(written):
        row["restore"] = f"echo {written} | tee {row['file']}"


def _keep(rows: Mapping[str, Row]) -> None:
    """Adds the unit that sets every setting of one name again."""
    for setting in SETTINGS:
        mine = [row for row in rows.values() if row["name"] == setting.file and row.get("was_set") and "restore" in row]
        unit = install(f"hostsnap-amdgpu-{setting.fact.removesuffix('_mw').replace('_', '-')}",
                       f"AMD GPUs: {setting.file}", _shell(mine), "systemd-modules-load.service")
        for row in mine:
            row["keep"] = unit


def _shell(rows: list[Row]) -> Iterator[str]:
    yield from (f"/bin/sh -c '{row['restore']}'" for row in rows)
