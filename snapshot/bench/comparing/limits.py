"""How near a measurement is to a limit that the user declares: [[roofline]] of snap.toml.

A limit holds for the metrics that its pattern fits, in its unit, with the workload that it names. What passes it shows
that it does not hold there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from ...sections.bench import Measured
from .bands import longest
from .comparison import Effect, Limit


class Roofline(Protocol):
    """A declared limit."""

    @property
    def metric(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> float: ...  # noqa: D102
    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def workload(self) -> Mapping[str, str]: ...  # noqa: D102


def limit(rooflines: Iterable[Roofline], id_: str, measured: Measured, effect: Effect) -> Limit | None:
    """The limit of a measurement, with the share of it that each side reaches; None where none is declared.

    Of several that fit, that which names most of the workload counts, then the one with the longest pattern.
    """
    names = (measured.metric, f"{measured.source.tool}/{measured.metric}", id_)
    fitting = [one for one in rooflines if one.unit == measured.unit and longest([one.metric], names) is not None
               and one.workload.items() <= measured.workload.items()]
    if not fitting:
        return None
    best = max(fitting, key=lambda one: (len(one.workload), len(one.metric)))
    shares = (_share(best.value, side.median, measured) if side else None for side in (effect.before, effect.after))
    before, after = shares
    return Limit(value=best.value, unit=best.unit, source=best.source, before_percent=before, after_percent=after)


def _share(most: float, value: float, measured: Measured) -> float | None:
    """Percent of the limit; of what is better the lower it is, the limit in percent of the value."""
    if value <= 0:
        return None
    return 100 * (value / most if measured.better == "higher" else most / value)
