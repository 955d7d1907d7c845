"""Menus of GRUB, from grub.cfg and grubenv.

info grub, "The configuration file format" and "Environment block"; grub-mkconfig's 00_header and 10_linux say what the
files look like. A grub.cfg is a script, of which only menuentry, submenu, linux, initrd and set default are understood;
the last ``set default=`` is what is taken when no next_entry is set. GRUB names an entry by its number, title or id at
each level, joined by >; numbers begin with 0. A grubenv is 1024 bytes, filled up with #.
"""

from __future__ import annotations

import re

from ..errors import ParseError
from ..records import record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.boot import Entry
from .boot_script import Node, Script, find
from .grub_default import shown, words

ENV_KEYS = ("saved_entry", "next_entry", "prev_saved_entry", "kernelopts")
_ENV_HEAD = "# GRUB Environment Block\n"
_RELEASE = regex(r"(?:vmlinu[xz]|linux|kernel)-([0-9]+\.[0-9][^/\s]*)|/([0-9]+\.[0-9][^/]*)/(?:vmlinuz|linux)$")
RECOVERY = {"single", "1", "s", "S", "recovery", "rescue", "emergency", "systemd.unit=rescue.target"}


@record(frozen=True)
class GrubConfig:
    """A grub.cfg: its entries by key, its menu, its default, and whether it reads BLS entries too."""

    entries: dict[str, Entry]
    menu: list[Node]
    default: str
    saved: bool  # the default is what grubenv has saved
    bls: bool
    sure: bool  # nothing else can be the default
    whole: bool  # GRUB would refuse nothing of it

    def find(self, wanted: str) -> tuple[str | None, bool]:
        """The key of the entry that GRUB takes for WANTED, and whether that is sure; None: it starts no Linux image."""
        node, sure = find(self.menu, wanted)
        return node.key if node else None, sure and self.whole


def parse_grub(text: str, path: str) -> GrubConfig:
    """A grub.cfg. ParseError when blocks lie too deep, or nothing in it is a menu."""
    script = Script(text).read()
    if not any(node.title for node in script.top) and not script.bls and not script.default:
        raise ParseError(f"no menu in {path}")
    entries: dict[str, Entry] = {}
    _enter(script.top, path, "", entries)
    default, saved = script.default, "saved_entry" in script.default
    return GrubConfig(
        entries, script.top, "" if "$" in default else default, saved, script.bls,
        script.sure and (saved or "$" not in default), script.whole,
    )


def _enter(nodes: list[Node], path: str, above: str, entries: dict[str, Entry]) -> None:
    """Fills ENTRIES, and the keys of the nodes."""
    for node in nodes:
        title = f"{above}{node.title}"
        if node.submenu:
            _enter(node.children, path, f"{title} > ", entries)
        elif node.image:
            key = node.id or title
            node.key = key if key not in entries else f"{key} line {node.line}"
            entries[node.key] = _grub_entry(node, title, path)


def _grub_entry(node: Node, title: str, path: str) -> Entry:
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
