"""Containers with what a rule asks of their lists of lines: CPUs, limits, confinement, devices; from sections lxc, cpu.

pct.conf(5), cores; update_lxc_config in src/PVE/LXC.pm of pve-container: with fewer cores than the host has CPUs and no
lxc.cgroup2.cpuset.cpus of its own, a start takes CPUs away at random until that many are left, and pvestatd moves them
while containers start and stop. What the last start took stands in the configuration that it generated.

Row keys, by ID; a key without a value is missing:
    container, manager, privileged, running, config_file
    who         container 101 (llm), or without a name container 101
    cores       Proxmox VE's option
    pinned      the container has a line for cpuset.cpus of its own
    cpus        CPUs that the last start gave it, as a list; missing where it left no record of any
    per_node    {NUMA node: how many of CPUS it has}
    spread      PER_NODE in words: node 0: 12, node 1: 4
    cpus_before likewise of the time before; missing without a readable before
    durable     with other CPUs than before: commands that pin it to those
    nodes       how many NUMA nodes of the host have CPUs
    gpu         it is given a node of a GPU
    rdma        it is given nodes below /dev/infiniband
    memlock     value of lxc.prlimit.memlock
    apparmor    value of lxc.apparmor.profile
    nesting, keyctl   true where the features option says so
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ...sections.base import format_cpus
from ...sections.cpu import Cpu
from ...sections.lxc import Container, Lxc, Part, unquoted
from ..facts import Derived
from ..hardware.cpu_lists import cpus

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
CPUSET = ("lxc.cgroup2.cpuset.cpus", "lxc.cgroup.cpuset.cpus")
TRUE = ("1", "on", "yes", "true")
_GPU = regex(r"/dev/(nvidia.*|kfd|dri(/.*)?|accel(/.*)?)")
_RDMA = regex(r"/dev/infiniband(/.*)?")


def containers(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each container whose lines are all known; BEFORE tells which CPUs it had."""
    found, section = Derived(), after.section("lxc")
    old = before.section("lxc") if before else None
    then = old.containers if isinstance(old, Lxc) else {}
    if unread := after.unread("lxc", ("containers",)):
        found.unknown.append(_gap("", unread.source, unread.why))
    for key, one in (section.containers if isinstance(section, Lxc) else {}).items():
        if facts := not_read(after, key):
            found.unknown.append(_gap(key, facts[0].source, facts[0].why))
        else:
            row = _row(key, one) | _cpus(one, after.section("cpu"))
            row |= _pin(one, _taken(then[key]), row.get("cpus")) if key in then else {}
            found.rows[key] = {column: value for column, value in row.items() if value is not None}
    return found


def called(key: str, container: Container) -> str:
    """A container in a sentence."""
    return f"container {key} ({container.hostname})" if container.hostname else f"container {key}"


def down(container: Container) -> str:
    """What becomes of a container whose next start fails."""
    return "will not start again" if container.running else "does not start"


def not_read(snapshot: Snapshot, key: str) -> list[UnreadFact]:
    """The files that the live part of a container includes, and that were not read."""
    outcome = snapshot.outcomes.get("lxc")
    return [fact for fact in (outcome and outcome.unread) or () if tuple(fact.path) == ("containers", key, "live")]


def _gap(subject: str, source: str, why: str) -> Row:
    return {"subject": subject, "what": "what containers are given", "source": source, "why": why}


def _row(key: str, one: Container) -> Row:
    live, cores = one.live, (one.live.options or {}).get("cores")
    features = live.features or {}
    given = [entry.source for entry in live.mount_entries or ()] + [d.path for d in (live.devices or {}).values()]
    return {
        "container": key, "who": called(key, one), "manager": one.manager, "privileged": one.privileged,
        "running": one.running, "config_file": one.config_file,
        "cores": int(cores.value) if cores and re.fullmatch("[0-9]{1,4}", cores.value) else None,
        "pinned": any(_last(live, name) for name in CPUSET),
        "gpu": any(_GPU.fullmatch(path) for path in given), "rdma": any(_RDMA.fullmatch(path) for path in given),
        "memlock": _last(live, "lxc.prlimit.memlock"), "apparmor": _last(live, "lxc.apparmor.profile"),
        **{name: True for name in ("nesting", "keyctl") if name in features and features[name].value.lower() in TRUE},
    }


def _last(part: Part, key: str) -> str | None:
    """The value of the last line with KEY; None when there is none or it is empty."""
    values = [unquoted(line.value) for line in part.other or () if line.key == key]
    return (values[-1] or None) if values else None


def _cpus(one: Container, section: Any) -> Row:
    """The CPUs of the last start, and on which NUMA nodes they are."""
    taken = _taken(one)
    table = {key: cpus(node.cpus) or set() for key, node in (section.nodes or {}).items()} if isinstance(
        section, Cpu) else {}
    nodes = {key: found for key, found in table.items() if found}
    row: Row = {"nodes": len(nodes) or None}
    if taken:
        per_node = {key: len(taken & found) for key, found in sorted(nodes.items())}
        row |= {"cpus": format_cpus(taken), "per_node": per_node or None}
        row["spread"] = ", ".join(f"node {key}: {count}" for key, count in per_node.items()) or None
    return row


def _taken(one: Container) -> set[int] | None:
    """The CPUs that the last start gave a container of Proxmox VE."""
    return next((cpus(text) for name in CPUSET if one.generated and (text := _last(one.generated, name))), None)


def _pin(one: Container, then: set[int] | None, now: str | None) -> Row:
    """The CPUs of the time before, and what gives them to every start."""
    if not then:
        return {}
    line, file = f"{CPUSET[0]}: {format_cpus(then)}", shlex.quote(one.config_file)
    pinned = f"sed '/^\\[/q' {file} | grep -q cpuset.cpus || sed -i {shlex.quote(f'1i {line}')} {file}"
    return {"cpus_before": format_cpus(then), "durable": [pinned] if format_cpus(then) != now else None}
