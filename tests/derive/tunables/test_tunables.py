"""Rows and verdicts of the table; what each kind reads and sets stands in test_tunable_*."""

from __future__ import annotations

import time
from typing import Any

import pytest

from snapshot.derive import derived
from snapshot.derive.actions.action import UNITS

from ..tuned import action, cmdline, derive, host, origin, rows, verdicts

GPU = "0000:01:00.0"
SWAPPINESS = "sysctl vm.swappiness"


def sysctl(values: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    """Section sysctl with vm.swappiness 10, or VALUES, and SETTINGS of it."""
    found: dict[str, Any] = {"values": {"vm.swappiness": 10} if values is None else values}
    return found | ({"settings": {"vm.swappiness": settings}} if settings else {})


def written(value: str, **place: Any) -> dict[str, Any]:
    return {"value": value, "origin": origin(**place)}


def function(size: int, **more: Any) -> dict[str, Any]:
    return {
        "vendor": "10de",
        "device": "2bb5",
        "class_code": "030200",
        "source": "config",
        "express": {"type": "endpoint", "max_read_request_bytes": size},
    } | more


def test_kept_by_a_file() -> None:
    row = rows(host(sysctl=sysctl(systemd=written("0xa"))))[SWAPPINESS]
    setter = {"value": "0xa", "how": "sysctl.d", **origin(), "certain": True}
    assert row == {
        "kind": "sysctl",
        "name": "vm.swappiness",
        "path": ["sysctl", "values", "vm.swappiness"],
        "live": 10,
        "configured": 10,
        "configured_by": setter,
        "setters": [setter],
        "agrees": True,
        "default": 60,
        "default_source": "Linux: Documentation/admin-guide/sysctl/vm.rst, swappiness",
        "verdict_boot": "kept",
    }


@pytest.mark.parametrize(
    ("live", "settings", "word"),
    [
        (10, {}, "reverts"),
        (60, {}, "default"),
        (10, {"systemd": written("60")}, "changes"),
        (60, {"systemd": written("60")}, "kept"),
        (10, {"systemd": written("ten")}, "may"),
    ],
)
def test_verdicts_of_a_sysctl(live: int, settings: dict[str, Any], word: str) -> None:
    row = rows(host(sysctl=sysctl({"vm.swappiness": live}, **settings)))[SWAPPINESS]
    assert row["verdict_boot"] == word


def test_nothing_sets_it_and_nobody_knows_the_default() -> None:
    row = rows(host(sysctl={"values": {"kernel.sched_autogroup_enabled": 0}}))["sysctl kernel.sched_autogroup_enabled"]
    assert row["verdict_boot"] == "may" and not {"default", "setters", "configured", "agrees"} & row.keys()


def test_the_last_certain_one_counts_and_the_others_are_overridden() -> None:
    after = host(
        sysctl=sysctl(
            systemd=written("60", file="/usr/lib/sysctl.d/99-vendor.conf"),
            overridden=[written("10", file="/etc/sysctl.d/10-mine.conf")],
        ),
        cmdline=cmdline("sysctl.vm.swappiness=5"),
    )
    row = rows(after, action("sysctl", "vm.swappiness", value="10"))[SWAPPINESS]
    assert [(setter["how"], setter["value"]) for setter in row["setters"]] == [
        ("cmdline", "5"),
        ("sysctl.d", "10"),
        ("sysctl.d", "60"),
        ("unit", "10"),
    ]
    assert row["configured_by"]["unit"] == "tune.service" and row["verdict_boot"] == "kept" and "maybe" not in row
    assert [setter["value"] for setter in row["overridden"]] == ["5", "10", "60"]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"certain": False}, "may"),
        ({"value": None}, "may"),
        ({"value": "10", "certain": False}, "kept"),
        ({"how": "tmpfiles", "value": "60"}, "may"),
        ({"why_not": "disabled"}, "kept"),
        ({}, "changes"),
    ],
)
def test_a_line_after_the_file(more: dict[str, Any], word: str) -> None:
    line = action("sysctl", "vm.swappiness", **({"value": "60"} | more))
    row = rows(host(sysctl=sysctl(systemd=written("10"))), line)[SWAPPINESS]
    assert row["verdict_boot"] == word
    assert ("not_run" in row) is (more == {"why_not": "disabled"})


