from __future__ import annotations

import pytest

from snapshot.derive import FACTS, derived

from ..made import snapshot


def test_moved_and_who_has_the_old_number_now() -> None:
    before = snapshot(
        devices={"character": {"nvidia-uvm": [508], "nvidia-caps": [509], "tpm": [254]}, "block": {}}
    )
    after = snapshot(
        devices={"character": {"nvidia-uvm": [511], "hidraw": [508], "nvidia-caps": [509]}, "block": {}}
    )
    rows = derived("driver_majors", after, before).rows
    assert rows["c nvidia-uvm"] == {
        "type": "c",
        "driver": "nvidia-uvm",
        "majors": [511],
        "majors_before": [508],
        "moved": True,
        "old_owners": {"508": ["hidraw"]},
    }
    assert rows["c nvidia-caps"]["moved"] is False
    assert (rows["c hidraw"]["majors_before"], rows["c hidraw"]["moved"]) == ([], False)
    assert (rows["c tpm"]["majors"], rows["c tpm"]["moved"], rows["c tpm"]["old_owners"]) == ([], False, {})


def test_same_number_in_both_sections_and_several_names_for_one() -> None:
    both = {"character": {"vcs": [7], "tty": [4, 5], "ttyS": [4]}, "block": {"loop": [7]}}
    rows = derived(
        "driver_majors", snapshot(devices=both), snapshot(devices=both | {"block": {"loop": [8]}})
    ).rows
    assert rows["b loop"]["moved"] and not rows["c vcs"]["moved"] and rows["b loop"]["old_owners"] == {}
    assert rows["c tty"]["majors"] == [4, 5]


def test_without_a_before_nothing_is_said_of_it() -> None:
    after = snapshot(devices={"character": {"drm": [226]}, "block": {}})
    for before in (None, snapshot({"devices": ["character"]}, devices={"character": {}, "block": {}})):
        assert derived("driver_majors", after, before).rows == {
            "c drm": {"type": "c", "driver": "drm", "majors": [226]}
        }


def test_unread_is_unknown() -> None:
    found = derived(
        "driver_majors", snapshot({"devices": ["character"]}, devices={"character": {}, "block": {}}), None
    )
    assert not found.rows and [u["subject"] for u in found.unknown] == ["c "]


def test_every_table_answers_for_snapshots_that_hold_nothing() -> None:
    empty = snapshot()
    for name in FACTS:
        known = [row for row in derived(name, empty, empty).rows.values() if "unknown" not in row or "now" in row]
        assert not known, f"{name} knows something of a host of which nothing was read"
    with pytest.raises(KeyError):
        derived("nothing", empty, None)
