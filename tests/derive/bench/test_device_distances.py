"""How far apart devices are: by the driver's matrix, by the tree of PCI functions, by neither."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.bench.device_distances import distances, renamed
from snapshot.document import Snapshot

from ..made import snapshot

A, B, C = "0000:41:00.0", "0000:42:00.0", "0000:81:00.0"
GPU = {"vendor": "10de", "device": "2bb5", "class_code": "030200", "source": "config"}
NVIDIA = {"gpus": {"GPU-a": {"uuid": "GPU-a", "address": A}, "GPU-b": {"uuid": "GPU-b", "address": B}}}


def port(kind: str, **more: Any) -> dict[str, Any]:
    plain = {"vendor": "1000", "device": "c030", "class_code": "060400", "source": "config"}
    return plain | {"express": {"type": kind}} | more


def tree() -> dict[str, Any]:
    """Two GPUs below one switch of node 0, one GPU of node 1."""
    up = ["0000:40:01.1", "0000:40:02.0"]
    return {"functions": {
        up[0]: port("root port"), up[1]: port("upstream port", bridges=up[:1]),
        "0000:40:03.0": port("downstream port", bridges=up), "0000:40:04.0": port("downstream port", bridges=up),
        A: GPU | {"numa_node": 0, "bridges": [*up, "0000:40:03.0"]},
        B: GPU | {"numa_node": 0, "bridges": [*up, "0000:40:04.0"]},
        C: GPU | {"numa_node": 1, "bridges": []},
    }}


@pytest.mark.parametrize(("path", "said"), [
    ("PIX", "same switch"), ("PXB", "same switch"), ("PHB", "same NUMA node"), ("NODE", "same NUMA node"),
    ("SYS", "across NUMA nodes"), ("NV18", "NVLink"),
])
def test_what_the_driver_says_counts(path: str, said: str) -> None:
    matrix = {"ids": [A, B], "rows": [["X", path], [path, "X"]]}
    apart = distances(snapshot(nvidia=NVIDIA | {"topology": matrix}))
    assert apart(A, B) == apart("GPU-a", "GPU-b") == apart("GPU-a", B) == said


def test_without_it_the_tree_of_pci_functions_does() -> None:
    apart = distances(snapshot(pci=tree(), nvidia=NVIDIA))
    assert (apart(A, B), apart(A, C), apart("GPU-a", "GPU-b")) == ("same switch", "across NUMA nodes", "same switch")


@pytest.mark.parametrize("taken", [
    snapshot(), snapshot(pci={"functions": {}}), snapshot(unread={"pci": ["functions"]}, pci={"functions": {}}),
    snapshot(pci={"functions": {A: GPU, B: GPU}}),  # no NUMA node
])
def test_what_neither_says_is_not_known(taken: Snapshot) -> None:
    assert distances(taken)(A, B) is None
    assert distances(taken)("0", "CPU") is None


def test_gpus_that_moved_are_known_by_serial_or_uuid() -> None:
    before = snapshot(pci={"functions": {A: GPU | {"serial": "a"}, B: GPU}}, nvidia=NVIDIA)
    after = snapshot(pci={"functions": {C: GPU | {"serial": "a"}, B: GPU}},
                     nvidia={"gpus": {"GPU-a": {"uuid": "GPU-a", "address": C}}})
    assert renamed(after, before) == {C: A}
    assert renamed(before, before) == {}
    assert renamed(snapshot(nvidia={"gpus": {"GPU-a": {"uuid": "GPU-a", "address": C}}}), before) == {C: A}
