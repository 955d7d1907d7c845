"""The collector of section pci: sysfs, its fallbacks, and what it must not touch."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import pci_space as space
from snapshot.collectors import pci
from snapshot.collectors.base import Unread
from snapshot.collectors.pci_facts import CAPABILITIES, REGISTERS
from snapshot.collectors.pci_ids import find_name
from snapshot.collectors.pci_sysfs import find_slot, parse_number, parse_place, parse_resource, parse_slots, parse_total
from snapshot.errors import AbsentError, ParseError
from snapshot.host.base import Result
from snapshot.sections.pci import Aer, Bar, Function, Pci

from .fake import Content, MemoryHost, gather

PORT, GPU = "0000:40:01.1", "0000:41:00.0"
ROOT = "/sys/devices/pci0000:40"
HOME = {PORT: f"{ROOT}/{PORT}", GPU: f"{ROOT}/{PORT}/{GPU}"}
GPU_SPACE = space.endpoint(
    "10de", "2bb5", subsystem=("10de", "204e"), capabilities=[space.express(read_request=4096)],
    extended=[space.aer(), space.acs(0x1D)])
PORT_SPACE = space.bridge("1022", "14ab", buses=(0x40, 0x41, 0x41), capabilities=[space.express("root port")])
IDS = b"# a comment\n1022  Advanced Micro Devices\n\t14ab  GPP Bridge\n10de  NVIDIA Corporation\n\t2bb5  GB202GL\n"
RESOURCE = space.resource({0: (64 << 20, 0x40200), 1: (128 << 30, 0x14220C), 6: (512 << 10, 0x46200)})
EACCES = OSError(errno.EACCES, os.strerror(errno.EACCES))


class Watched(MemoryHost):
    """A host that keeps what was read."""

    def __init__(
        self, files: Mapping[str, Content], links: Mapping[str, str], results: Mapping[str, Result | str]
    ) -> None:
        super().__init__(files, links, results=results)
        self.touched: list[str] = []

    def read(self, path: str, limit: int = 64 << 20) -> bytes:
        self.touched.append(path)
        return super().read(path, limit)

    def readlink(self, path: str) -> str:
        self.touched.append(path)
        return super().readlink(path)


def machine(
    files: Mapping[str, Content | None] | None = None,
    links: Mapping[str, str] | None = None,
    results: Mapping[str, Result | str] | None = None,
) -> Watched:
    """A GPU below a root port. A file that is None is not there."""
    given_files: dict[str, Content | None] = {
        f"{HOME[PORT]}/config": PORT_SPACE, f"{HOME[GPU]}/config": GPU_SPACE,
        f"{HOME[GPU]}/resource": RESOURCE, f"{HOME[PORT]}/resource": space.resource({7: (4096, 0x101)}, lines=17),
        **{f"{home}/{name}": text for home in HOME.values() for name, text in (
            ("numa_node", "1\n"), ("power_state", "D0\n"), ("power/runtime_status", "active\n"))},
        f"{HOME[GPU]}/aer_dev_correctable": "RxErr 0\nBadTLP 3\nTOTAL_ERR_COR 3\n",
        f"{HOME[GPU]}/aer_dev_nonfatal": "Undefined 0\nTOTAL_ERR_NONFATAL 0\n",
        f"{HOME[GPU]}/aer_dev_fatal": "Undefined 0\nTOTAL_ERR_FATAL 1\n",
        "/sys/bus/pci/slots/7/address": "0000:41:00\n", "/usr/share/misc/pci.ids": IDS,
        **(files or {}),
    }
    return Watched(
        {path: content for path, content in given_files.items() if content is not None},
        {
            f"/sys/bus/pci/devices/{PORT}": f"../../../devices/pci0000:40/{PORT}",
            f"/sys/bus/pci/devices/{GPU}": f"../../../devices/pci0000:40/{PORT}/{GPU}",
            f"{HOME[GPU]}/driver": "../../../../bus/pci/drivers/nvidia",
            f"{HOME[GPU]}/iommu_group": "../../../../kernel/iommu_groups/27",
            **(links or {}),
        },
        results or {},
    )


def take(host: MemoryHost) -> tuple[dict[str, Function], list[Unread]]:
    found, reading = gather(pci, host)
    assert isinstance(found, Pci)
    return found.functions, reading.unreads


def unknown(unreads: list[Unread], address: str = GPU) -> dict[tuple[str, ...], str]:
    return {unread.path[2:]: unread.why for unread in unreads if unread.path[:2] == ("functions", address)}


def test_a_gpu_below_its_root_port() -> None:
    functions, unreads = take(machine())
    assert not unreads
    assert list(functions) == [PORT, GPU]
    gpu = functions[GPU].table()
    assert gpu.pop("express")["max_read_request_bytes"] == 4096
    assert gpu.pop("acs")["request_redirect"] is True
    assert gpu == {
        "vendor": "10de", "device": "2bb5", "subsystem_vendor": "10de", "subsystem_device": "204e",
        "class_code": "030200", "revision": "a1", "name": "NVIDIA Corporation GB202GL", "path": "0000/01.1/00.0",
        "bridges": [PORT], "slot": "7", "driver": "nvidia", "numa_node": 1, "iommu_group": 27,
        "bars": {
            "0": {"size_bytes": 64 << 20, "kind": "memory", "prefetchable": False},
            "1": {"size_bytes": 128 << 30, "kind": "memory", "prefetchable": True},
            "rom": {"size_bytes": 512 << 10, "kind": "memory", "prefetchable": True},
        },
        "aer": {"correctable": 3, "nonfatal": 0, "fatal": 1}, "source": "config",
    }
    port = functions[PORT]
    assert (port.path, port.bridges) == ("0000/01.1", [])
    assert (port.driver, port.bars, port.aer, port.slot) == (None, None, None, None)


def test_no_more_is_touched_than_needed_and_nothing_that_reads_registers_but_config() -> None:
    host = machine()
    take(host)
    names = [path.rpartition("/")[2] for path in host.touched if path.startswith("/sys/bus/pci/devices")]
    assert len(names) <= 24
    assert not {name for name in names if name.startswith(("current_link", "max_link", "sub", "sec", "enable", "rom"))}
    assert not host.ran


@pytest.mark.parametrize(("where", "file", "word", "why"), [
    (GPU, "power_state", "D3cold", "asleep (D3cold)"),
    (PORT, "power_state", "D3cold", "asleep (its bridge is suspended)"),
    (PORT, "power/runtime_status", "suspended", "asleep (its bridge is suspended)"),
    (PORT, "power/runtime_status", "suspending", "asleep (its bridge is suspended)"),
])
def test_a_take_wakes_nobody(where: str, file: str, word: str, why: str) -> None:
    host = machine({
        f"{HOME[where]}/{file}": f"{word}\n", f"{HOME[GPU]}/vendor": "0x10de\n", f"{HOME[GPU]}/device": "0x2bb5\n",
        f"{HOME[GPU]}/subsystem_vendor": "0x10de\n", f"{HOME[GPU]}/subsystem_device": "0x204e\n",
        f"{HOME[GPU]}/class": "0x030200\n", f"{HOME[GPU]}/revision": "0xa1\n",
    }, results={"lspci -D -nn -vvv -xxxx": "41:00.0 must not run: x\n"})
    functions, unreads = take(host)
    assert f"/sys/bus/pci/devices/{GPU}/config" not in host.touched
    assert not host.ran
    assert unknown(unreads) == {(field,): why for field in CAPABILITIES}
    gpu = functions[GPU]
    assert (gpu.vendor, gpu.device, gpu.class_code, gpu.revision) == ("10de", "2bb5", "030200", "a1")
    assert gpu.source == "sysfs"
    assert (gpu.driver, gpu.aer) == ("nvidia", Aer(correctable=3, nonfatal=0, fatal=1))


def test_the_suspended_bridge_itself_is_read() -> None:
    functions, unreads = take(machine({f"{HOME[PORT]}/power/runtime_status": "suspended\n"}))
    assert functions[PORT].express
    assert not unknown(unreads, PORT)


def test_a_kernel_without_power_state() -> None:
    host = machine({f"{HOME[GPU]}/power_state": None, f"{HOME[GPU]}/power/runtime_status": "suspended\n"})
    assert unknown(take(host)[1])[("express",)] == "asleep (suspended)"


def test_without_root() -> None:
    host = machine({f"{HOME[GPU]}/config": GPU_SPACE[:64], f"{HOME[PORT]}/config": PORT_SPACE[:64]})
    functions, unreads = take(host)
    assert functions[GPU].vendor == "10de"
    assert functions[GPU].express is None
    assert unknown(unreads) == {(field,): "needs root" for field in CAPABILITIES}
    assert not host.ran


def test_a_dead_function_keeps_what_the_kernel_knows() -> None:
    host = machine({
        f"{HOME[GPU]}/config": b"\xff" * 4096, f"{HOME[GPU]}/vendor": "0x10de\n", f"{HOME[GPU]}/device": "0x2bb5\n",
        f"{HOME[GPU]}/class": "0x030200\n",
    })
    functions, unreads = take(host)
    assert (functions[GPU].vendor, functions[GPU].class_code) == ("10de", "030200")
    assert functions[GPU].name == "NVIDIA Corporation GB202GL"
    assert unknown(unreads) == {
        (field,): "device does not answer (all ones)"
        for field in (*CAPABILITIES, "revision", "subsystem_vendor", "subsystem_device")}
    assert not host.ran


def test_a_virtual_function() -> None:
    host = machine({
        f"{HOME[GPU]}/config": space.endpoint("ffff", "ffff", capabilities=[space.express(payload=128)]),
        f"{HOME[GPU]}/vendor": "0x15b3\n", f"{HOME[GPU]}/device": "0x101e\n",
    }, {f"{HOME[GPU]}/physfn": "../0000:41:00.1"})
    functions, unreads = take(host)
    gpu = functions[GPU]
    assert (gpu.vendor, gpu.device, gpu.physical_function) == ("15b3", "101e", "0000:41:00.1")
    assert gpu.express
    assert gpu.express.max_payload_bytes is None
    assert not unreads


LSPCI = f"{GPU} 3D controller [0302]: NVIDIA Corporation Device [10de:2bb5] (rev a1)\n" + "".join(
    f"{at:02x}: {GPU_SPACE[at:at + 16].hex(' ')}\n" for at in range(0, 4096, 16))


def test_lspci_speaks_where_config_cannot_be_read() -> None:
    host = machine({f"{HOME[GPU]}/config": EACCES}, results={"lspci -D -nn -vvv -xxxx": LSPCI})
    functions, unreads = take(host)
    assert [command.argv for command in host.ran] == [("lspci", "-D", "-nn", "-vvv", "-xxxx")]
    assert functions[GPU].source == "lspci hex"
    assert functions[GPU].express
    assert (functions[GPU].driver, functions[GPU].iommu_group) == ("nvidia", 27)
    assert not unreads


def test_without_lspci_the_reason_of_config_stands() -> None:
    host = machine({f"{HOME[GPU]}/config": EACCES})
    functions, unreads = take(host)
    assert len(host.ran) == 1
    assert unknown(unreads) == {(field,): "EACCES" for field in REGISTERS}
    assert functions[GPU].driver == "nvidia"


def test_a_config_that_hangs_is_not_read_a_second_time_by_lspci() -> None:
    host = machine({f"{HOME[GPU]}/config": OSError(errno.ETIMEDOUT, "hangs")})
    assert unknown(take(host)[1])[("express",)] == "timeout"
    assert not host.ran


class Recorded(MemoryHost):
    source = "directory"


def test_a_bundle_that_has_only_the_text_of_lspci() -> None:
    functions, unreads = take(Recorded(results={"lspci -vvv -xxxx": LSPCI, "lspci -nnk": LSPCI.splitlines()[0]
                                                + "\n\tKernel driver in use: nvidia\n"}))
    assert functions[GPU].source == "lspci hex"
    assert (functions[GPU].driver, functions[GPU].vendor) == ("nvidia", "10de")
    assert unknown(unreads).keys() >= {("path",), ("bridges",), ("aer",), ("numa_node",), ("iommu_group",)}
    assert ("express",) not in unknown(unreads)


def test_no_pci_is_absent_only_by_evidence() -> None:
    with pytest.raises(AbsentError, match="/sys/bus/pci/devices is empty"):
        take(MemoryHost({"/sys/bus/pci/devices/": ""}))
    with pytest.raises(AbsentError, match="/sys/bus has no pci"):
        take(MemoryHost({"/sys/bus/cpu/": ""}))
    functions, unreads = take(MemoryHost())
    assert not functions
    assert unreads == [Unread(("functions",), "/sys/bus/pci/devices", "ENOENT")]
    functions, unreads = take(MemoryHost({"/sys/bus/pci/devices/": EACCES}))
    assert unreads == [Unread(("functions",), "/sys/bus/pci/devices", "EACCES")]


def test_what_the_kernel_writes_amiss_is_unknown() -> None:
    host = machine({
        f"{HOME[GPU]}/resource": "\0\n", f"{HOME[GPU]}/numa_node": "many\n", f"{HOME[GPU]}/aer_dev_fatal": "",
        "/sys/bus/pci/slots/7/address": EACCES,
    }, {f"{HOME[GPU]}/iommu_group": "somewhere"})
    functions, unreads = take(host)
    assert unknown(unreads).keys() == {("bars",), ("numa_node",), ("iommu_group",), ("aer", "fatal"), ("slot",)}
    assert functions[GPU].aer == Aer(correctable=3, nonfatal=0)


MANY = [f"0000:{bus:02x}:00.0" for bus in range(256)]


def crowded(kind: type[MemoryHost]) -> MemoryHost:
    """A host of 256 GPUs, each below a root of its own."""
    return kind(
        {f"/sys/devices/pci0000:{a[5:7]}/{a}/config": GPU_SPACE for a in MANY},
        {f"/sys/bus/pci/devices/{a}": f"../../../devices/pci0000:{a[5:7]}/{a}" for a in MANY})


def test_a_host_of_256_functions_has_each_under_its_address() -> None:
    functions, unreads = take(crowded(MemoryHost))
    assert list(functions) == MANY
    assert not unreads


class Tired(MemoryHost):
    """A host whose configuration space can be read so many times; then the time is over."""

    left = 100

    def heads(self, paths: Sequence[str], size: int) -> Mapping[str, bytes | OSError]:
        """As Host.heads."""
        found = dict(super().heads(paths, size))
        for path in found:
            self.left -= 1
            if self.left < 0:
                found[path] = OSError(errno.ETIMEDOUT, path)
        return found


def test_what_was_read_before_the_time_was_over_is_whole() -> None:
    functions, unreads = take(crowded(Tired))
    read = [address for address in MANY if functions[address].express]
    assert read == MANY[: len(read)] and 32 < len(read) <= 50  # each is asked twice: for its head, and for all
    assert {u.why for u in unreads} == {"timeout"} and {u.path[1] for u in unreads} == {*MANY[len(read):]}


@pytest.mark.parametrize(("link", "root", "chain"), [
    ("../../../devices/pci0000:00/0000:00:1f.3", "pci0000:00", ["0000:00:1f.3"]),
    ("../../../devices/pci0000:40/0000:40:01.1/0000:41:00.0", "pci0000:40", ["0000:40:01.1", "0000:41:00.0"]),
    ("../../../devices/platform/bcm/pci0001:00/0001:00:00.0", "pci0001:00", ["0001:00:00.0"]),
    ("../../../devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0", "pci0000:00",
     ["0000:00:0e.0", "10000:e0:06.0"]),
    ("", "", []),
    ("../../../devices/nothing", "", []),
])
def test_places(link: str, root: str, chain: list[str]) -> None:
    assert parse_place(link) == (root, chain)


def test_a_path_begins_with_the_firmware_s_name_of_the_root_so_that_two_roots_differ() -> None:
    links = {f"/sys/bus/pci/devices/0000:{bus}:00.0": f"../../../devices/pci0000:{bus}/0000:{bus}:00.0"
             for bus in ("00", "20", "40")}
    files: dict[str, bytes | str | OSError] = {
        f"/sys/devices/pci0000:{bus}/0000:{bus}:00.0/config": GPU_SPACE for bus in ("00", "20", "40")}
    files["/sys/devices/pci0000:00/firmware_node/path"] = "\\_SB_.PCI0\n"
    files["/sys/devices/pci0000:20/firmware_node/path"] = "\\_SB_.S0D1\n"
    functions, _ = take(MemoryHost(files, links))
    assert [f.path for f in functions.values()] == ["\\_SB_.PCI0/00.0", "\\_SB_.S0D1/00.0", "0000/00.0"]


def test_slots_stand_for_a_device_or_a_whole_bus() -> None:
    slots = parse_slots({"7": "0000:41:00\n", "8": "0000:42\n", "1-1": "0001:01:00", "1": "0001:01:00"})
    assert [find_slot(slots, a) for a in ("0000:41:00.1", "0000:41:01.0", "0000:42:1f.7", "0001:01:00.0")] == [
        "7", None, "8", "1"]


def test_bars() -> None:
    assert parse_resource(space.resource({2: (32, 0x40101), 7: (4096, 0x200), 13: (1 << 20, 0x200)}, lines=17)) == {
        "2": Bar(size_bytes=32, kind="io")}
    empty = space.resource({}, lines=6)
    unassigned = "0x0000000000000000 0x000000000003ffff 0x0000000020040200\n" + empty
    assert parse_resource(unassigned) == {"0": Bar(size_bytes=0x40000, kind="memory", prefetchable=False)}
    with pytest.raises(ParseError, match="no BAR has"):
        parse_resource("0x0000000000000000 0xffffffffffffffff 0x0000000000040200\n" + empty)
    with pytest.raises(ParseError, match="no start, end and flags: ''"):
        parse_resource(empty)


@pytest.mark.parametrize(("vendor", "device", "name"), [
    ("10de", "2bb5", "NVIDIA Corporation GB202GL"), ("1022", "2bb5", "Advanced Micro Devices"), ("8086", "14ab", None),
])
def test_names(vendor: str, device: str, name: str | None) -> None:
    assert find_name(IDS, vendor, device) == name
    assert find_name(IDS.rstrip(), vendor, device) == name
    assert find_name(b"", vendor, device) is None


@given(st.text(max_size=200))
def test_kernel_texts_give_facts_or_one_error(text: str) -> None:
    for parse in (parse_resource, parse_total):
        try:
            parse(text)
        except ParseError:
            continue
    parse_place(text)
    parse_slots({"1": text})


@pytest.mark.parametrize("text", ["53\n", " 53 ", "\x1c53\x1d"])
def test_blanks_around_a_number_are_no_part_of_it(text: str) -> None:
    assert parse_number(text) == 53
    with pytest.raises(ParseError, match="no number"):
        parse_number(text.replace("53", "٥٣"))
