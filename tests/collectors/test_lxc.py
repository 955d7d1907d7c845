from __future__ import annotations

import errno
from collections.abc import Mapping

import pytest

from snapshot.collectors import devices, lxc
from snapshot.collectors.base import Reading, Unread
from snapshot.errors import AbsentError
from snapshot.host.base import Stat
from snapshot.sections.devices import FOLDERS, LOOKED_AT
from snapshot.sections.lxc import Container, Lxc, Part

from .fake import MemoryHost, gather, node

Files = dict[str, str | bytes | OSError]
SHARE, CGROUP = "/usr/share/lxc/config", "/sys/fs/cgroup"
COMMON = f"""\
lxc.cgroup2.devices.deny = a
lxc.cgroup2.devices.allow = c *:* m
lxc.cgroup2.devices.allow = c 1:3 rwm
lxc.include = {SHARE}/common.conf.d/
"""
USERNS = f"lxc.cgroup2.devices.deny =\nlxc.cgroup2.devices.allow =\nlxc.include = {SHARE}/userns.conf.d/\n"
CONF = """\
arch: amd64
hostname: llm
ostype: debian
lxc.cgroup2.devices.allow: c 508:* rwm
"""
GENERATED = f"""\
lxc.cgroup.dir.container = lxc/101
lxc.include = {SHARE}/common.conf
lxc.uts.name = llm
lxc.cgroup2.devices.allow = c 508:* rwm
"""
NODE = "/etc/pve/nodes/pve1/lxc"
PROXMOX: Files = {
    f"{NODE}/101.conf": CONF,
    f"{NODE}/102.conf": "ostype: alpine\nunprivileged: 1\nhostname: web\n",
    "/etc/pve/nodes/pve2/lxc/201.conf": CONF,
    "/var/lib/lxc/101/config": GENERATED,
    f"{SHARE}/common.conf": COMMON,
    f"{SHARE}/userns.conf": USERNS,
    f"{SHARE}/userns.conf.d/01-pve.conf": "lxc.cgroup2.devices.allow = a\n",
    f"{CGROUP}/cgroup.controllers": "cpu memory\n",
    "/sys/fs/cgroup/lxc/101/cgroup.events": "populated 1\nfrozen 0\n",
}
LINKS = {"/etc/pve/lxc": NODE}


def take(files: Mapping[str, str | bytes | OSError], links: dict[str, str] = LINKS) -> tuple[Lxc, Reading]:
    found, reading = gather(lxc, MemoryHost(files, links if "/etc/pve/nodes" in str(files) else {}))
    assert isinstance(found, Lxc)
    return found, reading


def plain(config: str, **more: str) -> tuple[Container, Reading]:
    """A host with one plain container, and other files below /etc/lxc."""
    files = {f"/etc/lxc/{name.replace('__', '/')}": text for name, text in more.items()}
    found, reading = take({"/var/lib/lxc/box/config": config, f"{CGROUP}/cgroup.controllers": "", **files})
    return found.containers["box"], reading


def values(part: Part | None) -> list[str]:
    return [rule.value for rule in (part.device_rules if part else None) or []]


def test_proxmox_node() -> None:
    found, reading = take(PROXMOX)
    assert list(found.containers) == ["101", "102"] and reading.unreads == []
    one, two = found.containers["101"], found.containers["102"]
    assert (one.manager, one.config_file, one.hostname) == ("pve", "/etc/pve/lxc/101.conf", "llm")
    assert (one.privileged, one.running, two.privileged, two.running) == (True, True, False, False)
    assert values(one.live) == ["c 508:* rwm"]
    assert values(one.generated) == ["a", "c *:* m", "c 1:3 rwm", "c 508:* rwm"]
    assert one.pending is None and one.snapshots is None and two.generated is None
    assert one.live.device_rules and one.live.device_rules[0].origin.line == 4
    assert set(reading.files) >= {"/etc/pve/lxc/101.conf", "/var/lib/lxc/101/config", f"{SHARE}/common.conf"}
    assert not any("pve2" in path for path in reading.files)


