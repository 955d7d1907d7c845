"""Modules that are wanted at boot, or were loaded before, and are not there: from sections modules, kernel and boot.

modules-load.d(5): a line is one name, options and all. systemd-modules-load only logs a module that is not found, and
ends green. /sys/module shows what is built in only where that has parameters or a version: a name that is neither
loaded nor shown there may be built in, unless the kernel is known to lack it. nvidia and zfs, and what needs them, are
told by ``module_state``.

Row keys, by name (- as _); a key without a value is missing:
    module           the name, as it is written where it is asked for
    loaded           it is loaded; builtin: it is part of the kernel, as far as that shows
    was_loaded       it was loaded before; missing without a before
    asked_by         file of modules-load.d, or the command line, that asks for it; line: {file, line, text}
    options          words behind the name, which systemd takes for a part of it
    blocked          {file, line, text} that keeps it out
    lacking          the running kernel, when that has no such module
    lacking_next     the same of the kernel that boots next, when that is another
    not_read         why nobody reads the line, and ignored_in: its file
    idle             it is asked for, is not loaded, and this kernel has it as a module: it was loaded before
    unknown          {key: {source, why}} of keys above that could not be told
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]
OWN_RULES = regex(r"nvidia(?:_(?:uvm|modeset|drm|peermem|current.*))?|zfs|spl")
REFUSING = regex(r"(?:/usr)?(?:/bin)?/?(?:false|true)\b.*")


def wanted_modules(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each module that something asks for, and for each that was loaded before and is not now."""
    gaps = (after.unread("modules", (key,)) for key in ("loaded", "load"))
    if fact := next(filter(None, gaps), None):
        what = "which modules are loaded, and which are wanted"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    section = after.table("modules")
    then = before.table("modules").get("loaded") if before else None
    lost = [name for name in then or () if name not in section.get("loaded", {})]
    names = {_folded(name): name for name in (*lost, *section.get("load", {}))}
    rows = {key: _row(after, key, written, then) for key, written in names.items() if not OWN_RULES.fullmatch(key)}
    return Derived(rows | _not_read(section, names))


def _folded(name: str) -> str:
    return name.replace("-", "_")


def _row(snapshot: Snapshot, key: str, written: str, then: Table | None) -> Row:
    section = snapshot.table("modules")
    name, _, options = key.partition(" ")
    row: Row = {"module": written, "loaded": key in section.get("loaded", {}),
                "builtin": key in section.get("builtin", {})}
    row |= {} if then is None else {"was_loaded": key in then}
    row |= {"options": options} if options else {}
    if asked := section.get("load", {}).get(written):
        row |= {"asked_by": asked["origin"]["file"], "line": asked["origin"], **_lacking(snapshot, written)}
        there = row["loaded"] or row["builtin"] or "lacking" in row
        row |= {"idle": True} if not there and row.get("was_loaded") else {}
    return row | _blocked(section, name)


def _lacking(snapshot: Snapshot, written: str) -> Row:
    """The kernels, of the running one and the next, that have no such module."""
    kernels = snapshot.table("modules").get("kernels", {})
    running = snapshot.table("kernel").get("release") or snapshot.meta.kernel
    following = snapshot.table("boot").get("next", {}).get("kernel")
    row: Row = {}
    for key, release in (("lacking", running), ("lacking_next", following)):
        told = kernels.get(release, {})
        fact = snapshot.unread("modules", ("kernels", release or "", "missing")) if not told else None
        if written in told.get("missing", ()) and (key == "lacking" or release != running):
            row[key] = release
        elif fact and release:
            row.setdefault("unknown", {})[key] = {"source": fact.source, "why": fact.why}
    return row


def _blocked(section: Table, name: str) -> Row:
    """A command that keeps it out: install NAME /bin/false, or module_blacklist=."""
    refused = section.get("blacklist", {}).get(name, {})
    command = section.get("install", {}).get(name, {})
    if refused.get("refused"):
        return {"blocked": refused["origin"]}
    return {"blocked": command["origin"]} if REFUSING.fullmatch(command.get("command", "")) else {}


def _not_read(section: Table, names: Mapping[str, str]) -> dict[str, Row]:
    """Lines of /etc/modules that systemd does not read, of modules that are not loaded all the same."""
    rows = {}
    for ignored in section.get("ignored", ()):
        name = ignored["origin"]["text"].strip()
        key = _folded(name)
        loaded = key in section.get("loaded", {}) or key in section.get("builtin", {})
        if ignored["why"].startswith("systemd:") and key not in names and not loaded:
            file = ignored["origin"]["file"]
            rows[key] = {"module": name, "loaded": False, "builtin": False, "not_read": ignored["why"],
                         "asked_by": file, "ignored_in": file, "line": ignored["origin"]}
    return rows
