"""Exit codes: the same in every format."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.report.review import Review, review
from tests.pairs import devices, lxc, pci, snapshot, story

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
