"""Pictures: the same for the same numbers, legible, well-formed, and not to be broken by names or values."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from snapshot.bench.drawing import canvas, heatmap, history, ladder
from snapshot.bench.drawing.axes import Scale, upright
from snapshot.bench.drawing.choice import picture
from snapshot.bench.drawing.labels import shortened, workloads
from snapshot.bench.drawing.matrix import lines
from snapshot.bench.drawing.moments import histories
from snapshot.bench.drawing.numbers import change, log_ticks, parameter, short, ticks
from snapshot.bench.drawing.sparkline import sparkline
from snapshot.document import Snapshot
from snapshot.errors import SnapError
from snapshot.sections.bench import Grid, Measurement, Source

from ..pairs import GPUS, snapshot

NAN, INF = math.nan, math.inf
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text><script>x\x00\x1b[31m"&\udcff'


def measured(samples: Sequence[float], concurrency: int = 1, **more: Any) -> Measurement:
    fields: dict[str, Any] = {
        "metric": "output_throughput", "unit": "tok/s", "better": "higher", "status": "ok", "primary": True,
        "workload": {"concurrency": str(concurrency), "model": "tiny"}, "source": Source(tool="sglang", format="jsonl")}
    return Measurement(**fields | more, samples=[*samples])


def rungs(*values: Sequence[float]) -> dict[str, Measurement]:
    """A ladder of concurrency 1, 10, 100, ... with the samples of each."""
    return {str(at): measured(samples, 10**at) for at, samples in enumerate(values)}


def grid(table: Sequence[Sequence[float]], names: Sequence[str] = GPUS, **more: Any) -> Grid:
    count = len(table)
    fields: dict[str, Any] = {
        "metric": "p2p_bandwidth", "unit": "GB/s", "better": "higher", "status": "ok", "workload": {"p2p": "enabled"},
        "source": Source(tool="p2p", format="text")}
    return Grid(**fields | more, rows=[*names[:count]], columns=[*names[:count]], samples=[[[*row] for row in table]])


def taken(label: str, measurements: Mapping[str, Measurement], grids: Mapping[str, Grid] | None = None,
          **meta: Any) -> tuple[str, Snapshot]:
    tables: dict[str, Any] = {
        "bench": {"measurements": {name: one.table() for name, one in measurements.items()},
                  "grids": {name: one.table() for name, one in (grids or {}).items()}},
        "cmdline": {"tokens": meta.pop("tokens", ["quiet"]), "parameters": {}}}
    return label, snapshot(tables, meta=meta)


BEFORE = rungs([10.3, 10.36, 10.4], [88.0, 90.0, 91.0], [700.0, 720.0, 705.0])
AFTER = rungs([10.2, 10.3, 10.5], [89.0, 90.0, 90.5], [560.0, 550.0, 580.0])
TABLE = [[NAN, 53.1, 37.4], [53.0, NAN, 37.3], [37.5, 37.4, NAN]]
WORSE = [[NAN, 53.2, 18.7], [53.0, NAN, 37.3], [37.5, 39.9, NAN]]


def parsed(svg: str) -> ET.Element:
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg" and "nan" not in svg and "inf" not in svg.replace("infinity", "")
    return root


def texts(root: ET.Element) -> list[str]:
    return [one.text or "" for one in root.iter(f"{SVG}text")]


def test_a_ladder(golden: SnapshotAssertion) -> None:
    sides = [("pre", BEFORE), ("post", AFTER)]
    svg = ladder.draw(ladder.curves(sides), "Benchmarks of pve1")
    assert svg == golden and svg == ladder.draw(ladder.curves(sides), "Benchmarks of pve1")
    said = texts(parsed(svg))
    assert {"1", "10", "100", "concurrency, logarithmic", "tok/s, higher is better, logarithmic"} <= {*said}
    assert {"-0.6 %", "+0.0 %", "-20.6 %"} <= {*said}


def test_tables(golden: SnapshotAssertion) -> None:
    found = heatmap.heats([("pre", {"a": grid(TABLE)}), ("post", {"a": grid(WORSE)})])
    svg = heatmap.draw(found, "Benchmarks of pve1")
    assert svg == golden
    root = parsed(svg)
    assert [text for text in texts(root) if text[0] in "▲▼"] == ["▼18.7", "▲39.9"]
    assert [one.get("class") for one in root.iter(f"{SVG}rect")].count("changed") == 2


def test_a_history(golden: SnapshotAssertion) -> None:
    found = history.draw([*histories([
        taken("2026-11-03 first", {"a": measured([229, 231, 223])}, kernel="6.8"),
        taken("2026-11-12 broken", {"a": measured([], status="failed")}, kernel="6.8"),
        taken("2026-11-20 none", {}, kernel="6.9"),
        taken("2026-11-29 post", {"a": measured([202, 207])}, kernel="6.14", tokens=["quiet", "nosmt"]),
    ]).values()], "Benchmarks of pve1")
    assert found == golden
    said = texts(parsed(found))
    assert "no value" in said and "2026-11-20 none" not in said
    assert "1  before 2026-11-29 post: kernel 6.8 -> 6.14; command line +nosmt" in said


def test_the_table_of_a_terminal(golden: SnapshotAssertion) -> None:
    (heat,) = heatmap.heats([("pre", {"a": grid(TABLE)}), ("post", {"a": grid(WORSE)})])
    assert "\n".join(lines(heat)) == golden
    assert "\n".join(lines(heat, marks={(GPUS[0], GPUS[2]): "!"})).count("!") == 1
    assert not any(char in "\n".join(lines(heat, 0)) for char in "+-")


def test_a_wide_table_goes_on_below() -> None:
    names = [f"0000:{at:02x}:00.0" for at in range(16)]
    (heat,) = heatmap.heats([("a", {"a": grid([[100.0 + at for at in range(16)]] * 16, names)})])
    made = [*lines(heat, width=80)]
    assert max(map(len, made)) <= 80 and sum(line.split()[0] == "1" and "0000:00" not in line for line in made) == 1
    assert "".join(made).count("115") == 16


def test_columns_that_are_no_rows_are_named() -> None:
    one = grid([[1.0, 2.0]] * 2)
    (heat,) = heatmap.heats([("a", {"a": one.copy(rows=["CPU", "CPU 1"], columns=["GPU 0", "GPU 1"])})])
    assert [*lines(heat)][-1] == "columns: 3 is GPU 0, 4 is GPU 1"


def test_tables_of_other_devices_share_one_picture() -> None:
    found = heatmap.heats([("pre", {"a": grid([[NAN, 1.0], [1.0, NAN]])}),
                           ("post", {"a": grid([[NAN, 1.0], [1.0, NAN]], GPUS[1:])})])
    assert found[0].rows == GPUS[:3] and found[0].changed(1, (GPUS[0], GPUS[1])) == 0
    parsed(heatmap.draw(found, "x"))


@pytest.mark.parametrize("values", [
    [], [NAN], [INF, 1.0], [0.0, 0.0], [1e308, -1e308], [1e-320, 1.0], [-5.0], [1e299, 1.0], [5e-324],
    [1.0] * 300, [-1.0, 1.0], [1e15, 1e15 + 1],
])
def test_no_numbers_break_a_picture(values: list[float]) -> None:
    found = rungs(values, [1.0], values)
    parsed(ladder.draw(ladder.curves([("a", found), ("b", found)]), "x"))
    parsed(picture([taken("a", {"x": measured(values)}), taken("b", {"x": measured(values)})], None, "x").svg)
    cells = [(values * 4)[:2] or [NAN] * 2] * 2 if len(values) != 1 else [values * 2] * 2
    heats = heatmap.heats([("a", {"x": grid(cells)}), ("b", {"x": grid([[1.0, NAN], [2.0, 3.0]])})])
    parsed(heatmap.draw(heats, "x"))
    assert all(isinstance(line, str) for line in lines(heats[0])) and len(sparkline(values)) == min(len(values), 16)


def test_empty_tables_and_long_and_hostile_names_break_nothing() -> None:
    empty = grid([]).copy(samples=[])
    parsed(heatmap.draw(heatmap.heats([("a", {"x": empty})]), "x"))
    names = [HOSTILE, "x" * 500, "名" * 30]
    hostile: dict[str, Any] = {"metric": HOSTILE, "unit": HOSTILE, "workload": {HOSTILE: HOSTILE, "n": "1"},
                               "source": Source(tool=HOSTILE, format="x")}
    other = hostile | {"workload": {HOSTILE: HOSTILE, "n": "2"}}
    two = {"a": measured([1.0], **hostile), "b": measured([2.0], **other)}
    sides = [taken(HOSTILE, two, {"g": grid(TABLE, names, **hostile)}), taken("b" * 99, two)]
    for kind in ("ladder", "matrix", "history"):
        svg = picture(sides, None, HOSTILE, kind).svg
        root = parsed(svg)
        assert "<script" not in svg and not [*root.iter(f"{SVG}script")] and svg.encode()
    assert len("\n".join(lines(heatmap.heats([("a", {"g": grid(TABLE, names)})])[0]))) < 1000


def test_columns_of_other_domains_are_told_apart() -> None:
    names = [f"0001:{bus}:00.0" for bus in ("c1", "d1")]
    svg = heatmap.draw(heatmap.heats([("a", {"g": grid([[NAN, 1.0], [1.0, NAN]], names)})]), "x")
    assert ">0001:c1<" in svg and ">0001:d1<" in svg


def test_histories_stand_in_the_order_of_their_numbers() -> None:
    loads = {name: measured([1.0], workload={"concurrency": load}) for name, load in (("a", "10"), ("b", "2"))}
    assert [one.workload["concurrency"] for one in histories([taken("x", loads)]).values()] == ["2", "10"]


@pytest.mark.parametrize("sign", ["\x1b", "\u202e", "\ufeff", "\udcff", "\x9b", "\n"])
def test_a_picture_has_no_sign_that_cannot_be_seen(sign: str) -> None:
    assert canvas.escaped(f"a{sign}b<") == "a\N{REPLACEMENT CHARACTER}b&lt;"


def test_eight_lines_of_a_picture_differ() -> None:
    looks = set()
    for series in range(8):
        drawn = canvas.Canvas(100, "x", "y")
        drawn.mark(0, 0, series)
        looks.add(drawn.svg())
    assert len(looks) == 8


def test_a_picture_is_chosen_by_what_there_is() -> None:
    both = taken("a", BEFORE, {"g": grid(TABLE)})
    assert picture([both], None, "x").kind == "ladder"
    assert picture([both], "p2p*", "x").kind == "matrix" and picture([both], "p2p/p2p_bandwidth", "x").panels == 1
    assert picture([taken("a", {}, {"g": grid(TABLE)})], None, "x").kind == "matrix"
    assert picture([taken("a", {"m": measured([1.0])})], None, "x").kind == "history"
    for metric, kind in (("gone", None), (None, "ladder"), (None, "matrix")):
        with pytest.raises(SnapError, match="there is nothing to draw"):
            picture([taken("a", {"m": measured([1.0])})], metric, "x", kind)  # type: ignore[arg-type]


def test_primary_metrics_are_drawn_and_no_more_than_fit() -> None:
    aside = {f"x{at}": measured([1.0], at, metric="itl", primary=None) for at in (1, 2)}
    assert ">sglang itl<" not in picture([taken("a", BEFORE | aside)], None, "x").svg
    assert ">sglang itl<" in picture([taken("a", BEFORE | aside)], "itl", "x").svg
    many = {str(at): measured([1.0], at % 2 + 1, metric=f"m{at // 2}") for at in range(40)}
    found = picture([taken("a", many)], None, "x")
    assert (found.panels, found.left_out) == (12, 8)


def test_workloads_say_first_what_tells_them_apart() -> None:
    assert workloads([{"a": "1", "z": "2"}, {"a": "1", "z": "3"}], 20) == ["z 2, a 1", "z 3, a 1"]
    assert workloads([{"a": "1" * 30}], 10) == ["a 1111111…"]
    assert shortened("abcdefghij", 5) == "ab…ij" and shortened("abc", 3) == "abc"


@pytest.mark.parametrize(("values", "bars"), [
    ([], ""), ([1.0], "▅"), ([1, 2, 3], "▁▅█"), ([3, NAN, 1], "█·▁"), ([INF], "·"), ([2, 2], "▅▅"),
    ([0, 7], "▁█"), ([*range(32)], "▁▁▂▂▃▃▄▄▅▅▆▆▇▇██"), ([-1e308, 1e308], "▁█"),
])
def test_bars(values: list[float], bars: str) -> None:
    assert sparkline(values) == bars


@pytest.mark.parametrize(("value", "text"), [
    (10.36, "10.36"), (0.0, "0"), (-0.0, "-0"), (1234567.0, "1,234,567"), (0.0001234, "0.0001234"), (309.0, "309"),
    (1e13, "1.000e+13"), (1e-9, "1.000e-09"), (NAN, "nan"), (INF, "inf"), (99.999, "100"), (-2.5, "-2.5"),
])
def test_numbers_as_people_read_them(value: float, text: str) -> None:
    assert short(value) == text


def test_sizes_and_changes_in_words() -> None:
    assert [parameter("size_bytes", at) for at in (8, 1024, 8388608, 1536, 1 << 31)] == [
        "8 B", "1 KiB", "8 MiB", "1,536 B", "2 GiB"]
    assert parameter("concurrency", 1024) == "1,024"
    assert [change(1, 2), change(10, 9), change(0, 1), change(NAN, 1), change(1, 50)] == [
        "+100.0 %", "-10.0 %", "", "", "x 50"]


def test_ticks_are_round_and_within_the_axis() -> None:
    assert ticks(0, 100) == [0, 20, 40, 60, 80, 100] and ticks(5, 5) == [5]
    assert [round(one, 9) for one in ticks(0.1, 0.35)] == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    assert log_ticks(8, 2500) == [10, 20, 50, 100, 200, 500, 1000, 2000] and log_ticks(1, 1e9) == [
        10.0**at for at in range(0, 10, 2)]
    assert upright([10, 11], 100, 0).low > 8 and upright([1, 50], 100, 0).logarithmic
    assert upright([1, 5], 100, 0).low == 0 and Scale(0, 10, 100, 0)(5) == 50 and Scale(3, 3, 0, 10)(3) == 5


def test_noise_does_not_look_like_mountains() -> None:
    heat = heatmap.heats([("a", {"g": grid([[NAN, 52.11], [52.12, NAN]])})])
    cells = parsed(heatmap.draw(heat, "x")).iter(f"{SVG}rect")
    colors = {one.get("fill") for one in cells if one.get("class") == "cell"}
    assert len(colors) <= 2 and all(abs(int(a[1:3], 16) - 0x26) < 8 for a in colors if a)
    scale = upright([100, 101], 200, 0)
    assert abs(scale(101) - scale(100)) < 20


def test_text_on_a_colour_has_contrast() -> None:
    kinds = {share / 20: canvas.on(canvas.shade(share / 20)) for share in range(21)}
    assert kinds[0.0] == "ondark" and kinds[1.0] == "onlight"
    for share, kind in kinds.items():
        assert contrast(canvas.shade(share), "#000000" if kind == "onlight" else "#ffffff") >= 4.5


@pytest.mark.parametrize(("column", "ground"), [(0, "#ffffff"), (1, "#16181c")])
def test_lines_stand_out_on_their_ground(column: int, ground: str) -> None:
    for series in canvas.SERIES:
        assert contrast(series[column], ground) >= 3  # WCAG 2.1, 1.4.11
    words = canvas._LIGHT if column == 0 else canvas._DARK
    assert contrast(words["faint"], ground) >= 4.5 and contrast(words["ink"], ground) >= 7


def contrast(one: str, other: str) -> float:
    """WCAG 2.1, contrast ratio."""
    def light(color: str) -> float:
        parts = [int(color[at:at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
