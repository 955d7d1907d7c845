"""The lines of an LXC configuration, from /var/lib/lxc/ID/config and the files that it includes.

lxc.container.conf(5); parse_line in src/lxc/confile.c.

* A line that does not begin with ``lxc.``, blanks aside, is skipped; one that does needs a ``=``, or LXC
  refuses the whole file. A line whose first sign is ``#`` is a comment; behind a value there are none.
* Blanks around key and value go (CR too at the end), then one pair of quotes round the value; quotes are kept
  here, since ``sections.lxc.unquoted`` takes them away where a value is understood.
* What ``lxc.include`` names stands in place of the line; ``lxc_includes`` puts it there.
"""

from __future__ import annotations

from ..sections.base import Origin
from ..sections.lxc import Ignored
from .lxc_part import Entry, Line, redacted_line


def parse(text: str, file: str) -> list[Entry]:
    """The lines of FILE in order, comments and empty ones left out, those that do not count as Ignored."""
    entries = (_entry(redacted_line(line), file, number) for number, line in enumerate(text.split("\n"), 1))
    return [entry for entry in entries if entry is not None]


def _entry(text: str, file: str, number: int) -> Entry | None:
    line = text.lstrip(" \t").rstrip(" \t\r")
    if not line or line.startswith("#"):
        return None
    origin = Origin(file=file, line=number, text=text)
    if not line.startswith("lxc."):
        return Ignored(why="LXC: does not begin with lxc.", origin=origin)
    key, separator, value = line.partition("=")
    if not separator:
        return Ignored(why="LXC: has no =; it refuses the file, the start fails", origin=origin)
    return Line(key.rstrip(" \t"), value.lstrip(" \t"), origin)
