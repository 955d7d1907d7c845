"""snap run: what it passes to the command, what it says, and how it exits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from snapshot.document import Snapshot, State
from snapshot.host.base import Host
from snapshot.host.recorded import open_host
from snapshot.sections import NAMES

from ..pairs import GPUS, pci, snapshot
from ..recordings import FIXTURES
from .command import Snap


def side(size: int) -> Snapshot:
    """One GPU with this MaxReadReq; other sections were left out."""
    others: dict[str, State] = {name: "skipped" for name in NAMES if name != "pci"}
    return snapshot({"pci": pci(size, GPUS[:1])}, states=others | {"rdma": "absent"}, meta={"boot_id": "one"})


@pytest.fixture
def sides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Snapshot]:
    """What the next takes give; the host itself is not read."""
    found = [side(size) for size in (4096, 512)]
    left: Iterator[Snapshot] = iter(found)
    monkeypatch.setattr("snapshot.cli.arguments.host", lambda _root, _s: open_host(str(FIXTURES / "hosts/pve-small")))
    monkeypatch.setattr("snapshot.capture.take", lambda _host, _names, _label: next(left))
    monkeypatch.setenv("SNAP_CONFIG", "/dev/null")
    monkeypatch.chdir(tmp_path)
    return found


def test_what_a_command_changed(snap: Snap, sides: list[Snapshot]) -> None:
    ended = snap("run", "--", "true")
    assert ended.code == 1
    assert "pcie.maxreadreq-reverted" in ended.out


@pytest.mark.parametrize(("script", "code", "how"), [
    ("exit 7", 7, "failed with exit code 7"), ("exit 1", 1, "failed with exit code 1"),
    ("kill -TERM $$", 143, "was ended by SIGTERM"), ("kill -36 $$", 164, "was ended by signal 36"),
])
def test_the_command_s_own_status(snap: Snap, sides: list[Snapshot], script: str, code: int, how: str) -> None:
    ended = snap("run", "-f", "text", "-f", "json=run.json", "sh", "-c", script)
    assert ended.code == code
    assert "pcie.maxreadreq-reverted" in ended.out  # it may have changed something before it failed
    end = f"Exit {code}: that of sh, which {how}. Of what changed: new findings at or above high."
    assert " ".join(ended.out.split()).endswith(end)
    assert ended.err.endswith(f": sh {how}\n")
    told = json.loads(Path("run.json").read_text())
    assert (told["exit_code"], told["command"]) == (code, {"command": "sh", "exit_code": code, "how": how})


def test_what_cannot_be_started_is_told(snap: Snap, sides: list[Snapshot], tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/nosuch/interpreter\n")
    broken.chmod(0o755)
    ended = snap("run", str(broken))
    assert ended.code == 126
    assert f"Exit 126: that of {broken}, which could not be run." in " ".join(ended.out.split())


def test_no_such_command_takes_nothing(snap: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Host:
        raise AssertionError("the host was read")

    monkeypatch.setattr("snapshot.cli.arguments.host", never)
    assert snap("run", "nosuch-command").code == 127
    assert snap("run").code == 2
    assert snap("run", "--only", "nosuch", "true").code == 2


def test_options_behind_the_command_are_its_own(snap: Snap, sides: list[Snapshot], tmp_path: Path) -> None:
    snap("run", "-f", "json", "touch", "--", str(tmp_path / "--save"))
    assert (tmp_path / "--save").exists()


def test_save_stores_both(snap: Snap, sides: list[Snapshot], store: Path) -> None:
    ended = snap("run", "--save", "true")
    assert len([*store.rglob("*.snap.toml")]) == 2
    assert ended.err.count(".snap.toml") == 2


def test_sections_that_are_left_out_are_no_open_question(
    snap: Snap, sides: list[Snapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snapshot.capture.take", lambda _host, _names, _label: sides[1])
    assert snap("run", "--only", "pci", "true").code == 0
    assert snap("run", "true").code == 3


def started(tmp_path: Path, script: str) -> subprocess.Popen[str]:
    """The real command, on a take of one cheap section."""
    env = {**os.environ, "SNAP_STORE": str(tmp_path), "SNAP_CONFIG": "/dev/null"}
    return subprocess.Popen([sys.executable, "-m", "snapshot", "run", "--only", "kernel", "--", "sh", "-c", script],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def test_streams_are_the_command_s(tmp_path: Path) -> None:
    process = started(tmp_path, "cat; echo oops >&2")
    out, err = process.communicate("from outside\n")
    assert out.startswith("from outside\n")
    assert "oops" in err
    assert "Compared" in out or "compared" in out


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 5), (signal.SIGINT, 5), (signal.SIGHUP, 5)])
def test_signals_reach_the_command(tmp_path: Path, number: signal.Signals, code: int) -> None:
    word = number.name.removeprefix("SIG")
    wait = "i=0; while [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done"
    process = started(tmp_path, f"trap 'exit 5' {word}; echo ready; {wait}")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.05)
    process.send_signal(number)
    said = process.communicate(timeout=60)
    assert process.returncode == code, said
