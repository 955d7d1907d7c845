"""Menus of GRUB, from grub.cfg and grubenv.

info grub, "The configuration file format" and "Environment block"; grub-mkconfig's 00_header and 10_linux say what the
files look like. A grub.cfg is a script, of which only menuentry, submenu, linux, initrd and set default are understood;
the last ``set default=`` is what is taken when no next_entry is set. GRUB names an entry by its number, title or id at
each level, joined by >; numbers begin with 0. A grubenv is 1024 bytes, filled up with #.
"""

from __future__ import annotations

import re

from ..errors import ParseError
from ..records import field, record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.boot import Entry
from .grub_default import shown, words

ENV_KEYS = ("saved_entry", "next_entry", "prev_saved_entry", "kernelopts")
_ENV_HEAD = "# GRUB Environment Block\n"
_MENU = regex(r"\s*(menuentry|submenu)\s+(?:'((?:[^']|'\\'')*)'|\"([^\"]*)\"|(\S+))(.*)", re.DOTALL)
_ID = regex(r"(?:\$menuentry_id_option|--id[= ])\s*(?:'([^']*)'|\"([^\"]*)\"|([^\s{]+))")
_LINUX = regex(r"\s*linux(?:16|efi)?\s+(\S+)(.*)", re.DOTALL)
_INITRD = regex(r"\s*initrd(?:16|efi)?\s+(.*)", re.DOTALL)
_DEFAULT = regex(r"\s*set\s+default=(?:\"([^\"]*)\"|'([^']*)'|(\S*))\s*")
_RELEASE = regex(r"(?:vmlinu[xz]|linux|kernel)-([0-9]+\.[0-9][^/\s]*)|/([0-9]+\.[0-9][^/]*)/(?:vmlinuz|linux)$")
RECOVERY = {"single", "1", "s", "S", "recovery", "rescue", "emergency", "systemd.unit=rescue.target"}
_DEEP = 16


@record()
class _Node:
    """A menu entry or submenu; a submenu has children and no image."""

    title: str
    id: str
    submenu: bool
    image: str = ""
    text: str = ""
    line: int = 0
    initrds: list[str] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)


@record(frozen=True)
class GrubConfig:
    """A grub.cfg: its entries by key, how GRUB would find each, its default, and whether it reads BLS entries too."""

    entries: dict[str, Entry]
    names: dict[str, str]  # number, title or id (with submenus, joined by >) -> key
    default: str
    saved: bool  # the default is what grubenv has saved
    bls: bool

    def find(self, name: str) -> str | None:
        """The key of the entry that GRUB takes for NAME; None when there is none: then it takes the first."""
        return self.names.get(name)


def parse_grub(text: str, path: str) -> GrubConfig:
    """A grub.cfg. ParseError when submenus lie too deep, or nothing in it is a menu."""
    top: list[_Node] = []
    stack: list[_Node | None] = []  # what each open brace belongs to; None: a block of something else
    default, bls = "", False
    for number, line in enumerate(text.split("\n"), 1):
        if (match := _DEFAULT.fullmatch(line)) and not any(stack):
            default = next(filter(None, match.groups()), "")
        bls = bls or line.strip() == "blscfg"
        _step(line, number, top, stack)
    if not top and not bls and not default:
        raise ParseError(f"no menu in {path}")
    entries: dict[str, Entry] = {}
    names: dict[str, str] = {}
    _number(top, path, "", "", (), entries, names)
    saved = "saved_entry" in default
    return GrubConfig(entries, names, "" if "$" in default else default, saved, bls)


def _step(line: str, number: int, top: list[_Node], stack: list[_Node | None]) -> None:
    """One line of a grub.cfg. Braces count at the end of a line and alone on it, as grub-mkconfig writes them."""
    here = next((node for node in reversed(stack) if node), None)
    bare = line.strip()
    if len(stack) > _DEEP:
        raise ParseError(f"line {number}: blocks lie more than {_DEEP} deep")
    if match := _MENU.fullmatch(line):
        node = _Node(_title(match), _found(_ID.search(match[5])), match[1] == "submenu")
        (here.children if here and here.submenu else top).append(node)
        if bare.endswith("{"):
            stack.append(node)
    elif bare == "}":
        if stack:
            stack.pop()
    elif bare.endswith("{"):
        stack.append(None)
    elif here and not here.submenu and (match := _LINUX.fullmatch(line)):
        here.image, here.text, here.line = match[1], match[2].strip(), number
    elif here and (match := _INITRD.fullmatch(line)):
        here.initrds += match[1].split()


def _title(match: re.Match[str]) -> str:
    return (match[2] or match[3] or match[4] or "").replace("'\\''", "'")


def _found(match: re.Match[str] | None) -> str:
    return next(filter(None, match.groups()), "") if match else ""


def _number(
    nodes: list[_Node], path: str, prefix: str, above: str, spellings: tuple[str, ...],
    entries: dict[str, Entry], names: dict[str, str],
) -> None:
    """Fills ENTRIES and the NAMES that GRUB would find each by."""
    for index, node in enumerate(nodes):
        own = tuple(dict.fromkeys(filter(None, (str(index), node.title, node.id))))
        full = tuple(f"{a}>{b}" for a in spellings for b in own) if spellings else own
        title = f"{above}{node.title}"
        if node.submenu:
            _number(node.children, path, prefix, f"{title} > ", full, entries, names)
        elif node.image:
            key = node.id or title
            key = key if key not in entries else f"{key} line {node.line}"
            entries[key] = _grub_entry(node, title, path)
            for name in full:
                names.setdefault(name, key)


def _grub_entry(node: _Node, title: str, path: str) -> Entry:
    found = words(node.text)
    origin = Origin(file=path, line=node.line, text=shown(f"linux {node.image} {node.text}"))
    recovery = bool(RECOVERY.intersection(found)) or "-recovery-" in node.id
    return Entry(
        title=title, kernel=release(node.image), linux=node.image, initrds=node.initrds or None, words=found,
        recovery=recovery or None, origin=origin,
    )


def release(image: str) -> str | None:
    """The kernel release that an image's path names: vmlinuz-6.8.12-9-pve, or .../6.8.12-9-pve/linux."""
    found = _RELEASE.search(image.replace("\\", "/"))
    return (found[1] or found[2]) if found else None


def parse_env(data: bytes, path: str) -> dict[str, str]:
    """The variables of a grubenv that choose an entry. ParseError when it is no environment block."""
    text = data.decode("utf-8", "surrogateescape")
    if not text.startswith(_ENV_HEAD):
        raise ParseError(f"{path} is no environment block: {text[:30]!r}")
    pairs = (line.partition("=") for line in text.split("\n") if line[:1] != "#")
    found = {key: re.sub(r"\\(.)", r"\1", value) for key, _, value in pairs if key in ENV_KEYS}
    return {key: shown(value) for key, value in sorted(found.items()) if value}
