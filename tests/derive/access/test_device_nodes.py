from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import Derived, derived

from ..made import dev, devices, lxc, mount, node, origin, part, snapshot

UVM, TOOLS = "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"
GPUS = {"GPU-1": {"minor": 0}, "GPU-2": {"minor": 1}, "GPU-3": {"excluded": True, "minor": 2}}
NVIDIA = {"loaded": True, "gpus": GPUS}
MAKE = "/usr/bin/nvidia-modprobe -c0 -u"
RULES, SCRIPT = "/etc/udev/rules.d/70-nvidia.rules", "/usr/local/sbin/gpu"
LOADED = {"modules": {"load": {"nvidia-uvm": {"origin": origin(2, "nvidia-uvm", "/etc/modules-load.d/nvidia.conf")}}}}


def nodes(now: dict[str, Any] | None = None, then: dict[str, Any] | None = None, **sections: Any) -> Derived:
    whole: dict[str, Any] = {"units": {"units": {}}, "nvidia": NVIDIA, "runtimes": {}} | sections
    before = snapshot(devices=then) if then else None
    return derived("device_nodes", snapshot(devices=now or devices(), **whole), before)


def unit(text: str = MAKE, key: str = "ExecStart", **more: Any) -> dict[str, Any]:
    command = {"key": key, "text": text, "origin": origin(9, f"{key}={text}", "/etc/systemd/system/gpu.service")}
    whole = {"state": "enabled", "wanted_by": ["multi-user.target"], "commands": [command]} | more
    return {"units": {"gpu.service": whole}}


def udev(match: str, run: str = MAKE) -> dict[str, Any]:
    rule = {"match": [match], "set": [f'RUN+="{run}"'], "origin": origin(1, f'{match}, RUN+="{run}"', RULES)}
    return {"units": {}, "udev": {RULES: [rule]}}


def script(text: str = MAKE, **more: Any) -> dict[str, Any]:
    line = {"text": text, "tools": ["nvidia-modprobe"], "origin": origin(4, text, SCRIPT)} | more
    called = unit(SCRIPT)
    called["units"]["gpu.service"]["commands"][0]["scripts"] = [SCRIPT]
    return called | {"scripts": {SCRIPT: {"called_by": ["gpu.service"], "executable": True, "lines": [line]}}}


def test_nodes_that_are_there_and_those_that_a_loaded_driver_should_have() -> None:
    rows = nodes().rows
    assert {path: row["state"] for path, row in rows.items()} == {
        "/dev/dri/renderD128": "ok", "/dev/nvidia-caps/nvidia-cap1": "ok", "/dev/nvidia-caps/nvidia-cap2": "ok",
        "/dev/nvidia-uvm": "ok", "/dev/nvidia-uvm-tools": "ok", "/dev/nvidia0": "ok", "/dev/nvidia1": "node-missing",
        "/dev/nvidiactl": "ok",
    }
    assert rows[UVM] == {
        "device": UVM, "driver": "nvidia-uvm", "state": "ok", "type": "c", "major": 511, "minor": 0, "mode": "0666",
        "majors": [511], "made_by": [], "durable": rows[UVM]["durable"],
    }
    assert "Before=pve-guests.service" in rows[UVM]["durable"][0] and MAKE in rows[UVM]["durable"][0]
    assert not {"made_by", "durable"} & rows["/dev/nvidia0"].keys()
    assert "/dev/nvidia1" not in nodes(nvidia={"loaded": False}).rows


@pytest.mark.parametrize(("now", "state", "commands"), [
    (devices(drop=(UVM,)), "node-missing", ["nvidia-modprobe -c0 -u"]),
    (devices(None, drop=(UVM,)), "driver-not-loaded", ["nvidia-modprobe -c0 -u"]),
    (devices() | {"nodes": {UVM: node(508, 0)}}, "stale-node", [f"rm {UVM}", "nvidia-modprobe -c0 -u"]),
    (devices() | {"nodes": {UVM: {"type": "file", "mode": "0644", "uid": 0, "gid": 0}}}, "node-not-a-device", None),
])
def test_node_of_nvidia_uvm_that_is_not_right(now: dict[str, Any], state: str, commands: list[str] | None) -> None:
    row = nodes(now, devices(508)).rows[UVM]
    assert (row["state"], row["state_before"], row.get("now")) == (state, "ok", commands)


def test_who_needs_a_node() -> None:
    edits: dict[str, Any] = {"nodes": {UVM: {}}}
    cdi = {"cdi": {"/etc/cdi/x.yaml": {"devices": {"0": edits, "all": edits}, "common": {}}}}
    section = lxc(part(mount(17, "/dev/kfd")) | {"devices": {"dev0": dev(5, UVM), "dev1": dev(6, "/dev/ttyUSB0")}})
    rows = nodes(devices(drop=(UVM,)), runtimes=cdi, lxc=section).rows
    assert rows[UVM]["needed_by"] == ["lxc 101", "cdi /etc/cdi/x.yaml"]
    assert (rows["/dev/kfd"]["state"], rows["/dev/kfd"]["needed_by"]) == ("driver-not-loaded", ["lxc 101"])
    assert "/dev/ttyUSB0" not in rows, "no accelerator"


