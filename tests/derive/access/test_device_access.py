from __future__ import annotations

import time
from typing import Any

import pytest

from snapshot.derive import Derived, derived
from snapshot.derive.access.access_reasons import REASONS

from ..made import (
    ALLOW,
    COMMON,
    COMMON_PART,
    CONF,
    INCLUDES,
    dev,
    devices,
    lxc,
    mount,
    node,
    origin,
    part,
    rule,
    snapshot,
)

UVM = "101 /dev/nvidia-uvm"
STALE = part(
    rule(13, "c 195:* rwm"),
    rule(14, "c 508:* rwm"),
    rule(15, "c 506:* rwm"),
    mount(17, "/dev/nvidia-uvm"),
    mount(18, "/dev/nvidia-uvm-tools"),
    mount(19, "/dev/nvidia-caps", "bind,create=dir"),
)


def judged(
    section: dict[str, Any], now: dict[str, Any] | None = None, then: dict[str, Any] | None = None
) -> Derived:
    """The table of a host with this section lxc and these devices now, and then where given."""
    before = snapshot(devices=then, lxc=section) if then else None
    found = derived("device_access", snapshot(devices=now or devices(), lxc=section), before)
    assert {r["reason"] for r in found.rows.values()} <= REASONS.keys()
    return found


def uvm(
    *lines: dict[str, Any], now: dict[str, Any] | None = None, then: dict[str, Any] | None = None, **more: Any
) -> Any:
    """The row of /dev/nvidia-uvm of a stopped container with these lines and a mount entry."""
    return judged(lxc(part(*lines, mount(17, "/dev/nvidia-uvm"), **more)), now, then).rows[UVM]


def generated(*values: str) -> dict[str, Any]:
    """What the last start wrote for a container with a mount entry of /dev/nvidia-uvm."""
    file = "/var/lib/lxc/101/config"
    lines = [rule(20 + n, value, file=file) for n, value in enumerate(values)]
    return part(*COMMON_PART["device_rules"], *lines, mount(40, "/dev/nvidia-uvm"))


def appended(line: int, number: str) -> str:
    """The command that puts a rule for this number behind a line."""
    one = f"{ALLOW}: c {number} rwm"
    return f"sed '/^\\[/q' {CONF} | grep -qxF '{one}' || sed -i '{line}a {one}' {CONF}"


def passed(*values: str) -> dict[str, Any]:
    """What the last start wrote for a container with devN alone."""
    return {"device_rules": generated(*values)["device_rules"]}


def test_story_after_the_reboot() -> None:
    live = lxc(
        STALE,
        running=True,
        generated=STALE | {"device_rules": COMMON_PART["device_rules"] + STALE["device_rules"]},
    )
    rows = judged(live, devices(511, 507), devices(508, 506)).rows
    assert {k: r["reason"] for k, r in rows.items() if r["access"] == "denied"} == {
        "101 /dev/nvidia-caps/nvidia-cap1": "stale-major",
        "101 /dev/nvidia-caps/nvidia-cap2": "stale-major",
        "101 /dev/nvidia-uvm": "stale-major",
        "101 /dev/nvidia-uvm-tools": "stale-major",
    }
    assert rows[UVM] == rows[UVM] | {
        "container": "101",
        "hostname": "llm",
        "privileged": True,
        "running": True,
        "manager": "pve",
        "device": "/dev/nvidia-uvm",
        "driver": "nvidia-uvm",
        "type": "c",
        "major": 511,
        "minor": 0,
        "old_major": 508,
        "old_owner": "nobody",
        "old_major_from": "before",
        "place": f"{CONF}:14",
        "basis": "generated",
        "rules": [
            origin(14, f"{ALLOW}: c 508:* rwm")
            | {"major": 508, "owner": "nobody", "before_owner": "nvidia-uvm"}
        ],
        "corrected": [
            {"file": CONF, "line": 14, "old": f"{ALLOW}: c 508:* rwm", "new": f"{ALLOW}: c 511:* rwm"}
        ],
        "now": [f"sed -i '{n}s/c {a}:/c {b}:/' {CONF}" for n, a, b in ((14, 508, 511), (15, 506, 507))]
        + ["pct reboot 101"],
    }
    assert len({tuple(r["now"]) for r in rows.values() if "now" in r}) == 1, "one restart, the same for all"
    assert "leftover" not in rows["101 /dev/nvidia0"] and rows["101 /dev/nvidia0"]["allowed_by"]["line"] == 13


