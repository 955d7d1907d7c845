from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.nvidia_options import nvidia_options

from ...pairs import snapshot

FILE = "/etc/modprobe.d/nvidia.conf"
KERNEL = "6.8.12-9-pve"


def word(value: str | None, file: str = FILE) -> dict[str, Any]:
    found: dict[str, Any] = {"origin": {"file": file, "line": 1, "text": "options"}}
    return found if value is None else found | {"value": value}


def host(module: str, option: str, live: Any, loaded: bool = True, **words: Any) -> dict[str, Any]:
    """A host where WORDS set an option of a module, of which LIVE is shown."""
    shown = {} if live is None else {option: live}
    nvidia: dict[str, Any] = {"driver": {"modules": ["nvidia"], "parameters": {}}} if loaded else {"loaded": False}
    modules: dict[str, Any] = {"options": {module: {option: words}}}
    if module == "nvidia" and loaded and live is not None:
        nvidia["driver"]["parameters"] = {option.removeprefix("NVreg_"): live}
    elif module != "nvidia" and loaded:
        modules["loaded"] = {module: {"parameters": shown}}
    return {"nvidia": nvidia, "modules": modules}


def row(*args: Any, **words: Any) -> dict[str, Any]:
    found = nvidia_options(snapshot(host(*args, **words)), None)
    assert not found.unknown
    return found.rows[f"{args[0]}.{args[1]}"]


@pytest.mark.parametrize(
    ("live", "value", "agrees"),
    [
        (1, "1", True),
        (18, "0x12", True),
        (8, "010", True),
        (4294967295, "-1", True),
        (4294967295, "4294967295", True),
        (0, "1", False),
        (0, "yes", None),
        (0, None, None),
    ],
)
def test_numbers_of_nvidia(live: int, value: str | None, agrees: bool | None) -> None:
    assert row("nvidia", "NVreg_X", live, files=word(value)).get("agrees") is agrees


@pytest.mark.parametrize(
    ("live", "value", "agrees"),
    [("A=1;", "A=1;", True), ("", "A=1;", False), ("A=1;", "A=1;B=2;", False), ("", "", True)],
)
def test_texts_of_nvidia(live: str, value: str, agrees: bool) -> None:
    assert row("nvidia", "NVreg_RegistryDwords", live, files=word(value))["agrees"] is agrees


@pytest.mark.parametrize(("live", "value", "agrees"), [("Y", "1", True), ("N", "1", False), ("Y", None, True)])
def test_switches_of_the_other_modules(live: str, value: str | None, agrees: bool) -> None:
    assert row("nvidia_uvm", "uvm_disable_hmm", live, files=word(value))["agrees"] is agrees


def test_the_command_line_wins() -> None:
    found = row("nvidia", "NVreg_X", 1, files=word("0"), cmdline=word("1", "/proc/cmdline"))
    assert found["agrees"] and found["cmdline"] and found["origin"]["file"] == "/proc/cmdline"


def test_what_the_driver_does_not_show_is_not_judged() -> None:
    found = row("nvidia", "NVreg_RmNvlinkBandwidth", None, files=word("OFF"))
    assert not {"live", "agrees", "unknown"} & found.keys()


def test_what_was_not_read_is_unknown() -> None:
    tables = host("nvidia", "NVreg_X", None, files=word("1"))
    found = nvidia_options(snapshot(tables, unread={"nvidia": [["driver", "parameters"]]}), None)
    assert found.rows["nvidia.NVreg_X"]["unknown"] == {"agrees": {"source": "/src", "why": "EACCES"}}


def test_an_initial_ram_disk_that_is_older() -> None:
    tables = host("nvidia", "NVreg_X", 0, files=word("1"))
    disk = {"file": "/boot/initrd.img", "changed": "2026-01-01T00:00:00Z", "stale": [FILE]}
    tables["modules"]["kernels"] = {KERNEL: {"files": {}, "missing": [], "initramfs": disk}}
    assert nvidia_options(snapshot(tables), None).rows["nvidia.NVreg_X"]["initramfs"] == "/boot/initrd.img"
    tables["modules"]["kernels"] = {"another": {"files": {}, "missing": [], "initramfs": disk}}
    assert "initramfs" not in nvidia_options(snapshot(tables), None).rows["nvidia.NVreg_X"]


def test_a_module_that_is_not_loaded_has_no_row() -> None:
    assert nvidia_options(snapshot(host("nvidia", "NVreg_X", None, False, files=word("1"))), None).rows == {}


def test_options_that_were_not_read() -> None:
    found = nvidia_options(snapshot({"modules": {}}, unread={"modules": [["options"]]}), None)
    assert [gap["subject"] for gap in found.unknown] == [""]


@pytest.mark.parametrize(("live", "uptime_s", "stale", "kernel", "again"), [
    (0, 3600, [FILE], KERNEL, True),
    (1, 3600, [FILE], KERNEL, None),  # it is in effect
    (0, 200_000, [FILE], KERNEL, None),  # it was written in this boot: whether the image has the module is not known
    (0, 3600, [], KERNEL, None),  # the image was made anew
    (0, 3600, [FILE], "6.14.11-1-pve", None),  # another kernel, which has another image
])
def test_what_the_next_boot_does_without_too(
    live: int, uptime_s: int, stale: list[str], kernel: str, again: bool | None
) -> None:
    tables = host("nvidia", "NVreg_X", live, files=word("1"))
    image = {"file": "/boot/initrd", "changed": "2025-12-01T00:00:00Z", "stale": stale}
    tables["modules"]["kernels"] = {name: {"files": {}, "missing": [], "initramfs": image}
                                    for name in (KERNEL, "6.14.11-1-pve")}
    tables["boot"] = {"next": {"kernel": kernel, "by": "newest"}}
    meta = {"kernel": KERNEL, "taken": "2026-01-02T00:00:00Z", "uptime_s": uptime_s}
    found = nvidia_options(snapshot(tables, meta=meta, files={FILE: "0" * 64}), None)
    assert found.rows["nvidia.NVreg_X"].get("lost_again") is again
