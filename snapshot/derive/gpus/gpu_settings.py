"""What gives each NVIDIA GPU its settings of before again, and its VBIOS against that of its like: nvidia, units.

nvidia-smi(1): -pl takes watts, -ac MEMORY,GRAPHICS in MHz, -c the number of a compute mode. NVML API reference,
nvmlDeviceSetPowerManagementLimit(), nvmlDeviceSetComputeMode(): none of them outlasts a reboot or the driver.
Application clocks that the driver no longer tells are none; those that could not be read are unknown.

Row keys, by the key of section nvidia's gpus; a key without a value is missing:
    gpu              what nvidia-smi -i takes: UUID, else PCI address
    was_set          settings that were not the driver's default before: power-limit, compute-mode, applications-clocks
    power_restore, compute_restore, clocks_restore   the command that sets it as before (of those in was_set)
    power_keep, compute_keep, clocks_keep            commands that install a unit which does so for all such GPUs
    asked            {setting: FILE:LINE} what sets it at boot to what it is now; also persistence, ecc, mig
    not_taken        {setting: FILE:LINE} what sets it at boot to something that it is not
    clocks, clocks_before, clocks_default   application clocks, "MEMORY,GRAPHICS" in MHz
    ecc, ecc_before, mig, mig_before        on or off
    mig_count, mig_count_before             how many MIG devices there are and were
    mig_left         mig_count, where MIG mode is on and was
    vbios_was        video BIOS of the same GPU before, where that was another
    vbios_usual      what more than half of the GPUs of its part number have, where it has another
    inforom_fault    in words, where nvidia-smi warns that the InfoROM is corrupted
    unknown          {key: {source, why}} of keys above that could not be told
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...records import record
from ...regexes import regex
from ...sections.nvidia import Gpu
from ...sections.shape import of_model
from ..actions.boot_unit import install
from ..facts import Derived
from ..pci.pci_tree import moves
from ..tunables.tunable_gpus import nvidia
from .gpu_boot import boot_lines

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]
DEPRECATED = "Requested functionality has been deprecated"  # nvmlErrorString() of what a driver no longer tells
MODES = {"Exclusive_Thread": "1", "Prohibited": "2", "Exclusive_Process": "3"}
_SELECTOR = regex(r"[\w:.-]+", re.ASCII)


@record(frozen=True)
class Setting:
    """An option of nvidia-smi. VALUE is its operand where a GPU's state is not the driver's default, else None."""

    name: str
    start: str  # of its row keys
    option: str
    value: Callable[[Table], str | None]


def _power(state: Table) -> str | None:
    limit, default = (state.get("power", {}).get(key) for key in ("limit_mw", "default_mw"))
    return f"{limit / 1000:g}" if limit and default and limit != default else None


def _clocks(table: Table) -> str | None:
    pair = [table.get(name) for name in ("memory_mhz", "graphics_mhz")]
    return None if None in pair else ",".join(map(str, pair))


def _set_clocks(state: Table) -> str | None:
    now, default = (_clocks(state.get(key, {})) for key in ("application_clocks", "default_clocks"))
    return now if default and now != default else None


SETTINGS = (
    Setting("power-limit", "power", "-pl", _power),
    Setting("compute-mode", "compute", "-c", lambda state: MODES.get(state.get("compute_mode", ""))),
    Setting("applications-clocks", "clocks", "-ac", _set_clocks),
)


def gpu_settings(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each GPU that the NVIDIA driver has; none where these were not read."""
    now, then = _gpus(after), _gpus(before) if before else {}
    olds = pair(then, now, of_model(Gpu), moves(before, after)).before_of
    rows = {key: _row(after, key, gpu, now) for key, gpu in now.items()}
    for key, old in olds.items():
        if before:
            _compare(rows[key], now[key], before, old, then[old])
    _settings(rows, {key: then[old].get("state", {}) for key, old in olds.items()})
    for (key, name), line in boot_lines(after, nvidia).items() if rows else ():
        rows[key].setdefault("asked" if line.holds else "not_taken", {})[name] = line.place
    return Derived({key: {k: v for k, v in row.items() if v not in (None, {})} for key, row in rows.items()})


