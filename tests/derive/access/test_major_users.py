from __future__ import annotations

import time
from typing import Any

import pytest

from snapshot.derive import Derived, derived

from ..made import ALLOW, COMMON, devices, lxc, node, origin, part, rule, snapshot

CDI = "/etc/cdi/nvidia.yaml"
SCRIPT = "/usr/local/sbin/make-nodes"


def users(now: dict[str, Any] | None = None, then: dict[str, Any] | None = None, **sections: Any) -> Derived:
    """The table of a host with these sections, and the devices now, and then where given."""
    whole = {"runtimes": {}, "units": {"units": {}}, "lxc": {"containers": {}}} | sections
    return derived("major_users", snapshot(devices=now or devices(), **whole), snapshot(devices=then) if then else None)


def cdi(path: str = "/dev/nvidia-uvm", file: str = CDI, **numbers: Any) -> dict[str, Any]:
    return {"cdi": {file: {"devices": {"all": {"nodes": {path: numbers}}}, "common": {}}}}


def script(text: str) -> dict[str, Any]:
    line = {"text": text, "tools": ["mknod"], "origin": origin(4, text, SCRIPT)}
    return {"units": {}, "scripts": {SCRIPT: {"called_by": ["gpu.service"], "lines": [line]}}}


def states(found: Derived) -> dict[str, str]:
    return {key: row["state"] for key, row in found.rows.items()}


def test_story_after_the_reboot() -> None:
    section = lxc(part(rule(13, "c 195:* rwm"), rule(14, "c 508:* rwm")))
    found = users(devices(511), devices(508), lxc=section, runtimes=cdi(major=508, minor=0))
    assert found.rows["lxc 101 c 508:*"] == {
        "kind": "lxc", "name": "101", "origin": origin(14, f"{ALLOW}: c 508:* rwm"), "type": "c", "major": 508,
        "driver": "nvidia-uvm", "now": [511], "owner": "nobody", "before_owner": "nvidia-uvm", "state": "stale",
        "lasts": True, "text_new": f"{ALLOW}: c 511:* rwm",
    }
    assert found.rows["lxc 101 c 195:*"]["state"] == "static"
    assert found.rows[f"cdi {CDI} /dev/nvidia-uvm"] == {
        "kind": "cdi", "name": CDI, "origin": {"file": CDI}, "device": "/dev/nvidia-uvm", "type": "c", "major": 508,
        "minor": 0, "driver": "nvidia-uvm", "now": [511], "owner": "nobody", "before_owner": "nvidia-uvm",
        "state": "stale", "lasts": True,
    }


def test_before_the_reboot_it_is_right_and_will_move() -> None:
    found = users(lxc=lxc(part(rule(14, "c 511:* rwm"))), runtimes=cdi(major=511))
    assert set(states(found).values()) == {"dynamic"}
    assert not any({"text_new", "before_owner"} & row.keys() for row in found.rows.values())


@pytest.mark.parametrize(("now", "then", "state", "driver"), [
    (devices(511, hidraw=508), devices(508), "foreign", "nvidia-uvm"),
    (devices(511, hidraw=508), None, "dynamic", "hidraw"),
    (devices(None), devices(508), "not-loaded", "nvidia-uvm"),
    (devices(None, hidraw=508), devices(508), "foreign", "nvidia-uvm"),
    (devices(511), devices(510), "unowned", None),
    (devices(511), None, "unowned", None),
])
def test_whose_number_a_rule_means(now: dict[str, Any], then: Any, state: str, driver: str | None) -> None:
    row = users(now, then, lxc=lxc(part(rule(14, "c 508:* rwm")))).rows["lxc 101 c 508:*"]
    assert (row["state"], row.get("driver")) == (state, driver)
    assert ("text_new" in row) == (state == "foreign" and now["character"].get("nvidia-uvm") is not None)


def test_path_tells_whose_number_is_meant_without_a_before() -> None:
    found = users(devices(511, hidraw=508), runtimes=cdi(major=508))
    assert states(found) == {f"cdi {CDI} /dev/nvidia-uvm": "foreign"}
    assert states(users(devices(None), runtimes=cdi(major=508))) == {f"cdi {CDI} /dev/nvidia-uvm": "not-loaded"}


def test_cdi_names_the_node_of_the_host_each_number_once_and_no_number_at_all() -> None:
    nodes = {"/dev/gpu": {"host_path": "/dev/nvidia-uvm", "major": 510}, "/dev/nvidia0": {}}
    section = {"cdi": {CDI: {
        "devices": {"0": {"nodes": nodes}, "1": {"nodes": nodes}, "2": {"nodes": {"/dev/gpu": {"major": 511}}}},
        "common": {},
    }}}
    found = users(runtimes=section)
    assert states(found) == {f"cdi {CDI} /dev/gpu": "stale", f"cdi {CDI} /dev/gpu 511": "dynamic"}


