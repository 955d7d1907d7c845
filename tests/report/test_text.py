"""The report that people read. The goldens are read by people too, before they are accepted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from snapshot.diff.pattern import Pattern
from snapshot.diff.selection import Selection
from snapshot.diff.tolerance import Tolerance
from snapshot.document import Snapshot
from snapshot.engine.settings import Waiver
from snapshot.report.review import Review
from snapshot.report.text import render_text
from tests.derive import made
from tests.derive.made import mount, rule
from tests.pairs import GPUS, devices, gpu, lxc, pci, snapshot, story
from tests.report.made import review

from .made import KERNEL, finding, judged, unknown

COMMAND = re.compile(r"sed -i|setpci|pct |systemctl|lxc\.cgroup2|sysctl -w|^  [~+>-] ")


def report(before: Snapshot | None, after: Snapshot, everything: bool = False, width: int = 80, **more: Any) -> str:
    return render_text(review(before, after, "pre", "now", **more), everything=everything, width=width)


def without_root() -> Snapshot:
    bare = {address: {k: v for k, v in gpu(0).items() if k != "express"} for address in GPUS}
    return snapshot(
        {"pci": {"functions": bare}}, unread={"pci": [["functions", address, "express"] for address in GPUS]},
        states={"lxc": "denied", "devices": "skipped"},
        meta={"uid": 1000, "boot_id": "two", "taken": "2026-12-01T00:00:00Z"},
    )


def test_the_story(golden: SnapshotAssertion) -> None:
    assert report(*story()) == golden


def test_the_story_with_every_change(golden: SnapshotAssertion) -> None:
    assert report(*story(), everything=True) == golden


def test_nothing_happened(golden: SnapshotAssertion) -> None:
    before, _ = story()
    assert report(before, before) == golden


def test_taken_without_root(golden: SnapshotAssertion) -> None:
    assert report(story()[0], without_root(), allow_unknown=["lxc"]) == golden


def test_one_snapshot_alone(golden: SnapshotAssertion) -> None:
    assert report(None, story()[1]) == golden


def test_what_does_not_count_is_said_and_not_explained_at_length(golden: SnapshotAssertion) -> None:
    before, after = (snapshot({"devices": devices(511), "lxc": lxc(508), "pci": pci(512)}, meta={"boot_id": boot})
                     for boot in ("a", "b"))
    assert report(before, after) == golden


def kernel_story(**more: Any) -> Review:
    """The story with a rule that explains it by the kernel, a waiver and patterns."""
    rules = [*review(*story()).rules, KERNEL]
    return review(*story(), "pre", "now", rules=rules, **more)


def test_the_cause_is_named_first_and_what_it_explains_names_it(golden: SnapshotAssertion) -> None:
    assert render_text(kernel_story()) == golden


@pytest.mark.parametrize("width", [60, 40])
def test_a_narrow_terminal(golden: SnapshotAssertion, width: int) -> None:
    assert render_text(everything_at_once(), width=width) == golden


def everything_at_once() -> Review:
    """A finding of each kind, as a host with many rules has them."""
    base = kernel_story(
        selection=Selection(ignore=(Pattern.parse("sysctl.values.net.core.key3"), Pattern.parse("irq")),
                            tolerances=(Tolerance.parse("sysctl.values.net.core.key11", "10%"),)),
        waivers=[Waiver(path="sysctl.values.net.core.key4", reason="it is so", by="ops")],
    )
    aside = [finding("nvidia.ecc", waived_by="bought so (by ops, until 2030-01-01)"),
             finding("cpufreq.driver-changed", "medium", "expected", explained_by="amd_pstate=active asked for it"),
             finding("pcie.link-width", class_="better"), finding("pcie.link-speed", class_="resolved"),
             finding("storage.pool", class_="existing", subject="tank"), finding("storage.full", "low", "existing")]
    brief = [finding("sysctl.swappiness", "medium", now=["sysctl -w vm.swappiness=10", "and another"]),
             finding("nvidia.persistence", "low", now=["cat > /x <<EOF\ny\nEOF"]),
             finding("cpufreq.governor", "low", now=[], durable=["systemctl enable it"]), finding("os.no-cure", "low"),
             finding("units.added", "info", message="a unit is new")]
    unknowns = [unknown("pcie.a"), unknown("pcie.b", "low"), unknown("net.a", path="net", why="timeout")]
    return judged([*base.judgement.findings, *aside, *brief], unknowns, base)


def test_many_findings_stay_readable(golden: SnapshotAssertion) -> None:
    assert render_text(everything_at_once()) == golden


def test_many_findings_in_full(golden: SnapshotAssertion) -> None:
    found = everything_at_once()
    found.judgement.not_applicable |= {"amdgpu.a": "amdgpu: no such driver", "amdgpu.b": "amdgpu: no such driver"}
    found.judgement.items |= {"amdgpu.a": 1, "amdgpu.b": 1, "net.fine": 7}
    text = render_text(found, everything=True)
    assert text[text.index("1 rule passed:"):] == golden
    assert "Now:       sysctl -w vm.swappiness=10\n             and another\n" in text
    assert "2 rules not applied (amdgpu: no such driver):\n  amdgpu.a  amdgpu.b\n" in text


def test_few_findings_are_said_in_full_whatever_they_are() -> None:
    few = [finding(f"a.r{at}", "low", why=["for a reason"]) for at in range(3)]
    assert render_text(judged(few)).count("for a reason") == 3
    assert render_text(judged([*few, finding("a.r3", "low")])).count("for a reason") == 0
    assert "for a reason" in render_text(judged([*few, finding("a.r3", why=["for a reason"])]))


def test_what_was_so_before_counts_when_it_is_asked_for() -> None:
    stale = snapshot({"devices": devices(511), "lxc": lxc(508)})
    text = report(stale, stale, fail_on_existing=True)
    assert "REGRESSED: 1 critical." in text and "  It was so before.\n" in text and "Exit 1: findings" in text


def test_notes_are_no_regression_and_of_many_the_first_are_listed() -> None:
    assert "Nothing regressed (1 rule judged).  1 note.\n" in render_text(judged([finding("a.b", "info")]))
    many = judged([finding(f"a.r{at}", "info") for at in range(1012)])
    assert "\nINFO      and 1,002 more notes (--all lists them)\n" in render_text(many)
    assert render_text(many).count("\nINFO ") == 11 and render_text(many, everything=True).count("\nINFO ") == 1012


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_only_what_is_to_be_copied_is_wider_than_the_terminal(width: int) -> None:
    reviews = (review(*story()), review(story()[0], without_root()), everything_at_once())
    for found in reviews:
        text = re.sub(r"\ncat > .*\nEOF\n", "\n", render_text(found, width=width), flags=re.DOTALL)
        for line in text.splitlines():
            assert len(line) <= width or COMMAND.search(line) or max(map(len, line.split())) > width - 15, line


def test_commands_are_whole_and_a_here_document_stands_at_the_margin() -> None:
    text = report(*story(), width=40)
    assert "sed -i '14s/c 508:/c 511:/' /etc/pve/lxc/101.conf\n" in text
    document = text[text.index("\ncat > "):]
    assert "\nEOF\nsystemctl daemon-reload\n" in document
    for address in GPUS:
        assert f"setpci -s {address} CAP_EXP+8.w=5000:7000\n" in text


def test_what_a_terminal_would_obey_is_shown() -> None:
    evil = "\x1b[2J\x07\r\nEXIT 0\u202e"
    before, after = lxc(508), lxc(508)
    after["containers"]["101"]["hostname"] = evil
    text = report(snapshot({"lxc": before}), snapshot({"lxc": after}))
    assert "\\x1b[2J\\x07\\r\\nEXIT 0\\u202e" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_bytes_that_are_no_text_are_shown() -> None:
    before, after = ({"values": {"kernel.x": value}} for value in ("a", "b\udcff"))
    text = report(snapshot({"sysctl": before}), snapshot({"sysctl": after}))
    assert "\\udcff" in text and text.encode()


def test_colour_only_ranks() -> None:
    found = review(*story(), "pre", "now")
    painted = render_text(found, color=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render_text(found)
    assert "\x1b[1;31mCRITICAL" in painted and "\x1b[1;33mHIGH" in painted
    assert "\x1b" not in render_text(found)


def test_within_one_boot_nobody_speaks_of_a_reboot() -> None:
    before, after = (snapshot({"pci": pci(size)}, meta={"boot_id": "one"}) for size in (4096, 512))
    text = report(before, after)
    assert "same boot" in text and "boot" not in text.lower().replace("same boot", "")


def test_the_numbers_add_up_in_words() -> None:
    text = report(story()[0], without_root())
    words = r"Compared (\d+) facts in .*: (\d+) same, (\d+) changed, (\d+) not comparable"
    found = re.search(words, " ".join(text.split()))
    assert found
    total, *parts = map(int, found.groups())
    assert total == sum(parts) > 0


def test_another_host_is_the_first_thing_said_and_its_boot_is_no_reboot() -> None:
    here, there = (snapshot({"pci": pci(size)}, meta={"host": name, "boot_id": name, "machine": name[-1] * 32})
                   for name, size in (("pve1", 4096), ("pve2", 512)))
    text = report(here, there)
    assert text.index("Warning: two machines, pve1 before and pve2 after") < text.index("REGRESSED")
    assert "boot" not in text.replace("systemctl", "")


def test_the_counts_above_and_below_are_the_same_number_or_say_why_not() -> None:
    text = " ".join(report(*story(), everything=True).split())
    others, shown = re.search(r"(\d+) other changes", text), re.search(r"(\d+) changes in the findings above", text)
    assert others and shown and int(others[1]) + int(shown[1]) == 22
    assert f"22 changed ({shown[1]} of them in the findings above), 0 not comparable" in text
    gone = snapshot({"pci": {"functions": {}}}, files={"/a": "1"})
    text = " ".join(report(snapshot({"pci": pci(512)}, files={"/a": "2"}), gone).split())
    assert text.count("(7 facts)") == 8 and "8 changes and 1 file" in text
    assert "56 changed (8 changes)" in text


def test_sections_that_nobody_asked_for_are_one_line() -> None:
    only = snapshot({"pci": pci(512)}, states={"lxc": "skipped", "os": "skipped"})
    text = report(snapshot({"pci": pci(512), "lxc": lxc(508)}, states={"os": "skipped"}), only)
    assert text.count("Not comparable") == 2 and "lxc (" in text


def test_hundreds_that_only_root_may_read_are_one_line() -> None:
    addresses = [f"0000:{bus:02x}:00.0" for bus in range(220)]
    bare = {a: {k: v for k, v in gpu(0).items() if k != "express"} for a in addresses}
    poor = snapshot({"pci": {"functions": bare}}, meta={"uid": 1000}, why="needs root",
                    unread={"pci": [["functions", a, "express"] for a in addresses[:218]]})
    text = report(poor, snapshot({"pci": pci(512, addresses)}))
    assert "218 of 220: 0000:00:00.0 0000:01:00.0 0000:02:00.0 0000:03:00.0 and 214" in text
    assert "before: pci.functions.*.express: needs root (/src)\n" in text
    assert "Before was taken without root, which leaves out pci (express of 218 functions)." in " ".join(text.split())
    assert len(text.splitlines()) < 30


def test_many_that_moved_and_are_unknown_for_one_reason_are_one_line() -> None:
    before, after = ([f"0000:{bus + at:02x}:00.0" for bus in range(0, 200, 2)] for at in (0, 1))
    bare = {a: {k: v for k, v in gpu(0, serial=str(at)).items() if k != "express"} for at, a in enumerate(before)}
    poor = snapshot({"pci": {"functions": bare}}, unread={"pci": [["functions", a, "express"] for a in before]})
    found = {a: gpu(512, serial=str(at)) for at, a in enumerate(after)}
    text = report(poor, snapshot({"pci": {"functions": found}}))
    assert "100 of 100: " in text and text.count("before: pci.functions.*.express: EACCES") == 1


def test_what_a_container_is_warned_of_twice_is_said_once_and_for_each_container() -> None:
    conf = [rule(14, "c 508:* rwm"), rule(15, "c 507:* rwm"), *(mount(16 + at, path) for at, path in enumerate(
        ("/dev/nvidia-uvm", "/dev/nvidia-caps/nvidia-cap1")))]
    sections = [made.lxc(made.part(*conf)) for _ in range(2)]
    for section in sections:
        section["containers"]["102"] = section["containers"]["101"] | {"hostname": "two"}
    before, after = (made.snapshot(devices=made.devices(uvm, caps), lxc=section)
                     for uvm, caps, section in ((508, 507, sections[0]), (511, 510, sections[1])))
    text = " ".join(report(before, after).split())
    assert text.count("cannot open") == 4
    assert text.count("beside devN container 101") == text.count("beside devN container 102") == 1
    assert text.count("as for [1]") >= 2