def test_what_starts_include() -> None:
    found, _ = take({**PROXMOX, f"{SHARE}/alpine.userns.conf": "lxc.cap.drop =\n",
                     f"{SHARE}/ubuntu.common.conf": "lxc.cap.drop =\n"})
    includes = found.includes or {}
    assert list(includes) == [f"{SHARE}/{n}.conf" for n in ("common", "userns", "alpine.userns")]
    assert values(includes[f"{SHARE}/userns.conf"]) == ["", "", "a"]
    rules = includes[f"{SHARE}/userns.conf"].device_rules or []
    assert rules[2].origin.file == f"{SHARE}/userns.conf.d/01-pve.conf"
    missing = includes[f"{SHARE}/common.conf"].ignored or []
    assert [(i.origin.line, i.why) for i in missing] == [
        (4, f"LXC: {SHARE}/common.conf.d/ is not there, so nothing is included")]


def test_ostype_is_no_path() -> None:
    found, _ = take({**PROXMOX, f"{NODE}/101.conf": "ostype: ../../../../etc/x\n",
                     "/etc/x.common.conf": "lxc.a = b\n"})
    assert set(found.includes or {}) == {f"{SHARE}/common.conf", f"{SHARE}/userns.conf"}


def test_own_include_is_read_in_place_in_the_live_part_only() -> None:
    include = "lxc.include: /etc/lxc/gpu.conf\n"
    found, _ = take({**PROXMOX,
                     f"{NODE}/101.conf": f"{include}lxc.cgroup2.devices.allow: c 1:1 r\n[ab]\n{include}",
                     "/etc/lxc/gpu.conf": "lxc.cgroup2.devices.allow = c 9:9 r\nlxc.idmap = u 0 1 2\n"})
    one = found.containers["101"]
    assert values(one.live) == ["c 9:9 r", "c 1:1 r"] and one.live.includes
    assert one.snapshots and not one.snapshots["ab"].device_rules
    assert one.privileged, "Proxmox VE looks for lxc.idmap in its own file alone"


@pytest.mark.parametrize("number", [errno.ENOTCONN, errno.EACCES, errno.ETIMEDOUT, errno.EIO])
def test_unreadable_proxmox_does_not_look_like_no_containers(number: int) -> None:
    word = "timeout" if number == errno.ETIMEDOUT else errno.errorcode[number]
    files: Files = {"/etc/pve/lxc/": OSError(number, "x"), "/var/lib/lxc/101/config": GENERATED,
                    "/var/lib/lxc/box/config": "lxc.uts.name = box\n", f"{CGROUP}/cgroup.controllers": ""}
    found, reading = take(files)
    assert reading.unreads == [Unread((fact,), "/etc/pve/lxc", word) for fact in ("containers", "includes")]
    assert list(found.containers) == ["box"]


def test_cluster_file_system_that_is_not_mounted() -> None:
    found, reading = take({"/etc/pve/": "", "/var/lib/lxc/101/config": GENERATED})
    assert found.containers == {} and [u.path for u in reading.unreads] == [("containers",), ("includes",)]
    assert "pve-cluster" in reading.unreads[0].why


def test_stat_of_the_cluster_file_system_hangs() -> None:
    hung = OSError(errno.ETIMEDOUT, "x")
    host = MemoryHost({"/var/lib/lxc/101/config": GENERATED}, nodes={"/etc/pve": hung})
    found, reading = gather(lxc, host)
    assert isinstance(found, Lxc) and found.containers == {}
    assert reading.unreads == [Unread((fact,), "/etc/pve", "timeout") for fact in ("containers", "includes")]


def test_one_file_that_cannot_be_read() -> None:
    found, reading = take({**PROXMOX, f"{NODE}/101.conf": OSError(errno.EIO, "x")})
    assert list(found.containers) == ["102"]
    assert reading.unreads == [
        Unread(fact, "/etc/pve/lxc/101.conf", "EIO") for fact in (("containers", "101"), ("includes",))]


def test_without_root() -> None:
    denied = OSError(errno.EACCES, "x")
    found, reading = take({"/etc/pve/lxc/": denied, "/var/lib/lxc/": denied})
    assert found.containers == {} and {u.path for u in reading.unreads} == {("containers",), ("includes",)}
    _, reading = take({**{k: v for k, v in PROXMOX.items() if "/var/" not in k}, "/var/lib/lxc/": denied})
    assert [u.path for u in reading.unreads] == [
        ("containers",), ("containers", "101", "generated"), ("containers", "102", "generated")]


