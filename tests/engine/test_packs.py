"""Packs: where they lie, and what is said of a broken one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from snapshot.engine.lint import check, faults
from snapshot.engine.pack_file import PackFile
from snapshot.engine.packs import shipped, unique
from snapshot.errors import FormatError

GOOD: dict[str, Any] = {
    "id": "made.rule", "title": "t", "severity": "low", "scope": "state", "each": ["sysctl", "values"],
    "check": [{"path": ["item"], "op": "exists"}], "message": "m", "references": ["r"], "needs": ["sysctl"],
    "now": ["fix it"],
    "example": [{"name": name, "verdict": name, "after": {}} for name in ("fail", "pass")],
}


def pack(**change: Any) -> dict[str, Any]:
    return {"rule": [{key: value for key, value in (GOOD | change).items() if value is not None}]}


def test_the_shipped_packs_are_found_and_hold_the_two_rules() -> None:
    assert {"lxc.device-major-stale", "pcie.maxreadreq-reverted"} <= {rule.id for rule in shipped()}


def test_a_good_rule() -> None:
    assert check(pack(), "made.toml")[0].id == "made.rule"


NOTE = {"when": [{"path": ["item"], "op": "exists"}], "text": "x"}


@pytest.mark.parametrize(("change", "said"), [
    ({"check": [{"path": ["item"], "op": "lte", "value": 1}]}, "check.0: there is no operator 'lte': lt is meant?"),
    ({"check": [{"path": ["item"], "op": "ge", "vaule": 1}]}, "check.0.vaule: there is no such key; value is meant?"),
    ({"check": [{"any": [{"path": ["item"], "op": "is"}]}]}, "check.0.any.0: there is no operator 'is': exists, "),
    ({"check": [{"any": [GOOD["check"][0]], "not": 1}]}, "check.0.not: there is no such key"),
    ({"check": [{"op": "exists"}]}, "check.0.path: is missing"),
    ({"check": ["x"]}, 'check.0: expected a table, found "x"'),
    ({"check": [GOOD["check"][0] | {"tolerance": [1]}]}, "check.0.tolerance: expected an integer or a number or a str"),
    ({"why": [{"when": [], "text": "x", "txet": "y"}]}, "why.0.txet: there is no such key; text is meant?"),
    ({"now": [NOTE | {"when": [{"path": ["item"], "op": "is"}]}]}, "now.0.when.0: there is no operator 'is': exists, "),
    ({"message": [{"when": NOTE["when"]}]}, "message.0.text: is missing"),
    ({"expected": {"text": "x"}}, "expected: needs a when or an unless"),
    ({"why": [1]}, "why.0: expected a string, found 1"),
    ({"explains": {"rule": ["x.y"]}}, "explains.rule: there is no such key; rules is meant?"),
    ({"grades": [{"when": NOTE["when"], "serverity": 1, "severity": "low"}]}, "grades.0.serverity: there is no such"),
])
def test_a_fault_of_form_is_one_line_about_what_is_meant(change: dict[str, Any], said: str) -> None:
    (line,) = faults(pack(**change), "made.toml")
    assert line.startswith(f"made.toml: made.rule: {said}")


@pytest.mark.parametrize(("change", "said"), [
    ({"severity": "awful"}, "made.rule: severity: "),
    ({"severity": None}, "made.rule: severity: is missing"),
    ({"colour": "red"}, "made.rule: colour: "),
    ({"check": [{"path": ["item"], "op": "is"}]}, "made.rule: check.0: there is no operator 'is': exists, "),
    ({"check": [{"path": ["item"], "op": "ge"}]}, "ge takes one of value, limit and to"),
    ({"check": [{"path": ["item"], "op": "ge", "value": 1, "to": ["was"]}]}, "ge takes one of value, limit and to"),
    ({"check": [{"path": ["item"], "op": "exists", "value": 1}]}, "exists takes no operand"),
    ({"check": [{"path": ["here"], "op": "exists"}]},
     "begins with one of before, after, item, was, parent, fact, not "),
    ({"check": [{"path": ["item"], "op": "equal", "to": ["x"]}]}, "a path begins with"),
    ({"check": [{"path": ["item"], "op": "matches", "value": "("}]}, "not a regular expression"),
    ({"check": []}, "made.rule: needs a check and a reference"),
    ({"example": GOOD["example"][:1]}, "needs an example that fails and one that passes"),
    ({"references": []}, "made.rule: needs a check and a reference"),
    ({"causes": "benchmark"}, "made.rule: causes needs the kind of the benchmark as evidence"),
    ({"causes": "benchmark", "evidence": [["item", "kind", "x"], []]}, "causes needs the kind of the benchmark"),
    ({"causes": "weather"}, "made.rule: causes: "),
    ({"each": ["nosuch", "values"]}, "there is no section 'nosuch'"),
    ({"each": ["derived", "nosuch"]}, "there is no derived table 'nosuch'"),
    ({"each": ["pci", "nosuch"]}, "pci.nosuch is no keyed table"),
    ({"each": ["sysctl", "left_out", "x"]}, "sysctl.left_out.x is no keyed table"),
    ({"needs": ["nosuch"]}, "there is no section 'nosuch'"),
    ({"explains": {"changes": ["sysctll"]}}, "there is no section 'sysctll': sysctl is meant?"),
    ({"fact": "nosuch"}, "there is no derived table 'nosuch'"),
    ({"names": {"x": ["item", "y"]}}, "there is no path ['item', 'y']"),
    ({"evidence": [["after", "sysctl", "valuse"]]}, "there is no path ['after', 'sysctl', 'valuse']"),
    ({"check": [{"path": ["before", "nosuch", "x"], "op": "exists"}]}, "there is no path ['before', 'nosuch', 'x']"),
    ({"check": [{"path": ["after", "meta", "kernle"], "op": "exists"}]}, "there is no path"),
    ({"check": [{"path": ["fact", "x"], "op": "exists"}]}, "there is no path ['fact', 'x']"),
    ({"now": []}, "has no cure"),
    ({"now": ["echo '{subject}'"]}, "a placeholder within quotes"),
    ({"message": "m {valeu}", "names": {"value": ["item"]}}, "there is no placeholder 'valeu': value is meant?"),
    ({"why": [NOTE | {"text": ["a", "{x}"]}]}, "there is no placeholder 'x': subject, count, parts"),
    ({"check": [{"path": ["item"], "op": "matches", "limit": "x"}], "limits": {"x": "("}}, "not a regular expression"),
    ({"needs": []}, "walks sysctl and does not need it"),
    ({"boot": "new"}, "boot and items are for rules of scope change"),
    ({"check": [{"path": ["item"], "op": "ge", "limit": "x"}]}, "there is no limit 'x': it has none"),
    ({"serverity": "low"}, "made.rule: serverity: there is no such key; severity is meant?"),
    ({"id": "other.rule"}, "other.rule: ids of this pack begin with made."),
    ({"id": "Bad"}, "no rule id: 'Bad'"),
])
def test_a_broken_rule_is_one_line_with_file_rule_and_field(change: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError) as caught:
        check(pack(**change), "made.toml")
    text = str(caught.value)
    assert text.startswith("made.toml: ") and said in text and "\n" not in text


NO_PACKS: list[dict[str, Any]] = [
    {}, {"rule": 1}, {"rule": []}, {"rule": [1]}, {"rule": [{}]}, {"rules": []}, {"rule": {"a": 1}},
]


@pytest.mark.parametrize("table", NO_PACKS)
def test_what_is_no_pack(table: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"made\.toml: rule"):
        check(table, "made.toml")


def test_an_id_stands_once() -> None:
    with pytest.raises(FormatError, match=r"made\.rule stands twice"):
        check({"rule": [GOOD, GOOD]}, "made.toml")
    with pytest.raises(FormatError, match=r"made\.rule stands twice"):
        unique([*check(pack(), "made.toml"), *check(pack(), "made.toml")])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        PackFile.open(str(tmp_path / "none.toml"))
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"[[rule]\n")
    with pytest.raises(FormatError, match=r"broken\.toml:1"):
        PackFile.open(str(broken))


def test_a_fault_and_its_forecast_share_an_id() -> None:
    fault, foreseen = check({"rule": [GOOD, {**GOOD, "scope": "forecast"}]}, "made.toml")
    assert unique([fault, foreseen]) == (fault, foreseen)
    with pytest.raises(FormatError, match=r"made\.rule stands twice"):
        check({"rule": [GOOD, {**GOOD, "scope": "forecast"}, {**GOOD, "scope": "forecast"}]}, "made.toml")
    with pytest.raises(FormatError, match="foresees is for rules of scope state"):
        check(pack(scope="change", foresees=True), "made.toml")


@pytest.mark.parametrize("more", [{"ahead": [{"path": ["item"], "op": "exists"}]}, {"subject": ""}])
def test_what_is_for_a_reboot_is_for_rules_that_are_judged_before_one(more: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="ahead is for rules that foresee, subject for those and forecasts"):
        check(pack(**more), "made.toml")
