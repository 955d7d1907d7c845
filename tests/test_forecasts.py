"""What is forecast comes, and the comparison says so: each case of fixtures/forecasts, before and after its boot."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from docs import forecasts
from snapshot.derive.forecasts.forecast import outlook
from snapshot.derive.forecasts.forecast_score import score
from snapshot.document import Snapshot
from snapshot.engine.finding import Finding, reaches
from snapshot.engine.packs import shipped
from snapshot.report.review import Review, review

from .foreseen import FILES, Case, calm, cases, still

AHEAD = [rule for rule in shipped() if rule.looks_ahead]
LASTING = {rule.id for rule in AHEAD if rule.foresees}  # faults that are there before the boot too
OF_SETTINGS = {rule.id for rule in AHEAD if rule.each == ["derived", "forecast"]}


def foreseen(snapshot: Snapshot, baseline: Snapshot | None = None) -> list[Finding]:
    """What snap forecast finds."""
    found = outlook(snapshot, baseline)
    return review(None, snapshot, rules=AHEAD, scopes=("forecast", "state"), outlook=found).judgement.findings


@cache
def peace(file: Path) -> list[Finding]:
    """What is forecast of the host that the cases of FILE begin with."""
    return foreseen(calm(file)[0])


def loud(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    return [finding.key() for finding in findings if reaches(finding.severity, "medium")]


def came(then: Review) -> dict[tuple[str, str], str | None]:
    """Rule and subject of what a comparison finds, and its class."""
    return {finding.key(): finding.class_ for finding in then.judgement.findings}


def classes(case: Case) -> set[str]:
    """Of what is found after the boot: new, or as somebody asked for it; what lasts was found before, too."""
    lasting = {"existing"} if case.found[0] in LASTING or case.found != case.key else set()
    return {case.table["class"]} if "class" in case.table else {"new", "expected"} | lasting


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_of_a_host_that_keeps_what_it_has_nothing_is_forecast_and_nothing_comes(file: Path) -> None:
    then = review(*calm(file))
    assert loud(peace(file)) == [] == loud(one for one in then.judgement.findings if one.class_ == "new")
    assert then.score and then.score.true and (then.score.missed, then.score.wrong) == ([], [])


@pytest.mark.parametrize("case", cases(), ids=str)
def test_what_is_forecast_comes_and_nothing_else_is(case: Case) -> None:
    before, after = case.sides()
    ahead, then = foreseen(before, case.baseline()), review(before, after)
    assert case.key in {finding.key() for finding in ahead}
    assert case.key[0] not in {finding.rule for finding in peace(case.file)}
    found = came(then)
    if "changed" in case.table:
        assert then.diff and tuple(case.table["changed"]) in {(one.section, *one.path) for one in then.diff.changes}
    else:
        assert found.get(case.found) in classes(case)
    assert [key for key in loud(ahead) if key not in found and key != case.key] == []
    assert then.score and (then.score.missed, then.score.wrong) == ([], [])
    if case.key[0] in OF_SETTINGS and not case.table.keys() & {"baseline", "meta"}:  # it counts: else it were wrong
        stayed = score(before, still(before))
        assert stayed and stayed.wrong and then.score.true >= stayed.true + len(stayed.wrong)


@pytest.mark.parametrize("case", cases("mended"), ids=str)
def test_what_the_boot_mends_is_not_forecast(case: Case) -> None:
    before, after = case.sides()
    rule = case.table["id"]
    assert rule in {finding.rule for finding in review(None, before).judgement.findings}
    assert rule not in {finding.rule for finding in foreseen(before)}
    assert rule not in {key[0] for key, class_ in came(review(before, after)).items() if class_ != "resolved"}


def test_the_page_is_what_rules_and_cases_say() -> None:
    assert forecasts.PAGE.read_text(encoding="utf-8") == forecasts.page(), "run: python -m docs.generate"


def test_every_fault_that_is_forecast_has_a_case() -> None:
    assert {case.key[0] for case in cases()} == {rule.id for rule in AHEAD}