def test_story_before_the_reboot() -> None:
    rows = judged(lxc(STALE), devices(508, 506)).rows
    assert {r["access"] for r in rows.values()} == {"allowed"} and len(rows) == 6


def test_two_old_numbers_without_a_before_are_not_told_apart() -> None:
    row = judged(lxc(STALE), devices(511, 507)).rows[UVM]
    assert row["reason"] == "stale-major" and [r["major"] for r in row["rules"]] == [508, 506]
    assert not {"old_major", "corrected"} & row.keys()
    assert row["now"] == [appended(19, number) for number in ("507:1", "507:2", "511:0", "511:1")]


def test_one_old_number_without_a_before() -> None:
    row = uvm(rule(14, "c 508:* rwm"))
    assert (row["reason"], row["old_major"], row["old_major_from"]) == ("stale-major", 508, "leftover")


def test_old_number_of_another_driver_is_worse_and_seen_from_before() -> None:
    now = devices(511, 507, hidraw=508)
    row = uvm(rule(14, "c 508:* rwm"), now=now, then=devices(508, 507))
    assert (row["reason"], row["old_major"], row["old_owner"]) == ("stale-major", 508, "hidraw")
    # without a before it is suspect too, for the container is given nothing of hidraw
    row = uvm(rule(14, "c 508:* rwm"), now=now)
    assert (row["reason"], row["old_owner"], row["old_major_from"]) == ("stale-major", "hidraw", "leftover")
    assert row["now"] == [f"sed -i '14s/c 508:/c 511:/' {CONF}"]
    assert "allows 508, which hidraw has now" in row["warnings"][-1]


def test_swap_within_the_container_stops_nothing() -> None:
    section = lxc(
        part(
            rule(14, "c 508:* rwm"),
            rule(15, "c 507:* rwm"),
            mount(17, "/dev/nvidia-uvm"),
            mount(19, "/dev/nvidia-caps", "bind,create=dir"),
        )
    )
    rows = judged(section, devices(507, 508), devices(508, 507)).rows
    assert {r["reason"] for r in rows.values()} == {"ok"}


def test_number_moved_to_another_device_of_the_container() -> None:
    """The line that is corrected lets the other device through by accident; the cure must keep that."""
    section = lxc(
        part(
            rule(14, "c 508:* rwm"),
            rule(15, "c 506:* rwm"),
            mount(17, "/dev/nvidia-uvm"),
            mount(19, "/dev/nvidia-caps/nvidia-cap1"),
        )
    )
    rows = judged(section, devices(511, 508), devices(508, 506)).rows
    assert rows["101 /dev/nvidia-caps/nvidia-cap1"]["access"] == "allowed"
    assert rows[UVM]["old_owner"] == "nvidia-caps"
    assert rows[UVM]["now"] == [
        f"sed -i '14s/c 508:/c 511:/' {CONF}",
        appended(19, "508:1"),
    ]
    assert "/dev/nvidia-caps/nvidia-cap1,mode=0400" in rows[UVM]["durable"][1]


def test_driver_that_is_not_loaded_has_no_stale_number() -> None:
    row = uvm(rule(14, "c 508:* rwm"), now=devices(uvm=None), then=devices(508))
    assert (row["access"], row["reason"]) == ("denied", "driver-not-loaded")
    assert row["now"] == ["nvidia-modprobe -c0 -u"] and "durable" not in row


