"""The profile of tuned, from /etc/tuned and /usr/lib/tuned.

tuned.conf(5), tuned-main.conf(5); Loader and Merger in tuned/profiles. active_profile names profiles, of which a later
one overrides an earlier; each may include others, which come before it. A profile in /etc hides that of the same name,
which it may include all the same. replace=1 drops what a section had so far. A post_loaded_profile
comes last of all. tuned-adm says the same, and is asked only where the file cannot be read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from ..errors import ParseError
from ..host.base import NOT_THERE, Command, Result
from ..records import field, record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.units import Setting, Tuned
from .base import Reading, decode
from .secrets import redacted_line
from .units_lines import redacted
from .units_scripts import Scripts

TOP = "/etc/tuned"
FOLDERS = ("/etc/tuned/profiles", TOP, "/usr/lib/tuned/profiles", "/usr/lib/tuned")
_ACTIVE = f"{TOP}/active_profile"
ADM = Command(("tuned-adm", "active"), timeout_s=10)
_ADM = regex(r"^(?:Current active|Preset) profile: +(\S.*)$", re.MULTILINE)
_MOST = 100  # profiles that include each other; a chain of them is a chain of calls here
_NAME = regex(r"[a-zA-Z0-9_.-]+")
_MANY = regex(r"\s*[,;]\s*")
_COMMENT = regex(r"(?:^|\s)#.*")
_TRUE = ("1", "true", "yes", "on", "y", "t")

Sections = dict[str, dict[str, Setting]]


def wanted(reading: Reading) -> tuple[Command, ...]:
    """What has to be asked: tuned-adm, which takes its time, where the file is there and cannot be read."""
    data = reading.attempt(_ACTIVE)
    return (ADM,) if isinstance(data, OSError) and data.errno not in NOT_THERE else ()


def collect(reading: Reading, scripts: Scripts, results: Mapping[Command, Result]) -> Tuned | None:
    """The profile; None when there is no /etc/tuned."""
    if reading.stat(TOP, "tuned") is None:
        return None
    names = _told(reading, results) if ADM in results else _named(reading)
    mode = reading.config(f"{TOP}/profile_mode", "tuned", "mode")
    main = reading.config(f"{TOP}/tuned-main.conf", "tuned", "options")
    profile = _Profile(reading)
    for name in names or ():
        profile.load(name)
    for section, values in profile.sections.items():
        scripts.called(list(_called(section, values)), "tuned")
    options = parse("[main]\n" + (main or ""), f"{TOP}/tuned-main.conf", 0).get("main")
    return Tuned(
        active=names, mode=(mode or "").strip() or None,
        profiles=profile.files or None, missing=profile.missing or None, sections=profile.sections or None,
        options=options or None,
    )


def _named(reading: Reading) -> list[str]:
    texts = (reading.config(path, "tuned", "active") for path in (_ACTIVE, f"{TOP}/post_loaded_profile"))
    return " ".join(filter(None, texts)).split()


def _told(reading: Reading, results: Mapping[Command, Result]) -> list[str] | None:
    reason = results[ADM].why
    try:
        if not reason:
            return parse_adm(decode(results[ADM].stdout))
    except ParseError as error:
        reason = str(error)
    for fact in ("active", "profiles", "sections"):
        reading.unread(("tuned", fact), " ".join(ADM.argv), reason)
    return None


def parse_adm(text: str) -> list[str]:
    """The active profiles, from ``tuned-adm active`` or ``list``. ParseError when it does not tell."""
    found = _ADM.findall(text)
    if not found and "No current active profile" not in text:
        raise ParseError(f"tuned-adm names no active profile: {text[:80]!r}")
    return " ".join(found).split()


@record()
class _Profile:
    """Profiles as they merge."""

    reading: Reading
    files: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    sections: Sections = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)

    def load(self, name: str) -> None:
        """Takes in the profile NAME, behind what it includes."""
        if not _NAME.fullmatch(name) or name in (".", "..") or len(self.begun) >= _MOST:
            reason = "no name of a profile, or one with a variable, or too many profiles"
            self.reading.unread(("tuned", "sections"), f"profile {name}", reason)
            return
        paths = [f"{folder}/{name}/tuned.conf" for folder in FOLDERS]
        path = next((p for p in paths if p not in self.begun and self._is_there(p)), None)
        if path is None:
            self.missing += [] if self.begun & {*paths} or name in self.missing else [name]
            return
        self.begun.add(path)
        found = parse(self.reading.config(path, "tuned", "sections") or "", path)
        include = found.get("main", {}).pop("include", None)
        for other in _MANY.split(include.value) if include else ():
            self.load(other)
        self.files.append(path)
        merge(self.sections, found)

    def _is_there(self, path: str) -> bool:
        return self.reading.stat(path, "tuned", "sections") is not None


def parse(text: str, path: str, first: int = 1) -> Sections:
    """Section -> option -> value of a profile. Lines without =, or before a section, set nothing."""
    found: Sections = {}
    section = ""
    for number, raw in enumerate(text.split("\n"), first):
        line = _COMMENT.sub("", raw.replace("\r", "")).strip()
        name, equals, value = line.partition("=")
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif equals and section and name.strip() and line[0] != ";":
            origin = Origin(file=path, line=number, text=redacted_line(raw.strip(), redacted))
            shown = redacted_line(f"{name.strip()}={value.strip()}", redacted).partition("=")[2]
            found.setdefault(section, {})[name.strip()] = Setting(value=shown, origin=origin)
    return found


def merge(into: Sections, found: Sections) -> None:
    """Takes FOUND into the sections that were read before."""
    for section, options in found.items():
        replace = options.get("replace")
        if replace and replace.value.lower() in _TRUE:
            into[section] = options
        else:
            into.setdefault(section, {}).update(options)


def _called(section: str, options: dict[str, Setting]) -> Iterator[str]:
    """The script of a section, whose path is relative to the profile's folder."""
    script = options.get("script")
    if script and (section == "script" or options.get("type", script).value == "script"):
        folder = posixpath.dirname(script.origin.file)
        yield posixpath.normpath(posixpath.join(folder, script.value.replace("${i:PROFILE_DIR}", folder)))
