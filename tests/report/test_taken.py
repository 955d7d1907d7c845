"""The summary of a take, and what -v adds."""

from __future__ import annotations

from snapshot import sections
from snapshot.document import Meta, Outcome, Snapshot, UnreadFact
from snapshot.report import taken

META = Meta(format=1, tool="0", host="h", source="live", uid=0)


def test_the_summary_fits_80_columns_with_trouble_in_every_section() -> None:
    unread = [UnreadFact(path=["x"], source="/sys/" + "long/" * 30, why="EACCES")] * 1200
    outcomes = {name: Outcome(state="timeout", facts=0, unread=unread) for name in sections.NAMES}
    snapshot = Snapshot.build(META, outcomes, {}, {})
    text = taken.render(snapshot, "/f.toml", "@1", 1.0, "snap").splitlines()
    assert len(text) == len(sections.NAMES) + 4
    assert max(map(len, text)) <= 80


def test_of_a_long_source_the_end_is_said_and_of_no_reason_a_part() -> None:
    def line(source: str, why: str) -> str:
        outcomes = {name: Outcome(state="timeout", facts=0) for name in sections.NAMES}
        outcomes["pci"] = Outcome(state="timeout", facts=0, unread=[UnreadFact(path=["x"], source=source, why=why)])
        text = taken.render(Snapshot.build(META, outcomes, {}, {}), "/f", "@1", 1.0, "snap")
        return next(line for line in text.splitlines() if line.startswith("  timeout  pci "))

    config, why = "/sys/bus/pci/devices/0000:a1:00.0/config", "device does not answer (all ones)"
    assert line(config, "EACCES") == f"  timeout  pci      {config}: EACCES"
    assert line(config, why) == f"  timeout  pci      .../0000:a1:00.0/config: {why}"
    assert line("a-command with --many words", f"{why}, {'x' * 20}") == f"  timeout  pci      {why}, {'x' * 20}"


def test_an_accelerator_without_a_display_is_a_gpu() -> None:
    functions = {"0000:01:00.0": {"class_code": "120000", "vendor": "1002"},
                 "0000:02:00.0": {"class_code": "030000", "vendor": "1a03"},
                 "0000:03:00.0": {"class_code": "120000", "vendor": "1da3"},
                 "0000:04:00.0": {"class_code": "030200", "vendor": "10de"}}
    assert taken.gpus(functions) == ["0000:01:00.0", "0000:04:00.0"]


def test_timings_name_the_slowest_and_the_programs_waited_for() -> None:
    ok, late = Outcome(state="ok", facts=1), Outcome(state="timeout", facts=1234)
    text = taken.render_timings([
        taken.Timing("os", ok, 0.5, 0, ()),
        taken.Timing("net", ok, 0.03, 5.0, ("/usr/sbin/ethtool",)),
        taken.Timing("nvidia", late, 0.01, 5.0, ("nvidia-smi", "journalctl")),
    ])
    assert text.splitlines() == [
        "  ok       os             1 fact   0.500 s",
        "  ok       net            1 fact   0.030 s + 5.000 s for ethtool",
        "  timeout  nvidia    1,234 facts   0.010 s + 5.000 s for nvidia-smi, journalctl",
        "  slowest: nvidia, 5.010 s",
    ]
    assert max(map(len, text.splitlines())) <= 80
    assert taken.render_timings([]) == ""
