"""What configures kernel modules, from modprobe.d files and the kernel command line.

modprobe.d(5); kmod_config_parse() and getline_wrapped() in libkmod/libkmod-config.c; the words of an option are cut by
the kernel as its own command line (parse_args()). The oddities:

* a backslash at the end joins the next line; any other one is dropped, and what it stood before is kept;
* # is a comment in the first column only: behind an option it becomes parameters that the kernel does not know;
* every option line of a module is passed on, so that the last word wins, across files by name whatever their place;
  then come the MODULE.PARAMETER words of the kernel command line, also those behind its --;
* of install, remove and softdep the first line that matches counts;
* blacklist only stops a load by alias. module_blacklist= on the command line makes the kernel refuse every load.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from ..records import field, record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.modules import Assignment, Blacklisted, Command, Ignored, Option, Softdep
from .cmdline import PATH as CMDLINE
from .cmdline import pair, redacted, split
from .secrets import redacted as without_secrets

_BLANKS = " \t"
_ESCAPE = regex(r"\\(.?)", re.DOTALL)


@record()
class Config:
    """What the files and the command line say."""

    options: dict[str, dict[str, Option]] = field(default_factory=dict)
    blacklist: dict[str, Blacklisted] = field(default_factory=dict)
    install: dict[str, Command] = field(default_factory=dict)
    remove: dict[str, Command] = field(default_factory=dict)
    softdeps: dict[str, Softdep] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    ignored: list[Ignored] = field(default_factory=list)


def parse(files: Iterable[tuple[str, str]], cmdline: str, modules: Collection[str] = ()) -> Config:
    """What FILES (path and text, as modprobe reads them) and the command line configure.

    Words of the command line with a dot are taken for parameters of a module where MODULES or the files name it.
    """
    config = Config()
    words: list[tuple[str, str, Assignment]] = []
    for path, text in files:
        for number, line in lines(text):
            _line(config, words, line, Origin(file=path, line=number, text=_shown(line)))
    known = {*modules, *(module for module, _, _ in words)}
    given = list(_cmdline(config, cmdline, known))
    config.options = _options(words, given)
    return config


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Number (of its first line) and text of each line that is not empty or a comment, backslashes resolved."""
    held: list[str] = []
    start = 1
    for number, raw in enumerate(text.split("\n"), 1):
        start = start if held else number
        part = _ESCAPE.sub(r"\1", raw)
        held.append(part)
        if len(raw) - len(raw.rstrip("\\")) & 1:
            continue
        line = "".join(held)
        if line and line[0] != "#":
            yield start, line
        held = []
    if (line := "".join(held)) and line[0] != "#":
        yield start, line


def folded(name: str) -> str:
    """A module's or parameter's name with - as _, except within brackets of a pattern."""
    if "[" not in name:
        return name.replace("-", "_")
    head, bracket, rest = name.partition("[")
    inner, end, tail = rest.partition("]")
    return head.replace("-", "_") + bracket + inner + end + (folded(tail) if end else "")


def _line(config: Config, words: list[tuple[str, str, Assignment]], line: str, origin: Origin) -> None:
    keyword, rest = _cut(line)
    name, arguments = _cut(rest)
    reader = _READERS.get(keyword)
    if keyword == "options" and name and arguments:
        words += ((folded(name), folded(word), found) for word, found in _words(arguments, origin))
    elif reader and name and (arguments or keyword == "blacklist"):
        reader(config, folded(name), arguments, origin)
    elif keyword in ("include", "config"):
        config.ignored.append(Ignored(why="kmod: no longer supported", origin=origin))
    elif keyword != "weakdep" and line.strip("\r"):
        why = "kmod: it lacks a word" if reader or keyword == "options" else "kmod: no such directive"
        config.ignored.append(Ignored(why=why, origin=origin))


def _cut(text: str) -> tuple[str, str]:
    """As strtok_r(3) does: the first word, and what is left behind the blanks."""
    text = text.lstrip(_BLANKS)
    at = next((i for i, c in enumerate(text) if c in _BLANKS), len(text))
    return text[:at], text[at + 1 :].lstrip(_BLANKS)


def _words(text: str, origin: Origin) -> Iterator[tuple[str, Assignment]]:
    kernel, init = split(text)
    for token in (*kernel, *(init or ())):
        name, value = pair(redacted(token))
        yield name, Assignment(value=value, origin=origin)


def _alias(config: Config, name: str, arguments: str, _origin: Origin) -> None:
    targets = config.aliases.setdefault(name, [])
    if (target := folded(_cut(arguments)[0])) not in targets:
        targets.append(target)


def _blacklist(config: Config, name: str, _arguments: str, origin: Origin) -> None:
    config.blacklist.setdefault(name, Blacklisted(origin=origin))


def _install(config: Config, name: str, arguments: str, origin: Origin) -> None:
    config.install.setdefault(name, Command(command=_shown(arguments), origin=origin))


def _remove(config: Config, name: str, arguments: str, origin: Origin) -> None:
    config.remove.setdefault(name, Command(command=_shown(arguments), origin=origin))


def _softdep(config: Config, name: str, arguments: str, origin: Origin) -> None:
    groups: dict[str, list[str]] = {"pre:": [], "post:": []}
    group: list[str] = []  # words before the first mark are ignored
    for word in arguments.split():
        if word in groups:
            group = groups[word]
        else:
            group.append(folded(word))
    config.softdeps.setdefault(name, Softdep(before=groups["pre:"], after=groups["post:"], origin=origin))


_READERS: Mapping[str, Callable[[Config, str, str, Origin], None]] = {
    "alias": _alias, "blacklist": _blacklist, "install": _install, "remove": _remove, "softdep": _softdep,
}


def _cmdline(config: Config, cmdline: str, modules: Collection[str]) -> Iterator[tuple[str, str, Assignment]]:
    kernel, init = split(cmdline)
    for token in (*kernel, *(init or ())):
        name, value = pair(redacted(token))
        origin = Origin(file=CMDLINE, line=1, text=redacted(token))
        module, dot, parameter = name.partition(".")
        if folded(name) in ("module_blacklist", "modprobe.blacklist"):
            refused = True if not dot else None
            for word in filter(None, (value or "").split(",")):
                if refused or folded(word) not in config.blacklist:
                    config.blacklist[folded(word)] = Blacklisted(origin=origin, refused=refused)
        elif dot and parameter and folded(module) in modules:
            yield folded(module), folded(parameter), Assignment(value=value, origin=origin)


def _options(
    files: list[tuple[str, str, Assignment]], cmdline: list[tuple[str, str, Assignment]]
) -> dict[str, dict[str, Option]]:
    by_key: dict[tuple[str, str], tuple[list[Assignment], list[Assignment]]] = {}
    for which, found in enumerate((files, cmdline)):
        for module, parameter, assignment in found:
            by_key.setdefault((module, parameter), ([], []))[which].append(assignment)
    options: dict[str, dict[str, Option]] = {}
    for (module, parameter), (written, given) in sorted(by_key.items()):
        options.setdefault(module, {})[parameter] = Option(
            files=written[-1] if written else None, cmdline=given[-1] if given else None,
            overridden=[*written[:-1], *given[:-1]] or None,
        )
    return options


def _shown(line: str) -> str:
    """The line with the values of secrets replaced, blanks kept."""
    return "".join(redacted(part) if part.strip() else part for part in _parts(without_secrets(line)))


def _parts(line: str) -> Iterator[str]:
    start = 0
    for i in range(1, len(line) + 1):
        if i == len(line) or (line[i] in _BLANKS) != (line[start] in _BLANKS):
            yield line[start:i]
            start = i
