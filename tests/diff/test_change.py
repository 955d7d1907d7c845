"""What a change says of its two values."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.diff.change import MISSING, Change, State

PACKAGE = ("packages", "installed", "linux-image", "version")


@pytest.mark.parametrize(("path", "before", "after", "direction"), [
    (("sysctl", "values", "x"), 1, 2, "up"), (("sysctl", "values", "x"), 2, 1, "down"), (("x", "y"), 1.5, 2.5, "up"),
    (("x", "y"), 1, 1.5, ""), (("x", "y"), False, True, ""), (("x", "y"), float("nan"), 1.0, ""),
    (("x", "y"), "1", "2", ""),
    (("x", "y"), [1], [2], ""), (("x", "y"), "powersave", "performance", ""), (("x", "y"), 1, "2.0", ""),
    (("nvidia", "driver", "version"), "570.124.06", "575.51.03", "up"),
    (("nvidia", "driver", "version"), "550.9", "550.10", "up"),
    (("x", "y"), "1.0", "1.00", ""), (("x", "y"), "96.00.af.00.01", "96.00.b0.00.01", ""),
    (("x", "y"), "1.0", "1.0-rc1", ""),
    (PACKAGE, "1:1.0-1", "1.0-2", "down"), (PACKAGE, "2.3~beta1", "2.3", "up"),
    (PACKAGE, "6.8.12-9", "6.8.12-11", "up"),
    (("packages", "installed", "p", "held"), "1-1", "1-2", ""), (("os", "proxmox_ve"), "8.4.1", "9.0.3~1", "up"),
    (("os", "codename"), "a", "b", ""),
    (("kernel", "release"), "6.8.12-9-pve", "6.14.11-1-pve", "up"), (("meta", "kernel"), "6.9-rc1", "6.9", "up"),
])
def test_whether_a_number_or_version_went_up_or_down(
    path: tuple[str, ...], before: Any, after: Any, direction: str
) -> None:
    change = Change(path[0], path[1:], "changed", before, after)
    assert change.direction == direction
    assert change.mirrored().direction == {"up": "down", "down": "up", "": ""}[direction]


@pytest.mark.parametrize("state", ["added", "removed", "moved"])
def test_what_one_side_has_and_what_moved_has_no_direction(state: State) -> None:
    before, after = MISSING if state == "added" else 1, MISSING if state == "removed" else 2
    assert Change("x", ("y",), state, before, after).direction == ""
