"""What sets kernel tunables at boot, from sysctl.d files and the sysctl.* words of the kernel command line.

sysctl.d(5), systemd-sysctl(8), sysctl(8); for the command line process_sysctl_arg() in
fs/proc/proc_sysctl.c. Of the files with one name the one in the first directory hides the others, even when
it is empty or leads to /dev/null or nowhere. The rest are read in byte order of their names, and the last
assignment counts. A key has dots or slashes: the first one decides, and where that is a dot the others swap
(net.ipv4.conf.enp3s0/200.forwarding is of enp3s0.200). An explicit key beats every pattern. A - before a
key: failure is ignored; -key without = keeps that key out of patterns (a pattern there keeps nothing out).

systemd-sysctl and ``sysctl --system`` differ, as tried with systemd 252 and procps 4.0.2. For systemd a
later -key undoes key = value, and a pattern given again with its old value stays where it stood among the
patterns. procps reads hidden files, /etc/sysctl.conf last of all, and no key behind a - and a blank; it
compares paths as written, so that explicit keys do not hold back a pattern that begins with a slash.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..records import record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.sysctl import Assignment, IgnoredLine, Setting
from .cmdline import PATH, pair, split
from .cmdline import redacted as redacted_token
from .secrets import REDACTED, is_secret, redacted

DIRECTORIES = (
    "/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d",
)
SYSCTL_CONF = "/etc/sysctl.conf"
CMDLINE = PATH

_SWAP = str.maketrans("./", "/.")
_ENDS = " \t\n\v\f\r"
_BLANKS = regex(r"[ \t]+")
_LINE_END = regex(r"\r\n?|\n")
_LINE = regex(r"([\s-]*+([^=\s]*+)\s*+=?)(.*)", re.DOTALL)
_LONGEST_KEY = 512  # no path below /proc/sys comes near it
_BRACKETS = 16  # in one pattern: each is searched to its end
_MOST_PATTERNS, _MOST_MATCHES = 1000, 50_000  # of all files together
_ALIASES = {
    "hardlockup_all_cpu_backtrace": "kernel.hardlockup_all_cpu_backtrace",
    "hung_task_panic": "kernel.hung_task_panic",
    "numa_zonelist_order": "vm.numa_zonelist_order",
    "softlockup_all_cpu_backtrace": "kernel.softlockup_all_cpu_backtrace",
}

Matches = Mapping[str, list[str]]


@record(frozen=True)
class Boot:
    """What sets keys at boot: the settings by key, hidden file -> hiding file, and lines that set nothing."""

    settings: dict[str, Setting]
    masked: dict[str, str]
    ignored: list[IgnoredLine]
    excess: str = ""  # why the settings are not known: there are too many


@record(frozen=True)
class _Line:
    """A line that assigns, or (value None) keeps KEY out of patterns."""

    key: str
    value: str | None
    optional: bool
    origin: Origin
    plain: bool = True  # no / at the start, no separator twice

    @property
    def is_pattern(self) -> bool:
        return any(c in self.key for c in "*?[")

    def assignment(self) -> Assignment:
        return Assignment(
            value=self.value or "", pattern=self.key if self.is_pattern else None,
            optional=self.optional or None, origin=self.origin,
        )


def parse(files: Mapping[str, str | None], cmdline: str, keys: Collection[str]) -> Boot:
    """What sets which key, as both tools read it; patterns are expanded to KEYS.

    FILES is path -> text of every name in .conf in DIRECTORIES, and of SYSCTL_CONF where it exists; None
    for one that only hides others: a link to /dev/null, to a directory or to nowhere, or a file that cannot
    be read.
    """
    order, masked = reading_order(files)
    found = [*_words(cmdline), *(item for path in order for item in _items(path, files[path] or ""))]
    lines = [item for item in found if isinstance(item, _Line)]
    patterns = {line.key for line in lines if line.is_pattern}
    if len(patterns) > _MOST_PATTERNS:
        return Boot({}, masked, [], f"more than {_MOST_PATTERNS} patterns")
    matches = {pattern: _matching(pattern, keys) for pattern in patterns}
    if sum(len(matches.get(line.key, ())) for line in lines) > _MOST_MATCHES:
        return Boot({}, masked, [], f"patterns set more than {_MOST_MATCHES} keys")
    ignored = [bad for item in found if (bad := _sets_nothing(item, matches)) is not None]
    return Boot(_settings(lines, matches), masked, ignored)


def key_of(path: str) -> str:
    """The key of a path below /proc/sys: net/ipv4/conf/enp3s0.200/mtu -> net.ipv4.conf.enp3s0/200.mtu."""
    return path.translate(_SWAP) if "." in path else path.replace("/", ".")  # the latter is faster


def reading_order(paths: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The files that are read, in order, those that only procps reads included; and hidden -> hiding file."""
    by_name: dict[str, list[str]] = {}
    for path in sorted(set(paths) - {SYSCTL_CONF}, key=lambda p: DIRECTORIES.index(os.path.dirname(p))):
        by_name.setdefault(os.path.basename(path), []).append(path)
    order = [by_name[name][0] for name in sorted(by_name, key=os.fsencode)]
    masked = {path: first for first, *rest in by_name.values() for path in rest}
    return order + [SYSCTL_CONF] * (SYSCTL_CONF in paths), masked


def _items(path: str, text: str) -> Iterator[_Line | IgnoredLine]:
    for number, raw in enumerate(_LINE_END.split(text), 1):
        line = raw.strip(_ENDS)
        if line and line[0] not in "#;":
            yield _item(line, Origin(file=path, line=number, text=_shown_line(raw)))


