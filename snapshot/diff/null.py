"""What changes though nobody changed anything, learnt from two captures between which that was so.

What differs becomes patterns for a volatile.toml: the table [volatile] of snap.toml with its key ``add`` (facts that
change by themselves; its other key, ``keep``, takes facts back and is never learnt). The same field of several items
becomes one pattern with * for their keys. A fact that a rule judges is never learnt, whatever moved it: it is handed
back, for a person to look at.

Benchmarks never are the same twice: they are left out here, and ``bench.noise`` tells how far apart they are, for the
table [noise] of the same file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import sections
from ..records import field, record
from ..sections.shape import Path, of_section
from . import Diff, compare, silent
from .change import MISSING, Change
from .pattern import written

if TYPE_CHECKING:
    from ..document import Snapshot

Judged = Callable[[Path], bool]
Keys = tuple[str | None, ...]  # a path; None is any key


@record(frozen=True)
class Learned:
    """What two captures taught. BEFORE and AFTER are what to call them."""

    before: str
    after: str
    patterns: tuple[str, ...] = ()
    judged: tuple[Change, ...] = ()  # differ too, but a rule reads them
    warnings: tuple[str, ...] = ()
    noise: Mapping[str, float] = field(default_factory=dict)  # id of a measurement -> percent

    def toml(self) -> str:
        """The text of a volatile.toml."""
        # Patterns are printable ASCII, of which a string of JSON is one of TOML.
        add = "".join(f"\n    {json.dumps(pattern)}," for pattern in self.patterns)
        end = "\n" if add else ""
        noise = "".join(f"{json.dumps(name)} = {percent}\n" for name, percent in sorted(self.noise.items()))
        return (f"# Differ between two captures between which nothing was changed:\n# {self.before}\n# {self.after}\n"
                f"\n[volatile]\nadd = [{add}{end}]\n" + (f"\n[noise]\n{noise}" if noise else ""))


def learn(before: Snapshot, after: Snapshot, judged: Judged) -> Learned:
    """Patterns of what differs. JUDGED says whether a rule reads a path, section first; a key of it may be "*".

    ValueError, with the reason, when the two cannot be captures between which nothing changed; FormatError as compare.
    """
    if why := next(_unfit(before, after), ""):
        raise ValueError(f"nothing can be learnt from these two: {why}")
    diff = compare(before, after)
    facts = [change for change in diff.changes if change.state != "moved" and change.section != "bench"]
    read: list[Change] = []
    groups: dict[Keys, set[Path]] = {}
    for change in facts:
        if any(map(judged, _below(change))):
            read.append(change)
        else:
            groups.setdefault(_fields(change), set()).add((change.section, *change.path))
    found = {written(keys) for paths in groups.values() for keys in _patterns(paths, (before, after), judged)}
    return Learned(_named(before), _named(after), tuple(sorted(found)), tuple(read), tuple(_warnings(diff)))


def _unfit(before: Snapshot, after: Snapshot) -> Iterator[str]:
    one, other = before.meta, after.meta
    if (one.machine and other.machine and one.machine != other.machine) or one.host != other.host:
        yield f"they are of two machines, {one.host} and {other.host}"
    if one.kernel != other.kernel:
        yield f"they are of two kernels, {one.kernel or 'an unknown one'} and {other.kernel or 'an unknown one'}"
    if bool(one.redacted) != bool(other.redacted):
        yield "one is redacted and the other is not"
    for name in sections.NAMES:
        states = [side.outcomes[name].state if name in side.outcomes else "skipped" for side in (before, after)]
        whys = [silent(side, name) for side in (before, after)]
        if bool(whys[0]) != bool(whys[1]) or {"failed", "timeout"} & {*states}:
            yield f"section {name} was not read {'before' if whys[0] else 'after'}: {whys[0] or whys[1]}"
        elif states.count("absent") == 1:
            yield f"section {name} is absent {'before' if states[0] == 'absent' else 'after'} only"


def _warnings(diff: Diff) -> Iterator[str]:
    if diff.same_boot is False:
        yield "they are of two boots: what only a reboot moves is among what was learnt"
    elif diff.same_boot is None:
        yield "whether they are of one boot is not known: what only a reboot moves may be among what was learnt"
    if diff.before.meta.tool != diff.after.meta.tool:
        yield f"two versions of hostsnap took them, {diff.before.meta.tool} and {diff.after.meta.tool}"
    if files := [change.path[0] for change in diff.files]:
        yield f"something was changed between them, for these files differ: {', '.join(files)}"
    if moves := sum(change.state == "moved" for change in diff.changes):
        yield f"items that stand under other keys than before are not learnt: {moves}"


def _below(change: Change) -> Iterator[Path]:
    """The path of the change, and of each fact of what was added or removed."""
    path = (change.section, *change.path)
    yield path
    if change.state != "changed":
        yield from _leaves(path, change.before if change.after is MISSING else change.after)


def _fields(change: Change) -> Keys:
    """The change's path with None for the keys of those items of which it is a field: for all but a last key."""
    path = (change.section, *change.path)
    shapes = [of_section(change.section).at(change.path[:at]) for at in range(len(change.path))]
    named = [True, *(shape is not None and shape.kind == "model" for shape in shapes)]
    last = max(at for at, name in enumerate(named) if name)
    return tuple(key if name or at > last else None for at, (key, name) in enumerate(zip(path, named, strict=True)))


def _patterns(paths: Iterable[Path], sides: tuple[Snapshot, Snapshot], judged: Judged) -> list[Keys]:
    """One pattern for the same field of several items, unless it would take in one that a rule reads."""
    columns = (set(column) for column in zip(*paths, strict=True))
    keys: Keys = tuple(column.pop() if len(column) == 1 else None for column in columns)
    if None not in keys:
        return [keys]
    section = str(keys[0])
    places = (path for side in sides for path in _places((section,), side.table(section), keys[1:]))
    read = judged(tuple(key or "*" for key in keys)) or any(map(judged, places))
    return list(paths) if read else [keys]


def _places(path: Path, value: Any, keys: Keys) -> Iterator[Path]:
    """What KEYS lead to below PATH, with all below that."""
    if not keys:
        yield path
        yield from _leaves(path, value)
        return
    for key, part in _items(value):
        if keys[0] in (None, key):
            yield from _places((*path, key), part, keys[1:])


def _leaves(path: Path, value: Any) -> Iterator[Path]:
    for key, part in _items(value):
        yield (*path, key)
        yield from _leaves((*path, key), part)


def _items(value: Any) -> list[tuple[str, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(str(key), part) for key, part in items]


def _named(snapshot: Snapshot) -> str:
    """Host, label, time and file, in printable characters."""
    meta = snapshot.meta
    words = " ".join(filter(None, [meta.host, meta.label, meta.taken, f"({snapshot.name})"]))
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in words)
