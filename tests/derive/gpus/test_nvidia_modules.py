from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.nvidia_modules import libraries_in_use, nvidia_modules
from snapshot.document import Snapshot

from ...pairs import snapshot
from ...recordings import taken

V1, V2, NOW, NEXT = "580.95.05", "590.10.01", "6.8.12-9-pve", "6.14.11-1-pve"
LIB, KEY = "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "DKMS module signing key"
GPU = {"vendor": "10de", "class_code": "030200", "source": "config"}


def file(version: str = V1, flavour: str = "open", signer: str | None = KEY) -> dict[str, Any]:
    found = {"file": "updates/dkms/nvidia.ko", "version": version, "flavour": flavour, "license": "Dual MIT/GPL"}
    return {"files": {"nvidia": found | ({"signer": signer} if signer else {})}, "missing": []}


def host(loaded: bool = True, gpu: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The driver of V1 loaded, or not, with its file for both kernels, of which NEXT boots next."""
    driver = {"driver": {"version": V1, "flavour": "open"}} if loaded else {}
    found = {
        "nvidia": {"loaded": loaded, "user_space": {"libraries": {LIB: V1}}, **driver},
        "pci": {"functions": {"0000:01:00.0": GPU | (gpu or ({"driver": "nvidia"} if loaded else {}))}},
        "modules": {"loaded": {"nvidia": {}} if loaded else {}, "kernels": {NOW: file(), NEXT: file()}},
        "kernel": {"release": NOW, "lockdown": "none"}, "boot": {"next": {"kernel": NEXT, "by": "pin"}},
        "dkms": {}, "packages": {}, "firmware": {},
    }
    return found | more


def rows(tables: dict[str, Any], then: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    found = nvidia_modules(snapshot(tables, **more), snapshot(then) if then else None)
    assert not found.unknown
    return found.rows


def kernels(**more: Any) -> dict[str, Any]:
    return {"loaded": {"nvidia": {}}, "kernels": {NOW: file(), NEXT: file(**more)}}


def test_all_of_one_version() -> None:
    found = rows(host())
    assert [*found] == ["loaded", "next boot"]
    assert found["loaded"]["fits_user_space"] and found["loaded"]["next_version"] == V1
    assert found["next boot"]["same"] and found["next boot"]["refused"] is False and "unknown" not in found["next boot"]


def test_the_next_boot_loads_another_version_and_flavour() -> None:
    found = rows(host(modules=kernels(version=V2, flavour="proprietary")))
    following = found["next boot"]
    assert not following["same"] and not following["fits_user_space"] and following["kernel"] == NEXT
    assert (found["loaded"]["next_version"], found["loaded"]["next_flavour"]) == (V2, "proprietary")


@pytest.mark.parametrize(
    ("libraries", "versions"),
    [
        ({LIB: V1, "/usr/lib/libcuda.so.1": V2}, [V1]),  # 32-bit
        ({"/usr/lib/libcuda.so.1": V2}, [V2]),
        ({"/usr/lib64/libcuda.so.1": V1, "/usr/lib64/libnvidia-ml.so.1": V2}, [V1, V2]),
        ({"/opt/libcuda.so.1": V1}, [V1]),
        ({}, []),
    ],
)
def test_the_first_folder_counts(libraries: dict[str, str], versions: list[str]) -> None:
    assert libraries_in_use(snapshot({"nvidia": {"user_space": {"libraries": libraries}}})) == versions


def test_wanted_flavour_by_the_chip() -> None:
    name = "NVIDIA Corporation GB202GL [RTX PRO 6000 Blackwell]"
    wrong = host(gpu={"driver": "nvidia", "name": name}, modules=kernels(flavour="proprietary"))
    found = rows(wrong)
    assert found["loaded"]["fits_gpus"] and not found["next boot"]["fits_gpus"]
    assert found["next boot"]["wanted_by"] == [name]


@pytest.mark.parametrize(
    ("lockdown", "signer", "refused"),
    [
        ("none", None, False),
        ("integrity", KEY, False),  # the key whose module is loaded
        ("integrity", None, True),
        ("confidentiality", None, True),
        ("integrity", "another key", None),
    ],
)
def test_signatures(lockdown: str, signer: str | None, refused: bool | None) -> None:
    kernel = {"release": NOW, "lockdown": lockdown}
    found = rows(host(modules=kernels(signer=signer), kernel=kernel))["next boot"]
    assert found.get("refused") is refused and found["enforced"] is (lockdown != "none")
    assert ("refused" in found.get("unknown", {})) is (refused is None)


def test_sig_enforce_on_the_command_line() -> None:
    modules = kernels(signer=None) | {"builtin": {"module": {"parameters": {"sig_enforce": "Y"}}}}
    assert rows(host(modules=modules))["next boot"]["refused"] is True


def test_lockdown_is_unread() -> None:
    found = rows(host(kernel={"release": NOW}), unread={"kernel": [["lockdown"]]})["next boot"]
    assert {"enforced", "refused"} <= found["unknown"].keys() and "enforced" not in found


ORIGIN = {"file": "/etc/modprobe.d/x.conf", "line": 3, "text": "blacklist nvidia"}


@pytest.mark.parametrize(
    ("modules", "reason"),
    [
        ({}, None),
        ({"kernels": {NOW: {"files": {}, "missing": []}}}, "no-file"),
        ({"kernels": {}}, "no-file"),
        ({"blacklist": {"nvidia": {"origin": ORIGIN}}}, "blacklist"),
        ({"blacklist": {"nvidia": {"origin": ORIGIN, "refused": True}}}, "cmdline"),
        ({"install": {"nvidia": {"origin": ORIGIN, "command": "/bin/false"}}}, "install-command"),
        ({"install": {"nvidia": {"origin": ORIGIN, "command": "/sbin/modprobe -i nvidia && true"}}}, None),
    ],
)
def test_why_none_is_loaded(modules: dict[str, Any], reason: str | None) -> None:
    found = rows(host(False, modules={"loaded": {}, "kernels": {NOW: file()}} | modules))["not loaded"]
    assert found.get("reason") == reason and found["unbound"] == ["0000:01:00.0"] and found["gpus"] == 1
    assert ("origin" in found) is (reason in ("blacklist", "cmdline", "install-command"))


def test_signatures_that_are_enforced_since_before() -> None:
    locked = {"release": NOW, "lockdown": "integrity"}
    found = rows(host(False, kernel=locked), host())["not loaded"]
    assert found["reason"] == "signature" and found["loaded_before"]
    assert "reason" not in rows(host(False, kernel=locked))["not loaded"]
    unsigned = {"loaded": {}, "kernels": {NOW: file(signer=None)}}
    assert rows(host(False, kernel=locked, modules=unsigned))["not loaded"]["reason"] == "unsigned"


def test_no_driver_was_ever_installed() -> None:
    bare = host(False, nvidia={"loaded": False}, modules={"loaded": {}, "kernels": {NOW: {"files": {}, "missing": []}}})
    assert rows(bare) == {}
    assert rows(bare, host())["not loaded"]["loaded_before"]


@pytest.mark.parametrize("driver", ["vfio-pci", "nouveau"])
def test_another_driver_has_the_gpus(driver: str) -> None:
    assert "not loaded" not in rows(host(False, gpu={"driver": driver}))


def test_a_driver_that_is_unread() -> None:
    found = rows(host(False), unread={"pci": [["functions", "0000:01:00.0", "driver"]]})["not loaded"]
    assert found["unknown"].keys() == {"unbound"} and "unbound" not in found
    assert rows(host(False), unread={"pci": [["functions"]]})["not loaded"]["unknown"].keys() == {"unbound"}


def test_whether_it_is_loaded_is_unread() -> None:
    found = nvidia_modules(snapshot(host(nvidia={}), unread={"nvidia": [["loaded"]]}), None)
    assert not found.rows and [gap["subject"] for gap in found.unknown] == [""]


def test_it_is_no_matter_which_kernel_boots_when_all_have_the_loaded_file() -> None:
    boot: dict[str, Any] = {"boot": {}}
    unread = {"boot": [["next"]]}
    assert [*rows(host(**boot), unread=unread)] == ["loaded"]
    found = rows(host(**boot, modules=kernels(version=V2)), unread=unread)["next boot"]
    assert {"version", "fits_user_space"} <= found["unknown"].keys() and found["user_space"] == [V1]


def test_kernels_are_unread() -> None:
    modules: dict[str, Any] = {"loaded": {"nvidia": {}}}
    found = rows(host(modules=modules), unread={"modules": [["kernels"]]})
    assert "file" in found["next boot"]["unknown"] and found["loaded"]["fits_user_space"]


def test_files_of_several_names() -> None:
    several = file()
    several["files"] = {"nvidia_current": several["files"]["nvidia"], "nvidia_legacy_390xx": several["files"]["nvidia"]}
    found = rows(host(modules={"loaded": {"nvidia": {}}, "kernels": {NEXT: several}}))["next boot"]
    assert "nvidia_current" in found["unknown"]["version"]["why"]


def test_the_file_could_not_be_read() -> None:
    bare = {"files": {"nvidia": {"file": "n.ko"}}, "missing": []}
    modules: dict[str, Any] = {"loaded": {"nvidia": {}}, "kernels": {NEXT: bare}}
    unread = {"modules": [["kernels", NEXT, "files", "nvidia"]]}
    found = rows(host(modules=modules), unread=unread)["next boot"]
    assert {"version", "flavour", "fits_user_space"} <= found["unknown"].keys() and "same" not in found


@pytest.mark.parametrize("name", ["pve-epyc-after.tar.xz", "ubuntu-gpu.tar.xz"])
def test_recorded_hosts_fit(name: str) -> None:
    found = nvidia_modules(taken(name), None)
    assert not found.unknown and all(row["fits_user_space"] and row["fits_gpus"] for row in found.rows.values())


def test_hosts_without_any_of_it() -> None:
    empty: Snapshot = snapshot({}, states={"nvidia": "absent"})
    assert nvidia_modules(empty, None).rows == {} and nvidia_modules(empty, None).unknown == []
    assert nvidia_modules(snapshot({}, states={"nvidia": "failed"}), None).unknown
