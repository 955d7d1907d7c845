"""Rings, channels, coalescing and offloads of an interface, from ethtool.

ethtool(8), -g -l -c -k: ioctl and netlink answers that no file has. The oddities:

* A parameter that the driver does not have is ``n/a``, of older releases 0; of rings and channels the maximum says so.
* While a direction is adaptive, the driver moves its usecs and frames, which are no settings then.
* ``Adaptive RX: on  TX: off`` and ``CQE mode RX: on  TX: off`` hold two values a line.
* ``[fixed]`` marks a feature that nobody can switch, which is no setting; ``[requested on]`` one that was asked for
  and is not had.
* A driver without the whole question makes ethtool say "Operation not supported" and fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ParseError
from ..host.base import Command, Result
from ..regexes import regex
from .base import Reading, decode

_LINE = regex(r"([A-Za-z][A-Za-z /-]*):\s*(\d{1,9}|n/a)")
_COALESCE = regex(r"([a-z][a-z-]*):\s*(\d{1,9}|n/a)")
_PAIR = regex(r"(Adaptive|CQE mode) RX: (on|off|n/a)\s+TX: (on|off|n/a)")
_FEATURE = regex(r"\s*([a-z0-9][\w-]*): (on|off)( \[[^]]*\])?")
_MAXIMUMS, _CURRENT = "Pre-set maximums:", "Current hardware settings:"
Facts = dict[str, Any]


def parse_limits(text: str) -> tuple[dict[str, int], dict[str, int]]:
    """What is set and what is the most, from ethtool -g or -l. ParseError when TEXT has not both parts."""
    parts: dict[str, dict[str, int]] = {}
    part: dict[str, int] = {}
    for line in map(str.strip, text.splitlines()):
        if line in (_MAXIMUMS, _CURRENT):
            part = parts.setdefault(line, {})
        elif (match := _LINE.fullmatch(line)) and match[2] != "n/a":
            part[match[1].lower().replace(" ", "_")] = int(match[2])
    if _MAXIMUMS not in parts or _CURRENT not in parts:
        raise ParseError(f"no maximums and current settings: {text[:80]!r}")
    most = {name: number for name, number in parts[_MAXIMUMS].items() if number}
    return {name: number for name, number in parts[_CURRENT].items() if name in most}, most


def parse_coalescing(text: str) -> dict[str, int | str]:
    """Number or on and off by word, from ethtool -c. ParseError when TEXT has none."""
    found: dict[str, int | str] = {}
    for line in map(str.strip, text.splitlines()):
        if pair := _PAIR.fullmatch(line):
            word = pair[1].lower().replace(" ", "-")
            found |= {f"{word}-{end}": value for end, value in zip(("rx", "tx"), pair.groups()[1:], strict=True)}
        elif match := _COALESCE.fullmatch(line):
            found[match[1]] = match[2] if match[2] == "n/a" else int(match[2])
    if not found:
        raise ParseError(f"no coalescing parameter: {text[:80]!r}")
    adaptive = [end for end in ("rx", "tx") if found.get(f"adaptive-{end}") == "on"]
    moving = {f"{end}-{unit}" for end in adaptive for unit in ("usecs", "frames")}
    return {word: value for word, value in found.items() if value != "n/a" and word not in moving}


def parse_features(text: str) -> dict[str, bool]:
    """Whether each feature that can be switched is on, from ethtool -k. ParseError when TEXT has no feature."""
    matches = [match for line in text.splitlines() if (match := _FEATURE.fullmatch(line))]
    if not matches:
        raise ParseError(f"no feature: {text[:80]!r}")
    return {match[1]: match[2] == "on" for match in matches if match[3] != " [fixed]"}


def _limits(now: str, most: str) -> Callable[[str], Facts]:
    return lambda text: dict(zip((now, most), parse_limits(text), strict=True))


_QUESTIONS: dict[str, tuple[tuple[str, ...], Callable[[str], Facts]]] = {
    "-g": (("rings", "ring_maximums"), _limits("rings", "ring_maximums")),
    "-l": (("channels", "channel_maximums"), _limits("channels", "channel_maximums")),
    "-c": (("coalescing",), lambda text: {"coalescing": parse_coalescing(text)}),
    "-k": (("offloads",), lambda text: {"offloads": parse_features(text)}),
}
COMMANDS = tuple(("ethtool", option, "*") for option in _QUESTIONS)
FACTS = tuple(fact for facts, _ in _QUESTIONS.values() for fact in facts)


def commands(name: str) -> tuple[Command, ...]:
    """What to ask about interface NAME; it changes nothing, but wakes a device that sleeps."""
    return tuple(Command(("ethtool", option, name)) for option in _QUESTIONS)


def understand(reading: Reading, command: Command, result: Result, fact: tuple[str, ...]) -> Facts:
    """The facts that one answer gives; what it does not tell is unread below FACT."""
    names, parse = _QUESTIONS[command.argv[1]]
    said = decode(result.stderr).strip()
    reason = result.why
    if not reason and result.exit_code != 0 and "not supported" in said:
        return {}
    try:
        if not reason and result.exit_code == 0:
            return {name: value for name, value in parse(decode(result.stdout)).items() if value}
        reason = reason or (said.splitlines() or [f"exit code {result.exit_code}"])[0][:120]
    except ParseError as error:
        reason = str(error)
    for name in names:
        reading.unread((*fact, name), " ".join(command.argv), reason)
    return {}
