"""Whether a value that is written gives the value that is there, as the kernel takes it.

lib/kstrtox.c: kstrtobool takes y, t, 1, on and n, f, 0, off by their first signs, numbers may be decimal, hexadecimal
or octal. kernel/params.c: a bool parameter shows Y or N, a parameter without = is true, arrays have commas.
kernel/sysctl.c: of a line the leading numbers count, and what stands behind them is dropped.
"""

from __future__ import annotations

import re

from ...regexes import regex
from ...sections import sysctl

Value = bool | int | float | str
_NUMBER = regex(r"[+-]?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})")
_FREQUENCY = regex(r"([0-9]{1,12}(?:\.[0-9]{1,9})?) ?([kmgt]?hz)?", re.IGNORECASE)
_KHZ = {"hz": 0.001, "khz": 1, "mhz": 1_000, "ghz": 1_000_000, "thz": 1_000_000_000}  # cpupower-frequency-set(1)
_ON, _OFF = ("on", "enabled", "enable", "true", "yes"), ("off", "disabled", "disable", "false", "no")


def number(text: str) -> int | None:
    """An integer as kstrtoll with base 0 reads it; None when TEXT is none."""
    if not _NUMBER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") and len(digits) > 1 else 10
    try:
        found = int(digits, base)
    except ValueError:  # 09 is no octal number
        return None
    return -found if text.startswith("-") else found


def flag(text: str) -> bool | None:
    """A switch as kstrtobool reads it, or a tool's word for it; None when TEXT is neither."""
    word = text.strip().lower()
    if word in _ON or word[:1] in ("y", "t", "1"):
        return True
    return False if word in _OFF or word[:1] in ("n", "f", "0") else None


def kilohertz(text: str) -> int | None:
    """A frequency in kHz, which is the unit of one without; None when TEXT is none."""
    found = _FREQUENCY.fullmatch(text.strip())
    return round(float(found[1]) * _KHZ[(found[2] or "khz").lower()]) if found else None


def agrees(live: Value, written: str) -> bool | None:
    """Whether LIVE is what WRITTEN gives; None when WRITTEN is no value of that type."""
    if isinstance(live, bool):
        found = flag(written)
        return None if found is None else live is found
    if isinstance(live, str):
        return live.split() == written.split() or _same_number(live, written)
    wanted = _real(written)
    return None if wanted is None else live == wanted


def sysctl_agrees(live: Value, written: str) -> bool | None:
    """The same of a sysctl; None when the kernel refuses WRITTEN, because it wants a number."""
    if isinstance(live, int | str) and sysctl.agrees(live, written):
        return True
    words = written.split()
    if isinstance(live, int):
        wanted = number(words[0].replace("+", "x")) if words else None
        return None if wanted is None else live == wanted
    leading = words[: next((at for at, word in enumerate(words) if number(word) is None), len(words))]
    return bool(leading) and sysctl.agrees(str(live), " ".join(leading))


def parameter_agrees(live: Value, written: str) -> bool | None:
    """The same of a module's parameter, which is a text."""
    if live in ("Y", "N"):
        found = True if written == "" else flag(written)
        return None if found is None else found is (live == "Y")
    one, other = str(live).split(","), written.strip().strip('"').split(",")
    return one == other or (len(one) == len(other) and all(map(_same_number, one, other)))


def as_live(written: str, live: Value | None) -> Value:
    """WRITTEN in the type of LIVE, where it is such a value."""
    if isinstance(live, bool):
        found = flag(written)
        return written if found is None else found
    if isinstance(live, int | float) and (wanted := _real(written)) is not None:
        return wanted
    return written


def text(value: Value) -> str:
    """VALUE as it would be written."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _same_number(one: str, other: str) -> bool:
    return number(one) is not None and number(one) == number(other)


def _real(written: str) -> int | float | None:
    word = written.strip()
    if (found := number(word)) is not None:
        return found
    return float(word) if re.fullmatch(r"-?[0-9]{1,15}\.[0-9]{1,15}", word) else None
