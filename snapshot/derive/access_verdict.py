"""Whether a container may open one device: now, at its next start, and which of the two counts.

Three things are asked in turn: the line that gives the device, the node and driver on the host, and the
device list. A running container holds what its last start gave it, whatever the file says by now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..sections.base import Origin
from ..sections.lxc import Container, Lxc, Part
from .denial import Meant, meant, stale
from .given_devices import Given, by_mounts, given
from .host_devices import RECORDED, Host
from .lxc_rules import RuleList
from .start_rules import next_rules, rewriting_hooks, running_rules

RESTART_CURES = ("generated-config-stale", "not-restarted")
COUNT_FOR_NOTHING = ("rule-in-pending", "rule-in-snapshot")


@dataclass(frozen=True, slots=True)
class Verdict:
    """ACCESS: allowed, denied, not-judged or unknown; REASON: a word of REASONS; BY: the deciding line."""

    access: str
    reason: str
    by: Origin | None = None


@dataclass(frozen=True, slots=True)
class Blame:
    """Why no rule covers a device: the word, the rules with an old number, the lines meant for it."""

    reason: str
    rules: list[dict[str, Any]]
    also: list[Meant]


@dataclass(frozen=True, slots=True)
class Case:
    """A container with all that its devices are judged by."""

    key: str
    container: Container
    host: Host
    before: Host | None
    gifts: Mapping[str, Given]
    rules_now: RuleList | None
    rules_next: RuleList | None

    @classmethod
    def of(cls, key: str, lxc: Lxc, host: Host, before: Host | None) -> Case:
        """The case of container KEY."""
        one = lxc.containers[key]
        rules = running_rules(one, host), next_rules(one, lxc, host)
        return cls(key, one, host, before, given(one, host, before), *rules)

    def now(self, gift: Given) -> Verdict | None:
        """What the last start settled; None when it left no record."""
        rules, held = self.rules_now, self._held(gift)
        if rules is None:
            return None
        if held is None:
            return Verdict("denied", "not-restarted")
        found = self._before_rules(held)
        if found and found.reason in ("node-missing", "optional-skipped"):
            return Verdict("unknown", "node-gone", found.by)
        found = self._whatever_the_node(found, rules) if found else self._by_rules(held, rules)
        stopped = found.access == "denied" and gift.how == "dev" and self.host.behind(gift.path).state == "ok"
        return replace(found, reason="generated-config-stale") if stopped else found

    def next(self, gift: Given) -> Verdict:
        """What the next start will settle, by the files and the numbers as they are."""
        if found := self._before_rules(gift):
            return self._whatever_the_node(found, self.rules_next)
        found = self._by_rules(gift, self.rules_next)
        hooked = found.access == "denied" and rewriting_hooks(self.container)
        return Verdict("unknown", "hook-may-rewrite") if hooked else found

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
        rules, also = self.stale(gift, self.container.live), meant(self.container, device)
        acting = [m for m in also if m.reason not in COUNT_FOR_NOTHING]
        if rules and ("before_owner" in rules[0] or not acting):
            return Blame("stale-major", rules, also)
        return Blame((acting or also)[0].reason if also else "never-allowed", [], also)

    def stale(self, gift: Given, part: Part | None) -> list[dict[str, Any]]:
        """The rules of PART with a number that the device's driver had."""
        found = self.host.behind(gift.path)
        if part is None or found.device is None:
            return []
        drivers = {self.host.behind(p).driver or "" for p, g in self.gifts.items() if g.how != "rule"}
        return stale(part, found.device, found.driver or "", self.host, self.before, drivers)

    def _held(self, gift: Given) -> Given | None:
        """The gift as the last start took it; None when it was not there yet."""
        if gift.how == "rule" or self.container.manager == "lxc" or self.container.generated is None:
            return gift
        if gift.how == "dev":
            return replace(gift, fault="")
        return by_mounts(self.container.generated, self.host).get(gift.path)

    def _before_rules(self, gift: Given) -> Verdict | None:
        """What the line and the host settle before any rule is asked; None when all is well with them."""
        if gift.fault:
            return Verdict("denied", gift.fault, gift.origin)
        if self.host.unread(gift.path):
            return Verdict("unknown", "unread")
        found = self.host.behind(gift.path)
        if found.state == "node-missing" and not RECORDED.fullmatch(gift.path):
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

    def _by_rules(self, gift: Given, rules: RuleList | None) -> Verdict:
        device = self.host.behind(gift.path).device
        if device is None:
            return Verdict("unknown", "not-recorded")
        if rules is None:
            return Verdict("unknown", "includes-unread")
        if refused := rules.start_fails():
            return Verdict("denied", "start-fails", refused.origin)
        passes, by = rules.allows(*device, gift.access)
        if by is None and rules.unresolved:
            return Verdict("unknown", "rule-by-path", rules.unresolved[0].origin)
        if not passes:
            return Verdict("denied", "deny-listed" if by else self.blame(gift).reason, by)
        if self.container.privileged is None:
            return Verdict("unknown", "includes-unread")
        if not self.container.privileged:
            return Verdict("not-judged", "unprivileged", by)
        return Verdict("allowed", "ok" if by else "open-list" if rules.mode == "deny" else "empty-list", by)
