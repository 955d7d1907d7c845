"""Programs: their output, their limits, and what they cannot do to us."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from snapshot.host import commands
from snapshot.host.base import Command, Result
from snapshot.host.commands import OUTPUT_LIMIT, find, run


def sh(script: str, timeout_s: float = 10.0) -> Command:
    return Command(("sh", "-c", script), timeout_s)


def one(command: Command) -> Result:
    return run([command])[command]


def test_output_and_exit_code() -> None:
    assert one(sh("echo out; echo err >&2; exit 3")) == Result(3, b"out\n", b"err\n")
    assert one(sh("kill -9 $$")) == Result(-signal.SIGKILL)
    assert run([]) == {}


def test_nothing_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD_TEST", "secret")
    environment = one(Command(("env",))).stdout.decode().splitlines()
    assert sorted(line.split("=")[0] for line in environment) == ["HOME", "LC_ALL", "PATH", "TERM"]
    assert one(Command(("pwd",))).stdout == b"/\n"
    assert one(sh("cat")) == Result(0)
    held = one(Command(("ls", "/proc/self/fd"))).stdout.split()
    assert held == [b"0", b"1", b"2", b"3"]


def test_a_program_that_is_not_there() -> None:
    for name in ("hostsnap-no-such-program", "/bin/sh", "../bin/sh", "", ".", "..", "a\0b"):
        assert one(Command((name,))) == Result(None, why="not-found")


def test_a_word_that_no_program_can_get() -> None:
    assert one(Command(("echo", "a\0b"))).why == "denied"


def test_the_safe_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o644)
    assert find("program", [str(tmp_path)]) == ("", "denied")
    program.chmod(0o755)
    tmp_path.chmod(0o755)
    assert find("program", [str(tmp_path)]) == (str(program), "")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for mode in (0o775, 0o757):
        program.chmod(mode)
        assert find("program", [str(tmp_path)]) == ("", "denied")
    program.chmod(0o755)
    tmp_path.chmod(0o777)
    assert find("program", [str(tmp_path)]) == ("", "denied")
    assert find("sh", [str(tmp_path), "/nowhere", "/bin"]) == ("/bin/sh", "")


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\0not a program")
    (tmp_path / "text").chmod(0o755)
    tmp_path.chmod(0o755)
    command = Command(("text",))
    assert run([command], path=[str(tmp_path)])[command].why == "denied"


def test_a_time_limit_keeps_what_was_said() -> None:
    began = time.monotonic()
    assert one(sh("echo early; sleep 20", 0.3)) == Result(None, b"early\n", why="timeout")
    assert time.monotonic() - began < 5


def test_one_that_ignores_signals_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_TERM_S", 0.2)
    result = one(sh("trap '' TERM; echo $$; while :; do sleep 1; done", 0.3))
    assert result.why == "timeout"
    with pytest.raises(ProcessLookupError):
        os.kill(int(result.stdout), 0)


def test_the_whole_group_is_killed() -> None:
    result = one(sh("sleep 20 & echo $!; wait", 0.3))
    assert result.why == "timeout"
    limit = time.monotonic() + 5
    status = Path(f"/proc/{int(result.stdout)}/stat")
    while status.exists() and status.read_text().split()[2] != "Z" and time.monotonic() < limit:
        time.sleep(0.01)
    assert time.monotonic() < limit


def test_a_grandchild_that_holds_the_pipe_is_not_waited_for() -> None:
    began = time.monotonic()
    result = one(sh("sleep 20 & echo $!; exit 4"))
    os.kill(int(result.stdout), signal.SIGKILL)
    assert result.exit_code == 4
    assert time.monotonic() - began < 5


def test_a_flood_is_cut() -> None:
    result = one(Command(("yes",)))
    assert (result.why, result.exit_code) == ("output-limit", None)
    assert len(result.stdout) == OUTPUT_LIMIT
    assert len(one(sh(f"head -c {OUTPUT_LIMIT} /dev/zero")).stdout) == OUTPUT_LIMIT


def test_a_flood_by_a_grandchild_is_cut() -> None:
    began = time.monotonic()
    result = one(sh("yes & echo $! >&2; exit 0"))
    os.kill(int(result.stderr.split()[0]), signal.SIGKILL)
    assert len(result.stdout) <= OUTPUT_LIMIT
    assert time.monotonic() - began < 5


def test_side_by_side() -> None:
    began = time.monotonic()
    wanted = [sh(f"sleep 0.5; echo {n}") for n in range(6)]
    results = run([*wanted, *wanted])
    assert [results[c].stdout for c in wanted] == [f"{n}\n".encode() for n in range(6)]
    assert time.monotonic() - began < 2


def test_the_deadline_of_the_take_ends_all() -> None:
    began = time.monotonic()
    assert run([sh("sleep 20")], began + 0.3)[sh("sleep 20")].why == "timeout"
    assert time.monotonic() - began < 5


def test_pipes_closed_early_do_not_end_the_wait() -> None:
    assert one(sh("exec >&- 2>&-; sleep 0.2; exit 5")) == Result(5)
