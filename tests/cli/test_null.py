"""snap diff --null: what changes though nobody changed anything."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from snapshot.engine.packs import shipped

from ..pairs import devices, lxc, pci, snapshot
from .command import Snap

RULES = ("pcie.maxreadreq-reverted", "lxc.device-major-stale")
META = {"boot_id": "one", "taken": "2026-01-01T00:00:00Z"}


def save(name: str, sysctl: Mapping[str, int], read_request: int = 512, meta: Mapping[str, Any] | None = None) -> None:
    values = {"net.core.key": 1, "vm.swappiness": 60} | dict(sysctl)
    tables: Mapping[str, Mapping[str, Any]] = {
        "sysctl": {"values": values}, "pci": pci(read_request), "devices": devices(511), "lxc": lxc(511),
    }
    snapshot(tables, meta=META | dict(meta or {})).save(name)


@pytest.fixture(autouse=True)
def two_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rules are shipped, of which none reads a sysctl: that others do is no matter here."""
    two = tuple(rule for rule in shipped() if rule.id in RULES and rule.scope != "forecast")
    monkeypatch.setattr("snapshot.engine.packs.shipped", lambda: two)


@pytest.fixture
def captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two of one boot: a sysctl that nothing judges moved, and MaxReadReq, which a rule judges."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAP_CONFIG", raising=False)
    save("a.toml", {"net.core.key": 1})
    save("b.toml", {"net.core.key": 2}, 256, {"taken": "2026-01-01T00:00:09Z"})
    return "a.toml", "b.toml"


def test_it_learns_what_no_rule_judges_and_says_what_it_does_not(snap: Snap, captures: tuple[str, str]) -> None:
    ended = snap("diff", "--null", *captures)
    assert ended.code == 0
    assert tomllib.loads(ended.out) == {"volatile": {"add": ["sysctl.values.net.core.key"]}}
    assert "a.toml" in ended.out.partition("[volatile]")[0]
    told = ended.err.splitlines()
    assert len(told) == 8
    assert all(line.startswith("Not learnt, because a rule reads it: ") for line in told)
    assert "max_read_request_bytes" in told[0] and "512 -> 256" in told[0]


def test_a_file_of_it_makes_the_next_comparison_quiet(snap: Snap, captures: tuple[str, str]) -> None:
    assert "net.core.key" in snap("diff", *captures, "--all").out
    ended = snap("diff", "--null", *captures, "-o", "volatile.toml")
    assert (ended.code, ended.out) == (0, "")
    Path("snap.toml").write_text("")
    assert "net.core.key" not in snap("diff", *captures, "--all").out
    assert "net.core.key" in snap("diff", *captures, "--all", "--volatile").out
    assert snap("diff", "--null", *captures).out == Path("volatile.toml").read_text()


def test_a_fact_that_a_pack_judges_is_not_learned(snap: Snap, captures: tuple[str, str]) -> None:
    Path("made.toml").write_text(snap("rules", "new", "made.one").out.replace('"vm.swappiness"]', '"net.core.key"]'))
    ended = snap("diff", "--null", *captures, "--rules", "made.toml")
    assert tomllib.loads(ended.out) == {"volatile": {"add": []}}
    assert "net.core.key" in ended.err
    Path("snap.toml").write_text('[rules]\npacks = ["packs"]\ndisable = ["made.one"]\n')
    Path("packs").mkdir()
    Path("made.toml").rename("packs/made.toml")
    assert "net.core.key" in snap("diff", "--null", *captures).err


def test_what_a_derived_table_reads_is_judged_too(snap: Snap, captures: tuple[str, str]) -> None:
    moved = snapshot({"sysctl": {"values": {"net.core.key": 1, "vm.swappiness": 60}}, "pci": pci(512),
                      "devices": devices(511, nvidia_caps=240), "lxc": lxc(511)}, meta=META)
    moved.save("b.toml")
    ended = snap("diff", "--null", *captures)
    assert tomllib.loads(ended.out) == {"volatile": {"add": []}}
    assert "devices.character.nvidia-caps" in ended.err


@pytest.mark.parametrize(("meta", "said"), [
    ({"kernel": "6.14.11-1-pve"}, "two kernels"), ({"host": "pve2"}, "two machines"), ({"redacted": True}, "redacted"),
])
def test_captures_that_are_none_teach_nothing(
    snap: Snap, captures: tuple[str, str], meta: dict[str, Any], said: str
) -> None:
    save("b.toml", {}, meta=meta)
    ended = snap("diff", "--null", *captures, "-o", "volatile.toml")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert said in ended.err
    assert not Path("volatile.toml").exists()


def test_two_boots_are_a_warning(snap: Snap, captures: tuple[str, str]) -> None:
    save("b.toml", {"net.core.key": 2}, meta={"boot_id": "two"})
    ended = snap("diff", "--null", *captures)
    assert ended.code == 0
    assert ended.err.startswith("Warning: they are of two boots")


@pytest.mark.parametrize(("argv", "said"), [
    (("--null", "-f", "json"), "leave --format out"), (("--null", "--fail-on", "low"), "leave --fail-on out"),
    (("--null", "--ignore", "pci"), "leave --ignore out"), (("--null", "--all"), "leave --all out"),
    (("-o", "x"), "-o is for --null"), (("--null", "-o", ""), "-o needs a file"),
])
def test_options_that_do_not_go_together(
    snap: Snap, captures: tuple[str, str], argv: tuple[str, ...], said: str
) -> None:
    ended = snap("diff", *captures, *argv)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


@pytest.mark.parametrize("meta", [{"host": "\x1b[31m"}, {"kernel": "\x1b[31m"}, {"tool": "\x1b[31m"}])
def test_a_terminal_obeys_nothing_of_it(snap: Snap, captures: tuple[str, str], meta: Mapping[str, str]) -> None:
    save("b.toml", {"\x1b[31m": 2}, 256, meta)
    ended = snap("diff", "--null", *captures)
    assert "\x1b" not in ended.out + ended.err and "\\x1b[31m" in ended.err
