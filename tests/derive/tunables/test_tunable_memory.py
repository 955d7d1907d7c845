"""Huge pages, KSM, swap."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.actions.action import UNITS
from snapshot.derive.tunables.tunable_hugepages import size_name
from snapshot.derive.tunables.tunable_swap import unit_name

from ..tuned import Row, action, assign, cmdline, host, origin, rows, verdicts


def memory(**more: Any) -> Row:
    return {
        "memory": {
            "thp": {
                "enabled": "madvise",
                "defrag": "madvise",
                "khugepaged": {"defrag": 1},
                "sizes": {"64kB": {"enabled": "never"}},
            },
            "ksm": {"run": 0},
        }
        | more
    }


def test_huge_pages_and_ksm() -> None:
    found = rows(host(**memory()))
    assert verdicts(found) == {
        "thp transparent_hugepage/enabled": "may",
        "thp transparent_hugepage/defrag": "default",
        "thp transparent_hugepage/khugepaged/defrag": "default",
        "thp transparent_hugepage/hugepages-64kB/enabled": "may",
        "ksm ksm/run": "default",
    }
    top = "/sys/kernel/mm/transparent_hugepage"
    found = rows(
        host(**memory(), cmdline=cmdline("transparent_hugepage=madvise")),
        action("file", f"{top}/hugepages-64kB/enabled", value="always", how="tmpfiles"),
        action("unknown", "ksmtuned", certain=False),
    )
    assert found["thp transparent_hugepage/enabled"]["verdict_boot"] == "kept"
    assert found["thp transparent_hugepage/hugepages-64kB/enabled"]["verdict_boot"] == "changes"
    assert found["ksm ksm/run"]["verdict_boot"] == "may"


@pytest.mark.parametrize(
    ("live", "value", "word"),
    [
        ("0x0007", "7", "kept"),
        ("0x0007", "y", "may"),
        ("0x0000", "n", "kept"),
        ("0x0007", "0", "changes"),
    ],
)
def test_lru_gen(live: str, value: str, word: str) -> None:
    found = rows(host(memory={"lru_gen": live}), action("file", "/sys/kernel/mm/lru_gen/enabled", value=value))
    assert found["memory lru_gen/enabled"]["verdict_boot"] == word


def pools(default: int = 0, huge: int = 0, **more: Any) -> Row:
    found = {"2048kB": {"pages": default, "overcommit": 0}, "1048576kB": {"pages": huge, "overcommit": 0}}
    return {"memory": {"hugepages": found, **more}}


@pytest.mark.parametrize(
    ("text", "name"), [("1G", "1048576kB"), ("2M", "2048kB"), ("64k", "64kB"), ("x", ""), ("2097152", "2048kB")]
)
def test_sizes_of_huge_pages(text: str, name: str) -> None:
    assert size_name(text) == name


@pytest.mark.parametrize(
    ("words", "live", "small", "large"),
    [
        ((), (0, 4), "default", "reverts"),
        (("hugepages=16",), (16, 0), "kept", "default"),
        (("hugepages=16", "hugepages=32"), (16, 0), "kept", "default"),
        (("hugepagesz=1G", "hugepages=64"), (0, 64), "default", "kept"),
        (("hugepages=16", "hugepagesz=1G", "hugepages=64"), (16, 64), "kept", "kept"),
        (("default_hugepagesz=1G", "hugepages=64"), (0, 64), "default", "kept"),
        (("hugepages=16",), (12, 0), "may", "default"),  # fewer than asked for
        (("hugepages=16",), (20, 0), "changes", "default"),
        (("hugepages=many",), (20, 0), "may", "default"),
        (("hugepagesz=1G", "hugepages=0:2,1:2"), (0, 4), "default", "kept"),
        (("hugepagesz=1G", "hugepages=0:2,1:x"), (0, 4), "default", "may"),
        (("hugepagesz=1G", f"hugepages=0:{'9' * 5000}"), (0, 4), "default", "may"),
    ],
)
def test_pools(words: tuple[str, ...], live: tuple[int, int], small: str, large: str) -> None:
    found = verdicts(rows(host(**pools(*live), cmdline=cmdline(*words))))
    assert (found["hugepages 2048kB nr_hugepages"], found["hugepages 1048576kB nr_hugepages"]) == (small, large)


def test_the_default_pool_is_a_sysctl_too() -> None:
    sysctl = {"values": {"vm.nr_hugepages": 100}, "settings": {"vm.nr_hugepages": {"systemd": assign("100")}}}
    found = rows(host(**pools(100), sysctl=sysctl, cmdline=cmdline("hugepages=16")))
    for key in ("hugepages 2048kB nr_hugepages", "sysctl vm.nr_hugepages"):
        assert [setter["value"] for setter in found[key]["setters"]] == ["16", "100"] and found[key][
            "verdict_boot"
        ] == "kept"
    arm = host(**pools(16), cmdline=cmdline("hugepages=16"), kernel={"machine": "aarch64"})
    assert rows(arm)["hugepages 2048kB nr_hugepages"]["verdict_boot"] == "may"


@pytest.mark.parametrize(("path", "small", "large"), [
    ("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "changes", "default"),
    ("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages_mempolicy", "changes", "default"),
    ("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "may", "default"),
    ("/sys/devices/system/node/node*/hugepages/hugepages-1048576kB/nr_hugepages", "reverts", "may"),
    ("/sys/kernel/mm/hugepages/hugepages-1048576kB/demote", "may", "may"),
    ("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "reverts", "default"),
])
def test_files_that_fill_a_pool(path: str, small: str, large: str) -> None:
    values = {"values": dict.fromkeys(("vm.nr_hugepages", "vm.nr_hugepages_mempolicy"), 64)}
    found = verdicts(rows(host(**pools(64, nodes={"0": {}}), sysctl=values), action("file", path, value="32")))
    assert (found["hugepages 2048kB nr_hugepages"], found["hugepages 1048576kB nr_hugepages"]) == (small, large)
    assert {found["sysctl vm.nr_hugepages"], found["sysctl vm.nr_hugepages_mempolicy"]} == {small}


@pytest.mark.parametrize(("word", "small", "large"), [
    ("2", "may", "reverts"), ("1024", "reverts", "may"), ("any", "may", "may"), (None, "reverts", "reverts"),
])
def test_virtual_machines_that_fill_a_pool(word: str | None, small: str, large: str) -> None:
    file = "/etc/pve/qemu-server/105.conf"
    options = {"hugepages": {"value": word, "origin": origin(file, 3, f"hugepages: {word}")}} if word else {}
    machine = {"config_file": file, "live": {"options": options}}
    found = rows(host(**pools(64, 4), qemu={"machines": {"105": machine}}))
    told = [found[f"hugepages {size} nr_hugepages"] for size in ("2048kB", "1048576kB")]
    assert [row["verdict_boot"] for row in told] == [small, large]
    assert {setter["doubt"] for row in told for setter in row.get("setters", ())} == (
        {"the start of virtual machine 105 makes as many as it needs"} if word else set())


def test_machines_that_were_not_read() -> None:
    hidden = {"unread": {"qemu": [["machines"]]}, "qemu": {}}
    for os, word in (({"proxmox_ve": "9.0.3"}, "unknown"), ({}, "reverts")):
        assert rows(host(**pools(64), **hidden, os=os))["hugepages 2048kB nr_hugepages"]["verdict_boot"] == word


def test_where_the_default_size_is_not_known_a_sysctl_may_be_of_any_pool() -> None:
    arm: Row = {"kernel": {"machine": "aarch64"}}
    sysctl = {"values": {}, "settings": {"vm.nr_hugepages": {"systemd": assign("512")}}}
    found = verdicts(rows(host(**pools(512, 4), **arm, sysctl=sysctl)))
    assert {found[f"hugepages {size} nr_hugepages"] for size in ("2048kB", "1048576kB")} == {"may"}
    assert verdicts(rows(host(**pools(0, 4), **arm)))["hugepages 1048576kB nr_hugepages"] == "reverts"
    words, value = cmdline("hugepagesz=2M", "hugepages=64"), {"values": {"vm.nr_hugepages": 64}}
    found = verdicts(rows(host(**pools(64), **arm, cmdline=words, sysctl=value)))
    assert (found["hugepages 2048kB nr_hugepages"], found["sysctl vm.nr_hugepages"]) == ("kept", "may")


def test_pools_of_nodes() -> None:
    nodes = {node: {"hugepages": {"2048kB": {"pages": 8}}} for node in ("0", "1")}
    found = rows(host(**pools(16, nodes=nodes), cmdline=cmdline("hugepages=16")))
    assert found["hugepages 2048kB node0 nr_hugepages"]["verdict_boot"] == "may"
    assert found["hugepages 2048kB node0 nr_hugepages"]["path"] == [
        "memory",
        "nodes",
        "0",
        "hugepages",
        "2048kB",
        "pages",
    ]
    found = rows(host(**pools(16, nodes=nodes), cmdline=cmdline("hugepages=0:8,1:4")))
    assert [found[f"hugepages 2048kB node{node} nr_hugepages"]["verdict_boot"] for node in (0, 1)] == [
        "kept",
        "changes",
    ]


def swap(*lines: tuple[str, str], areas: tuple[str, ...] = (), kind: str = "partition", **more: Any) -> Any:
    fstab = {
        source: {
            "source": source,
            "fstype": "swap",
            "options": options.split(","),
            "origin": origin("/etc/fstab", at, f"{source} none swap {options} 0 0"),
        }
        for at, (source, options) in enumerate(lines, 1)
    }
    live = {area: {"type": kind, "size_bytes": 1, "used_bytes": 0, "priority": -2} for area in areas}
    return host(memory={"swaps": live}, storage={"blocks": {}, "fstab": fstab}, **more)


def test_swap_that_was_switched_off_comes_back() -> None:
    found = rows(swap(("/dev/sda3", "sw")))
    row = found["swap /dev/sda3 swap"]
    assert (row["live"], row["configured"], row["verdict_boot"]) == (False, True, "changes")
    assert verdicts(rows(swap(("UUID=ab-cd", "sw")))) == {"swap UUID=ab-cd swap": "changes"}
    assert verdicts(rows(swap(("/dev/sda3", "noauto")))) == {"swap /dev/sda3 swap": "may"}
    masked = {"units": {unit_name("UUID=ab-cd"): {"state": "masked"}}}
    row = rows(swap(("UUID=ab-cd", "sw"), units=masked))["swap UUID=ab-cd swap"]
    assert row["not_run"][0]["why_not"] == "its unit is masked" and "configured" not in row


def test_swap_in_use() -> None:
    assert verdicts(rows(swap(("/dev/sda3", "sw"), areas=("/dev/sda3",)))) == {"swap /dev/sda3 swap": "kept"}
    assert verdicts(rows(swap(("UUID=ab-cd", "sw"), areas=("/dev/sda3",)))) == {"swap /dev/sda3 swap": "may"}
    assert verdicts(rows(swap(areas=("/dev/sda3",)))) == {"swap /dev/sda3 swap": "may"}
    assert verdicts(rows(swap(areas=("/swap.img",), kind="file"))) == {"swap /swap.img swap": "reverts"}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (action("swap", "all", value="off"), "changes"),
        (action("swap", "/dev/sda3", value="off"), "changes"),
        (action("swap", "/dev/sdb1", value="off"), "kept"),
        (action("swap", "/dev/disk/by-label/swap", value="off"), "may"),
        (action("swap", "all", value="off", certain=False), "may"),
        (action("swap", "all", value="on"), "kept"),
        (action("unknown", "swapoff", certain=False), "may"),
    ],
)
def test_swap_that_a_line_switches(line: Any, word: str) -> None:
    assert verdicts(rows(swap(("/dev/sda3", "sw"), areas=("/dev/sda3",)), line)) == {"swap /dev/sda3 swap": word}


def test_swap_that_stays_off() -> None:
    found = verdicts(rows(swap(("UUID=ab-cd", "sw")), action("swap", "all", value="off")))
    assert found == {"swap UUID=ab-cd swap": "kept"}
    assert verdicts(rows(swap(areas=("/dev/sda3",)), action("swap", "all", value="on"))) == {
        "swap /dev/sda3 swap": "may"
    }


def test_swap_units() -> None:
    on = action("swap", "/dev/zram0", value="on", unit="dev-zram0.swap")
    off = action("swap", "all", value="off", order=UNITS)
    assert verdicts(rows(swap(areas=("/dev/zram0",)), on)) == {"swap /dev/zram0 swap": "kept"}
    assert verdicts(rows(swap(areas=("/dev/zram0",)), off, on)) == {"swap /dev/zram0 swap": "changes"}
    assert verdicts(rows(swap(), on)) == {"swap /dev/zram0 swap": "changes"}
    link = action("swap", "/dev/disk/by-uuid/ab-cd", value="on", unit="x.swap")
    generated = {"units": {"x.swap": {"state": "generated"}}}
    found = rows(swap(("UUID=ab-cd", "sw"), units=generated), link)
    assert verdicts(found) == {"swap UUID=ab-cd swap": "changes"}  # the unit comes from the line


def test_swap_before() -> None:
    on, off = swap(areas=("/dev/sda3",)), swap(("/dev/sda3", "sw"))
    assert rows(off, before=on)["swap /dev/sda3 swap"]["before"] is True
    assert rows(on, before=swap())["swap /dev/sda3 swap"]["reverted"] is True
    assert "before" not in rows(on, before=host())["swap /dev/sda3 swap"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("/dev/sda3", "dev-sda3.swap"),
        ("/swap.img", "swap.img.swap"),
        ("/dev/mapper/vg-swap", r"dev-mapper-vg\x2dswap.swap"),
        ("UUID=ab-cd", r"dev-disk-by\x2duuid-ab\x2dcd.swap"),
        ("LABEL=sw", r"dev-disk-by\x2dlabel-sw.swap"),
    ],
)
def test_names_of_swap_units(source: str, name: str) -> None:
    assert unit_name(source) == name
