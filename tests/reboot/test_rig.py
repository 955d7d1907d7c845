"""The rig itself, without booting: its chain fits together, and its disk is one that a BIOS boots."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest

from .disk import CODE, SECTOR, START, table
from .machine import QEMU
from .stages import HOSTS, Stage
from .tunables import NAMES, chosen
from .verdicts import Hits, starts

CHAINS = [stages for _, chains in HOSTS.values() for stages in chains]


@pytest.mark.parametrize("stages", CHAINS, ids=lambda stages: stages[0].name)
def test_each_stage_has_the_kernel_that_the_one_before_chose(stages: tuple[Stage, ...]) -> None:
    saved = stages[0].kernel
    for stage, after in pairwise(stages):
        saved = stage.next if stage.how == "grub-set-default" else saved
        assert after.kernel == stage.next == (stage.next if stage.how == "grub-reboot" else saved), stage.name
    assert len({stage.name for stage in stages}) == len(stages)


def test_a_seed_chooses_half_of_the_tunables_and_always_the_same() -> None:
    halves = [chosen(stage.seed) for stages in CHAINS for stage in stages if stage.seed is not None]
    assert all(len(half) == len(NAMES) // 2 for half in halves) and len({*halves}) == len(halves) >= 10
    assert chosen(1) == chosen(1) and {name for half in halves for name in half} == {*NAMES}


def test_the_partition_table() -> None:
    found = table(4096)
    assert len(found) == SECTOR - CODE and found[-2:] == b"\x55\xaa"
    assert struct.unpack_from("<II", found, 14) == (START, 4096) and (found[6], found[10]) == (0x80, 0x83)


def test_hits() -> None:
    hits = Hits(right=["a"], missed=["b"], false=["c", "d", "e"])
    assert (hits.recall, hits.precision) == (0.5, 0.25)
    hits.add(Hits(right=["f", "g"], may=["h"]))
    assert str(hits) == "R 0.75 P 0.50 (may 1)" and (Hits().recall, Hits().precision) == (1.0, 1.0)


def test_a_change_of_a_table_that_holds_a_fact_is_one_of_the_fact() -> None:
    assert starts(("a", "b", "c"), {("a", "b")}) and starts(("a", "b"), {("a", "b", "c")})
    assert not starts(("a", "b"), {("a", "c")})


def test_the_machine_is_emulated() -> None:
    assert QEMU[QEMU.index("-accel") + 1].startswith("tcg") and "-no-reboot" in QEMU
