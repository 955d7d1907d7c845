from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import Derived, derived

from ..made import CONF, dev, lxc, mount, origin, part, snapshot

NODES = {"nodes": {"0": {"cpus": "0-127"}, "1": {"cpus": "128-255"}, "2": {"cpus": ""}}}


def option(name: str, value: str) -> dict[str, Any]:
    return {name: {"value": value, "origin": origin(2, f"{name}: {value}")}}


def raw(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": value, "origin": origin(9, f"{key}: {value}")}


def started(cpus: str) -> dict[str, Any]:
    return {"other": [raw("lxc.cgroup2.cpuset.cpus", cpus)]}


def containers(now: dict[str, Any], then: dict[str, Any] | None = None) -> Derived:
    return derived("containers", snapshot(lxc=now, cpu=NODES), snapshot(lxc=then, cpu=NODES) if then else None)


def row(*lines: dict[str, Any], **more: Any) -> dict[str, Any]:
    whole = {name: more.pop(name) for name in ("options", "features", "devices", "other") if name in more}
    return containers(lxc(part(*lines, **whole), **more)).rows["101"]


def test_what_a_plain_container_has() -> None:
    assert row() == {
        "container": "101", "who": "container 101 (llm)", "manager": "pve", "privileged": True, "running": False,
        "config_file": CONF, "pinned": False, "gpu": False, "rdma": False, "nodes": 2,
    }
    assert row(hostname=None)["who"] == "container 101"


def test_the_cpus_of_the_last_start() -> None:
    found = row(options=option("cores", "16"), generated=started("0-11,128-131"))
    assert (found["cores"], found["cpus"], found["spread"]) == (16, "0-11,128-131", "node 0: 12, node 1: 4")
    assert found["per_node"] == {"0": 12, "1": 4}
    assert not {"cpus_before", "durable"} & found.keys()


def test_other_cpus_than_before_can_be_pinned() -> None:
    now, then = (lxc(part(), generated=started(cpus)) for cpus in ("8-15", "0-7"))
    found = containers(now, then).rows["101"]
    assert (found["cpus"], found["cpus_before"]) == ("8-15", "0-7")
    assert "1i lxc.cgroup2.cpuset.cpus: 0-7" in found["durable"][0]
    assert "durable" not in containers(now, now).rows["101"]


@pytest.mark.parametrize(("cpus", "known"), [
    ("0-7", True), ("'0-7'", True), ("all", False), ("", False), ("7-0", False),
])
def test_a_list_of_cpus_that_makes_no_sense_is_none(cpus: str, known: bool) -> None:
    assert ("cpus" in row(generated=started(cpus))) is known


@pytest.mark.parametrize(("key", "value", "pinned"), [
    ("lxc.cgroup2.cpuset.cpus", "0-7", True), ("lxc.cgroup.cpuset.cpus", "0-7", True),
    ("lxc.cgroup2.cpuset.cpus", "", False), ("lxc.cgroup2.cpuset.mems", "0", False),
])
def test_pinned_by_a_line_of_its_own(key: str, value: str, pinned: bool) -> None:
    assert row(other=[raw(key, value)])["pinned"] is pinned


@pytest.mark.parametrize(("path", "gpu", "rdma"), [
    ("/dev/nvidia0", True, False), ("/dev/nvidia-caps", True, False), ("/dev/kfd", True, False),
    ("/dev/dri", True, False), ("/dev/dri/renderD128", True, False), ("/dev/infiniband", False, True),
    ("/dev/infiniband/uverbs0", False, True), ("/dev/fuse", False, False), ("/dev/kfd2", False, False),
])
def test_devices_that_it_is_given(path: str, gpu: bool, rdma: bool) -> None:
    for found in (row(mount(3, path)), row(devices={"dev0": dev(3, path)})):
        assert (found["gpu"], found["rdma"]) == (gpu, rdma)


def test_confinement_and_limits() -> None:
    features = option("nesting", "1") | option("keyctl", "0")
    other = [raw("lxc.apparmor.profile", "unconfined"), raw("lxc.prlimit.memlock", "'unlimited'")]
    found = row(features=features, other=other)
    assert (found["nesting"], found["apparmor"], found["memlock"]) == (True, "unconfined", "unlimited")
    assert "keyctl" not in found


def test_unknown_while_a_file_is_unread() -> None:
    for path, subject, known in ((["containers"], "", 1), (["containers", "101", "live"], "101", 0)):
        found = derived("containers", snapshot({"lxc": path}, lxc=lxc(part())), None)
        assert [gap["subject"] for gap in found.unknown] == [subject] and len(found.rows) == known
    assert "nodes" not in derived("containers", snapshot(lxc=lxc(part())), None).rows["101"]
