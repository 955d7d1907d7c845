"""Lines of the administrator's that lose, and those that are nobody's."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.tunables.sysctl_conflicts import sysctl_conflicts

from ...pairs import snapshot

KEY = "vm.swappiness"


def line(file: str, value: str = "10", **more: Any) -> dict[str, Any]:
    return {"value": value, "origin": {"file": file, "line": 1, "text": f"{KEY}={value}"}} | more


def rows(winner: dict[str, Any] | None, *lost: dict[str, Any], live: int = 60) -> dict[str, Any]:
    setting = {"overridden": [*lost]} | ({"systemd": winner} if winner else {})
    return sysctl_conflicts(snapshot({"sysctl": {"values": {KEY: live}, "settings": {KEY: setting}}}), None).rows


@pytest.mark.parametrize(
    ("winner", "vendor"),
    [("/usr/lib/sysctl.d/60-v.conf", True), ("/etc/sysctl.d/99-sysctl.conf", True), ("/run/sysctl.d/9.conf", True),
     ("/etc/sysctl.d/90-b.conf", False)],
)
def test_vendor(winner: str, vendor: bool) -> None:
    row = rows(line(winner, "60"), line("/etc/sysctl.d/10-mine.conf"))[KEY]
    assert (row["vendor"], row["differs"], row["lost_value"], row["follows_lost"]) == (vendor, True, "10", False)


@pytest.mark.parametrize(
    "lost",
    [line("/usr/lib/sysctl.d/50-v.conf"), line("/etc/sysctl.d/10-magic-sysrq.conf"),
     line("/etc/sysctl.d/10-mine.conf", pattern="vm.*"), line("/etc/sysctl.d/90-b.conf"), line("/proc/cmdline")],
)
def test_nobodys(lost: dict[str, Any]) -> None:
    assert rows(line("/etc/sysctl.d/90-b.conf", "60"), lost) == {}


def test_sysctl_conf_and_its_link_are_one_file() -> None:
    assert rows(line("/etc/sysctl.d/99-sysctl.conf", "60"), line("/etc/sysctl.conf")) == {}


def test_the_last_line_that_differs_is_told_and_equal_ones_agree() -> None:
    lost = [line("/etc/sysctl.d/1.conf", "20"), line("/etc/sysctl.d/2.conf", "0x3c")]
    row = rows(line("/etc/sysctl.d/9.conf", "60"), *lost, live=20)[KEY]
    assert (row["lost_value"], row["follows_lost"]) == ("20", True)
    assert rows(line("/etc/sysctl.d/9.conf", "60"), lost[1])[KEY]["differs"] is False


def test_no_winner_and_not_read() -> None:
    assert rows(None, line("/etc/sysctl.d/1.conf")) == {}
    lost = snapshot({"sysctl": {"values": {}}}, unread={"sysctl": [["settings"]]})
    assert [gap["why"] for gap in sysctl_conflicts(lost, None).unknown] == ["EACCES"]
