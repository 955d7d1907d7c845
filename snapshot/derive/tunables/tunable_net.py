"""Network interfaces: MTU, queues, rings, offloads and how packets are polled.

ethtool(8), ip-link(8); Documentation/ABI/testing/sysfs-class-net. Files of ifupdown,
netplan and systemd-networkd come as actions, as the lines of scripts do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...records import replace
from .tunable import Default, Path, Setter, Tunable
from .tunable_devices import mask_cpus
from .tunable_facts import Facts, Kind
from .tunable_setters import Setters, matcher

if TYPE_CHECKING:
    from ..actions.action import Action

NET = Kind("net", ("ethtool", "ip", "mlnx_tune", "mlnx_qos", "mlxconfig", "mlxreg"),
           (("net", "ifupdown"), ("net", "netplan"), ("net", "networkd")))
CLASS = "/sys/class/net"
LINK = {"mtu": "mtu", "txqueuelen": "tx_queue_len"}  # word of ip link -> field and file
FILES = {"threaded": "napi_threaded", "gro_flush_timeout": "gro_flush_timeout_ns",
         "napi_defer_hard_irqs": "napi_defer_hard_irqs"}
RPS = Default("off", "Linux: Documentation/networking/scaling.rst, RPS Configuration: 0 is the default")
GROUPS = {"ring": "rings", "channels": "channels", "coalesce": "coalescing", "offload": "offloads"}


def net(found: Setters) -> Iterator[Tunable]:
    """Every tunable of every interface."""
    facts, lines = Facts(found, NET), _Lines(found)
    for key, interface in found.table("net").get("interfaces", {}).items():
        name, path = interface["name"], ("net", "interfaces", key)
        for word, field in LINK.items():
            yield from facts.one(word, (*path, field), f"{CLASS}/{name}/{field}", subject=name,
                                 setters=lines.of(name, word))
        for file, field in FILES.items():
            yield from facts.one(file, (*path, field), f"{CLASS}/{name}/{file}", subject=name)
        if "device" in interface and not interface.get("virtual_function"):
            yield from _steering(facts, interface, path)
        yield from _groups(facts, lines, interface, path)


def _steering(facts: Facts, interface: Mapping[str, Any], path: Path) -> Iterator[Tunable]:
    """The CPUs that packets of receive and transmit queues are steered to."""
    for fact, kind in (("rps", "rx"), ("xps", "tx")):
        queues = range(interface.get(f"{kind}_queues", 0))
        files = [f"{CLASS}/{interface['name']}/queues/{kind}-{queue}/{fact}_cpus" for queue in queues]
        unread = facts.found.snapshot.unread(path[0], (*path[1:], fact))
        for tunable in facts.one(f"{fact}_cpus", (*path, fact), subject=interface["name"], show=steered,
                                 otherwise=None if unread else "off", setters=_masks(facts.found, files)):
            tunable.default = RPS if fact == "rps" else None
            yield tunable


def _masks(found: Setters, files: list[str]) -> list[Setter]:
    """What writes masks of CPUs into FILES; a line for some of them is not certain for all."""
    made = {path: found.file(path) for path in files}
    every = dict.fromkeys(one for setters in made.values() for one in setters)
    whole = {one for one in every if all(one in setters for setters in made.values())}
    return [replace(one, value=_cpus(one.value), certain=one.certain and one in whole,
                    doubt=one.doubt or ("" if one in whole else "it is of some queues")) for one in every]


def _cpus(mask: str | None) -> str | None:
    found = mask_cpus(mask)
    return "off" if found == "" else found


def steered(queues: Mapping[str, str]) -> str:
    """Queue -> CPUs as one text: the CPUs where all have the same, else "0-3 of rx-0, ..."."""
    if len({*queues.values()}) == 1:
        return next(iter(queues.values()))
    return ", ".join(f"{cpus} of {queue}" for queue, cpus in queues.items())


def _groups(facts: Facts, lines: _Lines, interface: Mapping[str, Any], path: Path) -> Iterator[Tunable]:
    """What ethtool shows and sets: rings, channels, coalescing, features."""
    name = interface["name"]
    for group, field in GROUPS.items():
        for key in interface.get(field, {}):
            setters = lines.of(name, f"{group} {key}")
            yield from facts.one(f"{group}/{key}", (*path, field, key), subject=name, setters=setters)


class _Lines:
    """The actions of ip and ethtool, by interface and by what they set."""

    def __init__(self, found: Setters) -> None:
        self._found = found
        self._named: dict[tuple[str, str], list[Setter]] = {}
        self._others: list[tuple[str, str, Action]] = []
        for action in (*found.of("ip"), *found.of("ethtool")):
            nic, *rest = action.where or ("",)
            what = " ".join(rest)
            if any(sign in nic for sign in "*?[$%") or not nic:
                self._others.append((nic, what, action))
            else:
                self._named.setdefault((nic, what), []).append(found.setter(action, action.value))

    def of(self, name: str, what: str) -> list[Setter]:
        """The setters of one attribute of one interface; a variable may be any interface."""
        own = list(self._named.get((name, what), ())) if self._named else []
        for nic, word, action in self._others:
            unsure = not nic or "$" in nic or "%" in nic
            if word == what and (unsure or matcher(nic).fullmatch(name)):
                own.append(self._found.setter(action, action.value, "which interface that is" if unsure else ""))
        return own
