"""Packs: where they lie, and what is said of a broken one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from snapshot.engine.packs import load, parse, shipped, unique
from snapshot.errors import FormatError

GOOD: dict[str, Any] = {
    "id": "made.rule", "title": "t", "severity": "low", "scope": "state", "each": ["sysctl", "values"],
    "check": [{"path": ["item"], "op": "exists"}], "message": "m", "references": ["r"],
    "example": [{"name": name, "verdict": name, "after": {}} for name in ("fail", "pass")],
}


def pack(**change: Any) -> dict[str, Any]:
    return {"rule": [{key: value for key, value in (GOOD | change).items() if value is not None}]}


def test_the_shipped_packs_are_found_and_hold_the_two_rules() -> None:
    assert {"lxc.device-major-stale", "pcie.maxreadreq-reverted"} <= {rule.id for rule in shipped()}


def test_a_good_rule() -> None:
    assert parse(pack(), "made.toml")[0].id == "made.rule"


@pytest.mark.parametrize(("change", "said"), [
    ({"severity": "awful"}, "made.rule: severity: "),
    ({"severity": None}, "made.rule: severity: Field required"),
    ({"colour": "red"}, "made.rule: colour: "),
    ({"check": [{"path": ["item"], "op": "is"}]}, "made.rule: check.0: there is no operator 'is': exists, "),
    ({"check": [{"path": ["item"], "op": "ge"}]}, "ge takes one of value and to"),
    ({"check": [{"path": ["item"], "op": "ge", "value": 1, "to": ["was"]}]}, "ge takes one of value and to"),
    ({"check": [{"path": ["item"], "op": "exists", "value": 1}]}, "exists takes no operand"),
    ({"check": [{"path": ["here"], "op": "exists"}]}, "a path begins with one of before, after, item, was, fact, not "),
    ({"check": [{"path": ["item"], "op": "equal", "to": ["x"]}]}, "a path begins with"),
    ({"check": [{"path": ["item"], "op": "matches", "value": "("}]}, "not a regular expression"),
    ({"check": []}, "made.rule: check: "),
    ({"example": GOOD["example"][:1]}, "needs an example that fails and one that passes"),
    ({"references": []}, "made.rule: references: "),
    ({"each": ["nosuch", "values"]}, "there is no section 'nosuch'"),
    ({"each": ["derived", "nosuch"]}, "there is no derived table 'nosuch'"),
    ({"each": ["pci", "nosuch"]}, "pci.nosuch is no keyed table"),
    ({"each": ["sysctl", "left_out", "x"]}, "sysctl.left_out.x is no keyed table"),
    ({"needs": ["nosuch"]}, "there is no section 'nosuch'"),
    ({"fact": "nosuch"}, "there is no derived table 'nosuch'"),
    ({"names": {"x": ["item", "y"]}}, "there is no path ['item', 'y']"),
    ({"evidence": [["after", "sysctl", "valuse"]]}, "there is no path ['after', 'sysctl', 'valuse']"),
    ({"check": [{"path": ["before", "nosuch", "x"], "op": "exists"}]}, "there is no path ['before', 'nosuch', 'x']"),
    ({"check": [{"path": ["after", "meta", "kernle"], "op": "exists"}]}, "there is no path"),
    ({"check": [{"path": ["fact", "x"], "op": "exists"}]}, "there is no path ['fact', 'x']"),
    ({"each": ["derived", "device_access"], "check": [{"path": ["was", "x"], "op": "exists"}]}, "there is no path"),
    ({"id": "other.rule"}, "other.rule: ids of this pack begin with made."),
    ({"id": "Bad"}, "Bad: id: "),
])
def test_a_broken_rule_is_one_line_with_file_rule_and_field(change: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(pack(**change), "made.toml")
    text = str(caught.value)
    assert text.startswith("made.toml: ") and said in text and "\n" not in text


NO_PACKS: list[dict[str, Any]] = [
    {}, {"rule": 1}, {"rule": []}, {"rule": [1]}, {"rule": [{}]}, {"rules": []}, {"rule": {"a": 1}},
]


@pytest.mark.parametrize("table", NO_PACKS)
def test_what_is_no_pack(table: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"made\.toml: rule"):
        parse(table, "made.toml")


def test_an_id_stands_once() -> None:
    rules = parse({"rule": [GOOD, GOOD]}, "made.toml")
    with pytest.raises(FormatError, match=r"made\.rule stands twice"):
        unique(rules)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        load(str(tmp_path / "none.toml"))
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"[[rule]\n")
    with pytest.raises(FormatError, match=r"broken\.toml:1"):
        load(str(broken))
