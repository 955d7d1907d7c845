"""The daemon irqbalance, from its service's cgroup and its environment files.

irqbalance(1); cputree.c of irqbalance; cgroup-v2.rst of the kernel; systemd.exec(5), EnvironmentFile=.

A service that has ended has no cgroup. The unit names the distribution's defaults first, then the file in /etc: the
last assignment counts. CPUs are banned by a mask or by a list; without either, or with an empty one, the daemon leaves
out isolated and nohz_full ones by itself. It runs once when IRQBALANCE_ONESHOT is there at all, empty or not
(irqbalance.c). Its other options stand in the section units.
"""

from __future__ import annotations

from ..errors import ParseError
from ..records import record
from ..sections.base import Origin
from ..sections.irq import Irqbalance
from .base import Reading
from .irq_names import parse_mask
from .kernel_values import parse_list

FILES = (
    "/usr/lib/irqbalance/defaults.env", "/usr/share/irqbalance/irqbalance.env", "/etc/default/irqbalance",
    "/etc/sysconfig/irqbalance",
)
_SLICE = "system.slice"
_GROUPS = {  # hierarchy -> the file that tells whether a group has processes
    "/sys/fs/cgroup": "cgroup.events", "/sys/fs/cgroup/unified": "cgroup.events",
    "/sys/fs/cgroup/systemd": "cgroup.procs",
}
PATHS = (
    *FILES, *(f"{top}/{_SLICE}" for top in _GROUPS),
    *(f"{top}/{_SLICE}/irqbalance.service/{file}" for top, file in _GROUPS.items()),
)
_MASK, _LIST, _ONCE = "IRQBALANCE_BANNED_CPUS", "IRQBALANCE_BANNED_CPULIST", "IRQBALANCE_ONESHOT"


@record(frozen=True)
class Assignment:
    """A variable's value without quotes, and where it stands."""

    value: str
    origin: Origin


def collect(reading: Reading) -> Irqbalance | None:
    """What is known of the daemon; None when nothing is."""
    found: dict[str, Assignment] = {}
    for path in FILES:
        found |= parse(reading.config(path, "irqbalance") or "", path)
    banned, origin = _banned(reading, found)
    once = found.get(_ONCE)
    origins = {"banned_cpus": origin, "oneshot": once.origin if once else None}
    kept = {fact: where for fact, where in origins.items() if where}
    running = _running(reading)
    if running is None and not kept:
        return None
    return Irqbalance(
        running=running, oneshot=True if once else None, banned_cpus=banned, origins=kept or None
    )


def parse(text: str, path: str) -> dict[str, Assignment]:
    """The last assignment of each variable that matters. Any text is an environment file."""
    found = {}
    for number, raw in enumerate(text.split("\n"), 1):
        name, _, value = raw.strip().partition("=")
        if name.rstrip() in (_MASK, _LIST, _ONCE):
            line = raw.strip(" \t\r\0")
            found[name.rstrip()] = Assignment(value.strip().strip("\"'"), Origin(file=path, line=number, text=line))
    return found


def _banned(reading: Reading, found: dict[str, Assignment]) -> tuple[str | None, Origin | None]:
    parsers = ((_MASK, parse_mask), (_LIST, parse_list))
    given = [(found[name], parser) for name, parser in parsers if name in found and found[name].value]
    if not given:
        return None, None
    one, parser = given[0]
    try:
        if len(given) > 1:
            raise ParseError(f"{_MASK} and {_LIST} are both set")
        return parser(one.value), one.origin
    except ParseError as error:
        reading.unread(("irqbalance", "banned_cpus"), one.origin.file, str(error))
        return None, None


def _running(reading: Reading) -> bool | None:
    fact = ("irqbalance", "running")
    for top, file in _GROUPS.items():
        text = reading.text(f"{top}/{_SLICE}/irqbalance.service/{file}", *fact)
        if text is not None:
            return "populated 1" in text if file == "cgroup.events" else bool(text.strip())
    if any(u.path == fact for u in reading.unreads):
        return None
    if any(reading.stat(f"{top}/{_SLICE}", *fact) for top in _GROUPS):
        return False
    reading.settle(False, f"/sys/fs/cgroup/{_SLICE}", "systemd's services are not to be seen", *fact)
    return None
