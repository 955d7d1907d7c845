"""Names of measurements, figures, noise bands and the file of their defaults."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from snapshot.bench.comparing.bands import Band, band, load, shipped
from snapshot.bench.comparing.naming import figures, names, percent
from snapshot.errors import FormatError
from snapshot.sections.bench import KINDS

from .made import bench, measurement


@pytest.mark.parametrize(("values", "said"), [
    ((10.3, 10.36), ["10.30", "10.36"]), ((1614.19, 1700), ["1614", "1700"]), ((0.62, 13.8), ["0.62", "13.80"]),
    ((10.3, 7.9), ["10.30", "7.90"]), ((0, 0), ["0.00", "0.00"]), ((0, 5), ["0.000", "5.000"]),
    ((2.6e-7, 2.5e-7), ["2.6e-07", "2.5e-07"]), ((-3.5, 4), ["-3.500", "4.000"]), ((1e18, 1), ["1e+18", "1"]),
    ((0.004, 400), ["0.0040", "400.0000"]), ((math.inf, 1), ["inf", "1"]),
])
def test_figures_tell_two_values_apart(values: tuple[float, float], said: list[str]) -> None:
    assert figures(*values) == said


@pytest.mark.parametrize(("value", "said"), [(-0.5825, "0.58 %"), (12.3, "12 %"), (-99.9, "100 %"), (1641.2, "1641 %")])
def test_percent(value: float, said: str) -> None:
    assert percent(value) == said


def test_a_name_has_what_tells_it_from_its_like() -> None:
    loads = [measurement(1, workload={"concurrency": load, "model": "a"}) for load in ("1", "64")]
    called = names(bench(*loads).measurements)
    assert sorted(called.values()) == [f"sglang output_throughput, concurrency {load}" for load in (1, 64)]
    other = measurement(1, metric="triad", workload={"array_size": "80000000"})
    assert [*names(bench(other).measurements).values()] == ["sglang triad"]


def test_keys_that_follow_from_others_are_not_named() -> None:
    loads = [measurement(1, workload={"model": model, "path": f"/m/{model}", "size": size})
             for model in ("a", "b") for size in ("1", "2")]
    called = names(bench(*loads).measurements).values()
    assert "sglang output_throughput, model a, size 2" in called
    assert not any("path" in name for name in called)


@pytest.mark.parametrize(("noise", "percent"), [
    ({}, 5), ({"output_throughput": 3}, 3), ({"out*": 3, "output_thr*": 4}, 4), ({"sglang/out*": 2}, 2),
    ({"sglang/output_throughput/1a2b": 1}, 1), ({"vllm/*": 9}, 5), ({"*": 0}, 0),
])
def test_the_longest_pattern_counts(noise: dict[str, float], percent: float) -> None:
    assert band(noise, "sglang/output_throughput/1a2b", measurement(1)).percent == percent


def test_the_defaults_name_kinds_and_where_they_come_from() -> None:
    assert band({}, "", measurement(1, kind="p2p-latency")).percent == 20
    assert band({}, "", measurement(1, kind=None)).percent == 5
    assert all(one.source.strip() and set(one.kinds or ()) <= KINDS.keys() for one in shipped())


def test_the_fewer_runs_tell_the_noise_the_wider_the_band() -> None:
    widths = [Band(5, 3).widened(4, n, m) for n, m in ((1, 2), (2, 2), (2, 3), (3, 3), (4, 4))]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == 12
    assert Band(5, 3).widened(None, 1, 1) == Band(5, 3).widened(0.1, 2, 2) == 5


@pytest.mark.parametrize(("text", "said"), [
    ("", "for all kinds"), ("noise = 1", "for all kinds"), ("[[noise]]\npercent = 5\nfactor = 3\n", "source"),
    ('[[noise]]\nkinds = ["gpu"]\npercent = 5\nfactor = 3\nsource = "s"\n', "for all kinds"),
    ("[[odd]]\n", "is not known here"), ("noise = [1]", "noise"),
])
def test_a_file_of_defaults_that_is_wrong_says_so(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "noise.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=said):
        load(str(path))


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        load(str(tmp_path / "none.toml"))
