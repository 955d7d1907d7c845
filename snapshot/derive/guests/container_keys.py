"""What is wrong with a raw lxc.* line: a key or value that LXC or the kernel refuses, or that does nothing.

lxc.container.conf(5); confile.c, confile_utils.c and cgroups/cgfsng.c of LXC; Documentation/admin-guide/cgroup-v2.rst
and cgroup-v1 of the kernel.

* LXC writes the value of lxc.cgroup2.FILE to that file of the container's cgroup before anything runs in it. When there
  is no such file, or the kernel refuses the value, the start fails. ``devices`` is no file: LXC makes a program of
  these lines, and a key that begins with it and is not ``devices.allow`` counts as ``devices.deny``.
* A device rule that does not parse is left out, and the container starts without it.
* Keys of LXC 2 and limits that setrlimit(2) does not have are refused when the file is read.
"""

from __future__ import annotations

import re
from collections.abc import Set

from ...errors import misspelt
from ...records import record
from ...regexes import regex
from ...sections.base import Origin
from ...sections.lxc import unquoted
from ..access.lxc_rules import Dropped, parse_rule
from ..hardware.cpu_lists import cpus

DEVICES = "lxc.cgroup2.devices"
ALLOW, DENY = f"{DEVICES}.allow", f"{DEVICES}.deny"
V1 = regex(r"lxc\.cgroup\.(?!dir$|dir\.|relative$)")
CONTROLLERS = (  # the first words of the names of files that a cgroup has
    "cgroup", "cpu", "cpuset", "devices", "dmem", "hugetlb", "io", "irq", "memory", "misc", "pids", "rdma",
)
V1_FILES = regex(
    r"memory\.(limit_in_bytes|memsw\.|soft_limit|kmem\.|swappiness|oom_control|use_hierarchy|move_charge)"
    r"|cpu\.(shares|cfs_|rt_)|cpuset\.(cpu_exclusive|mem_exclusive|mem_hardwall|memory_|sched_)"
    r"|hugetlb\..*\.limit_in_bytes|(blkio|cpuacct|net_cls|net_prio|freezer)\."
)
V2_NAMES = {
    "memory.limit_in_bytes": "memory.max", "device.allow": "devices.allow", "device.deny": "devices.deny",
}
SIZED = regex(r"memory\.(max|high|low|min|swap\.max|swap\.high|zswap\.max)")
SIZE = regex(r"max|(0x[0-9a-f]+|[0-9]+)[kmgtpe]?", re.IGNORECASE | re.ASCII)  # memparse in lib/cmdline.c
LIMITS = (
    "as", "core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss", "rtprio",
    "rttime", "sigpending", "stack",
)
LXC2 = {
    "lxc.aa_profile": "lxc.apparmor.profile", "lxc.aa_allow_incomplete": "lxc.apparmor.allow_incomplete",
    "lxc.console": "lxc.console.path", "lxc.devttydir": "lxc.tty.dir", "lxc.haltsignal": "lxc.signal.halt",
    "lxc.id_map": "lxc.idmap", "lxc.init_cmd": "lxc.init.cmd", "lxc.logfile": "lxc.log.file",
    "lxc.loglevel": "lxc.log.level", "lxc.mount": "lxc.mount.fstab", "lxc.pts": "lxc.pty.max",
    "lxc.rebootsignal": "lxc.signal.reboot", "lxc.se_context": "lxc.selinux.context",
    "lxc.seccomp": "lxc.seccomp.profile", "lxc.stopsignal": "lxc.signal.stop", "lxc.tty": "lxc.tty.max",
    "lxc.utsname": "lxc.uts.name",
}
_RULE = regex(
    r"\s*([abc])\s*(0x[0-9a-f]{1,4}|[0-9a-f]{1,10}|\*|all)\s*"
    r"(?::\s*(0x[0-9a-f]{1,6}|[0-9a-f]{1,10}|\*|all)((?:[,-][0-9]+)*))?(?![0-9a-z])\s*([rwm]*)",
    re.IGNORECASE | re.ASCII,
)


@record(frozen=True)
class Fault:
    """WORD is dropped, v1-key, wrong-key or refused; STOPS: the start fails; KEY and VALUE are what is meant."""

    word: str
    why: str
    stops: bool = False
    key: str = ""
    value: str = ""


