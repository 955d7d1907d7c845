"""Commands of remedies that change a file, as calls of the script's own functions, which end a block when they fail.

They are sed -i, echo >> and cat > with a text. sed(1), of GNU: the one-line forms of a and i. Only literal words are
taken, so that nothing in them is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..regexes import regex
from .seen import Seen
from .words import Piece, comment, literal, literals, quote, visible

_NUMBERED = regex(r"(?:^|[;\n])\s*(\d+)(?=[s{d])")
_OTHER = regex(r"(?:^|[;\n{])\s*(?!0,/)\d+\s*[^\s\d{sd]")  # ranges, and commands that are not looked into
_INSERTING = regex(r"(\d+)[ai]\s*(.+)")
_UUID = regex(r"UUID=\$\(blkid -s UUID -o value (\S+)\)(.*)", re.DOTALL)
_DOCUMENT = regex(
    r"cat > (?P<file>[^\n]+?) <<(?P<quote>'?)(?P<end>\w+)(?P=quote)\n(?P<text>.*?\n)(?P=end)\n?"
    r"(?:chmod (?P<mode>[0-7]{3,4}) (?P<same>[^\n]+))?", re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}
KERNEL = ("/sys/", "/proc/")


def usable(path: str | None) -> bool:
    """Whether PATH can be handed from line to line: absolute, and on one line."""
    return path is not None and path.startswith("/") and path == visible(path) and "/../" not in path


def sed(piece: Piece, seen: Seen) -> list[str] | None:
    """The calls for sed -i; None where it is more than scripts and files, or the snapshot does not know its lines."""
    words = literals(piece.words)
    if words is None or piece.redirects or words[:2] != ("sed", "-i"):
        return None
    rest = [*words[2:]]
    scripts = []
    while rest[:1] == ["-e"] and len(rest) > 1:
        scripts.append(rest[1])
        del rest[:2]
    if not scripts and rest:
        scripts.append(rest.pop(0))
    if not scripts or not rest or any(not usable(file) for file in rest):
        return None
    calls = [_edit("\n".join(scripts), file, seen) for file in rest]
    return None if None in calls else [call for call in calls if call]


def _edit(script: str, file: str, seen: Seen) -> str | None:
    head = f"{quote(file)} {quote(seen.sum(file))} {quote(script)}"
    if found := _INSERTING.fullmatch(script):
        number = int(found[1]) if not script.startswith("1i") else 0  # the beginning stays where it is
        text = seen.text(file, number)
        if number and text is None and seen.sum(file) == "-":
            return None
        return _call(f"insert {head} {quote(found[2])} {number}", [] if text is None else [quote(text)])
    if _OTHER.search(script):
        return None
    numbers = [*dict.fromkeys(map(int, _NUMBERED.findall(script)))]
    texts = {number: seen.text(file, number) for number in numbers}
    if None not in texts.values():
        return _shown(file, texts) + _call(f"edit {head}", [f"{n} {quote(text or '')}" for n, text in texts.items()])
    return _call(f"edit_whole {head}") if seen.sum(file) != "-" else None


def _shown(file: str, texts: dict[int, str | None]) -> str:
    return "".join(comment(f"{file}:{number}: {text}") + "\n" for number, text in texts.items())


def _call(head: str, lines: Iterable[str] = ()) -> str:
    return " \\\n    ".join([head, *lines]) + " || return"


def document(command: str, seen: Seen) -> list[str] | None:
    """The call for cat > FILE with a here-document, and chmod behind it; None where the shell would expand its text."""
    found = _DOCUMENT.fullmatch(command)
    if not found:
        return None
    file, text = literal(found["file"]), found["text"]
    same = literal(found["same"]) if found["same"] else file
    if file is None or not usable(file) or same != file or (not found["quote"] and re.search(r"[$`\\]", text)):
        return None
    return [_put(file, text, seen, found["mode"] or "")]


def _put(file: str, text: str, seen: Seen, mode: str = "") -> str:
    return f"put {quote(file)} {quote(seen.sum(file))}{mode and ' '}{mode} <<{_here(text)}"


def _here(text: str) -> str:
    """TEXT as a here-document that nothing expands, from behind its sign on; the call's own line ends before it."""
    end = "EOF"
    while end in text.split("\n"):
        end += "F"
    return f"'{end}' || return\n{text}{end}"


def redirected(piece: Piece, seen: Seen) -> list[str] | None:
    """The call for echo, printf or sed into a file; None where the text or the file is not literal."""
    if len(piece.redirects) != 1 or piece.redirects[0][0] not in (">", ">>"):
        return None
    sign, word = piece.redirects[0]
    file = literal(word)
    if file is None or not usable(file):
        return None
    if dynamic := _of_uuid(piece, file, sign, seen):
        return dynamic
    words = literals(piece.words)
    if words is None:
        return None
    if words[0] == "sed" and sign == ">" and "-i" not in words and not file.startswith(KERNEL):
        made = f"sed --sandbox {' '.join(map(quote, words[1:]))} > \"$work/in\" || {{ fail {quote(file)}; return 1; }}"
        return [made, f'put {quote(file)} {quote(seen.sum(file))} < "$work/in" || return']
    text = said(words)
    if text is None or (text.count("\n") > 1 if file.startswith(KERNEL) else not text.endswith("\n")):
        return None
    if file.startswith(KERNEL):
        return [f"write {quote(text.rstrip(chr(10)))} {quote(file)} || return"]
    return [f"add {quote(file)} {quote(seen.sum(file))} <<{_here(text)}"] if sign == ">>" else [_put(file, text, seen)]


def said(words: tuple[str, ...]) -> str | None:
    """What echo or printf writes; None where shells differ, and for another command."""
    if words[0] == "echo" and "\\" not in " ".join(words) and words[1:2] not in (("-n",), ("-e",)):
        return " ".join(words[1:]) + "\n"
    if words[0] == "printf" and words[1:2] == ("%x",) and len(words) == 3 and words[2].isdecimal():
        return f"{int(words[2]):x}\n"
    if words[0] == "printf" and len(words) == 2 and "%" not in words[1]:
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), words[1])
    return None


def _of_uuid(piece: Piece, file: str, sign: str, seen: Seen) -> list[str] | None:
    """The calls for a line of fstab(5) that begins with the UUID of a device, which is asked when the script runs."""
    found = _UUID.fullmatch(piece.words[1]) if piece.words[0] == "echo" and len(piece.words) == 2 else None
    device, rest = (literal(found[1]), literal(found[2])) if found else (None, None)
    if device is None or rest is None or sign != ">>":
        return None
    asked = f'uuid=$(blkid -s UUID -o value {quote(device)}) && [ -n "$uuid" ]'
    return [
        f"{asked} || {{ fail {quote(f'{visible(device)} has no UUID')}; return 1; }}",
        f"printf '%s\\n' \"UUID=$uuid\"{quote(rest)} > \"$work/in\"",
        f'add {quote(file)} {quote(seen.sum(file))} < "$work/in" || return',
    ]
