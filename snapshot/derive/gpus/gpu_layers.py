"""At which layer each GPU is, or is missing: PCI bus, driver, the driver's list, nvidia-smi, from pci, nvidia, amdgpu.

NVML API reference, nvmlGpuRecoveryAction_t: after Reset or Reboot nothing runs on the GPU any more. A GPU of before is
found again by its UUID, else by the diff's pairing of PCI functions, because the driver does not know the UUID before
the GPU's first use. It counts as missing from the bus only if no GPU is there that may be it.

Row keys, by UUID, else by PCI address (of before, for a GPU that has its UUID on one side only, by that UUID); a key
without a value is missing:
    gpu              the row's key
    uuid, name, vendor (PCI id), slot
    address, address_before
    layer            ok, or what it lacks, from the bottom: no-pci-function, no-driver, other-driver (such as vfio-pci
                     or nouveau), not-in-driver, no-answer, needs-reset; excluded: by the driver's own option. A GPU
                     that answers is ok unless its driver asks for a reset
    driver, driver_before
    layer_before     missing where before does not show the GPU
    lost             it was ok before and is not now; missing without a layer_before
    why              what the layer was told by, in words
    recovery_action  what the driver asks for, when it is not None
    xid              NVRM error codes of this boot's kernel log for it, sorted
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...document import UnreadFact
from ...records import field, record
from ..facts import Derived
from ..pci.pci_tree import AMD, Table, functions_of, moved, noun

if TYPE_CHECKING:
    from ...document import Snapshot

NVIDIA = "10de"
DRIVERS = {NVIDIA: ("nvidia",), AMD: ("amdgpu", "radeon"), "8086": ("i915", "xe")}  # by vendor
UNUSABLE = ("Reset", "Reboot")
WHAT = "whether the GPU is there and works"
EMPTY: Table = {}
KIND = ("vendor", "device")


@record(frozen=True)
class Gpu:
    """A GPU as the sections of one snapshot show it: its PCI function, and what its driver's section has under KEY."""

    address: str
    function: Table = field(default_factory=dict)
    told: Table = field(default_factory=dict)
    key: str = ""

    @property
    def uuid(self) -> str | None:
        """The driver's UUID, or AMD's unique id; None when two share one, so that the section's key is another."""
        return self.key if self.key and self.key in (self.told.get("uuid"), self.told.get("unique_id")) else None

    def may_be(self, other: Gpu) -> bool:
        """Whether nothing known says that this is not OTHER."""
        known = ((self.uuid, other.uuid), *((self.function.get(k), other.function.get(k)) for k in KIND))
        return all(None in (one, two) or one == two for one, two in known)


@record(frozen=True)
class Layer:
    """Where a GPU stands, and what says so."""

    word: str
    why: str = ""


