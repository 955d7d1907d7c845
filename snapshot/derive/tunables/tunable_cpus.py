"""What sets an attribute of CPUs: tools that take a list of them, and their files below /sys/devices/system/cpu."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...records import replace
from ...sections.base import parse_cpus
from .tunable import Path, Same, Setter, Tunable
from .tunable_facts import Facts
from .tunable_setters import Setters
from .tunable_values import agrees

CPU = "/sys/devices/system/cpu"
FREQUENCY = ("cpu{}/cpufreq", "cpufreq/policy{}")  # ways to the files of a CPU
POWER = ("cpu{}/power",)
IDLE = ("cpu{}/cpuidle",)
Change = Callable[[Setter], Setter | None]


class Asked:
    """The setters of one attribute. OPTION is cpupower's, FILES stand below each of WAYS; CHANGE makes them fit."""

    def __init__(
        self, found: Setters, ways: Path, *files: str, option: str = "", change: Change = lambda made: made
    ) -> None:
        self._found, self._change = found, change
        self._files = tuple(f"{CPU}/{way}/{file}" for file in files for way in ways)
        self._all: list[Setter] = []
        self._each: dict[int, list[Setter]] = {}
        self._others: list[tuple[Asked, Change]] = []
        for action in found.of("cpupower") if option else ():
            if action.where[1:] == (option,):
                self.put(action.where[0], found.setter(action, action.value))

    def put(self, cpus: str, *setters: Setter) -> None:
        """Setters of a list of CPUs, or of "all"; behind a variable there may be any."""
        try:
            numbers = None if cpus == "all" else parse_cpus(cpus)
        except ValueError:
            numbers, setters = None, tuple(replace(made, certain=False, doubt="which CPUs") for made in setters)
        if numbers is None:
            self._all += setters
        for cpu in numbers or ():
            self._each.setdefault(cpu, []).extend(setters)

    def follow(self, other: Asked, change: Change) -> None:
        """What sets OTHER sets this too, as CHANGE makes it."""
        self._others.append((other, change))

    def whole(self) -> list[Setter]:
        """The setters of all CPUs."""
        return [*self._changed(self._all), *(new for other, change in self._others for new in map(change, other.whole())
                                             if new)]

    def of(self, cpu: int) -> list[Setter]:
        """The setters of one CPU besides those of all."""
        own = [*self._each.get(cpu, ()), *self._found.file(*(file.format(cpu) for file in self._files))]
        followed = (change(made) for other, change in self._others for made in other.of(cpu))
        return [*self._changed(own), *(made for made in followed if made)]

    @property
    def apart(self) -> bool:
        """Whether anything sets single CPUs."""
        names = (file.rpartition("/")[2] for file in self._files)
        return bool(self._each) or self._found.writes(*names) or any(other.apart for other, _ in self._others)

    def tunables(
        self, facts: Facts, name: str, path: Path, of: type[int] | type[str] | type[bool], same: Same = agrees
    ) -> Iterator[Tunable]:
        """The tunables of the fact at PATH, whose values are of type OF."""
        return facts.cpus(name, path, of, self.whole(), self.of if self.apart else None, same)

    def _changed(self, setters: Iterable[Setter]) -> list[Setter]:
        return [new for made in setters if (new := self._change(made))]
