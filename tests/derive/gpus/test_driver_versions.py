from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.driver_versions import driver_versions

from ...pairs import snapshot
from ...recordings import taken

V1, V2, KERNEL = "580.95.05", "590.10.01", "6.8.12-9-pve"


def host(libraries: dict[str, str], version: str | None = V1, **more: Any) -> dict[str, Any]:
    driver = {"driver": {"version": version, "flavour": "open"}} if version else {}
    return {"nvidia": {"loaded": bool(version), "user_space": {"libraries": libraries}, **driver},
            "modules": {"loaded": {"nvidia": {"version": version}} if version else {}}, "packages": {},
            "kernel": {"release": KERNEL}} | more


def row(tables: dict[str, Any], driver: str = "nvidia") -> dict[str, Any]:
    found = driver_versions(snapshot(tables), None)
    assert not found.unknown
    return found.rows[driver]


def test_libraries_of_the_loaded_version() -> None:
    found = row(host({"/usr/lib/libcuda.so.1": V1, "/usr/lib/libnvidia-ml.so.1": V1}))
    assert found["matches_user_space"] and found["user_space"] == [V1] and "other_libraries" not in found


def test_upgraded_without_a_reboot() -> None:
    disk = {KERNEL: {"files": {"nvidia": {"file": "n.ko", "version": V2, "flavour": "open"}}, "missing": []}}
    tables = host({"/usr/lib/libcuda.so.1": V2, "/usr/lib32/libcuda.so.1": V1})
    tables["modules"]["kernels"] = disk
    tables["packages"] = {"installed": {
        "libcuda1": {"version": f"{V2}-1"}, "nvidia-container-toolkit": {"version": "1.17.8-1"},
        "nvidia-driver-590": {"version": f"1:{V2}-0ubuntu1"}, "libnvidia-container1": {"version": "1.17.8-1"}}}
    found = row(tables)
    assert not found["matches_user_space"] and found["other_libraries"] == ["/usr/lib/libcuda.so.1"]
    assert (found["user_space"], found["packages"]) == ([V1, V2], [V2])
    assert (found["disk_version"], found["changed_on_disk"]) == (V2, True)


def test_another_flavour_on_the_disk_is_a_change() -> None:
    tables = host({"/l": V1})
    tables["modules"]["kernels"] = {
        KERNEL: {"files": {"nvidia": {"file": "n", "version": V1, "flavour": "proprietary"}}, "missing": []}}
    assert row(tables)["changed_on_disk"] is True


@pytest.mark.parametrize(("manager", "fits"), [(V1, True), (V2, False), (None, None)])
def test_fabric_manager(manager: str | None, fits: bool | None) -> None:
    switch = {"vendor": "10de", "class_code": "068000", "source": "config"}
    tables = host({"/l": V1}, pci={"functions": {"0000:01:00.0": switch}})
    if manager:
        tables["nvidia"]["user_space"]["fabric_manager"] = manager
    found = row(tables)
    assert found.get("matches_fabric_manager") is fits and found["nvswitches"] == 1


def test_libraries_without_a_module_are_compared_with_nothing() -> None:
    found = row(host({"/l": V1}, None))
    assert not found["loaded"] and found["user_space"] == [V1] and "matches_user_space" not in found


def test_a_host_without_any_of_it_has_no_row() -> None:
    tables: dict[str, Any] = {"nvidia": {"loaded": False}, "modules": {"loaded": {"loop": {}}}}
    assert driver_versions(snapshot(tables), None).rows == {}
    absent = snapshot({"modules": {"loaded": {}}}, states={"nvidia": "absent"})
    assert not driver_versions(absent, None).rows and not driver_versions(absent, None).unknown


def test_zfs_tools_are_shown_and_not_judged() -> None:
    tables = {"modules": {"loaded": {"zfs": {"version": "2.3.4-pve1"}}}, "nvidia": {"loaded": False},
              "packages": {"installed": {"zfsutils-linux": {"version": "2.2.7-pve2"}}}}
    found = row(tables, "zfs")
    assert found == {"driver": "zfs", "loaded": True, "version": "2.3.4-pve1", "user_space": ["2.2.7-pve2"]}


@pytest.mark.parametrize("path", [["loaded"], ["driver", "version"], ["user_space", "libraries"]])
def test_missing_evidence_is_unknown(path: list[str]) -> None:
    found = driver_versions(snapshot(host({"/l": V1}), unread={"nvidia": [path]}), None)
    assert "nvidia" not in found.rows and [u["subject"] for u in found.unknown] == ["nvidia"]


def test_recorded_hosts() -> None:
    for name in ("pve-epyc-after.tar.xz", "ubuntu-gpu.tar.xz"):
        found = driver_versions(taken(name), None)
        assert found.rows["nvidia"]["matches_user_space"] and found.rows["nvidia"]["flavour_fits"]
        assert not any(row.get("changed_on_disk") for row in found.rows.values()) and not found.unknown


@pytest.mark.parametrize(("following", "fits"), [(V1, False), (V2, True), (None, None)])
def test_a_fabric_manager_against_the_driver_that_boots_next(following: str | None, fits: bool | None) -> None:
    tables = host({"/usr/lib/libcuda.so.1": V2})
    tables["nvidia"]["user_space"]["fabric_manager"] = V2
    tables["boot"] = {"next": {"kernel": "6.14", "by": "newest"}}
    files = {"nvidia": {"file": "n.ko", "version": following}} if following else {}
    tables["modules"]["kernels"] = {"6.14": {"files": files, "missing": []}}
    assert row(tables).get("fabric_manager_next") is fits
