"""Runs every collector on one host and makes the snapshot: files first, then all commands side by side.

Only this room turns a collector's trouble into an outcome, so that one broken section never costs the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Mapping
from datetime import UTC, datetime
from typing import Any

from . import __version__
from .collectors import collector
from .collectors.base import Collector, File, Reading, Reads
from .collectors.secrets import redacted
from .document import FORMAT, FileFact, Meta, Outcome, Snapshot, State, UnreadFact, count_facts, machine_hash
from .errors import AbsentError, ParseError
from .host.base import Command, Host, Result
from .host.tops import Tops
from .records import field, record
from .sections import NAMES
from .sections.base import Model

SYSTEM_STATE = Command(("systemctl", "is-system-running"), timeout_s=5)
META_READS = Reads(
    paths=(
        "/etc/machine-id", "/proc/1/comm", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/random/boot_id",
        "/proc/uptime", "/run/systemd/system",
    ),
    commands=(SYSTEM_STATE.argv,),
)

Waiting = Generator[tuple[Command, ...], Mapping[Command, Result], Model]


@record()
class Spent:
    """The time that a section took. Commands of all sections run side by side, so their waits overlap."""

    own_s: float = 0.0  # reading and parsing
    waited_s: float = 0.0  # until the commands of its rounds, and those of other sections, were done
    tools: dict[str, None] = field(default_factory=dict)  # programs that it waited for, in order


Progress = Callable[[str, Outcome | None, Spent], None]


@record()
class _Work:
    """One section on its way: its reading, what it waits for, and how it ended."""

    reading: Reading
    waiting: Waiting | None = None
    wants: tuple[Command, ...] = ()
    model: Model | None = None
    state: State | None = None
    why: str | None = None
    results: Mapping[Command, Result] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)


def take(
    host: Host,
    names: Collection[str] = NAMES,
    label: str | None = None,
    baseline: bool = False,
    progress: Progress = lambda _name, _outcome, _spent: None,
) -> Snapshot:
    """The snapshot of HOST with the sections NAMES; the others, and those a recording was made without, are skipped.

    PROGRESS is called with a section's name, None and no time when it begins, and when all is read with its outcome
    and the time that it took.
    """
    tops = Tops(host)
    meta = Reading(host, META_READS, tops=tops)
    host.asks("meta", META_READS.paths)
    works = {}
    for name in NAMES:
        if name in names and host.asks(name, collector(name).reads.paths):
            progress(name, None, Spent())
            works[name] = _begin(collector(name), host, tops)
    state = _system_state(meta, works, host)
    outcomes, sections, files = {}, {}, dict[str, File]()
    for name in NAMES:
        work = works.get(name)
        outcomes[name] = _outcome(work) if work else _skipped(name in names)
        if work:
            files |= work.reading.files
            if work.model is not None:
                sections[name] = work.model
    taken = Snapshot.build(
        _meta(meta, host, state, sections, label, baseline), outcomes,
        {path: _file(f) for path, f in files.items()}, sections,
    )
    for name, work in works.items():
        progress(name, taken.outcomes[name], work.spent)
    host.complete()
    return taken


def _begin(collector: Collector, host: Host, tops: Tops) -> _Work:
    work = _Work(Reading(host, collector.reads, tops=tops))

    def start() -> Model | None:
        collected = collector.collect(work.reading)
        if isinstance(collected, Model):
            return collected
        work.waiting = collected
        work.wants = _wanted(collected, next(collected))
        return None

    _guard(work, start)
    return work


def _resume(work: _Work, results: Mapping[Command, Result]) -> None:
    waiting = work.waiting

    def step() -> Model | None:
        if waiting is None:
            return None
        work.wants = _wanted(waiting, waiting.send({c: results[c] for c in work.wants}))
        return None

    _guard(work, step)


def _wanted(waiting: Waiting, wants: tuple[Command, ...]) -> tuple[Command, ...]:
    """The commands that WAITING needs, which asked for WANTS; what asks for none goes on at once."""
    while not wants:
        wants = waiting.send({})
    return wants


def _guard(work: _Work, step: Callable[[], Model | None]) -> None:
    """Runs one step of a collector; what goes wrong ends that section only."""
    began = time.perf_counter()
    try:
        _step(work, step)
    finally:
        work.spent.own_s += time.perf_counter() - began


def _step(work: _Work, step: Callable[[], Model | None]) -> None:
    try:
        work.model = step()
        return
    except StopIteration as done:
        work.model = done.value
    except AbsentError as error:
        work.state, work.why = "absent", str(error)
    except (ParseError, OSError) as error:
        work.state, work.why = "failed", str(error)
    except Exception as error:  # noqa: BLE001 - a fault of one collector must not cost the other sections
        work.state, work.why = "failed", f"{type(error).__name__}: {' '.join(str(error).split())}"
    work.waiting, work.wants = None, ()


def _system_state(meta: Reading, works: Mapping[str, _Work], host: Host) -> str | None:
    """Runs all the commands that sections wait for until none waits; what systemd says of itself runs with them."""
    own = (SYSTEM_STATE,) if meta.stat("/run/systemd/system") else ()
    state = None if own or meta.text("/proc/1/comm") in (None, "systemd") else "none"
    while own or any(w.wants for w in works.values()):
        wanted = dict.fromkeys((*own, *(c for w in works.values() for c in w.wants)))
        began = time.perf_counter()
        results = host.run(tuple(wanted))
        waited = time.perf_counter() - began
        if own:
            state, own = _answer(meta, results[SYSTEM_STATE]), ()
        for work in works.values():
            if work.wants:
                work.spent.waited_s += waited
                work.spent.tools |= dict.fromkeys(command.argv[0] for command in work.wants)
                _resume(work, results)
    return state


def _answer(meta: Reading, result: Result) -> str | None:
    """The word that systemctl says, and only when it ran to its end: is-system-running exits 1 when degraded."""
    if result.why:
        meta.unread(("system_state",), " ".join(SYSTEM_STATE.argv), result.why)
        return None
    return result.stdout.decode("ascii", "replace").strip() or None


def _skipped(wanted: bool) -> Outcome:
    return Outcome(state="skipped", facts=0, why="not-recorded" if wanted else None)


def _outcome(work: _Work) -> Outcome:
    """How it went; the snapshot counts the facts and sorts what is unread."""
    said = {text: redacted(text) for u in work.reading.unreads for text in (u.source, u.why)}
    unread = [
        UnreadFact.built({"path": list(u.path), "source": said[u.source], "why": said[u.why]})
        for u in work.reading.unreads
    ]
    why = work.why and redacted(work.why)
    return Outcome(state=work.state or _state(unread, work.model), facts=0, why=why, unread=unread or None)


def _state(unread: list[UnreadFact], model: Model | None) -> State:
    if not unread:
        return "ok"
    reasons = {u.why for u in unread}
    if "timeout" in reasons:
        return "timeout"
    refused = reasons <= {"EACCES", "EPERM"} and not (model and count_facts(model.table()))
    return "denied" if refused else "partial"


def _meta(
    reading: Reading, host: Host, state: str | None, sections: Mapping[str, Model], label: str | None, baseline: bool
) -> Meta:
    system: Any = sections.get("os")
    uptime = (reading.text("/proc/uptime") or "").split(".")[0]
    session, machine_id = host.session, reading.text("/etc/machine-id")
    known = session.taken_ns > 0  # else a root that no take recorded
    return Meta(
        format=FORMAT, tool=__version__, host=session.hostname, label=label,
        taken=_utc(session.taken_ns) if known else None,
        machine=machine_hash(machine_id) if machine_id else None,
        boot_id=reading.text("/proc/sys/kernel/random/boot_id"),
        uptime_s=int(uptime) if uptime.isdecimal() else None, system_state=state,
        kernel=reading.text("/proc/sys/kernel/osrelease"), uid=session.uid if known else None,
        capabilities=session.capabilities or None, virtualization=system.virtualization if system else None,
        source=host.source, baseline=baseline or None, redacted=session.redacted or None,
        unread=[f"{u.source}: {u.why}" for u in reading.unreads] or None,
    )


def _file(file: File) -> FileFact:
    return FileFact(size_bytes=file.size_bytes, mtime=_utc(file.mtime_ns), sha256=file.sha256)


def _utc(ns: int | None) -> str | None:
    """A time in the form of the file; None for one that no calendar has, as a broken clock leaves on files."""
    try:
        return None if ns is None else datetime.fromtimestamp(ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return None

