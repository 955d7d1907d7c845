"""Writes below /sys and /proc as what they set: a sysctl, the affinity of an interrupt, or a file.

Documentation/admin-guide/sysctl/index.rst, sysctl(8): the name of a key has dots for the slashes of its path; a dot
within a part is written /. tmpfiles and udev act while devices are still being found.
"""

from __future__ import annotations

import re

from ...records import replace
from ...regexes import regex
from .action import Effect
from .actions_words import Word

TOPS = ("/sys/", "/proc/")
_IRQ = regex(r"/proc/irq/[^/]+/smp_affinity(?:_list)?|/proc/irq/default_smp_affinity")
_CORE = ("/sys/kernel/", "/proc/sys/kernel/", "/proc/sys/vm/", "/proc/sys/fs/", "/sys/devices/system/cpu/",
         "/sys/devices/system/node/")  # there from the start, whatever is found later


def sysctl_key(name: str) -> str:
    """NAME as sysctl takes it, dots or slashes, with dots; the first separator decides."""
    first = re.search(r"[./]", name)
    if not first or first[0] == ".":
        return name
    return ".".join(part.replace(".", "/") for part in name.strip("/").split("/"))


def written(path: str, value: str | None) -> Effect:
    """What a write of VALUE to PATH, which may be a pattern, sets."""
    if path.startswith("/proc/sys/"):
        return Effect("sysctl", (sysctl_key(path.removeprefix("/proc/sys")),), value)
    return Effect("irq" if _IRQ.fullmatch(path) else "file", (path,), value)


def write(word: Word, value: str | None, redirected: bool, bash: bool) -> Effect | None:
    """What a write to the file WORD sets; None when it is not below /sys or /proc.

    A redirection to a pattern finds no file in sh, and in bash only where it matches one (Bash Reference Manual,
    Bash POSIX Mode); a quoted pattern never matches.
    """
    if not word.glob.startswith(TOPS):
        return None
    effect = written(word.glob, value)
    if not word.known:
        return replace(effect, doubt=f"its path is not known: {word.text}")
    signs = any(sign in word.text for sign in "*?[")
    if signs and not (word.pattern or word.each):
        return replace(effect, why_not="its path is a pattern in quotes")
    if word.pattern and redirected:
        doubt = "a redirection to a pattern works only where it matches one file"
        return replace(effect, doubt=doubt) if bash else replace(effect, why_not="sh redirects to no pattern")
    return effect


def early(path: str) -> str:
    """Why a write to PATH while devices are still being found may come too soon; empty when it cannot."""
    core = path.startswith(_CORE) and "/cpufreq/" not in path
    return "" if core else "it is written early in the boot, perhaps before the driver is there"
