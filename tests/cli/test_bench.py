"""snap bench: reports into snapshots, runs of declared commands, what is shown, compared and drawn, exit codes."""

from __future__ import annotations

import json
import math
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from snapshot import store as stored
from snapshot.bench.importers import IMPORTERS
from snapshot.document import Snapshot
from snapshot.redact import Redaction

from ..pairs import GPUS, snapshot
from .command import Ended, Snap

SMALL = str(Path(__file__).parents[2] / "fixtures/hosts/pve-small")
RUN: dict[str, Any] = {"completed": 8, "total_output_tokens_retokenized": 20, "server_info": {"version": "0.5"}}
P2P = """\
[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Device: 0, NVIDIA Tiny, pciBusID: 1, pciDeviceID: 0, pciDomainID:0
Device: 1, NVIDIA Tiny, pciBusID: 21, pciDeviceID: 0, pciDomainID:0
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\\D     0      1
     0 1488.10  {0}
     1  53.10 1488.10
"""


def report(name: str, *speeds: float, concurrency: int = 1) -> str:
    """A file of one run a line; its name."""
    lines = [RUN | {"output_throughput": speed, "max_concurrency": concurrency} for speed in speeds]
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return name


def made(name: str, **meta: Any) -> str:
    tables: dict[str, Any] = {"bench": {"measurements": {}}}
    snapshot(tables, meta={"label": name, "boot_id": "b" * 8} | meta).save(f"{name}.toml")
    return f"{name}.toml"


def held(name: str) -> dict[str, Any]:
    """The measurements of a snapshot by tool and metric."""
    found: dict[str, Any] = Snapshot.load(name).table("bench")
    return {key.rpartition("/")[0]: one for key, one in (found["measurements"] | found.get("grids", {})).items()}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("SNAP_CONFIG", "/dev/null")
    return tmp_path / "here"


def test_add_puts_reports_into_the_snapshot_in_its_place(snap: Snap) -> None:
    pre = made("pre")
    ended = snap("bench", "add", pre, report("a.jsonl", 10.3, 10.36), report("b.jsonl", 10.4), "--label", "first",
                 "--workload", "driver=mine")
    assert (ended.code, ended.out) == (0, "") and ended.err.startswith("added ") and pre in ended.err
    one = held(pre)["sglang/output_throughput"]
    assert one["samples"] == [10.3, 10.36, 10.4] and one["files"] == ["a.jsonl", "b.jsonl"]
    assert one["label"] == "first" and one["workload"]["driver"] == "mine" and one["workload"]["concurrency"] == "1"
    again = snap("bench", "add", pre, "a.jsonl")
    assert again.code == 2 and "a.jsonl: these very bytes were added already" in again.err


def test_add_to_the_store_by_label_or_to_another_file(snap: Snap, store: Path) -> None:
    host = stored.component(Snapshot.load(made("x")).meta.host)
    assert snap("take", "pre", "--root", SMALL).code == 0
    (path,) = store.rglob("*.toml")
    assert snap("bench", "add", "small/pre", report("a.jsonl", 1.0)).code == 0 and host
    assert held(str(path))["sglang/output_throughput"]["samples"] == [1.0]
    assert snap("bench", "add", "small/pre", report("b.jsonl", 2.0), "-o", "other.toml").code == 0
    assert held("other.toml")["sglang/output_throughput"]["samples"] == [1.0, 2.0]
    assert held(str(path))["sglang/output_throughput"]["samples"] == [1.0]
    out = snap("bench", "add", "small/pre", "b.jsonl", "-o", "-")
    assert tomllib.loads(out.out)["meta"]["label"] == "pre" and snap("show", "other.toml").code == 0


def test_all_are_added_or_none(snap: Snap) -> None:
    pre, before = made("pre"), Path("pre.toml").read_bytes()
    Path("bad.jsonl").write_text('{"total_output_tokens_retokenized": 1,\n')
    for files in (["bad.jsonl"], ["gone.jsonl"], ["a.jsonl", "a.jsonl"]):
        ended = snap("bench", "add", pre, report("a.jsonl", 1.0), *files)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1) and files[0] in ended.err
        assert Path(pre).read_bytes() == before


