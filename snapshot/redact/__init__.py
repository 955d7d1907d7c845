"""Redaction: a snapshot, or a recorded root, with pseudonyms in place of what names a host, its owners and its parts.

``Redaction(key, snapshot)`` gathers the names that the snapshot's fields are marked with (``known``), replaces them
and every form that can be told by its looks (``forms``) wherever they stand, and does the same to a raw recording
(``recording``). Pseudonyms (``pseudonyms``) depend on the key and the name alone, so that two redacted snapshots of
one host compare as the originals do. Secrets are another matter: those no collector lets in.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import sections
from ..document import FileFact, Meta, Outcome, Snapshot, UnreadFact
from ..errors import SnapError
from ..sections.shape import LEAF, Shape, of_section
from .forms import Text
from .known import gather
from .pseudonyms import Pseudonyms

if TYPE_CHECKING:
    from ..host.tree import Memory

_NO_ADDRESSES = frozenset({"os", "firmware", "kernel", "modules", "dkms", "packages", "cpu", "pci", "nvidia", "amdgpu"})
"""Sections in which a value that looks like an IPv4 address is a version."""

_ADDRESSES = frozenset({"parameters", "options"})  # fields of such sections in which it is an address after all

_HOST_KEYS = frozenset({"hostname", "name", "lxc.uts.name", "lxc.utsname"})


class Redaction:
    """The pseudonyms of one snapshot under one KEY. SnapError when it is redacted already."""

    def __init__(self, key: bytes, taken: Snapshot) -> None:
        if taken.meta.redacted:
            raise SnapError(f"{taken.name}: is redacted already: start from the original")
        self._taken = taken
        self._names = Pseudonyms(key)
        self.known = gather(taken, self._names)
        self.text = Text(self._names, self.known)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The redacted snapshot. FormatError when a section does not fit its model."""
        taken = self._taken
        models = {}
        for name in sections.NAMES:
            if taken.section(name) is not None:
                table = taken.table(name)
                try:
                    made = self._of(table, of_section(name), name not in _NO_ADDRESSES)
                except _MeetError:
                    raise _met(name) from None
                models[name] = sections.model(name).model_validate(made)
        outcomes = {name: self._outcome(name, outcome) for name, outcome in taken.outcomes.items()}
        files = {self.text(path): self._file(file) for path, file in taken.files.items()}
        if len(files) != len(taken.files):
            raise _met("files")
        return Snapshot.build(self._meta(taken.meta), outcomes, files, models)

    def recording(self, raw: Memory) -> Memory:
        """The recorded root RAW, of which the snapshot was taken, redacted."""
        from .recording import redacted

        return redacted(raw, self._names, self.text)

    def _meta(self, meta: Meta) -> Meta:
        return meta.copy(
            host=self.text.host(meta.host), machine=meta.machine and self._names.machine(meta.machine),
            boot_id=meta.boot_id and self.text(meta.boot_id),
            unread=meta.unread and [self.text(line) for line in meta.unread], redacted=True,
        )

    def _file(self, file: FileFact) -> FileFact:
        return file.copy(sha256=self._names.digest(file.sha256))  # which gives a short content away

    def _outcome(self, section: str, outcome: Outcome) -> Outcome:
        unread = [
            UnreadFact(path=self._path(fact.path, of_section(section)), source=self.text(fact.source),
                       why=self.text(fact.why))
            for fact in outcome.unread or ()
        ]
        return outcome.copy(why=outcome.why and self.text(outcome.why), unread=unread or None)

    def _path(self, path: list[str], shape: Shape) -> list[str]:
        found: list[str] = []
        for key in path:
            table = shape.kind == "table"
            found.append(self._key(key, shape) if table else self.text(key))
            shape = (shape.item if table else shape.fields.get(key)) or LEAF
        return found

    def _key(self, key: str, shape: Shape, addresses: bool = True) -> str:
        return (shape.private and self._whole(key)) or self.text(key, addresses)

    def _whole(self, name: str) -> str | None:
        """The pseudonym of a name that stands alone, however short, or of a disk in front of -partN."""
        disk, sign, number = name.rpartition("-part")
        if sign and number.isdecimal() and disk in self.known.whole:
            return f"{self.known.whole[disk]}{sign}{number}"
        return self.known.whole.get(name)

    def _of(self, value: Any, shape: Shape, addresses: bool) -> Any:
        """VALUE of SHAPE, redacted, with its keys. ADDRESSES: as Text takes it."""
        if isinstance(value, dict):
            return self._table(value, shape, addresses)
        if isinstance(value, list):
            item = shape.item or shape
            return [self._of(one, item, addresses) for one in value]
        if not isinstance(value, str):
            return value
        if shape.private and (found := self._whole(value)):
            return found
        return self.text(value, addresses)

    def _table(self, table: dict[str, Any], shape: Shape, addresses: bool) -> dict[str, Any]:
        if shape.kind == "model":
            if table.get("key") in _HOST_KEYS:
                table = self._host_option(table)
            return {name: self._of(value, shape.fields[name], addresses or name in _ADDRESSES)
                    for name, value in table.items()}
        item = shape.item or LEAF
        table = {key: self._host_option(value) if key in _HOST_KEYS else value for key, value in table.items()}
        made = {self._key(key, shape, addresses): self._of(value, item, addresses) for key, value in table.items()}
        if len(made) != len(table):
            raise _MeetError
        return made

    def _host_option(self, option: Any) -> Any:
        """An option of a guest whose value is a host name."""
        value = option.get("value") if isinstance(option, dict) else None
        return {**option, "value": self.known.whole.get(value, value)} if isinstance(value, str) else option


class _MeetError(Exception):
    """Two keys of a table became the same."""


def _met(section: str) -> SnapError:
    return SnapError(f"{section}: two names became the same pseudonym; redact with another key")
