"""snap run: what one command changes on this host."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..records import replace
from ..sections import NAMES
from . import arguments
from .outputs import Output, emit
from .terms import Terms, reporting, ruling

if TYPE_CHECKING:
    from types import FrameType

    from ..document import Snapshot
    from ..report.review import Ran

NOT_FOUND, NOT_RUN = 127, 126  # as a shell reports them
PASSED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
OF_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # a terminal sends them to the command, too


@click.command(short_help="Run a command, and say what it changed.",
               context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="CMD [ARG]...")
@click.option("--only", metavar="S,...", help="Look at these sections only.")
@click.option("--skip", metavar="S,...", help="Leave these sections out.")
@click.option("--save", is_flag=True, help="Store both snapshots, labelled before-run and after-run.")
@reporting
@ruling
def run(
    command: tuple[str, ...], only: str | None, skip: str | None, save: bool, outputs: tuple[Output, ...],
    everything: bool, verbose: bool, **options: Any,
) -> None:
    """Take a snapshot, run CMD, take another, and compare the two as diff does.

    CMD has standard input, output and error, and gets the signals that end this command. It is run without a shell.
    Rules that need a section which is left out are not applied.

    \b
    Exit codes: that of CMD if it is not 0 (128 and the signal's number
    if a signal ended it), else that of diff
    """
    names = {*arguments.sections(only, skip)}
    allowed = (*options.pop("allow_unknown"), *(name for name in NAMES if name not in names))
    terms = Terms(**options, allow_unknown=allowed)
    terms.check(verbose)
    if shutil.which(command[0]) is None:
        click.echo(f"{arguments.program()}: {command[0]}: no such command", err=True)
        sys.exit(NOT_FOUND)
    before = _taken(names, "before-run", save)
    ran = _run(command)
    if ran and ran.exit_code != NOT_RUN:
        click.echo(f"{arguments.program()}: {ran.command} {ran.how}", err=True)
    after = _taken(names, "after-run", save)
    rules = [rule for rule in terms.own_rules if names.issuperset(rule.needs)]
    found = replace(terms.review(before, after, "before", "after", rules), ran=ran)
    emit(found, outputs, everything)
    sys.exit(found.exit_code)


def _taken(names: Collection[str], label: str, save: bool) -> Snapshot:
    """This host as it is, in the store if it is to be SAVEd."""
    from ..capture import take

    machine = arguments.host(None, 60.0)
    try:
        taken = take(machine, names, label if save else None)
    finally:
        machine.close()
    if save:
        click.echo(f"{arguments.program()}: {arguments.stored(taken)}", err=True)
    return taken


def _run(command: tuple[str, ...]) -> Ran | None:
    """Runs COMMAND. Its end, with the exit code as a shell tells it; None if that is 0."""
    from ..report.review import Ran

    if sys.stdout is not None:
        sys.stdout.flush()
    with _passing() as started:
        try:
            child = subprocess.Popen(command)
        except OSError as error:
            click.echo(f"{arguments.program()}: {command[0]}: {error.strerror}", err=True)
            return Ran(command[0], NOT_RUN, "could not be run")
        started(child)
        code = child.wait()
    if code < 0:
        return Ran(command[0], 128 - code, f"was ended by {_signal(-code)}")
    return Ran(command[0], code, f"failed with exit code {code}") if code else None


def _signal(number: int) -> str:
    """SIGKILL; of one without a name, its number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextmanager
def _passing() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """While it is entered, signals to this process go to the child, once that is told; a terminal's reach it anyway."""
    shared = os.isatty(0)
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def passed(number: int, _frame: FrameType | None) -> None:
        if children and not (shared and number in OF_TERMINAL):
            children[0].send_signal(number)
        elif not children:
            early.append(number)

    def started(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        for number in early:
            child.send_signal(number)

    deaf = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN  # by nohup(1), for the child too
    numbers = (number for number in (*PASSED, *OF_TERMINAL) if not (deaf and number == signal.SIGHUP))
    old = {number: signal.signal(number, passed) for number in numbers}
    try:
        yield started
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
