from __future__ import annotations

from snapshot.derive.pci.gpu_bridges import gpu_bridges

from ...pairs import snapshot
from ..machines import DOWN1, DOWN2, GPU1, GPU2, ROOT, UP, switched


def test_every_bridge_above_a_gpu_and_none_above_a_nic_alone() -> None:
    rows = gpu_bridges(snapshot({"pci": switched()}), None).rows
    assert {key: row["gpus"] for key, row in rows.items()} == {
        ROOT: [GPU1, GPU2], UP: [GPU1, GPU2], DOWN1: [GPU1], DOWN2: [GPU2]}
    assert [key for key, row in rows.items() if row["in_switch"]] == [DOWN1, DOWN2]


def test_a_bridge_of_which_the_registers_were_not_read_has_no_type() -> None:
    pci = switched()
    del pci["functions"][DOWN1]["express"]
    row = gpu_bridges(snapshot({"pci": pci}), None).rows[DOWN1]
    assert "type" not in row and not row["in_switch"]


def test_unknown_functions() -> None:
    found = gpu_bridges(snapshot({"pci": {"functions": {}}}, unread={"pci": [["functions"]]}), None)
    assert [gap["subject"] for gap in found.unknown] == [""]
