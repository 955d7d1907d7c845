"""Tunables that are one fact of a section and one file of /sys: what most kinds are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...records import record
from ...sections.base import format_cpus, parse_cpus
from .tunable import Path, Same, Setter, Tunable, Value, same_value
from .tunable_setters import Setters
from .tunable_values import agrees


@record(frozen=True)
class Kind:
    """What tunables of a kind share: the tools that set them, and (section, field) of what else sets them."""

    name: str
    tools: tuple[str, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()


def at(table: object, keys: Iterable[str]) -> Any:
    """What stands at KEYS; None when nothing does."""
    for key in keys:
        if not isinstance(table, dict) or (table := table.get(key)) is None:
            return None
    return table


class Facts:
    """Makes the tunables of one kind."""

    def __init__(self, found: Setters, kind: Kind) -> None:
        self.found, self.kind = found, kind
        self._tools = found.tools(*kind.tools)
        self._gaps = tuple(found.gaps(*kind.gaps))

    def one(
        self, name: str, path: Path, *files: str, subject: str = "", setters: Iterable[Setter] = (),
        same: Same = agrees, show: Callable[[Any], Value] = same_value, otherwise: Value | None = None,
    ) -> Iterator[Tunable]:
        """The tunable whose live value stands at PATH; none where the host has it not and nothing names it."""
        live = at(self.found.table(path[0]), path[1:])
        live = otherwise if live is None else show(live)
        own = [*setters, *self.found.file(*files)]
        if live is None and not any(setter.value is not None for setter in own):
            return
        tunable = Tunable(self.kind.name, name, path, live, subject, [*own, *self._tools], same=same, show=show,
                          otherwise=otherwise, gaps=self._gaps)
        if live is None and not self.found.snapshot.unread(path[0], path[1:]):
            tunable.absent = "this host has it not"
        yield tunable

    def cpus(
        self, name: str, path: Path, of: type[int] | type[str] | type[bool], whole: list[Setter],
        each: Callable[[int], list[Setter]] | None, same: Same,
    ) -> Iterator[Tunable]:
        """One for each value of a table value -> cpu list, and each set of setters: WHOLE of all CPUs, EACH of one."""
        for text, cpus in (at(self.found.table(path[0]), path[1:]) or {}).items():
            live = text == "true" if of is bool else of(text)
            for group, own in _groups(cpus, each):
                yield Tunable(
                    self.kind.name, name, path, live, group, [*whole, *own, *self._tools], same=same, cpus=of,
                    gaps=self._gaps,
                )


def _groups(cpus: str, each: Callable[[int], list[Setter]] | None) -> Iterable[tuple[str, list[Setter]]]:
    """CPUs that the same is done to, as a list, and what does so to the first of them."""
    if each is None:
        return [(cpus, [])]
    groups: dict[tuple[object, ...], tuple[list[int], list[Setter]]] = {}
    for cpu in parse_cpus(cpus):
        own = each(cpu)
        groups.setdefault(tuple(map(_effect, own)), ([], own))[0].append(cpu)
    return [(format_cpus(group), own) for group, own in groups.values()]


def _effect(made: Setter) -> tuple[object, ...]:
    """What makes a setter another one than the same line for another CPU."""
    return made.how, made.value, made.certain, made.unit, made.why_not, made.origin.get("file"), made.rank[0]
