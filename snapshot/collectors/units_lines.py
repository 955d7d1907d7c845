"""Which lines of a script or command touch tuning, from their text alone.

A line counts when it names a tool that changes what the kernel or a device does, or writes below /sys or /proc. A
script may name the place in one line and write in another (``for f in /sys/...; do echo 1 > $f``): both are kept. A
guard or a query (``command -v setpci``) counts too: it cannot be told apart without a shell.
"""

from __future__ import annotations

import re

from ..regexes import regex
from ..sections.base import Origin
from ..sections.units import TuningLine
from .secrets import REDACTED
from .secrets import redacted as without_secrets

LONGEST = 4096  # signs of a line that are looked at
_NAMES = (
    "setpci", "nvidia-smi", "nvidia-persistenced", "nvidia-modprobe", "nvidia-settings", "nvidia-ctk",
    "nvidia-mig-parted", "nv-fabricmanager", "rocm-smi", "amd-smi", "cpupower", "cpufreq-set", "auto-cpufreq",
    "x86_energy_perf_policy", "wrmsr", "powertop", "sysctl", "systemd-sysctl", "tuned", "tuned-adm", "irqbalance",
    "set_irq_affinity", "ethtool", "mlxconfig", "mlxreg", "mlnx_qos", "mlnx_tune", "cma_roce_mode", "hdparm",
    "blockdev", "nvme", "modprobe", "insmod", "rmmod", "mknod", "swapoff", "swapon", "zramctl", "hugeadm", "ksmtuned",
    "ksmctl",
)
_TOOL = regex(rf"(?<![\w.$-])(?:set_irq_affinity\w*(?:\.sh)?|{'|'.join(_NAMES)})(?![\w./=-])")
_SIGNS = (*_NAMES, "/sys/", "/proc/", "mtu", "txq")  # of which a line that touches tuning has one
_IP = regex(r"(?<![\w.-])ip\s+(?:-\S+\s+)*l(?:ink)?\s+(?:set|change)\s.{0,200}?\b(?:mtu|txqueuelen|txqlen)\b")
_PATH = regex(r"/(?:sys|proc)/[\w./*?\[\]{}$:,@+-]+")
_WRITE = regex(
    r"(?:(?<![0-9&=-])>{1,2}\|?\s*|\btee\s+(?:-\S+\s+)*|\bof=)[\"']?/(?:sys|proc)/(?!self/|\$\$|[0-9])"
    r"|/(?:sys|proc)/[^\"']*[\"']\s*,\s*[\"'][wa]|/(?:sys|proc)/[^\"']*[\"']\)?\.write_"
)
_WRITE_THERE = regex(r"\b(?:echo|printf|cat)\b[^|]*?(?<![0-9&=-])>\s*[\"']?\$|\btee\s+(?:-\S+\s+)*[\"']?\$")
_NAMED = regex(r"\s*(?:for\s|while\s|(?:export\s+|local\s+|readonly\s+|my\s+)?[$@]?\w+\s*=)")
_BEARER = regex(r"\b(Authorization:\s*|Bearer\s+|Basic\s+)[^\s\"']+(?:\s+[^\s\"']+(?=[\"']))?", re.IGNORECASE)
_USER = regex(
    r"\b((?:sudo\b[^|;&]{0,80}?\s(?:-u|--user)[ =]?|(?:su|runuser)\s+(?:-[lu]?\s+|--login\s+)?))(?!root\b|-)[\w.-]+"
)


def redacted(text: str) -> str:
    """TEXT without passwords, keys, tokens and users: as in other sections, and what shell commands carry besides."""
    return _USER.sub(r"\1<user>", _BEARER.sub(rf"\1{REDACTED}", without_secrets(text[:LONGEST])))


def may_tune(text: str) -> bool:
    """Whether any line of TEXT can touch tuning: a quick look, which many a text passes that does not."""
    return any(sign in text for sign in _SIGNS)


def tools_in(line: str, loop: bool = False) -> list[str]:
    """The tools that LINE names, sorted, with write and target; empty when it does not touch tuning.

    LOOP: elsewhere in the script a place below /sys or /proc is named, so that a redirection to a variable may write
    there.
    """
    line = line[:LONGEST]
    found = set(_TOOL.findall(line))
    if _IP.search(line):
        found.add("ip")
    here = "/sys/" in line or "/proc/" in line
    if (here and _WRITE.search(line)) or ((here or loop) and _WRITE_THERE.search(line)):
        found.add("write")
    elif here and _NAMED.match(line):
        found.add("target")
    return sorted(found)


def paths_in(line: str) -> list[str] | None:
    """The paths and globs below /sys and /proc that LINE names, sorted; None when there are none."""
    return sorted(set(_PATH.findall(line))) or None


def tuning_lines(text: str, path: str) -> list[TuningLine]:
    """The lines of the script at PATH that touch tuning, in order; none when they only name places. Any text is one."""
    signs = [sign for sign in _SIGNS if sign in text]
    loop = "/sys/" in signs or "/proc/" in signs
    found = []
    for number, line in logical_lines(text) if signs else ():
        near = any(sign in line for sign in signs) or (loop and "$" in line)
        tools = tools_in(line, loop) if near and line[0] != "#" else []
        if tools:
            shown = redacted(line)
            origin = Origin(file=path, line=number, text=shown)
            found.append(TuningLine(text=shown, tools=tools, paths=paths_in(shown), origin=origin))
    return found if any(line.tools != ["target"] for line in found) else []


def logical_lines(text: str) -> list[tuple[int, str]]:
    """(number of its first line, text) of each line that is not empty, lines that end in a backslash joined."""
    found = []
    start, parts = 0, list[str]()
    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        line = raw.strip()
        start = start or number
        parts.append(line.removesuffix("\\").rstrip())
        if not line.endswith("\\") or (len(parts) == 1 and line.startswith("#")):
            joined = " ".join(filter(None, parts))
            if joined:
                found.append((start, joined[:LONGEST]))
            start, parts = 0, []
    if joined := " ".join(filter(None, parts)):
        found.append((start, joined[:LONGEST]))
    return found
