from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshot.derive.access.lxc_rules import Device, Dropped, Reset, Rule, RuleList, Unresolved, build, parse_rule
from snapshot.sections.base import Origin

ALLOW, DENY = "lxc.cgroup2.devices.allow", "lxc.cgroup2.devices.deny"
UVM: Device = ("c", 508, 0)


def origin(line: int = 1) -> Origin:
    return Origin(file="/etc/pve/lxc/101.conf", line=line, text=f"line {line}")


def rules(*lines: str, nodes: dict[str, Device | None] | None = None) -> RuleList:
    """A list of lines "allow = c 1:3 rwm", the key after lxc.cgroup2.devices."""
    parted = (line.partition(" = ") for line in lines)
    keys = {"allow": ALLOW, "deny": DENY}
    return build([(keys.get(k, k), v, origin(n)) for n, (k, _, v) in enumerate(parted, 1)], nodes)


def opens(found: RuleList, access: str = "rw", device: Device = UVM) -> bool:
    return found.allows(*device, access)[0]


@pytest.mark.parametrize("text", [
    "c 508:0 rwm", "c\t508:0\trwm", "c 508:* rwm  ", "c 508:0 rwm\r", '"c 508:0 rw"', "'c 508:0 rw'",
    "c 508:0 rwm # x", "c 508:0 rwmx", "c 508:0 wr", "c 508:0 mrw", "a 508:0 rwm", "c *:* rw", "c *:0 rw",
    "c\v508:0\frw", "c 0774:0 rw", "c 508:00 rw",
])
def test_rule_that_lxc_takes(text: str) -> None:
    rule = parse_rule(ALLOW, text, origin())
    assert isinstance(rule, Rule)
    assert rule.covers(UVM, "rw")
    assert not rule.covers(("b", 508, 0), "rw") or rule.type == "a"


@pytest.mark.parametrize("text", [
    "c 1fc:0 rwm", "c 0x1fc:0 rwm", "c 0508:0 rwm", "c  508:0 rwm", "c 508:0  rwm", "c 508:0",
    "c 508:0 rw # note", "c 508:0 r # note", "c 508:0 rwx", "c 508:0 RWM", "C 508:0 rwm", "c 508 rwm",
    "c 508:0,1 rwm", "c 508:0-3 rwm", "all", "*:* rwm", "c 508:0 x", "c508:0 rwm", "c 508: rwm", "c :0 rwm",
    "c -1:0 rwm", "d 508:0 rwm", "aa", "c 4294967296:0 rwm", "c 508:2147483648 rwm", f"c {'9' * 5000}:0 rwm",
    '"c 508:0 rwm', "\"'c 508:0 rwm'\"", "c ５０８:0 rwm", "c 508:0 rw\0", "/dev/nvidia-uvm",
    "/dev/nvidia-uvm rwx", "/dev/x\trw",
])
def test_rule_that_lxc_drops(text: str) -> None:
    dropped = parse_rule(ALLOW, text, origin(7))
    assert isinstance(dropped, Dropped)
    assert dropped.why and dropped.origin.line == 7
    assert not opens(rules("allow = c 1:3 rwm", f"allow = {text}"))


def test_leading_zero_is_octal() -> None:
    rule = parse_rule(ALLOW, "c 0510:010 rwm", origin())
    assert isinstance(rule, Rule)
    assert (rule.major, rule.minor) == (0o510, 8)


def test_empty_lists_let_everything_through() -> None:
    for lines in ((), ("deny = a",), ("allow = a",), ("allow = c 1:3 rwm", "deny = a"),
                  ("deny = a", "allow = c 1:3 rwm", "allow = "), ("allow = nonsense",)):
        assert rules(*lines).allows(*UVM, "rw") == (True, None)


def test_one_rule_makes_an_allow_list() -> None:
    found = rules("allow = c 508:* rwm")
    assert found.allows(*UVM, "rw") == (True, origin(1))
    assert found.allows("c", 1, 3, "rw") == (False, None)
    assert not opens(rules("deny = c 508:0 rwm"))
    assert not opens(rules("deny = c 508:0 rwm"), device=("c", 1, 3))


def test_deny_list() -> None:
    found = rules("allow = c 9:* rwm", "allow = a", "deny = c 508:0 w", "allow = c 508:0 rwm")
    assert found.mode == "deny"
    assert found.allows(*UVM, "w") == (False, origin(3))
    assert opens(found, "rw") and opens(found, "r")
    assert opens(found, "rw", ("c", 1, 3))


def test_order_counts_only_against_a_twins_and_empty_values() -> None:
    for lines in (("allow = c *:* rwm", "deny = c 508:0 rwm"), ("deny = c 508:0 rwm", "allow = c *:* rwm")):
        assert opens(rules(*lines))
    twin = ("allow = c 1:3 rwm", "allow = c 508:0 rwm", "deny = c 508:0 rwm")
    assert not opens(rules(*twin))
    assert opens(rules(*twin, "allow = c 508:0 rwm"))
    assert not opens(rules(*twin, "allow = c 508:0 rwm", "deny = c 508:0 rwm"))
    assert opens(rules("allow = c 508:0 rwm", "deny = c 508:0 wrm"))
    assert opens(rules("deny = a", "allow = c 508:0 rwm", "deny = c 508:* rwm"))


def test_the_only_rule_taken_out_by_its_twin_leaves_a_list() -> None:
    assert not opens(rules("allow = c 508:0 rwm", "deny = c 508:0 rwm"))


