"""The registers of a PCI function without waking it, from /sys/bus/pci/devices/*/config.

Documentation/power/pci.rst, Documentation/ABI/testing/sysfs-bus-pci.

Reading config wakes what sleeps: it resumes a function in D3cold, and always the bridge above it
(pci_config_pm_runtime_get in drivers/pci/pci-sysfs.c). So power_state and the bridges' runtime_status are read first,
and the registers of a sleeping function stay unread; in D3hot they can be read as they are. current_link_*, max_link_*
and the bus numbers of a bridge read registers too and are never touched. vendor, class and the like show what the
kernel remembers: they serve where config is silent, asleep, dead or a virtual function's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..sections.pci import Function
from .base import Content, Reading, decode, why
from .pci_config import parse_config
from .pci_facts import IDS, REGISTERS, Decoded, combine, gaps
from .pci_space import CONVENTIONAL, EXPRESS, LIMIT, Space
from .pci_sysfs import DEVICES

_TOGETHER = 16  # functions that are asked for at once: when the time is over, all before them have been read
SUSPENDED = frozenset({"suspended", "suspending"})


def find_asleep(reading: Reading, bridges: Mapping[str, list[str]]) -> dict[str, str]:
    """Address -> why the registers of the function cannot be read without waking something; BRIDGES are those above."""
    own = {address: word for address in bridges if (word := _sleep(reading, address))}
    above = {bridge for chain in bridges.values() for bridge in chain}
    idle = own.keys() | {bridge for bridge in above if _word(reading, bridge, "power/runtime_status") in SUSPENDED}
    below = [address for address, chain in bridges.items() if not idle.isdisjoint(chain)]
    return dict.fromkeys(below, "asleep (its bridge is suspended)") | own


def _sleep(reading: Reading, address: str) -> str:
    state = _word(reading, address, "power_state")
    if state == "D3cold":
        return "asleep (D3cold)"
    if not state and _word(reading, address, "power/runtime_status") in SUSPENDED:  # an older kernel
        return "asleep (suspended)"
    return ""


def _word(reading: Reading, address: str, name: str) -> str:
    content = reading.attempt(f"{DEVICES}/{address}/{name}")
    return "" if isinstance(content, OSError) else decode(content).strip()


def read_registers(reading: Reading, addresses: Iterable[str], asleep: Mapping[str, str]) -> dict[str, Decoded]:
    """Address -> what config says, unless the function is ASLEEP, and what the kernel knows where config is silent."""
    awake = [address for address in addresses if address not in asleep]
    known: dict[str, Content | str] = {**asleep}
    for at in range(0, len(awake), _TOGETHER):
        known |= _spaces(reading, awake[at : at + _TOGETHER])
    return {address: _registers(reading, address, known[address]) for address in addresses}


def _registers(reading: Reading, address: str, content: Content | str) -> Decoded:
    """Of one function; CONTENT is its configuration space, or why that is not read."""
    path = f"{DEVICES}/{address}/config"
    if isinstance(content, bytes):
        found = parse_config(content, path)
    else:
        reason = content if isinstance(content, str) else why(content)
        found = Decoded(Function(source="sysfs"), gaps(REGISTERS, path, reason))
    unknown = [name for name in IDS if found.unknown(name)]
    if not unknown:
        return found
    known = combine(found, _ids(reading, address, unknown))
    link = reading.readlink(f"{DEVICES}/{address}/physfn", "functions", address, "physical_function")
    physical = link.rpartition("/")[2] if link else None
    return Decoded(known.function.copy(physical_function=physical), known.gaps)


def _spaces(reading: Reading, addresses: Iterable[str]) -> dict[str, Content]:
    """Configuration space of each function, as far as it has one. Each dword beyond the page cache is a cycle on the
    bus, and only a PCI Express function has more than the first 256 bytes."""
    paths = {f"{DEVICES}/{address}/config": address for address in addresses}
    heads = reading.heads([*paths], CONVENTIONAL)
    more = [path for path, head in heads.items() if isinstance(head, bytes) and len(head) == CONVENTIONAL
            and EXPRESS in Space(head).capabilities]
    return {paths[path]: content for path, content in {**heads, **reading.heads(more, LIMIT)}.items()}


def _ids(reading: Reading, address: str, names: list[str]) -> Decoded:
    """What the kernel remembers of the header; of a virtual function, what it knows better."""
    found: dict[str, str] = {}
    for name in names:
        match = re.fullmatch("0x([0-9a-f]{2,6})", _word(reading, address, name.removesuffix("_code")))
        found |= {name: match[1]} if match else {}
    missing = gaps((n for n in REGISTERS if n not in found), f"{DEVICES}/{address}", "not there")
    if found.get("subsystem_vendor") == "0000" == found.get("subsystem_device"):
        del found["subsystem_vendor"], found["subsystem_device"]
    return Decoded(Function.make({**found, "source": "sysfs"}), missing)
