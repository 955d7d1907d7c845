from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshot.collectors.lxc_config import parse
from snapshot.collectors.lxc_part import Draft
from snapshot.sections.lxc import Part, unquoted

FILE = "/var/lib/lxc/box/config"


def part(text: str) -> Part:
    return Draft().take(parse(text, FILE)).part()


def test_lines() -> None:
    found = part("# x\n\n  lxc.uts.name\t=\ta\tb \r\n\t# y\nlxc.net.0.type=veth\nlxc.log.file = /x # no\n")
    assert [(o.key, o.value, o.origin.line) for o in found.other or []] == [
        ("lxc.uts.name", "a\tb", 3), ("lxc.net.0.type", "veth", 5), ("lxc.log.file", "/x # no", 6)]
    assert found.ignored is None


@pytest.mark.parametrize(("line", "words"), [
    ("arch: amd64", "does not begin"), ("LXC.uts.name = x", "does not begin"),
    ("\vlxc.uts.name = x", "does not begin"),
    ("lxc.uts.name: x", "the start fails"), ("lxc.cgroup2.devices.allow c 1:3 rwm", "the start fails"),
])
def test_lines_that_do_not_count(line: str, words: str) -> None:
    found = part(f"lxc.uts.name = x\n{line}\n")
    assert found.ignored and words in found.ignored[0].why and found.ignored[0].origin.line == 2
    assert found.copy(ignored=None) == part("lxc.uts.name = x\n")


@pytest.mark.parametrize(("value", "expected"), [
    ('"a b"', "a b"), ("'a'", "a"), ("'a\"", "'a\""), ('"', '"'), ('""', ""), ('" a "\r', " a "),
    ('"\'a\'"', "'a'"), ("\va", "\va"), ("a\r", "a"),
])
def test_quotes(value: str, expected: str) -> None:
    assert unquoted(value) == expected


def test_device_lines_are_kept_as_they_are() -> None:
    lines = [("cgroup2.devices.allow", "x"), ("cgroup.devices.deny", "x"), ("cgroup2.devices.alow", "x"),
             ("cgroup2", "x"), ("cgroup2.devices.allow", ""), ("cgroup2.devices.allow", '"c 1:3 rw"')]
    found = part("".join(f"lxc.{key} = {value}\n" for key, value in [*lines, ("cgroup2.memory.max", "1")]))
    assert [(r.key, r.value) for r in found.device_rules or []] == [(f"lxc.{k}", v) for k, v in lines]
    assert [o.key for o in found.other or []] == ["lxc.cgroup2.memory.max"]


def test_id_maps() -> None:
    found = part("lxc.idmap = u\t0  100000 65536\nlxc.idmap = 'g 0 0x10 010'\n")
    assert [(m.kind, m.container_id, m.host_id, m.count) for m in found.idmap or []] == [
        ("u", 0, 100000, 65536), ("g", 0, 16, 8)]


@pytest.mark.parametrize("value", [
    "u 0 100000", "u 0 100000 10 x", "b 0 100000 10", "u 0 -1 10", "u 0 4294967296 10", "u 0 089 1",
    "u 0 1_0 1", "u ٠ 1 1", "u 0 0x 1", "u 0 " + "9" * 9000 + " 1",
])
def test_id_map_that_lxc_refuses(value: str) -> None:
    found = part(f"lxc.idmap = {value}\n")
    assert not found.idmap and found.other and found.other[0].key == "lxc.idmap"
    assert found.ignored and "the start fails" in found.ignored[0].why


def test_mount_entries() -> None:
    found = part("lxc.mount.entry = \"/a\\040\\011\\134\\012\\\\ b\tnone  bind,ro 0 0\"\n"
                 "lxc.mount.entry = none dev/dri none\nlxc.mount.entry = a b\n")
    assert [(m.source, m.target, m.fstype, m.options) for m in found.mount_entries or []] == [
        ("/a \t\\\n\\", "b", "none", ["bind", "ro"]), ("none", "dev/dri", "none", []), ("a", "b", None, [])]
    alone = part("lxc.mount.entry = /dev/kfd\n")
    assert not alone.mount_entries and alone.other and alone.ignored


def test_empty_values_forget() -> None:
    found = part("lxc.mount.entry = a b none bind\nlxc.idmap = u 0 1 2\nlxc.mount.entry =\n"
                 "lxc.mount.entry = c d none bind\nlxc.idmap = \"\"\n")
    assert [m.source for m in found.mount_entries or []] == ["c"] and not found.idmap
    assert [(i.origin.line, i.why) for i in found.ignored or []] == [
        (line, f"LXC: forgotten for the empty value at {FILE}:{at}") for line, at in ((1, 3), (2, 5))]


def test_secrets_never_enter() -> None:
    found = part("lxc.environment = A=hunter2\nlxc.environment=hunter2\n"
                 " lxc.init.cmd = /x --password hunter2\npassphrase = hunter2\n")
    assert "hunter2" not in str(found)
    assert [o.value for o in found.other or []] == ["<redacted>", "<redacted>", "/x --password <redacted>"]


@settings(max_examples=150, deadline=None)
@given(st.text(), st.sampled_from(["lxc.idmap", "lxc.mount.entry", "lxc.include", "lxc.cgroup2.devices", ""]))
def test_parse_never_raises(text: str, key: str) -> None:
    assert isinstance(part(f"{text}\n{key} = {text}"), Part)


def test_binary_and_huge() -> None:
    data = bytes(range(256)) * 2000
    assert isinstance(part(data.decode("utf-8", "surrogateescape")), Part)
    assert len(part("lxc.mount.entry = a b c d\n" * 50_000).mount_entries or []) == 50_000


def test_real_file() -> None:
    root = os.environ.get("SNAP_CORPUS")
    if not root:
        pytest.skip("SNAP_CORPUS does not name a folder of public raw files")
    found = part((Path(root) / "lxc-config/ygg-lxc-conf-d-nvidia.conf").read_text())
    rules = [r.value for r in found.device_rules or []]
    assert rules[:5] == [f"c {major}:* rwm" for major in (195, 196, 236, 238, 239)]
    assert found.ignored is None and {m.fstype for m in found.mount_entries or []} == {"none"}
