"""The whole take on hosts in memory: outcomes, meta, times that no calendar has."""

from __future__ import annotations

import errno
from collections.abc import Callable, Generator, Mapping

import pytest

from snapshot import capture
from snapshot.collectors.base import Collected, Collector, Reading, Reads
from snapshot.document import Snapshot
from snapshot.errors import AbsentError, ParseError
from snapshot.host.base import Command, Result
from snapshot.records import replace
from snapshot.sections.os import Os

from .collectors.fake import MemoryHost, node

WORK = Command(("work",))
Steps = Generator[tuple[Command, ...], Mapping[Command, Result], Os]


def only(
    monkeypatch: pytest.MonkeyPatch, collect: Callable[[Reading], Collected], host: MemoryHost | None = None,
    name: str = "os",
) -> Snapshot:
    """The snapshot of a take whose one section, NAME, COLLECT makes."""
    reads = Reads(paths=("/facts/**",), commands=(WORK.argv,))
    monkeypatch.setattr(capture, "collector", lambda name: Collector(name, reads, collect))
    return capture.take(host or MemoryHost({}), names=(name,))


def broken(error: Exception) -> Callable[[Reading], Collected]:
    def collect(_reading: Reading) -> Collected:
        raise error

    return collect


@pytest.mark.parametrize(("error", "state", "why"), [
    (AbsentError("no bus"), "absent", "no bus"),
    (ParseError("bad text"), "failed", "bad text"),
    (OSError(errno.EIO, "Input/output error"), "failed", "Input/output error"),
    (KeyError("x"), "failed", "KeyError: 'x'"),
])
def test_a_broken_section_is_an_outcome(
    monkeypatch: pytest.MonkeyPatch, error: Exception, state: str, why: str
) -> None:
    found = only(monkeypatch, broken(error), name="rdma").outcomes["rdma"]
    assert found.state == state
    assert why in (found.why or "")


@pytest.mark.parametrize(("whys", "facts", "state"), [
    ((), True, "ok"), (("EACCES",), True, "partial"), (("EACCES", "EPERM"), False, "denied"),
    (("EACCES", "EIO"), False, "partial"), (("EIO", "timeout"), True, "timeout"), (("timeout",), False, "timeout"),
])
def test_what_is_unread_decides_the_state(
    monkeypatch: pytest.MonkeyPatch, whys: tuple[str, ...], facts: bool, state: str
) -> None:
    def collect(reading: Reading) -> Collected:
        for why in whys:
            reading.unread(("lxc", why), "/source", why)
        return Os(id="debian" if facts else None)

    assert only(monkeypatch, collect).outcomes["os"].state == state


def test_a_collector_gets_the_results_of_the_commands_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def collect(_reading: Reading) -> Collected:
        def steps() -> Steps:
            first = yield (WORK,)
            second = yield (WORK,)
            return Os(id=(first[WORK].stdout + second[WORK].stdout).decode())

        return steps()

    assert only(monkeypatch, collect, MemoryHost({}, results={"work": "x"})).table("os") == {"id": "xx"}


def test_a_collector_that_wants_no_command_after_all_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def collect(_reading: Reading) -> Collected:
        def steps() -> Steps:
            nothing = yield ()
            found = yield (WORK,)
            last = yield ()
            return Os(id=f"{nothing} {found[WORK].exit_code} {last}")

        return steps()

    assert only(monkeypatch, collect, MemoryHost({}, results={"work": "x"})).table("os") == {"id": "{} 0 {}"}


def test_a_collector_that_breaks_after_its_commands_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def collect(_reading: Reading) -> Collected:
        def steps() -> Steps:
            yield (WORK,)
            raise ParseError("the tool said nothing")

        return steps()

    assert only(monkeypatch, collect).outcomes["os"].state == "failed"


@pytest.mark.parametrize("mtime_ns", [10**23, -(10**20)])
def test_a_file_from_no_calendar_costs_its_time_only(monkeypatch: pytest.MonkeyPatch, mtime_ns: int) -> None:
    def collect(reading: Reading) -> Collected:
        reading.config("/facts/x")
        return Os(id="debian")

    host = MemoryHost({"/facts/x": "text"}, nodes={"/facts/x": replace(node("file"), mtime_ns=mtime_ns)})
    found = only(monkeypatch, collect, host)
    assert found.files["/facts/x"].mtime is None
    assert found.files["/facts/x"].size_bytes == 4


SYSTEMD = {"/run/systemd/system/": "", "/proc/1/comm": "systemd\n"}


@pytest.mark.parametrize(("files", "results", "state", "unread"), [
    (SYSTEMD, {"systemctl is-system-running": Result(1, b"degraded\n")}, "degraded", None),
    (SYSTEMD, {"systemctl is-system-running": Result(None, b"running\n", why="timeout")}, None,
     ["systemctl is-system-running: timeout"]),
    ({"/proc/1/comm": "init\n"}, {}, "none", None),
    ({}, {}, None, None),
    ({"/proc/1/comm": "systemd\n"}, {}, None, None),
])
def test_what_systemd_says_counts_when_it_said_it_to_the_end(
    files: dict[str, str], results: dict[str, Result], state: str | None, unread: list[str] | None
) -> None:
    meta = capture.take(MemoryHost(files, results=results), names=("cmdline",)).meta
    assert (meta.system_state, meta.unread) == (state, unread)


def test_the_machine_s_id_is_hashed_and_the_same_each_time() -> None:
    ids = [capture.take(MemoryHost({"/etc/machine-id": text}), names=("cmdline",)).meta.machine
           for text in ("0123456789abcdef0123456789abcdef\n", "0123456789abcdef0123456789abcdef", "")]
    assert ids[0] == ids[1] != "0123456789abcdef0123456789abcdef"
    assert ids[2] is None


def test_progress_names_each_section_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool, bool]] = []
    monkeypatch.setattr(capture, "collector", lambda name: Collector(name, Reads(), lambda _: Os(id="x")))
    capture.take(MemoryHost({}), names=("os",), progress=lambda name, outcome, spent: seen.append(
        (name, outcome is None, spent.own_s > 0)))
    assert seen == [("os", True, False), ("os", False, True)]


def test_progress_tells_what_a_section_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def collect(_: Reading) -> Steps:
        yield (Command(("/usr/bin/one", "x")),)
        yield (Command(("two",)),)
        return Os(id="x")

    spent: list[capture.Spent] = []
    monkeypatch.setattr(capture, "collector", lambda name: Collector(name, Reads(), collect))
    capture.take(MemoryHost({}), names=("os",), progress=lambda _name, outcome, took: spent.append(took))
    assert [(*took.tools,) for took in spent] == [(), ("/usr/bin/one", "two")]
    assert spent[1].waited_s > 0
