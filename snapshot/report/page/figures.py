"""Numbers, CPU lists and names in few words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...regexes import regex
from ...sections.base import format_cpus, parse_cpus
from ..paper import plural

_ENDING = regex(r"(.*?)(0|[1-9][0-9]{0,8})(\D{0,8}|n1)", re.DOTALL)  # nvme0n1 counts by its first number


def age(seconds: int) -> str:
    """A span of time in its two largest units: "3 d 4 h", "12 min"."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def size(count: int) -> str:
    """Bytes in the largest binary unit of which there is one: "755.6 GiB"."""
    units = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
    power = min(max(count.bit_length() - 1, 0) // 10, len(units) - 1)
    return f"{count / (1 << 10 * power):.1f}".removesuffix(".0") + f" {units[power]}"


def watts(milliwatts: int) -> str:
    """Milliwatts as watts: "450 W"."""
    return f"{milliwatts / 1000:g} W"


def hertz(khz: int | str) -> str:
    """Kilohertz as gigahertz: "3.3 GHz"."""
    return f"{int(khz) / 1e6:g} GHz"


def speed(mbps: int) -> str:
    """Megabits a second: "200 Gb/s"."""
    return f"{mbps / 1000:g} Gb/s" if mbps >= 1000 else f"{mbps} Mb/s"


def on(table: Mapping[str, Any], name: str, word: str | None = None) -> str | None:
    """A switch: "HMM on". None where it is not there."""
    value = table.get(name)
    return None if value is None else f"{name if word is None else word} {'on' if value else 'off'}".lstrip()


def said(table: Mapping[str, Any], name: str, before: str = "", after: str = "") -> str | None:
    """A value with the words around it. None where it is not there."""
    value = table.get(name)
    return None if value is None else f"{before}{value}{after}"


def per_cpu(table: Mapping[str, str] | None, word: Any = str) -> str | None:
    """A table value -> CPUs: the value alone where there is one, else each with its CPUs."""
    if not table:
        return None
    if len(table) == 1:
        return str(word(next(iter(table))))
    return "; ".join(f"{word(value)} on {cpus}" for value, cpus in table.items())


def numbered(names: Iterable[str]) -> list[str]:
    """Names that differ in a number only, taken together: "nvidia0-7"; in order of the first of each."""
    found: dict[tuple[str, str], list[int]] = {}
    for name in names:
        parts = _ENDING.fullmatch(name)
        found.setdefault((parts[1], parts[3]) if parts else (name, ""), []).extend([int(parts[2])] if parts else [])
    return [f"{head}{_span(numbers)}{tail}" for (head, tail), numbers in found.items()]


def _span(numbers: Sequence[int]) -> str:
    return f"[{format_cpus(numbers)}]" if len(set(numbers)) > 1 else str(numbers[0]) if numbers else ""


def times(texts: Iterable[str]) -> list[str]:
    """Each text once, with how often it stands there: "8 x nvidia"."""
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return [f"{count} x {text}" if count > 1 else text for text, count in counts.items()]


def cpus(text: str) -> frozenset[int]:
    """The CPUs of a list; none of what is no list, as in a file that was edited."""
    try:
        return frozenset(parse_cpus(text))
    except ValueError:
        return frozenset()


def few(names: Sequence[str], most: int) -> list[str]:
    """The names, or the first of too many and how many more there are."""
    return [*names] if len(names) <= most else [*names[: most - 1], f"{plural(len(names) - most + 1, 'more', 'more')}"]


def origin(table: Mapping[str, Any]) -> str:
    """FILE:LINE of what keeps its origin."""
    return f"{table['origin']['file']}:{table['origin']['line']}"
