"""What a derived table is: judged rows, and what could not be judged."""

from __future__ import annotations

from typing import Any

from ..records import field, record


@record(frozen=True)
class Derived:
    """Rows by subject, of plain TOML-like values: a key that has no value is left out, never None.

    UNKNOWN lists what could not be judged, each {subject, what, source, why}: SUBJECT is the key of the
    missing row, or the beginning of the keys of all that are ("" is the whole table); none is in both.
    """

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    unknown: list[dict[str, Any]] = field(default_factory=list)
