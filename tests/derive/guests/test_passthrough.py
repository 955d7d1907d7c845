from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.guests.passthrough import passthrough

from ...pairs import snapshot

GPU, AUDIO, VF = "0000:01:00.0", "0000:01:00.1", "0000:22:04.1"
LINE = {"file": "/etc/pve/qemu-server/105.conf", "line": 3, "text": "hostpci0: 01:00"}
IDS = {"file": "/etc/modprobe.d/vfio.conf", "line": 1, "text": "options vfio-pci ids="}


def functions(*addresses: str) -> dict[str, Any]:
    return {"pci": {"functions": {a: {"vendor": "10de", "device": "2bb5", "source": "config"} for a in addresses}}}


def machine(**hostpci: Any) -> dict[str, Any]:
    live = {"hostpci": {"hostpci0": {**hostpci, "origin": LINE}}}
    return {"machines": {"105": {"config_file": LINE["file"], "live": live}}}


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("0000:01:00.0", [GPU]),
        ("01:00.0", [GPU]),
        ("01:00", [GPU, AUDIO]),
        ("0000:01:00", [GPU, AUDIO]),
        ("0001:01:00", []),
        ("", []),
    ],
)
def test_addresses(written: str, given: list[str]) -> None:
    found = passthrough(snapshot(functions(GPU, AUDIO) | {"qemu": machine(host=[written])}), None)
    assert list(found.rows) == given
    assert all(row == {"guests": ["105"], "guest_lines": [LINE]} for row in found.rows.values())


def test_mappings() -> None:
    mapping = {"vf": {"devices": [{"paths": [VF], "origin": LINE}]}}
    tables = functions(GPU, VF) | {"qemu": machine(mapping="vf") | {"mappings": mapping}}
    assert list(passthrough(snapshot(tables), None).rows) == [VF]
    assert passthrough(snapshot(tables | {"qemu": machine(mapping="another")}), None).rows == {}


@pytest.mark.parametrize(
    ("value", "found"),
    [("10de:2bb5", True), ("1002:aaaa,10DE:2BB5:10de:204b", True), ("10de:22e8", False), ("", False)],
)
def test_ids_of_vfio_pci(value: str, found: bool) -> None:
    option = {"vfio_pci": {"ids": {"files": {"value": value, "origin": IDS}}}}
    rows = passthrough(snapshot(functions(GPU) | {"modules": {"options": option}}), None).rows
    assert rows == ({GPU: {"ids_line": IDS, "ids": "10de:2bb5"}} if found else {})


def test_nothing() -> None:
    assert passthrough(snapshot({}), None).rows == {}


@pytest.mark.parametrize(("uptime_s", "words", "tested"), [
    (3600, {"files": {"value": "10de:2bb5", "origin": IDS}}, True),
    (200_000, {"files": {"value": "10de:2bb5", "origin": IDS}}, None),
    (200_000, {"cmdline": {"value": "10de:2bb5", "origin": {**IDS, "file": "/proc/cmdline"}}}, True),
])
def test_whether_this_boot_had_the_option(uptime_s: int, words: dict[str, Any], tested: bool | None) -> None:
    tables = functions(GPU) | {"modules": {"options": {"vfio_pci": {"ids": words}}}}
    meta = {"taken": "2026-01-02T00:00:00Z", "uptime_s": uptime_s}
    found = passthrough(snapshot(tables, meta=meta, files={str(IDS["file"]): "0" * 64}), None)
    assert found.rows[GPU].get("ids_tested") is tested
