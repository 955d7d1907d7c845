"""Whether a container may open one device: now, at its next start, and which of the two counts.

Three things are asked in turn: the line that gives the device, the node and driver on the host, and the
device list; in an unprivileged container then the node's mode. A running container holds what its last start gave
it, whatever the file says by now.

Of a devN the start writes an allow line with the numbers that the node has, and makes a node of its own in the
container. Both keep the old number when the driver comes back with another one, so that no list lets it through.
Proxmox VE looks up the node before any hook of the container runs (vm_start in src/PVE/LXC.pm).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records import record, replace
from ...sections.base import Origin
from ...sections.lxc import Container, IdMap, Lxc, Part
from .access_mode import next_ids, openers, openers_of_passed, running_ids
from .denial import Meant, meant, outdated, passed_then, stale
from .given_devices import Given, by_mounts, given
from .host_devices import Host
from .lxc_rules import Rule, RuleList
from .start_rules import MAKING, hooks, lxc_major, next_rules, refused, running_rules, v1_lines

RESTART_CURES = ("generated-config-stale", "not-restarted")
COUNT_FOR_NOTHING = ("rule-in-pending", "rule-in-snapshot")
OF_THE_LINE = ("mount-ignored", "mount-broken", "given-twice")
OF_THE_NODE = ("node-missing", "optional-skipped", "driver-not-loaded", "stale-node", "node-not-a-device")
BEFORE_HOOKS = ("node-missing", "node-not-a-device")  # of a devN


@record(frozen=True)
class Verdict:
    """ACCESS: allowed, denied, not-judged or unknown; REASON: a word of REASONS; BY: the deciding line."""

    access: str
    reason: str
    by: Origin | None = None


@record(frozen=True)
class Blame:
    """Why no rule covers a device: the word, the rules with an old number, the lines meant for it."""

    reason: str
    rules: list[dict[str, Any]]
    also: list[Meant]


@record(frozen=True)
class Start:
    """What a start makes of the configuration: the device list, the id map; None where it is not known."""

    rules: RuleList | None
    ids: list[IdMap] | None


@record(frozen=True)
class Case:
    """A container with all that its devices are judged by."""

    key: str
    container: Container
    host: Host
    before: Host | None
    gifts: Mapping[str, Given]
    last: Start
    coming: Start
    lxc_major: int | None

    @classmethod
    def of(cls, key: str, lxc: Lxc, host: Host, before: Host | None) -> Case:
        """The case of container KEY."""
        one = lxc.containers[key]
        last = Start(running_rules(key, one, host), running_ids(one))
        coming = Start(next_rules(one, lxc, host), next_ids(one))
        return cls(key, one, host, before, given(one, host, before), last, coming, lxc_major(host.snapshot))

    def now(self, gift: Given) -> Verdict | None:
        """What the last start settled; None when it left no record."""
        rules, held = self.last.rules, self._held(gift)
        if rules is None:
            return None
        if held is None:
            return Verdict("denied", "not-restarted")
        found = self._before_rules(held)
        if found and found.reason in ("node-missing", "optional-skipped"):
            return Verdict("unknown", "node-gone", found.by)
        if found:
            return self._whatever_the_node(found, rules)
        if held.how == "dev" and self.old_node(held):
            return Verdict("denied", "generated-config-stale")
        found = self._by_rules(held, self.last)
        mended = found.access == "denied" and held.how != gift.how
        return replace(found, reason="not-restarted") if mended else found

    def next(self, gift: Given) -> Verdict:
        """What the next start will settle, by the files and the numbers as they are."""
        if line := self.refused():
            return Verdict("denied", "v1-key-refused" if line in v1_lines(self.container) else "line-refused", line)
        found = self._before_rules(gift)
        found = self._whatever_the_node(found, self.coming.rules) if found else self._by_rules(gift, self.coming)
        if found.access == "denied":
            return Verdict("unknown", "hook-may-rewrite") if self._hooked(gift, found.reason) else found
        v1 = self.lxc_major is None and v1_lines(self.container)
        return Verdict("unknown", "lxc-version-unread", v1[0]) if v1 else found

    def refused(self) -> Origin | None:
        """The line for which the next start will fail, whatever the device."""
        v1 = v1_lines(self.container) if (self.lxc_major or 0) >= 7 else []
        return v1[0] if v1 else refused(self.container)

    def headline(self, now: Verdict | None, following: Verdict) -> Verdict:
        """The one that counts: what the last start settled if the container runs, else what the next will."""
        running = self.container.running
        if running is False:
            return following
        if now is None:  # the file can show a fault, but not that a start without record is in order
            shown = following.access in ("denied", "not-judged")
            return following if shown else Verdict("unknown", "not-seen")
        if running is None and now.access != following.access:
            return Verdict("unknown", "running-unknown")
        if now.access != "denied":
            return now
        if following.access == "denied":  # a restart is no cure then
            return following if now.reason in RESTART_CURES else now
        stale = now.reason == "generated-config-stale" or following.access == "unknown"
        return now if stale else replace(now, reason="not-restarted")

    def blame(self, gift: Given) -> Blame:
        """Why no rule of the container's file covers the device."""
        device = self.host.behind(gift.path).device
        if device is None:
            return Blame("never-allowed", [], [])
        rules, also = self.outdated(gift, self.container.live), meant(self.container, device)
        acting = [m for m in also if m.reason not in COUNT_FOR_NOTHING]
        if rules and ("before_owner" in rules[0] or not acting):
            return Blame("stale-major", rules, also)
        return Blame((acting or also)[0].reason if also else "never-allowed", [], also)

    def outdated(self, gift: Given, part: Part | None) -> list[dict[str, Any]]:
        """The rules of PART with a number that the device's driver had, and that would let the device through."""
        device = self.host.behind(gift.path).device
        return self._stale(gift, outdated(part, device, gift.asked(self.host))) if part and device else []

    def old_node(self, gift: Given) -> list[dict[str, Any]]:
        """The allow lines that the last start made of a devN, when none of them has the node's number of now."""
        device, part = self.host.behind(gift.path).device, self.container.generated
        then = passed_then(part, device) if part and device else []
        current = device is not None and any(rule.major == device[1] for rule in then)
        return [] if current else self._stale(gift, then)

    def openers(self, gift: Given, ids: list[IdMap] | None) -> list[str] | None:
        """Who in an unprivileged container may open the node by its mode; None when that is not known."""
        node = self.host.nodes.get(gift.path)
        if self.container.privileged is not False or node is None:
            return None
        if gift.passed:
            return openers_of_passed(gift.passed)
        known = ids is not None and gift.how in ("mount", "directory") and not gift.idmapped
        return openers(node, ids or [], gift.asked(self.host)) if known else None

    def _stale(self, gift: Given, rules: list[Rule]) -> list[dict[str, Any]]:
        found = self.host.behind(gift.path)
        drivers = {self.host.behind(p).driver or "" for p, g in self.gifts.items() if g.how != "rule"}
        kind = found.device[0] if found.device else "c"
        return stale(rules, kind, found.driver or "", self.host, self.before, drivers)

    def _held(self, gift: Given) -> Given | None:
        """The gift as the last start took it; None when it was not there yet."""
        part, device = self.container.generated, self.host.behind(gift.path).device
        if gift.how == "rule" or self.container.manager == "lxc" or part is None:
            return gift
        mounted = by_mounts(part, self.host).get(gift.path)
        if mounted or gift.how != "dev":
            return mounted
        there = device is None or any(r.major == device[1] for r in passed_then(part, device)) or self.old_node(gift)
        return replace(gift, fault="") if there else None

    def _hooked(self, gift: Given, reason: str) -> bool:
        """Whether a hook of the container may do away with REASON before the start comes to it."""
        if reason in OF_THE_LINE or (gift.how == "dev" and reason in BEFORE_HOOKS):
            return False
        return bool(hooks(self.container, MAKING) if reason in OF_THE_NODE else hooks(self.container))

    def _before_rules(self, gift: Given) -> Verdict | None:
        """What the line and the host settle before any rule is asked; None when all is well with them."""
        if gift.fault:
            return Verdict("denied", gift.fault, gift.origin)
        if self.host.unread(gift.path):
            return Verdict("unknown", "unread")
        found = self.host.behind(gift.path)
        if found.state in ("node-missing", "node-not-a-device") and not self.host.looked_at(gift.path):
            return Verdict("unknown", "not-recorded")
        if found.state == "node-missing" and gift.optional:
            return Verdict("denied", "optional-skipped", gift.origin)
        return None if found.state == "ok" else Verdict("denied", found.state)

    def _whatever_the_node(self, found: Verdict, rules: RuleList | None) -> Verdict:
        """FOUND, or, when it is unknown but no rule can stop anything here, that mode and owner decide."""
        stops = rules is None or rules.unresolved or any(rules.in_force())
        if found.access != "unknown" or self.container.privileged is not False or stops:
            return found
        return Verdict("not-judged", "unprivileged")

    def _by_rules(self, gift: Given, start: Start) -> Verdict:
        device, rules = self.host.behind(gift.path).device, start.rules
        if device is None:
            return Verdict("unknown", "not-recorded")
        if rules is None:
            return Verdict("unknown", "includes-unread")
        if refusal := rules.start_fails():
            return Verdict("denied", "start-fails", refusal.origin)
        passes, by = rules.allows(*device, gift.asked(self.host))
        if by is None and rules.unresolved:
            return Verdict("unknown", "rule-by-path", rules.unresolved[0].origin)
        if not passes:
            return Verdict("denied", "deny-listed" if by else self.blame(gift).reason, by)
        if self.container.privileged is None:
            return Verdict("unknown", "includes-unread")
        if not self.container.privileged:
            shut = self.openers(gift, start.ids) == []
            return Verdict("denied", "mode") if shut else Verdict("not-judged", "unprivileged", by)
        return Verdict("allowed", "ok" if by else "open-list" if rules.mode == "deny" else "empty-list", by)
