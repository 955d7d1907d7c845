"""Who names a device number literally, and whether the number is still the right one; from four sections.

Documentation/admin-guide/devices.txt, __register_chrdev_region in fs/char_dev.c: a dynamic number goes to whoever
asks first, so that the next boot may give it to another driver. What names it then opens nothing, or another
driver's device. Whose number a line means is told by the path that it names; of a rule, which names none, by the
driver that had the number before, else by the one that has it (the other way round where the number was looked up
after the boot).

A container's rules stand here as they are written. Whether they deny anything is told by ``device_access``: another
line may cover the device, or nothing be denied there at all. Nodes in the root of a container are not recorded, nor
are scripts that could not be read; section units names those.

Row keys, by "KIND NAME PLACE": "lxc 101 c 508:*", "cdi /etc/cdi/nvidia.yaml /dev/nvidia-uvm"; a key without a value is
missing:
    kind          lxc (device rule), lxc-generated (of the last start), hook (of a container), cdi, char-link, udev,
                  tmpfiles, script, unit, cron
    name          container, file or unit
    origin        {file, line, text}; of cdi and char-link the file alone
    device        path on the host of the node that is named
    type, major, minor   the number as it is named
    driver        whose number is meant, several joined by a comma
    now           the numbers of these drivers, sorted; empty when they are not registered
    owner         who has the number now, several joined by a comma; nobody
    before_owner  likewise before; missing without a readable before
    state         static: right, and always will be
                  current: right, and written anew before the next use
                  dynamic: right, and may be wrong after the next boot
                  stale: its driver has another number, and nobody has this one
                  foreign: another driver has it
                  not-loaded: its driver has no number now, and nobody has this one
                  unowned: nobody has it, and nothing tells whose it was; one of a list of candidates, for example
    lasts         false: it is written anew at boot or at the container's start, which mends it
    text_new      the line with the right number, where it is stale or foreign and the line can be mended
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ...records import record
from ...sections.lxc import Lxc
from ...sections.runtimes import Runtimes
from ...sections.units import Units
from ..facts import Derived
from .host_devices import Host, dynamic
from .major_mentions import Mention, of_containers, of_runtimes, of_units

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
READERS: tuple[tuple[str, type, Callable[[Any], Iterator[Mention]]], ...] = (
    ("lxc", Lxc, of_containers), ("runtimes", Runtimes, of_runtimes), ("units", Units, of_units),
)
# beginning of the keys -> section and table whose absence makes them unknown
TABLES = (
    ("lxc ", "lxc", "containers"), ("lxc-generated ", "lxc", "containers"), ("cdi ", "runtimes", "cdi"),
    ("char-link ", "runtimes", "char_links"), ("udev ", "units", "udev"), ("tmpfiles ", "units", "tmpfiles"),
    ("script ", "units", "scripts"), ("unit ", "units", "units"), ("cron ", "units", "cron"),
)
PARTS = {"lxc ": ("live",), "lxc-generated ": ("generated",), "cdi ": ()}  # of which one item may be unknown


def major_users(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each number and each line that names it."""
    for half in ("character", "block"):
        if unread := after.unread("devices", (half,)):
            gap = {"subject": "", "what": "whose the device numbers in the configuration are"}
            return Derived({}, [gap | {"source": unread.source, "why": unread.why}])
    judge = _Judge(Host.of(after), Host.of(before) if before else None)
    rows: dict[str, Row] = {}
    for mention in _mentions(after):
        key = f"{mention.kind} {mention.name} {mention.place}"
        if key in rows and rows[key]["major"] != mention.major:
            key += f" {mention.major}"
        rows.setdefault(key, judge.row(mention))
    return Derived(rows, list(_unknown(after)))


@record(frozen=True)
class _Judge:
    host: Host
    before: Host | None

    def row(self, mention: Mention) -> Row:
        meant = self._meant(mention)
        owner = self.host.owner(mention.type, mention.major)
        now = sorted({n for name in meant for n in self.host.numbers(mention.type, name)})
        row: Row = {
            "kind": mention.kind, "name": mention.name, "origin": _origin(mention), "device": mention.device,
            "type": mention.type, "major": mention.major, "minor": mention.minor, "driver": ", ".join(meant) or None,
            "now": now if meant else None, "owner": owner or "nobody", "before_owner": self._before(mention),
            "state": _state(mention, meant, now, owner), "lasts": mention.lasts,
        }
        wrong = row["state"] in ("stale", "foreign") and mention.lasts and len(now) == 1
        row["text_new"] = _mended(mention, now[0]) if wrong else None
        return {key: value for key, value in row.items() if value is not None}

    def _meant(self, mention: Mention) -> list[str]:
        """The drivers whose number is meant, as far as anything tells."""
        behind = self.host.behind(mention.device) if mention.device else None
        sides = [self.before, self.host] if mention.lasts else [self.host, self.before]
        owners = (side.owner(mention.type, mention.major) for side in sides if side)
        found = (behind and behind.driver) or next(filter(None, owners), None)
        return found.split(", ") if found else []

    def _before(self, mention: Mention) -> str | None:
        if self.before is None or mention.type not in self.before.drivers:
            return None
        return self.before.owner(mention.type, mention.major) or "nobody"


def _state(mention: Mention, meant: list[str], now: list[int], owner: str | None) -> str:
    if mention.major in now:
        lasting = "dynamic" if dynamic(mention.major, mention.type) else "static"
        return lasting if mention.lasts else "current"
    if owner:
        return "foreign"
    return "stale" if now else "not-loaded" if meant else "unowned"


def _origin(mention: Mention) -> Row:
    return mention.origin.table() if mention.origin else {"file": mention.name}


def _mended(mention: Mention, major: int) -> str | None:
    """The line with MAJOR in place of the number; None when that stands in it never or twice."""
    if mention.origin is None or not mention.written:
        return None
    pattern = rf"(?<![\w:./$]){re.escape(mention.written)}(?=[:\s,\"'])"
    text, count = re.subn(pattern, str(major), mention.origin.text)
    return text if count == 1 else None


def _mentions(after: Snapshot) -> Iterator[Mention]:
    for name, kind, read in READERS:
        section = after.section(name)
        if isinstance(section, kind):
            yield from read(section)


def _unknown(after: Snapshot) -> Iterator[Row]:
    """Tables that are not known, and, of those in PARTS, items: what else they name."""
    for start, section, table in TABLES:
        what = f"device numbers named by {start.strip()}"
        if unread := after.unread(section, (table,)):
            yield {"subject": start, "what": what, "source": unread.source, "why": unread.why}
            continue
        outcome = after.outcomes.get(section)
        for fact in (outcome and outcome.unread) or ():
            if start in PARTS and len(fact.path) > 1 and fact.path[0] == table and _part(fact.path, PARTS[start]):
                subject = f"{start}{fact.path[1]} "
                yield {"subject": subject, "what": what, "source": fact.source, "why": fact.why}


def _part(path: list[str], part: tuple[str, ...]) -> bool:
    """Whether an unread PATH takes in, or lies in, PART of the item."""
    return all(a == b for a, b in zip(path[2:], part, strict=False))
