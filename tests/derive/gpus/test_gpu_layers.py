from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.gpu_layers import gpu_layers

from ...pairs import snapshot
from ...recordings import taken

A, B = "0000:01:00.0", "0000:02:00.0"


def pci(*addresses: str, **more: Any) -> dict[str, Any]:
    one = {"vendor": "10de", "device": "2bb5", "class_code": "030200", "driver": "nvidia", "source": "config"}
    return {"functions": {address: {**one, **more} for address in addresses}}


def told(address: str, uuid: str | None = "GPU-a", **more: Any) -> dict[str, Any]:
    found = {"address": address, "answers": True} | more
    return {uuid or address: found | ({"uuid": uuid} if uuid else {})}


def nvidia(*gpus: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"loaded": True, "gpus": {key: gpu for one in gpus for key, gpu in one.items()}} | more


def healthy(address: str = A, **more: Any) -> dict[str, Any]:
    return {"pci": pci(address, **more), "nvidia": nvidia(told(address))}


def row(now: dict[str, Any], then: dict[str, Any] | None = None, key: str = "GPU-a") -> dict[str, Any]:
    found = gpu_layers(snapshot(now), snapshot(then) if then else None)
    assert not found.unknown
    return found.rows[key]


def health(**facts: Any) -> dict[str, Any]:
    return nvidia(told(A, state={"health": facts}))


@pytest.mark.parametrize(
    ("section", "layer"),
    [
        (nvidia(told(A)), "ok"),
        (nvidia(told(A, answers=False)), "no-answer"),
        (nvidia(told(A, answers=False, excluded=True)), "excluded"),
        (health(recovery_action="Reset"), "needs-reset"),
        (health(recovery_action="Reboot"), "needs-reset"),
        (health(reset_required=True), "needs-reset"),
        (health(recovery_action="None", reset_required=False), "ok"),
        (health(recovery_action="Drain and Reset"), "ok"),
        (health(remapped_rows_pending=True), "ok"),
    ],
)
def test_layers_of_the_driver(section: dict[str, Any], layer: str) -> None:
    found = row({"pci": pci(A), "nvidia": section})
    assert found["layer"] == layer and ("why" in found) == (layer != "ok")


def test_what_the_driver_asks_for_and_the_log_says_is_shown() -> None:
    section = health(recovery_action="Drain and Reset") | {"events": {A: {"xid": {"119": 1, "79": 2}}}}
    found = row({"pci": pci(A), "nvidia": section})
    assert (found["recovery_action"], found["xid"]) == ("Drain and Reset", [79, 119])


@pytest.mark.parametrize(
    ("function", "gpus", "layer"),
    [
        ({"driver": "vfio-pci"}, nvidia(), "other-driver"),
        ({"driver": "nouveau"}, {"loaded": False}, "other-driver"),
        ({}, nvidia(), "not-in-driver"),
    ],
)
def test_layers_below_the_report(function: dict[str, Any], gpus: dict[str, Any], layer: str) -> None:
    found = row({"pci": pci(A, **function), "nvidia": gpus}, healthy())
    assert (found["layer"], found["layer_before"], found["lost"]) == (layer, "ok", True)
    assert (found["driver_before"], found["address"], found["address_before"]) == ("nvidia", A, A)


def test_no_driver() -> None:
    section = pci(A)
    del section["functions"][A]["driver"]
    assert row({"pci": section, "nvidia": {"loaded": False}}, healthy())["layer"] == "no-driver"


def test_off_the_bus() -> None:
    found = row({"pci": pci(B), "nvidia": nvidia(told(B, "GPU-b"))}, healthy())
    assert found == found | {"gpu": "GPU-a", "layer": "no-pci-function", "address_before": A, "lost": True}
    assert found["why"] == "no longer on the PCI bus" and "address" not in found


def test_another_card_in_the_slot_is_another_gpu() -> None:
    now = {"pci": pci(A), "nvidia": nvidia(told(A, "GPU-b"))}
    assert row(now, healthy())["layer"] == "no-pci-function"
    assert row(now, healthy(), "GPU-b") == row(now, None, "GPU-b")


