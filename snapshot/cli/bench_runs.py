"""What bench run and bench add need besides: what is to run, how it goes, and where the numbers go."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

from ..errors import SnapError
from . import arguments
from .arguments import STDOUT

if TYPE_CHECKING:
    from ..bench.running import Command, Run, Session
    from ..config import Config
    from ..document import Snapshot


def commands(settings: Config, names: tuple[str, ...], every: bool, workload: Mapping[str, str]) -> list[Command]:
    """The declared benchmarks that are asked for, where WORKLOAD goes before what is declared of it.

    UsageError or SnapError when they cannot be run.
    """
    from ..bench.running import Command

    if bool(names) == every:
        raise click.UsageError("name benchmarks to run, or give --all")
    declared = {one.name: one for one in settings.bench}
    if unknown := [name for name in names if name not in declared]:
        there = ", ".join(declared) or "none"
        raise click.UsageError(f"{settings.file or 'snap.toml'} declares no bench {unknown[0]!r}: {there}")
    if not declared:
        raise SnapError(f"{settings.file or 'snap.toml'} declares no [[bench]]")
    if not settings.trusted:
        raise SnapError(f"{settings.file}: its commands are not run: {settings.distrust}")
    found = [Command(one.name, one.command, one.parser, one.repeat, one.warmup, one.timeout_s,
                     {**one.workload, **workload})
             for one in (declared[name] for name in (dict.fromkeys(names) or declared))]
    for command in found:
        command.check()
    return found


def last_of_this_boot() -> str:
    """The path of the newest snapshot of this host. StoreError unless it is of this boot."""
    from .. import store
    from ..document import Snapshot
    from ..errors import StoreError

    stored = store.entries(arguments.this_host())
    if not stored or Snapshot.load(stored[0].path).meta.boot_id != _boot():
        raise StoreError(f"the store has no snapshot of this boot: {arguments.program()} take makes one; "
                         "or name one with --into")
    return stored[0].path


def _boot() -> str:
    """The id of this boot."""
    host = arguments.host(None, 10.0)
    try:
        return host.read("/proc/sys/kernel/random/boot_id").decode().strip()
    finally:
        host.close()


def fits_now(snapshot: Snapshot) -> None:
    """SnapError when nothing can be added to it; a warning when what is measured now is not of its state."""
    from ..bench.adding import section

    section(snapshot)
    if snapshot.meta.boot_id not in (None, _boot()):
        told(f"warning: {snapshot.name} is of another boot than this one")


def keep(session: Session, reference: str, output: str | None, label: str) -> str:
    """Adds the runs to the snapshot; where it lies now."""
    from ..bench.adding import Extra, with_reports

    path = changed(reference, output, lambda old: with_reports(old, session.reports(), Extra(label=label)))
    told(f"{session.command.name}: {len(session.runs) - session.failed} of {len(session.runs)} runs gave values; "
          f"added to {path}")
    return os.path.abspath(path)


def progress(command: Command) -> tuple[Callable[[int], None], Callable[[Run], None]]:
    """Says on standard error which run begins, and how it went."""
    def called(number: int) -> str:
        return f"{command.name}: " + (f"run {number} of {command.repeat}" if number > 0 else "warm-up")

    def begin(number: int) -> None:
        if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            click.echo(f"{called(number)} ...", err=True, nl=False)

    def end(run: Run) -> None:
        if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            click.echo("\r\033[K", err=True, nl=False)
        told(f"{called(run.number)}, {run.seconds:.1f} s: {run.words}")
        for line in run.said:
            told(f"  {line}")

    return begin, end


def changed(reference: str, output: str | None, change: Callable[[Snapshot], Snapshot]) -> str:
    """Writes the changed snapshot in its place, or to OUTPUT, and returns where that is."""
    from .. import store
    from ..document import Snapshot

    if output == "":
        raise click.UsageError("-o needs a file")
    if output in STDOUT:
        arguments.write(change(arguments.snapshot(reference)).dumps().encode())
    elif output is not None:
        change(arguments.snapshot(reference)).save(output)
    else:
        output = place(reference)
        with store.locked(os.path.dirname(output)):  # no other addition is lost
            change(Snapshot.load(output)).save(output)
    return output


def place(reference: str) -> str:
    """The file of a snapshot that can be changed. UsageError when it is none, StoreError when it is not there."""
    from .. import gitrev, store

    if reference in (arguments.NOW, arguments.STDIN) or gitrev.meant(reference):
        raise click.UsageError(f"{reference} is no file that can be changed")
    return os.path.realpath(store.resolve(reference, arguments.this_host()))


def told(text: str) -> None:
    """A line on standard error."""
    from ..report.paper import shown

    click.echo(shown(text), err=True)
