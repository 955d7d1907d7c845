from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshot.collectors.pve_conf import Conf, parse
from snapshot.sections.lxc import Part

FILE = "/etc/pve/lxc/101.conf"
CONF = """\
#served by%3A someone
# second line
arch: amd64
cores: 64
dev0: /dev/nvidia0,gid=44
dev1: path=/dev/nvidia-uvm,mode=0666,uid=0,gid=0,deny-write=1
features: nesting=1,keyctl=1,mount=nfs;cifs
hookscript: local:snippets/gpu.sh
hostname: llm
lxc.cgroup2.devices.allow: c 195:* rwm
lxc.cgroup2.devices.allow = c 510:* rwm
lxc.cgroup2.devices.allow=c 234:* rwm
lxc.mount.entry: /srv/a\\040b srv/b\tnone bind,optional,create=dir 0 0
lxc.autodev: 1
lxc.hook.pre-start: /root/fix.sh
lxc.uts.name: llm2

[pve:pending]
memory: 65536
delete: mp1,!dev0

[before-upgrade]
#kept%3A for a while
arch: amd64
lxc.cgroup2.devices.allow: c 511:* rwm
snaptime: 1730000000
"""


def part(text: str) -> Part:
    return parse(text, FILE).live.part()


def reasons(text: str) -> list[tuple[int, str]]:
    return [(i.origin.line, i.why) for i in part(text).ignored or []]


def test_live_part() -> None:
    live = parse(CONF, FILE).live.part()
    assert {k: o.value for k, o in (live.options or {}).items()} == {
        "arch": "amd64", "cores": "64", "hostname": "llm"}
    assert [(r.value, r.origin.line) for r in live.device_rules or []] == [
        ("c 195:* rwm", 10), ("c 510:* rwm", 11), ("c 234:* rwm", 12)]
    assert [(m.source, m.target, m.fstype, m.options) for m in live.mount_entries or []] == [
        ("/srv/a b", "srv/b", "none", ["bind", "optional", "create=dir"])]
    assert {k: f.value for k, f in (live.features or {}).items()} == {
        "nesting": "1", "keyctl": "1", "mount": "nfs;cifs"}
    assert [(h.key, h.value) for h in live.hooks or []] == [
        ("hookscript", "local:snippets/gpu.sh"), ("lxc.autodev", "1"), ("lxc.hook.pre-start", "/root/fix.sh")]
    assert [(o.key, o.origin.text) for o in live.other or []] == [("lxc.uts.name", "lxc.uts.name: llm2")]
    assert live.ignored is None


def test_devices() -> None:
    devices = part(CONF).devices or {}
    assert devices["dev0"].path == "/dev/nvidia0" and devices["dev0"].gid == 44
    assert devices["dev0"].mode is None and devices["dev0"].deny_write is None
    one = devices["dev1"]
    assert (one.path, one.mode, one.uid, one.gid, one.deny_write) == ("/dev/nvidia-uvm", "0666", 0, 0, True)


def test_parts_are_apart() -> None:
    conf = parse(CONF, FILE)
    pending = conf.pending.part() if conf.pending else None
    assert pending and pending.deleted == ["mp1", "dev0"] and pending.options
    assert pending.options["memory"].value == "65536"
    saved = conf.snapshots["before-upgrade"].part()
    assert [r.value for r in saved.device_rules or []] == ["c 511:* rwm"]
    assert "for a while" not in str(saved) and "someone" not in str(conf.live.part())


@pytest.mark.parametrize("header", [
    "[snap]", "[SNAP-1]", "[a_]", "[ab] \r", "[PVE:Pending]", "[pve:pending]\t",
])
def test_header_ends_the_live_part(header: str) -> None:
    conf = parse(f"cores: 1\n{header}\ncores: 2\nlxc.cgroup2.devices.allow: a\n", FILE)
    assert conf.live.option("cores") == "1" and not conf.live.part().device_rules
    assert len(conf.snapshots) + (conf.pending is not None) == 1


@pytest.mark.parametrize("line", [
    "[a]", " [snap]", "[snap] x", "[1ab]", "[sn ap]", "[pve:other]", "[]", "[snap",
])
def test_no_header(line: str) -> None:
    conf = parse(f"{line}\ncores: 2\n", FILE)
    assert conf.live.option("cores") == "2" and not conf.snapshots
    assert [i.origin.line for i in conf.live.part().ignored or []] == [1]


@pytest.mark.parametrize("line", [
    " lxc.cgroup2.devices.allow: c 1:3 rwm", "lxc.cgroup2.devices.allow : c 1:3 rwm",
    "LXC.cgroup2.devices.allow: c 1:3 rwm", "lxc.cgroup2.Devices.allow: c 1:3 rwm", "lxc.foo: 1",
    "lxc.cgroup2.devices.allow c 1:3 rwm", "lxc.rootfs.path: /x", "lxc.tty.dir: lxc", " cores: 2", "Cores: 2",
    "cores 2", "cores : 2", "cores:", "co-res: 2", "garbage", "delete: dev0", "snapstate: delete", "\0",
])
def test_lines_that_count_for_nothing(line: str) -> None:
    found = part(f"hostname: x\n{line}\n")
    assert [i.origin.line for i in found.ignored or []] == [2]
    assert found.ignored and found.ignored[0].why.startswith("Proxmox VE: ")
    assert found.ignored[0].origin.text == line
    assert found.copy(ignored=None) == part("hostname: x\n")


