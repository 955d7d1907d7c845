"""Root's cron jobs, from /etc/crontab, /etc/cron.d and root's own crontab.

crontab(5). In the system's files a field with the user's name stands before the command. Debian's cron skips a file in
/etc/cron.d whose name holds other signs than letters, digits, _ and -; so are editors' backups.
A line NAME = VALUE sets an environment variable, which is never recorded. A % in a command ends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.units import Job
from .base import Reading
from .units_exec import shell_programs
from .units_files import text_of
from .units_lines import redacted, tools_in
from .units_scripts import Scripts

FOLDER = "/etc/cron.d"
SYSTEM, OWN = ("/etc/crontab",), ("/var/spool/cron/crontabs/root", "/var/spool/cron/root")
_INPUT = regex(r"(?<!\\)%")
_NAME = regex(r"[\w-]+", re.ASCII)
_SYSTEM = regex(r"(@\w+|(?:[\d*/,\-~a-zA-Z]+\s+){4}[\d*/,\-~a-zA-Z]+)\s+(\S+)\s+(\S.*)")
_OWN = regex(r"(@\w+|(?:[\d*/,\-~a-zA-Z]+\s+){4}[\d*/,\-~a-zA-Z]+)(\s)+(\S.*)")


@record(frozen=True)
class Entry:
    """A job as it stands."""

    schedule: str
    command: str
    line: int


def parse(text: str, system: bool) -> Iterator[Entry]:
    """Root's jobs of a crontab; SYSTEM: it has a field for the user. Lines that are no jobs are skipped."""
    form = _SYSTEM if system else _OWN
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        found = form.fullmatch(line) if line and line[0] != "#" and len(line) < 10_000 else None
        if found and (not system or found[2] == "root"):
            yield Entry(" ".join(found[1].split()), _INPUT.split(found[3])[0], number)


def jobs(reading: Reading, scripts: Scripts) -> dict[str, list[Job]]:
    """The jobs that touch tuning, by crontab."""
    names = (name for name in reading.list(FOLDER, "cron") if _NAME.fullmatch(name))
    paths = [*SYSTEM, *(f"{FOLDER}/{name}" for name in names), *OWN]
    found = {path: [*_jobs(reading, scripts, path)] for path in paths}
    return {path: some for path, some in found.items() if some}


def _jobs(reading: Reading, scripts: Scripts, path: str) -> Iterator[Job]:
    for entry in parse(text_of(reading, path, "cron", path), path not in OWN):
        called = scripts.called(shell_programs(entry.command), path)
        tools = tools_in(entry.command)
        if tools or called:
            reading.config(path, "cron", path)
            text = redacted(entry.command)
            origin = Origin(file=path, line=entry.line, text=f"{entry.schedule} {text}")
            yield Job(
                schedule=entry.schedule, text=text, tools=tools or None, scripts=called or None, origin=origin,
            )