def test_driver_with_a_fixed_number_has_no_stale_one() -> None:
    host = devices(511)
    host["character"] |= {"drm": [226]}
    host["nodes"] |= {"/dev/dri/card0": node(226, 0)}
    rows = judged(lxc(part(rule(14, "c 506:* rwm"), mount(15, "/dev/dri/card0"))), host, None).rows
    assert rows["101 /dev/dri/card0"]["reason"] == "never-allowed"


def test_leftover_number_beside_a_good_line() -> None:
    row = uvm(rule(14, "c 508:* rwm"), rule(15, "c 511:* rwm"))
    assert (row["access"], row["reason"], row["allowed_by"]["line"]) == ("allowed", "ok", 15)
    assert [r["line"] for r in row["leftover"]] == [14] and "now" not in row


@pytest.mark.parametrize(
    ("lines", "reason", "line"),
    [
        ((rule(14, "c *:* m"),), "mknod-only", 14),
        ((rule(14, "c 511:* m"),), "mknod-only", 14),
        ((rule(14, "c 511:* r"), rule(15, "c 511:* w")), "partial-access", 14),
        ((rule(14, "c 1ff:* rwm"),), "rule-dropped-by-lxc", 14),
        ((rule(14, "c 0x1ff:* rwm"),), "rule-dropped-by-lxc", 14),
        ((rule(14, "c  511:* rwm"),), "rule-dropped-by-lxc", 14),
        ((rule(14, "c 511:*"),), "rule-dropped-by-lxc", 14),
        ((rule(14, "c 511:* rwm", "lxc.cgroup.devices.allow"),), "v1-key", 14),
        ((rule(14, "c 511:* rwm", "lxc.cgroup2.devices.alow"),), "wrong-key", 14),
        ((rule(14, "c 195:* rwm"),), "never-allowed", None),
    ],
)
def test_lines_that_do_nothing(lines: tuple[dict[str, Any], ...], reason: str, line: int | None) -> None:
    row = uvm(*lines)
    assert (row["access"], row["reason"]) == ("denied", reason)
    assert [a["line"] for a in row.get("also", [])][:1] == ([line] if line else [])
    assert row["now"] == [appended(17, "511:0")]


def test_rules_in_the_wrong_part() -> None:
    one = part(rule(30, "c 511:* rwm"))
    section = lxc(part(mount(17, "/dev/nvidia-uvm")), snapshots={"old": one})
    assert judged(section).rows[UVM]["reason"] == "rule-in-snapshot"
    section = lxc(part(mount(17, "/dev/nvidia-uvm")), pending=one, snapshots={"old": one})
    row = judged(section).rows[UVM]
    assert row["reason"] == "rule-in-pending" and [a["reason"] for a in row["also"]] == [
        "rule-in-pending",
        "rule-in-snapshot",
    ]
    # a snapshot that happens to hold today's number does not hide that the live line is stale
    section = lxc(part(rule(14, "c 508:* rwm"), mount(17, "/dev/nvidia-uvm")), snapshots={"old": one})
    assert judged(section).rows[UVM]["reason"] == "stale-major"


def test_line_that_pve_ignores() -> None:
    ignored = [{"why": "Proxmox VE: leading blanks", "origin": origin(14, f"  {ALLOW}: c 511:* rwm")}]
    assert uvm(rule(13, "c 195:* rwm"), ignored=ignored)["reason"] == "rule-ignored-by-pve"


def test_allow_a_lets_all_through() -> None:
    row = uvm(rule(14, "a"))
    assert (row["access"], row["reason"]) == ("allowed", "open-list")
    # and a stale line behind it changes nothing
    assert uvm(rule(14, "a"), rule(15, "c 508:* rwm"))["access"] == "allowed"


def test_deny_a_at_the_end_empties_the_list_and_lets_all_through() -> None:
    row = uvm(rule(14, "c 508:* rwm"), rule(15, "a", "lxc.cgroup2.devices.deny"))
    assert (row["access"], row["reason"]) == ("allowed", "empty-list")


def test_deny_rule_in_an_open_list() -> None:
    row = uvm(rule(14, "a"), rule(15, "c 511:* rw", "lxc.cgroup2.devices.deny"))
    assert (row["access"], row["reason"], row["denied_by"]["line"]) == ("denied", "deny-listed", 15)


