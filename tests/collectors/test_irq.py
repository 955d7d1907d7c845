"""Interrupts: families of queues, affinities, irqbalance."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import irq as part
from snapshot.collectors import irq, irq_balance
from snapshot.collectors.irq_names import families, parse_mask, share_out
from snapshot.errors import ParseError
from snapshot.sections.base import expand, format_cpus

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather, node

DENIED = PermissionError(errno.EACCES, "denied")
PCI = "/sys/bus/pci/devices"
GPU = "0000:41:00.0"
SERVICE = "/sys/fs/cgroup/system.slice/irqbalance.service"


def found(host: MemoryHost) -> tuple[dict[str, Any], dict[str, str]]:
    model, reading = gather(irq, host)
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def machine(actions: dict[int, str], cpus: str = "0-3", **more: Content) -> dict[str, Content]:
    """A host whose interrupts all belong to GPU, except those below 20."""
    files: dict[str, Content] = {"/proc/irq/default_smp_affinity": "f\n", "/sys/fs/cgroup/system.slice/": ""}
    for number, action in actions.items():
        files[f"/sys/kernel/irq/{number}/actions"] = f"{action}\n"
        files[f"/proc/irq/{number}/smp_affinity_list"] = f"{cpus}\n"
        files[f"/proc/irq/{number}/effective_affinity_list"] = "1\n"
        if number >= 20:
            files[f"{PCI}/{GPU}/msi_irqs/{number}"] = "msix\n"
    return files | more


def test_the_story_before() -> None:
    table, unread = found(planted(part, epyc.BEFORE))
    assert (table["default_affinity"], table["irqbalance"]) == ("0-255", {"running": False})
    assert {name: action["affinity"] for name, action in table["other"].items()} == {
        "acpi": {"0-255": "0"}, "rtc0": {"0-255": "0"}, "timer": {"0-255": "0"}}
    gpus = [table["devices"][f"0000:{bus}:00.0"] for bus in ("01", "21", "41", "61", "81", "a1", "c1", "e1")]
    assert all(gpu["nvidia"]["affinity"] == {"0-255": "0"} for gpu in gpus)
    nic = table["devices"]["0000:22:00.0"]
    assert list(nic) == ["mlx5_async0", "mlx5_comp*"]
    assert (nic["mlx5_comp*"]["queues"], nic["mlx5_comp*"]["affinity"]) == ("0-63", {"own part of 0-63": "0-63"})
    assert nic["mlx5_comp*"]["effective"] == "0-63"
    drive = table["devices"]["0000:42:00.0"]["nvme0q*"]
    assert (drive["queues"], drive["affinity"]) == ("0-64", {"0-255": "0", "own part of 0-255": "1-64"})
    assert "fixed" not in drive
    assert not unread


def test_after_only_numbers_and_what_the_kernel_tells_differ() -> None:
    before, after = (found(planted(part, kernel))[0] for kernel in (epyc.BEFORE, epyc.AFTER))
    assert after["devices"]["0000:42:00.0"]["nvme0q*"]["fixed"] == "1-64"
    for table in (before, after):
        for action in (a for actions in table["devices"].values() for a in actions.values()):
            del action["irqs"]
            action.pop("fixed", None)
    assert before == after


def test_an_outlier_stands_out() -> None:
    files = machine({20 + n: f"mlx5_comp{n}@pci:{GPU}" for n in range(64)})
    files["/proc/irq/83/smp_affinity_list"] = "0-1\n"
    action = found(MemoryHost(files))[0]["devices"][GPU]["mlx5_comp*"]
    assert action == {"queues": "0-63", "affinity": {"0-3": "0-62", "0-1": "63"}, "effective": "1", "irqs": "20-83"}


def test_an_interrupt_that_nobody_uses_is_left_out_and_one_may_vanish() -> None:
    files = machine({20: "nvidia", 21: "", 22: "gone"})
    files["/sys/kernel/irq/22/actions"] = OSError(errno.ENOENT, "gone")
    table, unread = found(MemoryHost(files))
    assert (list(table["devices"][GPU]), unread) == (["nvidia"], {})


def test_a_read_only_copy_says_nothing_of_what_can_be_set() -> None:
    nodes = {"/proc/irq/20/smp_affinity_list": node("file", mode=0o444)}
    files = machine({20: "nvidia"})
    assert found(MemoryHost(files, None, nodes))[0]["devices"][GPU]["nvidia"]["fixed"] == "0"
    nodes["/proc/irq/default_smp_affinity"] = node("file", mode=0o444)
    assert "fixed" not in found(MemoryHost(files, None, nodes))[0]["devices"][GPU]["nvidia"]


def test_closed_files_are_unread_by_name() -> None:
    files = machine({20: "nvidia", 1: "i8042"}) | {"/proc/irq/20/smp_affinity_list": DENIED}
    table, unread = found(MemoryHost(files))
    assert "affinity" not in table["devices"][GPU]["nvidia"]
    assert table["other"]["i8042"]["affinity"] == {"0-3": "0"}
    assert unread == {f"devices.{GPU}.nvidia.affinity": "EACCES"}
    files["/sys/kernel/irq/"] = DENIED
    assert found(MemoryHost(files))[1]["other"] == "EACCES"
    assert found(MemoryHost(machine({}) | {f"{PCI}/{GPU}/msi_irqs/": DENIED}))[1][f"devices.{GPU}"] == "EACCES"


def test_an_empty_machine_is_unknown() -> None:
    table, unread = found(MemoryHost({}))
    assert table == {}
    assert unread == {"devices": "shows no interrupt", "other": "shows no interrupt", "default_affinity": "ENOENT",
                      "irqbalance.running": "systemd's services are not to be seen"}


@pytest.mark.parametrize(("actions", "address", "expected"), [
    ({5: "nvme0q1", 4: "nvme0q0"}, "", {"nvme0q*": {0: 4, 1: 5}}),
    ({4: "nvme0q0"}, "", {"nvme0q0": {0: 4}}),
    ({1: "xhci_hcd", 3: "xhci_hcd", 2: "rtc0"}, "", {"rtc0": {0: 2}, "xhci_hcd": {0: 1, 1: 3}}),
    ({1: "vfio-msix[0](a)", 2: "vfio-msix[1](a)"}, "a", {"vfio-msix[*]": {0: 1, 1: 2}}),
    ({1: "q1", 2: "q1", 3: "q2"}, "", {"q1": {0: 1, 1: 2}, "q2": {0: 3}}),
    ({1: "q1", 2: "q01"}, "", {"q01": {0: 2}, "q1": {0: 1}}),
    ({1: "b, a", 2: "a,b"}, "", {"a,b": {0: 1, 1: 2}}),
    ({1: "q99999", 2: "q1"}, "", {"q1": {0: 2}, "q99999": {0: 1}}),
    ({1: "q*", 2: "q1", 3: "q2"}, "", {"q*": {0: 1}, "q1": {0: 2}, "q2": {0: 3}}),
])
def test_families(actions: dict[int, str], address: str, expected: dict[str, dict[int, int]]) -> None:
    assert families(actions, address) == expected


def test_few_queues_are_told_one_by_one() -> None:
    assert share_out({0: "1", 1: "2"}) == {"1": "0", "2": "1"}
    assert share_out({n: f"{2 * n}-{2 * n + 1}" for n in range(9)}) == {"own part of 0-17": "0-8"}
    assert share_out({n: f"{n}-{n + 1}" for n in range(9)}) == {f"{n}-{n + 1}": f"{n}" for n in range(9)}
    assert share_out(dict.fromkeys(range(9), "")) == {"": "0-8"}


@given(st.dictionaries(st.integers(0, 300), st.sets(st.integers(0, 20)).map(format_cpus)))
def test_every_queue_is_told_once(allowed: dict[int, str]) -> None:
    assert sorted(expand(share_out(allowed), str)) == sorted(allowed)


@given(st.dictionaries(st.integers(0, 99), st.text("q1*,0](a", min_size=1)))
def test_every_interrupt_is_in_one_family(actions: dict[int, str]) -> None:
    assert sorted(n for queues in families(actions, "a").values() for n in queues.values()) == sorted(actions)


@pytest.mark.parametrize(("text", "cpus"), [
    ("3", "0-1"), ("ffffffff,00000001", "0,32-63"), ("0", ""), ("0xF0", "4-7"), ("ffffffffff", "0-39")])
def test_masks(text: str, cpus: str) -> None:
    assert parse_mask(text) == cpus


@pytest.mark.parametrize("text", ["", "g", "1,1", ",", "0x", "1 1", "f" * 20000, "\0"])
def test_no_masks(text: str) -> None:
    with pytest.raises(ParseError):
        parse_mask(text)


@pytest.mark.parametrize(("files", "running"), [
    ({f"{SERVICE}/cgroup.events": "populated 1\nfrozen 0\n"}, True),
    ({f"{SERVICE}/cgroup.events": "populated 0\nfrozen 0\n"}, False),
    ({"/sys/fs/cgroup/systemd/system.slice/irqbalance.service/cgroup.procs": "812\n"}, True),
    ({"/sys/fs/cgroup/systemd/system.slice/cron.service/": ""}, False),
    ({f"{SERVICE}/cgroup.events": DENIED}, None),
])
def test_who_runs(files: dict[str, Content], running: bool | None) -> None:
    table, unread = found(MemoryHost(files))
    assert table.get("irqbalance", {}).get("running") == running
    assert ("irqbalance.running" in unread) == (running is None)


def test_what_irqbalance_moves_is_volatile() -> None:
    files = machine({20: "nvidia"}) | {f"{SERVICE}/cgroup.events": "populated 1\n"}
    action = found(MemoryHost(files))[0]["devices"][GPU]["nvidia"]
    assert (action["balanced"], "affinity" in action) == ({"0-3": "0"}, False)


def test_banned_cpus_come_from_the_file_that_is_read_last() -> None:
    files = machine({20: "nvidia"}) | {
        "/usr/lib/irqbalance/defaults.env": "IRQBALANCE_BANNED_CPULIST=7\n",
        "/etc/default/irqbalance": '#IRQBALANCE_BANNED_CPULIST=1\r\nIRQBALANCE_BANNED_CPULIST="0-1,4"\r\n'
                                   "IRQBALANCE_ONESHOT=yes\nIRQBALANCE_ARGS=--secret\n",
    }
    host = MemoryHost(files)
    assert found(host)[0]["irqbalance"] == {
        "running": False, "oneshot": True, "banned_cpus": "0-1,4", "origins": {
            "banned_cpus": {"file": "/etc/default/irqbalance", "line": 2, "text": 'IRQBALANCE_BANNED_CPULIST="0-1,4"'},
            "oneshot": {"file": "/etc/default/irqbalance", "line": 3, "text": "IRQBALANCE_ONESHOT=yes"},
        }}
    assert sorted(gather(irq, host)[1].files) == ["/etc/default/irqbalance", "/usr/lib/irqbalance/defaults.env"]


@pytest.mark.parametrize(("text", "once"), [("=yes", True), ("=", True), ('=""', True), ("_X=1", None)])
def test_a_variable_that_is_set_but_empty_makes_irqbalance_run_once(text: str, once: bool | None) -> None:
    files = machine({}) | {"/etc/default/irqbalance": f"IRQBALANCE_ONESHOT{text}\n"}
    assert found(MemoryHost(files))[0]["irqbalance"].get("oneshot") is once


@pytest.mark.parametrize(("text", "banned", "why"), [
    ("IRQBALANCE_BANNED_CPUS=ff\n", "0-7", None), ("IRQBALANCE_BANNED_CPUS=\n", None, None),
    ("IRQBALANCE_BANNED_CPUS=zz\n", None, "no CPU mask: 'zz'"),
    ("IRQBALANCE_BANNED_CPUS=1\nIRQBALANCE_BANNED_CPULIST=1\n", None,
     "IRQBALANCE_BANNED_CPUS and IRQBALANCE_BANNED_CPULIST are both set"),
])
def test_masks_lists_and_contradictions(text: str, banned: str | None, why: str | None) -> None:
    table, unread = found(MemoryHost(machine({}) | {"/etc/sysconfig/irqbalance": text}))
    assert table["irqbalance"].get("banned_cpus") == banned
    assert unread.get("irqbalance.banned_cpus") == why


@given(st.text(max_size=80) | st.sampled_from(["IRQBALANCE_BANNED_CPUS", "IRQBALANCE_ONESHOT==\n=\n"]))
def test_any_text_is_an_environment_file(text: str) -> None:
    assert set(irq_balance.parse(text, "f")) <= {"IRQBALANCE_BANNED_CPUS", "IRQBALANCE_ONESHOT"}


@given(st.binary(max_size=40))
def test_any_content_is_survived(junk: bytes) -> None:
    files = dict.fromkeys(machine({20: "x", 21: "x", 3: "y"}), junk)
    found(MemoryHost(files | {f"{SERVICE}/cgroup.events": junk, "/etc/default/irqbalance": junk}))


def test_the_names_of_the_corpus(corpus: Path) -> None:
    told = {path.stem: _families(path.read_text()) for path in sorted(corpus.glob("proc-interrupts/*"))}
    assert len(told["jc-vm"][""]["PCIe PME,pciehp"]) == 32
    assert {"ens33", "ehci_hcd:usb1,ioc0", "snd_ens1371,vmwgfx"} <= set(told["jc-vm"][""])
    big = told["threadripper5955wx-ubuntu2204"]
    assert [address for address, actions in big.items() if "nvidia" in actions] == ["0000:41:00.0", "0000:2e:00.0"]
    assert format_cpus(big["0000:23:00.0"]["nvme0q*"]) == "0-32"
    assert {name: len(q) for name, q in big["0000:25:00.1"].items()} == {"enp37s0f1": 1, "enp37s0f1-TxRx-*": 32}


def _families(text: str) -> dict[str, dict[str, dict[int, int]]]:
    """Families by PCI function, which late kernels name in the chip's name, from /proc/interrupts."""
    row = re.compile(r" *(\d+):(?: +\d+)+ +(\S+?)(?:-(\w{4}:\S{7}))? +\d+-\w+ +(.+)")
    by_address: dict[str, dict[int, str]] = {}
    for match in filter(None, map(row.fullmatch, text.splitlines())):
        by_address.setdefault(match[3] or "", {})[int(match[1])] = match[4]
    return {address: families(actions, address) for address, actions in by_address.items()}
