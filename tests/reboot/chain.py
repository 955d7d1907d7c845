"""Runs the chain of boots, and what each of them left, for the tests to judge."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from shutil import copy, copytree, rmtree

from snapshot.document import Snapshot

from .image import HERE, Image
from .machine import Machine
from .stages import KEEP, Stage
from .tunables import MOVES, NAMES, as_json, chosen


@dataclass
class Run:
    """The reboot from BEFORE to AFTER: what was set by hand, and what the next boot found."""

    before: Stage
    after: Stage
    _old: Path
    _new: Path

    @property
    def name(self) -> str:
        """Told by what the stage after it finds."""
        return self.after.name

    @cached_property
    def baseline(self) -> Snapshot:
        """What the boot before left, before anything was set by hand."""
        return Snapshot.load(str(self._old / "boot.snap.toml"))

    @cached_property
    def pre(self) -> Snapshot:
        """Before the reboot."""
        return Snapshot.load(str(self._old / "pre.snap.toml"))

    @cached_property
    def post(self) -> Snapshot:
        """After the reboot."""
        return Snapshot.load(str(self._new / "boot.snap.toml"))

    @cached_property
    def touched(self) -> frozenset[str]:
        """Names of the tunables that are not what the boot had left."""
        repaired = self._old / "untouched.json"
        boot = _values(repaired if repaired.exists() else self._old / "boot.json")
        return frozenset(name for name in NAMES if boot[name] != self._pre[name]) - self.gone

    @cached_property
    def changed(self) -> frozenset[str]:
        """Names of those that are another value after the reboot, set by hand or not."""
        return frozenset(name for name in NAMES if self._pre[name] != self._post[name]) - self.gone

    @property
    def reverted(self) -> frozenset[str]:
        """Names of those that were set by hand, and the reboot undid it."""
        return self.touched & self.changed

    @cached_property
    def gone(self) -> frozenset[str]:
        """Names of those that the host does not have after the reboot: they are not judged."""
        return frozenset(name for name in NAMES if not self._post[name])

    @cached_property
    def _pre(self) -> dict[str, str]:
        return _values(self._old / "pre.json")

    @cached_property
    def _post(self) -> dict[str, str]:
        return _values(self._new / "boot.json")

    @cached_property
    def otherwise(self) -> frozenset[str]:
        """Tunables that the next boot left otherwise than this one had."""
        boot = _values(self._old / "boot.json")
        return frozenset(name for name in NAMES if boot[name] != self._post[name])

    @property
    def asked(self) -> frozenset[str]:
        """Names of the tunables that were to be set."""
        return frozenset(chosen(self.before.seed or 0)) - self.gone


def runs(folder: Path, stages: tuple[Stage, ...]) -> list[Run]:
    """The runs of a chain whose boots left their results below FOLDER."""
    return [Run(old, new, folder / old.name / "result", folder / new.name / "result") for old, new in pairwise(stages)]


def drive(image: Image, snap: Path, folder: Path, stages: tuple[Stage, ...]) -> Machine:
    """Boots a chain in FOLDER, with SNAP as the product. DiedError when a boot never came to its hook."""
    work = folder / f"machine of {stages[0].name}"
    work.mkdir(parents=True)
    machine = Machine(work, folder, image.disk)
    for stage in stages:
        job = work / "job"
        _job(stage, image, snap if stage is stages[0] else None, job)
        machine.boot(stage.name, job)
    return machine


def _job(stage: Stage, image: Image, snap: Path | None, job: Path) -> None:
    """The folder of a boot's job."""
    rmtree(job, ignore_errors=True)
    copytree(HERE / "hooks", job)
    copy(HERE / "guest/etc/pve/lxc/101.conf", job)
    if snap:
        copy(snap, job / "snap")
    (job / "tunables.json").write_text(as_json())
    names = () if stage.seed is None else chosen(stage.seed)
    words = {"TUNE": shlex.join(names), "KEEP": shlex.join(kept(stage)), "RECORD": "1" if stage.record else ""}
    (job / "stage.env").write_text("".join(f"{key}={shlex.quote(value)}\n" for key, value in words.items()))
    (job / "arrive.sh").write_text(stage.arrive)
    (job / "leave.sh").write_text(stage.leave + _choose(stage, image) + _plant(stage.fault))


def kept(stage: Stage) -> tuple[str, ...]:
    """Names of the tunables that the operator has files for: every second one that can be written down by itself."""
    names = () if stage.seed is None or stage.leave != KEEP else chosen(stage.seed)
    return tuple(name for name in names if name not in ("eth0 IRQ affinity", *MOVES.values()))[::2]


def _choose(stage: Stage, image: Image) -> str:
    return f'ask {stage.how} "$(entry {shlex.quote(image.kernels[stage.next])})"\n' if stage.how else ""


def _plant(fault: str) -> str:
    return f"mkdir -p /var/lib/rig; echo {fault} > /var/lib/rig/fault\n" if fault else ""


def _values(path: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(path.read_text())
    return found