def test_unprivileged_is_not_judged() -> None:
    section = lxc(part(rule(14, "c 508:* rwm"), mount(17, "/dev/nvidia-uvm")), privileged=False)
    row = judged(section, devices(511), devices(508)).rows[UVM]
    assert (row["access"], row["reason"]) == ("not-judged", "unprivileged") and "now" not in row


def test_unprivileged_without_the_file_of_pve_is_judged() -> None:
    includes = INCLUDES | {
        "/usr/share/lxc/config/userns.conf": part(
            *INCLUDES["/usr/share/lxc/config/userns.conf"]["device_rules"][:2]
        )
    }
    section = lxc(part(rule(14, "c 508:* rwm"), mount(17, "/dev/nvidia-uvm")), includes, privileged=False)
    assert judged(section, devices(511), devices(508)).rows[UVM]["reason"] == "stale-major"


def test_includes_that_were_not_recorded() -> None:
    found = judged(lxc(part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm")), includes=None))
    assert not found.rows and [u["subject"] for u in found.unknown] == [UVM]
    found = judged(
        lxc(
            part(
                rule(13, "a", "lxc.cgroup2.devices.deny"),
                rule(14, "c 511:* rwm"),
                mount(17, "/dev/nvidia-uvm"),
            ),
            includes=None,
        )
    )
    assert found.rows[UVM]["reason"] == "ok"


def test_include_of_the_distribution_comes_first() -> None:
    special = {"/usr/share/lxc/config/alpine.common.conf": part(rule(1, "a", file=COMMON))}
    options = {"ostype": {"value": "alpine", "origin": origin(3, "ostype: alpine")}}
    section = lxc(part(mount(17, "/dev/nvidia-uvm"), options=options), INCLUDES | special)
    assert judged(section).rows[UVM]["reason"] == "open-list"


def test_running_container_is_judged_by_what_its_start_generated() -> None:
    live = part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm"))
    row = judged(lxc(live, running=True, generated=generated("c 508:* rwm"))).rows[UVM]
    assert (row["access"], row["reason"], row["access_next_start"]) == ("denied", "not-restarted", "allowed")
    assert row["now"] == ["pct reboot 101"] and row["basis"] == "generated" and "durable" not in row
    assert [r["major"] for r in row["rules"]] == [508] and row["old_owner"] == "nobody" and "corrected" not in row
    row = judged(lxc(live, running=True, generated=generated("c 511:* rwm"))).rows[UVM]
    assert (row["access"], row["access_now"]) == ("allowed", "allowed")


def test_mount_entry_that_the_last_start_did_not_have() -> None:
    live = part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm"))
    file = generated("c 511:* rwm")
    del file["mount_entries"]
    row = judged(lxc(live, running=True, generated=file)).rows[UVM]
    assert row["reason"] == "not-restarted" and "rules" not in row


def test_running_without_a_record_of_its_start() -> None:
    live = part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm"))
    found = judged(lxc(live, running=True))
    assert not found.rows and found.unknown[0]["why"] == REASONS["not-seen"]


def test_running_or_not_is_unknown() -> None:
    live = part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm"))
    found = judged(lxc(live, running=None, generated=generated("c 508:* rwm")))
    assert found.unknown[0]["why"] == REASONS["running-unknown"]
    assert (
        judged(lxc(live, running=None, generated=generated("c 511:* rwm"))).rows[UVM]["access"] == "allowed"
    )


def test_dev_is_looked_up_at_start() -> None:
    live = {"devices": {"dev0": dev(5, "/dev/nvidia-uvm")}}
    row = judged(lxc(live), devices(511), devices(508)).rows[UVM]
    assert (row["access"], row["given_by"]["how"], row["allowed_by"]["line"]) == ("allowed", "dev", 5)
    row = judged(lxc(live, running=True, generated=passed("c 511:0 rw"))).rows[UVM]
    assert (row["access"], row["reason"]) == ("allowed", "ok")
    row = judged(lxc(live, running=True, generated=passed("c 508:0 rw"))).rows[UVM]
    assert (row["access"], row["reason"]) == ("denied", "generated-config-stale")
    assert [r["major"] for r in row["rules"]] == [508]
    assert row["now"] == ["pct reboot 101"] and not {"durable", "corrected"} & row.keys()


def test_dev_read_only_is_asked_to_read() -> None:
    assert (
        judged(lxc({"devices": {"dev0": dev(5, "/dev/nvidia-uvm", deny_write=True)}})).rows[UVM]["access"]
        == "allowed"
    )


def test_pending_dev_is_merged_at_the_next_start() -> None:
    live = {"devices": {"dev0": dev(5, "/dev/nvidia-uvm")}}
    rows = judged(lxc(live, pending={"deleted": ["dev0"], "devices": {"dev1": dev(40, "/dev/nvidia0")}})).rows
    assert list(rows) == ["101 /dev/nvidia0"]


def test_dev_without_node_stops_the_start() -> None:
    row = judged(
        lxc({"devices": {"dev0": dev(5, "/dev/nvidia-uvm")}}), devices(drop=("/dev/nvidia-uvm",))
    ).rows[UVM]
    assert (row["access"], row["reason"]) == ("denied", "node-missing")


def test_dev_beside_a_mount_entry_stops_the_start() -> None:
    live = part(
        rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm"), devices={"dev0": dev(5, "/dev/nvidia-uvm")}
    )
    assert judged(lxc(live)).rows[UVM]["reason"] == "given-twice"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (mount(17, "/dev/nvidia-uvm"), "optional-skipped"),
        (mount(17, "/dev/nvidia-uvm", "bind,create=file"), "node-missing"),
        (mount(17, "/dev/nvidia-uvm", target="/dev/nvidia-uvm"), "mount-ignored"),
        (mount(17, "/dev/nvidia-uvm") | {"options": []}, "mount-broken"),
    ],
)
def test_mount_entries_that_give_nothing(entry: dict[str, Any], reason: str) -> None:
    row = judged(lxc(part(rule(14, "c 511:* rwm"), entry)), devices(drop=("/dev/nvidia-uvm",))).rows[UVM]
    assert (row["access"], row["reason"]) == ("denied", reason)


