"""What the settings expect: nouns and directories, with the line of the setting."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.facts import Derived
from snapshot.derive.hardware.expectations import expectations, expected_mounts
from snapshot.sections.base import Origin

from ...pairs import snapshot
from ...recordings import taken
from .test_mount_points import entry, mount, storage

GIB = 1 << 30


def located(*path: str | int) -> Origin:
    return Origin(file="snap.toml", line=len(path), text=".".join(map(str, path)))


def at(place: str, table: dict[str, Any], before: dict[str, Any] | None = None, **more: Any) -> dict[str, Any] | str:
    """The row of a directory, or why it is unknown."""
    then = snapshot({"storage": before}) if before else None
    found = expected_mounts(snapshot({"storage": table, **more}), then, {"mounts": [place]})
    return next(iter(found.rows.values()), None) or str(found.unknown[0]["why"])


def test_nothing_is_expected() -> None:
    after = snapshot({})
    for table in (expectations, expected_mounts):
        assert table(after, after) == table(after, None, {}) == Derived()


def test_nouns_with_the_line_that_expects_them() -> None:
    after = snapshot({"memory": {"blocks_bytes": 64 * GIB}}, states={"cpu": "denied"})
    found = expectations(after, None, {"memory_gib": 128, "cpus": 4, "mounts": ["/x"]}, located)
    row = found.rows["memory_gib"]
    assert (row["set_by"], row["lines"]) == ("snap.toml:2", [located("expect", "memory_gib").table()])
    assert (row["expected"], row["there"], row["missing"]) == (128, "64", 64)
    assert found.unknown == [
        {"subject": "cpus", "what": "how many CPUs there are", "source": "cpu", "why": "because"}]


def test_a_noun_that_there_is_not() -> None:
    with pytest.raises(KeyError):
        expectations(snapshot({}), None, {"gpu": 8})


@pytest.mark.parametrize("state", ["starting", "initializing"])
def test_what_is_missing_while_the_host_starts_may_yet_come(state: str) -> None:
    after = snapshot({"memory": {"blocks_bytes": 64 * GIB}, "storage": storage()}, meta={"system_state": state})
    short = expectations(after, None, {"memory_gib": 65})
    assert not short.rows and state in short.unknown[0]["why"]
    assert expectations(after, None, {"memory_gib": 64}).rows
    assert not expected_mounts(after, None, {"mounts": ["/x"]}).rows


def test_mounted() -> None:
    assert at("/models", storage({"/models": mount()})) == {"missing": 0}
    assert at("//models/", storage({"/models": mount()})) == {"missing": 0}
    assert at("/", storage({"/": mount()})) == {"missing": 0}


def test_mounted_above_is_not_mounted_there() -> None:
    assert at("/models/glm", storage({"/models": mount()})) == {"missing": 1}


def test_what_fstab_asks_for_is_mounted_by_it() -> None:
    found = at("/models", storage(fstab={"/models/": entry("ext4", "nofail")}))
    assert isinstance(found, dict)
    assert (found["missing"], found["asked_by"], found["now"]) == (1, "/etc/fstab:4", ["mount /models"])
    assert [line["file"] for line in found["lines"]] == ["/etc/fstab"]


def test_noauto_and_a_unit_that_nothing_starts() -> None:
    found = at("/a b", storage(fstab={"/a b": entry("ext4", "noauto")}))
    assert isinstance(found, dict) and found["now"] == ["mount '/a b'"]
    found = at("/-x", storage(mount_units={"/-x": entry(enabled=False)}))
    assert isinstance(found, dict) and found["now"] == ["systemctl start -- /-x"]


def test_what_was_mounted_before() -> None:
    found = at("/models", storage(), storage({"/models": mount()}))
    assert isinstance(found, dict) and found["was"] == "ext4 S1-part1" and "mount -t ext4" in found["now"][0]


@pytest.mark.parametrize("table", [
    storage(fstab={"/models": entry("nfs", "x-systemd.automount")}),
    storage(fstab={"/models": entry("fuse.lxcfs")}),
])
def test_what_is_mounted_on_demand_or_is_not_listed_is_unknown(table: dict[str, Any]) -> None:
    assert isinstance(at("/models", table), str)


@pytest.mark.parametrize(("place", "fstype", "known"), [
    ("/run/x", None, False), ("/home/app/data", None, False), ("/home/app/data", "ext4", True), ("/srv", None, True),
    ("/var/lib/docker/x", None, False), ("/home", "auto", True),
])
def test_places_that_are_not_listed_one_by_one(place: str, fstype: str | None, known: bool) -> None:
    found = at(place, storage(fstab={place: entry(fstype)}) if fstype else storage())
    assert isinstance(found, dict) is known


def test_mounts_that_were_not_read() -> None:
    after = snapshot({"storage": storage({"/models": mount()})}, unread={"storage": [["mounts"]]})
    assert [gap["why"] for gap in expected_mounts(after, None, {"mounts": ["/models"]}).unknown] == ["EACCES"]
    for odd in (snapshot({}), snapshot({}, states={"storage": "denied"})):
        assert not expected_mounts(odd, None, {"mounts": ["/models"]}).rows


def test_a_place_twice_is_one_row_and_the_lines_stand_together() -> None:
    after = snapshot({"storage": storage(fstab={"/models": entry()})})
    found = expected_mounts(after, None, {"mounts": ["/models", "/models/"]}, located)
    [row] = found.rows.values()
    assert [line["file"] for line in row["lines"]] == ["snap.toml", "/etc/fstab"] and row["set_by"] == "snap.toml:3"


def test_recorded_hosts() -> None:
    expect = {"gpus": 8, "nvme": 8, "dimms": 24, "cpus": 256, "numa_nodes": 2, "memory_gib": 1536, "mounts": ["/tank"]}
    for host, lost in (("gpu-lost.tar.xz", ["gpus"]), ("pve-epyc-after.tar.xz", [])):
        after = taken(host)
        rows = expectations(after, None, expect).rows
        assert [noun for noun, row in rows.items() if row["missing"]] == lost and len(rows) == 6
        assert expected_mounts(after, None, expect).rows["/tank"] == {"missing": 0}
