"""snap forecast: findings, lines, baselines, other kernels, exit codes; and diff, which says what came true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapshot.document import Snapshot
from snapshot.report.review import review
from tests.recordings import pair

from ..derive.tuned import host
from .command import Snap

PRE = "pre.toml"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAP_CONFIG", raising=False)


def swappiness(value: int, **meta: object) -> Snapshot:
    return host({"boot_id": "one", "machine": "m", "taken": "2026-01-02T00:00:00Z", "uptime_s": 90_000, **meta},
                sysctl={"values": {"fs.aio-max-nr": value}})


def test_the_story_before_the_reboot(snap: Snap) -> None:
    pair("kernel-upgrade-majors-moved")[0].save(PRE)
    ended = snap("forecast", "./" + PRE)
    assert ended.code == 1
    assert "it would boot 6.14.11-1-pve (newest kernel in /boot)." in ended.out
    assert "BREAKS: 2 critical, 1 high." in ended.out
    for line in ("REVERTS   MaxReadReq 4096 -> 512 on 8 GPUs", "CHANGES   cmdline + amd_pstate=active",
                 "CHANGES   cpufreq driver acpi-cpufreq -> amd-pstate-epp", "/etc/pve/lxc/101.conf:14"):
        assert line in ended.out
    assert "How finding" not in ended.out and "KEPT      kernel.numa_balancing" not in ended.out


def test_everything_lists_what_is_kept(snap: Snap) -> None:
    pair("healthy-reboot")[0].save(PRE)
    ended = snap("forecast", "./" + PRE, "--all")
    assert "KEPT      kernel.numa_balancing 0\n          /etc/sysctl.d/90-gpu.conf:2" in ended.out


@pytest.mark.parametrize(("options", "code"), [
    ([], 1), (["--fail-on", "critical", "--only", "pcie.maxreadreq-reverted"], 0),
    (["--only", "pcie.maxreadreq-reverted"], 1), (["--ignore", "lxc", "--ignore", "pci"], 0),
    (["--only", "nonsense"], 2),
    (["--for", "5.0"], 2), (["--baseline", "no/such.toml"], 2),
])
def test_exit_codes(snap: Snap, options: list[str], code: int) -> None:
    pair("kernel-upgrade-majors-moved")[0].save(PRE)
    assert snap("forecast", "./" + PRE, *options).code == code


def test_without_a_snapshot_it_is_this_host(snap: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snapshot.cli.arguments.live", lambda: pair("tuning-reverted")[0])
    assert "REVERTS   vm.swappiness 10 -> 60" in snap("forecast").out


def test_a_baseline_is_given_or_found_in_the_store(snap: Snap, store: Path) -> None:
    swappiness(1_048_576).save(PRE)
    silent = snap("forecast", "./" + PRE)
    assert "REVERTS" not in silent.out and "OPEN      1 setting" in silent.out
    folder = store / "pve1"
    folder.mkdir(parents=True)
    base = swappiness(65_536, taken="2026-01-01T00:00:00Z", uptime_s=30)
    base.save(str(folder / "20260101T000000Z-boot.snap.toml"))
    for options in ([], ["--baseline", "pve1/boot"]):
        ended = snap("forecast", "./" + PRE, *options)
        assert "REVERTS   fs.aio-max-nr 1048576 -> 65536" in ended.out
        assert "known from the baseline of this boot" in ended.out


def test_a_late_or_broken_stored_snapshot_is_no_baseline(snap: Snap, store: Path) -> None:
    swappiness(1_048_576).save(PRE)
    folder = store / "pve1"
    folder.mkdir(parents=True)
    (folder / "20260101T000001Z.snap.toml").write_text("not a snapshot")
    late = swappiness(65_536, taken="2026-01-01T00:00:00Z")
    late.save(str(folder / "20260101T000000Z-late.snap.toml"))
    assert "REVERTS" not in snap("forecast", "./" + PRE).out
    assert "REVERTS" in snap("forecast", "./" + PRE, "--baseline", "pve1/late").out  # the user says so


def test_another_host_is_no_baseline(snap: Snap) -> None:
    swappiness(1).save(PRE)
    swappiness(2, machine="other").save("base.toml")
    ended = snap("forecast", "./" + PRE, "--baseline", "./base.toml")
    assert (ended.code, ended.out) == (2, "")
    assert "./base.toml is no baseline for this forecast: it is of another machine" in ended.err


def test_standard_input_can_be_one_only(snap: Snap) -> None:
    assert snap("forecast", "-", "--baseline", "-").code == 2


def test_json_and_markdown(snap: Snap) -> None:
    pair("tuning-reverted")[0].save(PRE)
    told = json.loads(snap("forecast", "./" + PRE, "-f", "json").out)
    rows = {row["key"]: row for row in told["forecast"]["predictions"]}
    assert told["forecast"]["kernel"] == "6.14.11-1-pve" and told["exit_code"] == 1
    assert (rows["sysctl vm.swappiness"]["now"], rows["sysctl vm.swappiness"]["next"]) == (10, 60)
    markdown = snap("forecast", "./" + PRE, "-f", "markdown").out
    assert "it would boot 6.14.11-1-pve" in markdown
    assert [line for line in markdown.splitlines() if line.startswith("- REVERTS vm.swappiness 10 ")]


def test_diff_says_what_came_true(snap: Snap) -> None:
    before, after = pair("kernel-upgrade-majors-moved")
    before.save(PRE)
    after.save("post.toml")
    assert "Forecast: 55 of 55 came true." in snap("diff", "./" + PRE, "./post.toml").out
    told = json.loads(snap("diff", "./" + PRE, "./post.toml", "-f", "json").out)
    assert told["forecast_score"] == {"true": 55, "total": 55, "missed": [], "wrong": [], "not_scored": []}


def test_within_one_boot_there_is_nothing_to_score() -> None:
    assert review(swappiness(1), swappiness(2)).score is None


def test_a_fault_and_its_forecast_are_both_listed_and_both_disabled(snap: Snap, tmp_path: Path) -> None:
    both = [line.split()[2] for line in snap("rules", "list").out.splitlines()
            if line.startswith("pcie.maxreadreq-reverted ")]
    assert both == ["change", "forecast"]
    assert "is lower than before" in snap("rules", "show", "pcie.maxreadreq-reverted").out
    config = tmp_path / "snap.toml"
    config.write_text('[rules]\ndisable = ["pcie.maxreadreq-reverted"]\n')
    pair("tuning-reverted")[0].save(PRE)
    out = snap("forecast", "./" + PRE, "--config", str(config)).out
    assert "PCIe MaxReadReq will be" not in out and "MaxReadReq 4096 -> 512" in out
