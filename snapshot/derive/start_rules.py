"""The device rules that a container runs with, and those that its next start will make, from section lxc.

PVE::LXC::update_lxc_config (pve-container) writes, in this order: the include of the distribution's
common.conf, of its userns.conf when unprivileged, an allow line for each devN, then the raw lxc.* lines of
the container's file. What the included files say is known only when they were recorded.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ..sections.lxc import Container, Lxc, Part
from .given_devices import PACKAGED, by_devices
from .host_devices import Host
from .lxc_rules import Device, Line, Reset, RuleList, build, parse_rule

CONFIG = "/usr/share/lxc/config/"
REWRITING = ("hookscript", "lxc.hook.pre-start", "lxc.hook.autodev", "lxc.hook.start-host")


def running_rules(container: Container, host: Host) -> RuleList | None:
    """The rules that a running container has; None when its start left no record of them.

    Plain LXC leaves none: there the file, as it is now, is all that there is.
    """
    part = container.live if container.manager == "lxc" else container.generated
    return build(_lines(part), _nodes(host)) if part and not _shuffled(part) else None


def next_rules(container: Container, lxc: Lxc, host: Host) -> RuleList | None:
    """The rules of the next start; None when they hang on files whose lines or order are not known."""
    raw = list(_lines(container.live))
    if _shuffled(container.live):
        return None
    if container.manager == "lxc":
        return build(raw, _nodes(host))
    base = _included(container, lxc)
    if base is None and not any(isinstance(parse_rule(*line), Reset) for line in raw):
        return None  # `a` alone would have emptied whatever the includes bring
    return build([*(base or []), *_passed(container, host), *raw], _nodes(host))


def rewriting_hooks(container: Container) -> list[str]:
    """The container's own hooks that may rewrite the rules or the file, as they are written."""
    own = [h for h in container.live.hooks or [] if not h.origin.file.startswith(PACKAGED)]
    return [h.origin.text.strip() for h in own if h.key in REWRITING]


def _lines(part: Part) -> Iterator[Line]:
    return ((r.key, r.value, r.origin) for r in part.device_rules or [])


def _shuffled(part: Part) -> bool:
    """Whether device lines come from two files of one directory, of which nobody knows the order."""
    files = {r.origin.file for r in part.device_rules or []}
    folders = [posixpath.dirname(file) for file in files]
    return any(folders.count(directory.value.rstrip("/")) > 1 for directory in part.unordered or [])


def _included(container: Container, lxc: Lxc) -> list[Line] | None:
    if container.privileged is None:
        return None
    option = (container.live.options or {}).get("ostype")
    known = lxc.includes or {}
    lines: list[Line] = []
    for word in ("common",) if container.privileged else ("common", "userns"):
        special = known.get(f"{CONFIG}{option.value}.{word}.conf") if option else None
        part = special or known.get(f"{CONFIG}{word}.conf")
        if part is None or _shuffled(part):
            return None
        lines += _lines(part)
    return lines


def _passed(container: Container, host: Host) -> Iterator[Line]:
    """The allow lines that a start makes of devN, by the numbers that the nodes have now."""
    for one in by_devices(container).values():
        found = host.behind(one.path).device
        if found and one.passed:
            access = "r" if one.passed.deny_write else "rw"
            yield "lxc.cgroup2.devices.allow", f"{found[0]} {found[1]}:{found[2]} {access}", one.origin


def _nodes(host: Host) -> dict[str, Device | None]:
    return {path: host.behind(path).device for path in host.nodes}
