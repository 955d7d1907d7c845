"""What the verbs share: arguments turned into sections, hosts and snapshots."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from ..errors import SnapError
from ..sections import NAMES

if TYPE_CHECKING:
    from ..document import Snapshot
    from ..host.base import Host

NOW = "now"
STDIN = "-"
STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def program() -> str:
    """The name that the user called, for texts that name a command."""
    return click.get_current_context().find_root().info_name or "hostsnap"


def sections(only: str | None, skip: str | None) -> tuple[str, ...]:
    """The sections that --only and --skip leave, in the order of NAMES. UsageError on a word that is no section."""
    wanted, unwanted = _words(only) or set(NAMES), _words(skip)
    for word in sorted((wanted | unwanted) - set(NAMES)):
        raise click.UsageError(f"no section {word!r}; sections are {', '.join(NAMES)}")
    left = tuple(n for n in NAMES if n in wanted and n not in unwanted)
    if not left or (only is not None and not _words(only)):
        raise click.UsageError("--only and --skip leave no section")
    return left


def _words(text: str | None) -> set[str]:
    return {w.strip() for w in (text or "").split(",")} - {""}


def host(root: str | None, deadline_s: float) -> Host:
    """This machine, or the recorded root ROOT."""
    if root is not None:
        from ..host.recorded import open_host

        return open_host(root)
    from ..host.live import Live

    return Live(deadline_s=deadline_s)


def live() -> Snapshot:
    """A snapshot of this machine as it is now, which is written nowhere."""
    from ..capture import take

    machine = host(None, 60.0)
    try:
        return take(machine)
    finally:
        machine.close()


def this_host() -> str:
    """The name under which this machine's snapshots lie in the store."""
    return os.uname().nodename


def snapshot(reference: str) -> Snapshot:
    """The snapshot that a SNAP argument names; SnapError when there is none, or it cannot be read."""
    from .. import gitrev, store
    from ..document import Snapshot

    if reference == NOW:
        return live()
    if gitrev.meant(reference):
        return Snapshot.loads(gitrev.read(reference), reference)
    return Snapshot.load(store.resolve(reference, this_host()))


def pair(before: str | None, after: str | None) -> tuple[Snapshot, str, Snapshot, str]:
    """Both sides of a comparison and what to call them: PRE and POST as they were given, or what stands for them."""
    if before == after == STDIN:
        raise click.UsageError("standard input can be one side only")
    after = NOW if after is None else after
    given = [(at, side) for at, side in enumerate((before, after)) if side is not None]
    given.sort(key=lambda one: one[1] == NOW)  # this host last: a file that cannot be read is said at once
    found = {at: snapshot(side) for at, side in given}
    old = found[0] if before is not None else previous_boot(found[1])
    return old, before or old.meta.label or old.meta.taken or "before", found[1], after


def stored(taken: Snapshot) -> str:
    """Puts TAKEN into the store and returns its path; a root that no take recorded counts as taken now."""
    from datetime import UTC, datetime

    from .. import store

    when = taken.meta.taken or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return store.add(taken.meta.host, when, taken.meta.label, taken.dumps().encode())


def reference(host: str, label: str) -> str:
    """What names the newest snapshot of HOST with LABEL on this machine."""
    return label if host == this_host() else f"{host}/{label}"


def write(data: bytes) -> None:
    """DATA to standard output, as it is."""
    if sys.stdout is None:
        raise SnapError("standard output is closed")
    sys.stdout.buffer.write(data)


def previous_boot(now: Snapshot) -> Snapshot:
    """The last stored snapshot of this host that was taken in another boot than NOW. StoreError when there is none.

    One that does not tell its boot is passed over; one that cannot be read too, with a word on standard error.
    """
    from .. import store
    from ..document import Snapshot

    for entry in store.entries(this_host()):
        try:
            found = Snapshot.load(entry.path)
        except SnapError as error:
            click.echo(f"{program()}: passed over: {error}", err=True)
            continue
        if found.meta.boot_id and now.meta.boot_id and found.meta.boot_id != now.meta.boot_id:
            return found
    from ..errors import StoreError

    raise StoreError(f"{store.root()} has no snapshot of an earlier boot of {this_host()}; take one before a reboot")
