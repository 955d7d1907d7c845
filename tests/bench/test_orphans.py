"""Descendants that left the process group: ended with the run that is ended, and nobody else with them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from snapshot.bench import orphans, running
from snapshot.bench.stopping import Stop

RUN = """\
import os, signal, subprocess, sys
from snapshot.bench import orphans, running
from snapshot.bench.running import Command, measure
{before}
running.GRACE_S = 0.2
with orphans.adopted() as ours:
    for text in sys.argv[1:]:
        command = Command("x", ["sh", "-c", text], "generic", timeout_s=2)
        session = measure(command, lambda _: None, lambda _: None, ours)
print(session.stopped, *(run.words for run in session.runs))
{after}
"""
DAEMON = "setsid sh -c 'echo $$ > daemon; trap \"\" TERM; sleep 300 & echo $! > child; wait' & "


def ran(folder: Path, *commands: str, before: str = "", after: str = "") -> subprocess.Popen[str]:
    """A process of its own, which runs COMMANDS as benchmarks in FOLDER and tells how the last of them went."""
    code = RUN.format(before=before, after=after)
    root = str(Path(running.__file__).parents[2])
    return subprocess.Popen([sys.executable, "-c", code, *commands], cwd=folder, stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": root})


def said(process: subprocess.Popen[str]) -> str:
    with process:
        return process.communicate(timeout=60)[0]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def told(path: Path) -> int:
    """The process id that a process writes to PATH."""
    for _ in range(500):
        if path.exists() and (text := path.read_text().strip()):
            return int(text)
        time.sleep(0.02)
    pytest.fail(f"nothing came to {path.name}")


@contextmanager
def ended_after(*paths: Path) -> Iterator[None]:
    """Whatever a test shows, it leaves nothing running."""
    try:
        yield
    finally:
        for path in paths:
            with suppress(FileNotFoundError, ProcessLookupError):
                os.kill(int(path.read_text()), signal.SIGKILL)


def test_what_left_the_group_ends_when_the_time_is_up(tmp_path: Path) -> None:
    daemon, child = tmp_path / "daemon", tmp_path / "child"
    with ended_after(daemon, child):
        assert said(ran(tmp_path, f"{DAEMON} sleep 300")) == "False failed: not done after 2 s\n"
        assert not lives(told(daemon)) and not lives(told(child))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_left_the_group_ends_when_the_user_stops(tmp_path: Path, number: signal.Signals) -> None:
    daemon, child = tmp_path / "daemon", tmp_path / "child"
    with ended_after(daemon, child):
        process = ran(tmp_path, f"{DAEMON} sleep 300")
        pids = told(daemon), told(child)
        process.send_signal(number)
        assert said(process) == "True\n"
        assert not any(map(lives, pids))


def test_nobody_else_is_ended(tmp_path: Path) -> None:
    """Neither the caller's others, nor a server that an earlier command left on purpose, nor a child that was there."""
    served, daemon, other = tmp_path / "served", tmp_path / "daemon", tmp_path / "other"
    bystander = subprocess.Popen(["sleep", "300"], start_new_session=True)
    (tmp_path / "bystander").write_text(str(bystander.pid))
    serves = "setsid sh -c 'echo $$ > served; exec sleep 300' & while [ ! -s served ]; do sleep 0.1; done"
    with bystander, ended_after(served, daemon, other, tmp_path / "child", tmp_path / "bystander"):
        after = "print(subprocess.run(['kill', '-0', open('served').read().strip()]).returncode)"
        words = said(ran(tmp_path, serves, f"{DAEMON} sleep 300", after=after)).splitlines()
        assert words == ["False failed: not done after 2 s", "0"]
        assert lives(told(served)) and not lives(told(daemon)) and bystander.poll() is None
        before = "other = subprocess.Popen(['sleep', '300'], stdout=-3); open('other', 'w').write(str(other.pid))"
        assert "not done" in said(ran(tmp_path, "sleep 300", before=before))
        assert lives(told(other))


LEAVES = "setsid sh -c 'echo $$ > other; exec sleep 300' & sleep 1"  # an orphan, while the benchmark runs
OTHER = f"other = subprocess.Popen(['sh', '-c', {LEAVES!r}], stdout=subprocess.DEVNULL)"


@pytest.mark.parametrize("before", [
    OTHER, "orphans._subreaper = lambda: None", "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "orphans.os.getpid = lambda: 1", "import sys; sys.modules['ctypes'] = None",
])
def test_where_orphans_cannot_be_told_apart_none_is_ended(tmp_path: Path, before: str) -> None:
    daemon, other = tmp_path / "daemon", tmp_path / "other"
    with ended_after(daemon, other, tmp_path / "child"):
        assert "not done after 2 s" in said(ran(tmp_path, f"{DAEMON} sleep 300", before=before))
        assert lives(told(daemon)) and (before is not OTHER or lives(told(other)))


def test_it_is_undone_and_what_ended_meanwhile_is_waited_for(tmp_path: Path) -> None:
    """A benchmark of many short orphans leaves no zombies, neither while it runs nor after."""
    before = "running.LOOK_S = 0.1; get = orphans._subreaper(); was = [get(False)]"
    after = """
was += [get(False)]
try:
    print(was, os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print(was, "no child")
"""
    command = ("for i in 1 2 3 4 5 6 7 8; do (true &) ; done; sleep 1; ps -o stat= --ppid $PPID | grep -c Z >zombies; "
               "echo latency 1 ms")
    assert said(ran(tmp_path, command, before=before, after=after)) == "False latency 1 ms\n[False, False] no child\n"
    assert (tmp_path / "zombies").read_text() == "0\n"


def test_a_subreaper_stays_one() -> None:
    code = ("from snapshot.bench.orphans import _subreaper, adopted\nset_ = _subreaper()\nset_(True)\n"
            "with adopted() as found: assert found.ours\nassert set_(True)\n")
    root = str(Path(running.__file__).parents[2])
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": root}).returncode == 0


def test_a_process_that_nobody_may_end_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of sudo's: it belongs to root."""
    def kill(_pid: int, _number: int) -> None:
        raise PermissionError

    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, "killpg", kill)
        patch.setattr(os, "kill", kill)
        patch.setattr(orphans, "WITHIN_S", 0.1)
        patch.setattr(running, "GRACE_S", 0.1)
        assert orphans.Orphans(ours=True).end(set()) >= 1
        assert running._end(child, Stop(), orphans.Orphans(), set()) == 1
    child.kill()
    child.wait()


def test_only_children_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever /proc says: it may be that of another namespace."""
    command = "setsid sleep 300 >/dev/null 2>&1 & echo $!"
    pid = int(subprocess.run(["sh", "-c", command], capture_output=True, text=True).stdout)
    monkeypatch.setattr(orphans, "_children", lambda: {pid})
    monkeypatch.setattr(orphans, "WITHIN_S", 0.1)
    assert orphans.Orphans(ours=True).end(set()) == 1 and lives(pid)
    os.kill(pid, signal.SIGKILL)
