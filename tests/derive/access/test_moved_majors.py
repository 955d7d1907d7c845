from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.access.moved_majors import moved_majors
from snapshot.document import State

from ...pairs import snapshot

CONF, COMMON = "/etc/pve/lxc/101.conf", "/usr/share/lxc/config/common.conf"
NONE: dict[str, State] = {"runtimes": "absent", "units": "absent", "modules": "absent", "nvidia": "absent"}


def rule(line: int, value: str, key: str = "lxc.cgroup2.devices.allow", file: str = CONF) -> dict[str, Any]:
    return {"key": key, "value": value, "origin": {"file": file, "line": line, "text": f"{key}: {value}"}}


def host(driver: str, major: int, path: str, *rules: str, node: int | None = None) -> dict[str, Any]:
    """A host whose container 101 is given PATH and has RULES."""
    at = {"type": "c", "major": node or major, "minor": 0, "mode": "0666", "uid": 0, "gid": 0}
    mount = {"source": path, "target": path[1:], "fstype": "none", "options": ["bind", "create=file"],
             "origin": {"file": CONF, "line": 1, "text": f"lxc.mount.entry: {path}"}}
    container = {"manager": "pve", "config_file": CONF, "privileged": True, "running": False,
                 "live": {"device_rules": list(map(rule, range(2, 9), rules)), "mount_entries": [mount]}}
    includes = {COMMON: {"device_rules": [rule(1, "a", "lxc.cgroup2.devices.deny", COMMON)]}}
    return {"devices": {"character": {driver: [major]}, "block": {}, "nodes": {path: at}},
            "lxc": {"containers": {"101": container}, "includes": includes}}


def row(now: dict[str, Any], then: dict[str, Any] | None, driver: str = "kfd", **states: State) -> dict[str, Any]:
    found = moved_majors(snapshot(now, states=NONE | states), snapshot(then, states=NONE) if then else None)
    assert not found.unknown
    return found.rows[driver]


@pytest.mark.parametrize(
    ("driver", "path"),
    [
        ("kfd", "/dev/kfd"),
        ("nvidia-caps", "/dev/nvidia-caps/nvidia-cap1"),
        ("nvidia-caps-imex-channels", "/dev/nvidia-caps-imex-channels/channel0"),
    ],
)
def test_a_container_is_stopped_by_the_old_number(driver: str, path: str) -> None:
    found = row(host(driver, 509, path, "c 511:* rwm"), host(driver, 511, path, "c 511:* rwm"), driver)
    assert found["moved"] and (found["major_before"], found["major"], found["owner"]) == (511, 509, "nobody")
    assert (found["named"], found["containers"]) == (f"{CONF}:2", ["101"]) and "others" not in found
    assert any(line.startswith("sed ") for line in found["now"])
    assert found["only_containers"] and "stale_nodes" not in found


def test_a_list_of_candidates_stops_nothing() -> None:
    rules = ("c 511:* rwm", "c 509:* rwm")
    found = row(host("kfd", 509, "/dev/kfd", *rules), host("kfd", 511, "/dev/kfd", *rules))
    assert found["moved"] and "named_by" not in found and "unknown" not in found


def test_an_unprivileged_container_is_not_stopped() -> None:
    now, then = host("kfd", 509, "/dev/kfd", "c 511:* rwm"), host("kfd", 511, "/dev/kfd", "c 511:* rwm")
    now["lxc"]["containers"]["101"]["privileged"] = False
    assert "named_by" not in row(now, then)


def test_a_node_that_kept_the_number() -> None:
    found = row(host("kfd", 509, "/dev/kfd", "c 509:* rwm", node=511), host("kfd", 511, "/dev/kfd"))
    assert found["stale_nodes"] == ["/dev/kfd"] and found["named"] == "/dev/kfd"
    assert (found["remove_nodes"], found["wrong_major"]) == (["rm /dev/kfd"], 511)
    assert not {"wrong_owner", "only_containers"} & found.keys()


def test_a_node_with_the_number_of_another_driver_needs_no_before() -> None:
    path = "/dev/nvidia-caps/nvidia-cap4323"
    now = host("nvidia-caps", 511, path, "c 511:* rwm", node=234)
    now["devices"]["character"]["nvidia-caps-imex-channels"] = [234]
    found = row(now, None, "nvidia-caps")
    assert found["stale_nodes"] == [path] and "moved" not in found
    assert (found["wrong_major"], found["wrong_owner"]) == (234, "nvidia-caps-imex-channels")


def test_another_driver_has_the_number_now() -> None:
    now = host("kfd", 509, "/dev/kfd")
    now["devices"]["character"]["nvidia-uvm"] = [511]
    assert row(now, host("kfd", 511, "/dev/kfd"))["owner"] == "nvidia-uvm"


def test_what_is_unread_may_name_it() -> None:
    now = host("kfd", 509, "/dev/kfd", "c 509:* rwm")
    assert "named_by" in row(now, host("kfd", 511, "/dev/kfd"), units="failed")["unknown"]


def test_a_driver_without_number_has_no_row() -> None:
    now = {"devices": {"character": {"nvidia": [195]}, "block": {}, "nodes": {}}}
    assert moved_majors(snapshot(now, states=NONE), None).rows == {}


def test_numbers_that_were_not_read() -> None:
    blind = snapshot({"devices": {"character": {}, "block": {}}}, unread={"devices": [["character"]]})
    found = moved_majors(blind, None)
    assert not found.rows and [gap["subject"] for gap in found.unknown] == [""]
