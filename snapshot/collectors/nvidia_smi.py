"""What nvidia-smi answers: its report on all GPUs as XML or text, its list, its versions, and its failures.

nvidia-smi(1). ``-q -x`` writes XML with a DOCTYPE whose DTD (nvsmi_device_v10 to v13) is never fetched; entities are
refused. In front of it and behind it may stand plain lines: "Unable to determine the device handle for GPU..." of a GPU
that does not answer (GPU or gpu, with or without a blank, an index, an address; the exit code may be 0), "WARNING:
infoROM is corrupted at gpu ...". ``-q`` indents by four blanks, and a line can have a value and lines below it.
Processes are never kept, nor the long list of supported clocks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import ParseError
from ..host.base import Result
from ..records import field, record
from ..regexes import regex
from .base import decode
from .pci_address import sysfs_address

_SKIP = ("processes", "accounted_processes", "supported_clocks", "supported clocks")
_START, _END = ("<?xml", "<nvidia_smi_log"), "</nvidia_smi_log>"
_HANDLE = regex(
    r"Unable to determine the device handle for GPU ?(?:\d{1,3}: )?"
    r"(?:((?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]): )?(.+)", re.IGNORECASE
)
_INFOROM = regex(r"WARNING: infoROM is corrupted at gpu (\S+)", re.IGNORECASE)
_GPU = regex(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f:.]+)")
_LISTED = regex(r"GPU ([0-9]{1,4}): (.*) \(UUID: (GPU-[0-9a-fA-F-]+)\)")
_VERSIONS = {"nvidia-smi version": "smi", "nvml version": "nvml", "cuda version": "cuda", "cuda umd version": "cuda"}


@record()
class Device:
    """One GPU of a report: facts by name (elements or headings joined by /, lower case), and its MIG devices'."""

    address: str | None
    values: dict[str, str] = field(default_factory=dict)
    mig: list[dict[str, str]] = field(default_factory=list)

    def put(self, path: list[str], text: str) -> None:
        """Enters a fact; the first of a name counts."""
        if path[:2] == ["mig_devices", "mig_device"] or path[0] == "mig device":
            inner = path[2:] if path[0] == "mig_devices" else path[1:]
            if self.mig and inner:
                self.mig[-1].setdefault("/".join(inner), text)
        elif path[0] not in _SKIP:
            self.values.setdefault("/".join(path), text)


@record()
class Log:
    """A report: what it says of the driver, and its GPUs in the order of their indexes."""

    values: dict[str, str] = field(default_factory=dict)
    devices: list[Device] = field(default_factory=list)


@record()
class _Reader:
    """Takes XML events in."""

    log: Log = field(default_factory=Log)
    path: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.path.append(tag.lower())
        self.text = []
        if self.path[1:] == ["gpu"]:
            self.log.devices.append(Device(sysfs_address(attributes.get("id", ""))))
        elif self.path[1:] == ["gpu", "mig_devices", "mig_device"]:
            self.log.devices[-1].mig.append({})

    def data(self, text: str) -> None:
        if not set(_SKIP) & set(self.path[2:3]):
            self.text.append(text)

    def end(self, _tag: str) -> None:
        inner, text = self.path[1:], "".join(self.text).strip()
        if len(inner) > 1 and inner[0] == "gpu" and text:
            self.log.devices[-1].put(inner[1:], text)
        elif len(inner) == 1 and text:
            self.log.values.setdefault(inner[0], text)
        self.path.pop()
        self.text = []


def parse_xml(text: str) -> Log:
    """The report within TEXT. ParseError when there is none, or it is cut off or declares entities."""
    from xml.parsers import expat  # costs time that a host without the driver need not spend

    starts = [at for word in _START if (at := text.find(word)) >= 0]
    end = text.find(_END)
    if not starts or end < 0:
        raise ParseError(f"no whole report: {text[:80]!r}")
    parser, reader = expat.ParserCreate(), _Reader()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.data
    parser.EntityDeclHandler = _refuse
    parser.buffer_text = True
    try:
        parser.Parse(text[min(starts): end + len(_END)].encode("utf-8", "replace"), True)
    except (expat.ExpatError, ValueError, LookupError) as error:  # the latter two for its encoding
        raise ParseError(f"no XML: {error}") from None
    return reader.log


def _refuse(*_declaration: object) -> None:
    raise ParseError("the report declares an entity")


def parse_text(text: str) -> Log:
    """The report of ``nvidia-smi -q``. ParseError when there is none."""
    if "NVSMI LOG" not in text:
        raise ParseError(f"no report: {text[:80]!r}")
    log, path = Log(), [""]
    for line in text.splitlines():
        found = _GPU.fullmatch(line.rstrip())
        if found:
            log.devices.append(Device(sysfs_address(found[1])))
            continue
        indent = (len(line) - len(line.lstrip(" "))) // 4
        name, _, value = line.partition(" : ")
        path = [*path[:indent], name.strip().lower()]
        if log.devices and indent:
            if path[1:] == ["mig device"]:
                log.devices[-1].mig.append({})
            elif value:
                log.devices[-1].put(path[1:], value.strip())
        elif value:
            log.values.setdefault(path[0].replace(" ", "_"), value.strip())
    return log


def parse_list(text: str) -> Log:
    """The list of ``nvidia-smi -L``: names and UUIDs, no addresses. ParseError when it lists no GPU."""
    found = [match for line in text.splitlines() if (match := _LISTED.fullmatch(line.rstrip()))]
    if not found:
        raise ParseError(f"no GPU listed: {text[:80]!r}")
    return Log(devices=[Device(None, {"product_name": match[2], "uuid": match[3]}) for match in found])


def parse_versions(text: str) -> dict[str, str]:
    """smi, nvml and cuda of ``nvidia-smi --version``, as far as it tells them."""
    pairs = (line.partition(":") for line in text.splitlines())
    told = [(_VERSIONS.get(name.strip().lower(), ""), value.strip()) for name, _, value in pairs]
    return {name: value for name, value in told if name and re.fullmatch(r"[0-9][0-9.]{1,30}", value)}


def parse_lost(text: str) -> dict[str, str]:
    """PCI address -> what nvidia-smi says of a GPU that it gets no handle of; "" when it does not say which."""
    return {sysfs_address(match[1] or "") or "": match[2].strip() for match in _HANDLE.finditer(text)}


def parse_corrupted(text: str) -> set[str]:
    """PCI addresses of the GPUs whose InfoROM is said to be corrupted."""
    return {address for match in _INFOROM.finditer(text) if (address := sysfs_address(match[1]))}


def said(result: Result) -> str:
    """All that a command wrote, as text."""
    return decode(result.stdout) + "\n" + decode(result.stderr)


def failure(result: Result) -> str:
    """Why a command has no answer: how it ended, else its first line and exit code; empty when it may have one."""
    if result.why:
        return result.why
    lines = [line.strip() for line in said(result).splitlines() if line.strip()]
    if result.exit_code in (0, 14) and lines:  # 14: a corrupted InfoROM, behind a whole report
        return ""
    return f"exit {result.exit_code}: {lines[0][:160] if lines else 'no output'}"
