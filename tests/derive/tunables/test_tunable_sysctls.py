"""Sysctls: what sets them, and what only seems to."""

from __future__ import annotations

from ..tuned import action, assign, cmdline, host, origin, rows, verdicts


def test_the_pool_of_huge_pages_has_two_names() -> None:
    one, other = "vm.nr_hugepages", "vm.nr_hugepages_mempolicy"
    settings = {one: {"systemd": assign("64")}}
    found = rows(host(sysctl={"values": {one: 64, other: 64}, "settings": settings}))
    assert [found[f"sysctl {key}"]["verdict_boot"] for key in (one, other)] == ["kept", "kept"]
    found = rows(host(sysctl={"values": {one: 64, other: 64}}, cmdline=cmdline("hugepages=16")))
    assert [found[f"sysctl {key}"]["configured"] for key in (one, other)] == [16, 16]


def test_a_file_that_only_procps_reads() -> None:
    settings = {
        "vm.swappiness": {
            "procps": assign("10", file="/etc/sysctl.conf"),
            "overridden": [assign("20", file="/etc/sysctl.conf")],
        }
    }
    sysctl = {"values": {"vm.swappiness": 10}, "settings": settings}
    row = rows(host(sysctl=sysctl))["sysctl vm.swappiness"]
    assert row["verdict_boot"] == "reverts" and "sysctl --system" in row["not_run"][0]["why_not"]
    assert "setters" not in row
    row = rows(host(sysctl=sysctl, meta={"system_state": "none"}))["sysctl vm.swappiness"]
    assert row["verdict_boot"] == "may" and "not_run" not in row


def test_two_faces_of_one_limit() -> None:
    values = {"vm.dirty_ratio": 0, "vm.dirty_bytes": 268435456}
    settings = {"vm.dirty_ratio": {"systemd": assign("20", 1)}, "vm.dirty_bytes": {"systemd": assign("268435456", 2)}}
    found = rows(host(sysctl={"values": values, "settings": settings}))
    assert [found[f"sysctl {key}"]["verdict_boot"] for key in values] == ["kept", "kept"]
    assert found["sysctl vm.dirty_ratio"]["configured"] == 0
    settings["vm.dirty_ratio"]["systemd"] = assign("20", 3)
    found = rows(host(sysctl={"values": values, "settings": settings}))
    assert [found[f"sysctl {key}"]["verdict_boot"] for key in values] == ["changes", "changes"]
    found = rows(host(sysctl={"values": values}))
    assert [found[f"sysctl {key}"]["verdict_boot"] for key in values] == ["reverts", "reverts"]
    settings = {"vm.dirty_bytes": {"systemd": assign("0")}}  # refused
    found = rows(host(sysctl={"values": {"vm.dirty_ratio": 20}, "settings": settings}))
    assert found["sysctl vm.dirty_ratio"]["verdict_boot"] == "default"


def test_keys_of_modules_that_come_later() -> None:
    key = "net.bridge.bridge-nf-call-iptables"
    sysctl = {"values": {key: 0}, "settings": {key: {"systemd": assign("0")}}}
    assert rows(host(sysctl=sysctl))[f"sysctl {key}"]["verdict_boot"] == "may"
    modules = {"load": {"br-netfilter": {"origin": origin("/etc/modules-load.d/br.conf", 1, "br-netfilter")}}}
    assert rows(host(sysctl=sysctl, modules=modules))[f"sysctl {key}"]["verdict_boot"] == "kept"


def test_sysctl_unit_masked() -> None:
    units = {"units": {"systemd-sysctl.service": {"state": "masked"}}}
    sysctl = {"values": {"vm.swappiness": 10}, "settings": {"vm.swappiness": {"systemd": assign("10")}}}
    row = rows(host(sysctl=sysctl, units=units))["sysctl vm.swappiness"]
    assert row["verdict_boot"] == "reverts" and "masked" in row["not_run"][0]["why_not"]


def test_sysctls_by_path_and_by_tools() -> None:
    after = host(sysctl={"values": {"vm.swappiness": 10, "net.ipv4.conf.enp3s0/200.forwarding": 1}})
    found = rows(
        after,
        action("file", "/proc/sys/vm/swappiness", value="10"),
        action("file", "/proc/sys/net/ipv4/conf/*/forwarding", value="1"),
    )
    assert {*verdicts(found).values()} == {"kept"}
    found = rows(after, action("unknown", "sysctl", certain=False))
    assert {*verdicts(found).values()} == {"may"} and all(len(row["maybe"]) == 1 for row in found.values())
    found = rows(after, action("sysctl", "vm.*", value="10"))
    assert list(verdicts(found).values()) == ["kept", "may"]


def test_computed_keys_are_marked() -> None:
    found = rows(
        host(sysctl={"values": {"user.max_net_namespaces": 1, "kernel.threads-max": 2, "vm.user_reserve_kbytes": 3}})
    )
    assert [row["computed"] for row in found.values()] == ["memory", "memory", "time"]