@pytest.mark.parametrize(("argv", "said"), [
    (("add", "pre.toml"), "FILE"), (("add", "pre.toml", "a.jsonl", "--workload", "k"), "'k' is not KEY=VALUE"),
    (("add", "pre.toml", "a.jsonl", "--workload", "k=1", "--workload", "k=2"), "k cannot be '1' and '2'"),
    (("add", "pre.toml", "a.jsonl", "-f", "nothing"), "there is no format 'nothing': sglang, vllm"),
    (("add", "pre.toml", "a.jsonl", "-f", "fio"), "a.jsonl"), (("add", "pre.toml", "a.jsonl", "-o", ""), "-o needs"),
    (("add", "now", "a.jsonl"), "now is no file that can be changed"),
    (("add", "-", "a.jsonl"), "- is no file that can be changed"),
    (("add", "gone.toml", "a.jsonl"), "gone.toml: no such file"),
    (("compare", "pre.toml", "pre.toml"), "there is nothing to compare: neither has a benchmark"),
    (("plot", "pre.toml"), "there is nothing to draw"), (("plot", "pre.toml", "-o", ""), "-o needs a file"),
    (("run",), "name benchmarks to run, or give --all"), (("run", "x", "--all"), "name benchmarks"),
    (("run", "x", "-o", "-"), "-o needs a file"),
    (("run", "x"), "declares no bench 'x': none"), (("run", "--all"), "declares no [[bench]]"),
])
def test_what_cannot_be_done_is_one_line(snap: Snap, argv: tuple[str, ...], said: str) -> None:
    made("pre")
    report("a.jsonl", 1.0)
    ended = snap("bench", *argv)
    assert (ended.code, ended.out) == (2, "") and said in ended.err


def test_a_redacted_snapshot_is_not_added_to(snap: Snap) -> None:
    Redaction(b"key", Snapshot.load(made("pre"))).snapshot.save("redacted.toml")
    ended = snap("bench", "add", "redacted.toml", report("a.jsonl", 1.0))
    assert ended.code == 2 and "is redacted: add to the original" in ended.err


def test_take_adds_reports(snap: Snap) -> None:
    argv = ("take", "-o", "x.toml", "--root", SMALL, "--bench", report("a.jsonl", 1.0), "--bench",
            report("b.jsonl", 2.0))
    assert snap(*argv).code == 0
    assert held("x.toml")["sglang/output_throughput"]["samples"] == [1.0, 2.0]
    assert snap(*argv, "--redact").code == 0 and Snapshot.load("x.toml").meta.redacted
    assert held("x.toml")["sglang/output_throughput"]["samples"] == [1.0, 2.0]
    Path("x.toml").unlink()
    assert snap(*argv, "--bench", "gone").code == 2 and not Path("x.toml").exists()


def settings(body: str, **more: Any) -> None:
    """A trusted snap.toml with the bench made: a script of this Python that counts its runs in n."""
    Path("bench.py").write_text(
        "import sys, os, json\nopen('count', 'a').write('x'); n = len(open('count').read())\n"
        f"line = lambda speed: print(json.dumps({RUN!r} | {{'output_throughput': speed, 'max_concurrency': 1}}))\n"
        + body)
    rest = "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())
    command = json.dumps([sys.executable, "bench.py"])
    Path("snap.toml").write_text(f'[[bench]]\nname = "made"\ncommand = {command}\nparser = "sglang"\n{rest}')
    Path("snap.toml").chmod(0o644)


