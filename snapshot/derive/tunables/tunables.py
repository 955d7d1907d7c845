"""Each tunable of a host: what it is now, what sets it at boot, and what the next boot makes of it.

How each kind is read stands in its room ``tunable_*``. A row's key is "KIND SUBJECT NAME", or "KIND NAME CPUS" of what
CPUs have: "sysctl vm.swappiness", "pci 0000:01:00.0 MaxReadReq", "cpufreq scaling_governor 0-63". There is a row for
each tunable that the host has, and for each that something sets.

Row keys; a key without a value is missing:
    kind          sysctl, thp, ksm, hugepages, memory, swap, cpufreq, cpuidle, module, pci, power, nvidia, amdgpu, net,
                  block, irq, kernel
    name          as an operator writes it: vm.swappiness, transparent_hugepage/enabled, MaxReadReq, ring/rx
    subject       device, interface, size of huge pages, or list of CPUs; missing for what the host has once
    path          section and keys of the live fact
    live          value now; missing where it was not read, or the host has no such tunable
    before        value of the same tunable before, by the diff's pairing
    reverted      before and live differ; nothing is said of why
    configured    what the last certain setter gives, in the type of live
    configured_by that setter, as in setters
    agrees        live is what is configured, as the kernel compares them; missing where that cannot be told
    setters       all that run, in order of application: {value, how, file, line, text, unit, certain, doubt, assumes};
                  value is in the unit of live (text has it as written), doubt says why one is not certain, assumes
                  what a certain one takes for granted
    maybe         those of them that may change what is configured, because they are not certain
    overridden    those of them that count for nothing
    not_run       what stands there and sets nothing, each with why_not
    default       what it is when nothing sets it under the next kernel, and default_source, which says so
    default_now   the same under the running kernel, where it is another
    computed      the kernel works the value out where nothing sets it: from memory, kernel, or in the course of time
    absent        why the host has no such tunable though something sets it
    unread_live   {source, why} of a live value that was not read
    unknown_setters  [{source, why}] of what may set it and was not read
    unknown       {configured_by: {source, why}} where nothing is known to set it and not all that may was read;
                  {live, absent: {source, why}} of an unread_live
    verdict_boot  kept, changes, default, reverts, may or unknown (``tunable_verdict``); missing of what is absent

The next boot is the one of ``boot.next``: its kernel, and its command line where that is known (``tunable_words``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..actions.boot_actions import boot_actions, unknown_sources
from ..facts import Derived
from .boot_defaults import Lookup, lookup
from .tunable import Default, Path, Tunable, Value
from .tunable_before import with_before
from .tunable_setters import Setters, of_boot
from .tunable_sysctls import Sysctls, sysctls
from .tunable_unread import unread
from .tunable_values import as_live
from .tunable_verdict import Outcome, outcome, verdict
from .tunable_words import running_words

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Room = Callable[[Setters], Iterator[Tunable]]
NOTHING = Outcome()


def of_sysctls(found: Setters) -> Iterator[Tunable]:
    """The tunables of kind sysctl."""
    return sysctls(found, Sysctls(found))


def of_set_sysctls(found: Setters) -> Iterator[Tunable]:
    """Those of kind sysctl that may be set."""
    return sysctls(found, Sysctls(found), ())


def of_pools(found: Setters) -> Iterator[Tunable]:
    """The tunables of kind hugepages."""
    from .tunable_hugepages import hugepages

    return hugepages(found, Sysctls(found))


def rooms() -> tuple[Room, ...]:
    """Every room; a table of one kind does without the others."""
    from .tunable_cpufreq import cpufreq
    from .tunable_cpuidle import cpuidle
    from .tunable_devices import block, irq, kernel, power
    from .tunable_gpus import amdgpu, nvidia
    from .tunable_memory import memory
    from .tunable_modules import modules
    from .tunable_net import net
    from .tunable_pci import pci
    from .tunable_swap import swaps

    return (of_sysctls, of_pools, memory, swaps, cpufreq, cpuidle, modules, pci, power, nvidia, amdgpu, net, block,
            irq, kernel)


def tunables(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each tunable of AFTER; what could not be read is unknown."""
    return table(after, before, of_boot(after), unknown_sources(after))


