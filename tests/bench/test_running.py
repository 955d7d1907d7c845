"""Commands that measure: each run a sample, failures kept, nothing left running, nothing of the environment kept."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from snapshot.bench import running
from snapshot.bench.adding import Extra, with_reports
from snapshot.bench.orphans import Orphans
from snapshot.bench.report import Metric, Report, Value
from snapshot.bench.running import Command, Run, Session, measure
from snapshot.bench.stopping import Stop
from snapshot.document import Snapshot
from snapshot.errors import SnapError
from snapshot.sections.bench import Bench, Measurement

from ..pairs import snapshot

LINE = '{{"completed": 8, "output_throughput": {n}, "total_output_tokens_retokenized": 20, "max_concurrency": 1}}'
Script = Callable[..., Command]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A benchmark in Python that counts its runs in n; LINE prints the report of one."""
    def made(body: str, repeat: int = 3, warmup: int = 0, timeout_s: float | None = None) -> Command:
        path = tmp_path / "bench.py"
        path.write_text("import os, sys, time, signal, subprocess\n"
                        f"here = {str(tmp_path)!r}\n"
                        "n = len(open(here + '/count', 'a+').write('x') and open(here + '/count').read())\n"
                        f"line = lambda value: print({LINE!r}.format(n=value))\n" + textwrap.dedent(body))
        return Command("made", [sys.executable, str(path)], "sglang", repeat, warmup, timeout_s)

    return made


def done(command: Command) -> tuple[Session, list[Run]]:
    ended: list[Run] = []
    return measure(command, lambda _: None, ended.append), ended


def one(session: Session) -> Measurement:
    made = with_reports(snapshot({}), session.reports(), Extra())
    found = Snapshot.loads(made.dumps().encode(), "made").section("bench")
    assert isinstance(found, Bench)
    return next(one for one in found.measurements.values() if one.metric in ("output_throughput", "run"))


def test_each_run_is_a_sample_and_a_warm_up_is_none(script: Script) -> None:
    session, ended = done(script("line(n)", repeat=3, warmup=2))
    assert one(session).samples == [3.0, 4.0, 5.0] and session.failed == 0 and not session.stopped
    assert [run.number for run in ended] == [-1, 0, 1, 2, 3]
    assert "output_throughput 3 tok/s" in ended[2].words and 0 < ended[2].seconds < 60


def test_a_run_that_fails_is_kept_as_failed_with_its_exit_status(script: Script) -> None:
    session, ended = done(script("line(n)\nif n == 2: print('no\\x1b[31m memory', file=sys.stderr); sys.exit(7)"))
    found = one(session)
    assert (found.samples, found.failed, found.status) == ([1.0, 3.0], 1, "partial")
    assert found.why == "run 2: exit status 7"
    assert ended[1].words == "failed: exit status 7" and ended[1].said[0].startswith("no")


@pytest.mark.parametrize(("body", "why"), [
    ("os.kill(os.getpid(), 11)", "ended by signal 11"), ("print('hello')", "made"), ("", "made"),
    ("print('x' * 3000000)", "printed more than 1 MiB"),
])
def test_runs_that_all_fail_are_one_failed_measurement(
    script: Script, body: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "LIMIT_BYTES", 1 << 20)
    session, _ = done(script(body, repeat=2))
    found = one(session)
    assert session.failed == 2
    assert (found.metric, found.samples, found.failed, found.status) == ("run", [], 2, "failed")
    assert found.workload == {"bench": "made"} and why in (found.why or "")


