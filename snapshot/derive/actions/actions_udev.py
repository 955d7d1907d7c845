"""What udev rules set when the devices of a boot are found: attributes, sysctls, and what RUN starts.

udev(7). Files are read by name, whatever their folder; a later rule has the last word. At a boot devices are seen as
added (and bound, when a driver takes them), not as changed. A rule says which devices it is for by conditions: those
that recorded facts answer are answered, of the others the action is doubtful. An interface may still have the kernel's
name when its rule is read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ...errors import ParseError
from ...records import record, replace
from ...regexes import regex
from ...sections.exec_line import commands
from .action import UDEV, Action, Effect, Source
from .actions_paths import sysctl_key, written
from .actions_programs import inline
from .actions_shell import Found, Runner
from .actions_words import Word, literal, unknown

Table = Mapping[str, Any]
_PAIR = regex(r"([A-Z_]+)(?:\{([^}]*)\})?\s*(==|!=|\+=|-=|:=|=)\s*[ei]?\"((?:[^\"\\]|\\.)*)\"")
_SUBSTITUTION = regex(
    r"%([a-zA-Z])(?:\{[^}]*\})?|\$(kernel|devpath|name|number|id|driver|attr|env|major|minor|result|parent|links|root|sys"
    r"|devnode|tempnode)\b(?:\{[^}]*\})?")
_FOLDERS = {
    "block": "/sys/block", "net": "/sys/class/net", "pci": "/sys/bus/pci/devices", "cpu": "/sys/devices/system/cpu",
    "usb": "/sys/bus/usb/devices", "drm": "/sys/class/drm", "module": "/sys/module", "bdi": "/sys/class/bdi",
    "infiniband": "/sys/class/infiniband", "scsi": "/sys/bus/scsi/devices", "scsi_host": "/sys/class/scsi_host",
}
_GIVEN = ("TEST", "ACTION", "SUBSYSTEM", "KERNEL", "LABEL")
_HOME = "/usr/lib/udev"


@record(frozen=True)
class Pair:
    """KEY{ATTRIBUTE} SIGN "VALUE"."""

    key: str
    attribute: str
    sign: str
    value: str

    def holds(self, value: str) -> bool:
        """Whether the condition holds for VALUE; | separates alternatives."""
        found = any(fnmatchcase(value, pattern) for pattern in self.value.split("|"))
        return found == (self.sign == "==")


@record(frozen=True)
class Devices:
    """What is known of devices, by subsystem: name -> attribute as a rule names it -> value."""

    pci: Mapping[str, Mapping[str, str]]
    block: Mapping[str, Mapping[str, str]]
    net: Mapping[str, Mapping[str, str]]


def devices(pci: Table, storage: Table, net: Table) -> Devices:
    """The attributes that rules ask for, from the sections of these tables."""
    functions = {
        address: {"ATTR{vendor}": f"0x{f.get('vendor')}", "ATTR{device}": f"0x{f.get('device')}",
                  "ATTR{class}": f"0x{f.get('class_code')}", "DRIVER": f.get("driver", "")}
        for address, f in pci.get("functions", {}).items() if len(f.get("class_code") or "") == 6
    }
    blocks = {b["name"]: {"ATTR{queue/rotational}": str(int(b["queue"]["rotational"])), "ENV{DEVTYPE}": "disk"}
              for b in storage.get("blocks", {}).values() if "rotational" in b.get("queue", {})}
    nics = {i["name"]: {"ATTR{address}": i["permanent_mac"], "DRIVERS": i.get("driver", "")}
            for i in net.get("interfaces", {}).values() if "permanent_mac" in i}
    return Devices(functions, blocks, nics)


def udev_actions(udev: Mapping[str, list[Table]], runner: Runner, known: Devices, why_not: str) -> Iterator[Action]:
    """What the rules do. WHY_NOT: why no rule is read at all."""
    for at, path in enumerate(sorted(udev, key=posixpath.basename)):
        gone = why_not or ("the rule lies in /run only" if path.startswith("/run/") else "")
        for rule in udev[path]:
            never, doubt, places = _place(rule, known)
            source = Source("udev", UDEV + min(at, 900), rule["origin"], "", doubt, gone or never)
            for found in _found(rule, places, runner):
                yield source.action(found.effect, found.origin)


def _place(rule: Table, known: Devices) -> tuple[str, str, list[str] | None]:
    """(why the rule never acts at a boot, why it may not, folders of the devices that it is for; None: not known)."""
    found = [Pair(*parts) for text in rule["match"] for parts in _PAIR.findall(text)]
    jumps = [[Pair(*parts) for parts in _PAIR.findall(text)] for text in rule.get("jumps", ())]
    if [] in jumps:
        return "a rule above jumps past it", "", _folders(found, known)[0]
    found += [replace(p, sign="!=" if p.sign == "==" else "==") for jump in jumps if len(jump) == 1 for p in jump]
    actions = [pair for pair in found if pair.key == "ACTION"]
    if not all(p.holds("add") or p.holds("bind") for p in actions):
        seldom = any(p.holds("change") for p in actions)
        never = "" if seldom else "it does not act on new devices"
        return never, "it acts when a device changes" if seldom else "", _folders(found, known)[0]
    places, left = _folders(found, known)
    doubt = f"it depends on: {left[0]}" if left else ""
    many = next((text for text in rule.get("jumps", ()) if len(_PAIR.findall(text)) > 1), "")
    return "", doubt or (f"a rule above may jump past it: {many}" if many else ""), places


def _folders(found: list[Pair], known: Devices) -> tuple[list[str] | None, list[str]]:
    """(folders below /sys of the devices, None when not known; conditions that no fact answers)."""
    kinds = {p.value for p in found if p.key == "SUBSYSTEM" and p.sign == "=="}
    kind = kinds.pop() if len(kinds) == 1 else ""
    names = [name for p in found if p.key == "KERNEL" and p.sign == "==" for name in p.value.split("|")] or ["*"]
    asked = [(f"{p.key}{{{p.attribute}}}" if p.attribute else p.key, p) for p in found if p.key not in _GIVEN]
    asked += [("KERNEL", p) for p in found if p.key == "KERNEL" and p.sign == "!="]
    table = getattr(known, kind, {}) if kind in ("pci", "block", "net") else {}
    answered = {key for facts in table.values() for key in facts}
    left = [_shown(key, p) for key, p in asked if key not in answered and (key, p.value) != ("ENV{DEVTYPE}", "disk")]
    if kind == "net" and names != ["*"] and not all(name.startswith(("eth", "ib")) for name in names):
        left.append(f"KERNEL, which may still be another name than {names[0]}")
    ours = [(key, p) for key, p in asked if key in answered]
    if ours:
        names = [name for name, facts in table.items() if all(p.holds(facts.get(key, "")) for key, p in ours)
                 and (kind == "net" or any(fnmatchcase(name, n) for n in names))]
    return [f"{_FOLDERS[kind]}/{name}" for name in names] if kind in _FOLDERS else None, left


def _shown(key: str, pair: Pair) -> str:
    return f'{key}{pair.sign}"{pair.value}"'


def _found(rule: Table, places: list[str] | None, runner: Runner) -> Iterator[Found]:
    tools = {*rule.get("tools", ())}
    for pair in (Pair(*parts) for text in rule["set"] for parts in _PAIR.findall(text)):
        if pair.key == "ATTR":
            value = None if re.search(r"[$%]", pair.value) else pair.value
            unplaced = [Effect("unknown", ("udev", f"ATTR{{{pair.attribute}}}"), None)] if places is None else []
            yield from map(Found, unplaced)
            yield from (Found(written(f"{place}/{pair.attribute}", value)) for place in places or ())
        elif pair.key == "SYSCTL":
            yield Found(Effect("sysctl", (sysctl_key(pair.attribute),), pair.value))
        elif pair.key == "RUN" and pair.attribute != "builtin":
            named = {tool for tool in tools if tool == "write" or tool in pair.value}
            tools -= named
            yield from _run(pair.value, places or [], runner, named)
    if tools:
        yield Found(Effect("unknown", (*sorted(tools),), None))
    yield from runner.unmet(rule.get("scripts", ()))


def _run(text: str, places: list[str], runner: Runner, tools: set[str]) -> list[Found]:
    """What RUN starts. udev puts in names for %k and the like, and takes $$ and %% for $ and %."""
    names = [posixpath.basename(place) for place in places]
    kernel = Word(names[0], names[0], each=True) if len(names) == 1 else unknown("%k")
    runner.ambient = {"udev_k": kernel, "udev_kernel": kernel}
    prepared = _SUBSTITUTION.sub(lambda m: f"$$udev_{m[1] or m[2]}", text)
    try:
        lines = commands(prepared)
    except ParseError:
        return [Found(Effect("unknown", (*sorted(tools),), None))] if tools else []
    found = [f for argv in lines for f in runner.command(_argv(argv), tools)]
    runner.ambient = {}
    return found


def _argv(argv: list[str]) -> list[Word]:
    shell = inline(argv)
    first = argv[0] if "/" in argv[0] else f"{_HOME}/{argv[0]}"
    return [unknown(text) if "$udev_" in text and not shell else literal(text) for text in (first, *argv[1:])]
