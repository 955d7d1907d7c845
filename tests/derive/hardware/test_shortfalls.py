"""How many are missing, and where: what is there and hidden is no proof, and what was not read is unknown."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.hardware.inventory import inventory
from snapshot.derive.hardware.shortfalls import Row, Wanted, shortfall
from snapshot.document import Snapshot, UnreadFact

from ...pairs import snapshot
from ..gpus.test_gpu_layers import A, B, nvidia, pci, told

C = "0000:c1:00.0"
TIMEOUT = {"unread": {"nvidia": [["gpus", "GPU-b", "answers"]]}}


def judged(after: Snapshot, key: str, wanted: Wanted) -> Row | UnreadFact:
    return shortfall(after, inventory(after, None), key, wanted)


def row(after: Snapshot, key: str, wanted: Wanted) -> Row:
    found = judged(after, key, wanted)
    assert not isinstance(found, UnreadFact), found.why
    return found


def why(after: Snapshot, key: str, wanted: Wanted) -> str:
    found = judged(after, key, wanted)
    assert isinstance(found, UnreadFact)
    return found.why


def gpus(*gpus: dict[str, Any], **more: Any) -> Snapshot:
    """A host with GPUs at A and B, of which GPUS are told by the driver."""
    return snapshot({"pci": pci(A, B), "nvidia": nvidia(*gpus)}, **more)


TWO = gpus(told(A), told(B, "GPU-b"))
LOST = gpus(told(A), told(B, "GPU-b", answers=False))


@pytest.mark.parametrize("wanted", [0, 1, 2, ["GPU-a"], ["GPU-b", A], ["gpu-A", "01:00.0", A]])
def test_all_that_is_expected_is_there(wanted: Wanted) -> None:
    found = row(TWO, "gpus", wanted)
    assert (found["missing"], found["count"]) == (0, 2) and not {"lost", "where", "absent"} & found.keys()


@pytest.mark.parametrize(("after", "wanted", "there", "where"), [
    (LOST, 2, "1", "1 without an answer from nvidia-smi"),
    (LOST, 3, "1", "1 not on the PCI bus, 1 without an answer from nvidia-smi"),
    (snapshot({"pci": pci(A, driver="vfio-pci"), "nvidia": nvidia()}), 2, "1", "1 not on the PCI bus"),
    (gpus(told(A)), 2, "1", "1 not listed by the driver"),
    (gpus(told(A), told(B, "GPU-b", state={"health": {"recovery_action": "Reset"}})), 2, "1", "1 waiting for a reset"),
    (snapshot({"pci": {"functions": {}}}, states={"nvidia": "absent"}), 8, "0", "8 not on the PCI bus"),
])
def test_gpus_are_lost_layer_by_layer(after: Snapshot, wanted: int, there: str, where: str) -> None:
    found = row(after, "gpus", wanted)
    assert (found["there"], found["where"], found["missing"]) == (there, where, wanted - found["count"])
    assert found["layer"] == next(iter(found["lost"]))


def test_a_reset_is_a_command() -> None:
    after = gpus(told(A), told(B, "GPU-b", state={"health": {"reset_required": True}}))
    assert row(after, "gpus", 2)["resets"] == [f"nvidia-smi --gpu-reset -i {B}"]


def test_names_that_are_absent() -> None:
    found = row(LOST, "gpus", ["GPU-a", "GPU-b", C, C])
    assert (found["expected"], found["there"], found["absent"]) == (3, "1", ["GPU-b", C])
    assert found["where"] == "1 not on the PCI bus, 1 without an answer from nvidia-smi"
    assert row(TWO, "gpus", ["GPU-a", "GPU-x"])["which"] == "GPU-x"
    assert "where" not in row(TWO, "gpus", ["GPU-x"])  # which GPU that was, nothing tells
    assert row(TWO, "gpus", [f"GPU-{at}" for at in range(9)])["which"] == "GPU-0, GPU-1, GPU-2 and 6 more"


def test_a_uuid_that_a_guest_has_is_not_missed() -> None:
    guest = snapshot({"pci": {"functions": pci(A)["functions"] | pci(B, driver="vfio-pci")["functions"]},
                      "nvidia": nvidia(told(A))})
    assert why(guest, "gpus", ["GPU-a", "GPU-b"]).startswith(B)
    assert row(guest, "gpus", ["GPU-a", B])["missing"] == 0
    partly = row(guest, "gpus", ["GPU-a", "GPU-b", "C1:00.0"])  # an address hides nowhere
    assert (partly["absent"], partly["there"]) == ([C], "at most 2")
    assert row(guest, "gpus", ["GPU-a", C])["there"] == "1"
    unused = gpus(told(A), told(B, None))
    assert why(unused, "gpus", ["GPU-a", "GPU-b"]).startswith(B)
    lost = snapshot({"pci": {"functions": pci(A)["functions"] | pci(B, driver="vfio-pci")["functions"]},
                     "nvidia": nvidia(told(A, answers=False))})
    assert row(lost, "gpus", ["GPU-a", "GPU-b"])["absent"] == ["GPU-a"]  # shown, and not usable


def test_gpus_of_which_some_do_not_tell() -> None:
    after = gpus(told(A), told(B, "GPU-b", answers=None), **TIMEOUT)
    assert why(after, "gpus", 2) == "EACCES" and why(after, "gpus", ["GPU-a"]) == "EACCES"
    assert row(after, "gpus", 1)["missing"] == 0
    found = row(after, "gpus", 3)
    assert (found["there"], found["missing"], found["where"]) == ("at most 2", 1, "1 not on the PCI bus")
    blind = snapshot({"pci": {"functions": {}}, "nvidia": nvidia()}, unread={"pci": [["functions"]]})
    assert why(blind, "gpus", 8) == why(blind, "gpus", 0) == "EACCES"


def nic(address: str, driver: str | None = "mlx5_core") -> dict[str, Any]:
    return {address: {"class_code": "020000", "source": "config"} | ({"driver": driver} if driver else {})}


def nics(*functions: dict[str, Any], **more: Any) -> Snapshot:
    interfaces = {"m1": {"name": "eno1", "kind": "physical", "device": A, "permanent_mac": "m1"}}
    table = {address: function for one in functions for address, function in one.items()}
    return snapshot({"pci": {"functions": table}, "net": {"interfaces": interfaces}}, **more)


def test_nics() -> None:
    after = nics(nic(A), nic(B, None))
    found = row(after, "nics", 3)
    assert (found["where"], found["unbound"]) == ("1 not on the PCI bus, 1 without a driver", [B])
    assert row(after, "nics", ["M1", "eno1", A])["missing"] == 0
    assert row(after, "nics", ["eno1", "eno2"])["where"] == "1 without a driver"
    assert "where" not in row(nics(nic(A)), "nics", ["eno2"])  # perhaps it has another name
    guest = nics(nic(A), nic(B, "vfio-pci"))
    assert why(guest, "nics", ["eno1", "m2"]).startswith(B) and row(guest, "nics", 2)["missing"] == 0


@pytest.mark.parametrize(("unread", "unknown"), [
    ({"pci": [["functions", A, "driver"]]}, True), ({"net": [["interfaces", "m1", "kind"]]}, True),
    ({"net": [["interfaces", "m9"]]}, True), ({"net": [["interfaces", "m1", "mtu"]]}, False),
    ({"net": [["interfaces", "m1", "permanent_mac"]]}, False), ({"pci": [["functions", C, "driver"]]}, False),
])
def test_what_was_not_read_of_a_nic(unread: dict[str, list[list[str]]], unknown: bool) -> None:
    display = pci(C)["functions"]
    assert isinstance(judged(nics(nic(A), display, unread=unread), "nics", 2), UnreadFact) is unknown


def test_a_name_that_was_not_read_may_be_the_one() -> None:
    after = nics(nic(A), unread={"net": [["interfaces", "m1", "permanent_mac"]]})
    assert why(after, "nics", ["m2"]) == "EACCES"


def drives(*states: str, functions: dict[str, Any] | None = None) -> Snapshot:
    controllers = {f"S{at}": {"name": f"nvme{at}", "serial": f"S{at}", "state": s} for at, s in enumerate(states)}
    return snapshot({"pci": {"functions": functions or {}}, "storage": {"blocks": {}, "controllers": controllers}})


def test_drives() -> None:
    one = {"class_code": "010802", "source": "config"}
    after = drives("live", "dead", functions={A: one | {"driver": "nvme"}, B: one | {"driver": "vfio-pci"}, C: one})
    found = row(after, "nvme", 5)
    assert found["where"] == "1 not on the PCI bus, 1 without a driver, 1 kept by another driver, 1 not live"
    assert (found["resets"], found["unbound"]) == (["nvme reset /dev/nvme1"], [C])
    assert why(drives("live", "resetting"), "nvme", 2).startswith("nvme1")
    assert row(drives("live", "resetting"), "nvme", 1)["missing"] == 0
    unread = {"storage": [["controllers", "S1", "state"]]}
    half = snapshot({"pci": {"functions": {}}, "storage": {"blocks": {}, "controllers": {"S1": {"name": "nvme1"}}}},
                    unread=unread)
    assert why(half, "nvme", 1) == "EACCES"


def test_cpus_nodes_dimms_and_memory() -> None:
    cpu = {"possible": "0-511", "present": "0-255", "online": "0-250", "nodes": {"0": {"cpus": "0-250"}}}
    after = snapshot({"cpu": cpu, "firmware": {"dimms": {"A1": {"serial": "D1"}}}, "memory": {"total_bytes": 62 << 30}})
    assert row(after, "cpus", 256)["where"] == "5 offline"
    assert row(after, "cpus", 512)["where"] == "256 not present, 5 offline"
    for key, wanted in (("numa_nodes", 2), ("dimms", 2), ("memory_gib", 64)):
        assert row(after, key, wanted)["missing"] == wanted - row(after, key, wanted)["count"] > 0
        assert "where" not in row(after, key, wanted)
    assert row(after, "dimms", ["a1", "D1"])["missing"] == 0


def test_what_nothing_tells_is_unknown() -> None:
    bare = snapshot({"cpu": {}, "firmware": {}, "memory": {}}, states={"net": "skipped", "pci": "denied"})
    silent = ("cpus", "numa_nodes", "dimms", "memory_gib")
    assert {why(bare, key, 1) for key in silent} == {"nothing on this host tells"}
    assert why(bare, "nics", 1) == why(bare, "gpus", 0) == "because"
    assert why(snapshot({}), "memory_gib", 1) == "the snapshot has no such section"
