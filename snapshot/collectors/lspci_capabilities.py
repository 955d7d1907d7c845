"""Capabilities of a PCI function in the words of lspci -vv.

lspci(8); ls-caps.c and ls-ecaps.c of pciutils.

A capability is a line ``Capabilities: [78] Express (v2) ...`` and the lines indented below it; an item of it such as
``DevCtl:`` runs over further lines. The words moved between versions: MSI 00 became IntMsgNum 0, Disabled- became
LnkDisable-, (ok) came and went, older ones do not show the 10-bit tag control, one of 2009 printed the serial number
backwards. MaxPayload stands in DevCap and DevCtl. Reserved codes are printed as sizes (8192, 16384), which nothing
has. Link Control 2 is shown of function 0 only. A virtual function's controls are printed as if they counted; only hex
or the kernel can tell that it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import field, record
from ..regexes import regex
from ..sections.pci import Acs, Express, Link, PortType, ResizableBar
from .pci_express import BYTES, SPEEDS

PORT_TYPES: tuple[tuple[str, PortType], ...] = (
    ("Legacy Endpoint", "legacy endpoint"),
    ("Endpoint", "endpoint"),
    ("Root Port", "root port"),
    ("Upstream Port", "upstream port"),
    ("Downstream Port", "downstream port"),
    ("PCI-Express to PCI/PCI-X Bridge", "PCIe to PCI bridge"),
    ("PCI/PCI-X to PCI-Express Bridge", "PCI to PCIe bridge"),
    ("PCI/PCI-X Bridge", "PCIe to PCI bridge"),
    ("Root Complex Integrated Endpoint", "root complex integrated endpoint"),
    ("Root Complex Event Collector", "root complex event collector"),
)
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60}
_BLOCK = regex(r"Capabilities: \[([0-9a-f]{2,3})(?: v\d+)?\] ?(.*)")
_ITEM = regex(r"([A-Za-z]\w*(?: \d)?):\s*(.*)")
_SIZE = regex(r"(\d{1,4})([KMGTPE]?)B?")


@record()
class Block:
    """A capability: where it lies, its headline, its items (name -> text, continued lines joined by a blank)."""

    offset: int
    headline: str
    items: dict[str, str] = field(default_factory=dict)


def parse_blocks(lines: list[tuple[int, str]]) -> list[Block]:
    """The capabilities of one function from its lines (depth of indentation, text)."""
    blocks: list[Block] = []
    name = ""
    for depth, text in lines:
        if depth <= 1:
            head = _BLOCK.fullmatch(text)
            name = ""
            blocks += [Block(int(head[1], 16), head[2])] if head else [Block(0, "")]
            continue
        item = _ITEM.fullmatch(text) if depth == 2 else None
        if blocks and item:
            name = item[1]
            blocks[-1].items[name] = item[2]
        elif blocks and name:
            blocks[-1].items[name] += f" {text}"
    return [block for block in blocks if block.headline]


def parse_size(text: str) -> int | None:
    """64MB, 128G, 4K or 512 in bytes; None when it is none or too large for 63 bits."""
    match = _SIZE.fullmatch(text)
    size = int(match[1]) * UNITS[match[2]] if match else 0
    return size if 0 < size < 1 << 63 else None


def parse_express(block: Block) -> tuple[Express | None, list[tuple[str, ...]]]:
    """The Express capability, None when its registers are not shown, and the paths below it that cannot be told."""
    control, control2 = block.items.get("DevCtl"), block.items.get("DevCtl2")
    if control is None:
        return None, []
    express = Express(
        type=_port_type(block.headline),
        max_payload_supported_bytes=_bytes(block.items.get("DevCap", ""), "MaxPayload"),
        max_payload_bytes=_bytes(control, "MaxPayload"),
        max_read_request_bytes=_bytes(control, "MaxReadReq"),
        relaxed_ordering=_flag(control, "RlxdOrd"),
        no_snoop=_flag(control, "NoSnoop"),
        extended_tags=_flag(control, "ExtTag"),
        ten_bit_tags=_flag(control2 or "", "10BitTagReq"),
        link=_link(block.items),
    )
    wanted = set(Express.fields) - {"type", "link"} - (set() if control2 else {"ten_bit_tags"})
    missing = [(f,) for f in sorted(wanted) if getattr(express, f) is None]
    return express, [*missing, *(("link", f) for f in _untold(express.link, block.items))]


def _port_type(headline: str) -> PortType:
    words = re.sub(r"Express (\(v\d+\) )?", "", headline, count=1)
    return next((kind for text, kind in PORT_TYPES if words.startswith(text)), "reserved")


def _bytes(text: str, name: str) -> int | None:
    match = re.search(rf"{name} (\d{{1,6}}) bytes", text)
    return int(match[1]) if match and int(match[1]) in BYTES.values() else None


def _flag(text: str, name: str) -> bool | None:
    match = re.search(rf"(?:^|\s){name}([+-])", text)
    return match[1] == "+" if match else None


def _speed(text: str) -> float | None:
    match = re.search(r"Speed:? (\d{1,3}(?:\.\d)?)GT/s", text)
    return float(match[1]) if match and float(match[1]) in SPEEDS.values() else None


def _width(text: str) -> int | None:
    match = re.search(r"Width x(\d{1,2})\b", text)
    return int(match[1]) or None if match else None


def _aspm(text: str) -> list[str] | None:
    match = re.search(r"ASPM (not supported|Disabled|L0s L1|L0s|L1)\b", text)
    return re.findall(r"L0s|L1", match[1]) if match else None


def _link(items: dict[str, str]) -> Link | None:
    capable, state, control2 = items.get("LnkCap", ""), items.get("LnkSta", ""), items.get("LnkCtl2", "")
    if _speed(capable) is None and _width(capable) is None:
        return None
    width = _width(state)
    return Link(
        max_speed_gts=_speed(capable),
        max_width=_width(capable),
        speed_gts=_speed(state) if width else None,
        width=width,
        target_speed_gts=_speed(control2),
        autonomous_speed_disabled=_flag(control2, "SpeedDis"),
        aspm_supported=_aspm(capable),
        aspm=_aspm(items.get("LnkCtl", "")),
    )


def _untold(link: Link | None, items: dict[str, str]) -> Iterator[str]:
    if not link:
        return
    wanted = {"max_speed_gts", "max_width", "aspm_supported", "aspm"}
    wanted |= {"autonomous_speed_disabled"} if "LnkCtl2" in items else set()
    wanted |= {"speed_gts"} if link.width else set()
    wanted |= set() if re.search(r"Width x\d", items.get("LnkSta", "")) else {"width", "speed_gts"}
    yield from sorted(f for f in wanted if getattr(link, f) is None)


def parse_acs(block: Block) -> Acs | None:
    """ACSCtl; None when it is not shown whole."""
    names = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans")
    flags = [_flag(block.items.get("ACSCtl", ""), name) for name in names]
    if None in flags:
        return None
    return Acs.make(dict(zip(Acs.fields, flags, strict=True)))


def parse_resizable(block: Block) -> dict[str, ResizableBar] | None:
    """The BAR lines by number; None when there is none or one of them makes no sense."""
    bars: dict[str, ResizableBar] = {}
    for name, text in block.items.items():
        match = re.fullmatch(r"current size: (\w+), supported: ?([\w ]*)", text)
        size = parse_size(match[1]) if match else None
        supported = [parse_size(word) for word in match[2].split()] if match else []
        if not re.fullmatch("BAR [0-5]", name) or not size:
            return None
        bars[name[4:]] = ResizableBar(size_bytes=size, supported_bytes=sorted(n for n in supported if n))
    return bars or None


def parse_serial(block: Block) -> str | None:
    """The number in the headline; None when it is missing, or all zeros or ones, which names nothing."""
    match = re.search(r"\b([0-9a-f]{2}(?:-[0-9a-f]{2}){7})\b", block.headline)
    return match[1] if match and set(match[1]) not in ({"0", "-"}, {"f", "-"}) else None
