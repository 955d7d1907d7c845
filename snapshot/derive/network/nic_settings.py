"""MTU, rings, channels, coalescing and offloads of each interface, against what they were and what files ask for.

From the tunables of kind net. ip-link(8); ethtool(8), -G -L -C -K; udev(7), NAME. Virtual functions have no row, nor
have large-receive-offload, which the kernel switches off for bridges and forwarding (net/core/dev.c, dev_disable_lro),
and coalescing numbers of a direction that adapts them by itself. Of a host without ethtool nothing is missed, unless
it was there before, or files set something of the kind.

``nic_mtus`` has a row for each interface, by its key; ``nic_settings`` for the others, by "INTERFACE GROUP/KEY", where
GROUP is ring, channels, coalesce or offload. Row keys; a key without a value is missing:
    interface   its name
    setting     mtu, or KEY
    group       mtu, or GROUP
    live, before
    fault       less (of numbers), off (of offloads), other (of coalescing): what it was is gone
    idle        the interface is switched off: true
    asked_by    FILE:LINE of a line that asks for the value before
    allowed_by  FILE:LINE of one that asks for the value now, and did not before
    all_along   FILE:LINE of one that asks for the value now, and did so before: it was set otherwise by hand
    lines       [{file, line, text}] of that line
    restore     command that sets the value before
    durable     line that sets it at boot
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..facts import Derived
from ..tunables.tunable import Path, Setter, Tunable, Value
from ..tunables.tunable_before import with_before
from ..tunables.tunable_net import GROUPS, net
from ..tunables.tunable_setters import of_boot
from ..tunables.tunable_values import agrees

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]
OPTIONS = {"ring": "-G", "channels": "-L", "coalesce": "-C", "offload": "-K"}
FOLLOWS = ("large-receive-offload", "rx-gro-hw")  # switched by something else than their own word
NO_TOOL = "not-found"
_SAFE = regex(r"[\w.-]+", re.ASCII)


def nic_mtus(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for the MTU of each interface of AFTER."""
    return _table(after, before, ("mtu",))


