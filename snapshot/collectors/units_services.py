"""The units that touch tuning, from their files.

A unit counts when a command of its names a tuning tool or calls a script that does, when it is one of the daemons and
boot services that tuning goes through (KNOWN), when the administrator gave it limits of files or locked memory, when
it is swap or a mount that neither systemd brings nor fstab, or when it starts such a unit. Of the commands only those
that touch tuning are kept, and all those of KNOWN; no environment and no user.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from ..errors import ParseError
from ..records import field, record
from ..regexes import regex
from ..sections.units import Command, Unit
from .addresses import without_addresses
from .base import Reading, decode
from .secrets import redacted_line
from .units_conf import Line, effective, last, parse, words
from .units_exec import WRAPPERS, commands, programs
from .units_files import LIMIT, Catalogue, Presets, preset_of, template, text_of
from .units_lines import may_tune, paths_in, redacted, tools_in
from .units_scripts import Scripts, is_packaged

KNOWN = frozenset(f"{name}.service" for name in (
    "systemd-sysctl", "systemd-modules-load", "systemd-udevd", "systemd-tmpfiles-setup", "systemd-tmpfiles-setup-dev",
    "nvidia-persistenced", "nvidia-fabricmanager", "nvidia-cdi-refresh", "nvidia-mig-manager", "tuned", "irqbalance",
    "ksmtuned", "ksm", "numad", "cpufrequtils", "loadcpufreq", "cpupower", "power-profiles-daemon", "tlp", "thermald",
    "auto-cpufreq", "rc-local", "cron", "crond", "chrony", "chronyd", "systemd-timesyncd", "ntp", "ntpd", "ntpsec",
    "openntpd", "networking", "systemd-networkd", "NetworkManager", "pve-guests", "lxc", "docker", "containerd",
    "openibd", "zramswap", "proxmox-boot-cleanup",
))
_GIVEN = ("/usr/lib/", "/lib/", "/run/systemd/generator", "/run/systemd/transient")
_PROGRAM = regex(r"^Exec\w+\s*=\s*[-@:+!|]*\"?([^\s\"]+)", re.MULTILINE)
_TRUE = ("yes", "true", "on", "1", "y", "t")
_INSTALL = ("WantedBy", "RequiredBy", "UpheldBy", "Alias", "Also", "DefaultInstance")


@record()
class Services:
    """Finds the units and builds them."""

    reading: Reading
    catalogue: Catalogue
    scripts: Scripts
    presets: Presets
    found: dict[str, Unit] = field(default_factory=dict)

    def look(self) -> dict[str, Unit]:
        """All units that touch tuning, by name."""
        names = {*self.catalogue.files, *self._instances()}
        for name in sorted(n for n in names if n.endswith((".service", ".swap", ".mount"))):
            self._service(name)
        for name in sorted(n for n in names if n.endswith((".timer", ".path", ".socket"))):
            self._trigger(name)
        return dict(sorted(self.found.items()))

    def _instances(self) -> set[str]:
        named = {*self.catalogue.wanted, *self.catalogue.instances}
        return {name for name in named if template(name) != name and self.catalogue.fragment(name)}

    def _service(self, name: str) -> None:
        lines = self._lines(name)
        if lines is None:
            return
        known, packaged = name in KNOWN, is_packaged(self.catalogue.fragment(name) or "")
        execs = (line for line in lines if line.key.startswith("Exec"))
        told = [command for line in execs if (command := self._command(line, name, packaged, known))]
        limited = any(_is_limit(line) and not is_packaged(line.file) for line in lines)
        if told or known or limited or self._mounts(name):
            self._add(name, lines, told)

    def _mounts(self, name: str) -> bool:
        file = self.catalogue.files.get(name, "")
        return name.endswith(".swap") or (name.endswith(".mount") and not file.startswith(_GIVEN))

    def _trigger(self, name: str) -> None:
        own = f"{posixpath.splitext(name)[0]}.service"
        packaged = is_packaged(self.catalogue.files.get(name, ""))
        if packaged and own not in self.found:
            return
        lines = self._lines(name) or []
        unit = last(lines, name.rpartition(".")[2].title(), "Unit")
        started = unit.value if unit else own
        if started in self.found:
            self._add(name, lines, [], triggers=started)

    def _lines(self, name: str) -> list[Line] | None:
        """What its files say, or would say were it not masked; None when they cannot be read (noted)."""
        file = self.catalogue.source(name)
        data = self._data(file, name)
        if file and data == b"":  # it masks the name
            self.catalogue.empty.add(file)
            file = self.catalogue.source(name)
            data = self._data(file, name)
        if file is None or data is None:
            return [] if file is None else None
        text, parts = decode(data), self.catalogue.parts(name)
        if not (parts or name in KNOWN or self._may_matter(name, file, text)):
            return []
        found = parse(text, file)
        for path in parts:
            found += parse(text_of(self.reading, path, "units", name), path)
        return effective(found)

    def _data(self, file: str | None, name: str) -> bytes | None:
        return self.reading.bytes(file, "units", name, limit=LIMIT) if file else b""

    def _may_matter(self, name: str, file: str, text: str) -> bool:
        """Whether a packaged service needs to be parsed: most run a program and no script."""
        plain = name.endswith(".service") and is_packaged(file) and "\\\n" not in text and " ; " not in text
        if not plain or may_tune(text):
            return True
        runs = _PROGRAM.findall(text)
        return any(posixpath.basename(p) in WRAPPERS for p in runs) or bool(self.scripts.called(runs, name, True))

    def _command(self, line: Line, unit: str, packaged: bool, known: bool) -> Command | None:
        """The command; None when it does not touch tuning and its unit is not KNOWN."""
        tools, fault, called = tools_in(line.value), None, list[str]()
        try:
            named = [p for words in commands(line.value) for p in programs(words)]
            called = self.scripts.called(named, unit, packaged)
        except ParseError:
            fault = "a quote is not closed"
        if not (tools or called or known):
            return None
        shown = redacted(line.value)
        return Command(
            key=line.key, text=shown, tools=tools or None, paths=paths_in(shown),
            scripts=called or None, fault=fault, origin=line.origin(),
        )

    def _add(self, name: str, lines: list[Line], told: list[Command], triggers: str | None = None) -> None:
        file = self.catalogue.fragment(name) or ""
        parts = self.catalogue.parts(name)
        for path in (self.catalogue.source(name) or file, *parts):
            text_of(self.reading, path, "units", name, listed=True)
        install = [f"{line.key}={line.value}" for line in lines if line.section == "Install" and line.key in _INSTALL]
        kind, remains = last(lines, "Service", "Type"), last(lines, "Service", "RemainAfterExit")
        self.found[name] = Unit.make({
            "file": file, "drop_ins": parts or None,
            "state": self.catalogue.state(name, file, lines),
            "preset": preset_of(name, self.presets) if install else None,
            "type": kind and kind.value, "remain_after_exit": remains and remains.value.lower() in _TRUE,
            "triggers": triggers, "install": install or None, "wanted_by": self._wanted_by(name),
            "after": words(lines, "Unit", "After"), "before": words(lines, "Unit", "Before"),
            "needs": words(lines, "Unit", "Requires", "BindsTo", "Requisite", "Wants"),
            "conditions": _conditions(lines),
            "limits": {line.key: line.setting() for line in lines if _is_limit(line)} or None,
            "mounts": _mounted(lines),
            "commands": told or None,
        })

    def _wanted_by(self, name: str) -> list[str] | None:
        names = [name, *self.catalogue.names_of.get(name, ())]
        return sorted(set().union(*(self.catalogue.wanted.get(n, ()) for n in names))) or None


def _conditions(lines: Iterable[Line]) -> list[str] | None:
    wanted = (line for line in lines if line.section == "Unit" and line.key.startswith(("Condition", "Assert")))
    return [f"{line.key}={redacted_line(line.value, redacted)}" for line in wanted] or None


def _mounted(lines: Iterable[Line]) -> list[str] | None:
    return [f"{line.key}={without_addresses(redacted(line.value))}" for line in lines if _is_mount(line)] or None


def _is_mount(line: Line) -> bool:
    return line.section in ("Mount", "Swap") and line.key in ("What", "Where", "Type", "Options", "Priority")


def _is_limit(line: Line) -> bool:
    return line.section == "Service" and line.key in ("LimitMEMLOCK", "LimitNOFILE", "LimitNPROC")
