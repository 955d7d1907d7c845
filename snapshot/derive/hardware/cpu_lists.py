"""CPU lists of a snapshot, which may have been edited by hand."""

from __future__ import annotations

from ...sections.base import parse_cpus


def cpus(text: str | None) -> set[int] | None:
    """The CPUs of a list such as 0-3,8; None when TEXT is none."""
    try:
        return None if text is None else set(parse_cpus(text))
    except ValueError:
        return None
