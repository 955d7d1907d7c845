"""The files that starts of containers include, and what of them is missing, from section lxc.

lxc.container.conf(5), lxc.include; update_lxc_config in src/PVE/LXC.pm of pve-container, which begins each container's
configuration with common.conf of /usr/share/lxc/config (that of the ostype where there is one) and, when it is
unprivileged, with userns.conf likewise; set_config_includefiles in src/lxc/confile.c. A missing file makes the start
fail, a missing directory whose name ends in / does not. So a lost userns.conf.d goes unseen, and with it the line by
which Proxmox VE opens the device list of unprivileged containers: the first allow line then shuts out even /dev/null.

Row keys, by "ID PATH"; a key without a value is missing:
    container, who, running, manager
    path        what is included
    state       there, missing (the start fails), or loop (it includes itself: the start fails)
    packaged    it belongs to packages, below /usr/share/lxc
    file, line, text, origin   the line that includes it, where it is not Proxmox VE's own; origin is the three in one
    effect      "will not start again" or "does not start", unless it is there
    shuts_out   of userns.conf: the device list of the container does not let /dev/null through
    now         commands that do away with a line whose file is missing
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ...sections.lxc import Container, Ignored, Lxc, unquoted
from ..access.host_devices import Host
from ..access.lxc_rules import Device
from ..access.start_rules import CONFIG, next_rules, shared
from ..facts import Derived
from .containers import called, down, not_read

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
NULL: Device = ("c", 1, 3)
SHARE = "/usr/share/lxc/"
_MISSING = regex(r"LXC: (.+) is (?:not there|no directory); the start fails")
_LOOP = regex(r"LXC: (.+) includes itself; the start fails")


def container_includes(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each file or directory that a container's next start includes."""
    del before
    found, section = Derived(), after.section("lxc")
    if unread := after.unread("lxc", ("containers",)):
        found.unknown.append(_gap("", unread.source, unread.why))
    if isinstance(section, Lxc):
        for key, container in section.containers.items():
            _judge(found, key, container, section, after)
    return found


def _gap(subject: str, source: str, why: str) -> Row:
    return {"subject": subject, "what": "whether the files are there that containers include", "source": source,
            "why": why}


def _judge(found: Derived, key: str, container: Container, section: Lxc, snapshot: Snapshot) -> None:
    subject = {"container": key, "who": called(key, container), "running": container.running,
               "manager": container.manager}
    options = container.live.options or {}
    template = options.get("template")
    if template and template.value.lower() in ("1", "on", "yes", "true"):
        return
    for path, row in [*_own(key, container, snapshot), *_proxmox(container, section, snapshot)]:
        if "gap" in row:
            found.unknown.append(_gap(f"{key} {path}", *row["gap"]))
        else:
            row |= {"packaged": path.startswith(SHARE), "effect": None if row["state"] == "there" else down(container)}
            found.rows[f"{key} {path}"] = {k: v for k, v in {**subject, "path": path, **row}.items() if v is not None}
    if container.manager == "pve" and container.privileged is False:
        _device_list(found, key, container, section, Host.of(snapshot))


def _own(key: str, container: Container, snapshot: Snapshot) -> Iterator[tuple[str, Row]]:
    """What the container's own lines include, and what that includes."""
    faults = dict(_faults(container.live.ignored or []))
    unread = not_read(snapshot, key)
    for line in container.live.includes or []:
        path, at = unquoted(line.value), line.origin.table()
        if lost := next((f for f in unread if f.source.startswith(path.rstrip("/"))), None):
            yield path, {"gap": (lost.source, lost.why)}
            continue
        row: Row = {"state": faults.get(path) or faults.get(path.rstrip("/"), "there"), **at, "origin": at}
        if row["state"] != "there":
            edit = shlex.quote(f"{line.origin.line}{{/lxc.include/d}}")
            row["now"] = [f"sed -i {edit} {shlex.quote(line.origin.file)}"]
        yield path, row


def _proxmox(container: Container, section: Lxc, snapshot: Snapshot) -> Iterator[tuple[str, Row]]:
    """What Proxmox VE makes a start include, and what that includes."""
    if container.manager != "pve":
        return
    for one in shared(container, section, snapshot):
        faults = [*_faults((one.part and one.part.ignored) or [])]
        if one.unread and not faults:
            yield one.path, {"gap": (one.unread.source, one.unread.why)}
            continue
        yield one.path, {"state": "there" if one.part else "missing"}
        yield from ((path, {"state": state}) for path, state in faults)


def _faults(ignored: list[Ignored]) -> Iterator[tuple[str, str]]:
    for one in ignored:
        for pattern, state in ((_MISSING, "missing"), (_LOOP, "loop")):
            if found := pattern.fullmatch(one.why):
                yield found[1], state


def _device_list(found: Derived, key: str, container: Container, section: Lxc, host: Host) -> None:
    """Notes when an unprivileged container would be shut out of /dev/null, which no configuration wants."""
    names = (name for name in found.rows if name.startswith(f"{key} {CONFIG}") and name.endswith("userns.conf"))
    rules, row = next_rules(container, section, host), next(names, "")
    if rules and row and not rules.unresolved:
        found.rows[row]["shuts_out"] = not rules.allows(*NULL, "rw")[0]