def test_comments_and_empty_lines_count_for_nothing_and_are_not_listed() -> None:
    text = "\n \t\r\n#lxc.mount.entry%3A /a b\ndescription: secret plan\ndescription:\n"
    assert part(text) == Part.model_validate({})


def test_crlf() -> None:
    dos = parse(CONF.replace("\n", "\r\n"), FILE)
    one = (dos.live.part().devices or {})["dev1"]
    assert (one.path, one.deny_write) == ("/dev/nvidia-uvm", True)
    assert list(dos.snapshots) == ["before-upgrade"]
    live = part("cores: 2\r\nlxc.cgroup2.devices.allow: c 1:3 rw\r\n")
    assert live.options and live.options["cores"].value == "2"
    assert live.device_rules and live.device_rules[0].value == "c 1:3 rw"


def test_last_option_counts() -> None:
    live = part("cores: 2\ncores: 4\n")
    assert live.options and (live.options["cores"].value, live.options["cores"].origin.line) == ("4", 2)
    assert reasons("cores: 2\ncores: 4\n") == [(1, "Proxmox VE: cores stands again at line 2, which counts")]


def test_second_header_of_a_name_throws_the_first_part_away() -> None:
    conf = parse("[ab]\ncores: 1\n[pve:pending]\ncores: 2\n[ab]\nmemory: 5\n[pve:pending]\nswap: 0\n", FILE)
    saved = conf.snapshots["ab"].part()
    assert list(saved.options or {}) == ["memory"] and [i.origin.line for i in saved.ignored or []] == [5]
    assert conf.pending and list(conf.pending.options) == ["swap"]


def test_snapstate_is_found_anywhere() -> None:
    conf = parse("[ab]\nx snapstate: prepare \n", FILE)
    assert conf.snapshots["ab"].option("snapstate") == "prepare"


def test_delete_belongs_to_the_pending_part() -> None:
    conf = parse("[ab]\ndelete: x\n[pending]\ndelete: y; z\n", FILE)
    assert conf.snapshots["ab"].deleted == [] and conf.snapshots["pending"].deleted == ["y", "z"]


@pytest.mark.parametrize("value", [
    "nvidia0", "/dev/../etc/shadow", "/dev/./x", "/dev/x/..", "gid=44", "/dev/x,mode=666", "/dev/x,mode=0888",
    "/dev/x,gid=video", "/dev/x,foo=1", "/dev/x,gid=1,gid=2", "/dev/x,/dev/y", "/dev/x,deny-write=maybe",
    "/dev/x,gid=", f"/dev/x,gid={'9' * 30}",
])
def test_device_that_proxmox_refuses(value: str) -> None:
    found = part(f"dev0: {value}\n")
    assert not found.devices and found.options and found.options["dev0"].value == value
    assert found.ignored and "the start fails" in found.ignored[0].why


def test_option_that_only_looks_like_a_device() -> None:
    assert list(part("dev256: /dev/x\ndevice: y\n").options or {}) == ["dev256", "device"]


def test_features_that_proxmox_refuses() -> None:
    found = part("features: nesting\n")
    assert not found.features and found.options and found.ignored


@pytest.mark.parametrize(("text", "expected"), [
    ("", False), ("unprivileged: 1", True), ("unprivileged: yes", True), ("unprivileged: TRUE", True),
    ("unprivileged: 0", False), ("unprivileged: off", False), ("unprivileged: 2", True),
    ("lxc.idmap: u 0 100000 65536", True), ("lxc.idmap: nonsense", True), ("lxc.idmap:", True),
    (" lxc.idmap: u 0 100000 65536", False), ("[ab]\nunprivileged: 1", False),
])
def test_unprivileged(text: str, expected: bool) -> None:
    assert parse(text, FILE).live.unprivileged() is expected


SECRETS = """\
lxc.environment: HF_TOKEN=hunter2 and more
 lxc.environment = X=hunter2
lxc.environment.runtime = "A=hunter2"
lxc.environment hunter2
password: hunter2 hunter2
api-key: hunter2
lxc.mount.entry: //nas/x mnt cifs username=a,password=hunter2,ro 0 0
lxc.hook.start: /x --token hunter2 --key=hunter2
lxc.hook.stop: /x https://me:hunter2@host/y "PASSWORD='hunter2 hunter2'"
net0: secret=hunter2
"""


def test_secrets_never_enter() -> None:
    found = part(SECRETS)
    assert "hunter2" not in str(found)
    mount = (found.mount_entries or [])[0]
    assert mount.options == ["username=a", "password=<redacted>", "ro"]
    assert [o.value for o in found.other or []] == ["<redacted>"] * 2