def fault_of(key: str, value: str, possible: Set[int] | None) -> Fault | None:
    """What is wrong with a line on a host with cgroup2 alone; POSSIBLE are the CPUs that it can have, if known."""
    text = unquoted(value)
    if not text:
        return None  # makes LXC forget the lines above it
    if V1.match(key):
        return Fault("v1-key", "cgroup v1, which this host does not have", key=_v2(key))
    if key.startswith(DEVICES):
        return _device(key, text)
    if key.startswith("lxc.cgroup2."):
        return _file(key.removeprefix("lxc.cgroup2."), text, possible)
    return _old(key)


def corrected(value: str) -> str | None:
    """The device rule that VALUE seems to mean, as LXC parses it; None when that cannot be told."""
    found = _RULE.match(value)
    if not found:
        return None
    kind, major, minor, more, access = found.groups()
    numbers = _decimal(major), "*" if minor is None or more else _decimal(minor)
    letters = "".join(letter for letter in "rwm" if letter in access.lower())
    text = f"{kind.lower()} {numbers[0]}:{numbers[1]} {letters or 'rwm'}"
    ambiguous = None in numbers or (_bare_hex(minor or "") and major.isdecimal())
    return None if ambiguous or isinstance(parse_rule(ALLOW, text, _NOWHERE), Dropped) else text


_NOWHERE = Origin(file="", line=0, text="")


def _device(key: str, text: str) -> Fault | None:
    if key not in (ALLOW, DENY):
        near = misspelt(key, (ALLOW, DENY))
        why = f"{key} is neither allow nor deny, which makes it a deny"
        return Fault("wrong-key", why, key=near[0] if near else "")
    rule = parse_rule(key, text, _NOWHERE)
    return Fault("dropped", rule.why, value=corrected(text) or "") if isinstance(rule, Dropped) else None


def _file(name: str, text: str, possible: Set[int] | None) -> Fault | None:
    if V1_FILES.match(name) or name.partition(".")[0] not in CONTROLLERS:
        return Fault("refused", f"cgroup2 has no file {name}", True, key=_named(name))
    if SIZED.fullmatch(name) and not SIZE.fullmatch(text):
        return Fault("refused", f"the kernel refuses {text} for {name}", True)
    asked = cpus(text) if name == "cpuset.cpus" else None
    lost = (asked or set()) - possible if possible else set()
    return Fault("refused", f"{name} names CPU {max(lost)}, which this host cannot have", True) if lost else None


def _old(key: str) -> Fault | None:
    if key in LXC2 or key.startswith("lxc.network."):
        new = LXC2.get(key, "")
        return Fault("refused", f"LXC 3 and later do not know {key}", True, key=new)
    kind, _, name = key.removeprefix("lxc.").partition(".")
    if kind == "limit":
        return Fault("refused", f"LXC does not know {key}", True, key=f"lxc.prlimit.{name}" if name in LIMITS else "")
    if kind == "prlimit" and name not in LIMITS:
        near = misspelt(name, LIMITS)
        return Fault("refused", f"there is no limit {name}", True, key=f"lxc.prlimit.{near[0]}" if near else "")
    return None


def _v2(key: str) -> str:
    """The cgroup2 key of a v1 key whose value has the same form; "" when there is none."""
    name = key.removeprefix("lxc.cgroup.")
    known = name.partition(".")[0] in CONTROLLERS and not V1_FILES.match(name)
    new = V2_NAMES.get(name, name if known else "")
    return f"lxc.cgroup2.{new}" if new else ""


def _named(name: str) -> str:
    """The key that is meant by a file name that does not exist; "" when that cannot be told."""
    small = name.lower()
    new = V2_NAMES.get(small, small if f"lxc.cgroup2.{small}" in (ALLOW, DENY) else "")
    return f"lxc.cgroup2.{new}" if new else ""


def _bare_hex(text: str) -> bool:
    return bool(re.fullmatch("[0-9a-f]*[a-f][0-9a-f]*", text, re.IGNORECASE)) and text.lower() != "all"


def _decimal(text: str) -> str | None:
    """A number as decimal: 0x1fc and 1fc are hexadecimal, leading zeros say nothing."""
    word = text.lower()
    if word in ("*", "all"):
        return "*"
    number = int(word, 16) if word.startswith("0x") or _bare_hex(word) else int(word)
    return str(number) if number <= 0xFFFFF else None