def test_access_asked_for_must_be_in_one_rule() -> None:
    found = rules("allow = c 508:0 r", "allow = c 508:0 w", "allow = c *:* m")
    assert [a for a in ("r", "w", "rw", "m", "rm") if opens(found, a)] == ["r", "w", "m"]
    assert not opens(rules("allow = c *:* m"))


def test_empty_value_forgets_the_lines_of_its_key_only() -> None:
    found = rules("deny = a", "allow = c 508:0 rwm", "deny = c 7:0 rwm", "allow = ", "allow = c 1:3 rwm")
    assert not opens(found)
    assert [r.origin.line for r in found.rules] == [3, 5]
    assert [r.origin.line for r in rules("allow = c 508:0 rw", 'deny = ""').rules] == [1]
    assert not rules("allow = c 508:0 rw", "deny = b 1:1 r", "lxc.cgroup2 = ").rules
    assert rules("allow = c 508:0 rw", "lxc.cgroup2.devices = ").rules


def test_wrong_key_is_a_deny() -> None:
    found = rules("allow = c 1:3 rwm", "lxc.cgroup2.devices.alow = c 508:0 rwm")
    assert not opens(found)
    assert found.rules[1].allow is False
    assert rules("lxc.cgroup2.devices.alow = a").mode == "allow"
    assert parse_rule(DENY, " a ", origin()) == Reset("allow", origin())


def test_cgroup_v1_keys_do_nothing() -> None:
    v1 = "lxc.cgroup.devices.allow"
    found = rules("allow = c 1:3 rwm", f"{v1} = a", f"{v1} = c 508:0 rwm")
    assert not opens(found)
    assert [d.origin.line for d in found.dropped] == [2, 3]


def test_everything_for_everyone_does_not_start() -> None:
    fails = rules("allow = c 1:3 rwm", "allow = a *:* wrm").start_fails()
    assert fails is not None and fails.origin.line == 2
    assert rules("allow = a *:* rw").start_fails() is None
    assert rules("allow = a", "allow = a *:* rwm").start_fails() is None
    assert rules("allow = a *:* rwm", "deny = a").start_fails() is None
    assert rules("allow = a *:* rwm", "deny = a *:* rwm").start_fails() is None


def test_rule_by_path() -> None:
    lines = ("allow = c 1:3 rwm", "allow = /dev/nvidia-uvm  rw # note")
    known = rules(*lines, nodes={"/dev/nvidia-uvm": UVM})
    assert known.allows(*UVM, "rw") == (True, origin(2))
    unknown = rules(*lines)
    assert unknown.unresolved == [Unresolved("/dev/nvidia-uvm", "rw", origin(2))]
    assert not opens(unknown)
    gone = rules(*lines, nodes={"/dev/nvidia-uvm": None})
    assert not gone.unresolved and gone.dropped[0].origin.line == 2
    assert not rules(*lines, "deny = a").unresolved
    assert isinstance(parse_rule(DENY, "/dev/nvidia-uvm rw", origin(), {"/dev/nvidia-uvm": UVM}), Dropped)


BASE = ("deny = a", "allow = c *:* m", "allow = b *:* m", "allow = c 1:3 rwm", "allow = c 136:* rwm")


def test_proxmox_starts() -> None:
    privileged = rules(*BASE, "allow = c 195:* rwm", "allow = c 511:* rwm")
    assert not opens(privileged) and opens(privileged, "m") and opens(privileged, device=("c", 195, 255))
    userns = (*BASE, "deny = ", "allow = ")
    assert opens(rules(*userns, "allow = a", "allow = c 400:* rwm"))
    assert opens(rules(*userns))
    assert not opens(rules(*userns, "allow = c 400:* rwm"), device=("c", 1, 3))


def as_lxc_does(lines: list[tuple[str, str]]) -> tuple[str, list[tuple[str, bool]]]:
    """bpf_list_add_device of LXC 5 and 6, loop for loop."""
    mode, items = "allow", list[tuple[str, bool]]()
    for key, value in lines:
        allow = key == ALLOW
        if value == "a":
            mode, items = "deny" if allow else "allow", []
            continue
        for at, (subject, was) in enumerate(items):
            if subject == value and was == (mode == "allow"):
                items[at] = (subject, allow)
                break
        else:
            items.append((value, allow))
    return mode, items


VALUES = st.sampled_from(["a", "c 1:3 rw", "c 1:3 wr", "b *:3 m", "a 1:* r"])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([ALLOW, DENY]), VALUES), max_size=12))
def test_same_list_as_lxc(lines: list[tuple[str, str]]) -> None:
    found = build((key, value, origin()) for key, value in lines)
    mode, items = as_lxc_does(lines)
    stars = [("*" if r.major is None else r.major, "*" if r.minor is None else r.minor) for r in found.rules]
    text = [f"{r.type} {a}:{b} {r.access}" for r, (a, b) in zip(found.rules, stars, strict=True)]
    assert (found.mode, list(zip(text, (r.allow for r in found.rules), strict=True))) == (mode, items)


@settings(max_examples=200, deadline=None)
@given(st.text(), st.text())
def test_any_line_has_an_answer(key: str, value: str) -> None:
    for whole in (key, f"lxc.cgroup2.devices{key}", ALLOW):
        assert parse_rule(whole, value, origin()).origin == origin()


def test_a_huge_list_is_quick() -> None:
    lines = [(ALLOW, f"c {n % 4000}:{n} rw", origin(n + 1)) for n in range(20_000)]
    found = build([*lines, *((DENY, v, o) for _, v, o in lines)])
    assert len(found.rules) == 20_000 and not any(rule.allow for rule in found.rules)
