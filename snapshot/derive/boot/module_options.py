"""Options of modprobe.d against the parameters that the loaded modules have: from section modules.

modprobe.d(5), kernel/params.c. MODULE.PARAMETER= of the kernel's command line wins over the files. The kernel hands
options only to what modprobe loads: a part of the kernel never gets those of the files. A module from an initial RAM
disk has the options that were in that. Parameters without read permission do not show, nor do words that a module does
not know; and of two different texts nothing is said, since some modules rewrite theirs. The options of NVIDIA's modules
are told by rules of their own.

Row keys, by "MODULE PARAMETER"; a key without a value is missing:
    module, parameter
    wanted           what the files ask for
    value            what the module has
    line             {file, line, text} that counts; file: its file
    applied          the module has what is wanted
    builtin          the module is part of the kernel
    stale            the initial RAM disk of the running kernel is older than the file
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..facts import Derived
from ..tunables.tunable_values import number, parameter_agrees

if TYPE_CHECKING:
    from ...document import Snapshot

OWN_RULES = regex(r"nvidia(?:_(?:uvm|modeset|drm|peermem))?")
WIDTHS = (1 << 8, 1 << 16, 1 << 32, 1 << 64)


def module_options(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each option of a file whose parameter the running kernel shows; BEFORE adds nothing."""
    del before
    if fact := after.unread("modules", ("options",)):
        return Derived({}, [_unknown("", fact.source, fact.why)])
    found, section = Derived(), after.table("modules")
    running = section.get("kernels", {}).get(after.table("kernel").get("release") or after.meta.kernel, {})
    stale = running.get("initramfs", {}).get("stale", ())
    for module, parameter, option in _from_files(section):
        key, kind = f"{module} {parameter}", "loaded" if module in section.get("loaded", {}) else "builtin"
        path = (kind, module, "parameters", parameter)
        value = section.get(kind, {}).get(module, {}).get("parameters", {}).get(parameter)
        fact = after.unread("modules", path) if value is None and module in section.get(kind, {}) else None
        if fact:
            found.unknown.append(_unknown(key, fact.source, fact.why))
        elif value is not None:
            line = option["origin"]
            found.rows[key] = {"module": module, "parameter": parameter, "value": value, "line": line,
                               "file": line["file"], "wanted": option.get("value", ""), "builtin": kind == "builtin",
                               "stale": line["file"] in stale, **_applied(value, option.get("value"))}
    return found


def _unknown(subject: str, source: str, why: str) -> dict[str, Any]:
    return {"subject": subject, "what": "whether an option is in effect", "source": source, "why": why}


def _from_files(section: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Module, parameter and the assignment of each option that files have the last word on."""
    for module, options in section.get("options", {}).items():
        for parameter, option in options.items() if not OWN_RULES.fullmatch(module) else ():
            if "files" in option and "cmdline" not in option:
                yield module, parameter, option["files"]


def _applied(value: str, written: str | None) -> dict[str, bool]:
    """Whether VALUE is what is WRITTEN; empty where that cannot be told."""
    agrees = parameter_agrees(value, written or "")
    shown, wanted = number(value), number(written or "")
    if shown is None or wanted is None:
        return {"applied": agrees} if agrees or (agrees is False and value in ("Y", "N")) else {}
    unsigned = wanted < 0 and any(shown == wanted % width for width in WIDTHS)
    return {"applied": bool(agrees) or unsigned}
