"""Which changes can move which benchmarks: the shipped table, and what is made of it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from snapshot import tomlio
from snapshot.diff import compare
from snapshot.document import Snapshot
from snapshot.engine import packs
from snapshot.engine.benchmark_causes import Cause, beneath, likely, load, shipped
from snapshot.engine.finding import Evidence, Finding
from snapshot.engine.judge import judge
from snapshot.engine.pack_file import PackFile, added
from snapshot.errors import FormatError
from snapshot.sections.bench import KINDS
from tests.pairs import snapshot

ONE = """
[[cause]]
rules = ["cpuidle.*"]
facts = ["cpuidle.governor"]
moves = ["serving-low"]
direction = "worse"
weight = "strong"
why = "it wakes late"
source = ["a book"]
"""
MEASURED = {"bench.throughput-regression", "bench.p2p-regression", "bench.p2p-not-in-effect"}


def cause(**more: object) -> Cause:
    table = {"rules": ["cpuidle.*"], "moves": ["serving-low"], "direction": "worse", "weight": "strong", "why": "w",
             "source": ["s"]} | more
    return Cause.model_validate(table)


def test_every_kind_has_causes_and_all_is_well_formed() -> None:
    moved = {kind for found in shipped() for kind in found.moves}
    assert moved == set(KINDS)
    assert len({found.why for found in shipped()}) == len(shipped())


@pytest.mark.parametrize("pack", ["fs", "net", "rdma", "storage"])
def test_globs_name_rules_that_there_are(pack: str) -> None:
    path = str(Path(packs.directory(), f"{pack}.toml"))
    ids = [rule["id"] for rule in tomlio.loads(packs.read(path), path)["rule"]]
    patterns = {pattern for found in shipped() for pattern in found.rules if pattern.startswith(f"{pack}.")}
    assert patterns
    for pattern in patterns:
        assert any(fnmatchcase(name, pattern) for name in ids), f"{pattern} names no rule"


def test_what_the_story_of_a_tuned_host_lost() -> None:
    found = likely("host-device", ["pcie.maxreadreq-reverted"], [("kernel", "release")], shipped())
    assert [match.rules for match in found] == [("pcie.maxreadreq-reverted",), ()]
    assert found[1].facts == (("kernel", "release"),)


def test_strong_ones_come_first_then_what_a_rule_found() -> None:
    weak = cause(weight="weak", why="weak")
    fact = cause(rules=[], facts=["cpuidle.governor"], why="fact")
    strong = cause(why="strong")
    found = likely("serving-low", ["cpuidle.deep-state-enabled"], [("cpuidle", "governor")], [weak, fact, strong])
    assert [match.cause.why for match in found] == ["strong", "fact", "weak"]


def test_a_change_below_and_a_key_with_dots_are_meant() -> None:
    one = cause(rules=[], facts=["sysctl.values.vm.dirty_*", "storage.blocks.*.queue"])
    changed = [("sysctl", "values", "vm.dirty_ratio"), ("storage", "blocks", "S1", "queue", "scheduler"),
               ("sysctl", "values", "vm.swappiness")]
    [match] = likely("serving-low", [], changed, [one])
    assert match.facts == (changed[1], changed[0])


def test_nothing_is_known_to_move_what_nothing_changed() -> None:
    assert likely("storage", [], [], shipped()) == []
    assert likely("storage", ["lxc.onboot-missing"], [("os", "id")], shipped()) == []
    with pytest.raises(KeyError):
        likely("speed", [], [], shipped())


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "causes.toml"
    path.write_text(ONE)
    assert [found.why for found in load(str(path))] == ["it wakes late"]


@pytest.mark.parametrize(("old", "new", "said"), [
    ('"serving-low"', '"speed"', "no kind 'speed'"),
    ('"cpuidle.governor"', '"cpuidle.govenor"', "no fact 'govenor': governor"),
    ('"worse"', '"up"', "direction"),
    ('source = ["a book"]', "source = []", "a source"),
    ("[[cause]]", "[[reason]]", "reason: is not known here"),
    ("[[cause]]", "[cause]", r"there is no \[\[cause\]\]"),
    ("why = ", "because = ", "why: is missing"),
    ("why = ", 'because = "x"\nwhy = ', "because"),
    ('weight = "strong"', "weight = 1", "weight"),
    ("[[cause]]", "[[cause", "causes.toml"),
])
def test_a_fault_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "causes.toml"
    path.write_text(ONE.replace(old, new))
    with pytest.raises(FormatError, match=said):
        load(str(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        load(str(tmp_path / "causes.toml"))


def finding(rule: str, class_: str = "new", kind: str | None = None) -> Finding:
    proof = [Evidence(path=["benchmarks", "a", "kind"], value=kind).table()] if kind else []
    table = {"rule": rule, "severity": "high", "verdict": "fail", "class_": class_, "subject": "a"}
    return Finding.model_validate({**table, "message": f"{rule} fails", "evidence": proof})


def test_a_benchmark_that_got_worse_stands_under_what_can_decide_it() -> None:
    effect, cause = finding("bench.p2p-regression", kind="p2p-bandwidth"), finding("pcie.acs-redirect")
    weak = finding("pcie.maxreadreq-reverted")
    assert beneath([effect, weak, cause], MEASURED)[0].cause == ["pcie.acs-redirect", "a"]
    assert beneath([effect, weak, cause], MEASURED)[1:] == [weak, cause]


@pytest.mark.parametrize("others", [
    [], [finding("pcie.maxreadreq-reverted")],  # weak
    [finding("pcie.acs-redirect", "existing")], [finding("pcie.acs-redirect", "resolved")],
    [finding("bench.p2p-not-in-effect", kind="p2p-bandwidth")], [finding("sysctl.numa-balancing")],
])
def test_what_is_no_strong_new_cause_of_its_kind_is_not_named(others: list[Finding]) -> None:
    effect = finding("bench.p2p-regression", kind="p2p-bandwidth")
    assert beneath([effect, *others], MEASURED)[0].caused_by is None


def test_a_benchmark_of_no_known_kind_has_no_cause() -> None:
    found = [finding("bench.throughput-regression"), finding("pcie.acs-redirect")]
    assert beneath(found, MEASURED)[0].caused_by is None


def test_the_shipped_rules_on_numbers_have_causes() -> None:
    assert {rule.id for rule in packs.shipped() if rule.causes} == MEASURED


OWN = """
[[rule]]
id = "own.slow"
title = "a benchmark is slow"
severity = "high"
scope = "state"
needs = ["bench"]
each = ["bench", "measurements"]
check = [{ path = ["item", "samples"], op = "contains", value = 1.0 }]
causes = "benchmark"
message = "slow"
evidence = [["item", "kind"]]
now = ["true"]
references = ["us"]

