"""What the running systemd says of its units, from ``systemctl list-units``.

systemctl(1). One line a unit in memory: name, load, active, sub, description; a sign (a bullet, or * in the C locale)
may stand before the name of a failed one. A unit that is not in memory is inactive: systemd forgets no other.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ParseError
from ..host.base import Command, Result
from ..sections.units import Runtime
from .base import decode

LIST_UNITS = Command(
    ("systemctl", "list-units", "--all", "--full", "--plain", "--no-legend", "--no-pager"), timeout_s=10
)
INACTIVE = Runtime(load=None, active="inactive", sub=None)
_ACTIVE = frozenset((
    "active", "reloading", "inactive", "failed", "activating", "deactivating", "maintenance", "refreshing",
))


def parse(text: str) -> dict[str, Runtime]:
    """The state of each unit in memory, by name. ParseError when a line is none of such a list."""
    found = {}
    for line in text.split("\n"):
        words = line.split()
        words = words[1:] if words and "." not in words[0] and len(words[0]) == 1 else words
        if not words:
            continue
        if len(words) < 4 or "." not in words[0] or words[2] not in _ACTIVE:
            raise ParseError(f"no line of a list of units: {line[:80]!r}")
        found[words[0]] = Runtime(load=words[1], active=words[2], sub=words[3])
    return found


def told(results: Mapping[Command, Result]) -> dict[str, Runtime] | str:
    """The states, or why they are not known."""
    result = results[LIST_UNITS]
    if result.why or result.exit_code:
        return result.why or f"exit code {result.exit_code}"
    try:
        return parse(decode(result.stdout)) or "an empty list"
    except ParseError as error:
        return str(error)
