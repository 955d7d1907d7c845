"""PCI functions, from the output of lspci with any of -v -vv -vvv -n -nn -k -D -xxx -xxxx -vmm, also mixed.

lspci(8); lspci.c of pciutils.

A function begins at column 0 with its address; the domain is left out when all are 0. Lines below are indented by tabs,
or by as many blanks where somebody pasted them. Hex lines are the configuration space itself and win over the text
beside them. What lspci leaves out it leaves out without a word: revision 00, NUMA node -1, a missing driver; so such a
field counts as told only where the same output shows it for some function. Without root: ``<access denied>``.
``!!! Unknown header type 7f`` is a function that reads as all ones; its ids still come from the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..records import field, record
from ..regexes import regex
from ..sections.pci import Bar, Function
from .lspci_capabilities import (
    Block,
    parse_acs,
    parse_blocks,
    parse_express,
    parse_resizable,
    parse_serial,
    parse_size,
)
from .pci_config import parse_config
from .pci_facts import DEAD, NEEDS_ROOT, REGISTERS, SYSTEM, Decoded, Gap, combine, gaps

_FIRST = regex(r"(?:Slot:\s+)?((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[01][0-9a-f]\.[0-7])(?: (.*))?")
_HEX = regex(r"([0-9a-f]{2,3}):((?: [0-9a-f]{2}){1,16})")
_TITLE = regex(r"(.*?)(?: ?\[([0-9a-f]{4})\])?: (.*)")
_SUFFIX = regex(r" \((rev|prog-if) ([0-9a-f]{2})")
_PAIR = regex(r"(?:^| ?\[|Device )([0-9a-f]{4}):([0-9a-f]{4})\]?$")
_NUMBER = regex(r"(?:^|\[)([0-9a-f]{4})\]?$")
_BYTE = regex("[0-9a-f]{2}")
_REGION = regex(r"(?:Region ([0-5]): (Memory|I/O ports)|Expansion ROM) at ")
_SIZE = regex(r"\[size=(\w+)\]")
# Field -> its key in -v and -k, and in -vmm.
_SYSTEM = {
    "driver": ("Kernel driver in use", "Driver"),
    "numa_node": ("NUMA node", "NUMANode"),
    "iommu_group": ("IOMMU group", "IOMMUGroup"),
    "slot": ("Physical Slot", "PhySlot"),
}
_TABLE = {"vendor": "Vendor", "device": "Device", "subsystem_vendor": "SVendor", "subsystem_device": "SDevice"}
DENIED = "<access denied>"
_NO_NUMBERS = "lspci was run without -n"
_NO_VERBOSE = "lspci was run without -v"
_NO_DETAILS = "lspci was run without -vv"
_EXTENDED: tuple[tuple[str, str, Callable[[Block], object]], ...] = (
    ("acs", "Access Control Services", parse_acs),
    ("resizable_bars", "Physical Resizable BAR", parse_resizable),
    ("serial", "Device Serial Number", parse_serial),
)


@record()
class Record:
    """The lines of one function: what follows its address, (depth, text) of the rest, key -> value, the bytes."""

    title: str = ""
    lines: list[tuple[int, str]] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    data: bytearray = field(default_factory=bytearray)

    @property
    def verbosity(self) -> int:
        """How many -v there were, as far as it matters here: 0, 1 or 2."""
        return 2 if "Control" in self.values else 1 if "Flags" in self.values else 0


@record()
class Facts:
    """What has been understood: FOUND by field of Function; MISSED are the gaps."""

    origin: str
    found: dict[str, object] = field(default_factory=dict)
    missed: list[Gap] = field(default_factory=list)

    def miss(self, why: str, *fields: str) -> None:
        """Notes that those of FIELDS that are not found cannot be told, unless another reason is noted already."""
        noted = {gap.path for gap in self.missed}
        self.missed += gaps((f for f in fields if f not in self.found and (f,) not in noted), self.origin, why)


def parse_lspci(text: str, origin: str) -> dict[str, Decoded]:
    """What an output says of each function, by full address; ORIGIN is what the gaps name. Never raises."""
    records = _records(text)
    shown = {key for record in records.values() for key in record.values}
    told = {name for name, keys in _SYSTEM.items() if not shown.isdisjoint(keys)}
    return {address: _decode(record, origin, told) for address, record in records.items()}


def _decode(record: Record, origin: str, told: set[str]) -> Decoded:
    words = _words(record, Facts(origin), told)
    if not record.data:
        return words
    registers = parse_config(bytes(record.data), origin, "lspci hex")
    silent = gaps((*SYSTEM, "name"), origin, "lspci does not show it")
    return combine(Decoded(registers.function, registers.gaps + silent), words)


def _records(text: str) -> dict[str, Record]:
    records: dict[str, Record] = {}
    record = Record()
    for line in text.splitlines():
        first = _FIRST.fullmatch(line)
        if first:
            address = first[1] if first[1].count(":") == 2 else f"0000:{first[1]}"
            record = records[address] = Record(first[2] or "")
        else:
            _add(record, line)
    return records


def _add(record: Record, line: str) -> None:
    spread = line.expandtabs(8)
    text = spread.strip()
    depth = (len(spread) - len(spread.lstrip(" "))) // 8
    dump = _HEX.fullmatch(text)
    if dump and int(dump[1], 16) == len(record.data):  # what follows a hole in the dump does not count
        record.data += bytes.fromhex(dump[2])
    elif not dump:
        record.lines.append((depth, text))
        key, _, value = text.partition(":")
        if depth < 2:
            record.values.setdefault(key, value.strip())


def _words(record: Record, facts: Facts, told: set[str]) -> Decoded:
    if "Vendor" in record.values:
        _table_ids(record.values, facts)
    else:
        _title_ids(record, facts)
    _system(record.values, facts, told)
    if any(text.startswith("!!! Unknown header type 7f") for _, text in record.lines):
        _bury(facts)
    else:
        _subsystem(record, facts)
        _bars(record, facts)
        _capabilities(record, facts)
    return Decoded(Function.make({**facts.found, "source": "lspci text"}), tuple(facts.missed))


def _bury(facts: Facts) -> None:
    """Of a function that reads as all ones only what lspci has from the kernel counts."""
    code = str(facts.found.pop("class_code", ""))[:4]
    for name in ("revision", "vendor", "device") if facts.found.get("vendor") == "ffff" else ("revision",):
        facts.found.pop(name, None)
    facts.found |= {"class_code": code} if code and "vendor" in facts.found else {}
    facts.miss(DEAD, *REGISTERS, "bars")


def _title_ids(record: Record, facts: Facts) -> None:
    title = _TITLE.fullmatch(record.title)
    if title:
        kind, code, rest = title.groups()
        name, suffixes = _SUFFIX.split(rest)[0], dict(_SUFFIX.findall(rest))
        code = code or (kind if _NUMBER.fullmatch(kind) else None)
        if code:  # -v leaves out programming interface 00 where it has no name
            facts.found["class_code"] = code + suffixes.get("prog-if", "00" if record.verbosity else "")
        facts.found["revision"] = suffixes.get("rev", "00")
        facts.found |= {"name": plain} if (plain := _PAIR.sub("", name)) else {}
        facts.found |= _pair(name, "vendor", "device")
    facts.miss(_NO_NUMBERS, "vendor", "device", "class_code", "revision")


def _subsystem(record: Record, facts: Facts) -> None:
    """A line of its own, of a bridge a capability; lspci shows none where there is none."""
    if "Vendor" in record.values:
        return
    headlines = (block.headline for block in parse_blocks(record.lines))
    texts = [h.removeprefix("Subsystem: ") for h in headlines if h.startswith("Subsystem: ")]
    texts += [record.values["Subsystem"]] if "Subsystem" in record.values else []
    if texts:
        facts.found |= _pair(texts[-1], "subsystem_vendor", "subsystem_device")
        facts.miss(_NO_NUMBERS, "subsystem_vendor", "subsystem_device")
    elif not record.verbosity or ("Bus" in record.values and record.values.get("Capabilities") == DENIED):
        facts.miss(_NO_VERBOSE if not record.verbosity else NEEDS_ROOT, "subsystem_vendor", "subsystem_device")


def _pair(text: str, *fields: str) -> dict[str, str]:
    pair = _PAIR.search(text)
    return dict(zip(fields, pair.groups(), strict=True)) if pair else {}


def _table_ids(values: dict[str, str], facts: Facts) -> None:
    for name, key in _TABLE.items():
        number = _NUMBER.search(values.get(key, ""))
        if number:
            facts.found[name] = number[1]
        elif key in values or name in ("vendor", "device"):
            facts.miss(_NO_NUMBERS, name)
    code, revision, interface = (values.get(key, "00") for key in ("Class", "Rev", "ProgIf"))
    if (number := _NUMBER.search(code)) and _BYTE.fullmatch(interface):
        facts.found["class_code"] = number[1] + interface
    facts.found |= {"revision": revision} if _BYTE.fullmatch(revision) else {}
    facts.miss(_NO_NUMBERS, "class_code", "revision")


def _system(values: dict[str, str], facts: Facts, told: set[str]) -> None:
    for name, keys in _SYSTEM.items():
        value = next((values[key] for key in keys if key in values), None)
        if value is None and name not in told:
            facts.miss("lspci shows it for no function", name)
        elif value is None:
            facts.found |= {"numa_node": -1} if name == "numa_node" else {}
        elif name in ("driver", "slot"):
            facts.found[name] = value
        elif re.fullmatch(r"-?\d{1,9}", value):
            facts.found[name] = int(value)
        else:
            facts.miss(f"no number: {value[:40]!r}", name)


def _bars(record: Record, facts: Facts) -> None:
    if record.verbosity < 2:
        facts.miss(_NO_DETAILS, "bars")
    bars: dict[str, Bar] = {}
    for depth, text in record.lines:
        region = _REGION.match(text) if depth == 1 else None  # deeper ones are those of virtual functions
        if region:
            number, size = region[1] or "rom", _SIZE.search(text)
            bar = _bar(number, text, parse_size(size[1]) if size else None)
            if not bar:
                facts.missed.append(Gap(("bars", number), facts.origin, "lspci shows no size"))
            elif bar.kind == "memory" and bar.prefetchable is None:
                facts.missed.append(Gap(("bars", number, "prefetchable"), facts.origin, "lspci does not show it"))
            bars |= {number: bar} if bar else {}
    facts.found |= {"bars": bars} if bars else {}


def _bar(number: str, text: str, size: int | None) -> Bar | None:
    if not size:
        return None
    if number == "rom":
        return Bar(size_bytes=size, kind="memory")
    if ": I/O" in text:
        return Bar(size_bytes=size, kind="io")
    return Bar(size_bytes=size, kind="memory", prefetchable="non-prefetchable" not in text)


def _capabilities(record: Record, facts: Facts) -> None:
    blocks = parse_blocks(record.lines)
    why = _unlisted(record, blocks)
    block = next((b for b in blocks if b.headline.startswith("Express")), None)
    express, untold = parse_express(block) if block else (None, [])
    facts.missed += [Gap(("express", *path), facts.origin, "lspci does not show it") for path in untold]
    _keep(facts, "express", express, _NO_DETAILS if block else why)
    if block and not any(b.offset >= 0x100 for b in blocks):
        why = why or "lspci shows no extended capability"
    for name, headline, parse in _EXTENDED:
        block = next((b for b in blocks if b.headline.startswith(headline)), None)
        unprogrammed = block and name == "serial"
        _keep(facts, name, parse(block) if block else None, "" if unprogrammed else _NO_DETAILS if block else why)


def _keep(facts: Facts, name: str, value: object, why: str) -> None:
    if value is not None:
        facts.found[name] = value
    elif why:
        facts.miss(why, name)


def _unlisted(record: Record, blocks: list[Block]) -> str:
    """Why a capability that is not among BLOCKS may exist all the same."""
    if not record.verbosity:
        return _NO_VERBOSE
    if record.values.get("Capabilities") == DENIED:
        return NEEDS_ROOT
    broken = any(b.headline.startswith("<chain") for b in blocks)
    return "the capability list is broken" if broken else ""
