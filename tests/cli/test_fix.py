"""snap fix: the script for what diff, check and forecast find, and what of it is chosen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from snapshot.cli import arguments

from ..fix.machine import shellcheck
from ..pairs import snapshot, story
from ..recordings import PAIRS, pair
from .command import Ended, Snap


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The story's two files, in a directory without settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SNAP_CONFIG", "/dev/null")
    for side, name in zip(story(), ("a.toml", "b.toml"), strict=True):
        side.save(name)
    return "a.toml", "b.toml"


def rules(script: str) -> list[str]:
    """The rules of the blocks, in order."""
    return re.findall(r"^# ([a-z]+\.[a-z0-9-]+)  ", script, re.MULTILINE)


def test_the_story(snap: Snap, sides: tuple[str, str]) -> None:
    ended = snap("fix", *sides)
    assert ended.code == 0
    assert rules(ended.out)[0] == "lxc.device-major-stale"
    assert "pcie.maxreadreq-reverted" in rules(ended.out)
    assert "pct_set 101 -dev0 /dev/nvidia-uvm,mode=0666 -dev1 /dev/nvidia-uvm-tools,mode=0666 || return" in ended.out
    assert "#   sed -i '14s/c 508:/c 511:/' /etc/pve/lxc/101.conf" in ended.out
    assert "# pve1  a.toml (6.8.12-9-pve, 2026-11-29 21:40Z)" in ended.out


def test_now(snap: Snap, sides: tuple[str, str]) -> None:
    out = snap("fix", *sides, "--now").out
    assert "edit /etc/pve/lxc/101.conf - '14s/c 508:/c 511:/' \\\n    14 'lxc.cgroup2.devices.allow: c 508:* rw" in out
    assert "register 0000:01:00.0 CAP_EXP+8.w 5000 7000 || return" in out
    assert "\npct_set 101" not in out


def test_one_snapshot_is_judged_as_check_does(snap: Snap, sides: tuple[str, str]) -> None:
    found = rules(snap("fix", "b.toml").out)
    assert "lxc.device-major-stale" in found
    assert "pcie.maxreadreq-reverted" not in found


@pytest.mark.parametrize("word", ["pcie.maxreadreq-reverted", "pcie.maxreadreq-reverted:0000:01:00.0"])
def test_one_finding_can_be_chosen(snap: Snap, sides: tuple[str, str], word: str) -> None:
    out = snap("fix", *sides, "--now", "--only", word).out
    assert set(rules(out)) == {"pcie.maxreadreq-reverted"}
    assert len(re.findall(r"^register ", out, re.MULTILINE)) == (1 if word.endswith(".0") else 8)


def test_a_finding_has_the_number_of_the_report(snap: Snap, sides: tuple[str, str]) -> None:
    number = re.search(r"lxc\.device-major-stale \[(\d+)\]", snap("diff", *sides).out)
    assert number
    assert set(rules(snap("fix", *sides, "--only", number[1]).out)) == {"lxc.device-major-stale"}


def test_a_severity_can_be_the_least(snap: Snap, sides: tuple[str, str]) -> None:
    assert set(rules(snap("fix", *sides, "--from", "critical").out)) == {"lxc.device-major-stale"}


def test_what_was_so_before_is_mended_when_asked_for(snap: Snap, sides: tuple[str, str]) -> None:
    assert rules(snap("fix", "b.toml", "b.toml").out) == []
    assert "lxc.device-major-stale" in rules(snap("fix", "b.toml", "b.toml", "--fail-on-existing").out)
    assert rules(snap("fix", "b.toml", "b.toml", "--only", "lxc.device-major-stale").out)


def unsure(ended: Ended) -> tuple[int, str]:
    """How many rules the script says that could not be judged, and the command that says why."""
    (said,) = re.findall(r"^# (\d+) rules? could not be judged: `(.*)` says why\.$", ended.out, re.MULTILINE)
    return int(said[0]), said[1]


def test_what_could_not_be_judged_is_no_script_that_has_nothing_to_mend(snap: Snap, sides: tuple[str, str]) -> None:
    snapshot({}).save("blind.toml")
    ended = snap("fix", "blind.toml", "--config", "/dev/null")
    count, command = unsure(ended)
    assert command.endswith(" check blind.toml --config /dev/null")
    assert "# Nothing was found to mend.\n" in ended.out and "There is nothing to mend" not in ended.out
    assert f"nothing was found to mend; {count} rules could not be judged: `{command}` says why." in ended.err
    checked = snap("check", "blind.toml", "--config", "/dev/null")
    assert f"{count} rules could not be judged, " in " ".join(checked.out.split())


def test_a_script_with_blocks_says_what_could_not_be_judged(snap: Snap, sides: tuple[str, str]) -> None:
    ended = snap("fix", *sides)
    assert unsure(ended)[1].endswith(" diff a.toml b.toml")
    assert unsure(snap("fix", "--forecast", "a.toml"))[1].endswith(" forecast a.toml")
    assert unsure(snap("fix", *sides, "--from", "critical"))[0] < unsure(ended)[0]
    assert "could not be judged" not in (chosen := snap("fix", *sides, "--only", "1")).out + chosen.err


def test_a_pair_that_is_none_is_warned_of(snap: Snap, sides: tuple[str, str]) -> None:
    ended = snap("fix", *reversed(sides))
    assert "# Warning: the wrong way round" in ended.out and "Warning: the wrong way round" in ended.err


def test_the_subjects_that_there_are_are_named(snap: Snap, sides: tuple[str, str]) -> None:
    said = snap("fix", *sides, "--only", "lxc.device-major-stale:nosuch").err
    assert "lxc.device-major-stale has 101 /dev/nvidia-uvm, 101 /dev/nvidia-uvm-tools" in said
    assert "--only lxc.device-major-stale`" in snap("fix", *sides, "--only", "lxc.device-major-stale").out


@pytest.mark.parametrize("argv", [
    ("--only", "nosuch"), ("--only", "99"), ("--only", "lxc.device-major-stale:nosuch"), ("--only", ""),
    ("--from", "worst"), ("--forecast",),
])
def test_what_means_nothing_is_an_error(snap: Snap, sides: tuple[str, str], argv: tuple[str, ...]) -> None:
    ended = snap("fix", *sides, *argv)
    assert (ended.code, ended.out) == (2, "")


def test_a_redacted_snapshot_makes_no_script(snap: Snap, sides: tuple[str, str]) -> None:
    text = Path("b.toml").read_text()
    Path("b.toml").write_text(text.replace("[meta]\n", "[meta]\nredacted = true\n", 1))
    ended = snap("fix", *sides)
    assert (ended.code, ended.out) == (2, "")
    assert "redacted" in ended.err


def test_a_forecast_is_mended(snap: Snap, sides: tuple[str, str]) -> None:
    ended = snap("fix", "--forecast", "a.toml")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("#!/bin/sh\n")
    assert "fix a.toml --forecast" in ended.out


PACK = """
[[rule]]
id = "made.ahead"
title = "something of the next boot"
severity = "high"
scope = "state"
foresees = true
needs = ["sysctl"]
check = [{ path = ["item", "sysctl", "values", "net.core.key0"], op = "absent" }]
message = "the next boot is wrong"
now = ["sysctl -w net.core.key0=1"]
references = ["sysctl(8)"]