def test_node_that_was_there_before() -> None:
    then = devices()
    then["character"]["kfd"], then["nodes"]["/dev/kfd"] = [509], node(509, 0)
    row = nodes(devices(), then).rows["/dev/kfd"]
    assert (row["state"], row["state_before"]) == ("driver-not-loaded", "ok")
    assert "state_before" not in nodes(devices()).rows[UVM]


@pytest.mark.parametrize(("units", "more", "sure", "perhaps"), [
    (unit(), {}, ["unit"], []),
    (unit("/bin/bash -c '/usr/bin/nvidia-modprobe -c0 -u && chmod 0666 /dev/nvidia-uvm*'"), {}, ["unit"], []),
    (unit("/bin/sh -c 'test -e /dev/nvidia-uvm || nvidia-modprobe -u'"), {}, [], ["unit"]),
    (unit("/usr/bin/nvidia-modprobe --unified-memory"), {}, ["unit"], []),
    (unit("/usr/bin/nvidia-modprobe -c0"), {}, [], []),
    (unit("/usr/bin/nvidia-modprobe -c0; ls -u"), {}, [], []),
    (unit(key="ExecStop"), {}, [], ["unit"]),
    (unit(state="disabled", wanted_by=None), {}, [], ["unit"]),
    (unit(state="masked"), {}, [], []),
    (udev('DRIVER=="nvidia"'), {}, ["udev"], []),
    (udev('KERNEL=="nvidia_uvm"'), {}, [], ["udev"]),
    (udev('KERNEL=="nvidia_uvm"'), LOADED, ["udev"], ["modules-load"]),
    (udev('DRIVER=="nvidia"', "/usr/bin/nvidia-smi"), {}, [], []),
    (script(), {}, ["script"], []),
    (script(depends=["if [ -e /x ]"]), {}, [], ["script"]),
    (script('mknod -m 666 "$1" c "$2" "$3"', tools=["mknod"]), {}, [], ["script"]),
    (script("mknod /dev/other c 10 1", tools=["mknod"]), {}, [], []),
    ({"units": {}}, LOADED, [], ["modules-load"]),
    ({"units": {}, "cron": {"/etc/crontab": [{"schedule": "@reboot", "text": MAKE, "origin": origin(1, MAKE)}]}}, {},
     ["cron"], []),
    ({"units": {}, "cron": {"/etc/crontab": [{"schedule": "0 4 * * *", "text": MAKE, "origin": origin(1, MAKE)}]}}, {},
     [], []),
    (unit("/bin/mknod /dev/nvidia-uvm c 511 0"), {}, [], ["unit"]),
    ({"units": {"nvidia-persistenced.service": {"state": "enabled", "wanted_by": ["multi-user.target"]}}}, {},
     [], ["unit"]),
    ({"units": {"nvidia-persistenced.service": {"state": "disabled"}}}, {}, [], []),
])
def test_what_makes_it_at_boot(
    units: dict[str, Any], more: dict[str, Any], sure: list[str], perhaps: list[str]
) -> None:
    row = nodes(units=units, **more).rows[UVM]
    assert [maker["how"] for maker in row["made_by"]] == sure
    assert [maker["how"] for maker in row.get("perhaps_by", [])] == perhaps
    assert ("durable" in row) == (not sure)


def test_line_that_systemd_ignores_makes_nothing_for_sure() -> None:
    units = unit()
    units["units"]["gpu.service"]["commands"][0]["fault"] = "not an absolute path"
    row = nodes(units=units).rows[UVM]
    assert row["made_by"] == [] and row["perhaps_by"][0]["line"] == 9


def test_links_that_runc_needs() -> None:
    rows = nodes(runtimes={"char_links": {"195:255": "../nvidiactl"}}).rows
    assert {path: row.get("linked") for path, row in rows.items()} == {
        "/dev/dri/renderD128": None, "/dev/nvidia-caps/nvidia-cap1": False, "/dev/nvidia-caps/nvidia-cap2": False,
        UVM: False, TOOLS: False, "/dev/nvidia0": False, "/dev/nvidia1": None, "/dev/nvidiactl": True,
    }
    assert "linked" not in nodes(runtimes={}).rows[UVM]


def test_unread_is_unknown() -> None:
    def made(unread: dict[str, list[str]]) -> Derived:
        sections = {"devices": devices(), "units": {"units": {}}, "runtimes": {"char_links": {}}}
        return derived("device_nodes", snapshot(unread, "EACCES", **sections), None)

    assert [u["subject"] for u in made({"devices": ["nodes"]}).unknown] == [""]
    assert [u["subject"] for u in made({"devices": ["nodes", UVM]}).unknown] == [UVM]
    row = made({"units": ["udev"]}).rows[UVM]
    assert "made_by" not in row and row["durable"], "what makes it for sure does no harm beside another that does"
    assert "linked" not in made({"runtimes": ["char_links", "511:0"]}).rows[UVM]
    assert made({"runtimes": ["char_links", "511:0"]}).rows[TOOLS]["linked"] is False
