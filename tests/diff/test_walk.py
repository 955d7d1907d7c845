"""The walk of one section's tables: types, marks, per-CPU tables, matrices, lists of tables, unknown facts."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from deepdiff import DeepDiff
from hypothesis import given
from hypothesis import strategies as st

from snapshot.diff.change import MISSING, Change
from snapshot.diff.rows import align
from snapshot.diff.selection import Selection, Sieve
from snapshot.diff.walk import Walk, same
from snapshot.diff.weight import leaves
from snapshot.sections.base import EVIDENCE, VOLATILE, CpuInts, CpuWords, Matrix, Model, Origin, field
from snapshot.sections.shape import LEAF, Shape, of_model, of_section


class Row(Model):
    value: str = field(description="required")
    origin: Annotated[Origin, EVIDENCE] | None = field(default=None, description="optional")


class Made(Model):
    """Every kind of part there is."""

    word: str | None = field(default=None, description="optional")
    values: dict[str, int] | None = field(default=None, description="optional")
    rows: list[Row] | None = field(default=None, description="optional")
    speed: CpuInts | None = field(default=None, description="optional")
    governor: CpuWords | None = field(default=None, description="optional")
    topology: Matrix | None = field(default=None, description="optional")
    count: Annotated[int | None, VOLATILE] = field(default=None, description="optional")
    note: Annotated[str | None, EVIDENCE] = field(default=None, description="optional")
    inner: Row | None = field(default=None, description="optional")


def sieve(volatile: bool = False, section: str = "made") -> Sieve:
    return Sieve(Selection(show_volatile=volatile), section)


def walk(before: dict[str, Any], after: dict[str, Any], volatile: bool = False, **unread: list[str]) -> Walk:
    """A walk that is checked for its sums and its mirror."""
    paths = {side: {tuple(path.split(".")): ("/src", "EACCES") for path in unread.get(side, [])} for side in ("b", "a")}
    there, back = (Walk("made", paths[one], paths[other], sieve(volatile)) for one, other in ("ba", "ab"))
    there.run(of_model(Made), before, after)
    back.run(of_model(Made), after, before)
    assert sorted(map(repr, back.changes)) == sorted(repr(change.mirrored()) for change in there.changes)
    assert back.counts == there.counts
    assert sum(change.facts for change in there.changes) == there.counts.changed
    assert sum(entry.facts for entry in there.incomparable) == there.counts.not_comparable
    return there


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, Any, Any]]:
    return [(".".join(c.path), c.state, c.before, c.after) for c in walk(before, after).changes]


VALUES = [0, 1, 1.0, True, "1", False, 0.0, "", [], [1], [True], {}, {"a": 1}, {"a": 1.0}]


@pytest.mark.parametrize("one", range(len(VALUES)))
@pytest.mark.parametrize("other", range(len(VALUES)))
def test_values_of_different_types_are_different(one: int, other: int) -> None:
    assert same(VALUES[one], VALUES[other]) == (one == other)


def test_nan_is_the_same_as_nan() -> None:
    assert same(float("nan"), float("nan"))


def test_scalars() -> None:
    assert changes({"values": {"a": 1, "b": 2, "c": 3}}, {"values": {"a": 1, "b": 3, "d": 4}}) == [
        ("values.c", "removed", 3, MISSING), ("values.d", "added", MISSING, 4), ("values.b", "changed", 2, 3),
    ]


def test_a_keyed_table_that_a_side_lacks_is_as_many_changes_as_it_has_items() -> None:
    assert len(changes({}, {"values": {"a": 1, "b": 2}})) == 2


def test_a_subtree_that_a_side_lacks_is_one_change_for_all_its_facts() -> None:
    (change,) = walk({}, {"inner": {"value": "x", "origin": {"file": "f", "line": 1, "text": "x"}}}).changes
    assert (change.path, change.state, change.facts) == (("inner",), "added", 1)


def test_evidence_is_counted_and_never_a_change() -> None:
    found = walk({"note": "a", "word": "w"}, {"note": "b", "word": "w"})
    assert (found.changes, found.counts.same, found.counts.evidence) == ([], 1, 1)


def test_volatile_facts_are_counted_and_changes_only_if_asked_for() -> None:
    assert walk({"count": 1}, {"count": 2}).counts.volatile == 1
    found = walk({"count": 1}, {"count": 2}, volatile=True)
    assert len(found.changes) == 1 and found.counts.volatile == 0


def sysctl(before: dict[str, Any], after: dict[str, Any], volatile: bool = False, **settings: Any) -> Walk:
    found = Walk("sysctl", {}, {}, sieve(volatile, "sysctl"))
    sides: list[dict[str, Any]] = [{"values": side} | settings for side in (before, after)]
    found.run(of_section("sysctl"), *sides)
    return found


def test_a_key_that_changes_by_itself_is_volatile_where_no_file_sets_it() -> None:
    before, after = {"vm.user_reserve_kbytes": 1, "vm.x": 1}, {"vm.user_reserve_kbytes": 2, "vm.x": 1}
    found = sysctl(before, after)
    assert (found.changes, found.counts.volatile, found.counts.same) == ([], 1, 1)
    (change,) = sysctl(before, after, volatile=True).changes
    assert change.volatile and change.facts == 1
    (change,) = sysctl(before, after, settings={"vm.user_reserve_kbytes": {}}).changes
    assert not change.volatile


def test_a_key_that_the_kernel_computes_is_a_change_that_says_so_where_no_file_sets_it() -> None:
    before, after = {"user.max_net_namespaces": 1, "vm.x": 1}, {"user.max_net_namespaces": 2, "vm.x": 2}
    found = sysctl(before, after)
    assert [change.computed for change in found.changes] == ["memory", ""] and found.counts.changed == 2
    found = sysctl(before, after, settings={"user.max_net_namespaces": {}})
    assert [change.computed for change in found.changes] == ["", ""]


def test_what_the_boot_loader_writes_is_volatile() -> None:
    sides = ({"parameters": {"BOOT_IMAGE": [name], "quiet": [True]}} for name in ("a", "b"))
    found = Walk("cmdline", {}, {}, sieve(section="cmdline"))
    found.run(of_section("cmdline"), *sides)
    assert (found.changes, found.counts.volatile, found.counts.same) == ([], 1, 1)


def row(value: str, line: int) -> dict[str, Any]:
    return {"value": value, "origin": {"file": "f", "line": line, "text": value}}


def test_a_row_put_in_front_is_one_added_row_though_all_lines_moved() -> None:
    before = {"rows": [row(word, at) for at, word in enumerate("abc", 1)]}
    after = {"rows": [row(word, at) for at, word in enumerate("xabc", 1)]}
    found = walk(before, after)
    assert [(c.path, c.state, c.facts) for c in found.changes] == [(("rows", "0"), "added", 1)]
    assert found.counts.same == 9 and found.counts.evidence == 6


def test_a_value_changed_within_a_row_is_one_changed_fact() -> None:
    assert changes({"rows": [row("a", 1), row("b", 2)]}, {"rows": [row("a", 1), row("c", 2)]}) == [
        ("rows.1.value", "changed", "b", "c")
    ]


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_rows_align_the_same_from_both_ends_and_lose_none(before: list[str], after: list[str]) -> None:
    pairs = align(before, after, LEAF)
    assert [(a, b) for b, a in pairs] == align(after, before, LEAF)
    assert [b for b, _ in pairs if b is not None] == list(range(len(before)))
    assert [a for _, a in pairs if a is not None] == list(range(len(after)))


def test_many_equal_rows_are_quick() -> None:
    rows = [{"value": "x"}] * 20_000
    assert [c.state for c in walk({"rows": rows}, {"rows": [*rows, {"value": "y"}]}).changes] == ["added"]


def test_one_outlier_of_256_cpus_is_one_change() -> None:
    before, after = {"governor": {"performance": "0-255"}}, {"governor": {"performance": "0-254", "powersave": "255"}}
    found = walk(before, after)
    assert found.changes == [Change("made", ("governor",), "changed", "performance", "powersave", cpus="255")]
    assert (found.counts.same, found.counts.changed) == (1, 1)


def test_cpus_that_went_offline_are_removed_values_of_their_type() -> None:
    (change,) = walk({"speed": {"2000": "0-3"}}, {"speed": {"2000": "0-1"}}).changes
    assert (change.state, change.before, change.after, change.cpus) == ("removed", 2000, MISSING, "2-3")


def test_matrices_are_compared_cell_by_cell_and_by_name() -> None:
    before = {"topology": {"ids": ["a", "b"], "rows": [[0, 1], [1, 0]]}}
    after = {"topology": {"ids": ["b", "a"], "rows": [[0, 2], [1, 0]]}}
    assert changes(before, after) == [("topology.b.a", "changed", 1, 2)]


def test_what_is_unknown_on_a_side_is_neither_removed_nor_same() -> None:
    found = walk({"values": {"a": 1, "b": 2}, "word": "w"}, {"word": "w"}, a=["values"])
    assert found.changes == [] and found.counts.not_comparable == 2 and found.counts.same == 1
    (entry,) = found.incomparable
    assert (entry.side, entry.why, entry.source, entry.path) == ("after", "EACCES", "/src", ("values",))


def test_unknown_below_an_otherwise_equal_subtree_is_counted() -> None:
    side = {"values": {"a": 1}}
    found = walk(side, side, b=["values.b"], a=["values.b", "inner"])
    assert (found.counts.same, found.counts.not_comparable) == (1, 2)


def test_of_a_removed_subtree_the_unknown_part_is_not_removed() -> None:
    found = walk({"inner": row("x", 1)}, {}, a=["inner.value"])
    assert found.changes == [] and found.counts.not_comparable == 1 and found.counts.evidence == 3


def test_an_unknown_path_within_a_plain_value_changes_nothing() -> None:
    assert walk({"word": "a"}, {"word": "a"}, a=["word.deeper"]).changes == []


def test_every_section_has_a_shape_and_pci_functions_have_their_identities() -> None:
    functions = of_section("pci").at(("functions",))
    assert functions and functions.item and functions.item.identities() == ("serial", "path")
    speed = functions.item.at(("express", "link", "speed_gts"))
    assert speed and speed.volatile
    rules = of_section("lxc").at(("containers", "101", "live", "device_rules"))
    assert rules and rules.kind == "rows" and rules.item and rules.item.fields["origin"].evidence
    assert of_section("pci").at(("nowhere",)) is None


SCALARS = st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from([0.0, 1.0, float("nan"), "", "1"])
LEAVES = SCALARS.filter(lambda value: value is not None) | st.lists(st.sampled_from(["a", "b", 1, True]), max_size=3)
KEYS = st.sampled_from(["a", "b", "a.b"])
TABLES = st.dictionaries(KEYS, st.dictionaries(KEYS, LEAVES, max_size=3), max_size=3)
PLAIN = Shape("table", item=Shape("table", item=LEAF))


def oracle(before: dict[str, Any], after: dict[str, Any]) -> set[tuple[str, str, str]]:
    """DeepDiff's opinion: table key, leaf key, what happened."""
    tree = DeepDiff(
        before, after, view="tree", threshold_to_diff_deeper=0, zip_ordered_iterables=True,
        ignore_private_variables=False, ignore_nan_inequality=True,
    )
    words = {"dictionary_item_added": "added", "dictionary_item_removed": "removed"}
    found = set()
    for kind, entries in tree.items():
        for entry in entries:
            path = entry.path(output_format="list")[:2]
            inner = entry.t1 if kind == "dictionary_item_removed" else entry.t2
            paths = [path] if len(path) == 2 else [[*path, key] for key in inner]
            found |= {(table, leaf, words.get(kind, "changed")) for table, leaf in paths}
    return found


@given(TABLES, TABLES)
def test_the_walk_agrees_with_deepdiff_on_plain_tables(before: dict[str, Any], after: dict[str, Any]) -> None:
    found = Walk("made", {}, {}, sieve())
    found.run(PLAIN, before, after)
    assert {(*change.path, change.state) for change in found.changes} == oracle(before, after)
    assert found.counts.same + found.counts.changed == len({(t, k) for s in (before, after) for t in s for k in s[t]})


@given(TABLES)
def test_a_table_does_not_differ_from_itself(table: dict[str, Any]) -> None:
    found = Walk("made", {}, {}, sieve())
    found.run(PLAIN, table, table)
    assert found.changes == [] and found.counts.same == leaves(table)