def table(
    after: Snapshot, before: Snapshot | None, found: Setters, gaps: list[dict[str, str]],
    defaults: Lookup = lookup, only: Room | None = None, keep: Callable[[Tunable], bool] | None = None,
) -> Derived:
    """The table, from what the next boot does; GAPS are those not known, DEFAULTS says what nothing sets.

    With ONLY just what that room has, with KEEP only a row for each tunable that it holds of.
    """
    facts = _facts(found)
    rows: dict[str, Row] = {}
    for tunable in with_before((made for room in ([only] if only else rooms()) for made in room(found)), after, before):
        if tunable.default is None:
            known = {**facts, **tunable.facts} if tunable.facts else facts
            tunable.default = defaults(tunable.kind, tunable.name, found.kernel, known)
            if tunable.default and found.kernel != after.meta.kernel:
                tunable.default_now = defaults(tunable.kind, tunable.name, after.meta.kernel or "", known)
        if keep is None or keep(tunable):
            rows[tunable.key] = _row(tunable, after, gaps)
    return Derived(rows, [gap for gap in unread(after) if gap["subject"] not in rows])


def given(snapshot: Snapshot) -> frozenset[Path]:
    """Paths of the tunables that something set, or may have set, in the boot that SNAPSHOT is of."""
    found = Setters(snapshot, boot_actions(snapshot))
    found.words = running_words(snapshot)
    every = (tunable for room in rooms() for tunable in room(found))
    return frozenset(tunable.path for tunable in every if any(not one.why_not for one in tunable.setters))


def _facts(found: Setters) -> dict[str, Value]:
    """What of the host conditions of defaults may ask."""
    nodes = found.table("cpu").get("nodes")
    return {} if nodes is None else {"numa_nodes": len(nodes)}


def _row(tunable: Tunable, after: Snapshot, gaps: list[dict[str, str]]) -> Row:
    row: Row = {"kind": tunable.kind, "name": tunable.name, "path": list(tunable.path)}
    found = outcome(tunable.setters) if tunable.setters else NOTHING
    missing = [*gaps, *tunable.gaps] if tunable.gaps else gaps
    live, before = tunable.live, tunable.before
    for key, value in (("subject", tunable.subject), ("computed", tunable.computed), ("unknown_setters", missing)):
        if value:
            row[key] = value
    if live is not None:
        row["live"] = live
    if before is not None:
        row |= {"before": before, "reverted": live != before} if live is not None else {"before": before}
    if tunable.default:
        _tell_default(row, tunable.default, tunable.default_now)
    if tunable.setters:
        _tell_setters(row, tunable, found)
    if missing and found.base is None:
        row["unknown"] = {"configured_by": missing[0]}
    if live is None:
        _tell_absence(row, tunable, after)
    if word := verdict(tunable, found, bool(missing)):
        row["verdict_boot"] = word
    return row


def _tell_default(row: Row, default: Default, now: Default | None) -> None:
    row |= {"default": default.value, "default_source": default.source}
    if now and now.value != default.value:
        row["default_now"] = now.value


def _tell_absence(row: Row, tunable: Tunable, after: Snapshot) -> None:
    """Why there is no live value."""
    if tunable.absent:
        row["absent"] = tunable.absent
    elif fact := after.unread(tunable.path[0], tunable.path[1:]):
        row["unread_live"] = {"source": fact.source, "why": fact.why}
        row["unknown"] = row.get("unknown", {}) | dict.fromkeys(("live", "absent"), row["unread_live"])


def _tell_setters(row: Row, tunable: Tunable, found: Outcome) -> None:
    lists = (("setters", found.order), ("maybe", found.maybe), ("overridden", found.lost), ("not_run", found.idle))
    row |= {key: [setter.table() for setter in setters] for key, setters in lists if setters}
    if found.base is None:
        return
    written, live = str(found.base.value), tunable.live
    row |= {"configured": as_live(written, live), "configured_by": found.base.table()}
    fits = None if live is None else tunable.same(live, written)
    if fits is not None:
        row |= {"agrees": fits, "configured": live} if fits else {"agrees": fits}
