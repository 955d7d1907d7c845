"""A snapshot as a page that a person reads: what the host is, section by section."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..document import Outcome, Snapshot
from ..sections import NAMES
from ..sections.sysctl import agrees
from .paper import shown
from .taken import gpus, plural

Table = Mapping[str, Any]
INDENT = 10


def render(snapshot: Snapshot) -> str:
    """The page, ending in a newline; lines are not wrapped, what could not be read is said in its section."""
    lines = [*_head(snapshot), f"{len(snapshot.files)} configuration files read", ""]
    for name in NAMES:
        outcome = snapshot.outcomes.get(name, Outcome(state="skipped", facts=0))
        body = [*OVERVIEWS[name](snapshot.table(name))] if outcome.facts else []
        body += _outcome(outcome)
        lines += [f"{name if i == 0 else '':<{INDENT}}{line}".rstrip() for i, line in enumerate(body)]
    return "\n".join((*map(shown, lines), ""))


def _head(snapshot: Snapshot) -> Iterator[str]:
    meta = snapshot.meta
    when = f"taken {meta.taken[:10]} {meta.taken[11:19]} UTC" if meta.taken else "taken at an unknown time"
    yield "  ".join(filter(None, (meta.host, meta.label, when)))
    facts = [f"up {age(meta.uptime_s)}" if meta.uptime_s is not None else None,
             f"systemd {meta.system_state}" if meta.system_state not in (None, "none") else None,
             {None: None, 0: "as root"}.get(meta.uid, f"as uid {meta.uid}"), "baseline" if meta.baseline else None,
             None if meta.source == "live" else f"from a recorded root ({meta.source})", f"hostsnap {meta.tool}"]
    yield ", ".join(filter(None, facts))


def age(seconds: int) -> str:
    """A span of time in its two largest units: "3 d 4 h", "12 min"."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _outcome(outcome: Outcome) -> Iterator[str]:
    if outcome.state != "ok":
        yield f"[{outcome.state}] {outcome.why or ''}".rstrip()
    unread = outcome.unread or []
    for fact in unread[:3]:
        yield f"[unread] {'.'.join(fact.path) or 'all'}: {fact.source}: {fact.why}"
    if len(unread) > 3:
        yield f"[unread] and {len(unread) - 3:,} more (show outcomes lists them)"


def _os(table: Table) -> Iterator[str]:
    versions = (("Proxmox VE", "proxmox_ve"), ("systemd", "systemd"), ("LXC", "lxc"),
                ("pve-container", "pve_container"))
    words = [table.get("pretty_name", table.get("id", "unknown system"))]
    words += [f"{name} {table[key]}" for name, key in versions if key in table]
    yield ", ".join(words)
    if "virtualization" in table:
        yield f"virtualization {table['virtualization']}"


def _kernel(table: Table) -> Iterator[str]:
    facts = [table.get("release", "unknown release"), table.get("machine"),
             f"preemption {table['preempt']}" if "preempt" in table else None,
             f"clocksource {table['clocksource']}" if "clocksource" in table else None,
             f"lockdown {table['lockdown']}" if table.get("lockdown", "none") != "none" else None,
             f"tainted {' '.join(table['taints'])}" if table.get("taints") else None]
    yield ", ".join(filter(None, facts))
    installed = table.get("installed", {})
    if installed:
        newest = f"; newest {table['newest']}" if "newest" in table else ""
        yield f"installed {', '.join(installed)}{newest}"


def _cmdline(table: Table) -> Iterator[str]:
    yield " ".join(table["tokens"]) or "(empty)"


def _sysctl(table: Table) -> Iterator[str]:
    values, settings = table["values"], table.get("settings", {})
    yield f"{plural(len(values), 'value')}, {plural(len(settings), 'key')} set by files or the command line"
    for key, setting in settings.items():
        wins = setting.get("systemd") or setting.get("procps") or setting.get("cmdline")
        if wins and key in values and not agrees(values[key], wins["value"]):
            yield f"{key} is {values[key]}, but {wins['origin']['file']}:{wins['origin']['line']} says {wins['value']}"


def _pci(table: Table) -> Iterator[str]:
    functions = table["functions"]
    chosen = gpus(functions)
    yield f"{plural(len(functions), 'function')}, {plural(len(chosen), 'GPU')}"
    for address in chosen:
        yield f"{address}  {_function(functions[address])}"


def _function(function: Table) -> str:
    express = function.get("express", {})
    link = express.get("link", {})
    facts = [function.get("name") or f"{function.get('vendor')}:{function.get('device')}",
             f"driver {function['driver']}" if "driver" in function else "no driver",
             f"x{link['width']} of x{link.get('max_width', '?')}" if "width" in link else None,
             f"MaxReadReq {express['max_read_request_bytes']}" if "max_read_request_bytes" in express else None,
             f"node {function['numa_node']}" if function.get("numa_node", -1) >= 0 else None]
    return ", ".join(filter(None, facts))


def _devices(table: Table) -> Iterator[str]:
    yield f"{plural(len(table['character']), 'character driver')}, {plural(len(table['block']), 'block driver')}"
    majors = [f"{name} {' '.join(map(str, numbers))}" for name, numbers in table["character"].items()
              if name.startswith(("nvidia", "kfd", "drm", "vfio", "infiniband"))]
    if majors:
        yield f"majors: {', '.join(majors)}"
    kinds = Counter(re.sub(r"\d+$", "*", node) for node in table.get("nodes", {}))
    nodes = [f"{name} ({count})" if "*" in name else name for name, count in kinds.items()]
    if nodes:
        yield f"nodes: {', '.join(nodes)}"


def _lxc(table: Table) -> Iterator[str]:
    containers = table["containers"]
    yield plural(len(containers), "container")
    for identifier, found in containers.items():
        running = {True: "running", False: "stopped", None: "running or not is unknown"}[found.get("running")]
        privilege = {True: "privileged", False: "unprivileged", None: "privileged or not is unknown"}[
            found.get("privileged")]
        facts = [f"{identifier} {found.get('hostname', '')}".rstrip(), running,
                 privilege,
                 *(f"{key}: {passed['path']}" for key, passed in found["live"].get("devices", {}).items()),
                 *(rule["value"] for rule in found["live"].get("device_rules", []))]
        yield ", ".join(facts)


OVERVIEWS: dict[str, Callable[[Table], Iterator[str]]] = {
    "os": _os, "kernel": _kernel, "cmdline": _cmdline, "sysctl": _sysctl, "pci": _pci, "devices": _devices, "lxc": _lxc,
}
