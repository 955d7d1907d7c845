"""What a script does for one command of a remedy: a call that changes, runs or restarts something, or nothing.

A command that is not known here is left to whoever reads the script, and so is everything behind it in its remedy: its
order has a meaning. Never run are those that need a decision (packages, a reboot, a disk), and those that only look.
"""

from __future__ import annotations

import re
from typing import Literal

from ..records import record, replace
from ..regexes import regex
from . import edits
from .known import APPLIES, DOES, LOOKS, TELLS
from .seen import Seen
from .words import Piece, literals, pieces, quote, spelled

Kind = Literal["edit", "act", "apply", "look", "restart", "left"]
_LOOP = regex(
    r"for (?P<name>\w+) in (?:\$\(seq \d+ \d+\)|[\w/*.:-]+(?: [\w/*.:-]+)*); "
    r"do echo \w+ > (?:/sys/[\w/.:-]*)?\$(?P=name)[\w/.:-]*; done", re.ASCII,
)
_MASKED = regex(r"(\S+)=([0-9a-f]{1,8}):([0-9a-f]{1,8})")
_BLANK = regex(r"dev/?N|[A-Z]{3,}(:[A-Z]+)?")  # a word that stands for what the reader has to fill in


@record(frozen=True)
class Step:
    """What becomes of a command. CODE: lines of a script, of apply what is applied; NAME: what a restart restarts."""

    kind: Kind
    code: str
    name: str = ""


def steps(command: str, seen: Seen) -> list[Step]:
    """What the script does for COMMAND."""
    command = command.rstrip()
    if made := edits.document(command, seen):
        return [Step("edit", "\n".join(made))]
    loop = _LOOP.fullmatch(command)
    if loop:
        return [Step("act", f"note {quote(command)}\n[ -n \"$dry\" ] || {{ acted=1; {command}; }} || "
                            f"{{ fail {quote(command)}; return 1; }}")]
    found = None if command.startswith("#") else pieces(command)
    return (_joined(found, seen) if found else None) or [Step("left", "")]


def _joined(found: list[Piece], seen: Seen) -> list[Step] | None:
    """The steps of simple commands joined by &&, behind a grep that finds them done, or into tee."""
    joints = [piece.joint for piece in found[1:]]
    if all(_looks(piece) for piece in found):
        return [Step("look", "")]
    if joints == ["|"] and found[1].words[0] == "tee" and not found[1].redirects:
        into = [replace(found[0], redirects=((">", word),)) for word in found[1].words[1:]]
        return _chain(into, seen)
    if joints in (["||"], ["|", "||"]):
        return _unless(found, seen)
    return _chain(found, seen) if {*joints} <= {"&&"} else None


def _chain(found: list[Piece], seen: Seen) -> list[Step] | None:
    out: list[Step] = []
    for piece in found:
        step = _simple(piece, seen)
        if step is None:
            return None
        out.append(step)
    return out


def _unless(found: list[Piece], seen: Seen) -> list[Step] | None:
    """A change that is not made where a grep says that it was."""
    guard = [spelled(piece) for piece in found[:-1]]
    step = _simple(found[-1], seen)
    asks = found[-2].words[0] == "grep" and (len(found) == 2 or found[0].words[:2] == ("sed", "'/^\\[/q'"))
    if None in guard or step is None or step.kind != "edit" or not asks:
        return None
    asked = " | ".join(filter(None, guard))
    return [Step("edit", f"if {asked}; then note 'so already'; else\n{step.code}\nfi")]


def _simple(piece: Piece, seen: Seen) -> Step | None:
    if made := edits.sed(piece, seen) or edits.redirected(piece, seen):
        return Step("act" if made[0].startswith("write ") else "edit", "\n".join(made))
    words = literals(piece.words)
    if words is None or piece.redirects or any(_BLANK.fullmatch(word) for word in words):
        return None
    return _pct(words) or _known(words)


def _pct(words: tuple[str, ...]) -> Step | None:
    """pct(1) and lxc-stop(1): a restart, or options of a container."""
    match words:
        case ("pct", "reboot", name) if name.isdecimal():
            return Step("restart", f"act pct reboot {name} || return", f"pct {name}")
        case ("lxc-stop" | "lxc-start", "-n", name) if re.fullmatch(r"\w[\w.-]*", name, re.ASCII):
            return Step("restart", f"act {words[0]} -n {quote(name)} || return", f"lxc {name}")
        case ("pct", "set", name, *rest) if name.isdecimal() and rest and not len(rest) % 2:
            if all(re.fullmatch(r"-[a-z][a-z0-9]*", option) for option in rest[::2]):
                return Step("edit", f"pct_set {name} {' '.join(map(quote, rest))} || return")
    return None


def _known(words: tuple[str, ...]) -> Step | None:
    """What is run as it is, or by a function that reads back."""
    call = " ".join(map(quote, words))
    if _is(words, APPLIES):
        return Step("apply", f"{call} || return")
    if not _is(words, DOES):
        return None
    if words[0] == "sysctl" and len(words) == 3 and "=" in words[2]:
        key, _, value = words[2].partition("=")
        return Step("act", f"setting {quote(key)} {quote(value)} || return")
    if words[0] == "setpci" and len(words) == 4 and (found := _MASKED.fullmatch(words[3])):
        return Step("act", f"register {quote(words[2])} {' '.join(map(quote, found.groups()))} || return")
    output = next((word.partition("=")[2] for word in words if word.startswith("--output=")), "")
    kept = f"[ -n \"$dry\" ] || [ ! -e {quote(output)} ] || keep {quote(output)} || return\n" if output else ""
    return Step("act", f"{kept}act {call} || return")


def _is(words: tuple[str, ...], table: dict[str, str]) -> bool:
    form = table.get(words[0])
    return form is not None and re.match(form, " ".join(words[1:])) is not None


def _looks(piece: Piece) -> bool:
    return spelled(piece) is not None and _is(piece.words, LOOKS)


def _opens(words: list[str]) -> bool:
    """Whether they look at something, or open it and copy nothing."""
    if words[:1] == ["dd"]:
        return {"of=/dev/null", "count=0"} < {*words}
    return bool(words) and _is((*words,), LOOKS)


def verified(command: str) -> Step:
    """What the script does to show that a block has mended something: code that checks, or shows."""
    found = None if command.startswith("#") else pieces(command)
    if not found or any(piece.joint in ("&&", "||") for piece in found):
        return Step("left", "")
    words = literals(found[0].words)
    match words if len(found) == 1 else None:
        case ("pct", "exec", name, "--", *rest) if name.isdecimal() and _opens(rest) and not found[0].redirects:
            code = f"within {name} {' '.join(map(quote, rest))} || return"
            return Step("act", code, f"pct {name}")
    if words and len(found) == 1 and TELLS.match(" ".join(words)):
        return Step("act", f"check {' '.join(map(quote, words))} || return")
    if not all(map(_looks, found)):
        return Step("left", "")
    code = " | ".join(filter(None, map(spelled, found)))
    return Step("look", f"note {quote('$ ' + command)}\n{{ {code}; }} < /dev/null 2>&1 | indent")
