"""What is foreseen, on paper: the kernel that comes, what will be lost, what may be, and what came true of it.

A line is what has one name, one value, one new value and one reason: 8 GPUs are one story. Of many names with one
reason there is one line. What is kept is counted, and so is what nothing sets and nothing shows to have been touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..derive.forecasts.forecast_kernel import ASKED, chosen
from ..derive.pci.pci_tree import noun
from ..engine.text import Value, measured
from ..records import record
from .groups import few
from .paper import Paper, plural

if TYPE_CHECKING:
    from ..derive.forecasts.forecast import Outlook
    from ..derive.forecasts.forecast_prediction import Prediction, Status
    from ..derive.forecasts.forecast_score import Score

ORDER: tuple[Status, ...] = ("reverts", "changes", "may", "unknown", "kept")
MANY = 5  # lines with one reason
NOUNS = {"pci": "PCI function", "power": "PCI function", "nvidia": "GPU", "amdgpu": "GPU", "net": "interface",
         "block": "disk", "irq": "interrupt", "swap": "swap area", "hugepages": "pool"}
COLORS = {"reverts": "yellow", "changes": "bold", "may": "dim", "unknown": "dim", "kept": "green"}


@record(frozen=True)
class Line:
    """One line of a forecast: what it is about, and why."""

    status: Status
    what: str
    why: str


def header(outlook: Outlook) -> str:
    """Which kernel boots, and why."""
    host = outlook.snapshot.meta.host
    kernel, by = chosen(outlook.snapshot)
    if not kernel:
        return f"If {host} rebooted now: which kernel it would boot is not known."
    if by == ASKED:
        return f"If {host} booted {kernel}:"
    return f"If {host} rebooted now, it would boot {kernel} ({by})."


def lines(outlook: Outlook, everything: bool = False) -> list[Line]:
    """What there is to say, by status; with EVERYTHING each thing that is kept too, and none taken together."""
    found: dict[tuple[str, ...], list[Prediction]] = {}
    for one in outlook.predictions:
        if not one.plain and (everything or one.status != "kept"):
            key = (one.status, one.kind, one.name, repr(one.now), repr(one.next), _reason(one))
            found.setdefault(key, []).append(one)
    made = [Line(group[0].status, _what(outlook, group), _reason(group[0])) for group in found.values()]
    return sorted(made if everything else _fewer(made), key=lambda line: ORDER.index(line.status))


def _fewer(made: Sequence[Line]) -> Iterator[Line]:
    """Lines that many share the reason of, as one."""
    counts = Counter((line.status, line.why) for line in made)
    for (status, why), count in counts.items():
        alike = [line for line in made if (line.status, line.why) == (status, why)]
        some = f"{count} settings: {few([line.what for line in alike], ', ')}"
        yield from alike if count <= MANY else [Line(status, some, why)]


def _reason(one: Prediction) -> str:
    """The reason; of a value that nothing sets, what makes it known, without the value, which is said."""
    if one.status == "reverts":
        return f"nothing sets it at boot; known from {one.evidence}"
    return one.why


def _what(outlook: Outlook, group: Sequence[Prediction]) -> str:
    """Name, values, and on how many or which."""
    one = group[0]
    unit = one.path[-1] if one.path else ""
    now, then = (None if value is None else measured(Value(value, unit)) for value in (one.now, one.next))
    if one.kind == "cmdline":
        return _word(one)
    values = f"{now} -> {then}" if then is not None and one.status != "kept" else now
    on = "" if not one.subject else f"on {_subjects(outlook, group)}"
    return " ".join(filter(None, [one.name, values, on]))


def _word(one: Prediction) -> str:
    """What becomes of words of the command line."""
    if one.status == "kept" or not (one.now or one.next):
        return f"cmdline {one.now or ''}".rstrip() if one.now else one.name
    changes = [f"- {one.now}" if one.now else "", f"+ {one.next}" if one.next else ""]
    return " ".join(filter(None, ["cmdline", *changes]))


def _subjects(outlook: Outlook, group: Sequence[Prediction]) -> str:
    """The subject, or how many there are."""
    if len(group) == 1 or group[0].kind in ("cpufreq", "cpuidle"):
        cpus = group[0].kind in ("cpufreq", "cpuidle")
        return f"{'CPUs ' if cpus else ''}{few([one.subject for one in group], ', ')}"
    if group[0].kind == "pci":
        functions = outlook.snapshot.table("pci").get("functions", {})
        nouns = {noun(functions.get(one.subject, {})) for one in group}
        return plural(len(group), str(nouns.pop()) if len(nouns) == 1 and None not in nouns else NOUNS["pci"])
    return plural(len(group), NOUNS.get(group[0].kind, "subject"))


def write(paper: Paper, outlook: Outlook, everything: bool) -> None:
    """The lines, and what is only counted."""
    for line in lines(outlook, everything):
        paper.head(line.status.upper(), line.what, color=COLORS[line.status])
        paper.prose(line.why, " " * 10)
    for word, text in counts(outlook, everything):
        paper.head(word, text, color="dim")
    paper.blank()


def counts(outlook: Outlook, everything: bool = False) -> Iterator[tuple[str, str]]:
    """How many are kept, and how many nobody knows anything of, each behind its word."""
    told = Counter((one.status, one.plain) for one in outlook.predictions)
    if kept := told["kept", False] + told["kept", True]:
        listed = "" if everything or not told["kept", False] else "; --all lists those that something sets"
        yield "KEPT", f"{plural(kept, 'setting')} ({told['kept', False]:,} by what sets them at boot{listed})"
    if silent := sum(told[status, True] for status in ORDER if status != "kept"):
        yield "OPEN", f"{plural(silent, 'setting')} that nothing is seen to set, and no evidence tells of"


def brief(outlook: Outlook) -> Iterator[tuple[str, str]]:
    """The lines as word and text, and the counts."""
    yield from ((line.status.upper(), f"{line.what}: {line.why}") for line in lines(outlook))
    yield from counts(outlook)


def came_true(score: Score) -> str:
    """How a forecast ended: "14 of 15 came true; missed: vm.swappiness"."""
    parts = [f"{score.true:,} of {score.total:,} came true"]
    kinds = (("missed", score.missed), ("wrong", score.wrong))
    parts += [f"{word}: {few(_names(found), ', ')}" for word, found in kinds if found]
    return "; ".join([*parts, *([f"{len(score.not_scored):,} not scored"] if score.not_scored else [])])


def _names(found: Iterable[Prediction]) -> list[str]:
    """Each name once, with its subject where that is not a list of CPUs."""
    return list(dict.fromkeys(" ".join(filter(None, [one.name, one.subject])) for one in found))


def table(outlook: Outlook | None, score: Score | None) -> dict[str, Any]:
    """A forecast, or its score, as plain values: kernel, by, predictions; or true, missed, wrong, not_scored."""
    if outlook:
        kernel, by = chosen(outlook.snapshot)
        rows = [{"key": one.key, **_plain(one.table())} for one in outlook.predictions if not one.plain]
        return {"forecast": {"kernel": kernel or None, "by": by or None, "predictions": rows,
                             "not_foreseen": sum(one.plain and one.status != "kept" for one in outlook.predictions)}}
    if score is None or not (score.total or score.not_scored):
        return {}
    keys = {name: [one.key for one in getattr(score, name)] for name in ("missed", "wrong", "not_scored")}
    return {"forecast_score": {"true": score.true, "total": score.total, **keys}}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "unknown"}
