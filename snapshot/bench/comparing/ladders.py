"""One metric over a parameter that rises, all else of the workload equal: concurrency, size, length.

Where the numbers got worse tells more than that they did: at the low end each step waits for the one before, so that
latency decides; at the high end many are under way, so that bandwidth, power and memory do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from .comparison import Comparison, Ladder, Verdict
from .effects import MINIMUM_PERCENT
from .naming import NUMBER

LOW, HIGH = "latency", "bandwidth, power or memory"
POINTS_TO = {  # parameter -> what its two ends point to
    "concurrency": (f"{LOW}: idle states, clocks, peer-to-peer, links", HIGH),
    "size": (LOW, "bandwidth"),
    "size_bytes": (LOW, "bandwidth"),
}
COMPANIONS = ("num_prompts", "input_len")  # what grows along with concurrency, or is told from what was sent
COMPARED: tuple[Verdict, ...] = ("better", "worse", "same", "too-few")
Step = tuple[float, Comparison]
Steps = list[Step]
Kind = tuple[str, ...]


def ladders(comparisons: Iterable[Comparison]) -> list[Ladder]:
    """The ladders of two steps and more, by tool, metric and parameter."""
    compared = [one for one in comparisons if one.effect.verdict in COMPARED]
    found: dict[Kind, Steps] = {}
    for kind, steps in _grouped(compared, COMPANIONS).items():
        single = len({value for value, _ in steps}) == len(steps)
        found |= {kind: steps} if single else _grouped([one for _, one in steps], ())
    ordered = {kind: sorted(steps, key=lambda step: step[0]) for kind, steps in sorted(found.items())}
    return [_ladder(kind[3], steps) for kind, steps in ordered.items() if steps[0][0] < steps[-1][0]]


def _grouped(comparisons: Iterable[Comparison], leave: Collection[str]) -> dict[Kind, Steps]:
    """Comparisons of workloads that are equal but for a parameter, and what LEAVE names."""
    found: dict[Kind, Steps] = {}
    for one in comparisons:
        workload = {key: value for key, value in sorted(one.measured.workload.items()) if key not in leave}
        for key, value in workload.items():
            if key not in COMPANIONS and NUMBER.fullmatch(value):
                rest = (f"{name}={word}" for name, word in workload.items() if name != key)
                kind = (one.measured.source.tool, one.measured.metric, one.measured.unit, key, *rest)
                found.setdefault(kind, []).append((float(value), one))
    return found


def _ladder(parameter: str, steps: Sequence[Step]) -> Ladder:
    measured = steps[0][1].measured
    workload = {key: value for key, value in measured.workload.items()
                if all(one.measured.workload.get(key) == value for _, one in steps)}
    return Ladder(metric=measured.metric, unit=measured.unit, better=measured.better, parameter=parameter,
                  workload=workload, steps=steps, words=_words(parameter, steps))


def _words(parameter: str, steps: Sequence[Step]) -> str:
    """Where it got worse, or better."""
    name, every = parameter.replace("_", " ").removesuffix(" bytes"), [value for value, _ in steps]
    for verdict in ("worse", "better"):
        at = [value for value, one in steps if one.effect.verdict == verdict]
        if len(at) == len(steps):
            return f"{verdict} at every {name}, {_span(at, every)}"
        if at:
            return f"{verdict} at {name} {_span(at, every)} of {_span(every, every)}{_points(parameter, every, at)}"
    return _all_one_way(name, steps)


def _points(parameter: str, every: Sequence[float], at: Sequence[float]) -> str:
    """What it points to that it is so AT one end only."""
    if parameter not in POINTS_TO or len(at) > len(every) / 2:
        return ""
    low, high = POINTS_TO[parameter]
    ends = {tuple(every[: len(at)]): low, tuple(every[-len(at):]): high}
    return f", which points to {ends[tuple(at)]}" if tuple(at) in ends else ""


def _all_one_way(name: str, steps: Sequence[Step]) -> str:
    """That all steps moved one way, though none far enough to be shown alone."""
    moves = [one.effect.percent for _, one in steps]
    known = [move for move in moves if move]
    if len(known) < max(len(steps), 6) or not (all(m > 0 for m in known) or all(m < 0 for m in known)):
        return ""  # six of one sign have a chance of 1 in 32
    low, high = sorted(abs(move) for move in known)[:: len(known) - 1]
    if high < MINIMUM_PERCENT:
        return ""
    side = "higher" if known[0] > 0 else "lower"
    return f"{side} at every {name}, by {low:.2g} to {high:.2g} %, none of which is shown alone"


def _span(values: Sequence[float], among: Sequence[float]) -> str:
    """VALUES, which are AMONG others in their order, in words."""
    words = [f"{value:.6g}" if value < 1e6 else f"{value:.0f}" for value in values]
    start = among.index(values[0])
    if len(words) < 3 or [*values] != [*among[start:start + len(values)]]:
        return ", ".join(words)
    return f"{words[0]} to {words[-1]}"
