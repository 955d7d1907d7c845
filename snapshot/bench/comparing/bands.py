"""How far two runs of the same can be apart: noise bands, from ``[noise]`` of snap.toml and ``rules/noise.toml``.

A band judges samples that are too few for a test. Of several patterns that fit a metric the longest counts. What the
samples themselves show of their noise widens a band: by FACTOR times the deviation of single runs, and by more where
hardly any run tells it (Student's t; the middle one of few runs varies somewhat more than their mean).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache

from ... import tomlio
from ...document.check import checked, fault
from ...errors import FormatError
from ...records import record
from ...sections.base import Model, field
from ...sections.bench import Measured

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306)  # 97.5 % quantile of t with 1, 2, ... degrees
MEDIAN = 1.2  # a median of few normal values varies up to so many times as much as their mean


class Default(Model):
    """What counts where nothing is declared."""

    kinds: list[str] | None = field(default=None, description="of which kinds of measurements; missing: of all others")
    percent: float = field(description="the band of single runs, percent")
    factor: float = field(description="how many standard deviations of single runs a band has at least")
    source: str = field(description="where that is written, or seen")


@record(frozen=True)
class Band:
    """How far apart two runs can be, percent, and how many deviations at least."""

    percent: float
    factor: float

    def widened(self, noise_percent: float | None, n: int, m: int) -> float:
        """The band between N and M runs whose single ones deviate by NOISE_PERCENT, if that is known."""
        if noise_percent is None:
            return self.percent
        degrees = n + m - 2 if min(n, m) > 1 else max(n, m) - 1
        student = STUDENT[min(degrees, len(STUDENT)) - 1]
        return max(self.percent, noise_percent * max(self.factor, MEDIAN * student * math.sqrt(1 / n + 1 / m)))


def band(noise: Mapping[str, float], id_: str, measured: Measured) -> Band:
    """The band of a measurement; NOISE is pattern -> percent, of the metric, TOOL/METRIC or the whole id."""
    default = next(one for one in shipped() if one.kinds is None or measured.kind in one.kinds)
    names = (measured.metric, f"{measured.source.tool}/{measured.metric}", id_)
    declared = longest(noise, names)
    return Band(default.percent if declared is None else noise[declared], default.factor)


def longest(patterns: Iterable[str], names: Iterable[str]) -> str | None:
    """The longest of the patterns that one of the names fits."""
    names = [*names]
    fitting = [one for one in patterns if any(fnmatchcase(name, one) for name in names)]
    return max(fitting, key=len, default=None)


@cache
def shipped() -> tuple[Default, ...]:
    """The defaults, in the order in which they are asked. FormatError when their file is not as it must be."""
    for folder in (os.path.join(_PACKAGE, "_rules"), os.path.join(os.path.dirname(_PACKAGE), "rules")):
        if os.path.isdir(folder):
            return load(os.path.join(folder, "noise.toml"))
    raise FormatError(f"{_PACKAGE}: the folder of rules is missing: install hostsnap again")


def load(path: str) -> tuple[Default, ...]:
    """The defaults of a file, of which the last is for all kinds. FormatError names file, line and key of a fault."""
    try:
        with open(path, "rb") as file:
            text = tomlio.decode(file.read(), path)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from None
    table = tomlio.loads(text, path)
    if odd := table.keys() - {"noise"}:
        raise fault(path, text, (min(odd),), "is not known here: every table is a [[noise]]")
    rows = table.get("noise")
    found = [checked(Default, row, ("noise", at), path, text)
             for at, row in enumerate(rows if isinstance(rows, list) else ())]
    if not found or found[-1].kinds is not None:
        raise FormatError(f"{path}: the last [[noise]] has to be for all kinds")
    return tuple(found)