@pytest.fixture
def boot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The boot of the snapshots that these tests make."""
    monkeypatch.setattr("snapshot.cli.bench_runs._boot", lambda: "b" * 8)


def ran(snap: Snap, *argv: str) -> Ended:
    return snap("bench", "run", "--config", "snap.toml", *argv)


def test_run_keeps_each_run_and_says_how_it_went(snap: Snap, boot: None) -> None:
    settings("line(n)", repeat=3, warmup=1)
    ended = ran(snap, "made", "--into", made("pre"), "--workload", "driver=mine")
    assert (ended.code, ended.out) == (0, "")
    one = held("pre.toml")["sglang/output_throughput"]
    assert one["samples"] == [2.0, 3.0, 4.0] and one["label"] == "made" and one["workload"]["driver"] == "mine"
    said = ended.err.splitlines()
    runs = [f"made: run {n} of 3" for n in (1, 2, 3)]
    assert [line.partition(",")[0] for line in said[:4]] == ["made: warm-up", *runs]
    assert "output_throughput 2 tok/s" in said[1] and said[4].startswith("made: 3 of 3 runs gave values")
    assert ran(snap, "--all", "--into", "pre.toml", "--workload", "driver=mine").code == 0
    assert len(held("pre.toml")["sglang/output_throughput"]["samples"]) == 6


def test_run_joins_the_declared_workload_and_the_command_line_goes_before_it(snap: Snap, boot: None) -> None:
    settings("line(n)\n")
    with open("snap.toml", "a") as file:
        file.write('workload = { parallel = "8", driver = "theirs" }\n')
    assert ran(snap, "made", "--into", made("pre"), "--workload", "driver=mine").code == 0
    workload = held("pre.toml")["sglang/output_throughput"]["workload"]
    assert (workload["parallel"], workload["driver"]) == ("8", "mine")


def test_a_failed_run_is_kept_and_exits_3(snap: Snap, boot: None) -> None:
    settings("print('out of \\x1b[31mmemory', file=sys.stderr)\nsys.exit(9) if n == 2 else line(n)", repeat=3)
    ended = ran(snap, "made", "--into", made("pre"))
    one = held("pre.toml")["sglang/output_throughput"]
    assert ended.code == 3 and (one["samples"], one["failed"], one["status"]) == ([1.0, 3.0], 1, "partial")
    assert "failed: exit status 9" in ended.err and "out of \\x1b[31mmemory" in ended.err
    assert "memory" not in Path("pre.toml").read_text()


def test_a_stop_keeps_what_was_measured(snap: Snap, boot: None) -> None:
    settings("line(n)\nif n == 2: os.kill(os.getppid(), 2); import time; time.sleep(60)", repeat=3)
    ended = ran(snap, "made", "--into", made("pre"), "-o", "out.toml")
    assert ended.code == 130 and held("out.toml")["sglang/output_throughput"]["samples"] == [1.0]
    assert held("pre.toml") == {}


def test_without_a_snapshot_of_this_boot_nothing_is_run(snap: Snap, boot: None, store: Path) -> None:
    settings("line(n)")
    ended = ran(snap, "made")
    assert ended.code == 2 and "no snapshot of this boot" in ended.err and not Path("count").exists()
    from os import uname

    host = uname().nodename
    for when, of, code in (("2026-01-01T00:00:00Z", "b" * 8, 0), ("2026-01-02T00:00:00Z", "c" * 8, 2)):
        one = snapshot({}, meta={"boot_id": of, "host": host, "taken": when})
        path = stored.add(host, when, None, one.dumps().encode())
        assert ran(snap, "made").code == code
        assert bool(Snapshot.load(path).table("bench")) is (code == 0)
    ended = ran(snap, "made", "--into", made("old", boot_id="c" * 8))
    assert ended.code == 0 and "old.toml is of another boot" in ended.err


def test_commands_of_a_file_that_others_can_write_are_not_run(snap: Snap, boot: None) -> None:
    settings("line(n)")
    Path("snap.toml").chmod(0o666)
    ended = ran(snap, "made", "--into", made("pre"))
    assert ended.code == 2 and "its commands are not run: mode 0666" in ended.err and not Path("count").exists()


def test_a_command_that_is_not_there_stops_all_before_the_first(snap: Snap, boot: None) -> None:
    settings("line(n)")
    with Path("snap.toml").open("a") as file:
        file.write('[[bench]]\nname = "other"\ncommand = ["no-such-program"]\nparser = "fio"\n')
    ended = ran(snap, "--all", "--into", made("pre"))
    assert ended.code == 2 and "bench other: no-such-program: no program that can be run" in ended.err
    assert not Path("count").exists()
    assert "now is no file that can be changed" in ran(snap, "made", "--into", "now", "-o", "x.toml").err
    ended = ran(snap, "mde", "--into", "pre.toml")
    assert "declares no bench 'mde': made, other" in ended.err


def filled(snap: Snap, name: str, low: list[float], high: list[float], cell: str, **meta: Any) -> str:
    """A snapshot with runs at concurrency 1 and 64 and one table of two GPUs."""
    gpus = {f"GPU-{at}": {"uuid": f"GPU-{at}", "address": address} for at, address in enumerate(GPUS[:2])}
    tables: dict[str, Any] = {"bench": {"measurements": {}}, "nvidia": {"gpus": gpus}}
    snapshot(tables, meta={"label": name} | meta).save(f"{name}.toml")
    Path(f"{name}.txt").write_text(P2P.format(cell))
    files = [report(f"{name}1", *low), report(f"{name}64", *high, concurrency=64), f"{name}.txt"]
    assert snap("bench", "add", f"{name}.toml", *files).code == 0
    return f"{name}.toml"


@pytest.fixture
def pair(snap: Snap) -> tuple[str, str]:
    """A story: the same at concurrency 1, and slower at 64 and from GPU to GPU."""
    pre = filled(snap, "pre", [10.30], [700, 705, 702, 699, 703, 704], "53.00", boot_id="one")
    post = filled(snap, "post", [10.36], [560, 565, 562, 559, 563, 564], "26.00", boot_id="two", kernel="6.14.11-1-pve",
                  taken="2026-01-02T00:00:00Z")
    return pre, post


def test_show(snap: Snap, pair: tuple[str, str], golden: SnapshotAssertion) -> None:
    ended = snap("bench", "show", pair[0])
    assert ended.golden() == golden
    told = json.loads(snap("bench", "show", pair[0], "-f", "json").out)
    medians = {one["workload"]["concurrency"]: one["median"] for one in told["measurements"].values()
               if one["metric"] == "output_throughput"}
    assert medians == {"1": 10.3, "64": 702.5} and told["host"] == "pve1"
    assert "0 measurements" in snap("bench", "show", made("empty")).out


def test_show_cuts_long_names(snap: Snap) -> None:
    one = {"metric": "m", "unit": "s", "better": "lower", "workload": {"model": "m" * 5000}, "samples": [1.0],
           "status": "ok", "source": {"tool": "t", "format": "x"}}
    snapshot({"bench": {"measurements": {"a": one}}}).save("x.toml")
    assert len(snap("bench", "show", "x.toml").out) < 500


def test_show_obeys_nothing_of_a_snapshot(snap: Snap) -> None:
    one = {"metric": "\x1b[31m", "unit": "\r", "better": "higher", "workload": {"\x1b": "\n"}, "samples": [math.nan],
           "status": "failed", "why": "\x1b[0m", "source": {"tool": "\x07", "format": "x"}}
    table = one | {"rows": ["\x1b[1m"], "columns": ["\x1b[2m"], "samples": [[[1.0]]]}
    snapshot({"bench": {"measurements": {"a": one, "b": one | {"samples": [math.inf, 1.0]}}, "grids": {"g": table}}}
             ).save("x.toml")
    ended = snap("bench", "show", "x.toml")
    assert ended.code == 0 and all(line.isprintable() for line in ended.out.splitlines()) and "\\x1b[31m" in ended.out
    told = json.loads(snap("bench", "show", "x.toml", "-f", "json").out)
    assert told["measurements"]["a"]["samples"] == ["nan"] and told["measurements"]["b"]["samples"] == ["inf", 1.0]


def test_compare(snap: Snap, pair: tuple[str, str], golden: SnapshotAssertion) -> None:
    assert snap("bench", "compare", *pair).golden() == golden
    ended = snap("bench", "compare", *pair, "-f", "json=found.json", "-f", "markdown")
    found = json.loads(Path("found.json").read_text())
    assert ended.code == found["exit_code"] == 1
    assert {one["rule"] for one in found["findings"]} == {"bench.throughput-regression", "bench.p2p-regression"}
    verdicts = {one["workload"]["concurrency"]: one["verdict"] for one in found["benchmarks"]["measurements"]}
    assert verdicts == {"1": "same", "64": "worse"} and len(ended.out.encode()) < 65_536
    assert ended.out.startswith("## Benchmarks: ") and ended.out.count("\n- ") > 2


def test_compare_exits_as_diff_does_but_by_benchmarks_alone(snap: Snap, pair: tuple[str, str]) -> None:
    pre, post = pair
    assert snap("bench", "compare", post, pre).code == 0  # better
    assert snap("bench", "compare", pre, pre).code == 0
    assert snap("bench", "compare", pre, post, "--fail-on", "critical").code == 0
    assert snap("bench", "compare", pre, made("empty")).code == 0  # nothing was measured after: a note
    Path("snap.toml").write_text('[noise]\n"output_throughput" = 50\n"p2p_bandwidth" = 90\n[rules]\n'
                                 'disable = ["bench.throughput-regression"]\n')
    assert snap("bench", "compare", pre, post, "--config", "snap.toml").code == 0


OWN = """
[[rule]]
id = "house.slow"
title = "below what the house promises"
severity = "medium"
scope = "state"
needs = ["bench"]
each = ["bench", "measurements"]
where = [{ path = ["item", "metric"], op = "equal", value = "output_throughput" }]
check = [{ path = ["item", "status"], op = "equal", value = "failed" }]
causes = "benchmark"
message = "below what the house promises"
evidence = [["item", "kind"]]
now = ["hostsnap bench run --all"]
references = ["the house"]