[[rule.example]]
name = "it is there"
verdict = "fail"
class = "existing"
after.sections.sysctl.values."net.core.key0" = 1

[[rule.example]]
name = "it is not"
verdict = "pass"
after.sections.sysctl.values = {}
"""


def test_what_forecast_finds_is_mended_and_has_its_number(snap: Snap, sides: tuple[str, str]) -> None:
    Path("made.toml").write_text(PACK)
    told = snap("forecast", "a.toml", "--rules", "made.toml").out
    number = re.search(r"made\.ahead \[(\d+)\]", told)
    assert number
    ended = snap("fix", "a.toml", "--forecast", "--now", "--rules", "made.toml", "--only", number[1])
    assert ended.code == 0 and "\n# made.ahead\n" in ended.out and not rules(ended.out)


def test_this_host_is_not_changed(snap: Snap, sides: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> None:
        raise AssertionError("a command was run")

    monkeypatch.setattr("subprocess.Popen", never)
    monkeypatch.setattr(arguments, "live", lambda: story()[1])
    before = sorted(Path().iterdir())
    assert snap("fix", "a.toml", "now").code == 0
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("name", PAIRS)
def test_every_pair_makes_a_script_without_a_fault(
    snap: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("SNAP_CONFIG", "/dev/null")
    files = [str(tmp_path / side) for side in ("a.toml", "b.toml")]
    for side, file in zip(pair(name), files, strict=True):
        side.save(file)
    for options in ((), ("--now",)):
        ended = snap("fix", *files, "--from", "info", "--fail-on-existing", *options)
        assert ended.code == 0, ended.err
        assert shellcheck(ended.out, tmp_path) == ""
