from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from snapshot.derive import derived
from snapshot.derive.pci.read_requests import operand

from ..made import snapshot


def function(size: int | None, serial: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "vendor": "10de",
        "device": "2bb5",
        "class_code": "030200",
        "driver": "nvidia",
        "source": "config",
    }
    found |= {"express": {"type": "endpoint", "max_read_request_bytes": size}} if size else {}
    return found | ({"serial": serial} if serial else {})


def pci(**sizes: int | None) -> dict[str, Any]:
    """Section pci: GPUs on these buses (b01=512 is 0000:01:00.0) with these values."""
    return {"functions": {f"0000:{bus[1:]}:00.0": function(size) for bus, size in sizes.items()}}


def rows(now: dict[str, Any], then: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    return derived("read_requests", snapshot(pci=now), snapshot(pci=then) if then else None).rows


@pytest.mark.parametrize(
    ("size", "value"),
    [
        (128, "0000:7000"),
        (512, "2000:7000"),
        (4096, "5000:7000"),
        (16384, "7000:7000"),
        (500, None),
        (64, None),
        (0, None),
        (32768, None),
        (-128, None),
    ],
)
def test_operand(size: int, value: str | None) -> None:
    assert operand(size) == value


def test_lowered() -> None:
    row = rows(pci(b01=512, b21=512), pci(b01=4096, b21=4096))["0000:01:00.0"]
    assert row == row | {
        "address": "0000:01:00.0",
        "vendor": "10de",
        "device": "2bb5",
        "class_code": "030200",
        "driver": "nvidia",
        "bytes": 512,
        "write": "2000:7000",
        "group": "10de:2bb5 nvidia",

        "sibling_bytes": {"512": ["0000:01:00.0", "0000:21:00.0"]},
        "mixed": False,
        "before_bytes": 4096,
        "lowered": True,
        "restore": "setpci -s 0000:01:00.0 CAP_EXP+8.w=5000:7000",
    }


def test_raised_or_same_needs_no_cure() -> None:
    found = rows(pci(b01=4096, b21=512), pci(b01=512, b21=512))
    assert all(not r["lowered"] and not {"restore", "durable"} & r.keys() for r in found.values())
    assert found["0000:01:00.0"]["mixed"]


def test_without_a_before() -> None:
    row = rows(pci(b01=4096))["0000:01:00.0"]
    assert row["write"] == "5000:7000" and not {"before_bytes", "lowered"} & row.keys()


def test_function_that_moved_is_still_the_same() -> None:
    then = {"functions": {"0000:01:00.0": function(4096, "aa"), "0000:02:00.0": function(512, "bb")}}
    now = {"functions": {"0000:02:00.0": function(512, "aa"), "0000:03:00.0": function(512, "bb")}}
    found = rows(now, then)
    assert [found[a]["lowered"] for a in ("0000:02:00.0", "0000:03:00.0")] == [True, False]


def test_functions_without_the_register_have_no_row() -> None:
    assert rows(pci(b01=None), pci(b01=4096)) == {}


def test_unread_registers_are_unknown() -> None:
    unread = {"pci": ["functions", "0000:01:00.0", "express"]}
    found = derived("read_requests", snapshot(unread, pci=pci(b01=None, b21=512)), None)
    assert list(found.rows) == ["0000:21:00.0"]
    assert [(u["subject"], u["why"]) for u in found.unknown] == [("0000:01:00.0", "EACCES")]
    found = derived("read_requests", snapshot({"pci": ["functions"]}, pci={"functions": {}}), None)
    assert [u["subject"] for u in found.unknown] == [""]


def start(unit: str, folder: Path, found: str, writable: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs the unit's command as systemd would; the fake setpci keeps one file a function."""
    (folder / "lspci").write_text(f"#!/bin/sh\nprintf '{found}'\n")
    write = 'echo 2930 > "$f"; case $3 in *=*:7000) echo "${3#*=}" | sed "s/^\\(.\\).*/\\1930/" > "$f";; esac'
    (folder / "setpci").write_text(
        f'#!/bin/sh\nf={folder}/reg-$2\ncase $3 in *=*) {write if writable else ":"};; *) cat "$f";; esac\n'
    )
    for name in ("lspci", "setpci"):
        (folder / name).chmod(0o755)
    line = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    argv = shlex.split(line.removeprefix("ExecStart=").replace("$$", "$"))
    return subprocess.run(
        argv, capture_output=True, text=True, check=False, env={"PATH": f"{folder}:/usr/bin:/bin"}
    )


def unit(now: dict[str, Any], then: dict[str, Any]) -> str:
    commands = rows(now, then)["0000:01:00.0"]["durable"]
    name = "hostsnap-maxreadreq-10de-2bb5-4096.service"
    assert commands[1:] == ["systemctl daemon-reload", f"systemctl enable --now {name}"]
    text: str = commands[0]
    assert text.startswith(f"cat > /etc/systemd/system/{name} <<'EOF'\n[Unit]\n") and text.endswith("\nEOF")
    return text


def test_unit_sets_every_function_and_reads_back(tmp_path: Path) -> None:
    text = unit(pci(b01=512, b21=512), pci(b01=4096, b21=4096))
    ids = "0000:01:00.0 0302: 10de:2bb5\\n0000:a1:00.0 0302: 10de:2bb5\\n"
    assert start(text, tmp_path, ids).returncode == 0
    assert [(tmp_path / f"reg-0000:{bus}:00.0").read_text() for bus in ("01", "a1")] == ["5930\n", "5930\n"]


def test_unit_fails_when_nothing_was_written_or_found(tmp_path: Path) -> None:
    text = unit(pci(b01=512), pci(b01=4096))
    (tmp_path / "reg-0000:01:00.0").write_text("2930\n")
    done = start(text, tmp_path, "0000:01:00.0 0302: 10de:2bb5\\n", writable=False)
    assert done.returncode != 0 and "0000:01:00.0: MaxReadReq is not 4096 bytes" in done.stdout
    assert start(text, tmp_path, "").returncode != 0
    assert start(text, tmp_path, "0000:77:00.0 0302: 10de:2bb5\\n", writable=False).returncode != 0


def test_unit_leaves_alone_what_had_another_value() -> None:
    text = unit(pci(b01=512, b21=512), pci(b01=4096, b21=512))
    assert "for d in 0000:01:00.0; do" in text and "lspci" not in text
