"""How many facts a value holds, and how many of them count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..document import count_facts
from ..sections.shape import LEAF, Path, Shape
from .change import MISSING, State
from .selection import Sieve


def leaves(value: Any) -> int:
    """How many facts a value holds."""
    return 0 if value is MISSING else count_facts(value)


def weigh(shape: Shape, value: Any, sieve: Sieve, was: Path, path: Path, state: State | None) -> dict[str, int]:
    """How many facts of a value that differs are plain, volatile, evidence and ignored.

    STATE is None when it is not known whether they differ: then evidence counts like the rest.
    """
    weight = {"plain": 0, "volatile": 0, "evidence": 0, "ignored": 0}
    _add(weight, shape, value, sieve, was, path, state)
    return weight


def _add(
    weight: dict[str, int], shape: Shape, value: Any, sieve: Sieve, was: Path, path: Path, state: State | None,
    volatile: bool = False,
) -> None:
    volatile = volatile or shape.volatile
    evidence = shape.evidence and state is not None
    parts = () if evidence or (volatile and sieve.open) else _parts(shape, value)
    if not parts:
        kind = "evidence" if evidence else sieve.fate(was, path, state, volatile)
        weight[kind] += leaves(value)
    for key, inner, part in parts:
        below = (was, path) if sieve.open else ((*was, key), (*path, key))
        _add(weight, inner, part, sieve, *below, state, volatile)


def unknown(shape: Shape, sieve: Sieve, was: Path, path: Path, before: Any, after: Any) -> tuple[int, int]:
    """How many facts a side does not know, at least one, and how many of those nobody wants to; 0 when it is all."""
    facts = max(leaves(before), leaves(after), 1)
    if sieve.open:
        return facts, 0
    if sieve.drops(was, path):
        return 0, facts
    values = [value for value in (before, after) if value is not MISSING]
    wanted = [leaves(value) - weigh(shape, value, sieve, was, path, None)["ignored"] for value in values]
    kept = max([*wanted, 1])
    return kept, facts - kept


def _parts(shape: Shape, value: Any) -> Iterable[tuple[str, Shape, Any]]:
    """Key, shape and value of what stands below; nothing of a leaf."""
    if shape.kind == "model":
        return [(name, shape.fields.get(name, LEAF), part) for name, part in value.items()]
    if not shape.item or not value:
        return ()
    items = value.items() if shape.kind == "table" else enumerate(value)
    return [(str(key), shape.item, part) for key, part in items]
