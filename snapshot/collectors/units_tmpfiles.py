"""Lines of tmpfiles.d that write below /sys or /proc, or make nodes and links below /dev.

tmpfiles.d(5). Fields: type with modifiers, path, mode, user, group, age, argument to the end of the line; - is none. Of
the files with one name the first folder's counts; files are read by name. Of two lines for one path the first counts,
but for w+.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ..regexes import regex
from ..sections.base import Origin
from ..sections.units import Tmpfile
from .base import Reading
from .secrets import REDACTED, is_secret
from .units_files import layered, text_of
from .units_lines import redacted

FOLDERS = ("/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d")
_FIELD = regex(r"(\"(?:[^\"\\]|\\.)*\"|'[^']*'|\S+)\s*")


def lines(reading: Reading, masked: dict[str, str]) -> dict[str, list[Tmpfile]]:
    """The lines by the path that they set. Files that are hidden go to MASKED."""
    found: dict[str, list[Tmpfile]] = {}
    for path in layered(reading, FOLDERS, ".conf", masked, "tmpfiles"):
        some = list(parse(text_of(reading, path, "tmpfiles"), path))
        if some:
            reading.config(path, "tmpfiles")
        for place, line in some:
            found.setdefault(place, []).append(line)
    return found


def parse(text: str, path: str) -> Iterator[tuple[str, Tmpfile]]:
    """(path that is set, line) of each line of a file that touches tuning. Other lines are skipped."""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        kind = line[:1]
        if kind not in ("w", "c", "b", "L"):
            continue
        fields, argument = _fields(line)
        if len(fields) < 2 or not fields[1].startswith(("/sys/", "/proc/") if kind == "w" else "/dev/"):
            continue
        if is_secret(posixpath.basename(fields[1])) and argument:
            line, argument = f"{line.removesuffix(argument)}{REDACTED}", REDACTED
        mode, user, group = ([f if f != "-" else "" for f in fields[2:5]] + ["", "", ""])[:3]
        yield fields[1], Tmpfile(
            type=fields[0], argument=redacted(argument) or None, mode=mode or None,
            owner=f"{user}:{group}" if user or group else None,
            origin=Origin(file=path, line=number, text=redacted(line)),
        )


def _fields(line: str) -> tuple[list[str], str]:
    fields, at = list[str](), 0
    while len(fields) < 6 and (found := _FIELD.match(line, at)):
        fields.append(found[1][1:-1] if found[1][0] in "\"'" else found[1])
        at = found.end()
    return fields, "" if line[at:] == "-" else line[at:]
