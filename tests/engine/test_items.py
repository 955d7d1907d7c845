"""What rules walk: the host, keyed tables, tables within tables, CPUs, matrices; kept, removed and added."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import Derived
from snapshot.diff import compare
from snapshot.document import Snapshot
from snapshot.engine.judge import Judgement, judge
from snapshot.engine.lint import check
from snapshot.engine.rule import Rule
from tests.pairs import GPUS, pci, snapshot


def made(**change: Any) -> Rule:
    rule = {
        "id": "made.rule", "title": "small", "severity": "low", "scope": "change",
        "message": "{subject}: {old} -> {new}",
        "names": {"old": ["was"], "new": ["item"]}, "check": [{"path": ["item"], "op": "unchanged"}],
        "now": ["mend {subject}"], "references": ["r"],
        "example": [{"name": name, "verdict": name, "after": {}} for name in ("fail", "pass")],
    }
    return check({"rule": [rule | change]}, "made.toml")[0]


def judged(rule: Rule, before: Snapshot | None, after: Snapshot) -> Judgement:
    return judge(before, after, compare(before, after) if before else None, [rule])


def said(judgement: Judgement) -> list[str]:
    return [finding.message for finding in judgement.findings]


GOVERNOR = made(needs=["cpufreq"], each=["cpufreq", "governor"])


def cpufreq(**governors: str) -> Snapshot:
    return snapshot({"cpufreq": {"driver": "acpi-cpufreq", "governor": governors}})


def test_cpus_with_equal_values_on_both_sides_are_one_item() -> None:
    before = cpufreq(performance="0-255")
    found = judged(GOVERNOR, before, cpufreq(performance="0-253", powersave="254-255"))
    assert said(found) == ["254-255: performance -> powersave"] and found.passed == 1
    finding = found.findings[0]
    assert (finding.subject, finding.now) == ("254-255", ["mend 254-255"])


def test_a_state_rule_tells_the_cpus_that_were_so_before() -> None:
    rule = made(scope="state", needs=["cpufreq"], each=["cpufreq", "governor"], names={"new": ["item"]},
                message="{subject} {new}", check=[{"path": ["item"], "op": "equal", "value": "performance"}])
    found = judged(rule, cpufreq(performance="0-6", powersave="7"), cpufreq(performance="0", powersave="1-7"))
    assert [(f.subject, f.class_) for f in found.findings] == [("1-6", "new"), ("7", "existing")]
    assert [f.class_ for f in judged(rule, cpufreq(powersave="7"), cpufreq(performance="7")).findings] == ["resolved"]


def test_cpus_that_are_gone_or_unread() -> None:
    before = cpufreq(performance="0-7")
    assert said(judged(GOVERNOR, before, cpufreq(performance="0-3"))) == []
    gone = made(needs=["cpufreq"], each=["cpufreq", "governor"], items=["removed"], message="{subject} gone", names={},
                check=[{"path": ["item"], "op": "exists"}])
    assert said(judged(gone, before, cpufreq(performance="0-3"))) == ["4-7 gone"]
    lost = snapshot({"cpufreq": {}}, unread={"cpufreq": [["governor"]]})
    assert [f.verdict for f in judged(GOVERNOR, before, lost).unknown] == ["unknown"]


def test_a_value_of_each_item_of_a_table_and_the_table_that_it_stands_in() -> None:
    def states(disabled: dict[str, str]) -> Snapshot:
        return snapshot({"cpuidle": {"states": {"C2": {"latency_us": 400, "disabled": disabled}}}})

    rule = made(needs=["cpuidle"], each=["cpuidle", "states", "*", "disabled"],
                names={"old": ["was"], "new": ["item"], "latency_us": ["parent", "latency_us"]},
                message="{subject} ({latency_us}): {old} -> {new}")
    found = judged(rule, states({"true": "0-3"}), states({"true": "0-1", "false": "2-3"}))
    assert said(found) == ["C2 2-3 (400 us): true -> false"]


def test_cells_of_a_matrix_are_said_once_where_they_mirror_each_other() -> None:
    def topology(*cells: str) -> Snapshot:
        a, b, c = cells
        rows = [["X", a, b], [a, "X", c], [b, c, "X"]]
        return snapshot({"nvidia": {"topology": {"ids": ["A", "B", "C"], "rows": rows}}})

    rule = made(needs=["nvidia"], each=["nvidia", "topology"])
    found = judged(rule, topology("PIX", "SYS", "SYS"), topology("NODE", "SYS", "PIX"))
    assert said(found) == ["A B: PIX -> NODE", "B C: SYS -> PIX"] and found.passed == 1


def test_a_rule_about_the_host() -> None:
    rule = made(needs=["sysctl"], names={"old": ["was", "sysctl", "values", "vm.swappiness"],
                                         "new": ["item", "sysctl", "values", "vm.swappiness"]},
                check=[{"path": ["item", "sysctl", "values", "vm.swappiness"], "op": "unchanged"}],
                message="swappiness {old} -> {new}")
    before, after = (snapshot({"sysctl": {"values": {"vm.swappiness": n}}}) for n in (10, 60))
    found = judged(rule, before, after)
    assert said(found) == ["swappiness 10 -> 60"] and found.findings[0].key() == ("made.rule", "")
    lost = snapshot({"sysctl": {"values": {}}}, unread={"sysctl": [["values", "vm.swappiness"]]})
    assert [f.subject for f in judged(rule, before, lost).unknown] == [""]


def test_items_that_are_gone_and_new() -> None:
    before, after = snapshot({"pci": pci(512)}), snapshot({"pci": pci(512, GPUS[:-1])})
    gone = made(needs=["pci"], each=["pci", "functions"], items=["kept", "removed"], message="{subject} gone",
                names={}, check=[{"path": ["item"], "op": "not-removed"}])
    found = judged(gone, before, after)
    assert said(found) == [f"{GPUS[-1]} gone"] and found.passed == 7
    new = made(needs=["pci"], each=["pci", "functions"], items=["added"], message="{subject} new", names={},
               check=[{"path": ["item"], "op": "not-added"}])
    assert said(judged(new, after, before)) == [f"{GPUS[-1]} new"]
    hidden = snapshot({"pci": {"functions": {}}}, unread={"pci": [["functions"]]})
    assert judged(gone, before, hidden).findings == [] and len(judged(gone, before, hidden).unknown) == 1
    absent = judged(gone, before, snapshot({}, states={"pci": "absent"}))
    assert len(absent.findings) == 8


def test_a_derived_row_and_the_row_before() -> None:
    tables = {True: {"a": {"n": 1}, "b": {"n": 1}}, False: {"a": {"n": 2}, "c": {"n": 2}}}
    rule = made(each=["derived", "device_access"], names={"old": ["was", "n"], "new": ["item", "n"]},
                check=[{"path": ["item", "n"], "op": "unchanged"}])
    before, after = snapshot({}), snapshot({})
    found = judge(before, after, compare(before, after), [rule],
                  lambda name, of, old: Derived(dict(tables[of is before])))
    assert said(found) == ["a: 1 -> 2"]


def test_a_rule_is_for_a_new_boot_or_for_the_same() -> None:
    one, same, other = (snapshot({"sysctl": {"values": {"a": n}}}, meta={"boot_id": boot})
                        for n, boot in ((1, "x"), (2, "x"), (2, "y")))
    rule = made(needs=["sysctl"], each=["sysctl", "values"], boot="new")
    assert len(judged(rule, one, other).findings) == 1
    assert judged(rule, one, same).not_applicable == {"made.rule": "both were taken in one boot"}
    unsaid = snapshot({"sysctl": {"values": {"a": 2}}})
    assert [f.why for f in judged(rule, one, unsaid).unknown] == [
        ["after: meta.boot_id: whether there was a boot between is not known"]]


def test_grades_better_limits_and_one_of_several() -> None:
    def values(**numbers: int) -> Snapshot:
        return snapshot({"sysctl": {"values": numbers}})

    drop = {"path": ["item"], "op": "not-worse", "better": "higher", "tolerance": "10%"}
    rule = made(
        needs=["sysctl"], each=["sysctl", "values"], check=[drop], limits={"floor": 10},
        grades=[{"when": [{"path": ["item"], "op": "lt", "limit": "floor"}], "severity": "critical"}],
        better={"when": [{"path": ["item"], "op": "gt", "to": ["was"]}], "text": "{subject} rose to {new}"},
        where=[{"any": [{"path": ["item"], "op": "gt", "value": 100}, {"path": ["was"], "op": "gt", "value": 10}]}],
    )
    found = judged(rule, values(a=50, b=50, c=50, d=50, e=5), values(a=40, b=5, c=46, d=80, e=1))
    assert [(f.message, f.severity, f.class_, f.verdict) for f in found.findings] == [
        ("b: 50 -> 5", "critical", "new", "fail"), ("a: 50 -> 40", "low", "new", "fail"),
        ("d rose to 80", "low", "better", "pass"),
    ]
    assert found.findings[2].now == []


def test_a_cause_is_named() -> None:
    kernel = made(id="made.kernel", needs=["kernel"], message="kernel {old} -> {new}", explains={"rules": ["made.*"]},
                  names={"old": ["was", "kernel", "release"], "new": ["item", "kernel", "release"]},
                  check=[{"path": ["item", "kernel", "release"], "op": "unchanged"}])
    rule = made(needs=["sysctl"], each=["sysctl", "values"])
    before, after = (snapshot({"kernel": {"release": release}, "sysctl": {"values": {"a": n}}})
                     for release, n in (("6.8", 1), ("6.14", 2)))
    found = judge(before, after, compare(before, after), [rule, kernel])
    by_rule = {f.rule: f for f in found.findings}
    assert by_rule["made.rule"].caused_by == "kernel 6.8 -> 6.14" and by_rule["made.rule"].cause == ["made.kernel", ""]
    assert by_rule["made.kernel"].caused_by is None
    assert judge(before, after, compare(before, after), [rule]).findings[0].caused_by is None


def test_all_values_of_a_table_at_once() -> None:
    rule = made(scope="state", needs=["pci"], message="mixed", names={}, check=[
        {"path": ["item", "pci", "functions", "*", "express", "max_read_request_bytes"], "op": "all-same"}])
    mixed = {"functions": {**pci(512)["functions"], **pci(4096, GPUS[:1])["functions"]}}
    assert said(judged(rule, None, snapshot({"pci": mixed}))) == ["mixed"]
    assert judged(rule, None, snapshot({"pci": pci(512)})).passed == 1
    bare = {a: {k: v for k, v in f.items() if k != "express"} for a, f in pci(512)["functions"].items()}
    some = snapshot({"pci": {"functions": bare}}, unread={"pci": [["functions", GPUS[3], "express"]]})
    assert judged(rule, None, some).unknown[0].evidence[0].path == ["pci", "functions", GPUS[3], "express"]


@pytest.mark.parametrize("op", ["lt", "not-worse"])
def test_what_cannot_be_compared_is_unknown(op: str) -> None:
    rule = made(needs=["sysctl"], each=["sysctl", "values"],
                check=[{"path": ["item"], "op": op, "to": ["was"], "better": "higher"}])
    before, after = (snapshot({"sysctl": {"values": {"a": value}}}) for value in (1, "one"))
    assert len(judged(rule, before, after).unknown) == 1


@pytest.mark.parametrize(("subject", "unknown"), [("", [""]), ("a", ["a"]), ("a x", ["a x"]), ("b", [])])
def test_rows_that_are_unknown_after_were_there_before(subject: str, unknown: list[str]) -> None:
    rule = made(each=["derived", "device_access"], names={"old": ["was", "n"], "new": ["item", "n"]},
                check=[{"path": ["item", "n"], "op": "unchanged"}])
    before, after = snapshot({}), snapshot({})
    gap = {"subject": subject, "what": "n", "source": "", "why": "EACCES"}
    found = judge(before, after, compare(before, after), [rule], lambda name, of, old: Derived(
        {"a x": {"n": 1}}) if of is before else Derived({}, [gap]))
    assert [finding.subject for finding in found.unknown] == unknown


def test_a_value_of_each_row_of_a_list() -> None:
    rule = made(scope="state", needs=["sysctl"], message="ignored", names={}, check=[
        {"path": ["item", "sysctl", "ignored", "*", "why"], "op": "not-contains", "value": "no such key"}])
    lines = [{"why": why, "origin": {"file": "/etc/sysctl.conf", "line": n, "text": "x"}}
             for n, why in enumerate(("spaces", "no such key"), 1)]
    assert said(judged(rule, None, snapshot({"sysctl": {"values": {}, "ignored": lines}}))) == ["ignored"]
    assert judged(rule, None, snapshot({"sysctl": {"values": {}, "ignored": lines[:1]}})).passed == 1


def test_a_message_may_hang_on_a_condition() -> None:
    grew = {"when": [{"path": ["item"], "op": "gt", "to": ["was"]}], "text": "{subject} grew to {new}"}
    rule = made(needs=["sysctl"], each=["sysctl", "values"], message=[grew, "{subject} is {new}"], group=[grew])
    before, after = (snapshot({"sysctl": {"values": {"a": n, "b": 5 - n}}}) for n in (1, 2))
    found = judged(rule, before, after)
    assert said(found) == ["a grew to 2", "b is 3"]
    assert [finding.group for finding in found.findings] == ["a grew to 2", None]


def test_a_line_may_be_said_unless_something_is_known() -> None:
    integrity = {"path": ["item", "kernel", "lockdown"], "op": "equal", "value": "integrity"}
    locked = {"unless": [integrity], "text": "setpci"}
    rule = made(scope="state", needs=["sysctl"], names={}, message="m", now=[locked],
                check=[{"path": ["item", "sysctl", "values", "a"], "op": "absent"}])
    for word, now in (("integrity", []), ("none", ["setpci"]), (None, ["setpci"])):
        kernel: dict[str, Any] = {"kernel": {"lockdown": word}} if word else {}
        assert judged(rule, None, snapshot({"sysctl": {"values": {"a": 1}}} | kernel)).findings[0].now == now
