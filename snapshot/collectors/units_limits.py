"""Resource limits, from limits.conf, systemd's system.conf and /proc/1/limits.

limits.conf(5): domain, type, item, value; # begins a comment; the files of limits.d are read after it, by name. Only
memlock and nofile are recorded. systemd-system.conf(5): DefaultLimit*= of [Manager]; drop-ins are read by name, behind
the main file, of which the first folder's counts. proc_pid_limits(5): a table of fixed columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..regexes import regex
from ..sections.base import Origin
from ..sections.units import Limit, Limits, ProcessLimit, Setting
from .base import Reading, decode, why
from .units_conf import Line
from .units_conf import parse as parse_conf
from .units_files import layered, text_of

PAM, PAM_FOLDER, INIT = "/etc/security/limits.conf", "/etc/security/limits.d", "/proc/1/limits"
_TOPS = ("/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd")
MAIN = tuple(f"{top}/system.conf" for top in _TOPS)
FOLDERS = tuple(f"{top}/system.conf.d" for top in _TOPS)
_ITEMS: dict[str, Literal["memlock", "nofile"]] = {"memlock": "memlock", "nofile": "nofile"}
_DOMAIN = regex(r"[*%]|root|[@%][\w.-]+|@?[0-9]*:?[0-9]*")
_ROW = regex(r"Max (open files|locked memory) +(\w+) +(\w+)")


def collect(reading: Reading) -> Limits:
    """All three."""
    names = reading.list(PAM_FOLDER, "limits", "sessions")
    paths = [PAM, *(f"{PAM_FOLDER}/{name}" for name in names if name.endswith(".conf"))]
    sessions = [limit for path in paths for limit in _pam(reading, path)]
    init = _init(reading)
    return Limits(
        sessions=sessions or None, defaults=_defaults(reading) or None,
        init_nofile=init.get("open files"), init_memlock=init.get("locked memory"),
    )


def _init(reading: Reading) -> dict[str, ProcessLimit]:
    data = reading.attempt(INIT)
    found = {} if isinstance(data, OSError) else parse_init(decode(data))
    for name, fact in (("open files", "init_nofile"), ("locked memory", "init_memlock")):
        if name not in found:
            reason = why(data) if isinstance(data, OSError) else "no such line in it"
            reading.unread(("limits", fact), INIT, reason)
    return found


def _pam(reading: Reading, path: str) -> list[Limit]:
    return list(parse_pam(text_of(reading, path, "limits", "sessions", listed=True), path))


def parse_pam(text: str, path: str) -> Iterator[Limit]:
    """The memlock and nofile lines of a file, in order; other lines are skipped."""
    for number, raw in enumerate(text.split("\n"), 1):
        words = raw.partition("#")[0].split()
        item = _ITEMS.get(words[2]) if len(words) == 4 else None
        if item:
            domain = words[0] if _DOMAIN.fullmatch(words[0]) else "<user>"
            shown = " ".join((domain, *words[1:]))
            origin = Origin(file=path, line=number, text=shown)
            yield Limit(domain=domain, type=words[1], item=item, value=words[3], origin=origin)


def _defaults(reading: Reading) -> dict[str, Setting]:
    main = next((path for path in MAIN if reading.stat(path, "limits", "defaults")), None)
    parts = layered(reading, FOLDERS, ".conf", {}, "limits", "defaults")
    found: dict[str, Setting] = {}
    for path in [main, *parts] if main else parts:
        for line in parse_conf(text_of(reading, path, "limits", "defaults", listed=True), path):
            _default(found, line)
    return found


def _default(found: dict[str, Setting], line: Line) -> None:
    if line.section == "Manager" and line.key in ("DefaultLimitNOFILE", "DefaultLimitMEMLOCK", "DefaultLimitNPROC"):
        found[line.key] = line.setting()
        if not line.value:
            del found[line.key]


def parse_init(text: str) -> dict[str, ProcessLimit]:
    """Soft and hard limit of open files and locked memory; empty when TEXT is no such table."""
    return {name: ProcessLimit(soft=soft, hard=hard) for name, soft, hard in _ROW.findall(text)}
