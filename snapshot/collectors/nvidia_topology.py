"""How GPUs are connected, from nvidia-smi topo -m, topo -p2p r and nvlink -s.

nvidia-smi(1). topo writes a grid of tab separated cells, its header underlined with ANSI escapes even in a pipe; rows
of GPUs go on with their affinities (an empty one when no CPU of the take's own is near, one tab more than the header
has). NICs are numbered and explained in a legend; old drivers use their names. Pasted output has blanks for tabs.
nvlink -s lists a GPU's links, indented, as a speed or <inactive>.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import ParseError
from ..records import field, record
from ..regexes import regex
from ..sections.base import Matrix, format_cpus
from ..sections.nvidia import Affinity, Nvlink

_ANSI = regex(r"\x1b\[[0-9;]*m")
_CELL = regex(r"[A-Z][A-Z0-9/]{0,15}")
_LEGEND = regex(r"\s+(NIC[0-9]{1,4}): (\S+)")
_AFFINITY = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")
_GPU = regex(r"GPU [0-9]{1,4}: .*\(UUID: (GPU-[0-9a-fA-F-]+)\)")
_LINK = regex(r"\s+Link ([0-9]{1,3}): (?:([0-9]{1,5}(?:\.[0-9]{1,6})?) GB/s|<?inactive>?)", re.IGNORECASE)


@record()
class Grid:
    """A grid by its own names: GPU0, GPU1, ..., NIC0 or mlx5_0."""

    names: list[str]
    rows: list[list[str]]
    affinity: dict[str, Affinity] = field(default_factory=dict)
    nics: dict[str, str] = field(default_factory=dict)  # NIC0 -> its name

    def matrix(self, addresses: Mapping[str, str]) -> Matrix:
        """The grid under other names, in their order. ParseError when two become one."""
        named = [addresses.get(name, name) for name in self.names]
        order = sorted(range(len(named)), key=named.__getitem__)
        if len(set(named)) != len(named):
            raise ParseError("two rows of one device")
        rows: list[list[int | str]] = [[self.rows[i][j] for j in order] for i in order]
        return Matrix(ids=[named[i] for i in order], rows=rows)


def parse_grid(text: str) -> Grid:
    """The grid in the output of nvidia-smi topo. ParseError when there is none, or a row of it is missing."""
    lines = [line for line in _ANSI.sub("", text).splitlines() if line.strip()]
    start = next((i for i, line in enumerate(lines) if line.split()[0] == "GPU0" and line[0].isspace()), None)
    if start is None or "GPU0" in _cells(lines[start])[:1]:
        raise ParseError(f"no grid: {text.strip()[:80]!r}")
    names = _names(_cells(lines[start])[1:])
    rows = [_cells(line) for line in lines[start + 1: start + 1 + len(names)]]
    cells = [row[1: 1 + len(names)] for row in rows]
    if [row[0] for row in rows] != names or not all(map(_whole, cells, [len(names)] * len(cells))):
        raise ParseError(f"the grid has no row of {len(names)} cells for each of its columns")
    told = {row[0]: row[1 + len(names):] for row in rows}
    return Grid(names, cells, {name: a for name, rest in told.items() if (a := _affinity(rest))},
                {match[1]: match[2] for line in lines if (match := _LEGEND.fullmatch(line))})


def _cells(line: str) -> list[str]:
    line = line.rstrip()
    if "\t" in line:
        return [cell.strip() for cell in line.split("\t")]
    cells = re.split(r" {2,}", line.strip()) if line.strip() else []
    return ["", *cells] if line.startswith("    ") else cells


def _names(cells: list[str]) -> list[str]:
    end = next((i for i, cell in enumerate(cells) if cell in _AFFINITY or not cell), len(cells))
    return cells[:end]


def _whole(row: list[str], width: int) -> bool:
    return len(row) == width and all(map(_CELL.fullmatch, row))


def _affinity(rest: list[str]) -> Affinity | None:
    cpus, nodes = [*rest, "", ""][:2]
    if not rest or cpus == nodes == "":
        return None
    known = [None if text in ("", "N/A") else text for text in (cpus, nodes)]
    return Affinity(cpus=known[0], nodes=known[1])


def parse_nvlink(text: str) -> dict[str, Nvlink]:
    """The links of each GPU that has some, by UUID. ParseError when the output names no GPU."""
    links: dict[str, dict[int, float | None]] = {}
    here: dict[int, float | None] | None = None
    for line in text.splitlines():
        if gpu := _GPU.fullmatch(line.rstrip()):
            here = links.setdefault(gpu[1], {})
        elif (link := _LINK.fullmatch(line.rstrip())) and here is not None:
            here.setdefault(int(link[1]), float(link[2]) if link[2] else None)
    if not links:
        raise ParseError(f"no GPU named: {text.strip()[:80]!r}")
    return {uuid: _nvlink(found) for uuid, found in sorted(links.items()) if found}


def _nvlink(links: Mapping[int, float | None]) -> Nvlink:
    active = [number for number, speed in links.items() if speed]
    inactive = format_cpus(links.keys() - set(active))
    speeds = {speed for speed in links.values() if speed}
    return Nvlink(active=format_cpus(active), inactive=inactive or None, speeds_gbs=sorted(speeds))
