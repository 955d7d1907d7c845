"""The list of what changes by itself: it is visible, and each line of it can be taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from snapshot.capture import take
from snapshot.diff import compare
from snapshot.diff.pattern import Pattern
from snapshot.diff.selection import Selection
from snapshot.diff.volatile import volatile_paths
from snapshot.host.recorded import open_host
from snapshot.sections import NAMES

from ..pairs import snapshot
from ..recordings import FIXTURES, taken

PATTERNS = {path.pattern for path in volatile_paths()}


def test_the_list_is_in_the_order_of_sections_and_names_nothing_twice() -> None:
    found = volatile_paths()
    assert [path.section for path in found] == sorted((path.section for path in found), key=NAMES.index)
    assert len({path.pattern for path in found}) == len(found)
    assert all(path.pattern.startswith(f"{path.section}.") for path in found)


def test_it_is_as_long_as_the_marks_in_the_models() -> None:
    models = (FIXTURES.parent / "snapshot/sections" / f"{name}.py" for name in NAMES)
    mark = re.compile(r"^    \w+: Annotated\[[^=]*\bVOLATILE\b", re.MULTILINE)
    marks = sum(len(mark.findall(path.read_text())) for path in models)
    fields = {path.pattern.rpartition(".")[2] for path in volatile_paths()}
    assert marks <= len(PATTERNS) and {"speed_gts", "free", "throttle_reasons", "init_memlock"} <= fields


def test_keys_are_listed_with_whether_a_file_can_settle_them() -> None:
    keys = {path.pattern: path.unless_set for path in volatile_paths() if path.section in ("sysctl", "cmdline")}
    assert keys["sysctl.values.vm.user_reserve_kbytes"] is True
    assert keys["cmdline.parameters.BOOT_IMAGE"] is False and keys["sysctl.left_out"] is False


@pytest.mark.parametrize("moves", [  # seen to change within a boot, or from one to the next, with nothing changed
    "sysctl.values.vm.user_reserve_kbytes", "memory.total_bytes", "memory.nodes.*.total_bytes",
    "pci.functions.*.express.link.speed_gts", "pci.functions.*.aer.correctable", "nvidia.gpus.*.state.pcie.generation",
    "units.limits.init_memlock", "memory.swaps.*.used_bytes",
])
def test_what_was_seen_to_move_is_marked(moves: str) -> None:
    assert moves in PATTERNS


@pytest.mark.parametrize("path", [  # seen to keep their values from boot to boot of one kernel, or settings
    ("sysctl", "values", "net.ipv4.tcp_mem"), ("sysctl", "values", "vm.min_free_kbytes"),
    ("sysctl", "values", "kernel.threads-max"),
    ("sysctl", "values", "user.max_net_namespaces"), ("sysctl", "values", "vm.admin_reserve_kbytes"),
    ("sysctl", "values", "vm.swappiness"),
    ("modules", "loaded", "fuse", "parameters", "max_user_bgreq"), ("devices", "character", "nvidia-uvm"),
    ("kernel", "clocksource"),
    ("pci", "functions", "0000:01:00.0", "express", "link", "width"),
    ("pci", "functions", "0000:01:00.0", "express", "max_read_request_bytes"),
    ("storage", "blocks", "s", "queue", "scheduler"), ("net", "interfaces", "m", "mtu"),
    ("cpu", "vulnerabilities", "meltdown"),
    ("memory", "thp", "khugepaged", "defrag"), ("irq", "devices", "0000:01:00.0", "a", "affinity"),
    ("cpuidle", "states", "C2", "latency_us"),
])
def test_what_was_seen_to_stay_is_not(path: tuple[str, ...]) -> None:
    assert not any(Pattern.parse(pattern).covers(path) for pattern in PATTERNS)


def test_each_line_can_be_taken_back() -> None:
    swap = {"type": "partition", "size_bytes": 1, "priority": -2}
    before, after = (snapshot({"memory": {
        "total_bytes": at, "nodes": {"0": {"total_bytes": at}}, "swaps": {"/dev/sda2": swap | {"used_bytes": at}},
    }}) for at in (1, 2))
    assert compare(before, after).counts.volatile == 3
    for pattern in ("memory.total_bytes", "memory.nodes.*.total_bytes", "memory.swaps.*.used_bytes"):
        assert pattern in PATTERNS
        (change,) = compare(before, after, Selection(stable=(Pattern.parse(pattern),))).changes
        assert Pattern.parse(pattern).covers((change.section, *change.path))


@pytest.mark.parametrize("host", ["pve-small", "microvm.tar.xz", "vm-full-after.tar.xz"])
def test_two_takes_of_one_machine_show_no_change(host: str, tmp_path: Path) -> None:
    machine = open_host(str(FIXTURES / "hosts" / host))
    try:
        again = take(machine)
    finally:
        machine.close()
    found = compare(taken(host), again, Selection(show_volatile=True))
    assert (found.changes, found.files, found.counts.changed, found.counts.volatile) == ([], [], 0, 0)
