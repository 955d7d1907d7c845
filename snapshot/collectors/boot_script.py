"""The menu that a GRUB script makes, as far as text tells.

info grub, "Shell-like scripting"; grub-core/script/yylex.l and parser.y. Words are split at blanks; '...' is taken as
it stands, "..." and plain text have \\ and $; \\ before a newline goes on; # begins a comment where a word could begin.
Newlines and ; end a command, and { and } are words of their own wherever they stand outside quotes: a block belongs to
the command on whose line it begins. if, while, until and for end with fi and done. There is no | & < >.

Understood are menuentry, submenu, linux, initrd, set default and blscfg. What stands in a condition or a function may
not be there, and behind another file (source) anything may stand: an entry that can be found only by counting such is
not sure. Nothing is where GRUB would refuse the text.
"""

from __future__ import annotations

import re
from bisect import bisect

from ..errors import ParseError
from ..records import field, record
from ..regexes import regex

_TOKEN = regex(
    r"""(?P<blank>(?>(?:[ \t\r]|\\\n)+)|\#[^\n]*+)|(?P<end>[\n;])|(?P<brace>[{}])"""
    r"""|(?P<word>(?>(?:[^{}|&$;<>\s'"\\]|\\[\s\S]|"(?>(?:[^"\\]|\\[\s\S])*)"|'[^']*+'|\$\{[^{}\s]*+\}|\$[\w?*@#"])+))"""
    r"""|(?P<other>[\s\S])"""
)
_PART = regex(r"""'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])""")
_WITHIN = regex(r"""\\([$"\\\n])""")
_LINUX = regex("linux(?:16|efi)?")
_INITRD = regex("initrd(?:16|efi)?")
_DEFAULT = regex(r"(?:set\s+)?default=(.*)", re.DOTALL)
_VALUED = ("--class", "--users", "--hotkey", "--source", "--id")
_ID = ("--id", "$menuentry_id_option", "${menuentry_id_option}")
_DEEP = 16


@record()
class Node:
    """A menu entry, a submenu, or a place where entries may come in that are not here (without a title)."""

    title: str = ""
    id: str = ""
    submenu: bool = False
    sure: bool = False  # it is there whatever happens
    image: str = ""
    text: str = ""  # behind the image
    line: int = 0
    initrds: list[str] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    key: str | None = None


@record()
class _Frame:
    """What a brace or a condition has opened."""

    brace: bool
    node: Node | None = None
    once: bool = False  # the other branch takes next_entry


