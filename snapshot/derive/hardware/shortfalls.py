"""How many of a noun a host lacks, and where they are lost: from the tables ``inventory`` and ``gpu_layers``.

A thing counts as there as ``inventory`` has it; what is there and not usable tells where the missing ones are. A name
that is not there is no proof: a GPU or NIC that vfio-pci has for a guest shows neither UUID nor MAC address, and a GPU
that its driver has not used yet shows no UUID. Of GPUs that do not all tell whether they work, the least and the most
that there can be may still decide.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...document import UnreadFact
from ...regexes import regex
from ..facts import Derived
from ..gpus.gpu_layers import gpu_layers
from ..pci.pci_tree import functions_of, noun
from .cpu_lists import cpus
from .inventory import NOUNS, USABLE, missing
from .nvme_drives import PASSING

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Wanted = int | list[str]
PHRASES = {  # layer, from the bottom -> what is said of those that are lost there
    "no-pci-function": "not on the PCI bus",
    "not-present": "not present",
    "no-driver": "without a driver",
    "other-driver": "kept by another driver",
    "not-in-driver": "not listed by the driver",
    "excluded": "excluded from use",
    "no-answer": "without an answer from nvidia-smi",
    "needs-reset": "waiting for a reset",
    "dead": "not live",
    "offline": "offline",
}
BOTTOM = {"gpus": "no-pci-function", "nics": "no-pci-function", "nvme": "no-pci-function", "cpus": "not-present"}
READ: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {  # section, table, facts that its items are told by
    "nics": (("pci", "functions", ("driver",)), ("net", "interfaces", ("kind", "device", "name", "permanent_mac"))),
    "nvme": (("storage", "controllers", ("state", "transport", "serial", "device")),),
    "dimms": (("firmware", "dimms", ("serial",)),),
    "numa_nodes": (("cpu", "nodes", ()),),
}
NAMES = ("name", "permanent_mac", "serial")  # of them those that no count needs
ADDRESS = regex(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
MANY = 3  # names that are all said


def shortfall(after: Snapshot, told: Derived, key: str, wanted: Wanted) -> Row | UnreadFact:
    """The row of the noun KEY, of which TOLD, the inventory of AFTER, has to have WANTED; or why that is unknown."""
    row, gap = told.rows.get(key), _gap(after, told, key, wanted)
    if row is None or gap:
        bounds = _bounds(after, wanted) if key == "gpus" and isinstance(wanted, int) else None
        return bounds or gap or UnreadFact(path=[], source="", why="nothing on this host tells")
    wanted = _spelt(wanted, row.get("names", ())) if isinstance(wanted, list) else wanted
    short = missing(told.rows, {key: wanted}).get(key)
    if not short:
        expected = len(wanted) if isinstance(wanted, list) else wanted
        return {name: row[name] for name in ("noun", "name", "count", "layers")} | {"expected": expected, "missing": 0}
    if key == "nvme" and (busy := [*_drives(after, passing=True)]):
        return UnreadFact(path=[], source="/sys/class/nvme", why=f"{_few(busy)}: not live yet, for the moment")
    if "absent" in short and (hidden := _hidden(after, key)) and not (short := _proven(after, short)):
        return UnreadFact(path=[], source="", why=f"{_few(hidden)}: there, and does not show by what name")
    return _told(after, short)


def _gap(after: Snapshot, told: Derived, key: str, wanted: Wanted) -> UnreadFact | None:
    """Why a noun cannot be counted: nothing of it was read, or something that its items are told by was not."""
    for gap in told.unknown:
        if gap["subject"] == key:
            return UnreadFact(path=[], source=gap["source"], why=gap["why"])
    for section, table, facts in READ.get(key, ()):
        matter = [fact for fact in facts if fact not in NAMES or isinstance(wanted, list)]
        if part := _part(after, section, table, matter):
            return part
    return None


def _part(after: Snapshot, section: str, table: str, matter: Sequence[str]) -> UnreadFact | None:
    """The first fact that is unknown of an item in a section's TABLE, if it does MATTER, or item that is."""
    rows, outcome = after.table(section).get(table, {}), after.outcomes.get(section)
    for fact in (outcome.unread if outcome else None) or ():
        first, *rest = fact.path or [""]
        other = section == "pci" and rest[:1] and rest[0] in rows and noun(rows[rest[0]]) != "NIC"
        if first == table and not other and (len(rest) < 2 or rest[1] in matter):
            return fact
    return None


def _bounds(after: Snapshot, wanted: int) -> Row | None:
    """The row of GPUs of which not all tell whether they work, where that is no matter."""
    layers = gpu_layers(after, None)
    if any(not gap["subject"] for gap in layers.unknown):
        return None
    least = sum(row["layer"] in USABLE for row in layers.rows.values())
    most = least + len(layers.unknown)
    row = {"noun": "gpus", "name": NOUNS["gpus"][0], "expected": wanted}
    if least >= wanted:
        return row | {"count": least, "missing": 0}
    if most >= wanted:
        return None
    return _told(after, row | {"count": most, "missing": wanted - most, "there": f"at most {most}"})


