from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.gpu_settings import DEPRECATED, gpu_settings

from ...pairs import snapshot

UNIT = "/etc/systemd/system/gpu.service"


def gpu(uuid: str = "GPU-a", **more: Any) -> dict[str, Any]:
    state = more.pop("state", {"power": {"limit_mw": 600000, "default_mw": 600000}})
    return {uuid: {"uuid": uuid, "address": "0000:01:00.0", "state": state, **more}}


def nvidia(*gpus: dict[str, Any]) -> dict[str, Any]:
    return {"nvidia": {"gpus": {key: one for told in gpus for key, one in told.items()}}}


def limited(watts: int, uuid: str = "GPU-a", **more: Any) -> dict[str, Any]:
    return gpu(uuid, state={"persistence": True, "power": {"limit_mw": watts * 1000, "default_mw": 600000}}, **more)


def row(now: dict[str, Any], then: dict[str, Any] | None = None, key: str = "GPU-a", **more: Any) -> dict[str, Any]:
    found = gpu_settings(snapshot(now, **more), snapshot(then) if then else None)
    assert not found.unknown
    return found.rows[key]


def unit(*texts: str) -> dict[str, Any]:
    """A unit that is started at boot, with these commands from line 4 on."""
    commands = [
        {"key": "ExecStart", "text": text, "tools": ["nvidia-smi"],
         "origin": {"file": UNIT, "line": at, "text": f"ExecStart={text}"}}
        for at, text in enumerate(texts, 4)
    ]
    told = {"state": "enabled", "wanted_by": ["multi-user.target"], "type": "oneshot", "commands": commands}
    return {"units": {"units": {"gpu.service": told}}}


def test_a_limit_that_was_set_is_set_again_on_all_that_had_one() -> None:
    now = nvidia(limited(600), limited(600, "GPU-b"), limited(600, "GPU-c"))
    then = nvidia(limited(450), limited(412, "GPU-b"), limited(600, "GPU-c"))
    found = row(now, then)
    assert found["was_set"] == ["power-limit"]
    assert found["power_restore"] == "nvidia-smi -i GPU-a -pl 450"
    written, *rest = found["power_keep"]
    assert "nvidia-smi -i GPU-a -pl 450\nExecStart=/usr/bin/nvidia-smi -i GPU-b -pl 412\n\n" in written
    assert "GPU-c" not in written
    assert rest == ["systemctl daemon-reload", "systemctl enable --now hostsnap-nvidia-power-limit.service"]
    assert "was_set" not in row(now, then, "GPU-c")


def test_half_watts_are_kept() -> None:
    state = {"power": {"limit_mw": 412500, "default_mw": 600000}}
    assert row(nvidia(gpu()), nvidia(gpu(state=state)))["power_restore"].endswith("-pl 412.5")


@pytest.mark.parametrize(
    ("mode", "number"), [("Exclusive_Process", "3"), ("Prohibited", "2"), ("Default", None), ("E. Thread; rm", None)]
)
def test_compute_modes(mode: str, number: str | None) -> None:
    found = row(nvidia(gpu()), nvidia(gpu(state={"compute_mode": mode})))
    assert found.get("compute_restore") == (number and f"nvidia-smi -i GPU-a -c {number}")


def clocks(memory: int, graphics: int) -> dict[str, Any]:
    default = {"memory_mhz": 1593, "graphics_mhz": 1095}
    return {"application_clocks": {"memory_mhz": memory, "graphics_mhz": graphics}, "default_clocks": default}


def test_clocks() -> None:
    found = row(nvidia(gpu(state=clocks(1593, 1095))), nvidia(gpu(state=clocks(1593, 1410))))
    assert (found["clocks"], found["clocks_before"], found["clocks_default"]) == ("1593,1095", "1593,1410", "1593,1095")
    assert found["clocks_restore"] == "nvidia-smi -i GPU-a -ac 1593,1410"


@pytest.mark.parametrize(("why", "known"), [(DEPRECATED, True), ("Unknown Error", False)])
def test_clocks_that_no_driver_tells_are_none(why: str, known: bool) -> None:
    path = ["gpus", "GPU-a", "state", "application_clocks"]
    found = row(nvidia(gpu()), unread={"nvidia": [path]}, why=why)
    assert "clocks" not in found and ("unknown" not in found) == known


