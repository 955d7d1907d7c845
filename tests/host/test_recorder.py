"""A recording answers as the host did: live, from a folder, from each kind of archive, and recorded again."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshot.errors import SnapError
from snapshot.host.base import Command, Host, Names, Prune, Result, Session, Source, Stat, Walked
from snapshot.host.destination import ARCHIVES
from snapshot.host.live import Live
from snapshot.host.recorded import Recorded, open_host
from snapshot.host.recorder import Recorder
from snapshot.host.tables import Tables
from snapshot.host.tree import DIRECTORY, Memory

from .questions import answer, answers, walked

DESTINATIONS = ["folder", *(f"archive{suffix}" for suffix in ARCHIVES)]


def keep(host: Recorder) -> None:
    """As at the end of a take."""
    host.complete()
    host.close()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with one of everything."""
    top = tmp_path_factory.mktemp("machine")
    for name in ("a/x", "a/y", "a/deep/er/z", "a/unasked", "b/x", "skipped/x", "odd\udcff\n/\udc80"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(os.fsencode(name) * 3)
    (top / "large").write_bytes(os.urandom(3 << 20))
    (top / "zero").touch()
    (top / "empty" / "er").mkdir(parents=True)
    links = {"a/file": "x", "to_a": "a", "a/up": "../b", "dangling": "no", "loop": "loop", "self": "."}
    for name, target in links.items():
        (top / name).symlink_to(target)
    (top / "absolute").symlink_to("/etc")
    os.mkfifo(top / "fifo")
    return str(top)


@pytest.fixture(scope="module")
def questions(machine: str) -> tuple[list[str], list[str], list[str]]:
    names = (
        "a a/x a/deep a/deep/er/z to_a/x to_a/up/x a/up a/up/x a/file large zero empty empty/er to_a "
        "dangling loop fifo self self/self/a/y absolute nothing nothing/x a/x/x loop/x zero/../a"
    )
    paths = [f"{machine}/{name}" for name in names.split()]
    paths += [machine, f"{machine}/odd\udcff\n/\udc80"]
    paths += ["/", "/dev/null", "/dev", "/proc/self/fd/x", "/a\0b", "/commands"]
    words = "* */x ?/x a/* a/? a/y a/unasked a/*/*/z odd*/* self/?/y nothing/* zero/* loop/* fifo .* e*/er"
    patterns = [f"{machine}/{word}" for word in words.split()]
    tops = [f"{machine}{name}" for name in ("", "/to_a", "/a/deep", "/empty", "/zero", "/nothing", "/loop")]
    return paths, patterns, tops


@pytest.mark.parametrize("name", DESTINATIONS)
def test_replay_gives_the_same_answers(
    name: str, tmp_path: Path, questions: tuple[list[str], list[str], list[str]]
) -> None:
    first = Recorder(Live(may_block=()), f"{tmp_path}/{name}")
    said = answers(first, *questions)
    keep(first)
    replay = open_host(f"{tmp_path}/{name}")
    assert answers(replay, *questions) == said
    assert replay.session == first.session
    again = Recorder(replay, f"{tmp_path}/again{name}")
    assert answers(again, *questions) == said
    keep(again)
    assert answers(open_host(f"{tmp_path}/again{name}"), *questions) == said


def test_the_recorder_changes_no_answer(
    tmp_path: Path, questions: tuple[list[str], list[str], list[str]]
) -> None:
    assert answers(Recorder(Live(may_block=()), f"{tmp_path}/r"), *questions) == answers(
        Live(may_block=()), *questions
    )


def test_proc_sys_and_its_errors(tmp_path: Path) -> None:
    host = Recorder(Live(may_block=()), f"{tmp_path}/r.tar.gz")
    skip = frozenset({"/proc/sys/vm/stat_refresh"})
    said = walked(host, "/proc/sys", skip, "/proc/sys/net")
    keep(host)
    assert walked(open_host(f"{tmp_path}/r.tar.gz"), "/proc/sys", skip, "/proc/sys/net") == said
    assert len(said) > 50


def test_a_walk_does_not_give_what_lies_behind_a_link(machine: str, tmp_path: Path) -> None:
    host = Recorder(Live(may_block=()), f"{tmp_path}/r")
    host.read(f"{machine}/to_a/x")
    said = walked(host, machine)
    keep(host)
    assert f"{machine}/to_a/x" not in said
    assert walked(open_host(f"{tmp_path}/r"), machine) == said


def test_a_walk_left_early_keeps_what_it_gave(machine: str, tmp_path: Path) -> None:
    host = Recorder(Live(may_block=()), f"{tmp_path}/r")
    path, content = next(iter(host.walk(f"{machine}/a/deep")))
    keep(host)
    assert open_host(f"{tmp_path}/r").read(path) == content


def test_what_was_not_asked_is_not_there(machine: str, tmp_path: Path) -> None:
    host = Recorder(Live(may_block=()), f"{tmp_path}/r")
    host.read(f"{machine}/a/x")
    assert host.glob(f"{machine}/?/y") == [f"{machine}/a/y"]
    keep(host)
    kept = {str(p.relative_to(tmp_path / "r")) for p in (tmp_path / "r").rglob("*") if p.is_file()}
    assert kept == {f"{machine}/a/x"[1:], "recorded.json"}
    replay = open_host(f"{tmp_path}/r")
    assert answer(replay.read, f"{machine}/a/y") == errno.ENOENT
    assert replay.glob(f"{machine}/?/y") == [f"{machine}/a/y"]


def test_tables_hold_no_more_than_the_tree_cannot_say(machine: str, tmp_path: Path) -> None:
    host = Recorder(Live(may_block=()), f"{tmp_path}/r")
    assert host.list(f"{machine}/b") == ["x"]
    for path in host.glob(f"{machine}/b/x"):
        host.read(path)
    answer(host.read, f"{machine}/nothing")
    keep(host)
    tables = json.loads((tmp_path / "r" / "recorded.json").read_text())
    assert {name for name, table in tables.items() if table} == {"format", "session"}


def test_the_same_recording_is_the_same_bytes(
    tmp_path: Path, questions: tuple[list[str], list[str], list[str]]
) -> None:
    source = Recorder(Live(may_block=()), f"{tmp_path}/r")
    answers(source, *questions)
    keep(source)
    for suffix in ARCHIVES:
        made = []
        for n in range(2):
            again = Recorder(open_host(f"{tmp_path}/r"), f"{tmp_path}/{n}{suffix}")
            answers(again, *questions)
            keep(again)
            made.append((tmp_path / f"{n}{suffix}").read_bytes())
        assert made[0] == made[1]


def test_a_recording_is_private(machine: str, tmp_path: Path) -> None:
    for name in ("r", "r.tar"):
        host = Recorder(Live(may_block=()), f"{tmp_path}/{name}")
        host.read(f"{machine}/a/x")
        keep(host)
    for path in (tmp_path / "r.tar", tmp_path / "r", *(tmp_path / "r").rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)


def test_a_destination_that_is_taken_fails_before_the_take(tmp_path: Path) -> None:
    (tmp_path / "full" / "x").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.tar").touch()
    for name in ("full", "a.tar", "a.tar/x", "nothing/a.tar.zst"):
        with pytest.raises(SnapError, match=name):
            Recorder(Live(), f"{tmp_path}/{name}")
    keep(Recorder(Live(), f"{tmp_path}/empty"))
    assert open_host(f"{tmp_path}/empty").list("/") == []


class Moody(Host):
    """A host whose answers change, and fail, as on a machine that breaks while it is read."""

    source: Source = "live"
    session = Session(1, 0, "", "moody")

    def __init__(self, script: dict[tuple[str, str], list[object]]) -> None:
        self.script, self.closed = script, 0

    def say(self, call: str, path: str) -> object:
        said = self.script.get((call, path), [OSError(errno.ENOENT, "none")])
        value = said.pop(0) if len(said) > 1 else said[0]
        if isinstance(value, OSError):
            raise value
        return value

    def read(self, path: str, limit: int = 1 << 20) -> bytes:
        value = self.say("read", path)
        assert isinstance(value, bytes)
        if len(value) > limit:
            raise OSError(errno.EFBIG, "big")
        return value

    def list(self, path: str) -> Names:
        value = self.say("list", path)
        assert isinstance(value, list)
        return value

    def readlink(self, path: str) -> str:
        return str(self.say("readlink", path))

    def stat(self, path: str, follow: bool = True) -> Stat:
        value = self.say("stat" if follow else "lstat", path)
        assert isinstance(value, Stat)
        return value

    def walk(self, top: str, skip: frozenset[str] = frozenset(), prune: Prune = lambda _: False) -> Walked:
        for pair in self.script.get(("walk", top), []):
            assert isinstance(pair, tuple)
            yield pair[0], pair[1]

    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        return {command: Result(0, str(self.closed).encode()) for command in commands}

    def close(self) -> None:
        self.closed += 1


def test_asked_again_it_gives_the_first_answer(tmp_path: Path) -> None:
    moody = Moody({("read", "/a"): [b"1", b"2"], ("read", "/b"): [OSError(errno.EIO, ""), b"2"]})
    host = Recorder(moody, f"{tmp_path}/r")
    assert host.read("/a") == host.read("/a") == b"1"
    assert answer(host.read, "/b") == answer(host.read, "/b") == errno.EIO
    keep(host)
    host.close()
    assert moody.closed == 1
    replay = open_host(f"{tmp_path}/r")
    assert replay.read("/a") == b"1"
    assert answer(replay.read, "/b") == errno.EIO


def test_too_big_may_be_asked_again_with_a_higher_limit(tmp_path: Path) -> None:
    host = Recorder(Moody({("read", "/a"): [b"12345"]}), f"{tmp_path}/r")
    assert answer(host.read, "/a", 3) == errno.EFBIG
    assert host.read("/a", 5) == b"12345"
    assert answer(host.read, "/a", 4) == errno.EFBIG
    keep(host)
    assert open_host(f"{tmp_path}/r").read("/a") == b"12345"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.EINVAL, errno.ETIMEDOUT, errno.ENOTDIR])
