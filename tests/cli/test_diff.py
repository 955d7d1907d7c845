"""snap diff: every pair of fixtures/pairs as a user sees it, and the ways to name two sides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from ..recordings import PAIRS, pair, taken
from .command import Snap


@pytest.fixture
def sides(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The files of both sides of the pair that the parameter names."""
    for snapshot, name in zip(pair(request.param), ("before", "after"), strict=True):
        snapshot.save(str(tmp_path / f"{name}.snap.toml"))
    return str(tmp_path / "before.snap.toml"), str(tmp_path / "after.snap.toml")


@pytest.mark.parametrize("sides", PAIRS, indirect=True)
def test_text(snap: Snap, sides: tuple[str, str], tmp_path: Path, golden: SnapshotAssertion) -> None:
    assert snap("diff", *sides).golden().replace(str(tmp_path), "TMP") == golden


@pytest.mark.parametrize("sides", PAIRS, indirect=True)
def test_json(snap: Snap, sides: tuple[str, str], tmp_path: Path, golden: SnapshotAssertion) -> None:
    ended = snap("diff", *sides, "-f", "json")
    assert json.loads(ended.out)["exit_code"] == ended.code
    assert ended.golden().replace(str(tmp_path), "TMP") == golden


@pytest.mark.parametrize("host", sorted({h for p in PAIRS for h in ("pve-small",)}))
def test_a_snapshot_and_itself(snap: Snap, tmp_path: Path, host: str) -> None:
    path = str(tmp_path / "x.snap.toml")
    taken(host).save(path)
    found = json.loads(snap("diff", path, path, "-f", "json").out)
    assert found["changes"] == []
