"""Numbers as people read them, and the round ones that an axis is marked with."""

from __future__ import annotations

import math
from collections.abc import Sequence

LARGEST = 1e300
SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def short(value: float, digits: int = 4, even: bool = False) -> str:
    """VALUE with DIGITS significant digits, all digits before the point, and an exponent only far from 1.

    EVEN keeps zeros at its end, as in a column of numbers.
    """
    if not math.isfinite(value) or value == 0:
        return str(value).removesuffix(".0")
    power = math.floor(math.log10(abs(value)))
    if not -5 <= power < 12:
        return f"{value:.{digits - 1}e}"
    places = max(digits - 1 - power, 0)
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text and not even else text


def parameter(name: str, value: float) -> str:
    """The VALUE of a workload's parameter: a size in bytes in the unit that fits it without rest."""
    if "size" not in name and "bytes" not in name:
        return short(value, 7)
    power = 0
    while power + 1 < len(SIZES) and value >= 1024 and value % 1024 == 0:
        value, power = value / 1024, power + 1
    return f"{short(value, 7)} {SIZES[power]}"


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from LOW to HIGH, about as many as asked for: steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [step * n for n in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten from LOW to HIGH; powers alone, every so many, where that would be more than 8."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [factor * 10.0**power for power in powers for factor in factors if low <= factor * 10.0**power <= high]
        if len(found) <= 8:
            return found
    return found[:: math.ceil(len(found) / 8)]


def change(before: float, after: float) -> str:
    """AFTER against BEFORE in percent, as in +3.1 %; "" where that has no meaning."""
    if not (math.isfinite(before) and math.isfinite(after)) or before <= 0:
        return ""
    percent = (after / before - 1) * 100
    return f"{round(percent, 1) + 0.0:+.1f} %" if abs(percent) < 1000 else f"x {short(after / before, 3)}"


def spread(values: Sequence[float]) -> tuple[float, float, float] | None:
    """Lowest, middle and highest of the values that can be drawn: finite ones below 1e300; None without any."""
    from statistics import median

    finite = [value for value in values if abs(value) < LARGEST]
    return (min(finite), median(finite), max(finite)) if finite else None
