"""Which facts rules judge: by the paths of their own, and by what their derived tables read of a host."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import FACTS, derived
from snapshot.engine.lint import check
from snapshot.engine.reads import Reads, Witness, judged_paths
from snapshot.engine.rule import Rule
from snapshot.sections.shape import Path
from tests.pairs import story

from .test_packs import pack

FUNCTION = ("pci", "functions", "0000:01:00.0")
EXPRESS: Any = {"each": ["pci", "functions"], "needs": ["pci"],
                "check": [{"path": ["item", "express", "max_payload_bytes"], "op": "exists"}]}


def rule(**change: Any) -> Rule:
    return check(pack(**change), "made.toml")[0]


@pytest.mark.parametrize(("change", "path", "judged"), [
    (EXPRESS, (*FUNCTION, "express", "max_payload_bytes"), True), (EXPRESS, (*FUNCTION, "driver"), False),
    (EXPRESS, FUNCTION, True), (EXPRESS, ("pci",), True), (EXPRESS, ("sysctl", "values", "x"), False),
    (EXPRESS, ("pci", "functions", "*", "express", "max_payload_bytes"), True),
    (EXPRESS, ("pci", "functions", "*", "driver"), False), (EXPRESS, (*FUNCTION, "express", "*"), True),
    ({}, ("sysctl", "values", "vm.swappiness"), True), ({}, ("sysctl", "settings", "vm.swappiness", "value"), False),
    ({"names": {"x": ["after", "kernel", "tainted"]}}, ("kernel", "tainted"), True),
    ({"each": ["cpufreq", "governor"], "needs": ["cpufreq"]}, ("cpufreq", "governor"), True),
    ({"each": ["cpufreq", "governor"], "needs": ["cpufreq"], "names": {"x": ["parent", "driver"]}},
     ("cpufreq", "driver"), True),
    ({"each": ["cpufreq", "governor"], "needs": ["cpufreq"]}, ("cpufreq", "driver"), False),
    ({"check": [{"path": ["item"], "op": "unchanged"}], "scope": "change"}, ("sysctl", "values", "x"), True),
])
def test_a_rule_judges_what_it_names_with_all_above_and_below(change: Any, path: Path, judged: bool) -> None:
    assert judged_paths([rule(**change)])(path) is judged


def test_a_table_that_is_only_walked_is_judged_as_to_its_keys() -> None:
    reads = Reads()
    reads.add(("pci", "functions", "*"), whole=False)
    assert reads.have(FUNCTION) and reads.have(("pci",))
    assert not reads.have((*FUNCTION, "driver"))


def test_what_derived_tables_read_is_seen_on_a_host() -> None:
    before, after = story()
    derives = rule(each=["derived", "read_requests"], needs=["pci"],
                   check=[{"path": ["item", "lowered"], "op": "equal", "value": False}])
    blind, seeing = judged_paths([derives]), judged_paths([derives], before, after)
    read, unread = (*FUNCTION, "express", "max_read_request_bytes"), ("sysctl", "values", "net.core.key1")
    assert not blind(read)
    assert seeing(read) and not seeing(unread)


def test_a_section_that_is_read_as_a_model_is_judged_as_a_whole() -> None:
    derives = rule(each=["derived", "device_access"], needs=["lxc"])
    judged = judged_paths([derives], *story())
    assert judged(("lxc", "containers", "101", "live", "anything"))
    assert judged(("devices", "character", "nvidia-uvm"))
    assert not judged((*FUNCTION, "driver"))


def test_of_what_is_gone_through_only_what_a_rule_names_is_judged() -> None:
    reads, after = Reads(), story()[1]
    values = Witness(after, reads, frozenset({"net.core.key1"})).table("sysctl")["values"]
    assert dict(values.items()) == after.table("sysctl")["values"]
    assert values["net.core.key3"] == 4
    assert [reads.have(("sysctl", "values", f"net.core.key{at}")) for at in (1, 2, 3)] == [True, False, True]


def test_watching_changes_nothing() -> None:
    before, after = story()
    for name in FACTS:
        seen = derived(name, Witness(after, Reads()), Witness(before, Reads()))
        assert seen == derived(name, after, before)
