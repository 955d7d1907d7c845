"""What the next boot makes of one thing: the word for it, the reason, and the line that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ...records import field, record
from ...regexes import regex

Status = Literal["kept", "reverts", "changes", "may", "unknown"]
_UNIT = regex("_(?:mw|khz|bytes)$")
JUDGED = ("kept", "reverts", "changes")  # what can be held against the boot when it has come


@record()
class Prediction:
    """One thing, now and after the next boot.

    PATH is section and keys of the fact, NEXT its value then. BOOT is what a boot leaves where nothing sets it, and
    EVIDENCE says how that is known. SOURCE is {file, line, text} of what decides, or does not let it be told. PLAIN:
    nothing sets it, and nothing shows that it was touched. ROW is its row of ``tunables``, where it has one.
    """

    key: str
    kind: str
    name: str
    path: tuple[str, ...]
    status: Status
    why: str
    now: Any = None
    next: Any = None
    subject: str = ""
    boot: Any = None
    evidence: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)
    plain: bool = False
    row: Mapping[str, Any] = field(default_factory=dict)

    def table(self) -> dict[str, Any]:
        """The prediction as the table ``forecast`` shows it."""
        told = {
            "kind": self.kind, "name": self.name, "device": self.subject or None, "path": list(self.path),
            "now": self.now, "next": self.next, "status": self.status, "why": self.why, "boot": self.boot,
            "evidence": self.evidence or None, "source": dict(self.source) or None,
            "lost": self.status in ("reverts", "changes") if self.status in JUDGED else None,
        }
        if unit := _UNIT.search(self.path[-1] if self.path else ""):
            told |= {f"now{unit[0]}": self.now, f"next{unit[0]}": self.next}
        if self.status == "unknown":
            gap = {"source": str(self.source.get("file", "")), "why": self.why}
            told["unknown"] = dict.fromkeys(("lost", "next"), gap)
        return {key: value for key, value in told.items() if value is not None}


def place(setter: Mapping[str, Any]) -> dict[str, Any]:
    """File, line and text of a setter, as far as it has them."""
    return {key: setter[key] for key in ("file", "line", "text") if key in setter}


def where(source: Mapping[str, Any]) -> str:
    """FILE:LINE of a source, or its text where it stands in no file; empty without either."""
    if "file" in source:
        return f"{source['file']}:{source['line']}" if source.get("line") else str(source["file"])
    return str(source.get("text", ""))