@pytest.mark.parametrize(
    ("live", "value", "certain", "word"),
    [
        (10, "10", False, "may"),
        (10, "60", False, "may"),
        (60, "60", False, "default"),
        (60, "10", False, "may"),
        (60, None, False, "may"),
        (10, "10", True, "kept"),
        (10, "60", True, "changes"),
    ],
)
def test_a_line_alone(live: int, value: str | None, certain: bool, word: str) -> None:
    line = action("sysctl", "vm.swappiness", value=value, certain=certain)
    row = rows(host(sysctl=sysctl({"vm.swappiness": live})), line)[SWAPPINESS]
    assert row["verdict_boot"] == word and ("maybe" in row) is not certain


def test_all_that_may_come_is_another_value() -> None:
    lines = [action("sysctl", "vm.swappiness", value=str(n), order=UNITS + n, certain=n == 1) for n in (1, 2)]
    assert rows(host(sysctl=sysctl()), *lines)[SWAPPINESS]["verdict_boot"] == "may"


def test_what_will_not_run_is_told_apart() -> None:
    idle = action("sysctl", "vm.swappiness", value="10", certain=False, why_not="tune.service is disabled")
    row = rows(host(sysctl=sysctl()), idle)[SWAPPINESS]
    assert row["verdict_boot"] == "reverts" and row["not_run"][0]["why_not"] == "tune.service is disabled"
    assert not {"setters", "maybe", "configured"} & row.keys()


def test_early_mechanisms_that_disagree_settle_nothing() -> None:
    after = host(sysctl=sysctl(systemd=written("10")))
    row = rows(after, action("sysctl", "vm.swappiness", value="60", how="udev"))[SWAPPINESS]
    assert row["verdict_boot"] == "may" and "configured" not in row and len(row["maybe"]) == 2
    row = rows(after, action("sysctl", "vm.swappiness", value="10", how="udev"))[SWAPPINESS]
    assert row["verdict_boot"] == "kept"


def test_two_lines_that_nothing_orders() -> None:
    lines = [
        action("sysctl", "vm.swappiness", value=value, unit=f"{value}.service", origin=origin(f"/etc/{value}.service"))
        for value in ("10", "60")
    ]
    assert rows(host(sysctl=sysctl()), *lines)[SWAPPINESS]["verdict_boot"] == "may"


def test_what_was_not_read_makes_it_unknown() -> None:
    gap = {"source": "/root/tune.sh", "why": "EACCES"}
    row = derive(host(sysctl=sysctl()), gaps=[gap]).rows[SWAPPINESS]
    assert row["verdict_boot"] == "unknown" and row["unknown_setters"] == [gap] and row["default"] == 60
    after = host(sysctl=sysctl(), unread={"sysctl": [["settings"]]})
    row = rows(after)[SWAPPINESS]
    assert row["verdict_boot"] == "unknown" and row["unknown_setters"] == [{"source": "/src", "why": "EACCES"}]


def test_a_live_value_that_was_not_read() -> None:
    found = derive(host(sysctl=sysctl({}, systemd=written("10")), unread={"sysctl": [["values", "vm.swappiness"]]}))
    row = found.rows[SWAPPINESS]
    assert row["verdict_boot"] == "unknown" and row["unread_live"] == {"source": "/src", "why": "EACCES"}
    assert not {"live", "absent", "agrees"} & row.keys() and row["configured"] == "10"
    assert SWAPPINESS not in [gap["subject"] for gap in found.unknown]


def test_what_the_host_does_not_have() -> None:
    row = rows(host(sysctl=sysctl({}, systemd=written("10"))))[SWAPPINESS]
    assert row["absent"] == "the running kernel has no such key" and not {"verdict_boot", "live", "agrees"} & row.keys()


def test_unread_facts_are_unknown_by_key() -> None:
    unread = {"sysctl": [["values", "vm.mmap_rnd_bits"]], "pci": [["functions", GPU, "express"]]}
    found = derive(host(sysctl=sysctl(), unread=unread, pci={"functions": {GPU: {"source": "config"}}}))
    subjects = {gap["subject"] for gap in found.unknown}
    assert {"sysctl vm.mmap_rnd_bits", f"pci {GPU} MaxReadReq", f"pci {GPU} ASPM", f"pci {GPU} HASD"} <= subjects
    assert {"cpufreq ", "nvidia ", "irq ", "thp "} <= subjects and "pci " not in subjects and "sysctl " not in subjects