def gpu_layers(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each GPU of either side; unknown where the evidence of a layer is missing."""
    now, then = gpus_of(after), gpus_of(before) if before else {}
    if fact := after.unread("pci", ("functions",)):
        return Derived({}, [_gap("", fact)])
    found, olds = Derived(), _same(before, after, then, now)
    for address, gpu in now.items():
        old = then[olds[address]] if address in olds else None
        _add(found, after, gpu, before, old)
    new = [gpu for address, gpu in now.items() if address not in olds]
    for old in (gpu for address, gpu in then.items() if address not in olds.values()):
        if maybe := next((gpu.address for gpu in new if gpu.may_be(old)), None):
            why = f"it may be the GPU at {maybe}: which one that is, is not known on both sides"
            found.unknown.append(_gap(old.uuid or old.address, UnreadFact(path=[], source="UUID", why=why)))
        else:
            _add(found, after, None, before, old)
    return found


def gpus_of(snapshot: Snapshot) -> dict[str, Gpu]:
    """The GPUs that any section shows, by PCI address."""
    functions = functions_of(snapshot)
    found = {a: Gpu(a, f) for a, f in functions.items() if noun(f) == "GPU"}
    for section in ("nvidia", "amdgpu"):
        for key, told in snapshot.table(section).get("gpus", {}).items():
            if address := told.get("address"):
                found[address] = Gpu(address, functions.get(address, EMPTY), told, key)
    return dict(sorted(found.items()))


def layer_of(snapshot: Snapshot, gpu: Gpu) -> Layer | UnreadFact:
    """The highest layer that GPU reaches, or why that is unknown."""
    if not gpu.function:
        return Layer("no-pci-function", f"{gpu.address} is not on the PCI bus")
    driver, vendor = gpu.function.get("driver"), str(gpu.function.get("vendor"))
    if driver is None:
        return _unread(snapshot, "pci", "functions", gpu.address, "driver") or Layer(
            "no-driver", "no driver has bound it")
    if driver not in DRIVERS.get(vendor, (driver,)):
        return Layer("other-driver", f"{driver} has bound it")
    return _nvidia(snapshot, gpu) if vendor == NVIDIA else _amd(snapshot, gpu, driver)


def _amd(snapshot: Snapshot, gpu: Gpu, driver: str) -> Layer | UnreadFact:
    if gpu.told or driver != "amdgpu":
        return Layer("ok")
    return _unread(snapshot, "amdgpu", "gpus", gpu.address) or Layer("not-in-driver", "amdgpu does not list it")


def _nvidia(snapshot: Snapshot, gpu: Gpu) -> Layer | UnreadFact:
    told = gpu.told
    if not told:
        why = "/proc/driver/nvidia/gpus does not list it"
        return _unread(snapshot, "nvidia", "gpus", gpu.address) or Layer("not-in-driver", why)
    if told.get("excluded"):
        return Layer("excluded", "the option ExcludedGpus keeps it from use")
    if told.get("answers") is None:
        fact = _unread(snapshot, "nvidia", "gpus", gpu.key, "answers")
        return fact or UnreadFact(path=[], source="nvidia-smi", why="not told")
    health = told.get("state", EMPTY).get("health", EMPTY)
    if not told["answers"]:
        state = _unread(snapshot, "nvidia", "gpus", gpu.key, "state")
        return Layer("no-answer", f"nvidia-smi: {state.why if state else 'not in its report'}")
    if health.get("reset_required") or health.get("recovery_action") in UNUSABLE:
        return Layer("needs-reset", f"the driver asks for: {health.get('recovery_action', 'Reset')}")
    return Layer("ok")


def _unread(snapshot: Snapshot, section: str, *path: str) -> UnreadFact | None:
    return snapshot.unread(section, path)


def _gap(subject: str, fact: UnreadFact) -> dict[str, Any]:
    return {"subject": subject, "what": WHAT, "source": fact.source, "why": fact.why}


def _same(
    before: Snapshot | None, after: Snapshot, then: dict[str, Gpu], now: dict[str, Gpu]
) -> dict[str, str]:
    """Address after -> address before of the same GPU. A slot that holds another UUID than before is no pair."""
    uuids = {gpu.uuid: address for address, gpu in then.items() if gpu.uuid}
    found = {address: uuids[gpu.uuid] for address, gpu in now.items() if gpu.uuid in uuids}
    for address, old in moved(before, after).items():
        free = address in now and old in then and address not in found and old not in found.values()
        if free and not (now[address].uuid and then[old].uuid):
            found[address] = old
    return found


def _add(found: Derived, after: Snapshot, gpu: Gpu | None, before: Snapshot | None, old: Gpu | None) -> None:
    """The row of GPU, which was OLD; None: it is not there."""
    one = gpu or old or Gpu("")
    key = one.uuid or (old and old.uuid) or one.address
    key = f"{key} before" if key in found.rows else key  # another GPU is at the address of one that is gone
    layer = layer_of(after, gpu) if gpu else Layer("no-pci-function", "no longer on the PCI bus")
    if not isinstance(layer, Layer):
        found.unknown.append(_gap(key, layer))
        return
    row = {"gpu": key, **_told(one), "layer": layer.word, "address": gpu and gpu.address}
    row |= {"driver": gpu and gpu.function.get("driver"), "why": layer.why or None}
    row |= dict(_health(after, gpu)) if gpu else {}
    if before and old:
        row |= _then(before, old, layer)
    found.rows[key] = {name: value for name, value in row.items() if value is not None}


def _told(gpu: Gpu) -> dict[str, Any]:
    name = gpu.told.get("name") or gpu.function.get("name")
    return {"uuid": gpu.uuid, "name": name, "vendor": gpu.function.get("vendor"), "slot": gpu.function.get("slot")}


def _then(before: Snapshot, old: Gpu, layer: Layer) -> dict[str, Any]:
    row = {"address_before": old.address, "driver_before": old.function.get("driver"), "uuid": old.uuid}
    was = layer_of(before, old)
    if isinstance(was, Layer):
        row |= {"layer_before": was.word, "lost": was.word == "ok" and layer.word != "ok"}
    return {key: value for key, value in row.items() if value is not None}


def _health(snapshot: Snapshot, gpu: Gpu) -> Iterator[tuple[str, Any]]:
    action = gpu.told.get("state", EMPTY).get("health", EMPTY).get("recovery_action")
    if action and action != "None":
        yield "recovery_action", action
    events = snapshot.table("nvidia").get("events", {}).get(gpu.address, EMPTY)
    if xid := events.get("xid"):
        yield "xid", sorted(int(code) for code in xid if code.isdecimal())