def test_what_only_looks_like_a_secret_stays() -> None:
    text = ("features: keyctl=1\nlxc.mount.entry: /srv/token key/pass none bind,key\nlxc.environment =\n"
            "lxc.hook.start: /x http://host:8080/y --keys 1 --compass 2\n")
    found = part(text)
    assert "redacted" not in str(found)
    assert found.mount_entries and found.mount_entries[0].source == "/srv/token"


LINES = st.sampled_from([*CONF.split("\n"), *SECRETS.split("\n"), "[ab]", "dev0: x"])


@settings(max_examples=100, deadline=None)
@given(st.text() | st.lists(LINES).map("\n".join))
def test_parse_never_raises(text: str) -> None:
    conf = parse(text, FILE)
    for section in (conf.live, conf.pending, *conf.snapshots.values()):
        assert section is None or isinstance(section.part(), Part)


@pytest.mark.parametrize("text", [
    "x" * 1_000_000, "lxc.uts.name: a" + " " * 1_000_000 + "b", "password" * 100_000, "snapstate:" * 100_000,
    "lxc." + "a.-_" * 200_000, " " * 1_000_000 + "lxc.environment", "--" * 300_000 + "token",
    "--token " * 100_000, "://" * 300_000, "lxc.environment" * 50_000, "a" * 500_000 + ":" + "key " * 100_000,
])
def test_huge_lines_take_no_time(text: str) -> None:
    assert isinstance(parse(text, FILE), Conf)


def corpus(path: str) -> Conf:
    root = os.environ.get("SNAP_CORPUS")
    if not root:
        pytest.skip("SNAP_CORPUS does not name a folder of public raw files")
    return parse((Path(root) / path).read_text("utf-8", "surrogateescape"), FILE)


@pytest.mark.parametrize(("name", "majors", "snapshots", "unprivileged"), [
    ("charlzyx-102", ["10:200", "10:200"], ["bbr"], False),
    ("charlzyx-204", ["", "226:0", "226:128"], [], True),
    ("charlzyx-208", [], [], True), ("charlzyx-old-100", [], [], True),
    ("charlzyx-old-123-two-snapshots", ["10:200", "10:200"], ["helloworld", "home-com"], False),
    ("ct201-four-gpu-lines-kfd511.excerpt", ["226:*", "511:0"], [], False),
    ("equals-syntax-506-510", ["195:*", "506:*", "510:*"], [], False),
    ("gpuaas-6005-vast", ["195:*", "235:*", "510:*"], [], False),
    ("hlh-140-card1-kfd511.excerpt", ["226:1", "226:129", "511:0"], [], False),
    ("jellyfin-102-escaped-comment", ["195:*", "511:*", "236:*"], [], False),
    ("nas-101-no-gpu", [], [], False),
    ("libnvc-154-195-235-511.excerpt", ["195:*", "235:*", "511:*"], [], False),
    ("plex-100-many-majors", ["", "188:*", "189:*", "226:*", "195:*", "243:*", "509:*", "29:0"], [], False),
    ("proxmox-102-cgroup1-c235", ["195:*", "235:*"], [], False),
    ("telmate-1138-fragment", ["195:*", "506:*", "509:*"], [], False),
])
def test_real_files(name: str, majors: list[str], snapshots: list[str], unprivileged: bool) -> None:
    conf = corpus(f"lxc-conf/{name}.conf")
    live = conf.live.part()
    assert [r.value.partition(" ")[2].partition(" ")[0] for r in live.device_rules or []] == majors
    assert list(conf.snapshots) == snapshots and conf.live.unprivileged() is unprivileged
    assert live.ignored is None


def test_real_devices() -> None:
    one = corpus("lxc-conf/oci-immich-101-snapshot.conf")
    devices = one.live.part().devices or {}
    assert [(d.path, d.gid, d.mode) for d in devices.values()] == [
        ("/dev/dri/renderD128", 993, "0660"), ("/dev/kfd", 993, "0660")]
    assert "3003" not in str(one.live.part()) and list(one.snapshots) == ["snapshot"]
    six = corpus("lxc-conf/pve-15401-dev5-wrong-gid.excerpt.conf").live.part().devices or {}
    assert len(six) == 6 and six["dev5"].path == "/dev/kfd" and six["dev5"].gid == 44


@pytest.mark.parametrize(("name", "memory", "snapshots"), [
    ("commit-102", "2048", {"test": "2048", "test2": "2048"}),
    ("delete-203-locked", "2048", {"test": "2048"}),
    ("rollback-104", "4096", {"test": "2048", "test2": "4096", "test3": "2048"}),
])
def test_the_format_owner_s_own_files(name: str, memory: str, snapshots: dict[str, str]) -> None:
    conf = corpus(f"lxc-conf-snapshots-upstream-tests/pvetest-{name}.conf")
    assert conf.live.option("memory") == memory
    assert {n: s.option("memory") for n, s in conf.snapshots.items()} == snapshots
    assert not any(s.part().ignored for s in (conf.live, *conf.snapshots.values()))
