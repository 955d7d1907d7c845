"""One thing that the next boot may do to a tunable: what it sets, what runs it, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records import record

UDEV, SYSCTL, TMPFILES, EARLY, NETWORK, UNITS, GUESTS = 1000, 2000, 3000, 4000, 5000, 6000, 90000
"""Where the bands of ``Action.order`` begin. systemd-sysctl applies sysctl.d in band SYSCTL, which has no action; EARLY
are units ordered before basic.target; within UNITS ten numbers are a step that Before= and After= show."""


@record(frozen=True)
class Action:
    """What a boot does. See ``boot_actions`` for the words of TARGET and WHERE.

    VALUE is as written, with its unit; None: not known. CERTAIN: it surely runs and sets this. Otherwise WHY_NOT says
    why it will not run, or DOUBT why that, what it sets or whether another has the last word cannot be told. Of two
    with one ORDER that one file or unit holds the later in the list is the later; else nothing is known.
    """

    target: str
    where: tuple[str, ...]
    value: str | None
    certain: bool
    how: str
    order: int
    unit: str
    origin: dict[str, Any]
    why_not: str = ""
    doubt: str = ""


@record(frozen=True)
class Effect:
    """What a command sets, whoever runs it."""

    target: str
    where: tuple[str, ...]
    value: str | None
    doubt: str = ""
    why_not: str = ""


@record(frozen=True)
class Source:
    """What runs a command at boot, where that stands, and why it may not run."""

    how: str
    order: int
    origin: Mapping[str, Any]
    unit: str = ""
    doubt: str = ""
    why_not: str = ""

    def action(self, effect: Effect, origin: Mapping[str, Any] | None = None, how: str = "") -> Action:
        """EFFECT as an action; ORIGIN is where it stands, when that is not where SOURCE does."""
        why_not, doubt = self.why_not or effect.why_not, self.doubt or effect.doubt
        if not doubt and effect.target != "unknown" and effect.value is None:
            doubt = "the value is not known"
        if not doubt and effect.target == "unknown":
            doubt = "what it sets is not understood"
        return Action(
            effect.target, effect.where, effect.value, not (why_not or doubt), how or self.how, self.order, self.unit,
            dict(origin or self.origin), why_not, doubt,
        )