def test_only_files_named_by_number() -> None:
    names = ("101.conf", "101.conf.tmp.1", "a.conf", ".1.conf", "1a.conf", "\u0661.conf")
    files = {f"/etc/pve/lxc/{name}": "" for name in names}
    found, reading = take({**files, f"{CGROUP}/cgroup.controllers": ""})
    assert list(found.containers) == ["101"] and reading.unreads == []
    assert found.includes is None


def test_what_proxmox_left_behind_is_no_container() -> None:
    stranger = GENERATED.replace("lxc/101", "elsewhere")
    found, _ = take({**PROXMOX, "/var/lib/lxc/105/config": GENERATED.replace("101", "105"),
                     "/var/lib/lxc/106/config": stranger})
    managers = {name: container.manager for name, container in found.containers.items()}
    assert managers == {"101": "pve", "102": "pve", "106": "lxc"}


def test_nothing_there() -> None:
    with pytest.raises(AbsentError, match="neither /etc/pve/lxc nor /var/lib/lxc is there"):
        gather(lxc, MemoryHost({"/etc/hostname": "x"}))
    found, reading = take({"/var/lib/lxc/": ""})
    assert found.containers == {} and found.includes is None and reading.unreads == []


def test_plain_container() -> None:
    config = "lxc.uts.name = 'a b'\nlxc.idmap = u 0 100000 65536\nlxc.include = /etc/lxc/default.conf\n"
    found, reading = plain(config, **{"default.conf": "lxc.net.0.type = empty\n"})
    assert (found.manager, found.hostname, found.privileged, found.running) == ("lxc", "a b", False, False)
    assert found.live.other and found.live.other[1].origin.file == "/etc/lxc/default.conf"
    assert found.generated is None and reading.unreads == []


def test_directory_without_configuration_is_no_container() -> None:
    found, reading = take({"/var/lib/lxc/rootfs/bin/sh": "", "/var/lib/lxc/file": ""})
    assert found.containers == {} and reading.unreads == []


def test_privileged_plain_containers() -> None:
    assert plain("")[0].privileged
    assert not plain("lxc.idmap = nonsense\n")[0].privileged
    assert plain("lxc.idmap = u 0 1 2\nlxc.idmap =\n")[0].privileged


def running(config: str, **groups: str) -> bool | None:
    files = {f"/sys/fs/cgroup/{name.replace('__', '/')}/cgroup.events": text for name, text in groups.items()}
    found, _ = take({"/var/lib/lxc/box/config": config, "/var/lib/lxc/box-2/config": "", **files,
                     f"{CGROUP}/cgroup.controllers": "cpu\n"})
    return found.containers["box"].running


def test_running() -> None:
    assert running("") is False
    assert running("", **{"lxc.payload.box": "populated 1\nfrozen 0\n"}) is True
    assert running("", **{"lxc.payload.box": "populated 0\n"}) is False
    assert running("", **{"lxc.payload.box": "populated 0\n", "lxc.payload.box-1": "populated 1\n"}) is True
    assert running("", **{"lxc.payload.box-2": "populated 1\n"}) is False
    assert running("", **{"lxc.payload.box-web": "populated 1\n"}) is False
    assert running("", own__place="populated 1\n") is False
    assert running("lxc.cgroup.dir.container = own/place\n", own__place="populated 1\n") is True
    assert running("lxc.cgroup.dir = up\n", **{"up__lxc.payload.box": "populated 1\n"}) is True
    assert running("lxc.cgroup.dir.container = own/place\n") is False
    assert running("lxc.cgroup.dir = up\n") is False
    assert running("lxc.cgroup.dir = up\n", **{"up__lxc.payload.box-12": "populated 1\n"}) is True
    assert running("lxc.cgroup.dir = up\n", **{"up__lxc.payload.box-2": "populated 1\n"}) is False


@pytest.mark.parametrize("line", ["relative = 1", "dir.container = ../../../etc", "dir = ../up"])
def test_a_cgroup_that_is_not_told_is_no_stopped_container(line: str) -> None:
    files: Files = {"/var/lib/lxc/box/config": f"lxc.cgroup.{line}\n", f"{CGROUP}/cgroup.controllers": ""}
    found, reading = take(files)
    assert found.containers["box"].running is None
    assert [u.path for u in reading.unreads] == [("containers", "box", "running")]
    assert running(f"lxc.cgroup.{line}\n", **{"lxc.payload.box": "populated 1\n"}) is True


