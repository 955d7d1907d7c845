"""Exit codes: the same in every format."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from snapshot.engine.settings import Waiver
from snapshot.report.review import Review
from tests.pairs import devices, lxc, pci, snapshot, story
from tests.report.made import review

BEFORE, AFTER = story()


def judged(after: Any = AFTER, before: Any = BEFORE, **more: Any) -> Review:
    return review(before, after, "pre", "now", **more)


def test_findings_are_1_and_none_are_0() -> None:
    assert judged().exit_code == 1
    assert judged(BEFORE).exit_code == 0


@pytest.mark.parametrize(("threshold", "code"), [("critical", 0), ("high", 1), ("medium", 1), ("info", 1)])
def test_the_threshold_decides(threshold: str, code: int) -> None:
    before, after = (snapshot({"pci": pci(s), "devices": devices(511), "lxc": lxc(511)}) for s in (4096, 512))
    assert judged(after, before, threshold=threshold).exit_code == code


def test_a_threshold_that_is_no_severity_is_an_error() -> None:
    with pytest.raises(ValueError, match="'awful' is no severity"):
        judged(BEFORE, threshold="awful")


def test_what_was_so_before_does_not_count_but_alone_it_does() -> None:
    stale = snapshot({"devices": devices(511), "lxc": lxc(508), "pci": pci(512)})
    assert judged(stale, stale).exit_code == 0
    assert judged(stale, stale).judgement.findings[0].class_ == "existing"
    assert judged(stale, None).exit_code == 1


@pytest.mark.parametrize(("allowed", "code"), [
    ((), 3), (("lxc",), 3), (("lxc", "pci"), 0), (("devices", "pcie.maxreadreq-reverted"), 0), (("sysctl",), 3),
])
def test_what_could_not_be_judged_is_3_unless_allowed(allowed: tuple[str, ...], code: int) -> None:
    assert judged(snapshot({}), allow_unknown=allowed).exit_code == code


def test_an_unknown_below_the_threshold_is_0() -> None:
    lost = snapshot({"devices": devices(508), "lxc": lxc(508)}, states={"pci": "timeout"})
    assert judged(lost).exit_code == 3
    assert judged(lost, threshold="critical").exit_code == 0


def test_a_finding_outranks_an_unknown() -> None:
    assert judged(snapshot({"devices": devices(511), "lxc": lxc(508)}, states={"pci": "timeout"})).exit_code == 1


def test_what_root_would_add_is_counted_by_side() -> None:
    meta = {"uid": 1000}
    poor = snapshot({"pci": pci(512)}, unread={"pci": [["functions", "x"]]}, states={"lxc": "denied"}, meta=meta)
    assert judged(poor).refused == {"after": {"lxc": [()], "pci": [("functions", "x")]}}
    assert judged(snapshot({"pci": pci(512)}, unread={"pci": [["functions", "x"]]})).refused == {}


def test_what_was_so_before_counts_if_asked_for() -> None:
    stale = snapshot({"devices": devices(511), "lxc": lxc(508), "pci": pci(512)})
    assert judged(stale, stale, fail_on_existing=True).exit_code == 1
    assert judged(fail_on_existing=True).counting == ("new", "existing")


@pytest.mark.parametrize(("waiver", "code"), [
    (Waiver(rule="pcie.maxreadreq-reverted", reason="so", expires="2026-01-02"), 0),
    (Waiver(rule="pcie.maxreadreq-reverted", reason="so", expires="2026-01-01"), 1),
    (Waiver(rule="pcie.maxreadreq-reverted", subject="0000:01:00.0", reason="one of eight"), 1),
])
def test_what_is_waived_does_not_count_until_the_waiver_ends(waiver: Waiver, code: int) -> None:
    before, after = (snapshot({"pci": pci(s), "devices": devices(511), "lxc": lxc(511)}) for s in (4096, 512))
    found = judged(after, before, waivers=[waiver], today=date(2026, 1, 2))
    assert found.exit_code == code
    assert [use.waiver for use in found.waivers] == [waiver]


def test_only_the_scopes_that_are_wanted_are_judged() -> None:
    found = judged(scopes=["state"])
    assert {finding.rule for finding in found.judgement.findings} == {"lxc.device-major-stale"}


def test_a_waiver_may_name_a_rule_that_is_known_and_not_applied() -> None:
    def waived(**more: Any) -> str:
        return judged(waivers=[Waiver(rule="x.y", reason="so")], **more).waivers[0].state

    assert (waived(), waived(known=["x.y"])) == ("unused", "undecided")


def test_rules_that_passed_are_those_with_nothing_to_say() -> None:
    assert judged(BEFORE).passed == ["lxc.device-major-stale", "pcie.maxreadreq-reverted"]
    assert judged().passed == []
    assert judged(snapshot({})).passed == []