def test_running_container_may_still_hold_a_node_that_is_gone() -> None:
    live = part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm"))
    section = lxc(live, running=True, generated=generated("c 511:* rwm"))
    found = judged(section, devices(drop=("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")))
    assert not found.rows and found.unknown[0]["why"] == REASONS["node-gone"]


def test_create_file_for_a_directory() -> None:
    rows = judged(lxc(part(rule(14, "c 507:* rwm"), mount(19, "/dev/nvidia-caps")))).rows
    assert {r["reason"] for r in rows.values()} == {"mount-broken"} and len(rows) == 2


def test_ordinary_file_in_place_of_the_node() -> None:
    now = devices()
    now["nodes"]["/dev/nvidia-uvm"] = {"type": "file", "mode": "0644", "uid": 0, "gid": 0}
    assert uvm(rule(14, "c 511:* rwm"), now=now)["reason"] == "node-not-a-device"


def test_node_of_the_host_that_is_stale_itself() -> None:
    now = devices(511)
    now["nodes"]["/dev/nvidia-uvm"] = node(508, 0)
    row = uvm(rule(14, "c *:* rwm"), now=now)
    assert (row["access"], row["reason"]) == ("denied", "stale-node")
    assert row["now"] == ["rm /dev/nvidia-uvm", "nvidia-modprobe -c0 -u"]


