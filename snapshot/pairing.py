"""Which item of a keyed table before is which item after, though its key (a PCI address) may have moved.

Each step pairs what the steps before it left over:

1. the same key with the same identities: nothing moved, and for that they need not be unique;
2. each identity in the model's order (serial, then topological path) that exactly one item of a side bears. A
   path names a place, not a thing: what stands there must be of the same kind (vendor, device, subsystem) too;
3. the same key with the same kind, where an identity is unknown on a side, is shared, or has changed;
4. the same PCI function, by its own pairing, of items that alone of those left over have its address as key or field:
   a GPU whose UUID the driver has not read yet, a drive whose serial number could not be read.

An item without identities is paired by its key alone, in which PCI addresses follow their functions. What is left is
removed or added: to use an identity that two items share would be a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from .records import field, record
from .regexes import regex
from .sections.shape import Shape

Item = Mapping[str, Any]
Items = Mapping[str, Item]
KIND = ("vendor", "device", "subsystem_vendor", "subsystem_device")
PLACES = ("path",)
LIKE = (*KIND, "model")  # what one thing has in common with itself, whatever names it
AT = ("address", "device")  # the fields that say which PCI function a thing is, or stands behind it
ADDRESS = regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@record(frozen=True)
class Pairing:
    """Key after -> key before of each item that both sides have, and the keys of the others.

    FOLLOWS has the keys after that are another only because their PCI function, or what is known of it, is.
    """

    before_of: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    follows: frozenset[str] = frozenset()

    def after_of(self) -> dict[str, str]:
        """Key before -> key after."""
        return {before: after for after, before in self.before_of.items()}


@record(frozen=True)
class Moves:
    """The PCI functions that have another address than before: address after -> address before."""

    before_of: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, functions: Pairing) -> Moves:
        """Those of the pairing of the functions."""
        return cls({new: old for new, old in functions.before_of.items() if new != old})

    @cached_property
    def _left(self) -> frozenset[str]:
        return frozenset(self.before_of.values())

    def before(self, key: str) -> str | None:
        """What KEY, of words with addresses among them, was before; None if another function had an address in it."""
        if not self.before_of:
            return key
        words = key.split(" ")
        taken = any(word in self._left and word not in self.before_of for word in words)
        return None if taken else " ".join(self.before_of.get(word, word) for word in words)


def pair(before: Items, after: Items, item: Shape, moves: Moves | None = None) -> Pairing:
    """The pairing of two keyed tables with items of shape ITEM; without MOVES nothing is known of PCI functions."""
    if before is after:  # one table for both sides, whose texts are equal
        return Pairing({key: key for key in sorted(after)}, (), (), frozenset())
    identities, follows = item.identities(), dict[str, str]()
    if not identities:
        found = {key: old for key in after if (old := (moves or NOWHERE).before(key)) is not None and old in before}
        follows = {key: old for key, old in found.items() if key != old}
    else:
        found = _same_key(before, after, {}, lambda b, a: _kind(b) == _kind(a) and _same(b, a, identities))
        if not len(found) == len(before) == len(after):
            for name in identities:
                found |= _same_identity(before, after, found, name)
            found |= _same_key(before, after, found, _same_kind)
            follows = _same_function(before, after, found, identities, moves) if moves else {}
            found |= follows
    removed, added = set(before).difference(found.values()), set(after).difference(found)
    return Pairing(dict(sorted(found.items())), tuple(sorted(removed)), tuple(sorted(added)), frozenset(follows))


def _same_key(
    before: Items, after: Items, found: Mapping[str, str], alike: Callable[[Item, Item], bool]
) -> dict[str, str]:
    free = before.keys() & after.keys() - found.keys() - set(found.values())
    return {key: key for key in free if alike(before[key], after[key])}


def _same_identity(before: Items, after: Items, found: Mapping[str, str], name: str) -> dict[str, str]:
    one, other, taken = _unique(before, name), _unique(after, name), set(found.values())
    matches = {other[token]: one[token] for token in one.keys() & other.keys()}
    return {a: b for a, b in matches.items() if a not in found and b not in taken}


def _same_function(
    before: Items, after: Items, found: Mapping[str, str], identities: tuple[str, ...], moves: Moves
) -> dict[str, str]:
    taken = set(found.values())
    olds = _places({key: item for key, item in before.items() if key not in taken})
    news = _places({key: item for key, item in after.items() if key not in found})
    pairs = {key: olds[old] for place, key in news.items() if (old := moves.before(place)) in olds}
    return {a: b for a, b in pairs.items() if may_be(before[b], after[a], identities)}


def may_be(before: Item, after: Item, identities: tuple[str, ...]) -> bool:
    """Whether nothing known says that they are two things."""
    return _same_kind(before, after, (*LIKE, *identities))


def _places(items: Items) -> dict[str, str]:
    """PCI address -> key, of the addresses that one item alone has as key or field."""
    places = {key: _address(key, item) for key, item in items.items()}
    count = Counter(places.values())
    return {place: key for key, place in places.items() if place and count[place] == 1}


def _address(key: str, item: Item) -> str:
    """The PCI address that an item has as key, or says; empty if none."""
    said = (key, *(item.get(name) for name in AT))
    return next((one for one in said if isinstance(one, str) and ADDRESS.fullmatch(one)), "")


def _unique(items: Items, name: str) -> dict[Any, str]:
    """Identity -> key, of the identities that one item alone bears."""
    bearers = ((key, item) for key, item in items.items() if name in item)
    tokens = {key: (item[name], _kind(item) if name in PLACES else ()) for key, item in bearers}
    count = Counter(tokens.values())
    return {token: key for key, token in tokens.items() if count[token] == 1}


def _same(before: Item, after: Item, names: tuple[str, ...]) -> bool:
    return all(before.get(name) == after.get(name) for name in names)


def _kind(item: Item) -> tuple[Any, ...]:
    return tuple(_of_kind(item, name) for name in KIND)


def _of_kind(item: Item, name: str) -> Any:
    """What an item says of its kind; but of a NIC or drive ``device`` is where it is, the address of its function."""
    value = item.get(name)
    return None if name == "device" and value and ":" in value else value


def _same_kind(before: Item, after: Item, names: tuple[str, ...] = KIND) -> bool:
    """Whether nothing known says that they differ."""
    pairs = ((_of_kind(before, name), _of_kind(after, name)) for name in names)
    return all(None in (b, a) or b == a for b, a in pairs)


NOWHERE = Moves()
