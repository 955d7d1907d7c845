"""The prediction for a row of ``tunables``: its verdict, and what a boot leaves where nothing sets it.

That something reverts is only said with evidence of what it reverts to: without, it may change. A value that the
kernel works out by itself may be another after each boot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..tunables.tunable_words import SAME_LINE
from .forecast_evidence import Evidence, Known
from .forecast_prediction import Prediction, place, where

Row = Mapping[str, Any]
UNSET = "nothing sets it at boot"
NOT_KNOWN = f"{UNSET}, and what it is then is not known"


def predict(key: str, row: Row, evidence: Evidence) -> Prediction | None:
    """What the next boot makes of it; None of what this host does not have."""
    word = row.get("verdict_boot")
    if word is None:
        return None
    name, live = str(row["name"]), row.get("live")
    found = Prediction(key, row["kind"], name, tuple(row["path"]), "may", NOT_KNOWN, live, row=row, plain=True,
                       subject=row.get("subject", ""))
    if word == "unknown":
        return _unknown(found, evidence)
    if "configured_by" in row:
        return _set(found, str(word))
    if "maybe" in row and word not in ("default", "kept"):
        return _doubtful(found)
    return _unset(found, evidence.boot(row))


def _unknown(found: Prediction, evidence: Evidence) -> Prediction:
    """What was not read; worth a word where something sets it, or it is known not to be what a boot leaves."""
    row, known = found.row, evidence.boot(found.row)
    gap: Row = row.get("unread_live") or next(iter(row.get("unknown_setters", ())), {})
    found.status, found.source = "unknown", {"file": gap["source"]} if gap.get("source") else {}
    found.why = f"{gap.get('source') or 'what sets it'} was not read ({gap.get('why', 'unknown')})"
    if known:
        found.boot, found.evidence = known.value, known.how
    touched = known is not None and found.now is not None and known.value != found.now
    found.plain = not touched and "setters" not in row
    return found


def _set(found: Prediction, word: str) -> Prediction:
    """Something surely sets it."""
    setter, doubt = found.row["configured_by"], found.row.get("maybe", [])
    found.source, found.plain = place(setter), False
    if word == "may":
        if doubt:
            return _doubtful(found)
        found.why = f"{where(found.source)} asks for {found.row['configured']}"
        return found
    if setter.get("assumes") == SAME_LINE:  # which nothing on the host tells: another may be given from outside
        found.why = f"{where(found.source)} sets it to {found.row['configured']} if {SAME_LINE}"
        return found
    found.status, found.next = ("kept", found.now) if word == "kept" else ("changes", found.row["configured"])
    found.why = "; ".join(filter(None, [where(found.source), setter.get("assumes", "")]))
    return found


def _doubtful(found: Prediction) -> Prediction:
    """Something sets it, or not: the last of those counts."""
    setter = found.row["maybe"][-1]
    found.source, found.plain = place(setter), False
    what = f"may set it to {setter['value']}" if setter.get("value") is not None else "may set it"
    found.why = ": ".join(filter(None, [f"{where(found.source) or setter['how']} {what}", setter.get("doubt", "")]))
    return found


def _unset(found: Prediction, known: Known | None) -> Prediction:
    """Nothing sets it: what it is then is what a boot leaves, where that is known."""
    row = found.row
    standard = known is not None and "default" in row and known.value == row["default"]
    if known is None or (standard and row["verdict_boot"] == "may"):  # it cannot be compared with the default
        found.why = f"{UNSET}; the kernel works it out: {row['computed']}" if "computed" in row else NOT_KNOWN
        return found
    found.boot, found.evidence = known.value, known.how
    same = _holds(row) if standard else known.value == found.now
    if same:
        found.status, found.next, found.why = "kept", found.now, f"{UNSET}, and so a boot leaves it ({known.how})"
    elif "computed" in row:
        found.why, found.plain = f"{UNSET}; the kernel works it out: {row['computed']}", False
    elif standard and row["verdict_boot"] == "default":
        found.status, found.next, found.plain = "changes", known.value, False
        found.why = f"{UNSET}, and the next kernel has another default ({known.how})"
    else:
        found.status, found.next, found.plain = "reverts", known.value, False
        found.why = f"{UNSET} ({known.value}: {known.how})"
    return found


def _holds(row: Row) -> bool:
    """Whether it is what nothing sets under the next kernel, as the kernel compares values."""
    return bool(row["verdict_boot"] == "default" and ("default_now" not in row or row["live"] == row["default"]))
