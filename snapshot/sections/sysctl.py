"""Kernel tunables: what they are now, and what the files say that sets them at boot."""

import re
from collections.abc import Mapping
from typing import Annotated

from ..regexes import regex
from .base import EVIDENCE, VOLATILE, Model, Origin, field

VOLATILE_KEYS: Mapping[str, tuple[str, ...]] = {
    "values": ("kernel.perf_event_max_sample_rate", "vm.user_reserve_kbytes"),
}
"""Field -> patterns (fnmatch) of its keys that change though nobody changed a setting, for the diff to
leave out where no file sets them. The reserve comes from the memory that was free at boot, the sample rate
is lowered while perf interrupts take too long (Documentation/admin-guide/sysctl/vm.rst and kernel.rst)."""

COMPUTED_KEYS: Mapping[str, str] = {
    "crypto.fips_version": "kernel",
    "kernel.osrelease": "kernel",
    "kernel.version": "kernel",
    "fs.epoll.max_user_watches": "memory",
    "fs.nfs.nfs_congestion_kb": "memory",
    "kernel.threads-max": "memory",
    "net.ipv4.inet_peer_threshold": "memory",
    "net.ipv4.tcp_mem": "memory",
    "net.ipv4.udp_mem": "memory",
    "net.ipv4.vs.sync_qlen_max": "memory",
    "net.sctp.sctp_mem": "memory",
    "net.sctp.sctp_rmem": "memory",
    "net.sctp.sctp_wmem": "memory",
    "user.max_*_namespaces": "memory",
    "vm.admin_reserve_kbytes": "memory",
    "vm.min_free_kbytes": "memory",
}
"""Pattern (fnmatch) of keys whose value the kernel works out where no file sets them -> what from. Those
from memory were seen to differ by 0.2 to 0.6 percent between two kernels on one machine; RAM, huge pages
and a crash kernel move them too. admin_reserve_kbytes is 3 % of what is free at boot, 8 MiB at most: the same on any
host of some size (vm.rst)."""

_NUMBER = regex(r"-?(?:0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,22}|[1-9][0-9]{0,19})")


def agrees(value: int | str, written: str) -> bool:
    """Whether a current VALUE is what a file has WRITTEN, as the kernel takes it.

    Runs of blanks are one; a number can be decimal, hexadecimal or octal; of a vector the first numbers can be
    written alone, and the others stay. Source: proc_get_long and __do_proc_dointvec in kernel/sysctl.c,
    _parse_integer_fixup_radix in lib/kstrtox.c.
    """
    now, wanted = _words(str(value)), _words(written)
    if now == wanted:
        return True
    numbers = [_number(word) for word in wanted]
    return None not in numbers and 0 < len(wanted) <= len(now) and [*map(_number, now)][: len(wanted)] == numbers


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[ \t\r\n]", text) if word]


def _number(word: str) -> int | None:
    if not _NUMBER.fullmatch(word):
        return None
    digits = word.lstrip("-").lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    return int(word, base)


class Assignment(Model):
    """One line (or command line token) that sets one key."""

    value: str = field(description="the value as written, blanks normalised")
    pattern: str | None = field(default=None, description="the glob of the line, when the key came from one")
    optional: bool | None = field(
        default=None, description="true when the line has the - prefix: failure is ignored"
    )
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands; /proc/cmdline for a word there")


class Setting(Model):
    """Everything that sets one key at boot, and who wins."""

    systemd: Assignment | None = field(default=None, description="the one that counts for systemd-sysctl")
    procps: Assignment | None = field(default=None, description="the one that counts for sysctl --system")
    cmdline: Assignment | None = field(
        default=None, description="sysctl.KEY= on the kernel command line; files win over it"
    )
    overridden: list[Assignment] | None = field(
        default=None, description="the ones that count for neither, in reading order"
    )


class IgnoredLine(Model):
    """A line of a file that sets nothing."""

    why: str = field(description="what is wrong with it, or what it does instead")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Sysctl(Model):
    """/proc/sys and sysctl.d(5). Keys are written with dots; a dot within a part is written /
    (conf.enp3s0/200).

    Counters, keys that only act, secrets, host name and boot id are not in it.
    """

    values: dict[str, int | str] = field(
        description="current values: integers of up to 64 bits as integers, else text with blanks normalised"
    )
    left_out: Annotated[dict[str, int] | None, VOLATILE] = field(
        default=None,
        description="interfaces of guests and containers that are not recorded: name pattern -> trees",
    )
    settings: dict[str, Setting] | None = field(
        default=None, description="what files and command line set, by key; patterns as they expand now"
    )
    masked: dict[str, str] | None = field(
        default=None, description="file that is not read -> the file that hides it"
    )
    ignored: list[IgnoredLine] | None = field(
        default=None, description="lines that set nothing, in reading order"
    )
