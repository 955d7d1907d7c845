"""What the samples of two sides show: verdict, size, interval.

The rank test judges where samples suffice to reach the level at all, after the correction for the metrics that are
asked about together; a difference has to be shown by it, and be as large as the smallest one that matters. Where they
do not suffice (3 against 3: p is at least 0.1) the noise band judges, and the verdict says so. A band says how far two
runs of the same can be apart; it has no level.

Sizes are factors, in percent of before, where all values are above 0; else shifts, in percent of the middle one before,
of which there is none where that is 0: then any difference is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ...records import record
from ...sections.bench import Better
from ..statistics.holm import holm
from ..statistics.ranks import rank_test, smallest_p
from ..statistics.shift import factor, shift
from ..statistics.spread import middle, noise_percent, quantile
from .bands import Band
from .comparison import Effect, Spread, Verdict

LEVEL = 0.05
MINIMUM_PERCENT = 2.0
Percent = tuple[float | None, float | None, float | None]  # the effect, and its interval


@record(frozen=True)
class Question:
    """The samples of two sides, one a run, each finite and at least one a side."""

    before: Sequence[float]
    after: Sequence[float]
    better: Better
    minimum_percent: float
    band: Band

    @property
    def sizes(self) -> str:
        """How many samples, in words."""
        n, m = len(self.before), len(self.after)
        return f"{n} and {m} samples" if n != m else f"{n} sample{'s'[: n > 1]} each"


def spread(samples: Sequence[float]) -> Spread | None:
    """The samples in short; None of none."""
    if not samples:
        return None
    ordered = sorted(samples)
    low, half, high = (quantile(ordered, share) for share in (0.25, 0.5, 0.75))
    return Spread(len(ordered), half, low, high, ordered[0], ordered[-1])


def effects(questions: Sequence[Question]) -> list[Effect]:
    """The answers to questions that are asked together, in their order."""
    tested = _testable(questions)
    raw = {at: rank_test(questions[at].before, questions[at].after) for at in tested}
    adjusted = dict(zip(raw, holm([*raw.values()]), strict=True))
    return [_tested(one, raw[at], adjusted[at], len(raw)) if at in raw else _banded(one)
            for at, one in enumerate(questions)]


def _testable(questions: Sequence[Question]) -> list[int]:
    """The questions whose samples can reach the level, though each is corrected for all of these."""
    least = [smallest_p(len(one.before), len(one.after)) for one in questions]
    for most in sorted({*least}, reverse=True):
        kept = [at for at, p in enumerate(least) if p <= most]
        if most * len(kept) <= LEVEL:
            return kept
    return []


def _tested(one: Question, p: float, adjusted: float, together: int) -> Effect:
    percent, low, high = _percent(one)
    asked = f", corrected for {together} metrics" if together > 1 else ""
    why = f"{one.sizes}, rank test p {adjusted:.2g}{asked}"
    shown = adjusted <= LEVEL
    small = percent is not None and abs(percent) < one.minimum_percent
    if shown and small:
        why += f", and less than the {one.minimum_percent:g} % that matter"
    verdict = _direction(one, percent) if shown and not small else "same"
    return Effect(verdict=verdict, why=why, before=spread(one.before), after=spread(one.after), percent=percent,
                  low_percent=low, high_percent=high, basis="rank test", p=p, p_adjusted=adjusted)


def _banded(one: Question) -> Effect:
    percent, low, high = _percent(one)
    noise = noise_percent(one.before, one.after)
    widened = one.band.widened(noise, len(one.before), len(one.after))
    verdict, why = _within(one, percent, widened)
    return Effect(verdict=verdict, why=f"{one.sizes}, {why}", before=spread(one.before), after=spread(one.after),
                  percent=percent, low_percent=low, high_percent=high, basis="noise band", band_percent=widened)


def _within(one: Question, percent: float | None, widened: float) -> tuple[Verdict, str]:
    band = f"noise band {one.band.percent:.3g} %"
    own = f"noise band {widened:.3g} % by their own spread" if widened > one.band.percent else band
    if percent is None:
        same = sorted(one.before) == sorted(one.after)
        return ("same", "equal") if same else ("too-few", "and 0 before has no noise band")
    if abs(percent) <= one.band.percent:
        return "same", band
    if abs(percent) < one.minimum_percent:
        return "same", f"less than the {one.minimum_percent:g} % that matter"
    return ("too-few" if abs(percent) <= widened else _direction(one, percent)), own


def _direction(one: Question, percent: float | None) -> Verdict:
    """Which way; where there is no size, by the shift, and where that is 0 by the mean of each side's values."""
    larger = percent or shift(one.before, one.after)[0] or fmean(one.after) - fmean(one.before)
    return "better" if (larger > 0) == (one.better == "higher") else "worse"


def _percent(one: Question) -> Percent:
    if min(*one.before, *one.after) > 0:
        times, interval = factor(one.before, one.after, 1 - LEVEL)
        return _of(times - 1, interval and (interval[0] - 1, interval[1] - 1), 1)
    base = abs(middle(one.before))
    if not base:
        return None, None, None
    return _of(*shift(one.before, one.after, 1 - LEVEL), base)


def _of(by: float, interval: tuple[float, float] | None, base: float) -> Percent:
    low, high = interval or (None, None)
    return 100 * by / base, None if low is None else 100 * low / base, None if high is None else 100 * high / base
