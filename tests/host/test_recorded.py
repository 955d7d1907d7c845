"""Recorded roots: copied by hand, written by hand, and those that want out."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from snapshot.errors import SnapError
from snapshot.host.base import Command, Host, Result, Session, Stat
from snapshot.host.recorded import open_host

from .questions import answer, walked


def root(folder: Path, files: dict[str, str], links: dict[str, str] | None = None) -> Host:
    for name, text in {"etc/hostname": "box\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name, target in (links or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    return open_host(str(folder))


def test_a_root_copied_by_hand(tmp_path: Path) -> None:
    host = root(tmp_path, {"proc/x": "1"}, {"proc/y": "x", "proc/z": "/proc/x", "proc/up": "../../../proc/x"})
    assert host.session == Session(0, 0, "", "box")
    assert host.source == "directory"
    for path in ("/proc/x", "/proc/y", "/proc/z", "/proc/up", "//proc/./x/"):
        assert host.read(path) == b"1"
    assert host.readlink("/proc/z") == "/proc/x"
    assert host.list("/") == ["etc", "proc"]
    assert host.stat("/proc/z").type == "file"
    assert host.stat("/proc/z", follow=False).type == "link"
    assert host.glob("/proc/?") == ["/proc/x", "/proc/y", "/proc/z"]
    assert walked(host, "/proc") == {"/proc/x": b"1"}
    assert walked(host, "/") == {"/proc/x": b"1", "/etc/hostname": b"box\n"}


def test_no_way_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    out = {
        "etc/absolute": f"{tmp_path}/secret", "etc/relative": "../../secret", "etc/folder": "../../outside",
        "etc/far": "../" * 50 + "secret", "etc/chain": "relative", "etc/proc": "/proc/self/root",
    }  # fmt: skip
    host = root(tmp_path / "root", {}, out)
    for name in out:
        assert answer(host.read, f"/{name}") == errno.ENOENT
        assert answer(host.stat, f"/{name}") == errno.ENOENT
        assert answer(host.list, f"/{name}") == errno.ENOENT
        assert host.stat(f"/{name}", follow=False).type == "link"
    assert answer(host.read, "/etc/folder/secret") == errno.ENOENT
    assert answer(host.read, "/../secret") == errno.EINVAL
    assert host.glob("/etc/*/secret") == []
    assert walked(host, "/") == {"/etc/hostname": b"box\n"}


def test_links_within(tmp_path: Path) -> None:
    links = {"etc/d": "/real/./dir/", "etc/loop": "loop", "etc/a": "b", "etc/b": "a"}
    links |= {f"etc/l{n}": f"l{n + 1}" for n in range(50)}
    host = root(tmp_path, {"real/dir/f": "1"}, links)
    assert host.read("/etc/d/f") == b"1"
    assert host.list("/etc/d") == ["f"]
    assert walked(host, "/etc/d") == {"/etc/d/f": b"1"}
    for name in ("loop", "a", "l0"):
        assert answer(host.read, f"/etc/{name}") == errno.ELOOP
    assert answer(host.read, "/etc/l20") == errno.ENOENT
    assert answer(host.read, "/real/dir/f/x") == errno.ENOTDIR
    assert answer(host.read, "/real/nothing/x") == errno.ENOENT
    assert answer(host.read, "/" + "a/" * 2000) == errno.ENOENT


def test_nodes_links_and_errors_written_by_hand(tmp_path: Path) -> None:
    tables = {
        "session": {"taken_ns": 5, "hostname": "other"},
        "nodes": {"/dev/nvidia0": {"type": "char", "major": 195, "mode": 438}},
        "links": {"/sys/class/net/eth0": "../../devices/eth0"},
        "lists": {"/etc/empty.d": []},
        "errors": {"/proc/denied": {"read": "EACCES"}, "/etc/pve": {"list": "ETIMEDOUT"}},
    }
    host = root(tmp_path, {"recorded.json": json.dumps(tables), "sys/devices/eth0/mtu": "1500\n"})
    assert host.session == Session(5, 0, "", "other")
    node = Stat("char", 195, 0, 0o666, 0, 0, 0, 0)
    assert host.stat("/dev/nvidia0") == host.stat("/dev/nvidia0", follow=False) == node
    assert host.list("/dev") == ["nvidia0"]
    assert host.glob("/dev/nvidia*") == ["/dev/nvidia0"]
    assert answer(host.read, "/dev/nvidia0") == errno.ENXIO
    assert host.read("/sys/class/net/eth0/mtu") == b"1500\n"
    assert host.stat("/sys/class/net/eth0", follow=False).type == "link"
    assert host.stat("/sys/class/net/eth0").type == "directory"
    assert host.list("/etc/empty.d") == []
    assert answer(host.read, "/proc/denied") == errno.EACCES
    assert answer(host.glob, "/etc/pve/*") == errno.ETIMEDOUT
    assert walked(host, "/proc") == {"/proc/denied": errno.EACCES}
    assert walked(host, "/dev") == {}
    assert answer(host.read, "/recorded.json") == answer(host.stat, "/recorded.json") == errno.ENOENT


def test_commands(tmp_path: Path) -> None:
    folder = "commands/lspci-vvv"
    host = root(tmp_path, {f"{folder}/argv.json": '["lspci", "-vvv"]', f"{folder}/stdout": "out"})
    known, other = Command(("lspci", "-vvv"), timeout_s=1), Command(("lspci", "vvv"))
    assert host.run([known, other]) == {known: Result(None, b"out"), other: Result(None, why="not-recorded")}
    (tmp_path / folder / "exit_code").write_text("-9\n")
    (tmp_path / folder / "why").write_bytes(b"timeout\n\xff")
    assert host.run([known])[known] == Result(-9, b"out", b"", "timeout\n\ufffd")
    for text in ("", "[", "5", "[" * 100_000):
        (tmp_path / folder / "argv.json").write_text(text)
        assert host.run([known])[known].why == "not-recorded"
    assert host.list("/") == ["etc"]
    assert walked(host, "/") == {"/etc/hostname": b"box\n"}


def test_a_link_at_the_commands_place_is_hidden_too(tmp_path: Path) -> None:
    host = root(tmp_path, {"elsewhere/x": "1"}, {"commands": "elsewhere"})
    for ask in (host.readlink, host.list, host.stat, host.readlink):
        assert answer(ask, "/commands") == errno.ENOENT


def test_a_single_folder_around_the_root(tmp_path: Path) -> None:
    root(tmp_path / "host1", {"proc/x": "1"})
    assert open_host(str(tmp_path)).read("/proc/x") == b"1"
    (tmp_path / "proc").mkdir()
    assert answer(open_host(str(tmp_path)).read, "/proc/x") == errno.ENOENT


def test_what_is_no_recorded_root(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x" * 1000)
    (tmp_path / "short.tar").write_text("x")
    (tmp_path / "empty").mkdir()
    for name in ("text", "short.tar", "empty", "nothing", "text/x"):
        with pytest.raises(SnapError, match=name) as raised:
            open_host(f"{tmp_path}/{name}")
        assert "\n" not in str(raised.value)


def test_device_nodes_and_fifos_in_a_folder_are_not_opened(tmp_path: Path) -> None:
    host = root(tmp_path, {"dev/x": ""})
    os.mkfifo(tmp_path / "dev" / "fifo")
    assert answer(host.read, "/dev/fifo") == errno.ENXIO
    assert walked(host, "/dev") == {"/dev/x": b""}


@pytest.mark.parametrize("folder", ["etc", "proc/sys/vm", "sys/class/x"])
def test_a_file_reads_the_same_whether_its_folder_was_met_before_or_not(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    texts = {f"{folder}/{name}": text for name, text in (
        ("file", "1\n"), ("empty", ""), ("a.b-c:d", "2\n"), ("page", "x" * 4096), ("long", "y" * 10_000))}
    host = root(tmp_path, {**texts, "etc/target": "3\n"})
    (place / "folder").mkdir()
    os.mkfifo(place / "fifo")
    for name, to in (("link", "file"), ("absolute", "/etc/target"), ("above", "../../../../../etc/target"),
                     ("gone", "nothing"), ("loop", "loop"), ("to_folder", "folder")):
        (place / name).symlink_to(to)
    names = [*os.listdir(place), "missing", "file/x", "./file", "folder/../file", " ", ""]
    first = [answer(open_host(str(tmp_path)).read, f"/{folder}/{name}") for name in names]
    answer(host.read, f"/{folder}/file")
    assert [answer(host.read, f"/{folder}/{name}") for name in names] == first
    told = dict(zip(names, first, strict=True))
    assert (told["link"], told["absolute"], told["above"], told["page"]) == (b"1\n", b"3\n", b"3\n", b"x" * 4096)
    assert (told["folder"], told["fifo"], told["loop"]) == (errno.EISDIR, errno.ENXIO, errno.ELOOP)
    assert told["missing"] == told["gone"] == errno.ENOENT
    assert told["long"] == b"y" * 10_000


def test_what_is_no_file_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where its folder was met before: to open a node alone can load a module, or wake a writer."""
    host = root(tmp_path, {"etc/file": "1\n", "sys/class/x/file": "2\n"})
    opened: list[str] = []
    do = os.open

    def noted(path: str, *args: int, **named: int) -> int:
        opened.append(os.path.basename(path))
        return do(path, *args, **named)

    monkeypatch.setattr(os, "open", noted)
    for folder in ("etc", "sys/class/x"):
        os.mkfifo(tmp_path / folder / "fifo")
        assert answer(host.read, f"/{folder}/file") != errno.ENXIO
        assert answer(host.read, f"/{folder}/fifo") == errno.ENXIO
    assert "file" in opened and "fifo" not in opened


def test_an_empty_folder_that_only_its_node_tells_of_is_empty(tmp_path: Path) -> None:
    node = {"type": "directory", "major": 0, "minor": 0, "mode": 0o755, "uid": 0, "gid": 0, "size": 0, "mtime_ns": 0}
    host = root(tmp_path, {"recorded.json": json.dumps({"format": 1, "nodes": {"/var/lib/lxc": node}})})
    assert host.list("/var/lib/lxc") == host.list("/var/lib/lxc/") == []
