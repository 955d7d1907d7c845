from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.dkms_builds import dkms_row, headers_row
from snapshot.derive.boot.module_state import module_state, releases
from snapshot.derive.facts import Derived
from snapshot.derive.gpus.nvidia_flavour import wanted_flavour

from ...pairs import snapshot
from ...recordings import taken

OLD, NEW = "6.8.12-9-pve", "6.14.11-1-pve"
V1, V2 = "580.95.05", "590.10.01"
MADE = {"nvidia": {"versions": {V1: {"autoinstall": True, "builds": {
    OLD: {"x86_64": {"state": "installed", "modules": ["nvidia", "nvidia-uvm"]}}}}}}}


def file(version: str = V1, **more: Any) -> dict[str, Any]:
    return {"file": "updates/dkms/nvidia.ko", "version": version, "flavour": "open", "license": "Dual MIT/GPL",
            "vermagic": "x"} | more


def disk(*missing: str, **files: dict[str, Any]) -> dict[str, Any]:
    return {"files": files, "missing": list(missing)}


def host(new: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A host that runs OLD and boots NEW, which has on its disk what NEW says."""
    section = {"loaded": {"nvidia": {"version": V1}, "zfs": {}},
               "kernels": {OLD: disk(nvidia=file(), zfs={"file": "zfs/zfs.ko"}), NEW: new}}
    tables: dict[str, Any] = {
        "modules": section, "kernel": {"release": OLD},
        "boot": {"next": {"kernel": NEW, "by": "newest"}}, "dkms": {"modules": MADE}, "firmware": {},
        "packages": {"installed": {f"proxmox-kernel-{NEW}-signed": {"version": "1"}}},
        "nvidia": {"loaded": True, "driver": {"version": V1, "flavour": "open"},
                   "user_space": {"libraries": {"/usr/lib/libcuda.so.1": V1}}},
    }
    return tables | more


def state(tables: dict[str, Any], **more: Any) -> Derived:
    return module_state(snapshot(tables, **more), None)


def test_the_next_kernel_has_no_module() -> None:
    found = state(host(disk("nvidia", zfs={"file": "zfs/zfs.ko"})))
    row = found.rows[f"{NEW} nvidia"]
    assert row == row | {
        "boots_next": True, "running": False, "needed": True, "on_disk": False, "builtin": False, "available": False,
        "dkms": "nvidia", "dkms_state": "missing", "headers_installed": False,
        "headers_package": f"proxmox-headers-{NEW}",
    }
    assert not {"version", "matches_user_space", "flavour", "signed"} & row.keys()
    running = found.rows[f"{OLD} nvidia"]
    assert running["available"] and running["dkms_state"] == "installed" and not running["boots_next"]
    assert running["loaded"] and running["matches_loaded"] and running["matches_user_space"]
    assert found.rows[f"{NEW} zfs"]["available"] and not found.unknown


def test_another_version_on_the_disk_than_in_use() -> None:
    row = state(host(disk(nvidia=file(V2, flavour="proprietary")))).rows[f"{NEW} nvidia"]
    assert (row["version"], row["matches_loaded"], row["matches_user_space"]) == (V2, False, False)
    assert (row["loaded_version"], row["loaded_flavour"], row["user_space"]) == (V1, "open", [V1])


def test_part_of_the_kernel_is_not_missing() -> None:
    row = state(host(disk("nvidia"))).rows[f"{NEW} zfs"]
    assert row["builtin"] and row["available"] and not row["on_disk"]


def test_a_kernel_without_modules_at_all() -> None:
    tables = host(disk())
    del tables["modules"]["kernels"][NEW]
    row = state(tables).rows[f"{NEW} nvidia"]
    assert row["no_modules"] and not row["available"]


@pytest.mark.parametrize(("signer", "signed"), [({"signer": "DKMS"}, True), ({}, False)])
def test_signature(signer: dict[str, str], signed: bool) -> None:
    row = state(host(disk(nvidia=file(**signer)), firmware={"secure_boot": True})).rows[f"{NEW} nvidia"]
    assert (row["signed"], row["secure_boot"]) == (signed, True)


def test_a_file_that_was_not_opened_is_not_called_unsigned() -> None:
    assert "signed" not in state(host(disk(nvidia={"file": "kernel/nvidia.ko"}))).rows[f"{NEW} nvidia"]


def test_debian_names_and_several_of_them() -> None:
    one = state(host(disk(nvidia_current=file(V2), nvidia_current_uvm={"file": "u"}))).rows[f"{NEW} nvidia"]
    assert one["version"] == V2 and "candidates" not in one
    two = state(host(disk(nvidia_current=file(), nvidia_tesla_535=file(V2)))).rows[f"{NEW} nvidia"]
    assert two["candidates"] == ["nvidia_current", "nvidia_tesla_535"] and two["available"] and "version" not in two


def test_what_the_host_has_nothing_to_do_with_has_no_row() -> None:
    assert {key.split()[1] for key in state(host(disk(nvidia=file()))).rows} == {"nvidia", "zfs"}


def test_unread_parts() -> None:
    found = state(host(disk(nvidia={"file": "updates/dkms/nvidia.ko"}), boot={}, packages={}), unread={
        "modules": [["kernels", NEW, "files", "nvidia"]], "boot": [["next"]], "packages": [["installed"]]})
    row = found.rows[f"{NEW} nvidia"]
    assert {"boots_next", "headers_installed", "version", "signer"} <= row["unknown"].keys()
    assert not {"boots_next", "headers_installed", "version", "signed"} & row.keys()
    whole = state(host(disk()), unread={"modules": [["kernels", NEW]]})
    assert [u["subject"] for u in whole.unknown] == [f"{NEW} "]
    assert not any(key.startswith(NEW) for key in whole.rows)
    assert [u["subject"] for u in state({}, states={"modules": "denied"}).unknown] == [""]


def test_releases_are_in_order_and_complete() -> None:
    installed = {"6.2.16-3-pve": {"image": True, "initrd": True, "modules": False},
                 "5.15.0-1-pve": {"image": False, "initrd": False, "modules": True}}
    tables = host(disk(), kernel={"release": OLD, "installed": installed})
    assert releases(snapshot(tables)) == ["6.2.16-3-pve", OLD, NEW]


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({V1: {}}, ("added", V1)),
        ({V1: {"builds": {"x": {"x86_64": {"state": "installed"}}}}}, ("missing", V1)),
        ({V1: {"builds": {OLD: {"x86_64": {"state": "built"}}}}}, ("built", V1)),
        ({V1: {}, V2: {"builds": {OLD: {"x86_64": {"state": "installed"}}}}}, ("installed", V2)),
        ({V1: {"failed_for": OLD, "builds": {"x": {"x86_64": {"state": "built"}}}}}, ("missing", V1)),
    ],
)
def test_dkms_states(versions: dict[str, Any], expected: tuple[str, str]) -> None:
    row = dkms_row(snapshot({"dkms": {"modules": {"nvidia": {"versions": versions}}}}), "nvidia", OLD)
    assert (row["dkms_state"], row["dkms_version"]) == expected
    assert row.get("dkms_failed") is (True if "failed_for" in versions[V1] else None)


@pytest.mark.parametrize(
    ("name", "files", "is_nvidia"),
    [
        ("nvidia", None, True), ("nvidia-current", None, True), ("nvidia-fs", None, False),
        ("nvidia-srv", None, True), ("mine", ["nvidia", "nvidia-uvm"], True), ("nvidia", ["nvidia-fs"], False),
        ("nvidia-tesla-535", ["nvidia-tesla-535"], True), ("zfs", ["zfs", "spl"], False),
    ],
)
def test_which_dkms_name_makes_the_driver(name: str, files: list[str] | None, is_nvidia: bool) -> None:
    build: dict[str, Any] = {"state": "installed"} | ({"modules": files} if files else {})
    section = {"modules": {name: {"versions": {V1: {"builds": {OLD: {"x86_64": build}}}}}}}
    assert bool(dkms_row(snapshot({"dkms": section}), "nvidia", OLD)) is is_nvidia


@pytest.mark.parametrize(
    ("packages", "kernel", "expected"),
    [
        ({"proxmox-headers-6.8.12-9-pve": "1"}, OLD, (True, "proxmox-headers-6.8.12-9-pve")),
        ({"linux-image-6.1.0-28-amd64": "1"}, "6.1.0-28-amd64", (False, "linux-headers-6.1.0-28-amd64")),
        ({"pve-kernel-6.2.16-3-pve": "1"}, "6.2.16-3-pve", (False, "pve-headers-6.2.16-3-pve")),
        ({"kernel-devel": "5.14.0-503.el9"}, "5.14.0-503.el9.x86_64", (True, "kernel-devel")),
        ({"kernel-devel": "5.14.0-50.el9"}, "5.14.0-503.el9.x86_64", (False, None)),
        ({}, OLD, (False, None)),
    ],
)
def test_headers(packages: dict[str, str], kernel: str, expected: tuple[bool, str | None]) -> None:
    installed = {name: {"version": version} for name, version in packages.items()}
    row = headers_row(snapshot({"packages": {"installed": installed}}), kernel)
    assert (row["headers_installed"], row.get("headers_package")) == expected
    assert headers_row(snapshot({"packages": {}}), kernel) == {}


def gpus(*names: str, architecture: str | None = None, vendor: str = "10de") -> dict[str, Any]:
    functions = {f"0000:0{at}:00.0": {"vendor": vendor, "class_code": "030200", "name": name, "source": "config"}
                 for at, name in enumerate(names)}
    told = {address: {"address": address, "answers": True, "state": {"architecture": architecture}}
            for address in functions}
    return {"pci": {"functions": functions}} | ({"nvidia": {"gpus": told}} if architecture else {})


@pytest.mark.parametrize(
    ("tables", "flavour"),
    [
        (gpus("NVIDIA Corporation GB202GL [RTX PRO 6000 Blackwell]"), "open"),
        (gpus("NVIDIA Corporation GP102 [TITAN Xp]"), "proprietary"),
        (gpus("NVIDIA Corporation GV100GL [Tesla V100]"), "proprietary"),
        (gpus("NVIDIA Corporation GH100 [H100 SXM5]", "NVIDIA Corporation GA100"), None),
        (gpus("NVIDIA Corporation TU104GL [Tesla T4]"), None),
        (gpus("NVIDIA Corporation Device 2bb5"), None),
        (gpus("NVIDIA Corporation Device 2bb5", architecture="Blackwell"), "open"),
        (gpus("NVIDIA Corporation Device", architecture="Hopper"), None),
        (gpus("GB202 [x]", "GP102 [y]"), None),
        (gpus("GB202 of another vendor", vendor="1002"), None),
    ],
)
def test_flavour_that_gpus_need(tables: dict[str, Any], flavour: str | None) -> None:
    wanted = wanted_flavour(snapshot(tables))
    assert (wanted and wanted[0]) == flavour and (not wanted or wanted[1])


def test_the_wrong_flavour_on_the_disk() -> None:
    tables = host(disk(nvidia=file(flavour="proprietary")), pci=gpus("GB202 [x]")["pci"])
    found = state(tables).rows
    assert found[f"{NEW} nvidia"]["flavour_fits"] is False and found[f"{OLD} nvidia"]["flavour_fits"] is True
    assert found[f"{NEW} nvidia"]["wanted_by"] == ["GB202 [x]"]


@pytest.mark.parametrize("name", ["pve-epyc-before.tar.xz", "ubuntu-gpu.tar.xz", "amd-gpu.tar.xz"])
def test_healthy_recorded_hosts(name: str) -> None:
    found = module_state(taken(name), None)
    assert found.rows and not found.unknown
    for row in found.rows.values():
        assert row["available"] and row.get("flavour_fits", True) and row.get("matches_user_space", True)
        assert "unknown" not in row


def test_trees_without_source_are_named_with_what_removes_them() -> None:
    versions: dict[str, Any] = {"1; x": {"broken": True}, V1: {"builds": {OLD: {"x86_64": {"state": "installed"}}}}}
    row = dkms_row(snapshot({"dkms": {"modules": {"nvidia": {"versions": versions}}}}), "nvidia", OLD)
    assert (row["dkms_version"], row["dkms_left_over"]) == (V1, ["1; x"])
    assert row["dkms_clear"] == ["rm -r '/var/lib/dkms/nvidia/1; x'"]
    alone = dkms_row(snapshot({"dkms": {"modules": {"nvidia": {"versions": {V1: {"broken": True}}}}}}), "nvidia", OLD)
    assert alone["dkms_broken"] and not {"dkms_left_over", "dkms_clear"} & alone.keys()
