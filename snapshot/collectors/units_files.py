"""Unit files and their enablement, from the folders that systemd looks in.

systemd.unit(5), "Unit File Load Path"; unit_file_lookup_state() in src/shared/install.c. Of the files with one name the
first folder's counts. A link to /dev/null or an empty file masks the name, a link to another name in these folders is
an alias, one from an instance to its template is the instance, one that leads out of them is a linked unit. A unit is
started by a link in NAME.wants, .requires or .upholds of any folder, but enabled only by one in /etc or /run that has
its name, one of its Alias= or that of its DefaultInstance=; by another name it is enabled indirectly.

NAME.d, TYPE.d, the name cut at each dash, a template's .d and those of all aliases hold drop-ins; of those with one
file name the first counts (unit_file_find_dropin_paths() in src/shared/dropin.c), and they are read by file name.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from ..records import field, record
from ..sections.units import UnitState
from .base import Reading, decode
from .dropin import order
from .units_conf import Line

_ETC, _RUN, VENDOR = "/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"
_GENERATED = ("/run/systemd/generator.early", "/run/systemd/generator", "/run/systemd/generator.late")
_TRANSIENT = "/run/systemd/transient"
FOLDERS = (
    "/etc/systemd/system.control", "/run/systemd/system.control", _TRANSIENT, _GENERATED[0], _ETC, _RUN, _GENERATED[1],
    "/usr/local/lib/systemd/system", VENDOR, "/lib/systemd/system", _GENERATED[2],
)
PRESETS = tuple(f"{top}/systemd/system-preset" for top in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))
TYPES = (".service", ".timer", ".path", ".socket", ".swap", ".mount")
LIMIT = 1 << 20  # bytes of a file
_LINKED = (".wants", ".requires", ".upholds")
_INSTALL = ("WantedBy", "RequiredBy", "UpheldBy", "Alias")
_RANKS = {folder: rank for rank, folder in enumerate(FOLDERS)}


@record()
class Catalogue:
    """What lies in the folders, by name."""

    files: dict[str, str] = field(default_factory=dict)  # unit -> the file that counts
    hidden: dict[str, str] = field(default_factory=dict)  # unit -> the file that would count without that one
    empty: set[str] = field(default_factory=set)  # files that were found to be empty
    targets: dict[str, str] = field(default_factory=dict)  # file -> where it leads, of links
    aliases: dict[str, str] = field(default_factory=dict)  # name -> name of the unit that it stands for
    wanted: dict[str, set[str]] = field(default_factory=dict)  # unit -> units that start it
    names_of: dict[str, list[str]] = field(default_factory=dict)  # unit -> its aliases
    instances: set[str] = field(default_factory=set)  # that are links to their templates
    links: dict[str, set[tuple[str, str]]] = field(default_factory=dict)  # unit -> folder and name of its links
    drop_ins: dict[str, list[str]] = field(default_factory=dict)  # NAME.d -> folders of that name, in order
    names: dict[str, list[str]] = field(default_factory=dict)  # of each folder NAME.d

    def parts(self, unit: str) -> list[str]:
        """The drop-in files of UNIT in reading order."""
        found: dict[str, str] = {}
        *own, general = drop_in_names(unit)
        for names in (own, *(drop_in_names(alias)[:-1] for alias in self.names_of.get(unit, ())), [general]):
            folders = [folder for name in names for folder in self.drop_ins.get(name, ())]
            for folder in sorted(folders, key=lambda folder: _RANKS[posixpath.dirname(folder)]):
                for file in self.names[folder]:
                    found.setdefault(file, f"{folder}/{file}")
        return [found[file] for file in sorted(found) if file.endswith(".conf")]

    def fragment(self, unit: str) -> str | None:
        """The file of UNIT, or of the template that it is an instance of."""
        general = template(unit)
        return self.files.get(unit) or self.files.get(self.aliases.get(general, general))

    def source(self, unit: str) -> str | None:
        """The file that says what UNIT does, or would do were it not masked."""
        file = self.fragment(unit)
        if file is not None and not self.masked(file):
            return file
        return self.hidden.get(unit) or self.hidden.get(template(unit))

    def masked(self, file: str) -> bool:
        """Whether FILE is empty or a link to /dev/null."""
        return file in self.empty or self.targets.get(file) == "/dev/null"

    def state(self, unit: str, file: str, lines: Iterable[Line]) -> UnitState:
        """As systemctl is-enabled says."""
        run = file.startswith("/run/")
        if self.masked(file):
            return "masked-runtime" if run else "masked"
        if file.startswith(_GENERATED):
            return "generated"
        if file.startswith(_TRANSIENT):
            return "transient"
        install = [line for line in lines if line.section == "Install" and line.value]
        links, known = self.links.get(unit, set()), _known(unit, install)
        if enabled := self._enabled(unit, {folder for folder, name in links if name in known}):
            return enabled
        if file in self.targets:
            return "linked-runtime" if run else "linked"
        if any(folder in (_ETC, _RUN) for folder, _ in links):
            return "indirect"
        keys = {line.key for line in install}
        return "disabled" if keys & {*_INSTALL} else "indirect" if "Also" in keys else "static"

    def _enabled(self, unit: str, folders: set[str]) -> UnitState | None:
        """What links to UNIT in FOLDERS make of it; those that the system came with count for instances only."""
        if _ETC in folders:
            return "enabled"
        if _RUN in folders:
            return "enabled-runtime"
        return "static" if folders and unit != template(unit) else None


def _known(unit: str, install: Iterable[Line]) -> set[str]:
    """The names that a link which enables UNIT may have."""
    words = {(line.key, word) for line in install for word in line.value.split()}
    stem, at, kind = unit.partition("@.")
    instances = {f"{stem}@{word}.{kind}" for key, word in words if at and key == "DefaultInstance"}
    return {unit, *instances, *(word for key, word in words if key == "Alias")}


def template(unit: str) -> str:
    """foo@.service for foo@bar.service; the name itself when it has no instance."""
    stem, at, rest = unit.partition("@")
    return f"{stem}@.{rest.rpartition('.')[2]}" if at else unit


def drop_in_names(unit: str) -> list[str]:
    """The names of the folders that may hold drop-ins of UNIT, the most specific first."""
    stem, kind = posixpath.splitext(unit)
    names = [unit, template(unit)]
    parts = stem.partition("@")[0].split("-")
    names += ["-".join(parts[:i]) + f"-{kind}" for i in range(len(parts) - 1, 0, -1)]
    return [f"{name}.d" for name in dict.fromkeys([*names, kind[1:]])]


def look(reading: Reading) -> Catalogue:
    """Lists the folders. What cannot be listed is noted under units."""
    found = Catalogue()
    merged = reading.readlink("/lib", "units") is not None
    for folder in FOLDERS:
        if folder.startswith("/lib/") and merged:
            continue
        for name in reading.list(folder, "units"):
            _entry(reading, found, folder, name)
    for alias, unit in found.aliases.items():
        found.names_of.setdefault(unit, []).append(alias)
    return found


def _entry(reading: Reading, found: Catalogue, folder: str, name: str) -> None:
    path = f"{folder}/{name}"
    stem, suffix = posixpath.splitext(name)
    if suffix in TYPES:
        _file(reading, found, path, name)
    elif suffix in _LINKED:
        for unit in reading.list(path, "units"):
            if folder not in (_ETC, _RUN) or not _is_file(reading, f"{path}/{unit}"):
                found.wanted.setdefault(unit, set()).add(stem)
                _link(found, folder, unit, template(unit))
    elif suffix == ".d":
        found.drop_ins.setdefault(name, []).append(path)
        found.names[path] = reading.list(path, "units")


def _is_file(reading: Reading, path: str) -> bool:
    """Whether it is known to be no link; systemd passes over such."""
    stat = reading.stat(path, "units", follow=False)
    return stat is not None and stat.type == "file"


def _link(found: Catalogue, folder: str, name: str, other: str) -> None:
    """A link in FOLDER called NAME, which counts for the unit OTHER too."""
    for unit in {name, other}:
        found.links.setdefault(unit, set()).add((folder, name))


def _file(reading: Reading, found: Catalogue, path: str, name: str) -> None:
    if name in found.files or name in found.aliases:
        found.hidden.setdefault(name, path)
        return
    target = reading.readlink(path, "units")
    if target is None:
        found.files[name] = path
        return
    folder = posixpath.dirname(path)
    whole = posixpath.normpath(posixpath.join(folder, target))
    other = posixpath.basename(whole)
    if posixpath.dirname(whole) not in FOLDERS or other == name:
        found.files[name], found.targets[path] = path, whole
        return
    _link(found, folder, name, other)
    if other == template(name):
        found.instances.add(name)
    else:
        found.aliases[name] = other


Presets = Sequence[tuple[str, str]]


def presets(reading: Reading, *fact: str) -> Presets:
    """The rules of systemd.preset(5), (word, pattern), the first that matches counts."""
    files = layered(reading, PRESETS, ".preset", {}, *fact)
    return [rule for path in files for rule in preset_rules(text_of(reading, path, *fact))]


def preset_rules(text: str) -> Iterator[tuple[str, str]]:
    """(enable, disable or ignore; pattern) of each line of a preset file; other lines say nothing."""
    for line in text.split("\n"):
        words = line.split()
        if len(words) >= 2 and words[0] in ("enable", "disable", "ignore"):
            yield words[0], words[1]


def preset_of(unit: str, rules: Presets) -> str:
    """What the rules say of UNIT; without any that matches it is enabled."""
    return next((word for word, pattern in rules if _matches(unit, pattern)), "enable")


def _matches(unit: str, pattern: str) -> bool:
    """As fnmatch; a plain name, as most are, needs no expression, which takes longer to compile than a file to read."""
    return fnmatchcase(unit, pattern) if any(sign in pattern for sign in "*?[") else unit == pattern


def layered(
    reading: Reading, folders: tuple[str, ...], suffix: str, masked: dict[str, str], *fact: str
) -> list[str]:
    """The files in FOLDERS that count, by name; the first folder's hides the others, which go to MASKED."""
    names = ((folder, name) for folder in folders for name in reading.list(folder, *fact))
    counting, hidden = order((f"{folder}/{name}" for folder, name in names if name.endswith(suffix)), folders)
    masked |= hidden
    return counting


def text_of(reading: Reading, path: str, *fact: str, listed: bool = False) -> str:
    """The text of a file of at most LIMIT bytes; empty when it is none, such as a link to /dev/null, or not to be had.

    LISTED: it belongs into the snapshot's files whatever it says.
    """
    stat = reading.stat(path, *fact)
    if stat is None or stat.type != "file":
        return ""
    text = decode(reading.bytes(path, *fact, limit=LIMIT) or b"")
    if listed and text:
        reading.config(path, *fact)
    return text
