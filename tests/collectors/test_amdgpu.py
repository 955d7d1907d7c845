"""AMD GPUs."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import amdgpu as part
from snapshot.collectors import amdgpu
from snapshot.collectors.amdgpu import gfx_name, parse_profile, parse_properties
from snapshot.errors import AbsentError

from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
FIRST, SECOND = part.ADDRESSES
DEVICE = f"/sys/bus/pci/devices/{FIRST}"


def planted() -> dict[str, Content]:
    files: dict[str, Content] = {}
    part.plant_gpus(files)
    return files


def found(files: dict[str, Content]) -> tuple[dict[str, Any], dict[str, str]]:
    model, reading = gather(amdgpu, MemoryHost(files))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_two_gpus() -> None:
    table, unread = found(planted())
    assert (table["version"], table["rocm"], table["rocm_installed"], table["kfd"]) == (
        "6.12.12", "6.4.1-83", ["rocm-6.4.1"], True)
    assert table["parameters"] == {"noretry": -1, "ppfeaturemask": "0xfff7bfff"}
    assert table["gpus"][part.UNIQUE[1]] == {
        "unique_id": part.UNIQUE[1], "address": SECOND, "card": "card2", "render": "renderD129",
        "name": "AMD Instinct MI300X", "vbios": "113-M3000100-102", "target": "gfx942", "vram_bytes": 206141652992,
        "visible_vram_bytes": 206141652992, "performance_level": "high", "power_profile": "BOOTUP_DEFAULT",
        "power_cap_mw": 600_000, "power_cap_default_mw": 750_000, "compute_partition": "SPX",
        "memory_partition": "NPS1",
    }
    assert (list(table["gpus"]), unread) == (list(part.UNIQUE), {})


def test_the_epyc_host_has_none() -> None:
    host = epyc.host(epyc.AFTER)
    files: dict[str, Content] = {**host.files}
    part.plant(epyc.AFTER, files, {}, {}, {})
    with pytest.raises(AbsentError):
        found(files)


def test_a_host_that_tells_nothing_is_unknown() -> None:
    assert found({}) == ({}, {"": "not there"})
    assert found({"/sys/module/": DENIED}) == ({}, {"": "EACCES"})


def test_an_apu_has_no_id_of_its_own() -> None:
    files = planted()
    for name in ("unique_id", "product_name", "current_memory_partition", "hwmon/hwmon4/power1_cap"):
        del files[f"{DEVICE}/{name}"]
    table, unread = found(files)
    assert not {"unique_id", "name", "memory_partition", "power_cap_mw"} & set(table["gpus"][FIRST])
    assert unread == {}


def test_ids_that_two_gpus_share_are_no_keys() -> None:
    assert list(found({**planted(), f"{DEVICE}/unique_id": part.UNIQUE[1]})[0]["gpus"]) == [FIRST, SECOND]


def test_a_sleeping_gpu_is_left_alone() -> None:
    files = {**planted(), f"{DEVICE}/power/runtime_status": "suspended\n"}
    for name in ("power_dpm_force_performance_level", "pp_power_profile_mode", "hwmon/hwmon4/power1_cap"):
        files[f"{DEVICE}/{name}"] = OSError(errno.EIO, "was read")
    table, unread = found(files)
    key = part.UNIQUE[0]
    assert set(unread.values()) == {"the GPU sleeps, and reading it could wake it"}
    assert set(unread) == {f"gpus.{key}.{fact}" for fact in (
        "performance_level", "power_profile", "power_cap_mw", "power_cap_default_mw")}
    assert table["gpus"][key]["vbios"] == "113-M3000100-102"


def test_what_is_denied_is_named_by_the_key() -> None:
    kfd = "/sys/class/kfd/kfd/topology/nodes/1/properties"
    table, unread = found({**planted(), f"{DEVICE}/vbios_version": DENIED, kfd: DENIED})
    assert unread == {f"gpus.{part.UNIQUE[0]}.{fact}": "EACCES" for fact in ("vbios", "target")}
    assert table["gpus"][part.UNIQUE[1]]["target"] == "gfx942"
    assert found({**planted(), f"{DEVICE}/unique_id": DENIED})[1] == {f"gpus.{FIRST}.unique_id": "EACCES"}


@pytest.mark.parametrize("junk", [b"", b"\0", b"\xff\xfe\r\n" * 3000, b"9" * 5000, b"-"])
def test_junk_is_survived(junk: bytes) -> None:
    table, unread = found(dict.fromkeys(planted(), junk))
    assert set(table["gpus"]) >= {FIRST} or junk != b""
    assert any(path.endswith(".vram_bytes") for path in unread)
    assert "target" not in str(table)


@pytest.mark.parametrize(("version", "name"), [
    (90402, "gfx942"), (90010, "gfx90a"), (90500, "gfx950"), (110000, "gfx1100"), (110501, "gfx1151"), (0, None),
])
def test_instruction_sets(version: int, name: str | None) -> None:
    assert gfx_name(version) == name


@pytest.mark.parametrize(("table", "profile"), [
    ("NUM        MODE_NAME BUSY_SET_POINT\n  0 BOOTUP_DEFAULT :  70\n  5        COMPUTE*:  30\n", "COMPUTE"),
    ("INDEX(NAME) CLOCK_TYPE(NAME)\n 0(BOOTUP_DEFAULT )\n 1(3D_FULL_SCREEN *)\n  0( GFXCLK) 0\n", "3D_FULL_SCREEN"),
    ("  0 BOOTUP_DEFAULT\n", None), ("", None), ("BOOTUP_DEFAULT  VIDEO\nGFXCLK * 0\n", None),
    (f"{' ' * 30}BOOTUP_DEFAULT* 3D_FULL_SCREEN  POWER_SAVING    VIDEO           \n  GFXCLK  0\n", "BOOTUP_DEFAULT"),
    (f"{' ' * 30}BOOTUP_DEFAULT  3D_FULL_SCREEN  POWER_SAVING    VIDEO         * VR  \nFps  0 0\n", "VIDEO"),
    (f"{' ' * 30}0 BOOTUP_DEFAULT  1 3D_FULL_SCREEN* 2 POWER_SAVING    3 VIDEO         \n", "3D_FULL_SCREEN"),
    (f"{' ' * 30}0 BOOTUP_DEFAULT* 1 3D_FULL_SCREEN  2 POWER_SAVING    3 VIDEO         \n", "BOOTUP_DEFAULT"),
])
def test_profiles(table: str, profile: str | None) -> None:
    assert parse_profile(table) == profile


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    parse_profile(text)
    for version in parse_properties(text).values():
        gfx_name(version)