[[rule.example]]
name = "slow"
verdict = "fail"
class = "existing"
after.sections.bench.measurements.a = MEASURED

[[rule.example]]
name = "quick"
verdict = "pass"
after.sections.bench.measurements.a = MEASURED_QUICK
"""
NUMBER = ('{ metric = "m", unit = "s", better = "lower", kind = "p2p-bandwidth", workload = {}, status = "ok", '
          'source = { tool = "t", format = "text" }, samples = [%s] }')


@pytest.mark.parametrize("named", [True, False])
def test_a_rule_of_a_pack_of_the_user_can_have_causes_too(tmp_path: Path, named: bool) -> None:
    text = OWN.replace("MEASURED_QUICK", NUMBER % 1.0).replace("MEASURED", NUMBER % 2.0)
    path = tmp_path / "own.toml"
    path.write_text(text if named else text.replace('causes = "benchmark"\n', ""))
    assert PackFile.open(str(path)).faults() == []
    [own] = added([str(path)])
    acs = own.copy(id="pcie.acs-redirect", causes=None, message="ACS")

    def side(value: float) -> Snapshot:
        bench = tomlio.loads(f"a = {NUMBER % value}".encode(), "made")
        return snapshot({"bench": {"measurements": bench}})

    before, after = side(1.0), side(2.0)
    found = {one.rule: one.caused_by for one in judge(before, after, compare(before, after), [own, acs]).findings}
    assert found == {"own.slow": "ACS" if named else None, "pcie.acs-redirect": None}
