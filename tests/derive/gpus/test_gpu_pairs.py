from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.gpu_pairs import gpu_pairs

from ...pairs import snapshot

A, B, NIC = "0000:01:00.0", "0000:02:00.0", "0000:61:00.0"


def nvidia(path: str | None = "PIX", p2p: tuple[str, str] | None = ("OK", "OK"), gpus: Any = (A, B)) -> dict[str, Any]:
    first, second = gpus
    ids = sorted(gpus)
    found: dict[str, Any] = {"gpus": {f"GPU-{n}": {"uuid": f"GPU-{n}", "address": a} for n, a in enumerate(gpus)}}
    if path:
        found["topology"] = {"ids": ids, "rows": [["X", path], [path, "X"]]}
    if p2p:
        cells = p2p if first < second else p2p[::-1]
        found["p2p_read"] = {"ids": ids, "rows": [["X", cells[0]], [cells[1], "X"]]}
    return {"nvidia": found}


def row(now: dict[str, Any], then: dict[str, Any] | None = None, key: str = f"{A} {B}", **more: Any) -> dict[str, Any]:
    found = gpu_pairs(snapshot(now, **more), snapshot(then) if then else None)
    assert not found.unknown
    return found.rows[key]


@pytest.mark.parametrize(
    ("before", "now", "farther"),
    [
        ("PIX", "NODE", True),
        ("PIX", "PXB", True),
        ("NV4", "PIX", True),
        ("NV4", "NV3", True),
        ("PHB", "PHB", False),
        ("SYS", "NODE", False),
        ("PIX", "NV18", False),
        ("PIX", "C2C", None),
    ],
)
def test_distances(before: str, now: str, farther: bool | None) -> None:
    found = row(nvidia(now), nvidia(before))
    assert (found["path_before"], found["path"], found.get("farther")) == (before, now, farther)
    assert found.get("nearer") == (None if farther is None else not farther and before != now)


@pytest.mark.parametrize(
    ("cells", "word"), [(("OK", "OK"), "OK"), (("OK", "CNS"), "CNS"), (("DR", "OK"), "DR"), (("NS", "NS"), "NS")]
)
def test_both_directions_have_to_be_ok(cells: tuple[str, str], word: str) -> None:
    found = row(nvidia(p2p=cells), nvidia())
    assert found["p2p"] == word and found["p2p_lost"] == (word != "OK")


def test_gpus_are_known_by_their_uuids() -> None:
    then = nvidia("PIX", gpus=("0000:41:00.0", "0000:42:00.0"))
    assert row(nvidia("SYS"), then)["farther"]
    swapped = nvidia("PIX", gpus=(B, A))
    assert row(swapped, nvidia("PIX"))["farther"] is False


def test_nics_are_known_by_the_pairing() -> None:
    gpu = {"GPU-0": {"uuid": "GPU-0", "address": A}}

    def host(nic: str, path: str) -> dict[str, Any]:
        matrix = {"ids": [A, nic], "rows": [["X", path], [path, "X"]]}
        function = {"vendor": "15b3", "device": "1021", "serial": "00-01", "source": "config"}
        return {"nvidia": {"gpus": gpu, "topology": matrix}, "pci": {"functions": {nic: function}}}

    found = row(host("0000:71:00.0", "SYS"), host(NIC, "PHB"), f"{A} 0000:71:00.0")
    assert found["path_before"] == "PHB" and found["pair"] == f"GPU {A} and NIC 0000:71:00.0"


def test_two_nics_are_no_pair() -> None:
    gpu = {"GPU-0": {"uuid": "GPU-0", "address": "0000:71:00.0"}}
    matrix = {"ids": [NIC, "0000:62:00.0"], "rows": [["X", "PIX"], ["PIX", "X"]]}
    assert gpu_pairs(snapshot({"nvidia": {"gpus": gpu, "topology": matrix}}), None).rows == {}


def test_a_matrix_alone() -> None:
    found = row(nvidia(p2p=None), nvidia(p2p=None), unread={"nvidia": [["p2p_read"]]})
    assert found["farther"] is False and found["unknown"].keys() == {"p2p", "p2p_lost"}


def test_a_matrix_that_was_not_read_before() -> None:
    then = snapshot(nvidia(None), unread={"nvidia": [["topology"]]})
    found = gpu_pairs(snapshot(nvidia("SYS")), then).rows[f"{A} {B}"]
    assert found["unknown"].keys() == {"path_before", "farther", "nearer"} and "farther" not in found


def test_neither_matrix() -> None:
    tables = nvidia(None, None)
    found = gpu_pairs(snapshot(tables, unread={"nvidia": [["topology"], ["p2p_read"]]}), None)
    assert not found.rows and [gap["subject"] for gap in found.unknown] == [""]


def test_no_nvidia() -> None:
    found = gpu_pairs(snapshot({}, states={"nvidia": "absent"}), None)
    assert not found.rows and not found.unknown