def test_errors_of_a_broken_machine_survive(tmp_path: Path, number: int) -> None:
    failing = OSError(number, "broken")
    script: dict[tuple[str, str], list[object]] = {
        (call, "/bus/x"): [failing] for call in ("read", "list", "readlink", "stat", "lstat")
    }
    script["list", "/bus"] = [["x"]]
    gone = OSError(errno.ENOENT, "")
    script["walk", "/bus"] = [("/bus/gone", gone), ("/bus/x", failing), ("/bus/ok", b"1")]
    host = Recorder(Moody(script), f"{tmp_path}/r")
    paths = ["/bus/x", "/bus", "/bus/gone", "/bus/ok"]
    said = answers(host, paths, ["/bus/*", "/bus/x", "/bus/x/*"], ["/bus"])
    keep(host)
    assert answers(open_host(f"{tmp_path}/r"), paths, ["/bus/*", "/bus/x", "/bus/x/*"], ["/bus"]) == said


def test_what_changed_meanwhile_is_stale_and_not_invented(tmp_path: Path) -> None:
    host = Recorder(Moody({("read", "/a"): [b"1"], ("read", "/a/b"): [b"2"]}), f"{tmp_path}/r")
    host.read("/a")
    host.read("/a/b")
    keep(host)
    replay = open_host(f"{tmp_path}/r")
    assert {str(answer(replay.read, path)) for path in ("/a", "/a/b")} == {"b'1'", str(errno.ESTALE)}


