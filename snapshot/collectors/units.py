"""What sets tunables at boot: units, udev, tmpfiles.d, cron, tuned, hooks and the scripts they run; and failed units.

systemd.unit(5), udev(7), tmpfiles.d(5), crontab(5), tuned.conf(5), limits.conf(5); each has a room of its own.
Files come first; systemctl is asked only for what no file tells (which unit failed, which runs), and only where systemd
runs. It needs no root.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from ..host.base import Command, Result
from ..sections.base import Origin
from ..sections.units import Runtime, Setting, Unit, Units
from . import units_clock, units_cron, units_hooks, units_limits, units_states, units_tmpfiles, units_tuned, units_udev
from .base import Reading, Reads
from .secrets import redacted_line
from .units_files import FOLDERS, PRESETS, look, presets
from .units_lines import redacted
from .units_scripts import ROOTS, Scripts
from .units_services import Services

_SYSTEMD = "/run/systemd/system"
_RC_LOCAL = ("/etc/rc.local", "/etc/rc.d/rc.local")
_IFUPDOWN = ("/etc/network/if-pre-up.d", "/etc/network/if-up.d")
_SETTINGS = (
    "/etc/default/cpufrequtils", "/etc/default/loadcpufreq", "/etc/default/cpupower", "/etc/default/irqbalance",
    "/etc/default/zramswap", "/etc/sysconfig/cpupower", "/etc/sysconfig/irqbalance", "/etc/ksmtuned.conf",
)
_TREES = (*FOLDERS, *PRESETS, *units_udev.FOLDERS, *units_tmpfiles.FOLDERS, *units_limits.FOLDERS)
READS = Reads(
    paths=(
        "/lib", *(path for tree in _TREES for path in (tree, f"{tree}/**")), *(f"{root}/**" for root in ROOTS),
        *units_limits.MAIN, units_limits.INIT, *units_cron.OWN, units_clock.TIMESYNC, units_clock.MARK,
        *units_clock.PIDS,
    ),
    commands=(units_states.LIST_UNITS.argv, units_clock.TRACKING.argv, units_tuned.ADM.argv),
    root="root's crontab, guests' hooks, and scripts that only root may read",
)


def collect(reading: Reading) -> Generator[tuple[Command, ...], Mapping[Command, Result], Units]:
    """The section. Of /etc, /opt and the like only scripts are read that a boot-time mechanism names."""
    catalogue, scripts, masked = look(reading), Scripts(reading), dict[str, str]()
    units = Services(reading, catalogue, scripts, presets(reading, "units")).look()
    reading.depends(("units",), ("scripts",))
    scripts.called(list(_RC_LOCAL), "rc.local", packaged=True)
    for folder in _IFUPDOWN:
        scripts.called([f"{folder}/{name}" for name in reading.list(folder, "scripts")], folder, packaged=True)
    cron, udev = units_cron.jobs(reading, scripts), units_udev.rules(reading, scripts, masked)
    tmpfiles = units_tmpfiles.lines(reading, masked)
    hooks = units_hooks.hooks(reading, scripts)
    systemd = reading.stat(_SYSTEMD, "units") is not None
    wanted = (units_states.LIST_UNITS,) if systemd else ()
    results = yield (*wanted, *units_clock.wanted(reading), *units_tuned.wanted(reading))
    tuned = units_tuned.collect(reading, scripts, results)
    states = units_states.told(results) if systemd else None
    return Units(
        failed=_failed(reading, states), units=_with_states(reading, units, states), scripts=scripts.table() or None,
        cron=cron or None, udev=udev or None, tmpfiles=tmpfiles or None, hooks=hooks or None, masked=masked or None,
        tuned=tuned, settings=_settings(reading) or None, limits=units_limits.collect(reading),
        clock=units_clock.clock(reading, results),
    )


def _failed(reading: Reading, states: dict[str, Runtime] | str | None) -> dict[str, Runtime] | None:
    if isinstance(states, str):
        reading.unread(("failed",), " ".join(units_states.LIST_UNITS.argv), states)
    if not isinstance(states, dict):
        return None
    return {name: state for name, state in sorted(states.items()) if state.active == "failed"}


def _with_states(
    reading: Reading, units: dict[str, Unit], states: dict[str, Runtime] | str | None
) -> dict[str, Unit]:
    if states is None:
        return units
    if isinstance(states, str):
        for name in units:
            reading.unread(("units", name, "runtime"), " ".join(units_states.LIST_UNITS.argv), states)
        return units
    return {
        name: unit.copy(runtime=states.get(name, units_states.INACTIVE))
        for name, unit in units.items()
    }


def _settings(reading: Reading) -> dict[str, dict[str, Setting]]:
    texts = ((path, reading.config(path, "settings", path)) for path in _SETTINGS)
    return {path: found for path, text in texts if text and (found := parse_settings(text, path))}


def parse_settings(text: str, path: str) -> dict[str, Setting]:
    """NAME=VALUE lines of a shell or environment file, the last of each name; other lines set nothing."""
    found = {}
    for number, raw in enumerate(text.split("\n"), 1):
        name, equals, value = raw.strip().removeprefix("export ").partition("=")
        if equals and name.isidentifier():
            shown = redacted_line(f"{name}={value.strip()}", redacted)
            origin = Origin(file=path, line=number, text=shown)
            found[name] = Setting(value=shown.partition("=")[2].strip("\"'"), origin=origin)
    return found
