"""Parameters of kernel modules: what they are, and what modprobe.d, the command line and boot-time lines set.

modprobe.d(5), kernel/params.c. The command line wins over the files. Only modprobe reads the files: for what is built
in they do nothing. A module that is loaded from the initramfs takes the options that were there when that was made.
The options of the module nvidia are not shown in /sys: /proc/driver/nvidia/params has them, without NVreg_, and
4294967295 for one that is not set. The policy of ASPM is in section power, and core parameters that are sysctls too
(kernel/panic.c) are told as those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...records import replace
from .tunable import LOAD, Path, Same, Setter, Tunable
from .tunable_facts import Facts, Kind, at
from .tunable_setters import Setters
from .tunable_values import agrees, parameter_agrees

MODULE = Kind("module", ("modprobe", "insmod", "rmmod"), (("modules", "options"), ("cmdline", "")))
ELSEWHERE = {("pcie_aspm", "policy"), *(("kernel", name) for name in ("panic", "panic_on_warn", "panic_print"))}
BUILTIN = "it is built into the kernel, and modprobe never loads it"
STALE = "the initramfs is older than this file"
Parameters = dict[tuple[str, str], list[Setter]]


def modules(found: Setters) -> Iterator[Tunable]:
    """Each parameter that a module shows, and each that something sets."""
    facts, table, set_ = Facts(found, MODULE), found.table("modules"), _setters(found)
    for kind in ("loaded", "builtin"):
        for module, parts in table.get(kind, {}).items():
            for name in parts.get("parameters", {}):
                if (module, name) not in ELSEWHERE:
                    path: Path = ("modules", kind, module, "parameters", name)
                    yield from _tunable(facts, module, name, path, parameter_agrees, set_.pop((module, name), []))
    shown = at(table, ("loaded", "nvidia", "parameters")) or {}
    for name in at(found.table("nvidia"), ("driver", "parameters")) or ():
        if f"NVreg_{name}" not in shown:
            path = ("nvidia", "driver", "parameters", name)
            own = set_.pop(("nvidia", f"NVreg_{name}"), [])
            yield from _tunable(facts, "nvidia", f"NVreg_{name}", path, agrees, own)
    for (module, name), own in set_.items():
        kind = "builtin" if module in table.get("builtin", {}) else "loaded"
        path = ("modules", kind, module, "parameters", name)
        yield from _tunable(facts, module, name, path, parameter_agrees, own)


def _tunable(facts: Facts, module: str, name: str, path: Path, same: Same, own: list[Setter]) -> Iterator[Tunable]:
    file = f"/sys/module/{module}/parameters/{name}"
    for tunable in facts.one(f"{module}.{name}", path, file, setters=own, same=same):
        if tunable.absent:
            known = module in facts.found.table("modules").get(path[1], {})
            tunable.absent = "the module does not show it" if known else "the module is not loaded"
        yield tunable


def _setters(found: Setters) -> Parameters:
    """What sets each parameter, by module and name, - written _."""
    table, set_ = found.table("modules"), Parameters()
    stale = set(at(table, ("kernels", found.kernel, "initramfs", "stale")) or ())
    for module, options in table.get("options", {}).items():
        built_in = BUILTIN if module in table.get("builtin", {}) and module not in table.get("loaded", {}) else ""
        for name, option in options.items():
            made = [_option(one, at_, built_in, stale) for at_, one in enumerate(_files(option))]
            set_.setdefault((module, name), []).extend(made)
    known = {*table.get("options", {}), *table.get("builtin", {}), *table.get("loaded", {})}
    for module, name, word in found.words.parameters():
        if module in known:  # rd.* and the like have a dot too
            set_.setdefault((module, name), []).append(replace(word, rank=(LOAD, 1, *word.rank)))
    for action in found.of("module"):
        if len(action.where) > 1:
            set_.setdefault((action.where[0], action.where[1]), []).append(found.setter(action, action.value))
    return {key: own for key, own in set_.items() if own and key not in ELSEWHERE}


def _files(option: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The assignments of files, the one that counts last."""
    lost = [one for one in option.get("overridden", ()) if one["origin"]["file"] != "/proc/cmdline"]
    return [*lost, *([option["files"]] if "files" in option else ())]


def _option(one: Mapping[str, Any], place: int, built_in: str, stale: set[str]) -> Setter:
    old = one["origin"]["file"] in stale
    return Setter("module-option", one["origin"], one.get("value", ""), not old, (LOAD, 0, place), why_not=built_in,
                  doubt=STALE if old else "")