WORDS = st.sampled_from(["a", "b", "\udcff", ".h"])
PATHS = st.lists(WORDS, min_size=1, max_size=3).map(lambda words: "/" + "/".join(words))
FILE = Stat("file", 0, 0, 0o640, 1, 2, 3, 4)
ENTRIES = st.one_of(
    st.binary(max_size=3).map(lambda data: (FILE, data, "")),
    st.one_of(PATHS, WORDS, st.just("../a"), st.just("..")).map(
        lambda target: (Stat("link", 0, 0, 0o777, 0, 0, 1, 0), b"", target)
    ),
    st.sampled_from([(DIRECTORY, b"", ""), (Stat("char", 1, 2, 0o600, 0, 0, 0, 0), b"", "")]),
)


@settings(max_examples=100, deadline=None)
@given(
    entries=st.dictionaries(PATHS, ENTRIES, max_size=8),
    broken=st.dictionaries(PATHS, st.sampled_from([errno.EACCES, errno.EIO]), max_size=2),
    paths=st.lists(PATHS, max_size=4),
    patterns=st.lists(PATHS.map(lambda path: path.replace("b", "*")), max_size=3),
    tops=st.lists(PATHS, max_size=2),
)
def test_any_tree_replays(
    entries: dict[str, tuple[Stat, bytes, str]], broken: dict[str, int], paths: list[str],
    patterns: list[str], tops: list[str], tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    memory = Memory()
    for path, (stat, data, target) in entries.items():
        answer(memory.put, path, stat, data, target)
    errors = {path: {"read": number, "list": number} for path, number in broken.items()}
    folder = tmp_path_factory.mktemp("any")
    host = Recorder(Recorded(memory, Tables(Session(1, 0, "", ""), errors=errors)), f"{folder}/r")
    said = answers(host, paths, patterns, tops)
    keep(host)
    assert answers(open_host(f"{folder}/r"), paths, patterns, tops) == said
