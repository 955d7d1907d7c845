"""GPU and PCIe errors of this boot, from the kernel log.

journalctl(1) picks the lines (--grep needs systemd 237 with PCRE), so nothing else of the log is read. The kernel's
first line, "Linux version", is asked for too: with it the log reaches back to the boot, without it there may have been
more. That also tells an empty answer from one that may not be given.

"NVRM: Xid (PCI:0000:c1:00): 79, pid=..., ..." names no function. AER lines are those of aer_print_port_info() in
drivers/pci/pcie/aer.c: the port, then whose error it is; older kernels do not tell that (id=0010: it counts as the
port's) and say Corrected for Correctable. A GPU that is lost at probe has no Xid: three lines, one message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ..regexes import regex
from ..sections.nvidia import Events
from .pci_address import sysfs_address

GREP = r"^Linux version |NVRM: Xid |fallen off the bus|RmInitAdapter|AER: .*error.* received"
COMMAND = ("journalctl", "-k", "-b", "-o", "cat", "--no-pager", "-q", f"--grep={GREP}")

_BDF = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}"
_XID = regex(rf"NVRM: Xid \(PCI:({_BDF}(?:\.[0-7])?)\): ([0-9]{{1,5}}),")
_LOST = regex(
    rf"NVRM: (?:GPU ({_BDF}\.[0-7]): GPU has|The NVIDIA GPU ({_BDF}\.[0-7])\s.{{0,200}}?\s) ?fallen off the bus",
    re.DOTALL,
)
_INIT = regex(rf"NVRM: GPU ({_BDF}\.[0-7]): RmInitAdapter failed")
_AER = regex(
    rf"({_BDF}\.[0-7]): AER: (?:Multiple )?(Correct|Uncorrect)(?:ed|able)(?: \((Non-)?Fatal\))? error"
    rf"(?: message)? received(?:(?: from|:) ({_BDF}\.[0-7]))?"
)
_BEGIN = regex(r"^(?:\[ *[0-9.]+\] )?Linux version ", re.MULTILINE)


def from_boot(text: str) -> bool:
    """Whether the lines reach back to the kernel's first."""
    return bool(_BEGIN.search(text))


def parse_events(text: str) -> dict[str, Events]:
    """Counts by PCI address and kind. Any text is a log."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for address, kind, code in _events(text):
        counts.setdefault(sysfs_address(address) or address, Counter())[kind, code] += 1
    return {address: _counted(found) for address, found in sorted(counts.items())}


def _events(text: str) -> Iterator[tuple[str, str, str]]:
    for found in _XID.finditer(text):
        yield found[1], "xid", found[2]
    for found in _LOST.finditer(text):
        yield found[1] or found[2], "off_bus", ""
    for found in _INIT.finditer(text):
        yield found[1], "init_failed", ""
    for found in _AER.finditer(text):
        severity = "correctable" if found[2] == "Correct" else "nonfatal" if found[3] else "fatal"
        yield found[4] or found[1], f"aer_{severity}", ""


def _counted(counts: Counter[tuple[str, str]]) -> Events:
    xid = {code: n for (kind, code), n in sorted(counts.items(), key=lambda c: int(c[0][1] or 0)) if kind == "xid"}
    return Events.make({kind: n for (kind, _), n in counts.items() if kind != "xid"} | {"xid": xid or None})