def test_hook_may_rewrite_the_rule() -> None:
    hooks = [
        {
            "key": "hookscript",
            "value": "local:snippets/x.pl",
            "origin": origin(3, "hookscript: local:snippets/x.pl"),
        }
    ]
    live = part(rule(14, "c 508:* rwm"), mount(17, "/dev/nvidia-uvm"), hooks=hooks)
    found = judged(lxc(live), devices(511), devices(508))
    assert not found.rows and found.unknown[0]["why"] == REASONS["hook-may-rewrite"]
    row = judged(lxc(live, running=True, generated=generated("c 508:* rwm"))).rows[UVM]
    assert (row["access"], row["reason"], row["access_next_start"]) == ("denied", "stale-major", "unknown")
    assert any("x.pl" in w for w in row["warnings"])
    row = judged(lxc(live, running=True, generated=generated("c 511:* rwm"))).rows[UVM]
    assert (row["access"], row["reason"]) == ("allowed", "ok")


def test_rule_that_the_kernel_refuses() -> None:
    assert uvm(rule(14, "a *:* rwm"))["reason"] == "start-fails"


def test_rule_alone_gives_the_devices_of_the_driver_it_meant() -> None:
    rows = judged(lxc(part(rule(14, "c 508:0 rwm"))), devices(511), devices(508)).rows
    assert {k: r["reason"] for k, r in rows.items()} == {UVM: "stale-major"}
    assert rows[UVM]["durable"][0] == f"sed -i '14{{\\|508:|d}}' {CONF}"


def test_nothing_about_what_is_not_given() -> None:
    mounts = (mount(17, "/srv/models"), mount(18, "/dev/shm", "bind,create=dir"))
    found = judged(lxc(part(*mounts)))
    assert found == Derived()


def test_node_that_no_snapshot_records() -> None:
    live = part(mount(17, "/dev/ttyUSB0"))
    assert judged(lxc(live)).unknown[0]["why"] == REASONS["not-recorded"]
    assert judged(lxc(live, privileged=False)).rows["101 /dev/ttyUSB0"]["reason"] == "unprivileged"


