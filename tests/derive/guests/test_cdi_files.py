from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.guests.cdi_files import cdi_files

from ...pairs import snapshot
from ...recordings import taken

FILE, LIB = "/etc/cdi/nvidia.yaml", "/usr/lib/x86_64-linux-gnu/libcuda.so"
NODE = {"type": "c", "minor": 0, "mode": "0666", "uid": 0, "gid": 0}


def host(major: int | None, uvm: int = 511, mounts: dict[str, str] | None = None, file: str = FILE, **more: Any) -> Any:
    node = {"type": "c", "major": major, "minor": 0} if major else {}
    edits = {"nodes": {"/dev/nvidia-uvm": node}} | ({"mounts": mounts} if mounts else {})
    nodes = {"/dev/nvidia-uvm": NODE | {"major": uvm}}
    return {
        "devices": {"character": {"nvidia-uvm": [uvm]}, "block": {}, "nodes": nodes},
        "nvidia": {"user_space": {"libraries": {f"{LIB}.1": "580.95.05"}}}, "lxc": {"containers": {}},
        "units": {"units": {}},
        "runtimes": {"cdi": {file: {"kind": "nvidia.com/gpu", "devices": {"0": edits}, "common": {}}}},
    } | more


def row(tables: Any, then: Any = None, file: str = FILE) -> dict[str, Any]:
    found = cdi_files(snapshot(tables), snapshot(then) if then else None)
    assert not found.unknown
    return found.rows[file]


def test_a_number_that_moved() -> None:
    found = row(host(508), host(508, 508))
    assert (found["nodes"], found["old_majors"], found["majors"]) == (["/dev/nvidia-uvm"], [508], [511])
    assert found["remade"] is False


@pytest.mark.parametrize("major", [511, None])
def test_a_number_that_is_right_or_not_written(major: int | None) -> None:
    assert "nodes" not in row(host(major))


@pytest.mark.parametrize(
    ("source", "others"),
    [
        (f"{LIB}.570.86.15", ["570.86.15"]),
        (f"{LIB}.580.95.05", None),
        ("/usr/lib/x86_64-linux-gnu/libnvidia-egl-gbm.so.1.1.2", None),  # of a version of its own
        ("/run/nvidia/driver/usr/lib/libcuda.so.570.86.15", None),  # of a driver container
        ("/lib/firmware/nvidia/570.86.15/gsp_ga10x.bin", None),
    ],
)
def test_libraries(source: str, others: list[str] | None) -> None:
    assert row(host(511, mounts={source: source})).get("other_versions") == others


def test_a_host_whose_libraries_are_elsewhere() -> None:
    tables = host(511, mounts={f"{LIB}.570.86.15": f"{LIB}.570.86.15"}, nvidia={})
    assert "other_versions" not in row(tables)
    found = cdi_files(snapshot(tables, unread={"nvidia": [["user_space", "libraries"]]}), None).rows[FILE]
    assert found["unknown"].keys() == {"other_versions"}


def test_a_file_below_run_is_made_anew() -> None:
    file = "/var/run/cdi/nvidia.yaml"
    assert row(host(511, file=file), file=file)["remade"] is True


def test_what_is_unread() -> None:
    tables = host(508)
    tables["devices"] = {"character": {}, "block": {}}
    found = cdi_files(snapshot(tables, unread={"devices": [["character"]]}), None)
    assert found.rows[FILE]["unknown"].keys() == {"nodes"}
    assert cdi_files(snapshot(tables, unread={"runtimes": [["cdi", FILE]]}), None).unknown[0]["subject"] == FILE
    assert cdi_files(snapshot({"runtimes": {}}, unread={"runtimes": [["cdi"]]}), None).unknown[0]["subject"] == ""


def test_other_vendors_and_recorded_hosts() -> None:
    tables = host(508)
    tables["runtimes"]["cdi"][FILE]["kind"] = "amd.com/gpu"
    assert cdi_files(snapshot(tables), None).rows == {}
    assert "nodes" not in cdi_files(taken("ubuntu-gpu.tar.xz"), None).rows[FILE]
    assert cdi_files(snapshot({}, states={"runtimes": "absent"}), None).rows == {}
