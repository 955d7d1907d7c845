"""Files such as those of modprobe.d(5) and modules-load.d(5), which one of the same name in a better place hides.

kmod's conf_files_list() and systemd's conf_files_list_strv() agree: of a name only the file of the first directory
counts, even when it is empty or a link to /dev/null or nowhere; what is left is read in byte order of the names.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence

from .base import Reading

PLACES = ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")


def directories(name: str) -> tuple[str, ...]:
    """The directories of drop-ins called NAME, best first."""
    return tuple(f"{place}/{name}" for place in PLACES)


def read(reading: Reading, places: Sequence[str], *facts: str) -> dict[str, str | None]:
    """Path -> text of every name in .conf; None for one that only hides others. Trouble is unread FACTS.

    /lib is passed over where it is a link: it leads to the same files as /usr/lib.
    """
    known = len(reading.unreads)
    own = places if reading.readlink("/lib", facts[0]) is None else [p for p in places if not p.startswith("/lib/")]
    names = ((place, name) for place in own for name in reading.list(place, facts[0]))
    paths = [f"{place}/{name}" for place, name in names if name.endswith(".conf") and name[0] != "."]
    found = {path: _text(reading, path, facts[0]) for path in paths if _is_file(reading, path, facts[0])}
    for unread in reading.unreads[known:]:
        for fact in facts[1:]:
            reading.unread((fact,), unread.source, unread.why)
    return found


def order(paths: Iterable[str], places: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The files that count, as they are read; and hidden -> hiding file."""
    by_name: dict[str, list[str]] = {}
    for path in sorted(paths, key=lambda p: (places.index(posixpath.dirname(p)), p)):
        by_name.setdefault(posixpath.basename(path), []).append(path)
    masked = {path: first for first, *rest in by_name.values() for path in rest}
    return [by_name[name][0] for name in sorted(by_name, key=os.fsencode)], dict(sorted(masked.items()))


def texts(files: Mapping[str, str | None], places: Sequence[str]) -> list[tuple[str, str]]:
    """Path and text of the files that count, as they are read."""
    return [(path, text) for path in order(files, places)[0] if (text := files[path])]


def _is_file(reading: Reading, path: str, fact: str) -> bool:
    stat = reading.stat(path, fact, follow=False)
    return stat is not None and stat.type in ("file", "link")


def _text(reading: Reading, path: str, fact: str) -> str | None:
    stat = reading.stat(path, fact)
    return reading.config(path, fact) if stat is not None and stat.type == "file" else None
