"""What the command line of the next boot changes: its words, and the cpufreq driver that follows from them.

From ``cmdline_next``; Documentation/admin-guide/kernel-parameters.txt and pm/amd-pstate.rst: amd_pstate=active gives
the driver amd-pstate-epp, passive and guided amd-pstate. Another driver starts with its own governor, preference and
limits, so that what the running one has says nothing. Idle states that words take away are told by ``tunable_cpuidle``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..boot.boot_loader import seen
from ..boot.cmdline_next import cmdline_next
from ..boot.token_cpu import PSTATES
from ..tunables.boot_defaults import version
from ..tunables.tunable_words import ASSUMED, next_kernel, pair
from .forecast_prediction import Prediction, place, where

if TYPE_CHECKING:
    from ...document import Snapshot

Row = Mapping[str, Any]
DRIVER = ("cpufreq", "driver")
WORDS = ("amd_pstate", "intel_pstate", "cpufreq.off", "initcall_blacklist")  # that choose the driver
OF_DRIVER = ("scaling_governor", "energy_performance_preference", "scaling_max_freq", "scaling_min_freq", "boost")
SINCE = {"active": (6, 3), "guided": (6, 4)}  # kernels that know the mode; one with a backport may too
STATES = {"added": "it will be added", "removed": "it will be gone", "changed": "it will be another"}


def words(snapshot: Snapshot) -> Iterator[Prediction]:
    """A prediction for each tuning word of either command line; one unknown where the next one cannot be seen.

    None where the host shows nothing of a loader: its kernel comes from outside, as that of some guests.
    """
    found = cmdline_next(snapshot, None)
    for gap in found.unknown if seen(snapshot) or snapshot.unread("boot", ("menus",)) else ():
        why = f"{gap['source']}: {gap['why']}"
        yield Prediction("cmdline", "cmdline", "command line", ("cmdline",), "unknown", why,
                         source={"file": gap["source"]})
    for name, row in found.rows.items():
        if row["tuning"] and row["state"] != "absent":
            yield _word(name, row)


def _word(name: str, row: Row) -> Prediction:
    kept, source = row["state"] == "kept", place(row)
    notes = [where(source), ASSUMED if row.get("assumed") else "already in the loader's entry" if source else ""]
    why = ", ".join(filter(None, notes)) if kept or source else STATES[row["state"]]
    return Prediction(f"cmdline {name}", "cmdline", name, ("cmdline", "parameters", name),
                      "kept" if kept else "changes", why, row.get("now", ""), row.get("next", ""), source=source)


def driver(snapshot: Snapshot, found: list[Prediction]) -> Prediction | None:
    """The cpufreq driver, where words FOUND choose another one than now; None where they do not."""
    now = snapshot.table("cpufreq").get("driver")
    word = next((one for one in found if one.name in WORDS and one.status == "changes"), None)
    if word is None or now is None:
        return None
    mode = pair(str(word.next).split(" ")[-1])[1] or ""
    amd = word.name == "amd_pstate" and snapshot.table("cpu").get("vendor") == "AuthenticAMD"
    able = snapshot.table("cpufreq").get("cppc") is not False and version(next_kernel(snapshot)) >= SINCE.get(mode, ())
    following = PSTATES.get(mode) if amd and able else None
    made = Prediction("cpufreq driver", "cpufreq", "cpufreq driver", DRIVER, "may",
                      f"{word.next or word.name}: {word.why}", now, source=word.source)
    if following is not None:
        made.status, made.next = "kept" if following == now else "changes", following
        made.why = f"{word.next} ({where(word.source)})"
    return made


def with_driver(one: Prediction, chosen: Prediction) -> Prediction:
    """ONE, which may change where it is of a driver that the next boot has not, and nothing sets it."""
    if one.kind == "cpufreq" and one.name in OF_DRIVER and chosen.status != "kept" and "configured_by" not in one.row:
        one.status, one.next, one.plain = "may", None, False
        one.why = f"{chosen.next or 'another driver'} starts with its own ({where(chosen.source) or chosen.why})"
    return one
