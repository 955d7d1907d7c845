"""Where configuration names a device number literally: rules, nodes that are made, links; from three sections.

lxc.container.conf(5); the Container Device Interface's SPEC.md, deviceNodes; tmpfiles.d(5), c and b; mknod(1), whose
numbers may be hexadecimal or octal; udev(7), ENV{MAJOR}. A number that a script keeps in a variable is not literal.

Some of it is written anew before it is used next: links in /dev/char and CDI files below /run at boot, the
configuration that Proxmox VE generates at each start of a container.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from ...records import record
from ...regexes import regex
from ...sections.base import Origin
from ...sections.lxc import Container, Lxc
from ...sections.runtimes import CdiNode, Runtimes
from ...sections.units import Units
from .given_devices import own_lines
from .lxc_rules import Rule, parse_rule

Kind = Literal["c", "b"]
CHAR = "/dev/char"
REMADE = ("/run/", "/var/run/")  # folders that are empty after a boot
_NUMBER = "(0[xX][0-9a-fA-F]{1,4}|[0-9]{1,9})"
_MKNOD = regex(r"(?<![\w.-])mknod\b[\s(,\"']+([^;&|\n]{1,400})")
_LITERAL = regex(_NUMBER, re.ASCII)
_RULE = regex(rf"(?<![\w:])([bc])\s+{_NUMBER}:({_NUMBER}|\*)\s+[rwm]{{1,3}}\b", re.ASCII)
_UDEV_MAJOR = regex(r'ENV\{MAJOR\}=="([0-9]{1,9})"', re.ASCII)
_PAIR = regex("([0-9]{1,9}):([0-9]{1,9})", re.ASCII)
_NODE = regex(r"/dev/[\w./@+-]+")


@record(frozen=True)
class Mention:
    """A number in the configuration.

    KIND and NAME say of what, PLACE which one there; WRITTEN is the major as it stands in the line; LASTS: it is not
    written anew before it is used next.
    """

    kind: str
    name: str
    place: str
    type: Kind
    major: int
    minor: int | None = None
    device: str | None = None
    origin: Origin | None = None
    written: str = ""
    lasts: bool = True


def of_containers(section: Lxc) -> Iterator[Mention]:
    """Device rules and hook lines of containers; of running ones also what their last start generated."""
    for key, container in section.containers.items():
        yield from _rules("lxc", key, own_lines(container.live))
        if container.generated and container.running is not False:
            yield from _rules("lxc-generated", key, own_lines(container.generated), lasts=False)
        yield from _hooks(key, container)


def of_runtimes(section: Runtimes) -> Iterator[Mention]:
    """Nodes of CDI files and links in /dev/char."""
    for file, path, node in cdi_nodes(section):
        yield from _of_cdi(file, path, node)
    for number, target in (section.char_links or {}).items():
        if found := _PAIR.fullmatch(number):
            device = posixpath.normpath(posixpath.join(CHAR, target))
            yield Mention("char-link", CHAR, number, "c", int(found[1]), int(found[2]), device, lasts=False)


def cdi_nodes(section: Runtimes) -> Iterator[tuple[str, str, CdiNode]]:
    """Each node that a CDI file gives: the file, the path in the container, the node."""
    for file, cdi in (section.cdi or {}).items():
        for edits in (cdi.common, *cdi.devices.values()):
            yield from ((file, path, node) for path, node in (edits.nodes or {}).items())


def of_units(section: Units) -> Iterator[Mention]:
    """Nodes that tmpfiles.d, udev rules, scripts, units and crontabs make, and rules that they write."""
    for path, lines in (section.tmpfiles or {}).items():
        for line in lines:
            found = _PAIR.fullmatch((line.argument or "").strip()) if line.type[:1] in ("b", "c") else None
            if found:
                kind: Kind = "b" if line.type[:1] == "b" else "c"
                numbers, file = (int(found[1]), int(found[2])), line.origin.file
                yield Mention("tmpfiles", file, path, kind, *numbers, path, line.origin, found[1], _lasts(file))
    for file, rules in (section.udev or {}).items():
        for rule in rules:
            yield from _of_udev(file, rule.origin)
    for source, name, text, origin in _commands(section):
        yield from _of_text(source, name, text, origin)


def _rules(kind: str, key: str, lines: Iterable[tuple[str, str, Origin]], lasts: bool = True) -> Iterator[Mention]:
    for line in lines:
        rule = parse_rule(*line)
        if isinstance(rule, Rule) and rule.major is not None:
            place = f"{rule.type} {rule.major}:{'*' if rule.minor is None else rule.minor}"
            type_: Kind = "b" if rule.type == "b" else "c"  # a is both, and meant for a character device
            written = found[0] if (found := _LITERAL.search(line[1])) else ""
            yield Mention(kind, key, place, type_, rule.major, rule.minor, None, rule.origin, written, lasts)


def _hooks(key: str, container: Container) -> Iterator[Mention]:
    for hook in container.live.hooks or []:
        yield from _of_text("hook", key, hook.value, hook.origin)


def _of_cdi(file: str, path: str, node: CdiNode) -> Iterator[Mention]:
    if node.major is not None and node.type in (None, "b", "c", "u"):
        kind: Kind = "b" if node.type == "b" else "c"
        device = node.host_path or path
        yield Mention("cdi", file, path, kind, node.major, node.minor, device, lasts=_lasts(file))


def _lasts(file: str) -> bool:
    return not file.startswith(REMADE)


def _of_udev(file: str, origin: Origin) -> Iterator[Mention]:
    yield from _of_text("udev", file, origin.text, origin)
    for found in _UDEV_MAJOR.finditer(origin.text):
        kind: Kind = "b" if 'SUBSYSTEM=="block"' in origin.text else "c"
        yield Mention("udev", file, found[0], kind, int(found[1]), origin=origin, written=found[1])


def _commands(section: Units) -> Iterator[tuple[str, str, str, Origin]]:
    for path, script in (section.scripts or {}).items():
        yield from (("script", path, line.text, line.origin) for line in script.lines)
    for name, unit in section.units.items():
        yield from (("unit", name, command.text, command.origin) for command in unit.commands or [])
    for file, jobs in (section.cron or {}).items():
        yield from (("cron", file, job.text, job.origin) for job in jobs)


def _of_text(kind: str, name: str, text: str, origin: Origin) -> Iterator[Mention]:
    """The nodes that a command line makes, and the device rules in it."""
    for found in _MKNOD.finditer(text):
        yield from _of_mknod(kind, name, [w for w in re.split(r"[\s,\"'()]+", found[1]) if w], origin)
    for found in _RULE.finditer(text):
        minor = None if found[3] == "*" else _number(found[3])
        type_: Kind = "b" if found[1] == "b" else "c"
        place = f"{type_} {found[2]}:{found[3]}"
        if (major := _number(found[2])) is not None:
            yield Mention(kind, name, place, type_, major, minor, None, origin, found[2])


def _of_mknod(kind: str, name: str, words: list[str], origin: Origin) -> Iterator[Mention]:
    """The node that mknod makes with these words behind it; none when it has no literal major number."""
    before = ["", *words]
    plain = [w for w, last in zip(words, before, strict=False) if w[0] != "-" and last not in ("-m", "--mode")]
    if len(plain) < 3 or plain[1] not in ("b", "c", "u") or (major := _number(plain[2])) is None:
        return
    node = _NODE.search(plain[0])
    whole = node is not None and plain[0].endswith(node[0])  # not /dev/nvidia$i
    minor = _number(plain[3]) if len(plain) > 3 else None
    type_: Kind = "b" if plain[1] == "b" else "c"
    device = node[0] if node and whole else None
    yield Mention(kind, name, plain[0], type_, major, minor, device, origin, plain[2])


def _number(word: str) -> int | None:
    """A number as strtoumax(3) with base 0 reads it: 0 in front is octal, 0x hexadecimal. None when it is none."""
    if not _LITERAL.fullmatch(word):
        return None
    try:
        return int(word, 16 if word[:2] in ("0x", "0X") else 8 if word[0] == "0" else 10)
    except ValueError:
        return None
