"""What the processors are, from /proc/cpuinfo.

proc(5); arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c. A block a CPU, of online CPUs only, ``key : value``
with tabs before the colon. x86 has ``model name``, ``microcode`` and the rest; POWER has ``cpu``; ARM has numbers:
implementer and part; 32-bit ARM says them once, in a block without ``processor``. Clocks and flags are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import ParseError
from ..records import field, record

Block = dict[str, str]
_KEYS = frozenset((
    "processor", "vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "cpu", "CPU implementer",
    "CPU part",
))
_STARTS = frozenset(key[:4] for key in _KEYS) | {"cpu\t"}  # looked at first: most lines are others


@record()
class Processors:
    """What CPUs say of themselves, by CPU; a CPU that does not say it is not in the table."""

    names: dict[int, str] = field(default_factory=dict)
    vendors: dict[int, str] = field(default_factory=dict)
    families: dict[int, int] = field(default_factory=dict)
    models: dict[int, int] = field(default_factory=dict)
    steppings: dict[int, int] = field(default_factory=dict)
    microcode: dict[int, str] = field(default_factory=dict)


def parse(text: str) -> Processors:
    """The processors. ParseError when there is none in it, or a number is none; names the bad text."""
    blocks = list(_blocks(text))
    shared: Block = {}
    for block in blocks:
        if "processor" not in block:
            shared |= {key: value for key, value in block.items() if key.startswith("CPU ")}
    found = Processors()
    for block in blocks:
        if "processor" in block:
            _add(found, _number(block["processor"]), shared | block)
    if not found.names and not any("processor" in block for block in blocks):
        raise ParseError(f"no processor in it: {text[:80]!r}")
    return found


def _blocks(text: str) -> Iterator[Block]:
    """The lines that count, a table a block; blocks are apart by an empty line or begin with their processor."""
    block: Block = {}
    for line in text.splitlines():
        if line[:4] in _STARTS:
            key, _, value = line.partition(":")
            key = key.rstrip()
            if key == "processor" and block:
                yield block
                block = {}
            if key in _KEYS:
                block[key] = value.strip()
        elif block and not line.strip():
            yield block
            block = {}
    if block:
        yield block


def _add(found: Processors, cpu: int, block: Block) -> None:
    if cpu in found.names:
        raise ParseError(f"processor {cpu} stands twice")
    if name := _name(block):
        found.names[cpu] = name
    for table, key in ((found.vendors, "vendor_id"), (found.microcode, "microcode")):
        if block.get(key):
            table[cpu] = block[key]
    if "cpu family" in block:  # only there are model and stepping numbers
        for numbers, key in ((found.families, "cpu family"), (found.models, "model"), (found.steppings, "stepping")):
            if block.get(key, "unknown") != "unknown":
                numbers[cpu] = _number(block[key])


def _name(block: Block) -> str:
    if "CPU part" in block:
        return f"ARM implementer {block.get('CPU implementer', '?')} part {block['CPU part']}"
    return block.get("model name") or block.get("cpu") or ""


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ParseError(f"no number: {text[:80]!r}")
    return int(text)
