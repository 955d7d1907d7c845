"""Commands that measure: run again and again, and what they print read as reports.

One run is one process from start to end, and one sample. It has no shell, no input, the environment of the caller and
a process group of its own, which is ended as a whole when its time is up or the user stops (SIGTERM, and after 5 s
SIGKILL); what left that group is killed then too (``orphans``). What it prints goes into a file without a name, so
that a child that lives on cannot keep the run from ending.
A run that fails (exit status, time, nothing that the importer can read) is kept as failed, in each measurement that
the other runs gave. Neither the environment nor what the command prints is recorded.
"""

from __future__ import annotations

import fcntl
import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence, Set
from contextlib import nullcontext, suppress
from typing import IO

from ..errors import SnapError
from ..records import field, record, replace
from .adding import LIMIT_BYTES, text, with_workload
from .importers import IMPORTERS, read
from .orphans import Orphans, adopted
from .report import Metric, Report, Value, Workload
from .stopping import Stop, stoppable

GRACE_S = 5.0
LOOK_S = 0.5  # how often is looked at how much was printed
FLOOD_BYTES = 1 << 30  # no report: what prints so much would fill the disk


@record(frozen=True)
class Command:
    """A benchmark that the settings declare."""

    name: str
    argv: Sequence[str]
    parser: str
    repeat: int = 1
    warmup: int = 0
    timeout_s: float | None = None
    workload: Workload = field(default_factory=dict)  # joins that of each report

    def check(self) -> None:
        """SnapError when there is no such importer or program."""
        import shutil

        if self.parser not in IMPORTERS:
            raise SnapError(f"bench {self.name}: there is no parser {self.parser!r}: {', '.join(IMPORTERS)}")
        if shutil.which(self.argv[0]) is None:
            raise SnapError(f"bench {self.name}: {self.argv[0]}: no program that can be run")


@record(frozen=True)
class Run:
    """How one run went: its report, or why there is none; the last lines that it wrote to standard error."""

    number: int  # from 1; below 1 a warm-up
    seconds: float
    report: Report | None = None
    why: str = ""
    said: Sequence[str] = ()

    @property
    def words(self) -> str:
        """What came of it: up to three of its values, those first that it was run for."""
        if self.report is None:
            return f"failed: {self.why}"
        values = sorted(self.report.values, key=lambda one: not one.metric.primary)
        given = [f"{one.metric.name} {one.value:.6g} {one.metric.unit}" for one in values if one.value is not None]
        rest = len(values) + len(self.report.tables) - len(given[:3])
        return ", ".join((*given[:3], *([f"{rest} more"] if rest else []))) or "no value"


@record()
class Session:
    """The runs of one command so far."""

    command: Command
    runs: list[Run] = field(default_factory=list)
    stopped: bool = False  # by the user

    @property
    def failed(self) -> int:
        """How many runs gave nothing."""
        return sum(run.report is None for run in self.runs)

    def reports(self) -> list[Report]:
        """One report a run, in their order; that of a failed one says so of all that the others measured."""
        good = next((run.report for run in self.runs if run.report), None) or self._nothing()
        return [run.report or _failed(good, run) for run in self.runs]

    def _nothing(self) -> Report:
        """What stands for a command of which nothing is known but that it failed."""
        metric = Metric(name="run", unit="", better="higher")
        value = Value(metric=metric, workload={"bench": self.command.name, **self.command.workload}, value=None)
        return Report(tool=self.command.parser, format="none", values=[value])


def measure(
    command: Command, begin: Callable[[int], None], end: Callable[[Run], None], orphans: Orphans | None = None
) -> Session:
    """Runs COMMAND as often as it says, or until the user stops it.

    BEGIN is told the number of a run that starts, and END how it went; warm-ups have numbers below 1 and are not kept.
    ORPHANS are those of all commands of which this is one: what one leaves running is not the next one's.
    """
    session = Session(command)
    try:
        with stoppable() as stop, nullcontext(orphans) if orphans else adopted() as ours:
            for number in range(1 - command.warmup, command.repeat + 1):
                begin(number)
                run = _run(command, number, stop, ours)
                if number > 0:
                    session.runs.append(run)
                end(run)
    except KeyboardInterrupt:
        session.stopped = True
    return session


