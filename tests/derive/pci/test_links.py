from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from snapshot.derive.facts import Derived
from snapshot.derive.pci.links import links

from ...pairs import snapshot
from ..machines import DOWN1, DOWN2, GPU1, GPU2, NIC, ROOT, UP, function, gpu, plain, switched


def of(pci: dict[str, Any], **sections: Any) -> Derived:
    return links(snapshot({"pci": pci, **sections}), None)


def nvidia(state: str) -> dict[str, Any]:
    return {"gpus": {"GPU-1": {"uuid": "GPU-1", "address": GPU1, "state": {"performance_state": state}}}}


def test_one_row_for_each_link_and_none_for_the_bus_within_a_switch() -> None:
    rows = of(switched()).rows
    assert {key: row["port"] for key, row in rows.items()} == {
        UP: ROOT, GPU1: DOWN1, GPU2: DOWN2, NIC: "0000:60:01.1"}
    assert {key: row["noun"] for key, row in rows.items()} == {
        UP: "switch", GPU1: "GPU", GPU2: "GPU", NIC: "NIC"}
    assert rows[UP]["devices"] == [GPU1, GPU2] and rows[GPU1]["devices"] == [GPU1]


@pytest.mark.parametrize(
    ("device", "port", "possible", "degraded", "limit"),
    [
        ((16, 16), 16, 16, False, None),
        ((8, 16), 16, 16, True, None),
        ((4, 16), 4, 4, False, "port"),
        ((4, 4), 16, 4, False, "device"),
        ((8, 16), 8, 8, False, "port"),
        ((2, 16), 4, 4, True, "port"),
    ],
)
def test_width(device: tuple[int, int], port: int, possible: int, degraded: bool, limit: str | None) -> None:
    pci = plain(link={"width": device[0], "widest": device[1]})
    pci["functions"][ROOT] = function("root port", [], link={"width": device[0], "widest": port})
    row = of(pci).rows[GPU1]
    assert (row["width"], row["possible_width"], row["degraded"]) == (device[0], possible, degraded)
    assert row.get("width_limited_by") == limit


def test_a_link_that_is_down_is_degraded() -> None:
    pci = plain(link={"width": None})
    pci["functions"][ROOT] = function("root port", [], link={"width": None})
    row = of(pci).rows[GPU1]
    assert row["degraded"] and "width" not in row and "below_possible" not in row


@pytest.mark.parametrize(("state", "slow"), [("P0", True), ("P8", None), (None, None)])
def test_speed_counts_for_a_gpu_at_p0_alone(state: str | None, slow: bool | None) -> None:
    more = {"nvidia": nvidia(state)} if state else {}
    row = of(plain(link={"speed_gts": 2.5}), **more).rows[GPU1]
    assert row["below_possible"] is True and row.get("slow") is slow and not row["degraded"]


def test_full_speed_at_p0_is_not_slow() -> None:
    assert of(plain(), nvidia=nvidia("P0")).rows[GPU1]["slow"] is False


def test_speed_is_limited_by_the_slower_end_and_fixed_by_either() -> None:
    pci = plain(link={"autonomous_speed_disabled": True})
    pci["functions"][ROOT] = function("root port", [], link={"max_speed_gts": 16.0, "target_speed_gts": 8.0})
    row = of(pci).rows[GPU1]
    assert (row["possible_speed_gts"], row["speed_limited_by"], row["target_speed_gts"]) == (16.0, "port", 8.0)
    assert row["speed_fixed"] == ["device"]


def test_payload() -> None:
    row = of(plain(link={"max_payload_bytes": 128, "max_payload_supported_bytes": 256})).rows[GPU1]
    assert (row["payload_bytes"], row["port_payload_bytes"], row["payload_possible_bytes"]) == (128, 256, 256)
    assert row["payload_differs"]
    assert not of(plain()).rows[GPU1]["payload_differs"]


def test_functions_of_one_device_share_a_link_and_virtual_ones_have_none() -> None:
    pci = plain()
    pci["functions"]["0000:43:00.1"] = function("endpoint", [ROOT], "040300")
    pci["functions"]["0000:43:00.4"] = gpu([ROOT], physical_function=GPU1)
    rows = of(pci).rows
    assert list(rows) == [GPU1] and rows[GPU1]["devices"] == [GPU1]


@pytest.mark.parametrize("end", [GPU1, ROOT])
def test_an_end_that_was_not_read_is_unknown(end: str) -> None:
    pci = plain()
    del pci["functions"][end]["express"]
    found = links(snapshot({"pci": pci}, unread={"pci": [["functions", end, "express"]]}), None)
    assert not found.rows and [(u["subject"], u["why"]) for u in found.unknown] == [(GPU1, "EACCES")]


def test_a_reserved_width_is_unknown() -> None:
    pci = plain()
    del pci["functions"][ROOT]["express"]["link"]["max_width"]
    unread = {"pci": [["functions", ROOT, "express", "link", "max_width"]]}
    found = links(snapshot({"pci": pci}, unread=unread), None)
    assert not found.rows and [u["subject"] for u in found.unknown] == [GPU1]


def test_without_places_only_what_matters_is_unknown() -> None:
    pci = plain()
    for one in pci["functions"].values():
        del one["bridges"]
    unread = {"pci": [["functions", address, "bridges"] for address in pci["functions"]]}
    found = links(snapshot({"pci": pci}, unread=unread), None)
    assert not found.rows and [u["subject"] for u in found.unknown] == [GPU1]


def test_no_row_where_no_slot_is_visible() -> None:
    alone = {"functions": {GPU1: gpu([])}}
    emulated = plain(link={"width": 8})
    emulated["functions"][ROOT] |= {"vendor": "1b36", "device": "000c"}
    conventional = {"functions": {ROOT: {"vendor": "1022", "bridges": [], "source": "config"},
                                  NIC: {"vendor": "10ec", "class_code": "020000", "bridges": [ROOT],
                                        "source": "config"}}}
    sections: list[dict[str, Any]] = [alone, emulated, conventional, {"functions": {}}]
    assert all(of(pci) == Derived() for pci in sections)


def test_before_is_that_of_the_same_function_wherever_it_was() -> None:
    then = plain(serial="a", link={"width": 16})
    now = {"functions": {ROOT: function("root port", []), "0000:45:00.0": gpu([ROOT], serial="a", link={"width": 8})}}
    row = links(snapshot({"pci": now}), snapshot({"pci": then})).rows["0000:45:00.0"]
    assert (row["address_before"], row["before"]["width"], row["narrower"]) == (GPU1, 16, True)
    same = links(snapshot({"pci": now}), snapshot({"pci": now})).rows["0000:45:00.0"]
    assert same["narrower"] is False and "before" not in of(now).rows["0000:45:00.0"]


def test_a_before_that_was_not_read_says_nothing() -> None:
    then = plain()
    del then["functions"][GPU1]["express"]
    before = snapshot({"pci": then}, unread={"pci": [["functions", GPU1, "express"]]})
    row = links(snapshot({"pci": deepcopy(plain())}), before).rows[GPU1]
    assert not {"before", "narrower"} & row.keys()