def test_before_and_reverted() -> None:
    before, after = (host(sysctl=sysctl({"vm.swappiness": value, "vm.stat_interval": 1})) for value in (10, 60))
    found = rows(after, before=before)
    assert (found[SWAPPINESS]["before"], found[SWAPPINESS]["reverted"]) == (10, True)
    assert found["sysctl vm.stat_interval"]["reverted"] is False
    assert not {"before", "reverted"} & rows(after)[SWAPPINESS].keys()
    assert not {"before", "reverted"} & rows(after, before=host())[SWAPPINESS].keys()


def test_before_follows_the_pairing() -> None:
    serials = {GPU: ("aa", 4096), "0000:02:00.0": ("bb", 512)}
    before = host(
        pci={"functions": {a: function(size, serial=s) for a, (s, size) in serials.items()}},
        power={"runtime_pm": {GPU: "on", "0000:02:00.0": "auto"}},
    )
    moved = {"0000:02:00.0": function(512, serial="aa"), "0000:03:00.0": function(512, serial="bb")}
    after = host(pci={"functions": moved}, power={"runtime_pm": dict.fromkeys(moved, "auto")})
    found = rows(after, before=before)
    assert [found[f"pci {a} MaxReadReq"]["before"] for a in moved] == [4096, 512]
    assert [found[f"pci {a} MaxReadReq"]["verdict_boot"] for a in moved] == ["default", "default"]
    assert [found[f"power {a} power/control"]["before"] for a in moved] == ["on", "auto"]


def test_before_parts_cpus() -> None:
    before = host(cpufreq={"governor": {"performance": "0-5", "powersave": "6-7"}})
    after = host(cpufreq={"governor": {"powersave": "0-7"}})
    found = rows(after, before=before)
    assert {key: (row["before"], row["live"], row["reverted"]) for key, row in found.items()} == {
        "cpufreq scaling_governor 0-5": ("performance", "powersave", True),
        "cpufreq scaling_governor 6-7": ("powersave", "powersave", False),
    }


def test_a_default_that_the_next_kernel_moves_is_no_lost_setting() -> None:
    chosen = {"next": {"kernel": "6.14.11-1-pve", "by": "newest"}}
    row = rows(host(boot=chosen, sysctl={"values": {"net.core.optmem_max": 20480}}, meta={"kernel": "6.8"}))[
        "sysctl net.core.optmem_max"
    ]
    assert row["verdict_boot"] == "reverts"
    meta = {"kernel": "6.1.0-57"}
    for live, word in ((20480, "default"), (131072, "default"), (65536, "reverts")):
        after = host(boot=chosen, sysctl={"values": {"net.core.optmem_max": live}}, meta=meta)
        row = rows(after)["sysctl net.core.optmem_max"]
        assert (row["verdict_boot"], row["default"], row["default_now"]) == (word, 131072, 20480)


def test_numa_balancing_depends_on_the_nodes() -> None:
    def row(nodes: int) -> dict[str, Any]:
        cpu = {"nodes": {str(node): {"cpus": ""} for node in range(nodes)}}
        return rows(host(cpu=cpu, sysctl={"values": {"kernel.numa_balancing": 0}}))["sysctl kernel.numa_balancing"]

    assert (row(2)["verdict_boot"], row(1)["verdict_boot"]) == ("reverts", "default")
    after = host(sysctl={"values": {"kernel.numa_balancing": 0}})
    assert rows(after)["sysctl kernel.numa_balancing"]["verdict_boot"] == "may"
    after = host(sysctl={"values": {"kernel.numa_balancing": 0}}, cmdline=cmdline("numa_balancing=disable"))
    assert rows(after)["sysctl kernel.numa_balancing"]["verdict_boot"] == "kept"


def test_an_empty_host_has_no_rows() -> None:
    found = derive(host())
    assert found.rows == {} and "sysctl " not in [gap["subject"] for gap in found.unknown]


