"""Each physical network interface by its key: what it is called, was called, and who still uses the old name.

From section net. systemd.link(5); systemd.net-naming-scheme(7); sed(1). A name comes from firmware, slot or bus
number, so that a new kernel, systemd, BIOS or card can change it. Virtual functions have no row: their names follow
those of their physical function.

Row keys, by the interface's key; a key without a value is missing:
    name           what it is called now
    mac            its permanent MAC
    name_before    what the same interface was called before, by the diff's pairing
    named          yes: the configuration after names name_before; no: it does not; unread: not all of it was read
    named_in       where it does: FILE:LINE, or the file
    lines          [{file, line, text}] where it does, as far as they are recorded
    managers       who does: ifupdown, netplan, networkd
    taken_by       key of the interface that is called name_before now: the files set up that one instead
    next_name      what a .link file that was written in this boot calls it from the next one on, as far as is known
    next_line      {file, line, text} of that; next_text: FILE:LINE
                   then named, named_in and lines are about the name now
    pinned         {file, line, text}: what gives the interface its name now
    pinned_text    the same as FILE:LINE
    now            commands that put the new name into the files and apply them; missing where names were exchanged, so
                   that a second edit would undo the first
    durable        commands that pin the name to the MAC
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...regexes import regex
from ...sections.net import Interface
from ...sections.shape import of_model
from ..actions.actions_net import fits
from ..boot.initramfs_state import changed_since_boot
from ..facts import Derived
from ..pci.pci_tree import moves
from .net_mentions import SOURCES, Manager, Mention, mentions, pinned_by

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Interfaces = Mapping[str, Mapping[str, Any]]
_SAFE = regex("[A-Za-z0-9_][A-Za-z0-9_.-]*")
_MAC = regex("[0-9a-f]{2}(:[0-9a-f]{2}){5}")


def nic_names(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each physical interface of AFTER; unknown as a whole where they could not be listed."""
    if fact := after.unread("net", ("interfaces",)):
        gap = {"subject": "", "what": "names of interfaces", "source": fact.source, "why": fact.why}
        return Derived({}, [gap])
    net = after.table("net")
    rows = {key: _row(interface) for key, interface in physical(net).items()}
    then = was_called(before, after)
    told = [*mentions(net)]
    for key, row in rows.items():
        row |= {"name_before": then[key]} if key in then else {}
        if row.get("name_before", row["name"]) != row["name"]:
            _renamed(row, [one for one in told if one.name == then[key]], after, {*then.values()})
        elif following := _next(after, net["interfaces"][key]):
            row |= following | _named([one for one in told if one.name == row["name"]], after)
    return Derived(rows)


