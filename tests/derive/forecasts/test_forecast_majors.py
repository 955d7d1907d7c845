"""Lines of containers with a number that the next boot may move."""

from __future__ import annotations

import pytest

from snapshot.derive.forecasts.forecast_majors import forecast_majors

from ..made import CONF, dev, devices, lxc, mount, part, rule, snapshot

UVM = "/dev/nvidia-uvm"
KEY = f"101 {UVM}"


def test_a_rule_by_which_alone_a_device_is_opened() -> None:
    live = part(rule(14, "c 511:* rwm"), mount(17, UVM))
    found = forecast_majors(snapshot(devices=devices(511), lxc=lxc(live)), None)
    assert found.rows == {KEY: {
        "container": "101", "hostname": "llm", "device": UVM, "mode": "0666", "driver": "nvidia-uvm", "major": 511,
        "fragile": True,
        "origin": {"file": CONF, "line": 14, "text": "lxc.cgroup2.devices.allow: c 511:* rwm"},
    }}


@pytest.mark.parametrize(("live", "fragile"), [
    (part(rule(14, "c 511:* rwm"), rule(15, "c *:* rwm"), mount(17, UVM)), {}),  # the later line lets all through
    (part(rule(14, "c 511:* rwm"), rule(15, "c *:* rm"), mount(17, UVM)), {KEY: True}),  # but not for writing
    (part(rule(14, "c 511:* rwm"), rule(15, "a"), mount(17, UVM)), {}),
    (part(rule(14, "c 195:* rwm"), mount(17, "/dev/nvidia0")), {"101 /dev/nvidia0": False}),  # never moves
])
def test_whether_a_moved_number_would_hurt(live: dict[str, object], fragile: dict[str, bool]) -> None:
    found = forecast_majors(snapshot(devices=devices(511), lxc=lxc(live)), None)
    assert {key: row["fragile"] for key, row in found.rows.items()} == fragile


def test_an_unprivileged_container_and_devn_need_no_number() -> None:
    line = rule(14, "c 511:* rwm")
    unprivileged = lxc(part(line, mount(17, UVM)), privileged=False)
    for container in (unprivileged, lxc(part(line, devices={"dev0": dev(9, UVM)}))):
        assert forecast_majors(snapshot(devices=devices(511), lxc=container), None).rows == {}


def test_what_was_not_read_is_unknown() -> None:
    found = forecast_majors(snapshot({"devices": ["character"]}, devices={"character": {}, "block": {}, "nodes": {}},
                                     lxc=lxc(part(rule(14, "c 511:* rwm")))), None)
    assert (found.rows, [gap["subject"] for gap in found.unknown]) == ({}, [""])


def test_nothing_there() -> None:
    assert forecast_majors(snapshot(devices=devices(), lxc={"containers": {}}), None).rows == {}