def test_relative_undone_by_a_later_line() -> None:
    assert running("lxc.cgroup.relative = 1\nlxc.cgroup.relative = 0\n") is False


def patterned(pattern: str, group: str = "none", config: str = "") -> bool | None:
    found, _ = take({"/var/lib/lxc/box/config": config, "/etc/lxc/lxc.conf": f"lxc.cgroup.pattern = {pattern}\n",
                     f"{CGROUP}/cgroup.controllers": "", f"{CGROUP}/{group}/cgroup.events": "populated 1\n"})
    return found.containers["box"].running


def test_pattern_of_cgroups() -> None:
    assert [patterned("my/%n", g) for g in ("my/box", "my/box-3", "my/box/lxc.payload", "my/other")] == [
        True, True, True, False]
    assert patterned("all") is None and patterned("all", "all") is None and patterned("../%n") is None
    assert patterned("all", config="lxc.cgroup.dir.container = c\n") is False


def test_proxmox_names_the_cgroup_itself() -> None:
    found, reading = take({**PROXMOX, "/etc/lxc/lxc.conf": "lxc.cgroup.pattern = all\n"})
    assert [c.running for c in found.containers.values()] == [True, False] and reading.unreads == []
    found, _ = take({**PROXMOX, f"{NODE}/102.conf": "lxc.cgroup.relative: 1\n"})
    assert found.containers["102"].running is None


@pytest.mark.parametrize(("text", "unread"), [
    ("lxc.lxcpath=/srv/lxc", ["/srv/lxc"]), (" lxc.lxcpath = /srv/lxc\nlxc.lxcpath = /var/lib/lxc", ["/srv/lxc"]),
    ("lxc.lxcpath = /var/lib/lxc/", []), ("#lxc.lxcpath = /srv\nlxc.lxcpathx = /srv\nlxc.lxcpath /srv", []),
    ("lxc.bdev.zfs.root = x", []),
])
def test_containers_in_another_place(text: str, unread: list[str]) -> None:
    found, reading = take({"/var/lib/lxc/box/config": "", f"{CGROUP}/cgroup.controllers": "",
                           "/etc/lxc/lxc.conf": f"{text}\n"})
    assert [u.source for u in reading.unreads if u.path == ("containers",)] == unread
    assert list(found.containers) == ["box"]


def test_another_place_alone_is_not_nothing() -> None:
    found, reading = take({"/etc/lxc/lxc.conf": "lxc.lxcpath = /srv/lxc\n"})
    assert found.containers == {} and [u.path for u in reading.unreads] == [("containers",)]


def test_global_file_that_cannot_be_read() -> None:
    files: Files = {"/var/lib/lxc/box/config": "", f"{CGROUP}/cgroup.controllers": ""}
    found, reading = take({**files, "/etc/lxc/lxc.conf": OSError(errno.EACCES, "x")})
    assert found.containers["box"].running is None
    assert [u.path for u in reading.unreads] == [("containers",), ("containers", "box", "running")]


@pytest.mark.parametrize("own", ["", "lxc.idmap = u 0 1 2\n"])
def test_what_an_unread_include_may_hold_is_unknown(own: str) -> None:
    found, reading = plain(f"{own}lxc.uts.name = a\nlxc.include = /srv/x.conf\n")
    assert (found.privileged, found.hostname, found.running) == (None, None, None)
    assert {u.path[2] for u in reading.unreads} == {"live", "privileged", "hostname", "running"}


def test_included_lines_have_an_end() -> None:
    files: Files = {"/var/lib/lxc/box/config": "lxc.include = /etc/lxc/a\n" * 100, "/etc/lxc/a": "lxc.x = 1\n" * 9000}
    found, reading = take({**files, f"{CGROUP}/cgroup.controllers": ""})
    assert len(found.containers["box"].live.other or []) == 27_000
    assert [u.why for u in reading.unreads if u.path[-1] == "live"] == ["more than 20000 lines are included"]


def test_running_is_unknown() -> None:
    found, reading = take({"/var/lib/lxc/box/config": ""})
    assert found.containers["box"].running is None
    assert [u.path for u in reading.unreads] == [("containers", "box", "running")]
    found, reading = take({"/var/lib/lxc/box/config": "", f"{CGROUP}/cgroup.controllers": "",
                           "/sys/fs/cgroup/lxc.payload.box/cgroup.events": OSError(errno.ENODEV, "x")})
    assert found.containers["box"].running is None
    assert [(u.path, u.why) for u in reading.unreads] == [(("containers", "box", "running"), "ENODEV")]


