from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import derived
from snapshot.derive.access.access_mode import openers, openers_of_passed
from snapshot.sections.devices import Node
from snapshot.sections.lxc import IdMap, PassedDevice

from ..made import CONF, dev, devices, lxc, mount, node, origin, part, rule, snapshot

RENDER = "101 /dev/dri/renderD128"
DEFAULT = [("u", 0, 100000, 65536), ("g", 0, 100000, 65536)]


def maps(*lines: tuple[str, int, int, int]) -> list[dict[str, Any]]:
    return [
        {"kind": kind, "container_id": inner, "host_id": outer, "count": count, "origin": origin(n, "lxc.idmap")}
        for n, (kind, inner, outer, count) in enumerate(lines, 1)
    ]


def who(mode: str, uid: int, gid: int, *lines: tuple[str, int, int, int], access: str = "rw") -> list[str] | None:
    found = Node.model_validate(node(226, 128, mode, uid=uid, gid=gid))
    return openers(found, [IdMap.model_validate(m) for m in maps(*lines or DEFAULT)], access)


@pytest.mark.parametrize(("mode", "uid", "gid", "expected"), [
    ("0660", 0, 0, []),
    ("0600", 0, 104, []),
    ("0664", 0, 0, []),
    ("0666", 0, 0, ["everyone"]),
    ("0000", 100000, 100000, ["root"]),
    ("0660", 101000, 0, ["uid 1000"]),
    ("0060", 101000, 0, []),
    ("0660", 0, 100044, ["gid 44"]),
    ("0600", 0, 100044, []),
    ("0660", 165535, 165535, ["root", "uid 65535", "gid 65535"]),
    ("0660", 165536, 165536, []),
    ("rw", 0, 0, None),
    ("", 0, 0, None),
])
def test_who_opens_by_mode_and_map(mode: str, uid: int, gid: int, expected: list[str] | None) -> None:
    assert who(mode, uid, gid) == expected


def test_reading_alone_and_holes_in_the_map() -> None:
    assert who("0664", 0, 0, access="r") == ["everyone"]
    assert who("0440", 0, 104, ("u", 0, 100000, 65536), ("g", 104, 104, 1), access="r") == ["gid 104"]
    assert who("0660", 0, 104, ("u", 0, 0, 1), ("g", 104, 104, 1)) == ["root", "gid 104"]
    assert who("0660", 0, 104, ("u", 0, 0, 1)) == [], "the owner's root without the group's map passes no mode"


def test_node_that_a_start_makes_lets_root_in_whatever_its_mode() -> None:
    passed = PassedDevice.model_validate(dev(5, "/dev/kfd"))
    assert openers_of_passed(passed) == ["root", "gid 0"]
    assert openers_of_passed(passed.copy(mode="0666")) == ["everyone"]
    assert openers_of_passed(passed.copy(mode="0000", gid=44)) == ["root"]
    assert openers_of_passed(passed.copy(uid=1000, gid=44)) == ["root", "uid 1000", "gid 44"]
    assert openers_of_passed(passed.copy(mode="0444", deny_write=True)) == ["everyone"]


def row(live: dict[str, Any], mode: str = "0660", **more: Any) -> Any:
    """The row of the render node, of group 104, in an unprivileged container."""
    now = devices()
    now["nodes"]["/dev/dri/renderD128"]["mode"] = mode
    section = lxc(live, **{"privileged": False, **more})
    return derived("device_access", snapshot(devices=now, lxc=section), None).rows[RENDER]


def test_eacces_is_denied_and_told_from_a_rule() -> None:
    found = row(part(mount(17, "/dev/dri/renderD128")))
    assert (found["access"], found["reason"]) == ("denied", "mode")
    assert (found["mode"], found["uid"], found["gid"]) == ("0660", 0, 104) and "openers" not in found
    assert "now" not in found
    assert found["durable"] == [
        f"sed -i '17{{\\|/dev/dri/renderD128|d}}' {CONF}", "pct set 101 -dev0 /dev/dri/renderD128,mode=0660",
    ]


def test_somebody_may_open_it_so_that_nothing_is_judged() -> None:
    mapped = maps(*DEFAULT[:1], ("g", 0, 100000, 104), ("g", 104, 104, 1), ("g", 105, 100105, 65431))
    found = row(part(mount(17, "/dev/dri/renderD128"), idmap=mapped))
    assert (found["access"], found["reason"], found["openers"]) == ("not-judged", "unprivileged", ["gid 104"])
    assert row(part(mount(17, "/dev/dri/renderD128")), mode="0666")["openers"] == ["everyone"]
    found = row({"devices": {"dev0": dev(5, "/dev/dri/renderD128", gid=44)}})
    assert (found["access"], found["openers"]) == ("not-judged", ["root", "gid 44"])


@pytest.mark.parametrize("live", [
    part(mount(17, "/dev/dri/renderD128", "bind,idmap=container,create=file")),
    part(mount(17, "/dev/dri/renderD128"), other=[
        {"key": "lxc.idmap", "value": "u 0", "origin": origin(9, "lxc.idmap: u 0")}]),
])
def test_owner_that_is_not_known_is_not_judged(live: dict[str, Any]) -> None:
    found = row(live)
    assert (found["access"], found["reason"]) == ("not-judged", "unprivileged") and "openers" not in found


def test_mode_of_the_node_that_makes_no_sense_is_not_judged() -> None:
    assert row(part(mount(17, "/dev/dri/renderD128")), mode="u=rw")["access"] == "not-judged"


def test_running_container_has_the_map_of_its_last_start() -> None:
    mapped = maps(*DEFAULT[:1], ("g", 104, 104, 1))
    live = part(mount(17, "/dev/dri/renderD128"), idmap=mapped)
    started = part(mount(30, "/dev/dri/renderD128"), idmap=maps(*DEFAULT))
    found = row(live, running=True, generated=started)
    assert (found["access"], found["reason"], found["access_next_start"]) == ("denied", "not-restarted", "not-judged")
    assert found["now"] == ["pct reboot 101"]
    found = row(part(mount(17, "/dev/dri/renderD128")), running=True, generated=part(
        mount(30, "/dev/dri/renderD128"), idmap=mapped))
    assert (found["access"], found["openers"], found["reason_next_start"]) == ("not-judged", ["gid 104"], "mode")


def test_root_of_a_privileged_container_passes_any_mode() -> None:
    found = row(part(rule(14, "c 226:* rwm"), mount(17, "/dev/dri/renderD128")), mode="0000", privileged=True)
    assert found["access"] == "allowed" and "openers" not in found
