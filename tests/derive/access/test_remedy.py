"""The commands are run: sed on a real file, with a fake pct; the file is read by the collector itself."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from snapshot.collectors import lxc as collector
from snapshot.derive import derived
from tests.collectors.fake import MemoryHost, gather

from ..made import ALLOW, CONF, devices, snapshot

COMMON = "lxc.cgroup2.devices.deny = a\nlxc.cgroup2.devices.allow = c *:* m\n"
TEXT = f"""arch: amd64
dev0: /dev/nvidia0
hostname: llm
{ALLOW}: c 195:* rwm
{ALLOW}: c 508:* rwm
{ALLOW}:\tc\t506:* rwm
lxc.mount.entry: /dev/nvidia-uvm dev/nvidia-uvm none bind,optional,create=file 0 0
lxc.mount.entry: /dev/nvidia-caps dev/nvidia-caps none bind,optional,create=dir 0 0
lxc.mount.entry: /dev/dri/renderD128 dev/dri/renderD128 none bind,optional,create=file 0 0

[before-upgrade]
{ALLOW}: c 508:* rwm
lxc.mount.entry: /dev/nvidia-uvm dev/nvidia-uvm none bind,optional,create=file 0 0
"""

RAW = [line for line in TEXT.partition("\n[")[0].splitlines() if line.startswith("lxc.")]
GENERATED = "\n".join(
    ["lxc.include = /usr/share/lxc/config/common.conf", *(line.replace(":", " =", 1) for line in RAW), ""]
)


def rows(
    file: Path, before: dict[str, Any] | None, now: dict[str, Any], generated: str = ""
) -> dict[str, dict[str, Any]]:
    """The table of a host with FILE for container 101, which runs if its start GENERATED a file."""
    running = {"/sys/fs/cgroup/lxc/101/cgroup.events": "populated 1\nfrozen 0\n"} if generated else {}
    started = {"/var/lib/lxc/101/config": generated} if generated else {"/var/lib/lxc/": ""}
    host = MemoryHost(
        {
            CONF: file.read_text(),
            "/usr/share/lxc/config/common.conf": COMMON,
            "/sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
            **started,
            **running,
        }
    )
    section = gather(collector, host)[0].table()
    then = snapshot(devices=before, lxc=section) if before else None
    return derived("device_access", snapshot(devices=now, lxc=section), then).rows


def run(commands: list[str], folder: Path) -> None:
    for name in ("pct", "lxc-stop", "lxc-start"):
        fake = folder / name
        fake.write_text('#!/bin/sh\necho "$0 $*" >> "$(dirname "$0")/log"\n')
        fake.chmod(0o755)
    for command in commands:
        here = command.replace(CONF, str(folder / "101.conf"))
        subprocess.run(["bash", "-c", here], check=True, env={"PATH": f"{folder}:/usr/bin:/bin"})


def conf(folder: Path) -> Path:
    file = folder / "101.conf"
    file.write_text(TEXT)
    return file


def test_what_is_pasted_now_lets_every_device_through(tmp_path: Path) -> None:
    file, before, now = conf(tmp_path), devices(508, 506), devices(511, 507)
    denied = [r for r in rows(file, before, now).values() if r["reason"] == "stale-major"]
    assert {r["device"] for r in denied} == {
        "/dev/nvidia-uvm",
        "/dev/nvidia-caps/nvidia-cap1",
        "/dev/nvidia-caps/nvidia-cap2",
    }
    for row in [*denied, *denied]:  # a second time changes nothing
        run(row["now"], tmp_path)
    text = file.read_text()
    render, header = f"{ALLOW}: c 226:128 rwm\n", "\n[before-upgrade]"
    assert text == TEXT.replace("c 508", "c 511", 1).replace("c\t506", "c\t507").replace(header, render + header)
    assert {r["access"] for r in rows(file, before, now).values()} == {"allowed"}
    for row in denied:
        assert {c["new"] for c in row["corrected"]} <= set(text.splitlines())


def test_what_is_pasted_for_good_removes_lines_and_passes_devices(tmp_path: Path) -> None:
    file = conf(tmp_path)
    found = rows(file, devices(508, 506), devices(511, 507), GENERATED)
    row = found["101 /dev/nvidia-uvm"]
    assert row["durable"] == found["101 /dev/nvidia-caps/nvidia-cap1"]["durable"]
    run(row["durable"], tmp_path)
    lines, kept = TEXT.splitlines(), file.read_text().splitlines()
    # the render node goes too: no rule of the container covers it, so that it was denied as well
    assert kept == lines[:4] + lines[9:]
    passed = [
        "-dev1 /dev/dri/renderD128,mode=0660,gid=104",
        "-dev2 /dev/nvidia-caps/nvidia-cap1,mode=0400",
        "-dev3 /dev/nvidia-caps/nvidia-cap2,mode=0444",
        "-dev4 /dev/nvidia-uvm,mode=0666",
    ]
    assert (tmp_path / "log").read_text().replace(f"{tmp_path}/", "").splitlines() == [
        f"pct set 101 {' '.join(passed)}",
        "pct reboot 101",
    ]
    run(row["durable"][:1], tmp_path)
    assert file.read_text().splitlines() == kept, "pasted twice, it must hit nothing else"


def test_rules_of_which_nothing_tells_the_device_go_where_another_driver_has_their_number(tmp_path: Path) -> None:
    file, now = conf(tmp_path), devices(511, 507, mei=508, rtc=506)
    found = rows(file, None, now)
    row = found["101 /dev/nvidia-uvm"]
    assert row["reason"] == "stale-major" and not {"old_major", "corrected"} & row.keys()
    assert [f"which {owner} has now" in line for owner, line in zip(("mei", "rtc"), row["warnings"][-2:], strict=True)]
    for _ in range(2):  # a second time changes nothing
        run(row["now"], tmp_path)
    live = file.read_text().partition("\n[")[0]
    assert "508:" not in live and "506:" not in live and "c 195:* rwm" in live
    assert TEXT.partition("\n[")[2] == file.read_text().partition("\n[")[2]
    assert {r["access"] for r in rows(file, None, now).values()} == {"allowed"}
    file.write_text(TEXT)
    run(row["durable"], tmp_path)
    assert "508:" not in file.read_text().partition("\n[")[0]


def test_rule_that_is_missing_is_added_to_the_live_part(tmp_path: Path) -> None:
    file = conf(tmp_path)
    row = rows(file, devices(508, 506), devices(508, 506))["101 /dev/dri/renderD128"]
    assert row["reason"] == "never-allowed"
    run(row["now"], tmp_path)
    assert rows(file, devices(508, 506), devices(508, 506))["101 /dev/dri/renderD128"]["access"] == "allowed"
    assert file.read_text().endswith(TEXT.partition("\n[")[2])


def test_warnings_tell_where_it_can_hurt(tmp_path: Path) -> None:
    row = rows(conf(tmp_path), devices(508, 506), devices(511, 507), GENERATED)["101 /dev/nvidia-uvm"]
    order, stops = row["warnings"]
    assert "File exists" in order and "stops everything" in stops and "101" in order and "101" in stops
    stopped = rows(conf(tmp_path), devices(508, 506), devices(511, 507))["101 /dev/nvidia-uvm"]
    assert stopped["warnings"] == [order]


def test_all_indexes_taken_leaves_no_durable_remedy(tmp_path: Path) -> None:
    file = conf(tmp_path)
    taken = "".join(f"dev{n}: /dev/nvidia0\n" for n in range(256))
    file.write_text(taken + file.read_text())
    row = rows(file, devices(508, 506), devices(511, 507))["101 /dev/nvidia-uvm"]
    assert "durable" not in row and row["now"]


def test_text_that_counts_for_nothing_is_told(tmp_path: Path) -> None:
    file = conf(tmp_path)
    file.write_text(
        f"{ALLOW}: c 195:* rwm\n {ALLOW}: c 511:* rwm\nhookscript: local:snippets/x.pl\n"
        "lxc.mount.entry: /dev/nvidia-uvm dev/nvidia-uvm none bind,optional,create=file\n"
        f"\n[old]\n{ALLOW}: c 511:* rwm\n"
    )
    started = GENERATED + "lxc.mount.entry = /dev/nvidia-uvm dev/nvidia-uvm none bind,optional,create=file\n"
    row = rows(file, devices(508), devices(511), started)["101 /dev/nvidia-uvm"]
    assert row["reason"] == "rule-ignored-by-pve" and row["access_next_start"] == "unknown"
    assert [(a["reason"], a["line"]) for a in row["also"]] == [
        ("rule-ignored-by-pve", 2),
        ("rule-in-snapshot", 7),
    ]
    assert any("x.pl" in w for w in row["warnings"])
