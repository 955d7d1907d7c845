"""What is foreseen, in lines: taken together, shortened, never obeyed by a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.forecasts.forecast import Outlook
from snapshot.derive.forecasts.forecast_prediction import Prediction, Status
from snapshot.derive.forecasts.forecast_score import Score
from snapshot.report.forecast import brief, came_true, counts, header, lines, table, write
from snapshot.report.paper import Paper

from ..derive.tuned import host


def made(name: str, status: Status = "reverts", now: Any = 10, then: Any = 60, **more: Any) -> Prediction:
    told: dict[str, Any] = {"kind": "sysctl", "why": "because", "path": ("sysctl", "values", name)} | more
    key = f"{told['kind']} {told.get('subject', '')} {name}"
    return Prediction(key, name=name, status=status, now=now, next=then, **told)


def outlook(*found: Prediction, boot: dict[str, Any] | None = None, **tables: Any) -> Outlook:
    return Outlook(host(boot=boot or {}, **tables), list(found), {})


def said(*found: Prediction, everything: bool = False, **tables: Any) -> list[str]:
    return [f"{line.status} {line.what}" for line in lines(outlook(*found, **tables), everything)]


@pytest.mark.parametrize(("boot", "text"), [
    ({"next": {"kernel": "6.14", "by": "newest kernel in /boot"}},
     "If pve1 rebooted now, it would boot 6.14 (newest kernel in /boot)."),
    ({"next": {"kernel": "6.14", "by": "asked for"}}, "If pve1 booted 6.14:"),
    ({}, "If pve1 rebooted now: which kernel it would boot is not known."),
])
def test_the_kernel(boot: dict[str, Any], text: str) -> None:
    assert header(outlook(boot=boot)) == text


def test_the_worst_first_and_what_is_kept_only_on_demand() -> None:
    found = [made("d", "kept", 1, 1), made("c", "may", then=None), made("b", "changes"), made("a")]
    assert said(*found) == ["reverts a 10 -> 60", "changes b 10 -> 60", "may c 10"]
    assert said(*found, everything=True)[-1] == "kept d 1"


def test_alike_on_many_is_one_line() -> None:
    gpu = {"vendor": "10de", "device": "2bb5", "class_code": "030200", "source": "config"}
    addresses = [f"0000:0{n}:00.0" for n in range(1, 4)]
    path = ("pci", "functions", "x", "express", "max_read_request_bytes")
    found = [made("MaxReadReq", now=4096, then=512, kind="pci", subject=one, path=path) for one in addresses]
    functions = {"functions": dict.fromkeys(addresses, gpu)}
    assert said(*found, pci=functions) == ["reverts MaxReadReq 4096 -> 512 on 3 GPUs"]
    assert said(*found, pci={"functions": {}}) == ["reverts MaxReadReq 4096 -> 512 on 3 PCI functions"]
    assert said(found[0], pci=functions) == ["reverts MaxReadReq 4096 -> 512 on 0000:01:00.0"]


def test_values_are_said_with_their_unit() -> None:
    path = ("nvidia", "gpus", "G", "state", "power", "limit_mw")
    assert said(made("power-limit", now=450000, then=600000, kind="nvidia", subject="G", path=path)) == [
        "reverts power-limit 450 W -> 600 W on G"]


def test_many_with_one_reason_are_one_line() -> None:
    found = [made(f"k{at}", "may", then=None, why="a script may set it") for at in range(9)]
    assert said(*found) == ["may 9 settings: k0 10, k1 10, k2 10, k3 10 and 5 more"]
    assert len(said(*found, everything=True)) == 9


@pytest.mark.parametrize(("now", "then", "text"), [
    ("", "a=1", "changes cmdline + a=1"), ("a=1", "", "changes cmdline - a=1"),
    ("a=1", "a=2", "changes cmdline - a=1 + a=2"),
])
def test_words_of_the_command_line(now: str, then: str, text: str) -> None:
    assert said(made("a", "changes", now, then, kind="cmdline")) == [text]


def test_what_is_only_counted() -> None:
    found = [made("a", "kept"), made("b", "kept", plain=True), made("c", "may", plain=True)]
    assert dict(counts(outlook(*found))) == {
        "KEPT": "2 settings (1 by what sets them at boot; --all lists those that something sets)",
        "OPEN": "1 setting that nothing is seen to set, and no evidence tells of",
    }
    assert [word for word, _ in brief(outlook(*found))] == ["KEPT", "OPEN"]
    assert list(counts(outlook())) == []


def test_a_hostile_value_does_not_reach_the_terminal() -> None:
    paper = Paper()
    write(paper, outlook(made("a\x1b[2J", now="\x1b]0;x\x07", why="\x1b[31m")), False)
    assert "\x1b" not in paper.text() and "\x07" not in paper.text()


def test_how_it_ended() -> None:
    one, other = made("vm.swappiness"), made("MaxReadReq", kind="pci", subject="0000:01:00.0")
    assert came_true(Score(true=14, missed=[one])) == "14 of 15 came true; missed: vm.swappiness"
    assert came_true(Score(true=1, wrong=[other], not_scored=[one])) == (
        "1 of 2 came true; wrong: MaxReadReq 0000:01:00.0; 1 not scored")
    assert table(None, Score(true=1, wrong=[one]))["forecast_score"]["wrong"] == [one.key]
    assert table(None, None) == {}