[[rule.example]]
name = "slow"
verdict = "fail"
class = "existing"
after.sections.bench.measurements.a = { STATUS = "ok", samples = [1.0] }

[[rule.example]]
name = "no number"
verdict = "pass"
after.sections.bench.measurements.a = { STATUS = "failed", why = "x" }
""".replace("STATUS", 'metric = "output_throughput", unit = "tok/s", better = "higher", kind = "serving-low", '
            'workload = {}, source = { tool = "t", format = "text" }, status')


def test_compare_counts_the_findings_of_ones_own_rules_on_benchmarks(snap: Snap, pair: tuple[str, str]) -> None:
    Path("house.toml").write_text(OWN)
    ended = snap("bench", "compare", *pair, "--rules", "house.toml", "-f", "json=found.json", "-f", "text")
    assert ended.code == 1, ended.err
    found = json.loads(Path("found.json").read_text())
    assert {one["rule"] for one in found["findings"]} == {
        "bench.throughput-regression", "bench.p2p-regression", "house.slow"}
    assert "MEDIUM house.slow: 2 findings" in ended.out


def test_compare_says_why_a_side_cannot_be_compared(snap: Snap, pair: tuple[str, str]) -> None:
    snapshot({}, states={"bench": "skipped"}).save("without.toml")
    for sides in ((pair[0], "without.toml"), ("without.toml", pair[0])):
        ended = snap("bench", "compare", *sides)
        assert ended.code == 2 and "a side was taken without the section bench" in ended.err


def test_plot_draws_pairs_and_the_store(snap: Snap, pair: tuple[str, str], store: Path) -> None:
    ladder = snap("bench", "plot", *pair)
    assert ladder.code == 0 and "64" in ladder.out and ET.fromstring(ladder.out).tag.endswith("svg")
    assert snap("bench", "plot", *pair, "--kind", "matrix", "-o", "m.svg").out == ""
    assert "▼26.0" in Path("m.svg").read_text()
    assert snap("bench", "plot").code == 2
    from os import uname

    host = uname().nodename
    for name in pair:
        one = Snapshot.load(name)
        stored.add(host, str(one.meta.taken), one.meta.label, one.dumps().encode())
    broken = Path(stored.add(host, "2026-01-03T00:00:00Z", None, b"what"))
    ended = snap("bench", "plot", "--metric", "sglang/output*")
    assert "2026-01-01 pre" in ended.out and "kernel 6.8.12-9-pve -&gt; 6.14.11-1-pve" in ended.out
    assert f"passed over: {broken}" in ended.err


def test_the_page_lists_every_format() -> None:
    page = (Path(__file__).parents[2] / "docs/benchmarks.md").read_text().partition("## Formats")[2]
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert [name for name in listed if name != "-f"] == [*IMPORTERS]


def test_null_learns_how_noisy_benchmarks_are(snap: Snap, pair: tuple[str, str]) -> None:
    one = filled(snap, "a", [10.0, 10.1, 10.2], [700, 700], "53.00", boot_id="one")
    other = filled(snap, "b", [10.1, 10.0, 10.2], [700, 700.0], "53.10", boot_id="one", taken="2026-01-01T01:00:00Z")
    ended = snap("diff", "--null", one, other, "-o", "volatile.toml")
    assert (ended.code, ended.out) == (0, "") and "fewer than 6 runs" in ended.err
    learned = tomllib.loads(Path("volatile.toml").read_text())
    noise = {key: percent for key, percent in learned["noise"].items() if "output_throughput" in key}
    low, high = (next(key for key in noise if key in Snapshot.load(one).table("bench")["measurements"]
                      and Snapshot.load(one).table("bench")["measurements"][key]["workload"]["concurrency"] == at)
                 for at in ("1", "64"))
    assert noise == {low: 3.3, high: 0.0} and learned["volatile"]["add"] == []  # 100 * 2.571 * 0.0894 / 10.1 * sqrt(2)
    Path("snap.toml").write_text(f'[noise]\n"{high}" = 4\n')
    from snapshot.config import load

    assert load("snap.toml").noise == learned["noise"] | {high: 4}
    Path("volatile.toml").write_text('[noise]\n"x" = -1\n')
    assert "volatile.toml:2: noise.x: -1.0 is no percentage" in snap("diff", one, other, "--config", "snap.toml").err
