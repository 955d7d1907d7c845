"""CPU frequency scaling and SMT, by CPUs.

Documentation/admin-guide/pm/{cpufreq,amd-pstate,intel_pstate}.rst, cpupower-frequency-set(1). In the active modes of
amd_pstate and intel_pstate there are two governors, and with ``performance`` the preference is performance too and
cannot be written. A governor that the driver does not offer is refused. The kernel holds limits within the hardware's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...records import replace
from .tunable import Setter, Tunable, Value
from .tunable_cpus import CPU, FREQUENCY, Asked
from .tunable_facts import Facts, Kind
from .tunable_setters import Setters
from .tunable_values import agrees, flag, kilohertz
from .tunable_words import running_words

KIND = Kind("cpufreq", (
    "cpupower", "cpufreq-set", "auto-cpufreq", "tuned", "tuned-adm", "x86_energy_perf_policy", "wrmsr", "powertop",
), (("cmdline", ""),))
EVERYWHERE = ("performance", "powersave")  # governors that every driver offers
ACTIVE = ("amd-pstate-epp", "intel_pstate")
MODES = ("amd_pstate", "intel_pstate", "cpufreq.off")  # words that choose the driver


def cpufreq(found: Setters) -> Iterator[Tunable]:
    """Governor, preference, limits and boost of each CPU; modes of the drivers; SMT."""
    facts = Facts(found, KIND)
    governor = Asked(found, FREQUENCY, "scaling_governor", option="governor", change=lambda made: _offered(found, made))
    governor.put("all", *found.words.taken("cpufreq.default_governor"))
    yield from governor.tunables(facts, "scaling_governor", ("cpufreq", "governor"), str)
    preference = Asked(found, FREQUENCY, "energy_performance_preference", option="epp")
    if found.table("cpufreq").get("driver") in ACTIVE:
        preference.follow(governor, lambda made: made if made.value == "performance" else None)
    yield from preference.tunables(facts, "energy_performance_preference", ("cpufreq", "epp"), str)
    for end in ("max", "min"):
        name = f"scaling_{end}_freq"
        limit = Asked(found, FREQUENCY, name, option=end, change=_in_khz)
        yield from limit.tunables(facts, name, ("cpufreq", f"{end}_khz"), int, _within(found))
    boost = Asked(found, FREQUENCY, "boost", "cpb", option="boost")
    boost.put("all", *found.file(f"{CPU}/cpufreq/boost"), *_turbo(found))
    yield from boost.tunables(facts, "boost", ("cpufreq", "boost"), bool)
    yield from _drivers(facts)


def driver_may_change(found: Setters) -> bool:
    """Whether the next boot may choose another driver: another kernel, or other words."""
    now = running_words(found.snapshot)
    return found.kernel != (found.snapshot.meta.kernel or "") or any(
        now.last(word) != found.words.last(word) for word in MODES
    )


def _offered(found: Setters, made: Setter) -> Setter:
    offered = found.table("cpufreq").get("governors")
    if made.value is None or made.value in EVERYWHERE or not offered:
        return made
    if driver_may_change(found):
        return replace(made, certain=False, doubt="the next boot may have another driver")
    why = f"the driver does not offer {made.value}" if made.value not in offered else made.why_not
    return replace(made, why_not=why)


def _in_khz(made: Setter) -> Setter:
    found = kilohertz(made.value or "")
    return replace(made, value=None if found is None else str(found))


def _within(found: Setters) -> Callable[[Value, str], bool | None]:
    """``agrees`` for a limit in kHz: one beyond the hardware's becomes the hardware's."""
    low, high = ([*map(int, found.table("cpufreq").get(f"hardware_{end}_khz", {}))] for end in ("min", "max"))

    def same(live: Value, written: str) -> bool | None:
        if len(low) == len(high) == 1 and written.isdecimal():
            return live == min(max(int(written), low[0]), high[0])
        return agrees(live, written)

    return same


def _turbo(found: Setters) -> list[Setter]:
    """no_turbo of intel_pstate says the opposite of boost."""
    meant = ((made, flag(made.value or "")) for made in found.file(f"{CPU}/intel_pstate/no_turbo"))
    return [replace(made, value=None if off is None else str(int(not off))) for made, off in meant]


def _drivers(facts: Facts) -> Iterator[Tunable]:
    words = facts.found.words
    for driver in ("amd_pstate", "intel_pstate"):
        lines = [facts.found.setter(line, line.value) for line in facts.found.of("cpupower")
                 if line.where[1:] == ("amd-pstate-mode",) and driver == "amd_pstate"]
        yield from facts.one(f"{driver}/status", ("cpufreq", driver, "status"), f"{CPU}/{driver}/status",
                             setters=[*words.taken(driver), *lines])
    for end in ("min", "max"):
        yield from facts.one(f"intel_pstate/{end}_perf_pct", ("cpufreq", "intel_pstate", f"{end}_perf_percent"),
                             f"{CPU}/intel_pstate/{end}_perf_pct")
    yield from facts.one("intel_pstate/hwp_dynamic_boost", ("cpufreq", "intel_pstate", "hwp_dynamic_boost"),
                         f"{CPU}/intel_pstate/hwp_dynamic_boost")
    smt = words.taken("nosmt", lambda value: {"": "off", "force": "forceoff"}.get(value))
    yield from facts.one("smt/control", ("cpu", "smt", "control"), f"{CPU}/smt/control", setters=smt)