def test_included_directory() -> None:
    found, reading = plain("lxc.include = /etc/lxc/d\n", **{
        "d__b.conf": "lxc.b = 1\n", "d__a.conf": "lxc.a = 1\n", "d__.h.conf": "lxc.h = 1\n",
        "d__.conf": "lxc.x = 1\n", "d__c.conf.bak": "lxc.x = 1\n", "d__README": "lxc.x = 1\n"})
    assert [o.key for o in found.live.other or []] == ["lxc.h", "lxc.a", "lxc.b"]
    assert found.live.unordered is None and reading.unreads == []


@pytest.mark.parametrize(("first", "second", "matters"), [
    ("lxc.a = 1", "lxc.a = 2", True), ("lxc.a = 1", "lxc.b = 2", False),
    ("lxc.cgroup2.devices.deny = a", "lxc.cgroup2.devices.allow = c 1:3 r", True),
])
def test_order_of_a_directory_is_not_known(first: str, second: str, matters: bool) -> None:
    found, _ = plain("lxc.include = /etc/lxc/d/\n", **{"d__1.conf": first, "d__2.conf": second})
    assert [(o.value, o.origin.line) for o in found.live.unordered or []] == [("/etc/lxc/d", 1)] * matters


def test_missing_includes() -> None:
    found, reading = plain("lxc.include = /etc/lxc/no.conf\nlxc.include = /etc/lxc/no/\nlxc.include =\n")
    assert [i.why for i in found.live.ignored or []] == [
        "LXC: /etc/lxc/no.conf is not there; the start fails",
        "LXC: /etc/lxc/no/ is not there, so nothing is included"]
    assert reading.unreads == []


def test_include_loops() -> None:
    found, _ = plain("lxc.include = /etc/lxc/a\n", a="lxc.a = 1\nlxc.include = /etc/lxc/./b\n",
                     b="lxc.include = \"/etc/lxc/a\"\nlxc.include = /var/lib/lxc/box/config\n")
    assert [i.why for i in found.live.ignored or []] == [
        f"LXC: {path} includes itself; the start fails" for path in ("/etc/lxc/a", "/var/lib/lxc/box/config")]
    assert [o.key for o in found.live.other or []] == ["lxc.a"]


def test_include_bomb() -> None:
    twice = {f"f{n}": f"lxc.include = /etc/lxc/f{n + 1}\n" * 2 for n in range(40)}
    found, reading = plain("lxc.include = /etc/lxc/f0\n", **twice)
    assert isinstance(found, Container)
    assert ("containers", "box", "live") in {u.path for u in reading.unreads}
    assert len(found.live.includes or []) <= 401


@pytest.mark.parametrize("path", ["/etc/shadow", "box.conf", "/usr/share/lxc/../../../etc/shadow", "/"])
def test_other_places_are_not_read(path: str) -> None:
    found, reading = take({"/var/lib/lxc/box/config": f"lxc.include = {path}\n", "/etc/shadow": "lxc.a = 1\n",
                           f"{CGROUP}/cgroup.controllers": ""})
    assert not found.containers["box"].live.other
    assert [u.source for u in reading.unreads if u.path == ("containers", "box", "live")] == [path]


def test_included_file_that_cannot_be_read_is_no_missing_file() -> None:
    files: Files = {f"/var/lib/lxc/{name}/config": "lxc.include = /etc/lxc/x\n" for name in ("a", "b")}
    files[f"{CGROUP}/cgroup.controllers"] = ""
    found, reading = take({**files, "/etc/lxc/x": OSError(errno.EACCES, "x")})
    assert [u.path[1] for u in reading.unreads if u.path[2] == "live"] == ["a", "b"]
    assert not any(c.live.ignored for c in found.containers.values())


def test_file_with_a_slash_at_its_end() -> None:
    found, _ = plain("lxc.include = /etc/lxc/x/\n", x="lxc.a = 1\n")
    assert [i.why for i in found.live.ignored or []] == ["LXC: /etc/lxc/x/ is no directory; the start fails"]
    assert not found.live.other


