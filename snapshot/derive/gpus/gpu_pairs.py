"""How near each GPU is to the other GPUs and to NICs, and whether two GPUs reach each other's memory: section nvidia.

nvidia-smi(1), topo: NV# is as many NVLinks; PIX one PCIe bridge, PXB several, PHB a host bridge, NODE host bridges of
one NUMA node, SYS another node. nvml.h, nvmlGpuP2PStatus_t: CNS chipset, GNS GPU, TNS topology not supported, DR
disabled by a registry key, NS not supported, U unknown. A GPU of before is found again by its UUID, a NIC by the diff's
pairing.

Row keys, by "ADDRESS ADDRESS", the lower one first (a NIC without address by its name); a key without a value is
missing:
    first, second
    pair             both in words: GPUs ADDRESS and ADDRESS, GPU ADDRESS and NIC ADDRESS
    both_gpus        neither is a NIC
    path             PIX, PXB, PHB, NODE, SYS or NV#
    path_before      likewise before
    farther          path_before was nearer, or had more NVLinks
    nearer           the other way round
    p2p              OK, or why one GPU cannot read the other's memory
    p2p_before       likewise before
    p2p_lost         p2p_before was OK, and p2p is not
    unknown          {key: {source, why}} of those above that stand on a matrix which was not read
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..facts import Derived
from ..pci.pci_tree import moved

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Pair = tuple[str, str]
MATRICES = {"path": "topology", "p2p": "p2p_read"}
NEAR = ("PIX", "PXB", "PHB", "NODE", "SYS")
OK = "OK"
TOLD_BY = {"path": ("farther", "nearer"), "p2p": ("p2p_lost",)}  # matrix -> what stands on it now and before
_NVLINK = regex("NV([0-9]{1,3})")


def gpu_pairs(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each two of AFTER of which one is a GPU; none where neither matrix was read."""
    gpus, gaps = _gpus(after), _gaps(after, "")
    if len(gaps) == len(MATRICES):
        return Derived({}, [{"subject": "", "what": "how GPUs are connected", **next(iter(gaps.values()))}])
    cells = {name: dict(_cells(after, matrix)) for name, matrix in MATRICES.items()}
    rows: dict[str, Row] = {}
    for first, second in sorted({pair for found in cells.values() for pair in found}):
        if first in gpus or second in gpus:
            row: Row = {"first": first, "second": second, "both_gpus": first in gpus and second in gpus}
            row["pair"] = _words(row, first in gpus)
            row |= {name: found[first, second] for name, found in cells.items() if (first, second) in found}
            rows[f"{first} {second}"] = row | ({"unknown": gaps} if gaps else {})
    if before:
        _compare(rows, after, before)
    return Derived(rows)


def _words(row: Row, first_gpu: bool) -> str:
    first, second = row["first"], row["second"]
    if row["both_gpus"]:
        return f"GPUs {first} and {second}"
    return f"GPU {first} and NIC {second}" if first_gpu else f"GPU {second} and NIC {first}"


def _gpus(snapshot: Snapshot) -> dict[str, str]:
    """Address -> UUID of the driver's GPUs, the key of the section where there is none."""
    gpus = snapshot.table("nvidia").get("gpus", {})
    return {gpu["address"]: gpu.get("uuid", key) for key, gpu in gpus.items() if "address" in gpu}


def _gaps(snapshot: Snapshot, end: str) -> Row:
    """Why the matrices are unknown, by the row keys that they would give; END is that of these."""
    unread = ((name, snapshot.unread("nvidia", (matrix,))) for name, matrix in MATRICES.items())
    return {name + end: {"source": fact.source, "why": fact.why} for name, fact in unread if fact}


def _cells(snapshot: Snapshot, name: str) -> Iterator[tuple[Pair, str]]:
    """The cells of a matrix, each pair once. Where its two directions differ, what is not OK counts."""
    matrix = snapshot.table("nvidia").get(name, {"ids": [], "rows": []})
    ids, rows = matrix["ids"], matrix["rows"]
    for i, first in enumerate(ids):
        for j, second in enumerate(ids):
            if first < second:
                there, back = rows[i][j], rows[j][i]
                yield (first, second), back if there == OK else there


def _compare(rows: dict[str, Row], after: Snapshot, before: Snapshot) -> None:
    """Adds to ROWS what was before."""
    olds, gaps = _olds(after, before), _gaps(before, "_before")
    then = {name: dict(_cells(before, matrix)) for name, matrix in MATRICES.items()}
    for row in rows.values():
        first, second = sorted(olds.get(row[key], row[key]) for key in ("first", "second"))
        row |= {f"{name}_before": cells[first, second] for name, cells in then.items() if (first, second) in cells}
        unknown = {**row.get("unknown", {}), **gaps}
        for name, told in TOLD_BY.items():
            if gap := unknown.get(name) or unknown.get(f"{name}_before"):
                unknown |= dict.fromkeys(told, gap)
        row |= {"unknown": unknown} if unknown else {}
        _judge(row)


def _olds(after: Snapshot, before: Snapshot) -> Mapping[str, str]:
    """Address after -> address before."""
    then = {uuid: address for address, uuid in _gpus(before).items()}
    gpus = {address: then[uuid] for address, uuid in _gpus(after).items() if uuid in then}
    return {**moved(before, after), **gpus}


def _judge(row: Row) -> None:
    was, now = _distance(row.get("path_before")), _distance(row.get("path"))
    if was is not None and now is not None:
        row |= {"farther": was < now, "nearer": now < was}
    if "p2p_before" in row and "p2p" in row:
        row["p2p_lost"] = row["p2p_before"] == OK != row["p2p"]


def _distance(path: str | None) -> int | None:
    """A number that is greater the farther it is; None of what no version is known to write."""
    links = _NVLINK.fullmatch(path or "")
    return -int(links[1]) if links else NEAR.index(path) if path in NEAR else None
