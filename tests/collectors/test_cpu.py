"""Processors, sockets, caches and NUMA nodes."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import cpu as part
from snapshot.collectors import cpu
from snapshot.collectors.cpu import parse_distances
from snapshot.collectors.cpu_topology import parse_size, parse_type
from snapshot.errors import ParseError

from . import trees
from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
CPU, NODES = "/sys/devices/system/cpu", "/sys/devices/system/node"
ALL = "0-255"


def found(host: MemoryHost) -> tuple[dict[str, Any], dict[str, str]]:
    model, reading = gather(cpu, host)
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def small() -> dict[str, Content]:
    """Two cores of two threads with an L2 each, one node."""
    files: dict[str, Content] = {
        f"{CPU}/online": "0-3\n", f"{CPU}/present": "0-3\n", f"{NODES}/online": "0\n", f"{NODES}/has_memory": "0\n",
        f"{NODES}/node0/cpulist": "0-3\n", f"{NODES}/node0/distance": "10\n",
        "/proc/cpuinfo": "".join(f"processor\t: {n}\nmodel name\t: X\n\n" for n in range(4)),
        f"{CPU}/vulnerabilities/mds": "Not affected\n",
    }
    for number in range(4):
        pair = f"{number % 2},{number % 2 + 2}\n"
        files |= {f"{CPU}/cpu{number}/{name}": text for name, text in (
            ("topology/physical_package_id", "0\n"), ("topology/core_siblings_list", "0-3\n"),
            ("topology/thread_siblings_list", pair), ("cache/index2/shared_cpu_list", pair),
            ("cache/index2/level", "2\n"), ("cache/index2/type", "Unified\n"), ("cache/index2/size", "512K\n"))}
    return files


def test_the_story() -> None:
    table, unread = found(planted(part, epyc.BEFORE))
    assert (table["vendor"], table["family"], table["model"]) == ("AuthenticAMD", 26, 2)
    assert (table["microcode"], table["steppings"]) == ({"0xb002147": ALL}, {"1": ALL})
    assert table["packages"]["1"] == {"cpus": "64-127,192-255", "cores": 64}
    assert set(table["packages"]) == {"0", "1"}
    assert table["caches"]["L3"] == {"size_bytes": {"33554432": ALL}, "shared_by": {"16": ALL}, "count": 16}
    assert table["caches"]["L1d"] == {"size_bytes": {"49152": ALL}, "shared_by": {"2": ALL}, "count": 128}
    assert table["nodes"]["1"] == {"cpus": "64-127,192-255", "memory": True}
    assert table["distances"] == {"ids": ["0", "1"], "rows": [[10, 32], [32, 10]]}
    assert (table["online"], table["offline"], table["isolated"], table["nohz_full"]) == (ALL, "", "", "")
    assert table["smt"] == {"control": "on", "active": True}
    assert not unread


def test_the_kernel_of_afterwards_knows_more_flaws() -> None:
    before, after = (found(planted(part, kernel))[0] for kernel in (epyc.BEFORE, epyc.AFTER))
    assert set(after["vulnerabilities"]) - set(before["vulnerabilities"]) == {"reg_file_data_sampling", "tsa"}
    assert {**after, "vulnerabilities": 0} == {**before, "vulnerabilities": 0}


def test_one_file_a_group_is_read() -> None:
    class Counting(MemoryHost):
        reads = 0

        def read(self, path: str, limit: int = 64 << 20) -> bytes:
            self.reads += 1
            return super().read(path, limit)

    host = planted(part, epyc.BEFORE)
    counting = Counting(host.files, host.links)
    found(counting)
    assert counting.reads < 256 * 4


def test_an_offline_cpu_has_no_topology() -> None:
    files = small() | {f"{CPU}/online": "0-2\n", f"{NODES}/node0/cpulist": "0-2\n"}
    files = {path: text for path, text in files.items() if not path.startswith(f"{CPU}/cpu3/")}
    table, unread = found(MemoryHost(files))
    assert (table["offline"], table["packages"]["0"]) == ("3", {"cpus": "0-2", "cores": 2})
    assert table["caches"]["L2"]["shared_by"] == {"1": "1", "2": "0,2"}
    assert not unread


def test_a_node_may_have_no_cpus_or_no_memory() -> None:
    files = small() | {
        f"{NODES}/online": "0,8\n", f"{NODES}/node8/cpulist": "\n", f"{NODES}/node8/distance": "80 10\n",
        f"{NODES}/node0/distance": "10 80\n"}
    table, _ = found(MemoryHost(files))
    assert table["nodes"]["8"] == {"cpus": "", "memory": False}
    assert table["distances"] == {"ids": ["0", "8"], "rows": [[10, 80], [80, 10]]}


def test_distances_that_are_no_square_are_unknown() -> None:
    table, unread = found(MemoryHost(small() | {f"{NODES}/node0/distance": "10 20\n"}))
    assert ("distances" in table, unread) == (False, {"distances": "no square of 1 nodes"})


def test_a_kernel_without_numa_or_smt_control_has_no_such_facts() -> None:
    table, unread = found(MemoryHost({path: text for path, text in small().items() if not path.startswith(NODES)}))
    assert not {"nodes", "distances", "smt"} & set(table)
    assert not unread


def test_cpus_that_disagree_have_no_common_family() -> None:
    text = "processor: 0\nmodel name: X\ncpu family: 6\n\nprocessor: 1\nmodel name: X\ncpu family: 7\n"
    table, unread = found(MemoryHost(small() | {"/proc/cpuinfo": text}))
    assert ("family" in table, unread) == (False, {"family": "CPUs of one machine disagree"})


def test_a_machine_that_tells_nothing() -> None:
    table, unread = found(MemoryHost({}))
    assert table == {}
    assert set(unread) == {
        "online", "offline", "packages", "caches", "names", "vendor", "family", "model", "steppings", "microcode"}


def test_what_is_closed_is_unread_by_name() -> None:
    files = small() | {
        "/proc/cpuinfo": DENIED, f"{CPU}/vulnerabilities/mds": DENIED, f"{NODES}/node0/cpulist": DENIED,
        f"{CPU}/cpu0/topology/thread_siblings_list": DENIED, f"{CPU}/cpu1/cache/index2/size": DENIED}
    table, unread = found(MemoryHost(files))
    assert set(unread.values()) == {"EACCES"}
    facts = {"names", "microcode", "vulnerabilities.mds", "nodes.0", "distances", "packages", "caches.L2.size_bytes"}
    assert facts <= set(unread)
    assert table["caches"]["L2"]["size_bytes"] == {"524288": "0,2"}


def test_siblings_that_do_not_name_the_cpu_end_all_the_same() -> None:
    table, _ = found(MemoryHost(small() | {f"{CPU}/cpu0/topology/thread_siblings_list": "7\n"}))
    assert table["packages"]["0"]["cores"] == 3


def test_sizes_types_and_distances() -> None:
    assert (parse_size("1024K"), parse_type("Data"), parse_distances("10 20\n")) == (1 << 20, "d", [10, 20])
    for parse, text in ((parse_size, "5"), (parse_size, "K"), (parse_type, "data"), (parse_distances, "10 x")):
        with pytest.raises(ParseError):
            parse(text)


@given(st.binary(max_size=60))
def test_any_content_is_survived(junk: bytes) -> None:
    found(MemoryHost(dict.fromkeys(small(), junk)))
    found(MemoryHost(dict.fromkeys(small(), junk) | {f"{CPU}/online": "0-3", f"{NODES}/online": "0"}))


def test_the_trees_of_the_corpus(corpus: Path) -> None:
    told = {}
    for path in sorted(corpus.glob("cpu-sysfs-tree/*")):
        table, unread = found(trees.from_tar(path))
        assert not unread
        told[path.name.removeprefix("hwloc-").removesuffix(".tar.bz2")] = (
            table["online"], len(table["packages"]), sum(p["cores"] for p in table["packages"].values()),
            len(table.get("nodes", {})), table.get("smt"))
    assert told == {
        "2arm-2c": ("0-1", 1, 2, 0, None), "40intel64-2g2n4c+pcilocality": ("0-39", 4, 40, 4, None),
        "48amd64-4pa2n6c-sparse": ("0-47", 4, 48, 8, None),
        "64amd64-4s2n4ca2co": ("0-63", 4, 32, 8, None),  # the kernel takes the two halves of a module for threads
        "nvidia-dgx-gb10": ("0-19", 1, 20, 1, {"control": "notsupported", "active": False}),
        "nvidiagpunumanodes": ("0-15,88-103", 2, 8, 8, None),
    }


def test_the_text_archive_of_the_corpus(corpus: Path) -> None:
    table, _ = found(trees.from_ttar(corpus / "sysfs-ttar/procfs-cpu.ttar"))
    assert table["online"] == "0-1"
    assert table["vulnerabilities"]["tsx_async_abort"] == "Not affected"
