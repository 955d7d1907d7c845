from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.hardware.inventory import inventory, missing

from ...pairs import snapshot
from ...recordings import taken
from ..gpus.test_gpu_layers import A, B, nvidia, pci, told

GIB = 1 << 30


def rows(now: dict[str, Any], then: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    return inventory(snapshot(now), snapshot(then) if then else None).rows


def test_gpus_layer_by_layer() -> None:
    now = {"pci": pci(A, B), "nvidia": nvidia(told(A), told(B, "GPU-b", answers=False))}
    row = rows(now, {"pci": pci(A, B), "nvidia": nvidia(told(A), told(B, "GPU-b"))})["gpus"]
    assert row["layers"] == {"pci": 2, "bound": 2, "listed": 2, "answering": 1, "with_uuid": 2, "working": 1}
    assert (row["count"], row["before"], row["fewer"], row["names"]) == (1, 2, True, [A, "GPU-a"])


def test_a_gpu_given_to_a_guest_is_there() -> None:
    row = rows({"pci": pci(A, driver="vfio-pci"), "nvidia": nvidia()})["gpus"]
    assert (row["count"], row["layers"]["working"], row["layers"]["pci"]) == (1, 0, 1)


def test_nics_and_drives_without_the_virtual_and_the_remote() -> None:
    functions = {
        A: {"class_code": "020000", "driver": "mlx5_core", "source": "config"},
        "0000:01:00.1": {"class_code": "020000", "source": "config"},
        "0000:01:00.2": {"class_code": "020000", "physical_function": A, "source": "config"},
        B: {"class_code": "010802", "driver": "nvme", "source": "config"},
    }
    interfaces = {
        "m1": {"name": "eno1", "kind": "physical", "device": A, "permanent_mac": "m1"},
        "usb0": {"name": "usb0", "kind": "physical"},
        "v": {"name": "v0", "kind": "physical", "virtual_function": True, "device": "0000:01:00.2"},
        "br0": {"name": "br0", "kind": "bridge"},
    }
    controllers = {
        "S1": {"name": "nvme0", "serial": "S1", "device": B, "transport": "pcie", "state": "live"},
        "S2": {"name": "nvme1", "serial": "S2", "transport": "pcie", "state": "dead"},
        "S3": {"name": "nvme2", "serial": "S3", "transport": "tcp", "state": "live"},
    }
    found = rows({"pci": {"functions": functions}, "net": {"interfaces": interfaces},
                  "storage": {"blocks": {}, "controllers": controllers}})
    assert found["nics"]["layers"] == {"pci": 2, "bound": 1, "interfaces": 2, "rdma": 0}
    assert (found["nics"]["count"], found["nics"]["names"]) == (2, [A, "eno1", "m1", "usb0"])
    assert found["nvme"]["layers"] == {"pci": 1, "bound": 1, "controllers": 2, "live": 1}
    assert (found["nvme"]["count"], found["nvme"]["names"]) == (1, [B, "S1", "nvme0"])


def test_dimms_cpus_nodes_and_memory() -> None:
    cpu = {"possible": "0-511", "present": "0-255", "online": "0-253,255",
           "nodes": {"0": {"cpus": "0-255", "memory": True}, "1": {"cpus": "", "memory": True}}}
    dimms = {"A1": {"serial": "D1"}, "B1": {}}
    found = rows({"cpu": cpu, "firmware": {"dimm_slots": 4, "dimms": dimms}, "memory": {"blocks_bytes": 64 * GIB}})
    assert found["cpus"]["count"] == 255 and found["cpus"]["layers"]["present"] == 256
    assert found["numa_nodes"]["layers"] == {"with_cpus": 1, "with_memory": 2}
    assert (found["dimms"]["count"], found["dimms"]["names"]) == (2, ["A1", "B1", "D1"])
    assert found["memory_gib"] == {
        "noun": "memory_gib", "name": "GiB of memory", "count": 64, "layers": {"blocks": 64}}


def test_a_list_that_is_none_is_unknown() -> None:
    found = inventory(snapshot({"cpu": {"online": "all of them"}}), None)
    assert [u["why"] for u in found.unknown if u["subject"] == "cpus"] == ["no CPU list: 'all of them'"]


def test_memory_of_two_kinds_is_not_compared() -> None:
    now, then = {"memory": {"total_bytes": 62 * GIB}}, {"memory": {"blocks_bytes": 64 * GIB}}
    row = rows(now, then)["memory_gib"]
    assert row["count"] == 62 and not {"before", "fewer"} & row.keys()
    assert rows(then, {"memory": {"blocks_bytes": 65 * GIB}})["memory_gib"]["fewer"] is True


def test_what_was_not_read_is_unknown_and_what_nothing_tells_has_no_row() -> None:
    after = snapshot({"firmware": {}, "cpu": {}, "pci": pci(A)}, unread={"cpu": [["online"]]},
                     states={"nvidia": "timeout", "memory": "failed", "net": "skipped", "storage": "denied"})
    found = inventory(after, None)
    assert not found.rows
    assert {u["subject"]: u["why"] for u in found.unknown} == {
        "gpus": "because", "nics": "because", "nvme": "because", "cpus": "EACCES", "memory_gib": "because"}


def test_missing_by_count_and_by_name() -> None:
    found = rows({"pci": pci(A), "nvidia": nvidia(told(A)), "memory": {"blocks_bytes": 64 * GIB}})
    short = missing(found, {"gpus": 2, "memory_gib": 63.5})
    assert list(short) == ["gpus"]
    assert (short["gpus"]["expected"], short["gpus"]["count"], short["gpus"]["missing"]) == (2, 1, 1)
    named = missing(found, {"gpus": [A, "GPU-b"]})["gpus"]
    assert (named["absent"], named["expected"]) == (["GPU-b"], 2)
    assert missing(found, {"gpus": ["GPU-a"], "memory_gib": 64}) == {}


def test_an_expectation_of_what_is_not_known_is_left_to_the_caller() -> None:
    assert missing({}, {"cpus": 4}) == {}
    with pytest.raises(KeyError, match="gpu"):
        missing({}, {"gpu": 4})


def test_recorded_hosts() -> None:
    row = inventory(taken("gpu-lost.tar.xz"), taken("pve-epyc-before.tar.xz")).rows["gpus"]
    assert (row["count"], row["before"], row["fewer"]) == (7, 8, True)
    again = taken("pve-epyc-after.tar.xz")
    assert not any(row["fewer"] for row in inventory(again, again).rows.values())
