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
from ..errors import ParseError, SnapError
from ..host.base import NOT_RECORDED, Command, Stat
from ..host.recorded import COMMANDS, folders
from ..host.tables import NAME, Tables, loads
from ..host.tree import Memory
from ..records import replace
from ..regexes import regex
from .binary import dmi, pci_config, serial_page, spaces
from .forms import Text
from .known import SYSTEM
from .pseudonyms import Pseudonyms
from .raw_secrets import without_quoted, without_secrets

_FILE = Stat("file", 0, 0, 0o644, 0, 0, 0, 0)
_SERIALS = frozenset({"serial", "unique_id", "product_serial", "board_serial", "chassis_serial"})
_HOSTNAMES = ("/etc/hostname", "/proc/sys/kernel/hostname")
_PCI = regex(r"/sys/(?:bus/pci/devices/[^/]+|devices/.*/[0-9a-f:.]+)/config")
_EFI = "/sys/firmware/efi/efivars/Loader"  # UTF-16 behind four bytes of attributes
_DMI = "/sys/firmware/dmi/tables/DMI"
_PACKED = (".xz", ".zst", ".gz")
_CONTROL = regex("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f\udc80-\udcff]")
# nvidia-smi -q, as XML and as text; the second also of lspci -vvv
_PROCESSES = regex(r"(<((?:accounted_)?process(?:es|_info))>).*?(</\2>)", re.DOTALL)
_XML_SERIAL = regex(r"(?<=serial>)[^<]+(?=</)|(?<=serial_number>)[^<]+(?=</)|(?<=<pdi>)[^<]+")
_PROCESS_LINES = regex(
    r"^ +(?:Process ID|Type|Name|Used GPU Memory|(?:GPU|Compute) [Ii]nstance ID) +: .*\n", re.MULTILINE)
_SERIAL = regex(
    r"(?<=Serial number: )\S+|(?:(?<=Serial Number {26}: )|(?<=Serial Number {38}: )|(?<=PDI {48}: ))(?!N/A)\S+")
_KERNELS = ("/sys/", "/proc/")
_VERSIONS = ("dkms", "dpkg-query", "rpm", "nvidia-smi")  # what they print are versions, never addresses
_PARAMETERS = regex(r"/sys/module/[^/]+/parameters/.*")
_OWNERS = ("/etc/subuid", "/etc/subgid")
_OWNER = regex(r"^([A-Za-z_][\w.-]*)(?=:)", re.MULTILINE)
_LIMITED = regex(r"^(\s*@?)([A-Za-z_][\w.-]*)(?=\s+(?:soft|hard|-)\s)", re.MULTILINE)
_UNIQUE = regex(r"(?<=^unique_id )[1-9][0-9]*$", re.MULTILINE)  # of properties of kfd: the GPU's, in decimal


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
        if path.endswith("/vpd_pg80"):
            return serial_page(data, self._names)
        text = decode(data)
        if path.startswith(_EFI):
            said = data[4:].decode("utf-16-le", "replace")
            return data[:4] + self._text(said).encode("utf-16-le", "surrogatepass")
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
        if path.startswith(_KERNELS) and is_secret(posixpath.basename(path)):  # a letter or a number is none
            return text.replace(whole, REDACTED) if len(whole) > 1 and not whole.lstrip("-").isdecimal() else text
        if path in _OWNERS:
            text = _OWNER.sub(lambda found: self._user(found[1]), text)
        elif path.startswith("/etc/security/limits"):
            text = _LIMITED.sub(lambda found: found[1] + self._user(found[2]), text)
        elif path.startswith("/sys/class/kfd/"):
            text = _UNIQUE.sub(lambda found: str(int(self._names.serial(f"{int(found[0]):016x}"), 16)), text)
        addresses = not path.startswith(_KERNELS) or _PARAMETERS.fullmatch(path) is not None
        return self._text(without_secrets(path, text), addresses)

    def _user(self, name: str) -> str:
        return name if name in SYSTEM else self._names.user(name)

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
        text = decode(data)
        if text.startswith("<"):
            text = _XML_SERIAL.sub(lambda found: self._names.serial(found[0]), _PROCESSES.sub(r"\1\3", text))
        elif text.startswith(("{", "[")):
            text = without_quoted(text)
        else:
            text = _SERIAL.sub(lambda found: self._names.serial(found[0]), _PROCESS_LINES.sub("", text))
            text = without_secrets("", spaces(text, self._names))
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
