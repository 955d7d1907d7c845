"""PCI functions, from /sys/bus/pci and, where that gives no registers, from lspci.

Documentation/PCI/sysfs-pci.rst, Documentation/ABI/testing/sysfs-bus-pci, lspci(8).

The files here but config show what the kernel remembers and wake nothing (pci_registers says more). lspci reads every
function's registers: a live host runs it only where config cannot be read, one command, and only when nothing sleeps.
A recording may hold the output of any of several commands: what one leaves open the next may tell.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TypeVar

from ..errors import AbsentError, ParseError
from ..host.base import Command, Result
from ..records import field, record
from ..sections.pci import Aer, Function, Pci
from .base import Reading, Reads, decode, why
from .pci_facts import CAPABILITIES, DEAD, PLACE, Decoded, Gap, combine, gaps
from .pci_ids import FILES, find_name
from .pci_registers import find_asleep, read_registers
from .pci_sysfs import ADDRESS, DEVICES, find_slot, parse_number, parse_place, parse_resource, parse_slots, parse_total

SLOTS = "/sys/bus/pci/slots/*/address"
FIRMWARE_NODE = "/sys/devices/*/firmware_node/path"  # Documentation/ABI/testing/sysfs-bus-acpi
LSPCI = tuple(
    ("lspci", *words.split())
    for words in (
        "-D -nn -vvv -xxxx", "-D -nnvvv -xxxx", "-D -nnvvvxxxx", "-nnDvvvxxxx", "-nnDvvvxxx", "-D -vvv -xxxx",
        "-vvv -xxxx", "-vvvxxxx", "-nnvvv", "-nn -vvv", "-vvvnn", "-vvv", "-vv", "-D -nnk", "-nnk", "-vmmkn",
        "-Dnn", "-nn", "-k",
    )
)
READS = Reads(
    paths=(
        "/sys/bus", DEVICES, f"{DEVICES}/*", SLOTS, FIRMWARE_NODE, *FILES,
        *(f"{DEVICES}/*/{name}" for name in (
            "config", "resource", "numa_node", "driver", "iommu_group", "physfn", "power_state",
            "power/runtime_status", "vendor", "device", "subsystem_vendor", "subsystem_device", "class", "revision",
            "aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal",
        )),
    ),
    commands=LSPCI,
    root="everything beyond the header of a function: link, MaxPayload, MaxReadReq, ASPM, ACS, resizable BARs, serial",
)
T = TypeVar("T")
Steps = Generator[tuple[Command, ...], Mapping[Command, Result], Pci]


@record()
class _Layout:
    """What is read of all functions before the registers of the first."""

    bridges: dict[str, list[str]]
    paths: dict[str, str]
    slots: dict[str, str]
    slots_unread: list[Gap] = field(default_factory=list)


def collect(reading: Reading) -> Steps:
    """Every function that the kernel lists; a recording without the kernel's list may hold lspci's instead.

    AbsentError when the kernel has no PCI bus, or nothing on it.
    """
    addresses = [name for name in reading.list(DEVICES, "functions") if ADDRESS.fullmatch(name)]
    host = _host(reading, addresses)
    asleep = find_asleep(reading, host.bridges)
    registers = read_registers(reading, addresses, asleep)
    commands = _commands(reading, registers, bool(asleep))
    listed = _listed((yield commands)) if commands else {}
    if not addresses and not listed:
        _nothing(reading)
    functions = {address: _known(reading, address, registers[address], listed, host) for address in addresses}
    functions |= {address: _only_listed(reading, address, listed) for address in listed.keys() - functions.keys()}
    return Pci(functions=_named(reading, dict(sorted(functions.items()))))


def _nothing(reading: Reading) -> None:
    if reading.unreads:
        return
    if reading.stat(DEVICES, "functions"):
        raise AbsentError(f"{DEVICES} is empty")
    if reading.list("/sys/bus", "functions"):
        raise AbsentError(f"/sys/bus has no pci, {DEVICES} is not there")
    reading.unread(("functions",), DEVICES, "ENOENT")


def _host(reading: Reading, addresses: list[str]) -> _Layout:
    host = _Layout({}, {}, {})
    roots: dict[str, str] = {}
    for address in addresses:
        link = reading.readlink(f"{DEVICES}/{address}", "functions", address, "path")
        root, chain = parse_place(link or "")
        host.bridges[address] = chain[:-1]
        if chain:
            if root not in roots:
                roots[root] = _root(reading, root)
            start = roots[root] or chain[0].split(":")[0]
            host.paths[address] = "/".join((start, *(part.rsplit(":", 1)[1] for part in chain)))
        else:
            _note(reading, address, gaps(PLACE[:2], f"{DEVICES}/{address}", "the link does not say where it is"))
    contents = {}
    for path in reading.glob(SLOTS, "functions"):
        content = reading.attempt(path)
        if isinstance(content, OSError):
            host.slots_unread.append(Gap(("slot",), path, why(content)))
        else:
            contents[path.split("/")[-2]] = decode(content)
    host.slots = parse_slots(contents)
    return host


def _root(reading: Reading, root: str) -> str:
    """What the firmware calls a root bus, since all roots of one segment may look alike; "" when it has no name."""
    name = reading.attempt(FIRMWARE_NODE.replace("*", root)) if root else b""
    return "" if isinstance(name, OSError) else decode(name).strip()


def _commands(reading: Reading, registers: Mapping[str, Decoded], asleep: bool) -> tuple[Command, ...]:
    if reading.host.source != "live":
        lacking = any(found.unknown(field) for found in registers.values() for field in CAPABILITIES)
        return tuple(map(Command, LSPCI)) if lacking or not registers else ()
    reasons = {g.why for found in registers.values() if found.function.source == "sysfs" for g in found.gaps}
    return (Command(LSPCI[0]),) if reasons - {DEAD} and "timeout" not in reasons and not asleep else ()


def _listed(results: Mapping[Command, Result]) -> dict[str, Decoded]:
    from .lspci import parse_lspci  # seldom needed

    listed: dict[str, Decoded] = {}
    for command, result in results.items():
        for address, found in parse_lspci(decode(result.stdout), " ".join(command.argv)).items():
            listed[address] = combine(listed[address], found) if address in listed else found
    return listed


def _known(
    reading: Reading, address: str, found: Decoded, listed: Mapping[str, Decoded], host: _Layout
) -> Function:
    if address in listed and not any(gap.why == DEAD for gap in found.gaps):
        found = combine(found, listed[address])
    _note(reading, address, found.gaps)
    update = _system(reading, address) | {"aer": _aer(reading, address, found)}
    update |= {"bridges": host.bridges[address], "path": host.paths[address]} if address in host.paths else {}
    slot = find_slot(host.slots, address)
    if slot is None:
        _note(reading, address, host.slots_unread)
    return found.function.copy(**update, slot=slot)


def _only_listed(reading: Reading, address: str, listed: Mapping[str, Decoded]) -> Function:
    found = listed[address]
    _note(reading, address, (*found.gaps, *gaps(PLACE, f"{DEVICES}/{address}", "ENOENT")))
    return found.function


def _note(reading: Reading, address: str, missing: Iterable[Gap]) -> None:
    for gap in missing:
        reading.unread(("functions", address, *gap.path), gap.source, gap.why)


def _system(reading: Reading, address: str) -> dict[str, object]:
    folder, fact = f"{DEVICES}/{address}", ("functions", address)
    group = _link(reading, folder, "iommu_group", *fact, "iommu_group")
    node = reading.text(f"{folder}/numa_node", *fact, "numa_node")
    return {
        "driver": _link(reading, folder, "driver", *fact, "driver"),
        "iommu_group": _parsed(reading, parse_number, group, f"{folder}/iommu_group", *fact, "iommu_group"),
        "numa_node": _parsed(reading, parse_number, node, f"{folder}/numa_node", *fact, "numa_node"),
        "bars": _parsed(
            reading, parse_resource, reading.text(f"{folder}/resource", *fact, "bars"), f"{folder}/resource",
            *fact, "bars",
        ) or None,
    }


def _link(reading: Reading, folder: str, name: str, *fact: str) -> str | None:
    target = reading.readlink(f"{folder}/{name}", *fact)
    return target.rpartition("/")[2] if target else None


def _parsed(
    reading: Reading, parse: Callable[[str], T], text: str | None, path: str, *fact: str
) -> T | None:
    try:
        return None if text is None else parse(text)
    except ParseError as error:
        reading.unread(fact, path, str(error))
        return None


def _aer(reading: Reading, address: str, found: Decoded) -> Aer | None:
    """Only Express functions have counters, and those without the first file have none."""
    if not found.function.express and not found.unknown("express"):
        return None
    totals: dict[str, int | None] = {}
    for name in ("correctable", "nonfatal", "fatal"):
        path, fact = f"{DEVICES}/{address}/aer_dev_{name}", ("functions", address, "aer", name)
        text = reading.text(path, *fact)
        if text is None and not totals:
            return None
        totals[name] = _parsed(reading, parse_total, text, path, *fact)
    return Aer(**totals)


def _named(reading: Reading, functions: dict[str, Function]) -> dict[str, Function]:
    contents = (reading.attempt(path) for path in FILES)
    data = next((content for content in contents if not isinstance(content, OSError)), b"")
    names: dict[tuple[str, str], str | None] = {}
    for address, function in functions.items():
        if data and function.vendor and function.device and not function.name:
            key = (function.vendor, function.device)
            if key not in names:
                names[key] = find_name(data, *key)
            functions[address] = function.copy(name=names[key])
    return functions