def test_what_is_written_anew_at_boot_is_no_risk() -> None:
    section = cdi(file="/var/run/cdi/nvidia.yaml", major=511) | {
        "char_links": {"511:0": "../nvidia-uvm", "508:1": "../nvidia-uvm-tools", "nonsense": "../x"}}
    found = users(runtimes=section)
    assert states(found) == {
        "cdi /var/run/cdi/nvidia.yaml /dev/nvidia-uvm": "current",
        "char-link /dev/char 511:0": "current",
        "char-link /dev/char 508:1": "stale",
    }
    assert found.rows["char-link /dev/char 508:1"]["device"] == "/dev/nvidia-uvm-tools"


def test_generated_rules_of_running_containers_alone() -> None:
    """511 was another driver's before the reboot: what was looked up since then is none the worse for it."""
    file = "/var/lib/lxc/101/config"
    started = part(rule(1, "a", "lxc.cgroup2.devices.deny", COMMON), rule(20, "c 511:0 rw", file=file),
                   rule(3, "c 1:3 rwm", file=COMMON))
    for running, expected in ((True, {"lxc-generated 101 c 511:0": "current"}), (False, {})):
        found = users(devices(511), devices(508, vmci=511), lxc=lxc(part(), running=running, generated=started))
        assert states(found) == expected
    found = users(devices(510), devices(511), lxc=lxc(part(), running=True, generated=started))
    assert states(found) == {"lxc-generated 101 c 511:0": "stale"} and "text_new" not in found.rows.popitem()[1]


@pytest.mark.parametrize(("text", "place", "mended"), [
    ("mknod -m 666 /dev/nvidia-uvm c 508 0", "/dev/nvidia-uvm", "mknod -m 666 /dev/nvidia-uvm c 511 0"),
    ("/bin/mknod --mode=0666 /dev/nvidia-uvm c 0x1fc 0 || true", "/dev/nvidia-uvm",
     "/bin/mknod --mode=0666 /dev/nvidia-uvm c 511 0 || true"),
    ('[ -e /x ] || mknod "${LXC_ROOTFS_MOUNT}/dev/nvidia-uvm" c 508 1', "${LXC_ROOTFS_MOUNT}/dev/nvidia-uvm",
     '[ -e /x ] || mknod "${LXC_ROOTFS_MOUNT}/dev/nvidia-uvm" c 511 1'),
    ("run_command(['mknod', '-m', '666', '/dev/nvidia-uvm', 'c', '508', '0']);", "/dev/nvidia-uvm",
     "run_command(['mknod', '-m', '666', '/dev/nvidia-uvm', 'c', '511', '0']);"),
    ("mknod /dev/nvidia-uvm u 0774 0", "/dev/nvidia-uvm", "mknod /dev/nvidia-uvm u 511 0"),
    ("mknod -m 508 /dev/nvidia-uvm c 508 0", "/dev/nvidia-uvm", None),
])
def test_nodes_that_scripts_make(text: str, place: str, mended: str | None) -> None:
    row = users(units=script(text)).rows[f"script {SCRIPT} {place}"]
    assert (row["device"], row["type"], row["major"], row["state"]) == ("/dev/nvidia-uvm", "c", 508, "stale")
    assert row.get("text_new") == mended and row["origin"]["line"] == 4


@pytest.mark.parametrize("text", [
    "mknod -m 666 /dev/nvidia-uvm c $(grep nvidia-uvm /proc/devices | cut -d' ' -f1) 0", "mknod /dev/x p",
    "mknod /dev/nvidia-uvm c $MAJOR 0", "command -v mknod", "mknod", "mknod -m", "notmknod /dev/x c 508 0",
    "mknod /dev/x c 08 0", "mknod /dev/x c 5080000000 0", "nvidia-modprobe -c0 -u",
])
def test_lines_that_name_no_number(text: str) -> None:
    assert not users(units=script(text)).rows


def test_several_nodes_in_a_line_and_one_of_many() -> None:
    text = "for i in 0 1; do mknod /dev/nvidia$i c 195 $i; done; mknod /dev/kfd c 508 0; echo 'c 508:* rwm' > /sys/fs/x"
    found = users(units=script(text))
    assert states(found) == {
        f"script {SCRIPT} /dev/nvidia$i": "static",
        f"script {SCRIPT} /dev/kfd": "not-loaded",
        f"script {SCRIPT} c 508:*": "unowned",
    }
    assert "device" not in found.rows[f"script {SCRIPT} /dev/nvidia$i"]


