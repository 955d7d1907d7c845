"""snap explain: which finding is meant, and of which report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ..pairs import story
from .command import Snap

STALE, LOWER = "lxc.device-major-stale", "pcie.maxreadreq-reverted"


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The story's files in the current directory, in which no settings are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAP_CONFIG", raising=False)
    for side, name in zip(story(), ("pre.toml", "post.toml"), strict=True):
        side.save(name)
    return "pre.toml", "post.toml"


def test_each_finding_of_the_story_by_what_the_report_has_at_its_margin(snap: Snap, sides: tuple[str, str]) -> None:
    report = snap("diff", *sides).out
    found = re.findall(r" (\S+\.\S+) \[(\d+)\]$", report, re.MULTILINE)
    assert {rule for rule, _ in found} >= {STALE, LOWER}
    for rule, number in found:
        ended = snap("explain", number, *sides)
        assert ended.code == 0
        assert f"{rule} [{number}]" in ended.out and "passes if" in ended.out
    assert f"{LOWER} [" in snap("explain", LOWER, *sides).out


def test_it_says_which_snapshots_it_is_about(snap: Snap, sides: tuple[str, str]) -> None:
    lines = snap("explain", LOWER, *sides).out.splitlines()
    assert lines[0].startswith("pve1  pre.toml (") and lines[1].startswith("  ->  post.toml (")
    assert snap("explain", STALE, "post.toml").out.startswith("pve1  post.toml (6.14")


@pytest.mark.parametrize("finding", [f"{LOWER}:0000:21:00.0", f"{LOWER} 0000:21:00.0", f"{LOWER}:21:00"])
def test_one_of_several_by_its_subject_or_a_part(snap: Snap, sides: tuple[str, str], finding: str) -> None:
    ended = snap("explain", finding, *sides)
    assert ended.code == 0
    assert "GPU 0000:21:00.0: PCIe MaxReadReq 4096 -> 512 bytes" in ended.out
    assert "pci.functions.0000:21:00.0.express.max_read_request_bytes: 512" in ended.out


def test_a_subject_with_a_blank_and_colons(snap: Snap, sides: tuple[str, str]) -> None:
    assert "101.conf:14" in snap("explain", f"{STALE}:101 /dev/nvidia-uvm", *sides).out


def test_with_one_snapshot_it_is_the_finding_of_check(snap: Snap, sides: tuple[str, str]) -> None:
    assert "CRITICAL" in snap("explain", STALE, "post.toml").out
    assert "PASSED" in snap("explain", STALE, "pre.toml").out
    ended = snap("explain", LOWER, "post.toml")
    assert (ended.code, ended.out) == (2, "")
    assert f"{LOWER} is about two snapshots: give PRE and POST, which may be now" in ended.err


def test_without_a_snapshot_it_is_that_of_diff(
    snap: Snap, sides: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snapshot.cli.arguments.live", lambda: story()[1])
    monkeypatch.setattr("snapshot.cli.arguments.previous_boot", lambda _: story()[0])
    assert "PCIe MaxReadReq 4096 -> 512" in snap("explain", LOWER).out
    assert "PCIe MaxReadReq 4096 -> 512" in snap("explain", LOWER, "pre.toml", "now").out


@pytest.mark.parametrize(("finding", "said"), [
    ("pcie.maxread", f"there is no rule 'pcie.maxread'; did you mean '{LOWER}'?"), ("", "there is no rule ''"),
    ("99", "there is no finding 99"), ("٣", "there is no finding"),
    (f"{LOWER}:0000:99", "looks at nothing that is called '0000:99'"),
])
def test_what_is_not_there(snap: Snap, sides: tuple[str, str], finding: str, said: str) -> None:
    ended = snap("explain", finding, *sides)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err and "Traceback" not in ended.err


def test_settings_and_packs_count(snap: Snap, sides: tuple[str, str]) -> None:
    Path("snap.toml").write_text(f'[rules]\ndisable = ["{LOWER}"]\n[[waiver]]\nrule = "{STALE}"\nreason = "retired"\n')
    assert f"{LOWER} is disabled in snap.toml" in snap("explain", LOWER, *sides).err
    assert "accepted: retired" in snap("explain", STALE, "post.toml").out
    assert "accepted" not in snap("explain", STALE, "post.toml", "--config", "/dev/null").out
    Path("made.toml").write_text(snap("rules", "new", "made.one").out)
    assert "made.one" in snap("explain", "made.one", "post.toml", "--rules", "made.toml").out


def test_a_finding_about_a_waiver_has_no_rule(snap: Snap, sides: tuple[str, str]) -> None:
    Path("snap.toml").write_text(f'[[waiver]]\nrule = "{STALE}"\nreason = "retired"\nexpires = 2020-01-01\n')
    ended = snap("explain", "meta.waiver-expired", *sides)
    assert ended.code == 0
    assert "2020-01-01" in ended.out
