"""GPUs: what nvidia-smi and the files of amdgpu set, and what it is now.

nvidia-smi(1): power limits are in watts, application clocks are MEMORY,GRAPHICS in MHz, -i takes an index (in the order
of PCI addresses), a UUID or an address, several with commas. ECC mode is kept by the GPU, and a pending one comes with
the next reset. MIG mode is kept by Ampere GPUs; later ones start without it (NVIDIA MIG user guide, GPU reset).
Documentation/gpu/amdgpu/thermal.rst, Documentation/hwmon/sysfs-interface.rst: power1_cap is in microwatts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...records import replace
from .tunable import KERNEL, Default, Setter, Tunable, Value
from .tunable_facts import Facts, Kind, at
from .tunable_pci import DEVICES
from .tunable_setters import Setters
from .tunable_values import flag, number

NVIDIA = Kind("nvidia", ("nvidia-smi", "nvidia-settings", "nvidia-persistenced", "nvidia-mig-parted"))
AMD = Kind("amdgpu", ("rocm-smi", "amd-smi"))
KEPT = "kept by the GPU: the mode that comes with its next reset"
_MODES = {"0": "Default", "1": "Exclusive_Thread", "2": "Prohibited", "3": "Exclusive_Process",
          "default": "Default", "prohibited": "Prohibited", "exclusive_process": "Exclusive_Process"}
FILES = {"performance_level": "power_dpm_force_performance_level", "compute_partition": "current_compute_partition",
          "memory_partition": "current_memory_partition", "power_profile": "pp_power_profile_mode"}
Gpu = Mapping[str, Any]
Mean = Callable[[str], str | None]


def _switch(text: str) -> str | None:
    found = flag(text)
    return None if found is None else str(int(found))


def _milliwatts(text: str) -> str | None:
    watts = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?[wW]?", text)
    return str(round(float(watts[1]) * 1000)) if watts else None


def _pair(text: str) -> str:
    return ",".join(part.strip() for part in text.split(","))


OPTIONS: dict[str, tuple[tuple[str, ...], Mean]] = {  # option of nvidia-smi -> where it stands, and as what
    "power-limit": (("state", "power", "limit_mw"), _milliwatts),
    "persistence": (("state", "persistence"), _switch),
    "compute-mode": (("state", "compute_mode"), lambda text: _MODES.get(text.lower(), text)),
    "applications-clocks": (("state", "application_clocks"), _pair),
    "ecc": (("state", "ecc"), _switch),
    "mig": (("state", "mig"), _switch),
    "lock-gpu-clocks": (("state", "locked_clocks"), _pair),  # no driver tells these
    "lock-memory-clocks": (("state", "locked_memory_clocks"), _pair),
}


def nvidia(found: Setters) -> Iterator[Tunable]:
    """Each option of each GPU that nvidia-smi reports on, or that a line sets."""
    facts = Facts(found, NVIDIA)
    gpus: Mapping[str, Gpu] = found.table("nvidia").get("gpus", {})
    order = sorted(gpus, key=lambda key: str(gpus[key].get("address", "")))
    for key, gpu in gpus.items():
        architecture = {"architecture": word} if (word := at(gpu, ("state", "architecture"))) else None
        names = (str(order.index(key)), key, str(gpu.get("uuid", "")), str(gpu.get("address", "")))
        for option, (keys, mean) in OPTIONS.items():
            setters = [*_lines(found, option, names, mean), *_pending(gpu, option)]
            for tunable in facts.one(option, ("nvidia", "gpus", key, *keys), subject=key, setters=setters, show=_shown):
                tunable.default, tunable.facts = _default(gpu, option), architecture
                tunable.absent = tunable.absent and "no driver tells what it is"
                yield tunable


def _lines(found: Setters, option: str, names: tuple[str, ...], mean: Mean) -> Iterator[Setter]:
    for action in found.of("nvidia-smi"):
        if action.where[1:] == (option,) and action.value != "reset":
            chosen = _chosen(action.where[0], names)
            if chosen is not False:
                value = None if action.value is None else mean(action.value)
                yield found.setter(action, value, "" if chosen else "which GPU that is, is not known")


def _chosen(selector: str, names: tuple[str, ...]) -> bool | None:
    """Whether -i SELECTOR means the GPU with these names; None when that cannot be told."""
    if selector in ("", "all"):
        return True
    if "$" in selector:
        return None
    # an address has a domain of 8 digits here, 4 in the snapshot
    return any(word.strip() in names or word.strip().lower().removeprefix("0000") == names[3]
               for word in selector.split(","))


def _pending(gpu: Gpu, option: str) -> list[Setter]:
    """The mode that the GPU keeps, as a setter."""
    mode = at(gpu, ("state", f"{option}_pending")) if option in ("ecc", "mig") else None
    if mode is None or (option == "mig" and at(gpu, ("state", "architecture")) != "Ampere"):
        return []
    return [Setter("pending", {"text": f"{option} pending: {'on' if mode else 'off'}"}, str(int(mode)), rank=(KERNEL,),
                   assumes=KEPT)]


def _default(gpu: Gpu, option: str) -> Default | None:
    """What the driver says is its own default."""
    watts, clocks = at(gpu, ("state", "power", "default_mw")), at(gpu, ("state", "default_clocks"))
    if option == "power-limit" and watts is not None:
        return Default(watts, "nvidia-smi: default power limit of this GPU")
    if option == "applications-clocks" and clocks:
        return Default(_clocks(clocks), "nvidia-smi: default applications clocks of this GPU")
    return None


def _shown(value: Any) -> Value:
    found: Value = _clocks(value) if isinstance(value, Mapping) else value
    return found


def _clocks(table: Mapping[str, Any]) -> str:
    return ",".join(str(table.get(name, "?")) for name in ("memory_mhz", "graphics_mhz"))


def amdgpu(found: Setters) -> Iterator[Tunable]:
    """Performance level, power cap and partitions of each GPU."""
    facts = Facts(found, AMD)
    for key, gpu in found.table("amdgpu").get("gpus", {}).items():
        folders = [f"{DEVICES}/{gpu.get('address', '')}"]
        folders += [f"/sys/class/drm/{gpu[node]}/device" for node in ("card", "render") if node in gpu]
        for name, file in FILES.items():
            path = ("amdgpu", "gpus", key, name)
            yield from facts.one(file, path, *(f"{folder}/{file}" for folder in folders), subject=key)
        yield from _cap(facts, key, gpu, folders)


def _cap(facts: Facts, key: str, gpu: Gpu, folders: list[str]) -> Iterator[Tunable]:
    """The power cap; which number its monitor has is not recorded, and a GPU has one."""
    numbers = range(32) if facts.found.writes("power1_cap") else ()
    caps = [f"{folder}/hwmon/hwmon{number}/power1_cap" for folder in folders for number in numbers]
    setters = [replace(made, value=_divided(made.value)) for made in facts.found.file(*caps)]
    for tunable in facts.one("power1_cap", ("amdgpu", "gpus", key, "power_cap_mw"), subject=key, setters=setters):
        if "power_cap_default_mw" in gpu:
            tunable.default = Default(gpu["power_cap_default_mw"], "power1_cap_default of this GPU")
        yield tunable


def _divided(microwatts: str | None) -> str | None:
    found = number(microwatts or "")
    return None if found is None else str(found // 1000)
