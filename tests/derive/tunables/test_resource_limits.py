"""Which limits are lower than before, however they are spelled."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.tunables.resource_limits import resource_limits
from snapshot.document import Snapshot

from ...pairs import snapshot

UNIT = "serve.service"


def origin(text: str) -> dict[str, Any]:
    return {"file": "/etc/x.conf", "line": 1, "text": text}


def unit(value: str | None) -> Snapshot:
    limits = {"LimitNOFILE": {"value": value, "origin": origin("x")}} if value else {}
    return snapshot({"units": {"units": {UNIT: {"state": "enabled", "limits": limits}}}})


@pytest.mark.parametrize(
    ("then", "now", "lower"),
    [
        ("infinity", "1048576", True), ("1M", "1048576", False), ("1048577", "1M", True), ("1024:524288", "1024", True),
        ("1024", "1024:524288", False), ("65536", "infinity", False), ("nonsense", "1", False), ("1024", None, True),
    ],
)
def test_lower(then: str, now: str | None, lower: bool) -> None:
    assert resource_limits(unit(now), unit(then)).rows[f"unit {UNIT} LimitNOFILE"]["lower"] is lower


def test_a_unit_that_is_gone_has_no_limits_and_a_new_one_no_past() -> None:
    none = snapshot({"units": {"units": {}}})
    assert resource_limits(none, unit("1024")).rows == {}
    assert resource_limits(unit("1024"), none).rows[f"unit {UNIT} LimitNOFILE"]["lower"] is False


def sessions(*lines: tuple[str, str]) -> Snapshot:
    told = [{"domain": "*", "type": kind, "item": "memlock", "value": value, "origin": origin(f"{kind} {value}")}
            for kind, value in lines]
    return snapshot({"units": {"units": {}, "limits": {"sessions": told}}})


def test_the_last_line_counts_and_a_dash_is_both() -> None:
    rows = resource_limits(sessions(("-", "unlimited"), ("soft", "64")), sessions(("-", "unlimited"))).rows
    assert {key: row["lower"] for key, row in rows.items()} == {
        "session * hard memlock": False, "session * soft memlock": True}


def test_locked_memory_of_pid_1_moves_a_little() -> None:
    def init(value: str) -> Snapshot:
        return snapshot({"units": {"units": {}, "limits": {"init_memlock": {"soft": value, "hard": value}}}})

    assert resource_limits(init("127029248"), init("127705088")).rows["PID 1 memlock"]["lower"] is False
    assert resource_limits(init("127029248"), init("unlimited")).rows["PID 1 memlock"]["lower"] is True


def test_what_was_not_read() -> None:
    lost = snapshot({"units": {"units": {}}}, unread={"units": [["limits"]]})
    assert [gap["subject"] for gap in resource_limits(lost, unit("1")).unknown] == [""]
    row = resource_limits(unit("1"), lost).rows[f"unit {UNIT} LimitNOFILE"]
    assert row["unknown"]["lower"]["why"] == "EACCES" and "lower" not in row


def init(nofile: str | None, **more: Any) -> Snapshot:
    own = {"init_nofile": {"soft": nofile, "hard": nofile}} if nofile else {}
    return snapshot({"units": {"units": {}, "limits": own}}, **more)


def test_limits_of_pid_1_that_were_not_read_are_not_lower() -> None:
    hidden = init(None, unread={"units": [["limits", "init_nofile"]]})
    found = resource_limits(hidden, init("1024"))
    assert not found.rows and [gap["subject"] for gap in found.unknown] == ["PID 1 nofile"]
    assert resource_limits(init("1024"), hidden).rows["PID 1 nofile"]["unknown"].keys() == {"lower"}


def test_limits_of_a_unit_of_which_not_all_was_read_are_not_gone() -> None:
    half = snapshot({"units": {"units": {UNIT: {"state": "enabled"}}}}, unread={"units": [["units", UNIT]]})
    found = resource_limits(half, unit("1024"))
    assert not found.rows and [gap["subject"] for gap in found.unknown] == [f"unit {UNIT} LimitNOFILE"]
