"""snap check: one snapshot judged alone, and the options that it shares with diff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapshot.document import Snapshot

from ..pairs import snapshot, story
from .command import Snap

RULE = "lxc.device-major-stale"


@pytest.fixture
def stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The story after the reboot: container 101 names a major that nobody has. No settings are about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAP_CONFIG", raising=False)
    story()[1].save(str(tmp_path / "after.toml"))
    return "after.toml"


@pytest.fixture
def sound(stale: str, tmp_path: Path) -> str:
    """The story before it, in which nothing is wrong."""
    story()[0].save(str(tmp_path / "before.toml"))
    return "before.toml"


def config(tmp_path: Path, text: str) -> str:
    path = tmp_path / "set.toml"
    path.write_text(text)
    return str(path)


def test_what_is_wrong_is_a_finding_although_it_is_not_new(snap: Snap, stale: str) -> None:
    ended = snap("check", stale)
    assert ended.code == 1
    assert "WRONG" in ended.out and RULE in ended.out
    assert "pcie.maxreadreq-reverted" not in ended.out  # about two snapshots


def test_nothing_is_wrong(snap: Snap, sound: str) -> None:
    ended = snap("check", sound, "--only", RULE)
    assert (ended.code, ended.err) == (0, "")
    assert "Nothing" in ended.out


def test_without_a_snapshot_it_is_this_host_as_it_is_now(
    snap: Snap, stale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snapshot.cli.arguments.live", lambda: story()[1])
    assert snap("check").code == snap("check", "now").code == 1
    assert "  now (" in snap("check").out


@pytest.mark.parametrize(("text", "said"), [
    (None, "no such file"), ("", "not a snapshot"), ("a = 1\n", "not a snapshot"), ("[meta\n", "not valid TOML"),
    ("[meta]\nformat = 99\n", "99"), ("\0\xff", "not"),
])
def test_a_side_that_is_no_snapshot_is_never_a_pass(
    snap: Snap, sound: str, tmp_path: Path, text: str | None, said: str
) -> None:
    if text is not None:
        (tmp_path / "odd.toml").write_text(text)
    for argv in (("check", "odd.toml"), ("diff", "odd.toml", sound), ("diff", sound, "odd.toml")):
        ended = snap(*argv)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert said in ended.err


def failed() -> Snapshot:
    return snapshot({}, states={"lxc": "failed", "devices": "failed", "pci": "timeout"})


@pytest.mark.parametrize("side", [failed(), snapshot({})], ids=["failed", "without sections"])
def test_a_side_that_says_nothing_is_unknown_and_never_a_pass(
    snap: Snap, sound: str, tmp_path: Path, side: Snapshot
) -> None:
    side.save(str(tmp_path / "odd.toml"))
    for argv in (("check", "odd.toml"), ("diff", sound, "odd.toml"), ("diff", "odd.toml", sound)):
        ended = snap(*argv)
        assert ended.code == 3, ended.out
        assert "UNKNOWN" in ended.out


def test_formats_go_into_files_and_one_to_standard_output(snap: Snap, stale: str, tmp_path: Path) -> None:
    ended = snap("check", stale, "-f", "json=deep/report.json", "-f", "markdown=report.md", "-f", "text")
    assert ended.code == json.loads((tmp_path / "deep/report.json").read_text())["exit_code"] == 1
    assert ended.out.startswith("pve1  after.toml")
    assert "```" in (tmp_path / "report.md").read_text()
    alone = snap("check", stale, "-f", "text=report.txt")
    assert (alone.code, alone.out) == (1, "")
    assert (tmp_path / "report.txt").read_text() == ended.out
    assert snap("check", stale, "-f", "json=/dev/stdout").out == snap("check", stale, "-f", "json").out


@pytest.mark.parametrize(("argv", "said"), [
    (("-f", "xml"), "there is no format 'xml': text, json, markdown"), (("-f", "json="), "no file to write to"),
    (("-f", "text", "-f", "json"), "two reports cannot go to standard output"), (("-f", "json=."), "a directory"),
    (("-f", "json=a", "-f", "text=./a"), "two reports cannot go to a: -f json=FILE"),
    (("--allow-unknown", "pcie.maxreadreq"), "did you mean 'pcie.maxreadreq-reverted'?"),
    (("--allow-unknown", "pcj"), "there is no rule or section 'pcj'; did you mean 'pci'?"),
    (("--only", "lcx"), "there is no rule or section 'lcx'; did you mean 'lxc'?"), (("--ignore", "nosuch.*"), "nosuch"),
    (("--only", RULE, "--ignore", "lxc.*"), "leave no rule"), (("--fail-on", "worst"), "'worst'"),
])
def test_words_that_mean_nothing_are_usage_errors(
    snap: Snap, stale: str, tmp_path: Path, argv: tuple[str, ...], said: str
) -> None:
    ended = snap("check", stale, *argv)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert not (tmp_path / "a").exists()


def test_a_file_that_cannot_be_written_is_an_error_and_no_verdict(snap: Snap, stale: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = snap("check", stale, "-f", "text", "-f", "json=file/report.json")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "cannot be written" in ended.err


def test_only_and_ignore_take_rules_and_sections(snap: Snap, stale: str) -> None:
    for chosen in (("--only", "devices"), ("--only", "lxc.*"), ("--only", RULE), ("--ignore", "pcie")):
        assert snap("check", stale, *chosen).code == 1
    made = snap("rules", "new", "made.one").out
    Path("made.toml").write_text(made)
    assert snap("check", stale, "--rules", "made.toml", "--ignore", "lxc").code != 1


def test_a_pack_besides_the_shipped(snap: Snap, stale: str, tmp_path: Path) -> None:
    (tmp_path / "made.toml").write_text(snap("rules", "new", "made.one").out)
    snapshot({"sysctl": {"values": {"vm.swappiness": 60}}}).save("swaps.toml")
    argv = ("check", "swaps.toml", "--rules", "made.toml", "--only", "made.*")
    assert snap(*argv).code == 0  # medium
    ended = snap(*argv, "--fail-on", "medium")
    assert ended.code == 1
    assert "vm.swappiness is 60, above 10" in ended.out
    config(tmp_path, '[rules."made.one"]\nlimits.most = 60\n')
    assert "Nothing wrong" in snap(*argv, "--config", "set.toml").out


def test_a_broken_pack_is_one_line_with_file_and_line(snap: Snap, stale: str, tmp_path: Path) -> None:
    text = snap("rules", "new", "made.one").out.replace('"sysctl", "values"', '"sysctl", "valuse"')
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs/made.toml").write_text(text)
    ended = snap("check", stale, "--rules", "packs")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    line = text[: text.index("where = [")].count("\n") + 1
    assert f"made.toml:{line}: made.one: there is no path ['after', 'sysctl', 'valuse', 'vm.swappiness']" in ended.err


def test_what_the_settings_say_counts_and_the_command_line_wins(snap: Snap, stale: str, tmp_path: Path) -> None:
    accepted = f'[[waiver]]\nrule = "{RULE}"\nreason = "container 101 is retired"\n'
    ended = snap("check", stale, "--config", config(tmp_path, accepted), "--only", RULE)
    assert ended.code == 0
    assert "container 101 is retired" in ended.out
    lower = config(tmp_path, f'[diff]\nfail_on = "critical"\n[rules."{RULE}"]\nseverity = "medium"\n')
    assert snap("check", stale, "--config", lower, "--only", RULE).code == 0
    assert snap("check", stale, "--config", lower, "--only", RULE, "--fail-on", "medium").code == 1


def test_settings_are_found_and_told(snap: Snap, stale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("snap.toml").write_text(f'[rules]\ndisable = ["{RULE}"]\n')
    ended = snap("check", stale, "-v")
    assert ended.out.count(RULE) == 1 and f"The settings leave out 1 rule: {RULE}.\n" in ended.out
    assert "Settings: snap.toml\n  disabled rules: 1\n" in ended.err
    assert snap("check", stale, "--config", "/dev/null", "-v").err.startswith("Settings: /dev/null\n  fail on high")
    monkeypatch.setenv("SNAP_CONFIG", "nosuch.toml")
    assert snap("check", stale).code == 2


@pytest.mark.parametrize(("text", "said"), [
    ("[diff]\nallow_unknown = ['pcj']\n", "set.toml:2: diff.allow_unknown[0]: there is no rule or section 'pcj'"),
    ("[diff]\nignore = ['pci.functoins']\n", "set.toml:2: diff.ignore[0]: pci.functoins: there is no fact"),
    ("[volatile]\nadd = ['sysctl..x']\n", "set.toml:2: volatile.add[0]: "),
    ("[[tolerance]]\npath = 'memory.total_bytes'\namount = '1 W'\n", "set.toml:1: tolerance[0]: "),
    ("[rules]\ndisable = ['pcie.maxreadrq-reverted']\n", "set.toml:2: rules.disable[0]: there is no rule"),
])
def test_a_setting_that_means_nothing_is_told_with_its_line(
    snap: Snap, stale: str, tmp_path: Path, text: str, said: str
) -> None:
    ended = snap("check", stale, "--config", config(tmp_path, text))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert said in ended.err
