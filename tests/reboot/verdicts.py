"""What the product said of a run, held against what the rig itself read before and after: right, missed, false.

Truth is what files of /proc and /sys said in the guest, not what a snapshot says. Foreseen is what a forecast says will
revert or change. Where only "may" is said, that is right without evidence of what a boot leaves; with a baseline it is
if the next kernel leaves something else than this one does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from snapshot.derive.forecasts.forecast import outlook
from snapshot.derive.forecasts.forecast_prediction import Prediction
from snapshot.derive.tunables.tunable_values import agrees, text
from snapshot.derive.tunables.tunables import tunables
from snapshot.engine.finding import Finding, reaches
from snapshot.report.review import Review, review

from .chain import Run
from .tunables import TUNABLES, Tunable

ELSEWHERE = ("cmdline", "config", "major")  # kinds of predictions that are no tunables: diff's own score holds those
OF_TABLE = {  # derived tables that join tunables under keys of their own -> patterns of the names in the rig
    "idle_depths": "C? disable*", "nic_mtus": "eth0 mtu", "nic_settings": "eth0 *", "irq_moves": "*IRQ affinity",
    "module_options": "fake_nvidia.*", "runtime_pm": "* power/control", "read_requests": "* MaxReadReq",
}


@dataclass(slots=True)
class Hits:
    """How many of what happened were said (recall), and of what was said happened (precision)."""

    right: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    may: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)  # right, of what was not set by hand

    @property
    def recall(self) -> float:
        """1.0 where nothing happened."""
        return len(self.right) / (len(self.right) + len(self.missed)) if self.right or self.missed else 1.0

    @property
    def precision(self) -> float:
        """1.0 where nothing was said."""
        return len(self.right) / (len(self.right) + len(self.false)) if self.right or self.false else 1.0

    def add(self, other: Hits) -> None:
        """Count OTHER too."""
        for name in ("right", "missed", "false", "may", "aside"):
            getattr(self, name).extend(getattr(other, name))

    def __str__(self) -> str:
        may = f" (may {len(self.may)})" if self.may else ""
        return f"R {self.recall:.2f} P {self.precision:.2f}{may}"


class Verdicts:
    """Forecast and diff of one run, judged."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def forecast(self, baseline: bool) -> Hits:
        """The forecast of what was there before the reboot, with the boot's baseline or without."""
        base = self.run.baseline if baseline else None
        found = [one for one in outlook(self.run.pre, base).predictions if one.kind not in ELSEWHERE]
        hits, mine = Hits(), set[str]()
        for tunable in (one for one in TUNABLES if one.name not in self.run.gone):
            own = [one for one in found if fits(one.key, tunable.keys)]
            mine |= {one.key for one in found if fits(one.key, tunable.keys)}
            self._count(tunable, own, hits, baseline)
        others = [one for one in found if one.key not in mine and one.status in ("reverts", "changes")]
        hits.false += [one.key for one in others if not self._came(one)]
        return hits

    def _count(self, tunable: Tunable, own: list[Prediction], hits: Hits, baseline: bool) -> None:
        name, told = tunable.name, {one.status for one in own}
        lost, said = name in self.run.reverted, bool(told & {"reverts", "changes"})
        if said:
            came = name in self.run.changed and all(map(self._came, own))
            (hits.false if not came else hits.right if lost else hits.aside).append(name)
        elif lost and "may" in told and (not baseline or name in self.run.otherwise):
            hits.may.append(name)
        elif lost:
            hits.missed.append(name)

    def _came(self, one: Prediction) -> bool:
        """Whether what was foreseen is so in the snapshot after; also where nothing certain was said."""
        if one.status not in ("reverts", "changes"):
            return True
        came = self._rows.get(one.key, {}).get("before")
        return came == one.next or (came is not None and bool(agrees(came, text(one.next))))

    @cached_property
    def _rows(self) -> dict[str, dict[str, Any]]:
        """Tunables before the reboot; "before" of a row is what the boot after it left."""
        return dict(tunables(self.run.pre, self.run.post).rows)

    @cached_property
    def review(self) -> Review:
        """What diff says of before and after."""
        return review(self.run.pre, self.run.post)

    def listed(self) -> Hits:
        """The diff's changes: each tunable that reverted is one of them, and none that was set is left out."""
        assert self.review.diff is not None
        changes = {(change.section, *change.path) for change in self.review.diff.changes}
        hits = Hits()
        for name in sorted(self.run.reverted):
            (hits.right if any(starts(path, changes) for path in self._paths(name)) else hits.missed).append(name)
        return hits

    def regressions(self) -> Hits:
        """New findings above info: what they are about was set by hand, or is foretold by the stage."""
        hits = Hits()
        for finding in self.review.judgement.findings:
            if not self.review.counts(finding) or not reaches(finding.severity, "low"):
                continue
            about = self.about(finding)
            meant = finding.rule in self.run.after.says or bool(about and about <= self.run.reverted)
            (hits.right if meant else hits.false).append(f"{finding.rule} {finding.subject}")
        return hits

    def about(self, finding: Finding) -> set[str]:
        """Names of the tunables that a finding is about; of those, the reverted ones where it is about any."""
        found = {name for evidence in finding.evidence for name in self._named(tuple(map(str, evidence.path)))}
        return found & self.run.reverted or found

    def _named(self, path: tuple[str, ...]) -> set[str]:
        if path[:1] == ("derived",) and len(path) > 2:
            pattern, key = OF_TABLE.get(path[1], ""), path[2]
            return {t.name for t in TUNABLES if fits(key, (*t.keys, *t.also)) or fnmatchcase(t.name, pattern)}
        return {t.name for t in TUNABLES if any(path[: len(own)] == own for own in self._paths(t.name))}

    def _paths(self, name: str) -> list[tuple[str, ...]]:
        """Section and keys of a tunable's facts."""
        keys = next(t.keys for t in TUNABLES if t.name == name)
        return [tuple(row["path"]) for key, row in self._rows.items() if fits(key, keys)]


def fits(key: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of PATTERNS takes KEY."""
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def starts(path: tuple[str, ...], changes: set[tuple[str, ...]]) -> bool:
    """Whether a change is of PATH, of something below it, or of a table that holds it."""
    return any(change[: len(path)] == path or path[: len(change)] == change for change in changes)
