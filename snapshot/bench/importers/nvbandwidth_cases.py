"""What one run of nvbandwidth says, in text or JSON: its devices, and its tests with a table or why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...records import record
from ...regexes import regex
from ...sections.bench import Status
from ..merging import address
from .entries import Entry
from .matrix import Matrix, cell, is_head, read_matrix
from .printed import one_line

STATUS: dict[str, tuple[Status, str]] = {
    "passed": ("ok", "it has no table"), "waived": ("waived", "waived by nvbandwidth"),
    "not found": ("failed", "there is no such test"), "running": ("failed", "it did not finish"),
    "error": ("failed", "it failed"),
}
TITLE = regex(r".*(?:CPU|GPU)\((?:row|column)s?\).*\((?:GB/s|ns)\)\s*")
_DEVICE = regex(r"(?:Device |Process +\d+ \((?P<host>[^()]*)\): device )?(?P<at>\d+): (?P<name>.*?)"
                r"(?: \((?P<address>[0-9a-fA-F]{8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})\))?(?:: \(.*\))?\s*")
_RUNNING = regex(r"Running (\w+)\.?\s*")
_ENDED = regex(r"(Waived|ERROR|Error|Not Found)\b:?\s*(.*)")
_NAME = regex(r"\w+_(?:ce|sm)\b")


@record(frozen=True, kw_only=True)
class Head:
    """Who measured: devices by their number, of how many hosts, and whether with a buffer below the default."""

    names: Sequence[str] = ()
    addresses: Sequence[str | None] = ()
    hosts: int = 1
    small: bool = False

    def device(self, at: int) -> str:
        """What device AT is called."""
        if self.hosts > 1:
            return f"process {at}"
        return (self.addresses[at] if at < len(self.addresses) else None) or f"GPU {at}"


@record(frozen=True, kw_only=True)
class Case:
    """A test, and one table of it. NAME is None where the report does not say it; without a MATRIX, WHY says why."""

    name: str | None
    title: str = ""
    part: str | None = None  # of three tables in both directions: 1, 2, total
    matrix: Matrix | None = None
    status: Status = "ok"
    why: str | None = None


def is_title(line: str) -> bool:
    """Whether LINE says what the rows and columns of the table below are."""
    return line.rstrip().endswith(("(GB/s)", "(ns)")) and bool(TITLE.fullmatch(line))


def head(text: str) -> Head:
    """The head of a text."""
    lines = [line for line in text.splitlines() if line.startswith(("Device ", "Process "))]
    return _head(lines, "buffer size that is smaller" in text)


def json_head(run: Entry) -> Head:
    """The head of JSON."""
    found = run.table.get("GPU Device list") or run.table.get("GPU Device info")
    lines = [str(line) for line in found] if isinstance(found, list) else []
    return _head(lines, "buffer size that is smaller" in (run.text("warning") or ""))


def _head(lines: Sequence[str], small: bool) -> Head:
    found = [match for line in dict.fromkeys(lines) if (match := _DEVICE.fullmatch(line))]
    return Head(names=[match["name"] for match in found],
                addresses=[address(match["address"]) if match["address"] else None for match in found],
                hosts=len({match["host"] for match in found}) or 1, small=small)


def cases(lines: Sequence[str], file: str) -> Iterator[Case]:
    """The tests of a text, also those that were begun and have no table."""
    name, title, said, at = None, "", list[str](), 0
    waiting = False
    while at < len(lines):
        line, at = lines[at], at + 1
        if found := _RUNNING.fullmatch(line):
            yield from _without(name, said) if waiting else ()
            name, title, said, waiting = found[1], "", [], True
        elif is_title(line):
            title = line.strip()
        elif title and is_head(line):
            matrix, at = read_matrix(lines, at - 1, file)
            yield Case(name=name, title=title, part=_part(title), matrix=matrix)
            title, waiting = "", False
        elif (ended := _ENDED.match(line)) and (waiting or _NAME.search(line)):
            yield _ended(ended, name if waiting else None)
            waiting = False
        elif line.strip():
            said.append(line)
    yield from _without(name, said) if waiting else ()


def _ended(found: re.Match[str], name: str | None) -> Case:
    status, why = STATUS[found[1].lower()]
    named = _NAME.search(found[2])
    return Case(name=name or (named and named[0]), status=status, why=one_line(found[2]) or why)


def _without(name: str | None, said: Sequence[str]) -> Iterator[Case]:
    """A test that was begun and gave nothing; the first line that it SAID is why."""
    yield Case(name=name, status="failed", why=one_line(said[0]) if said else "the report ends before its table")


def _part(title: str) -> str | None:
    found = re.search(r"\b(?:Read|Write)([12])\b|\bTotal\b", title)
    return (found[1] or "total") if found else None


def json_cases(run: Entry) -> Iterator[Case]:
    """The tests of JSON. ReportError for one without a name, or with rows that are none."""
    for one in run.entries("testcases") if "testcases" in run.table else ():
        name = one.text("name") or one.bad("name", "is missing")
        status, why = STATUS.get((one.text("status") or "").lower(), ("failed", "it has no result"))
        rows, title = _rows(one), one.text("bandwidth_description") or ""
        if status != "ok" or not rows:
            said = one_line(one.text("error") or "") or why
            yield Case(name=name, status="failed" if status == "ok" else status, why=said)
            continue
        size = len(rows[0])
        three = "GPU(row)" in title and len(rows) == 3 * size > 3
        for at, part in enumerate(("1", "2", "total") if three else (None,)):
            matrix = Matrix(columns=size, rows=rows[at * size:(at + 1) * size] if three else rows)
            yield Case(name=name, title=title, part=part, matrix=matrix)


def _rows(one: Entry) -> list[list[float]]:
    found = one.table.get("bandwidth_matrix") or []
    if not isinstance(found, list) or not all(isinstance(row, list) and len(row) == len(found[0]) > 0 for row in found):
        one.bad("bandwidth_matrix", "is no list of rows of the same length")
    return [[cell(str(value), f"{one.file}:{one.line}: {one.path}bandwidth_matrix") for value in row] for row in found]


def failure(runs: Sequence[Entry]) -> str:
    """Why none of RUNS has a test."""
    return next((one_line(said) for run in runs if (said := run.text("error"))), "there is no test in it")