def test_secrets_stay_outside() -> None:
    found, _ = take({**PROXMOX, f"{NODE}/101.conf": f"{CONF}lxc.environment: A=hunter2\n",
                     "/var/lib/lxc/101/config": f"{GENERATED}lxc.environment = A=hunter2\n"})
    assert "hunter2" not in str(found.table())


def test_binary_and_many_containers() -> None:
    files: Files = {f"/etc/pve/lxc/{n}.conf": CONF for n in range(100, 400)}
    files["/var/lib/lxc/x/config"] = b"\xff\0=\nlxc."
    found, _ = take({**files, "/etc/pve/lxc/99.conf": bytes(range(256))})
    assert len(found.containers) == 302


def test_devices_that_are_given_and_no_other_section_looks_at() -> None:
    lines = "dev0: /dev/kvm\nlxc.mount.entry: {0} dev/x none bind 0 0\n"
    nodes: dict[str, Stat | OSError] = {
        "/dev/kvm": node("char", 10, 232), "/dev/ttyUSB0": node("char", 188, 0, 0o660, gid=20),
        "/dev/secret": OSError(errno.EACCES, "denied"), "/dev/dri/card0": node("char", 226, 0),
        "/srv/x": node("char", 1, 3),
    }
    links = {**LINKS, "/dev/serial/by-id/stick": "../../ttyUSB0"}

    def given(source: str) -> tuple[dict[str, tuple[str, int | None]] | None, list[Unread]]:
        files = {**PROXMOX, f"{NODE}/101.conf": CONF + lines.format(source), "/dev/snd/": ""}
        found, reading = gather(lxc, MemoryHost(files, links, nodes))
        assert isinstance(found, Lxc)
        return {path: (n.type, n.major) for path, n in (found.nodes or {}).items()}, reading.unreads

    kvm = {"/dev/kvm": ("c", 10)}
    assert given("/dev/serial/by-id/stick") == ({**kvm, "/dev/serial/by-id/stick": ("c", 188)}, [])
    assert given("/dev/snd/") == ({**kvm, "/dev/snd": ("directory", None)}, [])
    for elsewhere in ("/dev/gone", "/srv/x", "/dev/dri/card0", "/dev/nvidia-caps", "/dev/../srv/x", "/dev/"):
        assert given(elsewhere) == (kvm, []), elsewhere
    assert given("/dev/secret") == (kvm, [Unread(("nodes", "/dev/secret"), "/dev/secret", "EACCES")])


@pytest.mark.parametrize(("text", "kills"), [
    ("low 0\nhigh 4\nmax 9\noom 2\noom_kill 3\noom_group_kill 0\n", 3), ("oom_kill 0\n", 0), ("", None),
    ("oom_kill\n", None), ("oom_kill -1\n", None), (f"oom_kill {'9' * 5000}\n", None), ("oom_kill 3 4\n", None),
])
def test_processes_that_were_killed(text: str, kills: int | None) -> None:
    found, reading = take({**PROXMOX, f"{CGROUP}/lxc/101/memory.events": text, f"{CGROUP}/lxc/102/memory.events": text})
    assert (found.containers["101"].oom_kills, found.containers["102"].oom_kills) == (kills, None)
    assert reading.unreads == []


def test_whether_processes_were_killed_is_not_known() -> None:
    found, reading = take({**PROXMOX, f"{CGROUP}/lxc/101/memory.events": OSError(errno.EACCES, "denied")})
    assert found.containers["101"].oom_kills is None
    [unread] = reading.unreads
    assert (unread.path, unread.why) == (("containers", "101", "oom_kills"), "EACCES")
    assert take(PROXMOX)[0].containers["101"].oom_kills is None


def test_no_line_names_a_device_of_its_own() -> None:
    assert take(PROXMOX)[0].nodes is None
    files = {**PROXMOX, f"{NODE}/101.conf": f"{CONF}dev0: /dev/gone\n"}
    assert take(files)[0].nodes == {}


def test_paths_that_are_left_to_section_devices_are_those_that_it_looks_at() -> None:
    for pattern in (path for path in devices.READS.paths if path.startswith("/dev/")):
        assert LOOKED_AT.fullmatch(pattern.replace("*", "x1")), pattern
        top = pattern.rpartition("/")[0]
        assert top == "/dev" or FOLDERS.fullmatch(top), top
