"""What is mounted, and what should be."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from snapshot.derive.hardware.mount_points import mount_points

from ...pairs import snapshot


def mount(source: str = "S1-part1", fstype: str = "ext4", **more: Any) -> dict[str, Any]:
    device = {"device": "/dev/nvme0n1p1"} if source.startswith("S1") else {}
    return {"source": source, "fstype": fstype, "options": ["rw"]} | device | more


def entry(fstype: str = "ext4", *options: str, **more: Any) -> dict[str, Any]:
    origin = {"file": "/etc/fstab", "line": 4, "text": "x"}
    return {"source": "UUID=1", "fstype": fstype, "options": [*options] or ["defaults"], "origin": origin} | more


def storage(mounts: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"blocks": {"S1": {"name": "nvme1n1", "serial": "S1"}}, "mounts": mounts or {}} | more


def row(place: str, after: dict[str, Any], before: dict[str, Any] | None = None, **more: Any) -> dict[str, Any] | None:
    then = snapshot({"storage": before}) if before else None
    return mount_points(snapshot({"storage": after, **more}), then).rows.get(place)


def test_mounted_as_asked() -> None:
    found = row("/models", storage({"/models": mount()}, fstab={"/models/": entry()}))
    assert found and "fault" not in found and found["lines"]


@pytest.mark.parametrize("options", [("nofail",), ("defaults",), ("ro", "_netdev")])
def test_asked_for_and_not_mounted(options: tuple[str, ...]) -> None:
    found = row("/models", storage(fstab={"/models": entry("ext4", *options)}))
    assert found and (found["fault"], found["asked_by"]) == ("configured", "/etc/fstab:4")
    assert found["now"] == ["mount /models"]


@pytest.mark.parametrize("wanted", [
    entry("ext4", "noauto"), entry("nfs", "x-systemd.automount"), entry("swap", "sw"), entry("proc"), entry("devpts"),
])
def test_not_for_the_boot(wanted: dict[str, Any]) -> None:
    assert row("/models", storage(fstab={"/models": wanted})) is None


@pytest.mark.parametrize(("place", "fstype"), [
    ("/run/x", "tmpfs"), ("/snap/x/1", "squashfs"), ("/var/lib/docker/x", "overlay"), ("none", "ext4"),
    ("/home/u/x", "fuse.x"),
])
def test_what_would_not_be_listed_is_not_missed(place: str, fstype: str) -> None:
    assert row(place, storage(fstab={place: entry(fstype)})) is None


def test_units() -> None:
    enabled = entry(enabled=True)
    found = row("/models", storage(mount_units={"/models": enabled}))
    assert found and found["now"] == ["systemctl start -- /models"]
    assert row("/models", storage(mount_units={"/models": entry(enabled=False)})) is None


def test_vanished_and_mended() -> None:
    found = row("/models", storage(), storage({"/models": mount()}))
    assert found and (found["fault"], found["was"]) == ("vanished", "ext4 S1-part1")
    assert found["now"] == ["mount -t ext4 /dev/nvme1n1p1 /models"]
    assert found["durable"] == [
        "echo UUID=$(blkid -s UUID -o value /dev/nvme1n1p1)' /models ext4 defaults,nofail 0 0' >> /etc/fstab"]


def test_its_disk_is_gone() -> None:
    found = row("/models", {"blocks": {}, "mounts": {}}, storage({"/models": mount()}))
    assert found and found["disk"] == "S1" and "now" not in found
    whole = row("/models", {"blocks": {}, "mounts": {}}, storage({"/models": mount("S1")}))
    assert whole and whole["disk"] == "S1"


def test_what_is_asked_for_stood_on_a_disk_that_is_gone() -> None:
    wanted = {"/models": entry()}
    found = row("/models", {"blocks": {}, "mounts": {}, "fstab": wanted}, storage({"/models": mount()}, fstab=wanted))
    assert found and (found["fault"], found["disk"]) == ("configured", "S1")
    there = row("/models", storage(fstab=wanted), storage({"/models": mount()}, fstab=wanted))
    assert there and "disk" not in there


@pytest.mark.parametrize(("place", "gone"), [
    ("/tmp", mount("tmpfs", "tmpfs")), ("/boot/efi", mount(fstype="vfat")), ("/media/usb", mount()),
    ("/mnt/vzsnap0", mount()), ("/x", mount("overlay", "overlay")), ("/run/media/u/d", mount()),
])
def test_what_comes_and_goes(place: str, gone: dict[str, Any]) -> None:
    assert row(place, storage(), storage({place: gone})) is None


def test_on_demand_now() -> None:
    after = storage(fstab={"/models": entry("ext4", "noauto")})
    assert row("/models", after, storage({"/models": mount()})) is None


def test_its_line_was_taken_out() -> None:
    found = row("/models", storage(), storage({"/models": mount()}, fstab={"/models": entry()}))
    assert found and found["taken_out"] == "/etc/fstab:4"


def test_zfs() -> None:
    data = {"/tank/a": mount("tank/a", "zfs")}
    lost = row("/tank/a", storage(pools={}), storage(data, pools={"tank": {}}))
    assert lost and (lost["pool"], lost["now"]) == ("tank", ["zpool import tank"])
    here = row("/tank/a", storage(pools={"tank": {}}), storage(data, pools={"tank": {}}))
    assert here and "pool" not in here and here["now"] == ["zfs mount tank/a"]


@pytest.mark.parametrize(("source", "fstype", "now"), [
    ("nas:/data", "nfs4", ["mount -t nfs4 nas:/data /data"]), ("<address>:/data", "nfs4", None),
    ("hugetlbfs", "hugetlbfs", ["mount -t hugetlbfs -o pagesize=1G hugetlbfs /data"]),
])
def test_what_has_no_disk(source: str, fstype: str, now: list[str] | None) -> None:
    was = storage({"/data": mount(source, fstype, options=["rw", "pagesize=1G"] if fstype == "hugetlbfs" else ["rw"])})
    found = row("/data", storage(), was)
    assert found and found.get("now") == now and found.get("network", False) is (fstype == "nfs4")


def test_hostile_places_are_quoted() -> None:
    place, source = "/a$(id)'b", "nas:/x;reboot"
    found = row(place, storage(), storage({place: mount(source, "nfs")}))
    assert found and shlex.split(found["now"][0]) == ["mount", "-t", "nfs", source, place]
    assert shlex.split(found["durable"][0])[:2] == ["echo", f"{source} {place} nfs defaults,nofail 0 0"]
    blank = row("/a b", storage(), storage({"/a b": mount()}))
    assert blank and "now" not in blank


def test_who_binds_it() -> None:
    origin = {"file": "/etc/pve/lxc/101.conf", "line": 9, "text": "x"}
    point = {"mp0": {"value": "/models/glm,mp=/models", "origin": origin}}
    raw = {"source": "/modelsX", "target": "x", "options": ["bind"], "origin": origin}
    containers = {
        "101": {"manager": "pve", "config_file": "x", "live": {"options": point}},
        "102": {"manager": "pve", "config_file": "x", "live": {"mount_entries": [raw]}},
    }
    found = row("/models", storage(fstab={"/models": entry()}), lxc={"containers": containers})
    assert found and found["used_by"] == ["101"]


@pytest.mark.parametrize("name", ["mounts", "fstab"])
def test_unread_after_is_unknown(name: str) -> None:
    found = mount_points(snapshot({"storage": {"blocks": {}}}, unread={"storage": [[name]]}), None)
    assert found.rows == {} and [gap["subject"] for gap in found.unknown] == [""]


def test_unread_before_is_unknown_and_what_is_asked_for_is_judged() -> None:
    before = snapshot({"storage": {"blocks": {}}}, unread={"storage": [["mounts"]]})
    found = mount_points(snapshot({"storage": storage(fstab={"/models": entry()})}), before)
    assert found.rows["/models"]["fault"] == "configured"
    assert [gap["what"] for gap in found.unknown] == ["what was mounted before"]


@pytest.mark.parametrize(("place", "found", "asked", "by_hand"), [
    ("/models", mount(), {}, True),
    ("/models", mount(), {"fstab": {"/models": entry("ext4", "noauto")}}, None),
    ("/models", mount(), {"mount_units": {"/models": entry(enabled=False)}}, None),
    ("/models", mount("server:/models", "nfs4"), {}, None),  # autofs may have mounted it
    ("/models", mount("tank/models", "zfs"), {}, None),  # mounted by zfs-mount
    ("/", mount(), {}, None), ("/boot/efi", mount(), {}, None), ("/var/lib/kubelet/x", mount(), {}, None),
    ("/mnt/pve/x", mount(), {}, None), ("/media/usb", mount(), {}, None), ("/variant", mount(), {}, True),
])
def test_mounted_by_hand(place: str, found: dict[str, Any], asked: dict[str, Any], by_hand: bool | None) -> None:
    told = row(place, storage({place: found}, **asked))
    assert told and told.get("by_hand") is by_hand and ("durable" in told) is bool(by_hand)
