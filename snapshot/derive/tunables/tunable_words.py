"""The kernel command line of the next boot, word by word, with the place that each comes from.

Documentation/admin-guide/kernel-parameters.rst; next_arg() in lib/cmdline.c. - and _ in a name are one; a " groups and
goes at the ends of a word or value; a word -- ends the kernel's part, but kmod looks for MODULE.PARAMETER= behind it
too. Of the next boot: the loader's entry where it can be seen, else the file that the entries are made from, which
holds when they have been made anew, else what this boot has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from .tunable import KERNEL, Setter

if TYPE_CHECKING:
    from ...document import Snapshot

RUNNING = "/proc/cmdline"
ASSUMED = "the loader's entries are made anew from this file"
SAME_LINE = "the next boot has this boot's command line"
_ALIAS = regex(r"sysctl[./](.+)", re.DOTALL)


class Words:
    """The words of a command line: setters by name, in order; the value of a flag is "". RUNNING: of this boot's."""

    def __init__(self, words: Iterable[tuple[str, Mapping[str, Any], str]], running: bool = False) -> None:
        self.running = running
        self.ordered: list[tuple[str, Setter]] = []
        self._by_name: dict[str, list[Setter]] = {}
        ended = False
        for at, (word, origin, assumes) in enumerate(words):
            name, value = pair(word)
            ended = ended or word == "--"
            if not ended or "." in name:
                setter = Setter("cmdline", {**origin, "text": word}, value or "", rank=(KERNEL, at), assumes=assumes)
                self.ordered.append((name, setter))
                self._by_name.setdefault(name, []).append(setter)

    def get(self, name: str) -> list[Setter]:
        """The words that have NAME, - written _."""
        return self._by_name.get(name, [])

    def last(self, name: str) -> str | None:
        """The value of the last word of NAME; None without one."""
        return value if (found := self.get(name)) and (value := found[-1].value) is not None else None

    def taken(self, name: str, mean: Callable[[str], str | None] = lambda value: value or None) -> list[Setter]:
        """The words of NAME with what their values MEAN; those that mean nothing are left out."""
        meant = ((word, mean(word.value or "")) for word in self.get(name))
        return [meaning(word, value) for word, value in meant if value is not None]

    def parameters(self) -> Iterator[tuple[str, str, Setter]]:
        """Module, parameter and word of each MODULE.PARAMETER."""
        for name, word in self.ordered:
            module, dot, parameter = name.partition(".")
            if dot and module not in ("", "sysctl"):
                yield module, parameter, word

    def sysctls(self) -> Iterator[tuple[str, Setter]]:
        """Key and word of each sysctl.KEY=VALUE: in it any dot or slash is a separator."""
        for _, word in self.ordered:
            found = _ALIAS.fullmatch(pair(word.origin["text"], fold=False)[0])
            if found and word.value:
                yield found[1].replace("/", "."), word


def meaning(word: Setter, value: str | None) -> Setter:
    """WORD as a setter of VALUE."""
    return word if value == word.value else Setter(word.how, word.origin, value, rank=word.rank, assumes=word.assumes)


def pair(word: str, fold: bool = True) -> tuple[str, str | None]:
    """Name and value of a word as the kernel unquotes them; the value of a flag is None."""
    if word.startswith('"'):
        word = word[1:].removesuffix('"')
    name, equals, value = word[:1], "", ""
    if len(word) > 1:
        name, equals, value = word[1:].partition("=")
        name = word[0] + name
    value = value[1:].removesuffix('"') if value.startswith('"') else value
    return name.replace("-", "_") if fold else name, value if equals else None


def next_words(snapshot: Snapshot) -> Words:
    """The command line of the next boot."""
    boot = snapshot.table("boot")
    chosen = boot.get("next", {})
    entry = boot.get("menus", {}).get(chosen.get("menu", ""), {}).get("entries", {}).get(chosen.get("entry", ""), {})
    if "words" in entry:
        return Words((word, _place(entry["origin"]), "") for word in entry["words"])
    for line in boot.get("configured", {}).values() if chosen else ():
        if line.get("used") and line["origins"]:
            return Words((word, _of(word, line["origins"]), ASSUMED) for word in line["words"])
    return running_words(snapshot)


def running_words(snapshot: Snapshot) -> Words:
    """The command line of this boot."""
    tokens = snapshot.table("cmdline").get("tokens", ())
    return Words(((word, {"file": RUNNING, "line": 1}, SAME_LINE) for word in tokens), running=True)


def next_kernel(snapshot: Snapshot) -> str:
    """The release that boots next, the running one where that is not known; "" when neither is."""
    found: str = snapshot.table("boot").get("next", {}).get("kernel") or snapshot.meta.kernel or ""
    return found


def _of(word: str, origins: list[dict[str, Any]]) -> dict[str, Any]:
    return _place(next((origin for origin in origins if word in origin["text"]), origins[0]))


def _place(origin: Mapping[str, Any]) -> dict[str, Any]:
    return {"file": origin["file"], "line": origin["line"]}
