"""Which devices of the host a container is given: by mount entries, by devN, by rules that name a number.

lxc.container.conf(5), MOUNT POINTS; pct.conf(5), devN. LXC's mount entries are fstab(5) lines with traps:
without a fourth field, or with create=file for a directory, the start fails; a target with a leading / is
ignored with a warning; an optional entry whose source is missing is skipped, and with create=file it leaves
an empty file in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Literal

from ...records import record
from ...sections.base import Origin
from ...sections.lxc import Container, MountEntry, Part, PassedDevice
from .host_devices import NO_DEVICES, Host, dynamic
from .lxc_rules import Rule, build

How = Literal["mount", "directory", "dev", "rule"]
PACKAGED = "/usr/share/"  # lines of files from here are nobody's own


@record(frozen=True)
class Given:
    """A device that a container is given, by which line; FAULT is a word when that line cannot work."""

    path: str
    how: How
    origin: Origin
    fault: Literal["", "mount-ignored", "mount-broken", "given-twice"] = ""
    options: tuple[str, ...] = ()  # of the mount entry
    source: str = ""  # of the mount entry
    passed: PassedDevice | None = None

    @property
    def optional(self) -> bool:
        """Whether a start without the node goes on."""
        return "optional" in self.options

    @property
    def idmapped(self) -> bool:
        """Whether the mount shows another owner than the host's node has (idmap= of lxc.mount.entry)."""
        return any(option.startswith("idmap=") for option in self.options)

    def asked(self, host: Host) -> str:
        """What the container is to be able to ask for at open: r of a node that nobody can write to, else rw."""
        node = host.nodes.get(self.path)
        unwritable = node is not None and not set(node.mode[-3:]) & set("2367")
        return "r" if unwritable or (self.passed and self.passed.deny_write) else "rw"


def given(container: Container, host: Host, before: Host | None) -> dict[str, Given]:
    """The devices of the next start, by path."""
    found = by_mounts(container.live, host)
    for path, one in by_devices(container).items():
        # read in pve-container's autodev hook: it makes the node itself and dies when there is one
        twice = path in found and not found[path].fault
        found[path] = Given(path, "dev", one.origin, "given-twice" if twice else "", passed=one.passed)
    drivers = {host.behind(path).driver for path in found}
    return {one.path: one for one in by_rules(container.live, host, before, drivers)} | found


def by_mounts(part: Part, host: Host) -> dict[str, Given]:
    """The devices behind PART's mount entries; of two entries for one device the first that works counts."""
    found: dict[str, Given] = {}
    for entry in part.mount_entries or []:
        for one in _of_mount(entry, host):
            if one.path not in found or found[one.path].fault:
                found[one.path] = one
    return found


def by_devices(container: Container) -> dict[str, Given]:
    """The devices behind devN, the pending ones merged as the next start merges them."""
    pending = container.pending or Part()
    options = {k: d for k, d in (container.live.devices or {}).items() if k not in (pending.deleted or [])}
    options |= pending.devices or {}
    return {d.path: Given(d.path, "dev", d.origin, passed=d) for _, d in sorted(options.items())}


def by_rules(part: Part, host: Host, before: Host | None, given_drivers: Set[str | None]) -> Iterator[Given]:
    """The nodes that PART's own rules mean by a number: of the driver that had it before, else has it now.

    A rule for a driver of which a device is given otherwise gives nothing more. Nor do dynamic numbers when
    one of them was nobody's: then they are a list of candidates, of which a driver will get one.
    """
    drivers = [(rule, _meant(rule, host, before)) for rule in own_rules(part)]
    candidates = any(dynamic(rule.major or 0) and not names for rule, names in drivers)
    for rule, names in drivers:
        if names & given_drivers or (candidates and dynamic(rule.major or 0)):
            continue
        for path, node in sorted(host.nodes.items()):
            if host.behind(path).driver in names and rule.minor in (None, node.minor):
                yield Given(path, "rule", rule.origin)


def own_rules(part: Part) -> list[Rule]:
    """The allow rules in PART's own lines that name a number and grant an open."""
    return [
        r
        for r in build(own_lines(part)).rules
        if r.allow and r.major is not None and set(r.access) & set("rw")
    ]


def own_lines(part: Part) -> list[tuple[str, str, Origin]]:
    """PART's device lines that no package brought."""
    return [
        (r.key, r.value, r.origin) for r in part.device_rules or [] if not r.origin.file.startswith(PACKAGED)
    ]


def _meant(rule: Rule, host: Host, before: Host | None) -> set[str]:
    found: set[str] = set()
    for kind in ("b", "c") if rule.type == "a" else (rule.type,):
        owner = (before and before.owner(kind, rule.major or 0)) or host.owner(kind, rule.major or 0)
        found |= set(owner.split(", ") if owner else ())
    return found


def _of_mount(entry: MountEntry, host: Host) -> Iterator[Given]:
    source = entry.source.rstrip("/") or "/"
    inside = list(host.below(source))
    if not inside and (not source.startswith("/dev/") or source.startswith(NO_DEVICES)):
        return
    how: How = "directory" if inside else "mount"
    fault = _fault(entry, bool(inside))
    for path in inside or [source]:
        yield Given(path, how, entry.origin, fault, tuple(entry.options), entry.source)


def _fault(entry: MountEntry, directory: bool) -> Literal["", "mount-ignored", "mount-broken"]:
    if not entry.fstype or not entry.options or (directory and "create=file" in entry.options):
        return "mount-broken"
    return "mount-ignored" if entry.target.startswith("/") else ""
