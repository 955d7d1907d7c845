"""Two whole snapshots compared: sections, outcomes, files, meta, and sums that are right."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.diff import Diff, compare
from snapshot.diff.change import MISSING
from snapshot.diff.pattern import Pattern
from snapshot.diff.selection import EVERYTHING, Selection
from snapshot.document import Snapshot, State, count_facts
from snapshot.records import replace

from ..pairs import ABSENT, EMPTY, GPUS, devices, gpu, lxc, pci, snapshot, story


def total(side: Snapshot) -> int:
    return sum(outcome.facts for outcome in side.outcomes.values())


def swapped(selection: Selection) -> Selection:
    """The selection for the exchanged sides."""
    signs = {"+": "-", "-": "+"}
    only, ignore, volatile, stable = (
        tuple(Pattern.parse(signs.get(pattern.text[0], pattern.text[0]) + pattern.text[1:]) for pattern in patterns)
        for patterns in (selection.only, selection.ignore, selection.volatile, selection.stable)
    )
    return replace(selection, only=only, ignore=ignore, volatile=volatile, stable=stable)


def mirrored(before: Snapshot, after: Snapshot, selection: Selection = EVERYTHING) -> Diff:
    """The comparison, once it has been checked for its sums and its mirror."""
    there, back = compare(before, after, selection), compare(after, before, swapped(selection))
    for one, other in ((there.changes, back.changes), (there.meta, back.meta), (there.files, back.files)):
        assert sorted(map(repr, other)) == sorted(repr(change.mirrored()) for change in one)
    assert there.counts == back.counts and len(there.unused) == len(back.unused)
    turned = {"up": "down", "down": "up", "": ""}
    assert all(change.mirrored().direction == turned[change.direction] for change in there.changes)
    assert sum(change.facts for change in there.changes) == there.counts.changed
    assert sum(entry.facts for entry in there.incomparable) == there.counts.not_comparable
    return there


def values(*numbers: int) -> dict[str, Any]:
    return {"values": {f"vm.key{at}": number for at, number in enumerate(numbers)}}


def test_a_snapshot_does_not_differ_from_itself() -> None:
    for side in story():
        found = mirrored(side, side)
        assert not (found.changes or found.meta or found.files or found.incomparable or found.warnings)
        assert found.counts.same == found.counts.facts == total(side)


def test_the_storys_pair() -> None:
    found = mirrored(*story())
    assert found.counts.facts == found.counts.same + found.counts.changed
    assert found.same_boot is False
    assert {change.path[0] for change in found.meta} == {"boot_id", "kernel"}


def test_sections_with_equal_text_are_not_parsed() -> None:
    before, after = story()
    with patch.object(Snapshot, "table", side_effect=AssertionError("parsed")):
        found = compare(before, before)
    assert found.counts.same == total(before)
    with patch.object(Snapshot, "table", side_effect=AssertionError("parsed")), pytest.raises(AssertionError):
        compare(before, after)


def test_a_renumbered_bus_is_eight_moves_and_no_loss() -> None:
    serials = {address: f"00-{at}" for at, address in enumerate(GPUS)}
    before = {"functions": {a: gpu(512, serial=s) for a, s in serials.items()}}
    moved = {a[:5] + f"{int(a[5:7], 16) + 1:02x}" + a[7:]: s for a, s in serials.items()}
    after = {"functions": {a: gpu(512, serial=s) for a, s in moved.items()}}
    found = mirrored(snapshot({"pci": before}), snapshot({"pci": after}))
    assert [change.state for change in found.changes] == ["moved"] * 8
    assert found.counts.changed == 0 and found.counts.same == count_facts(before)


def test_what_is_named_by_an_address_follows_its_function_and_is_no_move_of_its_own() -> None:
    def side(*buses: int, node: str = "0") -> Snapshot:
        names = [f"0000:{bus:02x}:00.0" for bus in buses]
        functions = {name: gpu(512, serial=str(at)) for at, name in enumerate(names)}
        matrix = {"ids": names, "rows": [["X", "PIX"], ["PIX", "X"]]}
        affinity = {names[0]: {"nodes": "0"}, names[1]: {"nodes": node}}
        return snapshot({"pci": {"functions": functions}, "nvidia": {"topology": matrix, "affinity": affinity}})

    assert [c.state for c in mirrored(side(1, 2), side(2, 3)).changes] == ["moved", "moved"]
    assert [c.state for c in mirrored(side(1, 2), side(2, 1)).changes] == ["moved", "moved"]
    *_, changed = mirrored(side(1, 2), side(2, 3, node="1")).changes
    assert (changed.path, changed.was) == (("affinity", "0000:03:00.0", "nodes"), ("affinity", "0000:02:00.0", "nodes"))


def test_an_attribute_of_a_moved_function_changes_under_its_new_address() -> None:
    before = snapshot({"pci": {"functions": {"0000:01:00.0": gpu(4096, serial="1")}}})
    after = snapshot({"pci": {"functions": {"0000:02:00.0": gpu(512, serial="1")}}})
    moved, changed = mirrored(before, after).changes
    assert (moved.state, moved.before, moved.after) == ("moved", "0000:01:00.0", "0000:02:00.0")
    assert changed.path[1] == "0000:02:00.0" and changed.was[1] == "0000:01:00.0"
    assert (changed.before, changed.after, changed.path[2:]) == (4096, 512, ("express", "max_read_request_bytes"))


@pytest.mark.parametrize("state", ["denied", "failed", "timeout", "skipped"])
@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_section_that_failed_on_a_side_is_neither_removed_nor_same(state: State, lost: str) -> None:
    whole, empty = snapshot({"sysctl": values(1, 2, 3)}), snapshot({}, states={"sysctl": state})
    found = mirrored(*((empty, whole) if lost == "before" else (whole, empty)))
    (entry,) = found.incomparable
    assert (entry.section, entry.side, entry.facts) == ("sysctl", lost, 3)
    assert state in entry.why and "because" in entry.why
    assert found.changes == [] and found.counts.same == 0 and found.counts.sections == 0


def test_a_section_that_failed_on_both_sides_counts_and_one_that_nobody_asked_for_does_not() -> None:
    states: dict[str, State] = {"pci": "failed", "lxc": "skipped"}
    found = mirrored(snapshot({}, states=states), snapshot({}, states=states))
    assert found.counts.not_comparable == 1
    assert {entry.section for entry in found.incomparable} == {"pci", "lxc"}


def test_a_section_that_a_file_does_not_have_is_not_comparable() -> None:
    found = mirrored(snapshot({"sysctl": values(1)}), snapshot({}))
    assert [entry.section for entry in found.incomparable] == ["sysctl"]


def test_what_a_side_shows_to_be_absent_is_gone_as_one_change() -> None:
    (change,) = mirrored(snapshot({"pci": pci(512)}), snapshot({}, states={"pci": "absent"})).changes
    assert (change.state, change.path, change.after, change.why) == ("removed", (), MISSING, "because")
    assert change.facts == count_facts(pci(512)) - len(GPUS)  # where the registers come from is evidence


@pytest.mark.parametrize(("facts", "unread", "path"), [
    ({"machines": {}}, ["machines"], ()),
    ({"machines": {"100": {"config_file": "/etc/pve/qemu-server/100.conf", "name": "a", "live": {}}}}, ["mappings"],
     ("machines", "100")),
])
def test_what_a_side_shows_to_be_absent_and_the_other_could_not_read_is_not_all_new(
    facts: dict[str, Any], unread: list[str], path: tuple[str, ...],
) -> None:
    before = snapshot({}, states={"qemu": "absent"})
    found = mirrored(before, snapshot({"qemu": facts}, unread={"qemu": [unread]}, why="EAGAIN"))
    assert [(change.path, change.state) for change in found.changes] == ([(path, "added")] if path else [])
    assert [(e.path, e.side, e.why) for e in found.incomparable] == [(tuple(unread), "after", "EAGAIN")]


def test_registers_that_only_root_may_read_are_unknown_and_the_rest_is_compared() -> None:
    bare = {"functions": {a: {k: v for k, v in gpu(0).items() if k != "express"} for a in GPUS}}
    paths = [["functions", address, "express"] for address in GPUS]
    found = mirrored(snapshot({"pci": pci(4096)}), snapshot({"pci": bare}, unread={"pci": paths}))
    assert found.changes == []
    assert found.counts.not_comparable == 8 * 3 and found.counts.same == count_facts(bare)
    again = mirrored(snapshot({"pci": bare}, unread={"pci": paths}), snapshot({"pci": bare}, unread={"pci": paths}))
    assert again.counts.not_comparable == 8


def test_the_walk_and_the_snapshot_agree_on_what_is_unknown() -> None:
    paths = [["functions", GPUS[0], "express"], ["functions", GPUS[1]]]
    before, after = snapshot({"pci": pci(4096)}), snapshot({"pci": {"functions": {}}}, unread={"pci": paths})
    found = mirrored(before, after)
    for address in GPUS:
        unknown = after.unread("pci", ("functions", address, "express")) is not None
        reported = any(entry.path[1] == address for entry in found.incomparable)
        assert unknown == reported
    assert {change.path[1] for change in found.changes} == {GPUS[0], *GPUS[2:]}


def test_a_lost_function_is_one_change_though_its_registers_were_unknown() -> None:
    bare = {"functions": {GPUS[0]: {k: v for k, v in gpu(0).items() if k != "express"}}}
    before = snapshot({"pci": bare}, unread={"pci": [["functions", GPUS[0], "express"]]})
    found = mirrored(before, snapshot({"pci": {"functions": {}}}))
    assert [(change.state, change.facts) for change in found.changes] == [("removed", 4)]
    assert found.counts.not_comparable == 1


def test_a_device_rule_put_in_front_is_one_change() -> None:
    before, after = lxc(508), lxc(508)
    live = after["containers"]["101"]["live"]
    new = {"key": "lxc.cgroup2.devices.allow", "value": "c 195:* rwm",
           "origin": {"file": "/etc/pve/lxc/101.conf", "line": 14, "text": "lxc.cgroup2.devices.allow: c 195:* rwm"}}
    live["device_rules"] = [new, *live["device_rules"]]
    (change,) = mirrored(snapshot({"lxc": before}), snapshot({"lxc": after})).changes
    assert (change.state, change.path[-2:], change.facts) == ("added", ("device_rules", "0"), 2)


def test_files_are_one_change_each_and_not_counted_as_facts() -> None:
    before = snapshot(EMPTY, states=ABSENT, files={"/a": "1", "/b": "1", "/c": "1"})
    after = snapshot(EMPTY, states=ABSENT, files={"/a": "1", "/b": "2", "/d": "1"})
    found = mirrored(before, after)
    assert [(c.path[0], c.state) for c in found.files] == [("/b", "changed"), ("/c", "removed"), ("/d", "added")]
    assert found.counts.facts == count_facts(before)


def test_a_file_that_a_section_could_not_read_is_not_gone() -> None:
    before = snapshot({"sysctl": values(1)}, files={"/a": "1"})
    found = mirrored(before, snapshot({}, states={"sysctl": "failed"}))
    assert found.files == []
    assert [(e.path, e.side) for e in found.incomparable if e.section == "files"] == [(("/a",), "after")]


def test_a_file_in_a_folder_that_was_not_listed_is_not_gone() -> None:
    tables, others = {**EMPTY, "sysctl": values(1)}, {name: how for name, how in ABSENT.items() if name != "sysctl"}
    before = snapshot(tables, states=others, files={"/src/a": "1", "/srca": "1"})
    found = mirrored(before, snapshot(tables, states=others, unread={"sysctl": [["settings"]]}))
    assert [change.path for change in found.files] == [("/srca",)]
    assert [(e.path, e.why) for e in found.incomparable if e.section == "files"] == [(("/src/a",), "EACCES")]


@pytest.mark.parametrize(("before", "after", "words"), [
    ({"host": "pve1"}, {"host": "pve2"}, "two host names"),
    ({"machine": "a" * 32}, {"machine": "b" * 32}, "two machines"),
    ({"taken": "2026-01-02T00:00:00Z"}, {"taken": "2026-01-01T00:00:00Z"}, "wrong way round"),
    ({"redacted": True}, {}, "redacted"),
])
def test_two_that_are_no_pair_are_warned_of(before: dict[str, Any], after: dict[str, Any], words: str) -> None:
    (warning,) = compare(snapshot({}, meta=before), snapshot({}, meta=after)).warnings
    assert words in warning


def test_whether_the_boot_is_the_same_is_known_only_if_both_say_so() -> None:
    one, two, dumb = (snapshot({}, meta={"boot_id": boot} if boot else {}) for boot in ("a", "b", ""))
    assert compare(one, one).same_boot is True
    assert compare(one, two).same_boot is False
    assert compare(one, dumb).same_boot is None
    here, there = (snapshot({}, meta={"boot_id": name, "machine": name * 32}) for name in ("a", "b"))
    assert compare(here, there).same_boot is None and compare(here, here).same_boot is True


ADDRESSES = st.sampled_from(GPUS[:4])
FUNCTIONS = st.dictionaries(ADDRESSES, st.builds(
    lambda size, serial, path, device: gpu(size, device=device) | {
        key: value for key, value in (("serial", serial), ("path", path)) if value},
    st.sampled_from([512, 4096]), st.sampled_from(["", "1", "2", "3"]), st.sampled_from(["", "a", "b", "c"]),
    st.sampled_from(["2bb5", "2bb4"]),
), max_size=4)
RULES = st.lists(st.sampled_from(["a", "c 195:* rwm", "c 508:* rwm", "c 511:* rwm"]), max_size=5)
UNREAD = st.lists(st.sampled_from([
    ["functions", GPUS[0]], ["functions", GPUS[1], "express"], ["functions", GPUS[1], "express", "type"], ["functions"],
]), max_size=2)
SYSCTL = st.dictionaries(st.sampled_from(["vm.a", "vm.b", "vm.c"]), st.sampled_from([0, 1, "0", "1 2"]))


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Snapshots of one host in odd states: functions moved, shared identities, rules in any order, unknown facts."""
    container = lxc(508)
    container["containers"]["101"]["live"]["device_rules"] = [
        {"key": "lxc.cgroup2.devices.allow", "value": value, "origin": {"file": "/f", "line": at, "text": value}}
        for at, value in enumerate(draw(RULES), 1)
    ]
    tables = {"pci": {"functions": draw(FUNCTIONS)}, "lxc": container, "sysctl": {"values": draw(SYSCTL)},
              "devices": devices(draw(st.sampled_from([508, 511])))}
    kept = {name: table for name, table in tables.items() if draw(st.booleans())}
    states: dict[str, State] = {
        name: draw(st.sampled_from(["absent", "failed", "skipped"])) for name in tables if name not in kept
    }
    unread = draw(UNREAD) if "pci" in kept else []
    return snapshot(kept, states=states, unread={"pci": unread} if unread else {})


@given(snapshots(), snapshots())
def test_the_changes_of_an_exchanged_pair_are_the_mirrored_ones(before: Snapshot, after: Snapshot) -> None:
    mirrored(before, after)


@given(snapshots())
def test_no_snapshot_differs_from_itself(side: Snapshot) -> None:
    found = mirrored(side, side)
    assert found.changes == [] and found.counts.changed == 0
    assert found.counts.same <= total(side)
