"""udev rules that touch tuning, from rules.d.

udev(7). A rule is a line of KEY{ATTRIBUTE}OP"VALUE" pairs separated by commas; a backslash at the end joins lines.
Of the files with one name the first folder's counts, an empty one or a link to /dev/null hides the others. Packaged
rules are recorded for accelerators alone, which is where they decide about nodes.
"""

from __future__ import annotations

import re

from ..regexes import regex
from ..sections.base import Origin
from ..sections.units import UdevRule
from .base import Reading
from .secrets import REDACTED, is_secret
from .units_exec import shell_programs
from .units_files import layered, text_of
from .units_lines import logical_lines, redacted, tools_in
from .units_scripts import Scripts

FOLDERS = ("/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d")
_HOME = "/usr/lib/udev"  # of programs that are named without a path
_PAIR = regex(r"([A-Z_]+(?:\{[^}]{0,200}\})?)\s*(==|!=|\+=|-=|:=|=)\s*([ei]?\"(?:[^\"\\]|\\.)*\")")
_ACCELERATOR = regex(r"nvidia|amdgpu|kfd|render|drm|accel|vfio|infiniband|uverbs|rdma|habana", re.IGNORECASE)
_VENDOR = regex(r"nvidia|amdgpu|rocm|kfd|habana", re.IGNORECASE)
_RIGHTS = ("MODE", "OWNER", "GROUP", "SYMLINK")
_SETS = ("ATTR{", "SYSCTL{", "RUN", "PROGRAM", "IMPORT{program}")


def rules(reading: Reading, scripts: Scripts, masked: dict[str, str]) -> dict[str, list[UdevRule]]:
    """The rules by file. Files that are hidden go to MASKED."""
    found = {}
    for path in layered(reading, FOLDERS, ".rules", masked, "udev"):
        if path.startswith(FOLDERS[-1]) and not _VENDOR.search(path):
            continue
        kept = [_called(rule, scripts, path) for rule in parse(text_of(reading, path, "udev", path), path)]
        if kept:
            reading.config(path, "udev", path)
            found[path] = kept
    return found


def parse(text: str, path: str) -> list[UdevRule]:
    """The rules of a file that touch tuning, in order. Any text has some or none."""
    found = []
    jumps: dict[str, list[str]] = {}  # label that is to come -> conditions of the rules that jump there
    for number, line in logical_lines(text):
        pairs = [(key, sign, value) for key, sign, value in _PAIR.findall(line)] if line[0] != "#" else []
        match = [_shown(*one) for one in pairs if one[1] in ("==", "!=")]
        given = [(key, sign, value) for key, sign, value in pairs if sign not in ("==", "!=")]
        if any(_touches(key, line) for key, _, _ in given):
            told = [_shown(*one) for one in given]
            tools = sorted({tool for word in told for tool in tools_in(word)})
            origin = Origin(file=path, line=number, text=redacted(line))
            passed = [conditions for rules in jumps.values() for conditions in rules]
            found.append(UdevRule(match=match, set=told, tools=tools or None, jumps=passed or None, origin=origin))
        for key, _, value in given:
            if key == "GOTO":
                jumps.setdefault(value, []).append(", ".join(match))
            elif key == "LABEL":
                jumps.pop(value, None)
    return found


def _shown(key: str, sign: str, value: str) -> str:
    """A pair without its secret, which the name in ENV{NAME} tells."""
    return f"{key}{sign}{REDACTED if is_secret(key.partition('{')[2].rstrip('}')) else redacted(value)}"


def _touches(key: str, line: str) -> bool:
    if key in _RIGHTS:
        return bool(_ACCELERATOR.search(line))
    return key.startswith(_SETS) or (key == "NAME" and "net" in line)


def _called(rule: UdevRule, scripts: Scripts, path: str) -> UdevRule:
    runs = [word.split('"')[1] for word in rule.set if word.startswith(("RUN+", "RUN=", "RUN:", "RUN{program}"))]
    named = [p for run in runs for p in shell_programs(run)]
    called = scripts.called([p if "/" in p else f"{_HOME}/{p}" for p in named], path)
    return rule.copy(scripts=called or None)
