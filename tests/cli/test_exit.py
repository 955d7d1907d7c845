"""How the command ends as a process: what a shell and a pipe see. 1 means findings and nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ..recordings import taken

SNAP = f"{sys.executable} -m snapshot"


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """SCRIPT in bash, in which $SNAP is the command and the exit code is the first one of a pipe."""
    return subprocess.run(
        ["bash", "-c", f"{script}; exit ${{PIPESTATUS[0]}}"], cwd=cwd, capture_output=True, text=True, timeout=60,
        env={"SNAP": SNAP, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the snapshots a.toml and b.toml, which are the same."""
    for name in ("a.toml", "b.toml"):
        taken("pve-small").save(str(tmp_path / name))
    return tmp_path


@pytest.mark.parametrize("verb", [
    "show a.toml", "diff a.toml b.toml", "take -o - --only os,cmdline", "log --all", "check a.toml", "rules list",
])
@pytest.mark.parametrize(("onto", "said"), [(">/dev/full", "No space left"), (">&-", "")])
def test_output_that_cannot_be_written_is_a_tool_error(folder: Path, verb: str, onto: str, said: str) -> None:
    ended = shell(f"$SNAP {verb} {onto}", folder)
    if said or "take" in verb:
        assert ended.returncode == 2
        assert ended.stderr.count("\n") == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("verb", ["show a.toml sysctl lxc pci", "diff a.toml b.toml", "--help"])
def test_a_reader_that_has_gone_is_no_finding(folder: Path, verb: str) -> None:
    ended = shell(f"$SNAP {verb} | sh -c 'exec <&-; sleep 1'", folder)
    assert ended.returncode == 141
    assert ended.stderr == ""


def test_a_closed_standard_error_costs_nothing(folder: Path) -> None:
    ended = shell("$SNAP take -o x.toml --only os 2>&-", folder)
    assert ended.returncode == 0
    assert (folder / "x.toml").exists()


def test_an_interrupt_is_no_finding(folder: Path) -> None:
    ended = shell("mkfifo in; (exec 3>in; sleep 3) & timeout -s INT 1 $SNAP show - <in", folder)
    assert ended.returncode in (124, 130)
    assert "Traceback" not in ended.stderr


HANGS = """
import sys
from snapshot import __main__ as command
from snapshot.cli import snap
from snapshot.host.base import Command
from snapshot.host.live import Live
script = f"trap '' TERM; echo $$ > {sys.argv[1]}.new; mv {sys.argv[1]}.new {sys.argv[1]}; sleep 60"
snap.main = lambda **_: Live().run([Command(("sh", "-c", script), timeout_s=60)])
command.run()
"""


def lives(pid: str) -> bool:
    """Whether there is such a process, and not only what is left of it until somebody asks."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


@pytest.mark.parametrize(("number", "code"), [
    (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP), (signal.SIGINT, 130),
])
def test_a_signal_ends_the_programs_that_a_take_waits_for(tmp_path: Path, number: signal.Signals, code: int) -> None:
    told = tmp_path / "pid"
    process = subprocess.Popen([sys.executable, "-c", HANGS, str(told)], stderr=subprocess.PIPE, text=True)
    while not told.exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == code
    until = time.monotonic() + 10
    while lives(told.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.02)
    assert not lives(told.read_text().strip())


def test_nohup_is_kept() -> None:
    script = """
import signal
from snapshot import __main__ as command
command.main = lambda: print(signal.getsignal(signal.SIGHUP).name, flush=True)
command.run()
"""
    told = subprocess.run(["nohup", sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert told.stdout == "SIG_IGN\n"


@pytest.mark.parametrize("where", ["snapshot.cli", "click", "snapshot.errors", "snapshot.cli.show"])
def test_an_interrupt_while_it_starts_is_no_fault(where: str, folder: Path) -> None:
    script = f"""
import sys
from snapshot import __main__ as command
class Finder:
    def find_spec(self, name, *_):
        if name == {where!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
command.run()
"""
    told = subprocess.run([sys.executable, "-c", script, "show", "a.toml"], cwd=folder, capture_output=True, text=True,
                          env={"PYTHONPATH": str(Path(__file__).parents[2])}, check=False)  # fmt: skip
    assert (told.returncode, told.stdout, told.stderr.strip()) == (130, "", "")


def test_standard_input_is_a_snapshot_like_any_other(folder: Path) -> None:
    ended = shell("$SNAP diff - b.toml <a.toml; $SNAP show - meta.host <a.toml", folder)
    assert ended.stdout.endswith("meta.host = small\n")
    assert " 0 changed" in ended.stdout


@pytest.mark.parametrize("verb", ["diff a.toml b.toml", "diff a.toml b.toml -f markdown", "check b.toml --all"])
def test_what_the_terminal_cannot_show_is_no_finding(folder: Path, verb: str) -> None:
    text = (folder / "b.toml").read_text()
    (folder / "b.toml").write_text(text.replace('host = "small"', 'host = "→"'))
    plain = shell(f"$SNAP {verb}", folder)
    assert "→" in plain.stdout
    ended = shell(f"PYTHONIOENCODING=latin1 $SNAP {verb}", folder)
    assert "Traceback" not in ended.stderr
    assert (ended.returncode, ended.stdout) == (plain.returncode, plain.stdout.replace("→", "\\u2192"))
