"""snap take -v: how each section went."""

from __future__ import annotations

import tomllib
from pathlib import Path

from .command import Snap
from .test_take import SMALL


def test_each_section_and_the_slowest_stand_above_the_summary(snap: Snap, tmp_path: Path) -> None:
    lines = snap("take", "-v", "--root", SMALL, "--only", "os,lxc", "-o", str(tmp_path / "x.toml")).out.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["ok", "os"], ["ok", "lxc"]]
    assert lines[2].startswith("  slowest: ")
    assert lines[3].startswith("Recorded small")


def test_a_snapshot_on_standard_output_stays_alone_there(snap: Snap) -> None:
    ended = snap("take", "-v", "--root", SMALL, "--only", "os", "-o", "-")
    assert tomllib.loads(ended.out)["meta"]["host"] == "small"
    assert "slowest: os" in ended.err
