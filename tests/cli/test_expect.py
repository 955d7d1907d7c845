"""[expect] of snap.toml, judged by check and diff; and the command that a report gives to explain a finding."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from ..pairs import story
from ..recordings import taken
from .command import Snap

LOST, WHOLE = "gpu-lost.tar.xz", "pve-epyc-after.tar.xz"
STALE, LOWER = "lxc.device-major-stale", "pcie.maxreadreq-reverted"
EXPLAIN = "How finding [1] came about: "


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two recorded hosts in the current directory, one with a GPU less, of which snap.toml expects 8."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAP_CONFIG", raising=False)
    taken(LOST).save("lost.toml")
    taken(WHOLE).save("whole.toml")
    Path("snap.toml").write_text("[expect]\ngpus = 8\n")


def findings(snap: Snap, *argv: str, rule: str = "expect.count") -> list[dict[str, str]]:
    table = json.loads(snap(*argv, "-f", "json").out)
    return [finding for finding in (*table["findings"], *table["unknown"]) if finding["rule"] == rule]


def test_a_host_that_lacks_a_gpu(snap: Snap, hosts: None) -> None:
    ended = snap("check", "lost.toml", "--only", "expect.*")
    assert ended.code == 1
    assert "CRITICAL  7 of 8 GPUs are there: 1 without an answer from nvidia-smi\n" in ended.out
    assert "    snap.toml:2   gpus = 8\n" in ended.out
    assert findings(snap, "check", "whole.toml") == []
    assert snap("check", "whole.toml", "--only", "expect.*").code == 0


def test_without_expectations_nothing_is_judged(snap: Snap, hosts: None) -> None:
    ended = snap("check", "lost.toml", "--only", "expect.*", "--config", "/dev/null")
    assert ended.code == 0
    assert "Nothing was judged" in ended.out


def test_of_a_pair_it_tells_new_from_old_and_resolved(snap: Snap, hosts: None) -> None:
    for before, after, class_ in (("whole", "lost", ["new"]), ("lost", "lost", ["existing"]),
                                  ("lost", "whole", ["resolved"]), ("whole", "whole", [])):
        found = findings(snap, "diff", f"{before}.toml", f"{after}.toml")
        assert [finding["class"] for finding in found] == class_


def test_mounts_and_what_cannot_be_judged(snap: Snap, hosts: None) -> None:
    Path("snap.toml").write_text('[expect]\nmemory_gib = 1\nmounts = [\n  "/tank",\n  "/models",\n  "/run/x",\n]\n')
    ended = snap("check", "whole.toml", "--only", "expect.*")
    assert ended.code == 1
    assert "HIGH      nothing is mounted at /models, though snap.toml:" in ended.out
    assert "UNKNOWN   nothing is mounted where the settings expect it" in ended.out and "/tank" not in ended.err
    assert [f["subject"] for f in findings(snap, "check", "whole.toml", rule="expect.mount-missing")] == [
        "/models", "/run/x"]
    Path("snap.toml").write_text('[expect]\nmounts = ["/run/x"]\n')
    assert snap("check", "whole.toml", "--only", "expect.*").code == 3


def test_what_nothing_tells_is_no_pass(snap: Snap, hosts: None) -> None:
    taken("nvidia-smi-hangs.tar.xz").save("hangs.toml")
    ended = snap("check", "hangs.toml", "--only", "expect.*")
    assert ended.code == 3
    assert "how many GPUs there are: timeout (nvidia-smi" in ended.out
    assert snap("check", "hangs.toml", "--only", "expect.*", "--allow-unknown", "expect.count").code == 0
    Path("snap.toml").write_text("[expect]\ngpus = 9\n")
    assert "at most 8 of 9 GPUs are there" in snap("check", "hangs.toml", "--only", "expect.*").out


def test_it_is_waived_and_changed_like_others(snap: Snap, hosts: None) -> None:
    Path("snap.toml").write_text('[expect]\ngpus = 8\n[rules."expect.count"]\nseverity = "low"\n')
    assert snap("check", "lost.toml", "--only", "expect.*").code == 0
    waiver = '[[waiver]]\nrule = "expect.count"\nsubject = "gpus"\nreason = "sold"\n'
    Path("snap.toml").write_text(f"[expect]\ngpus = 8\n{waiver}")
    assert "accepted: sold" in snap("check", "lost.toml", "--only", "expect.*").out


def test_it_is_explained_with_the_row_that_the_settings_made(snap: Snap, hosts: None) -> None:
    for argv in (("expect.count", "lost.toml"), ("expect.count:gpus", "whole.toml", "lost.toml")):
        out = snap("explain", *argv).out
        assert "CRITICAL  7 of 8 GPUs are there" in out and "no   missing is 0" in out
        assert "where              1 without an answer from nvidia-smi" in out
    assert "looked at 1 item" in snap("explain", "expect.count", "whole.toml").out


def test_the_settings_are_counted(snap: Snap, hosts: None) -> None:
    assert "  expectations: 1\n" in snap("check", "whole.toml", "--only", "expect.*", "-v").err


@pytest.mark.parametrize(("argv", "said"), [
    (("check", "post.toml"), "snap explain 1 post.toml"), (("check",), "snap explain 1 now"),
    (("check", "now", "--rules", "made.toml"), "snap explain 1 now --rules made.toml"),
    (("check", "post.toml", "--only", "lxc.*"), f"snap explain {STALE} post.toml"),
    (("check", "post.toml", "--only", "*"), "snap explain 1 post.toml"),
    (("diff", "./pre x.toml", "post.toml"), "snap explain 1 './pre x.toml' post.toml"),
    (("diff", "./pre x.toml"), "snap explain 1 './pre x.toml' now"), (("diff",), "snap explain 1"),
    (("diff", "./pre x.toml", "post.toml", "--fail-on-existing"), f"snap explain {STALE} './pre x.toml' post.toml"),
    (("diff", "./pre x.toml", "post.toml", "--no-fail-on-existing", "--config", "/dev/null"),
     "snap explain 1 './pre x.toml' post.toml --config /dev/null"),
])
def test_the_command_that_explains_can_be_pasted(
    snap: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAP_CONFIG", raising=False)
    monkeypatch.setattr("snapshot.cli.arguments.live", lambda: story()[1])
    monkeypatch.setattr("snapshot.cli.arguments.previous_boot", lambda _: story()[0])
    for side, name in zip(story(), ("pre x.toml", "post.toml"), strict=True):
        side.save(name)
    Path("made.toml").write_text(snap("rules", "new", "made.one").out)
    text = snap(*argv).out
    [line] = [line for line in text.splitlines() if line.startswith(EXPLAIN)]
    assert line == EXPLAIN + said
    first = text[: text.index("[1]")].split()[-1]
    assert f"{first} [" in snap(*shlex.split(said)[1:]).out