def test_a_large_host_is_quick() -> None:
    values = {f"net.ipv4.conf.eth{n}.forwarding": n for n in range(2000)}
    functions = {f"0000:{n:02x}:00.0": function(512) for n in range(250)}
    idle = {"C2": {"disabled": {"true": "0-255"}, "latency_us": 800, "enabled_at_start": True}}
    after = host(
        sysctl={"values": values},
        pci={"functions": functions},
        cpu={"online": "0-255"},
        cpuidle={"states": idle},
        cpufreq={"governor": {"performance": "0-255"}},
    )
    governors = (f"/sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor" for n in range(256))
    lines = [action("file", governor, value="performance") for governor in governors]
    start = time.process_time()
    found = derive(after, after, [*lines, action("setpci", "10de:", "CAP_EXP+8.w", "5000:7000")])
    assert time.process_time() - start < 1 and verdicts(found.rows)["pci 0000:01:00.0 MaxReadReq"] == "changes"
    assert verdicts(found.rows)["cpufreq scaling_governor 0-255"] == "kept"


def test_a_line_that_is_not_understood_may_set_what_it_names() -> None:
    blocks = {"S1": {"name": "sda", "queue": {"scheduler": "none", "nr_requests": 64}}}
    after = host(storage={"blocks": blocks}, memory={"ksm": {"run": 0}})
    found = verdicts(rows(after, action("unknown", "write", "/sys/block/*/queue/scheduler", certain=False)))
    assert found == {"block sda scheduler": "may", "block sda nr_requests": "may", "ksm ksm/run": "default"}
    for path, maybe in (("/sys/block/$d/queue/scheduler", 2), ("/sys/block/sda", 2), ("/sys/block/sd", 0), ("/sys", 3)):
        found_rows = rows(after, action("unknown", "write", path, certain=False))
        assert sum("maybe" in row for row in found_rows.values()) == maybe


def test_the_command_line_is_missed_only_where_it_counts() -> None:
    entry = {
        "linux": "/vmlinuz",
        "words": ["quiet"],
        "origin": origin("/boot/grub/grub.cfg", 1, "linux /vmlinuz quiet"),
    }
    boot = {"menus": {"grub": {"entries": {"six": entry}}}, "next": {"entry": "six", "menu": "grub", "by": "default"}}
    unread: dict[str, list[list[str]]] = {"cmdline": [[]]}
    assert rows(host(sysctl=sysctl(), unread=unread))[SWAPPINESS]["verdict_boot"] == "unknown"
    assert rows(host(sysctl=sysctl(), unread=unread, boot=boot))[SWAPPINESS]["verdict_boot"] == "reverts"


def unit(text: str, **more: Any) -> dict[str, Any]:
    """Section units with tune.service, enabled, that runs a command."""
    file = "/etc/systemd/system/tune.service"
    command = {"key": "ExecStart", "text": text, "tools": ["setpci"], "origin": origin(file, 5, f"ExecStart={text}")}
    told = {
        "state": "enabled",
        "file": file,
        "wanted_by": ["multi-user.target"],
        "type": "oneshot",
        "commands": [command],
    }
    return {"units": {"tune.service": told | more}}


@pytest.mark.parametrize(
    ("units", "word"),
    [
        (unit("/usr/bin/setpci -d 10de: CAP_EXP+8.w=5000:7000"), "kept"),
        (unit("/usr/bin/setpci -d 10de: CAP_EXP+8.w=3000:7000"), "changes"),
        (unit("/usr/bin/setpci -d 10de: CAP_EXP+8.w=5000:7000", state="disabled", wanted_by=[]), "reverts"),
        ({"units": {}}, "reverts"),
    ],
)
def test_the_table_asks_what_the_boot_does(units: dict[str, Any], word: str) -> None:
    after = host(pci={"functions": {GPU: function(4096)}}, units=units)
    found = derived("tunables", after, host(pci={"functions": {GPU: function(512)}}))
    row = found.rows[f"pci {GPU} MaxReadReq"]
    assert (row["verdict_boot"], row["before"], row["default"]) == (word, 512, 512)
    unread = host(pci={"functions": {GPU: function(4096)}}, unread={"units": [["scripts"]]})
    row = derived("tunables", unread, None).rows[f"pci {GPU} MaxReadReq"]
    assert row["verdict_boot"] == "unknown" and row["unknown_setters"] == [{"source": "/src", "why": "EACCES"}]
