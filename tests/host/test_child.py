"""The child that can be left behind. SIGSTOP stands for state D: the process is there and does not answer."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from snapshot.host import syscalls
from snapshot.host.live import Live

from .questions import answer, walked


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "file").write_text("content")
    return f"{tmp_path}/file"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Live]:
    made = Live(answer_s=0.2, may_block=(f"{tmp_path}/**",))
    yield made
    made.close()


def stop(host: Live) -> int:
    """Stops the host's child and gives its pid."""
    pid = host._reader._pid
    os.kill(pid, signal.SIGSTOP)
    return pid


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_the_child_answers_like_the_parent(host: Live, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(large := os.urandom(3 << 20))
    (tmp_path / "link").symlink_to("large")
    (tmp_path / "odd\udcff").mkdir()
    plain = Live(may_block=())
    top = str(tmp_path)
    assert host.read(f"{top}/large") == large
    assert host._reader._pid
    for path in (top, f"{top}/large", f"{top}/link", f"{top}/odd\udcff", f"{top}/nothing"):
        for name in ("read", "list", "readlink", "stat"):
            assert answer(getattr(host, name), path) == answer(getattr(plain, name), path)
        assert answer(host.stat, path, follow=False) == answer(plain.stat, path, follow=False)
    assert host.glob(f"{top}/*") == plain.glob(f"{top}/*")
    assert answer(host.read, f"{top}/large", 10) == errno.EFBIG


def test_no_child_before_it_is_needed(file: str) -> None:
    host = Live(may_block=("/nowhere/**",))
    assert host.read(file) == b"content"
    assert not host._reader._pid
    host.close()


def test_a_child_that_hangs_is_a_timeout_and_a_new_one_answers(host: Live, file: str) -> None:
    assert host.read(file) == b"content"
    pid = stop(host)
    began = time.monotonic()
    assert answer(host.read, file) == errno.ETIMEDOUT
    assert time.monotonic() - began < 2
    assert host.read(file) == b"content"
    assert host._reader._pid != pid


def test_a_dead_bus_costs_bounded_time(tmp_path: Path) -> None:
    for name in ("dead/a", "dead/b", "fine/c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    host = Live(answer_s=0.8, may_block=(f"{tmp_path}/dead/*", f"{tmp_path}/fine/*"))
    for _ in range(2):
        assert host.read(f"{tmp_path}/fine/c") == b"fine/c"
        stop(host)
        assert answer(host.read, f"{tmp_path}/dead/a") == errno.ETIMEDOUT
    began = time.monotonic()
    assert answer(host.read, f"{tmp_path}/dead/b") == errno.ETIMEDOUT
    assert time.monotonic() - began < 0.4
    assert host.read(f"{tmp_path}/fine/c") == b"fine/c"
    host.close()


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """A host whose child reads /sys/b/hangs for ever, and dies of /sys/b/kills."""
    def head(path: str, size: int) -> bytes:
        if path.endswith("hangs"):
            time.sleep(60)
        elif path.endswith("kills"):
            os._exit(1)
        elif path.endswith("denied"):
            raise PermissionError(errno.EACCES, path)
        return path.encode()[:size].ljust(size)

    monkeypatch.setattr(syscalls, "head", head)
    host = Live(answer_s=0.3, may_block=("/sys/a/*", "/sys/b/*"))
    yield host
    host.close()


def codes(found: Mapping[str, bytes | OSError]) -> dict[str, int | bytes | None]:
    return {path: one.errno if isinstance(one, OSError) else one.strip() for path, one in found.items()}


def test_one_question_for_many_files_has_an_answer_for_each(heads: Live) -> None:
    names = [f"/sys/a/{n}" for n in range(300)]
    assert codes(heads.heads([*names, "/sys/a/denied", names[0]], 9_000)) == {
        **{name: name.encode() for name in names}, "/sys/a/denied": errno.EACCES,
    }
    assert heads.heads([], 5) == {}


@pytest.mark.parametrize(("bad", "number"), [("hangs", errno.ETIMEDOUT), ("kills", errno.EIO)])
def test_what_one_of_many_files_does_costs_the_others_nothing(heads: Live, bad: str, number: int) -> None:
    names = ["/sys/b/first", f"/sys/b/{bad}", "/sys/a/other", "/sys/b/last"]
    wanted = {name: name.encode() for name in names} | {names[1]: number}
    assert codes(heads.heads(names, 50)) == wanted
    assert heads.heads(["/sys/a/other"], 50) == {"/sys/a/other": b"/sys/a/other".ljust(50)}


def test_after_two_lost_children_the_rest_of_many_files_is_not_asked_for(heads: Live) -> None:
    names = ["/sys/b/first", "/sys/b/1hangs", "/sys/b/between", "/sys/b/2hangs", "/sys/b/last"]
    began = time.monotonic()
    assert codes(heads.heads(names, 50)) == {
        "/sys/b/first": b"/sys/b/first", "/sys/b/1hangs": errno.ETIMEDOUT, "/sys/b/between": b"/sys/b/between",
        "/sys/b/2hangs": errno.ETIMEDOUT, "/sys/b/last": errno.ETIMEDOUT,
    }
    assert time.monotonic() - began < 5
    assert codes(heads.heads(["/sys/a/other"], 50)) == {"/sys/a/other": b"/sys/a/other"}


def test_many_files_are_not_read_beyond_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(path: str, size: int) -> bytes:
        time.sleep(0.005)
        return path.encode()[:size]

    monkeypatch.setattr(syscalls, "head", slow)
    host = Live(deadline_s=0.5, may_block=("/sys/a/*", str(tmp_path)))
    names = [f"/sys/a/{n}" for n in range(2000)]  # ten seconds
    began = time.monotonic()
    found = [*codes(host.heads(names, 50)).values()]
    assert time.monotonic() - began < 3
    assert found[0] == b"/sys/a/0" and found[-1] == errno.ETIMEDOUT
    assert found == sorted(found, key=lambda one: one == errno.ETIMEDOUT)
    host.close()


def test_after_the_deadline_nothing_that_can_block_is_asked(file: str, tmp_path: Path) -> None:
    (tmp_path / "free").write_text("free")
    host = Live(deadline_s=0.0, may_block=(file,))
    assert answer(host.read, file) == errno.ETIMEDOUT
    assert not host._reader._pid
    assert host.read(f"{tmp_path}/free") == b"free"


def test_a_child_that_dies_is_an_error_and_not_an_answer(host: Live, file: str) -> None:
    host.read(file)
    os.kill(host._reader._pid, signal.SIGKILL)
    assert answer(host.read, file) == errno.EIO
    assert host.read(file) == b"content"


def test_the_child_holds_one_descriptor_and_no_terminal(host: Live, file: str) -> None:
    host.read(file)
    pid = host._reader._pid
    held = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    assert [text.split(":")[0] for text in held] == ["socket"]
    assert os.getsid(pid) == pid
    os.kill(pid, signal.SIGINT)
    assert host.read(file) == b"content"


def test_close_ends_the_child(host: Live, file: str) -> None:
    host.read(file)
    pid = host._reader._pid
    host.close()
    assert is_gone(pid)


def test_a_stopped_child_does_not_hold_the_pipe_of_its_parent(file: str) -> None:
    """As in `snap take -o - | cat` with a read that hangs: the reader must see the end of the pipe."""
    script = f"""
import os, signal, atexit
from snapshot.host import syscalls
from snapshot.host.live import Live
atexit.register(print, "once")
host = Live(answer_s=0.2, may_block=({file!r},))
print("unwritten", end=" ")
host.read({file!r})
os.kill(host._reader._pid, signal.SIGSTOP)
print(host._reader._pid)
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True)
    word, pid, once = done.stdout.split()
    os.kill(int(pid), signal.SIGKILL)
    assert (word, once) == ("unwritten", "once")


def test_the_child_ends_with_its_parent(file: str) -> None:
    script = f"""
from snapshot.host import syscalls
from snapshot.host.live import Live
host = Live(may_block=({file!r},))
host.read({file!r})
print(host._reader._pid)
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True)
    pid = int(done.stdout)
    limit = time.monotonic() + 5
    while not is_gone(pid) and time.monotonic() < limit:
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            break  # ended; whoever adopted it has not yet looked
        time.sleep(0.01)
    assert time.monotonic() < limit


def test_a_link_into_a_file_system_that_hangs(tmp_path: Path) -> None:
    """As /etc/sysctl.d/97-shared.conf -> /etc/pve/x.conf, when pmxcfs does not answer."""
    fuse, plain = tmp_path / "fuse", tmp_path / "plain"
    for folder in (fuse, plain):
        folder.mkdir()
        (folder / "x.conf").write_text(folder.name)
    (plain / "97.conf").symlink_to(fuse / "x.conf")
    (plain / "folder").symlink_to("../fuse")
    host = Live(answer_s=0.2, may_block=(), points=[str(fuse)])
    assert host.read(f"{plain}/x.conf") == b"plain"
    assert not host._reader._pid
    assert host.read(f"{plain}/97.conf") == b"fuse"
    for call in (host.read, host.stat):
        stop(host)
        assert answer(call, f"{plain}/97.conf") == errno.ETIMEDOUT
        host._reader._fork()
    for ask, path in (
        (host.list, f"{plain}/folder"), (host.readlink, f"{plain}/folder/x"), (host.stat, str(fuse)),
    ):  # fmt: skip
        assert answer(ask, path) == errno.ETIMEDOUT, path
    assert host.list(str(plain)) == ["97.conf", "folder", "x.conf"]
    assert host.readlink(f"{plain}/folder") == "../fuse"
    assert host.stat(f"{plain}/97.conf", follow=False).type == "link"
    host.close()


def test_a_walk_goes_round_a_mount_that_hangs_and_reads_the_rest(tmp_path: Path) -> None:
    for name in ("top/a", "top/fuse/b", "top/c/d"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    top = f"{tmp_path}/top"
    (tmp_path / "link").symlink_to("top")
    host = Live(answer_s=0.2, may_block=(), points=[f"{top}/fuse"])
    whole = {f"{top}/a": b"top/a", f"{top}/c/d": b"top/c/d", f"{top}/fuse/b": b"top/fuse/b"}
    assert walked(host, top) == whole
    stop(host)
    del whole[f"{top}/fuse/b"]
    assert walked(host, top) == {**whole, f"{top}/fuse": errno.ETIMEDOUT}
    assert walked(host, top, pruned=f"{top}/fuse") == whole
    assert walked(Live(may_block=(), points=[f"{top}/fuse"]), f"{tmp_path}/link/c") == {
        f"{tmp_path}/link/c/d": b"top/c/d"
    }
    host.close()


@pytest.mark.parametrize("deadline_s", [float("nan"), -1.0, float("-inf"), float("inf"), 1e300])
def test_odd_deadlines_are_over_or_never(file: str, deadline_s: float) -> None:
    host = Live(deadline_s=deadline_s, may_block=(file,))
    wanted = b"content" if deadline_s > 0 else errno.ETIMEDOUT
    assert answer(host.read, file) == wanted
    host.close()
