from __future__ import annotations

from typing import Any

from snapshot.derive.pci.pci_moves import pci_moves

from ...pairs import snapshot
from ..machines import GPU1, GPU2, NIC, ROOT, function, gpu
from ..made import origin

ONE, TWO = "00-00-00-00-00-00-00-01", "00-00-00-00-00-00-00-02"


def pci(**more: Any) -> dict[str, Any]:
    """Section pci: a root port and GPUs by address, each with its serial or its fields."""
    told = {address: one if isinstance(one, dict) else {"serial": one} for address, one in more.items()}
    return {"functions": {ROOT: function("root port", []), **{a: gpu([ROOT], **one) for a, one in told.items()}}}


def line(text: str) -> dict[str, Any]:
    return {"units": {}, "tmpfiles": {"/x": [{"type": "w", "origin": origin(3, text, "/etc/tmpfiles.d/x.conf")}]}}


def rows(now: dict[str, Any], then: dict[str, Any] | None = None, text: str = "") -> dict[str, Any]:
    sections = {"pci": now} | ({"units": line(text)} if text else {})
    found = pci_moves(snapshot(sections), snapshot({"pci": then}) if then else None)
    assert not found.unknown
    return found.rows


def test_a_gpu_that_moved_and_what_still_names_its_old_address() -> None:
    row = rows(pci(**{GPU2: ONE}), pci(**{GPU1: ONE}), f"w /sys/bus/pci/devices/{GPU1}/numa_node")[GPU2]
    assert (row["state"], row["address_before"], row["noun"]) == ("moved", GPU1, "GPU")
    assert row["users"][0]["line"] == 3 and "there_now" not in row and row["guest"] is False


def test_a_gpu_of_which_nothing_names_the_address() -> None:
    assert "users" not in rows(pci(**{GPU2: ONE}), pci(**{GPU1: ONE}), f"w /sys/bus/pci/devices/{GPU2}/x")[GPU2]


def test_the_commands_keep_the_form_of_the_address() -> None:
    found = rows(pci(**{GPU2: ONE}), pci(**{GPU1: ONE}), "for d in 43:00.0 0000:43:00.0 00000000:43:00.0; do # x/y")
    assert found[GPU2]["now"] == [
        "sed -i '3s/43:00\\.0/44:00.0/g' /etc/tmpfiles.d/x.conf",
        "sed -i '3s/0000:43:00\\.0/0000:44:00.0/g' /etc/tmpfiles.d/x.conf",
        "sed -i '3s/00000000:43:00\\.0/0000:44:00.0/g' /etc/tmpfiles.d/x.conf",
    ]


def test_what_has_the_old_address_now() -> None:
    swapped = rows(pci(**{GPU1: TWO, GPU2: ONE}), pci(**{GPU1: ONE, GPU2: TWO}), f"setpci -s {GPU1} ROM.l=0")
    assert swapped[GPU2]["same_kind"] and "users" not in swapped[GPU1]
    nic = {"serial": TWO, "vendor": "15b3", "device": "1021", "class_code": "020000", "name": "ConnectX-7"}
    other = rows(pci(**{GPU1: nic, GPU2: ONE}), pci(**{GPU1: ONE, NIC: nic}), f"setpci -s {GPU1} ROM.l=0")
    assert (other[GPU2]["there_now"], other[GPU2]["same_kind"]) == ("ConnectX-7", False)


def test_gone_and_its_place_taken() -> None:
    assert rows(pci(), pci(**{GPU1: ONE}))[GPU1]["state"] == "gone"
    nic = {"serial": TWO, "vendor": "15b3", "device": "1021", "class_code": "020000"}
    found = rows(pci(**{GPU1: nic}), pci(**{GPU1: ONE, NIC: nic}))
    assert found[f"{GPU1} before"]["state"] == "gone" and found[GPU1]["address_before"] == NIC


def test_no_fewer_of_a_kind_than_before_is_none_gone() -> None:
    plain: dict[str, Any] = {"subsystem_device": "0001"}
    then, now = pci(**{GPU1: plain, GPU2: plain}), pci(**{GPU2: plain, NIC: plain})
    assert rows(now, then) == {}
    assert [row["state"] for row in rows(pci(**{NIC: plain}), then).values()] == ["gone"]


def test_a_virtual_function_that_is_gone_counts_only_where_something_names_it() -> None:
    virtual = pci(**{GPU2: {"physical_function": GPU1}})
    assert rows(pci(), virtual) == {}
    assert rows(pci(), virtual, f"setpci -s {GPU2} ROM.l=0")[GPU2]["state"] == "empty"


def test_an_address_that_is_named_and_that_nothing_has() -> None:
    found = rows(pci(**{GPU1: ONE}), None, f"for d in {GPU1} {GPU2}; do")
    assert {key: row["state"] for key, row in found.items()} == {GPU2: "empty"}
    assert rows(pci(**{GPU1: ONE}), None, f"setpci -s {GPU1[:-2]} ROM.l=0") == {}


def test_of_what_is_gone_the_line_that_names_it_is_told_once() -> None:
    found = rows(pci(), pci(**{GPU1: ONE}), f"setpci -s {GPU1} ROM.l=0")
    assert {key: row["state"] for key, row in found.items()} == {GPU1: "gone"} and found[GPU1]["users"]


def test_a_host_without_pci_names_nothing_that_is_missing() -> None:
    assert pci_moves(snapshot({"units": line(f"setpci -s {GPU1} ROM.l=0")}), None).rows == {}


def test_unread_functions() -> None:
    every = pci_moves(snapshot({"pci": {"functions": {}}}, unread={"pci": [["functions"]]}), None)
    assert [gap["subject"] for gap in every.unknown] == [""]
    now, then = snapshot({"pci": pci()}, unread={"pci": [["functions", GPU1]]}), snapshot({"pci": pci(**{GPU1: ONE})})
    assert pci_moves(now, then).rows == {}
