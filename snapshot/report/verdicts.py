"""Findings on paper: what got worse and the cure, then what was expected, accepted, mended, or so before.

What is critical or high is said in full, the rest in a line or two, so that many findings stay readable; a few are said
in full whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..engine.finding import reaches
from .groups import Group
from .order import OLD, Entry, Part
from .paper import Paper, plural

FEW = 3  # findings that are said in full although they are not high
NOTES = 10  # that are said one by one
COLOR = {"critical": "red", "high": "yellow", "resolved": "green", "better": "green"}
LABELS = (("Now:", "now"), ("For good:", "durable"), ("Check:", "verify"))


class Findings:
    """Writes findings, part by part. Commands and warnings that were said once are not said again."""

    def __init__(self, paper: Paper, entries: Iterable[Entry], everything: bool) -> None:
        self._paper, self._everything = paper, everything
        self._entries = list(entries)
        self._causes = {entry.number: entry for entry in self._entries}
        self._commands_of: dict[tuple[str, ...], int] = {}  # the finding that they were said with
        self._warned: set[str] = set()

    def write(self, part: Part) -> None:
        """All findings of a part. Those that count come by severity, of the others most are a line."""
        found = [entry for entry in self._entries if entry.part == part]
        notes = [entry for entry in found if entry.first.severity == "info" and part == "counting"]
        brief, left = len(found) > FEW, [] if self._everything else notes[NOTES:]
        for entry in found[: len(found) - len(left)]:
            self._head(entry)
            if self._everything:
                self._whole(entry)
            elif part == "counting":
                self._counting(entry, brief)
            else:
                self._aside(entry)
        if left:
            self._paper.prose(f"and {plural(len(left), 'more note')} (--all lists them)", "INFO      ")
        if found:
            self._paper.blank()

    def _head(self, entry: Entry) -> None:
        severity = entry.part in ("counting", "existing")
        word = entry.first.severity if severity else entry.part
        color = "dim" if entry.part in ("existing", "accepted") else COLOR.get(word, "bold")
        self._paper.head(word.upper(), entry.group.headline, f"{entry.first.rule} [{entry.number}]", color)

    def _counting(self, entry: Entry, brief: bool) -> None:
        severity = entry.first.severity
        if severity != "info" and (not brief or reaches(severity, "high")):
            self._whole(entry)
        elif severity != "info":
            self._parts(entry.group)
            self._reasons(entry)
            self._first_command(entry.group)

    def _aside(self, entry: Entry) -> None:
        """The one line that it is about: what asked for it, or who accepts it."""
        first = entry.first
        if entry.part == "accepted":
            self._paper.prose(f"{first.severity}, accepted: {first.waived_by}", "  ", "    ")
        elif entry.part == "expected" and first.explained_by:
            self._paper.prose(first.explained_by, "  ")

    def _whole(self, entry: Entry) -> None:
        """All that there is to say of it."""
        self._aside(entry)
        self._parts(entry.group)
        self._reasons(entry)
        self._explanation(entry.group)
        self._commands(entry)
        self._paper.blank()

    def _parts(self, group: Group) -> None:
        if not group.told and (self._everything or not group.begun):
            self._paper.prose(group.between.join(group.parts) if self._everything else group.parts_said, "  ")

    def _reasons(self, entry: Entry) -> None:
        """What it is due to, or that it is nothing new."""
        if entry.old:
            self._paper.prose(OLD, "  ")
        if entry.cause:
            message = self._causes[entry.cause].group.headline
            self._paper.prose(f"likely cause: {message} [{entry.cause}]", "  ", "    ")

    def _explanation(self, group: Group) -> None:
        for line in group.first.why[:1]:
            self._paper.prose(line, "  ")
        for evidence in group.lines:
            self._paper.exact(f"{evidence.file}:{evidence.line}   {evidence.text}", "    ")
        for line in group.first.why[1:]:
            self._paper.prose(line, "  ")

    def _first_command(self, group: Group) -> None:
        """The first command of the first cure there is, and how many more there are."""
        label, commands = next(
            ((label, found) for label, kind in LABELS[:2] if (found := group.commands(kind))), ("", []))
        if not commands:
            return
        more = f"   # and {len(commands) - 1} more: --all" if len(commands) > 1 else ""
        if "\n" in commands[0]:
            self._paper.beside(label, ["--all shows it, a here document"])
        else:
            self._paper.labelled(label, [commands[0] + more])

    def _commands(self, entry: Entry) -> None:
        others = set()
        for label, kind in LABELS:
            group = entry.group
            commands = group.commands(kind) if kind != "verify" or self._everything else group.check
            of = self._commands_of.setdefault(tuple(commands), entry.number)
            if commands and of == entry.number:
                self._paper.labelled(label, commands)
            elif commands and of not in others:
                self._paper.beside(label, [f"as for [{of}]"])
                others.add(of)
        self._warnings(entry.group)

    def _warnings(self, group: Group) -> None:
        fresh = [warning for warning in group.commands("warnings") if warning not in self._warned]
        self._warned.update(fresh)
        self._paper.beside("Beware:", fresh)
