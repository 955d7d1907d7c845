"""GRUB's settings, from /etc/default/grub and /etc/default/grub.d/*.cfg, read as text and never run.

info grub, "Simple configuration handling"; grub-mkconfig(8) sources the files in this order with sh(1). Understood are
assignments of one word: plain, in single or double quotes, or parts of these side by side, NAME+=, $NAME and ${NAME}
of variables assigned before, and a backslash at the line's end. Whatever else the shell would have to run (`...`,
$(...), ${NAME:-x}, an assignment behind && or within if) leaves the variable without a value, and so does all that is
built on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..records import record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.boot import Variable
from .cmdline import redacted, split
from .secrets import REDACTED, is_secret, redacted_words
from .secrets import redacted as without_secrets

_ASSIGNMENT = regex(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)
_ANYWHERE = regex(r"(?<![\w$-])(GRUB_[A-Z0-9_]+)\+?=")
_PART = regex(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|((?:[^\s'\"\\;&|<>()`]|\\.)+)", re.DOTALL)
_QUOTED = regex(r"\\([$`\"\\])|\$(?:(\w+)|\{(\w+)\})|([$`])", re.ASCII)
_PLAIN = regex(r"\\(.)|\$(?:(\w+)|\{(\w+)\})|([$`])", re.ASCII)
_WORD = regex(r"(?<![^\s\"'])[^\s\"'=]++=[^\s\"']++")
_OPEN, _CLOSE = regex(r"(?:^|[;&|])\s*(?:if|for|while|until|case)\s"), regex(r"(?:^|;)\s*(?:fi|done|esac)\b")


@record(frozen=True)
class Setting:
    """What a variable is now (None: only the shell knows), the text behind its last =, and the lines that made it."""

    value: str | None
    text: str
    origins: tuple[Origin, ...]


def parse(files: Iterable[tuple[str, str]]) -> dict[str, Setting]:
    """The variables by name, as the FILES (path and text) leave them, one after the other."""
    found: dict[str, Setting] = {}
    for path, text in files:
        depth = 0
        for number, line in lines(text):
            origin = Origin(file=path, line=number, text=shown(line))
            depth += len(_OPEN.findall(line))
            match = _ASSIGNMENT.fullmatch(line)
            if match and not depth:
                found[match[1]] = _assigned(found, match, origin)
            else:
                found |= {name: Setting(None, line, (origin,)) for name in _ANYWHERE.findall(line)}
            depth = max(0, depth - len(_CLOSE.findall(line)))
    return found


def variables(found: Mapping[str, Setting]) -> dict[str, Variable]:
    """The GRUB_ ones, for the snapshot."""
    return {
        name: Variable(
            value=None if s.value is None else REDACTED if is_secret(name) else shown(s.value),
            unparsed=shown(s.text) if s.value is None else None,
            origin=s.origins[-1],
        )
        for name, s in sorted(found.items()) if name.startswith("GRUB_")
    }


def command_line(found: Mapping[str, Setting]) -> tuple[list[str], list[Origin]] | None:
    """The words that normal entries get: GRUB_CMDLINE_LINUX, then _DEFAULT. None when one of them cannot be told."""
    parts = [found[n] for n in ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT") if n in found]
    if any(part.value is None for part in parts):
        return None
    tokens = [words(part.value or "") for part in parts]
    return [token for part in tokens for token in part], _distinct(origin for part in parts for origin in part.origins)


def words(text: str) -> list[str]:
    """The words of a command line, -- and what follows too, secrets replaced."""
    kernel, init = split(text)
    return redacted_words((*kernel, *(["--", *init] if init is not None else [])), redacted)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Number (of its first line) and text of each line that is no comment, joined where a backslash ends one."""
    held: list[str] = []
    start = 1
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        start = start if held else number
        if line.endswith("\\") and (held or line.lstrip()[0] != "#"):
            held.append(line[:-1])
            continue
        whole = "".join((*held, line))
        if whole.lstrip()[:1] not in ("", "#"):
            yield start, whole
        held = []
    if held:
        yield start, "".join(held)


def shown(text: str) -> str:
    """TEXT with the values of secrets replaced."""
    return _WORD.sub(lambda found: redacted(found[0]), without_secrets(text))


def _assigned(found: Mapping[str, Setting], match: re.Match[str], origin: Origin) -> Setting:
    name, plus, text = match.groups()
    used: list[Origin] = []
    value = _word(text, found, used)
    before = found.get(name)
    if plus and before:
        used[:0] = before.origins
        value = None if value is None or before.value is None else before.value + value
    return Setting(value, text, (*_distinct(used), origin))


def _word(text: str, known: Mapping[str, Setting], used: list[Origin]) -> str | None:
    """The word that TEXT begins with, as the shell expands it; what its variables come from is added to USED."""
    value: list[str] = []
    at = 0
    while at < len(text) and not text[at].isspace() and text[at] != ";":
        part = _PART.match(text, at)
        if not part:
            return None
        single, double, plain = part.groups()
        expanded = single if single is not None else _expanded(double, plain, known, used)
        if expanded is None:
            return None
        value.append(expanded)
        at = part.end()
    rest = text[at:].strip()
    return "".join(value) if rest in ("", ";") or (rest[0] == "#" and text[at].isspace()) else None


def _expanded(
    double: str | None, plain: str | None, known: Mapping[str, Setting], used: list[Origin]
) -> str | None:
    """Text with its variables; None when one of them, or a command in it, needs the shell."""
    pattern, text = (_QUOTED, double) if double is not None else (_PLAIN, plain or "")
    value, at = "", 0
    for found in pattern.finditer(text):
        name = found[2] or found[3]
        setting = known.get(name or "") or (Setting("", "", ()) if name and name.startswith("GRUB_") else None)
        if not found[1] and (setting is None or setting.value is None):
            return None
        value += text[at : found.start()] + (found[1] or (setting and setting.value) or "")
        used.extend(setting.origins if setting else ())
        at = found.end()
    return value + text[at:]


def _distinct(origins: Iterable[Origin]) -> list[Origin]:
    return list({(o.file, o.line): o for o in origins}.values())
