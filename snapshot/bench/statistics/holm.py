"""P values of several questions asked together: Holm (1979), A simple sequentially rejective multiple test procedure.

The chance of even one false answer among them stays at the level, however the questions hang together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p value as it counts among the others, in their order."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    raised = (min(1.0, p_values[at] * (len(order) - step)) for step, at in enumerate(order))
    found = dict(zip(order, accumulate(raised, max), strict=True))
    return [found[at] for at in range(len(order))]