@record()
class Script:
    """Takes the tokens of a script in."""

    text: str
    top: list[Node] = field(default_factory=list)
    default: str = ""
    sure: bool = True  # nothing but DEFAULT can be the default
    whole: bool = True  # GRUB would refuse nothing of it
    bls: bool = False
    stack: list[_Frame] = field(default_factory=list)
    words: list[re.Match[str]] = field(default_factory=list)
    closed: bool = False
    newlines: list[int] = field(default_factory=list)

    def read(self) -> Script:
        """All of it. ParseError when blocks lie too deep."""
        self.newlines = [found.start() for found in re.finditer("\n", self.text)]
        for found in _TOKEN.finditer(self.text):
            kind = found.lastgroup
            if kind == "end":
                self._command()
            elif kind == "brace":
                self._brace(found[0])
            elif kind == "word":
                self._word(found)
            elif kind == "other":
                self.whole = False
        self._command()
        self.whole = self.whole and not self.stack
        return self

    def _word(self, found: re.Match[str]) -> None:
        self.whole = self.whole and not self.closed
        if self.words:
            self.words.append(found)
        elif found[0] in ("then", "else", "elif", "do"):
            self.whole = self.whole and bool(self.stack) and not self.stack[-1].brace
        elif found[0] in ("if", "while", "until", "for"):
            self._open(_Frame(brace=False))
            self.words += [found] if found[0] == "for" else []
        elif found[0] in ("fi", "done"):
            self._close(brace=False)
        else:
            self.words = [found]

    def _brace(self, sign: str) -> None:
        if sign == "}":
            self._command()
            self._close(brace=True)
            return
        words, self.words = [plain(found[0]) for found in self.words], []
        node = _node(words) if words and words[0] in ("menuentry", "submenu") else None
        if node:
            self.whole = self.whole and bool(node.title)
            node.sure = all(frame.node for frame in self.stack)
            self._list(node)
        self._open(_Frame(brace=True, node=node))

    def _open(self, frame: _Frame) -> None:
        self.stack.append(frame)
        if len(self.stack) > _DEEP:
            raise ParseError(f"blocks lie more than {_DEEP} deep")

    def _close(self, brace: bool) -> None:
        self.whole = self.whole and bool(self.stack) and self.stack[-1].brace is brace
        if self.stack:
            self.stack.pop()
        self.closed = True

    def _list(self, node: Node) -> None:
        """Puts a node where the script is; within an entry it is none of the menu's."""
        here = self._here()
        if here is None or here.submenu:
            (here.children if here else self.top).append(node)

    def _here(self) -> Node | None:
        return next((frame.node for frame in reversed(self.stack) if frame.node), None)

    def _command(self) -> None:
        found, self.words, self.closed = self.words, [], False
        if not found:
            return
        words, here = [plain(one[0]) for one in found], self._here()
        if words[0] in ("menuentry", "submenu"):
            self.whole = False  # no block
        elif words[0] in ("source", ".", "blscfg"):
            self.bls = self.bls or words[0] == "blscfg"
            self._list(Node())
        elif default := _DEFAULT.fullmatch(" ".join(words)):
            self._set(default[1])
        elif here and not here.submenu and len(words) > 1 and _LINUX.fullmatch(words[0]):
            here.image, here.line = words[1], bisect(self.newlines, found[0].start()) + 1
            here.text = self._behind(found)
        elif here and _INITRD.fullmatch(words[0]):
            here.initrds += words[1:]

    def _behind(self, words: list[re.Match[str]]) -> str:
        """What is behind the image, as it stands; where it has ' or \\, as grub_create_loader_cmdline() makes it."""
        text = self.text[words[1].end(): words[-1].end()].strip()
        return " ".join(_handed_on(plain(word[0])) for word in words[2:]) if "'" in text or "\\" in text else text

    def _set(self, value: str) -> None:
        if any(frame.brace for frame in self.stack):  # of an entry or a function
            return
        if "next_entry" in value:
            for frame in self.stack[-1:]:
                frame.once = True
        elif not self.stack or (len(self.stack) == 1 and self.stack[0].once):
            self.default, self.sure = value, True
        elif value != self.default:
            self.sure = False


def plain(word: str) -> str:
    """A word without its quotes; variables stay as they are."""
    return _PART.sub(_unquoted, word)


def _handed_on(word: str) -> str:
    escaped = re.sub(r"""([\\'"])""", r"\\\1", word)
    return f'"{escaped}"' if " " in escaped else escaped


def _unquoted(found: re.Match[str]) -> str:
    if found[2] is not None:
        return _WITHIN.sub(lambda escaped: escaped[1].strip("\n"), found[2])
    return found[1] if found[1] is not None else found[3].strip("\n")


def _node(words: list[str]) -> Node:
    """The entry that menuentry or submenu with its arguments makes."""
    title, name, rest = "", "", iter(words[1:])
    for word in rest:
        option, equals, value = word.partition("=")
        if option in _VALUED or word in _ID:
            value = value if equals else next(rest, "")
            name = value if option in _ID else name
        elif not word.startswith("--"):
            title = title or word
    return Node(title, name, words[0] == "submenu")


def find(nodes: list[Node], wanted: str) -> tuple[Node | None, bool]:
    """The entry that GRUB takes for WANTED, which names one a level, and whether that is sure.

    get_entry_number() and grub_menu_execute_entry() in grub-core/normal/menu.c: a number, title or id; what names
    nothing is the first, a submenu goes on with what is behind > or its first, and >> stands for >. None: no entry.
    """
    match = re.match(r"((?>(?:[^>]|>>)*))>?(.*)", wanted, re.DOTALL)
    first, rest = (match[1].replace(">>", ">"), match[2]) if match else ("", "")
    if re.fullmatch("[0-9]{1,9}", first):
        at = int(first) if int(first) < len(nodes) else 0
        sure = all(node.sure for node in nodes[: int(first) + 1])
    else:
        at = next((n for n, node in enumerate(nodes) if first and first in (node.title, node.id)), 0)
        sure = all(node.sure for node in nodes[at: at + 1])
    if not nodes:
        return None, True
    if nodes[at].submenu:
        found, certain = find(nodes[at].children, rest)
        return found, sure and certain
    return nodes[at], sure
