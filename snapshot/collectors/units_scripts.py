"""The scripts that boot-time mechanisms run, read one level deep.

Only text files of at most 64 KiB in the folders of ROOTS are read, and of them only the lines that touch tuning are
kept. A larger file in a folder of packaged programs is a program; elsewhere it may be a script, and is unread. What
lies in home directories is not looked at.
"""

from __future__ import annotations

import errno
import posixpath

from ..records import field, record
from ..sections.units import Script, TuningLine
from .base import Reading, decode, why
from .units_context import SHELLS, in_context, interpreter
from .units_lines import may_tune, tuning_lines

LIMIT = 64 << 10  # bytes
_PROGRAMS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/lib", "/usr/libexec", "/lib")
ROOTS = (
    "/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/lib", "/usr/libexec", "/lib", "/usr/local", "/etc", "/opt", "/root",
    "/srv", "/usr/share", "/var/lib", "/var/local",
)
_PATH = ("/usr/local/sbin", "/usr/local/bin")  # the rest of the search path holds packaged programs
_INSIDE = tuple(f"{root}/" for root in ROOTS)
_PACKAGED = tuple(f"{folder}/" for folder in _PROGRAMS)
_QUIET = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENXIO)


@record()
class Scripts:
    """Each script is read once, whoever calls it."""

    reading: Reading
    seen: dict[str, list[TuningLine]] = field(default_factory=dict)
    interpreters: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)  # that could not be read
    callers: dict[str, set[str]] = field(default_factory=dict)

    def called(self, programs: list[str], caller: str, packaged: bool = False) -> list[str]:
        """The paths, of PROGRAMS, of scripts that touch tuning, or that cannot be read and so may touch it.

        PACKAGED: the caller came with the system, so that what it names and is not there is of no interest.
        """
        found = []
        for program in programs:
            path = self._resolved(program)
            if path and (self._lines(path, packaged) or path in self.unknown):
                self.callers.setdefault(path, set()).add(caller)
                found.append(path)
        return found

    def table(self) -> dict[str, Script]:
        """All scripts with lines that touch tuning, by path."""
        return {path: self._script(path) for path in sorted(self.callers) if self.seen.get(path)}

    def _script(self, path: str) -> Script:
        stat = self.reading.stat(path, "scripts", path, "executable")
        return Script(
            called_by=sorted(self.callers[path]), lines=self.seen[path],
            executable=bool(stat.mode & 0o111) if stat else None, interpreter=self.interpreters[path],
        )

    def _resolved(self, program: str) -> str:
        if "/" in program:
            return program if program.startswith("/") and not program.startswith(("/dev/", "/proc/", "/sys/")) else ""
        return next((p for p in (f"{d}/{program}" for d in _PATH) if self.reading.stat(p, "scripts", p)), "")

    def _lines(self, path: str, packaged: bool) -> list[TuningLine]:
        if path in self.seen or path in self.unknown:
            return self.seen.get(path, [])
        variable = "$" in path or "%" in path
        if not variable and path.startswith(_INSIDE):
            self.seen[path] = self._read(path)
        elif not packaged:
            self._unread(path, "its path holds a variable" if variable else "outside of what is read")
        return self.seen.get(path, [])

    def _read(self, path: str) -> list[TuningLine]:
        data = self.reading.attempt(path, LIMIT)
        if isinstance(data, OSError):
            self._failed(path, data)
            return []
        if b"\0" in data or not may_tune(text := decode(data)):
            return []
        self.reading.config(path, "scripts", path)
        lines, program = tuning_lines(text, path), interpreter(text)
        self.interpreters[path] = program
        return in_context(text, lines) if lines and program in ("", *SHELLS) else lines

    def _failed(self, path: str, error: OSError) -> None:
        if error.errno == errno.EFBIG:
            if not path.startswith(_PACKAGED):
                self._unread(path, "larger than 64 KiB")
        elif error.errno not in _QUIET:
            self._unread(path, why(error))

    def _unread(self, path: str, reason: str) -> None:
        self.unknown.add(path)
        self.reading.unread(("scripts", path), path, reason)


def is_packaged(path: str) -> bool:
    """Whether a file came with the system, by its folder."""
    return path.startswith(_PACKAGED) or posixpath.dirname(path) == "/run/systemd/generator.late"
