"""The device rules that a container runs with, and those that its next start will make, from section lxc.

PVE::LXC::update_lxc_config (pve-container) writes, in this order: the include of the distribution's
common.conf, of its userns.conf when unprivileged, an allow line for each devN, then the raw lxc.* lines of
the container's file. What the included files say is known only when they were recorded, and all that they include.

A start can fail for a line that is about no device (``refused``). LXC 7 has no lxc.cgroup.* keys but dir and relative
in its table (src/lxc/confile.c of 7.0.0); 4 to 6 ignore them on a host with cgroup2 only. A cgroup2 key that names no
file of the container's cgroup stops the start as well, of which those are told that were meant for the device list.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...records import record
from ...regexes import regex
from ...sections.base import Origin
from ...sections.lxc import Container, Lxc, Part
from ...sections.os import Os
from .given_devices import PACKAGED, by_devices
from .host_devices import Host
from .lxc_rules import Device, Line, Reset, RuleList, build, parse_rule

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

CONFIG = "/usr/share/lxc/config/"
REWRITING = ("hookscript", "lxc.hook.pre-start", "lxc.hook.autodev", "lxc.hook.start-host")
MAKING = (*REWRITING, "lxc.hook.pre-mount", "lxc.hook.mount", "lxc.hook.start")
_V1 = regex(r"lxc\.cgroup\.(?!dir$|dir\.|relative$)")
_NO_FILE = regex(r"lxc\.cgroup2\.(?!devices)(?i:device)")
_MAJOR = regex(r"(?:[0-9]+:)?([0-9]{1,4})\.", re.ASCII)


@record(frozen=True)
class Shared:
    """A file that Proxmox VE makes a start include: the one of the ostype where there is one, else the common one.

    PART is None where it is not there; UNREAD is why that, or all that it includes, is not known.
    """

    path: str
    part: Part | None
    unread: UnreadFact | None


def shared(container: Container, lxc: Lxc, snapshot: Snapshot) -> Iterator[Shared]:
    """The files that each start of a container of Proxmox VE includes."""
    ostype = (container.live.options or {}).get("ostype")
    for word in ("common",) if container.privileged else ("common", "userns"):
        paths = [*([f"{CONFIG}{ostype.value}.{word}.conf"] if ostype else []), f"{CONFIG}{word}.conf"]
        told = (Shared(path, (lxc.includes or {}).get(path), snapshot.unread("lxc", ("includes", path)))
                for path in paths)
        yield next((one for one in told if one.part or one.unread), Shared(paths[-1], None, None))


def running_rules(key: str, container: Container, host: Host) -> RuleList | None:
    """The rules that a running container, KEY, has; None when its start left no record of them that was read whole.

    Plain LXC leaves none: there the file, as it is now, is all that there is.
    """
    name, part = ("live", container.live) if container.manager == "lxc" else ("generated", container.generated)
    if host.snapshot.unread("lxc", ("containers", key, name)):
        return None
    return build(_lines(part), _nodes(host)) if part and not _shuffled(part) else None


def next_rules(container: Container, lxc: Lxc, host: Host) -> RuleList | None:
    """The rules of the next start; None when they hang on files whose lines or order are not known."""
    raw = list(_lines(container.live))
    if _shuffled(container.live):
        return None
    if container.manager == "lxc":
        return build(raw, _nodes(host))
    base = _included(container, lxc, host.snapshot)
    if base is None and not any(isinstance(parse_rule(*line), Reset) for line in raw):
        return None  # `a` alone would have emptied whatever the includes bring
    return build([*(base or []), *_passed(container, host), *raw], _nodes(host))


def written_lines(container: Container, lxc: Lxc, snapshot: Snapshot) -> list[Line] | None:
    """The device lines of the files that the next start reads, in order; None when not all are known."""
    base = [] if container.manager == "lxc" else _included(container, lxc, snapshot)
    return None if base is None else [*base, *_lines(container.live)]


def hooks(container: Container, keys: tuple[str, ...] = REWRITING) -> list[str]:
    """The container's own hooks of KEYS, as they are written: those that may rewrite the rules or the file."""
    own = [h for h in container.live.hooks or [] if not h.origin.file.startswith(PACKAGED)]
    return [h.origin.text.strip() for h in own if h.key in keys]


def lxc_major(snapshot: Snapshot) -> int | None:
    """The major version of the installed LXC, which makes the next start; None when it is not known."""
    section = snapshot.section("os")
    found = _MAJOR.match(section.lxc or "") if isinstance(section, Os) else None
    return int(found[1]) if found else None


def refused(container: Container) -> Origin | None:
    """The first line that makes every start fail, whatever the version of LXC."""
    live = container.live
    wrong = [r.origin for r in live.other or [] if _NO_FILE.match(r.key)]
    return next(iter([*wrong, *(i.origin for i in live.ignored or [] if i.why.endswith("the start fails"))]), None)


def v1_lines(container: Container) -> list[Origin]:
    """The lines with a key of cgroup v1, which LXC 7 refuses."""
    live = container.live
    return [r.origin for r in (*(live.device_rules or ()), *(live.other or ())) if _V1.match(r.key)]


def _lines(part: Part) -> Iterator[Line]:
    return ((r.key, r.value, r.origin) for r in part.device_rules or [])


def _shuffled(part: Part) -> bool:
    """Whether device lines come from two files of one directory, of which nobody knows the order."""
    files = {r.origin.file for r in part.device_rules or []}
    folders = [posixpath.dirname(file) for file in files]
    return any(folders.count(directory.value.rstrip("/")) > 1 for directory in part.unordered or [])


def _included(container: Container, lxc: Lxc, snapshot: Snapshot) -> list[Line] | None:
    if container.privileged is None:
        return None
    lines: list[Line] = []
    for one in shared(container, lxc, snapshot):
        if one.part is None or one.unread or _shuffled(one.part):
            return None
        lines += _lines(one.part)
    return lines


def _passed(container: Container, host: Host) -> Iterator[Line]:
    """The allow lines that a start makes of devN, by the numbers that the nodes have now."""
    for one in by_devices(container).values():
        found = host.behind(one.path).device
        if found and one.passed:
            access = "r" if one.passed.deny_write else "rw"  # as Proxmox VE writes it, whatever the node's mode
            yield "lxc.cgroup2.devices.allow", f"{found[0]} {found[1]}:{found[2]} {access}", one.origin


def _nodes(host: Host) -> dict[str, Device | None]:
    return {path: host.behind(path).device for path in host.nodes}
