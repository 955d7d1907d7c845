"""What a take says when it is done: what was recorded, what could not be read, where it lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..document import Outcome, Snapshot, UnreadFact
from ..records import record
from ..sections import NAMES
from .paper import plural, shown

WIDTH = 80
GPU_CLASSES = ("03", "1200")  # display controllers, and processing accelerators as AMD Instinct are
GPU_VENDORS = frozenset({"10de", "1002"})  # pci.ids: NVIDIA, AMD/ATI; a BMC's VGA is of another vendor


def render(snapshot: Snapshot, path: str, reference: str, seconds: float, program: str) -> str:
    """The summary printed after a take, ending in a newline.

    PATH is where the file lies, REFERENCE what to call it in another command, PROGRAM the name that the user called.
    """
    return "\n".join((*map(shown, _lines(snapshot, path, reference, seconds, program)), ""))


def _lines(snapshot: Snapshot, path: str, reference: str, seconds: float, program: str) -> Iterator[str]:
    meta = snapshot.meta
    label = f" as {meta.label}" if meta.label else ""
    head = f"Recorded {meta.host} ({system(snapshot)}){label}"
    spent = f"  {seconds:.1f} s"
    yield f"{head}{spent:>{max(WIDTH - len(head), 0)}}"
    yield f"  {', '.join(_counts(snapshot))}"
    for name in NAMES:
        yield from _trouble(name, snapshot.outcomes[name])
    yield f"  saved    {path}"
    if meta.uid != 0 and any(o.refused() for o in snapshot.outcomes.values()):
        yield f"Some facts need root: run {program} take as root to record them too."
    if meta.source == "live":
        yield f"Next: after the change, `{program} diff {reference}` says what got worse."


def system(snapshot: Snapshot) -> str:
    """The system and its kernel in a few words: "Proxmox VE 8.4.1, kernel 6.8.12-9-pve"."""
    found = snapshot.table("os")
    name = f"Proxmox VE {found['proxmox_ve']}" if "proxmox_ve" in found else found.get("pretty_name")
    kernel = f"kernel {snapshot.meta.kernel}" if snapshot.meta.kernel else None
    return ", ".join(filter(None, (name, kernel))) or "unknown system"


def gpus(functions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The addresses of the display controllers and accelerators made by GPU vendors."""
    return [a for a, f in functions.items()
            if f.get("class_code", "").startswith(GPU_CLASSES) and f.get("vendor") in GPU_VENDORS]


def _counts(snapshot: Snapshot) -> Iterator[str]:
    outcomes = [o for o in snapshot.outcomes.values() if o.state != "skipped"]
    yield f"{plural(len(outcomes), 'section')}, {plural(sum(o.facts for o in outcomes), 'fact')}"
    functions = snapshot.table("pci").get("functions", {})
    if gpus(functions):
        yield plural(len(gpus(functions)), "GPU")
    if functions:
        yield plural(len(functions), "PCI function")
    containers = snapshot.table("lxc").get("containers", {})
    if containers:
        yield plural(len(containers), "container")


def _trouble(name: str, outcome: Outcome) -> Iterator[str]:
    """One line for a section of which something is missing: the state, and the first reason of all."""
    if outcome.state in ("ok", "absent", "skipped"):
        return
    unread = outcome.unread or []
    more = f" and {len(unread) - 1:,} more" if len(unread) > 1 else ""
    head = f"  {outcome.state:<8} {name:<8} "
    room = WIDTH - len(head) - len(more)
    first = _short(outcome.why, room) if outcome.why else _reason(unread[0], room) if unread else ""
    yield f"{head}{first}{more}"


def _reason(fact: UnreadFact, room: int) -> str:
    """The source and why it could not be read: of a long path the end, where that has no room the reason alone."""
    keys = fact.source.split("/")
    sources = [fact.source, *(f".../{'/'.join(keys[at:])}" for at in range(2, len(keys)) if not keys[0])]
    texts = (f"{source}: {fact.why}" for source in sources)
    return next((text for text in texts if len(text) <= room), _short(fact.why, room))


def _short(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 3].rstrip()}..."


@record(frozen=True)
class Timing:
    """How a section's reading went, and how long it took."""

    name: str
    outcome: Outcome
    own_s: float  # reading and parsing
    waited_s: float  # until commands were done, which run side by side with those of other sections
    tools: Sequence[str]  # programs that it waited for

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.own_s + self.waited_s


def render_timings(timings: Sequence[Timing]) -> str:
    """One line a section, and the slowest by name: of those that waited together one whose command ran out of time."""
    lines = [f"  {t.outcome.state:<8} {t.name:<8} {plural(t.outcome.facts, 'fact'):>12} {t.own_s:>7.3f} s{_waited(t)}"
             for t in timings]
    slowest = max(timings, key=lambda t: (round(t.total_s, 1), t.outcome.state == "timeout", t.total_s), default=None)
    if slowest:
        lines.append(f"  slowest: {slowest.name}, {slowest.total_s:.3f} s")
    return "".join(f"{shown(line)}\n" for line in lines)


def _waited(timing: Timing) -> str:
    tools = ", ".join(tool.rsplit("/", 1)[-1] for tool in timing.tools)
    return _short(f" + {timing.waited_s:.3f} s for {tools}", WIDTH - 42) if tools else ""
