from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.actions.tuning_not_run import tuning_not_run
from snapshot.derive.actions.tuning_order import tuning_order
from snapshot.derive.facts import Derived
from snapshot.document import Snapshot

from ..tuned import host, origin

FILE = "/etc/systemd/system/tune.service"


def unit(text: str = "/sbin/sysctl -w vm.swappiness=10", tool: str = "sysctl", **more: Any) -> dict[str, Any]:
    command = {"key": "ExecStart", "text": text, "tools": [tool], "origin": origin(FILE, 5, f"ExecStart={text}")}
    return {"file": FILE, "state": "disabled", "type": "oneshot", "install": ["WantedBy=multi-user.target"],
            "commands": [command]} | more


def tuned(swappiness: int = 10, **more: Any) -> Snapshot:
    """A host with that value and the unit tune.service."""
    return host(units={"units": {"tune.service": unit(**more)}}, sysctl={"values": {"vm.swappiness": swappiness}})


def row(after: Snapshot, before: Snapshot | None = None, key: str = "tune.service") -> dict[str, Any]:
    found: dict[str, Any] = tuning_not_run(after, before).rows[key]
    return found


def test_a_disabled_unit_whose_value_is_set() -> None:
    assert row(tuned()) == {
        "source": "tune.service", "kind": "unit", "runs": False, "place": FILE, "file": FILE, "state": "disabled",
        "why_not": "the unit is disabled", "sets": "sysctl vm.swappiness = 10", "holding": ["vm.swappiness"],
        "lines": [origin(FILE, 5, "ExecStart=/sbin/sysctl -w vm.swappiness=10")], "in_force": True,
        "enable": ["systemctl enable tune.service"]}


def test_a_leftover() -> None:
    found = row(tuned(60))
    assert not found["in_force"] and not {"holding", "held"} & found.keys()


def test_what_is_so_by_default_is_no_evidence() -> None:
    assert not row(tuned(60, text="/sbin/sysctl -w vm.swappiness=60"))["in_force"]


def test_what_another_line_sets_is_no_evidence() -> None:
    settings = {"vm.swappiness": {"systemd": {"value": "10", "origin": origin()}}}
    sysctl = {"values": {"vm.swappiness": 10}, "settings": settings}
    assert "holding" not in row(host(units={"units": {"tune.service": unit()}}, sysctl=sysctl))


def test_what_was_held_before_the_reboot() -> None:
    found = row(tuned(60), tuned(10))
    assert (found["held"], found["in_force"], "holding" in found) == (["vm.swappiness"], True, False)


def test_one_that_was_started_by_hand() -> None:
    found = row(tuned(60, runtime={"load": "loaded", "active": "active", "sub": "exited"}))
    assert found["active"] and found["in_force"]


@pytest.mark.parametrize(("more", "why", "enable"), [
    ({"state": "masked"}, "the unit is masked", ["systemctl unmask tune.service", "systemctl enable tune.service"]),
    ({"state": "static", "install": None}, "the unit is static, and nothing starts it", None),
    ({"state": "enabled-runtime", "wanted_by": ["multi-user.target"]}, "the unit is enabled in /run only",
     ["systemctl enable tune.service"]),
    ({"file": "/run/systemd/system/tune.service", "state": "enabled"}, "the unit lies in /run only",
     ["cp /run/systemd/system/tune.service /etc/systemd/system/", "systemctl enable tune.service"]),
])
def test_why_no_boot_runs_it(more: dict[str, Any], why: str, enable: list[str] | None) -> None:
    told = {key: value for key, value in unit(**more).items() if value is not None}
    after = host(units={"units": {"tune.service": told}}, sysctl={"values": {"vm.swappiness": 10}})
    found = row(after)
    assert (found["why_not"], found.get("enable")) == (why, enable)


def test_units_that_run_and_units_of_packages() -> None:
    rows = tuning_not_run(tuned(state="enabled", wanted_by=["multi-user.target"]), None).rows
    assert rows == {"tune.service": {"source": "tune.service", "kind": "unit", "runs": True}}
    assert tuning_not_run(tuned(file="/usr/lib/systemd/system/tune.service", commands=[]), None).rows == {}


def script(executable: bool | None) -> dict[str, Any]:
    line = {"text": "sysctl -w vm.swappiness=10", "tools": ["sysctl"], "origin": origin("/etc/rc.local", 3, "sysctl")}
    told = {"called_by": ["rc.local"], "executable": executable, "interpreter": "sh", "lines": [line]}
    return {"/etc/rc.local": told}


def test_rc_local() -> None:
    after = host(units={"units": {}, "scripts": script(False)}, sysctl={"values": {"vm.swappiness": 10}})
    found = row(after, key="rc-local.service")
    assert (found["kind"], found["place"], found["holding"]) == ("rc-local", "/etc/rc.local", ["vm.swappiness"])
    assert found["enable"] == ["chmod +x /etc/rc.local", "systemctl daemon-reload"]


def test_cron_that_is_masked() -> None:
    job = {"schedule": "@reboot", "text": "sysctl -w vm.swappiness=10", "tools": ["sysctl"],
           "origin": origin("/etc/crontab", 9, "@reboot root sysctl")}
    units = {"units": {"cron.service": {"state": "masked"}}, "cron": {"/etc/crontab": [job]}}
    found = row(host(units=units, sysctl={"values": {"vm.swappiness": 10}}), key="/etc/crontab")
    assert (found["kind"], found["why_not"], found["in_force"]) == ("cron", "the unit is masked", True)


def test_sources_that_could_not_be_read() -> None:
    found = tuning_not_run(host(unread={"units": [["units"]]}), None)
    assert found.unknown and not found.rows


def test_a_unit_may_be_enabled_in_a_folder_that_was_not_listed() -> None:
    def found(state: str) -> Derived:
        units = {"units": {"tune.service": unit(state=state)}}
        return tuning_not_run(host(unread={"units": [["units"]]}, units=units), None)

    assert not found("disabled").rows and "tune.service" in [gap["subject"] for gap in found("disabled").unknown]
    assert found("masked").rows["tune.service"]["why_not"] == "the unit is masked"


def smi(**more: Any) -> dict[str, Any]:
    return unit("/usr/bin/nvidia-smi -pl 450", "nvidia-smi", state="enabled", wanted_by=["multi-user.target"], **more)


def gpus(limit: int) -> dict[str, Any]:
    power = {"limit_mw": limit, "default_mw": 600000}
    return {"loaded": True, "gpus": {"GPU-1": {"state": {"power": power, "persistence": True}}}}


@pytest.mark.parametrize(("limit", "effective"), [(450000, True), (600000, False)])
def test_a_unit_that_nothing_orders(limit: int, effective: bool) -> None:
    after = host(units={"units": {"tune.service": smi()}}, nvidia=gpus(limit), pci={"functions": {}})
    found = tuning_order(after, None).rows["tune.service"]
    assert not found["ordered"] and found["tools"] == ["nvidia-smi"]
    assert found["effective"] is effective
    assert found["line"]["file"] == FILE


def test_a_unit_behind_the_driver_and_one_that_tunes_no_gpu() -> None:
    units = {"tune.service": smi(after=["nvidia-persistenced.service"]), "other.service": unit()}
    after = host(units={"units": units}, nvidia=gpus(450000), pci={"functions": {}})
    assert tuning_order(after, None).rows == {"tune.service": {"unit": "tune.service", "ordered": True}}
