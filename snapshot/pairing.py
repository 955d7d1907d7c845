"""Which item of a keyed table before is which item after, though its key (a PCI address) may have moved.

Each step pairs what the steps before it left over:

1. the same key with the same identities: nothing moved, and for that they need not be unique;
2. each identity in the model's order (serial, then topological path) that exactly one item of a side bears. A
   path names a place, not a thing: what stands there must be of the same kind (vendor, device, subsystem) too;
3. the same key with the same kind, where an identity is unknown on a side, is shared, or has changed.

What is left is removed or added: to use an identity that two items share would be a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .sections.shape import Shape

Item = Mapping[str, Any]
Items = Mapping[str, Item]
KIND = ("vendor", "device", "subsystem_vendor", "subsystem_device")
PLACES = ("path",)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Key after -> key before of each item that both sides have, and the keys of the others."""

    before_of: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def after_of(self) -> dict[str, str]:
        """Key before -> key after."""
        return {before: after for after, before in self.before_of.items()}


def pair(before: Items, after: Items, item: Shape) -> Pairing:
    """The pairing of two keyed tables with items of shape ITEM; by key alone where it marks no identity."""
    identities = item.identities()
    if not identities:
        found = {key: key for key in after if key in before}
    else:
        found = _same_key(before, after, {}, lambda b, a: _kind(b) == _kind(a) and _same(b, a, identities))
        for name in identities:
            found |= _same_identity(before, after, found, name)
        found |= _same_key(before, after, found, _same_kind)
    removed, added = set(before).difference(found.values()), set(after).difference(found)
    return Pairing(dict(sorted(found.items())), tuple(sorted(removed)), tuple(sorted(added)))


def _same_key(
    before: Items, after: Items, found: Mapping[str, str], alike: Callable[[Item, Item], bool]
) -> dict[str, str]:
    free = before.keys() & after.keys() - found.keys() - set(found.values())
    return {key: key for key in free if alike(before[key], after[key])}


def _same_identity(before: Items, after: Items, found: Mapping[str, str], name: str) -> dict[str, str]:
    one, other, taken = _unique(before, name), _unique(after, name), set(found.values())
    matches = {other[token]: one[token] for token in one.keys() & other.keys()}
    return {a: b for a, b in matches.items() if a not in found and b not in taken}


def _unique(items: Items, name: str) -> dict[Any, str]:
    """Identity -> key, of the identities that one item alone bears."""
    bearers = ((key, item) for key, item in items.items() if name in item)
    tokens = {key: (item[name], _kind(item) if name in PLACES else ()) for key, item in bearers}
    count = Counter(tokens.values())
    return {token: key for key, token in tokens.items() if count[token] == 1}


def _same(before: Item, after: Item, names: tuple[str, ...]) -> bool:
    return all(before.get(name) == after.get(name) for name in names)


def _kind(item: Item) -> tuple[Any, ...]:
    return tuple(item.get(name) for name in KIND)


def _same_kind(before: Item, after: Item) -> bool:
    """Whether nothing known says that they differ."""
    return all(None in (b, a) or b == a for b, a in zip(_kind(before), _kind(after), strict=True))
