"""What a snapshot saw of the files that a script edits: checksums, and the text of lines.

A line's text is evidence and can differ from the file (a secret is dropped, blanks are cut off); then the file's
checksum still tells that nothing has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from ..sections import NAMES

if TYPE_CHECKING:
    from ..document import Snapshot


class Seen:
    """Checksums by file, and texts by file and line."""

    def __init__(self, sums: dict[str, str], texts: dict[tuple[str, int], str]) -> None:
        self._sums, self._texts = sums, texts

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """What SNAPSHOT saw."""
        texts: dict[tuple[str, int], str] = {}
        for name in NAMES:
            _gather(snapshot.table(name), texts)
        return cls({path: file.sha256 for path, file in snapshot.files.items()}, texts)

    def sum(self, file: str) -> str:
        """The SHA-256 of FILE; a dash where it is not known."""
        return self._sums.get(file, "-")

    def text(self, file: str, line: int) -> str | None:
        """LINE of FILE, None where it is not known."""
        return self._texts.get((file, line))


def _gather(value: Any, texts: dict[tuple[str, int], str]) -> None:
    """The longest text of each line: a section can keep a part of one."""
    if isinstance(value, list):
        for one in value:
            _gather(one, texts)
    elif isinstance(value, dict):
        match value:
            case {"file": str(file), "line": int(line), "text": str(text)}:
                texts[file, line] = max(texts.get((file, line), ""), text, key=len)
        for one in value.values():
            _gather(one, texts)
