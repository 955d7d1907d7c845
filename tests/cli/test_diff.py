"""snap diff: the ways to name two sides, and what the options do; test_pairs has what it says of events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapshot.document import Snapshot

from ..pairs import GPUS, devices, lxc, pci, snapshot
from ..recordings import FIXTURES, taken
from .command import Snap


def test_a_snapshot_and_itself(snap: Snap, tmp_path: Path) -> None:
    path = str(tmp_path / "x.snap.toml")
    taken("pve-small").save(path)
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


def test_this_host_can_be_before_and_a_missing_file_is_told_first(
    rebooted: Snap, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rebooted("diff", "now", "pre").out.startswith("pve1  now (6.14.11-1-pve, ")

    def never() -> Snapshot:
        raise AssertionError("a host was looked at although the other side is not there")

    monkeypatch.setattr("snapshot.cli.arguments.live", never)
    for argv in (("now", "nosuch"), ("nosuch", "now"), ("nosuch",), ("pre", "")):
        assert rebooted("diff", *argv).code == 2


def test_a_label_is_never_now(rebooted: Snap) -> None:
    ended = rebooted("take", "now", "--root", str(FIXTURES / "hosts" / "pve-small"))
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "this host now" in ended.err


@pytest.fixture
def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two files in the current directory, in which no settings are; of 5 facts that differ a rule judges one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAP_CONFIG", raising=False)
    sides = (
        {"sysctl": {"values": {"vm.min": 100, "vm.max": 1000, "net.old": 1}}, "pci": pci(4096, GPUS[:1])},
        {"sysctl": {"values": {"vm.min": 101, "vm.max": 2000, "net.new": 1}}, "pci": pci(512, GPUS[:1])},
    )
    for name, tables in zip(("a.toml", "b.toml"), sides, strict=True):
        snapshot(tables).save(name)
    return "a.toml", "b.toml"


@pytest.mark.parametrize(("options", "keys"), [
    ((), {"vm.min", "vm.max", "net.old", "net.new", "max_read_request_bytes"}),
    (("--only", "sysctl"), {"vm.min", "vm.max", "net.old", "net.new"}),
    (("--only", "+sysctl", "--only", "pci"), {"net.new", "max_read_request_bytes"}),
    (("--only", "-sysctl"), {"net.old"}),
    (("--ignore", "sysctl.values.vm.*", "--ignore", "pci"), {"net.old", "net.new"}),
    (("--only", "sysctl.values.vm.*", "--tolerance", "sysctl.values.vm.*=1%"), {"vm.max"}),
])
def test_what_is_compared_can_be_chosen_and_rules_are_judged_all_the_same(
    snap: Snap, moved: tuple[str, str], options: tuple[str, ...], keys: set[str]
) -> None:
    ended = snap("diff", *moved, "-f", "json", *options)
    found = json.loads(ended.out)
    assert {change["path"][-1] for change in found["changes"]} == keys
    assert [finding["rule"] for finding in found["findings"]] == ["pcie.maxreadreq-reverted"]
    assert ended.code == 1


def test_the_command_line_wins_over_the_settings(snap: Snap, moved: tuple[str, str]) -> None:
    Path("snap.toml").write_text(
        '[diff]\nonly = ["sysctl"]\nignore = ["sysctl.values.vm.max"]\n'
        '[[tolerance]]\npath = "sysctl.values.vm.*"\namount = "1%"\n[volatile]\nadd = ["sysctl.values.net.old"]\n')

    def keys(*options: str) -> set[str]:
        found = json.loads(snap("diff", *moved, "-f", "json", *options).out)
        return {change["path"][-1] for change in found["changes"]}

    assert keys() == {"net.new"}
    assert keys("--volatile") == {"net.new", "net.old"}
    assert keys("--only", "pci") == {"max_read_request_bytes"}
    assert keys("--ignore", "sysctl.values.net.new") == set()
    assert keys("--tolerance", "sysctl.values.vm.*=0.1%") == {"net.new", "vm.min"}
    assert len(keys("--config", "/dev/null")) == 5


def test_what_was_so_before_counts_when_asked_for(snap: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stale = {"pci": pci(512), "devices": devices(511), "lxc": lxc(508)}
    snapshot(stale).save("a.toml")
    argv = ("diff", "a.toml", "a.toml", "--allow-unknown", "lxc")
    assert snap(*argv).code != 1
    assert snap(*argv, "--fail-on-existing").code == 1
    Path("snap.toml").write_text("[diff]\nfail_on_existing = true\n")
    assert snap(*argv).code == 1
    assert snap(*argv, "--no-fail-on-existing").code != 1


@pytest.mark.parametrize(("options", "said"), [
    (("--only", "pci.functoins"), "there is no fact 'functoins'"), (("--ignore", ""), "--ignore"),
    (("--ignore", "sysctll"), "sysctl"), (("--tolerance", "sysctl.values"), "is no PATTERN=AMOUNT"),
    (("--tolerance", "pci.functions.*.express.max_read_request_bytes=1 W"), "W"), (("--rules", "nosuch"), "nosuch"),
])
def test_options_that_mean_nothing_are_errors(
    snap: Snap, moved: tuple[str, str], options: tuple[str, ...], said: str
) -> None:
    ended = snap("diff", *moved, *options)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err and "Traceback" not in ended.err
