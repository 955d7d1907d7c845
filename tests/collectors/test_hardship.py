"""Every section on the whole synthetic host when part of it is closed, hangs or is of another type.

What root's take knows is either the same in such a take or named as unread: nothing is lost in silence, nothing becomes
another value, no section fails, and none says that there is no hardware.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import pytest

from fixtures import epyc, whole
from snapshot.capture import SYSTEM_STATE, take
from snapshot.collectors import collector, nvidia_events
from snapshot.document import Snapshot
from snapshot.host.base import Command, Names, Result, Session
from snapshot.sections import NAMES

from .fake import MemoryHost

Fact = tuple[str, ...]
Judge = Callable[[str], bytes | OSError | None]
# Files of the host that only root may read: modes of sysfs, procfs, debugfs, efivarfs and pmxcfs, and of packages.
CLOSED = (
    "/etc/pve", "/etc/pve/.*", "/var/lib/lxc", "/var/lib/lxc/.*", "/sys/kernel/debug", "/sys/kernel/debug/.*",
    "/sys/firmware/dmi/tables/DMI", "/proc/sys/kernel/cad_pid", "/proc/sys/kernel/usermodehelper/.*",
    "/proc/sys/net/core/bpf_jit_.*", "/proc/sys/vm/mmap_rnd.*", "/proc/net/vlan/.*",
    "/sys/module/(processor|intel_idle)/parameters/max_cstate", "/sys/module/vfio[^/]*/parameters/.*",
    "/etc/netplan/.*", "/var/spool/cron/.*", "/boot/grub2?/.*", "/boot/efi/.*", "/efi/.*", "/etc/rancher/.*",
    "/var/lib/rancher/.*",
)


class Changed(MemoryHost):
    """A host on which JUDGE says what reading or listing a path gives; None: what it gives anyway."""

    def __init__(self, host: MemoryHost, judge: Judge) -> None:
        """Shares the content of HOST."""
        vars(self).update(vars(host))
        self.ran, self.judge = [], judge

    def read(self, path: str, limit: int = 64 << 20) -> bytes:
        """As Host.read."""
        content = self.judge(path)
        if isinstance(content, OSError):
            raise content
        there = super().read(path, limit)
        return there if content is None else content

    def list(self, path: str) -> Names:
        """As Host.list."""
        if isinstance(content := self.judge(path), OSError):
            raise content
        return super().list(path)

    def readlink(self, path: str) -> str:
        """As Host.readlink."""
        if isinstance(content := self.judge(path), OSError):
            raise content
        return super().readlink(path)


class Answering(MemoryHost):
    """A host on which ANSWER is what every command says."""

    def __init__(self, host: MemoryHost, answer: Callable[[Result], Result]) -> None:
        """Shares the content of HOST."""
        vars(self).update(vars(host))
        self.ran, self.answer = [], answer

    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        """As Host.run."""
        return {command: self.answer(result) for command, result in super().run(commands).items()}


@cache
def host() -> MemoryHost:
    return whole.host(epyc.AFTER)


@cache
def root(name: str) -> Snapshot:
    """The section as root sees it."""
    return take(host(), (name,))


def pattern(path: str) -> re.Pattern[str]:
    """What a declared path covers."""
    parts = (re.escape(part).replace(r"\*", "[^/]*") for part in path.split("**"))
    return re.compile(".*".join(parts), re.DOTALL)


def closed(paths: re.Pattern[str], number: int = errno.EACCES) -> Judge:
    return lambda path: OSError(number, "closed", path) if paths.fullmatch(path) else None


def holding(paths: re.Pattern[str], content: bytes) -> Judge:
    return lambda path: content if paths.fullmatch(path) else None


def facts(snap: Snapshot, name: str) -> dict[Fact, object]:
    return dict(_leaves(snap.table(name))) if snap.outcomes[name].facts else {}


def _leaves(table: object, path: Fact = ()) -> Iterator[tuple[Fact, object]]:
    if isinstance(table, dict) and table:
        for key, value in table.items():
            yield from _leaves(value, (*path, key))
    else:
        yield path, table


def lost(snap: Snapshot, name: str) -> list[Fact]:
    """Facts that root knows, that are not there, or others, and not named as unread."""
    now = facts(snap, name)
    other = (path for path, value in facts(root(name), name).items() if path not in now or now[path] != value)
    return [path for path in other if snap.unread(name, path) is None]


def survived(snap: Snapshot, name: str, absent: bool = False) -> None:
    outcome, before = snap.outcomes[name], root(name).outcomes[name]
    assert outcome.state != "failed", outcome.why
    assert absent or outcome.state != "absent" or before.state == "absent", outcome.why


# Declared paths whose loss another source makes good, or that the key of an item comes from: its facts are then there
# under another key, and what is unread is named under that.
OTHER = {
    "kernel": ("/proc/sys/kernel/version",),
    "net": ("/sys/class/net/*", "/sys/class/net/*/address", "/sys/class/net/*/addr_assign_type",
            "/sys/class/net/*/bonding_slave/perm_hwaddr"),
    # Without config the source is another, without pci.ids there is no name, without the firmware's path the domain is.
    "pci": ("/sys/devices/*/firmware_node/path", "/usr/share/misc/pci.ids", "/sys/bus/pci/devices/*/config"),
    "rdma": ("/sys/class/infiniband/*/node_guid",),
    "storage": ("/sys/block", "/sys/block/*/device/serial", "/sys/class/nvme/*/serial"),
    # A program that cannot be read may be a script: it is named as one.
    "units": ("/usr/bin/**", "/usr/sbin/**", "/bin/**", "/usr/share/**"),
}
NOT_IN_USE = {(errno.EIO, "power")}  # what the kernel answers for autosuspend_delay_ms that a driver does not use


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ETIMEDOUT], ids=errno.errorcode.get)
def test_whatever_is_closed_is_named_and_nothing_else_is_lost(name: str, number: int) -> None:
    for path in collector(name).reads.paths:
        snap = take(Changed(host(), closed(pattern(path), number)), (name,))
        survived(snap, name)
        if path not in OTHER.get(name, ()) and (number, name) not in NOT_IN_USE:
            assert not lost(snap, name), path


def test_the_exceptions_are_declared_paths() -> None:
    for name, paths in OTHER.items():
        assert set(paths) <= set(collector(name).reads.paths)


CONTENTS = (b"", bytes(range(256)), b"18446744073709551616\r\n", b"9" * 5000)


@pytest.mark.parametrize("name", NAMES)
def test_whatever_holds_something_else_costs_no_other_section(name: str) -> None:
    """A section that needs the file may fail, in words of its own: never by a fault of the program."""
    for path in collector(name).reads.paths:
        for content in CONTENTS:
            snap = take(Changed(host(), holding(pattern(path), content)), (name,))
            why = snap.outcomes[name].why or ""
            assert not re.match(r"\w+Error: ", why), (path, content[:20], why)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [errno.EISDIR, errno.ENOTDIR, errno.ELOOP], ids=errno.errorcode.get)
def test_whatever_is_of_another_type_is_survived(name: str, number: int) -> None:
    for path in collector(name).reads.paths:
        snap = take(Changed(host(), closed(pattern(path), number)), (name,))
        survived(snap, name, absent=number == errno.ENOTDIR)


# What a user without rights gets of commands: the kernel log is closed, the rest is for all.
NO_LOG = Result(1, b"", b"No journal files were opened due to insufficient permissions.\n")
KERNEL_LOG = " ".join(nvidia_events.COMMAND)


def plain_user() -> MemoryHost:
    """The host as a user sees it: of configuration space the header, of closed files nothing."""
    paths, config = re.compile("|".join(CLOSED)), pattern("/sys/bus/pci/devices/*/config")
    seen = Changed(host(), lambda path: host().read(path)[:64] if config.fullmatch(path) else closed(paths)(path))
    seen.results = seen.results | {KERNEL_LOG: NO_LOG}
    seen.session = Session(seen.session.taken_ns, 1000, "0" * 16, seen.session.hostname)
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_without_root_what_is_readable_is_recorded_and_the_rest_named(name: str) -> None:
    snap = take(plain_user(), (name,))
    survived(snap, name)
    assert not lost(snap, name)


def test_without_root_the_sections_that_root_adds_to_say_so() -> None:
    """Each section that is poorer without root declares what root adds, and no other is poorer."""
    poorer = {name for name in NAMES
              if take(plain_user(), (name,)).outcomes[name].unread != root(name).outcomes[name].unread}
    assert {"firmware", "pci", "nvidia", "lxc", "qemu", "sysctl", "modules", "cpuidle"} <= poorer
    assert poorer <= {name for name in NAMES if collector(name).reads.root}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("answer", [
    Result(None, why="timeout"), Result(None, why="not-found"), Result(None, why="denied"),
    Result(None, b"{[<x", why="output-limit"), Result(0), Result(1, b"", b"error\n"), Result(-9, bytes(range(256))),
], ids=lambda result: result.why or str(result.exit_code))
def test_commands_that_hang_or_say_nonsense_cost_only_what_they_tell(name: str, answer: Result) -> None:
    hung = Answering(host(), lambda _: answer)
    snap = take(hung, (name,))
    survived(snap, name)
    asked = {command for command in hung.ran if command.argv != SYSTEM_STATE.argv}
    if answer.why and asked:
        assert snap.outcomes[name].state == ("timeout" if answer.why == "timeout" else "partial")
        assert not lost(snap, name)
    elif not asked:
        assert snap.outcomes == root(name).outcomes


@pytest.mark.parametrize("name", NAMES)
def test_commands_whose_answer_is_cut_short_are_survived(name: str) -> None:
    def cut(result: Result) -> Result:
        return Result(result.exit_code, result.stdout[: len(result.stdout) // 2], result.stderr, result.why)

    survived(take(Answering(host(), cut), (name,)), name)


HALVES: dict[str, dict[str, float | None]] = {  # how much of a file is there
    "no generated configuration": {"/var/lib/lxc/101/config": None},
    "no configuration": {"/etc/pve/lxc/101.conf": None},
    "half a generated configuration": {"/var/lib/lxc/101/config": 0.5},
    "half a configuration": {"/etc/pve/lxc/101.conf": 0.5},
    "nothing in it": {"/etc/pve/lxc/101.conf": 0.0, "/var/lib/lxc/101/config": 0.0},
    "no common configuration": {"/usr/share/lxc/config/common.conf": None},
}


@pytest.mark.parametrize("half", HALVES)
def test_half_a_container_costs_no_other(half: str) -> None:
    def judge(path: str) -> bytes | OSError | None:
        if path not in HALVES[half]:
            return None
        kept = HALVES[half][path]
        data = host().read(path)
        return FileNotFoundError(errno.ENOENT, "gone", path) if kept is None else data[: int(len(data) * kept)]

    snap = take(Changed(host(), judge), ("lxc",))
    survived(snap, "lxc")
    whole_host, now = facts(root("lxc"), "lxc"), facts(snap, "lxc")
    others = {path for path in whole_host if path[:2] in (("containers", "102"), ("containers", "103"))}
    assert others
    if "common" not in half:
        assert all(now[path] == whole_host[path] for path in others)
