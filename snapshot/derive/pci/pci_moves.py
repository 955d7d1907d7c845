"""PCI functions that moved or are gone, and addresses that configuration names and nothing has: section pci and others.

Bus numbers are given out anew at each boot; a card more or less, a firmware setting or a kernel moves them. What names
a device by its address then reaches another device, or none. Which function is which tells the diff's pairing; one that
is gone counts only if no new one of the same kind came, which may be the same one without an identity that shows it.
Virtual functions come and go with sriov_numvfs and are left out, unless something names them.

Row keys, by PCI address (of before for one that is gone, with " before" when its place is taken); a key without a value
is missing:
    state          moved, gone, or empty: something names it and nothing is there
    address, address_before
    noun           GPU, NIC, NVMe drive or PCI function
    name, vendor, device, class_code, slot
    users          [{file, line, text}] lines in force that name the address that it no longer has, or that is empty
    guest          one of them gives it to a virtual machine
    there_now      what has the address before now; missing: nothing
    same_kind      that is a function with the same ids
    now            commands that put the new address into these lines, in the form in which the old one stands
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import KIND
from ..facts import Derived
from .address_mentions import Mention, mentions
from .pci_tree import Functions, Table, functions_of, is_virtual, moved, noun, unread

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
KEPT = ("name", "vendor", "device", "class_code", "slot")


def pci_moves(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each; unknown as a whole where the functions of AFTER were not read."""
    if fact := after.unread("pci", ("functions",)):
        gap = {"subject": "", "what": "which PCI functions are where", "source": fact.source, "why": fact.why}
        return Derived({}, [gap])
    now, then, olds = functions_of(after), functions_of(before) if before else {}, moved(before, after)
    named = [*mentions(after)] if now else []
    rows = _moved(now, olds, named)
    for address in _gone(after, then, olds):
        key = f"{address} before" if address in now else address
        about = {"state": "gone", "address_before": address, **_about(then[address])}
        rows[key] = about | _used(named, address, now, then[address])
    told = _reported(rows)
    rows |= {address: row for address, row in _empty(now, named).items() if address not in told}
    return Derived(dict(sorted(rows.items())))


def _moved(now: Functions, olds: Mapping[str, str], named: list[Mention]) -> dict[str, Row]:
    rows = {}
    for address, old in olds.items():
        if address == old:
            continue
        used = _used(named, old, now, now[address])
        if used or noun(now[address]):
            row = {"state": "moved", "address": address, "address_before": old, "now": _mend(named, old, address)}
            rows[address] = {key: value for key, value in (row | _about(now[address]) | used).items() if value != []}
    return rows


def _gone(after: Snapshot, then: Functions, olds: Mapping[str, str]) -> list[str]:
    """Functions of before that have no pair, less as many as are new of the same kind."""
    now = functions_of(after)
    new = Counter(_kind(now[address]) for address in now if address not in olds)
    found = []
    for address in sorted(then.keys() - {*olds.values()}):
        kind = _kind(then[address])
        new[kind] -= 1
        if new[kind] < 0 and not is_virtual(then[address]) and not unread(after, address):
            found.append(address)
    return found


def _empty(now: Functions, named: Iterable[Mention]) -> dict[str, Row]:
    """Addresses that are named and that no function has."""
    found: dict[str, Row] = {}
    for one in named:
        if not any(one.names(address) for address in now):
            row = found.setdefault(one.address, {"state": "empty", "address": one.address, "users": [], "guest": False})
            row["users"] += [line for line in [_line(one)] if line not in row["users"]]
            row["guest"] |= one.guest
    return found


def _reported(rows: Mapping[str, Row]) -> set[str]:
    """The addresses of before in ROWS, with and without function: what names them is told there."""
    olds = {row["address_before"] for row in rows.values()}
    return olds | {old.rpartition(".")[0] for old in olds}


def _kind(function: Table) -> tuple[str | None, ...]:
    return tuple(function.get(key) for key in KIND)


def _about(function: Table) -> Row:
    return {"noun": noun(function) or "PCI function", **{key: function[key] for key in KEPT if key in function}}


def _used(named: Iterable[Mention], old: str, now: Functions, function: Table) -> Row:
    """The lines that name OLD, the address that FUNCTION had, and what they reach now."""
    used = [one for one in named if one.names(old)]
    if not used:
        return {}
    row: Row = {"users": [*map(_line, used)], "guest": any(one.guest for one in used)}
    if there := now.get(old):
        row |= {"there_now": there.get("name", "another function"), "same_kind": _kind(there) == _kind(function)}
    return row


def _mend(named: Iterable[Mention], old: str, address: str) -> list[str]:
    """Commands that write ADDRESS where lines of files name OLD; one that meets another text changes nothing."""
    found = []
    for one in (one for one in named if one.names(old) and one.line is not None):
        new = address if "." in one.written else address.rpartition(".")[0]
        new = new if one.written.count(":") == 2 else new.partition(":")[2]
        edit = f"{one.line}s/{re.escape(one.written)}/{new}/g"
        found.append(f"sed -i {shlex.quote(edit)} {shlex.quote(one.file)}")
    return [*dict.fromkeys(found)]


def _line(one: Mention) -> Row:
    return {"file": one.file, **({} if one.line is None else {"line": one.line}), "text": one.text}
