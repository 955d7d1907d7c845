"""The tables of settings that no boot makes, and of tuning units before the driver."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import derived

from ..boots import ETC, VENDOR, host, unit
from ..made import snapshot

RC = {f"{VENDOR}/rc-local.service": unit("ExecStart=/etc/rc.local start", kind="forking", install="")}


def not_run(files: dict[str, Any], enabled: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return derived("boot_actions_not_run", host(files, enabled, net={"interfaces": {}}, **more), None).rows


def test_settings_that_will_not_be_made() -> None:
    files = {f"{ETC}/tune.service": unit("ExecStart=sysctl -w vm.swappiness=10 a.b=1"),
             "/etc/rc.local": "#!/bin/sh\nnvidia-smi -pl 450\n", **RC}
    assert not_run(files) == {
        f"{ETC}/tune.service:7": {
            "file": f"{ETC}/tune.service", "line": 7, "text": "ExecStart=sysctl -w vm.swappiness=10 a.b=1",
            "unit": "tune.service", "why_not": "the unit is disabled",
            "sets": "sysctl vm.swappiness = 10, sysctl a.b = 1"},
        "/etc/rc.local:2": {
            "file": "/etc/rc.local", "line": 2, "text": "nvidia-smi -pl 450", "unit": "rc-local.service",
            "why_not": "the script is not executable", "sets": "nvidia-smi all power-limit = 450"},
    }
    assert not_run(files, ("tune.service",)).keys() == {"/etc/rc.local:2"}


def test_a_unit_that_a_folder_which_was_not_listed_may_start_is_not_taken_as_run_by_none() -> None:
    gap = {"units": ["units"]}
    gpu = {"file": f"{ETC}/gpu.service", "state": "disabled", "commands": [{
        "key": "ExecStart", "text": "nvidia-smi -pl 450", "tools": ["nvidia-smi"],
        "origin": {"file": f"{ETC}/gpu.service", "line": 5, "text": "ExecStart=nvidia-smi -pl 450"}}]}
    half = snapshot(gap, units={"units": {"gpu.service": gpu}}, net={"interfaces": {}})
    for table in ("boot_actions_not_run", "unit_order"):
        found = derived(table, half, None)
        assert not found.rows and found.unknown


def test_what_another_line_sets_or_a_package_brings_is_no_row() -> None:
    text = unit("ExecStart=sysctl -w a.b=1")
    both = {f"{ETC}/old.service": text, f"{ETC}/new.service": text}
    assert not_run(both, ("new.service",)) == {}
    assert not_run(both).keys() == {f"{ETC}/old.service:7", f"{ETC}/new.service:7"}
    assert not_run({f"{VENDOR}/vendor.service": text}) == {}
    shared = {f"{ETC}/a.service": unit("ExecStart=/opt/x"), f"{ETC}/b.service": unit("ExecStart=/opt/x")}
    assert not_run(shared, ("a.service",), scripts={"/opt/x": "#!/bin/sh\nsysctl -w a.b=1\n"}) == {}


def test_unread_sources_are_unknown() -> None:
    found = derived("boot_actions_not_run", snapshot(), None)
    assert not found.rows and [u["subject"] for u in found.unknown] == [""]
    part = snapshot({"units": ["scripts", "/root/x"]}, units={"units": {}}, net={"interfaces": {}})
    assert [u["subject"] for u in derived("boot_actions_not_run", part, None).unknown] == ["/src"]


MODULES = {"load": {"nvidia": {"origin": {"file": "/etc/modules", "line": 1, "text": "nvidia"}}}}
PM = "ExecStart=nvidia-smi -pm 1"


@pytest.mark.parametrize(("line", "head", "modules", "early"), [
    (PM, "", {}, False), (PM, "", MODULES, None), (PM, "Before=sysinit.target", MODULES, True),
    (PM, "After=nvidia-persistenced.service", {}, None), (PM, "After=multi-user.target", {}, None),
    (PM, "After=dev-nvidia0.device", {}, None), (PM, "After=network.target", {}, False),
    (PM, "After=systemd-modules-load.service\nBefore=sysinit.target", MODULES, None),
    (PM, "After=systemd-modules-load.service", {}, False),
    ("ExecStart=setpci -s 01:00.0 1.w=1", "", {}, False), ("ExecStart=setpci -s 02:00.0 1.w=1", "", {}, None),
    ("ExecStart=setpci -d 10de: 1.w=1", "", {}, False), ("ExecStart=sysctl -w a.b=1", "", {}, None),
])
def test_units_that_nothing_orders_behind_the_driver(
    line: str, head: str, modules: dict[str, Any], early: bool | None,
) -> None:
    pci = {"functions": {"0000:01:00.0": {"vendor": "10de", "source": "config"},
                         "0000:02:00.0": {"vendor": "15b3", "source": "config"}}}
    found = host({f"{ETC}/tune.service": unit(line, head=head)}, ["tune.service"], modules=modules, pci=pci,
                 net={"interfaces": {}})
    rows = derived("unit_order", found, None).rows
    assert {name: row["early"] for name, row in rows.items()} == ({} if early is None else {"tune.service": early})
    for row in rows.values():
        assert (row["file"], row["driver"]) == (f"{ETC}/tune.service", "modules-load.d" if modules else "udev")
