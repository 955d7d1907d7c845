"""What nvidia-smi calls each fact of a GPU's state, in its XML and in its text, and how values are written.

nvidia-smi(1). Names move between versions (power_limit, enforced_power_limit -> requested_power_limit,
current_power_limit; clocks_throttle_reasons -> clocks_event_reasons; gpu_reset_status -> gpu_recovery_action): the
first that has a value counts. Values are words with units. N/A, or not supported, says that this GPU has no such thing;
what nvmlErrorString() of nvml.h says in place of a value says nothing about the GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import ParseError
from ..regexes import regex
from ..sections.nvidia import MigDevice, State

Path = tuple[str, ...]
Notes = dict[Path, str]

_NONE = ("", "N/A", "Not Supported", "Not Available")
_ERRORS = frozenset((
    "Uninitialized", "Invalid Argument", "Insufficient Permissions", "Already Initialized", "Not Found",
    "Insufficient Size", "Insufficient External Power", "Driver Not Loaded", "Timeout", "Interrupt Request Issue",
    "NVML Shared Library Not Found", "Function Not Found", "Corrupted infoROM", "GPU is lost", "GPU requires reset",
    "GPU access blocked by the operating system", "Driver/library version mismatch", "In use by another client",
    "Insufficient Memory", "No data", "Insufficient Resources", "Requested functionality has been deprecated",
    "Argument version mismatch", "Unknown Error", "ERR!", "Unknown",
))
_NUMBER = regex(r"([0-9]{1,12})(?:\.([0-9]{1,6}))? ?([A-Za-z%]*)")
_SWITCH = {"Enabled": True, "Yes": True, "On": True, "Disabled": False, "No": False, "Off": False}
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def _word(text: str) -> str:
    return text


def _switch(text: str) -> bool:
    if text not in _SWITCH:
        raise ParseError(text)
    return _SWITCH[text]


def _number(text: str, *units: str) -> tuple[int, int, str]:
    """Whole part, thousandths and unit."""
    found = _NUMBER.fullmatch(text)
    if not found or found[3] not in units:
        raise ParseError(text)
    return int(found[1]), int((found[2] or "0").ljust(3, "0")[:3]), found[3]


def _count(text: str) -> int:
    return _number(text, "")[0]


def _lanes(text: str) -> int:
    return _number(text, "x", "")[0]


def _mhz(text: str) -> int:
    return _number(text, "MHz")[0]


def _milliwatts(text: str) -> int:
    whole, thousandths, _ = _number(text, "W")
    return whole * 1000 + thousandths


def _bytes(text: str) -> int:
    whole, _, unit = _number(text, *_BYTES)
    return whole * _BYTES[unit]


_LINK, _TEXT_LINK = "pci/pci_gpu_link_info", "pci/gpu link info"
_POWER, _TEXT_POWER = ("gpu_power_readings", "power_readings"), ("gpu power readings", "power readings")


def _power(xml: str, text: str) -> tuple[str, ...]:
    return (*(f"{table}/{xml}" for table in _POWER), *(f"{table}/{text}" for table in _TEXT_POWER))


# path in the model, how a value is read, its names: XML elements below <gpu>, then the text's headings, lower case
FIELDS: tuple[tuple[Path, Callable[[str], Any], tuple[str, ...]], ...] = (
    (("architecture",), _word, ("product_architecture", "product architecture")),
    (("serial",), _word, ("serial", "serial number")),
    (("part_number",), _word, ("gpu_part_number", "gpu part number")),
    (("inforom",), _word, ("inforom_version/img_version", "inforom version/image version")),
    (("persistence",), _switch, ("persistence_mode", "persistence mode")),
    (("addressing_mode",), _word, ("addressing_mode", "addressing mode")),
    (("compute_mode",), _word, ("compute_mode", "compute mode")),
    (("virtualization",), _word, ("gpu_virtualization_mode/virtualization_mode",
                                  "gpu virtualization mode/virtualization mode")),
    (("ecc",), _switch, ("ecc_mode/current_ecc", "ecc mode/current")),
    (("ecc_pending",), _switch, ("ecc_mode/pending_ecc", "ecc mode/pending")),
    (("mig",), _switch, ("mig_mode/current_mig", "mig mode/current")),
    (("mig_pending",), _switch, ("mig_mode/pending_mig", "mig mode/pending")),
    (("memory_bytes",), _bytes, ("fb_memory_usage/total", "fb memory usage/total")),
    (("bar1_bytes",), _bytes, ("bar1_memory_usage/total", "bar1 memory usage/total")),
    (("power", "limit_mw"), _milliwatts, (*_power("current_power_limit", "current power limit"),
                                          *_power("enforced_power_limit", "enforced power limit"),
                                          *_power("power_limit", "power limit"))),
    (("power", "requested_mw"), _milliwatts, (*_power("requested_power_limit", "requested power limit"),
                                              *_power("power_limit", "power limit"))),
    (("power", "default_mw"), _milliwatts, _power("default_power_limit", "default power limit")),
    (("power", "min_mw"), _milliwatts, _power("min_power_limit", "min power limit")),
    (("power", "max_mw"), _milliwatts, _power("max_power_limit", "max power limit")),
    (("application_clocks", "graphics_mhz"), _mhz, ("applications_clocks/graphics_clock",
                                                    "applications clocks/graphics")),
    (("application_clocks", "memory_mhz"), _mhz, ("applications_clocks/mem_clock", "applications clocks/memory")),
    (("default_clocks", "graphics_mhz"), _mhz, ("default_applications_clocks/graphics_clock",
                                                "default applications clocks/graphics")),
    (("default_clocks", "memory_mhz"), _mhz, ("default_applications_clocks/mem_clock",
                                              "default applications clocks/memory")),
    (("max_clocks", "graphics_mhz"), _mhz, ("max_clocks/graphics_clock", "max clocks/graphics")),
    (("max_clocks", "memory_mhz"), _mhz, ("max_clocks/mem_clock", "max clocks/memory")),
    (("max_boost_mhz",), _mhz, ("max_customer_boost_clocks/graphics_clock", "max customer boost clocks/graphics")),
    (("pcie", "max_generation"), _count, (f"{_LINK}/pcie_gen/max_link_gen", f"{_TEXT_LINK}/pcie generation/max")),
    (("pcie", "device_max_generation"), _count, (f"{_LINK}/pcie_gen/max_device_link_gen",
                                                 f"{_TEXT_LINK}/pcie generation/device max")),
    (("pcie", "host_max_generation"), _count, (f"{_LINK}/pcie_gen/max_host_link_gen",
                                               f"{_TEXT_LINK}/pcie generation/host max")),
    (("pcie", "generation"), _count, (f"{_LINK}/pcie_gen/current_link_gen", f"{_TEXT_LINK}/pcie generation/current")),
    (("pcie", "max_width"), _lanes, (f"{_LINK}/link_widths/max_link_width", f"{_TEXT_LINK}/link width/max")),
    (("pcie", "width"), _lanes, (f"{_LINK}/link_widths/current_link_width", f"{_TEXT_LINK}/link width/current")),
    (("health", "recovery_action"), _word, ("gpu_recovery_action", "gpu recovery action")),
    (("health", "reset_required"), _switch, ("gpu_reset_status/reset_required", "gpu reset status/reset required")),
    (("health", "drain_and_reset_recommended"), _switch, ("gpu_reset_status/drain_and_reset_recommended",
                                                          "gpu reset status/drain and reset recommended")),
    (("health", "remapped_rows_pending"), _switch, ("remapped_rows/remapped_row_pending", "remapped rows/pending")),
    (("health", "remapped_rows_failed"), _switch, ("remapped_rows/remapped_row_failure",
                                                   "remapped rows/remapping failure occurred")),
    (("health", "retired_pages_pending"), _switch, (
        "retired_pages/pending_retirement", "retired_pages/pending_blacklist", "retired pages/pending page blacklist")),
    (("health", "channel_repair_pending"), _switch, ("ecc_errors/channel_repair_pending",
                                                     "ecc errors/channel repair pending")),
    (("health", "tpc_repair_pending"), _switch, ("ecc_errors/tpc_repair_pending", "ecc errors/tpc repair pending")),
    (("health", "unrepairable_memory"), _switch, ("ecc_errors/unrepairable_memory",
                                                  "ecc errors/unrepairable memory")),
    (("fabric", "state"), _word, ("fabric/state",)),
    (("fabric", "status"), _word, ("fabric/status",)),
    (("fabric", "health"), _word, ("fabric/health/summary",)),
    (("performance_state",), _word, ("performance_state", "performance state")),
)
_RESETS = (("health", "reset_required"), ("health", "drain_and_reset_recommended"))
_MIG: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gpu", ("gpu_instance_id", "gpu instance id")), ("compute", ("compute_instance_id", "compute instance id")),
    ("multiprocessors", ("device_attributes/shared/multiprocessor_count",
                         "device attributes/shared/multiprocessor count")),
    ("memory_bytes", ("fb_memory_usage/total", "shared fb memory usage/total", "fb memory usage/total")),
)
_REASONS = regex(
    r"(?:clocks_(?:event|throttle)_reasons/clocks_(?:event|throttle)_reason_|clocks (?:event|throttle) reasons/)(.+)"
)


def state_of(values: Mapping[str, str], mig: Iterable[Mapping[str, str]]) -> tuple[State, Notes]:
    """A GPU's state from its facts by name, and why facts that nvidia-smi has no value for are unknown.

    A table of which nothing is known has one reason. Values that cannot be read are such reasons too.
    """
    found: dict[str, Any] = {}
    notes: Notes = {}
    for path, convert, names in FIELDS:
        value, reason = _value(values, convert, names)
        if value is not None:
            (found if len(path) == 1 else found.setdefault(path[0], {}))[path[-1]] = value
        elif reason:
            notes[path] = reason
    if "recovery_action" in found.get("health", {}):  # tells what these told
        notes = {path: reason for path, reason in notes.items() if path not in _RESETS}
    notes = {path if path[0] in found else path[:1]: reason for path, reason in notes.items()}
    found["throttle_reasons"] = _reasons(values)
    found["mig_devices"] = _mig_devices(mig) or None
    return State.make(found), notes


def meant(text: str) -> tuple[str | None, str]:
    """A value's text and an empty word; None and the reason when it is an error, both empty when there is no value."""
    bare = text.strip().removeprefix("[").removesuffix("]").strip()
    if bare in _NONE:
        return None, ""
    return (None, bare) if bare in _ERRORS else (text.strip(), "")