def test_moved_and_before_its_first_use_it_is_still_the_same() -> None:
    then = healthy(serial="s")
    assert row({"pci": pci(B, serial="s"), "nvidia": nvidia(told(B))}, then)["address_before"] == A
    found = row({"pci": pci(B, serial="s"), "nvidia": nvidia(told(B, None))}, then)
    assert (found["uuid"], found["address"], found["layer"], found["lost"]) == ("GPU-a", B, "ok", False)


def test_it_may_be_one_whose_uuid_is_not_known() -> None:
    now = {"pci": pci(B), "nvidia": nvidia(told(B, None))}
    found = gpu_layers(snapshot(now), snapshot(healthy()))
    assert [u["subject"] for u in found.unknown] == ["GPU-a"] and B in found.unknown[0]["why"]
    other = {"pci": pci(B, device="1234"), "nvidia": nvidia(told(B, None))}
    assert gpu_layers(snapshot(other), snapshot(healthy())).rows["GPU-a"]["layer"] == "no-pci-function"


def test_two_gpus_of_one_uuid_or_one_address_stay_two() -> None:
    twins = nvidia() | {"gpus": {a: {"uuid": "GPU-a", "address": a, "answers": True} for a in (A, B)}}
    assert set(gpu_layers(snapshot({"pci": pci(A, B), "nvidia": twins}), None).rows) == {A, B}
    then, now = pci(A, device="1111"), pci(A, device="2222")
    rows = gpu_layers(snapshot({"pci": now, "nvidia": nvidia(told(A, None))}),
                      snapshot({"pci": then, "nvidia": nvidia(told(A, None))})).rows
    assert {key: found["layer"] for key, found in rows.items()} == {A: "ok", f"{A} before": "no-pci-function"}


def test_a_gpu_that_was_broken_before_is_not_lost_now() -> None:
    broken = {"pci": pci(A), "nvidia": nvidia(told(A, answers=False))}
    found = row(broken, broken)
    assert (found["layer"], found["layer_before"], found["lost"]) == ("no-answer", "no-answer", False)


@pytest.mark.parametrize(
    "unread",
    [
        {"pci": [["functions", A, "driver"]]},
        {"nvidia": [["gpus"]]},
        {"nvidia": [["gpus", "GPU-a", "answers"]]},
    ],
)
def test_missing_evidence_is_unknown(unread: dict[str, list[list[str]]]) -> None:
    tables = healthy()
    if "pci" in unread:
        del tables["pci"]["functions"][A]["driver"]
    elif len(unread["nvidia"][0]) == 1:
        tables["nvidia"] = {"loaded": True}
    else:
        del tables["nvidia"]["gpus"]["GPU-a"]["answers"]
    found = gpu_layers(snapshot(tables, unread=unread), None)
    assert not found.rows and [u["why"] for u in found.unknown] == ["EACCES"]


def test_nothing_is_lost_from_a_bus_that_was_not_read() -> None:
    found = gpu_layers(snapshot({"nvidia": nvidia()}, states={"pci": "timeout"}), snapshot(healthy()))
    assert not found.rows and [u["subject"] for u in found.unknown] == [""]


def test_a_before_without_evidence_says_nothing_of_lost() -> None:
    before = snapshot({"pci": pci(A)}, states={"nvidia": "timeout"})
    found = gpu_layers(snapshot(healthy()), before).rows["GPU-a"]
    assert found["address_before"] == A and not {"layer_before", "lost"} & found.keys()


def test_amd() -> None:
    card = pci(A, vendor="1002", device="74a1", class_code="120000", driver="amdgpu")
    there = {"pci": card, "amdgpu": {"gpus": {"aaaa": {"address": A, "unique_id": "aaaa"}}}}
    assert row(there, key="aaaa")["layer"] == "ok"
    assert row({"pci": card, "amdgpu": {}}, key=A)["layer"] == "not-in-driver"


def test_recorded_hosts() -> None:
    before = taken("pve-epyc-before.tar.xz")
    lost = gpu_layers(taken("gpu-lost.tar.xz"), before)
    assert [row["layer"] for row in lost.rows.values()].count("ok") == 7
    assert [(r["layer"], r["xid"]) for r in lost.rows.values() if r["lost"]] == [("no-answer", [79])]
    hung = gpu_layers(taken("nvidia-smi-hangs.tar.xz"), before)
    assert not hung.rows and {u["why"] for u in hung.unknown} == {"timeout"} and len(hung.unknown) == 8
