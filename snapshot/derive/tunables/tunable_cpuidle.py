"""Idle states of the CPUs: switched off or not.

Documentation/admin-guide/pm/cpuidle.rst, Documentation/ABI/testing/sysfs-devices-system-cpu, kernel-parameters.txt,
cpupower-idle-set(1). A state that the driver does not offer cannot be entered, as if it were switched off: words of the
command line that take states away set them to off here. ``processor.max_cstate`` is acpi_idle's alone. The states'
numbers are not recorded: they follow from residency and latency, which grow with the number, unless two are equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...records import replace
from .tunable import Default, Setter, Tunable
from .tunable_cpus import IDLE, Asked
from .tunable_facts import Facts, Kind
from .tunable_setters import Setters
from .tunable_values import number
from .tunable_words import meaning

KIND = Kind("cpuidle", ("cpupower", "tuned", "tuned-adm", "powertop"), (("cmdline", ""),))
NUMBER = "which number the state has is not known"
_DISABLE = {"disable": "1", "enable": "0"}
STATUS = "Linux: Documentation/ABI/testing/sysfs-devices-system-cpu, default_status"
States = Mapping[str, Mapping[str, Any]]


def cpuidle(found: Setters) -> Iterator[Tunable]:
    """A tunable for each state that can be switched off."""
    facts, states = Facts(found, KIND), found.table("cpuidle").get("states", {})
    order = numbers(states)
    for name, state in states.items():
        asked = _asked(found, name, state, order.get(name))
        for tunable in asked.tunables(facts, f"{name}/disable", ("cpuidle", "states", name, "disabled"), bool):
            if "enabled_at_start" in state:
                tunable.default = Default(not state["enabled_at_start"], STATUS)
            yield tunable


def numbers(states: States) -> dict[str, int]:
    """The number of each state; none of those that cannot be told from another."""
    depth = {name: (state.get("residency_us", 0), state.get("latency_us", 0)) for name, state in states.items()}
    order = sorted(depth, key=lambda name: depth[name])
    alone = [name for name in order if [*depth.values()].count(depth[name]) == 1]
    return {name: order.index(name) for name in alone}


def _asked(found: Setters, name: str, state: Mapping[str, Any], index: int | None) -> Asked:
    """What switches one state off, or on."""
    places = range(len(found.table("cpuidle")["states"])) if index is None else (index,)
    files, change = (f"state{place}/disable" for place in places), _unsure if index is None else _sure
    asked = Asked(found, IDLE, *files, change=change)
    asked.put("all", *_limits(found, name, index))
    for action in found.of("cpupower"):
        option = action.where[1] if len(action.where) > 1 else ""
        which = option.removeprefix("idle-state ")
        if option == "idle-latency":
            asked.put(action.where[0], found.setter(action, _by_latency(state, action.value)))
        elif which != option and (index is None or which in ("*", str(index)) or number(which) is None):
            doubt = "" if which == "*" or number(which) is not None else NUMBER
            asked.put(action.where[0], found.setter(action, _DISABLE.get(action.value or ""), doubt))
    return asked


def _sure(made: Setter) -> Setter:
    return made


def _unsure(made: Setter) -> Setter:
    """The same of a state whose number is not known; what the command line takes away goes by names."""
    return made if made.how == "cmdline" else replace(made, certain=False, doubt=NUMBER)


def _by_latency(state: Mapping[str, Any], limit: str | None) -> str | None:
    """cpupower idle-set -D: states with this latency or more go off, the others on."""
    most = number(limit or "")
    return None if most is None or "latency_us" not in state else str(int(state["latency_us"] >= most))


def _limits(found: Setters, name: str, index: int | None) -> list[Setter]:
    """The words of the next command line that take this state away."""
    words, driver, depth = found.words, found.table("cpuidle").get("driver"), re.match(r"C([0-9]{1,2})", name)
    deep = index is None or index > 1
    idle = {"poll": index != 0, "halt": deep}
    taken = [word for word in words.get("idle") if idle.get(word.value or "")]
    taken += [word for word in words.get("cpuidle.off") if deep and word.value in ("", "1")]
    for word in words.get("processor.max_cstate") if driver == "acpi_idle" else ():
        most = number(word.value or "")
        taken += [word] if depth and most is not None and int(depth[1]) > max(most, 1) else []
    for word in words.get("intel_idle.max_cstate") if driver == "intel_idle" else ():
        most = number(word.value or "")
        taken += [replace(word, certain=False)] if index and most and index > most else []
    return [meaning(word, "1") for word in taken]
