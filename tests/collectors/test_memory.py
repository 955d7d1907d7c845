"""Memory: totals, huge pages, THP, KSM, swap, EDAC."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import memory as part
from snapshot.collectors import memory
from snapshot.collectors.memory import parse_hex, parse_meminfo
from snapshot.collectors.memory_swap import parse_swaps
from snapshot.errors import ParseError

from . import trees
from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
MM, NODES, MC = "/sys/kernel/mm", "/sys/devices/system/node", "/sys/devices/system/edac/mc"
HUGE, HEAD = f"{MM}/hugepages/hugepages-2048kB", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
GIB = 1 << 30
PLANTED = [
    path for path in planted(part, epyc.AFTER).files
    if path.startswith((MM, NODES, f"{MC}/mc0", "/proc/meminfo", "/proc/swaps"))
]


def found(host: MemoryHost) -> tuple[dict[str, Any], dict[str, str]]:
    model, reading = gather(memory, host)
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def one(path: str, content: Content) -> tuple[dict[str, Any], dict[str, str]]:
    return found(MemoryHost({"/proc/meminfo": "MemTotal: 4 kB\nCmaTotal: 0 kB\n", path: content}))


def test_the_story_before() -> None:
    table, unread = found(planted(part, epyc.BEFORE))
    assert (table["total_bytes"], table["blocks_bytes"]) == (1584736232 << 10, 1536 * GIB)
    assert table["nodes"]["0"]["total_bytes"] == 792330108 << 10
    assert table["hugepages"]["2048kB"] == {"pages": 0, "overcommit": 0, "free": 0, "surplus": 0}
    assert table["nodes"]["1"]["hugepages"]["1048576kB"] == {"pages": 0, "surplus": 0}
    assert table["thp"]["enabled"] == "madvise" and "sizes" not in table["thp"]
    assert set(table["thp"]["khugepaged"]) == set(part.KHUGEPAGED) - {"full_scans", "pages_collapsed"}
    assert (table["ksm"]["run"], table["swaps"], table["zswap"]["enabled"]) == (0, {}, False)
    assert len(table["edac"]["mc0"]["modules"]) == 12
    assert table["edac"]["mc1"]["modules"]["rank3"] == {
        "label": "mc#1csrow#0channel#3", "location": "csrow 0 channel 3", "size_mib": 65536, "corrected": 0,
        "uncorrected": 0}
    assert not unread


def test_the_story_after_has_the_same_memory_and_more_switches() -> None:
    before, after = (found(planted(part, kernel))[0] for kernel in (epyc.BEFORE, epyc.AFTER))
    assert after["thp"]["sizes"]["2048kB"] == {"enabled": "inherit"}
    assert after["blocks_bytes"] == before["blocks_bytes"]
    assert after["total_bytes"] != before["total_bytes"]


def test_surplus_pages_are_not_of_the_pool() -> None:
    host = {f"{HUGE}/nr_hugepages": "512\n", f"{HUGE}/surplus_hugepages": "12\n", f"{HUGE}/free_hugepages": "7\n"}
    table, _ = found(MemoryHost({**host}))
    assert table["hugepages"] == {"2048kB": {"pages": 500, "surplus": 12, "free": 7}}
    table, unread = found(MemoryHost({**host, f"{HUGE}/surplus_hugepages": "513\n"}))
    assert "pages" not in table["hugepages"]["2048kB"]
    assert unread["hugepages.2048kB.pages"] == "512 pages, 513 surplus"


def test_a_pool_that_cannot_be_read_is_unread() -> None:
    table, unread = one(f"{HUGE}/nr_hugepages", DENIED)
    assert unread == {"hugepages.2048kB.pages": "EACCES"}
    assert table["hugepages"] == {"2048kB": {}}


def test_swaps() -> None:
    table = f"{HEAD}/dev/dm-1                               partition\t8388604\t\t1024\t\t-2\n/a\\040b file 4 0 5\n"
    assert {name: swap.table() for name, swap in parse_swaps(table).items()} == {
        "/dev/dm-1": {"type": "partition", "size_bytes": 8388604 << 10, "used_bytes": 1 << 20, "priority": -2},
        "/a b": {"type": "file", "size_bytes": 4096, "used_bytes": 0, "priority": 5},
    }
    assert parse_swaps(HEAD) == {}


def test_names_of_swap_files_are_what_they_are() -> None:
    names = ["/sw\u00e9p", "/\u4ea4\u6362", "/\u4ea4\u4ea4", "/a\udcff", "/a\u00a0b\u2028c", "/a\\134b"]
    found = parse_swaps(HEAD + "".join(f"{name}  file 4 0 {n}\n" for n, name in enumerate(names)))
    assert list(found) == [*names[:-1], "/a\\b"]


@pytest.mark.parametrize("text", ["", "\0", "/dev/sda2 partition 1 2 3\n", HEAD + "x\n", HEAD + "a b c d e\n"])
def test_what_is_no_table_of_swaps(text: str) -> None:
    with pytest.raises(ParseError):
        parse_swaps(text)
    assert one("/proc/swaps", text)[1].keys() == {"swaps"}


def test_without_swap_in_the_kernel_there_is_no_such_fact() -> None:
    table, unread = one("/sys/block/", "")
    assert (table, unread) == ({"total_bytes": 4096, "cma_bytes": 0}, {})


def test_zram_counts_when_it_has_a_size() -> None:
    files: dict[str, Content] = {f"/sys/block/zram{n}/disksize": f"{n << 30}\n" for n in (0, 1)}
    files |= {f"/sys/block/zram{n}/comp_algorithm": "lzo [zstd] lz4 \n" for n in (0, 1)}
    assert found(MemoryHost(files))[0]["zram"] == {"zram1": {"size_bytes": GIB, "algorithm": "zstd"}}


def test_memory_info() -> None:
    assert parse_meminfo("MemTotal:  8 kB\r\nHugePages_Total:  4\n") == {"MemTotal": 8192}
    assert parse_meminfo("Node 0 MemTotal: 8 kB\n") == {"MemTotal": 8192}
    for text in ("MemTotal: x kB\n", "MemTotal: 1 kB\nMemTotal: 2 kB\n"):
        with pytest.raises(ParseError):
            parse_meminfo(text)


@pytest.mark.parametrize("junk", [b"", b"\0\xff", b"MemTotal", b"MemTotal: -\n"])
def test_no_total_is_unknown(junk: bytes) -> None:
    table, unread = found(MemoryHost({"/proc/meminfo": junk}))
    assert ("total_bytes" in table, unread["total_bytes"]) == (False, "no MemTotal in it")


def test_a_huge_file_is_refused() -> None:
    assert one("/proc/meminfo", b"x" * (1 << 17))[1]["total_bytes"] == "EFBIG"


def test_a_machine_that_tells_nothing() -> None:
    table, unread = found(MemoryHost({}))
    assert (table, unread) == ({}, dict.fromkeys(("total_bytes", "cma_bytes", "corrupted_bytes"), "ENOENT"))


def test_block_sizes_are_hexadecimal() -> None:
    assert parse_hex("80000000") == 2 * GIB
    for text in ("", "-1", "x", "1" * 11):
        with pytest.raises(ParseError):
            parse_hex(text)


def test_edac_without_a_driver_has_no_controllers() -> None:
    assert "edac" not in one(f"{MC}/power/control", "auto\n")[0]


def test_the_errors_of_a_module_show_where_it_is() -> None:
    table, unread = found(MemoryHost({
        f"{MC}/mc0/ce_count": "37\n", f"{MC}/mc0/dimm2/dimm_ce_count": "37\n", f"{MC}/mc0/dimm2/dimm_label": "P0_C1\n",
        f"{MC}/mc0/dimm2/dimm_location": "\n", f"{MC}/mc0/ue_count": DENIED, "/proc/meminfo": "MemTotal: 1 kB\n"}))
    assert table["edac"] == {"mc0": {"corrected": 37, "modules": {"dimm2": {"label": "P0_C1", "corrected": 37}}}}
    assert unread["edac.mc0.uncorrected"] == "EACCES"


LINES = [HEAD.strip(), "a b 1 2 3", "MemTotal: 1 kB", "x y kB: 1 kB"]


@given(st.text() | st.lists(st.sampled_from(LINES)).map("\n".join))
def test_any_text_is_a_table_or_a_parse_error(text: str) -> None:
    for parse in (parse_swaps, parse_meminfo, parse_hex):
        try:
            parse(text)
        except ParseError as error:
            assert str(error)


@given(st.binary(max_size=60))
def test_any_content_is_survived(junk: bytes) -> None:
    mine = dict.fromkeys(PLANTED, junk)
    found(MemoryHost(mine))
    found(MemoryHost(mine | {f"{NODES}/online": "0-1"}))


def test_the_trees_of_the_corpus(corpus: Path) -> None:
    told = {}
    for path in sorted(corpus.glob("cpu-sysfs-tree/*")):
        table, unread = found(trees.from_tar(path))
        assert not {name for name in unread if not name.endswith("_bytes")}
        name = path.name.removeprefix("hwloc-").removesuffix(".tar.bz2")
        told[name] = (table["total_bytes"] >> 10, len(table.get("nodes", {})))
    assert told == {
        "2arm-2c": (280840, 0), "40intel64-2g2n4c+pcilocality": (529428392, 4), "48amd64-4pa2n6c-sparse": (99202688, 8),
        "64amd64-4s2n4ca2co": (123994388, 8), "nvidia-dgx-gb10": (125508468, 1), "nvidiagpunumanodes": (358162944, 8),
    }