def test_other_places_that_name_numbers() -> None:
    conf, rules = "/etc/tmpfiles.d/gpu.conf", "/etc/udev/rules.d/70-gpu.rules"
    make = "mknod /dev/nvidia-uvm c 508 0"
    udev = [f'KERNEL=="nvidia", RUN+="/bin/{make}"', 'ENV{MAJOR}=="508", SUBSYSTEM=="x", MODE="0666"']
    line = "c! /dev/nvidia-uvm 0666 root root - 508:0"
    command = {"key": "ExecStart", "text": f"/bin/{make}", "origin": origin(9, make)}
    units = {
        "units": {"gpu.service": {"state": "enabled", "commands": [command]}},
        "tmpfiles": {
            "/dev/nvidia-uvm": [{"type": "c!", "argument": "508:0", "origin": origin(1, line, conf)}],
            "/dev/stick": [{"type": "L", "argument": "508:0", "origin": origin(2, "L /dev/stick", conf)}],
            "/dev/fuse": [{"type": "c", "argument": "10:229", "origin": origin(3, "c /dev/fuse", "/run/tmpfiles.d/s")}],
        },
        "udev": {rules: [{"match": [], "set": [], "origin": origin(n, text, rules)} for n, text in enumerate(udev, 1)]},
        "cron": {"/etc/crontab": [{"schedule": "@reboot", "text": make, "origin": origin(5, make)}]},
    }
    hooks = [{"key": "lxc.hook.autodev", "value": f"sh -c '{make}'", "origin": origin(8, f"lxc.hook.autodev: {make}")}]
    now = devices()
    now["nodes"]["/dev/fuse"] = node(10, 229)
    found = users(now, units=units, lxc=lxc(part(hooks=hooks)))
    assert states(found) == {
        "hook 101 /dev/nvidia-uvm": "stale",
        f"tmpfiles {conf} /dev/nvidia-uvm": "stale",
        "tmpfiles /run/tmpfiles.d/s /dev/fuse": "current",
        f"udev {rules} /dev/nvidia-uvm": "stale",
        f'udev {rules} ENV{{MAJOR}}=="508"': "unowned",
        "unit gpu.service /dev/nvidia-uvm": "stale",
        "cron /etc/crontab /dev/nvidia-uvm": "stale",
    }
    assert found.rows[f"tmpfiles {conf} /dev/nvidia-uvm"]["text_new"] == line.replace("508", "511")
    assert found.rows[f"udev {rules} /dev/nvidia-uvm"]["text_new"] == udev[0].replace("508", "511")


def test_rules_that_lxc_drops_or_that_packages_bring_are_no_users() -> None:
    lines = (rule(1, "c 5:0 rwm", file=COMMON), rule(14, "c  508:* rwm"), rule(15, "c *:* m"), rule(16, "a"),
             rule(17, "a 508:0 rwm"), rule(18, "b 8:0 r", "lxc.cgroup2.devices.deny"))
    now = devices()
    now["block"] = {"sd": [8], "device-mapper": [253]}
    found = users(now, lxc=lxc(part(*lines, rule(19, "b 253:0 rwm"))))
    assert states(found) == {"lxc 101 a 508:0": "unowned", "lxc 101 b 8:0": "static", "lxc 101 b 253:0": "dynamic"}


def test_unread_is_unknown_and_never_no_user() -> None:
    def subjects(**unread: list[str]) -> list[str]:
        sections = {"devices": devices(), "runtimes": {}, "units": {"units": {}}, "lxc": {"containers": {}}}
        found = derived("major_users", snapshot(unread, "EACCES", **sections), None)
        assert not found.rows and {u["why"] for u in found.unknown} <= {"EACCES"}
        return [u["subject"] for u in found.unknown]

    assert subjects(devices=["character"]) == subjects(devices=["block"]) == [""]
    assert subjects(runtimes=["cdi"]) == ["cdi "]
    assert subjects(runtimes=["cdi", CDI]) == [f"cdi {CDI} "]
    assert subjects(runtimes=["char_links"]) == ["char-link "]
    assert subjects(units=["tmpfiles"]) == ["tmpfiles "]
    assert subjects(units=["scripts", SCRIPT]) == [], "section units names it; what else it does is not known either"
    assert subjects(lxc=["containers"]) == ["lxc ", "lxc-generated "]
    assert subjects(lxc=["containers", "101"]) == ["lxc 101 ", "lxc-generated 101 "]
    assert subjects(lxc=["containers", "101", "live", "hooks"]) == ["lxc 101 "]
    assert subjects(lxc=["containers", "101", "running"]) == []
    assert subjects() == []


def test_no_section_is_unknown() -> None:
    assert [u["subject"] for u in derived("major_users", snapshot(), None).unknown] == [""]
    found = derived("major_users", snapshot(devices=devices()), None)
    assert {u["subject"] for u in found.unknown} >= {"lxc ", "cdi ", "udev ", "script "}


def test_hostile_text_is_quick() -> None:
    start = time.process_time()
    for text in ("mknod " * 700, "mknod " + "a" * 4000, "b " * 2000 + "1:1", "'" * 4000, "mknod -m " * 400,
                 "c 1:" * 1000, "mknod \udcff c 1 1", "mknod /dev/" + "/" * 3000 + " c 1 1", " " * 4000,
                 "c" + " " * 4000 + "1:1 rwm"):
        users(units=script(text))
    assert time.process_time() - start < 2
