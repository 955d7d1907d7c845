"""Which units the next boot starts, as far as the recorded facts tell, and in which order.

systemd.unit(5), systemd.special(7), bootup(7). A unit runs when a target of the boot wants it, or a unit that runs
does. Only units that touch tuning are recorded: whether another service runs that wants one cannot be told. What lies
in /run or was enabled there is gone with the reboot; generators make their units again. Where not all folders of
units could be listed, a link that starts a unit may lie in one of these.

Services begin after basic.target unless they say otherwise. DefaultDependencies=no is not recorded: a unit that is
ordered before basic.target, or wanted by what precedes it, is taken as early. A target comes after all that it wants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...records import field, record
from .action import EARLY, UNITS

if TYPE_CHECKING:
    from ...document import Snapshot

Table = Mapping[str, Any]
_BOOT = frozenset(f"{name}.target" for name in (
    "multi-user", "default", "basic", "sysinit", "sockets", "timers", "paths", "local-fs", "local-fs-pre", "remote-fs",
    "network", "network-pre", "swap", "cryptsetup", "getty", "slices", "nss-lookup", "time-sync", "time-set",
))
_EARLY = frozenset(("sysinit.target", "basic.target", "local-fs.target", "local-fs-pre.target"))
_NEVER = frozenset(f"{name}.target" for name in (
    "shutdown", "poweroff", "reboot", "halt", "kexec", "umount", "final", "exit", "sleep", "suspend", "hibernate",
    "hybrid-sleep", "suspend-then-hibernate", "rescue", "emergency",
))
_DEEPEST = 100  # units that are started or ordered one by the other
_CHAIN = ("sysinit.target", "basic.target", "multi-user.target", "graphical.target")
_NETWORK = ("network-pre.target", "network.target", "network-online.target")
_NOT_STARTED = {"static": "is static, and nothing starts it", "generated": "is generated, and nothing starts it",
                "linked": "is linked, but not enabled", "indirect": "is not enabled itself"}
RC_LOCAL, _SCRIPTS = "rc-local.service", ("/etc/rc.local", "/etc/rc.d/rc.local")
_GENERATED = "/run/systemd/generator"


@record()
class Starts:
    """The units of a snapshot. SCRIPTS tells whether /etc/rc.local is executable, which its generator looks at.

    UNLISTED says which folder of units could not be listed; empty when all were.
    """

    units: Mapping[str, Table]
    scripts: Mapping[str, Table]
    unlisted: str = ""
    fates: dict[str, tuple[str, str]] = field(default_factory=dict)
    earlier: dict[str, set[str]] = field(default_factory=dict)  # unit -> those that are before it
    deep: int = 0
    befores: dict[str, set[str]] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    pullers: dict[str, list[str]] = field(default_factory=dict)  # unit -> units that need it, or trigger it

    @classmethod
    def of(cls, snapshot: Snapshot) -> Starts:
        """Those of SNAPSHOT."""
        units, gap = snapshot.table("units"), snapshot.unread("units", ("units",))
        unlisted = f"{gap.source} could not be read: {gap.why}" if gap else ""
        return cls(units.get("units", {}), units.get("scripts", {}), unlisted)

    def __post_init__(self) -> None:
        """Works out who pulls whom, and the order."""
        for name, unit in self.units.items():
            for other in (*unit.get("needs", ()), *filter(None, [unit.get("triggers")])):
                self.pullers.setdefault(other, []).append(name)
            for other in unit.get("after", ()):
                self._before(other, name)
            for other in unit.get("before", ()):
                self._before(name, other)
            for other in unit.get("wanted_by", ()):
                if other.endswith(".target") and other not in unit.get("after", ()):
                    self._before(name, other)
        for first, then in (*pairwise(_CHAIN), *pairwise(_NETWORK)):
            self._before(first, then)

    def _before(self, first: str, then: str) -> None:
        self.earlier.setdefault(then, set()).add(first)

    def fate(self, name: str) -> tuple[str, str]:
        """(why the unit NAME will not run, why that it runs cannot be told); both empty: it runs."""
        if name not in self.fates and name in self.units:
            self.fates[name] = ("", "units start each other")  # of a circle
            self.deep += 1
            self.fates[name] = self._fate(name, self.units[name]) if self.deep < _DEEPEST else self.fates[name]
            self.deep -= 1
        return self.fates.get(name, ("", ""))

    def is_early(self, name: str) -> bool:
        """Whether the unit is ordered before basic.target or what precedes it, or wanted by what precedes it."""
        unit = self.units.get(name, {})
        wanted = {*unit.get("wanted_by", ())} - {"basic.target"}
        return bool({*unit.get("before", ()), *wanted} & _EARLY) and not {*unit.get("after", ())} & {*_CHAIN}

    def order(self, name: str) -> int:
        """The place of the unit in the boot, see ``Action.order``."""
        return (EARLY if self.is_early(name) else UNITS) + 10 * min(self._step(name), 99)

    def follows(self, name: str, other: str) -> bool:
        """Whether NAME starts after OTHER for sure."""
        return other in self.all_before(name) or (self.is_early(other) and not self.is_early(name))

    def all_before(self, name: str) -> set[str]:
        """The units that are before NAME, as far as Before=, After= and targets tell."""
        if name not in self.befores:
            seen, left = set[str](), [name]
            while left:
                new = self.earlier.get(left.pop(), set()) - seen
                seen |= new
                left += new
            self.befores[name] = seen - {name}
        return self.befores[name]

    def _step(self, name: str, deep: int = 0) -> int:
        if name not in self.steps:
            self.steps[name] = 0  # of a circle
            others = sorted(self.earlier.get(name, ())) if deep < _DEEPEST else []
            self.steps[name] = max((self._step(other, deep + 1) + 1 for other in others), default=0)
        return self.steps[name]

    def _fate(self, name: str, unit: Table) -> tuple[str, str]:
        why_not, doubt = self._seen(name, unit)
        hidden = why_not and self.unlisted and unit["state"] != "masked" and name != RC_LOCAL
        return ("", self.unlisted) if hidden else (why_not, doubt)

    def _seen(self, name: str, unit: Table) -> tuple[str, str]:
        """The fate by what was read."""
        state, file = unit["state"], unit.get("file", "")
        if state == "masked":
            return "the unit is masked", ""
        if state == "masked-runtime":
            return "", "the unit is masked until the reboot"
        if state == "transient" or (file.startswith("/run/") and not file.startswith(_GENERATED)):
            return "the unit lies in /run only", ""
        if state == "enabled-runtime":
            return "the unit is enabled in /run only", ""
        if "@." in name:
            return "a template runs as its instances only", ""
        if name == RC_LOCAL:
            return self._rc_local()
        why_not, doubt = self._pulled(name, unit)
        return why_not, doubt or ("" if why_not else _doubt(unit))

    def _rc_local(self) -> tuple[str, str]:
        """systemd-rc-local-generator(8) starts it where /etc/rc.local is executable."""
        found = [self.scripts[path].get("executable") for path in _SCRIPTS if path in self.scripts]
        return ("", "") if any(one is not False for one in found) else ("the script is not executable", "")

    def _pulled(self, name: str, unit: Table) -> tuple[str, str]:
        by = [*unit.get("wanted_by", ()), *self.pullers.get(name, ())]
        fates = [self._pull(name, other) for other in by] if not {*by} & _BOOT else [("", "")]
        if ("", "") in fates:
            return "", ""
        doubts = [doubt for why_not, doubt in fates if not why_not]
        if doubts:
            return "", doubts[0]
        if fates:
            return fates[0][0], ""
        state = unit["state"]
        known = f"the unit {_NOT_STARTED.get(state, f'is {state}')}"
        return ("", "what starts the unit is not recorded") if state == "enabled" else (known, "")

    def _pull(self, name: str, other: str) -> tuple[str, str]:
        """What it means for NAME that OTHER starts it."""
        if other in _NEVER:
            return f"only {other} wants the unit", ""
        if other in self.units:
            why_not, doubt = self.fate(other)
            triggered = self.units[other].get("triggers") == name
            return why_not and f"{other}, which starts it, will not run: {why_not}", doubt or (
                f"{other} starts the unit, at its time" if triggered and not why_not else "")
        return "", f"{other} starts the unit"


def _doubt(unit: Table) -> str:
    """Why it is not sure that a unit which is started runs its commands, from conditions and how it went this time."""
    runtime = unit.get("runtime", {})
    if runtime.get("active") == "failed" or runtime.get("load") in ("bad-setting", "error", "not-found"):
        return f"the unit has failed in this boot ({runtime.get('sub') or runtime.get('load')})"
    conditions: Iterable[str] = unit.get("conditions", ())
    return "" if runtime.get("active") == "active" else next((f"it depends on: {c}" for c in conditions), "")
