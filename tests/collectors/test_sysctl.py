"""/proc/sys as it is now: types, what is left out, what must not be opened, and what could not be read."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import sysctl
from snapshot.collectors.base import Reading
from snapshot.collectors.sysctl import guest_kind, value_of
from snapshot.sections.sysctl import COMPUTED_KEYS, VOLATILE_KEYS, Sysctl

from .fake import Content, MemoryHost, gather, node

DENIED = OSError(errno.EACCES, "Permission denied")
FILE, CONF = "/proc/sys/vm/swappiness", "/etc/sysctl.d/10-a.conf"
HIDDEN = "/usr/lib/sysctl.d/10-a.conf"


def take(files: Mapping[str, Content], links: dict[str, str] | None = None) -> tuple[Sysctl, Reading]:
    found, reading = gather(sysctl, MemoryHost({"/proc/cmdline": "quiet\n", "/etc/": "", **files}, links))
    assert isinstance(found, Sysctl)
    return found, reading


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"60\n", 60),
        (b"-1\n", -1),
        (b"", ""),
        (b"\n", ""),
        (b"4096\t131072\t6291456\n", "4096 131072 6291456"),
        (b"18446744073709551615\n", "18446744073709551615"),
        (b"9223372036854775807\n", 2**63 - 1),
        (b"-9223372036854775808\n", -(2**63)),
        (b"9223372036854775808\n", "9223372036854775808"),
        (b"007\n", "007"),
        (b"-0\n", "-0"),
        (b"+5\n", "+5"),
        (b"0x10\n", "0x10"),
        ("\u0663\n".encode(), "\u0663"),
        (b"|/bin/x  %P\t%u \n", "|/bin/x %P %u"),
        (b"drive name:\t\tsr0\nspeed:\t1\n\n", "drive name: sr0\nspeed: 1"),
        (b"\xff\xfe\n", "\udcff\udcfe"),
    ],
)
def test_values_are_typed_and_blanks_normalised(data: bytes, value: int | str) -> None:
    assert value_of(data) == value
    assert type(value_of(data)) is type(value)


@given(st.binary(max_size=60) | st.integers().map(lambda n: b"%d\n" % n))
def test_any_bytes_are_a_value_and_an_integer_loses_nothing(data: bytes) -> None:
    value = value_of(data)
    if isinstance(value, int):
        assert str(value).encode() == data.strip()


def test_a_dot_within_a_part_is_written_as_a_slash() -> None:
    found, _ = take({"/proc/sys/net/ipv4/conf/enp3s0.200/forwarding": "1\n"})
    assert found.values == {"net.ipv4.conf.enp3s0/200.forwarding": 1}


NEVER = [
    "vm/compact_memory", "vm/drop_caches", "vm/stat_refresh", "net/ipv4/route/flush", "net/ipv6/route/flush",
    "fs/binfmt_misc/register", "fs/binfmt_misc/status", "net/ipv4/tcp_fastopen_key",
    "net/core/netdev_rss_key",
    "net/ipv6/conf/eth0/stable_secret", "net/ipv6/conf/veth1/stable_secret", "kernel/hostname",
    "kernel/domainname",
    "kernel/random/uuid", "kernel/random/boot_id", "kernel/random/entropy_avail", "kernel/ns_last_pid",
    "kernel/pty/nr", "fs/dentry-state", "fs/inode-nr", "fs/inode-state", "fs/file-nr", "fs/aio-nr",
    "fs/quota/syncs",
    "fs/quota/allocated_dquots", "net/netfilter/nf_conntrack_count", "sunrpc/svc_rdma/rdma_stat_read",
]


class Watched(MemoryHost):
    """Notes what walk opened and listed."""

    def __init__(self, files: dict[str, Content]) -> None:
        super().__init__(files)
        self.opened: list[str] = []

    def _content(self, path: str) -> bytes | OSError:
        self.opened.append(path)
        return super()._content(path)

    def walk(
        self, top: str, skip: frozenset[str] = frozenset(), prune: Callable[[str], bool] = lambda _: False
    ) -> Iterator[tuple[str, bytes | OSError]]:
        self.opened.append(top)
        yield from super().walk(top, skip, prune)


def test_what_acts_counts_or_is_private_is_not_even_opened() -> None:
    never = dict.fromkeys((f"/proc/sys/{path}" for path in NEVER), "7\n")
    host = Watched({FILE: "60\n", "/proc/sys/fs/quota/warnings": "1\n", **never})
    found, _ = gather(sysctl, host)
    assert isinstance(found, Sysctl)
    assert found.values == {"fs.quota.warnings": 1, "vm.swappiness": 60}
    assert not never.keys() & set(host.opened)
    assert "/proc/sys/fs/binfmt_misc" not in host.opened  # an automount may wait there


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("veth101i0", "veth*"), ("tap100i0", "tap*"), ("fwbr101i0", "fwbr*"), ("fwpr101p0", "fwpr*"),
        ("fwln101i0", "fwln*"), ("docker0", "docker*"), ("br-0123456789ab", "br-*"), ("cali1a2b", "cali*"),
        ("cni0", "cni*"), ("flannel.1", "flannel*"), ("vnet3", "vnet*"), ("lxcbr0", "lxc*"), ("tun0", "tun*"),
        ("virbr0", "virbr*"), ("macvtap0", "macvtap*"), ("vb-box", "vb-*"), ("ve-box", "ve-*"),
        ("vmbr0", None), ("bond0", None), ("eth0", None), ("enp1s0.20", None), ("dummy0", None), ("lo", None),
        ("all", None), ("default", None), ("tunl0", None), ("br-lan", None), ("br-0123456789abc", None),
        ("team0", None), ("wg0", None), ("vlan5", None), ("veth", "veth*"), ("myveth0", None),
    ],
)
def test_guest_interfaces_by_name(name: str, kind: str | None) -> None:
    assert guest_kind(name) == kind


def test_trees_of_guest_interfaces_are_counted_instead() -> None:
    trees = [f"net/{t}" for t in ("ipv4/conf", "ipv4/neigh", "ipv6/conf", "ipv6/neigh", "mpls/conf")]
    keys = [f"/proc/sys/{tree}/{name}/mtu" for tree in trees for name in ("veth1", "veth2", "vmbr0")]
    found, _ = take(dict.fromkeys([*keys, "/proc/sys/net/ipv4/conf/docker0/mtu"], "1500\n"))
    assert found.left_out == {"docker*": 1, "veth*": 10}
    assert sorted(found.values) == sorted(f"{tree.replace('/', '.')}.vmbr0.mtu" for tree in trees)


def test_an_interface_with_a_device_behind_it_is_no_guest() -> None:
    link = {"/sys/class/net/tap0/device": "../../../0000:01:00.0"}
    found, _ = take({"/proc/sys/net/ipv4/conf/tap0/mtu": "1500\n"}, link)
    assert found.left_out is None
    assert found.values == {"net.ipv4.conf.tap0.mtu": 1500}


def test_a_key_only_for_root_is_unread_and_one_that_is_never_readable_is_not() -> None:
    host = MemoryHost(
        {"/proc/sys/net/core/bpf_jit_harden": DENIED, "/proc/sys/kernel/secret_door": DENIED, FILE: "60\n"},
        nodes={"/proc/sys/kernel/secret_door": node("file", mode=0o200)},
    )
    found, reading = gather(sysctl, host)
    assert isinstance(found, Sysctl)
    assert found.values == {"vm.swappiness": 60}
    (unread,) = [u for u in reading.unreads if u.path[0] == "values"]
    assert (unread.path, unread.why) == (("values", "net.core.bpf_jit_harden"), "EACCES")


def test_patterns_reach_keys_that_only_root_may_read() -> None:
    found, _ = take({"/proc/sys/net/core/bpf_jit_harden": DENIED, CONF: "net.core.bpf_* = 2\n"})
    assert found.settings is not None
    assert list(found.settings) == ["net.core.bpf_jit_harden"]


@pytest.mark.parametrize(
    ("error", "path"),
    [(errno.EIO, ("values", "kernel.odd")), (errno.EBUSY, ("values", "kernel.odd")), (errno.ENOENT, None)],
)
def test_other_errors_are_unread_and_a_key_that_vanished_is_gone(error: int, path: object) -> None:
    _, reading = take({"/proc/sys/kernel/odd": OSError(error, ""), FILE: "60\n"})
    assert [u.path for u in reading.unreads] == ([path] if path else [])


def test_a_directory_that_cannot_be_listed_leaves_all_missing_values_unknown() -> None:
    _, reading = take({"/proc/sys/sunrpc/": DENIED, FILE: "60\n"})
    (unread,) = reading.unreads
    assert (unread.path, unread.source, unread.why) == (("values",), "/proc/sys/sunrpc", "EACCES")


def test_without_proc_sys_nothing_is_known() -> None:
    found, reading = take({})
    assert found.values == {}
    assert [(u.path, u.why) for u in reading.unreads] == [(("values",), "ENOENT")]


def test_a_file_that_cannot_be_read_makes_the_settings_unknown_and_still_hides_others() -> None:
    found, reading = take({FILE: "60\n", CONF: DENIED, HIDDEN: "vm.swappiness = 1\n"})
    assert found.settings is None
    assert found.masked == {HIDDEN: CONF}
    assert {u.path for u in reading.unreads} == {("settings",), ("masked",), ("ignored",)}
    assert {u.source for u in reading.unreads} == {CONF}


def test_a_directory_of_files_that_cannot_be_listed_makes_the_settings_unknown() -> None:
    _, reading = take({FILE: "60\n", "/run/sysctl.d/": DENIED})
    assert ("settings",) in {u.path for u in reading.unreads}


def test_files_are_listed_with_what_they_hold() -> None:
    found, reading = take(
        {
            FILE: "60\n", CONF: "vm.swappiness = 1\n", "/etc/sysctl.conf": "vm.swappiness = 2\n",
            "/etc/sysctl.d/x.bak": "vm.x=1",
        },
        {
            "/etc/sysctl.d/99-sysctl.conf": "../sysctl.conf", "/etc/sysctl.d/null.conf": "/dev/null",
            "/etc/sysctl.d/gone.conf": "/nowhere",
        },
    )
    assert sorted(reading.files) == ["/etc/sysctl.conf", CONF, "/etc/sysctl.d/99-sysctl.conf"]
    assert found.settings is not None
    (setting,) = found.settings.values()
    assert setting.systemd is not None and setting.procps is not None
    assert setting.systemd.origin.file == "/etc/sysctl.d/99-sysctl.conf"
    assert setting.procps.origin.file == "/etc/sysctl.conf"
    assert found.ignored is None
    assert reading.unreads == []


@pytest.mark.parametrize("target", ["/dev/null", "/nowhere", "/usr"])
def test_a_link_to_nothing_masks(target: str) -> None:
    files: dict[str, Content] = {FILE: "60\n", HIDDEN: "vm.swappiness = 1\n", "/proc/cmdline": ""}
    host = MemoryHost(files, {CONF: target}, {"/dev/null": node("char", 1, 3)})
    found, reading = gather(sysctl, host)
    assert isinstance(found, Sysctl)
    assert (found.settings, found.masked) == (None, {HIDDEN: CONF})
    assert reading.unreads == []


def test_a_directory_named_like_a_file_hides_nothing() -> None:
    found, _ = take({FILE: "60\n", f"{CONF}/": "", HIDDEN: "vm.swappiness = 1\n"})
    assert found.settings is not None and found.masked is None


@pytest.mark.parametrize(("links", "count"), [({"/lib": "usr/lib"}, None), ({}, 1)])
def test_lib_is_a_place_of_its_own_only_where_it_is_no_link(links: dict[str, str], count: int | None) -> None:
    files: dict[str, Content] = {FILE: "60\n", HIDDEN: "vm.swappiness = 1\n"}
    if not links:
        files["/lib/sysctl.d/10-a.conf"] = "vm.swappiness = 2\n"
    found, _ = take(files, links=links)
    assert found.settings is not None
    assert found.settings["vm.swappiness"].overridden is None
    assert (found.masked and len(found.masked)) == count


def test_two_takes_are_equal_and_hundreds_of_cpus_and_guests_do_not_matter() -> None:
    domain = "/proc/sys/kernel/sched_domain/cpu{}/domain0/flags"
    files: dict[str, Content] = {domain.format(n): f"{n}\n" for n in range(256)}
    files |= {f"/proc/sys/net/ipv4/conf/veth{n}i0/rp_filter": "0\n" for n in range(300)}
    files[CONF] = "net.ipv4.conf.*.rp_filter = 2\n"
    first, again = take(files)[0], take(dict(reversed(files.items())))[0]
    assert list(first.table()["values"].items()) == list(again.table()["values"].items())
    assert first.left_out == {"veth*": 300}
    assert first.ignored is not None and "recorded" in first.ignored[0].why


def test_key_patterns_name_keys_of_their_own_form() -> None:
    for pattern in (*COMPUTED_KEYS, *VOLATILE_KEYS["values"]):
        assert pattern.count(".") >= 1 and "/" not in pattern
    assert any(fnmatchcase("user.max_user_namespaces", pattern) for pattern in COMPUTED_KEYS)
    assert not any(fnmatchcase("user.max_inotify_watches", pattern) for pattern in COMPUTED_KEYS)


def test_corpus_values_of_a_whole_machine(corpus: Path) -> None:
    lines = (corpus / "sysctl-a" / "centos-7.7.txt").read_text().splitlines()
    values = {key: value_of(value.encode()) for key, _, value in (line.partition(" = ") for line in lines)}
    assert values["abi.vsyscall32"] == 1
    assert isinstance(values["net.ipv4.tcp_rmem"], str)
    assert "\t" not in str(values["net.ipv4.tcp_rmem"])
