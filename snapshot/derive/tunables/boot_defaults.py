"""What tunables are when nothing sets them, from ``rules/defaults.toml``: constants of kernel, driver or standard.

    [[default]]
    kind = "sysctl"               # kind and name as in the table ``tunables``
    name = "net.core.optmem_max"
    value = 131072                # in the unit of the live fact
    kernel = ">=6.8,<6.20"        # of the kernel that boots; missing: all
    when = { numa_nodes = ">1" }  # what has to be known of the host or the device; missing: nothing
    source = "file of the kernel's tree, man page or standard that says so"

The first entry that fits counts. A condition is a number, true or false, a pattern (fnmatch), or a comparison
(> >= < <=) with a number; a fact that is not known fits none. What the kernel works out from memory or CPUs is no
constant and does not belong there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from operator import ge, gt, le, lt
from typing import Any

from ... import tomlio
from ...document.check import checked, fault
from ...errors import FormatError
from ...regexes import regex
from ...sections.base import Model, field
from .tunable import Default, Value

Facts = Mapping[str, Value]
Lookup = Callable[[str, str, str, Facts], Default | None]
Version = tuple[int, ...]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_COMPARE = {">=": ge, "<=": le, ">": gt, "<": lt}
_BOUND = regex(r"\s*(>=|<=|>|<)\s*([0-9]{1,18}(?:\.[0-9]{1,9}){0,3})\s*")


class Entry(Model):
    """One default."""

    kind: str = field(description="kind of tunable, as in the table tunables")
    name: str = field(description="name of the tunable, as there")
    value: bool | int | float | str = field(description="what it is when nothing sets it, in the unit of the live fact")
    kernel: str | None = field(default=None, description="versions, bounds with commas: >=6.6,<6.13; missing: all")
    when: dict[str, bool | int | str] | None = field(default=None, description="fact -> condition; missing: always")
    source: str = field(description="where that is written")

    def _verify(self) -> None:
        """A source, and bounds that can be understood."""
        if not self.source.strip():
            raise ValueError("a default needs a source")
        if self.kernel is not None and not all(map(_BOUND.fullmatch, self.kernel.split(","))):
            raise ValueError(f"not bounds of a version such as >=6.6,<6.13: {self.kernel!r}")

    def fits(self, kernel: Version, facts: Facts) -> bool:
        """Whether it holds for this kernel, and a host or device with these facts."""
        bounds = (bound for text in (self.kernel or "").split(",") if (bound := _BOUND.fullmatch(text)))
        right = all(bool(kernel) and _COMPARE[b[1]](kernel, version(b[2])) for b in bounds)
        return right and all(name in facts and _meets(facts[name], word) for name, word in (self.when or {}).items())


def lookup(kind: str, name: str, kernel: str, facts: Facts) -> Default | None:
    """What the shipped file says of a tunable; None when it says nothing, or nothing for such a host."""
    entries = shipped().get((kind, name))
    found = next((entry for entry in entries if entry.fits(version(kernel), facts)), None) if entries else None
    return Default(found.value, found.source) if found else None


def version(release: str) -> Version:
    """The numbers at the start of a kernel release: 6.14.11-1-pve -> (6, 14, 11); () without any."""
    found = re.match(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,3}", release)
    return tuple(map(int, found[0].split("."))) if found else ()


@cache
def shipped() -> dict[tuple[str, str], list[Entry]]:
    """The shipped file, by kind and name. FormatError when it is not there or not as it must be."""
    for path in (os.path.join(_PACKAGE, "_rules"), os.path.join(os.path.dirname(_PACKAGE), "rules")):
        if os.path.isdir(path):
            return load(os.path.join(path, "defaults.toml"))
    raise FormatError(f"{_PACKAGE}: the folder of rules is missing: install hostsnap again")


def load(path: str) -> dict[tuple[str, str], list[Entry]]:
    """The entries of a file, by kind and name, in order. FormatError names file, line and key of what is wrong."""
    try:
        with open(path, "rb") as file:
            text = tomlio.decode(file.read(), path)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from None
    table: dict[str, Any] = tomlio.loads(text, path)
    if odd := table.keys() - {"default"}:
        raise fault(path, text, (min(odd),), "is not known here: every table is a [[default]]")
    rows = table.get("default", [])
    found: dict[tuple[str, str], list[Entry]] = {}
    for at, row in enumerate(rows if isinstance(rows, list) else [rows]):
        entry = checked(Entry, row, ("default", at), path, text)
        found.setdefault((entry.kind, entry.name), []).append(entry)
    return found


def _meets(value: Value, wanted: bool | int | str) -> bool:
    if not isinstance(wanted, str):
        return type(value) is type(wanted) and value == wanted
    bound = _BOUND.fullmatch(wanted)
    if bound and not isinstance(value, bool | str):
        return bool(_COMPARE[bound[1]](value, float(bound[2])))
    return isinstance(value, str) and not bound and fnmatchcase(value, wanted)
