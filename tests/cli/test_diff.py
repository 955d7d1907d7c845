"""snap diff: every pair of fixtures/pairs as a user sees it, and the ways to name two sides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from ..recordings import FIXTURES, PAIRS, pair, taken
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


@pytest.fixture
def rebooted(snap: Snap, monkeypatch: pytest.MonkeyPatch) -> Snap:
    """The command on the story's host after the reboot; the store has what was taken before, and once since."""
    monkeypatch.setattr("snapshot.cli.arguments.this_host", lambda: "pve1")
    monkeypatch.setattr("snapshot.cli.arguments.live", lambda: taken("pve-epyc-after.tar.xz"))
    for host, label in (("pve-epyc-before.tar.xz", "pre"), ("pve-epyc-after.tar.xz", "since")):
        assert snap("take", label, "--root", str(FIXTURES / "hosts" / host)).code == 0
    return snap


def test_one_snapshot_is_compared_with_this_host_now(rebooted: Snap) -> None:
    ended = rebooted("diff", "pre")
    assert ended.code == 1
    assert ended.out.startswith("pve1  pre (6.8.12-9-pve, ")
    assert "->  now (6.14.11-1-pve, " in ended.out
    assert rebooted("diff", "since").code == 0


def test_without_a_snapshot_the_last_one_of_the_previous_boot_is_meant(rebooted: Snap) -> None:
    ended = rebooted("diff")
    assert ended.code == 1
    assert ended.out.startswith("pve1  pre (6.8.12-9-pve, ")


def test_one_that_cannot_be_read_is_passed_over_with_a_word(rebooted: Snap, store: Path) -> None:
    (store / "pve1" / "20991231T000000Z-broken.snap.toml").write_text("[meta")
    ended = rebooted("diff")
    assert ended.code == 1
    assert "passed over" in ended.err


def test_no_earlier_boot_is_one_line(rebooted: Snap, store: Path) -> None:
    for path in store.rglob("*-pre.snap.toml"):
        path.unlink()
    ended = rebooted("diff")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "no snapshot of an earlier boot of pve1" in ended.err


def test_standard_input_can_be_one_side_only(rebooted: Snap) -> None:
    assert rebooted("diff", "-", "-").code == 2