def _gpus(snapshot: Snapshot) -> dict[str, Any]:
    found: dict[str, Any] = snapshot.table("nvidia").get("gpus", {})
    return found


def _row(after: Snapshot, key: str, gpu: Table, gpus: Mapping[str, Table]) -> Row:
    told, unknown = _told(after, key, gpu, "")
    state, gap = gpu.get("state", {}), after.unread("nvidia", ("gpus", key, "vbios"))
    if gap and "vbios" not in gpu:
        unknown |= {name: {"source": gap.source, "why": gap.why} for name in ("vbios_was", "vbios_usual")}
    return {"gpu": gpu.get("uuid") or gpu.get("address") or key, **told, "unknown": unknown,
            "clocks_default": _clocks(state.get("default_clocks", {})), "vbios_usual": _usual(gpu, gpus),
            "inforom_fault": "the InfoROM is corrupted" if state.get("inforom_corrupted") else None}


def _compare(row: Row, gpu: Table, before: Snapshot, key: str, was: Table) -> None:
    """Adds to ROW, that of GPU, what the same GPU, WAS, was before."""
    told, unknown = _told(before, key, was, "_before")
    if "state" not in was and (gap := before.unread("nvidia", ("gpus", key, "state"))):
        unknown["was_set"] = {"source": gap.source, "why": gap.why}
    row |= told | {"unknown": row["unknown"] | unknown}
    if row.get("mig") == told.get("mig_before") == "on":
        row["mig_left"] = row["mig_count"]
    if "vbios" in gpu and was.get("vbios", gpu["vbios"]) != gpu["vbios"]:
        row["vbios_was"] = was["vbios"]


def _told(snapshot: Snapshot, key: str, gpu: Table, end: str) -> tuple[Row, Row]:
    """Clocks, modes and MIG devices, and why they are unknown; END is that of the row's keys."""
    state, row, unknown = gpu.get("state"), Row(), Row()
    row[f"clocks{end}"] = _clocks((state or {}).get("application_clocks", {}))
    row[f"mig_count{end}"] = None if state is None else len(state.get("mig_devices", {}))
    row |= {f"{mode}{end}": "on" if state[mode] else "off" for mode in ("ecc", "mig") if state and mode in state}
    for name, fact in (("clocks", "application_clocks"), ("mig_count", "mig_devices")):
        gap = snapshot.unread("nvidia", ("gpus", key, "state", fact)) if fact not in (state or {}) else None
        if gap and gap.why != DEPRECATED:
            unknown[name + end] = {"source": gap.source, "why": gap.why}
            row[name + end] = None
    return row, unknown


def _usual(gpu: Table, gpus: Mapping[str, Table]) -> str | None:
    """The VBIOS that most GPUs of the same part number have; None when it is this one's, or none."""
    number = gpu.get("state", {}).get("part_number")
    if number is None or "vbios" not in gpu:
        return None
    alike = [other.get("vbios") for other in gpus.values() if other.get("state", {}).get("part_number") == number]
    [(version, count)] = Counter(alike).most_common(1)
    return version if version != gpu["vbios"] and 2 * count > len(alike) else None


def _settings(rows: dict[str, Row], states: Mapping[str, Table]) -> None:
    """Adds to ROWS what sets again what was set, by the STATES of before."""
    for setting in SETTINGS:
        commands = dict(_commands(setting, rows, states))
        keep = install(f"hostsnap-nvidia-{setting.name}", f"NVIDIA {setting.name.replace('-', ' ')}",
                       (f"/usr/bin/{command}" for command in commands.values()), "nvidia-persistenced.service")
        for key, command in commands.items():
            rows[key] |= {f"{setting.start}_restore": command, f"{setting.start}_keep": keep}
            rows[key].setdefault("was_set", []).append(setting.name)


def _commands(setting: Setting, rows: Mapping[str, Row], states: Mapping[str, Table]) -> Iterator[tuple[str, str]]:
    for key, state in sorted(states.items()):
        value, gpu = setting.value(state), rows[key]["gpu"]
        if value is not None and _SELECTOR.fullmatch(gpu):
            yield key, f"nvidia-smi -i {gpu} {setting.option} {value}"
