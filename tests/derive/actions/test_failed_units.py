from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.actions.failed_units import failed_units
from snapshot.derive.hardware.captures import captures
from snapshot.document import Snapshot, UnreadFact

from ...pairs import snapshot


def host(*failed: str, units: dict[str, Any] | None = None) -> Snapshot:
    return snapshot({"units": {"units": units or {}, "failed": {unit: {"active": "failed"} for unit in failed}}})


@pytest.mark.parametrize(("unit", "role"), [
    ("nvidia-persistenced.service", "gpu"), ("nvidia-fabricmanager.service", "gpu"), ("dcgm-exporter.service", "gpu"),
    ("pve-container@101.service", "guests"), ("docker.service", "guests"), ("pve-guests.service", "guests"),
    ("zfs-import-cache.service", "storage"), ("mnt-models.mount", "storage"), ("dev-sda3.swap", "storage"),
    ("networking.service", "network"), ("chrony.service", "clock"), ("systemd-sysctl.service", "tuning"),
    ("smartmontools.service", None), ("apt-daily.service", None), ("nvidia.service", None),
    ("dockerfile.service", None),
])
def test_what_a_unit_is_for(unit: str, role: str | None) -> None:
    row = failed_units(host(unit), None).rows[unit]
    assert (row["failed"], row.get("role")) == (True, role)


def test_a_unit_that_touches_tuning() -> None:
    command = {"key": "ExecStart", "text": "setpci", "origin": {"file": "/etc/x", "line": 1, "text": ""}}
    units = {"mine.service": {"state": "enabled", "file": "/etc/systemd/system/mine.service", "commands": [command]}}
    assert failed_units(host("mine.service", units=units), None).rows["mine.service"] == {
        "unit": "mine.service", "failed": True, "role": "tuning", "file": "/etc/systemd/system/mine.service"}


def test_units_that_work_with_the_nvidia_driver() -> None:
    origin = {"file": "/etc/x", "line": 1, "text": ""}
    line = {"text": "nvidia-smi -pm 1", "tools": ["nvidia-smi"], "origin": origin}
    side = snapshot({"units": {
        "units": {"a.service": {"state": "enabled", "commands": [{"key": "ExecStart"} | line]}},
        "scripts": {"/x": {"called_by": ["b.service"], "executable": True, "interpreter": "sh", "lines": [line]}},
        "failed": {f"{name}.service": {"active": "failed"} for name in ("a", "b", "c", "nvidia-persistenced")},
    }})
    rows = failed_units(side, None).rows
    assert [unit for unit, row in rows.items() if row.get("driver") == "nvidia"] == [
        "a.service", "b.service", "nvidia-persistenced.service"]


def test_a_guest_and_one_that_recovered() -> None:
    rows = failed_units(host("pve-container@101.service"), host("chrony.service")).rows
    assert rows["pve-container@101.service"]["guest"] == "101"
    assert rows["chrony.service"] == {"unit": "chrony.service", "failed": False, "role": "clock"}


def test_no_answer_of_systemctl() -> None:
    tables: dict[str, dict[str, Any]] = {"units": {"units": {}}}
    assert failed_units(snapshot(tables, unread={"units": [["failed"]]}), None).unknown[0]["why"] == "EACCES"


@pytest.mark.parametrize(("why", "told"), [
    ("EACCES", {"refused": 2, "broken": True}), ("needs root", {"refused": 2, "broken": True}),
    ("timeout", {"failed": 2, "broken": True}), ("exit code 9", {"failed": 2, "broken": True}),
    ("EIO", {"failed": 2, "broken": True}), ("the partition is not mounted", {"broken": False}),
])
def test_why_a_section_lacks_facts(why: str, told: dict[str, Any]) -> None:
    rows = captures(snapshot({"boot": {}}, unread={"boot": [["next"], ["menus", "a"]]}, why=why), None).rows
    row = rows["boot"]
    assert {key: row[key] for key in ("refused", "failed", "broken") if key in row} == told
    assert ("example" in row) is told["broken"] and (not told["broken"] or "boot.menus.a" in row["example"])


def test_rights_are_what_is_missing_only_where_nothing_failed_besides() -> None:
    side = snapshot({"pci": {"functions": {}}}, unread={"pci": [["functions", "a"]]}, why="EACCES")
    assert captures(side, None).rows["pci"]["rights"] is True
    facts = side.outcomes["pci"].unread or []
    facts.append(UnreadFact(path=["functions", "b"], source="lspci", why="timeout"))
    row = captures(side, None).rows["pci"]
    assert "rights" not in row and "timeout" in row["example"]


def test_sections_that_are_missing_as_a_whole() -> None:
    found = captures(snapshot({"boot": {}}, states={"pci": "failed", "nvidia": "absent", "net": "skipped"}), None).rows
    assert found["pci"] == {"section": "pci", "state": "failed", "why": "because", "broken": True}
    assert found["net"]["broken"] is False and not {"boot", "nvidia"} & found.keys()