def physical(net: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Physical interfaces that are no virtual functions, by key."""
    found: Interfaces = net.get("interfaces", {})
    return {k: i for k, i in found.items() if i["kind"] == "physical" and not i.get("virtual_function")}


def was_called(before: Snapshot | None, after: Snapshot) -> dict[str, str]:
    """Key of an interface -> its name before."""
    then: Interfaces = before.table("net").get("interfaces", {}) if before else {}
    pairs = pair(then, after.table("net").get("interfaces", {}), of_model(Interface), moves(before, after)).before_of
    return {key: then[old]["name"] for key, old in pairs.items()}


def rename(files: Iterable[str], old: str, new: str) -> list[str]:
    """Commands that write NEW for OLD in FILES; none where a name is not safe to put into an expression."""
    if not _SAFE.fullmatch(old) or not _SAFE.fullmatch(new):
        return []
    word = old.replace(".", r"\.")
    return [rf"sed -i 's/\b{word}\b/{new}/g' {shlex.quote(file)}" for file in sorted({*files})]


def reload(after: Snapshot, manager: Manager, name: str) -> str:
    """The command with which MANAGER applies its files, for interface NAME."""
    if manager == "netplan":
        return "netplan apply"
    if manager == "networkd":
        return f"networkctl reload && networkctl reconfigure {shlex.quote(name)}"
    second = "ifupdown2" in after.table("packages").get("installed", {}) or "proxmox_ve" in after.table("os")
    return "ifreload -a" if second else "systemctl restart networking"


def _row(interface: Mapping[str, Any]) -> Row:
    mac = interface.get("permanent_mac")
    return {"name": interface["name"], **({"mac": mac} if mac else {})}


def _renamed(row: Row, told: list[Mention], after: Snapshot, then: set[str]) -> None:
    """Adds who uses the old name, and what mends that; THEN are all names before."""
    net = after.table("net")
    takers = [key for key, interface in net.get("interfaces", {}).items() if interface["name"] == row["name_before"]]
    pin = pinned_by(net, row["name"])
    exchanged = takers or row["name"] in then
    found = {
        "managers": sorted({one.manager for one in told}), "taken_by": takers[0] if takers else None, "pinned": pin,
        "pinned_text": f"{pin['file']}:{pin['line']}" if pin else None,
        "now": None if exchanged else _now(row, told, after), "durable": None if pin else _pin(row, after),
    }
    row |= _named(told, after) | {key: value for key, value in found.items() if value}


def _named(told: list[Mention], after: Snapshot) -> Row:
    """Who uses a name."""
    unread = any(after.unread("net", (source,)) for source in SOURCES)
    lines = {(one.origin["file"], one.origin["line"]): one.origin for one in told if one.origin}
    found = {"named": "yes" if told else "unread" if unread else "no", "named_in": _place(told),
             "lines": [*lines.values()]}
    return {key: value for key, value in found.items() if value}


def _next(snapshot: Snapshot, interface: Mapping[str, Any]) -> Row:
    """The name that the next boot gives it: that of the first .link file for it, where nothing comes before Name=."""
    net = snapshot.table("net")
    files = {name: stanza["options"] for name, stanza in net.get("networkd", {}).items() if name.endswith(".link")}
    first = next((name for name in sorted(files) if fits(interface, files[name]) is not False), "")
    options: Mapping[str, Any] = files.get(first, {})
    name: Mapping[str, Any] = options.get("Link.Name", {})
    unsure = net.get("udev_names") or options.get("Link.NamePolicy", {}).get("value") or not fits(interface, options)
    if unsure or not name or name["value"] == interface["name"]:
        return {}
    origin = name["origin"]
    if origin["file"].startswith("/run/") or not changed_since_boot(snapshot, origin["file"]):
        return {}
    return {"next_name": name["value"], "next_line": origin, "next_text": f"{origin['file']}:{origin['line']}"}


def _place(told: list[Mention]) -> str | None:
    """The first line that names the interface; of a bare stanza the file."""
    origin = next((one.origin for one in told if one.origin), None)
    if origin:
        return f"{origin['file']}:{origin['line']}"
    return ("/etc/network/interfaces" if told[0].manager == "ifupdown" else "/etc/netplan") if told else None


def _now(row: Row, told: list[Mention], after: Snapshot) -> list[str]:
    """Edits of every file that names the interface, and one reload for each manager."""
    files = {one.origin["file"] for one in told if one.origin}
    if any(one.manager == "ifupdown" for one in told):  # the line iface NAME is not recorded
        files |= {file for file in after.files if file.startswith("/etc/network/interfaces")}
    edits = rename(files, row["name_before"], row["name"])
    managers = sorted({one.manager for one in told})
    return [*edits, *(reload(after, manager, row["name"]) for manager in managers)] if edits else []


def _pin(row: Row, after: Snapshot) -> list[str]:
    """A .link file that keeps the name. The initramfs needs it too: there, interfaces get their names first."""
    name, mac = row["name"], row.get("mac", "")
    if not _SAFE.fullmatch(name) or not _MAC.fullmatch(mac):
        return []
    made = f"printf '[Match]\\nPermanentMACAddress={mac}\\n\\n[Link]\\nName={name}\\n'"
    debian = after.table("os").get("id") in ("debian", "ubuntu")
    return [f"{made} > /etc/systemd/network/10-{name}.link", *(["update-initramfs -u -k all"] if debian else [])]