def test_unread_facts_are_unknown() -> None:
    section = lxc(part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm")))

    def unknown(**unread: list[str]) -> list[tuple[str, str]]:
        found = derived("device_access", snapshot(unread, devices=devices(), lxc=section), None)
        assert not found.rows
        return [(u["subject"], u["why"]) for u in found.unknown]

    assert unknown(devices=["character"]) == [(UVM, "EACCES")]
    assert unknown(devices=["nodes", "/dev/nvidia-uvm"]) == [(UVM, "EACCES")]
    assert unknown(lxc=["containers", "101", "live"]) == [("101 ", "EACCES")]


@pytest.mark.parametrize(("path", "running"), [
    (["includes", "/usr/share/lxc/config/common.conf"], False), (["containers", "101", "generated"], True),
    (["includes", "/usr/share/lxc/config/debian.common.conf"], False),
])
def test_what_a_start_includes_is_no_rule_list_until_all_of_it_is_read(path: list[str], running: bool) -> None:
    generated = {"generated": part(rule(1, "a", "lxc.cgroup2.devices.deny"))} if running else {}
    debian = {"ostype": {"value": "debian", "origin": origin(2, "ostype: debian")}}
    lines = [mount(17, "/dev/nvidia-uvm"), *([rule(14, "c 511:* rwm")] if running else [])]
    section = lxc(part(*lines, options=debian), running=running, **generated)
    whole = derived("device_access", snapshot(devices=devices(), lxc=section), None)
    assert whole.rows[UVM]["access"] == "denied"
    half = derived("device_access", snapshot({"lxc": path}, devices=devices(), lxc=section), None)
    assert [(gap["subject"], gap["source"], gap["why"]) for gap in half.unknown] == [(UVM, "/src", "EACCES")]


def test_containers_unread_is_not_no_containers() -> None:
    found = derived(
        "device_access", snapshot({"lxc": ["containers"]}, devices=devices(), lxc={"containers": {}}), None
    )
    assert [(u["subject"], u["why"]) for u in found.unknown] == [("", "EACCES")]


def test_no_section_lxc_is_unknown_and_a_before_without_devices_is_no_evidence() -> None:
    assert derived("device_access", snapshot(devices=devices()), None).unknown[0]["subject"] == ""
    section = lxc(part(rule(14, "c 508:* rwm"), mount(17, "/dev/nvidia-uvm")))
    before = snapshot({"devices": ["character"]}, devices={"character": {}, "block": {}}, lxc=section)
    row = derived("device_access", snapshot(devices=devices(), lxc=section), before).rows[UVM]
    assert row["old_major_from"] == "leftover" and "before_owner" not in row["rules"][0]


def test_directories_of_two_files_have_no_order() -> None:
    top = "/usr/share/lxc/config/common.conf.d"
    shuffled = part(
        rule(1, "a", "lxc.cgroup2.devices.deny", f"{top}/a.conf"),
        rule(1, "a", file=f"{top}/b.conf"),
        unordered=[{"value": top, "origin": origin(9, f"lxc.include = {top}", COMMON)}],
    )
    section = lxc(part(mount(17, "/dev/nvidia-uvm")), {COMMON: shuffled})
    assert judged(section).unknown[0]["why"] == REASONS["includes-unread"]


def test_plain_lxc() -> None:
    section = lxc(
        part(rule(14, "c 508:* rwm", file="/var/lib/lxc/my web/config"), mount(17, "/dev/nvidia-uvm")),
        manager="lxc",
        running=True,
        config_file="/var/lib/lxc/my web/config",
    )
    section["containers"]["my web"] = section["containers"].pop("101")
    row = judged(section, devices(511), devices(508)).rows["my web /dev/nvidia-uvm"]
    assert row["now"] == [
        "sed -i '14s/c 508:/c 511:/' '/var/lib/lxc/my web/config'",
        "lxc-stop -n 'my web'",
        "lxc-start -n 'my web'",
    ]
    assert "durable" not in row and any("move" in w for w in row["warnings"])


def test_list_of_candidates_gives_nothing_by_itself() -> None:
    """A known remedy: one line for each number that the driver may get. 509 was caps's by accident."""
    lines = [rule(n, f"c {n}:* rwm") for n in range(508, 512)]
    found = judged(lxc(part(*lines, mount(600, "/dev/nvidia-uvm"))), devices(511, 507), devices(508, 509))
    assert {k: r["access"] for k, r in found.rows.items()} == {UVM: "allowed"}


def test_half_mended_container_is_not_told_to_restart() -> None:
    live = part(mount(17, "/dev/nvidia-uvm"), devices={"dev0": dev(5, "/dev/nvidia-uvm")})
    row = judged(lxc(live, running=True, generated=generated("c 508:* rwm"))).rows[UVM]
    assert (row["access"], row["reason"]) == ("denied", "given-twice") and "now" not in row


def test_hostile_lines_judge_nothing_wrongly() -> None:
    values = (
        "",
        "a",
        "c",
        "c :",
        "c 9" + "9" * 5000 + ":* rwm",
        "\udcff\x00",
        "c ٥١١:* rwm",
        "c 511:* rw x",
    )
    ignored = [{"why": "x", "origin": origin(50 + n, f"{ALLOW}: {v}")} for n, v in enumerate(values)]
    for value in values:
        row = uvm(
            rule(13, "a", "lxc.cgroup2.devices.deny"),
            rule(14, "c 195:* rwm"),
            rule(15, value),
            ignored=ignored,
        )
        assert row["access"] == ("allowed" if value in ("", "a") else "denied"), value


def test_many_containers_are_quick() -> None:
    section = lxc(STALE)
    section["containers"] = {str(n): section["containers"]["101"] for n in range(200, 400)}
    start = time.process_time()
    assert len(judged(section, devices(511, 507), devices(508, 506)).rows) == 200 * 6
    assert time.process_time() - start < 5


def test_privileged_or_not_is_unknown() -> None:
    section = lxc(part(rule(14, "c 511:* rwm"), mount(17, "/dev/nvidia-uvm")), manager="lxc")
    assert judged(section).rows[UVM]["access"] == "allowed"
    del section["containers"]["101"]["privileged"]
    found = judged(section)
    assert UVM not in found.rows and [u["subject"] for u in found.unknown] == [UVM]
