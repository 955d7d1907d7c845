"""The amdgpu driver and its GPUs, from /sys/module/amdgpu, the GPUs' PCI folders and /sys/class/kfd; ROCm, from /opt.

Documentation/gpu/amdgpu/ (driver-misc, thermal), Documentation/hwmon/sysfs-interface.rst; kfd_topology.c prints
properties as lines "name number". gfx_target_version counts decimal (90010) what the name counts hexadecimal (gfx90a).
Of a partitioned GPU every partition is a node, with a render minor of its own; the first is the GPU's.
power_dpm_force_performance_level, pp_power_profile_mode and hwmon can wake a GPU that sleeps (amdgpu_pm.c resumes it to
answer), so they are left alone then. The profile in use is marked * in one of several layouts: a line each, or, of
SMU 13.0.7, all in the first line (smu_v13_0_7_get_power_profile_mode(), with numbers since Linux 6.12).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ..errors import AbsentError
from ..regexes import regex
from ..sections.amdgpu import Amdgpu, Gpu
from .base import Reading, Reads, decode, why
from .identity import move_unread
from .pci_address import sysfs_address

MODULES, DRIVER, DEVICES = "/sys/module", "/sys/bus/pci/drivers/amdgpu", "/sys/bus/pci/devices"
KFD = "/sys/class/kfd/kfd/topology/nodes"
_PARAMETERS = ("aspm", "gpu_recovery", "mes", "noretry", "ppfeaturemask", "runpm")
_WORDS = {  # fact -> file
    "unique_id": "unique_id", "name": "product_name", "vbios": "vbios_version",
    "compute_partition": "current_compute_partition", "memory_partition": "current_memory_partition",
}
_SIZES = {"vram_bytes": "mem_info_vram_total", "visible_vram_bytes": "mem_info_vis_vram_total"}
_LEVEL, _PROFILE = "power_dpm_force_performance_level", "pp_power_profile_mode"
_CAPS = {"power_cap_mw": "power1_cap", "power_cap_default_mw": "power1_cap_default"}
READS = Reads(
    paths=(
        MODULES, f"{MODULES}/amdgpu/version", *(f"{MODULES}/amdgpu/parameters/{name}" for name in _PARAMETERS),
        DRIVER, f"{DEVICES}/*/drm", f"{DEVICES}/*/hwmon", f"{DEVICES}/*/power/runtime_status",
        *(f"{DEVICES}/*/{file}" for file in (*_WORDS.values(), *_SIZES.values(), _LEVEL, _PROFILE)),
        *(f"{DEVICES}/*/hwmon/*/{file}" for file in _CAPS.values()),
        KFD, f"{KFD}/*/properties", "/opt", "/opt/rocm/.info/version",
    ),
)
_ACTIVE = regex(r"^[ \t]*+[0-9]{1,3}+[ \t]*+\(?[ \t]*+([A-Z0-9_]{1,40}?)[ \t]*+\*", re.MULTILINE)
_IN_ROW = regex(r"[^\n]*?(?<![A-Z0-9_])([A-Z0-9_]{1,40}+) {0,14}\*")
_ASLEEP = "the GPU sleeps, and reading it could wake it"


def collect(reading: Reading) -> Amdgpu:
    """The section. AbsentError when the module is not loaded."""
    modules = reading.list(MODULES)
    if modules and "amdgpu" not in modules:
        raise AbsentError(f"no module amdgpu in {MODULES}")
    if not modules:
        reading.settle(False, MODULES, "not there")
        return Amdgpu()
    targets, hidden = _targets(reading)
    opt = [name for name in reading.list("/opt", "rocm_installed") if re.fullmatch(r"rocm-[0-9][\w.-]*", name)]
    gpus = [_gpu(reading, address, targets) for address in _addresses(reading)]
    for gpu in gpus if hidden else ():
        if not gpu.target:
            reading.unread(("gpus", str(gpu.address), "target"), KFD, hidden)
    return Amdgpu(
        version=reading.text(f"{MODULES}/amdgpu/version", "version") or None,
        parameters=_parameters(reading) or None, kfd=reading.stat(KFD, "kfd") is not None,
        rocm=(reading.text("/opt/rocm/.info/version", "rocm") or "").strip() or None, rocm_installed=opt or None,
        gpus=_keyed(reading, gpus) or None,
    )


def _addresses(reading: Reading) -> list[str]:
    return [name for name in reading.list(DRIVER, "gpus") if sysfs_address(name) == name]


def _parameters(reading: Reading) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    for name in _PARAMETERS:
        text = reading.text(f"{MODULES}/amdgpu/parameters/{name}", "parameters", name)
        if text is not None:
            found[name] = int(text) if re.fullmatch("-?[0-9]{1,18}", text) else text
    return found


def _gpu(reading: Reading, address: str, targets: Mapping[str, str]) -> Gpu:
    folder, fact = f"{DEVICES}/{address}", ("gpus", address)
    nodes = reading.list(f"{folder}/drm", *fact, "render")
    render = _first(nodes, "renderD")
    found: dict[str, object] = {
        "address": address, "card": _first(nodes, "card"), "render": render, "target": targets.get(render or "")
    }
    for name, file in _WORDS.items():
        found[name] = (reading.text(f"{folder}/{file}", *fact, name) or "").strip() or None
    for name, file in _SIZES.items():
        found[name] = _number(reading, f"{folder}/{file}", *fact, name)
    status = reading.attempt(f"{folder}/power/runtime_status")
    if not isinstance(status, OSError) and decode(status).strip() in ("suspended", "suspending"):
        for name in ("performance_level", "power_profile", *_CAPS):
            reading.unread((*fact, name), f"{folder}/power/runtime_status", _ASLEEP)
    else:
        found |= _power(reading, folder, fact)
    return Gpu.make(found)


def _power(reading: Reading, folder: str, fact: tuple[str, ...]) -> dict[str, object]:
    table = reading.text(f"{folder}/{_PROFILE}", *fact, "power_profile")
    profile = parse_profile(table or "")
    if table and not profile:
        reading.unread((*fact, "power_profile"), f"{folder}/{_PROFILE}", "no profile is marked")
    level = (reading.text(f"{folder}/{_LEVEL}", *fact, "performance_level") or "").strip()
    found: dict[str, object] = {"performance_level": level or None, "power_profile": profile}
    for monitor in reading.list(f"{folder}/hwmon", *fact, "power_cap_mw")[:1]:
        for name, file in _CAPS.items():
            microwatts = _number(reading, f"{folder}/hwmon/{monitor}/{file}", *fact, name)
            found[name] = None if microwatts is None else microwatts // 1000
    return found


def _number(reading: Reading, path: str, *fact: str) -> int | None:
    text = reading.text(path, *fact)
    if text is None:
        return None
    if re.fullmatch("[0-9]{1,18}", number := text.strip()):
        return int(number)
    reading.unread(fact, path, f"no number: {text[:80]!r}")
    return None


def _first(nodes: Iterable[str], prefix: str) -> str | None:
    numbers = [int(n.removeprefix(prefix)) for n in nodes if re.fullmatch(f"{prefix}[0-9]{{1,6}}", n)]
    return f"{prefix}{min(numbers)}" if numbers else None


def _keyed(reading: Reading, gpus: list[Gpu]) -> dict[str, Gpu]:
    """By unique id where no two share it; what was noted by address goes along."""
    shared = Counter(gpu.unique_id for gpu in gpus)
    keys = {gpu.address: gpu.unique_id if gpu.unique_id and shared[gpu.unique_id] == 1 else gpu.address for gpu in gpus}
    move_unread(reading, "gpus", {str(address): str(key) for address, key in keys.items()})
    return dict(sorted((str(keys[gpu.address]), gpu) for gpu in gpus))


def _targets(reading: Reading) -> tuple[dict[str, str], str]:
    """Render node -> instruction set, of the compute driver's nodes; and why some node did not tell."""
    found: dict[str, str] = {}
    hidden = ""
    for node in reading.list(KFD, "kfd"):
        content = reading.attempt(f"{KFD}/{node}/properties")
        if isinstance(content, OSError):
            hidden = why(content)
            continue
        properties = parse_properties(decode(content))
        target = gfx_name(properties.get("gfx_target_version", 0))
        if target and "drm_render_minor" in properties:
            found[f"renderD{properties['drm_render_minor']}"] = target
    return found, hidden


def parse_properties(text: str) -> dict[str, int]:
    """The numbers of a compute node by name; other lines are left out."""
    pairs = (line.split() for line in text.splitlines())
    return {p[0]: int(p[1]) for p in pairs if len(p) == 2 and re.fullmatch("[0-9]{1,20}", p[1])}


def gfx_name(version: int) -> str | None:
    """gfx90a for 90010, as LLVM names the instruction set; None for a CPU's 0."""
    major, minor, step = version // 10000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{step:x}" if major else None


def parse_profile(text: str) -> str | None:
    """The profile that pp_power_profile_mode marks; None when it marks none."""
    found = _ACTIVE.search(text) or _IN_ROW.match(text)
    return found[1] if found else None
