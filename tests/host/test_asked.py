"""A recording of some sections: the rest is unknown, never absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapshot.capture import take
from snapshot.collectors.base import why
from snapshot.host.base import NOT_RECORDED, Host
from snapshot.host.recorded import open_host
from snapshot.host.recorder import Recorder

from .questions import answer, walked
from .test_recorder import keep

SMALL = str(Path(__file__).parents[2] / "fixtures" / "hosts" / "pve-small")


@pytest.fixture
def part(tmp_path: Path) -> Host:
    (tmp_path / "root" / "etc" / "d").mkdir(parents=True)
    (tmp_path / "root" / "etc" / "d" / "x").write_text("1")
    host = Recorder(open_host(f"{tmp_path}/root"), f"{tmp_path}/r")
    assert host.asks("one", ["/etc/d/*", "/etc/deep/**"])
    assert host.asks("two", ["/etc/hostname"])
    host.read("/etc/d/x")
    keep(host)
    return open_host(f"{tmp_path}/r")


def test_what_was_asked_answers_as_before(part: Host) -> None:
    assert part.asks("one", [])
    assert part.read("//etc/d/x") == b"1"
    assert part.glob("/etc/d/*") == ["/etc/d/x"]
    assert answer(part.read, "/etc/hostname") == 2
    assert walked(part, "/etc/deep") == {"/etc/deep": 2}


def test_what_was_not_asked_is_not_recorded(part: Host) -> None:
    assert not part.asks("three", ["/etc/d/*"])
    for path in ("/etc/d", "/etc/d/x/y", "/etc/deep", "/etc", "/proc/x"):
        for call in (part.read, part.list, part.stat, part.readlink, part.glob, part.exists):
            assert answer(call, path) == NOT_RECORDED
    assert walked(part, "/etc/d") == {"/etc/d": NOT_RECORDED}
    with pytest.raises(OSError, match="not recorded") as raised:
        part.read("/proc/x")
    assert why(raised.value) == "not-recorded"


def test_recorded_again_it_is_still_not_recorded(part: Host, tmp_path: Path) -> None:
    again = Recorder(part, f"{tmp_path}/again")
    assert again.asks("one", ["/etc/d/*", "/etc/new", "/etc/new/**"])
    assert not again.asks("three", ["/etc/three"])
    assert answer(again.read, "/etc/new") == NOT_RECORDED
    assert walked(again, "/etc/new") == {"/etc/new": NOT_RECORDED}
    keep(again)
    host = open_host(f"{tmp_path}/again")
    assert not host.asks("three", [])
    assert answer(host.read, "/etc/new") == NOT_RECORDED
    assert walked(host, "/etc/new") == {"/etc/new": NOT_RECORDED}
    assert answer(host.read, "/etc/three") == NOT_RECORDED


def globbed(host: Host) -> list[object]:
    """What globs find in a folder that may be listed for some of them only."""
    found = [answer(host.glob, pattern) for pattern in ("/etc/d/*", "/etc/d/y*", "/etc/*/y*", "/etc/new/*")]
    return [*found, answer(host.list, "/etc/d"), answer(host.glob, "/etc/d/?")]


def test_recorded_again_a_glob_finds_what_may_not_be_listed(part: Host, tmp_path: Path) -> None:
    again = Recorder(part, f"{tmp_path}/again")
    assert again.asks("one", ["/etc/d", "/etc/d/*", "/etc/*/y*", "/etc/new/*"])
    said = [globbed(part), globbed(again)]
    keep(again)
    said.append(globbed(open_host(f"{tmp_path}/again")))
    assert said == [[["/etc/d/x"], [], NOT_RECORDED, NOT_RECORDED, NOT_RECORDED, ["/etc/d/x"]]] * 3


def test_recorded_again_it_was_asked_for_what_both_were(part: Host, tmp_path: Path) -> None:
    again = Recorder(part, f"{tmp_path}/again")
    assert again.asks("one", ["/etc/**", "/etc/*", "/etc/deep/er/*", "/etc/deep/**"])
    assert again.asks("two", ["/etc/d/*", "/etc/host*"])
    keep(again)
    tables = json.loads((tmp_path / "again" / "recorded.json").read_text())
    assert tables["asked"] == {
        "one": ["/etc/deep/er/*", "/etc/deep/**", "/etc/d/*", "/etc/hostname"], "two": ["/etc/d/*", "/etc/hostname"]}


def test_a_section_that_was_not_taken_is_skipped_in_the_replay(tmp_path: Path) -> None:
    recorder = Recorder(open_host(SMALL), f"{tmp_path}/r")
    first = take(recorder, ("os", "cmdline"))
    recorder.close()
    whole = take(open_host(f"{tmp_path}/r"))
    assert {n for n, o in whole.outcomes.items() if o.state != "skipped"} == {"os", "cmdline"}
    assert whole.outcomes["lxc"].why == whole.outcomes["sysctl"].why == "not-recorded"
    assert take(open_host(f"{tmp_path}/r"), ("os", "cmdline")).dumps() == first.dumps()


def test_an_interrupted_take_leaves_no_recording(tmp_path: Path) -> None:
    recorder = Recorder(open_host(SMALL), f"{tmp_path}/r")

    def interrupt(name: str, *_: object) -> None:
        if name == "lxc":
            raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            take(recorder, progress=interrupt)
    finally:
        recorder.close()
    assert list(tmp_path.iterdir()) == []