def _value(values: Mapping[str, str], convert: Callable[[str], Any], names: tuple[str, ...]) -> tuple[Any, str]:
    why = ""
    for name in names:
        text, reason = meant(values.get(name, ""))
        if text is not None:
            try:
                return convert(text), ""
            except ParseError:
                reason = f"not understood: {text[:80]!r}"
        why = why or reason
    return None, why


def _reasons(values: Mapping[str, str]) -> list[str] | None:
    """The reasons that are active, as XML names them; None when nvidia-smi tells of none."""
    told = {found[1]: value for name, value in values.items() if (found := _REASONS.fullmatch(name))}
    if not {"Active", "Not Active"} & set(told.values()):
        return None
    names = (name.rsplit("/", 1)[-1].replace(" ", "_") for name, value in told.items() if value == "Active")
    return sorted(name for name in names if name not in ("gpu_idle", "idle"))


def _mig_devices(mig: Iterable[Mapping[str, str]]) -> dict[str, MigDevice]:
    devices = {}
    for values in mig:
        texts = {key: _value(values, _bytes if key == "memory_bytes" else _count, names)[0] for key, names in _MIG}
        if None not in (texts["gpu"], texts["compute"]):
            key = f"{texts.pop('gpu')}/{texts.pop('compute')}"
            devices[key] = MigDevice.make(texts)
    return dict(sorted(devices.items()))
