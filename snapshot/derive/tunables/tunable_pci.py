"""PCI functions: MaxReadReq, ASPM, autonomous speed, ACS redirection, and run-time power management.

setpci(8); PCI Express Base Specification: Device Control at +8 of its capability (14:12 MaxReadReq, 128 bytes << code),
Link Control at +10h (1:0 ASPM), Link Control 2 at +30h (5 Hardware Autonomous Speed Disable), ACS Control at +6 of its
own (2 and 3 redirect requests and completions). setpci writes VALUE:MASK, or all bits without a mask; .B .W .L are 1, 2
and 4 bytes. A register by its plain address may be any of these, since the place of a capability is not recorded.
``pci=pcie_bus_perf`` sets MaxReadReq to MaxPayload (drivers/pci/probe.c, pcie_write_mrrs()).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...records import record
from ...regexes import regex
from .tunable import Path, Setter, Tunable, Value
from .tunable_facts import Facts, Kind, at
from .tunable_setters import Setters
from .tunable_words import meaning

if TYPE_CHECKING:
    from ..actions.action import Action

DEVICES = "/sys/bus/pci/devices"
REGISTERS, POWER = Kind("pci", ("setpci",), (("cmdline", ""),)), Kind("power", ("powertop", "tuned", "tuned-adm"))
_REGISTER = regex(r"(?:(E?CAP[_0-9A-Z]*)\+)?(?:0X)?([0-9A-F]{1,3})(?:\.([BWL]))?(?:@[0-9]+)?")
_WIDTHS = {"B": 8, "W": 16, "L": 32}
_NAMES = {"CAP_EXP": "CAP_EXP", "CAP10": "CAP_EXP", "ECAP_ACS": "ECAP_ACS", "ECAP000D": "ECAP_ACS", "ECAPD": "ECAP_ACS"}
DEVICES_UNKNOWN = "which functions that are is not known"
_HEADER = 0x40  # below it lie the registers that every function has
_IDS = regex(r"([0-9a-f]{4})?:([0-9a-f]{4})?(?::([0-9a-f]{1,6}))?")
_SLOT = regex(r"(?:(?:([0-9a-f]{1,8}):)?([0-9a-f]{0,2}):)?([0-9a-f]{0,2})(?:\.([0-7]?))?")
_OPERAND = regex(r"(?:0x)?([0-9a-f]{1,8})(?::(?:0x)?([0-9a-f]{1,8}))?", re.IGNORECASE)


@record(frozen=True)
class Field:
    """Bits of a register: LOW is the number of the first, counted from the start of the capability."""

    name: str
    keys: Path
    capability: str
    low: int
    bits: int
    mean: Callable[[int], str | None]


def _bytes(code: int) -> str | None:
    return str(128 << code) if code < 6 else None


def _states(code: int) -> str:
    return " ".join(name for bit, name in ((1, "L0s"), (2, "L1")) if code & bit) or "off"


ENDS = ("endpoint", "legacy endpoint", "root complex integrated endpoint")  # what a bridge reads matters to nobody
FIELDS = (
    Field("MaxReadReq", ("express", "max_read_request_bytes"), "CAP_EXP", 8 * 0x8 + 12, 3, _bytes),
    Field("ASPM", ("express", "link", "aspm"), "CAP_EXP", 8 * 0x10, 2, _states),
    Field("HASD", ("express", "link", "autonomous_speed_disabled"), "CAP_EXP", 8 * 0x30 + 5, 1, str),
    Field("ACSCtl.ReqRedir", ("acs", "request_redirect"), "ECAP_ACS", 8 * 6 + 2, 1, str),
    Field("ACSCtl.CmpltRedir", ("acs", "completion_redirect"), "ECAP_ACS", 8 * 6 + 3, 1, str),
)


def pci(found: Setters) -> Iterator[Tunable]:
    """The fields of each function, and its run-time power management."""
    facts, power = Facts(found, REGISTERS), Facts(found, POWER)
    functions: Mapping[str, Mapping[str, Any]] = found.table("pci").get("functions", {})
    actions = [action for action in found.of("setpci") if len(action.where) > 2]
    perf = [word for word in found.words.get("pci") if "pcie_bus_perf" in (word.value or "").split(",")]
    for address, function in functions.items():
        chosen = ((action, selects(action.where[0], address, function)) for action in actions)
        own = [(action, sure) for action, sure in chosen if sure is not False]
        for field in FIELDS:
            if at(function, field.keys) is not None and (field is not FIELDS[0] or function["express"]["type"] in ENDS):
                setters = [made for action, sure in own if (made := written(found, action, field, sure=bool(sure)))]
                setters += _perf(perf, function) if field is FIELDS[0] else ()
                path = ("pci", "functions", address, *field.keys)
                for tunable in facts.one(field.name, path, subject=address, setters=setters, show=shown):
                    tunable.facts = {"class": str(function.get("class_code", ""))}
                    yield tunable
    for address in found.table("power").get("runtime_pm", {}):
        path = ("power", "runtime_pm", address)
        yield from power.one("power/control", path, f"{DEVICES}/{address}/power/control", subject=address)


def shown(value: Any) -> Value:
    """A live value as one word or number: enabled states of ASPM are "L0s L1" or "off"."""
    if isinstance(value, list):
        return " ".join(map(str, value)) or "off"
    found: Value = value
    return found


def selects(selector: str, address: str, function: Mapping[str, Any]) -> bool | None:
    """Whether SELECTOR of setpci, its -s or -d, means a function; None when that cannot be told (a variable)."""
    text = selector.lower()
    if ids := _IDS.fullmatch(text):
        wanted = zip(ids.groups(), ("vendor", "device", "class_code"), strict=True)
        return all(str(function.get(name, "")).startswith(word) for word, name in wanted if word)
    slot, own = _SLOT.fullmatch(text), _SLOT.fullmatch(address)
    if not slot or not own or not text:
        return None
    given = (slot[1] or ("0" if slot[2] else None), *slot.groups()[1:])
    return all(not one or int(one, 16) == int(other, 16) for one, other in zip(given, own.groups(), strict=True))


def written(found: Setters, action: Action, field: Field, *, sure: bool = True) -> Setter | None:
    """What a setpci line makes of FIELD; None when it leaves it alone."""
    register = _REGISTER.fullmatch(action.where[1].upper())
    if register is None or (not register[1] and int(register[2], 16) >= _HEADER):
        return found.setter(action, None, "which register that is, is not recorded")
    if _NAMES.get(register[1] or "") != field.capability:
        return None
    bits = _bits(action.where[2])
    if bits is None or not register[3]:
        return found.setter(action, None, "the value or its width is not known")
    code = _covered(field, 8 * int(register[2], 16), _WIDTHS[register[3]], bits)
    if code is None:
        return None
    meant = field.mean(code) if code >= 0 else None
    return found.setter(action, meant, "" if sure else DEVICES_UNKNOWN)


def _covered(field: Field, first: int, width: int, bits: tuple[int, int | None]) -> int | None:
    """What a write of WIDTH bits, from bit FIRST of the capability on, puts into FIELD; None: nothing, -1: a part."""
    value, mask = bits[0], ((1 << width) - 1 if bits[1] is None else bits[1])
    whole = (1 << field.bits) - 1
    covered = (mask << first >> field.low) & whole
    if covered == 0:
        return None
    return (value << first >> field.low) & whole if covered == whole else -1


def _bits(text: str) -> tuple[int, int | None] | None:
    """Value and mask of an operand such as 5000:7000; None when it is a variable, or several values."""
    found = _OPERAND.fullmatch(text.strip())
    return (int(found[1], 16), int(found[2], 16) if found[2] else None) if found else None


def _perf(words: list[Setter], function: Mapping[str, Any]) -> list[Setter]:
    size = at(function, ("express", "max_payload_bytes"))
    return [meaning(word, None if size is None else str(size)) for word in words]
