"""The store: where a snapshot goes, what a reference names, and files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from snapshot import store
from snapshot.errors import SnapError, StoreError

FIRST, SECOND, THIRD = "20261130T014434Z", "20261130T020000Z", "20261201T000000Z"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SNAP_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "store"


@pytest.fixture
def full(home: Path) -> Path:
    """Three snapshots of pve1, one of pve2, and what does not belong there."""
    for name in (
        f"pve1/{FIRST}-pre", f"pve1/{SECOND}-post", f"pve1/{THIRD}-pre", f"pve1/{THIRD}.2",
        f"pve2/{FIRST}-only", "pve1/.hostsnap-tmp", "pve1/notes-pre", "pve2/2026-pre",
    ):
        path = home / f"{name}.snap.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (home / "README").write_text("")
    return home


def test_the_root_follows_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/x")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    monkeypatch.setenv("SNAP_STORE", "/named")
    assert store.root() == "/named"
    monkeypatch.setenv("SNAP_STORE", "")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert store.root() == "/var/lib/hostsnap"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert store.root() == "/state/hostsnap"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert store.root() == "/home/x/.local/state/hostsnap"


def test_a_path_holds_host_time_and_label(home: Path) -> None:
    assert store.path_for("pve1", "2026-11-30T01:44:34Z", "pre") == f"{home}/pve1/{FIRST}-pre.snap.toml"
    assert store.path_for("pve1", "2026-11-30T01:44:34Z") == f"{home}/pve1/{FIRST}.snap.toml"
    with pytest.raises(StoreError, match="is no time"):
        store.path_for("pve1", "yesterday")


def test_takes_of_one_second_get_ids_of_their_own(home: Path) -> None:
    names = []
    for label in ("pre", None, "pre", *[None] * 9):
        path = store.path_for("pve1", "2026-11-30T01:44:34Z", label)
        store.write(path, b"")
        names.append(os.path.basename(path))
    assert names[:3] == [f"{FIRST}-pre.snap.toml", f"{FIRST}.2.snap.toml", f"{FIRST}.3-pre.snap.toml"]
    assert [e.id for e in store.entries("pve1")][:3] == [f"{FIRST}.12", f"{FIRST}.11", f"{FIRST}.10"]
    assert store.resolve("pre", "pve1").endswith(names[2])
    assert store.resolve(FIRST, "pve1").endswith(names[0])
    assert store.resolve(f"{FIRST}.2", "pve1").endswith(names[1])


@pytest.mark.parametrize("label", ["pre", "6.8.12-9-pve", "A_b", "2026x", f"{FIRST}-x", "1.2", "pre.snap"])
def test_a_label_comes_back_from_the_name(home: Path, label: str) -> None:
    store.write(store.path_for("pve1", "2026-11-30T01:44:34Z", label), b"")
    assert [(e.id, e.label) for e in store.entries("pve1")] == [(FIRST, label)]
    assert store.resolve(label, "pve1") == store.entries()[0].path


@pytest.mark.parametrize("label", [
    "", "-x", ".x", "_x", "a/b", "..", "a b", "é", "x\n", "@1", "2026", "20261130", "20261130T", FIRST,
    f"{FIRST}.2", "٢٠٢٦", "x.toml", "x" * 101,
])
def test_a_label_that_would_be_taken_for_something_else_is_refused(label: str) -> None:
    with pytest.raises(StoreError, match="cannot be a label"):
        store.check_label(label)


@given(st.text(max_size=300))
@example("0" * 201)
@example("a" * 221)
def test_any_host_name_is_one_safe_directory(host: str) -> None:
    name = store.component(host)
    assert name not in ("", ".", "..")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert len(name) < 255
    assert store.component(name) == name


def test_host_names_that_look_alike_stay_apart() -> None:
    assert store.component("pve1.example") == "pve1.example"
    names = ["a b", "a_b", "a/b", "..", ".", "", "é", "\udcff", "x" * 300, "x" * 301]
    assert len({store.component(name) for name in names}) == len(names)


def test_entries_are_told_by_name_newest_first(full: Path) -> None:
    assert [(e.host, e.id, e.label) for e in store.entries()] == [
        ("pve1", f"{THIRD}.2", ""), ("pve1", THIRD, "pre"), ("pve1", SECOND, "post"),
        ("pve2", FIRST, "only"), ("pve1", FIRST, "pre"),
    ]
    assert [e.path for e in store.entries("pve2")] == [f"{full}/pve2/{FIRST}-only.snap.toml"]


def test_a_store_that_is_not_there_is_empty(home: Path) -> None:
    assert store.entries() == store.entries("pve1") == []
    with pytest.raises(StoreError, match=rf"^no snapshot 'pre' of pve1: {home}/pve1 holds none"):
        store.resolve("pre", "pve1")


@pytest.mark.parametrize(("ref", "name"), [
    ("pre", f"pve1/{THIRD}-pre"), ("post", f"pve1/{SECOND}-post"), ("@1", f"pve1/{THIRD}.2"),
    ("@4", f"pve1/{FIRST}-pre"), (FIRST, f"pve1/{FIRST}-pre"), ("20261130T02", f"pve1/{SECOND}-post"),
    (THIRD, f"pve1/{THIRD}-pre"), (f"{THIRD}.", f"pve1/{THIRD}.2"), ("pve2/only", f"pve2/{FIRST}-only"),
    ("pve2/@1", f"pve2/{FIRST}-only"), ("pve2/2026", f"pve2/{FIRST}-only"), ("pve1/pre", f"pve1/{THIRD}-pre"),
])
def test_a_reference_names_a_snapshot(full: Path, ref: str, name: str) -> None:
    assert store.resolve(ref, "pve1") == f"{full}/{name}.snap.toml"


def test_an_id_of_another_host_counts_where_this_one_has_none(full: Path) -> None:
    assert store.resolve("20261130T02", "pve2") == f"{full}/pve1/{SECOND}-post.snap.toml"


def test_a_path_is_a_path(full: Path) -> None:
    Path("x.toml").write_text("")
    Path("pve2").mkdir()
    for ref in ("x.toml", "./x.toml", "-", "/dev/null"):
        assert store.resolve(ref, "pve1") == ref
    assert store.resolve("pve2/only", "pve1").startswith(str(full))
    Path("pve2/only").write_text("")
    assert store.resolve("pve2/only", "pve1") == "pve2/only"
    Path("pve2/only").unlink()
    Path("pve2/only").mkdir()
    assert store.resolve("pve2/only", "pve1").startswith(str(full))


@pytest.mark.parametrize(("ref", "what"), [
    ("prr", "no snapshot 'prr' of pve1: it has 4, labels pre, post; did you mean 'pre'?"),
    ("", "no snapshot '' of pve1: it has 4, labels pre, post"),
    ("only", "no snapshot 'only' of pve1; there is pve2/only"),
    ("20261130", f"'20261130' fits 2 snapshots: pve1/{SECOND} post, pve1/{FIRST} pre"),
    ("1999", "no snapshot '1999' of pve1: it has 4, labels pre, post"),
    ("@5", "no snapshot '@5' of pve1: it has 4, labels pre, post"),
    ("@0", "'@0' names no snapshot: @1 is the last one, @2 the one before it"),
    ("@x", "'@x' names no snapshot: @1 is the last one, @2 the one before it"),
    ("@١", "'@١' names no snapshot: @1 is the last one, @2 the one before it"),
    ("./x.toml", "./x.toml: no such file"), ("x.toml", "x.toml: no such file"),
    ("pve3/pre", "pve3/pre: no such file, and no host 'pve3' in STORE"),
    ("/a/b", "/a/b: no such file"), ("../pre", "../pre: no such file"),
    ("pve2/", "no snapshot '' of pve2: it has 1"),
    ("pve2/pre", "no snapshot 'pre' of pve2; there is pve1/pre"),
])
def test_a_reference_that_names_none_or_several_says_what_there_is(full: Path, ref: str, what: str) -> None:
    with pytest.raises(StoreError) as error:
        store.resolve(ref, "pve1")
    assert str(error.value).startswith(what.replace("STORE", str(full)))


def test_written_whole_with_mode_0600_in_directories_of_mode_0700(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "f"
    kept = os.umask(0)
    try:
        store.write(str(path), b"one")
        store.write(str(path), b"two")
    finally:
        os.umask(kept)
    assert path.read_bytes() == b"two"
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
    assert os.listdir(path.parent) == ["f"]


def _fails(number: int) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("call", ["fsync", "rename"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    (tmp_path / "f").write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, _fails(number))
        with pytest.raises(SnapError) as error:
            store.write(str(tmp_path / "f"), b"new")
    assert str(error.value) == f"{tmp_path}/f: cannot be written: {os.strerror(number)}"
    assert (tmp_path / "f").read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize(("call", "left"), [("open", []), ("fsync", []), ("rename", ["f"])])
def test_an_interrupted_write_leaves_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, left: list[str]
) -> None:
    real = getattr(os, call)

    def interrupt(*args: object) -> None:
        real(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, call, interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.write(str(tmp_path / "f"), b"new")
    assert os.listdir(tmp_path) == left


def test_a_directory_without_sync_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "no")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    store.write(str(tmp_path / "f"), b"new")
    assert (tmp_path / "f").read_bytes() == b"new"


def test_a_directory_or_what_is_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    for path in (tmp_path, tmp_path / "f" / "g", tmp_path / "f" / "g" / "h"):
        with pytest.raises(SnapError, match=r"cannot be written: (Is a|Not a) directory"):
            store.write(str(path), b"new")


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there/f")
    store.write(str(tmp_path / "link"), b"new")
    assert (tmp_path / "there" / "f").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


def test_a_device_or_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    store.write("/dev/null", b"new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(SnapError, match=r"^/dev/full: cannot be written: No space left on device"):
        store.write("/dev/full", b"new")
    ends = os.pipe()
    store.write(f"/proc/self/fd/{ends[1]}", b"new")
    assert os.read(ends[0], 9) == b"new"
    for end in ends:
        os.close(end)


def test_takes_at_once_each_keep_their_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SNAP_STORE", str(tmp_path))
    children = []
    for n in range(8):
        child = os.fork()
        if not child:
            store.add("host", "2026-11-30T01:02:03Z", ("same", "other")[n % 2], b"%d" % n)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    found = store.entries("host")
    assert len({entry.id for entry in found}) == 8
    assert {Path(entry.path).read_bytes() for entry in found} == {b"%d" % n for n in range(8)}