def test_a_run_that_takes_too_long_is_ended_with_all_that_it_started(script: Script, tmp_path: Path) -> None:
    body = """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        open(here + "/child", "w").write(str(child.pid))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        line(n)
        time.sleep(60)
    """
    began = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "GRACE_S", 0.2)
        session, _ = done(script(body, repeat=1, timeout_s=3.0))
    assert one(session).why == "run 1: not done after 3 s" and time.monotonic() - began < 20
    assert gone(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("output", ["stdout", "stderr"])
def test_a_run_that_prints_without_end_is_ended(script: Script, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FLOOD_BYTES", 1 << 20)
    session, _ = done(script(f"sys.{output}.write('x' * 2000000); sys.{output}.flush(); time.sleep(60)", repeat=1))
    assert one(session).why == "run 1: printed more than 1 MiB" and session.runs[0].seconds < 20
    assert all(len(line) <= 300 for line in session.runs[0].said)


def gone(pid: int) -> bool:
    """Whether a process has ended, within a while: somebody has to reap it."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_child_that_holds_the_output_open_does_not_keep_a_run_from_ending(script: Script, tmp_path: Path) -> None:
    body = """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
        open(here + "/child", "w").write(str(child.pid))
        line(n)
    """
    began = time.monotonic()
    assert one(done(script(body, repeat=1))[0]).samples == [1.0] and time.monotonic() - began < 20
    child = int((tmp_path / "child").read_text())
    os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


@pytest.mark.parametrize(("sign", "told"), [(">>", b"first\nsecond\nthird\n"), (">", b"second\nthird\n")])
def test_what_a_tool_writes_to_dev_stdout_is_not_written_over(sign: str, told: bytes) -> None:
    command = Command("x", ["sh", "-c", f"echo first; echo second {sign} /dev/stdout; echo third"], "sglang")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        assert running._ended(command, out, err, Stop(), Orphans()) == ""
        out.seek(0)
        assert out.read() == told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_was_measured_before_a_stop_is_kept(script: Script, tmp_path: Path, number: signal.Signals) -> None:
    command = script("line(n)\nif n == 2: open(here + '/pid', 'w').write(str(os.getpid())); time.sleep(60)")
    before = signal.getsignal(number)

    def stop() -> None:
        while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()):
            time.sleep(0.02)
        os.kill(os.getpid(), number)

    stopper = threading.Thread(target=stop)
    stopper.start()
    session, _ = done(command)
    stopper.join()
    assert session.stopped and one(session).samples == [1.0] and session.failed == 0
    assert gone(int((tmp_path / "pid").read_text())) and signal.getsignal(number) is before


def test_it_has_no_shell_no_input_and_the_caller_s_environment_which_is_not_kept(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2")
    command = script("assert sys.stdin.read() == '' and sys.argv[1:] == ['$HOME; true'], sys.argv\n"
                     "line(len(os.environ['MY_TOKEN']))", repeat=1)
    session, _ = done(Command(command.name, [*command.argv, "$HOME; true"], command.parser))
    made = with_reports(snapshot({}), session.reports(), Extra()).dumps()
    assert one(session).samples == [7.0] and "hunter2" not in made and "HOME" not in made


def test_a_report_that_does_not_say_what_ran_gets_the_name_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"backend": "sglang"}'
    metric = Metric(name="latency", unit="ms", better="lower")

    def read(*_: str) -> Report:
        return Report(tool="generic", format="text", values=[
            Value(metric=metric, workload={}, value=1.0), Value(metric=metric, workload={"size": "8"}, value=2.0)])

    monkeypatch.setattr(running, "read", read)
    session, _ = done(Command("ping", ["echo", text], "generic", workload={"driver": "x"}))
    (report,) = session.reports()
    assert [value.workload for value in report.values] == [
        {"bench": "ping", "driver": "x"}, {"size": "8", "driver": "x"}]


def test_a_command_of_which_no_run_gave_anything_has_its_own_workload() -> None:
    session, _ = done(Command("x", ["false"], "generic", workload={"driver": "y"}))
    assert one(session).workload == {"bench": "x", "driver": "y"}


def test_a_command_that_cannot_be_run_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(SnapError, match="bench x: no-such-program: no program that can be run"):
        Command("x", ["no-such-program"], "sglang").check()
    with pytest.raises(SnapError, match="bench x: there is no parser 'foo': sglang, vllm"):
        Command("x", ["true"], "foo").check()
    Command("x", ["true"], "sglang").check()
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    session, _ = done(Command("x", [str(broken)], "sglang"))
    assert one(session).why == "run 1: cannot be run: No such file or directory"


def test_it_leaves_no_process_behind(script: Script) -> None:
    done(script("line(n)", repeat=2))
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
