"""lspci outputs to facts: words, hex, and both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import pci_space as space
from snapshot.collectors.base import decode
from snapshot.collectors.lspci import parse_lspci
from snapshot.collectors.pci_facts import CAPABILITIES, REGISTERS, Decoded

GIB = 1 << 30
GPU = """\
c1:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2bb5] (rev a1)
»Subsystem: NVIDIA Corporation Device [10de:204e]
»Physical Slot: 7
»Control: I/O- Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx+
»Status: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-
»NUMA node: 1
»IOMMU group: 27
»Region 0: Memory at d0000000 (32-bit, non-prefetchable) [size=64M]
»Region 1: Memory at 28000000000 (64-bit, prefetchable) [size=128G]
»Region 5: I/O ports at e000 [size=128]
»Expansion ROM at d4000000 [virtual] [disabled] [size=512K]
»Capabilities: [60] Express (v2) Endpoint, IntMsgNum 0
»»DevCap:»MaxPayload 512 bytes, PhantFunc 0, Latency L0s unlimited, L1 <64us
»»»ExtTag+ AttnBtn- AttnInd- PwrInd- RBE+ FLReset+
»»DevCtl:»CorrErr- NonFatalErr+ FatalErr+ UnsupReq-
»»»RlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop-
»»»MaxPayload 256 bytes, MaxReadReq 4096 bytes
»»LnkCap:»Port #0, Speed 32GT/s, Width x16, ASPM L0s L1, Exit Latency L0s <512ns, L1 <4us
»»»ClockPM+ Surprise- LLActRep- BwNot- ASPMOptComp+
»»LnkCtl:»ASPM L1 Enabled; RCB 64 bytes, LnkDisable- CommClk+
»»LnkSta:»Speed 2.5GT/s (downgraded), Width x8 (downgraded)
»»DevCap2: Completion Timeout: Range AB, TimeoutDis+ NROPrPrP- LTR+
»»» 10BitTagComp+ 10BitTagReq+ OBFF Via message, ExtFmt- EETLPPrefix-
»»DevCtl2: Completion Timeout: 50us to 50ms, TimeoutDis-
»»» 10BitTagReq- OBFF Disabled, EETLPPrefixBlk-
»»LnkCtl2: Target Link Speed: 16GT/s, EnterCompliance- SpeedDis+
»Capabilities: [134 v1] Physical Resizable BAR
»»BAR 1: current size: 128GB, supported: 64MB 256MB 128GB
»Capabilities: [170 v1] Device Serial Number 00-11-22-33-44-55-66-77
»Capabilities: [2a0 v1] Access Control Services
»»ACSCap:»SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+
»»ACSCtl:»SrcValid+ TransBlk- ReqRedir- CmpltRedir+ UpstreamFwd- EgressCtrl- DirectTrans-
»Capabilities: [300 v1] Single Root I/O Virtualization (SR-IOV)
»»Region 2: Memory at 00002a0000000000 (64-bit, prefetchable)
»Kernel driver in use: nvidia
»Kernel modules: nvidiafb, nouveau, nvidia_drm, nvidia
""".replace("»", "\t")


def one(text: str) -> Decoded:
    (found,) = parse_lspci(text, "lspci").values()
    return found


def whys(found: Decoded) -> dict[tuple[str, ...], str]:
    return {gap.path: gap.why for gap in found.gaps}


def dump(data: bytes) -> str:
    return "".join(f"{at:02x}: {data[at:at + 16].hex(' ')}\n" for at in range(0, len(data), 16))


def test_the_words_of_a_gpu() -> None:
    assert list(parse_lspci(GPU, "lspci")) == ["0000:c1:00.0"]
    found = one(GPU)
    table = found.function.table()
    assert table.pop("express") == {
        "type": "endpoint", "max_payload_supported_bytes": 512, "max_payload_bytes": 256,
        "max_read_request_bytes": 4096, "relaxed_ordering": True, "no_snoop": False, "extended_tags": True,
        "ten_bit_tags": False,
        "link": {
            "max_speed_gts": 32.0, "max_width": 16, "speed_gts": 2.5, "width": 8, "target_speed_gts": 16.0,
            "autonomous_speed_disabled": True, "aspm_supported": ["L0s", "L1"], "aspm": ["L1"],
        },
    }
    assert table.pop("acs") == {
        "source_validation": True, "translation_blocking": False, "request_redirect": False,
        "completion_redirect": True, "upstream_forwarding": False, "egress_control": False, "direct_translated": False,
    }
    assert table.pop("bars") == {
        "0": {"size_bytes": GIB >> 4, "kind": "memory", "prefetchable": False},
        "1": {"size_bytes": 128 * GIB, "kind": "memory", "prefetchable": True},
        "5": {"size_bytes": 128, "kind": "io"},
        "rom": {"size_bytes": 512 << 10, "kind": "memory"},
    }
    assert table.pop("resizable_bars") == {
        "1": {"size_bytes": 128 * GIB, "supported_bytes": [GIB >> 4, GIB >> 2, 128 * GIB]}}
    assert table == {
        "vendor": "10de", "device": "2bb5", "subsystem_vendor": "10de", "subsystem_device": "204e",
        "class_code": "030200", "revision": "a1", "name": "NVIDIA Corporation Device", "slot": "7",
        "driver": "nvidia", "numa_node": 1, "iommu_group": 27, "serial": "00-11-22-33-44-55-66-77",
        "source": "lspci text",
    }
    assert whys(found) == {("bars", "rom", "prefetchable"): "lspci does not show it"}


def test_pasted_with_blanks_it_is_the_same() -> None:
    assert one(GPU.replace("\t", "        ")) == one(GPU)


@pytest.mark.parametrize(("new", "old"), [
    ("IntMsgNum 0", "MSI 00"), ("LnkDisable-", "Disabled-"),
    ("2.5GT/s (downgraded), Width x8 (downgraded)", "2.5GT/s (ok), Width x8 (strange)"),
    ("2.5GT/s (downgraded), Width x8 (downgraded)", "2.5GT/s, Width x8, TrErr- Train- SlotClk+"),
    ("c1:00.0", "0000:c1:00.0"), ("[170 v1]", "[170]"),
])
def test_wordings_of_other_versions(new: str, old: str) -> None:
    assert new in GPU
    assert one(GPU.replace(new, old)) == one(GPU)


def test_hex_wins_and_words_fill_the_rest() -> None:
    data = space.endpoint("10de", "2bb5", capabilities=[space.express(read_request=512)])
    found = one(GPU + dump(data[:256]))
    assert found.function.source == "lspci hex"
    assert found.function.express
    assert found.function.express.max_read_request_bytes == 512
    assert (found.function.driver, found.function.numa_node, found.function.iommu_group) == ("nvidia", 1, 27)
    assert found.function.acs == one(GPU).function.acs
    assert found.function.bars == one(GPU).function.bars
    assert found.function.name == "NVIDIA Corporation Device"


def test_hex_alone() -> None:
    data = space.endpoint("10de", "2bb5", capabilities=[space.express()], extended=[space.acs(4)])
    found = one("0001:c1:00.0 3D controller: NVIDIA Corporation Device 2bb5 (rev a1)\n" + dump(data))
    assert found.function.acs
    assert found.function.acs.request_redirect
    assert whys(found).keys() == {(f,) for f in ("driver", "numa_node", "iommu_group", "slot", "bars")}


def test_a_dump_with_a_hole_is_known_up_to_the_hole() -> None:
    data = space.endpoint("10de", "2bb5", capabilities=[space.express()], extended=[space.acs(4)])
    lines = dump(data).splitlines(keepends=True)
    found = one("c1:00.0 x: y\n" + "".join(lines[:15] + lines[16:]))
    assert found.function.express
    assert found.function.acs is None
    assert whys(found)[("acs",)] == "lies beyond the 240 bytes that were read"


def test_a_dead_function_has_only_what_the_kernel_remembers() -> None:
    found = one("c1:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2bb5] (rev ff) (prog-if ff)\n"
                "\t!!! Unknown header type 7f\n\tKernel driver in use: nvidia\n")
    assert found.function.table() == {
        "vendor": "10de", "device": "2bb5", "class_code": "0302", "name": "NVIDIA Corporation Device",
        "driver": "nvidia", "source": "lspci text"}
    dead = {path for path, why in whys(found).items() if why == "device does not answer (all ones)"}
    assert dead == {(f,) for f in (*CAPABILITIES, "bars", "revision", "subsystem_vendor", "subsystem_device")}


def test_a_dead_function_without_memory_of_it_has_no_ids() -> None:
    found = one("44:00.0 Unassigned class [ffff]: Illegal Vendor ID Device [ffff:ffff] (rev ff) (prog-if ff)\n"
                "\t!!! Unknown header type 7f\n")
    assert {(f,) for f in REGISTERS} <= whys(found).keys()
    assert found.function.table() == {"name": "Illegal Vendor ID Device", "source": "lspci text"}


def test_without_root_capabilities_are_unknown() -> None:
    text = GPU[:GPU.index("\tCapabilities:")] + "\tCapabilities: <access denied>\n\tKernel driver in use: nvidia\n"
    found = one(text)
    assert found.function.express is None
    assert {why for path, why in whys(found).items() if path[0] in CAPABILITIES} == {"needs root"}
    assert found.function.bars == one(GPU).function.bars


def test_one_v_shows_headlines_only() -> None:
    found = one("01:00.0 Audio device: X Corporation Y (rev a1)\n\tFlags: bus master, fast devsel\n"
                "\tMemory at b5080000 (32-bit, non-prefetchable) [size=16K]\n"
                "\tCapabilities: [78] Express Endpoint, MSI 00\n\tCapabilities: [100] Access Control Services\n")
    assert {p[0] for p in whys(found)} >= {"express", "acs", "bars", "vendor"}
    assert ("serial",) not in whys(found)


def test_express_without_any_extended_capability_leaves_them_open() -> None:
    text = GPU[:GPU.index("\tCapabilities: [134")]
    assert whys(one(text))[("acs",)] == "lspci shows no extended capability"


def test_a_function_without_capabilities_has_none() -> None:
    found = one("00:00.0 Host bridge [0600]: X [8086:1237]\n\tControl: I/O+ Mem+\n\tStatus: Cap- 66MHz-\n")
    assert not {path[0] for path in whys(found)} & {*CAPABILITIES, "bars"}
    assert (found.function.class_code, found.function.revision) == ("060000", "00")


@pytest.mark.parametrize("words", ["MaxReadReq 8192 bytes", "MaxReadReq 16384 bytes", "MaxReadReq"])
def test_reserved_sizes_are_unknown(words: str) -> None:
    found = one(GPU.replace("MaxReadReq 4096 bytes", words))
    assert found.function.express
    assert found.function.express.max_read_request_bytes is None
    assert ("express", "max_read_request_bytes") in whys(found)


def test_an_old_version_does_not_tell_the_ten_bit_tags() -> None:
    found = one(GPU.replace("\t\t\t 10BitTagReq- OBFF", "\t\t\t OBFF"))
    assert ("express", "ten_bit_tags") in whys(found)


def test_a_link_that_is_down() -> None:
    found = one(GPU.replace("Speed 2.5GT/s (downgraded), Width x8 (downgraded)", "Speed 2.5GT/s, Width x0"))
    assert found.function.express
    link = found.function.express.link
    assert link
    assert (link.width, link.speed_gts) == (None, None)
    assert not [path for path in whys(found) if "link" in path]


def test_a_region_without_a_size_is_unknown() -> None:
    found = one(GPU.replace(" [size=128G]", ""))
    assert found.function.bars
    assert "1" not in found.function.bars
    assert whys(found)[("bars", "1")] == "lspci shows no size"


def test_the_subsystem_of_a_bridge_is_a_capability() -> None:
    found = one("40:01.1 PCI bridge [0604]: A [1022:1483] (prog-if 00 [Normal decode])\n\tControl: I/O+ Mem+\n"
                "\tBus: primary=40, secondary=41, subordinate=41, sec-latency=0\n"
                "\tCapabilities: [c0] Subsystem: ASUSTeK Computer Inc. Bridge [1043:8815]\n")
    assert (found.function.subsystem_vendor, found.function.subsystem_device) == ("1043", "8815")


def test_numbers_only() -> None:
    found = one("0002:01:00.0 0300: 10de:2bb5 (rev a1)\n")
    assert found.function.table() == {
        "vendor": "10de", "device": "2bb5", "class_code": "0300", "revision": "a1", "source": "lspci text"}


def test_names_only_leave_the_ids_unknown() -> None:
    found = one("01:00.0 VGA compatible controller: NVIDIA X\n")
    assert {("vendor",), ("device",), ("class_code",)} <= whys(found).keys()


def test_tables() -> None:
    found = parse_lspci(
        "Slot:\t0000:bb:00.0\nClass:\t1200\nVendor:\t1da3\nDevice:\t1020\nSVendor:\t1da3\nSDevice:\t1020\n"
        "Rev:\t01\nDriver:\thabanalabs\nNUMANode:\t1\n\nSlot:\tbc:00.0\nClass:\t0101\nVendor:\t8086\n"
        "Device:\t7111\nProgIf:\t8a\n", "lspci")
    assert found["0000:bb:00.0"].function.table() == {
        "vendor": "1da3", "device": "1020", "subsystem_vendor": "1da3", "subsystem_device": "1020",
        "class_code": "120000", "revision": "01", "driver": "habanalabs", "numa_node": 1, "source": "lspci text"}
    assert found["0000:bc:00.0"].function.table() == {
        "vendor": "8086", "device": "7111", "class_code": "01018a", "revision": "00", "numa_node": -1,
        "source": "lspci text"}


def test_a_field_that_the_output_shows_for_none_is_unknown() -> None:
    found = parse_lspci("00:00.0 A: B\n\tKernel driver in use: x\n00:01.0 A: B\n", "lspci")["0000:00:01.0"]
    assert ("driver",) not in whys(found)
    assert whys(found)[("iommu_group",)] == "lspci shows it for no function"


def test_other_texts_are_no_functions() -> None:
    assert not parse_lspci("", "")
    assert not parse_lspci("-[0000:00]-+-00.0  Intel\n           +-01.0-[01]----00.0\n", "")
    assert not parse_lspci("\0\x7f\udcff\n\t\tx: y\n00: 12 34\n", "")


@given(st.text(max_size=300) | st.lists(st.sampled_from(GPU.splitlines()), max_size=60).map("\n".join))
def test_no_text_raises(text: str) -> None:
    parse_lspci(text, "lspci")


@given(st.integers(0, len(GPU)), st.integers(0, len(GPU)), st.text(max_size=5))
def test_no_damage_raises(start: int, end: int, patch: str) -> None:
    parse_lspci(GPU[:start] + patch + GPU[end:], "lspci")


def both(path: Path) -> tuple[dict[str, Decoded], dict[str, Decoded]]:
    """The same output read with and without its hex lines."""
    text = decode(path.read_bytes())
    words = re.sub(r"^[0-9a-f]{2,3}:( [0-9a-f]{2}){16}$", "", text, flags=re.MULTILINE)
    return parse_lspci(text, "hex"), parse_lspci(words, "words")


@pytest.mark.parametrize("name", [
    "lspci-vvvxxx/threadripper5955wx-2xA6000.nnDvvvxxx.txt", "lspci-vvvxxx/pciutils-bridge-ctl-vga16.txt",
    "lspci-vvvxxx/pciutils-cap-dpc.txt", "lspci-vvvxxxx/pciutils-cap-aer-hdr.txt",
    "lspci-vvvxxxx/pciutils-cap-exp-lnkcap2.txt", "lspci-vvvxxxx/pciutils-cap-flitmode.txt",
])
def test_our_reading_of_the_bytes_is_lspcis(corpus: Path, name: str) -> None:
    bytes_, words = both(corpus / name)
    assert bytes_.keys() == words.keys() != set()
    compared = 0
    for address, of_words in words.items():
        of_bytes = bytes_[address]
        assert (of_bytes.function.source, of_words.function.source) == ("lspci hex", "lspci text")
        for field in ("vendor", "device", "class_code", "revision", "acs", "resizable_bars", "serial"):
            if not of_words.unknown(field) and not of_bytes.unknown(field):
                assert getattr(of_bytes.function, field) == getattr(of_words.function, field), (address, field)
        mine, theirs = of_bytes.function.express, of_words.function.express
        assert (mine is None) == (theirs is None), address
        if mine and theirs:
            shown = theirs.table()
            link = shown.pop("link", {})
            assert shown.items() <= mine.table().items(), address
            assert link.items() <= (mine.link.table() if mine.link else {}).items(), address
            compared += 1
    assert compared


def test_key_facts_of_public_outputs(corpus: Path) -> None:
    host, _ = both(corpus / "lspci-vvvxxx/threadripper5955wx-2xA6000.nnDvvvxxx.txt")
    for address, group in ("0000:2e:00.0", 53), ("0000:41:00.0", 21):
        function = host[address].function
        assert (function.vendor, function.device, function.driver, function.iommu_group) == (
            "10de", "2230", "nvidia", group)
        assert link_of(host[address]) == (16.0, 16, 16.0, 16)
        assert function.resizable_bars
        assert function.resizable_bars["1"].size_bytes == 256 << 20
    assert link_of(host["0000:23:00.0"])[3] == 4
    assert len(host) == 96
    folder = corpus / "lspci-vvv"
    prefix = "esc8000a-e12-2xEPYC9xx4-4xRTX6000Ada"
    assert link_of(both(folder / f"{prefix}.c1_00.0.txt")[0]["0000:c1:00.0"]) == (16.0, 16, 2.5, 16)
    assert link_of(both(folder / f"{prefix}.21_00.0.txt")[0]["0000:21:00.0"]) == (32.0, 16, 32.0, 16)
    assert link_of(both(folder / f"{prefix}.71_00.0.txt")[0]["0000:71:00.0"]) == (5.0, 2, 5.0, 1)
    azure, _ = both(corpus / "lspci-nn/gpud-a100-azure.txt")
    assert (azure["0005:00:00.0"].function.vendor, azure["0005:00:00.0"].function.device) == ("10de", "1af1")
    gaudi, _ = both(corpus / "lspci-vmmkn/dell-icelake-3xgaudi2.vmmkn.txt")
    assert [f.function.numa_node for f in gaudi.values() if f.function.driver == "habanalabs"] == [1, 1, 1]
    trimmed, _ = both(corpus / "lspci-k/bad-lines.k.txt")
    assert trimmed["0000:03:00.0"].function.driver == "iwlwifi"


def link_of(found: Decoded) -> tuple[float | None, int | None, float | None, int | None]:
    """Fastest and widest link, and what there is of it."""
    assert found.function.express
    link = found.function.express.link
    assert link
    return link.max_speed_gts, link.max_width, link.speed_gts, link.width
