"""NVMe drives, before and after."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.hardware.nvme_drives import nvme_drives

from ...pairs import snapshot

ADDRESS = "0000:42:00.0"


def storage(name: str = "nvme0", block: int | None = 4096, **more: Any) -> dict[str, Any]:
    drive = {"name": name, "serial": "S1", "state": "live", "transport": "pcie", "device": ADDRESS} | more
    queue = {"logical_block_bytes": block} if block else {}
    return {"blocks": {"S1": {"name": f"{name}n1", "serial": "S1", "queue": queue}}, "controllers": {"S1": drive}}


def entry(source: str) -> dict[str, Any]:
    origin = {"file": "/etc/fstab", "line": 3, "text": source}
    return {"/models": {"source": source, "fstype": "ext4", "options": [], "origin": origin}}


def pci(**functions: str) -> dict[str, Any]:
    more = {"vendor": "144d", "device": "a80a", "class_code": "010802", "source": "config"}
    return {"functions": {ADDRESS: {**more, **functions}}}


def row(was: dict[str, Any], now: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return nvme_drives(snapshot({"storage": now, **sections}), snapshot({"storage": was})).rows["S1"]


def test_alone_and_kept() -> None:
    assert "fault" not in nvme_drives(snapshot({"storage": storage()}), None).rows["S1"]
    assert "fault" not in row(storage(), storage())


@pytest.mark.parametrize(("state", "fault"), [
    ("dead", "dead"), ("deleting", "dead"), ("resetting", None), ("connecting", None)])
def test_states(state: str, fault: str | None) -> None:
    found = nvme_drives(snapshot({"storage": storage(state=state)}), None).rows["S1"]
    assert (found.get("fault"), found.get("bad_state")) == (fault, state if fault else None)


def test_another_format() -> None:
    assert row(storage(), storage(block=512)).items() >= {
        "fault": "reformatted", "block_before_bytes": 4096, "block_bytes": 512}.items()
    assert "fault" not in row(storage(), storage(block=None))


@pytest.mark.parametrize(("source", "fault"), [
    ("/dev/nvme0n1p1", "moved"), ("/dev/nvme0n1", "moved"), ("/dev/nvme01n1", "renamed"), ("UUID=1", "renamed"),
    ("/dev/nvme1n1p1", "renamed"), ("/dev/disk/by-id/nvme-S1-part1", "renamed"),
])
def test_another_number(source: str, fault: str) -> None:
    found = row(storage(), {**storage("nvme1"), "fstab": entry(source)})
    assert (found["fault"], found["name_before"]) == (fault, "nvme0")
    assert found.get("named_in") == ("/etc/fstab:3" if fault == "moved" else None)


def test_the_command_line_names_it() -> None:
    cmdline = {"tokens": ["quiet", "root=/dev/nvme0n1p2"], "parameters": {}}
    found = row(storage(), storage("nvme1"), cmdline=cmdline)
    assert (found["fault"], found["named_in"]) == ("moved", "root=/dev/nvme0n1p2")


def test_a_name_without_a_serial_says_nothing() -> None:
    def two(first: str, second: str) -> dict[str, Any]:
        return {"blocks": {}, "controllers": {"nvme0": {"name": first}, "nvme1": {"name": second}}}

    found = nvme_drives(snapshot({"storage": two("nvme0", "nvme1")}), snapshot({"storage": two("nvme0", "nvme1")}))
    assert all("fault" not in one for one in found.rows.values())


@pytest.mark.parametrize(("functions", "told"), [
    ({"functions": {}}, {"off_bus": True}),
    (pci(driver="vfio-pci"), {"on_bus": ADDRESS, "driver_now": "vfio-pci"}),
    (pci(), {"on_bus": ADDRESS}),
    (None, {}),
])
def test_gone(functions: dict[str, Any] | None, told: dict[str, Any]) -> None:
    before = snapshot({"storage": storage(), "pci": pci(driver="nvme")})
    after = snapshot({"storage": {"blocks": {}}, **({"pci": functions} if functions is not None else {})})
    found = nvme_drives(after, before).rows["S1"]
    assert (found["fault"], found["last_name"]) == ("gone", "nvme0")
    assert {key: found[key] for key in ("off_bus", "on_bus", "driver_now") if key in found} == told


def test_remote_controllers_have_no_row() -> None:
    before = snapshot({"storage": storage(transport="tcp")})
    assert nvme_drives(snapshot({"storage": {"blocks": {}}}), before).rows == {}


def test_unread_is_unknown() -> None:
    assert nvme_drives(snapshot({}, states={"storage": "failed"}), None).unknown[0]["subject"] == ""
    after = snapshot({"storage": storage()}, unread={"storage": [["controllers", "S1", "state"]]})
    assert [gap["subject"] for gap in nvme_drives(after, None).unknown] == ["S1"]
    lost = snapshot({"storage": {"blocks": {}}}, unread={"storage": [["controllers", "S1"]]})
    assert [gap["subject"] for gap in nvme_drives(lost, snapshot({"storage": storage()})).unknown] == ["S1"]


def nameless(**more: Any) -> dict[str, Any]:
    found = storage(**more)
    drive = found["controllers"].pop("S1")
    return found | {"controllers": {drive["name"]: {k: v for k, v in drive.items() if k != "serial"}}}


def test_a_drive_whose_serial_is_unread_is_the_one_at_its_address_or_may_be_it() -> None:
    before, unread = snapshot({"storage": storage()}), {"storage": [["controllers", "nvme0", "serial"]]}
    found = nvme_drives(snapshot({"storage": nameless()}, unread=unread), before)
    assert "fault" not in found.rows["nvme0"] and not found.unknown
    elsewhere = snapshot({"storage": nameless(device="0000:43:00.0")}, unread=unread)
    assert [gap["subject"] for gap in nvme_drives(elsewhere, before).unknown] == ["S1"]
    known = snapshot({"storage": nameless(device="0000:43:00.0")})
    assert nvme_drives(known, before).rows["S1"]["fault"] == "gone"
