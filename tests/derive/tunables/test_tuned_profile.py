"""The active profile of tuned on both sides."""

from __future__ import annotations

from snapshot.derive.tunables.tuned_profile import tuned_profile
from snapshot.document import Snapshot

from ...pairs import snapshot


def host(*active: str) -> Snapshot:
    return snapshot({"units": {"units": {}, "tuned": {"active": [*active]}}})


BARE = snapshot({"units": {"units": {}}})
LOST = snapshot({"units": {"units": {}}}, unread={"units": [["tuned"]]})


def test_another_profile() -> None:
    assert tuned_profile(host("b"), host("a", "x y")).rows["profile"] == {
        "installed": True, "profile": "b", "before": "a x y", "changed": True, "now": ["tuned-adm profile a 'x y'"]}


def test_none_any_more() -> None:
    assert "profile" not in tuned_profile(host(), host("a")).rows["profile"]
    assert tuned_profile(BARE, host("a")).rows["profile"]["installed"] is False


def test_no_comparison_without_a_profile_before() -> None:
    assert "changed" not in tuned_profile(host("a"), host()).rows["profile"]
    assert tuned_profile(BARE, BARE).rows == {} and "changed" not in tuned_profile(host("a"), None).rows["profile"]


def test_what_was_not_read() -> None:
    assert [gap["subject"] for gap in tuned_profile(LOST, host("a")).unknown] == [""]
    assert tuned_profile(host("a"), LOST).rows["profile"]["unknown"]["changed"]["why"] == "EACCES"
