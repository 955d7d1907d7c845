"""What the last start left, what the next one will meet, and the commands that go with it."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import Derived, derived
from snapshot.derive.access.access_reasons import REASONS
from snapshot.sections.lxc import NO_CGROUP2

from ..made import ALLOW, COMMON_PART, CONF, USERNS_PART, dev, devices, lxc, mount, node, origin, part, rule, snapshot

UVM = "101 /dev/nvidia-uvm"
V1 = "lxc.cgroup.devices.allow"
LXC_7, LXC_6 = {"lxc": "7.0.0-1"}, {"lxc": "1:6.0.4-2"}
GOOD = part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm"))


def judged(section: dict[str, Any], now: dict[str, Any] | None = None, then: dict[str, Any] | None = None,
           **sections: Any) -> Derived:
    before = snapshot(devices=then, lxc=section) if then else None
    found = derived("device_access", snapshot(devices=now or devices(), lxc=section, **sections), before)
    assert {r["reason"] for r in found.rows.values()} <= REASONS.keys()
    return found


def started(*values: str, base: dict[str, Any] = COMMON_PART, mounts: tuple[str, ...] = ()) -> dict[str, Any]:
    """What the last start generated: included rules, then these, then mount entries."""
    rules = [rule(20 + n, value, file="/var/lib/lxc/101/config") for n, value in enumerate(values)]
    return part(*base["device_rules"], *rules, *(mount(40 + n, path, "bind,optional") for n, path in enumerate(mounts)))


def passed(*paths: str, **more: Any) -> dict[str, Any]:
    return {"devices": {f"dev{n}": dev(5 + n, path, **more) for n, path in enumerate(paths)}}


def test_read_only_dev_with_the_numbers_of_the_last_start() -> None:
    live = passed("/dev/nvidia-uvm", deny_write=True)
    row = judged(lxc(live, running=True, generated=started("c 508:0 r")), devices(511), devices(508)).rows[UVM]
    assert (row["access"], row["reason"], row["old_major"]) == ("denied", "generated-config-stale", 508)
    assert [r["line"] for r in row["rules"]] == [20] and row["now"] == ["pct reboot 101"]
    row = judged(lxc(live, running=True, generated=started("c 511:0 r"))).rows[UVM]
    assert (row["access"], row["reason"]) == ("allowed", "ok")


@pytest.mark.parametrize("privileged", [True, False])
def test_node_that_devn_made_keeps_its_number_whatever_the_list_lets_through(privileged: bool) -> None:
    base = part(rule(1, "a", file=CONF)) if privileged else USERNS_PART
    section = lxc(passed("/dev/nvidia-uvm"), running=True, privileged=privileged,
                  generated=started("c 508:0 rw", base=base))
    row = judged(section, devices(511), devices(508)).rows[UVM]
    assert (row["access"], row["reason"], row["old_owner"]) == ("denied", "generated-config-stale", "nobody")
    assert row["access_next_start"] == ("allowed" if privileged else "not-judged")


def test_old_number_of_devn_is_another_drivers_now() -> None:
    section = lxc(passed("/dev/nvidia-uvm"), running=True, generated=started("c 508:0 rw"))
    row = judged(section, devices(511, hidraw=508), devices(508)).rows[UVM]
    assert (row["reason"], row["old_owner"]) == ("generated-config-stale", "hidraw")


def test_number_of_another_devn_is_not_the_old_one() -> None:
    """dev0 was there at the last start, dev1 was not; both have minor 0."""
    section = lxc(passed("/dev/nvidia0", "/dev/nvidia-uvm"), running=True, generated=started("c 195:0 rw"))
    rows = judged(section).rows
    assert rows["101 /dev/nvidia0"]["access"] == "allowed"
    assert (rows[UVM]["access"], rows[UVM]["reason"]) == ("denied", "not-restarted") and "rules" not in rows[UVM]


def test_container_that_has_devn_by_now_and_was_started_with_a_rule() -> None:
    section = lxc(passed("/dev/nvidia-uvm"), running=True,
                  generated=started("c 508:* rwm", mounts=("/dev/nvidia-uvm",)))
    row = judged(section, devices(511), devices(508)).rows[UVM]
    assert (row["access"], row["reason"], row["old_major"]) == ("denied", "not-restarted", 508)
    assert row["now"] == ["pct reboot 101"]


def test_v1_key_stops_the_start_of_lxc_7() -> None:
    live = part(rule(13, "c 508:* rwm", V1), rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm"))
    row = judged(lxc(live), os=LXC_6).rows[UVM]
    assert (row["access"], row["reason"]) == ("allowed", "ok")
    row = judged(lxc(live), os=LXC_7).rows[UVM]
    assert (row["access"], row["reason"], row["denied_by"]["line"]) == ("denied", "v1-key-refused", 13)
    assert row["now"] == [f"sed -i '13s/lxc.cgroup.devices./lxc.cgroup2.devices./' {CONF}"]
    section = lxc(live, running=True, generated=started("c 511:* rwm", mounts=("/dev/nvidia-uvm",)))
    row = judged(section, os=LXC_7).rows[UVM]
    assert (row["access"], row["reason_next_start"]) == ("allowed", "v1-key-refused")
    found = judged(lxc(live))
    assert not found.rows and found.unknown[0]["why"] == REASONS["lxc-version-unread"]


@pytest.mark.parametrize(("key", "refused"), [
    ("lxc.cgroup.memory.limit_in_bytes", True), ("lxc.cgroup.dir", False), ("lxc.cgroup.dir.container", False),
    ("lxc.cgroup.relative", False), ("lxc.cgroup2.memory.max", False), ("lxc.cgroup.directory", True),
])
def test_keys_that_lxc_7_does_not_know(key: str, refused: bool) -> None:
    live = GOOD | {"other": [{"key": key, "value": "1", "origin": origin(12, f"{key}: 1")}]}
    row = judged(lxc(live), os=LXC_7).rows[UVM]
    assert row["reason"] == ("v1-key-refused" if refused else "ok")
    assert not refused or ("now" not in row and CONF in row["warnings"][0] and key in row["warnings"][0])


def test_stale_rule_beside_a_key_that_stops_the_restart() -> None:
    live = part(rule(13, "c 195:* rwm", V1), rule(14, "c 508:* rwm"), mount(17, "/dev/nvidia-uvm"))
    section = lxc(live, running=True, generated=started("c 508:* rwm", mounts=("/dev/nvidia-uvm",)))
    row = judged(section, devices(511), devices(508), os=LXC_7).rows[UVM]
    assert row["reason"] == "stale-major" and row["now"] == [
        f"sed -i '14s/c 508:/c 511:/' {CONF}",
        f"sed -i '13s/lxc.cgroup.devices./lxc.cgroup2.devices./' {CONF}",
        "pct reboot 101",
    ]


@pytest.mark.parametrize("more", [
    {"other": [{"key": "lxc.cgroup2.device.allow", "value": "c 511:* rwm", "origin": origin(12, "wrong")}]},
    {"other": [{"key": "lxc.cgroup2.Devices.allow", "value": "c 511:* rwm", "origin": origin(12, "wrong")}]},
    {"ignored": [{"why": "LXC: no id map u|g CONTAINER HOST COUNT; the start fails", "origin": origin(12, "wrong")}]},
])
def test_line_that_stops_every_start(more: dict[str, Any]) -> None:
    row = judged(lxc(GOOD | more)).rows[UVM]
    assert (row["access"], row["reason"], row["denied_by"]["line"]) == ("denied", "line-refused", 12)
    assert "now" not in row and "wrong" in row["warnings"][0]


def test_line_that_is_only_skipped_stops_nothing() -> None:
    skipped = {"ignored": [{"why": "Proxmox VE: does not know lxc.foo", "origin": origin(12, "lxc.foo: 1")}]}
    assert judged(lxc(GOOD | skipped)).rows[UVM]["reason"] == "ok"


def test_host_with_cgroup_v1_is_not_judged() -> None:
    section = lxc(part(rule(14, "c 511:* rwm", V1), mount(17, "/dev/nvidia-uvm")), running=None)
    path = ["containers", "101", "running"]
    found = derived("device_access", snapshot({"lxc": path}, NO_CGROUP2, devices=devices(), lxc=section), None)
    assert not found.rows and [(u["subject"], u["why"]) for u in found.unknown] == [("101 ", NO_CGROUP2)]
    found = derived("device_access", snapshot({"lxc": path}, devices=devices(), lxc=section), None)
    assert found.rows[UVM]["reason"] == "v1-key"


def test_what_takes_the_place_of_the_node() -> None:
    now = devices(drop=("/dev/nvidia-uvm",))
    row = judged(lxc(GOOD), now).rows[UVM]
    assert (row["reason"], row["leaves_file"]) == ("optional-skipped", True)
    row = judged(lxc(part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm", "bind,optional"))), now).rows[UVM]
    assert row["reason"] == "optional-skipped" and "leaves_file" not in row
    now["nodes"]["/dev/nvidia-uvm"] = {"type": "directory", "mode": "0755", "uid": 0, "gid": 0}
    row = judged(lxc(GOOD), now).rows[UVM]
    assert (row["reason"], row["node_type"]) == ("node-not-a-device", "directory")


def test_block_node_where_the_driver_has_character_devices() -> None:
    now = devices()
    now["nodes"]["/dev/nvidia-uvm"] = node(511, 0, type="b")
    assert judged(lxc(GOOD), now).rows[UVM]["reason"] == "stale-node"


def test_node_that_nobody_may_write_to_is_asked_to_read() -> None:
    rows = judged(lxc(part(rule(14, "c 507:* r"), mount(19, "/dev/nvidia-caps", "bind,create=dir")))).rows
    assert {r["access"] for r in rows.values()} == {"allowed"} and len(rows) == 2


def test_nvidiactl_where_one_name_stands_for_all_of_195() -> None:
    now = devices()
    for names in (["nvidia"], ["nvidia-frontend"]):
        now["character"] = {name: [195] for name in names}
        row = judged(lxc(part(rule(14, "c 195:* rwm"), mount(17, "/dev/nvidiactl"))), now).rows["101 /dev/nvidiactl"]
        assert (row["access"], row["driver"]) == ("allowed", names[0])


@pytest.mark.parametrize(("device", "driver", "number"), [
    ("/dev/kfd", "kfd", 511), ("/dev/nvidia-caps/nvidia-cap2", "nvidia-caps", 236),
    ("/dev/nvidia-caps-imex-channels/channel0", "nvidia-caps-imex-channels", 509),
])
def test_every_dynamic_driver_can_go_stale(device: str, driver: str, number: int) -> None:
    sides = []
    for major in (number, 400):
        side = devices(505)
        side["character"][driver], side["nodes"][device] = [major], node(major, 0)
        sides.append(side)
    section = lxc(part(rule(14, f"c {number}:0 rw"), mount(17, device)))
    row = judged(section, sides[1], sides[0]).rows[f"101 {device}"]
    assert (row["reason"], row["old_major"], row["major"]) == ("stale-major", number, 400)
    assert row["corrected"][0]["new"] == f"{ALLOW}: c 400:0 rw"


def test_literal_minor_that_another_gpu_does_not_have() -> None:
    now = devices()
    now["nodes"]["/dev/nvidia1"] = node(195, 1)
    section = lxc(part(rule(14, "c 195:0 rw"), mount(17, "/dev/nvidia0"), mount(18, "/dev/nvidia1")))
    rows = judged(section, now).rows
    assert [rows[f"101 /dev/nvidia{n}"]["reason"] for n in (0, 1)] == ["ok", "never-allowed"]


HOOK = {"hooks": [{"key": "hookscript", "value": "local:snippets/x.pl", "origin": origin(3, "hookscript: x")}]}
MOUNT_HOOK = {"hooks": [{"key": "lxc.hook.mount", "value": "/root/x", "origin": origin(3, "lxc.hook.mount: /root/x")}]}


@pytest.mark.parametrize(("live", "reason"), [
    (GOOD | HOOK, "hook-may-rewrite"),
    (GOOD | MOUNT_HOOK, "hook-may-rewrite"),
    (passed("/dev/nvidia-uvm") | HOOK, "node-missing"),
    (part(mount(17, "/dev/nvidia-uvm") | {"options": []}) | HOOK, "mount-broken"),
])
def test_node_that_a_hook_may_make_before_the_start_needs_it(live: dict[str, Any], reason: str) -> None:
    found = judged(lxc(live), devices(drop=("/dev/nvidia-uvm",)))
    if reason in {r["reason"] for r in found.rows.values()}:
        assert found.rows[UVM]["access"] == "denied"
    else:
        assert [u["why"] for u in found.unknown] == [REASONS[reason]]


def test_hook_of_the_mounts_rewrites_no_rule() -> None:
    live = part(rule(14, "c 508:* rwm"), mount(17, "/dev/nvidia-uvm")) | MOUNT_HOOK
    assert judged(lxc(live), devices(511), devices(508)).rows[UVM]["reason"] == "stale-major"


def test_commands_of_one_container_end_with_one_restart() -> None:
    """A stale rule, a rule that is missing and a stale node: three stories of one container."""
    now, paths = devices(511, 507), ("/dev/nvidia-uvm", "/dev/nvidia-caps", "/dev/dri/renderD128")
    now["nodes"]["/dev/nvidia-uvm-tools"] = node(508, 1)
    live = part(rule(14, "c 508:* rwm"), rule(15, "c 506:* rwm"), mount(17, paths[0]), mount(18, paths[1], "bind"),
                mount(19, paths[2]), mount(20, "/dev/nvidia-uvm-tools"))
    section = lxc(live, running=True, generated=started(
        "c 508:* rwm", "c 506:* rwm", mounts=(*paths, "/dev/nvidia-uvm-tools")))
    rows = judged(section, now, devices(508, 506)).rows
    assert {r["reason"] for r in rows.values()} == {"stale-major", "never-allowed", "stale-node"}
    lists = {tuple(r["now"]) for r in rows.values()}
    assert len(lists) == 1
    commands = list(lists.pop())
    assert commands[-1] == "pct reboot 101" and commands.count("pct reboot 101") == 1
    assert commands.index("rm /dev/nvidia-uvm-tools") < commands.index("nvidia-modprobe -c0 -u")
    assert sum(c.startswith("sed") for c in commands) == 3


def test_what_a_directory_brings_by_the_way_is_not_mended_with_the_rest() -> None:
    live = part(rule(14, "c 508:* rwm"), mount(17, "/dev/nvidia-uvm"), mount(18, "/dev/nvidia-caps", "bind"))
    rows = judged(lxc(live), devices(511), devices(508)).rows
    assert rows[UVM]["now"] == [f"sed -i '14s/c 508:/c 511:/' {CONF}"]
    both = [r for r in rows.values() if r["reason"] == "never-allowed"]
    assert len(both) == 2 and both[0]["now"] == both[1]["now"]
    assert both[0]["now"][0] == rows[UVM]["now"][0] and len(both[0]["now"]) == 3


def test_devices_that_only_a_container_names() -> None:
    live = part(rule(14, "c 188:* rwm"), mount(17, "/dev/serial/by-id/stick"), mount(18, "/dev/kvm", "bind"),
                mount(19, "/dev/gone"), mount(20, "/dev/snd", "bind"), mount(21, "/dev/dri", "bind"))
    now = devices(drop=("/dev/dri/renderD128",), ttyUSB=188)
    section = lxc(live) | {"nodes": {
        "/dev/serial/by-id/stick": node(188, 0), "/dev/kvm": node(10, 232),
        "/dev/snd": {"type": "directory", "mode": "0755", "uid": 0, "gid": 0},
    }}
    found = judged(section, now)
    assert {k.removeprefix("101 /dev/"): (r["reason"], r.get("driver")) for k, r in found.rows.items()} == {
        "serial/by-id/stick": ("ok", "ttyUSB"), "kvm": ("never-allowed", "misc"), "gone": ("optional-skipped", None),
    }
    assert {u["subject"]: u["why"] for u in found.unknown} == dict.fromkeys(
        ["101 /dev/dri", "101 /dev/snd"], REASONS["not-recorded"])
    del section["nodes"]
    assert len(judged(section, now).unknown) == 5, "a snapshot from before these were looked at"


def test_device_that_only_a_container_names_and_that_is_unread() -> None:
    section = lxc(part(rule(14, "c 188:* rwm"), mount(17, "/dev/ttyUSB0"))) | {"nodes": {}}
    unread = {"lxc": ["nodes", "/dev/ttyUSB0"]}
    found = derived("device_access", snapshot(unread, devices=devices(), lxc=section), None)
    assert not found.rows and [(u["subject"], u["why"]) for u in found.unknown] == [("101 /dev/ttyUSB0", "EACCES")]
