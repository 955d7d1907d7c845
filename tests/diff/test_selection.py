"""What of a comparison counts: only, ignore, volatile, stable, tolerances; and sums that are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.diff import Diff, compare
from snapshot.diff.pattern import Pattern
from snapshot.diff.selection import EVERYTHING, Selection
from snapshot.diff.tolerance import Tolerance
from snapshot.document import Snapshot, count_facts

from ..pairs import ABSENT, EMPTY, GPUS, devices, gpu, lxc, pci, snapshot, story
from .test_diff import mirrored, snapshots


def patterns(*texts: str) -> tuple[Pattern, ...]:
    return tuple(map(Pattern.parse, texts))


def only(*texts: str) -> Selection:
    return Selection(only=patterns(*texts))


def ignore(*texts: str) -> Selection:
    return Selection(ignore=patterns(*texts))


def sysctl(values: Mapping[str, Any], **more: Any) -> Snapshot:
    return snapshot({"sysctl": {"values": dict(values)}}, **more)


def keys(diff: Diff) -> list[str]:
    return [change.path[-1] for change in diff.changes]


BEFORE = sysctl({"net.core.a": 1, "net.core.b": 1, "vm.x": 1})
AFTER = sysctl({"net.core.a": 2, "net.core.c": 1, "vm.x": 2})


@pytest.mark.parametrize(("selection", "left", "ignored"), [
    (EVERYTHING, ["net.core.a", "net.core.b", "net.core.c", "vm.x"], 0),
    (only("sysctl.values.net.*"), ["net.core.a", "net.core.b", "net.core.c"], 1),
    (ignore("sysctl.values.net.*"), ["vm.x"], 3), (ignore("+sysctl"), ["net.core.a", "net.core.b", "vm.x"], 1),
    (ignore("-sysctl.values.net.core.*"), ["net.core.a", "net.core.c", "vm.x"], 1),
    (only("+sysctl"), ["net.core.c"], 3),
    (only("+sysctl", "-sysctl"), ["net.core.b", "net.core.c"], 2), (only("pci"), [], 4), (ignore("sysctl"), [], 4),
    (Selection(only=patterns("sysctl.values.net.*"), ignore=patterns("-**")), ["net.core.a", "net.core.c"], 2),
])
def test_only_and_ignore_take_patterns_with_a_direction(selection: Selection, left: list[str], ignored: int) -> None:
    found = mirrored(BEFORE, AFTER, selection)
    assert (keys(found), found.counts.ignored, found.counts.changed) == (left, ignored, len(left))
    assert found.counts.facts == found.counts.same + found.counts.changed


def test_patterns_that_met_no_difference_are_told() -> None:
    ignored = ("+sysctl.values.vm.*", "sysctl.values.vm.x", "**.x")
    selection = Selection(patterns("sysctl", "pci"), patterns(*ignored), volatile=patterns("net"))
    assert compare(BEFORE, AFTER, selection).unused == ["pci", "+sysctl.values.vm.*", "**.x"]
    assert compare(BEFORE, BEFORE, selection).unused == ["sysctl", "pci", *ignored]


def test_a_pattern_met_though_another_had_the_fact_before_is_no_unused_one() -> None:
    assert compare(BEFORE, AFTER, ignore("sysctl", "sysctl.values.vm.x")).unused == []


def test_of_a_lost_function_the_facts_count_that_are_let_through() -> None:
    before, after = snapshot({"pci": pci(512)}), snapshot({"pci": pci(512, GPUS[1:])})
    whole = count_facts(gpu(512)) - 1  # the source is evidence
    found = mirrored(before, after, only("pci.functions.*.driver"))
    assert [(c.path, c.state, c.facts) for c in found.changes] == [(("functions", GPUS[0]), "removed", 1)]
    assert (found.counts.changed, found.counts.ignored, found.unused) == (1, whole - 1, [])
    found = mirrored(before, after, ignore("pci.functions.*.express"))
    assert (found.changes[0].facts, found.counts.ignored) == (whole - 3, 3)
    found = mirrored(before, after, ignore("pci.functions.*.[!x]*"))
    assert (found.changes, found.counts.ignored) == ([], whole)


def test_of_a_moved_function_either_address_is_meant() -> None:
    before = snapshot({"pci": {"functions": {"0000:01:00.0": gpu(4096, serial="1")}}})
    after = snapshot({"pci": {"functions": {"0000:02:00.0": gpu(512, serial="1")}}})
    for address in ("0000:01:00.0", "0000:02:00.0"):
        found = mirrored(before, after, ignore(f"pci.functions.{address}"))
        assert (found.changes, found.counts.ignored, found.unused) == ([], 1, [])
    assert [c.state for c in mirrored(before, after, only("pci.functions.*.express")).changes] == ["changed"]
    assert [c.state for c in mirrored(before, after, ignore("pci.functions.*.express")).changes] == ["moved"]


def test_what_cannot_be_compared_stays_as_long_as_something_wanted_may_be_in_it() -> None:
    bare = {"functions": {a: {k: v for k, v in gpu(0).items() if k != "express"} for a in GPUS}}
    paths = [["functions", address, "express"] for address in GPUS]
    before, after = snapshot({"pci": pci(4096)}), snapshot({"pci": bare}, unread={"pci": paths})
    ignored_if_added = ignore("+pci.functions.*.express")
    for selection, facts, ignored in [
        (only("pci.functions.*.express.type"), 8, 16), (only("pci.functions.*.express.link.width"), 8, 16),
        (only("-pci.functions.0000:01:00.0.express"), 3, 21), (only("pci.functions.*.driver"), 0, 24),
        (ignore("pci.functions.*.express"), 0, 24), (ignored_if_added, 24, 0),
        (ignore("pci.functions.*.express.type"), 16, 8),
        (only("net"), 0, 24),
    ]:
        found = mirrored(before, after, selection)
        assert (found.counts.not_comparable, found.counts.ignored) == (facts, ignored), selection
        assert len(found.incomparable) == (1 if facts == 3 else 8 if facts else 0)
        assert bool(found.unused) == (selection in (only("net"), only("pci.functions.*.driver"), ignored_if_added))


@pytest.mark.parametrize(("selection", "facts", "ignored"), [
    (EVERYTHING, 3, 0), (only("sysctl"), 3, 0), (only("sysctl.values.net.*"), 2, 1),
    (only("sysctl.values.kernel.x"), 1, 2),
    (only("pci"), 0, 3), (ignore("sysctl"), 0, 3), (ignore("sysctl.values.vm.*"), 2, 1),
    (ignore("sysctl.values"), 1, 2),
])
def test_a_section_that_failed_is_told_unless_nobody_wants_it(selection: Selection, facts: int, ignored: int) -> None:
    found = mirrored(BEFORE, snapshot({}, states={"sysctl": "failed"}), selection)
    assert (found.counts.not_comparable, found.counts.ignored, len(found.incomparable)) == (facts, ignored, bool(facts))


@pytest.mark.parametrize(("selection", "facts", "ignored"), [
    (EVERYTHING, 3, 0), (only("-sysctl.values.net.*"), 2, 1), (only("+sysctl"), 0, 3), (only("pci"), 0, 3),
    (ignore("sysctl.values.vm.x"), 2, 1),
])
def test_what_counts_of_a_section_shown_to_be_absent_is_gone(selection: Selection, facts: int, ignored: int) -> None:
    found = mirrored(BEFORE, snapshot({}, states={"sysctl": "absent"}), selection)
    assert (found.counts.changed, found.counts.ignored, len(found.changes)) == (facts, ignored, bool(facts))


def test_an_empty_section_shown_to_be_absent_is_gone_if_wanted() -> None:
    before, after = snapshot({"lxc": {"containers": {}}}), snapshot({}, states={"lxc": "absent"})
    selections = (EVERYTHING, only("lxc"), only("pci"), ignore("lxc"))
    assert [len(mirrored(before, after, selection).changes) for selection in selections] == [1, 1, 0, 0]


def test_files_and_meta_are_meant_by_their_names() -> None:
    before, after = (
        snapshot(EMPTY, states=ABSENT, files=files, meta=meta) for files, meta in (
            ({"/etc/a": "1", "/etc/b": "1"}, {"boot_id": "a", "kernel": "6.8"}),
            ({"/etc/a": "2", "/etc/c": "1"}, {"boot_id": "b", "kernel": "6.9"})))

    def left(selection: Selection) -> tuple[list[str], list[str], int]:
        found = mirrored(before, after, selection)
        assert found.unused == [] and found.counts.ignored == 0
        return [c.path[0] for c in found.meta], [c.path[0] for c in found.files], found.counts.ignored_others

    assert left(EVERYTHING) == (["boot_id", "kernel"], ["/etc/a", "/etc/b", "/etc/c"], 0)
    assert left(ignore("/etc/a", "meta.boot_id")) == (["kernel"], ["/etc/b", "/etc/c"], 2)
    assert left(only("-/etc/*")) == (["boot_id", "kernel"], ["/etc/b"], 2)
    assert left(only("meta")) == (["boot_id", "kernel"], [], 3)
    assert left(Selection(volatile=patterns("files./etc/*"))) == (["boot_id", "kernel"], [], 3)
    assert left(Selection(volatile=patterns("files./etc/*"), stable=patterns("/etc/a")))[1:] == (["/etc/a"], 2)


def test_a_file_that_may_be_unread_is_told_unless_nobody_wants_it() -> None:
    before, after = sysctl({"a": 1}, files={"/a": "1"}), snapshot({}, states={"sysctl": "failed"})
    for selection, told in ((only("/a"), 1), (only("sysctl"), 0), (ignore("/a"), 0), (ignore("-/a"), 1)):
        found = mirrored(before, after, selection)
        assert sum(e.section == "files" for e in found.incomparable) == told
        assert found.counts.ignored_others == 1 - told


def test_patterns_add_to_what_is_volatile_and_take_back() -> None:
    before, after = sysctl({"vm.user_reserve_kbytes": 1, "vm.x": 1}), sysctl({"vm.user_reserve_kbytes": 2, "vm.x": 2})

    def left(**more: Any) -> tuple[list[str], int]:
        found = mirrored(before, after, Selection(**more))
        return keys(found), found.counts.volatile

    vm = patterns("sysctl.values.vm.*")
    assert left() == (["vm.x"], 1)
    assert left(volatile=vm) == ([], 2)
    assert left(stable=vm) == (["vm.user_reserve_kbytes", "vm.x"], 0)
    assert left(volatile=vm, stable=patterns("sysctl.values.vm.x")) == (["vm.x"], 1)
    assert left(volatile=patterns("+sysctl")) == (["vm.x"], 1)
    assert left(volatile=vm, show_volatile=True) == (["vm.user_reserve_kbytes", "vm.x"], 0)
    assert left(volatile=vm, ignore=vm) == ([], 0)


def test_shown_volatile_facts_say_so_and_those_taken_back_do_not() -> None:
    before, after = sysctl({"vm.user_reserve_kbytes": 1}), sysctl({"vm.user_reserve_kbytes": 2})
    (shown,), (stable,) = (compare(before, after, selection).changes for selection in (
        Selection(show_volatile=True), Selection(show_volatile=True, stable=patterns("sysctl"))))
    assert shown.volatile and not stable.volatile
    assert [change.volatile for change in compare(before, after, True).changes] == [True]


def test_within_a_subtree_marked_volatile_a_part_can_be_taken_back() -> None:
    events = {"0000:01:00.0": {"xid": {"79": 1, "43": 1}}}
    before, after = (snapshot({"nvidia": {"loaded": True, "events": e}}) for e in (events, {}))
    found = mirrored(before, after, Selection(stable=patterns("nvidia.events.*.xid.79")))
    assert [(c.path, c.facts) for c in found.changes] == [(("events", "0000:01:00.0"), 1)]
    assert found.counts.volatile == 1


def test_numbers_within_a_tolerance_are_the_same() -> None:
    before, after = sysctl({"a": 100, "b": 100, "c": "1 2", "d": 0}), sysctl({"a": 101, "b": 110, "c": "1 2", "d": 1})
    selection = Selection(tolerances=(Tolerance.parse("sysctl", "1%"),))
    found = mirrored(before, after, selection)
    assert (keys(found), found.counts.same, found.counts.within) == (["b", "d"], 2, 1)
    both = (*selection.tolerances, Tolerance.parse("sysctl.values.b", 10))
    found = mirrored(before, after, Selection(tolerances=both))
    assert keys(found) == ["d"]


def test_tolerances_hold_for_cpu_tables_and_for_volatile_facts() -> None:
    cpus = [{"max_khz": {"2000000": "0-3"}}, {"max_khz": {"2000100": "0-2", "1000000": "3"}}]
    sides = [snapshot({"cpufreq": cpus[at], "memory": {"total_bytes": 1 << 30 - at}}) for at in (0, 1)]
    exact = mirrored(sides[0], sides[1], Selection(tolerances=(Tolerance.parse("cpufreq.max_khz", "1 MHz"),)))
    assert [(c.cpus, c.before, c.after) for c in exact.changes] == [("3", 2000000, 1000000)]
    assert (exact.counts.within, exact.counts.volatile) == (1, 1)
    slack = Selection(tolerances=(Tolerance.parse("memory.total_bytes", "1 GiB"),), stable=patterns("memory"))
    assert mirrored(sides[0], sides[1], slack).counts.within == 1


def test_a_unit_that_is_not_the_facts_is_warned_of_once_a_tolerance() -> None:
    before, after = (sysctl({"a": at, "b_bytes": at, "c_us": at, "d": str(at)}) for at in (1, 2))
    tolerances = Tolerance.parse("sysctl", "1 MiB"), Tolerance.parse("sysctl.values.a", "1 W")
    found = compare(before, after, Selection(tolerances=tolerances))
    assert keys(found) == ["a", "c_us", "d"]
    assert found.warnings == [
        "the tolerance 1 MiB of sysctl was not applied to sysctl.values.a, which has no unit in its name",
        "the tolerance 1 W of sysctl.values.a was not applied to sysctl.values.a, which has no unit in its name",
    ]


def test_sections_with_equal_text_are_not_parsed_under_a_selection_either() -> None:
    before, _ = story()
    selection = Selection(patterns("+pci"), patterns("**.driver"), tolerances=(Tolerance.parse("pci", "1%"),))
    with patch.object(Snapshot, "table", side_effect=AssertionError("parsed")):
        assert compare(before, before, selection).counts.same == compare(before, before).counts.same


def test_patterns_are_asked_for_what_differs_alone() -> None:
    before, after = (sysctl({f"key{at}": at for at in range(1000)} | {"x": x}) for x in (1, 2))
    with patch("snapshot.diff.selection.Sieve.fate", return_value="plain") as asked:
        compare(before, after, ignore("sysctl.values.key*"))
    assert asked.call_count == 1


TEXTS = st.lists(st.sampled_from([
    sign + text for sign in ("", "+", "-") for text in (
        "pci", "**", "pci.functions.*.driver", "pci.functions.0000:01:00.0", "pci.functions.*.express", "**.type",
        "sysctl.values.vm.a", "sysctl.values.*", "lxc.containers.101", "lxc.**.value", "devices.character.*",
        "pci.functions.*.express.type",
    )
]), max_size=3).map(lambda texts: patterns(*texts))
TOLERANCES = st.lists(st.sampled_from([
    Tolerance.parse("sysctl", "100%"), Tolerance.parse("sysctl.values.vm.a", 1), Tolerance.parse("pci", "4 KiB"),
    Tolerance.parse("**", "1%"),
]), max_size=2).map(tuple)
SELECTIONS = st.builds(Selection, TEXTS, TEXTS, TEXTS, TEXTS, TOLERANCES, st.booleans())


@given(snapshots(), snapshots(), SELECTIONS)
def test_the_changes_of_an_exchanged_pair_are_the_mirrored_ones_under_the_exchanged_selection(
    before: Snapshot, after: Snapshot, selection: Selection
) -> None:
    mirrored(before, after, selection)


def differing(found: Diff) -> int:
    counts = found.counts
    return counts.changed + counts.not_comparable + counts.ignored + counts.volatile + counts.within


@given(snapshots(), snapshots(), SELECTIONS)
def test_a_selection_loses_no_fact_and_makes_none_up(before: Snapshot, after: Snapshot, selection: Selection) -> None:
    whole, part = compare(before, after), compare(before, after, selection)
    assert differing(part) == differing(whole)
    assert (part.counts.same - part.counts.within, part.counts.evidence) == (whole.counts.same, whole.counts.evidence)
    changes = {(c.section, c.path, c.state, repr((c.before, c.after))): c.facts for c in whole.changes}
    for change in part.changes:
        assert change.facts <= changes[change.section, change.path, change.state, repr((change.before, change.after))]


@given(snapshots(), snapshots(), TEXTS)
def test_what_only_leaves_in_and_what_ignore_leaves_out_make_up_the_whole(
    before: Snapshot, after: Snapshot, texts: tuple[Pattern, ...]
) -> None:
    kept, left = (compare(before, after, selection) for selection in (Selection(only=texts), Selection(ignore=texts)))
    if texts:
        assert kept.counts.changed + left.counts.changed == compare(before, after).counts.changed


def test_the_story_without_what_the_user_knows_of() -> None:
    before, after = story()
    found = mirrored(before, after, ignore("sysctl", "pci.functions.*.express.max_read_request_bytes", "cmdline"))
    assert {change.section for change in found.changes} == {"devices"}
    assert found.counts.ignored == compare(before, after).counts.changed - found.counts.changed


def test_a_container_is_meant_by_its_number() -> None:
    before, after = (snapshot({"lxc": lxc(major), "devices": devices(508)}) for major in (508, 511))
    assert mirrored(before, after, ignore("lxc.containers.101.live.device_rules.0.value")).changes == []