def test_of_a_gpu_without_answer_before_nothing_is_known() -> None:
    then = snapshot(nvidia({"GPU-a": {"uuid": "GPU-a"}}), unread={"nvidia": [["gpus", "GPU-a", "state"]]})
    found = gpu_settings(snapshot(nvidia(gpu())), then).rows["GPU-a"]
    assert {"was_set", "clocks_before", "mig_count_before"} <= found["unknown"].keys()
    assert "mig_count_before" not in found and found["mig_count"] == 0


@pytest.mark.parametrize(
    ("now", "then", "left"), [((True, 1), (True, 3), 1), ((False, 0), (True, 3), None), ((True, 2), (False, 0), None)]
)
def test_mig(now: tuple[bool, int], then: tuple[bool, int], left: int | None) -> None:
    def of(told: tuple[bool, int]) -> dict[str, Any]:
        return nvidia(gpu(state={"mig": told[0], "mig_devices": {f"{n}/0": {} for n in range(told[1])}}))

    found = row(of(now), of(then))
    assert (found["mig_count"], found["mig_count_before"], found.get("mig_left")) == (now[1], then[1], left)
    assert found["mig"] == ("on" if now[0] else "off")


def test_modes_that_a_gpu_has_not_are_in_no_words() -> None:
    assert not {"ecc", "mig", "ecc_before"} & row(nvidia(gpu()), nvidia(gpu())).keys()


def card(uuid: str, vbios: str | None, part: str | None = "1") -> dict[str, Any]:
    return gpu(uuid, state={"part_number": part} if part else {}, **({"vbios": vbios} if vbios else {}))


@pytest.mark.parametrize(
    ("others", "usual"),
    [
        ((("b", "1"), ("b", "1")), "b"),
        ((("b", "1"),), None),
        ((("b", "2"), ("b", "2")), None),
        ((("a", "1"), ("b", "1")), None),
        (((None, "1"), (None, "1")), None),
    ],
)
def test_the_vbios_of_most_of_its_kind(others: tuple[tuple[str, str], ...], usual: str | None) -> None:
    cards = [card(f"GPU-{n}", vbios, part) for n, (vbios, part) in enumerate(others)]
    assert row(nvidia(card("GPU-a", "a"), *cards)).get("vbios_usual") == usual


def test_another_vbios_than_before() -> None:
    assert row(nvidia(card("GPU-a", "b")), nvidia(card("GPU-a", "a")))["vbios_was"] == "a"
    assert "vbios_was" not in row(nvidia(card("GPU-a", "b")), nvidia(card("GPU-a", "b")))
    assert "vbios_was" not in row(nvidia(card("GPU-a", "b")), nvidia(card("GPU-a", None)))


def test_an_unread_vbios_is_unknown() -> None:
    found = row(nvidia(card("GPU-a", None)), unread={"nvidia": [["gpus", "GPU-a", "vbios"]]})
    assert found["unknown"].keys() == {"vbios_was", "vbios_usual"}


def test_what_a_line_at_boot_asks_for() -> None:
    now, then = nvidia(limited(600)), nvidia(limited(450))
    persistence = "/usr/bin/nvidia-smi -pm 1"
    asked = row(now | unit(persistence, "/usr/bin/nvidia-smi -pl 600"), then)["asked"]
    assert asked == {"persistence": f"{UNIT}:4", "power-limit": f"{UNIT}:5"}
    other = row(now | unit(persistence, "/usr/bin/nvidia-smi -pl 500"), then)
    assert other["not_taken"] == {"power-limit": f"{UNIT}:5"}


def test_a_mode_that_the_gpu_keeps_is_asked_for_by_no_line() -> None:
    assert "asked" not in row(nvidia(gpu(state={"ecc": True, "ecc_pending": True})))


def test_a_hostile_uuid_gets_into_no_command() -> None:
    uuid = "GPU-a; reboot"
    found = row(nvidia(limited(600, uuid)), nvidia(limited(450, uuid)), uuid)
    assert "power_restore" not in found and "power_keep" not in found


def test_without_gpus_there_are_no_rows() -> None:
    assert gpu_settings(snapshot({}), snapshot({})).rows == {}
    assert gpu_settings(snapshot({}, states={"nvidia": "timeout"}), None).rows == {}
