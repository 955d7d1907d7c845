"""Which measurement before is which after: the same id; else it is said why there is no counterpart.

A measurement that only one side has is set beside one of the same tool and metric that only the other has, the nearest
by its workload: the two are not comparable, and what differs is why. What is left after that has vanished, or is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from ...records import record
from ...sections.bench import Measured

M = TypeVar("M", bound=Measured)
FEW = 3  # differing keys that are named


@record(frozen=True)
class Match(Generic[M]):
    """A measurement on either side; WHY is why the two cannot be compared, empty when they can."""

    id: str
    before: M | None
    after: M | None
    why: str = ""

    @property
    def measured(self) -> M:
        """That of after, or of before where there is none after."""
        found = self.after or self.before
        assert found is not None, "a match has a side"  # noqa: S101
        return found

    @property
    def sides(self) -> tuple[M, M]:
        """Both."""
        assert self.before is not None and self.after is not None, "one side is missing"  # noqa: S101
        return self.before, self.after


def matches(before: Mapping[str, M], after: Mapping[str, M]) -> list[Match[M]]:
    """Every measurement of both sides once, by id (of after, where there is one)."""
    found = [Match(id_, before[id_], one, _unlike(before[id_], one)) for id_, one in after.items() if id_ in before]
    olds = {id_: one for id_, one in before.items() if id_ not in after}
    news = {id_: one for id_, one in after.items() if id_ not in before}
    for old, new in _nearest(olds, news):
        found.append(Match(new, olds[old], news[new], _unlike(olds.pop(old), news.pop(new))))
    found += [Match(id_, one, None) for id_, one in olds.items()]
    found += [Match(id_, None, one) for id_, one in news.items()]
    return sorted(found, key=lambda match: match.id)


def _nearest(olds: Mapping[str, M], news: Mapping[str, M]) -> Iterator[tuple[str, str]]:
    """Pairs of one tool and metric, those first that differ least; each id once."""
    groups: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for at, side in enumerate((olds, news)):
        for id_, one in side.items():
            groups.setdefault((one.source.tool, one.metric), ([], []))[at].append(id_)
    pairs = [(len(_keys(olds[old], news[new])), old, new) for old_ids, new_ids in groups.values()
             for old in old_ids for new in new_ids]
    met: set[tuple[int, str]] = set()
    for _, old, new in sorted(pairs):
        if met.isdisjoint({(0, old), (1, new)}):
            met |= {(0, old), (1, new)}
            yield old, new


def _keys(one: Measured, other: Measured) -> list[str]:
    """The keys of the workload in which two differ."""
    both = one.workload.keys() | other.workload.keys()
    return sorted(key for key in both if one.workload.get(key) != other.workload.get(key))


def _unlike(one: Measured, other: Measured) -> str:
    """Why two are not alike; empty when they are."""
    sides = [(key, one.workload.get(key, "not said"), other.workload.get(key, "not said"))
             for key in _keys(one, other)]
    sides += [(name, old, new) for name in ("unit", "better")
              if (old := getattr(one, name)) != (new := getattr(other, name))]
    return _words(sides)


def _words(sides: Sequence[tuple[str, str, str]]) -> str:
    said = [f"{name} {old} before and {new} after" for name, old, new in sides[:FEW]]
    more = [f"{len(sides) - FEW} more differ"] if len(sides) > FEW else []
    return ", ".join([*said, *more])
