from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from snapshot.collectors import lxc as collector
from snapshot.derive import Derived, derived
from snapshot.derive.guests.container_keys import corrected, fault_of
from snapshot.sections.lxc import NO_CGROUP2
from tests.collectors.fake import MemoryHost, gather

from ..made import ALLOW, CONF, devices, lxc, mount, node, origin, part, rule, snapshot

KFD = mount(12, "/dev/kfd")


def lines(section: dict[str, Any], before: dict[str, Any] | None = None, **tables: Any) -> Derived:
    """The table of a host with this section lxc, kfd with major 240, and 256 possible CPUs."""
    nodes = devices(kfd=240)
    nodes["nodes"]["/dev/kfd"] = node(240, 0)
    whole = {"devices": nodes, "cpu": {"possible": "0-255"}, "lxc": section} | tables
    return derived("container_lines", snapshot(**whole), snapshot(**(whole | {"lxc": before})) if before else None)


def only(found: Derived) -> dict[str, Any]:
    [row] = [row for row in found.rows.values() if "fault" in row]
    return row


def raw(line: int, key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": value, "origin": origin(line, f"{key}: {value}")}


@pytest.mark.parametrize(("value", "meant"), [
    ("c 1fc:0 rwm", "c 508:0 rwm"), ("c 0x1fc:* rwm", "c 508:* rwm"), ("c 0508:* rwm", "c 508:* rwm"),
    ("c  508:* rwm", "c 508:* rwm"), ("c 508:*  rw", "c 508:* rw"), ("C 508:* RWM", "c 508:* rwm"),
    ("c 508:0", "c 508:0 rwm"), ("c 508 rwm", "c 508:* rwm"), ("c 195:0,1 rw", "c 195:* rw"),
    ("c 195:0-3 rwm", "c 195:* rwm"), ("c 508:* rw # note", "c 508:* rw"), ("c 195:all rwm", "c 195:* rwm"),
    ("c c3:fe rw", "c 195:254 rw"),
    ("c 195:fe rw", None), ("nvidia", None), ("", None), ("c", None), ("c \u0665:0 rwm", None),
])
def test_the_rule_that_is_meant(value: str, meant: str | None) -> None:
    assert corrected(value) == meant


@pytest.mark.parametrize(("key", "value", "word", "why"), [
    ("lxc.cgroup2.device.allow", "c 1:3 rwm", "refused", "cgroup2 has no file device.allow"),
    ("lxc.cgroup2.Devices.allow", "c 1:3 rwm", "refused", "cgroup2 has no file Devices.allow"),
    ("lxc.cgroup2.nosuch.x", "1", "refused", "cgroup2 has no file nosuch.x"),
    ("lxc.cgroup2.memory.limit_in_bytes", "1G", "refused", "cgroup2 has no file memory.limit_in_bytes"),
    ("lxc.cgroup2.memory.max", "lots", "refused", "the kernel refuses lots for memory.max"),
    ("lxc.cgroup2.cpuset.cpus", "0-500", "refused", "cpuset.cpus names CPU 500, which this host cannot have"),
    ("lxc.cgroup2.devices.alow", "c 1:3 rwm", "wrong-key",
     "lxc.cgroup2.devices.alow is neither allow nor deny, which makes it a deny"),
    ("lxc.prlimit.nosuch", "1", "refused", "there is no limit nosuch"),
    ("lxc.id_map", "u 0 100000 65536", "refused", "LXC 3 and later do not know lxc.id_map"),
    ("lxc.network.type", "veth", "refused", "LXC 3 and later do not know lxc.network.type"),
])
def test_what_is_wrong_with_a_line(key: str, value: str, word: str, why: str) -> None:
    fault = fault_of(key, value, set(range(256)))
    assert fault and (fault.word, fault.why) == (word, why)


@pytest.mark.parametrize(("key", "value"), [
    (ALLOW, "c 508:* rwm # note"), (ALLOW, ""), (ALLOW, "a"), (ALLOW, "/dev/kfd rw"), ("lxc.cgroup2.memory.max", "64G"),
    ("lxc.cgroup2.memory.max", "max"), ("lxc.cgroup2.memory.high", "0x40000000"), ("lxc.cgroup2.cpuset.cpus", "0-255"),
    ("lxc.cgroup2.cpuset.cpus", "all"), ("lxc.cgroup2.pids.max", "10"), ("lxc.prlimit.memlock", "unlimited"),
    ("lxc.apparmor.profile", "unconfined"), ("lxc.idmap", "u 0 100000 65536"), ("lxc.cgroup.dir.container", "lxc/1"),
])
def test_nothing_is_wrong_with_a_line(key: str, value: str) -> None:
    assert fault_of(key, value, set(range(256))) is None


def test_cpus_are_not_judged_while_it_is_unknown_which_the_host_can_have() -> None:
    assert fault_of("lxc.cgroup2.cpuset.cpus", "0-500", None) is None


def test_a_line_without_a_fault_has_a_row() -> None:
    found = lines(lxc(part(rule(11, "c 195:* rwm"))))
    assert list(found.rows) == [f"101 {CONF}:11"] and found.unknown == []
    row = found.rows[f"101 {CONF}:11"]
    assert row["who"] == "container 101 (llm)" and not {"fault", "now", "effect", "stops_start"} & row.keys()


def test_a_dropped_rule_that_denies_a_device_takes_the_cure_of_the_device() -> None:
    row = only(lines(lxc(part(rule(11, "c f0:0 rwm"), KFD), running=True)))
    assert (row["fault"], row["denies"], row["effect"]) == ("dropped", ["/dev/kfd"], "cannot open /dev/kfd")
    assert row["new"] == f"{ALLOW}: c 240:0 rwm" and row["now"][-1] == "pct reboot 101"


def test_a_dropped_rule_whose_device_opens_all_the_same_has_no_effect() -> None:
    row = only(lines(lxc(part(rule(10, "c 240:* rwm"), rule(11, "c f0:0 rwm"), KFD))))
    assert row["fault"] == "dropped" and not {"denies", "effect"} & row.keys()
    assert row["now"] == [f"sed -i '/^\\[/,$!s|^lxc\\.cgroup2\\.devices\\.allow: c f0:0 rwm$|{row['new']}|' {CONF}"]


def test_the_rule_for_all_devices() -> None:
    row = only(lines(lxc(part(rule(11, "a *:* rwm")))))
    assert (row["fault"], row["effect"]) == ("all-devices", "does not start")


@pytest.mark.parametrize(("version", "running", "effect"), [
    ("7.0.0-1", True, "will not start again"), ("7.0.0-1", False, "does not start"), ("6.0.4-2", True, None),
    (None, True, None),
])
def test_v1_keys(version: str | None, running: bool, effect: str | None) -> None:
    one = part(rule(11, "c 195:* rwm", "lxc.cgroup.devices.allow"))
    row = only(lines(lxc(one, running=running), os={"lxc": version} if version else {}))
    assert (row["fault"], row.get("effect"), row["new"]) == ("v1-key", effect, f"{ALLOW}: c 195:* rwm")


def test_v1_keys_count_where_there_is_no_cgroup2_alone() -> None:
    section = lxc(part(rule(11, "c 195:* rwm", "lxc.cgroup.devices.allow")), running=None)
    del section["containers"]["101"]["running"]
    unread = {"lxc": ["containers", "101", "running"]}
    found = derived("container_lines", snapshot(unread, NO_CGROUP2, devices=devices(), lxc=section), None)
    assert not any("fault" in row for row in found.rows.values())


def test_a_running_container_shows_that_a_line_is_not_refused() -> None:
    key, value = "lxc.cgroup2.newthing.max", "1"
    live = part(other=[raw(11, key, value)])
    assert only(lines(lxc(live, running=True)))["fault"] == "refused"
    found = lines(lxc(live, running=True, generated=live))
    assert not any("fault" in row for row in found.rows.values())


@pytest.mark.parametrize(("why", "text", "fault"), [
    ("Proxmox VE: cannot parse the line", " memory: 4096", "ignored"),
    ("Proxmox VE: does not know lxc.foo", "lxc.foo: 1", "ignored"),
    ("Proxmox VE: refuses dev0, '/x' is no path of a device; the start fails", "dev0: /x", "refused"),
    ("LXC: no id map u|g CONTAINER HOST COUNT; the start fails", "lxc.idmap: x", "refused"),
    ("Proxmox VE: cannot parse the line", "  # a comment", None),
    ("Proxmox VE: memory stands again at line 9, which counts", "memory: 1", None),
    ("Proxmox VE: lxc.rootfs.path is made from the rootfs option", "lxc.rootfs.path: /x", None),
    ("LXC: forgotten for the empty value at /x:1", "lxc.mount.entry: /a a none bind", None),
    ("LXC: does not begin with lxc.", "arch: amd64", None),
    ("LXC: /etc/lxc/x is not there; the start fails", "lxc.include: /etc/lxc/x", None),
])
def test_lines_that_are_not_taken_in(why: str, text: str, fault: str | None) -> None:
    found = lines(lxc(part(ignored=[{"why": why, "origin": origin(9, text)}])))
    assert [row.get("fault") for row in found.rows.values()] == ([fault] if fault else [])


def test_a_mount_entry_of_three_fields_stops_the_start() -> None:
    entry = mount(9, "/tank/models", options="bind") | {"options": []}
    row = only(lines(lxc(part(entry))))
    assert (row["fault"], row["effect"]) == ("refused", "does not start")


def snapshots(*rules: dict[str, Any], time: str = "1") -> dict[str, Any]:
    at = {"value": time, "origin": origin(28, f"snaptime: {time}")}
    return {"old": part(*rules, options={"snaptime": at})}


def test_a_line_below_a_header_counts_if_it_was_meant_for_a_denied_device() -> None:
    assert not lines(lxc(part(rule(11, "c 240:* rwm"), KFD), snapshots=snapshots(rule(30, "c 240:0 rwm")))).rows[
        f"101 {CONF}:11"].get("fault")
    row = only(lines(lxc(part(KFD), snapshots=snapshots(rule(30, "c 240:0 rwm")))))
    assert (row["fault"], row["snapshot"], row["denies"]) == ("below-header", "old", ["/dev/kfd"])
    assert "appended" not in row


def test_a_line_that_came_into_a_snapshot_was_appended() -> None:
    then, new = lxc(part(), snapshots=snapshots(rule(29, "c 195:* rwm"))), raw(30, "lxc.prlimit.memlock", "unlimited")
    whole = snapshots(rule(29, "c 195:* rwm"))
    whole["old"] |= {"other": [new]}
    row = only(lines(lxc(part(), snapshots=whole), then))
    assert (row["line"], row["appended"]) == (30, True)
    other = {"old": whole["old"] | snapshots(time="2")["old"]}
    assert not lines(lxc(part(), snapshots=other), then).rows
    assert not any("fault" in r for r in lines(lxc(part(other=[new]), snapshots=whole), then).rows.values())


def test_unknown_while_a_file_is_unread() -> None:
    section = lxc(part(rule(11, "c 195:* rwm")))
    unread = {"lxc": ["containers", "101", "live"]}
    found = derived("container_lines", snapshot(unread, devices=devices(), lxc=section), None)
    assert [gap["subject"] for gap in found.unknown] == ["101 /src"] and list(found.rows) == [f"101 {CONF}:11"]
    found = derived("container_lines", snapshot({"lxc": ["containers"]}, devices=devices(), lxc=section), None)
    assert [gap["subject"] for gap in found.unknown] == [""]


TEXT = f"""arch: amd64
 {ALLOW}: c 195:* rwm
{ALLOW}: c  226:* rwm
lxc.cgroup2.memory.max: lots | & [more].*
dev0 : /dev/kfd

[old]
lxc.prlimit.memlock: unlimited
{ALLOW}: c  226:* rwm
snaptime: 1
"""
MENDED = f"""arch: amd64
{ALLOW}: c 195:* rwm
{ALLOW}: c 226:* rwm

dev0: /dev/kfd

lxc.prlimit.memlock: unlimited
[old]
lxc.prlimit.memlock: unlimited
{ALLOW}: c  226:* rwm
snaptime: 1
"""


def test_the_commands_mend_the_file_in_any_order_and_twice(tmp_path: Path) -> None:
    def section(text: str) -> dict[str, Any]:
        return gather(collector, MemoryHost({CONF: text, "/sys/fs/cgroup/cgroup.controllers": ""}))[0].table()

    file = tmp_path / "101.conf"
    found = lines(section(TEXT), section(TEXT.replace("lxc.prlimit.memlock: unlimited\n", "")))
    commands = [line for row in found.rows.values() for line in row.get("now", [])]
    assert len(commands) == 5
    for order in (commands, commands[::-1]):
        file.write_text(TEXT)
        for command in (*order, *order):
            subprocess.run(["sh", "-c", command.replace(CONF, str(file))], check=True)
        assert file.read_text() == MENDED
