"""What systemd makes of words for cgroup v1, and which containers that shuts out."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import derived
from snapshot.document import Snapshot

from ...pairs import snapshot
from ..made import COMMON, CONF, dev, lxc, origin, part, rule

Row = dict[str, Any]
WORD, FORCE = "systemd.unified_cgroup_hierarchy=0", "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"
V1, DENY = "lxc.cgroup.devices.allow", rule(1, "a", "lxc.cgroup.devices.deny", COMMON)
BOTH = {COMMON: part(DENY, rule(2, "a", "lxc.cgroup2.devices.deny", COMMON))}
CUDA = part(rule(14, "c 195:* rwm"))


def host(
    *now: str, following: tuple[str, ...] | None = None, systemd: str = "252.36-1~deb12u1", **more: Any
) -> Snapshot:
    """A host with these command lines; the next one stands in /etc/kernel/cmdline, or is that of now."""
    boot: Row = {"loader": "systemd-boot", "next": {"by": "newest kernel in /boot"}}
    words = now if following is None else following
    boot["configured"] = {"kernel-cmdline": {"words": [*words], "used": True, "origins": [
        origin(1, " ".join(words), "/etc/kernel/cmdline")]}}
    tables = {"cmdline": {"tokens": [*now], "parameters": {}}, "boot": boot, "os": {"systemd": systemd}}
    return snapshot({**tables, "lxc": lxc(CUDA, BOTH), **more})


def row(found: Snapshot) -> Row:
    return derived("cgroup_hierarchy", found, None).rows.get("", {})


@pytest.mark.parametrize(("systemd", "words", "outcome"), [
    ("247.3-7+deb11u6", (WORD,), "v1"), ("252.36-1~deb12u1", (WORD,), "v1"), ("255.4-1ubuntu8", (WORD, FORCE), "v1"),
    ("256.1-1", (WORD,), "refused"), ("257.4-1", (WORD, FORCE), "v1"), ("257.4-1", (WORD, FORCE[:-1] + "0"), "refused"),
    ("258.1-1", (WORD, FORCE), "ignored"), ("252", (WORD, WORD[:-1] + "1"), None), ("252", (FORCE,), None),
    ("252", ("systemd.unified_cgroup_hierarchy=OFF",), "v1"), ("252", ("systemd.unified_cgroup_hierarchy",), None),
    ("252", ("systemd.unified_cgroup_hierarchy=maybe",), None), ("252", (), None),
])
def test_what_systemd_makes_of_the_words(systemd: str, words: tuple[str, ...], outcome: str | None) -> None:
    found = row(host(*words, systemd=systemd))
    assert (found.get("outcome"), found.get("outcome_next")) == (outcome, outcome)


def test_the_next_command_line_is_judged_by_itself() -> None:
    found = row(host("quiet", following=("quiet", WORD)))
    assert (found["asked_next"], found["outcome_next"], found["containers"]) == (WORD, "v1", ["101"])
    assert (found["file"], found["line"], "asked" in found) == ("/etc/kernel/cmdline", 1, False)
    gone = row(host(WORD, following=("quiet",)))
    assert (gone["asked"], gone["outcome"], "asked_next" in gone) == (WORD, "v1", False)


@pytest.mark.parametrize(("live", "includes", "more", "shut_out"), [
    (CUDA, BOTH, {}, True),
    (part(devices={"dev0": dev(12, "/dev/nvidia0")}), BOTH, {}, True),
    (CUDA, BOTH, {"privileged": False}, False),
    (part(), BOTH, {}, False),
    (part(rule(14, "c 195:* rwm"), rule(15, "c 195:* rwm", V1)), BOTH, {}, False),
    (part(rule(14, "c 195:* rwm", V1)), BOTH, {}, False),
    (CUDA, {COMMON: part(rule(1, "a", "lxc.cgroup2.devices.deny", COMMON))}, {}, False),  # nothing is stopped in v1
    (part(DENY, rule(14, "c 195:* rwm")), None, {"manager": "lxc"}, True),
    (part(DENY, rule(9, "c 195:* rwm", file=COMMON)), None, {"manager": "lxc"}, False),
])
def test_whom_it_shuts_out(live: Row, includes: Row | None, more: Row, shut_out: bool) -> None:
    found = row(host(WORD, lxc=lxc(live, includes, **more)))
    assert (found.get("containers"), "unknown" in found) == (["101"] if shut_out else None, False)


def test_what_is_not_known() -> None:
    includes, why = row(host(WORD, lxc=lxc(CUDA, None))), "the files that its start includes are not known"
    assert includes["unknown"] == {"containers": {"source": CONF, "why": why}}
    made = host(WORD)
    tables = {name: made.table(name) for name in ("cmdline", "boot", "os", "lxc")}
    loader = snapshot(tables, unread={"boot": [["next"]]})
    assert row(loader)["unknown"].keys() == {"asked_next", "outcome_next"} and row(loader)["outcome"] == "v1"
    packages = row(snapshot({**tables, "os": {}}, unread={"os": [["systemd"]]}))
    assert packages["unknown"].keys() == {"outcome", "outcome_next"} and packages["asked"] == WORD
    containers = row(snapshot({**tables, "lxc": {"containers": {}}}, unread={"lxc": [["containers"]]}))
    assert containers["unknown"].keys() == {"containers"}
    hidden = derived("cgroup_hierarchy", snapshot(tables, unread={"cmdline": [["tokens"]]}), None)
    assert (hidden.rows, [gap["why"] for gap in hidden.unknown]) == ({}, ["EACCES"])


def test_a_host_that_shows_no_loader_is_given_its_words_again() -> None:
    assert row(host(WORD, boot={}))["asked_next"] == WORD
    assert row(host("quiet", boot={"loader": "grub"})) == {}
