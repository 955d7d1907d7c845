"""What a collector reads, as text."""

from __future__ import annotations

from collections.abc import Iterator

from .base import Reads


def render(name: str, reads: Reads) -> str:
    """The page of section NAME: paths, commands, and what root adds."""
    return "\n".join((name, *_lines(reads), "", ""))


def _lines(reads: Reads) -> Iterator[str]:
    for path in reads.paths:
        yield f"  {path}"
    for argv in reads.commands:
        yield f"  runs      {' '.join(argv)}"
    if reads.root:
        yield f"  root adds {reads.root}"
