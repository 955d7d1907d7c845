"""Runs programs side by side, each with a time limit and an output cap.

execve(2), setsid(2), poll(2). No shell, no inherited environment, a fixed PATH; as root only files and
folders of that PATH that nobody but root can write. Each program leads its own session, which is killed as
a whole. A program that a signal cannot end (state D) is left behind; one whose own child keeps the pipe
open is not waited for.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from stat import S_ISREG

from ..records import field, record
from .base import Command, Result

PATH = ("/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin")
ENVIRONMENT = {"LC_ALL": "C", "PATH": ":".join(PATH), "HOME": "/", "TERM": "dumb"}
OUTPUT_LIMIT = 8 << 20  # bytes of stdout and stderr together
_TERM_S, _KILL_S = 1.0, 0.5  # how long SIGTERM and SIGKILL may take to work
_TICK_S, _SHORT_TICK_S = 0.02, 0.001
_CHUNK = 1 << 16
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(
    commands: Sequence[Command], until: float = float("inf"), path: Sequence[str] = PATH
) -> dict[Command, Result]:
    """The result of each command; UNTIL is the time.monotonic() value at which all of them are stopped."""
    results: dict[Command, Result] = {}
    running: list[_Running] = []
    try:
        with _held():
            for command in dict.fromkeys(commands):
                begun = _start(command, until, path)
                if isinstance(begun, Result):
                    results[command] = begun
                else:
                    running.append(begun)
        _serve(running)
    finally:
        for program in running:
            program.leave()
    return {**results, **{program.command: program.result() for program in running}}


@contextmanager
def _held() -> Iterator[None]:
    """While it is entered, signals that raise wait: a program that has begun must not be forgotten."""
    late: list[int] = []
    ours = _ENDING if threading.current_thread() is threading.main_thread() else ()
    old = {number: handler for number in ours if callable(handler := signal.getsignal(number))}
    for number in old:
        signal.signal(number, lambda number, _frame: late.append(number))
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        for one in late:
            signal.raise_signal(one)


def find(name: str, path: Sequence[str] = PATH) -> tuple[str, str]:
    """The absolute path of a program and an empty word, or an empty path and why: not-found or denied."""
    why = "not-found"
    if "/" in name or name in ("", ".", ".."):
        return "", why
    for folder in path:
        file = f"{folder}/{name}"
        with suppress(OSError, ValueError):
            if S_ISREG(os.stat(file).st_mode):
                if os.access(file, os.X_OK) and (os.geteuid() or (_safe(folder) and _safe(file))):
                    return file, ""
                why = "denied"
    return "", why


def _safe(path: str) -> bool:
    """Whether only root can change what is there."""
    found = os.stat(path)
    return found.st_uid == 0 and not found.st_mode & 0o022


@record(eq=False)
class _Running:
    """A program and what it has said so far."""

    command: Command
    process: subprocess.Popen[bytes]
    limit: float
    why: str = ""
    signals: list[tuple[signal.Signals, float]] = field(
        default_factory=lambda: [(signal.SIGTERM, _TERM_S), (signal.SIGKILL, _KILL_S)]
    )
    parts: dict[int, list[bytes]] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    size: int = 0
    over: bool = False

    def take(self, fd: int) -> bool:
        """Reads once; false when there is nothing more to read, now or at all."""
        try:
            part = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not part:
            self.open.discard(fd)
            return False
        self.parts[fd].append(part[: max(OUTPUT_LIMIT - self.size, 0)])
        self.size += len(part)
        if self.size > OUTPUT_LIMIT and not self.why:
            self.why, self.signals, self.limit = "output-limit", self.signals[1:], 0.0
        return self.size <= OUTPUT_LIMIT

    def check(self) -> None:
        """Notices the program's end, even when another holds its pipes; sends signals after its limit."""
        if self.process.poll() is not None:
            for fd in tuple(self.open):
                while self.take(fd):
                    pass
            self.over = True
        elif time.monotonic() >= self.limit:
            self.why = self.why or "timeout"
            self._strike()

    def _strike(self) -> None:
        if not self.signals:
            self.over = True
            return
        number, wait = self.signals.pop(0)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)
        self.limit = time.monotonic() + wait

    def leave(self) -> None:
        """Lets go of the pipes, and of the process: dead, or killed as far as it can be."""
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        if self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.returncode = -signal.SIGKILL  # else Python warns that it still runs

    def result(self) -> Result:
        """What it said until its end."""
        stdout, stderr = (b"".join(parts) for parts in self.parts.values())
        return Result(None if self.why else self.process.returncode, stdout, stderr, self.why)


def _start(command: Command, until: float, path: Sequence[str]) -> _Running | Result:
    file, why = find(command.argv[0], path)
    if why:
        return Result(None, why=why)
    try:
        process = subprocess.Popen(
            command.argv, executable=file, env=ENVIRONMENT, cwd="/", start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        )  # fmt: skip
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in a word
        return Result(None, stderr=str(error).encode("utf-8", "replace"), why="denied")
    begun = _Running(command, process, min(time.monotonic() + command.timeout_s, until))
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            begun.parts[pipe.fileno()] = []
            begun.open.add(pipe.fileno())
    return begun


def _serve(running: Sequence[_Running]) -> None:
    """Reads from all pipes until every program is over."""
    with selectors.DefaultSelector() as selector:
        for program in running:
            for fd in program.open:
                selector.register(fd, selectors.EVENT_READ, program)
        left = list(running)
        while left:
            for key, _ in selector.select(_tick(left)):
                key.data.take(key.fd)
            for program in left:
                program.check()
            _forget(selector, left)
            left = [program for program in left if not program.over]


def _tick(left: Sequence[_Running]) -> float:
    """A program that closed its pipes is about to end: look again soon."""
    return _TICK_S if all(program.open for program in left) else _SHORT_TICK_S


def _forget(selector: selectors.BaseSelector, left: Sequence[_Running]) -> None:
    """No longer waits for pipes that are closed, or whose program is over or has said too much."""
    wanted = {fd for p in left if not p.over and p.why != "output-limit" for fd in p.open}
    seen = {key.fd for key in selector.get_map().values() if key.data in left}
    for fd in seen - wanted:
        selector.unregister(fd)
