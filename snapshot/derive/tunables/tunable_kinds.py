"""The tunables of one kind: rows as in ``tunables``, and only those gaps that are of this kind.

A rule that walks all tunables is unknown wherever anything of any kind was not read; one that walks a kind is not. For
the same reason a sysctl that was not read and that nothing sets is a row of its own, with kind, name and ``unknown``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..actions.boot_actions import unknown_sources
from ..facts import Derived
from .boot_defaults import shipped
from .tunable_devices import block
from .tunable_memory import memory
from .tunable_setters import of_boot
from .tunable_swap import swaps
from .tunable_sysctls import GAPS, PAIRS, WORDS, Sysctls, computed, sysctls
from .tunables import Room, of_pools, of_set_sysctls, table

if TYPE_CHECKING:
    from ...document import Snapshot
    from .tunable import Tunable

Keep = Callable[["Tunable"], bool]
RULES = "/etc/udev/rules.d/90-hostsnap-queue.rules"
_WORD = regex(r"[\w.-]+", re.ASCII)


def sysctl_tunables(after: Snapshot, before: Snapshot | None) -> Derived:
    """The rows of kind sysctl; with BEFORE those of which there is something to say.

    That is what is set, is other than before, or has a known default. The thousands of others are as the kernel made
    them, and without BEFORE all alike.
    """
    values = after.table("sysctl").get("values", {})
    then = None if before is None else before.table("sysctl").get("values", {})
    some = {name for kind, name in shipped() if kind == "sysctl"}
    some |= {key for key in values if (computed(key) if then is None else then.get(key) != values[key])}
    keep = None if then is None else _told
    found = _sysctls(lambda setters: sysctls(setters, Sysctls(setters), some), after, before, keep)
    if then is None:
        rest, rows = _untouched(after), found.rows
        rows |= {row: {"kind": "sysctl", "name": key, "path": ["sysctl", "values", key], "live": value, **rest}
                 for key, value in values.items() if (row := f"sysctl {key}") not in rows}
    return found


def _untouched(after: Snapshot) -> dict[str, Any]:
    """What rows of tunables say that nothing sets and of which no default is known."""
    missing = [*unknown_sources(after), *of_boot(after).gaps(*GAPS)]
    unknown = {"unknown_setters": missing, "unknown": {"configured_by": missing[0]}} if missing else {}
    return {"verdict_boot": "unknown" if missing else "may", **unknown}


def set_sysctls(after: Snapshot, before: Snapshot | None) -> Derived:
    """The rows of those sysctls that something sets, or may set."""
    return _sysctls(of_set_sysctls, after, before, lambda tunable: bool(tunable.setters or tunable.live is None))


def _sysctls(room: Room, after: Snapshot, before: Snapshot | None, keep: Keep | None) -> Derived:
    found = _of("sysctl", room, after, before, keep)
    rest = []
    for gap in found.unknown:
        kind, name = gap["subject"].split(" ", 1)
        why = {"source": gap["source"], "why": gap["why"]}
        if name:
            found.rows[gap["subject"]] = {"kind": kind, "name": name, "unknown": {"live": why, "absent": why}}
        else:
            rest.append(gap)
    return Derived(found.rows, rest)


def thp_tunables(after: Snapshot, before: Snapshot | None) -> Derived:
    """The rows of kind thp."""
    return _of("thp", memory, after, before)


def ksm_tunables(after: Snapshot, before: Snapshot | None) -> Derived:
    """The rows of kind ksm."""
    return _of("ksm", memory, after, before)


def hugepage_tunables(after: Snapshot, before: Snapshot | None) -> Derived:
    """The rows of kind hugepages."""
    return _of("hugepages", of_pools, after, before)


def swap_tunables(after: Snapshot, before: Snapshot | None) -> Derived:
    """The rows of kind swap."""
    return _of("swap", swaps, after, before)


def block_tunables(after: Snapshot, before: Snapshot | None) -> Derived:
    """The rows of kind block; where before was another value, with ``durable``: a command that adds a udev rule."""
    found = _of("block", block, after, before)
    for row in found.rows.values():
        if row.get("reverted") and all(_WORD.fullmatch(str(row[key])) for key in ("subject", "before")):
            disk = f'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="{row["subject"]}"'
            rule = f'{disk}, ATTR{{queue/{row["name"]}}}="{row["before"]}"'
            row["durable"] = [f"echo {shlex.quote(rule)} >> {RULES}", "udevadm control --reload"]
    return found


def _told(tunable: Tunable) -> bool:
    set_or_known = tunable.setters or tunable.default or tunable.name in WORDS or tunable.name in PAIRS
    return bool(set_or_known or tunable.live is None or tunable.live != tunable.before)


def _of(
    kind: str, room: Room, after: Snapshot, before: Snapshot | None, keep: Keep | None = None,
) -> Derived:
    found = table(after, before, of_boot(after), unknown_sources(after), only=room, keep=keep)
    rows = {key: row for key, row in found.rows.items() if row["kind"] == kind}
    return Derived(rows, [gap for gap in found.unknown if gap["subject"].split(" ", 1)[0] == kind])
