"""What decides how fast CPUs run, by driver; and limits, under one driver alone."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.tunables.cpu_speeds import cpu_governors, cpu_limits

from ...pairs import snapshot

ALL = "0-3"


def governors(driver: str, governor: str, epp: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"driver": driver, "governor": {governor: ALL}}
    return {"cpufreq": found | ({"epp": {epp: ALL}} if epp else {})}


@pytest.mark.parametrize(
    ("before", "after", "slower"),
    [
        (("acpi-cpufreq", "performance"), ("acpi-cpufreq", "schedutil"), True),
        (("acpi-cpufreq", "schedutil"), ("acpi-cpufreq", "ondemand"), False),
        (("acpi-cpufreq", "schedutil"), ("acpi-cpufreq", "powersave"), True),
        (("acpi-cpufreq", "schedutil"), ("amd-pstate-epp", "powersave", "balance_performance"), False),
        (("acpi-cpufreq", "schedutil"), ("amd-pstate-epp", "powersave", "power"), True),
        (("amd-pstate-epp", "powersave", "performance"), ("amd-pstate", "powersave"), True),
        (("intel_pstate", "powersave", "0"), ("intel_pstate", "powersave", "128"), True),
        (("intel_pstate", "powersave", "0"), ("intel_pstate", "powersave", "performance"), False),
        (("intel_pstate", "performance"), ("intel_pstate", "powersave"), True),
        (("acpi-cpufreq", "performance"), ("acpi-cpufreq", "userspace"), True),
        (("acpi-cpufreq", "userspace"), ("acpi-cpufreq", "schedutil"), None),
        (("amd-pstate-epp", "powersave", "default"), ("amd-pstate-epp", "powersave", "power"), None),
        (("intel_pstate", "powersave", "300"), ("intel_pstate", "powersave", "128"), None),
    ],
)
def test_slower(before: tuple[str, ...], after: tuple[str, ...], slower: bool | None) -> None:
    rows = cpu_governors(snapshot(governors(*after)), snapshot(governors(*before))).rows
    assert rows[ALL].get("slower") is slower


def test_one_outlier_of_256() -> None:
    then = snapshot({"cpufreq": {"driver": "acpi-cpufreq", "governor": {"performance": "0-255"}}})
    table = {"driver": "acpi-cpufreq", "governors": ["performance", "powersave"],
             "governor": {"performance": "0-254", "powersave": "255"}}
    rows = cpu_governors(snapshot({"cpufreq": table}), then).rows
    assert {cpus: row["slower"] for cpus, row in rows.items()} == {"0-254": False, "255": True}
    assert rows["255"]["now"] == ["cpupower --cpu 255 frequency-set -g performance"]


def test_a_preference_is_written_for_its_cpus() -> None:
    then = snapshot({"cpufreq": {"driver": "amd-pstate-epp", "governor": {"powersave": "0-5"},
                                 "epp": {"performance": "0-5"}}})
    now = snapshot({"cpufreq": {"driver": "amd-pstate-epp", "governor": {"powersave": "0-5"},
                                "epp": {"performance": "3", "power": "0-2,4-5"}}})
    row = cpu_governors(now, then).rows["0-2,4-5"]
    assert row["now"][0].startswith("for c in $(seq 0 2) $(seq 4 5); do echo performance > /sys/")
    assert "cpu$$c" in row["durable"][0] and "$(seq" not in row["durable"][0].replace("$$(seq", "")


def test_no_command_of_a_hostile_word_or_a_governor_that_is_not_offered() -> None:
    after = snapshot(governors("amd-pstate-epp", "powersave", "power"))
    hostile = governors("amd-pstate-epp", "powersave", "performance; reboot")
    for before in (hostile, governors("acpi-cpufreq", "schedutil")):
        assert "now" not in cpu_governors(after, snapshot(before)).rows[ALL]


def test_alone_there_is_nothing_to_compare() -> None:
    rows = cpu_governors(snapshot(governors("acpi-cpufreq", "schedutil")), None).rows
    assert rows[ALL]["setting"] == "governor schedutil" and not {"slower", "before_setting"} & rows[ALL].keys()


def test_what_was_not_read() -> None:
    whole = snapshot(governors("acpi-cpufreq", "schedutil"))
    lost = snapshot({"cpufreq": {"driver": "acpi-cpufreq"}}, unread={"cpufreq": [["governor"]]})
    assert [gap["subject"] for gap in cpu_governors(lost, whole).unknown] == [""]
    assert cpu_governors(whole, lost).rows[ALL]["unknown"] == {"slower": {"source": "/src", "why": "EACCES"}}


def limits(most: int, hardware: int = 0, bios: int = 0, driver: str = "acpi-cpufreq") -> dict[str, Any]:
    fields = {"max_khz": most, "hardware_max_khz": hardware, "bios_limit_khz": bios}
    return {"cpufreq": {"driver": driver} | {name: {str(khz): ALL} for name, khz in fields.items() if khz}}


@pytest.mark.parametrize(
    ("before", "after", "capped", "by_firmware"),
    [
        (limits(3300000), limits(2000000), True, False),
        (limits(3300000, bios=3300000), limits(2000000, bios=2000000), True, True),
        (limits(3300000, 3300000), limits(2000000, 2000000), False, False),
        (limits(3300000, 3300000), limits(1500000, 2000000), True, False),
        (limits(2000000), limits(3300000), False, False),
        (limits(5008000, driver="amd-pstate"), limits(3300000), None, None),
    ],
)
def test_capped(before: dict[str, Any], after: dict[str, Any], capped: bool | None, by_firmware: bool | None) -> None:
    row = cpu_limits(snapshot(after), snapshot(before)).rows[ALL]
    assert (row.get("capped"), row.get("by_firmware")) == (capped, by_firmware)


def test_a_cpu_whose_own_file_was_not_read_is_unknown_and_the_others_are_judged() -> None:
    active = governors("amd-pstate-epp", "powersave", "performance")
    hole = {"cpufreq": active["cpufreq"] | {"epp": {"performance": "0-2"}}}
    whole, lost = snapshot(active), snapshot(hole, unread={"cpufreq": [["epp"]]})
    found = cpu_governors(lost, whole)
    assert [gap["subject"] for gap in found.unknown] == ["3"] and not found.rows["0-2"]["slower"]
    assert found.rows["0-2"]["cpus"] == "0-2"
    rows = cpu_governors(whole, lost).rows
    assert rows["3"]["unknown"].keys() == {"slower"} and "slower" not in rows["3"] and not rows["0-2"]["slower"]
    none = {"cpufreq": active["cpufreq"] | {"governor": {"powersave": "0-2"}}}
    found = cpu_governors(snapshot(none, unread={"cpufreq": [["governor"]]}), whole)
    assert [gap["subject"] for gap in found.unknown] == ["3"] and [*found.rows] == ["0-2"]
