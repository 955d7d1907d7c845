"""Configuration space bytes to facts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fixtures import pci_space as space
from snapshot.collectors.pci_config import parse_config
from snapshot.collectors.pci_facts import CAPABILITIES, EXTENDED, Decoded
from snapshot.sections.pci import Acs, Express, Function, ResizableBar

MIB = 1 << 20
SERIAL = "00-11-22-33-44-55-66-77"


def decode(data: bytes) -> Decoded:
    return parse_config(data, "config")


def express(found: Decoded) -> Express:
    assert found.function.express
    return found.function.express


def whys(found: Decoded) -> dict[tuple[str, ...], str]:
    return {gap.path: gap.why for gap in found.gaps}


GPU = space.endpoint(
    "10de", "2bb5", subsystem=("10de", "204e"),
    capabilities=[
        space.power_management(), space.msi(),
        space.express(read_request=4096, payload_supported=512, aspm_supported=3, aspm=2, link=(2.5, 8)),
    ],
    extended=[
        space.aer(), space.vendor_specific(), space.vendor_specific(), space.serial(SERIAL), space.acs(0b0011101),
        space.resizable({0: (64, (64,)), 1: (131072, (64, 256, 131072))}),
    ],
)


def test_a_gpu_whole() -> None:
    found = decode(GPU)
    assert not found.gaps
    assert found.function == Function(
        vendor="10de", device="2bb5", subsystem_vendor="10de", subsystem_device="204e", class_code="030200",
        revision="a1", serial=SERIAL, source="config",
        express=Express.model_validate({
            "type": "endpoint", "max_payload_supported_bytes": 512, "max_payload_bytes": 256,
            "max_read_request_bytes": 4096, "relaxed_ordering": True, "no_snoop": True, "extended_tags": True,
            "ten_bit_tags": False,
            "link": {
                "max_speed_gts": 32.0, "max_width": 16, "speed_gts": 2.5, "width": 8, "target_speed_gts": 32.0,
                "autonomous_speed_disabled": False, "aspm_supported": ["L0s", "L1"], "aspm": ["L1"],
            },
        }),
        acs=Acs(
            source_validation=True, translation_blocking=False, request_redirect=True, completion_redirect=True,
            upstream_forwarding=True, egress_control=False, direct_translated=False,
        ),
        resizable_bars={
            "0": ResizableBar(size_bytes=64 * MIB, supported_bytes=[64 * MIB]),
            "1": ResizableBar(size_bytes=131072 * MIB, supported_bytes=[64 * MIB, 256 * MIB, 131072 * MIB]),
        },
    )


def test_a_bridge_has_its_subsystem_in_a_capability() -> None:
    found = decode(space.bridge("1022", "14ab", capabilities=[
        space.express("root port", no_snoop=False, relaxed_ordering=False, extended_tags=False, ten_bit_tags=True),
        space.subsystem("1849", "ffff"),
    ]))
    assert (found.function.subsystem_vendor, found.function.subsystem_device) == ("1849", "ffff")
    assert express(found).type == "root port"
    assert (express(found).relaxed_ordering, express(found).no_snoop, express(found).extended_tags) == (False,) * 3
    assert express(found).ten_bit_tags is True
    assert found.function.class_code == "060400"
    assert not found.gaps


@pytest.mark.parametrize("size", [128, 256, 512, 1024, 2048, 4096])
def test_read_requests_are_128_shifted_by_the_code(size: int) -> None:
    found = express(decode(space.endpoint("10de", "1", capabilities=[
        space.express(read_request=size, payload=size, payload_supported=size)])))
    assert (found.max_read_request_bytes, found.max_payload_bytes, found.max_payload_supported_bytes) == (size,) * 3


@pytest.mark.parametrize("code", [6, 7])
def test_reserved_codes_are_no_sizes(code: int) -> None:
    size = 128 << code
    found = decode(space.endpoint("10de", "1", capabilities=[
        space.express(read_request=size, payload=size, payload_supported=size)]))
    assert express(found).max_read_request_bytes is None
    assert express(found).max_payload_bytes is None
    assert whys(found) == dict.fromkeys(
        (("express", "max_payload_supported_bytes"), ("express", "max_payload_bytes"),
         ("express", "max_read_request_bytes")), f"reserved code {code}")


def test_a_link_that_is_down_has_no_width_and_no_speed() -> None:
    found = decode(space.bridge("1022", "1", capabilities=[space.express("root port", link=(2.5, 0))]))
    link = express(found).link
    assert link
    assert (link.width, link.speed_gts, link.max_width) == (None, None, 16)
    assert not found.gaps


def test_target_speed_and_the_disable_bit_stand_in_link_control_2() -> None:
    data = space.bridge("1022", "1", capabilities=[space.express("root port", target_gts=5, speed_disabled=True)])
    link = express(decode(data)).link
    assert link
    assert (link.target_speed_gts, link.autonomous_speed_disabled) == (5.0, True)


def test_reserved_speeds_are_unknown() -> None:
    data = bytearray(space.endpoint("10de", "1", capabilities=[space.express()]))
    data[0x4C] |= 0x0F
    data[0x52] |= 0x0F
    data[0x70] |= 0x0F
    assert whys(decode(bytes(data))) == {
        ("express", "link", f): "reserved code 15" for f in ("max_speed_gts", "speed_gts", "target_speed_gts")}


@pytest.mark.parametrize("port", ["root complex integrated endpoint", "root complex event collector"])
def test_what_is_part_of_the_root_complex_has_no_link(port: str) -> None:
    found = decode(space.endpoint("8086", "1", capabilities=[space.express(port)]))
    assert express(found).type == port
    assert express(found).link is None
    assert not found.gaps


def test_link_registers_that_are_all_zero_are_no_link() -> None:
    data = space.endpoint("1022", "1", capabilities=[space.express(max_link=(0, 0), link=(0, 0), target_gts=0)])
    assert express(decode(data)).link is None
    assert not decode(data).gaps


def test_version_1_has_no_second_set_of_controls() -> None:
    found = decode(space.endpoint("8086", "1", capabilities=[space.express(version=1, ten_bit_tags=True)]))
    link = express(found).link
    assert link
    assert (express(found).ten_bit_tags, link.target_speed_gts, link.autonomous_speed_disabled) == (None, None, None)
    assert not found.gaps


def test_a_conventional_function_truly_has_no_express() -> None:
    found = decode(space.endpoint("8086", "1", capabilities=[space.power_management()], size=256))
    assert found.function.express is None
    assert not found.gaps


def test_without_root_the_header_is_known_and_the_rest_is_not_absent() -> None:
    found = decode(GPU[:64])
    assert (found.function.vendor, found.function.class_code, found.function.revision) == ("10de", "030200", "a1")
    assert whys(found) == {(field,): "needs root" for field in CAPABILITIES}


def test_without_root_a_bridge_has_an_unknown_subsystem() -> None:
    found = decode(space.bridge("1022", "1", capabilities=[space.express("root port")])[:64])
    assert whys(found).keys() == {(f,) for f in (*CAPABILITIES, "subsystem_vendor", "subsystem_device")}


def test_without_root_a_function_without_a_list_has_no_capabilities() -> None:
    assert not decode(space.endpoint("8086", "1")[:64]).gaps


def test_256_bytes_of_an_express_function_leave_the_extended_ones_open() -> None:
    found = decode(GPU[:256])
    assert express(found).max_read_request_bytes == 4096
    assert whys(found).keys() == {(field,) for field in EXTENDED}


@pytest.mark.parametrize("length", [0, 1, 63])
def test_less_than_a_header_is_nothing(length: int) -> None:
    found = decode(GPU[:length])
    assert found.function == Function(source="sysfs")
    assert ("vendor",) in whys(found)


@pytest.mark.parametrize("length", [64, 256, 4096])
def test_a_dead_function_has_no_facts(length: int) -> None:
    found = decode(b"\xff" * length)
    assert found.function == Function(source="sysfs")
    assert set(whys(found).values()) == {"device does not answer (all ones)"}
    assert whys(found).keys() >= {("vendor",), ("class_code",), ("express",), ("acs",)}


def test_an_upper_part_of_all_ones_is_not_absence() -> None:
    found = decode(GPU[:256] + b"\xff" * 3840)
    assert express(found).max_read_request_bytes == 4096
    assert whys(found).keys() == {(field,) for field in EXTENDED}


def test_a_virtual_function_has_neither_ids_nor_controls() -> None:
    data = space.endpoint("ffff", "ffff", class_code="020000", capabilities=[
        space.express(payload=128, read_request=128, link=(0, 0))])
    found = decode(data)
    assert found.function.vendor is None
    assert found.function.class_code == "020000"
    assert express(found) == Express(type="endpoint", max_payload_supported_bytes=256)
    assert whys(found).keys() == {("vendor",), ("device",)}


def test_a_list_that_loops_ends_and_leaves_the_rest_open() -> None:
    data = bytearray(space.endpoint("8086", "1", capabilities=[space.power_management(), space.msi()]))
    data[0x49] = 0x40
    found = decode(bytes(data))
    assert whys(found) == {(field,): "the capability list is broken at 40" for field in CAPABILITIES}


@pytest.mark.parametrize("pointer", [0x04, 0x3C])
def test_a_list_that_points_into_the_header_is_broken(pointer: int) -> None:
    data = bytearray(GPU)
    data[0x34] = pointer
    assert whys(decode(bytes(data)))[("express",)] == f"the capability list is broken at {pointer:02x}"


def test_what_was_found_before_a_list_broke_is_known() -> None:
    data = bytearray(GPU)
    assert data[0x58] == 0x10
    data[0x59] = 0x04
    found = decode(bytes(data))
    assert express(found) == express(decode(GPU))
    assert not found.gaps


def test_extended_capabilities_that_loop() -> None:
    data = bytearray(space.endpoint("10de", "1", capabilities=[space.express()], extended=[
        space.vendor_specific(), space.vendor_specific(), space.serial(SERIAL)]))
    data[0x122:0x124] = bytes((0x01, 0x10))  # the serial number points at 0x100
    found = decode(bytes(data))
    assert found.function.serial == SERIAL
    assert whys(found) == dict.fromkeys(
        (("acs",), ("resizable_bars",)), "the extended capability list is broken at 100")


@pytest.mark.parametrize("text", ["00-00-00-00-00-00-00-00", "ff-ff-ff-ff-ff-ff-ff-ff"])
def test_a_serial_number_that_was_never_given_identifies_nothing(text: str) -> None:
    data = space.endpoint("10de", "1", capabilities=[space.express()], extended=[space.serial(text)])
    assert decode(data).function.serial is None
    assert not decode(data).gaps


def test_the_number_of_resizable_bars_stands_in_the_first_entry_only() -> None:
    data = bytearray(space.endpoint("10de", "1", capabilities=[space.express()], extended=[
        space.resizable({0: (16, (16,)), 3: (32, (32,))})]))
    data[0x110] |= 5 << 5
    assert decode(bytes(data)).function.resizable_bars == {
        "0": ResizableBar(size_bytes=16 * MIB, supported_bytes=[16 * MIB]),
        "3": ResizableBar(size_bytes=32 * MIB, supported_bytes=[32 * MIB]),
    }


def test_a_resizable_bar_that_cannot_be_is_unknown() -> None:
    data = bytearray(space.endpoint("10de", "1", capabilities=[space.express()], extended=[
        space.resizable({7: (16, (16,))})]))
    assert decode(bytes(data)).function.resizable_bars is None
    assert list(whys(decode(bytes(data)))) == [("resizable_bars", "7")]


def test_sizes_beyond_the_first_28_stand_in_the_control_register() -> None:
    data = bytearray(space.endpoint("10de", "1", capabilities=[space.express()], extended=[
        space.resizable({1: (16, (16,))})]))
    data[0x10A] = 1
    bars = decode(bytes(data)).function.resizable_bars
    assert bars
    assert bars["1"].supported_bytes == [16 * MIB, MIB << 28]


@given(st.binary(max_size=5000))
def test_no_bytes_raise(data: bytes) -> None:
    decode(data)


@given(st.lists(st.tuples(st.integers(0, 4095), st.integers(0, 255)), max_size=40), st.integers(0, 4096))
@example([(408, 96)], 412)
def test_no_damage_raises(damage: list[tuple[int, int]], length: int) -> None:
    data = bytearray(GPU)
    for at, value in damage:
        data[at] = value
    found = decode(bytes(data[:length]))
    assert Function.model_validate(found.function.table()) == found.function
    assert all(a.path != b.path for a, b in pairwise(sorted(found.gaps, key=lambda gap: gap.path)))


@pytest.mark.parametrize(("fastest", "target"), [(2.5, 2.5), (16, None)])
def test_target_speed_0_is_that_of_a_function_that_knows_the_lowest_only(fastest: float, target: float | None) -> None:
    data = space.endpoint("8086", "1", capabilities=[space.express(max_link=(fastest, 4), target_gts=0)])
    link = express(decode(data)).link
    assert link
    assert link.target_speed_gts == target
    assert not decode(data).gaps
