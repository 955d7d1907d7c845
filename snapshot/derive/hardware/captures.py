"""How the take of each section ended where something is missing: from the outcomes.

A fact that is unread is unknown, and rules that need it are not judged. What only root may read is told apart from what
failed for another reason. A partition that is not mounted, a daemon that is not there: that is the host, not the take.

Row keys, by section; a key without a value is missing:
    section
    state            partial, denied, failed, timeout or skipped
    why              of a section that is missing as a whole
    refused          how many facts only root would have read
    failed           how many facts a command or a read that broke off left unknown
    rights           only what root would have read is missing
    example          path and reason of the first of these
    broken           the section as a whole, or some fact, is missing because the take lacked rights, time or a tool
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

from ...document import REFUSED
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Outcome, Snapshot, UnreadFact

LOST = ("denied", "failed", "timeout")
BROKEN = ("timeout", "exit code", errno.errorcode[errno.EIO])


def captures(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each section that is neither whole nor absent; BEFORE adds nothing."""
    del before
    outcomes = after.outcomes.items()
    return Derived({name: _row(name, o) for name, o in outcomes if o.state not in ("ok", "absent") or o.unread})


def _row(name: str, outcome: Outcome) -> dict[str, Any]:
    refused = [fact for fact in outcome.unread or () if fact.why in REFUSED]
    failed = [fact for fact in outcome.unread or () if fact.why.startswith(BROKEN)]
    row: dict[str, Any] = {"section": name, "state": outcome.state}
    if first := next(iter([*failed, *refused]), None):
        row |= {"example": _shown(name, first)}
    row |= {"refused": len(refused)} if refused else {}
    row |= {"failed": len(failed)} if failed else {}
    row |= {"rights": True} if refused and not failed and outcome.state not in ("failed", "timeout") else {}
    row |= {"why": outcome.why} if outcome.why else {}
    return row | {"broken": bool(refused or failed or outcome.state in LOST)}


def _shown(name: str, fact: UnreadFact) -> str:
    return f"{'.'.join((name, *fact.path))}: {fact.why} ({fact.source})"
