"""Whether the clock is synchronised, from systemd-timesyncd's mark or from chronyd.

systemd-timesyncd.service(8): it makes /run/systemd/timesync/synchronized when it first sets the clock in this boot.
chronyc(1): ``chronyc -c tracking`` is one line of 14 fields, the last is the leap status. timedatectl is not asked: it
would start a daemon. Which server the time comes from is not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ParseError
from ..host.base import Command, Result
from ..sections.units import Clock
from .base import Reading, decode

TIMESYNC, MARK = "/run/systemd/timesync", "/run/systemd/timesync/synchronized"
PIDS = ("/run/chrony/chronyd.pid", "/run/chronyd.pid")
TRACKING = Command(("chronyc", "-n", "-c", "tracking"), timeout_s=5)
_LEAPS = {"Normal": True, "Insert second": True, "Delete second": True, "Not synchronised": False}


def wanted(reading: Reading) -> tuple[Command, ...]:
    """What has to be asked: chronyd, when it runs."""
    return (TRACKING,) if any(reading.stat(pid, "clock") for pid in PIDS) else ()


def clock(reading: Reading, results: Mapping[Command, Result]) -> Clock | None:
    """The clock's state; None when no daemon is known to run, or (noted) it does not tell."""
    if TRACKING in results:
        return _chrony(reading, results[TRACKING])
    if reading.stat(TIMESYNC, "clock") is None:
        return None
    return Clock(source="systemd-timesyncd", synchronized=reading.stat(MARK, "clock") is not None)


def _chrony(reading: Reading, result: Result) -> Clock | None:
    reason = result.why or (f"exit code {result.exit_code}" if result.exit_code else "")
    try:
        if not reason:
            return Clock(source="chrony", synchronized=parse_tracking(decode(result.stdout)))
    except ParseError as error:
        reason = str(error)
    reading.unread(("clock",), " ".join(TRACKING.argv), reason)
    return None


def parse_tracking(text: str) -> bool:
    """Whether chronyd follows a source. ParseError when TEXT is no line of ``tracking``."""
    fields = text.strip().split(",")
    if len(fields) != 14 or fields[-1] not in _LEAPS:
        raise ParseError(f"no line of chronyc tracking: {text[:80]!r}")
    return _LEAPS[fields[-1]]
