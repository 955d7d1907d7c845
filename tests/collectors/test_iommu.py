"""The IOMMU: on or off, types of groups, who shares one."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import iommu as part
from snapshot.collectors import iommu

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
GROUPS, IRQ = "/sys/kernel/iommu_groups", "/sys/kernel/irq"
GPU, AUDIO, NVME = "0000:41:00.0", "0000:41:00.1", "0000:42:00.0"


def found(files: dict[str, Content]) -> tuple[dict[str, Any], dict[str, str]]:
    return looked(MemoryHost(files))


def looked(host: MemoryHost) -> tuple[dict[str, Any], dict[str, str]]:
    model, reading = gather(iommu, host)
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def machine(*groups: tuple[str, ...], kind: str = "DMA-FQ", first: int = 0) -> dict[str, Content]:
    """A host with two units, a build configuration, and groups numbered from FIRST."""
    files: dict[str, Content] = {
        "/sys/class/iommu/ivhd1/": "", "/sys/class/iommu/ivhd0/": "", f"{GROUPS}/": "",
        "/boot/config-6.8.12-9-pve": "CONFIG_IOMMU_DEFAULT_DMA_LAZY=y\n", f"{IRQ}/0/chip_name": "IR-IO-APIC\n",
    }
    for number, devices in enumerate(groups, first):
        files[f"{GROUPS}/{number}/type"] = f"{kind}\n"
        files |= {f"{GROUPS}/{number}/devices/{device}/": "" for device in devices}
    return files


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story(kernel: str) -> None:
    table, unread = looked(planted(part, kernel))
    assert table["enabled"] is True
    assert table["units"] == [f"ivhd{n}" for n in range(8)]
    assert table["types"] == ["DMA-FQ"]
    assert table["groups"]["0000:41:00.0"] == "DMA-FQ"
    assert table["shared"]["0000:00:18.0"] == [f"0000:00:18.{n}" for n in range(1, 8)]
    assert "0000:41:00.0" not in table["shared"]
    assert len(table["groups"]) + sum(map(len, table["shared"].values())) == 214
    assert table["interrupt_remapping"] is True
    assert table["build_defaults"][epyc.AFTER] == ["AMD_IOMMU", "INTEL_IOMMU", "IOMMU_DEFAULT_DMA_LAZY", "IRQ_REMAP"]
    assert table["unsafe_interrupts"] is False
    assert not unread


def test_other_numbers_are_the_same_groups() -> None:
    groups = ((GPU, AUDIO), (NVME,))
    assert found(machine(*groups)) == found(machine(*groups, first=26)) == found(machine(*groups[::-1]))


def test_groups_that_merge() -> None:
    apart, together = found(machine((GPU, AUDIO), (NVME,)))[0], found(machine((GPU, AUDIO, NVME)))[0]
    assert (apart["shared"], set(apart["groups"])) == ({GPU: [AUDIO]}, {GPU, NVME})
    assert (together["shared"], set(together["groups"])) == ({GPU: [AUDIO, NVME]}, {GPU})


def test_passthrough_is_on_and_every_type_is_named() -> None:
    files = machine((GPU,), (NVME,), kind="identity") | {f"{GROUPS}/1/type": "DMA\n"}
    table, unread = found(files)
    assert (table["enabled"], table["types"]) == (True, ["DMA", "identity"])
    assert table["groups"] == {GPU: "identity", NVME: "DMA"}
    assert not unread


def test_off_is_a_fact() -> None:
    off: dict[str, Content] = {"/sys/class/net/": "", "/sys/kernel/mm/": "", f"{IRQ}/0/chip_name": "IO-APIC\n",
                               "/boot/config-6.8": ""}
    expected = {"enabled": False, "units": [], "interrupt_remapping": False, "build_defaults": {"6.8": []}}
    assert found(off) == (expected, {})
    assert found(off | {"/sys/class/iommu/": "", f"{GROUPS}/": ""}) == (expected, {})


def test_an_empty_machine_is_unknown() -> None:
    assert found({}) == ({}, {"units": "ENOENT", "enabled": "ENOENT", "groups": "ENOENT", "shared": "ENOENT",
                              "types": "ENOENT", "build_defaults": "no build configuration"})


def test_closed_files_are_unread_by_name() -> None:
    closed: dict[str, Content] = {"/sys/class/iommu/": DENIED, f"{GROUPS}/1/type": DENIED, iommu.UNSAFE: DENIED,
                                  "/boot/config-6.8.12-9-pve": DENIED, f"{IRQ}/0/chip_name": DENIED}
    files = {path: content for path, content in machine((GPU,), (NVME,)).items() if "/class/" not in path}
    table, unread = found(files | closed)
    assert table == {"groups": {GPU: "DMA-FQ"}}
    assert unread == {"units": "EACCES", "enabled": "EACCES", f"groups.{NVME}": "EACCES",
                      "types": "not every group tells its type", "unsafe_interrupts": "EACCES",
                      "build_defaults.6.8.12-9-pve": "EACCES", "build_defaults": "no build configuration",
                      "interrupt_remapping": "EACCES"}
    assert found(machine() | {f"{GROUPS}/": DENIED})[1] == dict.fromkeys(("groups", "shared", "types"), "EACCES")


def test_a_group_whose_members_are_closed_hides_who_shares_it() -> None:
    _, unread = found(machine((GPU,)) | {f"{GROUPS}/0/devices/": DENIED})
    assert unread == dict.fromkeys(("groups", "shared", "types"), "EACCES")


def test_an_old_kernel_tells_no_type() -> None:
    files = machine((GPU,))
    del files[f"{GROUPS}/0/type"]
    table, unread = found(files)
    assert "types" not in table
    assert unread == {f"groups.{GPU}": "ENOENT", "types": "not every group tells its type"}


@pytest.mark.parametrize(("chips", "remapped"), [
    ({0: "IO-APIC", 24: "IR-PCI-MSI"}, False), ({2: "DMAR-MSI", 9: "IR-IO-APIC"}, True), ({3: "GICv3"}, None),
    ({}, None), ({9: "IR-IO-APIC", 10: "IO-APIC"}, True),
])
def test_remapping_is_told_by_the_io_apic(chips: dict[int, str], remapped: bool | None) -> None:
    files = {path: content for path, content in machine().items() if IRQ not in path}
    files |= {f"{IRQ}/{number}/chip_name": f"{chip}\n" for number, chip in chips.items()}
    assert found(files)[0].get("interrupt_remapping") == remapped


def test_build_options() -> None:
    lines = (b"CONFIG_IOMMU_DEFAULT_PASSTHROUGH=y\r", b"# CONFIG_IOMMU_DEFAULT_DMA_LAZY is not set",
             b"XCONFIG_AMD_IOMMU=y", b"CONFIG_INTEL_IOMMU_DEFAULT_ON=y", b"CONFIG_IRQ_REMAP=m", b"\xff\0")
    assert iommu.parse_options(b"\n".join(lines)) == ["INTEL_IOMMU_DEFAULT_ON", "IOMMU_DEFAULT_PASSTHROUGH"]


@given(st.binary(max_size=60))
def test_any_content_is_survived(junk: bytes) -> None:
    iommu.parse_options(junk)
    names = (f"{GROUPS}/0/type", iommu.UNSAFE, iommu.NOIOMMU, f"{IRQ}/0/chip_name", "/boot/config-6")
    files = dict.fromkeys(names, junk)
    found({**files, f"{GROUPS}/0/devices/{GPU}/": "", f"{GROUPS}/x": junk})
