"""Public pairs of reports, compared: what is known of them comes out."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from snapshot.bench.adding import load
from snapshot.bench.comparing.compare import compare
from snapshot.bench.comparing.comparison import Benchmarks
from snapshot.bench.merging import Addition
from snapshot.sections.bench import Bench

CORPUS = os.environ.get("SNAP_CORPUS")
pytestmark = pytest.mark.skipif(not CORPUS, reason="SNAP_CORPUS names no folder of public raw files")
LLAMA = "bench-llama-bench-jsonl"


def measured(*patterns: str) -> Bench:
    """The section with every report that a pattern names."""
    found = Bench(measurements={})
    for path in (path for pattern in patterns for path in sorted(Path(CORPUS or "").glob(pattern))):
        found = Addition(report=load(str(path)).report).merged(found)
    assert found.measurements or found.grids
    return found


def compared(before: str, after: str) -> Benchmarks:
    return compare(measured(before), measured(after))


def test_four_nodes_a_socket_are_within_the_band_of_one() -> None:
    """Triad is 4.8 % faster, of a single run each."""
    found = compared("bench-stream/epyc9654x2-nps1-96t.txt", "bench-stream/epyc9654x2-nps4-96t.txt")
    [triad] = [one.effect for one in found.comparisons if one.measured.metric == "triad"]
    assert (triad.verdict, round(triad.percent or 0, 1)) == ("same", 4.8)


def test_a_slow_pair_of_nodes_is_worse_at_every_size() -> None:
    found = compared("bench-nccl-tests/c00_nccl_N2_G1_cnode2-003*", "bench-nccl-tests/c00-slowpair*")
    assert {one.effect.verdict for one in found.comparisons} == {"worse"}


def test_google_benchmarks_own_pair_is_what_its_names_say() -> None:
    found = compared("bench-google-benchmark/test1_run1.json", "bench-google-benchmark/test1_run2.json")
    verdicts = {one.measured.workload["name"]: one.effect.verdict for one in found.comparisons
                if one.measured.metric == "real_time"}
    assert {name: verdicts[name] for name in (
        "BM_SameTimes", "BM_2xFaster", "BM_2xSlower", "BM_1PercentSlower", "BM_10PercentSlower")} == {
        "BM_SameTimes": "same", "BM_2xFaster": "better", "BM_2xSlower": "worse", "BM_1PercentSlower": "same",
        "BM_10PercentSlower": "worse"}


def test_without_an_iommu_prefill_is_better_at_every_depth() -> None:
    found = compared(f"{LLAMA}/default-profile/*", f"{LLAMA}/profile_performance_iommu-off/*")
    prefill = [one.effect.verdict for one in found.comparisons if one.measured.workload.get("n_gen") == "0"]
    assert Counter(prefill) == {"better": 18}
    depths = [ladder.words for ladder in found.ladders if ladder.parameter == "n_depth"]
    assert depths.count("better at every n depth, 0 to 65536") == 2


@pytest.mark.parametrize("pattern", ["bench-p2pbandwidthlatency/esc*", "bench-nvbandwidth/h100*", "bench-fio/*.json"])
def test_a_report_against_itself_shows_nothing(pattern: str) -> None:
    found = compared(pattern, pattern)
    verdicts = {one.effect.verdict for one in found.comparisons} | {one.effect.verdict for one in found.grids}
    assert verdicts <= {"same", "not-comparable"}
    assert found.remarks == []
