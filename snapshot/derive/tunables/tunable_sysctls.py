"""Sysctls: what they are now, and what sysctl.d(5), the command line and boot-time lines make of them.

systemd-sysctl(8) applies the files once, early; a key whose module comes later is not there then and is not set later
either, but for net.ipv4 and net.ipv6 settings of an interface, which udev applies again. What only procps reads is not
applied at boot by systemd. vm.dirty_bytes and vm.dirty_ratio are two faces of one limit: writing one makes the other
read 0 (Documentation/admin-guide/sysctl/vm.rst), so a setter of one sets the other to 0.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

from ...records import replace
from ...sections.shape import of_section
from ..actions.action import SYSCTL
from .tunable import EARLY, Setter, Tunable
from .tunable_hugepages import default_makers, of_pools
from .tunable_setters import Setters
from .tunable_values import number, sysctl_agrees
from .tunable_words import RUNNING

Table = Mapping[str, Any]
TOOLS = ("sysctl", "systemd-sysctl", "tuned", "tuned-adm")
GAPS = (("sysctl", "settings"), ("cmdline", ""))
_PROC = str.maketrans("./", "/.")
_UNIT = "systemd-sysctl.service"
_NO_SYSTEMD = ("none", "offline")
PAIRS = {
    "vm.dirty_ratio": "vm.dirty_bytes", "vm.dirty_background_ratio": "vm.dirty_background_bytes",
    "vm.overcommit_ratio": "vm.overcommit_kbytes",
}
PAIRS |= {other: one for one, other in PAIRS.items()}
POOL = ("vm.nr_hugepages", "vm.nr_hugepages_mempolicy")  # one pool under two names (hugetlbpage.rst)
MODULES = {  # keys that come with a module -> that module
    "net.bridge.": "br_netfilter", "net.netfilter.nf_conntrack_": "nf_conntrack", "net.nf_conntrack_": "nf_conntrack",
    "net.ipv4.vs.": "ip_vs", "net.sctp.": "sctp", "net.smc.": "smc", "net.rds.": "rds", "fs.nfs.": "nfs",
    "sunrpc.": "sunrpc",
}
WORDS: dict[str, tuple[str, dict[str, str]]] = {  # key -> word of the command line, value there -> value here
    "kernel.numa_balancing": ("numa_balancing", {"enable": "1", "disable": "0"}),
    "kernel.sched_autogroup_enabled": ("noautogroup", {"": "0"}),
}
"""Documentation/admin-guide/kernel-parameters.txt."""


def sysctls(found: Setters, own: Sysctls, some: Collection[str] | None = None) -> Iterator[Tunable]:
    """A tunable for each key that has a value or is set by something; with SOME only for those, and what may be set."""
    values = found.table("sysctl").get("values", {})
    gaps, of_pool = (tuple(found.gaps(*sources)) for sources in (GAPS, of_pools(found).gaps))
    for key in values if some is None or own.named is None else sorted({*own.named, *some} & values.keys()):
        yield _tunable(key, values[key], own.of(key), of_pool if key in POOL else gaps)
    for key in sorted(own.set - values.keys()):
        tunable = _tunable(key, None, own.of(key), gaps)
        if not found.snapshot.unread("sysctl", ("values", key)):
            tunable.absent = "the running kernel has no such key"
        yield tunable


def _tunable(key: str, value: int | str | None, setters: list[Setter], gaps: tuple[Table, ...]) -> Tunable:
    made = Tunable("sysctl", key, ("sysctl", "values", key), value, setters=setters, same=sysctl_agrees, gaps=gaps)
    made.falls_short = key.startswith("vm.nr_hugepages")
    made.computed = computed(key)
    return made


def computed(key: str) -> str:
    """From what the kernel works the value of KEY out, or that it changes by itself; empty for all others."""
    plain, patterns, some = _computed()
    if key in plain or not some.match(key):
        return plain.get(key, "")
    return next(source for pattern, source in patterns if pattern.match(key))


@cache
def _computed() -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]], re.Pattern[str]]:
    """Keys, and patterns of keys, that the kernel works out or that change by themselves -> from what; all patterns."""
    shape = of_section("sysctl").fields["values"]
    kinds = dict(shape.computed_keys) | dict.fromkeys(shape.volatile_keys, "time")
    globs = {key: source for key, source in kinds.items() if any(sign in key for sign in "*?[")}
    patterns = {fnmatch.translate(key): source for key, source in globs.items()}
    every = re.compile("|".join(patterns))
    return kinds, [(re.compile(pattern), source) for pattern, source in patterns.items()], every


class Sysctls:
    """The setters of each key: files, words and actions."""

    def __init__(self, found: Setters) -> None:
        self._found, self._settings = found, found.table("sysctl").get("settings", {})
        table = found.table("modules")
        self._early = {*table.get("builtin", {}), *(name.replace("-", "_") for name in table.get("load", {}))}
        self._masked = _mask(found)
        self._systemd = found.snapshot.meta.system_state not in _NO_SYSTEMD
        self._words: dict[str, list[Setter]] = {}
        self._actions: dict[str, list[Setter]] = {}
        self._patterns: list[tuple[re.Pattern[str], Setter]] = []
        for key, word in found.words.sysctls():
            self._words.setdefault(key, []).append(word)
        for action in found.of("sysctl"):
            self._add(action.where[0] if action.where else "*", found.setter(action, action.value))
        self._tools = found.tools(*TOOLS)
        self.set = {*self._settings, *self._words, *self._actions}
        self._some = {*self.set, *PAIRS, *WORDS, *POOL}
        self._any = bool(self._patterns or self._tools or found.below("/proc/sys/"))
        self.named = None if self._any else self._some  # keys that alone may be set; None: any may be

    def _add(self, key: str, made: Setter) -> None:
        if any(sign in key for sign in "*?["):
            self._patterns.append((re.compile(fnmatch.translate(key)), made))
        else:
            self._actions.setdefault(key, []).append(made)

    def of(self, key: str) -> list[Setter]:
        """Everything that sets KEY, in no order."""
        if not self._any and key not in self._some:  # nearly all
            return []
        if key in POOL:
            return [*self.pool(), *default_makers(self._found)]
        others = (one for one in (self._own(PAIRS[key]) if key in PAIRS else ())
                  if one.value is None or number(one.value) != 0)
        return [*dict.fromkeys(self._own(key)),
                *(replace(one, value=None if one.value is None else "0") for one in others)]

    def pool(self) -> list[Setter]:
        """What sets the default pool of huge pages, under either name."""
        return [*dict.fromkeys(one for name in POOL for one in self._own(name))]

    def _own(self, key: str) -> list[Setter]:
        setters = [*self._words.get(key, ()), *self._actions.get(key, ())]
        if key in self._settings:
            setters += self._files(key, self._settings[key])
        if key in WORDS:
            word, meanings = WORDS[key]
            setters += self._found.words.taken(word, meanings.get)
        if self._found.writes(key.rpartition(".")[2].replace("/", ".")):
            setters += self._found.file(f"/proc/sys/{key.translate(_PROC)}")
        if self._patterns:
            setters += (made for pattern, made in self._patterns if pattern.match(key))
        return setters + self._tools

    def _files(self, key: str, setting: Table) -> Iterator[Setter]:
        """The assignments of files: those that lose, then the one that counts, and the one that only procps reads."""
        systemd, procps = setting.get("systemd"), setting.get("procps")
        for at, lost in enumerate(setting.get("overridden", ()) if systemd else ()):
            if lost["origin"]["file"] != RUNNING:
                yield self._file(key, lost, (EARLY, SYSCTL, 0, at))
        if systemd:
            yield self._file(key, systemd, (EARLY, SYSCTL, 1, _place(systemd)))
        if procps and procps != systemd:
            why = "" if not self._systemd else "systemd-sysctl does not take it at boot, only sysctl --system does"
            yield Setter("sysctl.d", procps["origin"], procps["value"], False, (EARLY, SYSCTL, 2), why_not=why)

    def _file(self, key: str, assignment: Table, rank: tuple[Any, ...]) -> Setter:
        late = next((name for start, name in MODULES.items() if key.startswith(start)), "")
        doubt = "" if self._systemd else "what applies it without systemd is not recorded"
        if late and late not in self._early:
            doubt = f"the key comes with {late}, which may be loaded later"
        value, origin = assignment["value"], assignment["origin"]
        return Setter("sysctl.d", origin, value, not doubt, rank, why_not=self._masked, doubt=doubt)


def _place(assignment: Table) -> tuple[str, int]:
    """Where an assignment stands among those of all files: they are read by name, whatever their folder."""
    origin = assignment["origin"]
    return origin["file"].rpartition("/")[2], origin["line"]


def _mask(found: Setters) -> str:
    """Why no file of sysctl.d is applied at all; "" where they are."""
    state = found.table("units").get("units", {}).get(_UNIT, {}).get("state", "")
    return f"{_UNIT} is masked" if state.startswith("masked") else ""
