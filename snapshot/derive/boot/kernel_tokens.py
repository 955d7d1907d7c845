"""Each kernel parameter that promises something, and whether it is so now, from cmdline and the sections it is about.

Documentation/admin-guide/kernel-parameters.rst. The kernel takes any word: one that it does not know goes to PID 1, one
that has no effect goes unnoticed. So each is held against what it was given for; ``token_cpu``, ``token_system`` and
``token_hugepages`` know what shows that. Of a name given twice mostly the last one counts. Values can
have been changed since the boot: a promise that is not kept now may have been kept then.

Row keys, by the word as it stands (with the hugepagesz= before it); a key without a value is missing:
    token, name, value   the word, its name with - as _, and what is behind =
    wants            what it asks for, in words
    effect           what is there, in words
    honoured         whether the two agree; missing when nothing shows it
    why              what is known to stand against it
    overruled_by     {file, line, text} that sets something else after the kernel has started
    overruled        the word that counts instead: a later one of the same name
    driver           the cpufreq or cpuidle driver that runs, for parameters of these
    module           for MODULE.PARAMETER: the module, which is loaded or part of the kernel
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from ..tunables.tunable_values import number, parameter_agrees
from ..tunables.tunable_words import pair
from . import token_cpu, token_hugepages, token_system
from .token_live import Answer, Check, Live, UnreadError

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
CHECKS: dict[str, Check] = {**token_cpu.CHECKS, **token_system.CHECKS}
REPEATED = ("iommu", "amd_iommu", "intel_iommu", "pci")  # all words of these count
DRIVERS = {
    "amd_pstate": "cpufreq", "intel_pstate": "cpufreq", "cpufreq.default_governor": "cpufreq",
    "processor.max_cstate": "cpuidle", "intel_idle.max_cstate": "cpuidle", "cpuidle.off": "cpuidle", "idle": "cpuidle",
}


def kernel_tokens(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each parameter of AFTER's command line that asks for something; BEFORE adds nothing."""
    del before
    if fact := after.unread("cmdline", ("tokens",)):
        return Derived({}, [_gap("", fact)])
    found, live = Derived(), Live(after)
    for token, name, value, check in _asked(live):
        try:
            answer = check(live, value)
        except UnreadError as error:
            found.unknown.append(_gap(token, error.fact))
            continue
        if answer:
            row = {"token": token, "name": name, "value": value, **answer.row(), **_more(live, name)}
            found.rows[token] = {key: told for key, told in row.items() if told is not None}
    return found


def _gap(subject: str, fact: UnreadFact) -> Row:
    what = f"whether {subject or 'the command line'} is in effect"
    return {"subject": subject, "what": what, "source": fact.source, "why": fact.why}


def _more(live: Live, name: str) -> Row:
    if section := DRIVERS.get(name):
        return {"driver": live.maybe(section, "driver")}
    module, dot, _ = name.partition(".")
    return {"module": module} if dot and name not in CHECKS and module != "sysctl" else {}


def _asked(live: Live) -> Iterator[tuple[str, str, str | None, Check]]:
    """Token, name, value and check of each parameter, none twice."""
    words = [(token, *pair(token)) for token in live.maybe("cmdline", "tokens") or ()]
    ends = next((at for at, word in enumerate(words) if word[0] == "--"), len(words))
    last = {name: token for token, name, _ in words[:ends]}
    for token, name, value in words[:ends]:
        if name in CHECKS:
            counts = name in REPEATED or last[name] == token
            yield token, name, value, CHECKS[name] if counts else _later(last[name])
    for token, value, check in token_hugepages.pools(live, words[:ends]):
        yield token, "hugepages", value, check
    yield from _parameters(live)
    yield from _sysctls(live)


def _later(token: str) -> Check:
    return lambda _, __: Answer(f"nothing any more: {token} comes later")


def _parameters(live: Live) -> Iterator[tuple[str, str, str | None, Check]]:
    """MODULE.PARAMETER of the command line, of modules that the running kernel has."""
    for module, options in (live.maybe("modules", "options") or {}).items():
        for parameter, option in options.items():
            name = f"{module}.{parameter}"
            if (word := option.get("cmdline")) and name not in CHECKS:
                yield word["origin"]["text"], name, word.get("value"), _parameter(module, parameter)


def _parameter(module: str, parameter: str) -> Check:
    def check(live: Live, text: str | None) -> Answer:
        written = "" if text is None else text
        wants, value = f"{module}.{parameter} = {written or 'Y'}", _now(live, module, parameter)
        honoured = None if value is None else _agrees(value, written)
        return Answer(wants, "" if value is None else f"{module}.{parameter} = {value}", honoured)

    return check


def _now(live: Live, module: str, parameter: str) -> str | None:
    """The value of a module's parameter; None when the module is not there, or does not show it."""
    if module == "nvidia":
        told = live.value("nvidia", "driver", "parameters", parameter.removeprefix("NVreg_"))
        return None if told is None else str(told)
    for part in ("loaded", "builtin"):
        if live.value("modules", part, module) is not None:
            value: str | None = live.value("modules", part, module, "parameters", parameter)
            return value
    return None


def _agrees(value: str, written: str) -> bool | None:
    """Whether VALUE is what is WRITTEN; of two different texts nothing is said, since some modules rewrite theirs."""
    if "[" in value:
        return f"[{written}]" in value.split()
    honoured = parameter_agrees(value, written)
    texts = value not in ("Y", "N") and None in (number(value), number(written))
    return None if texts and not honoured else honoured


def _sysctls(live: Live) -> Iterator[tuple[str, str, str | None, Check]]:
    for key, setting in (live.maybe("sysctl", "settings") or {}).items():
        if word := setting.get("cmdline"):
            yield word["origin"]["text"], f"sysctl.{key}", word["value"], _sysctl(key)


def _sysctl(key: str) -> Check:
    return lambda live, text: token_system.sysctl_answer(live, key, text or "")
