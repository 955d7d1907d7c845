"""The GPUs of the kernel module and those of nvidia-smi's report, put together.

The module lists what it has bound by PCI address; the report leaves out a GPU that does not answer. Rows of a topology
grid are numbered as the report is ordered, which is by index, lost ones left out of both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

from ..errors import ParseError
from ..host.base import Result
from ..records import field, record
from ..sections.nvidia import Gpu, State
from .base import decode
from .nvidia_fields import meant, state_of
from .nvidia_smi import Device, Log, failure, parse_corrupted, parse_list, parse_lost, parse_text, parse_xml, said

XML, TEXT, LIST = ("nvidia-smi", "-q", "-x"), ("nvidia-smi", "-q"), ("nvidia-smi", "-L")
_FORMS: tuple[tuple[tuple[str, ...], Callable[[str], Log]], ...] = (
    (XML, parse_xml), (TEXT, parse_text), (LIST, parse_list),
)
_NAMES = {
    "uuid": ("uuid", "gpu uuid"), "minor": ("minor_number", "minor number"), "name": ("product_name", "product name"),
    "vbios": ("vbios_version", "vbios version"), "firmware": ("gsp_firmware_version", "gsp firmware version"),
}
_CUDA = ("cuda_version", "cuda_umd_version")
Note = tuple[tuple[str, ...], str]  # fact below a GPU, why it is unknown


@record()
class Report:
    """What nvidia-smi says of all GPUs; WHY it says nothing, where it has no LOG."""

    log: Log | None = None
    why: str = ""
    source: str = " ".join(XML)
    lost: dict[str, str] = field(default_factory=dict)
    corrupted: set[str] = field(default_factory=set)

    @property
    def attached(self) -> int | None:
        """The number of GPUs that it counts."""
        if self.log is None:
            return None
        text = self.log.values.get("attached_gpus", "")
        return int(text) if re.fullmatch("[0-9]{1,4}", text) else len(self.log.devices)

    @property
    def cuda(self) -> str | None:
        """The CUDA version that it names."""
        texts = (self.log.values.get(name, "") for name in _CUDA) if self.log else ()
        return next((text for text in texts if re.fullmatch(r"[0-9]{1,4}\.[0-9]{1,4}", text)), None)


def read_report(answers: Mapping[tuple[str, ...], Result], reason: str) -> Report:
    """The first form of a report that is among ANSWERS and whole; REASON is why nvidia-smi was not asked."""
    found = Report(why=reason or "not-recorded")
    asked = [(argv, parse, answers[argv]) for argv, parse in _FORMS if argv in answers]
    for argv, parse, result in reversed(asked):  # the best last: its reasons count, too
        found.lost |= parse_lost(said(result))
        found.corrupted |= parse_corrupted(said(result))
        if result.why and argv != XML:  # cut off, these two may look whole
            continue
        try:
            found.log, found.source, found.why = parse(decode(result.stdout)), " ".join(argv), ""
        except ParseError as error:
            not_run = reason if result.why == "not-recorded" else ""
            found.why = (not_run or failure(result) or str(error)) if found.log is None else ""
    return found


def combine(bound: Mapping[str, Gpu], report: Report) -> tuple[dict[str, Gpu], dict[str, list[Note]]]:
    """The GPUs by key, and what is unknown of each; BOUND are the module's by PCI address."""
    gpus = list(bound.values())
    by_address = {gpu.address: n for n, gpu in enumerate(gpus)}
    by_uuid: dict[str | None, int] = {gpu.uuid: n for n, gpu in enumerate(gpus) if gpu.uuid}
    devices: dict[int, Device] = {}
    for device in report.log.devices if report.log else ():
        at = by_address.get(device.address) if device.address else by_uuid.get(device.values.get("uuid"))
        if at is None:
            at = len(gpus)
            gpus.append(Gpu(address=device.address))
        devices[at] = device
    gpus += [Gpu(address=address) for address in report.lost if address and address not in by_address]
    found = [_told(gpu, devices.get(n), report) for n, gpu in enumerate(gpus)]
    shared = Counter(gpu.uuid for gpu, _ in found)
    own = [gpu.uuid if shared[gpu.uuid] == 1 else None for gpu, _ in found]
    keys = [uuid or gpu.address or f"GPU {n}" for n, (uuid, (gpu, _)) in enumerate(zip(own, found, strict=True))]
    named = sorted(zip(keys, found, strict=True), key=lambda item: item[0])
    return {key: gpu for key, (gpu, _) in named}, {key: notes for key, (_, notes) in named if notes}


def _told(gpu: Gpu, device: Device | None, report: Report) -> tuple[Gpu, list[Note]]:
    """GPU with what the report tells of it."""
    notes: list[Note] = []
    if device is None:
        why = report.why or report.lost.get(gpu.address or "") or report.lost.get("") or "not in the report"
        notes += [((fact,), why) for fact in (("state", "answers") if report.why else ("state",))]
        gpu = gpu.copy(answers=None if report.why else False)
    else:
        state: State | None
        state, unknown = state_of(device.values, device.mig)
        if report.source != " ".join(LIST):
            state = state.copy(inforom_corrupted=device.address in report.corrupted)
            notes += [(("state", *path), reason) for path, reason in unknown.items()]
        else:
            state, notes = None, [(("state",), "only the list was recorded")]
        gpu = gpu.copy(**{**_basics(gpu, device), "answers": True, "state": state})
    missing = [fact for fact in ("uuid", "vbios") if getattr(gpu, fact) is None]
    if "uuid" in missing:  # the driver reads both when it initialises the GPU
        notes += [((fact,), "the driver has not read it yet") for fact in missing]
    return gpu, notes


def _basics(gpu: Gpu, device: Device) -> dict[str, object]:
    """What the report tells of a GPU that the module does not."""
    texts = {fact: _text(device, names) for fact, names in _NAMES.items() if getattr(gpu, fact) is None}
    minor = texts.pop("minor", None)
    found: dict[str, object] = {fact: text for fact, text in texts.items() if text and "?" not in text}
    if texts.get("vbios"):
        found["vbios"] = str(texts["vbios"]).lower()
    return found | ({"minor": int(minor)} if minor and re.fullmatch("[0-9]{1,9}", minor) else {})


def _text(device: Device, names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := meant(device.values.get(name, ""))[0])), None)


def places(report: Report, gpus: Mapping[str, Gpu], names: list[str]) -> dict[str, str]:
    """GPUn of a grid's NAMES -> PCI address; empty when the report does not tell which is which."""
    rows = [name for name in names if name.startswith("GPU")]
    by_uuid: dict[str | None, str | None] = {gpu.uuid: gpu.address for gpu in gpus.values()}
    devices = report.log.devices if report.log else []
    addresses = [device.address or by_uuid.get(device.values.get("uuid")) for device in devices]
    if len(rows) != len(addresses):
        return {}
    found = {row: address for row, address in zip(rows, addresses, strict=True) if address}
    return found if len(found) == len(rows) else {}
