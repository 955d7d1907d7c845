"""Reports in a snapshot: joined by metric and workload, in order, once each; and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from snapshot.bench import adding
from snapshot.bench.adding import Extra, File, gpus_of, load, with_files, with_reports
from snapshot.bench.merging import address, identifier
from snapshot.bench.report import Metric, Report, Table, Value, within
from snapshot.document import Snapshot
from snapshot.errors import SnapError
from snapshot.records import replace
from snapshot.redact import Redaction
from snapshot.sections.bench import Bench, Better, Status, Within

from ..pairs import GPUS, snapshot, story

NAN = math.nan
SPEED = Metric(name="output_throughput", unit="tok/s", better="higher", kind="serving-low", primary=True)
UUIDS = [f"GPU-3c1d5e6f-1a2b-4c3d-8e4f-{at:012x}" for at in range(len(GPUS))]
ID = identifier("sglang", "output_throughput", {"concurrency": "1"})


def value(number: float | None, status: Status = "ok", why: str | None = None, **more: Any) -> Value:
    fields: dict[str, Any] = {"metric": SPEED, "workload": {"concurrency": "1"}, **more}
    return Value(value=number, status=status, why=why, **fields)


def report(*values: Value, version: str | None = None, tables: tuple[Table, ...] = (), form: str = "jsonl") -> Report:
    return Report(tool="sglang", format=form, version=version, values=values, tables=tables)


def table(rows: list[str], cells: list[list[float]], status: Status = "ok") -> Table:
    metric = Metric(name="p2p_bandwidth", unit="GB/s", better="higher")
    return Table(metric=metric, workload={"p2p": "enabled"}, rows=rows, columns=rows, cells=cells, status=status,
                 devices=tuple(rows))


def host(**more: Any) -> Snapshot:
    gpus = {uuid: {"uuid": uuid, "address": at} for uuid, at in zip(UUIDS, GPUS, strict=True)}
    return snapshot({"nvidia": {"gpus": gpus}, "bench": {"measurements": {}}}, **more)


def added(*reports: Report, to: Snapshot | None = None, **extra: Any) -> Bench:
    """The section after REPORTS, as a file of it reads."""
    made = with_reports(to or host(), reports, Extra(**extra))
    again = Snapshot.loads(made.dumps().encode(), "made")
    assert again.dumps() == made.dumps()
    found = again.section("bench")
    assert isinstance(found, Bench)
    return found


def test_runs_of_one_workload_are_samples_of_one_measurement_in_their_order() -> None:
    bench = added(report(value(10.36), value(10.30)), report(value(10.4)))
    (name, one), = bench.measurements.items()
    assert name == ID and one.samples == [10.36, 10.30, 10.4]
    assert (one.metric, one.unit, one.better, one.kind, one.primary) == (
        "output_throughput", "tok/s", "higher", "serving-low", True)
    assert (one.status, one.failed, one.why, one.within) == ("ok", None, None, None)


def test_the_id_is_tool_metric_and_a_hash_that_never_changes() -> None:
    assert ID == "sglang/output_throughput/c58cea22"
    assert identifier("a", "b", {"x": "1", "y": "2"}) == identifier("a", "b", {"y": "2", "x": "1"})
    assert identifier("a", "b", {"x": "12"}) != identifier("a", "b", {"x1": "2"})
    assert identifier("a", "b", {"é\udcff": "\n"}).startswith("a/b/")


def test_the_facts_of_the_section_are_counted_and_the_rest_is_as_it_was() -> None:
    before, _ = story()
    made = with_reports(before, [report(value(1.0))], Extra())
    again = Snapshot.loads(made.dumps().encode(), "made")
    assert again.outcomes["bench"].state == "ok" and again.outcomes["bench"].facts == 10
    whole = before.dumps()
    lines = [line for line in made.dumps().split("\n") if line not in whole.split("\n")]
    assert all(line == "" or "bench" in line or "=" in line or line in "[]" or line.strip() == "1.0," for line in lines)
    for name in before.outcomes:
        if name != "bench":
            assert again.text(name) == before.text(name) or before.section(name) == again.section(name)
            assert again.outcomes[name] == before.outcomes[name]
    assert again.meta == before.meta and again.files == before.files


def test_a_snapshot_that_was_taken_without_the_section_gets_it() -> None:
    for old in (snapshot({}, states={"bench": "skipped"}), snapshot({})):
        assert [*added(report(value(1.0)), to=old).measurements] == [ID]


@pytest.mark.parametrize(("runs", "status", "failed", "samples", "why"), [
    ([value(1.0), value(None, "failed", "exit status 1")], "partial", 1, [1.0], "exit status 1"),
    ([value(None, "failed", "a"), value(None, "failed", "b"), value(None, "failed", "a")], "failed", 3, [], "a; b"),
    ([value(7.0, "failed", "wrong results")], "failed", 1, [], "wrong results"),
    ([value(1.0, "partial", "3 of 8 requests")], "partial", None, [1.0], "3 of 8 requests"),
    ([value(None, "waived", "one GPU")], "waived", None, [], "one GPU"),
    ([value(1.0), value(None, "waived", "one GPU")], "partial", None, [1.0], "one GPU"),
    ([value(None, "waived", "w"), value(None, "failed", "f")], "failed", 1, [], "w; f"),
    ([value(None, "ok")], "failed", 1, [], None),
])
def test_runs_without_a_value_are_counted_and_say_why(
    runs: list[Value], status: str, failed: int | None, samples: list[float], why: str | None
) -> None:
    for reports in ([report(*runs)], [report(run) for run in runs]):  # at once, and one after the other
        one = added(*reports).measurements[ID]
        assert (one.status, one.failed, one.samples, one.why) == (status, failed, samples, why)


def test_what_values_inside_a_run_were_like_stays_with_its_sample() -> None:
    spread = within([1.0, 2.0, 4.0])
    bench = added(report(value(1.0)), report(value(2.0, within=spread)), report(value(None, "failed", "x")))
    one = bench.measurements[ID]
    assert one.samples == [1.0, 2.0] and one.within == [Within(), spread]
    assert added(report(value(3.0)), to=with_reports(host(), [report(value(2.0, within=spread))], Extra())
                 ).measurements[ID].within == [spread, Within()]


def test_infinite_and_missing_numbers_survive() -> None:
    samples = added(report(value(math.inf), value(NAN), value(-0.0))).measurements[ID].samples
    assert samples[0] == math.inf and math.isnan(samples[1]) and samples[2] == 0


def test_keys_and_labels_of_the_user_are_kept() -> None:
    one, = added(report(value(1.0)), workload={"driver": "nccl"}, label="first").measurements.values()
    assert one.workload == {"concurrency": "1", "driver": "nccl"} and one.label == "first"
    base = with_reports(host(), [report(value(1.0))], Extra(label="b"))
    assert added(report(value(1.0)), to=base, label="a").measurements[ID].label == "a, b"
    assert added(report(value(1.0)), workload={"concurrency": "1"}).measurements.keys() == {ID}
    with pytest.raises(SnapError, match="its concurrency is '1', and cannot be '2'"):
        added(report(value(1.0)), workload={"concurrency": "2"})


def test_devices_are_gpus_by_uuid_where_the_snapshot_knows_them() -> None:
    devices = ("00000000:01:00", UUIDS[3], "0000:FE:00.0", GPUS[1])
    one, = added(report(value(1.0, devices=devices))).measurements.values()
    assert one.devices == sorted([UUIDS[0], UUIDS[3], "0000:fe:00.0", UUIDS[1]])
    assert added(report(value(1.0, devices=devices)), to=snapshot({})).measurements[ID].devices == sorted(
        [GPUS[0], UUIDS[3], "0000:fe:00.0", GPUS[1]])
    assert gpus_of(snapshot({"nvidia": {"gpus": {GPUS[0]: {"address": GPUS[0]}}}})) == {}


@pytest.mark.parametrize(("text", "full"), [
    ("c1:00", "0000:c1:00.0"), ("00000000:C1:00.0", "0000:c1:00.0"), ("0001:01:00.1", "0001:01:00.1"),
    ("10000:01:00.0", "10000:01:00.0"), ("GPU 0", "GPU 0"), ("", ""), ("c1:00.8", "c1:00.8"), (UUIDS[0], UUIDS[0]),
])
def test_an_address_is_as_section_pci_has_it(text: str, full: str) -> None:
    assert address(text) == full


def test_a_table_keeps_addresses_and_one_sample_a_run() -> None:
    rows = ["00000000:01:00", "00000000:21:00"]
    bench = added(report(tables=(table(rows, [[NAN, 50.0], [51.0, NAN]]), table(rows, [[NAN, 1], [2, NAN]]))),
                  report(tables=(table(rows, [[NAN, NAN], [NAN, NAN]], "failed"),)))
    (grid,) = (bench.grids or {}).values()
    assert (grid.rows, grid.columns, grid.devices) == (GPUS[:2], GPUS[:2], UUIDS[:2])
    assert grid.cells()[GPUS[0], GPUS[1]] == [50.0, 1.0] and grid.cells()[GPUS[0], GPUS[0]] == []
    assert (grid.status, grid.failed, len(grid.samples)) == ("partial", 1, 2)


def test_a_table_of_other_devices_widens_what_is_there() -> None:
    bench = added(report(tables=(table(GPUS[:2], [[NAN, 50.0], [51.0, NAN]]),)),
                  report(tables=(table(GPUS[2:0:-1], [[NAN, 60.0], [61.0, NAN]]),)))
    (grid,) = (bench.grids or {}).values()
    cells = grid.cells()
    assert grid.rows == [GPUS[0], GPUS[1], GPUS[2]]
    assert cells[GPUS[0], GPUS[1]] == [50.0] and cells[GPUS[2], GPUS[1]] == [60.0] and cells[GPUS[0], GPUS[2]] == []


def test_what_is_no_more_of_the_same_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    base = with_reports(host(), [report(value(1.0), version="0.5")], Extra())
    slower: Better = "lower"
    for metric in (Metric(name=SPEED.name, unit="tok/min", better="higher"),
                   Metric(name=SPEED.name, unit="tok/s", better=slower)):
        with pytest.raises(SnapError, match=rf"{ID} is in .* and in tok/"):
            added(report(value(1.0, metric=metric)), to=base)
    with pytest.raises(SnapError, match=r"version 0\.5 and now with 0\.6: to keep both, tell them apart"):
        added(report(value(1.0), version="0.6"), to=base)
    assert added(report(value(2.0), form="text"), to=base).measurements[ID].source.format == "jsonl, text"
    assert added(report(value(2.0)), to=base).measurements[ID].source.version == "0.5"
    with pytest.raises(SnapError, match="no measurement in it"):
        added(report(), to=base)
    monkeypatch.setattr("snapshot.bench.merging.identifier", lambda *_: ID)
    with pytest.raises(SnapError, match="is the id of two workloads: concurrency 2; concurrency 1"):
        with_reports(base, [report(value(1.0, workload={"concurrency": "2"}))], Extra())
    with pytest.raises(SnapError, match="a number and a table"):
        with_reports(base, [report(tables=(table(["a"], [[1.0]]),))], Extra())


def test_a_redacted_snapshot_takes_no_real_names() -> None:
    redacted = Redaction(b"key", host()).snapshot
    with pytest.raises(SnapError, match="is redacted: add to the original"):
        with_reports(redacted, [report(value(1.0))], Extra())


def test_a_run_that_another_report_repeats_is_added_once() -> None:
    def file(name: str, *runs: float, metrics: int = 10) -> File:
        values = [value(run + at / 7, metric=replace(SPEED, name=f"m{at}")) for run in runs for at in range(metrics)]
        return File(name, name.ljust(64, "0"), report(*values))

    made = with_files(host(), [file("run0", 1.5), file("run1", 2.5)], Extra())
    for again in (file("summary", 0.5, 2.5), file("other", 1.5)):
        with pytest.raises(SnapError, match=f"{again.path}: a run in it is there already: its 10 values"):
            with_files(made, [again], Extra())
    assert with_files(made, [file("run2", 1.51)], Extra())
    log = [replace(one, value=round(one.value or 0, 2)) for one in file("run1", 2.5).report.values]
    with pytest.raises(SnapError, match="a run in it is there already"):
        with_files(made, [File("log", "1" * 64, report(*log))], Extra())
    few = [file(name, 1.5, metrics=7) for name in ("a", "b")]  # such a few can be alike by chance
    assert with_files(host(), few, Extra())
    assert with_reports(made, [file("run0", 1.5).report], Extra())  # no file: they were run


def test_the_same_bytes_are_added_once(tmp_path: Path) -> None:
    one, other = File("dir/a.json", "ab" * 32, report(value(1.0))), File("b.json", "cd" * 32, report(value(1.0)))
    made = with_files(host(), [one, other], Extra())
    found = made.section("bench")
    assert isinstance(found, Bench)
    assert found.measurements[ID].files == ["a.json", "b.json"] and found.measurements[ID].samples == [1.0, 1.0]
    assert found.reports == {"ab" * 32: "a.json", "cd" * 32: "b.json"}
    copy = File("renamed.json", one.sha256, one.report)
    for sides in ((made, [copy]), (host(), [one, copy])):
        with pytest.raises(SnapError, match=r"renamed\.json: these very bytes were added already, as a\.json"):
            with_files(*sides, Extra())


def test_a_file_that_cannot_be_added_is_named() -> None:
    with pytest.raises(SnapError, match=r"^b\.json: there is no measurement"):
        with_files(host(), [File("a", "1", report(value(1.0))), File("b.json", "2", report())], Extra())


def test_a_file_is_read_by_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"backend": "sglang", "max_concurrency": 1, "completed": 8, "output_throughput": 10.36, "duration": 2.0,
           "request_throughput": 4.0, "mean_ttft_ms": 90.5, "total_output_tokens_retokenized": 20}
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(row).encode() + b"\r\n")
    found = load(str(path))
    assert found.report.tool == "sglang" and len(found.sha256) == 64
    with pytest.raises(SnapError, match="cannot be read: No such file"):
        load(str(tmp_path / "gone"))
    with pytest.raises(SnapError, match="cannot be read: Is a directory"):
        load(str(tmp_path))
    with pytest.raises(KeyError):
        load(str(path), "no-such")
    monkeypatch.setattr(adding, "LIMIT_BYTES", 10)
    with pytest.raises(SnapError, match="larger than"):
        load(str(path))
