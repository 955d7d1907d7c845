"""Two benchmark sections compared, on paper: what got worse, with its likely causes; what did not, in short.

Only what a workload is run for is said line by line; other metrics are counted unless they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ..bench.comparing.comparison import Benchmarks, Comparison, Effect, GridComparison, Group, Limit, Verdict
from ..bench.comparing.naming import figures, names, percent, piece
from ..bench.comparing.primary import declared, is_primary
from ..records import record
from .paper import Paper, plural

Causes = Callable[[str, Verdict], Sequence[str]]  # kind and verdict of a measurement -> likely causes, a line each
ORDER: tuple[Verdict, ...] = ("worse", "failed", "vanished", "better", "not-comparable", "too-few", "added", "same")
WORDS: dict[Verdict, str] = {
    "worse": "worse", "failed": "failed", "vanished": "vanished", "better": "better", "added": "new",
    "not-comparable": "not comparable", "too-few": "with too few samples", "same": "with no difference shown",
}
COLORS: dict[Verdict, str] = {"worse": "red", "failed": "red", "vanished": "yellow", "better": "green"}
MOVED = ("worse", "better")
MANY = 4  # steps of a ladder that are said in one line
FEW = 3  # lines of what shows no difference
UNEXPLAINED = "Nothing recorded explains it."


@record(frozen=True)
class Step:
    """A place on a ladder, which is named without its parameter."""

    ladder: str
    parameter: str
    value: float
    effect: Effect
    unit: str

    @property
    def values(self) -> str:
        """Before and after."""
        sides = [side.median for side in (self.effect.before, self.effect.after) if side]
        return " -> ".join(figures(*sides))


@record(frozen=True)
class Line:
    """One thing to say. TEXT begins with the name of what was measured; CAUSES stand below it."""

    verdict: Verdict
    text: str
    primary: bool
    causes: Sequence[str] = ()
    limited: bool = False  # it tells how near to a declared limit
    valued: bool = True  # a side has a value
    step: Step | None = None


def write(paper: Paper, found: Benchmarks, causes: Causes | None = None, everything: bool = False) -> None:
    """The block. With CAUSES what got worse or better says what may be behind it; EVERYTHING names each metric."""
    every = lines(found, causes)
    if not every:
        return
    said, rest = (every, []) if everything else shortened(every)
    paper.prose(f"Benchmarks: {headline(every)}.", hang="  ", color="bold")
    for line, causes_of in with_causes(said):
        paper.prose(f"{line.text}.", "  ", "    ", COLORS.get(line.verdict, ""))
        for cause in causes_of:
            paper.prose(cause, "    ", "      ")
    for text in (*rest, *remarks(found)):
        paper.prose(text, "  ", "    ")
    paper.blank()


def with_causes(said: Sequence[Line]) -> Iterator[tuple[Line, Sequence[str]]]:
    """Each line with the causes to be said behind it: of lines that follow each other and share them, the last."""
    count = 0
    for line, after in zip(said, [*said[1:], None], strict=True):
        count += 1
        if after and line.causes and after.causes == line.causes:
            yield line, ()
        else:
            yield line, [f"Of all {count}:", *line.causes] if line.causes and count > 1 else line.causes
            count = 0


def headline(every: Sequence[Line]) -> str:
    """How many of the metrics that workloads are run for came to what; of all where there are none."""
    return _counted([line for line in every if line.primary] or every)


def _counted(some: Sequence[Line]) -> str:
    counts = {verdict: sum(line.verdict == verdict for line in some) for verdict in ORDER}
    return ", ".join(f"{count} {WORDS[verdict]}" for verdict, count in counts.items() if count)


def lines(found: Benchmarks, causes: Causes | None = None) -> list[Line]:
    """Everything that was measured, the worst first."""
    every = {one.id: one.measured for one in found.comparisons} | {one.id: one.measured for one in found.grids}
    called, tools, steps = names(every), declared(every.values()), _steps(found)
    said = [_line(one, called[one.id], is_primary(one.measured, tools), causes, steps) for one in found.comparisons]
    for grid in found.grids:
        said += _grid(grid, called[grid.id], is_primary(grid.measured, tools), causes)
    return sorted(said, key=lambda line: (not line.primary, ORDER.index(line.verdict), _natural(line.text)))


def _steps(found: Benchmarks) -> dict[str, tuple[str, float]]:
    """Id -> parameter and value of the longest ladder that the measurement is a step of."""
    steps: dict[str, tuple[str, float]] = {}
    for ladder in sorted(found.ladders, key=lambda one: -len(one.steps)):
        for value, one in ladder.steps:
            steps.setdefault(one.id, (ladder.parameter, value))
    return steps


def _natural(text: str) -> list[tuple[bool, float, str]]:
    """An order in which concurrency 2 comes before 10."""
    words = re.split("([0-9]{1,15})", text)
    return [(at % 2 == 1, float(word) if at % 2 else 0, word) for at, word in enumerate(words)]


def shortened(every: Sequence[Line]) -> tuple[list[Line], list[str]]:
    """The lines to say, and how many others there are, in words."""
    primary = [line for line in every if line.primary]
    loud = [line for line in primary if line.valued and line.verdict not in ("same", "added")]
    quiet = sorted((line for line in primary if line not in loud), key=lambda line: (not line.limited, not line.valued))
    kept = quiet[:FEW]
    rest = [line for line in every if line not in loud and line not in kept]
    more = [f"{plural(len(rest), 'other measurement')}: {_counted(rest)} (--all lists them)."] if rest else []
    return [*_curves(loud), *kept], more


def _curves(said: Sequence[Line]) -> Iterator[Line]:
    """Steps of one ladder, of one verdict and with the same causes, in one line where they are many."""
    ladders: dict[object, list[Line]] = {}
    for line in said:
        kind = (line.verdict, line.step.ladder, *line.causes) if line.step else id(line)
        ladders.setdefault(kind, []).append(line)
    for steps in ladders.values():
        yield from [_curve(steps)] if len(steps) >= MANY else steps


def _curve(said: Sequence[Line]) -> Line:
    """A line of many steps: the values at both ends, and how much they moved."""
    steps = sorted((line.step for line in said if line.step), key=lambda step: step.value)
    first, last = steps[0], steps[-1]
    moves = sorted(abs(step.effect.percent) for step in steps if step.effect.percent is not None)
    by = f" by {percent(moves[0])} to {percent(moves[-1])}" if moves else ""
    whys = sorted({step.effect.why for step in steps})
    why = whys[0] if len(whys) == 1 else ", ".join(sorted({str(step.effect.basis) for step in steps}))
    ends = f"{first.values} at {first.value:g}, {last.values} at {last.value:g}"
    text = (f"{first.ladder}, {len(steps)} steps of {first.parameter} from {first.value:g} to {last.value:g}: {ends}"
            f" {first.unit}, {WORDS[said[0].verdict]}{by} ({why})")
    return Line(said[0].verdict, text, said[0].primary, said[0].causes)


def remarks(found: Benchmarks) -> list[str]:
    """What is to be said beside the numbers, a sentence each: of ladders those of primary metrics."""
    every = {one.id: one.measured for one in found.comparisons}
    called, tools, said = names(every), declared(every.values()), list[str]()
    for ladder in found.ladders:
        _, first = ladder.steps[0]
        if ladder.words and is_primary(first.measured, tools):
            said.append(f"{_ladder(called[first.id], ladder.parameter, first)}: {ladder.words}.")
    return [*said, *found.remarks]


def _ladder(name: str, parameter: str, step: Comparison) -> str:
    """The name of one step without the parameter."""
    return name.replace(f", {piece(parameter, step.measured.workload[parameter])}", "")


def _line(
    one: Comparison, name: str, primary: bool, causes: Causes | None, steps: dict[str, tuple[str, float]]
) -> Line:
    found, why = one.effect, _causes(one.effect, one.measured.kind, causes)
    text = f"{name}: {effect(found, one.measured.unit)}{_limit(one.limit)}"
    step = _step(one, name, *steps[one.id]) if one.id in steps and found.verdict in MOVED else None
    return Line(found.verdict, text, primary, why, bool(one.limit), _valued(found), step)


def _valued(found: Effect) -> bool:
    return bool(found.before or found.after)


def _step(one: Comparison, name: str, parameter: str, value: float) -> Step:
    return Step(_ladder(name, parameter, one), parameter.replace("_", " "), value, one.effect, one.measured.unit)


def _grid(one: GridComparison, name: str, primary: bool, causes: Causes | None) -> Iterator[Line]:
    if not one.groups:
        yield Line(one.effect.verdict, f"{name}: {effect(one.effect, one.measured.unit)}", primary,
                   valued=_valued(one.effect))
    elif one.lost:
        lost = plural(len(one.lost), "pair")
        yield Line("failed", f"{name}: {lost} without a value now, as {' to '.join(one.lost[0])}", primary)
    for group in one.groups:
        verdict: Verdict = "worse" if group.worse and group.effect.verdict != "worse" else group.effect.verdict
        text = f"{name}, {_where(group)}: {effect(group.effect, one.measured.unit)}{_cells(one, group)}"
        yield Line(verdict, text, primary, _causes(group.effect, one.measured.kind, causes, verdict))


def _where(group: Group) -> str:
    return f"{group.name} ({plural(len(group.cells), 'pair')})" if group.name != "all" else plural(
        len(group.cells), "pair")


def _cells(one: GridComparison, group: Group) -> str:
    """The cells that got worse alone, the worst by name."""
    if not group.worse or group.effect.verdict == "worse":
        return ""
    cell = max(group.worse, key=lambda at: abs(one.cells[at].percent or 0))
    shown = effect(one.cells[cell], one.measured.unit)
    return f"; {plural(len(group.worse), 'pair')} worse, as {' to '.join(cell)}: {shown}"


def effect(found: Effect, unit: str) -> str:
    """The values and the verdict with what it rests on."""
    if not found.before or not found.after or found.verdict in ("not-comparable", "failed", "vanished", "added"):
        side = found.after or found.before
        value = f"{figures(side.median)[0]} {unit}, " if side else ""
        return f"{value}{WORDS[found.verdict]}: {found.why}"
    old, new = figures(found.before.median, found.after.median)
    return f"{old} -> {new} {unit}, {_verdict(found)} ({found.why})"


def _verdict(found: Effect) -> str:
    if found.verdict not in MOVED:
        return "too few samples" if found.verdict == "too-few" else "no difference shown"
    if found.percent is None:
        return found.verdict
    between = ""
    if found.low_percent is not None and found.high_percent is not None:
        low, high = sorted((found.low_percent, found.high_percent))
        between = f", between {low:+.3g} and {high:+.3g} %"
    return f"{found.verdict} by {percent(found.percent)}{between}"


def _limit(found: Limit | None) -> str:
    if found is None:
        return ""
    share = found.before_percent if found.after_percent is None else found.after_percent
    if share is None or share > 100:
        return ""
    return f"; {percent(share)} of the declared limit of {found.value:g}"


def _causes(found: Effect, kind: str | None, causes: Causes | None, verdict: Verdict | None = None) -> Sequence[str]:
    verdict = verdict or found.verdict
    if causes is None or verdict not in MOVED:
        return ()
    return (causes(kind, verdict) if kind else ()) or (UNEXPLAINED,)
