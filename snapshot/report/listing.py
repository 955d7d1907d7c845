"""The list of the store, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..records import asdict
from .paper import shown

if TYPE_CHECKING:
    from ..store import Entry

ID_FORM = "%Y%m%dT%H%M%SZ"


def render_json(entries: Sequence[Entry], root: str, _host: str | None) -> str:
    """The entries as a JSON object {store, snapshots: [{host, id, label, path}]}."""
    return json.dumps({"store": root, "snapshots": [asdict(e) for e in entries]}, indent=2) + "\n"


def render_table(entries: Sequence[Entry], root: str, host: str | None) -> str:
    """One line an entry, newest first: position among the host's, id, time, label, host."""
    if not entries:
        return f"no snapshots{f' of {host}' if host else ''} in {root}\n"
    rows = [("", "ID", "TAKEN (UTC)", "LABEL", "HOST")]
    position: dict[str, int] = {}
    for entry in entries:
        position[entry.host] = position.get(entry.host, 0) + 1
        rows.append((f"@{position[entry.host]}", entry.id, _when(entry.id), entry.label or "-", entry.host))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(shown("  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip()) + "\n"
                   for row in rows)


def _when(identifier: str) -> str:
    try:
        return datetime.strptime(identifier[:16], ID_FORM).replace(tzinfo=UTC).strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return "-"
