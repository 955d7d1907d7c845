"""What makes the device nodes of nvidia-uvm at boot, from sections units and modules.

nvidia-modprobe(1), -u; modules-load.d(5); udev(7). The driver makes none itself: whoever first needs them runs
nvidia-modprobe, which a container cannot. To load the module alone does not always make its nodes. So that is a
perhaps, as is a command that depends on others, and a unit of which no folder tells that it is started.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...records import record
from ...regexes import regex
from ...sections.base import Origin
from ...sections.modules import Modules
from ...sections.units import Units
from .major_mentions import of_units

PERSISTENCED = "nvidia-persistenced.service"  # makes them with an option
UVM = ("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
_MODPROBE = regex(r"(?<![\w.-])nvidia-modprobe\b([^;&|\n\"']*)")
_OPTION = regex(r"\s-(?:[a-zA-Z]*u|-unified-memory)\b")
_DECIDES = regex(r"&&|\|\||\bif\b|\bcase\b|\bwhile\b")
_UVM_NAMES = ("nvidia_uvm", "nvidia-uvm")
_STARTS = ("enabled", "enabled-runtime", "generated", "static", "linked", "indirect")


@record(frozen=True)
class Maker:
    """What makes a node: HOW is udev, unit, script, cron, tmpfiles or modules-load; SURE if nothing else is needed."""

    how: str
    name: str
    sure: bool
    origin: Origin | None = None

    def row(self) -> dict[str, Any]:
        """As a table shows it."""
        return {"how": self.how, "name": self.name, **(self.origin.table() if self.origin else {})}


def makers(path: str, units: Units, modules: Modules | None) -> list[Maker]:
    """What makes PATH, one of UVM, at boot; [] is that nothing does which the sections show."""
    found = [*_udev(units, modules), *_units(units), *_cron(units)]
    made = (mention for mention in of_units(units) if mention.device == path)
    found += [Maker(m.kind, m.name, False, m.origin) for m in made]  # with a number, which may be the wrong one
    found += _any_node(units)
    if entry := _loads_uvm(modules):
        found.append(Maker("modules-load", "nvidia_uvm", False, entry))
    return found


def _any_node(units: Units) -> Iterator[Maker]:
    """Lines of scripts that make a node whose path is not written out: it may be any."""
    for path, script in (units.scripts or {}).items():
        for line in script.lines:
            if "mknod" in line.tools and "$" in line.text:
                yield Maker("script", path, False, line.origin)


def _udev(units: Units, modules: Modules | None) -> Iterator[Maker]:
    for file, rules in (units.udev or {}).items():
        for rule in rules:
            waits = any("uvm" in word for word in rule.match)  # for the module, which something else has to load
            sure = not waits or _loads_uvm(modules) is not None
            if any(_makes(word) for word in rule.set if word.startswith("RUN")):
                yield Maker("udev", file, sure and _free(rule.origin.text), rule.origin)


def _units(units: Units) -> Iterator[Maker]:
    for name, unit in units.units.items():
        starts = bool(unit.wanted_by) and unit.state in _STARTS
        if unit.state.startswith("masked"):
            continue
        for command in unit.commands or []:
            sure = starts and not command.fault and command.key.startswith("ExecStart")
            if _makes(command.text):
                yield Maker("unit", name, sure and _free(command.text), command.origin)
            yield from _scripts(units, command.scripts or [], sure)
        if name == PERSISTENCED and (starts or (unit.runtime and unit.runtime.active == "active")):
            yield Maker("unit", name, False)


def _cron(units: Units) -> Iterator[Maker]:
    for file, jobs in (units.cron or {}).items():
        for job in (job for job in jobs if job.schedule == "@reboot"):
            if _makes(job.text):
                yield Maker("cron", file, _free(job.text), job.origin)
            yield from _scripts(units, job.scripts or [], True)


def _scripts(units: Units, called: list[str], sure: bool) -> Iterator[Maker]:
    for name, script in (units.scripts or {}).items():
        for line in (line for line in script.lines if name in called and _makes(line.text)):
            alone = not line.depends and script.executable is not False
            yield Maker("script", name, sure and alone and _free(line.text), line.origin)


def _free(text: str) -> bool:
    """Whether nothing that stands before nvidia-modprobe in the line decides if it runs."""
    return not _DECIDES.search(text.partition("nvidia-modprobe")[0])


def _makes(text: str) -> bool:
    """Whether a command line runs nvidia-modprobe so that it makes the nodes."""
    return any(_OPTION.search(found[1]) for found in _MODPROBE.finditer(text))


def _loads_uvm(modules: Modules | None) -> Origin | None:
    entries = (modules.load or {}) if modules else {}
    return next((entries[name].origin for name in _UVM_NAMES if name in entries), None)
