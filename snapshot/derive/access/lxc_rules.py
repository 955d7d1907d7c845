"""The cgroup2 device rules of a container, from its lxc.cgroup2.devices.* lines in the order LXC reads them.

lxc.container.conf(5), CONTROL GROUP; bpf_device_cgroup_prepare in src/lxc/cgroups/cgfsng.c and
bpf_list_add_device in src/lxc/cgroups/cgroup2_devices.c of LXC 5.0.2 to 7.0.0; cgroup-v2.rst of the kernel.

LXC makes a list of the lines and a BPF program of the list. What it does is not what the words say:

* a line that does not parse is dropped with a line in LXC's log, and the container starts without it;
* ``a`` alone sets the mode and empties the list: ``allow = a`` lets all through but the deny rules below it,
  ``deny = a`` stops all but the allow rules below it. Without any ``a`` the mode is the latter;
* an empty list makes no program: everything is let through, in either mode;
* rules against the mode do nothing, except that one which is the exact twin of a rule in force takes it out;
* an access is let through (or stopped) when one single rule holds all that is asked for;
* every key that begins with ``devices`` and is not ``devices.allow`` is a deny;
* ``lxc.cgroup.devices.*`` (cgroup v1) does nothing on a host with cgroup2 only, which is what is judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from ...records import field, record
from ...regexes import regex
from ...sections.base import Origin
from ...sections.lxc import unquoted

Access = str  # some of r, w, m; open(O_RDWR) asks for "rw"
Device = tuple[Literal["b", "c"], int, int]  # type, major, minor
Line = tuple[str, str, Origin]  # key, value, where it stands
Mode = Literal["allow", "deny"]

_RULE = regex(r"([abc])\s(\*|[0-9]+):(\*|[0-9]+)\s([rwm]{1,2}|[rwm]{3}.*)", re.ASCII | re.DOTALL)
_BY_PATH = regex(r"(/[^ ]*) +([rwm]{1,2}|[rwm]{3}[^ ]*)( .*)?", re.DOTALL)
_FORM = "not TYPE MAJOR:MINOR ACCESS with one blank between, decimal numbers, and access of r, w and m only"


@record(frozen=True)
class Rule:
    """A rule as LXC takes it. MAJOR and MINOR are None for *; ACCESS is as written, up to three signs."""

    allow: bool
    type: Literal["a", "b", "c"]
    major: int | None
    minor: int | None
    access: Access
    origin: Origin

    @property
    def subject(self) -> tuple[str, int | None, int | None, str]:
        """What a rule and its twin have in common; to LXC rw and wr are two things."""
        return self.type, self.major, self.minor, self.access

    def covers(self, device: Device, access: Access) -> bool:
        """Whether this one rule speaks of all of ACCESS to DEVICE."""
        kind, major, minor = device
        where = self.type in ("a", kind) and self.major in (None, major) and self.minor in (None, minor)
        return where and set(access) <= set(self.access)


@record(frozen=True)
class Reset:
    """The value ``a`` alone: sets the mode and empties the list."""

    mode: Mode
    origin: Origin


@record(frozen=True)
class Dropped:
    """A line that LXC leaves out of the list; the container starts without it."""

    key: str
    value: str
    why: str
    origin: Origin


@record(frozen=True)
class Unresolved:
    """A rule by path (/dev/x rw) whose node at the start is not known, nor therefore what it allows."""

    path: str
    access: Access
    origin: Origin


@record()
class RuleList:
    """What LXC makes of the lines.

    In mode "allow" all is stopped but what an allow rule covers; in mode "deny" all passes but what a deny
    rule covers.
    """

    mode: Mode = "allow"
    rules: list[Rule] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)
    _twins: dict[tuple[str, int | None, int | None, str], int] = field(default_factory=dict)

    def allows(
        self, kind: Literal["b", "c"], major: int, minor: int, access: Access
    ) -> tuple[bool, Origin | None]:
        """Whether ACCESS to the device passes, and the line that decides.

        No line decides when the list is empty (all passes) or no rule covers the access (the mode decides).
        While ``unresolved`` is not empty, the answer is certain only when a line decides.
        """
        if not self.rules:
            return True, None
        for rule in self.in_force():
            if rule.covers((kind, major, minor), access):
                return rule.allow, rule.origin
        return self.mode == "deny", None

    def in_force(self) -> Iterator[Rule]:
        """The rules that the program is made of, in order: those against the mode are left out."""
        return (rule for rule in self.rules if rule.allow == (self.mode == "allow"))

    def start_fails(self) -> Rule | None:
        """The rule a *:* rwm in force: the kernel refuses the program, the container does not start."""
        total = ("a", None, None, {"r", "w", "m"})
        return next((r for r in self.in_force() if (r.type, r.major, r.minor, set(r.access)) == total), None)

    def add(self, entry: Rule | Reset | Dropped | Unresolved) -> None:
        """Takes in what the next line says."""
        match entry:
            case Reset():
                self.mode, self.rules, self.unresolved, self._twins = entry.mode, [], [], {}
            case Dropped():
                self.dropped.append(entry)
            case Unresolved():
                self.unresolved.append(entry)
            case Rule():
                self._add(entry)

    def _add(self, rule: Rule) -> None:
        twin = self._twins.get(rule.subject)
        if twin is None:
            if rule.allow == (self.mode == "allow"):
                self._twins[rule.subject] = len(self.rules)
            self.rules.append(rule)
        elif self.rules[twin].allow != rule.allow:
            self.rules[twin] = rule
            del self._twins[rule.subject]


def build(lines: Iterable[Line], nodes: Mapping[str, Device | None] | None = None) -> RuleList:
    """The list that LXC builds of LINES, which stand in the order LXC reads them.

    NODES says for a path which device is there at the start, None for no device; only rules by path need it.
    """
    found = RuleList()
    for key, value, origin in _kept(lines):
        found.add(parse_rule(key, value, origin, nodes))
    return found


def parse_rule(
    key: str, value: str, origin: Origin, nodes: Mapping[str, Device | None] | None = None
) -> Rule | Reset | Dropped | Unresolved:
    """What LXC makes of one line whose key begins with lxc.cgroup2.devices, or says why it is dropped."""
    text, allow = unquoted(value), key == "lxc.cgroup2.devices.allow"
    if not key.startswith("lxc.cgroup2.devices"):
        return Dropped(key, text, "not a key of the cgroup2 device list: without effect on it", origin)
    if text == "a":
        return Reset("deny" if allow else "allow", origin)
    if allow and text.startswith("/"):
        return _by_path(key, text, origin, nodes or {})
    found = _RULE.fullmatch(text)
    if not found:
        return Dropped(key, text, _FORM, origin)
    try:
        major, minor = _number(found[2]), _number(found[3])
    except ValueError:
        return Dropped(key, text, "a number that begins with 0 and is not octal, or above 2147483647", origin)
    return Rule(allow, _type(found[1]), major, minor, found[4][:3], origin)


def _kept(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines but those that a later line of the same key with an empty value makes LXC forget."""
    kept: list[Line] = []
    forgotten: set[str] = set()
    for line in reversed(list(lines)):
        key, value, _ = line
        if not unquoted(value):
            forgotten.add(key)
        elif not forgotten & {key, key.partition(".devices")[0]}:
            kept.append(line)
    return reversed(kept)


def _by_path(
    key: str, text: str, origin: Origin, nodes: Mapping[str, Device | None]
) -> Rule | Dropped | Unresolved:
    found = _BY_PATH.fullmatch(text)
    if not found:
        return Dropped(key, text, "not PATH ACCESS with access of r, w and m only", origin)
    path, access = found[1], found[2][:3]
    if path not in nodes:
        return Unresolved(path, access, origin)
    device = nodes[path]
    if device is None:
        return Dropped(key, text, f"{path} is no device node", origin)
    return Rule(True, device[0], device[1], device[2], access, origin)


def _number(text: str) -> int | None:
    """A number as strtol(3) with base 0 reads it: 0 in front is octal. None for *. ValueError when none."""
    if text == "*":
        return None
    number = int(text, 8 if text.startswith("0") else 10)
    if number > 0x7FFFFFFF:
        raise ValueError(text)
    return number


def _type(letter: str) -> Literal["a", "b", "c"]:
    return "a" if letter == "a" else "b" if letter == "b" else "c"
