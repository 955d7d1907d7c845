"""The trail of a finding on paper: what is meant, what was met, and what to say of a rule that is silent."""

from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from snapshot.engine.settings import Waiver
from snapshot.errors import SnapError
from snapshot.report.explain import render_explain
from snapshot.report.groups import about, called
from snapshot.report.review import Review
from tests.pairs import GPUS, devices, gpu, lxc, pci, snapshot, story
from tests.report.made import review

from .made import KERNEL, finding, judged

MAX = "pcie.maxreadreq-reverted"
STORY = review(*story(), "pre", "now", rules=[*review(*story()).rules, KERNEL],
               waivers=[Waiver(rule=MAX, subject=GPUS[1], reason="it is so", by="ops")])


def one_line(text: str) -> str:
    return " ".join(text.split())


def poor(allow: tuple[str, ...] = ()) -> Review:
    """After without config space of one function."""
    bare = {GPUS[0]: {key: value for key, value in gpu(0).items() if key != "express"}} | pci(4096)["functions"]
    bare[GPUS[0]].pop("express", None)
    after = snapshot({"pci": {"functions": bare}}, unread={"pci": [["functions", GPUS[0], "express"]]})
    return review(snapshot({"pci": pci(4096)}), after, "pre", "now", allow_unknown=allow)


def without_rows(text: str) -> str:
    """The text without what derived rows hold, which other tests look at."""
    return re.sub(r"(  row .*:\n)(?:    .*\n)+", r"\1    ...\n", text)


def test_a_state_rule(golden: SnapshotAssertion) -> None:
    assert without_rows(render_explain(STORY, "lxc.device-major-stale 101 /dev/nvidia-uvm")) == golden


def test_facts_of_two_sides(golden: SnapshotAssertion) -> None:
    assert without_rows(render_explain(STORY, f"{MAX} {GPUS[2]}")) == golden


def test_a_derived_row_is_shown_as_it_was_on_each_side_without_what_is_said_below() -> None:
    text = render_explain(STORY, "lxc.device-major-stale 101 /dev/nvidia-uvm")
    assert text.count("  row '101 /dev/nvidia-uvm' of device_access:\n    container          101\n") == 2
    assert "    major              511\n" in text and "    major              508\n" in text
    assert "    rules              file /etc/pve/lxc/101.conf, line 14, text\n" in text
    assert text.count("sed -i '14s/c 508:/c 511:/'") == 1


def test_what_is_missing(golden: SnapshotAssertion) -> None:
    assert render_explain(poor(("pci",)), MAX) == golden


@pytest.mark.parametrize("width", [40, 60])
def test_narrow_terminals(width: int) -> None:
    for line in render_explain(poor(), MAX, width).splitlines():
        assert len(line) <= width or max(map(len, line.split())) > width - 15, line


def test_number_rule_and_subject_mean_the_same() -> None:
    by_number = render_explain(STORY, "1")
    assert by_number == render_explain(STORY, "lxc.device-major-stale")
    assert "The same for: 101 /dev/nvidia-uvm-tools" in by_number
    assert render_explain(STORY, f"{MAX} 0000:01") == render_explain(STORY, f"{MAX} {GPUS[0]}")


def test_findings_of_one_rule_that_are_not_alike_are_listed() -> None:
    text = one_line(render_explain(STORY, MAX))
    assert f"{MAX} has 2 findings that are not alike. Name the subject or number of one:" in text
    assert f"high 7 GPUs: PCIe MaxReadReq 4096 -> 512 bytes: {GPUS[0]}, {GPUS[2]}" in text
    assert f"high GPU {GPUS[1]}: PCIe MaxReadReq 4096 -> 512 bytes: {GPUS[1]} [4]" in text


def test_cause_and_waiver_are_said() -> None:
    text = render_explain(STORY, f"{MAX} {GPUS[1]}")
    assert "  likely cause: kernel 6.8.12-9-pve -> 6.14.11-1-pve [3]\n  accepted: it is so (by ops)\n" in text
    assert "it is mended" not in text


def test_one_snapshot_has_no_before() -> None:
    text = render_explain(review(None, story()[1], "", "now"), "1")
    assert "It fails:" in text and "Before" not in text and "new:" not in text and "before already" not in text


def test_a_rule_that_passes_on_an_item_is_explained_too() -> None:
    equal = snapshot({"pci": pci(512)})
    found = review(equal, equal)
    assert f"it looked at 8 items: PCIe MaxReadReq is lower than before {MAX}" in one_line(render_explain(found, MAX))
    text = render_explain(found, f"{MAX} 41:00.0")
    assert f"NOTHING   nothing to say of {GPUS[2]}" in text and "It passes:" in text and "    yes  driver is" in text
    names = f"{', '.join(GPUS[:4])} and 4 more".replace(".", r"\.")
    with pytest.raises(SnapError, match=rf"looks at nothing that is called 'ff:00\.0'; there is {names}$"):
        render_explain(found, f"{MAX} ff:00.0")
    with pytest.raises(SnapError, match=rf"looks at 8 that are called '0000': {names}$"):
        render_explain(found, f"{MAX} 0000")


def test_a_finding_is_meant_by_a_part_of_what_the_report_calls_it() -> None:
    lost = finding("nvidia.xid", subject="GPU-5 79").copy(part="0000:a1:00.0")
    assert about([lost], "a1:00.0") == about([lost], "a1") == about([lost], "GPU-5") == [lost]
    assert about([lost], "e1:00.0") == []
    assert called(lost) == "GPU-5 79 (0000:a1:00.0)"
    assert called(finding("a.b", subject="101 /dev/a").copy(part="/dev/a")) == "101 /dev/a"


def test_a_resolved_one_says_what_had_to_be_in_order_besides() -> None:
    before, after = (snapshot({"devices": devices(511), "lxc": lxc(major)}) for major in (508, 511))
    text = render_explain(review(before, after, "pre", "now"), "lxc.device-major-stale 101 /dev/nvidia-uvm")
    assert "resolved: it failed before only" in text and "  it is mended only if also\n    yes  access is not" in text
    assert "After (now) it passes:" in text and "Before (pre) it fails:" in text


def test_why_a_rule_says_nothing_is_said() -> None:
    assert "not applied: there is no such thing here" in one_line(
        render_explain(review(None, snapshot({"devices": devices(511), "lxc": {"containers": {}}})),
                       "lxc.device-major-stale"))
    assert "rules of scope change are not applied here" in one_line(render_explain(review(None, snapshot({})), MAX))


def test_a_finding_without_a_rule_has_no_trail() -> None:
    text = render_explain(judged([finding("meta.waiver-unused", "low", why=["Remove it."])]), "meta.waiver-unused")
    assert "Remove it." in text and "The rule" not in text


@pytest.mark.parametrize(("key", "fault"), [
    ("99", "there is no finding 99: the report has 4"), ("0", "there is no finding 0"),
    ("pcie.maxreadreq", f"there is no rule 'pcie.maxreadreq': did you mean '{MAX}'?"), ("", "there is no rule ''"),
])
def test_what_means_nothing_is_an_error(key: str, fault: str) -> None:
    with pytest.raises(SnapError) as error:
        render_explain(STORY, key)
    assert str(error.value).startswith(fault)


def test_values_of_a_snapshot_are_shown_and_not_obeyed() -> None:
    evil = "\x1b[2J\n"
    before, after = ({"pci": pci(size, name=evil)} for size in (4096, 512))
    text = render_explain(review(snapshot(before), snapshot(after)), MAX)
    assert "\\x1b[2J\\n" in text and all(line.isprintable() for line in text.split("\n"))
