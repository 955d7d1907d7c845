"""What two captures teach between which nothing changed; what they must not; which are none."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot import tomlio
from snapshot.diff import compare
from snapshot.diff.null import Learned, learn
from snapshot.diff.pattern import Pattern
from snapshot.diff.selection import Selection
from snapshot.document import Snapshot

from ..pairs import GPUS, snapshot

SAME: dict[str, Any] = {"boot_id": "a", "machine": "b" * 32, "label": "one"}


def side(sections: dict[str, dict[str, Any]], **meta: Any) -> Snapshot:
    return snapshot(sections, meta=SAME | meta)


def nothing(path: tuple[str, ...]) -> bool:
    return False


def thp(**sizes: str) -> dict[str, Any]:
    return {"memory": {"thp": {"sizes": {size: {"enabled": word} for size, word in sizes.items()}}}}


def irq(*cpus: str) -> dict[str, Any]:
    devices = {f"0000:0{at}:00.0": {"nvme0q*": {"affinity": {cpu: "0"}, "irqs": "9"}} for at, cpu in enumerate(cpus)}
    return {"irq": {"devices": devices}}


def learnt(before: dict[str, Any], after: dict[str, Any], judged: Any = nothing) -> Learned:
    """What is learnt, once it has been checked that it makes the two the same."""
    one, other = side(before), side(after)
    found = learn(one, other, judged)
    left = compare(one, other, Selection(volatile=tuple(map(Pattern.parse, found.patterns)))).changes
    assert [change for change in left if change.state != "moved"] == list(found.judged)
    return found


def test_the_same_field_of_several_items_is_one_pattern() -> None:
    assert learnt(thp(a="x", b="x", c="x"), thp(a="y", b="y", c="x")).patterns == ("memory.thp.sizes.*.enabled",)
    assert learnt(thp(a="x", b="x"), thp(a="y", b="x")).patterns == ("memory.thp.sizes.a.enabled",)


def test_only_keys_that_differ_become_stars() -> None:
    assert learnt(irq("0", "1"), irq("1", "0")).patterns == ('irq.devices.*."nvme0q*".affinity',)


def test_last_keys_are_facts_of_their_own() -> None:
    before, after = ({"sysctl": {"values": {"vm.a": at, "vm.b c": at, "vm.c": 1}}} for at in (1, 2))
    assert learnt(before, after).patterns == ('sysctl.values."vm.b c"', "sysctl.values.vm.a")
    loaded = {name: {"srcversion": name} for name in ("a", "sd_mod", "scsi_mod")}
    sides = [{"modules": {"loaded": modules}} for modules in ({"a": loaded["a"]}, loaded)]
    assert learnt(sides[0], sides[1]).patterns == ("modules.loaded.scsi_mod", "modules.loaded.sd_mod")


def test_one_parameter_of_several_modules_is_one_pattern() -> None:
    before, after = ({"modules": {"loaded": {name: {"parameters": {"p": at}} for name in "ab"}}} for at in "12")
    assert learnt(before, after).patterns == ("modules.loaded.*.parameters.p",)


def test_what_is_known_to_be_volatile_is_not_learnt_again() -> None:
    sides = ({"memory": {"total_bytes": at}, "sysctl": {"values": {"vm.user_reserve_kbytes": at}}} for at in (1, 2))
    before, after = sides
    assert learnt(before, after).patterns == ()


def test_what_a_rule_judges_is_handed_back_with_its_values() -> None:
    before, after = ({"sysctl": {"values": {"vm.a": at, "vm.b": at}}} for at in (1, 2))
    found = learnt(before, after, lambda path: path == ("sysctl", "values", "vm.b"))
    assert found.patterns == ("sysctl.values.vm.a",)
    assert [(c.path, c.before, c.after) for c in found.judged] == [(("values", "vm.b"), 1, 2)]


def test_no_pattern_takes_in_an_item_that_a_rule_judges_though_it_did_not_differ() -> None:
    before, after = thp(a="x", b="x", c="x"), thp(a="y", b="y", c="x")
    found = learnt(before, after, lambda path: path == ("memory", "thp", "sizes", "c", "enabled"))
    assert found.patterns == ("memory.thp.sizes.a.enabled", "memory.thp.sizes.b.enabled") and found.judged == ()
    found = learnt(before, after, lambda path: "*" in path)
    assert found.patterns == ("memory.thp.sizes.a.enabled", "memory.thp.sizes.b.enabled")


def test_an_added_item_is_judged_by_all_that_it_holds() -> None:
    found = learnt(thp(), thp(a="x"), lambda path: path[-1] == "enabled")
    assert found.patterns == () and [change.state for change in found.judged] == ["added"]


@pytest.mark.parametrize(("meta", "words"), [
    ({"machine": "c" * 32}, "two machines"), ({"host": "pve2"}, "two machines, pve1 and pve2"),
    ({"kernel": "6.9"}, "two kernels, 6.8.12-9-pve and 6.9"),
    ({"kernel": "6.9"}, "two kernels, 6.8.12-9-pve and 6.9"),
    ({"kernel": None}, "an unknown one"), ({"redacted": True}, "redacted"),
])
def test_two_that_are_not_alike_teach_nothing(meta: dict[str, Any], words: str) -> None:
    for sides in ((side({}), side({}, **meta)), (side({}, **meta), side({}))):
        with pytest.raises(ValueError, match="nothing can be learnt") as caught:
            learn(*sides, nothing)
        assert words.split(",")[0] in str(caught.value)


@pytest.mark.parametrize(("one", "other", "words"), [
    ("failed", None, "section sysctl was not read before: failed: because"),
    (None, "timeout", "was not read after: timeout: because"),
    ("failed", "failed", "was not read before"), ("denied", None, "denied"), ("skipped", None, "skipped"),
    ("absent", None, "absent before only"),
    (None, "absent", "absent after only"),
])
def test_a_section_that_a_side_does_not_have_teaches_nothing(one: Any, other: Any, words: str) -> None:
    whole = {"sysctl": {"values": {"a": 1}}}
    sides = [
        snapshot({}, states={"sysctl": state}, meta=SAME) if state else snapshot(whole, meta=SAME)
        for state in (one, other)
    ]
    with pytest.raises(ValueError) as caught:
        learn(sides[0], sides[1], nothing)
    assert words in str(caught.value)


@pytest.mark.parametrize("state", ["absent", "denied", "skipped"])
def test_what_neither_side_has_does_not_matter(state: Any) -> None:
    sides = [snapshot({}, states={"sysctl": state}, meta=SAME) for _ in range(2)]
    assert learn(sides[0], sides[1], nothing).patterns == ()


def test_facts_that_a_side_could_not_read_are_not_learnt() -> None:
    unread = {"sysctl": [["values", "b"]]}
    tables = ({"sysctl": {"values": values}} for values in ({"a": 1}, {"a": 1, "b": 2}))
    sides = [snapshot(table, unread=unread, meta=SAME) for table in tables]
    assert learn(sides[0], sides[1], nothing).patterns == ()


def test_two_boots_and_moves_are_warned_of() -> None:
    assert learn(side({}), side({}), nothing).warnings == ()
    assert "two boots" in learn(side({}), side({}, boot_id="z"), nothing).warnings[0]
    assert "not known" in learn(side({}), side({}, boot_id=None), nothing).warnings[0]
    assert "two versions of hostsnap" in learn(side({}), side({}, tool="1"), nothing).warnings[0]
    sides = [snapshot({}, meta=SAME, files={"/etc/a": total, "/etc/b": "1"}) for total in "12"]
    (warning,) = learn(sides[0], sides[1], nothing).warnings
    assert warning.endswith("files differ: /etc/a")
    one, other = ({"pci": {"functions": {key: {"serial": "1", "source": "config"}}}} for key in GPUS[:2])
    found = learnt(one, other)
    assert found.patterns == ()
    assert found.warnings == ("items that stand under other keys than before are not learnt: 1",)


def test_the_file_holds_the_patterns_and_says_where_they_come_from() -> None:
    keys = ["vm.a", 'x"y', "b\\c\udcff", "é\x7f\n", "*", "[a]"]
    before, after = (side({"sysctl": {"values": dict.fromkeys(keys, at)}}, label=f"l{at}") for at in (1, 2))
    found = learn(before, after, nothing)
    text = found.toml()
    assert tomlio.loads(text, "x") == {"volatile": {"add": sorted(found.patterns)}}
    assert text.endswith(tomlio.dumps({"volatile": {"add": sorted(found.patterns)}})) and text.isascii()
    comment = [line for line in text.split("\n") if line.startswith("#")]
    assert "pve1 l1 2026-01-01T00:00:00Z" in comment[1] and "pve1 l2" in comment[2]
    again = Selection(volatile=tuple(map(Pattern.parse, found.patterns)))
    assert compare(before, after, again).counts.volatile == len(keys)


def test_a_hostile_name_stays_within_its_comment_and_nothing_learnt_is_an_empty_list() -> None:
    one, other = side({}, label="x\n[rules]\n"), side({}, label="\udcff\x1b")
    text = learn(one, other, nothing).toml()
    assert tomlio.loads(text, "x") == {"volatile": {"add": []}}
    assert "\\u000a[rules]" in text and "\x1b" not in text
