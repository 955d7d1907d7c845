"""A recorded root with the same pseudonyms as the snapshot that was taken with it, in contents, names and tables.

Text is redacted as text, and passwords that a take would have left out go as well. Of binary files, PCI config space
and SMBIOS tables keep their length; any other one that shows a name is left out, and counts as not recorded, as does
one that is packed and cannot be looked into.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping

from ..collectors.base import decode
from ..collectors.modinfo import unpacked
from ..collectors.secrets import REDACTED, is_secret
from ..collectors.secrets import redacted as without_secrets
from ..errors import ParseError, SnapError
from ..host.base import NOT_RECORDED, Command, Stat
from ..host.recorded import COMMANDS, folders
from ..host.tables import NAME, Tables, loads
from ..host.tree import Memory
from ..records import replace
from ..regexes import regex
from .binary import dmi, pci_config
from .forms import Text
from .pseudonyms import Pseudonyms

_FILE = Stat("file", 0, 0, 0o644, 0, 0, 0, 0)
_SERIALS = frozenset({"serial", "unique_id", "product_serial", "board_serial", "chassis_serial"})
_HOSTNAMES = ("/etc/hostname", "/proc/sys/kernel/hostname")
_PCI = regex(r"/sys/(?:bus/pci/devices/[^/]+|devices/.*/[0-9a-f:.]+)/config")
_DMI = "/sys/firmware/dmi/tables/DMI"
_PACKED = (".xz", ".zst", ".gz")
_CONTROL = regex("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f\udc80-\udcff]")
_PROCESSES = regex(r"(<(process(?:es|_info))>).*?(</\2>)", re.DOTALL)
_XML_SERIAL = regex(r"(?<=<serial>)[^<]+")
_QUOTED = regex(r'(?P<name>(?:"[\w.-]+"|[\w.-]+)\s*[:=]\s*)?"(?P<value>(?:[^"\\]|\\.)*)"')
_NOTE = regex(r"^(#|description: |env: |sshkeys: |lxc\.environment\S*\s*=\s*).*", re.MULTILINE)
_SIGNS = " \t\r\n\":="
_KERNELS = ("/sys/", "/proc/")
_VERSIONS = ("dkms", "dpkg-query", "rpm", "nvidia-smi")  # what they print are versions, never addresses
_GUESTS = ("/etc/pve/", "/var/lib/lxc/")


def redacted(raw: Memory, names: Pseudonyms, text: Text) -> Memory:
    """The files of the recorded root RAW, redacted, recorded.json among them. SnapError when two names meet."""
    return _Pass(raw, names, text).run()


class _Pass:
    """One recording on its way."""

    def __init__(self, raw: Memory, names: Pseudonyms, text: Text) -> None:
        self._raw, self._names, self._text = raw, names, text
        self._made = Memory()
        self._tables = loads(raw.data(f"/{NAME}", 1 << 40))
        self._sizes: dict[str, tuple[int, int]] = {}  # before and after, where they differ
        self._left_out: list[str] = []

    def run(self) -> Memory:
        commands = set()
        for path, stat in self._raw.stats.items():
            if path.startswith(f"{COMMANDS}/"):
                if path.endswith("/argv.json"):
                    commands.add(posixpath.dirname(path))
            elif stat.type == "directory" and path not in ("", COMMANDS):
                self._made.put(self._text(path), stat)
            elif stat.type == "file" and path != f"/{NAME}":
                self._file(path, self._raw.data(path, 1 << 40))
        for folder in sorted(commands):
            self._command(folder)
        self._made.put(f"/{NAME}", _FILE, self._redacted_tables().dumps())
        return self._made

    def _put(self, path: str, data: bytes) -> None:
        if path in self._made.stats:
            raise SnapError(f"{path}: two names became the same pseudonym; redact with another key")
        self._made.put(path, _FILE, data)

    def _file(self, path: str, data: bytes) -> None:
        content = self._content(path, data)
        if content is None:
            self._left_out.append(path)
            return
        if len(content) != len(data):
            self._sizes[path] = len(data), len(content)
        self._put(self._text(path), content)

    def _content(self, path: str, data: bytes) -> bytes | None:
        """The redacted content of the file PATH; None when there can be none."""
        if _PCI.fullmatch(path):
            return pci_config(data, self._names)
        if path == _DMI:
            return dmi(data, self._names)
        text = decode(data)
        if path.endswith(_PACKED):
            return self._packed(path, data)
        if _CONTROL.search(text):
            return data if self._is_clean(data) else None
        return self._words(path, text).encode("utf-8", "surrogateescape")

    def _packed(self, path: str, data: bytes) -> bytes | None:
        try:
            return data if self._is_clean(unpacked(data, path)) else None
        except ParseError:
            return None

    def _is_clean(self, data: bytes) -> bool:
        """Whether nothing in binary data is a name, as bytes or as UTF-16."""
        if data.startswith(b"\x7fELF"):
            return not self._text.knows_in(data)
        return not any(self._text.finds(decode(one)) for one in (data, data.replace(b"\0", b"")))

    def _words(self, path: str, text: str) -> str:
        whole = text.strip()
        if whole and posixpath.basename(path) in _SERIALS:
            return text.replace(whole, self._names.serial(whole))
        if whole and path in _HOSTNAMES:
            return text.replace(whole, self._names.fqdn(whole))
        if path.startswith(_GUESTS):
            text = _NOTE.sub(rf"\1{REDACTED}", text)
        text = _QUOTED.sub(_quoted, text) if path.endswith((".json", ".toml")) else without_secrets(text)
        return self._text(text, addresses=not path.startswith(_KERNELS))

    def _command(self, folder: str) -> None:
        """The files of one command, under the name that its redacted words have."""
        argv = [self._text(word) for word in json.loads(self._raw.data(f"{folder}/argv.json", 1 << 40))]
        free = (made for made in folders(Command(tuple(argv))) if f"{made}/argv.json" not in self._made.stats)
        made = next(free, None)
        if made is None:
            raise SnapError(f"{folder}: two commands became the same; redact with another key")
        for name in self._raw.names(folder):
            data = self._raw.data(f"{folder}/{name}", 1 << 40)
            words = name == "argv.json"
            self._put(f"{made}/{name}", (json.dumps(argv) + "\n").encode() if words else self._said(argv[0], data))

    def _said(self, tool: str, data: bytes) -> bytes:
        text = _PROCESSES.sub(r"\1\3", decode(data))
        text = _XML_SERIAL.sub(lambda found: self._names.serial(found[0]), text)
        return self._text(text, None if tool in _VERSIONS else True).encode("utf-8", "surrogateescape")

    def _redacted_tables(self) -> Tables:
        old, path = self._tables, self._text
        session = old.session and replace(old.session, hostname=path.host(old.session.hostname), redacted=True)
        tables = Tables(
            session, nodes=self._stats(old.nodes), linknodes=self._stats(old.linknodes),
            links={path(place): path(target) for place, target in old.links.items()},
            lists={path(top): sorted(self._name(top, name) for name in found) for top, found in old.lists.items()},
            errors={path(place): dict(found) for place, found in old.errors.items()},
            unwalked={path(place): sorted(map(path, found)) for place, found in old.unwalked.items()}, asked=old.asked,
        )
        for place in self._left_out:
            tables.errors.setdefault(path(place), {})["read"] = NOT_RECORDED
        return tables

    def _name(self, folder: str, name: str) -> str:
        return posixpath.basename(self._text(f"{folder.rstrip('/')}/{name}"))

    def _stats(self, stats: Mapping[str, Stat]) -> dict[str, Stat]:
        """Nodes by their new paths, with the sizes of their new contents."""
        made = {}
        for path, stat in stats.items():
            before, after = self._sizes.get(path, (-1, -1))
            if stat.type == "link" and (target := self._tables.links.get(path)) is not None:
                before, after = len(target), len(self._text(target))
            made[self._text(path)] = replace(stat, size=after) if stat.size == before else stat
        return made


def _quoted(found: re.Match[str]) -> str:
    """A quoted value, and the name before it, without what is secret."""
    name = found["name"] or ""
    return f'{name}"{REDACTED if is_secret(name.strip(_SIGNS)) else without_secrets(found["value"])}"'
