"""What a tunable is while its row is worked out: where it stands, what it is now, and who sets it at boot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...records import field, record
from .tunable_values import agrees

Value = bool | int | float | str
Same = Callable[[Value, str], bool | None]
Rank = tuple[Any, ...]
Path = tuple[str, ...]

# When a mechanism has its turn; within EARLY nothing orders one after another.
KERNEL, LOAD, EARLY, LATE = range(4)


def same_value(value: Any) -> Value:
    """VALUE, which is a scalar."""
    found: Value = value
    return found


@record(frozen=True, eq=False)  # two of one value are two
class Setter:
    """Something that sets a tunable at boot, or may. VALUE is in the unit of the live fact; None: it cannot be told.

    DOUBT says why one is not certain, WHY_NOT why it stands there and sets nothing, ASSUMES what has to hold for a
    certain one.
    """

    how: str
    origin: Mapping[str, Any] = field(default_factory=dict)
    value: str | None = None
    certain: bool = True
    rank: Rank = (LATE,)
    unit: str = ""
    why_not: str = ""
    doubt: str = ""
    assumes: str = ""

    def table(self) -> dict[str, Any]:
        """The setter as rows show it."""
        found = {"value": self.value, "how": self.how, **self.origin, "certain": self.sure}
        more = {"unit": self.unit, "why_not": self.why_not, "doubt": self.doubt, "assumes": self.assumes}
        return {key: v for key, v in {**found, **{k: v for k, v in more.items() if v}}.items() if v is not None}

    @property
    def sure(self) -> bool:
        """It surely sets this very value."""
        return self.certain and self.value is not None and not self.why_not


@record(frozen=True)
class Default:
    """What a tunable is when nothing sets it, and where that is written."""

    value: Value
    source: str


@record()
class Tunable:
    """One tunable of a host.

    PATH is section and keys of its live fact, SHOW makes one value of what stands there, OTHERWISE is the value where
    nothing does. CPUS, the type of values, says that SUBJECT is a list of CPUs. SAME compares the live value with what
    is written. DEFAULT is that of the next kernel, DEFAULT_NOW that of the running one, FACTS what their conditions may
    ask. ABSENT: why the host has no such thing though something sets it. FALLS_SHORT: it may get less than it asks for.
    COMPUTED: what the kernel works it out from. GAPS: what else may set it was not read.
    """

    kind: str
    name: str
    path: Path
    live: Value | None = None
    subject: str = ""
    setters: list[Setter] = field(default_factory=list)
    default: Default | None = None
    default_now: Default | None = None
    same: Same = agrees
    show: Callable[[Any], Value] = same_value
    otherwise: Value | None = None
    facts: Mapping[str, Value] | None = None
    before: Value | None = None
    cpus: type[int] | type[str] | type[bool] | None = None
    absent: str = ""
    falls_short: bool = False
    computed: str = ""
    gaps: tuple[Mapping[str, str], ...] = ()

    @property
    def key(self) -> str:
        """The key of its row: the device stands before the name, a list of CPUs behind it."""
        words = (self.kind, self.name, self.subject) if self.cpus else (self.kind, self.subject, self.name)
        return " ".join(filter(None, words))
