"""The devices that Proxmox VE passes on by devN, from sections lxc, devices, units and modules.

pct.conf(5), dev[n]; update_lxc_config in src/PVE/LXC.pm and src/lxc-pve-prestart-hook of pve-container. The path is
looked up at each start, so that a new number is no matter; but when nothing is there, the start fails, whatever the
running container still holds. A template never starts.

Row keys, by "ID devN"; a key without a value is missing:
    container, who, running, onboot
    option      dev0, dev1, ...
    device      path of the node on the host, as written
    file, line, text, origin   the option; origin is the three in one
    state       there, missing, or file: something else than a device stands there
    effect      "will not start again" or "does not start", unless it is there
    driver      whose device it is, by its name
    lacks_driver   the node is of the NVIDIA driver, which is not loaded
    gpus_gone   of a minor number that no GPU has now: addresses of GPUs that the driver had before and has not now
    now         commands that make a node of the NVIDIA driver
    durable     commands that make it at every boot, where nothing does for sure
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ...sections.lxc import Container, Lxc, Part, PassedDevice
from ..access.device_nodes import DURABLE, device_nodes
from ..access.host_devices import Host
from ..access.remedy import load_first
from ..facts import Derived
from .containers import called, down

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
_NVIDIA = regex(r"/dev/nvidia([0-9]+)")
_UVM = "-c0 -u"
_MAKES = {"nvidiactl": "-c255", "nvidia-modeset": "-m", "nvidia-uvm": _UVM, "nvidia-uvm-tools": _UVM}  # below /dev


def container_devices(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each devN of a container that can start, the pending ones merged as a start merges them."""
    found, section = Derived(), after.section("lxc")
    if unread := after.unread("lxc", ("containers",)):
        found.unknown.append({"subject": "", "what": "whether devN name devices", "source": unread.source,
                              "why": unread.why})
    if not isinstance(section, Lxc):
        return found
    host, made = Host.of(after), device_nodes(after, None).rows
    minors, gone = _minors(after), _gone(after, before)
    for key, container in section.containers.items():
        for name, device in _coming(container) if container.manager == "pve" else ():
            row = _judge(found, f"{key} {name}", _subject(key, container, name, device), host)
            if row.get("state") == "missing":
                row |= _cure(device.path, made.get(device.path, {}), host, minors, gone)
    return found


def _coming(container: Container) -> list[tuple[str, PassedDevice]]:
    """The devN of the next start; none of a template."""
    live, pending = container.live, container.pending or Part()
    options = (live.options or {}) | (pending.options or {})
    if "template" in options and options["template"].value.lower() not in ("0", "off", "no", "false"):
        return []
    kept = {name: one for name, one in (live.devices or {}).items() if name not in (pending.deleted or [])}
    return sorted({**kept, **(pending.devices or {})}.items())


def _subject(key: str, container: Container, name: str, device: PassedDevice) -> Row:
    onboot = (container.live.options or {}).get("onboot")
    return {
        "container": key, "who": called(key, container), "running": container.running,
        "onboot": onboot is not None and onboot.value.lower() in ("1", "on", "yes", "true"), "option": name,
        "device": device.path, "effect": down(container), **device.origin.table(), "origin": device.origin.table(),
    }


def _judge(found: Derived, subject: str, row: Row, host: Host) -> Row:
    """The row, which is in FOUND; empty if it is not known."""
    path = row["device"]
    node, fact = host.nodes.get(path), host.unread(path)
    if fact or (node is None and not host.looked_at(path)):
        source, why = (fact.source, fact.why) if fact else (path, "the node was not recorded")
        found.unknown.append({"subject": subject, "what": f"whether {path} is there", "source": source, "why": why})
        return {}
    row |= {"state": "there" if node and node.type in ("c", "b") else "file" if node else "missing"}
    row["driver"] = host.behind(path).driver
    row["effect"] = None if row["state"] == "there" else row["effect"]
    found.rows[subject] = {key: value for key, value in row.items() if value is not None}
    return found.rows[subject]


def _minors(snapshot: Snapshot) -> set[int] | None:
    """The minor numbers of the GPUs that the NVIDIA driver has; None where not all are known."""
    nvidia = snapshot.table("nvidia")
    gpus = nvidia.get("gpus", {}).values()
    known = nvidia.get("loaded") and not snapshot.unread("nvidia", ("gpus",)) and all("minor" in gpu for gpu in gpus)
    return {gpu["minor"] for gpu in gpus} if known else None


def _gone(after: Snapshot, before: Snapshot | None) -> list[str]:
    now, then = (side.table("nvidia").get("gpus", {}) if side else {} for side in (after, before))
    kept = {gpu.get("address") for gpu in now.values()}
    gone = {gpu.get("address") for key, gpu in then.items() if key not in now}
    return sorted(filter(None, gone - kept))


def _cure(path: str, made: Row, host: Host, minors: set[int] | None, gone: list[str]) -> Row:
    """What makes the node, and what it needs first; nothing of a device that no program makes."""
    numbered, first = _NVIDIA.fullmatch(path), load_first(host)
    if numbered and minors is not None and int(numbered[1]) not in minors:
        return {"now": [f"# no GPU has the minor number {numbered[1]}: bring it back, or name another's node"],
                **({"gpus_gone": gone} if gone else {})}
    makes = f"-c{numbered[1]}" if numbered else _MAKES.get(path.removeprefix("/dev/"))
    durable = {"durable": DURABLE} if makes == _UVM and not made.get("made_by") else {}
    lacks = {"lacks_driver": True} if first else {}
    return {"now": [*first, f"nvidia-modprobe {makes}"], **durable, **lacks} if makes else {}