def _spelt(wanted: Iterable[str], names: Iterable[str]) -> list[str]:
    """Each name of WANTED once, as NAMES have it: in any case, and addresses without their domain."""
    known = {name.lower(): name for name in names}
    spelt = []
    for name in wanted:
        key = f"0000:{name.lower()}" if ADDRESS.fullmatch(f"0000:{name.lower()}") else name.lower()
        spelt.append(known.get(key, key if ADDRESS.fullmatch(key) else name))
    return list(dict.fromkeys(spelt))


def _hidden(after: Snapshot, key: str) -> list[str]:
    """Addresses of what is there, and usable, and does not show the name that it may be expected by."""
    if key == "gpus":
        rows = gpu_layers(after, None).rows.values()
        return [row["address"] for row in rows if row["layer"] in USABLE and "uuid" not in row]
    functions = functions_of(after).items() if key == "nics" else ()
    return [address for address, one in functions if noun(one) == "NIC" and one.get("driver") == "vfio-pci"]


def _proven(after: Snapshot, short: Row) -> Row:
    """SHORT with those of the absent names alone that nothing hides, addresses and UUIDs that are shown, or nothing."""
    shown = gpu_layers(after, None).rows if short["noun"] == "gpus" else ()
    absent = [name for name in short["absent"] if ADDRESS.fullmatch(name) or name in shown]
    doubt = "" if absent == short["absent"] else "at most "
    there = f"{doubt}{short['expected'] - len(absent)}"
    return short | {"absent": absent, "missing": len(absent), "there": there} if absent else {}


def _told(after: Snapshot, short: Mapping[str, Any]) -> Row:
    """SHORT with where its noun is lost, and what can be done about those that are there."""
    key, absent = short["noun"], short.get("absent")
    there = _unusable(after, key)
    lost = {word: len(names) for word, names in there.items()}
    off_bus = [name for name in absent or () if ADDRESS.fullmatch(name) and name not in functions_of(after)]
    rest = len(off_bus) if absent else short["missing"] - sum(lost.values())
    lost |= {BOTTOM[key]: rest} if key in BOTTOM and rest > 0 else {}
    lost = {word: lost[word] for word in PHRASES if word in lost}
    row = {"there": str(short["expected"] - short["missing"]), **short, "lost": lost}
    where = ", ".join(f"{lost[word]} {PHRASES[word]}" for word in lost)
    row |= {"layer": next(iter(lost)), "where": where} if lost else {}
    row |= {"which": _few(absent)} if absent else {}
    row |= {"unbound": there["no-driver"]} if "no-driver" in there else {}
    return row | ({"resets": resets} if (resets := _resets(there)) else {})


def _unusable(after: Snapshot, key: str) -> dict[str, list[str]]:
    """What of a noun is there and not usable: layer -> addresses, names or numbers."""
    found: dict[str, list[str]] = {}
    if key == "gpus":
        for gpu, row in gpu_layers(after, None).rows.items():
            if row["layer"] not in USABLE:
                found.setdefault(row["layer"], []).append(row.get("address", gpu))
    elif key == "cpus":
        present, online = (cpus(after.table("cpu").get(name)) or set() for name in ("present", "online"))
        found["offline"] = [str(cpu) for cpu in sorted(present - online)]
    elif key in ("nics", "nvme"):
        kind = "NIC" if key == "nics" else "NVMe drive"
        functions = {address: one for address, one in functions_of(after).items() if noun(one) == kind}
        found["no-driver"] = [address for address, one in functions.items() if "driver" not in one]
        if key == "nvme":
            found["other-driver"] = [a for a, one in functions.items() if one.get("driver", "nvme") != "nvme"]
            found["dead"] = [*_drives(after, passing=False)]
    return {layer: names for layer, names in found.items() if names}


def _drives(after: Snapshot, passing: bool) -> Iterator[str]:
    """Names of local NVMe drives that are not live: those PASSING through a reset, or those that are not."""
    for one in after.table("storage").get("controllers", {}).values():
        local, state = one.get("transport", "pcie") == "pcie", one.get("state", "live")
        if local and state != "live" and (state in PASSING) is passing:
            yield one["name"]


def _resets(there: Mapping[str, list[str]]) -> list[str]:
    gpus = [f"nvidia-smi --gpu-reset -i {shlex.quote(address)}" for address in there.get("needs-reset", ())]
    return gpus + [f"nvme reset {shlex.quote(f'/dev/{name}')}" for name in there.get("dead", ())]


def _few(names: Sequence[str]) -> str:
    more = len(names) - MANY
    return ", ".join(names[:MANY]) + (f" and {more} more" if more > 0 else "")
