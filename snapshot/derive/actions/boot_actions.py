"""All that the next boot does to tunables besides sysctl.d, modprobe.d and the command line, from recorded facts.

Sources: units with their scripts and rc.local, udev rules, tmpfiles.d, tuned, root's cron jobs, guests' hooks (section
units), and what sets up interfaces (section net). Each has a room ``actions_*``, which names the manuals. What is not
understood is said with target "unknown"; nothing is guessed.

target      where
sysctl      (key,): dots, / for a dot within a part; * as in a pattern
file        (path,): below /sys or /proc, or a pattern
irq         (path,) of an affinity; (interface or "all", ...) of a daemon or script
setpci      (selector, register as written, "value:mask"): selector "0000:01:00.0", "10de:2bb5", "10de:", or "$d" as
            written when it is not known; the value is the last part again
nvidia-smi  (GPU as written or "all", power-limit persistence lock-gpu-clocks lock-memory-clocks applications-clocks
            compute-mode ecc mig); "reset" is a value of clocks
cpupower    (cpu list or "all", governor max min freq epp perf-bias boost energy-perf-policy idle-latency
            amd-pstate-mode, "idle-state N" or "idle-state *" with enable or disable)
ethtool     (interface, ring offload channels coalesce link pause, key as section net has it)
ip          (interface, mtu or txqueuelen)
swap        (device or "all",): on or off
module      (module, parameter)
unknown     tools and paths that are named: "may set"

A setter of the same thing with another value, which nothing orders before or after, makes both doubtful; a power limit
or clock is doubtful unless persistence mode is on before it: the driver forgets it when its last client ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...records import replace
from ..facts import Derived
from .action import EARLY, GUESTS, NETWORK, SYSCTL, TMPFILES, UDEV, UNITS, Action
from .actions_files import cron_actions, script_actions, settings_actions, tmpfiles_actions
from .actions_net import net_actions
from .actions_shell import Runner
from .actions_starts import Starts
from .actions_tools import FILES
from .actions_udev import devices, udev_actions
from .actions_units import unit_actions

if TYPE_CHECKING:
    from ...document import Snapshot
    from .actions_tuned import Profile

__all__ = ["EARLY", "GUESTS", "NETWORK", "SYSCTL", "TMPFILES", "UDEV", "UNITS", "Action", "boot_actions",
           "boot_actions_not_run", "unknown_sources"]

Table = Mapping[str, Any]
_READ = {"units": ("units", "scripts", "cron", "udev", "tmpfiles", "hooks", "tuned", "settings"),
         "net": ("ifupdown", "netplan", "networkd")}
_SERVICES = {"interfaces": "networking.service", "networkd": "systemd-networkd.service",
             "netplan": "systemd-networkd.service"}  # that do what has no unit of its own
_FORGETS = "the driver forgets it when its last client ends, as nothing switches persistence mode on before"
_FORGOTTEN = ("power-limit", "lock-gpu-clocks", "lock-memory-clocks", "applications-clocks")  # options of nvidia-smi
_OFF = ("0", "off", "false", "no")
_PACKAGED = ("/usr/lib/", "/usr/share/", "/usr/libexec/", "/lib/", "/usr/bin/", "/usr/sbin/", "/run/")


@lru_cache(maxsize=4)  # many tables ask for those of the same two snapshots
def boot_actions(snapshot: Snapshot) -> tuple[Action, ...]:
    """The actions in the order of the boot, as far as it can be told; those that will not run are among them."""
    units, net = snapshot.table("units"), snapshot.table("net")
    scripts = units.get("scripts", {})
    starts, runner = Starts.of(snapshot), Runner(scripts)
    found = list(_all(snapshot, units, net, starts, runner))
    found = [one for action in found for one in _expanded(action, snapshot.table("sysctl").get("settings", {}))]
    once = {(a.target, a.where, a.value, a.unit, a.why_not, a.doubt, _line(a)): a for a in found}
    return tuple(_persistent(_unordered(sorted(once.values(), key=lambda a: a.order), starts), starts))


def unknown_sources(snapshot: Snapshot) -> list[dict[str, str]]:
    """Where something may be set that the snapshot does not hold: {source, why}; empty when all was read."""
    found: list[dict[str, str]] = []
    for section, names in _READ.items():
        if whole := snapshot.unread(section, ()):
            found.append({"source": whole.source, "why": whole.why})
            continue
        facts = [f for f in snapshot.outcomes[section].unread or () if f.path and f.path[0] in names]
        found += [{"source": f.source, "why": f.why} for f in facts if f.path[-1] not in ("runtime", "executable")]
    return [dict(pairs) for pairs in dict.fromkeys(tuple(one.items()) for one in found)]


def boot_actions_not_run(after: Snapshot, before: Snapshot | None) -> Derived:  # noqa: ARG001 - of one snapshot
    """Settings that stand in a place of the administrator's and will not be made: rows by "FILE:LINE".

    Columns: file, line, text; unit: what would run it; why_not; sets: what it would set, in words. What another line
    surely sets to the same is not among them.
    """
    actions = boot_actions(after)
    done = {(a.target, a.where, a.value) for a in actions if a.certain}
    lines = {_line(a) for a in actions if not a.why_not}
    rows: dict[str, dict[str, Any]] = {}
    for action in actions:
        if not action.why_not or _line(action) in lines or (action.target, action.where, action.value) in done:
            continue
        if not action.origin["file"].startswith(_PACKAGED) or action.why_not.endswith("/run only"):
            row = rows.setdefault(_line(action), {**action.origin, "why_not": action.why_not, "sets": in_words(action)})
            row |= {"unit": action.unit} if action.unit else {}
            row["sets"] += f", {in_words(action)}" if in_words(action) not in row["sets"] else ""
    return Derived(rows, unknown_rows(after, "settings that will not be made"))


def unknown_rows(after: Snapshot, what: str) -> list[dict[str, Any]]:
    """What of a table by file cannot be judged, because a source was not read."""
    found = unknown_sources(after)
    return [{"subject": one["source"] if one["source"][:1] == "/" else "", "what": what, **one} for one in found]


def in_words(action: Action) -> str:
    """What ACTION sets, for people: nvidia-smi all power-limit = 450."""
    named = f"{'' if action.target in ('file', 'irq') else f'{action.target} '}{' '.join(action.where[:2])}"
    if action.target == "ethtool":
        named = f"ethtool {' '.join(action.where)}"
    return named if action.value is None else f"{named} = {action.value}"


def _line(action: Action) -> str:
    return f"{action.origin['file']}:{action.origin['line']}"


def _all(snapshot: Snapshot, units: Table, net: Table, starts: Starts, runner: Runner) -> Iterator[Action]:
    settings = units.get("settings", {})
    yield from unit_actions(starts, runner, settings)
    yield from settings_actions(settings, starts)
    known = devices(snapshot.table("pci"), snapshot.table("storage"), net)
    yield from udev_actions(units.get("udev", {}), runner, known, starts.fate("systemd-udevd.service")[0])
    yield from tmpfiles_actions(units.get("tmpfiles", {}), starts.fate("systemd-tmpfiles-setup.service")[0])
    if "tuned" in units:
        from .actions_tuned import tuned_actions

        yield from tuned_actions(_profile(snapshot, units["tuned"]), starts, runner)
    yield from cron_actions(units.get("cron", {}), starts, runner)
    yield from script_actions(starts, runner, units.get("hooks", {}))
    yield from net_actions(net, starts, runner)


def _profile(snapshot: Snapshot, tuned: Table) -> Profile:
    reapply = tuned.get("options", {}).get("reapply_sysctl", {}).get("value", "1").lower() not in _OFF
    files = {
        key: setting["procps"]["origin"]["file"]
        for key, setting in (snapshot.table("sysctl").get("settings", {}) if reapply else {}).items()
        if setting.get("procps", {}).get("origin", {}).get("file", "").startswith(("/etc/", "/run/"))
    }
    from .actions_tuned import Profile

    by_cmdline = "transparent_hugepage" in snapshot.table("cmdline").get("parameters", {})
    return Profile(tuned, files, snapshot.table("cpufreq").get("governors", []), by_cmdline)


def _expanded(action: Action, settings: Mapping[str, Table]) -> Iterator[Action]:
    """ACTION, or, of one that applies sysctl files, an action for each key that they are known to set."""
    if action.target != FILES:
        yield action
        return
    file, some = action.where[0], False
    for key, setting in settings.items():
        others = [] if file == "--system" else [setting.get("systemd"), *setting.get("overridden", [])]
        lines = [setting.get("procps"), *others]
        value = next((x["value"] for x in lines if x and file in ("--system", x["origin"]["file"])), None)
        if value is not None:
            some = True
            yield replace(action, target="sysctl", where=(key,), value=value)
    if not some:
        doubt = action.doubt or f"what {file} holds is not recorded"
        yield replace(action, target="unknown", where=("sysctl", file), value=None, certain=False, doubt=doubt)


def _unordered(actions: list[Action], starts: Starts) -> list[Action]:
    """ACTIONS, those doubtful that another unit undoes or not: nobody knows which of the two comes last."""
    setters: dict[tuple[str, tuple[str, ...]], list[Action]] = {}
    for action in actions:
        if action.certain and action.order >= EARLY:
            setters.setdefault((action.target, action.where), []).append(action)
    return [_against(a, setters.get((a.target, a.where), ()), starts) if a.certain else a for a in actions]


def _against(action: Action, others: Iterable[Action], starts: Starts) -> Action:
    for other in others:
        one, two = (_SERVICES.get(a.how, a.unit) for a in (action, other))
        same = one == two or other.value == action.value
        if not same and not starts.follows(one, two) and not starts.follows(two, one):
            return replace(action, certain=False, doubt=f"{other.unit or two} sets it too, and nothing orders the two")
    return action


def _persistent(actions: list[Action], starts: Starts) -> Iterator[Action]:
    """ACTIONS, those doubtful that the driver forgets, unless persistence mode is surely on before them."""
    modes: list[Action] = []
    for action in actions:
        option = action.where[1] if action.target == "nvidia-smi" and action.certain else ""
        modes += [action] if option == "persistence" else []
        before = [m for m in modes if m.unit == action.unit or starts.follows(action.unit, m.unit)]
        on = before and str(before[-1].value).lower() in ("1", "enabled", "on")
        forgotten = option in _FORGOTTEN and not on
        yield replace(action, certain=False, doubt=_FORGETS) if forgotten else action
