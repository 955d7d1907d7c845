"""The report that programs read."""

from __future__ import annotations

import json
from typing import Any

from syrupy.assertion import SnapshotAssertion

from snapshot import __version__
from snapshot.diff.pattern import Pattern
from snapshot.diff.selection import Selection
from snapshot.diff.tolerance import Tolerance
from snapshot.document import Snapshot
from snapshot.engine.settings import Waiver
from snapshot.report.as_json import render_json
from tests.pairs import lxc, snapshot, story
from tests.report.made import review

from .made import KERNEL


def report(before: Snapshot | None, after: Snapshot, **more: Any) -> Any:
    return json.loads(render_json(review(before, after, "pre", "now", **more)))


def test_its_form(golden: SnapshotAssertion) -> None:
    before, after = (snapshot({"lxc": lxc(508)}, meta={"boot_id": boot}, files={"/etc/x": boot}) for boot in ("a", "b"))
    text = render_json(review(before, after, "pre", "now"))
    assert text.replace(f'"tool": "{__version__}"', '"tool": "VERSION"') == golden


def test_the_story() -> None:
    found = report(*story())
    assert (found["exit_code"], len(found["findings"]), found["unknown"]) == (1, 10, [])
    assert found["before"]["name"] == "pre" and found["after"]["meta"]["kernel"] == "6.14.11-1-pve"
    counts = found["counts"]
    assert counts["facts"] == counts["same"] + counts["changed"] + counts["not_comparable"]
    assert sum(change["facts"] for change in found["changes"]) == counts["changed"]
    assert {change["state"] for change in found["changes"]} == {"added", "changed"}


def test_what_is_unknown_is_there_with_its_reason() -> None:
    found = report(story()[0], snapshot({}, states={"pci": "timeout"}), allow_unknown=["lxc"])
    allowed = {finding["rule"]: finding["allowed"] for finding in found["unknown"]}
    assert allowed == {"lxc.device-major-stale": True, "pcie.maxreadreq-reverted": False}
    assert found["unknown"][1]["evidence"] == [{"path": ["pci"], "side": "after", "why": "timeout: because"}]
    assert found["exit_code"] == 3


def test_one_snapshot_alone_has_no_diff() -> None:
    found = report(None, story()[1])
    assert found["before"] is None and "changes" not in found
    assert {finding["class"] for finding in found["findings"]} == {"existing"}


def test_bytes_that_are_no_text_and_floats_that_are_no_json_come_through() -> None:
    before, after = (snapshot({"sysctl": {"values": {"x": value}}}) for value in ("a", "b\udcff"))
    assert report(before, after)["changes"][0]["after"] == "b\udcff"


def test_causes_and_what_counts() -> None:
    every = report(*story(), rules=[*review(*story()).rules, KERNEL])["findings"]
    found = {finding["rule"]: finding for finding in every}
    assert found["lxc.device-major-stale"]["cause"] == ["kernel.release-changed", ""]
    assert found["lxc.device-major-stale"]["caused_by"] == "kernel 6.8.12-9-pve -> 6.14.11-1-pve"
    assert all(finding["counts"] for finding in found.values())


def test_waivers_with_what_they_accept() -> None:
    given = [Waiver(rule="pcie.maxreadreq-reverted", reason="so"),
             Waiver(path="sysctl.values.net.core.key3", reason="so"),
             Waiver(rule="pcie.maxreadreq-reverted", subject="x", reason="so", by="ops")]
    found = report(*story(), waivers=given)
    rule, path, none = found["waivers"]
    assert (rule["state"], len(rule["findings"]), rule["changes"]) == ("used", 8, [])
    assert (path["state"], path["changes"]) == ("used", [["sysctl", "values", "net.core.key3"]])
    assert none == {"rule": "pcie.maxreadreq-reverted", "subject": "x", "reason": "so", "by": "ops", "state": "unused",
                    "findings": [], "changes": []}
    waived = [finding for finding in found["findings"] if "waived_by" in finding]
    assert len(waived) == 8 and not any(finding["counts"] for finding in waived)


def test_what_was_left_out_is_there_with_its_patterns() -> None:
    wanted = Selection(ignore=(Pattern.parse("sysctl.values.net.core.key3"), Pattern.parse("-irq")),
                       tolerances=(Tolerance.parse("sysctl.values.net.core.key11", "10%"),))
    found = report(*story(), selection=wanted)
    assert found["selection"] == {"ignore": ["sysctl.values.net.core.key3", "-irq"], "show_volatile": False,
                                  "tolerances": ["sysctl.values.net.core.key11=10%"]}
    assert found["unused_patterns"] == ["-irq"]
    assert (found["counts"]["ignored"], found["counts"]["within"]) == (1, 1)


def test_rules_that_had_nothing_to_say() -> None:
    found = report(None, snapshot({"lxc": {"containers": {}}, "devices": {"character": {}, "block": {}, "nodes": {}}}))
    assert found["not_applicable"] == {"lxc.device-major-stale": "there is no such thing here"}
    assert report(story()[0], story()[0])["passed_rules"] == ["lxc.device-major-stale", "pcie.maxreadreq-reverted"]


def test_which_way_a_version_went() -> None:
    found = report(*story())
    assert {change["path"][-1]: change.get("direction") for change in found["meta"]}["kernel"] == "up"