def nic_settings(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each ring, channel count, coalescing word and offload of each interface of AFTER."""
    return _table(after, before, (*GROUPS,))


def _table(after: Snapshot, before: Snapshot | None, groups: tuple[str, ...]) -> Derived:
    if fact := after.unread("net", ("interfaces",)):
        return Derived({}, [_gap("", fact.source, fact.why)])
    interfaces: dict[str, Table] = after.table("net").get("interfaces", {})
    tunables, by_ethtool = _both(after, before)
    found = Derived(unknown=list(_unread(after, before, groups, by_ethtool)))
    for tunable in tunables:
        interface, (group, _, word) = interfaces[tunable.path[2]], tunable.name.partition("/")
        counts = group in groups and tunable.live is not None and not _follows(word, interface)
        if counts and not interface.get("virtual_function"):
            key = tunable.path[2] if group == "mtu" else f"{tunable.subject} {tunable.name}"
            found.rows[key] = _row(tunable, interface, after.table("net"))
            if "fault" in found.rows[key] and before:
                found.rows[key] |= _asked(tunable, before)
    return found


@lru_cache(maxsize=1)
def _both(after: Snapshot, before: Snapshot | None) -> tuple[tuple[Tunable, ...], bool]:
    """Every tunable of an interface, with its value before; and whether files set something by ethtool."""
    setters = of_boot(after)
    return tuple(with_before(net(setters), after, before)), bool(setters.of("ethtool"))


def _follows(word: str, interface: Table) -> bool:
    adapts = interface.get("coalescing", {}).get(f"adaptive-{word.partition('-')[0]}") == "on"
    return word in FOLLOWS or (adapts and word in interface["coalescing"])


def _gap(subject: str, source: str, why: str) -> dict[str, str]:
    return {"subject": subject, "what": "settings of interfaces", "source": source, "why": why}


def _unread(
    after: Snapshot, before: Snapshot | None, groups: tuple[str, ...], wanted: bool,
) -> Iterator[dict[str, str]]:
    """What was not read; WANTED: files set something by ethtool."""
    for key, interface in after.table("net").get("interfaces", {}).items():
        for group in groups if not interface.get("virtual_function") else ():
            path = ("interfaces", key, GROUPS.get(group, group))
            fact, then = after.unread("net", path), before.unread("net", path) if before else None
            if fact and path[2] not in interface:
                never = fact.why == NO_TOOL and not wanted and (before is None or (then and then.why == NO_TOOL))
                if not never:
                    yield _gap(key if group == "mtu" else f"{interface['name']} {group}/", fact.source, fact.why)


def _row(tunable: Tunable, interface: Table, files: Table) -> Row:
    group, _, word = tunable.name.partition("/")
    row: Row = {"interface": tunable.subject, "group": group, "setting": word or group, "live": tunable.live}
    if tunable.before is None:
        return row
    row |= {"before": tunable.before} | ({"idle": True} if interface.get("up") is False else {})
    if fault := _fault(group, tunable.before, tunable.live):
        row |= {"fault": fault} | _mend(row, files)
    if group == "offload":
        row |= {key: _word(row[key]) for key in ("live", "before")}
    return row


def _fault(group: str, before: Value, live: Value | None) -> str | None:
    if group == "offload":
        return "off" if before is True and live is False else None
    if group == "coalesce":
        return "other" if before != live else None
    return "less" if isinstance(before, int) and isinstance(live, int) and live < before else None


def _asked(tunable: Tunable, before: Snapshot) -> Row:
    """Which line asks for the value before, or for the one now, and whether that is new."""
    for setter in _asking(tunable, tunable.before):
        return {"asked_by": _line(setter), "lines": [dict(setter.origin)]}
    for setter in _asking(tunable, tunable.live):
        old = _tunables(before).get(tunable.path)
        word = "all_along" if old and any(_asking(old, tunable.live)) else "allowed_by"
        return {word: _line(setter), "lines": [dict(setter.origin)]}
    return {}


@lru_cache(maxsize=2)
def _tunables(snapshot: Snapshot) -> dict[Path, Tunable]:
    return {tunable.path: tunable for tunable in net(of_boot(snapshot))}


def _asking(tunable: Tunable, value: Value | None) -> Iterator[Setter]:
    """The setters that run and give VALUE, the last first."""
    for one in reversed(tunable.setters):
        if value is not None and one.value is not None and one.origin and not one.why_not and agrees(value, one.value):
            yield one


def _line(setter: Setter) -> str:
    return f"{setter.origin['file']}:{setter.origin['line']}"


def _mend(row: Row, files: Table) -> Row:
    """The command that sets it back, and what sets it at boot: the network manager's file, else udev."""
    name, value = row["interface"], _word(row["before"])
    words = ["ethtool", OPTIONS.get(row["group"], ""), name, row["setting"].replace("_", "-"), value]
    command = ["ip", "link", "set", "dev", name, "mtu", value] if row["group"] == "mtu" else words
    found = {"restore": shlex.join(command)}
    if not all(map(_SAFE.fullmatch, command)):
        return found
    if name in files.get("ifupdown", {}):
        line = f"mtu {value}" if row["group"] == "mtu" else f"post-up /usr/sbin/{' '.join(command)}"
        return found | {"durable": f"# below iface {name} in /etc/network/interfaces: {line}"}
    key = next((key for key in files.get("netplan", {}) if key.partition(".")[2] == name), None)
    if key and row["group"] == "mtu":
        return found | {"durable": f"netplan set {shlex.quote(f'{key}.mtu={value}')} && netplan apply"}
    rule = f'ACTION=="add", SUBSYSTEM=="net", NAME=="{name}", RUN+="/usr/sbin/{" ".join(command)}"'
    return found | {"durable": f"echo {shlex.quote(rule)} >> /etc/udev/rules.d/90-{name}.rules"}


def _word(value: Value) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
