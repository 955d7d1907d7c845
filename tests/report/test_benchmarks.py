"""What reports say of benchmarks: the block, its order, causes beside effects, and the values for programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.comparing.compare import compare
from snapshot.bench.comparing.comparison import Verdict
from snapshot.config.tables import Roofline
from snapshot.document import Snapshot
from snapshot.engine.packs import shipped
from snapshot.report.as_json import render_json
from snapshot.report.benchmarks import Causes, headline, lines, shortened, write
from snapshot.report.markdown import render_markdown
from snapshot.report.paper import Paper
from snapshot.report.review import Review, review
from snapshot.report.text import render_text
from snapshot.sections.bench import Bench, Measurement
from tests.bench.comparing.made import bench, grid, measurement, nodes, table
from tests.pairs import gpu, snapshot

ROOF = Roofline(metric="output_throughput", value=309, unit="tok/s", source="weights over bandwidth")
RULES = tuple(rule for rule in shipped() if rule.id.startswith(("bench.", "pcie.", "kernel.")))


def block(before: Bench, after: Bench, causes: Causes | None = None, everything: bool = False) -> str:
    paper = Paper()
    write(paper, compare(before, after, rooflines=[ROOF], apart=nodes), causes, everything)
    return paper.text()


def ladder(*values: float, **more: Any) -> list[Measurement]:
    return [measurement(value, workload={"concurrency": str(4**at)}, **more) for at, value in enumerate(values)]


def taken(section: Bench, read_request: int = 4096, **more: Any) -> Snapshot:
    return snapshot({"bench": section.table(), "pci": {"functions": {"0000:01:00.0": gpu(read_request)}}}, **more)


def reviewed(before: Bench, after: Bench, after_request: int = 4096, **more: Any) -> Review:
    return review(taken(before, meta={"boot_id": "one"}), taken(after, after_request, meta={"boot_id": "two"} | more),
                  rules=RULES, rooflines=[ROOF])


def test_one_run_each_of_the_story() -> None:
    assert block(bench(measurement(10.30)), bench(measurement(10.36))) == (
        "Benchmarks: 1 with no difference shown.\n"
        "  sglang output_throughput, concurrency 1: 10.30 -> 10.36 tok/s,\n"
        "    no difference shown (1 sample each, noise band 5 %);\n"
        "    3.4 % of the declared limit of 309.\n")


def test_the_worst_comes_first_and_few_of_what_shows_nothing() -> None:
    said = block(bench(*ladder(10, 30, 90, 200, 400, 700)), bench(*ladder(8, 30, 90, 200, 400, 800)))
    order = [line.split(":")[0].strip() for line in said.splitlines() if "output_throughput, conc" in line]
    assert order == [f"sglang output_throughput, concurrency {load}" for load in (1, 1024, 4, 16, 64)]
    assert said.startswith("Benchmarks: 1 worse, 1 better, 4 with no difference shown.\n")
    assert "1 other measurement: 1 with no difference shown (--all lists them)." in said
    assert "worse at concurrency 1 of 1 to 1024" in said
    assert "--all" not in block(bench(*ladder(1, 2, 3, 4, 5)), bench(*ladder(1, 2, 3, 4, 5)), everything=True)


def test_many_steps_of_a_ladder_are_one_curve() -> None:
    sides = bench(*ladder(10, 30, 90, 200, 400, 700)), bench(*ladder(8, 24, 70, 150, 300, 700))
    said = " ".join(block(*sides).split())
    assert ("sglang output_throughput, 5 steps of concurrency from 1 to 256: 10.00 -> 8.00 at 1, 400.0 -> 300.0 at 256"
            " tok/s, worse by 20 % to 25 % (1 sample each, noise band 5 %).") in said
    assert "concurrency 4: 30.00 -> 24.00 tok/s" not in said
    assert "concurrency 4: 30.00 -> 24.00 tok/s" in block(*sides, everything=True)


def test_steps_with_other_causes_stand_apart() -> None:
    kinds = ["serving-low"] * 2 + ["serving-high"] * 4
    loads = [(4**at, kind) for at, kind in enumerate(kinds)]
    sides = [[measurement(value, kind=kind, workload={"concurrency": str(load)}) for load, kind in loads]
             for value in (10, 8)]
    paper = Paper()
    write(paper, compare(*(bench(*side) for side in sides)), lambda kind, _: [f"Likely cause: {kind}."])
    said = paper.text()
    assert "4 steps of concurrency from 16 to 1024" in said
    assert "concurrency 4: 10.00 -> 8.00" in said
    assert said.count("Likely cause: serving-low.") == said.count("Likely cause: serving-high.") == 1


def test_metrics_that_a_workload_is_not_run_for_are_counted() -> None:
    before = bench(measurement(10), measurement(100, metric="p99_ttft_ms", primary=None, better="lower"))
    after = bench(measurement(10), measurement(900, metric="p99_ttft_ms", primary=None, better="lower"))
    said = block(before, after)
    assert "p99_ttft_ms" not in said
    assert "1 other measurement: 1 worse" in said
    assert "p99_ttft_ms" in block(before, after, everything=True)


@pytest.mark.parametrize(("after", "said"), [
    ([], "vanished: measured before, and not after"),
    ([measurement(status="failed", why="no request succeeded")],
     "failed: no value after: failed, no request succeeded"),
    ([measurement(10, unit="req/s")], "not comparable: unit tok/s before and req/s after"),
])
def test_what_has_no_numbers_to_compare(after: list[Measurement], said: str) -> None:
    text = " ".join(block(bench(measurement(10)), bench(*after)).split())
    assert said in text


def test_what_has_no_value_on_either_side_is_said_last() -> None:
    waived = measurement(status="waived", why="one GPU, which has no peer", workload={})
    side = bench(waived, *ladder(1, 2, 3))
    text = block(side, side)
    assert text.startswith("Benchmarks: 1 not comparable, 3 with no difference") and "one GPU" not in text
    every = " ".join(block(side, side, everything=True).split())
    assert "not comparable: no value before or after: waived, one GPU, which has no peer." in every


def test_an_interval_is_said_with_the_size() -> None:
    values = [100.0 + at / 10 for at in range(10)]
    said = block(bench(measurement(*values)), bench(measurement(*(0.9 * value for value in values))))
    assert "worse by 10 %, between -10.3 and -9.73 %" in " ".join(said.split())


def test_tables_are_said_by_distance_with_the_pairs_that_are_slow() -> None:
    said = " ".join(block(bench(grid(table(50, 37))), bench(grid(table(50, 37, slow=(0, 2))))).split())
    assert "across NUMA nodes (8 pairs): 37.00 -> 37.00 GB/s, no difference shown" in said
    assert "1 pair worse, as 0000:01:00.0 to 0000:81:00.0: 37.00 -> 9.25 GB/s, worse by 75 %" in said
    assert said.startswith("Benchmarks: 1 worse, 1 with no difference shown.")


def test_pairs_that_are_lost_are_said() -> None:
    small = grid([row[:3] for row in table(40, 30)[:3]], names=[*grid(table(1, 1)).rows][:3])
    said = " ".join(block(bench(grid(table(50, 37))), bench(small)).split())
    assert "6 pairs without a value now, as 0000:01:00.0 to 0000:a1:00.0" in said
    assert said.startswith("Benchmarks: 2 worse, 1 failed.")


def test_causes_are_said_once_for_lines_that_share_them() -> None:
    def causes(kind: str, verdict: Verdict) -> list[str]:
        return [f"Likely cause: {kind}, {verdict}."]

    said = block(bench(*ladder(10, 20)), bench(*ladder(8, 16)), causes)
    assert said.count("Likely cause: serving-low, worse.") == 1
    assert "Of all 2:" in said
    assert "Of all" not in block(bench(*ladder(10)), bench(*ladder(8)), causes)


def test_where_nothing_recorded_explains_it_that_is_said() -> None:
    assert "Nothing recorded explains it." in block(bench(*ladder(10)), bench(*ladder(8)), lambda *_: ())
    assert "Nothing recorded explains it." in block(
        bench(measurement(1, kind=None)), bench(measurement(2, kind=None)), lambda *_: ["a cause"])
    assert "explains" not in block(bench(*ladder(10)), bench(*ladder(10.1)), lambda *_: ())


def test_nothing_measured_is_no_block() -> None:
    assert block(bench(), bench()) == "\n"


def test_every_line_is_said_or_counted() -> None:
    sides = bench(*ladder(*range(1, 11))), bench(*ladder(*range(1, 11)))
    every = lines(compare(*sides))
    said, rest = shortened(every)
    assert len(said) == 3
    assert rest == ["7 other measurements: 7 with no difference shown (--all lists them)."]
    assert headline(every) == "10 with no difference shown"


def sides() -> tuple[Bench, Bench]:
    """Copies between GPUs that are slower after."""
    return bench(grid(table(50, 50))), bench(grid(table(40, 40)))


def test_the_review_sets_findings_of_the_pair_beside_what_got_worse() -> None:
    found = reviewed(*sides(), after_request=512, kernel="6.14.11-1-pve")
    text = " ".join(render_text(found).split())
    assert "Possible cause: GPU 0000:01:00.0: PCIe MaxReadReq 4096 -> 512 bytes [2]." in text
    assert "Smaller requests and packets need more of them" in text
    markdown = render_markdown(found)
    assert "Benchmarks: 1 worse" in markdown
    assert "Possible cause: GPU" in markdown
    [table_] = json.loads(render_json(found))["benchmarks"]["grids"]
    assert (table_["verdict"], table_["groups"][0]["name"]) == ("worse", "all")
    assert any("MaxReadReq" in cause for cause in table_["causes"])
    assert len(table_["cells"]) == 12


def test_a_finding_and_its_cause_are_numbered_and_counted_as_any() -> None:
    found = reviewed(*sides(), after_request=512)
    rules = {finding.rule for finding in found.gating}
    assert rules == {"pcie.maxreadreq-reverted", "bench.p2p-regression"}
    assert found.exit_code == 1


def test_numbers_are_not_listed_as_changes_besides() -> None:
    text = render_text(reviewed(*sides(), after_request=512), everything=True)
    assert "bench.grids" not in text
    assert "bench.measurements" not in text


def test_an_improvement_has_cures_for_causes_and_no_faults() -> None:
    before, after = sides()
    one, two = {"boot_id": "one"}, {"boot_id": "two"}
    cured = review(taken(after, 512, meta=one), taken(before, 4096, meta=two), rules=RULES)
    assert "better by 25 %" in " ".join(render_text(cured).split())
    reverted = review(taken(after, meta=one), taken(before, 512, meta=two), rules=RULES)
    assert "Nothing recorded explains it." in render_text(reverted)


def test_json_has_every_number_and_no_nan() -> None:
    other = measurement(0, metric="errors", unit="1", better="lower")
    found = reviewed(bench(measurement(10.3), other), bench(measurement(10.36), other.copy(samples=[3.0])))
    values = json.loads(render_json(found))["benchmarks"]
    [errors, throughput] = sorted(values["measurements"], key=lambda one: str(one["metric"]))
    assert throughput["limit"]["after_percent"] == pytest.approx(3.35, abs=0.01)
    assert (throughput["before"]["median"], throughput["basis"]) == (10.3, "noise band")
    assert "percent" not in errors
    assert "benchmarks" not in json.loads(render_json(reviewed(bench(), bench())))