def _item(line: str, origin: Origin) -> _Line | IgnoredLine:
    name, equals, value = line.partition("=")
    optional = name.startswith("-")
    written = name.removeprefix("-").strip(_ENDS)
    key = _normal(written)
    fault = "no =" if not equals and not optional else _fault(key)
    if fault:
        return IgnoredLine(why=fault, origin=origin)
    return _Line(key, _shown(key, value) if equals else None, optional, origin, len(key) == len(written))


def _normal(name: str) -> str:
    first = re.search(r"[./]", name)
    path = name.translate(_SWAP) if first and first[0] == "." else name
    return key_of("/".join(part for part in path.split("/") if part not in ("", ".")))


def _fault(key: str) -> str | None:
    if not key:
        return "no key"
    if len(key) > _LONGEST_KEY:
        return f"a key of more than {_LONGEST_KEY} signs, which no kernel has"
    if key.count("[") > _BRACKETS:
        return f"a pattern of more than {_BRACKETS} brackets is not understood here"
    if key.startswith("-"):
        return "a second -: systemd-sysctl takes it as part of the key"
    if "//" in key.split("."):
        return "the key leads upwards: systemd-sysctl refuses it"
    if "{" in key and any(c in key for c in "*?["):
        return "braces in a pattern, which only systemd-sysctl expands, are not understood here"
    return None


def _shown(key: str, value: str) -> str:
    return REDACTED if is_secret(key) else redacted(_BLANKS.sub(" ", value.strip(_ENDS)))


def _shown_line(raw: str) -> str:
    found = _LINE.fullmatch(raw)
    if found and is_secret(found[2]):
        return f"{found[1]} {REDACTED}"
    return f"{found[1]}{redacted(found[3])}" if found and found[1].endswith("=") else redacted(raw)


def _words(cmdline: str) -> Iterator[_Line | IgnoredLine]:
    """The kernel takes sysctl.KEY and sysctl/KEY, any dot as a separator, and a few older names."""
    for token in split(cmdline)[0]:
        name, value = pair(token)
        prefixed = re.fullmatch(r"sysctl[./](.+)", name, re.DOTALL)
        key = prefixed[1].replace("/", ".") if prefixed else _ALIASES.get(name)
        if key is None:
            continue
        origin = Origin(file=CMDLINE, line=1, text=redacted_token(token))
        if value:
            yield _Line(key, _shown(key, value), False, origin)
        else:
            yield IgnoredLine(why="no value", origin=origin)


def _matching(pattern: str, keys: Iterable[str]) -> list[str]:
    """A * stays within a part: with as many dots as the pattern has, every dot is taken by one of its own."""
    regex = re.compile(fnmatch.translate(pattern.replace("[^", "[!")))
    depth = pattern.count(".")
    return [key for key in keys if key.count(".") == depth and regex.match(key)]


def _sets_nothing(item: _Line | IgnoredLine, matches: Matches) -> IgnoredLine | None:
    if isinstance(item, IgnoredLine):
        return item
    if item.value is None:
        why = "keeps nothing out, being a pattern" if item.is_pattern else "keeps its key out of patterns"
    elif item.is_pattern and not matches[item.key]:
        why = "matches no key that is recorded now"
    else:
        return None
    return IgnoredLine(why=why, origin=item.origin)


def _settings(lines: list[_Line], matches: Matches) -> dict[str, Setting]:
    setters: dict[str, list[_Line]] = {}
    for line in lines:
        for key in matches[line.key] if line.is_pattern else [line.key]:
            if line.value is not None:
                setters.setdefault(key, []).append(line)
    words = {line.key: line for line in lines if line.origin.file == CMDLINE}
    systemd = _winners(_systemd_options(lines), matches)
    procps = _winners(_procps_options(lines), matches, strict=True)
    winners = (systemd, procps, words)
    return {key: _setting(setters[key], *(w.get(key) for w in winners)) for key in sorted(setters)}


def _setting(setters: list[_Line], *winners: _Line | None) -> Setting:
    losers = [line.assignment() for line in setters if line not in winners]
    systemd, procps, word = (line.assignment() if line else None for line in winners)
    return Setting(systemd=systemd, procps=procps, cmdline=word, overridden=losers or None)


def _systemd_options(lines: Iterable[_Line]) -> list[_Line]:
    last: dict[str, _Line] = {}
    for line in lines:
        file = line.origin.file
        if file in (CMDLINE, SYSCTL_CONF) or os.path.basename(file).startswith("."):
            continue
        if line.key in last and last[line.key].value != line.value:
            del last[line.key]
        last[line.key] = line
    return list(last.values())


def _procps_options(lines: Iterable[_Line]) -> list[_Line]:
    last: dict[tuple[str, bool], _Line] = {}
    for line in lines:
        if line.origin.file != CMDLINE and not re.match(r"\s*-\s", line.origin.text):
            option = (line.key, line.value is None)
            last.pop(option, None)
            last[option] = line
    return list(last.values())


def _winners(options: list[_Line], matches: Matches, strict: bool = False) -> dict[str, _Line]:
    """The option that sets each key. STRICT: an explicit key beats a pattern only when both are plain."""
    explicit = {option.key for option in options if not option.is_pattern and (option.plain or not strict)}
    found: dict[str, _Line] = {}
    for option in options:
        keys = matches[option.key] if option.is_pattern else [option.key]
        for key in keys if option.value is not None else ():
            if not option.is_pattern or key not in explicit or (strict and not option.plain):
                found[key] = option
    return found
