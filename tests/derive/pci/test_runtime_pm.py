from __future__ import annotations

from snapshot.derive.pci.runtime_pm import runtime_pm

from ...pairs import snapshot
from ..machines import GPU1, GPU2, ROOT, function, gpu, plain


def test_it_follows_a_device_that_moved() -> None:
    serial = "00-00-00-00-00-00-00-01"
    then = snapshot({"pci": plain(serial=serial), "power": {"runtime_pm": {GPU1: "on", ROOT: "auto"}}})
    functions = {ROOT: function("root port", []), GPU2: gpu([ROOT], serial=serial)}
    now = snapshot({"pci": {"functions": functions}, "power": {"runtime_pm": {GPU2: "auto", ROOT: "auto"}}})
    assert runtime_pm(now, then).rows == {
        GPU2: {"address": GPU2, "noun": "GPU", "control": "auto", "control_before": "on"}}
    assert "control_before" not in runtime_pm(now, None).rows[GPU2]


def test_a_device_without_the_file_has_a_row_and_no_value() -> None:
    assert runtime_pm(snapshot({"pci": plain()}), None).rows == {GPU1: {"address": GPU1, "noun": "GPU"}}


def test_unknown_functions() -> None:
    found = runtime_pm(snapshot({"pci": {"functions": {}}}, unread={"pci": [["functions"]]}), None)
    assert [gap["subject"] for gap in found.unknown] == [""]
