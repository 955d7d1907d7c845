"""cpupower, cpufreq-set and x86_energy_perf_policy: governor, frequency limits, EPP, idle states.

cpupower-frequency-set(1), cpupower-idle-set(1), cpupower-set(1), cpufreq-set(1), x86_energy_perf_policy(8). cpupower
sets all CPUs unless told otherwise, cpufreq-set only the first. Of the options of idle-set only one is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...records import replace
from .action import Effect
from .actions_words import Word, literal

_FREQUENCY = {"-d": "min", "--min": "min", "-u": "max", "--max": "max", "-g": "governor", "--governor": "governor",
              "-f": "freq", "--freq": "freq"}
_IDLE = {"-d": "disable", "--disable": "disable", "-e": "enable", "--enable": "enable",
         "-D": "idle-latency", "--disable-by-latency": "idle-latency"}
_SET = {"-b": "perf-bias", "--perf-bias": "perf-bias", "-e": "epp", "--epp": "epp", "-m": "amd-pstate-mode",
        "--amd-pstate-mode": "amd-pstate-mode", "-t": "boost", "--turbo-boost": "boost"}
_CPUS = {"-c": "cpus", "--cpu": "cpus"}
_WITHOUT = {"-r": "related", "--related": "related", "-E": "enable-all", "--enable-all": "enable-all"}
_READS = ("frequency-info", "idle-info", "info", "monitor", "powercap-info", "-v", "--version", "-h", "--help", "help")
_HINTS = {"-c": "cpus", "--cpu": "cpus", "-P": "epp", "--hwp-epp": "epp", "-B": "perf-bias", "--epb": "perf-bias",
          "-t": "boost", "--turbo-enable": "boost", "-a": "energy-perf-policy", "--all": "energy-perf-policy"}
Options = list[tuple[str, Word]]


def cpupower(words: list[Word]) -> list[Effect] | None:
    """What the arguments WORDS of cpupower set; None when they are not understood."""
    texts = [word.text for word in words]
    at = next((i for i, text in enumerate(texts) if text in (*_READS, "frequency-set", "idle-set", "set")), -1)
    before = _options(words[:at], _CPUS) if at >= 0 else None
    if before is None:
        return None
    cpus = next((word.text for _, word in before), "all")
    if texts[at] in _READS:
        return []
    names = {"frequency-set": _FREQUENCY, "idle-set": _IDLE, "set": _SET}[texts[at]]
    found = _options(words[at + 1 :], names)
    return [_effect(cpus, name, word) for name, word in found if name != "related"] if found is not None else None


def cpufreq_set(words: list[Word]) -> list[Effect] | None:
    """What the arguments WORDS of cpufreq-set set; None when they are not understood."""
    found = _options(words, {**_FREQUENCY, **_CPUS})
    if found is None:
        return None
    cpus = next((word.text for name, word in found if name == "cpus"), "0")
    return [_effect(cpus, name, word) for name, word in found if name not in ("cpus", "related")]


def energy_policy(words: list[Word]) -> list[Effect] | None:
    """What the arguments WORDS of x86_energy_perf_policy set; None when they are not understood."""
    if any(word.text in ("-r", "--read", "-h") for word in words) or not words:
        return []
    named = words[-1:] if not words[-1].text.startswith("-") and len(words) % 2 else []
    found = _options(words[: len(words) - len(named)], _HINTS)
    if found is None:
        return None
    cpus = next((word.text for name, word in found if name == "cpus"), "all")
    found += [("energy-perf-policy", word) for word in named]
    return [_effect(cpus, name, word) for name, word in found if name != "cpus"]


def _effect(cpus: str, name: str, word: Word) -> Effect:
    if name == "enable-all":
        return Effect("cpupower", (cpus, "idle-state *"), "enable")
    if name in ("enable", "disable"):
        return Effect("cpupower", (cpus, f"idle-state {word.text}"), name, "" if word.known else f"state {word.text}")
    return Effect("cpupower", (cpus, name), word.value)


def _options(words: list[Word], names: Mapping[str, str]) -> Options | None:
    """(name, value) of each option; None when one is not in NAMES or stands without its value."""
    found: Options = []
    rest: Iterator[Word] = iter(words)
    for word in rest:
        short, attached = word.text[:2], word.text[2:]
        if word.text in _WITHOUT and word.text not in names:
            found.append((_WITHOUT[word.text], literal("")))
        elif word.text in names:
            value = next(rest, None)
            if value is None:
                return None
            found.append((names[word.text], value))
        elif attached and short in names and short != "--":
            found.append((names[short], replace(word, text=attached)))
        else:
            return None
    return found
