"""The report that programs read."""

from __future__ import annotations

import json
from typing import Any

from syrupy.assertion import SnapshotAssertion

from snapshot import __version__
from snapshot.document import Snapshot
from snapshot.report.as_json import render_json
from snapshot.report.review import review
from tests.pairs import lxc, snapshot, story


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