def _failed(like: Report, run: Run) -> Report:
    """A report of RUN, which gave none, on the same measurements as LIKE."""
    why = f"run {run.number}: {run.why}"
    return replace(
        like, values=[_without(value, why) for value in like.values],
        tables=[replace(table, cells=[[math.nan] * len(table.columns) for _ in table.rows], status="failed", why=why)
                for table in like.tables])


def _without(value: Value, why: str) -> Value:
    return replace(value, value=None, within=None, status="failed", why=why)


def _run(command: Command, number: int, stop: Stop, orphans: Orphans) -> Run:
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        why = _ended(command, out, err, stop, orphans)
        seconds = time.monotonic() - began
        report = None if why else _report(command, out)
        if isinstance(report, str):
            why, report = report, None
        return Run(number, seconds, report, why, _last(err) if why else ())


def _ended(command: Command, out: IO[bytes], err: IO[bytes], stop: Stop, orphans: Orphans) -> str:
    """Runs the command to its end; why it failed, "" if it did not."""
    stop.held = True  # until there is a child that can be ended
    before = orphans.living()  # what an earlier run left when it was done
    try:
        fcntl.fcntl(out, fcntl.F_SETFL, os.O_APPEND)  # for tools that write to /dev/stdout besides
        child = subprocess.Popen(command.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
    except OSError as error:
        stop.release()
        return f"cannot be run: {error.strerror}"
    try:
        stop.release()
        why = _waited(child, command.timeout_s, (out, err), orphans)
    except BaseException:  # whatever stops us, no benchmark may go on behind our back
        _end(child, stop, orphans, before)
        raise
    if why:
        left = _end(child, stop, orphans, before)
        return f"{why}; processes that cannot be ended: {left}" if left else why
    if child.returncode < 0:
        return f"ended by signal {-child.returncode} ({signal.strsignal(-child.returncode)})"
    return f"exit status {child.returncode}" if child.returncode else ""


def _waited(
    child: subprocess.Popen[bytes], timeout_s: float | None, outputs: Sequence[IO[bytes]], orphans: Orphans
) -> str:
    """Until the child has ended: ""; else why it has to be ended: its time is up, or its outputs fill the disk."""
    until = time.monotonic() + (math.inf if timeout_s is None else timeout_s)
    while True:
        with suppress(subprocess.TimeoutExpired):
            child.wait(min(LOOK_S, max(until - time.monotonic(), 0.0)))
            return ""
        orphans.reap(but=child.pid)
        if any(os.fstat(output.fileno()).st_size > FLOOD_BYTES for output in outputs):
            return f"printed more than {FLOOD_BYTES >> 20} MiB"
        if time.monotonic() >= until:
            return f"not done after {timeout_s:g} s"


def _end(child: subprocess.Popen[bytes], stop: Stop, orphans: Orphans, before: Set[int]) -> int:
    """Ends the child, all of its process group, and the orphans but those BEFORE it; how many processes are left."""
    try:
        _signal(child, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_S)
    finally:
        stop.held = True  # it is at its end: a second signal would leave the rest running
        _signal(child, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_S)  # in state D it cannot die
        left = orphans.end(before | {child.pid}) + (child.returncode is None)
    stop.release()
    return left


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """To its process group, of which some or all may be gone or of another user, as of sudo."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _report(command: Command, out: IO[bytes]) -> Report | str:
    """What the run printed, as a report; a text says why there is none.

    A report that does not say what was run, as a plain list of values, gets the command's name for it: else two
    commands that both print "latency" would be one measurement.
    """
    out.seek(0)
    data = out.read(LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        return f"printed more than {LIMIT_BYTES >> 20} MiB"
    try:
        report = read(text(data), command.name, command.parser)
        if not (report.values or report.tables):
            return "printed no measurement"
        return with_workload(report, command.workload, {"bench": command.name})
    except SnapError as error:
        return str(error)


def _last(err: IO[bytes], lines: int = 5, size: int = 4096, room: int = 300) -> list[str]:
    """The last lines of a file that say something, each in at most ROOM characters."""
    err.seek(0, os.SEEK_END)
    err.seek(max(0, err.tell() - size))
    return [line[:room] for line in text(err.read()).split("\n") if line.strip()][-lines:]
