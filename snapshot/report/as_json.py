"""A review as JSON, for programs: both metas, findings, unknown verdicts, changes, counts, waivers, the exit code.

The schema is stable: keys are only added. Of a change, before or after is missing where that side has no such value;
JSON has no NaN and no infinity, so those floats are words. What needs two snapshots is missing when there is one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..diff import Diff
from ..diff.change import MISSING, Change, Incomparable
from ..document import Snapshot
from ..records import asdict
from . import forecast
from .review import Review

if TYPE_CHECKING:
    from ..diff.selection import Selection
    from ..engine.waivers import WaiverUse

VERSION = 1
PATTERNS = ("only", "ignore", "volatile", "stable")


def render_json(review: Review) -> str:
    """The report as indented JSON, keys sorted, ending in a newline."""
    return json.dumps(plain(table(review)), indent=2, sort_keys=True, allow_nan=False) + "\n"


def table(review: Review) -> dict[str, Any]:
    """The report as plain values."""
    judgement = review.judgement
    return {
        "report": VERSION, "tool": __version__,
        "before": _side(review.before, review.before_name) if review.before else None,
        "after": _side(review.after, review.after_name),
        "findings": [finding.table() | {"counts": review.counts(finding)} for finding in judgement.findings],
        "unknown": [finding.table() | {"allowed": review.allowed(finding)} for finding in judgement.unknown],
        "passed": judgement.passed, "passed_rules": review.passed, "not_applicable": judgement.not_applicable,
        **(_diff(review.diff) if review.diff else {}), **forecast.table(review.outlook, review.score),
        **_benchmarks(review),
        "waivers": [_waiver(use) for use in review.waivers],
        "refused_without_root": {side: {name: len(paths) for name, paths in refused.items()}
                                 for side, refused in review.refused.items()},
        **({"disabled_rules": list(review.disabled)} if review.disabled else {}),
        "threshold": review.threshold, "allow_unknown": list(review.allow_unknown),
        "fail_on_existing": review.fail_on_existing, "exit_code": review.exit_code,
        **({"command": asdict(review.ran)} if review.ran else {}),
    }


def _benchmarks(review: Review) -> dict[str, Any]:
    """What was measured on both sides; nothing where neither has a measurement."""
    if not review.benchmarks:
        return {}
    from .benchmark_values import values
    from .likely_causes import likely
    from .order import entries

    return {"benchmarks": values(review.benchmarks, likely(review, entries(review), numbered=False))}


def _side(snapshot: Snapshot, name: str) -> dict[str, Any]:
    return {"name": name, "meta": snapshot.meta.table()}


def _diff(diff: Diff) -> dict[str, Any]:
    return {
        "counts": asdict(diff.counts) | {"facts": diff.counts.facts},
        "changes": _changes(diff.changes), "meta": _changes(diff.meta), "files": _changes(diff.files),
        "not_comparable": [_incomparable(entry) for entry in diff.incomparable],
        "same_boot": diff.same_boot, "warnings": diff.warnings,
        "selection": _selection(diff.selection), "unused_patterns": diff.unused,
    }


def _selection(selection: Selection) -> dict[str, Any]:
    """What was asked for; a kind of patterns that there are none of is missing."""
    patterns = {name: [pattern.text for pattern in getattr(selection, name)] for name in PATTERNS}
    patterns["tolerances"] = [f"{tolerance.pattern.text}={tolerance.amount}" for tolerance in selection.tolerances]
    return {name: texts for name, texts in patterns.items() if texts} | {"show_volatile": selection.show_volatile}


def _waiver(use: WaiverUse) -> dict[str, Any]:
    return use.waiver.table() | {
        "state": use.state, "findings": [finding.key() for finding in use.findings],
        "changes": [[change.section, *change.path] for change in use.changes],
    }


def _changes(changes: Iterable[Change]) -> list[dict[str, Any]]:
    return [_change(change) for change in changes]


def _change(change: Change) -> dict[str, Any]:
    out = {"section": change.section, "path": change.path, "state": change.state, "facts": change.facts}
    rest = {"was": change.was, "cpus": change.cpus, "why": change.why, "volatile": change.volatile,
            "computed_from": change.computed, "direction": change.direction}
    sides = {name: value for name, value in (("before", change.before), ("after", change.after))
             if value is not MISSING}
    return out | sides | {name: value for name, value in rest.items() if value}


def _incomparable(entry: Incomparable) -> dict[str, Any]:
    return {name: value for name, value in asdict(entry).items() if value != ""}


def plain(value: Any) -> Any:
    """VALUE without the floats that JSON lacks: they are words."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
